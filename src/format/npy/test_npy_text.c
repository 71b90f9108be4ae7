/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/npy/npy.h"

typedef struct parsed {
    cip_mem mem;
    cip_arena arena;
    cip_npy_header h;
    cip_err err;
} parsed;

/* As if the text lay at 10 in the file; in memory of exactly its length. */
static cip_status parse_bytes(parsed *p, const char *text, size_t len)
{
    memset(p, 0, sizeof *p);
    cip_mem_init(&p->mem, NULL, 0);
    p->arena.mem = &p->mem;
    p->err = (cip_err)CIP_ERR_INIT;
    uint8_t *exact = malloc(len + 1);
    memcpy(exact + 1, text, len);
    cip_status st = cip_npy_text_read(&p->arena, (cip_bytes){ exact + 1, len }, 10, &p->h, &p->err);
    free(exact);
    return st;
}

static cip_status parse(parsed *p, const char *text)
{
    return parse_bytes(p, text, strlen(text));
}

static cip_status parse_descr(parsed *p, const char *descr)
{
    char text[4096];
    snprintf(text, sizeof text, "{'shape': (2,), 'fortran_order': False, 'descr': %s}", descr);
    return parse(p, text);
}

/* Expects the failure at the position in the text. */
static void assert_refused(const char *text, cip_status st, size_t at)
{
    parsed p;
    assert_int_equal(parse(&p, text), st);
    assert_int_equal(p.err.code, st);
    assert_int_equal(p.err.offset, 10 + at);
    assert_null(p.h.dtype);
    cip_arena_clear(&p.arena);
}

static void assert_shape(const char *text, int ndim, const int64_t *shape, bool f_order)
{
    parsed p;
    assert_int_equal(parse(&p, text), CIP_OK);
    assert_int_equal(p.h.ndim, ndim);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(p.h.shape[i], shape[i]);
    assert_int_equal(p.h.f_order, f_order);
    assert_string_equal(cip_dtype_name(p.h.dtype), "int32");
    assert_string_equal(p.h.descr, "<i4");
    cip_arena_clear(&p.arena);
}

#define DICT(shape) "{'descr': '<i4', 'fortran_order': False, 'shape': " shape ", }"

static void numpys_headers_are_read(void **state)
{
    (void)state;
    const int64_t shape[] = { 3, 4, 0 };
    assert_shape(DICT("()"), 0, NULL, false);
    assert_shape(DICT("(3,)") "      \n", 1, shape, false);
    assert_shape(DICT("(3, 4)"), 2, shape, false);
    assert_shape(DICT("(3, 4,)"), 2, shape, false);
    assert_shape(DICT("(3,4,0)"), 3, shape, false);
    assert_shape(DICT("(3L, 4L)"), 2, shape, false); /* Python 2 */
    assert_shape("{'fortran_order':True,\"shape\":\t(3,4),\f\r\n'descr':\"<i4\"}", 2, shape, true);
    assert_shape("{u'descr': u'<i4', b'fortran_order': False, 'shape': ( 3 , 4 ) }", 2, shape,
                 false);
    const int64_t most[] = { INT64_MAX };
    assert_shape(DICT("(9223372036854775807,)"), 1, most, false);
}

static void every_truncation_of_a_header_is_reported(void **state)
{
    (void)state;
    static const char *const text[] = {
        DICT("(3, 4)"),
        "{'shape': (3, 4), 'fortran_order': True, 'descr': [('a', '<i4'), ('b', 'S3', (2,))]}",
    };
    for (size_t k = 0; k < 2; k++)
        for (size_t n = 0; n < strlen(text[k]); n++) {
            parsed p;
            assert_int_equal(parse_bytes(&p, text[k], n), CIP_ERR_CORRUPT);
            assert_int_equal(p.err.offset, 10 + n < p.err.offset ? 0 : p.err.offset);
            assert_in_range(p.err.offset, 10, 10 + n);
            cip_arena_clear(&p.arena);
        }
}

