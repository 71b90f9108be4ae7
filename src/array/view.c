/* SPDX-License-Identifier: BSD-3-Clause
 * Strided views: making them, their bounds, and bringing a pair of them into walking order. */
#include "array/view.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/num.h"

bool cip_shape_nelem(int32_t ndim, const int64_t *shape, uint64_t *nelem)
{
    int64_t n = 1;
    bool empty = false;
    for (int32_t k = 0; k < ndim; k++) {
        if (shape[k] < 0)
            return false;
        empty = empty || shape[k] == 0;
        if (shape[k] > 0 && cip_mul_overflow(n, shape[k], &n))
            return false;
    }
    *nelem = empty ? 0 : (uint64_t)n;
    return true;
}

void cip_shape_place(int32_t ndim, const int64_t *shape, uint64_t i, int64_t *at)
{
    for (int32_t k = ndim - 1; k >= 0; k--) {
        at[k] = (int64_t)(i % (uint64_t)shape[k]);
        i /= (uint64_t)shape[k];
    }
}

const char *cip_shape_text(int32_t ndim, const int64_t *n, char *text, size_t cap)
{
    size_t len = (size_t)snprintf(text, cap, "[");
    for (int32_t k = 0; k < ndim && len < cap; k++)
        len += (size_t)snprintf(text + len, cap - len, "%s%" PRId64, k == 0 ? "" : ", ", n[k]);
    if (len < cap)
        snprintf(text + len, cap - len, "]");
    return text;
}

