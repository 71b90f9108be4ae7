/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "support/tree/tree_testing.h"

static const cip_node *at(bench *b, const cip_node *root, const char *path)
{
    const cip_node *n = cip_tree_get(root, path, &b->err);
    if (n == NULL)
        fail_msg("no %s: %s", path, b->err.text);
    return n;
}

static void nothing_is_null(void **state)
{
    static const char *const texts[] = {
        "", "\n", "# comment\n", "---\n...\n", "---", "--- # c\n"
    };
    bench *b = *state;
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(cip_node_kind(parse(b, texts[i])), CIP_NODE_NULL);
    const cip_node *root = NULL;
    assert_int_equal(cip_yaml_parse(&b->env, &b->arena, (cip_bytes){ NULL, 0 }, NULL, &root, NULL),
                     CIP_OK);
    assert_int_equal(cip_node_kind(root), CIP_NODE_NULL);
}

static void scalars_keep_style_and_text(void **state)
{
    static const struct {
        const char *text;
        cip_style style;
        cip_node_type type;
        const char *content;
    } cases[] = {
        { "12", CIP_STYLE_PLAIN, CIP_NODE_INT, "12" },
        { "'12'", CIP_STYLE_SINGLE, CIP_NODE_STRING, "12" },
        { "\"1\\x32\"", CIP_STYLE_DOUBLE, CIP_NODE_STRING, "12" },
        { "|\n 12\n", CIP_STYLE_LITERAL, CIP_NODE_STRING, "12\n" },
        { ">-\n 12\n 13\n", CIP_STYLE_FOLDED, CIP_NODE_STRING, "12 13" },
        { "two\n words", CIP_STYLE_PLAIN, CIP_NODE_STRING, "two words" },
        { "''", CIP_STYLE_SINGLE, CIP_NODE_STRING, "" },
        { "yes", CIP_STYLE_PLAIN, CIP_NODE_BOOL, "yes" },
        { "1.50", CIP_STYLE_PLAIN, CIP_NODE_FLOAT, "1.50" },
        { "2001-01-01", CIP_STYLE_PLAIN, CIP_NODE_TIMESTAMP, "2001-01-01" },
        { "<<", CIP_STYLE_PLAIN, CIP_NODE_STRING, "<<" },
        { "=", CIP_STYLE_PLAIN, CIP_NODE_STRING, "=" },
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const cip_node *n = parse(b, cases[i].text);
        assert_int_equal(n->style, cases[i].style);
        assert_int_equal(n->type, cases[i].type);
        assert_string_equal(n->text, cases[i].content);
        assert_int_equal(n->len, strlen(cases[i].content));
        assert_null(n->tag);
        assert_null(n->anchor);
    }
    const cip_node *n = parse(b, "\"a\\0b\"");
    assert_int_equal(n->len, 3);
    assert_memory_equal(n->text, "a\0b", 4);
}

static void collections_keep_their_style(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "a: [1, 2]\nb: {c: d}\ne:\n- f\ng: []\nh: {}\n");
    assert_int_equal(root->style, CIP_STYLE_BLOCK);
    assert_int_equal(at(b, root, "a")->style, CIP_STYLE_FLOW);
    assert_int_equal(at(b, root, "b")->style, CIP_STYLE_FLOW);
    assert_int_equal(at(b, root, "e")->style, CIP_STYLE_BLOCK);
    assert_int_equal(cip_node_kind(at(b, root, "g")), CIP_NODE_SEQ);
    assert_int_equal(at(b, root, "g")->len, 0);
    assert_int_equal(cip_node_kind(at(b, root, "h")), CIP_NODE_MAP);
    assert_int_equal(at(b, root, "h")->len, 0);
    assert_int_equal(at(b, root, "a/1")->u, 2);
}

static void assert_place(const cip_node *n, uint64_t offset, uint64_t end)
{
    assert_int_equal(n->offset, offset);
    assert_int_equal(n->end, end);
}

