# a format without a tree has nothing to move
exec 2>&1
python3 -c 'import struct,sys; sys.stdout.buffer.write(struct.pack("<8Q", 0x7961727261776172, 0, 2, 4, 8, 1, 2, 0))' >x.ra
cippus mv x.ra a b || echo $?
