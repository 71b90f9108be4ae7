/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks of a gridded array as a change leaves them: elements written, another shape, or both
 * (rows added). Only chunks that a change touches are read, and of those only ones that it does not
 * cover; nothing is encoded, and nothing is written. */
#ifndef CIP_SPACE_GRID_CHANGE_H
#define CIP_SPACE_GRID_CHANGE_H

#include "base/cursor.h"
#include "space/read/read.h"
#include "space/change/splice.h"

typedef enum cip_grid_part_kind {
    CIP_GRID_KEPT = 1, /* chunks as they are stored: `from` and those that follow it */
    CIP_GRID_ZEROS,    /* new ones without an element that was written */
    CIP_GRID_ELEMS     /* one chunk, from its elements */
} cip_grid_part_kind;

/* Chunks i, i + 1, ... of the array as it becomes: `run` of them. Borrowed during the call. */
typedef struct cip_grid_part {
    cip_grid_part_kind kind;
    uint64_t i, run;
    uint64_t from;   /* the number that chunk i had before; UINT64_MAX: it is new */
    cip_bytes elems; /* ELEMS: of the grid's `chunk` in C order, zeros beyond the array's edge */
    const int64_t *coord; /* ELEMS: in the chunk grid */
    const int64_t *valid; /* ELEMS: how much of each axis is of the array */
} cip_grid_part;

typedef cip_status cip_grid_part_fn(void *user, const cip_grid_part *part, cip_err *err);

typedef struct cip_grid_change {
    cip_read_how how;
    cip_space *old;           /* the array as it is, a GRID; NULL: there is none */
    const cip_grid *grid;     /* as it becomes: like the old one's, but for its shape */
    const cip_nd *at;         /* where elements are written, in the linear bytes of the array as it
                                 becomes; NULL: none are */
    const cip_feed *feed;     /* those elements */
    const cip_splice *splice; /* what comes and goes in the midst of an axis, of which both grids
                                 have the lengths; NULL: nothing. Its feed is not used */
} cip_grid_change;

/* Tells fn the array's chunks in rising order: where the shape stays, those that are written to;
 * where it changes, all of them, as their numbers may change, in as few runs as there are. A chunk
 * that the array's old edge cuts through, and that gets more elements, is told with its elements,
 * where its padding does not hold zeros for them.
 *
 * Memory: a chunk, and what reading one takes; the feed's elements wait in a temporary file, as
 * they come in C order and not chunk by chunk. ARG for elements over each other by a stride of 0;
 * UNSUPPORTED for a view that does not step along the array's axes; what reading a chunk fails
 * with. */
cip_status cip_grid_change_run(const cip_grid_change *c, cip_grid_part_fn *fn, void *user,
                               cip_err *err);

#endif
