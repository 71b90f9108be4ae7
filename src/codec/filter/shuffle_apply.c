/* SPDX-License-Identifier: BSD-3-Clause
 * Shuffle and bitshuffle, forward, in plain C: loops of a constant width that compilers make vector
 * code of, for the usual widths. */
#include <string.h>

#include "base/endian.h"
#include "codec/filter/apply.h"

#define INLINE static inline __attribute__((always_inline))

/* --- bytes ----------------------------------------------------------------------------------- */

enum {
    TILE = 256,   /* elements whose bytes stay in the nearest cache while planes are written */
    AHEAD = 4096, /* bytes: what comes so much later is on its way from memory meanwhile */
    LINE = 64
};

/* A tile is gone over once for each plane, which keeps processors from seeing the run that it is a
 * part of: without being asked for, its bytes come a third more slowly.
 */
INLINE void to_planes(size_t width, const uint8_t *src, uint8_t *dst, size_t nelem)
{
    for (size_t at = 0; at < nelem; at += TILE) {
        size_t end = nelem - at < TILE ? nelem : at + TILE;
        if ((nelem - end) * width >= AHEAD)
            for (size_t k = 0; k < TILE * width; k += LINE)
                __builtin_prefetch(src + at * width + AHEAD + k);
        for (size_t j = 0; j < width; j++)
            for (size_t i = at; i < end; i++)
                dst[j * nelem + i] = src[i * width + j];
    }
}

void cip_shuffle_apply(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t nelem = n / width, done = nelem * width;
    switch (width) {
    case 1:
        memcpy(dst, src, n);
        return;
    case 2:
        to_planes(2, src, dst, nelem);
        break;
    case 4:
        to_planes(4, src, dst, nelem);
        break;
    case 8:
        to_planes(8, src, dst, nelem);
        break;
    case 16:
        to_planes(16, src, dst, nelem);
        break;
    default:
        to_planes(width, src, dst, nelem);
        break;
    }
    memcpy(dst + done, src + done, n - done);
}

/* --- bits ------------------------------------------------------------------------------------ */

enum { GROUP = 64 }; /* elements of which a row's eight bytes come */

/* Bits of `mask` of a, `shift` places further up, against those of b. */
INLINE void exchange(uint64_t *a, uint64_t *b, int shift, uint64_t mask)
{
    uint64_t t = ((*a >> shift) ^ *b) & mask;
    *b ^= t;
    *a ^= t << shift;
}

/* Bit b of byte i to bit i of byte b. */
INLINE uint64_t transpose_bits(uint64_t x)
{
    uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aau;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000ccccu;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0u;
    return x ^ t ^ (t << 28);
}

/* Byte j of word i to byte i of word j, by halves. */
INLINE void transpose_bytes(uint64_t w[8])
{
    for (int i = 0; i < 4; i++)
        exchange(&w[i], &w[i + 4], 32, 0x00000000ffffffffu);
    for (int i = 0; i < 2; i++) {
        exchange(&w[i], &w[i + 2], 16, 0x0000ffff0000ffffu);
        exchange(&w[i + 4], &w[i + 6], 16, 0x0000ffff0000ffffu);
    }
    for (int i = 0; i < 8; i += 2)
        exchange(&w[i], &w[i + 1], 8, 0x00ff00ff00ff00ffu);
}

/* 64 bytes of one plane, as many elements, to eight bytes of each of its rows. */
INLINE void rows_of_64(const uint8_t *bytes, uint8_t *rows, size_t row_len)
{
    uint64_t w[8];
    for (int i = 0; i < 8; i++)
        w[i] = transpose_bits(cip_load_u64(bytes + 8 * i, false));
    transpose_bytes(w);
    for (size_t b = 0; b < 8; b++)
        cip_store_u64(rows + b * row_len, w[b], false);
}

INLINE void to_rows(size_t width, const uint8_t *src, uint8_t *dst, size_t nelem)
{
    size_t row_len = nelem / 8, at = 0;
    for (; nelem - at >= GROUP; at += GROUP)
        for (size_t j = 0; j < width; j++) {
            uint8_t bytes[GROUP];
            for (size_t i = 0; i < GROUP; i++)
                bytes[i] = src[(at + i) * width + j];
            rows_of_64(bytes, dst + 8 * j * row_len + at / 8, row_len);
        }
    for (; at < nelem; at += 8)
        for (size_t j = 0; j < width; j++) {
            uint64_t x = 0;
            for (size_t i = 0; i < 8; i++)
                x |= (uint64_t)src[(at + i) * width + j] << 8 * i;
            x = transpose_bits(x);
            for (size_t b = 0; b < 8; b++)
                dst[(8 * j + b) * row_len + at / 8] = (uint8_t)(x >> 8 * b);
        }
}

void cip_bitshuffle_apply(size_t width, bool whole, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t nelem = n / width;
    if (whole && nelem % 8 != 0)
        nelem = 0;
    nelem -= nelem % 8;
    switch (width) {
    case 1:
        to_rows(1, src, dst, nelem);
        break;
    case 2:
        to_rows(2, src, dst, nelem);
        break;
    case 4:
        to_rows(4, src, dst, nelem);
        break;
    case 8:
        to_rows(8, src, dst, nelem);
        break;
    default:
        to_rows(width, src, dst, nelem);
        break;
    }
    memcpy(dst + nelem * width, src + nelem * width, n - nelem * width);
}
