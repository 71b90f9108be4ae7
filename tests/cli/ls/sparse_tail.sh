# A hole of 300 GB behind a file is not read through.
cp "$SAMPLES/night.asdf" x.asdf
truncate -s 300G x.asdf || { echo "no file of 300 GB here" >&2; exit 77; }
timeout 20 cippus ls x.asdf
timeout 20 cippus verify x.asdf
rm x.asdf
