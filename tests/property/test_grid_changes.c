/* SPDX-License-Identifier: BSD-3-Clause
 * Random changes of random gridded arrays, one after the other, against an array in memory. The
 * chunks that come out are stored with anything for padding, so that nothing may rely on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "space/read/grid.h"
#include "space/change/grid_change.h"
#include "support/effort.h"
#include "support/fail_alloc.h"
#include "support/fake/fake.h"

enum { MAX_AXES = 4, PER_ARRAY = 4, ELEMS_MAX = 3000, PADDING = 1, WRITTEN };

static size_t nshown; /* chunks that stay though some of their padding becomes elements */

/* An array as it is stored, and its elements in C order. */
typedef struct subject {
    fake f;
    cip_space *s;
    cip_chunk *chunk; /* of the table */
    uint8_t *bytes;
    size_t size; /* of an element */
} subject;

/* A change, and what it should come to. */
typedef struct edit {
    subject *t;
    cip_grid now; /* with a shape of its own */
    bool reshapes, writes;
    cip_nd at;
    uint8_t *written, *next; /* elements; next: of the feed */
    uint8_t *bytes;          /* of the array afterwards */
    uint8_t *touched;        /* for each chunk: PADDING becomes elements, one is WRITTEN */
    cip_chunk *chunk;        /* of the new table */
    uint64_t nchunk, told;   /* chunks below that were told or passed over */
} edit;

static uint64_t product(int32_t n, const int64_t *v)
{
    uint64_t p = 1;
    for (int32_t k = 0; k < n; k++)
        p *= (uint64_t)v[k];
    return p;
}

static void split(uint64_t e, int32_t n, const int64_t *shape, int64_t *at)
{
    for (int32_t k = n - 1; k >= 0; k--) {
        at[k] = (int64_t)(e % (uint64_t)shape[k]);
        e /= (uint64_t)shape[k];
    }
}

static uint64_t join(int32_t n, const int64_t *shape, const int64_t *at)
{
    uint64_t e = 0;
    for (int32_t k = 0; k < n; k++)
        e = e * (uint64_t)shape[k] + (uint64_t)at[k];
    return e;
}

static void subject_open(subject *t, uint64_t seed, const cip_allocator *from)
{
    int64_t shape[MAX_AXES];
    uint64_t n;
    memset(t, 0, sizeof *t);
    fake_open_from(&t->f, seed, NULL, NULL, from);
    if (fake_chance(&t->f, 2))
        fake_tiny_tuning(&t->f);
    int32_t ndim = (int32_t)fake_pick(&t->f, 0, MAX_AXES);
    for (int32_t k = 0; k < ndim; k++)
        shape[k] = (int64_t)fake_pick(&t->f, 1, ndim < 3 ? 20 : 7);
    t->size = (size_t)fake_pick(&t->f, 1, 9);
    t->bytes = fake_random(&t->f, product(ndim, shape) * t->size);
    t->s = fake_grid(&t->f, shape, ndim, t->size, t->bytes, 1);
    FAKE_MUST(t->s->table.count(t->s->table.self, &n, err));
    t->chunk = fake_keep(&t->f, (n + 1) * sizeof *t->chunk);
    for (uint64_t i = 0; i < n; i++) {
        FAKE_MUST(t->s->table.at(t->s->table.self, i, 1, &t->chunk[i], err));
        t->chunk[i].run = 1;
    }
}

/* --- a random change -------------------------------------------------------------------------- */

static void pick_shape(edit *e)
{
    subject *t = e->t;
    const cip_grid *g = t->s->grid;
    int64_t *shape = fake_keep(&t->f, MAX_AXES * sizeof *shape);
    bool rows = fake_chance(&t->f, 3);
    e->now = *g;
    e->now.shape = shape;
    for (int32_t k = 0; k < g->ndim; k++) {
        shape[k] = g->shape[k];
        if (rows ? k == 0 : fake_chance(&t->f, 3))
            shape[k] = (int64_t)fake_pick(&t->f, fake_chance(&t->f, 9) ? 0 : 1,
                                          (uint64_t)g->shape[k] + (fake_chance(&t->f, 2) ? 9 : 1));
        e->reshapes = e->reshapes || shape[k] != g->shape[k];
    }
    if (product(g->ndim, shape) > ELEMS_MAX) {
        memcpy(shape, g->shape, (size_t)g->ndim * sizeof *shape);
        e->reshapes = false;
    }
}

