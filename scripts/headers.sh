#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles every header alone: the public ones as C17, C++17 and C++20 (that of C++ without exceptions
# too), the internal ones as C17, those of tests behind cmocka's.
set -u
cd "$(dirname "$0")/.."
failed=0
flags="-fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror -Iinclude"

# alone COMPILER LANGUAGE STANDARD HEADER [FLAGS]: includes it twice, to see its guard
alone() {
    header=$4
    # shellcheck disable=SC2086 # $flags and $5 are lists of words
    printf '#include "%s"\n#include "%s"\nint cip_headers_alone;\n' "$header" "$header" |
        $1 -x "$2" -std="$3" $flags ${5:-} - || {
        echo "headers: $header does not compile alone as $3" >&2
        failed=1
    }
}

for header in $(cd include && find cippus -name '*.h' | sort); do
    alone "${CC:-cc}" c c17 "$header"
    alone "${CXX:-c++}" c++ c++17 "$header"
    alone "${CXX:-c++}" c++ c++20 "$header"
done
for flags_of_cxx in "" "-fno-exceptions -fno-rtti"; do
    alone "${CXX:-c++}" c++ c++17 cippus/cippus.hpp "$flags_of_cxx"
    alone "${CXX:-c++}" c++ c++20 cippus/cippus.hpp "$flags_of_cxx"
done
internal="-Isrc -D_GNU_SOURCE"
cmocka="-include setjmp.h -include stdarg.h -include stddef.h -include stdint.h -include cmocka.h"
for header in $(cd src && find . -name '*.h' | sed 's,^\./,,' | sort); do
    alone "${CC:-cc}" c c17 "$header" "$internal"
done
for header in $(cd tests && find support -name '*.h' | sort); do
    alone "${CC:-cc}" c c17 "$header" "$internal -Itests -DCIP_SOURCE_DIR=\"\" $cmocka"
done
exit $failed
