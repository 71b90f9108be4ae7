/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/hdf5/hdf5_write.h"
#include "support/fail_alloc.h"
#include "support/one_format.h"
#include "tree/yaml.h"

typedef struct wish {
    const char *dtype, *codec;
    int level;
    const char *option[4]; /* chunks, shuffle, inner, fletcher32 */
} wish;

static cip_status write_one(one_output *o, const wish *w, int32_t ndim, const int64_t *shape,
                            const void *data, const cip_allocator *from)
{
    cip_dtype *d = cip_dtype_parse(w->dtype, NULL);
    assert_non_null(d);
    const cip_spec_array a = { .path = "", .dtype = d, .ndim = ndim, .shape = shape, .mask = -1 };
    const cip_spec spec = { .narray = 1,
                            .array = &a,
                            .big = -1,
                            .codec = w->codec,
                            .level = w->level,
                            .option = w->option };
    const cip_status st = one_write_from(o, &cip_format_hdf5, &spec, data, 3, from);
    cip_dtype_free(d);
    return st;
}

/* What is written reads back the same. */
static void check_round(const wish *w, int32_t ndim, const int64_t *shape, const void *data,
                        size_t n)
{
    one_output o = { .fail_after = 0 };
    one_file f;
    size_t len;
    if (write_one(&o, w, ndim, shape, data, NULL) != CIP_OK)
        fail_msg("%s: %s", w->dtype, o.err.text);
    assert_int_equal(o.nlost + o.nimpossible, 0);
    if (one_open(&f, &cip_format_hdf5, o.bytes.ptr, o.bytes.len, 0, NULL) != CIP_OK)
        fail_msg("%s: %s", w->dtype, f.err.text);
    assert_int_equal(f.layout->narray, 1);
    assert_string_equal(f.layout->array[0]->path, "data");
    assert_int_equal(f.layout->array[0]->view.ndim, ndim);
    uint8_t *raw = one_read(&f, 0, &len);
    if (raw == NULL)
        fail_msg("%s: %s", w->dtype, f.err.text);
    assert_int_equal(len, n);
    assert_memory_equal(raw, data, n);
    free(raw);
    one_close(&f);
    one_output_clear(&o);
}

static void every_type_reads_back(void **state)
{
    (void)state;
    static const char *const type[] = { "?",
                                        "i1",
                                        "u1",
                                        "<i2",
                                        "<u2",
                                        "<i4",
                                        "<u4",
                                        "<i8",
                                        "<u8",
                                        "<f2",
                                        "<f4",
                                        "<f8",
                                        "<c8",
                                        "<c16",
                                        "S3",
                                        "V5",
                                        "<M8[ns]",
                                        "<m8[25s]",
                                        "[('a', '<i2'), ('b', '<f8', (2,)), ('s', 'S3')]" };
    static const size_t width[] = { 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 8, 16, 3, 5, 8, 8, 21 };
    const int64_t shape[2] = { 5, 7 };
    uint8_t data[35 * 21];
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        for (size_t k = 0; k < sizeof data; k++)
            data[k] = (uint8_t)(i == 0 ? k % 2 : k * 37 + 11);
        static const char *const codec[] = {
            NULL, "none", "zlib", "zstd", "lz4", "blosc", "blosc2"
        };
        for (size_t c = 0; c < sizeof codec / sizeof *codec; c++) {
            const wish w = { type[i], codec[c], 0, { c == 1 ? "2,3" : c > 3 ? "4,7" : NULL } };
            check_round(&w, 2, shape, data, 35 * width[i]);
        }
    }
}

static void every_option_reads_back(void **state)
{
    (void)state;
    static const wish row[] = {
        { "<i4", "none", 0, { "2", NULL, NULL, "yes" } },
        { "<i4", NULL, 0, { NULL, NULL, NULL, "yes" } },
        { "<i4", "zlib", 9, { "1", "none", NULL, "yes" } },
        { "<i4", "zstd", 22, { "100", "byte", NULL, "no" } },
        { "<i4", "blosc", 9, { "7", "bit", "zstd", "yes" } },
        { "<i4", "blosc", 1, { "7", "none", "blosclz", NULL } },
        { "<i4", "blosc2", 3, { "7", "bit", "lz4hc", NULL } },
    };
    const int64_t shape[1] = { 20 };
    uint8_t data[80];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        for (size_t k = 0; k < sizeof data; k++)
            data[k] = (uint8_t)(k < 16 ? 0 : k * k / 7);
        check_round(&row[i], 1, shape, data, sizeof data);
    }
}

static void scalars_and_empty_arrays_are_written(void **state)
{
    (void)state;
    const int64_t shape[2] = { 0, 3 };
    const wish plain = { "<i2", NULL, 0, { NULL } }, zlib = { "<i2", "zlib", 0, { "1,1" } };
    check_round(&plain, 0, shape, "\1\2", 2);
    check_round(&zlib, 0, shape, "\1\2", 2);
    check_round(&plain, 2, shape, "", 0);
    check_round(&zlib, 2, shape, "", 0);
}

