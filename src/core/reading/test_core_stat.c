/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "support/core/core_testing.h"

static cip_stats stats_of(const char *descr, const char *shape, const void *data, size_t nbytes)
{
    char *mem;
    cip_stats s = { .size = sizeof s };
    cip_file *f = test_open_npy(descr, shape, data, nbytes, &mem);
    assert_int_equal(cip_stat(cip_file_array(f, 0), NULL, &s, NULL), CIP_OK);
    cip_file_close(f);
    free(mem);
    return s;
}

static void near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-12 * fmax(1, fabs(b)));
}

static void small_numbers_by_hand(void **state)
{
    (void)state;
    const double v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
    cip_stats s = stats_of("'<f8'", "(2, 4)", v, sizeof v);
    near(s.mean, 5);
    near(s.std, 2);
    assert_true(s.min == 2 && s.max == 9 && s.nelem == 8 && !s.exact);
}

static void integers_are_exact_to_the_last(void **state)
{
    (void)state;
    const int64_t i[] = { INT64_MIN, 0, INT64_MAX, INT64_MAX - 1 };
    const uint64_t u[] = { UINT64_MAX, 1, UINT64_MAX - 1 };
    cip_stats s = stats_of("'<i8'", "(4,)", i, sizeof i);
    assert_true(s.exact && !s.is_unsigned && s.min_int == INT64_MIN && s.max_int == INT64_MAX);
    assert_int_equal(s.nzero, 1);
    s = stats_of("'<u8'", "(3,)", u, sizeof u);
    assert_true(s.exact && s.is_unsigned && s.min_int == 1 && (uint64_t)s.max_int == UINT64_MAX);
    s = stats_of("'|b1'", "(3,)", "\1\0\5", 3);
    assert_true(s.exact && s.min_int == 0 && s.max_int == 1 && s.nzero == 1);
}

static void special_floats_are_counted_apart(void **state)
{
    (void)state;
    const double v[] = { NAN, 1, -0.0, 0, NAN, 3 };
    cip_stats s = stats_of("'<f8'", "(6,)", v, sizeof v);
    assert_true(s.nnan == 2 && s.nzero == 2 && s.ninf == 0 && s.min == 0 && s.max == 3);
    near(s.mean, 1);
    const double w[] = { -INFINITY, 1 };
    s = stats_of("'<f8'", "(2,)", w, sizeof w);
    assert_true(s.ninf == 1 && s.min == -INFINITY && s.mean == -INFINITY && isnan(s.std));
    assert_true(s.max == 1 && s.finite_mean == 1);
    const double x[] = { -INFINITY, 1, INFINITY, 4 };
    s = stats_of("'<f8'", "(4,)", x, sizeof x);
    assert_true(s.ninf == 2 && s.min == -INFINITY && s.max == INFINITY && s.finite_mean == 2.5);
    assert_true(isnan(s.mean) && !signbit(s.mean) && isnan(s.std) && !signbit(s.std));
    s = stats_of("'<f8'", "(1,)", x + 2, sizeof *x);
    assert_true(s.min == INFINITY && s.max == INFINITY && s.mean == INFINITY);
    assert_true(isnan(s.finite_mean));
    double *many = calloc(40000, sizeof *many); /* more than a block */
    many[3] = many[39000] = INFINITY;
    many[20000] = 39998;
    s = stats_of("'<f8'", "(40000,)", many, 40000 * sizeof *many);
    assert_true(s.ninf == 2 && s.max == INFINITY && s.min == 0 && s.mean == INFINITY);
    near(s.finite_mean, 1);
    free(many);
    s = stats_of("'<f8'", "(2,)", (const double[]){ NAN, NAN }, 16);
    assert_true(s.nnan == 2 && isnan(s.min) && isnan(s.mean) && isnan(s.std) && !s.exact);
    s = stats_of("'<i4'", "(0,)", NULL, 0);
    assert_true(s.nelem == 0 && isnan(s.max) && !s.exact);
}

static void complex_numbers_by_their_absolute_value(void **state)
{
    (void)state;
    const double v[] = { 3, 4, 0, 0, -6, 8 };
    cip_stats s = stats_of("'<c16'", "(3,)", v, sizeof v);
    assert_true(s.min == 0 && s.max == 10 && s.nzero == 1);
    near(s.mean, 5);
}

