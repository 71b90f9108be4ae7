/* SPDX-License-Identifier: BSD-3-Clause
 * The scanner of the usual YAML: whatever it gives is what libyaml gives. */
#include <stdint.h>
#include <stdlib.h>

#include "support/tree/yaml_events_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cip_limits limits = { .size = sizeof limits, .max_tree_bytes = 1 << 20 };
    cip_env env;
    if (cip_env_init(&env, &limits, NULL, NULL, NULL) != CIP_OK)
        return 0;
    if (compare_events(&env, data, size).differs)
        abort();
    const bool leaks = env.mem.used != 0;
    cip_env_clear(&env);
    if (leaks)
        abort();
    return 0;
}