/* A part of each axis in steps, either way; perhaps a field of the elements. */
static void pick_view(edit *e)
{
    fake *f = &e->t->f;
    cip_nd all;
    FAKE_MUST(cip_view_c_order(e->now.ndim, e->now.shape, e->now.itemsize, &all, err));
    e->at = (cip_nd){ .itemsize = all.itemsize };
    if (e->t->size > 1 && fake_chance(f, 6)) {
        e->at.itemsize = fake_pick(f, 1, e->t->size - 1);
        e->at.off = fake_pick(f, 0, e->t->size - e->at.itemsize);
    }
    for (int32_t k = 0; k < all.ndim; k++) {
        int64_t step = (int64_t)fake_pick(f, 1, fake_chance(f, 3) ? 5 : 1), length = all.shape[k];
        int64_t start = fake_chance(f, 2) ? 0 : (int64_t)fake_pick(f, 0, (uint64_t)length - 1);
        int64_t most = (length - start - 1) / step + 1;
        int64_t n = fake_chance(f, 2) ? most : (int64_t)fake_pick(f, 1, (uint64_t)most);
        bool back = fake_chance(f, 4);
        e->at.off += (uint64_t)((start + (back ? (n - 1) * step : 0)) * all.stride[k]);
        if (n == 1 && fake_chance(f, 2))
            continue; /* an index */
        e->at.shape[e->at.ndim] = n;
        e->at.stride[e->at.ndim++] = (back ? -step : step) * all.stride[k];
    }
}

static uint64_t chunk_of(const cip_grid *g, const int64_t *at)
{
    int64_t coord[MAX_AXES];
    cip_grid_chunk c;
    for (int32_t k = 0; k < g->ndim; k++)
        coord[k] = at[k] / g->chunk[k];
    cip_grid_chunk_at(g, coord, &c);
    return c.i;
}

/* Elements of both shapes stay, others are zeros; a chunk in which some become new is touched. */
static void model_shape(edit *e)
{
    const subject *t = e->t;
    const cip_grid *g = t->s->grid, *now = &e->now;
    for (uint64_t i = 0; i < product(now->ndim, now->shape); i++) {
        int64_t at[MAX_AXES];
        bool inside = true, in_chunks = true;
        split(i, now->ndim, now->shape, at);
        for (int32_t k = 0; k < now->ndim; k++) {
            inside = inside && at[k] < g->shape[k];
            in_chunks = in_chunks && at[k] / g->chunk[k] < cip_grid_nchunk(g, k);
        }
        if (inside)
            memcpy(e->bytes + i * t->size, t->bytes + join(g->ndim, g->shape, at) * t->size,
                   t->size);
        else if (in_chunks)
            e->touched[chunk_of(now, at)] = PADDING;
    }
}

static void model_write(edit *e)
{
    const cip_nd *v = &e->at;
    for (uint64_t i = 0; i < product(v->ndim, v->shape); i++) {
        int64_t at[MAX_AXES];
        uint64_t off = v->off;
        split(i, v->ndim, v->shape, at);
        for (int32_t k = 0; k < v->ndim; k++)
            off += (uint64_t)(at[k] * v->stride[k]);
        memcpy(e->bytes + off, e->written + i * v->itemsize, v->itemsize);
        split(off / e->t->size, e->now.ndim, e->now.shape, at);
        e->touched[chunk_of(&e->now, at)] = WRITTEN;
    }
}

static void pick_edit(subject *t, edit *e)
{
    uint64_t n;
    memset(e, 0, sizeof *e);
    e->t = t;
    e->nchunk = 1;
    pick_shape(e);
    for (int32_t k = 0; k < e->now.ndim; k++)
        e->nchunk *= (uint64_t)cip_grid_nchunk(&e->now, k);
    n = product(e->now.ndim, e->now.shape);
    e->bytes = fake_keep(&t->f, n * t->size);
    e->touched = fake_keep(&t->f, e->nchunk + 1);
    e->chunk = fake_keep(&t->f, (e->nchunk + 1) * sizeof *e->chunk);
    model_shape(e);
    e->writes = n != 0 && (!e->reshapes || fake_chance(&t->f, 2));
    if (!e->writes)
        return;
    pick_view(e);
    e->written = e->next = fake_random(&t->f, product(e->at.ndim, e->at.shape) * e->at.itemsize);
    model_write(e);
}

static cip_status next(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    edit *e = self;
    (void)err;
    memcpy(dst, e->next, (size_t)(nelem * e->at.itemsize));
    e->next += nelem * e->at.itemsize;
    return CIP_OK;
}

/* --- what comes out --------------------------------------------------------------------------- */

