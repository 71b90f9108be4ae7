/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of elements. Bytes of a raw block change where they are, as writes of the patch; where
 * that gets too much, and in compressed blocks, the block's decoded bytes are kept in a scratch
 * file and changed there. Rows that follow the last byte of a block are only added to it. */
#include "format/asdf/asdf_update.h"
#include "format/asdf/asdf_write.h"

#include <string.h>

#include "base/num.h"

enum { PIECE = 1 << 20 };

/* --- a block's decoded bytes
 * ----------------------------------------------------------------------- */

cip_status cip_asdf_update_look(asdf_update *u, cip_err *err)
{
    cip_io *now;
    if (u->patch.n == 0)
        return CIP_OK;
    CIP_TRY(cip_io_open_overlay(u->l->io, &u->patch, &now, err));
    if (u->seen != u->l->io)
        cip_io_close(u->seen);
    u->seen = now;
    return CIP_OK;
}

/* A few stored bytes may claim any length, all of which would be decoded to a temporary file. */
static cip_status check_amount(const asdf_update *u, size_t block, uint64_t len, cip_err *err)
{
    const uint64_t most = u->env->limits.max_elements;
    uint64_t itemsize = 1;
    for (size_t i = 0; i < u->l->narray; i++) {
        const cip_array *a = u->l->array[i];
        if (a->storage.block == (int64_t)block && a->dtype != NULL)
            itemsize = cip_max_u64(itemsize, a->dtype->itemsize);
    }
    if (most != 0 ? len / itemsize <= most : cip_layout_expects(u->l, len))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_LIMIT, u->l->block[block].info.offset,
                    "block %zu would decode to %" PRIu64 " bytes out of a file of %" PRIu64
                    "; allow them by max_elements (--max-elements)",
                    block, len, u->l->io->size);
}

static cip_status decode(asdf_update *u, size_t block, cip_io *to, cip_err *err)
{
    const cip_block *cb = &u->l->block[block];
    const cip_read_how how = { u->l, u->env->pool };
    if (cb->data == NULL) {
        if (err != NULL)
            *err = *cb->why;
        return cb->info.state;
    }
    cip_space *data;
    CIP_TRY(cip_space_resolve(cb->data, &data, err));
    CIP_TRY(check_amount(u, block, data->len, err));
    cip_out out = cip_temporary_out(to);
    return cip_space_write_out(&how, data, &out, err);
}

cip_status cip_asdf_update_shadow(asdf_update *u, size_t block, cip_err *err)
{
    asdf_ublock *b = &u->b[block];
    cip_io *shadow;
    if (b->shadow != NULL)
        return CIP_OK;
    CIP_TRY(cip_temporary_new(u->env, u->l->io->name, &shadow, err));
    cip_status st;
    if (cip_asdf_is_raw(&b->head)) {
        CIP_GO(cip_asdf_update_look(u, err));
        st = cip_temporary_add(shadow, u->seen, b->head.data_off, b->kept, err);
    } else {
        st = decode(u, block, shadow, err);
    }
done:
    if (st != CIP_OK) {
        cip_io_close(shadow);
        return st;
    }
    b->shadow = shadow;
    b->kept = 0;
    b->changed = true;
    return CIP_OK;
}

/* --- writing
 * ---------------------------------------------------------------------------------------- */

typedef struct put {
    asdf_update *u;
    size_t block;
} put;

static cip_status put_bytes(void *user, uint64_t off, cip_bytes bytes, cip_err *err)
{
    const put *p = user;
    asdf_update *u = p->u;
    asdf_ublock *b = &u->b[p->block];
    u->patch_nbytes += bytes.len;
    if (b->shadow == NULL &&
        (u->patch_nbytes > ASDF_UPDATE_PATCH_MAX || u->patch.n >= ASDF_UPDATE_OPS_MAX)) {
        cip_io *seen = u->seen; /* in use until the whole selection is written */
        u->seen = u->l->io;
        cip_status st = cip_asdf_update_shadow(u, p->block, err);
        if (u->seen != u->l->io)
            cip_io_close(u->seen);
        u->seen = seen;
        CIP_TRY(st);
    }
    if (b->shadow != NULL)
        return cip_temporary_write(b->shadow, off - b->head.data_off, bytes.ptr, bytes.len, err);
    return cip_patch_write(&u->patch, "", off, (cip_bytes){ NULL, 0 }, bytes, err);
}

