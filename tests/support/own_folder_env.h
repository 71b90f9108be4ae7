/* SPDX-License-Identifier: BSD-3-Clause
 * A folder and an environment of each test's own: `dir` and `env`, which `teardown` finds without
 * memory in use. */
#ifndef CIP_TESTS_OWN_FOLDER_ENV_H
#define CIP_TESTS_OWN_FOLDER_ENV_H

#include "base/env.h"
#include "support/temp_folder.h"

static scratch dir;
static cip_env env;

static int setup(void **state)
{
    (void)state;
    return scratch_open(&dir) ? (int)cip_env_init(&env, NULL, NULL, NULL, NULL) : -1;
}

static int teardown(void **state)
{
    (void)state;
    size_t left = (size_t)env.mem.used;
    scratch_close(&dir);
    cip_env_clear(&env);
    return left != 0;
}

#endif
