# References to raw, zlib, lz4, bzip2 and Blosc chunks, of a folder's files too; what cannot be referred to is named.
cd "$SAMPLES"
cippus zarr-refs --url s3://b/night.asdf night.asdf 2>&1 | sed 's/"base64:[^"]*"/"base64:..."/'
cippus zarr-refs --url cube.b2nd cube.b2nd | tail -4
cippus zarr-refs --url here/prices.bcolz prices.bcolz | grep '\["'
cippus zarr-refs --url here/ prices.bcolz | grep -o '"here[^"]*share[^"]*0.blp"'
cippus zarr-refs --url phantom.ra phantom.ra | grep -v attrs
