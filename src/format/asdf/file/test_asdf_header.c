/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/asdf/asdf_testing.h"

static bool version(const char *text, asdf_version *v)
{
    return cip_asdf_version_parse(text, strlen(text), v);
}

static void versions_are_three_numbers_and_semantic_suffixes(void **state)
{
    (void)state;
    asdf_version v;
    assert_true(version("1.20.3", &v));
    assert_int_equal(v.major, 1);
    assert_int_equal(v.minor, 20);
    assert_int_equal(v.patch, 3);
    static const char *const good[] = { "1.0.0-dev", "1.0.0-AZaz09", "1.0.0+build.5",
                                        "1.0.0-rc.1+x-Y", "999999999.0.0" };
    static const char *const bad[] = {
        "",          "1",        "1.0",      "1.x.9",          "1.0.0.0",
        "1.0.0 ",    "1.0.",     "1..0",     ".1.0.0",         "1.0.0-",
        "1.0.0-a_b", "1.0.0-a/", "-1.0.0",   "1234567890.0.0", "1.0.1234567890",
        "1.0.0:x",   "1.0.0-a@", "1.0.0-a`", "1.0.0-a{",       "1.0.0-["
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(version(good[i], &v));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(version(bad[i], &v));
}

static void standards_from_1_0_0_to_1_6_0_are_known(void **state)
{
    (void)state;
    for (uint32_t minor = 0; minor <= 6; minor++)
        assert_true(cip_asdf_standard_known((asdf_version){ 1, minor, 0 }));
    assert_false(cip_asdf_standard_known((asdf_version){ 1, 7, 0 }));
    assert_false(cip_asdf_standard_known((asdf_version){ 1, 6, 1 }));
    assert_false(cip_asdf_standard_known((asdf_version){ 0, 1, 0 }));
    assert_false(cip_asdf_standard_known((asdf_version){ 2, 0, 0 }));
}

/* The first line, and how opening ends. */
static cip_status open_line(one_file *f, const char *line, uint32_t flags)
{
    asdf_make m = { 0 };
    make_text(&m, line);
    make_text(&m, "#ASDF_STANDARD 1.5.0\n" MAKE_YAML "a: " MAKE_INT32 "...\n");
    make_six(&m);
    cip_status st = make_open(f, &m, flags);
    make_clear(&m);
    return st;
}

static void first_lines_end_as_the_tolerance_says(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        cip_status st;
        const char *text; /* of the error or the warning */
    } rows[] = {
        { "#ASDF 1.0.0\n", CIP_OK, NULL },
        { "#ASDF 1.0.0\r\n", CIP_OK, NULL },
        { "#ASDF  \t1.0.0  \n", CIP_OK, NULL },
        { "#ASDF 1.0.0-dev+b1\n", CIP_OK, NULL },
        { "#ASDF 0.1.0\n", CIP_OK, NULL },
        { "#ASDF 0.1.7\r\n", CIP_OK, NULL },
        { "#ASDF 1.9.0\n", CIP_OK, "found 1.9.0; it is read as 1.0.0" },
        { "#ASDF 1.0.7\n", CIP_OK, "found 1.0.7; it is read as 1.0.0" },
        { "\xef\xbb\xbf#ASDF 1.0.0\n", CIP_OK, "a byte order mark" },
        { "#ASDF 2.0.0\n", CIP_ERR_UNSUPPORTED, "expected file format version 1, found 2.0.0" },
        { "#ASDF 0.2.0\n", CIP_ERR_UNSUPPORTED, "expected file format version 1, found 0.2.0" },
        { "#ASDF 1.0\n", CIP_ERR_UNSUPPORTED, "found '1.0'" },
        { "#ASDF\n", CIP_ERR_UNSUPPORTED, "found ''" },
        { "#ASDF 1.0.0 x\n", CIP_ERR_UNSUPPORTED, "found ''" },
        { "#ASDFX 1.0.0\n", CIP_ERR_FORMAT, "expected '#ASDF'" },
        { "#asdf 1.0.0\n", CIP_ERR_FORMAT, "expected '#ASDF'" },
        { " #ASDF 1.0.0\n", CIP_ERR_FORMAT, "expected '#ASDF'" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        assert_int_equal(open_line(&f, rows[i].line, 0), rows[i].st);
        if (rows[i].st == CIP_OK) {
            assert_true(make_gives_six(&f, "a"));
            assert_int_equal(f.env.warnings.n, rows[i].text != NULL);
            if (rows[i].text != NULL)
                assert_int_equal(make_warned(&f, rows[i].text), 1);
        } else {
            assert_non_null(strstr(f.err.text, rows[i].text));
        }
        one_close(&f);
    }
}

static void unknown_major_versions_are_read_when_forced(void **state)
{
    (void)state;
    static const char *const lines[] = { "#ASDF 2.0.0\n", "#ASDF 1.x.9\n", "#ASDF\n" };
    for (size_t i = 0; i < 3; i++) {
        one_file f;
        assert_int_equal(open_line(&f, lines[i], CIP_OPEN_FORCE), CIP_OK);
        assert_true(make_gives_six(&f, "a"));
        assert_int_equal(make_warned(&f, "it is read as 1.0.0"), 1);
        one_close(&f);
    }
}

static void a_header_line_has_at_most_512_bytes(void **state)
{
    (void)state;
    char line[700];
    for (int more = 0; more < 2; more++) {
        one_file f;
        memset(line, ' ', sizeof line);
        memcpy(line, "#ASDF 1.0.0", 11);
        strcpy(line + 512 + more, "\n");
        assert_int_equal(open_line(&f, line, 0), more ? CIP_ERR_CORRUPT : CIP_OK);
        one_close(&f);
    }
}

static void probing_looks_at_the_first_word(void **state)
{
    (void)state;
    uint32_t major = 7;
    assert_true(cip_asdf_is_header((cip_bytes){ (const uint8_t *)"#ASDF 3.1.4\n", 12 }, &major));
    assert_int_equal(major, 3);
    assert_int_equal(cip_format_asdf.probe(NULL, (cip_bytes){ (const uint8_t *)"#ASDF", 5 }), 100);
    assert_int_equal(cip_format_asdf.probe(NULL, (cip_bytes){ (const uint8_t *)"#ASD", 4 }), 0);
    assert_int_equal(cip_format_asdf.probe(NULL, (cip_bytes){ (const uint8_t *)"#ASDF\r\n", 7 }),
                     100);
    assert_int_equal(cip_format_asdf.probe(NULL, (cip_bytes){ (const uint8_t *)"#ASDF0", 6 }), 0);
    assert_int_equal(cip_format_asdf.probe(NULL, (cip_bytes){ (const uint8_t *)"", 0 }), 0);
}

/* --- between the header and the tree ---------------------------------------------------------- */

static cip_status open_between(one_file *f, const char *between, const char *yaml)
{
    asdf_make m = { 0 };
    make_text(&m, "#ASDF 1.0.0\n");
    make_text(&m, between);
    make_text(&m, yaml);
    make_text(&m, "a: " MAKE_INT32 "...\n");
    make_six(&m);
    cip_status st = make_open(f, &m, 0);
    make_clear(&m);
    return st;
}

static void comments_are_kept_and_one_names_the_standard(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_between(&f,
                                  "# one\r\n#ASDF_STANDARD x\n#ASDF_STANDARD \t1.4.0 \n#two\n"
                                  "#ASDF_STANDARD 1.6.0\n",
                                  MAKE_YAML),
                     CIP_OK);
    const asdf_header *h = &cip_asdf_of(f.layout)->header;
    assert_true(h->has_standard);
    assert_string_equal(h->standard_text, "1.4.0");
    assert_int_equal(h->standard.minor, 4);
    assert_int_equal(h->ncomment, 4);
    assert_string_equal(h->comment[0], "# one");
    assert_string_equal(h->comment[1], "#ASDF_STANDARD x");
    assert_string_equal(h->comment[2], "#two");
    assert_string_equal(h->comment[3], "#ASDF_STANDARD 1.6.0");
    assert_int_equal(f.env.warnings.n, 0);
    assert_string_equal(f.layout->version, "1.0.0");
    one_close(&f);
}

