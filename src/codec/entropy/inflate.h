/* SPDX-License-Identifier: BSD-3-Clause
 * Raw deflate (RFC 1951) decoded in pieces, with a stop where a block begins: zlib's own decoder is
 * half as fast, and faster ones do not tell where their blocks lie. */
#ifndef CIP_CODEC_ENTROPY_INFLATE_H
#define CIP_CODEC_ENTROPY_INFLATE_H

#include "codec/codec.h"

typedef struct cip_inflate cip_inflate;

typedef enum cip_inflate_state {
    CIP_INFLATE_GOES_ON = 0, /* it wants room, or input */
    CIP_INFLATE_AT_BLOCK,    /* a block's header comes next, and that was asked for */
    CIP_INFLATE_ENDED,       /* all was given; the input begins behind the stream again */
    CIP_INFLATE_BAD          /* all that is good was given; cip_inflate_why says what is not */
} cip_inflate_state;

/* About 160 KiB. From the beginning, or with `window_len` bytes (the last 32 KiB count) before it
 * and `skip` bits of the first byte left out. */
cip_status cip_inflate_new(cip_mem *mem, const uint8_t *window, size_t window_len, unsigned skip,
                           cip_inflate **out, cip_err *err);
void cip_inflate_free(cip_inflate *s);
/* Takes *in_len bytes at most and gives *out_len at most; sets both to what it did. It takes up to
 * 8 bytes more than it needs, and gives back at the end those of this call. */
cip_inflate_state cip_inflate_step(cip_inflate *s, const uint8_t *in, size_t *in_len, uint8_t *out,
                                   size_t *out_len);
/* The next step that gets there is to stop where a block begins; it is told once of each. */
void cip_inflate_want_block(cip_inflate *s);
/* Behind AT_BLOCK: the bits taken but not used yet, and what was given last (at most 32 KiB,
 * borrowed until the next step). */
unsigned cip_inflate_bits_left(const cip_inflate *s);
size_t cip_inflate_window(const cip_inflate *s, const uint8_t **window);
/* Behind ENDED: the bytes that follow the stream and were taken by an earlier call. */
size_t cip_inflate_left(const cip_inflate *s, uint8_t left[8]);
/* What is wrong, in words. */
const char *cip_inflate_why(const cip_inflate *s);

#endif
