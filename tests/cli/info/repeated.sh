# A fact that a file has several times is a list in JSON: no key comes twice.
cat >x.asdf <<'EOF'
#ASDF 1.0.0
#ASDF_STANDARD 1.5.0
# one
# two
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
far: !core/ndarray-1.0.0 {source: far.asdf, shape: [2], datatype: int8, byteorder: little}
...
EOF
cippus info x.asdf | grep comment
cippus info --json x.asdf
cippus ls x.asdf || echo "exit $?"
