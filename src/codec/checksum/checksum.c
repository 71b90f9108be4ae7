/* SPDX-License-Identifier: BSD-3-Clause
 * MD5 and the SHA family by OpenSSL, XXH3-128 by xxhash (in its canonical, big-endian form),
 * Adler-32 and CRC-32 by libdeflate. Their states come from the C library (under 1 KiB). */
#include "codec/checksum/checksum.h"

#include <libdeflate.h>
#include <openssl/evp.h>
#include <xxhash.h>

#include "base/endian.h"

/* How a sum is made: by a digest of OpenSSL, by a function that goes on from the sum so far, or
 * (neither) by xxhash. */
typedef struct kind {
    const char *name;
    size_t size;
    const EVP_MD *(*digest)(void);
    uint32_t (*sum32)(uint32_t sum, const void *p, size_t n);
} kind;

static const kind kinds[] = {
    [CIP_SUM_NONE] = { "none", 0, NULL, NULL },
    [CIP_SUM_MD5] = { "md5", 16, EVP_md5, NULL },
    [CIP_SUM_XXH3_128] = { "xxh3-128", 16, NULL, NULL },
    [CIP_SUM_ADLER32] = { "adler32", 4, NULL, libdeflate_adler32 },
    [CIP_SUM_CRC32] = { "crc32", 4, NULL, libdeflate_crc32 },
    [CIP_SUM_SHA1] = { "sha1", 20, EVP_sha1, NULL },
    [CIP_SUM_SHA224] = { "sha224", 28, EVP_sha224, NULL },
    [CIP_SUM_SHA256] = { "sha256", 32, EVP_sha256, NULL },
    [CIP_SUM_SHA384] = { "sha384", 48, EVP_sha384, NULL },
    [CIP_SUM_SHA512] = { "sha512", 64, EVP_sha512, NULL },
};

struct cip_sum {
    cip_mem *mem;
    const kind *kind;
    EVP_MD_CTX *digest;
    XXH3_state_t *xxh3;
    uint32_t sum32;
};

static const kind *kind_of(cip_sum_id id)
{
    bool known = (size_t)id < sizeof kinds / sizeof kinds[0];
    return &kinds[known ? id : CIP_SUM_NONE];
}

/* Of no bytes yet. False when the digest's state cannot be set up. */
static bool begin(cip_sum *s)
{
    s->sum32 = s->kind->sum32 == libdeflate_adler32 ? 1 : 0;
    if (s->xxh3 != NULL)
        XXH3_128bits_reset(s->xxh3);
    return s->digest == NULL || EVP_DigestInit_ex(s->digest, s->kind->digest(), NULL) == 1;
}

static cip_status start(cip_sum *s, cip_err *err)
{
    const kind *k = s->kind;
    if (k->digest != NULL)
        s->digest = EVP_MD_CTX_new();
    else if (k->sum32 == NULL)
        s->xxh3 = XXH3_createState();
    if (s->digest == NULL && s->xxh3 == NULL && k->sum32 == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for %s", k->name);
    if (!begin(s))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "libcrypto does not provide %s",
                        k->name);
    return CIP_OK;
}

cip_status cip_sum_new(cip_mem *mem, cip_sum_id id, cip_sum **out, cip_err *err)
{
    *out = NULL;
    if (cip_sum_size(id) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "no checksum has the number %d",
                        (int)id);
    cip_sum *s;
    CIP_TRY(CIP_NEW(mem, &s, 1, err));
    s->mem = mem;
    s->kind = kind_of(id);
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
    if (s->digest != NULL)
        EVP_DigestUpdate(s->digest, p, n);
    else if (s->xxh3 != NULL)
        XXH3_128bits_update(s->xxh3, p, n);
    else
        s->sum32 = s->kind->sum32(s->sum32, p, n);
}

void cip_sum_take(cip_sum *s, uint8_t *out)
{
    if (s->digest != NULL)
        EVP_DigestFinal_ex(s->digest, out, NULL);
    else if (s->xxh3 != NULL)
        XXH128_canonicalFromHash((XXH128_canonical_t *)out, XXH3_128bits_digest(s->xxh3));
    else
        cip_store_u32(out, s->sum32, true);
    begin(s);
}

void cip_sum_free(cip_sum *s)
{
    if (s == NULL)
        return;
    EVP_MD_CTX_free(s->digest);
    XXH3_freeState(s->xxh3);
    cip_mem_put(s->mem, s);
}

size_t cip_sum_size(cip_sum_id id)
{
    return kind_of(id)->size;
}

const char *cip_sum_name(cip_sum_id id)
{
    return kind_of(id)->name;
}

cip_status cip_sum_of(cip_mem *mem, cip_sum_id id, cip_bytes in, uint8_t out[CIP_SUM_MAX],
                      cip_err *err)
{
    cip_sum *s;
    CIP_TRY(cip_sum_new(mem, id, &s, err));
    cip_sum_add(s, in.ptr, in.len);
    cip_sum_take(s, out);
    cip_sum_free(s);
    return CIP_OK;
}

/* a * b modulo the polynomial of CRC-32; bit 31 is 1, bit 0 is x^31. */
static uint32_t crc32_multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = UINT32_C(1) << 31; bit != 0; bit >>= 1) {
        if ((a & bit) != 0)
            product ^= b;
        b = (b & 1) != 0 ? b >> 1 ^ UINT32_C(0xedb88320) : b >> 1;
    }
    return product;
}

/* A CRC is linear: what bytes at the end add to a difference depends on their number alone. */
uint32_t cip_crc32_changed(uint32_t crc, uint32_t was, uint32_t now, uint64_t after)
{
    uint32_t moved = was ^ now;
    /* x^8 for a byte, squared for each bit of their number: by multiplying modulo the polynomial,
     * bits reversed. */
    uint32_t shift = UINT32_C(1) << 23;
    for (; after != 0; after >>= 1) {
        if ((after & 1) != 0)
            moved = crc32_multiply(moved, shift);
        shift = crc32_multiply(shift, shift);
    }
    return crc ^ moved;
}
