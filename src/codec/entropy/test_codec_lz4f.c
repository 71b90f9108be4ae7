/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/codec/codec_testing.h"

#include <lz4frame.h>
#include <xxhash.h>

static const cip_codec *lz4f(void)
{
    return cip_codec_find("lz4f");
}

/* "abc" in one stored block: magic, flags (version 1, independent, content checksum), 64 KiB, their
 * checksum; size, bytes; end mark; checksum of "abc". */
static const uint8_t abc[] = { 0x04, 0x22, 0x4d, 0x18, 0x64, 0x40, 0xa7, 3,    0,    0,    0x80,
                               'a',  'b',  'c',  0,    0,    0,    0,    0xff, 0x53, 0xd1, 0x32 };
static const uint8_t skippable[] = { 0x5f, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 0xaa, 0xbb };

static cip_status decode(const uint8_t *src, size_t n, size_t dst_len, uint8_t **out, cip_err *err)
{
    return test_decode(lz4f(), src, n, dst_len, out, err);
}

static void a_known_frame_decodes(void **state)
{
    (void)state;
    uint8_t *out;
    assert_int_equal(decode(abc, sizeof abc, 3, &out, NULL), CIP_OK);
    assert_memory_equal(out, "abc", 3);
    free(out);
}

static void frames_follow_each_other_and_skippable_ones_are_passed_over(void **state)
{
    (void)state;
    uint8_t all[3 * sizeof skippable + 2 * sizeof abc], *p = all, *out;
    memcpy(p, skippable, sizeof skippable), p += sizeof skippable;
    memcpy(p, abc, sizeof abc), p += sizeof abc;
    memcpy(p, skippable, sizeof skippable), p += sizeof skippable;
    memcpy(p, abc, sizeof abc), p += sizeof abc;
    memcpy(p, skippable, sizeof skippable);
    assert_int_equal(decode(all, sizeof all, 6, &out, NULL), CIP_OK);
    assert_memory_equal(out, "abcabc", 6);
    free(out);
    assert_int_equal(decode(all, sizeof all, 5, NULL, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(decode(all, sizeof all, 7, NULL, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(decode(skippable, sizeof skippable, 0, NULL, NULL), CIP_OK);
    for (size_t nin = 1; nin < 9; nin++) {
        uint8_t got[8];
        size_t n;
        assert_int_equal(
            test_stream(lz4f(), (cip_bytes){ all, sizeof all }, nin, 1, got, sizeof got, &n, NULL),
            CIP_OK);
        assert_int_equal(n, 6);
        assert_memory_equal(got, "abcabc", 6);
    }
}

/* As behind a zlib stream; what begins like a frame is one. */
static void what_follows_the_frames_is_no_part_of_them(void **state)
{
    (void)state;
    test_junk_is_left_out(cip_codec_find("lz4f"), (cip_bytes){ abc, sizeof abc });
}

/* Flips a byte of the frame and decodes it. */
static cip_status damaged(size_t at, cip_err *err)
{
    uint8_t bad[sizeof abc];
    memcpy(bad, abc, sizeof abc);
    bad[at] ^= 0x10;
    return decode(bad, sizeof bad, 3, NULL, err);
}

static void checksums_are_told_apart_from_damage(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(damaged(0, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "expected an LZ4 frame, found ERROR_frameType_unknown");
    assert_int_equal(damaged(6, &err), CIP_ERR_CHECKSUM);
    assert_int_equal(damaged(11, &err), CIP_ERR_CHECKSUM);
    assert_int_equal(damaged(18, &err), CIP_ERR_CHECKSUM);
    assert_string_equal(err.text, "expected an LZ4 frame, found ERROR_contentChecksum_invalid");
    assert_int_equal(damaged(9, &err), CIP_ERR_CORRUPT); /* a block of over 64 KiB */
}

static void a_wrong_block_checksum_is_told(void **state)
{
    (void)state;
    uint8_t frame[100];
    LZ4F_preferences_t p = { .frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled };
    size_t n = LZ4F_compressFrame(frame, sizeof frame, "abcd", 4, &p);
    assert_false(LZ4F_isError(n));
    assert_int_equal(decode(frame, n, 4, NULL, NULL), CIP_OK);
    frame[7 + 4] ^= 1;
    assert_int_equal(decode(frame, n, 4, NULL, NULL), CIP_ERR_CHECKSUM);
}

static cip_status with_flags(uint8_t flg, uint8_t bd)
{
    uint8_t frame[sizeof abc];
    memcpy(frame, abc, sizeof abc);
    frame[4] = flg;
    frame[5] = bd;
    frame[6] = (uint8_t)(XXH32(frame + 4, 2, 0) >> 8);
    return decode(frame, sizeof frame, 3, NULL, NULL);
}

static void other_versions_and_reserved_flags_are_unsupported(void **state)
{
    (void)state;
    assert_int_equal(with_flags(0x64, 0x40), CIP_OK);
    assert_int_equal(with_flags(0xa4, 0x40), CIP_ERR_UNSUPPORTED);
    assert_int_equal(with_flags(0x66, 0x40), CIP_ERR_UNSUPPORTED);
    assert_int_equal(with_flags(0x64, 0xc0), CIP_ERR_UNSUPPORTED);
}

static void a_dictionary_is_unsupported(void **state)
{
    (void)state;
    /* Magic, flags with a dictionary's id, the id; a block that copies 190 bytes from 200 bytes
     * back and adds 5. */
    static const uint8_t head[] = { 0x04, 0x22, 0x4d, 0x18, 0x61, 0x40, 7, 0, 0, 0 };
    static const uint8_t body[] = {
        10, 0, 0, 0, 0x0f, 200, 0, 171, 0x50, 1, 2, 3, 4, 5, 0, 0, 0, 0
    };
    uint8_t frame[sizeof head + 1 + sizeof body];
    cip_err err = CIP_ERR_INIT;
    memcpy(frame, head, sizeof head);
    frame[sizeof head] = (uint8_t)(XXH32(frame + 4, 6, 0) >> 8);
    memcpy(frame + sizeof head + 1, body, sizeof body);
    assert_int_equal(decode(frame, sizeof frame, 195, NULL, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "expected an LZ4 frame without dictionary, found dictionary 7");
}

static void blocks_that_depend_on_each_other_decode(void **state)
{
    (void)state;
    enum { N = 400000 };
    LZ4F_preferences_t p = { .frameInfo.blockSizeID = LZ4F_max64KB };
    uint8_t *data = test_data(TEST_WORDS, N), *out, *got = malloc(N);
    size_t cap = LZ4F_compressFrameBound(N, &p), n;
    uint8_t *frame = malloc(cap);
    size_t len = LZ4F_compressFrame(frame, cap, data, N, &p);
    assert_false(LZ4F_isError(len));
    assert_int_equal(decode(frame, len, N, &out, NULL), CIP_OK);
    assert_memory_equal(out, data, N);
    assert_int_equal(
        test_stream(lz4f(), (cip_bytes){ frame, len }, 1000, 777, got, N + 1, &n, NULL), CIP_OK);
    assert_int_equal(n, N);
    assert_memory_equal(got, data, N);
    free(out);
    free(got);
    free(frame);
    free(data);
}

/* Readers can decode the blocks that they touch, and see damage. */
static void our_frames_have_independent_blocks_size_and_checksum(void **state)
{
    (void)state;
    enum { N = 300000 };
    uint8_t *data = test_data(TEST_WORDS, N);
    size_t len;
    uint8_t *frame = test_encode(lz4f(), 0, data, N, &len);
    assert_int_equal(frame[4], 0x6c); /* version 1, independent, content size and checksum */
    assert_int_equal(frame[5], 0x50); /* 256 KiB */
    assert_int_equal(frame[6] | frame[7] << 8 | frame[8] << 16, N);
    free(frame);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_frame_decodes),
        cmocka_unit_test(frames_follow_each_other_and_skippable_ones_are_passed_over),
        cmocka_unit_test(what_follows_the_frames_is_no_part_of_them),
        cmocka_unit_test(checksums_are_told_apart_from_damage),
        cmocka_unit_test(a_wrong_block_checksum_is_told),
        cmocka_unit_test(other_versions_and_reserved_flags_are_unsupported),
        cmocka_unit_test(a_dictionary_is_unsupported),
        cmocka_unit_test(blocks_that_depend_on_each_other_decode),
        cmocka_unit_test(our_frames_have_independent_blocks_size_and_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
