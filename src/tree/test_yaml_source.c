/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "support/tree/tree_testing.h"
#include "tree/yaml_source.h"

static const cip_yaml_options plain_options = { .base = 1000 };

static void open_source(bench *b, cip_yaml_source *s, const char *text, size_t len)
{
    assert_int_equal(cip_yaml_source_init(s, &b->env, exact(b, text, len), &plain_options, &b->err),
                     CIP_OK);
}

static cip_status chars(bench *b, const char *text, size_t len, bool *ascii)
{
    cip_yaml_source s;
    open_source(b, &s, text, len);
    b->err = (cip_err)CIP_ERR_INIT;
    cip_status st = cip_yaml_check_chars(&s, &b->err);
    *ascii = s.ascii;
    cip_yaml_source_clear(&s);
    return st;
}

static void each_character_is_allowed_or_not(void **state)
{
    static const struct {
        const char *bytes;
        bool allowed;
    } cases[] = {
        { "\t", true },
        { "\n", true },
        { "\r", true },
        { " ", true },
        { "~", true },
        { "\x01", false },
        { "\x08", false },
        { "\x0b", false },
        { "\x0c", false },
        { "\x0e", false },
        { "\x1b", false },
        { "\x1f", false },
        { "\x7f", false },
        { "\xc2\x80", false },
        { "\xc2\x84", false },
        { "\xc2\x85", true },
        { "\xc2\x86", false },
        { "\xc2\x9f", false },
        { "\xc2\xa0", true },
        { "\xed\x9f\xbf", true },
        { "\xee\x80\x80", true },
        { "\xef\xbb\xbf", true },
        { "\xef\xbf\xbd", true },
        { "\xef\xbf\xbe", false },
        { "\xef\xbf\xbf", false },
        { "\xf0\x90\x80\x80", true },
        { "\xf4\x8f\xbf\xbf", true },
    };
    bench *b = *state;
    char text[400];
    bool ascii;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = strlen(cases[i].bytes);
        for (size_t at = 1; at < 140; at += at < 60 || at > 70 ? 13 : 1) {
            memset(text, 'x', sizeof text);
            memcpy(text + at, cases[i].bytes, n);
            cip_status st = chars(b, text, 200, &ascii);
            assert_int_equal(st, cases[i].allowed ? CIP_OK : CIP_ERR_CORRUPT);
            if (cases[i].allowed)
                assert_int_equal(ascii, n == 1);
            else
                assert_int_equal(b->err.offset, 1000 + at);
            assert_int_equal(chars(b, text, at + n, &ascii), st);
        }
    }
}

static void faults_are_found_at_every_place(void **state)
{
    bench *b = *state;
    char text[200];
    bool ascii;
    for (size_t len = 1; len <= sizeof text; len += 7) {
        for (size_t at = 0; at < len; at++) {
            memset(text, 'x', sizeof text);
            text[at] = '\0';
            assert_int_equal(chars(b, text, len, &ascii), CIP_ERR_CORRUPT);
            assert_int_equal(b->err.offset, 1000 + at);
            assert_string_equal(b->err.text, "expected text, found the control character U+0000");
            text[at] = '\xff';
            assert_int_equal(chars(b, text, len, &ascii), CIP_ERR_CORRUPT);
            assert_int_equal(b->err.offset, 1000 + at);
            assert_string_equal(b->err.text, "expected UTF-8, found the byte 0xff");
        }
    }
    assert_string_equal(b->err.part, "tree");
}

static void a_byte_order_mark_is_passed_over(void **state)
{
    bench *b = *state;
    cip_yaml_source s;
    open_source(b, &s, "\xef\xbb\xbfxyz", 6);
    assert_int_equal(s.text.len, 3);
    assert_int_equal(s.skipped, 3);
    assert_int_equal(s.base, 1003);
    assert_int_equal(warned(b), 1);
    assert_int_equal(warning(b, 0)->offset, 1000);
    open_source(b, &s, "\xef\xbb\xbf", 3);
    assert_int_equal(s.text.len, 0);
    open_source(b, &s, "\xef\xbb", 2);
    assert_int_equal(s.text.len, 2);
    assert_int_equal(s.skipped, 0);
    assert_int_equal(warned(b), 2);
    const cip_yaml_options quiet = { .quiet = true };
    assert_int_equal(
        cip_yaml_source_init(&s, &b->env, exact(b, "\xef\xbb\xbfxyz", 6), &quiet, NULL), CIP_OK);
    assert_int_equal(s.skipped, 3);
    assert_int_equal(warned(b), 2);
}

