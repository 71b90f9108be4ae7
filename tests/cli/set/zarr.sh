# Zarr stores of both versions: attributes, names of axes, arrays and groups that come and go, what is refused
exec 2>&1
try() {
    status=0
    cippus "$@" || status=$?
    [ $status = 0 ] || echo "status $status"
}
cp "$SAMPLES/roman.asdf" .
cippus cat "$SAMPLES/cube.b2nd" --to npy >cube.npy
for kind in zarr zarr2; do
    echo "--- $kind"
    rm -rf s.zarr
    cippus convert roman.asdf s.zarr --format $kind
    try set s.zarr title 'a store'
    try set s.zarr roman/attrs/data/units DN/s
    try set s.zarr roman/dims/data '[y, x]'
    try set s.zarr roman/dims/data '[y]'
    try set s.zarr roman/data 5
    try set s.zarr roman/data/shape '[1]'
    try set s.zarr roman/attrs/none/x 1
    try put --new s.zarr new/group/cube cube.npy --codec lz4
    try put --new s.zarr roman/data cube.npy
    try put --new s.zarr roman/data/x cube.npy
    try put --new s.zarr title cube.npy
    try put --new s.zarr .hidden cube.npy
    try set s.zarr new/group/attrs/cube/units K
    cippus ls s.zarr
    for path in title roman/dims roman/attrs new/group/attrs; do
        cippus tree s.zarr $path
    done
    cippus diff cube.npy s.zarr/new/group/cube && echo same
    try rm s.zarr roman/attrs/data/units
    try rm s.zarr roman/dq
    try rm s.zarr new
    try rm s.zarr none
    try mv s.zarr roman/data data
    try mv s.zarr title name
    cippus ls s.zarr
    cippus tree s.zarr name
    cippus tree s.zarr dims
    find s.zarr | sort | grep -v /c/ | grep -v '/[0-9.]*$'
    cippus verify --deep s.zarr
done
