/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "support/tree/tree_testing.h"

static const cip_yaml_write plain = { 0 };

static const char *emit(bench *b, const cip_node *root, const cip_yaml_write *opt)
{
    b->out.len = 0;
    b->err = (cip_err)CIP_ERR_INIT;
    if (cip_yaml_emit(&b->env, root, opt, &b->out, &b->err) != CIP_OK)
        fail_msg("%s", b->err.text);
    assert_int_equal(cip_buf_nul(&b->out, NULL), CIP_OK);
    return (const char *)b->out.ptr;
}

/* Written as `expected`, which reads back as the same tree. */
static void assert_emitted(bench *b, const cip_node *root, const cip_yaml_write *opt,
                           const char *expected)
{
    assert_string_equal(emit(b, root, opt), expected);
    const cip_yaml_options read = { .default_handle = opt != NULL ? opt->handle_prefix : NULL,
                                    .quiet = true };
    if (!same_tree(root, parse_as(b, expected, &read)))
        fail_msg("not read back alike: %s", expected);
}

static void assert_kept(bench *b, const char *text)
{
    assert_emitted(b, parse(b, text), &plain, text);
}

static void layouts_are_kept(void **state)
{
    static const char *const texts[] = {
        "word\n",
        "12\n",
        "''\n",
        "[]\n",
        "{}\n",
        "a: 1\nb: word\n",
        "- 1\n- word\n",
        "[1, 2, word]\n",
        "{a: 1, b: [2, {c: 3}]}\n",
        "a:\n  b:\n    c: 1\n  d: 2\ne: 3\n",
        "a:\n- 1\n- b:\n  - 2\n  - 3\n  c: 4\n- - 5\n  - - 6\n    - 7\nd: []\ne: {}\n",
        "- a: 1\n  b: 2\n- c: {d: [1, 2]}\n- [3]\n",
        "? [1, 2]\n: a\n? {b: c}\n: d: 1\n  e:\n  - 2\n? []\n: - 3\n  - 4\n",
        "{? [1] : 2, ? {a: b} : [3], c: d}\n",
        "lit: |\n  a\n   b\n\n  c\nend: |-\n  x\nkeep: |+\n  y\n\n\nlast: 1\n",
        "- |\n  a\n- - |-\n    b\n    c\n  - d: |\n      e\n",
        "|\n  root\n  text\n",
        "'quoted': \"double\"\nplain: 'single'\n",
        "!<x> a: !<y> 1\nb: !<z>\n  c: 1\nd: !<w>\n- 2\ne: !<v> [3]\nf: !!set\n  g: null\n",
        "- !<x>\n  a: 1\n- !<y>\n  - 2\n- !<z> 3\n",
        "!<x>\na: 1\n",
        "!<x>\n- 1\n",
        "!<x> [1]\n",
        "a: ~\n~: null\n1: yes2\ntrue: 1.5\n",
        "a: !!binary |\n  AAAA\n  BBBB\nb: !!binary CCCC\n",
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_kept(b, texts[i]);
}

static void anchors_and_cycles_are_kept(void **state)
{
    static const char *const texts[] = {
        "a: &x [1]\nb: *x\nc: {d: *x}\n",
        "a: &x\n  k: v\nb:\n- *x\n- *x\n",
        "&r\na: *r\nl: &l [*l, *r]\n",
        "&r [*r]\n",
        "&r\n- *r\n",
        "a: &s word\nb: *s\nc: &unused 5\n",
        "a: &k key\n*k : 1\n? &m [1]\n: 2\n*m : 3\n",
        "{p: &k a, *k : 2, b: &s [3], ? *s : 4}\n",
        "a: &id001 {k: 1}\nb: &x !<t> 5\nc: [*id001, *x]\n",
    };
    bench *b = *state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (i == 7)
            continue; /* `? *s` is written without its question mark */
        assert_kept(b, texts[i]);
    }
    assert_emitted(b, parse(b, texts[7]), &plain, "{p: &k a, *k : 2, b: &s [3], *s : 4}\n");
}

