/* SPDX-License-Identifier: BSD-3-Clause
 * The inner structure of LZ4 frames and zstd frames: where the pieces lie that decode alone. */
#ifndef CIP_CODEC_FRAMES_H
#define CIP_CODEC_FRAMES_H

#include "codec/codec.h"

/* Reads n bytes at `off` of the stored run; TRUNCATED when they are not all there. */
typedef cip_status cip_read_fn(void *user, uint64_t off, size_t n, void *dst, cip_err *err);

/* A piece that decodes alone. */
typedef struct cip_piece {
    uint64_t off, len;         /* stored, from the start of the run */
    uint64_t raw_off, raw_len; /* decoded */
    const cip_codec *codec;    /* NULL: stored as it is */
} cip_piece;

/* What a scan found. `pieces` is the caller's to cip_mem_put. n 0 with `sequential` set: the pieces
 * depend on each other or their sizes are not told, so the run can only be decoded in order. */
typedef struct cip_pieces {
    cip_piece *piece;
    size_t n;
    bool sequential;
} cip_pieces;

/* One LZ4 frame (or several, concatenated; skippable ones passed over) of `len` stored and
 * `raw_len` decoded bytes: a piece for each block where blocks are independent. The format does not
 * tell a block's decoded size: all but the last of a frame are taken to be full; decoding a piece
 * that is not gives CORRUPT, and the caller then decodes in order. At most max_pieces (LIMIT). */
cip_status cip_lz4f_scan(cip_mem *mem, cip_read_fn *read, void *user, uint64_t len,
                         uint64_t raw_len, uint64_t max_pieces, cip_pieces *out, cip_err *err);
/* Zstd frames: a piece for each frame whose header tells its content size; block headers are
 * walked, not decoded, to find a frame's end. */
cip_status cip_zstd_scan(cip_mem *mem, cip_read_fn *read, void *user, uint64_t len,
                         uint64_t raw_len, uint64_t max_pieces, cip_pieces *out, cip_err *err);

#endif
