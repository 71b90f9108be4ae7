/* SPDX-License-Identifier: BSD-3-Clause
 * One block of a chunk: its streams through the codec, then its filters undone from the last to the
 * first. The destination takes turns with one more block of memory, so that the last filter writes
 * into it. */
#include "codec/blosc/blosc_decode.h"

#include <string.h>

#include "base/num.h"
#include "codec/filter/filter.h"

enum {
    VERSION_BLOSC1 = 2,
    BLOSC1_MAX_SPLITS = 16,
    BLOSC1_MIN_SPLIT = 128, /* bytes of a stream, in blocks that are not the last */
    RUN_MAX = 255,
    TOKEN_RUN = 1
};

/* Whether slot i changes anything. */
static bool slot_acts(const cip_blosc_head *h, int i)
{
    uint32_t width = h->filter_meta[i] != 0 ? h->filter_meta[i] : h->typesize;
    switch (h->filter[i]) {
    case CIP_BLOSC_NOFILTER:
    case CIP_BLOSC_TRUNC_PREC:
    case CIP_BLOSC_INT_TRUNC:
        return false;
    case CIP_BLOSC_SHUFFLE:
        return width > 1;
    default:
        return true;
    }
}

bool cip_blosc_has_delta(const cip_blosc_head *h)
{
    bool has = false;
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++)
        has = has || h->filter[i] == CIP_BLOSC_DELTA;
    return has && !h->vl;
}

/* --- streams --------------------------------------------------------------------------------- */

/* Bytes [from, to) of each stream are looked at: of one that is stored as it is, or is one byte
 * repeated, no others are made. */
typedef struct looked_at {
    size_t from, to;
} looked_at;

/* A stream of one byte repeated: `size` is that byte with its sign turned, or 0. */
static cip_status run_stream(const cip_blosc_head *h, int64_t size, cip_cursor *c, uint8_t *dst,
                             size_t n, cip_err *err)
{
    if (h->version <= VERSION_BLOSC1 || size < -RUN_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected the size of a Blosc stream, found %" PRId64, size);
    if (size < 0) {
        uint8_t token = cip_get_u8(c);
        if (c->bad || token != TOKEN_RUN)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a run of equal bytes in a Blosc stream, found token %d",
                            token);
    }
    memset(dst, (int)-size, n);
    return CIP_OK;
}

static cip_status streams(cip_blosc_blocks *b, cip_bytes stored, uint32_t nstream,
                          const looked_at *some, uint8_t *dst, size_t n, cip_err *err)
{
    cip_cursor c = cip_cursor_le(stored);
    size_t each = n / nstream;
    const looked_at at = some != NULL ? *some : (looked_at){ 0, each };
    if (n % nstream != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a Blosc block of a multiple of %" PRIu32 " bytes, found %zu",
                        nstream, n);
    for (uint32_t k = 0; k < nstream; k++, dst += each) {
        int64_t size = (int32_t)cip_get_u32(&c);
        if (!c.bad && size <= 0) {
            CIP_TRY(run_stream(b->h, size, &c, dst + at.from, at.to - at.from, err));
            continue;
        }
        cip_bytes in = cip_get_bytes(&c, (size_t)size);
        if (c.bad)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a Blosc stream of %" PRId64
                            " bytes, found %zu left in its block",
                            size, cip_cursor_left(&c));
        if (in.len == each)
            memcpy(dst + at.from, in.ptr + at.from, at.to - at.from);
        else
            CIP_TRY(b->lib.decode(&b->lib, in, dst, each, err));
    }
    return CIP_OK;
}

/* --- blocks of variable length --------------------------------------------------------------- */

cip_status cip_blosc_vl_len(cip_bytes stored, uint64_t left, size_t *n, cip_err *err)
{
    cip_cursor c = cip_cursor_le(stored);
    int64_t size = (int32_t)cip_get_u32(&c);
    if (c.bad || size < 0 || (uint64_t)size > left)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a Blosc block of at most %" PRIu64 " bytes, found %" PRId64, left,
                        size);
    *n = (size_t)size;
    return CIP_OK;
}

/* --- filters --------------------------------------------------------------------------------- */

/* Where filters take turns with the destination: what the caller has at hand, or of our own. */
static cip_status take_room(cip_blosc_blocks *b, size_t n, uint8_t **out, cip_err *err)
{
    void *room = b->room;
    *out = b->env->room;
    if (n <= b->env->room_len)
        return CIP_OK;
    if (n > b->room_len) {
        CIP_TRY(cip_mem_resize(b->env->mem, &room, n, err));
        b->room = room;
        b->room_len = n;
    }
    *out = b->room;
    return CIP_OK;
}

/* The slots that change anything, the last one first. Returns how many. */
static int acting_slots(const cip_blosc_head *h, int slot[CIP_BLOSC_FILTERS])
{
    int n = 0;
    for (int i = CIP_BLOSC_FILTERS - 1; i >= 0; i--)
        if (slot_acts(h, i))
            slot[n++] = i;
    return n;
}

