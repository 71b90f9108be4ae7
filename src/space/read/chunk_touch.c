/* SPDX-License-Identifier: BSD-3-Clause
 * Which chunks a selection touches, in rising order, found without a look at the others: in a grid
 * by division, in linear chunks by walking the selected elements in the order of the file, from the
 * end of each chunk to the next element behind it. */
#include <string.h>

#include "base/num.h"
#include "space/read/chunk_list.h"
#include "space/read/grid.h"
#include "space/read/reader.h"

typedef struct touching {
    const cip_chunk_list *l;
    cip_chunk_list_fn *fn;
    void *arg;
} touching;

/* Chunks [i, end), a run of special ones at once. */
static cip_status tell(const touching *t, uint64_t i, uint64_t end, cip_err *err)
{
    cip_chunk c;
    for (; i < end; i += c.run) {
        CIP_TRY(cip_chunk_list_at(t->l, i, &c, err));
        c.run = cip_min_u64(c.run, end - i);
        CIP_TRY(t->fn(t->arg, i, &c, err));
    }
    return CIP_OK;
}

/* --- grids ----------------------------------------------------------------------------------- */

/* Where on each axis the selected elements begin and end; *none where there are none. */
static cip_status box_of(const cip_nd *v, const cip_selection *sel, cip_chunk_box *box, bool *none,
                         cip_err *err)
{
    cip_nd whole, part;
    int8_t axis[CIP_MAX_NDIM];
    uint64_t nelem;
    CIP_TRY(cip_view_c_order(v->ndim, v->shape, 1, &whole, err));
    CIP_TRY(cip_view_select(&whole, sel, &part, axis, err));
    uint64_t off = part.off;
    *none = !cip_shape_nelem(v->ndim, v->shape, &nelem) || nelem == 0;
    if (*none)
        return CIP_OK;
    for (int32_t k = 0; k < v->ndim; k++) {
        box->start[k] = (int64_t)(off / (uint64_t)whole.stride[k]);
        box->stop[k] = box->start[k] + 1;
        off %= (uint64_t)whole.stride[k];
    }
    for (int32_t j = 0; j < part.ndim; j++) {
        int8_t k = axis[j];
        *none = *none || part.shape[j] == 0;
        if (k < 0 || part.shape[j] < 2)
            continue;
        int64_t reach = (part.shape[j] - 1) * (part.stride[j] / whole.stride[k]);
        box->start[k] += reach < 0 ? reach : 0;
        box->stop[k] += reach > 0 ? reach : 0;
    }
    return CIP_OK;
}

/* The chunks of a box, fastest axis first: along it, and along all whose faster ones are taken
 * whole, they are neighbours in the table. */
typedef struct chunk_box {
    int32_t ndim;
    uint64_t from[CIP_MAX_NDIM], n[CIP_MAX_NDIM]; /* chunks touched */
    uint64_t per[CIP_MAX_NDIM];                   /* numbers from one to the next */
} chunk_box;

static void chunks_of(const cip_grid *g, const cip_chunk_box *box, chunk_box *out)
{
    uint64_t per = 1;
    bool whole = true;
    *out = (chunk_box){ .ndim = 0 };
    for (int32_t k = g->ndim - 1; k >= 0; k--) {
        uint64_t from = (uint64_t)(box->start[k] / g->chunk[k]);
        uint64_t n = (uint64_t)((box->stop[k] - 1) / g->chunk[k]) + 1 - from;
        int32_t at = out->ndim - 1;
        if (whole && at >= 0) { /* what lies before is whole: this axis goes on where it ends */
            out->from[at] = from * per;
            out->n[at] = n * per;
        } else {
            at = out->ndim++;
            out->from[at] = from;
            out->n[at] = n;
            out->per[at] = per;
        }
        uint64_t all = (uint64_t)cip_grid_nchunk(g, k);
        whole = whole && n == all;
        per *= all;
    }
}

static cip_status grid_touched(const touching *t, const cip_selection *sel, cip_err *err)
{
    const cip_chunk_list *l = t->l;
    cip_chunk_box box;
    chunk_box b;
    uint64_t at[CIP_MAX_NDIM] = { 0 };
    bool none;
    CIP_TRY(box_of(&l->view, sel, &box, &none, err));
    if (none || l->n == 0)
        return CIP_OK;
    chunks_of(l->s->grid, &box, &b);
    for (;;) {
        uint64_t i = b.ndim != 0 ? b.from[0] : 0;
        int32_t j = 1;
        for (int32_t k = 1; k < b.ndim; k++)
            i += (b.from[k] + at[k]) * b.per[k];
        CIP_TRY(tell(t, i, i + (b.ndim != 0 ? b.n[0] : 1), err));
        while (j < b.ndim && ++at[j] == b.n[j])
            at[j++] = 0;
        if (j >= b.ndim)
            return CIP_OK;
    }
}

/* --- linear chunks --------------------------------------------------------------------------- */

/* The first byte behind `pos` that an element takes, or `end`. Of what is not nested: `pos`. */
static uint64_t next_byte(const cip_walk *w, uint64_t pos, uint64_t end)
{
    cip_walk_at at;
    if (!w->nested || pos >= end)
        return pos;
    uint64_t e = cip_walk_find(w, pos);
    if (e != 0) {
        cip_walk_seek(w, e - 1, &at);
        if (at.off + w->itemsize > pos) /* the one before goes on here */
            return pos;
    }
    if (e >= w->nsource)
        return end;
    cip_walk_seek(w, e, &at);
    return at.off;
}

static cip_status linear_touched(const touching *t, const cip_selection *sel, cip_err *err)
{
    const cip_chunk_list *l = t->l;
    cip_nd part;
    cip_walk w;
    cip_chunk c;
    uint64_t pos, end, i, most;
    CIP_TRY(cip_view_select(&l->view, sel, &part, NULL, err));
    CIP_TRY(cip_view_bounds(&part, &pos, &end, err));
    if (pos == end)
        return CIP_OK;
    cip_walk_make(&part, &part, false, &w);
    while (pos < end) {
        i = 0;
        if (l->s->kind == CIP_SPACE_CHUNKED)
            CIP_TRY(cip_chunk_number_at(l->s, pos, &i, err));
        CIP_TRY(cip_chunk_list_at(l, i, &c, err));
        if (pos < c.raw_off || pos - c.raw_off >= c.raw_len)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected chunk %" PRIu64 " to hold byte %" PRIu64 ", found %" PRIu64
                            " bytes at %" PRIu64,
                            i, pos, c.raw_len, c.raw_off);
        most = cip_div_up(end - c.raw_off, c.raw_len);
        c.run = cip_min_u64(c.run, most);
        CIP_TRY(t->fn(t->arg, i, &c, err));
        if (c.run == most)
            return CIP_OK;
        pos = next_byte(&w, c.raw_off + c.run * c.raw_len, end); /* below `end`, before it */
    }
    return CIP_OK;
}

cip_status cip_chunk_list_touched(const cip_chunk_list *l, const cip_selection *sel,
                                  cip_chunk_list_fn *fn, void *arg, cip_err *err)
{
    const touching t = { l, fn, arg };
    if (sel == NULL)
        return tell(&t, 0, l->n, err);
    if (l->s->kind != CIP_SPACE_GRID)
        return linear_touched(&t, sel, err);
    if (l->own_grid)
        return grid_touched(&t, sel, err);
    cip_nd part;
    CIP_TRY(cip_view_select(&l->view, sel, &part, NULL, err));
    return tell(&t, 0, l->n, err);
}
