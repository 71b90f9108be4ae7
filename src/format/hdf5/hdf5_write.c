/* SPDX-License-Identifier: BSD-3-Clause
 * New files: how datasets are stored, and their chunks as they come. What every HDF5 library since
 * 1.8 reads is written: the filters aside, which are in plugins. */
#include "format/hdf5/hdf5_write.h"

#include "base/endian.h"
#include "format/blosc_codec.h"
#include "format/nd_chunks.h"
#include "format/one_array.h"
#include "space/make/chunk_move.h"

enum {
    USUAL_CHUNK = 1 << 20, /* bytes */
    BLOSC_REVISION = 2,    /* of the filter's values */
    BLOSC_VERSION = 2,     /* of its chunks */
    BLOSC2_REVISION = 1
};

enum { OPTION_CHUNKS, OPTION_SHUFFLE, OPTION_INNER, OPTION_FLETCHER32 };

const cip_format_option cip_h5_options[] = {
    { "chunks", "A,B,...: shape of the chunks (default: about 1 MiB)" },
    { "shuffle", "byte (default), none, or of blosc and blosc2 bit: the filter before the codec" },
    { "inner", "codec in blosc and blosc2: blosclz, lz4 (default), lz4hc, zlib, zstd" },
    { "fletcher32", "yes: a checksum for each chunk" },
    { NULL, NULL },
};

/* --- filters ---------------------------------------------------------------------------------- */

typedef struct filter_row {
    const char *codec;
    uint16_t id;
    const char *name; /* in the file */
    int level, lowest, highest;
    const char *needs; /* the library's codec */
} filter_row;

static const filter_row rows[] = {
    { "zlib", CIP_H5_DEFLATE, "", 6, 1, 9, "zlib" },
    { "zstd", CIP_H5_ZSTD, "Zstandard compression", 3, 1, 22, "zstd" },
    { "lz4", CIP_H5_LZ4, "HDF5 lz4 filter; see http://www.hdfgroup.org/services/contributions.html",
      0, 0, 0, "lz4" },
    { "blosc", CIP_H5_BLOSC, "blosc", 5, 1, 9, "blosc" },
    { "blosc2", CIP_H5_BLOSC2, "blosc2", 5, 1, 9, "blosc" },
};

static cip_h5_filter *add_filter(cip_h5_new *d, uint16_t id, const char *name)
{
    const uint32_t k = d->pipe.n++;
    d->filter[k] = (cip_h5_filter){ .id = id, .name = name, .value = d->value[k] };
    d->pipe.filter[k] = &d->filter[k];
    return &d->filter[k];
}

static void add_value(cip_h5_new *d, cip_h5_filter *f, uint32_t v)
{
    d->value[f - d->filter][f->n++] = v;
}

static cip_status bad_option(const cip_h5_writer *w, const cip_h5_new *d, size_t option,
                             const char *expected, cip_err *err)
{
    const char *found = cip_option_of(w->spec, d->array, option);
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %s for %s, found %.60s", expected,
                    cip_h5_options[option].key, found != NULL ? found : "");
}

/* --- Blosc ------------------------------------------------------------------------------------ */

/* The blocks of a chunk that is an array of its own: as the source has them, else as a new b2nd
 * array would. */
static cip_status choose_blocks(cip_h5_new *d, cip_err *err)
{
    const cip_grid *g = d->array->source != NULL ? cip_chunk_grid(d->array->source) : NULL;
    const int32_t ndim = d->array->ndim;
    const bool same = g != NULL && g->blocked && cip_same_lengths(ndim, g->chunk, d->chunk);
    d->nd = (cip_b2_nd){ .ndim = ndim, .item = d->dtype->itemsize, .has_dtype = true };
    for (int32_t k = 0; k < ndim; k++) {
        d->nd.shape[k] = d->nd.chunk[k] = d->chunk[k];
        d->nd.block[k] = same ? g->block[k] : 0;
    }
    cip_b2_choose_shapes(&d->nd, d->nd.item, 1);
    CIP_TRY(cip_b2_nd_derive(&d->nd, err));
    uint64_t block = d->nd.item;
    for (int32_t k = 0; k < ndim; k++)
        block *= (uint64_t)d->nd.block[k]; /* at most a chunk's */
    d->blosc.blocksize = (uint32_t)block;
    d->grid.blocked = true;
    d->grid.stored = d->nd.stored;
    d->grid.block = d->nd.block;
    return CIP_OK;
}

