/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks written out by hand or encoded, decoded whole and in pieces: what is read of them, what
 * memory it takes, and what is said of those that lie. */
#include "support/codec/blosc/blosc_hand_testing.h"

#define C (&cip_codec_blosc)

/* --- streams --------------------------------------------------------------------------------- */

static void a_last_block_without_a_whole_element_is_not_filtered(void **state)
{
    (void)state;
    chunk c = start(5, 0x15, 4, 150, 148);
    uint8_t want[150] = { 0 };
    c.b[21] = CIP_BLOSC_BITSHUFFLE;
    put32(&c, 40);
    put32(&c, 44);
    put32(&c, 0);
    put32(&c, 2);
    put(&c, "\x88\x90", 2);
    memcpy(want + 148, "\x88\x90", 2);
    assert_gives(done(&c), want, sizeof want);
}

static void streams_are_zeros_runs_raw_or_coded(void **state)
{
    (void)state;
    chunk c = start(5, 0x05, 4, 80, 80); /* four streams of 20 bytes, BloscLZ */
    uint8_t want[80];
    put32(&c, 36);
    put32(&c, 0);
    put32(&c, (uint32_t)-255);
    put(&c, "\1", 1);
    put32(&c, 20);
    put(&c, "twenty bytes of text", 20);
    put32(&c, 5);
    put(&c, "\0!\xe0\x0a\0", 5);
    memset(want, 0, 20);
    memset(want + 20, 255, 20);
    memcpy(want + 40, "twenty bytes of text", 20);
    memset(want + 60, '!', 20);
    assert_gives(done(&c), want, sizeof want);
}

static void streams_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint8_t version, flags;
        uint32_t size;
        const char *more, *why;
    } rows[] = {
        { 5, 5, (uint32_t)-256, "\1", "size of a Blosc stream, found -256" },
        { 5, 5, INT32_MIN, "\1", "size of a Blosc stream, found -2147483648" },
        { 5, 5, (uint32_t)-5, "\2", "a run of equal bytes in a Blosc stream, found token 2" },
        { 5, 5, (uint32_t)-5, "\3", "found token 3" },
        { 5, 5, (uint32_t)-5, "", "a run of equal bytes in a Blosc stream" },
        { 2, 0, 0, "1", "size of a Blosc stream, found 0" },
        { 2, 0, (uint32_t)-5, "\1", "size of a Blosc stream, found -5" },
        { 5, 5, 9, "12345678", "a Blosc stream of 9 bytes, found 8 left" },
        { 5, 5, INT32_MAX, "1", "a Blosc stream of 2147483647 bytes" },
        { 5, 5, 3, "\1ab", "expected 8 decoded bytes, found 2" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        chunk c = start(rows[i].version, rows[i].flags | 0x10, 1, 8, 8);
        put32(&c, (uint32_t)c.len + 4);
        put32(&c, rows[i].size);
        put(&c, rows[i].more, strlen(rows[i].more));
        assert_refused(done(&c), 8, CIP_ERR_CORRUPT, rows[i].why);
    }
    chunk c = start(5, 0x05, 4, 10, 10); /* ten bytes are not four streams */
    put32(&c, 36);
    for (int i = 0; i < 4; i++)
        put32(&c, 0);
    assert_refused(done(&c), 10, CIP_ERR_CORRUPT, "a multiple of 4 bytes, found 10");
}

/* One block of one stream of a codec format. */
static chunk one_stream(uint8_t format, uint32_t n, const void *p, size_t len)
{
    chunk c = start(2, (uint8_t)(format << 5 | 0x10), 1, n, n);
    put32(&c, 20);
    put32(&c, (uint32_t)len);
    put(&c, p, len);
    done(&c);
    return c;
}

