/* SPDX-License-Identifier: BSD-3-Clause
 * Elements of views of files at the sizes that are real: how they are read, and what is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "space/read/reader.h"
#include "support/fake/fake.h"
#include "support/fault_io.h"

enum { N = 3 << 20 }; /* bytes of the file */

static fake f;
static fault_io io;
static cip_layout *layout;
static cip_tuning tuning;
static uint8_t *bytes, *out;
static cip_read_how how;

static int setup(void **state)
{
    (void)state;
    fake_open(&f, 1, NULL, NULL);
    bytes = fake_random(&f, N);
    out = fake_keep(&f, 4 * N);
    cip_io *open = fault_io_init(&io, &f.env, bytes, N);
    tuning = cip_tuning_default;
    if (cip_layout_new(&f.env, open, &layout, NULL) != CIP_OK)
        return 1;
    layout->tuning = &tuning;
    how = (cip_read_how){ layout, NULL };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cip_layout_free(layout);
    fake_close(&f);
    return 0;
}

static cip_nd nd2(int64_t n0, int64_t n1, int64_t s0, int64_t s1, uint64_t off, uint64_t size)
{
    return (cip_nd){
        .off = off, .itemsize = size, .ndim = 2, .shape = { n0, n1 }, .stride = { s0, s1 }
    };
}

static cip_status gather_as(cip_space *s, const cip_nd *from, const cip_dtype *a,
                            const cip_dtype *b, cip_cast_stats *stats, cip_err *err)
{
    cip_cast c;
    cip_nd to;
    assert_int_equal(cip_cast_make(a, b, CIP_OVERFLOW_CLAMP, &c, NULL), CIP_OK);
    assert_int_equal(cip_view_c_order(from->ndim, from->shape, b->itemsize, &to, NULL), CIP_OK);
    atomic_store(&io.reads, 0);
    atomic_store(&io.nbytes, 0);
    return cip_space_gather(&how, s, &(cip_transfer){ from, &c, &to, out }, stats, err);
}

/* Reads a view of the file as it is, and compares; gives the number of reads. */
static size_t reads_of(const cip_nd *v)
{
    const cip_dtype *d = cip_dtype_of(v->itemsize == 8   ? CIP_U64
                                      : v->itemsize == 4 ? CIP_U32
                                      : v->itemsize == 2 ? CIP_U16
                                                         : CIP_U8);
    assert_int_equal(gather_as(layout->file, v, d, d, NULL, NULL), CIP_OK);
    size_t at = 0;
    for (int64_t i = 0; i < v->shape[0]; i++)
        for (int64_t j = 0; j < (v->ndim > 1 ? v->shape[1] : 1); j++, at += v->itemsize) {
            uint64_t off = v->off + (uint64_t)(i * v->stride[0] + j * v->stride[1]);
            if (memcmp(out + at, bytes + off, v->itemsize) != 0)
                fail_msg("element %d, %d", (int)i, (int)j);
        }
    return io.reads;
}

/* --- how a file is read ----------------------------------------------------------------------- */

static void a_contiguous_copy_is_one_request(void **state)
{
    (void)state;
    cip_nd v = nd2(1000, 700, 2800, 4, 8, 4);
    assert_int_equal(reads_of(&v), 1);
    assert_int_equal(io.nbytes, 2800000);
    tuning.direct = 1000000;
    assert_int_equal(reads_of(&v), 3);
    assert_int_equal(io.nbytes, 2800000);
}

static void long_rows_are_read_one_by_one(void **state)
{
    (void)state;
    cip_nd v = nd2(100, 1024, 20000, 4, 8, 4); /* rows of 4096 bytes */
    assert_int_equal(reads_of(&v), 100);
    assert_int_equal(io.nbytes, 100 * 4096);
    v.shape[1]--; /* shorter, but far apart: the same */
    assert_int_equal(reads_of(&v), 100);
    v.stride[0] = 5000; /* close together: with what lies between */
    assert_int_equal(reads_of(&v), 1);
    assert_int_equal(io.nbytes, 99 * 5000 + 4092);
    v.shape[1]++; /* long ones are worth a read of their own */
    assert_int_equal(reads_of(&v), 100);
}

