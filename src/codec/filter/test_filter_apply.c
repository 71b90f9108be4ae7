/* SPDX-License-Identifier: BSD-3-Clause
 * Filters forward, against the vectors of the format and models that are as plain as can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "codec/blosc/blosc.h"

enum { MAX = 3000 };
static const uint32_t widths[] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                   13, 14, 15, 16, 17, 18, 19, 20, 32, 64, 255 };
enum { NWIDTH = sizeof widths / sizeof widths[0] };

static uint8_t source[MAX], model[MAX];

static int fill(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (size_t i = 0; i < MAX; i++) {
        seed = seed * 1664525u + 1013904223u;
        source[i] = (uint8_t)(seed >> 24);
    }
    return 0;
}

/* Applies to the first n bytes, in buffers of just that size; the result has to be the model. */
static void gives_model(int id, const cip_filter_env *env, size_t n)
{
    uint8_t *src = malloc(n + (n == 0)), *dst = malloc(n + (n == 0));
    memcpy(src, source, n);
    memset(dst, 0xa5, n);
    assert_int_equal(cip_filter_apply(id, env, src, dst, n, NULL), CIP_OK);
    assert_memory_equal(dst, model, n);
    assert_memory_equal(src, source, n);
    free(src);
    free(dst);
}

static size_t length(size_t i, uint32_t width)
{
    const size_t n[] = { 0,           1,
                         width,       7u * width + 1,
                         8u * width,  9u * width + width / 2,
                         64u * width, 73u * width + 3,
                         600,         MAX };
    return i < sizeof n / sizeof n[0] ? (n[i] < MAX ? n[i] : MAX) : SIZE_MAX;
}

static void shuffle_takes_bytes_apart(void **state)
{
    (void)state;
    for (size_t w = 0; w < NWIDTH; w++)
        for (size_t k = 0; length(k, widths[w]) != SIZE_MAX; k++) {
            size_t n = length(k, widths[w]), ts = widths[w], m = n / ts;
            memcpy(model, source, n);
            for (size_t i = 0; i < m; i++)
                for (size_t j = 0; j < ts; j++)
                    model[j * m + i] = source[i * ts + j];
            gives_model(CIP_BLOSC_SHUFFLE, &(cip_filter_env){ .typesize = widths[w] }, n);
            gives_model(CIP_BLOSC_SHUFFLE,
                        &(cip_filter_env){ .typesize = 16, .meta = (uint8_t)widths[w] }, n);
        }
}

static void bit_model(size_t ts, size_t m, size_t n)
{
    memcpy(model, source, n);
    memset(model, 0, m * ts);
    for (size_t i = 0; i < m; i++)
        for (size_t bit = 0; bit < 8 * ts; bit++)
            if (source[i * ts + bit / 8] >> bit % 8 & 1)
                model[bit * (m / 8) + i / 8] |= (uint8_t)(1u << i % 8);
}

static void bitshuffle_takes_bits_apart(void **state)
{
    (void)state;
    for (size_t w = 0; w < NWIDTH; w++)
        for (size_t k = 0; length(k, widths[w]) != SIZE_MAX; k++) {
            size_t n = length(k, widths[w]), ts = widths[w], m = n / ts;
            cip_filter_env env = { .typesize = widths[w], .version = 5, .meta = 3 };
            bit_model(ts, m - m % 8, n);
            gives_model(CIP_BLOSC_BITSHUFFLE, &env, n);
            env.version = 2;
            bit_model(ts, m % 8 == 0 ? m : 0, n);
            gives_model(CIP_BLOSC_BITSHUFFLE, &env, n);
        }
}

static void bitshuffle_has_the_format_s_vector(void **state)
{
    (void)state;
    const uint8_t want[] = { 0xff, 0xaa, 0xcc, 0xf0, 0, 0, 0, 0,    0,
                             0x55, 0x66, 0x78, 0x80, 0, 0, 0, 0x11, 0x12 };
    uint8_t in[18], out[18];
    for (uint8_t i = 0; i < 18; i++)
        in[i] = (uint8_t)(i + 1);
    cip_filter_env env = { .typesize = 2, .version = 5 };
    assert_int_equal(cip_filter_apply(CIP_BLOSC_BITSHUFFLE, &env, in, out, 18, NULL), CIP_OK);
    assert_memory_equal(out, want, 18);
}

