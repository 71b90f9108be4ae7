/* SPDX-License-Identifier: BSD-3-Clause
 * Changes through the public API: every kind of update of an ASDF, a RawArray, a bloscpack file and
 * a Blosc2 frame.
 */
#include "fault/fault_scenarios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 40, ROWS = 30 };

static const char *beside(const char *dir, const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void must(cip_status st, const cip_err *err)
{
    if (st != CIP_OK) {
        fprintf(stderr, "the file cannot be made: %s\n", err->text);
        abort();
    }
}

static void numbers(int32_t *out, size_t n, int32_t seed)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)((uint32_t)i * 2654435761u) % 1000 + seed;
}

/* codec: of `packed`; NULL: as ASDF 0.1, in tiles. */
static void make_asdf(const char *dir, int64_t slack, const char *codec)
{
    int32_t v[ROWS * ROW];
    const int64_t shape[] = { ROWS, ROW };
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    const cip_change_options o = { .size = sizeof o,
                                   .overwrite = true,
                                   .level = CIP_LEVEL_PROCESS,
                                   .threads = 1,
                                   .version = codec == NULL ? "0.1.0" : NULL,
                                   .tree_slack = slack };
    static const char *const chain[] = { "encode=[[tile, {shape: [16, 16]}], zlib]", NULL };
    const cip_array_options packed = { .size = sizeof packed,
                                       .codec = codec,
                                       .format_options = codec == NULL ? chain : NULL };
    numbers(v, ROWS * ROW, 0);
    must(cip_create(beside(dir, "a.asdf"), &o, &w, &err), &err);
    must(cip_change_set_string(w, "meta/name", "M 31", &err), &err);
    must(cip_change_set_yaml(w, "meta/list", "[1, 2, {three: 3}]", &err), &err);
    must(cip_change_put(w, "packed", cip_dtype_of(CIP_I32), 2, shape, v, &packed, &err), &err);
    must(cip_change_put(w, "data", cip_dtype_of(CIP_I32), 2, shape, v, NULL, &err), &err);
    must(cip_change_commit(&w, &err), &err);
}

void fault_make_asdf(const char *dir)
{
    make_asdf(dir, 300, "zlib");
}

void fault_make_early_asdf(const char *dir)
{
    make_asdf(dir, 300, NULL);
}

void fault_make_blsc_asdf(const char *dir)
{
    make_asdf(dir, 300, "blsc:zlib");
}

void fault_make_bls2_asdf(const char *dir)
{
    make_asdf(dir, 300, "bls2:zlib");
}

void fault_make_tight_asdf(const char *dir)
{
    make_asdf(dir, -1, "zlib");
}

cip_status fault_edit(const char *path, cip_level level,
                      cip_status (*fn)(cip_change *e, cip_err *err), cip_err *err)
{
    cip_change *e;
    cip_status st = cip_change_open(path, CIP_CHANGE_OPTIONS(.level = level), &e, err);
    if (st != CIP_OK)
        return st;
    st = fn(e, err);
    if (st == CIP_OK && (st = cip_change_commit(&e, err)) != CIP_ERR_BUSY)
        return st;
    cip_change_abort(&e);
    return st;
}

static cip_status set(cip_change *e, cip_err *err)
{
    return cip_change_set_string(e, "meta/name", "NGC 224, the same galaxy", err);
}

static cip_status set_long(cip_change *e, cip_err *err)
{
    char text[3001];
    memset(text, 'x', 3000);
    text[3000] = '\0';
    return cip_change_set_string(e, "meta/name", text, err);
}

static cip_status remove_node(cip_change *e, cip_err *err)
{
    return cip_change_remove(e, "meta/list", err);
}

static cip_status move_array(cip_change *e, cip_err *err)
{
    return cip_change_move(e, "packed", "meta/old/packed", false, err);
}

static cip_status remove_array(cip_change *e, cip_err *err)
{
    return cip_change_remove(e, "packed", err);
}

