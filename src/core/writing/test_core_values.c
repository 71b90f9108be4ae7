/* SPDX-License-Identifier: BSD-3-Clause
 * Values set by path, in new files and in ones that change: the same family, the same trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/own_folder.h"

static int add_text(void *user, const void *bytes, size_t n)
{
    char *text = user;
    const size_t len = strlen(text);
    assert_true(len + n < 4096);
    memcpy(text + len, bytes, n);
    text[len + n] = '\0';
    return 0;
}

/* The node as JSON, `path` of the file. */
static const char *shown(const char *file, const char *path)
{
    static char text[4096];
    cip_file *f;
    const cip_tree_print_options json = { .size = sizeof json, .json = true };
    text[0] = '\0';
    OK(cip_open(file, NULL, &f, err));
    OK(cip_tree_print(f, cip_tree_get(cip_file_tree(f), path, err), &json, add_text, text, err));
    cip_file_close(f);
    return text;
}

/* Sets one of every kind, below v; and a list by its items. */
static void set_all(cip_change *w, const cip_file *from)
{
    const cip_node *node = cip_tree_get(cip_file_tree(from), "top", NULL);
#define SET(kind, ...) OK(cip_change_set_##kind(w, __VA_ARGS__, err))
    SET(string, "v/string", "1");
    SET(int, "v/int", -INT64_MAX);
    SET(uint, "v/uint", INT64_MAX);
    SET(double, "v/double", 0.1);
    SET(bool, "v/bool", true);
    SET(null, "v/null");
    SET(yaml, "v/yaml", "{a: [1, x]}");
    SET(typed, "v/typed", "1e-3");
    SET(node, "v/node", from, node);
    SET(int, "v/list/0", 1);
    SET(int, "v/list/1", 2);
    SET(int, "v/list/-", 3);
    SET(int, "v/list/1", 7);
    SET(null, "v/list/0");
    SET(string, "v/deep/0/0/a", "b");
#undef SET
}

static const char all[] =
    "{\"string\": \"1\", \"int\": -9223372036854775807, \"uint\": 9223372036854775807, "
    "\"double\": 0.1, \"bool\": true, \"null\": null, \"yaml\": {\"a\": [1, \"x\"]}, "
    "\"typed\": 1.0e-3, \"node\": {\"a\": [1, 2.5, null], \"b\": {\"c\": \"d\"}, \"again\": "
    "{\"c\": \"d\"}, \"few\": \"array int64 [2] inline\"}, \"list\": [null, 7, 3], "
    "\"deep\": [[{\"a\": \"b\"}]]}\n";

static const char other[] = "top: {a: [1, 2.5, ~], b: &x !mine {c: d}, again: *x, few: "
                            "!core/ndarray-1.1.0 [1, 2]}\n";

static void writers_and_edits_set_the_same(void **state)
{
    (void)state;
    char *mem;
    cip_change *w;
    cip_change *e;
    cip_file *from = test_open_asdf(other, &mem);
    const char *new = scratch_path(&s, "new.asdf");
    OK(cip_create(new, NULL, &w, err));
    set_all(w, from);
    OK(cip_change_commit(&w, err));
    assert_string_equal(shown(new, "v"), all);
    edit_verify(new);
    const char *old = edit_file(&s, "old.asdf", false);
    OK(cip_change_open(old, NULL, &e, err));
    set_all(e, from);
    cip_file_close(from); /* it was copied */
    free(mem);
    OK(cip_change_commit(&e, err));
    assert_string_equal(shown(old, "v"), all);
    cip_file *f;
    OK(cip_open(old, NULL, &f, err));
    const cip_node *v = cip_tree_get(cip_file_tree(f), "v/node", NULL);
    assert_string_equal(cip_node_tag(cip_tree_get(v, "b", NULL)), "tag:stsci.edu:asdf/mine");
    cip_file_close(f);
    edit_expect(old, "v/node/few", "1 2\n");
    edit_verify(old);
}

