/* SPDX-License-Identifier: BSD-3-Clause
 * How a frame is to be stored: codec, filters, chunks and blocks from what was asked for, else as
 * the frame is that the array comes from, else by default. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/with.h"
#include "format/blosc2/blosc2_write.h"
#include "format/blosc_codec.h"
#include "space/chunk_move.h"

enum {
    LEVEL = 5,
    OPTION_CHUNKS = 0,
    OPTION_BLOCKS,
    OPTION_FILTER,
    OPTION_SPLIT,
    OPTION_DICT,
    OPTION_SPARSE
};

const cip_format_option cip_b2_options[] = {
    { "chunks", "A,B,...: the shape of chunks (boxes of about 4 MiB)" },
    { "blocks", "A,B,...: the shape of the blocks in a chunk (boxes of about 128 KiB)" },
    { "filter", "shuffle (the default), bitshuffle, bytedelta, delta, trunc_prec:BITS, "
                "int_trunc:BITS, ndcell:SIDE, ndmean:SIDE, several in a row: delta+shuffle, or "
                "shuffle,delta in the "
                "order that serves; none" },
    { "split", "always, never or auto (the default): blocks as one stream for each byte of an "
               "element" },
    { "dict", "yes: each chunk with a dictionary of its own (zstd, lz4, lz4hc)" },
    { "sparse", "yes: a folder with a file for each chunk" },
    { NULL, NULL },
};

const cip_format_kind cip_b2_kinds[] = {
    { "b2frame", "Blosc2 frame that is a list of items, without type and shape" },
    { "b2chunk", "one chunk of Blosc2 and nothing else" },
    { "blosc", "one chunk of Blosc1 and nothing else" },
    { NULL, NULL },
};

static const char *given(const cip_spec *spec, size_t option)
{
    return cip_option_of(spec, spec->narray == 1 ? &spec->array[0] : NULL, option);
}

static cip_status bad_option(const cip_spec *spec, size_t option, const char *expected,
                             cip_err *err)
{
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %s for %s, found %.60s", expected,
                    cip_b2_options[option].key, given(spec, option));
}

static bool is_blosc1(const cip_spec *spec)
{
    return spec->kind != NULL && strcmp(spec->kind, "blosc") == 0;
}

bool cip_b2_is_bare(const cip_spec *spec)
{
    return is_blosc1(spec) || (spec->kind != NULL && strcmp(spec->kind, "b2chunk") == 0);
}

bool cip_b2_is_sparse(const cip_spec *spec)
{
    const char *text = cip_option_given(spec->option, OPTION_SPARSE);
    return text != NULL && strcmp(text, "yes") == 0;
}

/* Whether the output is a folder is settled before there is an array. */
static cip_status take_sparse(const cip_spec *spec, bool *sparse, cip_err *err)
{
    CIP_TRY(cip_option_take_yes(given(spec, OPTION_SPARSE), cip_b2_options[OPTION_SPARSE].key,
                                sparse, err));
    if (*sparse == cip_b2_is_sparse(spec))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "expected the option %s of the file, found it of an array",
                    cip_b2_options[OPTION_SPARSE].key);
}

static cip_status take_yes(const cip_spec *spec, size_t option, bool *v, cip_err *err)
{
    return cip_option_take_yes(given(spec, option), cip_b2_options[option].key, v, err);
}

/* --- codec and filters ------------------------------------------------------------------------ */

/* Lossy filters are for numbers of one kind and take how many bits they keep: python-blosc2 opens
 * no frame that has the number of those that go, a negative one. */
static cip_status check_filters(const cip_dtype *d, cip_blosc_spec *b, cip_err *err)
{
    const bool is_float = d->kind == CIP_F32 || d->kind == CIP_F64;
    const bool is_int = d->kind >= CIP_I8 && d->kind <= CIP_U64;
    const int bits = is_int ? 8 * (int)d->itemsize : d->kind == CIP_F32 ? 23 : 52;
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++) {
        const uint8_t f = b->filter[i];
        const int8_t meta = (int8_t)b->filter_meta[i];
        const bool fits = f == CIP_BLOSC_INT_TRUNC ? is_int : is_float;
        if (cip_blosc_filter_is_lossy(f) && (!fits || d->big != (CIP_HOST_BIG != 0)))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected a filter for elements of %.40s, found %s", cip_dtype_name(d),
                            cip_blosc_filter_name(f));
        if (cip_blosc_filter_is_lossy(f) && f != CIP_BLOSC_NDMEAN && meta < 0 && bits + meta > 0)
            b->filter_meta[i] = (uint8_t)(bits + meta);
    }
    return CIP_OK;
}

