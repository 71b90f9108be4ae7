/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/codec/frames_testing.h"

#include <lz4frame.h>
#include <xxhash.h>

#include "base/endian.h"

enum {
    DICTIONARY = 0x01,
    CONTENT_SUM = 0x04,
    SIZE = 0x08,
    BLOCK_SUM = 0x10,
    INDEPENDENT = 0x20,
    VERSION = 0x40,
    ALONE = VERSION | INDEPENDENT
};

#define STORED 0x80000000u

/* A frame's header; the content size and the dictionary's id are there as the flags say. */
static void add_header(test_run *r, unsigned flags, unsigned bd, uint64_t size)
{
    uint8_t b[19] = { 0x04, 0x22, 0x4d, 0x18, (uint8_t)flags, (uint8_t)bd };
    size_t n = 6;
    cip_store_u64(b + n, size, false);
    n += flags & SIZE ? 8 : 0;
    cip_store_u32(b + n, 7, false);
    n += flags & DICTIONARY ? 4 : 0;
    b[n] = (uint8_t)(XXH32(b + 4, n - 4, 0) >> 8);
    test_run_add(r, b, n + 1);
}

static void add_word(test_run *r, uint32_t word)
{
    uint8_t b[4];
    cip_store_u32(b, word, false);
    test_run_add(r, b, 4);
}

static void add_skippable(test_run *r, uint32_t magic, size_t n)
{
    static const uint8_t zeros[1000];
    add_word(r, magic);
    add_word(r, (uint32_t)n);
    test_run_add(r, zeros, n);
}

static test_found scan(test_run *r, const uint8_t *raw, uint64_t raw_len, uint64_t max_pieces)
{
    return test_scan(cip_lz4f_scan, r, raw, raw_len, max_pieces);
}

/* A frame by liblz4. */
static void add_frame(test_run *r, const uint8_t *data, size_t n, unsigned flags,
                      LZ4F_blockSizeID_t id)
{
    LZ4F_preferences_t p = { .frameInfo.blockSizeID = id };
    p.frameInfo.blockMode = flags & INDEPENDENT ? LZ4F_blockIndependent : LZ4F_blockLinked;
    p.frameInfo.contentChecksumFlag = (flags & CONTENT_SUM) != 0;
    p.frameInfo.blockChecksumFlag = (flags & BLOCK_SUM) != 0;
    p.frameInfo.contentSize = flags & SIZE ? n : 0;
    LZ4F_cctx *ctx;
    size_t cap = LZ4F_compressBound(n, &p) + 100, len, more;
    uint8_t *b = malloc(cap);
    assert_non_null(b);
    assert_false(LZ4F_isError(LZ4F_createCompressionContext(&ctx, LZ4F_VERSION)));
    len = LZ4F_compressBegin(ctx, b, cap, &p);
    more = LZ4F_compressUpdate(ctx, b + len, cap - len, data, n, NULL);
    assert_false(LZ4F_isError(more));
    len += more;
    more = LZ4F_compressEnd(ctx, b + len, cap - len, NULL);
    assert_false(LZ4F_isError(more));
    test_run_add(r, b, len + more);
    LZ4F_freeCompressionContext(ctx);
    free(b);
}

static void independent_blocks_are_pieces(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 65535, 65536, 65537, 131072, 200000 };
    static const unsigned options[] = { 0, CONTENT_SUM, SIZE, BLOCK_SUM,
                                        CONTENT_SUM | SIZE | BLOCK_SUM };
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t o = 0; o < sizeof options / sizeof options[0]; o++)
            for (int k = 0; k < TEST_NKIND; k++) {
                uint8_t *data = test_data((test_kind)k, sizes[s]);
                test_run r = { 0 };
                add_frame(&r, data, sizes[s], INDEPENDENT | options[o], LZ4F_max64KB);
                test_found f = scan(&r, data, sizes[s], 4);
                assert_int_equal(f.st, CIP_OK);
                assert_int_equal(f.n, (sizes[s] + 65535) / 65536);
                assert_int_equal(f.nstored, k == TEST_NOISE ? f.n : sizes[s] % 65536 == 1);
                free(r.ptr);
                free(data);
            }
}

