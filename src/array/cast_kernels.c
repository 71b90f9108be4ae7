/* SPDX-License-Identifier: BSD-3-Clause
 * The loops that convert numbers in what every machine of the kind has, and the choice of a level.
 */
#include "base/cpu.h"

#define TARGET
#define KERNEL_OF cip_num_kernel_generic
#define F_TO_SIGNED F_BY_BRANCH
#define F_TO_I64 F_BY_BRANCH
#include "array/cast_kernels.inc"

cip_num_kernel *cip_num_kernel_of(cip_kind from, cip_kind to, bool exact)
{
#if CIP_CPU_HAS_AVX
    /* large integers become floats by an instruction of AVX-512, or in plain C */
    bool large = (from == CIP_I64 || from == CIP_U64) && (to == CIP_F32 || to == CIP_F64);
    if (cip_cpu() == CIP_CPU_AVX512)
        return cip_num_kernel_avx512(from, to, exact);
    if (cip_cpu() == CIP_CPU_AVX2 && !large)
        return cip_num_kernel_avx2(from, to, exact);
#endif
    return cip_num_kernel_generic(from, to, exact);
}