static bool is_zfp(const cip_blosc_spec *b)
{
    return b->compcode >= CIP_BLOSC_ZFP_ACC && b->compcode <= CIP_BLOSC_ZFP_RATE;
}

/* zfp takes floats as they are; of longer elements ndlz takes each byte by itself, which a header
 * has to say, or python-blosc2 fails to change the frame. */
static cip_status fit_codec(const cip_dtype *d, const char *filter, const char *split,
                            cip_blosc_spec *b, cip_err *err)
{
    if (is_zfp(b) && ((d->kind != CIP_F32 && d->kind != CIP_F64) || d->big != (CIP_HOST_BIG != 0)))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected elements of float32 or float64 for zfp, found %.40s",
                        cip_dtype_name(d));
    if (is_zfp(b) && filter == NULL) {
        memset(b->filter, 0, sizeof b->filter);
        memset(b->filter_meta, 0, sizeof b->filter_meta);
    }
    if (is_zfp(b) && split == NULL)
        b->split = CIP_BLOSC_SPLIT_NEVER;
    if (b->compcode == CIP_BLOSC_NDLZ && split == NULL)
        b->split = d->itemsize != 1 ? CIP_BLOSC_SPLIT_ALWAYS : CIP_BLOSC_SPLIT_NEVER;
    return CIP_OK;
}

/* Texts are shuffled by character, as python-blosc2 does. */
static void set_defaults(const cip_dtype *d, cip_blosc_spec *b)
{
    b->compcode = CIP_WITH_ZSTD && !b->blosc1 ? CIP_BLOSC_ZSTD : CIP_BLOSC_BLOSCLZ;
    b->level = LEVEL;
    b->split = CIP_BLOSC_SPLIT_AUTO;
    b->dict = false;
    memset(b->filter, 0, sizeof b->filter);
    memset(b->filter_meta, 0, sizeof b->filter_meta);
    b->filter[CIP_BLOSC_FILTERS - 1] = CIP_BLOSC_SHUFFLE;
    b->filter_meta[CIP_BLOSC_FILTERS - 1] = d->kind == CIP_UCS4 && !b->blosc1 ? 4 : 0;
}

/* Codec and filters as a frame's header has them, without what changes values once more. */
static void set_like(const cip_b2_header *h, cip_blosc_spec *b)
{
    static const int split[] = { CIP_BLOSC_SPLIT_ALWAYS, CIP_BLOSC_SPLIT_NEVER,
                                 CIP_BLOSC_SPLIT_AUTO, CIP_BLOSC_SPLIT_AUTO };
    b->compcode = h->codec == CIP_B2_USER_CODEC ? h->user_codec : h->codec;
    b->codec_meta = h->codec == CIP_B2_USER_CODEC ? h->codec_meta : 0;
    b->level = h->level;
    b->split = split[h->split];
    b->dict = h->dict;
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++) {
        const uint8_t f = h->filter[i];
        const bool kept =
            (f >= CIP_BLOSC_SHUFFLE && f <= CIP_BLOSC_DELTA) || f == CIP_BLOSC_BYTEDELTA;
        b->filter[i] = kept ? f : CIP_BLOSC_NOFILTER;
        b->filter_meta[i] = kept ? h->filter_meta[i] : 0;
    }
}

/* Whether chunks can be encoded so in this build: an empty one is. */
static cip_status try_spec(const cip_spec *spec, const cip_blosc_spec *b, cip_err *err)
{
    uint8_t bytes[CIP_BLOSC_HEADER];
    size_t n;
    return cip_blosc_encode(&spec->env->mem, b, (cip_bytes){ NULL, 0 }, bytes, sizeof bytes, &n,
                            err);
}

const cip_b2_frame *cip_b2_frame_of(const cip_spec *spec)
{
    const cip_array *a = spec->narray == 1 ? spec->array[0].source : NULL;
    if (a == NULL || a->layout->format == NULL ||
        strcmp(a->layout->format, cip_format_blosc2.name) != 0)
        return NULL;
    const cip_b2_file *f = a->layout->own;
    return f->frame;
}

