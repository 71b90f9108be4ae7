/* SPDX-License-Identifier: BSD-3-Clause
 * Datatypes, dataspaces and attributes as bytes. All datatypes have version 3. Texts of attributes
 * are of variable length, so that they are read as texts; other values become numbers of 64 bits.
 */
#include <math.h>

#include "base/endian.h"
#include "format/hdf5/hdf5_write.h"
#include "tree/base64.h"
#include "tree/utf8.h"

enum {
    VERSION = 3,
    UTF8 = 1,
    NUL_PADDED = 1,
    MOST_NAMES = 5000,
    MOST_WORD = 1000,   /* of an enumeration, and bytes of one */
    MOST_VALUE = 60000, /* bytes of an attribute's elements: with all else less than 64 KiB */
    MOST_NAME = 4000
};

/* --- datatypes -------------------------------------------------------------------------------- */

static cip_status put_head(cip_buf *b, cip_h5_class cls, uint32_t bits, uint64_t size, cip_err *err)
{
    CIP_TRY(cip_h5_put_uint(b, VERSION << 4 | cls, 1, err));
    CIP_TRY(cip_h5_put_uint(b, bits, 3, err));
    return cip_h5_put_uint(b, size, 4, err);
}

static cip_status put_integer(cip_buf *b, uint64_t size, bool is_signed, bool big, cip_err *err)
{
    CIP_TRY(put_head(b, CIP_H5_FIXED, (uint32_t)big | (is_signed ? 8 : 0), size, err));
    CIP_TRY(cip_h5_put_uint(b, 0, 2, err));
    return cip_h5_put_uint(b, 8 * size, 2, err);
}

/* IEEE 754: sign, exponent, mantissa with its first bit implied. */
static cip_status put_float(cip_buf *b, uint64_t size, bool big, cip_err *err)
{
    const unsigned bits = 8 * (unsigned)size, mantissa = size == 2 ? 10 : size == 4 ? 23 : 52;
    const unsigned exponent = bits - 1 - mantissa;
    CIP_TRY(put_head(b, CIP_H5_FLOAT, (uint32_t)big | 2 << 4 | (bits - 1) << 8, size, err));
    CIP_TRY(cip_h5_put_uint(b, 0, 2, err));
    CIP_TRY(cip_h5_put_uint(b, bits, 2, err));
    CIP_TRY(cip_h5_put_uint(b, mantissa, 1, err));
    CIP_TRY(cip_h5_put_uint(b, exponent, 1, err));
    CIP_TRY(cip_h5_put_uint(b, 0, 1, err));
    CIP_TRY(cip_h5_put_uint(b, mantissa, 1, err));
    return cip_h5_put_uint(b, (1u << (exponent - 1)) - 1, 4, err);
}

/* The name of a compound's field and its offset, in as many bytes as the size needs. */
static cip_status put_field(cip_buf *b, const char *name, uint64_t offset, uint64_t size,
                            cip_err *err)
{
    CIP_TRY(cip_buf_add(b, name, strlen(name) + 1, err));
    return cip_h5_put_uint(b, offset, cip_h5_width(size), err);
}

/* As h5py has complex numbers. */
static cip_status put_complex(cip_buf *b, uint64_t size, bool big, cip_err *err)
{
    CIP_TRY(put_head(b, CIP_H5_COMPOUND, 2, size, err));
    CIP_TRY(put_field(b, "r", 0, size, err));
    CIP_TRY(put_float(b, size / 2, big, err));
    CIP_TRY(put_field(b, "i", size / 2, size, err));
    return put_float(b, size / 2, big, err);
}

static cip_status put_bool(cip_buf *b, cip_err *err)
{
    CIP_TRY(put_head(b, CIP_H5_ENUM, 2, 1, err));
    CIP_TRY(put_integer(b, 1, true, false, err));
    return cip_buf_add(b, "FALSE\0TRUE\0\0\1", 13, err);
}

/* `tag`: what h5py finds a numpy type by, or "". */
static cip_status put_opaque(cip_buf *b, uint64_t size, const char *tag, cip_err *err)
{
    const size_t n = strlen(tag), padded = (n + 7) / 8 * 8;
    CIP_TRY(put_head(b, CIP_H5_OPAQUE, (uint32_t)padded, size, err));
    CIP_TRY(cip_buf_add(b, tag, n, err));
    return cip_buf_fill(b, 0, padded - n, err);
}

