/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/asdf/asdf_testing.h"

#define ND "!core/ndarray-1.0.0 {source: 0, byteorder: little, "

/* Opens "a: TEXT" with a good array behind it, which must be readable whatever a is. */
static void open_a(one_file *f, const char *text, uint32_t flags)
{
    char tree[8192];
    snprintf(tree, sizeof tree, "a: %s\nb: %s", text, MAKE_FLOAT64);
    assert_int_equal(make_open_tree(f, tree, flags), CIP_OK);
    assert_true(make_gives_three(f, "b"));
}

static void assert_refused(const char *text, cip_status st, const char *why)
{
    one_file f;
    open_a(&f, text, 0);
    if (make_try(&f, "a") != st || strstr(f.err.text, why) == NULL)
        print_error("%s: %s: %s\n", text, cip_status_name((cip_status)f.err.code), f.err.text);
    assert_int_equal(make_try(&f, "a"), st);
    assert_non_null(strstr(f.err.text, why));
    assert_non_null(make_find(&f, "a")->dtype);
    one_close(&f);
}

/* The dtype's name, the shape, and the bytes of the first array. */
static void assert_array(const char *text, const char *dtype, const char *shape, const void *bytes,
                         size_t n)
{
    one_file f;
    char got[256] = "";
    open_a(&f, text, 0);
    const cip_array *a = make_find(&f, "a");
    assert_non_null(a);
    if (a->st != CIP_OK)
        print_error("%s: %s\n", text, a->why->text);
    assert_int_equal(a->st, CIP_OK);
    assert_string_equal(cip_dtype_name(a->dtype), dtype);
    for (int32_t d = 0; d < a->view.ndim; d++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", d ? "," : "",
                 (int)a->view.shape[d]);
    assert_string_equal(got, shape);
    assert_true(make_gives(&f, "a", bytes, n));
    one_close(&f);
}

/* --- datatypes -------------------------------------------------------------------------------- */

static void scalar_datatypes_are_those_of_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *name, *dtype;
        size_t nbytes;
    } rows[] = {
        { "int8", "int8", 1 },         { "int16", "int16", 2 },
        { "int32", "int32", 4 },       { "int64", "int64", 8 },
        { "uint8", "uint8", 1 },       { "uint16", "uint16", 2 },
        { "uint32", "uint32", 4 },     { "uint64", "uint64", 8 },
        { "float16", "float16", 2 },   { "float32", "float32", 4 },
        { "float64", "float64", 8 },   { "complex64", "complex64", 8 },
        { "bool8", "bool", 1 },        { "complex128", "complex128", 16 },
        { "[ascii, 3]", "ascii3", 3 }, { "[ucs4, 2]", "ucs4-2", 8 },
        { "'int8'", "int8", 1 },
    };
    static const uint8_t six[24] = { 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4 };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[200];
        uint8_t want[16];
        snprintf(text, sizeof text, ND "shape: [1], datatype: %s}", rows[i].name);
        memcpy(want, six, 16);
        if (strcmp(rows[i].name, "bool8") == 0)
            want[0] = 0;
        assert_array(text, rows[i].dtype, "1", want, rows[i].nbytes);
    }
}

static void types_beyond_the_standard_are_bytes_with_a_warning(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t nbytes;
    } rows[] = { { "int128", 16 }, { "uint128", 16 }, { "complex32", 4 } };
    for (size_t i = 0; i < 3; i++) {
        one_file f;
        char text[200];
        snprintf(text, sizeof text, ND "shape: [1], datatype: [%s, %s]}", rows[i].name,
                 rows[i].name);
        if (rows[i].nbytes == 16)
            snprintf(text, sizeof text, ND "shape: [1], datatype: %s}", rows[i].name);
        open_a(&f, text, 0);
        assert_int_equal(make_find(&f, "a")->view.itemsize, rows[i].nbytes == 16 ? 16 : 8);
        assert_int_equal(make_try(&f, "a"), CIP_OK);
        assert_int_equal(make_warned(&f, "is not in the standard"), 1);
        one_close(&f);
    }
}

