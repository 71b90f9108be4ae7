/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include <float.h>
#include <locale.h>
#include <math.h>

#include "array/half.h"
#include "array/number_text.h"
#include "support/needs.h"

static void shown(double v, cip_float_width width, const char *want)
{
    char text[CIP_NUMBER_TEXT];
    text[cip_float_text(text, v, width, false)] = '\0';
    assert_string_equal(text, want);
}

static void bare(double v, const char *want)
{
    char text[CIP_NUMBER_TEXT];
    text[cip_float_text(text, v, CIP_DOUBLE, true)] = '\0';
    assert_string_equal(text, want);
}

static void doubles_are_shown_as_python_does(void **state)
{
    static const struct {
        double v;
        const char *text;
    } rows[] = {
        { 0, "0.0" },
        { -0.0, "-0.0" },
        { 1, "1.0" },
        { -1.5, "-1.5" },
        { 10, "10.0" },
        { 123, "123.0" },
        { 12.5, "12.5" },
        { 0.1, "0.1" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1e15, "1000000000000000.0" },
        { 9999999999999998, "9999999999999998.0" },
        { 1e16, "1e+16" },
        { 1.5e16, "1.5e+16" },
        { 1e-4, "0.0001" },
        { 1.25e-3, "0.00125" },
        { 9.999e-5, "9.999e-05" },
        { 1e-5, "1e-05" },
        { 1e22, "1e+22" },
        { 1e100, "1e+100" },
        { -1e-100, "-1e-100" },
        { 123456789012345680, "1.2345678901234568e+17" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { DBL_MIN, "2.2250738585072014e-308" },
        { 5e-324, "5e-324" },
        { 1e-323, "1e-323" },
        { 2.2250738585072009e-308, "2.225073858507201e-308" },
        { INFINITY, "inf" },
        { -INFINITY, "-inf" },
        { NAN, "nan" },
        /* a power of two, where the nearest decimal of 16 digits is another number's */
        { 0x1p-44, "5.684341886080802e-14" },
        { 9007199254740992, "9007199254740992.0" },
        { 0x1p-1022 * 0x1p-30, "2.0722615e-317" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        shown(rows[i].v, CIP_DOUBLE, rows[i].text);
    shown(-(double)NAN, CIP_DOUBLE, "nan");
}

static void whole_numbers_can_be_bare(void **state)
{
    (void)state;
    bare(1, "1");
    bare(-0.0, "-0");
    bare(100, "100");
    bare(1.5, "1.5");
    bare(1e16, "1e+16");
    bare(0.25, "0.25");
}

static void narrow_floats_have_fewer_digits(void **state)
{
    (void)state;
    /* (float): some machines compute with constants as doubles */
    shown((double)(float)0.1f, CIP_FLOAT, "0.1");
    shown((double)16777216.0f, CIP_FLOAT, "16777216.0");
    shown((double)FLT_MAX, CIP_FLOAT, "3.4028235e+38");
    shown((double)FLT_MIN, CIP_FLOAT, "1.1754944e-38");
    shown(0x1p-149, CIP_FLOAT, "1e-45");
    shown((double)(float)0.3f, CIP_FLOAT, "0.3");
    shown((double)(float)3.14159274f, CIP_FLOAT, "3.1415927");
    shown((double)8589973504.0f, CIP_FLOAT, "8589974000.0");
    shown((double)cip_half_to_float(0x2e66), CIP_HALF, "0.1");
    shown(65504, CIP_HALF, "65500.0");
    shown(0x1p-24, CIP_HALF, "6e-08");
    shown(0x1p-14, CIP_HALF, "6.104e-05");
    shown(2048, CIP_HALF, "2048.0");
    shown(1.0009765625, CIP_HALF, "1.001");
    shown(INFINITY, CIP_HALF, "inf");
}

/* How many digits a text has, leading and trailing zeros apart. */
static int digits_of(const char *text)
{
    int n = 0, zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text == '0' && n > 0)
            zeros++;
        if (*text >= '1' && *text <= '9') {
            n += zeros + 1;
            zeros = 0;
        }
    }
    return n;
}

/* The text reads back as v, and no decimal of fewer digits does. */
static void check_shortest(double v, cip_float_width width)
{
    char text[CIP_NUMBER_TEXT], fewer[64];
    text[cip_float_text(text, v, width, false)] = '\0';
    double back = width == CIP_FLOAT ? (double)strtof(text, NULL) : strtod(text, NULL);
    if (width == CIP_HALF)
        back = (double)cip_half_to_float(cip_half_from_double(back));
    assert_true(back == v);
    int n = digits_of(text);
    if (n <= 1)
        return;
    snprintf(fewer, sizeof fewer, "%.*e", n - 2, v);
    back = width == CIP_FLOAT ? (double)strtof(fewer, NULL) : strtod(fewer, NULL);
    if (width == CIP_HALF)
        back = (double)cip_half_to_float(cip_half_from_double(back));
    if (back == v)
        fail_msg("%s is longer than %s", text, fewer);
}

static void texts_read_back_and_are_the_shortest(void **state)
{
    uint64_t seed = 42;
    (void)state;
    for (uint16_t h = 1; h < 0x7c00; h++)
        check_shortest((double)cip_half_to_float(h), CIP_HALF);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = random_u64(&seed);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v))
            check_shortest(v, CIP_DOUBLE);
        v = (double)(float)v;
        if (isfinite(v) && v != 0)
            check_shortest(v, CIP_FLOAT);
        check_shortest((double)(bits >> 40) / 1000, CIP_DOUBLE);
        v = ldexp((double)((bits >> 11) | 1), (int)(i % 110) - 106); /* usual sizes */
        check_shortest(v, CIP_DOUBLE);
        check_shortest((double)(float)v, CIP_FLOAT);
    }
    for (int k = -1074; k < 1024; k++) {
        check_shortest(ldexp(1, k), CIP_DOUBLE);
        check_shortest(nextafter(ldexp(1, k), INFINITY), CIP_DOUBLE);
        if (k > -1074)
            check_shortest(nextafter(ldexp(1, k), 0), CIP_DOUBLE);
    }
    for (int k = -149; k < 128; k++)
        check_shortest(ldexp(1, k), CIP_FLOAT);
}

static void the_locale_does_not_matter(void **state)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ru_RU.UTF-8" };
    bool found = false;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    SKIP_UNLESS(found, "no locale with a decimal comma");
    shown(1234.5, CIP_DOUBLE, "1234.5");
    shown(1e-7, CIP_FLOAT, "1e-07");
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_shown_as_python_does),
        cmocka_unit_test(whole_numbers_can_be_bare),
        cmocka_unit_test(narrow_floats_have_fewer_digits),
        cmocka_unit_test(texts_read_back_and_are_the_shortest),
        cmocka_unit_test(the_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
