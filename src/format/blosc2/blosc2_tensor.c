/* SPDX-License-Identifier: BSD-3-Clause
 * What pack_tensor, save_tensor and save_array write: a flat frame with kind, shape and type of its
 * elements in a vlmetalayer. The type is numpy's text, of records the list that numpy calls a
 * descr. */
#include "array/quote.h"
#include "base/num.h"
#include "format/blosc2/blosc2.h"

enum { DESCR_DEPTH = 32 }; /* lists and tuples inside each other */

/* A descr as Python prints it, which numpy's types are parsed from. */
static cip_status print_descr(cip_buf *b, const cip_node *n, int depth, cip_err *err)
{
    int64_t v;
    if (n->type == CIP_NODE_STRING)
        return cip_quote_utf8(b, n->text, n->len, false, err);
    if (cip_node_as_int(n, &v))
        return cip_buf_addf(b, err, "%" PRId64, v);
    if (n->type != CIP_NODE_SEQ || depth == DESCR_DEPTH)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected strings, integers, lists and tuples, found another value");
    bool tuple = n->tag != NULL; /* msgpack's only tagged sequences here */
    CIP_TRY(cip_buf_add(b, tuple ? "(" : "[", 1, err));
    for (uint32_t i = 0; i < n->len; i++) {
        CIP_TRY(cip_buf_add(b, ",", i == 0 ? 0 : 1, err));
        CIP_TRY(print_descr(b, n->item[i], depth + 1, err));
    }
    return cip_buf_add(b, tuple ? ")" : "]", 1, err);
}

static cip_status parse_type(cip_layout *l, const cip_node *n, const cip_dtype **out, cip_err *err)
{
    cip_buf text = { .mem = &l->env->mem };
    if (n->type == CIP_NODE_STRING)
        return cip_dtype_parse(&l->arena, n->text, n->len, false, out, err);
    cip_status st = print_descr(&text, n, 0, err);
    if (st == CIP_OK)
        st = cip_dtype_parse(&l->arena, (const char *)text.ptr, text.len, false, out, err);
    cip_buf_clear(&text);
    return st;
}

static cip_status parse_shape(const cip_node *n, int64_t shape[CIP_MAX_NDIM], cip_err *err)
{
    bool good = n->type == CIP_NODE_SEQ && n->len <= CIP_MAX_NDIM;
    for (uint32_t k = 0; good && k < n->len; k++)
        good = cip_node_as_int(n->item[k], &shape[k]) && shape[k] >= 0;
    if (good)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a shape of at most %d lengths, found another value", CIP_MAX_NDIM);
}

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
    CIP_TRY(parse_shape(t->item[1], shape, err));
    CIP_TRY(parse_type(l, t->item[2], &d, err));
    int32_t ndim = (int32_t)t->item[1]->len;
    if (!cip_shape_nelem(ndim, shape, &n) || cip_mul_overflow(n, d->itemsize, &n) ||
        n != f->h.nbytes)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected elements of '%s' that take %" PRIu64
                        " bytes, found another shape",
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
