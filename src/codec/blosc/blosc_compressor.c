/* SPDX-License-Identifier: BSD-3-Clause
 * The compressors behind Blosc chunks: liblz4 (fast and thorough), libdeflate, libzstd, libzfp,
 * and our BloscLZ and NDLZ. A row for each; what the build lacks has none. */
#include "codec/blosc/blosc_compressor.h"

#include <limits.h>
#include <string.h>

#include "codec/with.h"

#if CIP_WITH_LZ4
#include <lz4.h>
#include <lz4hc.h>
#endif
#if CIP_WITH_ZLIB
#include <libdeflate.h>
#endif
#if CIP_WITH_ZSTD
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>
#endif

typedef struct compressor_row {
    int compcode;
    bool by_level; /* a context is good for its level only */
    cip_status (*open)(cip_blosc_compressor *p, cip_err *err);
    void (*close)(cip_blosc_compressor *p);
    cip_status (*run)(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst, size_t cap, size_t *n,
                      cip_err *err);
    /* Optional pair: sets `primed` from `dict`; takes it back. */
    cip_status (*prime)(cip_blosc_compressor *p, cip_err *err);
    void (*unprime)(cip_blosc_compressor *p);
} compressor_row;

/* The context is memory of ours. */
static void close_state(cip_blosc_compressor *p)
{
    cip_mem_put(p->mem, p->state);
}

/* --- BloscLZ --------------------------------------------------------------------------------- */

/* NDLZ's table is the same. */
static cip_status blosclz_open(cip_blosc_compressor *p, cip_err *err)
{
    return cip_mem_get(p->mem, CIP_BLOSCLZ_TABLE * sizeof(uint32_t), &p->state, err);
}

/* Up to this level a stream that saves less than its share is kept raw: it is decoded as quickly as
 * it is copied. */
enum { BLOSCLZ_FAST = 6, BLOSCLZ_SHARE = 8 };

static cip_status blosclz_run(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst, size_t cap,
                              size_t *n, cip_err *err)
{
    (void)err;
    size_t worth = src.len - src.len / BLOSCLZ_SHARE;
    if (p->level <= BLOSCLZ_FAST && cap > worth)
        cap = worth;
    cip_blosclz_encode(p->level, src, p->state, dst, cap, n);
    return CIP_OK;
}

/* --- NDLZ ------------------------------------------------------------------------------------ */

static cip_status ndlz_run(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst, size_t cap,
                           size_t *n, cip_err *err)
{
    (void)err;
    const int64_t *shape = p->spec->block;
    cip_ndlz_plane plane = { src.ptr, (uint32_t)shape[0], (uint32_t)shape[1], p->spec->codec_meta };
    cip_ndlz_encode(&plane, p->state, dst, cap, n);
    return CIP_OK;
}

/* --- LZ4: a dictionary is a prefix, loaded once and then copied for each stream --------------- */

#if CIP_WITH_LZ4

static int lz4_len(size_t n)
{
    return n > INT_MAX ? INT_MAX : (int)n;
}

static void lz4_unprime(cip_blosc_compressor *p)
{
    cip_mem_put(p->mem, p->primed);
}

static cip_status lz4_open(cip_blosc_compressor *p, cip_err *err)
{
    return cip_mem_get(p->mem, sizeof(LZ4_stream_t), &p->state, err);
}

static cip_status lz4_run(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst, size_t cap,
                          size_t *n, cip_err *err)
{
    (void)err;
    const char *in = (const char *)src.ptr;
    int len = (int)src.len, room = lz4_len(cap), hurry = 10 - p->level, got;
    if (p->primed != NULL) {
        memcpy(p->state, p->primed, sizeof(LZ4_stream_t));
        got = LZ4_compress_fast_continue(p->state, in, (char *)dst, len, room, hurry);
    } else {
        got = LZ4_compress_fast_extState(p->state, in, (char *)dst, len, room, hurry);
    }
    *n = got > 0 ? (size_t)got : 0;
    return CIP_OK;
}

static cip_status lz4_prime(cip_blosc_compressor *p, cip_err *err)
{
    CIP_TRY(cip_mem_get(p->mem, sizeof(LZ4_stream_t), &p->primed, err));
    LZ4_initStream(p->primed, sizeof(LZ4_stream_t));
    LZ4_loadDict(p->primed, (const char *)p->dict.ptr, (int)p->dict.len);
    return CIP_OK;
}

