/* SPDX-License-Identifier: BSD-3-Clause
 * The application's encodings. What they hand back is not trusted: a status may be any number, a
 * reason may be missing or unterminated, a length may be anything. */
#include "codec/codec_app.h"

#include <string.h>

const cip_codec_methods *cip_app_codec_named(const cip_env *env, const char *name)
{
    for (size_t i = 0; i < env->ncodec; i++)
        if (strcmp(env->codec[i].name, name) == 0)
            return &env->codec[i];
    return NULL;
}

const cip_codec_methods *cip_app_codec_coded(const cip_env *env, const uint8_t code[4])
{
    static const uint8_t none[4];
    if (memcmp(code, none, sizeof none) == 0)
        return NULL;
    for (size_t i = 0; i < env->ncodec; i++)
        if (memcmp(env->codec[i].code, code, sizeof none) == 0)
            return &env->codec[i];
    return NULL;
}

/* Puts a failing function's answer in order. `own` is what it filled. */
static cip_status failed(int status, const cip_app_codec *c, cip_err *own, cip_err *err)
{
    bool known = status > 0 && status <= CIP_ERR_EXISTS;
    cip_status st = known ? (cip_status)status : CIP_ERR_CORRUPT;
    own->text[sizeof own->text - 1] = '\0';
    if (own->text[0] == '\0')
        return cip_fail(err, st, CIP_NO_OFFSET, "the encoding '%.40s' failed without a reason",
                        c->methods->name);
    return cip_fail(err, st, CIP_NO_OFFSET, "%s", own->text);
}

static cip_status decode(const void *args, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                         size_t dst_len, cip_err *err)
{
    const cip_app_codec *c = args;
    const cip_codec_methods *m = c->methods;
    cip_err own = CIP_ERR_INIT;
    size_t n = 0;
    (void)env;
    int st = (int)m->decode(m->user, c->args, src.ptr, src.len, dst, dst_len, &n, &own);
    if (st != CIP_OK)
        return failed(st, c, &own, err);
    if (n != dst_len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %zu bytes of the encoding '%.40s', found %zu", dst_len, m->name,
                        n);
    return CIP_OK;
}

const cip_codec cip_codec_app = { .name = "application", .decode = decode };

cip_status cip_app_codec_len(const cip_app_codec *c, cip_bytes src, uint64_t *len, cip_err *err)
{
    const cip_codec_methods *m = c->methods;
    cip_err own = CIP_ERR_INIT;
    uint64_t n = 0;
    if (m->decoded_nbytes == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the decoded size of the encoding '%.40s' is not known", m->name);
    int st = (int)m->decoded_nbytes(m->user, c->args, src.ptr, src.len, &n, &own);
    if (st != CIP_OK)
        return failed(st, c, &own, err);
    *len = n;
    return CIP_OK;
}

bool cip_app_codec_encodes(const cip_app_codec *c)
{
    return c->methods->encode != NULL && c->methods->bound != NULL;
}

cip_status cip_app_codec_encode(const cip_app_codec *c, cip_mem *mem, cip_bytes src, void **dst,
                                size_t *n, cip_err *err)
{
    const cip_codec_methods *m = c->methods;
    cip_err own = CIP_ERR_INIT;
    size_t cap = m->bound(m->user, c->args, src.len), got = 0;
    void *p;
    CIP_TRY(cip_mem_get(mem, cap, &p, err));
    int st = (int)m->encode(m->user, c->args, src.ptr, src.len, p, cap, &got, &own);
    cip_status result = CIP_OK;
    if (st != CIP_OK)
        result = failed(st, c, &own, err);
    else if (got > cap)
        result = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                          "expected at most %zu bytes of the encoding '%.40s', found %zu", cap,
                          m->name, got);
    if (result != CIP_OK) {
        cip_mem_put(mem, p);
        return result;
    }
    *dst = p;
    *n = got;
    return CIP_OK;
}
