/* SPDX-License-Identifier: BSD-3-Clause
 * An environment of each test's own: `env`, which `teardown` finds without memory in use. */
#ifndef CIP_TESTS_OWN_ENV_H
#define CIP_TESTS_OWN_ENV_H

#include "base/env.h"

static cip_env env;

static int setup(void **state)
{
    (void)state;
    return (int)cip_env_init(&env, NULL, NULL, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    size_t left = (size_t)env.mem.used;
    cip_env_clear(&env);
    return left != 0;
}

#endif
