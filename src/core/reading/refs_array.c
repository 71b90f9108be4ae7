/* SPDX-License-Identifier: BSD-3-Clause
 * What of an array's storage Zarr can say. Chunks of Zarr are an n-d grid of equal boxes, each in C
 * order (or all in Fortran's), so these can be referred to: chunks of a grid; linear chunks of
 * equally many whole rows; data in one piece, which are cut where they are not compressed. A codec
 * is told from the step that decodes the chunks, never from their bytes. */
#include "core/reading/refs_array.h"

#include <inttypes.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "base/stop.h"
#include "codec/codec.h"
#include "cippus/ext/blosc.h"
#include "tree/yaml.h"

enum {
    TARGET = 4 << 20,      /* bytes of the chunks that raw data are cut into */
    LZ4_HEAD = 8,          /* of a piece in an ASDF block: its length, and what it decodes to */
    BLOSC_HEAD = 32,       /* as much as there can be of a Blosc2 chunk's header */
    MOST_SPECIAL = 1 << 16 /* special chunks that are written out */
};

static cip_status refuse(cip_err *err, const char *why)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s", why);
}

/* --- codecs ---------------------------------------------------------------------------------- */

/* Blosc chunks that numcodecs' own codec decodes, or cippus'; filters and codecs that look at the
 * shape of a block, which chunks do not hold, are neither's. */
static cip_status blosc_codec(const cip_chunk *c, const uint8_t *head, size_t n,
                              cip_refs_codec *out, cip_err *err)
{
    static const char *const known[] = { "blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy" };
    cip_blosc_chunk_info info = { .size = sizeof info };
    bool fits = false;
    CIP_TRY(cip_blosc_info(head, n, &info, err));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        fits |= strcmp(info.codec, known[i]) == 0;
    if (!fits || strstr(info.filter, "nd") != NULL)
        return refuse(err, "its Blosc codec or filter depends on the shape of blocks");
    if (info.cbytes != c->at.len || info.nbytes != c->raw_len)
        return refuse(err, "expected stored bytes that are a single Blosc chunk");
    if (info.version > 2 || strcmp(info.codec, "snappy") == 0)
        *out = CIP_REFS_BLOSC;
    return CIP_OK;
}

/* Whether a piece has the lengths before it that ASDF's lz4 blocks have. */
static bool has_lz4_head(const uint8_t *head, const cip_chunk *c)
{
    return cip_load_u32(head, true) == c->at.len + 4 && cip_load_u32(head + 4, false) == c->raw_len;
}

static cip_status read_near(const cip_refs_form *f, const cip_chunk *c, uint64_t off, uint8_t *head,
                            size_t n, cip_err *err)
{
    const cip_read_how how = { .layout = f->array->layout };
    return cip_space_read_at(&how, c->at.in, off, head, n, err);
}

/* The codec of a chunk of data; of Blosc as far as `was`, that of those before it, allows. */
static cip_status codec_of(const cip_refs_form *f, const cip_chunk *c, cip_refs_codec was,
                           cip_refs_codec *out, cip_err *err)
{
    static const struct {
        const char *name;
        cip_refs_codec codec;
    } plain[] = { { "zlib", CIP_REFS_ZLIB }, { "bzip2", CIP_REFS_BZ2 }, { "zstd", CIP_REFS_ZSTD } };
    const cip_space *s = f->list.s;
    const size_t nstep = c->codec == &cip_codec_stored ? 0 : c->codec != NULL ? 1 : s->nstep;
    uint8_t head[BLOSC_HEAD];
    const char *name = nstep == 0 ? "" : c->codec != NULL ? c->codec->name : s->step[0].codec->name;
    *out = CIP_REFS_RAW;
    if (nstep == 0)
        return CIP_OK;
    for (size_t i = 0; nstep == 1 && i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(name, plain[i].name) == 0) {
            *out = plain[i].codec;
            return CIP_OK;
        }
    if (nstep == 1 && strcmp(name, "lz4") == 0) {
        *out = CIP_REFS_LZ4_BARE;
        if (c->at.off < LZ4_HEAD)
            return CIP_OK;
        CIP_TRY(read_near(f, c, c->at.off - LZ4_HEAD, head, LZ4_HEAD, err));
        *out = has_lz4_head(head, c) ? CIP_REFS_LZ4 : CIP_REFS_LZ4_BARE;
        return CIP_OK;
    }
    if (nstep == 1 && strcmp(name, "blosc") == 0) {
        const size_t n = (size_t)cip_min_u64(sizeof head, c->at.len);
        *out = was == CIP_REFS_BLOSC ? was : CIP_REFS_BLOSC1;
        CIP_TRY(read_near(f, c, c->at.off, head, n, err));
        return blosc_codec(c, head, n, out, err);
    }
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "numcodecs has no codec that decodes %s%s", name,
                    nstep > 1 ? " in a chain" : "");
}

