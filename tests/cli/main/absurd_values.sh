# Every option of every command with values that nobody means, twice, or with one where it takes none:
# never a crash or a hang. A number, a word of a list or a type that is none is wrong usage, told with
# the option's name. The options are those that --help lists; a sample of the runs, all with CIP_FULL=1.
cat >run.py <<'END'
import concurrent.futures, os, pathlib, re, shutil, subprocess, sys, tempfile
sys.path.insert(0, os.environ["ROOT"] + "/tests/support")
import effort

SAMPLES = pathlib.Path(os.environ["SAMPLES"])
USES = {
    "info": "n.asdf", "ls": "n.asdf", "tree": "n.asdf", "verify": "n.asdf", "recover": "n.asdf", "edit": "n.asdf", "defrag": "n.asdf",
    "cat": "n.asdf image [0,:3]", "show": "n.asdf image", "stat": "n.asdf image", "convert": "n.asdf out.asdf", "set": "n.asdf x 1", "rm": "n.asdf stars",
    "mv": "n.asdf stars s", "put": "n.asdf counts [0,0] 1", "append": "t.blp t.npy", "resize": "c.b2nd 6,24,40", "finish": "s.asdf",
    "diff": "n.asdf c.b2nd", "zarr-refs": "n.asdf o.json", "serve": "nothing", "explode": "n.asdf o.asdf", "implode": "n.asdf o.asdf", "repair": "c.b2nd o.b2nd",
}
VALUES = [b"", b"-1", b" -1", b"+1", b"1e30", b"NaN", b"9" * 24, b"0x10", b"q" * 100000, b"\xff\xfe", b"\x1b[1m", b"1 2", b"\n"]
HUGE = [b"0", b"4294967295", b"9223372036854775807", b"18446744073709551615", b"16777216T", b"1,2,3,4,5,6,7,8,9,0", b"[" * 5000]
CHECKED = "--port --limit --threads --max-memory --max-elements --depth --block --chunk --tree-slack --align --offset --wait"
WORDS = "--byteorder --durability --md5 --from --dtype --as --shape --sep --fill"

def help_of(verb):
    text = subprocess.run(["cippus", verb, "--help", "--all"], capture_output=True, text=True).stdout
    return re.findall(r"^  (--[a-z0-9-]+)( \S+)?  ", text, re.M)

def runs():
    for verb, use in USES.items():
        for option, value in help_of(verb):
            if option == "--follow":
                continue
            if not value:
                yield verb, use, [option + "=1"], True
                yield verb, use, [option, option], False
                continue
            checked = option in CHECKED.split() or (option in WORDS.split() and (option != "--shape" or verb in ("cat", "stat")))
            for v in VALUES:
                fine = {"--fill": [b"-1", b" -1", b"+1", b"1e30", b"NaN"], "--shape": [b"0x10"]}
                yield verb, use, [option, v], checked and v not in fine.get(option, [])
            for v in HUGE[2:] if option == "--tree-slack" else HUGE: # 4 GiB of room would be written
                yield verb, use, [option, v], False
            yield verb, use, [option, b"1", option, b"2"], False
    assert {line.split()[0] for line in subprocess.run(["cippus", "--help"], capture_output=True, text=True).stdout.splitlines()
            if re.match("  [a-z][a-z-]+ ", line)} == set(USES)

def run(item):
    verb, use, words, checked = item
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for name, sample in (("n.asdf", "night.asdf"), ("c.b2nd", "cube.b2nd"), ("s.asdf", "stream.asdf"), ("t.blp", "tide.blp"), ("t.npy", "../t.npy")):
            shutil.copy(SAMPLES / sample if sample[0] != "." else "t.npy", folder + "/" + name)
        try:
            done = subprocess.run(["cippus", verb, *words, *use.split()], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            return f"{verb} {words}: not done after 60 s"
    said = done.stderr.decode(errors="replace")
    shown = f"{verb} {[w[:30] for w in words]}: exit {done.returncode}\n{said[:2000]}"
    if done.returncode not in (0, 1, 2, 3) or "Sanitizer" in said or "runtime error" in said or "\x1b" in said:
        return shown
    if done.returncode > 1 and not re.search(r"^cippus: .", said, re.M):
        return shown
    if checked and (done.returncode != 2 or words[0].split("=")[0] not in said):
        return shown + "(expected exit 2 and the option's name)"

os.environ["EDITOR"] = "true"
subprocess.run(["cippus", "convert", SAMPLES / "tide.blp", "t.npy", "--accept-loss"], capture_output=True, check=True)
items = effort.sample(runs(), 300)
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    bad = [b for b in pool.map(run, items) if b]
print(len(items), "runs", *bad[:40], sep="\n") if bad else print("fine")
END
python3 run.py
