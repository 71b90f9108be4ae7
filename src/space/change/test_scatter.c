/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "space/change/scatter.h"

/* Bytes in memory that runs are applied to, and how many runs and bytes there were. */
typedef struct target {
    cip_env env;
    uint8_t *at;
    size_t n, runs, changed;
    cip_io *io;
    cip_scatter_to to;
    size_t size;  /* of an element */
    uint8_t next; /* of the feed: bytes that count up */
    size_t fed;
    size_t fail_at; /* run that fails, from 1; 0: none */
} target;

static cip_status put_run(target *t, uint64_t off, cip_bytes bytes, cip_err *err)
{
    assert_true(off <= t->n && bytes.len <= t->n - off && bytes.len != 0);
    if (++t->runs == t->fail_at)
        return cip_fail(err, CIP_ERR_IO, off, "asked to fail");
    assert_memory_not_equal(t->at + off, bytes.ptr, 1);
    assert_memory_not_equal(t->at + off + bytes.len - 1, bytes.ptr + bytes.len - 1, 1);
    memcpy(t->at + off, bytes.ptr, bytes.len);
    t->changed += bytes.len;
    return CIP_OK;
}

static cip_status put(void *user, const cip_scatter_run *run, size_t n, cip_err *err)
{
    assert_int_not_equal(n, 0);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || run[i].off > run[i - 1].off + run[i - 1].bytes.len);
        CIP_TRY(put_run(user, run[i].off, run[i].bytes, err));
    }
    return CIP_OK;
}

static cip_status count_up(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    target *t = self;
    (void)err;
    for (uint64_t i = 0; i < nelem; i++) {
        dst[i * t->size] = t->next++;
        memset(dst + i * t->size + 1, 0, t->size - 1);
    }
    t->fed += (size_t)nelem;
    return CIP_OK;
}

static void start(target *t, size_t n)
{
    memset(t, 0, sizeof *t);
    assert_int_equal(cip_env_init(&t->env, NULL, NULL, NULL, NULL), CIP_OK);
    t->at = calloc(n, 1);
    assert_non_null(t->at);
    t->n = n;
    t->next = 1;
    assert_int_equal(cip_io_open_memory(&t->env, t->at, n, "bytes", &t->io, NULL), CIP_OK);
    t->to = (cip_scatter_to){ .io = t->io, .live = true, .put = put, .user = t };
}

static void stop(target *t)
{
    cip_io_close(t->io);
    cip_env_clear(&t->env);
    free(t->at);
}

static cip_status scatter(target *t, const cip_nd *at, cip_err *err)
{
    const cip_feed feed = { .next = count_up, .self = t };
    t->size = (size_t)at->itemsize;
    return cip_scatter(&t->env, &t->to, at, &feed, err);
}

static void elements_go_where_the_view_has_them(void **state)
{
    (void)state;
    target t;
    start(&t, 16);
    t.to.base = 2;
    /* rows backwards, columns two apart */
    const cip_nd at = {
        .off = 8, .itemsize = 1, .ndim = 2, .shape = { 2, 3 }, .stride = { -8, 2 }
    };
    assert_int_equal(scatter(&t, &at, NULL), CIP_OK);
    static const uint8_t want[16] = { 0, 0, 4, 0, 5, 0, 6, 0, 0, 0, 1, 0, 2, 0, 3, 0 };
    assert_memory_equal(t.at, want, sizeof want);
    stop(&t);
}

static void one_element_and_none(void **state)
{
    (void)state;
    target t;
    start(&t, 4);
    const cip_nd one = { .off = 3, .itemsize = 1 };
    const cip_nd none = { .off = 9, .itemsize = 1, .ndim = 1, .shape = { 0 }, .stride = { 1 } };
    assert_int_equal(scatter(&t, &none, NULL), CIP_OK);
    assert_int_equal(t.fed, 0);
    assert_int_equal(scatter(&t, &one, NULL), CIP_OK);
    assert_int_equal(t.at[3], 1);
    assert_int_equal(t.runs, 1);
    stop(&t);
}

static void equal_bytes_are_left_alone_and_near_changes_are_one_run(void **state)
{
    (void)state;
    target t;
    start(&t, 2000);
    for (size_t i = 0; i < t.n; i++)
        t.at[i] = (uint8_t)(i + 1);
    t.at[300] = t.at[363] = t.at[428] = 0; /* 62 and 64 equal ones between them */
    const cip_nd at = { .itemsize = 1, .ndim = 1, .shape = { 2000 }, .stride = { 1 } };
    assert_int_equal(scatter(&t, &at, NULL), CIP_OK);
    assert_int_equal(t.runs, 2);
    assert_int_equal(t.changed, 64 + 1);
    stop(&t);
}

typedef struct unit_run {
    uint64_t off, len;
} unit_run;

typedef struct unit_runs {
    target *t;
    unit_run run[8];
    size_t n;
} unit_runs;

static cip_status put_units(void *user, const cip_scatter_run *run, size_t n, cip_err *err)
{
    unit_runs *u = user;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        assert_in_range(u->n, 0, 7);
        u->run[u->n++] = (unit_run){ run[i].off, run[i].bytes.len };
        memcpy(u->t->at + run[i].off, run[i].bytes.ptr, run[i].bytes.len);
    }
    return CIP_OK;
}

static void expect_units(target *t, const cip_nd *at, const unit_run *want, size_t n)
{
    unit_runs u = { .t = t };
    t->to.put = put_units;
    t->to.user = &u;
    assert_int_equal(scatter(t, at, NULL), CIP_OK);
    assert_int_equal(u.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(u.run[i].off, want[i].off);
        assert_int_equal(u.run[i].len, want[i].len);
    }
}

