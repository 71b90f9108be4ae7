# No key is made of nothing by a slash too many; two quotes make one. A dot is the whole tree.
tried() { echo "$ $*"; cippus "$@" 2>&1 || echo "-> $?"; }
cp "$SAMPLES/night.asdf" n.asdf
chmod u+w n.asdf
tried set n.asdf a//b 1
tried set n.asdf instrument/ 1
tried mv n.asdf instrument/gain instrument/
tried put n.asdf q//r n.asdf --path counts --new
cmp n.asdf "$SAMPLES/night.asdf"
tried set n.asdf 'a/""/b' 1
tried tree n.asdf a//b
tried set n.asdf a//b 2
tried tree n.asdf a
tried mv n.asdf counts 'z/""'
tried ls n.asdf
tried cat n.asdf z/ '[0, :3]'
tried rm n.asdf z/
tried set n.asdf . 5
tried set n.asdf '"."' 7
tried tree n.asdf '"."'
tried set n.asdf '"."' 8
tried tree n.asdf '"."'
