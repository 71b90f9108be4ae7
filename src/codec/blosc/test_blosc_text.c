/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "codec/blosc/blosc.h"

static void filters_are_the_same_both_ways(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint8_t filter[6], meta[6];
    } rows[] = {
        { "none", { 0 }, { 0 } },
        { "shuffle", { 0, 0, 0, 0, 0, 1 }, { 0 } },
        { "delta+bitshuffle", { 0, 0, 0, 0, 3, 2 }, { 0 } },
        { "trunc_prec:10+shuffle:4", { 0, 0, 0, 0, 4, 1 }, { 0, 0, 0, 0, 10, 4 } },
        { "int_trunc:-3", { 0, 0, 0, 0, 0, 36 }, { 0, 0, 0, 0, 0, 253 } },
        { "ndcell:255+ndmean+bytedelta+delta+shuffle+trunc_prec:-128",
          { 32, 33, 35, 3, 1, 4 },
          { 255, 0, 0, 0, 0, 128 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t f[6] = { 9, 9, 9, 9, 9, 9 }, m[6] = { 9, 9, 9, 9, 9, 9 };
        char text[CIP_BLOSC_FILTERS_TEXT];
        assert_int_equal(cip_blosc_filters_parse(rows[i].text, f, m, NULL), CIP_OK);
        assert_memory_equal(f, rows[i].filter, 6);
        assert_memory_equal(m, rows[i].meta, 6);
        cip_blosc_filters_print(f, m, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void a_list_with_commas_is_put_into_order(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        { "shuffle,delta", "delta+shuffle" },
        { "bitshuffle,trunc:10", "trunc_prec:10+bitshuffle" },
        { "bytedelta,shuffle,ndcell:4", "ndcell:4+shuffle+bytedelta" },
        { "shuffle,bitshuffle", "shuffle+bitshuffle" },
        { "ndmean:3,int_trunc:-2", "int_trunc:-2+ndmean:3" },
        { "shuffle+delta", "shuffle+delta" }, /* as it is said */
        { "trunc:3", "trunc_prec:3" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t f[6], m[6];
        char text[CIP_BLOSC_FILTERS_TEXT];
        assert_int_equal(cip_blosc_filters_parse(rows[i][0], f, m, NULL), CIP_OK);
        cip_blosc_filters_print(f, m, text);
        assert_string_equal(text, rows[i][1]);
    }
}

static void codecs_are_parsed_with_their_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int compcode;
        uint8_t meta;
    } rows[] = {
        { "blosclz", CIP_BLOSC_BLOSCLZ, 0 },       { "zstd", CIP_BLOSC_ZSTD, 0 },
        { "ndlz:4", CIP_BLOSC_NDLZ, 4 },           { "ndlz:8", CIP_BLOSC_NDLZ, 8 },
        { "zfp:acc=-3", CIP_BLOSC_ZFP_ACC, 253 },  { "zfp:acc=127", CIP_BLOSC_ZFP_ACC, 127 },
        { "zfp:prec=64", CIP_BLOSC_ZFP_PREC, 64 }, { "zfp:rate=100", CIP_BLOSC_ZFP_RATE, 100 }
    };
    static const char *const bad[] = {
        "",
        "zst",
        "ndlz",
        "ndlz:",
        "ndlz:5",
        "ndlz:12",
        "ndlz:+4",
        "zfp",
        "zfp_acc",
        "zfp:acc",
        "zfp:acc=",
        "zfp:acc=x",
        "zfp:acc=1.5",
        "zfp:acc=128",
        "zfp:acc=-129",
        "zfp:acc= 1",
        "zfp:acc=--1",
        "zfp:prec=0",
        "zfp:prec=65",
        "zfp:rate=0",
        "zfp:rate=101",
        "zfp:rate=50%",
        "zstd:3",
        "zfp:acc=99999999999999999999",
    };
    int code;
    uint8_t meta;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(cip_blosc_codec_parse(rows[i].text, &code, &meta, NULL), CIP_OK);
        assert_true(code == rows[i].compcode && meta == rows[i].meta);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cip_err err = CIP_ERR_INIT;
        if (cip_blosc_codec_parse(bad[i], &code, &meta, &err) != CIP_ERR_ARG ||
            strncmp(err.text, "expected ", 9) != 0)
            fail_msg("%s: %s", bad[i], err.text);
    }
    assert_int_equal(cip_blosc_codec_parse("snappy", &code, &meta, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_blosc_codec_parse("openzl", &code, &meta, NULL), CIP_ERR_UNSUPPORTED);
}

static void filters_without_a_name_are_numbers(void **state)
{
    (void)state;
    const uint8_t f[6] = { 200, 200, 200, 200, 200, 200 }, m[6] = { 255, 255, 255, 255, 255, 255 };
    char text[CIP_BLOSC_FILTERS_TEXT];
    cip_blosc_filters_print(f, m, text);
    assert_string_equal(text, "200:255+200:255+200:255+200:255+200:255+200:255");
}

static void the_longest_text_has_room(void **state)
{
    (void)state;
    uint8_t f[6], m[6];
    char text[CIP_BLOSC_FILTERS_TEXT];
    memset(m, 128, 6);
    for (int id = 0; id < 256; id++) {
        memset(f, id, 6);
        cip_blosc_filters_print(f, m, text);
        assert_true(strlen(text) + 1 < CIP_BLOSC_FILTERS_TEXT);
    }
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    const char *bad[] = { "",
                          "Shuffle",
                          "shuffle+",
                          "+shuffle",
                          "shuffle:",
                          "shuffle:x",
                          "shuffle:1x",
                          "shuffle:-1",
                          "shuffle:256",
                          "nofilter",
                          "shuffle: 1",
                          "trunc_prec:128",
                          "trunc_prec:-129",
                          "none+shuffle",
                          "delta+delta+delta+delta+delta+delta+delta" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t f[6] = { 7 }, m[6] = { 7 };
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(cip_blosc_filters_parse(bad[i], f, m, &err), CIP_ERR_ARG);
        assert_true(f[0] == 7 && m[0] == 7 && err.text[0] != '\0');
    }
}

static void codecs_are_found_by_name(void **state)
{
    (void)state;
    assert_int_equal(cip_blosc_codec_id("blosclz"), CIP_BLOSC_BLOSCLZ);
    assert_int_equal(cip_blosc_codec_id("lz4hc"), CIP_BLOSC_LZ4HC);
    assert_int_equal(cip_blosc_codec_id("zstd"), CIP_BLOSC_ZSTD);
    assert_int_equal(cip_blosc_codec_id("zst"), -1);
    assert_int_equal(cip_blosc_filter_id_of("shuffled", 7), CIP_BLOSC_SHUFFLE);
    assert_int_equal(cip_blosc_filter_id_of("shuffle", 6), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_are_the_same_both_ways),
        cmocka_unit_test(a_list_with_commas_is_put_into_order),
        cmocka_unit_test(codecs_are_parsed_with_their_numbers),
        cmocka_unit_test(filters_without_a_name_are_numbers),
        cmocka_unit_test(the_longest_text_has_room),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(codecs_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
