/* SPDX-License-Identifier: BSD-3-Clause
 * Shuffle and bitshuffle, both ways. */
#include <string.h>

#include "codec/filter/apply.h"
#include "codec/filter/filter.h"
#include "codec/filter/planes.h"

/* --- bytes ----------------------------------------------------------------------------------- */

void cip_shuffle_apply(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t count = n / width, done = count * width;
    cip_to_planes(width, src, dst, count, count);
    memcpy(dst + done, src + done, n - done);
}

void cip_unshuffle(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t count = n / width, done = count * width;
    cip_from_planes(width, src, dst, count, count);
    memcpy(dst + done, src + done, n - done);
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
    cip_from_planes(width, src + off / width, dst, count, len / width);
    part_of_element(src + (off + len) / width, count, 0, dst + len / width * width, len % width);
}

/* --- bits ------------------------------------------------------------------------------------ */

/* A tile of elements goes through planes of bytes, which stay in the nearest cache, and of which
 * each becomes eight rows of bits. */
enum { TILE = 1024, ROOM = 16 * TILE };

/* Elements of a tile: whole vectors, whatever the width, which is at most 255. */
static size_t tile_of(size_t width)
{
    size_t fit = ROOM / width;
    return fit < TILE ? fit - fit % 64 : TILE;
}

/* How many elements are transposed. */
static size_t nelem_of(size_t width, bool whole, size_t n)
{
    size_t nelem = n / width;
    return nelem % 8 == 0 ? nelem : whole ? 0 : nelem - nelem % 8;
}

void cip_bitshuffle_apply(size_t width, bool whole, const uint8_t *src, uint8_t *dst, size_t n)
{
    uint8_t planes[ROOM];
    size_t nelem = nelem_of(width, whole, n), row = nelem / 8, done = nelem * width;
    size_t tile = tile_of(width);
    if (width == 1) /* a plane as it is */
        cip_to_rows(src, dst, row, row);
    for (size_t at = width == 1 ? nelem : 0; at < nelem; at += tile) {
        size_t some = nelem - at < tile ? nelem - at : tile;
        cip_to_planes(width, src + at * width, planes, tile, some);
        for (size_t j = 0; j < width; j++)
            cip_to_rows(planes + j * tile, dst + 8 * j * row + at / 8, row, some / 8);
    }
    memcpy(dst + done, src + done, n - done);
}

void cip_bitunshuffle(size_t width, bool whole, const uint8_t *src, uint8_t *dst, size_t n)
{
    uint8_t planes[ROOM];
    size_t nelem = nelem_of(width, whole, n), row = nelem / 8, done = nelem * width;
    size_t tile = tile_of(width);
    if (width == 1)
        cip_from_rows(src, dst, row, row);
    for (size_t at = width == 1 ? nelem : 0; at < nelem; at += tile) {
        size_t some = nelem - at < tile ? nelem - at : tile;
        for (size_t j = 0; j < width; j++)
            cip_from_rows(src + 8 * j * row + at / 8, planes + j * tile, row, some / 8);
        cip_from_planes(width, planes, dst + at * width, tile, some);
    }
    memcpy(dst + done, src + done, n - done);
}