static cip_status lz4hc_open(cip_blosc_compressor *p, cip_err *err)
{
    return cip_mem_get(p->mem, sizeof(LZ4_streamHC_t), &p->state, err);
}

static cip_status lz4hc_run(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst, size_t cap,
                            size_t *n, cip_err *err)
{
    (void)err;
    const char *in = (const char *)src.ptr;
    int len = (int)src.len, room = lz4_len(cap), got;
    if (p->primed != NULL) {
        memcpy(p->state, p->primed, sizeof(LZ4_streamHC_t));
        got = LZ4_compress_HC_continue(p->state, in, (char *)dst, len, room);
    } else {
        got = LZ4_compress_HC_extStateHC(p->state, in, (char *)dst, len, room, p->level);
    }
    *n = got > 0 ? (size_t)got : 0;
    return CIP_OK;
}

static cip_status lz4hc_prime(cip_blosc_compressor *p, cip_err *err)
{
    CIP_TRY(cip_mem_get(p->mem, sizeof(LZ4_streamHC_t), &p->primed, err));
    LZ4_initStreamHC(p->primed, sizeof(LZ4_streamHC_t));
    LZ4_resetStreamHC_fast(p->primed, p->level);
    LZ4_loadDictHC(p->primed, (const char *)p->dict.ptr, (int)p->dict.len);
    return CIP_OK;
}

#endif

/* --- zlib ------------------------------------------------------------------------------------ */

#if CIP_WITH_ZLIB

/* libdeflate's level for each of ours: about zlib's ratio at that level or better. */
static const int zlib_levels[10] = { 1, 1, 1, 2, 3, 4, 6, 7, 9, 10 };

static cip_status zlib_open(cip_blosc_compressor *p, cip_err *err)
{
    p->state = libdeflate_alloc_compressor(zlib_levels[p->level]);
    return p->state != NULL
               ? CIP_OK
               : cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libdeflate");
}

static void zlib_close(cip_blosc_compressor *p)
{
    libdeflate_free_compressor(p->state);
}

static cip_status zlib_run(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst, size_t cap,
                           size_t *n, cip_err *err)
{
    (void)err;
    *n = libdeflate_zlib_compress(p->state, src.ptr, src.len, dst, cap);
    return CIP_OK;
}

#endif

/* --- zstd ------------------------------------------------------------------------------------ */

#if CIP_WITH_ZSTD

static int zstd_level(int level)
{
    return level == 9 ? ZSTD_maxCLevel() : level == 8 ? ZSTD_maxCLevel() - 2 : 2 * level - 1;
}

static cip_status zstd_no_memory(cip_err *err)
{
    return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libzstd");
}

static cip_status zstd_open(cip_blosc_compressor *p, cip_err *err)
{
    p->state = ZSTD_createCCtx();
    if (p->state == NULL)
        return zstd_no_memory(err);
    ZSTD_CCtx_setParameter(p->state, ZSTD_c_compressionLevel, zstd_level(p->level));
    return CIP_OK;
}

static void zstd_close(cip_blosc_compressor *p)
{
    ZSTD_freeCCtx(p->state);
}

static cip_status zstd_run(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst, size_t cap,
                           size_t *n, cip_err *err)
{
    size_t got = ZSTD_compress2(p->state, dst, cap, src.ptr, src.len);
    if (ZSTD_isError(got) && ZSTD_getErrorCode(got) != ZSTD_error_dstSize_tooSmall)
        return zstd_no_memory(err);
    *n = ZSTD_isError(got) ? 0 : got;
    return CIP_OK;
}

static cip_status zstd_prime(cip_blosc_compressor *p, cip_err *err)
{
    p->primed = ZSTD_createCDict(p->dict.ptr, p->dict.len, zstd_level(p->level));
    if (p->primed == NULL)
        return zstd_no_memory(err);
    ZSTD_CCtx_refCDict(p->state, p->primed);
    return CIP_OK;
}

static void zstd_unprime(cip_blosc_compressor *p)
{
    ZSTD_CCtx_refCDict(p->state, NULL);
    ZSTD_freeCDict(p->primed);
}

