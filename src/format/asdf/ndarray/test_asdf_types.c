/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "support/format/asdf/asdf_testing.h"

static bool parse(const char *text, double *re, double *im)
{
    size_t n = strlen(text);
    char *exact = malloc(n + (n == 0)); /* so that an overread is seen */
    memcpy(exact, text, n);
    bool ok = cip_asdf_complex_parse(exact, n, re, im);
    free(exact);
    return ok;
}

static void complex_numbers_are_read_in_all_their_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double re, im;
    } rows[] = {
        { "1+2j", 1, 2 },
        { "(1+2j)", 1, 2 },
        { "1-2.5I", 1, -2.5 },
        { "-1.5e3-4.25J", -1500, -4.25 },
        { "3.5", 3.5, 0 },
        { "2i", 0, 2 },
        { "-2I", 0, -2 },
        { "+1.e2+.5j", 100, 0.5 },
        { "inf-0j", INFINITY, -0.0 },
        { "(-INF+Infj)", -INFINITY, INFINITY },
        { "1+infinityj", 1, INFINITY },
        { "infinity", INFINITY, 0 },
        { "infi", 0, INFINITY },
        { "1E-2i", 0, 0.01 },
        { "(5)", 5, 0 },
        { "0", 0, 0 },
        { "1e+5+1e-5j", 1e5, 1e-5 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double re = 77, im = 77;
        assert_true(parse(rows[i].text, &re, &im));
        assert_true(re == rows[i].re);
        assert_true(im == rows[i].im);
        assert_int_equal(signbit(im) != 0, signbit(rows[i].im) != 0);
    }
    double re, im;
    assert_true(parse("nan-nanj", &re, &im));
    assert_true(isnan(re) && isnan(im));
    assert_true(parse("(NaN+0j)", &re, &im));
    assert_true(isnan(re) && im == 0);
}

static void what_is_no_complex_number_is_told(void **state)
{
    (void)state;
    static const char *const bad[] = { "",      "j",     "1+",    "1+j", "1 + 2j", "1+2",   "1+2k",
                                       "(1+2j", "1+2j)", "()",    "1e",  "1e+j",   ".",     "+",
                                       "1+2jj", "1.2.3", "in",    "na",  "--1",    "1+-2j", "(",
                                       "1.e",   ".e5",   "1+2j ", "0x1" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double re = 5, im = 6;
        assert_false(parse(bad[i], &re, &im));
        assert_true(re == 5 && im == 6);
    }
}

