/* SPDX-License-Identifier: BSD-3-Clause
 * Every kind of number to every other, in all orders, against a model in long double, which holds
 * any int64, uint64 and double exactly. */
#include "support/array/array_testing.h"

#include <float.h>
#include <math.h>

#include "array/cast.h"
#include "array/half.h"
#include "base/endian.h"

_Static_assert(LDBL_MANT_DIG >= 64, "the model needs a long double that holds any int64");

/* A number: real ones have no imaginary part. */
typedef struct number {
    long double re, im;
} number;

static bool is_complex(cip_kind kind)
{
    return kind == CIP_C64 || kind == CIP_C128;
}

static bool is_integer(cip_kind kind)
{
    return kind >= CIP_BOOL && kind <= CIP_U64;
}

static long double load_part(cip_kind kind, const uint8_t *p, bool big)
{
    uint32_t u32;
    uint64_t u64;
    float f;
    double d;
    switch (kind) {
    case CIP_BOOL:
        return *p != 0;
    case CIP_I8:
        return (int8_t)*p;
    case CIP_I16:
        return (int16_t)cip_load_u16(p, big);
    case CIP_I32:
        return (int32_t)cip_load_u32(p, big);
    case CIP_I64:
        return (int64_t)cip_load_u64(p, big);
    case CIP_U8:
        return *p;
    case CIP_U16:
        return cip_load_u16(p, big);
    case CIP_U32:
        return cip_load_u32(p, big);
    case CIP_U64:
        return cip_load_u64(p, big);
    case CIP_F16:
        return (long double)cip_half_to_float(cip_load_u16(p, big));
    case CIP_F32:
    case CIP_C64:
        u32 = cip_load_u32(p, big);
        memcpy(&f, &u32, sizeof f);
        return (long double)f;
    default:
        u64 = cip_load_u64(p, big);
        memcpy(&d, &u64, sizeof d);
        return (long double)d;
    }
}

static number load(const cip_dtype *d, const uint8_t *p)
{
    number v = { load_part(d->kind, p, d->big), 0 };
    if (is_complex(d->kind))
        v.im = load_part(d->kind, p + d->itemsize / 2, d->big);
    return v;
}

/* The range of an integer kind. */
static void limits_of(cip_kind kind, long double *low, long double *high)
{
    int bits = 8 * (int)cip_dtype_fixed(kind, false)->itemsize;
    bool is_signed = kind >= CIP_I8 && kind <= CIP_I64;
    *low = is_signed ? -ldexpl(1, bits - 1) : 0;
    *high = ldexpl(1, is_signed ? bits - 1 : bits) - 1;
}

/* x as a float of `kind`; whether a finite one became infinite. */
static bool model_float(long double x, cip_kind kind, long double *out)
{
    long double y = kind == CIP_F16
                        ? (long double)cip_half_to_float(cip_half_from_double((double)x))
                    : kind == CIP_F32 || kind == CIP_C64 ? (long double)(float)x
                                                         : (long double)(double)x;
    *out = y;
    return isinf(y) && !isinf(x);
}

static bool model_integer(long double x, cip_kind from, cip_kind to, bool wrap, long double *out)
{
    long double low, high, whole = truncl(x) + 0.0L; /* no -0 */
    limits_of(to, &low, &high);
    bool over = !(whole >= low && whole <= high);
    *out = whole;
    if (isnan(x))
        *out = 0;
    else if (over && wrap && is_integer(from))
        *out = whole - floorl((whole - low) / (high - low + 1)) * (high - low + 1);
    else if (over)
        *out = whole < low ? low : high;
    return over;
}

/* What v becomes; whether it overflows. */
static bool model(number v, cip_kind from, cip_kind to, bool wrap, number *out)
{
    *out = (number){ 0, 0 };
    if (to == CIP_BOOL) {
        out->re = v.re != 0 || v.im != 0;
        return false;
    }
    if (is_complex(to)) {
        bool re = model_float(v.re, to, &out->re), im = model_float(v.im, to, &out->im);
        return re || im;
    }
    bool over = v.im != 0; /* NaN as well */
    if (is_integer(to))
        return model_integer(v.re, from, to, wrap, &out->re) || over;
    return model_float(v.re, to, &out->re) || over;
}

