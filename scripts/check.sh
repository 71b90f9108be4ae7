#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The checks of `make check`, each a function below and runnable alone:
#
#     scripts/check.sh [NAME...]
#
# Every preset builds with gcc's warnings as errors; `clang` looks for those of the other compiler.
# `exports`, `clang`, `errors`, `words` and `version` (for the command's words) need a build, in $BUILD (build/release).
set -u
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C
folders=(src include tools tests examples bench bindings samples)
checks=(format clang layers headers apidoc abi exports messages errors words names sizes readmes version licence)

# files PATTERN...: the files of the tree that have one of these names
files() {
    local args=() pattern folder
    for pattern in "$@"; do
        args+=(${args[@]:+-o} -name "$pattern")
    done
    for folder in "${folders[@]}" scripts; do
        [ ! -d "$folder" ] || find "$folder" -type f \( "${args[@]}" \) -not -path '*/__pycache__/*'
    done | sort
}

# refuse TEXT: fails with the lines of the input, if there are any
refuse() {
    local lines
    lines=$(cat)
    [ -z "$lines" ] || {
        printf '%s:\n%s\n' "$1" "$lines"
        return 1
    }
}

check_format() {
    files '*.c' '*.h' | xargs clang-format --dry-run -Werror
}

# 77: skipped
check_clang() {
    command -v clang >/dev/null || {
        echo "no clang: scripts/setup fuzz"
        return 77
    }
    local flags codec
    flags="-fsyntax-only -std=c17 -D_GNU_SOURCE -DCIP_STATIC -DCIP_SOURCE_DIR=\"\" -Isrc -Iinclude -Itests
        -I${BUILD:-build/release}/src -Werror
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion"
    for codec in LZ4 ZSTD BZIP2 SNAPPY ZFP AEC MSGPACK PNG SERVE; do
        flags="$flags -DCIP_WITH_$codec=1"
    done
    # shellcheck disable=SC2086 # a list of words
    # of the binding, Python's headers and its slots (functions as void *) are not ISO C
    files '*.c' | grep -vE '^(tests/packaging|bindings)/' | xargs -P "$(nproc)" -n 8 clang $flags
}

check_layers() {
    scripts/layers.py
}

check_headers() {
    scripts/headers.sh
}

check_apidoc() {
    scripts/apidoc.py
}

check_abi() {
    scripts/abi.py check
}

check_exports() {
    scripts/exports.sh "${BUILD:-build/release}"
}

# Programs in other languages show them too; the command says in its own words what it can do.
check_messages() {
    files '*.c' '*.h' | grep '^src/' | grep -vE '/(test|fuzz)_[^/]*$' |
        xargs grep -nE '^[^"]*("[^"]*"[^"]*)*"[^"]*(cippus [a-z]|--[a-z])' |
        refuse "messages of the library name no command and no option of it"
}

check_errors() {
    scripts/errors_page.py "${BUILD:-build/release}/cippus" --check
}

check_words() {
    scripts/words.py --command "${BUILD:-build/release}/cippus"
}

# A backtrace line is an address. A public header may share its name with an internal one; a test
# of the command is known by its folder.
check_names() {
    files '*.c' '*.h' '*.py' '*.sh' | grep -vE '/(__init__|conftest)\.py$|^tests/cli/' |
        sed -E 's,^include/(.*/)?([^/]+)$,public \2 &,; t; s,^(.*/)?([^/]+)$,internal \2 &,' |
        awk '{ key = $1 " " $2; if (key in seen) print seen[key], $3; else seen[key] = $3 }' |
        refuse "file names must be unique in the whole tree"
}

check_sizes() {
    files '*.c' '*.h' '*.py' '*.sh' | xargs wc -l |
        awk '$2 != "total" && $1 > 800' | refuse "files over 800 lines: split them"
}

check_readmes() {
    local file
    {
        files 'CMakeLists.txt' | sed -n 's,^\(src/.*\)/CMakeLists.txt$,\1/README.md,p' |
            while read -r file; do
                [ -e "$file" ] || echo "$file is missing"
            done
        files 'README.md' | xargs wc -l | awk '$2 != "total" && $1 > 40'
    } | refuse "every folder of src/ has a README; it has at most 40 lines"
}

# CMake, the package and `--version` take it from the header; $BUILD empty: without asking a build.
check_version() {
    local header=include/cippus/version.h build=${BUILD-build/release} version parts said
    version=$(sed -n 's/.*CIP_VERSION_STRING "\(.*\)".*/\1/p' $header)
    parts=$(sed -nE 's/.*define CIP_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' $header | paste -sd.)
    said=$([ -z "$build" ] || "$build/cippus" --version | sed -n '1s/^cippus //p')
    {
        files '*.c' '*.h' | xargs grep -n 'define CIP_VERSION' | grep -v "^$header:"
        grep -rnE "cippus[-_ ]?v?${version//./\\.}" CMakeLists.txt cmake README.md docs \
            "${folders[@]}" --include='*' 2>/dev/null | grep -v "^$header:"
        [ "$parts" = "$version" ] || echo "$header: MAJOR.MINOR.PATCH is $parts, STRING $version"
        [ -z "$build" ] || [ "$said" = "$version" ] || echo "$build/cippus --version: $said, $header: $version"
        grep -m1 -E '^## [0-9]' CHANGELOG.md | grep -qE "^## ${version//./\\.} " || echo "CHANGELOG.md: its newest release is not $version"
    } | refuse "the version stands in $header alone, and is that of the newest release in CHANGELOG.md"
}

check_licence() {
    files '*.c' '*.h' '*.hpp' '*.cpp' '*.py' '*.sh' | grep -v '^tests/cli/' | xargs grep -L 'SPDX-License-Identifier: BSD-3-Clause' |
        refuse "without an SPDX line"
}

failed=0
[ $# -gt 0 ] || set -- "${checks[@]}"
for name in "$@"; do
    echo "[ RUN      ] check_$name"
    "check_$name" 2>&1
    case $? in
    0) echo "[       OK ] check_$name" ;;
    77) echo "[  SKIPPED ] check_$name" ;;
    *)
        echo "[  FAILED  ] check_$name"
        failed=1
        ;;
    esac
done
exit $failed
