/* SPDX-License-Identifier: BSD-3-Clause
 * The filter Blosc2 (32026): each chunk is a contiguous frame, that of a plain chunk or of an n-d
 * array whose blocks lie one behind the other. */
#include "base/endian.h"
#include "format/blosc2/blosc2.h"
#include "format/hdf5/hdf5.h"

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
 * but a value in its place. */
static cip_status find_chunk(const cip_codec_env *env, const cip_b2_header *h, cip_bytes src,
                             uint64_t *at, uint8_t *special, cip_err *err)
{
    uint8_t entry[8];
    uint64_t index;
    if (cip_add_overflow(h->header_len, h->cbytes, &index) || index > src.len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "blosc2: expected an index in a frame of %zu bytes", src.len);
    CIP_TRY(decode_chunk(env, (cip_bytes){ src.ptr + index, src.len - (size_t)index }, 8, entry,
                         sizeof entry, err));
    *at = cip_load_u64(entry, false);
    *special = (entry[7] & 0x80) != 0 ? entry[7] & 0x7f : 0;
    if ((entry[7] & 0x80) != 0)
        return CIP_OK;
    if (cip_add_overflow(*at, h->header_len, at) || *at >= index)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "blosc2: expected a chunk in the frame");
    return CIP_OK;
}

/* Blocks one behind the other to an array in C order: runs along the last axis. */
static void unblock(const cip_b2_nd *nd, const uint8_t *from, uint8_t *dst)
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
            if (there && n > 0)
                memcpy(dst + (row * (uint64_t)nd->chunk[last] + (uint64_t)first) * nd->item, from,
                       (size_t)n * (size_t)nd->item);
            from += (uint64_t)nd->block[last] * nd->item;
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

static cip_status undo_nd(const cip_b2_header *h, const cip_b2_meta *meta, const cip_codec_env *env,
                          cip_bytes chunk, uint8_t *dst, size_t n, cip_err *err)
{
    cip_b2_nd nd;
    uint64_t whole, padded;
    uint8_t *blocks = NULL;
    CIP_TRY(cip_b2_nd_read(meta->value, &nd, err));
    CIP_TRY(cip_b2_nd_derive(&nd, err));
    nd.item = h->typesize;
    if (nd.ndim < 1 || nd.nchunk != 1 || !cip_same_lengths(nd.ndim, nd.shape, nd.chunk) ||
        !cip_shape_nelem(nd.ndim, nd.chunk, &whole) || cip_mul_overflow(whole, nd.item, &whole) ||
        !cip_shape_nelem(nd.ndim, nd.stored, &padded) ||
        cip_mul_overflow(padded, nd.item, &padded) || whole != n || padded > h->nbytes)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "blosc2: expected an array of one chunk of %zu bytes", n);
    CIP_TRY(cip_mem_get(env->mem, (size_t)padded, (void **)&blocks, err));
    cip_status st = decode_chunk(env, chunk, h->typesize, blocks, (size_t)padded, err);
    if (st == CIP_OK)
        unblock(&nd, blocks, dst);
    cip_mem_put(env->mem, blocks);
    return st;
}

cip_status cip_h5_blosc2(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                         uint8_t *dst, size_t n, cip_err *err)
{
    cip_arena arena = { .mem = env->mem };
    cip_b2_header h;
    cip_b2_metas metas = { .n = 0 };
    uint64_t at;
    uint8_t special;
    cip_status st;
    (void)f;
    CIP_TRY(cip_b2_header_read(src, src.len, &h, err));
    if (h.header_len > src.len || h.sparse)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "blosc2: expected a contiguous frame of %zu bytes", src.len);
    CIP_GO(cip_b2_header_metas((cip_bytes){ src.ptr, (size_t)h.header_len }, &arena, &metas, err));
    CIP_GO(find_chunk(env, &h, src, &at, &special, err));
    if (special == 1 || special == 4) { /* zeros, or nothing was written */
        memset(dst, 0, n);
    } else if (special != 0) {
        st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                      "blosc2: a chunk of the special value %u is not read", special);
    } else {
        const cip_bytes chunk = { src.ptr + at, src.len - (size_t)at };
        const cip_b2_meta *nd = cip_b2_meta_nd(&metas);
        st = nd != NULL ? undo_nd(&h, nd, env, chunk, dst, n, err)
                        : decode_chunk(env, chunk, h.typesize, dst, n, err);
    }
done:
    cip_arena_clear(&arena);
    return st;
}
