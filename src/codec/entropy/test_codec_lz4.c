/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/codec/codec_testing.h"

#include <limits.h>
#include <sys/mman.h>

static cip_status decode(const uint8_t *src, size_t n, size_t dst_len, uint8_t **out, cip_err *err)
{
    return test_decode(cip_codec_find("lz4"), src, n, dst_len, out, err);
}

/* 1 literal, a match of 15 one byte back, 5 literals. */
static const uint8_t run[] = { 0x1b, 'a', 1, 0, 0x50, 'b', 'c', 'd', 'e', 'f' };
static const char run_raw[] = "aaaaaaaaaaaaaaaabcdef";

static void sequences_decode(void **state)
{
    (void)state;
    static const uint8_t literals[] = { 0x30, 'a', 'b', 'c' };
    static const uint8_t nothing[] = { 0 };
    uint8_t *out;
    assert_int_equal(decode(literals, sizeof literals, 3, &out, NULL), CIP_OK);
    assert_memory_equal(out, "abc", 3);
    free(out);
    assert_int_equal(decode(run, sizeof run, 21, &out, NULL), CIP_OK);
    assert_memory_equal(out, run_raw, 21);
    free(out);
    assert_int_equal(decode(nothing, 1, 0, NULL, NULL), CIP_OK);
}

#define BAD(status, message, dst_len, ...)                                                         \
    do {                                                                                           \
        static const uint8_t b_[] = { __VA_ARGS__ };                                               \
        cip_err err_ = CIP_ERR_INIT;                                                               \
        assert_int_equal(decode(b_, sizeof b_, (dst_len), NULL, &err_), (status));                 \
        assert_int_equal(err_.code, (status));                                                     \
        assert_string_equal(err_.text, (message));                                                 \
    } while (0)

static void a_match_outside_the_decoded_bytes_is_corrupt(void **state)
{
    (void)state;
    /* liblz4 minds 0 only together with another fault. */
    BAD(CIP_ERR_CORRUPT,
        "expected an LZ4 match within the 1 bytes decoded so far, found one 0 bytes back", 22, 0x1b,
        'a', 0, 0, 0x50, 'b', 'c', 'd', 'e', 'f');
    BAD(CIP_ERR_CORRUPT,
        "expected an LZ4 match within the 1 bytes decoded so far, found one 2 bytes back", 21, 0x1b,
        'a', 2, 0, 0x50, 'b', 'c', 'd', 'e', 'f');
    /* The second match lies one byte before the beginning. */
    BAD(CIP_ERR_CORRUPT,
        "expected an LZ4 match within the 17 bytes decoded so far, found one 18 bytes back", 27,
        0x1b, 'a', 1, 0, 0x10, 'b', 18, 0, 0x50, 'b', 'c', 'd', 'e', 'f');
}

static void an_early_end_is_truncated(void **state)
{
    (void)state;
    static const char at3[] = "expected more of an LZ4 block, found its end after 3 bytes";
    BAD(CIP_ERR_TRUNCATED, at3, 3, 0x30, 'a', 'b');   /* in literals */
    BAD(CIP_ERR_TRUNCATED, at3, 21, 0x1b, 'a', 1);    /* in an offset */
    BAD(CIP_ERR_TRUNCATED, at3, 600, 0xf0, 255, 255); /* in a length of literals */
    BAD(CIP_ERR_TRUNCATED, "expected more of an LZ4 block, found its end after 5 bytes", 600, 0x1f,
        'a', 1, 0, 255); /* in a length of a match */
    BAD(CIP_ERR_TRUNCATED, "expected more of an LZ4 block, found its end after 4 bytes", 16, 0x1b,
        'a', 1, 0); /* where the last literals should be */
}