size_t cip_blosc_train(cip_bytes samples, size_t each, uint8_t *dict, size_t cap)
{
    enum { MAX_SAMPLES = 4096 };
    size_t sizes[MAX_SAMPLES], count = each != 0 ? samples.len / each : 0;
    count = count < MAX_SAMPLES ? count : MAX_SAMPLES;
    for (size_t i = 0; i < count; i++)
        sizes[i] = each;
    size_t n = ZDICT_trainFromBuffer(dict, cap, samples.ptr, sizes, (unsigned)count);
    return ZDICT_isError(n) ? 0 : n;
}

#else

size_t cip_blosc_train(cip_bytes samples, size_t each, uint8_t *dict, size_t cap)
{
    (void)samples, (void)each, (void)dict, (void)cap;
    return 0;
}

#endif

/* --- zfp ------------------------------------------------------------------------------------- */

#if CIP_WITH_ZFP
static cip_status no_context(cip_blosc_compressor *p, cip_err *err)
{
    (void)p, (void)err;
    return CIP_OK;
}
#endif

/* --- the table ------------------------------------------------------------------------------- */

static const compressor_row rows[] = {
    { CIP_BLOSC_BLOSCLZ, false, blosclz_open, close_state, blosclz_run, NULL, NULL },
    { CIP_BLOSC_NDLZ, false, blosclz_open, close_state, ndlz_run, NULL, NULL },
#if CIP_WITH_LZ4
    { CIP_BLOSC_LZ4, false, lz4_open, close_state, lz4_run, lz4_prime, lz4_unprime },
    { CIP_BLOSC_LZ4HC, false, lz4hc_open, close_state, lz4hc_run, lz4hc_prime, lz4_unprime },
#endif
#if CIP_WITH_ZLIB
    { CIP_BLOSC_ZLIB, true, zlib_open, zlib_close, zlib_run, NULL, NULL },
#endif
#if CIP_WITH_ZSTD
    { CIP_BLOSC_ZSTD, true, zstd_open, zstd_close, zstd_run, zstd_prime, zstd_unprime },
#endif
#if CIP_WITH_ZFP
    { CIP_BLOSC_ZFP_ACC, false, no_context, NULL, cip_blosc_zfp_encode, NULL, NULL },
    { CIP_BLOSC_ZFP_PREC, false, no_context, NULL, cip_blosc_zfp_encode, NULL, NULL },
    { CIP_BLOSC_ZFP_RATE, false, no_context, NULL, cip_blosc_zfp_encode, NULL, NULL },
#endif
};

static const compressor_row *find_row(int compcode)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].compcode == compcode)
            return &rows[i];
    return NULL;
}

static void drop_dict(cip_blosc_compressor *p)
{
    if (p->primed != NULL)
        find_row(p->compcode)->unprime(p);
    p->primed = NULL;
    p->dict = (cip_bytes){ NULL, 0 };
}

void cip_blosc_compressor_clear(cip_blosc_compressor *p)
{
    drop_dict(p);
    if (p->state != NULL)
        find_row(p->compcode)->close(p);
    p->state = NULL;
}

cip_status cip_blosc_compressors(cip_blosc_compressor *p, const cip_blosc_spec *spec, cip_err *err)
{
    const int level = spec->level != 0 ? spec->level : 1;
    const compressor_row *row = find_row(spec->compcode);
    if (row == NULL) {
        const char *name = cip_blosc_codec_name(spec->compcode);
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a codec that this build can write, found %s (%d)",
                        name != NULL ? name : "an unknown one", spec->compcode);
    }
    if (p->compcode != spec->compcode || (p->level != level && row->by_level))
        cip_blosc_compressor_clear(p);
    drop_dict(p);
    p->spec = spec;
    p->compcode = spec->compcode;
    p->level = level;
    return p->state != NULL ? CIP_OK : row->open(p, err);
}

bool cip_blosc_compressor_takes_dict(const cip_blosc_compressor *p)
{
    return find_row(p->compcode)->prime != NULL;
}

cip_status cip_blosc_compressor_use_dict(cip_blosc_compressor *p, cip_bytes dict, cip_err *err)
{
    drop_dict(p);
    p->dict = dict;
    return find_row(p->compcode)->prime(p, err);
}

cip_status cip_blosc_compressor_run(cip_blosc_compressor *p, cip_bytes src, uint8_t *dst,
                                    size_t cap, size_t *n, cip_err *err)
{
    return find_row(p->compcode)->run(p, src, dst, cap, n, err);
}
