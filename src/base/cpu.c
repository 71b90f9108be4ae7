/* SPDX-License-Identifier: BSD-3-Clause
 * The level of vector instructions, asked of the processor and the environment once. */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int in_force = -1;

const char *cip_cpu_name(int level)
{
    static const char *const names[CIP_CPU_LEVELS] = {
        [CIP_CPU_GENERIC] = "generic",
#if CIP_CPU_HAS_AVX
        [CIP_CPU_128] = "sse2",
#else
        [CIP_CPU_128] = "neon",
#endif
        [CIP_CPU_AVX2] = "avx2",
        [CIP_CPU_AVX512] = "avx512",
    };
    return names[level];
}

/* The compilers' test also asks whether the system keeps the wide registers. */
static int of_processor(void)
{
#if CIP_CPU_HAS_AVX
    if (!__builtin_cpu_supports("avx2"))
        return CIP_CPU_128;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("gfni")
               ? CIP_CPU_AVX512
               : CIP_CPU_AVX2;
#else
    return CIP_CPU_HAS_128 ? CIP_CPU_128 : CIP_CPU_GENERIC;
#endif
}

int cip_cpu_limit(int most)
{
    int has = of_processor(), level = most < has ? most : has;
    atomic_store_explicit(&in_force, level, memory_order_relaxed);
    return level;
}

int cip_cpu(void)
{
    int level = atomic_load_explicit(&in_force, memory_order_relaxed);
    if (level >= 0)
        return level;
    const char *name = getenv("CIP_CPU");
    for (level = CIP_CPU_GENERIC; name != NULL && level < CIP_CPU_LEVELS; level++)
        if (strcmp(name, cip_cpu_name(level)) == 0)
            return cip_cpu_limit(level);
    return cip_cpu_limit(CIP_CPU_LEVELS - 1);
}
