# A FIFO of raw bytes or csv that is named waits for its writer, who may come late; a file of a format is no FIFO.
mkfifo p
cippus cat p --from raw --dtype uint8 --shape '*' >raw 2>&1 &
printf 'abcd' >p
wait $!
cat raw
cippus cat p --from csv >csv 2>&1 &
printf '1,2\n3,4\n' >p
wait $!
cat csv
cippus ls p 2>&1 || echo "status $?"
