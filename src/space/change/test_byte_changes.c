/* SPDX-License-Identifier: BSD-3-Clause
 * Changes of linear bytes, raw and decoded ones, against plain arrays of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "io/temporary.h"
#include "space/change/chunk_changes.h"
#include "support/effort.h"
#include "support/fail_alloc.h"
#include "support/fake/fake.h"

enum { BYTES_MAX = 13000, MODEL_MAX = 120000, OLD_MAX = 32 };

static const cip_dtype bytes_dtype = { .kind = CIP_OPAQUE, .itemsize = 1, .name = "bytes" };

/* An array of bytes, its changes, and what they should come to. */
typedef struct job {
    fake f;
    cip_block block;
    cip_array a;
    cip_io *temporary;
    cip_chunk_changes *c, *old[OLD_MAX]; /* c, and those that it was made apart from */
    size_t nold;
    uint8_t *was, now[MODEL_MAX];
    size_t n;
    uint8_t *next; /* of the feed */
    uint64_t itemsize;
} job;

static cip_status next(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    job *j = self;
    (void)err;
    memcpy(dst, j->next, (size_t)(nelem * j->itemsize));
    j->next += nelem * j->itemsize;
    return CIP_OK;
}

static cip_space *data_of(job *j, bool raw, size_t n)
{
    cip_space *file, *out;
    if (!raw)
        return fake_space(&j->f, FAKE_CHUNKED, j->was, n, 1, false);
    const uint64_t at = fake_append(&j->f, j->was, n);
    FAKE_MUST(cip_space_new_file(j->f.layout, j->f.io, &file, err));
    FAKE_MUST(cip_space_new_sub(j->f.layout, file, at, n, &out, err));
    return out;
}

static void job_open(job *j, uint64_t seed, bool raw, size_t n, const cip_allocator *from)
{
    memset(j, 0, sizeof *j);
    fake_open_from(&j->f, seed, NULL, NULL, from);
    j->n = n;
    j->was = fake_random(&j->f, n);
    fake_append(&j->f, j->was, (size_t)fake_pick(&j->f, 0, n));
    j->block.data = j->block.stored = data_of(j, raw, n);
    j->block.data->label = "block 7";
    j->f.layout->block = &j->block;
    j->f.layout->nblock = 1;
    memcpy(j->now, j->was, n);
    const int64_t shape[] = { (int64_t)n };
    j->a = (cip_array){
        .layout = j->f.layout, .path = "a", .dtype = &bytes_dtype, .space = j->block.data
    };
    FAKE_MUST(cip_view_c_order(1, shape, 1, &j->a.view, err));
    FAKE_MUST(cip_temporary_new(&j->f.env, NULL, &j->temporary, err));
    const cip_array_form form = { .dtype = &bytes_dtype,
                                  .caps = CIP_FORM_BYTES | (raw ? 0 : CIP_FORM_STREAM) |
                                          (!raw && seed % 3 == 0 ? CIP_FORM_GROWS : 0) };
    FAKE_MUST(cip_chunk_changes_new(&j->a, &form, j->temporary, &j->c, err));
}

static void job_close(job *j)
{
    cip_chunk_changes_free(j->c);
    while (j->nold != 0)
        cip_chunk_changes_free(j->old[--j->nold]);
    cip_io_close(j->temporary);
    j->f.layout->nblock = 0;
    fake_close(&j->f);
}

/* The view's place of its element k in C order. */
static uint64_t place(const cip_nd *v, uint64_t k)
{
    uint64_t off = v->off;
    for (int32_t i = v->ndim - 1; i >= 0; k /= (uint64_t)v->shape[i], i--)
        off += k % (uint64_t)v->shape[i] * (uint64_t)v->stride[i];
    return off;
}

static uint64_t nelem_of(const cip_nd *v)
{
    uint64_t n = 0;
    assert_true(cip_shape_nelem(v->ndim, v->shape, &n));
    return n;
}