static void another_number_of_bytes_is_told(void **state)
{
    (void)state;
    BAD(CIP_ERR_CORRUPT, "expected 4 decoded bytes, found 3", 4, 0x30, 'a', 'b', 'c');
    BAD(CIP_ERR_CORRUPT, "expected 2 decoded bytes, found more", 2, 0x30, 'a', 'b', 'c');
    BAD(CIP_ERR_CORRUPT, "expected 0 decoded bytes, found more", 0, 0x30, 'a', 'b', 'c');
    BAD(CIP_ERR_CORRUPT, "expected 22 decoded bytes, found 21", 22, 0x1b, 'a', 1, 0, 0x50, 'b', 'c',
        'd', 'e', 'f');
    BAD(CIP_ERR_CORRUPT, "expected 20 decoded bytes, found more", 20, 0x1b, 'a', 1, 0, 0x50, 'b',
        'c', 'd', 'e', 'f');
    BAD(CIP_ERR_CORRUPT, "expected 15 decoded bytes, found more", 15, 0x1b, 'a', 1, 0, 0x50, 'b',
        'c', 'd', 'e', 'f');
    /* Lengths of more than four bits. */
    BAD(CIP_ERR_CORRUPT, "expected 500 decoded bytes, found 296", 500, 0x1f, 'a', 1, 0, 255, 16,
        0x50, 'b', 'c', 'd', 'e', 'f');
    BAD(CIP_ERR_CORRUPT, "expected 500 decoded bytes, found 15", 500, 0xf0, 0, 1, 2, 3, 4, 5, 6, 7,
        8, 9, 10, 11, 12, 13, 14, 15);
}

static void a_match_at_the_very_end_is_corrupt(void **state)
{
    (void)state;
    BAD(CIP_ERR_CORRUPT,
        "expected literals at the end of an LZ4 block, found a match too close to the end", 6, 0x10,
        'a', 1, 0, 0x10, 'b');
}

/* Sizes that liblz4's int cannot hold are refused before anything is read. */
static void blocks_over_2_gib_are_unsupported(void **state)
{
    (void)state;
    const cip_codec *c = cip_codec_find("lz4");
    uint8_t dst[8], one = 0x10;
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 0);
    size_t max = INT_MAX;
    assert_int_equal(c->decode(NULL, env, (cip_bytes){ &one, 1 }, dst, max + 1, &t.err),
                     CIP_ERR_UNSUPPORTED);
    assert_string_equal(t.err.text, "expected an LZ4 block under 2 GiB, found 1 stored and "
                                    "2147483648 decoded bytes");
    assert_int_equal(c->decode(NULL, env, (cip_bytes){ &one, max + 1 }, dst, 8, &t.err),
                     CIP_ERR_UNSUPPORTED);
    assert_int_equal(c->decode(NULL, env, (cip_bytes){ &one, 1 }, dst, max, &t.err),
                     CIP_ERR_TRUNCATED);
    const uint8_t *zeros =
        mmap(NULL, max, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros != MAP_FAILED) {
        assert_int_equal(c->decode(NULL, env, (cip_bytes){ zeros, max }, dst, 8, &t.err),
                         CIP_ERR_CORRUPT);
        munmap((void *)zeros, max);
    }
    assert_int_equal(c->encode(NULL, env, 0, (cip_bytes){ &one, 0x7E000001 },
                               &(cip_dst){ dst, sizeof dst, 0 }, &t.err),
                     CIP_ERR_RANGE);
    assert_string_equal(t.err.text,
                        "expected at most 2113929216 bytes for an LZ4 block, found 2113929217");
    assert_int_equal(c->bound((size_t)0x7E000001), 0);
    assert_true(c->bound((size_t)0x7E000000) > 0x7E000000);
    /* Room that int cannot hold. */
    cip_dst room = { malloc(100), max + 1, 0 };
    assert_int_equal(c->encode(NULL, env, 0, (cip_bytes){ &one, 1 }, &room, &t.err), CIP_OK);
    assert_int_equal(room.len, 2);
    free(room.ptr);
    test_env_close(&t);
}

/* decode_spans of a block at hand in one piece. */
static cip_status spans(test_env *t, cip_bytes coded, uint64_t raw_len, const cip_want *want,
                        size_t n)
{
    const cip_need whole = { 0, coded.len };
    const cip_stored src = { .total = coded.len, .n = 1, .at = &whole, .ptr = &coded.ptr };
    return cip_codec_find("lz4")->decode_spans(NULL, &t->env, &src,
                                               &(cip_wants){ want, n, raw_len }, &t->err);
}

