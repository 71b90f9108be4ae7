/* SPDX-License-Identifier: BSD-3-Clause
 * Values as YAML text by themselves: read from what a user writes, written on one line. */
#include <string.h>

#include "tree/edit.h"

cip_status cip_yaml_value(cip_env *env, cip_arena *a, const char *text, const char *prefix,
                          const cip_node **out, cip_err *err)
{
    const cip_yaml_options opt = { .default_handle = prefix, .part = "value", .quiet = true };
    return cip_yaml_parse(env, a, (cip_bytes){ (const uint8_t *)text, strlen(text) }, &opt, out,
                          err);
}

cip_status cip_yaml_emit_line(cip_env *env, const cip_node *value, const char *prefix, bool flow,
                              cip_buf *out, cip_err *err)
{
    const cip_yaml_write opt = { .handle_prefix = prefix, .line = true, .flow = flow };
    return cip_yaml_emit(env, value, &opt, out, err);
}