/* --- chunks of the file ---------------------------------------------------------------------- */

/* Chunk i: as it is stored, and as it is told. Data lie in a file, in full. */
static cip_status look_at(const cip_refs_form *f, uint64_t i, cip_chunk *c, cip_chunk_info *o,
                          cip_err *err)
{
    CIP_TRY(cip_stop_ask(err));
    *o = (cip_chunk_info){ .size = sizeof *o };
    CIP_TRY(cip_chunk_list_at(&f->list, i, c, err));
    CIP_TRY(cip_chunk_at(f->array, i, o, err));
    if (o->state == CIP_CHUNK_MISSING)
        return refuse(err, "some of its chunks are missing");
    if (o->state == CIP_CHUNK_DATA && o->place != CIP_CHUNK_IN_FILE)
        return refuse(err, o->place == CIP_CHUNK_IN_MEMORY
                               ? "its values are stored in the metadata tree"
                               : "its bytes are decoded from other data");
    return CIP_OK;
}

/* The file's own shape of chunks, or that of the first one with its padding. */
static cip_status take_grid(cip_refs_form *f, const cip_chunk_info *o, cip_err *err)
{
    const int64_t *stored = f->array->storage.chunk;
    if (f->codec == CIP_REFS_LZ4_BARE)
        return refuse(err, "lz4 without a length before it");
    f->grid = true;
    f->reorder = o->block != NULL;
    for (int k = 0; k < f->ndim; k++) {
        f->padded[k] = o->padded[k];
        f->block[k] = o->block != NULL ? o->block[k] : o->padded[k];
        f->chunk[k] = stored != NULL ? stored[k] : o->padded[k];
        if (f->chunk[k] <= 0 || f->chunk[k] > f->padded[k] || f->padded[k] % f->block[k] != 0)
            return refuse(err, "expected chunks of whole blocks");
        f->reorder |= f->chunk[k] != f->padded[k];
    }
    return CIP_OK;
}

/* Whether the strides are those of C order (of Fortran's), axes of length 1 aside. */
static bool in_order(const cip_refs_form *f, const int64_t *strides, bool fortran)
{
    uint64_t next = cip_dtype_itemsize(f->dtype);
    for (int i = 0; i < f->ndim; i++) {
        const int k = fortran ? i : f->ndim - 1 - i;
        if (f->shape[k] != 1 && (strides[k] < 0 || (uint64_t)strides[k] != next))
            return false;
        next *= (uint64_t)f->shape[k]; /* at most nbytes */
    }
    return true;
}

/* Cuts along the axis: `rows` for each chunk. */
static void cut(cip_refs_form *f, uint64_t rows)
{
    if (f->ndim == 0)
        return;
    const uint64_t n = (uint64_t)f->shape[f->axis];
    f->chunk[f->axis] = (int64_t)cip_min_u64(rows, n);
    if (n % (uint64_t)f->chunk[f->axis] != 0)
        f->pad = (uint64_t)f->chunk[f->axis] * f->row_nbytes;
}

