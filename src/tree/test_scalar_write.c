/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "tree/scalar_write.h"
#include "support/tree/tree_testing.h"

static const char *write_at(bench *b, const cip_node *n, cip_scalar_place place)
{
    b->out.len = 0;
    assert_int_equal(cip_yaml_put_scalar(&b->out, n, place, NULL), CIP_OK);
    assert_int_equal(cip_buf_nul(&b->out, NULL), CIP_OK);
    return (const char *)b->out.ptr;
}

static const char *write_string(bench *b, const char *text, size_t len, cip_style style, bool flow)
{
    cip_node *n;
    assert_int_equal(cip_node_new_string(&b->arena, text, len, &n, NULL), CIP_OK);
    n->style = (uint8_t)style;
    return write_at(b, n, (cip_scalar_place){ .flow = flow });
}

static void assert_written(bench *b, const char *text, bool flow, const char *expected)
{
    assert_string_equal(write_string(b, text, strlen(text), CIP_STYLE_ANY, flow), expected);
    assert_string_equal(write_string(b, text, strlen(text), CIP_STYLE_PLAIN, flow), expected);
    /* and what was written is read as this string */
    char doc[4000];
    snprintf(doc, sizeof doc, flow ? "[%s]" : "- %s\n", expected);
    const cip_node *n = cip_node_at(parse(b, doc), 0);
    assert_int_equal(n->type, CIP_NODE_STRING);
    assert_string_equal(n->text, text);
    snprintf(doc, sizeof doc, flow ? "{%s: v}" : "%s: v\n", expected);
    n = cip_node_key(parse(b, doc), 0);
    assert_int_equal(n->type, CIP_NODE_STRING);
    assert_string_equal(n->text, text);
}

static void strings_stay_plain_where_they_can(void **state)
{
    static const char *const texts[] = { "a",
                                         "word",
                                         "two words",
                                         "-x",
                                         "--",
                                         "-.x",
                                         "a-b",
                                         "a'b",
                                         "a\"b",
                                         "x#y",
                                         "1.2.3",
                                         "1e",
                                         "e5",
                                         "=x",
                                         "<x",
                                         "~x",
                                         "/",
                                         "//",
                                         "\xc3\xa9t\xc3\xa9",
                                         "\xf0\x9f\x98\x80",
                                         "x!",
                                         "x&y",
                                         "x*y",
                                         "x|y",
                                         "x>y",
                                         "x%",
                                         "x@",
                                         "x`",
                                         "a\\b",
                                         ".",
                                         "..",
                                         "_1",
                                         "+",
                                         "1a",
                                         "0o",
                                         "yess",
                                         "nulls",
                                         "(1+2j)",
                                         "08x",
                                         "float64",
                                         "<<x",
                                         "==" };
    bench *b = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_written(b, texts[i], false, texts[i]);
        assert_written(b, texts[i], true, texts[i]);
    }
}

static void strings_that_could_be_misread_are_quoted(void **state)
{
    static const char *const texts[] = {
        /* values of YAML 1.1 */
        "",
        "~",
        "null",
        "NULL",
        "yes",
        "No",
        "on",
        "OFF",
        "true",
        "False",
        "1",
        "-1",
        "+1",
        "0x1F",
        "0b1",
        "010",
        "1_000",
        "1_",
        "12:30",
        "1.5",
        ".5",
        "1.",
        "1.0e+5",
        ".inf",
        "-.inf",
        ".nan",
        "2001-01-01",
        "2001-01-01 00:00:00",
        "=",
        "<<",
        "99999999999999999999999",
        /* of YAML 1.2, or of other readers */
        "1e5",
        "1.0e5",
        "-.5",
        "+.5",
        "0o7",
        "08",
        "1e-5",
        "1E5",
        ".5e5",
        "5.e5",
        "+1e+5",
        "0o17",
        "y",
        "Y",
        "n",
        "N",
        "0x",
        "0x_",
        "-0b",
        "+0b_",
        /* the syntax of YAML */
        "- x",
        "-",
        "- ",
        "?",
        "? x",
        "?x",
        ":",
        ":x",
        ": x",
        "x:",
        "x: y",
        "a b: c",
        "x #y",
        "#",
        "#x",
        ",",
        ",x",
        "[",
        "[x]",
        "]",
        "{",
        "{x}",
        "}",
        "&x",
        "*x",
        "!x",
        "|",
        "|x",
        ">",
        ">x",
        "'",
        "'x'",
        "%",
        "%x",
        "@",
        "@x",
        "`",
        "`x",
        "\"",
        "\"x\"",
        " x",
        "x ",
        " ",
        "---",
        "--- x",
        "---x",
        "...",
        "... x",
        "....",
        "-  x",
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char quoted[100];
        size_t n = 0;
        quoted[n++] = '\'';
        for (const char *p = texts[i]; *p != '\0'; p++) {
            if (*p == '\'')
                quoted[n++] = '\'';
            quoted[n++] = *p;
        }
        quoted[n++] = '\'';
        quoted[n] = '\0';
        assert_written(b, texts[i], false, quoted);
        assert_written(b, texts[i], true, quoted);
    }
}