/* What is read of it, and each range that it says it ends as, are the model's bytes. */
static void check(job *j)
{
    static uint8_t got[MODEL_MAX], zeros[MODEL_MAX];
    cip_chunk_now now;
    cip_io *io = cip_chunk_changes_io(j->c);
    assert_int_equal(cip_chunk_changes_count(j->c), j->n);
    assert_int_equal(io->size, j->n);
    FAKE_MUST(cip_io_read(io, 0, got, j->n, err));
    assert_memory_equal(got, j->now, j->n);
    assert_memory_equal(j->was, j->now, cip_chunk_changes_kept(j->c));
    for (uint64_t i = 0; i < j->n; i += now.run) {
        cip_chunk_changes_at(j->c, i, &now);
        assert_in_range(now.run, 1, j->n - i);
        const uint8_t *is = now.from != UINT64_MAX ? j->was + now.from : zeros;
        if (now.from == UINT64_MAX && now.chunk.state == CIP_CHUNK_DATA) {
            FAKE_MUST(cip_io_read(now.chunk.at.in->io, now.chunk.at.off, got, now.run, err));
            is = got;
        }
        assert_memory_equal(is, j->now + i, now.run);
    }
}

static cip_status change_elements(job *j, cip_err *err)
{
    const cip_feed feed = { .next = next, .self = j };
    cip_nd at = { .itemsize = fake_pick(&j->f, 1, 4), .ndim = 2 };
    at.off = fake_pick(&j->f, 0, j->n / 2);
    at.shape[1] = (int64_t)fake_pick(&j->f, 1, 6);
    at.stride[1] = (int64_t)(at.itemsize * fake_pick(&j->f, 1, 3));
    at.stride[0] = at.shape[1] * at.stride[1] * (int64_t)fake_pick(&j->f, 1, 9);
    const int64_t most = (int64_t)(j->n - at.off) / at.stride[0];
    at.shape[0] = fake_chance(&j->f, 2) ? most : most < 3 ? most : 3;
    uint64_t n = nelem_of(&at);
    j->itemsize = at.itemsize;
    j->next = fake_random(&j->f, n * at.itemsize);
    for (uint64_t k = 0; k < n; k++)
        memcpy(j->now + place(&at, k), j->next + k * at.itemsize, at.itemsize);
    return n == 0 ? CIP_OK : cip_chunk_changes_write(j->c, &at, &feed, err);
}

/* At the end, or in place of the last few bytes. */
static cip_status grow(job *j, cip_err *err)
{
    const cip_feed feed = { .next = next, .self = j };
    const uint64_t n = fake_pick(&j->f, 0, 40);
    const size_t torn = fake_chance(&j->f, 3) ? (size_t)fake_pick(&j->f, 0, j->n) / 8 : 0;
    j->itemsize = fake_pick(&j->f, 1, 9);
    j->next = fake_random(&j->f, n * j->itemsize);
    if (n == 0)
        return CIP_OK;
    memcpy(j->now + j->n - torn, j->next, n * j->itemsize);
    j->n += n * j->itemsize - torn;
    return cip_chunk_changes_grow(j->c, j->n - n * j->itemsize, n, j->itemsize, &feed, err);
}

/* The first bytes as an array of two axes, in an order of its own or packed, alone from now on. */
static cip_status take_apart(job *j, cip_nd *v, cip_err *err)
{
    static uint8_t old[MODEL_MAX];
    cip_array seen = j->a;
    cip_chunk_changes *own;
    *v = (cip_nd){ .itemsize = fake_pick(&j->f, 1, 3), .ndim = 2 };
    v->off = fake_pick(&j->f, 0, j->n / 3);
    v->shape[0] = (int64_t)fake_pick(&j->f, 0, 40);
    v->shape[1] = (int64_t)((j->n - v->off) / v->itemsize / (uint64_t)(v->shape[0] + 1));
    const bool turned = fake_chance(&j->f, 3);
    v->stride[0] = (int64_t)v->itemsize * (turned ? 1 : v->shape[1]);
    v->stride[1] = (int64_t)v->itemsize * (turned ? v->shape[0] : 1);
    seen.view = *v;
    seen.space = cip_chunk_changes_space(j->c);
    CIP_TRY(cip_chunk_changes_apart(j->c, &j->a, &seen, &own, err));
    memcpy(old, j->now, j->n);
    j->n = (size_t)(nelem_of(v) * v->itemsize);
    for (uint64_t k = 0; k < nelem_of(v); k++)
        memcpy(j->now + k * v->itemsize, old + place(v, k), v->itemsize);
    j->old[j->nold++] = j->c;
    j->c = own;
    assert_true(cip_chunk_changes_are_apart(own));
    assert_ptr_not_equal(cip_chunk_changes_of(&j->a), own);
    return CIP_OK;
}

