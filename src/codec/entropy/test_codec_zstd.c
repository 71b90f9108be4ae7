/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/codec/codec_testing.h"

#include <zstd.h>

static const cip_codec *zstd(void)
{
    return cip_codec_find("zstd");
}

/* "abc" in a raw block: magic, descriptor (single segment, one byte of content size), 3; block
 * header (last, raw, 3 bytes), bytes. */
static const uint8_t abc[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0, 'a', 'b', 'c' };
/* "zzzzz" by repetition, without content size: descriptor, window of 1 KiB; last, RLE, 5. */
static const uint8_t zzz[] = { 0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0x2b, 0, 0, 'z' };
static const uint8_t skippable[] = { 0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 0xaa, 0xbb };

static cip_status decode(const uint8_t *src, size_t n, size_t dst_len, uint8_t **out, cip_err *err)
{
    return test_decode(zstd(), src, n, dst_len, out, err);
}

static void known_frames_decode(void **state)
{
    (void)state;
    uint8_t *out;
    assert_int_equal(decode(abc, sizeof abc, 3, &out, NULL), CIP_OK);
    assert_memory_equal(out, "abc", 3);
    free(out);
    assert_int_equal(decode(zzz, sizeof zzz, 5, &out, NULL), CIP_OK);
    assert_memory_equal(out, "zzzzz", 5);
    free(out);
}

