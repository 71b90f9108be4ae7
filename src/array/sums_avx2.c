/* SPDX-License-Identifier: BSD-3-Clause
 * The loops of statistics in vectors of AVX2. */
#include "base/cpu.h"

#if CIP_CPU_HAS_AVX
#define TARGET __attribute__((target("avx2")))
#define VEC 32
#define NAME(x) x##_avx2
#include "array/sums.inc"
#endif
