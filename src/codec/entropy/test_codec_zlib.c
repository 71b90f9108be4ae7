/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/codec/codec_testing.h"

/* "abc" in a stored block: header, block (last, length, its complement, bytes), Adler-32. */
static const uint8_t abc[] = { 0x78, 0x01, 0x01, 3,    0,    0xfc, 0xff,
                               'a',  'b',  'c',  0x02, 0x4d, 0x01, 0x27 };

static cip_status decode(const uint8_t *src, size_t n, size_t dst_len, uint8_t **out, cip_err *err)
{
    return test_decode(cip_codec_find("zlib"), src, n, dst_len, out, err);
}

static cip_status stream(const uint8_t *src, size_t n)
{
    uint8_t out[16];
    size_t got;
    return test_stream(cip_codec_find("zlib"), (cip_bytes){ src, n }, 5, 2, out, sizeof out, &got,
                       NULL);
}

static void a_stored_block_decodes(void **state)
{
    (void)state;
    uint8_t *out;
    assert_int_equal(decode(abc, sizeof abc, 3, &out, NULL), CIP_OK);
    assert_memory_equal(out, "abc", 3);
    free(out);
    assert_int_equal(stream(abc, sizeof abc), CIP_OK);
}

static void what_follows_the_stream_is_ignored(void **state)
{
    (void)state;
    uint8_t twice[2 * sizeof abc], *out;
    memcpy(twice, abc, sizeof abc);
    memset(twice + sizeof abc, 0x55, sizeof abc);
    assert_int_equal(decode(twice, sizeof twice, 3, &out, NULL), CIP_OK);
    assert_memory_equal(out, "abc", 3);
    free(out);
    assert_int_equal(stream(twice, sizeof twice), CIP_OK);
}

static void only_the_first_of_two_streams_is_read(void **state)
{
    (void)state;
    uint8_t twice[2 * sizeof abc];
    cip_err err = CIP_ERR_INIT;
    memcpy(twice, abc, sizeof abc);
    memcpy(twice + sizeof abc, abc, sizeof abc);
    assert_int_equal(decode(twice, sizeof twice, 3, NULL, NULL), CIP_OK);
    assert_int_equal(decode(twice, sizeof twice, 6, NULL, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "expected 6 decoded bytes, found 3");
}

static void a_wrong_checksum_is_told_apart_from_damage(void **state)
{
    (void)state;
    uint8_t bad[sizeof abc];
    cip_err err = CIP_ERR_INIT;
    memcpy(bad, abc, sizeof abc);
    bad[sizeof abc - 1] ^= 1;
    assert_int_equal(decode(bad, sizeof bad, 3, NULL, &err), CIP_ERR_CHECKSUM);
    assert_string_equal(err.text, "expected a zlib stream, found incorrect data check");
    assert_int_equal(stream(bad, sizeof bad), CIP_ERR_CHECKSUM);
    memcpy(bad, abc, sizeof abc);
    bad[5] ^= 1; /* the complement of the length */
    assert_int_equal(decode(bad, sizeof bad, 3, NULL, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(stream(bad, sizeof bad), CIP_ERR_CORRUPT);
}

static void a_preset_dictionary_is_unsupported(void **state)
{
    (void)state;
    static const uint8_t fdict[] = { 0x78, 0x20, 1, 2, 3, 4, 3, 0, 0, 0, 0, 1 };
    assert_int_equal(decode(fdict, sizeof fdict, 3, NULL, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(stream(fdict, sizeof fdict), CIP_ERR_UNSUPPORTED);
}

static void gzip_and_raw_deflate_are_corrupt(void **state)
{
    (void)state;
    static const uint8_t gzip[] = {
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0
    };
    assert_int_equal(decode(gzip, sizeof gzip, 0, NULL, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(decode(abc + 2, sizeof abc - 6, 3, NULL, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(stream(gzip, sizeof gzip), CIP_ERR_CORRUPT);
}

static void an_empty_stream_gives_nothing(void **state)
{
    (void)state;
    static const uint8_t empty[] = { 0x78, 0x9c, 3, 0, 0, 0, 0, 1 };
    assert_int_equal(decode(empty, sizeof empty, 0, NULL, NULL), CIP_OK);
    assert_int_equal(decode(empty, sizeof empty, 1, NULL, NULL), CIP_ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stored_block_decodes),
        cmocka_unit_test(what_follows_the_stream_is_ignored),
        cmocka_unit_test(only_the_first_of_two_streams_is_read),
        cmocka_unit_test(a_wrong_checksum_is_told_apart_from_damage),
        cmocka_unit_test(a_preset_dictionary_is_unsupported),
        cmocka_unit_test(gzip_and_raw_deflate_are_corrupt),
        cmocka_unit_test(an_empty_stream_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
