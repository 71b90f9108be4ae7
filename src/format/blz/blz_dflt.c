/* SPDX-License-Identifier: BSD-3-Clause
 * The value that fills rows which nobody wrote: dflt of meta/storage, a number or text for every
 * element, or lists as the row is shaped. */
#include <string.h>

#include "array/cast.h"
#include "base/endian.h"
#include "base/num.h"
#include "format/blz/blz_update.h"

static cip_status refuse(const cip_dtype *d, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a dflt that %.60s can hold, found another value: new rows would "
                    "differ from it; append the rows instead",
                    d->name);
}

static cip_status put_cast(const cip_dtype *from, const void *value, const cip_dtype *to,
                           uint8_t *dst, cip_err *err)
{
    cip_cast cast;
    cip_cast_stats stats = { 0, 0 };
    if (cip_cast_make(from, to, CIP_OVERFLOW_ERROR, &cast, NULL) != CIP_OK)
        return refuse(to, err);
    cip_cast_run(&cast, 1, value, (int64_t)from->itemsize, dst, (int64_t)to->itemsize, 0, &stats);
    return cip_cast_check(&cast, &stats, NULL, NULL) == CIP_OK ? CIP_OK : refuse(to, err);
}

static cip_status put_number(const cip_node *n, const cip_dtype *d, uint8_t *dst, cip_err *err)
{
    const bool time = cip_kind_is_time(d->kind);
    const cip_dtype *to = time ? cip_dtype_fixed(CIP_I64, d->big) : d;
    double part[2] = { 0, 0 };
    int64_t i = n->type == CIP_NODE_BOOL && n->b;
    uint64_t u;
    if (n->type == CIP_NODE_BOOL || cip_node_as_int(n, &i))
        return put_cast(cip_dtype_of(CIP_I64), &i, to, dst, err);
    if (cip_node_as_uint(n, &u))
        return put_cast(cip_dtype_of(CIP_U64), &u, to, dst, err);
    if (n->type == CIP_NODE_FLOAT && cip_node_as_double(n, &part[0]))
        return put_cast(cip_dtype_of(CIP_F64), part, to, dst, err);
    if (n->type != CIP_NODE_SEQ || n->len != 2 || !cip_node_as_double(n->item[0], &part[0]) ||
        !cip_node_as_double(n->item[1], &part[1]))
        return refuse(d, err);
    return put_cast(cip_dtype_of(CIP_C128), part, to, dst, err);
}

static cip_status put_axes(cip_arena *a, const cip_node *n, const cip_field *of, int32_t axis,
                           uint8_t *dst, cip_err *err);

static cip_status put_element(cip_arena *a, const cip_node *n, const cip_dtype *d, uint8_t *dst,
                              cip_err *err)
{
    int64_t zero;
    if (n->type == CIP_NODE_NULL || (cip_node_as_int(n, &zero) && zero == 0))
        return CIP_OK; /* of times and records too, which JSON has no value for */
    if (d->kind == CIP_ASCII || d->kind == CIP_UCS4) {
        /* Of ASCII, which is all that both kinds of text have for certain. */
        const cip_dtype *from;
        if (n->type != CIP_NODE_STRING)
            return refuse(d, err);
        for (uint32_t i = 0; i < n->len; i++)
            if ((uint8_t)n->text[i] > 0x7f)
                return refuse(d, err);
        CIP_TRY(cip_dtype_ascii(a, n->len, &from, err));
        return n->len == 0 ? CIP_OK : put_cast(from, n->text, d, dst, err);
    }
    if (d->kind == CIP_OPAQUE) /* no text but the empty one says which bytes it stands for */
        return n->type == CIP_NODE_STRING && n->len == 0 ? CIP_OK : refuse(d, err);
    if (d->kind != CIP_RECORD)
        return put_number(n, d, dst, err);
    if (n->type != CIP_NODE_SEQ || n->len != d->nfield)
        return refuse(d, err);
    for (size_t i = 0; i < d->nfield; i++) /* records nest no deeper than the dtype was read */
        CIP_TRY(put_axes(a, n->item[i], &d->field[i], 0, dst + d->field[i].offset, err));
    return CIP_OK;
}

/* A value counts for all elements, unless it is a list along the axis: what is a list for each
 * element (complex numbers, records) is told from that by how many lists there are within each
 * other, along the first items. */
static bool is_along_axis(const cip_node *n, const cip_dtype *d)
{
    const bool list = n->type == CIP_NODE_SEQ;
    unsigned own = 0, found = 0;
    for (; d->kind == CIP_RECORD && d->nfield != 0; d = d->field[0].dtype)
        own++;
    own += d->kind == CIP_C64 || d->kind == CIP_C128;
    for (; n->type == CIP_NODE_SEQ && n->len != 0; n = n->item[0])
        found++;
    return list && (own == 0 || found > own);
}

