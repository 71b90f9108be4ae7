/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/test_frames.h"

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

/* One frame of `n` blocks with the given words in front of so many zeros. */
static test_found blocks(unsigned flags, uint64_t size, const uint32_t *word, size_t n,
                         uint64_t raw_len)
{
    static const uint8_t zeros[65540];
    test_run r = { 0 };
    add_header(&r, ALONE | flags, 0x40, size);
    for (size_t i = 0; i < n; i++) {
        add_word(&r, word[i]);
        test_run_add(&r, zeros, (word[i] & ~STORED) > 65536 ? 0 : word[i] & ~STORED);
    }
    add_word(&r, 0);
    test_found f = scan(&r, NULL, raw_len, 100);
    free(r.ptr);
    return f;
}

#define BLOCKS(flags, size, raw_len, ...)                                                          \
    blocks((flags), (size), (const uint32_t[]){ __VA_ARGS__ },                                     \
           sizeof(const uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t), (raw_len))

/* What the last block decodes to follows from the content size, or from the run's. */
static void the_last_blocks_size_follows_from_the_whole(void **state)
{
    (void)state;
    const uint32_t c = 10, full = 65536;
    /* By the content size: 1 to a full block is left. */
    assert_int_equal(BLOCKS(SIZE, full + 1, full + 1, c, c).n, 2);
    assert_int_equal(BLOCKS(SIZE, 2 * full, 2 * full, c, c).n, 2);
    assert_true(BLOCKS(SIZE, full, full, c, c).sequential);
    assert_true(BLOCKS(SIZE, full - 1, full - 1, c, c).sequential);
    assert_true(BLOCKS(SIZE, 2 * full + 1, 2 * full + 1, c, c).sequential);
    assert_true(BLOCKS(SIZE, full + 1, full + 2, c, c).sequential); /* not the run's */
    assert_true(BLOCKS(SIZE, 0, 0, c).sequential);
    /* By the run's. */
    assert_int_equal(BLOCKS(0, 0, full + 1, c, c).n, 2);
    assert_int_equal(BLOCKS(0, 0, 2 * full, c, c).n, 2);
    assert_true(BLOCKS(0, 0, full, c, c).sequential);
    assert_true(BLOCKS(0, 0, full - 1, c, c).sequential);
    assert_true(BLOCKS(0, 0, 2 * full + 1, c, c).sequential);
    assert_true(BLOCKS(0, 0, 0, c).sequential);
    assert_true(BLOCKS(0, 0, UINT64_MAX, c).sequential);
}

static void stored_blocks_have_their_size(void **state)
{
    (void)state;
    const uint32_t c = 10, s = STORED | 100, full = 65536;
    test_found f = BLOCKS(0, 0, 100 + full + 100, s, c, s);
    assert_int_equal(f.n, 3);
    assert_int_equal(f.nstored, 2);
    assert_true(BLOCKS(0, 0, 100 + full + 99, s, c, s).sequential);
    assert_int_equal(BLOCKS(SIZE, 200, 200, s, s).n, 2);
    assert_true(BLOCKS(SIZE, 201, 201, s, s).sequential);
    assert_true(BLOCKS(SIZE, 200, 201, s, s).sequential);
    assert_int_equal(BLOCKS(0, 0, full, STORED | full).n, 1);
    f = BLOCKS(0, 0, 100, s, STORED); /* an empty one is none */
    assert_int_equal(f.n, 1);
    assert_false(f.sequential);
}

static void a_block_over_the_largest_is_corrupt(void **state)
{
    (void)state;
    assert_int_equal(BLOCKS(0, 0, 65536, 65536).st, CIP_OK);
    assert_int_equal(BLOCKS(0, 0, 65537, 65537).st, CIP_ERR_CORRUPT);
    assert_int_equal(BLOCKS(0, 0, 65537, STORED | 65537).st, CIP_ERR_CORRUPT);
    assert_string_equal(BLOCKS(0, 0, 9, 65537).err.text,
                        "expected an LZ4 block of at most 65536 bytes, found 65537");
}

/* An encoder may flush: then a piece cannot be decoded to the size it should have. */
static void a_block_that_is_not_full_shows_when_it_is_decoded(void **state)
{
    (void)state;
    const cip_codec *lz4 = cip_codec_find("lz4");
    size_t len;
    uint8_t *data = test_data(TEST_WORDS, 1000);
    uint8_t *block = test_encode(lz4, 0, data, 1000, &len);
    assert_int_equal(test_decode(lz4, block, len, 65536, NULL, NULL), CIP_ERR_CORRUPT);
    free(block);
    free(data);
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
        assert_int_equal(scan(&cut, NULL, 300, 9).st, n == frame ? CIP_OK : CIP_ERR_TRUNCATED);
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
        cmocka_unit_test(stored_blocks_have_their_size),
        cmocka_unit_test(a_block_over_the_largest_is_corrupt),
        cmocka_unit_test(a_block_that_is_not_full_shows_when_it_is_decoded),
        cmocka_unit_test(headers_of_another_kind_are_refused),
        cmocka_unit_test(a_damaged_header_is_told_by_its_checksum),
        cmocka_unit_test(a_damaged_run_does_no_harm),
        cmocka_unit_test(every_early_end_is_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
