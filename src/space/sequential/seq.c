/* SPDX-License-Identifier: BSD-3-Clause
 * A decoder somewhere in data without inner structure: in order, in bounded memory, from the
 * beginning or from a checkpoint; checkpoints are kept on the way (checkpoints.h). */
#include <string.h>

#include "base/stop.h"
#include "base/trace.h"
#include "space/sequential/seq_parallel.h"
#include "space/sequential/sidecar.h"

struct cip_seq {
    cip_mem *mem;
    const cip_stream_codec *codec;
    const char *name; /* of the codec */
    const void *args;
    cip_codec_env env;
    void *state;      /* NULL: decoding goes on at the checkpoint of `ahead` */
    cip_ahead *ahead; /* NULL: not in pieces */
    cip_extent at;
    uint64_t in_pos;   /* stored bytes fetched */
    uint64_t expected; /* those read ahead end there */
    uint8_t *in;
    size_t in_cap, in_at, in_len; /* in[in_at, in_len) is not used yet */
    uint64_t raw_pos;
    uint64_t goal;                /* a read goes on up to there, perhaps with gaps */
    bool end;                     /* the data say that nothing follows */
    cip_checkpoints *checkpoints; /* NULL: none are kept */
    uint64_t checkpoints_id, checkpoints_len, next_checkpoint;
};

cip_status cip_seq_begin(const cip_rd *rd, const cip_step *step, const cip_codec_env *env,
                         const cip_extent *at, cip_seq **out, cip_err *err)
{
    cip_seq *q = NULL;
    cip_status st;
    *out = NULL;
    CIP_TRY(cip_extent_check(at, "stored data", err));
    if (step->codec->stream == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "codec '%s' does not decode in order", step->codec->name);
    CIP_TRY(CIP_NEW(&rd->env->mem, &q, 1, err));
    q->mem = &rd->env->mem;
    q->codec = step->codec->stream;
    q->name = step->codec->name;
    q->at = *at;
    q->in_cap = (size_t)cip_min_u64(at->len, rd->tune->seq_in);
    CIP_GO(cip_mem_get(q->mem, q->in_cap, (void **)&q->in, err));
    q->args = step->args;
    q->env = *env;
    q->env.mem = q->mem;
    CIP_GO(cip_ahead_new(rd, q->codec, &q->ahead, err));
    CIP_GO(q->codec->begin(q->args, &q->env, &q->state, err));
    *out = q;
    return CIP_OK;
done:
    cip_seq_free(q);
    return st;
}

void cip_seq_free(cip_seq *q)
{
    if (q == NULL)
        return;
    q->codec->finish(q->state);
    cip_ahead_free(q->ahead);
    cip_mem_put(q->mem, q->in);
    cip_mem_put(q->mem, q);
}

uint64_t cip_seq_pos(const cip_seq *q)
{
    return q->raw_pos;
}

bool cip_seq_ends_here(cip_seq *q)
{
    uint8_t none;
    if (q->end || q->codec->split != NULL) /* its pieces are decoded by several threads */
        return q->end;
    cip_flow f = { .in = q->in + q->in_at,
                   .in_len = q->in_len - q->in_at,
                   .last = q->in_pos == q->at.len,
                   .out = &none };
    /* What is wrong with the data behind comes up again when somebody reads there. */
    if (q->codec->step(q->state, &f, NULL) != CIP_OK)
        return false;
    q->in_at += f.took;
    return q->end = f.end;
}

/* More stored bytes behind those that are left. */
static cip_status refill(const cip_rd *rd, cip_seq *q, cip_err *err)
{
    size_t left = q->in_len - q->in_at;
    memmove(q->in, q->in + q->in_at, left);
    q->in_at = 0;
    q->in_len = left;
    size_t more = (size_t)cip_min_u64(q->at.len - q->in_pos, q->in_cap - left);
    if (more == 0) /* there are more, but the codec does not take what it has */
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "the data stop after %" PRIu64 " bytes", q->raw_pos);
    if (q->in_pos + more > q->expected) { /* of a far file as much again, within a bound */
        uint64_t n = cip_min_u64(cip_max_u64(q->in_pos, more), rd->tune->far_in_order);
        const cip_extent next = { q->at.in, q->at.off + q->in_pos,
                                  cip_min_u64(n, q->at.len - q->in_pos) };
        cip_extent_expect(&next);
        q->expected = q->in_pos + next.len;
    }
    CIP_TRY(cip_rd_at(rd, q->at.in, q->at.off + q->in_pos, q->in + left, more, err));
    q->in_len += more;
    q->in_pos += more;
    return CIP_OK;
}