static void every_piece_of_a_block_is_the_same_as_in_the_whole(void **state)
{
    (void)state;
    enum { N = 150 };
    size_t len;
    uint8_t *data = test_data(TEST_WORDS, N);
    uint8_t *coded = test_encode(cip_codec_find("lz4"), 0, data, N, &len);
    for (size_t off = 0; off <= N; off++) {
        for (size_t n = 0; off + n <= N; n++) {
            test_env t;
            test_env_open(&t, 0, 0);
            uint8_t *dst = malloc(n);
            const cip_want want = { off, n, dst };
            assert_int_equal(spans(&t, (cip_bytes){ coded, len }, N, &want, 1), CIP_OK);
            assert_memory_equal(dst, data + off, n);
            test_env_close(&t);
            free(dst);
        }
    }
    free(coded);
    free(data);
}

static void several_pieces_come_in_any_order(void **state)
{
    (void)state;
    enum { N = 100000 };
    size_t len;
    uint8_t a[10], b[2000], c[1], *data = test_data(TEST_WORDS, N);
    uint8_t *coded = test_encode(cip_codec_find("lz4"), 0, data, N, &len);
    const cip_want want[] = {
        { 70000, sizeof a, a }, { 100, sizeof b, b }, { 90000, 0, NULL }, { 70005, sizeof c, c }
    };
    test_env t;
    test_env_open(&t, 0, 0);
    assert_int_equal(spans(&t, (cip_bytes){ coded, len }, N, want, 4), CIP_OK);
    assert_memory_equal(a, data + 70000, sizeof a);
    assert_memory_equal(b, data + 100, sizeof b);
    assert_memory_equal(c, data + 70005, sizeof c);
    assert_int_equal(spans(&t, (cip_bytes){ coded, len }, N, want, 0), CIP_OK);
    test_env_close(&t);
    free(coded);
    free(data);
}

/* What lies behind the last wanted byte costs neither time nor memory, and may be damaged. */
static void only_what_is_needed_is_decoded(void **state)
{
    (void)state;
    enum { N = 100000 };
    size_t len;
    uint8_t a[100], *data = test_data(TEST_NOISE, N);
    uint8_t *coded = test_encode(cip_codec_find("lz4"), 0, data, N, &len);
    const cip_want early = { 900, sizeof a, a }, first = { 0, sizeof a, a };
    const cip_want late = { N - sizeof a, sizeof a, a };
    test_env t;
    test_env_open(&t, 0, 2000);
    assert_int_equal(spans(&t, (cip_bytes){ coded, len }, N, &early, 1), CIP_OK);
    assert_memory_equal(a, data + 900, sizeof a);
    assert_int_equal(spans(&t, (cip_bytes){ coded, 2000 }, N, &early, 1), CIP_OK);
    assert_memory_equal(a, data + 900, sizeof a);
    assert_int_equal(spans(&t, (cip_bytes){ coded, len }, N, &late, 1), CIP_ERR_LIMIT);
    test_env_close(&t);
    test_env_open(&t, 1, 0); /* the beginning goes straight to its place */
    assert_int_equal(spans(&t, (cip_bytes){ coded, len }, N, &first, 1), CIP_OK);
    assert_memory_equal(a, data, sizeof a);
    assert_int_equal(t.alloc.requests, 0);
    assert_int_equal(spans(&t, (cip_bytes){ coded, len }, N, &late, 1), CIP_ERR_NOMEM);
    assert_int_equal(spans(&t, (cip_bytes){ coded, len }, N, &late, 1), CIP_OK);
    assert_memory_equal(a, data + N - sizeof a, sizeof a);
    test_env_close(&t);
    free(coded);
    free(data);
}

static void a_match_0_bytes_back_does_not_show_old_memory(void **state)
{
    (void)state;
    static const uint8_t bad[] = { 0x1f, 'a', 0, 0, 255, 255, 255, 100, 0x50, 1, 2, 3, 4, 5 };
    uint8_t out[300];
    const cip_want want = { 0, sizeof out, out };
    test_env t;
    test_env_open(&t, 0, 0);
    memset(out, 0x77, sizeof out);
    if (spans(&t, (cip_bytes){ bad, sizeof bad }, 890, &want, 1) == CIP_OK)
        assert_null(memchr(out, 0x77, sizeof out));
    test_env_close(&t);
}

