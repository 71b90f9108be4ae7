/* SPDX-License-Identifier: BSD-3-Clause
 * A fake file of each test's own: `f`, made and freed by `setup` and `teardown`. */
#ifndef CIP_TESTS_OWN_FAKE_H
#define CIP_TESTS_OWN_FAKE_H

#include "support/fake/fake.h"

static fake f;

static int setup(void **state)
{
    (void)state;
    fake_open(&f, 1, NULL, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_close(&f);
    return 0;
}

#endif