/* A frame's width of bytedelta: 0 is the item's, which python-blosc2 fails to open from 128 on. */
static cip_status parse_filters(const char *text, const cip_dtype *d, cip_blosc_spec *b,
                                cip_err *err)
{
    CIP_TRY(cip_blosc_filters_parse(text, b->filter, b->filter_meta, err));
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++)
        if (b->filter[i] == CIP_BLOSC_BYTEDELTA && b->filter_meta[i] == 0 && d->itemsize > INT8_MAX)
            b->filter_meta[i] = 1;
    return CIP_OK;
}

static cip_status choose_codec(const cip_spec *spec, const cip_dtype *d, cip_b2_how *how,
                               cip_err *err)
{
    static const char *const splits[] = { "auto", "always", "never" };
    const char *filter = given(spec, OPTION_FILTER), *split = given(spec, OPTION_SPLIT),
               *dict = given(spec, OPTION_DICT);
    const cip_b2_frame *like = is_blosc1(spec) ? NULL : cip_b2_frame_of(spec);
    cip_blosc_spec *b = &how->blosc;
    b->blosc1 = is_blosc1(spec);
    b->typesize = b->blosc1 && d->itemsize > CIP_BLOSC_MAX_TYPESIZE ? 1 : (uint32_t)d->itemsize;
    if (like != NULL)
        set_like(&like->h, b);
    if (like == NULL || b->compcode > CIP_BLOSC_ZSTD || try_spec(spec, b, NULL) != CIP_OK)
        set_defaults(d, b);
    how->takes = filter == NULL && split == NULL && dict == NULL && spec->codec == NULL &&
                 spec->array[0].codec == NULL;
    CIP_TRY(cip_blosc_take_codec(spec, &spec->array[0], b, err));
    if (filter != NULL)
        CIP_TRY(parse_filters(filter, d, b, err));
    CIP_TRY(check_filters(d, b, err));
    for (int i = 0; split != NULL && i <= CIP_BLOSC_SPLIT_NEVER; i++)
        if (strcmp(split, splits[i]) == 0)
            b->split = i;
    if (split != NULL && strcmp(split, splits[b->split]) != 0)
        return bad_option(spec, OPTION_SPLIT, "always, never or auto", err);
    CIP_TRY(take_yes(spec, OPTION_DICT, &b->dict, err));
    return fit_codec(d, filter, split, b, err);
}

/* --- chunks and blocks ------------------------------------------------------------------------ */

/* "64,64": as many lengths as there are axes, each at least 1; *out stays where none are given. */
static cip_status take_lengths(const cip_spec *spec, size_t option, int32_t ndim, int64_t *out,
                               cip_err *err)
{
    const char *text = given(spec, option);
    char *end = (char *)text;
    for (int32_t k = 0; text != NULL && k < ndim; k++) {
        const long long n = *end >= '0' && *end <= '9' ? strtoll(end, &end, 10) : 0;
        if (n < 1 || n > INT32_MAX || *end != (k == ndim - 1 ? '\0' : ','))
            return bad_option(spec, option, "a length of 1 to 2^31 - 1 for each axis", err);
        out[k] = n;
        end += *end == ',';
    }
    return text == NULL || ndim != 0 || *text == '\0'
               ? CIP_OK
               : bad_option(spec, option, "nothing, as there is no axis,", err);
}

/* Bytes of so many items each way; more than INT64_MAX: UINT64_MAX. */
static uint64_t box_bytes(int32_t ndim, const int64_t *side, uint64_t item)
{
    uint64_t n = item;
    for (int32_t k = 0; k < ndim; k++)
        if (cip_mul_overflow(n, (uint64_t)side[k], &n))
            return UINT64_MAX;
    return n;
}

static cip_status check_sizes(const cip_b2_nd *nd, uint64_t item, cip_err *err)
{
    const uint64_t chunk = box_bytes(nd->ndim, nd->stored, item),
                   block = box_bytes(nd->ndim, nd->block, item);
    for (int32_t k = 0; k < nd->ndim; k++)
        if (nd->block[k] > nd->chunk[k])
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected blocks within chunks, found %" PRId64 " and %" PRId64
                            " along axis %d",
                            nd->block[k], nd->chunk[k], (int)k);
    if (chunk > CIP_BLOSC_MAX_NBYTES || block > CIP_BLOSC_MAX_BLOCKSIZE)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected chunks of at most %d bytes and blocks of at most %d, found "
                        "%" PRIu64 " and %" PRIu64,
                        CIP_BLOSC_MAX_NBYTES, CIP_BLOSC_MAX_BLOCKSIZE, chunk, block);
    return CIP_OK;
}

