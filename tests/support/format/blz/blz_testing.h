/* SPDX-License-Identifier: BSD-3-Clause
 * Folders of BLZ and bcolz for tests, made file by file. Included after cmocka.h. */
#ifndef CIP_TESTS_BLZ_TESTING_H
#define CIP_TESTS_BLZ_TESTING_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/endian.h"
#include "format/blz/blz.h"
#include "support/temp_folder.h"

typedef struct blz_folder {
    scratch dir;
    cip_env env;
    cip_io *io;
    cip_layout *layout;
    cip_err err;
} blz_folder;

static inline void blz_mkdir(blz_folder *f, const char *name)
{
    assert_int_equal(mkdir(scratch_path(&f->dir, name), 0755), 0);
}

static inline void blz_text(blz_folder *f, const char *name, const char *text)
{
    scratch_write(&f->dir, name, text, strlen(text));
}

/* A Blosc1 chunk of n int64 values from `first` on, behind a header of version 1. */
static inline void blz_chunk(blz_folder *f, const char *name, int64_t first, size_t n)
{
    const cip_blosc_spec spec = {
        .typesize = 8, .level = 5, .blosc1 = true, .filter = { [5] = CIP_BLOSC_SHUFFLE }
    };
    uint8_t raw[800], file[16 + 800 + CIP_BLOSC_HEADER] = "blpk\1\0\0\0\1";
    size_t len;
    cip_mem mem;
    assert_true(n <= 100);
    cip_mem_init(&mem, NULL, 0);
    for (size_t i = 0; i < n; i++)
        cip_store_u64(raw + 8 * i, (uint64_t)(first + (int64_t)i), false);
    assert_int_equal(cip_blosc_encode(&mem, &spec, (cip_bytes){ raw, 8 * n }, file + 16,
                                      sizeof file - 16, &len, NULL),
                     CIP_OK);
    scratch_write(&f->dir, name, file, 16 + len);
}

/* An array of 250 int64, 0 and on, 100 a chunk, in the folder `at` ("" or with a slash). */
static inline void blz_array_at(blz_folder *f, const char *at)
{
    const char *const part[] = { "data", "meta" };
    char name[200];
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s%s", at, part[i]);
        blz_mkdir(f, name);
    }
    snprintf(name, sizeof name, "%smeta/storage", at);
    blz_text(f, name,
             "{\"dtype\": \"int64\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": "
             "\"blosclz\"}, \"chunklen\": 100, \"expectedlen\": 250, \"dflt\": 0}\n");
    snprintf(name, sizeof name, "%smeta/sizes", at);
    blz_text(f, name, "{\"shape\": [250], \"nbytes\": 2000, \"cbytes\": 900}\n");
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%sdata/__%d.blp", at, i);
        blz_chunk(f, name, i * 100, i < 2 ? 100 : 50);
    }
}

static inline void blz_start(blz_folder *f)
{
    memset(f, 0, sizeof *f);
    assert_true(scratch_open(&f->dir));
}

/* A folder of two such arrays, a and b, as columns of a table. */
static inline void blz_start_table(blz_folder *f, const char *rootdirs)
{
    blz_start(f);
    blz_text(f, "__rootdirs__", rootdirs);
    blz_mkdir(f, "a");
    blz_array_at(f, "a/");
    blz_mkdir(f, "b");
    blz_array_at(f, "b/");
}

/* A file of the sample, which tests/compat/blz_document.py made, in the folder `sample`. */
static inline void blz_copy_well_from(blz_folder *f, const char *sample, const char *name)
{
    char from[512], bytes[4096];
    snprintf(from, sizeof from, "%s/%s", sample, name);
    FILE *in = fopen(from, "rb");
    assert_non_null(in);
    size_t n = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    scratch_write(&f->dir, name, bytes, n);
}

/* All of it: 60 records, 10 a chunk, 4 chunks a superchunk. */
static inline void blz_start_wells_from(blz_folder *f, const char *sample)
{
    static const char *const folders[] = { "meta",      "data",        "data/depth",
                                           "data/site", "data/site/x", "data/site/y" };
    static const char *const names[] = { "meta/storage",          "meta/sizes",
                                         "meta/attributes",       "data/depth/__1__.bin",
                                         "data/depth/__2__.bin",  "data/site/x/__1__.bin",
                                         "data/site/x/__2__.bin", "data/site/y/__1__.bin",
                                         "data/site/y/__2__.bin" };
    blz_start(f);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        blz_mkdir(f, folders[i]);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        blz_copy_well_from(f, sample, names[i]);
}

#define BLZ_WELLS CIP_SOURCE_DIR "/samples/wells.blz"
#define blz_copy_well(f, name) blz_copy_well_from((f), BLZ_WELLS, (name))
#define blz_start_wells(f) blz_start_wells_from((f), BLZ_WELLS)

/* `from` may be NULL. */
static inline cip_status blz_open_from(blz_folder *f, uint32_t flags, const cip_allocator *from)
{
    f->err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_env_init(&f->env, NULL, from, NULL, NULL), CIP_OK);
    CIP_TRY(cip_io_open_path(&f->env, f->dir.dir, &f->io, &f->err));
    assert_true(from != NULL || cip_format_blz.probe(f->io, (cip_bytes){ NULL, 0 }) > 0);
    CIP_TRY(cip_layout_new(&f->env, f->io, &f->layout, &f->err));
    f->layout->flags = flags;
    return cip_format_blz.open(f->layout, &f->err);
}

static inline cip_status blz_open_flags(blz_folder *f, uint32_t flags)
{
    return blz_open_from(f, flags, NULL);
}

static inline cip_status blz_open(blz_folder *f)
{
    return blz_open_flags(f, 0);
}

static inline void blz_close(blz_folder *f)
{
    cip_layout_free(f->layout);
    cip_io_close(f->io);
    cip_env_clear(&f->env);
    assert_int_equal(f->env.mem.used, 0);
    f->layout = NULL;
    f->io = NULL;
}

static inline void blz_end(blz_folder *f)
{
    if (f->layout != NULL)
        blz_close(f);
    scratch_close(&f->dir);
}

/* Element i of an array of int64, which counts up. */
static inline cip_status blz_read(blz_folder *f, size_t array, uint64_t i)
{
    const cip_array *a = f->layout->array[array];
    const cip_read_how how = { f->layout, NULL };
    uint8_t got[8];
    CIP_TRY(cip_space_read_at(&how, a->space, 8 * i, got, 8, &f->err));
    assert_int_equal(cip_load_u64(got, false), i);
    return CIP_OK;
}

typedef struct blz_findings {
    size_t count[4];
    char text[4096];
} blz_findings;

static inline int blz_note(void *user, const cip_finding *f)
{
    blz_findings *b = user;
    size_t n = strlen(b->text);
    b->count[f->severity]++;
    snprintf(b->text + n, sizeof b->text - n, "%s: %s\n", f->part, f->text);
    return 0;
}

static inline blz_findings blz_verify(blz_folder *f)
{
    blz_findings b = { .text = "" };
    cip_report report;
    cip_report_init(&report, &f->env.mem, false, blz_note, &b);
    assert_int_equal(cip_format_blz.verify(f->layout, 0, &report, &f->err), CIP_OK);
    cip_report_clear(&report);
    return b;
}

#endif
