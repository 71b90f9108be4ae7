#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The main job on real files: list, tree, slice, statistics, verify. CIPPUS is the command to show.
set -eu
cd "$(dirname "$0")/.."
: "${CIPPUS:=build/release/cippus}"

show() {
    printf '\n\033[1m$ cippus'
    for word in "$@"; do
        case $word in
        *[][*\ ]* | '') printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\033[0m\n'
    "$CIPPUS" "$@"
}

begin=$(date +%s%N)
show info samples/night.asdf
show ls samples/night.asdf samples/roman.asdf samples/stream.asdf samples/phantom.ra
show tree samples/night.asdf
show tree samples/roman.asdf roman/meta
show cat samples/night.asdf image '[60:64, 78:83]'
show cat samples/night.asdf masked
show cat samples/night.asdf stars --to csv
show cat samples/night.asdf stars/flux '[::2]'
show cat samples/stream.asdf events '[-2:]'
show ls samples/cube.b2nd
show tree samples/cube.b2nd
show cat samples/cube.b2nd '[3, 10:14, 12:18]'
show cat samples/tide.blp '[48:52, :4]'
show ls samples/prices.bcolz samples/wells.blz
show ls samples/model.zarr samples/weather.h5 samples/sky.fits samples/run.npz
show cat samples/prices.bcolz . '[:3]'
show cat samples/wells.blz site/y '[:5]'
show cat samples/complex.ra '[0]'
show info --query samples/complex.ra
show stat samples/night.asdf
show stat samples/roman.asdf roman/data '[10:20]'
show verify --deep samples/night.asdf samples/roman.asdf samples/stream.asdf samples/complex.ra samples/phantom.ra samples/cube.b2nd \
    samples/tide.blp samples/wells.blz samples/model.zarr samples/weather.h5 samples/sky.fits samples/run.npz

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
show convert --path roman/data samples/roman.asdf "$out/data.npy" --accept-loss
show convert --path spectrum samples/night.asdf "$out/spectrum.ra" --accept-loss
show ls "$out/data.npy" "$out/spectrum.ra"
end=$(date +%s%N)
printf '\n%s files shown in %s ms by %s\n' 14 $(((end - begin) / 1000000)) "$("$CIPPUS" --version | head -n 1)"
