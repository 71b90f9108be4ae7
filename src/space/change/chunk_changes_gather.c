/* SPDX-License-Identifier: BSD-3-Clause
 * Elements of an array in another order: boxes of it are read as they are now and written, one
 * after the other, to where they belong in the file of elements. Nothing else changes. */
#include "space/change/chunk_changes_impl.h"

#include <string.h>

#include "base/num.h"

enum {
    PIECE = 1 << 20,
    SPARSE = 64 /* bytes between the elements of a box for each byte of them, above which they are
                   copied one by one */
};

typedef struct copier {
    const cip_chunk_changes *c;
    cip_cast cast;
    uint64_t base; /* where byte 0 of the new bytes lies */
    uint8_t *buf;  /* grows */
    size_t cap;
} copier;

/* The bytes of `to` from `first` to `end`, with the elements of the box in them. */
static cip_status copy_box(copier *k, const cip_nd *from, const cip_nd *to, uint64_t first,
                           uint64_t end, cip_err *err)
{
    size_t n;
    cip_nd in_buf = *to;
    if (!cip_to_size(end - first, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an element of over %zu bytes",
                        SIZE_MAX);
    if (n > k->cap) {
        CIP_TRY(cip_mem_resize(k->c->mem, (void **)&k->buf, n, err));
        k->cap = n;
    }
    if (!cip_view_is_contiguous(to))
        CIP_TRY(cip_io_read(k->c->elems, k->base + first, k->buf, n, err));
    in_buf.off -= first;
    CIP_TRY(cip_space_gather(&k->c->how, k->c->now,
                             &(cip_transfer){ from, &k->cast, &in_buf, k->buf }, NULL, err));
    return cip_temporary_write(k->c->elems, k->base + first, k->buf, n, err);
}

/* Two views of one shape, cut into boxes whose bytes in `to` lie near each other. */
static cip_status copy_view(copier *k, const cip_nd *from, const cip_nd *to, cip_err *err)
{
    uint64_t first, end, nelem = 1;
    int32_t axis = 0;
    CIP_TRY(cip_view_bounds(to, &first, &end, err));
    for (int32_t i = 0; i < to->ndim; i++)
        nelem *= (uint64_t)to->shape[i]; /* of fewer bytes than `to` spans */
    while (axis < to->ndim && to->shape[axis] <= 1)
        axis++;
    const bool sparse = (end - first) / SPARSE > nelem * to->itemsize;
    if (end == first)
        return CIP_OK;
    if (axis == to->ndim || (end - first <= PIECE && !sparse))
        return copy_box(k, from, to, first, end, err);
    const uint64_t n = (uint64_t)to->shape[axis];
    const uint64_t step = sparse ? 1 : cip_max_u64(1, n / ((end - first) / PIECE + 1));
    cip_nd a = *from, b = *to;
    for (uint64_t i = 0; i < n; i += step) { /* as deep as there are axes */
        a.off = from->off + i * (uint64_t)from->stride[axis];
        b.off = to->off + i * (uint64_t)to->stride[axis];
        a.shape[axis] = b.shape[axis] = (int64_t)cip_min_u64(step, n - i);
        CIP_TRY(copy_view(k, &a, &b, err));
    }
    return CIP_OK;
}

static cip_status put(void *user, const cip_scatter_run *run, size_t n, cip_err *err)
{
    const cip_chunk_changes *c = user;
    for (size_t i = 0; i < n; i++)
        CIP_TRY(cip_temporary_write(c->elems, run[i].off, run[i].bytes.ptr, run[i].bytes.len, err));
    return CIP_OK;
}

/* Elements inside both shapes. */
static size_t make_boxes(const cip_nd *was, const cip_nd *to, const cip_splice *s,
                         cip_splice_box box[2])
{
    if (s != NULL) {
        cip_splice_boxes(s, was, to, box);
        return 2;
    }
    box[0] = (cip_splice_box){ *was, *to };
    for (int32_t i = 0; i < to->ndim; i++)
        box[0].from.shape[i] = box[0].to.shape[i] =
            was->shape[i] < to->shape[i] ? was->shape[i] : to->shape[i];
    return 1;
}

cip_status cip_changes_gather(cip_chunk_changes *c, const cip_nd *was, const int64_t *shape,
                              const cip_splice *s, cip_need *out, cip_err *err)
{
    const cip_dtype bytes = { .kind = CIP_OPAQUE, .itemsize = was->itemsize, .name = "bytes" };
    copier k = { .c = c };
    cip_splice_box box[2];
    cip_nd to;
    cip_status st;
    const cip_grid as = { .itemsize = was->itemsize, .ndim = was->ndim };
    CIP_TRY(cip_linear_len(&as, shape, &out->len, err));
    CIP_TRY(cip_view_c_order(was->ndim, shape, was->itemsize, &to, err));
    CIP_TRY(cip_cast_make(&bytes, &bytes, CIP_OVERFLOW_ERROR, &k.cast, err));
    CIP_TRY(cip_chunk_elems_room(c, out->len, &k.base, err));
    const size_t n = make_boxes(was, &to, s, box);
    for (size_t i = 0; i < n; i++)
        CIP_GO(copy_view(&k, &box[i].from, &box[i].to, err));
    st = CIP_OK;
    if (s != NULL && s->feed != NULL && s->added != 0) { /* what comes in the midst */
        const cip_nd room = cip_splice_room(s, &to);
        const cip_scatter_to at = {
            .io = c->elems, .live = true, .base = k.base, .put = put, .user = c
        };
        st = cip_scatter(c->layout->env, &at, &room, s->feed, err);
    }
    out->off = k.base;
done:
    cip_mem_put(c->mem, k.buf);
    return st;
}
