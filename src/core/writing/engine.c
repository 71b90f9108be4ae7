/* SPDX-License-Identifier: BSD-3-Clause
 * Whole arrays into a store: source -> elements -> chunks -> store.
 *
 * A source gives its elements in C order, in runs: memory as it lies there, a temporary file and an
 * open array read into a buffer. A run is cast to the type that the store stores; a chunker
 * (space/chunker.c) makes the chunks of the store's form of it. Chunks of an open array that is
 * stored in just this form move as they are (space/chunk_move.c). Behind the last chunk the store
 * may ask for all of them again (data that did not become smaller, to be stored as they are): every
 * source can be walked twice.
 *
 * Invariants: the chunks' bytes depend on the source's elements and the form alone; there is memory
 * for one run of elements before and after the cast, never for an array (unless the store wants it
 * in one chunk); progress is told and cancelling heard here and nowhere else, after each run. */
#include "core/writing/engine.h"

#include <string.h>

#include "base/num.h"
#include "space/make/chunk_fill.h"
#include "space/make/chunk_move.h"
#include "space/make/chunker.h"
#include "space/make/splitter.h"

enum { DIRECT = 64 << 20 }; /* bytes of memory that are handed on as they lie there */

/* --- sources ---------------------------------------------------------------------------------- */

typedef struct walk {
    const cip_source *s;
    cip_cast cast;
    uint64_t most;
    uint8_t *in, *out; /* buffers for `most` elements; NULL where none is needed */
    cip_source_fn *fn;
    void *user;
} walk;

static cip_status walk_linear(walk *w, cip_err *err)
{
    cip_cast_stats stats = { 0, 0 };
    const cip_dtype *from = w->cast.from, *to = w->cast.to;
    for (uint64_t at = 0; at < w->s->nelem; at += w->most) {
        uint64_t n = cip_min_u64(w->most, w->s->nelem - at);
        const uint8_t *p = w->s->mem != NULL ? w->s->mem + at * from->itemsize : w->in;
        if (w->in != NULL)
            CIP_TRY(cip_io_read(w->s->io, at * from->itemsize, w->in, (size_t)(n * from->itemsize),
                                err));
        if (w->out != NULL) {
            cip_cast_run(&w->cast, (size_t)n, p, (int64_t)from->itemsize, w->out,
                         (int64_t)to->itemsize, at, &stats);
            CIP_TRY(cip_cast_check(&w->cast, &stats, ".accept_loss", err));
            p = w->out;
        }
        CIP_TRY(w->fn(w->user, (cip_bytes){ p, (size_t)(n * to->itemsize) }, err));
    }
    return CIP_OK;
}

/* One run of them, over and over. */
static cip_status walk_value(walk *w, cip_err *err)
{
    cip_cast_stats stats = { 0, 0 };
    const size_t each = (size_t)w->cast.to->itemsize;
    if (w->s->nelem == 0)
        return CIP_OK;
    cip_cast_run(&w->cast, 1, w->s->value, (int64_t)w->cast.from->itemsize, w->out, (int64_t)each,
                 0, &stats);
    CIP_TRY(cip_cast_check(&w->cast, &stats, ".accept_loss", err));
    for (uint64_t i = 1; i < w->most; i++)
        memcpy(w->out + i * each, w->out, each);
    for (uint64_t left = w->s->nelem, n; left != 0; left -= n) {
        n = cip_min_u64(w->most, left);
        CIP_TRY(w->fn(w->user, (cip_bytes){ w->out, (size_t)(n * each) }, err));
    }
    return CIP_OK;
}

static cip_status walk_plan(walk *w, cip_err *err)
{
    cip_read_plan p = *w->s->plan; /* the same elements as another type */
    cip_parts it;
    cip_part part;
    p.to = w->cast.to;
    p.cast = w->cast;
    cip_parts_start(&it, &p, w->most);
    while (cip_parts_next(&it, &part)) {
        CIP_TRY(cip_read_plan_fetch(&p, &part, w->out, err));
        cip_bytes elems = { w->out, (size_t)(part.nelem * p.to->itemsize) };
        CIP_TRY(w->fn(w->user, elems, err));
    }
    return CIP_OK;
}

