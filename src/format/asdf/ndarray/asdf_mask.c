/* SPDX-License-Identifier: BSD-3-Clause
 * Masks: a number that stands for missing, an array of flags, or nulls among inline data. */
#include "format/asdf/asdf.h"

#include <string.h>

static void ignore(asdf_file *f, const cip_array *a, const char *why)
{
    cip_warn_lack(f->env, CIP_LACKS_ARRAY, a, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, a->path,
                  "the mask is ignored: %s", why);
}

static bool is_number(cip_kind k)
{
    return k >= CIP_BOOL && k <= CIP_C128;
}

/* --- values ----------------------------------------------------------------------------------- */

/* A value that the type cannot hold occurs nowhere: then nothing is missing. */
static cip_status from_value(asdf_file *f, const cip_node *n, cip_array *a, cip_err *err)
{
    uint8_t *value;
    double v;
    if (!is_number(a->dtype->kind)) {
        ignore(f, a, "expected an array of numbers");
        return CIP_OK;
    }
    CIP_TRY(cip_arena_get(&f->layout->arena, (size_t)a->dtype->itemsize, (void **)&value, err));
    if (cip_asdf_element(a->dtype, n, value, NULL) != CIP_OK)
        return CIP_OK;
    /* as an element of bools any other number is true too */
    if (a->dtype->kind == CIP_BOOL &&
        (cip_asdf_element(cip_dtype_of(CIP_F64), n, (uint8_t *)&v, NULL) != CIP_OK ||
         (v != 0 && v != 1)))
        return CIP_OK;
    a->mask.kind = CIP_MASK_VALUE;
    a->mask.value = value;
    return CIP_OK;
}

/* --- arrays ----------------------------------------------------------------------------------- */

static cip_status mask_array(cip_array *a, cip_array **out, cip_err *err)
{
    CIP_TRY(cip_layout_add_array(a->layout, false, out, err));
    (*out)->path = a->path;
    return CIP_OK;
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
    /* numpy's broadcasting: axes from the last on are equal or 1 */
    const cip_nd *from = &m->view, *to = &a->view;
    bool fits = from->ndim <= to->ndim;
    for (int32_t i = 1; fits && i <= from->ndim; i++) {
        const int64_t k = from->shape[from->ndim - i];
        fits = k == 1 || k == to->shape[to->ndim - i];
    }
    if (!fits) {
        cip_err why = CIP_ERR_INIT;
        cip_fail(&why, CIP_ERR_RANGE, CIP_NO_OFFSET,
                 "expected a mask of the array's shape, found one of %" PRId32
                 " axes that does not broadcast",
                 from->ndim);
        cip_fail_in(&why, CIP_ERR_RANGE, "%s", a->path);
        cip_warn(f->env, CIP_ERR_RANGE, CIP_NO_OFFSET, a->path, "%s", why.text);
        cip_array_refuse(m, CIP_ERR_RANGE, &why);
    }
    a->mask.kind = CIP_MASK_SET_MISSING;
    a->mask.array = m;
    f->masks = true;
    return CIP_OK;
}

/* Nulls are missing whatever else is; `also`: flags of the file beside them, or NULL. */
static cip_status from_nulls(asdf_file *f, const asdf_inline *in, const cip_array *also,
                             cip_array *a, cip_err *err)
{
    cip_array *m;
    cip_nd flags;
    CIP_TRY(mask_array(a, &m, err));
    m->dtype = cip_dtype_fixed(CIP_BOOL, false);
    m->storage = (cip_storage){ .kind = CIP_STORAGE_INLINE,
                                .codec = "none",
                                .block = also != NULL ? also->storage.block : -1 };
    CIP_TRY(cip_view_c_order(in->ndim, in->shape, 1, &m->view, err));
    if (also != NULL) {
        flags = also->view;
        flags.ndim = in->ndim;
    }
    for (int32_t i = 0; also != NULL && i < in->ndim; i++) { /* to which they broadcast */
        const cip_nd *v = &also->view;
        const int32_t from = i - (in->ndim - v->ndim);
        flags.shape[i] = in->shape[i];
        flags.stride[i] = from < 0 || v->shape[from] == 1 ? 0 : v->stride[from];
    }
    CIP_TRY(cip_asdf_inline_nulls(f, in, also, &flags, &m->space, err));
    a->mask.kind = CIP_MASK_SET_MISSING;
    a->mask.array = m;
    return CIP_OK;
}

static cip_status explicit_mask(asdf_file *f, const cip_node *mask, cip_array *a, cip_err *err)
{
    cip_node_type type = cip_node_kind(mask);
    const char *ref = cip_asdf_ref_of(mask);
    if (type == CIP_NODE_NONE || type == CIP_NODE_NULL)
        return CIP_OK;
    if (ref != NULL) {
        asdf_file *owner;
        const cip_node *n;
        CIP_TRY(cip_asdf_resolve(f, ref, &owner, &n, err));
        if (cip_asdf_is_ndarray(n->tag, NULL))
            return from_array(owner, n, a, err);
        ignore(f, a, "its reference does not lead to an ndarray");
        return CIP_OK;
    }
    if (type == CIP_NODE_SEQ || cip_asdf_is_ndarray(mask->tag, NULL))
        return from_array(f, mask, a, err);
    if (type == CIP_NODE_INT || type == CIP_NODE_FLOAT || type == CIP_NODE_BOOL ||
        type == CIP_NODE_BIGINT || cip_asdf_is_core(mask->tag, "complex"))
        return from_value(f, mask, a, err);
    ignore(f, a, "expected a number or an ndarray");
    return CIP_OK;
}

cip_status cip_asdf_mask(asdf_file *f, const cip_node *mask, const asdf_inline *in, cip_array *a,
                         cip_err *err)
{
    CIP_TRY(explicit_mask(f, mask, a, err));
    if (in != NULL && in->nfield != 0) {
        a->mask.field = in->field;
        a->mask.nfield = in->nfield;
        CIP_TRY(cip_asdf_inline_in_fields(f, in, &a->mask.in_fields, err));
    }
    if (in == NULL || !in->nulls)
        return CIP_OK;
    /* What stands for null among the data is not told from a value by comparing, so the elements
     * that are equal are found here and become flags. */
    if (a->mask.kind == CIP_MASK_VALUE) {
        asdf_inline marked = *in;
        marked.missing = a->mask.value;
        a->mask.value = NULL;
        return from_nulls(f, &marked, NULL, a, err);
    }
    const cip_array *flags = a->mask.array;
    return flags != NULL && flags->st != CIP_OK ? CIP_OK : from_nulls(f, in, flags, a, err);
}
