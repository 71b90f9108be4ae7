/* SPDX-License-Identifier: BSD-3-Clause
 * Quantized floats as linear chunks: their headers are walked one behind the other and make a table
 * of 24 bytes a chunk; a chunk without values is none. */
#include "format/asdf/chain/asdf_chain.h"

#include <string.h>

#include "base/num.h"

enum { WINDOW = 16 << 10, DENSE = 4096 /* headers closer than this are read together */ };

typedef struct entry {
    uint64_t off, len; /* of the chunk with its header, in `below` */
    uint64_t raw_off;
} entry;

typedef struct table {
    cip_space *below;
    const entry *at;
    uint64_t n, raw_len; /* of all */
} table;

/* --- the table ------------------------------------------------------------------------------ */

static cip_status chunks_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const table *t = self;
    if (i > t->n || n > t->n - i)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a chunk below %" PRIu64 ", found %" PRIu64, t->n, i);
    for (size_t k = 0; k < n; k++) {
        const entry *e = &t->at[i + k];
        uint64_t end = i + k + 1 < t->n ? e[1].raw_off : t->raw_len;
        out[k] = (cip_chunk){ .at = { .in = t->below, .off = e->off, .len = e->len },
                              .raw_off = e->raw_off,
                              .raw_len = end - e->raw_off,
                              .run = 1 };
    }
    return CIP_OK;
}

static cip_status find_chunk(void *self, uint64_t raw_off, uint64_t *i, cip_err *err)
{
    const table *t = self;
    (void)err; /* there is at least one, and the first begins at 0 */
    *i = cip_last_at_most(&t->at->raw_off, sizeof *t->at, t->n, raw_off);
    return CIP_OK;
}

static cip_status count_chunks(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const table *)self)->n;
    return CIP_OK;
}

/* --- the walk ------------------------------------------------------------------------------- */

typedef struct walk {
    cip_layout *layout;
    cip_space *below;
    uint64_t width;
    uint64_t pos, raw_len;
    uint64_t step; /* from the last header to this one */
    entry *at;     /* of the env's memory */
    size_t n, cap;
    uint8_t *buf; /* [off, off + len) of below */
    uint64_t off;
    size_t len;
} walk;

/* The chunk at w->pos. */
static cip_status take_chunk(walk *w, cip_err *err)
{
    const cip_read_how how = { .layout = w->layout };
    const uint64_t most = w->layout->env->limits.max_blocks;
    uint64_t left = w->below->len - w->pos, raw;
    cip_quantize_head h;
    if (w->pos < w->off || w->pos + CIP_QUANTIZE_HEAD > w->off + w->len) {
        w->len = w->step < DENSE ? (size_t)cip_min_u64(WINDOW, left) : CIP_QUANTIZE_HEAD;
        w->off = w->pos;
        CIP_TRY(cip_space_read_at(&how, w->below, w->pos, w->buf, w->len, err));
    }
    const cip_bytes in = { w->buf + (size_t)(w->pos - w->off), CIP_QUANTIZE_HEAD };
    left -= CIP_QUANTIZE_HEAD;
    CIP_TRY(cip_quantize_head_parse(in, &h, err));
    uint64_t payload = cip_quantize_payload(&h);
    if (payload > left)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes of quantized values, found a claim of "
                        "%" PRIu64,
                        left, payload);
    const entry e = { w->pos, CIP_QUANTIZE_HEAD + payload, w->raw_len };
    if (cip_mul_overflow(h.n, w->width, &raw) || cip_add_overflow(raw, w->raw_len, &raw) ||
        raw > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected quantized values of under 2^63 bytes, found %" PRIu64, h.n);
    if (h.n != 0) {
        if (w->n >= most)
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                            "more than %" PRIu64 " chunks (max_blocks)", most);
        CIP_TRY(CIP_ROOM(&w->layout->env->mem, &w->at, w->n, &w->cap, err));
        w->at[w->n++] = e;
    }
    w->raw_len = raw;
    w->step = e.len;
    w->pos += e.len;
    return CIP_OK;
}

/* All chunks up to the one with the last byte that is wanted. */
static cip_status take_all(walk *w, uint64_t want, cip_err *err)
{
    while (w->raw_len < want) {
        if (w->below->len - w->pos < CIP_QUANTIZE_HEAD)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected %" PRIu64 " quantized values, found %" PRIu64,
                            want / w->width, w->raw_len / w->width);
        CIP_TRY(take_chunk(w, err));
    }
    uint64_t left = w->below->len - w->pos;
    if (left != 0 && left < CIP_QUANTIZE_HEAD)
        cip_warn(w->layout->env, CIP_ERR_CORRUPT, CIP_NO_OFFSET, w->below->label,
                 "%" PRIu64 " bytes after the last quantized values", left);
    return CIP_OK;
}

/* --- the space ------------------------------------------------------------------------------ */

typedef struct late {
    cip_layout *layout;
    cip_space *below;
    uint64_t len;
    cip_quantize_args args;
} late;

static cip_status new_space(const late *s, const walk *w, cip_space **out, cip_err *err)
{
    cip_layout *l = s->layout;
    const cip_step step = { .codec = &cip_codec_quantize, .args = &s->args };
    table *t;
    entry *copy = NULL;
    if (s->len == 0)
        return cip_space_new_mem(l, (cip_bytes){ (const uint8_t *)"", 0 }, out, err);
    pthread_mutex_lock(&l->lock);
    cip_status st = CIP_ARENA_NEW(&l->arena, &t, 1, err);
    if (st == CIP_OK)
        st = CIP_ARENA_NEW(&l->arena, &copy, w->n, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    memcpy(copy, w->at, w->n * sizeof *copy);
    *t = (table){ w->below, copy, w->n, w->raw_len };
    const cip_table how = { .at = chunks_at, .find = find_chunk, .count = count_chunks, .self = t };
    CIP_TRY(cip_space_new_chunked(l, &how, w->raw_len, &step, 1, out, err));
    (*out)->label = w->below->label;
    return w->raw_len == s->len ? CIP_OK : cip_space_new_sub(l, *out, 0, s->len, out, err);
}

static cip_status make(void *self, cip_space **out, cip_err *err)
{
    const late *s = self;
    cip_mem *mem = &s->layout->env->mem;
    walk w = { .layout = s->layout, .width = s->args.wide ? 8 : 4 };
    cip_status st;
    CIP_TRY(cip_space_resolve(s->below, &w.below, err));
    CIP_GO(cip_mem_get(mem, WINDOW, (void **)&w.buf, err));
    CIP_GO(take_all(&w, s->len, err));
    CIP_GO(new_space(s, &w, out, err));
done:
    cip_mem_put(mem, w.buf);
    cip_mem_put(mem, w.at);
    return st;
}

cip_status cip_asdf_quantize_space(cip_layout *l, cip_space *below, uint64_t len,
                                   cip_quantize_args args, cip_space **out, cip_err *err)
{
    late *s;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &s, 1, err));
    *s = (late){ l, below, len, args };
    return cip_space_new_lazy(l, make, s, out, err);
}
