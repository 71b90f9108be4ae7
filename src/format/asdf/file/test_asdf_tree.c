/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/asdf/asdf_testing.h"

static asdf_end end_of(const char *text, bool whole, size_t *end)
{
    size_t n = strlen(text);
    uint8_t *exact = malloc(n + (n == 0)); /* so that an overread is seen */
    memcpy(exact, text, n);
    asdf_end how = cip_asdf_tree_end((cip_bytes){ exact, n }, 0, whole, end);
    free(exact);
    return how;
}

static void end_markers_are_told_from_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        asdf_end piece, whole; /* with and without more behind it */
        size_t end;
    } rows[] = {
        { "a\n...\nrest", ASDF_END_MARKED, ASDF_END_MARKED, 6 },
        { "a\r\n...\r\nrest", ASDF_END_MARKED, ASDF_END_MARKED, 8 },
        { "a\n...", ASDF_END_UNSEEN, ASDF_END_MARKED, 5 },
        { "a\n...\r", ASDF_END_UNSEEN, ASDF_END_BLANKS, 6 },
        { "a\n... \nrest", ASDF_END_BLANKS, ASDF_END_BLANKS, 7 },
        { "a\n...\t \r\nrest", ASDF_END_BLANKS, ASDF_END_BLANKS, 9 },
        { "a\n... # words\nrest", ASDF_END_BLANKS, ASDF_END_BLANKS, 14 },
        { "a\n... # words", ASDF_END_UNSEEN, ASDF_END_BLANKS, 13 },
        { "a\n... ", ASDF_END_UNSEEN, ASDF_END_BLANKS, 6 },
        { "a\n....\n...\n", ASDF_END_MARKED, ASDF_END_MARKED, 11 },
        { "a\n...#x\n", ASDF_END_UNSEEN, ASDF_END_UNMARKED, 8 },
        { "a\n...\rx\n", ASDF_END_UNSEEN, ASDF_END_UNMARKED, 8 },
        { "a\n... x\n", ASDF_END_UNSEEN, ASDF_END_UNMARKED, 8 },
        { "a\n ...\n", ASDF_END_UNSEEN, ASDF_END_UNMARKED, 7 },
        { "...\na", ASDF_END_UNSEEN, ASDF_END_UNMARKED, 5 }, /* no newline before it */
        { "a\n..", ASDF_END_UNSEEN, ASDF_END_UNMARKED, 4 },
        { "", ASDF_END_UNSEEN, ASDF_END_UNMARKED, 0 },
        { "a\n\323BLK\n...\n", ASDF_END_UNMARKED, ASDF_END_UNMARKED, 2 },
        { "a\n...\323BLK", ASDF_END_MARKED, ASDF_END_MARKED, 5 },
        { "a\n...\n\323BLK", ASDF_END_MARKED, ASDF_END_MARKED, 6 },
        { "a\n... #\323BLK", ASDF_END_BLANKS, ASDF_END_BLANKS, 7 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t end = 999;
        assert_int_equal(end_of(rows[i].text, true, &end), rows[i].whole);
        assert_int_equal(end, rows[i].end);
        end = 999;
        assert_int_equal(end_of(rows[i].text, false, &end), rows[i].piece);
        if (rows[i].piece != ASDF_END_UNSEEN)
            assert_int_equal(end, rows[i].end);
    }
    size_t end = 0;
    cip_bytes t = { (const uint8_t *)"\n...\nb\n...\n", 11 };
    assert_int_equal(cip_asdf_tree_end(t, 1, false, &end), ASDF_END_MARKED);
    assert_int_equal(end, 11);
}

/* Opens YAML lines, then block 0, with `end` between them. */
static cip_status open_end(one_file *f, const char *end, bool blocks)
{
    asdf_make m = { 0 };
    make_text(&m, MAKE_LINES MAKE_YAML "a: " MAKE_INT32);
    make_text(&m, end);
    if (blocks)
        make_six(&m);
    cip_status st = make_open(f, &m, 0);
    make_clear(&m);
    return st;
}