static void flow_marks_are_quoted_in_flow_only(void **state)
{
    static const char *const texts[] = { "a,b", "a, b", "a[b", "a]b",          "a{b",
                                         "a}b", "a?b",  "a:b", "http://x.y/z", "a?" };
    bench *b = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char quoted[100];
        snprintf(quoted, sizeof quoted, "'%s'", texts[i]);
        assert_written(b, texts[i], false, texts[i]);
        assert_written(b, texts[i], true, quoted);
    }
}

static void what_cannot_be_shown_is_escaped(void **state)
{
    static const struct {
        const char *text, *written;
    } cases[] = {
        { "a\nb", "\"a\\nb\"" },
        { "a\tb", "\"a\\tb\"" },
        { "a\rb", "\"a\\rb\"" },
        { "a\x1b[1m\"\\", "\"a\\x1B[1m\\\"\\\\\"" },
        { "\x7f", "\"\\x7F\"" },
        { "\xc2\x85", "\"\\x85\"" },
        { "\xc2\x9f", "\"\\x9F\"" },
        { "\xd8\x9c", "\"\\u061C\"" },
        { "a\xe2\x80\xae"
          "b",
          "\"a\\u202Eb\"" },
        { "\xe2\x80\xa8", "\"\\u2028\"" },
        { "\xef\xbb\xbf", "\"\\uFEFF\"" },
        { "\xef\xbf\xbe\xc3\xa9", "\"\\uFFFE\xc3\xa9\"" },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_written(b, cases[i].text, false, cases[i].written);
        assert_written(b, cases[i].text, true, cases[i].written);
    }
    assert_string_equal(write_string(b, "a\0b", 3, CIP_STYLE_ANY, false), "\"a\\0b\"");
    assert_string_equal(write_string(b, "a\xff\xc3", 3, CIP_STYLE_ANY, false),
                        "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void styles_are_kept(void **state)
{
    bench *b = *state;
    assert_string_equal(write_string(b, "word", 4, CIP_STYLE_SINGLE, false), "'word'");
    assert_string_equal(write_string(b, "it's", 4, CIP_STYLE_SINGLE, false), "'it''s'");
    assert_string_equal(write_string(b, "word", 4, CIP_STYLE_DOUBLE, false), "\"word\"");
    assert_string_equal(write_string(b, "a\nb", 3, CIP_STYLE_SINGLE, false), "\"a\\nb\"");
    assert_string_equal(write_string(b, "word", 4, CIP_STYLE_LITERAL, false), "word");
}

static void tagged_strings_need_no_quotes(void **state)
{
    bench *b = *state;
    cip_node *n;
    cip_node_new_string(&b->arena, "12", 2, &n, NULL);
    n->tag = "!x";
    assert_string_equal(write_at(b, n, (cip_scalar_place){ 0 }), "12");
    cip_node_new_string(&b->arena, "", 0, &n, NULL);
    n->tag = "!x";
    assert_string_equal(write_at(b, n, (cip_scalar_place){ 0 }), "''");
}

static void literal_blocks_are_kept_where_they_can_be(void **state)
{
    static const struct {
        const char *text, *written;
    } cases[] = {
        { "a", "|-\n   a" },
        { "a\n", "|\n   a" },
        { "a\nb", "|-\n   a\n   b" },
        { "a\n\n", "|+\n   a\n" },
        { "a\n\n\n", "|+\n   a\n\n" },
        { "a\n\n  b\n", "|\n   a\n\n     b" },
        { "# \xc3\xa9: [\n", "|\n   # \xc3\xa9: [" },
    };
    static const char *const others[] = { "",      " a",     "\na",    "\n",      "a \nb",
                                          "a\nb ", "a\tb\n", "a\rb\n", "a\n \nb", "a\x01\n" };
    bench *b = *state;
    for (int style = CIP_STYLE_LITERAL; style <= CIP_STYLE_FOLDED; style++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            cip_node *n;
            cip_node_new_string(&b->arena, cases[i].text, strlen(cases[i].text), &n, NULL);
            n->style = (uint8_t)style;
            assert_true(cip_yaml_is_literal(n));
            const char *written =
                write_at(b, n, (cip_scalar_place){ .literal = true, .indent = 3 });
            assert_string_equal(written, cases[i].written);
            assert_int_not_equal(write_at(b, n, (cip_scalar_place){ .indent = 3 })[0], '|');
            n->style = CIP_STYLE_DOUBLE;
            assert_false(cip_yaml_is_literal(n));
            assert_int_equal(write_at(b, n, (cip_scalar_place){ .literal = true, .indent = 3 })[0],
                             '"');
        }
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            cip_node *n;
            cip_node_new_string(&b->arena, others[i], strlen(others[i]), &n, NULL);
            n->style = (uint8_t)style;
            assert_false(cip_yaml_is_literal(n));
            assert_int_not_equal(
                write_at(b, n, (cip_scalar_place){ .literal = true, .indent = 3 })[0], '|');
        }
    }
}