static void the_length_is_bounded(void **state)
{
    bench *b = *state;
    cip_yaml_source s;
    b->env.limits.max_tree_bytes = 10;
    open_source(b, &s, "0123456789", 10);
    assert_int_equal(
        cip_yaml_source_init(&s, &b->env, exact(b, "01234567890", 11), &plain_options, &b->err),
        CIP_ERR_LIMIT);
    assert_string_equal(b->err.text, "expected at most 10 bytes of YAML, found 11");
    assert_int_equal(b->err.offset, 1000);
    /* places inside nodes have no more room than this, whatever the limit */
    b->env.limits.max_tree_bytes = UINT64_MAX;
    cip_bytes huge = { (const uint8_t *)"", (size_t)UINT32_MAX / 2 + 1 };
    assert_int_equal(cip_yaml_source_init(&s, &b->env, huge, &plain_options, NULL), CIP_ERR_LIMIT);
}

/* The directives of a text; its `%` that became comments are replaced by `#` in b->out. */
static cip_status directives(bench *b, const char *text, bool *names_primary)
{
    cip_yaml_source s;
    size_t n = strlen(text), got = 0;
    uint8_t *copy;
    open_source(b, &s, text, n);
    b->err = (cip_err)CIP_ERR_INIT;
    cip_status st = cip_yaml_read_directives(&s, &b->err);
    b->out.len = 0;
    cip_buf_reserve(&b->out, n + 1, &copy, NULL);
    for (size_t k = 1; b->out.len < n; k++) { /* in pieces of 1, 2, 3 ... bytes */
        assert_int_equal(cip_yaml_feed(&s, copy + b->out.len, k, &got), 1);
        assert_int_equal(got, k < n - b->out.len ? k : n - b->out.len);
        b->out.len += got;
    }
    assert_int_equal(cip_yaml_feed(&s, copy, 10, &got), 1);
    assert_int_equal(got, 0);
    copy[n] = '\0';
    *names_primary = s.names_primary;
    cip_yaml_source_clear(&s);
    return st;
}

static void directives_for_libyaml_are_left(void **state)
{
    static const struct {
        const char *text;
        bool primary;
    } cases[] = {
        { "", false },
        { "a: 1\n", false },
        { "%YAML 1.1\n---\n", false },
        { "%YAML 1.1", false }, /* without a document: see below */
        { "%YAML \t1.1 # comment\n%TAG ! tag:x:\n--- a", true },
        { "# c\n\n \t\n%TAG !! x\n%TAG !ab-1_Z! y\n---\tb", false },
        { "%TAG ! x\r\n%TAG !a! y\r\n---\r\n", true },
        { "--- a\n%FOO\n", false },
        { "a\n%FOO bar\n", false },
        { " %FOO bar\n", false },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool primary;
        cip_status st = directives(b, cases[i].text, &primary);
        assert_int_equal(st, i == 3 ? CIP_ERR_CORRUPT : CIP_OK);
        assert_string_equal((char *)b->out.ptr, cases[i].text);
        assert_int_equal(primary, cases[i].primary);
    }
    assert_int_equal(warned(b), 0);
}

