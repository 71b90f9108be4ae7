/* SPDX-License-Identifier: BSD-3-Clause
 * A chain as a line of outputs: tiles are cut, each is quantized to a chunk, then codec after codec
 * takes the bytes of the one before. Without a tile step quantize has chunks of whole rows along
 * the last axis. zlib is encoded piece by piece on the pool; a codec that an application registered
 * gets all bytes at once. */
#include "format/asdf/write/asdf_chain_write.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "codec/codec_app.h"
#include "codec/quantize_encode.h"
#include "format/asdf/write/asdf_write.h"
#include "space/make/tiler.h"

enum { CHUNK_VALUES = 1 << 16 /* of quantize without tiles: rows up to this, or a piece of one */ };

/* One binary-to-binary step, and the output that leads into it. */
typedef struct codec_step {
    cip_out in;
    cip_out *to;
    cip_encoder *enc;         /* or */
    const cip_app_codec *app; /* which gets all bytes at once */
    cip_buf whole;
} codec_step;

struct asdf_chainw {
    cip_env *env;
    asdf_encoded of;
    uint64_t taken, nbytes;
    cip_tiler *tiler;
    int64_t shape[2], rows[2]; /* of the tiler, where there are no tiles */
    int64_t tile[CIP_MAX_NDIM];
    bool tiled, quantized;
    cip_quantize_steps steps;
    uint8_t *chunk; /* a quantized one; its room */
    size_t cap;
    double worst;
    cip_out *binary; /* where the bytes of the array go */
    size_t ncodec;
    codec_step codec[ASDF_CHAIN_STEPS];
};

/* --- codecs ----------------------------------------------------------------------------------- */

static cip_status codec_write(void *user, const void *p, size_t n, cip_err *err)
{
    codec_step *s = user;
    if (s->enc != NULL)
        return cip_encoder_write(s->enc, p, n, err);
    return cip_buf_add(&s->whole, p, n, err);
}

/* From the last one to the first, each leading into the one behind it. */
static cip_status open_codecs(asdf_chainw *w, const asdf_chain *c, int level, cip_out *out,
                              cip_err *err)
{
    w->binary = out;
    for (size_t i = c->n; i-- > 0;) {
        if (c->step[i].kind != ASDF_STEP_CODEC)
            continue;
        const asdf_step *from = &c->step[i];
        codec_step *s = &w->codec[w->ncodec++];
        *s = (codec_step){ .to = w->binary, .whole = { .mem = &w->env->mem } };
        s->in = (cip_out){ .write = codec_write, .user = s };
        if (from->codec == &cip_codec_app)
            s->app = from->codec_args;
        else
            CIP_TRY(cip_encoder_new(w->env, cip_framing_find(from->codec->name), level, 0, s->to,
                                    &s->enc, err));
        w->binary = &s->in;
    }
    return CIP_OK;
}

/* --- tiles and chunks ------------------------------------------------------------------------- */

static cip_status quantize_tile(asdf_chainw *w, cip_bytes tile, const int64_t *valid, cip_err *err)
{
    double worst = 0;
    size_t n;
    cip_quantize_values v = { .bytes = tile,
                              .wide = w->of.dtype->kind == CIP_F64,
                              .big = w->of.dtype->big,
                              .ndim = w->of.ndim,
                              .shape = w->tile,
                              .valid = valid };
    if (!w->tiled) { /* no padding: the last chunk is as long as it is */
        v.ndim = 2;
        v.shape = valid;
        v.valid = NULL;
        v.bytes.len = (size_t)(valid[0] * valid[1]) * (size_t)w->of.dtype->itemsize;
    }
    CIP_TRY(cip_quantize_encode(&w->env->mem, &v, &w->steps, w->chunk, w->cap, &n, &worst, err));
    w->worst = worst > w->worst ? worst : w->worst;
    return cip_out_write(w->binary, w->chunk, n, err);
}

static cip_status take_tile(void *user, uint64_t index, cip_bytes tile, const int64_t *valid,
                            cip_err *err)
{
    asdf_chainw *w = user;
    (void)index;
    if (w->quantized)
        return quantize_tile(w, tile, valid, err);
    return cip_out_write(w->binary, tile.ptr, tile.len, err);
}

/* Whole rows along the last axis, or pieces of a long one. */
static void rows_of(asdf_chainw *w, uint64_t nelem, cip_tiling *t)
{
    int64_t row = w->of.ndim != 0 ? w->of.shape[w->of.ndim - 1] : 1;
    w->shape[0] = row != 0 ? (int64_t)(nelem / (uint64_t)row) : 0;
    w->shape[1] = row;
    w->rows[0] = row != 0 && row < CHUNK_VALUES ? CHUNK_VALUES / row : 1;
    w->rows[1] = row < 1 ? 1 : row < CHUNK_VALUES ? row : CHUNK_VALUES;
    if (w->rows[0] > w->shape[0] && w->shape[0] != 0)
        w->rows[0] = w->shape[0];
    t->ndim = 2;
    t->shape = w->shape;
    t->tile = w->rows;
}

