/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks that cannot be read, and what stands in their place. */
#ifndef CIP_SPACE_FILLED_H
#define CIP_SPACE_FILLED_H

#include "space/read/chunk_list.h"

/* Chunks first to first + n - 1. */
typedef struct cip_lost_chunks {
    uint64_t first, n;
} cip_lost_chunks;

/* What elements chunk i has, when the table cannot tell: as from cip_chunk_list_at, without data.
 * False where only the chunk itself knows (chunks of different sizes). */
bool cip_chunk_list_regular(const cip_chunk_list *l, uint64_t i, cip_chunk *out);

/* From now on the chunks in `lost` (n ranges, rising and apart; copied) of a space of chunks
 * (CHUNKED, GRID) hold `value` (of value.len bytes, copied) again and again, for whoever reads it.
 * UNSUPPORTED for spaces of other kinds, and where a chunk does not begin with a whole value. */
cip_status cip_space_fill(cip_space *s, const cip_lost_chunks *lost, size_t n, cip_bytes value,
                          cip_err *err);

#endif
