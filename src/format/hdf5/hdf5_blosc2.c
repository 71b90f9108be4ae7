/* SPDX-License-Identifier: BSD-3-Clause
 * The filter Blosc2 (32026): each chunk is a contiguous frame, that of a plain chunk or of an n-d
 * array whose blocks lie one behind the other. Frames that are alike are passed over, and the Blosc
 * chunks in them read as those of a grid, of which a window takes just the blocks that it touches;
 * others are undone as a filter. */
#include "base/endian.h"
#include "format/hdf5/hdf5.h"
#include "space/read/read.h"

static cip_status decode_chunk(const cip_codec_env *env, cip_bytes in, uint64_t typesize,
                               uint8_t *dst, size_t n, cip_err *err)
{
    cip_codec_env own = { .mem = env->mem, .zstd = env->zstd, .typesize = typesize };
    cip_blosc_head h;
    CIP_TRY(cip_blosc_head_parse(in, &h, err));
    if (h.cbytes > in.len || h.nbytes != n)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "blosc2: expected a chunk of %zu bytes, found %" PRIu32, n, h.nbytes);
    return cip_codec_blosc.decode(NULL, &own, (cip_bytes){ in.ptr, h.cbytes }, dst, n, err);
}

/* Where the chunk is: the only entry of the index behind it. Its highest bit set: there is none,
 * but a value in its place, of which none is number 0. */
static cip_status find_chunk(const cip_codec_env *env, const cip_b2_header *h, cip_bytes index,
                             uint64_t *at, uint8_t *special, cip_err *err)
{
    uint8_t entry[8];
    CIP_TRY(decode_chunk(env, index, 8, entry, sizeof entry, err));
    *at = cip_load_u64(entry, false);
    *special = (entry[7] & 0x80) != 0 ? entry[7] & 0x7f : 0;
    if (*special == 0 && *at >= h->cbytes)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "blosc2: expected a chunk in the frame");
    return CIP_OK;
}

/* Where the index of a frame of `len` bytes begins. */
static cip_status find_index(const cip_b2_header *h, uint64_t len, uint64_t *index, cip_err *err)
{
    if (cip_add_overflow(h->header_len, h->cbytes, index) || *index > len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "blosc2: expected an index in a frame of %" PRIu64 " bytes", len);
    return CIP_OK;
}

/* Blocks one behind the other, and the same array in C order: `to_rows`, or the other way round.
 * Runs along the last axis. */
static void move_blocks(const cip_b2_nd *nd, uint8_t *blocks, uint8_t *rows, bool to_rows)
{
    const int32_t last = nd->ndim - 1;
    int64_t block[CIP_B2_MAX_NDIM] = { 0 };
    for (;;) {
        int64_t in[CIP_B2_MAX_NDIM] = { 0 };
        for (;;) {
            bool there = true;
            uint64_t row = 0;
            for (int32_t k = 0; k < last; k++) {
                const int64_t i = block[k] * nd->block[k] + in[k];
                there = there && i < nd->chunk[k];
                row = row * (uint64_t)nd->chunk[k] + (uint64_t)i;
            }
            const int64_t first = block[last] * nd->block[last];
            const int64_t n = cip_min_i64(nd->block[last], nd->chunk[last] - first);
            if (there && n > 0) {
                uint8_t *at = rows + (row * (uint64_t)nd->chunk[last] + (uint64_t)first) * nd->item;
                memcpy(to_rows ? at : blocks, to_rows ? blocks : at, (size_t)n * (size_t)nd->item);
            }
            blocks += (uint64_t)nd->block[last] * nd->item;
            int32_t k = last - 1;
            while (k >= 0 && ++in[k] == nd->block[k])
                in[k--] = 0;
            if (k < 0)
                break;
        }
        int32_t k = last;
        while (k >= 0 && ++block[k] * nd->block[k] >= nd->stored[k])
            block[k--] = 0;
        if (k < 0)
            break;
    }
}

