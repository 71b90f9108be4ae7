/* SPDX-License-Identifier: BSD-3-Clause
 * The bzip2 decoder against libbz2 alone: from the beginning, from each checkpoint, and block by
 * block, for sound, hostile and damaged streams. */
#include "support/codec/codec_testing.h"

#include "support/codec/entropy/bzip2_testing.h"

static const size_t steps[][2] = {
    { 1, 1 }, { 1, 1000 }, { 7, 50000 }, { 100000, 3 }, { 5000, 5000 }
};
enum { NSTEP = sizeof steps / sizeof steps[0] };

/* Byte values whose map in a block's head is the 48 bits of a beginning (or of the end). */
static uint8_t *false_magic(size_t n, bool end)
{
    uint64_t magic = end ? UINT64_C(0x177245385090) : UINT64_C(0x314159265359);
    uint8_t used[48], *noise = test_data(TEST_NOISE, n);
    size_t nused = 0;
    for (unsigned i = 0; i < 48; i++)
        if ((magic >> (47 - i) & 1) != 0)
            used[nused++] = (uint8_t)(32 + i);
    for (size_t i = 0; i < n; i++)
        noise[i] = used[noise[i] % nused];
    memcpy(noise, used, nused);
    return noise;
}

static size_t check(const uint8_t *coded, size_t len, size_t room, const size_t step[2],
                    size_t *ncheckpoint)
{
    bzip2_checkpoints m;
    uint8_t *exact = test_copy(coded, len);
    size_t ngood = bzip2_check((cip_bytes){ exact, len }, room, step, &m);
    free(exact);
    if (ncheckpoint != NULL)
        *ncheckpoint = m.n;
    return ngood;
}

static void blocks_are_marked_and_decode_alone(void **state)
{
    (void)state;
    enum { N = 350000 };
    uint8_t *data = test_data(TEST_NOISE, N);
    for (size_t i = 0; i < N; i++)
        data[i] &= 3;
    size_t len, ncheckpoint;
    uint8_t *coded = test_encode(cip_codec_find("bzip2"), 1, data, N, &len);
    for (size_t k = 2; k < NSTEP; k++) {
        assert_int_equal(check(coded, len, N, steps[k], &ncheckpoint), 4);
        assert_int_equal(ncheckpoint, 4); /* the first one at the beginning of the data */
    }
    free(coded);
    free(data);
}

static void false_beginnings_inside_blocks_are_passed_over(void **state)
{
    (void)state;
    enum { N = 101000 };
    for (int end = 0; end < 2; end++) {
        size_t len, ncheckpoint;
        uint64_t bits[8], from = 0;
        uint8_t *data = false_magic(N, end != 0);
        memcpy(data + 100500, data, 40); /* in the second block too */
        uint8_t *coded = test_encode(cip_codec_find("bzip2"), 1, data, N, &len);
        assert_int_equal(cip_bzip2_stream.split->find((cip_bytes){ coded, len }, &from, bits, 8),
                         5);
        assert_int_equal(check(coded, len, N, steps[4], &ncheckpoint), 2);
        assert_int_equal(ncheckpoint, 2);
        free(coded);
        free(data);
    }
}

/* A block of nothing but runs: 45 bytes become five million and more. */
static void runs_that_grow_far_are_bounded_by_the_room(void **state)
{
    (void)state;
    enum { N = 5500000 };
    uint8_t *data = calloc(N, 1);
    size_t len, ncheckpoint;
    uint8_t *coded = test_encode(cip_codec_find("bzip2"), 1, data, N, &len);
    assert_true(len < 200);
    assert_int_equal(check(coded, len, N, steps[4], &ncheckpoint), 2);
    assert_int_equal(ncheckpoint, 2);
    assert_int_equal(check(coded, len, 1000, steps[4], NULL), 0);
    free(coded);
    free(data);
}

