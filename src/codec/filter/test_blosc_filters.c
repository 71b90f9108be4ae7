/* SPDX-License-Identifier: BSD-3-Clause
 * Filters undone, each against its definition byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codec/filter/filter.h"

enum { MAX = 5000 };

static uint8_t noise[MAX], want[MAX];

static int make_noise(void **state)
{
    (void)state;
    uint32_t x = 1;
    for (size_t i = 0; i < MAX; i++) {
        x = x * 1664525 + 1013904223;
        noise[i] = (uint8_t)(x >> 24);
    }
    return 0;
}

/* Undoes a filter on the first n bytes of the noise, in memory of exactly the size, and compares
 * with `want`. */
static void assert_undone(int id, const cip_filter_env *env, size_t n)
{
    uint8_t *src = malloc(n != 0 ? n : 1), *dst = malloc(n != 0 ? n : 1);
    cip_err err = CIP_ERR_INIT;
    assert_true(src != NULL && dst != NULL);
    memcpy(src, noise, n);
    assert_int_equal(cip_filter_undo(id, env, src, dst, n, &err), CIP_OK);
    if (memcmp(dst, want, n) != 0)
        fail_msg("filter %d, typesize %u, meta %d, %zu bytes differ", id, env->typesize, env->meta,
                 n);
    assert_memory_equal(src, noise, n);
    free(src);
    free(dst);
}

static const size_t lengths[] = { 0, 1, 7, 8, 63, 64, 129, 1000, 2048, 4999 };
enum { NLENGTH = sizeof lengths / sizeof lengths[0] };

static void shuffle_of_any_width_is_undone(void **state)
{
    (void)state;
    for (uint32_t width = 1; width < 256; width += width < 40 ? 1 : 43)
        for (size_t l = 0; l < NLENGTH; l++) {
            size_t n = lengths[l], count = n / width;
            const cip_filter_env env = { .typesize = width, .version = 5 };
            const cip_filter_env meta = { .typesize = 3, .meta = (uint8_t)width, .version = 5 };
            memcpy(want, noise, n);
            for (size_t i = 0; i < count; i++)
                for (size_t j = 0; j < width; j++)
                    want[i * width + j] = noise[j * count + i];
            assert_undone(CIP_BLOSC_SHUFFLE, &env, n);
            assert_undone(CIP_BLOSC_SHUFFLE, &meta, n);
        }
}

/* Pieces that begin and end in the midst of elements, and in the bytes behind the last one. */
static void a_part_is_unshuffled_as_the_whole_is(void **state)
{
    (void)state;
    uint8_t part[100];
    for (size_t width = 1; width < 20; width++)
        for (size_t n = 60; n < 64; n++) {
            cip_unshuffle(width, noise, want, n);
            for (size_t off = 0; off <= n; off++)
                for (size_t len = 0; len <= n - off; len++) {
                    memset(part, 0, sizeof part);
                    cip_unshuffle_part(width, noise, n, off, part, len);
                    if (memcmp(part, want + off, len) != 0 || part[len] != 0)
                        fail_msg("width %zu, %zu of %zu bytes at %zu differ", width, len, n, off);
                }
        }
}

static void wanted_bits(size_t width, size_t count)
{
    memset(want, 0, count * width);
    for (size_t row = 0; row < 8 * width; row++)
        for (size_t i = 0; i < count; i++) {
            unsigned bit = noise[row * (count / 8) + i / 8] >> i % 8 & 1;
            want[i * width + row / 8] |= (uint8_t)(bit << row % 8);
        }
}

static void bitshuffle_of_any_width_is_undone(void **state)
{
    (void)state;
    for (uint32_t width = 1; width < 40; width++)
        for (size_t l = 0; l < NLENGTH; l++) {
            size_t n = lengths[l], count = n / width - n / width % 8;
            cip_filter_env env = { .typesize = width, .version = 5 };
            memcpy(want, noise, n);
            wanted_bits(width, count);
            assert_undone(CIP_BLOSC_BITSHUFFLE, &env, n);
            env.version = 2; /* all whole elements or none */
            if (n / width % 8 != 0)
                memcpy(want, noise, n);
            assert_undone(CIP_BLOSC_BITSHUFFLE, &env, n);
        }
}

