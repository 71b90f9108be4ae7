/* SPDX-License-Identifier: BSD-3-Clause
 * Single chunks and linear ones: special, missing, lying, too large, partly decoded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/pool.h"
#include "support/space/chunk_testing.h"

/* --- codecs that tell what is done with them -------------------------------------------------- */

static size_t last_len;

/* Every byte one more. */
static cip_status plus_one(const void *args, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                           size_t dst_len, cip_err *err)
{
    (void)args;
    (void)env;
    ndecode++;
    last_len = src.len;
    if (src.len != dst_len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected %zu bytes, found %zu",
                        dst_len, src.len);
    for (size_t i = 0; i < dst_len; i++)
        dst[i] = (uint8_t)(src.ptr[i] + 1);
    return CIP_OK;
}

static const cip_codec counting = { .name = "counting", .decode = plus_one };

static void assert_reads(cip_space *s, uint64_t off, const char *expected, size_t n)
{
    uint8_t b[100] = { 0 };
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(read_at(s, off, b, n, &err), CIP_OK);
    assert_memory_equal(b, expected, n);
    assert_int_equal(err.code, 0);
}

/* --- what is decoded, and when ---------------------------------------------------------------- */

static cip_space *two_counted(void)
{
    cip_chunk c[2] = { { .at = in_file("@ABCD", 5), .raw_len = 5 },
                       { .at = in_file("KLMNO", 5), .raw_off = 5, .raw_len = 5 } };
    ndecode = 0;
    return chunked(c, 2, 10, &counting);
}

static void only_chunks_that_are_touched_are_decoded(void **state)
{
    (void)state;
    cip_space *s = two_counted();
    assert_reads(s, 5, "LM", 2);
    assert_int_equal(ndecode, 1);
    assert_reads(s, 0, "", 0);
    assert_reads(s, 5, "", 0);
    assert_int_equal(ndecode, 1);
}

static void a_part_of_a_chunk_is_kept_for_the_next(void **state)
{
    (void)state;
    cip_space *s = two_counted();
    assert_reads(s, 1, "BC", 2);
    assert_reads(s, 3, "D", 1);
    assert_reads(s, 0, "ABCDE", 5);
    assert_int_equal(ndecode, 1);
    assert_int_equal(cip_cache_nbytes(f.layout->cache), 5);
}

static void a_whole_chunk_goes_past_the_cache(void **state)
{
    (void)state;
    cip_space *s = two_counted();
    assert_reads(s, 0, "ABCDELMNOP", 10);
    assert_reads(s, 0, "ABCDE", 5);
    assert_int_equal(ndecode, 3);
    assert_int_equal(cip_cache_nbytes(f.layout->cache), 0);
}

static void several_pieces_of_a_chunk_decode_it_once(void **state)
{
    (void)state;
    uint8_t b[10];
    cip_space *s = two_counted();
    cip_want w[5] = { { 0, 1, b }, { 1, 0, b }, { 2, 2, b + 1 }, { 4, 2, b + 3 }, { 9, 1, b + 5 } };
    assert_int_equal(cip_space_read(&f.how, s, w, 5, NULL), CIP_OK);
    assert_memory_equal(b, "ACDELP", 6);
    assert_int_equal(ndecode, 2);
}

static void many_pieces_of_one_chunk_are_fine(void **state)
{
    (void)state;
    uint8_t raw[200], b[100];
    cip_want w[100];
    for (size_t i = 0; i < 200; i++)
        raw[i] = (uint8_t)i;
    cip_chunk c = { .at = in_file((const char *)raw, 200), .raw_len = 200 };
    cip_space *s = chunked(&c, 1, 200, &counting);
    for (size_t n = 15; n <= 18; n++) {
        for (size_t i = 0; i < n; i++)
            w[i] = (cip_want){ 2 * i, 1, b + i };
        assert_int_equal(cip_space_read(&f.how, s, w, n, NULL), CIP_OK);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(b[i], 2 * i + 1);
    }
}

static void chunks_too_large_to_keep_are_not_kept(void **state)
{
    (void)state;
    cip_limits small = CIP_LIMITS_INIT;
    small.max_cache = 9; /* a chunk may be half of it */
    fake_close(&f);
    fake_open(&f, 1, NULL, &small);
    cip_space *s = two_counted();
    assert_reads(s, 1, "B", 1);
    assert_reads(s, 1, "B", 1);
    assert_int_equal(ndecode, 2);
    fake_close(&f);
    small.max_cache = 10;
    fake_open(&f, 1, NULL, &small);
    s = two_counted();
    assert_reads(s, 1, "B", 1);
    assert_reads(s, 1, "B", 1);
    assert_int_equal(ndecode, 1);
}