static void an_empty_stream_has_no_checkpoints(void **state)
{
    (void)state;
    static const uint8_t empty[] = { 'B',  'Z',  'h',  '9', 0x17, 0x72, 0x45,
                                     0x38, 0x50, 0x90, 0,   0,    0,    0 };
    size_t ncheckpoint;
    for (size_t k = 0; k < NSTEP; k++)
        for (size_t n = 0; n <= sizeof empty; n++) {
            assert_int_equal(check(empty, n, 10, steps[k], &ncheckpoint), 0);
            assert_int_equal(ncheckpoint, 0);
        }
}

/* Tiny blocks joined by hand, as a writer might flush them: each begins at another bit. */
static uint8_t *tiny_blocks(size_t n, size_t *len)
{
    const cip_framing *f = cip_framing_find("bzip2");
    uint8_t piece[1000], *out = calloc(n + 2, 100);
    uint64_t pos = 0, all = 0;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    for (size_t i = 0; i < n; i++) {
        uint8_t text[4] = { 'a', (uint8_t)('a' + i % 7), (uint8_t)('b' + i % 5), 'd' };
        cip_framing_piece p = {
            i == 0, i == n - 1, { text, 1 + i % 4 }, { piece, sizeof piece, 0 }, 0
        };
        assert_int_equal(f->encode(&mem, 1, &p, NULL), CIP_OK);
        for (size_t k = 0; k < p.out.len; k++, pos++)
            out[pos / 8] |= (uint8_t)((piece[k / 8] >> (7 - k % 8) & 1) << (7 - pos % 8));
        f->join(&all, p.sum, p.raw.len);
    }
    size_t ntail = f->tail(all, piece);
    for (size_t k = 0; k < 8 * ntail; k++, pos++)
        out[pos / 8] |= (uint8_t)((piece[k / 8] >> (7 - k % 8) & 1) << (7 - pos % 8));
    *len = (size_t)((pos + 7) / 8);
    return out;
}

static void every_truncation_is_told_as_by_libbz2(void **state)
{
    (void)state;
    size_t len;
    uint8_t *coded =
        test_encode(cip_codec_find("bzip2"), 1, (const uint8_t *)"hello, hello", 12, &len);
    for (size_t n = 0; n <= len; n++)
        for (size_t k = 0; k < NSTEP; k++)
            check(coded, n, 12, steps[k], NULL);
    free(coded);
    coded = tiny_blocks(3, &len);
    for (size_t n = 0; n < len; n++)
        check(coded, n, 100, steps[n % NSTEP], NULL);
    free(coded);
}

