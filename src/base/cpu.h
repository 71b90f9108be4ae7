/* SPDX-License-Identifier: BSD-3-Clause
 * Which vector instructions kernels may use: what the processor has, at most what the environment
 * variable CIP_CPU names. Each level includes those before it. */
#ifndef CIP_BASE_CPU_H
#define CIP_BASE_CPU_H

#include "base/endian.h"

#if defined(__x86_64__) || (defined(__aarch64__) && !CIP_HOST_BIG)
#define CIP_CPU_HAS_128 1 /* SSE2 and NEON are part of these machines */
#else
#define CIP_CPU_HAS_128 0
#endif
#if defined(__x86_64__)
#define CIP_CPU_HAS_AVX 1 /* the kernels are built; whether they run is asked of the processor */
#else
#define CIP_CPU_HAS_AVX 0
#endif

/* Of the bytes of two vectors those with these numbers, a's before b's: an instruction or two. */
#if defined(__clang__)
#define CIP_CPU_BYTES(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CIP_CPU_BYTES(type, a, b, ...) __builtin_shuffle(a, b, (type){ __VA_ARGS__ })
#endif

enum {
    CIP_CPU_GENERIC, /* plain C */
    CIP_CPU_128,     /* "sse2", "neon" */
    CIP_CPU_AVX2,    /* "avx2" */
    CIP_CPU_AVX512,  /* "avx512": F, BW, DQ, VL, VBMI and GFNI */
    CIP_CPU_LEVELS
};

/* The level in force; found once for the process. A table of kernels has a row for each level, NULL
 * where a kernel of that level would win nothing, and its best row up to this level runs. */
int cip_cpu(void);
/* For tests and benchmarks, while no other thread runs kernels: sets the level to `most`, or to the
 * highest that there is below it; returns that. */
int cip_cpu_limit(int most);
/* As CIP_CPU has it. */
const char *cip_cpu_name(int level);

/* Rows of the kernels NAME_128 and NAME_avx2, as far as they are built; and with NAME_avx512. */
#if CIP_CPU_HAS_AVX
#define CIP_CPU_ROWS(name)                                                                         \
    {                                                                                              \
        [CIP_CPU_128] = name##_128, [CIP_CPU_AVX2] = name##_avx2                                   \
    }
#define CIP_CPU_ROWS_512(name)                                                                     \
    {                                                                                              \
        [CIP_CPU_128] = name##_128, [CIP_CPU_AVX2] = name##_avx2, [CIP_CPU_AVX512] = name##_avx512 \
    }
#elif CIP_CPU_HAS_128
#define CIP_CPU_ROWS(name)                                                                         \
    {                                                                                              \
        [CIP_CPU_128] = name##_128                                                                 \
    }
#define CIP_CPU_ROWS_512(name) CIP_CPU_ROWS(name)
#else
#define CIP_CPU_ROWS(name)                                                                         \
    {                                                                                              \
        NULL                                                                                       \
    }
#define CIP_CPU_ROWS_512(name) CIP_CPU_ROWS(name)
#endif

/* The best function of the rows up to the level in force, or NULL. */
#define CIP_CPU_PICK(rows, fn)                                                                     \
    do {                                                                                           \
        (fn) = NULL;                                                                               \
        for (int level_ = cip_cpu(); level_ > CIP_CPU_GENERIC && (fn) == NULL; level_--)           \
            (fn) = (rows)[level_];                                                                 \
    } while (0)

#endif
