/* SPDX-License-Identifier: BSD-3-Clause
 * A box of an array, in the order of the array's bytes: place by place, or as runs of elements that
 * lie one behind the other in C order. */
#ifndef CIP_SPACE_BOX_RUNS_H
#define CIP_SPACE_BOX_RUNS_H

#include <stdbool.h>
#include <string.h>

#include "cippus/dtype.h"

/* The next place in [from, to), the last axis first (from NULL: zeros); false behind the last one,
 * and `at` is the first one again. */
static inline bool cip_box_next(int32_t ndim, const int64_t *from, const int64_t *to, int64_t *at)
{
    for (int32_t k = ndim - 1; k >= 0; k--) {
        if (++at[k] < to[k])
            return true;
        at[k] = from != NULL ? from[k] : 0;
    }
    return false;
}

/* Axes that the box has all of join the one before them: so runs are as long as they can be, and
 * the box's own elements, packed in C order, are its runs one behind the other. */
typedef struct cip_box_runs {
    int32_t ndim, outer; /* axes; those of them along which there are several runs */
    const int64_t *shape, *start, *stop; /* borrowed */
    int64_t at[CIP_MAX_NDIM];            /* where a run begins */
    uint64_t first, n;                   /* the number of its first element; how many it has */
} cip_box_runs;

static inline void cip_box_runs_place(cip_box_runs *r)
{
    r->first = 0;
    for (int32_t k = 0; k < r->ndim; k++)
        r->first = r->first * (uint64_t)r->shape[k] + (uint64_t)r->at[k];
}

/* The first run of the box [start, stop); false: the box is empty. */
static inline bool cip_box_runs_begin(cip_box_runs *r, int32_t ndim, const int64_t *shape,
                                      const int64_t *start, const int64_t *stop)
{
    *r = (cip_box_runs){ ndim, ndim, shape, start, stop, { 0 }, 0, 1 };
    for (bool whole = true; r->outer > 0 && whole;) {
        const int64_t len = stop[r->outer - 1] - start[r->outer - 1];
        whole = len == shape[--r->outer];
        r->n *= (uint64_t)len;
    }
    for (int32_t k = 0; k < ndim; k++) {
        if (start[k] == stop[k])
            return false;
        r->at[k] = start[k];
    }
    cip_box_runs_place(r);
    return true;
}

static inline bool cip_box_runs_next(cip_box_runs *r)
{
    const bool more = cip_box_next(r->outer, r->start, r->stop, r->at);
    cip_box_runs_place(r);
    return more;
}

#endif
