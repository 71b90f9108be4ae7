/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include "array/cast_kernels.h"

static cip_cast cast_of(rig *r, const char *from, const char *to)
{
    cip_cast c;
    if (cip_cast_make(dtype_of(r, from), dtype_of(r, to), CIP_OVERFLOW_CLAMP, &c, &r->err) !=
        CIP_OK)
        fail_msg("%s", r->err.text);
    return c;
}

/* A view of `shape` whose axes lie in memory in the order of `rank` (the fastest has the largest),
 * with `gap` elements between rows, and backwards where a bit of `back` is set. Sets its bytes. */
static cip_nd layout(int32_t ndim, const int64_t *shape, const int32_t *rank, int64_t gap,
                     unsigned back, uint64_t itemsize, uint64_t *nbytes)
{
    cip_nd v = { .itemsize = itemsize, .ndim = ndim };
    int64_t step = (int64_t)itemsize;
    for (int32_t r = ndim - 1; r >= 0; r--) {
        for (int32_t k = 0; k < ndim; k++) {
            if (rank[k] != r)
                continue;
            v.shape[k] = shape[k];
            v.stride[k] = step;
            step *= shape[k] + gap;
        }
    }
    for (int32_t k = 0; k < ndim; k++) {
        if (back >> k & 1 && shape[k] > 0) {
            v.off += (uint64_t)(v.stride[k] * (shape[k] - 1));
            v.stride[k] = -v.stride[k];
        }
    }
    *nbytes = (uint64_t)step;
    return v;
}

/* Offset of the i-th element in C order. */
static uint64_t offset_of(const cip_nd *v, uint64_t i)
{
    uint64_t off = v->off;
    for (int32_t k = v->ndim - 1; k >= 0; k--) {
        off += (uint64_t)v->stride[k] * (i % (uint64_t)v->shape[k]);
        i /= (uint64_t)v->shape[k];
    }
    return off;
}

static void shuffle(int32_t *rank, int32_t n, uint64_t *seed)
{
    for (int32_t k = 0; k < n; k++)
        rank[k] = k;
    for (int32_t k = n - 1; k > 0; k--) {
        int32_t j = (int32_t)random_below(seed, k + 1), was = rank[k];
        rank[k] = rank[j];
        rank[j] = was;
    }
}

/* Copies between random layouts, and compares with casts of one element after the other. */
static void check_copy(const cip_cast *c, int32_t ndim, const int64_t *shape, uint64_t *seed)
{
    int32_t rank[2][8];
    uint64_t n, nsrc, ndst;
    cip_cast_stats stats = { 0 }, want = { 0 };
    shuffle(rank[0], ndim, seed);
    shuffle(rank[1], ndim, seed);
    cip_nd a = layout(ndim, shape, rank[0], random_below(seed, 2), (unsigned)random_u64(seed) & 7,
                      c->from->itemsize, &nsrc);
    cip_nd b = layout(ndim, shape, rank[1], random_below(seed, 2), (unsigned)random_u64(seed) & 7,
                      c->to->itemsize, &ndst);
    uint8_t *src = malloc(nsrc + 1), *dst = malloc(ndst + 1), *model = malloc(ndst + 1);
    for (uint64_t i = 0; i < nsrc; i++)
        src[i] = (uint8_t)(random_below(seed, 5000) == 0 ? random_u64(seed) : (i % 4 == 0) * i);
    memset(dst, 0x5a, ndst + 1);
    memset(model, 0x5a, ndst + 1);
    assert_true(cip_shape_nelem(ndim, shape, &n));
    for (uint64_t i = 0; i < n; i++)
        cip_cast_run(c, 1, src + offset_of(&a, i), 0, model + offset_of(&b, i), 0, i, &want);
    cip_copy_nd(c, &a, src, &b, dst, &stats);
    assert_memory_equal(dst, model, ndst + 1);
    assert_int_equal(stats.noverflow, want.noverflow);
    assert_int_equal(stats.first, want.first);
    free(src);
    free(dst);
    free(model);
}

