/* SPDX-License-Identifier: BSD-3-Clause
 * Raw deflate (RFC 1951) in pieces: stops where a block begins, if asked to, and begins again there
 * with the 32 KiB before. Twice as fast as zlib, which is the only kept library that can do so. */
#ifndef CIP_CODEC_ENTROPY_INFLATE_H
#define CIP_CODEC_ENTROPY_INFLATE_H

#include "codec/codec.h"

enum { CIP_INFLATE_WINDOW = 32 << 10, CIP_INFLATE_FRONT = 4 };

/* About 320 KiB; of one thread at a time. */
typedef struct cip_inflate cip_inflate;

typedef enum cip_inflate_stop {
    CIP_INFLATE_MORE,    /* it takes more input, or room */
    CIP_INFLATE_BLOCK,   /* a block begins, which is not the one it began at; once for each */
    CIP_INFLATE_END,     /* of the last block; what follows it was not taken */
    CIP_INFLATE_DAMAGED, /* cip_inflate_why */
} cip_inflate_stop;

/* To begin at a block: `window` has the n <= CIP_INFLATE_WINDOW bytes before it; `skip` bits of the
 * first byte are left out, 0 to 7. It is freed by cip_mem_put. */
cip_status cip_inflate_new(cip_mem *mem, cip_bytes window, unsigned skip, cip_inflate **out,
                           cip_err *err);

/* Takes and gives as much as there is; sets f->took and f->gave. f->out may be NULL: what it gives
 * is only counted. With `at_block` it stops where the next block begins, or the first one, once all
 * before it was given. After END and DAMAGED it is not called again. */
cip_inflate_stop cip_inflate_step(cip_inflate *s, cip_flow *f, bool at_block);

/* Of the last byte that was taken, the bits that were not used, 0 to 7. */
unsigned cip_inflate_bits(const cip_inflate *s);

/* The last bytes that were given, at most CIP_INFLATE_WINDOW; the CIP_INFLATE_FRONT bytes before
 * them may be written. Until the next step. */
uint8_t *cip_inflate_window(cip_inflate *s, size_t *n);

/* Where the last block of a whole stream begins and where the stream ends, in bits. CORRUPT for
 * what is none. */
cip_status cip_deflate_last(cip_mem *mem, cip_bytes in, uint64_t *last, uint64_t *end,
                            cip_err *err);

/* In zlib's words: "invalid block type" and such. Static storage. */
const char *cip_inflate_why(const cip_inflate *s);

#endif
