/* SPDX-License-Identifier: BSD-3-Clause
 * Encodings of the application, copied for as long as a file is open or written. */
#include <string.h>

#include "core/handle.h"

static cip_status take_one(cip_env *env, const cip_codec_methods *m, cip_codec_methods *out,
                           cip_err *err)
{
    char *name;
    if (m == NULL || m->struct_size != sizeof *m || m->name == NULL || m->name[0] == '\0' ||
        m->decode == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected cip_codec_methods with struct_size %zu, a name and decode",
                        sizeof *m);
    size_t n = strlen(m->name) + 1;
    CIP_TRY(cip_mem_get(&env->mem, n, (void **)&name, err));
    memcpy(name, m->name, n);
    *out = *m;
    out->name = name;
    return CIP_OK;
}

cip_status cip_app_codecs_take(cip_env *env, const cip_codec_methods *const *codecs, size_t n,
                               cip_codec_methods **kept, cip_err *err)
{
    if (n == 0)
        return CIP_OK;
    if (codecs == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %zu codecs, found NULL", n);
    CIP_TRY(CIP_NEW(&env->mem, kept, n, err));
    env->codec = *kept;
    for (; env->ncodec < n; env->ncodec++)
        CIP_TRY(take_one(env, codecs[env->ncodec], &(*kept)[env->ncodec], err));
    return CIP_OK;
}

void cip_app_codecs_drop(cip_env *env, cip_codec_methods **kept)
{
    for (size_t i = 0; i < env->ncodec; i++)
        cip_mem_put(&env->mem, (void *)(uintptr_t)(*kept)[i].name);
    cip_mem_put(&env->mem, *kept);
    *kept = NULL;
    env->ncodec = 0;
}