static void the_bitshuffle_of_the_format_sheet_is_undone(void **state)
{
    (void)state;
    static const uint8_t src[] = { 0xff, 0xaa, 0xcc, 0xf0, 0, 0, 0, 0,    0,
                                   0x55, 0x66, 0x78, 0x80, 0, 0, 0, 0x11, 0x12 };
    const cip_filter_env env = { .typesize = 2, .version = 5 };
    uint8_t dst[sizeof src];
    assert_int_equal(cip_filter_undo(CIP_BLOSC_BITSHUFFLE, &env, src, dst, sizeof src, NULL),
                     CIP_OK);
    for (uint8_t i = 0; i < sizeof src; i++)
        assert_int_equal(dst[i], i + 1);
}

static void delta_is_undone_in_block_0_and_in_others(void **state)
{
    (void)state;
    static const struct {
        uint32_t typesize;
        size_t word;
    } rows[] = { { 1, 1 }, { 2, 2 },  { 3, 1 },  { 4, 4 },  { 6, 1 },
                 { 8, 8 }, { 16, 8 }, { 12, 1 }, { 24, 8 }, { 255, 1 } };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (size_t l = 0; l < NLENGTH; l++) {
            size_t n = lengths[l], w = rows[r].word, words = n - n % w;
            cip_filter_env env = { .typesize = rows[r].typesize, .version = 5 };
            for (size_t i = 0; i < n; i++)
                want[i] = noise[i] ^ (i >= w && i < words ? want[i - w] : 0);
            assert_undone(CIP_BLOSC_DELTA, &env, n);
            uint8_t *first = malloc(n != 0 ? n : 1);
            assert_non_null(first);
            for (size_t i = 0; i < n; i++) {
                first[i] = (uint8_t)(i * 7);
                want[i] = noise[i] ^ (i < words ? first[i] : 0);
            }
            env.first = first;
            env.block = 3;
            assert_undone(CIP_BLOSC_DELTA, &env, n);
            free(first);
        }
}

static void bytedelta_restarts_in_each_stream_and_the_old_one_near_their_ends(void **state)
{
    (void)state;
    for (uint8_t streams = 1; streams < 20; streams++)
        for (size_t l = 0; l < NLENGTH; l++)
            for (int id = CIP_BLOSC_BYTEDELTA_OLD; id <= CIP_BLOSC_BYTEDELTA; id++) {
                size_t n = lengths[l], len = n / streams;
                size_t cut = id == CIP_BLOSC_BYTEDELTA_OLD ? len - len % 16 : 0;
                const cip_filter_env meta = { .typesize = 3, .meta = streams };
                const cip_filter_env super = { .typesize = 3, .super_typesize = streams };
                const cip_filter_env own = { .typesize = streams };
                memcpy(want, noise, n);
                for (size_t i = 0; i < streams * len; i++)
                    if (i % len != 0 && i % len != cut)
                        want[i] = (uint8_t)(noise[i] + want[i - 1]);
                assert_undone(id, &meta, n);
                assert_undone(id, &super, n);
                assert_undone(id, &own, n);
            }
    const cip_filter_env wide = { .typesize = 1, .super_typesize = UINT64_C(1) << 33 };
    memcpy(want, noise, 100);
    assert_undone(CIP_BLOSC_BYTEDELTA, &wide, 100);
}

static void filters_that_only_took_away_are_copies(void **state)
{
    (void)state;
    static const int ids[] = { CIP_BLOSC_NOFILTER, CIP_BLOSC_TRUNC_PREC, CIP_BLOSC_INT_TRUNC };
    const cip_filter_env env = { .typesize = 4, .meta = 7 };
    memcpy(want, noise, 100);
    for (size_t i = 0; i < 3; i++)
        assert_undone(ids[i], &env, 100);
}

/* Cells of side `side` in C order, each cell's elements in C order: to their places in a block of
 * three dimensions. */
static void wanted_cells(const int64_t shape[3], int64_t side, size_t item)
{
    const uint8_t *at = noise;
    for (int64_t a = 0; a < shape[0]; a += side)
        for (int64_t b = 0; b < shape[1]; b += side)
            for (int64_t c = 0; c < shape[2]; c += side)
                for (int64_t i = a; i < shape[0] && i < a + side; i++)
                    for (int64_t j = b; j < shape[1] && j < b + side; j++)
                        for (int64_t k = c; k < shape[2] && k < c + side; k++, at += item)
                            memcpy(want + (size_t)((i * shape[1] + j) * shape[2] + k) * item, at,
                                   item);
}

