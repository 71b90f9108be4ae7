# An array appended to itself: where bytes are written over, the file may not be read meanwhile.
cp "$SAMPLES/tide.blp" "$SAMPLES/stream.asdf" .
chmod u+w tide.blp stream.asdf
cippus append tide.blp tide.blp 2>&1 || echo "-> $?"
cippus append stream.asdf stream.asdf && cippus ls stream.asdf