static cip_status open_tiler(asdf_chainw *w, const asdf_chain *c, cip_err *err)
{
    const asdf_step *tile = cip_asdf_chain_find(c, ASDF_STEP_TILE),
                    *q = cip_asdf_chain_find(c, ASDF_STEP_QUANTIZE);
    cip_tiling t = { w->of.ndim, w->of.shape, w->tile, w->of.dtype->itemsize };
    uint64_t values = 1;
    if (tile == NULL && q == NULL)
        return CIP_OK;
    w->tiled = tile != NULL;
    if (tile != NULL)
        cip_asdf_full_tile(tile, &w->of, w->tile);
    else
        rows_of(w, w->nbytes / w->of.dtype->itemsize, &t);
    CIP_TRY(cip_tiler_new(w->env, &t, 0, take_tile, w, &w->tiler, err));
    if (q == NULL)
        return CIP_OK;
    for (int32_t i = 0; i < t.ndim; i++)
        values *= (uint64_t)t.tile[i];
    w->quantized = true;
    w->steps = (cip_quantize_steps){ .quality = q->quality, .bits = q->bits };
    if (q->bits == 0 && !(q->quality > 0))
        w->steps.quality = ASDF_QUANTIZE_QUALITY;
    w->cap = cip_quantize_bound(values);
    if (w->cap == 0)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "tiles of over 2^64 bytes");
    return w->nbytes == 0 ? CIP_OK : cip_mem_get(&w->env->mem, w->cap, (void **)&w->chunk, err);
}

/* --- the whole -------------------------------------------------------------------------------- */

cip_status cip_asdf_chainw_new(cip_env *env, const asdf_chain *c, const asdf_encoded *of, int level,
                               cip_out *out, asdf_chainw **result, cip_err *err)
{
    cip_status st;
    asdf_chainw *w;
    uint64_t n;
    *result = NULL;
    CIP_TRY(cip_asdf_chain_check(c, of, err));
    if (!cip_shape_nelem(of->ndim, of->shape, &n) || cip_mul_overflow(n, of->dtype->itemsize, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an array of over 2^64 bytes");
    CIP_TRY(CIP_NEW(&env->mem, &w, 1, err));
    w->env = env;
    w->of = *of;
    w->nbytes = n;
    CIP_GO(open_codecs(w, c, level, out, err));
    CIP_GO(open_tiler(w, c, err));
    *result = w;
    w = NULL;
done:
    cip_asdf_chainw_free(w);
    return st;
}

cip_status cip_asdf_chainw_write(asdf_chainw *w, const void *p, size_t n, cip_err *err)
{
    if (n > w->nbytes - w->taken || (w->quantized && n % w->of.dtype->itemsize != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected whole values, %" PRIu64 " bytes at most, found %zu",
                        w->nbytes - w->taken, n);
    const asdf_encoded *of = &w->of;
    uint64_t bad;
    if (w->quantized && cip_quantize_find_bad((cip_bytes){ p, n }, of->dtype->kind == CIP_F64,
                                              of->dtype->big, &bad)) {
        int64_t at[CIP_MAX_NDIM];
        char place[200]; /* "[3, 17]" */
        cip_shape_place(of->ndim, of->shape, w->taken / of->dtype->itemsize + bad, at);
        cip_shape_text(of->ndim, at, place, sizeof place);
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected finite numbers to quantize, found NaN or an infinity at %s",
                        place);
    }
    w->taken += n;
    return w->tiler != NULL ? cip_tiler_write(w->tiler, p, n, err)
                            : cip_out_write(w->binary, p, n, err);
}

cip_status cip_asdf_chainw_finish(asdf_chainw *w, double *worst, cip_err *err)
{
    cip_mem *mem = &w->env->mem;
    if (w->taken != w->nbytes)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " more bytes, found the end", w->nbytes - w->taken);
    if (w->tiler != NULL)
        CIP_TRY(cip_tiler_finish(w->tiler, err));
    for (size_t i = w->ncodec; i-- > 0;) { /* the first of the chain was opened last */
        codec_step *s = &w->codec[i];
        size_t n;
        void *dst;
        if (s->enc != NULL) {
            CIP_TRY(cip_encoder_finish(s->enc, err));
            continue;
        }
        CIP_TRY(cip_app_codec_encode(s->app, mem, (cip_bytes){ s->whole.ptr, s->whole.len }, &dst,
                                     &n, err));
        cip_status st = cip_out_write(s->to, dst, n, err);
        cip_mem_put(mem, dst);
        cip_buf_clear(&s->whole);
        CIP_TRY(st);
    }
    *worst = w->worst;
    return CIP_OK;
}

void cip_asdf_chainw_free(asdf_chainw *w)
{
    if (w == NULL)
        return;
    for (size_t i = 0; i < w->ncodec; i++) {
        cip_encoder_free(w->codec[i].enc);
        cip_buf_clear(&w->codec[i].whole);
    }
    cip_tiler_free(w->tiler);
    cip_mem_put(&w->env->mem, w->chunk);
    cip_mem_put(&w->env->mem, w);
}
