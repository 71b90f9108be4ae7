/* SPDX-License-Identifier: BSD-3-Clause
 * Rows and shapes of an array whose elements lie in linear bytes: at the end of them in place, and
 * else as other bytes, the array's own. */
#include "space/changes.h"

#include <string.h>

#include "base/num.h"

/* Where the elements end, which are packed. */
static cip_status end_of(const cip_nd *at, uint64_t *end, cip_err *err)
{
    uint64_t n;
    if (!cip_shape_nelem(at->ndim, at->shape, &n) || cip_mul_overflow(n, at->itemsize, &n) ||
        cip_add_overflow(at->off, n, end))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an array of over 2^63 bytes");
    return CIP_OK;
}

/* The array with nrow rows more: its shape, and how many elements these are. */
static cip_status count_rows(const cip_nd *at, uint64_t nrow, int64_t *shape, uint64_t *nelem,
                             cip_err *err)
{
    uint64_t nbytes;
    if (at->ndim == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected an array of at least one axis");
    memcpy(shape, at->shape, (size_t)at->ndim * sizeof *shape);
    if (!cip_shape_nelem(at->ndim - 1, shape + 1, nelem) || cip_mul_overflow(*nelem, nrow, nelem) ||
        cip_mul_overflow(*nelem, at->itemsize, &nbytes) ||
        cip_add_overflow(shape[0], nrow, &shape[0]))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "rows of over 2^63 bytes");
    return CIP_OK;
}

cip_status cip_changes_rows(cip_changes *c, const cip_changes_array *a, uint64_t nrow,
                            const cip_feed *feed, int64_t *shape, cip_changes *content, bool *moved,
                            cip_err *err)
{
    cip_nd to;
    uint64_t nelem, end;
    *moved = false;
    CIP_TRY(count_rows(&a->at, nrow, shape, &nelem, err));
    CIP_TRY(cip_view_c_order(a->at.ndim, shape, a->at.itemsize, &to, err));
    if (nelem == 0)
        return CIP_OK;
    if (a->ends) {
        CIP_TRY(end_of(&a->at, &end, err));
        CIP_TRY(cip_changes_resize(c, end, err)); /* without a torn row */
        return cip_changes_append(c, nelem, a->at.itemsize, feed, err);
    }
    CIP_TRY(cip_view_c_order(a->at.ndim, a->at.shape, a->at.itemsize, &to, err));
    CIP_TRY(cip_changes_copy(c, &a->at, &to, content, err));
    cip_status st = cip_changes_append(content, nelem, to.itemsize, feed, err);
    if (st != CIP_OK)
        cip_changes_end(content);
    *moved = st == CIP_OK;
    return st;
}

cip_status cip_changes_shape(cip_changes *c, const cip_changes_array *a, const int64_t *shape,
                             cip_changes *content, bool *moved, cip_err *err)
{
    cip_nd to;
    uint64_t end;
    bool rows_only = a->ends;
    *moved = false;
    CIP_TRY(cip_view_c_order(a->at.ndim, shape, a->at.itemsize, &to, err));
    for (int32_t i = 1; i < to.ndim; i++)
        rows_only = rows_only && shape[i] == a->at.shape[i];
    if (!rows_only) {
        CIP_TRY(cip_changes_copy(c, &a->at, &to, content, err));
        *moved = true;
        return CIP_OK;
    }
    to.off = a->at.off;
    CIP_TRY(end_of(&to, &end, err));
    return cip_changes_resize(c, end, err);
}

/* Whether what is behind in the bytes are the rows behind, all of them as the file has them or as
 * they were written: they need not be read. */
static bool splices_end(const cip_changes *c, const cip_changes_array *a, const cip_splice *s,
                        uint64_t end)
{
    return a->ends && cip_splice_in_one_piece(s, a->at.shape) && c->raw && c->anew == NULL &&
           c->added == NULL && end <= c->kept;
}

/* The bytes are cut off where rows come or go; those that come follow, and those behind. */
static cip_status splice_end(cip_changes *c, const cip_changes_array *a, const cip_splice *s,
                             uint64_t end, cip_err *err)
{
    const uint64_t row = (uint64_t)a->at.stride[s->axis];
    const uint64_t at = a->at.off + (uint64_t)s->start * row,
                   from = at + (uint64_t)s->removed * row;
    cip_io *was;
    CIP_TRY(cip_changes_file(c, &was, err));
    CIP_TRY(cip_changes_resize(c, at, err));
    if (s->added != 0)
        CIP_TRY(cip_changes_append(c, (uint64_t)s->added * row / a->at.itemsize, a->at.itemsize,
                                   s->feed, err));
    return cip_changes_add(c, was, c->block->info.data_offset + from, end - from, err);
}

cip_status cip_changes_splice(cip_changes *c, const cip_changes_array *a, const cip_splice *s,
                              cip_changes *content, bool *moved, cip_err *err)
{
    uint64_t end;
    CIP_TRY(end_of(&a->at, &end, err));
    *moved = !splices_end(c, a, s, end);
    return *moved ? cip_changes_copy_spliced(c, &a->at, s, content, err)
                  : splice_end(c, a, s, end, err);
}
