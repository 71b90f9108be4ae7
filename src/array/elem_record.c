/* SPDX-License-Identifier: BSD-3-Clause
 * Records: making them from fields, rebuilding dtypes in another order or packing, comparing. Their
 * nesting and the number of types in them are bounded when they are made, so the walks here (and
 * anyone's) may recurse. */
#include "array/elem.h"

#include <string.h>

#include "array/quote.h"
#include "array/view.h"
#include "base/num.h"
#include "base/strmap.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

enum { MAX_DEPTH = 32, MAX_WEIGHT = 1 << 20, MAX_NAME = 65535 };

uint64_t cip_field_nbytes(const cip_field *f)
{
    uint64_t nelem = 0;
    cip_shape_nelem(f->ndim, f->shape, &nelem);
    return nelem * f->dtype->itemsize;
}

const cip_field *cip_dtype_find_field(const cip_dtype *d, const char *name, size_t len)
{
    for (size_t i = 0; i < d->nfield; i++)
        if (strlen(d->field[i].name) == len && memcmp(d->field[i].name, name, len) == 0)
            return &d->field[i];
    return NULL;
}

/* "{x: float32, y: int16[3]}"; in a long one "..." stands for the fields at the end. */
static cip_status record_name(cip_arena *a, const cip_dtype *d, char **out, cip_err *err)
{
    const size_t most = MAX_NAME - strlen(", ...}");
    cip_buf b = { .mem = a->mem };
    cip_status st;
    CIP_GO(cip_buf_add(&b, "{", 1, err));
    for (size_t i = 0; i < d->nfield; i++) {
        if (i > 0)
            CIP_GO(cip_buf_add(&b, ", ", 2, err));
        size_t before = b.len;
        /* "x: int16[3, 2]" */
        const cip_field *f = &d->field[i];
        const size_t len =
            strlen(f->name); /* quoted where it could be mistaken for anything else */
        CIP_GO(strspn(f->name, PLAIN) == len ? cip_buf_add(&b, f->name, len, err)
                                             : cip_quote_utf8(&b, f->name, len, false, err));
        CIP_GO(cip_buf_addf(&b, err, ": %s", f->dtype->name));
        for (int32_t k = 0; k < f->ndim; k++)
            CIP_GO(cip_buf_addf(&b, err, "%s%" PRId64, k == 0 ? "[" : ", ", f->shape[k]));
        if (f->ndim > 0)
            CIP_GO(cip_buf_add(&b, "]", 1, err));
        if (b.len > most) {
            b.len = before;
            CIP_GO(cip_buf_add(&b, "...", 3, err));
            break;
        }
    }
    CIP_GO(cip_buf_add(&b, "}", 1, err));
    CIP_GO(cip_arena_copy(a, b.ptr, b.len, out, err));
done:
    cip_buf_clear(&b);
    return st;
}

/* A copy of `in`, its name given and its shape checked. */
static cip_status copy_field(cip_arena *a, const cip_field *in, size_t i, cip_field *out,
                             cip_err *err)
{
    uint64_t nbytes;
    char *name;
    if (in->ndim < 0 || in->ndim > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a field of at most %d dimensions, found %" PRId32, CIP_MAX_NDIM,
                        in->ndim);
    if (!cip_shape_nelem(in->ndim, in->shape, &nbytes) ||
        cip_mul_overflow(nbytes, in->dtype->itemsize, &nbytes) || nbytes > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "the shape of field %zu is negative or needs over 2^63 - 1 bytes", i);
    *out = *in;
    if (in->name == NULL || in->name[0] == '\0')
        CIP_TRY(cip_arena_printf(a, &name, err, "f%zu", i));
    else
        CIP_TRY(cip_arena_copy(a, in->name, strlen(in->name), &name, err));
    int64_t *shape;
    CIP_TRY(CIP_ARENA_NEW(a, &shape, (size_t)in->ndim, err));
    for (int32_t k = 0; k < in->ndim; k++)
        shape[k] = in->shape[k];
    out->name = name;
    out->shape = shape;
    return CIP_OK;
}

