/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "tree/json_read.h"
#include "support/tree/tree_testing.h"

static cip_status read_n(bench *b, const char *text, size_t len, uint32_t flags, cip_node **out)
{
    const cip_json_source from = {
        .env = &b->env, .arena = &b->arena, .part = "meta/storage", .flags = flags
    };
    return cip_json_read(&from, exact(b, text, len), out, &b->err);
}

static cip_status read_json(bench *b, const char *text, cip_node **out)
{
    return read_n(b, text, strlen(text), 0, out);
}

static void write_back(bench *b, const cip_node *n, const char *want)
{
    const cip_json_write file = { .file = true };
    cip_buf out = { .mem = &b->env.mem };
    assert_int_equal(cip_json_emit_as(&b->env, n, &file, &out, &b->err), CIP_OK);
    assert_int_equal(cip_buf_nul(&out, &b->err), CIP_OK);
    assert_string_equal((const char *)out.ptr, want);
    cip_buf_clear(&out);
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
        { "-0", CIP_NODE_INT, "0" },
        { "9223372036854775808", CIP_NODE_INT, "9223372036854775808" },
        { "18446744073709551615", CIP_NODE_INT, "18446744073709551615" },
        { "18446744073709551616", CIP_NODE_BIGINT, "18446744073709551616" },
        { "-9223372036854775808", CIP_NODE_INT, "-9223372036854775808" },
        { "-9223372036854775809", CIP_NODE_BIGINT, "-9223372036854775809" },
        { "-1.5E+2", CIP_NODE_FLOAT, "-150.0" },
        { "1e999", CIP_NODE_FLOAT, ".inf" },
        { "1e5", CIP_NODE_FLOAT, "100000.0" },
        { "0.5", CIP_NODE_FLOAT, "0.5" },
        { "NaN", CIP_NODE_FLOAT, ".nan" },
        { "Infinity", CIP_NODE_FLOAT, ".inf" },
        { "-Infinity", CIP_NODE_FLOAT, "-.inf" },
        { "null", CIP_NODE_NULL, "null" },
        { "true", CIP_NODE_BOOL, "true" },
        { "\"a\\u00e9\\ud83d\\ude00\\/\"", CIP_NODE_STRING, "a\xc3\xa9\xf0\x9f\x98\x80/" },
        { "\"\\u20AC\\t\\\"\\\\\"", CIP_NODE_STRING, "\xe2\x82\xac\t\"\\" },
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
    assert_int_equal(read_json(b, "{\"a:\": {\"b\": 2}}", &n), CIP_OK);
    assert_int_equal(warned(b), 0);
    assert_int_equal(read_json(b, "{\"x\": {\"a\": 1, \"b\": 2, \"a\": 3}}", &n), CIP_OK);
    n = (cip_node *)cip_map_get(n, "x");
    assert_int_equal(n->len, 2);
    assert_string_equal(n->pair[0].key->text, "a");
    assert_int_equal(cip_tree_get_int(n, "a", &v, &b->err), CIP_OK);
    assert_int_equal(v, 3);
    assert_int_equal(warned(b), 1);
    assert_string_equal(warning(b, 0)->part, "meta/storage");
    assert_string_equal(warning(b, 0)->text, "'x/a': the key is repeated: the last one counts");
}

static void keys_may_have_a_nul(void **state)
{
    bench *b = *state;
    cip_node *n;
    assert_int_equal(read_json(b, "{\"a\\u0000b\": 1, \"a\": \"c\\u0000d\"}", &n), CIP_OK);
    assert_int_equal(n->len, 2);
    assert_int_equal(n->pair[0].key->len, 3);
    assert_int_equal(n->pair[1].value->len, 3);
    assert_int_equal(warned(b), 0);
    write_back(b, n, "{\"a\\u0000b\": 1, \"a\": \"c\\u0000d\"}");
}

static void what_no_node_can_hold_stays_json(void **state)
{
    bench *b = *state;
    const char *text = "{\"a\": [\"x\\ud800\", \"\\udc00\\ud800\"], \"\\ud834 \": 2, \"b\": 3}";
    cip_node *n;
    int64_t v;
    assert_int_equal(read_json(b, text, &n), CIP_OK);
    assert_int_equal(cip_tree_get_int(n, "b", &v, &b->err), CIP_OK);
    const cip_node *raw = cip_tree_get(n, "a/0", NULL);
    assert_string_equal(raw->tag, CIP_JSON_RAW);
    assert_string_equal(raw->text, "\"x\\ud800\"");
    assert_int_equal(warned(b), 3);
    assert_non_null(strstr(warning(b, 0)->text, "'a/0'"));
    write_back(b, n, text);
}

/* A list in `depth` others. */
static char *nested(size_t depth, const char *in)
{
    char *text = malloc(2 * depth + strlen(in) + 1);
    assert_non_null(text);
    memset(text, '[', depth);
    strcpy(text + depth, in);
    memset(text + depth + strlen(in), ']', depth);
    text[2 * depth + strlen(in)] = '\0';
    return text;
}

