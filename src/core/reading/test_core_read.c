/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/endian.h"
#include "support/core/core_testing.h"

static const int32_t twelve[] = { 0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23 };

static cip_file *open_twelve(char **mem)
{
    return test_open_npy("'<i4'", "(3, 4)", twelve, sizeof twelve, mem);
}

static void a_window_is_read_as_asked(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = open_twelve(&mem);
    const cip_array *a = cip_find(f, "", NULL);
    double d[4] = { 0 };
    assert_int_equal(cip_read(a, "[1:, ::2]", cip_dtype_of(CIP_F64), d, sizeof d, NULL), CIP_OK);
    assert_true(d[0] == 10 && d[1] == 12 && d[2] == 20 && d[3] == 22);
    int32_t all[12];
    assert_int_equal(cip_read(a, NULL, cip_dtype_as_stored(), all, sizeof all, NULL), CIP_OK);
    assert_memory_equal(all, twelve, sizeof all);
    assert_int_equal(cip_read(a, "", cip_dtype_as_stored(), all, sizeof all, NULL), CIP_OK);
    cip_file_close(f);
    free(mem);
}

static void memory_of_another_size_is_refused(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = open_twelve(&mem);
    const cip_array *a = cip_find(f, "", NULL);
    cip_err err = CIP_ERR_INIT;
    int32_t v[13] = { 7 };
    assert_int_equal(cip_read(a, NULL, cip_dtype_as_stored(), v, sizeof v, &err), CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected memory of 48 bytes for the selection, found 52");
    assert_int_equal(cip_read(a, NULL, cip_dtype_as_stored(), v, 0, &err), CIP_ERR_RANGE);
    assert_int_equal(v[0], 7);
    assert_int_equal(cip_read(a, "[3:]", cip_dtype_as_stored(), v, 0, &err), CIP_OK);
    assert_int_equal(cip_read(a, NULL, cip_dtype_as_stored(), NULL, 48, &err), CIP_ERR_ARG);
    cip_file_close(f);
    free(mem);
}

static void calls_chain_through_null(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = NULL;
    char v[8];
    assert_int_equal(cip_open("/nonexistent/file", NULL, &f, &err), CIP_ERR_NOT_FOUND);
    assert_null(f);
    assert_int_equal(cip_read(cip_find(f, "x", &err), NULL, cip_dtype_as_stored(), v, 8, &err),
                     CIP_ERR_NOT_FOUND);
    assert_null(cip_view(NULL, &err));
    assert_int_equal(err.code, CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_array_state(NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_file_narray(NULL), 0);
    assert_null(cip_file_array(NULL, 0));
    assert_null(cip_array_dtype(NULL));
    assert_string_equal(cip_array_path(NULL), "");
    cip_file_close(NULL);
}

static void values_that_do_not_fit_are_told(void **state)
{
    (void)state;
    const int32_t v[] = { 1, 300, -129, 127 };
    char *mem;
    cip_file *f = test_open_npy("'<i4'", "(4,)", v, sizeof v, &mem);
    const cip_array *a = cip_file_array(f, 0);
    cip_err err = CIP_ERR_INIT;
    int8_t out[4];
    uint64_t n = 0;
    assert_int_equal(cip_read(a, NULL, cip_dtype_of(CIP_I8), out, 4, &err), CIP_ERR_RANGE);
    assert_int_equal(cip_read_into(a,
                                   CIP_READ_ARGS(.dtype = cip_dtype_of(CIP_I8), .dst = out,
                                                 .dst_nbytes = sizeof out,
                                                 .overflow = CIP_OVERFLOW_CLAMP, .noverflow = &n),
                                   &err),
                     CIP_OK);
    assert_int_equal(n, 2);
    assert_true(out[0] == 1 && out[1] == 127 && out[2] == -128 && out[3] == 127);
    cip_file_close(f);
    free(mem);
}

static void a_value_is_read_exactly_or_refused(void **state)
{
    (void)state;
    const double v[] = { 2, -0.0, 1.5, 3 };
    const int64_t w[] = { 1, (INT64_C(1) << 53) + 1, 0, -4 };
    char *mem, *more;
    cip_file *f = test_open_npy("'<f8'", "(4,)", v, sizeof v, &mem);
    cip_file *g = test_open_npy("'<i8'", "(4,)", w, sizeof w, &more);
    cip_err err = CIP_ERR_INIT;
    int16_t out[4];
    float narrow[4];
    double wide[4];
    uint64_t n = 0;
    const cip_dtype *i16 = cip_dtype_of(CIP_I16);
    assert_int_equal(cip_read(cip_file_array(f, 0), NULL, i16, out, sizeof out, &err),
                     CIP_ERR_RANGE);
    assert_string_equal(err.text, "the value of element 2 does not fit int16 exactly; accept it "
                                  "with .overflow");
    assert_int_equal(cip_read(cip_file_array(f, 0), "[:2]", i16, out, 4, NULL), CIP_OK);
    assert_true(out[0] == 2 && out[1] == 0);
    assert_int_equal(
        cip_read(cip_file_array(f, 0), NULL, cip_dtype_of(CIP_F32), narrow, sizeof narrow, NULL),
        CIP_OK);
    assert_int_equal(cip_read_into(cip_file_array(f, 0),
                                   CIP_READ_ARGS(.dtype = i16, .dst = out, .dst_nbytes = sizeof out,
                                                 .overflow = CIP_OVERFLOW_CLAMP, .noverflow = &n),
                                   NULL),
                     CIP_OK);
    assert_true(n == 0 && out[2] == 1 && out[3] == 3);
    assert_int_equal(
        cip_read(cip_file_array(g, 0), NULL, cip_dtype_of(CIP_F64), wide, sizeof wide, NULL),
        CIP_ERR_RANGE);
    assert_int_equal(cip_read(cip_file_array(g, 0), "[2:]", cip_dtype_of(CIP_F64), wide, 16, NULL),
                     CIP_OK);
    assert_true(wide[0] == 0 && wide[1] == -4);
    cip_file_close(f);
    cip_file_close(g);
    free(mem);
    free(more);
}

static void what_err_holds_does_not_change_a_read(void **state)
{
    (void)state;
    const float v[] = { 1, 2 };
    const int64_t at[] = { 0 };
    char *mem;
    cip_file *f = test_open_npy("'<f4'", "(2,)", v, sizeof v, &mem);
    const cip_array *a = cip_file_array(f, 0);
    cip_err err = CIP_ERR_INIT;
    int32_t out[2] = { 7, 7 };
    cip_stats s = { .size = sizeof s };
    taken t = { .n = 0 };
    assert_int_equal(cip_read(a, NULL, cip_dtype_parse("imt32", &err), out, sizeof out, &err),
                     CIP_ERR_FORMAT);
    assert_string_equal(err.part, "dtype");
    assert_int_equal(cip_read_points(a, 1, at, cip_dtype_parse("imt32", &err), out, &err),
                     CIP_ERR_FORMAT);
    assert_true(out[0] == 7 && out[1] == 7);
    cip_read_args args = { .size = sizeof args, .dst = out, .dst_nbytes = sizeof out };
    assert_int_equal(cip_read_into(a, &args, &err), CIP_OK); /* the failure was handled */
    assert_int_equal(cip_read_shape(a, &args, NULL, NULL, NULL, &err), CIP_OK);
    assert_int_equal(cip_export(a, &args, "raw", take_text, &t, &err), CIP_OK);
    assert_int_equal(cip_stat(a, NULL, &s, &err), CIP_OK);
    assert_string_equal(err.part, "dtype"); /* and is kept */
    assert_int_equal(cip_read(a, NULL, NULL, out, sizeof out, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_append(f, "", NULL, v, 4, NULL), CIP_ERR_ARG);
    assert_memory_equal(out, v, sizeof v);
    assert_int_equal(cip_dtype_kind(cip_dtype_as_stored()), CIP_NONE);
    assert_string_equal(cip_dtype_name(cip_dtype_as_stored()), "as stored");
    cip_file_close(f);
    free(mem);
}

static void destination_strides_are_kept(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = open_twelve(&mem);
    int32_t t[4][3];
    const int64_t strides[] = { sizeof(int32_t), 3 * sizeof(int32_t) };
    assert_int_equal(cip_read_into(cip_file_array(f, 0),
                                   CIP_READ_ARGS(.dst = t, .dst_nbytes = sizeof t,
                                                 .strides = strides, .threads = 3),
                                   NULL),
                     CIP_OK);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            assert_int_equal(t[j][i], twelve[i * 4 + j]);
    cip_file_close(f);
    free(mem);
}

static void the_size_of_dst_is_checked(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = open_twelve(&mem);
    const cip_array *a = cip_file_array(f, 0);
    int32_t v[24];
    const int64_t gaps[] = { 32, 8 }, up[] = { -16, 4 }, far[] = { INT64_MAX, 4 };
    const struct {
        const int64_t *strides;
        size_t nbytes;
        cip_status st;
    } rows[] = {
        { NULL, 48, CIP_OK },       { NULL, 47, CIP_ERR_RANGE },     { NULL, 49, CIP_ERR_RANGE },
        { NULL, 0, CIP_ERR_RANGE }, { NULL, CIP_UNCHECKED, CIP_OK }, { gaps, 92, CIP_OK },
        { gaps, 96, CIP_OK },       { gaps, 91, CIP_ERR_RANGE },     { gaps, 0, CIP_ERR_RANGE },
        { far, 96, CIP_ERR_RANGE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(cip_read_into(a,
                                       CIP_READ_ARGS(.dst = v, .dst_nbytes = rows[i].nbytes,
                                                     .strides = rows[i].strides),
                                       NULL),
                         rows[i].st);
    assert_int_equal(/* behind the last row's start there are 16 bytes */
                     cip_read_into(a, CIP_READ_ARGS(.dst = v + 8, .dst_nbytes = 16, .strides = up),
                                   NULL),
                     CIP_OK);
    assert_int_equal(v[0], twelve[8]);
    assert_int_equal(
        cip_read_into(a, CIP_READ_ARGS(.slices = CIP_SELECT(CIP_RANGE(1, 1)), .dst_nbytes = 0),
                      NULL),
        CIP_OK);
    cip_file_close(f);
    free(mem);
}

static void wrong_args_are_refused(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = open_twelve(&mem);
    const cip_array *a = cip_file_array(f, 0);
    int32_t v[12];
    cip_selection all = { 0 };
    cip_read_args none = { .dst = v, .dst_nbytes = sizeof v };
    cip_read_args large = { .size = SIZE_MAX, .dst = v, .dst_nbytes = sizeof v };
    assert_int_equal(cip_read_into(a, &none, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_read_into(a, &large, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_read_into(a,
                                   CIP_READ_ARGS(.selection = "[0]", .slices = &all, .dst = v,
                                                 .dst_nbytes = sizeof v),
                                   NULL),
                     CIP_ERR_ARG);
    assert_int_equal(
        cip_read_into(a, CIP_READ_ARGS(.dst = v, .dst_nbytes = sizeof v, .take_mask = true), NULL),
        CIP_ERR_ARG);
    assert_int_equal(
        cip_read_into(a, CIP_READ_ARGS(.slices = &all, .dst = v, .dst_nbytes = sizeof v), NULL),
        CIP_OK);
    assert_int_equal(
        cip_read_into(a, CIP_READ_ARGS(.selection = "[0", .dst = v, .dst_nbytes = sizeof v), NULL),
        CIP_ERR_ARG);
    assert_int_equal(cip_read_into(a,
                                   CIP_READ_ARGS(.dtype = cip_dtype_of(CIP_I8), .dst = v,
                                                 .dst_nbytes = sizeof v, .field = "x"),
                                   NULL),
                     CIP_ERR_NOT_FOUND);
    cip_file_close(f);
    free(mem);
}

static void reversed_axes_are_the_transposed_array(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = open_twelve(&mem);
    const cip_array *a = cip_file_array(f, 0);
    int32_t v[3];
    int ndim;
    int64_t shape[CIP_MAX_NDIM];
    uint64_t nbytes;
    assert_int_equal(cip_read_into(a,
                                   CIP_READ_ARGS(.reversed = true, .selection = "[1]", .dst = v,
                                                 .dst_nbytes = sizeof v),
                                   NULL),
                     CIP_OK);
    assert_true(v[0] == 1 && v[1] == 11 && v[2] == 21);
    assert_int_equal(
        cip_read_shape(a, CIP_READ_ARGS(.reversed = true), &ndim, shape, &nbytes, NULL), CIP_OK);
    assert_true(ndim == 2 && shape[0] == 4 && shape[1] == 3 && nbytes == 48);
    assert_int_equal(cip_read_shape(a, NULL, NULL, NULL, NULL, NULL), CIP_OK);
    cip_file_close(f);
    free(mem);
}

static void stored_bytes_can_be_taken_as_another_type(void **state)
{
    (void)state;
    const float v[] = { 1.0f, -2.0f };
    char *mem;
    cip_file *f = test_open_npy("'<f4'", "(2,)", v, sizeof v, &mem);
    const cip_array *a = cip_file_array(f, 0);
    uint32_t bits[2];
    cip_dtype *u4 = cip_dtype_parse("<u4", NULL);
    assert_non_null(u4);
    assert_int_equal(
        cip_read_into(a, CIP_READ_ARGS(.as = u4, .dst = bits, .dst_nbytes = sizeof bits), NULL),
        CIP_OK);
    assert_true(bits[0] == 0x3f800000u && bits[1] == 0xc0000000u);
    assert_int_equal(cip_read_into(a,
                                   CIP_READ_ARGS(.as = cip_dtype_of(CIP_U64), .dst = bits,
                                                 .dst_nbytes = sizeof bits),
                                   NULL),
                     CIP_ERR_TYPE);
    cip_dtype_free(u4);
    cip_file_close(f);
    free(mem);
}

/* Two records of { a: int16, b: int16[2], c: { d: uint8, e/f: int8 } }. */
static const char record_descr[] =
    "[('a', '<i2'), ('b', '>i2', (2,)), ('c', [('d', '|u1'), ('e/f', '|i1')])]";
static const unsigned char records[] = { 1, 0, 0, 2, 0, 3, 4, 0xff, 5, 0, 0, 6, 0, 7, 8, 0xfe };

static void fields_are_a_further_step(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_npy(record_descr, "(2,)", records, sizeof records, &mem);
    const cip_array *a = cip_file_array(f, 0);
    int16_t b[4];
    int8_t e[2];
    assert_int_equal(cip_read_into(a, CIP_READ_ARGS(.field = "b", .dst = b, .dst_nbytes = 8), NULL),
                     CIP_OK);
    assert_true(b[0] == 2 && b[1] == 3 && b[2] == 6 && b[3] == 7);
    assert_int_equal(cip_read_into(a,
                                   CIP_READ_ARGS(.field = "b", .selection = "[::-1, 1]", .dst = b,
                                                 .dst_nbytes = CIP_UNCHECKED),
                                   NULL),
                     CIP_OK);
    assert_true(b[0] == 7 && b[1] == 3);
    assert_int_equal(
        cip_read_into(a, CIP_READ_ARGS(.field = "c/e~1f", .dst = e, .dst_nbytes = sizeof e), NULL),
        CIP_OK);
    assert_true(e[0] == -1 && e[1] == -2);
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(
        cip_read_into(a, CIP_READ_ARGS(.field = "c/e", .dst = e, .dst_nbytes = sizeof e), &err),
        CIP_ERR_NOT_FOUND);
    const char *field;
    assert_ptr_equal(cip_find_field(f, "c/d", &field, NULL), a);
    assert_string_equal(field, "c/d");
    cip_err_clear(&err);
    assert_null(cip_find(f, "c/d", &err));
    assert_int_equal(err.code, CIP_ERR_ARG);
    assert_non_null(strstr(err.text, "'c/d' is a field of an array"));
    cip_err_clear(&err);
    assert_null(cip_find(f, "none", &err));
    assert_int_equal(err.code, CIP_ERR_NOT_FOUND);
    cip_file_close(f);
    free(mem);
}

static void points_are_read_in_any_order(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = open_twelve(&mem);
    const cip_array *a = cip_file_array(f, 0);
    const int64_t at[] = { 2, 3, 0, 0, -1, -4, 1, 2 };
    const int64_t past[] = { 0, 0, 3, 0 }, before[] = { 0, -5 };
    float v[4];
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_read_points(a, 4, at, cip_dtype_of(CIP_F32), v, &err), CIP_OK);
    assert_true(v[0] == 23 && v[1] == 0 && v[2] == 20 && v[3] == 12);
    assert_int_equal(cip_read_points(a, 2, past, cip_dtype_as_stored(), v, &err), CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected an index below 3 on axis 0 of point 1, found 3");
    assert_int_equal(cip_read_points(a, 1, before, cip_dtype_as_stored(), v, &err), CIP_ERR_RANGE);
    assert_int_equal(cip_read_points(a, 0, NULL, cip_dtype_as_stored(), NULL, &err), CIP_OK);
    cip_file_close(f);
    free(mem);
}

static void a_view_is_given_only_where_it_is_right(void **state)
{
    (void)state;
    char *mem;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = open_twelve(&mem);
    const int32_t *p = cip_view(cip_file_array(f, 0), &err);
    if (CIP_HOST_BIG || (uintptr_t)mem % 16 != 0)
        p = twelve;
    assert_non_null(p);
    assert_memory_equal(p, twelve, sizeof twelve);
    cip_file_close(f);
    free(mem);
    f = test_open_npy(CIP_HOST_BIG ? "'<i4'" : "'>i4'", "(3, 4)", twelve, sizeof twelve, &mem);
    assert_null(cip_view(cip_file_array(f, 0), &err));
    assert_int_equal(err.code, CIP_ERR_UNSUPPORTED);
    cip_file_close(f);
    free(mem);
}

static void a_view_wants_c_order_and_alignment(void **state)
{
    (void)state;
    size_t n;
    cip_file *f = NULL;
    cip_err err = CIP_ERR_INIT;
    char *mem = test_npy("'=i4'", "(3, 4)", 1, twelve, sizeof twelve, &n);
    memcpy(strchr(mem + 10, '='), CIP_HOST_BIG ? ">" : "<", 1);
    assert_int_equal(cip_open_memory(mem, n, NULL, &f, NULL), CIP_OK);
    assert_null(cip_view(cip_file_array(f, 0), &err));
    assert_non_null(strstr(err.text, "C order"));
    cip_file_close(f);
    free(mem);
    mem = test_npy(CIP_HOST_BIG ? "'>i4'" : "'<i4'", "(12,)", 0, twelve, sizeof twelve, &n);
    cip_err_clear(&err);
    char *odd = malloc(n + 2);
    memcpy(odd + 2, mem, n);
    assert_int_equal(cip_open_memory(odd + 2, n, NULL, &f, NULL), CIP_OK);
    assert_null(cip_view(cip_file_array(f, 0), &err));
    assert_non_null(strstr(err.text, "aligned to 4"));
    cip_file_close(f);
    free(odd);
    free(mem);
}

static void dtypes_of_reading_are_packed_and_in_order(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_npy("'>f8'", "(1,)", "\x3f\xf0\0\0\0\0\0\0", 8, &mem);
    const cip_array *a = cip_file_array(f, 0);
    assert_true(cip_dtype_is_big(cip_array_dtype(a)));
    assert_true(cip_dtype_is_big(cip_array_native_dtype(a, NULL)) == (CIP_HOST_BIG != 0));
    assert_false(cip_dtype_is_big(cip_array_raw_dtype(a, NULL)));
    double one = 0;
    char text[8], tiny[3];
    assert_int_equal(cip_read(a, NULL, cip_dtype_as_stored(), &one, 8, NULL), CIP_OK);
    assert_int_equal(cip_format_element(cip_dtype_of(CIP_F64), &one, text, sizeof text), 3);
    assert_string_equal(text, "1.0");
    assert_int_equal(cip_format_element(cip_dtype_of(CIP_F64), &one, tiny, sizeof tiny), 3);
    assert_string_equal(tiny, "1.");
    assert_int_equal(cip_format_element(NULL, &one, tiny, sizeof tiny), 0);
    cip_file_close(f);
    free(mem);
}

/* --- masks ----------------------------------------------------------------------------------- */

static void check_mask_of(const char *tree, const char *path, const char *field,
                          const char *selection, const char *expected)
{
    char *mem;
    cip_file *f = test_open_asdf(tree, &mem);
    uint8_t mask[64];
    size_t n = strlen(expected);
    uint64_t nbytes = 0;
    cip_err err = CIP_ERR_INIT;
    const cip_array *a = cip_find(f, path, &err);
    cip_status st =
        cip_read_into(a, CIP_READ_ARGS(.field = field, .selection = selection, .mask = mask), &err);
    if (st != CIP_OK)
        print_error("%s\n", err.text);
    assert_int_equal(st, CIP_OK);
    cip_read_shape(a, CIP_READ_ARGS(.selection = selection, .dtype = NULL), NULL, NULL, &nbytes,
                   NULL);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(mask[i], expected[i] == '1');
    cip_file_close(f);
    free(mem);
}

static void check_mask(const char *tree, const char *path, const char *selection,
                       const char *expected)
{
    check_mask_of(tree, path, NULL, selection, expected);
}

static const char masked_tree[] =
    "value: !core/ndarray-1.1.0 {data: [[1, 2, 3], [3, 2, 1]], datatype: int16, mask: 3}\n"
    "nan: !core/ndarray-1.1.0 {data: [.nan, 1.0, .inf, -0.0], datatype: float64, mask: .nan}\n"
    "zero: !core/ndarray-1.1.0 {data: [.nan, 1.0, 0.0, -0.0], datatype: float32, mask: 0.0}\n"
    "null: !core/ndarray-1.1.0 {data: [1, null, 3]}\n"
    "row: !core/ndarray-1.1.0 {data: [[1, 2], [3, 4], [5, 6]], mask: !core/ndarray-1.1.0 [true, "
    "false]}\n"
    "column: !core/ndarray-1.1.0 {data: [[1, 2], [3, 4], [5, 6]], mask: !core/ndarray-1.1.0 [[0], "
    "[7], [0]]}\n"
    "none: !core/ndarray-1.1.0 [1, 2]\n";

static void a_view_shows_no_missing_elements(void **state)
{
    (void)state;
    static const int16_t v[] = { 1, 2, 3 };
    static const uint8_t masks[][3] = { { 0, 0, 1 }, { 0, 0, 0 } };
    const int64_t shape[] = { 3 };
    size_t n;
    cip_err err = CIP_ERR_INIT;
    cip_memory *m;
    cip_change *w;
    cip_file *f;
    assert_int_equal(
        cip_create_memory("asdf", CIP_CHANGE_OPTIONS(.byteorder = CIP_HOST_BIG ? "big" : "little"),
                          &m, &w, &err),
        CIP_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cip_change_put(w, i == 0 ? "some" : "none", cip_dtype_of(CIP_I16), 1,
                                        shape, v, CIP_ARRAY_OPTIONS(.mask = masks[i]), &err),
                         CIP_OK);
    assert_int_equal(cip_change_commit(&w, &err), CIP_OK);
    const void *bytes = cip_memory_bytes(m, &n);
    assert_int_equal(cip_open_memory(bytes, n, NULL, &f, &err), CIP_OK);
    assert_null(cip_view(cip_find(f, "some", &err), &err));
    assert_int_equal(err.code, CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.part, "some");
    assert_non_null(strstr(err.text, "element 2 of the selection is missing"));
    cip_err_clear(&err);
    const int16_t *p = cip_view(cip_find(f, "none", &err), &err);
    if (p == NULL)
        fail_msg("%s", err.text);
    assert_memory_equal(p, v, sizeof v);
    cip_file_close(f);
    cip_memory_free(m);
}

static void missing_elements_are_not_read_without_a_mask(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_asdf(masked_tree, &mem);
    const char *const paths[] = { "value", "null" };
    const int64_t at[] = { 0, 1, -1, 0 }, one[] = { 1, -1 };
    for (int i = 0; i < 2; i++) {
        int64_t v[6] = { 0 };
        uint8_t mask[2] = { 7, 7 };
        cip_err err = CIP_ERR_INIT;
        const cip_array *a = cip_find(f, paths[i], NULL);
        const size_t n = i == 0 ? 6 : 3;
        assert_int_equal(cip_read(a, NULL, cip_dtype_of(CIP_I64), v, n * 8, &err),
                         CIP_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, i == 0 ? "element 2 of" : "element 1 of"));
        assert_non_null(strstr(err.text, "cip_read_args.mask"));
        assert_int_equal(v[0], 0);
        assert_int_equal(cip_read(a, "[0:1]", cip_dtype_of(CIP_I64), v, i == 0 ? 24 : 8, NULL),
                         i == 0 ? CIP_ERR_UNSUPPORTED : CIP_OK);
        const int64_t *coords = i == 0 ? at : one;
        assert_int_equal(cip_read_points(a, 2, coords, cip_dtype_of(CIP_I64), v, NULL),
                         CIP_ERR_UNSUPPORTED);
        assert_int_equal(
            cip_read_points_into(a, 2, coords,
                                 CIP_READ_ARGS(.dtype = cip_dtype_of(CIP_I64), .dst = v,
                                               .dst_nbytes = 16, .mask = mask),
                                 NULL),
            CIP_OK);
        assert_int_equal(mask[0], i == 1);
        assert_int_equal(mask[1], i == 0);
        assert_int_equal(v[i == 0 ? 0 : 1], i == 0 ? 2 : 3);
        assert_int_equal(
            cip_read_points_into(a, 2, coords, CIP_READ_ARGS(.dst = v, .dst_nbytes = 1), NULL),
            CIP_ERR_RANGE);
        assert_int_equal(cip_read_points_into(a, 2, coords,
                                              CIP_READ_ARGS(.selection = "[0]", .dst = v,
                                                            .dst_nbytes = CIP_UNCHECKED),
                                              NULL),
                         CIP_ERR_ARG);
    }
    int32_t none[2];
    assert_int_equal(
        cip_read(cip_find(f, "none", NULL), NULL, cip_dtype_of(CIP_I32), none, 8, NULL), CIP_OK);
    cip_file_close(f);
    free(mem);
}

static void masks_of_every_kind_are_read(void **state)
{
    (void)state;
    check_mask(masked_tree, "value", NULL, "001100");
    check_mask(masked_tree, "value", "[:, ::-1]", "100001");
    check_mask(masked_tree, "nan", NULL, "1000");
    check_mask(masked_tree, "zero", NULL, "0011");
    check_mask(masked_tree, "null", "[1:]", "10");
    check_mask(masked_tree, "row", NULL, "101010");
    check_mask(masked_tree, "row", "[1, ::-1]", "01");
    check_mask(masked_tree, "column", NULL, "001100");
    check_mask(masked_tree, "column", "[1:]", "1100");
    check_mask(masked_tree, "none", NULL, "00");
}

static const char masked_fields[] =
    "a: !core/ndarray-1.1.0 {data: [[1, null, [2, 3]], [null, 4.5, [5, null]], null, [6, 7, [8, "
    "9]]], datatype: [int32, float64, {name: v, datatype: int16, shape: [2]}], mask: "
    "!core/ndarray-1.1.0 [false, false, false, true]}\n"
    "nan: !core/ndarray-1.1.0 {data: [[1, null]], datatype: [int32, float64]}\n";

static void fields_have_masks_of_their_own(void **state)
{
    (void)state;
    check_mask_of(masked_fields, "a", "f0", NULL, "0111");
    check_mask_of(masked_fields, "a", "f0", "[::-1]", "1110");
    check_mask_of(masked_fields, "a", "f1", NULL, "1011");
    check_mask_of(masked_fields, "a", "v", NULL, "00011111");
    check_mask_of(masked_fields, "a", "v", "[:2, 1]", "01");
    check_mask_of(masked_fields, "nan", NULL, NULL, "0");
}

static void records_that_cannot_show_what_is_missing_are_refused(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_asdf(masked_fields, &mem);
    uint8_t to[64];
    cip_err err = CIP_ERR_INIT;
    const cip_array *a = cip_find(f, "a", NULL);
    assert_int_equal(cip_read_into(a, CIP_READ_ARGS(.dst = to, .dst_nbytes = CIP_UNCHECKED), &err),
                     CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "'f0'"));
    err = (cip_err)CIP_ERR_INIT;
    assert_null(cip_view(a, &err));
    assert_int_equal(err.code, CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "'f0'"));
    assert_int_equal(cip_read_into(cip_find(f, "nan", NULL),
                                   CIP_READ_ARGS(.dst = to, .dst_nbytes = CIP_UNCHECKED), NULL),
                     CIP_OK);
    cip_file_close(f);
    free(mem);
}

static void a_mask_that_does_not_broadcast_is_an_error(void **state)
{
    (void)state;
    char *mem;
    cip_file *f = test_open_asdf(
        "a: !core/ndarray-1.1.0 {data: [1, 2, 3], mask: !core/ndarray-1.1.0 [true, false]}\n",
        &mem);
    uint8_t mask[3];
    int64_t v[3];
    const cip_array *a = cip_find(f, "a", NULL);
    assert_int_equal(cip_read_into(a, CIP_READ_ARGS(.dst = v, .dst_nbytes = sizeof v), NULL),
                     CIP_OK);
    assert_int_not_equal(cip_read(a, NULL, cip_dtype_as_stored(), v, sizeof v, NULL), CIP_OK);
    assert_int_not_equal(cip_read_into(a, CIP_READ_ARGS(.mask = mask), NULL), CIP_OK);
    cip_file_close(f);
    free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_read_as_asked),
        cmocka_unit_test(memory_of_another_size_is_refused),
        cmocka_unit_test(calls_chain_through_null),
        cmocka_unit_test(values_that_do_not_fit_are_told),
        cmocka_unit_test(a_value_is_read_exactly_or_refused),
        cmocka_unit_test(what_err_holds_does_not_change_a_read),
        cmocka_unit_test(destination_strides_are_kept),
        cmocka_unit_test(the_size_of_dst_is_checked),
        cmocka_unit_test(wrong_args_are_refused),
        cmocka_unit_test(reversed_axes_are_the_transposed_array),
        cmocka_unit_test(stored_bytes_can_be_taken_as_another_type),
        cmocka_unit_test(fields_are_a_further_step),
        cmocka_unit_test(points_are_read_in_any_order),
        cmocka_unit_test(a_view_is_given_only_where_it_is_right),
        cmocka_unit_test(a_view_wants_c_order_and_alignment),
        cmocka_unit_test(dtypes_of_reading_are_packed_and_in_order),
        cmocka_unit_test(a_view_shows_no_missing_elements),
        cmocka_unit_test(missing_elements_are_not_read_without_a_mask),
        cmocka_unit_test(masks_of_every_kind_are_read),
        cmocka_unit_test(fields_have_masks_of_their_own),
        cmocka_unit_test(records_that_cannot_show_what_is_missing_are_refused),
        cmocka_unit_test(a_mask_that_does_not_broadcast_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
