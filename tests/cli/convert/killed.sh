# A conversion that a signal ends in the midst of its output, or that finds no room, leaves nothing beside it.
mkdir d
printf 'old' >d/out.npy
head -c 300000 /dev/zero | cippus convert --from raw --dtype uint8 --shape '*' - in.asdf
for to in out.npy new.npy new.asdf; do
    (ulimit -c 0; ulimit -f 100; exec cippus convert --accept-loss --overwrite in.asdf d/$to) 2>/dev/null || echo $?
    (trap '' XFSZ; ulimit -f 100; exec cippus convert --accept-loss --overwrite in.asdf d/$to) 2>&1 || echo $?
    (trap '' XFSZ; ulimit -f 100; exec cippus explode in.asdf d/parts.asdf) 2>&1 || echo $?
    ls -A d
done
cat d/out.npy
