/* SPDX-License-Identifier: BSD-3-Clause
 * Datatype messages as types, and what elements of such types are here. */
#include <stdio.h>

#include "base/endian.h"
#include "format/hdf5/hdf5.h"

typedef struct parse {
    cip_arena *a;
    cip_cursor c;
    uint64_t at; /* of the message in the file */
    unsigned depth;
} parse;

static cip_status read_type(parse *p, const cip_h5_type **out, cip_err *err);

static cip_status fail_end(const parse *p, cip_err *err)
{
    return cip_h5_end(&p->c, "datatype", p->at, err);
}

/* A name with its NUL, in old messages padded to 8 bytes. */
static cip_status read_name(parse *p, bool padded, const char **out, cip_err *err)
{
    const uint8_t *from = p->c.in.ptr + p->c.pos;
    const uint8_t *nul = memchr(from, 0, cip_cursor_left(&p->c));
    if (nul == NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, p->at, "datatype: expected a name that ends");
    size_t n = (size_t)(nul - from) + 1;
    if (padded)
        n = (n + 7) / 8 * 8;
    cip_get_bytes(&p->c, n);
    *out = (const char *)from;
    return fail_end(p, err);
}

static cip_status read_axes(parse *p, cip_h5_type *t, size_t skip, cip_err *err)
{
    int64_t *dim;
    if (t->n > CIP_H5_MAX_RANK)
        return cip_fail(err, CIP_ERR_CORRUPT, p->at, "datatype: expected at most %d axes, found %u",
                        CIP_H5_MAX_RANK, t->n);
    cip_get_bytes(&p->c, skip);
    CIP_TRY(CIP_ARENA_NEW(p->a, &dim, t->n, err));
    for (uint32_t i = 0; i < t->n; i++)
        dim[i] = cip_get_u32(&p->c);
    t->dim = dim;
    return CIP_OK;
}

static cip_status read_compound(parse *p, cip_h5_type *t, unsigned version, cip_err *err)
{
    cip_h5_member *m;
    t->n = t->bits & 0xffff;
    if (t->n > cip_cursor_left(&p->c))
        return cip_fail(err, CIP_ERR_CORRUPT, p->at, "datatype: expected %u fields", t->n);
    CIP_TRY(CIP_ARENA_NEW(p->a, &m, t->n, err));
    for (uint32_t i = 0; i < t->n; i++) {
        CIP_TRY(read_name(p, version < 3, &m[i].name, err));
        m[i].offset = version < 3 ? cip_get_u32(&p->c) : cip_h5_uint(&p->c, cip_h5_width(t->size));
        cip_h5_type *array = NULL;
        if (version == 1) { /* arrays are no types of their own */
            const uint8_t ndim = cip_get_u8(&p->c);
            cip_get_bytes(&p->c, 3 + 4 + 4);
            if (ndim > 4)
                return cip_fail(err, CIP_ERR_CORRUPT, p->at,
                                "datatype: expected at most 4 axes, found %u", ndim);
            if (ndim != 0) {
                CIP_TRY(CIP_ARENA_NEW(p->a, &array, 1, err));
                *array = (cip_h5_type){ .cls = CIP_H5_ARRAY, .n = ndim };
                CIP_TRY(read_axes(p, array, 0, err));
            }
            cip_get_bytes(&p->c, 4 * (4 - (size_t)ndim));
        }
        CIP_TRY(read_type(p, &m[i].type, err));
        if (array != NULL) {
            array->base = m[i].type;
            array->size = m[i].type->size;
            for (uint32_t k = 0; k < array->n; k++)
                if (cip_mul_overflow(array->size, (uint64_t)array->dim[k], &array->size))
                    array->size = UINT64_MAX;
            m[i].type = array;
        }
        if (m[i].offset > t->size || m[i].type->size > t->size - m[i].offset)
            return cip_fail(err, CIP_ERR_CORRUPT, p->at,
                            "datatype: expected the field '%.60s' within %" PRIu64 " bytes",
                            m[i].name, t->size);
    }
    t->member = m;
    return CIP_OK;
}