/* ... of 16 bytes of the io, which is 100 long; in a window, and one by one. */
static void changed_bytes_come_as_whole_units(void **state)
{
    (void)state;
    target t;
    start(&t, 100);
    t.to.base = 3;
    t.to.unit = 16;
    const cip_nd near = { .off = 14, .itemsize = 2, .ndim = 1, .shape = { 3 }, .stride = { 8 } };
    expect_units(&t, &near, (const unit_run[]){ { 16, 32 } }, 1);
    t.next = 1; /* the same elements again */
    expect_units(&t, &near, NULL, 0);
    const cip_nd ends = { .off = 0, .itemsize = 1, .ndim = 1, .shape = { 2 }, .stride = { 96 } };
    expect_units(&t, &ends, (const unit_run[]){ { 0, 16 }, { 96, 4 } }, 2);
    stop(&t);
    start(&t, 4000);
    t.to.unit = 16;
    const cip_nd far = { .off = 15, .itemsize = 2, .ndim = 1, .shape = { 3 }, .stride = { 1600 } };
    expect_units(&t, &far, (const unit_run[]){ { 0, 16 }, { 1600, 16 }, { 3200, 16 } }, 3);
    stop(&t);
}

/* Against a loop over all elements. */
static void large_views_are_cut_in_boxes(void **state)
{
    (void)state;
    target t;
    const int64_t rows = 3, mid = 700, columns = 9000;
    size_t n = (size_t)(rows * mid * columns);
    start(&t, n);
    uint8_t *want = calloc(n, 1);
    assert_non_null(want);
    const cip_nd at = { .off = (uint64_t)((mid - 1) * columns),
                        .itemsize = 1,
                        .ndim = 3,
                        .shape = { rows, mid / 100, columns },
                        .stride = { mid * columns, -100 * columns, 1 } };
    uint8_t v = 1;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < at.shape[1]; j++)
            for (int64_t k = 0; k < columns; k++)
                want[(int64_t)at.off + i * at.stride[0] + j * at.stride[1] + k] = v++;
    assert_int_equal(scatter(&t, &at, NULL), CIP_OK);
    assert_int_equal(t.fed, rows * at.shape[1] * columns);
    assert_memory_equal(t.at, want, n);
    free(want);
    stop(&t);
}

/* Bytes that the io goes on showing as they were. */
static void boxes_between_each_other_bring_nothing_back(void **state)
{
    (void)state;
    target t, shown;
    const int64_t rows = 300, columns = 30000;
    size_t n = (size_t)(rows * columns);
    start(&t, n);
    start(&shown, n);
    t.to.io = shown.io; /* never changes */
    t.to.live = false;
    /* first all even columns, then all odd ones */
    const cip_nd at = {
        .itemsize = 1, .ndim = 3, .shape = { 2, rows, columns / 2 }, .stride = { 1, columns, 2 }
    };
    assert_int_equal(scatter(&t, &at, NULL), CIP_OK);
    uint8_t v = 1;
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < rows; j++)
            for (int64_t k = 0; k < columns / 2; k++)
                if (t.at[j * columns + 2 * k + i] != v++)
                    fail_msg("row %" PRId64 " is wrong", j);
    stop(&t);
    stop(&shown);
}

static void elements_far_apart_are_written_one_by_one(void **state)
{
    (void)state;
    target t;
    start(&t, 20 << 20);
    const cip_nd at = { .off = (20 << 20) - 2,
                        .itemsize = 2,
                        .ndim = 2,
                        .shape = { 2, 20 },
                        .stride = { -100, -(1 << 20) } };
    uint8_t v = 1;
    assert_int_equal(scatter(&t, &at, NULL), CIP_OK);
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 20; j++)
            assert_int_equal(t.at[(int64_t)at.off - i * 100 - j * (1 << 20)], v++);
    assert_int_equal(t.runs, 40);
    stop(&t);
}

static void places_beyond_the_bytes_and_over_each_other_are_refused(void **state)
{
    (void)state;
    target t;
    start(&t, 8);
    cip_nd at = { .off = 1, .itemsize = 2, .ndim = 1, .shape = { 4 }, .stride = { 2 } };
    assert_int_equal(scatter(&t, &at, NULL), CIP_ERR_RANGE);
    at.off = 0;
    at.stride[0] = 0;
    assert_int_equal(scatter(&t, &at, NULL), CIP_ERR_ARG);
    at.stride[0] = -2;
    assert_int_equal(scatter(&t, &at, NULL), CIP_ERR_RANGE);
    t.to.base = UINT64_MAX;
    at.off = 6;
    assert_int_equal(scatter(&t, &at, NULL), CIP_ERR_RANGE);
    assert_int_equal(t.runs + t.fed, 0);
    stop(&t);
}

static void failures_are_passed_on(void **state)
{
    (void)state;
    target t;
    start(&t, 8);
    const cip_nd at = { .itemsize = 1, .ndim = 1, .shape = { 8 }, .stride = { 1 } };
    t.fail_at = 1;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(scatter(&t, &at, &err), CIP_ERR_IO);
    assert_string_equal(err.text, "asked to fail");
    stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_go_where_the_view_has_them),
        cmocka_unit_test(one_element_and_none),
        cmocka_unit_test(equal_bytes_are_left_alone_and_near_changes_are_one_run),
        cmocka_unit_test(changed_bytes_come_as_whole_units),
        cmocka_unit_test(large_views_are_cut_in_boxes),
        cmocka_unit_test(boxes_between_each_other_bring_nothing_back),
        cmocka_unit_test(elements_far_apart_are_written_one_by_one),
        cmocka_unit_test(places_beyond_the_bytes_and_over_each_other_are_refused),
        cmocka_unit_test(failures_are_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
