/* SPDX-License-Identifier: BSD-3-Clause
 * `datatype` nodes: names of scalars, [ascii, n] and [ucs4, n], lists of fields. Records are
 * packed: the standard has no word for padding. */
#include "format/asdf/asdf.h"

#include <string.h>

typedef struct name_row {
    const char *name;
    cip_kind kind;
} name_row;

static const name_row scalars[] = {
    { "bool8", CIP_BOOL },    { "int8", CIP_I8 },         { "int16", CIP_I16 },
    { "int32", CIP_I32 },     { "int64", CIP_I64 },       { "uint8", CIP_U8 },
    { "uint16", CIP_U16 },    { "uint32", CIP_U32 },      { "uint64", CIP_U64 },
    { "float16", CIP_F16 },   { "float32", CIP_F32 },     { "float64", CIP_F64 },
    { "complex64", CIP_C64 }, { "complex128", CIP_C128 },
};

/* What asdf-cxx writes beyond the standard: bytes without a meaning to us. */
typedef struct opaque_row {
    const char *name;
    uint8_t nbytes;
} opaque_row;

static const opaque_row opaques[] = { { "int128", 16 }, { "uint128", 16 }, { "complex32", 4 } };

static cip_status wrong(const cip_node *n, const char *what, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected %s, found %s%.60s%s", what,
                    n->text != NULL ? "'" : "a list or mapping", n->text != NULL ? n->text : "",
                    n->text != NULL ? "'" : "");
}

enum { FIELDS_MAX = 1 << 16 };

typedef struct reader {
    asdf_file *f;
    uint32_t nfield; /* so far, nested ones included */
} reader;

static cip_status scalar(reader *r, const cip_node *n, bool big, const cip_dtype **out,
                         cip_err *err)
{
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        if (cip_node_is_string(n, scalars[i].name)) {
            *out = cip_dtype_fixed(scalars[i].kind, big);
            return CIP_OK;
        }
    for (size_t i = 0; i < sizeof opaques / sizeof opaques[0]; i++)
        if (cip_node_is_string(n, opaques[i].name)) {
            if ((r->f->warned & ASDF_WARNED_TYPE) == 0)
                cip_warn(r->f->env, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "tree",
                         "datatype '%s' is not in the standard; its elements are shown as bytes",
                         opaques[i].name);
            r->f->warned |= ASDF_WARNED_TYPE;
            return cip_dtype_opaque(&r->f->layout->arena, opaques[i].nbytes, opaques[i].name, out,
                                    err);
        }
    return wrong(n, "a datatype", err);
}

static cip_status text(reader *r, const cip_node *n, bool big, const cip_dtype **out, cip_err *err)
{
    uint64_t len;
    if (!cip_node_as_uint(n->item[1], &len))
        return wrong(n->item[1], "a length", err);
    if (cip_node_is_string(n->item[0], "ascii"))
        return cip_dtype_ascii(&r->f->layout->arena, len, out, err);
    return cip_dtype_ucs4(&r->f->layout->arena, len, big, out, err);
}

cip_status cip_asdf_byteorder(const cip_node *node, bool *big, cip_err *err)
{
    if (cip_node_is_string(node, "big"))
        *big = true;
    else if (cip_node_is_string(node, "little"))
        *big = false;
    else
        return wrong(node, "a byteorder of big or little", err);
    return CIP_OK;
}

