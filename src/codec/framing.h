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

/* A piece of a payload and what becomes of it. */
typedef struct cip_framing_piece {
    bool first, last; /* of the payload */
    cip_bytes raw;
    cip_dst out;
    uint64_t sum; /* kept for `join`, 0 before */
} cip_framing_piece;

/* One const object for each way; thread-safe. */
typedef struct cip_framing {
    const char *name;          /* of the codec: "zlib" */
    uint64_t piece;            /* raw bytes of a piece but the last */
    bool empty_piece;          /* a payload of no bytes still has a (last) piece */
    bool bits;                 /* out.len counts bits, most significant first in each byte;
                                  the pieces are joined bit by bit, the end is filled with zeros */
    size_t (*bound)(size_t n); /* stored bytes of a piece of n, at most; 0: too long a piece */
    cip_status (*encode)(cip_mem *mem, int level, cip_framing_piece *p, cip_err *err);
    /* Optional: joins a piece's sum to that of all before it (*all is 0 before the first). */
    void (*join)(uint64_t *all, uint64_t sum, uint64_t nraw);
    /* Optional: what follows the last piece (at most 64 bytes). */
    size_t (*tail)(uint64_t all, uint8_t dst[64]);
    /* Optional, all three: a payload of more than one piece is encoded in order, by threads of the
     * codec's own, to the same bytes for any number of them; `encode` is for one that is a single
     * piece. A step takes and gives as much as it can. */
    cip_status (*begin)(cip_mem *mem, int level, const cip_framing_order *order, void **state,
                        cip_err *err);
    cip_status (*step)(void *state, cip_flow *f, cip_err *err);
    void (*finish)(void *state); /* NULL is fine */
} cip_framing;

/* One RFC 1950 stream, the same as deflate alone, one bzip2 stream, LZ4 frames, one zstd frame:
 * "zlib", "deflate", "bzip2", "lz4f", "zstd". NULL for other names, and for "deflate" in a build
 * without zlib. Formats have framings of their own besides. */
const cip_framing *cip_framing_find(const char *codec);

#endif
