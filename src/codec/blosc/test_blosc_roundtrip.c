/* SPDX-License-Identifier: BSD-3-Clause
 * What is encoded decodes to the same bytes, whole and in pieces: codecs, filters, widths, lengths,
 * splits, levels against each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "codec/blosc/blosc_encoder.h"
#include "support/codec/blosc/blosc_vl_testing.h"

enum { BLOCK = 1024, MAX = 4 * BLOCK };

static uint32_t seed = 5;

static uint32_t dice(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(seed >> 4) * n >> 28);
}

/* Counters, noise, runs, zeros, and some of each. */
static void make(uint8_t *v, size_t n, uint32_t typesize, uint32_t kind)
{
    for (size_t i = 0; i < n; i++)
        switch (kind == 4 ? (uint32_t)(i / 300 % 4) : kind) {
        case 0:
            v[i] = (uint8_t)(i % typesize < 2 ? i / typesize >> 8 * (i % typesize) : 0);
            break;
        case 1:
            v[i] = (uint8_t)dice(256);
            break;
        case 2:
            v[i] = (uint8_t)(i / 700 + 1);
            break;
        default:
            v[i] = 0;
            break;
        }
}

typedef struct world {
    cip_mem mem;
    cip_blosc_encoder e;
    size_t nchunk;
} world;

static int open_world(void **state)
{
    world *w = calloc(1, sizeof *w);
    cip_mem_init(&w->mem, NULL, 0);
    w->e.mem = w->e.compressor.mem = &w->mem;
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    world *w = *state;
    cip_blosc_encoder_clear(&w->e);
    int held = w->mem.used != 0;
    free(w);
    return held;
}

/* Pieces of the chunk, few long ones or many short ones, mostly rising, as a reader that has it
 * all. */
static void pieces(world *w, const cip_blosc_spec *s, cip_bytes chunk, const uint8_t *raw, size_t n)
{
    enum { MOST = 60 };
    cip_want want[MOST];
    size_t count = 1 + dice(MOST), each = n / count + 1, to = 0, m = 0;
    uint8_t *dst = malloc(2 * n + 1);
    cip_codec_env env = { .mem = &w->mem, .typesize = s->typesize };
    cip_need all = { 0, chunk.len };
    cip_stored stored = { .total = chunk.len, .n = 1, .at = &all, .ptr = &chunk.ptr };
    for (size_t at = dice((uint32_t)n); at < n && m < count; m++) {
        size_t len = count == 1 ? 1 + dice((uint32_t)(n - at)) : dice((uint32_t)each);
        len = len < n - at ? len : n - at;
        want[m] = (cip_want){ at, len, dst + to };
        to += len;
        at += len + (dice(3) == 0 ? 0 : dice((uint32_t)each));
    }
    if (m > 1 && dice(4) == 0) {
        cip_want first = want[0];
        want[0] = want[m - 1];
        want[m - 1] = first;
    }
    memset(dst, 0xA5, 2 * n + 1);
    assert_int_equal(
        cip_codec_blosc.decode_spans(NULL, &env, &stored, &(cip_wants){ want, m, n }, NULL),
        CIP_OK);
    for (size_t i = 0; i < m; i++)
        assert_memory_equal(want[i].dst, raw + want[i].off, want[i].len);
    assert_int_equal(dst[to], 0xA5);
    free(dst);
}

static void there_and_back(world *w, const cip_blosc_spec *s, const uint8_t *raw, size_t n)
{
    cip_err err = CIP_ERR_INIT;
    size_t len;
    uint8_t *src = malloc(n + 1), *dst = malloc(cip_blosc_stored_bound(n)), *back = malloc(n + 1);
    memcpy(src, raw, n);
    if (cip_blosc_encoder_run(&w->e, s, (cip_bytes){ src, n }, dst, cip_blosc_stored_bound(n), &len,
                              &err) != CIP_OK)
        fail_msg("%s", err.text);
    assert_memory_equal(src, raw, n);
    uint8_t *exact = malloc(len);
    memcpy(exact, dst, len);
    cip_bytes chunk = { exact, len };
    cip_codec_env env = { .mem = &w->mem, .typesize = s->typesize };
    if (cip_codec_blosc.decode(NULL, &env, chunk, back, n, &err) != CIP_OK)
        fail_msg("codec %d, typesize %u, %zu bytes: %s", s->compcode, s->typesize, n, err.text);
    assert_memory_equal(back, raw, n);
    if (n != 0)
        pieces(w, s, chunk, raw, n);
    free(src);
    free(dst);
    free(back);
    free(exact);
    w->nchunk++;
}

