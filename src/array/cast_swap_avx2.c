/* SPDX-License-Identifier: BSD-3-Clause
 * Words turned round in vectors of AVX2. */
#include "array/cast_kernels.h"
#include "base/cpu.h"

#if CIP_CPU_HAS_AVX
#include <immintrin.h>

__attribute__((target("avx2"))) size_t cip_swap_avx2(unsigned swap, const uint8_t *src,
                                                     uint8_t *dst, size_t n)
{
    enum { VEC = 32 };
    uint8_t from[VEC];
    for (unsigned i = 0; i < VEC; i++)
        from[i] = (uint8_t)((i ^ (swap - 1)) % 16);
    __m256i order = _mm256_loadu_si256((const __m256i *)from);
    size_t at = 0;
    for (; n - at >= VEC; at += VEC) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(src + at));
        _mm256_storeu_si256((__m256i *)(dst + at), _mm256_shuffle_epi8(v, order));
    }
    return at;
}
#endif
