/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "tree/node.h"
#include "support/tree/tree_testing.h"

static void assert_at(bench *b, const cip_node *root, const char *path, const char *text)
{
    const cip_node *n = cip_tree_get(root, path, &b->err);
    if (n == NULL || n->text == NULL || strcmp(n->text, text) != 0)
        fail_msg("at \"%s\": expected %s, found %s", path, text, n == NULL ? b->err.text : n->text);
}

static void assert_missing(bench *b, const cip_node *root, const char *path, const char *message)
{
    b->err = (cip_err)CIP_ERR_INIT;
    assert_null(cip_tree_get(root, path, &b->err));
    assert_int_equal(b->err.code, CIP_ERR_NOT_FOUND);
    assert_string_equal(b->err.text, message);
    assert_true(b->err.offset == CIP_NO_OFFSET);
}

static void paths_lead_to_nodes(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "a: {b: [x, {c: deep}]}\n"
                                    "'': {'': empty, k: under empty}\n"
                                    "s/l: slash\n"
                                    "t~l: tilde\n"
                                    "~1: tilde one\n"
                                    "7: seven\n"
                                    "yes: bool\n"
                                    "long: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ten, eleven]\n"
                                    "s/: {~: nul}\n");
    assert_ptr_equal(cip_tree_get(root, "", NULL), root);
    assert_at(b, root, "a/b/0", "x");
    assert_at(b, root, "/a/b/0", "x");
    assert_at(b, root, "a/b/1/c", "deep");
    assert_at(b, root, "//", "empty");
    assert_at(b, root, "//k", "under empty");
    assert_at(b, root, "s~1l", "slash");
    assert_at(b, root, "/s~1l", "slash");
    assert_at(b, root, "t~0l", "tilde");
    assert_at(b, root, "t~l", "tilde"); /* an escape that is none */
    assert_at(b, root, "~01", "tilde one");
    assert_at(b, root, "7", "seven");
    assert_at(b, root, "yes", "bool");
    assert_at(b, root, "long/10", "ten");
    assert_at(b, root, "long/0", "0");
    assert_at(b, root, "s~1/~0", "nul");
    assert_at(b, root, "s~1/~", "nul");
    assert_int_equal(cip_node_kind(cip_tree_get(root, "/", NULL)), CIP_NODE_MAP);
}

static void the_step_that_is_missing_is_named(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "a: {b: [x, y], c: 1}");
    assert_missing(b, root, "a/x/y", "no node 'a/x'");
    assert_missing(b, root, "/a/x", "no node 'a/x'");
    assert_missing(b, root, "b", "no node 'b'");
    static const char *const items[] = { "2",         "-1", "01", "1x",
                                         ":",         "",   "~0", "18446744073709551616",
                                         "4294967296" };
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        char path[64], text[128];
        snprintf(path, sizeof path, "a/b/%s", items[i]);
        snprintf(text, sizeof text, "no node 'a/b/%s': 'a/b' has 2 items", items[i]);
        assert_missing(b, root, path, text);
    }
    assert_missing(b, root, "a/c/d", "no node 'a/c/d': 'a/c' is a scalar");
    assert_missing(b, root, "a/c/d/e", "no node 'a/c/d': 'a/c' is a scalar");
    assert_missing(b, root, "a~1b", "no node 'a~1b'");
    assert_missing(b, root, "a/", "no node 'a/'");
    assert_missing(
        b, root,
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901",
        "no node "
        "'01234567890123456789012345678901234567890123456789012345678901234567890123456789'");
}

static void item_numbers_have_ten_digits_at_most(void **state)
{
    bench *b = *state;
    cip_node *seq;
    assert_int_equal(cip_node_new_seq(&b->arena, 12, &seq, NULL), CIP_OK);
    for (size_t i = 0; i < 12; i++) {
        cip_node *n;
        cip_node_new_uint(&b->arena, i, &n, NULL);
        cip_node_set_item(seq, i, n);
    }
    assert_int_equal(cip_node_step(seq, bytes_of("9"))->u, 9);
    assert_int_equal(cip_node_step(seq, bytes_of("10"))->u, 10);
    assert_int_equal(cip_node_step(seq, bytes_of("11"))->u, 11);
    assert_null(cip_node_step(seq, bytes_of("12")));
    assert_null(cip_node_step(seq, bytes_of("00000000001")));
    assert_null(cip_node_step(seq, bytes_of("/")));
    assert_null(cip_node_step(cip_node_at(seq, 0), bytes_of("0")));
    seq->len = 1; /* lies far beyond */
    assert_null(cip_node_step(seq, bytes_of("9999999999")));
}