static void every_flipped_bit_is_told_as_by_libbz2(void **state)
{
    (void)state;
    size_t len;
    uint8_t *coded =
        test_encode(cip_codec_find("bzip2"), 1, (const uint8_t *)"hello, hello", 12, &len);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        coded[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        check(coded, len, 5000, steps[bit % 2 != 0 ? 0 : 4], NULL);
        coded[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    }
    free(coded);
}

static void thousands_of_tiny_blocks_go_through(void **state)
{
    (void)state;
    enum { N = 12 };
    size_t len, ncheckpoint;
    uint8_t *coded = tiny_blocks(N, &len);
    for (size_t k = 0; k < NSTEP; k++) {
        assert_int_equal(check(coded, len, 1000, steps[k], &ncheckpoint), N);
        assert_int_equal(ncheckpoint, N);
    }
    for (size_t i = 4; i < len; i += 7) { /* one of them is damaged */
        coded[i] ^= 0x20;
        check(coded, len, 1000, steps[i % NSTEP], NULL);
        coded[i] ^= 0x20;
    }
    free(coded);
    coded = tiny_blocks(2000, &len);
    size_t lost;
    bzip2_result plain = bzip2_plain((cip_bytes){ coded, len }, 10000, 100, &lost), r;
    r = bzip2_ours((cip_bytes){ coded, len }, 10000, NULL, steps[2], NULL);
    assert_int_equal(r.st, CIP_OK);
    bzip2_same(&plain, 0, &r);
    free(plain.raw);
    free(coded);
}

static void the_end_tells_where_it_lies(void **state)
{
    (void)state;
    size_t len;
    uint8_t out[10];
    void *s;
    test_env t;
    uint8_t *coded = test_encode(cip_codec_find("bzip2"), 1, (const uint8_t *)"abc", 3, &len);
    uint8_t *longer = calloc(len + 100, 1);
    memcpy(longer, coded, len);
    cip_flow f = { .in = longer, .in_len = len + 100, .out = out, .out_len = sizeof out };
    assert_int_equal(cip_bzip2_stream.begin(NULL, test_env_open(&t, 0, 0), &s, NULL), CIP_OK);
    assert_int_equal(cip_bzip2_stream.step(s, &f, NULL), CIP_OK);
    assert_true(f.end);
    assert_int_equal(f.took, len);
    assert_int_equal(f.gave, 3);
    cip_bzip2_stream.finish(s);
    test_env_close(&t);
    free(longer);
    free(coded);
}

static cip_status resume_at(const cip_checkpoint *m, cip_bytes src, size_t fail_at)
{
    test_env t;
    void *s;
    cip_codec_env *env = test_env_open(&t, fail_at, 0);
    cip_status st = cip_bzip2_stream.resume(NULL, env, m, &s, NULL);
    size_t pos = (size_t)(m->in_bits / 8);
    uint8_t out[100];
    cip_flow f = { .last = true, .out = out, .out_len = sizeof out };
    while (st == CIP_OK && !f.end) {
        f.in = src.ptr + pos;
        f.in_len = src.len - pos;
        st = cip_bzip2_stream.step(s, &f, NULL);
    }
    cip_bzip2_stream.finish(s);
    test_env_close(&t);
    return st;
}

static void a_checkpoint_that_lies_is_an_error(void **state)
{
    (void)state;
    size_t len;
    uint8_t *coded = tiny_blocks(9, &len);
    cip_bytes src = { coded, len };
    bzip2_checkpoints checkpoints;
    bzip2_result r = bzip2_ours(src, 100, NULL, steps[4], &checkpoints);
    free(r.raw);
    cip_checkpoint m = checkpoints.at[5];
    uint8_t window[CIP_SPLIT_WINDOW];
    m.window = memcpy(window, m.window, m.window_len);
    assert_int_equal(resume_at(&m, src, 0), CIP_OK);
    m.in_bits++;
    assert_int_equal(resume_at(&m, src, 0), CIP_ERR_CORRUPT); /* no block there */
    m.in_bits--;
    window[4] ^= 1;
    assert_int_equal(resume_at(&m, src, 0), CIP_ERR_CORRUPT); /* the checksum at the end */
    window[4] ^= 1;
    window[0] = 10;
    assert_int_equal(resume_at(&m, src, 0), CIP_ERR_CORRUPT);
    window[0] = 0;
    assert_int_equal(resume_at(&m, src, 0), CIP_ERR_CORRUPT);
    window[0] = 1;
    m.window_len = 4;
    assert_int_equal(resume_at(&m, src, 0), CIP_ERR_CORRUPT);
    m.window_len = 5;
    for (size_t at = 1; at < 4; at++) /* our state, libbz2's, its table */
        assert_int_equal(resume_at(&m, src, at), CIP_ERR_NOMEM);
    assert_int_equal(resume_at(&m, src, 4), CIP_OK);
    free(coded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_marked_and_decode_alone),
        cmocka_unit_test(false_beginnings_inside_blocks_are_passed_over),
        cmocka_unit_test(runs_that_grow_far_are_bounded_by_the_room),
        cmocka_unit_test(an_empty_stream_has_no_checkpoints),
        cmocka_unit_test(every_truncation_is_told_as_by_libbz2),
        cmocka_unit_test(every_flipped_bit_is_told_as_by_libbz2),
        cmocka_unit_test(thousands_of_tiny_blocks_go_through),
        cmocka_unit_test(the_end_tells_where_it_lies),
        cmocka_unit_test(a_checkpoint_that_lies_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
