/* SPDX-License-Identifier: BSD-3-Clause
 * LZ4 frames, concatenated; skippable ones are passed over, and what follows without being one is
 * no part of the data. liblz4 takes its contexts and buffers
 * (up to 8.2 MiB: two blocks of 4 MiB) from the C library, so they are not counted. */
#include "codec/entropy/entropy.h"

#if CIP_WITH_LZ4

#include <lz4frame.h>
#include <lz4hc.h>
#include <string.h>

#include "codec/frames.h"

enum { LEVEL_MIN = -65536 }; /* liblz4's largest acceleration */

typedef struct lz4f_state {
    cip_mem *mem;
    LZ4F_dctx *ctx;
    bool between; /* at the end of a frame, or before the first */
    cip_frame_gate gate;
} lz4f_state;

/* liblz4's codes are public only by name. */
static cip_status status_of(const char *name)
{
    static const struct {
        const char *name;
        cip_status st;
    } known[] = {
        { "ERROR_allocation_failed", CIP_ERR_NOMEM },
        { "ERROR_headerVersion_wrong", CIP_ERR_UNSUPPORTED },
        { "ERROR_reservedFlag_set", CIP_ERR_UNSUPPORTED },
        { "ERROR_headerChecksum_invalid", CIP_ERR_CHECKSUM },
        { "ERROR_blockChecksum_invalid", CIP_ERR_CHECKSUM },
        { "ERROR_contentChecksum_invalid", CIP_ERR_CHECKSUM },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].st;
    return CIP_ERR_CORRUPT;
}

static cip_status lz4f_begin(const void *args, const cip_codec_env *env, void **state, cip_err *err)
{
    (void)args;
    *state = NULL;
    lz4f_state *s;
    CIP_TRY(CIP_NEW(env->mem, &s, 1, err));
    s->mem = env->mem;
    s->between = true;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&s->ctx, LZ4F_VERSION))) {
        cip_mem_put(env->mem, s);
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for liblz4");
    }
    *state = s;
    return CIP_OK;
}

static cip_status lz4f_step(void *state, cip_flow *f, cip_err *err)
{
    lz4f_state *s = state;
    size_t passed = 0, nothing = 0;
    f->gave = f->out_len;
    if (s->between && s->gate.any) {
        size_t head = sizeof s->gate.head;
        if (!cip_gate_pass(&s->gate, CIP_LZ4F_MAGIC, f->in, f->in_len, &f->took)) {
            f->gave = 0;
            f->end = cip_gate_ends(&s->gate, f->last);
            return cip_step_end(f, err);
        }
        passed = f->took;
        s->between = false;
        LZ4F_decompress(s->ctx, f->out, &nothing, s->gate.head, &head, NULL);
    }
    f->took = f->in_len - passed;
    if (f->took != 0 || !s->between) {
        size_t hint = LZ4F_decompress(s->ctx, f->out, &f->gave, f->in + passed, &f->took, NULL);
        if (LZ4F_isError(hint)) {
            LZ4F_frameInfo_t info;
            const char *name = LZ4F_getErrorName(hint);
            size_t none = 0;
            /* Within a frame this only tells its header again. */
            if (!LZ4F_isError(LZ4F_getFrameInfo(s->ctx, &info, NULL, &none)) && info.dictID != 0)
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "expected an LZ4 frame without dictionary, found dictionary %u",
                                info.dictID);
            return cip_fail(err, status_of(name), CIP_NO_OFFSET, "expected an LZ4 frame, found %s",
                            name);
        }
        s->between = s->gate.any = hint == 0;
    } else {
        f->gave = 0;
    }
    f->took += passed;
    f->end = f->last && s->between && f->took == f->in_len;
    return cip_step_end(f, err);
}

static void lz4f_finish(void *state)
{
    lz4f_state *s = state;
    if (s == NULL)
        return;
    LZ4F_freeDecompressionContext(s->ctx);
    cip_mem_put(s->mem, s);
}

static const cip_stream_codec lz4f_stream = { .begin = lz4f_begin,
                                              .step = lz4f_step,
                                              .finish = lz4f_finish };

static cip_status lz4f_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                              uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args;
    return cip_decode_whole(&lz4f_stream, env, src, dst, dst_len, err);
}

/* Independent blocks of 256 KiB, so that readers can decode just those they touch; the content
 * size tells them the last block's, the checksum guards the whole. */
static LZ4F_preferences_t preferences(size_t n, int level)
{
    LZ4F_preferences_t p = { .compressionLevel = level };
    p.frameInfo.blockSizeID = LZ4F_max256KB;
    p.frameInfo.blockMode = LZ4F_blockIndependent;
    p.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    p.frameInfo.contentSize = n;
    return p;
}

static size_t lz4f_bound(size_t n)
{
    LZ4F_preferences_t p = preferences(n, 0);
    size_t bound = LZ4F_compressFrameBound(n, &p);
    return bound > n ? bound : 0; /* it wraps around */
}

static cip_status lz4f_level(int level, cip_err *err)
{
    return cip_check_level(level, LEVEL_MIN, LZ4HC_CLEVEL_MAX, err);
}

static cip_status lz4f_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                              cip_dst *out, cip_err *err)
{
    (void)args, (void)env;
    CIP_TRY(lz4f_level(level, err));
    LZ4F_preferences_t p = preferences(src.len, level);
    if (out->cap < LZ4F_compressFrameBound(src.len, &p)) /* liblz4 takes no less */
        return cip_fail_room(err, out->cap);
    size_t n = LZ4F_compressFrame(out->ptr, out->cap, src.ptr, src.len, &p);
    if (LZ4F_isError(n))
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "liblz4: %s", LZ4F_getErrorName(n));
    out->len = n;
    return CIP_OK;
}

const cip_codec cip_codec_lz4f = { .name = "lz4f",
                                   .decode = lz4f_decode,
                                   .stream = &lz4f_stream,
                                   .bound = lz4f_bound,
                                   .level = lz4f_level,
                                   .encode = lz4f_encode };

#endif
