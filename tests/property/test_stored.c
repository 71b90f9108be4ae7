/* SPDX-License-Identifier: BSD-3-Clause
 * Random arrays from every kind of source, stored in every form by the engine: what is read again
 * is what a cast of all elements gives, chunks are special just where a look at each element finds
 * them so, and the same chunks come whatever the threads, the source and the sizes that decide. A
 * full run tries 100,000 (CIP_FULL=1), from the seed CIP_SEED. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "core/writing/engine.h"
#include "io/temporary.h"
#include "support/effort.h"
#include "support/fake/fake.h"

/* The seed at work: an assertion leaves the test where it stands. */
static uint64_t now;

static int name_seed(void **state)
{
    (void)state;
    if (now != 0)
        print_message("seed %" PRIu64 "\n", now);
    return 0;
}

enum { SAMPLE = 1500, ALL = 100000, MAX_ELEMS = 4000 };

typedef struct subject {
    fake one, many; /* without threads, and with four */
    int32_t ndim;
    int64_t shape[CIP_MAX_NDIM];
    const cip_dtype *from, *to;
    uint64_t nelem;
    uint8_t *data, *want; /* as `from` and as `to` */
} subject;

static const cip_dtype *pick_type(fake *f)
{
    static const cip_kind kinds[] = { CIP_U8, CIP_I8, CIP_I16, CIP_U32, CIP_I64, CIP_F32, CIP_F64 };
    return cip_dtype_fixed(kinds[fake_pick(f, 0, 6)], fake_chance(f, 2));
}

static void cast_all(const cip_dtype *from, const cip_dtype *to, uint64_t n, const uint8_t *src,
                     uint8_t *dst)
{
    cip_cast c;
    cip_cast_stats stats = { 0, 0 };
    assert_int_equal(cip_cast_make(from, to, CIP_OVERFLOW_ERROR, &c, NULL), CIP_OK);
    cip_cast_run(&c, (size_t)n, src, (int64_t)from->itemsize, dst, (int64_t)to->itemsize, 0,
                 &stats);
    assert_int_equal(stats.noverflow, 0);
}

/* Values that every type holds, with long runs of one; NaN where both types have it. */
static void fill(subject *s)
{
    fake *f = &s->one;
    bool nan = s->from->kind >= CIP_F32 && s->to->kind >= CIP_F32;
    double *v = fake_keep(f, (size_t)(s->nelem + 1) * sizeof *v);
    double value = 0;
    uint64_t left = 0;
    for (uint64_t i = 0; i < s->nelem; i++, left -= left != 0) {
        if (left == 0 && fake_chance(f, 12)) {
            left = fake_pick(f, 1, s->nelem);
            value = fake_chance(f, 2) ? 0 : nan && fake_chance(f, 2) ? NAN : 7;
        }
        v[i] = left != 0 ? value : (double)fake_pick(f, 0, 100);
    }
    s->data = fake_keep(f, (size_t)(s->nelem * s->from->itemsize));
    s->want = fake_keep(f, (size_t)(s->nelem * s->to->itemsize));
    cast_all(cip_dtype_of(CIP_F64), s->from, s->nelem, (const uint8_t *)v, s->data);
    cast_all(s->from, s->to, s->nelem, s->data, s->want);
}

static void begin(subject *s, uint64_t seed, cip_pool *pool)
{
    fake *f = &s->one;
    fake_open(f, seed, NULL, NULL);
    fake_open(&s->many, seed + 1, pool, NULL);
    fake_tiny_tuning(f);
    if (fake_chance(f, 2))
        fake_tiny_tuning(&s->many);
    s->ndim = (int32_t)fake_pick(f, 0, 4);
    s->nelem = 1;
    for (int32_t k = 0; k < s->ndim; k++) {
        uint64_t most = cip_min_u64(MAX_ELEMS / cip_max_u64(s->nelem, 1), s->ndim < 3 ? 90 : 14);
        s->shape[k] = fake_chance(f, 40) ? 0 : (int64_t)fake_pick(f, 1, cip_max_u64(most, 1));
        s->nelem *= (uint64_t)s->shape[k];
    }
    s->from = pick_type(f);
    s->to = fake_chance(f, 2) ? s->from : pick_type(f);
    fill(s);
}

