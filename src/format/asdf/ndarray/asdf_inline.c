/* SPDX-License-Identifier: BSD-3-Clause
 * Inline data, looking: the shape of nested lists, whether they are regular, and what type they are
 * of when none is declared. Nothing is converted yet. */
#include "format/asdf/asdf.h"

#include <string.h>

#include "tree/utf8.h"

/* What kinds of values there are. */
enum {
    SEEN_NULL = 1,
    SEEN_BOOL = 2,
    SEEN_INT = 4,
    SEEN_NEGATIVE = 8,
    SEEN_WIDE = 16, /* beyond int64 */
    SEEN_FLOAT = 32,
    SEEN_COMPLEX = 64,
    SEEN_TEXT = 128
};

typedef struct look {
    asdf_file *f;
    asdf_inline *in;
    uint64_t visits;
    uint32_t seen;
    uint64_t chars; /* of the longest text, in code points */
    bool *has_null; /* of records: for each field that is none */
} look;

/* --- records ---------------------------------------------------------------------------------- */

static bool is_field_value(const cip_field *x, const cip_node *n, int32_t axis, int depth)
{
    if (axis < x->ndim)
        return n->type == CIP_NODE_SEQ && (int64_t)n->len == x->shape[axis] &&
               (n->len == 0 || is_field_value(x, n->item[0], axis + 1, depth));
    if (x->dtype->kind == CIP_RECORD)
        return cip_asdf_is_record(x->dtype, n, depth + 1);
    return n->type != CIP_NODE_SEQ && n->type != CIP_NODE_MAP;
}

bool cip_asdf_is_record(const cip_dtype *d, const cip_node *list, int depth)
{
    if (list->type != CIP_NODE_SEQ || list->len != d->nfield || depth > ASDF_RECORD_DEPTH)
        return false;
    for (size_t i = 0; i < d->nfield; i++)
        if (!is_field_value(&d->field[i], list->item[i], 0, depth))
            return false;
    return true;
}

/* Fields that are no records, in order, however deep. Records nest at most ASDF_RECORD_DEPTH deep.
 */
static size_t count_leaves(const cip_dtype *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->nfield; i++)
        n += d->field[i].dtype->kind == CIP_RECORD ? count_leaves(d->field[i].dtype) : 1;
    return n;
}

/* Notes in which fields there are nulls; `leaf` is the number of the first one. A mask has no place
 * for an item that takes no byte, nor for a record in a record. */
static cip_status note_record(const look *k, const cip_dtype *d, const cip_node *list, size_t leaf,
                              cip_err *err);
static cip_status note_items(const look *k, const cip_field *x, const cip_node *n, int32_t axis,
                             size_t leaf, cip_err *err)
{
    if (axis != x->ndim && n->type == CIP_NODE_SEQ) {
        for (uint32_t i = 0; i < n->len; i++)
            CIP_TRY(note_items(k, x, n->item[i], axis + 1, leaf, err));
        return CIP_OK;
    }
    if (n->type == CIP_NODE_SEQ && x->dtype->kind == CIP_RECORD)
        return note_record(k, x->dtype, n, leaf, err);
    if (n->type != CIP_NODE_NULL)
        return CIP_OK;
    if (x->dtype->kind == CIP_RECORD || x->dtype->itemsize == 0)
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "expected a value in field '%.40s', found null: a %s in a record cannot be masked",
            x->name, cip_dtype_name(x->dtype));
    k->in->nfield += !k->has_null[leaf];
    k->has_null[leaf] = true;
    return CIP_OK;
}

static cip_status note_record(const look *k, const cip_dtype *d, const cip_node *list, size_t leaf,
                              cip_err *err)
{
    for (uint32_t i = 0; i < list->len && i < d->nfield; i++) {
        const cip_field *x = &d->field[i];
        CIP_TRY(note_items(k, x, list->item[i], 0, leaf, err));
        leaf += x->dtype->kind == CIP_RECORD ? count_leaves(x->dtype) : 1;
    }
    return CIP_OK;
}

/* The fields with nulls of a record that lies as `of` says; *leaf and *out move on. */
static cip_status list_masked(const look *k, const cip_dtype *d, const cip_masked_field *of,
                              const bool **leaf, cip_masked_field **out, cip_err *err)
{
    for (size_t i = 0; i < d->nfield; i++) {
        const cip_field *f = &d->field[i];
        char *name;
        CIP_TRY(cip_arena_printf(&k->f->layout->arena, &name, err, "%s%s%s", of->name,
                                 of->name[0] != '\0' ? "/" : "", f->name));
        cip_masked_field x = { of->off + f->offset, name, cip_asdf_has_nan(f->dtype) };
        if (f->dtype->kind == CIP_RECORD)
            CIP_TRY(list_masked(k, f->dtype, &x, leaf, out, err));
        else if (*(*leaf)++)
            *(*out)++ = x;
    }
    return CIP_OK;
}

/* --- shape ------------------------------------------------------------------------------------ */

/* The lengths along the first items. */
static cip_status find_shape(asdf_inline *in, const cip_dtype *declared, cip_err *err)
{
    const cip_node *n = in->data;
    const bool records = declared != NULL && declared->kind == CIP_RECORD;
    in->ndim = 0;
    for (; n->type == CIP_NODE_SEQ && !(records && cip_asdf_is_record(declared, n, 0));
         in->ndim++) {
        if (in->ndim == CIP_MAX_NDIM)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected lists nested at most %d deep", CIP_MAX_NDIM);
        in->shape[in->ndim] = n->len;
        if (n->len == 0) {
            in->ndim++;
            return CIP_OK;
        }
        n = n->item[0];
    }
    return CIP_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

static cip_status wrong_value(const cip_node *n, cip_err *err)
{
    return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                    "expected numbers or texts as inline data, found %s%.40s%s",
                    n->text != NULL ? "'" : "a mapping or list", n->text != NULL ? n->text : "",
                    n->text != NULL ? "'" : "");
}

