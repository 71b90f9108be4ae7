/* SPDX-License-Identifier: BSD-3-Clause
 * Encoding with codecs that know the shape of a block: NDLZ gives the same bytes back, zfp values
 * as near as was asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "codec/blosc/blosc_encoder.h"
#include "codec/with.h"
#include "support/fail_alloc.h"

static uint32_t seed = 3;

static uint32_t dice(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(seed >> 4) * n >> 28);
}

/* A chunk of raw bytes, and they as they come back, each in memory of its size. */
typedef struct chunk {
    cip_status st;
    size_t n;
    uint8_t *p, *back;
    cip_blosc_head head;
    cip_err err;
} chunk;

static chunk encode(const cip_blosc_spec *s, const void *raw, size_t nbytes)
{
    chunk c = { .p = malloc(cip_blosc_stored_bound(nbytes)), .back = malloc(nbytes) };
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    uint8_t *src = malloc(nbytes);
    memcpy(src, raw, nbytes);
    c.st = cip_blosc_encode(&mem, s, (cip_bytes){ src, nbytes }, c.p,
                            cip_blosc_stored_bound(nbytes), &c.n, &c.err);
    assert_memory_equal(src, raw, nbytes);
    free(src);
    if (c.st == CIP_OK) {
        cip_codec_env env = {
            .mem = &mem, .typesize = s->typesize, .ndim = s->ndim, .block = s->block
        };
        cip_bytes in = { c.p, c.n };
        assert_int_equal(cip_blosc_head_parse(in, &c.head, NULL), CIP_OK);
        if (cip_codec_blosc.decode(NULL, &env, in, c.back, nbytes, &c.err) != CIP_OK)
            fail_msg("%s", c.err.text);
    }
    assert_int_equal(mem.used, 0);
    return c;
}

static void drop(chunk *c)
{
    free(c->p);
    free(c->back);
}

/* --- NDLZ ------------------------------------------------------------------------------------- */

enum { PLANE = 67 * 71 };

/* Few values, rows that come again, cells that come again with a row of others, noise. */
static void make_plane(uint8_t *v, size_t ncol, size_t n, uint32_t kind)
{
    for (size_t i = 0; i < n; i++) {
        const size_t y = i / ncol, x = i % ncol;
        const uint8_t tile = (uint8_t)((y % 8 * 31 + x % 8 * 7 + x / 8 % 3) & 0xff);
        if (kind == 0)
            v[i] = (uint8_t)dice(2);
        else if (kind == 1)
            v[i] = (uint8_t)(y % 4 * 5 + x % 4 + x / 4 % 2 * (y / 4 % 3));
        else if (kind == 2)
            v[i] = dice(20) == 0 ? (uint8_t)dice(256) : tile;
        else
            v[i] = kind == 3 ? (uint8_t)(y / 9) : (uint8_t)dice(256);
    }
}

static void ndlz_gives_the_same_bytes_back(void **state)
{
    (void)state;
    static uint8_t raw[12 * PLANE];
    size_t smaller = 0;
    for (uint32_t k = 0; k < 600; k++) {
        const int64_t shape[2] = { 1 + dice(67), 1 + dice(71) };
        cip_blosc_spec s = { .typesize = k % 3 == 0 ? 1 + dice(5) : 1,
                             .compcode = CIP_BLOSC_NDLZ,
                             .codec_meta = k % 2 ? 4 : 8,
                             .level = (int)(k % 10),
                             .ndim = 2,
                             .block = shape };
        s.filter[5] = k % 4 != 0;
        const size_t block = (size_t)(shape[0] * shape[1]) * s.typesize, n = block * (1 + dice(2));
        make_plane(raw, (size_t)shape[1] * (s.filter[5] ? 1 : s.typesize), n, k % 5);
        chunk c = encode(&s, raw, n);
        if (c.st != CIP_OK)
            fail_msg("%s", c.err.text);
        assert_memory_equal(c.back, raw, n);
        assert_int_equal(c.head.blocksize, block);
        assert_true(c.head.memcpyed || c.head.special || s.typesize == 1 || c.head.split);
        smaller += c.n < n / 2;
        drop(&c);
    }
    assert_true(smaller > 100);
}