/* --- sources --------------------------------------------------------------------------------- */

typedef struct origin {
    cip_source s;
    cip_io *io;
    cip_read_plan plan;
} origin;

static void plan_array(fake *f, const subject *s, cip_space *space, const cip_dtype *dtype,
                       cip_read_plan *plan)
{
    cip_array *a;
    FAKE_MUST(cip_layout_add_array(f->layout, true, &a, err));
    a->layout = f->layout;
    a->path = "a";
    a->dtype = dtype;
    a->space = space;
    a->storage.block = -1;
    FAKE_MUST(cip_view_c_order(s->ndim, s->shape, dtype->itemsize, &a->view, err));
    FAKE_MUST(cip_read_plan_make(a, NULL, CIP_AS_STORED, plan, err));
}

static void open_source(fake *f, const subject *s, origin *o)
{
    size_t n = (size_t)(s->nelem * s->from->itemsize);
    memset(o, 0, sizeof *o);
    o->s = (cip_source){ .dtype = s->from, .nelem = s->nelem };
    switch (fake_pick(f, 0, 2)) {
    case 0:
        o->s.mem = s->data;
        break;
    case 1:
        FAKE_MUST(cip_temporary_new(&f->env, NULL, &o->io, err));
        FAKE_MUST(cip_temporary_write(o->io, 0, s->data, n, err));
        o->s.io = o->io;
        break;
    default:
        plan_array(f, s, fake_any_space(f, s->data, n, 1, true), s->from, &o->plan);
        o->s.plan = &o->plan;
    }
}

static void close_source(origin *o)
{
    cip_io_close(o->io);
    if (o->s.plan != NULL)
        cip_read_plan_clear(&o->plan);
}

/* --- storing and looking --------------------------------------------------------------------- */

static int count(void *user, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    *(uint64_t *)user = done;
    return 0;
}

static void put(fake *f, const subject *s, fake_stored *to)
{
    origin o;
    uint64_t told = 0;
    open_source(f, s, &o);
    to->again = fake_chance(f, 8);
    uint64_t nbytes = s->nelem * s->from->itemsize, rounds = 1 + to->again;
    cip_engine e = { .env = &f->env,
                     .store = &fake_store,
                     .state = to,
                     .progress = count,
                     .user = &told,
                     .total = cip_source_nbytes(&o.s),
                     .tuning = &f->tuning };
    FAKE_MUST(cip_engine_put(&e, 0, &to->form, &o.s, err));
    assert_int_equal(told, nbytes * rounds);
    close_source(&o);
}

static void compare_read(fake *f, const subject *s, const fake_stored *stored)
{
    size_t n = (size_t)(s->nelem * s->to->itemsize);
    uint8_t *got = fake_keep(f, n);
    assert_int_equal(stored->taken == stored->nbytes || stored->grid != NULL, 1);
    FAKE_MUST(cip_space_read_at(&f->how, fake_stored_space(stored), 0, got, n, err));
    assert_memory_equal(got, s->want, n);
}

/* The state that chunk i has to have, from a look at each of its elements. */
static cip_chunk_state state_of(const subject *s, const fake_stored *stored, size_t i)
{
    const cip_array_form *form = &stored->form;
    size_t each = (size_t)s->to->itemsize, n = (size_t)stored->chunk[i].raw_len / each;
    const uint8_t zero[8] = { 0 }, *first = NULL;
    bool zeros = true;
    double v;
    if (stored->grid != NULL)
        n = fake_chunk_elems(stored->grid, i);
    for (size_t j = 0; j < n; j++) {
        size_t at = stored->grid != NULL ? fake_element_of(stored->grid, i, j)
                                         : (size_t)stored->chunk[i].raw_off / each + j;
        if (at == SIZE_MAX)
            continue;
        const uint8_t *p = s->want + at * each;
        first = first == NULL ? p : first;
        zeros = zeros && memcmp(p, zero, each) == 0;
        if (memcmp(p, first, each) != 0)
            return CIP_CHUNK_DATA;
    }
    if (zeros && (form->specials & CIP_FORM_SPECIAL(CIP_CHUNK_ZERO)) != 0)
        return CIP_CHUNK_ZERO;
    cast_all(s->to, cip_dtype_of(CIP_F64), 1, first, (uint8_t *)&v);
    if (isnan(v) && (form->specials & CIP_FORM_SPECIAL(CIP_CHUNK_NAN)) != 0)
        return CIP_CHUNK_NAN;
    return (form->specials & CIP_FORM_SPECIAL(CIP_CHUNK_VALUE)) != 0 ? CIP_CHUNK_VALUE
                                                                     : CIP_CHUNK_DATA;
}

