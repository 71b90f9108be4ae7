/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of inline arrays: their elements are changed as those of blocks are, and written into the
 * tree as nested lists at the end. */
#include "format/asdf/asdf_store.h"

#include <string.h>

#include "base/num.h"

/* A tree_walk callback: *user says that there is a null. */
static int find_null(void *user, const cip_visit *v)
{
    const bool is = v->node->type == CIP_NODE_NULL;
    *(cip_status *)user = is ? CIP_ERR_UNSUPPORTED : CIP_OK;
    return is ? 2 : v->again;
}

/* The elements in memory do not tell a null from a value: writing the lists again would give it
 * one. Looked for in the lists themselves, whatever mask there is beside them. */
cip_status cip_asdf_inline_form(asdf_state *u, const cip_array *a, cip_change_form *out,
                                cip_err *err)
{
    const bool bare = cip_node_kind(a->node) == CIP_NODE_SEQ;
    cip_status found = CIP_OK;
    out->own = true;
    if (cip_asdf_update_now(u, a) != a)
        return CIP_OK;
    CIP_TRY(cip_tree_walk_told(bare ? a->node : cip_map_get(a->node, "data"), u->env, find_null,
                               &found, &(cip_status){ CIP_OK }, err));
    return found == CIP_OK ? CIP_OK
                           : cip_fail(err, found, CIP_NO_OFFSET,
                                      "expected inline data without nulls, found a null; change "
                                      "the values in the tree (set the whole array, or edit)");
}

cip_status cip_asdf_inline_holds(void *state, const cip_dtype *d, const uint8_t *elems, size_t n,
                                 cip_err *err)
{
    cip_arena made = { .mem = &((asdf_state *)state)->env->mem };
    const cip_node *node;
    cip_status st = CIP_OK;
    for (size_t i = 0; i < n && st == CIP_OK; i++)
        st = cip_asdf_element_node(&made, d, elems + i * d->itemsize, &node, err);
    cip_arena_clear(&made);
    return st;
}

/* Whether two names are of one array: a mapping that an alias names too has its data once. A list
 * is replaced as a whole, under its own name. */
static bool is_one(const cip_array *a, const cip_array *b)
{
    return a == b || (a->node == b->node && cip_node_kind(a->node) == CIP_NODE_MAP);
}

