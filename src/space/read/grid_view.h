/* SPDX-License-Identifier: BSD-3-Clause
 * A view of a gridded array, cut where the chunks are: each axis of the view steps along one axis
 * of the grid (any multiple, either way), or inside an element (fields, their sub-arrays), or not
 * at all. Then what falls into a chunk is a box of the view's steps. Private to src/space. */
#ifndef CIP_SPACE_GRID_VIEW_H
#define CIP_SPACE_GRID_VIEW_H

#include "space/read/grid.h"

enum { CIP_AXIS_INSIDE = -1, CIP_AXIS_NOWHERE = -2 }; /* instead of an axis of the grid */

/* An axis of the view, turned so that it rises. */
typedef struct cip_view_axis {
    int32_t along;   /* axis of the grid, INSIDE an element, or NOWHERE: the same again */
    int64_t n, step; /* elements of the grid (INSIDE: bytes) */
    int64_t to, pos; /* from step to step in the other view, and in C order */
} cip_view_axis;

/* A range of steps of a view's axis (or one place) on an axis that is cut in pieces of `size`: the
 * runs of steps that share a piece are its segments. */
typedef struct cip_cut {
    const cip_view_axis *v; /* NULL: all is in one piece */
    int64_t start;          /* where step 0 is */
    int64_t size;
    int64_t i0, i1; /* steps */
    int64_t first;  /* piece of segment 0 */
    int64_t nseg;
} cip_cut;

/* An axis of the grid: the part that is touched. */
typedef struct cip_grid_axis {
    int64_t start; /* where the view begins on it */
    int64_t view;  /* the one view axis that walks over its chunks; -1: all is in one chunk */
    cip_cut chunks;
} cip_grid_axis;

/* Points into itself, so it stays where it was made. */
typedef struct cip_grid_view {
    const cip_grid *grid;
    int32_t nview;
    cip_view_axis view[CIP_MAX_NDIM];
    cip_grid_axis axis[CIP_MAX_NDIM];
    uint64_t inside; /* byte in the element where the view begins */
    uint64_t itemsize;
    int64_t to_off, pos0; /* where it begins in the other view, and in C order */
} cip_grid_view;

/* Steps of each axis of the view: [lo, hi). */
typedef struct cip_view_steps {
    int64_t lo[CIP_MAX_NDIM], hi[CIP_MAX_NDIM];
} cip_view_steps;

/* `from`: in the array's linear bytes; `to`: another view of the same shape, walked along. false
 * for a view that does not step along axes, or leaves the array, or elements of no size. */
bool cip_grid_view_make(const cip_grid *g, const cip_nd *from, const cip_nd *to,
                        cip_grid_view *out);
/* The i-th chunk that is touched, in the grid's order, and the view's steps in it. */
void cip_grid_view_place(const cip_grid_view *b, uint64_t i, int64_t *coord, cip_view_steps *in);
/* Steps [i0, i1) of v, of which step 0 is at `start`, on an axis cut in pieces of `size`. */
cip_cut cip_cut_at(const cip_view_axis *v, int64_t start, int64_t size, int64_t i0, int64_t i1);
/* The piece that segment t is, and its steps [*lo, *hi). */
int64_t cip_cut_segment(const cip_cut *c, int64_t t, int64_t *lo, int64_t *hi);

#endif
