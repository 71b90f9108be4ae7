/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "support/format/asdf/asdf_testing.h"

#define ND "!core/ndarray-1.0.0 "

static void open_a(one_file *f, const char *text)
{
    static char tree[70000];
    snprintf(tree, sizeof tree, "a: %s\nb: %s", text, MAKE_FLOAT64);
    assert_int_equal(make_open_tree(f, tree, 0), CIP_OK);
    assert_true(make_gives_three(f, "b"));
}

/* Elements in this machine's order as they are read raw: little-endian. */
static void to_little(const cip_dtype *d, uint8_t *p, size_t n)
{
    size_t unit = d->kind == CIP_UCS4                             ? 4
                  : d->kind == CIP_C64 || d->kind == CIP_C128     ? d->itemsize / 2
                  : d->kind == CIP_ASCII || d->kind == CIP_RECORD ? 1 /* those here are of bytes */
                                                                  : d->itemsize;
    for (size_t at = 0; CIP_HOST_BIG && unit != 0 && at + unit <= n; at += unit)
        for (size_t k = 0; k < unit / 2; k++) {
            uint8_t swap = p[at + k];
            p[at + k] = p[at + unit - 1 - k];
            p[at + unit - 1 - k] = swap;
        }
}

static bool gives_native(one_file *f, const void *native, size_t n)
{
    uint8_t *want = malloc(n + 1);
    memcpy(want, native, n);
    to_little(make_find(f, "a")->dtype, want, n);
    bool same = make_gives(f, "a", want, n);
    free(want);
    return same;
}

static void assert_array(const char *text, const char *dtype, const char *shape, const void *bytes,
                         size_t n)
{
    one_file f;
    char got[256] = "";
    open_a(&f, text);
    const cip_array *a = make_find(&f, "a");
    cip_status st = make_try(&f, "a");
    if (st != CIP_OK)
        print_error("%s: %s\n", text, f.err.text);
    assert_int_equal(st, CIP_OK);
    assert_string_equal(cip_dtype_name(a->dtype), dtype);
    for (int32_t d = 0; d < a->view.ndim; d++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", d ? "," : "",
                 (int)a->view.shape[d]);
    assert_string_equal(got, shape);
    assert_true(gives_native(&f, bytes, n));
    assert_int_equal(f.env.warnings.n, 0);
    one_close(&f);
}

static void assert_fails(const char *text, cip_status st, const char *why)
{
    one_file f;
    open_a(&f, text);
    cip_status got = make_try(&f, "a");
    if (got != st || strstr(f.err.text, why) == NULL)
        print_error("%s: %s: %s\n", text, cip_status_name(got), f.err.text);
    assert_int_equal(got, st);
    assert_non_null(strstr(f.err.text, why));
    assert_string_equal(f.err.part, "a");
    one_close(&f);
}

/* --- without a type --------------------------------------------------------------------------- */

static void types_are_inferred_as_numpy_does(void **state)
{
    (void)state;
    static const int64_t ints[] = { 1, -2, 0 };
    assert_array(ND "[1, -2, 0]", "int64", "3", ints, sizeof ints);
    static const int64_t mixed[] = { 1, 1, 0 };
    assert_array(ND "{data: [1, true, false]}", "int64", "3", mixed, sizeof mixed);
    static const double floats[] = { 1, 2.5, 1 };
    assert_array(ND "[[1, 2.5, true]]", "float64", "1,3", floats, sizeof floats);
    assert_array(ND "[true, false]", "bool", "2", "\1\0", 2);
    static const double complexes[] = { 1, 2, 3, 0, 0, 0 };
    assert_array(ND "[!core/complex-1.0.0 1+2j, 3, 0.0]", "complex128", "3", complexes,
                 sizeof complexes);
    static const uint64_t wide[] = { 1, UINT64_MAX };
    assert_array(ND "[1, 18446744073709551615]", "uint64", "2", wide, sizeof wide);
    static const double wider[] = { -1, 9223372036854775808.0 };
    assert_array(ND "[-1, 9223372036854775808]", "float64", "2", wider, sizeof wider);
    static const double nothing[] = { 0 };
    assert_array(ND "[]", "float64", "0", nothing, 0);
    assert_array(ND "[[], []]", "float64", "2,0", nothing, 0);
    assert_array(ND "[-9223372036854775808]", "int64", "1", (const int64_t[]){ INT64_MIN }, 8);
}