static void places_are_in_bytes(void **state)
{
    bench *b = *state;
    /*                            0         1         2          3         4
                                  0123456789012345678901234567 8901234567890123 45 */
    const cip_node *root = parse(b, "a: xyz\nb: &n !t {c: 'q'}\nd:\n- 1\n# c\n- x y\n   z\n");
    assert_place(root, 0, 47);
    assert_place(cip_node_key(root, 0), 0, 1);
    assert_place(at(b, root, "a"), 3, 6);
    assert_place(at(b, root, "b"), 10, 24); /* with anchor and tag */
    assert_place(at(b, root, "b/c"), 20, 23);
    assert_place(at(b, root, "d"), 28, 47); /* to the next token, after comments */
    assert_place(at(b, root, "d/0"), 30, 31);
    assert_place(at(b, root, "d/1"), 38, 46);
}

static void places_count_bytes_of_any_character(void **state)
{
    bench *b = *state;
    const char *text = "\xc3\xa9: \xe2\x82\xac\r\n"
                       "k\xf0\x9f\x98\x80: [\xc2\x85 x, 'y']\xe2\x80\xa8z: 1";
    const cip_node *root = parse(b, text);
    for (size_t i = 0; i < 3; i++) {
        const cip_node *key = cip_node_key(root, i);
        assert_memory_equal(text + key->offset, key->text, key->len);
        assert_int_equal(key->end - key->offset, key->len);
    }
    const cip_node *seq = cip_node_at(root, 1);
    assert_int_equal(text[seq->offset], '[');
    assert_int_equal(text[seq->end - 1], ']');
    assert_int_equal(text[seq->item[0]->offset], 'x');
    assert_int_equal(text[seq->item[1]->offset], '\'');
    assert_int_equal(seq->item[1]->end - seq->item[1]->offset, 3);
    assert_int_equal(root->end, strlen(text));
    /* with a byte order mark in front */
    root = parse(b, "\xef\xbb\xbf"
                    "a: \xc3\xa9\nb: c");
    assert_place(root, 3, 13);
    assert_place(at(b, root, "a"), 6, 8);
    assert_place(at(b, root, "b"), 12, 13);
    refuses(b, "\xef\xbb\xbf\xc3\xa9: [", CIP_ERR_CORRUPT, 8);
    refuses(b, "\xc3\xa9: '\xe2\x82\xac' x", CIP_ERR_CORRUPT, 10);
}

static void tags_are_resolved(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "%TAG ! tag:stsci.edu:asdf/\n%TAG !e! tag:e/\n---\n"
                                    "a: !core/x-1.0.0 1\nb: !!omap []\nc: !<verb:atim> {}\n"
                                    "d: !e!f%20g x\ne: ! 12\nf: ! [1]\ng: !<!local> x\n");
    assert_string_equal(at(b, root, "a")->tag, "tag:stsci.edu:asdf/core/x-1.0.0");
    assert_int_equal(at(b, root, "a")->type, CIP_NODE_STRING); /* its meaning is not ours */
    assert_string_equal(at(b, root, "b")->tag, "tag:yaml.org,2002:omap");
    assert_string_equal(at(b, root, "c")->tag, "verb:atim");
    assert_string_equal(at(b, root, "d")->tag, "tag:e/f g");
    assert_null(at(b, root, "e")->tag);
    assert_int_equal(at(b, root, "e")->type, CIP_NODE_INT); /* as PyYAML */
    assert_null(at(b, root, "f")->tag);
    assert_string_equal(at(b, root, "g")->tag, "!local");
    root = parse(b, "a: !core/x 1\nb: !l []");
    assert_string_equal(at(b, root, "a")->tag, "!core/x");
    assert_string_equal(at(b, root, "b")->tag, "!l");
    assert_int_equal(warned(b), 0);
}

static void a_mark_for_no_tag_resolves_quoted_text(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "a: ! '2026-06-08 08:00:21'\nb: ! \"x\"\nc: ! '12'\n");
    assert_int_equal(at(b, root, "a")->type, CIP_NODE_TIMESTAMP);
    assert_int_equal(at(b, root, "b")->type, CIP_NODE_STRING);
    assert_int_equal(at(b, root, "c")->type, CIP_NODE_INT);
}