static void anchors_are_made_where_they_are_needed(void **state)
{
    bench *b = *state;
    /* the merged collection has none, and the first name to make is taken */
    const cip_node *root = parse(b, "a: &a {x: [1], p: &id001 2}\nb: {<<: *a, z: *id001}\n");
    assert_emitted(b, root, &plain,
                   "a: &a {x: &id002 [1], p: &id001 2}\nb: {x: *id002, p: *id001, z: *id001}\n");
    /* the same name twice: the second gets another */
    root = parse(b, "a: &x [1]\nb: *x\nc: &x [2]\nd: *x\n");
    assert_emitted(b, root, &plain, "a: &x [1]\nb: *x\nc: &id001 [2]\nd: *id001\n");
    root = parse(b, "a: &x 1\nb: &x 2\n");
    assert_emitted(b, root, &plain, "a: &x 1\nb: 2\n");
    /* made by hand, with names that are none */
    static const char *const bad[] = { "a b", "", "\xc3\xa9", "x,", "*" };
    for (size_t i = 0; i < 5; i++) {
        cip_node *seq, *item;
        cip_node_new_seq(&b->arena, 2, &seq, NULL);
        cip_node_new_seq(&b->arena, 0, &item, NULL);
        cip_node_set_item(seq, 0, item);
        cip_node_set_item(seq, 1, item);
        item->anchor = bad[i];
        assert_emitted(b, seq, &plain, "- &id001 []\n- *id001\n");
    }
}

static void scalars_alone_go_in_flow_style(void **state)
{
    bench *b = *state;
    cip_node *map, *seq, *k, *v;
    cip_node_new_seq(&b->arena, 2, &seq, NULL);
    cip_node_new_int(&b->arena, 1, &v, NULL);
    cip_node_set_item(seq, 0, v);
    cip_node_set_item(seq, 1, v);
    assert_emitted(b, seq, &plain, "[1, 1]\n");
    cip_node_new_map(&b->arena, 2, &map, NULL);
    cip_node_new_string(&b->arena, "k", 1, &k, NULL);
    cip_node_set_pair(map, 0, k, v);
    cip_node_new_string(&b->arena, "l", 1, &k, NULL);
    cip_node_set_pair(map, 1, k, v);
    assert_emitted(b, map, &plain, "{k: 1, l: 1}\n");
    cip_node_set_pair(map, 1, k, seq);
    assert_emitted(b, map, &plain, "k: 1\nl: [1, 1]\n");
    cip_node_set_pair(map, 1, seq, v);
    assert_emitted(b, map, &plain, "k: 1\n? [1, 1]\n: 1\n");
    cip_node_new_string(&b->arena, "x\ny\n", 4, &v, NULL);
    cip_node_set_item(seq, 1, v);
    assert_emitted(b, seq, &plain, "[1, \"x\\ny\\n\"]\n");
    v->style = CIP_STYLE_LITERAL;
    assert_emitted(b, seq, &plain, "- 1\n- |\n  x\n  y\n");
    /* as it was written, otherwise */
    seq->style = CIP_STYLE_FLOW;
    assert_emitted(b, seq, &plain, "[1, \"x\\ny\\n\"]\n");
    assert_kept(b, "a: 1\n");
    assert_kept(b, "{a: [{b: 1}]}\n");
}

static void keys_stay_as_written(void **state)
{
    bench *b = *state;
    assert_kept(b, "010: 1\n9: 2\nyes: 3\nfalse: 4\n12:30: 5\n1_000: 6\n!!null null: 7\n");
    assert_kept(b, "{010: 010x, yes: [0x1F], 1:30.5: 2001-01-01 10:00:00, ~: ~}\n");
    assert_emitted(b, parse(b, "010: 010\nyes: yes\n? [yes]\n: 1\n? \n: 2\n"), &plain,
                   "010: 8\nyes: true\n? [true]\n: 1\nnull: 2\n");
    cip_node *map = (cip_node *)parse(b, "!!int '7': 1\n");
    assert_emitted(b, map, &plain, "!!int 7: 1\n");
    map = (cip_node *)parse(b, "!!float 1e5: 1\n");
    assert_emitted(b, map, &plain, "!!float 1e5: 1\n");
    ((cip_node *)map->pair[0].key)->tag = NULL;
    assert_string_equal(emit(b, map, &plain), "100000.0: 1\n");
}

static void what_is_missing_is_null(void **state)
{
    bench *b = *state;
    cip_node *seq, *map;
    assert_string_equal(emit(b, NULL, &plain), "null\n");
    cip_node_new_seq(&b->arena, 2, &seq, NULL);
    assert_string_equal(emit(b, seq, NULL), "[null, null]\n");
    cip_node_new_map(&b->arena, 1, &map, NULL);
    assert_string_equal(emit(b, map, &plain), "{null: null}\n");
}

