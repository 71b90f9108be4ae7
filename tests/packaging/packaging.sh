#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs a build into a new prefix, moves it, and builds a program outside the project with it.
#
#     tests/packaging/packaging.sh [BUILD]      BUILD: build/release
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$root/build/release}")
outside=$root/tests/packaging/outside
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
prefix=$work/moved
cc=${CC:-cc}
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
flags="-std=c17 -Wall -Wextra -Wpedantic -Werror"

# loads_shared PROGRAM: whether it needs the shared library
loads_shared() {
    readelf -d "$1" | grep -q 'NEEDED.*libcippus\.so\.0\.[0-9]*\]'
}

# The parts of an installation lie where the prefix says, and nowhere else.
installs_below_the_prefix() {
    cmake --install "$build" --prefix "$work/prefix" >install.log &&
        mv "$work/prefix" "$prefix" &&
        test -x "$prefix/bin/cippus" && "$prefix/bin/cippus" --version &&
        test -e "$prefix/lib/libcippus.a" && test -L "$prefix/lib/libcippus.so" &&
        test -e "$prefix/include/cippus/cippus.h" && test -e "$prefix/include/cippus/cippus.hpp" &&
        test -e "$prefix/share/man/man1/cippus.1" &&
        ! grep -rlF "$work/prefix" "$prefix"
}

honours_destdir() {
    DESTDIR=$work/stage cmake --install "$build" --prefix /usr >destdir.log &&
        test -x "$work/stage/usr/bin/cippus" && test "$(ls "$work/stage")" = usr
}

pkg_config_shared() {
    $cc $flags "$outside/outside.c" -o pc_shared $(pkg-config --cflags --libs cippus) &&
        loads_shared pc_shared && LD_LIBRARY_PATH=$prefix/lib ./pc_shared
}

# With the archive alone in its folder, as where only the static library is installed.
pkg_config_static() {
    mkdir -p static && cp -r "$prefix/." static/ && rm static/lib/libcippus.so* &&
        $cc $flags "$outside/outside.c" -o pc_static \
            $(PKG_CONFIG_PATH=$work/static/lib/pkgconfig pkg-config --static --cflags --libs cippus) &&
        ! loads_shared pc_static && ./pc_static
}

# find_package_builds FOLDER PREFIX [OPTION...]
find_package_builds() {
    local folder=$1 where=$2
    shift 2
    cmake -G Ninja -S "$outside" -B "$folder" -DCMAKE_PREFIX_PATH="$where" "$@" >"$folder.log" 2>&1 &&
        cmake --build "$folder" >>"$folder.log" 2>&1 || {
        cat "$folder.log"
        return 1
    }
}

find_package_shared() {
    find_package_builds fp_shared "$prefix" && loads_shared fp_shared/outside && fp_shared/outside
}

find_package_static() {
    find_package_builds fp_static "$prefix" -DSTATIC=ON &&
        ! loads_shared fp_static/outside && fp_static/outside
}

find_package_without_the_shared_library() {
    rm -f static/lib/cmake/cippus/cippus-shared* &&
        find_package_builds fp_only_static "$work/static" && fp_only_static/outside
}

another_version_is_refused() {
    find_package_builds fp_same "$prefix" -DWANTED="$(pkg-config --modversion cippus)" &&
        ! find_package_builds fp_newer "$prefix" -DWANTED=99.0 >/dev/null
}

add_subdirectory_without_optional_codecs() {
    cmake -G Ninja -S "$root/tests/packaging/subdirectory" -B sub -DCIPPUS="$root" >sub.log 2>&1 &&
        cmake --build sub >>sub.log 2>&1 || {
        tail -n 50 sub.log
        return 1
    }
    loads_shared sub/outside_cippus && sub/outside_cippus &&
        ! loads_shared sub/outside_cippus_static && sub/outside_cippus_static &&
        ! nm sub/outside_cippus_static | grep -qE ' U (LZ4|ZSTD|BZ2)_'
}

formats_that_were_left_out_are_named() {
    cp -r "$root/samples" files && cp files/sky.fits files/unknown || return 1
    (cd files && ../sub/left_out night.asdf cube.b2nd tide.blp prices.bcolz wells.blz complex.ra model.zarr sky.fits run.npz \
        weather.h5 unknown +a.zarr +a.npy +a.foo =zarr2 =fits =npy =foo) >said || return 1
    sed -i 's/^hdf5 (HDF5): .*/hdf5 (HDF5)/; s/: $//' said
    diff - said <<'EOF' || return 1
hdf5 (HDF5)
npy (NumPy .npy): read verify write
asdf (ASDF)
blosc2 (Blosc2)
bloscpack (bloscpack)
blz (BLZ)
fits (FITS)
npz (NumPy .npz)
rawarray (RawArray)
zarr (Zarr)
night.asdf: this build does not include the format ASDF
cube.b2nd: this build does not include the format Blosc2
tide.blp: this build does not include the format bloscpack
prices.bcolz: this build does not include the format BLZ
wells.blz: this build does not include the format BLZ
complex.ra: this build does not include the format RawArray
model.zarr: this build does not include the format Zarr
sky.fits: this build does not include the format FITS
run.npz: this build does not include the format NumPy .npz
weather.h5: yes
unknown: this build does not include the format FITS
+a.zarr: this build does not include the format Zarr
+a.npy: yes
+a.foo: 'a.foo' does not tell the format
=zarr2: this build does not include the format Zarr
=fits: this build does not include the format FITS
=npy: yes
=foo: no format is named 'foo'
EOF
    # what none of the others needs is not there, what one needs is
    nm sub/left_out >names && grep -q ' cip_b2_' names && ! grep -qE ' cip_(asdf|blz|bp|fits|npz|ra|zarr)_' names
}

# Programs that were compiled against the headers of an earlier or a later version run with the
# shared library, as long as they ask for nothing that it does not know.
programs_of_other_versions_run() {
    local age
    for age in grown cut; do
        mkdir -p "$age/run" && python3 "$root/scripts/abi.py" "$age" "$age/include" &&
            $cc $flags $([ "$age" = cut ] || echo -DFUTURE) -Wno-missing-field-initializers \
                -I"$age/include" "$root/tests/packaging/abi/any_version.c" -o "$age/any_version" \
                -L"$prefix/lib" -lcippus && loads_shared "$age/any_version" &&
            (cd "$age/run" && LD_LIBRARY_PATH=$prefix/lib ../any_version) || return 1
    done
}

failed=0
for case in installs_below_the_prefix honours_destdir pkg_config_shared pkg_config_static \
    find_package_shared find_package_static find_package_without_the_shared_library \
    another_version_is_refused programs_of_other_versions_run add_subdirectory_without_optional_codecs \
    formats_that_were_left_out_are_named; do
    echo "[ RUN      ] $case"
    if "$case"; then
        echo "[       OK ] $case"
    else
        echo "[  FAILED  ] $case"
        failed=1
    fi
done
exit $failed
