cippus --version | head -n 1 >said
sed -n 's/.*CIP_VERSION_STRING "\(.*\)".*/cippus \1/p' "$ROOT/include/cippus/version.h" | diff - said
cippus --version | sed -n 's/:.*//p'