static void texts_win_over_numbers(void **state)
{
    (void)state;
    static const uint32_t want[] = { '1', 0, 0, 0, 'a', 0xe9, 0x1f600, 0, 'T', 'r', 'u', 'e' };
    assert_array(ND "[1, \"a\\xe9\\U0001F600\", true]", "ucs4-4", "3", want, sizeof want);
    static const uint32_t no[] = { 'F', 'a', 'l', 's', 'e', '1', '.', '5', 0, 0, 'x', 0, 0, 0, 0 };
    assert_array(ND "[false, 1.5, x]", "ucs4-5", "3", no, sizeof no);
    static const uint32_t empty[] = { 0 };
    assert_array(ND "['']", "ucs4-1", "1", empty, sizeof empty);
    static const uint32_t cx[] = { '1', 'j', 'a', 0 };
    assert_array(ND "[!core/complex-1.0.0 1j, a]", "ucs4-2", "2", cx, sizeof cx);
}

/* What numpy makes of the values that Python's reader gives it. */
static void numbers_among_texts_are_texts_of_their_values(void **state)
{
    static const struct {
        const char *value, *text;
    } rows[] = {
        { "0x10", "16" },
        { "017", "15" },
        { "0b101", "5" },
        { "+5", "5" },
        { "1_000", "1000" },
        { "1:30", "90" },
        { "-0x10", "-16" },
        { "-9223372036854775808", "-9223372036854775808" },
        { "18446744073709551615", "18446744073709551615" },
        { "1.50", "1.5" },
        { "1_000.5", "1000.5" },
        { "1.0e+3", "1000.0" },
        { "1.0e-5", "1e-05" },
        { "3.0e+22", "3e+22" },
        { "-0.0", "-0.0" },
        { ".inf", "inf" },
        { "-.inf", "-inf" },
        { ".nan", "nan" },
        { "190:20:30.15", "685230.15" },
        { "yes", "True" },
        { "!core/complex-1.0.0 1+2i", "(1+2j)" },
        { "!core/complex-1.0.0 1-0.5j", "(1-0.5j)" },
        { "!core/complex-1.0.0 2.50j", "2.5j" },
        { "1e3", "1e3" }, /* texts in YAML 1.1 */
        { "0o17", "0o17" },
        { "'0x10'", "0x10" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[120], dtype[32], ascii[24] = "";
        uint32_t want[48] = { 0 };
        const size_t n = strlen(rows[i].text);
        for (size_t k = 0; k < n; k++)
            want[k] = (uint8_t)rows[i].text[k];
        want[n] = 'x';
        snprintf(text, sizeof text, ND "[%s, x]", rows[i].value);
        snprintf(dtype, sizeof dtype, "ucs4-%zu", n);
        assert_array(text, dtype, "2", want, 8 * n);
        snprintf(ascii, sizeof ascii, "%s", rows[i].text);
        snprintf(text, sizeof text, ND "{data: [%s], datatype: [ascii, 20]}", rows[i].value);
        assert_array(text, "ascii20", "1", ascii, 20);
    }
    assert_fails(ND "{data: [0xfffffffffffffffffff], datatype: [ascii, 30]}", CIP_ERR_TYPE,
                 "expected a value of type ascii30");
    assert_array(ND "{data: [99999999999999999999999], datatype: [ascii, 23]}", "ascii23", "1",
                 "99999999999999999999999", 23);
}

static void a_declared_byteorder_holds_for_what_is_inferred(void **state)
{
    (void)state;
    one_file f;
    open_a(&f, ND "{data: [1, 2], byteorder: big}");
    assert_true(cip_dtype_is_big(make_find(&f, "a")->dtype));
    assert_true(gives_native(&f, (const int64_t[]){ 1, 2 }, 16));
    one_close(&f);
}

static void what_is_no_array_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        cip_status st;
        const char *why;
    } rows[] = {
        { ND "[[1, 2], [3]]", CIP_ERR_CORRUPT, "expected 2 items in each list of axis 1, found 1" },
        { ND "[[1], 2]", CIP_ERR_CORRUPT, "found a value at depth 1" },
        { ND "[1, [2]]", CIP_ERR_CORRUPT, "one deeper than 1" },
        { ND "[[[1]], [[2], [3]]]", CIP_ERR_CORRUPT,
          "expected 1 items in each list of axis 1, found 2" },
        { ND "[{a: 1}]", CIP_ERR_TYPE, "found a mapping or list" },
        { ND "[2001-01-01]", CIP_ERR_TYPE, "found '2001-01-01'" },
        { ND "[18446744073709551616]", CIP_ERR_TYPE, "found '18446744073709551616'" },
        { ND "{data: 5}", CIP_ERR_TYPE, "expected a list as inline data" },
        { ND "{data: {a: 1}, datatype: int8}", CIP_ERR_TYPE, "expected a list as inline data" },
        { ND "{data: [{a: 1}], datatype: int8}", CIP_ERR_TYPE, "found a mapping or list" },
        { ND "{data: [1, 2], shape: [3]}", CIP_ERR_CORRUPT, "3 items on axis 0" },
        { ND "{data: [1, 2], shape: [2, 1]}", CIP_ERR_CORRUPT, "1 items on axis 1" },
        { ND "{data: [[1, 2]], shape: [1]}", CIP_ERR_CORRUPT,
          "expected inline data of 1 axes, found 2" },
        { ND "{data: [1], shape: x}", CIP_ERR_CORRUPT, "expected a list as shape" },
        { ND "{data: [1], datatype: quux}", CIP_ERR_CORRUPT, "expected a datatype" },
        { ND "{data: [1], byteorder: x}", CIP_ERR_CORRUPT, "expected a byteorder" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_fails(rows[i].text, rows[i].st, rows[i].why);
}

static void lists_nest_64_deep(void **state)
{
    (void)state;
    for (int depth = 64; depth <= 65; depth++) {
        one_file f;
        char text[300] = ND;
        for (int i = 0; i < depth; i++)
            strcat(text, "[");
        strcat(text, "1");
        for (int i = 0; i < depth; i++)
            strcat(text, "]");
        open_a(&f, text);
        assert_int_equal(make_try(&f, "a"), depth == 64 ? CIP_OK : CIP_ERR_UNSUPPORTED);
        one_close(&f);
    }
}

static void values_that_aliases_multiply_are_bounded(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    make_tree(&m,
              "x: &x [1, 2]\ny: &y [*x, *x]\na: !core/ndarray-1.0.0 [*y, *y]\n"); /* 15 visits */
    for (uint64_t max = 14; max <= 15; max++) {
        one_file f;
        const cip_limits limits = { .size = sizeof limits, .max_expansion = max };
        assert_int_equal(one_open_limited(&f, &cip_format_asdf, m.ptr, m.len, 0, NULL, &limits),
                         CIP_OK);
        assert_int_equal(make_try(&f, "a"), max == 14 ? CIP_ERR_LIMIT : CIP_OK);
        one_close(&f);
    }
    make_clear(&m);
}

/* --- with a type ------------------------------------------------------------------------------ */

static void declared_types_convert_what_they_can_hold(void **state)
{
    (void)state;
    assert_array(ND "{data: [-128, 127, true], datatype: int8}", "int8", "3", "\x80\x7f\1", 3);
    assert_array(ND "{data: [0, 255, 3.0], datatype: uint8}", "uint8", "3", "\0\xff\3", 3);
    assert_array(ND "{data: [0, 5, 1.5], datatype: bool8}", "bool", "3", "\0\1\1", 3);
    assert_array(ND "{data: [18446744073709551615], datatype: uint64}", "uint64", "1",
                 "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    static const float f32[] = { 1, 0.1f, 100000, 1e20f };
    assert_array(ND "{data: [1, 0.1, 1e5, 100000000000000000000], datatype: float32}", "float32",
                 "4", f32, sizeof f32);
    static const double c[] = { 1, -2.5, 4, 0 };
    assert_array(ND "{data: [!core/complex-1.0.0 (1-2.5I), 4], datatype: complex128}", "complex128",
                 "2", c, sizeof c);
    static const double d[] = { 3 };
    assert_array(ND "{data: [!core/complex-1.0.0 3+0j], datatype: float64}", "float64", "1", d,
                 sizeof d);
    assert_array(ND "{data: [ab, c, 1], datatype: [ascii, 3]}", "ascii3", "3",
                 "ab\0c\0\0"
                 "1\0\0",
                 9);
    static const uint32_t u[] = { 0xe9, 0, 'b', 'c' };
    assert_array(ND "{data: [\"\\xe9\", bc], datatype: [ucs4, 2], byteorder: big}", "ucs4-2", "2",
                 u, sizeof u);
    assert_array(ND "{data: [[], []], datatype: int8, shape: [2, 0]}", "int8", "2,0", "", 0);
    assert_array(ND "{data: [], datatype: int8, shape: [0, 5]}", "int8", "0,5", "", 0);
    assert_array(ND "{data: [[1, 2]], datatype: int8, shape: ['*', 2]}", "int8", "1,2", "\1\2", 2);
}

static void nans_and_infinities_are_those_of_the_reference(void **state)
{
    (void)state;
    uint64_t want[4] = { 0xfff8000000000000, 0x7ff0000000000000, 0xfff0000000000000,
                         0x8000000000000000 };
    assert_array(ND "[.nan, .inf, -.inf, -0.0]", "float64", "4", want, sizeof want);
    assert_array(ND "{data: [.nan], datatype: float32}", "float32", "1",
                 (const uint32_t[]){ 0xffc00000 }, 4);
}

static void values_that_do_not_fit_fail_when_they_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        cip_status st;
        const char *why;
    } rows[] = {
        { "[300], datatype: int8", CIP_ERR_RANGE,
          "expected a value that int8 holds exactly, found '300'" },
        { "[-1], datatype: uint8", CIP_ERR_RANGE, "found '-1'" },
        { "[1.5], datatype: int32", CIP_ERR_RANGE, "found '1.5'" },
        { "[.nan], datatype: int32", CIP_ERR_RANGE, "found '.nan'" },
        { "[9223372036854775808], datatype: int64", CIP_ERR_RANGE, "int64" },
        { "[18446744073709551616], datatype: uint64", CIP_ERR_RANGE, "uint64" },
        { "[1.0e+300], datatype: float32", CIP_ERR_RANGE, "float32" },
        { "[9007199254740993], datatype: float64", CIP_ERR_RANGE, "found '9007199254740993'" },
        { "[a], datatype: int8", CIP_ERR_TYPE, "expected a value of type int8, found 'a'" },
        { "['1'], datatype: int8", CIP_ERR_TYPE, "found '1'" },
        { "[2001-01-01], datatype: float64", CIP_ERR_TYPE, "found '2001-01-01'" },
        { "[!core/complex-1.0.0 1+2j], datatype: float64", CIP_ERR_RANGE, "found '1+2j'" },
        { "[!core/complex-1.0.0 x], datatype: complex64", CIP_ERR_TYPE, "found 'x'" },
        { "[abcd], datatype: [ascii, 3]", CIP_ERR_RANGE, "ascii3" },
        { "[\"\\xe9\"], datatype: [ascii, 3]", CIP_ERR_RANGE, "ascii3" },
        { "[abc], datatype: [ucs4, 2]", CIP_ERR_RANGE, "ucs4-2" },
        { "[1], datatype: int128", CIP_ERR_UNSUPPORTED, "inline data of type int128" },
        { "[[1, a]], datatype: [int8, int8]", CIP_ERR_TYPE, "found 'a'" },
        { "[[1, [2, x]]], datatype: [int8, {datatype: int8, shape: [2]}]", CIP_ERR_TYPE,
          "found 'x'" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[300];
        one_file f;
        snprintf(text, sizeof text, ND "{data: %s}", rows[i].rest);
        if (strstr(text, "int128") == NULL) {
            assert_fails(text, rows[i].st, rows[i].why);
            continue;
        }
        open_a(&f, text);
        assert_int_equal(make_try(&f, "a"), rows[i].st);
        one_close(&f);
    }
}

static void rows_of_records_are_lists(void **state)
{
    (void)state;
    assert_array(ND "{data: [[1, a], [2, b]], datatype: [int8, [ascii, 1]]}",
                 "{f0: int8, f1: ascii1}", "2", "\1a\2b", 4);
    assert_array(ND "{data: [[[1, a], [2, b]]], datatype: [int8, [ascii, 1]]}",
                 "{f0: int8, f1: ascii1}", "1,2", "\1a\2b", 4);
    assert_array(ND "{data: [[1], [2]], datatype: [int8]}", "{f0: int8}", "2", "\1\2", 2);
    assert_array(
        ND "{data: [[1, [[2, 3], [4, 5]]]], datatype: [int8, {datatype: int8, shape: [2, 2]}]}",
        "{f0: int8, f1: int8[2, 2]}", "1", "\1\2\3\4\5", 5);
    assert_array(ND "{data: [[1, [2, 3]]], datatype: [int8, [int8, int8]]}",
                 "{f0: int8, f1: {f0: int8, f1: int8}}", "1", "\1\2\3", 3);
    assert_array(ND "{data: [[1, ~]], datatype: [int8, float32]}", "{f0: int8, f1: float32}", "1",
                 "\1\0\0\xc0\xff", 5); /* NaN, as the reference reader spells it */
    assert_array(ND "{data: [[1, []]], datatype: [int8, {datatype: int8, shape: [0]}]}",
                 "{f0: int8, f1: int8[0]}", "1", "\1", 1);
    assert_fails(ND "{data: [[1, 2], [3]], datatype: [int8, int8]}", CIP_ERR_CORRUPT,
                 "one deeper than 1");
    assert_fails(ND "{data: [[1, 2], 3], datatype: [int8, int8]}", CIP_ERR_CORRUPT,
                 "expected a list of 2 fields");
    assert_array(ND "{data: [1, 2], datatype: [int8, int8]}", "{f0: int8, f1: int8}", "", "\1\2",
                 2);
    assert_fails(ND "{data: [1, 2, 3], datatype: [int8, int8]}", CIP_ERR_CORRUPT,
                 "expected a list of 2 fields");
    assert_fails(ND
                 "{data: [[1, [2]], [1, [2, 3]]], datatype: [int8, {datatype: int8, shape: [1]}]}",
                 CIP_ERR_CORRUPT, "one deeper than 1");
}

/* --- masks ------------------------------------------------------------------------------------ */

static const cip_mask *mask_of(one_file *f, const char *text)
{
    open_a(f, text);
    assert_int_equal(make_try(f, "a"), CIP_OK);
    return &make_find(f, "a")->mask;
}

/* The mask's elements, one byte each. */
static void assert_mask(const char *text, const char *want, size_t n)
{
    one_file f;
    const cip_mask *mask = mask_of(&f, text);
    assert_int_equal(mask->kind, CIP_MASK_SET_MISSING);
    assert_int_equal(mask->array->st, CIP_OK);
    assert_int_equal(f.env.warnings.n, 0);
    uint8_t got[64];
    assert_in_range(n, 1, sizeof got);
    assert_int_equal(one_gather(&f, mask->array, cip_dtype_of(CIP_BOOL), got), CIP_OK);
    assert_memory_equal(got, want, n);
    one_close(&f);
}

static void nulls_are_masked_and_read_as_zero(void **state)
{
    (void)state;
    static const int64_t want[] = { 1, 0, 3 };
    assert_array(ND "[1, ~, 3]", "int64", "3", want, sizeof want);
    assert_mask(ND "[1, ~, 3]", "\0\1\0", 3);
    assert_mask(ND "[[~, 2.5], [1, null]]", "\1\0\0\1", 4);
    assert_mask(ND "{data: [~, 7], datatype: int8}", "\1\0", 2);
    assert_mask(ND "{data: [[1, 2], ~], datatype: [int8, int8]}", "\0\1", 2);
    assert_array(ND "[~, ~]", "int64", "2", (const int64_t[]){ 0, 0 }, 16);
    assert_array(ND "[~, true]", "int64", "2", (const int64_t[]){ 0, 1 }, 16);
    one_file f;
    assert_int_equal(mask_of(&f, ND "[1, 2]")->kind, CIP_MASK_NONE);
    one_close(&f);
}

static void nulls_are_missing_beside_an_explicit_mask(void **state)
{
    (void)state;
    assert_mask(ND "{data: [1, ~, 3], mask: [true, false, false]}", "\1\1\0", 3);
    assert_mask(ND "{data: [1, ~, 3], mask: !core/ndarray-1.0.0 [0, 0, 2]}", "\0\1\1", 3);
    assert_mask(ND "{data: [1, ~, 3], mask: ~}", "\0\1\0", 3);
    assert_mask(ND "{data: [1, ~, 3], mask: 3}", "\0\1\1", 3);
    assert_mask(ND "{data: [1.5, ~, .nan], mask: .nan}", "\0\1\1", 3);
    assert_mask(ND "{data: [0.0, ~, -0.0], mask: 0}", "\1\1\1", 3);
    assert_mask(ND "{data: [[1, ~], [3, 4]], mask: [[true], [false]]}", "\1\1\0\0", 4);
    assert_mask(ND "{data: [[1, ~], [3, 4]], mask: [false, true]}", "\0\1\0\1", 4);
    assert_mask(ND "{data: [a, ~], mask: [true, false]}", "\1\1", 2);
    assert_mask(ND "{data: [1, ~, 3], mask: " ND "{data: true}}", "\1\1\1", 3);
    assert_mask(ND "{data: [1, ~, 3], mask: " ND "{data: 0, shape: []}}", "\0\1\0", 3);
    assert_mask(ND "{data: [!core/complex-1.0.0 1+2j, ~, 3.0], mask: !core/complex-1.0.0 1+2j}",
                "\1\1\0", 3);
}

/* `fields`: "name offset ..." of those with nulls, those that read as NaN with a '*'; then the
 * bytes of their mask. */
static void assert_null_fields(const char *text, const char *fields, const char *want, size_t n)
{
    one_file f;
    const cip_mask *mask = mask_of(&f, text);
    char got[128] = "";
    assert_int_equal(mask->kind, CIP_MASK_NONE);
    for (size_t i = 0, len = 0; i < mask->nfield; i++)
        len += (size_t)snprintf(got + len, sizeof got - len, "%s%s%s %d", i != 0 ? " " : "",
                                mask->field[i].name, mask->field[i].nan ? "*" : "",
                                (int)mask->field[i].off);
    assert_string_equal(got, fields);
    cip_array in_fields = *make_find(&f, "a");
    in_fields.space = mask->in_fields;
    in_fields.dtype = cip_dtype_of(CIP_BOOL);
    assert_int_equal(cip_view_c_order(1, &(int64_t){ (int64_t)n }, 1, &in_fields.view, NULL),
                     CIP_OK);
    uint8_t bytes[64];
    assert_in_range(n, 1, sizeof bytes);
    assert_int_equal(one_gather(&f, &in_fields, in_fields.dtype, bytes), CIP_OK);
    assert_memory_equal(bytes, want, n);
    one_close(&f);
}

static void nulls_in_records_are_masked_by_field(void **state)
{
    (void)state;
    assert_null_fields(ND "{data: [[1, 2], [~, 2]], datatype: [int8, int8]}", "f0 0", "\0\0\1\0",
                       4);
    assert_null_fields(ND "{data: [[1, 2, ~], [3, ~, 4]], datatype: [int8, int16, float32]}",
                       "f1 1 f2* 3", "\0\0\0\1\0\0\0\0\1\0\0\0\0\0", 14);
    assert_null_fields(ND "{data: [[1, [2, ~]]], datatype: [int8, {name: in, datatype: [int8, "
                          "[ascii, 2]]}]}",
                       "in/f1 2", "\0\0\1\0", 4);
    assert_null_fields(ND "{data: [[1, [[2, ~], [~, 5]]]], datatype: [int8, {datatype: [int8, "
                          "bool8], shape: [2]}]}",
                       "f1/f0 1 f1/f1 2", "\0\0\1\1\0", 5);
    assert_null_fields(ND "{data: [[[[~, 1], [2, 3]], [4, ~]]], datatype: [{datatype: int8, shape: "
                          "[2, 2]}, [int8, int8]]}",
                       "f0 0 f1/f1 5", "\1\0\0\0\0\1", 6);
    assert_fails(ND "{data: [[1, [[2, 3], ~]]], datatype: [int8, {datatype: [int8, int8], shape: "
                    "[2]}]}",
                 CIP_ERR_UNSUPPORTED, "expected a value in field 'f1', found null");
    assert_mask(ND "{data: [~, [1, 2]], datatype: [int8, int8]}", "\1\0", 2);
}

static void masks_are_arrays_of_blocks_too_and_broadcast(void **state)
{
    (void)state;
    assert_mask(
        ND
        "{source: 0, datatype: int8, byteorder: little, shape: [2, 3], mask: !core/ndarray-1.0.0 "
        "{source: 0, datatype: int32, byteorder: little, shape: [2, 3]}}",
        "\0\1\1\1\1\1", 6);
    assert_mask(ND "{source: 0, datatype: int8, byteorder: little, shape: [2, 3], mask: [0, 1, 0]}",
                "\0\1\0", 3);
    assert_mask(ND "{source: 0, datatype: int8, byteorder: little, shape: [2, 3], mask: " ND
                   "{data: true, datatype: bool8}}",
                "\1", 1);
    assert_mask(ND
                "{source: 0, datatype: int8, byteorder: little, shape: [2, 3], mask: [[1], [0]]}",
                "\1\0", 2);
    one_file f;
    assert_int_equal(
        make_open_tree(&f,
                       "a: &x !core/ndarray-1.0.0 {source: 0, datatype: int32, byteorder: little, "
                       "shape: [6], mask: *x}\n",
                       0),
        CIP_OK); /* its own mask: the mask of a mask is none */
    assert_true(make_gives_six(&f, "a"));
    assert_int_equal(make_find(&f, "a")->mask.kind, CIP_MASK_SET_MISSING);
    assert_int_equal(make_find(&f, "a")->mask.array->mask.kind, CIP_MASK_NONE);
    one_close(&f);
}

static void a_mask_of_a_wrong_shape_costs_only_the_mask(void **state)
{
    (void)state;
    static const char *const masks[] = { "[1, 0]", "[[1, 0, 0], [1, 0, 0]]", "[[[1, 0, 0]]]" };
    for (size_t i = 0; i < 3; i++) {
        one_file f;
        char text[200];
        snprintf(text, sizeof text, ND "{data: [1, 2, 3], mask: %s}", masks[i]);
        const cip_mask *mask = mask_of(&f, text);
        assert_int_equal(mask->kind, CIP_MASK_SET_MISSING);
        assert_int_equal(mask->array->st, CIP_ERR_RANGE);
        assert_int_equal(make_warned(&f, "that does not broadcast"), 1);
        one_close(&f);
    }
}

static void a_mask_that_cannot_be_had_costs_the_array(void **state)
{
    (void)state;
    assert_fails(ND "{source: 0, datatype: int32, byteorder: little, shape: [6], mask: "
                    "!core/ndarray-1.0.0 {source: "
                    "9, datatype: bool8, byteorder: little, shape: [6]}}",
                 CIP_ERR_NOT_FOUND, "mask: expected block 9");
    assert_fails(ND "{data: [1, 2], mask: !core/ndarray-1.0.0 {}}", CIP_ERR_CORRUPT,
                 "mask: expected source or data");
    assert_fails(ND "{data: [1, 2], mask: " ND "{data: ~}}", CIP_ERR_TYPE, "mask: expected a list");
    assert_fails(ND "{data: [1, 2], mask: " ND "{data: a}}", CIP_ERR_TYPE, "mask: expected a list");
    assert_fails(ND "{data: 1}", CIP_ERR_TYPE, "expected a list");
    assert_fails(ND "{data: [1, 2], mask: {$ref: '#/nope'}}", CIP_ERR_NOT_FOUND, "'#/nope'");
}

static void a_number_stands_for_missing_elements(void **state)
{
    (void)state;
    one_file f;
    const cip_mask *mask =
        mask_of(&f, ND "{data: [1, 2], datatype: int16, byteorder: big, mask: 2}");
    assert_int_equal(mask->kind, CIP_MASK_VALUE);
    assert_memory_equal(mask->value, "\0\2", 2); /* as it is stored */
    one_close(&f);
    mask = mask_of(&f, ND "{data: [0.1, 2], datatype: float32, mask: 0.1}");
    assert_memory_equal(mask->value, "\xcd\xcc\xcc\x3d", 4); /* 0.1f, little-endian */
    one_close(&f);
    mask = mask_of(&f, ND "{data: [.nan, 2], mask: .nan}");
    double nan;
    uint64_t bits = cip_load_u64(mask->value, false);
    memcpy(&nan, &bits, 8);
    assert_true(isnan(nan));
    one_close(&f);
    mask = mask_of(&f, ND "{data: [true, false], mask: true}");
    assert_memory_equal(mask->value, "\1", 1);
    one_close(&f);
}

static void masks_that_mean_nothing_are_ignored(void **state)
{
    (void)state;
    static const struct {
        const char *rest;
        bool warned;
    } rows[] = {
        { "[1, 2], datatype: int8, mask: 300", false }, /* no element can be it */
        { "[1, 2], datatype: int8, mask: .nan", false },
        { "[true, false], mask: -999", false },
        { "[true, false], mask: 0.5", false },
        { "[a, b], mask: 1", true },
        { "[1, 2], mask: text", true },
        { "[1, 2], mask: !core/complex-1.0.0 1+2j", false },
        { "[1, 2], mask: {a: 1}", true },
        { "[1, 2], mask: [a, b]", true },
        { "[1, 2], mask: {$ref: '#/b/shape'}", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        char text[200];
        snprintf(text, sizeof text, ND "{data: %s}", rows[i].rest);
        const cip_mask *mask = mask_of(&f, text);
        assert_int_equal(mask->kind, CIP_MASK_NONE);
        assert_int_equal(make_warned(&f, "the mask is ignored"), rows[i].warned);
        one_close(&f);
    }
}

static void masks_may_be_references(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(
        make_open_tree(&f, "a: " ND "{data: [1, 2, 3], mask: {$ref: '#/m'}}\nm: " ND "[0, 0, 1]\n",
                       0),
        CIP_OK);
    const cip_mask *mask = &make_find(&f, "a")->mask;
    assert_int_equal(mask->kind, CIP_MASK_SET_MISSING);
    uint8_t got[3];
    assert_int_equal(one_gather(&f, mask->array, cip_dtype_of(CIP_BOOL), got), CIP_OK);
    assert_memory_equal(got, "\0\0\1", 3);
    one_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_inferred_as_numpy_does),
        cmocka_unit_test(texts_win_over_numbers),
        cmocka_unit_test(numbers_among_texts_are_texts_of_their_values),
        cmocka_unit_test(a_declared_byteorder_holds_for_what_is_inferred),
        cmocka_unit_test(what_is_no_array_is_refused),
        cmocka_unit_test(lists_nest_64_deep),
        cmocka_unit_test(values_that_aliases_multiply_are_bounded),
        cmocka_unit_test(declared_types_convert_what_they_can_hold),
        cmocka_unit_test(nans_and_infinities_are_those_of_the_reference),
        cmocka_unit_test(values_that_do_not_fit_fail_when_they_are_read),
        cmocka_unit_test(rows_of_records_are_lists),
        cmocka_unit_test(nulls_are_masked_and_read_as_zero),
        cmocka_unit_test(nulls_are_missing_beside_an_explicit_mask),
        cmocka_unit_test(nulls_in_records_are_masked_by_field),
        cmocka_unit_test(masks_are_arrays_of_blocks_too_and_broadcast),
        cmocka_unit_test(a_mask_of_a_wrong_shape_costs_only_the_mask),
        cmocka_unit_test(a_mask_that_cannot_be_had_costs_the_array),
        cmocka_unit_test(a_number_stands_for_missing_elements),
        cmocka_unit_test(masks_that_mean_nothing_are_ignored),
        cmocka_unit_test(masks_may_be_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