static cip_status choose_blosc(const cip_h5_writer *w, cip_h5_new *d, cip_h5_filter *f, int level,
                               cip_err *err)
{
    const char *inner = cip_option_of(w->spec, d->array, OPTION_INNER);
    const char *shuffle = cip_option_of(w->spec, d->array, OPTION_SHUFFLE);
    const uint64_t item = d->dtype->itemsize, bytes = cip_box_bytes(d->array->ndim, d->chunk, item);
    const bool two = f->id == CIP_H5_BLOSC2;
    const bool nd = two && d->array->ndim > 1 && d->array->ndim <= CIP_H5_BLOSC2_NDIM;
    uint8_t meta = 0;
    d->blosc = (cip_blosc_spec){ .typesize = item <= CIP_BLOSC_MAX_TYPESIZE ? (uint32_t)item : 1,
                                 .level = level,
                                 .compcode = CIP_BLOSC_LZ4,
                                 .blosc1 = !two };
    if (bytes > CIP_BLOSC_MAX_NBYTES)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d bytes for a chunk of Blosc, found %" PRIu64,
                        CIP_BLOSC_MAX_NBYTES, bytes);
    if (inner != NULL && (cip_blosc_codec_parse(inner, &d->blosc.compcode, &meta, NULL) != CIP_OK ||
                          d->blosc.compcode > CIP_BLOSC_ZSTD))
        return bad_option(w, d, OPTION_INNER, "blosclz, lz4, lz4hc, zlib or zstd", err);
    if (shuffle == NULL || strcmp(shuffle, "byte") == 0)
        d->blosc.filter[5] = d->blosc.typesize > 1 ? CIP_BLOSC_SHUFFLE : CIP_BLOSC_NOFILTER;
    else if (strcmp(shuffle, "bit") == 0)
        d->blosc.filter[5] = CIP_BLOSC_BITSHUFFLE;
    else if (strcmp(shuffle, "none") != 0)
        return bad_option(w, d, OPTION_SHUFFLE, "byte, bit or none", err);
    d->pipe.blosc = &d->blosc;
    d->framed = two;
    if (nd)
        CIP_TRY(choose_blocks(d, err));
    add_value(d, f, two ? BLOSC2_REVISION : BLOSC_REVISION);
    add_value(d, f, two ? 0 : BLOSC_VERSION);
    add_value(d, f, d->blosc.typesize);
    add_value(d, f, (uint32_t)bytes);
    add_value(d, f, (uint32_t)level);
    add_value(d, f, d->blosc.filter[5]);
    add_value(d, f, (uint32_t)d->blosc.compcode);
    if (nd) {
        add_value(d, f, (uint32_t)d->array->ndim);
        for (int32_t k = 0; k < d->array->ndim; k++)
            add_value(d, f, (uint32_t)d->chunk[k]);
    }
    return CIP_OK;
}

/* --- how a dataset is stored ------------------------------------------------------------------ */

