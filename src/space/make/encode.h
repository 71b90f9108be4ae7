/* SPDX-License-Identifier: BSD-3-Clause
 * Raw bytes in, a stored payload out: cut in pieces, the pieces encoded on the pool, handed on in
 * order. The same bytes whatever the number of threads; memory is bounded by pieces x threads. */
#ifndef CIP_SPACE_ENCODE_H
#define CIP_SPACE_ENCODE_H

#include "base/env.h"
#include "codec/framing.h"
#include "io/out.h"

typedef struct cip_encoder cip_encoder;

/* framing NULL: the bytes go out as they are. `piece` 0: the framing's own size. Level as the
 * codec's (0: its default; ARG). `out` is borrowed. */
cip_status cip_encoder_new(cip_env *env, const cip_framing *framing, int level, uint64_t piece,
                           cip_out *out, cip_encoder **enc, cip_err *err);
/* How many raw bytes there will be in all: before the first of them, where it is known. */
void cip_encoder_expect(cip_encoder *enc, uint64_t total);
/* n bytes more; the caller's again when this returns. */
cip_status cip_encoder_write(cip_encoder *enc, const void *p, size_t n, cip_err *err);
/* Encodes what is left and ends the payload. */
cip_status cip_encoder_finish(cip_encoder *enc, cip_err *err);
/* NULL is fine. */
void cip_encoder_free(cip_encoder *enc);

/* MD5 (or another sum) of what goes out, worked out by another thread while it is written. */
typedef struct cip_summed cip_summed;
cip_status cip_summed_new(cip_env *env, int sum_id, cip_out *under, cip_summed **s, cip_err *err);
cip_out *cip_summed_out(cip_summed *s);
/* The sum of all that went out. */
cip_status cip_summed_finish(cip_summed *s, uint8_t *sum, cip_err *err);
void cip_summed_free(cip_summed *s);

#endif
