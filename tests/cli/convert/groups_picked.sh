# one array of many with its attributes: they are the array's in Zarr and HDF5, too
for out in p.zarr p.h5; do
    cippus convert --path temperature "$SAMPLES/weather.h5" $out
    cippus tree $out
done