static cip_status buffer(cip_env *env, uint64_t n, uint64_t each, uint8_t **out, cip_err *err)
{
    size_t nbytes;
    if (cip_mul_overflow(n, each, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of over 2^64 bytes");
    return cip_mem_get(&env->mem, nbytes, (void **)out, err);
}

static const cip_dtype *type_of(const cip_source *s)
{
    return s->plan != NULL ? s->plan->stored : s->dtype;
}

cip_status cip_source_walk(cip_env *env, const cip_source *s, const cip_dtype *to, uint64_t most,
                           cip_source_fn *fn, void *user, cip_err *err)
{
    cip_status st;
    walk w = { .s = s, .fn = fn, .user = user };
    bool mask = s->plan != NULL && s->plan->take_mask; /* is fetched as what is wanted */
    w.most = cip_max_u64(1, cip_min_u64(most, s->nelem));
    CIP_TRY(cip_cast_make(mask ? to : type_of(s), to, s->policy, &w.cast, err));
    if (s->io != NULL)
        CIP_GO(buffer(env, w.most, s->dtype->itemsize, &w.in, err));
    if (s->plan != NULL || s->value != NULL || !cip_cast_is_copy(&w.cast))
        CIP_GO(buffer(env, w.most, to->itemsize, &w.out, err));
    st = s->plan != NULL    ? walk_plan(&w, err)
         : s->value != NULL ? walk_value(&w, err)
                            : walk_linear(&w, err);
done:
    cip_mem_put(&env->mem, w.in);
    cip_mem_put(&env->mem, w.out);
    return st;
}

uint64_t cip_source_nbytes(const cip_source *s)
{
    return s->nelem * type_of(s)->itemsize;
}

cip_status cip_engine_tell(cip_engine *e, uint64_t more, cip_err *err)
{
    e->done += more;
    if (e->progress != NULL && e->progress(e->user, e->done, e->total) != 0)
        return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
    return CIP_OK;
}

static void lock(const cip_engine *e)
{
    if (e->lock != NULL)
        pthread_mutex_lock(e->lock);
}

static cip_status unlock(const cip_engine *e, cip_status st)
{
    if (e->lock != NULL)
        pthread_mutex_unlock(e->lock);
    return st;
}

cip_status cip_engine_store(const cip_engine *e, size_t array, uint64_t i, size_t n,
                            const cip_chunk_in *chunk, cip_err *err)
{
    lock(e);
    return unlock(e, e->store->store(e->state, array, i, n, chunk, err));
}

cip_status cip_engine_end(const cip_engine *e, size_t array, bool *again, cip_err *err)
{
    if (e->store->end == NULL)
        return CIP_OK;
    lock(e);
    return unlock(e, e->store->end(e->state, array, again, err));
}

cip_status cip_engine_add(const cip_engine *e, const cip_spec_array *array, cip_array_form *form,
                          cip_err *err)
{
    lock(e);
    return unlock(e, e->store->add(e->state, array, form, err));
}

/* --- into the store --------------------------------------------------------------------------- */

typedef struct pump {
    cip_engine *e;
    size_t array;
    cip_chunker *chunker;   /* one of these two */
    cip_splitter *splitter; /* of records that are stored in columns */
    uint64_t stored, each;  /* bytes of an element in the store, and in the source */
    uint64_t whole, moved;  /* of chunks that move: the source's bytes, and those that are done */
} pump;

static cip_status store(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk, cip_err *err)
{
    const pump *p = user;
    return cip_engine_store(p->e, p->array, i, n, chunk, err);
}

static cip_status store_column(void *user, size_t array, uint64_t i, size_t n,
                               const cip_chunk_in *chunk, cip_err *err)
{
    return cip_engine_store(((const pump *)user)->e, array, i, n, chunk, err);
}

static cip_status take(void *user, cip_bytes elems, cip_err *err)
{
    pump *p = user;
    CIP_TRY(p->splitter != NULL ? cip_splitter_write(p->splitter, elems, err)
                                : cip_chunker_write(p->chunker, elems, err));
    return cip_engine_tell(p->e, elems.len / cip_max_u64(1, p->stored) * p->each, err);
}

/* Of n chunks, `done` were moved: that share of the source's bytes is done. */
static cip_status tell_share(void *user, uint64_t done, uint64_t n, cip_err *err)
{
    pump *p = user;
    uint64_t now = done == n ? p->whole : p->whole / n * done;
    uint64_t more = now - p->moved;
    p->moved = now;
    return cip_engine_tell(p->e, more, err);
}

/* Chunks of an open array that the store takes as they are stored; *moved false: it is not stored
 * in the store's form, or not all of it is wanted. */
static cip_status move_chunks(pump *p, const cip_array_form *form, const cip_source *from,
                              bool *moved, cip_err *err)
{
    const cip_read_plan *plan = from->plan;
    *moved = false;
    if ((form->caps & CIP_FORM_TAKES) == 0 || plan == NULL || !cip_read_plan_is_whole(plan))
        return CIP_OK;
    cip_chunk_mover m = { .env = p->e->env, .how = plan->how, .form = form, .array = plan->array };
    m.store = store;
    m.tell = tell_share;
    m.user = p;
    p->whole = cip_source_nbytes(from);
    return cip_chunk_move(&m, moved, err);
}

/* Rows of n-d chunks along the first axis, as many as make a piece: those that lie in memory as a
 * whole are cut where they lie. Of blocked ones a piece for each thread: they are made before the
 * run ends. */
static uint64_t rows_of_chunks(const cip_engine *e, const cip_grid *g, const cip_source *from)
{
    uint64_t row;
    if (g->ndim == 0 || from->nelem == 0)
        return from->nelem;
    row = from->nelem / (uint64_t)g->shape[0];
    row *= cip_min_u64((uint64_t)g->chunk[0], (uint64_t)g->shape[0]);
    const uint64_t pieces = g->blocked ? cip_pool_threads(e->env->pool) : 1;
    return row * cip_max_u64(1, pieces * cip_piece_elems(from->dtype->itemsize) / row);
}

/* Elements of a run. Memory that is stored as it is needs no buffer: long runs of it spare calls
 * and keep more threads busy. */
static uint64_t run_elems(const cip_engine *e, const cip_array_form *form, const cip_source *from)
{
    uint64_t each = form->dtype->itemsize;
    bool direct = from->mem != NULL && each != 0 && form->ncolumn == 0 &&
                  cip_dtype_same_bytes(from->dtype, form->dtype);
    if (form->grid == NULL && form->chunk_nbytes == UINT64_MAX)
        return from->nelem;
    if (form->grid != NULL && direct)
        return rows_of_chunks(e, form->grid, from);
    return direct ? cip_max_u64(1, DIRECT / each) : cip_piece_elems(each);
}

static cip_status put_columns(pump *p, const cip_array_form *form, const cip_source *from,
                              cip_err *err)
{
    const cip_splitter_to to = { store_column, p, p->e->tuning };
    CIP_TRY(cip_splitter_new(p->e->env, form, from->nelem, &to, &p->splitter, err));
    cip_status st =
        cip_source_walk(p->e->env, from, form->dtype, run_elems(p->e, form, from), take, p, err);
    if (st == CIP_OK)
        st = cip_splitter_finish(p->splitter, err);
    cip_splitter_free(p->splitter);
    return st;
}

/* Elements of an open array that lie in memory as they are wanted are taken from there. */
static cip_source in_memory(const cip_source *s)
{
    const uint8_t *mem = s->plan != NULL ? cip_read_plan_in_memory(s->plan) : NULL;
    if (mem == NULL)
        return *s;
    return (
        cip_source){ .dtype = s->plan->stored, .nelem = s->nelem, .mem = mem, .policy = s->policy };
}

typedef struct first_elem {
    uint8_t *elem;
    size_t n;
} first_elem;

static cip_status keep_elem(void *user, cip_bytes elems, cip_err *err)
{
    const first_elem *to = user;
    (void)err;
    memcpy(to->elem, elems.ptr, to->n);
    return CIP_OK;
}

/* Chunks of one element that take no data. */
static cip_status fill_chunks(pump *p, const cip_array_form *form, const cip_source *from,
                              bool *done, cip_err *err)
{
    cip_mem *mem = &p->e->env->mem;
    cip_source one = *from;
    first_elem to = { .n = (size_t)form->dtype->itemsize };
    *done = false;
    if (from->value == NULL || from->nelem == 0)
        return CIP_OK;
    one.nelem = 1;
    CIP_TRY(cip_mem_get(mem, to.n, (void **)&to.elem, err));
    const cip_fill fill = { to.elem, from->unset, from->nelem };
    cip_status st = cip_source_walk(p->e->env, &one, form->dtype, 1, keep_elem, &to, err);
    if (st == CIP_OK)
        st = cip_chunks_fill(form, &fill, store, p, done, err);
    cip_mem_put(mem, to.elem);
    return st == CIP_OK && *done ? cip_engine_tell(p->e, cip_source_nbytes(from), err) : st;
}

static cip_status put_once(cip_engine *e, size_t array, const cip_array_form *form,
                           const cip_source *from, cip_err *err)
{
    pump p = { .e = e, .array = array, .stored = form->dtype->itemsize };
    p.each = type_of(from)->itemsize;
    bool done;
    if (form->ncolumn != 0)
        return put_columns(&p, form, from, err);
    CIP_TRY(move_chunks(&p, form, from, &done, err));
    if (!done)
        CIP_TRY(fill_chunks(&p, form, from, &done, err));
    if (done)
        return CIP_OK;
    const cip_source there = in_memory(from);
    from = &there;
    const cip_chunker_to to = { store, &p, e->tuning };
    CIP_TRY(cip_chunker_new(e->env, form, from->nelem, &to, &p.chunker, err));
    cip_status st =
        cip_source_walk(e->env, from, form->dtype, run_elems(e, form, from), take, &p, err);
    if (st == CIP_OK)
        st = cip_chunker_finish(p.chunker, err);
    cip_chunker_free(p.chunker);
    return st;
}

cip_status cip_engine_put(cip_engine *e, size_t array, const cip_array_form *form,
                          const cip_source *from, cip_err *err)
{
    bool again;
    do {
        uint64_t before = e->done;
        again = false;
        if (from != NULL)
            CIP_TRY(put_once(e, array, form, from, err));
        CIP_TRY(cip_engine_end(e, array, from != NULL ? &again : NULL, err));
        if (again)
            e->total += e->done - before;
    } while (again);
    return CIP_OK;
}
