/* SPDX-License-Identifier: BSD-3-Clause
 * An encoding chain as spaces in spaces, the last step on the stored bytes. What a step gives is
 * as long as the steps before it say: known down to the first that gives bytes, counted (once,
 * when first needed, in a lazy space) below it. */
#include "format/asdf/chain/asdf_chain.h"

#include <string.h>

#include "base/num.h"
#include "codec/codec_app.h"

enum {
    EXPANSION_MAX = 16,       /* what encoding may make of a byte of data, and ... */
    EXPANSION_MORE = 1 << 20, /* ... beside: more is no honest chain */
    DEFLATE_RATIO = 1032,     /* the most that deflate makes of a byte */
    DEFLATE_MORE = 4096
};

/* How long the output of a step's decoding is. */
typedef struct level {
    bool known;
    uint64_t len; /* known */
    uint64_t max; /* otherwise */
} level;

/* How a tile step cuts its array. */
typedef struct tiling {
    int32_t ndim;
    int64_t shape[CIP_MAX_NDIM], tile[CIP_MAX_NDIM];
    uint64_t item_size, tile_len, n;
} tiling;

/* --- tiles ---------------------------------------------------------------------------------- */

/* The array that the step encoded: as it says, or as the array in the tree does. */
static cip_status original_of(const asdf_step *s, uint64_t len, const asdf_chain_hint *hint,
                              tiling *t, cip_err *err)
{
    uint64_t n;
    t->ndim = s->has_original ? s->original_ndim : hint->ndim;
    if (t->ndim < 0 || t->ndim > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected an original_shape in 'tile', or an array that uses the block");
    if (t->ndim != 0)
        memcpy(t->shape, s->has_original ? s->original : hint->shape,
               (size_t)t->ndim * sizeof t->shape[0]);
    if (!cip_shape_nelem(t->ndim, t->shape, &n))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected an original_shape of under 2^63 items");
    t->item_size = s->item_size;
    if (t->item_size == 0)
        t->item_size = n != 0 && len % n == 0 && len != 0 ? len / n : 1;
    if (cip_mul_overflow(n, t->item_size, &n) || n != len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected an original_shape and item_size of %" PRIu64
                        " bytes in all, found a different size",
                        len);
    return CIP_OK;
}

static cip_status too_large(cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected tiles of under 2^63 bytes");
}

/* Missing axes are whole; *len is what all tiles take, those at the edges being whole too. */
static cip_status cut(const asdf_step *s, tiling *t, uint64_t *len, cip_err *err)
{
    t->tile_len = t->item_size;
    t->n = 1;
    if (s->ndim > t->ndim)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected tiles of at most %" PRId32 " axes, found %" PRId32, t->ndim,
                        s->ndim);
    for (int32_t k = 0; k < t->ndim; k++) {
        uint64_t whole = cip_max_u64(1, (uint64_t)t->shape[k]);
        uint64_t tile = k < s->ndim ? (uint64_t)s->shape[k] : whole;
        t->tile[k] = (int64_t)tile;
        if (cip_mul_overflow(t->tile_len, tile, &t->tile_len) ||
            cip_mul_overflow(t->n, cip_div_up((uint64_t)t->shape[k], tile), &t->n))
            return too_large(err);
    }
    if (cip_mul_overflow(t->n, t->tile_len, len) || *len > INT64_MAX || t->tile_len > INT64_MAX)
        return too_large(err);
    return CIP_OK;
}

/* The table of tiles: one behind the other, as they are. */
typedef struct tile_table {
    cip_space *below;
    uint64_t n, len;
} tile_table;

static cip_status tiles_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const tile_table *t = self;
    if (i > t->n || n > t->n - i)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a tile below %" PRIu64 ", found %" PRIu64, t->n, i);
    for (size_t k = 0; k < n; k++)
        out[k] = (cip_chunk){ .at = { .in = t->below, .off = (i + k) * t->len, .len = t->len },
                              .raw_len = t->len,
                              .run = 1 };
    return CIP_OK;
}

