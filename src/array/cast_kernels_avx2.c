/* SPDX-License-Identifier: BSD-3-Clause
 * The loops that convert numbers in vectors of AVX2. */
#include "base/cpu.h"

#if CIP_CPU_HAS_AVX
#define TARGET __attribute__((target("avx2")))
#define KERNEL_OF cip_num_kernel_avx2
#define F_TO_SIGNED F_BY_SELECTION
#define F_TO_I64 F_BY_BRANCH
#include "array/cast_kernels.inc"
#endif
