/* SPDX-License-Identifier: BSD-3-Clause
 * One chunk: its entry checked, and pieces of it by the cheapest way. In order: from the cache;
 * straight into the caller's memory when all of it is wanted in one piece; only the inner blocks
 * that are touched, where the codec can; in order with an early stop when it is too large to keep;
 * whole, and kept for the next who asks. */
#include <string.h>

#include "base/endian.h"
#include "space/reader.h"

enum { NEEDS = 256, UNIT_HEAD = 64 };

cip_status cip_chunk_fail_in(cip_err *err, cip_status st, const cip_space *s, uint64_t i)
{
    if (s->kind == CIP_SPACE_SEQ) /* it is no chunk to those who look at the file */
        return st;
    if (s->label != NULL)
        return cip_fail_in(err, st, "%s, chunk %" PRIu64, s->label, i);
    return cip_fail_in(err, st, "chunk %" PRIu64, i);
}

static cip_status check_chunk(const cip_space *s, uint64_t raw_len, cip_chunk *c, cip_err *err)
{
    if (c->run == 0 || c->state == CIP_CHUNK_DATA)
        c->run = 1;
    if (c->state > CIP_CHUNK_MISSING || (c->state == CIP_CHUNK_VALUE && c->value_len == 0))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "a chunk in state %d", (int)c->state);
    if (c->state == CIP_CHUNK_NAN && s->codec_env.typesize != 4 && s->codec_env.typesize != 8)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "NaNs in elements of %" PRIu64 " bytes", s->codec_env.typesize);
    if (s->kind == CIP_SPACE_GRID) {
        c->raw_off = 0;
        if (c->raw_len == 0)
            c->raw_len = raw_len;
        if (c->raw_len != raw_len)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a chunk of %" PRIu64 " bytes, found %" PRIu64, raw_len,
                            c->raw_len);
    } else if (c->raw_len == 0 || c->raw_off > s->len || c->raw_len > s->len - c->raw_off) {
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a chunk within %" PRIu64 " bytes, found %" PRIu64
                        " bytes at %" PRIu64,
                        s->len, c->raw_len, c->raw_off);
    }
    return CIP_OK;
}

cip_status cip_chunk_entry(cip_space *s, uint64_t i, uint64_t raw_len, cip_chunk *out, cip_err *err)
{
    memset(out, 0, sizeof *out);
    cip_status st = s->table.at(s->table.self, i, 1, out, err);
    if (st ==
        CIP_ERR_RANGE) /* the caller asked for bytes: that there are fewer chunks is the file's */
        st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "the table ends before it");
    if (st == CIP_OK)
        st = check_chunk(s, raw_len, out, err);
    return cip_chunk_fail_in(err, st, s, i);
}

/* --- special chunks -------------------------------------------------------------------------- */

bool cip_chunk_pattern(const cip_space *s, const cip_chunk *c, cip_bytes *out, uint8_t own[8])
{
    memset(own, 0, 8);
    *out = (cip_bytes){ own, 1 };
    if (c->state == CIP_CHUNK_VALUE)
        *out = (cip_bytes){ c->value, c->value_len };
    if (c->state == CIP_CHUNK_NAN && s->codec_env.typesize == 4) {
        cip_store_u32(own, UINT32_C(0x7FC00000), s->big);
        out->len = 4;
    } else if (c->state == CIP_CHUNK_NAN) {
        cip_store_u64(own, UINT64_C(0x7FF8000000000000), s->big);
        out->len = 8;
    }
    return c->state != CIP_CHUNK_DATA;
}

cip_status cip_chunk_special(const cip_space *s, const cip_chunk *c, const cip_want *piece,
                             size_t n, bool *special, cip_err *err)
{
    cip_bytes pattern;
    uint8_t own[8];
    *special = c->state != CIP_CHUNK_DATA;
    if (c->state == CIP_CHUNK_MISSING)
        return cip_fail(err, c->why != CIP_OK ? c->why : CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "%s",
                        c->lack != NULL ? c->lack : "its data are missing");
    if (cip_chunk_pattern(s, c, &pattern, own))
        for (size_t k = 0; k < n; k++)
            cip_bytes_repeat(pattern, piece[k].off, piece[k].dst, piece[k].len);
    return CIP_OK;
}

