[ "$(id -u)" -ne 0 ] || { echo "root may write everything" >&2; exit 77; }
cp "$SAMPLES/night.asdf" x.asdf
chmod 444 x.asdf
cippus set x.asdf a 1
