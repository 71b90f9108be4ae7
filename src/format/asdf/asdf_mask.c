/* SPDX-License-Identifier: BSD-3-Clause
 * Masks: a number that stands for missing, an array of flags, or nulls among inline data. */
#include "format/asdf/asdf.h"

#include <string.h>

static void ignore(asdf_file *f, const cip_array *a, const char *why)
{
    cip_warn(f->env, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, a->path, "the mask is ignored: %s", why);
}

static bool is_number(cip_kind k)
{
    return k >= CIP_BOOL && k <= CIP_C128;
}

/* --- values
 * --------------------------------------------------------------------------------------- */

/* A value that the type cannot hold occurs nowhere: then nothing is missing. */
static cip_status from_value(asdf_file *f, const cip_node *n, cip_array *a, cip_err *err)
{
    uint8_t *value;
    if (!is_number(a->dtype->kind) || (n->type == CIP_NODE_BOOL && a->dtype->kind != CIP_BOOL)) {
        ignore(f, a, "expected a value of the array's type");
        return CIP_OK;
    }
    CIP_TRY(cip_arena_get(&f->layout->arena, (size_t)a->dtype->itemsize, (void **)&value, err));
    if (cip_asdf_element(a->dtype, n, value, NULL) != CIP_OK)
        return CIP_OK;
    a->mask.kind = CIP_MASK_VALUE;
    a->mask.value = value;
    return CIP_OK;
}

/* --- arrays
 * --------------------------------------------------------------------------------------- */

/* numpy's broadcasting: axes from the last on are equal or 1. */
static bool broadcasts(const cip_nd *from, const cip_nd *to)
{
    if (from->ndim > to->ndim)
        return false;
    for (int32_t i = 1; i <= from->ndim; i++) {
        int64_t n = from->shape[from->ndim - i];
        if (n != 1 && n != to->shape[to->ndim - i])
            return false;
    }
    return true;
}

static cip_status mask_array(cip_array *a, cip_array **out, cip_err *err)
{
    CIP_TRY(cip_layout_add_array(a->layout, false, out, err));
    (*out)->path = a->path;
    return CIP_OK;
}

static void refuse_shape(asdf_file *f, const cip_array *a, cip_array *m)
{
    cip_err why = CIP_ERR_INIT;
    cip_fail(&why, CIP_ERR_RANGE, CIP_NO_OFFSET,
             "expected a mask of the array's shape, found one of %" PRId32
             " axes that does not broadcast",
             m->view.ndim);
    cip_fail_in(&why, CIP_ERR_RANGE, "%s", a->path);
    cip_warn(f->env, CIP_ERR_RANGE, CIP_NO_OFFSET, a->path, "%s", why.text);
    cip_array_refuse(m, CIP_ERR_RANGE, &why);
}

static cip_status from_array(asdf_file *f, const cip_node *n, cip_array *a, cip_err *err)
{
    cip_array *m;
    CIP_TRY(mask_array(a, &m, err));
    CIP_TRY(cip_asdf_ndarray(f, n, false, m, err));
    if (m->st != CIP_OK) {
        const char *text = m->why != NULL ? m->why->text : "it cannot be read";
        return cip_fail(err, m->st, CIP_NO_OFFSET, "mask: %.200s", text);
    }
    if (!is_number(m->dtype->kind)) {
        ignore(f, a, "expected an array of numbers");
        return CIP_OK;
    }
    if (!broadcasts(&m->view, &a->view))
        refuse_shape(f, a, m);
    a->mask.kind = CIP_MASK_SET_MISSING;
    a->mask.array = m;
    return CIP_OK;
}

static cip_status from_reference(asdf_file *f, const char *ref, cip_array *a, cip_err *err)
{
    asdf_file *owner;
    const cip_node *n;
    CIP_TRY(cip_asdf_resolve(f, ref, &owner, &n, err));
    if (cip_asdf_is_ndarray(n->tag, NULL))
        return from_array(owner, n, a, err);
    ignore(f, a, "its reference leads to no ndarray");
    return CIP_OK;
}

static cip_status from_nulls(asdf_file *f, const asdf_inline *in, cip_array *a, cip_err *err)
{
    cip_array *m;
    CIP_TRY(mask_array(a, &m, err));
    m->dtype = cip_dtype_fixed(CIP_BOOL, false);
    m->storage = (cip_storage){ .kind = "inline", .codec = "none", .block = -1 };
    CIP_TRY(cip_view_c_order(in->ndim, in->shape, 1, &m->view, err));
    CIP_TRY(cip_asdf_inline_nulls(f, in, &m->space, err));
    a->mask.kind = CIP_MASK_SET_MISSING;
    a->mask.array = m;
    return CIP_OK;
}

cip_status cip_asdf_mask(asdf_file *f, const cip_node *mask, const asdf_inline *in, cip_array *a,
                         cip_err *err)
{
    cip_node_type type = cip_node_kind(mask);
    if (type == CIP_NODE_NONE || type == CIP_NODE_NULL)
        return in != NULL && in->nulls ? from_nulls(f, in, a, err) : CIP_OK;
    if (cip_asdf_ref_of(mask) != NULL)
        return from_reference(f, cip_asdf_ref_of(mask), a, err);
    if (type == CIP_NODE_SEQ || cip_asdf_is_ndarray(mask->tag, NULL))
        return from_array(f, mask, a, err);
    if (type == CIP_NODE_INT || type == CIP_NODE_FLOAT || type == CIP_NODE_BOOL ||
        type == CIP_NODE_BIGINT)
        return from_value(f, mask, a, err);
    ignore(f, a, "expected a number or an ndarray");
    return CIP_OK;
}
