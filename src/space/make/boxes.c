/* SPDX-License-Identifier: BSD-3-Clause
 * A box falls into its parts, one for each chunk that it touches. A part that is all of its chunk
 * is cast to where a chunk maker takes it, made and handed on; any other goes to its
 * place in the temporary file, which has the array in C order. What is left is read from there in
 * the end, a job for each chunk.
 *
 * Linear chunks are those of an array of one axis, and a box is one box of that for each of its
 * runs. A chunk is handed on once: who covers it marks it first, and what comes later for one that
 * is marked is refused, as its file has the chunk already. */
#include "space/make/boxes.h"

#include <stdatomic.h>
#include <string.h>

#include "base/num.h"
#include "base/stop.h"
#include "io/temporary.h"
#include "space/make/box_runs.h"
#include "space/make/chunk_make.h"
#include "space/read/grid.h"

struct cip_boxes {
    cip_boxes_of of;
    cip_chunk_maker maker;
    cip_cast cast;
    uint64_t each; /* bytes of an element that comes */
    int32_t ndim;  /* as chunks see the array: of linear ones, one axis */
    int64_t shape[CIP_MAX_NDIM], chunk[CIP_MAX_NDIM], nchunk[CIP_MAX_NDIM];
    uint64_t total;        /* chunks */
    _Atomic uint8_t *done; /* of each chunk, in C order: it was handed on */
};

/* Half-open bounds along the axes of the chunks, and elements that have them in C order. */
typedef struct box {
    int64_t start[CIP_MAX_NDIM], stop[CIP_MAX_NDIM];
    const uint8_t *data;
} box;

/* What a thread makes chunks in. */
typedef struct room {
    uint8_t *buffer; /* NULL: none yet */
    cip_chunk_work work;
    uint8_t *raw;
} room;

/* --- places ----------------------------------------------------------------------------------- */

/* The box within `all`, both as chunks see them: where its elements are in those of `all`. */
static void view_in(const cip_boxes *b, const box *all, const int64_t *start, const int64_t *stop,
                    cip_nd *out)
{
    int64_t stride = (int64_t)b->each;
    *out = (cip_nd){ .itemsize = b->each, .ndim = b->ndim };
    for (int32_t k = b->ndim - 1; k >= 0; k--) {
        out->shape[k] = stop[k] - start[k];
        out->stride[k] = stride;
        out->off += (uint64_t)((start[k] - all->start[k]) * stride);
        stride *= all->stop[k] - all->start[k];
    }
}

/* The part of a box, or of the array, that lies in the chunk; whether that is all of it. */
static bool clip(const cip_boxes *b, const box *x, const int64_t *coord, int64_t *start,
                 int64_t *stop)
{
    bool whole = true;
    for (int32_t k = 0; k < b->ndim; k++) {
        int64_t first = coord[k] * b->chunk[k];
        int64_t end = b->shape[k] - first < b->chunk[k] ? b->shape[k] : first + b->chunk[k];
        start[k] = x->start[k] > first ? x->start[k] : first;
        stop[k] = x->stop[k] < end ? x->stop[k] : end;
        whole = whole && start[k] == first && stop[k] == end;
    }
    return whole;
}

typedef cip_status run_fn(const cip_boxes *b, uint64_t off, uint8_t *p, size_t n, cip_err *err);

/* Runs of a part of the array, each with its place in it and where `view` has it in memory: there
 * they are as long as in the array, as a box that is in memory has all of no axis that the array
 * has more of. */
static cip_status for_runs(const cip_boxes *b, const box *part, const cip_nd *view, uint8_t *base,
                           run_fn *fn, cip_err *err)
{
    cip_box_runs r;
    if (!cip_box_runs_begin(&r, b->ndim, b->shape, part->start, part->stop))
        return CIP_OK;
    do {
        uint64_t in = view->off;
        for (int32_t k = 0; k < b->ndim; k++)
            in += (uint64_t)((r.at[k] - part->start[k]) * view->stride[k]);
        CIP_TRY(fn(b, r.first * b->each, base + in, (size_t)(r.n * b->each), err));
    } while (cip_box_runs_next(&r));
    return CIP_OK;
}

