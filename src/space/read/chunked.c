/* SPDX-License-Identifier: BSD-3-Clause
 * Linear chunks: what is wanted is sorted into the chunks that hold it, and each chunk is a job.
 * Jobs are made a batch at a time, in the order of the chunks, so that a table of 2^40 chunks costs
 * no more memory than one of a thousand and the error of the lowest chunk wins. */
#include <string.h>

#include "space/read/reader.h"

enum {
    FEW_PIECES = 16,
    FAR_JOBS = 64, /* chunks of a far file whose requests are joined */
    FAR_PIECES = 4
};

typedef struct located {
    cip_chunk chunk;
    uint64_t i;   /* its number */
    uint64_t end; /* one past the bytes of its entry: of a run as much as one job should take */
} located;

/* The chunk that holds byte `pos`, as table and bytes agree. */
static cip_status locate(const cip_rd *rd, cip_space *s, uint64_t pos, located *out, cip_err *err)
{
    cip_chunk *c = &out->chunk;
    CIP_TRY(cip_chunk_number_at(s, pos, &out->i, err));
    CIP_TRY(cip_chunk_entry(s, out->i, 0, NULL, c, err));
    if (pos < c->raw_off || pos - c->raw_off >= c->raw_len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected chunk %" PRIu64 " to hold byte %" PRIu64 ", found %" PRIu64
                        " bytes at %" PRIu64,
                        out->i, pos, c->raw_len, c->raw_off);
    cip_bytes pattern;
    uint8_t own[8];
    uint64_t run = cip_min_u64(c->run, rd->tune->run_max / c->raw_len + 1);
    run = cip_min_u64(run, (s->len - c->raw_off) / c->raw_len);
    if (c->state == CIP_CHUNK_MISSING || !cip_chunk_pattern(s, c, &pattern, own) ||
        c->raw_len % pattern.len != 0) /* the pattern begins anew in each */
        run = 1;
    out->end = c->raw_off + run * c->raw_len;
    return CIP_OK;
}

/* A lazy table of equal chunks does its work here; another does what it has to when a byte is
 * looked for. */
static cip_status count_first(cip_space *s, cip_err *err)
{
    uint64_t n;
    return s->table.find != NULL ? CIP_OK : s->table.count(s->table.self, &n, err);
}

static size_t batch_size(const cip_tuning *t, uint64_t nbytes)
{
    return (size_t)cip_min_u64(t->batch_min + nbytes / t->bytes_for_job, t->batch_max);
}

/* --- spans ----------------------------------------------------------------------------------- */

typedef struct span_job {
    located at;
    size_t first, n; /* wants that touch it */
} span_job;

typedef struct span_batch {
    const cip_rd *rd;
    cip_space *s;
    uint64_t shift;
    const cip_want *want;
    span_job *job;
    size_t njob, cap;
} span_batch;

/* What of a want lies in the chunk, as the chunk counts. */
static cip_want cut(const span_batch *b, const span_job *j, const cip_want *w)
{
    uint64_t lo = cip_max_u64(w->off + b->shift, j->at.chunk.raw_off);
    uint64_t hi = cip_min_u64(w->off + b->shift + w->len, j->at.end);
    if (lo >= hi)
        return (cip_want){ 0, 0, NULL };
    return (cip_want){ lo - j->at.chunk.raw_off, (size_t)(hi - lo),
                       w->dst + (lo - (w->off + b->shift)) };
}

static cip_status run_span_job(void *arg, size_t k, cip_err *err)
{
    const span_batch *b = arg;
    const span_job *j = &b->job[k];
    cip_want few[FEW_PIECES], *piece = few;
    size_t n = 0;
    if (j->n > FEW_PIECES)
        CIP_TRY(CIP_NEW(&b->rd->env->mem, &piece, j->n, err));
    for (size_t i = 0; i < j->n; i++) {
        cip_want w = cut(b, j, &b->want[j->first + i]);
        if (w.len != 0)
            piece[n++] = w;
    }
    const cip_chunk_wish wish = cip_chunk_wish_of(j->at.i, j->at.chunk.raw_len, piece, n);
    cip_status st = cip_chunk_pieces(b->rd, b->s, &j->at.chunk, &wish, err);
    if (piece != few)
        cip_mem_put(&b->rd->env->mem, piece);
    return st;
}

