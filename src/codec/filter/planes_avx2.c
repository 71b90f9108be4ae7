/* SPDX-License-Identifier: BSD-3-Clause
 * Planes and rows in vectors of 32 bytes, two lanes: AVX2. */
#include "codec/filter/planes.h"

#if CIP_CPU_HAS_AVX
#include <immintrin.h>

#define VEC 32
#define TARGET __attribute__((target("avx2")))
#define NAME(x) x##_avx2
#define UNZIP_COST 3

typedef uint8_t vec __attribute__((vector_size(VEC)));

#define I(v) ((__m256i)(v))
#define LOW(a, b) ((vec)_mm256_unpacklo_epi8(I(a), I(b)))
#define HIGH(a, b) ((vec)_mm256_unpackhi_epi8(I(a), I(b)))
#define EVEN(a, b)                                                                                 \
    ((vec)_mm256_packus_epi16(_mm256_and_si256(I(a), _mm256_set1_epi16(0xff)),                     \
                              _mm256_and_si256(I(b), _mm256_set1_epi16(0xff))))
#define ODD(a, b) ((vec)_mm256_packus_epi16(_mm256_srli_epi16(I(a), 8), _mm256_srli_epi16(I(b), 8)))

TARGET static inline vec load_pair(const uint8_t *p, size_t apart)
{
    __m128i low = _mm_loadu_si128((const __m128i *)p);
    __m128i high = _mm_loadu_si128((const __m128i *)(p + apart));
    return (vec)_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

TARGET static inline void store_pair(uint8_t *p, size_t apart, vec v)
{
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(I(v)));
    _mm_storeu_si128((__m128i *)(p + apart), _mm256_extracti128_si256(I(v), 1));
}

#include "codec/filter/planes_vec.inc"
#endif