/* Rows that a chunk of raw data should have: about TARGET bytes, and such that all chunks are as
 * long, if that takes no more than a few times as many. */
static uint64_t rows_of_raw(const cip_refs_form *f)
{
    const uint64_t n = f->ndim > 0 ? (uint64_t)f->shape[f->axis] : 1;
    const uint64_t most = f->row_nbytes < TARGET ? TARGET / f->row_nbytes : 1;
    if (n <= most)
        return n;
    for (uint64_t rows = most; rows > most / 8; rows--)
        if (n % rows == 0)
            return rows;
    return most;
}

/* Data in one piece. */
static cip_status take_whole(cip_refs_form *f, const cip_chunk *c, const cip_chunk_info *o,
                             cip_err *err)
{
    if (o->origin < 0 || (uint64_t)o->origin > c->raw_len ||
        c->raw_len - (uint64_t)o->origin < f->nbytes)
        return refuse(err, "it is part of a larger stored array");
    f->origin = (uint64_t)o->origin;
    if (f->codec == CIP_REFS_RAW)
        cut(f, rows_of_raw(f));
    else if (f->origin != 0 || c->raw_len != f->nbytes)
        return refuse(err, "it is part of larger compressed data");
    return CIP_OK;
}

/* The first of several linear chunks: whole rows. */
static cip_status take_linear(cip_refs_form *f, const cip_chunk *c, cip_err *err)
{
    if (f->f_order)
        return refuse(err, "its chunks are in Fortran order");
    if (c->raw_len != 0 && c->raw_len % f->row_nbytes == 0)
        cut(f, c->raw_len / f->row_nbytes);
    else if (f->codec == CIP_REFS_LZ4)
        f->codec = CIP_REFS_LZ4_ASDF;
    else
        return refuse(err, "its chunks end within rows");
    if (f->codec == CIP_REFS_LZ4_BARE && f->pad != 0)
        return refuse(err, "its last chunk is shorter, and its length is not stored");
    return CIP_OK;
}

/* The codec of all chunks, which has to be one, and whether there are special ones. */
static cip_status take_codec(cip_refs_form *f, cip_err *err)
{
    uint64_t special = 0, ndata = 0;
    cip_chunk_info o;
    cip_chunk c;
    for (uint64_t i = 0; i < f->list.n; i += o.run) {
        cip_refs_codec codec = CIP_REFS_BLOSC;
        CIP_TRY(look_at(f, i, &c, &o, err));
        if (o.state != CIP_CHUNK_DATA) {
            special = cip_min_u64(special + cip_min_u64(o.run, MOST_SPECIAL), MOST_SPECIAL);
            continue;
        }
        CIP_TRY(codec_of(f, &c, ndata != 0 ? f->codec : CIP_REFS_RAW, &codec, err));
        const bool blosc = codec >= CIP_REFS_BLOSC1 && f->codec >= CIP_REFS_BLOSC1;
        if (ndata++ != 0 && codec != f->codec && !blosc)
            return refuse(err, "its chunks have different codecs");
        f->codec = codec;
    }
    if (special == MOST_SPECIAL)
        return refuse(err, "it has too many chunks of one value");
    if (special != 0 && ndata != 0 && f->codec < CIP_REFS_BLOSC1)
        return refuse(err, "chunks of one value among others that are not Blosc's");
    if (special != 0) /* they are written out as chunks of Blosc2 */
        f->codec = CIP_REFS_BLOSC;
    return CIP_OK;
}

/* --- the form -------------------------------------------------------------------------------- */

