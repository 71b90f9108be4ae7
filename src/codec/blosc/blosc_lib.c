/* SPDX-License-Identifier: BSD-3-Clause
 * The streams of a chunk through their codec. What a library needs to work is made once for all
 * streams, that of libzstd for all chunks of a file; libdeflate and libzstd take their memory
 * from the C library (12 and 160 KiB). */
#include "codec/blosc/blosc_decode.h"

#include <string.h>

#include "base/num.h"
#include "codec/entropy/entropy.h"

#if CIP_WITH_ZLIB
#include <libdeflate.h>
#endif
#if CIP_WITH_LZ4
#include <lz4.h>
#endif
#if CIP_WITH_ZSTD
#include <zstd.h>
#endif
#if CIP_WITH_SNAPPY
#include <snappy-c.h>
#endif

static cip_status bad_stream(const cip_blosc_lib *lib, size_t n, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected a stream of %s of %zu decoded bytes, found damaged data",
                    cip_blosc_codec_name(lib->compcode), n);
}

/* Goes over a stream that a library refused again, to say what is wrong with it. That it ends too
 * early is damage: the chunk is all there. */
static cip_status explain(const cip_blosc_lib *lib, const cip_codec *codec, cip_bytes src,
                          uint8_t *dst, size_t n, cip_err *err)
{
    cip_status st = codec->decode(NULL, lib->env, src, dst, n, err);
    if (st == CIP_ERR_TRUNCATED || st == CIP_OK)
        return bad_stream(lib, n, err);
    return st;
}

static cip_status ndlz_stream(const cip_blosc_lib *lib, cip_bytes src, uint8_t *dst, size_t n,
                              cip_err *err)
{
    return cip_ndlz_decode(lib->meta, src, dst, n, err);
}

static cip_status blosclz_stream(const cip_blosc_lib *lib, cip_bytes src, uint8_t *dst, size_t n,
                                 cip_err *err)
{
    size_t got;
    (void)lib;
    CIP_TRY(cip_blosclz_decode(src, dst, n, &got, err));
    return got == n ? CIP_OK : cip_fail_short(err, n, got);
}

#if CIP_WITH_LZ4
static cip_status lz4_stream(const cip_blosc_lib *lib, cip_bytes src, uint8_t *dst, size_t n,
                             cip_err *err)
{
    int got; /* chunks and blocks are under 2 GiB */
    if (lib->dict.len == 0)
        got = LZ4_decompress_safe((const char *)src.ptr, (char *)dst, (int)src.len, (int)n);
    else
        got =
            LZ4_decompress_safe_usingDict((const char *)src.ptr, (char *)dst, (int)src.len, (int)n,
                                          (const char *)lib->dict.ptr, (int)lib->dict.len);
    if (got == (int)n)
        return CIP_OK;
    return lib->dict.len == 0 ? explain(lib, &cip_codec_lz4, src, dst, n, err)
                              : bad_stream(lib, n, err);
}
#endif

#if CIP_WITH_ZLIB
static cip_status zlib_stream(const cip_blosc_lib *lib, cip_bytes src, uint8_t *dst, size_t n,
                              cip_err *err)
{
    size_t took, got;
    enum libdeflate_result r =
        libdeflate_zlib_decompress_ex(lib->ctx, src.ptr, src.len, dst, n, &took, &got);
    if (r == LIBDEFLATE_SUCCESS && got == n)
        return CIP_OK;
    return explain(lib, &cip_codec_zlib, src, dst, n, err);
}
#endif

#if CIP_WITH_ZSTD
static cip_status zstd_stream(const cip_blosc_lib *lib, cip_bytes src, uint8_t *dst, size_t n,
                              cip_err *err)
{
    size_t got;
    if (lib->prepared_dict == NULL)
        got = ZSTD_decompressDCtx(lib->ctx, dst, n, src.ptr, src.len);
    else
        got = ZSTD_decompress_usingDDict(lib->ctx, dst, n, src.ptr, src.len, lib->prepared_dict);
    if (got == n)
        return CIP_OK;
    return lib->prepared_dict == NULL ? explain(lib, &cip_codec_zstd, src, dst, n, err)
                                      : bad_stream(lib, n, err);
}
#endif