static void copies_agree_with_casts_one_by_one(void **state)
{
    static const char *const casts[][2] = {
        { "u1", "u1" },
        { "<u2", ">u2" },
        { "<u4", "<u2" },
        { "<f8", "<f8" },
        { "<i4", "<f8" },
        { "<c16", ">c16" },
        { "S3", "S3" },
        { "<u4", "u1" },
        { "V20", "V20" },
        { "?", "?" },
        { "{a: <u2, b: u1}", "{a: >u4, b: ?}" },
        { "S2", "<U5" },
    };
    static const int64_t lengths[] = { 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100 };
    rig *r = *state;
    uint64_t seed = 7;
    for (size_t i = 0; i < sizeof casts / sizeof casts[0]; i++) {
        cip_cast c = cast_of(r, casts[i][0], casts[i][1]);
        for (int round = 0; round < 60; round++) {
            int64_t shape[4];
            int32_t ndim = (int32_t)random_below(&seed, 5);
            for (int32_t k = 0; k < ndim; k++)
                shape[k] = ndim <= 2 ? lengths[random_below(&seed, 13)] : random_below(&seed, 20);
            check_copy(&c, ndim, shape, &seed);
        }
    }
}

static void padding_of_records_is_left_in_transposes(void **state)
{
    rig *r = *state;
    cip_cast c =
        cast_of(r, "{a: u1}", "{'names': ['a'], 'formats': ['u1'], 'offsets': [0], 'itemsize': 2}");
    enum { N = 70 };
    static uint8_t src[N * N], dst[N * N * 2];
    cip_nd a, b;
    cip_cast_stats stats = { 0 };
    const int64_t shape[] = { N, N };
    assert_int_equal(cip_view_c_order(2, shape, 1, &a, NULL), CIP_OK);
    assert_int_equal(cip_view_f_order(2, shape, 2, &b, NULL), CIP_OK);
    memset(src, 3, sizeof src);
    memset(dst, 9, sizeof dst);
    cip_copy_nd(&c, &a, src, &b, dst, &stats);
    for (size_t i = 0; i < sizeof dst; i++)
        assert_int_equal(dst[i], i % 2 == 0 ? 3 : 9);
}

static void one_element_is_copied(void **state)
{
    rig *r = *state;
    cip_cast c = cast_of(r, ">u2", "u1");
    cip_nd a = { .off = 2, .itemsize = 2 }, b = { .off = 1, .itemsize = 1 };
    const uint8_t src[] = { 0, 1, 1, 1 };
    uint8_t dst[] = { 7, 7, 7 };
    cip_cast_stats stats = { 4, 9 };
    cip_copy_nd(&c, &a, src, &b, dst, &stats);
    assert_int_equal(dst[0], 7);
    assert_int_equal(dst[1], 255);
    assert_int_equal(dst[2], 7);
    assert_int_equal(stats.noverflow, 5);
    assert_int_equal(stats.first, 0);
}

static void nothing_is_copied_of_empty_shapes(void **state)
{
    rig *r = *state;
    cip_cast c = cast_of(r, "u1", "u1");
    const int64_t shapes[][3] = { { 0, 3, 4 }, { 3, 0, 4 }, { 3, 4, 0 } };
    cip_cast_stats stats = { 0 };
    for (int i = 0; i < 3; i++) {
        cip_nd a, b;
        assert_int_equal(cip_view_c_order(3, shapes[i], 1, &a, NULL), CIP_OK);
        assert_int_equal(cip_view_f_order(3, shapes[i], 1, &b, NULL), CIP_OK);
        cip_copy_nd(&c, &a, NULL, &b, NULL, &stats);
    }
    assert_int_equal(stats.noverflow, 0);
}

static void broadcast_sources_are_repeated(void **state)
{
    rig *r = *state;
    cip_cast c = cast_of(r, ">u2", "<u2");
    cip_nd a = { .itemsize = 2, .ndim = 2, .shape = { 3, 2 }, .stride = { 2, 0 } };
    cip_nd b = { .itemsize = 2, .ndim = 2, .shape = { 3, 2 }, .stride = { 4, 2 } };
    const uint8_t src[] = { 0, 1, 0, 2, 0, 3 };
    uint8_t dst[12];
    cip_cast_stats stats = { 0 };
    cip_copy_nd(&c, &a, src, &b, dst, &stats);
    const uint8_t want[] = { 1, 0, 1, 0, 2, 0, 2, 0, 3, 0, 3, 0 };
    assert_memory_equal(dst, want, sizeof want);
}

