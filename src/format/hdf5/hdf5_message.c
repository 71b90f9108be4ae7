/* SPDX-License-Identifier: BSD-3-Clause
 * What a dataset's messages say: its shape, layout, filters and fill value. */
#include "format/hdf5/hdf5.h"

/* --- dataspace -------------------------------------------------------------------------------- */

cip_status cip_h5_shape_read(const cip_h5 *f, cip_bytes in, uint64_t at, cip_h5_shape *s,
                             cip_err *err)
{
    cip_cursor c = cip_cursor_le(in);
    const uint8_t version = cip_get_u8(&c), rank = cip_get_u8(&c), flags = cip_get_u8(&c);
    *s = (cip_h5_shape){ .rank = rank };
    if (version == 2)
        s->null = cip_get_u8(&c) == 2;
    else
        cip_get_bytes(&c, 5);
    if (version < 1 || version > 2 || rank > CIP_H5_MAX_RANK)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, at,
                        "expected a dataspace of version 1 or 2 and at most %d axes, found version "
                        "%u and %u axes",
                        CIP_H5_MAX_RANK, version, rank);
    for (int32_t k = 0; k < rank; k++) {
        const uint64_t n = cip_h5_length(f, &c);
        if (n > INT64_MAX)
            return cip_fail(err, CIP_ERR_CORRUPT, at,
                            "expected an axis of less than 2^63 elements, found %" PRIu64, n);
        s->dim[k] = (int64_t)n;
        s->max[k] = n;
    }
    for (int32_t k = 0; k < rank && (flags & 1) != 0; k++) {
        s->max[k] = cip_h5_length(f, &c);
        if (f->lsize < 8 && s->max[k] == (UINT64_C(1) << 8 * f->lsize) - 1)
            s->max[k] = CIP_H5_NONE;
        if (s->max[k] < (uint64_t)s->dim[k])
            return cip_fail(err, CIP_ERR_CORRUPT, at,
                            "expected at most %" PRIu64 " elements along axis %d, found %" PRId64,
                            s->max[k], k, s->dim[k]);
    }
    return cip_h5_end(&c, "dataspace", at, err);
}

/* --- layout ----------------------------------------------------------------------------------- */

/* `rank` lengths and that of an element behind them. */
static cip_status read_chunk_shape(cip_h5_dataset *d, cip_cursor *c, size_t each, uint64_t rank,
                                   uint64_t at, cip_err *err)
{
    d->chunk_nbytes = d->itemsize;
    if (rank != (uint64_t)d->shape.rank + 1 || rank == 1)
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected chunks of %d axes and an element, found %" PRIu64, d->shape.rank,
                        rank);
    for (int32_t k = 0; k < d->shape.rank; k++) {
        const uint64_t n = cip_h5_uint(c, each);
        if (n == 0 || n > INT64_MAX || cip_mul_overflow(d->chunk_nbytes, n, &d->chunk_nbytes) ||
            d->chunk_nbytes > INT64_MAX)
            return cip_fail(err, CIP_ERR_CORRUPT, at,
                            "expected chunks of 1 to 2^63 bytes, found %" PRIu64
                            " elements along axis %d",
                            n, k);
        d->chunk[k] = (int64_t)n;
    }
    const uint64_t item = cip_h5_uint(c, each);
    if (!c->bad && item != d->itemsize)
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected chunks of elements of %" PRIu64 " bytes, found %" PRIu64,
                        d->itemsize, item);
    return CIP_OK;
}

static cip_status read_old_layout(cip_h5_dataset *d, cip_cursor *c, uint64_t at, cip_err *err)
{
    const uint8_t rank = cip_get_u8(c);
    d->layout = cip_get_u8(c);
    cip_get_bytes(c, 5);
    if (d->layout != 0)
        d->at = cip_h5_address(d->f, c);
    if (d->layout == 2)
        return read_chunk_shape(d, c, 4, rank, at, err);
    cip_get_bytes(c, 4 * (size_t)rank);
    if (d->layout == 0)
        d->compact = cip_get_bytes(c, cip_get_u32(c));
    d->nbytes = UINT64_MAX; /* not said */
    return CIP_OK;
}

