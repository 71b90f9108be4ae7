/* SPDX-License-Identifier: BSD-3-Clause
 * The loops of statistics: right sums, and the same bits at each level of vector instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array/sums.h"
#include "base/cpu.h"

enum { MAX = 200 };

typedef struct results {
    cip_float_counts counts;
    double low, high, sum, dev, squares;
    int64_t bounds[2];
    uint64_t ubounds[2], nzero, nuzero;
} results;

static uint64_t seed = 3;

static uint64_t draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 32 | seed << 32;
}

static results all_of(const double *any, const double *finite, const int64_t *whole, size_t n,
                      double *a, double *b)
{
    results r;
    memset(&r, 0, sizeof r);
    const cip_sums *s = cip_sums_now();
    s->count(any, n, &r.counts);
    s->first(finite, n, &r.low, &r.high, &r.sum);
    s->second(finite, n, r.sum / (double)n, &r.dev, &r.squares);
    r.nzero = s->of_signed(whole, n, r.bounds, a);
    r.nuzero = s->of_unsigned((const uint64_t *)whole, n, r.ubounds, b);
    return r;
}

/* Against loops as plain as can be; sums of whole numbers, which nothing rounds. */
static void assert_right(const results *r, const double *any, const double *finite,
                         const int64_t *whole, size_t n)
{
    results w = { .low = INFINITY,
                  .high = -INFINITY,
                  .bounds = { INT64_MAX, INT64_MIN },
                  .ubounds = { UINT64_MAX, 0 } };
    for (size_t i = 0; i < n; i++) {
        w.counts.nnan += isnan(any[i]) != 0;
        w.counts.ninf += isinf(any[i]) != 0;
        w.counts.nplus += isinf(any[i]) && any[i] > 0;
        w.counts.nzero += any[i] == 0;
        w.low = fmin(w.low, finite[i]);
        w.high = fmax(w.high, finite[i]);
        w.sum += finite[i];
        w.nzero += whole[i] == 0;
        w.bounds[0] = whole[i] < w.bounds[0] ? whole[i] : w.bounds[0];
        w.bounds[1] = whole[i] > w.bounds[1] ? whole[i] : w.bounds[1];
        w.ubounds[0] = (uint64_t)whole[i] < w.ubounds[0] ? (uint64_t)whole[i] : w.ubounds[0];
        w.ubounds[1] = (uint64_t)whole[i] > w.ubounds[1] ? (uint64_t)whole[i] : w.ubounds[1];
    }
    assert_true(memcmp(&w.counts, &r->counts, sizeof w.counts) == 0);
    assert_true(w.low == r->low && w.high == r->high && w.sum == r->sum);
    assert_true(w.nzero == r->nzero && w.nzero == r->nuzero);
    assert_true(memcmp(w.bounds, r->bounds, sizeof w.bounds) == 0);
    assert_true(memcmp(w.ubounds, r->ubounds, sizeof w.ubounds) == 0);
    assert_true(fabs(r->dev) <= 1e-9 * (double)n && (n == 1 || r->squares > 0));
}

static void every_level_gives_the_right_sums_and_the_same_bits(void **state)
{
    (void)state;
    static const double special[] = { NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e300, -1e300, 1e-320 };
    for (size_t n = 1; n < MAX; n++) {
        double *any = malloc(n * 8), *finite = malloc(n * 8), *a = malloc(n * 8),
               *b = malloc(n * 8);
        double *fraction = malloc(n * 8), *c = malloc(n * 8), *d = malloc(n * 8);
        int64_t *whole = malloc(n * 8);
        assert_true(any && finite && a && b && fraction && c && d && whole);
        for (size_t i = 0; i < n; i++) {
            finite[i] = (double)(draw() % 2000) - 1000;
            fraction[i] = finite[i] / 7;
            any[i] = draw() % 2 == 0 ? special[draw() % 8] : finite[i];
            whole[i] = draw() % 3 == 0 ? 0 : (int64_t)draw();
        }
        cip_cpu_limit(CIP_CPU_GENERIC);
        results want = all_of(any, finite, whole, n, a, b);
        assert_right(&want, any, finite, whole, n);
        for (size_t i = 0; i < n; i++)
            assert_true(a[i] == (double)whole[i] && b[i] == (double)(uint64_t)whole[i]);
        want = all_of(any, fraction, whole, n, a, b);
        for (int level = CIP_CPU_GENERIC + 1; level < CIP_CPU_LEVELS; level++) {
            cip_cpu_limit(level);
            results found = all_of(any, fraction, whole, n, c, d);
            assert_memory_equal(&found, &want, sizeof want);
            assert_memory_equal(c, a, n * 8);
            assert_memory_equal(d, b, n * 8);
        }
        void *const all[] = { any, finite, a, b, fraction, c, d, whole };
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            free(all[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_gives_the_right_sums_and_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
