/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of elements: which bytes of a block they are (what becomes of those: space/changes.h).
 * Rows that follow the last byte of a block are added to it; an array that shares its block, and
 * gets more elements or another shape, gets a block of its own. */
#include "format/asdf/update/asdf_update.h"

#include <string.h>

#include "base/num.h"

/* The array by the path under which the tree describes it: a quantity's lies in its `value`. */
static const cip_array *at_its_node(const asdf_update *u, const cip_array *a)
{
    const size_t n = strlen(a->path);
    for (size_t i = 0; a->node == NULL && i < u->l->narray; i++) {
        const cip_array *other = u->l->array[i];
        if (other->node != NULL && strncmp(other->path, a->path, n) == 0 &&
            strcmp(other->path + n, "/value") == 0)
            return other;
    }
    return a;
}

/* A chain that the options name is for blocks of a known length. */
static cip_status check_chain(const asdf_update *u, const cip_array *a, cip_err *err)
{
    bool inlined = cip_asdf_is_inline(a);
    if (u->given == NULL || !(inlined || cip_asdf_is_streamed(&u->b[a->storage.block].head)))
        return CIP_OK;
    return cip_asdf_chain_has_no_place(inlined, err);
}

/* An array whose elements lie in a block of this file, or in its tree. *a becomes the one that the
 * tree describes. */
static cip_status check_array(const asdf_update *u, const cip_array **a, cip_err *err)
{
    *a = at_its_node(u, *a);
    if ((*a)->st != CIP_OK) {
        if ((*a)->why != NULL)
            cip_err_pass(err, (*a)->why);
        return (*a)->st;
    }
    if ((*a)->node == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "it is a reference; change what it leads to");
    if ((*a)->storage.block >= 0 || cip_asdf_is_inline(*a))
        return check_chain(u, *a, err);
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "the data lie in another file; change that file");
}

/* Whether the array is still there. Elements in a block stay there whatever its node is called: who
 * asks for them has looked whether the array is the one that the file had. */
static cip_status check_place(asdf_update *u, const cip_array *a, cip_change_kind kind,
                              cip_err *err)
{
    if (u->moved)
        return kind == CIP_CHANGE_ELEMENTS && !cip_asdf_is_inline(a)
                   ? CIP_OK
                   : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                              "nodes were moved in this update; commit it first");
    if (!cip_asdf_update_has(u, a))
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "the array was removed or replaced in this update");
    return CIP_OK;
}

/* Where its elements are now. */
static asdf_placed place_of(const asdf_update *u, const cip_array *a)
{
    const asdf_placed *p = cip_asdf_update_place_of(u, a);
    return p != NULL ? *p : (asdf_placed){ a, (size_t)a->storage.block, a->view, NULL };
}

/* --- rows
 * ------------------------------------------------------------------------------------------- */

/* Whether the array's elements end where the block's decoded bytes end, so that rows may follow;
 * in a streamed block a torn row at the end goes. */
static bool ends_block(const asdf_update *u, const asdf_placed *p, uint64_t rowbytes)
{
    const asdf_ublock *b = &u->b[p->block];
    uint64_t first, end, len;
    if (!cip_view_is_contiguous(&p->at) || (b->array != NULL && b->array != p->a) ||
        cip_changes_len(&b->data, &len, NULL) != CIP_OK ||
        cip_view_bounds(&p->at, &first, &end, NULL) != CIP_OK)
        return false;
    if (end == 0)
        end = p->at.off;
    return end == len || (cip_asdf_is_streamed(&b->head) && end < len && len - end < rowbytes);
}

bool cip_asdf_update_star(const cip_array *a)
{
    const cip_node *shape = cip_map_get(a->node, "shape");
    return cip_node_kind(shape) == CIP_NODE_SEQ && shape->len != 0 &&
           cip_node_is_string(shape->item[0], "*");
}

static bool star_now(const asdf_update *u, const cip_array *a)
{
    return !u->frozen && cip_asdf_update_star(a);
}