static void blocks_of_every_size_are_known(void **state)
{
    (void)state;
    enum { N = 9 << 20 };
    static const size_t pieces[] = { 144, 36, 9, 3 };
    uint8_t *data = test_data(TEST_WORDS, N);
    for (unsigned id = 4; id <= 7; id++) {
        test_run r = { 0 };
        add_frame(&r, data, N, INDEPENDENT, (LZ4F_blockSizeID_t)id);
        test_found f = scan(&r, data, N, 1000);
        assert_int_equal(f.st, CIP_OK);
        assert_int_equal(f.n, pieces[id - 4]);
        free(r.ptr);
    }
    free(data);
}

static void frames_follow_each_other(void **state)
{
    (void)state;
    enum { N = 300000 };
    uint8_t *data = test_data(TEST_WORDS, N);
    test_run r = { 0 };
    add_skippable(&r, 0x184d2a50, 700);
    add_frame(&r, data, 100000, INDEPENDENT | SIZE | CONTENT_SUM, LZ4F_max64KB);
    add_skippable(&r, 0x184d2a5f, 0);
    add_frame(&r, data, 0, INDEPENDENT | CONTENT_SUM, LZ4F_max64KB);
    add_frame(&r, data + 100000, 70000, INDEPENDENT, LZ4F_max64KB); /* the one without size */
    add_frame(&r, data + 170000, N - 170000, INDEPENDENT | SIZE | BLOCK_SUM, LZ4F_max64KB);
    add_skippable(&r, 0x184d2a51, 1);
    test_found f = scan(&r, data, N, 6);
    assert_int_equal(f.st, CIP_OK);
    assert_int_equal(f.n, 6);
    assert_int_equal(scan(&r, data, N, 5).st, CIP_ERR_LIMIT);
    /* Another frame without size: the two could share the rest in any way. */
    add_frame(&r, data, 10, INDEPENDENT, LZ4F_max64KB);
    f = scan(&r, NULL, N + 10, 100); /* 10 bytes are stored: these do not count */
    assert_int_equal(f.n, 7);
    add_frame(&r, data, 1000, INDEPENDENT, LZ4F_max64KB);
    f = scan(&r, NULL, N + 1010, 100);
    assert_int_equal(f.st, CIP_OK);
    assert_true(f.sequential);
    free(r.ptr);
    free(data);
}

static void nothing_has_no_pieces(void **state)
{
    (void)state;
    test_run r = { 0 };
    test_found f = scan(&r, NULL, 0, 0);
    assert_int_equal(f.st, CIP_OK);
    assert_false(f.sequential);
    assert_true(scan(&r, NULL, 1, 0).sequential); /* decoding says what is wrong */
    add_frame(&r, NULL, 0, INDEPENDENT | CONTENT_SUM, LZ4F_max64KB);
    f = scan(&r, NULL, 0, 0);
    assert_int_equal(f.st, CIP_OK);
    assert_false(f.sequential);
    free(r.ptr);
}

static void dependent_blocks_are_decoded_in_order(void **state)
{
    (void)state;
    uint8_t *data = test_data(TEST_WORDS, 200000);
    test_run r = { 0 };
    add_frame(&r, data, 200000, SIZE, LZ4F_max64KB);
    test_found f = scan(&r, data, 200000, 1000);
    assert_int_equal(f.st, CIP_OK);
    assert_true(f.sequential);
    free(r.ptr);
    r = (test_run){ 0 };
    add_header(&r, ALONE | DICTIONARY, 0x40, 0);
    f = scan(&r, NULL, 100, 1000);
    assert_int_equal(f.st, CIP_OK);
    assert_true(f.sequential);
    free(r.ptr);
    free(data);
}

/* A block that decodes to n zeros, 1 to 65536 of them. */
static void add_zeros(test_run *r, size_t n)
{
    size_t len;
    uint8_t *zeros = test_data(TEST_ZEROS, n);
    uint8_t *block = test_encode(cip_codec_find("lz4"), 0, zeros, n, &len);
    add_word(r, (uint32_t)len);
    test_run_add(r, block, len);
    free(block);
    free(zeros);
}

/* A block of n zeros, stored as they are. */
static void add_stored(test_run *r, uint32_t n)
{
    uint8_t *zeros = test_data(TEST_ZEROS, n);
    add_word(r, n | STORED);
    test_run_add(r, zeros, n);
    free(zeros);
}

