/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

/* `text` is a dtype of that name, size and order. */
static void parsed(rig *r, const char *text, const char *name, uint64_t itemsize, bool big)
{
    const cip_dtype *d = dtype_of(r, text);
    assert_string_equal(d->name, name);
    assert_int_equal(d->itemsize, itemsize);
    assert_int_equal(d->big, big);
}

static void refused(rig *r, const char *text, cip_status st, uint64_t offset)
{
    size_t n = strlen(text);
    char *exact = malloc(n + (n == 0)); /* so that a read past the end is seen */
    const cip_dtype *d = (const cip_dtype *)r;
    memcpy(exact, text, n);
    r->err = (cip_err)CIP_ERR_INIT;
    if (cip_dtype_of_text(&r->arena, exact, n, false, &d, &r->err) != st || r->err.offset != offset)
        fail_msg("%s: %d at %d, %s", text, r->err.code, (int)r->err.offset, r->err.text);
    assert_null(d);
    free(exact);
}

static void names_are_read_back(void **state)
{
    static const char *const names[] = {
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "ascii5",
        "ascii0",
        "ucs4-7",
        "ucs4-0",
        "bytes80",
        "complex128",
        "int24",
        "float128",
        "datetime64[ns]",
        "datetime64",
        "uint40",
        "complex32",
        "bytes0",
        "int128",
        "timedelta64[25s]",
        "{}",
        "{x: float32, y: int16[3]}",
        "{a: {b: uint8[2, 3], c: datetime64[5]}[0], 'x y': datetime64[ns][2]}",
        "{names: int8, 'it\\'s\\\\': ucs4-1, '\xc3\xa9': int24}",
        "{'\\x1b\\u202e\\U000e0001\\n\\r\\t': bool}",
    };
    rig *r = *state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_string_equal(dtype_of(r, names[i])->name, names[i]);
}

static void codes_of_numpy_are_understood(void **state)
{
    rig *r = *state;
    parsed(r, "<f4", "float32", 4, false);
    parsed(r, ">f4", "float32", 4, true);
    parsed(r, "i2", "int16", 2, false);
    parsed(r, "|b1", "bool", 1, false);
    parsed(r, "bool8", "bool", 1, false);
    parsed(r, "|u1", "uint8", 1, false);
    parsed(r, ">c16", "complex128", 16, true);
    parsed(r, "|S5", "ascii5", 5, false);
    parsed(r, "S", "ascii0", 0, false);
    parsed(r, ">U7", "ucs4-7", 28, true);
    parsed(r, "<U7", "ucs4-7", 28, false);
    parsed(r, ">ucs4-2", "ucs4-2", 8, true);
    parsed(r, "|V12", "bytes12", 12, false);
    parsed(r, "M8[ns]", "datetime64[ns]", 8, false);
    parsed(r, ">M8[25s]", "datetime64[25s]", 8, true);
    parsed(r, "m8", "timedelta64", 8, false);
    parsed(r, "f16", "float128", 16, false);
    parsed(r, ">i3", "int24", 3, false);
    parsed(r, "'<f4'", "float32", 4, false);
    parsed(r, "\"<f4\"", "float32", 4, false);
    parsed(r, " u'<f4'\n", "float32", 4, false);
    parsed(r, "b'|b1'", "bool", 1, false);
    parsed(r, "\t>f8\r", "float64", 8, true);
}

static void single_letters_are_types_of_c(void **state)
{
    rig *r = *state;
    parsed(r, "?", "bool", 1, false);
    parsed(r, "b", "int8", 1, false);
    parsed(r, "B", "uint8", 1, false);
    parsed(r, "h", "int16", 2, false);
    parsed(r, ">H", "uint16", 2, true);
    parsed(r, "i", "int32", 4, false);
    parsed(r, "I", "uint32", 4, false);
    parsed(r, "q", "int64", 8, false);
    parsed(r, "Q", "uint64", 8, false);
    parsed(r, "e", "float16", 2, false);
    parsed(r, "f", "float32", 4, false);
    parsed(r, ">d", "float64", 8, true);
    parsed(r, "F", "complex64", 8, false);
    parsed(r, "D", "complex128", 16, false);
}

