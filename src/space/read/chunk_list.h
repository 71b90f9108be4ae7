/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks of an array, for those who look at how it is stored. They are those of the space that
 * its elements lie in, parts of spaces followed down: the table's; of a SEQ one, its stream; of
 * plain bytes one, from the array's first byte to its last. */
#ifndef CIP_SPACE_CHUNK_LIST_H
#define CIP_SPACE_CHUNK_LIST_H

#include "space/read/read.h"

typedef struct cip_chunk_list {
    const cip_array *array;
    cip_space *s;        /* no LAZY, no SUB */
    cip_nd view;         /* the array's elements in its linear bytes */
    uint64_t first, end; /* the bytes that they take */
    uint64_t n;          /* chunks */
    bool own_grid;       /* a GRID that the view is all of, axis by axis */
} cip_chunk_list;

/* What reading the array would fail with before any data are read; else the list, which owns
 * nothing. */
cip_status cip_chunk_list_open(const cip_array *a, cip_chunk_list *out, cip_err *err);
/* Chunk i, checked as for reading; run is at least 1 and ends with the list. raw_off: in the
 * space's linear bytes; 0 of a GRID. RANGE beyond the end. */
cip_status cip_chunk_list_at(const cip_chunk_list *l, uint64_t i, cip_chunk *out, cip_err *err);
/* The fields of *out from `index` to `block`, but for state and why, of a chunk of the list. */
void cip_chunk_list_describe(const cip_chunk_list *l, uint64_t i, const cip_chunk *c,
                             cip_chunk_info *out);
/* Where an extent's bytes are as they lie in a file or in memory: *s and *off say it then. */
cip_chunk_place cip_extent_place(const cip_extent *at, cip_space **s, uint64_t *off);
/* All bytes of chunk i, decoded to dst (raw_len of them), or as they are stored (at.len; not of a
 * special chunk, which has none). A missing one fails with its reason. */
cip_status cip_chunk_list_decode(const cip_read_how *how, const cip_chunk_list *l, uint64_t i,
                                 const cip_chunk *c, uint8_t *dst, cip_err *err);
cip_status cip_chunk_list_stored(const cip_read_how *how, const cip_chunk_list *l, uint64_t i,
                                 const cip_chunk *c, uint8_t *dst, cip_err *err);

typedef cip_status cip_chunk_list_fn(void *arg, uint64_t i, const cip_chunk *c, cip_err *err);
/* Calls fn for each chunk (or run) that the selection touches, as cip_chunk_iter says; NULL: all.
 */
cip_status cip_chunk_list_touched(const cip_chunk_list *l, const cip_selection *sel,
                                  cip_chunk_list_fn *fn, void *arg, cip_err *err);

#endif
