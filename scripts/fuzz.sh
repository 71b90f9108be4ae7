#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fuzzes every target of the preset `fuzz`, starting from copies of the corpora in the tree.
#
#     scripts/fuzz.sh SECONDS [TARGET...]       SECONDS: for all targets together
#
# New inputs are kept in build/fuzz/found/<target>, failing ones in build/fuzz/crashes. Fails when
# there is one.
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}
shift
if [ $# -eq 0 ]; then
    for program in build/fuzz/fuzz/fuzz_*; do
        [ ! -x "$program" ] || set -- "$@" "${program##*/}"
    done
fi
if [ $# -eq 0 ]; then
    echo "fuzz: no targets in build/fuzz/fuzz" >&2
    exit 1
fi
jobs=$(nproc)
[ "$jobs" -le $# ] || jobs=$#
share=$((seconds * jobs / $#))
[ "$share" -ge 1 ] || share=1
mkdir -p build/fuzz/crashes
rm -f build/fuzz/crashes/*

# fuzz TARGET SECONDS
fuzz() {
    local found=build/fuzz/found/$1 seeds
    mkdir -p "$found"
    for seeds in $(find src tests -type d -path "*/corpus/$1"); do
        find "$seeds" -type f -not -name README -exec cp -t "$found" {} +
    done
    if build/fuzz/fuzz/"$1" -max_total_time="$2" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/crashes/$1-" "$found" >"build/fuzz/$1.log" 2>&1; then
        awk -v t="$1" '/number_of_executed_units/ { print t ": " $NF " runs, no failure" }' "build/fuzz/$1.log"
    else
        tail -n 40 "build/fuzz/$1.log"
        echo "$1: failed, see build/fuzz/$1.log and build/fuzz/crashes"
        return 1
    fi
}
export -f fuzz
echo "fuzz: $# targets, $share s each, $jobs at a time"
printf '%s\n' "$@" | xargs -P "$jobs" -I '{}' bash -c "fuzz {} $share"
