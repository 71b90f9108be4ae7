/* SPDX-License-Identifier: BSD-3-Clause
 * What pack_tensor, save_tensor and save_array write: a flat frame with kind, shape and type of its
 * elements in a vlmetalayer. The type is numpy's text, of records the list that numpy calls a
 * descr. */
#include "base/num.h"
#include "format/blosc2/blosc2.h"
#include "format/numpy_node.h"

static cip_status read_tensor(cip_layout *l, const cip_b2_frame *f, const cip_node *t, cip_array *a,
                              cip_err *err)
{
    int64_t shape[CIP_MAX_NDIM];
    uint64_t n;
    const cip_dtype *d;
    cip_nd view;
    if (t->type != CIP_NODE_SEQ || t->len != 3)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected kind, shape and type, found another value");
    CIP_TRY(cip_numpy_shape(t->item[1], shape, err));
    CIP_TRY(cip_numpy_type(l, t->item[2], &d, err));
    int32_t ndim = (int32_t)t->item[1]->len;
    if (!cip_shape_nelem(ndim, shape, &n) || cip_mul_overflow(n, d->itemsize, &n) ||
        n != f->h.nbytes)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected elements of '%s' of %" PRIu64
                        " bytes in all, found a different shape",
                        d->name, f->h.nbytes);
    CIP_TRY(cip_view_c_order(ndim, shape, d->itemsize, &view, err));
    a->dtype = d;
    a->view = view;
    return CIP_OK;
}

cip_status cip_b2_tensor(cip_layout *l, const cip_b2_frame *f, cip_array *a, bool *is, cip_err *err)
{
    const cip_node *vlmeta = l->tree == NULL ? NULL : cip_map_get(l->tree, "vlmeta");
    const cip_node *t = vlmeta == NULL ? NULL : cip_map_get(vlmeta, "__pack_tensor__");
    cip_err why = CIP_ERR_INIT;
    *is = false;
    if (t == NULL)
        return CIP_OK;
    cip_status st = read_tensor(l, f, t, a, &why);
    if (st == CIP_ERR_NOMEM)
        return cip_fail(err, st, why.offset, "%s", why.text);
    *is = st == CIP_OK;
    if (!*is)
        cip_warn(l->env, st, CIP_NO_OFFSET, "__pack_tensor__", "%.160s; items are shown as bytes",
                 why.text);
    return CIP_OK;
}