static void the_default_handle_is_used_and_warned_of_once(void **state)
{
    bench *b = *state;
    const cip_yaml_options opt = { .default_handle = "tag:d/", .base = 100, .part = "here" };
    const cip_node *root =
        parse_as(b, "a: 1\nb: !x 1\nc: !y 2\nd: !!str 3\ne: !<t> 4\nf: !x [5]", &opt);
    assert_string_equal(at(b, root, "b")->tag, "tag:d/x");
    assert_string_equal(at(b, root, "c")->tag, "tag:d/y");
    assert_string_equal(at(b, root, "d")->tag, "tag:yaml.org,2002:str");
    assert_string_equal(at(b, root, "e")->tag, "t");
    assert_string_equal(at(b, root, "f")->tag, "tag:d/x");
    assert_int_equal(warned(b), 1);
    assert_int_equal(warning(b, 0)->offset, 108);
    assert_string_equal(warning(b, 0)->part, "here");
    assert_string_equal(warning(b, 0)->text,
                        "expected %TAG for the handle !, found none: it is read as tag:d/");
    /* a text that names its handle needs none */
    root = parse_as(b, "%TAG ! !\n--- [!x 1]", &opt);
    assert_string_equal(at(b, root, "0")->tag, "!x");
    root = parse_as(b, "[!<!x> 1, !x 2, !<!x> 3, &a !<!x> 4, &a !x 5]", &opt);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(root->item[i]->tag, i == 1 || i == 4 ? "tag:d/x" : "!x");
    assert_int_equal(warned(b), 2);
    root = parse_as(b, "%TAG !e! t:\n--- [!x 1]", &opt);
    assert_string_equal(at(b, root, "0")->tag, "tag:d/x");
    assert_int_equal(warned(b), 3);
    const cip_yaml_options quiet = { .default_handle = "tag:d/", .quiet = true };
    root = parse_as(b, "[!x 1]", &quiet);
    assert_string_equal(at(b, root, "0")->tag, "tag:d/x");
    assert_int_equal(warned(b), 3);
}

static void many_tags_are_kept_apart(void **state)
{
    bench *b = *state;
    char text[4000], tag[40];
    size_t n = 0;
    for (int i = 0; i < 100; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "- !t%d%s x\n", i % 37, i % 3 ? "" : "z");
    const cip_node *root = parse(b, text);
    for (int i = 0; i < 100; i++) {
        snprintf(tag, sizeof tag, "!t%d%s", i % 37, i % 3 ? "" : "z");
        assert_string_equal(root->item[i]->tag, tag);
    }
    root = parse(b, "[!a 1, !a 2]");
    assert_ptr_equal(root->item[0]->tag, root->item[1]->tag); /* one copy */
}

static void yaml_tags_decide_the_type(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "a: !!str 12\nb: !!int '12'\nc: !!float 1\nd: !!bool \"no\"\n"
                                    "e: !!null x\nf: !!binary AA==\ng: !!set {x: null}\n"
                                    "h: !!timestamp '2001-01-01'\ni: !!python/x 1\n");
    static const struct {
        const char *path, *tag;
        cip_node_type type;
    } cases[] = {
        { "a", "str", CIP_NODE_STRING },      { "b", "int", CIP_NODE_INT },
        { "c", "float", CIP_NODE_FLOAT },     { "d", "bool", CIP_NODE_BOOL },
        { "e", "null", CIP_NODE_NULL },       { "f", "binary", CIP_NODE_BINARY },
        { "g", "set", CIP_NODE_MAP },         { "h", "timestamp", CIP_NODE_TIMESTAMP },
        { "i", "python/x", CIP_NODE_STRING },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const cip_node *n = at(b, root, cases[i].path);
        assert_int_equal(n->type, cases[i].type);
        assert_string_equal(n->tag + strlen("tag:yaml.org,2002:"), cases[i].tag);
    }
    assert_int_equal(at(b, root, "b")->u, 12);
    assert_int_equal(warned(b), 0);
    root = parse(b, "a: 1\nb: !!int x\n");
    assert_int_equal(at(b, root, "b")->type, CIP_NODE_STRING);
    assert_int_equal(warned(b), 1);
    assert_int_equal(warning(b, 0)->offset, 8);
    assert_string_equal(warning(b, 0)->text,
                        "expected a value of the type that the tag names, found other text");
    const cip_yaml_options quiet = { .quiet = true };
    parse_as(b, "!!int x", &quiet);
    assert_int_equal(warned(b), 1);
}