static void directives_that_libyaml_refuses_become_comments(void **state)
{
    static const struct {
        const char *text, *fed, *warning;
        uint64_t at;
    } cases[] = {
        { "%YAML 1.2\n---\n", "#YAML 1.2\n---\n", "expected YAML 1.1, found 1.2: read as 1.1", 0 },
        { "%YAML 9.75 #\n---\n", "#YAML 9.75 #\n---\n",
          "expected YAML 1.1, found 9.75: read as 1.1", 0 },
        { "#\n%YAML 1.10\n---\n", "#\n#YAML 1.10\n---\n",
          "expected YAML 1.1, found 1.10: read as 1.1", 2 },
        { "%YAML 11.1111111111111111111\n---", "#YAML 11.1111111111111111111\n---",
          "expected YAML 1.1, found 11.1111111111111: read as 1.1", 0 },
        { "%FOO bar\n---\n", "#FOO bar\n---\n",
          "expected %YAML or %TAG, found an unknown directive", 0 },
        { "%\n---\n", "#\n---\n", "expected %YAML or %TAG, found an unknown directive", 0 },
        { "%YAMLX 1.1\n---\n", "#YAMLX 1.1\n---\n",
          "expected %YAML or %TAG, found an unknown directive", 0 },
        { "%TAGS ! x\n---\n", "#TAGS ! x\n---\n",
          "expected %YAML or %TAG, found an unknown directive", 0 },
        { "%TAX ! x\n---\n", "#TAX ! x\n---\n",
          "expected %YAML or %TAG, found an unknown directive", 0 },
        { "%YAMX 1.1\n---\n", "#YAMX 1.1\n---\n",
          "expected %YAML or %TAG, found an unknown directive", 0 },
        { "%TAG !foo tag:x:\n---\n", "#TAG !foo tag:x:\n---\n",
          "expected a handle as in %TAG !x!, found none: not used", 0 },
        { "%TAG foo tag:x:\n---\n", "#TAG foo tag:x:\n---\n",
          "expected a handle as in %TAG !x!, found none: not used", 0 },
        { "%TAG\n---\n", "#TAG\n---\n", "expected a handle as in %TAG !x!, found none: not used",
          0 },
        { "%TAG !a!b x\n---\n", "#TAG !a!b x\n---\n",
          "expected a handle as in %TAG !x!, found none: not used", 0 },
        { "%TAG !,! x\n---\n", "#TAG !,! x\n---\n",
          "expected a handle as in %TAG !x!, found none: not used", 0 },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool primary;
        assert_int_equal(directives(b, cases[i].text, &primary), CIP_OK);
        assert_string_equal((char *)b->out.ptr, cases[i].fed);
        assert_false(primary);
        assert_int_equal(warned(b), i + 1);
        assert_string_equal(warning(b, i)->text, cases[i].warning);
        assert_int_equal(warning(b, i)->offset, 1000 + cases[i].at);
        assert_string_equal(warning(b, i)->part, "tree");
    }
    bool primary;
    assert_int_equal(directives(b, "%A\n%YAML 1.1\n%B\n%C\n---\n%D", &primary), CIP_OK);
    assert_string_equal((char *)b->out.ptr, "#A\n%YAML 1.1\n#B\n#C\n---\n%D");
}