static cip_status choose_filters(const cip_h5_writer *w, cip_h5_new *d, const char *codec,
                                 cip_array_form *form, cip_err *err)
{
    const int asked = d->array->codec != NULL ? d->array->level : w->spec->level;
    const char *shuffle = cip_option_of(w->spec, d->array, OPTION_SHUFFLE);
    const filter_row *row = NULL;
    bool sums = false;
    CIP_TRY(cip_option_take_yes(cip_option_of(w->spec, d->array, OPTION_FLETCHER32),
                                cip_h5_options[OPTION_FLETCHER32].key, &sums, err));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].codec, codec) == 0)
            row = &rows[i];
    if (row == NULL && strcmp(codec, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the codec zlib, zstd, lz4, blosc, blosc2 or none, found %.40s",
                        codec);
    const bool blosc = row != NULL && strcmp(row->needs, "blosc") == 0;
    if (row != NULL && !cip_codec_available(cip_codec_find(row->needs)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the codec %s is not part of this build", row->codec);
    if (row != NULL && (asked != 0 && (asked < row->lowest || asked > row->highest)))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a level from %d to %d for %s, found %d", row->lowest,
                        row->highest, codec, asked);
    const int level = asked != 0 ? asked : row != NULL ? row->level : 0;
    if (row != NULL && !blosc) {
        if (shuffle != NULL && strcmp(shuffle, "none") != 0 && strcmp(shuffle, "byte") != 0)
            return bad_option(w, d, OPTION_SHUFFLE, "byte or none", err);
        if (d->dtype->itemsize > 1 && (shuffle == NULL || strcmp(shuffle, "none") != 0))
            add_value(d, add_filter(d, CIP_H5_SHUFFLE, ""), (uint32_t)d->dtype->itemsize);
    }
    if (row != NULL) {
        cip_h5_filter *f = add_filter(d, row->id, row->name);
        if (blosc)
            CIP_TRY(choose_blosc(w, d, f, level, err));
        else
            add_value(d, f, (uint32_t)level);
    }
    if (sums)
        add_filter(d, CIP_H5_FLETCHER32, "");
    if (sums && d->framed)
        return bad_option(w, d, OPTION_FLETCHER32, "no checksum beside blosc2", err);
    form->nstep = d->pipe.n != 0;
    if (blosc && !sums) {
        const bool free =
            asked == 0 && shuffle == NULL && cip_option_of(w->spec, d->array, OPTION_INNER) == NULL;
        form->step[0] = (cip_form_step){ .codec = &cip_codec_blosc, .args = &d->blosc };
        form->codec_env.typesize = d->blosc.typesize;
        form->caps |= free ? CIP_FORM_TAKES : 0;
    } else if (d->pipe.n != 0) {
        form->step[0] = (cip_form_step){ .codec = &cip_h5_codec, .args = &d->pipe };
        form->caps |= sums ? 0 : CIP_FORM_PLAIN;
    }
    return CIP_OK;
}

/* Chunks as they are asked for, else as the source has them; not longer than the dataset, which
 * other programs would refuse. */
static cip_status choose_chunks(const cip_h5_writer *w, cip_h5_new *d, cip_err *err)
{
    const cip_spec_array *a = d->array;
    const cip_grid *g = a->source != NULL ? cip_chunk_grid(a->source) : NULL;
    const char *text = cip_option_of(w->spec, a, OPTION_CHUNKS);
    CIP_TRY(CIP_ARENA_NEW(w->arena, &d->chunk, (size_t)a->ndim, err));
    if (text != NULL && !cip_lengths_parse(text, a->ndim, d->chunk))
        return bad_option(w, d, OPTION_CHUNKS, "a length of 1 to 2^31 - 1 for each axis", err);
    if (text == NULL && g != NULL && g->ndim == a->ndim)
        memcpy(d->chunk, g->chunk, (size_t)a->ndim * sizeof *d->chunk);
    else if (text == NULL)
        cip_usual_chunks(a->ndim, a->shape, d->dtype->itemsize, USUAL_CHUNK, false, d->chunk);
    for (int32_t k = 0; k < a->ndim; k++)
        d->chunk[k] = cip_min_i64(d->chunk[k], a->shape[k]);
    const uint64_t bytes = cip_box_bytes(a->ndim, d->chunk, d->dtype->itemsize);
    if (bytes > UINT32_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected chunks of less than 4 GiB, found %" PRIu64 " bytes", bytes);
    return CIP_OK;
}

/* Strings of code points become bytes: a character that is not ASCII is an error when its element
 * comes. */
static cip_status stored_type(const cip_h5_writer *w, const cip_dtype *d, const cip_dtype **out,
                              cip_err *err)
{
    cip_field *field;
    if (d->kind == CIP_UCS4)
        return cip_dtype_ascii(w->arena, d->itemsize / 4, out, err);
    CIP_TRY(cip_numpy_stored(w->arena, w->spec, d, out, err));
    if (d->kind != CIP_RECORD)
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(w->arena, &field, d->nfield, err));
    for (size_t i = 0; i < d->nfield; i++) {
        field[i] = (*out)->field[i];
        CIP_TRY(stored_type(w, field[i].dtype, &field[i].dtype, err));
    }
    return cip_dtype_record(w->arena, d->nfield, field, true, 0, out, err);
}

static const char too_long[] = "HDF5 has no datatypes whose description takes over 60,000 bytes";

/* Whether a message can hold the datatype. */
static cip_status check_type(cip_env *env, const cip_dtype *d, bool *yes, cip_err *err)
{
    enum { MOST = 60000 };
    cip_buf type = { .mem = &env->mem };
    const cip_status st = cip_h5_put_type(&type, d, NULL, err);
    *yes = type.len <= MOST;
    cip_buf_clear(&type);
    return st;
}

static cip_status make_dataset(const cip_h5_writer *w, cip_h5_new *d, cip_array_form *form,
                               cip_err *err)
{
    const cip_spec_array *a = d->array;
    const char *codec = a->codec != NULL ? a->codec : w->spec->codec;
    const bool plain = codec == NULL || strcmp(codec, "none") == 0;
    uint64_t nbytes;
    bool small;
    d->list.mem = &w->env->mem;
    d->at = CIP_H5_NONE;
    if (cip_h5_refusal(a->dtype) != NULL || a->ndim > CIP_H5_MAX_RANK)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s: %.100s",
                        a->ndim > CIP_H5_MAX_RANK ? "HDF5 has at most 32 axes"
                                                  : cip_h5_refusal(a->dtype),
                        a->dtype->name);
    CIP_TRY(stored_type(w, a->dtype, &d->dtype, err));
    CIP_TRY(check_type(w->env, d->dtype, &small, err));
    if (!small)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s", too_long);
    CIP_TRY(cip_spec_array_nbytes(a, d->dtype, &nbytes, err));
    form->dtype = d->dtype;
    d->chunked = a->ndim != 0 && nbytes != 0 &&
                 (!plain || cip_option_of(w->spec, a, OPTION_CHUNKS) != NULL ||
                  cip_option_of(w->spec, a, OPTION_FLETCHER32) != NULL);
    if (!d->chunked) {
        d->left = nbytes;
        return CIP_OK;
    }
    CIP_TRY(choose_chunks(w, d, err));
    d->grid = (cip_grid){
        .itemsize = d->dtype->itemsize, .ndim = a->ndim, .shape = a->shape, .chunk = d->chunk
    };
    CIP_TRY(choose_filters(w, d, codec != NULL ? codec : "none", form, err));
    d->left = 1;
    for (int32_t k = 0; k < a->ndim; k++)
        d->left *=
            cip_div_up((uint64_t)a->shape[k], (uint64_t)d->chunk[k]); /* fit, as elements do */
    form->grid = &d->grid;
    form->chunk_nbytes =
        cip_box_bytes(a->ndim, d->nd.ndim != 0 ? d->nd.stored : d->chunk, d->dtype->itemsize);
    form->specials = CIP_FORM_SPECIAL(CIP_CHUNK_ZERO);
    return CIP_OK;
}