/* --- only what is needed --------------------------------------------------------------------- */

/* Sorted, checked against the stored length, overlapping ones joined. */
static cip_status tidy_needs(cip_need *need, size_t *n, uint64_t total, cip_err *err)
{
    size_t kept = 0;
    for (size_t i = 1; i < *n; i++)
        for (size_t k = i; k > 0 && need[k].off < need[k - 1].off; k--) {
            cip_need swap = need[k];
            need[k] = need[k - 1];
            need[k - 1] = swap;
        }
    for (size_t i = 0; i < *n; i++) {
        if (need[i].off > total || need[i].len > total - need[i].off)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a block within %" PRIu64 " stored bytes, found %" PRIu64
                            " bytes at %" PRIu64,
                            total, need[i].len, need[i].off);
        cip_need *last = kept != 0 ? &need[kept - 1] : NULL;
        uint64_t end = need[i].off + need[i].len;
        if (last != NULL && need[i].off < last->off + last->len)
            last->len = cip_max_u64(last->off + last->len, end) - last->off;
        else
            need[kept++] = need[i];
    }
    *n = kept;
    return CIP_OK;
}

/* What a codec is asked and what it answers. */
typedef struct asked {
    const cip_want *piece;
    size_t n;
    size_t head; /* stored bytes that it is shown */
    cip_need *need;
    size_t nneed;
} asked;

static cip_status ask_with_head(const cip_rd *rd, const cip_space *s, const cip_step *step,
                                const cip_chunk *c, asked *a, cip_err *err)
{
    cip_codec_env env = cip_rd_codec_env(rd, s);
    cip_pooled room;
    a->nneed = 0;
    CIP_TRY(cip_buffer_pool_take(rd->buffers, a->head, &room, err));
    cip_status st = cip_rd_at(rd, c->at.in, c->at.off, room.ptr, a->head, err);
    if (st == CIP_OK)
        st = step->codec->plan(step->args, &env, (cip_bytes){ room.ptr, a->head }, c->raw_len,
                               a->piece, a->n, a->need, NEEDS, &a->nneed, err);
    cip_buffer_pool_give(rd->buffers, &room);
    return st;
}

static cip_status ask_codec(const cip_rd *rd, const cip_space *s, const cip_step *step,
                            const cip_chunk *c, asked *a, cip_err *err)
{
    cip_err found = CIP_ERR_INIT;
    a->head = (size_t)cip_min_u64(step->codec->head_len, c->at.len);
    cip_status st = ask_with_head(rd, s, step, c, a, &found);
    if (st == CIP_ERR_TRUNCATED && a->nneed == 1 && a->need[0].len > a->head &&
        cip_to_size(cip_min_u64(a->need[0].len, c->at.len), &a->head))
        st = ask_with_head(rd, s, step, c, a, &found);
    if (st == CIP_ERR_LIMIT) { /* too many pieces: all of it then */
        a->need[0] = (cip_need){ 0, c->at.len };
        a->nneed = 1;
        return CIP_OK;
    }
    CIP_TRY(cip_err_give(err, &found, st));
    return tidy_needs(a->need, &a->nneed, c->at.len, err);
}

static cip_status fetch_needs(const cip_rd *rd, const cip_chunk *c, const cip_need *need, size_t n,
                              cip_pooled *room, const uint8_t **ptr, cip_err *err)
{
    cip_want want[NEEDS];
    uint64_t total = 0;
    size_t size;
    for (size_t i = 0; i < n; i++)
        total += need[i].len; /* at most the stored length: they do not overlap */
    if (!cip_to_size(total, &size))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%" PRIu64 " stored bytes", total);
    CIP_TRY(cip_buffer_pool_take(rd->buffers, size, room, err));
    uint8_t *at = room->ptr;
    for (size_t i = 0; i < n; i++) {
        want[i] = (cip_want){ need[i].off, (size_t)need[i].len, at };
        ptr[i] = at;
        at += need[i].len;
    }
    return cip_rd_spans(rd, c->at.in, c->at.off, want, n, err);
}

