/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of inline arrays: their elements are kept in memory and written into the tree as nested
 * lists at the end. */
#include "format/asdf/asdf_update.h"

#include <string.h>

#include "base/num.h"
#include "format/asdf/asdf_write.h"

struct asdf_uinline {
    const cip_array *a;
    uint8_t *data; /* packed in C order */
    int64_t shape[CIP_MAX_NDIM];
    asdf_uinline *next;
};

static cip_status count_bytes(const cip_array *a, const int64_t *shape, size_t *n, cip_err *err)
{
    uint64_t nelem, nbytes;
    if (!cip_shape_nelem(a->view.ndim, shape, &nelem) ||
        cip_mul_overflow(nelem, a->dtype->itemsize, &nbytes) || !cip_to_size(nbytes, n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "inline data of over 2^63 bytes");
    return CIP_OK;
}

static cip_status read_all(asdf_update *u, const cip_array *a, uint8_t *dst, cip_err *err)
{
    const cip_read_how how = { u->l, u->env->pool };
    cip_cast cast;
    cip_nd to;
    CIP_TRY(cip_cast_make(a->dtype, a->dtype, CIP_OVERFLOW_ERROR, &cast, err));
    CIP_TRY(cip_view_c_order(a->view.ndim, a->view.shape, a->view.itemsize, &to, err));
    return cip_space_gather(&how, a->space, &a->view, &cast, &to, dst, NULL, err);
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

/* The elements as they are now. */
static cip_status present(asdf_update *u, const cip_array *a, asdf_uinline **out, cip_err *err)
{
    size_t n;
    for (*out = u->inlines; *out != NULL; *out = (*out)->next)
        if ((*out)->a == a)
            return CIP_OK;
    CIP_TRY(check_no_nulls(u, a, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, out, 1, err));
    (*out)->a = a;
    memcpy((*out)->shape, a->view.shape, sizeof a->view.shape);
    CIP_TRY(count_bytes(a, a->view.shape, &n, err));
    CIP_TRY(cip_arena_get(u->arena, n, (void **)&(*out)->data, err));
    CIP_TRY(read_all(u, a, (*out)->data, err));
    (*out)->next = u->inlines;
    u->inlines = *out;
    return CIP_OK;
}

static cip_status into_memory(void *user, uint64_t off, cip_bytes bytes, cip_err *err)
{
    (void)err;
    memcpy((uint8_t *)user + off, bytes.ptr, bytes.len);
    return CIP_OK;
}

static cip_status scatter(asdf_update *u, const cip_nd *at, uint8_t *data, size_t n,
                          const cip_feed *feed, cip_err *err)
{
    cip_io *io;
    CIP_TRY(cip_io_open_memory(u->env, data, n, "inline data", &io, err));
    const cip_scatter_to to = { .io = io, .live = true, .put = into_memory, .user = data };
    cip_status st = cip_scatter(u->env, &to, at, feed, err);
    cip_io_close(io);
    return st;
}

cip_status cip_asdf_inline_write(asdf_update *u, const cip_array *a, const cip_nd *at,
                                 const cip_feed *feed, cip_err *err)
{
    asdf_uinline *x;
    size_t n;
    CIP_TRY(present(u, a, &x, err));
    CIP_TRY(count_bytes(a, x->shape, &n, err));
    return scatter(u, at, x->data, n, feed, err);
}

cip_status cip_asdf_inline_append(asdf_update *u, const cip_array *a, uint64_t nelem, int64_t nrow,
                                  const cip_feed *feed, cip_err *err)
{
    asdf_uinline *x;
    size_t old, n;
    uint8_t *data;
    CIP_TRY(present(u, a, &x, err));
    CIP_TRY(count_bytes(a, x->shape, &old, err));
    x->shape[0] += nrow;
    CIP_TRY(count_bytes(a, x->shape, &n, err));
    CIP_TRY(cip_arena_get(u->arena, n, (void **)&data, err));
    memcpy(data, x->data, old);
    CIP_TRY(feed->next(feed->self, nelem, data + old, err));
    x->data = data;
    return CIP_OK;
}

typedef struct elements {
    const uint8_t *at;
    uint64_t size;
} elements;

static cip_status next_element(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    elements *e = self;
    (void)err;
    memcpy(dst, e->at, (size_t)(nelem * e->size));
    e->at += nelem * e->size;
    return CIP_OK;
}

/* Copies what both shapes hold: first packed, then where the new shape has it. */
static cip_status keep_common(asdf_update *u, const asdf_uinline *x, const cip_nd *to,
                              uint8_t *data, size_t n, cip_err *err)
{
    cip_nd from, common = *to, tight;
    cip_cast cast;
    uint8_t *packed;
    size_t len;
    CIP_TRY(cip_view_c_order(to->ndim, x->shape, to->itemsize, &from, err));
    for (int32_t i = 0; i < to->ndim; i++)
        from.shape[i] = common.shape[i] =
            from.shape[i] < to->shape[i] ? from.shape[i] : to->shape[i];
    CIP_TRY(count_bytes(x->a, common.shape, &len, err));
    CIP_TRY(cip_arena_get(u->arena, len, (void **)&packed, err));
    CIP_TRY(cip_view_c_order(to->ndim, common.shape, to->itemsize, &tight, err));
    CIP_TRY(cip_cast_make(x->a->dtype, x->a->dtype, CIP_OVERFLOW_ERROR, &cast, err));
    if (len == 0)
        return CIP_OK;
    cip_copy_nd(&cast, &from, x->data, &tight, packed, NULL);
    elements e = { packed, to->itemsize };
    const cip_feed feed = { next_element, &e };
    return scatter(u, &common, data, n, &feed, err);
}

cip_status cip_asdf_inline_resize(asdf_update *u, const cip_array *a, const int64_t *shape,
                                  cip_err *err)
{
    asdf_uinline *x;
    cip_nd to;
    size_t n;
    uint8_t *data;
    CIP_TRY(present(u, a, &x, err));
    CIP_TRY(cip_view_c_order(a->view.ndim, shape, a->dtype->itemsize, &to, err));
    CIP_TRY(count_bytes(a, shape, &n, err));
    CIP_TRY(cip_arena_zeroed(u->arena, n, 1, (void **)&data, err));
    CIP_TRY(keep_common(u, x, &to, data, n, err));
    memcpy(x->shape, to.shape, sizeof x->shape);
    x->data = data;
    return CIP_OK;
}

/* The lists in the tree, and the shape where one is written. */
static cip_status put_one(asdf_update *u, const asdf_uinline *x, cip_err *err)
{
    const cip_array *a = x->a;
    const cip_node *data, *shape;
    cip_yaml_edit *e;
    if (!cip_asdf_update_has(u, a)) /* removed or replaced since */
        return CIP_OK;
    CIP_TRY(cip_asdf_inline_node(u->arena, a->dtype, a->view.ndim, x->shape, x->data, NULL, &data,
                                 err));
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
        CIP_TRY(put_one(u, x, err));
    return CIP_OK;
}
