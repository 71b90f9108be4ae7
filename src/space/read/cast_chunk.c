/* SPDX-License-Identifier: BSD-3-Clause
 * The elements of one chunk: decoded straight to where they go when that is all there is to do,
 * otherwise cast from the decoded chunk, or from just the pieces of it that are touched. */
#include "space/read/reader.h"

enum { FEW_PIECES = 32 };

static uint64_t wanted(const cip_chunk_part *p)
{
    return (p->e1 - p->e0) * p->w->itemsize;
}

static void cast_all(cip_gather *g, const cip_chunk_part *p, cip_walk_src how, const uint8_t *src)
{
    cip_gather_cast(
        g, p->w,
        (cip_walk_cast_args){ .e0 = p->e0, .e1 = p->e1, .how = how, .src = src, .base = p->base });
}

/* --- special chunks -------------------------------------------------------------------------- */

/* The pattern's bytes from `off` on. */
static void copy_phase(cip_bytes pattern, uint64_t off, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = pattern.ptr[(off + i) % pattern.len];
}

/* The elements one behind the other, a few at a time, where they differ. */
static void cast_phases(cip_gather *g, const cip_chunk_part *p, cip_bytes pattern, uint8_t *room,
                        uint64_t fit)
{
    cip_walk_at at;
    size_t n = (size_t)p->w->itemsize;
    cip_walk_seek(p->w, p->e0, &at);
    for (cip_chunk_part q = *p; q.e0 < p->e1; q.e0 = q.e1) {
        q.e1 = cip_min_u64(p->e1, q.e0 + fit);
        while (at.e < q.e1) {
            copy_phase(pattern, at.off - p->base, room + (at.e - q.e0) * n, n);
            cip_walk_skip(&at, 1);
        }
        cast_all(g, &q, CIP_SRC_PACKED, room);
    }
}

static cip_status cast_pattern(cip_gather *g, const cip_chunk_part *p, cip_bytes pattern,
                               cip_err *err)
{
    cip_pooled room;
    size_t n = (size_t)p->w->itemsize;
    CIP_TRY(cip_buffer_pool_take(g->rd.buffers, n, &room, err));
    bool same = true; /* all elements hold the same bytes of the pattern */
    for (int32_t k = 0; k < p->w->nouter; k++)
        same = same && (uint64_t)p->w->axis[k].from % pattern.len == 0;
    if (same) {
        cip_walk_at at;
        cip_walk_seek(p->w, p->e0, &at);
        copy_phase(pattern, at.off - p->base, room.ptr, n);
        cast_all(g, p, CIP_SRC_SAME, room.ptr);
    } else {
        cast_phases(g, p, pattern, room.ptr, n == 0 ? UINT64_MAX / 2 : room.cap / n);
    }
    cip_buffer_pool_give(g->rd.buffers, &room);
    return CIP_OK;
}

/* --- straight to the destination ------------------------------------------------------------- */

/* Whether the part is all of the chunk and lies in one piece at the destination. */
static bool is_direct(const cip_gather *g, const cip_chunk_part *p)
{
    const cip_walk *w = p->w;
    cip_walk_at at;
    if (!cip_cast_in_place(g->cast) || w->nouter != w->ndim || wanted(p) != p->chunk->raw_len)
        return false;
    cip_walk_seek(w, p->e0, &at);
    if (w->nouter == 0)
        return true;
    const cip_axis *last = &w->axis[w->nouter - 1];
    return cip_walk_row(&at) >= p->e1 - p->e0 && last->from == (int64_t)w->itemsize &&
           last->to == last->from;
}

/* --- only what is touched -------------------------------------------------------------------- */