static cip_status put_time(cip_buf *b, const cip_dtype *d, cip_err *err)
{
    cip_arena a = { .mem = b->mem };
    char *name, *tag;
    cip_status st = cip_dtype_numpy(&a, d, &name, err);
    if (st == CIP_OK)
        st = cip_arena_printf(&a, &tag, err, "NUMPY:%s", name);
    if (st == CIP_OK)
        st = put_opaque(b, d->itemsize, tag, err);
    cip_arena_clear(&a);
    return st;
}

static cip_status put_array(cip_buf *b, const cip_field *f, cip_err *err)
{
    uint64_t n = f->dtype->itemsize;
    for (int32_t k = 0; k < f->ndim; k++)
        n *= (uint64_t)f->shape[k]; /* within the record */
    CIP_TRY(put_head(b, CIP_H5_ARRAY, 0, n, err));
    CIP_TRY(cip_h5_put_uint(b, (uint64_t)f->ndim, 1, err));
    for (int32_t k = 0; k < f->ndim; k++)
        CIP_TRY(cip_h5_put_uint(b, (uint64_t)f->shape[k], 4, err));
    return CIP_OK;
}

static cip_status put_enum(cip_buf *b, const cip_dtype *d, const cip_node *names, cip_err *err)
{
    CIP_TRY(put_head(b, CIP_H5_ENUM, names->len, d->itemsize, err));
    CIP_TRY(put_integer(b, d->itemsize, d->kind < CIP_U8, d->big, err));
    for (uint32_t i = 0; i < names->len; i++)
        CIP_TRY(cip_buf_add(b, names->pair[i].key->text, names->pair[i].key->len + 1, err));
    for (uint32_t i = 0; i < names->len; i++) {
        const cip_node *v = names->pair[i].value;
        uint8_t bytes[8];
        cip_store_u64(bytes, v->u, d->big); /* of a negative one: the same bits */
        CIP_TRY(cip_buf_add(b, bytes + (d->big ? 8 - d->itemsize : 0), (size_t)d->itemsize, err));
    }
    return CIP_OK;
}

static bool is_integer(const cip_dtype *d)
{
    return (d->kind >= CIP_I8 && d->kind <= CIP_I64) || (d->kind >= CIP_U8 && d->kind <= CIP_U64);
}

/* Whether an integer type has the value. */
static bool has_integer(const cip_dtype *d, const cip_node *v)
{
    const unsigned bits = 8 * (unsigned)d->itemsize;
    const bool is_signed = d->kind < CIP_U8;
    return v->type == CIP_NODE_INT &&
           (v->negative ? is_signed && v->i >= -(INT64_MAX >> (64 - bits)) - 1
                        : v->u <= UINT64_MAX >> (64 - bits) >> is_signed);
}

bool cip_h5_names_values(const cip_node *names, const cip_dtype *d)
{
    if (cip_node_kind(names) != CIP_NODE_MAP || names->len == 0 || names->len > MOST_NAMES ||
        !is_integer(d))
        return false;
    uint64_t all = 0;
    for (uint32_t i = 0; i < names->len; i++) {
        const cip_node *key = names->pair[i].key, *v = names->pair[i].value;
        if (key->type != CIP_NODE_STRING || key->len == 0 || key->len > MOST_WORD ||
            strlen(key->text) != key->len || !has_integer(d, v))
            return false;
        all += key->len + 1 + d->itemsize;

        for (uint32_t k = 0; k < i; k++)
            if (names->pair[k].value->u == v->u)
                return false;
    }
    return all <= MOST_VALUE;
}

const char *cip_h5_refusal(const cip_dtype *d)
{
    if (d->itemsize == 0 || d->itemsize > INT32_MAX)
        return "HDF5 has no elements of this length";
    if (d->nfield > UINT16_MAX)
        return "HDF5 has compounds of at most 65535 fields";
    if (d->kind == CIP_RECORD && d->nfield == 0)
        return "HDF5 has no compounds without fields";
    for (size_t i = 0; i < d->nfield; i++) { /* records nest at most 32 deep */
        const cip_field *f = &d->field[i];
        const char *why = cip_h5_refusal(f->dtype);
        if (why != NULL)
            return why;
        if (!cip_utf8_is((const uint8_t *)f->name, strlen(f->name)) || f->name[0] == '\0')
            return "HDF5 has no fields of such a name";
        for (int32_t k = 0; k < f->ndim; k++)
            if (f->shape[k] < 1 || f->shape[k] > INT32_MAX)
                return "HDF5 has no fields of such a shape";
    }
    return NULL;
}

