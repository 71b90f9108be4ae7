# a node gets another path with its own text: comments, tags, style; nothing else changes
exec 2>&1
make() { python3 "$ROOT/tests/support/asdf_of_text.py" "$@"; }
make x.asdf 1,2,3 <<'END'
# who watched
observer: Jane   # at night
roman: # the instrument
  # raw counts
  data: !core/ndarray-1.0.0
    source: 0   # the only one
    datatype: uint8
    byteorder: little
    shape: [3]
  meta: {time: 107.5, list: [1, 2]}
to: {$ref: '#/roman/data'}
END
cp x.asdf was.asdf
tree() { tr -d '\0' <"$1" | sed '1,/^---/d; /^\.\.\./,$d; s/ *$//'; }
try() { "$@" || echo $?; cmp x.asdf was.asdf; }
try cippus mv x.asdf roman/data roman/counts   # the reference would lead nowhere
try cippus mv x.asdf observer roman
try cippus mv x.asdf roman roman/meta/x
try cippus mv x.asdf roman/data/shape shape
try cippus mv x.asdf observer roman/data/observer
try cippus mv x.asdf none some
cippus mv --dry-run x.asdf observer who; cmp x.asdf was.asdf
cippus rm x.asdf to
cippus mv x.asdf observer who && cippus mv x.asdf roman/data roman/counts && tree x.asdf
cippus mv x.asdf roman/counts cal/dark/counts --history 'moved' && cippus mv x.asdf roman/meta/time time && tree x.asdf
cippus cat x.asdf cal/dark/counts; cippus verify x.asdf
cippus mv x.asdf who time || echo $?
cippus mv --force x.asdf who time && cippus tree x.asdf time
