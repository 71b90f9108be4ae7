cippus explode "$SAMPLES/roman.asdf" m.asdf && ls && cippus ls m.asdf && cippus verify *.asdf
cippus implode m.asdf back.asdf && cippus verify back.asdf && cippus ls back.asdf
sed '/^\.\.\./q' back.asdf | cmp - $(sed '/^\.\.\./q' "$SAMPLES/roman.asdf" >want; echo want)