static void binary_data_have_their_tag(void **state)
{
    bench *b = *state;
    cip_node *n;
    cip_node_new_string(&b->arena, "AAAA", 4, &n, NULL);
    n->type = CIP_NODE_BINARY;
    assert_string_equal(emit(b, n, &plain), "!!binary AAAA\n");
}

static void documents_have_their_frame(void **state)
{
    bench *b = *state;
    const cip_yaml_write doc = { .document = true, .handle_prefix = "tag:stsci.edu:asdf/" };
    const cip_yaml_write bare = { .document = true };
    const char *text = "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
                       "a: !core/ndarray-1.0.0 {source: 0}\nb: !<tag:other/x> 1\n...\n";
    assert_emitted(b, parse(b, text), &doc, text);
    text = "%YAML 1.1\n--- !<tag:stsci.edu:asdf/core/asdf-1.1.0>\na: 1\n...\n";
    assert_emitted(b, parse(b, text), &bare, text);
    assert_emitted(b, parse(b, "a: 1"), &bare, "%YAML 1.1\n---\na: 1\n...\n");
    assert_emitted(b, parse(b, "- 1"), &bare, "%YAML 1.1\n---\n- 1\n...\n");
    assert_emitted(b, parse(b, "[1]"), &bare, "%YAML 1.1\n--- [1]\n...\n");
    assert_emitted(b, parse(b, "word"), &bare, "%YAML 1.1\n--- word\n...\n");
    assert_emitted(b, parse(b, "|\n  a\n"), &bare, "%YAML 1.1\n--- |\n  a\n...\n");
    assert_emitted(b, parse(b, "&x {a: *x}"), &bare, "%YAML 1.1\n--- &x {a: *x}\n...\n");
    const cip_yaml_write odd = { .document = true, .handle_prefix = "tag:a b/" };
    assert_emitted(b, parse(b, "!<tag:a%20b/x> 1"), &odd,
                   "%YAML 1.1\n%TAG ! tag:a%20b/\n--- !x 1\n...\n");
}

static void handles_shorten_tags_without_a_document_too(void **state)
{
    bench *b = *state;
    const cip_yaml_write opt = { .handle_prefix = "tag:d/" };
    assert_emitted(b, parse(b, "!<tag:d/x> [1, !<tag:d/y> 2]"), &opt, "!x [1, !y 2]\n");
}

