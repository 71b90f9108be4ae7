/* SPDX-License-Identifier: BSD-3-Clause
 * A batch of pieces: stored bytes are read until they hold enough places where pieces may begin,
 * the pieces between them are decoded on the pool, and the results are used in
 * order, up to the first piece that failed to decode. Data that do not split (places that are
 * false, pieces that grow far) are tried less and less often. */
#include "space/sequential/seq_parallel.h"

#include <string.h>

enum {
    PIECES = 32,
    PIECES_PER_THREAD = 2, /* so that a slow one keeps no other thread waiting */
    PAUSE_MAX = 64,
    SMALL = 16 << 10 /* raw bytes: a piece of fewer is as soon decoded in order */
};

struct cip_ahead {
    cip_mem *mem;
    const cip_split_codec *split;
    bool at_checkpoint; /* the decoder stands, or goes on, where the last checkpoint is */
    /* Where the pieces began, each in front of its piece; the last one behind them all. */
    cip_checkpoint checkpoint[PIECES + 1];
    uint8_t window[PIECES + 1][CIP_SPLIT_WINDOW];
    uint64_t raw_each;    /* raw bytes of a piece, about */
    size_t max, most;     /* pieces in a batch: ever; as went well before, and more */
    unsigned skip, pause; /* checkpoints to let pass; after the next failure */
    size_t n, now, used;  /* pieces; the one that is handed on, and how much of it was */
    struct {
        cip_pooled room;
        size_t len;
        bool good;
    } piece[PIECES];
};

/* Pieces at once, 0 for none. */
static size_t most_pieces(const cip_rd *rd, const cip_stream_codec *codec)
{
    size_t n = PIECES_PER_THREAD * (size_t)cip_pool_threads(rd->pool);
    if (codec == NULL || codec->split == NULL || n == PIECES_PER_THREAD)
        return 0;
    return n < PIECES ? n : PIECES;
}

uint64_t cip_ahead_nbytes(const cip_rd *rd, const cip_stream_codec *codec)
{
    size_t n = most_pieces(rd, codec);
    return n == 0 ? 0 : n * codec->split->raw_usual;
}

cip_status cip_ahead_new(const cip_rd *rd, const cip_stream_codec *codec, cip_ahead **out,
                         cip_err *err)
{
    *out = NULL;
    size_t max = most_pieces(rd, codec);
    if (max == 0)
        return CIP_OK;
    CIP_TRY(CIP_NEW(&rd->env->mem, out, 1, err));
    (*out)->mem = &rd->env->mem;
    (*out)->split = codec->split;
    (*out)->raw_each = codec->split->raw_usual;
    (*out)->max = (*out)->most = max;
    (*out)->pause = 1;
    return CIP_OK;
}

void cip_ahead_free(cip_ahead *a)
{
    if (a == NULL)
        return;
    for (; a->now < a->n; a->now++)
        cip_mem_put(a->mem, a->piece[a->now].room.ptr);
    cip_mem_put(a->mem, a);
}

void cip_ahead_take(const cip_rd *rd, cip_ahead *a, uint8_t *dst, uint64_t *n)
{
    uint64_t want = *n;
    for (*n = 0; *n < want && a->now < a->n;) {
        size_t left = a->piece[a->now].len - a->used, k = (size_t)cip_min_u64(want - *n, left);
        if (dst != NULL && k != 0)
            memcpy(dst + *n, a->piece[a->now].room.ptr + a->used, k);
        *n += k;
        a->used += k;
        if (k == left) {
            cip_buffer_pool_give(rd->buffers, &a->piece[a->now++].room);
            a->used = 0;
        }
    }
}

bool cip_ahead_wants_checkpoint(const cip_ahead *a, uint64_t n)
{
    return a != NULL && n > a->raw_each;
}

static void set_first(cip_ahead *a, const cip_checkpoint *checkpoint)
{
    if (checkpoint->window_len != 0)
        memmove(a->window[0], checkpoint->window, checkpoint->window_len);
    a->checkpoint[0] = *checkpoint;
    a->checkpoint[0].window = a->window[0];
}

void cip_ahead_at_checkpoint(cip_ahead *a, const cip_checkpoint *checkpoint)
{
    if (a->now < a->n) /* what is left lies behind it */
        return;
    a->at_checkpoint = a->skip == 0 && checkpoint->window_len <= CIP_SPLIT_WINDOW;
    if (a->skip != 0)
        a->skip--;
    if (!a->at_checkpoint)
        return;
    a->n = a->now = 0;
    set_first(a, checkpoint);
}

const cip_checkpoint *cip_ahead_checkpoint(const cip_ahead *a, size_t i)
{
    return i <= a->n ? &a->checkpoint[a->n - i] : NULL;
}

