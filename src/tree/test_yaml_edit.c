/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/fail_alloc.h"
#include "support/tree/yaml_edit_testing.h"

static cip_status set(bench *b, cip_yaml_edit *e, const char *path, const char *value)
{
    const cip_node *node;
    b->err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_yaml_value(&b->env, &b->arena, value, PREFIX, &node, &b->err), CIP_OK);
    return cip_yaml_edit_set(e, path, node, &b->err);
}

typedef struct edit_case {
    const char *before, *path, *value, *after; /* value NULL: removed; after NULL: refused */
} edit_case;

/* A set that is done later is the same one, or is refused then by its path. */
static void run_queued(bench *b, const edit_case *c)
{
    const cip_node *value;
    cip_yaml_edit *e = start(b, c->before);
    assert_int_equal(cip_yaml_value(&b->env, &b->arena, c->value, PREFIX, &value, NULL), CIP_OK);
    cip_status st = cip_yaml_edit_queue(e, c->path, value, NULL);
    if (st == CIP_OK)
        st = cip_yaml_edit_flush(e, NULL);
    assert_int_equal(st, c->after != NULL ? CIP_OK : CIP_ERR_UNSUPPORTED);
    has_text(e, c->after != NULL ? c->after : c->before);
    cip_yaml_edit_free(e);
}

static void run(void **state, const edit_case *c, size_t n)
{
    bench *b = *state;
    for (size_t i = 0; i < n; i++) {
        cip_yaml_edit *e = start(b, c[i].before);
        b->err = (cip_err)CIP_ERR_INIT;
        cip_status st = c[i].value == NULL ? cip_yaml_edit_remove(e, c[i].path, &b->err)
                                           : set(b, e, c[i].path, c[i].value);
        if (c[i].after != NULL && st != CIP_OK)
            fail_msg("%s, at %s in: %s", b->err.text, c[i].path, c[i].before);
        if (c[i].after == NULL)
            assert_int_equal(st, CIP_ERR_UNSUPPORTED);
        has_text(e, c[i].after != NULL ? c[i].after : c[i].before);
        cip_yaml_edit_free(e);
        if (c[i].value != NULL)
            run_queued(b, &c[i]);
    }
}

#define RUN(cases) run(state, (cases), sizeof(cases) / sizeof *(cases))

static void scalars_are_replaced_where_they_stand(void **state)
{
    static const edit_case cases[] = {
        { "a: 1 # one\nb: 2\n", "a", "7", "a: 7 # one\nb: 2\n" },
        { "a: 1\nb: 2", "b", "x y", "a: 1\nb: x y" },
        { "a:   'it''s'  \n", "a", "5", "a:   5  \n" },
        { "a: \"x\"\n", "/a", "'5'", "a: '5'\n" },
        { "a: one\n  two\n  three\nb: 2\n", "a", "x", "a: x\nb: 2\n" },
        { "a: 'one\n\n  two'\nb: 2\n", "a", "x", "a: x\nb: 2\n" },
        { "a: |\n  one\n  two\n\nb: 2\n", "a", "x", "a: x\n\nb: 2\n" },
        { "a: >+\n  one\n\n\nb: 2\n", "a", "x", "a: x\n\n\nb: 2\n" },
        { "a: |-\nb: 2\n", "a", "x", "a: x\nb: 2\n" },
        { "a:\n  one\nb: 2\n", "a", "x", "a:\n  x\nb: 2\n" },
        { "a:\nb:\n", "a", "x", "a: x\nb:\n" },
        { "a: # why\nb:\n", "a", "x", "a: x # why\nb:\n" },
        { "a:   \nb:\n", "b", "x", "a:   \nb: x\n" },
        { "- 1\n-\n- # c\n- 4", "1", "x", "- 1\n- x\n- # c\n- 4" },
        { "- 1\n-\n- # c\n- 4", "2", "x", "- 1\n-\n- x # c\n- 4" },
        { "{a: 1, b: , c}\n", "b", "2", "{a: 1, b: 2 , c}\n" },
        { "{a: 1, b: , c}\n", "c", "2", "{a: 1, b: , c: 2}\n" },
        { "{a: 1, b, c}\n", "b", "2", "{a: 1, b: 2, c}\n" },
        { "{\"a\":1}\n", "a", "x", "{\"a\":x}\n" },
        { "[1, 2]\n", "0", "'a, b'", "['a, b', 2]\n" },
        { "a: x\n", "a", "'b, c'", "a: 'b, c'\n" },
        { "? a\n: 1\n? b\n: 2\n", "a", "x", "? a\n: x\n? b\n: 2\n" },
        { "8: a\ntrue: b\n", "8", "x", "8: x\ntrue: b\n" },
        { "8: a\ntrue: b\n", "true", "x", "8: a\ntrue: x\n" },
        { "8: a\n'8': b\n", "8", "x", "8: x\n'8': b\n" },
        { "8: a\n'8': b\n", "\"8\"", "x", "8: a\n'8': x\n" },
        { "'8': b\n8: a\n", "8", "x", "'8': b\n8: x\n" },
        { "'8': b\n0x8: a\n", "8", "x", "'8': b\n0x8: x\n" },
        { "'8': b\n", "8", "x", "'8': x\n" },
        { "'8': b\n", "\"8\"", "x", "'8': x\n" },
        { "'\"8\"': b\n", "\"8\"", "x", "'\"8\"': x\n" },
        { "8: {a: 1}\n'8': {a: 2}\n", "\"8\"/a", "x", "8: {a: 1}\n'8': {a: x}\n" },
        { "true: a\n'true': b\nTrue: c\n", "True", "x", "true: a\n'true': b\nTrue: x\n" },
        { "0x10: a\n", "16", "x", "0x10: x\n" },
        { "0x10: a\n16: b\n", "16", "x", "0x10: a\n16: x\n" },
        { "16: b\n0x10: a\n", "16", "x", "16: b\n0x10: x\n" },
        { "-0x1: a\n", "-1", "x", "-0x1: x\n" },
        { "1.50: a\n", "1.5", "x", "1.50: a\n'1.5': x\n" },
        { "b: 1\n? [k]\n: 1\n", "?1", "x", "b: 1\n? [k]\n: x\n" },
        { "b: 1\n? [k]\n: {y: 1}\n", "?1/y", "x", "b: 1\n? [k]\n: {y: x}\n" },
        { "b: 1\n? [k]\n: 1\n", "?0", "x", "b: 1\n? [k]\n: 1\n'?0': x\n" },
        { "b: 1\n? [k]\n: 1\n", "?", "x", "b: 1\n? [k]\n: 1\n'?': x\n" },
        { "a: 1\n1: 2\n1: 3\n", "1", "x", "a: 1\n1: 2\n1: x\n" },
        { "a: 1\nb: 2\na: 3\n", "a", "x", "a: 1\nb: 2\na: x\n" },
        { "a/b: 1\n~: 2\n", "a~1b", "x", "a/b: x\n~: 2\n" },
        { "a/b: 1\n~: 2\n", "~0", "x", "a/b: 1\n~: x\n" },
        { "a: !t 1\nb: 2\n", "a", "5", "a: 5\nb: 2\n" },
        { "a: !t\nb: 2\n", "a", "5", "a: 5\nb: 2\n" },
        { "a: 1\n", "a", "!core/complex-1.0.0 1+2j",
          "a: !<tag:stsci.edu:asdf/core/complex-1.0.0> 1+2j\n" },
        { "--- !core/x\n", "a", "!core/y 1", "--- !core/x\na: !<tag:stsci.edu:asdf/core/y> 1\n" },
        { "\xc3\xa9: \xe2\x82\xac # \xf0\x9f\x99\x82\nb: \xc3\xa9t\xc3\xa9\n", "b", "x",
          "\xc3\xa9: \xe2\x82\xac # \xf0\x9f\x99\x82\nb: x\n" },
        { "a: 1\n", "a", "\"x\\ny\"", "a: \"x\\ny\"\n" },
        { "a: 1\n", "a", "{b: [1, {c: d}], e: 'f: g'}", "a: {b: [1, {c: d}], e: 'f: g'}\n" },
        { "a: 1\n", "a", "b, c", "a: b, c\n" },
        { "? \n: 1\nb: 2\n", "/", "x", "? \n: x\nb: 2\n" },
        { "x:\n- a: 1\n  b: 2\n", "x/0/b", "3", "x:\n- a: 1\n  b: 3\n" },
    };
    RUN(cases);
}