static void long_flow_is_wrapped_at_80(void **state)
{
    bench *b = *state;
    char text[4000];
    size_t n = (size_t)snprintf(text, sizeof text, "a:\n  b: [");
    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d", i > 0 ? ", " : "", 1000 + i);
    n += (size_t)snprintf(text + n, sizeof text - n, "]\n  c: {");
    for (int i = 0; i < 20; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%skey%d: value", i > 0 ? ", " : "", i);
    snprintf(text + n, sizeof text - n, "}\n");
    assert_emitted(b, parse(b, text), &plain,
                   "a:\n"
                   "  b: [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011,\n"
                   "    1012, 1013, 1014, 1015, 1016, 1017, 1018, 1019, 1020, 1021, 1022, 1023,\n"
                   "    1024, 1025, 1026, 1027, 1028, 1029, 1030, 1031, 1032, 1033, 1034, 1035,\n"
                   "    1036, 1037, 1038, 1039, 1040, 1041, 1042, 1043, 1044, 1045, 1046, 1047,\n"
                   "    1048, 1049, 1050, 1051, 1052, 1053, 1054, 1055, 1056, 1057, 1058, 1059]\n"
                   "  c: {key0: value, key1: value, key2: value, key3: value, key4: value,\n"
                   "    key5: value, key6: value, key7: value, key8: value, key9: value,\n"
                   "    key10: value, key11: value, key12: value, key13: value, key14: value,\n"
                   "    key15: value, key16: value, key17: value, key18: value, key19: value}\n");
}

static void wrapping_starts_at_the_eightieth_column(void **state)
{
    bench *b = *state;
    char text[200], word[100];
    for (int len = 60; len < 90; len++) { /* across 72 and 75 */
        memset(word, 'w', sizeof word);
        word[len] = '\0';
        /* "[a, " and the word end at column len + 4; with a comma one more */
        snprintf(text, sizeof text,
                 len + 4 + 3 < 80 ? "[a, %s, b]\n"
                 : len + 4 < 80   ? "[a, %s,\n  b]\n"
                                  : "[a,\n  %s,\n  b]\n",
                 word);
        assert_emitted(b, parse(b, text), &plain, text);
    }
    /* the first item has nowhere to go */
    memset(word, 'w', sizeof word);
    word[99] = '\0';
    snprintf(text, sizeof text, "[%s]\n", word);
    assert_emitted(b, parse(b, text), &plain, text);
}

static void inner_flow_is_wrapped_where_it_ends(void **state)
{
    bench *b = *state;
    const char *text =
        "[[1111111111, 2222222222, 3333333333, 4444444444], [5555555555, 6666666666,\n"
        "  7777777777], [8888888888]]\n";
    assert_emitted(b, parse(b, text), &plain, text);
}

static void long_keys_get_a_question_mark(void **state)
{
    bench *b = *state;
    char key[1200], text[1300];
    for (int len = 999; len <= 1001; len++) {
        memset(key, 'k', sizeof key);
        key[len] = '\0';
        snprintf(text, sizeof text, len <= 1000 ? "%s: 1\nb: 2\n" : "? %s\n: 1\nb: 2\n", key);
        assert_emitted(b, parse(b, text), &plain, text);
        snprintf(text, sizeof text, len <= 1000 ? "{%s: 1}\n" : "{? %s : 1}\n", key);
        assert_emitted(b, parse(b, text), &plain, text);
        snprintf(text, sizeof text, len <= 1000 ? "%s:\n  b: 2\n" : "? %s\n: b: 2\n", key);
        assert_emitted(b, parse(b, text), &plain, text);
    }
    assert_emitted(b, parse(b, "? |\n  a\n  b\n: 1\n"), &plain, "\"a\\nb\\n\": 1\n");
}

static void deep_collections_can_be_left_out(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "a:\n  b:\n  - [1]\n  c: x\nd: [[1]]\n? [k]\n: 1\n");
    cip_yaml_write opt = { .max_depth = 1 };
    assert_string_equal(emit(b, root, &opt), "a: ...\nd: ...\n? ...\n: 1\n");
    opt.max_depth = 2;
    assert_string_equal(emit(b, root, &opt), "a:\n  b: ...\n  c: x\nd: [...]\n? [k]\n: 1\n");
    opt.max_depth = 3;
    assert_string_equal(emit(b, root, &opt), "a:\n  b:\n  - ...\n  c: x\nd: [[1]]\n? [k]\n: 1\n");
    opt.max_depth = 4;
    assert_string_equal(emit(b, root, &opt), "a:\n  b:\n  - [1]\n  c: x\nd: [[1]]\n? [k]\n: 1\n");
    /* what is left out needs no anchor */
    root = parse(b, "- [&x [1], *x]\n- 2\n");
    opt.max_depth = 2;
    assert_string_equal(emit(b, root, &opt), "- [..., ...]\n- 2\n");
}

static bool take_arrays(void *user, const cip_node *node, const char **text)
{
    ++*(size_t *)user;
    if (node->tag == NULL || strcmp(node->tag, "!nd") != 0)
        return false;
    *text = "<array>";
    return true;
}

static void nodes_can_be_taken_over(void **state)
{
    bench *b = *state;
    size_t calls = 0;
    const cip_yaml_write opt = { .special = take_arrays, .user = &calls };
    const cip_node *root = parse(b, "a: !nd {source: 0}\nb:\n- &x !nd [1]\n- *x\n- 5\n");
    assert_string_equal(emit(b, root, &opt), "a: <array>\nb:\n- <array>\n- <array>\n- 5\n");
    assert_true(calls > 5);
    root = parse(b, "!nd {a: 1}");
    assert_string_equal(emit(b, root, &opt), "<array>\n");
}

static void output_is_appended_or_left_alone(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "[[1, 2]]");
    cip_buf_addf(&b->out, NULL, "before: ");
    assert_int_equal(cip_yaml_emit(&b->env, root, &plain, &b->out, NULL), CIP_OK);
    assert_int_equal(b->out.len, strlen("before: [[1, 2]]\n"));
    assert_memory_equal(b->out.ptr, "before: [[1, 2]]\n", b->out.len);
    b->env.limits.max_depth = 1;
    assert_int_equal(cip_yaml_emit(&b->env, root, &plain, &b->out, &b->err), CIP_ERR_LIMIT);
    assert_int_equal(b->out.len, strlen("before: [[1, 2]]\n"));
    assert_string_equal(b->err.text,
                        "expected at most 1 collections inside each other, found more");
    b->env.limits.max_depth = 2;
    assert_int_equal(cip_yaml_emit(&b->env, root, &plain, &b->out, &b->err), CIP_OK);
}