/* The index is one Blosc chunk, too. */
static cip_status count_chunks(cip_b2_how *how, cip_err *err)
{
    if (how->nchunk > CIP_BLOSC_MAX_NBYTES / 8)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d chunks, found %" PRIu64 "; larger ones are fewer",
                        CIP_BLOSC_MAX_NBYTES / 8, how->nchunk);
    return CIP_OK;
}

/* Those of the array that it comes from; a frame of nothing may have none yet. */
static void set_shapes_like(const cip_spec *spec, cip_b2_nd *nd)
{
    const cip_array *source = spec->array[0].source;
    const cip_b2_frame *frame = cip_b2_frame_of(spec);
    const cip_grid *g = source != NULL ? cip_chunk_grid(source) : NULL;
    if (g == NULL || !g->blocked || g->block == NULL || g->ndim != nd->ndim ||
        (frame != NULL && frame->nd.unset))
        return;
    memcpy(nd->chunk, g->chunk, (size_t)nd->ndim * sizeof *nd->chunk);
    memcpy(nd->block, g->block, (size_t)nd->ndim * sizeof *nd->block);
}

/* Along an axis: zfp takes none that is shorter. */
static int64_t shortest_block(const cip_b2_how *how)
{
    return is_zfp(&how->blosc) ? 4 : 1;
}

static cip_status choose_nd(const cip_spec *spec, const cip_dtype *d, cip_arena *arena,
                            cip_b2_how *how, cip_err *err)
{
    const cip_spec_array *a = &spec->array[0];
    cip_b2_nd *nd = &how->nd;
    char *text;
    *nd = (cip_b2_nd){ .ndim = a->ndim, .item = d->itemsize, .has_dtype = true };
    for (int32_t k = 0; k < a->ndim; k++)
        nd->shape[k] = a->shape[k];
    CIP_TRY(take_lengths(spec, OPTION_CHUNKS, nd->ndim, nd->chunk, err));
    CIP_TRY(take_lengths(spec, OPTION_BLOCKS, nd->ndim, nd->block, err));
    if (nd->ndim != 0 && nd->chunk[0] == 0 && nd->block[0] == 0)
        set_shapes_like(spec, nd);
    cip_b2_choose_shapes(nd, d->itemsize, shortest_block(how));
    CIP_TRY(cip_b2_nd_derive(nd, err));
    CIP_TRY(check_sizes(nd, d->itemsize, err));
    CIP_TRY(cip_dtype_numpy(arena, d, &text, err));
    nd->dtype = (cip_bytes){ (const uint8_t *)text, strlen(text) };
    how->chunk_size = box_bytes(nd->ndim, nd->stored, d->itemsize);
    how->block_size = box_bytes(nd->ndim, nd->block, d->itemsize);
    how->blosc.blocksize = (uint32_t)how->block_size;
    how->blosc.ndim = nd->ndim;
    how->blosc.block = nd->block;
    how->nchunk = nd->nchunk;
    CIP_TRY(count_chunks(how, err));
    how->nbytes = how->nchunk * how->chunk_size; /* both below 2^31 */
    return CIP_OK;
}

/* All items in one chunk, with blocks that the codec chooses if nobody else does. */
static cip_status choose_bare(const cip_spec *spec, const cip_dtype *d, cip_b2_how *how,
                              cip_err *err)
{
    int64_t block[1] = { 0 };
    how->nbytes = (uint64_t)spec->array[0].shape[0] * d->itemsize;
    if (given(spec, OPTION_CHUNKS) != NULL || given(spec, OPTION_SPARSE) != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected no chunks and no folder for a file that is one chunk");
    if (how->nbytes > CIP_BLOSC_MAX_NBYTES)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d bytes for one chunk, found %" PRIu64
                        "; a .b2frame or .b2nd file holds more",
                        CIP_BLOSC_MAX_NBYTES, how->nbytes);
    CIP_TRY(take_lengths(spec, OPTION_BLOCKS, 1, block, err));
    if ((uint64_t)block[0] * d->itemsize > cip_max_u64(d->itemsize, how->nbytes))
        return bad_option(spec, OPTION_BLOCKS, "blocks within the chunk", err);
    how->blosc.blocksize = (uint32_t)((uint64_t)block[0] * d->itemsize);
    how->chunk_size = cip_max_u64(how->nbytes, d->itemsize);
    how->nchunk = how->nbytes != 0;
    return CIP_OK;
}

