cippus recover nothing.asdf
