/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/pool.h"
#include "support/format/asdf/asdf_testing.h"

/* What verify found, one line each: "BAD checksum error block 0: ..." */
typedef struct findings {
    char text[4096];
    size_t n, nfixable;
    int stop_at;
} findings;

static int on_finding(void *user, const cip_finding *f)
{
    static const char *const names[] = { "NOTE", "WARN", "BAD", "FATAL" };
    findings *x = user;
    size_t at = strlen(x->text);
    snprintf(x->text + at, sizeof x->text - at, "%s %s %s: %s\n", names[f->severity],
             cip_status_name(f->code), f->part, f->text);
    x->nfixable += f->fixable;
    return (int)++x->n == x->stop_at;
}

static cip_status verify(one_file *f, bool deep, findings *x)
{
    cip_report rep;
    int stop_at = x->stop_at;
    memset(x, 0, sizeof *x);
    x->stop_at = stop_at;
    cip_report_init(&rep, &f->env.mem, false, on_finding, x);
    cip_status st = cip_format_asdf.verify(f->layout, deep, &rep, &f->err);
    cip_report_clear(&rep);
    return st;
}

/* Opens and verifies; `want` are all the lines' starts, joined. */
static void assert_findings(const asdf_make *m, bool deep, size_t n, size_t nfixable,
                            const char *first)
{
    one_file f;
    findings x = { .n = 0 };
    assert_int_equal(make_open(&f, m, 0), CIP_OK);
    assert_int_equal(verify(&f, deep, &x), CIP_OK);
    if (x.n != n || x.nfixable != nfixable || strncmp(x.text, first, strlen(first)) != 0)
        print_error("%s", x.text);
    assert_int_equal(x.n, n);
    assert_int_equal(x.nfixable, nfixable);
    assert_int_equal(strncmp(x.text, first, strlen(first)), 0);
    one_close(&f);
}

static void sound_files_have_no_findings(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[3];
    make_two(&m, at);
    assert_findings(&m, false, 0, 0, "");
    assert_findings(&m, true, 0, 0, "");
    m.len = at[2]; /* no index is fine */
    assert_findings(&m, false, 0, 0, "");
    make_clear(&m);
    make_text(&m, "#ASDF 1.0.0\n");
    assert_findings(&m, true, 0, 0, "");
    make_clear(&m);
}

static void wrong_checksums_are_bad(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[3];
    make_two(&m, at);
    m.ptr[at[1] + 54 + 23] ^= 1; /* the last byte of the data */
    assert_findings(&m, false, 1, 0, "BAD checksum error block 1: MD5 mismatch in block 1 (");
    m.ptr[at[1] + 54 + 23] ^= 1;
    m.ptr[at[0] + 38 + 15] ^= 1; /* the last byte of the checksum */
    assert_findings(&m, false, 1, 0, "BAD checksum error block 0");
    memset(m.ptr + at[0] + 38, 0, 16); /* none stored */
    assert_findings(&m, false, 0, 0, "");
    m.ptr[at[0] + 38 + 15] = 1;
    assert_findings(&m, false, 1, 0, "BAD checksum error block 0");
    make_clear(&m);
}

static size_t zlib_block(asdf_make *m, const void *p, size_t n)
{
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    const cip_codec_env env = { .mem = &mem };
    const cip_codec *c = cip_codec_find("zlib");
    uint8_t buf[200];
    cip_dst to = { buf, sizeof buf, 0 };
    assert_true(c->bound(n) <= sizeof buf);
    assert_int_equal(c->encode(NULL, &env, 0, (cip_bytes){ p, n }, &to, NULL), CIP_OK);
    return make_block(m, "zlib", buf, to.len, n);
}

static void checksums_of_decoded_bytes_are_noted_as_legacy(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    uint8_t data[24] = { 1, 2, 3 };
    make_tree(&m, "a: " MAKE_INT32);
    size_t at = zlib_block(&m, data, sizeof data);
    assert_findings(&m, true, 0, 0, "");
    make_md5(data, sizeof data, m.ptr + at + 38);
    assert_findings(&m, false, 1, 1, "NOTE ok block 0: the checksum is of the decoded bytes");
    m.ptr[at + 38] ^= 1;
    assert_findings(&m, false, 1, 0, "BAD checksum error block 0");
    make_clear(&m);
}