/* Of each chunk the first few pieces that are wanted. */
static void expect_spans(const span_batch *b, size_t njob)
{
    cip_want piece[FAR_JOBS][FAR_PIECES];
    cip_chunk_wish wish[FAR_JOBS];
    size_t n = njob < FAR_JOBS ? njob : FAR_JOBS;
    for (size_t k = 0; k < n; k++) {
        const span_job *j = &b->job[k];
        size_t m = 0;
        for (size_t i = 0; i < j->n && m < FAR_PIECES; i++) {
            piece[k][m] = cut(b, j, &b->want[j->first + i]);
            m += piece[k][m].len != 0;
        }
        wish[k] = cip_chunk_wish_of(j->at.i, j->at.chunk.raw_len, piece[k], m);
    }
    cip_chunks_expect(b->rd, b->s, wish, n);
}

static cip_status run_spans(span_batch *b, cip_err *err)
{
    size_t n = b->njob;
    b->njob = 0;
    if (cip_space_is_far(b->s))
        expect_spans(b, n);
    return cip_pool_run(b->rd->pool, n, run_span_job, b, err);
}

/* What came of a batch's last jobs counts first: their chunks lie before the one that failed. */
static cip_status first_error(cip_status last_jobs, const cip_err *why, cip_status st, cip_err *err)
{
    if (last_jobs == CIP_OK)
        return st;
    cip_err_pass(err, why);
    return last_jobs;
}

/* One want into the batch, chunk by chunk. */
static cip_status add_want(span_batch *b, size_t w, cip_err *err)
{
    uint64_t pos = b->want[w].off + b->shift, end = pos + b->want[w].len;
    while (pos < end) {
        if (b->njob == 0 || pos >= b->job[b->njob - 1].at.end) {
            if (b->njob == b->cap)
                CIP_TRY(run_spans(b, err));
            CIP_TRY(locate(b->rd, b->s, pos, &b->job[b->njob].at, err));
            b->job[b->njob++].first = w;
        }
        span_job *j = &b->job[b->njob - 1];
        j->n = w + 1 - j->first;
        pos = j->at.end;
    }
    return CIP_OK;
}

cip_status cip_chunked_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                             size_t n, cip_err *err)
{
    uint64_t nbytes = want[n - 1].off + want[n - 1].len - want[0].off;
    span_batch b = {
        .rd = rd, .s = s, .shift = shift, .want = want, .cap = batch_size(rd->tune, nbytes)
    };
    cip_err last = CIP_ERR_INIT;
    cip_status st = CIP_OK;
    CIP_TRY(count_first(s, err));
    CIP_TRY(cip_mem_get(&rd->env->mem, b.cap * sizeof *b.job, (void **)&b.job, err));
    for (size_t i = 0; i < n && st == CIP_OK; i++)
        st = add_want(&b, i, err);
    st = first_error(run_spans(&b, &last), &last, st, err);
    cip_mem_put(&rd->env->mem, b.job);
    return st;
}

/* --- elements -------------------------------------------------------------------------------- */

typedef struct cast_job {
    located at;
    uint64_t e0, e1; /* source elements that begin in it */
} cast_job;

typedef struct cast_batch {
    cip_gather *g;
    cast_job *job;
    size_t njob, cap;
} cast_batch;

/* An element that goes on in the next chunk. */
static cip_status cast_straddler(cip_gather *g, uint64_t e, cip_err *err)
{
    cip_pooled room;
    cip_walk_at at;
    cip_walk_seek(&g->w, e, &at);
    CIP_TRY(cip_buffer_pool_take(g->rd.buffers, (size_t)g->w.itemsize, &room, err));
    cip_status st = cip_rd_at(&g->rd, g->s, at.off, room.ptr, (size_t)g->w.itemsize, err);
    if (st == CIP_OK)
        cip_gather_cast(
            g, &g->w,
            (cip_walk_cast_args){ .e0 = e, .e1 = e + 1, .how = CIP_SRC_SAME, .src = room.ptr });
    cip_buffer_pool_give(g->rd.buffers, &room);
    return st;
}

