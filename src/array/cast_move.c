/* SPDX-License-Identifier: BSD-3-Clause
 * Moving bytes: strided copies and byte swaps. The loops are plain so that compilers vectorise
 * them; swaps of 2 and 4 bytes work on the lanes of 64-bit words, which any machine does well. */
#include "array/cast_kernels.h"

#include "base/endian.h"

static inline uint64_t swap_in_2(uint64_t v)
{
    const uint64_t low = UINT64_C(0x00ff00ff00ff00ff);
    return (v & low) << 8 | (v >> 8 & low);
}

static inline uint64_t swap_in_4(uint64_t v)
{
    const uint64_t low = UINT64_C(0x0000ffff0000ffff);
    v = swap_in_2(v);
    return (v & low) << 16 | (v >> 16 & low);
}

static inline uint64_t swap_in_8(uint64_t v)
{
    return __builtin_bswap64(v);
}

/* Lanes are runs of bytes in memory whatever the host's order, so whole words are taken natively,
 * and the last one may be incomplete. */
static inline void swap_bytes(size_t nbytes, const uint8_t *src, uint8_t *dst,
                              uint64_t (*lanes)(uint64_t))
{
    uint64_t v = 0;
    size_t i = 0;
    for (; i + 8 <= nbytes; i += 8) {
        memcpy(&v, src + i, 8);
        v = lanes(v);
        memcpy(dst + i, &v, 8);
    }
    if (i < nbytes) {
        memcpy(&v, src + i, nbytes - i);
        v = lanes(v);
        memcpy(dst + i, &v, nbytes - i);
    }
}

static void swap_block(size_t nbytes, const uint8_t *src, uint8_t *dst, unsigned swap)
{
    if (swap == 2)
        swap_bytes(nbytes, src, dst, swap_in_2);
    else if (swap == 4)
        swap_bytes(nbytes, src, dst, swap_in_4);
    else
        swap_bytes(nbytes, src, dst, swap_in_8);
}

/* `size` is a constant wherever it matters: the call is inlined. */
static inline void copy_strided(const cip_run *r, size_t size)
{
    const uint8_t *s = r->src;
    uint8_t *d = r->dst;
    for (size_t i = 0; i < r->n; i++) {
        memcpy(d, s, size);
        s += r->src_stride;
        d += r->dst_stride;
    }
}

static void copy_elements(const cip_run *r, size_t size)
{
    switch (size) {
    case 1:
        copy_strided(r, 1);
        break;
    case 2:
        copy_strided(r, 2);
        break;
    case 4:
        copy_strided(r, 4);
        break;
    case 8:
        copy_strided(r, 8);
        break;
    case 16:
        copy_strided(r, 16);
        break;
    default:
        copy_strided(r, size);
        break;
    }
}

static void swap_strided(const cip_run *r, size_t size, unsigned swap)
{
    const uint8_t *s = r->src;
    uint8_t *d = r->dst;
    for (size_t i = 0; i < r->n; i++) {
        swap_block(size, s, d, swap);
        s += r->src_stride;
        d += r->dst_stride;
    }
}

void cip_move(const cip_run *r, size_t size, unsigned swap)
{
    bool packed = r->src_stride == (int64_t)size && r->dst_stride == (int64_t)size;
    if (size == 0 || r->n == 0)
        return;
    if (swap > 1 && packed)
        swap_block(r->n * size, r->src, r->dst, swap);
    else if (swap > 1)
        swap_strided(r, size, swap);
    else if (r->src == r->dst && r->src_stride == r->dst_stride)
        return;
    else if (packed)
        memcpy(r->dst, r->src, r->n * size);
    else
        copy_elements(r, size);
}

void cip_cast_bools(const cip_run *r)
{
    const uint8_t *s = r->src;
    uint8_t *d = r->dst;
    if (r->src_stride == 1 && r->dst_stride == 1) {
        for (size_t i = 0; i < r->n; i++)
            d[i] = s[i] != 0;
        return;
    }
    for (size_t i = 0; i < r->n; i++) {
        *d = *s != 0;
        s += r->src_stride;
        d += r->dst_stride;
    }
}
