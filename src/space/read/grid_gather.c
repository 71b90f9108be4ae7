/* SPDX-License-Identifier: BSD-3-Clause
 * A view of a gridded array, chunk by chunk: the box of the view that falls into a chunk is a walk
 * of its own; where chunks are made of blocks, it is cut once more, and only the blocks that it
 * touches are decoded. A view that does not step along the grid's axes (a diagonal) is left to the
 * linear reader. */
#include "space/read/grid_view.h"
#include "space/read/reader.h"

typedef struct box {
    cip_gather *g;
    cip_grid_view v;
    uint64_t to_size; /* bytes of an element at the destination */
    bool ordered;
    uint64_t first; /* chunk of job 0 */
    uint64_t parts; /* jobs that share the blocks of a chunk */
} box;

/* a * b modulo 2^64: of offsets, whose sum alone must fit, and of steps of axes of one element. */
static uint64_t times(int64_t a, int64_t b)
{
    return (uint64_t)a * (uint64_t)b;
}

/* The steps as a walk over raw bytes in which element first[] of the array is the first one. */
static void walk_of(const box *b, const int64_t *first, const int64_t *stride,
                    const cip_view_steps *in, cip_walk *w)
{
    cip_axis axis[CIP_MAX_NDIM];
    w->itemsize = b->v.itemsize;
    w->to_size = b->to_size;
    w->off = b->v.inside;
    w->to_off = b->v.to_off;
    w->pos0 = b->v.pos0;
    for (int32_t k = 0; k < b->v.grid->ndim; k++)
        w->off += times(b->v.axis[k].start - first[k], stride[k]);
    for (int32_t j = 0; j < b->v.nview; j++) {
        const cip_view_axis *v = &b->v.view[j];
        int64_t step = v->along == CIP_AXIS_NOWHERE  ? 0
                       : v->along == CIP_AXIS_INSIDE ? v->step
                                                     : (int64_t)times(v->step, stride[v->along]);
        axis[j] = (cip_axis){ in->hi[j] - in->lo[j], step, v->to, v->pos };
        w->off += times(in->lo[j], step);
        w->to_off += in->lo[j] * v->to;
        w->pos0 += in->lo[j] * v->pos;
    }
    cip_walk_of_axes(axis, b->v.nview, b->ordered, w);
}

/* --- a chunk of blocks ----------------------------------------------------------------------- */

enum { BATCH = 64, PIECES = 512 };

/* What of a chunk is touched. */
typedef struct blocks {
    const box *b;
    const cip_grid_chunk *at;
    const cip_chunk *c;
    const cip_view_steps *in;
    cip_cut axis[CIP_MAX_NDIM];
    uint64_t n;     /* blocks that are touched */
    uint64_t batch; /* as many at once */
    cip_chunk_ask ask;
} blocks;

/* Every batch costs a look at the whole table of blocks; a chunk much longer than a batch is
 * cheaper so even if all of it is wanted, as what was decoded is then still in the processor's
 * cache. */
static void cut_blocks(const box *b, const cip_grid_chunk *at, const cip_chunk *c,
                       const cip_view_steps *in, blocks *out)
{
    *out = (blocks){ .b = b, .at = at, .c = c, .in = in, .n = 1 };
    for (int32_t k = 0; k < b->v.grid->ndim; k++) {
        const cip_grid_axis *a = &b->v.axis[k];
        int64_t start = a->start - at->first[k], size = at->block[k];
        out->axis[k] = a->view < 0 ? cip_cut_at(NULL, start, size, 0, 0)
                                   : cip_cut_at(&b->v.view[a->view], start, size, in->lo[a->view],
                                                in->hi[a->view]);
        out->n *= (uint64_t)out->axis[k].nseg;
    }
    out->batch = cip_min_u64(cip_max_u64(b->g->rd.tune->pieces_nbytes / at->block_len, 1), BATCH);
    out->ask =
        (cip_chunk_ask){ .nbytes = out->n * at->block_len,
                         .batches = true,
                         .again = (out->n - 1) / out->batch * (at->raw_len / at->block_len) };
}

/* A block that is touched: where it begins in the chunk's raw bytes and in the array, and the steps
 * of the view that fall into it. */
typedef struct place {
    uint64_t off;
    int64_t first[CIP_MAX_NDIM];
    cip_view_steps in;
} place;

/* The t-th one. */
static void place_at(const blocks *s, uint64_t t, place *p)
{
    p->off = 0;
    p->in = *s->in;
    for (int32_t k = s->b->v.grid->ndim - 1; k >= 0; k--) {
        const cip_cut *c = &s->axis[k];
        int64_t view = s->b->v.axis[k].view, i = (int64_t)(t % (uint64_t)c->nseg);
        t /= (uint64_t)c->nseg;
        int64_t coord =
            view < 0 ? c->first : cip_cut_segment(c, i, &p->in.lo[view], &p->in.hi[view]);
        p->first[k] = s->at->first[k] + coord * s->at->block[k];
        p->off += (uint64_t)(coord * s->at->step[k]);
    }
}

