/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/asdf/asdf_testing.h"

static const asdf_index *index_of(const one_file *f)
{
    return &cip_asdf_of(f->layout)->index;
}

/* Two blocks, then `tail`; %0 and %1 in it are where the blocks are, %2 one behind block 0. */
static cip_status open_with(one_file *f, const char *tail)
{
    asdf_make m = { 0 };
    char number[24];
    make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
    size_t at[3] = { make_six(&m), make_three(&m), 0 };
    at[2] = at[0] + 1;
    for (const char *s = tail; *s != '\0'; s++) {
        if (*s == '%' && s[1] >= '0' && s[1] <= '2') {
            snprintf(number, sizeof number, "%zu", at[*++s - '0']);
            make_text(&m, number);
        } else {
            make_bytes(&m, s, 1);
        }
    }
    cip_status st = make_open(f, &m, 0);
    make_clear(&m);
    return st;
}

#define LINE "#ASDF BLOCK INDEX\n"

static void good_indices_are_used(void **state)
{
    (void)state;
    static const char *const tails[] = {
        LINE "%YAML 1.1\n---\n- %0\n- %1\n...\n",
        LINE "%YAML 1.1\n--- [%0, %1]\n...\n",
        LINE "--- [%0,\n  %1]\n...",
        LINE "%YAML 1.1\n---\n- %0\n- %1\n",
        "#ASDF BLOCK INDEX\r\n%YAML 1.1\r\n---\r\n- %0\r\n- %1\r\n...\r\n",
    };
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        one_file f;
        assert_int_equal(open_with(&f, tails[i]), CIP_OK);
        assert_int_equal(index_of(&f)->state, ASDF_INDEX_GOOD);
        assert_int_equal(f.layout->nblock, 2);
        assert_true(make_gives_six(&f, "a"));
        assert_true(make_gives_three(&f, "b"));
        assert_int_equal(f.env.warnings.n, 0);
        one_close(&f);
    }
}

static void padding_before_the_first_block_does_not_matter(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
    make_text(&m, "padding");
    size_t at[2] = { make_six(&m), make_three(&m) };
    make_index(&m, at, 2);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(index_of(&f)->state, ASDF_INDEX_GOOD);
    assert_true(make_gives_three(&f, "b"));
    one_close(&f);
    make_clear(&m);
}

static void nuls_behind_the_index_are_fine(void **state)
{
    (void)state;
    static const size_t counts[] = { 1, 4095, 4096, 4097, 70000, 2 << 20 };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        one_file f;
        asdf_make m = { 0 };
        size_t at[3];
        make_two(&m, at);
        uint8_t *nuls = calloc(counts[i], 1);
        make_bytes(&m, nuls, counts[i]);
        free(nuls);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(index_of(&f)->state,
                         counts[i] < 1 << 20 ? ASDF_INDEX_GOOD : ASDF_INDEX_NONE);
        assert_true(make_gives_three(&f, "b"));
        assert_int_equal(f.env.warnings.n, 0);
        one_close(&f);
        make_clear(&m);
    }
}

static void nuls_alone_behind_the_tree_are_no_index(void **state)
{
    (void)state;
    static const uint8_t nuls[3000];
    for (size_t n = 1; n <= sizeof nuls; n = 2 * n + 1) {
        one_file f;
        asdf_make m = { 0 };
        make_tree(&m, "a: 1\n");
        make_bytes(&m, nuls, n);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(index_of(&f)->state, ASDF_INDEX_NONE);
        assert_int_equal(f.layout->nblock, 0);
        one_close(&f);
        make_clear(&m);
    }
}

