/* SPDX-License-Identifier: BSD-3-Clause
 * The tree of a file being written: values set by path. */
#include <string.h>

#include "base/strmap.h"
#include "core/writing/writer.h"
#include "tree/utf8.h"

/* --- copies -------------------------------------------------------------------------------------
 */

typedef struct copier {
    cip_arena *a;
    cip_strmap seen; /* a node's address -> its number; keys are in the arena */
    const cip_node **copy;
    size_t n, cap;
    uint32_t most; /* depth */
} copier;

static cip_status note(copier *c, const cip_node *from, const cip_node *to, cip_err *err)
{
    const cip_node **key;
    if (c->n == c->cap) {
        size_t cap = c->cap == 0 ? 64 : 2 * c->cap;
        CIP_TRY(cip_mem_resize(c->a->mem, (void **)&c->copy, cap * sizeof(cip_node *), err));
        c->cap = cap;
    }
    CIP_TRY(CIP_ARENA_NEW(c->a, &key, 1, err));
    *key = from;
    c->copy[c->n] = to;
    return cip_strmap_put(&c->seen, (cip_bytes){ (const uint8_t *)key, sizeof from }, c->n++, NULL,
                          err);
}

static cip_status copy_text(cip_arena *a, const char **text, cip_err *err)
{
    char *copy;
    if (*text == NULL)
        return CIP_OK;
    CIP_TRY(cip_arena_copy(a, *text, strlen(*text), &copy, err));
    *text = copy;
    return CIP_OK;
}

static cip_status copy_node(copier *c, const cip_node *from, uint32_t depth, const cip_node **out,
                            cip_err *err);

static cip_status copy_children(copier *c, const cip_node *from, cip_node *to, uint32_t depth,
                                cip_err *err)
{
    const cip_node *key, *value;
    for (size_t i = 0; i < from->len; i++) {
        if (from->type == CIP_NODE_SEQ) {
            CIP_TRY(copy_node(c, from->item[i], depth, &value, err));
            cip_node_set_item(to, i, value);
            continue;
        }
        CIP_TRY(copy_node(c, from->pair[i].key, depth, &key, err));
        CIP_TRY(copy_node(c, from->pair[i].value, depth, &value, err));
        cip_node_set_pair(to, i, key, value);
    }
    return CIP_OK;
}

static cip_status copy_scalar(copier *c, const cip_node *from, cip_node **out, cip_err *err)
{
    char *text;
    CIP_TRY(CIP_ARENA_NEW(c->a, out, 1, err));
    CIP_TRY(cip_arena_copy(c->a, from->text, from->len, &text, err));
    **out = *from;
    (*out)->text = text;
    return CIP_OK;
}

/* Nodes that are named more than once, also from within themselves, stay one. */
static cip_status copy_node(copier *c, const cip_node *from, uint32_t depth, const cip_node **out,
                            cip_err *err)
{
    cip_node *n;
    size_t seen = cip_strmap_get(&c->seen, (cip_bytes){ (const uint8_t *)&from, sizeof from });
    if (seen != SIZE_MAX) {
        *out = c->copy[seen];
        return CIP_OK;
    }
    if (depth > c->most)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a tree of over %" PRIu32 " levels",
                        c->most);
    if (from->type == CIP_NODE_SEQ)
        CIP_TRY(cip_node_new_seq(c->a, from->len, &n, err));
    else if (from->type == CIP_NODE_MAP)
        CIP_TRY(cip_node_new_map(c->a, from->len, &n, err));
    else
        CIP_TRY(copy_scalar(c, from, &n, err));
    n->style = from->style;
    n->alias_used = from->alias_used;
    n->tag = from->tag;
    n->anchor = from->anchor;
    n->offset = n->end = CIP_NO_OFFSET;
    CIP_TRY(copy_text(c->a, &n->tag, err));
    CIP_TRY(copy_text(c->a, &n->anchor, err));
    CIP_TRY(note(c, from, n, err));
    if (from->type == CIP_NODE_SEQ || from->type == CIP_NODE_MAP)
        CIP_TRY(copy_children(c, from, n, depth + 1, err));
    *out = n;
    return CIP_OK;
}

