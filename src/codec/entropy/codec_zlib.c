/* SPDX-License-Identifier: BSD-3-Clause
 * zlib streams (RFC 1950): libdeflate where the decoded size is known, our own decoder in pieces.
 * libdeflate takes its contexts (about 11 KiB to decode, up to 1 MiB to encode) from the C library:
 * its allocator can only be set for the whole process, so they are not counted. */
#include "codec/entropy/entropy.h"

#if CIP_WITH_ZLIB

#include <libdeflate.h>
#include <string.h>

#include "base/endian.h"
#include "codec/entropy/inflate.h"

enum { LEVEL_DEFAULT = 6, LEVEL_MIN = 1, LEVEL_MAX = 12 };

enum { HEAD = 2, TAIL = 4 };

enum { AT_HEAD, AT_DATA, AT_TAIL, AT_END };

typedef struct zlib_state {
    cip_mem *mem;
    cip_inflate *data;
    int at;
    uint8_t frame[TAIL]; /* the header, then the checksum, as far as they came */
    size_t nframe;
    uint64_t taken, raw; /* bytes up to here: of the stream, of the data */
    uint32_t sum;
    bool resumed; /* the checksum of what lies before is not known */
    bool at_block;
} zlib_state;

static cip_status zlib_bad(cip_err *err, const char *why)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a zlib stream, found %s", why);
}

static cip_status state_new(const cip_codec_env *env, const cip_mark *from, void **state,
                            cip_err *err)
{
    zlib_state *s = NULL;
    *state = NULL;
    CIP_TRY(CIP_NEW(env->mem, &s, 1, err));
    s->mem = env->mem;
    s->sum = 1;
    s->resumed = from->in_bits != 0;
    s->at = s->resumed ? AT_DATA : AT_HEAD;
    s->taken = from->in_bits / 8;
    s->raw = from->raw;
    cip_status st = cip_inflate_new(env->mem, from->window, from->window_len,
                                    (unsigned)(from->in_bits % 8), &s->data, err);
    if (st != CIP_OK)
        cip_mem_put(env->mem, s);
    else
        *state = s;
    return st;
}

static cip_status zlib_begin(const void *args, const cip_codec_env *env, void **state, cip_err *err)
{
    const cip_mark start = { 0 };
    (void)args;
    return state_new(env, &start, state, err);
}

/* A mark is always behind the header. */
static cip_status zlib_resume(const void *args, const cip_codec_env *env, const cip_mark *from,
                              void **state, cip_err *err)
{
    (void)args;
    *state = NULL;
    if (from->in_bits < 8 * HEAD)
        return zlib_bad(err, "a mark in its header");
    return state_new(env, from, state, err);
}