/* --- special ones ---------------------------------------------------------------------------- */

static cip_chunk special(uint64_t off, uint64_t len, cip_chunk_state st)
{
    return (cip_chunk){ .raw_off = off, .raw_len = len, .state = (uint8_t)st };
}

static void special_chunks_are_what_they_say(void **state)
{
    (void)state;
    cip_chunk c[3] = { special(0, 5, CIP_CHUNK_ZERO), special(5, 7, CIP_CHUNK_VALUE),
                       special(12, 4, CIP_CHUNK_UNINIT) };
    c[1].value = (const uint8_t *)"abc";
    c[1].value_len = 3;
    cip_space *s = chunked(c, 3, 16, &counting);
    assert_reads(s, 0, "\0\0\0\0\0abcabca\0\0\0\0", 16);
    assert_reads(s, 6, "bcab", 4);
    assert_reads(s, 11, "a", 1);
}

static void a_value_begins_anew_in_each_chunk_of_a_run(void **state)
{
    (void)state;
    cip_chunk c = special(0, 4, CIP_CHUNK_VALUE);
    c.value = (const uint8_t *)"abc";
    c.value_len = 3;
    c.run = 3;
    assert_reads(chunked(&c, 1, 12, NULL), 0, "abcaabcaabca", 12);
    c.raw_len = 6;
    assert_reads(chunked(&c, 1, 18, NULL), 1, "bcabcabcabcabcabc", 17);
}

