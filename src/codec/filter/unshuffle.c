/* SPDX-License-Identifier: BSD-3-Clause
 * Byte unshuffle: planes of bytes back to elements. The usual widths have loops of constant length,
 * which compilers turn into interleaving loads and stores. */
#include "codec/filter/filter.h"

#include <string.h>

enum { TILE = 256 }; /* elements whose output stays in the first cache while all planes are read */

#define UNSHUFFLE(width)                                                                           \
    static void unshuffle_##width(const uint8_t *restrict src, size_t stride,                      \
                                  uint8_t *restrict dst, size_t count)                             \
    {                                                                                              \
        for (size_t i = 0; i < count; i++)                                                         \
            for (size_t j = 0; j < (width); j++)                                                   \
                dst[i * (width) + j] = src[j * stride + i];                                        \
    }

UNSHUFFLE(2)
UNSHUFFLE(4)
UNSHUFFLE(8)
UNSHUFFLE(16)

static void unshuffle_any(const uint8_t *restrict src, size_t stride, size_t width,
                          uint8_t *restrict dst, size_t count)
{
    for (size_t at = 0; at < count; at += TILE) {
        size_t n = count - at < TILE ? count - at : TILE;
        for (size_t j = 0; j < width; j++)
            for (size_t i = 0; i < n; i++)
                dst[(at + i) * width + j] = src[j * stride + at + i];
    }
}

void cip_unshuffle_planes(const uint8_t *src, size_t stride, size_t width, uint8_t *dst,
                          size_t count)
{
    switch (width) {
    case 1:
        memcpy(dst, src, count);
        break;
    case 2:
        unshuffle_2(src, stride, dst, count);
        break;
    case 4:
        unshuffle_4(src, stride, dst, count);
        break;
    case 8:
        unshuffle_8(src, stride, dst, count);
        break;
    case 16:
        unshuffle_16(src, stride, dst, count);
        break;
    default:
        unshuffle_any(src, stride, width, dst, count);
    }
}

void cip_unshuffle(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t count = n / width;
    if (count != 0)
        cip_unshuffle_planes(src, count, width, dst, count);
    memcpy(dst + count * width, src + count * width, n % width);
}
