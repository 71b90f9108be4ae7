/* SPDX-License-Identifier: BSD-3-Clause
 * gzip members (RFC 1952), one behind the other, through libdeflate; its contexts are not counted,
 * as in codec_zlib.c. */
#include "codec/entropy/entropy.h"

#if CIP_WITH_ZLIB

#include <libdeflate.h>

enum { LEVEL_DEFAULT = 6, LEVEL_MIN = 1, LEVEL_MAX = 12 };

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

static size_t gzip_bound(size_t n)
{
    const size_t bound = libdeflate_gzip_compress_bound(NULL, n);
    return bound > n ? bound : 0; /* it wraps around */
}

static cip_status gzip_level(int level, cip_err *err)
{
    return level == 0 ? CIP_OK : cip_check_level(level, LEVEL_MIN, LEVEL_MAX, err);
}

static cip_status gzip_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                              cip_dst *out, cip_err *err)
{
    (void)args, (void)env;
    level = level == 0 ? LEVEL_DEFAULT : level;
    CIP_TRY(gzip_level(level, err));
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    if (c == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libdeflate");
    const size_t n = libdeflate_gzip_compress(c, src.ptr, src.len, out->ptr, out->cap);
    libdeflate_free_compressor(c);
    if (n == 0)
        return cip_fail_room(err, out->cap);
    out->len = n;
    return CIP_OK;
}

const cip_codec cip_codec_gzip = { .name = "gzip",
                                   .decode = gzip_decode,
                                   .bound = gzip_bound,
                                   .level = gzip_level,
                                   .encode = gzip_encode };

#endif
