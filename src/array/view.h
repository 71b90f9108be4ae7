/* SPDX-License-Identifier: BSD-3-Clause
 * A strided view of linear bytes: shape and strides, what a selection leaves of it, and the byte
 * runs that it touches. */
#ifndef CIP_ARRAY_VIEW_H
#define CIP_ARRAY_VIEW_H

#include <string.h>

#include "base/err.h"
#include "cippus/slice.h"

/* Element (i, j, ...) starts at off + i * stride[0] + j * stride[1] + ... Strides are in bytes, may
 * be negative, 0 or overlapping. */
/* (The type is cip_nd, since cip_view is a public function.) */
typedef struct cip_nd {
    uint64_t off;
    uint64_t itemsize; /* bytes of an element */
    int32_t ndim;      /* 0: one element */
    int64_t shape[CIP_MAX_NDIM];
    int64_t stride[CIP_MAX_NDIM];
} cip_nd;

/* |stride|, also of INT64_MIN. */
static inline uint64_t cip_magnitude(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* Products of lengths and strides modulo 2^64: exact wherever an element is reached. */
static inline int64_t cip_stride_times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline bool cip_same_lengths(int32_t n, const int64_t *a, const int64_t *b)
{
    for (int32_t k = 0; k < n; k++)
        if (a[k] != b[k])
            return false;
    return true;
}

/* C-order strides for the shape. CORRUPT when the array needs over 2^63 - 1 bytes (an axis of
 * length 0 does not excuse the others), RANGE for negative lengths or ndim. */
cip_status cip_view_c_order(int32_t ndim, const int64_t *shape, uint64_t itemsize, cip_nd *out,
                            cip_err *err);
/* Strides of the first axis fastest. */
cip_status cip_view_f_order(int32_t ndim, const int64_t *shape, uint64_t itemsize, cip_nd *out,
                            cip_err *err);
/* The product of the lengths; false on overflow of 63 bits. 1 for ndim 0. */
bool cip_shape_nelem(int32_t ndim, const int64_t *shape, uint64_t *nelem);
/* Where the i-th element in C order is. No length is 0. */
void cip_shape_place(int32_t ndim, const int64_t *shape, uint64_t i, int64_t *at);
/* A shape or a place as "[4, 3]", cut off where it is too long for cap bytes. Returns text. */
const char *cip_shape_text(int32_t ndim, const int64_t *n, char *text, size_t cap);
/* The lowest and one past the highest byte that the view touches; both 0 when it has no elements.
 * RANGE when a byte lies before 0 or beyond 2^64. */
cip_status cip_view_bounds(const cip_nd *v, uint64_t *first, uint64_t *end, cip_err *err);
static inline bool cip_view_same_shape(const cip_nd *a, const cip_nd *b)
{
    return a->ndim == b->ndim && cip_same_lengths(a->ndim, a->shape, b->shape);
}

/* Whether the elements lie one behind the other in C order. */
bool cip_view_is_contiguous(const cip_nd *v);

/* What the selection leaves, per numpy's rules (clipped ranges; RANGE for an index out of bounds,
 * ARG for too many items). `axis` (may be NULL, CIP_MAX_NDIM entries) says which input axis each
 * output axis came from, -1 for a new one. */
cip_status cip_view_select(const cip_nd *in, const cip_selection *sel, cip_nd *out, int8_t *axis,
                           cip_err *err);

/* A pair of views of the same shape, walked together: axes sorted by falling |a.stride|, axes that
 * follow each other merged in both, axes of length 1 dropped, so that the last axis is the fastest
 * in `a`. Negative a-strides are flipped. For copying: a = where to read (file order), b = where to
 * write. */
void cip_view_align(cip_nd *a, cip_nd *b);

#endif