static void nans_are_of_the_width_and_order_told(void **state)
{
    (void)state;
    cip_chunk c = special(0, 16, CIP_CHUNK_NAN);
    cip_space *s = chunked(&c, 1, 16, NULL);
    cip_err err = CIP_ERR_INIT;
    uint8_t b[16];
    s->codec_env.typesize = 4;
    assert_reads(s, 0, "\0\0\xC0\x7F\0\0\xC0\x7F", 8);
    s->big = true;
    assert_reads(s, 0, "\x7F\xC0\0\0\x7F\xC0\0\0", 8);
    s->codec_env.typesize = 8;
    assert_reads(s, 0, "\x7F\xF8\0\0\0\0\0\0\x7F\xF8\0\0\0\0\0\0", 16);
    s->big = false;
    assert_reads(s, 0, "\0\0\0\0\0\0\xF8\x7F\0\0\0\0\0\0\xF8\x7F", 16);
    s->codec_env.typesize = 2;
    assert_int_equal(read_at(s, 0, b, 1, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "NaNs in elements of 2 bytes");
    assert_string_equal(err.part, "chunk 0");
}

static void a_missing_chunk_errs_only_where_it_is(void **state)
{
    (void)state;
    cip_chunk c[3] = { special(0, 5, CIP_CHUNK_ZERO), special(5, 5, CIP_CHUNK_MISSING),
                       special(10, 5, CIP_CHUNK_ZERO) };
    cip_err err = CIP_ERR_INIT;
    uint8_t b[15];
    c[1].why = CIP_ERR_CHECKSUM;
    cip_space *s = chunked(c, 3, 15, NULL);
    s->label = "column x";
    assert_reads(s, 0, "\0\0\0\0\0", 5);
    assert_reads(s, 10, "\0\0\0\0\0", 5);
    assert_int_equal(read_at(s, 4, b, 2, &err), CIP_ERR_CHECKSUM);
    assert_string_equal(err.part, "column x, chunk 1");
    assert_string_equal(err.text, "its data are missing");
    c[1].why = CIP_OK;
    assert_int_equal(read_at(chunked(c, 3, 15, NULL), 9, b, 2, &err), CIP_ERR_NOT_FOUND);
}

static void a_huge_run_fills_only_what_is_asked(void **state)
{
    (void)state;
    cip_chunk c = special(0, 1 << 20, CIP_CHUNK_ZERO);
    uint8_t b[100];
    c.run = UINT64_C(1) << 40;
    cip_space *s = chunked(&c, 1, UINT64_C(1) << 60, NULL);
    memset(b, 1, sizeof b);
    assert_int_equal(read_at(s, UINT64_C(1) << 59, b, 100, NULL), CIP_OK);
    assert_int_equal(b[0] | b[99], 0);
    assert_int_equal(read_at(s, (UINT64_C(1) << 60) - 100, b, 100, NULL), CIP_OK);
    assert_int_equal(read_at(s, (UINT64_C(1) << 60) - 99, b, 100, NULL), CIP_ERR_RANGE);
}

static void a_large_fill_is_cut_into_jobs(void **state)
{
    (void)state;
    cip_chunk c = special(0, 10, CIP_CHUNK_VALUE);
    uint8_t b[1000];
    f.tuning.run_max = 95;
    c.value = (const uint8_t *)"01234";
    c.value_len = 5;
    c.run = 100;
    cip_space *s = chunked(&c, 1, 1000, NULL);
    assert_int_equal(read_at(s, 0, b, 1000, NULL), CIP_OK);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(b[i], '0' + i % 5);
}

/* --- sums ------------------------------------------------------------------------------------- */

static cip_chunk summed(const char *text, size_t n, cip_sum_id id)
{
    cip_chunk c = { .at = in_file(text, n), .raw_len = n, .sum_id = (uint8_t)id };
    const cip_bytes stored = { (const uint8_t *)text, n };
    assert_int_equal(cip_sum_of(&f.env.mem, id, stored, c.sum, NULL), CIP_OK);
    return c;
}

static void stored_bytes_are_compared_with_their_sum(void **state)
{
    (void)state;
    static const cip_codec *const codecs[] = { &counting, NULL };
    for (size_t k = 0; k < 2; k++)
        for (int id = CIP_SUM_MD5; id <= CIP_SUM_SHA512; id++) {
            cip_chunk c[2] = { summed("@ABCD", 5, (cip_sum_id)id),
                               summed("KLMNO", 5, (cip_sum_id)id) };
            cip_err err = CIP_ERR_INIT;
            uint8_t b[10];
            c[1].raw_off = 5;
            assert_reads(chunked(c, 2, 10, codecs[k]), 1, k == 0 ? "BCDELM" : "ABCDKL", 6);
            c[1].sum[cip_sum_size((cip_sum_id)id) - 1] ^= 1;
            cip_space *s = chunked(c, 2, 10, codecs[k]);
            assert_reads(s, 0, k == 0 ? "ABCDE" : "@ABCD", 5);
            for (size_t n = 1; n <= 5; n += 4) {
                err = (cip_err)CIP_ERR_INIT;
                assert_int_equal(read_at(s, 5, b, n, &err), CIP_ERR_CHECKSUM);
                assert_string_equal(err.part, "chunk 1");
            }
        }
}

/* --- chunks that lie -------------------------------------------------------------------------- */

static void a_chunk_must_lie_in_the_space(void **state)
{
    (void)state;
    cip_chunk c[2] = { special(0, 5, CIP_CHUNK_ZERO), special(5, 6, CIP_CHUNK_ZERO) };
    cip_err err = CIP_ERR_INIT;
    uint8_t b[10];
    cip_space *s = chunked(c, 2, 10, NULL);
    assert_reads(s, 0, "\0\0\0\0\0", 5);
    assert_int_equal(read_at(s, 5, b, 1, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.part, "chunk 1");
    assert_string_equal(err.text, "expected a chunk within 10 bytes, found 6 bytes at 5");
    c[1] = special(5, 0, CIP_CHUNK_ZERO);
    assert_int_equal(read_at(chunked(c, 2, 10, NULL), 5, b, 1, &err), CIP_ERR_CORRUPT);
    c[1] = special(6, 4, CIP_CHUNK_ZERO);
    assert_int_equal(read_at(chunked(c, 2, 10, NULL), 5, b, 1, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "expected chunk 0 to hold byte 5, found 5 bytes at 0");
    assert_int_equal(read_at(chunked(c, 1, 10, NULL), 5, b, 1, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "the table ends before it");
    assert_int_equal(read_at(chunked(c, 0, 10, NULL), 5, b, 1, &err), CIP_ERR_CORRUPT);
    c[0].state = CIP_CHUNK_MISSING + 1;
    assert_int_equal(read_at(chunked(c, 2, 10, NULL), 0, b, 1, &err), CIP_ERR_CORRUPT);
    c[0] = special(0, 5, CIP_CHUNK_VALUE); /* of no bytes */
    assert_int_equal(read_at(chunked(c, 2, 10, NULL), 0, b, 1, &err), CIP_ERR_CORRUPT);
}

static cip_status no_count(void *self, uint64_t *n, cip_err *err)
{
    (void)self;
    (void)n;
    return cip_fail(err, CIP_ERR_TRUNCATED, 5, "the index is cut off");
}

static void a_table_without_sizes_or_that_fails_is_an_error(void **state)
{
    (void)state;
    cip_chunk c = special(0, 5, CIP_CHUNK_ZERO);
    cip_err err = CIP_ERR_INIT;
    cip_space *s = chunked(&c, 1, 5, NULL);
    uint8_t b[5];
    s->label = "the index";
    s->table.raw_each = 0;
    assert_int_equal(read_at(s, 0, b, 1, &err), CIP_ERR_CORRUPT);
    s->table.count = no_count;
    assert_int_equal(read_at(s, 0, b, 1, &err), CIP_ERR_TRUNCATED);
    assert_int_equal(err.offset, 5);
    assert_string_equal(err.part, "the index");
}

static void stored_bytes_beyond_the_file_are_truncated(void **state)
{
    (void)state;
    cip_chunk c = { .at = { f.layout->file, FAKE_FILE_MAX - 4, 5 }, .raw_len = 5 };
    cip_err err = CIP_ERR_INIT;
    uint8_t b[5];
    ndecode = 0;
    assert_int_equal(read_at(chunked(&c, 1, 5, &counting), 0, b, 5, &err), CIP_ERR_TRUNCATED);
    assert_string_equal(err.text, "expected 5 bytes of stored data, found 4");
    assert_int_equal(err.offset, FAKE_FILE_MAX - 4);
    assert_int_equal(read_at(chunked(&c, 1, 5, &cip_codec_stored), 0, b, 5, &err),
                     CIP_ERR_TRUNCATED);
    c.at.off = UINT64_MAX;
    assert_int_equal(read_at(chunked(&c, 1, 5, &counting), 0, b, 1, &err), CIP_ERR_TRUNCATED);
    c.at.off = 0;
    c.at.len = UINT64_MAX;
    assert_int_equal(read_at(chunked(&c, 1, 5, &counting), 0, b, 1, &err), CIP_ERR_TRUNCATED);
    c.at.len = 5;
    c.at.in = NULL;
    assert_int_equal(read_at(chunked(&c, 1, 5, &counting), 0, b, 1, &err), CIP_ERR_CORRUPT);
    assert_int_equal(ndecode, 0);
}

static void chunks_that_lie_in_each_other_end(void **state)
{
    (void)state;
    cip_chunk c = { .at = { f.layout->file, 0, 10 }, .raw_len = 10 };
    uint8_t b[5];
    cip_space *s = chunked(&c, 1, 10, &counting);
    cip_chunk inside = { .at = { s, 0, 10 }, .raw_len = 10 };
    cip_table t;
    assert_int_equal(cip_table_from_array(f.layout, &inside, 1, &t, NULL), CIP_OK);
    s->table = t; /* now it is stored in itself */
    assert_int_equal(read_at(s, 0, b, 5, NULL), CIP_ERR_CORRUPT);
}

static void a_claim_of_much_data_costs_nothing(void **state)
{
    (void)state;
    const uint64_t huge = UINT64_C(4) << 30;
    cip_chunk c = { .at = in_file("@ABCD", 5), .raw_len = huge };
    cip_err err = CIP_ERR_INIT;
    uint8_t b[5];
    assert_int_equal(read_at(chunked(&c, 1, huge, &counting), 7, b, 5, &err), CIP_ERR_LIMIT);
    assert_string_equal(err.part, "chunk 0");
    assert_non_null(strstr(err.text, "needs 42949"));
    assert_true(atomic_load(&f.env.mem.used) < 1 << 20);
    c.raw_len = huge / 4; /* allowed, and seen to be wrong */
    assert_int_equal(read_at(chunked(&c, 1, huge / 4, &counting), 7, b, 5, &err), CIP_ERR_CORRUPT);
    c.codec = &cip_codec_stored;
    assert_int_equal(read_at(chunked(&c, 1, huge / 4, NULL), 7, b, 5, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "expected 1073741824 bytes stored as they are, found 5");
    c.raw_len = 4;
    assert_int_equal(read_at(chunked(&c, 1, 4, NULL), 0, b, 4, &err), CIP_ERR_CORRUPT);
}

static void the_error_of_the_lowest_chunk_is_told(void **state)
{
    (void)state;
    cip_chunk c[40];
    uint8_t b[80];
    cip_pool *pool;
    cip_err err = CIP_ERR_INIT;
    f.tuning.batch_min = f.tuning.batch_max = 4;
    for (size_t i = 0; i < 40; i++)
        c[i] = special(2 * i, 2, CIP_CHUNK_ZERO);
    c[13].state = c[14].state = c[30].state = CIP_CHUNK_MISSING;
    c[15].raw_len = 100; /* found when the table is asked, before 13 is read */
    assert_int_equal(cip_pool_new(2, &pool, NULL), CIP_OK);
    for (int i = 0; i < 50; i++) {
        f.how.pool = i % 2 ? pool : NULL;
        err = (cip_err)CIP_ERR_INIT;
        assert_int_equal(read_at(chunked(c, 40, 80, NULL), 0, b, 80, &err), CIP_ERR_NOT_FOUND);
        assert_string_equal(err.part, "chunk 13");
        assert_int_equal(read_at(chunked(c, 40, 80, NULL), 30, b, 50, &err), CIP_ERR_CORRUPT);
        assert_string_equal(err.part, "chunk 15");
    }
    cip_pool_free(pool);
}

/* --- pipelines -------------------------------------------------------------------------------- */

static void stages_are_undone_in_turn(void **state)
{
    (void)state;
    cip_chunk c = { .at = in_file("DCBA@", 5), .raw_len = 5 };
    cip_step step[3] = { { &fake_turned, NULL }, { &counting, NULL }, { &counting, NULL } };
    cip_space *s;
    cip_table t;
    assert_int_equal(cip_table_from_array(f.layout, &c, 1, &t, NULL), CIP_OK);
    assert_int_equal(cip_space_new_chunked(f.layout, &t, 5, step, 3, &s, NULL), CIP_OK);
    assert_reads(s, 0, "BCDEF", 5);
    c.codec = &counting; /* instead of all three */
    c.at.len = 5;
    assert_int_equal(cip_table_from_array(f.layout, &c, 1, &s->table, NULL), CIP_OK);
    assert_reads(s, 0, "EDCBA", 5);
}

/* --- only what is needed ---------------------------------------------------------------------- */

enum { DELTA_LEN = 1000, DELTA_BLOCK = 100 };

/* A delta chunk in a file that counts what is read of it; `id`: of the sum that goes with it. */
static cip_space *delta_chunk_with(uint8_t *raw, cip_sum_id id)
{
    uint8_t stored[DELTA_LEN + 8] = { DELTA_BLOCK, 0, 0, 0, DELTA_LEN % 256, DELTA_LEN / 256 };
    for (size_t i = 0; i < DELTA_LEN; i++) {
        raw[i] = (uint8_t)(i * 31);
        stored[8 + i] = raw[i] ^ (i < DELTA_BLOCK ? 0 : raw[i % DELTA_BLOCK]);
    }
    cip_chunk c = { 0 };
    if (id != CIP_SUM_NONE)
        c = summed((char *)stored, sizeof stored, id);
    else
        c.at = in_file((char *)stored, sizeof stored);
    c.raw_len = DELTA_LEN;
    return chunked(&c, 1, DELTA_LEN, &fake_delta);
}

static cip_space *delta_chunk(uint8_t *raw)
{
    return delta_chunk_with(raw, CIP_SUM_NONE);
}

static void a_window_asks_only_for_its_blocks(void **state)
{
    (void)state;
    uint8_t raw[DELTA_LEN], b[DELTA_LEN];
    cip_space *s = delta_chunk(raw);
    cip_want w[2] = { { 250, 60, b }, { 995, 5, b + 60 } };
    assert_int_equal(cip_space_read(&f.how, s, w, 2, NULL), CIP_OK);
    assert_memory_equal(b, raw + 250, 60);
    assert_memory_equal(b + 60, raw + 995, 5);
    assert_int_equal(cip_cache_nbytes(f.layout->cache), 0);
    memset(f.file + 8 + 500, 0xEE, 100); /* a block that nobody asks for */
    assert_int_equal(cip_space_read(&f.how, s, w, 2, NULL), CIP_OK);
    assert_memory_equal(b, raw + 250, 60);
    assert_int_equal(read_at(s, 0, b, 500, NULL), CIP_OK); /* just half of it */
    assert_memory_equal(b, raw, 500);
    assert_int_equal(cip_cache_nbytes(f.layout->cache), 0);
    assert_int_equal(read_at(s, 0, b, 501, NULL), CIP_OK); /* more: whole and kept */
    assert_memory_equal(b, raw, 500);
    assert_int_equal(cip_cache_nbytes(f.layout->cache), DELTA_LEN);
}

static void a_chunk_whose_blocks_are_asked_for_often_is_kept(void **state)
{
    (void)state;
    uint8_t raw[DELTA_LEN], b[DELTA_LEN];
    cip_space *s = delta_chunk(raw);
    cip_want w[2] = { { 250, 60, b }, { 995, 5, b + 60 } };
    for (int i = 0; i < 4; i++) { /* the third time decodes all, the fourth nothing */
        memset(b, 0, 65);
        assert_int_equal(cip_space_read(&f.how, s, w, 2, NULL), CIP_OK);
        assert_memory_equal(b, raw + 250, 60);
        assert_memory_equal(b + 60, raw + 995, 5);
        assert_int_equal(cip_cache_nbytes(f.layout->cache), i < 2 ? 0 : DELTA_LEN);
        if (i == 2)
            memset(f.file, 0xEE, DELTA_LEN + 8);
    }
}

static void blocks_of_a_chunk_with_a_sum_are_decoded_alone_once(void **state)
{
    (void)state;
    uint8_t raw[DELTA_LEN], b[100];
    cip_space *s = delta_chunk_with(raw, CIP_SUM_ADLER32);
    cip_want w[2] = { { 250, 60, b }, { 995, 5, b + 60 } };
    for (int turn = 0; turn < 2; turn++) {
        memset(b, 0, sizeof b);
        assert_int_equal(cip_space_read(&f.how, s, w, 2, NULL), CIP_OK);
        assert_memory_equal(b, raw + 250, 60);
        assert_memory_equal(b + 60, raw + 995, 5);
        assert_int_equal(cip_cache_nbytes(f.layout->cache), turn == 0 ? 0 : DELTA_LEN);
    }
}

static void of_a_chunk_with_a_sum_all_is_compared_for_a_block(void **state)
{
    (void)state;
    uint8_t raw[DELTA_LEN], b[60];
    cip_err err = CIP_ERR_INIT;
    cip_space *s = delta_chunk_with(raw, CIP_SUM_ADLER32);
    f.file[8 + 500] ^= 1; /* in a block that nobody asks for */
    assert_int_equal(read_at(s, 250, b, 60, &err), CIP_ERR_CHECKSUM);
    assert_string_equal(err.part, "chunk 0");
}

static void too_many_blocks_mean_all_of_them(void **state)
{
    (void)state;
    uint8_t raw[DELTA_LEN], b[400];
    cip_want w[400];
    cip_err err = CIP_ERR_INIT;
    cip_space *s = delta_chunk(raw);
    for (size_t i = 0; i < 400; i++)
        w[i] = (cip_want){ 2 * i, 1, b + i };
    assert_int_equal(cip_space_read(&f.how, s, w, 400, &err), CIP_OK);
    for (size_t i = 0; i < 400; i++)
        assert_int_equal(b[i], raw[2 * i]);
    assert_int_equal(err.code, 0);
}

static cip_status far_needs(const void *args, const cip_codec_env *env, cip_bytes head,
                            const cip_wants *w, cip_needs *out, cip_err *err)
{
    (void)env, (void)head, (void)w, (void)err;
    out->at[out->n++] = *(const cip_need *)args;
    return CIP_OK;
}

static cip_status span_nothing(const void *args, const cip_codec_env *env, const cip_stored *src,
                               const cip_wants *w, cip_err *err)
{
    (void)args, (void)env, (void)w, (void)err;
    last_len = src->n == 1 ? (size_t)src->at[0].len : 0;
    return CIP_OK;
}

static void needs_beyond_the_stored_bytes_are_corrupt(void **state)
{
    (void)state;
    static cip_need need;
    const cip_codec far = {
        .name = "far", .decode = plus_one, .needs = far_needs, .decode_spans = span_nothing
    };
    cip_chunk c = { .at = in_file("@ABCD", 5), .raw_len = 5 };
    uint8_t b[5];
    cip_space *s = chunked(&c, 1, 5, &far);
    s->step[0].args = &need;
    need = (cip_need){ 1, 4 };
    assert_int_equal(read_at(s, 0, b, 1, NULL), CIP_OK);
    assert_int_equal(last_len, 4);
    need = (cip_need){ 1, 5 };
    assert_int_equal(read_at(s, 0, b, 1, NULL), CIP_ERR_CORRUPT);
    need = (cip_need){ 6, 0 };
    assert_int_equal(read_at(s, 0, b, 1, NULL), CIP_ERR_CORRUPT);
    need = (cip_need){ UINT64_MAX, 2 };
    assert_int_equal(read_at(s, 0, b, 1, NULL), CIP_ERR_CORRUPT);
    need = (cip_need){ 5, 0 };
    assert_int_equal(read_at(s, 0, b, 1, NULL), CIP_OK);
}

/* Wants to see as many bytes of the chunk as its argument says. */
static cip_status hungry_needs(const void *args, const cip_codec_env *env, cip_bytes head,
                               const cip_wants *w, cip_needs *out, cip_err *err)
{
    (void)env, (void)w;
    last_len = head.len;
    out->at[out->n++] = (cip_need){ 0, *(const size_t *)args };
    if (head.len < *(const size_t *)args)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET, "expected a longer head");
    ndecode++;
    return CIP_OK;
}

static void a_codec_is_shown_more_of_a_chunk_if_it_asks(void **state)
{
    (void)state;
    static size_t head;
    const cip_codec hungry = { .name = "hungry",
                               .decode = plus_one,
                               .head_len = 2,
                               .needs = hungry_needs,
                               .decode_spans = span_nothing };
    cip_chunk c = { .at = in_file("@ABCD", 5), .raw_len = 5 };
    uint8_t b[5];
    cip_space *s = chunked(&c, 1, 5, &hungry);
    s->step[0].args = &head;
    for (head = 1; head <= 5; head++) {
        ndecode = 0;
        assert_int_equal(read_at(s, 0, b, 1, NULL), CIP_OK);
        assert_int_equal(ndecode, 1);
        assert_int_equal(last_len, head); /* what was read then */
    }
    for (head = 6; head <= 7; head++)
        assert_int_equal(read_at(s, 0, b, 1, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(last_len, 5);
}

/* --- in order --------------------------------------------------------------------------------- */

static void a_chunk_that_cannot_be_kept_streams(void **state)
{
    (void)state;
    enum { N = 100000 };
    cip_limits small = CIP_LIMITS_INIT;
    uint8_t *raw, b[20];
    small.max_cache = 2 * N - 2;
    fake_close(&f);
    fake_open(&f, 1, NULL, &small);
    raw = fake_random(&f, N);
    cip_codec_env env = { .typesize = 1 };
    fake_bytes z = fake_encode(&f, cip_codec_find("zlib"), &env, raw, N);
    cip_chunk c = { .at = in_file((char *)z.ptr, z.len), .raw_len = N };
    cip_space *s = chunked(&c, 1, N, cip_codec_find("zlib"));
    cip_want w[2] = { { 5, 10, b }, { 1000, 10, b + 10 } };
    f.file[z.len - 1] ^= 1; /* the checksum at its end, which nobody gets to */
    assert_int_equal(cip_space_read(&f.how, s, w, 2, NULL), CIP_OK);
    assert_memory_equal(b, raw + 5, 10);
    assert_memory_equal(b + 10, raw + 1000, 10);
    assert_int_equal(cip_cache_nbytes(f.layout->cache), 0);
    assert_int_equal(read_at(s, N - 10, b, 10, NULL), CIP_ERR_CHECKSUM); /* but who does sees it */
    f.file[z.len - 1] ^= 1;
    assert_int_equal(read_at(s, N - 10, b, 10, NULL), CIP_OK);
    assert_memory_equal(b, raw + N - 10, 10);
}

static void what_has_no_room_whole_streams(void **state)
{
    (void)state;
    enum { N = 3000000 };
    uint8_t *raw = fake_random(&f, N), *b = fake_keep(&f, N);
    cip_codec_env env = { .typesize = 1 };
    cip_err err = CIP_ERR_INIT;
    fake_bytes z = fake_encode(&f, cip_codec_find("zlib"), &env, raw, N);
    cip_chunk c = { .at = in_file((char *)z.ptr, z.len), .raw_len = N };
    cip_space *s = chunked(&c, 1, N, cip_codec_find("zlib"));
    f.env.mem.limit = atomic_load(&f.env.mem.used) + 1000000; /* less than what is stored */
    assert_int_equal(read_at(s, 0, b, N, &err), CIP_OK);
    assert_memory_equal(b, raw, N);
    assert_int_equal(read_at(s, 7, b, 10, &err), CIP_OK);
    assert_memory_equal(b, raw + 7, 10);
    assert_int_equal(err.code, 0);
    f.env.mem.limit = UINT64_MAX;
}

static void a_table_that_does_not_fit_is_left_for_good(void **state)
{
    (void)state;
    uint8_t *raw = fake_random(&f, 200), b[200];
    cip_err err = CIP_ERR_INIT;
    cip_space *s = fake_space(&f, FAKE_IN_ORDER, raw, 200, 0, true);
    assert_int_equal(read_at(s, 100, b, 50, &err), CIP_OK);
    assert_memory_equal(b, raw + 100, 50);
    assert_true(atomic_load(&s->use_in_order));
    assert_int_equal(err.code, 0);
    assert_int_equal(read_at(s, 0, b, 200, &err), CIP_OK);
    assert_memory_equal(b, raw, 200);
}

static void a_damaged_chunk_does_not_take_the_others_along(void **state)
{
    (void)state;
    cip_chunk c[2] = { { .at = in_file("@ABCD", 5), .raw_len = 5, .codec = &fake_never },
                       { .at = in_file("KLMNO", 5), .raw_off = 5, .raw_len = 5 } };
    cip_extent whole = { f.layout->file, 0, 10 };
    cip_err err = CIP_ERR_INIT;
    cip_space *s = chunked(c, 2, 10, &counting);
    cip_step step = step_of(&fake_never); /* the same bytes in order are damaged as well */
    cip_cast cast;
    uint8_t b[10];
    cip_nd v = { .itemsize = 1, .ndim = 1, .shape = { 5 }, .stride = { 2 } }, to = v;
    to.stride[0] = 1;
    assert_int_equal(cip_space_new_seq(f.layout, &whole, 10, &step, &s->in_order, NULL), CIP_OK);
    assert_int_equal(read_at(s, 3, b, 4, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.part, "chunk 0");
    assert_int_equal(
        cip_cast_make(cip_dtype_of(CIP_U8), cip_dtype_of(CIP_U8), CIP_OVERFLOW_ERROR, &cast, NULL),
        CIP_OK);
    err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_space_gather(&f.how, s, &(cip_transfer){ &v, &cast, &to, b }, NULL, &err),
                     CIP_ERR_CORRUPT);
    assert_string_equal(err.part, "chunk 0");
    assert_false(atomic_load(&s->use_in_order));
    assert_reads(s, 5, "LMNOP", 5);
    v.off = 5;
    v.shape[0] = to.shape[0] = 2;
    assert_int_equal(cip_space_gather(&f.how, s, &(cip_transfer){ &v, &cast, &to, b }, NULL, NULL),
                     CIP_OK);
    assert_memory_equal(b, "LN", 2);
}

static void a_missing_chunk_is_no_reason_to_go_in_order(void **state)
{
    (void)state;
    uint8_t *raw = fake_random(&f, 10), b[10];
    cip_chunk c = special(0, 10, CIP_CHUNK_MISSING);
    cip_space *s = chunked(&c, 1, 10, NULL);
    s->in_order = fake_space(&f, FAKE_MEM, raw, 10, 0, true);
    assert_int_equal(read_at(s, 0, b, 1, NULL), CIP_ERR_NOT_FOUND);
    assert_false(atomic_load(&s->use_in_order));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_chunks_that_are_touched_are_decoded),
        TEST(a_part_of_a_chunk_is_kept_for_the_next),
        TEST(a_whole_chunk_goes_past_the_cache),
        TEST(several_pieces_of_a_chunk_decode_it_once),
        TEST(many_pieces_of_one_chunk_are_fine),
        TEST(chunks_too_large_to_keep_are_not_kept),
        TEST(special_chunks_are_what_they_say),
        TEST(a_value_begins_anew_in_each_chunk_of_a_run),
        TEST(nans_are_of_the_width_and_order_told),
        TEST(a_missing_chunk_errs_only_where_it_is),
        TEST(a_huge_run_fills_only_what_is_asked),
        TEST(a_large_fill_is_cut_into_jobs),
        TEST(stored_bytes_are_compared_with_their_sum),
        TEST(a_chunk_must_lie_in_the_space),
        TEST(a_table_without_sizes_or_that_fails_is_an_error),
        TEST(stored_bytes_beyond_the_file_are_truncated),
        TEST(chunks_that_lie_in_each_other_end),
        TEST(a_claim_of_much_data_costs_nothing),
        TEST(the_error_of_the_lowest_chunk_is_told),
        TEST(stages_are_undone_in_turn),

        TEST(a_window_asks_only_for_its_blocks),
        TEST(a_chunk_whose_blocks_are_asked_for_often_is_kept),
        TEST(blocks_of_a_chunk_with_a_sum_are_decoded_alone_once),
        TEST(of_a_chunk_with_a_sum_all_is_compared_for_a_block),
        TEST(too_many_blocks_mean_all_of_them),
        TEST(needs_beyond_the_stored_bytes_are_corrupt),
        TEST(a_codec_is_shown_more_of_a_chunk_if_it_asks),
        TEST(a_chunk_that_cannot_be_kept_streams),
        TEST(what_has_no_room_whole_streams),
        TEST(a_table_that_does_not_fit_is_left_for_good),
        TEST(a_damaged_chunk_does_not_take_the_others_along),
        TEST(a_missing_chunk_is_no_reason_to_go_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
