/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "tree/node.h"
#include "support/tree/tree_testing.h"

/* A mapping of n pairs "k0": 0, "k1": 1, ... */
static const cip_node *map_of(bench *b, size_t n)
{
    b->out.len = 0;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(cip_buf_addf(&b->out, NULL, "k%zu: %zu\n", i, i), CIP_OK);
    cip_buf_nul(&b->out, NULL);
    return parse(b, (const char *)b->out.ptr);
}

static void keys_are_found_in_small_and_large_mappings(void **state)
{
    static const size_t sizes[] = { 1, 2, 15, 16, 17, 18, 31, 32, 33, 64, 65, 1000 };
    bench *b = *state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const cip_node *map = map_of(b, sizes[s]);
        assert_int_equal(map->len, sizes[s]);
        assert_int_equal(map->indexed, sizes[s] > 16);
        for (size_t i = 0; i < sizes[s]; i++) {
            char key[32];
            snprintf(key, sizeof key, "k%zu", i);
            assert_int_equal(cip_map_get(map, key)->u, i);
            assert_int_equal(cip_map_find(map, bytes_of(key), false), i);
        }
        assert_null(cip_map_get(map, "k"));
        assert_null(cip_map_get(map, "k1000"));
        assert_null(cip_map_get(map, ""));
    }
}

static const cip_node *with_filler(bench *b, const char *text, size_t n)
{
    b->out.len = 0;
    cip_buf_addf(&b->out, NULL, "%s", text);
    for (size_t i = 0; i < n; i++)
        cip_buf_addf(&b->out, NULL, "filler%zu: x\n", i);
    cip_buf_nul(&b->out, NULL);
    return parse(b, (const char *)b->out.ptr);
}

static void keys_of_other_types_are_other_keys(void **state)
{
    bench *b = *state;
    for (size_t filler = 0; filler <= 40; filler += 40) {
        const cip_node *map = with_filler(
            b, "1: int\n\"1\": str\ntrue: bool\n~: null\n1.0: float\n0x2: hex\n'': empty\n",
            filler);
        assert_int_equal(warned(b), 0);
        assert_int_equal(map->len, 7 + filler);
        assert_int_equal(cip_map_find(map, bytes_of("1"), false), 1);
        assert_int_equal(cip_map_find(map, bytes_of("1"), true), 0); /* not the string */
        assert_true(cip_map_find(map, bytes_of("true"), false) == SIZE_MAX);
        assert_int_equal(cip_map_find(map, bytes_of("true"), true), 2);
        assert_int_equal(cip_map_find(map, bytes_of("~"), true), 3);
        assert_int_equal(cip_map_find(map, bytes_of("1.0"), true), 4);
        assert_int_equal(cip_map_find(map, bytes_of("0x2"), true), 5);
        assert_int_equal(cip_map_find(map, bytes_of("2"), true), 5);
        assert_true(cip_map_find(map, bytes_of("2"), false) == SIZE_MAX);
        assert_true(cip_map_find(map, bytes_of("0x2"), false) == SIZE_MAX);
        assert_true(cip_node_is_string(cip_map_get(map, ""), "empty"));
        assert_true(cip_map_find(map, (cip_bytes){ NULL, 0 }, false) == 6);
        assert_null(cip_map_get(map, "true"));
    }
}

static void the_first_of_other_types_is_found(void **state)
{
    bench *b = *state;
    for (size_t filler = 0; filler <= 40; filler += 40) {
        const cip_node *map = with_filler(b, "12: int\n!!binary 12: bin\n", filler);
        assert_int_equal(cip_map_find(map, bytes_of("12"), true), 0);
    }
}

