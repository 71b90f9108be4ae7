/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include "array/cast.h"

/* Casts one element; returns whether it overflowed. The target lies in exactly its bytes. */
static bool cast_one(rig *r, const char *from, const char *bytes, const char *to, const char *want)
{
    const cip_dtype *f = dtype_of(r, from), *t = dtype_of(r, to);
    cip_cast c;
    cip_cast_stats stats = { 0 };
    size_t n = (size_t)f->itemsize, m = (size_t)t->itemsize;
    uint8_t *src = malloc(n + (n == 0)), *dst = malloc(m + (m == 0));
    memcpy(src, bytes, n);
    memset(dst, 0x77, m);
    assert_int_equal(cip_cast_make(f, t, CIP_OVERFLOW_CLAMP, &c, &r->err), CIP_OK);
    cip_cast_run(&c, 1, src, 0, dst, 0, 7, &stats);
    assert_memory_equal(dst, want, m);
    free(src);
    free(dst);
    if (stats.noverflow > 0)
        assert_int_equal(stats.first, 7);
    assert_true(stats.noverflow <= 1);
    return stats.noverflow == 1;
}

static void longer_targets_are_padded(void **state)
{
    rig *r = *state;
    assert_false(cast_one(r, "S3", "abc", "S5", "abc\0\0"));
    assert_false(cast_one(r, "S0", "", "S2", "\0\0"));
    assert_false(cast_one(r, "<U1", "a\0\0\0", "<U2", "a\0\0\0\0\0\0\0"));
    assert_false(cast_one(r, "<U1", "\xe9\0\0\0", ">U2", "\0\0\0\xe9\0\0\0\0"));
    assert_false(cast_one(r, "<U0", "", ">U1", "\0\0\0\0"));
}

static void shorter_targets_cut(void **state)
{
    rig *r = *state;
    assert_true(cast_one(r, "S3", "abc", "S2", "ab"));
    assert_false(cast_one(r, "S3", "ab\0", "S2", "ab"));
    assert_true(cast_one(r, "S4", "ab\0c", "S2", "ab"));
    assert_false(cast_one(r, "S4", "ab\0\0", "S2", "ab"));
    assert_true(cast_one(r, "S1", "a", "S0", ""));
    assert_false(cast_one(r, "S1", "\0", "S0", ""));
    assert_true(cast_one(r, ">U2", "\0\0\0a\0\0\x01\0", ">U1", "\0\0\0a"));
    assert_false(cast_one(r, ">U2", "\0\0\0a\0\0\0\0", "<U1", "a\0\0\0"));
}

static void ascii_and_unicode_are_one_for_one(void **state)
{
    rig *r = *state;
    assert_false(cast_one(r, "S2", "a\x7f", "<U2", "a\0\0\0\x7f\0\0\0"));
    assert_false(cast_one(r, "S2", "a\0", ">U1", "\0\0\0a"));
    assert_false(cast_one(r, "<U2", "a\0\0\0\x7f\0\0\0", "S3", "a\x7f\0"));
    assert_false(cast_one(r, ">U3", "\0\0\0a\0\0\0b\0\0\0\0", "S2", "ab"));
    assert_true(cast_one(r, ">U3", "\0\0\0a\0\0\0b\0\0\0c", "S2", "ab"));
}

static void what_the_other_has_not_is_replaced(void **state)
{
    rig *r = *state;
    assert_true(cast_one(r, "S2", "\x80z", "<U2", "\xfd\xff\0\0z\0\0\0"));
    assert_true(cast_one(r, ">U2", "\0\0\0\x80\0\0\0z", "S2", "?z"));
    assert_true(cast_one(r, ">U2", "\0\x01\xf6\0\0\0\x01\0", "S2", "??"));
    /* Between texts of one kind nothing is. */
    assert_false(cast_one(r, "S2", "\x80\xff", "S3", "\x80\xff\0"));
    assert_false(cast_one(r, ">U1", "\xff\xff\xff\xff", "<U2", "\xff\xff\xff\xff\0\0\0\0"));
}

static void elements_lie_at_their_strides(void **state)
{
    rig *r = *state;
    cip_cast c;
    cip_cast_stats stats = { 0 };
    const char src[] = "ab.cd.e\0.";
    char dst[] = "....."
                 "....."
                 ".....";
    assert_int_equal(
        cip_cast_make(dtype_of(r, "S2"), dtype_of(r, "S1"), CIP_OVERFLOW_CLAMP, &c, &r->err),
        CIP_OK);
    cip_cast_run(&c, 3, (const uint8_t *)src + 6, -3, (uint8_t *)dst, 5, 10, &stats);
    assert_string_equal(dst, "e....c....a....");
    assert_int_equal(stats.noverflow, 2);
    assert_int_equal(stats.first, 11);
}

static void texts_without_bytes_cost_nothing(void **state)
{
    rig *r = *state;
    cip_cast c;
    cip_cast_stats stats = { 0 };
    assert_int_equal(
        cip_cast_make(dtype_of(r, "S0"), dtype_of(r, "U0"), CIP_OVERFLOW_CLAMP, &c, &r->err),
        CIP_OK);
    cip_cast_run(&c, SIZE_MAX, NULL, 0, NULL, 0, 0, &stats);
    assert_int_equal(stats.noverflow, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(longer_targets_are_padded),         RIG_TEST(shorter_targets_cut),
        RIG_TEST(ascii_and_unicode_are_one_for_one), RIG_TEST(what_the_other_has_not_is_replaced),
        RIG_TEST(elements_lie_at_their_strides),     RIG_TEST(texts_without_bytes_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