cip_status cip_h5_put_type(cip_buf *b, const cip_dtype *d, const cip_node *names, cip_err *err)
{
    if (names != NULL)
        return put_enum(b, d, names, err);
    switch (d->kind) {
    case CIP_BOOL:
        return put_bool(b, err);
    case CIP_F16:
    case CIP_F32:
    case CIP_F64:
        return put_float(b, d->itemsize, d->big, err);
    case CIP_C64:
    case CIP_C128:
        return put_complex(b, d->itemsize, d->big, err);
    case CIP_ASCII:
        return put_head(b, CIP_H5_STRING, NUL_PADDED, d->itemsize, err);
    case CIP_OPAQUE:
        return put_opaque(b, d->itemsize, "", err);
    case CIP_RECORD:
        break;
    default:
        if (d->kind == CIP_UCS4) /* stored as bytes */
            return put_head(b, CIP_H5_STRING, NUL_PADDED, d->itemsize / 4, err);
        return is_integer(d) ? put_integer(b, d->itemsize, d->kind < CIP_U8, d->big, err)
                             : put_time(b, d, err);
    }
    CIP_TRY(put_head(b, CIP_H5_COMPOUND, (uint32_t)d->nfield, d->itemsize, err));
    for (size_t i = 0; i < d->nfield; i++) {
        const cip_field *f = &d->field[i];
        CIP_TRY(put_field(b, f->name, f->offset, d->itemsize, err));
        if (f->ndim != 0)
            CIP_TRY(put_array(b, f, err));
        CIP_TRY(cip_h5_put_type(b, f->dtype, NULL, err));
    }
    return CIP_OK;
}

cip_status cip_h5_put_shape(cip_buf *b, int32_t ndim, const int64_t *shape, cip_err *err)
{
    const uint8_t head[4] = { 2, (uint8_t)ndim, 0, ndim != 0 };
    CIP_TRY(cip_buf_add(b, head, sizeof head, err));
    for (int32_t k = 0; k < ndim; k++)
        CIP_TRY(cip_h5_put_uint(b, (uint64_t)shape[k], 8, err));
    return CIP_OK;
}

/* --- values of attributes --------------------------------------------------------------------- */

typedef enum leaf_kind { NONE, NOTHING, BOOLEAN, INTEGER, REAL, PAIR, TEXT, BYTES } leaf_kind;

/* A value as an array of one type. */
typedef struct value {
    leaf_kind kind; /* of all leaves; REAL: perhaps integers among them that are such, too */
    int32_t ndim;   /* -1: not known yet */
    int64_t dim[CIP_H5_MAX_RANK];
    uint64_t n;           /* leaves */
    bool negative, large; /* integers: below 0; above those that have a sign */
    bool inexact;         /* integers that no double is */
    size_t nbyte;         /* BYTES: of the only one */
} value;

/* A complex number: `r` and `i`, as reading gives it. */
static bool is_pair(const cip_node *v)
{
    return v->type == CIP_NODE_MAP && v->len == 2 && cip_node_is_string(v->pair[0].key, "r") &&
           cip_node_is_string(v->pair[1].key, "i") && v->pair[0].value->type == CIP_NODE_FLOAT &&
           v->pair[1].value->type == CIP_NODE_FLOAT;
}

static leaf_kind kind_of(const cip_node *v)
{
    switch (v->type) {
    case CIP_NODE_NULL:
        return NOTHING;
    case CIP_NODE_BOOL:
        return BOOLEAN;
    case CIP_NODE_INT:
        return INTEGER;
    case CIP_NODE_FLOAT:
        return REAL;
    case CIP_NODE_STRING:
        return strlen(v->text) == v->len && cip_utf8_is((const uint8_t *)v->text, v->len) ? TEXT
                                                                                          : NONE;
    case CIP_NODE_BINARY:
        return BYTES;
    default:
        return is_pair(v) ? PAIR : NONE;
    }
}

#define EXACT (INT64_C(1) << 53)