static void wrong_indices_are_ignored_without_a_word(void **state)
{
    (void)state;
    static const struct {
        const char *tail, *why;
    } rows[] = {
        { LINE "--- [%2, %1]\n...\n", "the start of the first block" },
        { LINE "--- [%0]\n...\n", "expected block 0 to end at" },
        { LINE "--- [%0, %1, 99999]\n...\n", "to be before the index" },
        { LINE "--- [%1, %0]\n...\n", "the start of the first block" },
        { LINE "--- [%0, %0]\n...\n", "expected entry 1 to be at least 54 after" },
        { LINE "--- [%0, %2]\n...\n", "expected entry 1 to be at least 54 after" },
        { LINE "--- []\n...\n", "expected at least one entry" },
        { LINE "--- {a: 1}\n...\n", "expected a list of offsets" },
        { LINE "--- [%0, x]\n...\n", "expected an offset as entry 1" },
        { LINE "--- [%0, -5]\n...\n", "expected an offset as entry 1" },
        { LINE "--- [%0, 1.5]\n...\n", "expected an offset as entry 1" },
        { LINE "--- [%0, 18446744073709551999]\n...\n", "expected an offset as entry 1" },
        { LINE "--- [[[[\n", "text that cannot be parsed" },
        { LINE "--- [%0, %1]\n...\njunk", "text that cannot be parsed" },
        { "x" LINE "--- [%0, %1]\n...\n", "expected block 1 to end at" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        assert_int_equal(open_with(&f, rows[i].tail), CIP_OK);
        assert_int_equal(index_of(&f)->state, ASDF_INDEX_BAD);
        assert_non_null(strstr(index_of(&f)->why, rows[i].why));
        assert_true(make_gives_six(&f, "a"));
        assert_true(make_gives_three(&f, "b"));
        assert_int_equal(f.layout->nblock, 2);
        assert_int_equal(f.env.warnings.n, 0);
        one_close(&f);
    }
}

static void text_that_only_looks_like_an_index_is_none(void **state)
{
    (void)state;
    static const char *const tails[] = { "", "#ASDF BLOCK IND", "#ASDF BLOCK INDEX",
                                         "#ASDF BLOCK INDEX\r" };
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        one_file f;
        assert_int_equal(open_with(&f, tails[i]), CIP_OK);
        assert_int_equal(index_of(&f)->state, ASDF_INDEX_NONE);
        assert_int_equal(f.layout->nblock, 2);
        assert_int_equal(f.env.warnings.n, 0);
        one_close(&f);
    }
    one_file f;
    assert_int_equal(open_with(&f, "#ASDF BLOCK INDEXES\n[1]"), CIP_OK);
    assert_int_equal(index_of(&f)->state, ASDF_INDEX_NONE);
    one_close(&f);
}

static void an_index_in_the_data_is_data(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    static const char text[] = LINE "--- [5]\n...\n";
    make_tree(
        &m,
        "a: !core/ndarray-1.0.0 {source: -1, datatype: uint8, byteorder: little, shape: ['*']}\n");
    make_raw(&m, text, sizeof text - 1);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(index_of(&f)->state, ASDF_INDEX_NONE);
    assert_null(index_of(&f)->entry);
    assert_true(make_gives(&f, "a", text, sizeof text - 1));
    one_close(&f);
    make_clear(&m);
}

static void an_index_that_leaves_a_block_out_is_ignored(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_tree(
        &m, "a: !core/ndarray-1.0.0 {source: 1, datatype: int32, byteorder: little, shape: [6]}\n");
    size_t at[3] = { make_three(&m), make_six(&m), make_three(&m) };
    size_t listed[2] = { at[0], at[2] };
    make_index(&m, listed, 2);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(f.layout->nblock, 3);
    assert_true(make_gives_six(&f, "a"));
    assert_non_null(strstr(index_of(&f)->why, "to be listed"));
    one_close(&f);
    make_clear(&m);
}

static void entries_that_point_at_no_block_are_found_when_opening(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    uint8_t big[200] = { 0 };
    make_tree(
        &m, "b: !core/ndarray-1.0.0 {source: 1, datatype: int32, byteorder: little, shape: [6]}\n");
    size_t at[3] = { make_raw(&m, big, sizeof big), 0, 0 };
    at[1] = make_six(&m);
    at[2] = make_three(&m);
    size_t listed[3] = { at[0], at[0] + 60, at[2] };
    make_index(&m, listed, 3);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(index_of(&f)->state, ASDF_INDEX_BAD);
    assert_true(make_gives_six(&f, "b"));
    assert_int_equal(f.layout->nblock, 3);
    one_close(&f);
    make_clear(&m);
}