static void delta_takes_words_before_or_of_block_0(void **state)
{
    (void)state;
    uint8_t *first = malloc(MAX);
    for (size_t i = 0; i < MAX; i++)
        first[i] = (uint8_t)(i * 37);
    for (size_t w = 0; w < NWIDTH; w++)
        for (size_t k = 0; length(k, widths[w]) != SIZE_MAX; k++) {
            size_t n = length(k, widths[w]), ts = widths[w];
            size_t word = ts == 1 || ts == 2 || ts == 4 ? ts : ts % 8 == 0 ? 8 : 1;
            size_t done = n - n % word;
            memcpy(model, source, n);
            for (size_t i = word; i < done; i++)
                model[i] = source[i] ^ source[i - word];
            gives_model(CIP_BLOSC_DELTA, &(cip_filter_env){ .typesize = widths[w] }, n);
            for (size_t i = 0; i < done; i++)
                model[i] = source[i] ^ first[i];
            cip_filter_env env = { .typesize = widths[w], .block = 3, .first = first };
            gives_model(CIP_BLOSC_DELTA, &env, n);
        }
    free(first);
}

static void bytedelta_restarts_with_each_plane(void **state)
{
    (void)state;
    const struct {
        cip_filter_env env;
        size_t planes;
    } rows[] = { { { .typesize = 4 }, 4 },
                 { { .typesize = 4, .super_typesize = 12 }, 12 },
                 { { .typesize = 4, .super_typesize = 12, .meta = 2 }, 2 },
                 { { .typesize = 1, .super_typesize = 300 }, 300 } };
    for (size_t r = 0; r < 4; r++)
        for (size_t n = 0; n < 1000; n += 89) {
            size_t len = n / rows[r].planes;
            memcpy(model, source, n);
            for (size_t i = 0; i < len * rows[r].planes; i++)
                model[i] = (uint8_t)(source[i] - (i % len != 0 ? source[i - 1] : 0));
            gives_model(CIP_BLOSC_BYTEDELTA, &rows[r].env, n);
        }
}

static void no_filter_copies(void **state)
{
    (void)state;
    memcpy(model, source, 100);
    gives_model(CIP_BLOSC_NOFILTER, &(cip_filter_env){ .typesize = 4 }, 100);
}

static void trunc_prec_keeps_so_many_bits(void **state)
{
    (void)state;
    float f[] = { 1.9999999f, -1.0000001f, 3.1415927f }, g[3];
    double d[] = { 1.9999999999, -1e300, 3.14159265358979 }, e[3];
    cip_filter_env env = { .typesize = 4, .meta = 1, .big = CIP_HOST_BIG };
    assert_int_equal(
        cip_filter_apply(CIP_BLOSC_TRUNC_PREC, &env, (uint8_t *)f, (uint8_t *)g, sizeof f, NULL),
        CIP_OK);
    assert_true(g[0] == 1.5f && g[1] == -1.0f && g[2] == 3.0f);
    env = (cip_filter_env){ .typesize = 8, .meta = (uint8_t)-51, .big = CIP_HOST_BIG };
    assert_int_equal(
        cip_filter_apply(CIP_BLOSC_TRUNC_PREC, &env, (uint8_t *)d, (uint8_t *)e, sizeof d, NULL),
        CIP_OK);
    assert_true(e[0] == 1.5 && e[1] > -1e300 && e[1] < -6e299 && e[2] == 3.0);
}

static void int_trunc_keeps_so_many_bits(void **state)
{
    (void)state;
    const int8_t metas[] = { 1, -7, 5, -3 };
    for (uint32_t w = 1; w <= 8; w *= 2)
        for (size_t k = 0; k < 4; k++) {
            size_t n = 10 * w + w / 2; /* and no whole element at the end */
            int zero = metas[k] > 0 ? 8 * (int)w - metas[k] : -metas[k];
            uint64_t keep = ~(((uint64_t)1 << zero) - 1);
            for (int big = 0; big < 2; big++) {
                memcpy(model, source, n);
                for (size_t i = 0; i < 10 * w; i++)
                    model[i] &= (uint8_t)(keep >> 8 * (big ? w - 1 - i % w : i % w));
                cip_filter_env env = { .typesize = w, .meta = (uint8_t)metas[k], .big = big != 0 };
                gives_model(CIP_BLOSC_INT_TRUNC, &env, n);
            }
        }
}

static cip_status apply_bad(int id, cip_filter_env env, size_t n)
{
    cip_err err = CIP_ERR_INIT;
    uint8_t dst[MAX];
    cip_status st = cip_filter_apply(id, &env, source, dst, n, &err);
    assert_true(st == CIP_OK || err.text[0] != '\0');
    return st;
}