static cip_status reshape(job *j, cip_err *err)
{
    static uint8_t old[MODEL_MAX];
    cip_nd v, to;
    CIP_TRY(take_apart(j, &v, err));
    const bool rows = fake_chance(&j->f, 2);
    const int64_t shape[] = { (int64_t)fake_pick(&j->f, 0,
                                                 rows ? 2 * (uint64_t)v.shape[0] + 1 : 60),
                              rows ? v.shape[1] : (int64_t)fake_pick(&j->f, 0, 99) };
    CIP_TRY(cip_chunk_changes_resize(j->c, &j->a, shape, NULL, NULL, err));
    CIP_TRY(cip_view_c_order(2, shape, v.itemsize, &to, err));
    memcpy(old, j->now, j->n);
    j->n = (size_t)(nelem_of(&to) * to.itemsize);
    memset(j->now, 0, j->n);
    for (int64_t y = 0; y < shape[0] && y < v.shape[0]; y++)
        for (int64_t x = 0; x < shape[1] && x < v.shape[1]; x++)
            memcpy(j->now + y * to.stride[0] + x * to.stride[1],
                   old + (uint64_t)(y * v.shape[1] + x) * v.itemsize, v.itemsize);
    return CIP_OK;
}

static cip_status splice(job *j, cip_err *err)
{
    static uint8_t old[MODEL_MAX];
    int64_t shape[2];
    cip_nd v, to, was;
    cip_splice_box box[2];
    const cip_feed feed = { .next = next, .self = j };
    CIP_TRY(take_apart(j, &v, err));
    cip_splice s = { .axis = (int32_t)fake_pick(&j->f, 0, 1) };
    s.start = (int64_t)fake_pick(&j->f, 0, (uint64_t)v.shape[s.axis]);
    s.removed = (int64_t)fake_pick(&j->f, 0, (uint64_t)(v.shape[s.axis] - s.start));
    s.added = (int64_t)fake_pick(&j->f, 0, 5);
    s.feed = fake_chance(&j->f, 4) ? NULL : &feed;
    CIP_TRY(cip_splice_shape(&s, 2, v.shape, shape, err));
    CIP_TRY(cip_view_c_order(2, v.shape, v.itemsize, &was, err));
    CIP_TRY(cip_view_c_order(2, shape, v.itemsize, &to, err));
    memcpy(old, j->now, j->n);
    j->n = (size_t)(nelem_of(&to) * to.itemsize);
    memset(j->now, 0, j->n);
    cip_splice_boxes(&s, &was, &to, box);
    for (size_t i = 0; i < 2; i++)
        for (uint64_t k = 0; k < nelem_of(&box[i].to); k++)
            memcpy(j->now + place(&box[i].to, k), old + place(&box[i].from, k), v.itemsize);
    const cip_nd room = cip_splice_room(&s, &to);
    j->itemsize = v.itemsize;
    j->next = fake_random(&j->f, nelem_of(&room) * v.itemsize + 1);
    for (uint64_t k = 0; s.feed != NULL && k < nelem_of(&room); k++)
        memcpy(j->now + place(&room, k), j->next + k * v.itemsize, v.itemsize);
    return cip_chunk_changes_splice(j->c, &j->a, &s, err);
}

static cip_status finish(job *j, cip_err *err)
{
    return cip_chunk_changes_finish(j->c, NULL, NULL, err);
}

typedef cip_status step_fn(job *j, cip_err *err);
static step_fn *const steps[] = { change_elements, change_elements, grow, reshape, splice, finish };

static cip_status random_steps(job *j, size_t n, bool checks)
{
    for (size_t i = 0; i < n; i++) {
        const size_t most = sizeof steps / sizeof *steps;
        step_fn *step = steps[fake_pick(&j->f, 0, j->n > MODEL_MAX / 8 ? 1 : most - 1)];
        CIP_TRY(step(j, NULL));
        if (checks && fake_chance(&j->f, 3))
            check(j);
    }
    return CIP_OK;
}

