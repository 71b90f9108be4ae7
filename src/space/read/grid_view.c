/* SPDX-License-Identifier: BSD-3-Clause
 * Which axis of a view is which of the grid, and where chunks cut it. */
#include "space/read/grid_view.h"

#include "base/num.h"
#include "space/read/grid.h"

/* --- which axis is which --------------------------------------------------------------------- */

/* The slowest axis of the grid whose step divides the view's and on which all of it may lie. */
static void find_axis(const cip_grid *g, uint64_t step, cip_view_axis *v)
{
    uint64_t stride = g->itemsize;
    v->along = CIP_AXIS_INSIDE;
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

static void add_axis(cip_grid_view *b, int64_t n, int64_t from, int64_t to, int64_t pos)
{
    cip_view_axis *v = &b->view[b->nview++];
    *v = (cip_view_axis){ .along = CIP_AXIS_NOWHERE, .n = n, .to = to, .pos = pos };
    if (from == 0)
        return;
    find_axis(b->grid, from < 0 ? 0 - (uint64_t)from : (uint64_t)from, v);
    if (from < 0) {
        /* Turns a falling axis round; whether its beginning stays in the array is seen later. */
        int64_t back = (v->n - 1) * v->step;
        if (v->along == CIP_AXIS_INSIDE)
            b->inside -= (uint64_t)back;
        else
            b->axis[v->along].start -= back;
        b->to_off += (v->n - 1) * v->to;
        b->pos0 += (v->n - 1) * v->pos;
        v->to = -v->to;
        v->pos = -v->pos;
    }
}

/* Whether the view stays in the array on every axis, and goes over chunks with at most one of its
 * axes on each. */
static bool fits(cip_grid_view *b)
{
    const cip_grid *g = b->grid;
    int64_t reach[CIP_MAX_NDIM] = { 0 };
    uint64_t inside = b->itemsize;
    for (int32_t j = 0; j < b->nview; j++) {
        const cip_view_axis *v = &b->view[j];
        if (v->along == CIP_AXIS_NOWHERE)
            continue;
        if (v->along == CIP_AXIS_INSIDE) {
            inside += (uint64_t)((v->n - 1) * v->step);
            continue;
        }
        cip_grid_axis *a = &b->axis[v->along];
        int64_t piece = g->chunk[v->along]; /* the shortest that the axis is cut in */
        if (g->blocked)
            piece = cip_min_i64(piece, g->block[v->along]);
        bool is_cut = piece < g->shape[v->along];
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

cip_cut cip_cut_at(const cip_view_axis *v, int64_t start, int64_t size, int64_t i0, int64_t i1)
{
    cip_cut c = { .v = v, .start = start, .size = size, .i0 = i0, .i1 = i1, .nseg = 1 };
    if (v == NULL) {
        c.first = start / size;
        return c;
    }
    c.first = (start + i0 * v->step) / size;
    c.nseg = v->step >= size ? i1 - i0 : (start + (i1 - 1) * v->step) / size - c.first + 1;
    return c;
}

int64_t cip_cut_segment(const cip_cut *c, int64_t t, int64_t *lo, int64_t *hi)
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

void cip_grid_view_place(const cip_grid_view *b, uint64_t i, int64_t *coord, cip_view_steps *in)
{
    const cip_grid *g = b->grid;
    for (int32_t j = 0; j < b->nview; j++) {
        in->lo[j] = 0;
        in->hi[j] = b->view[j].n;
    }
    for (int32_t k = g->ndim - 1; k >= 0; k--) { /* in the order of the chunks */
        const cip_grid_axis *a = &b->axis[k];
        int64_t t = (int64_t)(i % (uint64_t)a->chunks.nseg);
        i /= (uint64_t)a->chunks.nseg;
        coord[k] = a->view < 0 ? a->chunks.first
                               : cip_cut_segment(&a->chunks, t, &in->lo[a->view], &in->hi[a->view]);
    }
}

bool cip_grid_view_make(const cip_grid *g, const cip_nd *from, const cip_nd *to, cip_grid_view *out)
{
    int64_t pos = 1;
    *out = (cip_grid_view){ .grid = g, .itemsize = from->itemsize, .to_off = (int64_t)to->off };
    if (g->itemsize == 0)
        return false;
    uint64_t e = from->off / g->itemsize;
    out->inside = from->off % g->itemsize;
    for (int32_t k = g->ndim - 1; k >= 0; k--) {
        out->axis[k] = (cip_grid_axis){ .start = (int64_t)(e % (uint64_t)g->shape[k]), .view = -1 };
        e /= (uint64_t)g->shape[k];
    }
    for (int32_t k = from->ndim - 1; k >= 0; k--) {
        if (from->shape[k] != 1)
            add_axis(out, from->shape[k], from->stride[k], to->stride[k], pos);
        pos *= from->shape[k];
    }
    if (!fits(out))
        return false;
    for (int32_t k = 0; k < g->ndim; k++) {
        cip_grid_axis *a = &out->axis[k];
        const cip_view_axis *v = a->view < 0 ? NULL : &out->view[a->view];
        a->chunks = cip_cut_at(v, a->start, g->chunk[k], 0, v == NULL ? 0 : v->n);
    }
    return true;
}