static cip_status read_enum(parse *p, cip_h5_type *t, unsigned version, cip_err *err)
{
    cip_h5_member *m;
    t->n = t->bits & 0xffff;
    CIP_TRY(read_type(p, &t->base, err));
    if (t->n > cip_cursor_left(&p->c) || t->base->size != t->size || t->base->cls != CIP_H5_FIXED)
        return cip_fail(err, CIP_ERR_CORRUPT, p->at,
                        "datatype: expected an enumeration of integers of %" PRIu64 " bytes",
                        t->size);
    CIP_TRY(CIP_ARENA_NEW(p->a, &m, t->n, err));
    for (uint32_t i = 0; i < t->n; i++)
        CIP_TRY(read_name(p, version < 3, &m[i].name, err));
    for (uint32_t i = 0; i < t->n; i++)
        m[i].value = cip_get_bytes(&p->c, (size_t)t->size).ptr;
    t->member = m;
    return fail_end(p, err);
}

static cip_status read_array(parse *p, cip_h5_type *t, unsigned version, cip_err *err)
{
    uint64_t n;
    t->n = cip_get_u8(&p->c);
    CIP_TRY(read_axes(p, t, version < 3 ? 3 : 0, err));
    if (version < 3)
        cip_get_bytes(&p->c, 4 * (size_t)t->n); /* permutation */
    CIP_TRY(fail_end(p, err));
    CIP_TRY(read_type(p, &t->base, err));
    if (!cip_shape_nelem((int32_t)t->n, t->dim, &n) || cip_mul_overflow(n, t->base->size, &n) ||
        n != t->size)
        return cip_fail(err, CIP_ERR_CORRUPT, p->at,
                        "datatype: expected an array of %" PRIu64 " bytes", t->size);
    return CIP_OK;
}

static cip_status read_props(parse *p, cip_h5_type *t, unsigned version, cip_err *err)
{
    switch (t->cls) {
    case CIP_H5_FIXED:
    case CIP_H5_BITS:
        t->props = cip_get_bytes(&p->c, 4);
        return fail_end(p, err);
    case CIP_H5_FLOAT:
        t->props = cip_get_bytes(&p->c, 12);
        return fail_end(p, err);
    case CIP_H5_TIME:
        cip_get_bytes(&p->c, 2);
        return fail_end(p, err);
    case CIP_H5_STRING:
    case CIP_H5_REFERENCE:
        return CIP_OK;
    case CIP_H5_OPAQUE:
        t->props = cip_get_bytes(&p->c, t->bits & 0xff);
        return fail_end(p, err);
    case CIP_H5_COMPOUND:
        return read_compound(p, t, version, err);
    case CIP_H5_ENUM:
        return read_enum(p, t, version, err);
    case CIP_H5_ARRAY:
        return read_array(p, t, version, err);
    case CIP_H5_VARIABLE:
    case CIP_H5_COMPLEX:
        return read_type(p, &t->base, err);
    default:
        return cip_fail(err, CIP_ERR_UNSUPPORTED, p->at,
                        "expected a datatype of class 0 to 11, found %u", t->cls);
    }
}

static cip_status read_type(parse *p, const cip_h5_type **out, cip_err *err)
{
    cip_h5_type *t;
    if (p->depth >= CIP_H5_TYPE_DEPTH)
        return cip_fail(err, CIP_ERR_LIMIT, p->at, "expected datatypes at most %d deep",
                        CIP_H5_TYPE_DEPTH);
    CIP_TRY(CIP_ARENA_NEW(p->a, &t, 1, err));
    const uint8_t head = cip_get_u8(&p->c);
    t->cls = head & 0xf;
    t->bits = (uint32_t)cip_h5_uint(&p->c, 3);
    t->size = cip_get_u32(&p->c);
    CIP_TRY(fail_end(p, err));
    if (head >> 4 == 0 || head >> 4 > 5)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, p->at,
                        "expected a datatype of version 1 to 5, found %u", head >> 4);
    p->depth++;
    CIP_TRY(read_props(p, t, head >> 4, err));
    p->depth--;
    *out = t;
    return CIP_OK;
}