static void changes_in_any_order_are_those_of_the_model(void **state)
{
    (void)state;
    uint64_t n = test_full() ? 20000 : 600, from = test_seed();
    for (uint64_t seed = from; seed < from + n; seed++) {
        static job j;
        job_open(&j, seed, seed % 2 == 0, 1 + seed * 97 % BYTES_MAX, NULL);
        assert_int_equal(random_steps(&j, 10, true), CIP_OK);
        check(&j);
        job_close(&j);
    }
}

/* Neither of two arrays of the same bytes sees what the other one writes. */
static void an_array_alone_leaves_the_others_be(void **state)
{
    static job j;
    static uint8_t got[800];
    (void)state;
    job_open(&j, 2, true, 800, NULL);
    cip_array seen = j.a;
    cip_nd one = { .off = 5, .itemsize = 1, .ndim = 1, .shape = { 1 }, .stride = { 1 } };
    const cip_feed feed = { .next = next, .self = &j };
    cip_chunk_changes *own;
    uint8_t data[] = { 1, 2, 3 };
    j.next = data;
    j.itemsize = 1;
    FAKE_MUST(cip_chunk_changes_write(j.c, &one, &feed, err));
    seen.space = cip_chunk_changes_space(j.c);
    FAKE_MUST(cip_chunk_changes_apart(j.c, &j.a, &seen, &own, err));
    FAKE_MUST(cip_chunk_changes_write(j.c, &one, &feed, err));
    one.off = 6;
    FAKE_MUST(cip_chunk_changes_write(own, &one, &feed, err));
    FAKE_MUST(cip_io_read(cip_chunk_changes_io(own), 0, got, 800, err));
    assert_true(got[5] == 1 && got[6] == 3);
    FAKE_MUST(cip_io_read(cip_chunk_changes_io(j.c), 0, got, 800, err));
    assert_true(got[5] == 2 && got[6] == j.was[6]);
    cip_chunk_changes_free(own);
    seen.view.shape[0] = 801; /* more than there is */
    assert_int_equal(cip_chunk_changes_apart(j.c, &j.a, &seen, &own, NULL), CIP_ERR_RANGE);
    job_close(&j);
}

/* Elements that change here and there are one run for each page, and those that follow are none. */
static void scattered_elements_make_few_runs(void **state)
{
    enum { N = 1 << 20 };
    static job j;
    cip_chunk_now now;
    size_t runs = 0, made = 0;
    (void)state;
    fake_open(&j.f, 3, NULL, NULL);
    const uint64_t at = fake_append(&j.f, j.f.file, N);
    cip_space *file;
    FAKE_MUST(cip_space_new_file(j.f.layout, j.f.io, &file, err));
    FAKE_MUST(cip_space_new_sub(j.f.layout, file, at, N, &j.block.data, err));
    j.a = (cip_array){
        .layout = j.f.layout, .path = "a", .dtype = &bytes_dtype, .space = j.block.data
    };
    FAKE_MUST(cip_view_c_order(1, (const int64_t[]){ N }, 1, &j.a.view, err));
    FAKE_MUST(cip_temporary_new(&j.f.env, NULL, &j.temporary, err));
    const cip_array_form form = { .dtype = &bytes_dtype, .caps = CIP_FORM_BYTES };
    FAKE_MUST(cip_chunk_changes_new(&j.a, &form, j.temporary, &j.c, err));
    const cip_nd view = {
        .off = 9, .itemsize = 1, .ndim = 1, .shape = { N / 64 - 1 }, .stride = { 64 }
    };
    const cip_feed feed = { .next = next, .self = &j };
    j.itemsize = 1;
    j.next = malloc(N / 64);
    uint8_t *ones = memset(j.next, 1, N / 64);
    FAKE_MUST(cip_chunk_changes_write(j.c, &view, &feed, err));
    for (uint64_t i = 0; i < N; i += now.run, runs++) {
        cip_chunk_changes_at(j.c, i, &now);
        made += now.from == UINT64_MAX ? now.run : 0;
    }
    assert_in_range(runs, 1, 4);
    assert_in_range(made, N - 8192, N);
    free(ones);
    cip_chunk_changes_free(j.c);
    cip_io_close(j.temporary);
    fake_close(&j.f);
}

