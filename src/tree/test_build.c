/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tree/edit.h"
#include "support/tree/tree_testing.h"

static const cip_node *value(bench *b, const char *text)
{
    const cip_node *node = NULL;
    assert_int_equal(cip_yaml_value(&b->env, &b->arena, text, "tag:t/", &node, &b->err), CIP_OK);
    return node;
}

static void put(bench *b, cip_build *t, const char *path, const char *text)
{
    assert_int_equal(cip_build_set(t, path, value(b, text), &b->err), CIP_OK);
}

static void has_line(bench *b, const cip_node *node, bool flow, const char *expected)
{
    b->out.len = 0;
    assert_int_equal(cip_yaml_emit_line(&b->env, node, "tag:t/", flow, &b->out, &b->err), CIP_OK);
    assert_int_equal(cip_buf_nul(&b->out, NULL), CIP_OK);
    assert_string_equal((const char *)b->out.ptr, expected);
}

static void parents_are_made(void **state)
{
    bench *b = *state;
    cip_build t = { .arena = &b->arena };
    put(b, &t, "a/b/c", "1");
    put(b, &t, "/a/b/d", "x");
    put(b, &t, "l/-", "1");
    put(b, &t, "l/1", "2");
    put(b, &t, "l/-/t", "3");
    put(b, &t, "a/b/c", "7");
    put(b, &t, "l/0", "5");
    put(b, &t, "q~1r", "~");
    put(b, &t, "k/0/0", "1");
    put(b, &t, "k/1", "2");
    put(b, &t, "m/1", "3"); /* no first item: a key */
    has_line(b, t.root, false,
             "{a: {b: {c: 7, d: x}}, l: [5, 2, {t: 3}], q/r: ~, k: [[1], 2], m: {'1': 3}}");
}

static void the_last_change_is_taken_back(void **state)
{
    bench *b = *state;
    cip_build t = { .arena = &b->arena };
    static const char *const paths[] = { "new", "new/a/b", "m/k", "m/n/o", "l/-", "l/0", "l/-/x" };
    put(b, &t, "m/k/0", "1");
    cip_build_undo(&t);
    assert_null(t.root);
    put(b, &t, "m/k", "1");
    put(b, &t, "l/-", "[2]");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        put(b, &t, paths[i], "{x: 1}");
        cip_build_undo(&t);
        has_line(b, t.root, false, "{m: {k: 1}, l: [[2]]}");
    }
    assert_int_equal(cip_build_set(&t, "m/k/x", value(b, "1"), &b->err), CIP_ERR_TYPE);
    has_line(b, t.root, false, "{m: {k: 1}, l: [[2]]}");
    put(b, &t, "", "{a: 1}");
    cip_build_undo(&t);
    has_line(b, t.root, false, "{m: {k: 1}, l: [[2]]}");
}

static void a_tree_that_is_marked_stays(void **state)
{
    bench *b = *state;
    cip_build t = { .arena = &b->arena };
    put(b, &t, "a/b", "1");
    put(b, &t, "l/-", "2");
    for (int i = 0; i < 2; i++) {
        cip_node *marked = cip_build_mark(&t);
        put(b, &t, "a/b", "3");
        put(b, &t, "a/c/d", "4");
        put(b, &t, "l/-", "5");
        assert_int_equal(cip_build_remove(&t, "a/b", &b->err), CIP_OK);
        has_line(b, t.root, false, "{a: {c: {d: 4}}, l: [2, 5]}");
        has_line(b, marked, false, "{a: {b: 1}, l: [2]}");
        cip_build_return(&t, marked);
        has_line(b, t.root, false, "{a: {b: 1}, l: [2]}");
    }
}

static void order_is_that_of_the_first_change(void **state)
{
    bench *b = *state;
    cip_build t = { .arena = &b->arena };
    for (int i = 0; i < 100; i++) {
        char key[24];
        snprintf(key, sizeof key, "m/k%d", i);
        put(b, &t, key, "1");
        put(b, &t, "s/-", "1");
    }
    put(b, &t, "m/k3", "2");
    const cip_node *m = cip_tree_get(t.root, "m", NULL);
    assert_int_equal(cip_node_len(m), 100);
    assert_int_equal(cip_node_len(cip_tree_get(t.root, "s", NULL)), 100);
    assert_string_equal(cip_node_text(cip_node_key(m, 99), NULL), "k99");
    assert_string_equal(cip_node_text(cip_node_at(m, 3), NULL), "2");
}

