# a file in place of a command is listed; a command's name is always the command
cp "$SAMPLES/night.asdf" .
cp night.asdf info
cippus night.asdf >a && cippus ls night.asdf >b && cmp a b
cippus night.asdf "$SAMPLES/tide.blp" --json >a && cippus ls --json night.asdf "$SAMPLES/tide.blp" >b && cmp a b
cippus - <"$SAMPLES/tide.blp"
cippus info 2>&1 || echo "exit $?"
cippus nothing.asdf 2>&1 || echo "exit $?"
cippus nothing 2>&1 || echo "exit $?"
cippus 2>&1 || echo "exit $?"
cippus --version >a && cippus -V >b && cmp a b