static void what_is_wrong_with_a_stream_is_said(void **state)
{
    (void)state;
    static const struct {
        uint8_t format;
        bool with;
        const char *codec;
    } rows[] = { { 1, CIP_WITH_LZ4, "lz4" },
                 { 3, CIP_WITH_ZLIB, "zlib" },
                 { 4, CIP_WITH_ZSTD, "zstd" } };
    uint8_t *data = test_data(TEST_WORDS, 1000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len;
        if (!rows[i].with)
            continue;
        uint8_t *coded = test_encode(cip_codec_find(rows[i].codec), 1, data, 1000, &len);
        chunk c = one_stream(rows[i].format, 1000, coded, len);
        assert_gives((cip_bytes){ c.b, c.len }, data, 1000);
        c = one_stream(rows[i].format, 1000, coded, len - 1); /* all of the chunk is there */
        assert_refused((cip_bytes){ c.b, c.len }, 1000, CIP_ERR_CORRUPT, "expected");
        c = one_stream(rows[i].format, 1001, coded, len);
        assert_refused((cip_bytes){ c.b, c.len }, 1001, CIP_ERR_CORRUPT, "1001");
        c = one_stream(rows[i].format, 999, coded, len);
        assert_refused((cip_bytes){ c.b, c.len }, 999, CIP_ERR_CORRUPT, "expected");
        coded[len - 1] ^= 1; /* the checksum, where it has one */
        c = one_stream(rows[i].format, 1000, coded, len);
        if (rows[i].format != 1)
            assert_refused((cip_bytes){ c.b, c.len }, 1000, CIP_ERR_CHECKSUM, "expected");
        free(coded);
    }
    free(data);
}

#if CIP_WITH_SNAPPY
static void snappy_streams_say_their_length(void **state)
{
    (void)state;
    chunk c = one_stream(2, 12,
                         "\x0c\x08"
                         "abc\x22\x03\0",
                         8); /* nine bytes from three back */
    assert_gives((cip_bytes){ c.b, c.len }, "abcabcabcabc", 12);
    c = one_stream(2, 13,
                   "\x0c\x08"
                   "abc\x22\x03\0",
                   8);
    assert_refused((cip_bytes){ c.b, c.len }, 13, CIP_ERR_CORRUPT,
                   "expected 13 decoded bytes, found 12");
    c = one_stream(2, 12,
                   "\x0c\x08"
                   "abc\x22\x04\0",
                   8);
    assert_refused((cip_bytes){ c.b, c.len }, 12, CIP_ERR_CORRUPT,
                   "a stream of snappy of 12 decoded bytes, found damaged data");
    c = one_stream(2, 12, "\xff\xff\xff\xff\xff\xff", 6);
    assert_refused((cip_bytes){ c.b, c.len }, 12, CIP_ERR_CORRUPT, "damaged data");
}
#endif

static void a_big_endian_nan_has_the_other_order(void **state)
{
    (void)state;
    chunk c = start(5, 0x05, 4, 8, 8);
    c.b[31] = 0x22;
    assert_gives(done(&c), "\x7f\xc0\0\0\x7f\xc0\0\0", 8);
}

static void a_split_against_blosc1s_rule_is_found_out(void **state)
{
    (void)state;
    /* two elements of 4: blocks of 8 bytes are too small to split, but are */
    chunk c = start(2, 0x01, 4, 8, 8);
    put32(&c, 20);
    for (uint8_t j = 0; j < 4; j++) {
        put32(&c, 2);
        put(&c, (uint8_t[]){ j, (uint8_t)(j + 4) }, 2);
    }
    assert_gives(done(&c), "\0\1\2\3\4\5\6\7", 8);
    chunk d = start(2, 0x01, 4, 8, 8); /* and one that is not, without saying so */
    put32(&d, 20);
    put32(&d, 8);
    put(&d, "\0\4\1\5\2\6\3\7", 8);
    assert_gives(done(&d), "\0\1\2\3\4\5\6\7", 8);
    chunk e = start(2, 0x01, 4, 8, 8); /* neither: what is said is about the first try */
    put32(&e, 20);
    put32(&e, 3);
    put(&e, "\2ab", 3);
    assert_refused(done(&e), 8, CIP_ERR_CORRUPT, "expected more BloscLZ data");
}

/* --- the table ------------------------------------------------------------------------------- */

