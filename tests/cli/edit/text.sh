# the editor is sed here
cp "$SAMPLES/night.asdf" x.asdf
export TMPDIR="$PWD/tmp"
mkdir tmp
EDITOR="sed -i -e 's/F158/F200/' -e '/^exposure:/i # by hand'" cippus edit x.asdf
cippus tree x.asdf instrument
grep -a -c '^# by hand' x.asdf
VISUAL="sed -i s/^image:/picture:/" EDITOR=false cippus edit x.asdf --history 'renamed'
cippus ls x.asdf
cippus cat x.asdf picture --to raw >a
cippus cat "$SAMPLES/night.asdf" image --to raw | cmp - a
cippus verify --deep x.asdf
cp x.asdf before.asdf
EDITOR=true cippus edit x.asdf 2>&1
EDITOR="sed -i s/F200/F300/" cippus edit x.asdf --dry-run >plan
test -s plan
cmp x.asdf before.asdf
ls tmp
EDITOR='check() { stat -c %a "$(dirname "$1")"; stat -c %a "$1"; }; check' cippus edit x.asdf 2>&1
