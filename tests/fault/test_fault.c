/* SPDX-License-Identifier: BSD-3-Clause
 * Changes of files, crashed at every point and failed at every operation: cippus shows the old file
 * or the new one. A row of the table for each way to change a file.
 *
 *     test_fault [NAME]      with CIP_FULL=1 in the environment: many more images (make fault)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault/fault_run.h"
#include "fault/fault_scenarios.h"
#include "support/effort.h"

static const fault_effort modest = {
    .nsubset = 4, .ntorn = 8, .every = 7, .rec_nsubset = 1, .rec_ntorn = 2
};
static const fault_effort full = {
    .nsubset = 32, .ntorn = 1500, .every = 5, .rec_nsubset = 4, .rec_ntorn = 8
};

static const fault_effort *effort(void)
{
    return test_full() ? &full : &modest;
}

static void crashes(void **state)
{
    const fault_scenario *s = *state;
    fault_result r;
    bool ok = fault_scenario_crash(s, effort(), &r);
    print_message("%-44s %4zu crash points, %6zu images, %6zu of recoveries: %s\n", s->name,
                  r.npoint, r.nimage, r.nrecovery, ok ? "all old or new" : r.text);
    assert_true(ok);
    assert_true(r.nimage > 1);
}

static void failures(void **state)
{
    const fault_scenario *s = *state;
    fault_result r;
    bool ok = fault_scenario_fail(s, &r);
    print_message("%-44s %4zu failing operations: %s\n", s->name, r.nimage,
                  ok ? "all old or new" : r.text);
    assert_true(ok);
    assert_true(r.nimage > 1);
}

int main(int argc, char **argv)
{
    size_t n = 0;
    for (const fault_scenario *s = fault_scenarios; s->name != NULL; s++)
        n++;
    struct CMUnitTest *tests = calloc(2 * n, sizeof *tests);
    assert_non_null(tests);
    n = 0;
    for (const fault_scenario *s = fault_scenarios; s->name != NULL; s++) {
        if (argc > 1 && strstr(s->name, argv[1]) == NULL)
            continue;
        tests[n++] = (struct CMUnitTest){ s->name, crashes, NULL, NULL, (void *)s };
        tests[n++] = (struct CMUnitTest){ s->name, failures, NULL, NULL, (void *)s };
    }
    int rc = _cmocka_run_group_tests("fault", tests, n, NULL, NULL);
    free(tests);
    return rc;
}
