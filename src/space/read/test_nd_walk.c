/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "space/read/nd_walk.h"

static cip_nd nd(int32_t ndim, const int64_t *shape, const int64_t *stride, uint64_t off,
                 uint64_t itemsize)
{
    cip_nd v = { .off = off, .itemsize = itemsize, .ndim = ndim };
    for (int32_t k = 0; k < ndim; k++) {
        v.shape[k] = shape[k];
        v.stride[k] = stride[k];
    }
    return v;
}

static cip_walk walk(const cip_nd *from, const cip_nd *to, bool ordered)
{
    cip_walk w;
    cip_walk_make(from, to, ordered, &w);
    return w;
}

static void contiguous_axes_become_one(void **state)
{
    (void)state;
    const int64_t shape[] = { 2, 3, 4 }, stride[] = { 24, 8, 2 };
    cip_nd a = nd(3, shape, stride, 100, 2), b = nd(3, shape, stride, 0, 2);
    cip_walk w = walk(&a, &b, true);
    assert_int_equal(w.ndim, 1);
    assert_int_equal(w.nouter, 1);
    assert_int_equal(w.axis[0].n, 24);
    assert_int_equal(w.axis[0].from, 2);
    assert_int_equal(w.axis[0].pos, 1);
    assert_int_equal(w.off, 100);
    assert_int_equal(w.nelem, 24);
    assert_true(w.nested);
    assert_false(cip_walk_turns(&w));
    assert_int_equal(cip_walk_span(&w, 0, 24), 48);
    assert_int_equal(cip_walk_span(&w, 0, 1), 2);
    assert_int_equal(cip_walk_span(&w, -1, 1), 48);
}

static void equal_permutations_merge_unless_places_matter(void **state)
{
    (void)state;
    const int64_t shape[] = { 3, 4 }, stride[] = { 1, 3 }; /* F order in both */
    cip_nd a = nd(2, shape, stride, 0, 1);
    cip_walk w = walk(&a, &a, false);
    assert_int_equal(w.ndim, 1);
    w = walk(&a, &a, true);
    assert_int_equal(w.ndim, 2);
    assert_int_equal(w.axis[0].from, 3);
    assert_int_equal(w.axis[0].pos, 1);
    assert_int_equal(w.axis[1].pos, 4);
}

static void falling_axes_are_turned(void **state)
{
    (void)state;
    const int64_t shape[] = { 3, 4 }, stride[] = { 8, -2 }, out[] = { 4, 1 };
    cip_nd a = nd(2, shape, stride, 6, 2), b = nd(2, shape, out, 0, 1);
    cip_walk w = walk(&a, &b, true);
    assert_int_equal(w.off, 0);
    assert_int_equal(w.to_off, 3);
    assert_int_equal(w.pos0, 3);
    assert_int_equal(w.axis[1].from, 2);
    assert_int_equal(w.axis[1].to, -1);
    assert_int_equal(w.axis[1].pos, -1);
    assert_int_equal(w.axis[0].from, 8);
}

static void repeating_axes_come_last(void **state)
{
    (void)state;
    const int64_t shape[] = { 5, 3, 1 }, stride[] = { 0, 2, 77 }, out[] = { 3, 1, 1 };
    cip_nd a = nd(3, shape, stride, 0, 2), b = nd(3, shape, out, 0, 1);
    cip_walk w = walk(&a, &b, true);
    assert_int_equal(w.ndim, 2);
    assert_int_equal(w.nouter, 1);
    assert_int_equal(w.nelem, 15);
    assert_int_equal(w.nsource, 3);
    assert_int_equal(w.axis[1].n, 5);
    assert_int_equal(w.axis[1].to, 3);
}

static bool is_nested(int64_t outer, int64_t inner, uint64_t size)
{
    const int64_t shape[] = { 4, 3 }, stride[] = { outer, inner }, out[] = { 3, 1 };
    cip_nd a = nd(2, shape, stride, 0, size), b = nd(2, shape, out, 0, 1);
    return walk(&a, &b, true).nested;
}

