printf "#ASDF 1.0.0\n%%YAML 1.1\n%%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\na: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: little, shape: [4611686018427387904], strides: [0]}\n...\n" >x.asdf
printf "\323BLK\0\060\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0x" >>x.asdf
cippus cat x.asdf a "[:3]"
cippus stat x.asdf a 2>&1