static bool has(world *w, int compcode)
{
    return compcode != CIP_BLOSC_SNAPPY &&
           cip_blosc_compressors(&w->e.compressor,
                                 &(cip_blosc_spec){ .compcode = compcode, .level = 5 },
                                 NULL) == CIP_OK;
}

static uint32_t some_width(uint32_t i)
{
    return i < 20 ? i + 1 : i == 20 ? 32 : i == 21 ? 255 : 300;
}

static const size_t lengths[] = { 0,
                                  1,
                                  15,
                                  127,
                                  128,
                                  BLOCK - 1,
                                  BLOCK,
                                  BLOCK + 1,
                                  2 * BLOCK + 3,
                                  3 * BLOCK - 5,
                                  3 * BLOCK,
                                  3 * BLOCK + 77 };
enum { NLENGTH = sizeof lengths / sizeof lengths[0] };

static void all_codecs_behind_all_filters(void **state)
{
    static const char *const filters[] = { "none",
                                           "shuffle",
                                           "bitshuffle",
                                           "delta",
                                           "delta+shuffle",
                                           "delta+bitshuffle",
                                           "shuffle+bytedelta",
                                           "shuffle:2+bytedelta:3",
                                           "delta+shuffle+bytedelta+bitshuffle" };
    world *w = *state;
    uint8_t raw[MAX];
    for (int code = 0; code <= CIP_BLOSC_ZSTD; code++)
        for (size_t f = 0; f < sizeof filters / sizeof filters[0] && has(w, code); f++)
            for (uint32_t k = 0; k < 23 * NLENGTH; k++) {
                if (dice(4) != 0)
                    continue;
                cip_blosc_spec s = { .typesize = some_width(k % 23),
                                     .compcode = code,
                                     .level = (int)dice(code == CIP_BLOSC_ZSTD ? 5 : 10),
                                     .blocksize = dice(3) != 0 ? BLOCK : dice(2) * 100,
                                     .split = (int)dice(3),
                                     .dict = dice(8) == 0 };
                assert_int_equal(cip_blosc_filters_parse(filters[f], s.filter, s.filter_meta, NULL),
                                 CIP_OK);
                size_t n = lengths[k / 23];
                make(raw, n, s.typesize, dice(5));
                there_and_back(w, &s, raw, n);
            }
    assert_true(w->nchunk > 1000);
}

static void blosc1_chunks_too(void **state)
{
    static const char *const filters[] = { "none", "shuffle", "bitshuffle" };
    world *w = *state;
    uint8_t raw[MAX];
    for (int code = 0; code <= CIP_BLOSC_ZSTD; code++)
        for (size_t f = 0; f < 3 && has(w, code); f++)
            for (uint32_t k = 0; k < 22 * NLENGTH; k++) {
                if (dice(3) != 0)
                    continue;
                cip_blosc_spec s = { .typesize = some_width(k % 22),
                                     .compcode = code,
                                     .level = (int)dice(code == CIP_BLOSC_ZSTD ? 5 : 10),
                                     .blocksize = dice(3) != 0 ? BLOCK : dice(2) * 200,
                                     .split = (int)dice(3),
                                     .blosc1 = true };
                assert_int_equal(cip_blosc_filters_parse(filters[f], s.filter, s.filter_meta, NULL),
                                 CIP_OK);
                size_t n = lengths[k / 22];
                make(raw, n, s.typesize, dice(5));
                there_and_back(w, &s, raw, n);
            }
}

