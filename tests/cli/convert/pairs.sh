# from every format to every other, by pipes where both are files
exec 2>&1
python3 -c "import sys; sys.stdout.buffer.write(bytes(i // 5 % 251 for i in range(30000)))" >a.raw
cippus convert a.raw a.npy --dtype u1
files="asdf npy npz rawarray blosc2 b2frame b2chunk blosc bloscpack"
folders="blz bcolz"
quiet() { "$@" 2>&1 | grep -v 'is left out' || true; }
for from in $files $folders; do
    quiet cippus convert a.npy "in.$from" --format $from
    for to in $files; do
        case " $files " in
        *" $from "*) { cippus convert - - --format $to <"in.$from" | cippus convert - - --format npy --accept-loss 2>/dev/null >back.npy; } 2>&1 | grep -v 'is left out' || true ;;
        *) { cippus convert "in.$from" - --format $to | cippus convert - - --format npy --accept-loss 2>/dev/null >back.npy; } 2>&1 | grep -v 'is left out' || true ;;
        esac
        cmp back.npy a.npy && echo "$from $to"
    done
    for to in $folders; do
        quiet cippus convert "in.$from" out --format $to; quiet cippus convert out back.npy --overwrite --accept-loss >/dev/null
        cmp back.npy a.npy && echo "$from $to"; rm -r out
    done
done >all
sort all | uniq | wc -l; sort all | uniq -d
cippus convert a.npy p.asdf --codec blsc; cippus convert a.npy q.asdf --codec bls2:blosclz
for f in p.asdf q.asdf; do
    for to in $files; do
        { cippus convert - - --format $to <$f | cippus convert - - --format npy | cmp - a.npy; } 2>&1 | grep -v 'is left out' || true
    done
    cippus convert a.npy - --format asdf --codec blsc | cippus convert - - --format asdf --codec bls2 | cippus cat - data '[-1]'
done