static void byte_order_is_the_arrays_or_the_fields(void **state)
{
    (void)state;
    /* Read as little-endian, whatever they are stored as. */
    static const uint8_t big[] = { 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2 };
    assert_array("!core/ndarray-1.0.0 {source: 0, datatype: uint32, byteorder: big, shape: [3]}",
                 "uint32", "3", big, sizeof big);
    static const uint8_t fields[] = { 0, 0, 0, 0, 1, 0, 0, 0 };
    assert_array(ND "shape: [1], datatype: [{name: x, datatype: uint32, byteorder: big}, int32]}",
                 "{x: uint32, f1: int32}", "1", fields, sizeof fields);
    assert_array(
        "!core/ndarray-1.0.0 {source: 0, byteorder: big, shape: [1], datatype: [uint32, {datatype: "
        "uint32, byteorder: little}, {name: n, datatype: [int8, uint16]}]}",
        "{f0: uint32, f1: uint32, n: {f0: int8, f1: uint16}}", "1",
        (const uint8_t[]){ 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0 }, 11);
}

static void records_are_packed_and_may_nest_and_have_shapes(void **state)
{
    (void)state;
    assert_array(
        ND "shape: [2], datatype: [int8, {name: b, datatype: int16, shape: [2, 1]}, [ascii, 1]]}",
        "{f0: int8, b: int16[2, 1], f2: ascii1}", "2",
        (const uint8_t[]){ 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0 }, 12);
    assert_array(ND "shape: [1], datatype: [[[ascii, 1]], [ucs4, 1]]}",
                 "{f0: {f0: ascii1}, f1: ucs4-1}", "1", "\0\0\0\0\1", 5);
}

static void wrong_datatypes_refuse_the_array(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        cip_status st;
        const char *why;
    } rows[] = {
        { "float128", CIP_ERR_CORRUPT, "expected a datatype, found 'float128'" },
        { "''", CIP_ERR_CORRUPT, "expected a datatype, found ''" },
        { "32", CIP_ERR_CORRUPT, "expected a datatype, found '32'" },
        { "~", CIP_ERR_CORRUPT, "expected a datatype, found '~'" },
        { "[]", CIP_ERR_CORRUPT, "found an empty list" },
        { "{a: 1}", CIP_ERR_CORRUPT, "expected a datatype, found a list or mapping" },
        { "[ascii, -1]", CIP_ERR_CORRUPT, "expected a length, found '-1'" },
        { "[ascii, x]", CIP_ERR_CORRUPT, "expected a datatype, found 'ascii'" },
        { "[ascii]", CIP_ERR_CORRUPT, "expected a datatype, found 'ascii'" },
        { "[ucs4, 4611686018427387905]", CIP_ERR_RANGE, "" },
        { "[{name: a}]", CIP_ERR_CORRUPT, "expected a datatype in each field" },
        { "[{name: [a], datatype: int8}]", CIP_ERR_CORRUPT,
          "expected text as the name of a field" },
        { "[{datatype: int8, byteorder: middle}]", CIP_ERR_CORRUPT,
          "expected a byteorder of big or little" },
        { "[{datatype: int8, shape: 3}]", CIP_ERR_CORRUPT,
          "expected a list as the shape of a field" },
        { "[{datatype: int8, shape: [-1]}]", CIP_ERR_CORRUPT, "expected a length in the shape" },
        { "[{datatype: int8, shape: [x]}]", CIP_ERR_CORRUPT, "expected a length in the shape" },
        { "[{datatype: int32, shape: [4294967296, 4294967296]}]", CIP_ERR_CORRUPT, "" },
        { "[{name: a, datatype: int8}, {name: a, datatype: int8}]", CIP_ERR_CORRUPT,
          "the same name" },
        { "[{datatype: int8, shape: "
          "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
          "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}]",
          CIP_ERR_UNSUPPORTED, "expected at most 64 dimensions, found 65" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1000];
        snprintf(text, sizeof text, ND "shape: [1], datatype: %s}", rows[i].type);
        assert_refused(text, rows[i].st, rows[i].why);
    }
}

