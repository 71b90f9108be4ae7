/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include "array/cast_kernels.h"

/* The cast between two dtypes in text, which exists. */
static cip_cast cast_of(rig *r, const char *from, const char *to)
{
    cip_cast c;
    if (cip_cast_make(dtype_of(r, from), dtype_of(r, to), CIP_OVERFLOW_ERROR, &c, &r->err) !=
        CIP_OK)
        fail_msg("%s to %s: %s", from, to, r->err.text);
    return c;
}

static void how(rig *r, const char *from, const char *to, int want, int swap)
{
    cip_cast c = cast_of(r, from, to);
    if (c.how != want)
        fail_msg("%s to %s: %d, not %d", from, to, c.how, want);
    assert_int_equal(c.swap, swap);
    assert_int_equal(cip_cast_is_copy(&c), want == CIP_CAST_COPY);
    assert_int_equal(cip_cast_in_place(&c),
                     want == CIP_CAST_COPY || want == CIP_CAST_SWAP || want == CIP_CAST_BOOL);
}

static void equal_types_are_copied_or_swapped(void **state)
{
    rig *r = *state;
    how(r, "<i4", "<i4", CIP_CAST_COPY, 0);
    how(r, "<i4", ">i4", CIP_CAST_SWAP, 4);
    how(r, "<i2", ">i2", CIP_CAST_SWAP, 2);
    how(r, "<f8", ">f8", CIP_CAST_SWAP, 8);
    how(r, "<f2", ">f2", CIP_CAST_SWAP, 2);
    how(r, "i1", "i1", CIP_CAST_COPY, 0);
    how(r, "<c8", ">c8", CIP_CAST_SWAP, 4);
    how(r, "<c16", ">c16", CIP_CAST_SWAP, 8);
    how(r, ">c16", ">c16", CIP_CAST_COPY, 0);
    how(r, "S5", "S5", CIP_CAST_COPY, 0);
    how(r, "<U5", "<U5", CIP_CAST_COPY, 0);
    how(r, "<U5", ">U5", CIP_CAST_SWAP, 4);
    how(r, "V7", "V7", CIP_CAST_COPY, 0);
    how(r, "int24", "V3", CIP_CAST_COPY, 0);
    how(r, ">M8[ns]", ">M8[ns]", CIP_CAST_COPY, 0);
    how(r, ">M8[ns]", "<M8[ns]", CIP_CAST_SWAP, 8);
    how(r, "<m8[s]", "<m8[1s]", CIP_CAST_COPY, 0);
    how(r, "<M8[ns]", "<i8", CIP_CAST_COPY, 0);
    how(r, ">m8", "<i8", CIP_CAST_SWAP, 8);
}

static void bools_are_never_plain_copies(void **state)
{
    rig *r = *state;
    how(r, "?", "?", CIP_CAST_BOOL, 0);
    how(r, "{a: ?}", "{a: ?}", CIP_CAST_RECORD, 0);
    how(r, "{a: {b: u1, c: ?}}", "{a: {b: u1, c: ?}}", CIP_CAST_RECORD, 0);
}

static void other_types_are_converted(void **state)
{
    rig *r = *state;
    how(r, "<i4", "<u4", CIP_CAST_NUMBER, 0);
    how(r, "<f4", "<i4", CIP_CAST_NUMBER, 0);
    how(r, "?", "u1", CIP_CAST_NUMBER, 0);
    how(r, "u1", "?", CIP_CAST_NUMBER, 0);
    how(r, "<c8", "<c16", CIP_CAST_NUMBER, 0);
    how(r, "S5", "S6", CIP_CAST_TEXT, 0);
    how(r, "<U5", ">U6", CIP_CAST_TEXT, 0);
    how(r, "S8", "U2", CIP_CAST_TEXT, 0);
    how(r, "U2", "S8", CIP_CAST_TEXT, 0);
}