static cip_status check_head(const uint8_t head[HEAD], cip_err *err)
{
    if (((unsigned)head[0] << 8 | head[1]) % 31 != 0)
        return zlib_bad(err, "incorrect header check");
    if ((head[0] & 0x0f) != 8)
        return zlib_bad(err, "unknown compression method");
    if (head[0] >> 4 > 7)
        return zlib_bad(err, "invalid window size");
    if ((head[1] & 0x20) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a zlib stream without preset dictionary, found one with it");
    return CIP_OK;
}

static cip_status check_tail(zlib_state *s, cip_err *err)
{
    if (!s->resumed && cip_load_u32(s->frame, true) != s->sum)
        return cip_fail(err, CIP_ERR_CHECKSUM, CIP_NO_OFFSET,
                        "expected a zlib stream, found incorrect data check");
    s->at = AT_END;
    return CIP_OK;
}

/* Bytes of the header or the checksum; whether it is whole. */
static bool collect(zlib_state *s, size_t whole, const uint8_t *in, size_t nin, size_t *took)
{
    size_t n = (size_t)cip_min_u64(whole - s->nframe, nin - *took);
    if (n != 0)
        memcpy(s->frame + s->nframe, in + *took, n);
    s->nframe += n;
    *took += n;
    return s->nframe == whole;
}

static cip_status step_data(zlib_state *s, const uint8_t *in, size_t nin, size_t *took,
                            uint8_t *out, size_t *gave, cip_err *err)
{
    uint8_t left[8];
    size_t n = nin - *took;
    cip_inflate_state now = cip_inflate_step(s->data, in + *took, &n, out, gave);
    *took += n;
    s->sum = libdeflate_adler32(s->sum, out, *gave);
    s->at_block = now == CIP_INFLATE_AT_BLOCK;
    if (now == CIP_INFLATE_BAD && *gave == 0)
        return zlib_bad(err, cip_inflate_why(s->data));
    if (now == CIP_INFLATE_ENDED) {
        s->at = AT_TAIL;
        size_t nleft = cip_inflate_left(s->data, left), used = 0;
        s->nframe = 0;
        collect(s, TAIL, left, nleft, &used);
    }
    return CIP_OK;
}

static cip_status zlib_step(void *state, const uint8_t *in, size_t *in_len, bool last, uint8_t *out,
                            size_t *out_len, bool *end, cip_err *err)
{
    zlib_state *s = state;
    size_t took = 0, gave = 0;
    if (s->at == AT_HEAD && collect(s, HEAD, in, *in_len, &took)) {
        CIP_TRY(check_head(s->frame, err));
        s->at = AT_DATA;
    }
    if (s->at == AT_DATA) {
        gave = *out_len;
        CIP_TRY(step_data(s, in, *in_len, &took, out, &gave, err));
    }
    if (s->at == AT_TAIL && collect(s, TAIL, in, *in_len, &took))
        CIP_TRY(check_tail(s, err));
    s->taken += took;
    s->raw += gave;
    cip_step_done d = { last, *out_len, took, gave, s->at == AT_END };
    return cip_step_end(d, in_len, out_len, end, err);
}

static bool zlib_mark(void *state, bool want, cip_mark *out)
{
    zlib_state *s = state;
    if (want) {
        cip_inflate_want_block(s->data);
        return false;
    }
    if (!s->at_block)
        return false;
    out->in_bits = 8 * s->taken - cip_inflate_bits_left(s->data);
    out->raw = s->raw;
    out->window_len = cip_inflate_window(s->data, &out->window);
    return true;
}

static void zlib_finish(void *state)
{
    zlib_state *s = state;
    if (s == NULL)
        return;
    cip_inflate_free(s->data);
    cip_mem_put(s->mem, s);
}

static const cip_stream_codec zlib_stream = {
    .begin = zlib_begin,
    .step = zlib_step,
    .finish = zlib_finish,
    .mark = zlib_mark,
    .resume = zlib_resume,
};

static cip_status zlib_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                              uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args;
    uint8_t none;
    size_t took, got;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (d == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libdeflate");
    enum libdeflate_result r = libdeflate_zlib_decompress_ex(
        d, src.ptr, src.len, dst_len != 0 ? dst : &none, dst_len, &took, &got);
    libdeflate_free_decompressor(d);
    if (r == LIBDEFLATE_SUCCESS && got == dst_len)
        return CIP_OK;
    /* libdeflate does not tell truncated from damaged: it is gone over again to find out. */
    return cip_decode_whole(&zlib_stream, env, src, dst, dst_len, err);
}

static size_t zlib_bound(size_t n)
{
    size_t bound = libdeflate_zlib_compress_bound(NULL, n);
    return bound > n ? bound : 0; /* it wraps around */
}

static cip_status zlib_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                              uint8_t *dst, size_t cap, size_t *out, cip_err *err)
{
    (void)args, (void)env;
    level = level == 0 ? LEVEL_DEFAULT : level;
    CIP_TRY(cip_check_level(level, LEVEL_MIN, LEVEL_MAX, err));
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    if (c == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libdeflate");
    size_t n = libdeflate_zlib_compress(c, src.ptr, src.len, dst, cap);
    libdeflate_free_compressor(c);
    if (n == 0)
        return cip_fail_room(err, cap);
    *out = n;
    return CIP_OK;
}

const char *cip_zlib_version(void)
{
    return "libdeflate " LIBDEFLATE_VERSION_STRING;
}

const cip_codec cip_codec_zlib = { .name = "zlib",
                                   .decode = zlib_decode,
                                   .stream = &zlib_stream,
                                   .bound = zlib_bound,
                                   .encode = zlib_encode };

#endif
