/* SPDX-License-Identifier: BSD-3-Clause
 * Neighbouring chunks of a far file: their heads come in one request, and what these say is needed
 * of each chunk in another, instead of two for each chunk. */
#include <stdlib.h>

#include "space/read/far.h"
#include "space/read/grid.h"
#include "space/read/reader.h"

/* The place of an extent's first bytes in the far file of `l`; len 0: not there. */
static cip_need head_of(const cip_layout *l, cip_extent at, uint64_t len)
{
    uint64_t off = at.off;
    cip_space *in = at.in;
    len = cip_min_u64(len, at.len);
    if (in == NULL || !cip_space_follow(&in, &off, len, false) || in->kind != CIP_SPACE_FILE ||
        in->io != l->io)
        return (cip_need){ 0, 0 };
    return (cip_need){ off, len };
}

/* need[] of the layout's file. */
static void expect(const cip_layout *l, cip_need *need, size_t n)
{
    for (size_t i = 0; i < n; i++)
        need[i].off += l->far_off;
    cip_far_expect(l->far, need, n);
}

void cip_extent_expect(const cip_extent *at)
{
    cip_layout *l = at->in->layout;
    cip_need need = l->far != NULL ? head_of(l, *at, at->len) : (cip_need){ 0, 0 };
    if (need.len != 0)
        expect(l, &need, 1);
}

void cip_space_expect(cip_space *s)
{
    cip_extent_expect(&(cip_extent){ .in = s, .len = s->len });
}

void cip_space_expect_at(cip_space *s, const uint64_t *off, size_t n, uint64_t len)
{
    cip_need need[CIP_FAR_RANGES];
    size_t m = 0;
    for (size_t i = 0; s->layout->far != NULL && i < n && m < CIP_FAR_RANGES; i++) {
        need[m] = head_of(s->layout, (cip_extent){ .in = s, .off = off[i], .len = len }, len);
        m += need[m].len != 0;
    }
    if (m != 0)
        expect(s->layout, need, m);
}

/* Of chunks in files of their own, these files. */
static void expect_members(cip_space *s, const cip_chunk_wish *w, size_t n)
{
    uint64_t member[CIP_FAR_RANGES];
    size_t m = 0;
    cip_io *io = NULL;
    for (size_t i = 0; i < n && m < CIP_FAR_RANGES && s->table.place != NULL; i++) {
        cip_extent at = { .in = NULL };
        s->table.place(s->table.self, w[i].i, &at);
        cip_space *in = at.in;
        if (in == NULL || !cip_space_follow(&in, &at.off, 1, false) || in->kind != CIP_SPACE_FILE)
            continue;
        if (io != NULL && io != in->io)
            continue;
        io = in->io;
        member[m++] = at.off >> CIP_IO_NUMBER_SHIFT;
    }
    if (m != 0)
        cip_io_numbered_expect(io, member, m);
}

/* How much of a chunk of which most is wanted comes along with its head: up to the next one's, that
 * lies behind it before long; of the last one as much as of the longest. need[] is by offset. */
static void widen_heads(const cip_layout *l, cip_need *need, size_t n, uint64_t gap)
{
    uint64_t longest = 0;
    for (size_t i = 0; i + 1 < n; i++)
        if (need[i + 1].off > need[i].off + need[i].len &&
            need[i + 1].off - need[i].off - need[i].len <= gap) {
            need[i].len = need[i + 1].off - need[i].off;
            longest = cip_max_u64(longest, need[i].len);
        }
    if (longest != 0)
        need[n - 1].len = cip_max_u64(
            need[n - 1].len,
            cip_min_u64(longest, cip_bytes_left(l->io->size, l->far_off + need[n - 1].off)));
}

static int by_offset(const void *x, const void *y)
{
    const cip_need *a = x, *b = y;
    return (a->off > b->off) - (a->off < b->off);
}

/* One request for the heads. */
static void expect_heads(cip_space *s, const cip_chunk_wish *w, size_t n)
{
    cip_need need[CIP_FAR_RANGES];
    size_t m = 0, most = 0;
    const cip_codec *codec = s->nstep == 1 ? s->step[0].codec : NULL;
    if (codec == NULL || codec->needs == NULL)
        return;
    for (size_t i = 0; i < n && m < CIP_FAR_RANGES; i++) {
        cip_chunk c = { .run = 0 };
        if (s->table.place != NULL)
            s->table.place(s->table.self, w[i].i, &c.at);
        else if (cip_chunk_entry(s, w[i].i, w[i].raw_len, NULL, &c, NULL) != CIP_OK)
            continue;
        need[m] = head_of(s->layout, c.at, codec->head_len);
        m += need[m].len != 0;
        most += w[i].raw_len != 0 && w[i].ask.nbytes >= w[i].raw_len / 2;
    }
    if (most == n) {
        qsort(need, m, sizeof *need, by_offset);
        widen_heads(s->layout, need, m, s->layout->tuning->far_whole);
    }
    expect(s->layout, need, m);
}

void cip_chunks_expect(const cip_rd *rd, cip_space *s, const cip_chunk_wish *w, size_t n)
{
    cip_need need[CIP_FAR_RANGES];
    size_t m = 0;
    expect_members(s, w, n);
    if (n < 2) /* a chunk alone asks for no more than these two */
        return;
    expect_heads(s, w, n);
    for (size_t i = 0; i < n; i++) {
        cip_chunk c;
        cip_pinned kept = { 0 };
        bool far = cip_chunk_entry(s, w[i].i, w[i].raw_len, NULL, &c, NULL) == CIP_OK &&
                   c.state == CIP_CHUNK_DATA && head_of(s->layout, c.at, 1).len != 0;
        if (far && !cip_chunk_hold_cached(rd, s, w[i].i, &c, &kept))
            m += cip_chunk_needs(rd, s, &w[i], &c, need + m, CIP_FAR_RANGES - m);
        cip_pinned_drop(rd, &kept);
    }
    expect(s->layout, need, m);
}
