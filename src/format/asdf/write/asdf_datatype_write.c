/* SPDX-License-Identifier: BSD-3-Clause
 * Types on their way out: packed as the standard wants records, and their `datatype` nodes. */
#include <stdio.h>
#include <string.h>

#include "format/asdf/write/asdf_write.h"

/* --- nodes ------------------------------------------------------------------------------------ */

cip_status cip_asdf_list_add(asdf_list *l, const char *key, const cip_node *value, cip_err *err)
{
    cip_node *k = NULL;
    if (l->n == sizeof l->key / sizeof l->key[0])
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected fewer keys");
    if (key != NULL)
        CIP_TRY(cip_node_new_string(l->a, key, strlen(key), &k, err));
    l->key[l->n] = k;
    l->value[l->n++] = value;
    return CIP_OK;
}

cip_status cip_asdf_list_text(asdf_list *l, const char *key, const char *text, cip_err *err)
{
    cip_node *v;
    CIP_TRY(cip_node_new_string(l->a, text, strlen(text), &v, err));
    return cip_asdf_list_add(l, key, v, err);
}

cip_status cip_asdf_list_map(asdf_list *l, const char *tag, cip_style style, cip_node **out,
                             cip_err *err)
{
    CIP_TRY(cip_node_new_map(l->a, l->n, out, err));
    for (size_t i = 0; i < l->n; i++)
        cip_node_set_pair(*out, i, l->key[i], l->value[i]);
    (*out)->tag = tag;
    (*out)->style = (uint8_t)style;
    return CIP_OK;
}

cip_status cip_asdf_shape_node(cip_arena *a, int32_t ndim, const int64_t *shape, bool star,
                               const cip_node **out, cip_err *err)
{
    cip_node *seq, *v;
    CIP_TRY(cip_node_new_seq(a, (size_t)ndim, &seq, err));
    seq->style = CIP_STYLE_FLOW;
    for (int32_t i = 0; i < ndim; i++) {
        if (i == 0 && star)
            CIP_TRY(cip_node_new_string(a, "*", 1, &v, err));
        else
            CIP_TRY(cip_node_new_int(a, shape[i], &v, err));
        cip_node_set_item(seq, (size_t)i, v);
    }
    *out = seq;
    return CIP_OK;
}

/* --- packing ---------------------------------------------------------------------------------- */

static cip_status pack(cip_arena *a, const cip_dtype *d, const cip_dtype **out, cip_err *err)
{
    cip_field *field;
    if (d->kind != CIP_RECORD) {
        *out = d;
        return CIP_OK;
    }
    CIP_TRY(CIP_ARENA_NEW(a, &field, d->nfield, err));
    for (size_t i = 0; i < d->nfield; i++) { /* records nest at most 32 deep */
        field[i] = d->field[i];
        CIP_TRY(pack(a, d->field[i].dtype, &field[i].dtype, err));
    }
    return cip_dtype_record(a, d->nfield, field, true, 0, out, err);
}

cip_status cip_asdf_stored_type(cip_arena *a, const cip_dtype *d, int big, const cip_dtype **out,
                                cip_err *err)
{
    CIP_TRY(pack(a, d, out, err));
    if (big < 0)
        return CIP_OK;
    return cip_dtype_with_order(a, *out, big == 1, out, err);
}

/* --- datatype --------------------------------------------------------------------------------- */

const char *cip_asdf_type_fault(const asdf_standard *s, const cip_dtype *d)
{
    const char *fault = NULL;
    if (d->kind == CIP_F16 && !s->half)
        return "float16 came with version 1.6.0 of the standard";
    if (d->kind == CIP_OPAQUE)
        return "ASDF has no type for opaque bytes";
    if (cip_kind_is_time(d->kind))
        return "ASDF has no type for times";
    if (d->kind == CIP_RECORD && d->nfield == 0)
        return "ASDF has no records without fields";
    for (size_t i = 0; i < d->nfield && fault == NULL; i++)
        fault = cip_asdf_type_fault(s, d->field[i].dtype);
    return fault;
}

static cip_status text_node(cip_arena *a, const char *name, uint64_t n, const cip_node **out,
                            cip_err *err)
{
    cip_node *seq, *v;
    CIP_TRY(cip_node_new_seq(a, 2, &seq, err));
    seq->style = CIP_STYLE_FLOW;
    CIP_TRY(cip_node_new_string(a, name, strlen(name), &v, err));
    cip_node_set_item(seq, 0, v);
    CIP_TRY(cip_node_new_uint(a, n, &v, err));
    cip_node_set_item(seq, 1, v);
    *out = seq;
    return CIP_OK;
}

static cip_status record_node(cip_arena *a, const cip_dtype *d, const cip_node **out, cip_err *err)
{
    cip_node *seq, *map;
    const cip_node *type, *shape;
    CIP_TRY(cip_node_new_seq(a, d->nfield, &seq, err));
    seq->style = CIP_STYLE_FLOW;
    for (size_t i = 0; i < d->nfield; i++) {
        const cip_field *f = &d->field[i];
        asdf_list l = { .a = a };
        CIP_TRY(cip_asdf_type_node(a, f->dtype, &type, err));
        CIP_TRY(cip_asdf_list_text(&l, "name", f->name, err));
        CIP_TRY(cip_asdf_list_add(&l, "datatype", type, err));
        CIP_TRY(cip_asdf_list_text(&l, "byteorder", f->dtype->big ? "big" : "little", err));
        if (f->ndim != 0) {
            CIP_TRY(cip_asdf_shape_node(a, f->ndim, f->shape, false, &shape, err));
            CIP_TRY(cip_asdf_list_add(&l, "shape", shape, err));
        }
        CIP_TRY(cip_asdf_list_map(&l, NULL, CIP_STYLE_FLOW, &map, err));
        cip_node_set_item(seq, i, map);
    }
    *out = seq;
    return CIP_OK;
}

cip_status cip_asdf_type_node(cip_arena *a, const cip_dtype *d, const cip_node **out, cip_err *err)
{
    cip_node *n;
    if (d->kind == CIP_RECORD)
        return record_node(a, d, out, err);
    if (d->kind == CIP_ASCII)
        return text_node(a, "ascii", d->itemsize, out, err);
    if (d->kind == CIP_UCS4)
        return text_node(a, "ucs4", d->itemsize / 4, out, err);
    const char *name = d->kind == CIP_BOOL ? "bool8" : cip_dtype_name(d);
    CIP_TRY(cip_node_new_string(a, name, strlen(name), &n, err));
    *out = n;
    return CIP_OK;
}
