/* SPDX-License-Identifier: BSD-3-Clause
 * A view of a gridded array, chunk by chunk: each axis of the view steps along one axis of the grid
 * (any multiple, either way), or inside an element (fields, their sub-arrays), or not at all. The
 * box of the view that falls into a chunk is a walk of its own; where chunks are made of blocks, it
 * is cut once more, and only the blocks that it touches are decoded. A view that is nothing of the
 * kind (a diagonal) is left to the linear reader. */
#include "space/grid.h"
#include "space/reader.h"

enum { INSIDE = -1, NOWHERE = -2 }; /* instead of an axis of the grid */

/* An axis of the view, turned so that it rises. */
typedef struct view_axis {
    int32_t along;   /* axis of the grid, INSIDE an element, or NOWHERE: the same again */
    int64_t n, step; /* elements of the grid (INSIDE: bytes) */
    int64_t to, pos;
} view_axis;

/* A range of steps of a view's axis (or one place) on an axis that is cut in pieces of `size`: the
 * runs of steps that share a piece are its segments. */
typedef struct cut {
    const view_axis *v; /* NULL: all is in one piece */
    int64_t start;      /* where step 0 is */
    int64_t size;
    int64_t i0, i1; /* steps */
    int64_t first;  /* piece of segment 0 */
    int64_t nseg;
} cut;

/* An axis of the grid: the part that is touched. */
typedef struct grid_axis {
    int64_t start; /* where the view begins on it */
    int64_t view;  /* the one view axis that walks over its chunks; -1: all is in one chunk */
    cut chunks;
} grid_axis;

typedef struct box {
    cip_gather *g;
    const cip_grid *grid;
    int32_t nview;
    view_axis view[CIP_MAX_NDIM];
    grid_axis axis[CIP_MAX_NDIM];
    uint64_t inside; /* byte in the element where the view begins */
    uint64_t itemsize;
    int64_t to_off, pos0;
    bool ordered;
} box;

/* --- which axis is which --------------------------------------------------------------------- */

static void split_offset(box *b, uint64_t off)
{
    const cip_grid *g = b->grid;
    uint64_t e = off / g->itemsize;
    b->inside = off % g->itemsize;
    for (int32_t k = g->ndim - 1; k >= 0; k--) {
        b->axis[k] = (grid_axis){ .start = (int64_t)(e % (uint64_t)g->shape[k]), .view = -1 };
        e /= (uint64_t)g->shape[k];
    }
}

/* The slowest axis of the grid whose step divides the view's and on which all of it may lie. */
static void find_axis(const cip_grid *g, uint64_t step, view_axis *v)
{
    uint64_t stride = g->itemsize;
    v->along = INSIDE;
    v->step = (int64_t)step;
    for (int32_t k = g->ndim - 1; k >= 0; k--) {
        uint64_t m = step / stride, reach;
        if (step % stride == 0 && !cip_mul_overflow(m, (uint64_t)(v->n - 1), &reach) &&
            reach < (uint64_t)g->shape[k]) {
            v->along = k;
            v->step = (int64_t)m;
        }
        stride *= (uint64_t)g->shape[k];
    }
}

/* Turns a falling axis round; whether its beginning stays in the array is seen later. */
static void turn(box *b, view_axis *v)
{
    int64_t back = (v->n - 1) * v->step;
    if (v->along == INSIDE)
        b->inside -= (uint64_t)back;
    else
        b->axis[v->along].start -= back;
    b->to_off += (v->n - 1) * v->to;
    b->pos0 += (v->n - 1) * v->pos;
    v->to = -v->to;
    v->pos = -v->pos;
}

static void add_axis(box *b, int64_t n, int64_t from, int64_t to, int64_t pos)
{
    view_axis *v = &b->view[b->nview++];
    *v = (view_axis){ .along = NOWHERE, .n = n, .to = to, .pos = pos };
    if (from == 0)
        return;
    find_axis(b->grid, from < 0 ? 0 - (uint64_t)from : (uint64_t)from, v);
    if (from < 0)
        turn(b, v);
}