static void keys_of_other_types_come_before_strings(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "1: int\n'1': str\n!!binary a~b: bin\na~b: str2\n!!binary "
                                    "c~d: bin2\n!!null c~d: null");
    assert_at(b, root, "1", "int");
    assert_at(b, root, "\"1\"", "str");
    assert_at(b, root, "a~0b", "bin");
    assert_at(b, root, "\"a~0b\"", "str2");
    assert_at(b, root, "c~0d", "bin2");
}

static void steps_match_their_escapes_only(void **state)
{
    static const struct {
        const char *escaped, *text;
        bool same;
    } cases[] = {
        { "a", "a", true },           { "a", "b", false },
        { "a", "ab", false },         { "ab", "a", false },
        { "~0", "~", true },          { "~1", "/", true },
        { "~1", "~", false },         { "~0", "/", false },
        { "~01", "~1", true },        { "~2", "~2", true },
        { "~", "~", true },           { "~1~1", "//", true },
        { "a~1b~0c", "a/b~c", true }, { "a~1", "a", false },
        { "a", "a/", false },         { "", "", true },
        { "", "a", false },           { "~0", "", false },
        { "~0", "~0", false },        { "~1a", "/", false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(cip_path_step_is(bytes_of(cases[i].escaped), bytes_of(cases[i].text)),
                         cases[i].same);
}

static void paths_are_built_as_they_are_read(void **state)
{
    static const struct {
        const char *steps[3];
        size_t n;
        const char *path;
    } cases[] = {
        { { "a" }, 1, "a" },
        { { "a", "b" }, 2, "a/b" },
        { { "" }, 1, "/" },
        { { "", "" }, 2, "//" },
        { { "", "a" }, 2, "//a" },
        { { "a", "" }, 2, "a/" },
        { { "a/b", "c~d", "~1" }, 3, "a~1b/c~0d/~01" },
        { { "/", "~" }, 2, "~1/~0" },
        { { "x/y/z" }, 1, "x~1y~1z" },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const cip_node *leaf = parse(b, "leaf");
        for (size_t k = cases[i].n; k > 0; k--) {
            cip_node *map, *key;
            cip_node_new_map(&b->arena, 1, &map, NULL);
            cip_node_new_string(&b->arena, cases[i].steps[k - 1], strlen(cases[i].steps[k - 1]),
                                &key, NULL);
            cip_node_set_pair(map, 0, key, leaf);
            leaf = map;
        }
        b->out.len = 0;
        for (size_t k = 0; k < cases[i].n; k++)
            assert_int_equal(cip_path_add(&b->out, bytes_of(cases[i].steps[k]), NULL), CIP_OK);
        cip_buf_nul(&b->out, NULL);
        assert_string_equal((char *)b->out.ptr, cases[i].path);
        assert_at(b, leaf, cases[i].path, "leaf");
    }
    b->out.len = 0;
    assert_int_equal(cip_path_add(&b->out, (cip_bytes){ NULL, 0 }, NULL), CIP_OK);
    assert_int_equal(b->out.len, 1);
}

static void getters_check_type_and_range(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "i: -3\nu: 18446744073709551615\nbig: 18446744073709551616\n"
                                    "f: 2.5\nb: yes\ns: text\nn: ~\nt: 2001-01-01\nseq: []\n"
                                    "map: {}\nx: !!binary AA==\n");
    double f = 7;
    int64_t i = 7;
    uint64_t u = 7;
    bool t = false;
    const char *s = "7";
    assert_int_equal(cip_tree_get_double(root, "f", &f, NULL), CIP_OK);
    assert_true(f == 2.5);
    assert_int_equal(cip_tree_get_double(root, "i", &f, NULL), CIP_OK);
    assert_true(f == -3.0);
    assert_int_equal(cip_tree_get_double(root, "u", &f, &b->err), CIP_ERR_RANGE);
    assert_string_equal(b->err.text, "expected an integer that a double can hold, found "
                                     "18446744073709551615");
    assert_int_equal(cip_tree_get_double(root, "big", &f, NULL), CIP_ERR_RANGE);
    cip_err_clear(&b->err);
    assert_int_equal(cip_tree_get_double(root, "s", &f, &b->err), CIP_ERR_TYPE);
    assert_string_equal(b->err.text, "expected a number, found a string");
    assert_int_equal(cip_tree_get_double(root, "none", &f, NULL), CIP_ERR_NOT_FOUND);
    assert_true(f == -3.0);

    assert_int_equal(cip_tree_get_int(root, "i", &i, NULL), CIP_OK);
    assert_int_equal(i, -3);
    cip_err_clear(&b->err);
    assert_int_equal(cip_tree_get_int(root, "u", &i, &b->err), CIP_ERR_RANGE);
    assert_string_equal(b->err.text, "expected an integer of 64 bits, found 18446744073709551615");
    assert_int_equal(cip_tree_get_int(root, "big", &i, NULL), CIP_ERR_RANGE);
    cip_err_clear(&b->err);
    assert_int_equal(cip_tree_get_int(root, "f", &i, &b->err), CIP_ERR_TYPE);
    assert_string_equal(b->err.text, "expected an integer, found a float");
    assert_int_equal(i, -3);

    assert_int_equal(cip_tree_get_uint(root, "u", &u, NULL), CIP_OK);
    assert_true(u == UINT64_MAX);
    cip_err_clear(&b->err);
    assert_int_equal(cip_tree_get_uint(root, "i", &u, &b->err), CIP_ERR_RANGE);
    assert_string_equal(b->err.text, "expected an unsigned integer of 64 bits, found -3");
    assert_int_equal(cip_tree_get_uint(root, "big", &u, NULL), CIP_ERR_RANGE);
    cip_err_clear(&b->err);
    assert_int_equal(cip_tree_get_uint(root, "b", &u, &b->err), CIP_ERR_TYPE);
    assert_string_equal(b->err.text, "expected an integer, found a bool");
    assert_true(u == UINT64_MAX);

    assert_int_equal(cip_tree_get_bool(root, "b", &t, NULL), CIP_OK);
    assert_true(t);
    cip_err_clear(&b->err);
    assert_int_equal(cip_tree_get_bool(root, "n", &t, &b->err), CIP_ERR_TYPE);
    assert_string_equal(b->err.text, "expected a bool, found null");
    cip_err_clear(&b->err);
    assert_int_equal(cip_tree_get_bool(root, "seq", &t, &b->err), CIP_ERR_TYPE);
    assert_string_equal(b->err.text, "expected a bool, found a sequence");

    assert_int_equal(cip_tree_get_string(root, "s", &s, NULL), CIP_OK);
    assert_string_equal(s, "text");
    static const struct {
        const char *path, *what;
    } others[] = { { "t", "expected a string, found a timestamp" },
                   { "map", "expected a string, found a mapping" },
                   { "x", "expected a string, found binary data" },
                   { "i", "expected a string, found an integer" },
                   { "big", "expected a string, found an integer" } };
    for (size_t k = 0; k < 5; k++) {
        cip_err_clear(&b->err);
        assert_int_equal(cip_tree_get_string(root, others[k].path, &s, &b->err), CIP_ERR_TYPE);
        assert_string_equal(b->err.text, others[k].what);
    }
    assert_string_equal(s, "text");
}

static void integers_are_doubles_when_they_are_exactly(void **state)
{
    static const struct {
        const char *text;
        cip_status st;
    } cases[] = {
        { "0", CIP_OK },
        { "9007199254740991", CIP_OK },
        { "9007199254740992", CIP_OK },
        { "9007199254740993", CIP_ERR_RANGE },
        { "-9007199254740993", CIP_ERR_RANGE },
        { "-9007199254740992", CIP_OK },
        { "9007199254740994", CIP_OK },
        { "18014398509481986", CIP_ERR_RANGE },
        { "18014398509481988", CIP_OK },
        { "18446744073709549568", CIP_OK },
        { "18446744073709549569", CIP_ERR_RANGE },
        { "18446744073709550592", CIP_ERR_RANGE },
        { "-9223372036854775808", CIP_OK },
        { "-9223372036854775807", CIP_ERR_RANGE },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double f = 0;
        assert_int_equal(cip_tree_get_double(parse(b, cases[i].text), "", &f, NULL), cases[i].st);
        if (cases[i].st == CIP_OK)
            assert_true(f == strtod(cases[i].text, NULL));
    }
}

static void null_passes_the_error_on(void **state)
{
    bench *b = *state;
    cip_err err = CIP_ERR_INIT;
    int64_t i = 7;
    assert_null(cip_tree_get(NULL, "a", &err));
    assert_int_equal(err.code, CIP_ERR_ARG);
    assert_null(cip_tree_get(NULL, "a", NULL));
    assert_int_equal(cip_tree_get_int(NULL, "a", &i, NULL), CIP_ERR_ARG);
    cip_err before = { .code = CIP_ERR_IO, .offset = 5, .part = "part", .text = "text" };
    err = before;
    assert_int_equal(cip_tree_get_int(NULL, "a", &i, &err), CIP_ERR_IO);
    assert_null(cip_tree_get(NULL, "a", &err));
    assert_memory_equal(&err, &before, sizeof err);
    assert_int_equal(i, 7);
    const cip_node *root = parse(b, "a: 1");
    err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_tree_get_int(cip_tree_get(root, "x", &err), "y", &i, &err),
                     CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_tree_get_int(root, NULL, &i, &err), CIP_ERR_ARG);
}