static void records_are_copied_when_nothing_differs(void **state)
{
    rig *r = *state;
    const char ab[] = "[('a', '<i4'), ('b', '<f8', (2,))]";
    how(r, ab, ab, CIP_CAST_COPY, 0);
    how(r, ab, "[('x', '<i4'), ('y', '<f8', (2,))]", CIP_CAST_COPY, 0);
    how(r, ab, "[('a', '<i4'), ('b', '>f8', (2,))]", CIP_CAST_RECORD, 0);
    how(r, ab, "[('a', '<u4'), ('b', '<f8', (2,))]", CIP_CAST_RECORD, 0);
    how(r, ab, "[('a', '<i4'), ('', 'V4'), ('b', '<f8', (2,))]", CIP_CAST_RECORD, 0);
    how(r, ab, "[('a', '<i4'), ('b', '<f8', (2,)), ('', 'V4')]", CIP_CAST_RECORD, 0);
    how(r, "{a: {b: i2, c: i4}}", "{a: {b: i2, c: i4}}", CIP_CAST_COPY, 0);
    how(r, "{a: {b: i2, c: i4}}", "{a: {b: i2, c: u4}}", CIP_CAST_RECORD, 0);
    how(r, "{a: {b: i2}, c: i2}", "{a: {b: u2}, c: i2}", CIP_CAST_RECORD, 0);
    how(r, "{}", "{}", CIP_CAST_COPY, 0);
}

static void refused(rig *r, const char *from, const char *to)
{
    cip_cast c = { .how = 77 };
    if (cip_cast_make(dtype_of(r, from), dtype_of(r, to), CIP_OVERFLOW_CLAMP, &c, &r->err) !=
        CIP_ERR_TYPE)
        fail_msg("%s to %s", from, to);
    assert_int_equal(c.how, 77);
}

static void other_casts_do_not_exist(void **state)
{
    rig *r = *state;
    refused(r, "i4", "S4");
    refused(r, "S4", "i4");
    refused(r, "U1", "u4");
    refused(r, "i4", "V4");
    refused(r, "V4", "i4");
    refused(r, "V4", "V5");
    refused(r, "V4", "S4");
    refused(r, "S4", "V4");
    refused(r, "M8[ns]", "M8[us]");
    refused(r, "M8[ns]", "m8[ns]");
    refused(r, "M8[ns]", "u8");
    refused(r, "M8[ns]", "f8");
    refused(r, "i8", "M8[ns]");
    refused(r, "M8[ns]", "S8");
    refused(r, "{a: i4}", "i4");
    assert_string_equal(r->err.text, "cannot convert {a: int32} to int32");
    refused(r, "i4", "{a: i4}");
    refused(r, "{a: i4}", "{a: S4}");
    refused(r, "{a: i4}", "{a: i4, b: i4}");
    refused(r, "{a: i4, b: i4}", "{a: i4}");
    refused(r, "{a: i4[2]}", "{a: i4[3]}");
    refused(r, "{a: i4[2]}", "{a: i4[2, 1]}");
    assert_string_equal(r->err.text,
                        "expected field 0 ('a') to have the same shape in both records");
    refused(r, "{a: {b: i4[2, 3]}}", "{a: {b: i4[3, 2]}}");
    refused(r, "{a: {b: i4}}", "{a: i4}");
}

static void overflows_are_counted_and_the_first_kept(void **state)
{
    cip_cast_stats s = { 0 }, t = { 0 };
    (void)state;
    cip_cast_count(&s, 0, 3);
    assert_int_equal(s.noverflow, 0);
    cip_cast_count(&s, 2, 9);
    assert_int_equal(s.noverflow, 2);
    assert_int_equal(s.first, 9);
    cip_cast_count(&s, 1, 10);
    assert_int_equal(s.first, 9);
    cip_cast_merge(&s, &t);
    assert_int_equal(s.noverflow, 3);
    assert_int_equal(s.first, 9);
    t = (cip_cast_stats){ 5, 8 };
    cip_cast_merge(&s, &t);
    assert_int_equal(s.noverflow, 8);
    assert_int_equal(s.first, 8);
    t = (cip_cast_stats){ 0 };
    cip_cast_merge(&t, &s);
    assert_int_equal(t.first, 8);
}