/* Whether what came of v, `out`, is something else than v was: rounding a float to another is not.
 */
static bool is_lost(number v, cip_kind from, cip_kind to, number out)
{
    bool was_float = !is_integer(from), floats = was_float && !is_integer(to);
    if (floats && (is_complex(to) || v.im == 0))
        return false;
    return !(v.re == out.re && v.im == out.im);
}

/* Element i of the test data: limits of all kinds and their neighbours, then anything. */
static void make_source(const cip_dtype *d, size_t i, uint64_t *seed, uint8_t *p)
{
    static const double edges[] = { 0.0,
                                    -0.0,
                                    0.5,
                                    -0.5,
                                    0.999999,
                                    -0.999999,
                                    1.5,
                                    -1.5,
                                    65504,
                                    65519,
                                    65520,
                                    65535.5,
                                    65536,
                                    1e-8,
                                    3e-8,
                                    3.4028234663852886e38,
                                    3.4028235677973366e38,
                                    1e39,
                                    1e300,
                                    1e-46 };
    static const int powers[] = { 7, 8, 15, 16, 31, 32, 52, 53, 63, 64 };
    size_t nedge = sizeof edges / sizeof edges[0], npower = 10;
    double v = NAN;
    uint8_t part[2][8] = { { 0 } };
    size_t size = (size_t)d->itemsize / (is_complex(d->kind) ? 2 : 1);
    for (int k = 0; k < 2; k++) {
        uint64_t bits = random_u64(seed);
        if (i < nedge) {
            v = edges[i];
        } else if (i < nedge + 12 * npower) {
            double power = ldexp(i % 2 == 0 ? 1 : -1, powers[(i - nedge) / 12]);
            size_t which = (i - nedge) % 12 / 2;
            v = which == 0   ? power
                : which == 1 ? nextafter(power, 0)
                : which == 2 ? nextafter(power, 2 * power)
                : which == 3 ? power + 1
                : which == 4 ? power - 1
                             : power - 1.5;
        } else if (i % 8 == 0) {
            v = i % 3 == 0 ? (double)INFINITY : i % 3 == 1 ? -(double)INFINITY : (double)NAN;
        } else if (i % 8 < 4) {
            v = (double)(int64_t)bits / ldexp(1, (int)(bits % 70));
        } else {
            memcpy(&v, &bits, sizeof v);
        }
        if (size == 8 && !is_integer(d->kind))
            memcpy(&bits, &v, 8);
        else if (size == 4 && !is_integer(d->kind)) {
            float f = (float)v;
            uint32_t u;
            memcpy(&u, &f, 4);
            bits = u;
        } else if (d->kind == CIP_F16) {
            bits = cip_half_from_double(v);
        } else if (i < nedge + 12 * npower && fabs(v) < 0x1p63) {
            bits = (uint64_t)(int64_t)v;
        }
        for (size_t b = 0; b < size; b++)
            part[k][d->big ? size - 1 - b : b] = (uint8_t)(bits >> 8 * b);
        if (k == 1 && i % 4 != 0)
            memset(part[1], 0, 8); /* mostly no imaginary part */
    }
    memcpy(p, part[0], size);
    if (is_complex(d->kind))
        memcpy(p + size, part[1], size);
}

