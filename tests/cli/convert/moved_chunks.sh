# Blosc chunks go from file to file as they are stored, unless something else is asked for
exec 2>&1; cp -r "$SAMPLES"/tide.blp "$SAMPLES"/prices.bcolz "$SAMPLES"/cube.b2nd .
chunks() { cippus info --chunks "$@" | awk '$5 == "data" { print $4, $3, $6, $7 }'; }
cippus convert tide.blp a.blp && chunks tide.blp && echo as && chunks a.blp
cippus convert prices.bcolz --path close b.blp --checksum none
chunks prices.bcolz --path close && echo as && chunks b.blp
cippus convert b.blp c.blp --codec zlib --checksum sha256 && chunks c.blp
cippus convert b.blp d.blp --option chunk_size=300 && chunks d.blp | tail -n 1
cippus convert cube.b2nd e.blp --accept-loss && chunks e.blp
cippus convert b.blp f.blp --codec zlib && cippus resize f.blp 32 && cippus append f.blp b.blp && chunks f.blp
cippus verify --deep f.blp
cippus verify --deep a.blp b.blp c.blp d.blp e.blp