static void order_without_a_mark_is_the_callers(void **state)
{
    rig *r = *state;
    static const char *const texts[] = { "i4", "float32", "=f4", "|i4", "U2", "M8[s]", "{a: h}" };
    const cip_dtype *d;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (int big = 0; big < 2; big++) {
            assert_int_equal(
                cip_dtype_of_text(&r->arena, texts[i], strlen(texts[i]), big != 0, &d, &r->err),
                CIP_OK);
            assert_int_equal(d->big, big);
        }
    }
    assert_int_equal(cip_dtype_of_text(&r->arena, "<i4", 3, true, &d, &r->err), CIP_OK);
    assert_false(d->big);
}

static void words_that_are_no_types_are_refused(void **state)
{
    rig *r = *state;
    refused(r, "", CIP_ERR_FORMAT, 0);
    refused(r, "  ", CIP_ERR_FORMAT, 2);
    refused(r, "<", CIP_ERR_FORMAT, 1);
    refused(r, "x4", CIP_ERR_FORMAT, 0);
    refused(r, "fl", CIP_ERR_FORMAT, 0);
    refused(r, "@f4", CIP_ERR_FORMAT, 0);
    refused(r, "f4 f4", CIP_ERR_FORMAT, 3);
    refused(r, "f4,", CIP_ERR_FORMAT, 2);
    refused(r, "h2", CIP_ERR_FORMAT, 2);
    refused(r, "u", CIP_ERR_FORMAT, 1);
    refused(r, "c", CIP_ERR_FORMAT, 1);
    refused(r, "int", CIP_ERR_FORMAT, 3);
    refused(r, "float", CIP_ERR_FORMAT, 5);
    assert_string_equal(r->err.text, "unknown dtype 'float'; try float32 or float64");
    refused(r, "complex", CIP_ERR_FORMAT, 7);
    assert_string_equal(r->err.text, "unknown dtype 'complex'; try complex64 or complex128");
    refused(r, "flaot32", CIP_ERR_FORMAT, 0);
    assert_string_equal(r->err.text, "unknown dtype 'flaot32'");
    refused(r, "int0", CIP_ERR_FORMAT, 4);
    refused(r, "int12", CIP_ERR_FORMAT, 5);
    refused(r, "bool16", CIP_ERR_FORMAT, 6);
    refused(r, "b2", CIP_ERR_FORMAT, 2);
    refused(r, "f0", CIP_ERR_FORMAT, 2);
    refused(r, "f2305843009213693952", CIP_ERR_FORMAT, 20); /* 2^61: the bits overflow */
    refused(r, "f18446744073709551616", CIP_ERR_FORMAT, 1);
    refused(r, "V9223372036854775808", CIP_ERR_RANGE, CIP_NO_OFFSET);
    refused(r, "ucs5-2", CIP_ERR_FORMAT, 4);
    refused(r, "ucs4", CIP_ERR_FORMAT, 4);
    refused(r, "ucs4_2", CIP_ERR_FORMAT, 4);
    refused(r, "ucs4-", CIP_ERR_FORMAT, 5);
    refused(r, "datetime32", CIP_ERR_FORMAT, 10);
    refused(r, "M4[ns]", CIP_ERR_FORMAT, 2);
    refused(r, "M64", CIP_ERR_FORMAT, 3);
    refused(r, "datetime8", CIP_ERR_FORMAT, 9);
    refused(r, "M8[xs]", CIP_ERR_FORMAT, 2);
    refused(r, "M8[ns", CIP_ERR_FORMAT, 2);
    refused(r, "M8[]]", CIP_ERR_FORMAT, 4);
    refused(r, "M8[2147483647ns      ]", CIP_ERR_FORMAT, 2);
    refused(r, "M8[00000000000000000000000001ns]", CIP_ERR_FORMAT, 2);
    refused(r, "'f4", CIP_ERR_FORMAT, 3);
    refused(r, "'f4\"", CIP_ERR_FORMAT, 3);
    refused(r, "'", CIP_ERR_FORMAT, 1);
    refused(r, "u", CIP_ERR_FORMAT, 1);
    refused(r, "(f4", CIP_ERR_FORMAT, 0);
    refused(r, "\xc3\xa9", CIP_ERR_FORMAT, 0);
    assert_non_null(strstr(r->err.text, "\\xc3"));
    refused(r, "f4\x7f", CIP_ERR_FORMAT, 2);
    assert_non_null(strstr(r->err.text, "\\x7f"));
    refused(r, "f4~", CIP_ERR_FORMAT, 2);
    assert_non_null(strstr(r->err.text, "'~'"));
    refused(r, "{a b}", CIP_ERR_FORMAT, 3);
    assert_non_null(strstr(r->err.text, "'b'"));
}

