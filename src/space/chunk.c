/* SPDX-License-Identifier: BSD-3-Clause
 * One chunk: its entry checked, its stored bytes fetched, its pipeline run, by the cheapest way to
 * the pieces that are wanted. In order: from the cache; straight into the caller's memory when all
 * of it is wanted in one piece; only the inner blocks that are touched, where the codec can; in
 * order with an early stop when it is too large to keep; whole, and kept for the next who asks. */
#include <string.h>

#include "base/endian.h"
#include "space/reader.h"

enum { NEEDS = 256 };

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

cip_status cip_chunk_at(cip_space *s, uint64_t i, uint64_t raw_len, cip_chunk *out, cip_err *err)
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

/* Bytes `off` on of the pattern repeated for ever. */
static void fill(cip_bytes pattern, uint64_t off, uint8_t *dst, size_t n)
{
    if (pattern.len == 1) {
        memset(dst, pattern.ptr[0], n);
        return;
    }
    size_t first = n < pattern.len ? n : pattern.len;
    for (size_t k = 0; k < first; k++)
        dst[k] = pattern.ptr[(off + k) % pattern.len];
    for (size_t have = first; have < n;) { /* what is there already, doubled each time */
        size_t more = have - have % pattern.len;
        if (more > n - have)
            more = n - have;
        memcpy(dst + have, dst, more);
        have += more;
    }
}

static cip_status fail_missing(const cip_chunk *c, cip_err *err)
{
    return cip_fail(err, c->why != CIP_OK ? c->why : CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                    "its data are missing");
}

/* --- the pipeline ---------------------------------------------------------------------------- */

typedef struct steps {
    const cip_step *step;
    size_t n; /* 0: stored as it is */
} steps;

static steps steps_of(const cip_space *s, const cip_chunk *c, cip_step *own)
{
    if (c->codec == NULL)
        return (steps){ s->step, s->nstep };
    *own = (cip_step){ .codec = c->codec };
    return (steps){ own, c->codec == &cip_codec_stored ? 0 : 1 };
}

static cip_codec_env env_of(const cip_rd *rd, const cip_space *s)
{
    cip_codec_env env = s->codec_env;
    env.mem = &rd->env->mem;
    return env;
}

