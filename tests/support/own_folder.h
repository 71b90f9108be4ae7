/* SPDX-License-Identifier: BSD-3-Clause
 * A folder of the test program's own: `s`, made and removed by the group's `start` and `stop`. */
#ifndef CIP_TESTS_OWN_FOLDER_H
#define CIP_TESTS_OWN_FOLDER_H

#include "support/temp_folder.h"

static scratch s;

static int start(void **state)
{
    (void)state;
    return scratch_open(&s) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    scratch_close(&s);
    return 0;
}

#endif