static void an_unknown_standard_is_warned_about_and_none_is_not(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_between(&f, "#ASDF_STANDARD 1.6.1\n", MAKE_YAML), CIP_OK);
    assert_int_equal(make_warned(&f, "the standard's version 1.6.1 is not known"), 1);
    assert_int_equal(f.env.warnings.n, 1);
    one_close(&f);
    assert_int_equal(open_between(&f, "", MAKE_YAML), CIP_OK);
    assert_int_equal(f.env.warnings.n, 0);
    assert_false(cip_asdf_of(f.layout)->header.has_standard);
    one_close(&f);
}

static void lines_that_are_no_comments_are_passed_over_with_a_warning(void **state)
{
    (void)state;
    static const char *const between[] = { "\n", "\r\n", "words\n", "   \n# c\n\n",
                                           "  ", "--\n", "----\n" };
    for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
        one_file f;
        assert_int_equal(open_between(&f, between[i], MAKE_YAML), CIP_OK);
        assert_true(make_gives_six(&f, "a"));
        assert_int_equal(make_warned(&f, "that are not comments"), 1);
        assert_int_equal(f.env.warnings.n, 1);
        one_close(&f);
    }
}

static void a_tree_without_its_first_line_is_yaml_1_1(void **state)
{
    (void)state;
    static const char *const yaml[] = { "%TAG ! tag:stsci.edu:asdf/\n--- \n", "--- # x\n",
                                        "---\t\n", "---\n", "" };
    for (size_t i = 0; i < sizeof yaml / sizeof yaml[0]; i++) {
        one_file f;
        assert_int_equal(open_between(&f, "", yaml[i]), CIP_OK);
        assert_true(make_gives_six(&f, "a"));
        assert_int_equal(make_warned(&f, "expected '%YAML 1.1' in front"), 1);
        one_close(&f);
    }
    for (size_t i = 0; i < 4; i++) { /* the introduction alone tells it, without an end marker */
        one_file f;
        asdf_make m = { 0 };
        make_text(&m, "#ASDF 1.0.0\n");
        make_text(&m, yaml[i]);
        make_text(&m, "a: !core/ndarray-1.0.0 [true]\n");
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_true(make_gives(&f, "a", "\1", 1));
        one_close(&f);
        make_clear(&m);
    }
}

