/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include "array/cast.h"

/* The element of a dtype that lies in these bytes. */
static void shown(rig *r, const char *dtype, const char *bytes, size_t n, const char *want)
{
    cip_buf b = { .mem = &r->mem };
    const cip_dtype *d = dtype_of(r, dtype);
    uint8_t *exact = malloc(n + (n == 0)); /* so that a read past the end is seen */
    assert_int_equal(d->itemsize, n);
    memcpy(exact, bytes, n);
    assert_int_equal(cip_elem_format(d, exact, &b, &r->err), CIP_OK);
    assert_text(&b, want);
    cip_buf_clear(&b);
    free(exact);
}

/* With the bytes as a string literal. */
#define SHOWN(dtype, bytes, want) shown(r, dtype, bytes, sizeof(bytes) - 1, want)

static void integers_are_decimal(void **state)
{
    rig *r = *state;
    SHOWN("i1", "\xff", "-1");
    SHOWN("i1", "\x7f", "127");
    SHOWN("<i2", "\x01\x80", "-32767");
    SHOWN(">i2", "\x01\x80", "384");
    SHOWN("<i4", "\x00\x00\x00\x80", "-2147483648");
    SHOWN(">i4", "\x00\x00\x00\x80", "128");
    SHOWN("<i8", "\x00\x00\x00\x00\x00\x00\x00\x80", "-9223372036854775808");
    SHOWN(">i8", "\x00\x00\x00\x00\x00\x00\x01\x80", "384");
    SHOWN("u1", "\xff", "255");
    SHOWN("<u2", "\x01\x80", "32769");
    SHOWN(">u4", "\xff\xff\xff\xff", "4294967295");
    SHOWN("<u4", "\x00\x00\x00\x80", "2147483648");
    SHOWN(">u8", "\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615");
}

static void bools_are_words(void **state)
{
    rig *r = *state;
    SHOWN("?", "\x00", "False");
    SHOWN("?", "\x01", "True");
    SHOWN("?", "\x80", "True");
}

static void floats_are_short(void **state)
{
    rig *r = *state;
    SHOWN("<f2", "\x66\x2e", "0.1");
    SHOWN(">f2", "\x2e\x66", "0.1");
    SHOWN("<f4", "\xcd\xcc\xcc\x3d", "0.1");
    SHOWN(">f4", "\x3d\xcc\xcc\xcd", "0.1");
    SHOWN("<f8", "\x9a\x99\x99\x99\x99\x99\xb9\x3f", "0.1");
    SHOWN(">f8", "\x3f\xf0\x00\x00\x00\x00\x00\x00", "1.0");
    SHOWN(">f4", "\xff\xc0\x00\x00", "nan");
    SHOWN(">f4", "\xff\x80\x00\x00", "-inf");
    SHOWN(">f8", "\x80\x00\x00\x00\x00\x00\x00\x00", "-0.0");
}

static void complex_numbers_are_pairs(void **state)
{
    rig *r = *state;
    SHOWN(">c8", "\x3f\x80\x00\x00\x40\x00\x00\x00", "(1+2j)");
    SHOWN("<c8", "\x00\x00\x80\x3f\x00\x00\x00\x40", "(1+2j)");
    SHOWN(">c8", "\x3f\xc0\x00\x00\xc0\x00\x00\x00", "(1.5-2j)");
    SHOWN(">c8", "\x00\x00\x00\x00\xc0\x00\x00\x00", "-2j");
    SHOWN(">c8", "\x80\x00\x00\x00\xc0\x00\x00\x00", "(-0-2j)");
    SHOWN(">c8", "\x7f\xc0\x00\x00\xff\xc0\x00\x00", "(nan+nanj)");
    SHOWN(">c8", "\x7f\x80\x00\x00\xff\x80\x00\x00", "(inf-infj)");
    SHOWN(">c8", "\x3f\x80\x00\x00\x80\x00\x00\x00", "(1-0j)");
    SHOWN(">c8", "\x00\x00\x00\x00\x00\x00\x00\x00", "0j");
    SHOWN(">c16", "\x3f\xf0\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00", "(1+2j)");
    SHOWN(">c16", "\x3f\xb9\x99\x99\x99\x99\x99\x9a\x40\x00\x00\x00\x00\x00\x00\x00", "(0.1+2j)");
}

