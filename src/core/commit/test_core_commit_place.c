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
    run(&r, "changes 3 bytes at 512 in place, in one sector, fills 303 unused bytes", want, &n,
        level);
    r.has_tail = true;
    r.tail_off = N;
    assert_int_equal(cip_revision_bytes(&r, "new", 3, NULL), CIP_OK);
    run(&r,
        "appends 3 bytes, then changes 3 bytes at 512 in place, in one sector, fills 303 unused "
        "bytes",
        want, &n, level);
    change(&r, 1500, "abc");
    run(&r,
        "journal: append 3 bytes, write 6 in 2 places, 4099 bytes in the end, fills 303 unused "
        "bytes",
        want, &n, level);
    r.patch.n = 0;
    run(&r, "append 3 bytes, fills 303 unused bytes", want, &n, level);
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
