/* SPDX-License-Identifier: BSD-3-Clause
 * Moving bytes: strided copies and byte swaps. The loops are plain so that compilers vectorise
 * them; swaps of 2 and 4 bytes work on the lanes of 64-bit words, which any machine does well. */
#include "array/cast_kernels.h"

#include "base/cpu.h"

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
    memcpy(&v, src + i, nbytes - i);
    v = lanes(v);
    memcpy(dst + i, &v, nbytes - i);
}

static inline void swap_block(size_t nbytes, const uint8_t *src, uint8_t *dst, unsigned swap)
{
    if (swap == 2)
        swap_bytes(nbytes, src, dst, swap_in_2);
    else if (swap == 4)
        swap_bytes(nbytes, src, dst, swap_in_4);
    else
        swap_bytes(nbytes, src, dst, swap_in_8);
}

static void swap_all(size_t nbytes, const uint8_t *src, uint8_t *dst, unsigned swap)
{
    size_t done = 0;
#if CIP_CPU_HAS_AVX
    if (cip_cpu() >= CIP_CPU_AVX2)
        done = cip_swap_avx2(swap, src, dst, nbytes);
#endif
    if (src == dst) /* said to the compiler, which makes vectors only of what does not overlap */
        swap_block(nbytes - done, dst + done, dst + done, swap);
    else
        swap_block(nbytes - done, src + done, dst + done, swap);
}

/* `size` is a constant wherever it matters: the call is inlined. The run is taken by value here and
 * below, so that the compiler need not fear that the bytes written are those of the run. */
static inline void copy_strided(cip_run r, size_t size)
{
    for (size_t i = 0; i < r.n; i++) {
        memcpy(r.dst, r.src, size);
        r.src += r.src_stride;
        r.dst += r.dst_stride;
    }
}

static void copy_elements(cip_run r, size_t size)
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

static inline void swap_strided(cip_run r, size_t size, unsigned swap)
{
    for (size_t i = 0; i < r.n; i++) {
        swap_block(size, r.src, r.dst, swap);
        r.src += r.src_stride;
        r.dst += r.dst_stride;
    }
}

static void swap_elements(cip_run r, size_t size, unsigned swap)
{
    if (size == 2)
        swap_strided(r, 2, 2);
    else if (size == 4)
        swap_strided(r, 4, 4);
    else if (size == 8 && swap == 8)
        swap_strided(r, 8, 8);
    else
        swap_strided(r, size, swap);
}

void cip_move(const cip_run *r, size_t size, unsigned swap)
{
    bool packed = r->src_stride == (int64_t)size && r->dst_stride == (int64_t)size;
    if (size == 0 || r->n == 0)
        return;
    if (swap > 1 && packed)
        swap_all(r->n * size, r->src, r->dst, swap);
    else if (swap > 1)
        swap_elements(*r, size, swap);
    else if (r->src == r->dst && r->src_stride == r->dst_stride)
        return;
    else if (packed)
        memcpy(r->dst, r->src, r->n * size);
    else
        copy_elements(*r, size);
}

void cip_cast_bools(cip_run r)
{
    if (r.src_stride == 1 && r.dst_stride == 1) {
        for (size_t i = 0; i < r.n; i++)
            r.dst[i] = r.src[i] != 0;
        return;
    }
    for (size_t i = 0; i < r.n; i++) {
        *r.dst = *r.src != 0;
        r.src += r.src_stride;
        r.dst += r.dst_stride;
    }
}
