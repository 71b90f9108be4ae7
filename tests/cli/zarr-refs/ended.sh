# What a signal leaves of a folder of references is listed by recover, and removed.
cp "$SAMPLES/night.asdf" x.asdf
mkdir d
( (ulimit -f 0 && exec cippus zarr-refs x.asdf d/refs --format parquet) 2>/dev/null || test $? != 1 )
{ cippus recover d || echo "status $?"; } | sed 's/new-[A-Za-z0-9]*:/new-*:/'
cippus recover d --discard | sed 's/new-[A-Za-z0-9]*:/new-*:/'
ls -A d
cippus zarr-refs x.asdf d/refs --format parquet 2>/dev/null || test $? = 1
cippus zarr-refs x.asdf d/refs/ --format parquet --overwrite 2>/dev/null || test $? = 1
ls -A d
