/* SPDX-License-Identifier: BSD-3-Clause
 * The inner structure of LZ4 frames and zstd frames: where the pieces lie that decode alone. */
#ifndef CIP_CODEC_FRAMES_H
#define CIP_CODEC_FRAMES_H

#include "codec/codec.h"

#define CIP_LZ4F_MAGIC UINT32_C(0x184D2204)
#define CIP_ZSTD_MAGIC UINT32_C(0xFD2FB528)
/* Both families of frames know skippable ones: this magic + 0..15, a u32 of their size, bytes. */
#define CIP_SKIPPABLE_MAGIC UINT32_C(0x184D2A50)

/* Reads n bytes at `off` of the stored run; TRUNCATED when they are not all there. */
typedef cip_status cip_read_fn(void *user, uint64_t off, size_t n, void *dst, cip_err *err);

/* A piece that decodes alone. */
typedef struct cip_frame_piece {
    uint64_t off, len;         /* stored, from the start of the run */
    uint64_t raw_off, raw_len; /* decoded */
    const cip_codec *codec;    /* NULL: stored as it is */
} cip_frame_piece;

/* What a scan found, in order and without gaps in the raw bytes. `piece` is the caller's to
 * cip_mem_put; NULL when n is 0. n 0 with `sequential` set: the pieces depend on each other, their
 * sizes are not told or contradict the run's, so the run can only be decoded in order. */
typedef struct cip_frame_pieces {
    cip_frame_piece *piece;
    size_t n;
    bool sequential;
} cip_frame_pieces;

/* A run of frames. */
typedef struct cip_frame_run {
    cip_read_fn *read;
    void *user;
    uint64_t len, raw_len; /* stored and decoded bytes */
    uint64_t max_pieces;
} cip_frame_run;

/* The run's pieces. At most max_pieces (LIMIT). CORRUPT, CHECKSUM (of a header), TRUNCATED and
 * UNSUPPORTED as for decoding; checksums of blocks and contents are only looked at when decoding in
 * order. */
typedef cip_status cip_frames_scan_fn(cip_mem *mem, const cip_frame_run *run, cip_frame_pieces *out,
                                      cip_err *err);

/* One LZ4 frame (or several, concatenated; skippable ones passed over, and what follows without
 * being one left out): a piece for each block where blocks are independent. The format does not
 * tell a block's decoded size: all but the last of a frame must be full, which is proved by walking
 * the last. */
cip_frames_scan_fn cip_lz4f_scan;
/* Zstd frames: a piece for each frame, when all their headers tell the content size (it may be one
 * piece that is the whole run); block headers are walked, not decoded, to find a frame's end.
 * CORRUPT when the sizes do not make raw_len, or a frame has too few blocks for its size. */
cip_frames_scan_fn cip_zstd_scan;

#endif