/* A chunk's elements as the grid stores them, padding of any value, to the file. */
static void store_elems(edit *e, const cip_grid_part *p)
{
    fake *f = &e->t->f;
    const cip_grid *g = &e->now;
    cip_grid_chunk c;
    cip_grid_chunk_at(g, p->coord, &c);
    assert_int_equal(c.i, p->i);
    uint8_t *raw = fake_random(f, c.raw_len);
    if (fake_chance(f, 2))
        memset(raw, 0, c.raw_len);
    assert_int_equal(p->elems.len, product(g->ndim, g->chunk) * g->itemsize);
    for (uint64_t i = 0; i < product(g->ndim, g->chunk); i++) {
        static const uint8_t zeros[16];
        int64_t at[MAX_AXES];
        uint64_t off = 0;
        bool valid = true;
        split(i, g->ndim, g->chunk, at);
        for (int32_t k = 0; k < g->ndim; k++) {
            off += (uint64_t)(at[k] / c.block[k] * c.step[k] + at[k] % c.block[k] * c.stride[k]);
            assert_true(p->valid[k] <= g->shape[k] - c.first[k]);
            valid = valid && at[k] < p->valid[k];
        }
        if (valid)
            memcpy(raw + off, p->elems.ptr + i * g->itemsize, g->itemsize);
        else
            assert_memory_equal(p->elems.ptr + i * g->itemsize, zeros, g->itemsize);
    }
    const uint64_t where = fake_append(f, raw, c.raw_len);
    e->chunk[p->i] = (cip_chunk){ .at = { f->layout->file, where, c.raw_len },
                                  .raw_len = c.raw_len,
                                  .run = 1,
                                  .codec = &cip_codec_stored };
}

static cip_status take_part(void *user, const cip_grid_part *p, cip_err *err)
{
    edit *e = user;
    (void)err;
    assert_true(p->i >= e->told && p->run != 0 && p->i + p->run <= e->nchunk);
    for (; e->told < p->i; e->told++) { /* not told: as it is */
        assert_true(!e->reshapes && e->touched[e->told] == 0);
        e->chunk[e->told] = e->t->chunk[e->told];
    }
    if (p->kind == CIP_GRID_ELEMS) {
        assert_int_equal(p->run, 1);
        assert_int_not_equal(e->touched[p->i], 0);
        store_elems(e, p);
    }
    for (uint64_t k = 0; p->kind != CIP_GRID_ELEMS && k < p->run; k++) {
        const uint8_t touched = e->touched[p->i + k]; /* padding: of zeros, as is read later */
        assert_true(e->reshapes && touched <= (p->kind == CIP_GRID_KEPT ? PADDING : 0));
        nshown += touched;
        e->chunk[p->i + k] = p->kind == CIP_GRID_KEPT
                                 ? e->t->chunk[p->from + k]
                                 : (cip_chunk){ .state = CIP_CHUNK_ZERO, .run = 1 };
    }
    e->told = p->i + p->run;
    return CIP_OK;
}

static cip_status run(edit *e, cip_err *err)
{
    const cip_feed feed = { .next = next, .self = e };
    const cip_grid_change c = { .how = e->t->f.how,
                                .old = e->t->s,
                                .grid = &e->now,
                                .at = e->writes ? &e->at : NULL,
                                .feed = &feed };
    return cip_grid_change_run(&c, take_part, e, err);
}

/* The array that the parts make becomes the subject, and reads as the model. */
static void check(edit *e)
{
    subject *t = e->t;
    cip_space *was = t->s;
    cip_table table;
    const size_t n = (size_t)(product(e->now.ndim, e->now.shape) * t->size);
    for (; e->told < e->nchunk; e->told++) {
        assert_true(!e->reshapes && e->touched[e->told] == 0);
        e->chunk[e->told] = t->chunk[e->told];
    }
    FAKE_MUST(cip_table_from_array(t->f.layout, e->chunk, e->nchunk, &table, err));
    FAKE_MUST(cip_space_new_grid(t->f.layout, &e->now, &table, was->step, was->nstep, &t->s, err));
    t->s->codec_env = was->codec_env;
    t->s->big = was->big;
    t->s->label = "changed grid";
    t->chunk = e->chunk;
    t->bytes = e->bytes;
    uint8_t *got = fake_keep(&t->f, n);
    FAKE_MUST(cip_space_read_at(&t->f.how, t->s, 0, got, n, err));
    assert_memory_equal(got, e->bytes, n);
}

static void changed_grids_read_as_the_model(void **state)
{
    (void)state;
    const uint64_t n = test_full() ? 25000 : 2500, from = test_seed();
    for (uint64_t seed = from; seed < from + n; seed++) {
        static subject t;
        static edit e;
        subject_open(&t, seed, NULL);
        for (int k = 0; k < PER_ARRAY; k++) {
            pick_edit(&t, &e);
            FAKE_MUST(run(&e, err));
            check(&e);
        }
        fake_close(&t.f);
    }
    assert_true(nshown > n / 20);
}