static void collections_are_replaced(void **state)
{
    static const edit_case cases[] = {
        { "a: {b: 1} # c\nd: 2\n", "a", "7", "a: 7 # c\nd: 2\n" },
        { "a: [\n  1,\n  2 ]\nd: 2\n", "a", "7", "a: 7\nd: 2\n" },
        { "a: # why\n  # more\n  b: 1 # one\n  c: 2\n# next\nd: 2\n", "a", "7",
          "a: 7 # why\n  # more\n# next\nd: 2\n" },
        { "a:\n- 1\n- 2\n\nd: 2\n", "a", "7", "a: 7\n\nd: 2\n" },
        { "a: !t\n  b: 1\nd: 2\n", "a", "7", "a: 7\nd: 2\n" },
        { "a:\n  !t\n  b: 1\nd: 2\n", "a", "7", "a: 7\nd: 2\n" },
        { "- a: 1\n  b: 2\n- 2\n", "0", "7", "- 7\n- 2\n" },
        { "-\n  a: 1\n  b: 2\n- 2\n", "0", "7", "-\n  7\n- 2\n" },
        { "- - 1\n  - 2\n- 2\n", "0", "[]", "- []\n- 2\n" },
        { "a:\n  b: |+\n    text\n\nd: 2\n", "a", "7", "a: 7\n\nd: 2\n" },
        { "a:\n  b: [x,\n y] # c\n# d\n", "a", "7", "a: 7\n# d\n" },
    };
    RUN(cases);
}

