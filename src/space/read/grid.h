/* SPDX-License-Identifier: BSD-3-Clause
 * The geometry of n-d chunks. Private to src/space. */
#ifndef CIP_SPACE_GRID_H
#define CIP_SPACE_GRID_H

#include "space/layout/layout.h"

/* One chunk: its number, its shape in the file and where its elements lie. */
typedef struct cip_grid_chunk {
    uint64_t i;
    uint64_t raw_len;
    int64_t first[CIP_MAX_NDIM];  /* element of the array that its first one is */
    int64_t stride[CIP_MAX_NDIM]; /* in bytes, within its raw bytes (`blocked`: within a block) */
    uint64_t block_len;           /* raw bytes of a block; not `blocked`: all is one */
    int64_t block[CIP_MAX_NDIM];  /* its shape */
    int64_t step[CIP_MAX_NDIM];   /* in bytes, from block to block */
} cip_grid_chunk;

/* The chunk at coord[] of the chunk grid (within it). */
void cip_grid_chunk_at(const cip_grid *g, const int64_t *coord, cip_grid_chunk *out);
/* Raw bytes of each chunk: those at the edges are as long as the others. */
uint64_t cip_grid_raw_len(const cip_grid *g);
/* Where chunk i of the grid's order is in it. */
void cip_grid_coord(const cip_grid *g, uint64_t i, int64_t *coord);
/* Chunks along axis k. */
int64_t cip_grid_nchunk(const cip_grid *g, int32_t k);

#endif