static void few_bytes_that_claim_many_are_refused(void **state)
{
    static job j;
    cip_err err = CIP_ERR_INIT;
    const cip_dtype six = { .kind = CIP_OPAQUE, .itemsize = 6, .name = "six" };
    cip_array *list[] = { &j.a };
    const cip_nd one = { .itemsize = 1, .ndim = 1, .shape = { 1 }, .stride = { 1 } };
    const cip_feed feed = { .next = next, .self = &j };
    uint8_t data[] = { 1 };
    (void)state;
    job_open(&j, 5, false, 600, NULL);
    j.f.env.limits.max_elements = 100;
    j.next = data;
    j.itemsize = 1;
    assert_int_equal(cip_chunk_changes_write(j.c, &one, &feed, &err), CIP_ERR_LIMIT);
    assert_string_equal(err.text, "block 7 would decode to 600 bytes from a file of 8388608 bytes; "
                                  "set .max_elements to allow them");
    cip_array **before = j.f.layout->array;
    const size_t nbefore = j.f.layout->narray;
    j.a.dtype = &six; /* as many elements are allowed as there are */
    j.f.layout->array = list;
    j.f.layout->narray = 1;
    assert_int_equal(cip_chunk_changes_write(j.c, &one, &feed, &err), CIP_OK);
    j.f.layout->array = before;
    j.f.layout->narray = nbefore;
    job_close(&j);
}

/* Narrower rows out of 6 MiB, with less memory than that. */
static void large_arrays_are_copied_in_pieces(void **state)
{
    enum { ROWS = 600, WAS = 10000, IS = 9000 };
    const cip_limits limits = { .size = sizeof limits, .max_memory = 4 << 20 };
    const int64_t was[2] = { ROWS, WAS }, is[2] = { ROWS, IS };
    static job j;
    uint8_t last[4];
    cip_space *file;
    (void)state;
    fake_open(&j.f, 1, NULL, &limits);
    memcpy(j.f.file + (ROWS - 1) * WAS + IS - 4, "last", 4);
    FAKE_MUST(cip_space_new_file(j.f.layout, j.f.io, &file, err));
    FAKE_MUST(cip_space_new_sub(j.f.layout, file, 0, ROWS * WAS, &j.block.data, err));
    j.a = (cip_array){
        .layout = j.f.layout, .path = "a", .dtype = &bytes_dtype, .space = j.block.data
    };
    FAKE_MUST(cip_view_c_order(2, was, 1, &j.a.view, err));
    FAKE_MUST(cip_temporary_new(&j.f.env, NULL, &j.temporary, err));
    const cip_array_form form = { .dtype = &bytes_dtype, .caps = CIP_FORM_BYTES };
    FAKE_MUST(cip_chunk_changes_new(&j.a, &form, j.temporary, &j.c, err));
    FAKE_MUST(cip_chunk_changes_resize(j.c, &j.a, is, NULL, NULL, err));
    FAKE_MUST(cip_io_read(cip_chunk_changes_io(j.c), ROWS * IS - 4, last, 4, err));
    assert_memory_equal(last, "last", 4);
    cip_chunk_changes_free(j.c);
    cip_io_close(j.temporary);
    fake_close(&j.f);
}

static void a_failing_allocation_is_passed_on(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 9; seed++)
        for (size_t n = 1;; n++) {
            static job j;
            fail_alloc alloc = { 0 };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            job_open(&j, seed, seed % 2 == 0, 300, &from);
            size_t before = alloc.requests;
            alloc.fail_at = before + n;
            cip_status st = random_steps(&j, 6, false);
            bool failed = alloc.requests >= before + n;
            if (st != CIP_OK || !failed) /* what is kept for later gives way first */
                assert_int_equal(st, failed ? CIP_ERR_NOMEM : CIP_OK);
            alloc.fail_at = 0;
            job_close(&j);
            assert_int_equal(alloc.held, 0);
            if (!failed)
                break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_in_any_order_are_those_of_the_model),
        cmocka_unit_test(an_array_alone_leaves_the_others_be),
        cmocka_unit_test(scattered_elements_make_few_runs),
        cmocka_unit_test(few_bytes_that_claim_many_are_refused),
        cmocka_unit_test(large_arrays_are_copied_in_pieces),
        cmocka_unit_test(a_failing_allocation_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