static void overlap_is_seen(void **state)
{
    (void)state;
    assert_true(is_nested(6, 2, 2));
    assert_true(is_nested(7, 2, 2));
    assert_false(is_nested(5, 2, 2));
    assert_false(is_nested(6, 2, 3));
    assert_true(is_nested(7, 2, 1)); /* elements with gaps */
    assert_true(is_nested(5, 2, 1));
    assert_false(is_nested(2, 2, 1));
}

static void no_axes_are_one_element(void **state)
{
    (void)state;
    cip_nd a = nd(0, NULL, NULL, 7, 3), b = nd(0, NULL, NULL, 0, 3);
    cip_walk w = walk(&a, &b, true);
    cip_walk_at at;
    assert_int_equal(w.ndim, 0);
    assert_int_equal(w.nsource, 1);
    assert_int_equal(cip_walk_find(&w, 0), 0);
    assert_int_equal(cip_walk_find(&w, 7), 0);
    assert_int_equal(cip_walk_find(&w, 8), 1);
    cip_walk_seek(&w, 0, &at);
    assert_int_equal(at.off, 7);
    assert_int_equal(cip_walk_row(&at), 1);
    assert_int_equal(cip_walk_span(&w, -1, 1), 3);
}

/* Elements of 2 bytes at 10 + 100 i + 10 j + 2 k. */
static cip_walk nested_walk(void)
{
    const int64_t shape[] = { 3, 4, 2 }, stride[] = { 100, 10, 2 }, out[] = { 8, 2, 1 };
    cip_nd a = nd(3, shape, stride, 10, 2), b = nd(3, shape, out, 0, 1);
    return walk(&a, &b, true);
}

static void places_are_found_as_if_by_counting(void **state)
{
    (void)state;
    cip_walk w = nested_walk();
    assert_int_equal(w.ndim, 3);
    for (uint64_t off = 0; off < 400; off++) {
        uint64_t e = 0;
        for (uint64_t i = 0; i < 24; i++)
            e += 10 + 100 * (i / 8) + 10 * (i / 2 % 4) + 2 * (i % 2) < off;
        assert_int_equal(cip_walk_find(&w, off), e);
    }
    assert_int_equal(cip_walk_find(&w, UINT64_MAX), 24);
}

static void walking_and_seeking_agree(void **state)
{
    (void)state;
    cip_walk w = nested_walk();
    for (uint64_t e = 0; e < 24; e++) {
        cip_walk_at at, other;
        cip_walk_seek(&w, e, &at);
        assert_int_equal(at.off, 10 + 100 * (e / 8) + 10 * (e / 2 % 4) + 2 * (e % 2));
        assert_int_equal(at.pos, e);
        assert_int_equal(cip_walk_row(&at), 2 - e % 2);
        if (e == 23)
            break;
        cip_walk_skip(&at, cip_walk_row(&at));
        cip_walk_seek(&w, e + 2 - e % 2, &other);
        if (at.e == 24)
            continue;
        assert_int_equal(at.off, other.off);
        assert_int_equal(at.to_off, other.to_off);
        assert_int_equal(at.pos, other.pos);
        assert_int_equal(at.e, other.e);
    }
}

static cip_cast cast_of(cip_kind from, cip_kind to)
{
    cip_cast c;
    assert_int_equal(
        cip_cast_make(cip_dtype_of(from), cip_dtype_of(to), CIP_OVERFLOW_CLAMP, &c, NULL), CIP_OK);
    return c;
}

static void rows_can_be_cut_anywhere(void **state)
{
    (void)state;
    const int64_t shape[] = { 7, 5 }, stride[] = { 12, 2 }, out[] = { 5, 1 };
    uint8_t src[90], dst[35], whole[35];
    cip_nd a = nd(2, shape, stride, 3, 1), b = nd(2, shape, out, 0, 1);
    cip_walk w = walk(&a, &b, true);
    cip_cast c = cast_of(CIP_U8, CIP_U8);
    for (size_t i = 0; i < sizeof src; i++)
        src[i] = (uint8_t)(i * 37);
    for (size_t i = 0; i < 35; i++)
        whole[i] = src[3 + 12 * (i / 5) + 2 * (i % 5)];
    for (uint64_t e0 = 0; e0 <= 35; e0++)
        for (uint64_t e1 = e0; e1 <= 35; e1++) {
            cip_cast_stats st = { 0, 0 };
            cip_walk_cast_args args = { e0, e1, CIP_SRC_PLACED, src, 0, &c, dst };
            memset(dst, 0xEE, sizeof dst);
            cip_walk_cast(&w, &args, &st);
            for (uint64_t i = 0; i < 35; i++)
                assert_int_equal(dst[i], i < e0 || i >= e1 ? 0xEE : whole[i]);
            args = (cip_walk_cast_args){ e0, e1, CIP_SRC_PACKED, whole + e0, 0, &c, dst };
            memset(dst, 0xEE, sizeof dst);
            cip_walk_cast(&w, &args, &st);
            for (uint64_t i = 0; i < 35; i++)
                assert_int_equal(dst[i], i < e0 || i >= e1 ? 0xEE : whole[i]);
        }
}

