# a block whose header is believed only right behind the tree goes on standing there
printf '#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%%YAML 1.1\n%%TAG ! tag:stsci.edu:asdf/\n---\na: !core/ndarray-1.1.0 {source: 0, datatype: uint8, shape: [3]}\nb: long enough to be shortened\n...\n' >x.asdf
{
    printf '\323BLK\000\060\0\0\0\200\0\0\0\0'
    for i in 1 2 3; do printf '\0\0\0\0\0\0\0\003'; done
    printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\001\002\003'
} >>x.asdf
cippus cat x.asdf a 2>/dev/null
for value in 1 "a text that is longer than the one that was there before"; do
    cippus set x.asdf b "$value" 2>/dev/null
    cippus tree x.asdf b 2>/dev/null
    echo
    cippus cat x.asdf a 2>/dev/null
done
printf '\007' >byte.raw
cippus put x.asdf a '[1]' byte.raw 2>/dev/null
cippus cat x.asdf a 2>/dev/null