static cip_status run_cast_job(void *arg, size_t k, cip_err *err)
{
    const cast_batch *b = arg;
    const cast_job *j = &b->job[k];
    cip_gather *g = b->g;
    cip_walk_at at;
    uint64_t e1 = j->e1;
    cip_walk_seek(&g->w, e1 - 1, &at);
    if (at.off + g->w.itemsize > j->at.end) /* nested: only the last one can */
        e1--;
    cip_chunk_part p = { j->at.i, &j->at.chunk, &g->w, j->e0, e1, j->at.chunk.raw_off };
    if (j->e0 < e1) {
        cip_status st = cip_chunk_cast(g, &p, err);
        if (st != CIP_OK)
            return cip_chunk_fail_in(err, st, g->s, j->at.i);
    }
    return e1 < j->e1 ? cast_straddler(g, e1, err) : CIP_OK;
}

static cip_status run_casts(cast_batch *b, cip_err *err)
{
    cip_chunk_wish wish[FAR_JOBS];
    const size_t n = b->njob, nwish = n < FAR_JOBS ? n : FAR_JOBS;
    b->njob = 0;
    if (cip_space_is_far(b->g->s)) {
        for (size_t k = 0; k < nwish; k++) {
            const cast_job *j = &b->job[k];
            const uint64_t nbytes = (j->e1 - j->e0) * b->g->w.itemsize;
            wish[k] = (cip_chunk_wish){ .i = j->at.i, .ask = { .nbytes = nbytes, .staged = true } };
        }
        cip_chunks_expect(&b->g->rd, b->g->s, wish, nwish);
    }
    return cip_pool_run(b->g->rd.pool, n, run_cast_job, b, err);
}

static cip_status add_chunk(cast_batch *b, uint64_t *e, cip_err *err)
{
    cip_gather *g = b->g;
    cip_walk_at at;
    if (b->njob == b->cap)
        CIP_TRY(run_casts(b, err));
    cast_job *j = &b->job[b->njob];
    cip_walk_seek(&g->w, *e, &at);
    CIP_TRY(locate(&g->rd, g->s, at.off, &j->at, err));
    j->e0 = *e;
    j->e1 = cip_walk_find(&g->w, j->at.end);
    *e = j->e1;
    b->njob++;
    return CIP_OK;
}

/* Whether the elements are long runs that are only copied: those are spans. */
static bool are_spans(const cip_gather *g)
{
    const cip_walk *w = &g->w;
    const cip_axis *last = w->nouter != 0 ? &w->axis[w->nouter - 1] : NULL;
    return last != NULL && cip_cast_is_copy(g->cast) && last->from == (int64_t)w->itemsize &&
           last->to == last->from && w->nouter == w->ndim &&
           ((uint64_t)last->n == w->nsource ||
            (uint64_t)last->n >= g->rd.tune->long_copy / w->itemsize);
}

cip_status cip_gather_chunked(cip_gather *g, cip_err *err)
{
    cast_batch b = { .g = g, .cap = batch_size(g->rd.tune, g->w.nsource * g->w.itemsize) };
    cip_err last = CIP_ERR_INIT;
    cip_status st = CIP_OK;
    if (!g->w.nested || are_spans(g))
        return cip_gather_tiles(g, err);
    CIP_TRY(count_first(g->s, err));
    CIP_TRY(cip_mem_get(&g->rd.env->mem, b.cap * sizeof *b.job, (void **)&b.job, err));
    for (uint64_t e = 0; e < g->w.nsource && st == CIP_OK;)
        st = add_chunk(&b, &e, err);
    st = first_error(run_casts(&b, &last), &last, st, err);
    cip_mem_put(&g->rd.env->mem, b.job);
    return st;
}
