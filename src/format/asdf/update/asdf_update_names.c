/* SPDX-License-Identifier: BSD-3-Clause
 * Names within an update: which arrays name a block, what blocks are called, and which arrays are
 * no longer what they were when the file was opened. */
#include <string.h>

#include "base/strmap.h"
#include "format/asdf/asdf_store.h"
#include "tree/node.h"

/* Sources that count from the end mean the blocks of the file, whatever the update has added. */
cip_status cip_asdf_update_users(asdf_state *u, const size_t **n, cip_err *err)
{
    cip_yaml_edit *e;
    size_t *count;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &count, u->n, err));
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    CIP_TRY(cip_asdf_count_names(u->env, cip_yaml_edit_root(e), u->f->blocks.n, count, u->n, err));
    *n = count;
    return CIP_OK;
}

cip_status cip_asdf_update_renumber(asdf_state *u, const int64_t *to, size_t n, bool *changed,
                                    cip_err *err)
{
    cip_yaml_edit *e;
    cip_buf text = { .mem = &u->env->mem };
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    cip_bytes was = cip_yaml_edit_text(e);
    cip_status st = cip_asdf_renumber(u->env, was, to, n, &text, err);
    const bool other =
        st == CIP_OK && (text.len != was.len || memcmp(text.ptr, was.ptr, was.len) != 0);
    if (changed != NULL)
        *changed = other;
    if (other)
        st = cip_asdf_update_text(u, (cip_bytes){ text.ptr, text.len }, err);
    cip_buf_clear(&text);
    return st;
}

/* --- references ------------------------------------------------------------------------------- */

typedef struct referring {
    const asdf_state *u;
    const cip_node *root;
    cip_strmap lost; /* references that lead nowhere in the tree as it was */
    bool old;        /* these are being gathered */
    bool round;      /* the last one leads to itself */
    cip_status st;
    cip_err *err;
} referring;

enum { HOPS = 64 }; /* more than a chain of references that is none in a circle has */

/* Where the reference leads, through others: *out NULL where there is nothing, or it leads to
 * itself; `here` false: out of this tree. */
static cip_status follow(referring *x, const char *ref, bool *here, const cip_node **out)
{
    x->round = false;
    for (int i = 0; i < HOPS; i++) {
        CIP_TRY(cip_asdf_ref_here(x->u->f, x->root, ref, here, out, x->err));
        ref = *here && *out != NULL ? cip_asdf_ref_of(*out) : NULL;
        if (ref == NULL)
            return CIP_OK;
    }
    *out = NULL;
    x->round = true;
    return CIP_OK;
}

static int visit_ref(void *user, const cip_visit *v)
{
    referring *x = user;
    const char *ref = v->again ? NULL : cip_asdf_ref_of(v->node);
    const cip_node *found;
    bool here;
    if (ref == NULL)
        return v->again;
    x->st = follow(x, ref, &here, &found);
    if (x->st != CIP_OK || !here || found != NULL)
        return x->st == CIP_OK ? 0 : 2;
    const cip_bytes name = { (const uint8_t *)ref, strlen(ref) };
    if (x->old)
        x->st = cip_strmap_put(&x->lost, name, 1, NULL, x->err);
    else if (cip_strmap_get(&x->lost, name) == SIZE_MAX)
        x->st = cip_fail_in(
            x->err,
            cip_fail(x->err, CIP_ERR_ARG, CIP_NO_OFFSET,
                     "expected a node for the reference '%.100s', found %s after this change", ref,
                     x->round ? "references in a circle" : "none"),
            "%s", v->path);
    return x->st == CIP_OK ? 0 : 2;
}

cip_status cip_asdf_update_check_refs(asdf_state *u, cip_err *err)
{
    if (u->tree == NULL || !u->tree_changed)
        return CIP_OK;
    CIP_TRY(cip_yaml_edit_flush(u->tree, err));
    const cip_node *const tree[] = { u->l->tree, cip_yaml_edit_root(u->tree) };
    referring x = { .u = u, .lost = { .mem = &u->env->mem }, .err = err };
    cip_status st = CIP_OK;
    for (size_t i = 0; st == CIP_OK && i < 2; i++) {
        x.root = tree[i];
        x.old = i == 0;
        st = cip_tree_walk_told(x.root, u->env, visit_ref, &x, &x.st, err);
    }
    cip_strmap_clear(&x.lost);
    return st;
}

static cip_status note_gone(asdf_state *u, const char *path, cip_err *err)
{
    asdf_gone *x;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &x, 1, err));
    *x = (asdf_gone){ u->gone, path };
    u->gone = x;
    return CIP_OK;
}

/* As the caller spelled it, and without quotes: arrays are listed in either. */
cip_status cip_asdf_update_went(asdf_state *u, const char *path, cip_err *err)
{
    char *copy, *plain;
    path += *path == '/';
    const cip_node *was = cip_tree_get(u->l->tree, path, NULL);
    if (u->came == NULL && cip_node_kind(was) != CIP_NODE_MAP && cip_node_kind(was) != CIP_NODE_SEQ)
        return CIP_OK;
    CIP_TRY(cip_arena_copy(u->arena, path, strlen(path), &copy, err));
    CIP_TRY(cip_path_plain(u->env, u->arena, path, &plain, err));
    CIP_TRY(note_gone(u, copy, err));
    return strcmp(copy, plain) != 0 ? note_gone(u, plain, err) : CIP_OK;
}

cip_status cip_asdf_update_path(asdf_state *u, const cip_array *a, const char **out, cip_err *err)
{
    *out = a->path;
    if (u->tree == NULL || !u->tree_changed)
        return CIP_OK;
    const asdf_came *came = u->came;
    while (came != NULL && came->array->node != a->node)
        came = came->next;
    const asdf_gone *before = came != NULL ? came->gone : NULL;
    if (u->moved)
        CIP_TRY(u->path_now(u->now_user, a, u->arena, out, err));
    else /* whether what was at the array's path when it was opened, or came, went since */
        for (const asdf_gone *x = u->gone; x != before && *out != NULL; x = x->next)
            if (cip_path_within(a->path, x->path))
                *out = NULL;
    const cip_node *n = NULL;
    if (*out != NULL)
        CIP_TRY(cip_yaml_edit_peek(u->tree, *out, &n, err));
    if (cip_node_kind(n) != cip_node_kind(a->node) || !cip_asdf_is_ndarray(n->tag, NULL))
        *out = NULL;
    return CIP_OK;
}