static void trees_may_end_in_other_ways_with_a_warning(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_end(&f, "... \n", true), CIP_OK);
    assert_true(make_gives_six(&f, "a"));
    assert_int_equal(make_warned(&f, "expected only '...' on the line"), 1);
    one_close(&f);
    assert_int_equal(open_end(&f, "", true), CIP_OK);
    assert_true(make_gives_six(&f, "a"));
    assert_int_equal(make_warned(&f, "expected '...' at the end of the tree, found a block"), 1);
    one_close(&f);
    assert_int_equal(open_end(&f, "", false), CIP_OK);
    assert_int_equal(make_warned(&f, "found the end of the file"), 1);
    one_close(&f);
    assert_int_equal(open_end(&f, "...", false), CIP_OK);
    assert_int_equal(make_warned(&f, "at the end of the tree"), 0);
    one_close(&f);
}

static void carriage_returns_work_throughout(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 }, unix_lines = { 0 };
    make_tree(&unix_lines, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
    for (size_t i = 0; i < unix_lines.len; i++) {
        if (unix_lines.ptr[i] == '\n')
            make_text(&m, "\r");
        make_bytes(&m, unix_lines.ptr + i, 1);
    }
    make_six(&m);
    make_three(&m);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_true(make_gives_three(&f, "b"));
    assert_int_equal(f.env.warnings.n, 0);
    one_close(&f);
    make_clear(&m);
    make_clear(&unix_lines);
}

static void long_trees_are_read_in_pieces(void **state)
{
    (void)state;
    /* The end marker and the magic fall on every place around the borders of 64 and 128 KiB. */
    for (size_t want = 65536; want <= 131072; want *= 2)
        for (size_t less = 0; less < 12; less++) {
            one_file f;
            asdf_make m = { 0 };
            make_text(&m, MAKE_LINES MAKE_YAML "a: " MAKE_INT32 "s: '");
            size_t n = want - less - m.len;
            char *x = malloc(n);
            memset(x, 'x', n);
            make_bytes(&m, x, n);
            free(x);
            make_text(&m, "'\n...\n");
            make_six(&m);
            assert_int_equal(make_open(&f, &m, 0), CIP_OK);
            assert_true(make_gives_six(&f, "a"));
            assert_int_equal(f.env.warnings.n, 0);
            one_close(&f);
            make_clear(&m);
        }
}

static void trees_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[3];
    make_two(&m, at);
    const char *yaml = strstr((const char *)m.ptr, "%YAML");
    size_t n = at[0] - (size_t)(yaml - (const char *)m.ptr);
    for (size_t less = 0; less < 2; less++) {
        one_file f;
        const cip_limits limits = { .size = sizeof limits, .max_tree_bytes = n - less };
        cip_status st = one_open_limited(&f, &cip_format_asdf, m.ptr, m.len, 0, NULL, &limits);
        assert_int_equal(st, less ? CIP_ERR_LIMIT : CIP_OK);
        one_close(&f);
    }
    make_clear(&m);
    make_text(&m, MAKE_LINES MAKE_YAML "a: '");
    char *x = malloc(300000);
    memset(x, 'x', 300000);
    make_bytes(&m, x, 300000);
    free(x);
    one_file f;
    const cip_limits limits = { .size = sizeof limits, .max_tree_bytes = 100000 };
    assert_int_equal(one_open_limited(&f, &cip_format_asdf, m.ptr, m.len, 0, NULL, &limits),
                     CIP_ERR_LIMIT);
    assert_non_null(strstr(f.err.text, "expected the end of the tree within"));
    one_close(&f);
    make_clear(&m);
}

static void a_broken_tree_is_an_error_unless_forced(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(make_open_tree(&f, "a: [1\n", 0), CIP_ERR_CORRUPT);
    assert_string_equal(f.err.part, "tree");
    assert_in_range(f.err.offset, 90, 110);
    one_close(&f);
    assert_int_equal(make_open_tree(&f, "a: [1\n", CIP_OPEN_FORCE), CIP_OK);
    assert_null(f.layout->tree);
    assert_int_equal(f.layout->nblock, 2);
    assert_int_equal(make_warned(&f, "only the blocks are shown"), 1);
    one_close(&f);
    assert_int_equal(make_open_tree(&f, "a: 1\n---\nb: 2\n", 0), CIP_ERR_CORRUPT);
    one_close(&f);
}