static cip_status read_planned(const cip_rd *rd, cip_space *s, const cip_step *step,
                               const cip_chunk *c, const cip_want *piece, size_t n, cip_err *err)
{
    cip_need need[NEEDS];
    const uint8_t *ptr[NEEDS];
    cip_pooled room = { NULL, 0 };
    asked a = { .piece = piece, .n = n, .need = need };
    cip_status st;
    CIP_TRY(cip_extent_check(&c->at, "stored data", err));
    CIP_TRY(ask_codec(rd, s, step, c, &a, err));
    CIP_GO(fetch_needs(rd, c, need, a.nneed, &room, ptr, err));
    cip_codec_env env = cip_rd_codec_env(rd, s);
    cip_stored stored = { .total = c->at.len, .n = a.nneed, .at = need, .ptr = ptr };
    st = step->codec->decode_spans(step->args, &env, &stored, c->raw_len, piece, n, err);
done:
    cip_buffer_pool_give(rd->buffers, &room);
    return st;
}

/* The decoded unit [lo, hi) of chunk i, from the cache or for it. */
static cip_status pin_unit(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c,
                           cip_want unit, cip_pinned *h, cip_err *err)
{
    cip_step own;
    /* Beside the chunk itself and the blocks of a grid, which are counted from the other end. */
    cip_cache_key key = { .space = s->id, .chunk = i, .block = UINT64_MAX - unit.off };
    size_t len;
    *h = (cip_pinned){ 0 };
    h->ptr = cip_cache_get(rd->cache, key, &len, &h->pin);
    if (h->ptr != NULL && len == unit.len) /* or it is of the file as it was before a change */
        return CIP_OK;
    cip_pinned_drop(rd, h);
    CIP_TRY(cip_buffer_pool_get(rd->buffers, unit.len, &unit.dst, err));
    cip_status st = read_planned(rd, s, cip_chunk_only_step(s, c, &own), c, &unit, 1, err);
    if (st != CIP_OK) {
        cip_mem_put(&rd->env->mem, unit.dst);
        return st;
    }
    h->ptr = unit.dst;
    st = cip_cache_put_large(rd->cache, key, unit.dst, unit.len, &h->pin, err);
    return st;
}

/* When the wanted piece is less than half of its compressed block, decodes the whole block into the
 * cache, since neighbouring reads will want the rest. Sets *done to false when the piece is larger:
 * the caller decodes it directly. */
static cip_status read_from_unit(const cip_rd *rd, cip_space *s, const cip_step *step, uint64_t i,
                                 const cip_chunk *c, const cip_want *piece, bool *done,
                                 cip_err *err)
{
    uint8_t head[UNIT_HEAD];
    uint64_t lo, hi;
    size_t n = (size_t)cip_min_u64(cip_min_u64(step->codec->head_len, sizeof head), c->at.len);
    cip_pinned h;
    CIP_TRY(cip_extent_check(&c->at, "stored data", err));
    CIP_TRY(cip_rd_at(rd, c->at.in, c->at.off, head, n, err));
    CIP_TRY(step->codec->unit(step->args, (cip_bytes){ head, n }, c->raw_len, piece->off, &lo, &hi,
                              err));
    if (piece->len > (hi - lo) / 2 || piece->len > hi - piece->off)
        return CIP_OK;
    cip_want unit = { .off = lo, .len = (size_t)(hi - lo) };
    CIP_TRY(pin_unit(rd, s, i, c, unit, &h, err));
    memcpy(piece->dst, h.ptr + (piece->off - lo), piece->len);
    cip_pinned_drop(rd, &h);
    *done = true;
    return CIP_OK;
}

