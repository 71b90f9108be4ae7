printf "#ASDF 1.0.0\n" >x.asdf
cippus tree x.asdf
