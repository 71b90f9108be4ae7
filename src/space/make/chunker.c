/* SPDX-License-Identifier: BSD-3-Clause
 * Elements are cut in chunks, which wait until a batch is full; a batch is made on the pool
 * (chunk_make.c), while the one before it is handed on by the caller's thread, in order.
 *
 * Linear chunks that lie whole in what the caller gives are made from there, without a copy, before
 * the call returns; others are collected in slots. N-d chunks come out of a tiler, straight into
 * slots, or are lent by it where they are arranged anyway. Where chunks are not encoded, or there
 * is one thread, nothing would be gained by two batches: then each is handed on as soon as it is
 * made. */
#include "space/make/chunker.h"

#include <string.h>

#include "base/num.h"
#include "space/make/alongside.h"
#include "space/make/chunk_make.h"
#include "space/read/grid.h"
#include "space/make/tiler.h"
#include "space/read/tuning.h"

enum {
    PER_THREAD = 2, /* chunks, so that a slow one keeps no other thread waiting */
    LARGE = 2 << 20 /* of such chunks one is enough: they take memory that has to be touched */
};

typedef struct slot {
    uint64_t i;
    uint8_t *raw; /* a buffer, once it is needed */
    cip_io *io;   /* where its bytes lie, of a chunk that comes by itself */
    uint64_t off;
    size_t n;
    cip_chunk_work work;
    cip_chunk_in made;
    cip_status st;
    cip_err err;
} slot;

struct cip_chunker {
    cip_env *env;
    cip_array_form form;
    cip_chunk_maker maker;
    cip_chunker_to to;
    uint64_t nbytes, taken;
    uint64_t next; /* linear: the next chunk's number */
    size_t fill;   /* bytes of it that were collected */
    bool as_given; /* what comes is a chunk */
    bool turns;    /* a batch is handed on while the next one is made */
    bool borrowed; /* chunks of the batch lie in the caller's memory */
    size_t nslot, nready, nmade;
    slot *slot;         /* 2 * nslot with turns: the half at `now` is filled */
    cip_chunk_in *list; /* nslot, for the store */
    size_t now;
    uint8_t *buffers, *raw; /* of all slots; raw: nslot of them, made when needed */
    cip_tiler *tiler;
};

/* --- handing on ------------------------------------------------------------------------------- */

static bool joins(const cip_array_form *f, const cip_chunk_in *a, const cip_chunk_in *b)
{
    return a->state != CIP_CHUNK_DATA && a->state == b->state && a->raw_len == b->raw_len &&
           (a->state != CIP_CHUNK_VALUE ||
            memcmp(a->value, b->value, (size_t)f->dtype->itemsize) == 0);
}

/* Chunks in a row in one call, equal special ones as one entry. */
static cip_status store_made(cip_chunker *c, slot *s, size_t nmade, cip_err *err)
{
    for (size_t k = 0, n; k < nmade; k += n) {
        size_t m = 0;
        for (n = 0; k + n < nmade && s[k + n].i == s[k].i + n && s[k + n].st == CIP_OK; n++) {
            if (m != 0 && joins(&c->form, &c->list[m - 1], &s[k + n].made))
                c->list[m - 1].run++;
            else
                c->list[m++] = s[k + n].made;
        }
        if (m != 0)
            CIP_TRY(c->to.store(c->to.user, s[k].i, m, c->list, err));
        if (k + n < nmade && s[k + n].st != CIP_OK) {
            cip_err_pass(err, &s[k + n].err);
            return s[k + n].st;
        }
    }
    return CIP_OK;
}

static cip_status store_before(void *arg, cip_err *err)
{
    cip_chunker *c = arg;
    size_t n = c->nmade;
    c->nmade = 0;
    return store_made(c, c->slot + (c->nslot - c->now), n, err);
}

/* A chunk that lies somewhere as the steps take it; linear ones may turn out to be special. */
static cip_status make_apart(const cip_chunker *c, slot *s, cip_err *err)
{
    uint8_t *raw = c->maker.arranged != 0 ? s->work.arranged : s->raw;
    CIP_TRY(cip_io_read(s->io, s->off, raw, s->n, err));
    s->work.raw = (cip_bytes){ raw, s->n };
    if (c->form.grid == NULL)
        return cip_chunk_make(&c->maker, &s->work, c->turns, &s->made, err);
    s->made = (cip_chunk_in){ .run = 1, .raw_len = s->n, .bytes = s->work.raw };
    return cip_chunk_encode(&c->maker, &s->work, c->turns, &s->made, err);
}