/* A plane of cells of which each can be one token. */
static void ndlz_finds_rows_further_back(void **state)
{
    (void)state;
    static const char raw[] = "abcd....abcd1234abcdabcd"
                              "efgh....efghefgh+-+-ijkl"
                              "ijkl....ijklijkl()()efgh"
                              "mnop....mnopmnopmnopmnop"
                              "AAAABBBBCCCCDDDDEEEEFFFF"
                              "AAAABBBBCCCCDDDDEEEEFFFF";
    static const uint8_t want[] = {
        2,    6,   0,    0,   0,    24,  0,    0,   0,    0,   'a',  'b', 'c',
        'd',  'e', 'f',  'g', 'h',  'i', 'j',  'k', 'l',  'm', 'n',  'o', 'p', /* literal */
        0x40, '.',                                                             /* filled */
        0xC0, 18,  0,                                                          /* the first again */
        0xE0, 17,  0,    '1', '2',  '3', '4', /* three of its rows */
        0x00, 'a', 'b',  'c', 'd',  '+', '-',  '+', '-',  '(', ')',  '(', ')',
        'm',  'n', 'o',  'p',    /* at 38 */
        0x30, 45,  0,    37,  0, /* two and two of them */
        0x40, 'A', 0x40, 'B', 0x40, 'C', 0x40, 'D', 0x40, 'E', 0x40, 'F',
    };
    uint8_t dst[sizeof want + 16];
    uint32_t table[CIP_BLOSCLZ_TABLE];
    cip_ndlz_plane plane = { (const uint8_t *)raw, 6, 24, 4 };
    size_t n;
    cip_ndlz_encode(&plane, table, dst, sizeof dst, &n);
    assert_int_equal(n, sizeof want);
    assert_memory_equal(dst, want, n);
    for (size_t cap = 0; cap < sizeof want; cap++) {
        uint8_t *exact = malloc(cap + 1);
        cip_ndlz_encode(&plane, table, exact, cap, &n);
        assert_int_equal(n, 0);
        free(exact);
    }
}

/* --- zfp -------------------------------------------------------------------------------------- */

#if CIP_WITH_ZFP

enum { MAX_VALUES = 4000 };

static const int64_t shapes[5][4] = { { 0 }, { 250 }, { 10, 33 }, { 4, 9, 7 }, { 4, 5, 4, 6 } };

static cip_blosc_spec zfp_spec(uint32_t typesize, int compcode, int meta, int32_t ndim)
{
    return (cip_blosc_spec){ .typesize = typesize,
                             .compcode = compcode,
                             .codec_meta = (uint8_t)meta,
                             .level = 5,
                             .big = CIP_HOST_BIG != 0,
                             .ndim = ndim,
                             .block = shapes[ndim] };
}

/* A chunk of two blocks of a smooth function; returns how many values. */
static size_t make_values(const cip_blosc_spec *s, double scale, void *out)
{
    size_t n = 2;
    for (int k = 0; k < s->ndim; k++)
        n *= (size_t)s->block[k];
    for (size_t i = 0; i < n; i++) {
        const double d = scale * (sin((double)i / 20) + 2);
        const float f = (float)d;
        if (s->typesize == 8)
            memcpy((uint8_t *)out + 8 * i, &d, 8);
        else
            memcpy((uint8_t *)out + 4 * i, &f, 4);
    }
    return n;
}

static double value(const void *p, size_t typesize, size_t i)
{
    double d;
    float f;
    if (typesize == 8) {
        memcpy(&d, (const uint8_t *)p + 8 * i, 8);
        return d;
    }
    memcpy(&f, (const uint8_t *)p + 4 * i, 4);
    return (double)f;
}

