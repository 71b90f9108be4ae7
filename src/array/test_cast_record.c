/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include "array/cast.h"

static cip_cast cast_of(rig *r, const char *from, const char *to)
{
    cip_cast c;
    if (cip_cast_make(dtype_of(r, from), dtype_of(r, to), CIP_OVERFLOW_CLAMP, &c, &r->err) !=
        CIP_OK)
        fail_msg("%s", r->err.text);
    return c;
}

static void fields_are_converted_and_padding_is_left(void **state)
{
    rig *r = *state;
    cip_cast_stats stats = { 0 };
    const uint8_t src[] = "\x12\x34\x05xy!!\x01\x02\x00zw!!";
    uint8_t dst[24];
    cip_cast c = cast_of(r,
                         "{'names': ['a', 'b', 'c'], 'formats': ['>u2', '?', 'S2'],"
                         " 'offsets': [0, 2, 3], 'itemsize': 7}",
                         "{'names': ['p', 'q', 'r'], 'formats': ['<u4', '?', 'S3'],"
                         " 'offsets': [4, 1, 8], 'itemsize': 12}");
    memset(dst, '.', sizeof dst);
    cip_cast_run(&c, 2, src, 7, dst, 12, 0, &stats);
    assert_memory_equal(dst, ".\x01..\x34\x12\0\0xy\0.", 12);
    assert_memory_equal(dst + 12, ".\0..\x02\x01\0\0zw\0.", 12);
    assert_int_equal(stats.noverflow, 0);
}

static void nested_records_and_sub_arrays_are_converted(void **state)
{
    rig *r = *state;
    cip_cast_stats stats = { 0 };
    const uint8_t src[] = { 0, 1, 0, 2, 9, 0, 3, 0, 4, 8, 7 };
    uint8_t dst[7];
    cip_cast c =
        cast_of(r, "{a: {b: >u2[2], c: u1}[2], d: u1}", "{a: {b: u1[2], c: u1}[2], d: i1}");
    cip_cast_run(&c, 1, src, 11, dst, 7, 0, &stats);
    const uint8_t want[] = { 1, 2, 9, 3, 4, 8, 7 };
    assert_memory_equal(dst, want, 7);
}

static void fields_go_by_name_down_to_nested_records(void **state)
{
    rig *r = *state;
    cip_cast_stats stats = { 0 };
    cip_cast c;
    const cip_dtype *from = dtype_of(r, "{d: u1, a: {c: u1, b: >u2[2]}}"), *by_name;
    const cip_dtype *to = dtype_of(r, "{a: {b: u1[2], c: u1}, d: i1}");
    const uint8_t src[] = { 9, 3, 0, 1, 0, 2 };
    uint8_t dst[4];
    assert_int_equal(cip_dtype_in_order_of(&r->arena, from, to, "", &by_name, &r->err), CIP_OK);
    assert_int_equal(by_name->itemsize, to->itemsize);
    assert_int_equal(cip_cast_make(from, by_name, CIP_OVERFLOW_ERROR, &c, &r->err), CIP_OK);
    cip_cast_run(&c, 1, src, 6, dst, 4, 0, &stats);
    assert_memory_equal(dst, "\1\2\3\11", 4);
    assert_int_equal(cip_dtype_in_order_of(&r->arena, to, to, "", &by_name, &r->err), CIP_OK);
    assert_ptr_equal(by_name, to);
    from = dtype_of(r, "{d: u1, a: {c: u1, x: >u2[2]}}");
    assert_int_equal(cip_dtype_in_order_of(&r->arena, from, to, "; hint", &by_name, &r->err),
                     CIP_ERR_TYPE);
    assert_string_equal(r->err.text,
                        "expected the fields of {b: uint8[2], c: uint8}, found 'x'; hint");
}