/* Five blocks of four bytes (the last of two) in the order given. */
static chunk in_order(const uint8_t order[5])
{
    chunk c = start(5, 0x15, 1, 18, 4);
    size_t table = c.len;
    c.len += 20;
    for (int i = 0; i < 5; i++) {
        uint8_t j = order[i];
        uint32_t n = j == 4 ? 2 : 4;
        cip_store_u32(c.b + table + 4 * (size_t)j, (uint32_t)c.len, false);
        put32(&c, n);
        put(&c, (uint8_t[]){ j, j, j, j }, n);
    }
    done(&c);
    return c;
}

/* Else a chunk of a megabyte could be a hundred thousand blocks that are all the same megabyte. */
static void blocks_at_one_place_are_refused(void **state)
{
    (void)state;
    chunk c = in_order((const uint8_t[]){ 0, 1, 2, 3, 4 });
    memcpy(c.b + 32 + 12, c.b + 32 + 4, 4); /* block 3 where block 1 is */
    assert_refused((cip_bytes){ c.b, c.len }, 18, CIP_ERR_CORRUPT,
                   "one Blosc block at each position");
}

static void blocks_may_lie_in_any_order(void **state)
{
    (void)state;
    static const uint8_t orders[][5] = { { 0, 1, 2, 3, 4 }, { 4, 3, 2, 1, 0 }, { 2, 4, 0, 3, 1 } };
    uint8_t want[18];
    for (size_t i = 0; i < sizeof want; i++)
        want[i] = (uint8_t)(i / 4);
    for (size_t i = 0; i < 3; i++) {
        chunk c = in_order(orders[i]);
        assert_gives((cip_bytes){ c.b, c.len }, want, sizeof want);
    }
}

/* 60 blocks of a byte, laid out backwards: sorted otherwise than a few that lie behind another. */
static void many_blocks_may_lie_in_any_order(void **state)
{
    (void)state;
    enum { N = 60 };
    uint8_t want[N];
    chunk c = start(5, 0x15, 1, N, 1);
    const size_t table = c.len;
    c.len += 4 * (size_t)N;
    for (uint8_t i = 0; i < N; i++) {
        want[i] = i;
        cip_store_u32(c.b + table + 4 * (size_t)(N - 1 - i), (uint32_t)c.len, false);
        put32(&c, 1);
        put(&c, (uint8_t[]){ (uint8_t)(N - 1 - i) }, 1);
    }
    assert_gives(done(&c), want, N);
    memcpy(c.b + table, c.b + table + 4 * (size_t)(N - 1), 4); /* the first where the last lies */
    assert_refused((cip_bytes){ c.b, c.len }, N, CIP_ERR_CORRUPT,
                   "one Blosc block at each position");
}

static void a_block_ends_where_the_next_one_begins(void **state)
{
    (void)state;
    chunk c = in_order((const uint8_t[]){ 2, 4, 0, 3, 1 });
    uint32_t at = cip_load_u32(c.b + 32 + 4 * 4, false);
    cip_store_u32(c.b + at, 20, false); /* block 4 claims the others' bytes */
    assert_refused((cip_bytes){ c.b, c.len }, 18, CIP_ERR_CORRUPT,
                   "a Blosc stream of 20 bytes, found 2 left");
}

static void positions_outside_the_chunk_are_refused(void **state)
{
    (void)state;
    static const uint32_t wrong[] = { 0, 31, 51, 4096, UINT32_MAX, 0x80000000 };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        chunk c = in_order((const uint8_t[]){ 0, 1, 2, 3, 4 });
        cip_store_u32(c.b + 32 + 8, wrong[i], false);
        assert_refused((cip_bytes){ c.b, c.len }, 18, CIP_ERR_CORRUPT,
                       "expected Blosc block 2 between 52");
    }
}

/* --- blocks of variable length --------------------------------------------------------------- */

static chunk variable(void)
{
    chunk c = start(6, 0x15, 1, 9, 3);
    c.b[30] = 1;
    put32(&c, 44);
    put32(&c, 52);
    put32(&c, 56);
    put32(&c, 4);
    put(&c, "abcd", 4);
    put32(&c, 0); /* an empty one */
    put32(&c, 5);
    put(&c, "\0e\x20\0", 4); /* "eeee" and one more */
    c.len -= 4;
    put(&c, "\0e\x40\0", 4);
    done(&c);
    return c;
}