/* Casts its elements from `raw`: all of its bytes, or just the elements. */
static void cast_block(const blocks *s, const place *p, cip_walk_src how, const uint8_t *raw)
{
    cip_walk w;
    walk_of(s->b, p->first, s->at->stride, &p->in, &w);
    cip_gather_cast(s->b->g, &w, (cip_walk_cast_args){ .e1 = w.nsource, .how = how, .src = raw });
}

/* Bytes of the elements that are wanted, each once. */
static uint64_t wanted(const blocks *s, const cip_view_steps *in)
{
    uint64_t nbytes = s->b->v.itemsize;
    for (int32_t j = 0; j < s->b->v.nview; j++)
        if (s->b->v.view[j].along != CIP_AXIS_NOWHERE)
            nbytes *= (uint64_t)(in->hi[j] - in->lo[j]);
    return nbytes;
}

/* Those of the chunk, without what pads it. */
static uint64_t there(const blocks *s)
{
    const cip_grid *g = s->b->v.grid;
    uint64_t nbytes = g->itemsize;
    for (int32_t k = 0; k < g->ndim; k++)
        nbytes *= (uint64_t)cip_min_i64(g->chunk[k], g->shape[k] - s->at->first[k]);
    return nbytes;
}

/* Blocks that are read together, in order. Those of which a part is wanted for the third time go to
 * the cache; the others' memory is used again, and of those of which little is wanted no more is
 * put in order. */
typedef struct block {
    uint64_t t;
    uint8_t *dst;
    cip_walk_src how; /* its elements lie there */
    cip_pooled room;  /* of a block that is not kept */
} block;

typedef struct batch {
    size_t n, npiece;
    block block[BATCH];
    cip_want piece[PIECES]; /* of all of them */
} batch;

static void drop_batch(const blocks *s, batch *m)
{
    const cip_rd *rd = &s->b->g->rd;
    for (size_t k = 0; k < m->n; k++) {
        if (m->block[k].room.ptr == NULL)
            cip_mem_put(&rd->env->mem, m->block[k].dst);
        cip_buffer_pool_give(rd->buffers, &m->block[k].room);
    }
    m->n = m->npiece = 0;
}

static cip_status read_batch(const blocks *s, batch *m, cip_chunk_way way, cip_err *err)
{
    cip_gather *g = s->b->g;
    cip_cache *cache = g->rd.cache;
    const size_t len = (size_t)s->at->block_len;
    place p;
    const cip_chunk_wish wish = { s->at->i, s->at->raw_len, m->piece, m->npiece, s->ask };
    cip_status st = cip_chunk_pieces_by(&g->rd, g->s, s->c, &wish, way, err);
    for (size_t k = 0; k < m->n && st == CIP_OK; k++) {
        uint8_t *bytes = m->block[k].dst;
        cip_cache_entry *pin = NULL;
        place_at(s, m->block[k].t, &p);
        cast_block(s, &p, m->block[k].how, bytes);
        if (m->block[k].room.ptr != NULL || len > cip_cache_max(cache) / 2)
            continue;
        m->block[k].dst = NULL; /* the cache's now */
        st = cip_cache_put(cache, cip_block_key(g->s, s->at->i, p.off),
                           (cip_cache_data){ bytes, len, false }, &pin, err);
        cip_cache_unpin(cache, pin);
    }
    drop_batch(s, m);
    return st;
}

/* From the cache, or into the batch: just the runs that are wanted, where putting them in order is
 * less work than all of the block. */
