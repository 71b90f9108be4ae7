/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/endian.h"
#include "support/format/hdf5/h5_testing.h"

static void assert_counts(one_file *f, size_t i)
{
    size_t len;
    uint8_t *raw = one_read(f, i, &len);
    if (raw == NULL)
        fail_msg("%s: %s", f->layout->array[i]->path, f->err.text);
    for (size_t k = 0; k < len / 4; k++)
        assert_int_equal(cip_load_u32(raw + 4 * k, false), k);
    free(raw);
}

static void elements_of_every_layout_index_and_filter_are_read(void **state)
{
    static const struct {
        const char *name;
        size_t narray;
    } row[] = { { "groups", 2 }, { "groups-2", 2 }, { "user-block", 2 }, { "dense", 12 },
                { "many", 12 },  { "scales", 3 },   { "kinds", 7 },      { "kinds-110", 7 },
                { "tree-1", 1 }, { "filters", 14 } };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        assert_int_equal(h5_open(&f, "good", row[i].name), CIP_OK);
        assert_int_equal(f.layout->narray, row[i].narray);
        for (size_t k = 0; k < row[i].narray; k++)
            if (strcmp(f.layout->array[k]->path, "offset") != 0)
                assert_counts(&f, k);
        one_close(&f);
    }
}

static void a_filter_that_is_not_read_is_named(void **state)
{
    one_file f;
    size_t len;
    (void)state;
    assert_int_equal(h5_open(&f, "good", "filters"), CIP_OK);
    assert_null(one_read(&f, h5_array(&f, "offset"), &len));
    assert_int_equal(f.err.code, CIP_ERR_UNSUPPORTED);
    assert_string_equal(f.err.text, "the filter scaleoffset (6) is not read");
    one_close(&f);
}

static void types_are_those_of_numpy(void **state)
{
    static const struct {
        const char *path, *dtype, *bytes;
        size_t n;
    } row[] = {
        { "record", "{a: int16, b: float64}", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20 },
        { "bool", "bool", "\1\0", 2 },
        { "complex", "complex128", "\0\0\0\0\0\0\360\77\0\0\0\0\0\0\0\100", 16 },
        { "text", "ascii5", "a\0\0\0\0hello", 10 },
        { "half", "float16", "\0\76", 2 },
        { "time", "datetime64[s]", "\0\271\125\151\0\0\0\0", 8 },
        { "colour", "int8", "\2\1", 2 },
        { "array", "int16", "\0\0\0\0\0\0\0\0\0\0\0\0", 12 },
    };
    static const char *const file[] = { "types", "types-2" };
    (void)state;
    for (size_t v = 0; v < 2; v++) {
        one_file f;
        assert_int_equal(h5_open(&f, "good", file[v]), CIP_OK);
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            const size_t k = h5_array(&f, row[i].path);
            size_t len;
            uint8_t *raw = one_read(&f, k, &len);
            assert_string_equal(cip_dtype_name(f.layout->array[k]->dtype), row[i].dtype);
            assert_non_null(raw);
            assert_int_equal(len, row[i].n);
            assert_memory_equal(raw, row[i].bytes, len);
            free(raw);
        }
        assert_string_equal(cip_dtype_name(f.layout->array[h5_array(&f, "nested")]->dtype),
                            "{p: {q: uint16}, r: float32[2, 2]}");
        assert_int_equal(f.layout->array[h5_array(&f, "array")]->view.ndim, 2);
        const cip_array *strings = f.layout->array[h5_array(&f, "strings")];
        assert_int_equal(strings->st, CIP_ERR_UNSUPPORTED);
        assert_string_equal(strings->why->text, "strings of variable length are not read");
        assert_string_equal(h5_text(&f, "type/datatype"), "float32");
        int64_t v2;
        assert_true(cip_node_as_int(cip_tree_get(f.layout->tree, "enums/colour/BLUE", NULL), &v2));
        assert_int_equal(v2, 2);
        one_close(&f);
    }
}