static void overflows_fail_only_where_they_are_errors(void **state)
{
    rig *r = *state;
    cip_cast c = cast_of(r, "i4", "i1");
    cip_cast_stats none = { 0 }, some = { 3, 17 };
    assert_int_equal(cip_cast_check(&c, &none, ".accept_loss", &r->err), CIP_OK);
    assert_int_equal(cip_cast_check(&c, &some, ".accept_loss", &r->err), CIP_ERR_RANGE);
    assert_string_equal(r->err.text, "the value of element 17 does not fit int8 exactly; accept it "
                                     "with .accept_loss");
    c.policy = CIP_OVERFLOW_CLAMP;
    assert_int_equal(cip_cast_check(&c, &some, NULL, &r->err), CIP_OK);
    c.policy = CIP_OVERFLOW_WRAP;
    assert_int_equal(cip_cast_check(&c, &some, NULL, &r->err), CIP_OK);
}

/* The byte that a copy or swap puts at byte k of an element of `size`. */
static size_t source_byte(size_t k, unsigned swap)
{
    return swap > 1 ? k / swap * swap + (swap - 1 - k % swap) : k;
}

/* Moves n elements with these strides and compares byte by byte; what lies between is untouched. */
static void check_move(size_t n, size_t size, unsigned swap, int64_t from, int64_t to, size_t skew)
{
    enum { ROOM = 40000, MIDDLE = ROOM / 2 };
    static uint8_t src[ROOM], dst[ROOM], want[ROOM];
    uint64_t seed = 99;
    for (size_t i = 0; i < ROOM; i++) {
        src[i] = (uint8_t)random_u64(&seed);
        dst[i] = want[i] = (uint8_t)random_u64(&seed);
    }
    const uint8_t *s = src + MIDDLE + skew;
    uint8_t *d = dst + MIDDLE + skew;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < size; k++)
            want[MIDDLE + (int64_t)skew + (int64_t)i * to + (int64_t)k] =
                s[(int64_t)i * from + (int64_t)source_byte(k, swap)];
    cip_run run = { n, s, from, d, to };
    cip_move(&run, size, swap);
    assert_memory_equal(dst, want, ROOM);
}

static void bytes_are_moved_at_any_stride(void **state)
{
    static const struct {
        size_t size;
        unsigned swap;
    } kinds[] = { { 1, 0 },  { 2, 0 },  { 3, 0 },  { 4, 0 },  { 8, 0 },
                  { 16, 0 }, { 20, 0 }, { 2, 2 },  { 4, 4 },  { 8, 8 },
                  { 8, 4 },  { 16, 8 }, { 12, 4 }, { 20, 4 }, { 5, 1 } };
    static const size_t counts[] = { 0, 1, 2, 3, 5, 7, 8, 31, 200 };
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        int64_t size = (int64_t)kinds[i].size;
        const int64_t strides[] = { size, -size, size + 3, -size - 1, 2 * size };
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            for (int s = 0; s < 5; s++)
                for (int d = 0; d < 5; d++)
                    check_move(counts[k], kinds[i].size, kinds[i].swap, strides[s], strides[d],
                               k % 8);
        check_move(9, kinds[i].size, kinds[i].swap, 0, size, 1); /* one element, repeated */
    }
}

static void moving_nothing_takes_no_time(void **state)
{
    cip_run run = { SIZE_MAX, NULL, 4, NULL, 4 };
    (void)state;
    cip_move(&run, 0, 0);
    cip_move(&run, 0, 4);
    run.n = 0;
    cip_move(&run, 4, 0);
    cip_move(&run, 4, 4);
}

