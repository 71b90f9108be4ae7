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

typedef struct look {
    serve_call *c;
    const cip_file *file;
    bool found;
} look;

/* A cip_visit_fn: whether an array is below. */
static int look_for_array(void *user, const char *path, const cip_node *n, uint32_t depth)
{
    look *l = user;
    (void)path;
    (void)depth;
    l->found = cip_array_of_node(l->file, n) != NULL;
    return l->found || serve_is_over(l->c) ? -1 : 0;
}

/* The pairs of a mapping that hold no arrays, but for those of `not`, which ends with NULL. One
 * that is more than the limits allow is an error: without it the others would seem to be all. */
static void print_pairs(serve_call *c, const cip_file *file, const cip_node *map,
                        const char *const * not, const char **between)
{
    const cip_tree_print_options how = { .size = sizeof how, .json = true };
    const bool root = map == cip_file_tree(file);
    const size_t n = cip_node_kind(map) == CIP_NODE_MAP ? cip_node_len(map) : 0;
    for (size_t i = 0; i < n && !serve_is_over(c); i++) {
        const char *key = cip_node_text(cip_node_key(map, i), NULL);
        const cip_node *value = cip_node_at(map, i);
        cip_err err = CIP_ERR_INIT;
        look l = { c, file, false };
        bool skip = key == NULL || (root && cip_tree_is_own(file, key));
        for (const char *const *p = not ; !skip && *p != NULL; p++)
            skip = strcmp(key, *p) == 0;
        if (skip)
            continue;
        cip_status st = cip_tree_visit(file, value, look_for_array, &l, &err);
        if (l.found)
            continue;
        fputs(*between, c->out);
        print_json_string(c->out, key);
        fputs(": ", c->out);
        if (st == CIP_OK)
            st = cip_tree_print(file, value, &how, serve_write, c, &err);
        if (st != CIP_OK && !serve_is_over(c))
            serve_failed(c, &err);
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
