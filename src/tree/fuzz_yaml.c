/* SPDX-License-Identifier: BSD-3-Clause
 * YAML text to a tree and back: what parses must be walked, written as JSON and as YAML within the
 * limits, and the YAML must parse again. */
#include <stdint.h>
#include <stdlib.h>

#include "tree/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int visit(void *user, const cip_visit *v)
{
    size_t *sum = user;
    *sum += v->depth + (v->path != NULL) + cip_node_len(v->node);
    return 0;
}

static void require(bool ok)
{
    if (!ok)
        abort();
}

static bool is_fine(cip_status st)
{
    return st == CIP_OK || st == CIP_ERR_LIMIT;
}

static void write_and_read(cip_env *env, cip_arena *a, const cip_node *root,
                           const cip_yaml_write *opt)
{
    const cip_yaml_options read = { .default_handle = opt->handle_prefix, .quiet = true };
    cip_buf out = { .mem = &env->mem };
    const cip_node *back;
    cip_status st = cip_yaml_emit(env, root, opt, &out, NULL);
    require(is_fine(st));
    if (st == CIP_OK) {
        st = cip_yaml_parse(env, a, (cip_bytes){ out.ptr, out.len }, &read, &back, NULL);
        require(is_fine(st));
    }
    if (st == CIP_OK)
        require(cip_node_kind(back) == cip_node_kind(root) &&
                cip_node_len(back) <= cip_node_len(root)); /* tagged nulls may become one key */
    cip_buf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cip_limits limits = { .size = sizeof limits,
                                .max_memory = 64 << 20,
                                .max_tree_bytes = 1 << 20,
                                .max_nodes = 100000,
                                .max_depth = 64,
                                .max_work = 1 << 20,
                                .max_expansion = 100000 };
    const cip_yaml_options read = { .default_handle = "tag:d/" };
    const cip_yaml_write document = { .document = true, .handle_prefix = "tag:d/" };
    const cip_yaml_write bare = { .max_depth = 0 };
    cip_env env;
    const cip_node *root;
    size_t sum = 0;
    if (cip_env_init(&env, &limits, NULL, NULL, NULL) != CIP_OK)
        return 0;
    cip_arena a = { .mem = &env.mem };
    if (cip_yaml_parse(&env, &a, (cip_bytes){ data, size }, &read, &root, NULL) == CIP_OK) {
        cip_buf out = { .mem = &env.mem };
        require(is_fine(cip_tree_walk(root, &env, visit, &sum, NULL)));
        require(is_fine(cip_json_emit(&env, root, true, &out, NULL)));
        cip_buf_clear(&out);
        write_and_read(&env, &a, root, &document);
        write_and_read(&env, &a, root, &bare);
    }
    cip_arena_clear(&a);
    cip_env_clear(&env);
    require(env.mem.used == 0);
    return 0;
}