static cip_status keep(const cip_boxes *b, uint64_t off, uint8_t *p, size_t n, cip_err *err)
{
    return cip_temporary_write(b->of.waiting, off, p, n, err);
}

static cip_status fetch(const cip_boxes *b, uint64_t off, uint8_t *p, size_t n, cip_err *err)
{
    return cip_io_read(b->of.waiting, off, p, n, err);
}

/* --- a chunk ---------------------------------------------------------------------------------- */

/* Fills the chunk's raw bytes: of a grid's, in its shape, zeros beyond the array's edge. */
static cip_status cast_chunk(const cip_boxes *b, const int64_t *coord, const cip_nd *from,
                             const uint8_t *base, room *r, cip_err *err)
{
    const uint64_t size = b->cast.to->itemsize;
    const bool grid = b->of.form->grid != NULL;
    cip_cast_stats stats = { 0, 0 };
    cip_nd to = { .itemsize = size, .ndim = b->ndim };
    uint64_t valid = size, stride = size;
    for (int32_t k = b->ndim - 1; k >= 0; k--) {
        r->work.coord[k] = coord[k];
        r->work.valid[k] = to.shape[k] = from->shape[k];
        to.stride[k] = (int64_t)stride;
        stride *= (uint64_t)(grid ? b->chunk[k] : from->shape[k]);
        valid *= (uint64_t)from->shape[k];
    }
    r->work.raw = (cip_bytes){ r->raw, (size_t)stride };
    if (valid != stride)
        memset(r->raw, 0, (size_t)stride);
    cip_copy_nd(&b->cast, from, base, &to, r->raw, &stats);
    return cip_cast_check(&b->cast, &stats, ".accept_loss", err);
}

static cip_status make(cip_boxes *b, const int64_t *coord, const cip_nd *from, const uint8_t *base,
                       room *r, cip_err *err)
{
    cip_chunk_in made;
    cip_grid_chunk at = { .i = (uint64_t)coord[0] };
    const cip_chunk_maker *m = &b->maker;
    size_t n = 0;
    const size_t sizes[] = { m->raw, m->arranged, m->encoded[0], m->encoded[1] };
    if (r->buffer == NULL) {
        for (int i = 0; i < 4; i++)
            if (cip_add_overflow(n, sizes[i], &n))
                return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "chunks of over 2^64 bytes");
        CIP_TRY(cip_mem_get(&b->of.env->mem, n + 1, (void **)&r->buffer, err));
        r->raw = r->buffer;
        r->work.arranged = r->raw + m->raw;
        r->work.encoded[0] = r->work.arranged + m->arranged;
        r->work.encoded[1] = r->work.encoded[0] + m->encoded[0];
    }
    CIP_TRY(cast_chunk(b, coord, from, base, r, err));
    CIP_TRY(cip_chunk_make(&b->maker, &r->work, false, &made, err));
    if (b->of.form->grid != NULL)
        cip_grid_chunk_at(b->of.form->grid, coord, &at);
    return b->of.store(b->of.user, at.i, 1, &made, err);
}

/* --- boxes ------------------------------------------------------------------------------------ */

/* Whether any chunk is all in the box. */
static bool covers_any(const cip_boxes *b, const box *x)
{
    for (int32_t k = 0; k < b->ndim; k++) {
        int64_t first = (x->start[k] + b->chunk[k] - 1) / b->chunk[k] * b->chunk[k];
        int64_t end = b->shape[k] - first < b->chunk[k] ? b->shape[k] : first + b->chunk[k];
        if (first >= end || x->stop[k] < end)
            return false;
    }
    return true;
}