static cip_status begin(const cip_array *a, const cip_dtype *d, cip_refs_form *f, cip_err *err)
{
    uint64_t nelem;
    *f = (cip_refs_form){ .array = a, .dtype = d, .ndim = (int)a->view.ndim };
    if (a->mask.kind != CIP_MASK_NONE || a->mask.nfield != 0)
        return refuse(err, "it has a mask, and Zarr has none");
    if (f->ndim > 32) /* numpy's own bound for long */
        return refuse(err, "it has more than 32 dimensions");
    if (!cip_shape_nelem(f->ndim, a->view.shape, &nelem) ||
        cip_mul_overflow(nelem, cip_dtype_itemsize(d), &f->nbytes))
        return refuse(err, "it has more than 2^63 elements");
    for (int k = 0; k < f->ndim; k++) {
        f->shape[k] = a->view.shape[k];
        f->chunk[k] = f->shape[k] > 0 ? f->shape[k] : 1;
    }
    return CIP_OK;
}

cip_status cip_refs_form_make(const cip_array *a, cip_refs_form *f, cip_err *err)
{
    cip_chunk_info o;
    cip_chunk c;
    CIP_TRY(cip_array_state(a, err));
    CIP_TRY(begin(a, a->dtype, f, err));
    if (f->nbytes == 0)
        return CIP_OK;
    CIP_TRY(cip_chunk_list_open(a, &f->list, err));
    if (f->list.n == 0)
        return refuse(err, "it has no chunks");
    CIP_TRY(take_codec(f, err));
    CIP_TRY(look_at(f, 0, &c, &o, err));
    if (o.padded != NULL)
        return take_grid(f, &o, err);
    if (f->ndim > 0 && o.strides == NULL)
        return refuse(err, "it is not a plain view of its chunks");
    f->f_order = f->ndim > 1 && !in_order(f, o.strides, false);
    if (f->ndim > 0 && !in_order(f, o.strides, f->f_order))
        return refuse(err, "its elements are not contiguous");
    /* the slowest axis that has a length */
    f->axis = f->f_order ? f->ndim - 1 : 0;
    const int step = f->f_order ? -1 : 1;
    while (f->axis + step >= 0 && f->axis + step < f->ndim && f->shape[f->axis] == 1)
        f->axis += step;
    f->row_nbytes = f->ndim > 0 ? f->nbytes / (uint64_t)f->shape[f->axis] : f->nbytes;
    return f->list.n == 1 ? take_whole(f, &c, &o, err) : take_linear(f, &c, err);
}

cip_status cip_refs_form_inline(const cip_array *a, cip_refs_form *f, cip_err *err)
{
    CIP_TRY(cip_array_state(a, err));
    cip_err why = CIP_ERR_INIT;
    const cip_dtype *raw = cip_array_raw_dtype(a, &why);
    if (raw == NULL)
        return cip_err_give(err, &why, (cip_status)why.code);
    CIP_TRY(begin(a, raw, f, err));
    f->codec = CIP_REFS_RAW;
    return CIP_OK;
}

/* --- .zarray --------------------------------------------------------------------------------- */

static cip_status add_lengths(cip_buf *b, const char *name, int ndim, const int64_t *n,
                              cip_err *err)
{
    CIP_TRY(cip_buf_addf(b, err, "\"%s\": [", name));
    for (int k = 0; k < ndim; k++)
        CIP_TRY(cip_buf_addf(b, err, "%s%" PRId64, k == 0 ? "" : ", ", n[k]));
    return cip_buf_puts(b, "]", err);
}

static cip_status add_scalar_dtype(cip_buf *b, const cip_dtype *d, cip_err *err)
{
    cip_arena arena = { .mem = b->mem };
    char *text;
    cip_status st = d->itemsize == 0 ? refuse(err, "its elements have no bytes")
                                     : cip_dtype_numpy(&arena, d, &text, err);
    if (st == CIP_OK)
        st = cip_json_string(b, text, strlen(text), err);
    cip_arena_clear(&arena);
    return st;
}