static void unused_bytes_between_listed_blocks_are_fine(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
    size_t at[2] = { make_six(&m), 0 };
    make_text(&m, "gap");
    at[1] = make_three(&m);
    make_index(&m, at, 2);
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(index_of(&f)->state, ASDF_INDEX_GOOD);
    assert_true(make_gives_three(&f, "b"));
    one_close(&f);
    make_clear(&m);
}

static void the_index_finds_what_follows_a_lying_header(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[3];
    make_two(&m, at);
    cip_store_u64(m.ptr + at[0] + 22, 1000, true); /* used */
    one_file f;
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(index_of(&f)->state, ASDF_INDEX_GOOD);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
    assert_true(make_gives_three(&f, "b"));
    one_close(&f);
    cip_store_u64(m.ptr + at[1] + 22, 1000, true); /* the last one too */
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(index_of(&f)->state, ASDF_INDEX_GOOD);
    assert_int_equal(make_try(&f, "b"), CIP_ERR_CORRUPT);
    one_close(&f);
    make_clear(&m);
}

static void a_streamed_block_has_no_index(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[3];
    make_two(&m, at);
    memset(m.ptr + at[1] + 6, 0, 48);
    m.ptr[at[1] + 9] = ASDF_STREAMED;
    one_file f;
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(index_of(&f)->state, ASDF_INDEX_NONE);
    assert_int_equal(f.layout->block[1].info.stored_nbytes, m.len - at[1] - 54);
    one_close(&f);
    make_clear(&m);
}

static void a_streamed_flag_on_a_block_whose_sizes_fit_the_index_is_damage(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        asdf_make m = { 0 };
        size_t at[3];
        make_two(&m, at);
        m.ptr[at[i] + 9] = ASDF_STREAMED;
        one_file f;
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(index_of(&f)->state, ASDF_INDEX_GOOD);
        assert_int_equal(f.layout->nblock, 2);
        assert_int_equal(make_try(&f, i == 0 ? "a" : "b"), CIP_ERR_CORRUPT);
        assert_non_null(strstr(f.err.text, "expected no streamed flag"));
        assert_true(i == 0 ? make_gives_three(&f, "b") : make_gives_six(&f, "a"));
        one_close(&f);
        make_clear(&m);
    }
}

/* Offsets of n blocks of `each` bytes, the arrays a (the last) and b (the first), and an index. */
static void make_many(asdf_make *m, size_t n, size_t each, size_t *at)
{
    char tree[256];
    uint8_t *data = calloc(each, 1);
    snprintf(
        tree, sizeof tree,
        "a: !core/ndarray-1.0.0 {source: %zu, datatype: uint8, byteorder: little, shape: [1]}\n",
        n - 1);
    make_tree(m, tree);
    for (size_t i = 0; i < n; i++) {
        data[0] = (uint8_t)i;
        at[i] = make_raw(m, data, each);
    }
    free(data);
    make_index(m, at, n);
}