static void cells_are_put_back_to_their_places(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = { { 5, 6, 7 }, { 1, 1, 20 }, { 4, 4, 4 }, { 9, 1, 3 } };
    for (size_t s = 0; s < 4; s++)
        for (uint8_t side = 1; side < 10; side++)
            for (uint32_t item = 1; item < 10; item += 3) {
                const int64_t *shape = shapes[s];
                const cip_filter_env env = {
                    .typesize = item, .meta = side, .ndim = 3, .shape = shape
                };
                wanted_cells(shape, side, item);
                assert_undone(CIP_BLOSC_NDCELL, &env,
                              (size_t)(shape[0] * shape[1] * shape[2]) * item);
            }
    /* an element too wide for the chunk's header */
    const int64_t shape[3] = { 2, 2, 2 };
    const cip_filter_env env = {
        .typesize = 1, .super_typesize = 300, .meta = 1, .ndim = 3, .shape = shape
    };
    wanted_cells(shape, 1, 300);
    assert_undone(CIP_BLOSC_NDCELL, &env, 2400);
}

static void ndmean_counts_all_corners_in_the_first_sides_steps(void **state)
{
    (void)state;
    const int64_t shape[2] = { 2, 6 }; /* cells of 2 x 4 and 2 x 2, the second at column 2 */
    const cip_filter_env env = { .typesize = 1, .meta = 4, .ndim = 2, .shape = shape };
    memset(want, 0, 12);
    memcpy(want, noise, 4);
    memcpy(want + 6, noise + 4, 4);
    memcpy(want + 2, noise + 8, 2);
    memcpy(want + 8, noise + 10, 2);
    assert_undone(CIP_BLOSC_NDMEAN, &env, 12);
    const int64_t cube[3] = { 6, 5, 7 };
    const cip_filter_env even = { .typesize = 4, .meta = 3, .ndim = 3, .shape = cube };
    wanted_cells(cube, 3, 4);
    assert_undone(CIP_BLOSC_NDMEAN, &even, 840);
}

static void blocks_that_do_not_fit_their_shape_are_refused(void **state)
{
    (void)state;
    static const int64_t shape[9] = { 2, 3, 1, 1, 1, 1, 1, 1, 1 }, zero[2] = { 6, 0 },
                         huge[2] = { INT64_MAX, 3 };
    static const struct {
        cip_filter_env env;
        cip_status st;
    } rows[] = {
        { { .typesize = 2, .meta = 2, .ndim = 8, .shape = shape }, CIP_OK },
        { { .typesize = 2, .meta = 2, .ndim = 9, .shape = shape }, CIP_ERR_UNSUPPORTED },
        { { .typesize = 2, .meta = 2, .ndim = 0, .shape = shape }, CIP_ERR_UNSUPPORTED },
        { { .typesize = 2, .meta = 2, .ndim = 2 }, CIP_ERR_UNSUPPORTED },
        { { .typesize = 2, .meta = 0, .ndim = 2, .shape = shape }, CIP_ERR_CORRUPT },
        { { .typesize = 4, .meta = 2, .ndim = 2, .shape = shape }, CIP_ERR_CORRUPT },
        { { .typesize = 2, .meta = 2, .ndim = 2, .shape = zero }, CIP_ERR_CORRUPT },
        { { .typesize = 2, .meta = 2, .ndim = 2, .shape = huge }, CIP_ERR_CORRUPT },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int id = CIP_BLOSC_NDCELL; id <= CIP_BLOSC_NDMEAN; id++) {
            uint8_t dst[12] = { 0 };
            assert_int_equal(cip_filter_undo(id, &rows[i].env, noise, dst, 12, NULL), rows[i].st);
        }
}

static void an_unknown_filter_is_unsupported(void **state)
{
    (void)state;
    const cip_filter_env env = { .typesize = 1 };
    uint8_t dst[4];
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_filter_undo(5, &env, noise, dst, 4, &err), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "found 5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffle_of_any_width_is_undone),
        cmocka_unit_test(a_part_is_unshuffled_as_the_whole_is),
        cmocka_unit_test(bitshuffle_of_any_width_is_undone),
        cmocka_unit_test(the_bitshuffle_of_the_format_sheet_is_undone),
        cmocka_unit_test(delta_is_undone_in_block_0_and_in_others),
        cmocka_unit_test(bytedelta_restarts_in_each_stream_and_the_old_one_near_their_ends),
        cmocka_unit_test(filters_that_only_took_away_are_copies),
        cmocka_unit_test(cells_are_put_back_to_their_places),
        cmocka_unit_test(ndmean_counts_all_corners_in_the_first_sides_steps),
        cmocka_unit_test(blocks_that_do_not_fit_their_shape_are_refused),
        cmocka_unit_test(an_unknown_filter_is_unsupported),
    };
    return cmocka_run_group_tests(tests, make_noise, NULL);
}
