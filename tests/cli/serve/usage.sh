# what cannot be served, or not to everybody
if cippus serve . --port 65536 2>&1 | grep -q "has no server"; then exit 77; fi
cippus serve 2>&1 || echo "exit $?"
cippus serve nothing 2>&1 || echo "exit $?"
cippus serve . --bind 0.0.0.0 2>&1 || echo "exit $?"
cippus serve . --port 65536 2>&1 || echo "exit $?"
cippus serve . --max-memory 1M 2>&1 || echo "exit $?"
cippus serve . --bind example 2>&1 --public || echo "exit $?"
mkdir -p a/x b/x
cippus serve a/x b/x 2>&1 || echo "exit $?"
cippus serve --help
