cat >k.asdf <<'END'
#ASDF 1.0.0
#ASDF_STANDARD 1.6.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
t:
  1: {v: integer}
  "1": {v: string}
  2: only
  "true": text
  true: bool
a:
  0x10: !core/ndarray-1.1.0 {data: [1], datatype: int8}
  "16": !core/ndarray-1.1.0 {data: [2], datatype: int8}
...
END
try() {
    status=0
    cippus "$@" 2>&1 || status=$?
    echo "status $status"
}
cippus tree k.asdf --find .
cippus ls k.asdf
cippus tree k.asdf t --json
cippus tree k.asdf t/1
cippus tree k.asdf 't/"1"'
cippus cat k.asdf a/16
cippus cat k.asdf 'a/"16"'
try tree k.asdf 't/"2"'
cp k.asdf x.asdf
cippus set x.asdf t/1/v changed
cippus set x.asdf 't/"2"' new
cippus set x.asdf t/true last
cippus rm x.asdf 't/"1"'
cippus put x.asdf 'a/"16"' '[0:1]' k.asdf --path a/16
diff k.asdf x.asdf || true
sed 's/"1":/0x1:/; s/"true":/True:/' k.asdf >d.asdf
try tree d.asdf t
try rm d.asdf t/1
try tree d.asdf t