static void pairs_are_inserted(void **state)
{
    static const edit_case cases[] = {
        { "a: 1\n", "b", "2", "a: 1\nb: 2\n" },
        { "a: 1", "b", "2", "a: 1\nb: 2" },
        { "a: 1 # one\n# end\n...\n", "b", "2", "a: 1 # one\nb: 2\n# end\n...\n" },
        { "--- !core/asdf-1.1.0\na: 1\n...\n", "b", "2",
          "--- !core/asdf-1.1.0\na: 1\nb: 2\n...\n" },
        { "a:\n  x: 1\n\n# next\nc: 3\n", "a/w", "2", "a:\n  x: 1\n  w: 2\n\n# next\nc: 3\n" },
        { "a:\n    x: 1\nc: 3\n", "a/w/z", "2", "a:\n    x: 1\n    w: {z: 2}\nc: 3\n" },
        { "- a: 1\n  b:\n  - 1\n- 2\n", "0/c", "x", "- a: 1\n  b:\n  - 1\n  c: x\n- 2\n" },
        { "- - a: 1\n", "0/0/b", "x", "- - a: 1\n    b: x\n" },
        { "a: {}\n", "a/b", "2", "a: {b: 2}\n" },
        { "a: {x: 1}\n", "a/b", "2", "a: {x: 1, b: 2}\n" },
        { "a: {x: 1, }\n", "a/b", "2", "a: {x: 1, b: 2 }\n" },
        { "a: {\n  x: 1, # one\n  y: 2 # two\n  }\n", "a/b", "2",
          "a: {\n  x: 1, # one\n  y: 2, b: 2 # two\n  }\n" },
        { "a: {x: 1,#one\n  }\n", "a/b", "2", "a: {x: 1, b: 2 #one\n  }\n" },
        { "a: {x: [1, {y: 2}]}\n", "a/b", "2", "a: {x: [1, {y: 2}], b: 2}\n" },
        { "a: {x}\n", "a/b", "2", "a: {x, b: 2}\n" },
        { "a: {x: }\n", "a/b", "2", "a: {x: , b: 2 }\n" },
        { "a:\n", "b", "2", "a:\nb: 2\n" },
        { "a: |\n  x\n\nc: 1\n", "b", "2", "a: |\n  x\n\nc: 1\nb: 2\n" },
        { "c: 1\na: |\n  x\n\n# end\n", "b", "2", "c: 1\na: |\n  x\nb: 2\n\n# end\n" },
        { "c: 1\na: |+\n  x\n\n# end\n", "b", "2", "c: 1\na: |+\n  x\n\nb: 2\n# end\n" },
        { "a: 1\r\nb: 2\r\n", "c", "3", "a: 1\r\nb: 2\r\nc: 3\r\n" },
        { "? a\n: 1\n", "b", "2", "? a\n: 1\nb: 2\n" },
        { "a: 1\n", "8", "2", "a: 1\n'8': 2\n" },
        { "8: 1\n", "\"8\"", "2", "8: 1\n'8': 2\n" },
        { "a: 1\n", "\"8\"", "2", "a: 1\n'\"8\"': 2\n" },
        { "a: 1\n", "x: y", "2", "a: 1\n'x: y': 2\n" },
        { "!t\na: 1\n", "b", "2", "!t\na: 1\nb: 2\n" },
        { "!t\n? !u x\n: 1\n", "b", "2", "!t\n? !u x\n: 1\nb: 2\n" },
        { "!t x: 1\n", "b", "2", "!t x: 1\nb: 2\n" },
    };
    RUN(cases);
}

static void items_are_appended(void **state)
{
    static const edit_case cases[] = {
        { "- 1\n", "-", "2", "- 1\n- 2\n" },
        { "- 1\n", "1", "2", "- 1\n- 2\n" },
        { "a:\n- 1\n- x: 1\n  y: 2 # c\nb: 1\n", "a/-", "2",
          "a:\n- 1\n- x: 1\n  y: 2 # c\n- 2\nb: 1\n" },
        { "a: !t # c\n  # d\n  - # e\n    1\nb: 1\n", "a/-", "2",
          "a: !t # c\n  # d\n  - # e\n    1\n  - 2\nb: 1\n" },
        { "- - 1\n", "0/-", "2", "- - 1\n  - 2\n" },
        { "[]\n", "-", "2", "[2]\n" },
        { "[1]\n", "-", "2", "[1, 2]\n" },
        { "[1,]\n", "-", "a", "[1, a]\n" },
        { "[1, [2], {a: b}]\n", "-", "a", "[1, [2], {a: b}, a]\n" },
        { "[a: 1 ]\n", "-", "a", "[a: 1, a ]\n" },
        { "a: 1\n", "h/-", "x", "a: 1\nh: [x]\n" },
        { "a: 1\n", "h/0/0", "x", "a: 1\nh: [[x]]\n" },
        { "a: {}\n", "a/0", "x", "a: {'0': x}\n" },
        { "a: 1\n", "h/e/-/t", "x", "a: 1\nh: {e: [{t: x}]}\n" },
    };
    RUN(cases);
}

static void nodes_are_removed_with_their_lines(void **state)
{
    static const edit_case cases[] = {
        { "a: 1\n# two\nb: 2 # x\nc: 3\n", "b", NULL, "a: 1\n# two\nc: 3\n" },
        { "a: 1\nb: 2\n", "a", NULL, "b: 2\n" },
        { "a: 1\nb: 2", "b", NULL, "a: 1\n" },
        { "a: 1\nb:\n  c: 1\n  # d\n  d: 2\n\ne: 1\n", "b", NULL, "a: 1\n\ne: 1\n" },
        { "a:\n- 1\n- 2\n- 3\n", "a/1", NULL, "a:\n- 1\n- 3\n" },
        { "a:\n- 1\n- x: 1\n  y: 2\n", "a/1", NULL, "a:\n- 1\n" },
        { "- a: 1\n  b: 2\n", "0/a", NULL, "- b: 2\n" },
        { "- - 1\n  # c\n  - 2\n", "0/0", NULL, "- - 2\n" },
        { "a: {b: 1, c: 2, d: 3}\n", "a/b", NULL, "a: {c: 2, d: 3}\n" },
        { "a: {b: 1, c: 2, d: 3}\n", "a/c", NULL, "a: {b: 1, d: 3}\n" },
        { "a: {b: 1, c: 2, d: 3 }\n", "a/d", NULL, "a: {b: 1, c: 2 }\n" },
        { "a: [1, 2, ]\n", "a/1", NULL, "a: [1, ]\n" },
        { "a: [1, ]\n", "a/0", NULL, "a: []\n" },
        { "a: [ 1 ]\n", "a/0", NULL, "a: []\n" },
        { "a: !t {x: 1}\n", "a/x", NULL, "a: !t {}\n" },
        { "a: # c\n  x: 1 # d\nb: 1\n", "a/x", NULL, "a: {} # c\nb: 1\n" },
        { "a: !t # c\n  x: 1\nb: 1\n", "a/x", NULL, "a: !t {} # c\nb: 1\n" },
        { "a:\n- 1\nb: 1\n", "a/0", NULL, "a: []\nb: 1\n" },
        { "- x: 1\n- 2\n", "0/x", NULL, "- {}\n- 2\n" },
        { "a: |+\n  x\n\nb: 1\n", "a", NULL, "b: 1\n" },
        { "a: |\n  x\n\nb: 1\n", "a", NULL, "\nb: 1\n" },
        { "? a\n: 1\n? b\n: 2\n", "b", NULL, "? a\n: 1\n" },
        { "? a\n: 1\n? b\n: 2\n", "a", NULL, "? b\n: 2\n" },
        { "a: 1\r\nb: 2\r\nc: 3\r\n", "b", NULL, "a: 1\r\nc: 3\r\n" },
        { "? [k]\n: 1\nb: 2\n", "?0", NULL, "b: 2\n" },
        { "0x10: 1\nb: 2\n", "16", NULL, "b: 2\n" },
        { "a: 1\n", "a", NULL, NULL },
        { "{a: 1}\n", "a", NULL, NULL },
        { "[a: 1, b]\n", "0/a", NULL, "[{}, b]\n" },
        { "a: 1\n", "", NULL, NULL },
        { "a: 1\n", "", "2", NULL },
    };
    RUN(cases);
}