/* A frame of blocks that decode to so many zeros, stored ones with the flag STORED. */
static void add_blocks(test_run *r, unsigned flags, uint64_t size, const uint32_t *n, size_t count)
{
    add_header(r, ALONE | flags, 0x40, size);
    for (size_t i = 0; i < count; i++)
        if (n[i] & STORED)
            add_stored(r, n[i] & ~STORED);
        else
            add_zeros(r, n[i]);
    add_word(r, 0);
}

static test_found blocks(unsigned flags, uint64_t size, const uint32_t *n, size_t count,
                         uint64_t raw_len)
{
    test_run r = { 0 };
    uint8_t *zeros = test_data(TEST_ZEROS, 1 << 20);
    add_blocks(&r, flags, size, n, count);
    test_found f = scan(&r, zeros, raw_len, 100);
    free(zeros);
    free(r.ptr);
    return f;
}

#define BLOCKS(flags, size, raw_len, ...)                                                          \
    blocks((flags), (size), (const uint32_t[]){ __VA_ARGS__ },                                     \
           sizeof(const uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t), (raw_len))

enum { FULL = 65536 };

/* What the last block decodes to follows from the content size, or from the run's. */
static void the_last_blocks_size_follows_from_the_whole(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= SIZE; flags += SIZE) {
        for (uint32_t n = 1; n <= FULL; n = n < 20 ? n + 1 : n + 9357) {
            assert_int_equal(BLOCKS(flags, n, n, n).n, 1);
            assert_int_equal(BLOCKS(flags, FULL + n, FULL + n, FULL, n).n, 2);
        }
        assert_int_equal(BLOCKS(flags, 2 * FULL, 2 * FULL, FULL, FULL).n, 2);
        assert_int_equal(BLOCKS(flags, 3 * FULL + 9, 3 * FULL + 9, FULL, FULL, FULL, 9).n, 4);
    }
}

/* An encoder that flushes leaves blocks that are not full: where they lie is not known then. */
static void blocks_that_are_not_full_are_decoded_in_order(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags <= SIZE; flags += SIZE) {
        assert_true(BLOCKS(flags, 2000, 2000, 1000, 1000).sequential);
        assert_true(BLOCKS(flags, FULL, FULL, FULL - 1, 1).sequential);
        /* As long as one full block and a last of 900 would be. */
        assert_true(BLOCKS(flags, FULL + 900, FULL + 900, FULL - 100, 1000).sequential);
        assert_true(BLOCKS(flags, 2 * FULL, 2 * FULL, FULL, FULL - 1, 1).sequential);
        assert_true(
            BLOCKS(flags, 2 * FULL + 900, 2 * FULL + 900, FULL - 100, FULL, 1000).sequential);
        assert_true(BLOCKS(flags, FULL + 90, FULL + 90, FULL - 10, 100 | STORED).sequential);
    }
}

static void sizes_that_contradict_each_other_are_left_to_decoding(void **state)
{
    (void)state;
    assert_true(BLOCKS(SIZE, 0, 0, 5).sequential);
    assert_true(BLOCKS(SIZE, 100, 101, 100).sequential);
    assert_true(BLOCKS(SIZE, FULL + 1, FULL + 1, 100).sequential);
    assert_true(BLOCKS(SIZE, FULL + 101, FULL + 101, FULL, 100).sequential);
    assert_true(BLOCKS(SIZE, FULL + 99, FULL + 99, FULL, 100).sequential);
    assert_true(BLOCKS(SIZE, FULL, FULL, FULL, 100).sequential);
    assert_true(BLOCKS(SIZE, 3 * FULL, 2 * FULL, FULL, FULL).sequential);
    assert_true(BLOCKS(0, 0, 3 * FULL, FULL, FULL).sequential);
    assert_true(BLOCKS(0, 0, 0, 5).sequential);
    assert_true(BLOCKS(0, 0, FULL + 1, FULL).sequential);
    assert_true(BLOCKS(0, 0, UINT64_MAX, FULL).sequential);
    assert_true(BLOCKS(0, 0, FULL + 101, FULL, 100).sequential);
    assert_true(BLOCKS(0, 0, FULL + 99, FULL, 100).sequential);
    assert_true(BLOCKS(0, 0, FULL, FULL, 100).sequential);
}

/* A block that is not full in a frame without size, and the last of another that seems to be
 * shorter for it. */
