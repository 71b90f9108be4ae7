/* SPDX-License-Identifier: BSD-3-Clause
 * A chain as a line of outputs: tiles are cut, each is quantized to a chunk, then codec after codec
 * takes the bytes of the one before. Without a tile stage quantize has chunks of whole rows along
 * the last axis. zlib is encoded piece by piece on the pool; a codec that an application registered
 * gets all bytes at once. */
#include "format/asdf/asdf_chain_write.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "codec/codec_app.h"
#include "codec/quantize_encode.h"
#include "format/asdf/asdf_write.h"
#include "space/tiler.h"
#include "tree/edit.h"

enum { CHUNK_VALUES = 1 << 16 /* of quantize without tiles: rows up to this, or a piece of one */ };

/* One binary-to-binary stage, and the output that leads into it. */
typedef struct codec_stage {
    cip_out in;
    cip_out *to;
    cip_encoder *enc;         /* or */
    const cip_app_codec *app; /* which gets all bytes at once */
    cip_buf held;
} codec_stage;

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
    codec_stage codec[ASDF_CHAIN_STAGES];
};

/* What nobody takes would be a wrong word that goes unnoticed: {qualty: 100}. */
static cip_status check_arguments(const asdf_stage *s, cip_err *err)
{
    static const char *const known[][5] = {
        [ASDF_STAGE_TILE] = { "shape", "original_shape", "item_size" },
        [ASDF_STAGE_QUANTIZE] = { "quality", "bits", "dtype", "original_shape" },
        [ASDF_STAGE_CODEC] = { NULL }
    };
    const size_t n = s->codec != &cip_codec_app ? cip_node_len(s->args) : 0;
    for (size_t i = 0; i < n; i++) {
        const cip_node *key = s->args->pair[i].key;
        const char *const *word = known[s->kind];
        while (*word != NULL && !cip_node_is_string(key, *word))
            word++;
        if (*word == NULL)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "the encoding chain: expected no argument '%.40s' of '%.40s'",
                            key->type == CIP_NODE_STRING ? key->text : "?", s->name);
    }
    if (cip_map_get(s->args, "quality") != NULL && cip_map_get(s->args, "bits") != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "the encoding chain: expected quality or bits, found both");
    return CIP_OK;
}

cip_status cip_asdf_chain_has_no_place(bool inlined, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "an array that is %s has no encoding chain", inlined ? "inline" : "streamed");
}

cip_status cip_asdf_chain_given(cip_env *env, cip_arena *a, const char *text, asdf_chain *out,
                                cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_bytes in = { (const uint8_t *)text, strlen(text) };
    cip_status st = cip_asdf_chain_read(env, a, in, out, &why);
    for (size_t i = 0; st == CIP_OK && i < out->n; i++)
        CIP_TRY(check_arguments(&out->stage[i], err));
    if (st == CIP_OK)
        return CIP_OK;
    return cip_fail(err, st == CIP_ERR_CORRUPT ? CIP_ERR_ARG : st, CIP_NO_OFFSET,
                    "the encoding chain: %.200s", why.text);
}

static const asdf_stage *find(const asdf_chain *c, asdf_stage_kind kind)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->stage[i].kind == kind)
            return &c->stage[i];
    return NULL;
}

bool cip_asdf_chain_is_lossy(const asdf_chain *c)
{
    return find(c, ASDF_STAGE_QUANTIZE) != NULL;
}

void cip_asdf_chain_lossless(const asdf_chain *c, asdf_chain *out)
{
    *out = (asdf_chain){ .n = 0 };
    for (size_t i = 0; i < c->n; i++)
        if (c->stage[i].kind != ASDF_STAGE_QUANTIZE)
            out->stage[out->n++] = c->stage[i];
}

/* --- what goes through --------------------------------------------------------------------------
 */

static cip_status check_tile(const asdf_stage *s, const asdf_encoded *of, cip_err *err)
{
    if (s->ndim > of->ndim)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected tiles of at most %d axes, as the array has, found %d", of->ndim,
                        s->ndim);
    return CIP_OK;
}

static cip_status check_quantize(const asdf_encoded *of, cip_err *err)
{
    if (of->dtype->kind != CIP_F32 && of->dtype->kind != CIP_F64)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected float32 or float64 to quantize, found %.40s",
                        cip_dtype_name(of->dtype));
    return CIP_OK;
}

