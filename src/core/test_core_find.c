/* SPDX-License-Identifier: BSD-3-Clause
 * Finding arrays and nodes by patterns; quantities by their arrays, and the reverse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/core_testing.h"

static const char tree[] = "roman:\n"
                           "  data: !core/ndarray-1.1.0 [1, 2]\n"
                           "  data_err: !core/ndarray-1.1.0 [3]\n"
                           "  meta: {name: !x/y-1.0.0 a, wcs: {data: !core/ndarray-1.1.0 [4]}}\n"
                           "  flux: !unit/quantity-1.2.0 {value: !core/ndarray-1.1.0 [5, 6], unit: "
                           "!unit/unit-1.0.0 Jy}\n"
                           "plain: {value: !core/ndarray-1.1.0 [7], unit: m}\n"
                           "list: [!core/ndarray-1.1.0 [8], {t: !unit/quantity-1.1.0 {value: 1, "
                           "unit: s}}]\n"
                           "a~b/c: {data: !core/ndarray-1.1.0 [9]}\n";

/* Paths with blanks between them. */
static const char *arrays(const cip_file *f, const char *pattern)
{
    static char text[512];
    size_t at = 0;
    text[0] = '\0';
    for (const cip_array *a; (a = cip_file_next_array(f, pattern, &at)) != NULL;)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                 text[0] != '\0' ? " " : "", cip_array_path(a));
    return text;
}

static void arrays_are_found_by_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *paths;
    } rows[] = {
        { NULL, "roman/data roman/data_err roman/meta/wcs/data roman/flux plain/value list/0 "
                "a~0b~1c/data" },
        { "roman/*", "roman/data roman/data_err roman/flux" },
        { "roman/**", "roman/data roman/data_err roman/meta/wcs/data roman/flux" },
        { "roman/data", "roman/data" },
        { "roman/data*", "roman/data roman/data_err" },
        { "**/data", "roman/data roman/meta/wcs/data a~0b~1c/data" },
        { "roman/**/data", "roman/data roman/meta/wcs/data" },
        { "**/w*/**", "roman/meta/wcs/data" },
        { "**a**a**t**", "roman/data roman/data_err roman/meta/wcs/data a~0b~1c/data" },
        { "*", "" },
        { "**", "roman/data roman/data_err roman/meta/wcs/data roman/flux plain/value list/0 "
                "a~0b~1c/data" },
        { "list/0", "list/0" },
        { "a~0*/*", "a~0b~1c/data" },
        { "", "" },
        { "roman/data/", "" },
        { "roman", "" },
        { "*/*_*r*r", "roman/data_err" },
    };
    char *mem;
    cip_file *f = test_open_asdf(tree, &mem);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(arrays(f, rows[i].pattern), rows[i].paths);
    size_t at = SIZE_MAX;
    assert_null(cip_file_next_array(f, NULL, &at));
    assert_null(cip_file_next_array(f, NULL, NULL));
    at = 0;
    assert_null(cip_file_next_array(NULL, NULL, &at));
    cip_file_close(f);
    free(mem);
    const float v[] = { 1, 2 };
    f = test_open_npy("'<f4'", "(2,)", v, sizeof v, &mem);
    at = 0;
    assert_ptr_equal(cip_file_next_array(f, "**", &at), cip_file_array(f, 0));
    assert_null(cip_file_next_array(f, "**", &at));
    cip_file_close(f);
    free(mem);
}

typedef struct seen {
    char text[512];
    int answer;
} seen;

static int see(void *user, const char *path, const cip_node *node, uint32_t depth)
{
    seen *s = user;
    (void)node;
    (void)depth;
    const size_t n = strlen(s->text);
    snprintf(s->text + n, sizeof s->text - n, "%s%s", n != 0 ? " " : "", path);
    return s->answer;
}

