/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/core_testing.h"

static taken out;

static const char *export_as(cip_file *f, const char *path, const cip_read_args *args,
                             const char *to)
{
    cip_err err = CIP_ERR_INIT;
    memset(&out, 0, sizeof out);
    cip_status st = cip_export(cip_find(f, path, &err), args, to, take_text, &out, &err);
    if (st != CIP_OK)
        print_error("%s\n", err.text);
    assert_int_equal(st, CIP_OK);
    return out.text;
}

static const char tree[] =
    "m: !core/ndarray-1.1.0 {data: [[1, 2], [3, 4], [5, 6]], datatype: int16, mask: 4}\n"
    "cube: !core/ndarray-1.1.0 [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]\n"
    "f: !core/ndarray-1.1.0 [.nan, .inf, -.inf, 1.5]\n"
    "s: !core/ndarray-1.1.0 [\"a,b\", 'say \"x\"', \"\", \"\\u00e9\\U0001D11E\", \"two\\nlines\"]\n"
    "b: !core/ndarray-1.1.0 [true, false]\n"
    "r: !core/ndarray-1.1.0\n"
    "  datatype: [{name: x, datatype: int8}, {name: 'y,z', datatype: [ascii, 3]}]\n"
    "  data: [[1, ab], [-2, c]]\n"
    "none: !core/ndarray-1.1.0 {data: [], datatype: int8, shape: [0]}\n"
    "one: !core/ndarray-1.1.0 [7]\n";

static void text_is_rows_and_planes(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_asdf(tree, &mem);
    assert_string_equal(export_as(f, "cube", NULL, "text"), "1 2\n3 4\n\n5 6\n7 8\n");
    assert_string_equal(export_as(f, "m", NULL, "text"), "1 2\n3 --\n5 6\n");
    assert_string_equal(export_as(f, "one", CIP_READ_ARGS(.selection = "[0]"), "text"), "7\n");
    assert_string_equal(export_as(f, "none", NULL, "text"), "");
    assert_string_equal(export_as(f, "r", NULL, "text"), "(1, 'ab')\n(-2, 'c')\n");
    cip_file_close(f);
    free(mem);
}

static void csv_quotes_what_needs_it(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_asdf(tree, &mem);
    assert_string_equal(
        export_as(f, "s", NULL, "csv"),
        "\"a,b\"\n\"say \"\"x\"\"\"\n\"\"\n\xc3\xa9\xf0\x9d\x84\x9e\n\"two\nlines\"\n");
    assert_string_equal(export_as(f, "m", NULL, "csv"), "1,2\n3,\n5,6\n");
    assert_string_equal(export_as(f, "r", NULL, "csv"), "x,\"y,z\"\n1,ab\n-2,c\n");
    assert_string_equal(export_as(f, "cube", NULL, "csv"), "1,2\n3,4\n5,6\n7,8\n");
    cip_file_close(f);
    free(mem);
}

static void json_lines_have_a_row_each(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_asdf(tree, &mem);
    assert_string_equal(export_as(f, "cube", NULL, "jsonl"),
                        "[[1, 2], [3, 4]]\n[[5, 6], [7, 8]]\n");
    assert_string_equal(export_as(f, "f", NULL, "jsonl"),
                        "\"NaN\"\n\"Infinity\"\n\"-Infinity\"\n1.5\n");
    assert_string_equal(export_as(f, "m", NULL, "jsonl"), "[1, 2]\n[3, null]\n[5, 6]\n");
    assert_string_equal(export_as(f, "r", NULL, "jsonl"),
                        "{\"x\": 1, \"y,z\": \"ab\"}\n{\"x\": -2, \"y,z\": \"c\"}\n");
    assert_string_equal(export_as(f, "one", CIP_READ_ARGS(.selection = "[0]"), "jsonl"), "7\n");
    assert_string_equal(export_as(f, "none", NULL, "jsonl"), "");
    assert_string_equal(export_as(f, "cube", CIP_READ_ARGS(.selection = "[:, :, 2:]"), "jsonl"),
                        "[[], []]\n[[], []]\n");
    assert_string_equal(export_as(f, "cube", CIP_READ_ARGS(.selection = "[:, 2:]"), "jsonl"),
                        "[]\n[]\n");
    assert_string_equal(export_as(f, "cube", CIP_READ_ARGS(.selection = "[2:]"), "jsonl"), "");
    cip_file_close(f);
    free(mem);
}