/* The shortest pieces that an axis is cut in. */
static int64_t piece_of(const cip_grid *g, int32_t k)
{
    return g->blocked && g->block[k] < g->chunk[k] ? g->block[k] : g->chunk[k];
}

/* Whether the view stays in the array on every axis, and goes over chunks with at most one of its
 * axes on each. */
static bool fits(box *b)
{
    const cip_grid *g = b->grid;
    int64_t reach[CIP_MAX_NDIM] = { 0 };
    uint64_t inside = b->itemsize;
    for (int32_t j = 0; j < b->nview; j++) {
        const view_axis *v = &b->view[j];
        if (v->along == NOWHERE)
            continue;
        if (v->along == INSIDE) {
            inside += (uint64_t)((v->n - 1) * v->step);
            continue;
        }
        grid_axis *a = &b->axis[v->along];
        bool is_cut = piece_of(g, v->along) < g->shape[v->along];
        if (reach[v->along] != 0 && is_cut)
            return false;
        reach[v->along] += (v->n - 1) * v->step;
        if (is_cut)
            a->view = j;
    }
    for (int32_t k = 0; k < g->ndim; k++)
        if (b->axis[k].start < 0 || reach[k] >= g->shape[k] - b->axis[k].start)
            return false;
    return b->inside <= g->itemsize && inside <= g->itemsize - b->inside;
}

static cut cut_at(const view_axis *v, int64_t start, int64_t size, int64_t i0, int64_t i1)
{
    cut c = { .v = v, .start = start, .size = size, .i0 = i0, .i1 = i1, .nseg = 1 };
    if (v == NULL) {
        c.first = start / size;
        return c;
    }
    c.first = (start + i0 * v->step) / size;
    c.nseg = v->step >= size ? i1 - i0 : (start + (i1 - 1) * v->step) / size - c.first + 1;
    return c;
}

/* The piece that segment t is, and its steps [*lo, *hi). */
static int64_t segment(const cut *c, int64_t t, int64_t *lo, int64_t *hi)
{
    int64_t step = c->v->step;
    if (step >= c->size) {
        *lo = c->i0 + t;
        *hi = *lo + 1;
        return (c->start + *lo * step) / c->size;
    }
    int64_t from = (c->first + t) * c->size - c->start, to = from + c->size;
    int64_t i0 = from <= 0 ? 0 : (from + step - 1) / step;
    *lo = i0 > c->i0 ? i0 : c->i0;
    *hi = to > (c->i1 - 1) * step ? c->i1 : (to + step - 1) / step;
    return c->first + t;
}

static void cut_axes(box *b)
{
    const cip_grid *g = b->grid;
    for (int32_t k = 0; k < g->ndim; k++) {
        grid_axis *a = &b->axis[k];
        const view_axis *v = a->view < 0 ? NULL : &b->view[a->view];
        a->chunks = cut_at(v, a->start, g->chunk[k], 0, v == NULL ? 0 : v->n);
    }
}

/* --- a chunk --------------------------------------------------------------------------------- */

/* Steps of each axis of the view. */
typedef struct steps {
    int64_t lo[CIP_MAX_NDIM], hi[CIP_MAX_NDIM];
} steps;

/* Which chunk job `i` is, and the view's steps in it. */
static void place(const box *b, uint64_t i, int64_t *coord, steps *in)
{
    const cip_grid *g = b->grid;
    for (int32_t j = 0; j < b->nview; j++) {
        in->lo[j] = 0;
        in->hi[j] = b->view[j].n;
    }
    for (int32_t n = 0; n < g->ndim; n++) {
        int32_t k = g->f_order ? n : g->ndim - 1 - n; /* the jobs in the order of the chunks */
        const grid_axis *a = &b->axis[k];
        int64_t t = (int64_t)(i % (uint64_t)a->chunks.nseg);
        i /= (uint64_t)a->chunks.nseg;
        coord[k] = a->view < 0 ? a->chunks.first
                               : segment(&a->chunks, t, &in->lo[a->view], &in->hi[a->view]);
    }
}

