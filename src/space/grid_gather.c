/* SPDX-License-Identifier: BSD-3-Clause
 * A view of a gridded array, chunk by chunk: each axis of the view steps along one axis of the grid
 * (any multiple, either way), or inside an element (fields, their sub-arrays), or not at all. The
 * box of the view that falls into a chunk is a walk of its own. A view that is nothing of the kind
 * (a diagonal) is left to the linear reader. */
#include "space/grid.h"
#include "space/reader.h"

enum { INSIDE = -1, NOWHERE = -2 }; /* instead of an axis of the grid */

/* An axis of the view, turned so that it rises. */
typedef struct view_axis {
    int32_t along;   /* axis of the grid, INSIDE an element, or NOWHERE: the same again */
    int64_t n, step; /* elements of the grid (INSIDE: bytes) */
    int64_t to, pos;
} view_axis;

/* An axis of the grid: the part that is touched, in runs of the view's steps that share a chunk. */
typedef struct grid_axis {
    int64_t start; /* where the view begins on it */
    int64_t view;  /* the one view axis that walks over its chunks; -1: all is in one chunk */
    int64_t first; /* chunk of segment 0 */
    int64_t nseg;
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
        if (reach[v->along] != 0 && g->chunk[v->along] < g->shape[v->along])
            return false;
        reach[v->along] += (v->n - 1) * v->step;
        if (g->chunk[v->along] < g->shape[v->along])
            a->view = j;
    }
    for (int32_t k = 0; k < g->ndim; k++)
        if (b->axis[k].start < 0 || reach[k] >= g->shape[k] - b->axis[k].start)
            return false;
    return b->inside <= g->itemsize && inside <= g->itemsize - b->inside;
}

static void cut_axes(box *b)
{
    const cip_grid *g = b->grid;
    for (int32_t k = 0; k < g->ndim; k++) {
        grid_axis *a = &b->axis[k];
        a->first = a->start / g->chunk[k];
        a->nseg = 1;
        if (a->view < 0)
            continue;
        const view_axis *v = &b->view[a->view];
        int64_t last = (a->start + (v->n - 1) * v->step) / g->chunk[k];
        a->nseg = v->step >= g->chunk[k] ? v->n : last - a->first + 1;
    }
}

/* --- a chunk --------------------------------------------------------------------------------- */

/* The view's steps [*i0, *i1) that are segment t of the axis, and their chunk. */
static int64_t segment(const box *b, int32_t k, int64_t t, int64_t *i0, int64_t *i1)
{
    const grid_axis *a = &b->axis[k];
    const view_axis *v = &b->view[a->view];
    int64_t chunk = b->grid->chunk[k];
    if (v->step >= chunk) {
        *i0 = t;
        *i1 = t + 1;
        return (a->start + t * v->step) / chunk;
    }
    int64_t lo = (a->first + t) * chunk - a->start, hi = lo + chunk;
    *i0 = lo <= 0 ? 0 : (lo + v->step - 1) / v->step;
    *i1 = hi > (v->n - 1) * v->step ? v->n : (hi + v->step - 1) / v->step;
    return a->first + t;
}

/* Which chunk job `i` is, and the view's steps in it. */
static void place(const box *b, uint64_t i, int64_t *coord, int64_t *lo, int64_t *hi)
{
    const cip_grid *g = b->grid;
    for (int32_t j = 0; j < b->nview; j++) {
        lo[j] = 0;
        hi[j] = b->view[j].n;
    }
    for (int32_t n = 0; n < g->ndim; n++) {
        int32_t k = g->f_order ? n : g->ndim - 1 - n; /* the jobs in the order of the chunks */
        const grid_axis *a = &b->axis[k];
        int64_t t = (int64_t)(i % (uint64_t)a->nseg);
        i /= (uint64_t)a->nseg;
        coord[k] = a->view < 0 ? a->first : segment(b, k, t, &lo[a->view], &hi[a->view]);
    }
}

/* The box as a walk over the chunk's raw bytes. */
static void walk_of(const box *b, const cip_grid_chunk *c, const int64_t *lo, const int64_t *hi,
                    cip_walk *w)
{
    cip_axis axis[CIP_MAX_NDIM];
    w->itemsize = b->itemsize;
    w->to_size = b->g->w.to_size;
    w->off = b->inside;
    w->to_off = b->to_off;
    w->pos0 = b->pos0;
    for (int32_t k = 0; k < b->grid->ndim; k++)
        w->off += (uint64_t)((b->axis[k].start - c->first[k]) * c->stride[k]);
    for (int32_t j = 0; j < b->nview; j++) {
        const view_axis *v = &b->view[j];
        int64_t step = v->along == NOWHERE  ? 0
                       : v->along == INSIDE ? v->step
                                            : v->step * c->stride[v->along];
        axis[j] = (cip_axis){ hi[j] - lo[j], step, v->to, v->pos };
        w->off += (uint64_t)(lo[j] * step);
        w->to_off += lo[j] * v->to;
        w->pos0 += lo[j] * v->pos;
    }
    cip_walk_of_axes(axis, b->nview, b->ordered, w);
}

static cip_status run_job(void *arg, size_t i, cip_err *err)
{
    const box *b = arg;
    int64_t coord[CIP_MAX_NDIM], lo[CIP_MAX_NDIM], hi[CIP_MAX_NDIM];
    cip_grid_chunk at;
    cip_chunk c;
    cip_walk w;
    place(b, i, coord, lo, hi);
    cip_grid_chunk_at(b->grid, coord, &at);
    CIP_TRY(cip_chunk_at(b->g->s, at.i, at.raw_len, &c, err));
    walk_of(b, &at, lo, hi, &w);
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
        njob *= (uint64_t)b.axis[k].nseg; /* at most the number of elements */
    *done = true;
    CIP_TRY(g->s->table.count(g->s->table.self, &count, err));
    return cip_pool_run(g->rd.pool, (size_t)njob, run_job, &b, err);
}