/* The sanitizers judge the pointers. */
static void bases_may_lie_in_the_midst_of_views(void **state)
{
    rig *r = *state;
    const uint8_t src[4] = { 1, 2, 3, 4 };
    uint8_t dst[4] = { 0 };
    cip_cast c = cast_of(r, "u1", "u1");
    cip_cast_stats stats = { 0 };
    cip_nd a = { .itemsize = 1, .ndim = 1, .shape = { 4 }, .stride = { 1 } };
    cip_nd b = { .itemsize = 1, .ndim = 1, .shape = { 4 }, .stride = { -1 } };
    a.off = UINT64_MAX - 1; /* two elements before the base */
    cip_copy_nd(&c, &a, src + 2, &b, dst + 3, &stats);
    assert_memory_equal(dst, ((const uint8_t[]){ 4, 3, 2, 1 }), 4);
    a.off = 0;
    a.stride[0] = b.stride[0] = 1;
    b.off = UINT64_MAX;
    cip_copy_nd(&c, &a, src, &b, dst + 1, &stats);
    assert_memory_equal(dst, src, 4);
}

static void the_first_overflow_is_the_first_in_c_order(void **state)
{
    rig *r = *state;
    cip_cast c = cast_of(r, ">u2", "u1");
    enum { N = 90 };
    static uint8_t src[N * N * 2], dst[N * N];
    const int64_t shape[] = { N, N };
    cip_nd a, b;
    /* The source lies in Fortran's order: (5, 80) comes behind (70, 2) there. */
    assert_int_equal(cip_view_f_order(2, shape, 2, &a, NULL), CIP_OK);
    assert_int_equal(cip_view_c_order(2, shape, 1, &b, NULL), CIP_OK);
    src[2 * (70 + 2 * N)] = 1;
    src[2 * (5 + 80 * N)] = 1;
    cip_cast_stats stats = { 0 };
    cip_copy_nd(&c, &a, src, &b, dst, &stats);
    assert_int_equal(stats.noverflow, 2);
    assert_int_equal(stats.first, 5 * N + 80);
    /* Backwards along both axes it is another one. */
    a.off = (uint64_t)(N - 1) * 2 * (N + 1);
    a.stride[0] = -a.stride[0];
    a.stride[1] = -a.stride[1];
    stats = (cip_cast_stats){ 0 };
    cip_copy_nd(&c, &a, src, &b, dst, &stats);
    assert_int_equal(stats.noverflow, 2);
    assert_int_equal(stats.first, (N - 1 - 70) * N + N - 1 - 2);
}

/* The plan for views of one dtype with these shape and strides. */
static cip_copy_plan plan_of(const cip_cast *c, int32_t ndim, const int64_t *shape,
                             const int64_t *as, const int64_t *bs)
{
    cip_nd a = { .itemsize = c->from->itemsize, .ndim = ndim }, b = a;
    cip_copy_plan p;
    b.itemsize = c->to->itemsize;
    for (int32_t k = 0; k < ndim; k++) {
        a.shape[k] = b.shape[k] = shape[k];
        a.stride[k] = as[k];
        b.stride[k] = bs[k];
    }
    cip_copy_plan_make(c, &a, &b, &p);
    return p;
}

#define LIST(...) ((const int64_t[]){ __VA_ARGS__ })

static void transposes_are_walked_in_tiles(void **state)
{
    rig *r = *state;
    cip_cast c = cast_of(r, "u1", "u1");
    cip_copy_plan p = plan_of(&c, 2, LIST(100, 100), LIST(100, 1), LIST(1, 100));
    assert_int_equal(p.row, 1);
    assert_int_equal(p.column, 0);
    assert_int_equal(p.side, 64);
    p = plan_of(&c, 2, LIST(100, 100), LIST(100, 1), LIST(-1, -100)); /* backwards, too */
    assert_int_equal(p.column, 0);
    p = plan_of(&c, 3, LIST(100, 100, 100), LIST(20000, 100, 1), LIST(100, 1, 10000));
    assert_int_equal(p.row, 2);
    assert_int_equal(p.column, 1);
    p = plan_of(&c, 3, LIST(100, 100, 100), LIST(20000, 100, 1), LIST(1, 100, 10000));
    assert_int_equal(p.column, 0);
    p = plan_of(&c, 2, LIST(100, 100), LIST(200, 1), LIST(200, 1)); /* no transpose */
    assert_int_equal(p.row, 1);
    assert_int_equal(p.column, -1);
    p = plan_of(&c, 2, LIST(100, 100), LIST(200, 1), LIST(100, 100)); /* none is faster */
    assert_int_equal(p.column, -1);
}

