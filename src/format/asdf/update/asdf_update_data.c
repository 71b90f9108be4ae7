/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of elements, which are bytes of a block. Rows that follow the last byte of a block are
 * added to it; with any other shape an array has bytes of its own, which are its block, or a new
 * one where the block is not its alone. */
#include "format/asdf/asdf_store.h"

#include <string.h>

#include "base/num.h"

/* An array whose elements lie in a block of this file, or in its tree. *a becomes the one that the
 * tree describes. */
static cip_status check_array(const asdf_state *u, const cip_array **a, cip_err *err)
{
    *a = (*a)->same != NULL ? (*a)->same : *a;
    if ((*a)->st != CIP_OK) {
        if ((*a)->why != NULL)
            cip_err_pass(err, (*a)->why);
        return (*a)->st;
    }
    if ((*a)->node == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "it is a reference; change its target instead");
    const bool inlined = cip_asdf_is_inline(*a);
    if ((*a)->storage.block < 0 && !inlined)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the data are in another file; change that file");
    /* a chain that the options name is for blocks of a known length */
    if (u->given != NULL && (inlined || cip_asdf_is_streamed(&u->b[(*a)->storage.block].head)))
        return cip_asdf_chain_has_no_place(inlined, err);
    return CIP_OK;
}

/* The block that its elements are in by now: the last one that became its own. One that was taken
 * back since is none. */
static size_t block_of(const asdf_state *u, const cip_array *a)
{
    size_t i = cip_strmap_get_ptr(&u->own, a->node);
    for (i = i < u->n ? i + 1 : i != SIZE_MAX ? u->n : 0; i-- != 0;)
        if (u->b[i].array != NULL && u->b[i].array->node == a->node)
            return i;
    return (size_t)a->storage.block;
}

/* --- rows ------------------------------------------------------------------------------------- */

bool cip_asdf_update_star(const cip_array *a)
{
    const cip_node *shape = cip_map_get(a->node, "shape");
    return cip_node_kind(shape) == CIP_NODE_SEQ && shape->len != 0 &&
           cip_node_is_string(shape->item[0], "*");
}

static bool star_now(const asdf_state *u, const cip_array *a)
{
    return !u->frozen && cip_asdf_update_star(a);
}

/* What the block's bytes are now, for a chain that has to know. */
static cip_status note_shape(asdf_state *u, const cip_array *a, const int64_t *shape, size_t block,
                             cip_err *err)
{
    int64_t *copy;
    CIP_TRY(cip_asdf_update_keep(u, block, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, &copy, (size_t)a->view.ndim + 1, err));
    memcpy(copy, shape, (size_t)a->view.ndim * sizeof *copy);
    CIP_TRY(cip_strmap_put_ptr(&u->own, u->arena, a->node, block, NULL, err));
    u->b[block].array = a;
    u->b[block].shape = copy;
    return CIP_OK;
}

/* Of a block that came nothing is kept of what was stored, and its codec has another try. */
static cip_status set_bytes(asdf_state *u, size_t block, const cip_chunk_changes *c, cip_err *err)
{
    asdf_ublock *b = &u->b[block];
    CIP_TRY(cip_asdf_update_keep(u, block, err));
    b->c = c;
    b->changed = true;
    if (!b->is_new || b->packing == NULL)
        return CIP_OK;
    b->encoded = (cip_segment){ .io = NULL };
    b->sum_known = false;
    b->head.data_off = 0;
    if (!cip_asdf_packs(b->packing) || !cip_asdf_is_raw(&b->head))
        return CIP_OK;
    memcpy(b->head.code, b->packing->codec->code, sizeof b->head.code);
    return cip_asdf_update_announce(u, b->packing->codec, err);
}

/* Whether the array's bytes lie in its block with those of others, so that its own come into a new
 * one. */
static cip_status is_shared(asdf_state *u, const cip_array *a, bool *shared, cip_err *err)
{
    const size_t *users, block = block_of(u, a);
    const cip_array *has = u->b[block].array;
    CIP_TRY(cip_asdf_update_users(u, &users, err));
    *shared = users[block] != 1 || (has != NULL && has->node != a->node);
    return CIP_OK;
}