/* Chunks of items, and blocks that the codec chooses if nobody else does. */
static cip_status choose_plain(const cip_spec *spec, const cip_dtype *d, cip_b2_how *how,
                               cip_err *err)
{
    const cip_form_step step = { .codec = &cip_codec_blosc, .args = &how->blosc };
    cip_b2_nd list = { .ndim = 1, .shape = { spec->array[0].shape[0] } };
    int64_t block[1] = { 0 };
    CIP_TRY(take_lengths(spec, OPTION_CHUNKS, 1, list.chunk, err));
    CIP_TRY(take_lengths(spec, OPTION_BLOCKS, 1, block, err));
    if (list.chunk[0] == 0 && block[0] == 0 && how->takes && spec->array[0].source != NULL)
        list.chunk[0] =
            (int64_t)(cip_chunk_nbytes_taken(spec->array[0].source, &step) / d->itemsize);
    list.block[0] = block[0];
    cip_b2_choose_shapes(&list, d->itemsize, 1);
    list.stored[0] = list.chunk[0];
    CIP_TRY(check_sizes(&list, d->itemsize, err));
    how->chunk_size = box_bytes(1, list.chunk, d->itemsize);
    how->blosc.blocksize = (uint32_t)(block[0] * (int64_t)d->itemsize);
    how->nbytes = (uint64_t)list.shape[0] * d->itemsize;
    how->nchunk = cip_div_up(how->nbytes, how->chunk_size);
    return count_chunks(how, err);
}

/* Once the shape of blocks is known. Where nothing else is asked for, ndlz stays if it takes them;
 * zfp does not, as it would change the values once more. */
static cip_status settle_codec(const cip_spec *spec, cip_b2_how *how, cip_err *err)
{
    const cip_b2_frame *like = cip_b2_frame_of(spec);
    cip_blosc_spec same = how->blosc;
    if (how->takes && like != NULL && like->h.codec == CIP_B2_USER_CODEC) {
        set_like(&like->h, &same);
        if (same.compcode == CIP_BLOSC_NDLZ && try_spec(spec, &same, NULL) == CIP_OK)
            how->blosc = same;
        if (is_zfp(&same) && spec->notes != NULL)
            cip_report_add(spec->notes, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, NULL,
                           "%s changes values and is not applied again: chunks that are encoded "
                           "anew have %s",
                           cip_blosc_codec_name(same.compcode),
                           cip_blosc_codec_name(how->blosc.compcode));
    }
    return try_spec(spec, &how->blosc, err);
}

cip_status cip_b2_how_reshape(cip_b2_how *how, const int64_t *shape, uint64_t item, cip_err *err)
{
    if (how->plain) {
        how->nbytes = (uint64_t)shape[0] * item;
        how->nchunk = cip_div_up(how->nbytes, how->chunk_size);
        return count_chunks(how, err);
    }
    memcpy(how->nd.shape, shape, (size_t)how->nd.ndim * sizeof *shape);
    CIP_TRY(cip_b2_nd_derive(&how->nd, err));
    how->nchunk = how->nd.nchunk;
    CIP_TRY(count_chunks(how, err));
    how->nbytes = how->nchunk * how->chunk_size;
    return CIP_OK;
}

/* A list of items whose chunks have no length yet gets those of a new one. */
static void take_list(const cip_b2_frame *f, const cip_array *a, cip_b2_how *how)
{
    const uint64_t item = a->view.itemsize;
    cip_b2_nd list = { .ndim = 1, .shape = { 0 } };
    how->chunk_size = f->h.chunksize;
    how->blosc.blocksize = (uint32_t)f->h.blocksize;
    if (how->chunk_size == 0) {
        cip_b2_choose_shapes(&list, item, 1);
        how->chunk_size = box_bytes(1, list.chunk, item);
    }
}

static cip_status take_nd(const cip_b2_frame *f, cip_b2_how *how, cip_err *err)
{
    cip_b2_nd *nd = &how->nd;
    *nd = f->nd;
    if (nd->unset) {
        memset(nd->chunk, 0, sizeof nd->chunk);
        memset(nd->block, 0, sizeof nd->block);
        cip_b2_choose_shapes(nd, nd->item, shortest_block(how));
        CIP_TRY(cip_b2_nd_derive(nd, err));
    }
    how->chunk_size = box_bytes(nd->ndim, nd->stored, nd->item);
    how->block_size = box_bytes(nd->ndim, nd->block, nd->item);
    how->blosc.blocksize = (uint32_t)how->block_size;
    how->blosc.ndim = nd->ndim;
    how->blosc.block = nd->block;
    return CIP_OK;
}

