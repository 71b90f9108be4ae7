/* SPDX-License-Identifier: BSD-3-Clause
 * Codecs that need the shape of a block: NDLZ token by token, and what zfp is not given. */
#include "support/codec/blosc/blosc_hand_testing.h"

#define C (&cip_codec_blosc)

/* One block through a user's codec. */
static chunk user_codec(uint8_t id, uint8_t meta, uint8_t typesize, uint32_t n, const void *p,
                        size_t len)
{
    chunk c = start(5, 0xd5, typesize, n, n);
    c.b[22] = id;
    c.b[23] = meta;
    put32(&c, 36);
    put32(&c, (uint32_t)len);
    put(&c, p, len);
    done(&c);
    return c;
}

static void ndlz_tokens_of_side_4_decode(void **state)
{
    (void)state;
    /* a row of cells: literal, filled, the first again, three rows of it, two, two and two; then a
     * row of smaller ones */
    static const uint8_t in[] = {
        2,    6,   0,    0,    0,    26,  0,    0,   0, /* 6 rows, 26 columns */
        0x00, 'a', 'b',  'c',  'd',  'e', 'f',  'g', 'h',  'i', 'j',  'k', 'l',  'm',
        'n',  'o', 'p',  0x40, '.',            /* at 26 */
        0xC0, 27,  0,                          /* at 28: 'a' is at 10, back 18 */
        0xE0, 30,  0,    '1',  '2',  '3', '4', /* at 31 */
        0x80, 28,  0,    '5',  '6',  '7', '8',  '9', '0',  '-', '+', /* at 38 */
        0x28, 39,  0,    31,   0,                                    /* at 49 */
        0x00, 'q', 'r',  's',  't',  'u', 'v',  'w', 'x',            /* 4 x 2 */
        0x40, 'A', 0x40, 'B',  0x40, 'C', 0x40, 'D', 0x40, 'E', 0x40, 'F', 0x40, 'G',
    };
    uint8_t fixed[sizeof in];
    memcpy(fixed, in, sizeof in);
    fixed[29] = 28 - 10; /* all of the first cell */
    fixed[32] = 31 - 14; /* rows 1, 2, 3 from "efghijklmnop" */
    fixed[39] = 38 - 10; /* rows 2, 3 from "abcdefgh" */
    fixed[50] = 49 - 10; /* rows 0, 1 from "abcdefgh" */
    fixed[52] = 49 - 18; /* rows 2, 3 from "ijklmnop" */
    static const char want[] = "abcd....abcd12345678abcdqr"
                               "efgh....efghefgh90-+efghst"
                               "ijkl....ijklijklabcdijkluv"
                               "mnop....mnopmnopefghmnopwx"
                               "AAAABBBBCCCCDDDDEEEEFFFFGG"
                               "AAAABBBBCCCCDDDDEEEEFFFFGG";
    chunk c = user_codec(CIP_BLOSC_NDLZ, 4, 1, 156, fixed, sizeof fixed);
    assert_gives((cip_bytes){ c.b, c.len }, want, 156);
}

static void ndlz_tokens_of_side_8_decode(void **state)
{
    (void)state;
    uint8_t in[200] = { 2, 8, 0, 0, 0, 24 }, want[192];
    size_t n = 9;
    in[n++] = 0;
    for (uint8_t i = 0; i < 64; i++)
        in[n++] = (uint8_t)(i + 32);
    size_t at = n;
    in[n++] = 21 << 3 | 5; /* rows 5, 6, 7 from row 1 on */
    in[n++] = (uint8_t)(at - (10 + 8));
    in[n++] = 0;
    for (int i = 0; i < 40; i++)
        in[n++] = 'x';
    at = n;
    in[n++] = 17 << 3; /* rows 0, 1 from row 0 on */
    in[n++] = (uint8_t)(at - 10);
    in[n++] = 0;
    for (int i = 0; i < 48; i++)
        in[n++] = 'y';
    for (size_t r = 0; r < 8; r++)
        for (size_t k = 0; k < 8; k++) {
            want[r * 24 + k] = (uint8_t)(r * 8 + k + 32);
            want[r * 24 + 8 + k] = (uint8_t)(r < 5 ? 'x' : (r - 4) * 8 + k + 32);
            want[r * 24 + 16 + k] = (uint8_t)(r >= 2 ? 'y' : r * 8 + k + 32);
        }
    chunk c = user_codec(CIP_BLOSC_NDLZ, 8, 1, 192, in, n);
    assert_gives((cip_bytes){ c.b, c.len }, want, 192);
}

