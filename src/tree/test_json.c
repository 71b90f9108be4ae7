/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "support/tree/tree_testing.h"

static const char *json(bench *b, const cip_node *root, const cip_json_write *opt)
{
    b->out.len = 0;
    b->err = (cip_err)CIP_ERR_INIT;
    if (cip_json_emit_as(&b->env, root, opt, &b->out, &b->err) != CIP_OK)
        fail_msg("%s", b->err.text);
    assert_int_equal(cip_buf_nul(&b->out, NULL), CIP_OK);
    return (const char *)b->out.ptr;
}

static void assert_json(bench *b, const char *yaml, const char *expected)
{
    assert_string_equal(json(b, parse(b, yaml), NULL), expected);
}

static void values_become_json(void **state)
{
    static const struct {
        const char *yaml, *json;
    } cases[] = {
        { "~", "null" },
        { "", "null" },
        { "yes", "true" },
        { "off", "false" },
        { "12", "12" },
        { "-12", "-12" },
        { "-9223372036854775808", "-9223372036854775808" },
        { "18446744073709551615", "18446744073709551615" },
        { "010", "8" },
        { "0x1F", "31" },
        { "+1_000", "1000" },
        { "18446744073709551616", "18446744073709551616" },
        { "-1_00000000000000000000", "-100000000000000000000" },
        { "0xFFFFFFFFFFFFFFFFFF", "4722366482869645213695" },
        { "1.5", "1.5" },
        { "-0.50", "-0.50" },
        { "0.0", "0.0" },
        { "-0.0", "-0.0" },
        { "1.0e+16", "1.0e+16" },
        { "1.5E-5", "1.5E-5" },
        { "!!float 1e5", "1e5" },
        { "!!float 12", "12" },
        { ".5", "0.5" },
        { "1.", "1.0" },
        { "+1.5", "1.5" },
        { "01.5", "1.5" },
        { "-01.5", "-1.5" },
        { "1_0.5", "10.5" },
        { "1.e+5", "100000.0" },
        { "1:30.5", "90.5" },
        { ".nan", "\"NaN\"" },
        { ".inf", "\"Infinity\"" },
        { "-.inf", "\"-Infinity\"" },
        { "1.0e+400", "\"Infinity\"" },
        { "word", "\"word\"" },
        { "2001-01-01", "\"2001-01-01\"" },
        { "!!binary AAAA", "\"AAAA\"" },
        { "[]", "[]" },
        { "{}", "{}" },
        { "[1, [2, 3], {}]", "[1, [2, 3], {}]" },
        { "{a: 1, b: {c: [2]}}", "{\"a\": 1, \"b\": {\"c\": [2]}}" },
        { "{1: a, ~: b, yes: c, 'd\"': e}",
          "{\"1\": \"a\", \"~\": \"b\", \"yes\": \"c\", \"d\\\"\": \"e\"}" },
        { "{? [1, {a: b}] : c, ? {d: e} : f}",
          "{\"[1, {\\\"a\\\": \\\"b\\\"}]\": \"c\", \"{\\\"d\\\": \\\"e\\\"}\": \"f\"}" },
        { "!t {a: !u 1}", "{\"a\": \"1\"}" },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_json(b, cases[i].yaml, cases[i].json);
}

static void integers_too_long_to_convert_are_text(void **state)
{
    bench *b = *state;
    char *text = malloc(9001), *quoted = malloc(9003);
    memset(text, '1', 9000);
    text[9000] = '\0';
    assert_json(b, text, text); /* decimal already */
    memcpy(text, "0x", 2);
    snprintf(quoted, 9003, "\"%s\"", text);
    assert_json(b, text, quoted);
    free(text);
    free(quoted);
}

static void strings_are_escaped(void **state)
{
    static const struct {
        const char *text, *json;
    } cases[] = {
        { "", "\"\"" },
        { "plain \xc3\xa9 \xf0\x9f\x98\x80 /", "\"plain \xc3\xa9 \xf0\x9f\x98\x80 /\"" },
        { "a\"b\\c", "\"a\\\"b\\\\c\"" },
        { "\n\r\t\x08\x1b\x7f", "\"\\n\\r\\t\\u0008\\u001b\\u007f\"" },
        { "\xc2\x85\xc2\x9f", "\"\\u0085\\u009f\"" },
        { "\xe2\x80\xae\xe2\x81\xa6\xd8\x9c", "\"\\u202e\\u2066\\u061c\"" },
        { "\xe2\x80\xa8\xef\xbb\xbf", "\"\\u2028\\ufeff\"" },
        { "a\xff"
          "b\xc3",
          "\"a\xef\xbf\xbd"
          "b\xef\xbf\xbd\"" },
        { "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        b->out.len = 0;
        cip_bytes in = exact(b, cases[i].text, strlen(cases[i].text));
        assert_int_equal(cip_json_string(&b->out, (const char *)in.ptr, in.len, NULL), CIP_OK);
        assert_int_equal(b->out.len, strlen(cases[i].json));
        assert_memory_equal(b->out.ptr, cases[i].json, b->out.len);
    }
    b->out.len = 0;
    assert_int_equal(cip_json_string(&b->out, "a\0b", 3, NULL), CIP_OK);
    assert_memory_equal(b->out.ptr, "\"a\\u0000b\"", b->out.len);
}

static void tags_are_shown_when_asked_for(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "!t {a: !u 1, b: [!!int 2, 3]}");
    assert_int_equal(cip_json_emit(&b->env, root, true, &b->out, NULL), CIP_OK);
    cip_buf_nul(&b->out, NULL);
    assert_string_equal((char *)b->out.ptr,
                        "{\"$tag\": \"!t\", \"$value\": {\"a\": {\"$tag\": \"!u\", \"$value\": "
                        "\"1\"}, \"b\": [{\"$tag\": \"tag:yaml.org,2002:int\", \"$value\": 2}, "
                        "3]}}");
    b->out.len = 0;
    assert_int_equal(cip_json_emit(&b->env, root, false, &b->out, NULL), CIP_OK);
    cip_buf_nul(&b->out, NULL);
    assert_string_equal((char *)b->out.ptr, "{\"a\": \"1\", \"b\": [2, 3]}");
}

static void of_keys_that_look_alike_the_string_keeps_its_quotes(void **state)
{
    bench *b = *state;
    assert_json(b, "{'1': a, 1: b, '2': c, 0x2: d}",
                "{\"\\\"1\\\"\": \"a\", \"1\": \"b\", "
                "\"\\\"2\\\"\": \"c\", \"0x2\": \"d\"}");
    assert_json(b, "{1: b, '1': &r [*r]}",
                "{\"1\": \"b\", \"\\\"1\\\"\": [{\"$ref\": \"#/\\\"1\\\"\"}]}");
}

static void aliases_are_written_out_and_cycles_referred_to(void **state)
{
    bench *b = *state;
    assert_json(b, "a: &a [1]\nb: [*a, *a]\n", "{\"a\": [1], \"b\": [[1], [1]]}");
    assert_json(b, "&r {a: *r}", "{\"a\": {\"$ref\": \"#\"}}");
    assert_json(b, "a: &a [*a, {k/~: *a}]\nb: *a\n",
                "{\"a\": [{\"$ref\": \"#/a\"}, {\"k/~\": {\"$ref\": \"#/a\"}}], "
                "\"b\": [{\"$ref\": \"#/b\"}, {\"k/~\": {\"$ref\": \"#/b\"}}]}");
    assert_json(b, "'': {x/y~z: &c [[*c]], l: [0, &d {e: *d}], ? [k] : &f [*f]}",
                "{\"\": {\"x/y~z\": [[{\"$ref\": \"#//x~1y~0z\"}]], "
                "\"l\": [0, {\"e\": {\"$ref\": \"#//l/1\"}}], "
                "\"[\\\"k\\\"]\": [{\"$ref\": \"#//?2\"}]}}");
}

static void what_is_missing_is_null(void **state)
{
    bench *b = *state;
    cip_node *map;
    assert_string_equal(json(b, NULL, NULL), "null");
    cip_node_new_map(&b->arena, 1, &map, NULL);
    assert_string_equal(json(b, map, NULL), "{\"\": null}");
}

static void deep_collections_can_be_left_out(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "{a: [1, [2]], b: {}}");
    assert_string_equal(json(b, root, &(cip_json_write){ .max_depth = 1 }),
                        "{\"a\": \"...\", \"b\": \"...\"}");
    assert_string_equal(json(b, root, &(cip_json_write){ .max_depth = 2 }),
                        "{\"a\": [1, \"...\"], \"b\": {}}");
    assert_string_equal(json(b, root, &(cip_json_write){ .max_depth = 3 }),
                        "{\"a\": [1, [2]], \"b\": {}}");
}