static cip_status wait(const cip_boxes *b, const box *x, const box *part, cip_err *err)
{
    cip_nd view;
    view_in(b, x, part->start, part->stop, &view);
    return for_runs(b, part, &view, (uint8_t *)(uintptr_t)x->data, keep, err);
}

/* `waits`: the caller sees to it that parts wait. */
static cip_status write_part(cip_boxes *b, const box *x, const int64_t *coord, bool waits, room *r,
                             cip_err *err)
{
    cip_nd view;
    box part;
    uint64_t index = 0;
    for (int32_t k = 0; k < b->ndim; k++)
        index = index * (uint64_t)b->nchunk[k] + (uint64_t)coord[k];
    _Atomic uint8_t *done = &b->done[index];
    bool whole = clip(b, x, coord, part.start, part.stop);
    if (whole ? atomic_exchange(done, 1) != 0 : atomic_load(done) != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected boxes without common elements, found elements of a chunk that is "
                        "already stored");
    if (!whole)
        return waits ? CIP_OK : wait(b, x, &part, err);
    view_in(b, x, part.start, part.stop, &view);
    return make(b, coord, &view, x->data, r, err);
}

static cip_status write_box(cip_boxes *b, const box *x, room *r, cip_err *err)
{
    int64_t from[CIP_MAX_NDIM], to[CIP_MAX_NDIM], at[CIP_MAX_NDIM] = { 0 };
    for (int32_t k = 0; k < b->ndim; k++) {
        if (x->start[k] == x->stop[k])
            return CIP_OK;
        from[k] = at[k] = x->start[k] / b->chunk[k];
        to[k] = (x->stop[k] - 1) / b->chunk[k] + 1;
    }
    const bool waits = !covers_any(b, x); /* all of it: in longer runs than part by part */
    do {
        CIP_TRY(cip_stop_ask(err));
        CIP_TRY(write_part(b, x, at, waits, r, err));
    } while (cip_box_next(b->ndim, from, to, at));
    return waits ? wait(b, x, x, err) : CIP_OK;
}

/* Each run of the box as one of elements in C order. */
static cip_status write_linear(cip_boxes *b, const int64_t *start, const int64_t *stop,
                               const uint8_t *data, room *r, cip_err *err)
{
    cip_box_runs runs;
    if (!cip_box_runs_begin(&runs, b->of.ndim, b->of.shape, start, stop))
        return CIP_OK;
    do {
        const box x = { { (int64_t)runs.first }, { (int64_t)(runs.first + runs.n) }, data };
        CIP_TRY(write_box(b, &x, r, err));
        data += runs.n * b->each;
    } while (cip_box_runs_next(&runs));
    return CIP_OK;
}

cip_status cip_boxes_write(cip_boxes *b, const int64_t *start, const int64_t *stop,
                           const void *data, cip_err *err)
{
    cip_status st;
    room r = { .buffer = NULL };
    if (b->of.form->grid == NULL) {
        st = write_linear(b, start, stop, data, &r, err);
    } else {
        box x = { .data = data };
        memcpy(x.start, start, (size_t)b->ndim * sizeof *start);
        memcpy(x.stop, stop, (size_t)b->ndim * sizeof *stop);
        st = write_box(b, &x, &r, err);
    }
    cip_mem_put(&b->of.env->mem, r.buffer);
    return st;
}

/* --- the end ---------------------------------------------------------------------------------- */

static cip_status finish_chunk(cip_boxes *b, const int64_t *coord, cip_err *err)
{
    cip_nd view;
    cip_mem *mem = &b->of.env->mem;
    box all = { .data = NULL };
    int64_t start[CIP_MAX_NDIM] = { 0 }, stop[CIP_MAX_NDIM] = { 0 };
    uint64_t n = b->each;
    uint8_t *kept;
    room r = { .buffer = NULL };
    memcpy(all.stop, b->shape, sizeof all.stop);
    clip(b, &all, coord, start, stop);
    for (int32_t k = 0; k < b->ndim; k++)
        n *= (uint64_t)(stop[k] - start[k]);
    memcpy(all.start, start, sizeof all.start);
    memcpy(all.stop, stop, sizeof all.stop);
    view_in(b, &all, start, stop, &view);
    CIP_TRY(cip_mem_get(mem, (size_t)n, (void **)&kept, err));
    cip_status st = for_runs(b, &all, &view, kept, fetch, err);
    if (st == CIP_OK)
        st = make(b, coord, &view, kept, &r, err);
    cip_mem_put(mem, r.buffer);
    cip_mem_put(mem, kept);
    return st;
}