static void json_is_nested_and_valid(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_asdf(tree, &mem);
    assert_string_equal(export_as(f, "cube", NULL, "json"),
                        "[[[1, 2],\n[3, 4]],\n[[5, 6],\n[7, 8]]]\n");
    assert_string_equal(export_as(f, "f", NULL, "json"),
                        "[\"NaN\", \"Infinity\", \"-Infinity\", 1.5]\n");
    assert_string_equal(export_as(f, "b", NULL, "json"), "[true, false]\n");
    assert_string_equal(export_as(f, "m", NULL, "json"), "[[1, 2],\n[3, null],\n[5, 6]]\n");
    assert_string_equal(export_as(f, "r", NULL, "json"),
                        "[{\"x\": 1, \"y,z\": \"ab\"}, {\"x\": -2, \"y,z\": \"c\"}]\n");
    assert_string_equal(export_as(f, "none", NULL, "json"), "[]\n");
    assert_string_equal(export_as(f, "m", CIP_READ_ARGS(.selection = "[:2, 0:0]"), "json"),
                        "[[], []]\n");
    assert_string_equal(export_as(f, "one", CIP_READ_ARGS(.selection = "[0]"), "json"), "7\n");
    cip_file_close(f);
    free(mem);
}

static void the_mask_goes_out_in_every_kind(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_asdf(tree, &mem);
    const cip_read_args mask = { .size = sizeof mask, .take_mask = true };
    assert_string_equal(export_as(f, "m", &mask, "text"), "False False\nFalse True\nFalse False\n");
    export_as(f, "m", &mask, "raw");
    assert_int_equal(out.n, 6);
    assert_memory_equal(out.text, "\0\0\0\1\0\0", 6);
    export_as(f, "m", &mask, "npy");
    assert_non_null(strstr(out.text + 10, "'descr': '|b1'"));
    assert_memory_equal(out.text + out.n - 6, "\0\0\0\1\0\0", 6);
    cip_file_close(f);
    free(mem);
}

static void raw_is_little_endian_and_packed(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_npy("'>i4'", "(2,)", "\0\0\1\2\xff\xff\xff\xfe", 8, &mem);
    export_as(f, "", NULL, "raw");
    assert_int_equal(out.n, 8);
    assert_memory_equal(out.text, "\2\1\0\0\xfe\xff\xff\xff", 8);
    export_as(f, "", CIP_READ_ARGS(.dtype = cip_dtype_of(CIP_I64), .selection = "[1]"), "text");
    assert_string_equal(out.text, "-2\n");
    cip_file_close(f);
    free(mem);
}

static void npy_keeps_the_stored_type(void **state)
{
    (void)state;
    char *mem;
    size_t n;
    cip_file *f = test_open_npy("'>i4'", "(2,)", "\0\0\1\2\xff\xff\xff\xfe", 8, &mem);
    char *same = test_npy("'>i4'", "(2,)", 0, "\0\0\1\2\xff\xff\xff\xfe", 8, &n);
    export_as(f, "", NULL, "npy");
    assert_int_equal(out.n, n);
    assert_memory_equal(out.text, same, n);
    free(same);
    cip_file_close(f);
    free(mem);
}

static void what_cannot_be_exported_is_refused(void **state)
{
    (void)state;
    char *mem;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = test_open_asdf(tree, &mem);
    const cip_array *a = cip_find(f, "m", NULL);
    memset(&out, 0, sizeof out);
    assert_int_equal(cip_export(a, NULL, "nonsense", take_text, &out, &err), CIP_ERR_ARG);
    assert_int_equal(cip_export(a, NULL, "asdf", take_text, &out, &err), CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_export(a, NULL, NULL, take_text, &out, &err), CIP_ERR_ARG);
    assert_int_equal(cip_export(a, NULL, "raw", NULL, &out, &err), CIP_ERR_ARG);
    assert_int_equal(out.n, 0);
    cip_file_close(f);
    free(mem);
}

static void a_callback_can_stop_it(void **state)
{
    (void)state;
    static const char *const kinds[] = { "raw", "text", "csv", "json", "jsonl", "npy" };
    char *mem;
    cip_file *f = test_open_asdf(tree, &mem);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        memset(&out, 0, sizeof out);
        out.stop_at = 1;
        assert_int_equal(cip_export(cip_find(f, "m", NULL), NULL, kinds[i], take_text, &out, NULL),
                         CIP_ERR_CANCELLED);
    }
    cip_file_close(f);
    free(mem);
}

static void more_elements_than_allowed_are_refused(void **state)
{
    (void)state;
    size_t n;
    cip_file *f;
    cip_err err = CIP_ERR_INIT;
    cip_stats s = { .size = sizeof s };
    cip_limits limits = { .size = sizeof limits, .max_elements = 4 };
    char *mem = test_npy("'|u1'", "(5,)", 0, "abcde", 5, &n);
    assert_int_equal(cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.limits = &limits), &f, NULL),
                     CIP_OK);
    const cip_array *a = cip_file_array(f, 0);
    memset(&out, 0, sizeof out);
    assert_int_equal(cip_export(a, NULL, "raw", take_text, &out, &err), CIP_ERR_LIMIT);
    assert_string_equal(err.text, "expected at most 4 elements, found 5");
    assert_int_equal(cip_stat(a, NULL, &s, &err), CIP_ERR_LIMIT);
    assert_int_equal(
        cip_export(a, CIP_READ_ARGS(.selection = "[1:]"), "raw", take_text, &out, &err), CIP_OK);
    cip_file_close(f);
    free(mem);
}