/* The path of each pair, as it is listed, leads to the pair's value. */
static void assert_listed(bench *b, const cip_node *map, const char *const *steps)
{
    for (size_t i = 0; i < map->len; i++) {
        b->out.len = 0;
        assert_int_equal(cip_path_add_pair(&b->out, map, i, cip_map_is_plain(map), &b->err),
                         CIP_OK);
        cip_buf_nul(&b->out, NULL);
        assert_string_equal((const char *)b->out.ptr, steps[i]);
        assert_ptr_equal(cip_tree_get(map, steps[i], NULL), cip_node_at(map, i));
    }
}

static const cip_node *with_many(bench *b, const char *text, size_t filler)
{
    b->out.len = 0;
    cip_buf_addf(&b->out, NULL, "%s", text);
    for (size_t i = 0; i < filler; i++)
        cip_buf_addf(&b->out, NULL, "filler%zu: x\n", i);
    cip_buf_nul(&b->out, NULL);
    return parse(b, (const char *)b->out.ptr);
}

static void collections_as_keys_have_numbers_for_steps(void **state)
{
    static const char *const steps[] = { "a", "?1" };
    assert_listed(*state, parse(*state, "a: 1\n? [x]\n: 2\n"), steps);
}

/* A C string would end at it, and name another key. */
static void keys_with_a_nul_have_numbers_for_steps(void **state)
{
    static const char *const steps[] = { "a", "?1", "?2", "\"?1\"", "?7" };
    assert_listed(*state, parse(*state, "a: 1\n\"a\\0b\": 2\n\"\\0\": 3\n\"?1\": 4\n\"?7\": 5\n"),
                  steps);
}

