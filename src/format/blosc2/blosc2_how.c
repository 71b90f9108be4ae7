/* SPDX-License-Identifier: BSD-3-Clause
 * How a frame is to be stored: chunks and blocks from what was asked for, else as the array has
 * them that it comes from, else by default. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "format/blosc2/blosc2_how.h"
#include "space/make/chunk_move.h"

/* "64,64": as many lengths as there are axes, each at least 1; *out stays where none are given. */
static cip_status take_lengths(const cip_spec *spec, size_t option, int32_t ndim, int64_t *out,
                               cip_err *err)
{
    const char *text = cip_b2_given(spec, option);
    char *end = (char *)text;
    for (int32_t k = 0; text != NULL && k < ndim; k++) {
        const long long n = *end >= '0' && *end <= '9' ? strtoll(end, &end, 10) : 0;
        if (n < 1 || n > INT32_MAX || *end != (k == ndim - 1 ? '\0' : ','))
            return cip_b2_bad_option(spec, option, "a length of 1 to 2^31 - 1 for each axis", err);
        out[k] = n;
        end += *end == ',';
    }
    return text == NULL || ndim != 0 || *text == '\0'
               ? CIP_OK
               : cip_b2_bad_option(spec, option, "no lengths, because the array has no axes,", err);
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
                        "expected at most %d chunks, found %" PRIu64 "; use larger chunks",
                        CIP_BLOSC_MAX_NBYTES / 8, how->nchunk);
    return CIP_OK;
}

/* Along an axis: zfp takes none that is shorter. */
static int64_t shortest_block(const cip_b2_how *how)
{
    return cip_b2_is_zfp(&how->blosc) ? 4 : 1;
}

/* Blocks of so many items that are runs of a chunk in C order; false: there are none, or the chunk
 * is longer than the array. */
static bool run_blocks(const cip_grid *g, uint64_t items, int64_t *block)
{
    for (int32_t k = g->ndim - 1; k >= 0; k--) {
        const uint64_t side = (uint64_t)g->chunk[k];
        const bool all = items % side == 0;
        if ((!all && side % items != 0) || g->chunk[k] > g->shape[k])
            return false;
        block[k] = (int64_t)(all ? side : items);
        items = all ? items / side : 1;
    }
    return items == 1;
}

/* Of Blosc chunks that have no blocks of many axes, as Zarr has them: those whose blocks are blocks
 * of items, too, are taken as they are, under another header. */
