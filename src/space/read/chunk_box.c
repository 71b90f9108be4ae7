/* SPDX-License-Identifier: BSD-3-Clause
 * Which elements of an array a chunk holds. An n-d chunk of the array's own grid is a box. Linear
 * chunks are byte ranges: where the array's strides are nested (each step of an axis passes all
 * that lies behind it), its elements in the order of the file are counted like digits, slowest axis
 * first, so a byte range is a range of such numbers, and the box around it is whole on all axes
 * behind the first digit in which its ends differ. */
#include <string.h>

#include "base/num.h"
#include "space/read/chunk_list.h"
#include "space/read/grid.h"
#include "space/read/nd_walk.h"

/* Axes that step through the bytes, the widest step first. */
typedef struct digits {
    const cip_nd *v;
    int32_t n;
    int32_t axis[CIP_MAX_NDIM];
    bool c_order; /* the numbers are those of C order */
} digits;

static void sort_axes(const cip_nd *v, digits *d)
{
    *d = (digits){ .v = v, .c_order = true };
    for (int32_t k = 0; k < v->ndim; k++) {
        int32_t at = d->n;
        if (v->shape[k] == 1)
            continue;
        d->c_order = d->c_order && v->stride[k] > 0;
        if (v->stride[k] == 0)
            continue;
        for (; at > 0 && cip_magnitude(v->stride[d->axis[at - 1]]) < cip_magnitude(v->stride[k]);
             at--)
            d->axis[at] = d->axis[at - 1];
        d->c_order = d->c_order && at == d->n;
        d->axis[at] = k;
        d->n++;
    }
}

/* The box around elements e0 to e1 - 1; how many elements of the walk it has. */
static uint64_t box_around(const digits *d, uint64_t e0, uint64_t e1, cip_chunk_box *box)
{
    int64_t lo[CIP_MAX_NDIM], hi[CIP_MAX_NDIM];
    uint64_t last = e1 - 1, volume = 1;
    for (int32_t j = d->n - 1; j >= 0; j--) {
        uint64_t n = (uint64_t)d->v->shape[d->axis[j]];
        lo[j] = (int64_t)(e0 % n);
        hi[j] = (int64_t)(last % n);
        e0 /= n;
        last /= n;
    }
    bool differ = false;
    for (int32_t j = 0; j < d->n; j++) {
        int32_t k = d->axis[j];
        int64_t n = d->v->shape[k], from = differ ? 0 : lo[j], to = differ ? n : hi[j] + 1;
        differ = differ || lo[j] != hi[j];
        box->start[k] = d->v->stride[k] < 0 ? n - to : from;
        box->stop[k] = d->v->stride[k] < 0 ? n - from : to;
        volume *= (uint64_t)(to - from);
    }
    return volume;
}

/* Elements of the box in C order from its first to its last. */
static void range_around(const cip_nd *v, cip_chunk_info *out)
{
    uint64_t first = 0, last = 0, volume = 1;
    for (int32_t k = 0; k < v->ndim; k++) {
        first = first * (uint64_t)v->shape[k] + (uint64_t)out->box.start[k];
        last = last * (uint64_t)v->shape[k] + (uint64_t)out->box.stop[k] - 1;
        volume *= (uint64_t)(out->box.stop[k] - out->box.start[k]);
    }
    out->first = first;
    out->nelem = last - first + 1;
    out->range_exact = out->box_exact && volume == out->nelem;
}

static void holds_none(cip_chunk_info *out)
{
    memset(&out->box, 0, sizeof out->box);
    out->box_exact = out->range_exact = true;
    out->first = out->nelem = 0;
}

/* Of a chunk with bytes [lo, hi) of the space; `around`: it does not have all of these. */
static void linear_box(const cip_chunk_list *l, uint64_t lo, uint64_t hi, bool around,
                       cip_chunk_info *out)
{
    const cip_nd *v = &l->view;
    cip_walk w;
    digits d;
    if (lo >= l->end || hi <= l->first || lo == hi) {
        holds_none(out);
        return;
    }
    cip_walk_make(v, v, false, &w);
    for (int32_t k = 0; k < v->ndim; k++) {
        out->box.start[k] = 0;
        out->box.stop[k] = v->shape[k];
    }
    out->box_exact = !around && lo <= l->first && hi >= l->end;
    if (w.nested) {
        uint64_t e0 = lo < v->itemsize ? 0 : cip_walk_find(&w, lo - v->itemsize + 1);
        uint64_t e1 = cip_walk_find(&w, hi);
        sort_axes(v, &d);
        if (e0 >= e1) {
            holds_none(out);
            return;
        }
        out->box_exact = box_around(&d, e0, e1, &out->box) == e1 - e0 && !around;
        if (d.c_order) {
            out->first = e0;
            out->nelem = e1 - e0;
            out->range_exact = !around;
            return;
        }
    }
    range_around(v, out);
}

static void describe_grid(const cip_chunk_list *l, uint64_t i, cip_chunk_info *out)
{
    const cip_grid *g = l->s->grid;
    int64_t coord[CIP_MAX_NDIM];
    uint64_t lo = 0, last = 0;
    cip_grid_coord(g, i, coord);
    for (int32_t k = 0; k < g->ndim; k++) {
        int64_t start = coord[k] * g->chunk[k], left = g->shape[k] - start;
        int64_t stop = start + (left < g->chunk[k] ? left : g->chunk[k]);
        lo = lo * (uint64_t)g->shape[k] + (uint64_t)start;
        last = last * (uint64_t)g->shape[k] + (uint64_t)stop - 1;
        out->box.start[k] = start;
        out->box.stop[k] = stop;
    }
    if (!l->own_grid) {
        linear_box(l, lo * g->itemsize, (last + 1) * g->itemsize, true, out);
        return;
    }
    out->box_exact = true;
    range_around(&l->view, out);
    out->padded = g->stored != NULL ? g->stored : g->chunk;
    out->block = g->blocked ? g->block : NULL;
}

void cip_chunk_list_describe(const cip_chunk_list *l, uint64_t i, const cip_chunk *c,
                             cip_chunk_info *out)
{
    out->index = i;
    out->run = c->run;
    out->ndim = l->view.ndim;
    out->decoded_nbytes = c->raw_len;
    if (l->s->kind == CIP_SPACE_GRID) {
        describe_grid(l, i, out);
        return;
    }
    linear_box(l, c->raw_off, c->raw_off + c->raw_len, false, out);
    out->strides = l->array->view.stride;
    out->origin = (int64_t)(l->view.off - c->raw_off);
}
