# On a terminal the edges, aligned within its width; to a pipe, or with --all, everything.
terminal() {
    width=$1
    shift
    echo "\$ $*" | sed "s,$SAMPLES/,,"
    python3 "$ROOT/tests/support/on_terminal.py" "$width" cippus "$@" 2>&1 | sed "s,$SAMPLES/,,"
}
terminal 60 cat "$SAMPLES/night.asdf" image
terminal 60 cat "$SAMPLES/night.asdf" spectrum
terminal 60 cat "$SAMPLES/night.asdf" masked
terminal 60 cat "$SAMPLES/night.asdf" masked --mask
terminal 10 cat "$SAMPLES/night.asdf" masked
terminal 40 cat "$SAMPLES/night.asdf" stars
terminal 40 cat "$SAMPLES/prices.bcolz"
terminal 40 cat "$SAMPLES/prices.bcolz" share '[:3]'
terminal 40 cat "$SAMPLES/cube.b2nd"
terminal 40 cat "$SAMPLES/complex.ra" '[0]'
terminal 40 cat "$SAMPLES/phantom.ra" '[2, 2]'
terminal 40 cat "$SAMPLES/phantom.ra" '[5:5]'
terminal 40 cat "$SAMPLES/phantom.ra" '[1, 2, 3]'
terminal 40 cat "$SAMPLES/phantom.ra" '[40]'
terminal 40 cat "$SAMPLES/phantom.ra" '[0, :3]' --to csv
# records: columns by name, within the width
terminal 60 cat "$SAMPLES/wells.blz" '[:2]'
terminal 20 cat "$SAMPLES/night.asdf" stars '[::-2]'
terminal 60 cat "$SAMPLES/night.asdf" stars '[2]'
terminal 60 cat "$SAMPLES/night.asdf" stars '[3:3]'
terminal 60 cat "$SAMPLES/night.asdf" stars/star
terminal 60 cat "$SAMPLES/night.asdf" stars --all
printf 'n\303\244me,"a ""b""",long\n"x, y",1,abcdefghijklmnopqrstuvwxyz \303\251\303\251\303\251\303\251\303\251\n"two\nlines\033[1m",22,\n' >t.csv
terminal 60 cat t.csv
terminal 40 cat t.csv
# the same elements by any selection
python3 - <<'END'
import os, re, subprocess
def cells(*args):
    done = subprocess.run(["python3", os.environ["ROOT"] + "/tests/support/on_terminal.py", "4000", "cippus", "cat",
                           os.environ["SAMPLES"] + "/cube.b2nd", *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
def piped(text):
    done = subprocess.run(["cippus", "cat", os.environ["SAMPLES"] + "/cube.b2nd", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
for text in ("[0, :20]", "[-1, 3::2, ::-1]", "[::-2, 5, 2:9:3]", "[..., -1:0:-7, 0]", "[None, 2, 20:6:-4, None, ::5]",
             "[1:4, ::6, -3:]", "[5:2:-1, 0:100:9, 29:28:-1]", "[..., 4]", "[0, 0]", "[3:1, 0]", "[:, 23:-30:-8, 7]"):
    assert cells(text) == piped(text), (text, cells(text), piped(text))
    assert cells(text, "--all") == piped(text), text
assert len(cells("--all")) == 6 * 24 * 30
END