static cip_status put_axes(cip_arena *a, const cip_node *n, const cip_field *of, int32_t axis,
                           uint8_t *dst, cip_err *err)
{
    if (axis == of->ndim)
        return put_element(a, n, of->dtype, dst, err);
    const bool list = is_along_axis(n, of->dtype);
    if (list && n->len != (uint64_t)of->shape[axis])
        return refuse(of->dtype, err);
    uint64_t each = of->dtype->itemsize;
    for (int32_t k = axis + 1; k < of->ndim; k++)
        each *= (uint64_t)of->shape[k];
    for (int64_t i = 0; i < of->shape[axis]; i++, dst += each)
        CIP_TRY(put_axes(a, list ? n->item[i] : n, of, axis + 1, dst, err));
    return CIP_OK;
}

cip_status cip_blz_dflt(cip_arena *a, const cip_blz_meta *m, const uint8_t **row, cip_err *err)
{
    const cip_node *n = cip_map_get(m->storage, "dflt");
    const cip_field of = { .dtype = m->dtype, .ndim = m->ndim - 1, .shape = m->shape + 1 };
    uint8_t *bytes;
    *row = NULL;
    if (n == NULL)
        return CIP_OK;
    CIP_TRY(cip_arena_zeroed(a, (size_t)m->row, 1, (void **)&bytes, err));
    CIP_TRY(cip_fail_in(err, put_axes(a, n, &of, 0, bytes, err), "meta/storage"));
    for (size_t i = 0; i < m->row; i++)
        if (bytes[i] != 0)
            *row = bytes;
    return CIP_OK;
}

/* --- without fields that go ------------------------------------------------------------------- */

static cip_status keep_values(const cip_blz_state *u, const cip_field *of, size_t first,
                              const cip_node *n, const cip_node **out, cip_err *err)
{
    const cip_dtype *d = of->dtype;
    const bool axis = of->ndim != 0;
    const cip_field each = { .dtype = d,
                             .ndim = of->ndim - 1,
                             .shape = axis ? of->shape + 1 : NULL };
    cip_node *kept;
    uint32_t left = 0;
    if (axis && !is_along_axis(n, d))
        return keep_values(u, &each, first, n, out, err);
    *out = n;
    if (!axis && (d->kind != CIP_RECORD || n->type != CIP_NODE_SEQ || n->len != d->nfield))
        return CIP_OK;
    CIP_TRY(cip_node_new_seq(u->arena, n->len, &kept, err));
    for (size_t i = 0; i < n->len; i++) { /* records nest at most 32 deep */
        const cip_field *f = axis ? &each : &d->field[i];
        const size_t columns = axis ? 0 : cip_blz_count_columns(f->dtype);
        const cip_node *item;
        if (axis || cip_blz_has_left(u, first, columns)) {
            CIP_TRY(keep_values(u, f, first, n->item[i], &item, err));
            cip_node_set_item(kept, left++, item);
        }
        first += columns;
    }
    kept->len = left;
    *out = kept;
    return CIP_OK;
}

cip_status cip_blz_keep_dflt(const cip_blz_state *u, const cip_blz_meta *m, const cip_node **out,
                             cip_err *err)
{
    const cip_field of = { .dtype = m->dtype, .ndim = m->ndim - 1, .shape = m->shape + 1 };
    return keep_values(u, &of, 0, cip_map_get(m->storage, "dflt"), out, err);
}

/* --- with more fields ------------------------------------------------------------------------- */

/* A list of values for the fields that come, and the records that they come to. */
typedef struct coming {
    cip_arena *a;
    const cip_dtype *d;
    const cip_node *more;
} coming;

static cip_status add_values(const coming *c, const cip_node *n, int32_t axes, const cip_node **out,
                             cip_err *err)
{
    const cip_dtype *d = c->d;
    const cip_node *more = c->more;
    const bool list = axes > 0 && is_along_axis(n, d);
    cip_node *seq;
    *out = n;
    if (n->type != CIP_NODE_SEQ || (!list && n->len != d->nfield))
        return CIP_OK;
    CIP_TRY(cip_node_new_seq(c->a, n->len + (list ? 0 : more->len), &seq, err));
    for (uint32_t i = 0; i < n->len; i++) { /* no deeper than the array has axes */
        const cip_node *item = n->item[i];
        if (list)
            CIP_TRY(add_values(c, item, axes - 1, &item, err));
        cip_node_set_item(seq, i, item);
    }
    for (uint32_t i = 0; !list && i < more->len; i++)
        cip_node_set_item(seq, n->len + i, more->item[i]);
    *out = seq;
    return CIP_OK;
}

cip_status cip_blz_dflt_with(cip_arena *a, const cip_blz_meta *m, const cip_node *more,
                             const cip_node **out, cip_err *err)
{
    const cip_node *n = cip_map_get(m->storage, "dflt");
    *out = n;
    const coming c = { a, m->dtype, more };
    return n == NULL ? CIP_OK : add_values(&c, n, m->ndim - 1, out, err);
}