/* Text that is longer than one part, over the end of rows. */
static void long_text_is_streamed_without_seams(void **state)
{
    (void)state;
    enum { N = 300 * 1001 };
    char *mem, *text = malloc(4 * N), *at = text;
    uint8_t *data = malloc(N);
    cip_err err = CIP_ERR_INIT;
    for (size_t i = 0; i < N; i++) {
        data[i] = (uint8_t)(i % 10);
        *at++ = (char)('0' + i % 10);
        *at++ = i % 1001 == 1000 ? '\n' : ' ';
    }
    cip_file *f = test_open_npy("'|u1'", "(300, 1001)", data, N, &mem);
    FILE *tmp = tmpfile();
    assert_int_equal(cip_export(cip_file_array(f, 0), NULL, "text", take_into_file, tmp, &err),
                     CIP_OK);
    char *back = malloc(4 * N);
    rewind(tmp);
    assert_int_equal(fread(back, 1, 4 * N, tmp), 2 * N);
    assert_memory_equal(back, text, 2 * N);
    fclose(tmp);
    cip_file_close(f);
    free(back);
    free(text);
    free(data);
    free(mem);
}

static void the_tree_is_printed_and_bounded(void **state)
{
    (void)state;
    char *mem;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = test_open_asdf("a: {b: {c: 1}}\nd: !core/ndarray-1.1.0 [1, 2]\n", &mem);
    memset(&out, 0, sizeof out);
    assert_int_equal(cip_tree_print(f, NULL, NULL, take_text, &out, &err), CIP_OK);
    assert_non_null(strstr(out.text, "d: !array 'int64 [2] inline'"));
    cip_tree_print_options json = { .size = sizeof json, .json = true };
    memset(&out, 0, sizeof out);
    assert_int_equal(cip_tree_print(f, NULL, &json, take_text, &out, &err), CIP_OK);
    assert_string_equal(out.text,
                        "{\"a\": {\"b\": {\"c\": 1}}, \"d\": \"array int64 [2] inline\"}\n");
    json.size = 0;
    assert_int_equal(cip_tree_print(f, NULL, &json, take_text, &out, &err), CIP_ERR_ARG);
    out.calls = 0;
    out.stop_at = 1;
    assert_int_equal(cip_tree_print(f, NULL, NULL, take_text, &out, &err), CIP_ERR_CANCELLED);
    assert_int_equal(cip_tree_print(NULL, NULL, NULL, take_text, &out, &err), CIP_ERR_ARG);
    cip_file_close(f);
    free(mem);
}

static int count_nodes(void *user, const char *path, const cip_node *node, uint32_t depth)
{
    (void)node;
    assert_true(depth < 10);
    *(int *)user += 1;
    return strcmp(path, "skip") == 0;
}

static void a_walk_meets_each_node_and_ends_in_cycles(void **state)
{
    (void)state;
    char *mem;
    int n = 0;
    cip_file *f = test_open_asdf("skip: {a: 1}\nloop: &x {me: *x, b: 2}\n", &mem);
    assert_int_equal(cip_tree_visit(f, NULL, count_nodes, &n, NULL), CIP_OK);
    assert_int_equal(n, 5); /* the root, skip, loop, loop/me, loop/b */
    assert_int_equal(cip_tree_visit(NULL, NULL, count_nodes, &n, NULL), CIP_ERR_ARG);
    cip_file_close(f);
    free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_rows_and_planes),
        cmocka_unit_test(csv_quotes_what_needs_it),
        cmocka_unit_test(json_lines_have_a_row_each),
        cmocka_unit_test(json_is_nested_and_valid),
        cmocka_unit_test(the_mask_goes_out_in_every_kind),
        cmocka_unit_test(raw_is_little_endian_and_packed),
        cmocka_unit_test(npy_keeps_the_stored_type),
        cmocka_unit_test(what_cannot_be_exported_is_refused),
        cmocka_unit_test(a_callback_can_stop_it),
        cmocka_unit_test(more_elements_than_allowed_are_refused),
        cmocka_unit_test(long_text_is_streamed_without_seams),
        cmocka_unit_test(the_tree_is_printed_and_bounded),
        cmocka_unit_test(a_walk_meets_each_node_and_ends_in_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
