/* SPDX-License-Identifier: BSD-3-Clause
 * Records of columns against the same records put together by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "space/change/scatter.h"
#include "support/fake/fake.h"

/* {a: 4 bytes, 1 of padding, p: 3 x {x: 2 bytes, y: 1 byte}, b: 8 bytes} */
enum { ROWS = 1000, EACH = 4 + 1 + 3 * 3 + 8, NCOLUMN = 4 };
static const cip_record_part part_a[] = { { 0, 0, 4 } };
static const cip_record_part part_x[] = { { 5, 0, 2 }, { 8, 2, 2 }, { 11, 4, 2 } };
static const cip_record_part part_y[] = { { 7, 0, 1 }, { 10, 1, 1 }, { 13, 2, 1 } };
static const cip_record_part part_b[] = { { 14, 0, 8 } };

typedef struct bench {
    fake f;
    cip_space *s, *in[NCOLUMN];
    uint8_t record[ROWS * EACH];
} bench;

static void put(bench *b, size_t i, fake_kind kind, const cip_record_part *part, size_t npart,
                uint64_t row, cip_record_column *out)
{
    uint8_t *bytes = fake_random(&b->f, ROWS * row);
    b->in[i] = fake_space(&b->f, kind, bytes, ROWS * row, 0, false);
    *out = (cip_record_column){ .in = b->in[i], .row = row, .part = part, .npart = npart };
    for (size_t r = 0; r < ROWS; r++)
        for (size_t k = 0; k < npart; k++)
            memcpy(b->record + r * EACH + part[k].off, bytes + r * row + part[k].from, part[k].len);
}

static void open_bench(bench *b)
{
    cip_record_column c[NCOLUMN];
    memset(b, 0, sizeof *b);
    fake_open(&b->f, 7, NULL, NULL);
    put(b, 0, FAKE_CHUNKED, part_a, 1, 4, &c[0]);
    put(b, 1, FAKE_UNEQUAL, part_x, 3, 6, &c[1]);
    put(b, 2, FAKE_FILE, part_y, 3, 3, &c[2]);
    put(b, 3, FAKE_CHUNKED, part_b, 1, 8, &c[3]);
    assert_int_equal(cip_space_new_records(b->f.layout, ROWS, EACH, c, NCOLUMN, &b->s, NULL),
                     CIP_OK);
    assert_int_equal(b->s->len, ROWS * EACH);
}

static void any_bytes_of_them_are_read(void **state)
{
    (void)state;
    static bench b;
    static uint8_t got[ROWS * EACH];
    open_bench(&b);
    assert_int_equal(cip_space_read_at(&b.f.how, b.s, 0, got, sizeof got, NULL), CIP_OK);
    assert_memory_equal(got, b.record, sizeof got);
    for (int i = 0; i < 300; i++) {
        uint64_t off = fake_pick(&b.f, 0, sizeof got - 1);
        size_t n = (size_t)fake_pick(&b.f, 1, i % 2 == 0 ? 60 : 5000);
        n = n < sizeof got - off ? n : (size_t)(sizeof got - off);
        assert_int_equal(cip_space_read_at(&b.f.how, b.s, off, got, n, NULL), CIP_OK);
        assert_memory_equal(got, b.record + off, n);
    }
    assert_int_equal(cip_space_read_at(&b.f.how, b.s, sizeof got - 1, got, 2, NULL), CIP_ERR_RANGE);
    fake_close(&b.f);
}

static void check_view(bench *b, const cip_nd *v)
{
    static uint8_t got[ROWS * EACH];
    const cip_dtype *d;
    cip_cast cast;
    cip_nd to;
    cip_cast_stats stats = { 0, 0 };
    assert_int_equal(cip_dtype_opaque(&b->f.layout->arena, v->itemsize, NULL, &d, NULL), CIP_OK);
    assert_int_equal(cip_cast_make(d, d, CIP_OVERFLOW_ERROR, &cast, NULL), CIP_OK);
    assert_int_equal(cip_view_c_order(v->ndim, v->shape, v->itemsize, &to, NULL), CIP_OK);
    assert_int_equal(
        cip_space_gather(&b->f.how, b->s, &(cip_transfer){ v, &cast, &to, got }, &stats, NULL),
        CIP_OK);
    const uint8_t *p = got;
    for (int64_t i = 0; i < v->shape[0]; i++)
        for (int64_t j = 0; j < v->shape[1]; j++, p += v->itemsize)
            assert_memory_equal(
                p, b->record + (int64_t)v->off + i * v->stride[0] + j * v->stride[1], v->itemsize);
}

static const cip_nd views[] = {
    { .off = 14, .itemsize = 8, .ndim = 2, .shape = { ROWS, 1 }, .stride = { EACH, 8 } },
    { .off = (ROWS - 1) * EACH + 14,
      .itemsize = 4,
      .ndim = 2,
      .shape = { ROWS / 3, 2 },
      .stride = { -3 * EACH, 4 } },
    { .off = 18 + EACH, .itemsize = 4, .ndim = 2, .shape = { 9, 2 }, .stride = { EACH, -4 } },
    { .off = 5, .itemsize = 2, .ndim = 2, .shape = { ROWS, 3 }, .stride = { EACH, 3 } },
    { .off = 0, .itemsize = EACH, .ndim = 2, .shape = { 10, 3 }, .stride = { 7 * EACH, EACH } },
    { .off = 2, .itemsize = 9, .ndim = 2, .shape = { 99, 2 }, .stride = { EACH, 3 } },
};

