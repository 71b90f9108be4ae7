# On a terminal half blocks in colours: of 24 bits where it says so, else those of xterm; or kitty's graphics.
terminal() {
    echo "\$ $*" | sed "s,$SAMPLES/,,"
    python3 "$ROOT/tests/support/on_terminal.py" 40 "$@" 2>&1 | sed "s,$SAMPLES/,," | cat -v
}
unset COLORTERM KITTY_WINDOW_ID
export TERM=xterm
terminal cippus show "$SAMPLES/night.asdf" masked --zoom 1
export COLORTERM=truecolor
terminal cippus show "$SAMPLES/night.asdf" masked --zoom 1
terminal cippus show "$SAMPLES/night.asdf" masked --zoom 1 --bad none --no-axes
terminal cippus show "$SAMPLES/night.asdf" stars/flux --height 2 --width 20
TERM=dumb terminal cippus show "$SAMPLES/night.asdf" masked --zoom 1
TERM=xterm-kitty terminal cippus show "$SAMPLES/night.asdf" masked --zoom 1 | cut -c1-40
# what kitty gets is the PNG of -o
cippus show "$SAMPLES/night.asdf" image --format kitty --width 50 --height 20 >kitty
cippus show "$SAMPLES/night.asdf" image -o same.png --width 400 --height 320
python3 - <<'END'
import base64, re
sent = open("kitty", "rb").read()
pieces = re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", sent)
assert pieces[0][0] == b"a=T,f=100,m=1" and pieces[-1][0] == b"m=0", pieces[0][0]
assert all(len(p) <= 4096 for _, p in pieces)
assert base64.b64decode(b"".join(p for _, p in pieces)) == open("same.png", "rb").read()
END
