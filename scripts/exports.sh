#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks the symbols of a build's libraries:
#   libcippus.so exports what include/ declares CIP_API (scripts/abi.py keeps the list of that);
#   every symbol that libcippus.a defines for others starts with cip_;
#   core/ and space/ refer to nothing that a format defines.
#
#     scripts/exports.sh [BUILD]            BUILD: build/release
set -u
cd "$(dirname "$0")/.."
export LC_ALL=C
build=${1:-build/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# same A B TEXT: complains with TEXT and the difference
same() {
    if ! diff "$1" "$2" >"$work/diff"; then
        echo "exports: $3:" >&2
        sed -n 's/^[<>]/    &/p' "$work/diff" >&2
        failed=1
    fi
}

scripts/apidoc.py --names | sort -u >"$work/declared"

# each with the version of the interface, which is a symbol itself
nm -D --defined-only "$build/libcippus.so" | awk '$2 != "A" { print $NF }' | tee "$work/versioned" |
    sed 's/@.*//' | sort -u >"$work/exported"
grep -v '@@CIPPUS_' "$work/versioned" >"$work/bare"
same /dev/null "$work/bare" "$build/libcippus.so exports names without a version (>)"
same "$work/declared" "$work/exported" \
    "what the headers declare (<) is not what $build/libcippus.so exports (>)"

nm -g --defined-only "$build/libcippus.a" | awk 'NF == 3 && $3 !~ /^cip_/ { print $3 }' |
    sort -u >"$work/foreign"
same /dev/null "$work/foreign" "libcippus.a defines names that do not start with cip_ (>)"

# symbols OPTION FOLDER...: the global names of the objects below these folders of src/
symbols() {
    option=$1
    shift
    for folder in "$@"; do
        [ ! -d "$build/src/$folder" ] || find "$build/src/$folder" -path '*/cip_*.dir/*' -name '*.o'
    done | sort -u | xargs -r nm -g "$option" 2>/dev/null | awk 'NF >= 2 { print $NF }' | sort -u
}
for folder in src/format/*/; do
    [ ! -e "$folder/CMakeLists.txt" ] || symbols --defined-only "${folder#src/}"
done | sort -u >"$work/formats"
symbols --undefined-only core space >"$work/needed"
comm -12 "$work/formats" "$work/needed" >"$work/reached"
same /dev/null "$work/reached" "core/ or space/ refers to a symbol of a format (>)"
exit $failed
