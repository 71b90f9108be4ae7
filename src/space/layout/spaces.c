/* SPDX-License-Identifier: BSD-3-Clause
 * Making spaces: each copies what it is given into the layout's arena, so that the caller's arrays
 * may go. What a file says is checked here as far as lengths are known, and again when it is read.
 */
#include <string.h>

#include "base/num.h"
#include "space/layout/layout.h"
#include "space/read/reader.h"

const cip_codec cip_codec_stored = { .name = "none" };

static cip_layout *root_of(cip_layout *l)
{
    while (l->parent != NULL)
        l = l->parent;
    return l;
}

/* A zeroed space with an id, and n bytes behind for its parts. */
static cip_status new_space(cip_layout *l, cip_space_kind kind, uint64_t len, cip_space **out,
                            cip_err *err)
{
    *out = NULL;
    pthread_mutex_lock(&l->lock);
    cip_status st = CIP_ARENA_NEW(&l->arena, out, 1, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    cip_space *s = *out;
    s->kind = kind;
    s->layout = l;
    s->len = len;
    s->id = atomic_fetch_add_explicit(&root_of(l)->next_id, 1, memory_order_relaxed);
    atomic_init(&s->use_in_order, false);
    atomic_init(&s->touched, false);
    atomic_init(&s->broken, false);
    return CIP_OK;
}

static cip_status arena_copy(cip_layout *l, const void *src, size_t n, size_t each, void **out,
                             cip_err *err)
{
    size_t total;
    *out = NULL;
    if (cip_mul_overflow(n, each, &total))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%zu items of %zu bytes", n, each);
    pthread_mutex_lock(&l->lock);
    cip_status st = cip_arena_get(&l->arena, total, out, err);
    pthread_mutex_unlock(&l->lock);
    if (st == CIP_OK && total != 0)
        memcpy(*out, src, total);
    return st;
}

void cip_space_renew(cip_space *s)
{
    s->id = atomic_fetch_add_explicit(&root_of(s->layout)->next_id, 1, memory_order_relaxed);
}

cip_status cip_space_new_file(cip_layout *l, cip_io *io, cip_space **out, cip_err *err)
{
    CIP_TRY(new_space(l, CIP_SPACE_FILE, io->size, out, err));
    (*out)->io = io;
    return CIP_OK;
}

cip_status cip_space_new_mem(cip_layout *l, cip_bytes mem, cip_space **out, cip_err *err)
{
    CIP_TRY(new_space(l, CIP_SPACE_MEM, mem.len, out, err));
    (*out)->mem = mem.ptr != NULL ? mem : (cip_bytes){ (const uint8_t *)"", 0 };
    return CIP_OK;
}

/* Whether the extent lies in its space, as far as that is known already. */
static cip_status check_part(const cip_extent *at, cip_err *err)
{
    uint64_t end;
    if (cip_add_overflow(at->off, at->len, &end))
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "a part of %" PRIu64 " bytes at %" PRIu64 " ends beyond 2^64", at->len,
                        at->off);
    bool known = at->in != NULL && at->in->kind != CIP_SPACE_LAZY;
    if (known && end > at->in->len)
        return cip_fail(err, CIP_ERR_RANGE, cip_space_file_offset(at->in, at->off),
                        "expected %" PRIu64 " bytes at %" PRIu64 " of %" PRIu64 ", found %" PRIu64,
                        at->len, at->off, at->in->len,
                        at->off < at->in->len ? at->in->len - at->off : 0);
    return CIP_OK;
}

cip_status cip_space_new_sub(cip_layout *l, cip_space *in, uint64_t off, uint64_t len,
                             cip_space **out, cip_err *err)
{
    cip_extent at = { .in = in, .off = off, .len = len };
    *out = NULL;
    CIP_TRY(check_part(&at, err));
    CIP_TRY(new_space(l, CIP_SPACE_SUB, len, out, err));
    (*out)->sub = at;
    return CIP_OK;
}

static cip_status set_steps(cip_space *s, const cip_step *step, size_t nstep, cip_err *err)
{
    if (nstep > CIP_MAX_STEPS)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d steps of coding, found %zu", CIP_MAX_STEPS, nstep);
    s->nstep = (uint8_t)nstep;
    for (size_t i = 0; i < nstep; i++)
        s->step[i] = step[i];
    return CIP_OK;
}

