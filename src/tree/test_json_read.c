/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "tree/json_read.h"
#include "tree/tree_testing.h"

static cip_status read_text(bench *b, const char *text, uint32_t flags, cip_node **out,
                            bool *repeated)
{
    return cip_json_read(&b->arena, exact(b, text, strlen(text)), flags, out, repeated, &b->err);
}

static cip_status read_json(bench *b, const char *text, cip_node **out)
{
    return read_text(b, text, 0, out, NULL);
}

static void values_keep_their_types(void **state)
{
    bench *b = *state;
    const struct {
        const char *json;
        int type;
        const char *text;
    } row[] = {
        { "42", CIP_NODE_INT, "42" },
        { "-1 \n", CIP_NODE_INT, "-1" },
        { "9223372036854775808", CIP_NODE_INT, "9223372036854775808" },
        { "1e5", CIP_NODE_FLOAT, "100000.0" },
        { "0.5", CIP_NODE_FLOAT, "0.5" },
        { "NaN", CIP_NODE_FLOAT, ".nan" },
        { "Infinity", CIP_NODE_FLOAT, ".inf" },
        { "-Infinity", CIP_NODE_FLOAT, "-.inf" },
        { "null", CIP_NODE_NULL, "null" },
        { "true", CIP_NODE_BOOL, "true" },
        { "\"a\\u00e9\\ud83d\\ude00\\/\"", CIP_NODE_STRING, "a\xc3\xa9\xf0\x9f\x98\x80/" },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cip_node *n;
        assert_int_equal(read_json(b, row[i].json, &n), CIP_OK);
        assert_int_equal(n->type, row[i].type);
        assert_string_equal(n->text, row[i].text);
    }
}

static void collections_nest(void **state)
{
    bench *b = *state;
    cip_node *n;
    int64_t v;
    assert_int_equal(read_json(b, "{\"k\": [1, 2, {\"x\": -3}], \"e\": {}}\n", &n), CIP_OK);
    assert_int_equal(n->len, 2);
    assert_int_equal(cip_tree_get_int(n, "k/2/x", &v, &b->err), CIP_OK);
    assert_int_equal(v, -3);
    assert_int_equal(cip_map_get(n, "e")->type, CIP_NODE_MAP);
}

static void of_equal_keys_the_last_counts(void **state)
{
    bench *b = *state;
    cip_node *n;
    int64_t v;
    bool repeated;
    assert_int_equal(read_text(b, "{\"a\": 1, \"b\": 2, \"a\": 3}", 0, &n, &repeated), CIP_OK);
    assert_true(repeated);
    assert_string_equal(n->pair[0].key->text, "a");
    assert_int_equal(cip_tree_get_int(n, "a", &v, &b->err), CIP_OK);
    assert_int_equal(v, 3);
    assert_int_equal(read_text(b, "{\"a:\": {\"b\": 2}}", 0, &n, &repeated), CIP_OK);
    assert_false(repeated);
}

static void a_printed_dict_is_read_where_it_may_be(void **state)
{
    bench *b = *state;
    const char *text = "{'dtype': 'float64', 'shape': [1024], 'others': [], 'ok': True}";
    cip_node *n;
    assert_int_equal(read_json(b, text, &n), CIP_ERR_CORRUPT);
    assert_int_equal(read_text(b, text, CIP_JSON_PRINTED, &n, NULL), CIP_OK);
    assert_string_equal(cip_map_get(n, "dtype")->text, "float64");
    assert_true(cip_map_get(n, "ok")->b);
    assert_int_equal(read_text(b, "[99999999999999999999]", CIP_JSON_PRINTED, &n, NULL),
                     CIP_ERR_CORRUPT);
}

static void what_is_no_json_is_corrupt(void **state)
{
    bench *b = *state;
    const char *text[] = { "",
                           "{",
                           "{\"a\": 1,}",
                           "{\"a\": 1} {}",
                           "[1 2]",
                           "{a: 1}",
                           "\"\\x\"",
                           "[99999999999999999999]",
                           "\"\xff\xfe\"",
                           "{\"a\\u0000b\": 1}",
                           "// 1",
                           "'a'" };
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        cip_node *n;
        assert_int_equal(read_json(b, text[i], &n), CIP_ERR_CORRUPT);
        assert_null(n);
    }
    cip_node *n;
    assert_int_equal(cip_json_read(&b->arena, exact(b, "{}\0", 3), 0, &n, NULL, &b->err),
                     CIP_ERR_CORRUPT);
    assert_int_equal(read_json(b, "[\"a\\u0000b\"]", &n), CIP_OK);
    assert_int_equal(n->item[0]->len, 3);
}

static cip_status read_repeated(bench *b, const char *piece, size_t n)
{
    size_t each = strlen(piece);
    char *text = malloc(n * each);
    cip_node *node;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++)
        memcpy(text + i * each, piece, each);
    cip_status st =
        cip_json_read(&b->arena, (cip_bytes){ (uint8_t *)text, n * each }, 0, &node, NULL, &b->err);
    free(text);
    return st;
}

static void bombs_are_refused_before_they_are_parsed(void **state)
{
    bench *b = *state;
    assert_int_equal(read_repeated(b, "[", 1000000), CIP_ERR_LIMIT);
    assert_int_equal(read_repeated(b, "{},", 1000000), CIP_ERR_LIMIT);
    assert_int_equal(read_repeated(b, "1,", 2000000), CIP_ERR_LIMIT);
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &f };
        bench b;
        cip_node *node;
        bench_start(&b, &from);
        cip_status st = read_json(&b, "{\"k\": [1, 2.5, \"x\", null, {\"a\": true}]}", &node);
        assert_int_equal(st, f.requests < n ? CIP_OK : CIP_ERR_NOMEM);
        bench_end(&b);
        assert_int_equal(f.held, 0);
        if (f.requests < n)
            break;
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_keep_their_types),
        TEST(collections_nest),
        TEST(of_equal_keys_the_last_counts),
        TEST(a_printed_dict_is_read_where_it_may_be),
        TEST(what_is_no_json_is_corrupt),
        TEST(bombs_are_refused_before_they_are_parsed),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
