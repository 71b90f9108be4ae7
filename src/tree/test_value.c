/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tree/node.h"
#include "support/tree/tree_testing.h"

static void nothing_is_asked_of_null(void **state)
{
    size_t len = 7;
    int64_t i = 7;
    uint64_t u = 7;
    double f = 7;
    (void)state;
    assert_int_equal(cip_node_kind(NULL), CIP_NODE_NONE);
    assert_null(cip_node_tag(NULL));
    assert_int_equal(cip_node_len(NULL), 0);
    assert_null(cip_node_at(NULL, 0));
    assert_null(cip_node_key(NULL, 0));
    assert_null(cip_node_text(NULL, &len));
    assert_int_equal(len, 7);
    assert_null(cip_map_get(NULL, "a"));
    assert_null(cip_node_step(NULL, bytes_of("a")));
    assert_false(cip_node_is_string(NULL, "a"));
    assert_false(cip_node_as_int(NULL, &i));
    assert_false(cip_node_as_uint(NULL, &u));
    assert_false(cip_node_as_double(NULL, &f));
    assert_true(i == 7 && u == 7 && f == 7);
}

static void collections_have_items_and_scalars_text(void **state)
{
    bench *b = *state;
    const cip_node *map = parse(b, "{a: [x, yy], 2: z}");
    const cip_node *seq = cip_node_at(map, 0);
    size_t len = 0;
    assert_int_equal(cip_node_len(map), 2);
    assert_int_equal(cip_node_kind(map), CIP_NODE_MAP);
    assert_null(cip_node_text(map, NULL));
    assert_string_equal(cip_node_text(cip_node_key(map, 1), NULL), "2");
    assert_null(cip_node_key(map, 2));
    assert_null(cip_node_at(map, 2));
    assert_int_equal(cip_node_kind(seq), CIP_NODE_SEQ);
    assert_int_equal(cip_node_len(seq), 2);
    assert_string_equal(cip_node_text(cip_node_at(seq, 1), &len), "yy");
    assert_int_equal(len, 2);
    assert_null(cip_node_at(seq, 2));
    assert_null(cip_node_key(seq, 0));
    assert_null(cip_node_text(seq, NULL));
    /* a scalar's length is not a number of items */
    const cip_node *scalar = cip_node_at(seq, 1);
    assert_int_equal(cip_node_len(scalar), 0);
    assert_null(cip_node_at(scalar, 0));
    assert_null(cip_node_key(scalar, 0));
    assert_null(cip_map_get(seq, "x"));
}

static void tags_are_given_in_full(void **state)
{
    bench *b = *state;
    const cip_node *map = parse(b, "%TAG ! tag:x:\n--- !y {a: 1}");
    assert_string_equal(cip_node_tag(map), "tag:x:y");
    assert_null(cip_node_tag(cip_node_at(map, 0)));
}

static void strings_are_compared_whole(void **state)
{
    bench *b = *state;
    const cip_node *s = parse(b, "[abc, 12, \"a\\0c\", '']");
    assert_true(cip_node_is_string(s->item[0], "abc"));
    assert_false(cip_node_is_string(s->item[0], "ab"));
    assert_false(cip_node_is_string(s->item[0], "abcd"));
    assert_false(cip_node_is_string(s->item[0], "abd"));
    assert_false(cip_node_is_string(s->item[1], "12"));
    assert_false(cip_node_is_string(s->item[2], "a"));
    assert_true(cip_node_is_string(s->item[3], ""));
}

static void numbers_are_taken_as_they_fit(void **state)
{
    bench *b = *state;
    const cip_node *s = parse(b, "[-1, 9223372036854775807, 9223372036854775808, 1.5, x, "
                                 "99999999999999999999, -9223372036854775808, 0]");
    int64_t i = 7;
    uint64_t u = 7;
    double f = 7;
    assert_true(cip_node_as_int(s->item[0], &i) && i == -1);
    assert_false(cip_node_as_uint(s->item[0], &u));
    assert_true(cip_node_as_double(s->item[0], &f) && f == -1);
    assert_true(cip_node_as_int(s->item[1], &i) && i == INT64_MAX);
    assert_true(cip_node_as_uint(s->item[1], &u) && u == INT64_MAX);
    i = 7;
    assert_false(cip_node_as_int(s->item[2], &i));
    assert_int_equal(i, 7);
    assert_true(cip_node_as_uint(s->item[2], &u) && u == (uint64_t)INT64_MAX + 1);
    assert_true(cip_node_as_double(s->item[2], &f) && f == 0x1p63);
    assert_false(cip_node_as_int(s->item[3], &i));
    assert_false(cip_node_as_uint(s->item[3], &u));
    assert_true(cip_node_as_double(s->item[3], &f) && f == 1.5);
    f = 7;
    for (int k = 4; k <= 5; k++) {
        assert_false(cip_node_as_int(s->item[k], &i));
        assert_false(cip_node_as_uint(s->item[k], &u));
        assert_false(cip_node_as_double(s->item[k], &f));
    }
    assert_true(f == 7 && i == 7);
    assert_true(cip_node_as_int(s->item[6], &i) && i == INT64_MIN);
    assert_true(cip_node_as_uint(s->item[7], &u) && u == 0);
}

