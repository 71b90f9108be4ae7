/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "support/core/core_testing.h"

/* What is told, a line each: "kind path: text". */
static int take_difference(void *user, const cip_difference *x)
{
    char line[1200];
    snprintf(line, sizeof line, "%d %s: %s\n", (int)x->kind, x->path, x->text);
    return take_text(user, line, strlen(line));
}

static void differ(cip_file *a, cip_file *b, cip_diff_options o, const char *expected)
{
    static taken t;
    uint64_t n = UINT64_MAX, lines = 0;
    cip_err err = CIP_ERR_INIT;
    t = (taken){ .text = "" };
    o.size = sizeof o;
    o.on_difference = take_difference;
    o.user = &t;
    if (cip_diff(a, b, &o, &n, &err) != CIP_OK)
        fail_msg("%s", err.text);
    assert_string_equal(t.text, expected);
    for (const char *p = t.text; (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    if (o.max_told == 0)
        assert_int_equal(n, lines);
}

/* Two trees in ASDF files. */
static void trees_differ(const char *a, const char *b, cip_diff_options o, const char *expected)
{
    char *mem_a, *mem_b;
    cip_file *fa = test_open_asdf(a, &mem_a), *fb = test_open_asdf(b, &mem_b);
    differ(fa, fb, o, expected);
    cip_file_close(fa);
    cip_file_close(fb);
    free(mem_a);
    free(mem_b);
}

static const cip_diff_options plain = { 0 };

static void scalars_by_type_and_value(void **state)
{
    (void)state;
    trees_differ("{a: 16, b: [1, 2], c: {x: yes}}\n", "{c: {x: true}, b: [1, 2], a: 0x10}\n", plain,
                 "");
    trees_differ("{a: 1, b: 1.5, c: '1', d: x, e: null}\n", "{a: 1.0, b: 1.25, c: 1, d: y, e: ~}\n",
                 plain, "3 a: 1 and 1.0\n4 b: 1.5 and 1.25\n3 c: '1' and 1\n4 d: 'x' and 'y'\n");
    trees_differ("{a: .nan, b: -0.0, c: !!binary 'aG\n  k='}\n",
                 "{a: .NaN, b: 0.0, c: !!binary aGk=}\n", plain, "");
    trees_differ("{c: !!binary aGk=}\n", "{c: !!binary aGl=}\n", plain, "4 c: aGk= and aGl=\n");
    trees_differ("{a: [1, 2], b: {}}\n", "{a: {x: 1}, b: 5}\n", plain,
                 "3 a: a list and a mapping of 1\n3 b: a mapping of 0 and 5\n");
}

static void tolerance_makes_numbers_of_the_tree_equal(void **state)
{
    (void)state;
    const cip_diff_options o = { .rtol = 1e-2 };
    trees_differ("{a: 1, b: 1.5, c: 100, d: -.inf}\n", "{a: 1.0, b: 1.6, c: 101, d: 1.0e+300}\n", o,
                 "4 b: 1.5 and 1.6\n4 d: -.inf and 1.0e+300\n");
    trees_differ("{a: .nan, b: .nan}\n", "{a: .NaN, b: 1.0}\n", o, "4 b: .nan and 1.0\n");
}

static void what_one_file_alone_has(void **state)
{
    (void)state;
    trees_differ("{a: 1, l: [1, 2, 3], 1: x}\n", "{b: {c: 1}, l: [1], '1': x}\n", plain,
                 "1 a: only in the first file: 1\n"
                 "1 l/1: only in the first file: 2\n"
                 "1 l/2: only in the first file: 3\n"
                 "1 1: only in the first file: 'x'\n"
                 "2 b: only in the second file: a mapping of 1\n"
                 "2 1: only in the second file: 'x'\n");
}

static void keys_that_are_no_strings(void **state)
{
    (void)state;
    trees_differ("{0x10: a, 1.50: b, true: c, ? [1, 2] : d}\n",
                 "{1.5: b, 16: a, True: C, ? [1, 3] : d}\n", plain,
                 "4 true: 'c' and 'C'\n4 ?3/1: 2 and 3\n");
}

static void tags_unless_they_are_ignored(void **state)
{
    (void)state;
    const cip_diff_options o = { .ignore_tags = true };
    const char *a = "{q: !unit/unit-1.0.0 m, r: !<x:y> 5}\n", *b = "{q: m, r: !<x:z> 5}\n";
    trees_differ(a, b, plain,
                 "5 q: tags tag:stsci.edu:asdf/unit/unit-1.0.0 and none\n5 r: tags x:y and x:z\n");
    trees_differ(a, b, o, "");
}

static void bookkeeping_only_when_asked_for(void **state)
{
    (void)state;
    const cip_diff_options o = { .bookkeeping = true };
    const char *a = "{asdf_library: {name: a}, x: 1}\n", *b = "{history: [], x: 1}\n";
    trees_differ(a, b, plain, "");
    trees_differ(a, b, o,
                 "1 asdf_library: only in the first file: a mapping of 1\n"
                 "2 history: only in the second file: a list\n");
}

static void patterns_leave_out_what_is_below(void **state)
{
    (void)state;
    const char *const ignore[] = { "meta/*", "**/date" };
    const cip_diff_options o = { .ignore = ignore, .nignore = 2 };
    trees_differ("{meta: {a: {b: 1}, c: 2}, x: {date: 1, y: 1}}\n",
                 "{meta: {a: {b: 2}}, x: {date: 2, y: 3}}\n", o, "4 x/y: 1 and 3\n");
}

static void one_node_of_each(void **state)
{
    (void)state;
    cip_diff_options o = { .path_a = "a", .path_b = "b" };
    trees_differ("{a: {x: 1, y: 2}}\n", "{b: {x: 1, y: 3}}\n", o, "4 a/y: 2 and 3\n");
    char *mem_a, *mem_b;
    cip_file *fa = test_open_asdf("{a: 1}\n", &mem_a), *fb = test_open_asdf("{c: 1}\n", &mem_b);
    cip_err err = CIP_ERR_INIT;
    o.size = sizeof o;
    assert_int_equal(cip_diff(fa, fb, &o, NULL, &err), CIP_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "'b'"));
    cip_file_close(fa);
    cip_file_close(fb);
    free(mem_a);
    free(mem_b);
}

static void so_many_are_told_and_all_counted(void **state)
{
    (void)state;
    char *mem_a, *mem_b;
    cip_file *fa = test_open_asdf("[1, 2, 3, 4]\n", &mem_a),
             *fb = test_open_asdf("[2, 3, 4, 5]\n", &mem_b);
    uint64_t n;
    const cip_diff_options o = { .max_told = 2 };
    differ(fa, fb, o, "4 0: 1 and 2\n4 1: 2 and 3\n");
    assert_int_equal(cip_diff(fa, fb, NULL, &n, NULL), CIP_OK);
    assert_int_equal(n, 4);
    cip_file_close(fa);
    cip_file_close(fb);
    free(mem_a);
    free(mem_b);
}

static void trees_that_contain_themselves(void **state)
{
    (void)state;
    trees_differ("&a {x: 1, me: *a}\n", "&b {x: 2, me: *b}\n", plain, "4 x: 1 and 2\n");
    const cip_diff_options o = { .ignore_tags = true };
    trees_differ("&a {x: 1, me: *a}\n", "{x: 1, me: &b {x: 1, me: *b}}\n", o, "");
    trees_differ("&a {x: 1, me: *a}\n", "{x: 1, me: {x: 2, me: &b {x: 1, me: *b}}}\n", o,
                 "4 me/x: 1 and 2\n");
}

/* 10^12 nodes through aliases. */
#define LAUGHS                                                                                     \
    "{a: &a [x, x, x, x, x, x, x, x, x, x], b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a],\n"     \
    " c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b], d: &d [*c, *c, *c, *c, *c, *c, *c, *c],\n"   \
    " e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d], f: &f [*e, *e, *e, *e, *e, *e, *e, *e],\n"   \
    " g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f], h: &h [*g, *g, *g, *g, *g, *g, *g, *g],\n"   \
    " i: &i [*h, *h, *h, *h, *h, *h, *h, *h, *h, *h], j: &j [*i, *i, *i, *i, *i, *i, *i, *i]"

static void equal_aliases_are_compared_once(void **state)
{
    (void)state;
    const char *const ignore[] = { "j/7/7/**" };
    const cip_diff_options o = { .ignore = ignore, .nignore = 1 };
    trees_differ(LAUGHS ", k: 1}\n", LAUGHS ", k: 2}\n", plain, "4 k: 1 and 2\n");
    /* a pair is not the same where a part of it was passed over */
    trees_differ("{a: &a {x: &x {z: 1}}, b: *x}\n", "{a: &a {x: &x {z: 2}}, b: *x}\n",
                 (cip_diff_options){ .ignore = (const char *const[]){ "a/x/z" }, .nignore = 1 },
                 "4 b/z: 1 and 2\n");
    trees_differ(LAUGHS "}\n", LAUGHS "}\n", o, "");
}

static void nodes_are_counted_with_their_aliases(void **state)
{
    (void)state;
    static const char text[] = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n--- [1, 2, 3, 4]\n...\n";
    for (uint64_t most = 5; most >= 4; most--) {
        const cip_limits limits = { .size = sizeof limits, .max_expansion = most };
        const cip_open_options *how = CIP_OPEN_OPTIONS(.limits = &limits);
        cip_file *f;
        assert_int_equal(cip_open_memory(text, sizeof text - 1, how, &f, NULL), CIP_OK);
        assert_int_equal(cip_diff(f, f, NULL, NULL, NULL), most < 5 ? CIP_ERR_LIMIT : CIP_OK);
        cip_file_close(f);
    }
}

#define ARRAY(data, more) "!core/ndarray-1.1.0 {data: " data more "}"

static void arrays_in_trees(void **state)
{
    (void)state;
    trees_differ(
        "{a: " ARRAY("[1, 2, 3]", "") ", b: " ARRAY("[1.5]", "") ", c: 1}\n",
        "{a: " ARRAY("[1, 5, 3]", "") ", b: " ARRAY("[[1.5]]", "") ", c: " ARRAY("[1]", "") "}\n",
        plain,
        "3 c: 1 and an array\n"
        "8 a: 1 of 3 elements differ, first at [1]: 2 and 5; largest difference 3, "
        "relative 0.6\n"
        "7 b: [1] and [1, 1]\n");
    /* a second name of an array that is another one in the other file */
    trees_differ("{a: &x " ARRAY("[1]", "") ", b: *x}\n",
                 "{a: " ARRAY("[1]", "") ", b: " ARRAY("[2]", "") "}\n", plain,
                 "8 b: 1 of 1 elements differ, first at [0]: 1 and 2; largest difference 1, "
                 "relative 0.5\n");
    trees_differ("{a: " ARRAY("[1, null, 3]", "") "}\n", "{a: " ARRAY("[1, 2, null]", "") "}\n",
                 plain, "8 a: 2 of 3 elements differ, first at [1]: missing and 2\n");
    trees_differ("{a: " ARRAY("[1, null]", "") "}\n", "{a: " ARRAY("[1, 2]", "") "}\n", plain,
                 "8 a: 1 of 2 elements differ, first at [1]: missing and 2\n");
}

static void quantities_by_value_and_unit(void **state)
{
    (void)state;
#define QUANTITY(data, unit)                                                                       \
    "{q: !unit/quantity-1.2.0 {unit: " unit ", value: " ARRAY(data, "") "}}\n"
    trees_differ(QUANTITY("[1]", "m"), QUANTITY("[2]", "s"), plain,
                 "4 q/unit: 'm' and 's'\n"
                 "8 q/value: 1 of 1 elements differ, first at [0]: 1 and 2; largest difference 1, "
                 "relative 0.5\n");
}

static void arrays_that_cannot_be_read_are_no_equals(void **state)
{
    (void)state;
    const char *a = "{a: !core/ndarray-1.1.0 {source: 7, datatype: uint8, byteorder: little, "
                    "shape: [3]}}\n";
    trees_differ(a, a, plain,
                 "9 a: not readable in the first file: expected block 7 of the file, found 0 "
                 "blocks\n");
}

static void npy_differ(const char *descr_a, const void *a, size_t na, const char *descr_b,
                       const void *b, size_t nb, const char *shape, cip_diff_options o,
                       const char *expected)
{
    char *mem_a, *mem_b;
    cip_file *fa = test_open_npy(descr_a, shape, a, na, &mem_a);
    cip_file *fb = test_open_npy(descr_b, shape, b, nb, &mem_b);
    differ(fa, fb, o, expected);
    cip_file_close(fa);
    cip_file_close(fb);
    free(mem_a);
    free(mem_b);
}

static void integers_and_floats_without_rounding(void **state)
{
    (void)state;
    const int64_t i[] = { INT64_MAX, (1ll << 53) + 1, -1 };
    const double d[] = { 0x1p63, 0x1p53, -1 };
    const uint64_t u[] = { INT64_MAX, (1ull << 53) + 1, UINT64_MAX };
    npy_differ("'<i8'", i, sizeof i, "'<f8'", d, sizeof d, "(3,)", plain,
               "6 : int64 and float64\n"
               "8 : 2 of 3 elements differ, first at [0]: 9223372036854775807 and "
               "9.223372036854776e+18; largest difference 0, relative 0\n");
    npy_differ("'<i8'", i, sizeof i, "'<u8'", u, sizeof u, "(3,)", plain,
               "6 : int64 and uint64\n"
               "8 : 1 of 3 elements differ, first at [2]: -1 and 18446744073709551615; largest "
               "difference 1.84467e+19, relative 1\n");
}

static void nan_equals_nan_and_infinity_itself(void **state)
{
    (void)state;
    const cip_diff_options o = { .atol = 0.5 };
    const double a[] = { NAN, INFINITY, INFINITY, 0.0, 1, NAN },
                 b[] = { -NAN, INFINITY, -INFINITY, -0.0, 1.5, 1 };
    npy_differ("'<f8'", a, sizeof a, "'<f8'", b, sizeof b, "(2, 3)", plain,
               "8 : 3 of 6 elements differ, first at [0, 2]: inf and -inf; largest difference inf, "
               "relative 0.333333\n");
    npy_differ("'<f8'", a, sizeof a, "'<f8'", b, sizeof b, "(2, 3)", o,
               "8 : 2 of 6 elements differ, first at [0, 2]: inf and -inf; largest difference "
               "inf\n");
}

static void records_by_the_names_of_fields(void **state)
{
    (void)state;
    const uint8_t a[] = { 1, 0, 5, 2, 0, 6 }, b[] = { 5, 0, 1, 7, 0, 2 };
    npy_differ("[('x', '<u2'), ('y', '|u1')]", a, sizeof a, "[('y', '<u2'), ('x', '|u1')]", b,
               sizeof b, "(2,)", plain,
               "6 : {x: uint16, y: uint8} and {y: uint16, x: uint8}\n"
               "8 y: 1 of 2 elements differ, first at [1]: 6 and 7; largest difference 1, relative "
               "0.142857\n");
}

static void texts_without_their_padding(void **state)
{
    (void)state;
    npy_differ("'|S2'", "ab\0\0", 4, "'|S3'", "abc\0\0\0", 6, "(2,)", plain,
               "6 : ascii2 and ascii3\n"
               "8 : 1 of 2 elements differ, first at [0]: 'ab' and 'abc'\n");
    npy_differ("'|S1'", "ab", 2, "'|S2'", "ab\0\0", 4, "(2,)", plain,
               "6 : ascii1 and ascii2\n"
               "8 : 2 of 2 elements differ, first at [0]: 'a' and 'ab'\n");
}

static void records_of_one_type(void **state)
{
    (void)state;
    const char *type = "[('x', '<u2'), ('y', '|u1')]";
    const uint8_t a[] = { 1, 0, 5, 2, 0, 6 }, b[] = { 1, 0, 5, 2, 0, 7 };
    npy_differ(type, a, sizeof a, type, a, sizeof a, "(2,)", plain, "");
    npy_differ(type, a, sizeof a, type, b, sizeof b, "(2,)", plain,
               "8 y: 1 of 2 elements differ, first at [1]: 6 and 7; largest difference 1, relative "
               "0.142857\n");
    npy_differ(type, a, sizeof a, type, b, sizeof b, "(2,)",
               (cip_diff_options){ .ignore = (const char *const[]){ "y" }, .nignore = 1 }, "");
    npy_differ(type, a, sizeof a, "[('x', '<u2'), ('z', '|u1')]", b, sizeof b, "(2,)", plain,
               "6 : {x: uint16, y: uint8} and {x: uint16, z: uint8}\n");
}

static void types_that_are_not_compared(void **state)
{
    (void)state;
    npy_differ("'<i4'", "abcdefgh", 8, "'|S4'", "efghabcd", 8, "(2,)", plain,
               "6 : int32 and ascii4\n");
    npy_differ("'|V2'", "abcd", 4, "'|V2'", "abce", 4, "(2,)", plain,
               "8 : 1 of 2 elements differ, first at [1]: '\\x63\\x64' and '\\x63\\x65'\n");
    npy_differ("'|V2'", "abcd", 4, "'|V1'", "ac", 2, "(2,)", plain, "6 : bytes2 and bytes1\n");
}

static void truths_are_compared_without_tolerance(void **state)
{
    (void)state;
    const cip_diff_options o = { .atol = 1 };
    npy_differ("'|b1'", "\1\0", 2, "'|b1'", "\1\1", 2, "(2,)", o,
               "8 : 1 of 2 elements differ, first at [1]: False and True; largest difference 1, "
               "relative 1\n");
    npy_differ("'|u1'", "\1\0", 2, "'|b1'", "\1\1", 2, "(2,)", o, "6 : uint8 and bool\n");
}

static void every_batch_is_compared(void **state)
{
    (void)state;
    uint8_t a[600] = { 0 }, b[600] = { 0 };
    b[599] = 1;
    npy_differ("'|u1'", a, sizeof a, "'|i1'", b, sizeof b, "(600,)", plain,
               "6 : uint8 and int8\n8 : 1 of 600 elements differ, first at [599]: 0 and 1; largest "
               "difference 1, relative 1\n");
}

static int stop(void *user, const cip_difference *x)
{
    (void)user;
    (void)x;
    return 1;
}

static int stop_progress(void *user, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return ++*(int *)user > 1;
}

static void callers_can_stop(void **state)
{
    (void)state;
    char *mem;
    int calls = 0;
    cip_file *f = test_open_npy("'<i4'", "(2,)", "abcdefgh", 8, &mem), *g;
    char *other;
    g = test_open_npy("'<i4'", "(2,)", "abcdefgi", 8, &other);
    assert_int_equal(cip_diff(f, g, CIP_DIFF_OPTIONS(.on_difference = stop), NULL, NULL),
                     CIP_ERR_CANCELLED);
    assert_int_equal(
        cip_diff(f, g, CIP_DIFF_OPTIONS(.progress = stop_progress, .user = &calls), NULL, NULL),
        CIP_ERR_CANCELLED);
    cip_file_close(f);
    cip_file_close(g);
    free(mem);
    free(other);
}

typedef struct heard {
    uint64_t done, total;
} heard;

static int hear(void *user, uint64_t done, uint64_t total)
{
    *(heard *)user = (heard){ done, total };
    return 0;
}

static void an_array_and_something_else(void **state)
{
    (void)state;
    char *mem_a, *mem_b, *mem_c;
    heard h = { 0 };
    cip_file *f = test_open_asdf("{a: " ARRAY("[1, 2]", "") ", b: 1}\n", &mem_a);
    cip_file *one = test_open_asdf("{x: {y: " ARRAY("[1, 3]", "") "}}\n", &mem_b);
    static const int64_t elems[] = { 1, 2 };
    cip_file *npy = test_open_npy("'<i8'", "(2,)", elems, sizeof elems, &mem_c);
    differ(f, f, (cip_diff_options){ .path_a = "a", .path_b = "b" },
           "3 a: an array and no array\n");
    differ(f, f, (cip_diff_options){ .path_a = "b", .path_b = "a" },
           "3 b: no array and an array\n");
    /* the only array of each, in files of two formats */
    differ(npy, one, plain,
           "8 : 1 of 2 elements differ, first at [1]: 2 and 3; largest difference 1, relative "
           "0.333333\n");
    assert_int_equal(cip_diff(npy, one, CIP_DIFF_OPTIONS(.progress = hear, .user = &h), NULL, NULL),
                     CIP_OK);
    assert_true(h.done == 16 && h.total == 16);
    cip_file_close(f);
    cip_file_close(one);
    cip_file_close(npy);
    free(mem_a);
    free(mem_b);
    free(mem_c);
}

static void files_without_a_tree(void **state)
{
    (void)state;
    char *mem;
    static const char none[] = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n";
    cip_file *f = test_open_asdf("{a: 1}\n", &mem), *g;
    assert_int_equal(cip_open_memory(none, sizeof none - 1, NULL, &g, NULL), CIP_OK);
    differ(f, g, plain, "1 : only in the first file: a mapping of 1\n");
    differ(g, f, plain, "2 : only in the second file: a mapping of 1\n");
    differ(g, g, plain, "");
    cip_file_close(f);
    cip_file_close(g);
    free(mem);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_npy("'<i4'", "(2,)", "abcdefgh", 8, &mem);
    const char *const none[] = { NULL };
    assert_int_equal(cip_diff(f, f, CIP_DIFF_OPTIONS(.rtol = -1), NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_diff(f, f, CIP_DIFF_OPTIONS(.atol = NAN), NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_diff(f, f, CIP_DIFF_OPTIONS(.path_b = "x"), NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_diff(f, f, CIP_DIFF_OPTIONS(.nignore = 1), NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_diff(f, f, CIP_DIFF_OPTIONS(.ignore = none, .nignore = 1), NULL, NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_diff(f, NULL, NULL, NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_diff(f, f, NULL, NULL, NULL), CIP_OK);
    cip_file_close(f);
    free(mem);
}

static void too_little_memory_is_no_difference(void **state)
{
    (void)state;
    const cip_limits limits = { .size = sizeof limits, .max_memory = 1 << 16 };
    size_t n;
    void *zeros = calloc(1, 1 << 16);
    char *mem = test_npy("'<f8'", "(8192,)", 0, zeros, 1 << 16, &n);
    cip_file *f;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.limits = &limits), &f, &err),
                     CIP_OK);
    assert_int_equal(cip_diff(f, f, NULL, NULL, &err), CIP_ERR_LIMIT);
    assert_non_null(strstr(err.text, "exceeds the memory limit"));
    cip_file_close(f);
    free(mem);
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_by_type_and_value),
        cmocka_unit_test(tolerance_makes_numbers_of_the_tree_equal),
        cmocka_unit_test(what_one_file_alone_has),
        cmocka_unit_test(keys_that_are_no_strings),
        cmocka_unit_test(tags_unless_they_are_ignored),
        cmocka_unit_test(bookkeeping_only_when_asked_for),
        cmocka_unit_test(patterns_leave_out_what_is_below),
        cmocka_unit_test(one_node_of_each),
        cmocka_unit_test(so_many_are_told_and_all_counted),
        cmocka_unit_test(trees_that_contain_themselves),
        cmocka_unit_test(equal_aliases_are_compared_once),
        cmocka_unit_test(nodes_are_counted_with_their_aliases),
        cmocka_unit_test(arrays_in_trees),
        cmocka_unit_test(quantities_by_value_and_unit),
        cmocka_unit_test(arrays_that_cannot_be_read_are_no_equals),
        cmocka_unit_test(integers_and_floats_without_rounding),
        cmocka_unit_test(nan_equals_nan_and_infinity_itself),
        cmocka_unit_test(records_by_the_names_of_fields),
        cmocka_unit_test(records_of_one_type),
        cmocka_unit_test(texts_without_their_padding),
        cmocka_unit_test(types_that_are_not_compared),
        cmocka_unit_test(truths_are_compared_without_tolerance),
        cmocka_unit_test(every_batch_is_compared),
        cmocka_unit_test(an_array_and_something_else),
        cmocka_unit_test(files_without_a_tree),
        cmocka_unit_test(callers_can_stop),
        cmocka_unit_test(too_little_memory_is_no_difference),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