static void make_one(void *arg, size_t i)
{
    cip_chunker *c = arg;
    slot *s = &c->slot[c->now + i];
    s->err = (cip_err)CIP_ERR_INIT;
    s->st = s->io != NULL ? make_apart(c, s, &s->err)
                          : cip_chunk_make(&c->maker, &s->work, c->turns, &s->made, &s->err);
}

static cip_status run_batch(cip_chunker *c, cip_err *err)
{
    size_t n = c->nready;
    c->nready = 0;
    c->borrowed = false;
    CIP_TRY(cip_run_alongside(c->env->pool, n, make_one, store_before, c, err));
    if (!c->turns)
        return store_made(c, c->slot, n, err);
    c->nmade = n;
    c->now = c->nslot - c->now;
    return CIP_OK;
}

static cip_status ready(cip_chunker *c, uint64_t i, cip_err *err)
{
    c->slot[c->now + c->nready++].i = i;
    return c->nready == c->nslot ? run_batch(c, err) : CIP_OK;
}

/* --- room ------------------------------------------------------------------------------------- */

static void put_room(cip_chunker *c)
{
    cip_mem *mem = &c->env->mem;
    cip_mem_put(mem, c->slot);
    cip_mem_put(mem, c->list);
    cip_mem_put(mem, c->buffers);
    cip_mem_put(mem, c->raw);
    c->raw = NULL;
    c->slot = NULL;
    c->list = NULL;
    c->buffers = NULL;
}