static void aliases_are_the_nodes_they_name(void **state)
{
    bench *b = *state;
    const cip_node *root =
        parse(b, "a: &x [1]\nb: *x\nc: &y 5\nd: *y\ne: &x {k: v}\nf: *x\ng: &u 1");
    assert_ptr_equal(at(b, root, "a"), at(b, root, "b"));
    assert_ptr_equal(at(b, root, "c"), at(b, root, "d"));
    assert_ptr_equal(at(b, root, "e"), at(b, root, "f")); /* the later anchor counts */
    assert_string_equal(at(b, root, "a")->anchor, "x");
    assert_true(at(b, root, "a")->alias_used);
    assert_true(at(b, root, "c")->alias_used);
    assert_string_equal(at(b, root, "g")->anchor, "u");
    assert_false(at(b, root, "g")->alias_used);
    assert_false(root->alias_used);
    /* as keys too */
    root = parse(b, "a: &k key\n*k : 1\n? &s [1]\n: *s\n");
    assert_int_equal(at(b, root, "key")->u, 1);
    assert_ptr_equal(cip_node_key(root, 2), cip_node_at(root, 2));
}

static void cycles_are_kept(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "&r {a: *r, l: &l [*l, *r]}");
    assert_ptr_equal(at(b, root, "a"), root);
    assert_ptr_equal(at(b, root, "l/0"), at(b, root, "l"));
    assert_ptr_equal(at(b, root, "l/1/a/l/0"), at(b, root, "l"));
}

static void an_alias_of_nothing_is_refused(void **state)
{
    bench *b = *state;
    refuses(b, "a: 1\nb: *nope\n", CIP_ERR_CORRUPT, 8);
    assert_string_equal(b->err.text,
                        "expected an alias of an anchor, found *nope, which has no anchor");
    refuses(b, "a: *x\nb: &x 1\n", CIP_ERR_CORRUPT, 3);
}

static void merge_keys_bring_pairs(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\n"
                                    "one: {a: 0, <<: *b, y: 5}\n"
                                    "list: {<<: [*b, *m], a: 0}\n"
                                    "two: {<<: *b, <<: *m}\n"
                                    "inline: {<<: {p: 1}, q: 2}\n"
                                    "nested: {<<: {<<: *b, w: 6}}\n"
                                    "empty: {<<: {}, a: 1}\n"
                                    "none: {<<: []}\n");
    static const struct {
        const char *path, *keys;
        int values[4];
    } cases[] = {
        { "one", "xya", { 1, 5, 0 } },
        { "list", "yzxa", { 2, 4, 1, 0 } },
        { "two", "xyz", { 1, 3, 4 } },
        { "inline", "pq", { 1, 2 } },
        { "nested", "xyw", { 1, 2, 6 } },
        { "empty", "a", { 1 } },
        { "none", "", { 0 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const cip_node *map = at(b, root, cases[i].path);
        assert_int_equal(map->len, strlen(cases[i].keys));
        for (size_t k = 0; k < map->len; k++) {
            assert_int_equal(cip_node_key(map, k)->text[0], cases[i].keys[k]);
            assert_int_equal(cip_node_at(map, k)->u, cases[i].values[k]);
        }
    }
    assert_ptr_equal(at(b, root, "one/x"), at(b, root, "base/x"));
    assert_int_equal(warned(b), 0);
    /* of the mapping's own keys the last counts, with a warning */
    root = parse(b, "{<<: {a: 1}, a: 2, b: 3, a: 4}");
    assert_int_equal(root->len, 2);
    assert_int_equal(at(b, root, "a")->u, 4);
    assert_int_equal(warned(b), 1);
    assert_string_equal(warning(b, 0)->text,
                        "expected each key once, found \"a\" again: its last value counts");
    assert_int_equal(warning(b, 0)->offset, 25);
}

static void merge_keys_are_known_by_their_form(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "{'<<': {a: 1}}");
    assert_string_equal(cip_node_key(root, 0)->text, "<<");
    root = parse(b, "{!!merge x: {a: 1}}");
    assert_int_equal(at(b, root, "a")->u, 1);
    root = parse(b, "{!!str <<: {a: 1}}");
    assert_string_equal(cip_node_key(root, 0)->text, "<<");
    root = parse(b, "[!!merge x, <<, {k: <<}, {<x: 1, <<<: 2, <>: 3}]");
    assert_int_equal(root->item[0]->type, CIP_NODE_STRING);
    assert_int_equal(root->item[1]->type, CIP_NODE_STRING);
    assert_int_equal(at(b, root, "2/k")->type, CIP_NODE_STRING);
    assert_int_equal(at(b, root, "3")->len, 3);
    assert_int_equal(cip_node_kind(parse(b, "<<")), CIP_NODE_STRING);
    /* its node is a string to those that name it */
    root = parse(b, "[{&k <<: {a: 1}, b: *k}, *k]");
    assert_int_equal(at(b, root, "0")->len, 2);
    assert_int_equal(at(b, root, "0/b")->type, CIP_NODE_STRING);
    assert_string_equal(root->item[1]->text, "<<");
    /* behind other keys, where keys and values must not be taken for each other */
    root = parse(b, "a: <<\nb:\n  - <<\n  - {<<: {c: 1}}\n");
    assert_int_equal(at(b, root, "b/1/c")->u, 1);
    assert_int_equal(at(b, root, "a")->type, CIP_NODE_STRING);
}