static void frames_follow_each_other_and_skippable_ones_are_passed_over(void **state)
{
    (void)state;
    uint8_t all[3 * sizeof skippable + sizeof abc + sizeof zzz], *p = all, *out;
    memcpy(p, skippable, sizeof skippable), p += sizeof skippable;
    memcpy(p, abc, sizeof abc), p += sizeof abc;
    memcpy(p, skippable, sizeof skippable), p += sizeof skippable;
    memcpy(p, zzz, sizeof zzz), p += sizeof zzz;
    memcpy(p, skippable, sizeof skippable);
    assert_int_equal(decode(all, sizeof all, 8, &out, NULL), CIP_OK);
    assert_memory_equal(out, "abczzzzz", 8);
    free(out);
    assert_int_equal(decode(all, sizeof all, 7, NULL, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(decode(all, sizeof all, 9, NULL, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(decode(skippable, sizeof skippable, 0, NULL, NULL), CIP_OK);
    for (size_t nin = 1; nin < 9; nin++) {
        uint8_t got[10];
        size_t n;
        assert_int_equal(
            test_stream(zstd(), (cip_bytes){ all, sizeof all }, nin, 1, got, sizeof got, &n, NULL),
            CIP_OK);
        assert_int_equal(n, 8);
        assert_memory_equal(got, "abczzzzz", 8);
    }
}

/* As behind a zlib stream; what begins like a frame is one. */
static void what_follows_the_frames_is_no_part_of_them(void **state)
{
    (void)state;
    test_junk_is_left_out(zstd(), (cip_bytes){ abc, sizeof abc });
}

static void a_wrong_checksum_is_told_apart_from_damage(void **state)
{
    (void)state;
    size_t len;
    uint8_t *data = test_data(TEST_WORDS, 100);
    uint8_t *coded = test_encode(zstd(), 0, data, 100, &len);
    cip_err err = CIP_ERR_INIT;
    coded[len - 1] ^= 1;
    assert_int_equal(decode(coded, len, 100, NULL, &err), CIP_ERR_CHECKSUM);
    assert_int_equal(err.code, CIP_ERR_CHECKSUM);
    coded[0] ^= 1;
    assert_int_equal(decode(coded, len, 100, NULL, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "expected a zstd frame, found: Unknown frame descriptor");
    free(coded);
    free(data);
}

static void dictionaries_and_reserved_bits_are_unsupported(void **state)
{
    (void)state;
    static const uint8_t dict[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 3, 0x19, 0, 0, 'a', 'b', 'c' };
    uint8_t reserved[sizeof abc];
    memcpy(reserved, abc, sizeof abc);
    reserved[4] |= 8;
    assert_int_equal(decode(dict, sizeof dict, 3, NULL, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(decode(reserved, sizeof reserved, 3, NULL, NULL), CIP_ERR_UNSUPPORTED);
}

/* Steps through a frame of a raw block with a window of 2^log bytes. */
static cip_status with_window(unsigned log, uint64_t limit)
{
    uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0,   (uint8_t)((log - 10) << 3),
                        0x19, 0,    0,    'a',  'b', 'c' };
    uint8_t out[8];
    cip_flow f = {
        .in = frame, .in_len = sizeof frame, .last = true, .out = out, .out_len = sizeof out
    };
    test_env t;
    void *s;
    assert_int_equal(zstd()->stream->begin(NULL, test_env_open(&t, 0, limit), &s, &t.err), CIP_OK);
    cip_status st = zstd()->stream->step(s, &f, &t.err);
    if (st == CIP_OK) {
        assert_int_equal(f.gave, 3);
        assert_true(f.end);
    }
    zstd()->stream->finish(s);
    test_env_close(&t);
    return st;
}

static void a_window_over_the_limit_is_refused(void **state)
{
    (void)state;
    assert_int_equal(with_window(10, 0), CIP_OK);
    assert_int_equal(with_window(27, 0), CIP_OK);
    assert_int_equal(with_window(28, 0), CIP_ERR_LIMIT);
    assert_int_equal(with_window(20, 1 << 21), CIP_OK);
    assert_int_equal(with_window(21, 1 << 21), CIP_ERR_LIMIT); /* the state takes some, too */
    assert_int_equal(with_window(21, (1 << 21) + 1000), CIP_OK);
    assert_int_equal(with_window(10, 200), CIP_OK); /* the least that there is */
    assert_int_equal(with_window(11, 200), CIP_ERR_LIMIT);
}

/* The input ends with a block that is not the last: what it gives comes without more input. */
static void a_decoded_block_is_drained_without_input(void **state)
{
    (void)state;
    uint8_t begun[sizeof zzz], out[8];
    test_env t;
    void *s;
    cip_flow f = { .in = begun, .in_len = sizeof begun, .out = out, .out_len = 1 };
    memcpy(begun, zzz, sizeof zzz);
    begun[6] &= 0xfe;
    assert_int_equal(zstd()->stream->begin(NULL, test_env_open(&t, 0, 0), &s, &t.err), CIP_OK);
    for (size_t i = 0; i < 50; i++) { /* libzstd bears 16 idle calls */
        assert_int_equal(zstd()->stream->step(s, &f, &t.err), CIP_OK);
        assert_int_equal(f.gave, i < 5 ? 1 : 0);
        f.in += f.took;
        f.in_len -= f.took;
    }
    f = (cip_flow){ .in = begun, .last = true, .out = out, .out_len = sizeof out };
    assert_int_equal(zstd()->stream->step(s, &f, &t.err), CIP_ERR_TRUNCATED);
    zstd()->stream->finish(s);
    test_env_close(&t);
}

/* Blocks that go back over a window of 64 KiB, input and output cut anywhere. */
static void a_long_frame_streams(void **state)
{
    (void)state;
    enum { N = 1000000 };
    uint8_t *data = test_data(TEST_WORDS, N), *got = malloc(N + 1);
    uint8_t *coded = malloc(ZSTD_compressBound(N));
    size_t n;
    ZSTD_CCtx *ctx = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(ctx, ZSTD_c_windowLog, 16);
    ZSTD_CCtx_setParameter(ctx, ZSTD_c_contentSizeFlag, 0);
    size_t len = ZSTD_compress2(ctx, coded, ZSTD_compressBound(N), data, N);
    ZSTD_freeCCtx(ctx);
    assert_false(ZSTD_isError(len));
    assert_int_equal(
        test_stream(zstd(), (cip_bytes){ coded, len }, 1000, 777, got, N + 1, &n, NULL), CIP_OK);
    assert_int_equal(n, N);
    assert_memory_equal(got, data, N);
    assert_int_equal(decode(coded, len, N, NULL, NULL), CIP_OK);
    free(data);
    free(got);
    free(coded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_frames_decode),
        cmocka_unit_test(frames_follow_each_other_and_skippable_ones_are_passed_over),
        cmocka_unit_test(what_follows_the_frames_is_no_part_of_them),
        cmocka_unit_test(a_wrong_checksum_is_told_apart_from_damage),
        cmocka_unit_test(dictionaries_and_reserved_bits_are_unsupported),
        cmocka_unit_test(a_window_over_the_limit_is_refused),
        cmocka_unit_test(a_decoded_block_is_drained_without_input),
        cmocka_unit_test(a_long_frame_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