static cip_status finish_job(void *arg, size_t i, cip_err *err)
{
    cip_boxes *b = arg;
    int64_t coord[CIP_MAX_NDIM] = { 0 };
    if (b->done[i] != 0)
        return CIP_OK;
    cip_shape_place(b->ndim, b->nchunk, i, coord);
    return finish_chunk(b, coord, err);
}

cip_status cip_boxes_finish(cip_boxes *b, cip_err *err)
{
    return cip_pool_run(b->of.env->pool, (size_t)b->total, finish_job, b, err);
}

/* --- beginning -------------------------------------------------------------------------------- */

bool cip_boxes_can(const cip_array_form *form)
{
    const uint64_t each = form->dtype->itemsize;
    return each != 0 &&
           (form->grid != NULL || (form->chunk_nbytes >= each && form->chunk_nbytes != UINT64_MAX));
}

/* The array as its chunks see it. */
static cip_status lay_out(cip_boxes *b, cip_err *err)
{
    const cip_boxes_of *of = &b->of;
    const cip_grid *g = of->form->grid;
    const uint64_t each = of->form->dtype->itemsize;
    uint64_t nelem;
    cip_shape_nelem(of->ndim, of->shape, &nelem);
    b->ndim = g != NULL ? g->ndim : 1;
    b->shape[0] = (int64_t)nelem;
    b->chunk[0] = (int64_t)cip_max_u64(1, cip_min_u64(nelem, of->form->chunk_nbytes / each));
    b->total = nelem != 0;
    for (int32_t k = 0; k < b->ndim && nelem != 0; k++) {
        if (g != NULL) {
            b->shape[k] = g->shape[k];
            b->chunk[k] = g->chunk[k];
        }
        b->nchunk[k] = (int64_t)cip_div_up((uint64_t)b->shape[k], (uint64_t)b->chunk[k]);
        if (cip_mul_overflow(b->total, (uint64_t)b->nchunk[k], &b->total) || b->total > SIZE_MAX)
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "over 2^64 chunks");
    }
    return CIP_OK;
}

static cip_status open(cip_boxes *b, cip_err *err)
{
    const cip_boxes_of *of = &b->of;
    CIP_TRY(lay_out(b, err));
    const uint64_t longest = (uint64_t)b->chunk[0] * of->form->dtype->itemsize; /* of linear ones */
    CIP_TRY(cip_chunk_maker_init(&b->maker, &of->env->mem, of->form, longest, err));
    CIP_TRY(cip_cast_make(of->dtype, of->form->dtype, of->policy, &b->cast, err));
    return cip_mem_zeroed(&of->env->mem, (size_t)b->total, 1, (void **)&b->done, err);
}

cip_status cip_boxes_new(const cip_boxes_of *of, cip_boxes **out, cip_err *err)
{
    cip_boxes *b;
    *out = NULL;
    CIP_TRY(CIP_NEW(&of->env->mem, &b, 1, err));
    b->of = *of;
    b->each = of->dtype->itemsize;
    cip_status st = open(b, err);
    if (st != CIP_OK) {
        cip_mem_put(&of->env->mem, b);
        return st;
    }
    *out = b;
    return CIP_OK;
}

void cip_boxes_free(cip_boxes *b)
{
    if (b == NULL)
        return;
    cip_mem_put(&b->of.env->mem, (void *)b->done);
    cip_mem_put(&b->of.env->mem, b);
}
