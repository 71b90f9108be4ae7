/* SPDX-License-Identifier: BSD-3-Clause
 * The loops of statistics in vectors of AVX-512. */
#include "base/cpu.h"

#if CIP_CPU_HAS_AVX
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define VEC 32
#define NAME(x) x##_avx512
#include "array/sums.inc"
#endif
