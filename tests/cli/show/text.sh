# Without a terminal a picture is letters, with the indices of its axes.
exec 2>&1
show() {
    echo "\$ show $*" | sed "s,$SAMPLES/,,"
    cippus show "$@" 2>&1 | sed "s,$SAMPLES/,,"
}
show "$SAMPLES/night.asdf" image --height 12
show "$SAMPLES/night.asdf" image --height 12 --map viridis_r --no-axes
show "$SAMPLES/night.asdf" image '[100:20:-1, 30:]' --height 8 --scale asinh
show "$SAMPLES/night.asdf" spectrum --width 60 --height 10
show "$SAMPLES/night.asdf" masked --zoom 1
show "$SAMPLES/night.asdf" stars/flux --width 40 --height 6
show "$SAMPLES/night.asdf" stars/position --limits 0,100
show "$SAMPLES/cube.b2nd" --height 6 --width 40
show "$SAMPLES/cube.b2nd" '[3]' --height 6 --width 40 --column-major
show "$SAMPLES/complex.ra" --height 6 --width 40
show "$SAMPLES/model.zarr" wind --height 6 --width 40
show "$SAMPLES/weather.h5" temperature --height 4 --width 40
show "$SAMPLES/sky.fits" SCI/data --height 6 --width 40 --reduce mean
printf 'x,y\n1,2\n,3\n4,4\n9,5\n' >t.csv
show t.csv x --width 30 --height 5 --scale sqrt
# cat prints it before the values; raw input has the type that is said
echo "# preview"
cippus cat "$SAMPLES/night.asdf" masked '[:2]' --preview
cippus cat "$SAMPLES/night.asdf" masked --preview --to csv 2>&1 || echo "exit $?"
printf '\001\000\002\000\003\000\004\000' >t.raw
show t.raw --from raw --dtype int16 --shape 2,2 --zoom 1
show "$SAMPLES/night.asdf" image --dtype int16
