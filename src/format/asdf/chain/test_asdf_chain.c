/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "codec/codec_app.h"
#include "format/asdf/chain/asdf_chain.h"

typedef struct bench {
    cip_env env;
    cip_arena arena;
    cip_err err;
    asdf_chain chain;
} bench;

static int set_up(void **state)
{
    static bench b;
    b = (bench){ .err = CIP_ERR_INIT };
    assert_int_equal(cip_env_init(&b.env, NULL, NULL, NULL, NULL), CIP_OK);
    b.arena.mem = &b.env.mem;
    *state = &b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    cip_arena_clear(&b->arena);
    cip_env_clear(&b->env);
    assert_int_equal(b->env.mem.used, 0);
    return 0;
}

static cip_status read_chain(bench *b, const char *text)
{
    b->err = (cip_err)CIP_ERR_INIT;
    return cip_asdf_chain_read(
        &b->env, &b->arena, (cip_bytes){ (const uint8_t *)text, strlen(text) }, &b->chain, &b->err);
}

static void the_documents_chains_are_taken(void **state)
{
    bench *b = *state;
    assert_int_equal(read_chain(b, "[zlib]"), CIP_OK);
    assert_int_equal(b->chain.n, 1);
    assert_int_equal(b->chain.step[0].kind, ASDF_STEP_CODEC);
    assert_ptr_equal(b->chain.step[0].codec, cip_codec_find("zlib"));
    assert_int_equal(read_chain(b, "[[tile, {shape: [32, 16]}], zlib]"), CIP_OK);
    const asdf_step *tile = &b->chain.step[0];
    assert_int_equal(b->chain.n, 2);
    assert_int_equal(tile->kind, ASDF_STEP_TILE);
    assert_string_equal(tile->name, "tile");
    assert_int_equal(tile->ndim, 2);
    assert_int_equal(tile->shape[0], 32);
    assert_int_equal(tile->shape[1], 16);
    assert_false(tile->has_original);
    assert_int_equal(tile->item_size, 0);
    assert_int_equal(read_chain(b, "[[tile, {shape: [32, 32]}], [quantize, {quality: 2.5}], zlib]"),
                     CIP_OK);
    assert_int_equal(b->chain.n, 3);
    assert_int_equal(b->chain.step[1].kind, ASDF_STEP_QUANTIZE);
    assert_true(b->chain.step[1].quality == 2.5);
    assert_int_equal(b->chain.step[1].bits, 0);
    assert_int_equal(b->chain.step[1].dtype, 0);
}

static void all_arguments_are_taken(void **state)
{
    bench *b = *state;
    assert_int_equal(read_chain(b, "- - tile\n  - {shape: [2], original_shape: [5, 0, 7], "
                                   "item_size: 12, other: [1]}\n"
                                   "- - quantize\n  - {dtype: 64, original_shape: [], bits: 64}\n"),
                     CIP_OK);
    const asdf_step *tile = &b->chain.step[0], *q = &b->chain.step[1];
    assert_true(tile->has_original);
    assert_int_equal(tile->original_ndim, 3);
    assert_int_equal(tile->original[0], 5);
    assert_int_equal(tile->original[1], 0);
    assert_int_equal(tile->original[2], 7);
    assert_int_equal(tile->item_size, 12);
    assert_non_null(tile->args);
    assert_int_equal(q->dtype, 64);
    assert_true(q->has_original);
    assert_int_equal(q->original_ndim, 0);
    assert_int_equal(q->bits, 64);
    assert_true(q->quality == 0);
    assert_int_equal(read_chain(b, "[quantize]"), CIP_OK);
    assert_true(b->chain.step[0].quality == ASDF_QUANTIZE_QUALITY);
}