/* Whether the value and what was seen before it are one array of one type. */
static bool look(const cip_node *v, int32_t depth, value *out)
{
    if (v->tag != NULL && v->type != CIP_NODE_BINARY)
        return false;
    if (v->type == CIP_NODE_SEQ) {
        if (depth == CIP_H5_MAX_RANK)
            return false;
        if (out->dim[depth] < 0)
            out->dim[depth] = v->len;
        if (out->dim[depth] != v->len)
            return false;
        if (v->len == 0) { /* only a list that is all of the value is read again as it is */
            out->ndim = depth + 1;
            return depth == 0;
        }
        for (uint32_t i = 0; i < v->len; i++)
            if (!look(v->item[i], depth + 1, out))
                return false;
        return true;
    }
    const leaf_kind kind = kind_of(v);
    if (out->ndim < 0)
        out->ndim = depth;
    if (kind == NONE || out->ndim != depth || ++out->n > MOST_VALUE)
        return false;
    if (kind == INTEGER) {
        out->negative = out->negative || v->negative;
        out->large = out->large || (!v->negative && v->u > INT64_MAX);
        out->inexact = out->inexact || (v->negative ? v->i < -EXACT : v->u > (uint64_t)EXACT);
    }
    const leaf_kind was = out->kind;
    const bool mixed = (was == REAL && kind == INTEGER) || (was == INTEGER && kind == REAL);
    out->kind = mixed ? REAL : kind;
    return (was == NONE || was == kind || mixed) &&
           (depth == 0 || (kind != NOTHING && kind != BYTES));
}

static size_t item_size(const value *v)
{
    static const size_t size[] = { [NONE] = 8, [NOTHING] = 8, [BOOLEAN] = 1, [INTEGER] = 8,
                                   [REAL] = 8, [PAIR] = 16,   [TEXT] = 16 };
    return v->kind == BYTES ? v->nbyte : size[v->kind];
}

static bool is_white(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* How many bytes the text stands for, which may be folded; 0: it is no such text. */
static size_t base64_bytes(const char *text, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t used = 0, pads = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_white(text[i]))
            continue;
        const bool digit = text[i] != '\0' && strchr(digits, text[i]) != NULL;
        if ((!digit && text[i] != '=') || (digit && pads != 0))
            return 0;
        used += digit;
        pads += !digit;
    }
    return (used + pads) % 4 != 0 || pads > 2 ? 0 : (used + pads) / 4 * 3 - pads;
}

static cip_status put_base64(cip_buf *b, const cip_node *v, cip_err *err)
{
    cip_buf text = { .mem = b->mem };
    cip_status st = CIP_OK;
    for (uint32_t i = 0; i < v->len && st == CIP_OK; i++)
        if (!is_white(v->text[i]))
            st = cip_buf_add(&text, v->text + i, 1, err);
    if (st == CIP_OK)
        st = cip_base64_decode((const char *)text.ptr, text.len, b, err);
    cip_buf_clear(&text);
    return st;
}

static bool is_value(const cip_node *node, value *v)
{
    *v = (value){ .ndim = -1 };
    for (int32_t k = 0; k < CIP_H5_MAX_RANK; k++)
        v->dim[k] = -1;
    if (!look(node, 0, v) || (v->negative && v->large) || (v->kind == REAL && v->inexact))
        return false;
    if (v->kind == BYTES)
        v->nbyte = base64_bytes(node->text, node->len);
    return item_size(v) != 0 && v->n * item_size(v) <= MOST_VALUE;
}

bool cip_h5_is_attribute(const cip_node *key, const cip_node *node)
{
    value v;
    return key->type == CIP_NODE_STRING && key->tag == NULL && key->len != 0 &&
           key->len <= MOST_NAME && kind_of(key) == TEXT && is_value(node, &v);
}

static cip_status put_value_type(cip_buf *b, const value *v, cip_err *err)
{
    switch (v->kind) {
    case BOOLEAN:
        return put_bool(b, err);
    case INTEGER:
        return put_integer(b, 8, !v->large, false, err);
    case PAIR:
        return put_complex(b, 16, false, err);
    case BYTES:
        return put_opaque(b, v->nbyte, "", err);
    case TEXT: /* as the library has it: of bytes */
        CIP_TRY(put_head(b, CIP_H5_VARIABLE, 1 | UTF8 << 8, 16, err));
        return put_integer(b, 1, false, false, err);
    default:
        return put_float(b, 8, false, err);
    }
}

static cip_status put_double(cip_buf *b, double x, cip_err *err)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return cip_h5_put_uint(b, bits, 8, err);
}

