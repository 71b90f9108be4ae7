# over a file that has parts: nothing that was there goes, whoever it belongs to
exec 2>&1
list() { ls "$@" | paste -sd ' '; }
cippus explode --path roman/data "$SAMPLES/roman.asdf" out.asdf && list
cippus explode --path roman/err out.asdf out.asdf --overwrite && list && cippus verify --deep out.asdf && cippus ls out.asdf
cippus explode "$SAMPLES/roman.asdf" out.asdf --overwrite && list && cippus verify --deep out.asdf
rm out0001.asdf
cippus explode "$SAMPLES/roman.asdf" out.asdf --overwrite && list && cippus verify --deep out.asdf
mkdir elsewhere && echo mine >elsewhere/precious.txt
ln -s elsewhere/precious.txt x0000.asdf
cippus explode "$SAMPLES/roman.asdf" x.asdf || echo $?
echo old >x.asdf
cippus explode "$SAMPLES/roman.asdf" x.asdf --overwrite && list x* && cat x0000.asdf && cippus verify --deep x.asdf
ln -s elsewhere/z.asdf y.asdf && echo old >elsewhere/z.asdf
cippus explode "$SAMPLES/roman.asdf" y.asdf --overwrite && list y* elsewhere && cippus verify --deep elsewhere/z.asdf && cippus verify --deep y.asdf