static void what_was_never_written_has_the_fill_value(void **state)
{
    static const uint32_t filled[] = { 7, 7, 7 }, holes[] = { 9, 9, 1, 1, 9, 9 };
    one_file f;
    size_t len;
    (void)state;
    assert_int_equal(h5_open(&f, "good", "empty"), CIP_OK);
    uint8_t *raw = one_read(&f, h5_array(&f, "filled"), &len);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(cip_load_u32(raw + 4 * i, false), filled[i]);
    free(raw);
    raw = one_read(&f, h5_array(&f, "holes"), &len);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(cip_load_u32(raw + 4 * i, false), holes[i]);
    free(raw);
    raw = one_read(&f, h5_array(&f, "zero"), &len);
    assert_int_equal(len, 0);
    free(raw);
    assert_null(one_read(&f, h5_array(&f, "none"), &len));
    assert_string_equal(f.err.text, "it is empty: its dataspace is null");
    one_close(&f);
}

static void attributes_links_and_axes_stand_in_the_tree(void **state)
{
    static const char *const file[] = { "groups", "groups-2" };
    one_file f;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(h5_open(&f, "good", file[i]), CIP_OK);
        assert_string_equal(h5_text(&f, "title"), "two groups");
        assert_string_equal(h5_text(&f, "a/b/attrs/n/unit"), "m");
        assert_string_equal(h5_text(&f, "a/b/attrs/n/names/1"), "two");
        assert_string_equal(h5_text(&f, "a/b/attrs/n/to"), "/a/b");
        assert_int_equal(cip_tree_get(f.layout->tree, "a/b/attrs/n/none", NULL)->type,
                         CIP_NODE_NULL);
        assert_string_equal(h5_text(&f, "a/b/links/up/hard"), "/");
        const cip_array *n = f.layout->array[h5_array(&f, "a/b/n")];
        const cip_array *second = f.layout->array[h5_array(&f, "second")];
        assert_ptr_equal(second->same, n);
        assert_ptr_equal(cip_tree_get(f.layout->tree, "second", NULL), n->node);
        assert_string_equal(h5_text(&f, "links/soft/soft"), "/a/b/n");
        assert_string_equal(h5_text(&f, "links/outside/external"), "other.h5");
        assert_string_equal(h5_text(&f, "links/outside/path"), "/x");
        one_close(&f);
    }
    assert_int_equal(h5_open(&f, "good", "scales"), CIP_OK);
    assert_string_equal(h5_text(&f, "dims/n/0"), "t");
    assert_string_equal(h5_text(&f, "dims/n/1"), "x");
    assert_string_equal(h5_text(&f, "dims/t/0"), "t");
    assert_null(cip_tree_get(f.layout->tree, "attrs/n", NULL));
    one_close(&f);
    assert_int_equal(h5_open(&f, "good", "dense"), CIP_OK);
    int64_t v;
    assert_true(cip_node_as_int(cip_tree_get(f.layout->tree, "key11", NULL), &v));
    assert_int_equal(v, 11);
    one_close(&f);
}

static void indexes_of_chunks_are_read_with_the_first_elements(void **state)
{
    one_file f;
    size_t len;
    (void)state;
    assert_int_equal(h5_open(&f, "bad", "tree-outside"), CIP_OK);
    assert_int_equal(f.layout->array[0]->st, CIP_OK);
    assert_null(one_read(&f, 0, &len));
    assert_int_equal(f.err.code, CIP_ERR_TRUNCATED);
    one_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_of_every_layout_index_and_filter_are_read),
        cmocka_unit_test(a_filter_that_is_not_read_is_named),
        cmocka_unit_test(types_are_those_of_numpy),
        cmocka_unit_test(what_was_never_written_has_the_fill_value),
        cmocka_unit_test(attributes_links_and_axes_stand_in_the_tree),
        cmocka_unit_test(indexes_of_chunks_are_read_with_the_first_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