static cip_status put_shadow(void *user, uint64_t off, cip_bytes bytes, cip_err *err)
{
    const put *p = user;
    return cip_temporary_write(p->u->b[p->block].shadow, off, bytes.ptr, bytes.len, err);
}

static bool is_inline(const cip_array *a)
{
    return strcmp(a->storage.kind, "inline") == 0;
}

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
    bool inlined = is_inline(a);
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
        if (err != NULL && (*a)->why != NULL)
            *err = *(*a)->why;
        return (*a)->st;
    }
    if ((*a)->node == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "it is a reference; change what it leads to");
    if ((*a)->storage.block >= 0 || is_inline(*a))
        return check_chain(u, *a, err);
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "the data lie in another file; change that file");
}

/* Whether the array still is where it was when the file was opened; `size`: and as long. */
static cip_status check_place(asdf_update *u, const cip_array *a, bool size, cip_err *err)
{
    if (!cip_asdf_update_has(u, a))
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "the array was removed or replaced in this update");
    for (const asdf_touched *t = u->touched; t != NULL; t = t->next)
        if ((t->a == a || (a->node != NULL && t->a->node == a->node)) && (size || t->moved))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the array's shape or place changed in this update; commit it first");
    return CIP_OK;
}

cip_status cip_asdf_update_write(void *state, const cip_array *a, const cip_nd *at,
                                 const cip_feed *feed, cip_err *err)
{
    asdf_update *u = state;
    CIP_TRY(check_array(u, &a, err));
    CIP_TRY(check_place(u, a, false, err));
    if (is_inline(a))
        return cip_asdf_inline_write(u, a, at, feed, err);
    put p = { u, (size_t)a->storage.block };
    asdf_ublock *b = &u->b[p.block];
    if (!cip_asdf_is_raw(&b->head))
        CIP_TRY(cip_asdf_update_shadow(u, p.block, err));
    b->changed = true;
    if (b->shadow != NULL) {
        const cip_scatter_to to = { .io = b->shadow, .live = true, .put = put_shadow, .user = &p };
        return cip_scatter(u->env, &to, at, feed, err);
    }
    CIP_TRY(cip_asdf_update_look(u, err));
    const cip_scatter_to to = {
        .io = u->seen, .base = b->head.data_off, .put = put_bytes, .user = &p
    };
    return cip_scatter(u->env, &to, at, feed, err);
}

/* --- elements as they are now
 * ----------------------------------------------------------------------- */

/* The space in which the array's view finds its elements, with this update's changes. */
static cip_status present_space(asdf_update *u, const cip_array *a, cip_space **out, cip_err *err)
{
    asdf_ublock *b = &u->b[a->storage.block];
    if (!b->changed) {
        *out = a->space;
        return CIP_OK;
    }
    CIP_TRY(cip_asdf_update_shadow(u, (size_t)a->storage.block, err));
    return cip_space_new_file(u->l, b->shadow, out, err);
}

typedef struct copier {
    asdf_update *u;
    cip_read_how how;
    cip_space *from;
    cip_cast cast;
    cip_out *to;
    void *buf; /* grows */
    size_t cap;
} copier;

static cip_status copy_box(copier *c, const cip_nd *from, uint64_t nbytes, cip_err *err)
{
    cip_nd to;
    if (nbytes > c->cap) {
        CIP_TRY(cip_mem_resize(&c->u->env->mem, &c->buf, (size_t)nbytes, err));
        c->cap = (size_t)nbytes;
    }
    CIP_TRY(cip_view_c_order(from->ndim, from->shape, from->itemsize, &to, err));
    CIP_TRY(cip_space_gather(&c->how, c->from, from, &c->cast, &to, c->buf, NULL, err));
    return cip_out_write(c->to, c->buf, (size_t)nbytes, err);
}

