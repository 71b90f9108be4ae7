/* SPDX-License-Identifier: BSD-3-Clause
 * Changes of formats that are folders: arrays and tables of bcolz, records in superchunks, judged
 * by what is read of them, and by their files. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fault/fault_scenarios.h"

const char *const fault_bcolz[] = { "__attrs__",    "meta/storage", "meta/sizes",   "data/__0.blp",
                                    "data/__1.blp", "data/__2.blp", "data/__3.blp", "data/__4.blp",
                                    "data/__5.blp", "data/__6.blp", "data/__7.blp", NULL };
const char *const fault_zarr[] = { "zarr.json", "data/zarr.json", "data/c/0", "data/c/1",
                                   "data/c/2",  "data/c/3",       "data/c/4", "data/c/5",
                                   "data/c/6",  "data/c/7",       NULL };
const char *const fault_zarr_more[] = {
    "zarr.json", "data/zarr.json", "data/c/0",      "data/c/1", "data/c/2", "data/c/3",
    "data/c/4",  "n/zarr.json",    "n/x/zarr.json", "n/x/c/0",  NULL
};
const char *const fault_zarr_moved[] = { "zarr.json", "data/zarr.json", "data/c/0",
                                         "data/c/1",  "data/c/2",       "data/c/3",
                                         "data/c/4",  "n/zarr.json",    "n/x/zarr.json",
                                         "n/x/c/0",   "n/x/c/1",        "n/x/c/2",
                                         "n/x/c/3",   "n/x/c/4",        NULL };
const char *const fault_bcolz_table[] = {
    "__rootdirs__",   "a/__attrs__",    "a/meta/storage", "a/meta/sizes",   "a/data/__0.blp",
    "a/data/__1.blp", "a/data/__2.blp", "b/__attrs__",    "b/meta/storage", "b/meta/sizes",
    "b/data/__0.blp", "c/__attrs__",    "c/meta/storage", "c/meta/sizes",   "c/data/__0.blp",
    "n/__attrs__",    "n/meta/storage", "n/meta/sizes",   "n/data/__0.blp", NULL
};

static void must(cip_status st, const cip_err *err)
{
    if (st != CIP_OK) {
        fprintf(stderr, "the folder cannot be made: %s\n", err->text);
        abort();
    }
}

/* 500 numbers. */
static void make_array(const char *path, const char *format, const char *const *given)
{
    uint32_t v[500];
    const int64_t shape[] = { 500 };
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    const cip_change_options o = {
        .size = sizeof o, .format = format, .level = CIP_LEVEL_PROCESS, .threads = 1
    };
    const cip_array_options how = { .size = sizeof how, .format_options = given };
    for (uint32_t i = 0; i < 500; i++)
        v[i] = i * i / 7;
    must(cip_create(path, &o, &w, &err), &err);
    must(cip_change_put(w, "data", cip_dtype_of(CIP_U32), 1, shape, v, &how, &err), &err);
    must(cip_change_commit(&w, &err), &err);
}

void fault_make_bcolz(const char *dir)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/d", dir);
    make_array(path, "bcolz", (const char *const[]){ "chunklen=100", NULL });
}

void fault_make_zarr(const char *dir)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/d", dir);
    make_array(path, "zarr", (const char *const[]){ "chunks=100", NULL });
}

void fault_make_zarr_zip(const char *dir)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/a.zip", dir);
    make_array(path, "zarr", (const char *const[]){ "chunks=100", NULL });
}

/* Two chunks a shard. */
void fault_make_zarr_shards(const char *dir)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/d", dir);
    make_array(path, "zarr", (const char *const[]){ "chunks=100", "shards=200", NULL });
}

void fault_make_bcolz_table(const char *dir)
{
    char path[1024];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/d%s", dir, i == 0 ? "" : i == 1 ? "/a" : "/b");
        if (i == 0 && mkdir(path, 0755) != 0)
            abort();
        if (i != 0)
            make_array(path, "bcolz", (const char *const[]){ "chunklen=1000", NULL });
    }
    snprintf(path, sizeof path, "%s/d/__rootdirs__", dir);
    FILE *f = fopen(path, "w");
    if (f == NULL || fputs("{\"names\": [\"a\", \"b\"]}\n", f) < 0 || fclose(f) != 0)
        abort();
}

/* --- superchunks ------------------------------------------------------------------------------ */

const char *const fault_wells[] = { "meta/storage",
                                    "meta/sizes",
                                    "meta/attributes",
                                    "data/depth/__1__.bin",
                                    "data/depth/__2__.bin",
                                    "data/depth/__3__.bin",
                                    "data/site/x/__1__.bin",
                                    "data/site/x/__2__.bin",
                                    "data/site/x/__3__.bin",
                                    "data/site/y/__1__.bin",
                                    "data/site/y/__2__.bin",
                                    "data/site/y/__3__.bin",
                                    "data/place/x/__1__.bin",
                                    "data/place/x/__2__.bin",
                                    "data/place/y/__1__.bin",
                                    "data/place/y/__2__.bin",
                                    "data/n/__1__.bin",
                                    "data/n/__2__.bin",
                                    NULL };

