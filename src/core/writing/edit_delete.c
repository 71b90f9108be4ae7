/* SPDX-License-Identifier: BSD-3-Clause
 * Rows that go from the midst of an array, by numbers or by a slice. */
#include "core/writing/edit_impl.h"

#include "base/num.h"

static cip_status find(cip_edit *e, const char *path, const cip_array **a, cip_err *err)
{
    CIP_TRY(cip_edit_check(e, e->ops->form != NULL, "removing rows", err));
    return cip_edit_find(e, path, a, err);
}

static cip_status delete_range(cip_edit *e, const char *path, const cip_splice *s, cip_err *err)
{
    const cip_array *a;
    CIP_TRY(find(e, path, &a, err));
    return cip_fail_in(err, cip_edit_splice(e, a, s, err), "%s", a->path);
}

cip_status cip_edit_delete(cip_edit *e, const char *path, int axis, int64_t start, int64_t count,
                           cip_err *err)
{
    const cip_splice s = { .axis = axis, .start = start, .removed = count };
    CIP_EDIT_CHANGE(e, err, delete_range(e, path, &s, why));
}

/* --- by a slice --------------------------------------------------------------------------------
 */

/* The axis that a selection takes a part of: that of the only item that is not `:`, or of the only
 * item. */
static cip_status axis_of(const cip_selection *sel, int32_t ndim, cip_splice *out, cip_err *err)
{
    int32_t named = 0, axis = 0, nrange = 0, npart = 0, part = -1, whole = -1;
    for (uint32_t i = 0; i < sel->n; i++)
        named += sel->item[i].what <= CIP_SLICE_INDEX;
    for (uint32_t i = 0; i < sel->n; i++) {
        const cip_slice *s = &sel->item[i];
        if (s->what == CIP_SLICE_RANGE && s->step != 1)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected a range of step 1, found step %" PRId64, s->step);
        if (s->what == CIP_SLICE_ELLIPSIS) {
            axis += ndim - named;
        } else if (s->what == CIP_SLICE_RANGE && s->has == 0) {
            whole = axis++;
            nrange++;
        } else if (s->what <= CIP_SLICE_INDEX) {
            part = axis++;
            npart++;
        } else {
            npart += 2; /* a new axis is none of the array's */
        }
    }
    out->axis = npart == 1 ? part : whole;
    return npart == 1 || (npart == 0 && nrange == 1)
               ? CIP_OK
               : cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                          "expected a part of one axis, and the others whole, found %s",
                          npart == 0 ? "all of them whole" : "parts of several");
}

/* Which part of the axis that is: the first element and the lengths of what is left of a view that
 * steps along it alone. */
static cip_status range_of(const cip_selection *sel, int32_t ndim, const int64_t *shape,
                           cip_splice *s, cip_err *err)
{
    cip_nd all = { .ndim = ndim }, left;
    int8_t axis[CIP_MAX_NDIM];
    CIP_TRY(axis_of(sel, ndim, s, err));
    for (int32_t k = 0; k < ndim; k++)
        all.shape[k] = shape[k];
    if (s->axis < ndim)
        all.stride[s->axis] = 1;
    CIP_TRY(cip_view_select(&all, sel, &left, axis, err));
    s->start = (int64_t)left.off;
    s->removed = 1; /* an index takes the axis away */
    for (int32_t k = 0; k < left.ndim; k++)
        if (axis[k] == s->axis)
            s->removed = left.shape[k];
    return CIP_OK;
}

static cip_status delete_slice(cip_edit *e, const char *path, const char *selection, cip_err *err)
{
    const cip_array *a;
    cip_selection sel;
    cip_splice s = { .start = 0 };
    CIP_TRY(find(e, path, &a, err));
    cip_status st = cip_selection_parse(selection, &sel, err);
    if (st == CIP_OK)
        st = range_of(&sel, a->view.ndim, cip_edit_shape_now(e, a), &s, err);
    if (st == CIP_OK)
        st = cip_edit_splice(e, a, &s, err);
    return cip_fail_in(err, st, "%s", a->path);
}

cip_status cip_edit_delete_slice(cip_edit *e, const char *path, const char *selection, cip_err *err)
{
    CIP_EDIT_CHANGE(e, err, delete_slice(e, path, selection, why));
}
