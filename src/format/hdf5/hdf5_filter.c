/* SPDX-License-Identifier: BSD-3-Clause
 * A dataset's filters as one codec: undone from the last to the first. What one of them gives is
 * as long as the chunk, where nothing but filters that keep the length come before it; so at most
 * one of them may change the length in ways that only the data tell. */
#include "base/endian.h"
#include "codec/entropy/entropy.h"
#include "codec/filter/apply.h"
#include "codec/filter/filter.h"
#include "codec/with.h"
#include "format/hdf5/hdf5.h"

enum { SUM = 4 /* bytes */ };

/* --- single filters --------------------------------------------------------------------------- */

static cip_status by_codec(const char *name, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                           size_t n, cip_err *err)
{
    return cip_codec_find(name)->decode(NULL, env, src, dst, n, err);
}

static cip_status undo_deflate(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t n, cip_err *err)
{
    (void)f;
    return by_codec("zlib", env, src, dst, n, err);
}

static cip_status undo_bzip2(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                             uint8_t *dst, size_t n, cip_err *err)
{
    (void)f;
    return by_codec("bzip2", env, src, dst, n, err);
}

static cip_status undo_zstd(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                            uint8_t *dst, size_t n, cip_err *err)
{
    (void)f;
    return by_codec("zstd", env, src, dst, n, err);
}

static cip_status undo_blosc(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                             uint8_t *dst, size_t n, cip_err *err)
{
    (void)f;
    return by_codec("blosc", env, src, dst, n, err);
}

static cip_status undo_shuffle(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t n, cip_err *err)
{
    (void)env;
    if (f->n < 1 || src.len != n)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "shuffle: expected %zu bytes, found %zu", n, src.len);
    if (f->value[0] <= 1 || f->value[0] > n)
        memcpy(dst, src.ptr, n);
    else
        cip_unshuffle(f->value[0], src.ptr, dst, n);
    return CIP_OK;
}

/* The sum counts 16-bit words with the first byte as the high one; the last of an odd number stands
 * alone. */
static uint32_t fletcher32(const uint8_t *p, size_t n)
{
    uint32_t a = 0, b = 0;
    size_t words = n / 2;
    while (words != 0) {
        /* so many words cannot overflow the sums */
        size_t part = words < 360 ? words : 360;
        words -= part;
        for (; part != 0; part--, p += 2) {
            a += (uint32_t)p[0] << 8 | p[1];
            b += a;
        }
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    if (n % 2 != 0) {
        a += (uint32_t)p[0] << 8;
        b += a;
        a = (a & 0xffff) + (a >> 16);
        b = (b & 0xffff) + (b >> 16);
    }
    a = (a & 0xffff) + (a >> 16);
    b = (b & 0xffff) + (b >> 16);
    return b << 16 | a;
}

/* Libraries before 1.6.3 stored each half in the other byte order on little-endian machines. */
static cip_status check_fletcher(cip_bytes *in, cip_err *err)
{
    if (in->len < SUM)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "fletcher32: expected a checksum, found %zu bytes", in->len);
    in->len -= SUM;
    const uint32_t stored = cip_load_u32(in->ptr + in->len, false);
    const uint32_t found = fletcher32(in->ptr, in->len);
    const uint32_t old = (found & 0xff00ff) << 8 | (found >> 8 & 0xff00ff);
    if (stored == found || stored == old)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CHECKSUM, CIP_NO_OFFSET,
                    "expected the checksum (fletcher32) %08" PRIx32 ", found %08" PRIx32, stored,
                    found);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct {
    uint16_t id;
    bool packs;
    const char *name;  /* as cippus calls the codec */
    cip_h5_undo *undo; /* NULL: known by name only */
    const char *codec;
} known[] = {
    { CIP_H5_DEFLATE, true, "zlib", undo_deflate, "zlib" },
    { CIP_H5_SHUFFLE, false, "shuffle", undo_shuffle, NULL },
    { CIP_H5_FLETCHER32, false, "fletcher32", NULL, NULL }, /* undone where its length is known */
    { CIP_H5_SZIP, true, "szip", CIP_WITH_AEC ? cip_h5_szip : NULL, NULL },
    { 5, true, "nbit", cip_h5_nbit, NULL },
    { 6, true, "scaleoffset", cip_h5_scaleoffset, NULL },
    { 305, true, "lzo", NULL, NULL },
    { 307, true, "bzip2", undo_bzip2, "bzip2" },
    { 32000, true, "lzf", cip_h5_lzf, NULL },
    { CIP_H5_BLOSC, true, "blosc", undo_blosc, "blosc" },
    { CIP_H5_LZ4, true, "lz4", cip_h5_lz4, NULL },
    { 32008, true, "bitshuffle", cip_h5_bitshuffle, NULL },
    { 32013, true, "zfp", NULL, NULL },
    { CIP_H5_ZSTD, true, "zstd", undo_zstd, "zstd" },
    { 32017, true, "sz", NULL, NULL },
    { 32018, true, "fcidecomp", NULL, NULL },
    { 32019, true, "jpeg", NULL, NULL },
    { 32023, true, "granular-bitround", NULL, NULL },
    { 32024, true, "sz3", NULL, NULL },
    { CIP_H5_BLOSC2, true, "blosc2", cip_h5_blosc2, NULL },
    { 32028, true, "sperr", NULL, NULL },
};

