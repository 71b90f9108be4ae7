/* SPDX-License-Identifier: BSD-3-Clause
 * The loops that convert numbers in vectors of AVX-512. */
#include "base/cpu.h"

#if CIP_CPU_HAS_AVX
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define KERNEL_OF cip_num_kernel_avx512
#define F_TO_SIGNED F_BY_SELECTION
#define F_TO_I64 F_BY_SELECTION
#include "array/cast_kernels.inc"
#endif
