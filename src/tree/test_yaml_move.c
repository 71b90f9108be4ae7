/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/fail_alloc.h"
#include "support/tree/yaml_edit_testing.h"

typedef struct move_case {
    const char *before, *from, *to, *after; /* after NULL: refused */
} move_case;

static void run(void **state, const move_case *c, size_t n, bool replace, cip_status refused)
{
    bench *b = *state;
    for (size_t i = 0; i < n; i++) {
        cip_yaml_edit *e = start(b, c[i].before);
        b->err = (cip_err)CIP_ERR_INIT;
        cip_status st = cip_yaml_edit_move(e, c[i].from, c[i].to, replace, &b->err);
        if (c[i].after != NULL && st != CIP_OK)
            fail_msg("%s, at %s to %s in: %s", b->err.text, c[i].from, c[i].to, c[i].before);
        if (c[i].after == NULL && st != refused)
            fail_msg("%d, at %s to %s in: %s", st, c[i].from, c[i].to, c[i].before);
        has_text(e, c[i].after != NULL ? c[i].after : c[i].before);
        cip_yaml_edit_free(e);
    }
}

#define RUN(cases) run(state, (cases), sizeof(cases) / sizeof *(cases), false, CIP_ERR_UNSUPPORTED)

static void a_key_is_renamed_where_it_stands(void **state)
{
    static const move_case cases[] = {
        { "a: 1 # one\nb: 2\n", "a", "c", "c: 1 # one\nb: 2\n" },
        { "a: # why\n  # in\n  b: !t {x: 1}\nc: 2\n", "a", "d",
          "d: # why\n  # in\n  b: !t {x: 1}\nc: 2\n" },
        { "x: {a: 1, b: [2]}\n", "x/b", "x/c d", "x: {a: 1, c d: [2]}\n" },
        { "a: &k |+\n  t\n\nb: *k\n", "a", "z", "z: &k |+\n  t\n\nb: *k\n" },
        { "'a': 1\n", "a", "8", "'8': 1\n" },
        { "? a\n: 1\n", "a", "b", "? b\n: 1\n" },
        { "{a, b: 1}\n", "a", "c", "{c, b: 1}\n" },
        { "&k a: 1\nb: *k\n", "a", "c", "c: 1\nb: &k a\n" },
        { "\xc3\xa9: 1\nb: 2\n", "b", "\xe2\x82\xac", "\xc3\xa9: 1\n\xe2\x82\xac: 2\n" },
        { "a: 1\r\nb: 2\r\n", "b", "c", "a: 1\r\nc: 2\r\n" },
    };
    RUN(cases);
}