/* Records as Zarr has them: fields one behind the other, without arrays or records in them. */
static cip_status add_dtype(cip_buf *b, const cip_dtype *d, cip_err *err)
{
    uint64_t end = 0;
    if (d->kind != CIP_RECORD)
        return add_scalar_dtype(b, d, err);
    for (size_t i = 0; i < d->nfield; i++) {
        const cip_field *x = &d->field[i];
        if (x->ndim != 0 || x->dtype->kind == CIP_RECORD || x->offset != end)
            return refuse(err, "records with gaps, arrays or records in them");
        end += x->dtype->itemsize;
        CIP_TRY(cip_buf_puts(b, i == 0 ? "[[" : ", [", err));
        CIP_TRY(cip_json_string(b, x->name, strlen(x->name), err));
        CIP_TRY(cip_buf_puts(b, ", ", err));
        CIP_TRY(add_scalar_dtype(b, x->dtype, err));
        CIP_TRY(cip_buf_puts(b, "]", err));
    }
    if (end != d->itemsize)
        return refuse(err, "records with gaps, arrays or records in them");
    return cip_buf_puts(b, "]", err);
}

static cip_status add_compressor(const cip_refs_form *f, cip_buf *b, cip_err *err)
{
    static const char *const text[] = {
        [CIP_REFS_RAW] = "null",
        [CIP_REFS_ZLIB] = "{\"id\": \"zlib\", \"level\": 1}",
        [CIP_REFS_BZ2] = "{\"id\": \"bz2\", \"level\": 1}",
        [CIP_REFS_ZSTD] = "{\"id\": \"zstd\", \"level\": 1}",
        [CIP_REFS_LZ4] = "{\"id\": \"lz4\", \"acceleration\": 1}",
        [CIP_REFS_LZ4_ASDF] = "{\"id\": \"cippus_asdf_lz4\"}",
        [CIP_REFS_BLOSC1] = "{\"id\": \"blosc\", \"cname\": \"lz4\", \"clevel\": 5, "
                            "\"shuffle\": 1, \"blocksize\": 0}",
        [CIP_REFS_BLOSC] = "{\"id\": \"cippus_blosc\"}",
    };
    if (f->codec == CIP_REFS_LZ4_BARE) {
        const uint64_t n = f->list.n == 1 ? f->nbytes : (uint64_t)f->chunk[f->axis] * f->row_nbytes;
        return cip_buf_addf(b, err, "{\"id\": \"cippus_lz4\", \"nbytes\": %" PRIu64 "}", n);
    }
    return cip_buf_puts(b, text[f->codec], err);
}

static cip_status add_filters(const cip_refs_form *f, cip_buf *b, cip_err *err)
{
    if (f->pad != 0)
        return cip_buf_addf(b, err, "[{\"id\": \"cippus_pad\", \"nbytes\": %" PRIu64 "}]", f->pad);
    if (!f->reorder)
        return cip_buf_puts(b, "null", err);
    CIP_TRY(cip_buf_puts(b, "[{\"id\": \"cippus_blocks\", ", err));
    CIP_TRY(add_lengths(b, "chunk", f->ndim, f->chunk, err));
    CIP_TRY(cip_buf_puts(b, ", ", err));
    CIP_TRY(add_lengths(b, "padded", f->ndim, f->padded, err));
    CIP_TRY(cip_buf_puts(b, ", ", err));
    CIP_TRY(add_lengths(b, "block", f->ndim, f->block, err));
    return cip_buf_addf(b, err, ", \"itemsize\": %" PRIu64 "}]", f->dtype->itemsize);
}