static cip_status make_view(int32_t ndim, const int64_t *shape, uint64_t itemsize, bool f_order,
                            cip_nd *out, cip_err *err)
{
    /* No bytes: the number of elements has to fit all the same. */
    uint64_t nbytes = cip_max_u64(itemsize, 1);
    if (ndim < 0 || ndim > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected at most %d axes, found %" PRId32, CIP_MAX_NDIM, ndim);
    cip_nd v = { .itemsize = itemsize, .ndim = ndim };
    for (int32_t k = 0; k < ndim; k++) {
        if (shape[k] < 0)
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected lengths of at least 0, found %" PRId64, shape[k]);
        v.shape[k] = shape[k];
        if (shape[k] > 0 && cip_mul_overflow(nbytes, (uint64_t)shape[k], &nbytes))
            nbytes = UINT64_MAX;
    }
    if (nbytes > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "the shape needs over 2^63 - 1 bytes in elements of %" PRIu64, itemsize);
    int64_t step = (int64_t)itemsize;
    for (int32_t i = 0; i < ndim; i++) {
        const int32_t k = f_order ? i : ndim - 1 - i;
        v.stride[k] = step;
        if (v.shape[k] > 0)
            step *= v.shape[k];
    }
    *out = v;
    return CIP_OK;
}

cip_status cip_view_c_order(int32_t ndim, const int64_t *shape, uint64_t itemsize, cip_nd *out,
                            cip_err *err)
{
    return make_view(ndim, shape, itemsize, false, out, err);
}

cip_status cip_view_f_order(int32_t ndim, const int64_t *shape, uint64_t itemsize, cip_nd *out,
                            cip_err *err)
{
    return make_view(ndim, shape, itemsize, true, out, err);
}

cip_status cip_view_bounds(const cip_nd *v, uint64_t *first, uint64_t *end, cip_err *err)
{
    uint64_t below = 0, above = v->itemsize; /* of the element at off */
    bool over = false, empty = v->itemsize == 0;
    for (int32_t k = 0; k < v->ndim; k++) {
        uint64_t reach;
        if (v->shape[k] == 0) {
            empty = true;
            continue;
        }
        over |= cip_mul_overflow((uint64_t)v->shape[k] - 1, cip_magnitude(v->stride[k]), &reach);
        if (v->stride[k] < 0)
            over |= cip_add_overflow(below, reach, &below);
        else
            over |= cip_add_overflow(above, reach, &above);
    }
    if (empty) {
        *first = *end = 0;
        return CIP_OK;
    }
    if (over || below > v->off || cip_add_overflow(v->off, above, &above))
        return cip_fail(err, CIP_ERR_RANGE, v->off,
                        "the strides reach bytes before 0 or beyond 2^64 from offset %" PRIu64,
                        v->off);
    *first = v->off - below;
    *end = above;
    return CIP_OK;
}

bool cip_view_is_contiguous(const cip_nd *v)
{
    uint64_t step = v->itemsize;
    bool packed = true;
    for (int32_t k = v->ndim - 1; k >= 0; k--) {
        if (v->shape[k] == 0)
            return true;
        if (v->shape[k] > 1 && (uint64_t)v->stride[k] != step)
            packed = false;
        step *= (uint64_t)v->shape[k];
    }
    return packed;
}

/* Whether axis x is slower than axis y. */
static bool is_slower(const cip_nd *a, const cip_nd *b, int32_t x, int32_t y)
{
    uint64_t ax = cip_magnitude(a->stride[x]), ay = cip_magnitude(a->stride[y]);
    if (ax != ay)
        return ax > ay;
    return cip_magnitude(b->stride[x]) > cip_magnitude(b->stride[y]);
}

/* The axes longer than 1, slowest first; equal ones stay in order. Their number. */
static int32_t sort_axes(const cip_nd *a, const cip_nd *b, int32_t *axis)
{
    int32_t n = 0;
    for (int32_t k = 0; k < a->ndim; k++) {
        if (a->shape[k] == 1)
            continue;
        int32_t at = n++;
        for (; at > 0 && is_slower(a, b, k, axis[at - 1]); at--)
            axis[at] = axis[at - 1];
        axis[at] = k;
    }
    return n;
}

/* Whether an axis with this stride goes on where the inner one comes to its end. */
static bool follows(int64_t stride, int64_t inner_stride, int64_t inner_n)
{
    int64_t whole;
    return !cip_mul_overflow(inner_stride, inner_n, &whole) && whole == stride;
}

void cip_view_align(cip_nd *a, cip_nd *b)
{
    int32_t axis[CIP_MAX_NDIM];
    int32_t n = sort_axes(a, b, axis);
    cip_nd to_a = { .itemsize = a->itemsize }, to_b = { .itemsize = b->itemsize };
    int32_t top = CIP_MAX_NDIM; /* filled from the fastest axis, at the end of the arrays */
    for (int32_t i = n - 1; i >= 0; i--) {
        int32_t k = axis[i];
        int64_t merged;
        if (a->stride[k] < 0 && a->shape[k] > 0) {
            /* Walks axis k of both from its other end. Offsets wrap where an unsigned sum needs it.
             */
            uint64_t last = (uint64_t)a->shape[k] - 1;
            a->off += last * (uint64_t)a->stride[k];
            b->off += last * (uint64_t)b->stride[k];
            a->stride[k] = (int64_t)(0 - (uint64_t)a->stride[k]);
            b->stride[k] = (int64_t)(0 - (uint64_t)b->stride[k]);
        }
        if (top < CIP_MAX_NDIM && follows(a->stride[k], to_a.stride[top], to_a.shape[top]) &&
            follows(b->stride[k], to_b.stride[top], to_b.shape[top]) &&
            !cip_mul_overflow(to_a.shape[top], a->shape[k], &merged)) {
            to_a.shape[top] = merged;
        } else {
            top--;
            to_a.shape[top] = a->shape[k];
            to_a.stride[top] = a->stride[k];
            to_b.stride[top] = b->stride[k];
        }
        to_b.shape[top] = to_a.shape[top];
    }
    a->ndim = b->ndim = CIP_MAX_NDIM - top;
    for (int32_t i = 0; i < a->ndim; i++) {
        a->shape[i] = b->shape[i] = to_a.shape[top + i];
        a->stride[i] = to_a.stride[top + i];
        b->stride[i] = to_b.stride[top + i];
    }
}