static cip_status add_block(const blocks *s, batch *m, uint64_t t, cip_err *err)
{
    cip_gather *g = s->b->g;
    cip_pinned h = { 0 };
    place p;
    cip_walk w;
    size_t len = (size_t)s->at->block_len, kept;
    unsigned times;
    place_at(s, t, &p);
    h.ptr =
        cip_cache_look(g->rd.cache, cip_block_key(g->s, s->at->i, p.off), &kept, &h.pin, &times);
    bool found = h.ptr != NULL && kept == len; /* the chunk itself may speak of other blocks */
    if (found)
        cast_block(s, &p, CIP_SRC_PLACED, h.ptr);
    cip_pinned_drop(&g->rd, &h);
    if (found)
        return CIP_OK;
    const bool keep =
        wanted(s, &p.in) < s->at->block_len && (times == CIP_CACHE_TIMES || cip_space_is_far(g->s));
    block *b = &m->block[m->n];
    *b = (block){ .t = t };
    if (keep)
        CIP_TRY(cip_buffer_pool_get(g->rd.buffers, len, &b->dst, err));
    else
        CIP_TRY(cip_buffer_pool_take(g->rd.buffers, len, &b->room, err));
    b->dst = keep ? b->dst : b->room.ptr;
    m->n++;
    walk_of(s->b, p.first, s->at->stride, &p.in, &w);
    const cip_chunk_part part = { .w = &w, .e1 = w.nsource, .base = 0 - p.off };
    cip_want *piece = m->piece + m->npiece;
    size_t n = 0, most = (size_t)cip_min_u64(len / g->rd.tune->run_work, PIECES / s->batch);
    if (!keep && w.nested && w.nsource * w.itemsize <= len / 2)
        n = cip_chunk_list_pieces(&part, b->dst, piece, most);
    b->how = n != 0 ? CIP_SRC_PACKED : CIP_SRC_PLACED;
    if (n == 0)
        piece[n++] = (cip_want){ .off = p.off, .len = len, .dst = b->dst };
    m->npiece += n;
    return CIP_OK;
}

/* Special chunks: each block by itself, as its pattern may begin anywhere in it. */
static cip_status gather_pattern(const blocks *s, cip_err *err)
{
    place p;
    cip_walk w;
    for (uint64_t t = 0; t < s->n; t++) {
        place_at(s, t, &p);
        walk_of(s->b, p.first, s->at->stride, &p.in, &w);
        w.off += p.off;
        cip_chunk_part part = { .i = s->at->i, .chunk = s->c, .w = &w, .e1 = w.nsource };
        CIP_TRY(cip_chunk_cast(s->b->g, &part, err));
    }
    return CIP_OK;
}

/* All of the chunk at once, or a few blocks at a time: those of the part. What is not done by
 * blocks is left to part 0. */
static cip_status gather_blocks(const blocks *s, uint64_t part, cip_err *err)
{
    cip_gather *g = s->b->g;
    cip_pinned h;
    place p;
    batch m;
    cip_status st = CIP_OK;
    uint64_t t0 = s->n * part / s->b->parts, end = s->n * (part + 1) / s->b->parts;
    cip_chunk_way way = cip_chunk_way_of(&g->rd, g->s, s->c, &s->ask);
    if (part != 0 && (s->c->state != CIP_CHUNK_DATA || way == CIP_WAY_WHOLE))
        return CIP_OK;
    if (s->c->state != CIP_CHUNK_DATA)
        return gather_pattern(s, err);
    if (way == CIP_WAY_WHOLE) {
        const bool keep = wanted(s, s->in) < there(s);
        CIP_TRY(cip_chunk_pin(&g->rd, g->s, s->at->i, s->c, keep, &h, err));
        t0 = 0;
        end = s->n;
    } else if (!cip_chunk_hold_cached(&g->rd, g->s, s->at->i, s->c, &h)) {
        m.n = m.npiece = 0;
        for (uint64_t t = t0; t < end && st == CIP_OK; t++) {
            st = add_block(s, &m, t, err);
            if (st == CIP_OK && m.n != 0 && (m.n == s->batch || t + 1 == end))
                st = read_batch(s, &m, way, err);
        }
        drop_batch(s, &m);
        return st;
    }
    for (uint64_t t = t0; t < end; t++) {
        place_at(s, t, &p);
        cast_block(s, &p, CIP_SRC_PLACED, h.ptr + p.off);
    }
    cip_pinned_drop(&g->rd, &h);
    return CIP_OK;
}

static cip_status run_job(void *arg, size_t i, cip_err *err)
{
    const box *b = arg;
    int64_t coord[CIP_MAX_NDIM];
    cip_grid_chunk at;
    cip_chunk c;
    cip_walk w;
    cip_view_steps in;
    uint8_t head[CIP_HEAD_ROOM];
    cip_grid_view_place(&b->v, b->first + i / b->parts, coord, &in);
    cip_grid_chunk_at(b->v.grid, coord, &at);
    CIP_TRY(cip_chunk_entry(b->g->s, at.i, at.raw_len, head, &c, err));
    if (b->v.grid->blocked) {
        blocks s;
        cut_blocks(b, &at, &c, &in, &s);
        return cip_chunk_fail_in(err, gather_blocks(&s, i % b->parts, err), b->g->s, at.i);
    }
    walk_of(b, at.first, at.stride, &in, &w);
    cip_chunk_part part = { .i = at.i, .chunk = &c, .w = &w, .e1 = w.nsource };
    return cip_chunk_fail_in(err, cip_chunk_cast(b->g, &part, err), b->g->s, at.i);
}