cip_status cip_space_new_chunked(cip_layout *l, const cip_table *table, uint64_t len,
                                 const cip_step *step, size_t nstep, cip_space **out, cip_err *err)
{
    cip_space *s;
    *out = NULL;
    CIP_TRY(new_space(l, CIP_SPACE_CHUNKED, len, &s, err));
    CIP_TRY(set_steps(s, step, nstep, err));
    s->table = *table;
    *out = s;
    return CIP_OK;
}

/* Sizes that cannot be: told before anything is computed from them. */
static cip_status check_grid(const cip_grid *g, uint64_t *len, cip_err *err)
{
    uint64_t total = g->itemsize, stored = g->itemsize;
    bool none = false;
    if (g->ndim < 0 || g->ndim > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d dimensions, found %d", CIP_MAX_NDIM, (int)g->ndim);
    if (g->blocked && g->block == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "blocks of no shape");
    for (int32_t k = 0; k < g->ndim; k++) {
        int64_t st = g->stored != NULL ? g->stored[k] : g->chunk[k];
        if (g->shape[k] < 0 || g->chunk[k] <= 0 || st < g->chunk[k])
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "axis %d: length %" PRId64 ", chunks of %" PRId64
                            ", stored as %" PRId64,
                            (int)k, g->shape[k], g->chunk[k], st);
        if (g->blocked && (g->block[k] <= 0 || st % g->block[k] != 0))
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "axis %d: chunks stored as %" PRId64 " in blocks of %" PRId64, (int)k,
                            st, g->block[k]);
        uint64_t end; /* of the last chunk: places in it are computed like those in the array */
        if (cip_mul_overflow(cip_div_up((uint64_t)g->shape[k], (uint64_t)g->chunk[k]),
                             (uint64_t)g->chunk[k], &end) ||
            end > INT64_MAX)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "axis %d: expected chunks that end before 2^63, found length %" PRId64
                            " in chunks of %" PRId64,
                            (int)k, g->shape[k], g->chunk[k]);
        none = none || g->shape[k] == 0;
        if (cip_mul_overflow(total, (uint64_t)(g->shape[k] != 0 ? g->shape[k] : 1), &total) ||
            cip_mul_overflow(stored, (uint64_t)st, &stored) || total > INT64_MAX ||
            stored > INT64_MAX)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "the array or one of its chunks has over 2^63 bytes");
    }
    *len = none ? 0 : total;
    return CIP_OK;
}

cip_status cip_space_new_grid(cip_layout *l, const cip_grid *grid, const cip_table *table,
                              const cip_step *step, size_t nstep, cip_space **out, cip_err *err)
{
    cip_space *s;
    uint64_t len;
    *out = NULL;
    CIP_TRY(check_grid(grid, &len, err));
    CIP_TRY(new_space(l, CIP_SPACE_GRID, len, &s, err));
    CIP_TRY(set_steps(s, step, nstep, err));
    cip_grid g = *grid;
    const int64_t **lists[] = { &g.shape, &g.chunk, &g.stored, &g.block };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (*lists[i] != NULL)
            CIP_TRY(
                arena_copy(l, *lists[i], (size_t)g.ndim, sizeof(int64_t), (void **)lists[i], err));
    CIP_TRY(arena_copy(l, &g, 1, sizeof g, (void **)&s->grid, err));
    s->table = *table;
    s->codec_env.typesize = grid->itemsize;
    s->codec_env.ndim = grid->ndim;
    s->codec_env.chunk = s->grid->stored != NULL ? s->grid->stored : s->grid->chunk;
    s->codec_env.block = s->grid->block;
    *out = s;
    return CIP_OK;
}

cip_status cip_space_new_seq(cip_layout *l, const cip_extent *at, uint64_t len,
                             const cip_step *step, cip_space **out, cip_err *err)
{
    cip_space *s;
    *out = NULL;
    CIP_TRY(check_part(at, err));
    CIP_TRY(new_space(l, CIP_SPACE_SEQ, len, &s, err));
    CIP_TRY(set_steps(s, step, 1, err));
    s->sub = *at;
    *out = s;
    return CIP_OK;
}