static double worst_of(const cip_blosc_spec *s, const void *raw, const void *back, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(value(raw, s->typesize, i) - value(back, s->typesize, i)));
    return worst;
}

static void zfp_is_as_near_as_was_asked_for(void **state)
{
    (void)state;
    static uint8_t raw[8 * MAX_VALUES];
    const struct {
        int compcode, meta;
        double near; /* values are 1 to 3 */
        size_t percent;
    } rows[] = {
        { CIP_BLOSC_ZFP_ACC, -3, 1e-3, 70 },  { CIP_BLOSC_ZFP_ACC, 0, 1, 25 },
        { CIP_BLOSC_ZFP_ACC, 127, 1e127, 2 }, { CIP_BLOSC_ZFP_PREC, 16, 1e-3, 90 },
        { CIP_BLOSC_ZFP_RATE, 40, 1e-1, 90 }, /* of cells that are padded */
    };
    for (int32_t ndim = 1; ndim <= 4; ndim++)
        for (uint32_t typesize = 4; typesize <= 8; typesize += 4)
            for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
                cip_blosc_spec s = zfp_spec(typesize, rows[i].compcode, rows[i].meta, ndim);
                const size_t n = make_values(&s, 1, raw);
                chunk c = encode(&s, raw, n * typesize);
                if (c.st != CIP_OK)
                    fail_msg("%s", c.err.text);
                const double worst = worst_of(&s, raw, c.back, n);
                if (worst > rows[i].near || worst == 0 ||
                    c.n > n * typesize * rows[i].percent / 100 + 60)
                    fail_msg("row %zu, %d dimensions: %g, %zu of %zu bytes", i, (int)ndim, worst,
                             c.n, n * typesize);
                assert_true(c.head.codec_meta == (uint8_t)rows[i].meta && !c.head.split);
                assert_int_equal((c.n - 32 - 2 * 4 - 2 * 4) % 8, 0); /* the streams: whole words */
                drop(&c);
            }
}

/* ... which the header says; what is compressed are the same numbers. */
static void zfp_takes_floats_of_either_order(void **state)
{
    (void)state;
    static uint8_t raw[2][8 * MAX_VALUES];
    for (uint32_t typesize = 4; typesize <= 8; typesize += 4) {
        cip_blosc_spec s = zfp_spec(typesize, CIP_BLOSC_ZFP_ACC, -3, 2);
        const size_t n = make_values(&s, 1, raw[CIP_HOST_BIG]);
        chunk c[2];
        for (size_t i = 0; i < n * typesize; i++)
            raw[!CIP_HOST_BIG][i] =
                raw[CIP_HOST_BIG][i - i % typesize + typesize - 1 - i % typesize];
        for (int big = 0; big < 2; big++) {
            s.big = big != 0;
            c[big] = encode(&s, raw[big], n * typesize);
            assert_int_equal(c[big].st, CIP_OK);
            assert_int_equal(c[big].p[31], big ? 2 : 0);
        }
        assert_int_equal(c[0].n, c[1].n);
        assert_memory_equal(c[0].p + 32, c[1].p + 32, c[0].n - 32);
        assert_true(worst_of(&s, raw[CIP_HOST_BIG], c[CIP_HOST_BIG].back, n) <= 1e-3);
        for (size_t i = 0; i < n * typesize; i++)
            assert_int_equal(c[0].back[i],
                             c[1].back[i - i % typesize + typesize - 1 - i % typesize]);
        drop(&c[0]);
        drop(&c[1]);
    }
}