static void only_the_three_keys_are_taken(void **state)
{
    (void)state;
    assert_refused("", CIP_ERR_CORRUPT, 0);
    assert_refused("{}", CIP_ERR_CORRUPT, 0);
    assert_refused("{'descr': '<i4', 'fortran_order': False}", CIP_ERR_CORRUPT, 0);
    assert_refused("{'descr': '<i4', 'shape': ()}", CIP_ERR_CORRUPT, 0);
    assert_refused("{'shape': (), 'fortran_order': False}", CIP_ERR_CORRUPT, 0);
    assert_refused("{'descr': '<i4', 'descr': '<i4'}", CIP_ERR_CORRUPT, 17);
    assert_refused("{'shape': (), 'shape': ()}", CIP_ERR_CORRUPT, 14);
    assert_refused("{'fortran_order': True, 'fortran_order': True}", CIP_ERR_CORRUPT, 24);
    assert_refused("{'desc': '<i4'}", CIP_ERR_CORRUPT, 1);
    assert_refused("{'descrs': '<i4'}", CIP_ERR_CORRUPT, 1);
    assert_refused("{'x': 1}", CIP_ERR_CORRUPT, 1);
    assert_refused("{1: 1}", CIP_ERR_CORRUPT, 1);
}

static void only_literals_are_taken(void **state)
{
    (void)state;
    assert_refused("['descr']", CIP_ERR_CORRUPT, 0);
    assert_refused("{'descr' '<i4'}", CIP_ERR_CORRUPT, 9);
    assert_refused("{'descr': x}", CIP_ERR_CORRUPT, 10);
    assert_refused("{'descr': '<i4' 'shape': ()}", CIP_ERR_CORRUPT, 16);
    assert_refused("{'descr': '<i4',, }", CIP_ERR_CORRUPT, 16);
    assert_refused("{'descr': '<i4", CIP_ERR_CORRUPT, 14);
    assert_refused("{'descr': '<i4\\", CIP_ERR_CORRUPT, 15);
    assert_refused("{'fortran_order': True", CIP_ERR_CORRUPT, 22);
    assert_refused("{'fortran_order': 0}", CIP_ERR_CORRUPT, 18);
    assert_refused("{'fortran_order': false}", CIP_ERR_CORRUPT, 18);
    assert_refused(DICT("()") "x", CIP_ERR_CORRUPT, strlen(DICT("()")));
    assert_refused(DICT("()") "  }", CIP_ERR_CORRUPT, strlen(DICT("()")) + 2);
    assert_refused("{'descr': __import__('os').getcwd()}", CIP_ERR_CORRUPT, 10);
    parsed p;
    assert_int_equal(parse_bytes(&p, "{\0'descr'", 9), CIP_ERR_CORRUPT);
    assert_int_equal(p.err.offset, 11);
    assert_non_null(strstr(p.err.text, "0x00"));
    cip_arena_clear(&p.arena);
    assert_int_equal(parse_bytes(&p, DICT("()") "\0", strlen(DICT("()")) + 1), CIP_ERR_CORRUPT);
    cip_arena_clear(&p.arena);
    assert_int_equal(parse_bytes(&p, "{'descr': [\0]}", 14), CIP_ERR_CORRUPT);
    assert_int_equal(p.err.offset, 10 + 11);
    cip_arena_clear(&p.arena);
}

static void messages_show_what_was_found(void **state)
{
    (void)state;
    static const struct {
        const char *text, *found;
    } row[] = {
        { "{x", "found 'x'" },        { "{u ", "found ' '" }, { "{\x7f", "found the byte 0x7f" },
        { "{\x1f", "the byte 0x1f" }, { "{~", "found '~'" },  { "{", "found the end" }
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        parsed p;
        assert_int_equal(parse(&p, row[i].text), CIP_ERR_CORRUPT);
        assert_non_null(strstr(p.err.text, row[i].found));
        cip_arena_clear(&p.arena);
    }
    parsed p;
    assert_int_equal(parse_descr(&p, "'<'"), CIP_ERR_CORRUPT); /* found at its very end */
    assert_int_equal(p.err.offset, 10 + 49 + 2);
    cip_arena_clear(&p.arena);
}

