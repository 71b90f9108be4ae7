#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests of the preset `cov`, and prints how many lines of each file of src/ they reach, the
# least first.
#
#     scripts/coverage.sh [PART]        PART: only files whose path contains it
set -eu
cd "$(dirname "$0")/.."
part=${1:-}
cmake --preset cov >/dev/null
cmake --build --preset cov
find build/cov -name '*.gcda' -delete
ctest --preset cov -j "$(nproc)" >build/cov/ctest.log || tail -n 20 build/cov/ctest.log
gcov=gcov
! grep -q 'CMAKE_C_COMPILER:.*clang' build/cov/CMakeCache.txt || gcov="llvm-cov gcov"
root=$PWD
find build/cov/src -path '*/cip_*.dir/*' -name '*.gcno' | while read -r data; do
    (cd "$(dirname "$data")" && $gcov -n "$(basename "$data")" 2>/dev/null)
done | awk -v root="$root/src/" -v part="$part" '
    /^File / { gsub(/^File .|.$/, ""); file = index($0, root) == 1 ? substr($0, length(root) + 1) : "" }
    /^Lines executed:/ && file ~ /\.c$/ && index(file, part) {
        split($0, a, /[:% ]+/)
        share = a[3]; lines = $NF
        printf "%6.1f %%  %4d lines  src/%s\n", share, lines, file | "sort -n"
        hit += share * lines / 100; all += lines
        file = ""
    }
    END { close("sort -n"); if (all) printf "%6.1f %%  %4d lines in all\n", 100 * hit / all, all }'
