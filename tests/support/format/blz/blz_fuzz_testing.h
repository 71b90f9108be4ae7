/* SPDX-License-Identifier: BSD-3-Clause
 * For fuzz targets: bytes as a folder. Files one behind the other, each a byte that says which, its
 * length in two bytes (big-endian), and its bytes. */
#ifndef CIP_TESTS_BLZ_FUZZ_TESTING_H
#define CIP_TESTS_BLZ_FUZZ_TESTING_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/temp_folder.h"

static const char *const blz_fuzz_folders[] = { "meta", "data", "data/x", "a", "a/meta", "a/data" };
static const char *const blz_fuzz_files[] = {
    "meta/storage", "meta/sizes",     "__attrs__",      "__rootdirs__",     "data/__0.blp",
    "data/__1.blp", "a/meta/sizes",   "a/meta/storage", "a/data/__0.blp",   "meta/attributes",
    "meta/other",   "data/__1__.bin", "data/__2__.bin", "data/x/__1__.bin",
};
enum { NFILE = sizeof blz_fuzz_files / sizeof blz_fuzz_files[0] };

static scratch blz_fuzz_dir;

static inline void blz_fuzz_remove(void)
{
    scratch_close(&blz_fuzz_dir);
}

static inline void blz_fuzz_make(void)
{
    if (blz_fuzz_dir.dir[0] != '\0')
        return;
    if (!scratch_open(&blz_fuzz_dir))
        abort();
    for (size_t i = 0; i < sizeof blz_fuzz_folders / sizeof blz_fuzz_folders[0]; i++)
        mkdir(scratch_path(&blz_fuzz_dir, blz_fuzz_folders[i]), 0755);
    atexit(blz_fuzz_remove);
}

static inline void blz_fuzz_write(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < NFILE; i++)
        unlink(scratch_path(&blz_fuzz_dir, blz_fuzz_files[i]));
    while (size >= 3) {
        size_t n = (size_t)data[1] << 8 | data[2];
        n = n < size - 3 ? n : size - 3;
        scratch_write(&blz_fuzz_dir, blz_fuzz_files[data[0] % NFILE], data + 3, n);
        data += 3 + n;
        size -= 3 + n;
    }
}

#endif
