/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of inline arrays: their elements are changed as those of blocks are, and written into the
 * tree as nested lists at the end. */
#include "format/asdf/update/asdf_update.h"

#include <string.h>

#include "base/num.h"

struct asdf_uinline {
    const cip_array *a;
    cip_changes data; /* anew, packed in C order */
    int64_t shape[CIP_MAX_NDIM];
    bool reshaped;
    asdf_uinline *next;
};

static bool is_changed(const asdf_uinline *x)
{
    return x->reshaped || x->data.made != 0;
}

static cip_status count_bytes(const cip_array *a, const int64_t *shape, size_t *n, cip_err *err)
{
    uint64_t nelem, nbytes;
    if (!cip_shape_nelem(a->view.ndim, shape, &nelem) ||
        cip_mul_overflow(nelem, a->dtype->itemsize, &nbytes) || !cip_to_size(nbytes, n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "inline data of over 2^63 bytes");
    return CIP_OK;
}

/* A tree_walk callback: stops at a null. */
static int is_null(void *user, const cip_visit *v)
{
    (void)user;
    return v->node->type == CIP_NODE_NULL ? 2 : v->again;
}

/* The elements in memory do not tell a null from a value: writing the lists again would give it
 * one. Looked for in the lists themselves, whatever mask there is beside them. */
static cip_status check_no_nulls(asdf_update *u, const cip_array *a, cip_err *err)
{
    const bool bare = cip_node_kind(a->node) == CIP_NODE_SEQ;
    cip_err why = CIP_ERR_INIT;
    cip_status st =
        cip_tree_walk(bare ? a->node : cip_map_get(a->node, "data"), u->env, is_null, NULL, &why);
    if (st == CIP_ERR_CANCELLED)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected inline data without nulls, found a null; change them in the tree "
                        "(set the whole array, edit)");
    return st == CIP_OK ? CIP_OK : cip_fail(err, st, CIP_NO_OFFSET, "%s", why.text);
}

/* Whether two names are of one array: a mapping that an alias names too has its data once. A list
 * is replaced as a whole, under its own name. */
static bool is_one(const cip_array *a, const cip_array *b)
{
    return a == b || (a->node == b->node && cip_node_kind(a->node) == CIP_NODE_MAP);
}

/* The elements as they are now. */
static cip_status present(asdf_update *u, const cip_array *a, asdf_uinline **out, cip_err *err)
{
    const cip_block all = { .stored = a->space, .data = a->space };
    cip_changes from;
    cip_nd to;
    for (*out = u->inlines; *out != NULL; *out = (*out)->next)
        if (is_one((*out)->a, a))
            return CIP_OK;
    CIP_TRY(check_no_nulls(u, a, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, out, 1, err));
    (*out)->a = a;
    memcpy((*out)->shape, a->view.shape, sizeof a->view.shape);
    CIP_TRY(cip_view_c_order(a->view.ndim, a->view.shape, a->view.itemsize, &to, err));
    cip_changes_begin(&from, u->l, &all, false, &u->amount);
    CIP_TRY(cip_changes_copy(&from, &a->view, &to, &(*out)->data, err));
    (*out)->next = u->inlines;
    u->inlines = *out;
    return CIP_OK;
}

cip_status cip_asdf_inline_form(asdf_update *u, const cip_array *a, cip_change_kind kind,
                                cip_change_form *out, cip_err *err)
{
    asdf_uinline *x;
    CIP_TRY(present(u, a, &x, err));
    out->bytes = &x->data;
    out->array.ends = kind == CIP_CHANGE_ROWS;
    return cip_view_c_order(a->view.ndim, x->shape, a->dtype->itemsize, &out->array.at, err);
}

cip_status cip_asdf_inline_reshaped(asdf_update *u, const cip_array *a, const int64_t *shape,
                                    cip_changes *content, cip_err *err)
{
    asdf_uinline *x;
    cip_status st = present(u, a, &x, err);
    if (st == CIP_OK) {
        memcpy(x->shape, shape, (size_t)a->view.ndim * sizeof *shape);
        x->reshaped = true;
    }
    if (content == NULL)
        return st;
    if (st == CIP_OK) {
        cip_changes_end(&x->data);
        x->data = *content;
    } else {
        cip_changes_end(content);
    }
    return st;
}

/* The array by a name of it that was neither removed nor replaced since; NULL: there is none. */
static const cip_array *still_there(asdf_update *u, const cip_array *a)
{
    for (size_t i = 0; i < u->l->narray; i++)
        if (is_one(u->l->array[i], a) && cip_asdf_update_has(u, u->l->array[i]))
            return u->l->array[i];
    return NULL;
}

/* The lists in the tree, and the shape where one is written. */
static cip_status put_one(asdf_update *u, const asdf_uinline *x, cip_err *err)
{
    const cip_array *a = still_there(u, x->a);
    const cip_node *data, *shape;
    cip_yaml_edit *e;
    void *elems;
    size_t n;
    if (a == NULL)
        return CIP_OK;
    CIP_TRY(count_bytes(a, x->shape, &n, err));
    CIP_TRY(cip_arena_get(u->arena, n, &elems, err));
    CIP_TRY(cip_io_read(x->data.anew, 0, elems, n, err));
    CIP_TRY(
        cip_asdf_inline_node(u->arena, a->dtype, a->view.ndim, x->shape, elems, NULL, &data, err));
    u->tree_changed = true;
    if (cip_node_kind(a->node) == CIP_NODE_MAP) {
        CIP_TRY(cip_asdf_update_key(u, a, "data", data, err));
        if (cip_map_get(a->node, "shape") == NULL)
            return CIP_OK;
        CIP_TRY(cip_asdf_shape_node(u->arena, a->view.ndim, x->shape, false, &shape, err));
        return cip_asdf_update_key(u, a, "shape", shape, err);
    }
    cip_node *tagged;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &tagged, 1, err));
    *tagged = *data;
    tagged->tag = a->node->tag;
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    return cip_yaml_edit_set(e, a->path, tagged, err);
}

cip_status cip_asdf_inline_finish(asdf_update *u, cip_err *err)
{
    for (const asdf_uinline *x = u->inlines; x != NULL; x = x->next)
        if (is_changed(x))
            CIP_TRY(put_one(u, x, err));
    return CIP_OK;
}

bool cip_asdf_inline_any(const asdf_update *u)
{
    const asdf_uinline *x = u->inlines;
    while (x != NULL && !is_changed(x))
        x = x->next;
    return x != NULL;
}

void cip_asdf_inline_end(asdf_update *u)
{
    for (asdf_uinline *x = u->inlines; x != NULL; x = x->next)
        cip_changes_end(&x->data);
    u->inlines = NULL;
}