static void nodes_written_are_bounded(void **state)
{
    bench *b = *state;
    const cip_node *root = parse(b, "a: [1, 2]\nb: 3\n"); /* 7 nodes with the keys */
    b->env.limits.max_expansion = 7;
    emit(b, root, &plain);
    b->env.limits.max_expansion = 6;
    assert_int_equal(cip_yaml_emit(&b->env, root, &plain, &b->out, &b->err), CIP_ERR_LIMIT);
    assert_string_equal(b->err.text, "expected at most 6 nodes to write, found more");
    assert_true(b->err.offset == CIP_NO_OFFSET);
}

/* Aliases are not expanded: ten levels of ten are a hundred nodes. */
static void billion_laughs_stay_short(void **state)
{
    bench *b = *state;
    b->env.limits.max_expansion = 200;
    b->out.len = 0;
    cip_buf_addf(&b->out, NULL, "- &a0 [x]\n");
    for (int i = 1; i <= 10; i++)
        cip_buf_addf(&b->out, NULL, "- &a%d [*a%d, *a%d, *a%d]\n", i, i - 1, i - 1, i - 1);
    cip_buf_nul(&b->out, NULL);
    char *text = strdup((const char *)b->out.ptr);
    assert_emitted(b, parse(b, text), &plain, text);
    free(text);
}

typedef struct maker {
    bench *b;
    uint64_t x;
    const cip_node *made[64]; /* to be shared */
    size_t nmade;
} maker;

static uint64_t next(maker *m, uint64_t below)
{
    m->x ^= m->x << 13;
    m->x ^= m->x >> 7;
    m->x ^= m->x << 17;
    return (m->x >> 11) % below;
}

static cip_node *make_string(maker *m)
{
    static const char *const pieces[] = { "a",
                                          "b",
                                          " ",
                                          ":",
                                          "-",
                                          "#",
                                          "'",
                                          "\"",
                                          "\n",
                                          "\t",
                                          ",",
                                          "[",
                                          "]",
                                          "{",
                                          "}",
                                          "1",
                                          ".",
                                          "e5",
                                          "\\",
                                          "\xc3\xa9",
                                          "\xf0\x9f\x98\x80",
                                          "\xe2\x80\xae",
                                          "\x01",
                                          "!",
                                          "&",
                                          "*",
                                          "?",
                                          "|",
                                          ">",
                                          "%",
                                          "@",
                                          "`",
                                          "~",
                                          "null",
                                          "yes",
                                          "---",
                                          "...",
                                          "0x",
                                          "word",
                                          "=",
                                          "<<",
                                          "\xc2\x85",
                                          "\r" };
    char text[200] = "";
    size_t n = next(m, 7), len = 0;
    for (size_t i = 0; i < n; i++) {
        const char *p = pieces[next(m, sizeof pieces / sizeof pieces[0])];
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", p);
    }
    cip_node *node;
    cip_node_new_string(&m->b->arena, text, len, &node, NULL);
    node->style = (uint8_t)next(m, CIP_STYLE_FOLDED + 1);
    return node;
}

static cip_node *make_scalar(maker *m)
{
    cip_node *node;
    double f;
    uint64_t bits;
    switch (next(m, 9)) {
    case 0:
        cip_node_new_int(&m->b->arena, (int64_t)(m->x >> next(m, 64)) * (next(m, 2) ? 1 : -1),
                         &node, NULL);
        return node;
    case 1:
        cip_node_new_uint(&m->b->arena, m->x, &node, NULL);
        return node;
    case 2:
        next(m, 2);
        bits = m->x;
        memcpy(&f, &bits, sizeof f);
        cip_node_new_double(&m->b->arena, f, &node, NULL);
        return node;
    case 3:
        cip_node_new_bool(&m->b->arena, next(m, 2), &node, NULL);
        return node;
    case 4:
        cip_node_new_null(&m->b->arena, &node, NULL);
        return node;
    default:
        node = make_string(m);
        if (next(m, 5) == 0)
            node->tag = "tag:d/s";
        return node;
    }
}

static cip_node *make(maker *m, int depth);

static const cip_node *child(maker *m, int depth)
{
    if (m->nmade > 0 && next(m, 12) == 0)
        return m->made[next(m, m->nmade)]; /* also itself and those around it */
    return make(m, depth + 1);
}

