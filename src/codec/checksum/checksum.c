/* SPDX-License-Identifier: BSD-3-Clause
 * MD5 by OpenSSL, XXH3-128 by xxhash (in its canonical, big-endian form). Their states come from
 * the C library (under 1 KiB). */
#include "codec/checksum/checksum.h"

#include <openssl/evp.h>
#include <xxhash.h>

struct cip_sum {
    cip_mem *mem;
    cip_sum_id id;
    EVP_MD_CTX *md5;
    XXH3_state_t *xxh3;
};

static cip_status start(cip_sum *s, cip_err *err)
{
    if (s->id == CIP_SUM_XXH3_128) {
        s->xxh3 = XXH3_createState();
        if (s->xxh3 == NULL)
            return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for XXH3-128");
        XXH3_128bits_reset(s->xxh3);
        return CIP_OK;
    }
    s->md5 = EVP_MD_CTX_new();
    if (s->md5 == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for MD5");
    if (EVP_DigestInit_ex(s->md5, EVP_md5(), NULL) != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "libcrypto does not give MD5");
    return CIP_OK;
}

cip_status cip_sum_new(cip_mem *mem, cip_sum_id id, cip_sum **out, cip_err *err)
{
    *out = NULL;
    if (cip_sum_size(id) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "no checksum of number %d",
                        (int)id);
    cip_sum *s;
    CIP_TRY(CIP_NEW(mem, &s, 1, err));
    s->mem = mem;
    s->id = id;
    cip_status st = start(s, err);
    if (st != CIP_OK)
        cip_sum_free(s);
    else
        *out = s;
    return st;
}

void cip_sum_add(cip_sum *s, const void *p, size_t n)
{
    if (n == 0)
        return;
    if (s->id == CIP_SUM_XXH3_128)
        XXH3_128bits_update(s->xxh3, p, n);
    else
        EVP_DigestUpdate(s->md5, p, n);
}

void cip_sum_take(cip_sum *s, uint8_t *out)
{
    if (s->id == CIP_SUM_XXH3_128) {
        XXH128_canonicalFromHash((XXH128_canonical_t *)out, XXH3_128bits_digest(s->xxh3));
        XXH3_128bits_reset(s->xxh3);
    } else {
        EVP_DigestFinal_ex(s->md5, out, NULL);
        EVP_DigestInit_ex(s->md5, EVP_md5(), NULL);
    }
}

void cip_sum_free(cip_sum *s)
{
    if (s == NULL)
        return;
    EVP_MD_CTX_free(s->md5);
    XXH3_freeState(s->xxh3);
    cip_mem_put(s->mem, s);
}

size_t cip_sum_size(cip_sum_id id)
{
    return id == CIP_SUM_MD5 || id == CIP_SUM_XXH3_128 ? 16 : 0;
}

const char *cip_sum_name(cip_sum_id id)
{
    switch (id) {
    case CIP_SUM_MD5:
        return "md5";
    case CIP_SUM_XXH3_128:
        return "xxh3-128";
    default:
        return "none";
    }
}