/* Blocks are stored as they are where zfp would give something else. */
static void what_zfp_cannot_hold_is_kept(void **state)
{
    (void)state;
    static uint8_t raw[8 * MAX_VALUES];
    for (uint32_t typesize = 4; typesize <= 8; typesize += 4)
        for (int code = CIP_BLOSC_ZFP_ACC; code <= CIP_BLOSC_ZFP_RATE; code++)
            for (int k = 0; k < 2; k++) {
                cip_blosc_spec s = zfp_spec(typesize, code, code == CIP_BLOSC_ZFP_ACC ? 28 : 12, 2);
                const double d = k == 0 ? (double)NAN : -(double)INFINITY;
                const float f = (float)d;
                size_t n = make_values(&s, 1e30, raw), at = (n / 2 + 7) * typesize;
                memcpy(raw + at, typesize == 8 ? (const void *)&d : &f, typesize);
                chunk c = encode(&s, raw, n * typesize);
                assert_int_equal(c.st, CIP_OK);
                assert_memory_equal(c.back + n / 2 * typesize, raw + n / 2 * typesize,
                                    n / 2 * typesize); /* the second block */
                assert_memory_not_equal(c.back, raw, n / 2 * typesize);
                drop(&c);
            }
    for (int meta = -6; meta <= 0; meta++) { /* one large value, and no bits for the others */
        cip_blosc_spec s = zfp_spec(4, CIP_BLOSC_ZFP_ACC, meta, 1);
        const float large = 1e12f;
        size_t n = make_values(&s, 1, raw);
        memcpy(raw + 40, &large, 4);
        chunk c = encode(&s, raw, n * 4);
        assert_int_equal(c.st, CIP_OK);
        assert_true(worst_of(&s, raw, c.back, n) <= pow(10, meta));
        drop(&c);
    }
}

static void zfp_without_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    static uint8_t raw[8 * MAX_VALUES];
    cip_blosc_spec s = zfp_spec(8, CIP_BLOSC_ZFP_ACC, -3, 3);
    const size_t n = 8 * make_values(&s, 1, raw);
    uint8_t dst[8 * MAX_VALUES];
    for (size_t k = 1;; k++) {
        fail_alloc f = { .fail_at = k };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_mem mem;
        size_t len;
        cip_mem_init(&mem, &a, 0);
        cip_status st =
            cip_blosc_encode(&mem, &s, (cip_bytes){ raw, n }, dst, sizeof dst, &len, NULL);
        assert_int_equal(f.held, 0);
        if (f.requests < k) {
            assert_int_equal(st, CIP_OK);
            break;
        }
        assert_int_equal(st, CIP_ERR_NOMEM);
    }
}

#endif

/* --- refusals --------------------------------------------------------------------------------- */