/* The elements packed in C order; in the arena. */
static cip_status read_elements(asdf_state *u, const cip_array *now, void **out, cip_err *err)
{
    const cip_read_how how = { u->l, u->env->pool };
    cip_cast cast;
    cip_nd packed;
    uint64_t nbytes;
    size_t n;
    if (!cip_shape_nelem(now->view.ndim, now->view.shape, &nbytes) ||
        cip_mul_overflow(nbytes, now->dtype->itemsize, &nbytes) || !cip_to_size(nbytes, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "inline data of over 2^63 bytes");
    CIP_TRY(cip_arena_get(u->arena, n, out, err));
    CIP_TRY(cip_cast_make(now->dtype, now->dtype, CIP_OVERFLOW_ERROR, &cast, err));
    CIP_TRY(cip_view_c_order(now->view.ndim, now->view.shape, now->view.itemsize, &packed, err));
    return cip_space_gather(&how, now->space, &(cip_transfer){ &now->view, &cast, &packed, *out },
                            NULL, err);
}

/* What the array's description has of the lists, and type and shape where readers would make others
 * of these: of texts that are all shorter now, of floats without the last fraction, of lists in
 * which nothing is left. `bare`: it is a list and no more. */
static cip_status describe(asdf_state *u, const cip_array *a, const cip_array *now, bool bare,
                           asdf_list *l, cip_err *err)
{
    asdf_file *f = cip_asdf_of(u->l);
    const bool declared = !bare && cip_asdf_datatype_of(f, a->node) != NULL;
    const cip_nd *v = &now->view;
    const cip_node *data, *type, *shape;
    asdf_inline seen = { .data = NULL };
    void *elems;
    CIP_TRY(read_elements(u, now, &elems, err));
    CIP_TRY(cip_asdf_inline_node(
        u->arena, &(asdf_elements){ a->dtype, v->ndim, v->shape, elems, NULL }, &data, err));
    CIP_TRY(cip_asdf_list_add(l, "data", data, err));
    CIP_TRY(cip_asdf_inline_look(f, data, declared ? a->dtype : NULL, a->dtype->big, &seen, err));
    if (!cip_dtype_equal(seen.dtype, a->dtype)) {
        CIP_TRY(cip_asdf_type_node(u->arena, a->dtype, &type, err));
        CIP_TRY(cip_asdf_list_add(l, "datatype", type, err));
    }
    if (seen.ndim == v->ndim &&
        memcmp(seen.shape, v->shape, (size_t)v->ndim * sizeof *v->shape) == 0 &&
        (bare || cip_map_get(a->node, "shape") == NULL))
        return CIP_OK;
    CIP_TRY(cip_asdf_shape_node(u->arena, v->ndim, v->shape, false, &shape, err));
    return cip_asdf_list_add(l, "shape", shape, err);
}

/* The lists in the tree. `now`: as the update has it. */
static cip_status put_one(asdf_state *u, const cip_array *a, const char *path, const cip_array *now,
                          cip_err *err)
{
    const bool bare = cip_node_kind(a->node) != CIP_NODE_MAP;
    asdf_list l = { .a = u->arena };
    cip_node *node;
    CIP_TRY(describe(u, a, now, bare, &l, err));
    u->tree_changed = true;
    for (size_t i = 0; !bare && i < l.n; i++)
        CIP_TRY(cip_asdf_update_key(u, a, l.key[i]->text, l.value[i], err));
    if (!bare)
        return CIP_OK;
    CIP_TRY(cip_asdf_list_map(&l, NULL, CIP_STYLE_FLOW, &node, err));
    if (l.n == 1)
        *node = *l.value[0];
    node->tag = a->node->tag;
    CIP_TRY(cip_asdf_update_queued_tree(u, err));
    return cip_yaml_edit_queue(u->tree, path, node, err);
}

static bool is_changed(asdf_state *u, const cip_array *a)
{
    return a->node != NULL && cip_asdf_is_inline(a) && cip_asdf_update_now(u, a) != a;
}

static cip_status put_changed(asdf_state *u, const cip_array *a, cip_err *err)
{
    const cip_array *name = a; /* of it that was neither removed nor replaced since */
    const char *path;
    CIP_TRY(cip_asdf_update_path(u, a, &path, err));
    for (size_t i = 0; path == NULL && i < u->l->narray; i++) {
        name = u->l->array[i];
        if (is_one(name, a))
            CIP_TRY(cip_asdf_update_path(u, name, &path, err));
    }
    return path != NULL ? put_one(u, name, path, cip_asdf_update_now(u, a), err) : CIP_OK;
}

cip_status cip_asdf_inline_finish(asdf_state *u, cip_err *err)
{
    cip_strmap put = { .mem = &u->env->mem }; /* descriptions of which another name was put */
    cip_status st = CIP_OK;
    for (size_t i = 0; i < u->l->narray; i++) {
        const cip_array *a = u->l->array[i];
        size_t was = SIZE_MAX;
        if (!is_changed(u, a))
            continue;
        if (cip_node_kind(a->node) == CIP_NODE_MAP)
            CIP_GO(cip_strmap_put_ptr(&put, u->arena, a->node, 0, &was, err));
        if (was == SIZE_MAX)
            CIP_GO(put_changed(u, a, err));
    }
    for (const asdf_came *x = u->came; x != NULL; x = x->next)
        if (is_changed(u, x->array))
            CIP_GO(put_changed(u, x->array, err));
done:
    cip_strmap_clear(&put);
    return st;
}