/* 2 x 3 rows of 10 bytes, with gaps between all of them on both sides; also packed ones. */
static void rows_in_one_piece_can_be_cut_anywhere(void **state)
{
    (void)state;
    enum { N = 60 };
    const int64_t shape[] = { 2, 3, 10 }, stride[] = { 50, 12, 1 }, out[] = { 45, 11, 1 };
    uint8_t src[100], dst[80], packed[N];
    cip_nd a = nd(3, shape, stride, 3, 1), b = nd(3, shape, out, 0, 1);
    cip_walk w = walk(&a, &b, false);
    cip_cast c = cast_of(CIP_U8, CIP_U8);
    assert_int_equal(w.ndim, 3);
    for (size_t i = 0; i < sizeof src; i++)
        src[i] = (uint8_t)i;
    for (size_t i = 0; i < N; i++)
        packed[i] = src[3 + 50 * (i / 30) + 12 * (i / 10 % 3) + i % 10];
    for (uint64_t e0 = 0; e0 <= N; e0++)
        for (uint64_t k = 0; k < 2 * (N + 1 - e0); k++) {
            uint64_t e1 = e0 + k / 2;
            uint8_t want[sizeof dst];
            cip_cast_stats st = { 0, 0 };
            cip_walk_cast_args args = { e0, e1, CIP_SRC_PLACED, src, 0, &c, dst };
            if (k % 2 != 0)
                args = (cip_walk_cast_args){ e0, e1, CIP_SRC_PACKED, packed + e0, 0, &c, dst };
            memset(dst, 0xEE, sizeof dst);
            memset(want, 0xEE, sizeof want);
            for (uint64_t e = e0; e < e1; e++)
                want[45 * (e / 30) + 11 * (e / 10 % 3) + e % 10] = packed[e];
            cip_walk_cast(&w, &args, &st);
            assert_memory_equal(dst, want, sizeof dst);
        }
}

static void one_element_serves_all(void **state)
{
    (void)state;
    const int64_t shape[] = { 3, 20 }, stride[] = { 100, 2 }, out[] = { 40, 2 };
    uint8_t dst[120] = { 0 };
    uint16_t value = 513;
    cip_nd a = nd(2, shape, stride, 0, 2), b = nd(2, shape, out, 0, 2);
    cip_walk w = walk(&a, &b, true);
    cip_cast c = cast_of(CIP_U16, CIP_U16);
    cip_cast_stats st = { 0, 0 };
    cip_walk_cast_args args = { 1, 60, CIP_SRC_SAME, (const uint8_t *)&value, 0, &c, dst };
    cip_walk_cast(&w, &args, &st);
    assert_int_equal(dst[0], 0);
    for (size_t i = 1; i < 60; i++)
        assert_memory_equal(dst + 2 * i, &value, 2);
}

static cip_cast_stats overflow_at(const cip_nd *a, const cip_nd *b, const int16_t *src)
{
    uint8_t dst[64];
    cip_walk w = walk(a, b, true);
    cip_cast c = cast_of(CIP_I16, CIP_I8);
    cip_cast_stats st = { 0, 0 };
    cip_walk_cast_args args = { 0, w.nsource, CIP_SRC_PLACED, (const uint8_t *)src, 0, &c, dst };
    cip_walk_cast(&w, &args, &st);
    return st;
}