static void anchors_survive_what_held_them(void **state)
{
    static const edit_case cases[] = {
        { "a: &x 5\nb: *x\nc: *x\n", "a", "7", "a: 7\nb: &x 5\nc: *x\n" },
        { "a: &x 5\nb: *x\nc: *x\n", "a", NULL, "b: &x 5\nc: *x\n" },
        { "a: &x 5\nb: *x\nc: *x\n", "b", "7", "a: &x 5\nb: 7\nc: *x\n" },
        { "a: &x\n  w: 1\nb: *x\nc: 1\n", "a", NULL, "b: &x {w: 1}\nc: 1\n" },
        { "a: &x\n  y: 1\nb: *x\n", "b/y", "2", "a: &x\n  y: 2\nb: *x\n" },
        { "a: &x [1,\n 2]\nb: *x\n", "a", "7", "a: 7\nb: &x [1, 2]\n" },
        { "a:\n  y: &x [1, &z q]\nb: *x\nc: *z\n", "a", "7", "a: 7\nb: &x [1, &z q]\nc: *z\n" },
        { "a:\n  y: &x [1, &z q]\nb: *z\nc: *x\n", "a", "7", NULL },
        { "a: &x |\n  text\nb: *x\n", "a", "7", "a: 7\nb: &x \"text\\n\"\n" },
        { "a: &x yes\nb: *x\n", "a", "7", "a: 7\nb: &x yes\n" },
        { "a: &x b, c\nb: [*x]\n", "a", "7", "a: 7\nb: [&x 'b, c']\n" },
        { "x: &q 1\na: &w [*q]\nb: *w\n", "a", "7", "x: &q 1\na: 7\nb: &w [*q]\n" },
        { "a: &x 1\nb: &x 2\nc: *x\n", "b", NULL, "a: &x 1\nc: &x 2\n" },
        { "a: &x 1\nb: 2\nc: *x\n", "b", "&x 3", NULL },
        { "a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n", "c/b", "5",
          "a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n  b: 5\n" },
        { "a: &x {b: {e: 1}}\nc:\n  <<: *x\n  d: 2\n", "c/b/e", "5",
          "a: &x {b: {e: 5}}\nc:\n  <<: *x\n  d: 2\n" },
        { "a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n", "c/b", NULL, NULL },
        { "a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n", "a", NULL, "c:\n  <<: &x {b: 1}\n  d: 2\n" },
    };
    RUN(cases);
}

static void a_second_anchor_of_one_name_is_refused(void **state)
{
    static const edit_case cases[] = {
        { "a: &x 1\nb: 2\n", "b", "&x 3", NULL },
        { "a: &x 1\n", "b", "[&x 3]", NULL },
        { "a: 1\n", "b", "[&x 3, &x 4]", "a: 1\nb: [&x 3, 4]\n" },
        { "a: &x 1\nb: 2\n", "a", "&x 3", "a: &x 3\nb: 2\n" },
        { "a: &x 1\nb: &x 2\n", "c", "3", "a: &x 1\nb: &x 2\nc: 3\n" },
    };
    RUN(cases);
}

static void a_key_goes_with_the_pairs_that_it_hid(void **state)
{
    static const edit_case cases[] = {
        { "a: 1\nb: 2\na: 3\n", "a", NULL, "b: 2\n" },
        { "a: 1\nb: 2\na: 3\na: 4\n", "a", NULL, "b: 2\n" },
        { "{a: 1, b: 2, a: 3}\n", "a", NULL, "{b: 2}\n" },
        { "c: {a: 1, a: 3}\n", "c/a", NULL, "c: {}\n" },
        { "c: {1: 1, '1': 3}\n", "c/1", NULL, "c: {'1': 3}\n" },
        { "c: {1: 1, '1': 3}\n", "c/\"1\"", NULL, "c: {1: 1}\n" },
        { "c: {1: 1, '1': 3, 0x1: 2, 01: 4}\n", "c/1", NULL, "c: {'1': 3}\n" },
        { "c: {1: 1, d: 3, 0x1: 2}\n", "c/0x1", NULL, "c: {d: 3}\n" },
        { "- 1\n- 1\n", "0", NULL, "- 1\n" },
        { "a: &x 1\na: 2\nb: *x\n", "a", NULL, "b: &x 1\n" },
        { "a: 1\na: 2\n", "a", NULL, NULL }, /* the root keeps an entry: all of it stays */
    };
    RUN(cases);
}

