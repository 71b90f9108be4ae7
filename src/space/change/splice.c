/* SPDX-License-Identifier: BSD-3-Clause
 * Rows that go, or come, in the midst of an axis. */
#include "space/change/splice.h"

#include <string.h>

#include "base/num.h"

cip_status cip_splice_axis(int32_t ndim, int32_t axis, cip_err *err)
{
    return axis >= 0 && axis < ndim ? CIP_OK
                                    : cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                                               "expected one of the array's %d axes, found axis %d",
                                               (int)ndim, (int)axis);
}

bool cip_splice_in_one_piece(const cip_splice *s, const int64_t *shape)
{
    for (int32_t k = 0; k < s->axis; k++)
        if (shape[k] != 1)
            return false;
    return true;
}

cip_status cip_splice_shape(const cip_splice *s, int32_t ndim, const int64_t *was, int64_t *shape,
                            cip_err *err)
{
    const int32_t k = s->axis;
    CIP_TRY(cip_splice_axis(ndim, k, err));
    if (s->start < 0 || s->removed < 0 || s->start > was[k] || s->removed > was[k] - s->start)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a range within the length %" PRId64 " of axis %d, found %" PRId64
                        " from %" PRId64 " on",
                        was[k], (int)k, s->removed, s->start);
    memcpy(shape, was, (size_t)ndim * sizeof *shape);
    if (cip_add_overflow(was[k] - s->removed, s->added, &shape[k]))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected an axis that can grow");
    return CIP_OK;
}

/* The view from element i on along the axis, n of them. */
static cip_nd part_of(const cip_nd *v, int32_t axis, int64_t i, int64_t n)
{
    cip_nd part = *v;
    part.off += (uint64_t)i * (uint64_t)v->stride[axis];
    part.shape[axis] = n;
    return part;
}

void cip_splice_boxes(const cip_splice *s, const cip_nd *was, const cip_nd *now,
                      cip_splice_box box[2])
{
    const int64_t from = s->start + s->removed, to = s->start + s->added;
    const int64_t behind = was->shape[s->axis] - from;
    box[0].from = part_of(was, s->axis, 0, s->start);
    box[0].to = part_of(now, s->axis, 0, s->start);
    box[1].from = part_of(was, s->axis, from, behind);
    box[1].to = part_of(now, s->axis, to, behind);
}

cip_nd cip_splice_room(const cip_splice *s, const cip_nd *now)
{
    return part_of(now, s->axis, s->start, s->added);
}