static void arrays_that_lie_in_blocks_do_not_go_with_a_node(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "a.asdf", false);
    cip_file *from;
    cip_change *w;
    cip_change *e;
    OK(cip_open(path, NULL, &from, err));
    OK(cip_create(scratch_path(&s, "b.asdf"), NULL, &w, err));
    FAILS(CIP_ERR_UNSUPPORTED, "'image'",
          cip_change_set_node(w, "copy", from, cip_file_tree(from), err));
    cip_change_abort(&w);
    OK(cip_change_open(edit_file(&s, "c.asdf", false), NULL, &e, err));
    FAILS(
        CIP_ERR_UNSUPPORTED, "'packed'",
        cip_change_set_node(e, "copy", from, cip_array_node(cip_find(from, "packed", NULL)), err));
    FAILS(CIP_ERR_UNSUPPORTED, "'packed'", cip_change_commit(&e, err));
    cip_file_close(from);
}

static void what_is_not_given_is_refused(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", edit_file(&s, "d.asdf", false));
    cip_err held = CIP_ERR_INIT;
    cip_file *from;
    OK(cip_open(path, NULL, &from, err));
    for (int i = 0; i < 8; i++) {
        cip_change *w;
        cip_change *e;
        OK(cip_create(scratch_path(&s, "e.asdf"), NULL, &w, err));
        OK(cip_change_open(path, NULL, &e, err));
        cip_status st = CIP_OK, too = CIP_OK;
#define BOTH(kind, ...)                                                                            \
    do {                                                                                           \
        st = cip_change_set_##kind(w, __VA_ARGS__, NULL);                                          \
        too = cip_change_set_##kind(e, __VA_ARGS__, NULL);                                         \
    } while (0)
        switch (i) {
        case 0:
            BOTH(string, "a", NULL);
            break;
        case 1:
            BOTH(string, NULL, "a");
            break;
        case 2:
            BOTH(yaml, "a", NULL);
            break;
        case 3:
            BOTH(typed, "a", NULL);
            break;
        case 4:
            BOTH(node, "a", from, NULL);
            break;
        case 5:
            BOTH(node, "a", NULL, cip_file_tree(from));
            break;
        case 6:
            BOTH(string, "a", "\xff");
            break;
        default:
            BOTH(null, NULL);
        }
#undef BOTH
        assert_int_equal(st, CIP_ERR_ARG);
        assert_int_equal(too, CIP_ERR_ARG);
        cip_change_abort(&w);
        cip_change_abort(&e);
    }
    assert_int_equal(cip_change_set_uint(NULL, "a", 1, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_change_set_null(NULL, "a", NULL), CIP_ERR_ARG);
    assert_null(cip_tree_get(cip_file_tree(from), "none", &held));
    assert_int_equal(cip_change_set_node(NULL, "a", from, NULL, &held), CIP_ERR_NOT_FOUND);
    cip_file_close(from);
}

static void items_beyond_the_next_are_not_there(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path(&s, "f.asdf"));
    cip_change *w;
    cip_change *e;
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_set_yaml(w, "l", "[1]", err));
    OK(cip_change_set_yaml(w, "m", "{}", err));
    OK(cip_change_set_int(w, "m/0", 1, err)); /* a mapping stays one */
    OK(cip_change_set_int(w, "n/1", 1, err));
    OK(cip_change_commit(&w, err));
    cip_file *f;
    OK(cip_open(path, NULL, &f, err));
    assert_int_equal(cip_node_kind(cip_tree_get(cip_file_tree(f), "m", NULL)), CIP_NODE_MAP);
    assert_int_equal(cip_node_kind(cip_tree_get(cip_file_tree(f), "n", NULL)), CIP_NODE_MAP);
    cip_file_close(f);
    OK(cip_create(scratch_path(&s, "g.asdf"), NULL, &w, err));
    OK(cip_change_set_yaml(w, "l", "[1]", err));
    FAILS(CIP_ERR_NOT_FOUND, "'2'", cip_change_set_int(w, "l/2", 1, err));
    cip_change_abort(&w);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_set_int(e, "l/1", 2, err));
    FAILS(CIP_ERR_NOT_FOUND, "'4'", cip_change_set_int(e, "l/4", 1, err));
    cip_change_abort(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_and_edits_set_the_same),
        cmocka_unit_test(arrays_that_lie_in_blocks_do_not_go_with_a_node),
        cmocka_unit_test(what_is_not_given_is_refused),
        cmocka_unit_test(items_beyond_the_next_are_not_there),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
