/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/codec/frames_testing.h"

#include <zstd.h>

#include "base/endian.h"

enum { SINGLE = 0x20, SUM = 0x04, RAW = 0, RLE = 1, PACKED = 2, RESERVED = 3 };

static test_found scan(test_run *r, const uint8_t *raw, uint64_t raw_len, uint64_t max_pieces)
{
    return test_scan(cip_zstd_scan, r, raw, raw_len, max_pieces);
}

static void add_skippable(test_run *r, uint8_t nibble, uint32_t n)
{
    static const uint8_t zeros[1000];
    uint8_t b[8] = { (uint8_t)(0x50 | nibble), 0x2a, 0x4d, 0x18 };
    cip_store_u32(b + 4, n, false);
    test_run_add(r, b, 8);
    test_run_add(r, zeros, n);
}

/* A frame by libzstd. */
static void add_frame(test_run *r, const uint8_t *data, size_t n, bool sum, bool sized)
{
    size_t cap = ZSTD_compressBound(n);
    uint8_t *b = malloc(cap);
    ZSTD_CCtx *ctx = ZSTD_createCCtx();
    assert_true(b != NULL && ctx != NULL);
    ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, sum);
    ZSTD_CCtx_setParameter(ctx, ZSTD_c_contentSizeFlag, sized);
    size_t len = ZSTD_compress2(ctx, b, cap, data, n);
    assert_false(ZSTD_isError(len));
    test_run_add(r, b, len);
    ZSTD_freeCCtx(ctx);
    free(b);
}

/* A header by hand: the descriptor and the bytes after it. */
static void add_header(test_run *r, unsigned descriptor, const char *more, size_t n)
{
    const uint8_t b[] = { 0x28, 0xb5, 0x2f, 0xfd, (uint8_t)descriptor };
    test_run_add(r, b, sizeof b);
    test_run_add(r, more, n);
}

/* A block by hand, its stored bytes zeros. */
static void add_block(test_run *r, bool last, unsigned type, uint32_t size)
{
    static const uint8_t zeros[(128 << 10) + 1];
    uint32_t word = size << 3 | type << 1 | last;
    const uint8_t b[] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16) };
    test_run_add(r, b, 3);
    test_run_add(r, zeros, type == RLE ? 1 : size);
}

static void frames_with_their_size_are_pieces(void **state)
{
    (void)state;
    enum { N = 700000 };
    uint8_t *data = test_data(TEST_WORDS, N);
    test_run r = { 0 };
    add_skippable(&r, 0, 700);
    add_frame(&r, data, 400000, true, true); /* several blocks */
    add_skippable(&r, 15, 0);
    add_frame(&r, data, 0, true, true);
    add_frame(&r, data + 400000, 1, false, true);
    add_frame(&r, data + 400001, 300, false, true);
    add_frame(&r, data + 400301, N - 400301, true, true);
    add_skippable(&r, 7, 3);
    test_found f = scan(&r, data, N, 4);
    assert_int_equal(f.st, CIP_OK);
    assert_false(f.sequential);
    assert_int_equal(f.n, 4);
    assert_int_equal(scan(&r, data, N, 3).st, CIP_ERR_LIMIT);
    f = scan(&r, data, N - 1, 4);
    assert_int_equal(f.st, CIP_ERR_CORRUPT);
    assert_string_equal(f.err.text, "expected 699999 decoded bytes, found 700000");
    free(r.ptr);
    free(data);
}

static void a_frame_without_size_is_decoded_in_order(void **state)
{
    (void)state;
    uint8_t *data = test_data(TEST_WORDS, 3000);
    test_run r = { 0 };
    add_frame(&r, data, 1000, false, true);
    add_frame(&r, data, 1000, false, false);
    add_frame(&r, data, 1000, false, true);
    test_found f = scan(&r, data, 3000, 9);
    assert_int_equal(f.st, CIP_OK);
    assert_true(f.sequential);
    free(r.ptr);
    free(data);
}

static void noise_and_zeros_are_walked(void **state)
{
    (void)state;
    enum { N = 500000 };
    for (int k = 0; k < TEST_NKIND; k++) {
        uint8_t *data = test_data((test_kind)k, N);
        test_run r = { 0 };
        add_frame(&r, data, N, true, true);
        add_frame(&r, data, 100, true, true);
        uint8_t *both = malloc(N + 100);
        memcpy(both, data, N);
        memcpy(both + N, data, 100);
        assert_int_equal(scan(&r, both, N + 100, 2).n, 2);
        free(both);
        free(data);
        free(r.ptr);
    }
}

static void nothing_has_no_pieces(void **state)
{
    (void)state;
    test_run r = { 0 };
    test_found f = scan(&r, NULL, 0, 0);
    assert_int_equal(f.st, CIP_OK);
    assert_false(f.sequential);
    assert_int_equal(scan(&r, NULL, 5, 0).st, CIP_ERR_CORRUPT);
    add_frame(&r, NULL, 0, true, true);
    f = scan(&r, NULL, 0, 0);
    assert_int_equal(f.st, CIP_OK);
    assert_false(f.sequential);
    free(r.ptr);
}

/* A frame of one block of repetition, with the given header. */
static test_found header(unsigned descriptor, const char *more, size_t n, uint32_t size)
{
    test_run r = { 0 };
    add_header(&r, descriptor, more, n);
    add_block(&r, true, RLE, size);
    if (descriptor & SUM)
        test_run_add(&r, "sum?", 4);
    test_found f = scan(&r, NULL, size, 1);
    free(r.ptr);
    return f;
}