static cip_status read_new_chunked(cip_h5_dataset *d, cip_cursor *c, uint64_t at, cip_err *err)
{
    const uint8_t flags = cip_get_u8(c), rank = cip_get_u8(c), each = cip_get_u8(c);
    if (each == 0 || each > 8)
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected lengths of 1 to 8 bytes in a layout, found %u", each);
    CIP_TRY(read_chunk_shape(d, c, each, rank, at, err));
    d->bare_edges = (flags & 1) != 0;
    d->index = cip_get_u8(c);
    switch (d->index) {
    case CIP_H5_SINGLE:
        d->single_filtered = (flags & 2) != 0;
        d->nbytes = d->chunk_nbytes;
        if (d->single_filtered) {
            d->nbytes = cip_h5_length(d->f, c);
            d->single_mask = cip_get_u32(c);
        }
        break;
    case CIP_H5_IMPLICIT:
        break;
    case CIP_H5_FIXED_ARRAY:
        cip_get_bytes(c, 1);
        break;
    case CIP_H5_EXTENSIBLE:
        cip_get_bytes(c, 5);
        break;
    case CIP_H5_BTREE2:
        cip_get_bytes(c, 6);
        break;
    default:
        return cip_fail(err, CIP_ERR_UNSUPPORTED, at,
                        "expected a chunk index of kind 1 to 5, found %u", d->index);
    }
    d->at = cip_h5_address(d->f, c);
    return CIP_OK;
}

static cip_status read_layout(cip_h5_dataset *d, const cip_h5_message *m, cip_err *err)
{
    cip_cursor c = cip_cursor_le(m->data);
    d->version = cip_get_u8(&c);
    if (d->version < 1 || d->version > 5)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, m->at,
                        "expected a layout of version 1 to 5, found %u", d->version);
    if (d->version < 3) {
        CIP_TRY(read_old_layout(d, &c, m->at, err));
    } else {
        d->layout = cip_get_u8(&c);
        if (d->layout == 0) {
            d->compact = cip_get_bytes(&c, cip_get_u16(&c));
        } else if (d->layout == 1) {
            d->at = cip_h5_address(d->f, &c);
            d->nbytes = cip_h5_length(d->f, &c);
        } else if (d->layout == 2 && d->version == 3) {
            const uint8_t rank = cip_get_u8(&c);
            d->at = cip_h5_address(d->f, &c);
            CIP_TRY(read_chunk_shape(d, &c, 4, rank, m->at, err));
        } else if (d->layout == 2) {
            CIP_TRY(read_new_chunked(d, &c, m->at, err));
        }
    }
    if (d->layout > 3)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, m->at,
                        "expected a layout of class 0 to 3, found %u", d->layout);
    return cip_h5_end(&c, "layout", m->at, err);
}

/* --- filters ---------------------------------------------------------------------------------- */

static cip_status read_filter(cip_arena *a, cip_cursor *c, unsigned version, cip_h5_filter *out,
                              cip_err *err)
{
    uint32_t *value;
    char *name;
    out->id = cip_get_u16(c);
    const uint16_t name_len = version == 1 || out->id >= 256 ? cip_get_u16(c) : 0;
    cip_get_u16(c); /* flags: whether a failure while writing is one */
    out->n = cip_get_u16(c);
    const size_t padded = version == 1 ? (name_len + 7u) / 8 * 8 : name_len;
    const cip_bytes text = cip_get_bytes(c, padded);
    if (4 * (size_t)out->n > cip_cursor_left(c))
        c->bad = true;
    if (c->bad)
        return CIP_OK;
    CIP_TRY(cip_arena_copy(a, text.ptr, strnlen((const char *)text.ptr, text.len), &name, err));
    CIP_TRY(CIP_ARENA_NEW(a, &value, out->n, err));
    for (uint32_t i = 0; i < out->n; i++)
        value[i] = cip_get_u32(c);
    if (version == 1 && out->n % 2 != 0)
        cip_get_bytes(c, 4);
    out->name = name;
    out->value = value;
    return CIP_OK;
}

