# a file beside an exploded one names none of its blocks by itself: other files do
exec 2>&1
cippus explode "$SAMPLES/night.asdf" m.asdf
cp m0000.asdf was.asdf
cippus defrag m0000.asdf || echo $?
cmp m0000.asdf was.asdf
cippus defrag m0000.asdf --accept-loss
cippus info --blocks m0000.asdf
