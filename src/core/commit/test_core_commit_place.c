/* SPDX-License-Identifier: BSD-3-Clause
 * Commits of revisions that fill bytes which nothing names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/commit/commit_testing.h"

/* Pieces over bytes that nothing names, with each of the ways that change something. */
static void place(cip_level level)
{
    static uint8_t want[4 * N];
    size_t n;
    cip_revision r = new_revision();
    assert_int_equal(cip_revision_place(&r, 700, &(cip_segment){ .off = 9, .len = 300 }, NULL),
                     CIP_OK);
    assert_int_equal(cip_revision_place(
                         &r, 2000, &(cip_segment){ .ptr = (const uint8_t *)"abc", .len = 3 }, NULL),
                     CIP_OK);
    change(&r, 512, "abc");
    run(&r,
        "would change 3 bytes in place, at byte 512 and fill 303 unused bytes; the file stays 4096 "
        "bytes long",
        want, &n, level);
    r.has_tail = true;
    r.tail_off = N;
    assert_int_equal(cip_revision_bytes(&r, "new", 3, NULL), CIP_OK);
    run(&r,
        "would append 3 bytes and change 3 bytes in place, at byte 512 and fill 303 unused bytes; "
        "the file becomes 4099 bytes long",
        want, &n, level);
    change(&r, 1500, "abc");
    run(&r,
        "would append 3 bytes and change 6 bytes in 2 places and fill 303 unused bytes; the file "
        "becomes 4099 bytes long",
        want, &n, level);
    r.patch.n = 0;
    run(&r, "would append 3 bytes and fill 303 unused bytes; the file becomes 4099 bytes long",
        want, &n, level);
    cip_revision_clear(&r);
}

static void unused_bytes_are_filled_by_each_way(void **state)
{
    (void)state;
    place(CIP_LEVEL_POWER);
    place(CIP_LEVEL_PROCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unused_bytes_are_filled_by_each_way),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