static void a_node_goes_to_the_end_of_another_collection(void **state)
{
    static const move_case cases[] = {
        { "a: 1 # one\nb:\n  c: 2\nd: 3\n", "a", "b/a", "b:\n  c: 2\n  a: 1 # one\nd: 3\n" },
        { "a:\n    # in\n    x: |\n      t\n\n      u\n    y: [1,\n     2]\nb:\n  c: 2\n", "a",
          "b/z",
          "b:\n  c: 2\n  z:\n      # in\n      x: |\n        t\n\n        u\n      y: [1,\n       "
          "2]\n" },
        { "b:\n  c:\n    d: 1\n    e: !t\n      f: 2\n", "b/c/e", "e",
          "b:\n  c:\n    d: 1\ne: !t\n  f: 2\n" },
        { "b:\n  c:\n    e: 2 # last\ng: 1\n", "b/c/e", "b/e",
          "b:\n  c: {}\n  e: 2 # last\ng: 1\n" },
        { "b:\n  c:\n    d: 1\n    e: 2\ng: 1\n", "b/c/e", "b/e",
          "b:\n  c:\n    d: 1\n  e: 2\ng: 1\n" },
        { "a: {x: 1, w: [2, 3]}\nb: 1\n", "a/w", "w", "a: {x: 1}\nb: 1\nw: [2, 3]\n" },
        { "a: {x: 1}\nb: 'it''s'\n", "b", "a/c", "a: {x: 1, c: 'it''s'}\n" },
        { "a: {x: 1}\nb: !t\n  - 1\n  - c: 2\n", "b", "a/c",
          "a: {x: 1, c: !<tag:stsci.edu:asdf/t> [1, {c: 2}]}\n" },
        { "a: {x: 1}\nb: 1, 2\n", "b", "a/c", "a: {x: 1, c: '1, 2'}\n" },
        { "a:\n- b: 1\n  c: 2\n- 3\nd: 4\n", "a/0", "e", "a:\n- 3\nd: 4\ne:\n  b: 1\n  c: 2\n" },
        { "a:\n- 1\n- 2\nd: # why\n  e: 4\n", "d", "a/-", "a:\n- 1\n- 2\n- # why\n  e: 4\n" },
        { "a:\n- 1\nd:\n- 4\n- 5\n", "d", "a/1", "a:\n- 1\n-\n  - 4\n  - 5\n" },
        { "a:\n- 1\n- 2\nb:\n- 3\n", "a/0", "b/-", "a:\n- 2\nb:\n- 3\n- 1\n" },
        { "a: &k 1\nb:\n  c: *k\n", "b/c", "d", "a: &k 1\nb: {}\nd: *k\n" },
        { "a: &k 1\nb:\n  c: &l [*k]\n  d: *l\n", "b", "e",
          "a: &k 1\ne:\n  c: &l [*k]\n  d: *l\n" },
        { "a:\nb:\n  c: 1\n", "a", "b/a", "b:\n  c: 1\n  a:\n" },
        { "a: |+\n  t\n\nb:\n  c: |+\n    u\n\n", "b/c", "c",
          "a: |+\n  t\n\nb: {}\n\nc: |+\n  u\n\n" },
        { "a: 1\r\nb:\r\n  c: 2\r\n", "a", "b/a", "b:\r\n  c: 2\r\n  a: 1\r\n" },
    };
    RUN(cases);
}

static void missing_parents_are_made(void **state)
{
    static const move_case cases[] = {
        { "a: 1 # one\nb: 2\n", "a", "x/w/z", "b: 2\nx:\n  w:\n    z: 1 # one\n" },
        { "a: 1\nb:\n  c:\n    d: 2\n", "b", "x/-/w",
          "a: 1\nx:\n  -\n    w:\n      c:\n        d: 2\n" },
        { "a: {b: {c: 1}, d: 2}\n", "a/b", "a/x/w", "a: {d: 2, x: {w: {c: 1}}}\n" },
        { "a: {b: 1, d: 2}\n", "a/b", "a/x/-", "a: {d: 2, x: [ 1]}\n" },
    };
    RUN(cases);
}

static void what_cannot_move_is_refused(void **state)
{
    static const move_case unsupported[] = {
        { "a: &k 1\nb: *k\nc:\n  d: 1\n", "a", "c/a", NULL }, /* its alias would come first */
        { "b:\n  c: 1\na: &k 1\nd: *k\n", "d", "b/d", NULL }, /* the same */
        { "a: 1\nb: 2\na: 3\n", "a", "c", NULL },             /* the other would show */
        { "a: [1, 2]\n", "a/0", "a/-", NULL },                /* order within a list */
        { "x: &k {a: 1}\ny:\n  <<: *k\n  b: 2\n", "y/a", "c", NULL },  /* merged */
        { "a: {x: 1}\nb:\n  c: 2 # why\n  d: 3\n", "b", "a/c", NULL }, /* the comment would go */
        { "a: 1\n", "", "c", NULL },
    };
    RUN(unsupported);
    static const move_case wrong[] = {
        { "a: 1\nb: 2\n", "a", "b", NULL },
        { "a: 1\nb: 2\n", "a", "a", NULL },
        { "a: {b: 1}\n", "a", "a/c", NULL },
        { "a: {b: 1}\n", "a", "a/c/d", NULL },
        { "a: &x {b: 1}\nd: *x\n", "d", "d/c", NULL }, /* it would hold itself */
        { "a: &x {b: 1}\nd: *x\n", "d", "a/c", NULL },
        { "a: &x {b: 1}\ne: {k: [*x]}\n", "e", "a/c/d", NULL },
        { "a: 1\nb: [2]\n", "a", "b/0", NULL },
        { "x: &k {a: 1}\ny:\n  <<: *k\n  b: 2\n", "y/b", "y/a", NULL },
        { "a: 1\nb: 2\n", "a", "\xff", NULL },
        { "a: 1\nb: 2\n", "a", "", NULL },
    };
    run(state, wrong, sizeof wrong / sizeof *wrong, false, CIP_ERR_ARG);
    static const move_case missing[] = {
        { "a: 1\n", "b", "c", NULL },
        { "", "b", "c", NULL },
        { "a: 1\nb: [2]\n", "a", "b/5", NULL },
    };
    run(state, missing, sizeof missing / sizeof *missing, false, CIP_ERR_NOT_FOUND);
    static const move_case type[] = { { "a: 1\nb: 2\n", "a", "b/c", NULL } };
    run(state, type, 1, false, CIP_ERR_TYPE);
}