static void sparse_columns_are_read_one_by_one(void **state)
{
    (void)state;
    cip_nd v = nd2(300, 1, 10000, 0, 4, 4);
    assert_int_equal(reads_of(&v), 300);
    assert_int_equal(io.nbytes, 1200);
    v = nd2(700, 1, 4100, 0, 4, 4); /* gaps of no more than 4 KiB: together, in stages */
    assert_true(reads_of(&v) <= 8);
    v.stride[0] = 4101;
    tuning.near = 1;
    assert_int_equal(reads_of(&v), 700);
}

static void every_other_element_is_read_with_its_neighbours(void **state)
{
    (void)state;
    cip_nd v = nd2(700, 500, 4000, 8, 8, 4);
    assert_true(reads_of(&v) <= 8);
    v = nd2(500, 700, 8, 4000, 8, 4); /* and turned */
    assert_true(reads_of(&v) <= 6);
    v = nd2(500, 700, -8, 4000, 4008, 4);
    assert_true(reads_of(&v) <= 6);
}

static void windows_that_overlap_are_read_together(void **state)
{
    (void)state;
    cip_nd v = nd2(2000, 100, 4, 4, 0, 4);
    assert_true(reads_of(&v) <= 2);
    assert_true(io.nbytes <= 2100 * 4);
    v = nd2(3, 200000, 4, 4, 0, 4); /* larger than a stage: cut */
    assert_true(reads_of(&v) <= 10);
    v = nd2(300, 1000, 0, 4, 0, 4); /* the same again */
    assert_int_equal(reads_of(&v), 1);
    assert_int_equal(io.nbytes, 4000);
    v = nd2(1000, 300, 4, 0, 0, 4);
    assert_int_equal(reads_of(&v), 1);
    v = nd2(50, 100, 0, 20000, 0, 4); /* sparse and again */
    tuning.near = 1;
    assert_int_equal(reads_of(&v), 100);
}

static void a_change_of_byte_order_is_staged(void **state)
{
    (void)state;
    cip_nd v = nd2(1, 300000, 0, 8, 8, 8);
    const cip_dtype *be = cip_dtype_fixed(CIP_U64, true), *le = cip_dtype_fixed(CIP_U64, false);
    assert_int_equal(gather_as(layout->file, &v, be, le, NULL, NULL), CIP_OK);
    for (size_t i = 0; i < 300000; i++)
        for (size_t k = 0; k < 8; k++)
            if (out[8 * i + k] != bytes[8 + 8 * i + 7 - k])
                fail_msg("element %zu", i);
    assert_int_equal(io.reads, 5);
}

static void jobs_see_every_tile_once(void **state)
{
    (void)state;
    cip_pool *pool;
    cip_nd v = nd2(700, 500, 4000, 8, 8, 4);
    assert_int_equal(cip_pool_new(3, &pool, NULL), CIP_OK);
    how.pool = pool;
    for (int i = 0; i < 10; i++) {
        tuning.buffer = (size_t)(1000 + 777 * i);
        tuning.job = (size_t)(1 + 9000 * i);
        reads_of(&v);
        assert_true(io.nbytes <= 2800000);
    }
    cip_pool_free(pool);
}

