/* SPDX-License-Identifier: BSD-3-Clause
 * Two views of one shape walked together in the order of the file, with each element's place in the
 * caller's C order known all the while, so that findings do not depend on the way taken. Private to
 * src/space. */
#ifndef CIP_SPACE_ND_WALK_H
#define CIP_SPACE_ND_WALK_H

#include "array/cast.h"

/* Strides are in bytes, `pos` in elements. */
typedef struct cip_axis {
    int64_t n, from, to, pos;
} cip_axis;

/* Axes [0, nouter) have falling source strides, all positive; axes [nouter, ndim) read the same
 * bytes again (from 0). Axes of length 1 are gone, neighbours merged where all strides allow it. A
 * source element has an index e below nsource: the place in C order of the outer axes. */
typedef struct cip_walk {
    int32_t ndim, nouter;
    uint64_t nelem, nsource;
    uint64_t itemsize, to_size; /* bytes of an element in the source and at the destination */
    uint64_t off;               /* where source element 0 lies */
    int64_t to_off; /* where it goes to, from where the destination's first element lies */
    int64_t pos0;   /* its place in C order */
    bool nested;    /* each source element lies wholly behind the one before */
    cip_axis axis[CIP_MAX_NDIM];
} cip_walk;

/* Of two views of one shape with elements, that lie within 64 bits (cip_view_bounds). `ordered`:
 * places in C order matter (the cast may overflow); otherwise more axes merge. */
void cip_walk_make(const cip_nd *from, const cip_nd *to, bool ordered, cip_walk *out);
/* The same of any axes; itemsize, to_size, off, to_off and pos0 of *w are set before. */
void cip_walk_of_axes(const cip_axis *axis, int32_t ndim, bool ordered, cip_walk *w);
/* Of nested walks: the first source element at or behind `off`; nsource when there is none. */
uint64_t cip_walk_find(const cip_walk *w, uint64_t off);
/* Whether another axis than the source's fastest is the destination's: a transpose. */
bool cip_walk_turns(const cip_walk *w);
/* Bytes from the first of source element e to the last of the `count` steps of axis k that begin
 * with it, all axes behind k whole. */
uint64_t cip_walk_span(const cip_walk *w, int32_t k, uint64_t count);

/* A place in a walk. */
typedef struct cip_walk_at {
    const cip_walk *w;
    uint64_t e;
    uint64_t off;
    int64_t to_off, pos;
    int64_t idx[CIP_MAX_NDIM];
} cip_walk_at;

void cip_walk_seek(const cip_walk *w, uint64_t e, cip_walk_at *at);
/* Source elements from here to the end of the last outer axis. */
uint64_t cip_walk_row(const cip_walk_at *at);
/* n of them on; n is at most that. */
void cip_walk_skip(cip_walk_at *at, uint64_t n);

/* Where the source elements of a cast lie. */
typedef enum cip_walk_src {
    CIP_SRC_PLACED, /* the byte at `off` of the walk at src[off - base] */
    CIP_SRC_PACKED, /* one behind the other */
    CIP_SRC_SAME    /* one for all */
} cip_walk_src;

/* Casts source elements [e0, e1) to all of their places behind dst. */
typedef struct cip_walk_cast_args {
    uint64_t e0, e1;
    cip_walk_src how;
    const uint8_t *src;
    uint64_t base;
    const cip_cast *cast;
    uint8_t *dst;
} cip_walk_cast_args;
void cip_walk_cast(const cip_walk *w, const cip_walk_cast_args *a, cip_cast_stats *stats);

#endif