cip_status cip_node_copy(cip_env *env, cip_arena *a, const cip_node *node, const cip_node **out,
                         cip_err *err)
{
    copier c = { .a = a, .seen = { .mem = &env->mem }, .most = env->limits.max_depth };
    cip_status st = copy_node(&c, node, 0, out, err);
    cip_strmap_clear(&c.seen);
    cip_mem_put(a->mem, c.copy);
    return st;
}

/* --- setting ------------------------------------------------------------------------------------
 */

static cip_status set(cip_writer *w, const char *path, cip_status st, const cip_node *n,
                      cip_err *err)
{
    CIP_TRY(st); /* of making the node */
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    if (cip_writer_has_names(w)) /* elsewhere an array has no place in the tree */
        CIP_TRY(cip_writer_no_array(w, path, err));
    return cip_build_set(&w->tree, path, n, err);
}

static bool is_utf8(const char *text)
{
    uint32_t cp;
    size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        unsigned len = cip_utf8_get((const uint8_t *)text + i, n - i, &cp);
        if (len == 0)
            return false;
        i += len;
    }
    return true;
}

static cip_status new_string(cip_writer *w, const char *text, cip_node **n, cip_err *err)
{
    if (text == NULL || !is_utf8(text))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a text in UTF-8");
    return cip_node_new_string(&w->arena, text, strlen(text), n, err);
}

static cip_status new_yaml(cip_writer *w, const char *text, const cip_node **n, cip_err *err)
{
    if (text == NULL)
        return cip_fail_null(err, "a value as YAML");
    return cip_yaml_value(&w->env, &w->arena, text, w->format->tag_prefix, n, err);
}

static cip_status new_copy(cip_writer *w, const cip_node *node, const cip_node **n, cip_err *err)
{
    if (node == NULL)
        return cip_fail_null(err, "a node");
    return cip_node_copy(&w->env, &w->arena, node, n, err);
}

/* Every one of them makes its node, then sets it. `arg` NULL passes on what is in err. */
#define SET(type, arg, make)                                                                       \
    do {                                                                                           \
        type *n = NULL;                                                                            \
        cip_err e = cip_err_of(arg, err);                                                          \
        CIP_TRY(cip_writer_enter(w, err));                                                         \
        cip_status st = (make);                                                                    \
        return cip_writer_leave(w, set(w, path, st, n, &e), &e, err);                              \
    } while (0)

cip_status cip_set_string(cip_writer *w, const char *path, const char *text, cip_err *err)
{
    SET(cip_node, text, new_string(w, text, &n, &e));
}

cip_status cip_set_int(cip_writer *w, const char *path, int64_t value, cip_err *err)
{
    SET(cip_node, w, cip_node_new_int(&w->arena, value, &n, &e));
}

cip_status cip_set_uint(cip_writer *w, const char *path, uint64_t value, cip_err *err)
{
    SET(cip_node, w, cip_node_new_uint(&w->arena, value, &n, &e));
}

cip_status cip_set_double(cip_writer *w, const char *path, double value, cip_err *err)
{
    SET(cip_node, w, cip_node_new_double(&w->arena, value, &n, &e));
}

cip_status cip_set_bool(cip_writer *w, const char *path, bool value, cip_err *err)
{
    SET(cip_node, w, cip_node_new_bool(&w->arena, value, &n, &e));
}

cip_status cip_set_null(cip_writer *w, const char *path, cip_err *err)
{
    SET(cip_node, w, cip_node_new_null(&w->arena, &n, &e));
}

cip_status cip_set_yaml(cip_writer *w, const char *path, const char *text, cip_err *err)
{
    SET(const cip_node, text, new_yaml(w, text, &n, &e));
}

cip_status cip_set_node(cip_writer *w, const char *path, const cip_node *node, cip_err *err)
{
    SET(const cip_node, node, new_copy(w, node, &n, &e));
}
