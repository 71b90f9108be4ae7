/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/asdf/chain/asdf_early_testing.h"
#include "format/asdf/write/asdf_write.h"
#include "io/temporary.h"

#define EARLY_INT32 "!core/ndarray {source: 0, datatype: int32, byteorder: little, shape: [6]}\n"
#define EARLY_FLOAT64 "!core/ndarray {source: 1, dtype: float64, byteorder: little, shape: [3]}\n"

static const asdf_block_form *const forms[] = { &cip_asdf_form_a, &cip_asdf_form_b,
                                                &cip_asdf_form_c, &cip_asdf_form_1_0 };

static const char *six(void)
{
    static uint8_t b[24];
    for (uint32_t i = 0; i < 6; i++)
        cip_store_u32(b + 4 * i, i, false);
    return (const char *)b;
}

static const char *three(void)
{
    static uint8_t b[24];
    static const uint64_t bits[] = { 0, 0x3ff0000000000000, 0x4000000000000000 };
    for (size_t i = 0; i < 3; i++)
        cip_store_u64(b + 8 * i, bits[i], false);
    return (const char *)b;
}

/* Two blocks, with room behind the first. */
static void make_pair_of(asdf_make *m, const asdf_block_form *form, size_t more)
{
    asdf_make room = { 0 };
    make_bytes(&room, six(), 24);
    make_bytes(&room, "unused", 6);
    make_early_tree(m, "a: " EARLY_INT32 "b: " EARLY_FLOAT64);
    make_early(m, (asdf_block){ .form = form, .used = 24, .allocated = 30 }, more, room.ptr, 30);
    make_early(m, (asdf_block){ .form = form }, more, three(), 24);
    make_clear(&room);
}

static const char *fact(const one_file *f, const char *key)
{
    for (size_t i = 0; i < f->layout->nfact; i++)
        if (strcmp(f->layout->fact[i].key, key) == 0)
            return f->layout->fact[i].value;
    return "";
}

static void fields_lie_where_each_layout_has_them(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t len, allocated, used, data_size, checksum, nsum, code, encoding;
    } rows[] = {
        { "A", 50, 10, 18, 0, 26, 8, 0, 34 },
        { "B", 42, 10, 18, 26, 34, 8, 0, 0 },
        { "C", 46, 14, 22, 30, 38, 8, 10, 0 },
        { "D", 54, 14, 22, 30, 38, 16, 10, 0 },
    };
    for (size_t i = 0; i < 4; i++) {
        uint8_t head[ASDF_HEADER_LEN];
        asdf_block b;
        asdf_block p = { .form = forms[i],
                         .flags = 4,
                         .code = "quux",
                         .encoding = "0123456789abcde",
                         .allocated = 0x0102030405060708,
                         .used = 0x1112131415161718,
                         .data_size = 0x2122232425262728,
                         .checksum = "ABCDEFGHIJKLMNO" };
        assert_string_equal(forms[i]->name, rows[i].name);
        assert_int_equal(cip_asdf_header_bytes(&p, 77, head), rows[i].len);
        assert_memory_equal(head, ASDF_MAGIC "\0\115\0\0\0\4", 10);
        assert_int_equal(cip_load_u64(head + rows[i].allocated, true), p.allocated);
        assert_int_equal(cip_load_u64(head + rows[i].used, true), p.used);
        if (rows[i].data_size != 0)
            assert_int_equal(cip_load_u64(head + rows[i].data_size, true), p.data_size);
        assert_memory_equal(head + rows[i].checksum, p.checksum, rows[i].nsum);
        if (rows[i].code != 0)
            assert_memory_equal(head + rows[i].code, "quux", 4);
        if (rows[i].encoding != 0)
            assert_memory_equal(head + rows[i].encoding, p.encoding, 16);
        cip_bytes in = { head, rows[i].len };
        assert_int_equal(cip_asdf_block_parse(forms[i], in, 5, &b, NULL), CIP_OK);
        assert_ptr_equal(b.form, forms[i]);
        assert_int_equal(b.header_size, 77);
        assert_int_equal(b.allocated, p.allocated);
        assert_int_equal(b.used, p.used);
        assert_int_equal(b.data_size, rows[i].data_size != 0 ? p.data_size : p.used);
        assert_memory_equal(b.checksum, p.checksum, rows[i].nsum);
        in.len--;
        assert_int_equal(cip_asdf_block_parse(forms[i], in, 5, &b, NULL), CIP_ERR_TRUNCATED);
    }
}