static void compare_stored(const fake_stored *a, const fake_stored *b)
{
    for (size_t i = 0; i < a->nstored; i++) {
        const cip_chunk *x = &a->chunk[i], *y = &b->chunk[i];
        assert_int_equal(x->state, y->state);
        assert_int_equal(x->raw_len, y->raw_len);
        assert_ptr_equal(x->codec, y->codec);
        assert_int_equal(x->at.len, y->at.len);
        assert_memory_equal(a->f->file + x->at.off, b->f->file + y->at.off, (size_t)x->at.len);
        assert_memory_equal(x->sum, y->sum, sizeof x->sum);
    }
    assert_int_equal(a->nstored, b->nstored);
}

/* The stored array once more, to a store that takes chunks as they are: of the same form but for
 * what may differ. */
static void move_on(fake *f, const subject *s, const fake_stored *one)
{
    fake_stored other;
    cip_read_plan plan;
    bool same = fake_chance(f, 2);
    fake_same_form(f, one, &other);
    other.form.caps |= CIP_FORM_TAKES;
    for (size_t k = 0; k < other.form.nstep; k++)
        other.form.step[k].level = 0;
    if (!same) {
        other.form.specials = (uint32_t)fake_pick(f, 0, 15) << CIP_CHUNK_ZERO;
        other.form.sum_id = fake_chance(f, 2) ? CIP_SUM_MD5 : CIP_SUM_NONE;
        other.form.caps &= fake_chance(f, 2) ? ~(uint32_t)CIP_FORM_PLAIN : UINT32_MAX;
        other.form.chunk_nbytes = one->form.chunk_nbytes == 0 ? UINT64_MAX : one->form.chunk_nbytes;
    }
    plan_array(f, s, fake_stored_space(one), s->to, &plan);
    cip_engine e = { .env = &f->env, .store = &fake_store, .state = &other, .tuning = &f->tuning };
    const cip_source from = { .nelem = s->nelem, .plan = &plan };
    size_t used = fake_key_used;
    FAKE_MUST(cip_engine_put(&e, 0, &other.form, &from, err));
    if (same && (one->form.chunk_nbytes != 0 || one->grid != NULL)) {
        assert_int_equal(fake_key_used, used);
        compare_stored(one, &other);
    }
    compare_read(f, s, &other);
    cip_read_plan_clear(&plan);
}

static void try_one(uint64_t seed, cip_pool *pool)
{
    subject s;
    fake_stored one, many;
    begin(&s, seed, pool);
    fake_pick_form(&s.one, s.to, s.ndim, s.shape, &one);
    fake_same_form(&s.many, &one, &many);
    put(&s.one, &s, &one);
    put(&s.many, &s, &many);
    compare_read(&s.one, &s, &one);
    compare_read(&s.many, &s, &many);
    if (one.form.chunk_nbytes != 0 || one.grid != NULL) { /* any lengths else, as they come */
        compare_stored(&one, &many);
        for (size_t i = 0; i < one.nstored; i++)
            assert_int_equal(one.chunk[i].state, state_of(&s, &one, i));
    }
    move_on(&s.one, &s, &one);
    fake_close(&s.many);
    fake_close(&s.one);
}

static void arrays_are_stored_in_every_form(void **state)
{
    cip_pool *pool;
    uint64_t first = test_seed(), n = test_full() ? ALL : SAMPLE;
    (void)state;
    assert_int_equal(cip_pool_new(4, &pool, NULL), CIP_OK);
    for (now = first; now < first + n; now++)
        try_one(now, pool);
    now = 0;
    cip_pool_free(pool);
}