enum { NKNOWN = sizeof known / sizeof *known };

cip_h5_undo *cip_h5_filter_find(uint16_t id, bool *packs, const cip_codec **codec)
{
    *codec = NULL;
    *packs = true;
    for (size_t i = 0; i < NKNOWN; i++)
        if (known[i].id == id) {
            *packs = known[i].packs;
            *codec = known[i].codec != NULL ? cip_codec_find(known[i].codec) : NULL;
            return known[i].undo;
        }
    return NULL;
}

const char *cip_h5_filter_name(const cip_h5_filter *f)
{
    for (size_t i = 0; i < NKNOWN; i++)
        if (known[i].id == f->id)
            return known[i].name;
    return f->name != NULL && f->name[0] != '\0' ? f->name : "unknown";
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Undoes filter k of the chunk's bytes `in` to `to`, or to memory that *temporary becomes. */
static cip_status undo_one(const cip_h5_pipeline *p, uint32_t k, const cip_codec_env *env,
                           cip_bytes *in, size_t n, uint8_t *to, uint8_t **temporary, cip_err *err)
{
    const cip_h5_filter *f = p->filter[k];
    const cip_codec *codec;
    bool packs;
    cip_h5_undo *undo = cip_h5_filter_find(f->id, &packs, &codec);
    uint8_t *was = *temporary;
    if (f->id == CIP_H5_FLETCHER32)
        return check_fletcher(in, err);
    if (!packs && to != NULL && in->len != n)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %zu bytes in a chunk, found %zu", n, in->len);
    if (!packs)
        n = in->len;
    *temporary = NULL;
    cip_status st = CIP_OK;
    if (to == NULL)
        st = cip_mem_get(env->mem, n, (void **)temporary, err);
    if (st == CIP_OK)
        st = undo(f, env, *in, to != NULL ? to : *temporary, n, err);
    *in = (cip_bytes){ to != NULL ? to : *temporary, n };
    cip_mem_put(env->mem, was);
    return st;
}

static cip_status decode(const void *args, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                         size_t n, cip_err *err)
{
    const cip_h5_pipeline *p = args;
    size_t before[CIP_H5_MAX_FILTERS]; /* bytes that filter k was given */
    uint8_t *temporary = NULL;
    size_t len = n;
    cip_status st = CIP_OK;
    for (uint32_t k = 0; k < p->n; k++) {
        before[k] = len;
        len += p->filter[k]->id == CIP_H5_FLETCHER32 ? SUM : 0;
    }
    for (uint32_t k = p->n; k-- > 0 && st == CIP_OK;)
        st = undo_one(p, k, env, &src, before[k], k == 0 ? dst : NULL, &temporary, err);
    if (st == CIP_OK && src.len != n)
        st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                      "expected %zu bytes in a chunk, found %zu", n, src.len);
    if (st == CIP_OK && src.ptr != dst) /* a checksum came first */
        memcpy(dst, src.ptr, n);
    cip_mem_put(env->mem, temporary);
    return st;
}