static void elements_larger_than_a_stage_are_read(void **state)
{
    (void)state;
    const cip_dtype *d;
    cip_nd v = nd2(2, 2, 700000, 800000, 5, 700000);
    tuning.buffer = 1000;
    assert_int_equal(cip_dtype_opaque(&layout->arena, 700000, NULL, &d, NULL), CIP_OK);
    assert_int_equal(gather_as(layout->file, &v, d, d, NULL, NULL), CIP_OK);
    assert_memory_equal(out, bytes + 5, 700000);
    assert_memory_equal(out + 2100000, bytes + 1500005, 700000);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void a_failing_read_fails_the_gather(void **state)
{
    (void)state;
    const cip_dtype *d = cip_dtype_of(CIP_U32);
    cip_nd v = nd2(100, 1024, 20000, 4, 8, 4);
    cip_err err = CIP_ERR_INIT;
    io.fail_at = 41;
    io.status = CIP_ERR_BUSY;
    layout->file->label = "data";
    assert_int_equal(gather_as(layout->file, &v, d, d, NULL, &err), CIP_ERR_BUSY);
    assert_int_equal(err.offset, 800008);
    assert_string_equal(err.part, "data");
}

static void what_lies_between_elements_may_be_missing(void **state)
{
    (void)state;
    cip_chunk c[60];
    cip_table t;
    cip_space *s;
    cip_err err = CIP_ERR_INIT;
    const cip_dtype *d = cip_dtype_of(CIP_U16);
    for (size_t i = 0; i < 60; i++)
        c[i] = (cip_chunk){ .raw_off = 10 * i,
                            .raw_len = 10,
                            .at = { layout->file, 10 * i, 10 },
                            .codec = &cip_codec_stored };
    c[7].state = CIP_CHUNK_MISSING;
    c[7].why = CIP_ERR_CHECKSUM;
    assert_int_equal(cip_table_from_array(layout, c, 60, &t, NULL), CIP_OK);
    assert_int_equal(cip_space_new_chunked(layout, &t, 600, NULL, 0, &s, NULL), CIP_OK);
    cip_nd v = nd2(24, 6, 20, 2, 10, 2); /* overlapping: read by covers; over chunk 7 */
    v = nd2(25, 4, 20, 2, 0, 2);         /* 20 i + 0..7: chunks 0, 2, 4, ... */
    assert_int_equal(gather_as(s, &v, d, d, NULL, &err), CIP_OK);
    assert_int_equal(err.code, 0);
    for (size_t i = 0; i < 25; i++)
        assert_memory_equal(out + 8 * i, bytes + 20 * i, 8);
    v.stride[0] = 70; /* row 1 lies in chunk 7 */
    v.shape[0] = 8;
    assert_int_equal(gather_as(s, &v, d, d, NULL, &err), CIP_ERR_CHECKSUM);
    v = nd2(30, 2, 10, 20, 0, 2); /* overlapping: 10 i and 10 i + 20, so also chunk 7 */
    assert_int_equal(gather_as(s, &v, d, d, NULL, &err), CIP_ERR_CHECKSUM);
    v = nd2(20, 2, 20, 40, 0, 2); /* overlapping, even chunks only */
    assert_int_equal(gather_as(s, &v, d, d, NULL, &err), CIP_OK);
    assert_memory_equal(out + 4, bytes + 20, 2);
    assert_memory_equal(out + 6, bytes + 60, 2);
}

static void views_beyond_the_space_are_out_of_range(void **state)
{
    (void)state;
    const cip_dtype *d = cip_dtype_of(CIP_U32);
    cip_nd v = nd2(1, 2, 0, 4, N - 8, 4);
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(gather_as(layout->file, &v, d, d, NULL, NULL), CIP_OK);
    v.off++;
    assert_int_equal(gather_as(layout->file, &v, d, d, NULL, &err), CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected 8 bytes at 3145721, found the end at 3145728");
    v = nd2(1, 2, 0, -4, 3, 4);
    assert_int_equal(gather_as(layout->file, &v, d, d, NULL, NULL), CIP_ERR_RANGE);
    v = nd2(2, INT64_MAX, INT64_MAX, INT64_MAX, 3, 4);
    cip_cast c;
    assert_int_equal(cip_cast_make(d, d, CIP_OVERFLOW_CLAMP, &c, NULL), CIP_OK);
    assert_int_not_equal(
        cip_space_gather(&how, layout->file, &(cip_transfer){ &v, &c, &v, out }, NULL, NULL),
        CIP_OK);
    assert_int_equal(io.reads, 0);
}

static void nothing_is_read_of_nothing(void **state)
{
    (void)state;
    const cip_dtype *d = cip_dtype_of(CIP_U32);
    cip_nd v = nd2(0, 2, 4, 4, UINT64_MAX, 4);
    assert_int_equal(gather_as(layout->file, &v, d, d, NULL, NULL), CIP_OK);
    assert_int_equal(io.reads, 0);
}

static void shapes_have_to_agree(void **state)
{
    (void)state;
    cip_nd v = nd2(3, 2, 8, 4, 0, 4), to = nd2(3, 3, 8, 4, 0, 4);
    cip_cast c;
    const cip_dtype *d = cip_dtype_of(CIP_U32);
    assert_int_equal(cip_cast_make(d, d, CIP_OVERFLOW_CLAMP, &c, NULL), CIP_OK);
    assert_int_equal(
        cip_space_gather(&how, layout->file, &(cip_transfer){ &v, &c, &to, out }, NULL, NULL),
        CIP_ERR_ARG);
    to = v;
    to.ndim = 1;
    assert_int_equal(
        cip_space_gather(&how, layout->file, &(cip_transfer){ &v, &c, &to, out }, NULL, NULL),
        CIP_ERR_ARG);
    to = v;
    assert_int_equal(
        cip_space_gather(&how, layout->file, &(cip_transfer){ &v, &c, &to, out }, NULL, NULL),
        CIP_OK);
}

static void elements_of_no_bytes_are_fine_everywhere(void **state)
{
    (void)state;
    const cip_dtype *d;
    cip_space *s;
    assert_int_equal(cip_dtype_ascii(&layout->arena, 0, &d, NULL), CIP_OK);
    cip_nd v = nd2(3, 2, 0, 0, 5, 0);
    for (int kind = 0; kind < FAKE_NKIND; kind++) {
        s = fake_space(&f, (fake_kind)kind, bytes, 5, 1, true);
        assert_int_equal(gather_as(s, &v, d, d, NULL, NULL), CIP_OK);
    }
    v.off = 0;
    const int64_t none[1] = { 0 }, one[1] = { 1 };
    cip_grid g = { .itemsize = 2, .ndim = 1, .shape = none, .chunk = one };
    cip_table t = { .raw_each = 2 };
    assert_int_equal(cip_space_new_grid(layout, &g, &t, NULL, 0, &s, NULL), CIP_OK);
    assert_int_equal(gather_as(s, &v, d, d, NULL, NULL), CIP_OK);
}

/* --- what is counted -------------------------------------------------------------------------- */

static void overflows_do_not_depend_on_the_way(void **state)
{
    (void)state;
    cip_pool *pool;
    const cip_dtype *from = cip_dtype_fixed(CIP_I16, false), *to = cip_dtype_fixed(CIP_I8, false);
    cip_nd v = nd2(1000, 500, 2, 2000, 0, 2);
    memset(bytes, 0, N);
    bytes[2000 * 400 + 2 * 700 + 1] = 9; /* element (700, 400) */
    bytes[2000 * 13 + 2 * 900 + 1] = 9;  /* element (900, 13): first in the file */
    assert_int_equal(cip_pool_new(3, &pool, NULL), CIP_OK);
    for (int kind = 0; kind < FAKE_NKIND; kind++) {
        cip_space *s = fake_space(&f, (fake_kind)kind, bytes, 1000000, 1, true);
        for (int i = 0; i < 3; i++) {
            cip_cast_stats st = { 0, 0 };
            how = (cip_read_how){ f.layout, i == 2 ? pool : NULL };
            f.tuning.buffer = i == 1 ? 10000 : 512 << 10;
            assert_int_equal(gather_as(s, &v, from, to, &st, NULL), CIP_OK);
            assert_int_equal(st.noverflow, 2);
            assert_int_equal(st.first, 700 * 500 + 400);
            assert_int_equal(out[700 * 500 + 400], 127);
        }
    }
    cip_pool_free(pool);
}

static void stats_are_added_to_those_before(void **state)
{
    (void)state;
    const cip_dtype *from = cip_dtype_fixed(CIP_U16, false), *to = cip_dtype_fixed(CIP_U8, false);
    cip_nd v = nd2(1, 10, 0, 2, 0, 2);
    cip_cast_stats st = { 0, 0 };
    memset(bytes, 1, 20);
    assert_int_equal(gather_as(layout->file, &v, from, to, &st, NULL), CIP_OK);
    assert_int_equal(gather_as(layout->file, &v, from, to, &st, NULL), CIP_OK);
    assert_int_equal(st.noverflow, 20);
    assert_int_equal(st.first, 0);
}

/* --- points ----------------------------------------------------------------------------------- */

static void points_may_come_in_any_order_and_again(void **state)
{
    (void)state;
    uint64_t off[7] = { 1000, 4, 2000000, 4, 6, N - 4, 0 };
    cip_cast c;
    cip_cast_stats st = { 0, 0 };
    const cip_dtype *d = cip_dtype_of(CIP_U32);
    assert_int_equal(cip_cast_make(d, d, CIP_OVERFLOW_CLAMP, &c, NULL), CIP_OK);
    assert_int_equal(
        cip_space_gather_points(&how, layout->file, &(cip_points){ off, 7, out }, &c, &st, NULL),
        CIP_OK);
    for (size_t i = 0; i < 7; i++)
        assert_memory_equal(out + 4 * i, bytes + off[i], 4);
    assert_int_equal(io.nbytes, 1000 + 4 + 4 + 4); /* what is close is read together */
    assert_int_equal(
        cip_space_gather_points(&how, layout->file, &(cip_points){ off, 0, out }, &c, &st, NULL),
        CIP_OK);
}

static int always(void *user)
{
    (void)user;
    return 1;
}

static void very_many_points_may_be_stopped(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    static uint64_t off[MANY];
    cip_cast c;
    cip_err err = CIP_ERR_INIT;
    const cip_dtype *d = cip_dtype_of(CIP_U32);
    const cip_points at = { off, MANY, out };
    for (size_t i = 0; i < MANY; i++) /* one of them often, and out of order */
        off[i] = i % 7 == 0 ? 12 : (i * UINT64_C(2654435761) >> 3) % (N - 4);
    assert_int_equal(cip_cast_make(d, d, CIP_OVERFLOW_CLAMP, &c, NULL), CIP_OK);
    assert_int_equal(cip_space_gather_points(&how, layout->file, &at, &c, NULL, NULL), CIP_OK);
    for (size_t i = 0; i < MANY; i++)
        assert_memory_equal(out + 4 * i, bytes + off[i], 4);
    cip_stop before = cip_stop_set((cip_stop){ always, NULL });
    assert_int_equal(cip_space_gather_points(&how, layout->file, &at, &c, NULL, &err),
                     CIP_ERR_CANCELLED);
    cip_stop_set(before);
}

static void a_point_beyond_the_space_is_named(void **state)
{
    (void)state;
    uint64_t off[3] = { 1000, N - 3, 7 };
    cip_cast c;
    cip_err err = CIP_ERR_INIT;
    const cip_dtype *d = cip_dtype_of(CIP_U32);
    layout->file->label = "column";
    assert_int_equal(cip_cast_make(d, d, CIP_OVERFLOW_CLAMP, &c, NULL), CIP_OK);
    assert_int_equal(
        cip_space_gather_points(&how, layout->file, &(cip_points){ off, 3, out }, &c, NULL, &err),
        CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected point 1 within 3145728 bytes, found it at 3145725");
    assert_string_equal(err.part, "column");
    off[1] = UINT64_MAX;
    assert_int_equal(
        cip_space_gather_points(&how, layout->file, &(cip_points){ off, 3, out }, &c, NULL, &err),
        CIP_ERR_RANGE);
    off[1] = N - 4;
    assert_int_equal(
        cip_space_gather_points(&how, layout->file, &(cip_points){ off, 3, out }, &c, NULL, &err),
        CIP_OK);
}

static void the_first_point_to_overflow_is_that_of_the_list(void **state)
{
    (void)state;
    uint64_t off[3] = { 20, 10, 0 };
    cip_cast c;
    cip_cast_stats st = { 0, 0 };
    memset(bytes, 0, 30);
    bytes[11] = bytes[1] = 1;
    assert_int_equal(cip_cast_make(cip_dtype_fixed(CIP_U16, false), cip_dtype_of(CIP_U8),
                                   CIP_OVERFLOW_CLAMP, &c, NULL),
                     CIP_OK);
    assert_int_equal(
        cip_space_gather_points(&how, layout->file, &(cip_points){ off, 3, out }, &c, &st, NULL),
        CIP_OK);
    assert_int_equal(st.noverflow, 2);
    assert_int_equal(st.first, 1);
}

/* --- streams ---------------------------------------------------------------------------------- */

typedef struct taken {
    size_t n, calls, most, stop_at;
    bool right;
} taken;

static int take(void *user, const uint8_t *p, size_t n)
{
    taken *t = user;
    t->right = t->right && memcmp(p, bytes + t->n, n) == 0;
    t->n += n;
    t->most = n > t->most ? n : t->most;
    return ++t->calls == t->stop_at;
}

static void a_stream_gives_all_in_pieces(void **state)
{
    (void)state;
    taken t = { .right = true };
    assert_int_equal(cip_space_stream(&how, layout->file, 70000, take, &t, NULL), CIP_OK);
    assert_true(t.right);
    assert_int_equal(t.n, N);
    assert_int_equal(t.most, 70000);
    t = (taken){ .right = true };
    assert_int_equal(cip_space_stream(&how, layout->file, 2 * N, take, &t, NULL), CIP_OK);
    assert_int_equal(t.calls, 1);
    assert_int_equal(t.n, N);
    assert_int_equal(cip_space_stream(&how, layout->file, 0, take, &t, NULL), CIP_ERR_ARG);
}

static void a_stream_stops_when_told(void **state)
{
    (void)state;
    taken t = { .right = true, .stop_at = 3 };
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_space_stream(&how, layout->file, 1000, take, &t, &err), CIP_ERR_CANCELLED);
    assert_int_equal(t.calls, 3);
    assert_int_equal(t.n, 3000);
}

static void a_stream_of_chunks_reads_each_once(void **state)
{
    (void)state;
    for (size_t each = 1000; each < 4000000; each *= 7) {
        cip_chunk *c = fake_keep(&f, (N / each + 1) * sizeof *c);
        size_t n = 0;
        cip_table t;
        cip_space *s;
        taken got = { .right = true };
        for (size_t off = 0; off < N; off += each, n++)
            c[n] = (cip_chunk){ .at = { layout->file, off, 0 }, .raw_off = off };
        for (size_t i = 0; i < n; i++)
            c[i].raw_len = c[i].at.len = i + 1 < n ? each : N - c[i].raw_off;
        assert_int_equal(cip_table_from_array(layout, c, n, &t, NULL), CIP_OK);
        assert_int_equal(cip_space_new_chunked(layout, &t, N, NULL, 0, &s, NULL), CIP_OK);
        atomic_store(&io.nbytes, 0);
        assert_int_equal(cip_space_stream(&how, s, 3333, take, &got, NULL), CIP_OK);
        assert_true(got.right);
        assert_int_equal(got.n, N);
        assert_int_equal(io.nbytes, N);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_contiguous_copy_is_one_request),
        TEST(long_rows_are_read_one_by_one),
        TEST(sparse_columns_are_read_one_by_one),
        TEST(every_other_element_is_read_with_its_neighbours),
        TEST(windows_that_overlap_are_read_together),
        TEST(a_change_of_byte_order_is_staged),
        TEST(jobs_see_every_tile_once),
        TEST(elements_larger_than_a_stage_are_read),
        TEST(a_failing_read_fails_the_gather),
        TEST(what_lies_between_elements_may_be_missing),
        TEST(views_beyond_the_space_are_out_of_range),
        TEST(nothing_is_read_of_nothing),
        TEST(shapes_have_to_agree),
        TEST(elements_of_no_bytes_are_fine_everywhere),
        TEST(overflows_do_not_depend_on_the_way),
        TEST(stats_are_added_to_those_before),
        TEST(points_may_come_in_any_order_and_again),
        TEST(very_many_points_may_be_stopped),
        TEST(a_point_beyond_the_space_is_named),
        TEST(the_first_point_to_overflow_is_that_of_the_list),
        TEST(a_stream_gives_all_in_pieces),
        TEST(a_stream_stops_when_told),
        TEST(a_stream_of_chunks_reads_each_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
