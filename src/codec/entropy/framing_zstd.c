/* SPDX-License-Identifier: BSD-3-Clause
 * One zstd frame, since readers stop at its end. What is more than a piece goes through libzstd's
 * own threads: jobs of the size of a piece that do not look back, so that the bytes are the same
 * whatever the number of threads, and those of a libzstd without threads alone differ. */
#include "codec/entropy/entropy.h"

#if CIP_WITH_ZSTD

#include <zstd.h>
#include <zstd_errors.h>

enum {
    NO_OVERLAP = 1,
    WINDOW_LOG = 22,     /* no further than a piece reaches; bounds the tables of high levels too */
    FAST_MAX = 12,       /* above, a thread's tables are large */
    FAST_ROOM = 32 << 20 /* bytes a thread takes: the piece, what becomes of it, tables */
};
#define SLOW_ROOM (UINT64_C(128) << 20)

typedef struct stream {
    cip_mem *mem;
    ZSTD_CCtx *ctx;
} stream;

static cip_status fail(size_t code, cip_err *err)
{
    return cip_fail(
        err, ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation ? CIP_ERR_NOMEM : CIP_ERR_ARG,
        CIP_NO_OFFSET, "libzstd cannot encode: %s", ZSTD_getErrorName(code));
}

static cip_status set_up(ZSTD_CCtx *c, int level, const cip_framing_order *o, int threads,
                         cip_err *err)
{
    const struct {
        ZSTD_cParameter what;
        int value;
    } set[] = { { ZSTD_c_compressionLevel, level },
                { ZSTD_c_checksumFlag, 1 },
                { ZSTD_c_windowLog, WINDOW_LOG } };
    for (size_t i = 0; i < sizeof set / sizeof set[0]; i++) {
        size_t code = ZSTD_CCtx_setParameter(c, set[i].what, set[i].value);
        if (ZSTD_isError(code))
            return fail(code, err);
    }
    if (!ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_nbWorkers, threads))) {
        ZSTD_CCtx_setParameter(c, ZSTD_c_jobSize, (int)cip_min_u64(o->piece, 1 << 30));
        ZSTD_CCtx_setParameter(c, ZSTD_c_overlapLog, NO_OVERLAP);
    }
    size_t code = ZSTD_CCtx_setPledgedSrcSize(c, o->total == UINT64_MAX ? ZSTD_CONTENTSIZE_UNKNOWN
                                                                        : o->total);
    return ZSTD_isError(code) ? fail(code, err) : CIP_OK;
}

static void finish(void *state)
{
    stream *s = state;
    if (s == NULL)
        return;
    ZSTD_freeCCtx(s->ctx);
    cip_mem_put(s->mem, s);
}

static cip_status begin(cip_mem *mem, int level, const cip_framing_order *o, void **state,
                        cip_err *err)
{
    stream *s;
    *state = NULL;
    CIP_TRY(cip_check_level(level, ZSTD_minCLevel(), ZSTD_maxCLevel(), err));
    CIP_TRY(CIP_NEW(mem, &s, 1, err));
    *s = (stream){ mem, ZSTD_createCCtx() };
    /* Threads for which there is room in what is left of the memory limit; one always. */
    const uint64_t room = cip_bytes_left(mem->limit, mem->used);
    const uint64_t fit = room / (level > FAST_MAX ? SLOW_ROOM : FAST_ROOM);
    const int threads = (int)cip_max_u64(1, cip_min_u64(o->threads, fit));
    cip_status st = s->ctx == NULL
                        ? cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for libzstd")
                        : set_up(s->ctx, level, o, threads, err);
    if (st != CIP_OK)
        finish(s);
    else
        *state = s;
    return st;
}

static cip_status step(void *state, cip_flow *f, cip_err *err)
{
    stream *s = state;
    ZSTD_inBuffer zin = { f->in, f->in_len, 0 };
    ZSTD_outBuffer zout = { f->out, f->out_len, 0 };
    size_t left = ZSTD_compressStream2(s->ctx, &zout, &zin, f->last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left))
        return fail(left, err);
    f->took = zin.pos;
    f->gave = zout.pos;
    f->end = f->last && left == 0 && zin.pos == zin.size;
    return CIP_OK;
}

static size_t bound(size_t n)
{
    return cip_codec_zstd.bound(n);
}

static cip_status encode(cip_mem *mem, int level, cip_framing_piece *p, cip_err *err)
{
    const cip_codec_env env = { .mem = mem };
    return cip_codec_zstd.encode(NULL, &env, level, p->raw, &p->out, err);
}

const cip_framing cip_framing_zstd = { .name = "zstd",
                                       .piece = 1 << 22,
                                       .empty_piece = true,
                                       .bound = bound,
                                       .encode = encode,
                                       .begin = begin,
                                       .step = step,
                                       .finish = finish };

#endif