/* --- the store -------------------------------------------------------------------------------- */

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    cip_arena arena = { .mem = &spec->env->mem };
    cip_h5_writer w = { .env = spec->env, .arena = &arena, .spec = spec };
    cip_err why = CIP_ERR_INIT;
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        const char *refusal = cip_h5_refusal(a->dtype);
        bool small = true;
        if (refusal == NULL)
            CIP_TRY(check_type(spec->env, a->dtype, &small, err));
        refusal = small ? refusal : too_long;
        if (a->dtype->kind == CIP_UCS4)
            cip_report_add(loss, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, a->path,
                           "strings become ASCII: other characters cannot be stored");
        if (a->masked)
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the mask is lost: HDF5 has none");
        if (refusal != NULL)
            cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "%s: %.120s", refusal, a->dtype->name);
        if (cip_numpy_loses_name(a->dtype))
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the name of an opaque type is lost: %.120s", a->dtype->name);
    }
    const cip_status st = cip_h5_put_tree(&w, NULL, loss, &why);
    cip_arena_clear(&arena);
    if (st == CIP_ERR_UNSUPPORTED)
        cip_report_add(loss, CIP_BAD, st, CIP_NO_OFFSET, 0, NULL, "%s", why.text);
    else
        CIP_TRY(cip_err_give(err, &why, st));
    return cip_report_status(loss, err);
}

/* A dataset stays where it is: forms name parts of it. */
static cip_status add(void *state, const cip_spec_array *array, cip_array_form *form, cip_err *err)
{
    cip_h5_writer *w = state;
    cip_h5_new *d;
    CIP_TRY(CIP_ARENA_ROOM(w->arena, &w->dataset, w->n, &w->cap, err));
    CIP_TRY(CIP_ARENA_NEW(w->arena, &d, 1, err));
    d->array = array;
    CIP_TRY(cip_fail_in(err, make_dataset(w, d, form, err), "%s",
                        array->path != NULL ? array->path : ""));
    w->dataset[w->n++] = d;
    return CIP_OK;
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    cip_h5_writer *w;
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    *w = (cip_h5_writer){ .env = b->env,
                          .arena = b->arena,
                          .spec = b->spec,
                          .out = b->out,
                          .frame = { .mem = &b->env->mem } };
    for (size_t i = 0; i < b->spec->narray; i++)
        CIP_TRY(add(w, &b->spec->array[i], &b->form[i], err));
    CIP_TRY(cip_out_fill(w->out, 0, CIP_H5_SUPERBLOCK, err)); /* until all else is there */
    *state = w;
    return CIP_OK;
}