static cip_status put(cip_change *e, cip_err *err)
{
    int32_t v[5 * ROW];
    numbers(v, 5 * ROW, 7);
    return cip_change_write(e, "data", "[10:15]", cip_dtype_as_stored(), v, sizeof v, err);
}

static cip_status put_packed(cip_change *e, cip_err *err)
{
    int32_t v[ROWS * ROW];
    numbers(v, ROWS * ROW, 0);
    for (int i = 0; i < ROWS * ROW; i++)
        v[i] *= i;
    return cip_change_write(e, "packed", NULL, cip_dtype_as_stored(), v, sizeof v, err);
}

static cip_status add_rows_to(cip_change *e, const char *path, cip_err *err)
{
    int32_t v[20 * ROW];
    numbers(v, 20 * ROW, 9);
    return cip_change_append(e, path, cip_dtype_as_stored(), v, sizeof v, err);
}

static cip_status add_rows(cip_change *e, cip_err *err)
{
    return add_rows_to(e, "data", err);
}

static cip_status add_packed_rows(cip_change *e, cip_err *err)
{
    return add_rows_to(e, "packed", err);
}

static cip_status resize_to(cip_change *e, int64_t rows, cip_err *err)
{
    const int64_t shape[] = { rows, ROW };
    return cip_change_resize(e, "data", 2, shape, err);
}

static cip_status add_array(cip_change *e, cip_err *err)
{
    int32_t v[ROWS * ROW];
    const int64_t shape[] = { ROWS, ROW };
    numbers(v, ROWS * ROW, 5);
    return cip_change_put(e, "meta/new", cip_dtype_of(CIP_I32), 2, shape, v,
                          CIP_ARRAY_OPTIONS(.codec = "zlib"), err);
}

static cip_status add_two(cip_change *e, cip_err *err)
{
    int32_t v[ROW];
    const int64_t shape[] = { ROW };
    numbers(v, ROW, 6);
    cip_status st = add_array(e, err);
    if (st == CIP_OK)
        st = cip_change_put(e, "other", cip_dtype_of(CIP_I32), 1, shape, v, NULL, err);
    return st == CIP_OK ? put(e, err) : st;
}

static cip_status larger(cip_change *e, cip_err *err)
{
    return resize_to(e, 50, err);
}

static cip_status smaller(cip_change *e, cip_err *err)
{
    return resize_to(e, 10, err);
}

static cip_status delete_rows(cip_change *e, cip_err *err)
{
    return cip_change_delete(e, "data", 0, 5, 9, err);
}

static cip_status delete_packed(cip_change *e, cip_err *err)
{
    return cip_change_delete(e, "packed", 1, 3, 20, err);
}

static cip_status insert_rows(cip_change *e, cip_err *err)
{
    int32_t v[5 * ROW];
    numbers(v, 5 * ROW, 8);
    return cip_change_insert(e, "data", 0, 12, cip_dtype_as_stored(), v, sizeof v, err);
}

static cip_status insert_packed(cip_change *e, cip_err *err)
{
    int32_t v[3 * ROWS];
    numbers(v, 3 * ROWS, 8);
    return cip_change_insert(e, "packed", 1, 12, cip_dtype_as_stored(), v, sizeof v, err);
}

static cip_status freeze(cip_change *e, cip_err *err)
{
    return cip_change_freeze(e, err);
}

static cip_status several(cip_change *e, cip_err *err)
{
    cip_status st = set(e, err);
    if (st == CIP_OK)
        st = put(e, err);
    return st == CIP_OK ? add_packed_rows(e, err) : st;
}

static cip_status defrag(cip_change *e, cip_err *err)
{
    return cip_change_defrag(e, NULL, NULL, err);
}

/* --- a RawArray of 500 numbers with metadata behind them -------------------------------------- */

static cip_status ra_put(cip_change *e, cip_err *err)
{
    uint32_t v[300];
    for (uint32_t i = 0; i < 300; i++)
        v[i] = i;
    return cip_change_write(e, NULL, "[100:400]", cip_dtype_as_stored(), v, sizeof v, err);
}

