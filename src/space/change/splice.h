/* SPDX-License-Identifier: BSD-3-Clause
 * Rows that go, or come, in the midst of an axis: which elements of an array stay, and where they
 * are afterwards. */
#ifndef CIP_SPACE_SPLICE_H
#define CIP_SPACE_SPLICE_H

#include "space/change/scatter.h"

/* Along `axis`, `added` come in place of what is at [start, start + removed). */
typedef struct cip_splice {
    int32_t axis;
    int64_t start, removed, added;
    const cip_feed *feed; /* the elements that come, in C order; NULL: zeros */
} cip_splice;

/* The shape that one of ndim axes becomes. ARG for an axis that there is not, RANGE beyond the end
 * of it, LIMIT for one that gets too long. */
cip_status cip_splice_shape(const cip_splice *s, int32_t ndim, const int64_t *was, int64_t *shape,
                            cip_err *err);

/* ARG for an axis that an array of ndim axes does not have. */
cip_status cip_splice_axis(int32_t ndim, int32_t axis, cip_err *err);
/* Whether all slower axes have one element, so that what comes or goes lies in one piece. */
bool cip_splice_in_one_piece(const cip_splice *s, const int64_t *shape);

/* Elements before those that go, or behind them: where they were in a view, and where they are in
 * one of the new shape. */
typedef struct cip_splice_box {
    cip_nd from, to;
} cip_splice_box;
void cip_splice_boxes(const cip_splice *s, const cip_nd *was, const cip_nd *now,
                      cip_splice_box box[2]);
/* Where those that come are in a view of the new shape. */
cip_nd cip_splice_room(const cip_splice *s, const cip_nd *now);

#endif