/* The whole shape, as a part of it may belong to another array by an alias. */
static cip_status new_length(asdf_update *u, const cip_array *a, const int64_t *shape, cip_err *err)
{
    const cip_node *node;
    if (star_now(u, a))
        return CIP_OK;
    CIP_TRY(cip_asdf_shape_node(u->arena, a->view.ndim, shape, false, &node, err));
    return cip_asdf_update_key(u, a, "shape", node, err);
}

static cip_status drop_key(asdf_update *u, const cip_array *a, const char *key, cip_err *err)
{
    cip_yaml_edit *e;
    char *path;
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    CIP_TRY(cip_arena_printf(u->arena, &path, err, "%s/%s", a->path, key));
    u->tree_changed = true;
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_yaml_edit_remove(e, path, &why);
    return st == CIP_OK || st == CIP_ERR_NOT_FOUND ? CIP_OK
                                                   : cip_fail(err, st, why.offset, "%s", why.text);
}

/* What the block's bytes are now, for a chain that has to know. */
static cip_status note_shape(asdf_update *u, const cip_array *a, const int64_t *shape, size_t block,
                             cip_err *err)
{
    int64_t *copy;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &copy, (size_t)a->view.ndim + 1, err));
    memcpy(copy, shape, (size_t)a->view.ndim * sizeof *copy);
    u->b[block].array = a;
    u->b[block].shape = copy;
    return CIP_OK;
}

/* Gives the array elements of its own, packed in C order: in its block when nothing else lies
 * there, otherwise in a new one. `content` is taken over, on failure too. */
static cip_status own_content(asdf_update *u, const cip_array *a, const int64_t *shape,
                              cip_changes *content, cip_err *err)
{
    cip_status st;
    const size_t *users;
    const asdf_placed was = place_of(u, a);
    size_t block = was.block;
    cip_nd at;
    cip_node *source;
    const cip_node *node;
    CIP_GO(cip_view_c_order(a->view.ndim, shape, a->view.itemsize, &at, err));
    CIP_GO(cip_asdf_update_users(u, &users, err));
    if (users[block] != 1 || (u->b[block].array != NULL && u->b[block].array != was.a)) {
        CIP_GO(cip_asdf_update_new_block(u, block, &block, err));
        CIP_GO(cip_node_new_int(u->arena, (int64_t)block, &source, err));
        CIP_GO(cip_asdf_update_key(u, a, "source", source, err));
    }
    CIP_GO(cip_asdf_shape_node(u->arena, a->view.ndim, shape, star_now(u, a), &node, err));
    CIP_GO(cip_asdf_update_key(u, a, "shape", node, err));
    CIP_GO(drop_key(u, a, "offset", err));
    CIP_GO(drop_key(u, a, "strides", err));
    cip_changes_end(&u->b[block].data);
    u->b[block].data = *content;
    u->b[block].changed = true;
    CIP_TRY(cip_asdf_update_place(u, was.a, block, &at, err));
    return note_shape(u, was.a, shape, block, err);
done:
    cip_changes_end(content);
    return st;
}

/* Whether its mask has none of the axes that change: `shape` is what it becomes, NULL: more rows.
 * As no other may, they are as long as in the file. */
static bool mask_fits(const cip_array *a, const int64_t *shape)
{
    const int32_t first = a->view.ndim - a->mask.array->view.ndim;
    bool fits = first > 0;
    for (int32_t k = first; fits && shape != NULL && k < a->view.ndim; k++)
        fits = shape[k] == a->view.shape[k];
    return fits;
}

/* Neither a mask that would not fit nor an array whose mask it is. */
static cip_status no_mask(const cip_layout *l, const cip_array *a, const int64_t *shape,
                          cip_err *err)
{
    for (size_t i = 0; i < l->narray; i++) {
        const cip_array *m = l->array[i]->mask.array;
        if (m != NULL && m->node != NULL && m->node == a->node)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the array is the mask of '%.80s', which it would no longer fit",
                            l->array[i]->path);
    }
    if (a->mask.kind != CIP_MASK_SET_MISSING || mask_fits(a, shape))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "the array has a mask, which would no longer fit");
}

