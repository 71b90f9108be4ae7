/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <stdio.h>

#include "tree/scalar.h"
#include "support/tree/tree_testing.h"

static void assert_double(const char *text, double expected)
{
    double v = cip_decimal_parse(text, strlen(text));
    if (memcmp(&v, &expected, sizeof v) != 0)
        fail_msg("%s: expected %a, found %a", text, expected, v);
}

static void decimals_are_the_nearest_doubles(void **state)
{
    (void)state;
    assert_double("0", 0.0);
    assert_double("-0.0", -0.0);
    assert_double("1.5", 1.5);
    assert_double("+1.5", 1.5);
    assert_double("-.25", -.25);
    assert_double("5.", 5.0);
    assert_double("1_000.2_5", 1000.25);
    assert_double("00012.500", 12.5);
    assert_double("1.0e+22", 1e22);
    assert_double("1.0E+23", 1e23);
    assert_double("1.0e-22", 1e-22);
    assert_double("1.0e-23", 1e-23);
    assert_double("123e3", 123000.0);
    assert_double("9007199254740992.0", 0x1p53);
    assert_double("9007199254740993", 0x1p53); /* halfway: to even */
    assert_double("9007199254740993.0e+1", 90071992547409930.0);
    assert_double("9007199254740995", 0x1.0000000000002p53);
    assert_double("9007199254740993.000000000000000000001", 0x1.0000000000001p53);
    assert_double("1234567890123456789", 1234567890123456789.0);   /* 19 digits */
    assert_double("12345678901234567890", 12345678901234567890.0); /* 20 */
    assert_double("12345678901234567890.5e-3", 12345678901234567.8905);
    assert_double("0.00000000000000000000012345678901234567890123", 1.2345678901234567890123e-22);
    assert_double("2.2250738585072014e-308", DBL_MIN);
    assert_double("4.9406564584124654e-324", 0x1p-1074);
    assert_double("2.4703282292062327e-324", 0.0);
    assert_double("2.4703282292062328e-324", 0x1p-1074);
    assert_double("1.7976931348623157e+308", DBL_MAX);
    assert_double("1.7976931348623159e+308", INFINITY);
    assert_double("1e999999999999999999999", INFINITY);
    assert_double("-1e999999999999999999999", -INFINITY);
    assert_double("1e-999999999999999999999", 0.0);
    assert_double("0e999999999999999999999", 0.0);
}

/* Products and quotients of 64 bits of which just the half of the last place is left over, with and
 * without more behind, over an even and an odd last place. */
static void halves_are_rounded_to_even_once(void **state)
{
    (void)state;
    assert_double("682491424270518050e-2", 0x1.83f392d0f171cp+52);
    assert_double("569668205863151640e-1", 0x1.94c60b020fbb4p+55);
    assert_double("589853269785512751e-11", 0x1.680492ca9a88ep+22);
    assert_double("684998387020432063e-21", 0x1.6722ed5c4b4dfp-11);
    assert_double("253916659474058996e+11", 0x1.482df9a4a4075p+94);
    assert_double("817792851496156110e+27", 0x1.255e698aa1d12p+149);
    assert_double("3368753195555165e+1", 0x1.deba86fe47f68p+54);
    assert_double("208403877165284288e+1", 0x1.cebfe389a8256p+60);
    /* around the last power of five that is used */
    assert_double("1234567890123456789e26", 1234567890123456789e26);
    assert_double("1234567890123456789e27", 1234567890123456789e27);
    assert_double("1234567890123456789e28", 1234567890123456789e28);
    assert_double("1234567890123456789e-26", 1234567890123456789e-26);
    assert_double("1234567890123456789e-27", 1234567890123456789e-27);
    assert_double("1234567890123456789e-28", 1234567890123456789e-28);
    assert_double("1e27", 1e27);
    assert_double("1e-27", 1e-27);
    assert_double("9007199254740991e27", 9007199254740991e27);
    assert_double("18014398509481983e0", 0x1p54); /* rounded up to another power of two */
    assert_double("9999999999999999999e0", 1e19);
}

/* Just above, at and just below the middle of 1 and its upper neighbour: 54 digits decide, and what
 * stands after hundreds of zeros still counts. */
static void every_digit_counts(void **state)
{
    static const char middle[] = "1.00000000000000011102230246251565404236316680908203125";
    char text[2048];
    (void)state;
    assert_double(middle, 1.0);
    for (int zeros = 0; zeros < 1200; zeros += 60) {
        snprintf(text, sizeof text, "%s%0*d1", middle, zeros + 1, 0);
        assert_double(text, 0x1.0000000000001p0);
    }
    assert_double("1.00000000000000011102230246251565404236316680908203124999", 1.0);
    /* as an integer of many digits, with leading zeros and an exponent that takes them back */
    snprintf(text, sizeof text,
             "000100000000000000011102230246251565404236316680908203125%0*d1e-%d", 900, 0,
             53 + 901);
    assert_double(text, 0x1.0000000000001p0);
    snprintf(text, sizeof text, "0.%0*d1e+401", 400, 0);
    assert_double(text, 1.0);
    snprintf(text, sizeof text, "0.%0*d12345678901234567890e+401", 400, 0);
    assert_double(text, 1.2345678901234567890);
    snprintf(text, sizeof text, "12345678901234567890%0*de-1000", 1000, 0);
    assert_double(text, 12345678901234567890.0);
    snprintf(text, sizeof text, "12345678901234567890%0*d.5e-1000", 1000, 0);
    assert_double(text, 12345678901234567890.0);
}

