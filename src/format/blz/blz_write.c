/* SPDX-License-Identifier: BSD-3-Clause
 * New folders: the chunks as they come, then the files that say what they are. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_update.h"
#include "format/one_array.h"
#include "space/chunk_move.h"

/* An array, or a column of a table. */
typedef struct column {
    const char *dir; /* its folder, "" or with a slash at the end */
    const cip_spec_array *array;
    const cip_dtype *dtype;
    cip_blosc_spec blosc;
    int64_t chunklen;
    uint64_t nbytes, left; /* decoded bytes of it, and of those that are still to come */
    uint64_t nchunk, cbytes;
} column;

typedef struct writer {
    bool is_update; /* false: not the state of an update, which begins so too */
    cip_env *env;
    cip_arena *arena;
    const cip_spec *spec;
    cip_out *out;
    cip_blz_kind kind;
    column *column;
    size_t ncolumn;
} writer;

/* --- what cannot be held ---------------------------------------------------------------------- */

/* "attributes" of the tree, if it is a mapping that JSON holds; or NULL. */
static const cip_node *attributes_of(const cip_spec *spec)
{
    const cip_node *n =
        cip_node_kind(spec->tree) == CIP_NODE_MAP ? cip_map_get(spec->tree, "attributes") : NULL;
    return cip_node_kind(n) == CIP_NODE_MAP && cip_json_holds(spec->env, n, true) ? n : NULL;
}

static void check_array(const cip_spec_array *a, cip_report *loss)
{
    if (a->masked)
        cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                       "the mask is lost: BLZ and bcolz have none");
    if (a->ndim == 0)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                       "an array without axes cannot be written: BLZ and bcolz have none");
    if (a->dtype->itemsize == 0)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                       "elements of no bytes cannot be written: %.120s", cip_dtype_name(a->dtype));
    if (cip_numpy_loses_name(a->dtype))
        cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                       "the name of an opaque type is lost: %.120s", cip_dtype_name(a->dtype));
}

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    const char *taken = attributes_of(spec) != NULL ? "attributes" : NULL;
    CIP_TRY(cip_tell_rest(spec, taken, "BLZ and bcolz", loss, err));
    if (spec->narray != 1)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, NULL,
                       "expected one array, found %zu", spec->narray);
    for (size_t i = 0; i < spec->narray; i++)
        check_array(&spec->array[i], loss);
    return cip_report_status(loss, err);
}

/* --- the beginning ---------------------------------------------------------------------------- */

static uint64_t row_of(const column *c)
{
    uint64_t n = c->dtype->itemsize; /* fits: the array does */
    for (int32_t k = 1; k < c->array->ndim; k++)
        n *= (uint64_t)c->array->shape[k];
    return n;
}

/* Of the source's chunks, if they can be taken as they are; or 0. */
static int64_t rows_taken(const column *c, uint64_t row)
{
    const cip_form_step step = { .codec = &cip_codec_blosc, .args = &c->blosc };
    const uint64_t n =
        c->array->source != NULL ? cip_chunk_nbytes_taken(c->array->source, &step) : 0;
    return row != 0 && n % row == 0 ? (int64_t)(n / row) : 0;
}

static cip_status begin_column(writer *w, column *c, const cip_spec_array *a, cip_array_form *form,
                               cip_err *err)
{
    *c = (column){ .dir = "", .array = a };
    CIP_TRY(cip_numpy_stored(w->arena, w->spec, a->dtype, &c->dtype, err));
    CIP_TRY(cip_spec_array_nbytes(a, c->dtype, &c->nbytes, err));
    c->left = c->nbytes;
    const uint64_t row = row_of(c);
    bool takes;
    CIP_TRY(cip_blz_choose_blosc(w->spec, a, w->kind, c->dtype, &c->blosc, &takes, err));
    c->chunklen = takes ? rows_taken(c, row) : 0;
    CIP_TRY(cip_blz_choose_chunklen(w->spec, a, a->shape[0], row, row, &c->chunklen, err));
    *form = (cip_array_form){ .dtype = c->dtype,
                              .chunk_nbytes = (uint64_t)c->chunklen * cip_max_u64(1, row),
                              .step[0] = { .codec = &cip_codec_blosc, .args = &c->blosc },
                              .nstep = 1,
                              .codec_env = { .typesize = c->blosc.typesize },
                              .caps = takes ? CIP_FORM_TAKES : 0 };
    return CIP_OK;
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    writer *w;
    if (b->old != NULL)
        return cip_blz_update_begin(b, state, err);
    if (b->out->member == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a folder of files cannot be written to a pipe");
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    *w = (writer){ .env = b->env, .arena = b->arena, .spec = b->spec, .out = b->out };
    CIP_TRY(cip_blz_choose_kind(b->spec, &w->kind, err));
    if (w->kind == CIP_BLZ_DOCUMENT)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "superchunks cannot be written yet: expected the format blz-dir or bcolz");
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w->column, b->spec->narray, err));
    w->ncolumn = b->spec->narray;
    for (size_t i = 0; i < w->ncolumn; i++)
        CIP_TRY(begin_column(w, &w->column[i], &b->spec->array[i], &b->form[i], err));
    *state = w;
    return CIP_OK;
}