static cip_status ra_append(cip_change *e, cip_err *err)
{
    uint32_t v[300];
    for (uint32_t i = 0; i < 300; i++)
        v[i] = i * i;
    return cip_change_append(e, NULL, cip_dtype_as_stored(), v, sizeof v, err);
}

static cip_status ra_larger(cip_change *e, cip_err *err)
{
    const int64_t shape[] = { 700 };
    return cip_change_resize(e, NULL, 1, shape, err);
}

static cip_status ra_smaller(cip_change *e, cip_err *err)
{
    const int64_t shape[] = { 200 };
    return cip_change_resize(e, NULL, 1, shape, err);
}

/* Of files in chunks: through the midst of some, and whole ones. */
static cip_status ra_delete(cip_change *e, cip_err *err)
{
    return cip_change_delete(e, NULL, 0, 130, 170, err);
}

static cip_status ra_delete_chunks(cip_change *e, cip_err *err)
{
    return cip_change_delete(e, NULL, 0, 100, 200, err);
}

static cip_status ra_insert(cip_change *e, cip_err *err)
{
    uint32_t v[150];
    for (uint32_t i = 0; i < 150; i++)
        v[i] = i * i * i;
    return cip_change_insert(e, NULL, 0, 130, cip_dtype_as_stored(), v, sizeof v, err);
}

static cip_status ra_insert_chunks(cip_change *e, cip_err *err)
{
    uint32_t v[200];
    for (uint32_t i = 0; i < 200; i++)
        v[i] = i * i * i;
    return cip_change_insert(e, NULL, 0, 130, cip_dtype_as_stored(), v, sizeof v, err);
}

/* Their number is longer. */
static cip_status ra_many(cip_change *e, cip_err *err)
{
    const int64_t shape[] = { 1700 };
    return cip_change_resize(e, NULL, 1, shape, err);
}

#define FAULT_EDIT(name)                                                                           \
    cip_status fault_edit_##name(const char *path, cip_level level, int step, cip_err *err)        \
    {                                                                                              \
        (void)step;                                                                                \
        return fault_edit(path, level, name, err);                                                 \
    }

FAULT_EDIT(set)
FAULT_EDIT(set_long)
FAULT_EDIT(remove_node)
FAULT_EDIT(move_array)
FAULT_EDIT(remove_array)
FAULT_EDIT(put)
FAULT_EDIT(put_packed)
FAULT_EDIT(add_array)
FAULT_EDIT(add_two)
FAULT_EDIT(add_rows)
FAULT_EDIT(add_packed_rows)
FAULT_EDIT(larger)
FAULT_EDIT(smaller)
FAULT_EDIT(delete_rows)
FAULT_EDIT(delete_packed)
FAULT_EDIT(insert_rows)
FAULT_EDIT(insert_packed)
FAULT_EDIT(several)
FAULT_EDIT(freeze)
FAULT_EDIT(defrag)
FAULT_EDIT(ra_put)
FAULT_EDIT(ra_append)
FAULT_EDIT(ra_larger)
FAULT_EDIT(ra_smaller)
FAULT_EDIT(ra_delete)
FAULT_EDIT(ra_delete_chunks)
FAULT_EDIT(ra_insert)
FAULT_EDIT(ra_insert_chunks)
FAULT_EDIT(ra_many)

/* --- 500 numbers in five chunks -------------------------------------------------------------- */

static void make_as(const char *dir, const char *name, const cip_change_options *how)
{
    uint32_t v[500];
    const int64_t shape[] = { 500 };
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    cip_change_options o = *how;
    o.level = CIP_LEVEL_PROCESS;
    o.threads = 1;
    for (uint32_t i = 0; i < 500; i++)
        v[i] = i * i / 7;
    must(cip_create(beside(dir, name), &o, &w, &err), &err);
    must(cip_change_put(w, "data", cip_dtype_of(CIP_U32), 1, shape, v, NULL, &err), &err);
    must(cip_change_commit(&w, &err), &err);
}