/* No fill value: every chunk is there, and xarray takes elements that have it for missing. */
cip_status cip_refs_zarray(const cip_refs_form *f, cip_buf *b, cip_err *err)
{
    CIP_TRY(cip_buf_puts(b, "{\"zarr_format\": 2, ", err));
    CIP_TRY(add_lengths(b, "shape", f->ndim, f->shape, err));
    CIP_TRY(cip_buf_puts(b, ", ", err));
    CIP_TRY(add_lengths(b, "chunks", f->ndim, f->chunk, err));
    CIP_TRY(cip_buf_puts(b, ", \"dtype\": ", err));
    CIP_TRY(add_dtype(b, f->dtype, err));
    CIP_TRY(cip_buf_puts(b, ", \"compressor\": ", err));
    CIP_TRY(add_compressor(f, b, err));
    CIP_TRY(cip_buf_puts(b, ", \"filters\": ", err));
    CIP_TRY(add_filters(f, b, err));
    return cip_buf_addf(b, err, ", \"fill_value\": null, \"order\": \"%c\"}",
                        f->f_order ? 'F' : 'C');
}

/* --- chunks of Zarr -------------------------------------------------------------------------- */

typedef struct telling {
    const cip_refs_form *f;
    cip_refs_chunk_fn *fn;
    void *arg;
    int64_t index[CIP_MAX_NDIM];
    cip_refs_chunk out;
} telling;

static cip_status tell(telling *t, cip_err *err)
{
    t->out.index = t->index;
    return t->fn(t->arg, &t->out, err);
}

/* Raw data: a reference for each part that they are cut into. */
static cip_status tell_raw(telling *t, const cip_chunk_info *o, cip_err *err)
{
    const cip_refs_form *f = t->f;
    const uint64_t each = f->ndim > 0 ? (uint64_t)f->chunk[f->axis] * f->row_nbytes : f->nbytes;
    t->out.member = o->member;
    for (uint64_t at = 0; at < f->nbytes; at += each) {
        t->out.offset = o->offset + f->origin + at;
        t->out.nbytes = cip_min_u64(each, f->nbytes - at);
        CIP_TRY(tell(t, err));
        t->index[f->axis]++;
    }
    return CIP_OK;
}

/* Chunk i of the grid, or of linear ones, whose place in the array has to be as expected. */
static cip_status set_index(telling *t, uint64_t i, const cip_chunk *c, const cip_chunk_info *o,
                            cip_err *err)
{
    const cip_refs_form *f = t->f;
    if (!f->grid) {
        const uint64_t each = f->ndim > 0 ? (uint64_t)f->chunk[f->axis] * f->row_nbytes : f->nbytes;
        if (c->raw_off != f->list.first + i * each ||
            c->raw_len != cip_min_u64(each, f->nbytes - cip_min_u64(i * each, f->nbytes)))
            return refuse(err, "its chunks have different numbers of rows");
        if (f->ndim > 0)
            t->index[f->axis] = (int64_t)i;
        return CIP_OK;
    }
    for (int k = 0; k < f->ndim; k++) {
        t->index[k] = o->box.start[k] / f->chunk[k];
        if (!o->box_exact || o->box.start[k] % f->chunk[k] != 0 || o->padded == NULL ||
            o->padded[k] != f->padded[k])
            return refuse(err, "its chunks are not a regular grid");
    }
    return CIP_OK;
}

/* A chunk of one value as one of Blosc2, which is a header and not much more. */
static cip_status encode_special(const cip_refs_form *f, uint64_t i, const cip_chunk *c, cip_buf *b,
                                 cip_err *err)
{
    cip_buf raw = { .mem = b->mem };
    uint8_t *at, *dst;
    size_t nraw = 0, n = 0;
    cip_blosc *blosc = NULL;
    cip_err why = CIP_ERR_INIT;
    cip_status st = CIP_OK;
    if (c->raw_len > SIZE_MAX / 4)
        return refuse(err, "a chunk of one value that does not fit into memory");
    CIP_GO(cip_buf_reserve(&raw, (size_t)c->raw_len, &at, err));
    CIP_GO(cip_chunk_read(f->array, i, false, at, (size_t)c->raw_len, &nraw, err));
    blosc = cip_blosc_new(
        CIP_BLOSC_PARAMS(.typesize = (uint32_t)cip_min_u64(f->dtype->itemsize, 255)), &why);
    if (blosc == NULL)
        CIP_GO(cip_err_give(err, &why, (cip_status)why.code));
    CIP_GO(cip_buf_reserve(b, cip_blosc_bound(nraw), &dst, err));
    CIP_GO(cip_blosc_compress(blosc, at, nraw, dst, cip_blosc_bound(nraw), &n, err));
    b->len += n;
done:
    cip_blosc_free(blosc);
    cip_buf_clear(&raw);
    return st;
}

