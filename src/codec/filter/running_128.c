/* SPDX-License-Identifier: BSD-3-Clause
 * Running sums and XORs in vectors of 16 bytes: SSE2 and NEON. */
#include "codec/filter/running.h"

#if CIP_CPU_HAS_128
#define VEC 16
#define TARGET
#define NAME(x) x##_128

typedef uint8_t vec __attribute__((vector_size(VEC)));
typedef uint64_t pair __attribute__((vector_size(VEC)));

#define FROM(s, i) (16 - (s) + (i))
#define SHIFT(v, s)                                                                                \
    CIP_CPU_BYTES(vec, (vec){ 0 }, v, FROM(s, 0), FROM(s, 1), FROM(s, 2), FROM(s, 3), FROM(s, 4),  \
                  FROM(s, 5), FROM(s, 6), FROM(s, 7), FROM(s, 8), FROM(s, 9), FROM(s, 10),         \
                  FROM(s, 11), FROM(s, 12), FROM(s, 13), FROM(s, 14), FROM(s, 15))
#define JOIN(xor, v, width) (v)
#define LAST(v, width) last(v, width)

/* Of the upper half, the last word in all places. */
static inline vec last(vec v, size_t width)
{
    uint64_t w = ((pair)v)[1] >> (64 - 8 * width);
    w *= UINT64_MAX / (UINT64_MAX >> (64 - 8 * width));
    return (vec)(pair){ w, w };
}

#include "codec/filter/running.inc"
#endif
