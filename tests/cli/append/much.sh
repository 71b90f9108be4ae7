# 60 MB through a pipe in 400 MB of address space, of which 20 may be used
(ulimit -v 400000 && cippus --version) >/dev/null 2>&1 || { echo "no limit of address space (sanitizers need more)" >&2; exit 77; }
cp "$SAMPLES/stream.asdf" x.asdf
head -c 60000000 /dev/zero | (
    ulimit -v 400000
    cippus append x.asdf - --from raw --max-memory 20M --durability process --threads 1
)
cippus ls x.asdf