static void a_streamed_header_stores_no_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        uint8_t head[ASDF_HEADER_LEN];
        static const uint8_t zeros[44];
        const asdf_block p = { .form = forms[i],
                               .flags = ASDF_STREAMED,
                               .allocated = 9,
                               .used = 9,
                               .data_size = 9,
                               .checksum = "x" };
        size_t n = cip_asdf_header_bytes(&p, forms[i]->header_size, head);
        assert_memory_equal(head + 10, zeros, n - 10);
    }
}

static void every_layout_is_known_by_its_header_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_pair_of(&m, forms[i], 0);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_true(make_gives_six(&f, "a"));
        assert_true(make_gives_three(&f, "b"));
        assert_string_equal(fact(&f, "layout"), forms[i]->name);
        assert_string_equal(f.layout->version, "0.1.0");
        assert_int_equal(f.env.warnings.n, 0);
        one_close(&f);
        make_clear(&m);
    }
}

static void larger_headers_are_told_apart_by_what_makes_sense(void **state)
{
    (void)state;
    static const size_t mores[] = { 1, 3, 4, 8, 12, 64, 200 };
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < sizeof mores / sizeof mores[0]; k++) {
            one_file f;
            asdf_make m = { 0 };
            make_pair_of(&m, forms[i], mores[k]);
            assert_int_equal(make_open(&f, &m, 0), CIP_OK);
            assert_true(make_gives_six(&f, "a"));
            assert_true(make_gives_three(&f, "b"));
            /* With room for D's longer checksum nothing tells C from D, and it does not matter. */
            bool like_d = forms[i] == &cip_asdf_form_c && mores[k] >= 8;
            assert_string_equal(fact(&f, "layout"), like_d ? "D" : forms[i]->name);
            one_close(&f);
            make_clear(&m);
        }
}

static void an_empty_first_block_leaves_it_to_the_next(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_early_tree(&m, "b: " EARLY_FLOAT64);
        make_early(&m, (asdf_block){ .form = forms[i] }, 70, "", 0);
        make_early(&m, (asdf_block){ .form = forms[i] }, 70, three(), 24);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_true(make_gives_three(&f, "b"));
        one_close(&f);
        make_clear(&m);
    }
}

static void headers_are_found_behind_padding_and_before_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_early_tree(&m, "a: " EARLY_INT32 "e: !core/ndarray {source: 1, datatype: int8, "
                            "byteorder: little, shape: [0]}\n");
        make_text(&m, "   \323BLK no block     ");
        make_early(&m, (asdf_block){ .form = forms[i] }, 0, six(), 24);
        make_text(&m, "gap");
        make_early(&m, (asdf_block){ .form = forms[i] }, 0, "", 0); /* the file ends with it */
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(f.layout->nblock, 2);
        assert_true(make_gives_six(&f, "a"));
        assert_true(make_gives(&f, "e", "", 0));
        one_close(&f);
        make_clear(&m);
    }
}

static void an_index_is_used_in_every_layout(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        one_file f;
        asdf_make m = { 0 };
        size_t at[2];
        make_early_tree(&m, "a: " EARLY_INT32 "b: " EARLY_FLOAT64);
        at[0] = make_early(&m, (asdf_block){ .form = forms[i] }, 0, six(), 24);
        at[1] = make_early(&m, (asdf_block){ .form = forms[i] }, 0, three(), 24);
        make_index(&m, at, 2);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(cip_asdf_of(f.layout)->index.state, ASDF_INDEX_GOOD);
        assert_true(make_gives_three(&f, "b"));
        one_close(&f);
        make_clear(&m);
    }
}

static void streams_go_to_the_end_of_the_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t more = 0; more < 60; more += 30) {
            one_file f;
            asdf_make m = { 0 };
            make_early_tree(&m, "a: !core/ndarray {source: -1, datatype: int32, byteorder: little, "
                                "shape: ['*', 2]}\n");
            make_early(&m, (asdf_block){ .form = forms[i], .flags = ASDF_STREAMED }, more, six(),
                       24);
            assert_int_equal(make_open(&f, &m, 0), CIP_OK);
            assert_true(make_gives_six(&f, "a"));
            one_close(&f);
            make_clear(&m);
        }
}

