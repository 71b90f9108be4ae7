/* SPDX-License-Identifier: BSD-3-Clause
 * Inline data, converting: nested lists become elements in C order when they are first read. */
#include "format/asdf/asdf.h"

#include <string.h>

#include "array/cast.h"
#include "base/num.h"

/* A lazy space's own; in the arena. */
typedef struct filler {
    cip_layout *layout;
    asdf_inline in;
    bool nulls;            /* a byte for each element: whether it is null */
    bool in_fields;        /* the nulls in records' fields, where their items are */
    const cip_array *also; /* with `nulls`: flags that are set besides, or NULL ... */
    cip_nd flags;          /* ... and where they are, with the shape of the data */
} filler;

static cip_status one(const filler *s, const cip_node *n, uint8_t *dst, cip_err *err)
{
    if (s->in_fields) {
        memset(dst, 0, (size_t)s->in.dtype->itemsize);
        cip_asdf_nulls_in_fields(s->in.dtype, n, dst);
        return CIP_OK;
    }
    if (!s->nulls)
        return cip_asdf_element(s->in.dtype, n, dst, err);
    *dst = n->type == CIP_NODE_NULL;
    if (*dst || s->in.missing == NULL)
        return CIP_OK;
    uint8_t value[16]; /* of the widest number */
    CIP_TRY(cip_asdf_element(s->in.dtype, n, value, err));
    return cip_equal_run(s->in.dtype, s->in.missing, value, 1, dst, err);
}

/* Sets what `also` has set. */
static cip_status unite(const filler *s, uint8_t *bytes, size_t n, cip_err *err)
{
    const cip_read_how how = { .layout = s->layout };
    const cip_array *m = s->also;
    cip_cast cast;
    cip_cast_stats stats = { 0 };
    cip_nd packed;
    uint8_t *set;
    CIP_TRY(cip_cast_make(m->dtype, cip_dtype_of(CIP_BOOL), CIP_OVERFLOW_CLAMP, &cast, err));
    CIP_TRY(cip_view_c_order(s->in.ndim, s->in.shape, 1, &packed, err));
    CIP_TRY(CIP_NEW(&s->layout->env->mem, &set, n, err));
    cip_status st = cip_space_gather(
        &how, m->space, &(cip_transfer){ &s->flags, &cast, &packed, set }, &stats, err);
    for (size_t i = 0; st == CIP_OK && i < n; i++)
        bytes[i] |= set[i];
    cip_mem_put(&s->layout->env->mem, set);
    return st;
}

/* The lists were found regular when the file was opened. */
static cip_status fill(const filler *s, const cip_node *n, int32_t axis, uint8_t **dst,
                       cip_err *err)
{
    if (axis == s->in.ndim) {
        CIP_TRY(one(s, n, *dst, err));
        *dst += s->nulls ? 1 : s->in.dtype->itemsize;
        return CIP_OK;
    }
    for (uint32_t i = 0; i < n->len; i++)
        CIP_TRY(fill(s, n->item[i], axis + 1, dst, err));
    return CIP_OK;
}

static cip_status make(void *self, cip_space **out, cip_err *err)
{
    const filler *s = self;
    cip_layout *l = s->layout;
    uint8_t *bytes, *at;
    uint64_t nbytes;
    size_t n;
    if (!cip_shape_nelem(s->in.ndim, s->in.shape, &nbytes) ||
        cip_mul_overflow(nbytes, s->nulls ? 1 : s->in.dtype->itemsize, &nbytes) ||
        !cip_to_size(nbytes, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "inline data of over 2^63 bytes");
    pthread_mutex_lock(&l->lock);
    cip_status st = cip_arena_get(&l->arena, n, (void **)&bytes, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    at = bytes;
    st = fill(s, s->in.data, 0, &at, err);
    if (st == CIP_OK && s->also != NULL && n != 0)
        st = unite(s, bytes, n, err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "%s", s->in.path);
    return cip_space_new_mem(l, (cip_bytes){ bytes, n }, out, err);
}

static cip_status new_filler(asdf_file *f, const filler *how, cip_space **out, cip_err *err)
{
    filler *s;
    CIP_TRY(CIP_ARENA_NEW(&f->layout->arena, &s, 1, err));
    *s = *how;
    return cip_space_new_lazy(f->layout, make, s, out, err);
}

cip_status cip_asdf_inline_space(asdf_file *f, const asdf_inline *in, cip_space **out, cip_err *err)
{
    const filler how = { .layout = f->layout, .in = *in };
    return new_filler(f, &how, out, err);
}

cip_status cip_asdf_inline_in_fields(asdf_file *f, const asdf_inline *in, cip_space **out,
                                     cip_err *err)
{
    const filler how = { .layout = f->layout, .in = *in, .in_fields = true };
    return new_filler(f, &how, out, err);
}

cip_status cip_asdf_inline_nulls(asdf_file *f, const asdf_inline *in, const cip_array *also,
                                 const cip_nd *flags, cip_space **out, cip_err *err)
{
    filler how = { .layout = f->layout, .in = *in, .nulls = true, .also = also };
    if (also != NULL)
        how.flags = *flags;
    return new_filler(f, &how, out, err);
}
