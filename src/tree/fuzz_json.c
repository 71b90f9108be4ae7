/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as JSON, strict and as printed by Python: what is read strictly can be written as a
 * file of JSON, and reads back as what gives the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
    const cip_json_write file = { .file = true };
    const cip_json_source from = { .env = env, .arena = a };
    cip_buf out = { .mem = &env->mem }, again = { .mem = &env->mem };
    cip_node *back;
    require(cip_json_emit_as(env, root, &file, &out, NULL) == CIP_OK);
    require(cip_json_read(&from, (cip_bytes){ out.ptr, out.len }, &back, NULL) == CIP_OK);
    require(cip_node_kind(back) == cip_node_kind(root) && cip_node_len(back) == cip_node_len(root));
    require(cip_json_emit_as(env, back, &file, &again, NULL) == CIP_OK);
    require(out.len == again.len && memcmp(out.ptr, again.ptr, out.len) == 0);
    cip_buf_clear(&out);
    cip_buf_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cip_env env;
    cip_node *root;
    if (cip_env_init(&env, NULL, NULL, NULL, NULL) != CIP_OK)
        return 0;
    cip_arena a = { .mem = &env.mem };
    for (uint32_t flags = 0; flags <= CIP_JSON_PRINTED; flags++) {
        const cip_json_source from = { .env = &env, .arena = &a, .part = "json", .flags = flags };
        if (cip_json_read(&from, (cip_bytes){ data, size }, &root, NULL) == CIP_OK && flags == 0)
            write_and_read(&env, &a, root);
    }
    cip_arena_clear(&a);
    cip_env_clear(&env);
    require(env.mem.used == 0);
    return 0;
}
