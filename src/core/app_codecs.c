/* SPDX-License-Identifier: BSD-3-Clause
 * Encodings of the application, copied for as long as a file is open. */
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

cip_status cip_file_take_codecs(cip_file *f, const cip_open_options *o, cip_err *err)
{
    cip_env *env = &f->env;
    if (o->ncodec == 0)
        return CIP_OK;
    if (o->codecs == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %zu codecs, found NULL",
                        o->ncodec);
    CIP_TRY(CIP_NEW(&env->mem, &f->codec, o->ncodec, err));
    env->codec = f->codec;
    for (; env->ncodec < o->ncodec; env->ncodec++)
        CIP_TRY(take_one(env, o->codecs[env->ncodec], &f->codec[env->ncodec], err));
    return CIP_OK;
}

void cip_file_drop_codecs(cip_file *f)
{
    for (size_t i = 0; i < f->env.ncodec; i++)
        cip_mem_put(&f->env.mem, (void *)(uintptr_t)f->codec[i].name);
    cip_mem_put(&f->env.mem, f->codec);
    f->codec = NULL;
    f->env.ncodec = 0;
}