/* Gives the array bytes of its own, packed in C order: in its block when nothing else lies there,
 * otherwise in a new one. */
static cip_status own_bytes(asdf_state *u, const cip_array *a, const int64_t *shape,
                            const cip_chunk_changes *own, cip_err *err)
{
    size_t block = block_of(u, a);
    bool shared;
    cip_node *source;
    const cip_node *node;
    CIP_TRY(is_shared(u, a, &shared, err));
    if (shared) {
        CIP_TRY(cip_asdf_update_new_block(u, block, &block, err));
        CIP_TRY(cip_node_new_int(u->arena, (int64_t)block, &source, err));
        CIP_TRY(cip_asdf_update_key(u, a, "source", source, err));
    }
    CIP_TRY(cip_asdf_shape_node(u->arena, a->view.ndim, shape, star_now(u, a), &node, err));
    CIP_TRY(cip_asdf_update_key(u, a, "shape", node, err));
    CIP_TRY(cip_asdf_update_drop_key(u, a, "offset", err));
    CIP_TRY(cip_asdf_update_drop_key(u, a, "strides", err));
    CIP_TRY(set_bytes(u, block, own, err));
    return note_shape(u, a, shape, block, err);
}

/* Neither a mask that would not fit nor an array whose mask it is. `shape` is what it becomes,
 * NULL: more rows. */
static cip_status no_mask(const cip_layout *l, const cip_array *a, const int64_t *shape,
                          cip_err *err)
{
    for (size_t i = 0; cip_asdf_of(l)->masks && i < l->narray; i++) {
        const cip_array *m = l->array[i]->mask.array;
        if (m != NULL && m->node != NULL && m->node == a->node)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the array is the mask of '%.80s' and would no longer match it",
                            l->array[i]->path);
    }
    if (a->mask.kind != CIP_MASK_SET_MISSING)
        return CIP_OK;
    /* it fits if it has none of the axes that change: no other may, so they are as in the file */
    const int32_t first = a->view.ndim - a->mask.array->view.ndim;
    bool fits = first > 0;
    for (int32_t k = first; fits && shape != NULL && k < a->view.ndim; k++)
        fits = shape[k] == a->view.shape[k];
    return fits ? CIP_OK
                : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                           "the array has a mask, which would no longer match");
}

/* A new block has no place behind a stream: to be known before anything changes. */
static cip_status may_have_own(asdf_state *u, const cip_array *a, cip_err *err)
{
    bool shared;
    if (cip_asdf_update_check_last(u, NULL) == CIP_OK)
        return CIP_OK;
    CIP_TRY(is_shared(u, a, &shared, err));
    return shared ? cip_asdf_update_check_last(u, err) : CIP_OK;
}

cip_status cip_asdf_update_form(void *state, const cip_array *a, cip_change_kind kind,
                                const int64_t *shape, cip_change_form *out, cip_err *err)
{
    asdf_state *u = state;
    const char *path;
    CIP_TRY(check_array(u, &a, err));
    /* Whether the array is still there. Elements in a block stay there whatever its node is called:
     * who asks for them has looked whether the array is the one that the file had. */
    CIP_TRY(cip_asdf_update_path(u, a, &path, err));
    const bool stays = u->moved && kind == CIP_CHANGE_ELEMENTS && !cip_asdf_is_inline(a);
    if (path == NULL && !stays)
        return u->moved ? cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                   "nodes were moved in this update; commit it first")
                        : cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                                   "the array was removed or replaced in this update");
    if (kind != CIP_CHANGE_ELEMENTS)
        CIP_TRY(no_mask(u->l, a, shape, err));
    if (shape != NULL && star_now(u, a) &&
        cip_asdf_loses_rows(a->view.ndim, shape, a->dtype->itemsize))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a streamed block cannot hold rows of zero bytes");
    out->form = (cip_array_form){ .dtype = a->dtype, .caps = CIP_FORM_BYTES };
    out->shared = true;
    if (cip_asdf_is_inline(a))
        return cip_asdf_inline_form(u, a, out, err);
    if (kind == CIP_CHANGE_SHAPE || kind == CIP_CHANGE_SPLICE)
        CIP_TRY(may_have_own(u, a, err));
    const asdf_ublock *b = &u->b[block_of(u, a)];
    /* what other rows of this update end with is not torn */
    out->torn = cip_asdf_is_streamed(&b->head) && (b->array == NULL || b->array->node == a->node);
    if (!cip_asdf_is_raw(&b->head))
        out->form.caps |= CIP_FORM_STREAM;
    if (cip_asdf_update_grows(u, b))
        out->form.caps |= CIP_FORM_GROWS;
    return CIP_OK;
}