static void long_indices_are_found_and_checked_in_batches(void **state)
{
    (void)state;
    static size_t at[2500];
    for (size_t each = 1; each < 6000; each += 5000) { /* near each other, then far apart */
        one_file f;
        asdf_make m = { 0 };
        size_t n = each == 1 ? 2500 : 1030;
        make_many(&m, n, each, at);
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(index_of(&f)->state, ASDF_INDEX_GOOD);
        assert_int_equal(f.layout->nblock, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(f.layout->block[i].info.offset, at[i]);
        uint8_t last = (uint8_t)(n - 1);
        assert_true(make_gives(&f, "a", &last, 1));
        one_close(&f);
        m.ptr[at[n - 2]] ^= 1; /* in the second batch */
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(index_of(&f)->state, ASDF_INDEX_GOOD);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(f.layout->block[i].info.state, i == n - 2 ? CIP_ERR_CORRUPT : CIP_OK);
        assert_true(make_gives(&f, "a", &last, 1));
        one_close(&f);
        make_clear(&m);
    }
}

static void an_index_too_long_for_the_limits_is_walked_around(void **state)
{
    (void)state;
    static size_t at[1000];
    one_file f;
    asdf_make m = { 0 };
    make_many(&m, 1000, 1, at);
    const cip_limits limits = { .size = sizeof limits, .max_nodes = 500 };
    assert_int_equal(one_open_limited(&f, &cip_format_asdf, m.ptr, m.len, 0, NULL, &limits),
                     CIP_OK);
    assert_int_equal(index_of(&f)->state, ASDF_INDEX_BAD);
    assert_int_equal(f.layout->nblock, 1000);
    one_close(&f);
    make_clear(&m);
}

static void a_block_without_its_magic_keeps_its_number_by_the_index(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    make_tree(&m,
              "a: " MAKE_INT32 "b: " MAKE_FLOAT64
              "c: !core/ndarray-1.0.0 {source: 2, datatype: int32, byteorder: little, shape: [6]}\n"
              "d: !core/ndarray-1.0.0 {source: -2, datatype: float64, byteorder: little, shape: "
              "[3]}\n");
    size_t at[3] = { make_six(&m), make_three(&m), make_six(&m) };
    make_index(&m, at, 3);
    for (size_t i = 0; i < 3; i++) {
        one_file f;
        m.ptr[at[i]] = 'X';
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        assert_int_equal(f.layout->nblock, 3);
        assert_int_equal(make_try(&f, "a"), i == 0 ? CIP_ERR_CORRUPT : CIP_OK);
        assert_int_equal(make_try(&f, "b"), i == 1 ? CIP_ERR_CORRUPT : CIP_OK);
        assert_int_equal(make_try(&f, "c"), i == 2 ? CIP_ERR_CORRUPT : CIP_OK);
        assert_true(i == 1 || (make_gives_three(&f, "b") && make_gives_three(&f, "d")));
        assert_true(i == 2 || make_gives_six(&f, "c"));
        assert_int_equal(
            make_warned(&f, "expected the magic bytes of a block where the index lists one"), 1);
        assert_int_equal(cip_asdf_check_numbers(cip_asdf_of(f.layout), &f.err), CIP_ERR_CORRUPT);
        assert_non_null(strstr(f.err.text, "a file with a damaged"));
        one_close(&f);
        m.ptr[at[i]] = 0xd3;
    }
    make_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_indices_are_used),
        cmocka_unit_test(padding_before_the_first_block_does_not_matter),
        cmocka_unit_test(nuls_behind_the_index_are_fine),
        cmocka_unit_test(nuls_alone_behind_the_tree_are_no_index),
        cmocka_unit_test(wrong_indices_are_ignored_without_a_word),
        cmocka_unit_test(text_that_only_looks_like_an_index_is_none),
        cmocka_unit_test(an_index_in_the_data_is_data),
        cmocka_unit_test(an_index_that_leaves_a_block_out_is_ignored),
        cmocka_unit_test(entries_that_point_at_no_block_are_found_when_opening),
        cmocka_unit_test(unused_bytes_between_listed_blocks_are_fine),
        cmocka_unit_test(the_index_finds_what_follows_a_lying_header),
        cmocka_unit_test(a_streamed_block_has_no_index),
        cmocka_unit_test(a_streamed_flag_on_a_block_whose_sizes_fit_the_index_is_damage),
        cmocka_unit_test(long_indices_are_found_and_checked_in_batches),
        cmocka_unit_test(an_index_too_long_for_the_limits_is_walked_around),
        cmocka_unit_test(a_block_without_its_magic_keeps_its_number_by_the_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