static void every_form_of_a_chain_is_taken(void **state)
{
    bench *b = *state;
    static const struct {
        const char *text;
        size_t n;
    } rows[] = {
        { "zlib", 1 },
        { "[zlib]", 1 },
        { "[[zlib]]", 1 },
        { "[[zlib, {}]]", 1 },
        { "[[zlib, ~]]", 1 },
        { "[[zlib, {level: 9}]]", 1 },
        { "- zlib\n- [zlib]\n", 2 },
        { "--- [zlib]\n...\n", 1 },
        { "%YAML 1.1\r\n--- [zlib, zlib, zlib]\r\n...\r\n", 3 },
        { "[]", 0 },
        { "['zlib', \"zlib\"]", 2 },
        { "quantize", 1 },
        { "[quantize, zlib]", 2 },
        { "[[tile, {shape: [1]}]]", 1 },
        { "[[tile, {shape: []}]]", 1 },
        { "[[tile, {shape: [1]}], [tile, {shape: [2]}], quantize, zlib, zlib]", 5 },
        { "[zlib, zlib, zlib, zlib, zlib, zlib, zlib, zlib]", 8 },
        { "[&a [zlib], *a]", 2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(read_chain(b, rows[i].text), CIP_OK);
        assert_int_equal(b->chain.n, rows[i].n);
    }
}

static void what_is_no_chain_is_refused(void **state)
{
    bench *b = *state;
    static const struct {
        const char *text;
        cip_status st;
        const char *why;
    } rows[] = {
        { "{zlib: 1}", CIP_ERR_CORRUPT, "expected a list of encodings" },
        { "", CIP_ERR_CORRUPT, "expected a list of encodings" },
        { "~", CIP_ERR_CORRUPT, "expected a list of encodings" },
        { "7", CIP_ERR_CORRUPT, "expected a list of encodings" },
        { "[zlib", CIP_ERR_CORRUPT, "" },
        { "[7]", CIP_ERR_CORRUPT, "expected an encoding's name" },
        { "['']", CIP_ERR_CORRUPT, "expected an encoding's name" },
        { "[[]]", CIP_ERR_CORRUPT, "expected an encoding's name" },
        { "[[[zlib]]]", CIP_ERR_CORRUPT, "expected an encoding's name" },
        { "[[zlib, {}, {}]]", CIP_ERR_CORRUPT, "expected an encoding's name" },
        { "[[zlib, 9]]", CIP_ERR_CORRUPT, "expected an encoding's name" },
        { "[tile, {shape: [1]}]", CIP_ERR_CORRUPT, "lengths of at least 1 as shape" },
        { "[{zlib: {}}]", CIP_ERR_CORRUPT, "expected an encoding's name" },
        { "[rot13]", CIP_ERR_UNSUPPORTED, "found 'rot13'" },
        { "[bzip2]", CIP_ERR_UNSUPPORTED, "found 'bzip2'" },
        { "[zlib, zlib, zlib, zlib, zlib, zlib, zlib, zlib, zlib]", CIP_ERR_UNSUPPORTED,
          "at most 8 encodings in a chain, found 9" },
        { "tile", CIP_ERR_CORRUPT, "at least 1 as shape" },
        { "[[tile, {shape: 3}]]", CIP_ERR_CORRUPT, "at least 1 as shape" },
        { "[[tile, {shape: [0]}]]", CIP_ERR_CORRUPT, "at least 1 as shape" },
        { "[[tile, {shape: [1.5]}]]", CIP_ERR_CORRUPT, "at least 1 as shape" },
        { "[[tile, {shape: [9223372036854775808]}]]", CIP_ERR_CORRUPT, "at least 1 as shape" },
        { "[[tile, {shape: [1], original_shape: [-1]}]]", CIP_ERR_CORRUPT, "at least 0" },
        { "[[tile, {shape: [1], original_shape: 4}]]", CIP_ERR_CORRUPT, "at least 0" },
        { "[[tile, {shape: [1], item_size: 0}]]", CIP_ERR_CORRUPT, "item_size of at least 1" },
        { "[[tile, {shape: [1], item_size: x}]]", CIP_ERR_CORRUPT, "item_size of at least 1" },
        { "[[quantize, {dtype: 16}]]", CIP_ERR_CORRUPT, "a dtype of 32 or 64" },
        { "[[quantize, {dtype: '32'}]]", CIP_ERR_CORRUPT, "a dtype of 32 or 64" },
        { "[[quantize, {original_shape: [x]}]]", CIP_ERR_CORRUPT, "at least 0" },
        { "[zlib, quantize]", CIP_ERR_CORRUPT, "'quantize', which needs an array, before 'zlib'" },
        { "[zlib, [tile, {shape: [1]}]]", CIP_ERR_CORRUPT, "'tile', which needs an array" },
        { "[quantize, [tile, {shape: [1]}]]", CIP_ERR_CORRUPT, "before 'quantize'" },
        { "[quantize, quantize]", CIP_ERR_CORRUPT, "which produces bytes" },
        { "[[quantize, {quality: 0}]]", CIP_ERR_CORRUPT, "a quality over 0" },
        { "[[quantize, {quality: .inf}]]", CIP_ERR_CORRUPT, "a quality over 0" },
        { "[[quantize, {quality: high}]]", CIP_ERR_CORRUPT, "a quality over 0" },
        { "[[quantize, {bits: 65}]]", CIP_ERR_CORRUPT, "1 to 64 as bits" },
        { "[[quantize, {bits: 0}]]", CIP_ERR_CORRUPT, "1 to 64 as bits" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        b->chain.n = 99;
        assert_int_equal(read_chain(b, rows[i].text), rows[i].st);
        assert_non_null(strstr(b->err.text, rows[i].why));
        assert_int_equal(b->chain.n, 99);
    }
}

static void more_axes_than_there_are_is_unsupported(void **state)
{
    bench *b = *state;
    char text[400] = "[[tile, {shape: [1";
    for (int i = 0; i < CIP_MAX_NDIM; i++)
        strcat(text, ",1");
    strcat(text, "]}]]");
    assert_int_equal(read_chain(b, text), CIP_ERR_UNSUPPORTED);
}

/* --- the application's ------------------------------------------------------------------------ */

static cip_status no_decode(void *user, const char *args, const void *src, size_t n, void *dst,
                            size_t cap, size_t *out, cip_err *err)
{
    (void)user, (void)args, (void)src, (void)n, (void)dst, (void)cap, (void)out, (void)err;
    return CIP_ERR_CORRUPT;
}

static void an_encoding_of_the_application_gets_its_arguments(void **state)
{
    bench *b = *state;
    const cip_codec_methods own = { CIP_CODEC_METHODS_INIT, .name = "rot13", .decode = no_decode };
    b->env.codec = &own;
    b->env.ncodec = 1;
    assert_int_equal(read_chain(b, "[[rot13,\n  {key: [1, 'two']}], rot13]"), CIP_OK);
    const cip_app_codec *args = b->chain.step[0].codec_args;
    assert_ptr_equal(b->chain.step[0].codec, &cip_codec_app);
    assert_ptr_equal(args->methods, &own);
    assert_string_equal(args->args, "{key: [1, 'two']}");
    args = b->chain.step[1].codec_args;
    assert_string_equal(args->args, "");
}

/* --- where the text ends ---------------------------------------------------------------------- */

static void the_text_ends_at_the_first_marker(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t len;
    } rows[] = {
        { "--- [zlib]\n...\nx", 15 },     { "[zlib]\n...\n", 11 },
        { "[zlib]\r\n...\r\n\r\n", 13 },  { "[zlib]\r\n...\n", 12 },
        { "a\n....\n...x\n...\r\n", 17 }, { "\n...\n\n...\n", 5 },
        { "[a]\n ...\n...\n", 13 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len = 0;
        cip_bytes in = { (const uint8_t *)rows[i].text, strlen(rows[i].text) };
        assert_int_equal(cip_asdf_chain_len(in, &len, NULL), CIP_OK);
        assert_int_equal(len, rows[i].len);
        in.len = len - 1; /* a marker that is cut off is none */
        if (memmem(in.ptr, in.len, "\n...\n", 5) == NULL)
            assert_int_equal(cip_asdf_chain_len(in, &len, NULL), CIP_ERR_CORRUPT);
    }
    static const char *const none[] = { "", "...\n", "[zlib]\n...", "[zlib]\n... \n", "\n..\n" };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        size_t len = 7;
        cip_bytes in = { (const uint8_t *)none[i], strlen(none[i]) };
        assert_int_equal(cip_asdf_chain_len(in, &len, NULL), CIP_ERR_CORRUPT);
        assert_int_equal(len, 7);
    }
}

static void the_text_has_at_most_64_kib(void **state)
{
    (void)state;
    static uint8_t text[ASDF_CHAIN_TEXT_MAX + 1];
    size_t len;
    memset(text, ' ', sizeof text);
    memcpy(text + ASDF_CHAIN_TEXT_MAX - 5, "\n...\n", 5);
    assert_int_equal(cip_asdf_chain_len((cip_bytes){ text, sizeof text }, &len, NULL), CIP_OK);
    assert_int_equal(len, ASDF_CHAIN_TEXT_MAX);
    memcpy(text + ASDF_CHAIN_TEXT_MAX - 5, " \n...\n", 6);
    assert_int_equal(cip_asdf_chain_len((cip_bytes){ text, sizeof text }, &len, NULL),
                     CIP_ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_documents_chains_are_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_arguments_are_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_form_of_a_chain_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_chain_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_axes_than_there_are_is_unsupported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_encoding_of_the_application_gets_its_arguments, set_up,
                                        tear_down),
        cmocka_unit_test(the_text_ends_at_the_first_marker),
        cmocka_unit_test(the_text_has_at_most_64_kib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