static void a_damaged_first_block_still_has_a_form(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_early_tree(&m, "a: " EARLY_INT32);
    make_early(&m, (asdf_block){ .form = &cip_asdf_form_a, .used = 25 }, 0, six(), 24);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_string_equal(fact(&f, "layout"), "A");
    assert_int_equal(make_try(&f, "a"), CIP_ERR_TRUNCATED);
    one_close(&f);
    size_t at = (size_t)((uint8_t *)memmem(m.ptr, m.len, ASDF_MAGIC, 4) - m.ptr);
    m.ptr[at + 5] = 35;
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
    assert_non_null(strstr(f.err.text, "expected a header_size of at least 36, found 35"));
    one_close(&f);
    make_clear(&m);
}

/* A block of layout A whose header is one of B, too, with bytes behind it that fit neither: without
 * them it would be read as B. */
static void of_a_layout_in_doubt_nothing_is_written_anew(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_early_tree(&m, "a: " EARLY_INT32);
        make_early(&m, (asdf_block){ .form = &cip_asdf_form_a, .checksum = "\0\0\0\0\0\0\0\30" }, 0,
                   six(), 24);
        if (i == 1)
            make_bytes(&m, "\0\0\0\0", 4);
        if (i == 2)
            make_bytes(&m, "junk", 4);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_string_equal(fact(&f, "layout"), i == 2 ? "A" : "B");
        assert_int_equal(cip_asdf_of(f.layout)->form_unsure, i == 2);
        if (i == 2) {
            assert_int_equal(cip_asdf_check_numbers(cip_asdf_of(f.layout), &f.err),
                             CIP_ERR_CORRUPT);
            assert_string_equal(f.err.text, "a file of ASDF 0.1 whose blocks may not have layout A "
                                            "is not changed: their ends do not match any layout");
        }
        one_close(&f);
        make_clear(&m);
    }
}

static void a_name_in_layout_a_costs_the_block(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_early_tree(&m, "a: " EARLY_INT32 "b: " EARLY_FLOAT64);
    make_early(&m, (asdf_block){ .form = &cip_asdf_form_a, .encoding = "blosc\t" }, 0, six(), 24);
    make_early(&m, (asdf_block){ .form = &cip_asdf_form_a }, 0, three(), 24);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(f.err.text, "found 'blosc\\x09'"));
    assert_true(make_gives_three(&f, "b"));
    one_close(&f);
    make_clear(&m);
}

/* --- tags ------------------------------------------------------------------------------------- */