/* --- filters applied -------------------------------------------------------------------------- */

/* Blocks of the filter LZ4 have big-endian lengths; we make one of a chunk, which LZ4 bounds. */
static cip_status apply_lz4(const cip_codec_env *env, cip_bytes in, cip_dst *out, cip_err *err)
{
    enum { HEAD = 16, MOST = 1 << 30 };
    uint8_t *head = out->ptr;
    if (in.len > MOST)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected chunks of at most 1 GiB for lz4, found %zu bytes", in.len);
    if (out->cap < HEAD)
        return cip_fail_room(err, out->cap);
    cip_dst part = { out->ptr + HEAD, out->cap - HEAD, 0 };
    CIP_TRY(cip_codec_find("lz4")->encode(NULL, env, 0, in, &part, err));
    if (part.len >= in.len) { /* as long as it decodes to: stored as it is */
        memcpy(part.ptr, in.ptr, in.len);
        part.len = in.len;
    }
    cip_store_u64(head, in.len, true);
    cip_store_u32(head + 8, (uint32_t)in.len, true);
    cip_store_u32(head + 12, (uint32_t)part.len, true);
    out->len = HEAD + part.len;
    return CIP_OK;
}

static cip_status apply_codec(const cip_h5_pipeline *p, const cip_h5_filter *f,
                              const cip_codec_env *env, cip_bytes in, cip_dst *out, cip_err *err)
{
    bool packs;
    const cip_codec *codec;
    if (f->id == CIP_H5_LZ4)
        return apply_lz4(env, in, out, err);
    (void)cip_h5_filter_find(f->id, &packs, &codec);
    if (codec == &cip_codec_blosc)
        return codec->encode(p->blosc, env, 0, in, out, err);
    return codec->encode(NULL, env, (int)f->value[0], in, out, err);
}

static size_t bound(size_t n)
{
    return n > SIZE_MAX / 2 ? 0 : n + n / 64 + 4096;
}

/* A shuffle, a codec and a checksum, in this order, as far as they are there. */
static cip_status encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                         cip_dst *out, cip_err *err)
{
    const cip_h5_pipeline *p = args;
    uint8_t *shuffled = NULL;
    cip_dst to = { out->ptr, out->cap, 0 };
    bool sum = false, packed = false;
    cip_status st = CIP_OK;
    (void)level; /* the filters' own */
    for (uint32_t k = 0; k < p->n && st == CIP_OK; k++) {
        const cip_h5_filter *f = p->filter[k];
        if (f->id == CIP_H5_SHUFFLE) {
            st = cip_mem_get(env->mem, src.len, (void **)&shuffled, err);
            if (st == CIP_OK)
                cip_shuffle_apply(f->value[0], src.ptr, shuffled, src.len);
            src.ptr = shuffled;
        } else if (f->id == CIP_H5_FLETCHER32) {
            sum = true;
        } else {
            st = apply_codec(p, f, env, src, &to, err);
            packed = true;
        }
    }
    if (st == CIP_OK && !packed) {
        if (src.len > to.cap)
            st = cip_fail_room(err, to.cap);
        else
            memcpy(to.ptr, src.ptr, src.len);
        to.len = src.len;
    }
    if (st == CIP_OK && sum) {
        if (SUM > to.cap - to.len)
            st = cip_fail_room(err, to.cap);
        else
            cip_store_u32(to.ptr + to.len, fletcher32(to.ptr, to.len), false);
        to.len += SUM;
    }
    cip_mem_put(env->mem, shuffled);
    if (st == CIP_OK)
        out->len = to.len;
    return st;
}

const cip_codec cip_h5_codec = {
    .name = "hdf5", .decode = decode, .bound = bound, .encode = encode
};