static void a_document_without_a_root_gets_one(void **state)
{
    static const edit_case cases[] = {
        { "", "a/b", "1", "a: {b: 1}\n" },
        { "# words", "a", "1", "# words\na: 1\n" },
        { "---\n...\n", "a", "1", "---\na: 1\n...\n" },
        { "%YAML 1.1\n--- # c\n", "a", "1", "%YAML 1.1\n--- # c\na: 1\n" },
        { "%YAML 1.1\r\n---\r\n...\r\n", "a", "1", "%YAML 1.1\r\n---\r\na: 1\r\n...\r\n" },
        { "--- !core/asdf-1.1.0\n...\n", "a", "[1]", "--- !core/asdf-1.1.0\na: [1]\n...\n" },
        { "--- !core/asdf-1.1.0 {}\n...\n", "a", "[1]", "--- !core/asdf-1.1.0 {a: [1]}\n...\n" },
        { "\xef\xbb\xbf---\n...\n", "a", "1", "\xef\xbb\xbf---\na: 1\n...\n" },
    };
    RUN(cases);
}

static void a_byte_order_mark_is_no_column(void **state)
{
    static const edit_case cases[] = {
        { "\xef\xbb\xbf"
          "a: 1\n",
          "b", "2",
          "\xef\xbb\xbf"
          "a: 1\nb: 2\n" },
        { "\xef\xbb\xbf"
          "a: 1\nb: 2\n",
          "a", NULL,
          "\xef\xbb\xbf"
          "b: 2\n" },
    };
    RUN(cases);
}

static void tags_are_written_with_the_documents_handle(void **state)
{
    static const edit_case cases[] = {
        { "%TAG ! tag:x,1:\n---\na: 1\n", "a", "!core/y [1]",
          "%TAG ! tag:x,1:\n---\na: !<tag:stsci.edu:asdf/core/y> [1]\n" },
        { "%TAG ! tag:stsci.edu:asdf/\n---\na: 1\n", "b", "!core/y [1]",
          "%TAG ! tag:stsci.edu:asdf/\n---\na: 1\nb: !core/y [1]\n" },
    };
    RUN(cases);
}