static bool same_value(long double a, long double b)
{
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

enum { COUNT = 700, ROOM = COUNT * 64 };

/* Casts COUNT numbers with these strides (in elements, 1 or more) and compares. */
static void check_pair(const cip_dtype *from, const cip_dtype *to, cip_overflow policy, int64_t gap)
{
    static uint8_t src[ROOM], dst[ROOM];
    uint64_t seed = 1000003u * (unsigned)from->kind + (unsigned)to->kind + 1;
    int64_t ss = (int64_t)from->itemsize * gap, ds = (int64_t)to->itemsize * gap;
    cip_cast c;
    cip_cast_stats stats = { 0 }, want = { 0 };
    assert_int_equal(cip_cast_make(from, to, policy, &c, NULL), CIP_OK);
    memset(dst, 0xa5, sizeof dst);
    for (int64_t i = 0; i < COUNT; i++)
        make_source(from, (size_t)i, &seed, src + 1 + i * ss);
    cip_cast_run(&c, COUNT, src + 1, ss, dst + 1, ds, 5000, &stats);
    for (int64_t i = 0; i < COUNT; i++) {
        number v = load(from, src + 1 + i * ss), got = load(to, dst + 1 + i * ds), expected;
        bool over = model(v, from->kind, to->kind, policy == CIP_OVERFLOW_WRAP, &expected);
        if (policy == CIP_OVERFLOW_ERROR)
            over = over || is_lost(v, from->kind, to->kind, expected);
        if (from->kind == to->kind)
            over = false;
        if (to->kind == CIP_BOOL)
            got.re = dst[1 + i * ds];
        if (!same_value(got.re, expected.re) || !same_value(got.im, expected.im))
            fail_msg("%s to %s, element %d: %.20Lg %.20Lg gave %.20Lg %.20Lg, not %.20Lg %.20Lg",
                     from->name, to->name, (int)i, v.re, v.im, got.re, got.im, expected.re,
                     expected.im);
        if (over && want.noverflow++ == 0)
            want.first = 5000 + (uint64_t)i;
        if (gap > 1)
            assert_int_equal(dst[1 + i * ds + (int64_t)to->itemsize], 0xa5);
    }
    assert_int_equal(dst[0], 0xa5);
    assert_int_equal(stats.noverflow, want.noverflow);
    assert_int_equal(stats.first, want.first);
}

static void every_pair_agrees_with_the_model(void **state)
{
    (void)state;
    for (int from = CIP_BOOL; from <= CIP_C128; from++)
        for (int to = CIP_BOOL; to <= CIP_C128; to++)
            for (int order = 0; order < 4; order++)
                for (int policy = CIP_OVERFLOW_ERROR; policy <= CIP_OVERFLOW_WRAP; policy++)
                    check_pair(cip_dtype_fixed((cip_kind)from, order & 1),
                               cip_dtype_fixed((cip_kind)to, order & 2), (cip_overflow)policy,
                               1 + (policy + order) % 3);
}

/* n numbers that end where their memory does: a byte too far is seen by the sanitizer. */
static void check_exact(const cip_dtype *from, const cip_dtype *to, size_t n)
{
    cip_cast c;
    cip_cast_stats stats = { 0 };
    uint8_t *src = calloc(n, (size_t)from->itemsize), *dst = calloc(n, (size_t)to->itemsize);
    assert_int_equal(cip_cast_make(from, to, CIP_OVERFLOW_ERROR, &c, NULL), CIP_OK);
    cip_cast_run(&c, n, src, (int64_t)from->itemsize, dst, (int64_t)to->itemsize, 0, &stats);
    assert_int_equal(stats.noverflow, 0);
    free(src);
    free(dst);
}

static void no_byte_is_touched_behind_the_last(void **state)
{
    static const size_t counts[] = { 1, 3, 255, 256, 257, 512 };
    (void)state;
    for (int from = CIP_BOOL; from <= CIP_C128; from++)
        for (int to = CIP_BOOL; to <= CIP_C128; to++)
            for (size_t i = 0; i < 12; i++)
                check_exact(cip_dtype_fixed((cip_kind)from, i % 2 != 0),
                            cip_dtype_fixed((cip_kind)to, i % 2 != 0), counts[i / 2]);
}

/* Casts native float64 to native int8, where 1000 overflows. */
static cip_cast_stats run_with(const size_t *where, size_t nwhere, size_t n, uint64_t base,
                               cip_cast_stats stats)
{
    static double src[2000];
    static int8_t dst[2000];
    cip_cast c;
    memset(src, 0, sizeof src);
    for (size_t i = 0; i < nwhere; i++)
        src[where[i]] = 1000;
    assert_int_equal(
        cip_cast_make(cip_dtype_of(CIP_F64), cip_dtype_of(CIP_I8), CIP_OVERFLOW_CLAMP, &c, NULL),
        CIP_OK);
    cip_cast_run(&c, n, (const uint8_t *)src, 8, (uint8_t *)dst, 1, base, &stats);
    return stats;
}

static void the_first_overflow_is_found_wherever_it_is(void **state)
{
    (void)state;
    for (size_t at = 0; at < 1100; at += 1 + at % 7) {
        const size_t where[] = { at, at + 1, at + 300, at + 800 };
        cip_cast_stats s = run_with(where, 4, 2000, 50, (cip_cast_stats){ 0 });
        assert_int_equal(s.noverflow, 4);
        assert_int_equal(s.first, 50 + at);
    }
    const size_t last[] = { 299 };
    assert_int_equal(run_with(last, 1, 299, 0, (cip_cast_stats){ 0 }).noverflow, 0);
    assert_int_equal(run_with(last, 1, 300, 0, (cip_cast_stats){ 0 }).noverflow, 1);
}

static void an_earlier_first_stays_and_a_later_one_goes(void **state)
{
    const size_t where[] = { 10, 400 };
    cip_cast_stats s;
    (void)state;
    s = run_with(where, 2, 600, 100, (cip_cast_stats){ 3, 50 });
    assert_int_equal(s.noverflow, 5);
    assert_int_equal(s.first, 50);
    s = run_with(where, 2, 600, 100, (cip_cast_stats){ 3, 105 });
    assert_int_equal(s.first, 105);
    s = run_with(where, 2, 600, 100, (cip_cast_stats){ 3, 200 });
    assert_int_equal(s.noverflow, 5);
    assert_int_equal(s.first, 110);
    s = run_with(where, 2, 600, 100, (cip_cast_stats){ 3, 100 });
    assert_int_equal(s.first, 100);
}

static void a_complex_number_overflows_once(void **state)
{
    const double src[] = { 1, 0, 1e300, 1e300, 1e300, 0, 0, -1e300, 1, 1 };
    float dst[10];
    uint8_t real[5];
    cip_cast c;
    cip_cast_stats s = { 0 };
    (void)state;
    assert_int_equal(
        cip_cast_make(cip_dtype_of(CIP_C128), cip_dtype_of(CIP_C64), CIP_OVERFLOW_CLAMP, &c, NULL),
        CIP_OK);
    cip_cast_run(&c, 5, (const uint8_t *)src, 16, (uint8_t *)dst, 8, 0, &s);
    assert_int_equal(s.noverflow, 3);
    assert_int_equal(s.first, 1);
    assert_true(isinf(dst[2]) && isinf(dst[7]) && dst[6] == 0);
    s = (cip_cast_stats){ 0 };
    assert_int_equal(
        cip_cast_make(cip_dtype_of(CIP_C128), cip_dtype_of(CIP_U8), CIP_OVERFLOW_CLAMP, &c, NULL),
        CIP_OK);
    cip_cast_run(&c, 5, (const uint8_t *)src, 16, real, 1, 0, &s);
    assert_int_equal(s.noverflow, 4);
    assert_int_equal(s.first, 1);
    const uint8_t want[] = { 1, 255, 255, 0, 1 };
    assert_memory_equal(real, want, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_agrees_with_the_model),
        cmocka_unit_test(no_byte_is_touched_behind_the_last),
        cmocka_unit_test(the_first_overflow_is_found_wherever_it_is),
        cmocka_unit_test(an_earlier_first_stays_and_a_later_one_goes),
        cmocka_unit_test(a_complex_number_overflows_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