static void shapes_are_tuples_of_lengths(void **state)
{
    (void)state;
    assert_refused("{'shape': 3}", CIP_ERR_CORRUPT, 10);
    assert_refused("{'shape': [3]}", CIP_ERR_CORRUPT, 10);
    assert_refused("{'shape': (3)}", CIP_ERR_CORRUPT, 13);
    assert_refused("{'shape': (-3,)}", CIP_ERR_CORRUPT, 11);
    assert_refused("{'shape': (3 4)}", CIP_ERR_CORRUPT, 13);
    assert_refused("{'shape': (,)}", CIP_ERR_CORRUPT, 11);
    assert_refused("{'shape': (3,,)}", CIP_ERR_CORRUPT, 13);
    assert_refused("{'shape': (3.0,)}", CIP_ERR_CORRUPT, 12);
    assert_refused("{'shape': (03,)}", CIP_ERR_CORRUPT, 12);
    assert_refused("{'shape': (0x3,)}", CIP_ERR_CORRUPT, 12);
    assert_refused("{'shape': (9223372036854775808,)}", CIP_ERR_CORRUPT, 11);
    assert_refused("{'shape': (99999999999999999999999,)}", CIP_ERR_CORRUPT, 11);
}

static void up_to_64_dimensions_are_read(void **state)
{
    (void)state;
    for (int n = 64; n <= 65; n++) {
        char text[512] = "{'descr': '<i4', 'fortran_order': False, 'shape': (";
        parsed p;
        for (int i = 0; i < n; i++)
            strcat(text, "1,");
        strcat(text, ")}");
        assert_int_equal(parse(&p, text), n == 64 ? CIP_OK : CIP_ERR_UNSUPPORTED);
        assert_int_equal(p.h.ndim, n == 64 ? 64 : 0);
        cip_arena_clear(&p.arena);
    }
}

/* --- descr ---------------------------------------------------------------------------------- */

static void assert_dtype(const char *descr, const char *name, uint64_t itemsize, bool big)
{
    parsed p;
    assert_int_equal(parse_descr(&p, descr), CIP_OK);
    assert_int_equal(p.h.why.code, CIP_OK);
    assert_string_equal(cip_dtype_name(p.h.dtype), name);
    assert_int_equal(cip_dtype_itemsize(p.h.dtype), itemsize);
    assert_int_equal(cip_dtype_is_big(p.h.dtype), big);
    cip_arena_clear(&p.arena);
}

static void every_descr_has_its_dtype(void **state)
{
    (void)state;
    assert_dtype("'|b1'", "bool", 1, false);
    assert_dtype("'|i1'", "int8", 1, false);
    assert_dtype("'>u2'", "uint16", 2, true);
    assert_dtype("'<f2'", "float16", 2, false);
    assert_dtype("'>f8'", "float64", 8, true);
    assert_dtype("'<c16'", "complex128", 16, false);
    assert_dtype("'|S5'", "ascii5", 5, false);
    assert_dtype("'>U7'", "ucs4-7", 28, true);
    assert_dtype("'|V12'", "bytes12", 12, false);
    assert_dtype("'<M8[25s]'", "datetime64[25s]", 8, false);
    assert_dtype("'>m8[ns]'", "timedelta64[ns]", 8, true);
    assert_dtype("[('a', '<i4'), ('b', '>f8', (2, 3))]", "{a: int32, b: float64[2, 3]}", 52, true);
    assert_dtype("[('a', '|i1'), ('', '|V3'), ('b', '<i4')]", "{a: int8, b: int32}", 8, false);
    assert_dtype("[('p', [('x', '<f4'), ('y', '<f4')])]", "{p: {x: float32, y: float32}}", 8,
                 false);
    assert_dtype("{'names': ['a'], 'formats': ['<i2'], 'offsets': [2], 'itemsize': 8}",
                 "{a: int16}", 8, false);
    assert_dtype("[('[', '<i4'), (\"it's\", '<i2')]", "{'[': int32, 'it\\'s': int16}", 6, false);
}