static void bits_that_are_not_there_are_refused(void **state)
{
    (void)state;
    const struct {
        int id;
        uint32_t typesize;
        int meta;
        cip_status st;
    } rows[] = {
        { CIP_BLOSC_TRUNC_PREC, 4, 23, CIP_OK },
        { CIP_BLOSC_TRUNC_PREC, 4, 24, CIP_ERR_ARG },
        { CIP_BLOSC_TRUNC_PREC, 4, 0, CIP_ERR_ARG },
        { CIP_BLOSC_TRUNC_PREC, 4, -22, CIP_OK },
        { CIP_BLOSC_TRUNC_PREC, 4, -23, CIP_ERR_ARG },
        { CIP_BLOSC_TRUNC_PREC, 8, 52, CIP_OK },
        { CIP_BLOSC_TRUNC_PREC, 8, 53, CIP_ERR_ARG },
        { CIP_BLOSC_TRUNC_PREC, 2, 3, CIP_ERR_ARG },
        { CIP_BLOSC_INT_TRUNC, 1, 8, CIP_OK },
        { CIP_BLOSC_INT_TRUNC, 1, 9, CIP_ERR_ARG },
        { CIP_BLOSC_INT_TRUNC, 2, -15, CIP_OK },
        { CIP_BLOSC_INT_TRUNC, 2, -16, CIP_ERR_ARG },
        { CIP_BLOSC_INT_TRUNC, 3, 3, CIP_ERR_ARG },
        { CIP_BLOSC_INT_TRUNC, 8, -128, CIP_ERR_ARG },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cip_filter_env env = { .typesize = rows[i].typesize, .meta = (uint8_t)rows[i].meta };
        assert_int_equal(apply_bad(rows[i].id, env, 64), rows[i].st);
    }
}

static void filters_that_cannot_be_written_are_named(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    uint8_t dst[8];
    cip_filter_env env = { .typesize = 4 };
    assert_int_equal(cip_filter_apply(CIP_BLOSC_BYTEDELTA_OLD, &env, source, dst, 8, &err),
                     CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "(34)"));
    assert_int_equal(cip_filter_apply(99, &env, source, dst, 8, &err), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "(99)"));
}

/* --- cells ----------------------------------------------------------------------------------- */

/* Where the item at a place of a 3-d block goes, by counting all that come before it. */
static size_t cell_place(const int64_t shape[3], int64_t side, const int64_t at[3])
{
    size_t before = 0;
    int64_t i[3];
    for (i[0] = 0; i[0] < shape[0]; i[0]++)
        for (i[1] = 0; i[1] < shape[1]; i[1]++)
            for (i[2] = 0; i[2] < shape[2]; i[2]++) {
                int order = 0;
                for (int d = 0; d < 3 && order == 0; d++) /* by cell, then inside it */
                    order = i[d] / side < at[d] / side ? -1 : i[d] / side > at[d] / side;
                for (int d = 0; d < 3 && order == 0; d++)
                    order = i[d] < at[d] ? -1 : i[d] > at[d];
                before += order < 0;
            }
    return before;
}

static void ndcell_takes_cells_in_order(void **state)
{
    (void)state;
    const int64_t shapes[][3] = { { 4, 4, 4 }, { 5, 3, 7 }, { 1, 9, 2 }, { 3, 1, 1 } };
    for (size_t s = 0; s < 4; s++)
        for (uint8_t side = 1; side < 6; side++) {
            const int64_t *shape = shapes[s];
            size_t n = (size_t)(shape[0] * shape[1] * shape[2]) * 3;
            cip_filter_env env = { .typesize = 3, .meta = side, .ndim = 3, .shape = shape };
            int64_t at[3];
            const uint8_t *item = source;
            for (at[0] = 0; at[0] < shape[0]; at[0]++)
                for (at[1] = 0; at[1] < shape[1]; at[1]++)
                    for (at[2] = 0; at[2] < shape[2]; at[2]++, item += 3)
                        memcpy(model + 3 * cell_place(shape, side, at), item, 3);
            if ((size_t)(side * side * side) * 3 <= n)
                gives_model(CIP_BLOSC_NDCELL, &env, n);
        }
}