static void payloads_that_do_not_decode_are_bad_when_deep(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    uint8_t data[24] = { 1, 2, 3 };
    make_tree(&m, "a: " MAKE_INT32);
    size_t at = zlib_block(&m, data, sizeof data);
    size_t end = m.len;
    m.ptr[end - 1] ^= 1; /* its own Adler-32 */
    make_md5(m.ptr + at + 54, end - at - 54, m.ptr + at + 38);
    assert_findings(&m, false, 0, 0, "");
    assert_findings(&m, true, 1, 0, "BAD checksum error block 0: ");
    m.ptr[at + 38] ^= 1; /* and the MD5: the payload is decoded to see whether it is a legacy one */
    assert_findings(&m, false, 2, 0, "BAD checksum error block 0: ");
    make_clear(&m);
}

static void wrong_sizes_and_truncation_are_bad(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[3];
    make_two(&m, at);
    m.ptr[at[0] + 37] = 23;
    assert_findings(&m, false, 1, 1,
                    "BAD corrupt block 0: expected a data_size of 24 like the used size, found 23");
    m.ptr[at[0] + 37] = 24;
    m.len = at[2] - 1;
    assert_findings(&m, true, 1, 0, "BAD truncated block 1: expected 24 bytes");
    m.ptr[at[0] + 29] = 25;
    assert_findings(&m, false, 2, 0, "BAD corrupt block 0: expected a used size within");
    make_clear(&m);
    make_tree(&m, "a: " MAKE_INT32);
    make_block(&m, "quux", "12345678", 8, 24);
    assert_findings(&m, true, 1, 0, "WARN unsupported block 0: expected a known compression");
    m.ptr[m.len - 1] ^= 1;
    assert_findings(&m, false, 2, 0, "WARN unsupported block 0");
    make_clear(&m);
}