static void paths_that_lead_nowhere_are_named(void **state)
{
    bench *b = *state;
    cip_yaml_edit *e = start(b, "a: 1\nb: [1]\n");
    assert_int_equal(set(b, e, "a/x", "1"), CIP_ERR_TYPE);
    assert_int_equal(set(b, e, "b/2", "1"), CIP_ERR_NOT_FOUND);
    assert_int_equal(set(b, e, "b/x", "1"), CIP_ERR_NOT_FOUND);
    assert_int_equal(set(b, e, "b/x/y", "1"), CIP_ERR_NOT_FOUND);
    assert_int_equal(set(b, e, NULL, "1"), CIP_ERR_ARG);
    assert_int_equal(cip_yaml_edit_remove(e, "c", NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_yaml_edit_remove(e, "b/1", &b->err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_yaml_edit_remove(e, "b/-", &b->err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_yaml_edit_remove(e, "a/x", &b->err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_yaml_edit_remove(e, "b/7", &b->err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_yaml_edit_remove(e, "x/y", &b->err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_yaml_edit_remove(e, NULL, &b->err), CIP_ERR_ARG);
    cip_node *bad, *key, *map;
    assert_int_equal(cip_node_new_string(&b->arena, "x\xff", 2, &bad, NULL), CIP_OK);
    assert_int_equal(cip_node_new_string(&b->arena, "k", 1, &key, NULL), CIP_OK);
    assert_int_equal(cip_node_new_map(&b->arena, 1, &map, NULL), CIP_OK);
    assert_int_equal(cip_yaml_edit_set(e, "a", bad, NULL), CIP_ERR_ARG);
    cip_node_set_pair(map, 0, key, bad);
    assert_int_equal(cip_yaml_edit_set(e, "a", map, NULL), CIP_ERR_ARG);
    cip_node_set_pair(map, 0, bad, key);
    assert_int_equal(cip_yaml_edit_set(e, "a", map, NULL), CIP_ERR_ARG);
    assert_int_equal(set(b, e, "\xff", "1"), CIP_ERR_ARG);
    has_text(e, "a: 1\nb: [1]\n");
    cip_yaml_edit_free(e);
    e = start(b, "");
    assert_int_equal(cip_yaml_edit_remove(e, "b", &b->err), CIP_ERR_NOT_FOUND);
    cip_yaml_edit_free(e);
    cip_yaml_edit_free(NULL);
}

static void edits_follow_each_other(void **state)
{
    bench *b = *state;
    cip_yaml_edit *e = start(b, "a: 1\n");
    for (int i = 0; i < 20; i++) {
        char path[16];
        snprintf(path, sizeof path, "k/n%d", i);
        assert_int_equal(set(b, e, path, "x"), CIP_OK);
    }
    assert_int_equal(cip_node_len(cip_tree_get(cip_yaml_edit_root(e), "k", NULL)), 20);
    assert_non_null(cip_yaml_edit_get(e, "k/n19", NULL));
    for (int i = 0; i < 20; i++) {
        char path[16];
        snprintf(path, sizeof path, "k/n%d", i);
        assert_int_equal(cip_yaml_edit_remove(e, path, NULL), CIP_OK);
    }
    has_text(e, "a: 1\nk: {}\n");
    assert_null(cip_yaml_edit_get(e, "k/n19", NULL));
    cip_yaml_edit_free(e);
}

static void a_text_that_is_no_yaml_is_refused(void **state)
{
    bench *b = *state;
    cip_yaml_edit *e = (cip_yaml_edit *)b;
    const cip_node *node = (const cip_node *)b;
    assert_int_equal(cip_yaml_edit_new(&b->env, bytes_of("a: [1"), NULL, &e, &b->err),
                     CIP_ERR_CORRUPT);
    assert_null(e);
    assert_int_equal(cip_yaml_value(&b->env, &b->arena, "{a: ", NULL, &node, &b->err),
                     CIP_ERR_CORRUPT);
    assert_null(node);
}

static cip_status work(bench *b)
{
    cip_status st;
    cip_err err = CIP_ERR_INIT;
    const cip_node *value;
    cip_yaml_edit *e = NULL;
    CIP_GO(cip_yaml_edit_new(&b->env, bytes_of("a: &x 1\nb: {c: *x}\n"), NULL, &e, &err));
    CIP_GO(cip_yaml_value(&b->env, &b->arena, "{q: 1}", NULL, &value, &err));
    CIP_GO(cip_yaml_edit_set(e, "b/d", value, &err));
    CIP_GO(cip_yaml_edit_set(e, "e", value, &err));
    CIP_GO(cip_yaml_edit_set(e, "a", value, &err));
    CIP_GO(cip_yaml_edit_remove(e, "b", &err));
    has_text(e, "a: {q: 1}\ne: {q: 1}\n");
done:
    cip_yaml_edit_free(e);
    return st;
}

static void memory_that_fails_is_reported(void **state)
{
    (void)state;
    every_allocation_may_fail(work);
}

/* --- queued sets ------------------------------------------------------------------------------ */

static uint32_t below(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % n;
}

static const char *const queue_texts[] = {
    "a: 1\nb: {c: 2, d: [3, 4]}\nm:\n  a: 1\n  b:\n    c: 5\n    d:\nl:\n- 1\n- a: 2\n- [3]\n",
    "m: # one\n    a: 1 # two\n    b: {}\n# three\nl: []\nb:\na: |\n  text\n\n",
    "{a: 1, b: {c: {d: 2,}}, m: {}, l: [1, 2,]}\n",
    "<<: {a: {c: 1}, m: {a: 2}}\nb: 3\n1: x\n'1': y\nb: {c: 4}\n0x10: z\n",
    "a: &x {c: 1}\nb: *x\nl: [*x]\nm: {<<: *x}\n",
    "1: x\nb: {'1': y, 0x1: z, '\"1\"': w}\n16: a\n",
    "b: {1: x}\n'1': y\n'\"1\"': {c: 1}\n",
    "{\"b\":{\"c\":1},#d\n ? z : }\n",
    "{\"b\": \"x\"#d\n, m: [\"1\"#e\n]}\n",
    "l: |+\n  x\n\n\n",
    "b: {\"c\": , d: , }\nm: {\"c\": }\n",
    "l:\n  - - 1\n    - 2\n  - m: 1\n    l: |+\n      x\n\n\nm: \"x\n  y\"\n",
    "",
};
static const char *const queue_steps[] = { "a", "b", "c",   "d",  "m",     "l",     "0",
                                           "1", "-", "new", "16", "\"1\"", "\"16\"" };
static const char *const queue_values[] = { "7",    "x y", "{c: 8}", "[]",        "[1, {a: 2}]",
                                            "null", "''",  "&y 1",   "'a: b # c'" };

static void random_path(uint32_t *seed, char out[64])
{
    const uint32_t n = 1 + below(seed, 3);
    out[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = below(seed, sizeof queue_steps / sizeof queue_steps[0]);
        snprintf(out + strlen(out), 64 - strlen(out), "%s%s", i != 0 ? "/" : "", queue_steps[k]);
    }
}

/* The same sets at once and later: the same text, or a refusal where the first is refused. */
static void same_sets(bench *b, uint32_t seed)
{
    const char *text = queue_texts[below(&seed, sizeof queue_texts / sizeof queue_texts[0])];
    cip_yaml_edit *now = start(b, text), *later = start(b, text);
    cip_status st = CIP_OK, then = CIP_OK;
    for (uint32_t n = 1 + below(&seed, 12); n > 0 && st == CIP_OK; n--) {
        char path[64];
        const cip_node *value;
        const uint32_t k = below(&seed, sizeof queue_values / sizeof queue_values[0]);
        random_path(&seed, path);
        assert_int_equal(cip_yaml_value(&b->env, &b->arena, queue_values[k], PREFIX, &value, NULL),
                         CIP_OK);
        st = cip_yaml_edit_set(now, path, value, &b->err);
        if (then == CIP_OK)
            then = cip_yaml_edit_queue(later, path, value, NULL);
        const cip_node *is;
        if (st == CIP_OK && then == CIP_OK && below(&seed, 4) == 0 && strchr(path, '-') == NULL &&
            (then = cip_yaml_edit_peek(later, path, &is, NULL)) == CIP_OK)
            assert_int_equal(cip_node_kind(is), cip_node_kind(cip_yaml_edit_get(now, path, NULL)));
    }
    if (then == CIP_OK)
        then = cip_yaml_edit_flush(later, &b->err);
    if (st != then)
        fail_msg("seed %u: expected %d, found %d: %s", seed, st, then, b->err.text);
    cip_bytes x = cip_yaml_edit_text(now), y = cip_yaml_edit_text(later);
    if (st == CIP_OK && (x.len != y.len || (x.len != 0 && memcmp(x.ptr, y.ptr, x.len) != 0)))
        fail_msg("seed %u: expected\n%.*s\nfound\n%.*s", seed, (int)x.len, (char *)x.ptr,
                 (int)y.len, (char *)y.ptr);
    cip_yaml_edit_free(now);
    cip_yaml_edit_free(later);
}

static void queued_sets_do_what_sets_do(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 4000; seed++) {
        bench b;
        bench_start(&b, NULL);
        same_sets(&b, seed * 2654435761u);
        bench_end(&b);
    }
}

static void expect_text(const cip_yaml_edit *e, const char *want)
{
    const cip_bytes is = cip_yaml_edit_text(e);
    if (is.len != strlen(want) || memcmp(is.ptr, want, is.len) != 0)
        fail_msg("expected\n%s, found\n%.*s", want, (int)is.len, (const char *)is.ptr);
}

static void a_queued_set_that_is_refused_is_named(void **state)
{
    bench *b = *state;
    const cip_node *one, *more, *is;
    cip_yaml_edit *e = start(b, "a: 1\nb: 3\n");
    assert_int_equal(cip_yaml_value(&b->env, &b->arena, "1", NULL, &one, NULL), CIP_OK);
    assert_int_equal(cip_yaml_value(&b->env, &b->arena, "[1, 2, 3]", NULL, &more, NULL), CIP_OK);
    b->env.limits.max_nodes = 10; /* 5 there are, and every key counts */
    assert_int_equal(cip_yaml_edit_queue(e, "b", one, NULL), CIP_OK);
    assert_int_equal(cip_yaml_edit_queue(e, "c", one, NULL), CIP_OK);
    assert_int_equal(cip_yaml_edit_queue(e, "x/y", more, NULL), CIP_OK);
    assert_int_equal(cip_yaml_edit_queue(e, "d", one, NULL), CIP_OK);
    assert_int_equal(cip_yaml_edit_flush(e, &b->err), CIP_ERR_LIMIT);
    assert_non_null(strstr(b->err.text, "\"x/y\": expected"));
    /* what was asked for cannot be had while the limit stands */
    assert_int_equal(cip_yaml_edit_flush(e, NULL), CIP_ERR_LIMIT);
    assert_int_equal(cip_yaml_edit_set(e, "a", one, NULL), CIP_ERR_LIMIT);
    assert_int_equal(cip_yaml_edit_queue(e, "a", one, NULL), CIP_ERR_LIMIT);
    assert_int_equal(cip_yaml_edit_remove(e, "a", NULL), CIP_ERR_LIMIT);
    assert_null(cip_yaml_edit_get(e, "a", NULL));
    assert_int_equal(cip_yaml_edit_peek(e, "a", &is, NULL), CIP_ERR_LIMIT);
    assert_null(is);
    b->env.limits.max_nodes = 100;
    assert_int_equal(cip_yaml_edit_queue(e, "a", more, &b->err), CIP_OK);
    assert_int_equal(cip_yaml_edit_flush(e, &b->err), CIP_OK);
    expect_text(e, "a: [1, 2, 3]\nb: 1\nc: 1\nx: {'y': [1, 2, 3]}\nd: 1\n");
    cip_yaml_edit_free(e);
}

/* Counts what is asked for. */
typedef struct counter {
    uint64_t bytes;
} counter;

static void *counted(void *user, void *ptr, size_t old_size, size_t new_size)
{
    counter *c = user;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    c->bytes += new_size > old_size ? new_size - old_size : 0;
    return realloc(ptr, new_size);
}

/* What n sets ask for in a tree of n keys: each replaced, and as many inserted and appended;
 * `again`: all of the same two. */
static uint64_t bytes_of_sets(int n, bool again)
{
    counter c = { 0 };
    const cip_allocator from = { counted, &c };
    bench b;
    char path[32];
    const cip_node *value;
    cip_buf text;
    bench_start(&b, &from);
    text = (cip_buf){ .mem = &b.env.mem };
    for (int i = 0; i < n; i++)
        assert_int_equal(cip_buf_addf(&text, NULL, "k%d: %d\n", i, i), CIP_OK);
    assert_int_equal(cip_buf_addf(&text, NULL, "l: [0]\n"), CIP_OK);
    cip_yaml_edit *e;
    assert_int_equal(cip_yaml_edit_new(&b.env, (cip_bytes){ text.ptr, text.len }, NULL, &e, NULL),
                     CIP_OK);
    assert_int_equal(cip_yaml_value(&b.env, &b.arena, "7", NULL, &value, NULL), CIP_OK);
    c.bytes = 0;
    for (int i = 0; i < 3 * n; i++) {
        snprintf(path, sizeof path,
                 i % 3 == 0   ? "k%d"
                 : i % 3 == 1 ? "m/n%d"
                              : "l/-",
                 again ? 0 : i / 3);
        assert_int_equal(cip_yaml_edit_queue(e, path, value, NULL), CIP_OK);
    }
    assert_int_equal(cip_yaml_edit_flush(e, NULL), CIP_OK);
    cip_yaml_edit_free(e);
    cip_buf_clear(&text);
    bench_end(&b);
    return c.bytes;
}

static void queued_sets_cost_in_proportion_to_themselves(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        const uint64_t few = bytes_of_sets(1000, again), many = bytes_of_sets(4000, again);
        if (many > 8 * few)
            fail_msg("expected four times %llu bytes or so, found %llu", (unsigned long long)few,
                     (unsigned long long)many);
    }
}

/* What is set again is written where it was first set, as sets that do not wait write it. */
static void sets_of_one_node_take_each_others_place(void **state)
{
    (void)state;
    bench b;
    bench_start(&b, NULL);
    cip_yaml_edit *e = start(&b, "a: 1 # one\nm:\n  x: [1,\n    2]\nz: 3\n");
    static const char *const sets[][2] = { { "m/x", "{q: 1}" }, { "k", "4" },    { "a", "2" },
                                           { "m/x", "5" },      { "m/v", "6" },  { "k", "[7]" },
                                           { "o", "8" },        { "a", "text" }, { "m/v", "9" },
                                           { "k", "10" },       { "m/x", "[1]" } };
    const uint64_t before = cip_yaml_edit_changes(e);
    const size_t text_len = cip_yaml_edit_text(e).len;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const cip_node *value;
        assert_int_equal(cip_yaml_value(&b.env, &b.arena, sets[i][1], NULL, &value, NULL), CIP_OK);
        assert_int_equal(cip_yaml_edit_queue(e, sets[i][0], value, NULL), CIP_OK);
        assert_int_equal(cip_yaml_edit_changes(e), before + i + 1);
    }
    assert_int_equal(cip_yaml_edit_text(e).len, text_len); /* all of them wait */
    assert_int_equal(cip_yaml_edit_flush(e, NULL), CIP_OK);
    expect_text(e, "a: text # one\nm:\n  x: [1]\n  v: 9\nz: 3\nk: 10\no: 8\n");
    cip_yaml_edit_free(e);
    bench_end(&b);
}

static void queued_sets_survive_short_memory(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc f = { 0 };
        const cip_allocator from = { fail_alloc_resize, &f };
        bench b;
        const cip_node *value;
        bench_start(&b, &from);
        cip_yaml_edit *e = start(&b, queue_texts[0]);
        assert_int_equal(cip_yaml_value(&b.env, &b.arena, "7", NULL, &value, NULL), CIP_OK);
        f.requests = 0;
        f.fail_at = n;
        cip_status st = cip_yaml_edit_queue(e, "a", value, NULL);
        for (int i = 0; i < 3 && st == CIP_OK; i++)
            st = cip_yaml_edit_queue(e, i == 0 ? "m/x" : i == 1 ? "b/d/-" : "m/x/y", value, NULL);
        if (st == CIP_OK)
            st = cip_yaml_edit_flush(e, NULL);
        const bool through = f.requests < n;
        assert_true(st == (through ? CIP_ERR_TYPE : CIP_ERR_NOMEM) || st == CIP_ERR_TYPE);
        cip_yaml_edit_free(e);
        bench_end(&b);
        assert_int_equal(f.held, 0);
        if (through)
            break;
    }
}

static cip_yaml_edit *waiting_sets(bench *b)
{
    static const char *const sets[][2] = {
        { "m", "{x: 1}" }, { "k", "[1, 2, 3]" }, { "l", "[1, 2, 3]" }, { "a", "text" }
    };
    cip_yaml_edit *e = start(b, "a: 1\nm: 2\n");
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const cip_node *value;
        assert_int_equal(cip_yaml_value(&b->env, &b->arena, sets[i][1], NULL, &value, NULL),
                         CIP_OK);
        assert_int_equal(cip_yaml_edit_queue(e, sets[i][0], value, NULL), CIP_OK);
    }
    return e;
}

static const char waited[] = "a: text\nm: {x: 1}\nk: [1, 2, 3]\nl: [1, 2, 3]\n";

/* Each allocation of a flush fails in turn, and again while another limit makes it do the sets one
 * by one: a later flush does what is left. */
static void queued_sets_wait_where_a_flush_has_no_memory(void **state)
{
    (void)state;
    size_t failed = 0;
    for (int part = 0; part < 2; part++)
        for (size_t n = 1, through = 0; !through; n++) {
            fail_alloc f = { 0 };
            const cip_allocator from = { fail_alloc_resize, &f };
            bench b;
            bench_start(&b, &from);
            cip_yaml_edit *e = waiting_sets(&b);
            f.requests = 0;
            f.fail_at = n;
            b.env.limits.max_nodes = part == 0 ? 100 : 16; /* all have 17 */
            const cip_status st = cip_yaml_edit_flush(e, NULL);
            through = f.requests < n;
            assert_true(st == (part == 0 ? CIP_OK : CIP_ERR_LIMIT) ||
                        (!through && st == CIP_ERR_NOMEM));
            failed += st == CIP_ERR_NOMEM;
            f.fail_at = 0;
            b.env.limits.max_nodes = 100;
            assert_int_equal(cip_yaml_edit_flush(e, NULL), CIP_OK);
            expect_text(e, waited);
            cip_yaml_edit_free(e);
            bench_end(&b);
            assert_int_equal(f.held, 0);
        }
    assert_true(failed > 20);
}

/* The limit of memory rises by steps, and so does what is done. */
static void queued_sets_wait_for_a_higher_limit(void **state)
{
    (void)state;
    size_t failed = 0;
    for (uint64_t step = 16; step < 1 << 16; step *= 2) {
        bench b;
        bench_start(&b, NULL);
        cip_yaml_edit *e = waiting_sets(&b);
        b.env.mem.limit = b.env.mem.used;
        for (cip_status st = CIP_ERR_LIMIT; st != CIP_OK; b.env.mem.limit += step) {
            const cip_node *at;
            st = cip_yaml_edit_flush(e, NULL);
            assert_true(st == CIP_OK || st == CIP_ERR_LIMIT);
            failed += st != CIP_OK;
            if (st != CIP_OK && cip_yaml_edit_peek(e, "m", &at, NULL) == CIP_OK)
                assert_int_equal(cip_node_kind(at), CIP_NODE_MAP);
        }
        expect_text(e, waited);
        cip_yaml_edit_free(e);
        bench_end(&b);
    }
    assert_true(failed > 20);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)
    const struct CMUnitTest tests[] = {
        TEST(scalars_are_replaced_where_they_stand),
        TEST(collections_are_replaced),
        TEST(pairs_are_inserted),
        TEST(items_are_appended),
        TEST(nodes_are_removed_with_their_lines),
        TEST(anchors_survive_what_held_them),
        TEST(a_second_anchor_of_one_name_is_refused),
        TEST(a_key_goes_with_the_pairs_that_it_hid),
        TEST(a_document_without_a_root_gets_one),
        TEST(a_byte_order_mark_is_no_column),
        TEST(tags_are_written_with_the_documents_handle),
        TEST(paths_that_lead_nowhere_are_named),
        TEST(edits_follow_each_other),
        TEST(a_text_that_is_no_yaml_is_refused),
        TEST(memory_that_fails_is_reported),
        TEST(queued_sets_do_what_sets_do),
        TEST(a_queued_set_that_is_refused_is_named),
        TEST(sets_of_one_node_take_each_others_place),
        TEST(queued_sets_cost_in_proportion_to_themselves),
        TEST(queued_sets_survive_short_memory),
        TEST(queued_sets_wait_where_a_flush_has_no_memory),
        TEST(queued_sets_wait_for_a_higher_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
