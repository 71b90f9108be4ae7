/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include <math.h>

#include "array/half.h"

/* The value of a binary16 that is no NaN, by the formula of the standard. */
static double value_of(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 0x3ff;
    double v = exponent == 31  ? INFINITY
               : exponent == 0 ? ldexp(fraction, -24)
                               : ldexp(1024 + fraction, exponent - 25);
    return h & 0x8000 ? -v : v;
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static uint32_t bits_of_float(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void all_halves_widen_exactly_and_come_back(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h++) {
        if ((h & 0x7fff) > 0x7c00)
            continue;
        float f = cip_half_to_float((uint16_t)h);
        assert_int_equal(bits_of((double)f), bits_of(value_of((uint16_t)h)));
        assert_int_equal(cip_half_from_double((double)f), h);
    }
}

static void nans_keep_their_payload_and_become_quiet(void **state)
{
    (void)state;
    for (uint32_t h = 0x7c01; h < 0x8000; h++) {
        uint32_t wide = 0x7fc00000 | (h & 0x3ff) << 13;
        assert_int_equal(bits_of_float(cip_half_to_float((uint16_t)h)), wide);
        assert_int_equal(bits_of_float(cip_half_to_float((uint16_t)(h | 0x8000))),
                         wide | 0x80000000);
        uint64_t payload = (uint64_t)(h & 0x3ff) << 42;
        assert_int_equal(cip_half_from_double(from_bits(0x7ff0000000000000 | payload)), h | 0x200);
        assert_int_equal(cip_half_from_double(from_bits(0xfff0000000000000 | payload)), h | 0x8200);
    }
    /* A payload that does not fit at all is a NaN still. */
    assert_int_equal(cip_half_from_double(from_bits(0x7ff0000000000001)), 0x7e00);
}

static void numbers_between_halves_go_to_the_nearest_even(void **state)
{
    (void)state;
    for (uint16_t h = 0; h < 0x7c00; h++) {
        double low = value_of(h), high = h == 0x7bff ? 65536.0 : value_of((uint16_t)(h + 1));
        double middle = (low + high) / 2; /* exact */
        uint16_t even = (uint16_t)(h + (h & 1));
        assert_int_equal(cip_half_from_double(middle), even);
        assert_int_equal(cip_half_from_double(nextafter(middle, 0)), h);
        assert_int_equal(cip_half_from_double(nextafter(middle, 1e9)), h + 1);
        assert_int_equal(cip_half_from_double(-middle), even | 0x8000);
    }
}

static void what_is_too_large_is_infinite_and_too_small_zero(void **state)
{
    (void)state;
    assert_int_equal(cip_half_from_double(65519.999), 0x7bff);
    assert_int_equal(cip_half_from_double(65520), 0x7c00);
    assert_int_equal(cip_half_from_double(65535), 0x7c00);
    assert_int_equal(cip_half_from_double(65536), 0x7c00);
    assert_int_equal(cip_half_from_double(-1e300), 0xfc00);
    assert_int_equal(cip_half_from_double(INFINITY), 0x7c00);
    assert_int_equal(cip_half_from_double(-INFINITY), 0xfc00);
    assert_int_equal(cip_half_from_double(0x1p-25), 0);
    assert_int_equal(cip_half_from_double(0x1.8p-26), 0);
    assert_int_equal(cip_half_from_double(-0x1p-26), 0x8000);
    assert_int_equal(cip_half_from_double(5e-324), 0);
    assert_int_equal(cip_half_from_double(-0.0), 0x8000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_halves_widen_exactly_and_come_back),
        cmocka_unit_test(nans_keep_their_payload_and_become_quiet),
        cmocka_unit_test(numbers_between_halves_go_to_the_nearest_even),
        cmocka_unit_test(what_is_too_large_is_infinite_and_too_small_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