/* The n-d array of a frame, which is one chunk of n bytes; *padded: of its blocks. */
static cip_status read_nd(const cip_b2_header *h, const cip_b2_meta *meta, uint64_t n,
                          cip_b2_nd *nd, uint64_t *padded, cip_err *err)
{
    uint64_t whole;
    CIP_TRY(cip_b2_nd_read(meta->value, nd, err));
    CIP_TRY(cip_b2_nd_derive(nd, err));
    nd->item = h->typesize;
    if (nd->ndim < 1 || nd->nchunk != 1 || !cip_same_lengths(nd->ndim, nd->shape, nd->chunk) ||
        !cip_shape_nelem(nd->ndim, nd->chunk, &whole) ||
        cip_mul_overflow(whole, nd->item, &whole) ||
        !cip_shape_nelem(nd->ndim, nd->stored, padded) ||
        cip_mul_overflow(*padded, nd->item, padded) || whole != n || *padded > h->nbytes)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "blosc2: expected an array of one chunk of %" PRIu64 " bytes", n);
    return CIP_OK;
}

static cip_status undo_nd(const cip_b2_header *h, const cip_b2_meta *meta, const cip_codec_env *env,
                          cip_bytes chunk, uint8_t *dst, size_t n, cip_err *err)
{
    cip_b2_nd nd;
    uint64_t padded;
    uint8_t *blocks = NULL;
    CIP_TRY(read_nd(h, meta, n, &nd, &padded, err));
    CIP_TRY(cip_mem_get(env->mem, (size_t)padded, (void **)&blocks, err));
    cip_status st = decode_chunk(env, chunk, h->typesize, blocks, (size_t)padded, err);
    if (st == CIP_OK)
        move_blocks(&nd, blocks, dst, true);
    cip_mem_put(env->mem, blocks);
    return st;
}

cip_status cip_h5_blosc2(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                         uint8_t *dst, size_t n, cip_err *err)
{
    cip_arena arena = { .mem = env->mem };
    cip_b2_header h;
    cip_b2_metas metas = { .n = 0 };
    uint64_t at, index;
    uint8_t special;
    cip_status st;
    (void)f;
    CIP_TRY(cip_b2_header_read(src, src.len, &h, err));
    if (h.header_len > src.len || h.sparse)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "blosc2: expected a contiguous frame of %zu bytes", src.len);
    CIP_GO(cip_b2_header_metas((cip_bytes){ src.ptr, (size_t)h.header_len }, &arena, &metas, err));
    CIP_GO(find_index(&h, src.len, &index, err));
    CIP_GO(find_chunk(env, &h, (cip_bytes){ src.ptr + index, src.len - (size_t)index }, &at,
                      &special, err));
    if (special == 1 || special == 4) { /* zeros, or nothing was written */
        memset(dst, 0, n);
    } else if (special != 0) {
        st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                      "blosc2: a chunk of the special value %u is not read", special);
    } else {
        at += h.header_len;
        const cip_bytes chunk = { src.ptr + at, src.len - (size_t)at };
        const cip_b2_meta *nd = cip_b2_meta_nd(&metas);
        st = nd != NULL ? undo_nd(&h, nd, env, chunk, dst, n, err)
                        : decode_chunk(env, chunk, h.typesize, dst, n, err);
    }
done:
    cip_arena_clear(&arena);
    return st;
}

/* --- chunks where they lie in their frames ---------------------------------------------------- */

enum {
    FRONT = 4096, /* of a frame that is read at once: its header and the head of its chunk */
    REST = 512    /* behind its chunk: more than the index of one chunk takes */
};

/* A frame as far as it was read. */
typedef struct frame {
    cip_b2_header h;
    uint8_t front[FRONT];
    size_t n; /* bytes of it */
} frame;

static bool read_frame(const cip_h5_dataset *d, const cip_extent *at, frame *x)
{
    const cip_read_how how = { d->f->layout, NULL };
    x->n = (size_t)cip_min_u64(at->len, FRONT);
    return cip_space_read_at(&how, at->in, at->off, x->front, x->n, NULL) == CIP_OK &&
           cip_b2_header_read((cip_bytes){ x->front, x->n }, at->len, &x->h, NULL) == CIP_OK &&
           !x->h.sparse && x->h.header_len < x->n;
}