static void a_nul_ends_nothing(void **state)
{
    rig *r = *state;
    const cip_dtype *d;
    assert_int_equal(cip_dtype_of_text(&r->arena, "f4\0", 3, false, &d, &r->err), CIP_ERR_FORMAT);
    assert_int_equal(r->err.offset, 2);
    assert_int_equal(cip_dtype_of_text(&r->arena, "{'a\0': f4}", 10, false, &d, &r->err),
                     CIP_ERR_FORMAT);
    assert_int_equal(r->err.offset, 3);
    assert_int_equal(cip_dtype_of_text(&r->arena, "{'\\\0': f4}", 10, false, &d, &r->err),
                     CIP_ERR_FORMAT);
    assert_int_equal(r->err.offset, 3);
    assert_int_equal(cip_dtype_of_text(&r->arena, "{'\\x\0': f4}", 11, false, &d, &r->err),
                     CIP_ERR_FORMAT);
    assert_int_equal(r->err.offset, 4);
}

static void objects_are_unsupported(void **state)
{
    rig *r = *state;
    refused(r, "|O", CIP_ERR_UNSUPPORTED, 2);
    refused(r, "O8", CIP_ERR_UNSUPPORTED, 2);
    refused(r, "object", CIP_ERR_UNSUPPORTED, 6);
    refused(r, "[('a', 'O')]", CIP_ERR_UNSUPPORTED, 9);
}

static void our_records_are_packed(void **state)
{
    rig *r = *state;
    const cip_dtype *d = dtype_of(r, "{ x : >f4 , 'y' : int16 [ 3 , 2 ,] , z_9:'u1', }");
    assert_string_equal(d->name, "{x: float32, y: int16[3, 2], z_9: uint8}");
    assert_int_equal(d->itemsize, 17);
    assert_int_equal(d->field[1].offset, 4);
    assert_true(d->field[0].dtype->big);
    assert_string_equal(dtype_of(r, "{}")->name, "{}");
    assert_string_equal(dtype_of(r, "{ }")->name, "{}");
    /* A quoted key is numpy's only when it is one of its keys as a whole. */
    assert_string_equal(dtype_of(r, "{'name': f4}")->field[0].name, "name");
    assert_string_equal(dtype_of(r, "{'names2': f4}")->field[0].name, "names2");
    assert_string_equal(dtype_of(r, "{\"formats_\": f4}")->field[0].name, "formats_");
    assert_string_equal(dtype_of(r, "{'u': f4, u'v': f4, ub: f4, b: u1}")->name,
                        "{u: float32, v: float32, ub: float32, b: uint8}");
}

