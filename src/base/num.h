/* SPDX-License-Identifier: BSD-3-Clause
 * Checked arithmetic: every sum and product of file values goes through these. true = overflow. */
#ifndef CIP_BASE_NUM_H
#define CIP_BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Any two integer types; the result is written in the type of *out, and true says it did not fit.
 */
#define cip_add_overflow(a, b, out) __builtin_add_overflow((a), (b), (out))
#define cip_sub_overflow(a, b, out) __builtin_sub_overflow((a), (b), (out))
#define cip_mul_overflow(a, b, out) __builtin_mul_overflow((a), (b), (out))

/* Converts a file size to a memory size; false when it does not fit. */
static inline bool cip_to_size(uint64_t v, size_t *out)
{
    *out = (size_t)v;
    return (uint64_t)*out == v;
}

static inline uint64_t cip_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline int64_t cip_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t cip_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Of two uint64_t, for qsort. */
static inline int cip_compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of n rising values, one every `each` bytes, the last that is at most v; the first where none is.
 */
static inline size_t cip_last_at_most(const uint64_t *values, size_t each, size_t n, uint64_t v)
{
    size_t lo = 0, hi = n;
    while (hi - lo > 1) {
        const size_t mid = lo + (hi - lo) / 2;
        if (*(const uint64_t *)(const void *)((const uint8_t *)values + mid * each) <= v)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static inline bool cip_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The value of a hexadecimal digit, or -1. */
static inline int cip_hex_digit(int c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* How many of `size` bytes lie at off and behind it. */
static inline uint64_t cip_bytes_left(uint64_t size, uint64_t off)
{
    return off < size ? size - off : 0;
}

/* ceil(a / b) without overflow; b is not 0. */
static inline uint64_t cip_div_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

#endif
