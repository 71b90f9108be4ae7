# A line of --points is as many integers as the array has axes, or it is refused.
cp "$SAMPLES/night.asdf" .
at() {
    printf -- "$1" >points
    cippus cat --points points night.asdf masked 2>&1 || echo $?
}
at '0 0'
at ' 0\t,0 \r\n\n'
at ''
at '-1 -1\n'
at '0,,0\n'
at '0 0,\n'
at ',0 0\n'
at '0-1\n'
at '0 0 0\n'
at '0 0.5\n'
at '0 1e0\n'
at '0 0x1\n'
at '0 0\0\n'
at '0 a\n'
at '0 9223372036854775808\n'
at '0 9223372036854775807\n'
at '0 -9223372036854775808\n'
at '\377\376\n'
cippus cat --points . night.asdf masked 2>&1 || echo $?
cippus cat --points missing night.asdf masked 2>&1 || echo $?
yes '0 0' | cippus cat --points - --max-memory 1M night.asdf masked 2>&1 || echo $?
tr '\0' 1 </dev/zero | cippus cat --points - --max-memory 1M night.asdf masked 2>&1 || echo $?
