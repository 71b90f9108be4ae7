/* SPDX-License-Identifier: BSD-3-Clause
 * Values that callers set in a tree, of a new file or of one that changes. */
#include "core/writing/given.h"

#include <string.h>

#include "base/strmap.h"
#include "core/reading/lacks.h"
#include "tree/edit.h"
#include "tree/node.h"
#include "tree/utf8.h"

/* --- copies ----------------------------------------------------------------------------------- */

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
    if (from->type == CIP_NODE_SEQ) {
        CIP_TRY(cip_node_new_seq(c->a, from->len, &n, err));
    } else if (from->type == CIP_NODE_MAP) {
        CIP_TRY(cip_node_new_map(c->a, from->len, &n, err));
    } else {
        char *text;
        CIP_TRY(CIP_ARENA_NEW(c->a, &n, 1, err));
        CIP_TRY(cip_arena_copy(c->a, from->text, from->len, &text, err));
        *n = *from;
        n->text = text;
    }
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

static cip_status copy(cip_env *env, cip_arena *a, const cip_node *node, const cip_node **out,
                       cip_err *err)
{
    copier c = { .a = a, .seen = { .mem = &env->mem }, .most = env->limits.max_depth };
    cip_status st = copy_node(&c, node, 0, out, err);
    cip_strmap_clear(&c.seen);
    cip_mem_put(a->mem, c.copy);
    return st;
}

/* --- a node of another file ------------------------------------------------------------------- */

/* Looks for an array whose data lie elsewhere, as its description would name other data here, and
 * for what nodes lack. */
typedef struct looking {
    const cip_file *file;
    const cip_maker *m;
    const cip_array *found;
    cip_status st;
    cip_err *err;
} looking;

static cip_status check_lack(looking *l, const cip_node *n)
{
    return cip_lack_check(&l->file->env, CIP_LACKS_NODE, n, l->m->accept_loss, l->m->notes, l->err);
}

static int look(void *user, const cip_visit *v)
{
    looking *l = user;
    l->st = check_lack(l, v->node);
    if (l->st == CIP_OK && v->depth == 0 && v->node == l->file->layout->tree)
        l->st = check_lack(l, NULL); /* the tree as a whole */
    if (l->st != CIP_OK)
        return 2;
    const cip_array *a = cip_file_array_of_node(l->file, v->node);
    if (a == NULL)
        return v->again;
    l->found = a->storage.kind != CIP_STORAGE_INLINE ? a : NULL;
    return l->found != NULL ? 2 : 1;
}

static cip_status take_node(const cip_given *g, const cip_maker *m, const cip_node **out,
                            cip_err *err)
{
    looking l = { .file = g->file, .m = m, .err = err };
    if (g->node == NULL)
        return cip_fail_null(err, "a node");
    if (g->file == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected the node's file, found NULL");
    CIP_TRY(cip_file_has_bytes(g->file, err));
    cip_status st = cip_tree_walk(g->node, m->env, look, &l, err);
    if (l.found != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the array '%.120s' is not copied with its node; put it separately",
                        l.found->path);
    CIP_TRY(l.st);
    CIP_TRY(st);
    CIP_TRY(cip_lacks_prune(&g->file->env, m->arena, g->node, out, err));
    return copy(m->env, m->arena, *out, out, err);
}

/* --- any value -------------------------------------------------------------------------------- */

static cip_status take_text(const cip_given *g, const cip_maker *m, const cip_node **out,
                            cip_err *err)
{
    cip_node *n;
    if (g->text == NULL)
        return cip_fail_null(err, "a text");
    if (!cip_utf8_is(g->text, strlen(g->text)))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a text in UTF-8");
    if (g->what == CIP_GIVEN_YAML)
        return cip_yaml_value(m->env, m->arena, g->text, m->prefix, out, err);
    if (g->what == CIP_GIVEN_TYPED)
        return cip_yaml_typed(m->env, m->arena, g->text, m->prefix, m->notes, out, err);
    CIP_TRY(cip_node_new_string(m->arena, g->text, strlen(g->text), &n, err));
    *out = n;
    return CIP_OK;
}

cip_status cip_given_make(const cip_given *g, const cip_maker *m, const cip_node **out,
                          cip_err *err)
{
    cip_node *n = NULL;
    switch (g->what) {
    case CIP_GIVEN_NULL:
        CIP_TRY(cip_node_new_null(m->arena, &n, err));
        break;
    case CIP_GIVEN_BOOL:
        CIP_TRY(cip_node_new_bool(m->arena, g->truth, &n, err));
        break;
    case CIP_GIVEN_INT:
        CIP_TRY(cip_node_new_int(m->arena, g->i, &n, err));
        break;
    case CIP_GIVEN_UINT:
        CIP_TRY(cip_node_new_uint(m->arena, g->u, &n, err));
        break;
    case CIP_GIVEN_DOUBLE:
        CIP_TRY(cip_node_new_double(m->arena, g->d, &n, err));
        break;
    case CIP_GIVEN_NODE:
        return take_node(g, m, out, err);
    default:
        return take_text(g, m, out, err);
    }
    *out = n;
    return CIP_OK;
}