static cip_status read_filters(cip_h5_dataset *d, const cip_h5_message *m, cip_err *err)
{
    cip_arena *a = &d->f->layout->arena;
    cip_cursor c = cip_cursor_le(m->data);
    const uint8_t version = cip_get_u8(&c);
    cip_h5_filter *list;
    d->nfilter = cip_get_u8(&c);
    if (version < 1 || version > 2 || d->nfilter > CIP_H5_MAX_FILTERS)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, m->at,
                        "expected at most %d filters of version 1 or 2, found %" PRIu32
                        " of version %u",
                        CIP_H5_MAX_FILTERS, d->nfilter, version);
    if (version == 1)
        cip_get_bytes(&c, 6);
    CIP_TRY(CIP_ARENA_NEW(a, &list, d->nfilter, err));
    for (uint32_t i = 0; i < d->nfilter; i++)
        CIP_TRY(read_filter(a, &c, version, &list[i], err));
    d->filter = list;
    return cip_h5_end(&c, "filters", m->at, err);
}

/* --- fill value ------------------------------------------------------------------------------- */

static cip_status keep_fill(cip_h5_dataset *d, cip_bytes in, uint64_t at, cip_err *err)
{
    char *copy;
    if (in.len == 0)
        return CIP_OK;
    if (in.len != d->itemsize)
        return cip_fail(err, CIP_ERR_CORRUPT, at,
                        "expected a fill value of %" PRIu64 " bytes, found %zu", d->itemsize,
                        in.len);
    CIP_TRY(cip_arena_copy(&d->f->layout->arena, in.ptr, in.len, &copy, err));
    for (size_t i = 0; i < in.len; i++)
        if (copy[i] != 0) {
            d->fill = (cip_bytes){ (const uint8_t *)copy, in.len };
            break;
        }
    return CIP_OK;
}

static cip_status read_fill(cip_h5_dataset *d, const cip_h5_message *m, cip_err *err)
{
    cip_cursor c = cip_cursor_le(m->data);
    bool there = true;
    if (m->type == CIP_H5_FILL) {
        const uint8_t version = cip_get_u8(&c);
        if (version < 1 || version > 3)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, m->at,
                            "expected a fill value of version 1 to 3, found %u", version);
        if (version == 3) {
            there = (cip_get_u8(&c) & 0x20) != 0;
        } else {
            cip_get_bytes(&c, 2);
            there = cip_get_u8(&c) != 0;
        }
    }
    if (!there || c.bad || (m->type == CIP_H5_FILL && cip_cursor_left(&c) < 4))
        return cip_h5_end(&c, "fill value", m->at, err);
    const uint32_t n = cip_get_u32(&c);
    const cip_bytes value = cip_get_bytes(&c, (int32_t)n < 0 ? 0 : n);
    CIP_TRY(cip_h5_end(&c, "fill value", m->at, err));
    return keep_fill(d, value, m->at, err);
}

cip_status cip_h5_dataset_read(cip_h5_work *w, const cip_h5_object *o, cip_h5_dataset *d,
                               cip_err *err)
{
    cip_h5_message m;
    const cip_h5_message *layout = cip_h5_find_message(o, CIP_H5_LAYOUT);
    const cip_h5_message *filters = cip_h5_find_message(o, CIP_H5_FILTERS);
    const cip_h5_message *fill = cip_h5_find_message(o, CIP_H5_FILL);
    if (fill == NULL)
        fill = cip_h5_find_message(o, CIP_H5_OLD_FILL);
    d->f = w->f;
    d->external = cip_h5_find_message(o, CIP_H5_EXTERNAL) != NULL;
    CIP_TRY(cip_h5_own(w, layout, &m, err));
    CIP_TRY(read_layout(d, &m, err));
    if (d->layout == 0) {
        char *copy;
        CIP_TRY(cip_arena_copy(&w->f->layout->arena, d->compact.ptr, d->compact.len, &copy, err));
        d->compact.ptr = (const uint8_t *)copy;
    }
    if (filters != NULL && d->layout == 2) {
        CIP_TRY(cip_h5_own(w, filters, &m, err));
        CIP_TRY(read_filters(d, &m, err));
    }
    if (fill == NULL)
        return CIP_OK;
    CIP_TRY(cip_h5_own(w, fill, &m, err));
    return read_fill(d, &m, err);
}
