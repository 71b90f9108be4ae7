/* SPDX-License-Identifier: BSD-3-Clause
 * Limits resolved, memory counted, warnings kept. */
#include "base/env.h"

#include <string.h>

#include "base/sized.h"

static const cip_limits defaults = {
    .size = sizeof(cip_limits),
    .max_memory = UINT64_C(2) << 30,
    .max_cache = UINT64_C(64) << 20,
    .max_tree_bytes = UINT64_C(256) << 20,
    .max_nodes = UINT64_C(1) << 24,
    .max_depth = 256,
    .max_directives = 64,
    .max_work = UINT64_C(1) << 28,
    .max_expansion = UINT64_C(1) << 24,
    .max_blocks = UINT64_C(1) << 24,
    .max_external = 1024,
};

#define DEFAULT_IF_ZERO(field)                                                                     \
    if (out->field == 0)                                                                           \
    out->field = defaults.field

cip_status cip_limits_resolve(const cip_limits *in, cip_limits *out, cip_err *err)
{
    *out = defaults;
    if (in == NULL)
        return CIP_OK;
    CIP_TRY(CIP_SIZED_TAKE(cip_limits, in, out, err));
    DEFAULT_IF_ZERO(max_memory);
    DEFAULT_IF_ZERO(max_cache);
    DEFAULT_IF_ZERO(max_tree_bytes);
    DEFAULT_IF_ZERO(max_nodes);
    DEFAULT_IF_ZERO(max_depth);
    DEFAULT_IF_ZERO(max_directives);
    DEFAULT_IF_ZERO(max_work);
    DEFAULT_IF_ZERO(max_expansion);
    DEFAULT_IF_ZERO(max_blocks);
    DEFAULT_IF_ZERO(max_external);
    return CIP_OK;
}

cip_status cip_env_init(cip_env *env, const cip_limits *limits, const cip_allocator *from,
                        cip_pool *pool, cip_err *err)
{
    CIP_TRY(cip_limits_resolve(limits, &env->limits, err));
    cip_mem_init(&env->mem, from, env->limits.max_memory);
    env->pool = pool;
    env->codec = NULL;
    env->ncodec = 0;
    memset(&env->zstd, 0, sizeof env->zstd);
    cip_report_init(&env->warnings, &env->mem, true, NULL, NULL);
    return CIP_OK;
}

void cip_env_clear(cip_env *env)
{
    cip_report_clear(&env->warnings);
    cip_spares_clear(&env->zstd);
}
