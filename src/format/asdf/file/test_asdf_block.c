/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/asdf/asdf_testing.h"

enum { SIZE_AT = 4, FLAGS_AT = 6, CODE_AT = 10, ALLOCATED_AT = 14, USED_AT = 22, DATA_AT = 30 };

static void poke64(asdf_make *m, size_t at, uint64_t v)
{
    cip_store_u64(m->ptr + at, v, true);
}

/* --- headers alone ---------------------------------------------------------------------------- */

static void header_fields_are_where_the_document_says(void **state)
{
    (void)state;
    uint8_t head[ASDF_HEADER_LEN];
    asdf_block b;
    for (size_t i = 0; i < sizeof head; i++)
        head[i] = (uint8_t)(i + 1);
    cip_bytes in = { head, sizeof head };
    assert_int_equal(cip_asdf_block_parse(&cip_asdf_form_1_0, in, 77, &b, NULL), CIP_OK);
    assert_int_equal(b.offset, 77);
    assert_int_equal(b.header_size, 0x0506);
    assert_int_equal(b.flags, 0x0708090a);
    assert_memory_equal(b.code, head + 10, 4);
    assert_int_equal(b.allocated, 0x0f10111213141516);
    assert_int_equal(b.used, 0x1718191a1b1c1d1e);
    assert_int_equal(b.data_size, 0x1f20212223242526);
    assert_memory_equal(b.checksum, head + 38, 16);
    cip_err err = CIP_ERR_INIT;
    in.len--;
    assert_int_equal(cip_asdf_block_parse(&cip_asdf_form_1_0, in, 77, &b, &err), CIP_ERR_TRUNCATED);
    assert_int_equal(err.offset, 77);
}

static asdf_block sound(void)
{
    return (asdf_block){ .form = &cip_asdf_form_1_0,
                         .offset = 100,
                         .header_size = 48,
                         .allocated = 40,
                         .used = 30,
                         .data_size = 30 };
}

