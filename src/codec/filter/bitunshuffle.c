/* SPDX-License-Identifier: BSD-3-Clause
 * Bit unshuffle: planes of bits back to elements. Eight planes make one byte of each element. They
 * are taken a tile at a time: the bits of eight rows of bytes are transposed, the eight rows that
 * come of it interleaved to a plane of bytes, and those planes to elements. */
#include "codec/filter/filter.h"

#include <string.h>

enum {
    TILE = 128,     /* groups of eight elements, a byte of each row */
    LANE = 8,       /* rows' bytes that are worked on at once, in a word */
    WIDTH_MAX = 16, /* of elements that go through planes of bytes */
};

/* Exchanges the bits of a under mask << by with those of b under mask. */
static inline void exchange(uint64_t *a, uint64_t *b, unsigned by, uint64_t mask)
{
    uint64_t t = (*a >> by ^ *b) & mask;
    *b ^= t;
    *a ^= t << by;
}

/* In each byte of the eight words alike: bit i of word k to bit k of word i. */
static inline void transpose(uint64_t r[8])
{
    for (int k = 0; k < 4; k++)
        exchange(&r[k], &r[k + 4], 4, UINT64_C(0x0F0F0F0F0F0F0F0F));
    for (int k = 0; k < 8; k += 4) {
        exchange(&r[k], &r[k + 2], 2, UINT64_C(0x3333333333333333));
        exchange(&r[k + 1], &r[k + 3], 2, UINT64_C(0x3333333333333333));
    }
    for (int k = 0; k < 8; k += 2)
        exchange(&r[k], &r[k + 1], 1, UINT64_C(0x5555555555555555));
}

/* `groups` bytes of the eight rows at src, `stride` apart, to the eight rows of `out`. */
static void transpose_rows(const uint8_t *restrict src, size_t stride, uint8_t *restrict out,
                           size_t groups)
{
    size_t g = 0;
    for (; g + LANE <= groups; g += LANE) {
        uint64_t r[8];
        for (size_t k = 0; k < 8; k++)
            memcpy(&r[k], src + k * stride + g, LANE);
        transpose(r);
        for (size_t k = 0; k < 8; k++)
            memcpy(out + k * TILE + g, &r[k], LANE);
    }
    if (g < groups) {
        uint64_t r[8] = { 0 };
        for (size_t k = 0; k < 8; k++)
            memcpy(&r[k], src + k * stride + g, groups - g);
        transpose(r);
        for (size_t k = 0; k < 8; k++)
            memcpy(out + k * TILE + g, &r[k], groups - g);
    }
}

/* Byte j of each element, from its eight rows. */
static void byte_plane(const uint8_t *src, size_t stride, uint8_t *out, size_t groups)
{
    uint8_t rows[8 * TILE];
    transpose_rows(src, stride, rows, groups);
    cip_unshuffle_planes(rows, TILE, 8, out, groups);
}

static void tile_of(size_t width, const uint8_t *src, size_t stride, uint8_t *dst, size_t groups)
{
    uint8_t planes[WIDTH_MAX * 8 * TILE];
    for (size_t j = 0; j < width; j++)
        byte_plane(src + 8 * j * stride, stride, planes + 8 * TILE * j, groups);
    cip_unshuffle_planes(planes, 8 * TILE, width, dst, 8 * groups);
}

static void wide_tile_of(size_t width, const uint8_t *src, size_t stride, uint8_t *dst,
                         size_t groups)
{
    uint8_t plane[8 * TILE];
    for (size_t j = 0; j < width; j++) {
        byte_plane(src + 8 * j * stride, stride, plane, groups);
        for (size_t i = 0; i < 8 * groups; i++)
            dst[i * width + j] = plane[i];
    }
}

void cip_bitunshuffle(size_t typesize, bool whole, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t count = n / typesize, groups = count / 8;
    if (whole && count % 8 != 0)
        groups = 0;
    for (size_t g = 0; g < groups; g += TILE) {
        size_t some = groups - g < TILE ? groups - g : TILE;
        uint8_t *out = dst + 8 * g * typesize;
        if (typesize <= WIDTH_MAX)
            tile_of(typesize, src + g, groups, out, some);
        else
            wide_tile_of(typesize, src + g, groups, out, some);
    }
    size_t done = 8 * groups * typesize;
    memcpy(dst + done, src + done, n - done);
}