static void ndmean_puts_the_mean_of_a_cell(void **state)
{
    (void)state;
    const int64_t shape[2] = { 3, 4 };
    const float in[12] = { 1, 3, 10, 20, 5, 7, 30, 40, 100, 200, 8, 9 };
    const float want[12] = { 4, 4, 4, 4, 25, 25, 25, 25, 150, 150, 8.5f, 8.5f };
    float out[12];
    cip_filter_env env = {
        .typesize = 4, .meta = 2, .big = CIP_HOST_BIG, .ndim = 2, .shape = shape
    };
    assert_int_equal(cip_filter_apply(CIP_BLOSC_NDMEAN, &env, (const uint8_t *)in, (uint8_t *)out,
                                      sizeof in, NULL),
                     CIP_OK);
    assert_memory_equal(out, want, sizeof want);
    uint8_t other[sizeof in];
    for (size_t i = 0; i < 12; i++)
        cip_store_float(other + 4 * i, (double)in[i], 4, !CIP_HOST_BIG);
    env.big = !CIP_HOST_BIG;
    assert_int_equal(
        cip_filter_apply(CIP_BLOSC_NDMEAN, &env, other, (uint8_t *)out, sizeof in, NULL), CIP_OK);
    for (size_t i = 0; i < 12; i++)
        assert_true((float)cip_load_float(out + i, 4, !CIP_HOST_BIG) == want[i]);
    const double v[3] = { 1, 2, 6 };
    double w[3];
    const int64_t line[1] = { 3 };
    env =
        (cip_filter_env){ .typesize = 8, .meta = 9, .big = CIP_HOST_BIG, .ndim = 1, .shape = line };
    assert_int_equal(
        cip_filter_apply(CIP_BLOSC_NDMEAN, &env, (const uint8_t *)v, (uint8_t *)w, sizeof v, NULL),
        CIP_OK);
    assert_true(w[0] == 3 && w[1] == 3 && w[2] == 3);
}

static void cells_need_the_block_s_shape(void **state)
{
    (void)state;
    const int64_t shape[2] = { 3, 4 }, empty[2] = { 0, 4 }, huge[2] = { INT64_MAX, INT64_MAX };
    cip_filter_env good = { .typesize = 4, .meta = 2, .ndim = 2, .shape = shape };
    cip_filter_env env = good;
    assert_int_equal(apply_bad(CIP_BLOSC_NDCELL, env, 48), CIP_OK);
    assert_int_equal(apply_bad(CIP_BLOSC_NDCELL, env, 47), CIP_ERR_ARG);
    env.shape = NULL;
    assert_int_equal(apply_bad(CIP_BLOSC_NDCELL, env, 48), CIP_ERR_ARG);
    env.shape = empty;
    assert_int_equal(apply_bad(CIP_BLOSC_NDMEAN, env, 0), CIP_ERR_ARG);
    env.shape = huge;
    assert_int_equal(apply_bad(CIP_BLOSC_NDCELL, env, 48), CIP_ERR_ARG);
    env = good;
    env.ndim = 9;
    assert_int_equal(apply_bad(CIP_BLOSC_NDCELL, env, 48), CIP_ERR_ARG);
    env = good;
    env.meta = 0;
    assert_int_equal(apply_bad(CIP_BLOSC_NDCELL, env, 48), CIP_ERR_ARG);
    env = good;
    env.meta = 3; /* as many bytes as 9 of 12 items, cut off to 3 x 1 at the side */
    assert_int_equal(apply_bad(CIP_BLOSC_NDCELL, env, 48), CIP_OK);
    env.meta = 4; /* a cell is 3 x 4 then, but 4 x 4 are more than there are */
    assert_int_equal(apply_bad(CIP_BLOSC_NDCELL, env, 48), CIP_ERR_ARG);
    assert_int_equal(apply_bad(CIP_BLOSC_NDMEAN, env, 48), CIP_ERR_ARG);
    env = good;
    env.typesize = 2;
    assert_int_equal(apply_bad(CIP_BLOSC_NDMEAN, env, 24), CIP_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffle_takes_bytes_apart),
        cmocka_unit_test(bitshuffle_takes_bits_apart),
        cmocka_unit_test(bitshuffle_has_the_format_s_vector),
        cmocka_unit_test(delta_takes_words_before_or_of_block_0),
        cmocka_unit_test(bytedelta_restarts_with_each_plane),
        cmocka_unit_test(no_filter_copies),
        cmocka_unit_test(trunc_prec_keeps_so_many_bits),
        cmocka_unit_test(int_trunc_keeps_so_many_bits),
        cmocka_unit_test(bits_that_are_not_there_are_refused),
        cmocka_unit_test(filters_that_cannot_be_written_are_named),
        cmocka_unit_test(ndcell_takes_cells_in_order),
        cmocka_unit_test(ndmean_puts_the_mean_of_a_cell),
        cmocka_unit_test(cells_need_the_block_s_shape),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
