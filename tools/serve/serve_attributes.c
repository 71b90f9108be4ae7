/* SPDX-License-Identifier: BSD-3-Clause
 * What a tree holds beside its arrays: attributes. */
#include <string.h>

#include "../print.h"
#include "serve.h"

enum { MOST_NAME = 1024 };

/* HDF5 and Zarr files have attributes and names of axes of arrays in mappings beside them. */
static bool has_names(const cip_file *file)
{
    const char *format = cip_file_format(file);
    return strcmp(format, "hdf5") == 0 || strcmp(format, "zarr") == 0;
}

/* What the mapping `which` beside the array has of it, or NULL. */
static const cip_node *beside(const cip_file *file, const cip_array *a, const char *which)
{
    const char *path = cip_array_path(a), *slash = strrchr(path, '/');
    char text[2 * MOST_NAME];
    if (!has_names(file) || strlen(path) >= MOST_NAME)
        return NULL;
    const int above = slash != NULL ? (int)(slash - path) + 1 : 0;
    snprintf(text, sizeof text, "%.*s%s/%s", above, path, which, path + above);
    return cip_tree_get(cip_file_tree(file), text, NULL);
}

const cip_node *serve_axes(const cip_file *file, const cip_array *a)
{
    return beside(file, a, "dims");
}

/* A cip_visit_fn: whether an array is below. */
static int look_for_array(void *user, const char *path, const cip_node *n, uint32_t depth)
{
    const cip_file *file = user;
    (void)path;
    (void)depth;
    return cip_array_of_node(file, n) != NULL ? -1 : 0;
}

static bool has_array(const cip_file *file, const cip_node *n)
{
    return cip_tree_visit(file, n, look_for_array, (void *)(uintptr_t)file, NULL) != CIP_OK;
}

/* The pairs of a mapping that hold no arrays, but for those of `not`, which ends with NULL. */
static void print_pairs(serve_call *c, const cip_file *file, const cip_node *map,
                        const char *const * not, const char **between)
{
    const cip_tree_print_options how = { .size = sizeof how, .json = true };
    const bool root = map == cip_file_tree(file);
    for (size_t i = 0; cip_node_kind(map) == CIP_NODE_MAP && i < cip_node_len(map); i++) {
        const char *key = cip_node_text(cip_node_key(map, i), NULL);
        const cip_node *value = cip_node_at(map, i);
        cip_err err = CIP_ERR_INIT;
        bool skip = key == NULL || (root && cip_tree_is_own(file, key)) || has_array(file, value);
        for (const char *const *p = not ; !skip && *p != NULL; p++)
            skip = strcmp(key, *p) == 0;
        if (skip)
            continue;
        fputs(*between, c->out);
        print_json_string(c->out, key);
        fputs(": ", c->out);
        if (cip_tree_print(file, value, &how, serve_write, c, &err) != CIP_OK)
            fputs("null", c->out); /* more than limits allow */
        *between = ", ";
    }
}

void serve_attributes(serve_call *c, const cip_file *file, const cip_node *map,
                      const char **between)
{
    static const char *const names[] = { "dims", "attrs", NULL }, *const none[] = { NULL };
    print_pairs(c, file, map, has_names(file) ? names : none, between);
}

void serve_attributes_of_array(serve_call *c, const cip_file *file, const cip_array *a)
{
    static const char *const none[] = { NULL };
    const char *between = "";
    print_pairs(c, file, beside(file, a, "attrs"), none, &between);
}