static void texts_are_quoted_without_padding(void **state)
{
    rig *r = *state;
    SHOWN("S5", "abc\0\0", "'abc'");
    SHOWN("S5", "a\0b'\0", "'a\\x00b\\''");
    SHOWN("S2", "\0\0", "''");
    SHOWN("S0", "", "''");
    SHOWN("S3", "\xff\x1b\n", "'\\xff\\x1b\\n'");
    SHOWN("<U2", "a\0\0\0\0\0\0\0", "'a'");
    SHOWN(">U2", "\0\0\0\xe9\0\x01\xf6\0", "'\xc3\xa9\xf0\x9f\x98\x80'");
    SHOWN("<U1", "\x2e\x20\0\0", "'\\u202e'");
    SHOWN(">U1", "\0\0\xd8\0", "'\\ud800'");
    SHOWN("<U1", "\xff\xff\xff\xff", "'\\Uffffffff'");
    SHOWN("U0", "", "''");
}

static void opaque_bytes_are_hexadecimal(void **state)
{
    rig *r = *state;
    SHOWN("V3", "a\0\xff", "'\\x61\\x00\\xff'");
    SHOWN("int24", "\x01\x02\x03", "'\\x01\\x02\\x03'");
    SHOWN("V0", "", "''");
}

static void times_are_dates_and_counts(void **state)
{
    rig *r = *state;
    SHOWN("<M8[s]", "\x80\x51\x01\0\0\0\0\0", "1970-01-02T00:00:00");
    SHOWN(">M8[D]", "\0\0\0\0\0\0\0\x1f", "1970-02-01");
    SHOWN(">M8[10D]", "\0\0\0\0\0\0\0\x02", "1970-01-21");
    SHOWN(">M8[D]", "\x80\0\0\0\0\0\0\0", "NaT");
    SHOWN("<m8[ns]", "\xff\xff\xff\xff\xff\xff\xff\xff", "-1 ns");
    SHOWN(">m8", "\0\0\0\0\0\0\0\x02", "2");
}

static void records_are_tuples(void **state)
{
    rig *r = *state;
    SHOWN("{a: u1, b: u1}", "\x01\x02", "(1, 2)");
    SHOWN("{a: u1}", "\x01", "(1,)");
    SHOWN("{}", "", "()");
    SHOWN("{a: {b: i1, c: S1}, d: ?}", "\xffx\x01", "((-1, 'x'), True)");
    SHOWN("{'names': ['a', 'b'], 'formats': ['u1', 'u1'], 'offsets': [3, 1], 'itemsize': 5}",
          "\x63\x02\x63\x01\x63", "(1, 2)");
}

static void sub_arrays_are_lists(void **state)
{
    rig *r = *state;
    SHOWN("{a: u1[3]}", "\x01\x02\x03", "([1, 2, 3],)");
    SHOWN("{a: >i2[2, 2], b: u1}", "\x00\x01\x00\x02\x00\x03\x00\x04\x05", "([[1, 2], [3, 4]], 5)");
    SHOWN("{a: {b: u1, c: u1[1]}[2]}", "\x01\x02\x03\x04", "([(1, [2]), (3, [4])],)");
    SHOWN("{a: u1[0], b: u1[2, 0]}", "", "([], [[], []])");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(integers_are_decimal),
        RIG_TEST(bools_are_words),
        RIG_TEST(floats_are_short),
        RIG_TEST(complex_numbers_are_pairs),
        RIG_TEST(texts_are_quoted_without_padding),
        RIG_TEST(opaque_bytes_are_hexadecimal),
        RIG_TEST(times_are_dates_and_counts),
        RIG_TEST(records_are_tuples),
        RIG_TEST(sub_arrays_are_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