/* A chunk with bytes of its own, or SIZE_MAX. */
static size_t find_data(const fake_stored *s)
{
    for (size_t i = 0; i < s->nstored; i++)
        if (s->chunk[i].state == CIP_CHUNK_DATA && s->chunk[i].at.len != 0)
            return i;
    return SIZE_MAX;
}

/* Moves what is damaged: the status. */
static cip_status move_damaged(fake *f, const subject *s, const fake_stored *one)
{
    fake_stored other;
    cip_read_plan plan;
    fake_same_form(f, one, &other);
    other.form.caps |= CIP_FORM_TAKES;
    for (size_t k = 0; k < other.form.nstep; k++)
        other.form.step[k].level = 0;
    plan_array(f, s, fake_stored_space(one), s->to, &plan);
    cip_engine e = { .env = &f->env, .store = &fake_store, .state = &other };
    const cip_source from = { .nelem = s->nelem, .plan = &plan };
    cip_status st = cip_engine_put(&e, 0, &other.form, &from, NULL);
    cip_read_plan_clear(&plan);
    return st;
}

static void damaged_and_missing_chunks_do_not_move(void **state)
{
    size_t done = 0;
    (void)state;
    for (now = test_seed(); done < 20; now++) {
        subject s;
        fake_stored one;
        begin(&s, now, NULL);
        fake_pick_form(&s.one, s.to, s.ndim, s.shape, &one);
        put(&s.one, &s, &one);
        size_t i = find_data(&one);
        if (one.form.sum_id != CIP_SUM_NONE && i != SIZE_MAX) {
            s.one.file[one.chunk[i].at.off] ^= 1;
            assert_int_equal(move_damaged(&s.one, &s, &one), CIP_ERR_CHECKSUM);
            one.chunk[i].state = CIP_CHUNK_MISSING;
            one.chunk[i].why = CIP_ERR_NOT_FOUND;
            assert_int_equal(move_damaged(&s.one, &s, &one), CIP_ERR_NOT_FOUND);
            done++;
        }
        fake_close(&s.many);
        fake_close(&s.one);
    }
    now = 0;
}

static int count_calls(void *user, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    ++*(size_t *)user;
    return 0;
}

static void progress_is_told_on_the_way_through_memory(void **state)
{
    (void)state;
    enum { ROWS = 40, ROW = 1 << 20 };
    const int64_t shape[] = { ROWS, ROW };
    uint8_t *zeros = calloc(ROWS, ROW);
    size_t calls = 0;
    fake f;
    assert_non_null(zeros);
    fake_open(&f, 1, NULL, NULL);
    const cip_grid grid = {
        .itemsize = 1, .ndim = 2, .shape = shape, .chunk = (const int64_t[]){ 2, ROW }
    };
    fake_geometry *g = fake_keep(&f, sizeof *g);
    *g = (fake_geometry){ .g = grid, .shape = { ROWS, ROW }, .chunk = { 2, ROW }, .total = 20 };
    g->nchunk[0] = 20;
    g->nchunk[1] = 1;
    fake_stored s = { .f = &f, .grid = g, .nbytes = 64, .total = 20 };
    s.form = (cip_array_form){ .dtype = cip_dtype_of(CIP_U8), .grid = &grid };
    s.form.specials = CIP_FORM_SPECIAL(CIP_CHUNK_ZERO);
    s.chunk = fake_keep(&f, 64 * sizeof *s.chunk);
    s.have = fake_keep(&f, 64);
    const cip_source from = { .dtype = s.form.dtype, .nelem = (uint64_t)ROWS * ROW, .mem = zeros };
    cip_engine e = { .env = &f.env,
                     .store = &fake_store,
                     .state = &s,
                     .progress = count_calls,
                     .user = &calls,
                     .total = cip_source_nbytes(&from) };
    FAKE_MUST(cip_engine_put(&e, 0, &s.form, &from, err));
    assert_int_equal(s.nspecial, 20);
    assert_true(calls >= 5);
    fake_close(&f);
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(arrays_are_stored_in_every_form, name_seed),
        cmocka_unit_test(progress_is_told_on_the_way_through_memory),
        cmocka_unit_test_teardown(damaged_and_missing_chunks_do_not_move, name_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