static void records_nest_32_deep_and_have_65536_fields_in_all(void **state)
{
    (void)state;
    for (int depth = 32; depth <= 33; depth++) {
        one_file f;
        char text[400] = ND "shape: [1], datatype: ";
        for (int i = 0; i < depth; i++)
            strcat(text, "[");
        strcat(text, "int8");
        for (int i = 0; i < depth; i++)
            strcat(text, "]");
        strcat(text, "}");
        open_a(&f, text, 0);
        assert_int_equal(make_try(&f, "a"), depth == 32 ? CIP_OK : CIP_ERR_LIMIT);
        one_close(&f);
    }
    one_file f; /* 4 + 4 * (4 + 4 * (4 + ...)) fields */
    char tree[2000] = "t0: &t0 [int8, int8, int8, int8]\n", line[100];
    for (int i = 1; i < 9; i++) {
        snprintf(line, sizeof line, "t%d: &t%d [*t%d, *t%d, *t%d, *t%d]\n", i, i, i - 1, i - 1,
                 i - 1, i - 1);
        strcat(tree, line);
    }
    strcat(tree, "a: " ND "shape: [1], datatype: *t8}\nb: " ND "shape: [0], datatype: *t3}\n");
    assert_int_equal(make_open_tree(&f, tree, 0), CIP_OK);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_LIMIT);
    assert_non_null(strstr(f.err.text, "expected at most 65536 fields"));
    assert_int_equal(make_try(&f, "b"), CIP_OK);
    one_close(&f);
}

static void a_missing_byteorder_is_little_with_one_warning(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(
        make_open_tree(&f,
                       "a: !core/ndarray-1.0.0 {source: 0, datatype: int32, shape: [6]}\n"
                       "b: !core/ndarray-1.0.0 {source: 0, datatype: int32, shape: [6]}\n",
                       0),
        CIP_OK);
    assert_true(make_gives_six(&f, "a"));
    assert_int_equal(
        make_warned(&f, "expected a byteorder together with source; little is assumed"), 1);
    one_close(&f);
}

static void padded_records_are_suspected(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        int rows;
        bool suspect; /* of 24 bytes */
    } rows[] = {
        { "[int8, float64]", 1, false },                                  /* 16 */
        { "[int8, int32, int8]", 2, true },                               /* 12 each */
        { "[int8, int32, int8, int8, int8, int32]", 2, false },           /* 12 packed too */
        { "[int8, {name: n, datatype: [int16, int8]}, int16]", 3, true }, /* 8: 1+pad, 4, 2 */
        { "[int8, complex64, int8]", 1, false },                          /* 16 */
        { "[int8, {name: c, datatype: complex64, shape: [2]}, int8]", 1, true }, /* 24 */
        { "[int8, [ucs4, 1], [ascii, 3]]", 2, true },                            /* 12 */
        { "[int8, int16]", 6, true },                                            /* 4 */
        { "[int8, int16]", 5, false },
        { "[int8, [ascii, 3]]", 6, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        char text[300];
        snprintf(text, sizeof text, ND "shape: [%d], datatype: %s}", rows[i].rows, rows[i].type);
        open_a(&f, text, 0);
        assert_int_equal(make_try(&f, "a"), CIP_OK);
        assert_int_equal(make_warned(&f, "the size of padded records"), rows[i].suspect);
        one_close(&f);
    }
}

/* --- tags ------------------------------------------------------------------------------------- */