static void doubles_are_spelled_as_short_as_python_does(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        { 0.0, "0.0" },
        { -0.0, "-0.0" },
        { 1.0, "1.0" },
        { -1.5, "-1.5" },
        { 0.1, "0.1" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1.0 / 3, "0.3333333333333333" },
        { 100.0, "100.0" },
        { 123456.789, "123456.789" },
        { 1e15, "1000000000000000.0" },
        { 9999999999999998.0, "9999999999999998.0" },
        { 1234567890123456.0, "1234567890123456.0" },
        { 1e16, "1.0e+16" },
        { 1.5e16, "1.5e+16" },
        { 12345678901234567.0, "1.2345678901234568e+16" },
        { 0.001, "0.001" },
        { 0.0001, "0.0001" },
        { 0.00012, "0.00012" },
        { 0.00001, "1.0e-05" },
        { 1e-7, "1.0e-07" },
        { 1e300, "1.0e+300" },
        { -2.5e-100, "-2.5e-100" },
        { 5e-324, "5.0e-324" },
        { 1.5e-323, "1.5e-323" },
        { DBL_MIN, "2.2250738585072014e-308" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { INFINITY, ".inf" },
        { -INFINITY, "-.inf" },
        { NAN, ".nan" },
        { -NAN, ".nan" },
        { 9007199254740993.0, "9007199254740992.0" },
        { 5e-5, "5.0e-05" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[CIP_DOUBLE_TEXT];
        cip_double_text(cases[i].v, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void spelled_doubles_read_back(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        double v, back;
        char text[CIP_DOUBLE_TEXT];
        memcpy(&v, &x, sizeof v);
        if (!isfinite(v))
            continue;
        cip_double_text(v, text);
        back = cip_decimal_parse(text, strlen(text));
        assert_memory_equal(&v, &back, sizeof v);
    }
}

static void the_locale_does_not_matter(void **state)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
    char text[CIP_DOUBLE_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            break;
    double v = cip_decimal_parse("1.25e-30", 8);
    cip_double_text(1234.5, text);
    setlocale(LC_ALL, "C");
    assert_true(v == 1.25e-30);
    assert_string_equal(text, "1234.5");
}

static void assert_decimal(bench *b, const char *text, const char *expected)
{
    bool done = false;
    b->out.len = 0;
    assert_int_equal(cip_int_decimal(bytes_of(text), &b->out, &done, &b->err), CIP_OK);
    assert_true(done);
    cip_buf_nul(&b->out, NULL);
    assert_string_equal(b->out.ptr, expected);
}

static void integers_of_any_base_become_decimal(void **state)
{
    bench *b = *state;
    assert_decimal(b, "0", "0");
    assert_decimal(b, "+12", "12");
    assert_decimal(b, "-1_2_", "-12");
    assert_decimal(b, "123456789012345678901234567890", "123456789012345678901234567890");
    assert_decimal(b, "0x1F", "31");
    assert_decimal(b, "-0xff", "-255");
    assert_decimal(b, "0b101", "5");
    assert_decimal(b, "010", "8");
    assert_decimal(b, "0_7", "7");
    assert_decimal(b, "0x3b9ac9ff", "999999999"); /* around a limb's end */
    assert_decimal(b, "0x3b9aca00", "1000000000");
    assert_decimal(b, "0x3b9aca01", "1000000001");
    assert_decimal(b, "0xFFFF_FFFF_FFFF_FFFF_F", "295147905179352825855");
    assert_decimal(b, "02000000000000000000000", "18446744073709551616");
    assert_decimal(b, "12:30:45", "45045");
    assert_decimal(b, "1:5:09", "3909");
    assert_decimal(b, "-1_0:0", "-600");
    assert_decimal(b, "59:59:59:59:59:59:59:59:59:59:59:59", "2176782335999999999999");
    assert_decimal(b, "0x0000", "0");
    assert_decimal(b, "0xDE0B6B3A7640000", "1000000000000000000");
}

static void integers_too_long_to_convert_are_left(void **state)
{
    bench *b = *state;
    bool done;
    for (int digits = 8192; digits <= 8193; digits++) {
        char *text = malloc((size_t)digits + 3);
        memset(text, '1', (size_t)digits + 2);
        text[0] = '0';
        text[1] = 'x';
        b->out.len = 0;
        assert_int_equal(cip_int_decimal((cip_bytes){ (uint8_t *)text, (size_t)digits + 2 },
                                         &b->out, &done, NULL),
                         CIP_OK);
        assert_int_equal(done, digits == 8192);
        assert_int_equal(b->out.len != 0, digits == 8192);
        /* decimal digits are only copied */
        text[0] = text[1] = '9';
        b->out.len = 0;
        assert_int_equal(cip_int_decimal((cip_bytes){ (uint8_t *)text, (size_t)digits + 2 },
                                         &b->out, &done, NULL),
                         CIP_OK);
        assert_true(done);
        assert_int_equal(b->out.len, (size_t)digits + 2);
        free(text);
    }
}

static cip_status convert(bench *b)
{
    bool done;
    b->out.mem = &b->env.mem;
    return cip_int_decimal(
        bytes_of("-0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
                 "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"),
        &b->out, &done, &b->err);
}

static void no_memory_to_convert_is_reported(void **state)
{
    (void)state;
    every_allocation_may_fail(convert);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_the_nearest_doubles),
        cmocka_unit_test(halves_are_rounded_to_even_once),
        cmocka_unit_test(every_digit_counts),
        cmocka_unit_test(doubles_are_spelled_as_short_as_python_does),
        cmocka_unit_test(spelled_doubles_read_back),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test_setup_teardown(integers_of_any_base_become_decimal, bench_new, bench_free),
        cmocka_unit_test_setup_teardown(integers_too_long_to_convert_are_left, bench_new,
                                        bench_free),
        cmocka_unit_test(no_memory_to_convert_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
