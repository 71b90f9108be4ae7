/* SPDX-License-Identifier: BSD-3-Clause
 * Edits of YAML text. Input: a line with a path, a line with a value (none: remove), the text; the
 * value is also taken for the path that what the first one names moves to. What is done must be
 * found by its path, what is refused must leave the text as it was, and a second edit must still be
 * possible. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tree/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* The next line as a string, cut off from the input. */
static char *take_line(const uint8_t **data, size_t *size)
{
    const uint8_t *end = *size != 0 ? memchr(*data, '\n', *size) : NULL;
    const size_t n = end != NULL ? (size_t)(end - *data) : *size;
    char *line = calloc(1, n + 1);
    require(line != NULL);
    if (n != 0)
        memcpy(line, *data, n);
    *data += n + (end != NULL);
    *size -= n + (end != NULL);
    return line;
}

static void edit(cip_env *env, cip_arena *a, cip_bytes text, const char *path, const char *line)
{
    const cip_yaml_options opt = { .default_handle = "tag:d/", .quiet = true };
    const cip_node *value = NULL;
    cip_yaml_edit *e;
    if (cip_yaml_edit_new(env, text, &opt, &e, NULL) != CIP_OK)
        return;
    if (*line != '\0' && cip_yaml_value(env, a, line, "tag:d/", &value, NULL) != CIP_OK)
        value = NULL;
    for (int i = 0; i < 2; i++) {
        cip_bytes before = cip_yaml_edit_text(e), after;
        char *copy;
        require(cip_arena_copy(a, before.ptr != NULL ? (const void *)before.ptr : "", before.len,
                               &copy, NULL) == CIP_OK);
        cip_status st = value != NULL ? cip_yaml_edit_set(e, path, value, NULL)
                                      : cip_yaml_edit_remove(e, path, NULL);
        after = cip_yaml_edit_text(e);
        if (st != CIP_OK)
            require(after.len == before.len &&
                    (after.len == 0 || memcmp(after.ptr, copy, after.len) == 0));
        else if (value != NULL && strstr(path, "-") == NULL)
            require(cip_node_kind(cip_yaml_edit_get(e, path, NULL)) == cip_node_kind(value));
    }
    cip_yaml_edit_free(e);
}

static void move(cip_env *env, cip_bytes text, const char *from, const char *to)
{
    const cip_yaml_options opt = { .default_handle = "tag:d/", .quiet = true };
    cip_yaml_edit *e;
    for (int i = 0; i < 2; i++) {
        if (cip_yaml_edit_new(env, text, &opt, &e, NULL) != CIP_OK)
            return;
        const cip_node *node = cip_yaml_edit_get(e, from, NULL);
        const cip_node_type kind = cip_node_kind(node);
        cip_status st = cip_yaml_edit_move(e, from, to, i != 0, NULL);
        const cip_bytes after = cip_yaml_edit_text(e);
        if (st != CIP_OK)
            require(after.len == text.len &&
                    (after.len == 0 || memcmp(after.ptr, text.ptr, after.len) == 0));
        else if (strpbrk(to, "-0123456789") == NULL) /* items behind it have other numbers now */
            require(cip_node_kind(cip_yaml_edit_get(e, to, NULL)) == kind);
        cip_yaml_edit_free(e);
    }
}

/* The same sets at once and queued: the same text, unless one of them is refused. */
static void edit_later(cip_env *env, cip_arena *a, cip_bytes text, const char *path,
                       const char *line)
{
    static const char *const paths[] = { "a/-", "q", NULL, "q/r", "a/b", NULL };
    const cip_yaml_options opt = { .default_handle = "tag:d/", .quiet = true };
    const cip_node *value = NULL;
    cip_yaml_edit *now, *later;
    if (*line == '\0' || cip_yaml_value(env, a, line, "tag:d/", &value, NULL) != CIP_OK)
        return;
    if (cip_yaml_edit_new(env, text, &opt, &now, NULL) != CIP_OK)
        return;
    cip_status st = cip_yaml_edit_new(env, text, &opt, &later, NULL), then = st;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && st == CIP_OK && then == CIP_OK; i++) {
        const char *p = paths[i] != NULL ? paths[i] : path;
        st = cip_yaml_edit_set(now, p, value, NULL);
        then = cip_yaml_edit_queue(later, p, value, NULL);
    }
    if (then == CIP_OK)
        then = cip_yaml_edit_flush(later, NULL);
    const cip_bytes x = cip_yaml_edit_text(now), y = later != NULL ? cip_yaml_edit_text(later) : x;
    require(st == then || st == CIP_ERR_LIMIT || then == CIP_ERR_LIMIT || then == CIP_ERR_NOMEM);
    if (st == CIP_OK && then == CIP_OK)
        require(x.len == y.len && memcmp(x.ptr, y.ptr, x.len) == 0);
    cip_yaml_edit_free(now);
    cip_yaml_edit_free(later);
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
    cip_env env;
    if (cip_env_init(&env, &limits, NULL, NULL, NULL) != CIP_OK)
        return 0;
    cip_arena a = { .mem = &env.mem };
    char *path = take_line(&data, &size), *value = take_line(&data, &size);
    edit(&env, &a, (cip_bytes){ data, size }, path, value);
    move(&env, (cip_bytes){ data, size }, path, value);
    edit_later(&env, &a, (cip_bytes){ data, size }, path, value);
    free(path);
    free(value);
    cip_arena_clear(&a);
    cip_env_clear(&env);
    require(env.mem.used == 0);
    return 0;
}
