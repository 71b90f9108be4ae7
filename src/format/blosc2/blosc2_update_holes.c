/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes of a frame that nothing of it names: what chunks, indices and trailers of earlier states
 * left. Only heads of chunks say where they end, so there is a limit to how many an update reads:
 * of a frame of more chunks those of a window of them, in the order in which they lie, another one
 * whenever the frame got longer. Chunks in front of the window may reach into it as far as readers
 * would believe their heads; no byte that any chunk might have is taken for free. */
#include "base/num.h"
#include "format/blosc2/blosc2_update.h"
#include "space/read/window.h"

enum {
    WINDOW = 1024,
    AHEAD = 4096,   /* of small chunks many heads are read at once, from the first one on */
    STORED_MAX = 16 /* as blosc2_index.c has it: times its decoded bytes a chunk may take */
};

static cip_status add_hole(cip_b2_holes *h, uint64_t at, uint64_t end, cip_err *err)
{
    if (at >= end)
        return CIP_OK;
    CIP_TRY(CIP_ROOM(h->mem, &h->hole, h->n, &h->cap, err));
    h->hole[h->n++] = (cip_b2_hole){ at, end };
    return CIP_OK;
}

/* Gaps between the chunks [from, from + WINDOW) of the list, and what lies in front of the first.
 */
static cip_status look(cip_b2_state *u, const uint64_t *at, size_t n, size_t from, cip_b2_holes *h,
                       cip_err *err)
{
    const cip_b2_index *x = &u->f->index;
    const uint64_t section = x->at - u->f->h.header_len;
    const uint64_t most = STORED_MAX * u->f->h.chunksize + 128;
    uint64_t end = from == 0 ? 0 : at[from - 1] + most;
    const size_t to = n - from < WINDOW ? n : from + WINDOW;
    cip_window heads = { .layout = u->l, .in = x->in };
    if (to - from > 1 && at[from + 1] - at[from] < AHEAD)
        heads.last = x->base + u->f->h.header_len + at[from]; /* so that its read is of many */
    cip_status st = CIP_OK;
    for (size_t i = from; i < to && st == CIP_OK; i++) {
        const uint64_t begin = x->base + u->f->h.header_len + at[i], left = x->base + x->at - begin;
        cip_blosc_head head;
        cip_bytes in;
        st = add_hole(h, end, at[i], err);
        if (st == CIP_OK)
            st = cip_window_next(&heads, begin, (size_t)cip_min_u64(CIP_BLOSC_HEADER, left), &in,
                                 err);
        if (st == CIP_OK) { /* readers believe no more than `most` */
            const bool read = cip_blosc_head_parse(in, &head, NULL) == CIP_OK;
            end = cip_max_u64(end, at[i] + (read ? head.cbytes : most));
        }
    }
    cip_window_clear(&heads);
    h->chunks_end = to == n ? cip_min_u64(end, section) : section;
    return st == CIP_OK && to == n ? add_hole(h, end, section, err) : st;
}

cip_status cip_b2_holes_find(cip_b2_state *u, cip_b2_holes *h, cip_err *err)
{
    cip_b2_index *x = (cip_b2_index *)&u->f->index;
    const cip_b2_header *f = &u->f->h;
    cip_buf at = { .mem = h->mem };
    if (x->n == 0 || u->alone == NULL || !u->alone(u->alone_user))
        return CIP_OK;
    cip_status st = cip_b2_index_offsets(x, &at, err);
    const size_t n = at.len / sizeof(uint64_t);
    /* The first chunk that is looked at; every second window is the last one, behind which the
     * index may find room. */
    const uint64_t mixed = (f->frame_len * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    size_t from = 0;
    if (n > WINDOW)
        from = mixed % 2 == 0 ? n - WINDOW : (size_t)(mixed / 2 % (n - WINDOW + 1));
    if (st == CIP_OK)
        st = look(u, (const uint64_t *)(const void *)at.ptr, n, from, h, err);
    cip_buf_clear(&at);
    return st == CIP_OK ? add_hole(h, x->at + x->len - f->header_len,
                                   f->frame_len - u->f->trailer.len - f->header_len, err)
                        : st;
}

bool cip_b2_holes_take(cip_b2_holes *h, uint64_t from, uint64_t len, uint64_t *at)
{
    for (size_t i = 0; i < h->n; i++) {
        cip_b2_hole *hole = &h->hole[i];
        const uint64_t start = cip_max_u64(hole->at, from);
        if (start < hole->end && len <= hole->end - start) {
            *at = start;
            hole->at = start + len;
            return true;
        }
    }
    return false;
}

void cip_b2_holes_clear(cip_b2_holes *h)
{
    cip_mem_put(h->mem, h->hole);
}