static void make_chunks(const char *dir, const char *name, const char *const *options)
{
    make_as(dir, name, CIP_CHANGE_OPTIONS(.format_options = options));
}

void fault_make_bloscpack(const char *dir)
{
    make_chunks(dir, "a.blp", CIP_TEXTS("chunk_size=400", "spare=9"));
}

void fault_make_full_bloscpack(const char *dir)
{
    make_chunks(dir, "a.blp", CIP_TEXTS("chunk_size=400", "spare=0"));
}

void fault_make_npz(const char *dir)
{
    make_chunks(dir, "a.npz", NULL);
}

void fault_make_deflated_npz(const char *dir)
{
    make_as(dir, "a.npz", CIP_CHANGE_OPTIONS(.codec = "zlib"));
}

void fault_make_fits(const char *dir)
{
    make_as(dir, "a.fits", CIP_CHANGE_OPTIONS(.checksum = "datasum"));
}

void fault_make_frame(const char *dir)
{
    make_chunks(dir, "a.b2nd", CIP_TEXTS("chunks=100", "blocks=30"));
}

void fault_make_numbered(const char *dir)
{
    make_chunks(dir, "d.b2nd", CIP_TEXTS("sparse=yes", "chunks=100", "blocks=30"));
}

/* With bytes that nothing uses. */
void fault_make_frame_with_holes(const char *dir)
{
    cip_err err = CIP_ERR_INIT;
    fault_make_frame(dir);
    must(fault_edit_ra_put(beside(dir, "a.b2nd"), CIP_LEVEL_PROCESS, 1, &err), &err);
    must(fault_edit_ra_insert(beside(dir, "a.b2nd"), CIP_LEVEL_PROCESS, 1, &err), &err);
}

/* --- updates of a frame by turns -------------------------------------------------------------- */

static cip_status put_other(cip_change *e, cip_err *err)
{
    uint32_t v[300];
    for (uint32_t i = 0; i < 300; i++)
        v[i] = i * i + 5;
    return cip_change_write(e, NULL, "[100:400]", cip_dtype_as_stored(), v, sizeof v, err);
}

void fault_make_sparse(const char *dir)
{
    cip_err err = CIP_ERR_INIT;
    must(fault_create_sparse(beside(dir, "d.b2nd"), CIP_LEVEL_PROCESS, 1, &err), &err);
}

/* With a chunk file that nothing names. */
void fault_make_loose_sparse(const char *dir)
{
    fault_make_sparse(dir);
    FILE *f = fopen(beside(dir, "d.b2nd/00000007.chunk"), "w");
    if (f == NULL || fputs("left", f) < 0 || fclose(f) != 0)
        abort();
}

static cip_status vlmetalayer(cip_change *e, cip_err *err)
{
    return cip_change_set_string(e, "vlmeta/unit", "K", err);
}

/* The header gets another length. */
static cip_status metalayer(cip_change *e, cip_err *err)
{
    return cip_change_set_string(e, "meta/unit", "K", err);
}

FAULT_EDIT(vlmetalayer)
FAULT_EDIT(metalayer)

/* Places that one of them leaves a later one takes. A step each. */
cip_status fault_edit_frame_in_turn(const char *path, cip_level level, int step, cip_err *err)
{
    for (int i = 0; i < step; i++)
        CIP_TRY(fault_edit(path, level, i % 2 == 0 ? ra_put : put_other, err));
    return CIP_OK;
}

cip_status fault_edit_frame_put(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_edit(path, level, put_other, err);
}

/* --- rows at the end, and whole files --------------------------------------------------------- */