static void made_scalars_have_value_and_text(void **state)
{
    bench *b = *state;
    cip_node *n;
    assert_int_equal(cip_node_new_int(&b->arena, -5, &n, NULL), CIP_OK);
    assert_int_equal(n->type, CIP_NODE_INT);
    assert_true(n->negative && n->i == -5);
    assert_string_equal(n->text, "-5");
    assert_int_equal(n->len, 2);
    assert_true(n->offset == CIP_NO_OFFSET && n->end == CIP_NO_OFFSET);
    assert_true(n->tag == NULL && n->anchor == NULL && !n->alias_used);
    assert_int_equal(cip_node_new_int(&b->arena, 0, &n, NULL), CIP_OK);
    assert_true(!n->negative && n->u == 0);
    assert_int_equal(cip_node_new_int(&b->arena, INT64_MAX, &n, NULL), CIP_OK);
    assert_true(!n->negative && n->u == INT64_MAX);
    assert_int_equal(cip_node_new_uint(&b->arena, UINT64_MAX, &n, NULL), CIP_OK);
    assert_true(!n->negative && n->u == UINT64_MAX);
    assert_string_equal(n->text, "18446744073709551615");
    assert_int_equal(cip_node_new_double(&b->arena, 1e16, &n, NULL), CIP_OK);
    assert_int_equal(n->type, CIP_NODE_FLOAT);
    assert_string_equal(n->text, "1.0e+16");
    assert_true(n->f == 1e16);
    assert_int_equal(cip_node_new_bool(&b->arena, true, &n, NULL), CIP_OK);
    assert_int_equal(n->type, CIP_NODE_BOOL);
    assert_true(n->b);
    assert_string_equal(n->text, "true");
    assert_int_equal(cip_node_new_bool(&b->arena, false, &n, NULL), CIP_OK);
    assert_false(n->b);
    assert_string_equal(n->text, "false");
    assert_int_equal(cip_node_new_null(&b->arena, &n, NULL), CIP_OK);
    assert_int_equal(n->type, CIP_NODE_NULL);
    assert_string_equal(n->text, "null");
    assert_int_equal(cip_node_new_string(&b->arena, "ab\0d", 4, &n, NULL), CIP_OK);
    assert_int_equal(n->type, CIP_NODE_STRING);
    assert_int_equal(n->len, 4);
    assert_memory_equal(n->text, "ab\0d", 5);
    assert_int_equal(cip_node_new_string(&b->arena, NULL, 0, &n, NULL), CIP_OK);
    assert_string_equal(n->text, "");
}

static void made_collections_are_filled_in_order(void **state)
{
    bench *b = *state;
    cip_node *seq, *map, *k, *v;
    assert_int_equal(cip_node_new_seq(&b->arena, 2, &seq, NULL), CIP_OK);
    assert_int_equal(seq->len, 2);
    assert_true(seq->offset == CIP_NO_OFFSET && seq->end == CIP_NO_OFFSET);
    assert_null(cip_node_at(seq, 0));
    cip_node_new_string(&b->arena, "k", 1, &k, NULL);
    cip_node_new_int(&b->arena, 5, &v, NULL);
    cip_node_set_item(seq, 0, k);
    cip_node_set_item(seq, 1, v);
    assert_ptr_equal(cip_node_at(seq, 0), k);
    assert_ptr_equal(cip_node_at(seq, 1), v);
    assert_int_equal(cip_node_new_map(&b->arena, 1, &map, NULL), CIP_OK);
    assert_null(cip_map_get(map, "k")); /* not filled yet */
    cip_node_set_pair(map, 0, k, v);
    assert_ptr_equal(cip_map_get(map, "k"), v);
    assert_ptr_equal(cip_node_key(map, 0), k);
    assert_int_equal(cip_node_new_seq(&b->arena, 0, &seq, NULL), CIP_OK);
    assert_int_equal(cip_node_len(seq), 0);
    assert_int_equal(cip_node_new_map(&b->arena, 0, &map, NULL), CIP_OK);
    assert_int_equal(cip_node_len(map), 0);
    assert_null(cip_map_get(map, "k"));
}

static void what_is_too_large_is_refused(void **state)
{
    bench *b = *state;
    cip_node *n = (cip_node *)b;
    assert_int_equal(cip_node_new_string(&b->arena, "", UINT32_MAX, &n, NULL), CIP_ERR_LIMIT);
    assert_null(n);
    n = (cip_node *)b;
    assert_int_equal(cip_node_new_seq(&b->arena, (size_t)UINT32_MAX + 1, &n, NULL), CIP_ERR_LIMIT);
    assert_null(n);
    n = (cip_node *)b;
    assert_int_equal(cip_node_new_map(&b->arena, (size_t)UINT32_MAX + 1, &n, NULL), CIP_ERR_LIMIT);
    assert_null(n);
}

static cip_status make_all(bench *b)
{
    static const char text[3000] = "long";
    cip_node *n;
    CIP_TRY(cip_node_new_string(&b->arena, text, sizeof text, &n, &b->err));
    CIP_TRY(cip_node_new_seq(&b->arena, 3000, &n, &b->err));
    CIP_TRY(cip_node_new_map(&b->arena, 3000, &n, &b->err));
    for (int i = 0; i < 100; i++) {
        CIP_TRY(cip_node_new_int(&b->arena, i, &n, &b->err));
        CIP_TRY(cip_node_new_uint(&b->arena, 5, &n, &b->err));
        CIP_TRY(cip_node_new_double(&b->arena, 5, &n, &b->err));
        CIP_TRY(cip_node_new_bool(&b->arena, true, &n, &b->err));
        CIP_TRY(cip_node_new_null(&b->arena, &n, &b->err));
    }
    return CIP_OK;
}

static void no_memory_for_a_node_is_reported(void **state)
{
    (void)state;
    every_allocation_may_fail(make_all);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_asked_of_null),
        TEST(collections_have_items_and_scalars_text),
        TEST(tags_are_given_in_full),
        TEST(strings_are_compared_whole),
        TEST(numbers_are_taken_as_they_fit),
        TEST(made_scalars_have_value_and_text),
        TEST(made_collections_are_filled_in_order),
        TEST(what_is_too_large_is_refused),
        cmocka_unit_test(no_memory_for_a_node_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