/* --- chunks ----------------------------------------------------------------------------------- */

static cip_status new_file(writer *w, const char *name, cip_out **out, cip_err *err)
{
    return w->out->member(w->out->member_user, name, out, err);
}

static cip_status store_chunk(writer *w, column *c, const cip_chunk_in *chunk, cip_err *err)
{
    char name[CIP_IO_NUMBER_NAME];
    cip_out *file;
    if (chunk->state != CIP_CHUNK_DATA || chunk->raw_len > c->left)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes of data, found %" PRIu64, c->left,
                        chunk->raw_len);
    snprintf(name, sizeof name, "%sdata/__%" PRIu64 ".blp", c->dir, c->nchunk++);
    c->left -= chunk->raw_len;
    c->cbytes += chunk->bytes.len;
    CIP_TRY(new_file(w, name, &file, err));
    CIP_TRY(cip_out_write(file, cip_blz_header_of_one, CIP_BLZ_HEADER_1, err));
    return cip_out_write(file, chunk->bytes.ptr, chunk->bytes.len, err);
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    writer *w = state;
    (void)i;
    for (size_t k = 0; k < n; k++)
        if (chunk[k].raw_len != 0)
            CIP_TRY(store_chunk(w, &w->column[array], &chunk[k], err));
    return CIP_OK;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* The text becomes the file `name` in the folder `dir`, and is empty then. */
static cip_status put_file(writer *w, const char *dir, const char *name, cip_buf *text,
                           cip_err *err)
{
    cip_out *file;
    char *path;
    CIP_TRY(cip_arena_printf(w->arena, &path, err, "%s%s", dir, name));
    CIP_TRY(new_file(w, path, &file, err));
    CIP_TRY(cip_out_write(file, text->ptr, text->len, err));
    text->len = 0;
    return CIP_OK;
}

static cip_status put_attributes(writer *w, const char *dir, const cip_node *attrs, cip_buf *text,
                                 cip_err *err)
{
    if (attrs == NULL)
        CIP_TRY(cip_buf_addf(text, err, "{}\n"));
    else
        CIP_TRY(cip_blz_node_json(w->env, attrs, text, err));
    return put_file(w, dir, "__attrs__", text, err);
}

static cip_status put_meta(writer *w, const column *c, cip_buf *text, cip_err *err)
{
    const cip_spec_array *a = c->array;
    const cip_blz_storage storage = { .kind = w->kind,
                                      .dtype = c->dtype,
                                      .blosc = &c->blosc,
                                      .chunklen = c->chunklen,
                                      .expectedlen = a->shape[0] };
    if (c->left != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes more of data, found the end", c->left);
    CIP_TRY(cip_blz_storage_json(text, &storage, err));
    CIP_TRY(put_file(w, c->dir, "meta/storage", text, err));
    CIP_TRY(cip_blz_sizes_json(text, a->ndim, a->shape, c->nbytes, c->cbytes, err));
    return put_file(w, c->dir, "meta/sizes", text, err);
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    writer *w = state;
    cip_buf text = { .mem = &w->env->mem };
    if (w->is_update)
        return cip_blz_update_finish(state, r, err);
    cip_status st = put_attributes(w, "", attributes_of(w->spec), &text, err);
    for (size_t i = 0; i < w->ncolumn && st == CIP_OK; i++)
        st = put_meta(w, &w->column[i], &text, err);
    cip_buf_clear(&text);
    return st;
}

const cip_array_store cip_blz_store = {
    .caps = CIP_STORE_FOLDER | CIP_STORE_NAMES | CIP_STORE_UPDATES,
    .check = check,
    .begin = begin,
    .store = store,
    .set = cip_blz_update_set,
    .remove = cip_blz_update_remove,
    .move = cip_blz_update_move,
    .form = cip_blz_update_form,
    .chunks = cip_blz_update_chunks,
    .finish = finish,
};