static void what_cannot_be_merged_is_refused(void **state)
{
    bench *b = *state;
    refuses(b, "{<<: 1}", CIP_ERR_CORRUPT, 5);
    assert_string_equal(b->err.text, "expected a mapping to merge, found something else");
    refuses(b, "{<<: [{a: 1}, [b]]}", CIP_ERR_CORRUPT, 14);
    refuses(b, "a: &a {<<: *a}", CIP_ERR_CORRUPT, 3);
    assert_string_equal(b->err.text, "expected a mapping to merge, found one that holds the merge "
                                     "key");
    refuses(b, "&a {b: {<<: [{x: y}, *a]}}", CIP_ERR_CORRUPT, 0);
    refuses(b, "&a [{<<: *a}]", CIP_ERR_CORRUPT, 0);
    assert_string_equal(b->err.text,
                        "expected mappings to merge, found a sequence that holds the merge key");
}

static void merged_pairs_are_bounded(void **state)
{
    bench *b = *state;
    const char *text = "a: &a {p: 1, q: 2}\nb: {<<: [*a, *a]}\nc: {<<: *a}\n"; /* 6 pairs */
    b->env.limits.max_expansion = 6;
    parse(b, text);
    b->env.limits.max_expansion = 5;
    refuses(b, text, CIP_ERR_LIMIT, 3);
    assert_string_equal(b->err.text, "expected at most 5 pairs from merge keys, found more");
}

/* A hundred keys merged thirty thousand times into one mapping: 3 million pairs, of which only a
 * few thousand are ever held. */
static void merging_the_same_again_takes_no_memory(void **state)
{
    bench *b = *state;
    b->out.len = 0;
    cip_buf_addf(&b->out, NULL, "a: &a {");
    for (int i = 0; i < 100; i++)
        cip_buf_addf(&b->out, NULL, "key%d: %d, ", i, i);
    cip_buf_addf(&b->out, NULL, "}\nb: {<<: [");
    for (int i = 0; i < 30000; i++)
        cip_buf_addf(&b->out, NULL, "*a,");
    cip_buf_addf(&b->out, NULL, "], own: 1}\n");
    b->env.mem.limit = b->env.mem.used + 8 * b->out.len + (1 << 20);
    const cip_node *root = NULL;
    assert_int_equal(try_parse_n(b, b->out.ptr, b->out.len, NULL, &root), CIP_OK);
    assert_int_equal(at(b, root, "b")->len, 101);
    assert_int_equal(at(b, root, "b/key99")->u, 99);
    assert_int_equal(cip_node_at(at(b, root, "b"), 100)->u, 1);
}

/* Each of 20,000 merged mappings has a key of its own: looking for equal keys each time would take
 * the square of that. */
