/* SPDX-License-Identifier: BSD-3-Clause
 * The loops of statistics over a block of numbers in memory, at each level of vector instructions
 * (base/cpu.h); the same bits at all of them. */
#ifndef CIP_ARRAY_SUMS_H
#define CIP_ARRAY_SUMS_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cip_float_counts {
    uint64_t nnan, ninf, nplus, nzero; /* nplus: of ninf the positive ones */
} cip_float_counts;

/* n is 1 or more but for count. */
typedef struct cip_sums {
    void (*count)(const double *v, size_t n, cip_float_counts *out);
    /* of finite numbers; minimum and maximum of 0.0 and -0.0 are either */
    void (*first)(const double *v, size_t n, double *low, double *high, double *sum);
    /* of v - mean, and of its squares */
    void (*second)(const double *v, size_t n, double mean, double *dev, double *squares);
    /* bounds, how many are 0, and each as a double */
    uint64_t (*of_signed)(const int64_t *v, size_t n, int64_t bounds[2], double *out);
    uint64_t (*of_unsigned)(const uint64_t *v, size_t n, uint64_t bounds[2], double *out);
} cip_sums;

/* Those of the level in force. */
const cip_sums *cip_sums_now(void);

extern const cip_sums cip_sums_generic, cip_sums_avx2, cip_sums_avx512;

#endif