static void dictionaries_decode(void **state)
{
    world *w = *state;
    size_t n = 60000;
    uint8_t *raw = malloc(n);
    for (size_t i = 0; i < n; i++) {
        static const char words[] = "exposure filter F150W quality good detector nrca";
        raw[i] = (uint8_t)words[(i * 5 + i / 97 * 11) % (sizeof words - 1)];
    }
    for (int code = 1; code <= CIP_BLOSC_ZSTD; code++)
        for (int split = 0; split < 3 && has(w, code); split++) {
            cip_blosc_spec s = { .typesize = 4, .compcode = code, .level = 4, .dict = true };
            s.split = split;
            s.blocksize = 2048;
            s.filter[5] = CIP_BLOSC_SHUFFLE;
            there_and_back(w, &s, raw, n);
        }
    free(raw);
}

static void cells_decode(void **state)
{
    world *w = *state;
    const int64_t block[3] = { 5, 7, 9 };
    enum { ITEMS = 5 * 7 * 9, NBLOCK = 3 };
    static uint8_t raw[ITEMS * 4 * NBLOCK];
    make(raw, sizeof raw, 4, 4);
    for (uint8_t side = 1; side * side * side <= ITEMS; side++) {
        cip_blosc_spec s = { .typesize = 4, .level = 5, .blocksize = ITEMS * 4 };
        s.ndim = 3;
        s.block = block;
        s.filter[4] = CIP_BLOSC_NDCELL;
        s.filter_meta[4] = side;
        s.filter[5] = CIP_BLOSC_SHUFFLE;
        uint8_t dst[sizeof raw + 32], back[sizeof raw];
        size_t n;
        assert_int_equal(cip_blosc_encoder_run(&w->e, &s, (cip_bytes){ raw, sizeof raw }, dst,
                                               sizeof dst, &n, NULL),
                         CIP_OK);
        cip_codec_env env = { .mem = &w->mem, .typesize = 4, .ndim = 3, .block = block };
        assert_int_equal(
            cip_codec_blosc.decode(NULL, &env, (cip_bytes){ dst, n }, back, sizeof back, NULL),
            CIP_OK);
        assert_memory_equal(back, raw, sizeof raw);
    }
}

static void special_chunks_decode(void **state)
{
    world *w = *state;
    const double value = 1.5;
    uint8_t dst[48], back[80], want[80] = { 0 };
    for (int kind = CIP_BLOSC_ZEROS; kind <= CIP_BLOSC_UNINIT; kind++) {
        uint8_t nan[8];
        cip_store_u64(nan, UINT64_C(0x7FF8000000000000), false);
        const void *item = kind == CIP_BLOSC_VALUE ? (const void *)&value : nan;
        size_t n;
        cip_blosc_spec s = { .typesize = 8 };
        assert_int_equal(cip_blosc_encode_special(&s, (cip_blosc_special)kind, &value, 80, dst,
                                                  sizeof dst, &n, NULL),
                         CIP_OK);
        for (size_t i = 0; i < 80; i += 8)
            memset(want + i, 0, 8);
        for (size_t i = 0; i < 80 && (kind == CIP_BLOSC_VALUE || kind == CIP_BLOSC_NANS); i += 8)
            memcpy(want + i, item, 8);
        cip_codec_env env = { .mem = &w->mem, .typesize = 8 };
        assert_int_equal(cip_codec_blosc.decode(NULL, &env, (cip_bytes){ dst, n }, back, 80, NULL),
                         CIP_OK);
        assert_memory_equal(back, want, 80);
    }
}

/* --- blocks of lengths of their own ---------------------------------------------------------- */

enum { NVL = 5, VL_BYTES = 1 + 700 + 64 + 1000 + 3 };

static void cut(const uint8_t *raw, cip_bytes blocks[NVL])
{
    static const size_t len[NVL] = { 1, 700, 64, 1000, 3 };
    for (size_t i = 0; i < NVL; raw += len[i++])
        blocks[i] = (cip_bytes){ raw, len[i] };
}