static void wide_floats_are_bytes_with_a_name(void **state)
{
    (void)state;
    assert_dtype("'<f16'", "float128", 16, false);
    assert_dtype("'<f12'", "float96", 12, false);
    assert_dtype("'<c32'", "complex256", 32, false);
    assert_dtype("'<c24'", "complex192", 24, false);
    assert_dtype("'>f16'", "float128be", 16, false);
}

static void python_objects_are_not_read(void **state)
{
    (void)state;
    static const char *const object[] = {
        "'|O'",
        "'O'",
        "'|O8'",
        "'<O4'",
        "[('a', '<i4'), ('o', '|O')]",
        "[('p', [('x', 'O')])]",
        "[(\"O\", '<i4'), ('o', 'O', (2,))]",
    };
    for (size_t i = 0; i < sizeof object / sizeof *object; i++) {
        parsed p;
        assert_int_equal(parse_descr(&p, object[i]), CIP_OK);
        assert_int_equal(p.h.why.code, CIP_ERR_UNSUPPORTED);
        assert_in_range(p.h.why.offset, 10 + 49, 10 + 49 + strlen(object[i]));
        assert_string_equal(cip_dtype_name(p.h.dtype), p.h.descr);
        cip_arena_clear(&p.arena);
    }
    assert_dtype("[('O', '<i4')]", "{O: int32}", 4, false);
}

static void wrong_descrs_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "''",
        "'<'",
        "'<x4'",
        "'|Ox'",
        "'|Oh'",
        "'<i4' + ''",
        "[('a', 'x9')]",
        "[('a',)]",
        "[('a', '<i4')",
        "[('a', '<i4'))",
        "('a'",
        "None",
        "[{'a': (1]})]",
        "[('a', '<i4'), ('a', '<i4')]",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        parsed p;
        assert_int_equal(parse_descr(&p, wrong[i]), CIP_ERR_CORRUPT);
        assert_in_range(p.err.offset, 10 + 49, 10 + 49 + strlen(wrong[i]) + 1);
        cip_arena_clear(&p.arena);
    }
}

static void deep_nesting_is_bounded(void **state)
{
    (void)state;
    for (int n = 32; n <= 33; n++) {
        char descr[128] = "";
        parsed p;
        for (int i = 0; i < n; i++)
            strcat(descr, "[");
        for (int i = 0; i < n; i++)
            strcat(descr, "]");
        cip_status st = parse_descr(&p, descr);
        if (n == 33)
            assert_int_equal(st, CIP_ERR_LIMIT);
        else
            assert_int_not_equal(st, CIP_OK); /* the dtype parser sees it */
        cip_arena_clear(&p.arena);
    }
}

/* --- preamble ------------------------------------------------------------------------------- */

static cip_status preamble(const char *bytes, size_t n, uint64_t total, bool force,
                           cip_npy_preamble *p)
{
    cip_err err = CIP_ERR_INIT;
    uint8_t *exact = malloc(n + 1);
    memcpy(exact + 1, bytes, n);
    cip_status st = cip_npy_preamble_read((cip_bytes){ exact + 1, n }, total, force, p, &err);
    assert_int_equal(err.code, st);
    free(exact);
    return st;
}

static void the_versions_have_their_lengths(void **state)
{
    (void)state;
    cip_npy_preamble p;
    assert_int_equal(preamble("\x93NUMPY\1\0\2\1", 10, 10 + 258, false, &p), CIP_OK);
    assert_int_equal(p.text_off, 10);
    assert_int_equal(p.text_len, 258);
    assert_int_equal(p.major, 1);
    for (int v = 2; v <= 3; v++) {
        const char b[] = { '\x93', 'N', 'U', 'M', 'P', 'Y', (char)v, 0, 1, 0, 1, 0 };
        assert_int_equal(preamble(b, 12, 12 + 65537, false, &p), CIP_OK);
        assert_int_equal(p.text_off, 12);
        assert_int_equal(p.text_len, 65537);
        assert_int_equal(p.major, v);
    }
}