static void a_bad_block_gives_no_pieces(void **state)
{
    (void)state;
    uint8_t out[64];
    const cip_bytes in = { run, sizeof run };
    const cip_want all = { 0, 21, out }, some = { 5, 3, out }, late = { 20, 1, out };
    const cip_want more = { 15, 8, out }, outside = { 15, 7, out }, far = { UINT64_MAX, 2, out };
    test_env t;
    test_env_open(&t, 0, 0);
    assert_int_equal(spans(&t, in, 21, &all, 1), CIP_OK);
    assert_int_equal(spans(&t, in, 21, &outside, 1), CIP_ERR_RANGE);
    assert_string_equal(t.err.text, "expected a piece within 21 bytes, found 7 at 15");
    assert_int_equal(spans(&t, in, 21, &far, 1), CIP_ERR_RANGE);
    memset(out, 7, sizeof out);
    assert_int_equal(spans(&t, in, 22, &outside, 1),
                     CIP_ERR_CORRUPT); /* all of them: one too few */
    assert_int_equal(spans(&t, in, 30, &more, 1), CIP_ERR_CORRUPT);
    assert_string_equal(t.err.text, "expected 30 decoded bytes, found 21");
    assert_int_equal(spans(&t, (cip_bytes){ run, 3 }, 21, &some, 1), CIP_ERR_TRUNCATED);
    assert_int_equal(spans(&t, (cip_bytes){ run, 0 }, 21, &some, 1), CIP_ERR_TRUNCATED);
    assert_int_equal(spans(&t, (cip_bytes){ run, 8 }, 21, &late, 1), CIP_ERR_TRUNCATED);
    assert_int_equal(out[0], 7);
    test_env_close(&t);
}

static void a_block_in_parts_is_a_wrong_call(void **state)
{
    (void)state;
    const cip_codec *c = cip_codec_find("lz4");
    uint8_t out[21];
    const uint8_t *ptr[] = { run, run + 5 };
    const cip_want want = { 0, 21, out };
    const cip_need two[] = { { 0, 5 }, { 5, 5 } }, late = { 1, 10 }, part = { 0, 9 };
    const cip_stored bad[] = { { 10, 2, two, ptr }, { 10, 1, &late, ptr }, { 10, 1, &part, ptr } };
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(c->decode_spans(NULL, env, &bad[i], &(cip_wants){ &want, 1, 21 }, &t.err),
                         CIP_ERR_ARG);
    test_env_close(&t);
}

static void pieces_over_2_gib_are_unsupported(void **state)
{
    (void)state;
    uint8_t out[8];
    uint64_t max = INT_MAX;
    const cip_bytes in = { run, sizeof run };
    const cip_want want = { 0, (size_t)max + 1, out };
    test_env t;
    test_env_open(&t, 0, 0);
    assert_int_equal(spans(&t, in, max + 1, &want, 1), CIP_ERR_UNSUPPORTED);
    assert_int_equal(spans(&t, in, max + 2, &want, 1), CIP_ERR_UNSUPPORTED);
    assert_int_equal(
        spans(&t, (cip_bytes){ run, (size_t)max + 1 }, 21, &(cip_want){ 0, 5, out }, 1),
        CIP_ERR_UNSUPPORTED);
    test_env_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_decode),
        cmocka_unit_test(a_match_outside_the_decoded_bytes_is_corrupt),
        cmocka_unit_test(an_early_end_is_truncated),
        cmocka_unit_test(another_number_of_bytes_is_told),
        cmocka_unit_test(a_match_at_the_very_end_is_corrupt),
        cmocka_unit_test(blocks_over_2_gib_are_unsupported),
        cmocka_unit_test(every_piece_of_a_block_is_the_same_as_in_the_whole),
        cmocka_unit_test(several_pieces_come_in_any_order),
        cmocka_unit_test(only_what_is_needed_is_decoded),
        cmocka_unit_test(a_match_0_bytes_back_does_not_show_old_memory),
        cmocka_unit_test(a_bad_block_gives_no_pieces),
        cmocka_unit_test(a_block_in_parts_is_a_wrong_call),
        cmocka_unit_test(pieces_over_2_gib_are_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