static void swaps_and_copies_work_in_place(void **state)
{
    uint8_t b[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    const uint8_t swapped[] = { 4, 3, 2, 1, 8, 7, 6, 5, 12, 11, 10, 9 };
    (void)state;
    cip_run run = { 3, b, 4, b, 4 };
    cip_move(&run, 4, 4);
    assert_memory_equal(b, swapped, sizeof b);
    cip_move(&run, 4, 0);
    assert_memory_equal(b, swapped, sizeof b);
    run = (cip_run){ 2, b, 8, b, 8 };
    cip_move(&run, 4, 4);
    const uint8_t half[] = { 1, 2, 3, 4, 8, 7, 6, 5, 9, 10, 11, 12 };
    assert_memory_equal(b, half, sizeof b);
    run = (cip_run){ 3, b, 4, b, 2 }; /* the same place, other strides: not a copy in place */
    cip_move(&run, 2, 0);
    const uint8_t gathered[] = { 1, 2, 8, 7, 9, 10, 6, 5, 9, 10, 11, 12 };
    assert_memory_equal(b, gathered, sizeof b);
}

static void bools_become_zero_or_one(void **state)
{
    const uint8_t src[] = { 0, 1, 2, 128, 255, 0, 7 };
    uint8_t dst[14] = { 0 };
    rig *r = *state;
    cip_cast c = cast_of(r, "?", "?");
    cip_cast_stats stats = { 0 };
    cip_cast_run(&c, 7, src, 1, dst, 1, 0, &stats);
    const uint8_t packed[] = { 0, 1, 1, 1, 1, 0, 1, 0 };
    assert_memory_equal(dst, packed, 8);
    memset(dst, 9, sizeof dst);
    cip_cast_run(&c, 7, src + 6, -1, dst, 2, 0, &stats);
    const uint8_t spread[] = { 1, 9, 0, 9, 1, 9, 1, 9, 1, 9, 1, 9, 0, 9 };
    assert_memory_equal(dst, spread, sizeof spread);
    memset(dst, 9, sizeof dst);
    cip_cast_run(&c, 4, src, 2, dst, 1, 0, &stats);
    const uint8_t gathered[] = { 0, 1, 1, 1, 9 };
    assert_memory_equal(dst, gathered, sizeof gathered);
    cip_cast_run(&c, 5, src, 1, dst, 2, 0, &stats);
    assert_int_equal(dst[2], 1);
    assert_int_equal(dst[0], 0);
    assert_int_equal(stats.noverflow, 0);
}

static void runs_are_passed_to_what_does_them(void **state)
{
    rig *r = *state;
    cip_cast_stats stats = { 0 };
    const uint8_t src[] = { 0x12, 0x34, 0, 5, 'a', 0, 0, 0 };
    uint8_t dst[8] = { 0 };
    cip_cast c = cast_of(r, ">u2", "<u2");
    cip_cast_run(&c, 2, src, 2, dst, 2, 0, &stats);
    assert_memory_equal(dst, "\x34\x12\x05\x00", 4);
    c = cast_of(r, ">u2", "u1");
    cip_cast_run(&c, 2, src, 2, dst, 1, 100, &stats);
    assert_memory_equal(dst, "\xff\x05", 2);
    assert_int_equal(stats.noverflow, 1);
    assert_int_equal(stats.first, 100);
    c = cast_of(r, "S2", ">U1");
    cip_cast_run(&c, 1, src + 4, 2, dst, 4, 0, &stats);
    assert_memory_equal(dst, "\0\0\0a", 4);
    c = cast_of(r, "{a: >u2}", "{a: >u4}");
    cip_cast_run(&c, 2, src, 2, dst, 4, 0, &stats);
    assert_memory_equal(dst, "\0\0\x12\x34\0\0\0\x05", 8);
    c = cast_of(r, "V3", "V3");
    cip_cast_run(&c, 1, src, 3, dst, 3, 0, &stats);
    assert_memory_equal(dst, "\x12\x34\0", 3);
}

static void times_stay_as_they_are(void **state)
{
    rig *r = *state;
    cip_cast_stats stats = { 0 };
    const uint8_t nat[] = { 0x80, 0, 0, 0, 0, 0, 0, 0 };
    uint8_t dst[8];
    cip_cast c = cast_of(r, ">M8[ns]", "<i8");
    cip_cast_run(&c, 1, nat, 8, dst, 8, 0, &stats);
    assert_memory_equal(dst, "\0\0\0\0\0\0\0\x80", 8);
    assert_int_equal(stats.noverflow, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(equal_types_are_copied_or_swapped),
        RIG_TEST(bools_are_never_plain_copies),
        RIG_TEST(other_types_are_converted),
        RIG_TEST(records_are_copied_when_nothing_differs),
        RIG_TEST(other_casts_do_not_exist),
        RIG_TEST(overflows_are_counted_and_the_first_kept),
        RIG_TEST(overflows_fail_only_where_they_are_errors),
        RIG_TEST(bytes_are_moved_at_any_stride),
        RIG_TEST(moving_nothing_takes_no_time),
        RIG_TEST(swaps_and_copies_work_in_place),
        RIG_TEST(bools_become_zero_or_one),
        RIG_TEST(runs_are_passed_to_what_does_them),
        RIG_TEST(times_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
