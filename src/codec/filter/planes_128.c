/* SPDX-License-Identifier: BSD-3-Clause
 * Planes and rows in vectors of 16 bytes: SSE2 and NEON, which all machines of their kind have, in
 * the compilers' own terms. */
#include "codec/filter/planes.h"

#if CIP_CPU_HAS_128
#include <string.h>

#define VEC 16
#define TARGET
#define NAME(x) x##_128
#if CIP_CPU_HAS_AVX
#define UNZIP_COST 3
#else
#define UNZIP_COST 1
#endif

typedef uint8_t vec __attribute__((vector_size(VEC)));

#define LOW(a, b) CIP_CPU_BYTES(vec, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH(a, b)                                                                                 \
    CIP_CPU_BYTES(vec, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define EVEN(a, b)                                                                                 \
    CIP_CPU_BYTES(vec, a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODD(a, b)                                                                                  \
    CIP_CPU_BYTES(vec, a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)

static inline vec load_pair(const uint8_t *p, size_t apart)
{
    vec v;
    (void)apart;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store_pair(uint8_t *p, size_t apart, vec v)
{
    (void)apart;
    memcpy(p, &v, sizeof v);
}

#include "codec/filter/planes_vec.inc"
#endif
