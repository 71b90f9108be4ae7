/* SPDX-License-Identifier: BSD-3-Clause
 * Spaces of data without inner structure: read with an early stop, from the decoder or the
 * checkpoint that is nearest. A small one is decoded once and kept whole, so that all who look into
 * it share that. */
#include <string.h>

#include "base/stop.h"
#include "space/sequential/seq_parallel.h"
#include "space/sequential/sidecar.h"

/* The space as one chunk, so that what is known of chunks serves here too. */
static cip_chunk as_chunk(const cip_space *s)
{
    return (cip_chunk){ .at = s->sub, .raw_len = s->len, .run = 1 };
}

static bool is_small(const cip_rd *rd, const cip_space *s)
{
    return s->len <= cip_cache_max(rd->cache) / 2;
}

/* Whether the data decode to their end in good order, but are not as many bytes as they should be:
 * then what says how many is wrong, or the data are another block's, and no byte is given. */
static bool has_other_length(const cip_rd *rd, cip_space *s)
{
    cip_seq *q;
    if (cip_seq_begin(rd, &s->step[0], &s->codec_env, &s->sub, &q, NULL) != CIP_OK)
        return false;
    const cip_stop stop = cip_stop_pause(); /* what is found is kept */
    bool whole = cip_seq_take(rd, q, NULL, s->len, NULL) == CIP_OK;
    if (whole)
        (void)cip_seq_check_end(rd, q, NULL);
    cip_stop_set(stop);
    bool other = whole ? cip_seq_pos(q) > s->len : cip_seq_ends_here(q);
    cip_seq_free(q);
    return other;
}

/* Whether what lies before `end` can be had of data that do not decode as a whole; `st`: of the
 * attempt. What is given must not depend on whether all was tried before. */
static bool is_damaged_behind(const cip_rd *rd, cip_space *s, uint64_t end, cip_status st)
{
    if (s->step[0].codec->stream == NULL || end >= s->len)
        return false;
    if (cip_is_damage(st) && !has_other_length(rd, s))
        atomic_store_explicit(&s->broken, true, memory_order_relaxed);
    return atomic_load_explicit(&s->broken, memory_order_relaxed);
}

/* How so many of the bytes before `end` are read. */
static cip_chunk_way way_of(const cip_rd *rd, cip_space *s, uint64_t end, uint64_t nbytes)
{
    const cip_chunk c = as_chunk(s);
    if (rd->in_order == s || is_damaged_behind(rd, s, end, CIP_OK))
        return CIP_WAY_IN_ORDER;
    /* A window near the beginning is not worth decoding all; if someone looks again it is. */
    const bool first_look = s->step[0].codec->stream != NULL && end <= s->len / 8 &&
                            !atomic_exchange_explicit(&s->touched, true, memory_order_relaxed);
    const cip_chunk_ask ask = { .nbytes = nbytes,
                                .direct = nbytes == s->len,
                                .first_look = first_look };
    const cip_chunk_way way = cip_chunk_way_of(rd, s, &c, &ask);
    /* All of a large one cannot be kept: memory for it would be touched for one read, which costs
     * more than a library gains that decodes it at once. To the end, so that no less of the data
     * is judged. */
    return way == CIP_WAY_WHOLE && !is_small(rd, s) && end == s->len &&
                   s->step[0].codec->stream != NULL
               ? CIP_WAY_IN_ORDER
               : way;
}

cip_status cip_seq_pin(cip_rd *rd, cip_space *s, uint64_t end, cip_pinned *h, cip_err *err)
{
    cip_chunk c = as_chunk(s);
    cip_err found = CIP_ERR_INIT;
    *h = (cip_pinned){ 0 };
    if (way_of(rd, s, end, 0) != CIP_WAY_IN_ORDER) {
        cip_status st = cip_chunk_pin(rd, s, 0, &c, true, h, &found);
        if (!is_damaged_behind(rd, s, end, st))
            return cip_err_give(err, &found, st);
    }
    if (is_small(rd, s))
        rd->in_order = s;
    return CIP_OK;
}

/* Goes on from a decoder that stands before, from a checkpoint, or from the beginning. */
static cip_status read_in_order(const cip_rd *rd, cip_space *s, uint64_t shift,
                                const cip_want *want, size_t n, cip_err *err)
{
    if (rd->sidecar != NULL)
        cip_sidecar_use(rd, s, want[n - 1].off + shift);
    cip_seq *q = cip_decoders_take(rd->decoders, s->id, want[0].off + shift);
    cip_status st = CIP_OK;
    if (q == NULL)
        CIP_GO(cip_seq_begin(rd, &s->step[0], &s->codec_env, &s->sub, &q, err));
    cip_seq_keep_checkpoints(q, rd->checkpoints, s->id, s->len);
    cip_seq_aim(q, want[n - 1].off + shift + want[n - 1].len);
    for (size_t i = 0; i < n; i++) {
        if (want[i].len == 0)
            continue;
        CIP_GO(cip_seq_go(rd, q, want[i].off + shift, err));
        CIP_GO(cip_seq_take(rd, q, want[i].dst, want[i].len, err));
    }
    if (cip_seq_pos(q) == s->len)
        CIP_GO(cip_seq_check_end(rd, q, err));
    else if (cip_seq_ends_here(q))
        CIP_GO(cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRIu64 " decoded bytes, found %" PRIu64, s->len,
                        cip_seq_pos(q)));
    if ((!is_small(rd, s) || rd->in_order == s) && cip_seq_pos(q) != s->len) {
        cip_decoders_give(rd->decoders, s->id, q);
        return CIP_OK;
    }
done:
    cip_seq_free(q);
    return st;
}

static cip_status copy_whole(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                             size_t n, cip_err *err)
{
    cip_pinned h;
    cip_chunk c = as_chunk(s);
    CIP_TRY(cip_chunk_pin(rd, s, 0, &c, true, &h, err));
    for (size_t i = 0; i < n; i++)
        if (want[i].len != 0)
            memcpy(want[i].dst, h.ptr + (want[i].off + shift), want[i].len);
    cip_pinned_drop(rd, &h);
    return CIP_OK;
}

cip_status cip_seq_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                         size_t n, cip_err *err)
{
    cip_chunk c = as_chunk(s);
    const cip_want *most = want;
    cip_err found = CIP_ERR_INIT;
    for (size_t i = 1; i < n; i++)
        most = want[i].len > most->len ? &want[i] : most;
    if (most->len == 0)
        return CIP_OK;
    uint64_t end = want[n - 1].off + shift + want[n - 1].len;
    cip_chunk_way way = way_of(rd, s, end, most->len);
    if (way == CIP_WAY_IN_ORDER)
        return read_in_order(rd, s, shift, want, n, err);
    const cip_want all = { 0, most->len, most->dst };
    const cip_chunk_wish wish = cip_chunk_wish_of(0, s->len, &all, 1);
    cip_status st = way == CIP_WAY_DIRECT ? cip_chunk_pieces(rd, s, &c, &wish, &found)
                                          : copy_whole(rd, s, shift, want, n, &found);
    bool large = st == CIP_ERR_LIMIT && s->step[0].codec->stream != NULL;
    if (large || is_damaged_behind(rd, s, end, st))
        return read_in_order(rd, s, shift, want, n, err);
    return cip_err_give(err, &found, st);
}