static void of_equal_keys_the_last_counts_at_the_first_place(void **state)
{
    bench *b = *state;
    for (size_t filler = 0; filler <= 40; filler += 40) {
        size_t before = warned(b);
        const cip_node *map =
            with_filler(b, "a: 1\nb: 2\na: 3\nc: 4\nb: 5\na: 6\n1: x\n1: y\n", filler);
        assert_int_equal(map->len, 4 + filler);
        assert_string_equal(cip_node_text(cip_node_key(map, 0), NULL), "a");
        assert_int_equal(cip_node_at(map, 0)->u, 6);
        assert_string_equal(cip_node_text(cip_node_key(map, 1), NULL), "b");
        assert_int_equal(cip_node_at(map, 1)->u, 5);
        assert_int_equal(cip_node_at(map, 2)->u, 4);
        assert_true(cip_node_is_string(cip_node_at(map, 3), "y"));
        assert_int_equal(cip_map_get(map, "a")->u, 6);
        assert_int_equal(cip_map_get(map, "c")->u, 4);
        assert_int_equal(warned(b) - before, 4);
        /* the key that stays is the one in front of the value that stays */
        assert_true(map->pair[0].key->offset > map->pair[2].key->offset);
    }
}

static void keys_of_one_value_are_equal_however_they_are_written(void **state)
{
    bench *b = *state;
    for (size_t filler = 0; filler <= 40; filler += 40) {
        size_t before = warned(b);
        const cip_node *map = with_filler(b,
                                          "8: 1\nfalse: 2\n1.5: 3\n~: 4\n010: 5\nFalse: 6\n"
                                          "0x8: 7\nno: 8\n1.50: 9\nNull: 10\n? \n: 11\n"
                                          "0.0: 12\n-0.0: 13\n.nan: 14\n.NaN: 15\n",
                                          filler);
        assert_int_equal(map->len, 6 + filler);
        assert_int_equal(warned(b) - before, 9);
        static const uint64_t last[] = { 7, 8, 9, 11, 13, 15 };
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(cip_node_at(map, i)->u, last[i]);
        assert_int_equal(cip_map_find(map, bytes_of("8"), true), 0);
        assert_int_equal(cip_map_find(map, bytes_of("0x8"), true), 0);
        assert_true(cip_map_find(map, bytes_of("010"), true) == SIZE_MAX);
        assert_int_equal(cip_map_find(map, bytes_of(""), true), 3);
    }
}

static void keys_of_other_values_are_other_keys(void **state)
{
    bench *b = *state;
    for (size_t filler = 0; filler <= 40; filler += 40) {
        size_t before = warned(b);
        const cip_node *map = with_filler(b,
                                          "8: 1\n-8: 2\n'8': 3\n8.0: 4\n10: 5\n010.0: 6\n"
                                          "true: 7\n'true': 8\n18446744073709551608: 9\n",
                                          filler);
        assert_int_equal(map->len, 9 + filler);
        assert_int_equal(warned(b) - before, 0);
    }
}

static void keys_that_are_collections_are_all_kept(void **state)
{
    bench *b = *state;
    for (size_t filler = 0; filler <= 40; filler += 40) {
        const cip_node *map =
            with_filler(b, "? [1]\n: a\n? [1]\n: b\n? {k: v}\n: c\nk: d\n", filler);
        assert_int_equal(map->len, 4 + filler);
        assert_int_equal(cip_node_kind(cip_node_key(map, 1)), CIP_NODE_SEQ);
        assert_true(cip_node_is_string(cip_map_get(map, "k"), "d"));
        assert_int_equal(cip_map_find(map, bytes_of("k"), true), 3);
    }
}