static void wrong_wishes_are_refused(void **state)
{
    (void)state;
    static const struct {
        wish w;
        cip_status st;
        const char *text;
    } row[] = {
        { { "<i4", "bzip2", 0, { NULL } }, CIP_ERR_UNSUPPORTED, "found bzip2" },
        { { "<i4", "zlib", 10, { NULL } }, CIP_ERR_ARG, "from 1 to 9 for zlib, found 10" },
        { { "<i4", "lz4", 1, { NULL } }, CIP_ERR_ARG, "for lz4, found 1" },
        { { "<i4", "zlib", 0, { "0" } }, CIP_ERR_ARG, "for chunks, found 0" },
        { { "<i4", "zlib", 0, { "2,2" } }, CIP_ERR_ARG, "for chunks, found 2,2" },
        { { "<i4", "zlib", 0, { NULL, "bit" } }, CIP_ERR_ARG, "byte or none for shuffle" },
        { { "<i4", "blosc", 0, { NULL, "word" } }, CIP_ERR_ARG, "byte, bit or none for shuffle" },
        { { "<i4", "blosc", 0, { NULL, NULL, "ndlz" } }, CIP_ERR_ARG, "for inner, found ndlz" },
        { { "<i4", "zlib", 0, { NULL, NULL, NULL, "maybe" } }, CIP_ERR_ARG, "for fletcher32" },
        { { "<i4", "blosc2", 0, { NULL, NULL, NULL, "yes" } }, CIP_ERR_ARG, "beside blosc2" },
    };
    const int64_t shape[1] = { 3 };
    static const uint8_t data[12];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_output o = { .fail_after = 0 };
        assert_int_equal(write_one(&o, &row[i].w, 1, shape, data, NULL), row[i].st);
        if (strstr(o.err.text, row[i].text) == NULL)
            fail_msg("row %zu: %s", i, o.err.text);
        one_output_clear(&o);
    }
}

static const char tree[] = "title: n\303\244ht\nn: 7\nlist: [1, 2.5]\nlost: [1, a]\n"
                           "none: null\nmeta: {deep: {words: [a, '', c]}}\n"
                           "dims: {data: [x]}\nattrs: {data: {unit: s, lost: {a: 1}}}\n";

static cip_status write_tree(one_output *o, const cip_allocator *from)
{
    static const int64_t shape[1] = { 3 };
    cip_env env;
    cip_arena arena = { .mem = &env.mem };
    const cip_node *root = NULL;
    cip_dtype *d = cip_dtype_parse("<u2", NULL);
    if (d == NULL || cip_env_init(&env, NULL, NULL, NULL, NULL) != CIP_OK)
        abort();
    const cip_bytes text = { (const uint8_t *)tree, sizeof tree - 1 };
    assert_int_equal(cip_yaml_parse(&env, &arena, text, NULL, &root, NULL), CIP_OK);
    const cip_spec_array a = { .path = "data", .dtype = d, .ndim = 1, .shape = shape, .mask = -1 };
    const cip_spec spec = { .narray = 1, .array = &a, .big = -1, .tree = root };
    const cip_status st = one_write_from(o, &cip_format_hdf5, &spec, "\1\2\3\4\5\6", 3, from);
    cip_dtype_free(d);
    cip_arena_clear(&arena);
    cip_env_clear(&env);
    return st;
}

static void what_of_a_tree_is_lost_is_told(void **state)
{
    (void)state;
    one_output o = { .fail_after = 0 };
    one_file f;
    assert_int_equal(write_tree(&o, NULL), CIP_OK);
    assert_int_equal(o.nlost, 2);
    assert_int_equal(one_open(&f, &cip_format_hdf5, o.bytes.ptr, o.bytes.len, 0, NULL), CIP_OK);
    const cip_node *root = f.layout->tree;
    assert_true(cip_node_is_string(cip_map_get(root, "title"), "n\303\244ht"));
    assert_int_equal(cip_node_kind(cip_map_get(root, "none")), CIP_NODE_NULL);
    assert_null(cip_map_get(root, "lost"));
    const cip_node *words = cip_map_get(cip_map_get(cip_map_get(root, "meta"), "deep"), "words");
    assert_int_equal(words->len, 3);
    assert_true(cip_node_is_string(words->item[1], ""));
    const cip_node *dims = cip_map_get(cip_map_get(root, "dims"), "data");
    assert_true(cip_node_is_string(dims->item[0], "x"));
    one_close(&f);
    one_output_clear(&o);
}

static void failing_allocations_leave_nothing(void **state)
{
    (void)state;
    const int64_t shape[1] = { 9 };
    static const uint8_t data[18] = { 1, 2, 3, 4, 5, 6 };
    static const wish row[] = { { "[('x', '<u2')]", "zlib", 0, { "4" } },
                                { "<u2", "blosc2", 0, { "4" } },
                                { "<u2", "lz4", 0, { "4" } } };
    for (size_t k = 0; k <= sizeof row / sizeof *row; k++)
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            one_output o = { .fail_after = 0 };
            const cip_status st = k == sizeof row / sizeof *row
                                      ? write_tree(&o, &from)
                                      : write_one(&o, &row[k], 1, shape, data, &from);
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
            one_output_clear(&o);
            assert_int_equal(alloc.held, 0);
            if (alloc.requests < n) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
}

static void a_full_disk_is_reported(void **state)
{
    (void)state;
    const int64_t shape[1] = { 3 };
    const wish w = { "<u2", "zlib", 0, { NULL } };
    static const uint8_t data[6] = { 1, 2, 3 };
    for (size_t n = 1; n < 300; n += 50) {
        one_output o = { .fail_after = n };
        assert_int_equal(write_one(&o, &w, 1, shape, data, NULL), CIP_ERR_IO);
        one_output_clear(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_reads_back),
        cmocka_unit_test(every_option_reads_back),
        cmocka_unit_test(scalars_and_empty_arrays_are_written),
        cmocka_unit_test(wrong_wishes_are_refused),
        cmocka_unit_test(what_of_a_tree_is_lost_is_told),
        cmocka_unit_test(failing_allocations_leave_nothing),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