/* The steps as a walk over raw bytes in which element first[] of the array is the first one. */
static void walk_of(const box *b, const int64_t *first, const int64_t *stride, const steps *in,
                    cip_walk *w)
{
    cip_axis axis[CIP_MAX_NDIM];
    w->itemsize = b->itemsize;
    w->to_size = b->g->w.to_size;
    w->off = b->inside;
    w->to_off = b->to_off;
    w->pos0 = b->pos0;
    for (int32_t k = 0; k < b->grid->ndim; k++)
        w->off += (uint64_t)((b->axis[k].start - first[k]) * stride[k]);
    for (int32_t j = 0; j < b->nview; j++) {
        const view_axis *v = &b->view[j];
        int64_t step = v->along == NOWHERE  ? 0
                       : v->along == INSIDE ? v->step
                                            : v->step * stride[v->along];
        axis[j] = (cip_axis){ in->hi[j] - in->lo[j], step, v->to, v->pos };
        w->off += (uint64_t)(in->lo[j] * step);
        w->to_off += in->lo[j] * v->to;
        w->pos0 += in->lo[j] * v->pos;
    }
    cip_walk_of_axes(axis, b->nview, b->ordered, w);
}

/* --- a chunk of blocks ----------------------------------------------------------------------- */

enum {
    BATCH = 64,
    TABLE_ENTRY = 16 /* bytes decoded in the time that an entry of a chunk's table takes */
};

/* What of a chunk is touched. */
typedef struct blocks {
    const box *b;
    const cip_grid_chunk *at;
    const cip_chunk *c;
    const steps *in;
    cut axis[CIP_MAX_NDIM];
    uint64_t n; /* blocks that are touched */
} blocks;

static void cut_blocks(const box *b, const cip_grid_chunk *at, const cip_chunk *c, const steps *in,
                       blocks *out)
{
    *out = (blocks){ .b = b, .at = at, .c = c, .in = in, .n = 1 };
    for (int32_t k = 0; k < b->grid->ndim; k++) {
        const grid_axis *a = &b->axis[k];
        int64_t start = a->start - at->first[k], size = at->block[k];
        out->axis[k] =
            a->view < 0 ? cut_at(NULL, start, size, 0, 0)
                        : cut_at(&b->view[a->view], start, size, in->lo[a->view], in->hi[a->view]);
        out->n *= (uint64_t)out->axis[k].nseg;
    }
}

/* The t-th block that is touched: where its raw bytes begin in the chunk, and the walk over it,
 * which counts from there. */
static uint64_t block_at(const blocks *s, uint64_t t, cip_walk *w)
{
    int64_t first[CIP_MAX_NDIM];
    uint64_t off = 0;
    steps in = *s->in;
    for (int32_t k = s->b->grid->ndim - 1; k >= 0; k--) {
        const cut *c = &s->axis[k];
        int64_t view = s->b->axis[k].view, i = (int64_t)(t % (uint64_t)c->nseg);
        t /= (uint64_t)c->nseg;
        int64_t coord = view < 0 ? c->first : segment(c, i, &in.lo[view], &in.hi[view]);
        first[k] = s->at->first[k] + coord * s->at->block[k];
        off += (uint64_t)(coord * s->at->step[k]);
    }
    walk_of(s->b, first, s->at->stride, &in, w);
    return off;
}

/* Casts the t-th one from `raw`, its bytes. */
static void cast_block(const blocks *s, const cip_walk *w, const uint8_t *raw)
{
    cip_chunk_part p = { .i = s->at->i, .chunk = s->c, .w = w, .e1 = w->nsource };
    cip_chunk_cast_placed(s->b->g, &p, raw);
}

/* Blocks that are read together, in order. Those of which only a part is wanted may be wanted again
 * and go to the cache; the others' memory is used again. */
typedef struct batch {
    size_t n;
    uint64_t t[BATCH];
    cip_want want[BATCH];
    cip_pooled room[BATCH]; /* of a block that is all wanted */
} batch;