cip_status cip_asdf_update_form(void *state, const cip_array *a, cip_change_kind kind,
                                const int64_t *shape, cip_change_form *out, cip_err *err)
{
    asdf_update *u = state;
    uint64_t row = a->view.itemsize;
    CIP_TRY(check_array(u, &a, err));
    CIP_TRY(check_place(u, a, kind, err));
    if (kind != CIP_CHANGE_ELEMENTS)
        CIP_TRY(no_mask(u->l, a, shape, err));
    if (cip_asdf_is_inline(a))
        return cip_asdf_inline_form(u, a, kind, out, err);
    const asdf_placed p = place_of(u, a);
    for (int32_t i = 1; i < p.at.ndim; i++) /* of fewer bytes than there are */
        row *= (uint64_t)p.at.shape[i];
    out->bytes = &u->b[p.block].data;
    out->array.at = p.at;
    out->array.ends = kind == CIP_CHANGE_ROWS && ends_block(u, &p, row);
    return CIP_OK;
}

/* Rows behind the last byte of the block. */
static cip_status more_rows(asdf_update *u, const cip_array *a, const int64_t *shape, cip_err *err)
{
    uint64_t was, now;
    const asdf_placed p = place_of(u, a);
    cip_nd at;
    CIP_TRY(cip_view_c_order(a->view.ndim, shape, a->view.itemsize, &at, err));
    at.off = p.at.off;
    CIP_TRY(new_length(u, a, shape, err));
    CIP_TRY(cip_asdf_update_place(u, p.a, p.block, &at, err));
    if (!cip_shape_nelem(a->view.ndim, p.at.shape, &was) ||
        !cip_shape_nelem(a->view.ndim, shape, &now) || was == now)
        return CIP_OK;
    CIP_TRY(drop_key(u, a, "strides", err)); /* those of a single row may have meant nothing */
    u->b[p.block].changed = true;
    return note_shape(u, p.a, shape, p.block, err);
}

cip_status cip_asdf_update_reshaped(void *state, const cip_array *a, const int64_t *shape,
                                    cip_changes *content, cip_err *err)
{
    asdf_update *u = state;
    a = at_its_node(u, a);
    if (cip_asdf_is_inline(a))
        return cip_asdf_inline_reshaped(u, a, shape, content, err);
    return content != NULL ? own_content(u, a, shape, content, err) : more_rows(u, a, shape, err);
}

/* The file whose end is the array's block, if that is streamed and raw: this one, or (in an
 * exploded form) one with that block alone. */
static const cip_layout *streamed_in(const cip_layout *l, const cip_array *a, cip_space **space)
{
    if (a->layout != l || a->st != CIP_OK || cip_space_resolve(a->space, space, NULL) != CIP_OK)
        return NULL;
    bool external = strcmp(a->storage.kind, "external") == 0;
    const cip_layout *in = external ? (*space)->layout : l;
    size_t block = external ? 0 : (size_t)a->storage.block;
    if (in->nblock == 0 || block + 1 != in->nblock || (external && in == l))
        return NULL;
    const cip_block_info *b = &in->block[block].info;
    return (b->flags & ASDF_STREAMED) != 0 && strcmp(b->codec, "none") == 0 ? in : NULL;
}

bool cip_asdf_grows(const cip_layout *l, const cip_array *a, cip_io **in, uint64_t *nbytes)
{
    cip_space *space;
    if (!cip_asdf_update_star(a) || !cip_view_is_contiguous(&a->view) ||
        cip_map_get(a->node, "strides") != NULL || no_mask(l, a, NULL, NULL) != CIP_OK)
        return false;
    const cip_layout *where = streamed_in(l, a, &space);
    if (where == NULL || cip_asdf_check_numbers(cip_asdf_of(where), NULL) != CIP_OK)
        return false;
    *in = where->io;
    *nbytes = space->len;
    return true;
}