/* --- some of them ----------------------------------------------------------------------------- */

typedef struct told {
    size_t n;
    cip_grid_part part[8];
} told;

static cip_status note(void *user, const cip_grid_part *p, cip_err *err)
{
    told *t = user;
    (void)err;
    assert_true(t->n < 8);
    t->part[t->n++] = *p;
    return CIP_OK;
}

static void expect(const told *t, size_t i, cip_grid_part_kind kind, uint64_t first, uint64_t run)
{
    assert_true(i < t->n);
    assert_int_equal(t->part[i].kind, kind);
    assert_int_equal(t->part[i].i, first);
    assert_int_equal(t->part[i].run, run);
}

static void many_chunks_are_few_runs(void **state)
{
    fake f;
    told t = { 0 };
    (void)state;
    const int64_t chunk[] = { 2, 1 << 20 }, was[] = { (int64_t)1 << 35, 1 << 20 },
                  shape[] = { ((int64_t)1 << 36) + 1, 1 << 20 };
    const cip_grid old = { .itemsize = 1, .ndim = 2, .shape = was, .chunk = chunk };
    cip_grid now = old;
    cip_chunk zeros = { .state = CIP_CHUNK_ZERO, .run = UINT64_C(1) << 34 };
    cip_table table;
    fake_open(&f, 1, NULL, NULL);
    cip_grid_change c = { .how = f.how, .grid = &now };
    now.shape = shape;
    FAKE_MUST(cip_table_from_array(f.layout, &zeros, 1, &table, err));
    FAKE_MUST(cip_space_new_grid(f.layout, &old, &table, NULL, 0, &c.old, err));
    FAKE_MUST(cip_grid_change_run(&c, note, &t, err));
    assert_int_equal(t.n, 2);
    expect(&t, 0, CIP_GRID_KEPT, 0, UINT64_C(1) << 34);
    expect(&t, 1, CIP_GRID_ZEROS, UINT64_C(1) << 34, (UINT64_C(1) << 34) + 1);
    c.old = NULL;
    t.n = 0;
    FAKE_MUST(cip_grid_change_run(&c, note, &t, err));
    assert_int_equal(t.n, 1);
    expect(&t, 0, CIP_GRID_ZEROS, 0, (UINT64_C(1) << 35) + 1);
    fake_close(&f);
}

static void views_that_cannot_be_written_are_refused(void **state)
{
    static subject t;
    (void)state;
    for (uint64_t seed = 1;; seed++) {
        subject_open(&t, seed, NULL);
        if (t.s->grid->ndim == 2 && t.s->grid->shape[0] > 2 && t.s->grid->shape[1] > 2 &&
            t.s->grid->chunk[0] < t.s->grid->shape[0] && t.s->grid->chunk[1] < t.s->grid->shape[1])
            break;
        fake_close(&t.f);
    }
    told none = { 0 };
    const int64_t size = (int64_t)t.size, row = size * t.s->grid->shape[1];
    cip_nd at = { .itemsize = t.size, .ndim = 1, .shape = { 2 }, .stride = { 0 } };
    const cip_grid_change c = { .how = t.f.how, .old = t.s, .grid = t.s->grid, .at = &at };
    assert_int_equal(cip_grid_change_run(&c, note, &none, NULL), CIP_ERR_ARG);
    at.shape[0] = 3;
    at.stride[0] = row - size; /* back one column with each row, over the edge */
    assert_int_equal(cip_grid_change_run(&c, note, &none, NULL), CIP_ERR_UNSUPPORTED);
    at.off = (uint64_t)(row * (t.s->grid->shape[0] - 1));
    at.stride[0] = row; /* behind the last row */
    assert_int_equal(cip_grid_change_run(&c, note, &none, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(none.n, 0);
    fake_close(&t.f);
}

static void a_failing_allocation_is_passed_on(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++)
        for (size_t n = 1;; n++) {
            static subject t;
            static edit e;
            fail_alloc alloc = { 0 };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            subject_open(&t, seed, &from);
            pick_edit(&t, &e);
            const size_t before = alloc.requests;
            alloc.fail_at = before + n;
            cip_status st = run(&e, NULL);
            const bool failed = alloc.requests >= before + n;
            if (st != CIP_OK || !failed) /* what is kept for later gives way first */
                assert_int_equal(st, failed ? CIP_ERR_NOMEM : CIP_OK);
            fake_close(&t.f);
            assert_int_equal(alloc.held, 0);
            if (!failed)
                break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_grids_read_as_the_model),
        cmocka_unit_test(many_chunks_are_few_runs),
        cmocka_unit_test(views_that_cannot_be_written_are_refused),
        cmocka_unit_test(a_failing_allocation_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