static void nodes_are_found_by_path_and_tag(void **state)
{
    (void)state;
    static const struct {
        const char *path, *tag, *paths;
    } rows[] = {
        { NULL, "tag:stsci.edu:asdf/unit/quantity-*", "roman/flux list/1/t" },
        { NULL, "**/quantity-1.1.0", "list/1/t" },
        { "roman/**", "**quantity**", "roman/flux" },
        { "**/unit", NULL, "roman/flux/unit plain/unit list/1/t/unit" },
        { "roman/meta", NULL, "roman/meta" },
        { "", NULL, "" },
        { "*", "*", "" },
        { NULL, "!x/y-1.0.0", "" },
        { NULL, "**x/y-*", "roman/meta/name" },
    };
    char *mem;
    cip_file *f = test_open_asdf(tree, &mem);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        seen s = { .answer = 0 };
        assert_int_equal(cip_tree_find(f, rows[i].path, rows[i].tag, see, &s, NULL), CIP_OK);
        assert_string_equal(s.text, rows[i].paths);
    }
    seen s = { .answer = 2 };
    assert_int_equal(cip_tree_find(f, "roman/*", NULL, see, &s, NULL), CIP_ERR_CANCELLED);
    assert_string_equal(s.text, "roman/data");
    s = (seen){ .answer = 1 }; /* nothing below what was found */
    assert_int_equal(cip_tree_find(f, "**/meta/**", NULL, see, &s, NULL), CIP_OK);
    assert_string_equal(s.text, "roman/meta/name roman/meta/wcs");
    assert_int_equal(cip_tree_find(f, NULL, NULL, NULL, NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_tree_find(NULL, NULL, NULL, see, &s, NULL), CIP_ERR_ARG);
    cip_file_close(f);
    free(mem);
}

/* A step into an array that has no fields names nothing. */
static void what_lies_in_an_array_is_no_array(void **state)
{
    (void)state;
    char *mem;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = test_open_asdf(tree, &mem);
    assert_null(cip_find(f, "roman/data/0", &err));
    assert_int_equal(err.code, CIP_ERR_NOT_FOUND);
    assert_string_equal(err.text, "no array is named 'roman/data/0': the array 'roman/data' has no "
                                  "field '0'");
    cip_file_close(f);
    free(mem);
}

static void quantities_and_arrays_lead_to_each_other(void **state)
{
    (void)state;
    static const struct {
        const char *array, *parent;
    } rows[] = {
        { "roman/flux", "roman/flux" }, { "roman/flux/value", "roman/flux" },
        { "plain/value", "plain" },     { "roman/data", "roman" },
        { "list/0", "list" },           { "a~0b~1c/data", "a~0b~1c" },
    };
    char *mem;
    const char *unit;
    cip_file *f = test_open_asdf(tree, &mem);
    const cip_node *root = cip_file_tree(f);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_ptr_equal(cip_array_parent(f, cip_find(f, rows[i].array, NULL)),
                         cip_tree_get(root, rows[i].parent, NULL));
    assert_int_equal(cip_tree_get_string(cip_array_parent(f, cip_find(f, "roman/flux", NULL)),
                                         "unit", &unit, NULL),
                     CIP_OK);
    assert_string_equal(unit, "Jy");
    const cip_node *flux = cip_tree_get(root, "roman/flux", NULL);
    assert_ptr_equal(cip_array_of_node(f, flux), cip_find(f, "roman/flux", NULL));
    assert_ptr_equal(cip_array_of_node(f, cip_tree_get(flux, "value", NULL)),
                     cip_find(f, "roman/flux/value", NULL));
    assert_ptr_equal(cip_array_of_node(f, cip_tree_get(root, "plain", NULL)),
                     cip_find(f, "plain/value", NULL));
    assert_ptr_equal(cip_find(f, "plain", NULL), cip_find(f, "plain/value", NULL));
    assert_null(cip_array_of_node(f, cip_tree_get(root, "list/1/t", NULL))); /* a number */
    assert_null(cip_array_of_node(f, root));
    assert_null(cip_array_of_node(f, NULL));
    assert_null(cip_array_of_node(NULL, root));
    assert_null(cip_array_parent(f, NULL));
    assert_null(cip_array_parent(NULL, cip_find(f, "roman/data", NULL)));
    cip_file_close(f);
    free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_found_by_patterns),
        cmocka_unit_test(nodes_are_found_by_path_and_tag),
        cmocka_unit_test(what_lies_in_an_array_is_no_array),
        cmocka_unit_test(quantities_and_arrays_lead_to_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
