/* SPDX-License-Identifier: BSD-3-Clause
 * Quantized chunks, taken apart again by a decoder of this file that reads bit by bit. */
#include "support/codec/codec_testing.h"

#include <float.h>
#include <math.h>

#include "base/endian.h"
#include "codec/quantize_encode.h"

/* --- values and what becomes of them ---------------------------------------------------------- */

static uint32_t seed;

static double uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / (1 << 24);
}

/* Sum of twelve: variance 1. */
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum;
}

static void store(uint8_t *p, size_t i, double v, bool wide, bool big)
{
    float narrow = (float)v;
    uint64_t bits;
    uint32_t half;
    memcpy(&bits, &v, sizeof bits);
    memcpy(&half, &narrow, sizeof half);
    if (wide)
        cip_store_u64(p + 8 * i, bits, big);
    else
        cip_store_u32(p + 4 * i, half, big);
}

typedef struct chunk {
    uint8_t *bytes;
    size_t len;
    unsigned bits;
    double offset, scale, worst;
    uint64_t n;
} chunk;

static double load_double(const uint8_t *p)
{
    double v;
    uint64_t bits = cip_load_u64(p, true);
    memcpy(&v, &bits, sizeof v);
    return v;
}

static int64_t integer(const chunk *c, uint64_t i)
{
    uint64_t v = 0;
    for (unsigned k = 0; k < c->bits; k++) {
        uint64_t at = i * c->bits + k;
        v = v << 1 | (c->bytes[25 + at / 8] >> (7 - at % 8) & 1);
    }
    if (c->bits != 0 && c->bits < 64 && (v >> (c->bits - 1)) != 0)
        v |= UINT64_MAX << c->bits;
    return (int64_t)v;
}

static double value(const chunk *c, uint64_t i, bool wide)
{
    double v = (double)integer(c, i) * c->scale + c->offset;
    return wide ? v : (double)(float)v;
}

/* Quantizes n values as a chunk of the shape; `exact` memory of just the size. */
static chunk encode(const double *x, int32_t ndim, const int64_t *shape, const int64_t *valid,
                    bool wide, const cip_quantize_steps *how)
{
    test_env t;
    chunk c = { .worst = -1 };
    size_t n = 1, size = wide ? 8 : 4, len;
    for (int32_t i = 0; i < ndim; i++)
        n *= (size_t)shape[i];
    uint8_t *in = malloc(n * size + 1), *exact = malloc(cip_quantize_bound(n));
    for (size_t i = 0; i < n; i++)
        store(in, i, x[i], wide, n % 2 != 0);
    const cip_quantize_values v = { { in, n * size }, wide, n % 2 != 0, ndim, shape, valid };
    test_env_open(&t, 0, 0);
    if (cip_quantize_encode(&t.mem, &v, how, exact, cip_quantize_bound(n), &len, &c.worst,
                            &t.err) != CIP_OK)
        fail_msg("%s", t.err.text);
    test_env_close(&t);
    c.bytes = exact;
    c.len = len;
    c.bits = exact[0];
    c.offset = load_double(exact + 1);
    c.scale = load_double(exact + 9);
    c.n = cip_load_u64(exact + 17, true);
    assert_int_equal(c.n, n);
    assert_int_equal(len, 25 + (n * c.bits + 7) / 8);
    free(in);
    return c;
}

/* The largest error is what it says it is. */
static void check_worst(const chunk *c, const double *x, bool wide)
{
    double worst = 0;
    for (uint64_t i = 0; i < c->n; i++)
        worst = fmax(worst, fabs(value(c, i, wide) - (wide ? x[i] : (double)(float)x[i])));
    assert_true(worst == c->worst);
}

static const cip_quantize_steps fine = { .quality = 4 };

/* --- quality ---------------------------------------------------------------------------------- */

static void the_step_is_a_quarter_of_the_noise(void **state)
{
    (void)state;
    enum { N = 64 * 64 };
    static double x[N];
    const int64_t shape[] = { 64, 64 };
    seed = 7;
    for (int wide = 0; wide < 2; wide++)
        for (double quality = 1; quality <= 16; quality *= 4) {
            for (int i = 0; i < N; i++) /* a slope that the differences do not see */
                x[i] = 1000 + 3.0 * (i % 64) + 5 * normal();
            chunk c = encode(x, 2, shape, NULL, wide != 0, &(cip_quantize_steps){ quality, 0 });
            assert_true(fabs(c.scale * quality / 5 - 1) < 0.06);
            check_worst(&c, x, wide != 0);
            assert_true(c.worst <= c.scale * 0.50001);
            free(c.bytes);
        }
}

