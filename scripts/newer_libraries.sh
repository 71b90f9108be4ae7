#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds zstd 1.5.7 and libdeflate 1.26, which Debian 12 does not have, from the sources that packages of PyPI carry, as static libraries.
#
#     scripts/newer_libraries.sh FOLDER
#     PKG_CONFIG_PATH=FOLDER/lib/pkgconfig cmake --preset release
#
# What they gain: docs/performance.md. The bytes of new zstd chunks differ between versions of zstd; both read either's.
set -eu
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# fetch URL SHA256: the archive's folder is unpacked here
fetch() {
    python3 -c 'import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[1]).read())' "https://files.pythonhosted.org/packages/$1" >archive
    echo "$2  archive" | sha256sum --check --quiet
    tar xzf archive
}

fetch ff/9c/13569626440e88f09d16f43ec1c2aa0d10a523be2811414580d1cfb7c9f3/backports_zstd-1.8.0.tar.gz \
    9dae4f4c481716e3db473d667457b4f508ff7459c0931b567a5c9677fb3db316
fetch 99/37/6822da3fcc811eb6839f4c1165407c4f23580e6b29ea29509c9544f4e604/deflate-0.9.0.tar.gz \
    962e0a6f1ea3a94b900a8ea0ce138fa92bfcbafda5b86367104a259ffcd3462b
make -C backports_zstd-1.8.0/src/c/zstd/lib -j"$(nproc)" CFLAGS="-O3 -fPIC" PREFIX="$prefix" install-static install-includes install-pc >/dev/null
cmake -S deflate-0.9.0/libdeflate -B deflate -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DLIBDEFLATE_BUILD_SHARED_LIB=OFF -DLIBDEFLATE_BUILD_GZIP=OFF >/dev/null
cmake --build deflate --parallel >/dev/null
cmake --install deflate >/dev/null
