/* SPDX-License-Identifier: BSD-3-Clause
 * One bzip2 stream; what follows its end is not read. libbz2 counts in 32 bits, so it is fed in
 * pieces. Its memory (up to 3.6 MiB to decode, 7.6 MiB to encode) is counted. */
#include "codec/entropy/entropy.h"

#if CIP_WITH_BZIP2

#include <bzlib.h>

#include "base/num.h"

enum { LEVEL_DEFAULT = 9, LEVEL_MIN = 1, LEVEL_MAX = 9, ENCODE_PIECE = 1 << 16 };

typedef struct bzip2_state {
    cip_lib_mem lib;
    bz_stream z;
    bool end;
} bzip2_state;

static void *bzip2_get(void *self, int items, int each)
{
    return cip_lib_get(self, (size_t)items, (size_t)each);
}

static void bzip2_put(void *self, void *p)
{
    cip_mem_put(((cip_lib_mem *)self)->mem, p);
}

static void bzip2_init(bzip2_state *s, cip_mem *mem)
{
    s->lib.mem = mem;
    s->z.bzalloc = bzip2_get;
    s->z.bzfree = bzip2_put;
    s->z.opaque = &s->lib;
}

static cip_status bzip2_fail(const bzip2_state *s, int code, cip_err *err)
{
    if (code == BZ_MEM_ERROR)
        return cip_lib_fail(&s->lib, err);
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a bzip2 stream, found %s",
                    code == BZ_DATA_ERROR_MAGIC ? "another beginning" : "damaged data");
}

static cip_status bzip2_begin(const void *args, const cip_codec_env *env, void **state,
                              cip_err *err)
{
    (void)args;
    *state = NULL;
    bzip2_state *s;
    CIP_TRY(CIP_NEW(env->mem, &s, 1, err));
    bzip2_init(s, env->mem);
    int code = BZ2_bzDecompressInit(&s->z, 0, 0);
    if (code != BZ_OK) {
        cip_status st = bzip2_fail(s, code, err);
        cip_mem_put(env->mem, s);
        return st;
    }
    *state = s;
    return CIP_OK;
}

static cip_status bzip2_step(void *state, const uint8_t *in, size_t *in_len, bool last,
                             uint8_t *out, size_t *out_len, bool *end, cip_err *err)
{
    bzip2_state *s = state;
    unsigned nin = cip_piece32(*in_len), nout = cip_piece32(*out_len);
    s->z.next_in = (char *)in;
    s->z.avail_in = nin;
    s->z.next_out = (char *)out;
    s->z.avail_out = nout;
    int code = s->end ? BZ_STREAM_END : BZ2_bzDecompress(&s->z);
    if (code != BZ_OK && code != BZ_STREAM_END)
        return bzip2_fail(s, code, err);
    s->end = code == BZ_STREAM_END;
    cip_step_done d = { last, nout, nin - s->z.avail_in, nout - s->z.avail_out, s->end };
    return cip_step_end(d, in_len, out_len, end, err);
}

static void bzip2_finish(void *state)
{
    bzip2_state *s = state;
    if (s == NULL)
        return;
    BZ2_bzDecompressEnd(&s->z);
    cip_mem_put(s->lib.mem, s);
}

static const cip_stream_codec bzip2_stream = { .begin = bzip2_begin,
                                               .step = bzip2_step,
                                               .finish = bzip2_finish };

static cip_status bzip2_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args;
    return cip_decode_whole(&bzip2_stream, env, src, dst, dst_len, err);
}

/* 1 % and 600 bytes more, as libbz2's manual has it. */
static size_t bzip2_bound(size_t n)
{
    size_t bound;
    return cip_add_overflow(n, n / 100 + 600, &bound) ? 0 : bound;
}

static cip_status bzip2_run(bzip2_state *s, cip_bytes src, uint8_t *dst, size_t cap, size_t *out,
                            cip_err *err)
{
    size_t took = 0, gave = 0;
    int code;
    do {
        unsigned nin = (unsigned)cip_min_u64(src.len - took, ENCODE_PIECE);
        unsigned nout = cip_piece32(cap - gave);
        s->z.next_in = (char *)(src.len != 0 ? src.ptr + took : dst);
        s->z.avail_in = nin;
        s->z.next_out = (char *)(dst + gave);
        s->z.avail_out = nout;
        code = BZ2_bzCompress(&s->z, took + nin == src.len ? BZ_FINISH : BZ_RUN);
        took += nin - s->z.avail_in;
        gave += nout - s->z.avail_out;
        if (code != BZ_STREAM_END && gave == cap)
            return cip_fail_room(err, cap);
    } while (code != BZ_STREAM_END);
    *out = gave;
    return CIP_OK;
}

static cip_status bzip2_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                               uint8_t *dst, size_t cap, size_t *out, cip_err *err)
{
    (void)args;
    level = level == 0 ? LEVEL_DEFAULT : level;
    CIP_TRY(cip_check_level(level, LEVEL_MIN, LEVEL_MAX, err));
    bzip2_state s = { 0 };
    bzip2_init(&s, env->mem);
    int code = BZ2_bzCompressInit(&s.z, level, 0, 0);
    if (code != BZ_OK)
        return bzip2_fail(&s, code, err);
    cip_status st = bzip2_run(&s, src, dst, cap, out, err);
    BZ2_bzCompressEnd(&s.z);
    return st;
}

const char *cip_bzip2_version(void)
{
    return BZ2_bzlibVersion();
}

const cip_codec cip_codec_bzip2 = { .name = "bzip2",
                                    .decode = bzip2_decode,
                                    .stream = &bzip2_stream,
                                    .bound = bzip2_bound,
                                    .encode = bzip2_encode };

#endif
