/* SPDX-License-Identifier: BSD-3-Clause
 * zlib streams (RFC 1950): libdeflate where the decoded size is known, zlib in pieces. libdeflate
 * takes its contexts (about 11 KiB to decode, up to 1 MiB to encode) from the C library: its
 * allocator can only be set for the whole process, so they are not counted. */
#include "codec/entropy/entropy.h"

#if CIP_WITH_ZLIB

#include <libdeflate.h>
#include <string.h>
#include <zlib.h>

#include "base/endian.h"

enum { LEVEL_DEFAULT = 6, LEVEL_MIN = 1, LEVEL_MAX = 12 };

enum { HEAD = 2, TAIL = 4, SUM = 4 /* in front of a checkpoint's window: the Adler-32 so far */ };

typedef struct zlib_state {
    cip_lib_mem lib;
    z_stream z;
    bool end;
    bool resumed;    /* the data alone: their checksum is told here, from that of the checkpoint */
    unsigned skip;   /* resumed: bits of the first byte to be left out */
    bool tail_begun; /* resumed: the data are done */
    unsigned tail;   /* bytes of the checksum that were taken */
    uint32_t sum, stored; /* resumed: the checksum so far; the one in the stream, as far as taken */
    bool wanted, at_checkpoint; /* a stop where a block begins */
    uint64_t taken, raw;        /* bytes up to here: of the stream, of the data */
    uint8_t *window;            /* of a checkpoint; made for the first */
} zlib_state;

static const char bad_sum[] = "incorrect data check"; /* as zlib says it */

static voidpf zlib_get(voidpf self, uInt items, uInt each)
{
    return cip_lib_get(self, items, each);
}

static void zlib_put(voidpf self, voidpf p)
{
    cip_mem_put(((cip_lib_mem *)self)->mem, p);
}

static cip_status zlib_fail(const zlib_state *s, int code, cip_err *err)
{
    const char *why = s->z.msg != NULL ? s->z.msg : "damaged data";
    switch (code) {
    case Z_MEM_ERROR:
        return cip_lib_fail(&s->lib, err);
    case Z_NEED_DICT:
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a zlib stream without a preset dictionary, found one");
    default: /* zlib tells a wrong Adler-32 by its message alone */
        return cip_fail(err, strcmp(why, bad_sum) == 0 ? CIP_ERR_CHECKSUM : CIP_ERR_CORRUPT,
                        CIP_NO_OFFSET, "expected a zlib stream, found %s", why);
    }
}

static cip_status zlib_new(const cip_codec_env *env, int bits, zlib_state **out, cip_err *err)
{
    zlib_state *s;
    CIP_TRY(CIP_NEW(env->mem, &s, 1, err));
    s->lib.mem = env->mem;
    s->z.zalloc = zlib_get;
    s->z.zfree = zlib_put;
    s->z.opaque = &s->lib;
    int code = inflateInit2(&s->z, bits);
    if (code != Z_OK) {
        cip_status st = zlib_fail(s, code, err);
        cip_mem_put(env->mem, s);
        return st;
    }
    *out = s;
    return CIP_OK;
}

static cip_status zlib_begin(const void *args, const cip_codec_env *env, void **state, cip_err *err)
{
    (void)args;
    *state = NULL;
    return zlib_new(env, MAX_WBITS, (zlib_state **)state, err);
}

static void zlib_finish(void *state);

/* A checkpoint is always behind the header. */
static cip_status zlib_resume(const void *args, const cip_codec_env *env,
                              const cip_checkpoint *from, void **state, cip_err *err)
{
    (void)args;
    zlib_state *s = NULL; /* for compilers that do not see that it is made */
    *state = NULL;
    if (from->in_bits < 8 * HEAD || from->window_len < SUM)
        return cip_fail(
            err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
            "expected a checkpoint after the header of a zlib stream, found one inside it");
    CIP_TRY(zlib_new(env, -MAX_WBITS, &s, err));
    s->resumed = true;
    s->skip = (unsigned)(from->in_bits % 8);
    s->taken = from->in_bits / 8;
    s->raw = from->raw;
    s->sum = cip_load_u32(from->window, true);
    int code = from->window_len == SUM ? Z_OK
                                       : inflateSetDictionary(&s->z, from->window + SUM,
                                                              (uInt)(from->window_len - SUM));
    if (code != Z_OK) {
        cip_status st = zlib_fail(s, code, err);
        zlib_finish(s);
        return st;
    }
    *state = s;
    return CIP_OK;
}