static void blocks_of_other_frames_are_proved_full_too(void **state)
{
    (void)state;
    uint8_t *zeros = test_data(TEST_ZEROS, 2 * FULL);
    for (uint32_t less = 0; less < 2; less++) {
        test_run r = { 0 };
        const uint32_t first[] = { FULL - less, 10 | STORED }, second[] = { 100 };
        add_blocks(&r, 0, 0, first, 2);
        add_blocks(&r, 0, 0, second, 1);
        test_found f = scan(&r, zeros, FULL - less + 110, 9);
        assert_int_equal(f.st, CIP_OK);
        assert_int_equal(f.n, less == 0 ? 3 : 0);
        free(r.ptr);
    }
    free(zeros);
}

static void a_block_alone_needs_no_proof(void **state)
{
    (void)state;
    const uint32_t n[] = { 100 };
    for (unsigned flags = 0; flags <= SIZE; flags += SIZE) {
        test_run r = { 0 };
        add_blocks(&r, flags, 100, n, 1);
        assert_int_equal(scan(&r, NULL, 100, 9).n, 1);
        assert_int_equal(r.reads, 1);
        free(r.ptr);
    }
}

static void proving_can_fail(void **state)
{
    (void)state;
    const uint32_t n[] = { FULL, 100 };
    for (unsigned flags = 0; flags <= SIZE; flags += SIZE) {
        test_run r = { .fail_at = 2 }; /* the first is the frame's window */
        add_blocks(&r, flags, FULL + 100, n, 2);
        assert_int_equal(scan(&r, NULL, FULL + 100, 9).st, CIP_ERR_IO);
        assert_int_equal(r.reads, 2);
        for (size_t fail = 1; fail < 3; fail++) {
            test_env t;
            cip_frame_pieces out;
            test_env_open(&t, fail, 0);
            assert_int_equal(
                cip_lz4f_scan(&t.mem, &(cip_frame_run){ test_run_read, &r, r.len, FULL + 100, 9 },
                              &out, &t.err),
                CIP_ERR_NOMEM);
            test_env_close(&t);
        }
        free(r.ptr);
    }
}

static void stored_blocks_have_their_size(void **state)
{
    (void)state;
    const uint32_t s = STORED | 100;
    test_found f = BLOCKS(0, 0, 100 + FULL + 100, s, FULL, s);
    assert_int_equal(f.n, 3);
    assert_int_equal(f.nstored, 2);
    assert_true(BLOCKS(0, 0, 100 + FULL + 99, s, FULL, s).sequential);
    assert_int_equal(BLOCKS(SIZE, 200, 200, s, s).n, 2);
    assert_true(BLOCKS(SIZE, 201, 201, s, s).sequential);
    assert_true(BLOCKS(SIZE, 200, 201, s, s).sequential);
    assert_int_equal(BLOCKS(0, 0, FULL, STORED | FULL).n, 1);
    f = BLOCKS(0, 0, 100, s, STORED); /* an empty one is none */
    assert_int_equal(f.n, 1);
    assert_false(f.sequential);
}

static test_found one_block(uint32_t word, uint64_t raw_len)
{
    test_run r = { 0 };
    uint8_t *zeros = test_data(TEST_ZEROS, FULL + 1);
    add_header(&r, ALONE, 0x40, 0);
    add_word(&r, word);
    test_run_add(&r, zeros, FULL + 1);
    add_word(&r, 0);
    r.len -= (word & ~STORED) == FULL; /* the end mark right behind */
    memset(r.ptr + r.len - 4, 0, 4);
    test_found f = scan(&r, NULL, raw_len, 100);
    free(zeros);
    free(r.ptr);
    return f;
}

static void a_block_over_the_largest_is_corrupt(void **state)
{
    (void)state;
    assert_int_equal(one_block(FULL, 1000).st, CIP_OK);
    assert_int_equal(one_block(FULL | STORED, FULL).st, CIP_OK);
    assert_int_equal(one_block(FULL + 1, 1000).st, CIP_ERR_CORRUPT);
    test_found f = one_block((FULL + 1) | STORED, FULL + 1);
    assert_int_equal(f.st, CIP_ERR_CORRUPT);
    assert_string_equal(f.err.text, "expected an LZ4 block of at most 65536 bytes, found 65537");
}

static cip_status header(unsigned flags, unsigned bd)
{
    test_run r = { 0 };
    add_header(&r, flags, bd, 0);
    add_word(&r, 0);
    test_found f = scan(&r, NULL, 0, 0);
    free(r.ptr);
    return f.st;
}