static void headers_are_judged_by_the_file_they_are_in(void **state)
{
    (void)state;
    asdf_block b = sound();
    assert_int_equal(cip_asdf_block_judge(&b, 194, NULL), CIP_OK);
    assert_int_equal(b.data_off, 154);
    assert_int_equal(b.stored, 30);
    assert_int_equal(b.end, 194);
    assert_true(b.end_sure);
    assert_int_equal(cip_asdf_block_judge(&b, 193, NULL), CIP_OK); /* cut in the unused space */
    assert_int_equal(b.end, 184);
    assert_false(b.end_sure);
    assert_int_equal(cip_asdf_block_judge(&b, 184, NULL), CIP_OK);
    assert_int_equal(cip_asdf_block_judge(&b, 183, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(b.stored, 29);
    assert_int_equal(b.end, 183);
    assert_int_equal(cip_asdf_block_judge(&b, 153, NULL),
                     CIP_ERR_TRUNCATED); /* cut in the header */
    assert_int_equal(b.stored, 0);
    assert_int_equal(b.data_off, 153);
    b.header_size = 60;
    assert_int_equal(cip_asdf_block_judge(&b, 165, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(b.data_off, 165);
    assert_int_equal(cip_asdf_block_judge(&b, 400, NULL), CIP_OK);
    assert_int_equal(b.data_off, 166);
    assert_int_equal(b.end, 206);
    b.header_size = 47;
    assert_int_equal(cip_asdf_block_judge(&b, 400, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(b.end, 154);
    assert_false(b.end_sure);
}

static void used_beyond_allocated_is_corrupt_and_ends_where_allocated_does(void **state)
{
    (void)state;
    asdf_block b = sound();
    cip_err err = CIP_ERR_INIT;
    b.used = 41;
    assert_int_equal(cip_asdf_block_judge(&b, 400, &err), CIP_ERR_CORRUPT);
    assert_int_equal(err.offset, 122);
    assert_int_equal(b.end, 194);
    assert_int_equal(b.stored, 0);
    assert_int_equal(cip_asdf_block_judge(&b, 170, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(b.end, 170);
    b.used = 40;
    assert_int_equal(cip_asdf_block_judge(&b, 400, NULL), CIP_OK);
}

static void streamed_blocks_ignore_their_sizes(void **state)
{
    (void)state;
    asdf_block b = sound();
    b.flags = ASDF_STREAMED;
    b.used = b.allocated + 1;
    assert_int_equal(cip_asdf_block_judge(&b, 400, NULL), CIP_OK);
    assert_int_equal(b.stored, 400 - 154);
    assert_int_equal(b.end, 400);
    assert_int_equal(cip_asdf_block_judge(&b, 154, NULL), CIP_OK);
    assert_int_equal(b.stored, 0);
}

static void implausible_headers_are_told_from_plausible_ones(void **state)
{
    (void)state;
    asdf_block b = sound();
    assert_true(cip_asdf_block_plausible(&b, 400));
    assert_true(cip_asdf_block_plausible(&b, 160)); /* cut off */
    b.flags = ASDF_STREAMED;
    assert_true(cip_asdf_block_plausible(&b, 400));
    b.data_size = 1;
    assert_true(cip_asdf_block_plausible(&b, 400));
    b.flags = 2;
    assert_false(cip_asdf_block_plausible(&b, 400));
    b = sound();
    b.data_size = 31;
    assert_false(cip_asdf_block_plausible(&b, 400));
    memcpy(b.code, "zl~ ", 4);
    assert_true(cip_asdf_block_plausible(&b, 400));
    b.code[3] = 0x7f;
    assert_false(cip_asdf_block_plausible(&b, 400));
    b.code[3] = 0x1f;
    assert_false(cip_asdf_block_plausible(&b, 400));
    b.code[3] = 0;
    assert_true(cip_asdf_block_plausible(&b, 400));
    b.header_size = 0;
    assert_false(cip_asdf_block_plausible(&b, 400));
    b = sound();
    b.used = 41;
    assert_false(cip_asdf_block_plausible(&b, 400));
    b = sound();
    b.header_size = 48;
    assert_true(cip_asdf_block_plausible(&b, 154));
}

/* --- whole files ------------------------------------------------------------------------------ */

/* Opens the file, lets `check` look, and frees all. */
static void with(asdf_make *m, void (*check)(one_file *f))
{
    one_file f;
    assert_int_equal(make_open(&f, m, 0), CIP_OK);
    check(&f);
    one_close(&f);
    make_clear(m);
}

static void both(one_file *f)
{
    assert_int_equal(f->layout->nblock, 2);
    assert_true(make_gives_six(f, "a"));
    assert_true(make_gives_three(f, "b"));
}

static void both_silently(one_file *f)
{
    both(f);
    assert_int_equal(f->env.warnings.n, 0);
}

static void two_without_index(asdf_make *m, size_t at[2])
{
    make_tree(m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
    at[0] = make_six(m);
    at[1] = make_three(m);
}

static void blocks_are_found_without_an_index(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[2];
    two_without_index(&m, at);
    with(&m, both_silently);
}

static void padding_of_any_bytes_may_follow_the_tree(void **state)
{
    (void)state;
    static const char *const pads[] = { " ", "\n\n", "junk ... #ASDF",
                                        "\xd3"
                                        "BL",
                                        "\xd3"
                                        "BLK\x01\x02 no header" };
    for (size_t i = 0; i < sizeof pads / sizeof pads[0]; i++) {
        asdf_make m = { 0 };
        make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
        make_text(&m, " "); /* a magic right behind the tree would be a block */
        make_text(&m, pads[i]);
        make_six(&m);
        make_three(&m);
        with(&m, both_silently);
    }
    for (size_t n = 4000; n < 4200; n += 13) { /* across the border of what is searched first */
        asdf_make m = { 0 };
        make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
        char *pad = calloc(n, 1);
        make_bytes(&m, pad, n);
        free(pad);
        make_six(&m);
        make_three(&m);
        with(&m, both_silently);
    }
}

static void a_block_behind_a_mebibyte_of_padding_is_found(void **state)
{
    (void)state;
    for (size_t more = 0; more < 60; more += 7) {
        asdf_make m = { 0 };
        make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
        size_t n = (1 << 20) + 4096 - 3 - 30 + more;
        uint8_t *pad = calloc(n, 1);
        make_bytes(&m, pad, n);
        free(pad);
        make_six(&m);
        make_three(&m);
        with(&m, both_silently);
    }
}

static void gaps_between_blocks_are_passed_over(void **state)
{
    (void)state;
    static const char *const gaps[] = { "x", "\n# words\n",
                                        "\xd3"
                                        "BLK"
                                        "short" };
    for (size_t i = 0; i < 3; i++) {
        asdf_make m = { 0 };
        make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
        make_six(&m);
        make_text(&m, "\0");
        make_text(&m, "-");
        make_text(&m, gaps[i]);
        make_three(&m);
        with(&m, both_silently);
    }
}

static void blocks_behind_a_gap_that_may_hide_one_are_not_given_by_number(void **state)
{
    (void)state;
    static const struct {
        char fill;
        size_t n;
        const char *source; /* of the second array */
        cip_status st;
    } rows[] = {
        { 'x', 53, "1", CIP_OK },           { 'x', 54, "1", CIP_ERR_CORRUPT },
        { '\0', 54, "1", CIP_ERR_CORRUPT }, { 'x', 300, "-1", CIP_ERR_RANGE },
        { '\0', 300, "-1", CIP_ERR_RANGE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        char tree[300], gap[300];
        snprintf(tree, sizeof tree,
                 "a: " MAKE_INT32 "b: !core/ndarray-1.0.0 {source: %s, datatype: float64, "
                 "byteorder: little, shape: [4]}\n",
                 rows[i].source);
        if (rows[i].st != CIP_ERR_RANGE)
            tree[strlen(tree) - 4] = '3';
        make_tree(&m, tree);
        make_six(&m); /* the last of the contiguous run: it has 24 bytes, not the 32 of b */
        memset(gap, rows[i].fill, sizeof gap);
        make_bytes(&m, gap, rows[i].n);
        uint8_t big[32] = { 0 };
        if (rows[i].st == CIP_ERR_RANGE)
            make_raw(&m, big, sizeof big);
        else
            make_three(&m);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(f.layout->nblock, 2);
        assert_true(make_gives_six(&f, "a"));
        assert_int_equal(make_try(&f, "b"), rows[i].st);
        assert_int_equal(make_warned(&f, "the numbers of these blocks are unknown"), i != 0);
        one_close(&f);
        make_clear(&m);
    }
}

static void allocated_beyond_used_is_skipped(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
    size_t at = make_six(&m);
    make_text(&m, "unused");
    poke64(&m, at + ALLOCATED_AT, 30);
    make_three(&m);
    with(&m, both_silently);
}

static void larger_headers_are_honoured(void **state)
{
    (void)state;
    static const size_t more[] = { 1, 10, 4000, 65535 - 48 };
    for (size_t i = 0; i < 4; i++) {
        asdf_make m = { 0 }, b = { 0 };
        make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
        make_six(&b);
        cip_store_u16(b.ptr + SIZE_AT, (uint16_t)(48 + more[i]), true);
        make_bytes(&m, b.ptr, ASDF_HEADER_LEN);
        uint8_t *pad = calloc(more[i], 1);
        make_bytes(&m, pad, more[i]);
        free(pad);
        make_bytes(&m, b.ptr + ASDF_HEADER_LEN, b.len - ASDF_HEADER_LEN);
        make_clear(&b);
        make_three(&m);
        with(&m, both_silently);
    }
}

static void tails_of_nuls_are_fine_and_other_tails_are_named(void **state)
{
    (void)state;
    static const uint8_t nuls[5000] = { 0 };
    for (int junk = 0; junk < 2; junk++) {
        one_file f;
        asdf_make m = { 0 };
        size_t at[2];
        two_without_index(&m, at);
        size_t end = m.len;
        make_bytes(&m, nuls, sizeof nuls);
        if (junk)
            make_text(&m, "x");
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        both(&f);
        assert_int_equal(make_warned(&f, "found 5001 other bytes"), (size_t)junk);
        if (junk)
            assert_int_equal(cip_report_get(&f.env.warnings, 0)->offset, end);
        assert_int_equal(f.env.warnings.n, (size_t)junk);
        one_close(&f);
        make_clear(&m);
    }
}

/* Behind a tree without blocks any blanks are padding. */
static void what_follows_a_tree_without_blocks_is_named(void **state)
{
    (void)state;
    static const uint8_t nuls[5000] = { 0 };
    static const char *const tails[] = { "", " \r\n\t ", "junk", " \n.", "# comment\n" };
    for (size_t i = 0; i < 10; i++) {
        one_file f;
        asdf_make m = { 0 };
        const bool junk = i / 2 >= 2;
        make_tree(&m, "a: 1\n");
        size_t end = m.len;
        make_bytes(&m, nuls, i % 2 != 0 ? sizeof nuls : 0);
        make_text(&m, tails[i / 2]);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(make_warned(&f, "or the end of the file, found "), junk);
        if (junk)
            assert_int_equal(cip_report_get(&f.env.warnings, 0)->offset, end);
        assert_int_equal(f.env.warnings.n, junk);
        one_close(&f);
        make_clear(&m);
    }
}

/* A small number of them is part of what is taken for the index, which then does not parse. */
static void many_bytes_behind_an_index_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *index;
        size_t nnul;
        bool junk;
        size_t left; /* of the index, too, are no index */
    } rows[] = {
        { "#ASDF BLOCK INDEX\n--- [1]\n...\n", 0, true, 0 },
        { "#ASDF BLOCK INDEX\r\n--- [1]\r\n...\r\n", 9, true, 0 },
        { "#ASDF BLOCK INDEX\n--- [1]\n", 9, true, 0 },
        { "#ASDF BLOCK INDEX\n--- [1]\n...\n", (1 << 20) + 5000, false, 0 },
        { "#ASDF BLOCK INDEX\n--- [1]\n", (1 << 20) + 5000, false, 0 },
        { "#ASDF BLOCK INDEX of another kind", 0, true, 15 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        size_t at[2];
        two_without_index(&m, at);
        make_text(&m, rows[i].index);
        uint8_t *more = calloc(rows[i].nnul + 5000, 1);
        memset(more + rows[i].nnul, rows[i].junk ? 'x' : 0, 5000);
        const size_t end = m.len;
        make_bytes(&m, more, rows[i].nnul + 5000);
        free(more);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        both(&f);
        assert_int_equal(make_warned(&f, "expected the end of the file after the block index"),
                         rows[i].junk);
        assert_int_equal(f.env.warnings.n, rows[i].junk);
        if (rows[i].junk)
            assert_int_equal(cip_report_get(&f.env.warnings, 0)->offset,
                             end + rows[i].nnul - rows[i].left);
        one_close(&f);
        make_clear(&m);
    }
}

static void unknown_flags_and_wrong_data_sizes_are_warned_about(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    size_t at[2];
    two_without_index(&m, at);
    m.ptr[at[0] + FLAGS_AT] = 0x80;
    poke64(&m, at[1] + DATA_AT, 25);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    both(&f);
    assert_int_equal(make_warned(&f, "unknown flags 0x80000000"), 1);
    assert_int_equal(
        make_warned(&f, "expected a data_size of 24, equal to the used size, found 25"), 1);
    assert_int_equal(f.env.warnings.n, 2);
    one_close(&f);
    make_clear(&m);
}

static void a_lying_header_costs_its_own_block_only(void **state)
{
    (void)state;
    static const struct {
        size_t field;
        uint64_t value;
        cip_status st;
        const char *warning;
    } rows[] = {
        { USED_AT, 25, CIP_ERR_CORRUPT, "expected a used size within the allocated 24, found 25" },
        { USED_AT, UINT64_MAX, CIP_ERR_CORRUPT, "within the allocated 24" },
        { ALLOCATED_AT, 23, CIP_ERR_CORRUPT, "within the allocated 23, found 24" },
        { ALLOCATED_AT, 0, CIP_ERR_CORRUPT, "within the allocated 0" },
        { ALLOCATED_AT, UINT64_MAX, CIP_OK, "allocated bytes, the file ends before" },
        { ALLOCATED_AT, UINT64_MAX - 100, CIP_OK, "allocated bytes, the file ends before" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        size_t at[2];
        two_without_index(&m, at);
        poke64(&m, at[0] + rows[i].field, rows[i].value);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(make_try(&f, "a"), rows[i].st);
        assert_true(make_gives_three(&f, "b"));
        assert_int_equal(f.layout->nblock, 2);
        assert_int_equal(f.layout->block[0].info.state, rows[i].st);
        assert_int_equal(make_warned(&f, rows[i].warning), 1);
        one_close(&f);
        make_clear(&m);
    }
}

/* Neither padding before the block nor the lack of an index makes it worse. */
static void a_used_size_beyond_the_data_size_costs_its_own_block_only(void **state)
{
    (void)state;
    static const struct {
        uint64_t used, allocated, data_size;
        cip_status st; /* of the first array */
        const char *warning;
    } rows[] = {
        { 24, 24, 20, CIP_OK, "expected a data_size of 24, equal to the used size, found 20" },
        { 24, 24, 0, CIP_OK, "expected a data_size of 24, equal to the used size, found 0" },
        { 24, 24, UINT64_MAX, CIP_OK, "equal to the used size, found 18446744073709551615" },
        { 25, 24, 24, CIP_ERR_CORRUPT, "a used size within the allocated 24, found 25" },
        { 25, 25, 24, CIP_ERR_CORRUPT, "expected a used size of 24, equal to the data_size" },
        { 40, 40, 24, CIP_ERR_CORRUPT, "because another block or an index follows; found 40" },
        { 1000, 1000, 24, CIP_ERR_CORRUPT, "used size of 24, equal to the data_size" },
        { UINT64_MAX, UINT64_MAX, 24, CIP_ERR_CORRUPT, "found 18446744073709551615" },
    };
    static const char *const paddings[] = { "", "-",
                                            "some padding, longer than a header is: 12345" };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] * 3; i++) {
        one_file f;
        asdf_make m = { 0 };
        make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
        make_text(&m, paddings[i % 3]);
        size_t at = make_six(&m);
        make_three(&m);
        poke64(&m, at + USED_AT, rows[i / 3].used);
        poke64(&m, at + ALLOCATED_AT, rows[i / 3].allocated);
        poke64(&m, at + DATA_AT, rows[i / 3].data_size);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(f.layout->nblock, 2);
        assert_int_equal(make_try(&f, "a"), rows[i / 3].st);
        assert_true(make_gives_three(&f, "b"));
        assert_int_equal(make_warned(&f, rows[i / 3].warning), 1);
        assert_int_equal(f.env.warnings.n, 1);
        one_close(&f);
        make_clear(&m);
    }
}

/* The used size ends at a block, and so does the data_size: which of the two is number 1 is not
 * guessed. */
static void where_both_sizes_end_at_a_block_no_number_is_told(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
    size_t at = make_six(&m), next = make_three(&m);
    size_t len = m.len - at - ASDF_HEADER_LEN;
    make_three(&m);
    assert_true(next > at);
    poke64(&m, at + USED_AT, len);
    poke64(&m, at + ALLOCATED_AT, len);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
    assert_int_equal(make_try(&f, "b"), CIP_ERR_CORRUPT);
    assert_int_equal(make_warned(&f, "the numbers of these blocks are unknown"), 1);
    one_close(&f);
    make_clear(&m);
}

static void a_header_size_below_48_costs_its_own_block_only(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    size_t at[2];
    two_without_index(&m, at);
    cip_store_u16(m.ptr + at[0] + SIZE_AT, 47, true);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
    assert_non_null(strstr(f.err.text, "expected a header_size of at least 48, found 47"));
    assert_string_equal(f.err.part, "block 0");
    assert_true(make_gives_three(&f, "b"));
    one_close(&f);
    make_clear(&m);
}

/* What follows the block would make another header of the same bytes. */
static void over_a_block_whose_place_is_in_doubt_nothing_is_written(void **state)
{
    (void)state;
    static const uint8_t none[ASDF_CHECKSUM_LEN];
    one_file f;
    asdf_make m = { 0 };
    make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
    size_t at = make_six(&m);
    memcpy(m.ptr + at + 38, none, sizeof none);
    cip_store_u16(m.ptr + at + SIZE_AT, 50, true);
    make_bytes(&m, "12345", 5);
    make_three(&m);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
    assert_non_null(strstr(f.err.text, "no checksum to find its payload"));
    assert_true(make_gives_three(&f, "b"));
    assert_int_equal(cip_asdf_check_numbers(cip_asdf_of(f.layout), &f.err), CIP_ERR_CORRUPT);
    assert_non_null(strstr(f.err.text, "a file with a damaged"));
    one_close(&f);
    make_clear(&m);
}

static void a_block_that_the_file_cuts_off_is_truncated(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[2];
    two_without_index(&m, at);
    size_t whole = m.len;
    for (m.len = at[1] + 4; m.len < whole; m.len++) {
        one_file f;
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_true(make_gives_six(&f, "a"));
        assert_int_equal(make_try(&f, "b"), CIP_ERR_TRUNCATED);
        assert_int_equal(f.layout->nblock, 2);
        assert_true(f.env.warnings.n >= 1);
        uint64_t stored = m.len > at[1] + 54 ? m.len - at[1] - 54 : 0;
        assert_int_equal(f.layout->block[1].info.stored_nbytes, stored);
        one_close(&f);
    }
    for (m.len = at[1]; m.len < at[1] + 4; m.len++) { /* not even its magic */
        one_file f;
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_true(make_gives_six(&f, "a"));
        assert_int_equal(make_try(&f, "b"), CIP_ERR_NOT_FOUND);
        assert_non_null(strstr(f.err.text, "expected block 1 of the file, found 1 block"));
        assert_int_equal(make_warned(&f, f.err.text), 1);
        one_close(&f);
    }
    make_clear(&m);
}

static void a_streamed_block_takes_all_that_follows(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    size_t at[2];
    two_without_index(&m, at);
    m.ptr[at[0] + FLAGS_AT + 3] = ASDF_STREAMED;
    poke64(&m, at[0] + USED_AT, 1);
    poke64(&m, at[0] + ALLOCATED_AT, 0);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(f.layout->nblock, 1);
    assert_true(make_gives_six(&f, "a"));
    assert_string_equal(cip_storage_text(&make_find(&f, "a")->storage), "streamed");
    assert_int_equal(f.layout->block[0].info.decoded_nbytes, m.len - at[0] - 54);
    assert_int_equal(f.layout->block[0].info.allocated_nbytes, m.len - at[0] - 54);
    assert_string_equal(f.layout->block[0].info.checksum, "");
    assert_int_equal(make_try(&f, "b"), CIP_ERR_NOT_FOUND);
    one_close(&f);
    make_clear(&m);
}

/* A file that goes on as junk, or as magics, for a tebibyte. */
typedef struct endless {
    const asdf_make *m;
    const char *fill;
    uint64_t nread;
} endless;

static cip_status endless_read(void *user, const cip_range *r, size_t n, cip_err *err)
{
    endless *e = user;
    size_t len = strlen(e->fill);
    (void)err;
    for (size_t i = 0; i < n; i++) {
        uint8_t *dst = r[i].dst;
        uint64_t k = 0, at = r[i].offset;
        for (; k < r[i].nbytes && at < e->m->len; k++)
            dst[k] = e->m->ptr[at++];
        const uint64_t start = k;
        for (; k < r[i].nbytes && k < start + len; k++)
            dst[k] = (uint8_t)e->fill[at++ % len];
        while (k < r[i].nbytes) { /* whole patterns, twice as many each time */
            uint64_t more = (k - start) / len * len;
            more = more < r[i].nbytes - k ? more : r[i].nbytes - k;
            memcpy(dst + k, dst + start, more);
            k += more;
        }
        e->nread += r[i].nbytes;
    }
    return CIP_OK;
}

static cip_status endless_size(void *user, uint64_t *nbytes, cip_err *err)
{
    (void)user;
    (void)err;
    *nbytes = UINT64_C(1) << 40;
    return CIP_OK;
}

static void the_search_for_a_block_has_an_end(void **state)
{
    (void)state;
    static const char *const fills[] = { "x", ASDF_MAGIC };
    for (size_t i = 0; i < 2; i++) {
        one_file f = { 0 };
        asdf_make m = { 0 };
        size_t at[2];
        two_without_index(&m, at);
        make_text(&m, "junk");
        endless e = { &m, fills[i], 0 };
        const cip_io_methods methods = { CIP_IO_METHODS_INIT, .read_ranges = endless_read,
                                         .size = endless_size };
        assert_int_equal(cip_env_init(&f.env, NULL, NULL, NULL, NULL), CIP_OK);
        assert_int_equal(cip_io_open_user(&f.env, &methods, &e, &f.io, NULL), CIP_OK);
        assert_int_equal(cip_layout_new(&f.env, f.io, &f.layout, NULL), CIP_OK);
        assert_int_equal(cip_format_asdf.open(f.layout, &f.err), CIP_OK);
        both(&f);
        assert_in_range(e.nread, 1 << 20, ASDF_SEARCH_MAX + (4 << 20));
        assert_int_equal(make_warned(&f, "searched 256 MiB for the next block"), 1);
        one_close(&f);
        make_clear(&m);
    }
}

static void blocks_show_their_headers(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    size_t at[2];
    two_without_index(&m, at);
    memset(m.ptr + at[1] + 38, 0, 16);
    memcpy(m.ptr + at[1] + CODE_AT, "\xff\0 \\", 4);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    const cip_block_info *b = &f.layout->block[0].info;
    assert_int_equal(b->offset, at[0]);
    assert_int_equal(b->header_nbytes, 54);
    assert_int_equal(b->data_offset, at[0] + 54);
    assert_int_equal(b->allocated_nbytes, 24);
    assert_int_equal(b->stored_nbytes, 24);
    assert_int_equal(b->decoded_nbytes, 24);
    assert_string_equal(b->codec, "none");
    assert_string_equal(b->checksum, "md5");
    assert_memory_equal(b->checksum_value, m.ptr + at[0] + 38, 16);
    assert_int_equal(f.layout->block[0].sum_id, CIP_SUM_MD5);
    b = &f.layout->block[1].info;
    assert_string_equal(b->codec, "\\xff\\x00\\x20\\x5c");
    assert_string_equal(b->checksum, "");
    assert_int_equal(f.layout->block[1].sum_id, CIP_SUM_NONE);
    assert_int_equal(b->state, CIP_ERR_UNSUPPORTED);
    assert_int_equal(make_try(&f, "b"), CIP_ERR_UNSUPPORTED);
    assert_true(make_gives_six(&f, "a"));
    one_close(&f);
    make_clear(&m);
}

static void more_blocks_than_the_limit_are_refused(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[2];
    two_without_index(&m, at);
    for (uint64_t max = 1; max <= 2; max++) {
        one_file f;
        const cip_limits limits = { .size = sizeof limits, .max_blocks = max };
        cip_status st = one_open_limited(&f, &cip_format_asdf, m.ptr, m.len, 0, NULL, &limits);
        assert_int_equal(st, max == 1 ? CIP_ERR_LIMIT : CIP_OK);
        one_close(&f);
    }
    make_clear(&m);
}

static void many_small_blocks_are_walked(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_tree(
        &m,
        "a: !core/ndarray-1.0.0 {source: 2999, datatype: uint8, byteorder: little, shape: [1]}\n");
    for (int i = 0; i < 3000; i++)
        make_raw(&m, "x", i == 2999);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(f.layout->nblock, 3000);
    assert_true(make_gives(&f, "a", "x", 1));
    one_close(&f);
    make_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_fields_are_where_the_document_says),
        cmocka_unit_test(headers_are_judged_by_the_file_they_are_in),
        cmocka_unit_test(used_beyond_allocated_is_corrupt_and_ends_where_allocated_does),
        cmocka_unit_test(streamed_blocks_ignore_their_sizes),
        cmocka_unit_test(implausible_headers_are_told_from_plausible_ones),
        cmocka_unit_test(blocks_are_found_without_an_index),
        cmocka_unit_test(padding_of_any_bytes_may_follow_the_tree),
        cmocka_unit_test(a_block_behind_a_mebibyte_of_padding_is_found),
        cmocka_unit_test(gaps_between_blocks_are_passed_over),
        cmocka_unit_test(blocks_behind_a_gap_that_may_hide_one_are_not_given_by_number),
        cmocka_unit_test(allocated_beyond_used_is_skipped),
        cmocka_unit_test(larger_headers_are_honoured),
        cmocka_unit_test(tails_of_nuls_are_fine_and_other_tails_are_named),
        cmocka_unit_test(what_follows_a_tree_without_blocks_is_named),
        cmocka_unit_test(many_bytes_behind_an_index_are_named),
        cmocka_unit_test(unknown_flags_and_wrong_data_sizes_are_warned_about),
        cmocka_unit_test(a_lying_header_costs_its_own_block_only),
        cmocka_unit_test(a_used_size_beyond_the_data_size_costs_its_own_block_only),
        cmocka_unit_test(where_both_sizes_end_at_a_block_no_number_is_told),
        cmocka_unit_test(a_header_size_below_48_costs_its_own_block_only),
        cmocka_unit_test(over_a_block_whose_place_is_in_doubt_nothing_is_written),
        cmocka_unit_test(a_block_that_the_file_cuts_off_is_truncated),
        cmocka_unit_test(a_streamed_block_takes_all_that_follows),
        cmocka_unit_test(the_search_for_a_block_has_an_end),
        cmocka_unit_test(blocks_show_their_headers),
        cmocka_unit_test(more_blocks_than_the_limit_are_refused),
        cmocka_unit_test(many_small_blocks_are_walked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
