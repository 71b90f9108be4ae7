# values, types, parents, lists; nothing else in the text changes
cat >x.asdf <<'END'
#ASDF 1.0.0
#ASDF_STANDARD 1.6.0
%YAML 1.1
%TAG ! tag:stsci.edu:asdf/
--- !core/asdf-1.1.0
# who watched
observer: Jane   # at night
exposure:
  time: 107.5
  frames: [1, 2, 3]
...
END
cp x.asdf before.asdf
cippus set x.asdf observer 'Ann B.'
cippus set x.asdf observer 5 --string --durability process
cippus set x.asdf exposure/time 1.5e3
cippus set x.asdf exposure/frames/- '{extra: true}'
cippus set x.asdf exposure/filter/name F158
cippus set x.asdf 'a~1b' '!core/complex-1.0.0 1+2j'
cippus set x.asdf note "it's: a # test" --string
cippus set x.asdf none -- '~'
cippus verify x.asdf
tr -d '\0' <x.asdf | sed 's/ *$//' | grep -v '^$' | sed '/^\.\.\./q'