static void merging_many_mappings_is_linear(void **state)
{
    bench *b = *state;
    b->out.len = 0;
    cip_buf_addf(&b->out, NULL, "{<<: [");
    for (int i = 0; i < 20000; i++)
        cip_buf_addf(&b->out, NULL, "{k%d: %d},", i, i);
    cip_buf_addf(&b->out, NULL, "]}");
    const cip_node *root = NULL;
    assert_int_equal(try_parse_n(b, b->out.ptr, b->out.len, NULL, &root), CIP_OK);
    assert_int_equal(root->len, 20000);
    assert_int_equal(cip_node_at(root, 0)->u, 19999); /* from the last on */
    assert_int_equal(at(b, root, "k0")->u, 0);
}

static void duplicate_keys_are_warned_of(void **state)
{
    bench *b = *state;
    const cip_yaml_options opt = { .base = 100 };
    const cip_node *root = parse_as(b, "a: 1\na: 2\n", &opt);
    assert_int_equal(at(b, root, "a")->u, 2);
    assert_int_equal(warned(b), 1);
    assert_int_equal(warning(b, 0)->offset, 105);
    assert_int_equal(warning(b, 0)->code, CIP_ERR_CORRUPT);
    parse(b, "\"\\e[1m~ \\x7f\\u00e9 a name that is longer than forty\": 1\n"
             "\"\\e[1m~ \\x7f\\u00e9 a name that is longer than forty\": 2\n");
    assert_string_equal(warning(b, 1)->text,
                        "expected each key once, found \"?[1m~ ??? a name that "
                        "is longer than for\" again: its last value counts");
    const cip_yaml_options quiet = { .quiet = true };
    parse_as(b, "a: 1\na: 2\n", &quiet);
    assert_int_equal(warned(b), 2);
}

static void complex_keys_are_nodes(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "? [1, {b: c}]\n: v\n? {x: y}\n: w\n? |\n  lit\n: z\n");
    assert_int_equal(cip_node_kind(cip_node_key(root, 0)), CIP_NODE_SEQ);
    assert_int_equal(cip_node_kind(cip_node_key(root, 1)), CIP_NODE_MAP);
    assert_string_equal(cip_node_key(root, 2)->text, "lit\n");
    assert_true(cip_node_is_string(cip_node_at(root, 1), "w"));
}

static void faults_of_syntax_have_a_place(void **state)
{
    bench *b = *state;
    char key[1100];
    refuses(b, "a: [1, 2\nb: 3", CIP_ERR_CORRUPT, 10);
    assert_string_equal(b->err.text, "expected YAML, found an error while parsing a flow sequence: "
                                     "did not find expected ',' or ']'");
    refuses(b, "a:\n\t- b", CIP_ERR_CORRUPT, 3);
    refuses(b, "a: !x!y z", CIP_ERR_CORRUPT, 3);
    refuses(b, "a: b: c", CIP_ERR_CORRUPT, 4);
    assert_string_equal(b->err.text,
                        "expected YAML, found an error in the text: mapping values are "
                        "not allowed in this context");
    refuses(b, "a: \"\\q\"", CIP_ERR_CORRUPT, 4);
    refuses(b, "a: \"\\ud800\"", CIP_ERR_CORRUPT, 6);
    refuses(b, "--- a\n--- b\n", CIP_ERR_CORRUPT, 6);
    refuses(b, "a\n...\nb\n", CIP_ERR_CORRUPT, 6);
    refuses(b, "[a] b\n", CIP_ERR_CORRUPT, 4);
    refuses(b, "%FOO\na", CIP_ERR_CORRUPT, 5);
    refuses(b, "a: \x01", CIP_ERR_CORRUPT, 3);
    refuses(b, "%TAG ! a\n%TAG ! b\n---\n", CIP_ERR_CORRUPT, 9);
    /* libyaml's bound on keys without a question mark */
    memset(key, 'k', sizeof key);
    memcpy(key + 1024, ": v", 4);
    parse(b, key);
    memset(key, 'k', sizeof key);
    memcpy(key + 1025, ": v", 4);
    refuses(b, key, CIP_ERR_CORRUPT, 1025);
    const cip_yaml_options opt = { .base = 5000, .part = "block index" };
    const cip_node *root = NULL;
    assert_int_equal(try_parse_n(b, "a: [", 4, &opt, &root), CIP_ERR_CORRUPT);
    assert_int_equal(b->err.offset, 5004);
    assert_string_equal(b->err.part, "block index");
    assert_int_equal(cip_yaml_parse(&b->env, &b->arena, bytes_of("["), NULL, &root, NULL),
                     CIP_ERR_CORRUPT);
}

