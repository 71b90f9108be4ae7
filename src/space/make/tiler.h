/* SPDX-License-Identifier: BSD-3-Clause
 * The bytes of an n-dimensional array in C order in, its tiles out: in C order of the tiles' grid,
 * each of full size and in C order within, zeros where it reaches over the array's edge. */
#ifndef CIP_SPACE_TILER_H
#define CIP_SPACE_TILER_H

#include "base/cursor.h"
#include "base/env.h"

/* Borrowed while the tiler lives. */
typedef struct cip_tiling {
    int32_t ndim;         /* up to CIP_MAX_NDIM */
    const int64_t *shape; /* of the array */
    const int64_t *tile;  /* ndim lengths, 1 or more */
    uint64_t itemsize;
} cip_tiling;

/* Bytes of all tiles together. LIMIT over 2^63; ARG for a tiling that is none. */
cip_status cip_tiling_nbytes(const cip_tiling *t, uint64_t *nbytes, cip_err *err);

/* Takes tile `index`, with how much of it along each axis is of the array. Borrowed. */
typedef cip_status cip_tile_fn(void *user, uint64_t index, cip_bytes tile, const int64_t *valid,
                               cip_err *err);

/* The same of a tile that lies in memory with `stride` bytes along each axis, cut off where it
 * reaches over the array's edge. Borrowed from who gave the row. */
typedef cip_status cip_tile_lent_fn(void *user, uint64_t index, const uint8_t *at,
                                    const int64_t *stride, const int64_t *valid, cip_err *err);

typedef struct cip_tiler cip_tiler;

enum { CIP_TILER_MEMORY = 64 << 20 };

/* Holds a tile and a row of tiles along the first axis: in `memory` bytes (0: CIP_TILER_MEMORY)
 * where it fits, else in a temporary file, from which as many tiles are taken up again as fit (one
 * at the least); nothing for rows that are given whole. */
cip_status cip_tiler_new(cip_env *env, const cip_tiling *t, uint64_t memory, cip_tile_fn *fn,
                         void *user, cip_tiler **out, cip_err *err);
/* Tiles are cut to `to` (room for one, borrowed) from now on; NULL: to the tiler's own. */
void cip_tiler_to(cip_tiler *t, uint8_t *to);
/* Tiles of rows that are given whole are not cut, but lent to `fn`, until the write returns. */
void cip_tiler_lend(cip_tiler *t, cip_tile_lent_fn *fn);
/* n bytes more of the array; tiles that are complete go to `fn`. RANGE for more than it has. */
cip_status cip_tiler_write(cip_tiler *t, const void *p, size_t n, cip_err *err);
/* ARG when bytes are missing. */
cip_status cip_tiler_finish(cip_tiler *t, cip_err *err);
/* NULL is fine. */
void cip_tiler_free(cip_tiler *t);

#endif
