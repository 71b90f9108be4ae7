#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes the files of a release from the commit that is checked out: the source archive, the Python package's wheel and source
# distribution, and SHA256SUMS over them.
#
#     scripts/release.sh [FOLDER]       FOLDER: build/release-files, made new
#
# The source archive has the same bytes whenever and wherever it is made of the commit. The wheel is that of this machine (scripts/wheel.sh),
# with newer codec libraries than Debian 12 has.
set -eu
cd "$(dirname "$0")/.."
out=${1:-build/release-files}
version=$(sed -n 's/.*CIP_VERSION_STRING "\(.*\)".*/\1/p' include/cippus/version.h)
if [ -n "$(git status --porcelain)" ]; then
    echo "release: the working tree differs from the commit: commit or stash the changes first" >&2
    exit 1
fi
if ! grep -qE "^## ${version} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)\$" CHANGELOG.md; then
    echo "release: CHANGELOG.md has no '## $version (YYYY-MM-DD)'" >&2
    exit 1
fi
BUILD='' scripts/check.sh version
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
scripts/wheel.sh --newer "$out" # empties the folder
git archive --format=tar --prefix="cippus-$version-source/" HEAD | gzip -9n >"$out/cippus-$version-source.tar.gz"
cd "$out"
sha256sum -- *.tar.gz *.whl >SHA256SUMS
cat SHA256SUMS
