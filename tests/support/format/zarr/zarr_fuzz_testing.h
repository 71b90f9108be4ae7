/* SPDX-License-Identifier: BSD-3-Clause
 * For fuzz targets: bytes as a folder. Files one behind the other, each a byte that says which, its
 * length in two bytes (big-endian), and its bytes. */
#ifndef CIP_TESTS_ZARR_FUZZ_TESTING_H
#define CIP_TESTS_ZARR_FUZZ_TESTING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/temp_folder.h"

static const char *const zarr_fuzz_folders[] = { "c", "c/0", "a", "a/c", "g", "g/b", "g/b/0" };
static const char *const zarr_fuzz_files[] = {
    "zarr.json", "a/zarr.json", "c/0/0",   "c/1",     "a/c/0",       "a/c/1",     ".zgroup",
    ".zattrs",   ".zarray",     "0",       "1",       ".zmetadata",  "a/.zarray", "a/0.0",
    "g/.zgroup", "g/b/.zarray", "g/b/0/0", "c/stray", "g/zarr.json",
};
enum { NFILE = sizeof zarr_fuzz_files / sizeof zarr_fuzz_files[0] };

static scratch zarr_fuzz_dir;

static inline void zarr_fuzz_remove(void)
{
    scratch_close(&zarr_fuzz_dir);
}

static inline void zarr_fuzz_make(void)
{
    if (zarr_fuzz_dir.dir[0] != '\0')
        return;
    if (!scratch_open(&zarr_fuzz_dir))
        abort();
    for (size_t i = 0; i < sizeof zarr_fuzz_folders / sizeof zarr_fuzz_folders[0]; i++)
        mkdir(scratch_path(&zarr_fuzz_dir, zarr_fuzz_folders[i]), 0755);
    atexit(zarr_fuzz_remove);
}

static inline void zarr_fuzz_write(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < NFILE; i++)
        unlink(scratch_path(&zarr_fuzz_dir, zarr_fuzz_files[i]));
    while (size >= 3) {
        size_t n = (size_t)data[1] << 8 | data[2];
        n = n < size - 3 ? n : size - 3;
        scratch_write(&zarr_fuzz_dir, zarr_fuzz_files[data[0] % NFILE], data + 3, n);
        data += 3 + n;
        size -= 3 + n;
    }
}

#endif
