/* SPDX-License-Identifier: BSD-3-Clause
 * One bzip2 stream; what follows its end is not read. libbz2 counts in 32 bits, so it is fed in
 * pieces. Its memory (up to 3.6 MiB to decode, 7.6 MiB to encode) is counted. */
#include "codec/entropy/bzip2_blocks.h"

#if CIP_WITH_BZIP2

enum { LEVEL_DEFAULT = 9, LEVEL_MIN = 1, LEVEL_MAX = 9, ENCODE_PIECE = 1 << 16 };

static cip_status bzip2_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args;
    return cip_decode_whole(&cip_bzip2_stream, env, src, dst, dst_len, err);
}

/* 1 % and 600 bytes more, as libbz2's manual has it. */
static size_t bzip2_bound(size_t n)
{
    size_t bound;
    return cip_add_overflow(n, n / 100 + 600, &bound) ? 0 : bound;
}

static cip_status bzip2_run(bz_stream *z, cip_bytes src, cip_dst *out, cip_err *err)
{
    size_t took = 0, gave = 0;
    int code;
    do {
        unsigned nin = (unsigned)cip_min_u64(src.len - took, ENCODE_PIECE);
        unsigned nout = cip_piece32(out->cap - gave);
        z->next_in = (char *)(src.len != 0 ? src.ptr + took : out->ptr);
        z->avail_in = nin;
        z->next_out = (char *)(out->ptr + gave);
        z->avail_out = nout;
        code = BZ2_bzCompress(z, took + nin == src.len ? BZ_FINISH : BZ_RUN);
        took += nin - z->avail_in;
        gave += nout - z->avail_out;
        if (code != BZ_STREAM_END && gave == out->cap)
            return cip_fail_room(err, gave);
    } while (code != BZ_STREAM_END);
    out->len = gave;
    return CIP_OK;
}

static cip_status bzip2_level(int level, cip_err *err)
{
    return level == 0 ? CIP_OK : cip_check_level(level, LEVEL_MIN, LEVEL_MAX, err);
}

static cip_status bzip2_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                               cip_dst *out, cip_err *err)
{
    (void)args;
    level = level == 0 ? LEVEL_DEFAULT : level;
    CIP_TRY(bzip2_level(level, err));
    cip_lib_mem lib = { .mem = env->mem };
    bz_stream z = { 0 };
    cip_bzip2_use(&z, &lib);
    if (BZ2_bzCompressInit(&z, level, 0, 0) != BZ_OK)
        return cip_lib_fail(&lib, err);
    cip_status st = bzip2_run(&z, src, out, err);
    BZ2_bzCompressEnd(&z);
    return st;
}

const char *cip_bzip2_version(void)
{
    return BZ2_bzlibVersion();
}

const cip_codec cip_codec_bzip2 = { .name = "bzip2",
                                    .decode = bzip2_decode,
                                    .stream = &cip_bzip2_stream,
                                    .bound = bzip2_bound,
                                    .level = bzip2_level,
                                    .encode = bzip2_encode };

#endif