static void of_keys_that_look_alike_the_string_is_in_double_quotes(void **state)
{
    static const char text[] = "1: int\n\"1\": string\n0x2: hex\n'2': s\n'3': alone\n4: alone\n"
                               "true: bool\n'true': s\n~: null\n'~': s\n1.5: f\n'1.5': s\n"
                               "2001-01-02: day\n'2001-01-02': s\n";
    static const char *const steps[] = {
        "1",          "\"1\"",          "0x2", "\"2\"",  "3",   "4",
        "true",       "\"true\"",       "~0",  "\"~0\"", "1.5", "\"1.5\"",
        "2001-01-02", "\"2001-01-02\"", "x",   "y",      "z"
    };
    bench *b = *state;
    for (size_t filler = 0; filler <= 40; filler += 40) {
        const cip_node *map = with_many(b, text, filler);
        assert_int_equal(map->len, 14 + filler);
        cip_node small = *map;
        small.len = 14;
        if (!map->indexed)
            assert_listed(b, &small, steps);
        for (size_t i = 0; i < 14; i++)
            assert_ptr_equal(cip_tree_get(map, steps[i], NULL), cip_node_at(map, i));
        assert_true(cip_node_is_string(cip_tree_get(map, "2", NULL), "hex"));
        assert_true(cip_node_is_string(cip_tree_get(map, "\"3\"", NULL), "alone"));
        assert_null(cip_tree_get(map, "\"4\"", NULL));
        assert_null(cip_tree_get(map, "\"0x2\"", NULL));
    }
}