static void blocks_of_variable_length_decode(void **state)
{
    (void)state;
    chunk c = variable();
    assert_gives((cip_bytes){ c.b, c.len }, "abcdeeeee", 9);
}

static void lengths_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t v;
        const char *why;
    } rows[] = {
        { 44, 10, "a Blosc block of at most 9 bytes, found 10" },
        { 44, UINT32_MAX, "found -1" },
        { 56, 6, "a Blosc block of at most 5 bytes, found 6" },
        { 44, 3, "decoded bytes" },
        { 32, 53, "ascending positions" },
        { 36, 44, "ascending positions" },
        { 8, 2, "blocks of 9 bytes together" }, /* the third is the second's end */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        chunk c = variable();
        cip_store_u32(c.b + rows[i].at, rows[i].v, false);
        blosc_world w;
        uint8_t *out;
        cip_err err = CIP_ERR_INIT;
        blosc_open(&w, (cip_bytes){ c.b, c.len });
        assert_int_equal(blosc_whole(&w, (cip_bytes){ c.b, c.len }, 9, &out, &err),
                         CIP_ERR_CORRUPT);
        if (i < 3)
            assert_non_null(strstr(err.text, rows[i].why));
        blosc_both_ways_agree((cip_bytes){ c.b, c.len }, 1 << 20);
    }
}

/* --- dictionaries ---------------------------------------------------------------------------- */

#if CIP_WITH_LZ4
/* One block of 12 bytes: a match into the dictionary, then five literals. */
static chunk with_dictionary(uint32_t len)
{
    chunk c = start(5, 0x35, 1, 12, 12);
    c.b[31] = 1;
    put32(&c, 36 + 4 + 7);
    put32(&c, len);
    put(&c, "ABCDEFG", 7);
    put32(&c, 9);
    put(&c,
        "\x03\x07\0\x50"
        "lmnop",
        9);
    done(&c);
    return c;
}

static void lz4_takes_a_dictionary_as_what_was_before(void **state)
{
    (void)state;
    chunk c = with_dictionary(7);
    assert_gives((cip_bytes){ c.b, c.len }, "ABCDEFGlmnop", 12);
    static const uint32_t wrong[] = { 0, 8, 32769, UINT32_MAX, 1 << 30 };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        c = with_dictionary(wrong[i]);
        assert_refused((cip_bytes){ c.b, c.len }, 12, CIP_ERR_CORRUPT,
                       "a dictionary of 1 to 32768");
    }
    c = with_dictionary(6); /* too short for the match */
    assert_refused((cip_bytes){ c.b, c.len }, 12, CIP_ERR_CORRUPT, "a stream of lz4 of 12");
}
#endif

/* --- what is read ---------------------------------------------------------------------------- */

enum { BLOCKS = 20, BLOCK = 1000 };

/* 19.5 blocks of 1000 bytes, blosclz and delta or shuffle. */
static chunk encoded(uint8_t first_filter, uint8_t *raw)
{
    static uint8_t room[32768];
    chunk c = { 0 };
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 0);
    cip_blosc_spec spec = {
        .typesize = 4, .level = 9, .blocksize = BLOCK, .split = CIP_BLOSC_SPLIT_NEVER
    };
    spec.filter[4] = first_filter;
    spec.filter[5] = CIP_BLOSC_SHUFFLE;
    for (uint32_t i = 0; i < BLOCKS * BLOCK; i++)
        raw[i] = i % 4 == 0 ? (uint8_t)(i / 160) : 0;
    assert_int_equal(cip_blosc_encode(env->mem, &spec, (cip_bytes){ raw, 19500 }, room, sizeof room,
                                      &c.len, &t.err),
                     CIP_OK);
    assert_true(c.len < sizeof c.b);
    memcpy(c.b, room, c.len);
    test_env_close(&t);
    return c;
}