static void blocks_of_their_own_lengths_decode(void **state)
{
    world *w = *state;
    static const char *const filters[] = { "none", "shuffle", "bitshuffle", "shuffle+bytedelta" };
    static uint8_t raw[VL_BYTES];
    uint8_t dst[VL_BYTES + 32 + 8 * NVL], back[VL_BYTES];
    cip_bytes blocks[NVL];
    cut(raw, blocks);
    for (int code = 0; code <= CIP_BLOSC_ZSTD; code++)
        for (uint32_t k = 0; k < 40 && has(w, code); k++) {
            cip_blosc_spec s = { .typesize = 1 + k % 9, .compcode = code, .level = (int)k % 6 };
            size_t n;
            cip_blosc_head h;
            assert_int_equal(cip_blosc_filters_parse(filters[k % 4], s.filter, s.filter_meta, NULL),
                             CIP_OK);
            make(raw, VL_BYTES, s.typesize, k % 5);
            assert_int_equal(blosc_encode_vl(&w->mem, &s, blocks, NVL, dst, sizeof dst, &n, NULL),
                             CIP_OK);
            assert_int_equal(cip_blosc_head_parse((cip_bytes){ dst, n }, &h, NULL), CIP_OK);
            assert_true(h.vl && h.version == 6 && h.nblock == NVL && h.nbytes == VL_BYTES);
            cip_codec_env env = { .mem = &w->mem, .typesize = s.typesize };
            assert_int_equal(
                cip_codec_blosc.decode(NULL, &env, (cip_bytes){ dst, n }, back, VL_BYTES, NULL),
                CIP_OK);
            assert_memory_equal(back, raw, VL_BYTES);
            pieces(w, &s, (cip_bytes){ dst, n }, raw, VL_BYTES);
        }
}

static void blocks_of_their_own_lengths_have_bounds(void **state)
{
    world *w = *state;
    static uint8_t raw[VL_BYTES];
    uint8_t dst[VL_BYTES + 32 + 8 * NVL], again[sizeof dst];
    cip_bytes blocks[NVL];
    cip_blosc_spec s = { .typesize = 4, .level = 5, .filter = { 1 } };
    size_t n, m = 0;
    cut(raw, blocks);
    make(raw, VL_BYTES, 4, 0);
    assert_int_equal(blosc_encode_vl(&w->mem, &s, blocks, NVL, dst, sizeof dst, &n, NULL), CIP_OK);
    for (size_t cap = 0; cap < n; cap++) {
        uint8_t *exact = malloc(cap + 1);
        assert_int_equal(blosc_encode_vl(&w->mem, &s, blocks, NVL, exact, cap, &m, NULL),
                         CIP_ERR_RANGE);
        free(exact);
    }
    assert_int_equal(blosc_encode_vl(&w->mem, &s, blocks, NVL, again, n, &m, NULL), CIP_OK);
    assert_true(n == m && memcmp(dst, again, n) == 0);
    s.dict = true;
    assert_int_equal(blosc_encode_vl(&w->mem, &s, blocks, NVL, dst, sizeof dst, &n, NULL),
                     CIP_ERR_ARG);
    s.dict = false;
    s.blosc1 = true;
    assert_int_equal(blosc_encode_vl(&w->mem, &s, blocks, NVL, dst, sizeof dst, &n, NULL),
                     CIP_ERR_ARG);
    s.blosc1 = false;
    assert_int_equal(blosc_encode_vl(&w->mem, &s, blocks, 0, dst, sizeof dst, &n, NULL),
                     CIP_ERR_ARG);
    s.filter[0] = CIP_BLOSC_DELTA;
    assert_int_equal(blosc_encode_vl(&w->mem, &s, blocks, NVL, dst, sizeof dst, &n, NULL),
                     CIP_ERR_ARG);
    s.filter[0] = 0;
    blocks[2].len = 0;
    assert_int_equal(blosc_encode_vl(&w->mem, &s, blocks, NVL, dst, sizeof dst, &n, NULL),
                     CIP_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_codecs_behind_all_filters, open_world, close_world),
        cmocka_unit_test_setup_teardown(blosc1_chunks_too, open_world, close_world),
        cmocka_unit_test_setup_teardown(dictionaries_decode, open_world, close_world),
        cmocka_unit_test_setup_teardown(cells_decode, open_world, close_world),
        cmocka_unit_test_setup_teardown(special_chunks_decode, open_world, close_world),
        cmocka_unit_test_setup_teardown(blocks_of_their_own_lengths_decode, open_world,
                                        close_world),
        cmocka_unit_test_setup_teardown(blocks_of_their_own_lengths_have_bounds, open_world,
                                        close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