/* Jobs for a chunk of blocks: several where there are few chunks for the threads, and much of each
 * is wanted. */
static uint64_t parts_of(const cip_gather *g, const cip_nd *from, uint64_t njob)
{
    enum { CHUNKS_EACH = 4 }; /* so many for a thread, and none waits long for the others */
    const uint64_t threads = cip_pool_threads(g->rd.pool);
    uint64_t nelem, nbytes;
    if (threads == 1 || !g->s->grid->blocked || njob >= CHUNKS_EACH * threads ||
        !cip_shape_nelem(from->ndim, from->shape, &nelem) ||
        cip_mul_overflow(nelem, from->itemsize, &nbytes))
        return 1;
    return nbytes / njob / threads >= g->rd.tune->job ? threads : 1;
}

/* --- far files ------------------------------------------------------------------------------- */

/* What of job `i`'s chunk is going to be read; want[]: room for a batch. */
static cip_chunk_wish wish_of(const box *b, uint64_t i, cip_want *want)
{
    int64_t coord[CIP_MAX_NDIM];
    cip_cache *cache = b->g->rd.cache;
    cip_grid_chunk at;
    cip_walk w;
    cip_view_steps in;
    blocks s;
    cip_grid_view_place(&b->v, i, coord, &in);
    cip_grid_chunk_at(b->v.grid, coord, &at);
    cip_chunk_wish wish = { .i = at.i, .raw_len = at.raw_len, .piece = want };
    if (!b->v.grid->blocked) {
        walk_of(b, at.first, at.stride, &in, &w);
        wish.ask = (cip_chunk_ask){ .nbytes = w.nsource * w.itemsize, .staged = true };
        return wish;
    }
    cut_blocks(b, &at, NULL, &in, &s);
    wish.ask = s.ask;
    for (uint64_t t = 0; t < s.n && t < s.batch; t++) {
        cip_cache_entry *pin;
        place p;
        size_t len = (size_t)at.block_len, kept;
        place_at(&s, t, &p);
        if (cip_cache_get(cache, cip_block_key(b->g->s, at.i, p.off), &kept, &pin) == NULL)
            want[wish.n++] = (cip_want){ .off = p.off, .len = len };
        cip_cache_unpin(cache, pin);
    }
    return wish;
}

/* In batches, each read ahead, of no more than is kept: each of them waits for the server. */
static cip_status gather_far(box *b, uint64_t njob, cip_err *err)
{
    enum { LEAST = 16, MOST = 256 };
    const cip_rd *rd = &b->g->rd;
    const uint64_t raw = cip_max_u64(cip_grid_raw_len(b->v.grid), 1);
    const uint64_t fit = cip_max_u64(rd->tune->far_kept / 4 / raw, LEAST);
    const size_t each = (size_t)cip_min_u64(njob, cip_min_u64(fit, MOST));
    const size_t nwant = b->v.grid->blocked ? BATCH : 0;
    cip_want *want = NULL;
    cip_chunk_wish *wish = NULL;
    cip_status st;
    CIP_GO(CIP_NEW(&rd->env->mem, &wish, each, err));
    CIP_GO(CIP_NEW(&rd->env->mem, &want, each * nwant, err));
    for (; b->first < njob; b->first += each) {
        const size_t n = (size_t)cip_min_u64(each, njob - b->first);
        for (size_t i = 0; i < n; i++)
            wish[i] = wish_of(b, b->first + i, want + i * nwant);
        cip_chunks_expect(rd, b->g->s, wish, n);
        CIP_GO(cip_pool_run(rd->pool, n, run_job, b, err));
    }
done:
    cip_mem_put(&rd->env->mem, want);
    cip_mem_put(&rd->env->mem, wish);
    return st;
}

cip_status cip_gather_grid(cip_gather *g, const cip_nd *from, const cip_nd *to, bool *done,
                           cip_err *err)
{
    box b = { .g = g, .to_size = to->itemsize, .ordered = !cip_cast_in_place(g->cast), .parts = 1 };
    uint64_t njob = 1, count;
    *done = cip_grid_view_make(g->s->grid, from, to, &b.v);
    if (!*done)
        return CIP_OK;
    for (int32_t k = 0; k < b.v.grid->ndim; k++)
        njob *= (uint64_t)b.v.axis[k].chunks.nseg; /* at most the number of elements */
    CIP_TRY(g->s->table.count(g->s->table.self, &count, err));
    if (cip_space_is_far(g->s))
        return gather_far(&b, njob, err);
    b.parts = parts_of(g, from, njob);
    return cip_pool_run(g->rd.pool, (size_t)(njob * b.parts), run_job, &b, err);
}
