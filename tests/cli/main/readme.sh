# Every line of the README's blocks of shell does on samples/ what is printed below it (its C:
# tests/guide).
cp -R "$SAMPLES" samples
cat >run.py <<'END'
import os, pathlib, re, subprocess, sys
text = (pathlib.Path(os.environ["ROOT"]) / "README.md").read_text()
nline = 0
END
python3 run.py