static void roots_that_are_no_mappings_are_warned_about(void **state)
{
    (void)state;
    static const struct {
        const char *root;
        size_t nwarn;
    } rows[] = { { "a: 1\n", 0 }, { "", 0 }, { "{}\n", 0 }, { "[1, 2]\n", 1 }, { "text\n", 1 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_text(&m, "#ASDF 1.0.0\n%YAML 1.1\n---\n");
        make_text(&m, rows[i].root);
        make_text(&m, "...\n");
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(make_warned(&f, "expected a mapping as the tree"), rows[i].nwarn);
        one_close(&f);
        make_clear(&m);
    }
    one_file f;
    assert_int_equal(make_open_tree(&f, "", 0), CIP_OK); /* a tag and nothing */
    assert_int_equal(f.env.warnings.n, 0);
    one_close(&f);
}

static void arrays_are_listed_by_path_in_the_order_of_the_tree(void **state)
{
    (void)state;
    static const char *const want[] = { "l/0/x", "l/1",    "m/a~1b", "m/a~0b", "m/7",
                                        "m/-7",  "m/true", "m/ 1 ",  "m/?6",   "z" };
    one_file f;
    assert_int_equal(make_open_tree(&f,
                                    "l: [{x: " MAKE_INT32 "}, " MAKE_INT32
                                    "]\nm:\n  a/b: " MAKE_INT32 "  a~b: " MAKE_INT32
                                    "  0x07: " MAKE_INT32 "  -07: " MAKE_INT32 "  true: " MAKE_INT32
                                    "  ' 1 ': " MAKE_INT32 "  ? [1]\n  : " MAKE_INT32
                                    "n: {}\nz: " MAKE_INT32,
                                    0),
                     CIP_OK);
    assert_int_equal(f.layout->narray, sizeof want / sizeof want[0]);
    for (size_t i = 0; i < f.layout->narray; i++) {
        assert_string_equal(f.layout->array[i]->path, want[i]);
        assert_non_null(f.layout->array[i]->node);
        assert_true(make_gives_six(&f, want[i]));
    }
    one_close(&f);
}

static void the_root_may_be_an_array(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_text(&m, MAKE_LINES "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- " MAKE_INT32 "...\n");
    make_six(&m);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_true(make_gives_six(&f, ""));
    one_close(&f);
    make_clear(&m);
}

static void aliases_are_listed_once_for_each_path(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(make_open_tree(&f,
                                    "a: &x " MAKE_INT32
                                    "b: *x\nc: &c {d: [*x, 1]}\ne: *c\nf: &n [1, [2]]\n"
                                    "g: [*n, *n]\n",
                                    0),
                     CIP_OK);
    static const char *const want[] = { "a", "b", "c/d/0", "e/d/0" };
    assert_int_equal(f.layout->narray, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(f.layout->array[i]->path, want[i]);
        assert_ptr_equal(f.layout->array[i]->space, f.layout->array[0]->space);
        assert_ptr_equal(f.layout->array[i]->node, f.layout->array[0]->node);
        assert_true(make_gives_six(&f, want[i]));
    }
    one_close(&f);
}

static void cycles_are_not_entered(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(
        make_open_tree(&f, "c: &c {self: *c, l: [*c, *c], x: " MAKE_INT32 "}\nd: *c\n", 0), CIP_OK);
    assert_int_equal(f.layout->narray, 2);
    assert_true(make_gives_six(&f, "c/x"));
    assert_true(make_gives_six(&f, "d/x"));
    one_close(&f);
}

static void what_aliases_share_is_walked_once_when_it_has_no_array(void **state)
{
    (void)state;
    one_file f;
    char tree[4000] = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n", line[200];
    for (int i = 1; i < 12; i++) {
        int k = i - 1;
        snprintf(line, sizeof line,
                 "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i,
                 k, k, k, k, k, k, k, k, k, k);
        strcat(tree, line);
    }
    strcat(tree, "z: " MAKE_INT32);
    assert_int_equal(make_open_tree(&f, tree, 0), CIP_OK);
    assert_int_equal(f.env.warnings.n, 0);
    assert_true(make_gives_six(&f, "z"));
    one_close(&f);
}

static void expansion_is_bounded(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_tree(&m, "a: " MAKE_INT32 "l: [1, 2, 3]\nz: " MAKE_INT32);
    make_six(&m);
    for (uint64_t max = 5; max <= 6; max++) {
        const cip_limits limits = { .size = sizeof limits, .max_expansion = max };
        assert_int_equal(one_open_limited(&f, &cip_format_asdf, m.ptr, m.len, 0, NULL, &limits),
                         CIP_OK);
        assert_int_equal(f.layout->narray, max - 4);
        assert_int_equal(make_warned(&f, "arrays after that are not listed"), max == 5);
        one_close(&f);
    }
    make_clear(&m);
}

static void arrays_that_aliases_multiply_are_bounded(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    char line[200];
    make_text(&m, "a0: &a0 [&x !core/ndarray-1.0.0 [1], *x]\n");
    for (int i = 1; i < 7; i++) { /* over 10^6 paths */
        int k = i - 1;
        snprintf(line, sizeof line,
                 "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i,
                 k, k, k, k, k, k, k, k, k, k);
        make_text(&m, line);
    }
    make_bytes(&m, "", 1);
    assert_int_equal(make_open_tree(&f, (const char *)m.ptr, 0), CIP_OK);
    assert_int_equal(f.layout->narray, (1 << 16) + 1);
    assert_int_equal(make_warned(&f, "aliases repeat arrays too often"), 1);
    one_close(&f);
    make_clear(&m);
}

static void aliases_do_not_reach_deeper_than_the_limit(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    char line[64];
    make_text(&m, "a0: &a0 [!core/ndarray-1.0.0 [1]]\n");
    for (int i = 1; i < 300; i++) {
        snprintf(line, sizeof line, "a%d: &a%d [*a%d]\n", i, i, i - 1);
        make_text(&m, line);
    }
    make_bytes(&m, "", 1);
    assert_int_equal(make_open_tree(&f, (const char *)m.ptr, 0), CIP_OK);
    assert_int_equal(f.layout->narray, 255); /* 256 collections: the root and 255 lists */
    one_close(&f);
    make_clear(&m);
}

static void a_quantity_is_its_value_too(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(
        make_open_tree(
            &f,
            "q: !unit/quantity-1.1.0 {unit: m, other: !core/ndarray-1.0.0 [1], value: " MAKE_INT32
            "}\ns: !unit/quantity-1.1.0 {unit: m, value: 5}\nt: !unit/quantity-1.1.0 [1]\n",
            0),
        CIP_OK);
    static const char *const want[] = { "q", "q/other", "q/value" };
    assert_int_equal(f.layout->narray, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(f.layout->array[i]->path, want[i]);
    assert_null(f.layout->array[0]->node);
    assert_non_null(f.layout->array[2]->node);
    assert_ptr_equal(f.layout->array[0]->space, f.layout->array[2]->space);
    assert_true(make_gives_six(&f, "q"));
    assert_true(make_gives_six(&f, "q/value"));
    one_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(end_markers_are_told_from_text),
        cmocka_unit_test(trees_may_end_in_other_ways_with_a_warning),
        cmocka_unit_test(carriage_returns_work_throughout),
        cmocka_unit_test(long_trees_are_read_in_pieces),
        cmocka_unit_test(trees_beyond_the_limit_are_refused),
        cmocka_unit_test(a_broken_tree_is_an_error_unless_forced),
        cmocka_unit_test(roots_that_are_no_mappings_are_warned_about),
        cmocka_unit_test(arrays_are_listed_by_path_in_the_order_of_the_tree),
        cmocka_unit_test(the_root_may_be_an_array),
        cmocka_unit_test(aliases_are_listed_once_for_each_path),
        cmocka_unit_test(cycles_are_not_entered),
        cmocka_unit_test(what_aliases_share_is_walked_once_when_it_has_no_array),
        cmocka_unit_test(expansion_is_bounded),
        cmocka_unit_test(arrays_that_aliases_multiply_are_bounded),
        cmocka_unit_test(aliases_do_not_reach_deeper_than_the_limit),
        cmocka_unit_test(a_quantity_is_its_value_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