static cip_status check_codec(const asdf_stage *s, cip_err *err)
{
    bool able = s->codec == &cip_codec_app
                    ? cip_app_codec_encodes(s->codec_args)
                    : cip_framing_find(s->codec->name) != NULL && cip_codec_available(s->codec);
    return able ? CIP_OK
                : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                           "the encoding '%.40s' cannot be written", s->name);
}

cip_status cip_asdf_chain_check(const asdf_chain *c, const asdf_encoded *of, cip_err *err)
{
    bool tiled = false;
    for (size_t i = 0; i < c->n; i++) {
        const asdf_stage *s = &c->stage[i];
        if (s->kind == ASDF_STAGE_TILE && tiled)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected one stage of tiles, found tiles of tiles");
        if (s->kind == ASDF_STAGE_TILE)
            CIP_TRY(check_tile(s, of, err));
        else if (s->kind == ASDF_STAGE_QUANTIZE)
            CIP_TRY(check_quantize(of, err));
        else
            CIP_TRY(check_codec(s, err));
        tiled = tiled || s->kind == ASDF_STAGE_TILE;
    }
    return CIP_OK;
}

/* Axes that the chain does not name are taken whole. */
static void full_tile(const asdf_stage *s, const asdf_encoded *of, int64_t *tile)
{
    for (int32_t i = 0; i < of->ndim; i++)
        tile[i] = i < s->ndim ? s->shape[i] : of->shape[i] != 0 ? of->shape[i] : 1;
}

/* --- the text -----------------------------------------------------------------------------------
 */

enum { KEYS_MAX = 4 };

/* Arguments of a stage as they are written. */
typedef struct arguments {
    cip_arena *a;
    const char *key[KEYS_MAX];
    const cip_node *value[KEYS_MAX];
    size_t n;
} arguments;

static void add_value(arguments *x, const char *key, const cip_node *value)
{
    x->key[x->n] = key;
    x->value[x->n++] = value;
}

static cip_status add_list(arguments *x, const char *key, int32_t n, const int64_t *v, cip_err *err)
{
    const cip_node *seq;
    CIP_TRY(cip_asdf_shape_node(x->a, n, v, false, &seq, err));
    add_value(x, key, seq);
    return CIP_OK;
}

static cip_status add_number(arguments *x, const char *key, uint64_t v, cip_err *err)
{
    cip_node *n;
    CIP_TRY(cip_node_new_uint(x->a, v, &n, err));
    add_value(x, key, n);
    return CIP_OK;
}

static cip_status needed(const asdf_stage *s, const asdf_encoded *of, arguments *x, cip_err *err)
{
    int64_t tile[CIP_MAX_NDIM];
    if (s->kind == ASDF_STAGE_CODEC)
        return CIP_OK;
    if (s->kind == ASDF_STAGE_TILE) {
        full_tile(s, of, tile);
        CIP_TRY(add_list(x, "shape", of->ndim, tile, err));
        CIP_TRY(add_number(x, "item_size", of->dtype->itemsize, err));
    } else {
        CIP_TRY(add_number(x, "dtype", of->dtype->kind == CIP_F64 ? 64 : 32, err));
        if (cip_map_get(s->args, "quality") == NULL && cip_map_get(s->args, "bits") == NULL)
            CIP_TRY(s->bits != 0 ? add_number(x, "bits", (uint64_t)s->bits, err)
                                 : add_number(x, "quality", ASDF_QUANTIZE_QUALITY, err));
    }
    return add_list(x, "original_shape", of->ndim, of->shape, err);
}

/* The given arguments in their order, those that are needed in their place or behind. */
static cip_status merge(const asdf_stage *s, const arguments *x, cip_node **out, cip_err *err)
{
    cip_node *key;
    bool used[KEYS_MAX] = { false };
    size_t given = cip_node_kind(s->args) == CIP_NODE_MAP ? cip_node_len(s->args) : 0, n = 0;
    size_t fresh = x->n;
    for (size_t k = 0; k < x->n && given != 0; k++)
        fresh -= cip_map_get(s->args, x->key[k]) != NULL;
    CIP_TRY(cip_node_new_map(x->a, given + fresh, out, err));
    (*out)->style = CIP_STYLE_FLOW;
    for (size_t i = 0; i < given; i++) {
        const cip_node *value = s->args->pair[i].value;
        for (size_t k = 0; k < x->n; k++)
            if (cip_node_is_string(s->args->pair[i].key, x->key[k])) {
                value = x->value[k];
                used[k] = true;
            }
        cip_node_set_pair(*out, n++, s->args->pair[i].key, value);
    }
    for (size_t k = 0; k < x->n; k++) {
        if (used[k])
            continue;
        CIP_TRY(cip_node_new_string(x->a, x->key[k], strlen(x->key[k]), &key, err));
        cip_node_set_pair(*out, n++, key, x->value[k]);
    }
    return CIP_OK;
}

