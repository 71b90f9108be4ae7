/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cippus/version.h"
#include "support/format/asdf/write/asdf_write_testing.h"
#include "tree/yaml.h"

typedef struct bench {
    cip_env env;
    cip_arena a;
    cip_buf out;
    cip_err err;
} bench;

static int start(void **state)
{
    bench *b = calloc(1, sizeof *b);
    cip_env_init(&b->env, NULL, NULL, NULL, NULL);
    b->a.mem = b->out.mem = &b->env.mem;
    b->err = (cip_err)CIP_ERR_INIT;
    *state = b;
    return 0;
}

static int end(void **state)
{
    bench *b = *state;
    cip_buf_clear(&b->out);
    cip_arena_clear(&b->a);
    cip_env_clear(&b->env);
    int leaked = b->env.mem.used != 0;
    free(b);
    return leaked;
}

/* --- elements --------------------------------------------------------------------------------- */

/* An element as YAML, without its line's end. */
static const char *shown(bench *b, const cip_dtype *d, const void *p)
{
    const cip_node *n;
    const cip_yaml_write how = { .handle_prefix = ASDF_TAGS };
    b->out.len = 0;
    assert_int_equal(cip_asdf_element_node(&b->a, d, p, &n, &b->err), CIP_OK);
    assert_int_equal(cip_yaml_emit(&b->env, n, &how, &b->out, &b->err), CIP_OK);
    b->out.len--;
    assert_int_equal(cip_buf_nul(&b->out, NULL), CIP_OK);
    return (const char *)b->out.ptr;
}

