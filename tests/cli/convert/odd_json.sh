# JSON values that no text can show go along as they stand; what only has their tag is lost.
cippus convert --fill 1 --dtype f8 --shape 3 a.bcolz --name x 2>/dev/null
printf '{"unit": "K", "odd": ["x\\ud800", "\\udc00y"], "\\udfff": 2}' > a.bcolz/__attrs__
deep=$(printf '%0230d' 0 | sed 's/0/[/g')$(printf '%0230d' 0 | sed 's/0/]/g')
for to in b.bcolz b.blz; do
    cippus convert a.bcolz $to 2>/dev/null
    cat $to/__attrs__ 2>/dev/null || cippus tree $to 2>/dev/null
    echo
done
printf '{"unit": "K", "deep": %s}' "$deep" > a.bcolz/__attrs__
cippus convert a.bcolz c.bcolz 2>/dev/null
[ "$(cat a.bcolz/__attrs__)" = "$(cat c.bcolz/__attrs__)" ] && echo the same
cat > t.yaml <<'Y'
#ASDF 1.0.0
#ASDF_STANDARD 1.5.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
attributes: {list: !<!json> '[1, 2]', text: !<!json> '"a"', half: !<!json> '"\ud800'}
x: !core/ndarray-1.0.0 [1, 2]
...
Y
cippus convert t.yaml t.bcolz 2>&1 || echo $?