/* Records {a: >u2[nelem], b: ?} to {a: u1[nelem], b: ?}, n of them, some overflowing. */
static void check_many(rig *r, size_t n, size_t nelem, int64_t gap)
{
    char from[64], to[64];
    snprintf(from, sizeof from, "{a: >u2[%zu], b: ?}", nelem);
    snprintf(to, sizeof to, "{a: u1[%zu], b: ?}", nelem);
    cip_cast c = cast_of(r, from, to);
    size_t fs = 2 * nelem + 1, ts = nelem + 1;
    int64_t ss = (int64_t)fs + gap, ds = (int64_t)ts + gap;
    uint8_t *src = calloc(n, (size_t)ss), *dst = calloc(n, (size_t)ds);
    uint64_t seed = n * 31 + nelem, over = 0, first = 0;
    cip_cast_stats stats = { 0 };
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < fs; k++)
            src[i * (size_t)ss + k] =
                (uint8_t)(random_below(&seed, 97) == 0 || k % 2 == 1 ? random_u64(&seed) : 0);
    cip_cast_run(&c, n, src, ss, dst, ds, 1000, &stats);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *s = src + i * (size_t)ss, *d = dst + i * (size_t)ds;
        for (size_t k = 0; k < nelem; k++) {
            assert_int_equal(d[k], s[2 * k] != 0 ? 255 : s[2 * k + 1]);
            if (s[2 * k] != 0 && over++ == 0)
                first = 1000 + i;
        }
        assert_int_equal(d[nelem], s[2 * nelem] != 0);
        if (gap > 0)
            assert_int_equal(d[ts], 0);
    }
    assert_int_equal(stats.noverflow, over);
    assert_int_equal(stats.first, first);
    free(src);
    free(dst);
}

static void any_number_of_records_of_any_length(void **state)
{
    static const size_t counts[] = { 0, 1, 2, 3, 100, 2000 };
    static const size_t nelems[] = { 0, 1, 2, 3, 101, 5000 };
    rig *r = *state;
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 6; k++)
            if (counts[i] * nelems[k] < 1000000)
                check_many(r, counts[i], nelems[k], (int64_t)(i + k) % 3);
    check_many(r, 5461, 1, 0); /* two blocks and some, and exactly two */
    check_many(r, 10922, 1, 0);
    check_many(r, 10923, 1, 0);
    check_many(r, 3, 20000, 1); /* records longer than a block */
}

static void overflows_of_a_record_are_all_counted(void **state)
{
    rig *r = *state;
    cip_cast_stats stats = { 0 };
    const uint8_t src[] = { 0, 1, 0, 1, 0, 1, 1, 0, 2, 0, 0, 5, 3, 0, 0, 0, 0, 0 };
    uint8_t dst[9];
    cip_cast c = cast_of(r, "{a: >u2[2], b: >u2}", "{a: u1[2], b: u1}");
    cip_cast_run(&c, 3, src, 6, dst, 3, 40, &stats);
    assert_int_equal(stats.noverflow, 3);
    assert_int_equal(stats.first, 41);
    const uint8_t want[] = { 1, 1, 1, 255, 255, 5, 255, 0, 0 };
    assert_memory_equal(dst, want, 9);
}

static void records_without_bytes_cost_nothing(void **state)
{
    rig *r = *state;
    cip_cast_stats stats = { 0 };
    const uint8_t src[] = { 7, 0 };
    uint8_t dst[2] = { 0 };
    cip_cast c =
        cast_of(r, "{a: S0[4611686018427387904], b: ?}", "{a: U0[4611686018427387904], b: ?}");
    cip_cast_run(&c, 2, src, 1, dst, 1, 0, &stats);
    assert_int_equal(dst[0], 1);
    assert_int_equal(dst[1], 0);
    c = cast_of(r, "{a: S0, b: {}}", "{a: S0, b: {}}");
    cip_cast_run(&c, 1000, NULL, 0, NULL, 0, 0, &stats);
    c = cast_of(r, "{a: S0}", "{a: U0}");
    cip_cast_run(&c, 1000, NULL, 0, NULL, 0, 0, &stats);
    c = cast_of(r, "{a: S0, b: S1}", "{a: S1, b: S0}"); /* none becomes some, and back */
    cip_cast_run(&c, 2, src, 1, dst, 1, 0, &stats);
    assert_int_equal(dst[0], 0);
    assert_int_equal(stats.noverflow, 1);
    assert_int_equal(stats.first, 0);
}

static void negative_strides_go_backwards(void **state)
{
    rig *r = *state;
    cip_cast_stats stats = { 0 };
    const uint8_t src[] = { 0, 1, 0, 2, 0, 3 };
    uint8_t dst[3];
    cip_cast c = cast_of(r, "{a: >u2}", "{a: u1}");
    cip_cast_run(&c, 3, src + 4, -2, dst, 1, 0, &stats);
    const uint8_t want[] = { 3, 2, 1 };
    assert_memory_equal(dst, want, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(fields_are_converted_and_padding_is_left),
        RIG_TEST(nested_records_and_sub_arrays_are_converted),
        RIG_TEST(fields_go_by_name_down_to_nested_records),
        RIG_TEST(any_number_of_records_of_any_length),
        RIG_TEST(overflows_of_a_record_are_all_counted),
        RIG_TEST(records_without_bytes_cost_nothing),
        RIG_TEST(negative_strides_go_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
