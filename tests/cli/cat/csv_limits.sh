# Memory holds a cell and a row of columns; an array is not much larger than its file.
python3 - <<'END'
open("cell.csv", "w").write("a\n" + "x" * 3000000 + "\n")
open("columns.csv", "w").write("1," * 100000 + "1\n")
open("wide.csv", "w").write("a\n" + "x" * 300000 + "\n" + "y\n" * 1000)
open("long.csv", "w").write("1\n" * 3000000)
END
for file in cell columns wide long; do
    cippus cat $file.csv --max-memory 2M '[-1]' 2>&1 || echo $?
done
cippus cat columns.csv '[0, -1]'
mkdir other && TMPDIR=$PWD/other cippus cat long.csv '[-1]'
if [ -e /dev/full ]; then
    (ulimit -f 100 && trap '' XFSZ && cippus cat long.csv 2>&1) || echo $?
fi
mkfifo pipe.csv && { cat long.csv >pipe.csv & } && cippus cat pipe.csv '[-1]'