static void masked_elements_count_only_as_masked(void **state)
{
    (void)state;
    char *mem;
    cip_stats s = { .size = sizeof s };
    cip_file *f = test_open_asdf("m: !core/ndarray-1.1.0 {data: [1, 2, 99, 3], mask: 99}\n", &mem);
    assert_int_equal(cip_stat(cip_find(f, "m", NULL), NULL, &s, NULL), CIP_OK);
    assert_true(s.nmasked == 1 && s.max_int == 3 && s.nelem == 4);
    near(s.mean, 2);
    cip_file_close(f);
    free(mem);
}

static void texts_have_no_statistics(void **state)
{
    (void)state;
    char *mem;
    cip_stats s = { .size = sizeof s };
    cip_file *f = test_open_npy("'|S2'", "(1,)", "ab", 2, &mem);
    assert_int_equal(cip_stat(cip_file_array(f, 0), NULL, &s, NULL), CIP_ERR_TYPE);
    cip_file_close(f);
    free(mem);
}

/* Two and a half parts, with a large offset that would spoil a one-pass variance. */
static void many_elements_are_precise_whatever_the_threads(void **state)
{
    (void)state;
    enum { N = 2600000 };
    double *v = malloc(N * sizeof *v);
    long double sum = 0, dev = 0;
    size_t n;
    for (size_t i = 0; i < N; i++)
        sum += v[i] = 1e9 + (double)((i * 7919) % 1000) / 8;
    for (size_t i = 0; i < N; i++)
        dev += (v[i] - sum / N) * (v[i] - sum / N);
    char *mem = test_npy("'<f8'", "(2600000,)", 0, v, N * sizeof *v, &n);
    cip_stats s[2] = { { .size = sizeof *s }, { .size = sizeof *s } };
    for (unsigned t = 0; t < 2; t++) {
        cip_file *f;
        assert_int_equal(cip_open_memory(mem, n, CIP_OPEN_OPTIONS(.threads = 1 + 3 * t), &f, NULL),
                         CIP_OK);
        assert_int_equal(cip_stat(cip_file_array(f, 0), NULL, &s[t], NULL), CIP_OK);
        cip_file_close(f);
    }
    assert_true(s[0].mean == s[1].mean && s[0].std == s[1].std && s[0].min == s[1].min);
    assert_true(s[0].max == s[1].max && s[0].nelem == N && s[1].nelem == N);
    assert_true(fabsl(s[0].mean - sum / N) < 1e-6);
    assert_true(fabsl(s[0].std - sqrtl(dev / N)) < 1e-6);
    free(mem);
    free(v);
}

/* The sum of a block of these is rounded in the third decimal, its deviations are not. */
static void the_deviation_is_precise_far_from_zero(void **state)
{
    (void)state;
    enum { N = 100000 };
    double *v = malloc(N * sizeof *v);
    long double sum = 0, dev = 0;
    uint32_t seed = 1;
    size_t n;
    for (size_t i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        sum += v[i] = 1e9 + seed / 4294967296.0;
    }
    for (size_t i = 0; i < N; i++)
        dev += (v[i] - sum / N) * (v[i] - sum / N);
    char *mem = test_npy("'<f8'", "(100000,)", 0, v, N * sizeof *v, &n);
    cip_file *f;
    cip_stats s = { .size = sizeof s };
    assert_int_equal(cip_open_memory(mem, n, NULL, &f, NULL), CIP_OK);
    assert_int_equal(cip_stat(cip_file_array(f, 0), NULL, &s, NULL), CIP_OK);
    assert_true(fabsl(s.std / sqrtl(dev / N) - 1) < 1e-10);
    assert_true(fabsl(s.mean - sum / N) < 2.4e-7L); /* two units in the last place */
    cip_file_close(f);
    free(mem);
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_numbers_by_hand),
        cmocka_unit_test(integers_are_exact_to_the_last),
        cmocka_unit_test(special_floats_are_counted_apart),
        cmocka_unit_test(complex_numbers_by_their_absolute_value),
        cmocka_unit_test(masked_elements_count_only_as_masked),
        cmocka_unit_test(texts_have_no_statistics),
        cmocka_unit_test(many_elements_are_precise_whatever_the_threads),
        cmocka_unit_test(the_deviation_is_precise_far_from_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