static void parameters_that_do_not_fit_are_named(void **state)
{
    (void)state;
    static const int64_t plane[] = { 8, 8 }, thin[] = { 64, 3 }, none[] = { 0, 8 },
                         huge[] = { INT64_MAX, 8 }, five[] = { 4, 4, 4, 4, 4 };
    const int ndlz = CIP_BLOSC_NDLZ, acc = CIP_BLOSC_ZFP_ACC, prec = CIP_BLOSC_ZFP_PREC,
              rate = CIP_BLOSC_ZFP_RATE;
    const struct {
        cip_blosc_spec s;
        const char *why;
    } rows[] = {
        { { 1, ndlz, 5, .codec_meta = 4 }, "the shape of a block for the codec ndlz" },
        { { 1, ndlz, 5, .codec_meta = 4, .ndim = 2 }, "the shape of a block" },
        { { 1, ndlz, 5, .codec_meta = 4, .ndim = 2, .block = none }, "the shape of a block" },
        { { 4, acc, 5, .ndim = 2, .block = huge }, "the shape of a block" },
        { { 1, ndlz, 5, .codec_meta = 5, .ndim = 2, .block = plane },
          "side 4 or 8 for ndlz, found 5" },
        { { 1, ndlz, 5, .codec_meta = 4, .ndim = 3, .block = five },
          "2 dimensions for ndlz, found 3" },
        { { 300, ndlz, 5, .codec_meta = 4, .ndim = 2, .block = plane },
          "at most 255 bytes for ndlz" },
        { { 4, ndlz, 5, .split = CIP_BLOSC_SPLIT_NEVER, .codec_meta = 4, .ndim = 2,
            .block = plane },
          "a split of elements" },
        { { 1, ndlz, 5, .blocksize = 32, .codec_meta = 4, .ndim = 2, .block = plane },
          "whole blocks of 64 bytes for the codec ndlz, found 6400 bytes in blocks of 32" },
        { { 3, ndlz, 5, .codec_meta = 4, .ndim = 2, .block = plane }, "whole blocks of 192 bytes" },
        { { 2, acc, 5, .ndim = 2, .block = plane }, "floats of 4 or 8 bytes for zfp, found 2" },
        { { 4, acc, 5, .ndim = 5, .block = five }, "1 to 4 dimensions for zfp, found 5" },
        { { 4, acc, 5, .ndim = 2, .block = thin },
          "4 elements or more along each axis for zfp, found 3" },
        { { 4, acc, 5, .filter = { 1 }, .ndim = 2, .block = plane }, "no filter before zfp" },
        { { 4, acc, 5, .split = CIP_BLOSC_SPLIT_ALWAYS, .ndim = 2, .block = plane }, "no split" },
        { { 4, prec, 5, .codec_meta = 0, .ndim = 2, .block = plane },
          "1 to 64 for zfp:prec, found 0" },
        { { 4, prec, 5, .codec_meta = 65, .ndim = 2, .block = plane }, "found 65" },
        { { 4, rate, 5, .codec_meta = 101, .ndim = 2, .block = plane }, "1 to 100 for zfp:rate" },
        { { 4, CIP_BLOSC_BLOSCLZ, 5, .filter = { 1, 4 }, .filter_meta = { 0, 9 } },
          "the filter trunc_prec before shuffle, found it after" },
        { { 4, CIP_BLOSC_BLOSCLZ, 5, .filter = { 3, 2, 36 }, .filter_meta = { 0, 0, 9 } },
          "the filter int_trunc before bitshuffle" },
        { { 4, CIP_BLOSC_BLOSCLZ, 5, .filter = { 35, 33 }, .filter_meta = { 0, 4 } },
          "the filter ndmean before bytedelta" },
    };
    static const uint8_t raw[6400];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        chunk c = encode(&rows[i].s, raw, sizeof raw);
        if (c.st != CIP_ERR_ARG || strstr(c.err.text, rows[i].why) == NULL)
            fail_msg("row %zu: %d, %s", i, (int)c.st, c.err.text);
        drop(&c);
    }
}

static void losses_are_known(void **state)
{
    (void)state;
    static const struct {
        int compcode;
        uint8_t filter;
        bool lossy;
    } rows[] = { { CIP_BLOSC_ZSTD, CIP_BLOSC_BYTEDELTA, false },
                 { CIP_BLOSC_NDLZ, CIP_BLOSC_NDCELL, false },
                 { CIP_BLOSC_LZ4, CIP_BLOSC_TRUNC_PREC, true },
                 { CIP_BLOSC_LZ4, CIP_BLOSC_INT_TRUNC, true },
                 { CIP_BLOSC_LZ4, CIP_BLOSC_NDMEAN, true },
                 { CIP_BLOSC_ZFP_ACC, 0, true },
                 { CIP_BLOSC_ZFP_RATE, 0, true },
                 { 36, 0, false } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const cip_blosc_spec s = { .compcode = rows[i].compcode, .filter = { 0, rows[i].filter } };
        assert_int_equal(cip_blosc_is_lossy(&s), rows[i].lossy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ndlz_gives_the_same_bytes_back),
        cmocka_unit_test(ndlz_finds_rows_further_back),
#if CIP_WITH_ZFP
        cmocka_unit_test(zfp_is_as_near_as_was_asked_for),
        cmocka_unit_test(zfp_takes_floats_of_either_order),
        cmocka_unit_test(what_zfp_cannot_hold_is_kept),
        cmocka_unit_test(zfp_without_memory_leaves_nothing_behind),
#endif
        cmocka_unit_test(parameters_that_do_not_fit_are_named),
        cmocka_unit_test(losses_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
