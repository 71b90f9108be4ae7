/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "support/tree/tree_testing.h"

typedef struct journal {
    char text[4096];
    size_t n;
    uint64_t visits;
    const char *skip, *stop; /* paths */
    int stop_with;
} journal;

static int note(void *user, const cip_visit *v)
{
    journal *l = user;
    l->visits++;
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%u:%s%s%s%s;", v->depth,
                             v->path, v->again ? "!" : "", v->key != NULL ? "=" : "",
                             v->key == NULL         ? ""
                             : v->key->text == NULL ? "[]"
                                                    : v->key->text);
    assert_non_null(v->node);
    if (l->stop != NULL && strcmp(v->path, l->stop) == 0)
        return l->stop_with;
    return l->skip != NULL && strcmp(v->path, l->skip) == 0;
}

static int count(void *user, const cip_visit *v)
{
    (void)v;
    ++*(uint64_t *)user;
    return 0;
}

static void nodes_are_visited_in_order_with_paths(void **state)
{
    bench *b = *state;
    journal l = { 0 };
    const cip_node *root = parse(b, "a: {x: 1, y/z: [2, 3]}\n'': 4\n? [k]\n: [5]\nlast: []\n");
    assert_int_equal(cip_tree_walk(root, &b->env, note, &l, NULL), CIP_OK);
    assert_string_equal(l.text, "0:;1:a=a;2:a/x=x;2:a/y~1z=y/z;3:a/y~1z/0;3:a/y~1z/1;1:/=;"
                                "1:?2=[];2:?2/0;1:last=last;");
}

static void children_can_be_skipped(void **state)
{
    bench *b = *state;
    journal l = { .skip = "a" };
    const cip_node *root = parse(b, "a: {x: 1}\nb: [2]\n");
    assert_int_equal(cip_tree_walk(root, &b->env, note, &l, NULL), CIP_OK);
    assert_string_equal(l.text, "0:;1:a=a;1:b=b;2:b/0;");
}

static void the_walk_can_be_stopped(void **state)
{
    bench *b = *state;
    static const int answers[] = { 2, -1, 100 };
    const cip_node *root = parse(b, "a: {x: 1}\nb: [2]\n");
    for (size_t i = 0; i < 3; i++) {
        journal l = { .stop = "a/x", .stop_with = answers[i] };
        b->err = (cip_err)CIP_ERR_INIT;
        assert_int_equal(cip_tree_walk(root, &b->env, note, &l, &b->err), CIP_ERR_CANCELLED);
        assert_string_equal(l.text, "0:;1:a=a;2:a/x=x;");
        assert_int_equal(b->err.code, CIP_ERR_CANCELLED);
    }
}

static void scalars_and_nothing_are_roots_too(void **state)
{
    bench *b = *state;
    journal l = { 0 };
    assert_int_equal(cip_tree_walk(parse(b, "x"), &b->env, note, &l, NULL), CIP_OK);
    assert_string_equal(l.text, "0:;");
    assert_int_equal(cip_tree_walk(NULL, &b->env, note, &l, NULL), CIP_OK);
    assert_string_equal(l.text, "0:;");
}

static void what_is_not_filled_is_passed_over(void **state)
{
    bench *b = *state;
    journal l = { 0 };
    cip_node *seq;
    cip_node_new_seq(&b->arena, 2, &seq, NULL);
    cip_node_set_item(seq, 1, parse(b, "x"));
    assert_int_equal(cip_tree_walk(seq, &b->env, note, &l, NULL), CIP_OK);
    assert_string_equal(l.text, "0:;1:1;");
}

static void shared_nodes_are_visited_on_each_way(void **state)
{
    bench *b = *state;
    journal l = { 0 };
    const cip_node *root = parse(b, "a: &a [1]\nb: *a\n");
    assert_int_equal(cip_tree_walk(root, &b->env, note, &l, NULL), CIP_OK);
    assert_string_equal(l.text, "0:;1:a=a;2:a/0;1:b=b;2:b/0;");
}

static void cycles_are_given_once_more_and_not_entered(void **state)
{
    bench *b = *state;
    journal l = { 0 };
    const cip_node *root = parse(b, "&r\na: &a [*r, *a, [*a]]\nb: *a\n");
    assert_int_equal(cip_tree_walk(root, &b->env, note, &l, NULL), CIP_OK);
    assert_string_equal(l.text, "0:;1:a=a;2:a/0!;2:a/1!;2:a/2;3:a/2/0!;"
                                "1:b=b;2:b/0!;2:b/1!;2:b/2;3:b/2/0!;");
}

static void visits_are_bounded(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "a: &a [1, 2, 3]\nb: [*a, *a]\n"); /* 14 visits */
    uint64_t n = 0;
    b->env.limits.max_expansion = 14;
    assert_int_equal(cip_tree_walk(root, &b->env, count, &n, NULL), CIP_OK);
    assert_int_equal(n, 14);
    b->env.limits.max_expansion = 13;
    n = 0;
    assert_int_equal(cip_tree_walk(root, &b->env, count, &n, &b->err), CIP_ERR_LIMIT);
    assert_int_equal(n, 13);
    assert_string_equal(b->err.text, "expected at most 13 nodes, aliases counted, found more");
}

static void depth_is_bounded(void **state)
{
    bench *b = *state;
    /* three deep as text, five deep through aliases */
    const cip_node *root = parse(b, "- &a [[1]]\n- &b [*a]\n- [*b]\n");
    uint64_t n = 0;
    b->env.limits.max_depth = 5;
    assert_int_equal(cip_tree_walk(root, &b->env, count, &n, NULL), CIP_OK);
    b->env.limits.max_depth = 4;
    assert_int_equal(cip_tree_walk(root, &b->env, count, &n, &b->err), CIP_ERR_LIMIT);
    assert_string_equal(b->err.text,
                        "expected at most 4 collections inside each other, found more");
}

static cip_status walk(bench *b)
{
    const cip_node *root;
    uint64_t n = 0;
    const char *text = "a: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]\n"
                       "0123456789012345678901234567890123456789: {012345678901234567890123456789: "
                       "[1]}\n";
    CIP_TRY(cip_yaml_parse(&b->env, &b->arena, bytes_of(text), NULL, &root, &b->err));
    return cip_tree_walk(root, &b->env, count, &n, &b->err);
}

static void no_memory_for_a_walk_is_reported(void **state)
{
    (void)state;
    every_allocation_may_fail(walk);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nodes_are_visited_in_order_with_paths),
        TEST(children_can_be_skipped),
        TEST(the_walk_can_be_stopped),
        TEST(scalars_and_nothing_are_roots_too),
        TEST(what_is_not_filled_is_passed_over),
        TEST(shared_nodes_are_visited_on_each_way),
        TEST(cycles_are_given_once_more_and_not_entered),
        TEST(visits_are_bounded),
        TEST(depth_is_bounded),
        cmocka_unit_test(no_memory_for_a_walk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
