/* SPDX-License-Identifier: BSD-3-Clause
 * How the encoded pieces of one run of bytes become one payload that any reader of the codec takes
 * for the work of one encoder. */
#ifndef CIP_CODEC_FRAMING_H
#define CIP_CODEC_FRAMING_H

#include "codec/codec.h"

/* What a payload that is encoded in order is told at its beginning. */
typedef struct cip_framing_order {
    uint64_t total; /* raw bytes in all, or UINT64_MAX */
    uint64_t piece; /* raw bytes that are encoded apart from others */
    unsigned threads;
} cip_framing_order;

/* One const object for each way; thread-safe. */
typedef struct cip_framing {
    const char *name;          /* of the codec: "zlib" */
    uint64_t piece;            /* raw bytes of a piece but the last */
    bool empty_piece;          /* a payload of no bytes still has a (last) piece */
    bool bits;                 /* *n of `encode` counts bits, most significant first in each byte;
                                  the pieces are joined bit by bit, the end is filled with zeros */
    size_t (*bound)(size_t n); /* stored bytes of a piece of n, at most; 0: too long a piece */
    /* Piece `first` and/or `last` of the payload; *sum (0 before) is kept for it. */
    cip_status (*encode)(cip_mem *mem, int level, bool first, bool last, cip_bytes raw,
                         uint8_t *dst, size_t cap, size_t *n, uint64_t *sum, cip_err *err);
    /* Optional: joins a piece's sum to that of all before it (*all is 0 before the first). */
    void (*join)(uint64_t *all, uint64_t sum, uint64_t nraw);
    /* Optional: what follows the last piece (at most 64 bytes). */
    size_t (*tail)(uint64_t all, uint8_t dst[64]);
    /* Optional, all three: a payload of more than one piece is encoded in order, by threads of the
     * codec's own, to the same bytes for any number of them; `encode` is for one that is a single
     * piece. step: takes *in_len bytes at most (sets what it took), gives *out_len at most; `last`:
     * nothing follows this input; *end: nor any output. */
    cip_status (*begin)(cip_mem *mem, int level, const cip_framing_order *order, void **state,
                        cip_err *err);
    cip_status (*step)(void *state, const uint8_t *in, size_t *in_len, bool last, uint8_t *out,
                       size_t *out_len, bool *end, cip_err *err);
    void (*finish)(void *state); /* NULL is fine */
} cip_framing;

/* One RFC 1950 stream, one bzip2 stream, LZ4 frames, one zstd frame: "zlib", "bzip2", "lz4f",
 * "zstd". NULL for other names. Formats have framings of their own besides. */
const cip_framing *cip_framing_find(const char *codec);

/* Where the last block of a raw deflate stream (RFC 1951) begins and where the stream ends, in bits
 * from the start; false for what is none. Decodes nothing but code lengths and codes. */
bool cip_deflate_last(cip_bytes in, uint64_t *last, uint64_t *end);

#endif