static void a_node_in_the_way_is_replaced_on_demand(void **state)
{
    static const move_case cases[] = {
        { "a: 1\nb: 2\nc: 3\n", "a", "b", "b: 1\nc: 3\n" },
        { "a: 1\nb:\n  c: 3\n", "a", "b/c", "b: {c: 1}\n" },
        { "a: 1\nb: 2\n", "a", "c", "c: 1\nb: 2\n" },
    };
    run(state, cases, sizeof cases / sizeof *cases, true, CIP_ERR_ARG);
    static const move_case wrong[] = {
        { "a: {b: {c: 1}, d: 1}\n", "a/b/c", "a", NULL },
        { "a: 1\nb: 2\n", "a", "a", NULL },
        { "a: {b: 1}\n", "a", "a/b", NULL },
    };
    run(state, wrong, sizeof wrong / sizeof *wrong, true, CIP_ERR_ARG);
    static const move_case item[] = { { "a: 1\nb: [2]\n", "a", "b/0", NULL } };
    run(state, item, 1, true, CIP_ERR_UNSUPPORTED);
}

static void sets_that_wait_are_done_before(void **state)
{
    bench *b = *state;
    const cip_node *value;
    cip_yaml_edit *e = start(b, "a: 1\nb: 2\n");
    assert_int_equal(cip_yaml_value(&b->env, &b->arena, "5", NULL, &value, &b->err), CIP_OK);
    assert_int_equal(cip_yaml_edit_queue(e, "c/d", value, &b->err), CIP_OK);
    assert_int_equal(cip_yaml_edit_move(e, "c/d", "e", false, &b->err), CIP_OK);
    assert_int_equal(cip_yaml_edit_move(e, "a", "c/a", false, &b->err), CIP_OK);
    has_text(e, "b: 2\nc: {a: 1}\ne: 5\n");
    cip_yaml_edit_free(e);
}

static void memory_that_fails_leaves_the_text(void **state)
{
    (void)state;
    const char *text = "a: 1\nb:\n  c: 2\n";
    for (size_t n = 1;; n++) {
        fail_alloc f = { 0 };
        const cip_allocator from = { fail_alloc_resize, &f };
        bench b;
        bench_start(&b, &from);
        cip_yaml_edit *e = start(&b, text);
        f.requests = 0;
        f.fail_at = n;
        cip_status st = cip_yaml_edit_move(e, "a", "b/c", true, NULL);
        const bool through = f.requests < n;
        assert_true(st == CIP_OK || (st == CIP_ERR_NOMEM && !through));
        has_text(e, st == CIP_OK ? "b: {c: 1}\n" : text);
        cip_yaml_edit_free(e);
        bench_end(&b);
        assert_int_equal(f.held, 0);
        if (through)
            break;
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)
    const struct CMUnitTest tests[] = {
        TEST(a_key_is_renamed_where_it_stands),
        TEST(a_node_goes_to_the_end_of_another_collection),
        TEST(missing_parents_are_made),
        TEST(what_cannot_move_is_refused),
        TEST(a_node_in_the_way_is_replaced_on_demand),
        TEST(sets_that_wait_are_done_before),
        TEST(memory_that_fails_leaves_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