static cip_need block_of(const chunk *c, uint32_t j)
{
    uint32_t at = cip_load_u32(c->b + 32 + 4 * j, false);
    uint32_t end = j == BLOCKS - 1 ? (uint32_t)c->len : cip_load_u32(c->b + 36 + 4 * j, false);
    return (cip_need){ at, end - at };
}

static void a_piece_costs_the_table_and_its_blocks(void **state)
{
    (void)state;
    static uint8_t raw[BLOCKS * BLOCK];
    chunk c = encoded(0, raw);
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 0);
    const cip_want want[] = {
        { 7999, 2, NULL }, { 3000, 1000, NULL }, { 3500, 0, NULL }, { 19499, 1, NULL }
    };
    cip_need need[8];
    cip_needs needs = { .at = need, .max = 8 };
    assert_int_equal(C->needs(NULL, env, (cip_bytes){ c.b, c.len }, &(cip_wants){ want, 4, 19500 },
                              &needs, NULL),
                     CIP_OK);
    cip_need three = block_of(&c, 3), seven = block_of(&c, 7), last = block_of(&c, 19);
    assert_int_equal(needs.n, 4);
    assert_int_equal(need[0].off, 0);
    assert_int_equal(need[0].len, 32 + 4 * BLOCKS);
    assert_int_equal(need[1].off, three.off);
    assert_int_equal(need[1].len, three.len);
    assert_int_equal(need[2].off, seven.off); /* with block 8, which lies behind it */
    assert_int_equal(need[2].len, seven.len + block_of(&c, 8).len);
    assert_int_equal(need[3].off, last.off);
    needs.n = 0;
    needs.max = 3;
    assert_int_equal(C->needs(NULL, env, (cip_bytes){ c.b, c.len }, &(cip_wants){ want, 4, 19500 },
                              &needs, NULL),
                     CIP_ERR_LIMIT);
    needs = (cip_needs){ .at = need, .max = 8 }; /* no more of the chunk than its table is shown */
    assert_int_equal(
        C->needs(NULL, env, (cip_bytes){ c.b, 112 }, &(cip_wants){ want, 4, 19500 }, &needs, NULL),
        CIP_OK);
    needs.n = 0;
    assert_int_equal(
        C->needs(NULL, env, (cip_bytes){ c.b, 111 }, &(cip_wants){ want, 4, 19500 }, &needs, NULL),
        CIP_ERR_TRUNCATED);
    assert_int_equal(needs.n, 1);
    assert_int_equal(need[0].len, 112);
    test_env_close(&t);
}

static void delta_needs_block_0_too(void **state)
{
    (void)state;
    static uint8_t raw[BLOCKS * BLOCK];
    chunk c = encoded(CIP_BLOSC_DELTA, raw);
    uint8_t out[30];
    blosc_world w;
    cip_need need[8];
    cip_needs needs = { .at = need, .max = 8 };
    const cip_want want = { 8010, sizeof out, out };
    blosc_open(&w, (cip_bytes){ c.b, c.len });
    assert_int_equal(C->needs(NULL, &w.env, (cip_bytes){ c.b, c.len },
                              &(cip_wants){ &want, 1, 19500 }, &needs, NULL),
                     CIP_OK);
    assert_int_equal(needs.n, 2); /* block 0 is behind the table */
    assert_int_equal(need[0].len, block_of(&c, 0).off + block_of(&c, 0).len);
    assert_int_equal(need[1].off, block_of(&c, 8).off);
    assert_int_equal(blosc_spans(&w, (cip_bytes){ c.b, c.len }, 19500, &want, 1, NULL), CIP_OK);
    assert_memory_equal(out, raw + 8010, sizeof out);
    assert_int_equal(blosc_both_ways_agree((cip_bytes){ c.b, c.len }, 1 << 20), CIP_OK);
}