/* From the chunk's beginning, no further than the last piece. */
static cip_status read_in_order(const cip_rd *rd, cip_space *s, const cip_step *step,
                                const cip_chunk *c, const cip_want *piece, size_t n, cip_err *err)
{
    cip_codec_env env = cip_rd_codec_env(rd, s);
    cip_seq *q = NULL;
    cip_status st;
    CIP_GO(cip_seq_begin(rd, step, &env, &c->at, &q, err));
    for (size_t i = 0; i < n; i++) {
        CIP_GO(cip_seq_take(rd, q, NULL, piece[i].off - cip_seq_pos(q), err));
        CIP_GO(cip_seq_take(rd, q, piece[i].dst, piece[i].len, err));
    }
    st = cip_seq_pos(q) == c->raw_len ? cip_seq_check_end(rd, q, err) : CIP_OK;
done:
    cip_seq_free(q);
    return st;
}

/* --- pieces ---------------------------------------------------------------------------------- */

static uint64_t wanted(const cip_want *piece, size_t n)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += piece[i].len;
    return total;
}

static cip_status copy_from_whole(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c,
                                  const cip_want *piece, size_t n, cip_err *err)
{
    cip_pinned h;
    CIP_TRY(cip_chunk_pin(rd, s, i, c, true, &h, err));
    for (size_t k = 0; k < n; k++)
        if (piece[k].len != 0)
            memcpy(piece[k].dst, h.ptr + piece[k].off, piece[k].len);
    cip_pinned_drop(rd, &h);
    return CIP_OK;
}

static bool copy_from_cache(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c,
                            const cip_want *piece, size_t n)
{
    cip_pinned h = { 0 };
    if (!cip_chunk_hold_cached(rd, s, i, c, &h))
        return false;
    for (size_t k = 0; k < n; k++)
        if (piece[k].len != 0)
            memcpy(piece[k].dst, h.ptr + piece[k].off, piece[k].len);
    cip_pinned_drop(rd, &h);
    return true;
}

static cip_status read_data(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c,
                            const cip_want *piece, size_t n, cip_err *err)
{
    cip_step own;
    const cip_step *step = cip_chunk_only_step(s, c, &own);
    if (cip_chunk_is_stored(s, c))
        return cip_chunk_read_stored(rd, c, piece, n, err);
    if (copy_from_cache(rd, s, i, c, piece, n))
        return CIP_OK;
    bool whole = n == 1 && piece->len == c->raw_len;
    if (step != NULL && step->codec->plan != NULL && wanted(piece, n) <= c->raw_len / 2) {
        bool done = false;
        if (n == 1 && step->codec->unit != NULL)
            CIP_TRY(read_from_unit(rd, s, step, i, c, piece, &done, err));
        return done ? CIP_OK : read_planned(rd, s, step, c, piece, n, err);
    }
    bool streams = step != NULL && step->codec->stream != NULL;
    if (!whole && streams && c->raw_len > cip_cache_max(rd->cache) / 2)
        return read_in_order(rd, s, step, c, piece, n, err);
    cip_err found = CIP_ERR_INIT;
    cip_status st = whole ? cip_chunk_decode(rd, s, c, piece->dst, &found)
                          : copy_from_whole(rd, s, i, c, piece, n, &found);
    if (st == CIP_ERR_LIMIT && streams) /* memory for the stored bytes; a stream needs little */
        return read_in_order(rd, s, step, c, piece, n, err);
    return cip_err_give(err, &found, st);
}

cip_status cip_chunk_pieces(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c,
                            const cip_want *piece, size_t n, cip_err *err)
{
    bool special;
    cip_status st = cip_chunk_special(s, c, piece, n, &special, err);
    if (!special)
        st = read_data(rd, s, i, c, piece, n, err);
    return cip_chunk_fail_in(err, st, s, i);
}