static void broken_records_are_refused(void **state)
{
    rig *r = *state;
    refused(r, "{", CIP_ERR_FORMAT, 1);
    refused(r, "{x", CIP_ERR_FORMAT, 2);
    refused(r, "{x:", CIP_ERR_FORMAT, 3);
    refused(r, "{x: f4", CIP_ERR_FORMAT, 6);
    refused(r, "{x: f4,", CIP_ERR_FORMAT, 7);
    refused(r, "{x: f4 y: f4}", CIP_ERR_FORMAT, 7);
    refused(r, "{: f4}", CIP_ERR_FORMAT, 1);
    refused(r, "{x f4}", CIP_ERR_FORMAT, 3);
    refused(r, "{x: f4[}", CIP_ERR_FORMAT, 7);
    refused(r, "{x: f4[-1]}", CIP_ERR_FORMAT, 7);
    refused(r, "{x: f4[2 3]}", CIP_ERR_FORMAT, 9);
    refused(r, "{x: f4[2", CIP_ERR_FORMAT, 8);
    refused(r, "{x: f4[9223372036854775808]}", CIP_ERR_FORMAT, 26);
    refused(r, "{x: f4[99999999999999999999]}", CIP_ERR_FORMAT, 7);
    refused(r, "{x: f4[18446744073709551616]}", CIP_ERR_FORMAT, 7);
    refused(r, "{x: u1[9223372036854775807, 2]}", CIP_ERR_CORRUPT, CIP_NO_OFFSET);
    assert_int_equal(dtype_of(r, "{x: u1[9223372036854775807]}")->itemsize, INT64_MAX);
    refused(r, "{x: f4, x: f4}", CIP_ERR_CORRUPT, CIP_NO_OFFSET);
    refused(r, "{x: f4}}", CIP_ERR_FORMAT, 7);
}

static void strings_have_pythons_escapes(void **state)
{
    rig *r = *state;
    const char text[] = "{'\\'\\\"\\\\\\n\\r\\t\\x41\\u20AC\\U0001f600\"': f4, \"'\": f4}";
    const cip_dtype *d = dtype_of(r, text);
    assert_string_equal(d->field[0].name, "'\"\\\n\r\tA\xe2\x82\xac\xf0\x9f\x98\x80\"");
    assert_string_equal(d->field[1].name, "'");
    d = dtype_of(r, "{'\\xff\\u07ff\\u0800\\uffff\\U00010000\\U0010ffff\\x7f\\x80': f4}");
    assert_string_equal(d->field[0].name, "\xc3\xbf\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf"
                                          "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\x7f\xc2\x80");
    refused(r, "{'\\q': f4}", CIP_ERR_FORMAT, 3);
    refused(r, "{'\\x4': f4}", CIP_ERR_FORMAT, 5);
    refused(r, "{'\\x4", CIP_ERR_FORMAT, 5);
    refused(r, "{'\\xg0': f4}", CIP_ERR_FORMAT, 4);
    refused(r, "{'\\x00': f4}", CIP_ERR_FORMAT, 6);
    refused(r, "{'\\U00110000': f4}", CIP_ERR_FORMAT, 12);
    refused(r, "{'a", CIP_ERR_FORMAT, 3);
    refused(r, "{'\\", CIP_ERR_FORMAT, 3);
    refused(r, "{\"a'", CIP_ERR_FORMAT, 4);
}

static void lists_of_numpy_are_records(void **state)
{
    rig *r = *state;
    const cip_dtype *d =
        dtype_of(r, "[('a', '<i4'), ('b', '>f8', (2, 3)), (('title', 'c'), 'u1', 4),"
                    " ('d', [('e', '>i2')], (2L,)), ('f', ('S2', (5,)), (3,)),]");
    assert_string_equal(d->name, "{a: int32, b: float64[2, 3], c: uint8[4], d: {e: int16}[2], "
                                 "f: ascii2[3, 5]}");
    assert_int_equal(d->itemsize, 4 + 48 + 4 + 4 + 30);
    assert_int_equal(d->field[2].offset, 52);
    assert_int_equal(dtype_of(r, "[]")->nfield, 0);
    assert_int_equal(dtype_of(r, "[('a', 'f4', ())]")->field[0].ndim, 0);
    assert_int_equal(dtype_of(r, "[('a', 'f4',)]")->field[0].ndim, 0);
    assert_string_equal(dtype_of(r, "[('a', ((('u1', 2), 3), (4, 5)))]")->name,
                        "{a: uint8[4, 5, 3, 2]}");
    assert_string_equal(dtype_of(r, "[('', 'f4'), ('', [])]")->name, "{f0: float32, f1: {}}");
}

