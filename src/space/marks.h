/* SPDX-License-Identifier: BSD-3-Clause
 * Places where decoders of SEQ spaces may begin anew, kept between reads: found while decoding in
 * order, within a bound on memory that all spaces of a file share. Private to src/space and core.
 */
#ifndef CIP_SPACE_MARKS_H
#define CIP_SPACE_MARKS_H

#include "codec/codec.h"
#include "space/layout.h"

typedef struct cip_marks cip_marks;

/* At most `max_bytes` in all; of a space first about `gap` raw bytes apart (more in a large one; an
 * eighth of it where a mark is small), twice as far each time there is no more room. */
cip_status cip_marks_new(cip_env *env, uint64_t max_bytes, uint64_t gap, cip_marks **out,
                         cip_err *err);
void cip_marks_free(cip_marks *m);
/* All functions below are thread-safe. */

/* The raw position of space `id` (of `len` bytes) at or behind which a decoder that stands at `raw`
 * is to look for its next mark. */
uint64_t cip_marks_next(cip_marks *m, uint64_t id, uint64_t len, uint64_t raw);
/* Keeps a copy, or not: where memory is short, where one lies near, where there is no room. Gives
 * what `next` would, but behind one that was not kept at least a gap away: making a mark is dear.
 */
uint64_t cip_marks_put(cip_marks *m, uint64_t id, uint64_t len, const cip_mark *mark);
/* The last mark at `pos` or before; its window is copied. False: there is none. */
bool cip_marks_find(cip_marks *m, uint64_t id, uint64_t pos, cip_mark *out,
                    uint8_t window[CIP_MARK_WINDOW]);
/* The i-th of a space, in order, the same way. */
bool cip_marks_at(cip_marks *m, uint64_t id, size_t i, cip_mark *out,
                  uint8_t window[CIP_MARK_WINDOW]);
/* Bytes held, marks held (of all spaces). */
uint64_t cip_marks_nbytes(cip_marks *m);
size_t cip_marks_count(cip_marks *m);

#endif