static void tags_of_other_versions_are_read_with_a_warning(void **state)
{
    (void)state;
    static const struct {
        const char *tag;
        cip_status st;
        const char *warning;
    } rows[] = {
        { "core/ndarray-1.0.0", CIP_OK, NULL },
        { "core/ndarray-1.1.0", CIP_OK, "core/ndarray-1.1.0 is not part of the standard 1.5.0" },
        { "core/ndarray-1.2.0", CIP_OK, "core/ndarray-1.2.0 is not part of the standard 1.5.0" },
        { "core/ndarray", CIP_OK, "expected a version in the tag core/ndarray" },
        { "core/ndarray-1.3.0", CIP_ERR_UNSUPPORTED, NULL },
        { "core/ndarray-1.0.1", CIP_ERR_UNSUPPORTED, NULL },
        { "core/ndarray-2.0.0", CIP_ERR_UNSUPPORTED, NULL },
        { "core/ndarray-1", CIP_ERR_UNSUPPORTED, NULL },
        { "core/ndarray-chunk-1.0.0", CIP_ERR_NOT_FOUND, NULL },
        { "core/ndarrays-1.0.0", CIP_ERR_NOT_FOUND, NULL },
        { "other/ndarray-1.0.0", CIP_ERR_NOT_FOUND, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        char text[300];
        snprintf(text, sizeof text,
                 "!%s {source: 0, datatype: int32, byteorder: little, shape: [6]}", rows[i].tag);
        open_a(&f, text, 0);
        assert_int_equal(make_try(&f, "a"), rows[i].st);
        assert_int_equal(f.env.warnings.n, rows[i].warning != NULL);
        if (rows[i].warning != NULL)
            assert_int_equal(make_warned(&f, rows[i].warning), 1);
        one_close(&f);
        if (rows[i].st == CIP_ERR_UNSUPPORTED) {
            open_a(&f, text, CIP_OPEN_FORCE);
            assert_true(make_gives_six(&f, "a"));
            one_close(&f);
        }
    }
}

static void the_standard_1_6_0_has_ndarray_1_1_0(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        one_file f;
        asdf_make m = { 0 };
        make_text(&m, with ? "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n" : "#ASDF 1.0.0\n");
        make_text(&m, MAKE_YAML
                  "a: " MAKE_INT32 "b: " MAKE_INT32
                  "c: !core/ndarray-1.1.0 {source: 0, datatype: int32, byteorder: little, "
                  "shape: [6]}\n...\n");
        make_six(&m);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(make_warned(&f, "core/ndarray-1.0.0 is not part of the standard 1.6.0"),
                         (size_t)with);
        assert_int_equal(f.env.warnings.n, (size_t)with);
        assert_true(make_gives_six(&f, "c"));
        one_close(&f);
        make_clear(&m);
    }
}

/* --- forms, shapes, strides ------------------------------------------------------------------- */