static void nameless_opaque_fields_are_padding(void **state)
{
    rig *r = *state;
    const cip_dtype *d =
        dtype_of(r, "[('', '|V2'), ('a', 'u1'), ('', '|V3', (2,)), ('b', 'V4'), ('', 'V1')]");
    assert_int_equal(d->nfield, 2);
    assert_string_equal(d->name, "{a: uint8, b: bytes4}");
    assert_int_equal(d->field[0].offset, 2);
    assert_int_equal(d->field[1].offset, 9);
    assert_int_equal(d->itemsize, 14);
    assert_int_equal(dtype_of(r, "[('', 'V9223372036854775806'), ('a', 'u1')]")->itemsize,
                     INT64_MAX);
    refused(r, "[('', 'V9223372036854775807'), ('a', 'u1')]", CIP_ERR_CORRUPT, CIP_NO_OFFSET);
    refused(r, "[('', 'V9223372036854775807', (2,)), ('a', 'V2')]", CIP_ERR_CORRUPT, 48);
    refused(r, "[('', 'V9223372036854775807', (9, 9))]", CIP_ERR_CORRUPT, 37);
}

static void broken_lists_are_refused(void **state)
{
    rig *r = *state;
    refused(r, "[", CIP_ERR_FORMAT, 1);
    refused(r, "['a']", CIP_ERR_FORMAT, 1);
    refused(r, "[(", CIP_ERR_FORMAT, 2);
    refused(r, "[('a'", CIP_ERR_FORMAT, 5);
    refused(r, "[('a',", CIP_ERR_FORMAT, 6);
    refused(r, "[('a' 'f4')]", CIP_ERR_FORMAT, 6);
    refused(r, "[('a', 'f4'", CIP_ERR_FORMAT, 11);
    refused(r, "[('a', 'f4']", CIP_ERR_FORMAT, 11);
    refused(r, "[('a', 'f4')", CIP_ERR_FORMAT, 12);
    refused(r, "[('a', 'f4') ('b', 'f4')]", CIP_ERR_FORMAT, 13);
    refused(r, "[('a', 'f4', x)]", CIP_ERR_FORMAT, 13);
    refused(r, "[('a', 'f4', 9223372036854775808)]", CIP_ERR_FORMAT, 32);
    refused(r, "[('a', 'f4', 2 3)]", CIP_ERR_FORMAT, 15);
    refused(r, "[(('t', 'a', 'f4')]", CIP_ERR_FORMAT, 11);
    refused(r, "[(('t' 'a'), 'f4')]", CIP_ERR_FORMAT, 7);
    refused(r, "[(('t'), 'f4')]", CIP_ERR_FORMAT, 6);
    refused(r, "[('a', ('f4'))]", CIP_ERR_FORMAT, 12);
    refused(r, "[('a', ('f4', 2)]", CIP_ERR_FORMAT, 16);
    refused(r, "[('a', ('f4', 2, 3))]", CIP_ERR_FORMAT, 15);
    refused(r, "[(a, 'f4')]", CIP_ERR_FORMAT, 2);
    refused(r, "[('a', 'f4'), ('a', 'f4')]", CIP_ERR_CORRUPT, CIP_NO_OFFSET);
}