static void blocks_that_are_not_wanted_are_not_looked_at(void **state)
{
    (void)state;
    static uint8_t raw[BLOCKS * BLOCK];
    chunk c = encoded(0, raw);
    uint8_t out[2500];
    blosc_world w;
    const cip_want want = { 3900, sizeof out, out };
    cip_need bad = block_of(&c, 2);
    memset(c.b + bad.off, 0xff, bad.len);
    blosc_open(&w, (cip_bytes){ c.b, c.len });
    assert_int_equal(blosc_spans(&w, (cip_bytes){ c.b, c.len }, 19500, &want, 1, NULL), CIP_OK);
    assert_memory_equal(out, raw + 3900, sizeof out);
    assert_refused((cip_bytes){ c.b, c.len }, 19500, CIP_ERR_CORRUPT, "Blosc stream");
}

static void stored_and_special_chunks_cost_what_is_wanted(void **state)
{
    (void)state;
    chunk c = start(5, 0x07, 1, 60, 60);
    put(&c, "sixty bytes of text, stored as they are, for nothing else to", 60);
    cip_bytes in = done(&c);
    cip_need need[4];
    cip_needs needs = { .at = need, .max = 4 };
    const cip_want want[] = { { 30, 4, NULL }, { 0, 3, NULL } };
    assert_int_equal(
        C->needs(NULL, &(cip_codec_env){ 0 }, in, &(cip_wants){ want, 2, 60 }, &needs, NULL),
        CIP_OK);
    assert_int_equal(needs.n, 3);
    assert_int_equal(need[0].len, 32);
    assert_int_equal(need[1].off, 62);
    assert_int_equal(need[1].len, 4);
    assert_int_equal(need[2].off, 32);
    assert_gives(in, c.b + 32, 60);
    c.b[8] = 20; /* blocks: what lies between pieces of one comes along */
    const cip_want rising[] = { { 0, 3, NULL },  { 5, 2, NULL },  { 9, 1, NULL },
                                { 19, 9, NULL }, { 30, 4, NULL }, { 50, 2, NULL } };
    needs.n = 0;
    assert_int_equal(
        C->needs(NULL, &(cip_codec_env){ 0 }, in, &(cip_wants){ rising, 6, 60 }, &needs, NULL),
        CIP_OK);
    assert_int_equal(needs.n, 4);
    assert_int_equal(need[0].len, 35);
    assert_int_equal(need[1].off, 37);
    assert_int_equal(need[1].len, 23);
    assert_int_equal(need[2].off, 62);
    assert_int_equal(need[2].len, 4);
    assert_int_equal(need[3].off, 82);
    chunk s = start(5, 0x05, 1, 60, 60);
    s.b[31] = 0x30;
    put(&s, "123", 3);
    needs.n = 0;
    assert_int_equal(
        C->needs(NULL, &(cip_codec_env){ 0 }, done(&s), &(cip_wants){ want, 2, 60 }, &needs, NULL),
        CIP_OK);
    assert_int_equal(needs.n, 1);
    assert_int_equal(need[0].len, 35);
}

