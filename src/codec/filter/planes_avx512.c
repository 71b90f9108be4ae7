/* SPDX-License-Identifier: BSD-3-Clause
 * Planes and rows in vectors of 64 bytes: AVX-512 with VBMI, which puts any bytes of two vectors in
 * any order, and GFNI, which transposes bits.
 *
 * Two vectors of neighbouring elements become one of the lower planes and one of the upper ones.
 * Each then has `width / 2` pieces, a plane's; as many vectors as that are a square of pieces to
 * transpose. Back, the same in the other order. */
#include "codec/filter/planes.h"

#if CIP_CPU_HAS_AVX
#include <immintrin.h>
#include <stdbool.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni")))
#define INLINE TARGET static inline __attribute__((always_inline))

typedef __m512i vec;
enum { VEC = 64, MOST = 16 /* vectors */ };

/* A square of four lanes each way, of vectors `step` apart. */
INLINE void transpose_lanes(vec *v, size_t step)
{
    vec *a = v, *b = v + step, *c = v + 2 * step, *d = v + 3 * step;
    vec p = _mm512_shuffle_i64x2(*a, *b, 0x44), q = _mm512_shuffle_i64x2(*a, *b, 0xee);
    vec r = _mm512_shuffle_i64x2(*c, *d, 0x44), s = _mm512_shuffle_i64x2(*c, *d, 0xee);
    *a = _mm512_shuffle_i64x2(p, r, 0x88);
    *b = _mm512_shuffle_i64x2(p, r, 0xdd);
    *c = _mm512_shuffle_i64x2(q, s, 0x88);
    *d = _mm512_shuffle_i64x2(q, s, 0xdd);
}

/* A square of n pieces each way. */
INLINE void transpose_pieces(vec *v, size_t n)
{
    if (n == 2) {
        vec low = _mm512_shuffle_i64x2(v[0], v[1], 0x44);
        v[1] = _mm512_shuffle_i64x2(v[0], v[1], 0xee);
        v[0] = low;
    } else if (n == 4)
        transpose_lanes(v, 1);
    else if (n == 8) {
        for (size_t i = 0; i < 8; i += 2) {
            vec low = _mm512_unpacklo_epi64(v[i], v[i + 1]);
            v[i + 1] = _mm512_unpackhi_epi64(v[i], v[i + 1]);
            v[i] = low;
        }
        transpose_lanes(v, 2);
        transpose_lanes(v + 1, 2);
    }
}

/* Where the 128 bytes of two vectors come from when `inner` that lie together come apart. */
INLINE void order(uint8_t from[2 * VEC], size_t inner)
{
    for (size_t i = 0; i < 2 * VEC; i++)
        from[i] = (uint8_t)(i % (2 * VEC / inner) * inner + i / (2 * VEC / inner));
}

INLINE void take_two(vec a, vec b, const uint8_t *from, vec *low, vec *high)
{
    *low = _mm512_permutex2var_epi8(a, _mm512_loadu_si512(from), b);
    *high = _mm512_permutex2var_epi8(a, _mm512_loadu_si512(from + VEC), b);
}

/* In eight bytes: bit i of byte k to bit 7 - k of byte i. */
INLINE vec transpose_bits(vec v)
{
    return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64((int64_t)0x8040201008040201), v, 0);
}

/* The bytes of each eight the other way round. */
INLINE vec reverse(vec v)
{
    return _mm512_shuffle_epi8(v, _mm512_set4_epi64(0x08090a0b0c0d0e0f, 0x0001020304050607,
                                                    0x08090a0b0c0d0e0f, 0x0001020304050607));
}

INLINE size_t split(size_t width, bool bits, const uint8_t *src, uint8_t *dst, size_t stride,
                    size_t n)
{
    size_t at = 0, half = width / 2;
    uint8_t from[2 * VEC];
    order(from, width);
    for (; n - at >= VEC; at += VEC) {
        vec v[MOST];
        for (size_t k = 0; k < half; k++) {
            vec a = _mm512_loadu_si512(src + at * width + 2 * VEC * k);
            vec b = _mm512_loadu_si512(src + at * width + 2 * VEC * k + VEC);
            if (bits) {
                a = transpose_bits(reverse(a));
                b = transpose_bits(reverse(b));
            }
            take_two(a, b, from, &v[k], &v[half + k]);
        }
        transpose_pieces(v, half);
        transpose_pieces(v + half, half);
        for (size_t j = 0; j < width; j++)
            _mm512_storeu_si512(dst + j * stride + at, v[j]);
    }
    return at;
}

INLINE size_t join(size_t width, bool bits, const uint8_t *src, uint8_t *dst, size_t stride,
                   size_t n)
{
    size_t at = 0, half = width / 2;
    uint8_t from[2 * VEC];
    order(from, 2 * VEC / width);
    for (; n - at >= VEC; at += VEC) {
        vec v[MOST];
        for (size_t j = 0; j < width; j++)
            v[j] = _mm512_loadu_si512(src + j * stride + at);
        transpose_pieces(v, half);
        transpose_pieces(v + half, half);
        for (size_t k = 0; k < half; k++) {
            vec a, b;
            take_two(v[k], v[half + k], from, &a, &b);
            if (bits) {
                a = transpose_bits(reverse(a));
                b = transpose_bits(reverse(b));
            }
            _mm512_storeu_si512(dst + at * width + 2 * VEC * k, a);
            _mm512_storeu_si512(dst + at * width + 2 * VEC * k + VEC, b);
        }
    }
    return at;
}

#define KERNELS(name, way)                                                                         \
    TARGET size_t name##_planes_avx512(size_t width, const uint8_t *src, uint8_t *dst,             \
                                       size_t stride, size_t n)                                    \
    {                                                                                              \
        switch (width) {                                                                           \
        case 2:                                                                                    \
            return way(2, false, src, dst, stride, n);                                             \
        case 4:                                                                                    \
            return way(4, false, src, dst, stride, n);                                             \
        case 8:                                                                                    \
            return way(8, false, src, dst, stride, n);                                             \
        case 16:                                                                                   \
            return way(16, false, src, dst, stride, n);                                            \
        default:                                                                                   \
            return 0;                                                                              \
        }                                                                                          \
    }                                                                                              \
    TARGET size_t name##_rows_avx512(size_t width, const uint8_t *src, uint8_t *dst,               \
                                     size_t stride, size_t n)                                      \
    {                                                                                              \
        (void)width;                                                                               \
        return way(8, true, src, dst, stride, n);                                                  \
    }

KERNELS(cip_to, split)
KERNELS(cip_from, join)
#endif
