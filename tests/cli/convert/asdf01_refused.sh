# what no chain takes is refused, and nothing is written
exec 2>&1
cippus cat --to npy "$SAMPLES/night.asdf" image >image.npy
cippus cat --to npy "$SAMPLES/night.asdf" counts >counts.npy
printf '1,nan\n' >nan.csv
refused() { cippus convert "$@" && echo written || echo $?; }
refused --encode '[quantize]' image.npy x.asdf
refused --accept-loss --encode '[quantize]' counts.npy x.asdf
refused --accept-loss --encode '[quantize]' nan.csv x.asdf
refused --encode '[[tile, {shape: [2, 2, 2]}], zlib]' counts.npy x.asdf
refused --encode '[zlib, [tile, {shape: [2]}]]' counts.npy x.asdf
refused --encode '[frobnicate]' counts.npy x.asdf
refused --encode '[[quantize, {bits: 65}]]' image.npy x.asdf
refused --encode '[[quantize, {qualty: 100}]]' image.npy x.asdf
refused --encode '[zlib]' --standard 1.6.0 counts.npy x.asdf
refused --encode '[zlib]' counts.npy x.npy
refused --encode '[zlib]' --inline counts.npy x.asdf
refused --encode '[zlib]' counts.npy x.yaml
refused --encode '[zlib]' --codec lz4 counts.npy x.asdf
refused --standard 0.1.0 --codec lz4 counts.npy x.asdf
refused --standard 0.1.0 --md5 current counts.npy x.asdf
refused --standard 0.2.0 counts.npy x.asdf
refused --json --standard 0.1.0 counts.npy -
ls
