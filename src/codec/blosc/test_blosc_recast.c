/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks of one version of Blosc as those of the other: the same data, and back the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "codec/blosc/blosc_recast.h"
#include "codec/with.h"

enum { MOST = 1 << 18 };

static cip_mem mem;

typedef struct chunk {
    uint8_t b[MOST + CIP_BLOSC_HEADER + CIP_RECAST_MORE];
    size_t n;
} chunk;

/* Numbers that compress, of `width` bytes. */
static void make_raw(uint8_t *raw, size_t n, uint32_t width)
{
    for (size_t i = 0; i < n; i++)
        raw[i] = (uint8_t)(i % width == 0   ? i / width * 7 + i / 1000
                           : i % width == 1 ? i / 4096
                                            : 3);
}

static void encode(const cip_blosc_spec *p, const uint8_t *raw, size_t n, chunk *out)
{
    cip_err err = CIP_ERR_INIT;
    if (cip_blosc_encode(&mem, p, (cip_bytes){ raw, n }, out->b, sizeof out->b, &out->n, &err) !=
        CIP_OK)
        fail_msg("%s", err.text);
}

static cip_recast recast(const chunk *in, bool blosc1, chunk *out)
{
    const cip_blosc_spec p = { .typesize = 4, .blosc1 = blosc1, .recast = true };
    cip_dst to = { out->b, in->n + CIP_RECAST_MORE, 0 };
    const cip_recast became = cip_codec_blosc.recast(&p, (cip_bytes){ in->b, in->n }, &to);
    out->n = to.len;
    return became;
}

static bool takes(const chunk *in, size_t raw_len, const cip_blosc_spec *p)
{
    return cip_codec_blosc.takes(p, (cip_bytes){ in->b, in->n < 64 ? in->n : 64 }, in->n, raw_len);
}

static void decodes_to(const chunk *in, const uint8_t *raw, size_t n)
{
    static uint8_t got[MOST];
    const cip_codec_env env = { .mem = &mem };
    cip_err err = CIP_ERR_INIT;
    if (cip_codec_blosc.decode(NULL, &env, (cip_bytes){ in->b, in->n }, got, n, &err) != CIP_OK)
        fail_msg("%s", err.text);
    assert_memory_equal(got, raw, n);
}

static void blosc1_becomes_blosc2_and_again_the_same_bytes(void **state)
{
    (void)state;
    static const int codec[] = { CIP_BLOSC_BLOSCLZ, CIP_WITH_LZ4 ? CIP_BLOSC_LZ4 : CIP_BLOSC_ZLIB,
                                 CIP_BLOSC_ZLIB, CIP_WITH_ZSTD ? CIP_BLOSC_ZSTD : CIP_BLOSC_ZLIB };
    static const uint32_t width[] = { 1, 2, 4, 8, 16 };
    static const size_t length[] = { 64, 4096, 100000 / 32 * 32, MOST };
    static uint8_t raw[MOST];
    static chunk one, two, back;
    for (size_t c = 0; c < 4; c++)
        for (size_t w = 0; w < 5; w++)
            for (size_t n = 0; n < 4; n++)
                for (uint8_t filter = 0; filter <= CIP_BLOSC_BITSHUFFLE; filter++)
                    for (int level = 0; level <= 5; level += 5) {
                        const cip_blosc_spec p = { .typesize = width[w],
                                                   .compcode = codec[c],
                                                   .level = level,
                                                   .blocksize = n == 3 ? 1 << 15 : 0,
                                                   .blosc1 = true,
                                                   .filter[5] = filter };
                        cip_blosc_head h;
                        make_raw(raw, length[n], width[w]);
                        encode(&p, raw, length[n], &one);
                        assert_int_equal(recast(&one, true, &two), CIP_RECAST_SAME);
                        const cip_recast became = recast(&one, false, &two);
                        if (filter == CIP_BLOSC_BITSHUFFLE && became == CIP_RECAST_NOT)
                            continue; /* no whole eights */
                        assert_int_equal(became, CIP_RECAST_MADE);
                        assert_int_equal(two.n, one.n + 16);
                        cip_blosc_head_parse((cip_bytes){ two.b, two.n }, &h, NULL);
                        assert_int_equal(h.version, CIP_BLOSC2_VERSION);
                        assert_int_equal(h.filter[5], filter);
                        decodes_to(&two, raw, length[n]);
                        assert_int_equal(recast(&two, true, &back), CIP_RECAST_MADE);
                        assert_int_equal(back.n, one.n);
                        assert_memory_equal(back.b, one.b, one.n);
                    }
}

