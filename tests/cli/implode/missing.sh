exec 2>&1
cippus explode "$SAMPLES/roman.asdf" m.asdf && rm m0001.asdf
cippus implode m.asdf back.asdf || echo $?
ls
