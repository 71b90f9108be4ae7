/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tree/utf8.h"

/* The length found for exactly these bytes, and the code point. */
static unsigned get(const char *bytes, size_t n, uint32_t *cp)
{
    uint8_t *copy = malloc(n);
    memcpy(copy, bytes, n);
    unsigned len = cip_utf8_get(copy, n, cp);
    free(copy);
    return len;
}

static void each_length_has_its_range(void **state)
{
    static const struct {
        const char *bytes;
        unsigned len;
        uint32_t cp;
    } good[] = {
        { "\x00", 1, 0 },
        { "\x7f", 1, 0x7f },
        { "\xc2\x80", 2, 0x80 },
        { "\xc3\xa9", 2, 0xe9 },
        { "\xdf\xbf", 2, 0x7ff },
        { "\xe0\xa0\x80", 3, 0x800 },
        { "\xe2\x82\xac", 3, 0x20ac },
        { "\xed\x9f\xbf", 3, 0xd7ff },
        { "\xee\x80\x80", 3, 0xe000 },
        { "\xef\xbf\xbf", 3, 0xffff },
        { "\xf0\x90\x80\x80", 4, 0x10000 },
        { "\xf0\x9f\x98\x80", 4, 0x1f600 },
        { "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint32_t cp = 1;
        assert_int_equal(get(good[i].bytes, good[i].len, &cp), good[i].len);
        assert_int_equal(cp, good[i].cp);
        /* one byte less is cut short */
        if (good[i].len > 1)
            assert_int_equal(get(good[i].bytes, good[i].len - 1, &cp), 0);
    }
}

static void what_is_no_code_point_has_no_length(void **state)
{
    static const char *const bad[] = {
        "\x80", /* a continuation first */
        "\xbf",
        "\xc0\x80",         /* overlong: NUL */
        "\xc1\xbf",         /* overlong: DEL */
        "\xe0\x9f\xbf",     /* overlong: U+07FF */
        "\xf0\x8f\xbf\xbf", /* overlong: U+FFFF */
        "\xed\xa0\x80",     /* surrogates */
        "\xed\xbf\xbf",
        "\xf4\x90\x80\x80", /* beyond U+10FFFF */
        "\xf8\x88\x80\x80\x80",
        "\xff",
        "\xc3\x28", /* no continuation where one is due */
        "\xc3\xc3",
        "\xe2\x28\xa1",
        "\xe2\x82\x28",
        "\xf0\x28\x8c\xbc",
        "\xf0\x90\x28\xbc",
        "\xf0\x90\x8c\x28",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint32_t cp = 0x1234;
        assert_int_equal(get(bad[i], strlen(bad[i]), &cp), 0);
        assert_int_equal(cp, 0x1234);
    }
}

static void text_is_code_points_to_its_end(void **state)
{
    (void)state;
    assert_true(cip_utf8_is("", 0));
    assert_true(cip_utf8_is("a\xc3\xa9\xf0\x9f\x98\x80", 7));
    assert_false(cip_utf8_is("a\xc3\xa9\xf0\x9f\x98\x80", 6));
    assert_false(cip_utf8_is("\xff"
                             "a",
                             2));
    assert_false(cip_utf8_is("a\x80", 2));
}

static void what_is_not_shown_is_known(void **state)
{
    static const uint32_t unsafe[] = { 0,      1,      '\t',   '\n',   0x1f,   0x7f,   0x80,
                                       0x85,   0x9f,   0x61c,  0x200e, 0x200f, 0x2028, 0x2029,
                                       0x202a, 0x202e, 0x2066, 0x2069, 0xfeff, 0xfffe, 0xffff };
    static const uint32_t safe[] = { ' ',    '~',    0xa0,   0xe9,    0x61b,   0x61d,   0x200d,
                                     0x2010, 0x2027, 0x202f, 0x2065,  0x206a,  0xfefe,  0xff00,
                                     0xfffd, 0xd7ff, 0xe000, 0x10000, 0x1f600, 0x10ffff };
    (void)state;
    for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++)
        assert_true(cip_utf8_unsafe(unsafe[i]));
    for (size_t i = 0; i < sizeof safe / sizeof safe[0]; i++)
        assert_false(cip_utf8_unsafe(safe[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_length_has_its_range),
        cmocka_unit_test(what_is_no_code_point_has_no_length),
        cmocka_unit_test(text_is_code_points_to_its_end),
        cmocka_unit_test(what_is_not_shown_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
