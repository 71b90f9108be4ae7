/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as JSON, strict and as printed by Python: what is read can be written as JSON and read
 * again. */
#include <stdint.h>
#include <stdlib.h>

#include "tree/json_read.h"
#include "tree/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void write_and_read(cip_env *env, cip_arena *a, const cip_node *root)
{
    cip_buf out = { .mem = &env->mem };
    cip_node *back;
    require(cip_json_emit(env, root, false, &out, NULL) == CIP_OK);
    require(cip_json_read(a, (cip_bytes){ out.ptr, out.len }, 0, &back, NULL, NULL) == CIP_OK);
    require(cip_node_len(back) == cip_node_len(root) || cip_node_kind(root) < CIP_NODE_SEQ);
    cip_buf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cip_env env;
    cip_node *root;
    bool repeated;
    if (cip_env_init(&env, NULL, NULL, NULL, NULL) != CIP_OK)
        return 0;
    cip_arena a = { .mem = &env.mem };
    for (uint32_t flags = 0; flags <= CIP_JSON_PRINTED; flags++)
        if (cip_json_read(&a, (cip_bytes){ data, size }, flags, &root, &repeated, NULL) == CIP_OK)
            write_and_read(&env, &a, root);
    cip_arena_clear(&a);
    cip_env_clear(&env);
    require(env.mem.used == 0);
    return 0;
}