cip_status cip_b2_choose_again(const cip_spec *spec, const cip_b2_frame *f, cip_b2_how *out,
                               cip_err *err)
{
    static const size_t fixed[] = { OPTION_CHUNKS, OPTION_BLOCKS, OPTION_SPARSE };
    const cip_array *a = spec->array[0].source;
    *out = (cip_b2_how){ .plain = f->nd_meta == NULL, .sparse = f->h.sparse };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (given(spec, fixed[i]) != NULL)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected no option %s: an update leaves it as it is",
                            cip_b2_options[fixed[i]].key);
    CIP_TRY(choose_codec(spec, a->dtype, out, err));
    out->blosc.typesize = (uint32_t)f->h.typesize;
    out->takes = out->takes && f->h.typesize == a->view.itemsize;
    out->nbytes = f->h.nbytes;
    if (out->plain)
        take_list(f, a, out);
    else
        CIP_TRY(take_nd(f, out, err));
    return settle_codec(spec, out, err);
}

cip_status cip_b2_choose(const cip_spec *spec, const cip_dtype *d, cip_arena *arena,
                         cip_b2_how *out, cip_err *err)
{
    uint64_t nbytes;
    *out = (cip_b2_how){ .plain = spec->kind != NULL };
    if (d->itemsize == 0 || d->itemsize > CIP_BLOSC_MAX_BLOCKSIZE)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected elements of 1 to %d bytes, found %" PRIu64,
                        CIP_BLOSC_MAX_BLOCKSIZE, d->itemsize);
    CIP_TRY(take_sparse(spec, &out->sparse, err));
    CIP_TRY(cip_spec_array_nbytes(&spec->array[0], d, &nbytes, err));
    CIP_TRY(choose_codec(spec, d, out, err));
    if (cip_b2_is_bare(spec))
        CIP_TRY(choose_bare(spec, d, out, err));
    else
        CIP_TRY(out->plain ? choose_plain(spec, d, out, err) : choose_nd(spec, d, arena, out, err));
    out->bare = cip_b2_is_bare(spec);
    return settle_codec(spec, out, err);
}

/* --- what is lost ----------------------------------------------------------------------------- */

static void tell(cip_report *loss, cip_severity how, const cip_spec_array *a, const char *text)
{
    cip_report_add(loss, how, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path, "%s", text);
}

static bool is_bytes(const cip_dtype *d)
{
    return d->kind == CIP_U8 || d->kind == CIP_OPAQUE;
}

void cip_b2_check_array(const cip_spec *spec, const cip_spec_array *a, cip_report *loss)
{
    const char *filter = given(spec, OPTION_FILTER);
    cip_blosc_spec b = { .compcode = CIP_BLOSC_BLOSCLZ };
    if (a->masked)
        tell(loss, CIP_WARN, a, "the mask is lost: Blosc2 frames have none");
    if (a->dtype->itemsize == 0)
        tell(loss, CIP_BAD, a, "elements of no bytes cannot be written");
    const bool bare = cip_b2_is_bare(spec);
    if (bare && a->ndim != 1)
        tell(loss, CIP_BAD, a, "a chunk has one axis; a .b2nd file has any");
    if (bare && a->dtype->kind != CIP_U8)
        tell(loss, CIP_WARN, a, "the type is lost: a chunk is bytes to who reads it");
    if (!bare && spec->kind != NULL && a->ndim != 1)
        tell(loss, CIP_BAD, a, "a plain frame has one axis; a .b2nd file has any");
    if (!bare && spec->kind != NULL && !is_bytes(a->dtype))
        tell(loss, CIP_WARN, a,
             "the type is lost: a plain frame says nothing but the size of its items");
    if (a->ndim > CIP_B2_MAX_NDIM)
        tell(loss, CIP_BAD, a, "a Blosc2 array has at most 16 axes");
    if (filter != NULL)
        (void)cip_blosc_filters_parse(filter, b.filter, b.filter_meta, NULL);
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++)
        if (cip_blosc_filter_is_lossy(b.filter[i]))
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the filter %s loses bits of the elements",
                           cip_blosc_filter_name(b.filter[i]));
    if (cip_blosc_take_codec(spec, a, &b, NULL) == CIP_OK && is_zfp(&b))
        tell(loss, CIP_WARN, a, "the codec zfp loses bits of the elements");
}