static void dicts_of_numpy_place_their_fields(void **state)
{
    rig *r = *state;
    const cip_dtype *d = dtype_of(r, "{'names': ['a', 'b'], 'formats': ['<i4', ('<f8', (2, 3))],"
                                     " 'offsets': [4, 8L], 'itemsize': 64, 'aligned': True,"
                                     " 'titles': ['t', None]}");
    assert_string_equal(d->name, "{a: int32, b: float64[2, 3]}");
    assert_int_equal(d->field[0].offset, 4);
    assert_int_equal(d->field[1].offset, 8);
    assert_int_equal(d->itemsize, 64);
    d = dtype_of(r, "{\"itemsize\":20,'formats':('i2',[('x','u1')],),'names':('p','q'),}");
    assert_string_equal(d->name, "{p: int16, q: {x: uint8}}");
    assert_int_equal(d->field[1].offset, 2);
    assert_int_equal(d->itemsize, 20);
    d = dtype_of(r, "{'names': [], 'formats': [], 'offsets': [], 'itemsize': 3}");
    assert_int_equal(d->nfield, 0);
    assert_int_equal(d->itemsize, 3);
    assert_int_equal(dtype_of(r, "{'names': ['a'], 'formats': ['f4'], 'aligned': False}")->itemsize,
                     4);
    assert_int_equal(dtype_of(r, "{'titles': [None], 'names': ['a'], 'formats': ['f4']}")->itemsize,
                     4);
    d = dtype_of(r, "{'offsets': [8], 'names': ['a'], 'formats': ['f4']}");
    assert_int_equal(d->itemsize, 12);
    d = dtype_of(r, "{'aligned': True, 'offsets': [8], 'names': ['a'], 'formats': ['f4']}");
    assert_int_equal(d->itemsize, 12);
}

static void broken_dicts_are_refused(void **state)
{
    rig *r = *state;
    refused(r, "{'names'", CIP_ERR_FORMAT, 8);
    refused(r, "{'names':", CIP_ERR_FORMAT, 9);
    refused(r, "{'names': ['a']", CIP_ERR_FORMAT, 15);
    refused(r, "{'names': 'a'}", CIP_ERR_FORMAT, 10);
    refused(r, "{'names': ['a', 'formats': ['f4']}", CIP_ERR_FORMAT, 25);
    refused(r, "{'names': ['a'], 'formats': ['f4' 'f4']}", CIP_ERR_FORMAT, 34);
    refused(r, "{'names': ['a'], 'formats': ['f4', 'f4']}", CIP_ERR_FORMAT, 41);
    refused(r, "{'names': ['a', 'b'], 'formats': ['f4']}", CIP_ERR_FORMAT, 40);
    refused(r, "{'names': ['a']}", CIP_ERR_FORMAT, 16);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'offsets': []}", CIP_ERR_FORMAT, 50);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'offsets': [0, 4]}", CIP_ERR_FORMAT, 54);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'offsets': [-1]}", CIP_ERR_FORMAT, 48);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'offsets': 0}", CIP_ERR_FORMAT, 47);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'itemsize': x}", CIP_ERR_FORMAT, 48);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'itemsize': 3}", CIP_ERR_CORRUPT,
            CIP_NO_OFFSET);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'aligned': True}", CIP_ERR_FORMAT, 52);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'aligned': 1}", CIP_ERR_FORMAT, 47);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'aligned': Tru", CIP_ERR_FORMAT, 47);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'titles': [5]}", CIP_ERR_FORMAT, 47);
    refused(r, "{'names': ['a'], 'formats': ['f4'], 'other': [5]}", CIP_ERR_FORMAT, 44);
    refused(r, "{'names' ['a']}", CIP_ERR_FORMAT, 9);
    refused(r, "{'names': ['a'] 'formats': ['f4']}", CIP_ERR_FORMAT, 16);
    refused(r, "{'names': ['a'], x: ['f4']}", CIP_ERR_FORMAT, 17);
    refused(r, "{'names': ['a', 'a'], 'formats': ['f4', 'f4']}", CIP_ERR_CORRUPT, CIP_NO_OFFSET);
}

/* `n` times `open`, `middle`, n times `close`. */
static char *nested(const char *open, const char *middle, const char *close, int n)
{
    size_t room = (size_t)n * (strlen(open) + strlen(close)) + strlen(middle) + 1, at = 0;
    char *text = malloc(room);
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, room - at, "%s", open);
    at += (size_t)snprintf(text + at, room - at, "%s", middle);
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, room - at, "%s", close);
    return text;
}