static cip_cache_key key_of(const blocks *s, uint64_t off)
{
    return (cip_cache_key){ s->b->g->s->id, s->at->i, 1 + off / s->at->block_len };
}

static cip_status keep_block(const blocks *s, cip_want *want, cip_err *err)
{
    cip_cache *cache = s->b->g->rd.cache;
    cip_cache_entry *pin = NULL;
    uint8_t *bytes = want->dst;
    if (want->len > cip_cache_max(cache) / 2)
        return CIP_OK;
    want->dst = NULL;
    CIP_TRY(cip_cache_put(cache, key_of(s, want->off), bytes, want->len, &pin, err));
    cip_cache_unpin(cache, pin);
    return CIP_OK;
}

static void drop_batch(const blocks *s, batch *m)
{
    const cip_rd *rd = &s->b->g->rd;
    for (size_t k = 0; k < m->n; k++) {
        if (m->room[k].ptr == NULL)
            cip_mem_put(&rd->env->mem, m->want[k].dst);
        cip_buffer_pool_give(rd->buffers, &m->room[k]);
    }
    m->n = 0;
}

static cip_status read_batch(const blocks *s, batch *m, cip_err *err)
{
    cip_status st = CIP_OK;
    cip_walk w;
    if (m->n != 0)
        st = cip_chunk_pieces(&s->b->g->rd, s->b->g->s, s->at->i, s->c, m->want, m->n, err);
    for (size_t k = 0; k < m->n && st == CIP_OK; k++) {
        block_at(s, m->t[k], &w);
        cast_block(s, &w, m->want[k].dst);
        if (m->room[k].ptr == NULL)
            st = keep_block(s, &m->want[k], err);
    }
    drop_batch(s, m);
    return st;
}

/* From the cache, or into the batch. */
static cip_status add_block(const blocks *s, batch *m, uint64_t t, cip_err *err)
{
    const cip_rd *rd = &s->b->g->rd;
    cip_cache_entry *pin = NULL;
    cip_walk w;
    size_t len = (size_t)s->at->block_len, kept;
    uint64_t off = block_at(s, t, &w);
    const uint8_t *raw = cip_cache_get(rd->cache, key_of(s, off), &kept, &pin);
    if (raw != NULL)
        cast_block(s, &w, raw);
    cip_cache_unpin(rd->cache, pin);
    if (raw != NULL)
        return CIP_OK;
    m->t[m->n] = t;
    m->room[m->n] = (cip_pooled){ NULL, 0 };
    m->want[m->n] = (cip_want){ .off = off, .len = len };
    if (w.nsource * s->b->itemsize == len) {
        CIP_TRY(cip_buffer_pool_take(rd->buffers, len, &m->room[m->n], err));
        m->want[m->n].dst = m->room[m->n].ptr;
    } else {
        CIP_TRY(cip_buffer_pool_get(rd->buffers, len, &m->want[m->n].dst, err));
    }
    m->n++;
    return CIP_OK;
}

static uint64_t batch_size(const blocks *s)
{
    uint64_t most = s->b->g->rd.tune->pieces_nbytes / s->at->block_len;
    return cip_min_u64(cip_max_u64(most, 1), BATCH);
}

/* A few at a time, each block by itself. */
static cip_status gather_apart(const blocks *s, cip_err *err)
{
    uint64_t most = batch_size(s);
    batch m = { .n = 0 };
    cip_status st = CIP_OK;
    for (uint64_t t = 0; t < s->n && st == CIP_OK; t++) {
        if (m.n == most)
            st = read_batch(s, &m, err);
        if (st == CIP_OK)
            st = add_block(s, &m, t, err);
    }
    if (st == CIP_OK)
        return read_batch(s, &m, err);
    drop_batch(s, &m);
    return st;
}

/* Special chunks: each block by itself, as its pattern may begin anywhere in it. */
static cip_status gather_pattern(const blocks *s, cip_err *err)
{
    cip_walk w;
    for (uint64_t t = 0; t < s->n; t++) {
        uint64_t off = block_at(s, t, &w);
        w.off += off;
        cip_chunk_part p = { .i = s->at->i, .chunk = s->c, .w = &w, .e1 = w.nsource };
        CIP_TRY(cip_chunk_cast(s->b->g, &p, err));
    }
    return CIP_OK;
}