/* All streams of a block, filtered as it is; `some`: where they are planes of bytes, or NULL. */
static cip_status decode_streams(cip_blosc_blocks *b, cip_bytes stored, const looked_at *some,
                                 uint8_t *dst, size_t n, cip_err *err)
{
    const cip_blosc_head *h = b->h;
    bool split = h->split && n == h->blocksize; /* the last, shorter block never is */
    /* Blosc1 before 1.11 never said that it does not split: it went by the sizes. From 1.11 on it
     * can be told to split against them. */
    const bool doubtful =
        split && h->version <= VERSION_BLOSC1 &&
        (h->typesize > BLOSC1_MAX_SPLITS || h->blocksize / h->typesize < BLOSC1_MIN_SPLIT);
    if (h->vl) {
        cip_bytes in = { stored.ptr + 4, stored.len - 4 };
        if (in.len != n)
            return b->lib.decode(&b->lib, in, dst, n, err);
        if (n != 0)
            memcpy(dst, in.ptr, n);
        return CIP_OK;
    }
    if (doubtful) {
        cip_err found = CIP_ERR_INIT;
        cip_status st = streams(b, stored, 1, NULL, dst, n, &found);
        if (st == CIP_OK || streams(b, stored, h->typesize, NULL, dst, n, NULL) == CIP_OK)
            return CIP_OK;
        cip_err_pass(err, &found);
        return st;
    }
    return streams(b, stored, split ? h->typesize : 1, split ? some : NULL, dst, n, err);
}

cip_status cip_blosc_block_decode(cip_blosc_blocks *b, const cip_blosc_block *block, uint8_t *dst,
                                  size_t n, cip_err *err)
{
    const cip_blosc_head *h = b->h;
    int slot[CIP_BLOSC_FILTERS], nslot = acting_slots(h, slot);
    uint8_t *room = NULL;
    if (nslot != 0)
        CIP_TRY(take_room(b, n, &room, err));
    uint8_t *from = nslot % 2 != 0 ? room : dst, *to = nslot % 2 != 0 ? dst : room;
    CIP_TRY(decode_streams(b, block->stored, NULL, from, n, err));
    for (int k = 0; k < nslot; k++) {
        const cip_filter_env env = { .typesize = h->typesize,
                                     .super_typesize = b->env->typesize,
                                     .version = h->version,
                                     .meta = h->filter_meta[slot[k]],
                                     .block = block->number,
                                     .first = block->first,
                                     .ndim = b->env->ndim,
                                     .shape = b->env->block };
        uint8_t *swap = from;
        CIP_TRY(cip_filter_undo(h->filter[slot[k]], &env, from, to, n, err));
        from = to;
        to = swap;
    }
    return CIP_OK;
}

/* What of a want lies in the block, as it counts from there. */
static cip_want cut(const cip_want *want, const cip_blosc_block *at)
{
    uint64_t lo = cip_max_u64(want->off, at->off);
    uint64_t hi = cip_min_u64(want->off + want->len, at->off + at->len);
    return lo < hi ? (cip_want){ lo - at->off, (size_t)(hi - lo), want->dst + (lo - want->off) }
                   : (cip_want){ 0, 0, NULL };
}

cip_status cip_blosc_block_part(cip_blosc_blocks *b, const cip_blosc_block *block,
                                const cip_wants *w, bool *done, cip_err *err)
{
    enum { EACH = 64 }; /* bytes of a whole block that are put in order while a piece is begun */
    const cip_blosc_head *h = b->h;
    const size_t n = block->len;
    int slot[CIP_BLOSC_FILTERS];
    uint64_t work = 0, from = n, to = 0;
    uint8_t *room;
    for (size_t i = 0; i < w->n; i++) {
        const cip_want part = cut(&w->at[i], block);
        if (part.len == 0)
            continue;
        work += part.len + EACH;
        from = cip_min_u64(from, part.off);
        to = cip_max_u64(to, part.off + part.len);
    }
    *done = work != 0 && work < n / 2 && acting_slots(h, slot) == 1 &&
            h->filter[slot[0]] == CIP_BLOSC_SHUFFLE;
    if (!*done)
        return CIP_OK;
    size_t width = h->filter_meta[slot[0]] != 0 ? h->filter_meta[slot[0]] : h->typesize;
    const looked_at planes = { (size_t)from / width, (size_t)cip_div_up(to, width) };
    CIP_TRY(take_room(b, n, &room, err));
    CIP_TRY(decode_streams(b, block->stored, width == h->typesize ? &planes : NULL, room, n, err));
    for (size_t i = 0; i < w->n; i++) {
        const cip_want part = cut(&w->at[i], block);
        if (part.len != 0)
            cip_unshuffle_part(width, room, n, (size_t)part.off, part.dst, part.len);
    }
    return CIP_OK;
}