/* Of the sample that tests/compat/blz_document.py made: 60 records, 10 a chunk, 4 chunks a
 * superchunk, 16 bytes behind each chunk. */
void fault_make_wells(const char *dir)
{
    static const char *const folder[] = { "",          "meta",        "data",       "data/depth",
                                          "data/site", "data/site/x", "data/site/y" };
    char path[1024], bytes[4096];
    for (size_t i = 0; i < sizeof folder / sizeof folder[0]; i++) {
        snprintf(path, sizeof path, "%s/d/%s", dir, folder[i]);
        if (mkdir(path, 0755) != 0)
            abort();
    }
    for (size_t i = 0; fault_wells[i] != NULL; i++) {
        snprintf(path, sizeof path, "%s/samples/wells.blz/%s", CIP_SOURCE_DIR, fault_wells[i]);
        FILE *from = fopen(path, "rb");
        if (from == NULL) /* one that comes */
            continue;
        size_t n = fread(bytes, 1, sizeof bytes, from);
        snprintf(path, sizeof path, "%s/d/%s", dir, fault_wells[i]);
        FILE *to = fopen(path, "wb");
        if (to == NULL || fwrite(bytes, 1, n, to) != n || fclose(to) != 0)
            abort();
        fclose(from);
    }
}

/* In place, in two columns. */
static cip_status put_wells(cip_change *e, cip_err *err)
{
    static const float depth[20] = { 1 };
    static const int16_t x[30] = { 2, 3 };
    CIP_TRY(
        cip_change_write(e, "depth", "[5:25]", cip_dtype_as_stored(), depth, sizeof depth, err));
    return cip_change_write(e, "site/x", "[10:40]", cip_dtype_as_stored(), x, sizeof x, err);
}

static cip_status add_wells(cip_change *e, cip_err *err)
{
    static const uint8_t rows[45 * 8] = { 1, 2, 3 };
    return cip_change_append(e, "", cip_dtype_as_stored(), rows, sizeof rows, err);
}

static cip_status more_wells(cip_change *e, cip_err *err)
{
    return cip_change_resize(e, "", 1, (const int64_t[]){ 75 }, err);
}

static cip_status fewer_wells(cip_change *e, cip_err *err)
{
    return cip_change_resize(e, "", 1, (const int64_t[]){ 35 }, err);
}

static cip_status delete_wells(cip_change *e, cip_err *err)
{
    return cip_change_delete(e, "", 0, 15, 12, err);
}

static cip_status delete_records(cip_change *e, cip_err *err)
{
    return cip_change_delete(e, "", 0, 100, 50, err);
}

static cip_status insert_wells(cip_change *e, cip_err *err)
{
    static const uint8_t rows[12 * 8] = { 1, 2, 3 };
    return cip_change_insert(e, "", 0, 15, cip_dtype_as_stored(), rows, sizeof rows, err);
}

/* 10 rows are a chunk, so those behind move as they are. */
static cip_status delete_whole_wells(cip_change *e, cip_err *err)
{
    return cip_change_delete(e, "", 0, 10, 20, err);
}

static cip_status insert_whole_wells(cip_change *e, cip_err *err)
{
    static const uint8_t rows[10 * 8] = { 1, 2, 3 };
    return cip_change_insert(e, "", 0, 15, cip_dtype_as_stored(), rows, sizeof rows, err);
}

static cip_status insert_records(cip_change *e, cip_err *err)
{
    static const uint32_t v[2 * 50] = { 1, 2, 3 };
    return cip_change_insert(e, "", 0, 100, cip_dtype_as_stored(), v, sizeof v, err);
}

/* --- attributes, columns ---------------------------------------------------------------------- */

static cip_status set_unit(cip_change *e, cip_err *err)
{
    return cip_change_set_string(e, "attributes/unit", "a unit of some length", err);
}

static cip_status append_records(cip_change *e, cip_err *err)
{
    uint32_t v[2 * 600];
    for (uint32_t i = 0; i < 2 * 600; i++)
        v[i] = i;
    return cip_change_append(e, "", cip_dtype_as_stored(), v, sizeof v, err);
}

static cip_status move_column(cip_change *e, cip_err *err)
{
    return cip_change_move(e, "b", "c", false, err);
}