static void values_are_never_written_to(void **state)
{
    bench *b = *state;
    const cip_node *v = value(b, "!x {a: [1, 2], b: {c: 1}}");
    cip_build t = { .arena = &b->arena }, u = { .arena = &b->arena };
    assert_int_equal(cip_build_set(&t, "v", v, NULL), CIP_OK);
    assert_int_equal(cip_build_set(&t, "w", v, NULL), CIP_OK);
    put(b, &t, "v/a/0", "9");
    put(b, &t, "v/b/d", "9");
    has_line(b, v, false, "!x {a: [1, 2], b: {c: 1}}");
    assert_int_equal(cip_build_set(&u, "t", t.root, NULL), CIP_OK);
    put(b, &u, "t/v/b/d", "10");
    assert_int_equal(cip_build_remove(&u, "t/w/a", NULL), CIP_OK);
    has_line(b, t.root, false,
             "{v: !x {a: [9, 2], b: {c: 1, d: 9}}, w: !x {a: [1, 2], b: {c: 1}}}");
    has_line(b, u.root, false, "{t: {v: !x {a: [9, 2], b: {c: 1, d: 10}}, w: !x {b: {c: 1}}}}");
}

static void a_whole_tree_may_be_given(void **state)
{
    bench *b = *state;
    cip_build t = { .arena = &b->arena };
    const cip_node *v = value(b, "!x {a: 1}");
    assert_int_equal(cip_build_set(&t, "", v, NULL), CIP_OK);
    put(b, &t, "b", "2");
    has_line(b, t.root, false, "!x {a: 1, b: 2}");
    assert_int_equal(cip_node_len(v), 1);
    assert_int_equal(cip_build_set(&t, "", value(b, "5"), NULL), CIP_ERR_TYPE);
    has_line(b, t.root, false, "!x {a: 1, b: 2}");
    t = (cip_build){ .arena = &b->arena, .root = (cip_node *)v };
    put(b, &t, "b", "2");
    assert_int_equal(cip_node_len(v), 1);
    assert_int_equal(cip_node_len(t.root), 2);
}