static void tags_of_both_kinds_are_known(void **state)
{
    (void)state;
    static const char *const yaml[] = {
        EARLY_YAML "a: !core/ndarray",
        "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-0.1.0\na: !core/ndarray-0.1.0",
        "#ASDF_STANDARD 0.1.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-0.1.0\n"
        "a: !core/ndarray-0.1.0",
        "%YAML 1.1\n--- !<tag:stsci.edu:asdf/0.1.0/core/asdf>\n"
        "a: !<tag:stsci.edu:asdf/0.1.0/core/ndarray>",
    };
    static const char *const layout[] = { "D", "E", "E", "D" };
    for (size_t i = 0; i < sizeof yaml / sizeof yaml[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_text(&m, EARLY_LINE);
        make_text(&m, yaml[i]);
        make_text(&m, " {source: 0, datatype: int32, byteorder: little, shape: [6]}\n...\n");
        make_early(&m, (asdf_block){ .form = NULL }, 0, six(), 24);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_true(make_gives_six(&f, "a"));
        assert_string_equal(fact(&f, "layout"), layout[i]);
        assert_int_equal(f.env.warnings.n, 0);
        one_close(&f);
        make_clear(&m);
    }
}

static void dtype_is_a_word_of_early_files_alone(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_early_tree(&m, "a: !core/ndarray {source: 0, byteorder: little, shape: [2], dtype: "
                        "[{name: x, dtype: int32}, {name: y, dtype: float64}]}\n");
    make_early(&m, (asdf_block){ .form = &cip_asdf_form_b }, 0, six(), 24);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_true(make_gives(&f, "a", six(), 24));
    one_close(&f);
    make_clear(&m);
    make_tree(&m, "a: !core/ndarray-1.0.0 {source: 0, dtype: int32, byteorder: little, "
                  "shape: [6]}\n");
    make_six(&m);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
    one_close(&f);
    make_clear(&m);
}

/* --- checksums -------------------------------------------------------------------------------- */

static void verify(one_file *f, const asdf_make *m, cip_report *r)
{
    assert_int_equal(make_open(f, m, 0), CIP_OK);
    cip_report_init(r, &f->env.mem, true, NULL, NULL);
    assert_int_equal(cip_asdf_verify(f->layout, true, r, &f->err), CIP_OK);
}

static void half_a_checksum_is_compared_and_never_fails(void **state)
{
    (void)state;
    static const char *const words[] = { "the first half", "the second half", "unverifiable" };
    uint8_t md5[ASDF_CHECKSUM_LEN];
    make_md5(six(), 24, md5);
    for (size_t i = 0; i < 3; i++)
        for (int half = 0; half < 3; half++) {
            one_file f;
            asdf_make m = { 0 };
            cip_report r;
            asdf_block p = { .form = forms[i] };
            memcpy(p.checksum, half == 2 ? (const uint8_t *)"12345678" : md5 + 8 * half, 8);
            make_early_tree(&m, "a: " EARLY_INT32);
            make_early(&m, p, 0, six(), 24);
            verify(&f, &m, &r);
            assert_int_equal(r.n, 1);
            assert_int_equal(cip_report_get(&r, 0)->severity, CIP_NOTE);
            assert_non_null(strstr(cip_report_get(&r, 0)->text, words[half]));
            cip_report_clear(&r);
            one_close(&f);
            make_clear(&m);
        }
}

static void a_wrong_md5_is_unverifiable_only_where_writers_were_wrong(void **state)
{
    (void)state;
    for (int index = 0; index < 2; index++) {
        one_file f;
        asdf_make m = { 0 };
        cip_report r;
        make_early_tree(&m, "a: " EARLY_INT32);
        size_t at = make_early(&m, (asdf_block){ .checksum = "no MD5 of it" }, 0, six(), 24);
        if (index)
            make_index(&m, &at, 1);
        verify(&f, &m, &r);
        assert_int_equal(r.n, 1);
        assert_int_equal(cip_report_get(&r, 0)->severity, index ? CIP_BAD : CIP_NOTE);
        cip_report_clear(&r);
        one_close(&f);
        make_clear(&m);
    }
}

static void only_blocks_of_1_0_are_stored_anew(void **state)
{
    (void)state;
    static const cip_spec specs[] = { { .codec = "zlib" }, { .checksum = "md5" }, { .align = 1 } };
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 3; k++) {
            one_file f;
            asdf_make m = { 0 };
            cip_io *io;
            make_pair_of(&m, forms[i], 0);
            assert_int_equal(make_open(&f, &m, 0), CIP_OK);
            assert_int_equal(cip_temporary_new(&f.env, NULL, &io, NULL), CIP_OK);
            cip_out out = cip_temporary_out(io);
            bool works = forms[i] == &cip_asdf_form_1_0 || k == 2;
            assert_int_equal(cip_asdf_rewrite(f.layout, &specs[k], &out, &f.err),
                             works ? CIP_OK : CIP_ERR_UNSUPPORTED);
            cip_io_close(io);
            one_close(&f);
            make_clear(&m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_lie_where_each_layout_has_them),
        cmocka_unit_test(a_streamed_header_stores_no_sizes),
        cmocka_unit_test(every_layout_is_known_by_its_header_size),
        cmocka_unit_test(larger_headers_are_told_apart_by_what_makes_sense),
        cmocka_unit_test(an_empty_first_block_leaves_it_to_the_next),
        cmocka_unit_test(headers_are_found_behind_padding_and_before_the_end),
        cmocka_unit_test(an_index_is_used_in_every_layout),
        cmocka_unit_test(streams_go_to_the_end_of_the_file),
        cmocka_unit_test(a_damaged_first_block_still_has_a_form),
        cmocka_unit_test(of_a_layout_in_doubt_nothing_is_written_anew),
        cmocka_unit_test(a_name_in_layout_a_costs_the_block),
        cmocka_unit_test(tags_of_both_kinds_are_known),
        cmocka_unit_test(dtype_is_a_word_of_early_files_alone),
        cmocka_unit_test(half_a_checksum_is_compared_and_never_fails),
        cmocka_unit_test(a_wrong_md5_is_unverifiable_only_where_writers_were_wrong),
        cmocka_unit_test(only_blocks_of_1_0_are_stored_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
