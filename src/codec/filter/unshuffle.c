/* SPDX-License-Identifier: BSD-3-Clause
 * Byte unshuffle: planes of bytes back to elements. The usual widths have loops of constant length,
 * which compilers turn into interleaving loads and stores. */
#include "codec/filter/filter.h"

#include <string.h>

#define UNSHUFFLE(width)                                                                           \
    static void unshuffle_##width(const uint8_t *restrict src, size_t stride,                      \
                                  uint8_t *restrict dst, size_t count)                             \
    {                                                                                              \
        for (size_t i = 0; i < count; i++)                                                         \
            for (size_t j = 0; j < (width); j++)                                                   \
                dst[i * (width) + j] = src[j * stride + i];                                        \
    }

#define PUT(width)                                                                                 \
    case (width):                                                                                  \
        for (size_t i = 0; i < count; i++)                                                         \
            memcpy(dst + i * stride, units + i * (width), (width));                                \
        break

/* Units that lie together to places `stride` apart. */
static void put_units(const uint8_t *restrict units, size_t width, uint8_t *restrict dst,
                      size_t stride, size_t count)
{
    switch (width) {
        PUT(1);
        PUT(2);
        PUT(4);
        PUT(8);
        PUT(16);
    }
}

UNSHUFFLE(2)
UNSHUFFLE(4)
UNSHUFFLE(8)
UNSHUFFLE(16)

/* Of any other width: units of bytes that do have such a loop, each to its place. */
static void unshuffle_any(const uint8_t *src, size_t stride, size_t width, uint8_t *restrict dst,
                          size_t count)
{
    enum { TILE = 256, UNIT_MAX = 16 };
    uint8_t units[TILE * UNIT_MAX];
    size_t unit = width & (~width + 1); /* the highest power of two in it */
    unit = unit < UNIT_MAX ? unit : UNIT_MAX;
    for (size_t at = 0; at < count; at += TILE) {
        size_t n = count - at < TILE ? count - at : TILE;
        for (size_t j = 0; j < width; j += unit) {
            cip_unshuffle_planes(src + j * stride + at, stride, unit, units, n);
            put_units(units, unit, dst + at * width + j, width, n);
        }
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

/* The first `len` bytes of an element from its byte j on. */
static void part_of_element(const uint8_t *src, size_t stride, size_t j, uint8_t *dst, size_t len)
{
    for (size_t k = 0; k < len; k++)
        dst[k] = src[(j + k) * stride];
}

void cip_unshuffle_part(size_t width, const uint8_t *src, size_t n, size_t off, uint8_t *dst,
                        size_t len)
{
    size_t count = n / width, end = count * width, j = off % width, rest = 0;
    if (off + len > end) /* what is no whole element lies there as it is */
        rest = off < end ? off + len - end : len;
    len -= rest;
    memcpy(dst + len, src + off + len, rest);
    if (len != 0 && j != 0) {
        size_t head = len < width - j ? len : width - j;
        part_of_element(src + off / width, count, j, dst, head);
        off += head;
        dst += head;
        len -= head;
    }
    cip_unshuffle_planes(src + off / width, count, width, dst, len / width);
    part_of_element(src + (off + len) / width, count, 0, dst + len / width * width, len % width);
}