static bool take_arrays(void *user, const cip_node *node, const char **text)
{
    *text = user;
    return node->tag != NULL && strcmp(node->tag, "!nd") == 0;
}

static void nodes_can_be_taken_over(void **state)
{
    bench *b = *state;
    char text[] = "<\"array\">";
    const cip_json_write opt = { .tags = true, .special = take_arrays, .user = text };
    assert_string_equal(json(b, parse(b, "{a: !nd [1], b: !x 2}"), &opt),
                        "{\"a\": \"<\\\"array\\\">\", \"b\": {\"$tag\": \"!x\", \"$value\": "
                        "\"2\"}}");
}

static void depth_and_nodes_are_bounded(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "a: &a [1, 2]\nb: [*a, *a]\n? [k]\n: 3\n"); /* 14 nodes */
    b->env.limits.max_expansion = 14;
    b->env.limits.max_depth = 3;
    json(b, root, NULL);
    b->out.len = 3;
    b->env.limits.max_expansion = 13;
    assert_int_equal(cip_json_emit(&b->env, root, false, &b->out, &b->err), CIP_ERR_LIMIT);
    assert_string_equal(b->err.text,
                        "expected at most 13 nodes to write, aliases counted, found more");
    assert_int_equal(b->out.len, 3); /* left alone */
    b->env.limits.max_expansion = 14;
    b->env.limits.max_depth = 2;
    assert_int_equal(cip_json_emit(&b->env, root, false, &b->out, &b->err), CIP_ERR_LIMIT);
    assert_string_equal(b->err.text,
                        "expected at most 2 collections inside each other, found more");
    assert_int_equal(b->out.len, 3);
}

