/* SPDX-License-Identifier: BSD-3-Clause
 * Raw bytes in, a stored payload out: cut in pieces, the pieces encoded on the pool, handed on in
 * order. The same bytes whatever the number of threads; memory is bounded by pieces x threads. */
#ifndef CIP_SPACE_ENCODE_H
#define CIP_SPACE_ENCODE_H

#include "base/env.h"
#include "codec/codec.h"
#include "io/out.h"

/* How pieces become one payload. One const object for each way; thread-safe. */
typedef struct cip_framing {
    const char *name;          /* of the codec: "zlib" */
    uint64_t piece;            /* raw bytes of a piece but the last */
    bool empty_piece;          /* a payload of no bytes still has a (last) piece */
    size_t (*bound)(size_t n); /* stored bytes of a piece of n, at most */
    /* Piece `first` and/or `last` of the payload; *sum (0 before) is kept for it. */
    cip_status (*encode)(cip_mem *mem, int level, bool first, bool last, cip_bytes raw,
                         uint8_t *dst, size_t cap, size_t *n, uint64_t *sum, cip_err *err);
    /* Optional: joins a piece's sum to that of all before it, in order. */
    void (*join)(uint64_t *all, uint64_t sum, uint64_t nraw);
    /* Optional: what follows the last piece (at most 64 bytes). */
    size_t (*tail)(uint64_t all, uint8_t dst[64]);
} cip_framing;

/* One RFC 1950 stream, one bzip2 stream, LZ4 frames, zstd frames: "zlib", "bzip2", "lz4f", "zstd".
 * NULL for other names. Formats have framings of their own besides. */
const cip_framing *cip_framing_find(const char *codec);

typedef struct cip_encoder cip_encoder;

/* framing NULL: the bytes go out as they are. `piece` 0: the framing's own size. Level as the
 * codec's (0: its default; ARG). `out` is borrowed. */
cip_status cip_encoder_new(cip_env *env, const cip_framing *framing, int level, uint64_t piece,
                           cip_out *out, cip_encoder **enc, cip_err *err);
/* n bytes more; the caller's again when this returns. */
cip_status cip_encoder_write(cip_encoder *enc, const void *p, size_t n, cip_err *err);
/* Encodes what is left and ends the payload. */
cip_status cip_encoder_finish(cip_encoder *enc, cip_err *err);
/* Raw bytes taken so far. */
uint64_t cip_encoder_raw(const cip_encoder *enc);
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
