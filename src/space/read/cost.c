/* SPDX-License-Identifier: BSD-3-Clause
 * What gathering a view costs, before it is done: for reads that may choose their steps. */
#include "space/read/grid_view.h"
#include "space/read/reader.h"

enum { SECTOR = 512 }; /* what reading an element that lies alone is counted as */

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return cip_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* How many pieces of `size` bytes the view's elements lie in, at most: an axis reaches into as many
 * as its steps, or as its extent has. */
static uint64_t pieces_touched(const cip_nd *view, uint64_t size)
{
    cip_nd v = *view, same = *view;
    uint64_t n = 1 + view->itemsize / size, extent = view->itemsize;
    cip_view_align(&v, &same);
    for (int32_t k = v.ndim - 1; k >= 0; k--) {
        uint64_t reach;
        if (v.stride[k] == 0)
            continue;
        if (cip_mul_overflow((uint64_t)(v.shape[k] - 1), cip_magnitude(v.stride[k]), &reach) ||
            cip_add_overflow(extent, reach, &extent))
            extent = UINT64_MAX;
        n = cip_min_u64(times(n, (uint64_t)v.shape[k]), extent / size + 2);
    }
    return n;
}

/* Chunks that are touched; where inner blocks are decoded alone, no more than these. */
static uint64_t cost_of_grid(const cip_grid *g, const cip_nd *view)
{
    cip_grid_view v;
    cip_nd packed;
    uint64_t chunks = cip_grid_raw_len(g), blocks = g->itemsize;
    if (cip_view_c_order(view->ndim, view->shape, 1, &packed, NULL) != CIP_OK ||
        !cip_grid_view_make(g, view, &packed, &v))
        return times(pieces_touched(view, 1 + cip_grid_raw_len(g) / 8), cip_grid_raw_len(g));
    for (int32_t k = 0; k < g->ndim; k++) {
        const cip_grid_axis *a = &v.axis[k];
        chunks = times(chunks, (uint64_t)a->chunks.nseg);
        if (g->blocked) {
            const cip_view_axis *along = a->view < 0 ? NULL : &v.view[a->view];
            const cip_cut c =
                cip_cut_at(along, a->start, g->block[k], 0, along == NULL ? 0 : along->n);
            blocks = times(blocks, times((uint64_t)c.nseg, (uint64_t)g->block[k]));
        }
    }
    return g->blocked ? cip_min_u64(chunks, blocks) : chunks;
}

static cip_status cost_of_chunks(cip_space *s, const cip_nd *view, uint64_t *nbytes, cip_err *err)
{
    uint64_t each = s->table.raw_each, n = 1;
    if (each == 0) {
        CIP_TRY(s->table.count(s->table.self, &n, err));
        each = s->len / cip_max_u64(n, 1) + 1;
    }
    *nbytes = cip_min_u64(s->len, times(pieces_touched(view, each), each));
    return CIP_OK;
}

cip_status cip_space_gather_cost(const cip_read_how *how, cip_space *s, const cip_nd *view,
                                 uint64_t *nbytes, cip_err *err)
{
    uint64_t nelem, first, end, shift = 0;
    cip_nd from = *view;
    cip_rd rd = cip_rd_make(how);
    *nbytes = 0;
    if (!cip_shape_nelem(from.ndim, from.shape, &nelem) || nelem == 0 || from.itemsize == 0)
        return CIP_OK;
    CIP_TRY(cip_view_bounds(&from, &first, &end, err));
    CIP_TRY(cip_rd_fail(&rd, cip_rd_descend(&rd, &s, &shift, first, end - first, err), err));
    from.off += shift;
    for (int32_t narrowed = 0; s->kind == CIP_SPACE_RECORDS; narrowed++) {
        if (!cip_records_narrow(s, &from, &s, &from) || narrowed == CIP_SPACE_MAX_DEPTH) {
            *nbytes = end - first; /* of all columns */
            return CIP_OK;
        }
        shift = 0;
        CIP_TRY(cip_view_bounds(&from, &first, &end, err));
        CIP_TRY(cip_rd_fail(&rd, cip_rd_descend(&rd, &s, &shift, first, end - first, err), err));
        from.off += shift;
    }
    switch (s->kind) {
    case CIP_SPACE_GRID:
        *nbytes = cost_of_grid(s->grid, &from);
        return CIP_OK;
    case CIP_SPACE_CHUNKED:
        return cost_of_chunks(s, &from, nbytes, err);
    case CIP_SPACE_SEQ:
        *nbytes = end + shift;
        return CIP_OK;
    default:
        break;
    }
    /* plain bytes: of files where requests are dear what lies between near ones comes along */
    const cip_layout *l = s->layout;
    const bool far = s->kind == CIP_SPACE_FILE && s->io == l->io && l->far != NULL;
    const uint64_t piece = far ? rd.tune->far_join : SECTOR;
    *nbytes = times(pieces_touched(&from, piece), piece);
    return CIP_OK;
}