static void headers_of_another_kind_are_refused(void **state)
{
    (void)state;
    assert_int_equal(header(ALONE, 0x40), CIP_OK);
    assert_int_equal(header(ALONE, 0x70), CIP_OK);
    assert_int_equal(header(ALONE, 0x30), CIP_ERR_CORRUPT);
    assert_int_equal(header(ALONE, 0x00), CIP_ERR_CORRUPT);
    assert_int_equal(header(ALONE, 0xc0), CIP_ERR_UNSUPPORTED);
    assert_int_equal(header(ALONE, 0x41), CIP_ERR_UNSUPPORTED);
    assert_int_equal(header(ALONE, 0x48), CIP_ERR_UNSUPPORTED);
    assert_int_equal(header(ALONE | 0x02, 0x40), CIP_ERR_UNSUPPORTED);
    assert_int_equal(header(INDEPENDENT, 0x40), CIP_ERR_UNSUPPORTED);
    assert_int_equal(header(ALONE | 0x80, 0x40), CIP_ERR_UNSUPPORTED);
}

static void a_damaged_header_is_told_by_its_checksum(void **state)
{
    (void)state;
    test_run r = { 0 };
    add_header(&r, ALONE | SIZE, 0x40, 0);
    add_word(&r, 0);
    for (size_t i = 5; i < 15; i++) { /* the flags before change the header's length */
        r.ptr[i] ^= 0x80;
        assert_int_equal(scan(&r, NULL, 0, 0).st, CIP_ERR_CHECKSUM);
        r.ptr[i] ^= 0x80;
    }
    assert_int_equal(scan(&r, NULL, 0, 0).st, CIP_OK);
    free(r.ptr);
}

static void a_damaged_run_does_no_harm(void **state)
{
    (void)state;
    uint8_t *data = test_data(TEST_WORDS, 300);
    test_run r = { 0 };
    add_frame(&r, data, 300, INDEPENDENT | SIZE | CONTENT_SUM | BLOCK_SUM, LZ4F_max64KB);
    test_scan_damaged(cip_lz4f_scan, &r, 300);
    free(r.ptr);
    r = (test_run){ 0 };
    add_frame(&r, data, 300, INDEPENDENT, LZ4F_max64KB);
    test_scan_damaged(cip_lz4f_scan, &r, 300);
    free(r.ptr);
    free(data);
}

static void every_early_end_is_truncated(void **state)
{
    (void)state;
    uint8_t *data = test_data(TEST_WORDS, 300);
    test_run r = { 0 };
    add_frame(&r, data, 300, INDEPENDENT | SIZE | CONTENT_SUM | BLOCK_SUM, LZ4F_max64KB);
    add_skippable(&r, 0x184d2a50, 20);
    size_t frame = r.len - 28;
    for (size_t n = 1; n < r.len; n++) {
        test_run cut = { .ptr = test_copy(r.ptr, n), .len = n };
        const bool whole = n >= frame && n < frame + 4; /* less than a magic is junk */
        assert_int_equal(scan(&cut, NULL, 300, 9).st, whole ? CIP_OK : CIP_ERR_TRUNCATED);
        free(cut.ptr);
    }
    free(r.ptr);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_blocks_are_pieces),
        cmocka_unit_test(blocks_of_every_size_are_known),
        cmocka_unit_test(frames_follow_each_other),
        cmocka_unit_test(nothing_has_no_pieces),
        cmocka_unit_test(dependent_blocks_are_decoded_in_order),
        cmocka_unit_test(the_last_blocks_size_follows_from_the_whole),
        cmocka_unit_test(blocks_that_are_not_full_are_decoded_in_order),
        cmocka_unit_test(sizes_that_contradict_each_other_are_left_to_decoding),
        cmocka_unit_test(blocks_of_other_frames_are_proved_full_too),
        cmocka_unit_test(a_block_alone_needs_no_proof),
        cmocka_unit_test(proving_can_fail),
        cmocka_unit_test(stored_blocks_have_their_size),
        cmocka_unit_test(a_block_over_the_largest_is_corrupt),
        cmocka_unit_test(headers_of_another_kind_are_refused),
        cmocka_unit_test(a_damaged_header_is_told_by_its_checksum),
        cmocka_unit_test(a_damaged_run_does_no_harm),
        cmocka_unit_test(every_early_end_is_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
