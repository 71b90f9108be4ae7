/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/codec/codec_testing.h"

static cip_status decode(const uint8_t *src, size_t n, size_t dst_len, uint8_t **out, cip_err *err)
{
    return test_decode(cip_codec_find("bzip2"), src, n, dst_len, out, err);
}

/* "abc" as bzip2 -9 writes it. */
static const uint8_t abc[] = { 0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59,
                               0x64, 0x8c, 0xbb, 0x73, 0x00, 0x00, 0x00, 0x01, 0x00, 0x38,
                               0x00, 0x20, 0x00, 0x21, 0x98, 0x19, 0x84, 0x61, 0x77, 0x24,
                               0x53, 0x85, 0x09, 0x06, 0x48, 0xcb, 0xb7, 0x30 };

static void a_known_stream_decodes(void **state)
{
    (void)state;
    uint8_t *out;
    assert_int_equal(decode(abc, sizeof abc, 3, &out, NULL), CIP_OK);
    assert_memory_equal(out, "abc", 3);
    free(out);
}

static void what_follows_the_stream_is_not_read(void **state)
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

static void damage_and_another_beginning_are_told_apart(void **state)
{
    (void)state;
    uint8_t bad[sizeof abc];
    cip_err err = CIP_ERR_INIT;
    memcpy(bad, abc, sizeof abc);
    bad[12] ^= 1; /* the block's CRC */
    assert_int_equal(decode(bad, sizeof bad, 3, NULL, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "expected a bzip2 stream, found damaged data");
    bad[0] = 'b';
    assert_int_equal(decode(bad, sizeof bad, 3, NULL, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "expected a bzip2 stream, found other bytes at its start");
}

/* Three blocks of 100 kB: input and output go on over many calls of libbz2. */
static void many_blocks_go_through(void **state)
{
    (void)state;
    const cip_codec *c = cip_codec_find("bzip2");
    enum { N = 250000 };
    uint8_t *data = test_data(TEST_NOISE, N), *out;
    size_t len;
    uint8_t *coded = test_encode(c, 1, data, N, &len);
    assert_true(len > N && len <= c->bound(N));
    assert_true(c->bound((size_t)UINT32_MAX + 1) > UINT32_MAX);
    assert_int_equal(decode(coded, len, N, &out, NULL), CIP_OK);
    assert_memory_equal(out, data, N);
    free(out);
    uint8_t *exact = malloc(len); /* just the room that it needs is enough */
    cip_dst fit = { exact, len, 0 };
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 0);
    assert_int_equal(c->encode(NULL, env, 1, (cip_bytes){ data, N }, &fit, &t.err), CIP_OK);
    assert_int_equal(fit.len, len);
    assert_memory_equal(exact, coded, len);
    test_env_close(&t);
    free(exact);
    free(coded);
    free(data);
}

/* The library asks for several pieces at once: where one does not fit a later one may. */
static void too_little_memory_is_a_limit(void **state)
{
    (void)state;
    const cip_codec *c = cip_codec_find("bzip2");
    static const uint8_t data[100];
    uint8_t out[1000];
    for (uint64_t limit = 1 << 19; limit < 8 << 20; limit += 1 << 19) {
        cip_dst dst = { out, sizeof out, 0 };
        test_env t;
        cip_codec_env *env = test_env_open(&t, 0, limit);
        cip_status st = c->encode(NULL, env, 9, (cip_bytes){ data, sizeof data }, &dst, &t.err);
        assert_true(st == CIP_OK || st == CIP_ERR_LIMIT);
        assert_true(st == CIP_OK || strstr(t.err.text, "bytes more than the") != NULL);
        test_env_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_stream_decodes),
        cmocka_unit_test(what_follows_the_stream_is_not_read),
        cmocka_unit_test(damage_and_another_beginning_are_told_apart),
        cmocka_unit_test(many_blocks_go_through),
        cmocka_unit_test(too_little_memory_is_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
