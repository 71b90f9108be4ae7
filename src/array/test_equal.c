/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "array/cast.h"

static void floats_are_compared_as_numbers(void **state)
{
    (void)state;
    const double v[] = { 0.0, -0.0, (double)NAN, -(double)NAN, 1.5 }, zero = 0, nan = (double)NAN;
    uint8_t is[5];
    const cip_dtype *d = cip_dtype_of(CIP_F64);
    assert_int_equal(cip_equal_run(d, (const uint8_t *)&zero, (const uint8_t *)v, 5, is, NULL),
                     CIP_OK);
    assert_memory_equal(is, ((uint8_t[]){ 1, 1, 0, 0, 0 }), 5);
    assert_int_equal(cip_equal_run(d, (const uint8_t *)&nan, (const uint8_t *)v, 5, is, NULL),
                     CIP_OK);
    assert_memory_equal(is, ((uint8_t[]){ 0, 0, 1, 1, 0 }), 5);
}

static void a_complex_with_a_nan_in_either_part_is_nan(void **state)
{
    (void)state;
    const float v[] = { 1, 2, NAN, 0, 0, NAN, 1, -2, 1, 2 }, value[] = { 1, 2 }, nan[] = { NAN, 0 };
    uint8_t is[5];
    const cip_dtype *d = cip_dtype_of(CIP_C64);
    assert_int_equal(cip_equal_run(d, (const uint8_t *)value, (const uint8_t *)v, 5, is, NULL),
                     CIP_OK);
    assert_memory_equal(is, ((uint8_t[]){ 1, 0, 0, 0, 1 }), 5);
    assert_int_equal(cip_equal_run(d, (const uint8_t *)nan, (const uint8_t *)v, 5, is, NULL),
                     CIP_OK);
    assert_memory_equal(is, ((uint8_t[]){ 0, 1, 1, 0, 0 }), 5);
}

static void many_are_compared_in_batches(void **state)
{
    (void)state;
    float v[1000], two = 2;
    uint8_t is[1000];
    for (size_t i = 0; i < 1000; i++)
        v[i] = (float)(i % 5);
    assert_int_equal(cip_equal_run(cip_dtype_of(CIP_F32), (const uint8_t *)&two, (const uint8_t *)v,
                                   1000, is, NULL),
                     CIP_OK);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(is[i], i % 5 == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_compared_as_numbers),
        cmocka_unit_test(a_complex_with_a_nan_in_either_part_is_nan),
        cmocka_unit_test(many_are_compared_in_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
