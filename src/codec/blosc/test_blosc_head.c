/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "codec/blosc/blosc.h"
#include "codec/with.h"

/* A Blosc2 chunk of 1000 bytes in blocks of 256, 300 bytes long. */
static const uint8_t good2[CIP_BLOSC_HEADER] = {
    5, 1, 0x25, 4, 0xe8, 3, 0, 0, 0, 1, 0, 0, 44, 1, 0, 0, 3, 0, 0, 0, 0, 1, 1, 9, 0, 0, 0, 0, 0, 2
};
/* The same of Blosc1. */
static const uint8_t good1[CIP_BLOSC_MIN_HEADER] = { 2, 1, 0x21, 4, 0xe8, 3, 0, 0,
                                                     0, 1, 0,    0, 44,   1, 0, 0 };

static cip_status parse(const uint8_t *p, size_t n, cip_blosc_head *h, cip_err *err)
{
    uint8_t *exact = malloc(n != 0 ? n : 1); /* nothing behind it is read */
    assert_non_null(exact);
    memcpy(exact, p, n);
    cip_status st = cip_blosc_head_parse((cip_bytes){ exact, n }, h, err);
    free(exact);
    return st;
}

static void every_field_is_told(void **state)
{
    (void)state;
    cip_blosc_head h;
    assert_int_equal(parse(good2, sizeof good2, &h, NULL), CIP_OK);
    assert_int_equal(h.version, 5);
    assert_int_equal(h.versionlz, 1);
    assert_int_equal(h.flags, 0x25);
    assert_int_equal(h.typesize, 4);
    assert_int_equal(h.nbytes, 1000);
    assert_int_equal(h.blocksize, 256);
    assert_int_equal(h.cbytes, 300);
    assert_int_equal(h.header, 32);
    assert_int_equal(h.nblock, 4);
    assert_true(h.extended && h.split);
    assert_false(h.memcpyed || h.vl || h.dict || h.big || h.instrumented);
    assert_int_equal(h.special, CIP_BLOSC_NOT_SPECIAL);
    assert_int_equal(h.compcode, CIP_BLOSC_LZ4);
    assert_int_equal(h.codec_meta, 9);
    assert_memory_equal(h.filter, "\3\0\0\0\0\1", 6);
    assert_memory_equal(h.filter_meta, "\0\0\0\0\0\2", 6);
    assert_int_equal(cip_blosc_known(&h, NULL), CIP_WITH_LZ4 ? CIP_OK : CIP_ERR_UNSUPPORTED);
    assert_int_equal(parse(good1, sizeof good1, &h, NULL), CIP_OK);
    assert_int_equal(h.header, 16);
    assert_int_equal(h.nblock, 4);
    assert_false(h.extended);
    assert_memory_equal(h.filter, "\0\0\0\0\0\1", 6);
}

/* A good header with one byte another, and what comes of it. */
typedef struct changed {
    size_t at;
    uint8_t byte;
    cip_status st;
    const char *why;
} changed;

static void assert_changed(const uint8_t *good, size_t n, const changed *row)
{
    uint8_t p[CIP_BLOSC_HEADER];
    cip_err err = CIP_ERR_INIT;
    cip_blosc_head h = { .version = 77 };
    memcpy(p, good, n);
    p[row->at] = row->byte;
    cip_status st = parse(p, n, &h, &err);
    if (st != row->st || (st != CIP_OK && strstr(err.text, row->why) == NULL))
        fail_msg("byte %zu = %02x: status %d: %s", row->at, row->byte, (int)st, err.text);
    assert_true(st == CIP_OK || h.version == 77); /* untouched */
}