/* Buffers for elements that cannot be taken from where the caller has them. */
static cip_status get_raw(cip_chunker *c, cip_err *err)
{
    size_t n;
    if (c->raw != NULL)
        return CIP_OK;
    if (cip_mul_overflow(c->nslot, c->maker.raw, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "chunks of over 2^64 bytes");
    CIP_TRY(cip_mem_get(&c->env->mem, n, (void **)&c->raw, err));
    for (size_t i = 0; i < (c->turns ? 2 : 1) * c->nslot; i++)
        c->slot[i].raw = c->raw + i % c->nslot * c->maker.raw;
    return CIP_OK;
}

/* `raw`: also the buffers for elements. */
static cip_status get_room(cip_chunker *c, bool raw, cip_err *err)
{
    cip_status st;
    cip_mem *mem = &c->env->mem;
    const cip_chunk_maker *m = &c->maker;
    size_t half = c->turns ? 2 : 1, encoded = m->encoded[0] + m->encoded[1], each, n;
    if (cip_add_overflow(m->arranged, half * encoded, &each) || encoded > SIZE_MAX / 4 ||
        cip_mul_overflow(c->nslot, each, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "chunks of over 2^64 bytes");
    CIP_GO(CIP_NEW(mem, &c->slot, half * c->nslot, err));
    CIP_GO(CIP_NEW(mem, &c->list, c->nslot, err));
    CIP_GO(cip_mem_get(mem, n, (void **)&c->buffers, err));
    for (size_t i = 0; i < half * c->nslot; i++) {
        cip_chunk_work *w = &c->slot[i].work;
        w->encoded[0] = c->buffers + i * encoded;
        w->encoded[1] = w->encoded[0] + m->encoded[0];
        w->arranged = c->buffers + half * c->nslot * encoded + i % c->nslot * m->arranged;
    }
    if (raw)
        st = get_raw(c, err);
done:
    if (st != CIP_OK)
        put_room(c);
    return st;
}

/* As many chunks at once as keep the threads busy, fewer where memory is short. */
static cip_status choose_room(cip_chunker *c, uint64_t nchunk, bool with_raw, cip_err *err)
{
    size_t raw = c->maker.raw != 0 ? c->maker.raw : 1, threads = cip_pool_threads(c->env->pool);
    size_t each = raw >= LARGE ? 1 : PER_THREAD;
    const cip_tuning *tuning = c->to.tuning;
    if (tuning->batch / raw > each) /* with fewer, starting a thread costs more than it does */
        each = (size_t)cip_min_u64(tuning->batch / raw, tuning->batch_most);
    uint64_t most =
        c->env->limits.max_memory / tuning->share / (4 * raw); /* encoded twice, arranged */
    c->nslot = (size_t)cip_max_u64(1, cip_min_u64(cip_min_u64(each * threads, nchunk), most));
    c->turns = threads > 1 && c->form.nstep != 0 && nchunk > c->nslot;
    for (;;) {
        cip_status st = get_room(c, with_raw, err);
        if (st == CIP_OK || (c->nslot == 1 && !c->turns))
            return st;
        if (c->nslot == 1)
            c->turns = false;
        c->nslot = c->nslot == 1 ? 1 : c->nslot / 2;
    }
}

/* --- cutting ---------------------------------------------------------------------------------- */

/* The tile in the next slot: which chunk it is. */
static cip_status take_chunk(cip_chunker *c, uint64_t index, const int64_t *valid, cip_err *err)
{
    const cip_grid *g = c->form.grid;
    slot *s = &c->slot[c->now + c->nready];
    cip_grid_chunk at;
    cip_grid_coord(g, index, s->work.coord);
    memcpy(s->work.valid, valid, (size_t)g->ndim * sizeof *valid);
    cip_grid_chunk_at(g, s->work.coord, &at);
    CIP_TRY(ready(c, at.i, err));
    cip_tiler_to(c->tiler, c->slot[c->now + c->nready].raw);
    return CIP_OK;
}

static cip_status take_tile(void *user, uint64_t index, cip_bytes tile, const int64_t *valid,
                            cip_err *err)
{
    cip_chunker *c = user;
    cip_chunk_work *w = &c->slot[c->now + c->nready].work;
    w->raw = tile;
    w->lent = false;
    return take_chunk(c, index, valid, err);
}

static cip_status take_lent(void *user, uint64_t index, const uint8_t *at, const int64_t *stride,
                            const int64_t *valid, cip_err *err)
{
    cip_chunker *c = user;
    cip_chunk_work *w = &c->slot[c->now + c->nready].work;
    w->raw = (cip_bytes){ at, c->maker.raw };
    w->lent = true;
    memcpy(w->stride, stride, (size_t)c->form.grid->ndim * sizeof *stride);
    c->borrowed = true;
    return take_chunk(c, index, valid, err);
}

static cip_status cut_linear(cip_chunker *c, cip_bytes in, cip_err *err)
{
    while (in.len != 0) {
        slot *s = &c->slot[c->now + c->nready];
        size_t want = (size_t)cip_min_u64(c->maker.raw, c->nbytes - c->taken + c->fill);
        size_t n = (size_t)cip_min_u64(want - c->fill, in.len);
        if (n == want) {
            s->work.raw = (cip_bytes){ in.ptr, n };
            c->borrowed = true;
        } else {
            CIP_TRY(get_raw(c, err));
            memcpy(s->raw + c->fill, in.ptr, n);
            s->work.raw = (cip_bytes){ s->raw, want };
        }
        in.ptr += n;
        in.len -= n;
        c->taken += n;
        c->fill += n;
        if (c->fill < want)
            break;
        c->fill = 0;
        CIP_TRY(ready(c, c->next++, err));
    }
    if (!c->borrowed)
        return CIP_OK;
    /* what was borrowed is made now; a chunk that was begun moves to where the next batch is */
    slot *begun = &c->slot[c->now + c->nready];
    CIP_TRY(run_batch(c, err));
    if (c->fill != 0)
        memmove(c->slot[c->now].raw, begun->raw, c->fill);
    return CIP_OK;
}

/* --- all -------------------------------------------------------------------------------------- */

static uint64_t count_chunks(const cip_chunker *c)
{
    const cip_grid *g = c->form.grid;
    uint64_t n = 1;
    if (g == NULL)
        return cip_div_up(c->nbytes, cip_max_u64(1, c->maker.raw));
    for (int32_t k = 0; k < g->ndim; k++) /* the tiler refuses those that are too many */
        n *= (uint64_t)cip_grid_nchunk(g, k);
    return n;
}

static cip_status open(cip_chunker *c, uint64_t nelem, cip_err *err)
{
    const cip_array_form *f = &c->form;
    uint64_t each = f->dtype->itemsize;
    bool any = f->grid == NULL && (f->chunk_nbytes == 0 || f->chunk_nbytes == UINT64_MAX);
    if (cip_mul_overflow(nelem, each, &c->nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an array of over 2^64 bytes");
    c->as_given = any && f->nstep == 0 && f->specials == 0 && f->sum_id == CIP_SUM_NONE;
    if (c->as_given)
        return CIP_OK;
    if (f->grid == NULL && f->chunk_nbytes == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a chunk length");
    uint64_t longest = cip_min_u64(c->nbytes, cip_form_chunk_nbytes(f));
    CIP_TRY(cip_chunk_maker_init(&c->maker, &c->env->mem, f, longest, err));
    const bool tiled = f->grid != NULL && c->nbytes != 0;
    CIP_TRY(choose_room(c, count_chunks(c), tiled, err));
    if (!tiled)
        return CIP_OK;
    const cip_tiling t = { f->grid->ndim, f->grid->shape, f->grid->chunk, f->grid->itemsize };
    const uint64_t memory =
        cip_min_u64(c->to.tuning->tiles, c->env->limits.max_memory / c->to.tuning->share);
    CIP_TRY(cip_tiler_new(c->env, &t, memory, take_tile, c, &c->tiler, err));
    cip_tiler_to(c->tiler, c->slot[0].raw);
    if (c->maker.arranged != 0)
        cip_tiler_lend(c->tiler, take_lent);
    return CIP_OK;
}

static cip_status new_chunker(cip_env *env, const cip_array_form *form, const cip_chunker_to *to,
                              cip_chunker **out, cip_err *err)
{
    *out = NULL;
    CIP_TRY(CIP_NEW(&env->mem, out, 1, err));
    **out = (cip_chunker){ .env = env, .form = *form, .to = *to };
    if (to->tuning == NULL)
        (*out)->to.tuning = &cip_tuning_default;
    return CIP_OK;
}

cip_status cip_chunker_new_apart(cip_env *env, const cip_array_form *form, uint64_t longest,
                                 uint64_t most, const cip_chunker_to *to, cip_chunker **out,
                                 cip_err *err)
{
    cip_chunker *c;
    *out = NULL;
    CIP_TRY(new_chunker(env, form, to, &c, err));
    cip_status st = cip_chunk_maker_init(&c->maker, &env->mem, &c->form, longest, err);
    if (st == CIP_OK)
        st = choose_room(c, most, true, err);
    if (st != CIP_OK)
        cip_chunker_free(c);
    else
        *out = c;
    return st;
}

cip_status cip_chunker_chunk(cip_chunker *c, uint64_t i, cip_io *io, uint64_t off, uint64_t n,
                             cip_err *err)
{
    slot *s = &c->slot[c->now + c->nready];
    if (n > (c->maker.arranged != 0 ? c->maker.arranged : c->maker.raw))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a chunk of the array's form, found one of %" PRIu64 " bytes", n);
    s->io = io;
    s->off = off;
    s->n = (size_t)n;
    return ready(c, i, err);
}

cip_status cip_chunker_new(cip_env *env, const cip_array_form *form, uint64_t nelem,
                           const cip_chunker_to *to, cip_chunker **out, cip_err *err)
{
    cip_chunker *c;
    *out = NULL;
    CIP_TRY(new_chunker(env, form, to, &c, err));
    cip_status st = open(c, nelem, err);
    if (st != CIP_OK)
        cip_chunker_free(c);
    else
        *out = c;
    return st;
}

cip_status cip_chunker_write(cip_chunker *c, cip_bytes elems, cip_err *err)
{
    if (elems.len > c->nbytes - c->taken)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected %" PRIu64 " more bytes of the array, found %zu",
                        c->nbytes - c->taken, elems.len);
    if (!c->as_given && c->tiler == NULL)
        return cut_linear(c, elems, err);
    c->taken += elems.len;
    if (c->tiler != NULL) {
        CIP_TRY(cip_tiler_write(c->tiler, elems.ptr, elems.len, err));
        if (!c->borrowed)
            return CIP_OK;
        CIP_TRY(run_batch(c, err));
        cip_tiler_to(c->tiler, c->slot[c->now].raw);
        return CIP_OK;
    }
    cip_chunk_in in = { .bytes = elems, .run = 1, .raw_len = elems.len };
    return elems.len != 0 ? c->to.store(c->to.user, c->next++, 1, &in, err) : CIP_OK;
}

cip_status cip_chunker_finish(cip_chunker *c, cip_err *err)
{
    if (c->taken != c->nbytes)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " more bytes of the array, found the end",
                        c->nbytes - c->taken);
    if (c->nready != 0)
        CIP_TRY(run_batch(c, err));
    return c->turns ? store_before(c, err) : CIP_OK;
}

void cip_chunker_free(cip_chunker *c)
{
    if (c == NULL)
        return;
    cip_tiler_free(c->tiler);
    put_room(c);
    cip_mem_put(&c->env->mem, c);
}