/* What only the newer version has, and what both take for different things. */
static void what_the_versions_do_not_share_is_left(void **state)
{
    (void)state;
    static uint8_t raw[MOST];
    static chunk in, out;
    static const struct {
        cip_blosc_spec p;
        size_t n;
    } row[] = {
        { { .typesize = 4, .filter = { [4] = CIP_BLOSC_DELTA, [5] = CIP_BLOSC_SHUFFLE } }, 8192 },
        { { .typesize = 8, .filter = { [4] = CIP_BLOSC_SHUFFLE, [5] = CIP_BLOSC_BYTEDELTA } },
          8192 },
        { { .typesize = 4,
            .split = CIP_BLOSC_SPLIT_ALWAYS,
            .filter[5] = CIP_BLOSC_SHUFFLE,
            .blocksize = 256 },
          8192 }, /* short streams */
        { { .typesize = 32, .split = CIP_BLOSC_SPLIT_ALWAYS, .filter[5] = CIP_BLOSC_SHUFFLE },
          8192 },
        { { .typesize = 4, .filter[5] = CIP_BLOSC_BITSHUFFLE }, 4 * 1001 },
        { { .typesize = 4, .big = true, .filter[5] = CIP_BLOSC_SHUFFLE }, 8192 },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cip_blosc_spec p = row[i].p;
        const cip_blosc_spec want = { .typesize = p.typesize, .blosc1 = true, .recast = true };
        p.level = 5;
        p.compcode = CIP_BLOSC_BLOSCLZ;
        make_raw(raw, row[i].n, p.typesize);
        encode(&p, raw, row[i].n, &in);
        assert_false(takes(&in, row[i].n, &want));
        assert_int_equal(recast(&in, true, &out), CIP_RECAST_NOT);
    }
    /* Runs of one byte show only in the streams. */
    cip_blosc_spec p = { .typesize = 4, .level = 5, .filter[5] = CIP_BLOSC_SHUFFLE };
    const cip_blosc_spec want = { .typesize = 4, .blosc1 = true, .recast = true };
    make_raw(raw, 65536, 4);
    p.split = CIP_BLOSC_SPLIT_ALWAYS;
    encode(&p, raw, 65536, &in);
    assert_true(takes(&in, 65536, &want));
    assert_int_equal(recast(&in, true, &out), CIP_RECAST_NOT);
}

static void only_who_asks_for_it_gets_the_other_version(void **state)
{
    (void)state;
    static uint8_t raw[8192];
    static chunk one, two;
    const cip_blosc_spec p = {
        .typesize = 4, .level = 5, .blosc1 = true, .filter[5] = CIP_BLOSC_SHUFFLE
    };
    cip_blosc_spec want = { .typesize = 4 };
    make_raw(raw, sizeof raw, 4);
    encode(&p, raw, sizeof raw, &one);
    assert_false(takes(&one, sizeof raw, &want));
    want.recast = true;
    assert_true(takes(&one, sizeof raw, &want));
    want.blocksize = 100; /* other blocks */
    assert_false(takes(&one, sizeof raw, &want));
    want.recast = false;
    cip_dst to = { two.b, sizeof two.b, 0 };
    assert_int_equal(cip_codec_blosc.recast(&want, (cip_bytes){ one.b, one.n }, &to),
                     CIP_RECAST_SAME);
}

/* Every byte of a chunk as any other: what becomes another chunk decodes as the first, or as badly.
 */
static void damage_is_neither_hidden_nor_followed(void **state)
{
    (void)state;
    static uint8_t raw[4096], was[4096], now[4096];
    static chunk one, two;
    const cip_codec_env env = { .mem = &mem };
    const cip_blosc_spec p = {
        .typesize = 4, .level = 5, .blosc1 = true, .blocksize = 1024, .filter[5] = CIP_BLOSC_SHUFFLE
    };
    make_raw(raw, sizeof raw, 4);
    encode(&p, raw, sizeof raw, &one);
    for (size_t at = 0; at < one.n && at < 200; at++)
        for (int v = 0; v < 256; v++) {
            const uint8_t had = one.b[at];
            one.b[at] = (uint8_t)v;
            if (recast(&one, false, &two) == CIP_RECAST_MADE) {
                memset(was, 0, sizeof was);
                memset(now, 0, sizeof now);
                const cip_status a = cip_codec_blosc.decode(NULL, &env, (cip_bytes){ one.b, one.n },
                                                            was, sizeof was, NULL);
                const cip_status b = cip_codec_blosc.decode(NULL, &env, (cip_bytes){ two.b, two.n },
                                                            now, sizeof now, NULL);
                if ((a == CIP_OK) != (b == CIP_OK))
                    fail_msg("byte %zu as %d: %d and %d", at, v, (int)a, (int)b);
                if (a == CIP_OK)
                    assert_memory_equal(was, now, sizeof was);
            }
            one.b[at] = had;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blosc1_becomes_blosc2_and_again_the_same_bytes),
        cmocka_unit_test(what_the_versions_do_not_share_is_left),
        cmocka_unit_test(only_who_asks_for_it_gets_the_other_version),
        cmocka_unit_test(damage_is_neither_hidden_nor_followed),
    };
    cip_mem_init(&mem, NULL, UINT64_MAX);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