#if CIP_WITH_SNAPPY
static cip_status snappy_stream(const cip_blosc_lib *lib, cip_bytes src, uint8_t *dst, size_t n,
                                cip_err *err)
{
    size_t len;
    if (snappy_uncompressed_length((const char *)src.ptr, src.len, &len) != SNAPPY_OK)
        return bad_stream(lib, n, err);
    if (len != n)
        return cip_fail_short(err, n, len);
    if (snappy_uncompress((const char *)src.ptr, src.len, (char *)dst, &len) != SNAPPY_OK)
        return bad_stream(lib, n, err);
    return CIP_OK;
}
#endif

cip_blosc_stream_fn *cip_blosc_stream_of(int compcode)
{
    switch (compcode) {
    case CIP_BLOSC_BLOSCLZ:
        return blosclz_stream;
    case CIP_BLOSC_NDLZ:
        return ndlz_stream;
#if CIP_WITH_LZ4
    case CIP_BLOSC_LZ4:
    case CIP_BLOSC_LZ4HC:
        return lz4_stream;
#endif
#if CIP_WITH_SNAPPY
    case CIP_BLOSC_SNAPPY:
        return snappy_stream;
#endif
#if CIP_WITH_ZLIB
    case CIP_BLOSC_ZLIB:
        return zlib_stream;
#endif
#if CIP_WITH_ZSTD
    case CIP_BLOSC_ZSTD:
        return zstd_stream;
#endif
#if CIP_WITH_ZFP
    case CIP_BLOSC_ZFP_ACC:
    case CIP_BLOSC_ZFP_PREC:
    case CIP_BLOSC_ZFP_RATE:
        return cip_blosc_zfp_decode;
#endif
    default:
        return NULL;
    }
}

cip_status cip_blosc_lib_open(cip_blosc_lib *lib, const cip_codec_env *env, const cip_blosc_head *h,
                              cip_bytes dict, cip_err *err)
{
    *lib = (cip_blosc_lib){ .env = env,
                            .decode = cip_blosc_stream_of(h->compcode),
                            .compcode = h->compcode,
                            .meta = h->codec_meta,
                            .typesize = h->typesize,
                            .big = h->big,
                            .dict = dict };
    cip_status st = CIP_OK;
    if (lib->decode == NULL) /* cip_blosc_known lets none through */
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "a stream of codec %d",
                        h->compcode);
#if CIP_WITH_ZLIB
    if (h->compcode == CIP_BLOSC_ZLIB) {
        lib->ctx = libdeflate_alloc_decompressor();
        if (lib->ctx == NULL)
            st = cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for a codec");
    }
#endif
#if CIP_WITH_ZSTD
    if (h->compcode == CIP_BLOSC_ZSTD)
        st = cip_zstd_decoder(env, &lib->ctx, err);
    if (h->compcode == CIP_BLOSC_ZSTD && st == CIP_OK && dict.len != 0) {
        lib->prepared_dict = ZSTD_createDDict(dict.ptr, dict.len);
        if (lib->prepared_dict == NULL) /* almost never for want of memory */
            st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                          "expected a zstd dictionary, found %zu damaged bytes", dict.len);
    }
#endif
    if (st != CIP_OK)
        cip_blosc_lib_close(lib);
    return st;
}

void cip_blosc_lib_close(cip_blosc_lib *lib)
{
#if CIP_WITH_ZLIB
    if (lib->compcode == CIP_BLOSC_ZLIB && lib->ctx != NULL)
        libdeflate_free_decompressor(lib->ctx);
#endif
#if CIP_WITH_ZSTD
    if (lib->compcode == CIP_BLOSC_ZSTD) {
        ZSTD_freeDDict(lib->prepared_dict);
        cip_zstd_decoder_end(lib->env, lib->ctx);
    }
#endif
    lib->ctx = lib->prepared_dict = NULL;
}