static void repeat(bench *b, const char *front, const char *piece, size_t n, const char *back)
{
    b->out.len = 0;
    cip_buf_addf(&b->out, NULL, "%s", front);
    for (size_t i = 0; i < n; i++)
        cip_buf_add(&b->out, piece, strlen(piece), NULL);
    cip_buf_addf(&b->out, NULL, "%s", back);
    cip_buf_nul(&b->out, NULL);
}

static void depth_is_bounded(void **state)
{
    static const struct {
        const char *piece, *back;
    } cases[] = { { "[", "" },   { "{a: ", "" }, { "- ", "x" },
                  { "? ", "x" }, { "[[", "" },   { "[{a: ", "" } };
    bench *b = *state;
    b->env.limits.max_depth = 3;
    parse(b, "[[[1]]]");
    parse(b, "a: {b: [1]}");
    parse(b, "- - - 1");
    refuses(b, "[[[[1]]]]", CIP_ERR_LIMIT, 3);
    assert_string_equal(b->err.text,
                        "expected at most 3 collections inside each other, found more");
    refuses(b, "a: {b: [{}]}", CIP_ERR_LIMIT, 8);
    refuses(b, "- - - - 1", CIP_ERR_LIMIT, 6);
    refuses(b, "? ? ? ? 1", CIP_ERR_LIMIT, 6);
    refuses(b, "? [[[1]]]\n: 2", CIP_ERR_LIMIT, 4);
    parse(b, "[[[1]], [[2]], [[3]]]"); /* and down again */
    b->env.limits.max_depth = 256;
    for (size_t i = 0; i < 6; i++) { /* all at once, in no time */
        repeat(b, "", cases[i].piece, 100000, cases[i].back);
        const cip_node *root;
        assert_int_equal(try_parse_n(b, b->out.ptr, b->out.len, NULL, &root), CIP_ERR_LIMIT);
    }
}

static void directives_are_bounded(void **state)
{
    bench *b = *state;
    b->env.limits.max_directives = 2;
    parse(b, "%YAML 1.1\n%TAG !a! x\n--- a");
    refuses(b, "%YAML 1.1\n%TAG !a! x\n%TAG !b! x\n--- a", CIP_ERR_LIMIT, 21);
    /* also those of a second document, which libyaml must not see */
    repeat(b, "a\n...\n", "%FOO\n", 100000, "---\n");
    refuses(b, (const char *)b->out.ptr, CIP_ERR_CORRUPT, 6);
}

static void nodes_are_bounded(void **state)
{
    bench *b = *state;
    b->env.limits.max_nodes = 6;
    parse(b, "a: &x [1]\nb: *x"); /* map, a, seq, 1, b, alias */
    b->env.limits.max_nodes = 5;
    refuses(b, "a: &x [1]\nb: *x", CIP_ERR_LIMIT, 13);
    assert_string_equal(b->err.text, "expected at most 5 nodes, found more");
    b->env.limits.max_nodes = 4;
    refuses(b, "a: &x [1]\nb: *x", CIP_ERR_LIMIT, 10);
    b->env.limits.max_nodes = 3;
    refuses(b, "a: &x [1]\nb: *x", CIP_ERR_LIMIT, 7);
    b->env.limits.max_nodes = 2;
    refuses(b, "a: &x [1]\nb: *x", CIP_ERR_LIMIT, 3);
}

static void work_is_bounded(void **state)
{
    bench *b = *state;
    b->env.limits.max_work = 11; /* [ at 0, [ at 1, 1 2 ] at 2, 3 4 5 ] at 1 */
    parse(b, "[[1, 2], 3, 4, 5]");
    b->env.limits.max_work = 10;
    refuses(b, "[[1, 2], 3, 4, 5]", CIP_ERR_LIMIT, 16);
    assert_string_equal(b->err.text, "expected at most 10 as the sum of the depth of all events, "
                                     "found more");
}

static void length_is_bounded(void **state)
{
    bench *b = *state;
    b->env.limits.max_tree_bytes = 4;
    parse(b, "a: b");
    refuses(b, "a: bc", CIP_ERR_LIMIT, 0);
}