/* Adds the i-th field's depth, weight and order to the record's; *end is moved to where it ends. */
static cip_status join_field(cip_dtype *d, cip_field *f, bool packed, uint64_t *end, cip_err *err)
{
    uint64_t stop;
    if (packed)
        f->offset = *end;
    if (cip_add_overflow(f->offset, cip_field_nbytes(f), &stop) || stop > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "a record of over 2^63 - 1 bytes (field at %" PRIu64 ")", f->offset);
    if (f->dtype->depth >= MAX_DEPTH)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "records nested more than %d levels deep", MAX_DEPTH);
    if (f->dtype->weight > MAX_WEIGHT - d->weight)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a record of over %d fields",
                        MAX_WEIGHT);
    d->weight += f->dtype->weight;
    if (d->depth <= f->dtype->depth)
        d->depth = f->dtype->depth + 1;
    d->big = d->big || f->dtype->big;
    *end = cip_max_u64(*end, stop);
    return CIP_OK;
}

static cip_status check_names(cip_arena *a, const cip_dtype *d, cip_err *err)
{
    cip_strmap names = { .mem = a->mem };
    cip_status st = CIP_OK;
    for (size_t i = 0; i < d->nfield; i++) {
        const char *name = d->field[i].name;
        size_t was;
        CIP_GO(cip_strmap_put(&names, (cip_bytes){ (const uint8_t *)name, strlen(name) }, i, &was,
                              err));
        if (was != SIZE_MAX)
            CIP_GO(cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "fields %zu and %zu have the same name", was, i));
    }
done:
    cip_strmap_clear(&names);
    return st;
}

cip_status cip_dtype_record(cip_arena *a, size_t n, const cip_field *fields, bool packed,
                            uint64_t itemsize, const cip_dtype **out, cip_err *err)
{
    cip_dtype *d;
    cip_field *f;
    char *name;
    uint64_t end = 0;
    *out = NULL;
    CIP_TRY(CIP_ARENA_NEW(a, &f, n, err));
    CIP_TRY(CIP_ARENA_NEW(a, &d, 1, err));
    *d = (cip_dtype){ .kind = CIP_RECORD, .nfield = n, .field = f, .depth = 1, .weight = 1 };
    for (size_t i = 0; i < n; i++) {
        CIP_TRY(copy_field(a, &fields[i], i, &f[i], err));
        CIP_TRY(join_field(d, &f[i], packed, &end, err));
    }
    if (itemsize > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "a record of %" PRIu64 " bytes",
                        itemsize);
    if (itemsize != 0 && end > itemsize)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected fields within the record's %" PRIu64
                        " bytes, found one up to byte %" PRIu64,
                        itemsize, end);
    d->itemsize = itemsize != 0 ? itemsize : end;
    CIP_TRY(check_names(a, d, err));
    CIP_TRY(record_name(a, d, &name, err));
    d->name = name;
    *out = d;
    return CIP_OK;
}

/* What to change in a copy. */
typedef struct change {
    bool pack, set_order, big;
} change;

static cip_status rebuild(cip_arena *a, const cip_dtype *d, change c, const cip_dtype **out,
                          cip_err *err)
{
    bool big = c.set_order ? c.big : d->big;
    cip_field *f;
    *out = NULL;
    switch (d->kind) {
    case CIP_ASCII:
        return cip_dtype_ascii(a, d->itemsize, out, err);
    case CIP_UCS4:
        return cip_dtype_ucs4(a, d->itemsize / 4, big, out, err);
    case CIP_OPAQUE:
        return cip_dtype_opaque(a, d->itemsize, d->name, out, err);
    case CIP_DATETIME64:
    case CIP_TIMEDELTA64:
        return cip_dtype_time(a, d->kind, d->unit, big, out, err);
    case CIP_RECORD:
        break;
    default:
        *out = cip_dtype_fixed(d->kind, big);
        return CIP_OK;
    }
    CIP_TRY(CIP_ARENA_NEW(a, &f, d->nfield, err));
    for (size_t i = 0; i < d->nfield; i++) {
        f[i] = d->field[i];
        CIP_TRY(rebuild(a, d->field[i].dtype, c, &f[i].dtype, err));
    }
    return cip_dtype_record(a, d->nfield, f, c.pack, c.pack ? 0 : d->itemsize, out, err);
}

