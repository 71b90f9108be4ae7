/* SPDX-License-Identifier: BSD-3-Clause
 * Changes of blocks that are raw, decoded and new, against plain arrays of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "space/changes.h"
#include "support/effort.h"
#include "support/fail_alloc.h"
#include "support/fake/fake.h"

enum { BYTES_MAX = 900, MODEL_MAX = 8000 };

/* A block, and what its bytes should be. */
typedef struct job {
    fake f;
    cip_block block;
    cip_changes_amount amount;
    cip_changes c;
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

static void job_open(job *j, uint64_t seed, bool raw, size_t n, const cip_allocator *from)
{
    cip_space *file;
    memset(j, 0, sizeof *j);
    fake_open_from(&j->f, seed, NULL, NULL, from);
    j->n = n;
    j->was = fake_random(&j->f, n);
    fake_append(&j->f, j->was, (size_t)fake_pick(&j->f, 0, n));
    if (raw) {
        j->block.info.data_offset = fake_append(&j->f, j->was, n);
        FAKE_MUST(cip_space_new_file(j->f.layout, j->f.io, &file, err));
        FAKE_MUST(cip_space_new_sub(j->f.layout, file, j->block.info.data_offset, n, &j->block.data,
                                    err));
    } else {
        j->block.data = fake_space(&j->f, FAKE_CHUNKED, j->was, n, 1, false);
    }
    j->block.info.stored_nbytes = n;
    j->block.data->label = "block 7";
    j->block.stored = j->block.data;
    memcpy(j->now, j->was, n);
    cip_changes_begin(&j->c, j->f.layout, &j->block, raw, &j->amount);
}

static void job_close(job *j)
{
    cip_changes_end(&j->c);
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

/* What is read of it, and how it says it ends, are the model's bytes. */
static void check(job *j)
{
    uint8_t got[MODEL_MAX];
    uint64_t len;
    cip_io *file;
    cip_patch writes = { .arena = { .mem = &j->f.env.mem } };
    uint8_t *image = fake_keep(&j->f, FAKE_FILE_MAX);
    FAKE_MUST(cip_changes_len(&j->c, &len, err));
    assert_int_equal(len, j->n);
    FAKE_MUST(cip_changes_writes(&j->c, &writes, err));
    if (j->c.anew != NULL) {
        FAKE_MUST(cip_io_read(j->c.anew, 0, got, j->n, err));
        assert_memory_equal(got, j->now, j->n);
        assert_int_equal(writes.n, 0);
    } else if (j->c.raw) {
        const uint64_t off = j->block.info.data_offset, kept = j->c.kept;
        memcpy(image, j->f.file, FAKE_FILE_MAX);
        for (size_t i = 0; i < writes.n; i++) {
            const cip_patch_op *op = &writes.op[i];
            assert_true(op->offset >= off && op->offset + op->after.len <= off + kept);
            assert_true(i == 0 || op->offset > op[-1].offset + op[-1].after.len);
            memcpy(image + op->offset, op->after.ptr, op->after.len);
        }
        assert_memory_equal(image + off, j->now, kept);
        FAKE_MUST(cip_changes_file(&j->c, &file, err));
        FAKE_MUST(cip_io_read(file, off, got, kept, err));
        assert_memory_equal(got, j->now, kept);
    }
    if (j->c.added != NULL) {
        FAKE_MUST(cip_io_read(j->c.added, 0, got, (size_t)j->c.added->size, err));
        assert_memory_equal(got, j->now + j->n - j->c.added->size, j->c.added->size);
    }
    cip_patch_clear(&writes);
}

static cip_status change_elements(job *j, cip_err *err)
{
    const cip_feed feed = { .next = next, .self = j };
    cip_nd at = { .itemsize = fake_pick(&j->f, 1, 4), .ndim = 2 };
    at.off = fake_pick(&j->f, 0, j->n / 2);
    at.shape[1] = (int64_t)fake_pick(&j->f, 1, 6);
    at.stride[1] = (int64_t)(at.itemsize * fake_pick(&j->f, 1, 3));
    at.stride[0] = at.shape[1] * at.stride[1];
    at.shape[0] = (int64_t)((j->n - at.off) / (uint64_t)at.stride[0]);
    uint64_t n = nelem_of(&at);
    j->itemsize = at.itemsize;
    j->next = fake_random(&j->f, n * at.itemsize);
    for (uint64_t k = 0; k < n; k++)
        memcpy(j->now + place(&at, k), j->next + k * at.itemsize, at.itemsize);
    return n == 0 ? CIP_OK : cip_changes_write(&j->c, &at, &feed, err);
}

static cip_status add(job *j, cip_err *err)
{
    const cip_feed feed = { .next = next, .self = j };
    uint64_t n = fake_pick(&j->f, 0, 40);
    j->itemsize = fake_pick(&j->f, 1, 9);
    j->next = fake_random(&j->f, n * j->itemsize);
    memcpy(j->now + j->n, j->next, n * j->itemsize);
    j->n += n * j->itemsize;
    return cip_changes_append(&j->c, n, j->itemsize, &feed, err);
}

static cip_status resize(job *j, cip_err *err)
{
    size_t n = (size_t)fake_pick(&j->f, 0, j->n + j->n / 2);
    if (n > j->n)
        memset(j->now + j->n, 0, n - j->n);
    j->n = n;
    return cip_changes_resize(&j->c, n, err);
}

/* The bytes as an array of two axes, in an order of its own, to one of another shape. */
static cip_status reshape(job *j, cip_err *err)
{
    uint8_t old[MODEL_MAX];
    cip_nd from = { .itemsize = fake_pick(&j->f, 1, 3), .ndim = 2 }, to;
    cip_changes other;
    from.shape[0] = (int64_t)fake_pick(&j->f, 0, 12);
    from.shape[1] = (int64_t)(j->n / from.itemsize / (uint64_t)(from.shape[0] + 1));
    bool turned = fake_chance(&j->f, 2);
    from.stride[0] = (int64_t)from.itemsize * (turned ? 1 : from.shape[1]);
    from.stride[1] = (int64_t)from.itemsize * (turned ? from.shape[0] : 1);
    const int64_t shape[] = { (int64_t)fake_pick(&j->f, 0, 20), (int64_t)fake_pick(&j->f, 0, 99) };
    CIP_TRY(cip_view_c_order(2, shape, from.itemsize, &to, err));
    memcpy(old, j->now, j->n);
    j->n = (size_t)(nelem_of(&to) * to.itemsize);
    memset(j->now, 0, j->n);
    for (int64_t y = 0; y < shape[0] && y < from.shape[0]; y++)
        for (int64_t x = 0; x < shape[1] && x < from.shape[1]; x++)
            memcpy(j->now + y * to.stride[0] + x * to.stride[1],
                   old + y * from.stride[0] + x * from.stride[1], from.itemsize);
    CIP_TRY(cip_changes_copy(&j->c, &from, &to, &other, err));
    cip_changes_end(&j->c);
    j->c = other;
    return CIP_OK;
}

static cip_status look(job *j, cip_err *err)
{
    cip_space *s;
    uint8_t got[MODEL_MAX];
    CIP_TRY(cip_changes_now(&j->c, &s, err));
    CIP_TRY(cip_space_read_at(&j->f.how, s, 0, got, j->n, err));
    assert_int_equal(s->len, j->n);
    assert_memory_equal(got, j->now, j->n);
    return CIP_OK;
}

typedef cip_status step_fn(job *j, cip_err *err);
static step_fn *const steps[] = { change_elements, change_elements, add, resize, reshape, look };

static cip_status random_steps(job *j, size_t n, bool checks)
{
    for (size_t i = 0; i < n; i++) {
        size_t most = sizeof steps / sizeof *steps;
        step_fn *step = steps[fake_pick(&j->f, 0, j->n > MODEL_MAX / 4 ? 1 : most - 1)];
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
        job_open(&j, seed, seed % 2 == 0, 1 + seed % BYTES_MAX, NULL);
        assert_int_equal(random_steps(&j, 8, true), CIP_OK);
        check(&j);
        job_close(&j);
    }
}

static void too_many_runs_make_the_bytes_anew(void **state)
{
    static job j;
    (void)state;
    job_open(&j, 1, true, 800, NULL);
    j.amount.nrun = CIP_CHANGES_OPS_MAX - 2; /* of other blocks */
    const cip_feed feed = { .next = next, .self = &j };
    const cip_nd at = { .itemsize = 1, .ndim = 1, .shape = { 8 }, .stride = { 100 } };
    uint8_t data[8];
    for (size_t i = 0; i < sizeof data; i++)
        j.now[i * 100] = data[i] = (uint8_t)(j.was[i * 100] + 1);
    j.next = data;
    j.itemsize = 1;
    assert_int_equal(cip_changes_write(&j.c, &at, &feed, NULL), CIP_OK);
    assert_non_null(j.c.anew);
    assert_int_equal(j.c.patch.n, 2);
    check(&j);
    job_close(&j);
}

static void few_bytes_that_claim_many_are_refused(void **state)
{
    static job j;
    cip_err err = CIP_ERR_INIT;
    (void)state;
    job_open(&j, 5, false, 600, NULL);
    j.f.env.limits.max_elements = 100;
    j.c.itemsize = 6;
    assert_int_equal(cip_changes_make_anew(&j.c, NULL), CIP_OK);
    cip_changes_end(&j.c);
    cip_changes_begin(&j.c, j.f.layout, &j.block, false, &j.amount);
    assert_int_equal(cip_changes_make_anew(&j.c, &err), CIP_ERR_LIMIT);
    assert_string_equal(err.text,
                        "block 7 would decode to 600 bytes out of a file of 8388608 bytes; "
                        "allow them by .max_elements");
    job_close(&j);
}

/* Narrower rows out of 6 MiB, with less memory than that. */
static void large_arrays_are_copied_in_pieces(void **state)
{
    enum { ROWS = 600, WAS = 10000, IS = 9000 };
    const cip_limits limits = { .size = sizeof limits, .max_memory = 4 << 20 };
    const int64_t was[2] = { ROWS, WAS }, is[2] = { ROWS, IS };
    cip_changes_amount amount = { 0, 0 };
    cip_block block = { 0 };
    cip_changes c, copy;
    cip_nd from, to;
    cip_space *file;
    uint8_t last[4];
    fake f;
    (void)state;
    fake_open(&f, 1, NULL, &limits);
    memcpy(f.file + (ROWS - 1) * WAS + IS - 4, "last", 4);
    FAKE_MUST(cip_space_new_file(f.layout, f.io, &file, err));
    FAKE_MUST(cip_space_new_sub(f.layout, file, 0, ROWS * WAS, &block.data, err));
    block.stored = block.data;
    block.info.stored_nbytes = ROWS * WAS;
    FAKE_MUST(cip_view_c_order(2, was, 1, &from, err));
    FAKE_MUST(cip_view_c_order(2, is, 1, &to, err));
    cip_changes_begin(&c, f.layout, &block, true, &amount);
    FAKE_MUST(cip_changes_copy(&c, &from, &to, &copy, err));
    FAKE_MUST(cip_io_read(copy.anew, ROWS * IS - 4, last, 4, err));
    assert_memory_equal(last, "last", 4);
    cip_changes_end(&copy);
    cip_changes_end(&c);
    fake_close(&f);
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
        cmocka_unit_test(too_many_runs_make_the_bytes_anew),
        cmocka_unit_test(few_bytes_that_claim_many_are_refused),
        cmocka_unit_test(large_arrays_are_copied_in_pieces),
        cmocka_unit_test(a_failing_allocation_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