cip_status cip_space_new_records(cip_layout *l, uint64_t n, uint64_t itemsize,
                                 const cip_record_column *column, size_t ncolumn, cip_space **out,
                                 cip_err *err)
{
    cip_space *s;
    uint64_t len;
    void *kept;
    *out = NULL;
    if (cip_mul_overflow(n, itemsize, &len) || len > INT64_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "%" PRIu64 " records of %" PRIu64 " bytes", n, itemsize);
    CIP_TRY(new_space(l, CIP_SPACE_RECORDS, len, &s, err));
    CIP_TRY(arena_copy(l, column, ncolumn, sizeof *column, &kept, err));
    s->records.itemsize = itemsize;
    s->records.column = kept;
    s->records.n = ncolumn;
    *out = s;
    return CIP_OK;
}

cip_status cip_space_new_lazy(cip_layout *l,
                              cip_status (*make)(void *self, cip_space **out, cip_err *err),
                              void *self, cip_space **out, cip_err *err)
{
    CIP_TRY(new_space(l, CIP_SPACE_LAZY, 0, out, err));
    (*out)->lazy.make = make;
    (*out)->lazy.self = self;
    atomic_init(&(*out)->lazy.made, NULL);
    atomic_init(&(*out)->lazy.state, 0);
    return CIP_OK;
}

/* --- lazy spaces ----------------------------------------------------------------------------- */

enum { UNMADE, MADE, FAILED, BEING_MADE };

/* How many makers this thread is inside of: a read of theirs must not wait for other threads, which
 * may be waiting for the lazy lock. */
static _Thread_local unsigned makers;

bool cip_lazy_in_maker(void)
{
    return makers != 0;
}

/* Made, and what was made resolved in turn. */
static cip_status call_maker(cip_space *s, cip_space **made, cip_err *err)
{
    if (makers == CIP_SPACE_MAX_DEPTH)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "over %d references from one to the next", CIP_SPACE_MAX_DEPTH);
    makers++;
    cip_status st = s->lazy.make(s->lazy.self, made, err);
    if (st == CIP_OK && *made == NULL)
        st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "the array has no data");
    if (st == CIP_OK)
        st = cip_space_resolve(*made, made, err);
    makers--;
    return st;
}

/* Under the lazy lock. */
static cip_status make(cip_space *s, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_space *made = NULL;
    atomic_store_explicit(&s->lazy.state, BEING_MADE, memory_order_relaxed);
    cip_status st = call_maker(s, &made, &why);
    if (st == CIP_OK) {
        s->len = made->len;
        atomic_store_explicit(&s->lazy.made, made, memory_order_release);
        atomic_store_explicit(&s->lazy.state, MADE, memory_order_release);
    } else if (cip_is_passing(st)) {
        atomic_store_explicit(&s->lazy.state, UNMADE, memory_order_release);
    } else {
        s->lazy.st = st;
        s->lazy.err = cip_layout_keep_err(s->layout, &why);
        atomic_store_explicit(&s->lazy.state, FAILED, memory_order_release);
    }
    return cip_err_give(err, &why, st);
}

static cip_status wait_or_make(cip_space *s, cip_err *err)
{
    int state = atomic_load_explicit(&s->lazy.state, memory_order_acquire);
    if (state == UNMADE || state == BEING_MADE) {
        cip_layout *root = root_of(s->layout);
        cip_status st = CIP_OK;
        pthread_mutex_lock(&root->lazy); /* recursive: all who are in here are one thread */
        if (atomic_load_explicit(&s->lazy.state, memory_order_relaxed) == UNMADE)
            st = make(s, err);
        state = atomic_load_explicit(&s->lazy.state, memory_order_relaxed);
        pthread_mutex_unlock(&root->lazy);
        if (st != CIP_OK)
            return st;
    }
    if (state == BEING_MADE)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "it depends on itself");
    if (state != FAILED)
        return CIP_OK;
    if (s->lazy.err == NULL)
        return cip_fail(err, s->lazy.st, CIP_NO_OFFSET, "it could not be made before");
    cip_err_pass(err, s->lazy.err);
    return s->lazy.st;
}

cip_status cip_space_resolve(cip_space *s, cip_space **out, cip_err *err)
{
    if (s->kind == CIP_SPACE_LAZY) {
        cip_status st = wait_or_make(s, err);
        if (st != CIP_OK)
            return s->label != NULL ? cip_fail_in(err, st, "%s", s->label) : st;
        s = atomic_load_explicit(&s->lazy.made, memory_order_relaxed);
    }
    *out = s;
    return CIP_OK;
}