static void numbers_are_exact_in_either_order(void **state)
{
    bench *b = *state;
    static const struct {
        cip_kind kind;
        uint8_t big[16];
        const char *text;
    } row[] = {
        { CIP_BOOL, { 2 }, "true" },
        { CIP_BOOL, { 0 }, "false" },
        { CIP_I8, { 0xff }, "-1" },
        { CIP_I16, { 0x80, 0 }, "-32768" },
        { CIP_I32, { 0xff, 0xff, 0xff, 0xfe }, "-2" },
        { CIP_I64, { 0x80 }, "-9223372036854775808" },
        { CIP_U8, { 0xff }, "255" },
        { CIP_U16, { 0xff, 0xfe }, "65534" },
        { CIP_U32, { 0xff, 0xff, 0xff, 0xff }, "4294967295" },
        { CIP_U64, { 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, "9223372036854775807" },
        { CIP_F16, { 0x3e, 0 }, "1.5" },
        { CIP_F32, { 0x3d, 0xcc, 0xcc, 0xcd }, "0.10000000149011612" },
        { CIP_F64, { 0x7f, 0xf0 }, ".inf" },
        { CIP_F64, { 0x80 }, "-0.0" },
        { CIP_C64, { 0x3f, 0x80, 0, 0, 0xc0, 0 }, "!core/complex-1.0.0 1.0-2.0j" },
        { CIP_C64, { 0xff, 0x80, 0, 0, 0x7f, 0x80 }, "!core/complex-1.0.0 -inf+infj" },
        { CIP_C128, { 0x7f, 0xf8, 0, 0, 0, 0, 0, 0, 0x3f, 0xf0 }, "!core/complex-1.0.0 nan+1.0j" },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (int big = 0; big < 2; big++) {
            const cip_dtype *d = cip_dtype_fixed(row[i].kind, big);
            size_t n = (size_t)d->itemsize, each = row[i].kind >= CIP_C64 ? n / 2 : n;
            uint8_t p[16];
            for (size_t k = 0; k < n; k++)
                p[k] = row[i].big[big ? k : k / each * each + (each - 1 - k % each)];
            assert_string_equal(shown(b, d, p), row[i].text);
        }
}

static void texts_lose_only_their_padding(void **state)
{
    bench *b = *state;
    const cip_dtype *d;
    assert_int_equal(cip_dtype_ascii(&b->a, 4, &d, NULL), CIP_OK);
    assert_string_equal(shown(b, d, "ab\0\0"), "ab");
    assert_string_equal(shown(b, d, "\0\0\0\0"), "''");
    assert_string_equal(shown(b, d, "a\0b\0"), "\"a\\0b\"");
    assert_string_equal(shown(b, d, "1e5\0"), "'1e5'");
    static const uint8_t wide[2][20] = {
        { 'z', 0, 0, 0, 0xe9, 0, 0, 0, 0xac, 0x20, 0, 0, 0, 0xf6, 1, 0, 0, 0, 0, 0 },
        { 0, 0, 0, 'z', 0, 0, 0, 0xe9, 0, 0, 0x20, 0xac, 0, 1, 0xf6, 0, 0, 0, 0, 0 }
    };
    for (int big = 0; big < 2; big++) {
        const cip_node *n;
        assert_int_equal(cip_dtype_ucs4(&b->a, 5, big, &d, NULL), CIP_OK);
        assert_int_equal(cip_asdf_element_node(&b->a, d, wide[big], &n, NULL), CIP_OK);
        assert_string_equal(n->text, "z\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    }
}

static void values_that_no_tree_holds_are_refused(void **state)
{
    bench *b = *state;
    const cip_dtype *d;
    const cip_node *n;
    static const uint8_t big[] = { 0x80, 0, 0, 0, 0, 0, 0, 0 };
    static const uint8_t wide[3][4] = { { 0, 0x11, 0, 0 },
                                        { 0, 0, 0xd8, 0 },
                                        { 0, 0, 0xdf, 0xff } };
    assert_int_equal(cip_asdf_element_node(&b->a, cip_dtype_fixed(CIP_U64, true), big, &n, NULL),
                     CIP_ERR_RANGE);
    assert_int_equal(cip_dtype_ascii(&b->a, 2, &d, NULL), CIP_OK);
    assert_int_equal(cip_asdf_element_node(&b->a, d, (const uint8_t *)"a\x80", &n, NULL),
                     CIP_ERR_RANGE);
    assert_int_equal(cip_asdf_element_node(&b->a, d, (const uint8_t *)"a\x7f", &n, NULL), CIP_OK);
    assert_int_equal(cip_dtype_ucs4(&b->a, 1, true, &d, NULL), CIP_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(cip_asdf_element_node(&b->a, d, wide[i], &n, NULL), CIP_ERR_RANGE);
    static const uint8_t good[2][4] = { { 0, 0x10, 0xff, 0xff }, { 0, 0, 0xe0, 0 } };
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(cip_asdf_element_node(&b->a, d, good[i], &n, NULL), CIP_OK);
}

/* --- types ------------------------------------------------------------------------------------ */

static void records_are_packed_and_keep_their_orders(void **state)
{
    bench *b = *state;
    const cip_dtype *inner, *d, *out;
    const cip_node *n;
    const cip_yaml_write how = { .handle_prefix = ASDF_TAGS };
    static const int64_t shape[] = { 2, 3 };
    cip_field deep = { .name = "q", .dtype = cip_dtype_fixed(CIP_I16, true), .offset = 2 };
    assert_int_equal(cip_dtype_record(&b->a, 1, &deep, false, 8, &inner, NULL), CIP_OK);
    cip_field f[] = { { .name = "a", .dtype = cip_dtype_fixed(CIP_I8, false) },
                      { .name = "b",
                        .dtype = cip_dtype_fixed(CIP_F64, true),
                        .offset = 8,
                        .ndim = 2,
                        .shape = shape },
                      { .name = "c", .dtype = inner, .offset = 56 } };
    assert_int_equal(cip_dtype_record(&b->a, 3, f, false, 64, &d, NULL), CIP_OK);
    assert_int_equal(cip_asdf_stored_type(&b->a, d, -1, &out, NULL), CIP_OK);
    assert_int_equal(out->itemsize, 1 + 48 + 2);
    assert_int_equal(cip_asdf_type_node(&b->a, out, &n, NULL), CIP_OK);
    assert_int_equal(cip_yaml_emit(&b->env, n, &how, &b->out, NULL), CIP_OK);
    assert_int_equal(cip_buf_nul(&b->out, NULL), CIP_OK);
    assert_string_equal(
        (const char *)b->out.ptr,
        "[{name: a, datatype: int8, byteorder: little}, {name: b, datatype: "
        "float64,\n  byteorder: big, shape: [2, 3]}, {name: c, datatype: [{name: q,\n"
        "  datatype: int16, byteorder: big}], byteorder: big}]\n");
    assert_int_equal(cip_asdf_stored_type(&b->a, d, 0, &out, NULL), CIP_OK);
    assert_false(out->field[1].dtype->big);
    assert_int_equal(cip_asdf_stored_type(&b->a, d, 1, &out, NULL), CIP_OK);
    assert_true(out->field[1].dtype->big);
}

/* --- trees ------------------------------------------------------------------------------------ */

static const cip_node *parsed(bench *b, const char *text)
{
    const cip_yaml_options opt = { .default_handle = ASDF_TAGS, .quiet = true };
    const cip_node *n = NULL;
    char *copy;
    assert_int_equal(cip_arena_copy(&b->a, text, strlen(text), &copy, NULL), CIP_OK);
    cip_bytes in = { (const uint8_t *)copy, strlen(text) };
    if (cip_yaml_parse(&b->env, &b->a, in, &opt, &n, &b->err) != CIP_OK)
        fail_msg("%s", b->err.text);
    return n;
}

/* The tree as it is written, behind the directives. */
static const char *written(bench *b, const char *version, const char *tree, const asdf_swap *swap,
                           size_t n)
{
    static const char directives[] = "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- ";
    const asdf_standard *s;
    b->out.len = 0;
    assert_int_equal(cip_asdf_standard(version, &s, NULL), CIP_OK);
    const cip_node *root = tree != NULL ? parsed(b, tree) : NULL;
    if (cip_asdf_tree_text(&b->env, s, root, (asdf_swaps){ swap, n }, &b->out, &b->err) != CIP_OK)
        fail_msg("%s", b->err.text);
    assert_int_equal(cip_buf_nul(&b->out, NULL), CIP_OK);
    assert_memory_equal(b->out.ptr, directives, sizeof directives - 1);
    return (const char *)b->out.ptr + sizeof directives - 1;
}

/* Whether it is there, wherever lines break. */
static bool holds(const char *text, const char *what)
{
    static char flat[8192];
    size_t n = 0;
    for (; *text != '\0' && n + 1 < sizeof flat; text++) {
        bool broken = text[0] == '\n' && text[1] == ' ' && text[2] == ' ';
        flat[n++] = broken ? ' ' : *text;
        text += broken ? 2 : 0;
    }
    flat[n] = '\0';
    return strstr(flat, what) != NULL;
}

#define SAID "asdf_library: {name: x}\nhistory: []\n"

static void software_and_extensions_are_added_where_nobody_said_them(void **state)
{
    bench *b = *state;
    static const char library[] =
        "asdf_library: !core/software-1.0.0 {name: cippus, version: " CIP_VERSION_STRING "}\n";
    char want[512];
    snprintf(want, sizeof want, "!core/asdf-1.0.0\n%sa: 1\n...\n", library);
    assert_string_equal(written(b, "1.1.0", "a: 1\n", NULL, 0), want);
    const char *text = written(b, "1.2.0", "a: 1\n", NULL, 0);
    assert_non_null(strstr(text, "core/extensions/core-1.2.0"));
    assert_memory_equal(text, "!core/asdf-1.1.0\nasdf_library", 29);
    assert_string_equal(written(b, NULL, "a: 1\n" SAID, NULL, 0),
                        "!core/asdf-1.1.0\na: 1\n" SAID "...\n");
    assert_non_null(strstr(written(b, NULL, "asdf_library: 1\n", NULL, 0), "extensions:"));
    assert_null(strstr(written(b, NULL, "asdf/library: 1\n", NULL, 0), "asdf_library"));
    assert_non_null(strstr(written(b, NULL, NULL, NULL, 0), library));
}

static void history_and_tags_are_those_of_the_standard(void **state)
{
    bench *b = *state;
    static const char tree[] =
        "--- !core/asdf-1.1.0\nasdf_library: 1\n"
        "history: {entries: [{description: x}], extensions: [{extension_uri: "
        "'asdf://asdf-format.org/core/extensions/core-1.6.0'}]}\n"
        "i: !core/integer-1.1.0 {string: '1'}\nc: !core/complex-1.0.0 1j\n";
    assert_string_equal(written(b, "1.0.0", tree, NULL, 0),
                        "!core/asdf-1.0.0\nasdf_library: 1\nhistory: [{description: x}]\n"
                        "i: !core/integer-1.1.0 {string: '1'}\nc: !core/complex-1.0.0 1j\n...\n");
    const char *text = written(b, "1.4.0", tree, NULL, 0);
    assert_non_null(strstr(text, "core/extensions/core-1.4.0"));
    assert_non_null(strstr(text, "i: !core/integer-1.0.0 "));
    assert_null(strstr(written(b, "1.1.0", "history: {extensions: []}\n", NULL, 0), "history"));
    text = written(b, NULL, "--- !<tag:x.org/root-1.0>\n" SAID, NULL, 0);
    assert_memory_equal(text, "!<tag:x.org/root-1.0>\n", 22);
}

static void integers_beyond_63_bits_are_core_integers(void **state)
{
    bench *b = *state;
    static const char tree[] =
        SAID "a: 9223372036854775807\nb: 9223372036854775808\n"
             "c: -36893488147419103233\n18446744073709551615: 0x1_0000_0000\n"
             "d: -9223372036854775807\ne: -9223372036854775808\n";
    const char *text = written(b, NULL, tree, NULL, 0);
    assert_true(holds(text, "a: 9223372036854775807\nb: !core/integer-1.1.0 {sign: +, string: "
                            "'9223372036854775808', words: !core/ndarray-1.1.0 {"));
    assert_true(holds(text, "data: [0, 2147483648],"));
    assert_true(holds(text, "{sign: '-', string: '-36893488147419103233',"));
    assert_true(holds(text, "[1, 0, 2]"));
    assert_true(holds(text, "\n18446744073709551615: 4294967296\nd: -9223372036854775807\n"
                            "e: !core/integer-1.1.0 {sign: '-'"));
    text = written(b, "1.2.0", tree, NULL, 0);
    assert_true(holds(text, "b: 9223372036854775808\n"));
}

static void sharing_and_cycles_stay(void **state)
{
    bench *b = *state;
    assert_string_equal(written(b, NULL, "&r\n" SAID "a: &x [1, 2]\nb: *x\nc: {up: *r}\n", NULL, 0),
                        "&r !core/asdf-1.1.0\n" SAID "a: &x [1, 2]\nb: *x\nc: {up: *r}\n...\n");
}

static void nodes_are_swapped_wherever_they_stand(void **state)
{
    bench *b = *state;
    const cip_node *root = parsed(b, SAID "a: [&x {k: 1}, *x]\nb: {c: 2}\n");
    const asdf_standard *s;
    cip_node *seven;
    assert_int_equal(cip_node_new_int(&b->a, 7, &seven, NULL), CIP_OK);
    const asdf_swap swap[] = { { .from = cip_tree_get(root, "a/0", NULL), .to = seven },
                               { .from = cip_tree_get(root, "b/c", NULL), .to = seven },
                               { .path = "", .to = seven },
                               { .path = "b/d", .to = seven } };
    assert_int_equal(cip_asdf_standard(NULL, &s, NULL), CIP_OK);
    assert_int_equal(cip_asdf_tree_text(&b->env, s, root, (asdf_swaps){ swap, 4 }, &b->out, NULL),
                     CIP_OK);
    assert_int_equal(cip_buf_nul(&b->out, NULL), CIP_OK);
    assert_non_null(strstr((const char *)b->out.ptr, "a: [7, 7]\nb: {c: 7, d: 7}\ndata: 7\n...\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, start, end)
        TEST(numbers_are_exact_in_either_order),
        TEST(texts_lose_only_their_padding),
        TEST(values_that_no_tree_holds_are_refused),
        TEST(records_are_packed_and_keep_their_orders),
        TEST(software_and_extensions_are_added_where_nobody_said_them),
        TEST(history_and_tags_are_those_of_the_standard),
        TEST(integers_beyond_63_bits_are_core_integers),
        TEST(sharing_and_cycles_stay),
        TEST(nodes_are_swapped_wherever_they_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