/* From a checkpoint on in order. */
static cip_status resume(cip_seq *q, const cip_checkpoint *from, cip_err *err)
{
    if (from->in_bits / 8 > q->at.len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "a checkpoint after the stored data");
    CIP_TRY(q->codec->resume(q->args, &q->env, from, &q->state, err));
    q->in_pos = from->in_bits / 8;
    q->in_at = q->in_len = 0;
    q->raw_pos = from->raw;
    q->end = false;
    return CIP_OK;
}

void cip_seq_keep_checkpoints(cip_seq *q, cip_checkpoints *checkpoints, uint64_t id, uint64_t len)
{
    if (q->codec->resume == NULL)
        return;
    q->checkpoints = checkpoints;
    q->checkpoints_id = id;
    q->checkpoints_len = len;
    q->next_checkpoint = cip_checkpoints_next(checkpoints, id, len, q->raw_pos);
}

static void keep_checkpoint(cip_seq *q, const cip_checkpoint *checkpoint)
{
    if (q->checkpoints == NULL || checkpoint->raw < q->next_checkpoint)
        return;
    q->next_checkpoint =
        cip_checkpoints_put(q->checkpoints, q->checkpoints_id, q->checkpoints_len, checkpoint);
}

/* Whether the step that was taken ended at a checkpoint that somebody asked for. */
static bool look_for_checkpoint(cip_seq *q)
{
    cip_checkpoint checkpoint;
    if ((q->ahead == NULL && q->checkpoints == NULL) ||
        !q->codec->checkpoint(q->state, false, &checkpoint))
        return false;
    if (q->ahead != NULL)
        cip_ahead_at_checkpoint(q->ahead, &checkpoint);
    keep_checkpoint(q, &checkpoint);
    return true;
}

/* From a checkpoint that is kept; what was decoded ahead goes. */
static cip_status jump(const cip_rd *rd, cip_seq *q, const cip_checkpoint *to, cip_err *err)
{
    cip_ahead_free(q->ahead);
    q->ahead = NULL;
    q->codec->finish(q->state);
    q->state = NULL;
    CIP_TRY(resume(q, to, err));
    q->next_checkpoint =
        cip_checkpoints_next(q->checkpoints, q->checkpoints_id, q->checkpoints_len, q->raw_pos);
    CIP_TRY(cip_ahead_new(rd, q->codec, &q->ahead, err));
    if (q->ahead != NULL)
        cip_ahead_at_checkpoint(q->ahead, to);
    return CIP_OK;
}

cip_status cip_seq_go(const cip_rd *rd, cip_seq *q, uint64_t pos, cip_err *err)
{
    cip_checkpoint checkpoint;
    cip_pooled room;
    uint64_t jump_min = rd->tune->checkpoint_jump;
    if (q->checkpoints != NULL && pos - q->raw_pos > jump_min) {
        CIP_TRY(cip_buffer_pool_take(rd->buffers, CIP_CHECKPOINT_WINDOW, &room, err));
        cip_status st = CIP_OK;
        if (cip_checkpoints_find(q->checkpoints, q->checkpoints_id, pos, &checkpoint, room.ptr) &&
            checkpoint.raw > q->raw_pos + jump_min)
            st = jump(rd, q, &checkpoint, err);
        cip_buffer_pool_give(rd->buffers, &room);
        CIP_TRY(st);
    }
    return cip_seq_take(rd, q, NULL, pos - q->raw_pos, err);
}

/* One step of the codec; *n: room, then what it gave. Fetches input as needed; gives something,
 * stands at a wanted checkpoint, ends, or fails. */