/* A row and step for each call. */
cip_status fault_append(const char *path, cip_level level, int step, cip_err *err)
{
    cip_file *f;
    int32_t row[100];
    cip_status st = cip_open(path, CIP_OPEN_OPTIONS(.threads = 1), &f, err);
    for (int i = 0; st == CIP_OK && i < step; i++) {
        numbers(row, 100, i);
        st = cip_append(f, NULL, cip_dtype_as_stored(), row, sizeof row, err);
    }
    if (st == CIP_OK && level == CIP_LEVEL_POWER)
        st = cip_sync(f, err);
    cip_file_close(f);
    return st;
}

/* Two columns, three chunks each. */
static cip_status write_columns(cip_change *w, cip_err *err)
{
    static const char *const names[] = { "a", "b" };
    int32_t v[ROW];
    const int64_t shape[] = { ROW };
    for (size_t i = 0; i < 2; i++) {
        numbers(v, ROW, 3 + (int32_t)i);
        cip_change_put(w, names[i], cip_dtype_of(CIP_I32), 1, shape, v, NULL, err);
    }
    return cip_change_commit(&w, err); /* which fails if one of these did */
}

/* A folder of BLZ, which the name tells the form of. */
static cip_change_options columns_at(const char *path, cip_level level)
{
    static const char *const chunks[] = { "chunklen=40", NULL };
    return (cip_change_options){ .size = sizeof(cip_change_options),
                                 .format = strstr(path, ".blz") != NULL ? "blz" : "bcolz",
                                 .overwrite = true,
                                 .level = level,
                                 .threads = 1,
                                 .format_options = chunks };
}

cip_status fault_create_columns(const char *path, cip_level level, int step, cip_err *err)
{
    const cip_change_options o = columns_at(path, level);
    cip_change *w;
    (void)step;
    CIP_TRY(cip_create(path, &o, &w, err));
    return write_columns(w, err);
}

/* The same, made in memory. */
cip_status fault_save_columns(const char *path, cip_level level, int step, cip_err *err)
{
    const cip_change_options o = columns_at(path, level);
    cip_memory *m;
    cip_change *w;
    (void)step;
    CIP_TRY(cip_create_memory(o.format, &o, &m, &w, err));
    cip_status st = write_columns(w, err);
    if (st == CIP_OK)
        st = cip_memory_save(m, path, &o, err);
    cip_memory_free(m);
    return st;
}

static cip_status create_row(const char *path, const cip_change_options *o, cip_err *err)
{
    cip_change *w;
    int32_t v[ROW];
    const int64_t shape[] = { ROW };
    numbers(v, ROW, 3);
    cip_status st = cip_create(path, o, &w, err);
    if (st != CIP_OK)
        return st;
    st = cip_change_put(w, "other", cip_dtype_of(CIP_I32), 1, shape, v, NULL, err);
    if (st == CIP_OK)
        return cip_change_commit(&w, err);
    cip_change_abort(&w);
    return st;
}

cip_status fault_create(const char *path, cip_level level, int step, cip_err *err)
{
    const cip_change_options o = {
        .size = sizeof o, .overwrite = true, .level = level, .threads = 1
    };
    (void)step;
    return create_row(path, &o, err);
}

/* Two arrays, and for the first a header that comes when its data are written: in FITS these move.
 */
cip_status fault_create_named(const char *path, cip_level level, int step, cip_err *err)
{
    const cip_change_options o = {
        .size = sizeof o, .overwrite = true, .accept_loss = true, .level = level, .threads = 1
    };
    cip_change *w;
    int32_t v[ROW];
    const int64_t shape[] = { ROW };
    (void)step;
    numbers(v, ROW, 3);
    CIP_TRY(cip_create(path, &o, &w, err));
    cip_status st = cip_change_put(w, "a/data", cip_dtype_of(CIP_I32), 1, shape, v, NULL, err);
    for (int i = 0; i < 40 && st == CIP_OK; i++) {
        char key[32];
        snprintf(key, sizeof key, "a/header/KEY%d", i);
        st = cip_change_set_int(w, key, i, err);
    }
    if (st == CIP_OK)
        st = cip_change_put(w, "b/data", cip_dtype_of(CIP_I32), 1, shape, v, NULL, err);
    if (st == CIP_OK)
        return cip_change_commit(&w, err);
    cip_change_abort(&w);
    return st;
}

