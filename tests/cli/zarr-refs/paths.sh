# One array, or all below a node of the tree; what of these cannot be.
cd "$SAMPLES"
cippus zarr-refs --url r --path roman/dq roman.asdf | grep -o '^"[^"]*"'
cippus zarr-refs --url r --path roman roman.asdf | grep -o '^"[^"]*"'
cippus zarr-refs --url r --path roman/meta roman.asdf || echo "exit $?"
cippus zarr-refs --url r --path nothing roman.asdf || echo "exit $?"
cippus zarr-refs --url r --path masked night.asdf || echo "exit $?"
cippus zarr-refs --url r --inline 0 night.asdf > /dev/null || echo "exit $?"
cippus zarr-refs --url r wells.blz || echo "exit $?"
