# what comes through a pipe is found from its bytes as for put; raw rows are what --from raw says
cippus convert --accept-loss "$SAMPLES/cube.b2nd" c.npy 2>/dev/null
cippus cat c.npy '[:2]' --to npy >j.npy
cippus cat c.npy '[:2]' --to raw >j.raw
cippus convert c.npy i.b2nd
cippus ls i.b2nd
cippus append i.b2nd - <j.npy
cippus cat i.b2nd '[-2:]' --to raw | cmp - j.raw
cippus append i.b2nd - --from raw <j.raw
cippus cat i.b2nd '[-2:]' --to raw | cmp - j.raw
cippus ls i.b2nd
cp i.b2nd before
try() {
    status=0
    cippus append "$@" 2>&1 || status=$?
    echo "status $status"
}
printf 'a,b\n1,2.5\n' >t.csv
cippus convert t.csv t.asdf
cp t.asdf t.before
try t.asdf - <t.csv
try i.b2nd - <j.raw
cat t.csv | try t.asdf - --shape 1
try t.asdf - --dtype int8 <t.csv
cmp t.asdf t.before
try t.asdf - --from csv <t.csv
cippus cat t.asdf
# a torn end, behind more than one piece
{ head -c 8000000 /dev/zero; printf 'x'; } | try i.b2nd - --from raw
{ cat j.raw; printf 'x'; } | try i.b2nd - --from raw
cmp i.b2nd before
mkfifo rows.raw
cat j.raw >rows.raw &
try i.b2nd rows.raw
wait
cippus ls i.b2nd
