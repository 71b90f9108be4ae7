/* SPDX-License-Identifier: BSD-3-Clause
 * What the scans of frames share: reading headers through a small window, and a list of pieces. */
#ifndef CIP_CODEC_FRAMES_READ_H
#define CIP_CODEC_FRAMES_READ_H

#include "codec/frames.h"

enum { CIP_FRAMES_WINDOW = 512 };

/* A run of frames on the way through: `at` never exceeds its length. */
typedef struct cip_frames {
    cip_mem *mem;
    cip_frame_run run;
    uint64_t at; /* position in it */
    bool any;    /* a frame was found */
    cip_frame_pieces found;
    size_t room; /* for so many pieces */
    uint64_t window_at;
    size_t window_len;
    uint8_t window[CIP_FRAMES_WINDOW];
} cip_frames;

/* The next n bytes (at most the window), borrowed until the next call, and steps over them.
 * TRUNCATED when the run ends before. */
cip_status cip_frames_get(cip_frames *f, size_t n, const uint8_t **out, cip_err *err);
/* Steps over n bytes; TRUNCATED when the run ends before. */
cip_status cip_frames_skip(cip_frames *f, uint64_t n, cip_err *err);
/* Steps over skippable frames and the magic of the next frame; *more false: the run ends there, or
 * what follows after a frame is none. CORRUPT where the first is none. */
cip_status cip_frames_next(cip_frames *f, uint32_t magic, bool *more, cip_err *err);
/* Adds a piece; LIMIT beyond max_pieces. */
cip_status cip_frames_add(cip_frames *f, cip_frame_piece piece, cip_err *err);
/* Drops the pieces found: the run has to be decoded in order. */
void cip_frames_sequential(cip_frames *f);
/* Hands over what was found, or with `st` drops it; returns st. */
cip_status cip_frames_end(cip_frames *f, cip_status st, cip_frame_pieces *out);

#endif