static void like_chunks(const cip_array *source, const cip_grid *g, uint64_t item, cip_b2_how *how)
{
    uint8_t head[CIP_CODER_HEAD];
    int64_t block[CIP_MAX_NDIM];
    cip_blosc_spec b = how->blosc;
    cip_blosc_head h;
    size_t n;
    if (!how->takes || g->ndim == 0 || !cip_grid_is_in_order(g) ||
        !cip_chunk_first_head(source, &cip_codec_blosc, head, &n) ||
        cip_blosc_head_parse((cip_bytes){ head, n }, &h, NULL) != CIP_OK ||
        h.nbytes != box_bytes(g->ndim, g->chunk, item) || h.nbytes == 0)
        return;
    b.recast = true;
    b.blocksize = h.blocksize;
    b.compcode = h.compcode;
    memcpy(b.filter, h.filter, sizeof b.filter);
    memcpy(b.filter_meta, h.filter_meta, sizeof b.filter_meta);
    if (h.blocksize % item != 0 || !run_blocks(g, h.blocksize / item, block) ||
        !cip_codec_blosc.takes(&b, (cip_bytes){ head, n }, h.cbytes, h.nbytes))
        return;
    how->blosc = b;
    memcpy(how->nd.chunk, g->chunk, (size_t)g->ndim * sizeof *g->chunk);
    memcpy(how->nd.block, block, (size_t)g->ndim * sizeof *block);
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
    CIP_TRY(take_lengths(spec, CIP_B2_OPTION_CHUNKS, nd->ndim, nd->chunk, err));
    CIP_TRY(take_lengths(spec, CIP_B2_OPTION_BLOCKS, nd->ndim, nd->block, err));
    if (nd->ndim != 0 && nd->chunk[0] == 0 && nd->block[0] == 0) {
        /* Those of the array that it comes from; a frame of nothing may have none yet. */
        const cip_array *source = spec->array[0].source;
        const cip_b2_frame *frame = cip_b2_frame_of(spec);
        const cip_grid *g = source != NULL ? cip_chunk_grid(source) : NULL;
        if (g != NULL && g->blocked && g->block != NULL && g->ndim == nd->ndim &&
            (frame == NULL || !frame->nd.unset)) {
            memcpy(nd->chunk, g->chunk, (size_t)nd->ndim * sizeof *nd->chunk);
            memcpy(nd->block, g->block, (size_t)nd->ndim * sizeof *nd->block);
        } else if (g != NULL && !g->blocked && g->ndim == nd->ndim) {
            like_chunks(source, g, d->itemsize, how);
        }
    }
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
    if (cip_b2_given(spec, CIP_B2_OPTION_CHUNKS) != NULL ||
        cip_b2_given(spec, CIP_B2_OPTION_SPARSE) != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected no chunks and no folder for a file of one chunk");
    if (how->nbytes > CIP_BLOSC_MAX_NBYTES)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d bytes for one chunk, found %" PRIu64
                        "; a .b2frame or .b2nd file holds more",
                        CIP_BLOSC_MAX_NBYTES, how->nbytes);
    CIP_TRY(take_lengths(spec, CIP_B2_OPTION_BLOCKS, 1, block, err));
    if ((uint64_t)block[0] * d->itemsize > cip_max_u64(d->itemsize, how->nbytes))
        return cip_b2_bad_option(spec, CIP_B2_OPTION_BLOCKS, "blocks no larger than the chunk",
                                 err);
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
    CIP_TRY(take_lengths(spec, CIP_B2_OPTION_CHUNKS, 1, list.chunk, err));
    CIP_TRY(take_lengths(spec, CIP_B2_OPTION_BLOCKS, 1, block, err));
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
    static const size_t fixed[] = { CIP_B2_OPTION_CHUNKS, CIP_B2_OPTION_BLOCKS,
                                    CIP_B2_OPTION_SPARSE };
    const cip_array *a = spec->array[0].source;
    *out = (cip_b2_how){ .plain = f->nd_meta == NULL, .sparse = f->h.sparse };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (cip_b2_given(spec, fixed[i]) != NULL)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the option %s cannot be changed by an update",
                            cip_b2_options[fixed[i]].key);
    CIP_TRY(cip_b2_choose_codec(spec, a->dtype, out, err));
    out->blosc.typesize = (uint32_t)f->h.typesize;
    out->takes = out->takes && f->h.typesize == a->view.itemsize;
    out->nbytes = f->h.nbytes;
    if (out->plain) {
        /* A list of items whose chunks have no length yet gets those of a new one. */
        const uint64_t item = a->view.itemsize;
        cip_b2_nd list = { .ndim = 1, .shape = { 0 } };
        out->chunk_size = f->h.chunksize;
        out->blosc.blocksize = (uint32_t)f->h.blocksize;
        if (out->chunk_size == 0) {
            cip_b2_choose_shapes(&list, item, 1);
            out->chunk_size = box_bytes(1, list.chunk, item);
        }
    } else
        CIP_TRY(take_nd(f, out, err));
    return cip_b2_settle_codec(spec, out, err);
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
    CIP_TRY(cip_b2_take_sparse(spec, &out->sparse, err));
    CIP_TRY(cip_spec_array_nbytes(&spec->array[0], d, &nbytes, err));
    CIP_TRY(cip_b2_choose_codec(spec, d, out, err));
    if (cip_b2_is_bare(spec))
        CIP_TRY(choose_bare(spec, d, out, err));
    else
        CIP_TRY(out->plain ? choose_plain(spec, d, out, err) : choose_nd(spec, d, arena, out, err));
    out->bare = cip_b2_is_bare(spec);
    return cip_b2_settle_codec(spec, out, err);
}
