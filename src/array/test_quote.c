/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include "array/quote.h"

static void code(rig *r, uint32_t c, bool ascii, const char *want)
{
    cip_buf b = { .mem = &r->mem };
    assert_int_equal(cip_quote_code(&b, c, ascii, &r->err), CIP_OK);
    assert_text(&b, want);
    cip_buf_clear(&b);
}

static void seen_characters_stay(void **state)
{
    rig *r = *state;
    code(r, ' ', false, " ");
    code(r, 'a', true, "a");
    code(r, '"', true, "\"");
    code(r, '~', true, "~");
    code(r, 0xa0, false, "\xc2\xa0");
    code(r, 0x7ff, false, "\xdf\xbf");
    code(r, 0x800, false, "\xe0\xa0\x80");
    code(r, 0xd7ff, false, "\xed\x9f\xbf");
    code(r, 0xf900, false, "\xef\xa4\x80");
    code(r, 0x10000, false, "\xf0\x90\x80\x80");
    code(r, 0x1f600, false, "\xf0\x9f\x98\x80");
}

static void controls_and_quotes_are_escaped(void **state)
{
    rig *r = *state;
    code(r, 0, false, "\\x00");
    code(r, '\t', false, "\\t");
    code(r, '\n', false, "\\n");
    code(r, '\r', false, "\\r");
    code(r, 0x1b, false, "\\x1b");
    code(r, 0x1f, false, "\\x1f");
    code(r, '\'', false, "\\'");
    code(r, '\\', false, "\\\\");
    code(r, 0x7f, false, "\\x7f");
    code(r, 0x9f, false, "\\x9f");
    code(r, 0xad, false, "\\xad");
}

static void what_misleads_or_is_no_character_is_escaped(void **state)
{
    rig *r = *state;
    code(r, 0x200b, false, "\\u200b");
    code(r, 0x202e, false, "\\u202e");
    code(r, 0x2066, false, "\\u2066");
    code(r, 0xd800, false, "\\ud800");
    code(r, 0xdfff, false, "\\udfff");
    code(r, 0xe000, false, "\\ue000");
    code(r, 0xfeff, false, "\\ufeff");
    code(r, 0xffff, false, "\\uffff");
    code(r, 0xe0001, false, "\\U000e0001");
    code(r, 0x10ffff, false, "\\U0010ffff");
    code(r, 0x110000, false, "\\U00110000");
    code(r, UINT32_MAX, false, "\\Uffffffff");
}

static void ascii_escapes_all_else(void **state)
{
    rig *r = *state;
    code(r, 0xe9, true, "\\xe9");
    code(r, 0xff, true, "\\xff");
    code(r, 0x100, true, "\\u0100");
    code(r, 0xffef, true, "\\uffef");
    code(r, 0x10000, true, "\\U00010000");
}

static void quoted(rig *r, const char *text, bool ascii, const char *want)
{
    cip_buf b = { .mem = &r->mem };
    size_t n = strlen(text);
    char *exact = malloc(n + (n == 0)); /* so that a read past the end is seen */
    memcpy(exact, text, n);
    assert_int_equal(cip_quote_utf8(&b, exact, n, ascii, &r->err), CIP_OK);
    assert_text(&b, want);
    cip_buf_clear(&b);
    free(exact);
}

static void utf8_is_quoted(void **state)
{
    rig *r = *state;
    quoted(r, "", false, "''");
    quoted(r, "it's", false, "'it\\'s'");
    quoted(r, "caf\xc3\xa9", false, "'caf\xc3\xa9'");
    quoted(r, "caf\xc3\xa9", true, "'caf\\xe9'");
    quoted(r, "\xe2\x82\xac\xf0\x9f\x98\x80", false, "'\xe2\x82\xac\xf0\x9f\x98\x80'");
    quoted(r, "\xf4\x8f\xbf\xbf", false, "'\\U0010ffff'");
    quoted(r, "\xc2\x80\xed\x9f\xbf\xee\x80\x80", true, "'\\x80\\ud7ff\\ue000'");
    quoted(r, "\xe0\xa0\x80\xf0\x90\x80\x80", true, "'\\u0800\\U00010000'");
}

static void bytes_that_are_no_utf8_are_shown(void **state)
{
    rig *r = *state;
    quoted(r, "\x80z", false, "'\\x80z'"); /* a continuation alone */
    quoted(r, "\xbf", false, "'\\xbf'");
    quoted(r, "\xc3", false, "'\\xc3'"); /* cut short */
    quoted(r, "\xe2\x82", false, "'\\xe2\\x82'");
    quoted(r, "\xe2\x82z", false, "'\\xe2\\x82z'"); /* no continuation */
    quoted(r, "\xe2z\x82", false, "'\\xe2z\\x82'");
    quoted(r, "\xc1\xbf", false, "'\\xc1\\xbf'"); /* overlong */
    quoted(r, "\xe0\x9f\xbf", false, "'\\xe0\\x9f\\xbf'");
    quoted(r, "\xf0\x8f\xbf\xbf", false, "'\\xf0\\x8f\\xbf\\xbf'");
    quoted(r, "\xed\xa0\x80", false, "'\\xed\\xa0\\x80'"); /* a surrogate */
    quoted(r, "\xed\xbf\xbf", false, "'\\xed\\xbf\\xbf'");
    quoted(r, "\xf4\x90\x80\x80", false, "'\\xf4\\x90\\x80\\x80'"); /* beyond the last */
    quoted(r, "\xf8\x88\x80\x80\x80", false, "'\\xf8\\x88\\x80\\x80\\x80'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(seen_characters_stay),
        RIG_TEST(controls_and_quotes_are_escaped),
        RIG_TEST(what_misleads_or_is_no_character_is_escaped),
        RIG_TEST(ascii_escapes_all_else),
        RIG_TEST(utf8_is_quoted),
        RIG_TEST(bytes_that_are_no_utf8_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