static void nodes_are_removed(void **state)
{
    bench *b = *state;
    cip_build t = { .arena = &b->arena };
    put(b, &t, "", "{a: {b: 1, c: 2, d: 3}, l: [1, 2, 3]}");
    assert_int_equal(cip_build_remove(&t, "a/c", NULL), CIP_OK);
    assert_int_equal(cip_build_remove(&t, "l/0", NULL), CIP_OK);
    assert_int_equal(cip_build_remove(&t, "l/1", NULL), CIP_OK);
    has_line(b, t.root, false, "{a: {b: 1, d: 3}, l: [2]}");
    assert_int_equal(cip_build_remove(&t, "l/1", NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_build_remove(&t, "l/-", NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_build_remove(&t, "x", &b->err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_build_remove(&t, "x/y", NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_build_remove(&t, "", NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_build_remove(&t, "a", NULL), CIP_OK);
    has_line(b, t.root, false, "{l: [2]}");
}

static void many_keys_are_found_by_an_index(void **state)
{
    bench *b = *state;
    char path[32];
    cip_node *seven, *eight;
    cip_build t = { .arena = &b->arena };
    assert_int_equal(cip_node_new_int(&b->arena, 7, &seven, NULL), CIP_OK);
    assert_int_equal(cip_node_new_int(&b->arena, 8, &eight, NULL), CIP_OK);
    for (int round = 0; round < 2; round++) /* the second finds them all */
        for (int i = 0; i < 100; i++) {
            snprintf(path, sizeof path, "m/k%d", i);
            assert_int_equal(cip_build_set(&t, path, round == 0 ? seven : eight, NULL), CIP_OK);
        }
    const cip_node *m = cip_map_get(t.root, "m");
    assert_true(m->indexed);
    assert_int_equal(m->len, 100);
    for (int i = 0; i < 100; i += 3) {
        snprintf(path, sizeof path, "m/k%d", i);
        assert_int_equal(cip_build_remove(&t, path, NULL), CIP_OK);
    }
    assert_int_equal(m->len, 66);
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "k%d", i);
        assert_ptr_equal(cip_map_get(m, path), i % 3 == 0 ? NULL : eight);
    }
}

static void a_mapping_that_came_as_a_value_gets_an_index(void **state)
{
    bench *b = *state;
    cip_buf text = { .mem = &b->env.mem };
    cip_build t = { .arena = &b->arena };
    for (int i = 0; i < 40; i++)
        assert_int_equal(cip_buf_addf(&text, NULL, "%s%d: %d", i == 0 ? "{" : ", ", i, i), CIP_OK);
    assert_int_equal(cip_buf_addf(&text, NULL, ", '7': x, [1]: y}"), CIP_OK);
    assert_int_equal(cip_buf_nul(&text, NULL), CIP_OK);
    put(b, &t, "", (const char *)text.ptr);
    put(b, &t, "\"7\"", "z"); /* the string, not the integer */
    put(b, &t, "39", "w");
    put(b, &t, "new", "1");
    assert_true(t.root->indexed);
    assert_int_equal(t.root->len, 43);
    assert_true(cip_node_is_string(cip_map_get(t.root, "7"), "z"));
    assert_int_equal(t.root->pair[7].value->u, 7);
    assert_true(cip_node_is_string(t.root->pair[39].value, "w"));
    cip_buf_clear(&text);
}

static void places_that_cannot_be_are_refused(void **state)
{
    bench *b = *state;
    cip_build t = { .arena = &b->arena };
    put(b, &t, "", "{a: 1, l: [1]}");
    const cip_node *one = value(b, "1");
    assert_int_equal(cip_build_set(&t, "a/b", one, NULL), CIP_ERR_TYPE);
    assert_int_equal(cip_build_set(&t, "l/0/b", one, NULL), CIP_ERR_TYPE);
    assert_int_equal(cip_build_set(&t, "l/2", one, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_build_set(&t, "l/x", one, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_build_set(&t, NULL, one, NULL), CIP_ERR_ARG);
    has_line(b, t.root, false, "{a: 1, l: [1]}");
}

static void lines_hold_any_value(void **state)
{
    bench *b = *state;
    static const struct {
        const char *value, *line, *in_flow;
    } cases[] = {
        { "a", "a", "a" },
        { "a, b", "a, b", "'a, b'" },
        { "'5'", "'5'", "'5'" },
        { "0o17", "'0o17'", "'0o17'" },
        { "|\n  x\n  y\n", "\"x\\ny\\n\"", "\"x\\ny\\n\"" },
        { "a:\n- 1\n- b: {}\n", "{a: [1, {b: {}}]}", "{a: [1, {b: {}}]}" },
        { "!x 1", "!x 1", "!x 1" },
        { "!<tag:u/y> [1]", "!<tag:u/y> [1]", "!<tag:u/y> [1]" },
        { "? [1]\n: 2", "{? [1] : 2}", "{? [1] : 2}" },
        { "[&x {a: 1}, *x]", "[&x {a: 1}, *x]", "[&x {a: 1}, *x]" },
        { "", "null", "null" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cip_node *v = value(b, cases[i].value);
        has_line(b, v, false, cases[i].line);
        has_line(b, v, true, cases[i].in_flow);
    }
}

static void long_lines_are_not_wrapped(void **state)
{
    bench *b = *state;
    cip_build t = { .arena = &b->arena };
    for (int i = 0; i < 500; i++)
        put(b, &t, "s/-", "word");
    b->out.len = 0;
    assert_int_equal(cip_yaml_emit_line(&b->env, t.root, NULL, false, &b->out, &b->err), CIP_OK);
    assert_int_equal(b->out.len, strlen("{s: []}") + 500 * 6 - 2);
    assert_null(memchr(b->out.ptr, '\n', b->out.len));
}

static cip_status work(bench *b)
{
    const cip_node *v;
    cip_build t = { .arena = &b->arena };
    CIP_TRY(cip_yaml_value(&b->env, &b->arena, "{x: [1]}", NULL, &v, NULL));
    for (int i = 0; i < 20; i++)
        CIP_TRY(cip_build_set(&t, "a/-", v, NULL));
    CIP_TRY(cip_build_set(&t, "a/3/x/-", v, NULL));
    return cip_build_remove(&t, "a/3/x/0", NULL);
}

static void memory_that_fails_is_reported(void **state)
{
    (void)state;
    every_allocation_may_fail(work);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)
    const struct CMUnitTest tests[] = {
        TEST(parents_are_made),
        TEST(the_last_change_is_taken_back),
        TEST(a_tree_that_is_marked_stays),
        TEST(order_is_that_of_the_first_change),
        TEST(values_are_never_written_to),
        TEST(a_whole_tree_may_be_given),
        TEST(nodes_are_removed),
        TEST(many_keys_are_found_by_an_index),
        TEST(a_mapping_that_came_as_a_value_gets_an_index),
        TEST(places_that_cannot_be_are_refused),
        TEST(lines_hold_any_value),
        TEST(long_lines_are_not_wrapped),
        TEST(memory_that_fails_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