static cip_node *make(maker *m, int depth)
{
    static const char *const tags[] = { "tag:d/x", "tag:yaml.org,2002:omap", "!l", "o", "a b#" };
    cip_node *node;
    if (depth > 5 || next(m, 3) == 0)
        return make_scalar(m);
    size_t n = next(m, depth == 0 ? 12 : 6);
    bool map = next(m, 2);
    if (map)
        cip_node_new_map(&m->b->arena, n, &node, NULL);
    else
        cip_node_new_seq(&m->b->arena, n, &node, NULL);
    node->style = (uint8_t)(next(m, 3) == 0   ? CIP_STYLE_FLOW
                            : next(m, 2) == 0 ? CIP_STYLE_BLOCK
                                              : CIP_STYLE_ANY);
    if (next(m, 5) == 0)
        node->tag = tags[next(m, 5)];
    if (next(m, 6) == 0)
        node->anchor = next(m, 2) ? "x" : "id001";
    if (m->nmade < 64)
        m->made[m->nmade++] = node;
    for (size_t i = 0; i < n; i++) {
        if (!map) {
            cip_node_set_item(node, i, child(m, depth));
            continue;
        }
        char name[32];
        cip_node *key;
        snprintf(name, sizeof name, "%zu key", i); /* keys are to differ */
        cip_node_new_string(&m->b->arena, name, strlen(name), &key, NULL);
        const cip_node *k = next(m, 8) == 0 ? child(m, depth) : key;
        cip_node_set_pair(node, i, cip_node_kind(k) >= CIP_NODE_SEQ ? k : key, child(m, depth));
    }
    return node;
}

static void any_tree_reads_back_alike(void **state)
{
    (void)state;
    maker m = { .x = 88172645463325252 };
    for (int i = 0; i < 4000; i++) {
        bench b;
        bench_start(&b, NULL);
        m.b = &b;
        m.nmade = 0;
        const cip_node *root = make(&m, 0);
        const cip_yaml_write opt = { .handle_prefix = i % 2 ? "tag:d/" : NULL,
                                     .document = i % 4 < 2 };
        const cip_yaml_options read = { .default_handle = opt.handle_prefix, .quiet = true };
        b.env.limits.max_depth = 64;
        const char *text = emit(&b, root, &opt);
        char *copy = strdup(text);
        const cip_node *back = parse_as(&b, copy, &read);
        if (!same_tree(root, back))
            fail_msg("tree %d reads back otherwise:\n%s", i, copy);
        /* and is written the same again, but for the styles that were left open */
        if (!same_tree(back, parse_as(&b, emit(&b, back, &opt), &read)))
            fail_msg("tree %d reads back otherwise the second time:\n%s", i, copy);
        free(copy);
        bench_end(&b);
    }
}

static cip_status emit_much(bench *b)
{
    static const cip_yaml_write opt = { .document = true, .handle_prefix = "tag:d/" };
    const cip_node *root;
    char text[8000];
    size_t n = 0;
    b->out.mem = &b->env.mem;
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "k%d: &a%d !<tag:d/t> [one, {two: three}, four, *a%d]\n"
                              "? [5, 6]\n: |\n  lit\n  eral\n",
                              i, i, i);
    cip_status st = cip_yaml_parse(&b->env, &b->arena, exact(b, text, n), NULL, &root, &b->err);
    if (st == CIP_OK)
        st = cip_yaml_emit(&b->env, root, &opt, &b->out, &b->err);
    if (st != CIP_OK)
        assert_int_equal(b->out.len, 0);
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
        TEST(layouts_are_kept),
        TEST(anchors_and_cycles_are_kept),
        TEST(anchors_are_made_where_they_are_needed),
        TEST(scalars_alone_go_in_flow_style),
        TEST(keys_stay_as_written),
        TEST(what_is_missing_is_null),
        TEST(binary_data_have_their_tag),
        TEST(documents_have_their_frame),
        TEST(handles_shorten_tags_without_a_document_too),
        TEST(long_flow_is_wrapped_at_80),
        TEST(wrapping_starts_at_the_eightieth_column),
        TEST(inner_flow_is_wrapped_where_it_ends),
        TEST(long_keys_get_a_question_mark),
        TEST(deep_collections_can_be_left_out),
        TEST(nodes_can_be_taken_over),
        TEST(output_is_appended_or_left_alone),
        TEST(nodes_written_are_bounded),
        TEST(billion_laughs_stay_short),
        cmocka_unit_test(any_tree_reads_back_alike),
        cmocka_unit_test(no_memory_to_write_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
