/* SPDX-License-Identifier: BSD-3-Clause
 * Elements of a view to memory: the view is brought down to the space that holds its bytes and
 * given to that kind's own way. */
#include <string.h>

#include "space/read/reader.h"

void cip_gather_cast(cip_gather *g, const cip_walk *w, cip_walk_cast_args a)
{
    cip_cast_stats stats = { 0, 0 };
    a.cast = g->cast;
    a.dst = g->dst;
    cip_walk_cast(w, &a, &stats);
    if (stats.noverflow == 0)
        return;
    pthread_mutex_lock(&g->lock);
    cip_cast_merge(&g->stats, &stats);
    pthread_mutex_unlock(&g->lock);
}

/* --- from memory ----------------------------------------------------------------------------- */

typedef struct memory {
    cip_gather *g;
    const uint8_t *base;
    uint64_t each; /* source elements in a job */
} memory;

static cip_status memory_job(void *arg, size_t i, cip_err *err)
{
    const memory *m = arg;
    const cip_walk *w = &m->g->w;
    uint64_t e0 = i * m->each;
    (void)err;
    cip_gather_cast(m->g, w,
                    (cip_walk_cast_args){ .e0 = e0,
                                          .e1 = cip_min_u64(e0 + m->each, w->nsource),
                                          .how = w->itemsize == 0 ? CIP_SRC_SAME : CIP_SRC_PLACED,
                                          .src = m->base });
    return CIP_OK;
}

cip_status cip_gather_memory(cip_gather *g, const uint8_t *base, cip_err *err)
{
    const cip_walk *w = &g->w;
    memory m = { .g = g, .base = base };
    uint64_t times = w->nelem / w->nsource;
    uint64_t each = cip_max_u64(cip_max_u64(w->to_size, w->itemsize), 1);
    m.each = g->rd.tune->memory_job / each / times + 1;
    if (cip_walk_turns(
            w)) { /* whole columns, enough of them to fill the destination's cache lines */
        uint64_t column = (uint64_t)w->axis[w->nouter - 1].n;
        m.each = cip_max_u64(cip_div_up(m.each, column), 64) * column;
    }
    return cip_pool_run(g->rd.pool, (size_t)cip_div_up(w->nsource, m.each), memory_job, &m, err);
}

/* --- by kind --------------------------------------------------------------------------------- */

/* By the kind of the space that the view was brought down to. */
static cip_status gather_kind(cip_gather *g, const cip_nd *from, const cip_nd *to, uint64_t end,
                              cip_err *err)
{
    bool done = false;
    g->stats = (cip_cast_stats){ 0, 0 };
    if (g->s->kind == CIP_SPACE_GRID && from->itemsize != 0)
        CIP_TRY(cip_gather_grid(g, from, to, &done, err));
    if (done)
        return CIP_OK;
    cip_walk_make(from, to, !cip_cast_in_place(g->cast), &g->w);
    if (from->itemsize == 0)
        return cip_gather_memory(g, (const uint8_t *)"", err);
    switch (g->s->kind) {
    case CIP_SPACE_MEM:
        return cip_gather_memory(g, g->s->mem.ptr, err);
    case CIP_SPACE_CHUNKED:
        return cip_gather_chunked(g, err);
    case CIP_SPACE_SEQ:
        break;
    default:
        return cip_gather_tiles(g, err);
    }
    cip_pinned h;
    CIP_TRY(cip_seq_pin(&g->rd, g->s, end, &h, err));
    if (h.ptr == NULL)
        return cip_gather_tiles(g, err);
    cip_status st = cip_gather_memory(g, h.ptr, err);
    cip_pinned_drop(&g->rd, &h);
    return st;
}

/* Chunks through their table; where one does not fit it, in order, and if that goes well, for good.
 * [first, end): the bytes that the view goes over. */
static cip_status gather_space(cip_gather *g, const cip_nd *view, const cip_nd *to, uint64_t first,
                               uint64_t end, cip_err *err)
{
    cip_err found = CIP_ERR_INIT, other = CIP_ERR_INIT;
    cip_nd from = *view;
    uint64_t shift = 0;
    cip_status st = cip_rd_descend(&g->rd, &g->s, &shift, first, end - first, err);
    if (st != CIP_OK)
        return cip_rd_fail(&g->rd, st, err);
    from.off += shift;
    if (g->s->kind == CIP_SPACE_RECORDS && cip_records_narrow(g->s, &from, &g->s, &from)) {
        CIP_TRY(cip_view_bounds(&from, &first, &end, err));
        CIP_TRY(cip_rd_deeper(&g->rd, &g->rd, err));
        return gather_space(g, &from, to, first, end, err);
    }
    cip_space *s = g->s, *other_way = s->kind == CIP_SPACE_CHUNKED ? s->in_order : NULL;
    if (other_way == NULL || !atomic_load_explicit(&s->use_in_order, memory_order_relaxed)) {
        st = cip_rd_fail(&g->rd, gather_kind(g, &from, to, end + shift, &found), &found);
        if (st != CIP_ERR_CORRUPT || other_way == NULL)
            return cip_err_give(err, &found, st);
    }
    g->s = other_way;
    CIP_TRY(cip_rd_deeper(&g->rd, &g->rd, err));
    cip_status again = gather_space(g, &from, to, first + shift, end + shift, &other);
    if (found.code != CIP_OK && cip_is_damage(again)) /* the chunk's error names the place */
        return cip_err_give(err, &found, CIP_ERR_CORRUPT);
    if (again == CIP_OK)
        atomic_store_explicit(&s->use_in_order, true, memory_order_relaxed);
    return cip_err_give(err, &other, again);
}

cip_status cip_space_gather(const cip_read_how *how, cip_space *s, const cip_transfer *t,
                            cip_cast_stats *stats, cip_err *err)
{
    uint64_t nelem, first, end;
    const cip_nd *from = t->from, *to = t->to;
    if (!cip_view_same_shape(from, to) || !cip_shape_nelem(from->ndim, from->shape, &nelem))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected two views of one shape");
    if (nelem == 0)
        return CIP_OK;
    CIP_TRY(cip_view_bounds(from, &first, &end, err));
    cip_gather g = { .rd = cip_rd_make(how), .s = s, .cast = t->cast, .dst = t->dst };
    pthread_mutex_init(&g.lock, NULL);
    cip_status st = gather_space(&g, from, to, first, end, err);
    pthread_mutex_destroy(&g.lock);
    if (st == CIP_OK && stats != NULL)
        cip_cast_merge(stats, &g.stats);
    return s->label != NULL ? cip_fail_in(err, st, "%s", s->label) : st;
}
