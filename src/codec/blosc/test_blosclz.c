/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/blosc/blosc.h"

/* Decodes from and to memory of exactly the size. */
static cip_status decode(const void *src, size_t n, size_t cap, uint8_t **out, size_t *got,
                         cip_err *err)
{
    uint8_t *in = malloc(n != 0 ? n : 1);
    *out = malloc(cap != 0 ? cap : 1);
    assert_true(in != NULL && *out != NULL);
    memcpy(in, src, n);
    cip_status st = cip_blosclz_decode((cip_bytes){ in, n }, *out, cap, got, err);
    free(in);
    return st;
}

static void assert_decodes(const void *src, size_t n, const void *want, size_t len)
{
    uint8_t *out;
    size_t got = 0;
    cip_err err = CIP_ERR_INIT;
    if (decode(src, n, len, &out, &got, &err) != CIP_OK)
        fail_msg("%s", err.text);
    assert_int_equal(got, len);
    assert_memory_equal(out, want, len);
    free(out);
    if (len == 0)
        return;
    assert_int_equal(decode(src, n, len - 1, &out, &got, &err), CIP_ERR_CORRUPT);
    assert_non_null(strstr(err.text, "found more"));
    free(out);
}

static void all_tokens_but_far_ones_decode(void **state)
{
    (void)state;
    static const uint8_t stream[] = { 0x27, 'a',  'b',  'c',  'd',  'e',  'f',  'g', 'h',  0xe0,
                                      0x1e, 0x07, 0x04, 'h',  'X',  'Y',  'Z',  7,   0xe0, 9,
                                      0,    0,    7,    0xe0, 0x16, 0x3e, 0x14, 'h', 0,    1,
                                      2,    3,    4,    5,    6,    7,    8,    9,   10,   11,
                                      12,   13,   14,   15,   16,   17,   18,   19 };
    uint8_t want[123], *at = want;
    for (int i = 0; i < 6; i++, at += 8)
        memcpy(at, "abcdefgh", 8);
    memcpy(at, "XYZ", 3);
    memset(at + 3, 7, 20);
    at += 23;
    for (int i = 0; i < 4; i++, at += 8)
        memcpy(at, "abcdefgh", 8);
    for (uint8_t i = 0; i < 20; i++)
        *at++ = i;
    assert_int_equal(at - want, sizeof want);
    assert_decodes(stream, sizeof stream, want, sizeof want);
}

/* Literals 0 to 31, a run of the last one up to `before` bytes, then the tokens. */
static size_t make(uint8_t *out, size_t before, const uint8_t *more, size_t n)
{
    size_t at = 0, len = before - 32 - 9;
    out[at++] = 31;
    for (uint8_t i = 0; i < 32; i++)
        out[at++] = i;
    out[at++] = 0xe0;
    for (; len >= 255; len -= 255)
        out[at++] = 255;
    out[at++] = (uint8_t)len;
    out[at++] = 0;
    memcpy(out + at, more, n);
    return at + n;
}

static void far_matches_of_both_lengths_decode(void **state)
{
    (void)state;
    static uint8_t stream[1000], want[90000];
    static const struct {
        size_t before, dist, len, n;
        uint8_t more[8];
    } rows[] = {
        { 8192, 8192, 3, 4, { 0x3f, 255, 0, 0 } },
        { 8191, 8191, 3, 2, { 0x3f, 254 } }, /* the farthest near one */
        { 73727, 73727, 8, 4, { 0xdf, 255, 255, 255 } },
        { 9000, 8193, 30, 5, { 0xff, 21, 255, 0, 1 } },
        { 9000, 8500, 20, 5, { 0xff, 11, 255, 1, 0x34 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t before = rows[i].before;
        size_t n = make(stream, before, rows[i].more, rows[i].n);
        for (size_t k = 0; k < before; k++)
            want[k] = k < 32 ? (uint8_t)k : 31;
        for (size_t k = 0; k < rows[i].len; k++)
            want[before + k] = want[before + k - rows[i].dist];
        assert_decodes(stream, n, want, before + rows[i].len);
    }
}

static void matches_of_any_distance_and_length_overlap_as_byte_by_byte(void **state)
{
    (void)state;
    for (size_t dist = 1; dist <= 32; dist++)
        for (size_t len = 9; len < 90; len++) {
            uint8_t stream[80] = { 31 }, want[32 + 90 + 32];
            for (uint8_t i = 0; i < 32; i++)
                want[i] = stream[1 + i] = (uint8_t)(7 * i);
            stream[33] = 0xe0;
            stream[34] = (uint8_t)(len - 9);
            stream[35] = (uint8_t)(dist - 1);
            for (size_t k = 0; k < len; k++)
                want[32 + k] = want[32 + k - dist];
            assert_decodes(stream, 36, want, 32 + len); /* it may end in a match */
            memset(stream + 37, 'z', 32);
            memset(want + 32 + len, 'z', 32);
            for (size_t room = 1; room <= 32; room++) { /* and with room behind it */
                stream[36] = (uint8_t)(room - 1);
                assert_decodes(stream, 37 + room, want, 32 + len + room);
            }
        }
}

static void the_first_token_is_a_run_whatever_it_says(void **state)
{
    (void)state;
    for (unsigned high = 0; high < 8; high++) {
        const uint8_t stream[] = { (uint8_t)(high << 5 | 2), 'a', 'b', 'c' };
        assert_decodes(stream, 4, "abc", 3);
    }
}

static void streams_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *stream;
        size_t n;
        const char *why;
    } rows[] = {
        { "", 0, "expected more BloscLZ data" },
        { "\x02"
          "ab",
          3, "expected more BloscLZ data" },
        { "\x00"
          "a\x20",
          3, "expected more BloscLZ data" },
        { "\x00"
          "a\xe0",
          3, "expected more BloscLZ data" },
        { "\x00"
          "a\xe0\xff\xff",
          5, "expected more BloscLZ data" },
        { "\x00"
          "a\x3f\xff\x00",
          5, "expected more BloscLZ data" },
        { "\x00"
          "a\x20\x01",
          4, "found one 2 bytes back" },
        { "\x00"
          "a\x21\x00",
          4, "found one 257 bytes back" },
        { "\x00"
          "a\x3f\xff\x00\x00",
          6, "found one 8192 bytes back" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t *out;
        size_t got = 99;
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(decode(rows[i].stream, rows[i].n, 600, &out, &got, &err), CIP_ERR_CORRUPT);
        assert_non_null(strstr(err.text, rows[i].why));
        assert_int_equal(got, 99);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_tokens_but_far_ones_decode),
        cmocka_unit_test(far_matches_of_both_lengths_decode),
        cmocka_unit_test(matches_of_any_distance_and_length_overlap_as_byte_by_byte),
        cmocka_unit_test(the_first_token_is_a_run_whatever_it_says),
        cmocka_unit_test(streams_that_lie_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
