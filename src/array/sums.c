/* SPDX-License-Identifier: BSD-3-Clause
 * The loops of statistics in what every machine of the kind has, and the choice of a level. */
#include "base/cpu.h"

#define TARGET
#define VEC 16
#define NAME(x) x##_generic
#include "array/sums.inc"

const cip_sums *cip_sums_now(void)
{
#if CIP_CPU_HAS_AVX
    if (cip_cpu() >= CIP_CPU_AVX2)
        return cip_cpu() == CIP_CPU_AVX512 ? &cip_sums_avx512 : &cip_sums_avx2;
#endif
    return &cip_sums_generic;
}