static cip_status sub_shape(reader *r, const cip_node *node, cip_field *out, cip_err *err)
{
    int64_t *shape;
    if (node->type != CIP_NODE_SEQ)
        return wrong(node, "a list as the shape of a field", err);
    if (node->len > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d dimensions, found %" PRIu32, CIP_MAX_NDIM, node->len);
    CIP_TRY(CIP_ARENA_NEW(&r->f->layout->arena, &shape, node->len, err));
    for (uint32_t i = 0; i < node->len; i++)
        if (!cip_node_as_int(node->item[i], &shape[i]) || shape[i] < 0)
            return wrong(node->item[i], "a length in the shape of a field", err);
    out->ndim = (int32_t)node->len;
    out->shape = shape;
    return CIP_OK;
}

static cip_status any(reader *r, const cip_node *n, bool big, int depth, const cip_dtype **out,
                      cip_err *err);

const cip_node *cip_asdf_datatype_of(const asdf_file *f, const cip_node *map)
{
    const cip_node *n = cip_map_get(map, "datatype");
    return n == NULL && cip_asdf_is_early(f->header.file) ? cip_map_get(map, "dtype") : n;
}

/* One item of a record: a datatype alone, or a mapping with name, datatype, byteorder, shape. */
static cip_status field(reader *r, const cip_node *n, bool big, int depth, cip_field *out,
                        cip_err *err)
{
    *out = (cip_field){ .name = "" };
    if (n->type != CIP_NODE_MAP)
        return any(r, n, big, depth, &out->dtype, err);
    const cip_node *name = cip_map_get(n, "name"), *order = cip_map_get(n, "byteorder");
    const cip_node *type = cip_asdf_datatype_of(r->f, n), *shape = cip_map_get(n, "shape");
    if (type == NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a datatype in each field");
    if (name != NULL && name->text == NULL)
        return wrong(name, "text as the name of a field", err);
    if (name != NULL && strlen(name->text) != name->len)
        return wrong(name, "no NUL in the name of a field", err);
    if (name != NULL)
        out->name = name->text;
    if (order != NULL)
        CIP_TRY(cip_asdf_byteorder(order, &big, err));
    if (shape != NULL)
        CIP_TRY(sub_shape(r, shape, out, err));
    return any(r, type, big, depth, &out->dtype, err);
}

static cip_status record(reader *r, const cip_node *n, bool big, int depth, const cip_dtype **out,
                         cip_err *err)
{
    cip_field *fields;
    if (n->len == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a datatype, found an empty list");
    if (depth >= ASDF_RECORD_DEPTH)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected records nested at most %d deep", ASDF_RECORD_DEPTH);
    if (n->len > FIELDS_MAX - r->nfield) /* aliases can name a list again and again */
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected at most %d fields",
                        FIELDS_MAX);
    r->nfield += n->len;
    CIP_TRY(CIP_ARENA_NEW(&r->f->layout->arena, &fields, n->len, err));
    for (uint32_t i = 0; i < n->len; i++)
        CIP_TRY(field(r, n->item[i], big, depth + 1, &fields[i], err));
    return cip_dtype_record(&r->f->layout->arena, n->len, fields, true, 0, out, err);
}

static cip_status any(reader *r, const cip_node *n, bool big, int depth, const cip_dtype **out,
                      cip_err *err)
{
    switch (n->type) {
    case CIP_NODE_SEQ: /* [ascii, n] and [ucs4, n]; a list of anything else is a record */
        return n->len == 2 && n->item[1]->type == CIP_NODE_INT &&
                       (cip_node_is_string(n->item[0], "ascii") ||
                        cip_node_is_string(n->item[0], "ucs4"))
                   ? text(r, n, big, out, err)
                   : record(r, n, big, depth, out, err);
    case CIP_NODE_STRING:
        return scalar(r, n, big, out, err);
    default:
        return wrong(n, "a datatype", err);
    }
}

cip_status cip_asdf_datatype(asdf_file *f, const cip_node *node, bool big, const cip_dtype **out,
                             cip_err *err)
{
    reader r = { .f = f };
    return any(&r, node, big, 0, out, err);
}

/* --- padding ---------------------------------------------------------------------------------- */

static uint64_t alignment(const cip_dtype *d)
{
    uint64_t most = 1;
    switch (d->kind) {
    case CIP_RECORD:
        for (size_t i = 0; i < d->nfield; i++) {
            uint64_t a = alignment(d->field[i].dtype);
            most = a > most ? a : most;
        }
        return most;
    case CIP_C64:
    case CIP_C128:
        return d->itemsize / 2;
    case CIP_UCS4:
        return 4;
    case CIP_ASCII:
    case CIP_OPAQUE:
        return 1;
    default:
        return d->itemsize;
    }
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

uint64_t cip_asdf_aligned_size(const cip_dtype *d)
{
    uint64_t end = 0;
    if (d->kind != CIP_RECORD)
        return d->itemsize;
    for (size_t i = 0; i < d->nfield; i++) {
        const cip_field *x = &d->field[i];
        uint64_t n = 1;
        cip_shape_nelem(x->ndim, x->shape, &n);
        end = round_up(end, alignment(x->dtype)) + n * cip_asdf_aligned_size(x->dtype);
    }
    return round_up(end, alignment(d));
}