bool cip_h5_frames_find(const cip_h5_dataset *d, const cip_extent *at, cip_h5_frames *out)
{
    cip_layout *l = d->f->layout;
    cip_arena arena = { .mem = &l->env->mem };
    cip_b2_metas metas = { .n = 0 };
    frame x;
    if (!read_frame(d, at, &x) || x.h.typesize != d->itemsize)
        return false;
    *out = (cip_h5_frames){ .nbytes = d->chunk_nbytes };
    const size_t n = (size_t)x.h.header_len;
    bool found = cip_b2_header_metas((cip_bytes){ x.front, n }, &arena, &metas, NULL) == CIP_OK;
    const cip_b2_meta *nd = found ? cip_b2_meta_nd(&metas) : NULL;
    if (nd != NULL)
        found = read_nd(&x.h, nd, d->chunk_nbytes, &out->nd, &out->nbytes, NULL) == CIP_OK &&
                out->nd.ndim == d->shape.rank &&
                cip_same_lengths(out->nd.ndim, out->nd.chunk, d->chunk);
    cip_arena_clear(&arena);
    out->nd.dtype = (cip_bytes){ NULL, 0 };
    char *meta;
    pthread_mutex_lock(&l->lock);
    found = found && cip_arena_copy(&l->arena, x.front + CIP_B2_HEADER_MIN, n - CIP_B2_HEADER_MIN,
                                    &meta, NULL) == CIP_OK;
    pthread_mutex_unlock(&l->lock);
    if (found)
        out->meta = (cip_bytes){ (const uint8_t *)meta, n - CIP_B2_HEADER_MIN };
    return found;
}

bool cip_h5_frames_look(const cip_h5_dataset *d, const cip_h5_frames *f, cip_extent *at,
                        cip_chunk_head *head)
{
    const cip_read_how how = { d->f->layout, NULL };
    const cip_codec_env env = { .mem = &d->f->layout->env->mem, .zstd = &d->f->layout->env->zstd };
    frame x;
    cip_blosc_head chunk;
    uint8_t rest[REST], special;
    uint64_t index, where;
    if (!read_frame(d, at, &x) || x.h.typesize != d->itemsize ||
        x.h.header_len != CIP_B2_HEADER_MIN + f->meta.len ||
        memcmp(x.front + CIP_B2_HEADER_MIN, f->meta.ptr, f->meta.len) != 0)
        return false;
    const size_t front = (size_t)x.h.header_len, there = x.n - front;
    if (cip_blosc_head_parse((cip_bytes){ x.front + front, there }, &chunk, NULL) != CIP_OK ||
        chunk.nbytes != f->nbytes || chunk.cbytes > x.h.cbytes ||
        find_index(&x.h, at->len, &index, NULL) != CIP_OK)
        return false;
    const size_t n = (size_t)cip_min_u64(at->len - index, REST);
    if (cip_space_read_at(&how, at->in, at->off + index, rest, n, NULL) != CIP_OK ||
        find_chunk(&env, &x.h, (cip_bytes){ rest, n }, &where, &special, NULL) != CIP_OK ||
        special != 0 || where != 0)
        return false;
    head->len = (size_t)cip_min_u64(cip_min_u64(there, chunk.cbytes), head->cap);
    if (head->len != 0)
        memcpy(head->ptr, x.front + front, head->len);
    *at = (cip_extent){ at->in, at->off + front, chunk.cbytes };
    return true;
}

static cip_status decode_blocked(const void *args, const cip_codec_env *env, cip_bytes src,
                                 uint8_t *dst, size_t n, cip_err *err)
{
    const cip_h5_blocked *b = args;
    uint8_t *rows = NULL;
    uint64_t len = b->nd->item;
    for (int32_t k = 0; k < b->nd->ndim; k++) /* fits, as the padded chunk does */
        len *= (uint64_t)b->nd->chunk[k];
    CIP_TRY(cip_mem_get(env->mem, (size_t)len, (void **)&rows, err));
    cip_status st = CIP_OK;
    if (b->pipeline != NULL)
        st = cip_h5_codec.decode(b->pipeline, env, src, rows, (size_t)len, err);
    else if (src.len == len)
        memcpy(rows, src.ptr, src.len);
    else
        st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                      "expected %" PRIu64 " bytes in a chunk without its filter, found %zu", len,
                      src.len);
    if (st == CIP_OK) {
        memset(dst, 0, n);
        move_blocks(b->nd, dst, rows, false);
    }
    cip_mem_put(env->mem, rows);
    return st;
}

const cip_codec cip_h5_blocked_codec = { .name = "hdf5", .decode = decode_blocked };
