/* SPDX-License-Identifier: BSD-3-Clause
 * Which rows of an array a slice means. */
#include "core/writing/edit_impl.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"

/* The axis that a selection takes a part of: that of the only item that is not `:`, or of the only
 * item. */
static cip_status axis_of(const cip_selection *sel, int32_t ndim, cip_splice *out, uint32_t *item,
                          cip_err *err)
{
    int32_t named = 0, axis = 0, nrange = 0, npart = 0;
    for (uint32_t i = 0; i < sel->n; i++)
        named += sel->item[i].what <= CIP_SLICE_INDEX;
    for (uint32_t i = 0; i < sel->n; i++) {
        const cip_slice *s = &sel->item[i];
        if (s->what == CIP_SLICE_RANGE && s->step != 1)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected a range of step 1, found step %" PRId64, s->step);
        if (s->what == CIP_SLICE_ELLIPSIS) {
            axis += ndim - named;
        } else if (s->what == CIP_SLICE_ALL || (s->start == CIP_OPEN && s->stop == CIP_OPEN)) {
            out->axis = npart == 0 ? axis : out->axis;
            *item = npart == 0 ? i : *item;
            axis++;
            nrange++;
        } else if (s->what <= CIP_SLICE_INDEX) {
            out->axis = axis++;
            *item = i;
            npart++;
        } else {
            npart += 2; /* a new axis is none of the array's */
        }
    }
    return npart == 1 || (npart == 0 && nrange == 1)
               ? CIP_OK
               : cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                          "expected a part of one axis and all of the others, found %s",
                          npart == 0 ? "all axes complete" : "parts of several axes");
}

/* Which part of the axis that is: as many elements as it selects, behind those that `[:start]`
 * does.
 */
static cip_status range_of(cip_selection *sel, int32_t ndim, const int64_t *shape, cip_splice *s,
                           cip_err *err)
{
    cip_nd all = { .ndim = ndim }, left;
    int8_t axis[CIP_MAX_NDIM];
    uint32_t item = 0;
    CIP_TRY(axis_of(sel, ndim, s, &item, err));
    memcpy(all.shape, shape, (size_t)ndim * sizeof *shape);
    CIP_TRY(cip_view_select(&all, sel, &left, axis, err));
    s->removed = 1; /* an index takes the axis away */
    for (int32_t k = 0; k < left.ndim; k++)
        if (axis[k] == s->axis)
            s->removed = left.shape[k];
    cip_slice *part = &sel->item[item];
    const int64_t start = part->start;
    if (start == CIP_OPEN)
        return CIP_OK;
    *part = (cip_slice)CIP_RANGE(CIP_OPEN, start);
    CIP_TRY(cip_view_select(&all, sel, &left, axis, err));
    for (int32_t k = 0; k < left.ndim; k++)
        if (axis[k] == s->axis)
            s->start = left.shape[k];
    return CIP_OK;
}

cip_status cip_edit_range(cip_edit *e, const char *path, const char *selection, int *axis,
                          int64_t *start, int64_t *count, cip_err *err)
{
    cip_splice s = { .start = 0 };
    const cip_array *now;
    cip_selection sel;
    if (axis == NULL || start == NULL || count == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected pointers for the axis and the range, found NULL");
    CIP_TRY(cip_edit_find(e, path, NULL, &now, err));
    cip_status st = cip_selection_parse(selection, &sel, err);
    if (st == CIP_OK)
        st = range_of(&sel, now->view.ndim, now->view.shape, &s, err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "%s", now->path);
    *axis = s.axis;
    *start = s.start;
    *count = s.removed;
    return CIP_OK;
}