cip_status cip_h5_type_read(cip_arena *a, cip_bytes in, uint64_t at, const cip_h5_type **out,
                            cip_err *err)
{
    parse p = { a, cip_cursor_le(in), at, 0 };
    return read_type(&p, out, err);
}

/* --- as dtypes -------------------------------------------------------------------------------- */

static cip_status refuse(cip_err *err, const char *what)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s are not read", what);
}

static bool is_big(const cip_h5_type *t)
{
    return (t->bits & 1) != 0;
}

static cip_status number(const cip_h5_type *t, const cip_dtype **out, cip_err *err)
{
    static const cip_kind kinds[2][4] = { { CIP_U8, CIP_U16, CIP_U32, CIP_U64 },
                                          { CIP_I8, CIP_I16, CIP_I32, CIP_I64 } };
    const bool is_signed = t->cls == CIP_H5_FIXED && (t->bits & 8) != 0;
    const unsigned k = cip_h5_log2(t->size), skip = cip_load_u16(t->props.ptr, false),
                   bits = cip_load_u16(t->props.ptr + 2, false);
    if (t->size > 8 || t->size == 0 || (t->size & (t->size - 1)) != 0 || skip != 0 ||
        bits != 8 * t->size)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "integers of %u bits in %" PRIu64 " bytes are not read", bits, t->size);
    *out = cip_dtype_fixed(kinds[is_signed][k], is_big(t) && t->size > 1);
    return CIP_OK;
}

/* IEEE 754 in every field, or it is not read: other numbers would look like these. */
static cip_status floating(const cip_h5_type *t, const cip_dtype **out, cip_err *err)
{
    static const struct {
        cip_kind kind;
        uint8_t size, exp_at, exp_len, man_len;
        uint32_t bias;
    } known[] = { { CIP_F16, 2, 10, 5, 10, 15 },
                  { CIP_F32, 4, 23, 8, 23, 127 },
                  { CIP_F64, 8, 52, 11, 52, 1023 } };
    const uint8_t *p = t->props.ptr;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].size == t->size && cip_load_u16(p, false) == 0 &&
            cip_load_u16(p + 2, false) == 8 * t->size && p[4] == known[i].exp_at &&
            p[5] == known[i].exp_len && p[6] == 0 && p[7] == known[i].man_len &&
            cip_load_u32(p + 8, false) == known[i].bias && (t->bits >> 4 & 3) == 2 &&
            (t->bits & 0x40) == 0 && (t->bits >> 8 & 0xff) == 8 * t->size - 1) {
            *out = cip_dtype_fixed(known[i].kind, is_big(t));
            return CIP_OK;
        }
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "floats of %" PRIu64 " bytes (%u of %u bits) that are not IEEE 754 binary16, "
                    "32 or 64 are not read",
                    t->size, p[5], cip_load_u16(p + 2, false));
}

static cip_status complex_of(const cip_h5_type *base, const cip_dtype **out, cip_err *err)
{
    CIP_TRY(cip_h5_dtype(NULL, base, out, err));
    if ((*out)->kind != CIP_F32 && (*out)->kind != CIP_F64)
        return refuse(err, "complex numbers of such parts");
    *out = cip_dtype_fixed((*out)->kind == CIP_F32 ? CIP_C64 : CIP_C128, (*out)->big);
    return CIP_OK;
}

