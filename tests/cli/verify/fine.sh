cd "$SAMPLES" && cippus verify --deep night.asdf roman.asdf stream.asdf complex.ra phantom.ra
