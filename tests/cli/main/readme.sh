# Every line of the README's blocks of shell does on samples/ what is printed below it, and its C is
# C over our headers.
cp -R "$SAMPLES" samples
cat >run.py <<'END'
import os, pathlib, re, shutil, subprocess, sys
text = (pathlib.Path(os.environ["ROOT"]) / "README.md").read_text()
nline = 0
for block in re.findall(r"^```console\n(.*?)^```", text, re.S | re.M):
    for line, want in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", block, re.M):
        done = subprocess.run(["sh", "-c", "exec 2>&1; " + line], capture_output=True, text=True)
        nline += 1
        if done.stdout != want:
            print(f"$ {line}expected\n{want}found\n{done.stdout}")
            sys.exit(1)
assert nline > 10
for block in re.findall(r"^```c\n(.*?)^```", text, re.S | re.M):
    if shutil.which("cc"):
        flags = ["-std=c17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c", "-"]
        subprocess.run(["cc", "-I" + os.environ["ROOT"] + "/include", *flags], input=block, text=True, check=True)
END
python3 run.py