static void lines_are_not_mixed(void **state)
{
    (void)state;
    enum { N = 8 * 200 };
    static double x[N];
    const int64_t shape[] = { 200, 8 };
    seed = 3;
    for (int i = 0; i < N; i++)
        x[i] = (i / 8 % 2 != 0 ? 1e6 : 0) + normal();
    chunk c = encode(x, 2, shape, NULL, true, &fine);
    assert_true(c.scale > 0.2 && c.scale < 0.3);
    free(c.bytes);
}

static void the_median_is_that_of_sorted_differences(void **state)
{
    (void)state;
    /* 2 x[i] - x[i-2] - x[i+2] of the one line: 1, 20, 3, -4, 5 at i 2 to 6 */
    const double x[] = { 0, 0, 0, 0, -1, -20, -5, -36, -14 };
    const int64_t shape[] = { 9 };
    double d[5];
    for (int i = 0; i < 5; i++)
        d[i] = fabs(2 * x[i + 2] - x[i] - x[i + 4]);
    assert_true(d[0] == 1 && d[1] == 20 && d[2] == 3 && d[3] == 4 && d[4] == 5);
    chunk c = encode(x, 1, shape, NULL, true, &(cip_quantize_steps){ 1, 0 });
    assert_true(fabs(c.scale - 0.6052697 * 4) < 1e-9);
    check_worst(&c, x, true);
    free(c.bytes);
}

static void spikes_among_equal_values_are_noise_by_the_mean(void **state)
{
    (void)state;
    double x[100] = { 0 };
    const int64_t shape[] = { 100 };
    x[50] = 96; /* differences: 192 once, 96 twice, of 96 */
    chunk c = encode(x, 1, shape, NULL, true, &fine);
    assert_true(fabs(c.scale - 0.5116634 * 4 / 4) < 1e-9);
    check_worst(&c, x, true);
    free(c.bytes);
}

static void without_noise_the_range_is_cut_finely(void **state)
{
    (void)state;
    const double x[] = { 3, 1, 2, 4 }; /* too few */
    double ramp[64];
    const int64_t shape[] = { 4 }, longer[] = { 64 };
    for (int i = 0; i < 64; i++)
        ramp[i] = i;
    for (int wide = 0; wide < 2; wide++) {
        chunk c = encode(x, 1, shape, NULL, wide != 0, &fine);
        assert_true(c.scale == (wide != 0 ? 3 * 0x1p-32 : 3 * 0x1p-24));
        assert_true(c.bits == (wide != 0 ? 33 : 25));
        check_worst(&c, x, wide != 0);
        free(c.bytes);
        c = encode(ramp, 1, longer, NULL, wide != 0, &fine);
        assert_true(c.scale == (wide != 0 ? 63 * 0x1p-32 : 63 * 0x1p-24));
        free(c.bytes);
    }
}

static void equal_values_take_no_bits(void **state)
{
    (void)state;
    const double x[] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
    const int64_t shape[] = { 6 };
    const cip_quantize_steps bits = { 0, 9 };
    for (int k = 0; k < 2; k++) {
        chunk c = encode(x, 1, shape, NULL, true, k == 0 ? &fine : &bits);
        assert_int_equal(c.bits, 0);
        assert_int_equal(c.len, 25);
        assert_true(c.offset == 0.1 && c.worst == 0);
        free(c.bytes);
    }
}

static void steps_are_never_finer_than_a_double(void **state)
{
    (void)state;
    double x[40];
    const int64_t shape[] = { 40 };
    for (int i = 0; i < 40; i++)
        x[i] = i == 20 ? 1e30 : i % 3;
    chunk c = encode(x, 1, shape, NULL, true, &fine);
    assert_true(c.bits <= 53 && c.scale >= 1e30 * 0x1p-53);
    check_worst(&c, x, true);
    free(c.bytes);
}

static void the_ends_of_the_numbers_can_be_quantized(void **state)
{
    (void)state;
    const double all[][6] = {
        { DBL_MAX, -DBL_MAX, 0, 1, DBL_MAX, -DBL_MAX },
        { DBL_TRUE_MIN, 0, 0, DBL_TRUE_MIN, 0, 3 * DBL_TRUE_MIN },
        { FLT_MAX, -FLT_MAX, FLT_MAX, FLT_MAX, 0, -FLT_MAX },
    };
    const int64_t shape[] = { 6 };
    for (int k = 0; k < 3; k++)
        for (int wide = k < 2; wide < 2; wide++)
            for (int bits = 0; bits < 12; bits++) {
                if (k == 0 && bits != 0)
                    continue;
                const cip_quantize_steps how = { bits == 0 ? 0.001 : 0, bits };
                chunk c = encode(all[k], 1, shape, NULL, wide != 0, &how);
                for (uint64_t i = 0; i < c.n; i++)
                    assert_true(isfinite(value(&c, i, wide != 0)));
                check_worst(&c, all[k], wide != 0);
                free(c.bytes);
            }
}