static void stale_indices_and_gaps_are_told(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[3];
    make_two(&m, at);
    char *entry = strstr((char *)m.ptr + at[2], "- ");
    entry[2]++;
    assert_findings(&m, false, 1, 1, "WARN corrupt block index: the index is wrong or out of date");
    make_clear(&m);
    make_tree(&m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
    size_t gap[2] = { make_six(&m), 0 };
    make_text(&m, "xyz");
    gap[1] = make_three(&m);
    make_index(&m, gap, 2);
    assert_findings(&m, false, 1, 0, "NOTE ok blocks: 3 unused bytes between two blocks");
    make_clear(&m);
}

static void an_index_that_skips_what_the_walk_finds_is_told(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    make_tree(&m, "a: " MAKE_INT32);
    size_t at[3] = { make_six(&m), 0, 0 };
    make_text(&m, "-"); /* so that the index may pass over what follows */
    at[1] = make_three(&m);
    at[2] = make_six(&m);
    size_t listed[2] = { at[0], at[2] };
    make_index(&m, listed, 2);
    assert_findings(&m, false, 2, 1, "NOTE ok blocks: 1 unused bytes");
    one_file f;
    findings x = { .n = 0 };
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(verify(&f, 0, &x), CIP_OK);
    assert_non_null(strstr(x.text, "expected the 2 blocks that the index lists, found 3"));
    one_close(&f);
    make_clear(&m);
}

static void scalars_that_contradict_themselves_are_warned_about(void **state)
{
    (void)state;
    static const struct {
        const char *tree;
        size_t n;
        const char *text;
    } rows[] = {
        { "i: !core/integer-1.0.0 {words: !core/ndarray-1.0.0 [5, 1], sign: '+', string: "
          "'4294967301'}\n",
          0, "" },
        { "i: !core/integer-1.0.0 {words: !core/ndarray-1.0.0 [5, 1], sign: '-', string: "
          "'-4294967301'}\n",
          0, "" },
        { "i: !core/integer-1.0.0 {words: !core/ndarray-1.0.0 [5], sign: '+', string: '+5'}\n", 0,
          "" },
        { "i: !core/integer-1.0.0 {words: !core/ndarray-1.0.0 [5], string: '5'}\n", 0, "" },
        { "i: !core/integer-1.0.0 {words: !core/ndarray-1.0.0 [5]}\n", 0, "" },
        { "i: !core/integer-1.0.0 {words: [5], string: '6'}\n", 0, "" },
        { "i: {words: !core/ndarray-1.0.0 [5], string: '6'}\n", 0, "" },
        { "i: !core/integer-1.0.0 {words: !core/ndarray-1.0.0 [[5]], string: '6'}\n", 0, "" },
        { "i: !core/integer-1.0.0 {words: !core/ndarray-1.0.0 [5], string: '6'}\n", 1,
          "WARN corrupt i: the words of a core/integer differ from its string" },
        { "i: !core/integer-1.0.0 {words: !core/ndarray-1.0.0 [5], sign: '-', string: '5'}\n", 1,
          "WARN corrupt i" },
        { "i: &i !core/integer-1.0.0 {words: !core/ndarray-1.0.0 [5], string: '55'}\nj: *i\n", 1,
          "WARN corrupt i" },
        { "c: !core/complex-1.0.0 1+2j\n", 0, "" },
        { "c: [!core/complex-1.0.0 x]\n", 1,
          "WARN corrupt c/0: expected a complex number, found 'x'" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        asdf_make m = { 0 };
        make_tree(&m, rows[i].tree);
        assert_findings(&m, false, rows[i].n, 0, rows[i].text);
        make_clear(&m);
    }
}

static void a_tree_of_aliases_is_looked_at_once(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    char line[200];
    make_text(&m, MAKE_LINES MAKE_YAML "a0: &a0 [!core/complex-1.0.0 x]\n");
    for (int i = 1; i < 12; i++) {
        int k = i - 1;
        snprintf(line, sizeof line, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n",
                 i, i, k, k, k, k, k, k, k, k);
        make_text(&m, line);
    }
    make_text(&m, "...\n");
    assert_findings(&m, false, 1, 0, "WARN corrupt a0/0");
    make_clear(&m);
}

static void a_callback_can_stop_it(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    size_t at[3];
    make_two(&m, at);
    m.ptr[at[0] + 38] ^= 1;
    m.ptr[at[1] + 38] ^= 1;
    findings x = { .stop_at = 1 };
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_int_equal(verify(&f, 0, &x), CIP_ERR_CANCELLED);
    assert_int_equal(x.n, 1);
    one_close(&f);
    make_clear(&m);
}

static void threads_do_not_change_what_is_found(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    make_tree(&m, "a: " MAKE_INT32);
    for (int i = 0; i < 40; i++) {
        size_t at = make_six(&m);
        if (i % 3 == 0)
            m.ptr[at + 60] ^= 1;
    }
    findings alone = { .n = 0 }, many = { .n = 0 };
    for (int k = 0; k < 2; k++) {
        one_file f;
        cip_pool *pool = NULL;
        assert_int_equal(make_open(&f, &m, 0), CIP_OK);
        if (k == 1)
            assert_int_equal(cip_pool_new(4, &pool, NULL), CIP_OK);
        f.env.pool = pool;
        assert_int_equal(verify(&f, true, k ? &many : &alone), CIP_OK);
        one_close(&f);
        cip_pool_free(pool);
    }
    assert_int_equal(alone.n, 14);
    assert_string_equal(alone.text, many.text);
    make_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_files_have_no_findings),
        cmocka_unit_test(wrong_checksums_are_bad),
        cmocka_unit_test(checksums_of_decoded_bytes_are_noted_as_legacy),
        cmocka_unit_test(payloads_that_do_not_decode_are_bad_when_deep),
        cmocka_unit_test(wrong_sizes_and_truncation_are_bad),
        cmocka_unit_test(stale_indices_and_gaps_are_told),
        cmocka_unit_test(an_index_that_skips_what_the_walk_finds_is_told),
        cmocka_unit_test(scalars_that_contradict_themselves_are_warned_about),
        cmocka_unit_test(a_tree_of_aliases_is_looked_at_once),
        cmocka_unit_test(a_callback_can_stop_it),
        cmocka_unit_test(threads_do_not_change_what_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