size_t cip_chunk_list_pieces(const cip_chunk_part *p, uint8_t *dst, cip_want *piece, size_t max)
{
    const cip_walk *w = p->w;
    bool runs = w->nouter != 0 && w->axis[w->nouter - 1].from == (int64_t)w->itemsize;
    cip_walk_at at;
    size_t n = 0;
    cip_walk_seek(w, p->e0, &at);
    while (at.e < p->e1) {
        uint64_t count = runs ? cip_min_u64(cip_walk_row(&at), p->e1 - at.e) : 1;
        if (n == max)
            return 0;
        piece[n++] = (cip_want){ at.off - p->base, (size_t)(count * w->itemsize),
                                 dst + (at.e - p->e0) * w->itemsize };
        cip_walk_skip(&at, count);
    }
    return n;
}

static cip_status cast_pieces(cip_gather *g, const cip_chunk_part *p, bool *done, cip_err *err)
{
    cip_want few[FEW_PIECES], *piece = few;
    cip_pooled list = { NULL, 0 }, room = { NULL, 0 };
    size_t most = g->rd.tune->pieces;
    cip_status st;
    CIP_GO(cip_buffer_pool_take(g->rd.buffers, (size_t)wanted(p), &room, err));
    size_t n = cip_chunk_list_pieces(p, room.ptr, few, FEW_PIECES);
    if (n == 0) {
        CIP_GO(cip_buffer_pool_take(g->rd.buffers, most * sizeof *piece, &list, err));
        piece = (cip_want *)(void *)list.ptr;
        n = cip_chunk_list_pieces(p, room.ptr, piece, most);
    }
    if (n != 0) {
        const cip_chunk_wish wish = cip_chunk_wish_of(p->i, p->chunk->raw_len, piece, n);
        CIP_GO(cip_chunk_pieces(&g->rd, g->s, p->chunk, &wish, err));
        cast_all(g, p, CIP_SRC_PACKED, room.ptr);
        *done = true;
    }
    st = CIP_OK;
done:
    cip_buffer_pool_give(g->rd.buffers, &list);
    cip_buffer_pool_give(g->rd.buffers, &room);
    return st;
}

cip_status cip_chunk_cast(cip_gather *g, const cip_chunk_part *p, cip_err *err)
{
    cip_pinned h;
    cip_bytes pattern;
    uint8_t own[8];
    const cip_chunk_ask ask = { .nbytes = wanted(p), .staged = true };
    bool done = false, part = wanted(p) < p->chunk->raw_len;
    if (p->chunk->state != CIP_CHUNK_MISSING && cip_chunk_pattern(g->s, p->chunk, &pattern, own))
        return cast_pattern(g, p, pattern, err);
    if (is_direct(g, p)) {
        cip_walk_at at;
        cip_cast_stats stats = { 0, 0 };
        cip_walk_seek(p->w, p->e0, &at);
        uint8_t *dst = g->dst + at.to_off;
        cip_want all = { .off = 0, .len = (size_t)wanted(p), .dst = dst };
        const cip_chunk_wish wish = cip_chunk_wish_of(p->i, p->chunk->raw_len, &all, 1);
        CIP_TRY(cip_chunk_pieces(&g->rd, g->s, p->chunk, &wish, err));
        int64_t stride = (int64_t)p->w->itemsize;
        if (!cip_cast_is_copy(g->cast))
            cip_cast_run(g->cast, (size_t)(p->e1 - p->e0), dst, stride, dst, stride, 0, &stats);
        return CIP_OK;
    }
    if (p->w->nested && p->chunk->state == CIP_CHUNK_DATA &&
        cip_chunk_way_of(&g->rd, g->s, p->chunk, &ask) != CIP_WAY_WHOLE)
        CIP_TRY(cast_pieces(g, p, &done, err));
    if (done)
        return CIP_OK;
    CIP_TRY(cip_chunk_pin(&g->rd, g->s, p->i, p->chunk, part, &h, err));
    cast_all(g, p, CIP_SRC_PLACED, h.ptr);
    cip_pinned_drop(&g->rd, &h);
    return CIP_OK;
}
