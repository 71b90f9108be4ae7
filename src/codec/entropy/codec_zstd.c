/* SPDX-License-Identifier: BSD-3-Clause
 * Zstd frames (RFC 8878), concatenated; skippable ones are passed over, and what follows without
 * being one is no part of the data. libzstd takes its contexts
 * and windows from the C library (counted ones are not in its stable API), so a stream's window is
 * bounded by what is left of the memory limit instead. */
#include "codec/entropy/entropy.h"

#if CIP_WITH_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

#include "base/num.h"
#include "codec/frames.h"

enum { WINDOW_LOG_MIN = 10, WINDOW_LOG_MAX = 27 }; /* the format's least, libzstd's own bound */

typedef struct zstd_state {
    cip_mem *mem;
    ZSTD_DCtx *ctx;
    bool between; /* at the end of a frame, or before the first */
    cip_frame_gate gate;
    bool drained; /* the last step left room: without more input there is no more output */
} zstd_state;

static cip_status status_of(size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return CIP_ERR_NOMEM;
    case ZSTD_error_version_unsupported:
    case ZSTD_error_frameParameter_unsupported:
    case ZSTD_error_dictionary_wrong:
        return CIP_ERR_UNSUPPORTED;
    case ZSTD_error_frameParameter_windowTooLarge:
        return CIP_ERR_LIMIT;
    case ZSTD_error_checksum_wrong:
        return CIP_ERR_CHECKSUM;
    default:
        return CIP_ERR_CORRUPT;
    }
}

static cip_status no_memory(cip_err *err)
{
    return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libzstd");
}

static cip_status zstd_begin(const void *args, const cip_codec_env *env, void **state, cip_err *err)
{
    (void)args;
    *state = NULL;
    zstd_state *s;
    CIP_TRY(CIP_NEW(env->mem, &s, 1, err));
    s->mem = env->mem;
    s->between = true;
    s->ctx = ZSTD_createDCtx();
    if (s->ctx == NULL) {
        cip_mem_put(env->mem, s);
        return no_memory(err);
    }
    /* The largest window that fits what is left of the memory limit: nothing, while another thread
     * asks for too much. */
    const uint64_t left = cip_bytes_left(env->mem->limit, env->mem->used);
    int log = WINDOW_LOG_MIN;
    while (log < WINDOW_LOG_MAX && left >> (log + 1) != 0)
        log++;
    ZSTD_DCtx_setParameter(s->ctx, ZSTD_d_windowLogMax, log);
    *state = s;
    return CIP_OK;
}

static cip_status zstd_step(void *state, cip_flow *f, cip_err *err)
{
    zstd_state *s = state;
    ZSTD_inBuffer zin = { f->in, f->in_len, 0 };
    ZSTD_outBuffer zout = { f->out, f->out_len, 0 };
    if (s->between && s->gate.any) {
        ZSTD_inBuffer head = { s->gate.head, sizeof s->gate.head, 0 };
        if (!cip_gate_pass(&s->gate, CIP_ZSTD_MAGIC, f->in, f->in_len, &zin.pos)) {
            f->took = zin.pos;
            f->gave = 0;
            f->end = cip_gate_ends(&s->gate, f->last);
            return cip_step_end(f, err);
        }
        s->between = false;
        s->drained = true;
        ZSTD_decompressStream(s->ctx, &zout, &head); /* a magic alone gives nothing */
    }
    if (zin.pos != zin.size ||
        !(s->between || s->drained)) { /* libzstd fails when called in vain */
        size_t hint = ZSTD_decompressStream(s->ctx, &zout, &zin);
        if (ZSTD_isError(hint))
            return cip_fail(err, status_of(hint), CIP_NO_OFFSET, "expected a zstd frame, found: %s",
                            ZSTD_getErrorName(hint));
        s->between = s->gate.any = hint == 0;
        s->drained = zout.pos < zout.size;
    }
    f->took = zin.pos;
    f->gave = zout.pos;
    f->end = f->last && s->between && zin.pos == zin.size;
    return cip_step_end(f, err);
}

static void zstd_finish(void *state)
{
    zstd_state *s = state;
    if (s == NULL)
        return;
    ZSTD_freeDCtx(s->ctx);
    cip_mem_put(s->mem, s);
}

static const cip_stream_codec zstd_stream = { .begin = zstd_begin,
                                              .step = zstd_step,
                                              .finish = zstd_finish };

cip_status cip_zstd_decoder(const cip_codec_env *env, void **out, cip_err *err)
{
    *out = cip_spares_take(env->zstd);
    if (*out == NULL)
        *out = ZSTD_createDCtx();
    return *out != NULL ? CIP_OK : no_memory(err);
}

static void end_decoder(void *ctx)
{
    ZSTD_freeDCtx(ctx);
}

void cip_zstd_decoder_end(const cip_codec_env *env, void *ctx)
{
    if (ctx != NULL)
        cip_spares_give(env->zstd, ctx, end_decoder);
}

static cip_status zstd_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                              uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args;
    void *ctx;
    CIP_TRY(cip_zstd_decoder(env, &ctx, err));
    size_t n = ZSTD_decompressDCtx(ctx, dst, dst_len, src.ptr, src.len);
    cip_zstd_decoder_end(env, ctx);
    if (n == dst_len)
        return CIP_OK;
    /* libzstd says the same of truncated and of damaged data: its stream tells them apart. */
    return cip_decode_whole(&zstd_stream, env, src, dst, dst_len, err);
}

const char *cip_zstd_version(void)
{
    return ZSTD_versionString();
}

static size_t zstd_bound(size_t n)
{
    size_t bound = ZSTD_compressBound(n);
    return ZSTD_isError(bound) ? 0 : bound;
}

static cip_status zstd_level(int level, cip_err *err)
{
    return cip_check_level(level, ZSTD_minCLevel(), ZSTD_maxCLevel(), err);
}

/* With a checksum, as the command `zstd` does, and the content size. */
static cip_status zstd_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                              cip_dst *out, cip_err *err)
{
    (void)args, (void)env;
    CIP_TRY(zstd_level(level, err));
    ZSTD_CCtx *ctx = ZSTD_createCCtx();
    if (ctx == NULL)
        return no_memory(err);
    ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(ctx, out->ptr, out->cap, src.ptr, src.len);
    ZSTD_freeCCtx(ctx);
    if (ZSTD_getErrorCode(n) == ZSTD_error_dstSize_tooSmall)
        return cip_fail_room(err, out->cap);
    if (ZSTD_isError(n))
        return no_memory(err);
    out->len = n;
    return CIP_OK;
}

const cip_codec cip_codec_zstd = { .name = "zstd",
                                   .decode = zstd_decode,
                                   .stream = &zstd_stream,
                                   .bound = zstd_bound,
                                   .level = zstd_level,
                                   .encode = zstd_encode };

#endif
