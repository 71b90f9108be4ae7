/* SPDX-License-Identifier: BSD-3-Clause
 * zlib streams (RFC 1950), and deflate alone (RFC 1951) whose CRC-32 a container keeps: libdeflate
 * where the decoded size is known, our own decoder of deflate in pieces. gzip members (RFC 1952),
 * one behind the other, by libdeflate alone. libdeflate takes its contexts (about 11 KiB to decode,
 * up to 1 MiB to encode) from the C library: its allocator can only be set for the whole process,
 * so they are not counted. */
#include "codec/entropy/entropy.h"

#if CIP_WITH_ZLIB

#include <libdeflate.h>
#include <string.h>
#include <zlib.h>

#include "base/endian.h"
#include "codec/entropy/inflate.h"

enum { LEVEL_DEFAULT = 6, LEVEL_MIN = 1, LEVEL_MAX = 12 };

enum {
    HEAD = 2,
    DICTIONARY = 4, /* its checksum, behind the head of a stream that needs one */
    TAIL = 4,
    SUM = CIP_INFLATE_FRONT /* in front of a checkpoint's window: the checksum so far */
};

typedef struct zlib_state {
    cip_mem *mem;
    cip_inflate *data;
    bool bare;                    /* deflate alone: no head, no tail */
    const cip_deflate_args *args; /* of it, or NULL */
    uint8_t head[HEAD + DICTIONARY];
    unsigned nhead;  /* bytes of it that were taken */
    bool data_begun; /* the head is done; a resumed stream begins behind it */
    bool tail_begun, end;
    unsigned tail;              /* bytes of the checksum that were taken */
    uint32_t sum, stored;       /* the checksum so far; the one in the stream, as far as taken */
    bool wanted, at_checkpoint; /* a stop where a block begins */
    uint64_t taken, raw;        /* bytes up to here: of the stream, of the data */
} zlib_state;

static cip_status damaged(const zlib_state *s, const char *why, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a %s stream, found %s",
                    s->bare ? "deflate" : "zlib", why);
}

static cip_status check_crc(const cip_deflate_args *args, uint32_t crc, cip_err *err)
{
    return args->crc == crc ? CIP_OK
                            : cip_fail(err, CIP_ERR_CHECKSUM, CIP_NO_OFFSET,
                                       "crc32 mismatch: expected %08" PRIx32 ", found %08" PRIx32,
                                       args->crc, crc);
}

static cip_status zlib_new(const cip_codec_env *env, cip_bytes window, unsigned skip, void **out,
                           cip_err *err)
{
    zlib_state *s;
    *out = NULL;
    CIP_TRY(CIP_NEW(env->mem, &s, 1, err));
    s->mem = env->mem;
    s->sum = 1;
    const cip_status st = cip_inflate_new(env->mem, window, skip, &s->data, err);
    if (st != CIP_OK)
        cip_mem_put(env->mem, s);
    else
        *out = s;
    return st;
}

static cip_status zlib_begin(const void *args, const cip_codec_env *env, void **state, cip_err *err)
{
    (void)args;
    return zlib_new(env, (cip_bytes){ 0 }, 0, state, err);
}

static cip_status deflate_begin(const void *args, const cip_codec_env *env, void **state,
                                cip_err *err)
{
    CIP_TRY(zlib_new(env, (cip_bytes){ 0 }, 0, state, err));
    zlib_state *s = *state;
    s->bare = s->data_begun = true;
    s->args = args;
    s->sum = 0;
    return CIP_OK;
}

/* A checkpoint is always behind the header, if there is one. */
static cip_status resume_at(const cip_codec_env *env, const cip_checkpoint *from, unsigned head,
                            void **state, cip_err *err)
{
    *state = NULL;
    if (from->in_bits < 8 * head || from->window_len < SUM)
        return cip_fail(
            err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
            "expected a checkpoint after the header of a zlib stream, found one inside it");
    const cip_bytes window = { from->window + SUM, from->window_len - SUM };
    CIP_TRY(zlib_new(env, window, (unsigned)(from->in_bits % 8), state, err));
    zlib_state *s = *state;
    s->data_begun = true;
    s->taken = from->in_bits / 8;
    s->raw = from->raw;
    s->sum = cip_load_u32(from->window, true);
    return CIP_OK;
}

static cip_status zlib_resume(const void *args, const cip_codec_env *env,
                              const cip_checkpoint *from, void **state, cip_err *err)
{
    (void)args;
    return resume_at(env, from, HEAD, state, err);
}

static cip_status deflate_resume(const void *args, const cip_codec_env *env,
                                 const cip_checkpoint *from, void **state, cip_err *err)
{
    CIP_TRY(resume_at(env, from, 0, state, err));
    ((zlib_state *)*state)->bare = true;
    ((zlib_state *)*state)->args = args;
    return CIP_OK;
}

