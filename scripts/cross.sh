#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds and tests for another processor: a root with its packages, the build, the unit tests, a
# sample of the corpus and the command's tests, under qemu-user.
#
#     scripts/cross.sh [ARCH] [STEP...]     ARCH: s390x (default), big-endian; aarch64; any that
#                                           Debian has a cross compiler of
#     steps: root build unit corpus written cli; without any: all of them. The last line counts failures.
#
# Nothing is installed for ARCH: its packages are unpacked below build/cross/ARCH. CIP_MIRROR names
# another Debian mirror.
set -eu
cd "$(dirname "$0")/.."
arch=s390x
case "${1:-root}" in root | build | unit | corpus | written | cli) ;; *) arch=$1 && shift ;; esac
[ $# -gt 0 ] || set -- root build unit corpus written cli
here="$PWD/build/cross/$arch"
root="$here/root"
triple="$arch-linux-gnu"
case "$arch" in aarch64) debian=arm64 ;; *) debian=$arch ;; esac # Debian's own name of it
failed=0

say() {
    echo "cross: $*" >&2
}

# The libraries of the project's own list, and the C library.
packages() {
    sed -n 's/^\(build\|test\) \(.*lib.*-dev\)$/\2/p' scripts/debian-packages.txt | sort -u
}

# An apt of its own, which knows no architecture but this one and no package as installed.
write_apt_config() {
    mkdir -p "$here/apt/lists/partial" "$here/apt/cache/archives/partial"
    : >"$here/apt/status"
    # shellcheck disable=SC1091
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
        "${CIP_MIRROR:-http://deb.debian.org/debian} $suite main" >"$here/apt/sources.list"
    cat >"$here/apt.conf" <<EOF
APT::Architecture "$debian";
APT::Architectures { "$debian"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dir::State "$here/apt";
Dir::State::lists "$here/apt/lists";
Dir::State::status "$here/apt/status";
Dir::Cache "$here/apt/cache";
Dir::Etc::sourcelist "$here/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Acquire::Retries "3";
Acquire::Languages "none";
EOF
}

step_root() {
    stamp="$here/$(packages | cksum | tr ' ' '-').stamp"
    [ ! -e "$stamp" ] || return 0
    rm -rf "$here"
    mkdir -p "$root"
    write_apt_config
    say "downloading packages of $arch"
    {
        APT_CONFIG="$here/apt.conf" apt-get -q update &&
            # shellcheck disable=SC2046 # a list of words
            APT_CONFIG="$here/apt.conf" apt-get -q -y --download-only install $(packages)
    } >"$here/apt.log" 2>&1 || {
        tail -n 20 "$here/apt.log" >&2
        exit 1
    }
    for deb in "$here"/apt/cache/archives/*.deb; do
        dpkg-deb -x "$deb" "$root"
    done
    # Links that begin at the root of a file system which this one never is.
    find "$root" -type l -lname '/*' | while read -r link; do
        ln -sfn "$root$(readlink "$link")" "$link"
    done
    touch "$stamp"
}

# Without -Werror: the warnings of this compiler are not the ones that the sources are kept free of.
step_build() {
    cmake -S . -B "$here/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/cross.cmake" \
        -DCIP_CROSS_ARCH="$arch" -DCIP_CROSS_ROOT="$root" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS_DEBUG="-O1 -g1 -Wall -Wextra" -DCIP_EXAMPLES=OFF >"$here/cmake.log" || {
        tail -n 20 "$here/cmake.log" >&2
        exit 1
    }
    cmake --build "$here/build"
}

# emulated PROGRAM: a script that runs it, for runners that start it themselves
emulated() {
    script="$here/$(basename "$1")"
    printf '#!/bin/sh\nexec qemu-%s-static -L "%s" "%s" "$@"\n' "$arch" "$root" "$1" >"$script"
    chmod +x "$script"
    echo "$script"
}

# run NAME COMMAND...: its output in NAME.log, the last of it when it fails
run() {
    name=$1
    shift
    say "$name"
    if "$@" >"$here/$name.log" 2>&1; then
        return
    fi
    failed=$((failed + 1))
    grep -E '\(Failed\)|\(Timeout\)|^\[  FAILED  \]|tests passed' "$here/$name.log" >&2 ||
        tail -n 20 "$here/$name.log" >&2
}

# What takes long under an emulator, and what has steps of its own.
slow='corpus.*|hostile.*|test_fault.*|test_yaml_edits|test_selections|test_windows|test_blosc2_every.*|test_blosc_every'
left_out="^($slow|cli|written)\$"

step_unit() {
    run unit ctest --test-dir "$here/build" -j "$(nproc)" -LE slow -E "$left_out" --timeout 900 \
        --output-on-failure
}

step_corpus() {
    run corpus python3 tests/conformance/corpus.py \
        "$(emulated "$here/build/tests/corpus_digest")"
}

# The same bytes are written whatever the machine's order: a sample of them. liblz4 looks for matches
# by hashes of words in the machine's order.
# Left out: what liblz4 compresses otherwise on big-endian machines, and the one case of libzstd's whose bytes differ there.
step_written() {
    CIP_TEST_BUILD=asan CIP_WRITTEN_WITHOUT="lz4 lz4f big/put/bls2" run written python3 tests/conformance/written.py \
        "$(emulated "$here/build/cippus")" "$(emulated "$here/build/tests/write_script")"
}

step_cli() {
    run cli python3 tests/support/cli_runner.py "$(emulated "$here/build/cippus")"
}

command -v "$triple-gcc" >/dev/null && command -v "qemu-$arch-static" >/dev/null || {
    say "$triple-gcc and qemu-$arch-static are needed: scripts/setup cross"
    exit 77
}
mkdir -p "$here"
for step in "$@"; do
    "step_$step"
done
say "$failed steps failed"
[ "$failed" -eq 0 ]