static void many_equal_keys_leave_one(void **state)
{
    bench *b = *state;
    b->out.len = 0;
    for (size_t i = 0; i < 500; i++)
        cip_buf_addf(&b->out, NULL, "k%zu: %zu\n", i % 5, i);
    cip_buf_nul(&b->out, NULL);
    const cip_node *map = parse(b, (const char *)b->out.ptr);
    assert_int_equal(map->len, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(cip_node_at(map, i)->u, 495 + i);
    assert_int_equal(cip_map_get(map, "k3")->u, 498);
}

static void one_number_in_many_spellings_leaves_one_key(void **state)
{
    enum { N = 20000 };
    bench *b = *state;
    b->out.len = 0;
    for (size_t i = 0; i < N; i++)
        cip_buf_addf(&b->out, NULL, "0x%0*d: %zu\n", (int)(i % 100) + 1, 1, i);
    for (size_t i = 0; i < N; i++)
        cip_buf_addf(&b->out, NULL, "0x%zx: %zu\n", i + 2, i);
    cip_buf_nul(&b->out, NULL);
    const cip_node *map = parse(b, (const char *)b->out.ptr);
    assert_int_equal(map->len, N + 1);
    assert_int_equal(cip_node_at(map, 0)->u, N - 1);
    for (size_t i = 0; i < N; i++) {
        char text[24];
        snprintf(text, sizeof text, "%zu", i + 2);
        assert_int_equal(cip_map_find(map, bytes_of(text), true), i + 1);
    }
}

static void pairs_can_be_made_unique_alone(void **state)
{
    bench *b = *state;
    for (size_t n = 15; n <= 18; n++) {
        cip_node *keys[18];
        cip_pair list[18];
        for (size_t i = 0; i < n; i++) {
            char text[8];
            snprintf(text, sizeof text, "%zu", i % (n - 1)); /* the last is the first */
            cip_node_new_string(&b->arena, text, strlen(text), &keys[i], NULL);
            list[i] = (cip_pair){ keys[i], keys[i] };
        }
        cip_pairs pairs = { list, n };
        assert_int_equal(cip_pairs_unique(&b->env.mem, &pairs, NULL, NULL, NULL), CIP_OK);
        assert_int_equal(pairs.n, n - 1);
        assert_ptr_equal(list[0].value, keys[n - 1]);
        assert_ptr_equal(list[1].value, keys[1]);
        assert_ptr_equal(list[n - 2].value, keys[n - 2]);
    }
}

static void keys_are_equal_by_type_and_value(void **state)
{
    bench *b = *state;
    const cip_node *s = parse(b, "[a, 'a', ab, '1', 1, [x], [x], -1, 18446744073709551615, 0.0, "
                                 "-0.0, yes, no, 99999999999999999999, 99999999999999999998, "
                                 "1.0, 0x1, on]");
    const cip_node **n = s->item;
    assert_true(cip_key_equal(n[0], n[1]));
    assert_false(cip_key_equal(n[0], n[2]));
    assert_false(cip_key_equal(n[0], n[3]));
    assert_false(cip_key_equal(n[3], n[4]));
    assert_false(cip_key_equal(n[5], n[6]));
    assert_false(cip_key_equal(n[5], n[5]));
    assert_false(cip_key_equal(n[4], n[7]));
    assert_false(cip_key_equal(n[7], n[8])); /* the same bits */
    assert_true(cip_key_equal(n[9], n[10]));
    assert_false(cip_key_equal(n[11], n[12]));
    assert_false(cip_key_equal(n[4], n[15]));
    assert_true(cip_key_equal(n[4], n[16]));
    assert_true(cip_key_equal(n[11], n[17]));
    assert_false(cip_key_equal(n[13], n[14]));
    for (size_t i = 0; i < s->len; i++)
        assert_int_equal(cip_key_equal(n[i], n[i]), cip_node_text(n[i], NULL) != NULL);
}

static cip_status parse_large(bench *b)
{
    const cip_node *root;
    char text[2000];
    size_t n = 0;
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "key%d: {a: %d}\n", i % 30, i);
    return cip_yaml_parse(&b->env, &b->arena, exact(b, text, n), NULL, &root, &b->err);
}

static void no_memory_for_an_index_is_reported(void **state)
{
    (void)state;
    every_allocation_may_fail(parse_large);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_are_found_in_small_and_large_mappings),
        TEST(keys_of_other_types_are_other_keys),
        TEST(the_first_of_other_types_is_found),
        TEST(of_equal_keys_the_last_counts_at_the_first_place),
        TEST(keys_that_are_collections_are_all_kept),
        TEST(many_equal_keys_leave_one),
        TEST(pairs_can_be_made_unique_alone),
        TEST(keys_of_one_value_are_equal_however_they_are_written),
        TEST(keys_of_other_values_are_other_keys),
        TEST(one_number_in_many_spellings_leaves_one_key),
        TEST(keys_are_equal_by_type_and_value),
        cmocka_unit_test(no_memory_for_an_index_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