static void fields_that_are_wrong_are_refused(void **state)
{
    (void)state;
    static const changed of2[] = {
        { 0, 0, CIP_ERR_CORRUPT, "a version of 1 or more" },
        { 0, 7, CIP_ERR_UNSUPPORTED, "a version up to 6, found 7" },
        { 0, 2, CIP_ERR_CORRUPT, "one shuffle at most" },
        { 3, 0, CIP_ERR_CORRUPT, "a typesize of 1 or more" },
        { 3, 255, CIP_OK, "" },
        { 7, 0x80, CIP_ERR_CORRUPT, "decoded bytes, found -" },
        { 7, 0x7f, CIP_ERR_CORRUPT, "blocks, found 300 stored bytes" },
        { 11, 0x80, CIP_ERR_CORRUPT, "a blocksize of 1" },
        { 11, 0x20, CIP_ERR_CORRUPT, "a blocksize of 1" },
        { 11, 0x1f, CIP_OK, "" },
        { 9, 0, CIP_ERR_CORRUPT, "a blocksize of 1" },
        { 8, 1, CIP_OK, "" },
        { 15, 0x80, CIP_ERR_CORRUPT, "stored bytes, found -" },
        { 13, 0, CIP_ERR_CORRUPT, "of 4 blocks, found 44 stored bytes" },
        { 2, 0x27, CIP_ERR_CORRUPT, "1032 stored bytes, found 300" },
        { 30, 2, CIP_ERR_UNSUPPORTED, "known bits in byte 30, found 2" },
        { 31, 4, CIP_ERR_UNSUPPORTED, "known bits in byte 31, found 4" },
        { 31, 8, CIP_ERR_UNSUPPORTED, "not a lazy chunk" },
        { 31, 0x50, CIP_ERR_UNSUPPORTED, "a special value of 0 to 4, found 5" },
        { 31, 0x10, CIP_ERR_CORRUPT, "32 stored bytes, found 300" },
        { 31, 0x20, CIP_ERR_CORRUPT, "32 stored bytes" },
        { 31, 0x30, CIP_ERR_CORRUPT, "its length, found 268" },
        { 31, 0x40, CIP_ERR_CORRUPT, "32 stored bytes" },
        { 30, 1, CIP_ERR_CORRUPT, "of 256 blocks" },
    };
    static const changed of1[] = {
        { 0, 1, CIP_OK, "" },
        { 0, 3, CIP_OK, "" },
        { 2, 0x29, CIP_ERR_UNSUPPORTED, "a clear flag 8 in version 2" },
        { 2, 0x23, CIP_ERR_CORRUPT, "1016 stored bytes" },
        { 12, 15, CIP_OK, "" },
        { 13, 0, CIP_OK, "" },
    };
    for (size_t i = 0; i < sizeof of2 / sizeof of2[0]; i++)
        assert_changed(good2, sizeof good2, &of2[i]);
    for (size_t i = 0; i < sizeof of1 / sizeof of1[0]; i++)
        if (of1[i].at < 12)
            assert_changed(good1, sizeof good1, &of1[i]);
    for (size_t n = 0; n < sizeof good2; n++) {
        cip_blosc_head h;
        assert_int_equal(parse(good2, n, &h, NULL), CIP_ERR_TRUNCATED);
        if (n < sizeof good1)
            assert_int_equal(parse(good1, n, &h, NULL), CIP_ERR_TRUNCATED);
    }
}

static void put(uint8_t *p, size_t at, uint32_t v)
{
    cip_store_u32(p + at, v, false);
}

static void sizes_are_held_against_each_other(void **state)
{
    (void)state;
    uint8_t p[CIP_BLOSC_HEADER];
    cip_blosc_head h;
    memcpy(p, good2, sizeof p);
    put(p, 12, 31); /* less than the header */
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_ERR_CORRUPT);
    put(p, 12, 63); /* four blocks take 32 bytes at least */
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_ERR_CORRUPT);
    put(p, 12, 64);
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    put(p, 8, 5000); /* a block is not more than all of it */
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_int_equal(h.blocksize, 1000);
    assert_int_equal(h.nblock, 1);
    put(p, 4, INT32_MAX - 31);
    put(p, 8, CIP_BLOSC_MAX_BLOCKSIZE);
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_ERR_CORRUPT);
    put(p, 4, INT32_MAX - 32);
    put(p, 12, 300);
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_int_equal(h.nblock, 5);
    put(p, 4, 0); /* nothing: no blocks, whatever their size */
    put(p, 8, 0);
    put(p, 12, 32);
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_int_equal(h.nblock, 0);
    assert_int_equal(cip_blosc_known(&h, NULL), CIP_OK);
}

static void special_chunks_have_their_own_sizes(void **state)
{
    (void)state;
    uint8_t p[CIP_BLOSC_HEADER];
    cip_blosc_head h;
    memcpy(p, good2, sizeof p);
    put(p, 12, 32);
    p[31] = 0x10;
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_int_equal(h.special, CIP_BLOSC_ZEROS);
    p[2] |= 2; /* what else its flags say does not matter */
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_false(h.memcpyed);
    p[31] = 0x20;
    p[3] = 3;
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_ERR_CORRUPT);
    p[3] = 8;
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    put(p, 4, 1001);
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_ERR_CORRUPT);
    p[31] = 0x30;
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_ERR_CORRUPT); /* a value of no bytes */
    put(p, 12, 32 + 13);
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK); /* 1001 = 77 * 13 */
    put(p, 12, 32 + 14);
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_ERR_CORRUPT);
    p[30] = 1;
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_ERR_CORRUPT); /* and variable blocks */
}

static void marks_of_an_extended_header_are_told(void **state)
{
    (void)state;
    uint8_t p[CIP_BLOSC_HEADER];
    cip_blosc_head h;
    memcpy(p, good2, sizeof p);
    p[31] = 0x83;
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_true(h.dict && h.big && h.instrumented);
    assert_int_equal(cip_blosc_known(&h, NULL), CIP_ERR_UNSUPPORTED);
    p[31] = 0;
    p[0] = 6;
    p[30] = 1;
    put(p, 8, 3); /* blocks */
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_true(h.vl && !h.split);
    assert_int_equal(h.nblock, 3);
    assert_int_equal(h.blocksize, 0);
    p[0] = 4; /* here byte 30 says nothing yet */
    p[30] = 0xff;
    put(p, 8, 256);
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_false(h.vl);
    p[0] = 3; /* and the last filter is not to be believed */
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_memory_equal(h.filter, "\3\0\0\0\0\0", 6);
    assert_memory_equal(h.filter_meta, "\0\0\0\0\0\0", 6);
}