static void values_read_alike_by_1_1_and_1_2_stay_as_written(void **state)
{
    static const char *const same[] = {
        "null",
        "Null",
        "NULL",
        "~",
        "true",
        "True",
        "TRUE",
        "false",
        "False",
        "FALSE",
        "0",
        "-0",
        "12",
        "-12",
        "+12",
        "0x1F",
        "0xaB",
        "1.5",
        "1.",
        ".5",
        "-1.50",
        "1.0e+5",
        "1.E-5",
        ".5e+1",
        "+1.5",
        ".inf",
        "-.INF",
        "+.Inf",
        ".nan",
        ".NaN",
        "09.5",
        "99999999999999999999999",
        "-99999999999999999999999",
        "0xFFFFFFFFFFFFFFFFFF",
        "2001-01-01",
        "2001-01-01 10:00:00 +1",
    };
    static const struct {
        const char *text, *written;
    } other[] = {
        { "yes", "true" },
        { "ON", "true" },
        { "No", "false" },
        { "off", "false" },
        { "010", "8" },
        { "-017", "-15" },
        { "00", "0" },
        { "0b11", "3" },
        { "1_000", "1000" },
        { "-0x1F", "-31" },
        { "+0xA", "10" },
        { "0x1_F", "31" },
        { "12:30:45", "45045" },
        { "-1:00", "-60" },
        { "1_0.5", "10.5" },
        { "1:30.5", "90.5" },
        { "!!float 1", "1" },
        { "!!float 1_0", "10.0" },
        { "!!null x", "null" },
        { "!!int '7'", "7" },
        { "!!bool 'true'", "true" },
        { "", "null" },
        { "1_0.0e+20", "1.0e+21" },
        { "18446744073709551615", "18446744073709551615" },
        { "0xFFFFFFFFFFFFFFFFF_", "295147905179352825855" },
        { "-1_00000000000000000000", "-100000000000000000000" },
        { "02000000000000000000000", "18446744073709551616" },
        { "!!binary AAAA", "AAAA" },
        { "-0_0", "0" },
        { "-9223372036854775808", "-9223372036854775808" },
        { "1.0e+400", "1.0e+400" },
        { "!!float 1e5", "1e5" },
        { "-0o7x", "-0o7x" },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        assert_string_equal(write_at(b, parse(b, same[i]), (cip_scalar_place){ 0 }), same[i]);
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        assert_string_equal(write_at(b, parse(b, other[i].text), (cip_scalar_place){ 0 }),
                            other[i].written);
}

static void a_float_without_its_tag_is_spelled_anew(void **state)
{
    bench *b = *state;
    cip_node *n = (cip_node *)parse(b, "!!float 1e5");
    assert_string_equal(write_at(b, n, (cip_scalar_place){ 0 }), "1e5");
    n->tag = NULL;
    assert_string_equal(write_at(b, n, (cip_scalar_place){ 0 }), "100000.0");
}

static void integers_too_long_to_convert_stay_as_written(void **state)
{
    bench *b = *state;
    char *text = malloc(10001);
    memset(text, '1', 10000);
    text[10000] = '\0';
    text[0] = '0';
    text[1] = 'b';
    assert_string_equal(write_at(b, parse(b, text), (cip_scalar_place){ 0 }), text);
    free(text);
}

static const char *tag(bench *b, const char *text, const char *prefix)
{
    b->out.len = 0;
    assert_int_equal(cip_yaml_put_tag(&b->out, text, prefix, NULL), CIP_OK);
    cip_buf_nul(&b->out, NULL);
    return (const char *)b->out.ptr;
}

static void tags_are_as_short_as_they_can_be(void **state)
{
    static const char *const prefix = "tag:stsci.edu:asdf/";
    bench *b = *state;
    assert_string_equal(tag(b, "tag:stsci.edu:asdf/core/x-1.0.0", prefix), "!core/x-1.0.0");
    assert_string_equal(tag(b, "tag:stsci.edu:asdf/core/x-1.0.0", NULL),
                        "!<tag:stsci.edu:asdf/core/x-1.0.0>");
    assert_string_equal(tag(b, "tag:stsci.edu:asdf/", prefix), "!<tag:stsci.edu:asdf/>");
    assert_string_equal(tag(b, "tag:stsci.edu:asdf/a!b", prefix), "!<tag:stsci.edu:asdf/a!b>");
    assert_string_equal(tag(b, "tag:stsci.edu:asdf/a,b[c]", prefix),
                        "!<tag:stsci.edu:asdf/a,b[c]>");
    assert_string_equal(tag(b, "tag:other/x", prefix), "!<tag:other/x>");
    assert_string_equal(tag(b, "tag:yaml.org,2002:omap", prefix), "!!omap");
    assert_string_equal(tag(b, "tag:yaml.org,2002:", prefix), "!<tag:yaml.org,2002:>");
    assert_string_equal(tag(b, "tag:yaml.org,2002:a b", prefix), "!<tag:yaml.org,2002:a%20b>");
    assert_string_equal(tag(b, "!local", prefix), "!<!local>");
    assert_string_equal(tag(b, "!local", "!"), "!local");
    assert_string_equal(tag(b, "x", ""), "!<x>");
    assert_string_equal(tag(b, "a#b>c%\"\xc3\xa9{}^", NULL), "!<a%23b%3Ec%25%22%C3%A9%7B%7D%5E>");
    assert_string_equal(tag(b, "azAZ09-_;/?:@&=+$.~*'()!,[]", NULL),
                        "!<azAZ09-_;/?:@&=+$.~*'()!,[]>");
    assert_string_equal(tag(b, "pazAZ09-_;/?:@&=+$.~*'()", "p"), "!azAZ09-_;/?:@&=+$.~*'()");
}

static cip_status write_much(bench *b)
{
    static const char *const texts[] = { "plain", "it's", "tab\t\x01\"\xff\\", "l1\nl2\n\n" };
    cip_node *n;
    b->out.mem = &b->env.mem;
    for (int i = 0; i < 60; i++) {
        CIP_TRY(cip_node_new_string(&b->arena, texts[i % 4], strlen(texts[i % 4]), &n, &b->err));
        n->style = CIP_STYLE_LITERAL;
        CIP_TRY(cip_yaml_put_scalar(&b->out, n, (cip_scalar_place){ .literal = true, .indent = 90 },
                                    &b->err));
        CIP_TRY(cip_yaml_put_tag(&b->out, "tag with blanks", NULL, &b->err));
        CIP_TRY(cip_yaml_put_tag(&b->out, "tag:yaml.org,2002:x", NULL, &b->err));
    }
    return CIP_OK;
}

static void no_memory_for_text_is_reported(void **state)
{
    (void)state;
    every_allocation_may_fail(write_much);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(strings_stay_plain_where_they_can),
        TEST(strings_that_could_be_misread_are_quoted),
        TEST(flow_marks_are_quoted_in_flow_only),
        TEST(what_cannot_be_shown_is_escaped),
        TEST(styles_are_kept),
        TEST(tagged_strings_need_no_quotes),
        TEST(literal_blocks_are_kept_where_they_can_be),
        TEST(values_read_alike_by_1_1_and_1_2_stay_as_written),
        TEST(a_float_without_its_tag_is_spelled_anew),
        TEST(integers_too_long_to_convert_stay_as_written),
        TEST(tags_are_as_short_as_they_can_be),
        cmocka_unit_test(no_memory_for_text_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