/* Elements in C order, in boxes of about PIECE bytes. */
static cip_status copy_view(copier *c, const cip_nd *from, cip_err *err)
{
    uint64_t nelem, nbytes;
    int32_t axis = 0;
    if (!cip_shape_nelem(from->ndim, from->shape, &nelem) ||
        cip_mul_overflow(nelem, from->itemsize, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an array of over 2^64 bytes");
    while (axis < from->ndim && from->shape[axis] <= 1)
        axis++;
    if (nbytes <= PIECE || axis == from->ndim)
        return nelem == 0 ? CIP_OK : copy_box(c, from, nbytes, err);
    uint64_t n = (uint64_t)from->shape[axis], step = cip_max_u64(1, n / (nbytes / PIECE + 1));
    cip_nd part = *from;
    for (uint64_t i = 0; i < n; i += step) { /* as deep as there are axes */
        part.off = from->off + i * (uint64_t)from->stride[axis];
        part.shape[axis] = (int64_t)cip_min_u64(step, n - i);
        CIP_TRY(copy_view(c, &part, err));
    }
    return CIP_OK;
}

/* The elements that `view` shows of the array's space, packed, to the end of a temporary file. */
static cip_status copy_elements(asdf_update *u, const cip_array *a, const cip_nd *view, cip_io *to,
                                cip_err *err)
{
    cip_out out = cip_temporary_out(to);
    copier c = { .u = u, .how = { u->l, u->env->pool }, .to = &out };
    CIP_TRY(present_space(u, a, &c.from, err));
    CIP_TRY(cip_cast_make(a->dtype, a->dtype, CIP_OVERFLOW_ERROR, &c.cast, err));
    cip_status st = copy_view(&c, view, err);
    cip_mem_put(&u->env->mem, c.buf);
    return st;
}

/* --- rows
 * ------------------------------------------------------------------------------------------- */

static cip_status add_rows(asdf_update *u, const cip_array *a, uint64_t nelem, const cip_feed *feed,
                           cip_io *to, cip_err *err)
{
    cip_status st = CIP_OK;
    void *buf;
    uint64_t size = a->dtype->itemsize, each = cip_max_u64(1, PIECE / cip_max_u64(1, size));
    cip_out out = cip_temporary_out(to);
    CIP_TRY(cip_mem_zeroed(&u->env->mem, (size_t)each, (size_t)size, &buf, err));
    for (uint64_t left = nelem; left != 0 && st == CIP_OK;) {
        uint64_t n = cip_min_u64(each, left);
        CIP_GO(feed->next(feed->self, n, buf, err));
        CIP_GO(cip_out_write(&out, buf, (size_t)(n * size), err));
        left -= n;
    }
done:
    cip_mem_put(&u->env->mem, buf);
    return st;
}

/* Whether the array's elements end where the block's decoded bytes end, so that rows may follow;
 * in a streamed block a torn row at the end goes. */
static bool ends_block(const asdf_update *u, const cip_array *a, uint64_t rowbytes, uint64_t *end)
{
    const asdf_ublock *b = &u->b[a->storage.block];
    uint64_t first, len;
    if (!cip_view_is_contiguous(&a->view) || b->rows != NULL ||
        cip_view_bounds(&a->view, &first, end, NULL) != CIP_OK)
        return false;
    if (*end == 0)
        *end = a->view.off;
    len = b->shadow != NULL           ? b->shadow->size
          : cip_asdf_is_raw(&b->head) ? b->kept
                                      : u->l->block[a->storage.block].data->len;
    return *end == len || (cip_asdf_is_streamed(&b->head) && *end < len && len - *end < rowbytes);
}

bool cip_asdf_update_star(const cip_array *a)
{
    const cip_node *shape = cip_map_get(a->node, "shape");
    return cip_node_kind(shape) == CIP_NODE_SEQ && shape->len != 0 &&
           cip_node_is_string(shape->item[0], "*");
}

/* The whole shape, as a part of it may belong to another array by an alias. */
static cip_status new_length(asdf_update *u, const cip_array *a, const int64_t *shape, cip_err *err)
{
    const cip_node *node;
    if (cip_asdf_update_star(a))
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
static cip_status own_content(asdf_update *u, const cip_array *a, int32_t ndim,
                              const int64_t *shape, cip_io *content, cip_err *err)
{
    cip_status st;
    const size_t *users;
    size_t block = (size_t)a->storage.block;
    cip_node *source;
    const cip_node *node;
    CIP_GO(cip_asdf_update_touch(u, a, true, err));
    CIP_GO(cip_asdf_update_users(u, &users, err));
    if (users[block] != 1 || u->b[block].rows != NULL) {
        CIP_GO(cip_asdf_update_new_block(u, block, &block, err));
        CIP_GO(cip_node_new_int(u->arena, (int64_t)block, &source, err));
        CIP_GO(cip_asdf_update_key(u, a, "source", source, err));
    }
    CIP_GO(cip_asdf_shape_node(u->arena, ndim, shape, cip_asdf_update_star(a), &node, err));
    CIP_GO(cip_asdf_update_key(u, a, "shape", node, err));
    CIP_GO(drop_key(u, a, "offset", err));
    CIP_GO(drop_key(u, a, "strides", err));
    cip_io_close(u->b[block].shadow);
    u->b[block].shadow = content;
    u->b[block].kept = 0;
    u->b[block].changed = true;
    content = NULL;
    st = note_shape(u, a, shape, block, err);
done:
    cip_io_close(content);
    return st;
}

/* Neither a mask of its own shape nor an array whose mask it is. */
static cip_status no_mask(const cip_layout *l, const cip_array *a, cip_err *err)
{
    for (size_t i = 0; i < l->narray; i++) {
        const cip_array *m = l->array[i]->mask.array;
        if (m != NULL && m->node != NULL && m->node == a->node)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the array is the mask of '%.80s', which it would no longer fit",
                            l->array[i]->path);
    }
    if (a->mask.kind != CIP_MASK_SET_MISSING || a->mask.array->view.ndim < a->view.ndim)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "the array has a mask of its own shape, which would no longer fit");
}

static cip_status append_anew(asdf_update *u, const cip_array *a, uint64_t nelem,
                              const int64_t *shape, const cip_feed *feed, cip_err *err)
{
    cip_io *content;
    CIP_TRY(cip_temporary_new(u->env, u->l->io->name, &content, err));
    cip_status st = copy_elements(u, a, &a->view, content, err);
    if (st == CIP_OK)
        st = add_rows(u, a, nelem, feed, content, err);
    if (st == CIP_OK)
        return own_content(u, a, a->view.ndim, shape, content, err);
    cip_io_close(content);
    return st;
}

/* Elements in nrow rows. */
static cip_status count_rows(const cip_array *a, uint64_t nrow, int64_t *shape, uint64_t *nelem,
                             cip_err *err)
{
    uint64_t row, nbytes;
    if (a->view.ndim == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected an array of at least one axis");
    memcpy(shape, a->view.shape, sizeof a->view.shape);
    if (!cip_shape_nelem(a->view.ndim - 1, shape + 1, &row) || cip_mul_overflow(row, nrow, nelem) ||
        cip_mul_overflow(*nelem, a->dtype->itemsize, &nbytes) ||
        cip_add_overflow(shape[0], nrow, &shape[0]))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "rows of over 2^63 bytes");
    return CIP_OK;
}

cip_status cip_asdf_update_append(void *state, const cip_array *a, uint64_t nrow,
                                  const cip_feed *feed, cip_err *err)
{
    asdf_update *u = state;
    int64_t shape[CIP_MAX_NDIM];
    uint64_t nelem, end;
    CIP_TRY(check_array(u, &a, err));
    CIP_TRY(check_place(u, a, true, err));
    CIP_TRY(no_mask(u->l, a, err));
    CIP_TRY(count_rows(a, nrow, shape, &nelem, err));
    if (is_inline(a))
        return cip_asdf_inline_append(u, a, nelem, (int64_t)nrow, feed, err);
    CIP_TRY(cip_asdf_update_touch(u, a, false, err));
    if (nelem == 0)
        return new_length(u, a, shape, err);
    if (!ends_block(u, a, nelem / nrow * a->dtype->itemsize, &end))
        return append_anew(u, a, nelem, shape, feed, err);
    asdf_ublock *b = &u->b[a->storage.block];
    CIP_TRY(new_length(u, a, shape, err));
    CIP_TRY(drop_key(u, a, "strides", err)); /* those of a single row may have meant nothing */
    CIP_TRY(note_shape(u, a, shape, (size_t)a->storage.block, err));
    if (b->shadow != NULL)
        CIP_TRY(cip_temporary_resize(b->shadow, end, err));
    else if (cip_asdf_is_raw(&b->head))
        b->kept = end;
    b->changed = true;
    CIP_TRY(cip_temporary_new(u->env, u->l->io->name, &b->rows, err));
    return add_rows(u, a, nelem, feed, b->rows, err);
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
        cip_map_get(a->node, "strides") != NULL || no_mask(l, a, NULL) != CIP_OK)
        return false;
    const cip_layout *where = streamed_in(l, a, &space);
    if (where == NULL || cip_asdf_check_numbers(cip_asdf_of(where), NULL) != CIP_OK)
        return false;
    *in = where->io;
    *nbytes = space->len;
    return true;
}

