/* SPDX-License-Identifier: BSD-3-Clause
 * Listing an array's chunks: every kind of space as a table of entries, and their bytes. */
#include "space/read/chunk_list.h"

#include <string.h>

#include "base/num.h"
#include "space/read/grid.h"
#include "space/read/reader.h"

/* --- opening --------------------------------------------------------------------------------- */

static bool is_own_grid(const cip_nd *v, const cip_grid *g)
{
    cip_nd whole;
    if (v->off != 0 || v->itemsize != g->itemsize || v->ndim != g->ndim ||
        cip_view_c_order(g->ndim, g->shape, g->itemsize, &whole, NULL) != CIP_OK)
        return false;
    for (int32_t k = 0; k < v->ndim; k++)
        if (v->shape[k] != g->shape[k] || (v->shape[k] != 1 && v->stride[k] != whole.stride[k]))
            return false;
    return true;
}

static cip_status count_chunks(cip_chunk_list *l, cip_err *err)
{
    cip_space *s = l->s;
    l->n = 1;
    switch (s->kind) {
    case CIP_SPACE_CHUNKED:
        return s->table.count(s->table.self, &l->n, err);
    case CIP_SPACE_GRID:
        CIP_TRY(s->table.count(s->table.self, &l->n, err)); /* a lazy table does its work here */
        l->n = s->len != 0;
        for (int32_t k = 0; l->n != 0 && k < s->grid->ndim; k++) /* at most as many as elements */
            l->n *= (uint64_t)cip_grid_nchunk(s->grid, k);
        l->own_grid = is_own_grid(&l->view, s->grid);
        return CIP_OK;
    case CIP_SPACE_SEQ:
        return CIP_OK;
    default:
        l->n = l->end != l->first;
        return CIP_OK;
    }
}

cip_status cip_chunk_list_open(const cip_array *a, cip_chunk_list *out, cip_err *err)
{
    cip_chunk_list l = { .array = a, .s = a->space, .view = a->view };
    cip_rd rd = { .depth = 0 };
    uint64_t nelem, shift = 0;
    CIP_TRY(cip_array_check(a, err));
    if (!cip_shape_nelem(a->view.ndim, a->view.shape, &nelem))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected under 2^63 elements");
    CIP_TRY(cip_view_bounds(&l.view, &l.first, &l.end, err));
    cip_status st = cip_rd_descend(&rd, &l.s, &shift, l.first, l.end - l.first, err);
    l.view.off += shift;
    l.first += shift;
    l.end += shift;
    if (st == CIP_OK)
        st = count_chunks(&l, err);
    if (st != CIP_OK)
        return cip_rd_fail(&rd, st, err);
    *out = l;
    return CIP_OK;
}

/* --- entries --------------------------------------------------------------------------------- */

static cip_status name_chunk(const cip_chunk_list *l, uint64_t i, cip_status st, cip_err *err)
{
    bool table = l->s->kind == CIP_SPACE_CHUNKED || l->s->kind == CIP_SPACE_GRID;
    return table ? cip_chunk_fail_in(err, st, l->s, i) : st;
}

cip_status cip_chunk_list_at(const cip_chunk_list *l, uint64_t i, cip_chunk *out, cip_err *err)
{
    cip_space *s = l->s;
    cip_chunk c = { .run = 1 };
    if (i >= l->n)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a chunk below %" PRIu64 ", found %" PRIu64, l->n, i);
    if (s->kind == CIP_SPACE_CHUNKED) {
        CIP_TRY(cip_chunk_entry(s, i, 0, NULL, &c, err));
    } else if (s->kind == CIP_SPACE_GRID) {
        CIP_TRY(cip_chunk_entry(s, i, cip_grid_raw_len(s->grid), NULL, &c, err));
    } else if (s->kind == CIP_SPACE_SEQ) {
        c.at = s->sub;
        c.raw_len = s->len;
    } else {
        c.raw_off = l->first;
        c.raw_len = l->end - l->first;
        c.at = (cip_extent){ .in = s, .off = c.raw_off, .len = c.raw_len };
    }
    if (c.state == CIP_CHUNK_DATA)
        CIP_TRY(name_chunk(l, i, cip_extent_check(&c.at, "stored data", err), err));
    if (c.at.in == NULL)
        c.at.len = 0;
    c.run = cip_min_u64(c.run, l->n - i);
    *out = c;
    return CIP_OK;
}

/* --- bytes ----------------------------------------------------------------------------------- */

cip_chunk_place cip_extent_place(const cip_extent *at, cip_space **s, uint64_t *off)
{
    *s = at->in;
    *off = at->off;
    if (at->in == NULL)
        return CIP_CHUNK_NOWHERE;
    if (!cip_space_follow(s, off, at->len, true))
        return CIP_CHUNK_IN_DECODED;
    return (*s)->kind == CIP_SPACE_FILE ? CIP_CHUNK_IN_FILE : CIP_CHUNK_IN_MEMORY;
}

/* Fails for a missing chunk. */
static cip_status check_there(const cip_chunk_list *l, uint64_t i, const cip_chunk *c, cip_err *err)
{
    bool special;
    return name_chunk(l, i, cip_chunk_special(l->s, c, NULL, 0, &special, err), err);
}

cip_status cip_chunk_list_decode(const cip_read_how *how, const cip_chunk_list *l, uint64_t i,
                                 const cip_chunk *c, uint8_t *dst, cip_err *err)
{
    cip_rd rd = cip_rd_make(how);
    size_t n;
    CIP_TRY(check_there(l, i, c, err));
    if (!cip_to_size(c->raw_len, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of %" PRIu64 " bytes",
                        c->raw_len);
    if (l->s->kind == CIP_SPACE_GRID) { /* its linear bytes leave out the padding */
        CIP_TRY(cip_rd_deeper(&rd, &rd, err));
        return name_chunk(l, i, cip_chunk_decode(&rd, l->s, c, dst, err), err);
    }
    return cip_space_read_at(how, l->s, c->raw_off, dst, n, err);
}

cip_status cip_chunk_list_stored(const cip_read_how *how, const cip_chunk_list *l, uint64_t i,
                                 const cip_chunk *c, uint8_t *dst, cip_err *err)
{
    size_t n;
    CIP_TRY(check_there(l, i, c, err));
    if (!cip_to_size(c->at.len, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%" PRIu64 " stored bytes", c->at.len);
    cip_status st = cip_extent_check(&c->at, "stored data", err);
    if (st == CIP_OK)
        st = cip_space_read_at(how, c->at.in, c->at.off, dst, n, err);
    return name_chunk(l, i, st, err);
}