static void the_first_overflow_is_the_first_of_the_caller(void **state)
{
    (void)state;
    int16_t src[12] = { 0 };
    const int64_t shape[] = { 3, 4 }, c_order[] = { 8, 2 }, f_order[] = { 2, 6 };
    const int64_t back[] = { 8, -2 }, out[] = { 4, 1 };
    src[5] = 1000;
    src[10] = -1000;
    cip_nd a = nd(2, shape, c_order, 0, 2), b = nd(2, shape, out, 0, 1);
    cip_cast_stats st = overflow_at(&a, &b, src);
    assert_int_equal(st.noverflow, 2);
    assert_int_equal(st.first, 5);
    a = nd(2, shape, back, 6, 2); /* element (1, 2) and (2, 1) */
    st = overflow_at(&a, &b, src);
    assert_int_equal(st.noverflow, 2);
    assert_int_equal(st.first, 6);
    src[6] = 1000; /* (1, 1): before, and behind in the file */
    assert_int_equal(overflow_at(&a, &b, src).first, 5);
    a = nd(2, shape, f_order, 0, 2); /* 5 = (2, 1), 6 = (0, 2), 10 = (1, 3) */
    st = overflow_at(&a, &b, src);
    assert_int_equal(st.noverflow, 3);
    assert_int_equal(st.first, 2);
}

static void repeated_elements_count_each_time(void **state)
{
    (void)state;
    int16_t src[3] = { 0, 500, 0 };
    const int64_t shape[] = { 4, 3 }, rows[] = { 0, 2 }, out[] = { 3, 1 };
    cip_nd a = nd(2, shape, rows, 0, 2), b = nd(2, shape, out, 0, 1);
    cip_cast_stats st = overflow_at(&a, &b, src);
    assert_int_equal(st.noverflow, 4);
    assert_int_equal(st.first, 1);
}

static void a_transpose_of_any_box_is_right(void **state)
{
    (void)state;
    enum { N = 70, M = 90 };
    static uint16_t src[N * M];
    static uint16_t dst[N * M];
    const int64_t shape[] = { N, M }, stride[] = { 2, 2 * N }, out[] = { 2 * M, 2 };
    cip_nd a = nd(2, shape, stride, 0, 2), b = nd(2, shape, out, 0, 2);
    cip_walk w = walk(&a, &b, false);
    cip_cast c = cast_of(CIP_U16, CIP_U16);
    assert_true(cip_walk_turns(&w));
    for (size_t i = 0; i < N * M; i++)
        src[i] = (uint16_t)i;
    const uint64_t cuts[][2] = { { 0, N * M }, { 0, N },     { N, 5 * N },
                                 { 3, 8 },     { 3, N + 5 }, { N * M - N, N * M },
                                 { 0, N + 1 }, { N - 1, N }, { N / 2, 3 * N } };
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        cip_cast_stats st = { 0, 0 };
        cip_walk_cast_args args = { cuts[k][0], cuts[k][1], CIP_SRC_PLACED, (const uint8_t *)src,
                                    0,          &c,         (uint8_t *)dst };
        memset(dst, 0xFF, sizeof dst);
        cip_walk_cast(&w, &args, &st);
        for (size_t e = 0; e < N * M; e++) {
            bool in = e >= cuts[k][0] && e < cuts[k][1];
            assert_int_equal(dst[e % N * M + e / N], in ? e : 0xFFFF);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contiguous_axes_become_one),
        cmocka_unit_test(equal_permutations_merge_unless_places_matter),
        cmocka_unit_test(falling_axes_are_turned),
        cmocka_unit_test(repeating_axes_come_last),
        cmocka_unit_test(overlap_is_seen),
        cmocka_unit_test(no_axes_are_one_element),
        cmocka_unit_test(places_are_found_as_if_by_counting),
        cmocka_unit_test(walking_and_seeking_agree),
        cmocka_unit_test(rows_can_be_cut_anywhere),
        cmocka_unit_test(rows_in_one_piece_can_be_cut_anywhere),
        cmocka_unit_test(one_element_serves_all),
        cmocka_unit_test(the_first_overflow_is_the_first_of_the_caller),
        cmocka_unit_test(repeated_elements_count_each_time),
        cmocka_unit_test(a_transpose_of_any_box_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
