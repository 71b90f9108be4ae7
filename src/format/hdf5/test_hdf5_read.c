/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/endian.h"
#include "codec/with.h"
#include "support/format/hdf5/h5_testing.h"
#include "support/needs.h"

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
            if (strcmp(f.layout->array[k]->path, "offset") != 0) /* of bytes */
                assert_counts(&f, k);
        one_close(&f);
    }
}

/* Elements in little-endian order, whatever the file's is. */
static void assert_elements(one_file *f, const char *path, double (*of)(const uint8_t *, size_t k),
                            double (*want)(size_t k))
{
    size_t len;
    const size_t i = h5_array(f, path), n = (size_t)f->layout->array[i]->view.shape[0];
    uint8_t *raw = one_read(f, i, &len);
    if (raw == NULL)
        fail_msg("%s: %s", path, f->err.text);
    for (size_t k = 0; k < n; k++)
        if (of(raw, k) != want(k))
            fail_msg("%s: element %zu: %g, not %g", path, k, of(raw, k), want(k));
    free(raw);
}

static double little16(const uint8_t *p, size_t k)
{
    return (int16_t)cip_load_u16(p + 2 * k, false);
}

static double little32(const uint8_t *p, size_t k)
{
    return (int32_t)cip_load_u32(p + 4 * k, false);
}

static double little64(const uint8_t *p, size_t k)
{
    return (double)cip_load_u64(p + 8 * k, false);
}

static double little_float(const uint8_t *p, size_t k)
{
    const uint32_t bits = cip_load_u32(p + 4 * k, false);
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

static double little_double(const uint8_t *p, size_t k)
{
    const uint64_t bits = cip_load_u64(p + 8 * k, false);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static double down(size_t k)
{
    return -(double)k;
}

static double ends(size_t k)
{
    return k % 2 != 0 ? INT32_MAX : INT32_MIN;
}

static double largest(size_t k)
{
    (void)k;
    return (double)UINT64_MAX;
}

/* What libhdf5 makes of k / 8: tenths over the smallest element of the chunk that is not the fill
 * value, 0. */
static double tenths(size_t k)
{
    const float least = k < 50 ? 1 / 8.0f : 50 / 8.0f, over = (float)k / 8.0f - least;
    return k == 0 ? 0 : (double)((float)(int)(over * 10.0f + .5f) / 10.0f + least);
}

static double hundreds(size_t k)
{
    return 100.0 * (double)k;
}

static void scale_offset_gives_integers_and_floats(void **state)
{
    one_file f;
    (void)state;
    assert_int_equal(h5_open(&f, "good", "packed"), CIP_OK);
    assert_counts(&f, h5_array(&f, "n-scale"));
    assert_counts(&f, h5_array(&f, "n-scale-fill"));
    assert_counts(&f, h5_array(&f, "n-scale-all"));
    assert_counts(&f, h5_array(&f, "n-nbit"));
    assert_elements(&f, "big", little16, down);
    assert_elements(&f, "wide", little32, ends);
    assert_elements(&f, "same", little64, largest);
    assert_elements(&f, "tenths", little_float, tenths);
    assert_elements(&f, "hundreds", little_double, hundreds);
    one_close(&f);
}

static double byte(const uint8_t *p, size_t k)
{
    return p[21 * k];
}

static double words(const uint8_t *p, size_t k)
{
    return little16(p, 21 * k);
}

static double doubles(const uint8_t *p, size_t k)
{
    return little_double(p, 21 * k);
}

static double rows(size_t k)
{
    return 21 * (double)k;
}

static void szip_gives_samples_of_all_widths(void **state)
{
    one_file f;
    (void)state;
    NEEDS(AEC);
    assert_int_equal(h5_open(&f, "good", "szip"), CIP_OK);
    assert_counts(&f, h5_array(&f, "n-even"));
    assert_counts(&f, h5_array(&f, "n-odd"));
    assert_counts(&f, h5_array(&f, "n-summed"));
    assert_elements(&f, "bytes", byte, rows);
    assert_elements(&f, "big", words, rows);
    assert_elements(&f, "doubles", doubles, rows);
    one_close(&f);
}

static void a_filter_that_is_not_read_is_named(void **state)
{
    one_file f;
    size_t len;
    (void)state;
    assert_int_equal(h5_open(&f, "good", "packed"), CIP_OK);
    assert_null(one_read(&f, h5_array(&f, "lzo"), &len));
    assert_int_equal(f.err.code, CIP_ERR_UNSUPPORTED);
    assert_string_equal(f.err.text, "the filter lzo (305) is not read");
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
        cmocka_unit_test(scale_offset_gives_integers_and_floats),
        cmocka_unit_test(szip_gives_samples_of_all_widths),
        cmocka_unit_test(a_filter_that_is_not_read_is_named),
        cmocka_unit_test(types_are_those_of_numpy),
        cmocka_unit_test(what_was_never_written_has_the_fill_value),
        cmocka_unit_test(attributes_links_and_axes_stand_in_the_tree),
        cmocka_unit_test(indexes_of_chunks_are_read_with_the_first_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
