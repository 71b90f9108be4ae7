cd "$SAMPLES"; cippus info --json complex.ra phantom.ra