/* --- a batch ---------------------------------------------------------------------------------- */

typedef struct batch {
    cip_ahead *a;
    cip_pooled room; /* of the stored bytes */
    cip_bytes in;
    size_t n; /* pieces: between places */
    uint64_t place[PIECES + 1];
} batch;

/* Stored bytes from the checkpoint on, until there are places enough; b->n 0: none, or not to be
 * read. */
static void fetch(const cip_rd *rd, const cip_extent *at, size_t pieces, batch *b)
{
    const cip_checkpoint *m = &b->a->checkpoint[0];
    uint64_t off = m->in_bits / 8, from = m->in_bits % 8;
    size_t cap = (size_t)cip_min_u64(pieces * b->a->split->in_usual, at->len - off), nplace = 0;
    if (cip_buffer_pool_take(rd->buffers, cap, &b->room, NULL) != CIP_OK)
        return;
    while (b->in.len < cap && nplace <= pieces) {
        size_t more = (size_t)cip_min_u64(cap - b->in.len, rd->tune->seq_in);
        if (cip_rd_at(rd, at->in, at->off + off + b->in.len, b->room.ptr + b->in.len, more, NULL) !=
            CIP_OK)
            break;
        b->in = (cip_bytes){ b->room.ptr, b->in.len + more };
        nplace += b->a->split->find(b->in, &from, b->place + nplace, pieces + 1 - nplace);
    }
    if (nplace > 1 && b->place[0] == m->in_bits % 8)
        b->n = nplace - 1;
}

static cip_status decode_one(void *arg, size_t i, cip_err *err)
{
    batch *b = arg;
    cip_ahead *a = b->a;
    cip_split_piece p = { b->in, b->place[i], b->place[i + 1] };
    a->piece[i].len = a->piece[i].room.cap;
    a->piece[i].good =
        a->split->decode(a->mem, &a->checkpoint[0], &p, a->piece[i].room.ptr, &a->piece[i].len);
    (void)err;
    return CIP_OK;
}

/* Keeps the good ones at the front. */
static void keep_good(const cip_rd *rd, batch *b)
{
    cip_ahead *a = b->a;
    while (a->n < b->n && a->piece[a->n].good) {
        cip_split_piece p = { b->in, b->place[a->n], b->place[a->n + 1] };
        a->checkpoint[a->n + 1] = a->checkpoint[a->n];
        a->split->pass(&a->checkpoint[a->n + 1], &p, a->piece[a->n].len, a->window[a->n + 1]);
        a->n++;
    }
    for (size_t i = a->n; i < b->n; i++)
        cip_buffer_pool_give(rd->buffers, &a->piece[i].room);
    if (a->n != 0)
        a->raw_each = cip_max_u64((a->checkpoint[a->n].raw - a->checkpoint[0].raw) / a->n, 1);
}

/* Where a piece was none the decoder goes on, up to the next checkpoint; where all are, or they are
 * not worth it, up to later ones. */
static void learn(cip_ahead *a, size_t tried)
{
    bool worth = a->n != 0 && a->raw_each >= SMALL;
    a->at_checkpoint = worth && a->n == tried;
    if (a->at_checkpoint)
        a->most = cip_min_u64(2 * a->most, a->max);
    else
        a->most = cip_max_u64(a->n, 2);
    if (!worth)
        a->raw_each = a->split->raw_usual;
    a->skip = worth ? 0 : a->pause - 1;
    a->pause = worth ? 1 : 2 * a->pause < PAUSE_MAX ? 2 * a->pause : PAUSE_MAX;
}

bool cip_ahead_run(const cip_rd *rd, cip_ahead *a, const cip_extent *at, uint64_t raw, uint64_t n)
{
    size_t pieces = (size_t)cip_min_u64(a->most, cip_div_up(n, a->raw_each));
    const cip_checkpoint *from = &a->checkpoint[a->n];
    if (pieces < 2 || a->now < a->n || !a->at_checkpoint || from->raw != raw ||
        from->in_bits / 8 >= at->len)
        return false;
    set_first(a, from);
    batch b = { .a = a };
    a->n = a->now = a->used = 0;
    fetch(rd, at, pieces, &b);
    const size_t all = b.n;
    for (b.n = 0; b.n < all; b.n++)
        if (cip_buffer_pool_take(rd->buffers, a->split->raw_most, &a->piece[b.n].room, NULL) !=
            CIP_OK)
            break;
    cip_pool_run(rd->pool, b.n, decode_one, &b, NULL); /* no job fails */
    keep_good(rd, &b);
    cip_buffer_pool_give(rd->buffers, &b.room);
    learn(a, b.n);
    return a->n != 0;
}
