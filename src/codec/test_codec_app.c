/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "codec/codec_app.h"

/* What the application's functions do next. */
typedef struct app {
    int status;
    const char *why;
    size_t gives;
    char args[16];
} app;

static cip_status app_decode(void *user, const char *args, const void *src, size_t n, void *dst,
                             size_t cap, size_t *out, cip_err *err)
{
    app *a = user;
    snprintf(a->args, sizeof a->args, "%s", args);
    if (a->why != NULL)
        snprintf(err->text, sizeof err->text, "%s", a->why);
    for (size_t i = 0; i < n && i < cap; i++)
        ((uint8_t *)dst)[i] = ((const uint8_t *)src)[i] ^ 0xff;
    *out = a->gives;
    return (cip_status)a->status;
}

static cip_status app_length(void *user, const char *args, const void *src, size_t n,
                             uint64_t *nbytes, cip_err *err)
{
    app *a = user;
    (void)args, (void)src, (void)err;
    *nbytes = 10 * n;
    return (cip_status)a->status;
}

static app state_of_app;
static const cip_codec_methods list[] = {
    { CIP_CODEC_METHODS_INIT, .name = "flip", .user = &state_of_app, .decode = app_decode,
      .decoded_nbytes = app_length },
    { CIP_CODEC_METHODS_INIT, .name = "flop", .code = { 'f', 'l', 'o', 0 }, .user = &state_of_app,
      .decode = app_decode },
};

static cip_status decode(const cip_app_codec *c, uint8_t *dst, size_t n, cip_err *err)
{
    const cip_codec_env env = { 0 };
    return cip_codec_app.decode(c, &env, (cip_bytes){ (const uint8_t *)"\1\2", 2 }, dst, n, err);
}

static void what_the_application_decodes_is_taken(void **state)
{
    (void)state;
    const cip_app_codec c = { &list[0], "{a: 1}" };
    uint8_t out[2];
    state_of_app = (app){ .gives = 2 };
    assert_int_equal(decode(&c, out, 2, NULL), CIP_OK);
    assert_memory_equal(out, "\xfe\xfd", 2);
    assert_string_equal(state_of_app.args, "{a: 1}");
}

static void its_failures_come_back_in_order(void **state)
{
    (void)state;
    const cip_app_codec c = { &list[0], "" };
    static const struct {
        int status;
        const char *why;
        cip_status st;
        const char *text;
    } rows[] = {
        { CIP_ERR_CHECKSUM, "it is flipped wrong", CIP_ERR_CHECKSUM, "it is flipped wrong" },
        { CIP_ERR_TRUNCATED, NULL, CIP_ERR_TRUNCATED, "'flip' failed without a reason" },
        { 999, "odd", CIP_ERR_CORRUPT, "odd" },
        { -1, NULL, CIP_ERR_CORRUPT, "without a reason" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cip_err err = CIP_ERR_INIT;
        uint8_t out[2];
        state_of_app = (app){ rows[i].status, rows[i].why, 2, "" };
        assert_int_equal(decode(&c, out, 2, &err), rows[i].st);
        assert_int_equal(err.code, rows[i].st);
        assert_non_null(strstr(err.text, rows[i].text));
    }
}

static void another_length_than_expected_is_corrupt(void **state)
{
    (void)state;
    const cip_app_codec c = { &list[0], "" };
    cip_err err = CIP_ERR_INIT;
    uint8_t out[4];
    state_of_app = (app){ .gives = 2 };
    assert_int_equal(decode(&c, out, 3, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "expected 3 bytes of the encoding 'flip', found 2");
    state_of_app.gives = SIZE_MAX;
    assert_int_equal(decode(&c, out, 3, &err), CIP_ERR_CORRUPT);
}

static void lengths_are_asked_for_where_it_can_tell(void **state)
{
    (void)state;
    const cip_app_codec flip = { &list[0], "" }, flop = { &list[1], "" };
    const cip_bytes src = { (const uint8_t *)"abc", 3 };
    cip_err err = CIP_ERR_INIT;
    uint64_t len = 7;
    state_of_app = (app){ .status = CIP_ERR_CORRUPT };
    assert_int_equal(cip_app_codec_len(&flip, src, &len, &err), CIP_ERR_CORRUPT);
    assert_int_equal(cip_app_codec_len(&flop, src, &len, &err), CIP_ERR_UNSUPPORTED);
    assert_int_equal(len, 7);
    state_of_app.status = CIP_OK;
    assert_int_equal(cip_app_codec_len(&flip, src, &len, &err), CIP_OK);
    assert_int_equal(len, 30);
}

static void they_are_found_by_name_and_code(void **state)
{
    (void)state;
    static cip_env env;
    env.codec = list;
    env.ncodec = 2;
    assert_ptr_equal(cip_app_codec_named(&env, "flop"), &list[1]);
    assert_null(cip_app_codec_named(&env, "flo"));
    assert_ptr_equal(cip_app_codec_coded(&env, (const uint8_t *)"flo\0"), &list[1]);
    assert_null(cip_app_codec_coded(&env, (const uint8_t *)"flop"));
    assert_null(cip_app_codec_coded(&env, (const uint8_t *)"\0\0\0\0")); /* flip has none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_application_decodes_is_taken),
        cmocka_unit_test(its_failures_come_back_in_order),
        cmocka_unit_test(another_length_than_expected_is_corrupt),
        cmocka_unit_test(lengths_are_asked_for_where_it_can_tell),
        cmocka_unit_test(they_are_found_by_name_and_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