static void wrong_descriptions_refuse_the_array(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        cip_status st;
        const char *why;
    } rows[] = {
        { "!core/ndarray-1.0.0 hello", CIP_ERR_TYPE, "expected a mapping or a list" },
        { "!core/ndarray-1.0.0 ~", CIP_ERR_TYPE, "expected a mapping or a list" },
        { "!core/ndarray-1.0.0 {}", CIP_ERR_CORRUPT, "expected source or data" },
        { "!core/ndarray-1.0.0 {source: 0, data: [1], datatype: int8, shape: [1]}", CIP_ERR_CORRUPT,
          "found both" },
        { ND "shape: [1]}", CIP_ERR_CORRUPT, "expected a datatype together with source" },
        { ND "datatype: int8}", CIP_ERR_CORRUPT, "expected a shape together with source" },
        { "!core/ndarray-1.0.0 {source: 0, datatype: int8, byteorder: middle, shape: [1]}",
          CIP_ERR_CORRUPT, "expected a byteorder of big or little, found 'middle'" },
        { ND "datatype: int8, shape: 6}", CIP_ERR_CORRUPT, "expected a list as shape" },
        { ND "datatype: int8, shape: {a: 1}}", CIP_ERR_CORRUPT, "expected a list as shape" },
        { ND "datatype: int8, shape: [-1]}", CIP_ERR_CORRUPT, "as item 0 of shape, found '-1'" },
        { ND "datatype: int8, shape: [6.0]}", CIP_ERR_CORRUPT, "as item 0 of shape, found '6.0'" },
        { ND "datatype: int8, shape: ['6']}", CIP_ERR_CORRUPT, "as item 0 of shape, found '6'" },
        { ND "datatype: int8, shape: [2, '*']}", CIP_ERR_CORRUPT, "as item 1 of shape, found '*'" },
        { ND "datatype: int8, shape: [[6]]}", CIP_ERR_CORRUPT,
          "as item 0 of shape, found 'a list'" },
        { ND "datatype: int8, shape: [9223372036854775808]}", CIP_ERR_CORRUPT,
          "as item 0 of shape" },
        { ND "datatype: int32, shape: [4294967296, 4294967296]}", CIP_ERR_CORRUPT, "" },
        { ND "datatype: int32, shape: [0, 4611686018427387904]}", CIP_ERR_CORRUPT, "" },
        { ND "datatype: int32, shape: [7]}", CIP_ERR_RANGE,
          "expected a block of at least 28 bytes, found 24" },
        { ND "datatype: int32, shape: [6], offset: 1}", CIP_ERR_RANGE, "at least 25 bytes" },
        { ND "datatype: int32, shape: [6], offset: -4}", CIP_ERR_CORRUPT,
          "expected an offset of at least 0" },
        { ND "datatype: int32, shape: [6], offset: x}", CIP_ERR_CORRUPT, "expected an offset" },
        { ND "datatype: int32, shape: [6], offset: 18446744073709551612}", CIP_ERR_RANGE, "" },
        { ND "datatype: int32, shape: [6], strides: [4, 4]}", CIP_ERR_CORRUPT,
          "expected 1 strides" },
        { ND "datatype: int32, shape: [6], strides: []}", CIP_ERR_CORRUPT, "expected 1 strides" },
        { ND "datatype: int32, shape: [6], strides: 4}", CIP_ERR_CORRUPT, "expected 1 strides" },
        { ND "datatype: int32, shape: [6], strides: [x]}", CIP_ERR_CORRUPT,
          "expected an integer as item 0 of strides" },
        { ND "datatype: int32, shape: [6], strides: [5]}", CIP_ERR_RANGE, "at least 29 bytes" },
        { ND "datatype: int32, shape: [6], strides: [-4]}", CIP_ERR_RANGE, "" },
        { ND "datatype: int32, shape: [6], strides: [-9223372036854775808]}", CIP_ERR_RANGE, "" },
        { ND "datatype: int32, shape: [2, 4294967297], strides: [4, 4294967296]}", CIP_ERR_RANGE,
          "" },
        { ND "datatype: int32, shape: ['*'], strides: [0]}", CIP_ERR_CORRUPT,
          "expected a positive first stride" },
        { ND "datatype: int32, shape: ['*'], strides: [-4]}", CIP_ERR_CORRUPT,
          "expected a positive first stride" },
        { "!core/ndarray-1.0.0 {source: 2, datatype: int8, shape: [1], byteorder: big}",
          CIP_ERR_NOT_FOUND, "expected block 2 of the file, found 2 blocks" },
        { "!core/ndarray-1.0.0 {source: -3, datatype: int8, shape: [1], byteorder: big}",
          CIP_ERR_NOT_FOUND, "expected block -3" },
        { "!core/ndarray-1.0.0 {source: 9223372036854775808, datatype: int8, shape: [1], "
          "byteorder: big}",
          CIP_ERR_NOT_FOUND, "expected block 9223372036854775808" },
        { "!core/ndarray-1.0.0 {source: 18446744073709551616, datatype: int8, shape: [1], "
          "byteorder: big}",
          CIP_ERR_NOT_FOUND, "expected block 18446744073709551616" },
        { "!core/ndarray-1.0.0 {source: 0.5, datatype: int8, shape: [1], byteorder: big}",
          CIP_ERR_CORRUPT, "expected a block number or a file's name as source, found '0.5'" },
        { "!core/ndarray-1.0.0 {source: {x: 1}, datatype: int8, shape: [1], byteorder: big}",
          CIP_ERR_CORRUPT, "found a list or mapping" },
        { "!core/ndarray-1.0.0 {source: ~, datatype: int8, shape: [1], byteorder: big}",
          CIP_ERR_CORRUPT, "expected a block number" },
        { ND "datatype: [ascii, 0], shape: [16777217]}", CIP_ERR_LIMIT, "elements of no bytes" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_refused(rows[i].text, rows[i].st, rows[i].why);
}

static void shapes_and_strides_address_the_block(void **state)
{
    (void)state;
    assert_array(ND "datatype: int32, shape: []}", "int32", "", (const uint8_t[]){ 0, 0, 0, 0 }, 4);
    assert_array(ND "datatype: int32, shape: [0, 3]}", "int32", "0,3", "", 0);
    assert_array(ND "datatype: int32, shape: [2, 0]}", "int32", "2,0", "", 0);
    assert_array(ND "datatype: uint8, shape: [2], offset: 4}", "uint8", "2", "\1\0", 2);
    assert_array(ND "datatype: uint8, shape: [1], offset: 23}", "uint8", "1", "\0", 1);
    assert_array(ND "datatype: uint8, shape: [3, 2], strides: [8, 4]}", "uint8", "3,2",
                 "\0\1\2\3\4\5", 6);
    assert_array(ND "datatype: uint8, shape: [6], strides: [-4], offset: 20}", "uint8", "6",
                 "\5\4\3\2\1\0", 6);
    assert_array(ND "datatype: uint8, shape: [2, 2], strides: [4, 4]}", "uint8", "2,2", "\0\1\1\2",
                 4);
    assert_array(ND "datatype: uint8, shape: [2, 3], strides: [4, 8]}", "uint8", "2,3",
                 "\0\2\4\1\3\5", 6);
    assert_array("!core/ndarray-1.0.0 {source: -2, byteorder: little, datatype: uint8, shape: [1], "
                 "offset: 20}",
                 "uint8", "1", "\5", 1);
    assert_array(ND "datatype: [ascii, 0], shape: [3]}", "ascii0", "3", "", 0);
}

static void strides_of_0_are_warned_about(void **state)
{
    (void)state;
    one_file f;
    open_a(&f, ND "datatype: uint8, shape: [2, 3], strides: [0, 4]}", 0);
    assert_true(make_gives(&f, "a", "\0\1\2\0\1\2", 6));
    assert_int_equal(make_warned(&f, "a stride of 0"), 1);
    one_close(&f);
}

static void the_first_axis_may_be_the_fastest(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        bool f_order;
    } rows[] = {
        { "shape: [2, 3], strides: [4, 8]}", true },
        { "shape: [2, 3], strides: [12, 4]}", false },
        { "shape: [2, 3]}", false },
        { "shape: [6], strides: [4]}", false },
        { "shape: [1, 3], strides: [4, 4]}", false },
        { "shape: [2, 2], strides: [4, 12]}", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        char text[200];
        snprintf(text, sizeof text, ND "datatype: int32, %s", rows[i].rest);
        open_a(&f, text, 0);
        assert_int_equal(make_find(&f, "a")->f_order, rows[i].f_order);
        one_close(&f);
    }
}

static void a_star_counts_the_whole_rows(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        int rows;
        const char *left; /* of the warning */
    } rows[] = {
        { "datatype: int32, shape: ['*']}", 6, NULL },
        { "datatype: int32, shape: ['*', 2]}", 3, NULL },
        { "datatype: int32, shape: ['*', 4]}", 1, "8 bytes are left over" },
        { "datatype: int32, shape: ['*', 7]}", 0, "24 bytes are left over" },
        { "datatype: int32, shape: ['*'], offset: 4}", 5, NULL },
        { "datatype: int32, shape: ['*', 2], offset: 4}", 2, "4 bytes are left over" },
        { "datatype: uint8, shape: ['*'], strides: [5]}", 5, "3 bytes are left over" },
        { "datatype: uint8, shape: ['*', 3], strides: [1, 1]}", 22, NULL },
        { "datatype: uint8, shape: ['*', 2], strides: [4, -2], offset: 2}", 6,
          "1 bytes are left over" },
        { "datatype: int32, shape: ['*', 0]}", 0, NULL },
        { "datatype: int32, shape: ['*', 1, 2, 1]}", 3, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        char text[200];
        snprintf(text, sizeof text, ND "%s", rows[i].rest);
        open_a(&f, text, 0);
        assert_int_equal(make_try(&f, "a"), CIP_OK);
        assert_int_equal(make_find(&f, "a")->view.shape[0], rows[i].rows);
        assert_int_equal(f.env.warnings.n, rows[i].left != NULL);
        if (rows[i].left != NULL)
            assert_int_equal(make_warned(&f, rows[i].left), 1);
        one_close(&f);
    }
    one_file f;
    open_a(&f, ND "datatype: uint8, shape: ['*', 3], strides: [1, 1], offset: 24}", 0);
    assert_int_equal(make_find(&f, "a")->view.shape[0], 0);
    one_close(&f);
}

static void arrays_say_how_they_are_stored(void **state)
{
    (void)state;
    one_file f;
    open_a(&f, "!core/ndarray-1.0.0 [1, 2]", 0);
    const cip_storage *s = &make_find(&f, "a")->storage;
    assert_string_equal(cip_storage_text(s), "inline");
    assert_string_equal(s->codec, "none");
    assert_int_equal(s->block, -1);
    s = &make_find(&f, "b")->storage;
    assert_string_equal(cip_storage_text(s), "internal");
    assert_string_equal(s->codec, "none");
    assert_int_equal(s->block, 1);
    assert_int_equal(s->nbytes, 24);
    one_close(&f);
    open_a(&f, "!core/ndarray-1.0.0 {}", 0);
    s = &make_find(&f, "a")->storage;
    assert_string_equal(s->codec, "");
    assert_int_equal(s->block, -1);
    one_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_datatypes_are_those_of_the_standard),
        cmocka_unit_test(types_beyond_the_standard_are_bytes_with_a_warning),
        cmocka_unit_test(byte_order_is_the_arrays_or_the_fields),
        cmocka_unit_test(records_are_packed_and_may_nest_and_have_shapes),
        cmocka_unit_test(wrong_datatypes_refuse_the_array),
        cmocka_unit_test(records_nest_32_deep_and_have_65536_fields_in_all),
        cmocka_unit_test(a_missing_byteorder_is_little_with_one_warning),
        cmocka_unit_test(padded_records_are_suspected),
        cmocka_unit_test(tags_of_other_versions_are_read_with_a_warning),
        cmocka_unit_test(the_standard_1_6_0_has_ndarray_1_1_0),
        cmocka_unit_test(wrong_descriptions_refuse_the_array),
        cmocka_unit_test(shapes_and_strides_address_the_block),
        cmocka_unit_test(strides_of_0_are_warned_about),
        cmocka_unit_test(the_first_axis_may_be_the_fastest),
        cmocka_unit_test(a_star_counts_the_whole_rows),
        cmocka_unit_test(arrays_say_how_they_are_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