/* Notes what kind of value it is, for the inference. */
static cip_status note_value(look *k, const cip_node *n, cip_err *err)
{
    int64_t i;
    k->chars = cip_max_u64(k->chars, cip_asdf_text_chars(n));
    switch (n->type) {
    case CIP_NODE_NULL:
        k->seen |= SEEN_NULL;
        return CIP_OK;
    case CIP_NODE_BOOL:
        k->seen |= SEEN_BOOL;
        return CIP_OK;
    case CIP_NODE_INT:
        k->seen |= SEEN_INT | (n->negative ? SEEN_NEGATIVE : 0u);
        k->seen |= cip_node_as_int(n, &i) ? 0u : SEEN_WIDE;
        return CIP_OK;
    case CIP_NODE_FLOAT:
        k->seen |= SEEN_FLOAT;
        return CIP_OK;
    case CIP_NODE_STRING:
        k->seen |= cip_asdf_is_core(n->tag, "complex") ? SEEN_COMPLEX : SEEN_TEXT;
        return CIP_OK;
    default:
        return wrong_value(n, err);
    }
}

static cip_status look_at_lists(look *k, const cip_node *n, int32_t axis, bool declared,
                                cip_err *err)
{
    asdf_inline *in = k->in;
    if (++k->visits > k->f->env->limits.max_expansion)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "more than %" PRIu64 " inline values (max_expansion)",
                        k->f->env->limits.max_expansion);
    if (axis == in->ndim) {
        bool record = in->dtype != NULL && in->dtype->kind == CIP_RECORD;
        if (n->type == CIP_NODE_SEQ && !(record && cip_asdf_is_record(in->dtype, n, 0)))
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected lists of equal depth, found one deeper than %" PRId32 "",
                            axis);
        if (record && n->type == CIP_NODE_SEQ)
            CIP_TRY(note_record(k, in->dtype, n, 0, err));
        in->nulls = in->nulls || n->type == CIP_NODE_NULL;
        if (!declared)
            return note_value(k, n, err);
        /* a declared type is checked value by value when they are converted */
        return n->type == CIP_NODE_MAP ? wrong_value(n, err) : CIP_OK;
    }
    if (n->type != CIP_NODE_SEQ)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected lists of equal depth, found a value at depth %" PRId32 "", axis);
    if ((int64_t)n->len != in->shape[axis])
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRId64 " items in each list of axis %" PRId32
                        ", found %" PRIu32,
                        in->shape[axis], axis, n->len);
    for (uint32_t i = 0; i < n->len; i++)
        CIP_TRY(look_at_lists(k, n->item[i], axis + 1, declared, err));
    return CIP_OK;
}

/* As numpy decides: the widest of text, complex, float, int, bool. A null reads as 0. */
static cip_status infer(look *k, bool big, const cip_dtype **out, cip_err *err)
{
    uint32_t s = k->seen;
    cip_kind kind;
    if ((s & SEEN_TEXT) != 0)
        return cip_dtype_ucs4(&k->f->layout->arena, k->chars > 0 ? k->chars : 1, big, out, err);
    if ((s & SEEN_COMPLEX) != 0)
        kind = CIP_C128;
    else if ((s & SEEN_FLOAT) != 0 || s == 0)
        kind = CIP_F64;
    else if ((s & SEEN_WIDE) != 0)
        kind = (s & SEEN_NEGATIVE) != 0 ? CIP_F64 : CIP_U64;
    else
        kind = (s & (SEEN_INT | SEEN_NULL)) != 0 ? CIP_I64 : CIP_BOOL;
    *out = cip_dtype_fixed(kind, big);
    return CIP_OK;
}

/* Looks at the values, and where records have nulls in them. */
static cip_status look_at_records(look *k, const cip_dtype *d, cip_err *err)
{
    cip_arena *a = &k->f->layout->arena;
    const cip_masked_field all = { .name = "" };
    cip_masked_field *field;
    CIP_TRY(CIP_ARENA_NEW(a, &k->has_null, count_leaves(d), err));
    CIP_TRY(look_at_lists(k, k->in->data, 0, true, err));
    CIP_TRY(CIP_ARENA_NEW(a, &field, k->in->nfield, err));
    k->in->field = field;
    return k->in->nfield == 0
               ? CIP_OK
               : list_masked(k, d, &all, &(const bool *){ k->has_null }, &field, err);
}

cip_status cip_asdf_inline_look(asdf_file *f, const cip_node *data, const cip_dtype *declared,
                                bool big, asdf_inline *out, cip_err *err)
{
    asdf_inline in = { .data = data, .dtype = declared };
    look k = { .f = f, .in = &in };
    const bool number =
        data->type == CIP_NODE_BOOL || data->type == CIP_NODE_INT || data->type == CIP_NODE_FLOAT;
    if (data->type != CIP_NODE_SEQ && !(out->may_be_one && number))
        return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET, "expected a list as inline data");
    CIP_TRY(find_shape(&in, declared, err));
    if (declared != NULL && declared->kind == CIP_RECORD)
        CIP_TRY(look_at_records(&k, declared, err));
    else
        CIP_TRY(look_at_lists(&k, data, 0, declared != NULL, err));
    if (declared == NULL)
        CIP_TRY(infer(&k, big, &in.dtype, err));
    *out = in;
    return CIP_OK;
}
