/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/checksum/checksum.h"

#include "support/codec/codec_testing.h"

#include <libdeflate.h>

/* RFC 1321's own examples, XXH3-128's of its reference implementation, FIPS 180-4's; the sums of 32
 * bits by Python's zlib. */
static const struct {
    cip_sum_id id;
    const char *text, *hex;
} known[] = {
    { CIP_SUM_MD5, "", "d41d8cd98f00b204e9800998ecf8427e" },
    { CIP_SUM_MD5, "abc", "900150983cd24fb0d6963f7d28e17f72" },
    { CIP_SUM_MD5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
    { CIP_SUM_XXH3_128, "", "99aa06d3014798d86001c324468d497f" },
    { CIP_SUM_XXH3_128, "abc", "06b05ab6733a618578af5f94892f3950" },
    { CIP_SUM_ADLER32, "", "00000001" },
    { CIP_SUM_ADLER32, "abc", "024d0127" },
    { CIP_SUM_CRC32, "", "00000000" },
    { CIP_SUM_CRC32, "abc", "352441c2" },
    { CIP_SUM_SHA1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
    { CIP_SUM_SHA224, "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7" },
    { CIP_SUM_SHA256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { CIP_SUM_SHA384, "abc",
      "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
      "8086072ba1e7cc2358baeca134c825a7" },
    { CIP_SUM_SHA512, "abc",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
      "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f" },
};

static void check_hex(const uint8_t *out, const char *hex)
{
    char text[2 * CIP_SUM_MAX + 1] = "";
    for (size_t i = 0; i < strlen(hex) / 2; i++)
        snprintf(text + 2 * i, 3, "%02x", out[i]);
    assert_string_equal(text, hex);
}

static void check_take(cip_sum *s, const char *hex)
{
    uint8_t out[CIP_SUM_MAX];
    cip_sum_take(s, out);
    check_hex(out, hex);
}

static void known_texts_have_their_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        test_env t;
        cip_sum *s;
        uint8_t out[CIP_SUM_MAX];
        test_env_open(&t, 0, 0);
        assert_int_equal(cip_sum_size(known[i].id), strlen(known[i].hex) / 2);
        assert_int_equal(cip_sum_new(&t.mem, known[i].id, &s, &t.err), CIP_OK);
        cip_sum_add(s, known[i].text, strlen(known[i].text));
        check_take(s, known[i].hex);
        for (size_t k = 0; known[i].text[k] != '\0'; k++) /* anew, in pieces */
            cip_sum_add(s, known[i].text + k, 1);
        cip_sum_add(s, NULL, 0);
        check_take(s, known[i].hex);
        cip_sum_free(s);
        const cip_bytes all = { (const uint8_t *)known[i].text, strlen(known[i].text) };
        assert_int_equal(cip_sum_of(&t.mem, known[i].id, all, out, &t.err), CIP_OK);
        check_hex(out, known[i].hex);
        test_env_close(&t);
    }
}

static void sizes_and_names_are_told(void **state)
{
    (void)state;
    assert_int_equal(cip_sum_size(CIP_SUM_NONE), 0);
    assert_int_equal(cip_sum_size(CIP_SUM_MD5), 16);
    assert_int_equal(cip_sum_size(CIP_SUM_XXH3_128), 16);
    assert_int_equal(cip_sum_size(CIP_SUM_SHA512), CIP_SUM_MAX);
    assert_int_equal(cip_sum_size((cip_sum_id)99), 0);
    assert_string_equal(cip_sum_name(CIP_SUM_NONE), "none");
    assert_string_equal(cip_sum_name(CIP_SUM_MD5), "md5");
    assert_string_equal(cip_sum_name(CIP_SUM_XXH3_128), "xxh3-128");
    assert_string_equal(cip_sum_name((cip_sum_id)99), "none");
}

static void unknown_sums_and_missing_memory_are_reported(void **state)
{
    (void)state;
    test_env t;
    cip_sum *s = (cip_sum *)&t;
    test_env_open(&t, 1, 0);
    assert_int_equal(cip_sum_new(&t.mem, CIP_SUM_NONE, &s, &t.err), CIP_ERR_UNSUPPORTED);
    assert_null(s);
    assert_int_equal(cip_sum_new(&t.mem, (cip_sum_id)99, &s, &t.err), CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_sum_new(&t.mem, CIP_SUM_MD5, &s, &t.err), CIP_ERR_NOMEM);
    assert_null(s);
    cip_sum_free(NULL);
    test_env_close(&t);
}

static void a_crc_follows_a_change(void **state)
{
    (void)state;
    enum { N = 1000 };
    static uint8_t was[N], now[N];
    for (size_t i = 0; i < N; i++)
        was[i] = now[i] = (uint8_t)(i * 37);
    for (size_t at = 0; at < N; at += 83)
        for (size_t n = 0; n <= N - at; n += 129) {
            for (size_t i = 0; i < n; i++)
                now[at + i] ^= (uint8_t)(i + 1);
            assert_int_equal(cip_crc32_changed(libdeflate_crc32(0, was, N),
                                               libdeflate_crc32(0, was + at, n),
                                               libdeflate_crc32(0, now + at, n), N - at - n),
                             libdeflate_crc32(0, now, N));
            memcpy(now, was, N);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crc_follows_a_change),
        cmocka_unit_test(known_texts_have_their_sums),
        cmocka_unit_test(sizes_and_names_are_told),
        cmocka_unit_test(unknown_sums_and_missing_memory_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