static cip_status stage_node(cip_arena *a, const asdf_stage *s, const asdf_encoded *of,
                             const cip_node **out, cip_err *err)
{
    arguments x = { .a = a };
    cip_node *name, *map, *pair;
    CIP_TRY(cip_node_new_string(a, s->name, strlen(s->name), &name, err));
    *out = name;
    CIP_TRY(needed(s, of, &x, err));
    CIP_TRY(merge(s, &x, &map, err));
    if (cip_node_len(map) == 0)
        return CIP_OK;
    CIP_TRY(cip_node_new_seq(a, 2, &pair, err));
    pair->style = CIP_STYLE_FLOW;
    cip_node_set_item(pair, 0, name);
    cip_node_set_item(pair, 1, map);
    *out = pair;
    return CIP_OK;
}

cip_status cip_asdf_chain_text(cip_env *env, const asdf_chain *c, const asdf_encoded *of,
                               cip_buf *out, cip_err *err)
{
    cip_status st;
    cip_arena a = { .mem = &env->mem };
    cip_node *list;
    const cip_node *stage;
    CIP_GO(cip_node_new_seq(&a, c->n, &list, err));
    list->style = CIP_STYLE_FLOW;
    for (size_t i = 0; i < c->n; i++) {
        CIP_GO(stage_node(&a, &c->stage[i], of, &stage, err));
        cip_node_set_item(list, i, stage);
    }
    CIP_GO(cip_buf_addf(out, err, "--- "));
    CIP_GO(cip_yaml_emit_line(env, list, NULL, false, out, err));
    st = cip_buf_addf(out, err, "\n...\n");
done:
    cip_arena_clear(&a);
    return st;
}

/* --- codecs -------------------------------------------------------------------------------------
 */

static cip_status codec_write(void *user, const void *p, size_t n, cip_err *err)
{
    codec_stage *s = user;
    if (s->enc != NULL)
        return cip_encoder_write(s->enc, p, n, err);
    return cip_buf_add(&s->held, p, n, err);
}

static cip_status encode_at_once(codec_stage *s, cip_err *err)
{
    cip_mem *mem = s->held.mem;
    size_t n;
    void *dst;
    CIP_TRY(
        cip_app_codec_encode(s->app, mem, (cip_bytes){ s->held.ptr, s->held.len }, &dst, &n, err));
    cip_status st = cip_out_write(s->to, dst, n, err);
    cip_mem_put(mem, dst);
    cip_buf_clear(&s->held);
    return st;
}

static cip_status open_codec(asdf_chainw *w, const asdf_stage *from, int level, cip_out *to,
                             codec_stage *s, cip_err *err)
{
    *s = (codec_stage){ .to = to, .held = { .mem = &w->env->mem } };
    s->in = (cip_out){ .write = codec_write, .user = s };
    w->ncodec++;
    if (from->codec == &cip_codec_app) {
        s->app = from->codec_args;
        return CIP_OK;
    }
    return cip_encoder_new(w->env, cip_framing_find(from->codec->name), level, 0, to, &s->enc, err);
}

/* From the last one to the first, each leading into the one behind it. */
static cip_status open_codecs(asdf_chainw *w, const asdf_chain *c, int level, cip_out *out,
                              cip_err *err)
{
    w->binary = out;
    for (size_t i = c->n; i-- > 0;) {
        if (c->stage[i].kind != ASDF_STAGE_CODEC)
            continue;
        codec_stage *s = &w->codec[w->ncodec];
        CIP_TRY(open_codec(w, &c->stage[i], level, w->binary, s, err));
        w->binary = &s->in;
    }
    return CIP_OK;
}

/* --- tiles and chunks ---------------------------------------------------------------------------
 */

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