/* A frame of Blosc2 behind a file that is there. */
cip_status fault_create_at_end(const char *path, cip_level level, int step, cip_err *err)
{
    uint64_t at;
    const cip_change_options o = {
        .size = sizeof o, .format = "blosc2", .level = level, .threads = 1, .at_end = &at
    };
    (void)step;
    return create_row(path, &o, err);
}

/* A sparse frame of Blosc2 in three chunks. */
cip_status fault_create_sparse(const char *path, cip_level level, int step, cip_err *err)
{
    const cip_change_options o = { .size = sizeof o,
                                   .format = "blosc2",
                                   .overwrite = true,
                                   .level = level,
                                   .threads = 1,
                                   .format_options = CIP_TEXTS("sparse=yes", "chunks=15") };
    (void)step;
    return create_row(path, &o, err);
}

/* --- the exploded form ------------------------------------------------------------------------ */

static const char *sibling(const char *path, const char *name)
{
    static char out[1024];
    snprintf(out, sizeof out, "%.*s%s", (int)(strrchr(path, '/') + 1 - path), path, name);
    return out;
}

cip_status fault_explode(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return cip_explode(sibling(path, "a.asdf"), path,
                       CIP_EXPLODE_OPTIONS(.overwrite = true, .level = level), err);
}

cip_status fault_implode(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return cip_implode(sibling(path, "x.asdf"), path,
                       CIP_EXPLODE_OPTIONS(.overwrite = true, .level = level), err);
}

/* x.asdf and its parts, of other numbers than those of a.asdf. */
void fault_make_exploded(const char *dir)
{
    cip_err err = CIP_ERR_INIT;
    fault_make_asdf(dir);
    must(fault_edit_several(beside(dir, "a.asdf"), CIP_LEVEL_PROCESS, 1, &err), &err);
    must(fault_explode(beside(dir, "x.asdf"), CIP_LEVEL_PROCESS, 1, &err), &err);
    remove(beside(dir, "a.asdf"));
    fault_make_asdf(dir);
}

/* a.asdf with a block that nothing names. */
void fault_make_holes(const char *dir)
{
    cip_err err = CIP_ERR_INIT;
    fault_make_asdf(dir);
    must(fault_edit_put_packed(beside(dir, "a.asdf"), CIP_LEVEL_PROCESS, 1, &err), &err);
    must(fault_edit_remove_array(beside(dir, "a.asdf"), CIP_LEVEL_PROCESS, 1, &err), &err);
}

/* Over itself: every block stays as it is stored, and the file is laid out anew. */
cip_status fault_convert_itself(const char *path, cip_level level, int step, cip_err *err)
{
    (void)level;
    (void)step;
    return cip_convert(path, path, CIP_CONVERT_OPTIONS(.overwrite = true, .codec = "zlib"), err);
}

/* An array in a file beside it, over one that has such a file too. */
cip_status fault_create_external(const char *path, cip_level level, int step, cip_err *err)
{
    cip_change *w;
    int32_t v[ROW];
    const int64_t shape[] = { ROW };
    const cip_change_options o = {
        .size = sizeof o, .overwrite = true, .level = level, .threads = 1
    };
    numbers(v, ROW, step == 0 ? 100 : 3);
    cip_status st = cip_create(path, &o, &w, err);
    if (st != CIP_OK)
        return st;
    st = cip_change_put(w, "apart", cip_dtype_of(CIP_I32), 1, shape, v,
                        CIP_ARRAY_OPTIONS(.storage = "external"), err);
    if (st == CIP_OK)
        return cip_change_commit(&w, err);
    cip_change_abort(&w);
    return st;
}

void fault_make_external(const char *dir)
{
    cip_err err = CIP_ERR_INIT;
    must(fault_create_external(beside(dir, "e.asdf"), CIP_LEVEL_PROCESS, 0, &err), &err);
}
