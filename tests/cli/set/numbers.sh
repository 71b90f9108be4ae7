printf '#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%%YAML 1.1\n---\na: 1\n...\n' >x.asdf
for v in 1 1.5 1e3 1.5e3 1.5e+3 .5E-3 1e+3 1.e5x e5 1e 0x1F 12:30:00 yes 2026-01-01; do
    cippus set x.asdf a "$v" --durability process 2>&1
    cippus tree x.asdf a --json
done
for v in -12:30:45 017 08 0o17 1e-3 -.5 nan -inf 1e400 1_000 no Off '~' '' null '[1e-3, 017, {on: nan}]' '"017"'; do
    cippus set x.asdf a --durability process -- "$v" 2>&1
    sed -n 5p x.asdf
done
cippus set x.asdf a 1e3 --string 2>&1