static void every_truncation_of_a_preamble_is_reported(void **state)
{
    (void)state;
    cip_npy_preamble p;
    for (size_t n = 0; n < 10; n++)
        assert_int_equal(preamble("\x93NUMPY\1\0\2\0", n, n, false, &p),
                         n < 6 ? CIP_ERR_FORMAT : CIP_ERR_TRUNCATED);
    for (size_t n = 8; n < 12; n++)
        assert_int_equal(preamble("\x93NUMPY\2\0\2\0\0\0", n, n, false, &p), CIP_ERR_TRUNCATED);
    assert_int_equal(preamble("\x93NUMPY\1\0\2\0", 10, 11, false, &p), CIP_ERR_TRUNCATED);
    assert_int_equal(preamble("\x93NUMPY\1\0\2\0", 10, 12, false, &p), CIP_OK);
}

static void other_versions_are_refused_unless_forced(void **state)
{
    (void)state;
    cip_npy_preamble p;
    assert_int_equal(preamble("\x93NUMPY\4\0\2\0\0\0", 12, 14, false, &p), CIP_ERR_UNSUPPORTED);
    assert_int_equal(preamble("\x93NUMPY\1\1\2\0\0\0", 12, 14, false, &p), CIP_ERR_UNSUPPORTED);
    assert_int_equal(preamble("\x93NUMPY\0\0\2\0\0\0", 12, 14, false, &p), CIP_ERR_UNSUPPORTED);
    assert_int_equal(preamble("\x93NUMPY\0\0\2\0\0\0", 12, 14, true, &p), CIP_ERR_UNSUPPORTED);
    assert_int_equal(preamble("\x93NUMPY\4\0\2\0\0\0", 12, 14, true, &p), CIP_OK);
    assert_int_equal(p.text_off, 12);
    assert_int_equal(preamble("\x93NUMPX\1\0\2\0\0\0", 12, 14, true, &p), CIP_ERR_FORMAT);
}

static void long_headers_are_bounded(void **state)
{
    (void)state;
    cip_npy_preamble p;
    assert_int_equal(preamble("\x93NUMPY\2\0\0\0\x10\0", 12, 1 << 30, false, &p), CIP_OK);
    assert_int_equal(p.text_len, CIP_NPY_HEADER_MAX);
    assert_int_equal(preamble("\x93NUMPY\2\0\1\0\x10\0", 12, 1 << 30, false, &p), CIP_ERR_LIMIT);
    assert_int_equal(preamble("\x93NUMPY\2\0\377\377\377\377", 12, 1 << 30, false, &p),
                     CIP_ERR_TRUNCATED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numpys_headers_are_read),
        cmocka_unit_test(every_truncation_of_a_header_is_reported),
        cmocka_unit_test(only_the_three_keys_are_taken),
        cmocka_unit_test(only_literals_are_taken),
        cmocka_unit_test(messages_show_what_was_found),
        cmocka_unit_test(shapes_are_tuples_of_lengths),
        cmocka_unit_test(up_to_64_dimensions_are_read),
        cmocka_unit_test(every_descr_has_its_dtype),
        cmocka_unit_test(wide_floats_are_bytes_with_a_name),
        cmocka_unit_test(python_objects_are_not_read),
        cmocka_unit_test(wrong_descrs_are_refused),
        cmocka_unit_test(deep_nesting_is_bounded),
        cmocka_unit_test(the_versions_have_their_lengths),
        cmocka_unit_test(every_truncation_of_a_preamble_is_reported),
        cmocka_unit_test(other_versions_are_refused_unless_forced),
        cmocka_unit_test(long_headers_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
