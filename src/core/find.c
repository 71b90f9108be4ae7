/* SPDX-License-Identifier: BSD-3-Clause
 * Finding arrays and nodes by patterns of paths and tags; quantities by their arrays, and the
 * reverse. */
#include <string.h>

#include "core/handle.h"
#include "tree/value.h"

/* --- patterns --------------------------------------------------------------------------------- */

/* A place in the pattern behind a star, and how far in the text the star reaches. */
typedef struct star {
    const char *pattern, *text;
    bool steps; /* it is whole steps, each with its slash */
} star;

/* Whether the star can take more of the text; *p and *s are then behind it. */
static bool take_more(star *x, bool deep, const char **p, const char **s)
{
    if (x->pattern == NULL || x->text[0] == '\0' || (!deep && x->text[0] == '/'))
        return false;
    const char *slash = x->steps ? strchr(x->text, '/') : x->text;
    if (slash == NULL)
        return false;
    *s = x->text = slash + 1;
    *p = x->pattern;
    return true;
}

/* The last star of each kind is enough to go back to: what one before it would take, it takes. */
static bool fits(const char *pattern, const char *text)
{
    star wide = { NULL, NULL, false }, deep = wide;
    const char *p = pattern, *s = text;
    while (*p != '\0' || *s != '\0') {
        if (p[0] == '*' && p[1] == '*') {
            const bool steps = p[2] == '/' && (p == pattern || p[-1] == '/');
            p += steps ? 3 : 2;
            deep = (star){ p, s, steps };
            wide.pattern = NULL;
        } else if (p[0] == '*') {
            wide = (star){ ++p, s, false };
        } else if (*p == *s) { /* neither is at its end */
            p++;
            s++;
        } else if (!take_more(&wide, false, &p, &s)) {
            wide.pattern = NULL;
            if (!take_more(&deep, true, &p, &s))
                return false;
        }
    }
    return true;
}

static bool fits_or_any(const char *pattern, const char *text)
{
    return pattern == NULL || (text != NULL && fits(pattern, text));
}

bool cip_path_fits_above(const char *pattern, const char *path)
{
    char start[1024];
    if (fits(pattern, path))
        return true;
    for (const char *p = path; (p = strchr(p, '/')) != NULL; p++) {
        const size_t n = (size_t)(p - path);
        if (n >= sizeof start)
            return false;
        memcpy(start, path, n);
        start[n] = '\0';
        if (fits(pattern, start))
            return true;
    }
    return false;
}

/* --- quantities ------------------------------------------------------------------------------- */

static const char value_step[] = "/value";

/* A value with its unit: its array is listed by the quantity's own path too. */
static const cip_node *value_of_quantity(const cip_node *n)
{
    if (cip_node_kind(n) != CIP_NODE_MAP || cip_map_get(n, "unit") == NULL)
        return NULL;
    return cip_map_get(n, value_step + 1);
}

/* The array that is listed by the path of the quantity whose value this one is, or NULL. */
static const cip_array *quantity_of(const cip_file *f, const cip_array *a)
{
    const size_t n = strlen(a->path), step = sizeof value_step - 1;
    return n > step && strcmp(a->path + n - step, value_step) == 0
               ? cip_file_array_at(f, a->path, n - step)
               : NULL;
}

const cip_array *cip_array_of_node(const cip_file *f, const cip_node *node)
{
    if (f == NULL || node == NULL)
        return NULL;
    const cip_array *a = cip_file_array_of_node(f, node);
    if (a != NULL)
        return a;
    a = cip_file_array_of_node(f, value_of_quantity(node));
    const cip_array *whole = a != NULL ? quantity_of(f, a) : NULL;
    return whole != NULL ? whole : a;
}

const cip_node *cip_array_parent(const cip_file *f, const cip_array *a)
{
    const cip_node *parent, *at = cip_tree_get_in(cip_file_tree(f), cip_array_path(a), &parent);
    return value_of_quantity(at) != NULL && at != cip_array_node(a) ? at : parent;
}

/* --- finding ---------------------------------------------------------------------------------- */

const cip_array *cip_file_next_array(const cip_file *f, const char *pattern, size_t *at)
{
    if (at == NULL)
        return NULL;
    while (*at < cip_file_narray(f)) {
        const cip_array *a = f->layout->array[(*at)++];
        if (fits_or_any(pattern, a->path) && quantity_of(f, a) == NULL)
            return a;
    }
    return NULL;
}

typedef struct finder {
    const char *path, *tag;
    cip_visit_fn *fn;
    void *user;
} finder;

static int tell_if_it_fits(void *user, const char *path, const cip_node *node, uint32_t depth)
{
    const finder *x = user;
    if (!fits_or_any(x->path, path) || !fits_or_any(x->tag, cip_node_tag(node)))
        return 0;
    return x->fn(x->user, path, node, depth);
}

cip_status cip_tree_find(const cip_file *f, const char *path, const char *tag, cip_visit_fn *fn,
                         void *user, cip_err *err)
{
    finder x = { path, tag, fn, user };
    return cip_tree_visit(f, NULL, fn != NULL ? tell_if_it_fits : NULL, &x, err);
}