static cip_status open_tiler(asdf_chainw *w, const asdf_chain *c, const char *beside, cip_err *err)
{
    const asdf_stage *tile = find(c, ASDF_STAGE_TILE), *q = find(c, ASDF_STAGE_QUANTIZE);
    cip_tiling t = { w->of.ndim, w->of.shape, w->tile, w->of.dtype->itemsize };
    uint64_t values = 1;
    if (tile == NULL && q == NULL)
        return CIP_OK;
    w->tiled = tile != NULL;
    if (tile != NULL)
        full_tile(tile, &w->of, w->tile);
    else
        rows_of(w, w->nbytes / w->of.dtype->itemsize, &t);
    CIP_TRY(cip_tiler_new(w->env, &t, 0, beside, take_tile, w, &w->tiler, err));
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

/* --- the whole ----------------------------------------------------------------------------------
 */

cip_status cip_asdf_chainw_new(cip_env *env, const asdf_chain *c, const asdf_encoded *of, int level,
                               const char *beside, cip_out *out, asdf_chainw **result, cip_err *err)
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
    CIP_GO(open_tiler(w, c, beside, err));
    *result = w;
    w = NULL;
done:
    cip_asdf_chainw_free(w);
    return st;
}

/* "[3, 17]": where element i is. */
static void place_text(const asdf_encoded *of, uint64_t i, char *text, size_t cap)
{
    int64_t at[CIP_MAX_NDIM];
    size_t n = 0;
    for (int32_t k = of->ndim - 1; k >= 0; k--) {
        at[k] = (int64_t)(i % (uint64_t)of->shape[k]);
        i /= (uint64_t)of->shape[k];
    }
    for (int32_t k = 0; k < of->ndim && n < cap; k++)
        n += (size_t)snprintf(text + n, cap - n, "%s%" PRId64, k == 0 ? "[" : ", ", at[k]);
    if (n < cap)
        snprintf(text + n, cap - n, of->ndim == 0 ? "[]" : "]");
}

static cip_status check_finite(const asdf_chainw *w, const void *p, size_t n, cip_err *err)
{
    const cip_dtype *d = w->of.dtype;
    char place[200];
    uint64_t at;
    if (!w->quantized ||
        !cip_quantize_find_bad((cip_bytes){ p, n }, d->kind == CIP_F64, d->big, &at))
        return CIP_OK;
    place_text(&w->of, w->taken / d->itemsize + at, place, sizeof place);
    return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                    "expected finite numbers to quantize, found NaN or an infinity at %s", place);
}

cip_status cip_asdf_chainw_write(asdf_chainw *w, const void *p, size_t n, cip_err *err)
{
    if (n > w->nbytes - w->taken || n % w->of.dtype->itemsize != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected whole elements, %" PRIu64 " bytes at most, found %zu",
                        w->nbytes - w->taken, n);
    CIP_TRY(check_finite(w, p, n, err));
    w->taken += n;
    return w->tiler != NULL ? cip_tiler_write(w->tiler, p, n, err)
                            : cip_out_write(w->binary, p, n, err);
}

cip_status cip_asdf_chainw_finish(asdf_chainw *w, cip_err *err)
{
    if (w->taken != w->nbytes)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes more, found the end", w->nbytes - w->taken);
    if (w->tiler != NULL)
        CIP_TRY(cip_tiler_finish(w->tiler, err));
    for (size_t i = w->ncodec; i-- > 0;) /* the first of the chain was opened last */
        CIP_TRY(w->codec[i].enc != NULL ? cip_encoder_finish(w->codec[i].enc, err)
                                        : encode_at_once(&w->codec[i], err));
    return CIP_OK;
}

uint64_t cip_asdf_chainw_raw(const asdf_chainw *w)
{
    return w->taken;
}

double cip_asdf_chainw_worst(const asdf_chainw *w)
{
    return w->worst;
}

void cip_asdf_chainw_free(asdf_chainw *w)
{
    if (w == NULL)
        return;
    for (size_t i = 0; i < w->ncodec; i++) {
        cip_encoder_free(w->codec[i].enc);
        cip_buf_clear(&w->codec[i].held);
    }
    cip_tiler_free(w->tiler);
    cip_mem_put(&w->env->mem, w->chunk);
    cip_mem_put(&w->env->mem, w);
}

void cip_asdf_tell_worst(cip_report *notes, const char *path, double worst)
{
    cip_report_add(notes, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, path,
                   "the largest error of a value is %.9g", worst);
}