static bool take_byte(cip_flow *f, uint8_t *byte)
{
    if (f->took == f->in_len)
        return false;
    *byte = f->in[f->took++];
    return true;
}

static cip_status take_head(zlib_state *s, cip_flow *f, cip_err *err)
{
    enum { DEFLATE = 8, WINDOW_MOST = 7, NEEDS_DICTIONARY = 32 };
    for (; s->nhead < HEAD; s->nhead++)
        if (!take_byte(f, &s->head[s->nhead]))
            return CIP_OK;
    const unsigned method = s->head[0], flags = s->head[1];
    if ((method << 8 | flags) % 31 != 0)
        return damaged(s, "incorrect header check", err);
    if ((method & 15) != DEFLATE)
        return damaged(s, "unknown compression method", err);
    if (method >> 4 > WINDOW_MOST)
        return damaged(s, "invalid window size", err);
    s->data_begun = (flags & NEEDS_DICTIONARY) == 0;
    for (; !s->data_begun && s->nhead < HEAD + DICTIONARY; s->nhead++)
        if (!take_byte(f, &s->head[s->nhead]))
            return CIP_OK;
    return s->data_begun
               ? CIP_OK
               : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                          "expected a zlib stream without a preset dictionary, found one");
}

static cip_status take_tail(zlib_state *s, cip_flow *f, cip_err *err)
{
    for (uint8_t byte; s->tail < TAIL && take_byte(f, &byte); s->tail++)
        s->stored = s->stored << 8 | byte;
    s->end = s->tail == TAIL;
    return !s->end || s->stored == s->sum
               ? CIP_OK
               : cip_fail(err, CIP_ERR_CHECKSUM, CIP_NO_OFFSET,
                          "expected a zlib stream, found incorrect data check");
}

static cip_status take_data(zlib_state *s, cip_flow *f, cip_err *err)
{
    cip_flow data = *f;
    data.in += f->took;
    data.in_len -= f->took;
    const cip_inflate_stop stop = cip_inflate_step(s->data, &data, s->wanted);
    f->took += data.took;
    f->gave = data.gave;
    s->sum = (s->bare ? libdeflate_crc32 : libdeflate_adler32)(s->sum, f->out, f->gave);
    s->raw += f->gave;
    s->at_checkpoint = stop == CIP_INFLATE_BLOCK;
    s->wanted = s->wanted && !s->at_checkpoint;
    s->tail_begun = stop == CIP_INFLATE_END;
    if (stop == CIP_INFLATE_DAMAGED)
        return damaged(s, cip_inflate_why(s->data), err);
    s->end = s->tail_begun && s->bare;
    return s->end && s->args != NULL ? check_crc(s->args, s->sum, err) : CIP_OK;
}

static cip_status zlib_step(void *state, cip_flow *f, cip_err *err)
{
    zlib_state *s = state;
    f->took = f->gave = 0;
    s->at_checkpoint = false;
    if (!s->data_begun)
        CIP_TRY(take_head(s, f, err));
    if (s->data_begun && !s->tail_begun)
        CIP_TRY(take_data(s, f, err));
    if (s->tail_begun && !s->end)
        CIP_TRY(take_tail(s, f, err));
    f->end = s->end;
    s->taken += f->took;
    return s->at_checkpoint ? CIP_OK : cip_step_end(f, err);
}

static bool zlib_checkpoint(void *state, bool want, cip_checkpoint *out)
{
    zlib_state *s = state;
    size_t n;
    s->wanted = want;
    if (want || !s->at_checkpoint)
        return false;
    uint8_t *window = cip_inflate_window(s->data, &n) - SUM;
    cip_store_u32(window, s->sum, true);
    *out = (cip_checkpoint){ .in_bits = 8 * s->taken - cip_inflate_bits(s->data),
                             .raw = s->raw,
                             .window_len = SUM + n,
                             .window = window };
    return true;
}

static void zlib_finish(void *state)
{
    zlib_state *s = state;
    if (s == NULL)
        return;
    cip_mem_put(s->mem, s->data);
    cip_mem_put(s->mem, s);
}

static const cip_stream_codec zlib_stream = {
    .begin = zlib_begin,
    .step = zlib_step,
    .finish = zlib_finish,
    .checkpoint = zlib_checkpoint,
    .resume = zlib_resume,
};

static const cip_stream_codec deflate_stream = {
    .begin = deflate_begin,
    .step = zlib_step,
    .finish = zlib_finish,
    .checkpoint = zlib_checkpoint,
    .resume = deflate_resume,
};

/* As libdeflate's functions are. */
typedef enum libdeflate_result whole_fn(struct libdeflate_decompressor *d, const void *in,
                                        size_t in_len, void *out, size_t cap, size_t *took,
                                        size_t *got);

