# data in other files: what is stored there, and that it is missing (exit status 1)
exec 2>&1
cippus explode "$SAMPLES/night.asdf" x.asdf
cippus ls x.asdf
rm x0001.asdf
cippus ls x.asdf || echo "exit $?"
cippus ls --json x.asdf | grep -o '"path": "counts".*"state.*' || true
cp -r "$SAMPLES/prices.bcolz" p.bcolz
rm p.bcolz/close/data/__1.blp
cippus ls p.bcolz || echo "exit $?"
cippus ls --json p.bcolz | grep -c missing_chunks
cippus ls --tsv p.bcolz | cut -f 2,9- || true