static void what_is_nested_too_deep_stays_json(void **state)
{
    bench *b = *state;
    for (int more = 0; more < 2; more++) {
        char *text = nested(CIP_JSON_DEPTH - 1, more != 0 ? "[{\"]\": \"\\\"\"}, 1]" : "[1]");
        cip_node *root;
        assert_int_equal(read_json(b, text, &root), CIP_OK);
        const cip_node *n = root;
        while (n->type == CIP_NODE_SEQ)
            n = n->item[0];
        assert_string_equal(n->text, more != 0 ? "{\"]\": \"\\\"\"}" : "1");
        assert_int_equal(n->tag != NULL, more);
        assert_int_equal(warned(b), more);
        write_back(b, root, text);
        free(text);
    }
    b->env.limits.max_depth = 1;
    cip_node *n;
    int64_t v;
    assert_int_equal(read_json(b, "{\"a\": {}, \"b\": 3}", &n), CIP_OK);
    assert_int_equal(cip_tree_get_int(n, "b", &v, &b->err), CIP_OK);
    assert_string_equal(cip_tree_get(n, "a", NULL)->tag, CIP_JSON_RAW);
}

static void keys_in_quotes_are_written_as_they_are(void **state)
{
    bench *b = *state;
    const char *text = "{\"x\": 1, \"\\\"x\\\"\": 2}";
    cip_node *n;
    assert_int_equal(read_json(b, text, &n), CIP_OK);
    write_back(b, n, text);
}

static void a_printed_dict_is_read_where_it_may_be(void **state)
{
    bench *b = *state;
    const char *text = "{'dtype': 'float64', 'shape': [1024], 'it\\'s': None, 'ok': True}";
    cip_node *n;
    assert_int_equal(read_json(b, text, &n), CIP_ERR_CORRUPT);
    assert_int_equal(read_n(b, text, strlen(text), CIP_JSON_PRINTED, &n), CIP_OK);
    assert_string_equal(cip_map_get(n, "dtype")->text, "float64");
    assert_int_equal(cip_map_get(n, "it's")->type, CIP_NODE_NULL);
    assert_true(cip_map_get(n, "ok")->b);
}

static void what_is_no_json_is_corrupt(void **state)
{
    bench *b = *state;
    const struct {
        const char *text;
        uint64_t at;
    } row[] = { { "", 0 },
                { "{", 1 },
                { "{\"a\": 1,}", 8 },
                { "{\"a\": 1} {}", 9 },
                { "[1 2]", 3 },
                { "{a: 1}", 1 },
                { "\"\\x\"", 2 },
                { "\"\\u12g4\"", 5 },
                { "// 1", 0 },
                { "'a'", 0 },
                { "[1, 2", 5 },
                { "\"abc", 4 },
                { "01", 1 },
                { "+1", 0 },
                { "1.", 2 },
                { ".5", 0 },
                { "1e", 2 },
                { "-", 1 },
                { "True", 0 },
                { "[1,,2]", 3 },
                { "{\"a\" 1}", 5 },
                { "nul", 0 },
                { "\"\xff\xfe\"", CIP_NO_OFFSET },
                { "[1}", 2 },
                { "\"\\ud8\"", 5 } };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cip_node *n;
        b->err = (cip_err)CIP_ERR_INIT;
        assert_int_equal(read_json(b, row[i].text, &n), CIP_ERR_CORRUPT);
        assert_int_equal(b->err.offset, row[i].at);
        assert_null(n);
    }
    cip_node *n;
    assert_int_equal(read_n(b, "{}\0", 3, 0, &n), CIP_ERR_CORRUPT);
    assert_int_equal(read_n(b, "\"a\0b\"", 5, 0, &n), CIP_ERR_CORRUPT);
}

static cip_status read_repeated(bench *b, const char *piece, size_t n)
{
    size_t each = strlen(piece);
    char *text = malloc(n * each);
    cip_node *node;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++)
        memcpy(text + i * each, piece, each);
    const cip_json_source from = { .env = &b->env, .arena = &b->arena, .part = "x" };
    cip_status st = cip_json_read(&from, (cip_bytes){ (uint8_t *)text, n * each }, &node, &b->err);
    free(text);
    return st;
}

static void bombs_are_refused(void **state)
{
    bench *b = *state;
    b->env.limits.max_nodes = 100000;
    assert_int_equal(read_repeated(b, "[{},", 1000000), CIP_ERR_CORRUPT); /* never ends */
    assert_int_equal(read_repeated(b, "[", 1000000), CIP_ERR_CORRUPT);
    char *wide = malloc(300000), *end = wide;
    assert_non_null(wide);
    *end++ = '[';
    for (int i = 0; i < 100001; i++, end += 2)
        memcpy(end, "1,", 2);
    end[-1] = ']';
    cip_node *n;
    assert_int_equal(read_n(b, wide, (size_t)(end - wide), 0, &n), CIP_ERR_LIMIT);
    free(wide);
    assert_true(warned(b) < 20);
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
        const char *text = "{\"k\": [1, 2.5, \"x\", 99999999999999999999, {\"a\": \"\\ud800\"}]}";
        const cip_json_source quiet = { .env = &b.env, .arena = &b.arena };
        cip_status st = cip_json_read(&quiet, exact(&b, text, strlen(text)), &node, &b.err);
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
        TEST(keys_may_have_a_nul),
        TEST(what_no_node_can_hold_stays_json),
        TEST(what_is_nested_too_deep_stays_json),
        TEST(keys_in_quotes_are_written_as_they_are),
        TEST(a_printed_dict_is_read_where_it_may_be),
        TEST(what_is_no_json_is_corrupt),
        TEST(bombs_are_refused),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