static cip_status fetch(const cip_rd *rd, const cip_extent *at, cip_room *room, cip_bytes *out,
                        cip_err *err)
{
    size_t n;
    CIP_TRY(cip_extent_check(at, "stored data", err));
    if (!cip_to_size(at->len, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%" PRIu64 " stored bytes", at->len);
    *out = (cip_bytes){ cip_space_borrow(at->in, at->off, at->len), n };
    if (out->ptr != NULL)
        return CIP_OK;
    CIP_TRY(cip_scratch_take(rd->scratch, n, room, err));
    out->ptr = room->ptr;
    return cip_rd_at(rd, at->in, at->off, room->ptr, n, err);
}

/* The output of a stage that is not the last one. */
static cip_status stage_len(const cip_step *step, uint64_t raw_len, size_t *n, cip_err *err)
{
    uint64_t len = step->mid_len == 0 ? raw_len : step->mid_len;
    if (!cip_to_size(len, n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%" PRIu64 " bytes between stages", len);
    return CIP_OK;
}

/* One stage of unknown output: in order until it ends. The input is made a space for that. */
static cip_status stage_unknown(const cip_rd *rd, const cip_step *step, const cip_codec_env *env,
                                cip_bytes in, cip_room *room, size_t *n, cip_err *err)
{
    cip_space mem = { .kind = CIP_SPACE_MEM, .len = in.len, .mem = in };
    cip_extent at = { .in = &mem, .off = 0, .len = in.len };
    cip_seq *q = NULL;
    CIP_TRY(cip_seq_begin(rd, step, env, &at, &q, err));
    cip_status st = cip_seq_rest(rd, q, room, n, err);
    cip_seq_free(q);
    return st;
}

static cip_status stage(const cip_rd *rd, const cip_step *step, const cip_codec_env *env,
                        uint64_t raw_len, cip_bytes *io, cip_room *room, cip_err *err)
{
    size_t n;
    if (step->mid_len == CIP_MID_UNKNOWN) {
        CIP_TRY(stage_unknown(rd, step, env, *io, room, &n, err));
    } else {
        CIP_TRY(stage_len(step, raw_len, &n, err));
        CIP_TRY(cip_scratch_take(rd->scratch, n, room, err));
        CIP_TRY(step->codec->decode(step->args, env, *io, room->ptr, n, err));
    }
    *io = (cip_bytes){ room->ptr, n };
    return CIP_OK;
}

static cip_status run_steps(const cip_rd *rd, const cip_space *s, steps p, cip_bytes in,
                            uint8_t *dst, size_t dst_len, cip_err *err)
{
    cip_codec_env env = env_of(rd, s);
    cip_room room[2] = { { NULL, 0 }, { NULL, 0 } };
    cip_status st;
    for (size_t k = 0; k + 1 < p.n; k++) {
        cip_room *mine = &room[k % 2]; /* the other one holds the input */
        cip_scratch_give(rd->scratch, mine);
        CIP_GO(stage(rd, &p.step[k], &env, dst_len, &in, mine, err));
    }
    const cip_step *last = &p.step[p.n - 1];
    st = last->codec->decode(last->args, &env, in, dst, dst_len, err);
done:
    cip_scratch_give(rd->scratch, &room[0]);
    cip_scratch_give(rd->scratch, &room[1]);
    return st;
}

static cip_status check_stored_len(const cip_chunk *c, cip_err *err)
{
    if (c->at.len == c->raw_len)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected %" PRIu64 " bytes stored as they are, found %" PRIu64, c->raw_len,
                    c->at.len);
}

/* Bytes stored as they are: no stage, only another place. */
static cip_status read_stored(const cip_rd *rd, const cip_chunk *c, const cip_want *piece, size_t n,
                              cip_err *err)
{
    CIP_TRY(check_stored_len(c, err));
    CIP_TRY(cip_extent_check(&c->at, "stored data", err));
    return cip_rd_spans(rd, c->at.in, c->at.off, piece, n, err);
}

cip_status cip_chunk_decode(const cip_rd *rd, cip_space *s, const cip_chunk *c, uint8_t *dst,
                            cip_err *err)
{
    cip_step own;
    cip_room room = { NULL, 0 };
    cip_bytes in, pattern;
    uint8_t bytes[8];
    size_t n;
    if (!cip_to_size(c->raw_len, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of %" PRIu64 " bytes",
                        c->raw_len);
    if (c->state == CIP_CHUNK_MISSING)
        return fail_missing(c, err);
    if (cip_chunk_pattern(s, c, &pattern, bytes)) {
        fill(pattern, 0, dst, n);
        return CIP_OK;
    }
    steps p = steps_of(s, c, &own);
    cip_want all = { .off = 0, .len = n, .dst = dst };
    if (p.n == 0)
        return read_stored(rd, c, &all, 1, err);
    cip_status st = fetch(rd, &c->at, &room, &in, err);
    if (st == CIP_OK)
        st = run_steps(rd, s, p, in, dst, n, err);
    cip_scratch_give(rd->scratch, &room);
    return st;
}

const cip_step *cip_chunk_only_step(const cip_space *s, const cip_chunk *c, cip_step *own)
{
    steps p = steps_of(s, c, own);
    return c->state == CIP_CHUNK_DATA && p.n == 1 ? p.step : NULL;
}

/* --- whole chunks at hand -------------------------------------------------------------------- */

static cip_cache_key key_of(const cip_space *s, uint64_t i)
{
    return (cip_cache_key){ .space = s->id, .chunk = i };
}

static bool hold_cached(const cip_rd *rd, const cip_space *s, uint64_t i, const cip_chunk *c,
                        cip_held *out)
{
    size_t len;
    out->ptr = cip_cache_get(rd->cache, key_of(s, i), &len, &out->pin);
    if (out->ptr != NULL && len == c->raw_len)
        return true;
    cip_held_drop(rd, out);
    return false;
}

/* As it is in memory already. */
static bool hold_stored(cip_space *s, const cip_chunk *c, cip_held *out)
{
    cip_step own;
    if (c->state != CIP_CHUNK_DATA || steps_of(s, c, &own).n != 0 || c->at.len != c->raw_len ||
        c->at.in == NULL || c->at.bit != 0)
        return false;
    out->ptr = cip_space_borrow(c->at.in, c->at.off, c->at.len);
    return out->ptr != NULL;
}

static cip_status hold_kept(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c,
                            cip_held *out, cip_err *err)
{
    uint8_t *bytes;
    CIP_TRY(cip_scratch_get(rd->scratch, (size_t)c->raw_len, &bytes, err));
    cip_status st = cip_chunk_decode(rd, s, c, bytes, err);
    if (st != CIP_OK) {
        cip_mem_put(&rd->env->mem, bytes);
        return st;
    }
    out->ptr = bytes;
    st = cip_cache_put(rd->cache, key_of(s, i), bytes, (size_t)c->raw_len, &out->pin, err);
    if (st != CIP_OK)
        out->ptr = NULL;
    return st;
}

static cip_status hold_scratch(const cip_rd *rd, cip_space *s, const cip_chunk *c, cip_held *out,
                               cip_err *err)
{
    size_t n;
    if (!cip_to_size(c->raw_len, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of %" PRIu64 " bytes",
                        c->raw_len);
    CIP_TRY(cip_scratch_take(rd->scratch, n, &out->room, err));
    cip_status st = cip_chunk_decode(rd, s, c, out->room.ptr, err);
    out->ptr = out->room.ptr;
    if (st != CIP_OK)
        cip_held_drop(rd, out);
    return st;
}

cip_status cip_chunk_hold(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c, bool keep,
                          cip_held *out, cip_err *err)
{
    *out = (cip_held){ 0 };
    if (hold_cached(rd, s, i, c, out) || hold_stored(s, c, out))
        return CIP_OK;
    if (keep && c->raw_len <= cip_cache_max(rd->cache) / 2)
        return hold_kept(rd, s, i, c, out, err);
    return hold_scratch(rd, s, c, out, err);
}

void cip_held_drop(const cip_rd *rd, cip_held *h)
{
    cip_cache_unpin(rd->cache, h->pin);
    cip_scratch_give(rd->scratch, &h->room);
    *h = (cip_held){ 0 };
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

static cip_status ask_codec(const cip_rd *rd, const cip_space *s, const cip_step *step,
                            const cip_chunk *c, const cip_want *piece, size_t n, cip_need *need,
                            size_t *nneed, cip_err *err)
{
    cip_codec_env env = env_of(rd, s);
    cip_room room;
    size_t head = (size_t)cip_min_u64(step->codec->head_len, c->at.len);
    *nneed = 0;
    CIP_TRY(cip_scratch_take(rd->scratch, head, &room, err));
    cip_err found = CIP_ERR_INIT;
    cip_status st = cip_rd_at(rd, c->at.in, c->at.off, room.ptr, head, &found);
    if (st == CIP_OK)
        st = step->codec->plan(step->args, &env, (cip_bytes){ room.ptr, head }, c->raw_len, piece,
                               n, need, NEEDS, nneed, &found);
    cip_scratch_give(rd->scratch, &room);
    if (st == CIP_ERR_LIMIT) { /* too many pieces: all of it then */
        need[0] = (cip_need){ 0, c->at.len };
        *nneed = 1;
        return CIP_OK;
    }
    CIP_TRY(cip_err_give(err, &found, st));
    return tidy_needs(need, nneed, c->at.len, err);
}

static cip_status fetch_needs(const cip_rd *rd, const cip_chunk *c, const cip_need *need, size_t n,
                              cip_room *room, const uint8_t **ptr, cip_err *err)
{
    cip_want want[NEEDS];
    uint64_t total = 0;
    size_t size;
    for (size_t i = 0; i < n; i++)
        total += need[i].len; /* at most the stored length: they do not overlap */
    if (!cip_to_size(total, &size))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%" PRIu64 " stored bytes", total);
    CIP_TRY(cip_scratch_take(rd->scratch, size, room, err));
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
    cip_room room = { NULL, 0 };
    size_t nneed;
    cip_status st;
    CIP_TRY(cip_extent_check(&c->at, "stored data", err));
    CIP_TRY(ask_codec(rd, s, step, c, piece, n, need, &nneed, err));
    CIP_GO(fetch_needs(rd, c, need, nneed, &room, ptr, err));
    cip_codec_env env = env_of(rd, s);
    cip_stored stored = { .total = c->at.len, .n = nneed, .at = need, .ptr = ptr };
    st = step->codec->decode_spans(step->args, &env, &stored, c->raw_len, piece, n, err);
done:
    cip_scratch_give(rd->scratch, &room);
    return st;
}

/* From the chunk's beginning, no further than the last piece. */
static cip_status read_in_order(const cip_rd *rd, cip_space *s, const cip_step *step,
                                const cip_chunk *c, const cip_want *piece, size_t n, cip_err *err)
{
    cip_codec_env env = env_of(rd, s);
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
    cip_held h;
    CIP_TRY(cip_chunk_hold(rd, s, i, c, true, &h, err));
    for (size_t k = 0; k < n; k++)
        if (piece[k].len != 0)
            memcpy(piece[k].dst, h.ptr + piece[k].off, piece[k].len);
    cip_held_drop(rd, &h);
    return CIP_OK;
}

static bool copy_from_cache(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c,
                            const cip_want *piece, size_t n)
{
    cip_held h = { 0 };
    if (!hold_cached(rd, s, i, c, &h))
        return false;
    for (size_t k = 0; k < n; k++)
        if (piece[k].len != 0)
            memcpy(piece[k].dst, h.ptr + piece[k].off, piece[k].len);
    cip_held_drop(rd, &h);
    return true;
}

static cip_status read_data(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c,
                            const cip_want *piece, size_t n, cip_err *err)
{
    cip_step own;
    const cip_step *step = cip_chunk_only_step(s, c, &own);
    if (steps_of(s, c, &own).n == 0)
        return read_stored(rd, c, piece, n, err);
    if (copy_from_cache(rd, s, i, c, piece, n))
        return CIP_OK;
    bool whole = n == 1 && piece->len == c->raw_len;
    if (step != NULL && step->codec->plan != NULL && wanted(piece, n) <= c->raw_len / 2)
        return read_planned(rd, s, step, c, piece, n, err);
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

cip_status cip_chunk_read(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c,
                          const cip_want *piece, size_t n, cip_err *err)
{
    cip_bytes pattern;
    uint8_t own[8];
    cip_status st = CIP_OK;
    if (c->state == CIP_CHUNK_MISSING)
        st = fail_missing(c, err);
    else if (cip_chunk_pattern(s, c, &pattern, own))
        for (size_t k = 0; k < n; k++)
            fill(pattern, piece[k].off, piece[k].dst, piece[k].len);
    else
        st = read_data(rd, s, i, c, piece, n, err);
    return cip_chunk_fail_in(err, st, s, i);
}