static void tiles_are_for_small_elements_far_apart(void **state)
{
    static const struct {
        const char *dtype;
        int64_t size;
        int column;
        uint64_t side;
    } rows[] = { { "u4", 4, 0, 64 },     { "V5", 5, 0, 32 },    { "f8", 8, 0, 32 },
                 { "c16", 16, 0, 32 },   { "V17", 17, -1, 32 }, { "{a: u1, b: ?}", 2, -1, 64 },
                 { "{a: u2}", 2, 0, 64 } };
    rig *r = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t size = rows[i].size;
        cip_cast c = cast_of(r, rows[i].dtype, rows[i].dtype);
        cip_copy_plan p =
            plan_of(&c, 2, LIST(100, 100), LIST(100 * size, size), LIST(size, 100 * size));
        assert_int_equal(p.column, rows[i].column);
        assert_int_equal(p.side, rows[i].side);
    }
    cip_cast c = cast_of(r, "u1", "u1");
    /* Both steps along the row within 64 bytes: not far apart. */
    assert_int_equal(plan_of(&c, 2, LIST(64, 100), LIST(100, 1), LIST(1, 64)).column, -1);
    assert_int_equal(plan_of(&c, 2, LIST(65, 100), LIST(100, 1), LIST(1, 65)).column, 0);
    assert_int_equal(plan_of(&c, 2, LIST(50, 100), LIST(6500, 64), LIST(1, 50)).column, -1);
    assert_int_equal(plan_of(&c, 2, LIST(50, 100), LIST(6500, 65), LIST(1, 50)).column, 0);
    assert_int_equal(plan_of(&c, 2, LIST(50, 100), LIST(6500, -64), LIST(1, -50)).column, -1);
}

static void short_rows_give_way_to_long_dense_axes(void **state)
{
    rig *r = *state;
    cip_cast c = cast_of(r, "u1", "u1");
    assert_int_equal(plan_of(&c, 2, LIST(100, 3), LIST(4, 1), LIST(3, 1)).row, 0);
    assert_int_equal(plan_of(&c, 2, LIST(100, 15), LIST(17, 1), LIST(15, 1)).row, 0);
    assert_int_equal(plan_of(&c, 2, LIST(100, 16), LIST(17, 1), LIST(16, 1)).row, 1);
    assert_int_equal(plan_of(&c, 2, LIST(4, 3), LIST(4, 1), LIST(3, 1)).row, 0);
    assert_int_equal(plan_of(&c, 2, LIST(3, 3), LIST(4, 1), LIST(3, 1)).row, 1);
    assert_int_equal(plan_of(&c, 2, LIST(2, 3), LIST(4, 1), LIST(3, 1)).row, 1);
    assert_int_equal(plan_of(&c, 2, LIST(100, 3), LIST(64, 1), LIST(64, 1)).row, 0);
    assert_int_equal(plan_of(&c, 2, LIST(100, 3), LIST(65, 1), LIST(64, 1)).row, 1);
    assert_int_equal(plan_of(&c, 2, LIST(100, 3), LIST(64, 1), LIST(65, 1)).row, 1);
    assert_int_equal(plan_of(&c, 3, LIST(90, 50, 3), LIST(60, 4, 1), LIST(30, 3, 1)).row, 0);
    assert_int_equal(plan_of(&c, 3, LIST(40, 50, 3), LIST(60, 4, 1), LIST(30, 3, 1)).row, 1);
    /* A dense row needs no tiles. */
    assert_int_equal(plan_of(&c, 2, LIST(100, 3), LIST(4, 1), LIST(1, 100)).row, 0);
    assert_int_equal(plan_of(&c, 2, LIST(100, 3), LIST(4, 1), LIST(1, 100)).column, -1);
    cip_copy_plan p = plan_of(&c, 0, NULL, NULL, NULL);
    assert_int_equal(p.row, 0);
    assert_int_equal(p.column, -1);
    assert_int_equal(p.a.ndim, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(copies_agree_with_casts_one_by_one),
        RIG_TEST(padding_of_records_is_left_in_transposes),
        RIG_TEST(one_element_is_copied),
        RIG_TEST(nothing_is_copied_of_empty_shapes),
        RIG_TEST(broadcast_sources_are_repeated),
        RIG_TEST(bases_may_lie_in_the_midst_of_views),
        RIG_TEST(the_first_overflow_is_the_first_in_c_order),
        RIG_TEST(transposes_are_walked_in_tiles),
        RIG_TEST(tiles_are_for_small_elements_far_apart),
        RIG_TEST(short_rows_give_way_to_long_dense_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
