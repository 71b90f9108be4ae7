# chunks between ASDF's blocks and other files as they are stored; one wrong byte shows that nothing was decoded
exec 2>&1
python3 -c "import sys; sys.stdout.buffer.write(bytes(i // 9 % 251 for i in range(1500000)))" >a.raw
cippus convert a.raw a.npy --dtype i4 --shape 375,1000
python3 -c "import random,sys; sys.stdout.buffer.write(random.Random(3).randbytes(400000))" >n.raw
cippus convert n.raw n.npy --dtype i4 --shape 100,1000
quiet() { "$@" 2>&1 | grep -v 'is left out' || true; }
echo "Blosc1: of several chunks one, and back"
for s in blp bcolz blz; do
    for n in a n; do
        case $s in blp) size=chunk_size=262144 ;; *) size=chunklen=64 ;; esac
        quiet cippus convert $n.npy $n.$s --codec blosclz:5 --option $size --checksum none
        quiet cippus convert $n.$s $n$s.asdf --codec blsc
        cippus verify --deep $n$s.asdf; cippus ls $n$s.asdf | sed 's/[0-9]*$//'
        quiet cippus convert $n$s.asdf x.npy --overwrite; cmp x.npy $n.npy
        quiet cippus convert $n$s.asdf x.blp --overwrite; cippus info --chunks x.blp | sed -n '$p' | tr -s ' ' | cut -d' ' -f5-
        quiet cippus convert x.blp x.npy --overwrite; cmp x.npy $n.npy
    done
done
damage() { python3 -c "import sys
b = bytearray(open('$1','rb').read()); b[$2] ^= 0x55; open('$1','wb').write(b)"; }
cp a.blp bad.blp; damage bad.blp -1
cippus convert bad.blp bad.asdf --codec blsc && echo "moved: nothing was decoded"
echo "Blosc2: the bytes of the frame"
cippus convert a.raw l.npy --dtype u1
cippus convert l.npy l.b2frame --codec blosclz --chunks 200000
cippus convert l.b2frame l.asdf --codec bls2; cippus verify --deep l.asdf; cippus cat --block 0 --stored l.asdf >block; cmp block l.b2frame
quiet cippus convert l.asdf m.b2frame --codec blosclz; quiet cippus convert l.asdf n.b2frame
for f in m n; do quiet cippus convert $f.b2frame x.npy --overwrite; cmp x.npy l.npy; done
cippus convert --fill 7 --dtype u1 --shape 100000000 f.b2frame; cippus convert f.b2frame f.asdf --codec bls2; cippus ls f.asdf; cippus cat f.asdf data '[-1]'
cp l.b2frame bad.b2frame; damage bad.b2frame 1000
cippus convert bad.b2frame b.asdf --codec bls2 && echo "moved: nothing was decoded"
echo "what is asked for by name is encoded anew"
for how in "bls2:zlib" "bls2:9" "bls2 --filter bitshuffle"; do
    cippus convert l.b2frame e.asdf --overwrite --codec $how; cippus cat --block 0 --stored e.asdf >block
    cmp -s block l.b2frame || echo "$how"
    quiet cippus convert e.asdf x.npy --overwrite; cmp x.npy l.npy
done
