/* SPDX-License-Identifier: BSD-3-Clause */
#include "codec/checksum/checksum.h"

#include "codec/test_codec.h"

/* RFC 1321's own examples, and XXH3-128's of its reference implementation. */
static const struct {
    cip_sum_id id;
    const char *text, *hex;
} known[] = {
    { CIP_SUM_MD5, "", "d41d8cd98f00b204e9800998ecf8427e" },
    { CIP_SUM_MD5, "abc", "900150983cd24fb0d6963f7d28e17f72" },
    { CIP_SUM_MD5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
    { CIP_SUM_XXH3_128, "", "99aa06d3014798d86001c324468d497f" },
    { CIP_SUM_XXH3_128, "abc", "06b05ab6733a618578af5f94892f3950" },
};

static void check_take(cip_sum *s, const char *hex)
{
    uint8_t out[16];
    char text[33];
    cip_sum_take(s, out);
    for (size_t i = 0; i < 16; i++)
        snprintf(text + 2 * i, 3, "%02x", out[i]);
    assert_string_equal(text, hex);
}

static void known_texts_have_their_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        test_env t;
        cip_sum *s;
        test_env_open(&t, 0, 0);
        assert_int_equal(cip_sum_new(&t.mem, known[i].id, &s, &t.err), CIP_OK);
        cip_sum_add(s, known[i].text, strlen(known[i].text));
        check_take(s, known[i].hex);
        for (size_t k = 0; known[i].text[k] != '\0'; k++) /* anew, in pieces */
            cip_sum_add(s, known[i].text + k, 1);
        cip_sum_add(s, NULL, 0);
        check_take(s, known[i].hex);
        cip_sum_free(s);
        test_env_close(&t);
    }
}

static void sizes_and_names_are_told(void **state)
{
    (void)state;
    assert_int_equal(cip_sum_size(CIP_SUM_NONE), 0);
    assert_int_equal(cip_sum_size(CIP_SUM_MD5), 16);
    assert_int_equal(cip_sum_size(CIP_SUM_XXH3_128), 16);
    assert_int_equal(cip_sum_size((cip_sum_id)3), 0);
    assert_string_equal(cip_sum_name(CIP_SUM_NONE), "none");
    assert_string_equal(cip_sum_name(CIP_SUM_MD5), "md5");
    assert_string_equal(cip_sum_name(CIP_SUM_XXH3_128), "xxh3-128");
    assert_string_equal(cip_sum_name((cip_sum_id)3), "none");
}

static void unknown_sums_and_missing_memory_are_reported(void **state)
{
    (void)state;
    test_env t;
    cip_sum *s = (cip_sum *)&t;
    test_env_open(&t, 1, 0);
    assert_int_equal(cip_sum_new(&t.mem, CIP_SUM_NONE, &s, &t.err), CIP_ERR_UNSUPPORTED);
    assert_null(s);
    assert_int_equal(cip_sum_new(&t.mem, (cip_sum_id)3, &s, &t.err), CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_sum_new(&t.mem, CIP_SUM_MD5, &s, &t.err), CIP_ERR_NOMEM);
    assert_null(s);
    cip_sum_free(NULL);
    test_env_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_have_their_sums),
        cmocka_unit_test(sizes_and_names_are_told),
        cmocka_unit_test(unknown_sums_and_missing_memory_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