static void lines_end_where_libyaml_ends_them(void **state)
{
    static const char *const breaks[] = { "\n",       "\r",           "\r\n",
                                          "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };
    static const char *const others[] = { "\xc2\x86", "\xe2\x80\xaa", "\xe2\x81\xa8", "x", "\t" };
    bench *b = *state;
    char text[100], fed[100];
    bool primary;
    for (size_t i = 0; i < 6; i++) {
        snprintf(text, sizeof text, "%%A%s%s%%B%s---%s%%C", breaks[i], breaks[i], breaks[i],
                 breaks[i]);
        snprintf(fed, sizeof fed, "#A%s%s#B%s---%s%%C", breaks[i], breaks[i], breaks[i], breaks[i]);
        assert_int_equal(directives(b, text, &primary), CIP_OK);
        assert_string_equal((char *)b->out.ptr, fed);
    }
    for (size_t i = 0; i < 5; i++) {
        snprintf(text, sizeof text, "%%A%s%%B\n---\n", others[i]);
        snprintf(fed, sizeof fed, "#A%s%%B\n---\n", others[i]);
        assert_int_equal(directives(b, text, &primary), CIP_OK);
        assert_string_equal((char *)b->out.ptr, fed);
    }
}

static void bad_directives_are_refused(void **state)
{
    static const struct {
        const char *text;
        uint64_t at;
    } cases[] = {
        { "%YAML\n---\n", 0 },
        { "%YAML 1\n---\n", 0 },
        { "%YAML 1.\n---\n", 0 },
        { "%YAML .1\n---\n", 0 },
        { "%YAML 1.x\n---\n", 0 },
        { "%YAML 1.1x\n---\n", 0 },
        { "%YAML x1.1\n---\n", 0 },
        { "#\n%YAML 1.1\n%YAML 1.1\n---\n", 12 },
        { "%YAML 1.1\n", 10 },
        { "%YAML 1.1\na: 1\n", 10 },
        { "%FOO\n--- a", UINT64_MAX },
        { "%FOO\n---a", 5 },
        { "%FOO\n--", 5 },
        { "%FOO\n --- a", 5 },
        { "%FOO\n...\n", 5 },
        { "%FOO\n---", UINT64_MAX },
        { "%FOO", 4 },
        { "%YAML 1,1\n---\n", 0 },
        { "%FOO\n-- -\n", 5 },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool primary, ok = cases[i].at == UINT64_MAX;
        assert_int_equal(directives(b, cases[i].text, &primary), ok ? CIP_OK : CIP_ERR_CORRUPT);
        if (!ok)
            assert_int_equal(b->err.offset, 1000 + cases[i].at);
    }
}

static void directives_are_bounded(void **state)
{
    bench *b = *state;
    bool primary;
    b->env.limits.max_directives = 3;
    assert_int_equal(directives(b, "%A\n#\n%B\n\n%C\n---\n", &primary), CIP_OK);
    assert_int_equal(directives(b, "%A\n%B\n%C\n%TAG ! x\n---\n", &primary), CIP_ERR_LIMIT);
    assert_int_equal(b->err.offset, 1009);
    assert_string_equal(b->err.text, "expected at most 3 directives, found more");
}

static void only_comments_and_markers_may_follow(void **state)
{
    static const struct {
        const char *text;
        size_t at;
        uint64_t fault; /* UINT64_MAX: none */
        const char *what;
    } cases[] = {
        { "", 0, UINT64_MAX, NULL },
        { "x...", 4, UINT64_MAX, NULL },
        { "x...\n\n  \t\n# c\n  # d\n...\n... # e\n...\t\n", 4, UINT64_MAX, NULL },
        { "...", 0, UINT64_MAX, NULL },
        { "\r\n...\r\n\xc2\x85\xe2\x80\xa8", 0, UINT64_MAX, NULL },
        { "x... y", 4, 5, "something else" },
        { "\nfoo", 0, 1, "something else" },
        { "\n ...\n", 0, 2, "something else" },
        { "....", 0, 0, "something else" },
        { "...\n---\n", 0, 4, "another one" },
        { "\n---", 0, 1, "another one" },
        { "\n----", 0, 1, "something else" },
        { "...\n%YAML 1.1\n---\n", 0, 4, "another one" },
        { "... ---", 0, 4, "another one" },
        { "... ... x", 0, 4, "something else" },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cip_yaml_source s;
        char what[100];
        open_source(b, &s, cases[i].text, strlen(cases[i].text));
        bool ok = cases[i].fault == UINT64_MAX;
        assert_int_equal(cip_yaml_check_tail(&s, cases[i].at, &b->err),
                         ok ? CIP_OK : CIP_ERR_CORRUPT);
        if (ok)
            continue;
        assert_int_equal(b->err.offset, 1000 + cases[i].fault);
        snprintf(what, sizeof what, "expected the end of the document, found %s", cases[i].what);
        assert_string_equal(b->err.text, what);
    }
}

static void marks_become_bytes(void **state)
{
    /* a 2-, a 3- and a 4-byte character among others */
    static const char text[] = "a\xc3\xa9"
                               "b\xe2\x82\xac\xf0\x9f\x98\x80"
                               "c";
    static const size_t at[] = { 0, 1, 3, 4, 7, 11, 12, 12, 12 };
    bench *b = *state;
    cip_yaml_source s;
    open_source(b, &s, text, strlen(text));
    s.ascii = false;
    for (size_t i = 0; i < 9; i++) /* on */
        assert_int_equal(cip_yaml_byte_of(&s, i), at[i]);
    for (size_t i = 7; i-- > 0;) /* back */
        assert_int_equal(cip_yaml_byte_of(&s, i), at[i]);
    for (size_t i = 0; i < 7; i++) { /* to and fro */
        assert_int_equal(cip_yaml_byte_of(&s, i), at[i]);
        assert_int_equal(cip_yaml_byte_of(&s, 6 - i), at[6 - i]);
    }
    open_source(b, &s, "abc", 3);
    s.ascii = true;
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(cip_yaml_byte_of(&s, i), i < 3 ? i : 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_character_is_allowed_or_not),
        TEST(faults_are_found_at_every_place),
        TEST(a_byte_order_mark_is_passed_over),
        TEST(the_length_is_bounded),
        TEST(directives_for_libyaml_are_left),
        TEST(directives_that_libyaml_refuses_become_comments),
        TEST(lines_end_where_libyaml_ends_them),
        TEST(bad_directives_are_refused),
        TEST(directives_are_bounded),
        TEST(only_comments_and_markers_may_follow),
        TEST(marks_become_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
