/* SPDX-License-Identifier: BSD-3-Clause
 * Places where decoders of SEQ spaces may begin anew, kept between reads: found while decoding in
 * order, within a bound on memory that all spaces of a file share. Private to src/space and core.
 */
#ifndef CIP_SPACE_CHECKPOINTS_H
#define CIP_SPACE_CHECKPOINTS_H

#include "codec/codec.h"
#include "space/layout/layout.h"

typedef struct cip_checkpoints cip_checkpoints;

/* At most `max_bytes` in all; of a space first about `gap` raw bytes apart (more in a large one; an
 * eighth of it where a checkpoint is small), twice as far each time there is no more room. */
cip_status cip_checkpoints_new(cip_env *env, uint64_t max_bytes, uint64_t gap,
                               cip_checkpoints **out, cip_err *err);
void cip_checkpoints_free(cip_checkpoints *m);
/* All functions below are thread-safe. */

/* The raw position of space `id` (of `len` bytes) at or behind which a decoder that stands at `raw`
 * is to look for its next checkpoint. */
uint64_t cip_checkpoints_next(cip_checkpoints *m, uint64_t id, uint64_t len, uint64_t raw);
/* Keeps a copy, or not: where memory is short, where one lies near, where there is no room. Gives
 * what `next` would, but behind one that was not kept at least a gap away: making a checkpoint is
 * dear.
 */
uint64_t cip_checkpoints_put(cip_checkpoints *m, uint64_t id, uint64_t len,
                             const cip_checkpoint *checkpoint);
/* The last checkpoint at `pos` or before; its window is copied. False: there is none. */
bool cip_checkpoints_find(cip_checkpoints *m, uint64_t id, uint64_t pos, cip_checkpoint *out,
                          uint8_t window[CIP_CHECKPOINT_WINDOW]);
/* The i-th of a space, in order, the same way. */
bool cip_checkpoints_at(cip_checkpoints *m, uint64_t id, size_t i, cip_checkpoint *out,
                        uint8_t window[CIP_CHECKPOINT_WINDOW]);
/* Bytes held, of all spaces; checkpoints held, of this space (NULL: of all). */
uint64_t cip_checkpoints_nbytes(cip_checkpoints *m);
size_t cip_checkpoints_count(cip_checkpoints *m, const uint64_t *id);

#endif
