/* SPDX-License-Identifier: BSD-3-Clause
 * What the scans of frames share. Headers may lie 3 bytes apart, so they are read through a small
 * window: the cost of a scan is bounded by the run's bytes. */
#include "codec/frames_read.h"

#include "base/endian.h"
#include "base/num.h"

cip_status cip_frames_skip(cip_frames *f, uint64_t n, cip_err *err)
{
    if (n > f->run.len - f->at)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes at %" PRIu64
                        " of the compressed data, found %" PRIu64,
                        n, f->at, f->run.len - f->at);
    f->at += n;
    return CIP_OK;
}

cip_status cip_frames_get(cip_frames *f, size_t n, const uint8_t **out, cip_err *err)
{
    uint64_t from = f->at;
    CIP_TRY(cip_frames_skip(f, n, err));
    if (from < f->window_at || f->at > f->window_at + f->window_len) {
        size_t want = (size_t)cip_min_u64(CIP_FRAMES_WINDOW, f->run.len - from);
        f->window_len = 0;
        CIP_TRY(f->run.read(f->run.user, from, want, f->window, err));
        f->window_at = from;
        f->window_len = want;
    }
    *out = f->window + (from - f->window_at);
    return CIP_OK;
}

cip_status cip_frames_next(cip_frames *f, uint32_t magic, bool *more, cip_err *err)
{
    const bool any = f->any;
    *more = false;
    while (f->at < f->run.len) {
        const uint8_t *p;
        if (any && f->run.len - f->at < 4)
            return CIP_OK;
        CIP_TRY(cip_frames_get(f, 4, &p, err));
        uint32_t found = cip_load_u32(p, false);
        if (found == magic) {
            *more = f->any = true;
            return CIP_OK;
        }
        const bool skips = (found & ~UINT32_C(15)) == CIP_SKIPPABLE_MAGIC;
        if (!skips && any)
            return CIP_OK;
        if (!skips)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a frame's magic %08" PRIx32 " at %" PRIu64
                            " of the compressed data, found %08" PRIx32,
                            magic, f->at - 4, found);
        CIP_TRY(cip_frames_get(f, 4, &p, err));
        CIP_TRY(cip_frames_skip(f, cip_load_u32(p, false), err));
    }
    return CIP_OK;
}

cip_status cip_frames_add(cip_frames *f, cip_frame_piece piece, cip_err *err)
{
    cip_frame_pieces *found = &f->found;
    if (found->n >= f->run.max_pieces)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " compressed pieces, found more",
                        f->run.max_pieces);
    CIP_TRY(CIP_ROOM(f->mem, &found->piece, found->n, &f->room, err));
    found->piece[found->n++] = piece;
    return CIP_OK;
}

void cip_frames_sequential(cip_frames *f)
{
    cip_mem_put(f->mem, f->found.piece);
    f->found = (cip_frame_pieces){ .sequential = true };
}

cip_status cip_frames_end(cip_frames *f, cip_status st, cip_frame_pieces *out)
{
    if (st == CIP_OK)
        *out = f->found;
    else
        cip_mem_put(f->mem, f->found.piece);
    return st;
}