static cip_status tiles_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const tile_table *)self)->n;
    return CIP_OK;
}

static cip_status tile_space(cip_layout *l, const tiling *t, cip_space *below, cip_space **out,
                             cip_err *err)
{
    const cip_grid grid = {
        .itemsize = t->item_size, .ndim = t->ndim, .shape = t->shape, .chunk = t->tile
    };
    tile_table *own;
    if (t->n == 0)
        return cip_space_new_mem(l, (cip_bytes){ (const uint8_t *)"", 0 }, out, err);
    if (t->n > l->env->limits.max_blocks)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "more than %" PRIu64 " tiles (max_blocks)", l->env->limits.max_blocks);
    if (below->kind != CIP_SPACE_LAZY && below->len != t->n * t->tile_len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes of tiles, found %" PRIu64, t->n * t->tile_len,
                        below->len);
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &own, 1, err));
    *own = (tile_table){ below, t->n, t->tile_len };
    const cip_table table = { .at = tiles_at, .count = tiles_count, .self = own };
    return cip_space_new_grid(l, &grid, &table, NULL, 0, out, err);
}

/* --- codecs --------------------------------------------------------------------------------- */

/* A space that can only be made once what lies below it is known. */
typedef struct coded {
    cip_layout *layout;
    cip_step step;
    cip_space *below;
    level level;
} coded;

static cip_status too_long(uint64_t max, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected at most %" PRIu64 " bytes between two encodings, found more", max);
}

/* The application says it from all of the stored bytes. */
static cip_status ask_length(const coded *c, cip_space *below, uint64_t *len, cip_err *err)
{
    const cip_read_how how = { .layout = c->layout };
    cip_mem *mem = &c->layout->env->mem;
    uint8_t *p = NULL;
    size_t n;
    cip_status st;
    if (!cip_to_size(below->len, &n))
        return too_long(c->level.max, err);
    CIP_TRY(cip_mem_get(mem, n, (void **)&p, err));
    CIP_GO(cip_space_read_at(&how, below, 0, p, n, err));
    CIP_GO(cip_app_codec_len(c->step.args, (cip_bytes){ p, n }, len, err));
    if (*len > c->level.max)
        st = too_long(c->level.max, err);
done:
    cip_mem_put(mem, p);
    return st;
}

static cip_status make_coded(void *self, cip_space **out, cip_err *err)
{
    const coded *c = self;
    uint64_t len = c->level.len;
    cip_space *below;
    CIP_TRY(cip_space_resolve(c->below, &below, err));
    if (!c->level.known && c->step.codec == &cip_codec_app)
        CIP_TRY(ask_length(c, below, &len, err));
    else if (!c->level.known)
        CIP_TRY(cip_asdf_count_decoded(c->layout, c->step.codec, below, c->level.max, &len, err));
    const cip_extent at = { .in = below, .len = below->len };
    return cip_space_new_seq(c->layout, &at, len, &c->step, out, err);
}

static cip_status codec_space(cip_layout *l, const asdf_step *s, const level *lv, cip_space *below,
                              cip_space **out, cip_err *err)
{
    const bool known = lv->known && below->kind != CIP_SPACE_LAZY;
    uint64_t most;
    coded *c;
    /* Lengths that deflate cannot reach are told before anything is decoded. */
    if (known && s->codec != &cip_codec_app &&
        !cip_mul_overflow(below->len, (uint64_t)DEFLATE_RATIO, &most) &&
        !cip_add_overflow(most, (uint64_t)DEFLATE_MORE, &most) && lv->len > most)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes out of %" PRIu64
                        " by 'zlib', found a claim of %" PRIu64,
                        most, below->len, lv->len);
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &c, 1, err));
    *c = (coded){ l, { .codec = s->codec, .args = s->codec_args }, below, *lv };
    return known ? make_coded(c, out, err) : cip_space_new_lazy(l, make_coded, c, out, err);
}