static void memory_is_bounded(void **state)
{
    bench *b = *state;
    repeat(b, "", "- some text that is kept\n", 10000, "");
    b->env.mem.limit = b->env.mem.used + 100000;
    const cip_node *root = NULL;
    assert_int_equal(try_parse_n(b, b->out.ptr, b->out.len, NULL, &root), CIP_ERR_LIMIT);
    assert_string_equal(b->err.part, "tree");
}

static void a_million_shallow_scalars_are_fine(void **state)
{
    bench *b = *state;
    repeat(b, "[", "1,", 300000, "]");
    const cip_node *root = NULL;
    assert_int_equal(try_parse_n(b, b->out.ptr, b->out.len, NULL, &root), CIP_OK);
    assert_int_equal(root->len, 300000);
}

static cip_status parse_much(bench *b)
{
    static const cip_yaml_options opt = { .default_handle = "tag:d/" };
    const cip_node *root = (const cip_node *)b;
    char text[6000];
    size_t n = (size_t)snprintf(text, sizeof text, "%%FOO\n%%BAR\n--- !a\n");
    for (int i = 0; i < 60; i++)
        n +=
            (size_t)snprintf(text + n, sizeof text - n,
                             "k%d: &a%d !t%d [1, {k: \"text of some length\", l: [m]}]\n", i, i, i);
    n += (size_t)snprintf(text + n, sizeof text - n, "m: {<<: {a: 1}, b: *a1}\n");
    cip_status st = cip_yaml_parse(&b->env, &b->arena, exact(b, text, n), &opt, &root, &b->err);
    assert_int_equal(root == NULL, st != CIP_OK);
    return st;
}

static cip_status parse_nothing(bench *b)
{
    const cip_node *root = (const cip_node *)b;
    cip_status st = cip_yaml_parse(&b->env, &b->arena, bytes_of(""), NULL, &root, &b->err);
    assert_int_equal(root == NULL, st != CIP_OK);
    return st;
}

static cip_status merge_much(bench *b)
{
    const cip_node *root;
    char text[40000];
    size_t n = (size_t)snprintf(text, sizeof text, "a: &a {");
    for (int i = 0; i < 600; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "key%d: %d, ", i, i);
    n += (size_t)snprintf(text + n, sizeof text - n, "}\nb: {<<: [*a, *a, *a, *a], ");
    for (int i = 0; i < 20; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "own%d: %d, ", i, i);
    n += (size_t)snprintf(text + n, sizeof text - n, "}\n");
    return cip_yaml_parse(&b->env, &b->arena, exact(b, text, n), NULL, &root, &b->err);
}

static void no_memory_for_a_tree_is_reported(void **state)
{
    (void)state;
    every_allocation_may_fail(parse_much);
    every_allocation_may_fail(parse_nothing);
    every_allocation_may_fail(merge_much);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_null),
        TEST(scalars_keep_style_and_text),
        TEST(collections_keep_their_style),
        TEST(places_are_in_bytes),
        TEST(places_count_bytes_of_any_character),
        TEST(tags_are_resolved),
        TEST(a_mark_for_no_tag_resolves_quoted_text),
        TEST(the_default_handle_is_used_and_warned_of_once),
        TEST(many_tags_are_kept_apart),
        TEST(yaml_tags_decide_the_type),
        TEST(aliases_are_the_nodes_they_name),
        TEST(cycles_are_kept),
        TEST(an_alias_of_nothing_is_refused),
        TEST(merge_keys_bring_pairs),
        TEST(merge_keys_are_known_by_their_form),
        TEST(what_cannot_be_merged_is_refused),
        TEST(merged_pairs_are_bounded),
        TEST(merging_the_same_again_takes_no_memory),
        TEST(merging_many_mappings_is_linear),
        TEST(duplicate_keys_are_warned_of),
        TEST(complex_keys_are_nodes),
        TEST(faults_of_syntax_have_a_place),
        TEST(depth_is_bounded),
        TEST(directives_are_bounded),
        TEST(nodes_are_bounded),
        TEST(work_is_bounded),
        TEST(length_is_bounded),
        TEST(memory_is_bounded),
        TEST(a_million_shallow_scalars_are_fine),
        cmocka_unit_test(no_memory_for_a_tree_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