cip_status cip_dtype_copy(cip_arena *a, const cip_dtype *d, const cip_dtype **out, cip_err *err)
{
    return rebuild(a, d, (change){ 0 }, out, err);
}

cip_status cip_dtype_packed_le(cip_arena *a, const cip_dtype *d, const cip_dtype **out,
                               cip_err *err)
{
    return rebuild(a, d, (change){ .pack = true, .set_order = true, .big = false }, out, err);
}

cip_status cip_dtype_with_order(cip_arena *a, const cip_dtype *d, bool big, const cip_dtype **out,
                                cip_err *err)
{
    return rebuild(a, d, (change){ .set_order = true, .big = big }, out, err);
}

bool cip_field_same_shape(const cip_field *f, const cip_field *g)
{
    return f->ndim == g->ndim && cip_same_lengths(f->ndim, f->shape, g->shape);
}

/* Compares two dtypes; `names`: names, labels and meaningless orders count, too. */
static bool same(const cip_dtype *a, const cip_dtype *b, bool names)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->itemsize != b->itemsize || a->nfield != b->nfield)
        return false;
    if (a->kind != CIP_RECORD && a->big != b->big && (names || a->itemsize != 0))
        return false;
    if (a->unit != NULL && strcmp(a->unit, b->unit) != 0)
        return false;
    if (names && a->kind == CIP_OPAQUE && strcmp(a->name, b->name) != 0)
        return false;
    for (size_t i = 0; i < a->nfield; i++) {
        const cip_field *f = &a->field[i], *g = &b->field[i];
        if (f->offset != g->offset || !cip_field_same_shape(f, g) ||
            !same(f->dtype, g->dtype, names))
            return false;
        if (names && strcmp(f->name, g->name) != 0)
            return false;
    }
    return true;
}

bool cip_dtype_equal(const cip_dtype *a, const cip_dtype *b)
{
    return same(a, b, true);
}

bool cip_dtype_same_bytes(const cip_dtype *a, const cip_dtype *b)
{
    return same(a, b, false);
}

/* --- by name ---------------------------------------------------------------------------------- */

cip_status cip_dtype_in_order_of(cip_arena *a, const cip_dtype *from, const cip_dtype *to,
                                 const char *hint, const cip_dtype **out, cip_err *err)
{
    cip_field *fields;
    bool as_it_is = true;
    *out = to;
    if (from->kind != CIP_RECORD || to->kind != CIP_RECORD)
        return CIP_OK;
    if (from->nfield != to->nfield)
        return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                        "expected a record of %zu fields to convert from, found %zu", to->nfield,
                        from->nfield);
    CIP_TRY(CIP_ARENA_NEW(a, &fields, from->nfield + 1, err));
    for (size_t i = 0; i < from->nfield; i++) { /* records nest at most 32 deep */
        const cip_field *f = &from->field[i], *g = &to->field[i];
        if (strcmp(f->name, g->name) != 0)
            g = cip_dtype_find_field(to, f->name, strlen(f->name));
        if (g == NULL)
            return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                            "expected the fields of %.70s, found '%.50s'%s", to->name, f->name,
                            hint);
        fields[i] = *g;
        CIP_TRY(cip_dtype_in_order_of(a, f->dtype, g->dtype, hint, &fields[i].dtype, err));
        as_it_is = as_it_is && g == &to->field[i] && fields[i].dtype == g->dtype;
    }
    return as_it_is ? CIP_OK
                    : cip_dtype_record(a, from->nfield, fields, false, to->itemsize, out, err);
}
