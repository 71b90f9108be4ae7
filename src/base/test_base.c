/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/env.h"
#include "base/cursor.h"

static void cursor_past_the_end_gives_zeros_and_sticks(void **state)
{
    (void)state;
    const uint8_t b[] = { 1, 2, 3, 4, 5 };
    cip_cursor c = cip_cursor_be((cip_bytes){ b, sizeof b });
    assert_int_equal(cip_get_u32(&c), 0x01020304);
    assert_int_equal(cip_get_u16(&c), 0);
    assert_true(c.bad);
    assert_int_equal(cip_get_u8(&c), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursor_past_the_end_gives_zeros_and_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