/* --- quantized floats ----------------------------------------------------------------------- */

/* *at: from the stored bytes to the floats. */
static cip_status quantize_space(cip_layout *l, const asdf_step *s, const level *lv,
                                 const asdf_chain_hint *hint, cip_space **at, cip_err *err)
{
    uint64_t n, width = (uint64_t)s->dtype / 8;
    if (width == 0)
        width = hint->float_size;
    if (width != 4 && width != 8)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a dtype in 'quantize', or an array of floats that uses the "
                        "block");
    bool fits = lv->len % width == 0;
    if (s->has_original)
        fits = fits && cip_shape_nelem(s->original_ndim, s->original, &n) && n <= lv->len / width;
    if (!fits)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected quantized floats of %" PRIu64
                        " bytes in all, found an original_shape or dtype that does not match",
                        lv->len);
    return cip_asdf_quantize_space(
        l, *at, lv->len, (cip_quantize_args){ .wide = width == 8, .big = hint->big }, at, err);
}

/* --- the chain ------------------------------------------------------------------------------ */

/* What each step decodes to, from the array down to the stored bytes. */
typedef struct measures {
    level level[ASDF_CHAIN_STEPS + 1];
    tiling tiling[ASDF_CHAIN_STEPS];
} measures;

static cip_status measure(const asdf_chain *chain, uint64_t raw_len, const asdf_chain_hint *hint,
                          measures *p, cip_err *err)
{
    const asdf_chain_hint none = { .ndim = -1 };
    p->level[0] = (level){ .known = true, .len = raw_len };
    for (size_t k = 0; k < chain->n; k++) {
        const asdf_step *s = &chain->step[k];
        level *lv = &p->level[k], *next = lv + 1;
        if (s->kind != ASDF_STEP_TILE) { /* leaves the length of what it gives open */
            next->known = false;
            if (cip_mul_overflow(lv->known ? lv->len : lv->max, (uint64_t)EXPANSION_MAX,
                                 &next->max) ||
                cip_add_overflow(next->max, (uint64_t)EXPANSION_MORE, &next->max))
                next->max = UINT64_MAX;
            continue;
        }
        CIP_TRY(original_of(s, lv->len, k == 0 ? hint : &none, &p->tiling[k], err));
        next->known = true;
        CIP_TRY(cut(s, &p->tiling[k], &next->len, err));
    }
    return CIP_OK;
}

cip_status cip_asdf_chain_space(const asdf_chain *chain, cip_space *stored, uint64_t raw_len,
                                const asdf_chain_hint *hint, cip_space **out, cip_err *err)
{
    cip_layout *l = stored->layout;
    const asdf_chain_hint none = { .ndim = -1 };
    measures *p;
    cip_space *s = stored;
    cip_status st;
    hint = hint != NULL ? hint : &none;
    if (chain->n == 0 && stored->len != raw_len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes after a chain of no encodings, found %" PRIu64,
                        raw_len, stored->len);
    CIP_TRY(CIP_NEW(&l->env->mem, &p, 1, err));
    CIP_GO(measure(chain, raw_len, hint, p, err));
    for (size_t k = chain->n; k-- > 0;) {
        const asdf_step *step = &chain->step[k];
        if (step->kind == ASDF_STEP_TILE)
            CIP_GO(tile_space(l, &p->tiling[k], s, &s, err));
        else if (step->kind == ASDF_STEP_QUANTIZE)
            CIP_GO(quantize_space(l, step, &p->level[k], hint, &s, err));
        else
            CIP_GO(codec_space(l, step, &p->level[k], s, &s, err));
        s->label = stored->label;
    }
    *out = s;
done:
    cip_mem_put(&l->env->mem, p);
    return st;
}