static cip_status emit_much(bench *b)
{
    const cip_node *root;
    const cip_json_write opt = { .tags = true };
    char text[4000];
    size_t n = 0;
    b->out.mem = &b->env.mem;
    for (int i = 0; i < 30; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "k%d: &a%d !t [one, {\"t\\x01\\\"wo\xc3\xa9\": .5}, *a%d]\n? [5, "
                              "6]\n: 0xFFFFFFFFFFFFFFFFFFFF\n",
                              i, i, i);
    cip_status st = cip_yaml_parse(&b->env, &b->arena, exact(b, text, n), NULL, &root, &b->err);
    if (st == CIP_OK)
        st = cip_json_emit_as(&b->env, root, &opt, &b->out, &b->err);
    return st;
}

static void no_memory_to_write_is_reported(void **state)
{
    (void)state;
    every_allocation_may_fail(emit_much);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_become_json),
        TEST(integers_too_long_to_convert_are_text),
        TEST(strings_are_escaped),
        TEST(tags_are_shown_when_asked_for),
        TEST(of_keys_that_look_alike_the_string_keeps_its_quotes),
        TEST(aliases_are_written_out_and_cycles_referred_to),
        TEST(what_is_missing_is_null),
        TEST(deep_collections_can_be_left_out),
        TEST(nodes_can_be_taken_over),
        TEST(depth_and_nodes_are_bounded),
        cmocka_unit_test(no_memory_to_write_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
