/* SPDX-License-Identifier: BSD-3-Clause
 * Pieces of data in order decoded at once, ahead of a decoder that stands at a checkpoint. Only
 * pieces that are proven to be what a decoder in order would give; where there are none it decodes
 * in order, so that bytes and failures are its own. Private to src/space. */
#ifndef CIP_SPACE_SEQ_PARALLEL_H
#define CIP_SPACE_SEQ_PARALLEL_H

#include "space/read/reader.h"

/* Raw bytes that keep the threads busy, 0 where nothing is decoded ahead; codec may be NULL. */
uint64_t cip_ahead_nbytes(const cip_rd *rd, const cip_stream_codec *codec);

/* Belongs to one decoder; one thread at a time. */
typedef struct cip_ahead cip_ahead;

/* *out is NULL, and all is well, where the codec cannot be split or there is one thread only. */
cip_status cip_ahead_new(const cip_rd *rd, const cip_stream_codec *codec, cip_ahead **out,
                         cip_err *err);
void cip_ahead_free(cip_ahead *a);
/* At most *n of the bytes decoded ahead to dst (NULL: nowhere); *n: how many. */
void cip_ahead_take(const cip_rd *rd, cip_ahead *a, uint8_t *dst, uint64_t *n);
/* Whether a decoder in order is to stop at the next checkpoint, so that pieces are decoded from
 * there: n bytes are wanted. */
bool cip_ahead_wants_checkpoint(const cip_ahead *a, uint64_t n);
/* The decoder stands at a checkpoint of the chunk. */
void cip_ahead_at_checkpoint(cip_ahead *a, const cip_checkpoint *checkpoint);
/* Decodes pieces from `raw` on, of the stored bytes at `at`, for n wanted bytes. True: there are
 * some, and decoding goes on behind them. False: none, or not worth it. */
bool cip_ahead_run(const cip_rd *rd, cip_ahead *a, const cip_extent *at, uint64_t raw, uint64_t n);
/* Checkpoints, borrowed until the next run: 0 is behind all that was decoded ahead, 1 before the
 * last piece and so on, down to where the first began; NULL: no more. */
const cip_checkpoint *cip_ahead_checkpoint(const cip_ahead *a, size_t i);

#endif