/* The standard allows it and Python's reader takes it, but no writer makes it: it was cut. */
static void a_file_that_is_just_its_header_is_warned_of(void **state)
{
    (void)state;
    static const char *const texts[] = { "#ASDF 1.0.0\n", "#ASDF 1.0.0", "#ASDF 1.0.0\n#c",
                                         "#ASDF 1.0.0\n\n\0", "#ASDF 1.0.0\n#ASDF_STANDARD 1." };
    for (size_t i = 0; i < 5; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_text(&m, texts[i]);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_null(f.layout->tree);
        assert_int_equal(f.layout->narray + f.layout->nblock, 0);
        assert_int_equal(f.env.warnings.n, 1);
        const cip_finding *w = cip_report_get(&f.env.warnings, 0);
        assert_int_equal(w->code, CIP_ERR_TRUNCATED);
        assert_int_equal(w->offset, m.len);
        assert_non_null(strstr(w->text, "found the end of the file"));
        one_close(&f);
        make_clear(&m);
    }
    one_file f;
    asdf_make m = { 0 };
    make_text(&m, "#ASDF 1.0.0\nwords\n");
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(make_warned(&f, "that are not comments"), 1);
    one_close(&f);
    make_clear(&m);
}

static void blocks_follow_the_comments_where_there_is_no_tree(void **state)
{
    (void)state;
    static const struct {
        const char *pad;
        size_t nwarn;
    } rows[] = { { "", 0 }, { "#c\n", 0 }, { "   \n", 1 }, { "xx", 1 } };
    for (size_t i = 0; i < 4; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_text(&m, MAKE_LINES);
        make_text(&m, rows[i].pad);
        size_t at = make_six(&m);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(f.layout->nblock, 1);
        assert_int_equal(f.layout->block[0].info.offset, at);
        assert_int_equal(f.env.warnings.n, rows[i].nwarn);
        one_close(&f);
        make_clear(&m);
    }
}

static void long_comments_are_read_up_to_a_limit(void **state)
{
    (void)state;
    static char line[1001];
    memset(line, 'c', 999);
    line[0] = '#';
    line[999] = '\n';
    for (size_t n = 0; n < 1100; n = n == 0 ? 100 : n + 1000) { /* 100 kB, then over 1 MiB */
        one_file f;
        asdf_make m = { 0 };
        make_text(&m, MAKE_LINES);
        for (size_t i = 0; i < n; i++)
            make_text(&m, line);
        make_text(&m, MAKE_YAML "a: " MAKE_INT32 "...\n");
        make_six(&m);
        cip_status st = make_open(&f, &m, 0);
        if (n > 1048) {
            assert_int_equal(st, CIP_ERR_LIMIT);
            assert_non_null(strstr(f.err.text, "comments before the tree"));
        } else {
            assert_int_equal(st, CIP_OK);
            assert_int_equal(cip_asdf_of(f.layout)->header.ncomment, n);
            assert_true(make_gives_six(&f, "a"));
            assert_int_equal(f.env.warnings.n, 0);
        }
        one_close(&f);
        make_clear(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_three_numbers_and_semantic_suffixes),
        cmocka_unit_test(standards_from_1_0_0_to_1_6_0_are_known),
        cmocka_unit_test(first_lines_end_as_the_tolerance_says),
        cmocka_unit_test(unknown_major_versions_are_read_when_forced),
        cmocka_unit_test(a_header_line_has_at_most_512_bytes),
        cmocka_unit_test(probing_looks_at_the_first_word),
        cmocka_unit_test(comments_are_kept_and_one_names_the_standard),
        cmocka_unit_test(an_unknown_standard_is_warned_about_and_none_is_not),
        cmocka_unit_test(lines_that_are_no_comments_are_passed_over_with_a_warning),
        cmocka_unit_test(a_tree_without_its_first_line_is_yaml_1_1),
        cmocka_unit_test(a_file_that_is_just_its_header_is_warned_of),
        cmocka_unit_test(blocks_follow_the_comments_where_there_is_no_tree),
        cmocka_unit_test(long_comments_are_read_up_to_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
