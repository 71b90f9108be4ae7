/* SPDX-License-Identifier: BSD-3-Clause
 * One raw LZ4 block, without any sizes or checksum of its own. liblz4 counts in int, which is also
 * about what the format's encoders take.
 */
#include "codec/entropy/entropy.h"

#if CIP_WITH_LZ4

#include <limits.h>
#include <lz4.h>
#include <lz4hc.h>
#include <string.h>

#include "base/num.h"
#include "codec/entropy/lz4_walk.h"

enum { LEVEL_MIN = -65536 }; /* liblz4's largest acceleration */

/* liblz4 says only that a block is bad: goes over its sequences to find out how. */
static cip_status lz4_why(cip_bytes src, uint64_t dst_len, cip_err *err)
{
    uint64_t got;
    CIP_TRY(cip_lz4_walk(src, dst_len, &got, err));
    if (got < dst_len)
        return cip_fail_short(err, dst_len, got);
    return cip_fail(
        err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
        "expected literals at the end of an LZ4 block, found a match too close to the end");
}

static cip_status check_sizes(size_t stored, uint64_t raw, cip_err *err)
{
    if (stored > INT_MAX || raw > INT_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an LZ4 block under 2 GiB, found %zu stored and %" PRIu64
                        " decoded bytes",
                        stored, raw);
    return CIP_OK;
}

static cip_status lz4_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                             uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args, (void)env;
    uint8_t none;
    CIP_TRY(check_sizes(src.len, dst_len, err));
    int n = src.len == 0
                ? -1
                : LZ4_decompress_safe((const char *)src.ptr, (char *)(dst_len != 0 ? dst : &none),
                                      (int)src.len, (int)dst_len);
    return n == (int)dst_len ? CIP_OK : lz4_why(src, dst_len, err);
}

/* Decodes the first n bytes of raw_len, n > 0. For a match 0 bytes back liblz4 gives zeros, but in
 * a part of a block what lay at dst before: that must not come out. */
static cip_status decode_front(const cip_codec_env *env, cip_bytes src, uint64_t raw_len,
                               uint8_t *dst, size_t n, cip_err *err)
{
    if (n == raw_len)
        return lz4_decode(NULL, env, src, dst, n, err);
    CIP_TRY(check_sizes(src.len, n, err));
    memset(dst, 0, n);
    int got = src.len == 0 ? -1
                           : LZ4_decompress_safe_partial((const char *)src.ptr, (char *)dst,
                                                         (int)src.len, (int)n, (int)n);
    return got == (int)n ? CIP_OK : lz4_why(src, raw_len, err);
}

/* A block is only decoded up to the last wanted byte. */
static cip_status lz4_spans(const void *args, const cip_codec_env *env, const cip_stored *src,
                            const cip_wants *w, cip_err *err)
{
    (void)args;
    uint64_t end = 0; /* of the last wanted byte */
    size_t n;
    void *front;
    CIP_TRY(cip_wants_check(w, err));
    for (size_t i = 0; i < w->n; i++)
        end = cip_max_u64(end, w->at[i].off + w->at[i].len);
    if (end == 0)
        return CIP_OK;
    if (src->n != 1 || src->at[0].off != 0 || src->at[0].len != src->total || !cip_to_size(end, &n))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a whole LZ4 block in one piece");
    cip_bytes in = { src->ptr[0], (size_t)src->total };
    if (w->n == 1 && w->at[0].off == 0)
        return decode_front(env, in, w->raw_len, w->at[0].dst, n, err);
    CIP_TRY(cip_mem_get(env->mem, n, &front, err));
    cip_status st = decode_front(env, in, w->raw_len, front, n, err);
    for (size_t i = 0; st == CIP_OK && i < w->n; i++)
        if (w->at[i].len != 0)
            memcpy(w->at[i].dst, (uint8_t *)front + w->at[i].off, w->at[i].len);
    cip_mem_put(env->mem, front);
    return st;
}

static size_t lz4_bound(size_t n)
{
    return n > LZ4_MAX_INPUT_SIZE ? 0 : (size_t)LZ4_compressBound((int)n);
}

static cip_status lz4_level(int level, cip_err *err)
{
    return cip_check_level(level, LEVEL_MIN, LZ4HC_CLEVEL_MAX, err);
}

/* Levels: under LZ4HC_CLEVEL_MIN (3) the fast encoder, whose acceleration is 1 or more; from there
 * the thorough one. */
static cip_status lz4_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                             cip_dst *out, cip_err *err)
{
    (void)args;
    CIP_TRY(lz4_level(level, err));
    if (lz4_bound(src.len) == 0)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected at most %d bytes for an LZ4 block, found %zu", LZ4_MAX_INPUT_SIZE,
                        src.len);
    bool thorough = level >= LZ4HC_CLEVEL_MIN;
    void *state;
    CIP_TRY(cip_mem_get(env->mem, (size_t)(thorough ? LZ4_sizeofStateHC() : LZ4_sizeofState()),
                        &state, err));
    const char *in = (const char *)src.ptr;
    int nin = (int)src.len, room = (int)cip_min_u64(out->cap, INT_MAX);
    char *dst = (char *)out->ptr;
    int n = thorough ? LZ4_compress_HC_extStateHC(state, in, dst, nin, room, level)
                     : LZ4_compress_fast_extState(state, in, dst, nin, room, 1 - level);
    cip_mem_put(env->mem, state);
    if (n <= 0)
        return cip_fail_room(err, out->cap);
    out->len = (size_t)n;
    return CIP_OK;
}

const char *cip_lz4_version(void)
{
    return LZ4_versionString();
}

const cip_codec cip_codec_lz4 = { .name = "lz4",
                                  .decode = lz4_decode,
                                  .decode_spans = lz4_spans,
                                  .bound = lz4_bound,
                                  .level = lz4_level,
                                  .encode = lz4_encode };

#endif