/* All of it at once. libdeflate does not tell truncated from damaged: the stream goes over it again
 * to find out. */
static cip_status decode_with(whole_fn *whole, const cip_stream_codec *stream,
                              const cip_codec_env *env, cip_bytes src, cip_dst dst, cip_err *err)
{
    uint8_t none;
    size_t took, got;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (d == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libdeflate");
    enum libdeflate_result r =
        whole(d, src.ptr, src.len, dst.cap != 0 ? dst.ptr : &none, dst.cap, &took, &got);
    libdeflate_free_decompressor(d);
    if (r == LIBDEFLATE_SUCCESS && got == dst.cap)
        return CIP_OK;
    return cip_decode_whole(stream, env, src, dst.ptr, dst.cap, err);
}

static cip_status zlib_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                              uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args;
    return decode_with(libdeflate_zlib_decompress_ex, &zlib_stream, env, src,
                       (cip_dst){ .ptr = dst, .cap = dst_len }, err);
}

static cip_status deflate_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                                 uint8_t *dst, size_t dst_len, cip_err *err)
{
    CIP_TRY(decode_with(libdeflate_deflate_decompress_ex, &deflate_stream, env, src,
                        (cip_dst){ .ptr = dst, .cap = dst_len }, err));
    return args == NULL ? CIP_OK : check_crc(args, libdeflate_crc32(0, dst, dst_len), err);
}

static cip_status gzip_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                              uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args, (void)env;
    uint8_t none;
    size_t got = 0;
    enum libdeflate_result r = LIBDEFLATE_BAD_DATA;
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (d == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libdeflate");
    do {
        size_t took = 0, more = 0;
        r = libdeflate_gzip_decompress_ex(d, src.ptr, src.len, dst_len != got ? dst + got : &none,
                                          dst_len - got, &took, &more);
        if (r != LIBDEFLATE_SUCCESS)
            break;
        got += more;
        src = (cip_bytes){ src.ptr + took, src.len - took };
    } while (src.len != 0 && got < dst_len);
    libdeflate_free_decompressor(d);
    if (r == LIBDEFLATE_INSUFFICIENT_SPACE)
        return cip_fail_long(err, dst_len);
    if (r != LIBDEFLATE_SUCCESS)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected gzip members of %zu decoded bytes, found damaged or truncated "
                        "ones",
                        dst_len);
    return got == dst_len ? CIP_OK : cip_fail_short(err, dst_len, got);
}

/* libdeflate's bounds wrap around. */
static size_t zlib_bound(size_t n)
{
    const size_t bound = libdeflate_zlib_compress_bound(NULL, n);
    return bound > n ? bound : 0;
}

static size_t gzip_bound(size_t n)
{
    const size_t bound = libdeflate_gzip_compress_bound(NULL, n);
    return bound > n ? bound : 0;
}

static cip_status zlib_level(int level, cip_err *err)
{
    return level == 0 ? CIP_OK : cip_check_level(level, LEVEL_MIN, LEVEL_MAX, err);
}

/* As libdeflate's functions are. */
typedef size_t encode_fn(struct libdeflate_compressor *c, const void *in, size_t in_len, void *out,
                         size_t cap);

static cip_status encode_with(encode_fn *whole, int level, cip_bytes src, cip_dst *out,
                              cip_err *err)
{
    level = level == 0 ? LEVEL_DEFAULT : level;
    CIP_TRY(zlib_level(level, err));
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    if (c == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libdeflate");
    const size_t n = whole(c, src.ptr, src.len, out->ptr, out->cap);
    libdeflate_free_compressor(c);
    if (n == 0)
        return cip_fail_room(err, out->cap);
    out->len = n;
    return CIP_OK;
}

static cip_status zlib_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                              cip_dst *out, cip_err *err)
{
    (void)args, (void)env;
    return encode_with(libdeflate_zlib_compress, level, src, out, err);
}

static cip_status gzip_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                              cip_dst *out, cip_err *err)
{
    (void)args, (void)env;
    return encode_with(libdeflate_gzip_compress, level, src, out, err);
}

const char *cip_zlib_version(void)
{
    return "libdeflate " LIBDEFLATE_VERSION_STRING ", zlib " ZLIB_VERSION;
}

const cip_codec cip_codec_zlib = { .name = "zlib",
                                   .decode = zlib_decode,
                                   .stream = &zlib_stream,
                                   .bound = zlib_bound,
                                   .level = zlib_level,
                                   .encode = zlib_encode };

const cip_codec cip_codec_gzip = { .name = "gzip",
                                   .decode = gzip_decode,
                                   .bound = gzip_bound,
                                   .level = zlib_level,
                                   .encode = gzip_encode };

const cip_codec cip_codec_deflate = { .name = "deflate",
                                      .decode = deflate_decode,
                                      .stream = &deflate_stream };

#endif