static cip_status put_leaves(cip_h5_put *p, const cip_node *v, leaf_kind kind, cip_err *err)
{
    if (v->type == CIP_NODE_SEQ) {
        for (uint32_t i = 0; i < v->len; i++)
            CIP_TRY(put_leaves(p, v->item[i], kind, err));
        return CIP_OK;
    }
    switch (kind) {
    case BOOLEAN:
        return cip_h5_put_uint(&p->out, v->b, 1, err);
    case INTEGER:
        return cip_h5_put_uint(&p->out, v->u, 8, err);
    case REAL: {
        double x = 0;
        (void)cip_node_as_double(v, &x);
        return put_double(&p->out, x, err);
    }
    case PAIR:
        CIP_TRY(put_double(&p->out, v->pair[0].value->f, err));
        return put_double(&p->out, v->pair[1].value->f, err);
    case TEXT:
        CIP_TRY(cip_h5_put_uint(&p->out, v->len, 4, err));
        return cip_h5_put_heap(p, (cip_bytes){ (const uint8_t *)v->text, v->len }, &p->out, err);
    case BYTES:
        return put_base64(&p->out, v, err);
    default:
        return CIP_OK;
    }
}

/* --- attribute messages (IV.A.2.m) ------------------------------------------------------------ */

static cip_status begin_attribute(cip_h5_put *p, const char *name, const cip_buf *type,
                                  const cip_buf *shape, size_t *from, cip_err *err)
{
    const size_t n = strlen(name) + 1;
    CIP_TRY(cip_h5_put_message(p, CIP_H5_ATTRIBUTE, 0, from, err));
    CIP_TRY(cip_buf_add(&p->out, "\3\0", 2, err));
    CIP_TRY(cip_h5_put_uint(&p->out, n, 2, err));
    CIP_TRY(cip_h5_put_uint(&p->out, type->len, 2, err));
    CIP_TRY(cip_h5_put_uint(&p->out, shape->len, 2, err));
    CIP_TRY(cip_h5_put_uint(&p->out, UTF8, 1, err));
    CIP_TRY(cip_buf_add(&p->out, name, n, err));
    CIP_TRY(cip_buf_add(&p->out, type->ptr, type->len, err));
    return cip_buf_add(&p->out, shape->ptr, shape->len, err);
}

/* One number as it is in elements of the type; false: it is none of them. */
static bool as_type(const cip_node *v, const cip_dtype *d, uint8_t out[8])
{
    double x = 0;
    float f;
    uint32_t half;
    if (is_integer(d)) {
        cip_store_u64(out, v->u, false);
        return has_integer(d, v);
    }
    (void)cip_node_as_double(v, &x);
    f = (float)x;
    memcpy(&half, &f, sizeof half);
    cip_store_u32(out, half, false);
    return d->kind == CIP_F32 && (isnan(x) || (double)f == x);
}

static cip_status put_as(cip_buf *b, const cip_node *v, const cip_dtype *d, bool *all, cip_err *err)
{
    uint8_t bytes[8];
    if (v->type == CIP_NODE_SEQ) {
        for (uint32_t i = 0; i < v->len; i++)
            CIP_TRY(put_as(b, v->item[i], d, all, err));
        return CIP_OK;
    }
    *all = *all && as_type(v, d, bytes);
    return *all ? cip_buf_add(b, bytes, (size_t)d->itemsize, err) : CIP_OK;
}

cip_status cip_h5_put_attribute(cip_h5_put *p, const cip_node *key, const cip_node *node,
                                const cip_dtype *as, cip_err *err)
{
    cip_buf type = { .mem = p->out.mem }, shape = { .mem = p->out.mem },
            own = { .mem = p->out.mem };
    value v;
    size_t from;
    cip_status st;
    if (!is_value(node, &v))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the attribute '%.60s' cannot be stored", key->text);
    bool typed = as != NULL && (v.kind == INTEGER || v.kind == REAL);
    if (typed)
        CIP_GO(put_as(&own, node, as, &typed, err));
    if (typed)
        CIP_GO(is_integer(as) ? put_integer(&type, as->itemsize, as->kind < CIP_U8, false, err)
                              : put_float(&type, as->itemsize, false, err));
    else
        CIP_GO(put_value_type(&type, &v, err));
    if (v.kind == NOTHING)
        CIP_GO(cip_buf_add(&shape, "\2\0\0\2", 4, err)); /* a null dataspace */
    else
        CIP_GO(cip_h5_put_shape(&shape, v.ndim, v.dim, err));
    CIP_GO(begin_attribute(p, key->text, &type, &shape, &from, err));
    CIP_GO(typed ? cip_buf_add(&p->out, own.ptr, own.len, err) : put_leaves(p, node, v.kind, err));
    CIP_GO(cip_h5_put_message_end(p, from, err));
done:
    cip_buf_clear(&type);
    cip_buf_clear(&shape);
    cip_buf_clear(&own);
    return st;
}

