# Every line of the README's blocks of shell, and of the guide of jobs, does on samples/ what is
# printed below it (their C: tests/guide).
cat >run.py <<'END'
import os, pathlib, re, shutil, subprocess, sys
root, samples = pathlib.Path(os.environ["ROOT"]), os.environ["SAMPLES"]

def run(document, least, folder):
    nline = 0
    for block in re.findall(r"^```console\n(.*?)^```", (root / document).read_text(), re.S | re.M):
        for line, want in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", block, re.M):
            command = ["sh", "-c", "exec 2>&1; " + line]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            nline += 1
            if done.stdout != want:
                sys.exit(f"{document}: $ {line}expected\n{want}found\n{done.stdout}")
    if nline < least:
        sys.exit(f"{document}: {nline} lines of shell")

shutil.copytree(samples, "samples")
run("README.md", 10, ".")
shutil.copytree(samples, "jobs")
run("docs/guide/jobs.md", 150, "jobs")
END
python3 run.py
