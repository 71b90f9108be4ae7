/* SPDX-License-Identifier: BSD-3-Clause
 * One chunk: its entry checked, and pieces of it by the cheapest way: cip_chunk_way_of decides, for
 * spans and for elements alike. What the cache holds is taken before any other way but that of
 * bytes stored as they are. */
#include <string.h>

#include "base/trace.h"
#include "base/endian.h"
#include "space/read/reader.h"

enum {
    NEEDS = 256,
    TABLE_ENTRY = 16 /* bytes decoded in the time that an entry of a chunk's table takes */
};

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

cip_status cip_chunk_entry(cip_space *s, uint64_t i, uint64_t raw_len, uint8_t *head,
                           cip_chunk *out, cip_err *err)
{
    *out = (cip_chunk){ .head = { .ptr = head, .cap = head != NULL ? CIP_HEAD_ROOM : 0 } };
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

/* --- how ------------------------------------------------------------------------------------- */

cip_chunk_way cip_chunk_way_of(const cip_rd *rd, const cip_space *s, const cip_chunk *c,
                               const cip_chunk_ask *a)
{
    cip_step own;
    cip_steps steps = cip_chunk_steps(s, c, &own);
    const cip_codec *codec = steps.n == 1 ? steps.at->codec : &cip_codec_stored; /* can nothing */
    bool large = c->raw_len > cip_cache_max(rd->cache) / 2; /* too large to be kept */
    bool part = a->nbytes <= c->raw_len / 2;
    bool summed = c->sum_id != CIP_SUM_NONE;
    if (summed && a->direct)
        return CIP_WAY_DIRECT;
    if (a->staged && (!part || a->nbytes > rd->tune->pieces_nbytes))
        return CIP_WAY_WHOLE;
    if (summed) /* all stored bytes are compared first: by blocks that would be done for each */
        return codec->needs != NULL && part && a->batches == 0 ? CIP_WAY_PIECES : CIP_WAY_WHOLE;
    if (steps.n == 0)
        return CIP_WAY_STORED;
    if (a->direct)
        return CIP_WAY_DIRECT;
    if (codec->needs != NULL) {
        bool batches = a->batches != 0 && c->raw_len / 2 > rd->tune->pieces_nbytes;
        bool cheap = large || a->again * TABLE_ENTRY <= c->raw_len / 8;
        if (cheap && (part || batches || (a->batches != 0 && large)))
            return CIP_WAY_PIECES;
    }
    if (codec->stream != NULL && ((large && part) || a->first_look))
        return CIP_WAY_IN_ORDER;
    return CIP_WAY_WHOLE;
}

/* --- only what is needed --------------------------------------------------------------------- */

/* Sorted, checked against the stored length, overlapping ones joined. */
static cip_status tidy_needs(cip_needs *needs, uint64_t total, cip_err *err)
{
    cip_need *need = needs->at;
    size_t kept = 0;
    for (size_t i = 1; i < needs->n; i++)
        for (size_t k = i; k > 0 && need[k].off < need[k - 1].off; k--) {
            cip_need swap = need[k];
            need[k] = need[k - 1];
            need[k - 1] = swap;
        }
    for (size_t i = 0; i < needs->n; i++) {
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
    needs->n = kept;
    return CIP_OK;
}

/* A chunk whose codec says what it needs. Its head is read once: by it the codec tells what is
 * decoded together, what it needs, and decodes; where that takes more of it, the rest is read. */
typedef struct needing {
    const cip_rd *rd;
    const cip_chunk *c;
    cip_step step;
    cip_codec_env env;
    cip_bytes head; /* in `room`, or where the table read it */
    cip_pooled room;
    cip_need need[NEEDS];
    cip_needs needs;
} needing;

static void open_planned(const cip_rd *rd, const cip_space *s, const cip_chunk *c, needing *p)
{
    cip_step own;
    p->rd = rd;
    p->c = c;
    p->step = *cip_chunk_steps(s, c, &own).at;
    p->env = cip_rd_codec_env(rd, s);
    p->head = (cip_bytes){ c->head.ptr, c->head.len };
    p->room = (cip_pooled){ NULL, 0 };
}

/* The head is made n bytes long, or as long as the chunk is. */
static cip_status read_head(needing *p, uint64_t n, cip_err *err)
{
    const cip_extent *at = &p->c->at;
    cip_pooled longer;
    size_t len, have = p->head.len;
    if (!cip_to_size(cip_min_u64(n, at->len), &len))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a head of %" PRIu64 " bytes", n);
    CIP_TRY(cip_buffer_pool_take(p->rd->buffers, len, &longer, err));
    if (have != 0)
        memcpy(longer.ptr, p->head.ptr, have);
    cip_buffer_pool_give(p->rd->buffers, &p->room);
    p->room = longer;
    p->head = (cip_bytes){ longer.ptr, len };
    return cip_rd_at(p->rd, at->in, at->off + have, longer.ptr + have, len - have, err);
}

static cip_status find_needs(needing *p, const cip_want *piece, size_t n, cip_err *err)
{
    const cip_codec *codec = p->step.codec;
    uint64_t total = p->c->at.len;
    uint64_t longer = p->head.len != 0 ? 0 : cip_min_u64(codec->head_len, total);
    for (;;) {
        cip_err found = CIP_ERR_INIT;
        if (p->head.len < longer)
            CIP_TRY(read_head(p, longer, err));
        p->needs = (cip_needs){ .at = p->need, .max = NEEDS };
        cip_status st = codec->needs(p->step.args, &p->env, p->head,
                                     &(cip_wants){ piece, n, p->c->raw_len }, &p->needs, &found);
        if (st == CIP_OK)
            return tidy_needs(&p->needs, total, err);
        if (st == CIP_ERR_LIMIT) { /* too many pieces: all of it then */
            p->need[0] = (cip_need){ 0, total };
            p->needs.n = 1;
            return CIP_OK;
        }
        longer = p->needs.n == 1 ? cip_min_u64(p->need[0].len, total) : 0;
        if (st != CIP_ERR_TRUNCATED || longer <= p->head.len)
            return cip_err_give(err, &found, st);
    }
}

/* What of the needs the head has not; before it, room for the codec to work in. */
static cip_status fetch_needs(needing *p, cip_pooled *room, const uint8_t **ptr, cip_err *err)
{
    cip_want want[NEEDS];
    size_t nwant = 0, size;
    uint64_t work = p->needs.unit_end - p->needs.unit, total = work;
    for (size_t i = 0; i < p->needs.n; i++)
        total += p->need[i].len; /* at most the stored length: they do not overlap */
    if (!cip_to_size(total, &size))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%" PRIu64 " stored bytes", total);
    CIP_TRY(cip_buffer_pool_take(p->rd->buffers, size, room, err));
    p->env.room = room->ptr;
    p->env.room_len = (size_t)work;
    uint8_t *at = room->ptr + work;
    for (size_t i = 0; i < p->needs.n; i++) {
        const cip_need *need = &p->need[i];
        size_t len = (size_t)need->len;
        size_t have = need->off < p->head.len ? p->head.len - (size_t)need->off : 0;
        have = have < len ? have : len;
        ptr[i] = have == len ? p->head.ptr + need->off : at;
        if (have == len)
            continue;
        if (have != 0)
            memcpy(at, p->head.ptr + need->off, have);
        want[nwant++] = (cip_want){ need->off + have, len - have, at + have };
        at += len;
    }
    return cip_rd_spans(p->rd, p->c->at.in, p->c->at.off, want, nwant, err);
}

static cip_status decode_planned(needing *p, const cip_want *piece, size_t n, cip_err *err)
{
    const uint8_t *ptr[NEEDS];
    cip_pooled room = { NULL, 0 };
    cip_status st = fetch_needs(p, &room, ptr, err);
    if (st == CIP_OK) {
        const cip_stored stored = { p->c->at.len, p->needs.n, p->need, ptr };
        const uint64_t begun = cip_trace_begin();
        uint64_t raw = 0, len = 0;
        st = p->step.codec->decode_spans(p->step.args, &p->env, &stored,
                                         &(cip_wants){ piece, n, p->c->raw_len }, err);
        for (size_t i = 0; begun != 0 && i < n; i++)
            raw += piece[i].len;
        for (size_t i = 0; begun != 0 && i < p->needs.n; i++)
            len += p->need[i].len;
        if (begun != 0)
            cip_trace_decode(begun, cip_codec_shown(p->step.codec, p->head), "part", len, raw,
                             st == CIP_OK);
    }
    cip_buffer_pool_give(p->rd->buffers, &room);
    return st;
}

/* Whether one piece is wanted, of at most half of what is decoded together. */
static bool is_small_part(const cip_needs *needs, const cip_chunk_wish *w)
{
    uint64_t together = needs->unit_end - needs->unit;
    return w->n == 1 && !w->ask.batches && together != 0 && w->piece->len <= together / 2 &&
           w->piece->len <= needs->unit_end - w->piece->off;
}

/* All of what is decoded together goes into the cache when it is asked for a third time, since
 * reads of neighbours will want it; those that are scattered would only fill fresh memory. */
static cip_status read_from_unit(needing *p, const cip_space *s, const cip_chunk_wish *w,
                                 cip_err *err)
{
    const cip_rd *rd = p->rd;
    const cip_want *piece = w->piece;
    const cip_cache_key key = cip_block_key(s, w->i, p->needs.unit);
    cip_pinned h = { 0 };
    cip_want unit = { .off = p->needs.unit, .len = (size_t)(p->needs.unit_end - p->needs.unit) };
    cip_status st = CIP_OK;
    size_t len;
    unsigned times;
    h.ptr = cip_cache_look(rd->cache, key, &len, &h.pin, &times);
    if (h.ptr == NULL || len != unit.len) { /* or it is of the file as it was before a change */
        cip_pinned_drop(rd, &h);
        if (times < (cip_space_is_far(s) ? 2 : CIP_CACHE_TIMES)) /* a request costs more */
            return decode_planned(p, piece, 1, err);
        CIP_TRY(cip_buffer_pool_get(rd->buffers, unit.len, &unit.dst, err));
        h.ptr = unit.dst;
        st = decode_planned(p, &unit, 1, err);
        if (st == CIP_OK)
            st = cip_cache_put(rd->cache, key, (cip_cache_data){ unit.dst, unit.len, true }, &h.pin,
                               err);
        else
            cip_mem_put(&rd->env->mem, unit.dst);
    }
    if (st == CIP_OK)
        memcpy(piece->dst, h.ptr + (piece->off - unit.off), piece->len);
    cip_pinned_drop(rd, &h);
    return st;
}

static void copy_pieces(const cip_chunk_wish *w, const uint8_t *raw)
{
    for (size_t k = 0; k < w->n; k++)
        if (w->piece[k].len != 0)
            memcpy(w->piece[k].dst, raw + w->piece[k].off, w->piece[k].len);
}

/* A window's rows, which need a good part of the chunk: all of it goes into the cache when it is
 * asked for a third time. False: it is not worth that, or something else of it is damaged. */
static bool read_from_all(const needing *p, cip_space *s, const cip_chunk_wish *w)
{
    enum { GOOD_PART = 8 };
    const cip_rd *rd = p->rd;
    cip_pinned h = { 0 };
    uint64_t n = 0;
    size_t len;
    unsigned times;
    for (size_t i = 0; i < p->needs.n; i++)
        n += p->need[i].len;
    if (w->n == 1 || w->ask.batches || n < p->c->at.len / GOOD_PART ||
        p->c->raw_len > cip_cache_max(rd->cache) / 2)
        return false;
    cip_cache_look(rd->cache, cip_chunk_key(s, w->i), &len, &h.pin, &times);
    cip_pinned_drop(rd, &h);
    if (times < CIP_CACHE_TIMES || cip_chunk_pin(rd, s, w->i, p->c, true, &h, NULL) != CIP_OK)
        return false;
    copy_pieces(w, h.ptr);
    cip_pinned_drop(rd, &h);
    return true;
}

static cip_status read_pieces(const cip_rd *rd, cip_space *s, const cip_chunk *c,
                              const cip_chunk_wish *w, cip_err *err)
{
    needing p;
    cip_status st;
    bool summed = c->sum_id != CIP_SUM_NONE;
    open_planned(rd, s, c, &p);
    CIP_GO(cip_extent_check(&c->at, "stored data", err));
    if (summed) { /* all of it is its head */
        CIP_GO(read_head(&p, c->at.len, err));
        CIP_GO(cip_chunk_check_sum(&rd->env->mem, c, p.head, err));
    }
    CIP_GO(find_needs(&p, w->piece, w->n, err));
    if (!summed && read_from_all(&p, s, w))
        goto done;
    st = is_small_part(&p.needs, w) && !summed ? read_from_unit(&p, s, w, err)
                                               : decode_planned(&p, w->piece, w->n, err);
done:
    cip_buffer_pool_give(rd->buffers, &p.room);
    return st;
}

/* From the chunk's beginning, no further than the last piece. */
static cip_status read_in_order(const cip_rd *rd, const cip_space *s, const cip_step *step,
                                const cip_chunk *c, const cip_chunk_wish *w, cip_err *err)
{
    cip_codec_env env = cip_rd_codec_env(rd, s);
    cip_seq *q = NULL;
    cip_status st;
    CIP_GO(cip_seq_begin(rd, step, &env, &c->at, &q, err));
    for (const cip_want *piece = w->piece; piece < w->piece + w->n; piece++) {
        CIP_GO(cip_seq_take(rd, q, NULL, piece->off - cip_seq_pos(q), err));
        CIP_GO(cip_seq_take(rd, q, piece->dst, piece->len, err));
    }
    st = cip_seq_pos(q) == c->raw_len ? cip_seq_check_end(rd, q, err) : CIP_OK;
done:
    cip_seq_free(q);
    return st;
}

/* --- pieces ---------------------------------------------------------------------------------- */

size_t cip_chunk_needs(const cip_rd *rd, cip_space *s, const cip_chunk_wish *w, const cip_chunk *c,
                       cip_need *need, size_t max)
{
    needing p;
    size_t n = 0;
    uint64_t base = c->at.off;
    cip_space *in = c->at.in;
    cip_chunk_way way = cip_chunk_way_of(rd, s, c, &w->ask);
    if (max == 0 || !cip_space_follow(&in, &base, c->at.len, false))
        return 0;
    if (way == CIP_WAY_WHOLE || way == CIP_WAY_DIRECT || c->sum_id != CIP_SUM_NONE) {
        *need = (cip_need){ base, c->at.len };
        return 1;
    }
    for (size_t i = 0; way == CIP_WAY_STORED && i < w->n && n < max; i++)
        need[n++] = (cip_need){ base + w->piece[i].off, w->piece[i].len };
    if (way != CIP_WAY_PIECES)
        return n;
    open_planned(rd, s, c, &p);
    if (find_needs(&p, w->piece, w->n, NULL) == CIP_OK)
        for (size_t i = 0; i < p.needs.n && n < max; i++)
            if (p.need[i].off + p.need[i].len > p.head.len) /* the head does not hold it */
                need[n++] = (cip_need){ base + p.need[i].off, p.need[i].len };
    cip_buffer_pool_give(rd->buffers, &p.room);
    return n;
}

cip_status cip_chunk_pieces_by(const cip_rd *rd, cip_space *s, const cip_chunk *c,
                               const cip_chunk_wish *w, cip_chunk_way way, cip_err *err)
{
    cip_err found = CIP_ERR_INIT;
    cip_pinned h = { 0 };
    cip_step own;
    cip_steps steps = cip_chunk_steps(s, c, &own);
    cip_status st = CIP_OK;
    if (way == CIP_WAY_STORED)
        st = cip_chunk_read_stored(rd, c, w->piece, w->n, &found);
    else if (way == CIP_WAY_PIECES)
        st = read_pieces(rd, s, c, w, &found);
    else if (way == CIP_WAY_DIRECT)
        st = cip_chunk_decode(rd, s, c, w->piece->dst, &found);
    else if (way == CIP_WAY_WHOLE)
        st = cip_chunk_pin(rd, s, w->i, c, true, &h, &found);
    bool large = st == CIP_ERR_LIMIT && (way == CIP_WAY_DIRECT || way == CIP_WAY_WHOLE);
    bool streams = steps.n == 1 && steps.at->codec->stream != NULL && c->sum_id == CIP_SUM_NONE;
    if (way == CIP_WAY_IN_ORDER || (large && streams))
        st = read_in_order(rd, s, steps.at, c, w, &found); /* with little memory */
    if (h.ptr != NULL)
        copy_pieces(w, h.ptr);
    cip_pinned_drop(rd, &h);
    return cip_chunk_fail_in(err, cip_err_give(err, &found, st), s, w->i);
}

cip_status cip_chunk_pieces(const cip_rd *rd, cip_space *s, const cip_chunk *c,
                            const cip_chunk_wish *w, cip_err *err)
{
    cip_pinned h;
    bool special;
    cip_status st = cip_chunk_special(s, c, w->piece, w->n, &special, err);
    if (special)
        return cip_chunk_fail_in(err, st, s, w->i);
    cip_chunk_way way = cip_chunk_way_of(rd, s, c, &w->ask);
    if (way == CIP_WAY_PIECES && c->sum_id != CIP_SUM_NONE) {
        cip_cache_entry *pin;
        size_t len;
        unsigned times;
        cip_cache_look(rd->cache, cip_chunk_key(s, w->i), &len, &pin, &times);
        cip_cache_unpin(rd->cache, pin);
        way = times > 1 ? CIP_WAY_WHOLE : way; /* comparing all of it again would cost more */
    }
    if (way == CIP_WAY_STORED || !cip_chunk_hold_cached(rd, s, w->i, c, &h))
        return cip_chunk_pieces_by(rd, s, c, w, way, err);
    copy_pieces(w, h.ptr);
    cip_pinned_drop(rd, &h);
    return CIP_OK;
}