static void nesting_is_limited(void **state)
{
    rig *r = *state;
    static const char *const kinds[][3] = { { "{a: ", "f4", "}" },
                                            { "[('a', ", "'f4'", ")]" },
                                            { "{'names': ['a'], 'formats': [", "f4", "]}" } };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char *text = nested(kinds[i][0], kinds[i][1], kinds[i][2], 32);
        assert_int_equal(dtype_of(r, text)->depth, 32);
        free(text);
        text = nested(kinds[i][0], kinds[i][1], kinds[i][2], 33);
        refused(r, text, CIP_ERR_LIMIT, 32 * strlen(kinds[i][0]));
        free(text);
    }
    char *text = nested("(", "'f4'", ", 1)", 31);
    char *whole = nested("[('a', ", text, ")]", 1);
    assert_int_equal(dtype_of(r, whole)->field[0].ndim, 31);
    free(whole);
    free(text);
    text = nested("(", "'f4'", ", 1)", 32);
    whole = nested("[('a', ", text, ")]", 1);
    assert_int_equal(dtype_error(r, whole), CIP_ERR_LIMIT);
    free(whole);
    free(text);
}

static void brackets_one_behind_the_other_are_not_nested(void **state)
{
    rig *r = *state;
    char text[4096] = "[";
    size_t at = 1;
    for (int i = 0; i < 40; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "('n%d', {b: [('c', ('u1', 1))]}),", i);
    snprintf(text + at, sizeof text - at, "]");
    assert_int_equal(dtype_of(r, text)->nfield, 40);
}

static void axes_are_limited(void **state)
{
    rig *r = *state;
    char *sixty_three = nested("1,", "", "", 63);
    char *text = nested("{a: u1[", sixty_three, "2]}", 1);
    assert_int_equal(dtype_of(r, text)->field[0].ndim, 64);
    assert_int_equal(dtype_of(r, text)->field[0].shape[63], 2);
    free(text);
    text = nested("{a: u1[", sixty_three, "2,3]}", 1);
    refused(r, text, CIP_ERR_UNSUPPORTED, 7 + 2 * 64);
    free(text);
    text = nested("[('a', ('u1', (", sixty_three, ")), 2)]", 1);
    assert_int_equal(dtype_of(r, text)->field[0].ndim, 64);
    assert_int_equal(dtype_of(r, text)->field[0].shape[0], 2);
    assert_int_equal(dtype_of(r, text)->field[0].shape[63], 1);
    free(text);
    text = nested("[('a', ('u1', (", sixty_three, ")), (2, 2))]", 1);
    assert_int_equal(dtype_error(r, text), CIP_ERR_UNSUPPORTED);
    free(text);
    free(sixty_three);
}

static void long_texts_are_refused(void **state)
{
    rig *r = *state;
    const cip_dtype *d;
    const size_t most = CIP_DTYPE_TEXT_MAX;
    char *text = malloc(most + 1);
    memset(text, ' ', most + 1);
    memcpy(text, "f4", 2);
    assert_int_equal(cip_dtype_of_text(&r->arena, text, most, false, &d, &r->err), CIP_OK);
    assert_int_equal(cip_dtype_of_text(&r->arena, text, most + 1, false, &d, &r->err),
                     CIP_ERR_LIMIT);
    assert_null(d);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(names_are_read_back),
        RIG_TEST(codes_of_numpy_are_understood),
        RIG_TEST(single_letters_are_types_of_c),
        RIG_TEST(order_without_a_mark_is_the_callers),
        RIG_TEST(words_that_are_no_types_are_refused),
        RIG_TEST(a_nul_ends_nothing),
        RIG_TEST(objects_are_unsupported),
        RIG_TEST(our_records_are_packed),
        RIG_TEST(broken_records_are_refused),
        RIG_TEST(strings_have_pythons_escapes),
        RIG_TEST(lists_of_numpy_are_records),
        RIG_TEST(nameless_opaque_fields_are_padding),
        RIG_TEST(broken_lists_are_refused),
        RIG_TEST(dicts_of_numpy_place_their_fields),
        RIG_TEST(broken_dicts_are_refused),
        RIG_TEST(nesting_is_limited),
        RIG_TEST(brackets_one_behind_the_other_are_not_nested),
        RIG_TEST(axes_are_limited),
        RIG_TEST(long_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
