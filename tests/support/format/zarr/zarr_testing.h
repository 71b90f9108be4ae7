/* SPDX-License-Identifier: BSD-3-Clause
 * Zarr stores for tests, made member by member. Included after cmocka.h. */
#ifndef CIP_TESTS_ZARR_TESTING_H
#define CIP_TESTS_ZARR_TESTING_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/endian.h"
#include "format/zarr/zarr.h"
#include "support/temp_folder.h"

typedef struct zarr_folder {
    scratch dir;
    cip_env env;
    cip_io *io;
    cip_layout *layout;
    cip_err err;
} zarr_folder;

static inline void zarr_start(zarr_folder *f)
{
    memset(f, 0, sizeof *f);
    assert_true(scratch_open(&f->dir));
}

/* A member; folders on the way are made. */
static inline void zarr_bytes(zarr_folder *f, const char *name, const void *bytes, size_t n)
{
    char path[200];
    snprintf(path, sizeof path, "%s", name);
    for (char *slash = path; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = '\0';
        mkdir(scratch_path(&f->dir, path), 0755);
    }
    scratch_write(&f->dir, name, bytes, n);
}

static inline void zarr_text(zarr_folder *f, const char *name, const char *text)
{
    zarr_bytes(f, name, text, strlen(text));
}

#define ZARR_GROUP "{\"zarr_format\": 3, \"node_type\": \"group\"}"
/* Metadata of an array of version 3 of int32, but for shape, chunks and codecs. */
#define ZARR_ARRAY(shape, chunk, codecs)                                                           \
    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": " shape                             \
    ", \"data_type\": \"int32\", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": "      \
    "{\"chunk_shape\": " chunk "}}, \"chunk_key_encoding\": {\"name\": \"default\"}, "             \
    "\"fill_value\": 7, \"codecs\": " codecs "}"
#define ZARR_BYTES "{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}"
#define ZARR_CRC "{\"name\": \"crc32c\"}"
#define ZARR_SHARDS(inner, codecs)                                                                 \
    "{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": " inner                 \
    ", \"codecs\": " codecs ", \"index_codecs\": [" ZARR_BYTES ", " ZARR_CRC "]}}"

/* n int32, `first` and on, as a member. */
static inline void zarr_chunk(zarr_folder *f, const char *name, int32_t first, size_t n)
{
    uint8_t bytes[400];
    assert_true(n <= 100);
    for (size_t i = 0; i < n; i++)
        cip_store_u32(bytes + 4 * i, (uint32_t)(first + (int32_t)i), false);
    zarr_bytes(f, name, bytes, 4 * n);
}

/* A shard of n chunks of 2 int32 each, 0 and on, with its index behind them. `entry` (may be NULL):
 * offsets and lengths in place of the right ones. */
static inline void zarr_shard(zarr_folder *f, const char *name, size_t n, const uint64_t *entry)
{
    uint8_t bytes[1000];
    size_t len = 8 * n;
    assert_true(n <= 30);
    for (size_t i = 0; i < 2 * n; i++)
        cip_store_u32(bytes + 4 * i, (uint32_t)i, false);
    for (size_t i = 0; i < n; i++, len += 16) {
        cip_store_u64(bytes + len, entry != NULL ? entry[2 * i] : 8 * i, false);
        cip_store_u64(bytes + len + 8, entry != NULL ? entry[2 * i + 1] : 8, false);
    }
    cip_store_u32(bytes + len, cip_zarr_crc32c(0, bytes + 8 * n, 16 * n), false);
    zarr_bytes(f, name, bytes, len + 4);
}

/* `from` may be NULL. */
static inline cip_status zarr_open_from(zarr_folder *f, const cip_allocator *from)
{
    f->err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_env_init(&f->env, NULL, from, NULL, NULL), CIP_OK);
    CIP_TRY(cip_io_open_path(&f->env, f->dir.dir, &f->io, &f->err));
    CIP_TRY(cip_layout_new(&f->env, f->io, &f->layout, &f->err));
    return cip_format_zarr.open(f->layout, &f->err);
}

static inline cip_status zarr_open(zarr_folder *f)
{
    return zarr_open_from(f, NULL);
}

static inline void zarr_close(zarr_folder *f)
{
    cip_layout_free(f->layout);
    cip_io_close(f->io);
    cip_env_clear(&f->env);
    assert_int_equal(f->env.mem.used, 0);
    f->layout = NULL;
    f->io = NULL;
}

static inline void zarr_end(zarr_folder *f)
{
    zarr_close(f);
    scratch_close(&f->dir);
}

/* Element i of the space of an array of int32. */
static inline cip_status zarr_read(zarr_folder *f, size_t array, uint64_t i, int32_t *out)
{
    const cip_read_how how = { f->layout, NULL };
    uint8_t got[4];
    f->err = (cip_err)CIP_ERR_INIT;
    CIP_TRY(cip_space_read_at(&how, f->layout->array[array]->space, 4 * i, got, 4, &f->err));
    *out = (int32_t)cip_load_u32(got, false);
    return CIP_OK;
}

/* The same, which goes well. */
static inline int32_t zarr_at(zarr_folder *f, size_t array, uint64_t i)
{
    int32_t v = 0;
    assert_int_equal(zarr_read(f, array, i, &v), CIP_OK);
    return v;
}

typedef struct zarr_findings {
    size_t count[4];
    char text[4096];
} zarr_findings;

static inline int zarr_note(void *user, const cip_finding *f)
{
    zarr_findings *b = user;
    size_t n = strlen(b->text);
    b->count[f->severity]++;
    snprintf(b->text + n, sizeof b->text - n, "%s: %s\n", f->part, f->text);
    return 0;
}

static inline zarr_findings zarr_verify(zarr_folder *f)
{
    zarr_findings b = { .text = "" };
    cip_report report;
    cip_report_init(&report, &f->env.mem, false, zarr_note, &b);
    assert_int_equal(cip_format_zarr.verify(f->layout, 0, &report, &f->err), CIP_OK);
    cip_report_clear(&report);
    return b;
}

#endif