static void integer_words_are_written_in_decimal(void **state)
{
    (void)state;
    static const struct {
        uint32_t words[4];
        size_t n;
        bool negative;
        const char *text;
    } rows[] = {
        { { 0 }, 0, false, "0" },
        { { 0 }, 0, true, "0" },
        { { 0, 0 }, 2, true, "0" },
        { { 5 }, 1, false, "5" },
        { { 5, 0, 0 }, 3, true, "-5" },
        { { 999999999 }, 1, false, "999999999" },
        { { 1000000000 }, 1, false, "1000000000" },
        { { 0, 1 }, 2, false, "4294967296" },
        { { 0xffffffff, 0xffffffff }, 2, true, "-18446744073709551615" },
        { { 0, 0, 0, 0x80000000 }, 4, false, "170141183460469231731687303715884105728" },
        { { 0xa7640000, 0x0de0b6b3 }, 2, false, "1000000000000000000" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cip_mem mem;
        cip_mem_init(&mem, NULL, 0);
        cip_buf text = { .mem = &mem };
        assert_int_equal(
            cip_asdf_integer_text(&mem, rows[i].words, rows[i].n, rows[i].negative, &text, NULL),
            CIP_OK);
        assert_int_equal(text.len, strlen(rows[i].text));
        assert_memory_equal(text.ptr, rows[i].text, text.len);
        cip_buf_clear(&text);
        assert_int_equal(mem.used, 0);
    }
}

/* --- facts ------------------------------------------------------------------------------------ */

/* The n-th value of a key, or NULL. */
static const char *fact(const one_file *f, const char *key, int n)
{
    for (size_t i = 0; i < f->layout->nfact; i++)
        if (strcmp(f->layout->fact[i].key, key) == 0 && n-- == 0)
            return f->layout->fact[i].value;
    return NULL;
}

static void facts_tell_writer_history_and_extensions(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(make_open_tree(&f,
                                    "asdf_library: {name: asdf, version: 6.0.0}\n"
                                    "history:\n  entries: [{description: x}, {description: y}]\n"
                                    "  extensions: [{extension_uri: 'u:1', extension_class: c}, "
                                    "{extension_class: d}, 5, {}]\n",
                                    0),
                     CIP_OK);
    assert_string_equal(fact(&f, "standard", 0), "1.5.0");
    assert_string_equal(fact(&f, "writer", 0), "asdf 6.0.0");
    assert_string_equal(fact(&f, "history", 0), "2 entries");
    assert_string_equal(fact(&f, "extension", 0), "u:1");
    assert_string_equal(fact(&f, "extension", 1), "d");
    assert_null(fact(&f, "extension", 2));
    assert_string_equal(fact(&f, "blocks", 0), "2");
    assert_string_equal(fact(&f, "index", 0), "none");
    assert_string_equal(fact(&f, "checksums", 0), "md5 of 2 of 2 blocks");
    assert_string_equal(fact(&f, "compression", 0), "2 none");
    assert_null(fact(&f, "comment", 0));
    one_close(&f);
}

static void older_ways_of_saying_it_are_understood(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(
        make_open_tree(&f, "asdf/library: {name: asdf-cxx}\nhistory: [{description: x}]\n", 0),
        CIP_OK);
    assert_string_equal(fact(&f, "writer", 0), "asdf-cxx");
    assert_string_equal(fact(&f, "history", 0), "1 entry");
    one_close(&f);
    assert_int_equal(make_open_tree(&f, "asdf_library: 5\nhistory: text\n", 0), CIP_OK);
    assert_null(fact(&f, "writer", 0));
    assert_null(fact(&f, "history", 0));
    one_close(&f);
    assert_int_equal(
        make_open_tree(&f, "asdf_library: {name: [1]}\nhistory: {entries: 1, extensions: 2}\n", 0),
        CIP_OK);
    assert_null(fact(&f, "writer", 0));
    assert_null(fact(&f, "history", 0));
    one_close(&f);
}

static void facts_tell_of_blocks_and_comments(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_text(&m, "#ASDF 1.0.0\n# first\n#second\n" MAKE_YAML "...\n");
    make_raw(&m, "a", 1);
    make_block(&m, "zlib", "b", 1, 1);
    size_t at = make_block(&m, "zlib", "c", 1, 1);
    memset(m.ptr + at + 38, 0, 16);
    make_text(&m, "#ASDF BLOCK INDEX\n--- [7]\n...\n");
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_null(fact(&f, "standard", 0));
    assert_string_equal(fact(&f, "compression", 0), "1 none, 2 zlib");
    assert_string_equal(fact(&f, "checksums", 0), "md5 of 2 of 3 blocks");
    assert_memory_equal(fact(&f, "index", 0), "ignored: expected ", 18);
    assert_string_equal(fact(&f, "comment", 0), "# first");
    assert_string_equal(fact(&f, "comment", 1), "#second");
    one_close(&f);
    make_clear(&m);
    size_t two[3];
    make_two(&m, two);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_string_equal(fact(&f, "index", 0), "good");
    one_close(&f);
    make_clear(&m);
}

static void facts_of_a_hostile_file_are_few(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_text(&m, "#ASDF 1.0.0\n");
    for (int i = 0; i < 40; i++)
        make_text(&m, "#c\n");
    make_text(&m, MAKE_YAML "history: {extensions: [");
    for (int i = 0; i < 40; i++)
        make_text(&m, "{extension_class: x}, ");
    make_text(&m, "]}\n...\n");
    for (int i = 0; i < 100; i++) {
        char code[16];
        snprintf(code, sizeof code, "x%03d", i % 1000);
        make_block(&m, code, "", 0, 0);
    }
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_non_null(fact(&f, "comment", 15));
    assert_null(fact(&f, "comment", 16));
    assert_non_null(fact(&f, "extension", 15));
    assert_null(fact(&f, "extension", 16));
    assert_in_range(strlen(fact(&f, "compression", 0)), 200, 300);
    one_close(&f);
    make_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complex_numbers_are_read_in_all_their_spellings),
        cmocka_unit_test(what_is_no_complex_number_is_told),
        cmocka_unit_test(integer_words_are_written_in_decimal),
        cmocka_unit_test(facts_tell_writer_history_and_extensions),
        cmocka_unit_test(older_ways_of_saying_it_are_understood),
        cmocka_unit_test(facts_tell_of_blocks_and_comments),
        cmocka_unit_test(facts_of_a_hostile_file_are_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
