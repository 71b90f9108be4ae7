/* SPDX-License-Identifier: BSD-3-Clause
 * Planes of bytes and rows of bits: the tables of vector kernels, and plain C for what these leave:
 * ends, other widths, other machines. */
#include "codec/filter/planes.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

static cip_planes_fn *const to_planes[CIP_CPU_LEVELS] = CIP_CPU_ROWS_512(cip_to_planes);
static cip_planes_fn *const from_planes[CIP_CPU_LEVELS] = CIP_CPU_ROWS_512(cip_from_planes);
static cip_planes_fn *const to_rows[CIP_CPU_LEVELS] = CIP_CPU_ROWS_512(cip_to_rows);
static cip_planes_fn *const from_rows[CIP_CPU_LEVELS] = CIP_CPU_ROWS_512(cip_from_rows);

/* How many the best kernel did. */
static size_t run(cip_planes_fn *const *rows, size_t width, const uint8_t *src, uint8_t *dst,
                  size_t stride, size_t n)
{
    cip_planes_fn *fn;
    CIP_CPU_PICK(rows, fn);
    return fn != NULL ? fn(width, src, dst, stride, n) : 0;
}

/* --- planes ---------------------------------------------------------------------------------- */

enum {
    TILE = 256, /* elements whose bytes stay in the nearest cache while planes are written */
    UNIT_MAX = 16
};

INLINE void split(size_t width, const uint8_t *restrict src, uint8_t *restrict dst, size_t stride,
                  size_t n)
{
    for (size_t at = 0; at < n; at += TILE) {
        size_t end = n - at < TILE ? n : at + TILE;
        for (size_t j = 0; j < width; j++)
            for (size_t i = at; i < end; i++)
                dst[j * stride + i] = src[i * width + j];
    }
}

INLINE void join(size_t width, const uint8_t *restrict src, uint8_t *restrict dst, size_t stride,
                 size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < width; j++)
            dst[i * width + j] = src[j * stride + i];
}

/* n units of bytes from places `from` apart to places `to` apart. */
INLINE void copy_units(size_t unit, const uint8_t *restrict src, size_t from, uint8_t *restrict dst,
                       size_t to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(dst + i * to, src + i * from, unit);
}

/* A call for each width that has loops of its own, which compilers make better code of. */
#define FOR_WIDTHS(width, CALL)                                                                    \
    switch (width) {                                                                               \
    case 1:                                                                                        \
        CALL(1);                                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        CALL(2);                                                                                   \
        break;                                                                                     \
    case 4:                                                                                        \
        CALL(4);                                                                                   \
        break;                                                                                     \
    case 8:                                                                                        \
        CALL(8);                                                                                   \
        break;                                                                                     \
    case 16:                                                                                       \
        CALL(16);                                                                                  \
        break;                                                                                     \
    }

static void move_units(size_t unit, const uint8_t *src, size_t from, uint8_t *dst, size_t to,
                       size_t n)
{
#define COPY(w) copy_units(w, src, from, dst, to, n)
    FOR_WIDTHS(unit, COPY)
}

/* The highest power of two in the width, up to 16: an element of another width is units of that. */
static size_t unit_of(size_t width)
{
    size_t unit = width & (~width + 1);
    return unit < UNIT_MAX ? unit : UNIT_MAX;
}

void cip_to_planes(size_t width, const uint8_t *src, uint8_t *dst, size_t stride, size_t n)
{
    size_t unit = unit_of(width), at;
    uint8_t units[TILE * UNIT_MAX];
    if (unit == width) {
        at = run(to_planes, width, src, dst, stride, n);
#define SPLIT(w) split(w, src + at * (w), dst + at, stride, n - at)
        FOR_WIDTHS(width, SPLIT)
        return;
    }
    for (at = 0; at < n; at += TILE) {
        size_t some = n - at < TILE ? n - at : TILE;
        for (size_t j = 0; j < width; j += unit) {
            move_units(unit, src + at * width + j, width, units, unit, some);
            cip_to_planes(unit, units, dst + j * stride + at, stride, some);
        }
    }
}

void cip_from_planes(size_t width, const uint8_t *src, uint8_t *dst, size_t stride, size_t n)
{
    size_t unit = unit_of(width), at;
    uint8_t units[TILE * UNIT_MAX];
    if (unit == width) {
        at = run(from_planes, width, src, dst, stride, n);
#define JOIN(w) join(w, src + at, dst + at * (w), stride, n - at)
        FOR_WIDTHS(width, JOIN)
        return;
    }
    for (at = 0; at < n; at += TILE) {
        size_t some = n - at < TILE ? n - at : TILE;
        for (size_t j = 0; j < width; j += unit) {
            cip_from_planes(unit, src + j * stride + at, units, stride, some);
            move_units(unit, units, unit, dst + at * width + j, width, some);
        }
    }
}

/* --- rows ------------------------------------------------------------------------------------ */

/* Exchanges the bits of a under mask << by with those of b under mask. */
static inline void exchange(uint64_t *a, uint64_t *b, unsigned by, uint64_t mask)
{
    uint64_t t = (*a >> by ^ *b) & mask;
    *b ^= t;
    *a ^= t << by;
}

/* In each byte of the eight words alike, whatever the machine's order: bit i of word k to bit k of
 * word i, which also leads back. */
static void transpose(uint64_t r[8])
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

void cip_to_rows(const uint8_t *src, uint8_t *dst, size_t stride, size_t n)
{
    for (size_t g = run(to_rows, 8, src, dst, stride, n); g < n; g += 8) {
        uint64_t r[8] = { 0 };
        size_t some = n - g < 8 ? n - g : 8;
        split(8, src + 8 * g, (uint8_t *)r, 8, some);
        transpose(r);
        for (size_t b = 0; b < 8; b++)
            memcpy(dst + b * stride + g, &r[b], some);
    }
}

void cip_from_rows(const uint8_t *src, uint8_t *dst, size_t stride, size_t n)
{
    for (size_t g = run(from_rows, 8, src, dst, stride, n); g < n; g += 8) {
        uint64_t r[8] = { 0 };
        size_t some = n - g < 8 ? n - g : 8;
        for (size_t b = 0; b < 8; b++)
            memcpy(&r[b], src + b * stride + g, some);
        transpose(r);
        join(8, (const uint8_t *)r, dst + 8 * g, 8, some);
    }
}