static void filters_of_a_short_header_come_from_its_flags(void **state)
{
    (void)state;
    uint8_t p[CIP_BLOSC_MIN_HEADER];
    cip_blosc_head h;
    memcpy(p, good1, sizeof p);
    p[2] = 0x34;
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_memory_equal(h.filter, "\0\0\0\0\0\2", 6);
    assert_false(h.split);
    p[0] = 5;
    p[2] = 0x29;
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_memory_equal(h.filter, "\0\0\0\0\3\1", 6);
}

static void assert_known(uint8_t flags, uint8_t user, uint8_t filter, uint8_t versionlz,
                         cip_status st, const char *why)
{
    uint8_t p[CIP_BLOSC_HEADER];
    cip_blosc_head h;
    cip_err err = CIP_ERR_INIT;
    memcpy(p, good2, sizeof p);
    p[1] = versionlz;
    p[2] = flags;
    p[20] = filter;
    p[22] = user;
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    cip_status found = cip_blosc_known(&h, &err);
    if (found != st || (st != CIP_OK && strstr(err.text, why) == NULL))
        fail_msg("flags %02x, codec %d, filter %d: status %d: %s", flags, user, filter, (int)found,
                 err.text);
}

static void codecs_and_filters_are_known_or_named(void **state)
{
    (void)state;
    static const char *const names[] = { "nofilter", "shuffle", "bitshuffle", "delta",
                                         "trunc_prec" };
    const cip_status zfp = CIP_WITH_ZFP ? CIP_OK : CIP_ERR_UNSUPPORTED;
    assert_known(0x05, 0, 0, 1, CIP_OK, "");
    assert_known(0x05, 0, 36, 1, CIP_OK, "");
    assert_known(0xc5, 32, 0, 1, CIP_OK, "");
    for (uint8_t id = 33; id <= 35; id++)
        assert_known(0xc5, id, 0, 1, zfp, "zfp_");
    assert_known(0x45, 0, 0, 1, CIP_WITH_SNAPPY ? CIP_OK : CIP_ERR_UNSUPPORTED, "snappy (3)");
    assert_known(0xc5, 37, 0, 1, CIP_ERR_UNSUPPORTED, "found grok (37)");
    assert_known(0xc5, 200, 0, 1, CIP_ERR_UNSUPPORTED, "found a user-defined codec (200)");
    assert_known(0xc5, 5, 0, 1, CIP_ERR_UNSUPPORTED, "a known codec format, found 6");
    assert_known(0xe5, 0, 0, 1, CIP_ERR_UNSUPPORTED, "a known codec format, found 7");
    assert_known(0xa5, 0, 0, 1, CIP_ERR_UNSUPPORTED, "a known codec format, found 5");
    assert_known(0x05, 0, 0, 2, CIP_ERR_UNSUPPORTED, "version 1 of its codec, found 2");
    assert_known(0x05, 0, 5, 1, CIP_ERR_UNSUPPORTED, "a reserved one (5)");
    assert_known(0x05, 0, 160, 1, CIP_ERR_UNSUPPORTED, "a user's (160)");
    for (int id = 0; id < 5; id++)
        assert_string_equal(cip_blosc_filter_name(id), names[id]);
    assert_string_equal(cip_blosc_filter_name(35), "bytedelta");
    assert_null(cip_blosc_filter_name(37));
    assert_string_equal(cip_blosc_codec_name(CIP_BLOSC_LZ4HC), "lz4hc");
    assert_string_equal(cip_blosc_codec_name(CIP_BLOSC_ZFP_RATE), "zfp_rate");
    assert_null(cip_blosc_codec_name(-1));
    assert_null(cip_blosc_codec_name(6));
}

static void lz4hc_is_told_from_lz4_where_it_is_said(void **state)
{
    (void)state;
    uint8_t p[CIP_BLOSC_HEADER];
    cip_blosc_head h;
    memcpy(p, good2, sizeof p);
    p[22] = 2;
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_int_equal(h.compcode, CIP_BLOSC_LZ4HC);
    p[22] = 5; /* the format counts */
    assert_int_equal(parse(p, sizeof p, &h, NULL), CIP_OK);
    assert_int_equal(h.compcode, CIP_BLOSC_LZ4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_told),
        cmocka_unit_test(fields_that_are_wrong_are_refused),
        cmocka_unit_test(sizes_are_held_against_each_other),
        cmocka_unit_test(special_chunks_have_their_own_sizes),
        cmocka_unit_test(marks_of_an_extended_header_are_told),
        cmocka_unit_test(filters_of_a_short_header_come_from_its_flags),
        cmocka_unit_test(codecs_and_filters_are_known_or_named),
        cmocka_unit_test(lz4hc_is_told_from_lz4_where_it_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