cip_status cip_h5_put_text(cip_h5_put *p, const char *name, const char *text, cip_err *err)
{
    cip_buf type = { .mem = p->out.mem }, shape = { .mem = p->out.mem };
    const size_t n = strlen(text) + 1;
    size_t from;
    cip_status st;
    CIP_GO(put_head(&type, CIP_H5_STRING, UTF8 << 4, n, err)); /* ends with a NUL */
    CIP_GO(cip_h5_put_shape(&shape, 0, NULL, err));
    CIP_GO(begin_attribute(p, name, &type, &shape, &from, err));
    CIP_GO(cip_buf_add(&p->out, text, n, err));
    CIP_GO(cip_h5_put_message_end(p, from, err));
done:
    cip_buf_clear(&type);
    cip_buf_clear(&shape);
    return st;
}

/* --- dimension scales ------------------------------------------------------------------------- */

cip_status cip_h5_put_scales(cip_h5_put *p, int32_t ndim, const uint64_t *at, cip_err *err)
{
    cip_buf type = { .mem = p->out.mem }, shape = { .mem = p->out.mem };
    const int64_t n = ndim;
    size_t from;
    cip_status st;
    CIP_GO(put_head(&type, CIP_H5_VARIABLE, 0, 16, err));
    CIP_GO(put_head(&type, CIP_H5_REFERENCE, 0, 8, err));
    CIP_GO(cip_h5_put_shape(&shape, 1, &n, err));
    CIP_GO(begin_attribute(p, "DIMENSION_LIST", &type, &shape, &from, err));
    for (int32_t k = 0; k < ndim; k++) {
        const bool has = at[k] != CIP_H5_NONE;
        uint8_t bytes[8];
        cip_store_u64(bytes, at[k], false);
        CIP_GO(cip_h5_put_uint(&p->out, has, 4, err));
        if (has)
            CIP_GO(cip_h5_put_heap(p, (cip_bytes){ bytes, sizeof bytes }, &p->out, err));
        else
            CIP_GO(cip_buf_fill(&p->out, 0, 12, err));
    }
    CIP_GO(cip_h5_put_message_end(p, from, err));
done:
    cip_buf_clear(&type);
    cip_buf_clear(&shape);
    return st;
}

cip_status cip_h5_put_uses(cip_h5_put *p, size_t n, const cip_h5_use *use, cip_err *err)
{
    enum { SIZE = 12 };
    cip_buf type = { .mem = p->out.mem }, shape = { .mem = p->out.mem };
    const int64_t count = (int64_t)n;
    size_t from;
    cip_status st;
    if (n == 0 || n * SIZE > MOST_VALUE) /* what it says is in DIMENSION_LIST, too */
        return CIP_OK;
    CIP_GO(put_head(&type, CIP_H5_COMPOUND, 2, SIZE, err));
    CIP_GO(put_field(&type, "dataset", 0, SIZE, err));
    CIP_GO(put_head(&type, CIP_H5_REFERENCE, 0, 8, err));
    CIP_GO(put_field(&type, "dimension", 8, SIZE, err));
    CIP_GO(put_integer(&type, 4, true, false, err));
    CIP_GO(cip_h5_put_shape(&shape, 1, &count, err));
    CIP_GO(begin_attribute(p, "REFERENCE_LIST", &type, &shape, &from, err));
    for (size_t i = 0; i < n; i++) {
        CIP_GO(cip_h5_put_uint(&p->out, use[i].at, 8, err));
        CIP_GO(cip_h5_put_uint(&p->out, (uint64_t)use[i].axis, 4, err));
    }
    CIP_GO(cip_h5_put_message_end(p, from, err));
done:
    cip_buf_clear(&type);
    cip_buf_clear(&shape);
    return st;
}
