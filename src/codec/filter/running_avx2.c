/* SPDX-License-Identifier: BSD-3-Clause
 * Running sums and XORs in vectors of 32 bytes: AVX2. */
#include "codec/filter/running.h"

#if CIP_CPU_HAS_AVX
#include <immintrin.h>

#define VEC 32
#define TARGET __attribute__((target("avx2")))
#define NAME(x) x##_avx2

typedef uint8_t vec __attribute__((vector_size(VEC)));

#define I(v) ((__m256i)(v))
#define SHIFT(v, s) ((vec)_mm256_slli_si256(I(v), s))
#define JOIN(xor, v, width)                                                                        \
    add(xor, v, (vec)_mm256_permute2x128_si256(I(last(v, width)), I(last(v, width)), 0x08))
#define LAST(v, width) ((vec)_mm256_permute4x64_epi64(I(last(v, width)), 0xff))

/* The last word of each lane in all places of the lane. */
TARGET static inline vec last(vec v, size_t width)
{
    __m256i at = width == 1   ? _mm256_set1_epi8(15)
                 : width == 2 ? _mm256_set1_epi16(0x0f0e)
                 : width == 4 ? _mm256_set1_epi32(0x0f0e0d0c)
                              : _mm256_set1_epi64x(0x0f0e0d0c0b0a0908);
    return (vec)_mm256_shuffle_epi8(I(v), at);
}

#include "codec/filter/running.inc"
#endif
