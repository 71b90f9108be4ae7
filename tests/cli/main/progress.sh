# on a terminal, work of over a second says how much is done, how fast, and the time left
cippus convert --fill 0 --shape 1000000,1000000 --dtype float32 huge.b2nd
cat >terminal.py <<'END'
import os, pty, re, signal, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp("cippus", ["cippus"] + sys.argv[1:])
seen = b""
while b" left" not in seen:
    seen += os.read(fd, 4096)
os.kill(pid, signal.SIGKILL)
print(re.sub("[0-9.:]+", "N", seen.decode().split("\r")[1]).split("\x1b")[0])
END
shown() {
    timeout 60 python3 terminal.py "$@" --max-elements 1000000000000 |
        sed -E 's/ (thousand|million|billion)//; s/[KMG]iB/xiB/'
}
shown stat huge.b2nd
shown convert huge.b2nd huge.npy
timeout 3 python3 terminal.py stat huge.b2nd --no-progress --max-elements 1000000000000 || echo none