static void views_of_fields_are_read(void **state)
{
    (void)state;
    static bench b;
    open_bench(&b);
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
        check_view(&b, &views[i]);
    fake_close(&b.f);
}

/* --- written ---------------------------------------------------------------------------------- */

static cip_status next_random(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    uint64_t *n = self; /* n[0]: an element's bytes, n[1]: how many bytes came */
    (void)err;
    for (uint64_t i = 0; i < nelem * n[0]; i++)
        dst[i] = (uint8_t)(n[1]++ * 2654435761U >> 13);
    return CIP_OK;
}

typedef struct rows {
    const bench *b;
    uint8_t *at[NCOLUMN];
    cip_status st;
} rows;

static cip_status put_rows(void *user, size_t column, const cip_nd *at, const cip_feed *feed,
                           cip_err *err)
{
    rows *r = user;
    int64_t idx[CIP_MAX_NDIM] = { 0 };
    uint64_t n;
    assert_true(cip_shape_nelem(at->ndim, at->shape, &n));
    for (uint64_t i = 0; i < n; i++) {
        int64_t off = (int64_t)at->off;
        for (int32_t k = 0; k < at->ndim; k++)
            off += idx[k] * at->stride[k];
        CIP_TRY(feed->next(feed->self, 1, r->at[column] + off, err));
        for (int32_t k = at->ndim; k-- > 0 && ++idx[k] == at->shape[k];)
            idx[k] = 0;
    }
    return r->st;
}

/* What the records are afterwards: as if the elements were put into them one by one. */
static void expect_written(bench *b, const rows *r, const cip_nd *v)
{
    uint64_t n[2] = { v->itemsize, 0 };
    for (int64_t i = 0; i < v->shape[0]; i++)
        for (int64_t j = 0; j < v->shape[1]; j++)
            next_random(n, 1, b->record + (int64_t)v->off + i * v->stride[0] + j * v->stride[1],
                        NULL);
    for (size_t c = 0; c < NCOLUMN; c++) {
        const cip_record_column *x = &b->s->records.column[c];
        for (size_t i = 0; i < ROWS; i++)
            for (size_t k = 0; k < x->npart; k++)
                assert_memory_equal(r->at[c] + i * x->row + x->part[k].from,
                                    b->record + i * EACH + x->part[k].off, x->part[k].len);
    }
}

static void views_of_fields_are_written(void **state)
{
    (void)state;
    static bench b;
    static uint8_t column[NCOLUMN][ROWS * 8];
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
        rows r = { .b = &b };
        uint64_t n[2] = { views[i].itemsize, 0 };
        const cip_feed feed = { .next = next_random, .self = n };
        const cip_records_to to = { put_rows, &r };
        if (views[i].itemsize == 9) /* elements over each other */
            continue;
        open_bench(&b);
        for (size_t c = 0; c < NCOLUMN; c++) {
            r.at[c] = column[c];
            assert_int_equal(cip_space_read_at(&b.f.how, b.in[c], 0, column[c],
                                               ROWS * b.s->records.column[c].row, NULL),
                             CIP_OK);
        }
        assert_int_equal(cip_records_scatter(&b.f.env, b.s, &views[i], &feed, &to, NULL), CIP_OK);
        expect_written(&b, &r, &views[i]);
        r.st = CIP_ERR_IO;
        assert_int_equal(cip_records_scatter(&b.f.env, b.s, &views[i], &feed, &to, NULL),
                         CIP_ERR_IO);
        fake_close(&b.f);
    }
}

static cip_status not_made(void *self, cip_space **out, cip_err *err)
{
    (void)self, (void)out;
    return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "not there");
}

static void a_column_that_is_not_asked_for_may_be_missing(void **state)
{
    (void)state;
    static bench b;
    uint8_t got[EACH];
    open_bench(&b);
    cip_record_column c[2] = { { .row = 4, .part = part_a, .npart = 1 },
                               { .in = b.in[3], .row = 8, .part = part_b, .npart = 1 } };
    cip_space *s;
    assert_int_equal(cip_space_new_lazy(b.f.layout, not_made, NULL, &c[0].in, NULL), CIP_OK);
    assert_int_equal(cip_space_new_records(b.f.layout, ROWS, EACH, c, 2, &s, NULL), CIP_OK);
    assert_int_equal(cip_space_read_at(&b.f.how, s, 0, got, EACH, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_space_read_at(&b.f.how, s, 5, got, EACH - 5, NULL), CIP_OK);
    assert_memory_equal(got + 9, b.record + 14, 8);
    assert_memory_equal(got, "\0\0\0\0\0\0\0\0\0", 9); /* of no column */
    fake_close(&b.f);
}

static void no_record_is_too_large_to_be_counted(void **state)
{
    (void)state;
    static bench b;
    cip_space *s;
    open_bench(&b);
    assert_int_equal(cip_space_new_records(b.f.layout, UINT64_C(1) << 62, 2, NULL, 0, &s, NULL),
                     CIP_ERR_LIMIT);
    assert_null(s);
    fake_close(&b.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_of_them_are_read),
        cmocka_unit_test(views_of_fields_are_read),
        cmocka_unit_test(views_of_fields_are_written),
        cmocka_unit_test(a_column_that_is_not_asked_for_may_be_missing),
        cmocka_unit_test(no_record_is_too_large_to_be_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