/* --- bits ------------------------------------------------------------------------------------- */

static void every_number_of_bits_is_used(void **state)
{
    (void)state;
    enum { N = 91 };
    double x[N];
    const int64_t shape[] = { 7, 13 };
    seed = 9;
    for (int i = 0; i < N; i++)
        x[i] = 100 * uniform() - 30;
    for (int bits = 1; bits <= 64; bits++) {
        chunk c = encode(x, 2, shape, NULL, true, &(cip_quantize_steps){ 0, bits });
        int64_t least = INT64_MAX, most = INT64_MIN,
                top = INT64_C(1) << (bits < 53 ? bits - 1 : 52);
        assert_int_equal(c.bits, bits);
        for (uint64_t i = 0; i < N; i++) {
            int64_t q = integer(&c, i);
            least = q < least ? q : least;
            most = q > most ? q : most;
        }
        assert_true(least == -top && most <= top - 1 && most >= top - (bits < 50 ? 1 : 3));
        check_worst(&c, x, true);
        assert_true(c.worst <= c.scale * 0.5 + 5e-14);
        free(c.bytes);
    }
}

static void smallest_widths_are_found(void **state)
{
    (void)state;
    const int64_t shape[] = { 9 };
    for (int bits = 2; bits < 30; bits++) { /* noise 1, so that steps are of 1 */
        double half = ldexp(1, bits - 1), d = 1 / (0.6052697 * 2);
        double x[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        for (int i = 0; i < 9; i++) /* ramps with bends: differences d */
            x[i] = half * (i - 4) / 4 * 0.999 + (i % 4 < 2 ? d / 2 : -d / 2);
        chunk c = encode(x, 1, shape, NULL, true, &fine);
        int64_t top = 0;
        for (uint64_t i = 0; i < 9; i++) {
            int64_t q = integer(&c, i);
            top = (q < 0 ? -q - 1 : q) > top ? (q < 0 ? -q - 1 : q) : top;
        }
        assert_true(top >> (c.bits - 1) == 0 && (c.bits == 1 || top >> (c.bits - 2) != 0));
        free(c.bytes);
    }
}

/* --- padding ---------------------------------------------------------------------------------- */

static void padding_counts_for_nothing(void **state)
{
    (void)state;
    const int64_t shape[] = { 3, 4, 6 }, valid[] = { 2, 3, 5 }, small[] = { 2, 3, 5 };
    double x[72], y[30];
    size_t m = 0;
    seed = 11;
    for (int i = 0; i < 72; i++) {
        bool in = i / 24 < 2 && i / 6 % 4 < 3 && i % 6 < 5;
        x[i] = in ? 50 + normal() : NAN;
        if (in)
            y[m++] = x[i];
    }
    for (int k = 0; k < 2; k++) {
        const cip_quantize_steps how = { 4, k == 0 ? 0 : 5 };
        chunk c = encode(x, 3, shape, valid, true, &how), d = encode(y, 3, small, NULL, true, &how);
        assert_true(c.bits == d.bits && c.offset == d.offset && c.scale == d.scale);
        assert_true(c.worst == d.worst);
        m = 0;
        for (uint64_t i = 0; i < 72; i++)
            assert_int_equal(integer(&c, i), isnan(x[i]) ? 0 : integer(&d, m++));
        free(c.bytes);
        free(d.bytes);
    }
}

static void a_chunk_may_be_empty_or_of_no_axes(void **state)
{
    (void)state;
    const double one[] = { -2.5 };
    const int64_t none[] = { 0, 3 };
    chunk c = encode(one, 0, NULL, NULL, false, &fine);
    assert_true(c.n == 1 && c.bits == 0 && c.offset == -2.5);
    free(c.bytes);
    c = encode(one, 2, none, NULL, false, &fine);
    assert_true(c.n == 0 && c.bits == 0 && c.worst == 0);
    free(c.bytes);
}

/* --- what is refused -------------------------------------------------------------------------- */

static cip_status attempt(const cip_quantize_values *v, const cip_quantize_steps *how, size_t cap,
                          cip_err *err)
{
    test_env t;
    size_t len = 77;
    double worst = 77;
    uint8_t *exact = malloc(cap + 1);
    test_env_open(&t, 0, 0);
    cip_status st = cip_quantize_encode(&t.mem, v, how, exact, cap, &len, &worst, err);
    if (st != CIP_OK)
        assert_true(len == 77 && worst == 77);
    test_env_close(&t);
    free(exact);
    return st;
}

static void what_cannot_be_quantized_is_refused(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    uint8_t in[24] = { 0 };
    const int64_t shape[] = { 3 }, longer[] = { 4 }, wrong[] = { -1 };
    cip_quantize_values v = { { in, 24 }, true, false, 1, shape, NULL };
    store(in, 0, 1, true, false);
    assert_int_equal(attempt(&v, &fine, 25 + 24, NULL), CIP_OK);
    assert_int_equal(attempt(&v, &(cip_quantize_steps){ 0, 0 }, 64, NULL), CIP_ERR_ARG);
    assert_int_equal(attempt(&v, &(cip_quantize_steps){ -1, 0 }, 64, NULL), CIP_ERR_ARG);
    assert_int_equal(attempt(&v, &(cip_quantize_steps){ NAN, 0 }, 64, NULL), CIP_ERR_ARG);
    assert_int_equal(attempt(&v, &(cip_quantize_steps){ 4, 65 }, 64, NULL), CIP_ERR_ARG);
    assert_int_equal(attempt(&v, &(cip_quantize_steps){ 4, -1 }, 64, NULL), CIP_ERR_ARG);
    assert_int_equal(attempt(&v, &(cip_quantize_steps){ 0, 64 }, 25 + 24, NULL), CIP_OK);
    assert_int_equal(attempt(&v, &(cip_quantize_steps){ 0, 64 }, 25 + 23, NULL), CIP_ERR_RANGE);
    assert_int_equal(attempt(&v, &fine, 24, NULL), CIP_ERR_RANGE);
    v.shape = longer;
    assert_int_equal(attempt(&v, &fine, 64, NULL), CIP_ERR_ARG);
    v.shape = wrong;
    assert_int_equal(attempt(&v, &fine, 64, NULL), CIP_ERR_ARG);
    v.shape = shape;
    v.bytes.len = 23;
    assert_int_equal(attempt(&v, &fine, 64, NULL), CIP_ERR_ARG);
    v.bytes.len = 24;
    store(in, 1, INFINITY, true, false);
    assert_int_equal(attempt(&v, &fine, 64, &err), CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected finite numbers to quantize, found inf as value 1");
    store(in, 0, DBL_MAX, true, false);
    store(in, 1, -DBL_MAX, true, false);
    assert_int_equal(attempt(&v, &(cip_quantize_steps){ 0, 1 }, 64, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_quantize_bound(UINT64_MAX / 8), 0);
    assert_int_equal(cip_quantize_bound(UINT64_MAX), 0);
}

static void the_first_bad_value_is_found(void **state)
{
    (void)state;
    uint8_t in[40];
    for (int k = 0; k < 4; k++) {
        bool wide = k % 2 != 0, big = k / 2 != 0;
        size_t size = wide ? 8 : 4;
        uint64_t at = 99;
        for (size_t i = 0; i < 5; i++)
            store(in, i, (double)i, wide, big);
        assert_false(cip_quantize_find_bad((cip_bytes){ in, 5 * size }, wide, big, &at));
        assert_int_equal(at, 99);
        store(in, 4, NAN, wide, big);
        store(in, 3, -INFINITY, wide, big);
        assert_true(cip_quantize_find_bad((cip_bytes){ in, 5 * size }, wide, big, &at));
        assert_int_equal(at, 3);
    }
}

static void a_lack_of_memory_is_told(void **state)
{
    (void)state;
    uint8_t in[24] = { 1 }, out[64];
    const int64_t shape[] = { 3 };
    const cip_quantize_values v = { { in, 24 }, true, false, 1, shape, NULL };
    size_t len = 0;
    double worst;
    test_env t;
    test_env_open(&t, 1, 0);
    assert_int_equal(cip_quantize_encode(&t.mem, &v, &fine, out, 64, &len, &worst, &t.err),
                     CIP_ERR_NOMEM);
    test_env_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_step_is_a_quarter_of_the_noise),
        cmocka_unit_test(lines_are_not_mixed),
        cmocka_unit_test(the_median_is_that_of_sorted_differences),
        cmocka_unit_test(spikes_among_equal_values_are_noise_by_the_mean),
        cmocka_unit_test(without_noise_the_range_is_cut_finely),
        cmocka_unit_test(equal_values_take_no_bits),
        cmocka_unit_test(steps_are_never_finer_than_a_double),
        cmocka_unit_test(the_ends_of_the_numbers_can_be_quantized),
        cmocka_unit_test(every_number_of_bits_is_used),
        cmocka_unit_test(smallest_widths_are_found),
        cmocka_unit_test(padding_counts_for_nothing),
        cmocka_unit_test(a_chunk_may_be_empty_or_of_no_axes),
        cmocka_unit_test(what_cannot_be_quantized_is_refused),
        cmocka_unit_test(the_first_bad_value_is_found),
        cmocka_unit_test(a_lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
