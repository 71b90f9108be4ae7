/* SPDX-License-Identifier: BSD-3-Clause
 * Bit unshuffle: planes of bits back to elements. Eight planes make one byte of each element; they
 * are taken a tile at a time: bytes of the eight interleaved to words, the words' bits transposed,
 * and the planes of bytes that come of it interleaved to elements. */
#include "codec/filter/filter.h"

#include <string.h>

#include "base/endian.h"

enum {
    TILE = 64,      /* groups of eight elements */
    WIDTH_MAX = 16, /* of elements that go through planes of bytes */
};

/* Byte `j` of 8 * groups elements, from the eight planes at src, `stride` apart. */
static void byte_plane(const uint8_t *src, size_t stride, uint8_t *restrict out, size_t groups)
{
    uint8_t words[8 * TILE];
    cip_unshuffle_planes(src, stride, 8, words, groups);
    for (size_t g = 0; g < groups; g++)
        cip_store_u64(out + 8 * g, cip_transpose_8x8(cip_load_u64(words + 8 * g, false)), false);
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