/* As h5py writes complex numbers: fields `r` and `i`. */
static bool is_complex(const cip_h5_type *t)
{
    const cip_h5_member *m = t->member;
    return t->n == 2 && m[0].type->cls == CIP_H5_FLOAT && m[1].type->cls == CIP_H5_FLOAT &&
           strcmp(m[0].name, "r") == 0 && strcmp(m[1].name, "i") == 0 &&
           m[0].type->size == m[1].type->size && m[0].offset == 0 &&
           m[1].offset == m[0].type->size && t->size == 2 * m[0].type->size &&
           m[0].type->size >= 4 && m[0].type->bits == m[1].type->bits &&
           memcmp(m[0].type->props.ptr, m[1].type->props.ptr, 12) == 0;
}

static cip_status compound(cip_arena *a, const cip_h5_type *t, const cip_dtype **out, cip_err *err)
{
    cip_field *f;
    if (is_complex(t) && complex_of(t->member[0].type, out, NULL) == CIP_OK)
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(a, &f, t->n, err));
    for (uint32_t i = 0; i < t->n; i++) {
        const cip_h5_type *own = t->member[i].type;
        f[i] = (cip_field){ .name = t->member[i].name, .offset = t->member[i].offset };
        if (own->cls == CIP_H5_ARRAY) {
            f[i].ndim = (int32_t)own->n;
            f[i].shape = own->dim;
            own = own->base;
        }
        cip_err why = CIP_ERR_INIT;
        const cip_status st = own->cls == CIP_H5_ARRAY ? refuse(&why, "arrays of arrays")
                                                       : cip_h5_dtype(a, own, &f[i].dtype, &why);
        if (st != CIP_OK)
            return cip_fail(err, st, CIP_NO_OFFSET, "field '%.60s': %.160s", f[i].name, why.text);
    }
    return cip_dtype_record(a, t->n, f, false, t->size, out, err);
}

bool cip_h5_is_bool(const cip_h5_type *t)
{
    return t->cls == CIP_H5_ENUM && t->size == 1 && t->n == 2 &&
           strcmp(t->member[0].name, "FALSE") == 0 && t->member[0].value[0] == 0 &&
           strcmp(t->member[1].name, "TRUE") == 0 && t->member[1].value[0] == 1;
}

/* h5py keeps times of numpy as opaque bytes with the tag "NUMPY:<M8[ns]". */
static cip_status opaque(cip_arena *a, const cip_h5_type *t, const cip_dtype **out, cip_err *err)
{
    const char *tag = (const char *)t->props.ptr;
    const size_t n = strnlen(tag, t->props.len);
    if (n > 6 && memcmp(tag, "NUMPY:", 6) == 0 &&
        cip_dtype_of_text(a, tag + 6, n - 6, false, out, NULL) == CIP_OK &&
        cip_kind_is_time((*out)->kind) && (*out)->itemsize == t->size)
        return CIP_OK;
    return cip_dtype_opaque(a, t->size, NULL, out, err);
}

cip_status cip_h5_dtype(cip_arena *a, const cip_h5_type *t, const cip_dtype **out, cip_err *err)
{
    switch (t->cls) {
    case CIP_H5_FIXED:
    case CIP_H5_BITS:
        return number(t, out, err);
    case CIP_H5_FLOAT:
        return floating(t, out, err);
    case CIP_H5_STRING:
        return cip_dtype_ascii(a, t->size, out, err);
    case CIP_H5_OPAQUE:
        return opaque(a, t, out, err);
    case CIP_H5_COMPOUND:
        return compound(a, t, out, err);
    case CIP_H5_ENUM:
        if (!cip_h5_is_bool(t))
            return number(t->base, out, err);
        *out = cip_dtype_fixed(CIP_BOOL, false);
        return CIP_OK;
    case CIP_H5_COMPLEX:
        return complex_of(t->base, out, err);
    case CIP_H5_TIME:
        return refuse(err, "values of the class time");
    case CIP_H5_REFERENCE:
        return refuse(err, t->bits % 16 == 1 ? "references to regions" : "references to objects");
    case CIP_H5_VARIABLE:
        return refuse(err, cip_h5_is_text(t) ? "strings of variable length"
                                             : "sequences of variable length");
    default:
        return refuse(err, "arrays in such a place");
    }
}