static cip_status turn(const cip_rd *rd, cip_seq *q, uint8_t *out, size_t *n, cip_err *err)
{
    size_t room = *n;
    for (;;) {
        bool last = q->in_pos == q->at.len;
        if (q->in_at == q->in_len && !last) {
            CIP_TRY(refill(rd, q, err));
            continue;
        }
        cip_flow f = { .in = q->in + q->in_at,
                       .in_len = q->in_len - q->in_at,
                       .last = last,
                       .out = out,
                       .out_len = room };
        if (q->checkpoints != NULL && q->raw_pos >= q->next_checkpoint)
            q->codec->checkpoint(q->state, true, NULL);
        else if (q->checkpoints != NULL)
            f.out_len = (size_t)cip_min_u64(room, q->next_checkpoint - q->raw_pos);
        const uint64_t begun = cip_trace_begin();
        const cip_status st = q->codec->step(q->state, &f, err);
        if (begun != 0)
            cip_trace_decode(begun, q->name, "stream", f.took, f.gave, st == CIP_OK);
        CIP_TRY(st);
        q->in_at += f.took;
        q->raw_pos += *n = f.gave;
        q->end = f.end;
        bool stands = look_for_checkpoint(q);
        if (f.gave != 0 || q->end || stands)
            return CIP_OK;
        if (f.took == 0 && last)
            return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                            "the stored data end after %" PRIu64 " bytes", q->raw_pos);
        if (f.took == 0)
            CIP_TRY(refill(rd, q, err));
    }
}

/* At most *n bytes of the `all` that are wanted (*n: how many), by the pieces at once or in order;
 * none at a checkpoint or at the end. */
static cip_status advance(const cip_rd *rd, cip_seq *q, uint64_t all, uint8_t *out, size_t *n,
                          cip_err *err)
{
    cip_checkpoint checkpoint;
    if (q->ahead == NULL)
        return turn(rd, q, out, n, err);
    if (q->goal > q->raw_pos)
        all = cip_max_u64(all, q->goal - q->raw_pos);
    if (cip_ahead_run(rd, q->ahead, &q->at, q->raw_pos, all)) {
        q->codec->finish(q->state);
        q->state = NULL;
        size_t n_ahead = 0; /* of the pieces that were decoded at once, in order */
        while (cip_ahead_checkpoint(q->ahead, n_ahead) != NULL)
            n_ahead++;
        while (n_ahead-- != 0)
            keep_checkpoint(q, cip_ahead_checkpoint(q->ahead, n_ahead));
    }
    uint64_t got = *n;
    cip_ahead_take(rd, q->ahead, out, &got);
    q->raw_pos += got;
    if (got != 0) {
        *n = (size_t)got;
        return CIP_OK;
    }
    if (q->state == NULL)
        CIP_TRY(resume(q, cip_ahead_checkpoint(q->ahead, 0), err));
    if (cip_ahead_wants_checkpoint(q->ahead, all))
        q->codec->checkpoint(q->state, true, &checkpoint);
    return turn(rd, q, out, n, err);
}

cip_status cip_seq_take(const cip_rd *rd, cip_seq *q, uint8_t *dst, uint64_t n, cip_err *err)
{
    cip_pooled room = { NULL, 0 };
    cip_status st = CIP_OK;
    if (dst == NULL && n != 0)
        CIP_TRY(cip_buffer_pool_take(rd->buffers, rd->tune->seq_skip, &room, err));
    while (n != 0) {
        CIP_GO(cip_stop_ask(err));
        size_t got = (size_t)(dst != NULL ? n : cip_min_u64(n, rd->tune->seq_skip));
        if (q->end)
            CIP_GO(cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected %" PRIu64 " more bytes, found the end of the data after "
                            "%" PRIu64,
                            n, q->raw_pos));
        CIP_GO(advance(rd, q, n, dst != NULL ? dst : room.ptr, &got, err));
        if (dst != NULL)
            dst += got;
        n -= got;
    }
done:
    cip_buffer_pool_give(rd->buffers, &room);
    return st;
}

cip_status cip_seq_check_end(const cip_rd *rd, cip_seq *q, cip_err *err)
{
    uint64_t len = q->raw_pos;
    while (!q->end) {
        uint8_t byte;
        size_t n = 1;
        CIP_TRY(advance(rd, q, 1, &byte, &n, err));
        if (n != 0)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected %" PRIu64 " bytes, found more", len);
    }
    return CIP_OK;
}

void cip_seq_aim(cip_seq *q, uint64_t raw_end)
{
    q->goal = raw_end;
}