static void every_size_of_header_is_read(void **state)
{
    (void)state;
    static const struct {
        unsigned descriptor;
        const char *more;
        size_t n;
        uint32_t size;
    } good[] = {
        { SINGLE, "\x64", 1, 100 },
        { SINGLE | SUM, "\x64", 1, 100 },
        { 0x40 | SINGLE, "\x64\x00", 2, 356 },
        { 0x40, "w\x64\x01", 3, 612 }, /* w: the window */
        { 0x80 | SINGLE, "\x00\x00\x01\x00", 4, 65536 },
        { 0x80, "w\x00\x00\x01\x00", 5, 65536 },
        { 0xc0 | SINGLE, "\x00\x00\x02\0\0\0\0", 8, 131072 },
        { 0xc0, "w\x00\x00\x02\0\0\0\0", 9, 131072 },
        /* A dictionary of id 0 is none. */
        { SINGLE | 1, "\0\x64", 2, 100 },
        { SINGLE | 2, "\0\0\x64", 3, 100 },
        { SINGLE | 3, "\0\0\0\0\x64", 5, 100 },
        { 0x40 | 3, "w\0\0\0\0\x64\x01", 7, 612 },
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        test_found f = header(good[i].descriptor, good[i].more, good[i].n, good[i].size);
        assert_int_equal(f.st, CIP_OK);
        assert_int_equal(f.n, 1);
    }
    assert_true(header(0, "w", 1, 100).sequential);
    assert_true(header(1, "w\0", 2, 100).sequential);
}

static void dictionaries_and_reserved_bits_are_unsupported(void **state)
{
    (void)state;
    assert_int_equal(header(SINGLE | 1, "\x07\x64", 2, 100).st, CIP_ERR_UNSUPPORTED);
    assert_int_equal(header(SINGLE | 2, "\0\x01\x64", 3, 100).st, CIP_ERR_UNSUPPORTED);
    test_found f = header(SINGLE | 3, "\0\0\0\x80\x64", 5, 100);
    assert_int_equal(f.st, CIP_ERR_UNSUPPORTED);
    assert_string_equal(f.err.text,
                        "expected a zstd frame without dictionary, found dictionary 2147483648");
    assert_int_equal(header(SINGLE | 8, "\x64", 1, 100).st, CIP_ERR_UNSUPPORTED);
    assert_int_equal(header(SINGLE | 16, "\x64", 1, 100).st, CIP_OK); /* the unused bit */
}

/* Two blocks, the first as given, in a frame of 64 KiB. */
static cip_status block(unsigned type, uint32_t size)
{
    test_run r = { 0 };
    add_header(&r, 0x80 | SINGLE, "\0\0\x01\0", 4);
    add_block(&r, false, type, size);
    add_block(&r, true, PACKED, 9);
    test_found f = scan(&r, NULL, 65536, 1);
    free(r.ptr);
    return f.st;
}

static void blocks_of_another_kind_are_corrupt(void **state)
{
    (void)state;
    static const unsigned types[] = { RAW, RLE, PACKED };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(block(types[i], 0), CIP_OK);
        assert_int_equal(block(types[i], 77), CIP_OK);
        assert_int_equal(block(types[i], 128 << 10), CIP_OK);
        assert_int_equal(block(types[i], (128 << 10) + 1), CIP_ERR_CORRUPT);
    }
    assert_int_equal(block(RESERVED, 77), CIP_ERR_CORRUPT);
}

/* A frame cannot decode to more than its blocks can hold. */
static void a_size_without_the_blocks_for_it_is_corrupt(void **state)
{
    (void)state;
    test_run r = { 0 };
    add_header(&r, 0xc0 | SINGLE, "\x01\0\x04\0\0\0\0", 8); /* two blocks and a byte */
    add_block(&r, false, RLE, 128 << 10);
    add_block(&r, true, RLE, 128 << 10);
    test_found f = scan(&r, NULL, (256 << 10) + 1, 1);
    assert_int_equal(f.st, CIP_ERR_CORRUPT);
    assert_string_equal(
        f.err.text, "expected 262145 bytes from a zstd frame, found 2 blocks of at most 131072");
    r.ptr[5] = 0;
    assert_int_equal(scan(&r, NULL, 256 << 10, 1).st, CIP_OK);
    memset(r.ptr + 5, 0xff, 8);
    assert_int_equal(scan(&r, NULL, UINT64_MAX, 1).st, CIP_ERR_CORRUPT);
    free(r.ptr);
}

static void a_damaged_run_does_no_harm(void **state)
{
    (void)state;
    uint8_t *data = test_data(TEST_WORDS, 300);
    test_run r = { 0 };
    add_frame(&r, data, 300, true, true);
    test_scan_damaged(cip_zstd_scan, &r, 300);
    add_skippable(&r, 1, 20);
    for (size_t n = 1; n < r.len; n++) {
        test_run cut = { .ptr = test_copy(r.ptr, n), .len = n };
        const bool whole = n >= r.len - 28 && n < r.len - 24; /* less than a magic is junk */
        assert_int_equal(scan(&cut, NULL, 300, 9).st, whole ? CIP_OK : CIP_ERR_TRUNCATED);
        free(cut.ptr);
    }
    free(r.ptr);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_with_their_size_are_pieces),
        cmocka_unit_test(a_frame_without_size_is_decoded_in_order),
        cmocka_unit_test(noise_and_zeros_are_walked),
        cmocka_unit_test(nothing_has_no_pieces),
        cmocka_unit_test(every_size_of_header_is_read),
        cmocka_unit_test(dictionaries_and_reserved_bits_are_unsupported),
        cmocka_unit_test(blocks_of_another_kind_are_corrupt),
        cmocka_unit_test(a_size_without_the_blocks_for_it_is_corrupt),
        cmocka_unit_test(a_damaged_run_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