static void quotes_that_belong_to_a_key_are_quoted_where_they_would_mislead(void **state)
{
    static const char *const alone[] = { "\"1\"" };
    static const char *const all[] = { "1", "\"1\"", "\"\"1\"\"", "\"", "\"\"" };
    static const char *const escaped[] = { "a~1b", "\"a~1b\"", "\"\"a~1b\"\"" };
    bench *b = *state;
    assert_listed(b, parse(b, "'\"1\"': a\n"), alone);
    assert_listed(b, parse(b, "1: a\n'1': b\n'\"1\"': c\n'\"': d\n'\"\"': e\n"), all);
    assert_listed(b, parse(b, "!!binary a/b: a\n'a/b': b\n'\"a/b\"': c\n"), escaped);
}

static void empty_keys_that_look_alike_have_steps(void **state)
{
    static const char *const steps[] = { "/", "\"\"" };
    assert_listed(*state, parse(*state, "? \n: null\n'': s\n"), steps);
}

/* In another language a pointer's step is the text of a string, whatever else is there. */
static void a_json_pointer_takes_the_string(void **state)
{
    bench *b = *state;
    const cip_node *map = parse(b, "1: int\n\"1\": string\n2: int\n'\"2\"': s\n");
    assert_ptr_equal(cip_tree_pointer(map, "/1", NULL), cip_node_at(map, 1));
    assert_ptr_equal(cip_tree_pointer(map, "2", NULL), cip_node_at(map, 2));
    assert_ptr_equal(cip_tree_pointer(map, "\"2\"", NULL), cip_node_at(map, 3));
    assert_null(cip_tree_pointer(map, "\"1\"", NULL));
}

static cip_status add_long_path(bench *b)
{
    static const char step[] = "0123456789/0123456789~0123456789";
    b->out.mem = &b->env.mem;
    for (int i = 0; i < 100; i++)
        CIP_TRY(cip_path_add(&b->out, bytes_of(step), &b->err));
    return CIP_OK;
}

static void no_memory_for_a_path_is_reported(void **state)
{
    (void)state;
    every_allocation_may_fail(add_long_path);
}

static void paths_are_split_as_they_are_read(void **state)
{
    static const struct {
        const char *path;
        size_t n;
        const char *steps; /* each with a bar behind it */
    } cases[] = {
        { "", 0, "" },
        { "/", 1, "|" },
        { "a", 1, "a|" },
        { "/a", 1, "a|" },
        { "a/b", 2, "a|b|" },
        { "a//b/", 4, "a||b||" },
        { "~1~0~2~", 1, "/~~2~|" },
        { "a~1b/~01", 2, "a/b|~1|" },
    };
    bench *b = *state;
    cip_bytes *step;
    size_t n;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char all[64] = "";
        assert_int_equal(cip_path_split(&b->arena, cases[i].path, &step, &n, NULL), CIP_OK);
        assert_int_equal(n, cases[i].n);
        for (size_t k = 0; k < n; k++) {
            strncat(all, (const char *)step[k].ptr, step[k].len);
            strcat(all, "|");
        }
        assert_string_equal(all, cases[i].steps);
    }
    assert_int_equal(cip_path_split(&b->arena, NULL, &step, &n, NULL), CIP_ERR_ARG);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(paths_lead_to_nodes),
        TEST(the_step_that_is_missing_is_named),
        TEST(item_numbers_have_ten_digits_at_most),
        TEST(keys_of_other_types_come_before_strings),
        cmocka_unit_test(steps_match_their_escapes_only),
        TEST(paths_are_built_as_they_are_read),
        TEST(paths_are_split_as_they_are_read),
        TEST(getters_check_type_and_range),
        TEST(integers_are_doubles_when_they_are_exactly),
        TEST(null_passes_the_error_on),
        TEST(collections_as_keys_have_numbers_for_steps),
        TEST(keys_with_a_nul_have_numbers_for_steps),
        TEST(of_keys_that_look_alike_the_string_is_in_double_quotes),
        TEST(quotes_that_belong_to_a_key_are_quoted_where_they_would_mislead),
        TEST(empty_keys_that_look_alike_have_steps),
        TEST(a_json_pointer_takes_the_string),
        cmocka_unit_test(no_memory_for_a_path_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