static cip_status tell_special(telling *t, uint64_t i, const cip_chunk *c, const cip_chunk_info *o,
                               cip_err *err)
{
    cip_buf b = { .mem = &t->f->array->layout->env->mem };
    cip_status st = encode_special(t->f, i, c, &b, err);
    for (uint64_t k = 0; st == CIP_OK && k < o->run; k++) {
        cip_chunk each;
        cip_chunk_info told;
        CIP_GO(look_at(t->f, i + k, &each, &told, err));
        if (each.raw_len != c->raw_len) { /* the last one of linear chunks */
            b.len = 0;
            CIP_GO(encode_special(t->f, i + k, &each, &b, err));
        }
        CIP_GO(set_index(t, i + k, &each, &told, err));
        t->out = (cip_refs_chunk){ .bytes = { b.ptr, b.len } };
        CIP_GO(tell(t, err));
    }
done:
    cip_buf_clear(&b);
    return st;
}

/* All pieces of an ASDF lz4 block, which have to follow each other and hold the array alone. */
static cip_status tell_pieces(telling *t, cip_err *err)
{
    const cip_refs_form *f = t->f;
    uint64_t end = 0, nbytes = 0;
    cip_chunk_info o;
    cip_chunk c;
    for (uint64_t i = 0; i < f->list.n; i++) {
        cip_refs_codec codec;
        CIP_TRY(look_at(f, i, &c, &o, err));
        CIP_TRY(codec_of(f, &c, CIP_REFS_RAW, &codec, err));
        if (codec != CIP_REFS_LZ4 || (i != 0 && o.offset != end + LZ4_HEAD) || o.run != 1)
            return refuse(err, "its lz4 pieces are not contiguous");
        if (i == 0)
            t->out = (cip_refs_chunk){ .member = "", .offset = o.offset - LZ4_HEAD };
        if (o.member[0] != '\0')
            return refuse(err, "its lz4 pieces are in another file");
        end = o.offset + o.stored_nbytes;
        nbytes += c.raw_len;
    }
    if (f->list.first != 0 || nbytes != f->nbytes)
        return refuse(err, "it is part of larger compressed data");
    t->out.nbytes = end - t->out.offset;
    return tell(t, err);
}

cip_status cip_refs_chunks(const cip_refs_form *f, cip_refs_chunk_fn *fn, void *arg, cip_err *err)
{
    telling t = { .f = f, .fn = fn, .arg = arg };
    const uint64_t before = f->codec == CIP_REFS_LZ4 ? 4 : 0;
    cip_chunk_info o;
    cip_chunk c;
    if (f->nbytes == 0)
        return CIP_OK;
    if (f->codec == CIP_REFS_LZ4_ASDF)
        return tell_pieces(&t, err);
    for (uint64_t i = 0; i < f->list.n; i += o.run) {
        CIP_TRY(look_at(f, i, &c, &o, err));
        if (f->list.n == 1 && f->codec == CIP_REFS_RAW && !f->grid)
            return tell_raw(&t, &o, err);
        if (o.state != CIP_CHUNK_DATA) {
            CIP_TRY(tell_special(&t, i, &c, &o, err));
            continue;
        }
        CIP_TRY(set_index(&t, i, &c, &o, err));
        t.out = (cip_refs_chunk){ .member = o.member,
                                  .offset = o.offset - before,
                                  .nbytes = o.stored_nbytes + before };
        CIP_TRY(tell(&t, err));
    }
    return CIP_OK;
}
