/* SPDX-License-Identifier: BSD-3-Clause
 * One chunk's pipeline: its stored bytes fetched, each step undone in turn between two buffers,
 * the last one where the caller says; and whole chunks held, from the cache or for it. */
#include <string.h>

#include "base/trace.h"
#include "space/read/reader.h"

cip_steps cip_chunk_steps(const cip_space *s, const cip_chunk *c, cip_step *own)
{
    if (c->codec == NULL)
        return (cip_steps){ s->step, s->nstep };
    *own = (cip_step){ .codec = c->codec };
    return (cip_steps){ own, c->codec != &cip_codec_stored };
}

cip_codec_env cip_rd_codec_env(const cip_rd *rd, const cip_space *s)
{
    cip_codec_env env = s->codec_env;
    env.mem = &rd->env->mem;
    env.zstd = &rd->env->zstd;
    return env;
}

static cip_status fetch(const cip_rd *rd, const cip_chunk *c, cip_pooled *room, cip_bytes *out,
                        cip_err *err)
{
    const cip_extent *at = &c->at;
    size_t n;
    CIP_TRY(cip_extent_check(at, "stored data", err));
    if (!cip_to_size(at->len, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%" PRIu64 " stored bytes", at->len);
    *out = (cip_bytes){ n <= c->head.len ? c->head.ptr : cip_space_borrow(at->in, at->off, n), n };
    if (out->ptr != NULL)
        return CIP_OK;
    CIP_TRY(cip_buffer_pool_take(rd->buffers, n, room, err));
    out->ptr = room->ptr;
    return cip_rd_at(rd, at->in, at->off, room->ptr, n, err);
}

static cip_status run_steps(const cip_rd *rd, const cip_space *s, cip_steps p, cip_bytes in,
                            const cip_want *all, cip_err *err)
{
    uint8_t *dst = all->dst;
    const size_t n = all->len;
    cip_codec_env env = cip_rd_codec_env(rd, s);
    cip_pooled room[2] = { { NULL, 0 }, { NULL, 0 } };
    cip_status st = CIP_OK;
    for (size_t k = 0; k < p.n && st == CIP_OK; k++) {
        cip_pooled *mine = &room[k % 2]; /* the other one holds the input */
        uint8_t *to = dst;
        if (k + 1 < p.n) {
            if (mine->ptr == NULL)
                CIP_GO(cip_buffer_pool_take(rd->buffers, n, mine, err));
            to = mine->ptr;
        }
        const uint64_t begun = cip_trace_begin();
        st = p.at[k].codec->decode(p.at[k].args, &env, in, to, n, err);
        if (begun != 0)
            cip_trace_decode(begun, cip_codec_shown(p.at[k].codec, in), "chunk", in.len, n,
                             st == CIP_OK);
        in = (cip_bytes){ to, n };
    }
done:
    cip_buffer_pool_give(rd->buffers, &room[0]);
    cip_buffer_pool_give(rd->buffers, &room[1]);
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

/* Bytes stored as they are: no step, only another place. */
cip_status cip_chunk_read_stored(const cip_rd *rd, const cip_chunk *c, const cip_want *piece,
                                 size_t n, cip_err *err)
{
    CIP_TRY(check_stored_len(c, err));
    CIP_TRY(cip_extent_check(&c->at, "stored data", err));
    return cip_rd_spans(rd, c->at.in, c->at.off, piece, n, err);
}

cip_status cip_chunk_check_sum(cip_mem *mem, const cip_chunk *c, cip_bytes stored, cip_err *err)
{
    uint8_t found[CIP_SUM_MAX];
    cip_sum_id id = (cip_sum_id)c->sum_id;
    if (id == CIP_SUM_NONE)
        return CIP_OK;
    CIP_TRY(cip_sum_of(mem, id, stored, found, err));
    if (memcmp(found, c->sum, cip_sum_size(id)) == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CHECKSUM, CIP_NO_OFFSET, "the stored bytes do not match their %s",
                    cip_sum_name(id));
}

/* Pieces of it at once, if it is long enough for several. */
static bool splits(const cip_step *step, size_t n)
{
    const cip_stream_codec *stream = step->codec->stream;
    return stream != NULL && stream->split != NULL && n / 2 >= stream->split->raw_usual;
}

static cip_status decode_split(const cip_rd *rd, const cip_space *s, const cip_step *step,
                               const cip_extent *at, const cip_want *all, cip_err *err)
{
    cip_codec_env env = cip_rd_codec_env(rd, s);
    cip_seq *q;
    CIP_TRY(cip_seq_begin(rd, step, &env, at, &q, err));
    if (s->kind == CIP_SPACE_SEQ)
        cip_seq_keep_checkpoints(q, rd->checkpoints, s->id, s->len);
    cip_status st = cip_seq_take(rd, q, all->dst, all->len, err);
    if (st == CIP_OK)
        st = cip_seq_check_end(rd, q, err);
    cip_seq_free(q);
    return st;
}

cip_status cip_chunk_decode(const cip_rd *rd, cip_space *s, const cip_chunk *c, uint8_t *dst,
                            cip_err *err)
{
    cip_step own;
    cip_steps p = cip_chunk_steps(s, c, &own);
    cip_pooled room = { NULL, 0 };
    cip_bytes in;
    cip_want all = { .off = 0, .dst = dst };
    bool special, summed = c->sum_id != CIP_SUM_NONE;
    if (!cip_to_size(c->raw_len, &all.len))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of %" PRIu64 " bytes",
                        c->raw_len);
    CIP_TRY(cip_chunk_special(s, c, &all, 1, &special, err));
    if (special)
        return CIP_OK;
    if (p.n == 0 && !summed)
        return cip_chunk_read_stored(rd, c, &all, 1, err);
    if (p.n == 1 && !summed && splits(p.at, all.len))
        return decode_split(rd, s, p.at, &c->at, &all, err);
    if (p.n == 0)
        CIP_TRY(check_stored_len(c, err));
    cip_status st = fetch(rd, c, &room, &in, err);
    if (st == CIP_OK && summed)
        st = cip_chunk_check_sum(&rd->env->mem, c, in, err);
    if (st == CIP_OK && p.n == 0)
        memcpy(dst, in.ptr, all.len);
    else if (st == CIP_OK)
        st = run_steps(rd, s, p, in, &all, err);
    cip_buffer_pool_give(rd->buffers, &room);
    return st;
}

/* --- whole chunks at hand -------------------------------------------------------------------- */

bool cip_chunk_hold_cached(const cip_rd *rd, const cip_space *s, uint64_t i, const cip_chunk *c,
                           cip_pinned *out)
{
    size_t len;
    *out = (cip_pinned){ 0 };
    out->ptr = cip_cache_get(rd->cache, cip_chunk_key(s, i), &len, &out->pin);
    if (out->ptr == NULL || len == c->raw_len)
        return out->ptr != NULL;
    cip_pinned_drop(rd, out);
    return false;
}

/* As it is in memory already. */
static bool pin_stored(cip_space *s, const cip_chunk *c, cip_pinned *out)
{
    cip_step own;
    if (c->state != CIP_CHUNK_DATA || cip_chunk_steps(s, c, &own).n != 0 ||
        c->sum_id != CIP_SUM_NONE || c->at.len != c->raw_len || c->at.in == NULL)
        return false;
    out->ptr = cip_space_borrow(c->at.in, c->at.off, c->at.len);
    return out->ptr != NULL;
}

cip_status cip_chunk_pin(const cip_rd *rd, cip_space *s, uint64_t i, const cip_chunk *c, bool keep,
                         cip_pinned *out, cip_err *err)
{
    size_t n;
    uint8_t *bytes;
    if (cip_chunk_hold_cached(rd, s, i, c, out) || pin_stored(s, c, out))
        return CIP_OK;
    if (!cip_to_size(c->raw_len, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of %" PRIu64 " bytes",
                        c->raw_len);
    keep = keep && n <= cip_cache_max(rd->cache) / 2;
    if (keep)
        CIP_TRY(cip_buffer_pool_get(rd->buffers, n, &bytes, err));
    else
        CIP_TRY(cip_buffer_pool_take(rd->buffers, n, &out->room, err));
    bytes = keep ? bytes : out->room.ptr;
    cip_status st = cip_chunk_decode(rd, s, c, bytes, err);
    if (st != CIP_OK && keep)
        cip_mem_put(&rd->env->mem, bytes);
    if (st == CIP_OK && keep)
        st = cip_cache_put(rd->cache, cip_chunk_key(s, i), (cip_cache_data){ bytes, n, false },
                           &out->pin, err);
    out->ptr = bytes;
    if (st != CIP_OK)
        cip_pinned_drop(rd, out);
    return st;
}

void cip_pinned_drop(const cip_rd *rd, cip_pinned *h)
{
    cip_cache_unpin(rd->cache, h->pin);
    cip_buffer_pool_give(rd->buffers, &h->room);
    *h = (cip_pinned){ 0 };
}