/* Resumed: the checksum behind the data. */
static int take_tail(zlib_state *s)
{
    for (; s->tail < TAIL && s->z.avail_in != 0; s->tail++) {
        s->stored = s->stored << 8 | *s->z.next_in++;
        s->z.avail_in--;
    }
    if (s->tail < TAIL)
        return Z_OK;
    if (s->stored == s->sum)
        return Z_STREAM_END;
    s->z.msg = (char *)(uintptr_t)bad_sum;
    return Z_DATA_ERROR;
}

static int turn(zlib_state *s)
{
    if (s->end)
        return Z_STREAM_END;
    if (s->tail_begun)
        return take_tail(s);
    if (s->skip != 0 && s->z.avail_in != 0) {
        inflatePrime(&s->z, (int)(8 - s->skip), *s->z.next_in >> s->skip);
        s->z.avail_in--;
        s->z.next_in++;
        s->skip = 0;
    }
    const Bytef *out = s->z.next_out;
    int code = inflate(&s->z, s->wanted ? Z_BLOCK : Z_NO_FLUSH);
    if (s->resumed)
        s->sum = (uint32_t)adler32(s->sum, out, (uInt)(s->z.next_out - out));
    enum { AT_BLOCK = 128, IN_LAST = 64 }; /* of data_type */
    s->at_checkpoint =
        s->wanted && code == Z_OK && (s->z.data_type & (AT_BLOCK | IN_LAST)) == AT_BLOCK;
    s->wanted = s->wanted && !s->at_checkpoint;
    s->tail_begun = s->resumed && code == Z_STREAM_END;
    return s->tail_begun ? take_tail(s) : code;
}

static cip_status zlib_step(void *state, cip_flow *f, cip_err *err)
{
    zlib_state *s = state;
    uInt nin = cip_piece32(f->in_len), nout = cip_piece32(f->out_len);
    s->z.next_in = (z_const Bytef *)f->in;
    s->z.avail_in = nin;
    s->z.next_out = f->out;
    s->z.avail_out = nout;
    int code = turn(s);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) /* the last: no progress */
        return zlib_fail(s, code, err);
    s->end = f->end = code == Z_STREAM_END;
    s->taken += f->took = nin - s->z.avail_in;
    s->raw += f->gave = nout - s->z.avail_out;
    return cip_step_end(f, err);
}

static bool zlib_checkpoint(void *state, bool want, cip_checkpoint *out)
{
    enum { BITS_LEFT = 7 }; /* of data_type: of the last byte taken */
    zlib_state *s = state;
    uInt n = 0;
    s->wanted = want;
    if (want || !s->at_checkpoint)
        return false;
    if (s->window == NULL &&
        cip_mem_get(s->lib.mem, CIP_CHECKPOINT_WINDOW, (void **)&s->window, NULL) != CIP_OK)
        return false;
    inflateGetDictionary(&s->z, s->window + SUM, &n);
    cip_store_u32(s->window, s->resumed ? s->sum : (uint32_t)s->z.adler, true);
    *out = (cip_checkpoint){ .in_bits = 8 * s->taken - (unsigned)(s->z.data_type & BITS_LEFT),
                             .raw = s->raw,
                             .window_len = SUM + n,
                             .window = s->window };
    return true;
}

static void zlib_finish(void *state)
{
    zlib_state *s = state;
    if (s == NULL)
        return;
    inflateEnd(&s->z);
    cip_mem_put(s->lib.mem, s->window);
    cip_mem_put(s->lib.mem, s);
}

static const cip_stream_codec zlib_stream = {
    .begin = zlib_begin,
    .step = zlib_step,
    .finish = zlib_finish,
    .checkpoint = zlib_checkpoint,
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
    /* libdeflate does not tell truncated from damaged: zlib goes over it again to find out. */
    return cip_decode_whole(&zlib_stream, env, src, dst, dst_len, err);
}

static size_t zlib_bound(size_t n)
{
    size_t bound = libdeflate_zlib_compress_bound(NULL, n);
    return bound > n ? bound : 0; /* it wraps around */
}

static cip_status zlib_level(int level, cip_err *err)
{
    return level == 0 ? CIP_OK : cip_check_level(level, LEVEL_MIN, LEVEL_MAX, err);
}

static cip_status zlib_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                              cip_dst *out, cip_err *err)
{
    (void)args, (void)env;
    level = level == 0 ? LEVEL_DEFAULT : level;
    CIP_TRY(zlib_level(level, err));
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    if (c == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libdeflate");
    size_t n = libdeflate_zlib_compress(c, src.ptr, src.len, out->ptr, out->cap);
    libdeflate_free_compressor(c);
    if (n == 0)
        return cip_fail_room(err, out->cap);
    out->len = n;
    return CIP_OK;
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

#endif