static void pieces_outside_the_chunk_and_other_lengths_are_refused(void **state)
{
    (void)state;
    chunk c = in_order((const uint8_t[]){ 0, 1, 2, 3, 4 });
    cip_bytes in = { c.b, c.len };
    uint8_t out[32];
    blosc_world w;
    blosc_open(&w, in);
    static const struct {
        uint64_t off;
        size_t len;
    } outside[] = { { 18, 1 }, { 17, 2 }, { 0, 19 }, { UINT64_MAX, 2 } };
    for (size_t i = 0; i < 4; i++) {
        const cip_want want = { outside[i].off, outside[i].len, out };
        assert_int_equal(blosc_spans(&w, in, 18, &want, 1, NULL), CIP_ERR_RANGE);
    }
    const cip_want good = { 17, 1, out }, none = { 18, 0, NULL };
    assert_int_equal(blosc_spans(&w, in, 18, &good, 1, NULL), CIP_OK);
    assert_int_equal(blosc_spans(&w, in, 18, &none, 1, NULL), CIP_OK);
    assert_int_equal(blosc_spans(&w, in, 17, &good, 1, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(C->decode(NULL, &w.env, in, out, 17, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(C->decode(NULL, &w.env, in, out, 19, NULL), CIP_ERR_CORRUPT);
    const cip_need front = { 0, 40 };
    const uint8_t *ptr = c.b;
    const cip_stored part = { c.len, 1, &front, &ptr };
    assert_int_equal(C->decode_spans(NULL, &w.env, &part, &(cip_wants){ &good, 1, 18 }, NULL),
                     CIP_ERR_ARG);
}

static void what_follows_a_chunk_is_ignored(void **state)
{
    (void)state;
    chunk c = in_order((const uint8_t[]){ 4, 1, 2, 3, 0 });
    uint8_t want[18];
    for (size_t i = 0; i < sizeof want; i++)
        want[i] = (uint8_t)(i / 4);
    memset(c.b + c.len, 0xff, 50);
    assert_gives((cip_bytes){ c.b, c.len + 50 }, want, sizeof want);
}

/* --- memory ---------------------------------------------------------------------------------- */

static void memory_is_bounded_by_two_blocks(void **state)
{
    (void)state;
    static uint8_t raw[BLOCKS * BLOCK], out[BLOCKS * BLOCK];
    chunk c = encoded(CIP_BLOSC_DELTA, raw);
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 2 * BLOCK);
    assert_int_equal(C->decode(NULL, env, (cip_bytes){ c.b, c.len }, out, 19500, &t.err), CIP_OK);
    assert_memory_equal(out, raw, 19500);
    test_env_close(&t);
    env = test_env_open(&t, 0, BLOCK / 2);
    assert_int_equal(C->decode(NULL, env, (cip_bytes){ c.b, c.len }, out, 19500, &t.err),
                     CIP_ERR_LIMIT);
    test_env_close(&t);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static uint8_t raw[BLOCKS * BLOCK];
    uint8_t out[30], small[18];
    chunk c = encoded(CIP_BLOSC_DELTA, raw),
          unordered = in_order((const uint8_t[]){ 4, 1, 2, 3, 0 });
    const cip_need all[2] = { { 0, c.len }, { 0, unordered.len } };
    const uint8_t *ptr[2] = { c.b, unordered.b };
    const cip_want want = { 8010, sizeof out, out };
    bool good = false;
    for (size_t fail_at = 1; !good; fail_at++) {
        test_env t;
        cip_codec_env *env = test_env_open(&t, fail_at, 0);
        const cip_stored src = { c.len, 1, &all[0], &ptr[0] };
        cip_status st = C->decode_spans(NULL, env, &src, &(cip_wants){ &want, 1, 19500 }, &t.err);
        if (st == CIP_OK)
            st = C->decode(NULL, env, (cip_bytes){ unordered.b, unordered.len }, small, 18, &t.err);
        good = st == CIP_OK;
        assert_true(good || st == CIP_ERR_NOMEM);
        assert_true(!good || fail_at > 4);
        test_env_close(&t);
    }
}

static void chunks_are_encoded_as_the_arguments_say(void **state)
{
    (void)state;
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 0);
    const cip_blosc_spec spec = {
        .typesize = 4, .level = 5, .blosc1 = true, .filter = { [5] = CIP_BLOSC_SHUFFLE }
    };
    uint8_t raw[4000], coded[4000 + CIP_BLOSC_HEADER], back[4000];
    cip_blosc_head head;
    cip_dst out = { coded, sizeof coded, 0 }, low = { coded, 20, 0 };
    for (size_t i = 0; i < sizeof raw; i++)
        raw[i] = (uint8_t)(i / 40);
    const cip_bytes in = { raw, sizeof raw };
    assert_int_equal(C->bound(sizeof raw), sizeof coded);
    assert_int_equal(C->bound((size_t)CIP_BLOSC_MAX_NBYTES + 1), 0);
    assert_int_equal(C->encode(&spec, env, 0, in, &out, &t.err), CIP_OK);
    const size_t n = out.len;
    assert_int_equal(cip_blosc_head_parse((cip_bytes){ coded, n }, &head, NULL), CIP_OK);
    assert_true(head.version == 2 && head.typesize == 4 && head.cbytes == n && n < sizeof raw);
    assert_int_equal(C->decode(NULL, env, (cip_bytes){ coded, n }, back, sizeof back, NULL),
                     CIP_OK);
    assert_memory_equal(back, raw, sizeof raw);
    assert_int_equal(C->encode(&spec, env, 9, in, &out, NULL), CIP_OK);
    assert_true(out.len <= n);
    assert_int_equal(C->encode(&spec, env, 0, in, &low, NULL), CIP_ERR_RANGE);
    assert_int_equal(C->encode(NULL, env, 0, in, &out, NULL), CIP_ERR_ARG);
    test_env_close(&t);
}

/* A header of 100 decoded and 40 stored bytes, uncompressed ones of blosclz unless flags say else.
 */
static bool taken(uint8_t version, uint8_t versionlz, uint8_t flags, uint64_t len, uint64_t raw_len)
{
    const cip_blosc_spec spec = { .typesize = 4, .blosc1 = true };
    chunk c = start(version, flags, 4, 100, 100);
    c.b[1] = versionlz;
    cip_store_u32(c.b + 12, 40, false);
    return C->takes(&spec, (cip_bytes){ c.b, c.len }, len, raw_len);
}

static void files_of_blosc1_take_chunks_that_its_library_reads(void **state)
{
    (void)state;
    const cip_blosc_spec two = { .typesize = 4 };
    chunk c = start(2, 0, 4, 100, 100);
    cip_store_u32(c.b + 12, 40, false);
    assert_true(taken(2, 1, 0x00, 40, 100));
    assert_true(taken(2, 1, 0x14, 40, 100) && taken(2, 1, 0x61, 40, 100));
    assert_false(taken(1, 1, 0x00, 40, 100) || taken(3, 1, 0x00, 40, 100));
    assert_false(taken(5, 1, 0x00, 40, 100) || taken(5, 1, 0x05, 40, 100));
    assert_false(taken(2, 2, 0x00, 40, 100)); /* of another version of its codec */
    assert_false(taken(2, 1, 0x40, 40, 100)); /* snappy */
    assert_false(taken(2, 1, 0x00, 41, 100) || taken(2, 1, 0x00, 40, 99));
    assert_false(C->takes(&two, (cip_bytes){ c.b, c.len }, 40, 100));
    assert_false(C->takes(NULL, (cip_bytes){ c.b, c.len }, 40, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_last_block_without_a_whole_element_is_not_filtered),
        cmocka_unit_test(streams_are_zeros_runs_raw_or_coded),
        cmocka_unit_test(streams_that_lie_are_refused),
        cmocka_unit_test(what_is_wrong_with_a_stream_is_said),
#if CIP_WITH_SNAPPY
        cmocka_unit_test(snappy_streams_say_their_length),
#endif
        cmocka_unit_test(a_big_endian_nan_has_the_other_order),
        cmocka_unit_test(a_split_against_blosc1s_rule_is_found_out),
        cmocka_unit_test(blocks_at_one_place_are_refused),
        cmocka_unit_test(blocks_may_lie_in_any_order),
        cmocka_unit_test(many_blocks_may_lie_in_any_order),
        cmocka_unit_test(a_block_ends_where_the_next_one_begins),
        cmocka_unit_test(positions_outside_the_chunk_are_refused),
        cmocka_unit_test(blocks_of_variable_length_decode),
        cmocka_unit_test(lengths_that_lie_are_refused),
#if CIP_WITH_LZ4
        cmocka_unit_test(lz4_takes_a_dictionary_as_what_was_before),
#endif
        cmocka_unit_test(a_piece_costs_the_table_and_its_blocks),
        cmocka_unit_test(delta_needs_block_0_too),
        cmocka_unit_test(blocks_that_are_not_wanted_are_not_looked_at),
        cmocka_unit_test(stored_and_special_chunks_cost_what_is_wanted),
        cmocka_unit_test(pieces_outside_the_chunk_and_other_lengths_are_refused),
        cmocka_unit_test(what_follows_a_chunk_is_ignored),
        cmocka_unit_test(memory_is_bounded_by_two_blocks),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(chunks_are_encoded_as_the_arguments_say),
        cmocka_unit_test(files_of_blosc1_take_chunks_that_its_library_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