static void ndlz_data_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint8_t side, rows, cols;
        const char *more;
        size_t n;
        cip_status st;
        const char *why;
    } rows[] = {
        { 5, 4, 4, "\x40x", 2, CIP_ERR_UNSUPPORTED, "side 4 or 8 in NDLZ, found 5" },
        { 4, 4, 5, "\x40x", 2, CIP_ERR_CORRUPT, "a plane of 16 bytes in NDLZ data, found 4 x 5" },
        { 4, 4, 4, "", 0, CIP_ERR_CORRUPT, "expected more NDLZ data" },
        { 4, 4, 4, "\x40", 1, CIP_ERR_CORRUPT, "expected more NDLZ data" },
        { 4, 4, 4, "\0abc", 4, CIP_ERR_CORRUPT, "expected more NDLZ data" },
        { 4, 4, 4, "\x01", 1, CIP_ERR_CORRUPT, "a token of NDLZ, found 0x01" },
        { 4, 4, 4, "\x90\xff\0abcdefgh", 11, CIP_ERR_CORRUPT, "earlier rows in NDLZ data" },
        { 4, 4, 4, "\xA8\1\0abcdefgh", 11, CIP_ERR_CORRUPT, "a token of NDLZ, found 0xa8" },
        { 4, 4, 4, "\xC0\x0a\0", 3, CIP_ERR_CORRUPT, "an earlier cell in NDLZ data" },
        { 4, 4, 4, "\xC0\x01\0", 3, CIP_ERR_CORRUPT, "an earlier cell in NDLZ data" },
        { 4, 2, 8, "\xE0\x09\0abcd", 7, CIP_ERR_CORRUPT, "a token of NDLZ, found 0xe0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t in[64] = { 2, rows[i].rows, 0, 0, 0, rows[i].cols };
        memcpy(in + 9, rows[i].more, rows[i].n);
        chunk c = user_codec(CIP_BLOSC_NDLZ, rows[i].side, 1, 16, in, 9 + rows[i].n);
        if (9 + rows[i].n != 16)
            assert_refused((cip_bytes){ c.b, c.len }, 16, rows[i].st, rows[i].why);
    }
}

#if CIP_WITH_ZFP
static cip_status decode_zfp(const chunk *c, int32_t ndim, const int64_t *block, cip_err *err)
{
    uint8_t out[64];
    test_env t;
    cip_codec_env *env = test_env_open(&t, 0, 0);
    env->ndim = ndim;
    env->block = block;
    uint32_t n = cip_load_u32(c->b + 4, false);
    cip_status st = C->decode(NULL, env, (cip_bytes){ c->b, c->len }, out, n, err);
    test_env_close(&t);
    return st;
}

static void zfp_needs_a_shape_that_fits(void **state)
{
    (void)state;
    static const int64_t good[4] = { 4, 4, 1, 1 }, other[4] = { 4, 5, 1, 1 }, zero[2] = { 16, 0 },
                         huge[2] = { INT64_MAX, 4 };
    static const uint8_t zeros[32] = { 0 };
    cip_err err = CIP_ERR_INIT;
    for (uint8_t id = CIP_BLOSC_ZFP_ACC; id <= CIP_BLOSC_ZFP_RATE; id++) {
        chunk c = user_codec(id, 50, 4, 64, zeros, 32);
        assert_int_equal(decode_zfp(&c, 2, good, &err), CIP_OK);
        assert_int_equal(decode_zfp(&c, 4, good, &err),
                         id == CIP_BLOSC_ZFP_RATE ? CIP_ERR_CORRUPT : CIP_OK); /* 256 values */
        assert_int_equal(decode_zfp(&c, 2, other, &err), CIP_ERR_CORRUPT);
        assert_int_equal(decode_zfp(&c, 2, zero, &err), CIP_ERR_CORRUPT);
        assert_int_equal(decode_zfp(&c, 2, huge, &err), CIP_ERR_CORRUPT);
        assert_int_equal(decode_zfp(&c, 0, good, &err), CIP_ERR_UNSUPPORTED);
        assert_int_equal(decode_zfp(&c, 5, good, &err), CIP_ERR_UNSUPPORTED);
        assert_int_equal(decode_zfp(&c, 2, NULL, &err), CIP_ERR_UNSUPPORTED);
        c = user_codec(id, 50, 2, 32, zeros, 30);
        assert_int_equal(decode_zfp(&c, 2, good, &err), CIP_ERR_CORRUPT);
        assert_non_null(strstr(err.text, "4 or 8 bytes for zfp, found 2"));
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ndlz_tokens_of_side_4_decode),
        cmocka_unit_test(ndlz_tokens_of_side_8_decode),
        cmocka_unit_test(ndlz_data_that_lie_are_refused),
#if CIP_WITH_ZFP
        cmocka_unit_test(zfp_needs_a_shape_that_fits),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
