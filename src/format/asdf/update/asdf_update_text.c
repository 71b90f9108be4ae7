/* SPDX-License-Identifier: BSD-3-Clause
 * The tree's text changed by hand. Anything may change but what describes data: each ndarray of the
 * new tree that names a block must be described as one of the old tree is. It may have another
 * name, be there twice or be gone; its data stay. */
#include <string.h>

#include "format/asdf/asdf_store.h"

enum { DEPTH_MAX = 64 };

/* --- descriptions ----------------------------------------------------------------------------- */

static bool is_same(const cip_node *x, const cip_node *y, int depth)
{
    if (cip_node_kind(x) != cip_node_kind(y) || depth > DEPTH_MAX)
        return false;
    if (x == NULL || x == y)
        return true;
    if (x->len != y->len)
        return false;
    if (x->type < CIP_NODE_SEQ)
        return memcmp(x->text, y->text, x->len) == 0;
    for (size_t i = 0; i < x->len; i++)
        if ((x->type == CIP_NODE_MAP &&
             !is_same(cip_node_key(x, i), cip_node_key(y, i), depth + 1)) ||
            !is_same(cip_node_at(x, i), cip_node_at(y, i), depth + 1))
            return false;
    return true;
}

typedef struct comparison {
    cip_buf old;     /* of const cip_node *: the ndarrays that name a block */
    bool collecting; /* they are being gathered */
    cip_status st;
    cip_err *err;
} comparison;

static int visit_array(void *user, const cip_visit *v)
{
    static const char *const keys[] = { "source", "datatype", "byteorder",
                                        "shape",  "offset",   "strides" };
    enum { NKEY = sizeof keys / sizeof keys[0] };
    comparison *c = user;
    if (v->again || cip_asdf_source_of(v->node) == NULL)
        return 0;
    if (c->collecting) {
        c->st = cip_buf_add(&c->old, &v->node, sizeof v->node, c->err);
        return c->st == CIP_OK ? 1 : 2;
    }
    const cip_node *const *old = (const cip_node *const *)(const void *)c->old.ptr;
    for (size_t i = 0; i < c->old.len / sizeof *old; i++) {
        size_t k = 0;
        while (k < NKEY && is_same(cip_map_get(old[i], keys[k]), cip_map_get(v->node, keys[k]), 0))
            k++;
        if (k == NKEY)
            return 1;
    }
    c->st = cip_fail(c->err, CIP_ERR_ARG, CIP_NO_OFFSET,
                     "'%.100s' does not describe the data of an existing array; change arrays by "
                     "put, append and resize",
                     v->path);
    return 2;
}

static cip_status compare(asdf_state *u, const cip_node *old, const cip_node *new, cip_err *err)
{
    comparison c = { .old = { .mem = &u->env->mem }, .collecting = true, .err = err };
    cip_status st = cip_tree_walk_told(old, u->env, visit_array, &c, &c.st, err);
    c.collecting = false;
    if (st == CIP_OK)
        st = cip_tree_walk_told(new, u->env, visit_array, &c, &c.st, err);
    cip_buf_clear(&c.old);
    return st;
}

/* --- the text --------------------------------------------------------------------------------- */

cip_status cip_asdf_update_tree_now(void *state, const cip_node **root, cip_err *err)
{
    asdf_state *u = state;
    cip_yaml_edit *e;
    *root = u->l->tree;
    if (!u->tree_changed)
        return CIP_OK;
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    *root = cip_yaml_edit_root(e);
    return CIP_OK;
}

cip_status cip_asdf_update_get_text(void *state, cip_bytes *out, cip_err *err)
{
    asdf_state *u = state;
    cip_yaml_edit *e;
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    *out = cip_yaml_edit_text(e);
    return CIP_OK;
}

cip_status cip_asdf_update_set_text(void *state, cip_bytes text, cip_err *err)
{
    asdf_state *u = state;
    cip_arena a = { .mem = &u->env->mem };
    const cip_node *root;
    cip_yaml_edit *e;
    asdf_before before;
    cip_status st;
    size_t end = 0;
    bool touched = cip_asdf_update_any_changed(u);
    for (size_t i = 0; i < u->l->narray; i++)
        touched = touched || cip_asdf_update_now(u, u->l->array[i]) != u->l->array[i];
    if (touched)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the text of the tree cannot be set after data were changed");
    /* it has to start and to end as what a reader finds */
    if (!(text.len >= 5 && memcmp(text.ptr, "%YAML", 5) == 0) &&
        !(text.len >= 3 && memcmp(text.ptr, "---", 3) == 0))
        return cip_fail(err, CIP_ERR_CORRUPT, 0, "expected %%YAML at the start of the tree");
    if (cip_asdf_tree_end(text, 0, true, &end) != ASDF_END_MARKED || end != text.len)
        return cip_fail(err, CIP_ERR_CORRUPT, end,
                        "expected a line '...' at the end of the tree, and nothing after it");
    CIP_GO(cip_asdf_update_save(u, true, &before, err));
    CIP_GO(cip_asdf_update_tree(u, &e, err));
    CIP_GO(cip_yaml_parse(u->env, &a, text, &cip_asdf_tree_options, &root, err));
    CIP_GO(compare(u, cip_yaml_edit_root(e), root, err));
    const bool twice = cip_yaml_edit_anchor_twice(e) != NULL;
    CIP_GO(cip_asdf_update_text(u, text, err));
    const char *anchor = cip_yaml_edit_anchor_twice(u->tree);
    if (anchor != NULL && !twice)
        st = cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                      "expected an anchor for one node, found &%.80s twice", anchor);
done:
    cip_arena_clear(&a);
    return cip_asdf_update_end_of(u, &before, st, err);
}
