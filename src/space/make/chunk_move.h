/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks from one file to another as they are stored, neither decoded nor encoded. */
#ifndef CIP_SPACE_CHUNK_MOVE_H
#define CIP_SPACE_CHUNK_MOVE_H

#include "space/layout/form.h"
#include "space/read/read.h"

/* Whether a space's chunks are those of the form: the same grid, or linear ones of the same length.
 * Nothing is said of what is in them. */
bool cip_chunks_are(const cip_space *s, uint64_t len, const cip_array_form *form);

/* Decoded bytes of each chunk but the last, where the array is all of linear chunks that this one
 * step takes as they are stored (by the first of them); 0: it is stored otherwise. */
uint64_t cip_chunk_nbytes_taken(const cip_array *a, const cip_form_step *step);

/* The grid of n-d chunks that the array is all of, borrowed from it; NULL: it is stored otherwise.
 */
const cip_grid *cip_chunk_grid(const cip_array *a);

/* Whether stored chunks hold their elements in C order: they have no blocks, or blocks that are
 * runs of it, and no padding but at the array's edge. */
bool cip_grid_is_in_order(const cip_grid *g);

/* The first bytes of the first chunk that has data, to *head (room for CIP_CODER_HEAD): false where
 * the array is not all of chunks of this one codec. */
bool cip_chunk_first_head(const cip_array *a, const cip_codec *codec, uint8_t *head, size_t *n);

typedef struct cip_chunk_mover {
    cip_env *env;
    cip_read_how how;
    const cip_array *array;
    const cip_array_form *form; /* with CIP_FORM_TAKES */
    cip_store_fn *store;
    /* NULL, or told after each store how many of n chunks are done; its failure ends the move. */
    cip_status (*tell)(void *user, uint64_t done, uint64_t n, cip_err *err);
    void *user; /* of store and tell */
} cip_chunk_mover;

/* Whether the array is stored in the form, so that its chunks can move. */
cip_status cip_chunk_move_may(const cip_chunk_mover *m, bool *may, cip_err *err);
/* All chunks of the array, in order, if it is stored in the form: the same elements, grid and steps
 * with the same arguments (at no level that was asked for), or one step whose codec takes the
 * chunks; *moved false, with nothing done, otherwise. Chunks that are coded in a way of their own,
 * that the codec does not take, or in a state that the form does not have, are decoded and made
 * anew. A stored sum is compared (CHECKSUM), a missing chunk fails. */
cip_status cip_chunk_move(const cip_chunk_mover *m, bool *moved, cip_err *err);

#endif