static cip_status gather_whole(const blocks *s, bool part, cip_err *err)
{
    cip_gather *g = s->b->g;
    cip_pinned h;
    cip_walk w;
    CIP_TRY(cip_chunk_pin(&g->rd, g->s, s->at->i, s->c, part, &h, err));
    for (uint64_t t = 0; t < s->n; t++) {
        uint64_t off = block_at(s, t, &w);
        cast_block(s, &w, h.ptr + off);
    }
    cip_pinned_drop(&g->rd, &h);
    return CIP_OK;
}

/* Whether its blocks are read by themselves. Every batch costs a look at the whole table of blocks;
 * a chunk much longer than a batch is cheaper so even if all of it is wanted, as what was decoded
 * is then still in the processor's cache. */
static bool reads_apart(const blocks *s)
{
    const cip_gather *g = s->b->g;
    uint64_t raw_len = s->c->raw_len, again = (s->n - 1) / batch_size(s);
    uint64_t tables = again * (raw_len / s->at->block_len) * TABLE_ENTRY;
    if (!cip_chunk_in_pieces(g, s->c))
        return false;
    if (raw_len > cip_cache_max(g->rd.cache) / 2)
        return true;
    if (tables > raw_len / 8)
        return false;
    return s->n * s->at->block_len <= raw_len / 2 || raw_len / 2 > g->rd.tune->pieces_nbytes;
}

static cip_status gather_blocks(const blocks *s, cip_err *err)
{
    if (s->c->state != CIP_CHUNK_DATA)
        return gather_pattern(s, err);
    if (reads_apart(s))
        return gather_apart(s, err);
    return gather_whole(s, s->n * s->at->block_len < s->c->raw_len, err);
}

static cip_status run_job(void *arg, size_t i, cip_err *err)
{
    const box *b = arg;
    int64_t coord[CIP_MAX_NDIM];
    cip_grid_chunk at;
    cip_chunk c;
    cip_walk w;
    steps in;
    place(b, i, coord, &in);
    cip_grid_chunk_at(b->grid, coord, &at);
    CIP_TRY(cip_chunk_entry(b->g->s, at.i, at.raw_len, &c, err));
    if (b->grid->blocked) {
        blocks s;
        cut_blocks(b, &at, &c, &in, &s);
        return cip_chunk_fail_in(err, gather_blocks(&s, err), b->g->s, at.i);
    }
    walk_of(b, at.first, at.stride, &in, &w);
    cip_chunk_part part = { .i = at.i, .chunk = &c, .w = &w, .e1 = w.nsource };
    return cip_chunk_fail_in(err, cip_chunk_cast(b->g, &part, err), b->g->s, at.i);
}

cip_status cip_gather_grid(cip_gather *g, const cip_nd *from, const cip_nd *to, bool *done,
                           cip_err *err)
{
    box b = { .g = g,
              .grid = g->s->grid,
              .itemsize = from->itemsize,
              .to_off = (int64_t)to->off,
              .ordered = !cip_cast_in_place(g->cast) };
    uint64_t njob = 1, count;
    int64_t pos = 1;
    *done = false;
    if (b.grid->itemsize == 0)
        return CIP_OK;
    split_offset(&b, from->off);
    for (int32_t k = from->ndim - 1; k >= 0; k--) {
        if (from->shape[k] != 1)
            add_axis(&b, from->shape[k], from->stride[k], to->stride[k], pos);
        pos *= from->shape[k];
    }
    if (!fits(&b))
        return CIP_OK;
    cut_axes(&b);
    for (int32_t k = 0; k < b.grid->ndim; k++)
        njob *= (uint64_t)b.axis[k].chunks.nseg; /* at most the number of elements */
    *done = true;
    CIP_TRY(g->s->table.count(g->s->table.self, &count, err));
    return cip_pool_run(g->rd.pool, (size_t)njob, run_job, &b, err);
}
