# a column of Python objects is a named loss, the others are converted; nothing is passed over without a word
exec 2>&1
cp -r "$SAMPLES/prices.bcolz" "$SAMPLES/tide.blp" "$SAMPLES/wells.blz" .
mkdir -p prices.bcolz/who/meta prices.bcolz/who/data only.bcolz
echo '{"dtype": "object", "cparams": {"clevel": 5, "shuffle": true}, "chunklen": 1, "expectedlen": 40, "dflt": null}' >prices.bcolz/who/meta/storage
echo '{"shape": [40], "nbytes": 0, "cbytes": 0}' >prices.bcolz/who/meta/sizes
echo '{"names": ["close", "who", "share"]}' >prices.bcolz/__rootdirs__
set +e
cippus convert prices.bcolz a.asdf; echo $?
cippus convert --accept-loss prices.bcolz a.asdf; echo $?
cippus ls a.asdf
cippus convert --accept-loss --json prices.bcolz b.asdf; echo $?
cippus convert --accept-loss prices.bcolz a.npy; echo $?
cippus convert --accept-loss prices.bcolz c.asdf --path who; echo $?
cp -r prices.bcolz/who/* only.bcolz && cippus convert --accept-loss only.bcolz c.asdf; echo $?
cippus convert tide.blp a.npy --checksum crc32; echo $?
cippus convert tide.blp a.ra --align 4096; echo $?
cippus convert tide.blp - --format npy --checksum none | cippus cat - '[3, :2]'
cippus cat --shards a tide.blp; echo $?
cippus verify --shards a tide.blp; echo $?
cippus ls --shards a prices.bcolz; echo $?
cippus ls --shards missing wells.blz; echo $?
ls