/* --- another shape, another array
 * -------------------------------------------------------------------- */

typedef struct packed {
    cip_io *from;
    uint64_t at, itemsize;
} packed;

static cip_status next_packed(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    packed *p = self;
    size_t n = (size_t)(nelem * p->itemsize);
    CIP_TRY(cip_io_read(p->from, p->at, dst, n, err));
    p->at += n;
    return CIP_OK;
}

static cip_status put_content(void *user, uint64_t off, cip_bytes bytes, cip_err *err)
{
    return cip_temporary_write(user, off, bytes.ptr, bytes.len, err);
}

/* The elements inside both shapes, where `to` has them. */
static cip_status keep_common(asdf_update *u, const cip_array *a, const cip_nd *to, cip_io *content,
                              cip_err *err)
{
    cip_nd from = a->view, common = *to;
    cip_io *old;
    for (int32_t i = 0; i < to->ndim; i++)
        from.shape[i] = common.shape[i] =
            a->view.shape[i] < to->shape[i] ? a->view.shape[i] : to->shape[i];
    CIP_TRY(cip_temporary_new(u->env, u->l->io->name, &old, err));
    cip_status st = copy_elements(u, a, &from, old, err);
    packed p = { old, 0, a->dtype->itemsize };
    const cip_feed feed = { next_packed, &p };
    const cip_scatter_to target = {
        .io = content, .live = true, .put = put_content, .user = content
    };
    if (st == CIP_OK && old->size != 0)
        st = cip_scatter(u->env, &target, &common, &feed, err);
    cip_io_close(old);
    return st;
}

cip_status cip_asdf_update_resize(void *state, const cip_array *a, const int64_t *shape,
                                  cip_err *err)
{
    asdf_update *u = state;
    cip_nd to;
    uint64_t nelem, nbytes;
    cip_io *content;
    CIP_TRY(check_array(u, &a, err));
    CIP_TRY(check_place(u, a, true, err));
    CIP_TRY(no_mask(u->l, a, err));
    if (is_inline(a)) {
        CIP_TRY(cip_asdf_update_touch(u, a, true, err));
        return cip_asdf_inline_resize(u, a, shape, err);
    }
    CIP_TRY(cip_view_c_order(a->view.ndim, shape, a->dtype->itemsize, &to, err));
    if (!cip_shape_nelem(to.ndim, to.shape, &nelem) ||
        cip_mul_overflow(nelem, to.itemsize, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a shape of over 2^63 bytes");
    CIP_TRY(cip_temporary_new(u->env, u->l->io->name, &content, err));
    cip_status st = cip_temporary_resize(content, nbytes, err);
    if (st == CIP_OK)
        st = keep_common(u, a, &to, content, err);
    if (st == CIP_OK)
        return own_content(u, a, to.ndim, shape, content, err);
    cip_io_close(content);
    return st;
}