/* Blocks of the file; one that became an array's own is known. */
cip_status cip_asdf_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    asdf_state *u = state;
    const int64_t block = cip_chunk_changes_array(c)->storage.block;
    return block >= 0 && !cip_chunk_changes_are_apart(c) && u->b[block].c == NULL
               ? set_bytes(u, (size_t)block, c, err)
               : CIP_OK;
}

/* Rows behind the last byte of the block. The shape waits with others', so that rows of thousands
 * of arrays cost no more each than those of one; nothing can fail after that. */
static cip_status more_rows(asdf_state *u, const cip_array *a, const int64_t *shape, bool strides,
                            cip_err *err)
{
    uint64_t was, now;
    const size_t block = block_of(u, a);
    const cip_node *node;
    if (cip_shape_nelem(a->view.ndim, cip_asdf_update_now(u, a)->view.shape, &was) &&
        cip_shape_nelem(a->view.ndim, shape, &now) && was != now) {
        if (strides) /* those of a single row may have meant nothing */
            CIP_TRY(cip_asdf_update_drop_key(u, a, "strides", err));
        CIP_TRY(note_shape(u, a, shape, block, err));
        u->b[block].changed = true;
    }
    if (star_now(u, a))
        return CIP_OK;
    /* the whole shape: a part of it may be another array's by an alias */
    CIP_TRY(cip_asdf_shape_node(u->arena, a->view.ndim, shape, false, &node, err));
    return cip_asdf_update_key(u, a, "shape", node, err);
}

cip_status cip_asdf_update_reshaped(void *state, const cip_array *a, const int64_t *shape,
                                    const cip_chunk_changes *own, cip_err *err)
{
    asdf_state *u = state;
    a = a->same != NULL ? a->same : a;
    if (cip_asdf_is_inline(a))
        return CIP_OK; /* its node is written at the end */
    asdf_before before;
    bool strides;
    CIP_TRY(cip_asdf_update_has_key(u, a, "strides", &strides, err));
    cip_status st = cip_asdf_update_save(u, own != NULL || strides, &before, err);
    if (st == CIP_OK)
        st = own != NULL ? own_bytes(u, a, shape, own, err) : more_rows(u, a, shape, strides, err);
    return cip_asdf_update_end_of(u, &before, st, err);
}

bool cip_asdf_grows(const cip_layout *l, const cip_array *a, cip_io **in, uint64_t *nbytes)
{
    cip_space *space;
    if (!cip_asdf_update_star(a) || !cip_view_is_contiguous(&a->view) ||
        cip_map_get(a->node, "strides") != NULL || no_mask(l, a, NULL, NULL) != CIP_OK)
        return false;
    if (a->layout != l || a->st != CIP_OK || cip_space_resolve(a->space, &space, NULL) != CIP_OK)
        return false;
    /* the file whose end is the array's block, if that is streamed and raw: this one, or (in an
     * exploded form) one with that block alone */
    const bool external = a->storage.kind == CIP_STORAGE_EXTERNAL;
    const cip_layout *where = external ? space->layout : l;
    const size_t block = external ? 0 : (size_t)a->storage.block;
    if (where->nblock == 0 || block + 1 != where->nblock || (external && where == l))
        return false;
    const asdf_block *b = &cip_asdf_of(where)->blocks.at[block];
    if (!cip_asdf_is_streamed(b) || strcmp(where->block[block].info.codec, "none") != 0 ||
        cip_asdf_check_numbers(cip_asdf_of(where), NULL) != CIP_OK)
        return false;
    *in = where->io;
    *nbytes = space->len;
    return true;
}