/* Another one, of more files, comes under its name; and one moves and changes. */
static cip_status replace_column(cip_change *e, cip_err *err)
{
    static const int64_t rows[] = { 500 };
    static uint8_t v[500];
    const uint32_t one = 7;
    for (size_t i = 0; i < sizeof v; i++)
        v[i] = (uint8_t)(i * i / 7);
    CIP_TRY(cip_change_remove(e, "a", err));
    CIP_TRY(cip_change_put(e, "a", cip_dtype_of(CIP_U8), 1, rows, v,
                           CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS("chunklen=200")), err));
    CIP_TRY(cip_change_write(e, "a", "[5]", cip_dtype_of(CIP_U8), v + 9, 1, err));
    CIP_TRY(cip_change_write(e, "b", "[100]", cip_dtype_as_stored(), &one, sizeof one, err));
    return cip_change_move(e, "b", "c", false, err);
}

static cip_status replace_field(cip_change *e, cip_err *err)
{
    static const int64_t rows[] = { 60 };
    static const double v[60] = { 1, 2, 3 };
    CIP_TRY(cip_change_remove(e, "depth", err));
    CIP_TRY(cip_change_put(e, "depth", cip_dtype_of(CIP_F64), 1, rows, v, NULL, err));
    CIP_TRY(cip_change_write(e, "depth", "[5]", cip_dtype_of(CIP_F64), v + 1, 8, err));
    return cip_change_move(e, "site", "place", false, err);
}

static cip_status remove_column(cip_change *e, cip_err *err)
{
    return cip_change_remove(e, "a", err);
}

static cip_status remove_field(cip_change *e, cip_err *err)
{
    return cip_change_remove(e, "site/x", err);
}

static cip_status move_field(cip_change *e, cip_err *err)
{
    return cip_change_move(e, "site", "place", false, err);
}

static cip_status add_column(cip_change *e, cip_err *err)
{
    double v[500];
    for (int i = 0; i < 500; i++)
        v[i] = i / 7.0;
    return cip_change_put(e, "n", cip_dtype_of(CIP_F64), 1, (const int64_t[]){ 500 }, v, NULL, err);
}

static cip_status add_field(cip_change *e, cip_err *err)
{
    static const int64_t v[60 * 2] = { 1, 2, 3 };
    return cip_change_put(e, "n", cip_dtype_of(CIP_I64), 2, (const int64_t[]){ 60, 2 }, v, NULL,
                          err);
}

/* Of a Zarr store, with consolidated metadata. */
static cip_status zarr_set(cip_change *e, cip_err *err)
{
    CIP_TRY(cip_change_set_string(e, "attrs/data/units", "K", err));
    CIP_TRY(cip_change_set_yaml(e, "dims/data", "[time]", err));
    return cip_change_set_string(e, "title", "a longer text", err);
}

static cip_status zarr_add(cip_change *e, cip_err *err)
{
    const double v[3] = { 1, 2, 3 };
    CIP_TRY(
        cip_change_put(e, "n/x", cip_dtype_of(CIP_F64), 1, (const int64_t[]){ 3 }, v, NULL, err));
    return cip_change_set_string(e, "n/attrs/x/units", "K", err);
}

static cip_status zarr_remove(cip_change *e, cip_err *err)
{
    return cip_change_remove(e, "data", err);
}

static cip_status zarr_move(cip_change *e, cip_err *err)
{
    CIP_TRY(cip_change_set_string(e, "attrs/data/units", "K", err));
    return cip_change_move(e, "data", "n/x", false, err);
}

static cip_status zarr_replace(cip_change *e, cip_err *err)
{
    const double v[3] = { 1, 2, 3 };
    return cip_change_put(e, "data", cip_dtype_of(CIP_F64), 1, (const int64_t[]){ 3 }, v,
                          CIP_ARRAY_OPTIONS(.replace = true), err);
}

#define CHANGE(name)                                                                               \
    cip_status fault_folder_##name(const char *path, cip_level level, int step, cip_err *err)      \
    {                                                                                              \
        (void)step;                                                                                \
        return fault_edit(path, level, name, err);                                                 \
    }

CHANGE(put_wells)
CHANGE(add_wells)
CHANGE(more_wells)
CHANGE(fewer_wells)
CHANGE(delete_wells)
CHANGE(delete_records)
CHANGE(insert_wells)
CHANGE(insert_records)
CHANGE(delete_whole_wells)
CHANGE(insert_whole_wells)
CHANGE(set_unit)
CHANGE(append_records)
CHANGE(move_column)
CHANGE(replace_column)
CHANGE(replace_field)
CHANGE(remove_column)
CHANGE(remove_field)
CHANGE(move_field)
CHANGE(add_column)
CHANGE(add_field)
CHANGE(zarr_set)
CHANGE(zarr_add)
CHANGE(zarr_remove)
CHANGE(zarr_move)
CHANGE(zarr_replace)