/* A chunk of Blosc2 in a frame of its own, of two axes or more an array of one chunk. */
static cip_status make_frame(cip_h5_writer *w, const cip_h5_new *d, cip_bytes chunk, cip_err *err)
{
    cip_buf *out = &w->frame, nd = { .mem = &w->env->mem };
    cip_b2_meta meta = { .name = { (const uint8_t *)"b2nd", 4 } };
    const cip_b2_metas metas = { &meta, d->nd.ndim != 0 }, none = { NULL, 0 };
    const uint64_t raw =
        cip_box_bytes(d->grid.ndim, d->nd.ndim != 0 ? d->nd.stored : d->chunk, d->grid.itemsize);
    cip_b2_header h = { .codec = (uint8_t)d->blosc.compcode,
                        .level = (uint8_t)d->blosc.level,
                        .nbytes = raw,
                        .cbytes = chunk.len,
                        .typesize = d->blosc.typesize,
                        .blocksize = d->blosc.blocksize,
                        .chunksize = raw };
    uint8_t fixed[CIP_B2_HEADER_MIN], entry[8];
    cip_status st;
    memcpy(h.filter, d->blosc.filter, sizeof h.filter);
    out->len = 0;
    cip_store_u64(entry, cip_b2_special_entry(CIP_CHUNK_DATA, chunk.ptr, chunk.len), false);
    cip_b2_header_write(&h, false, fixed);
    CIP_GO(cip_buf_add(out, fixed, sizeof fixed, err));
    if (d->nd.ndim != 0)
        CIP_GO(cip_b2_nd_write(&nd, &d->nd, err));
    meta.value = (cip_bytes){ nd.ptr, nd.len };
    CIP_GO(cip_b2_metas_write(out, &metas, false, err));
    h.header_len = out->len;
    CIP_GO(cip_buf_add(out, chunk.ptr, chunk.len, err));
    CIP_GO(cip_b2_index_write(w->env, entry, 1, out, err));
    CIP_GO(cip_b2_trailer_write(out, &none, err));
    h.frame_len = out->len;
    cip_b2_header_write(&h, false, out->ptr);
done:
    cip_buf_clear(&nd);
    return st;
}

static cip_status put_chunk(cip_h5_writer *w, cip_h5_new *d, uint64_t i, const cip_chunk_in *c,
                            cip_err *err)
{
    cip_bytes b = c->bytes;
    const uint32_t all = (UINT32_C(1) << d->pipe.n) - 1;
    if (d->framed && !c->plain) {
        CIP_TRY(make_frame(w, d, b, err));
        b = (cip_bytes){ w->frame.ptr, w->frame.len };
    }
    if (b.len > UINT32_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected chunks of less than 4 GiB, found %zu bytes", b.len);
    const cip_h5_chunk entry = { i, w->out->n, b.len, c->plain ? all : 0 };
    CIP_TRY(cip_buf_add(&d->list, &entry, sizeof entry, err));
    return cip_out_write(w->out, b.ptr, b.len, err);
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    cip_h5_writer *w = state;
    cip_h5_new *d = w->dataset[array];
    for (size_t k = 0; k < n; i += chunk[k++].run) {
        const cip_bytes b = chunk[k].bytes;
        const uint64_t come = d->chunked ? chunk[k].run : b.len;
        if (come > d->left || (!d->chunked && chunk[k].state != CIP_CHUNK_DATA))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected at most %" PRIu64 " more %s, found %" PRIu64, d->left,
                            d->chunked ? "chunks" : "bytes", come);
        d->left -= come;
        if (d->chunked && chunk[k].state == CIP_CHUNK_DATA)
            CIP_TRY(put_chunk(w, d, i, &chunk[k], err));
        if (d->chunked || b.len == 0)
            continue;
        if (d->at == CIP_H5_NONE) {
            CIP_TRY(cip_out_fill(w->out, 0, (8 - w->out->n % 8) % 8, err));
            d->at = w->out->n;
        }
        CIP_TRY(cip_out_write(w->out, b.ptr, b.len, err));
    }
    return CIP_OK;
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    cip_h5_writer *w = state;
    for (size_t i = 0; i < w->n; i++)
        if (w->dataset[i]->left != 0)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected %" PRIu64 " more %s, found the end", w->dataset[i]->left,
                            w->dataset[i]->chunked ? "chunks" : "bytes");
    return cip_h5_put_tree(w, r, NULL, err);
}

static void clear(void *state)
{
    cip_h5_writer *w = state;
    for (size_t i = 0; i < w->n; i++)
        cip_buf_clear(&w->dataset[i]->list);
    cip_buf_clear(&w->frame);
}

const cip_array_store cip_h5_store = {
    .caps = CIP_STORE_NAMES | CIP_STORE_PATCHES | CIP_STORE_LATE,
    .check = check,
    .begin = begin,
    .store = store,
    .add = add,
    .finish = finish,
    .clear = clear,
};
