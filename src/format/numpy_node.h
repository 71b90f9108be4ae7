/* SPDX-License-Identifier: BSD-3-Clause
 * Types and shapes as numpy's users write them into JSON and msgpack. */
#ifndef CIP_FORMAT_NUMPY_NODE_H
#define CIP_FORMAT_NUMPY_NODE_H

#include "array/quote.h"
#include "space/layout/layout.h"

enum { CIP_NUMPY_DEPTH = 32 }; /* records inside each other */

static inline cip_status cip_numpy_refuse(const char *what, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "expected %s, found another value",
                    what);
}

static inline cip_status cip_numpy_add_text(cip_buf *b, const cip_node *n, cip_err *err)
{
    if (n->type != CIP_NODE_STRING)
        return cip_numpy_refuse("text", err);
    return cip_quote_utf8(b, n->text, n->len, false, err);
}

/* The name of a field, or a title and the name. */
static inline cip_status cip_numpy_add_name(cip_buf *b, const cip_node *n, cip_err *err)
{
    if (n->type != CIP_NODE_SEQ || n->len != 2)
        return cip_numpy_add_text(b, n, err);
    CIP_TRY(cip_buf_addf(b, err, "("));
    CIP_TRY(cip_numpy_add_text(b, n->item[0], err));
    CIP_TRY(cip_buf_addf(b, err, ","));
    CIP_TRY(cip_numpy_add_text(b, n->item[1], err));
    return cip_buf_addf(b, err, ")");
}

/* A descr as Python prints it: text, or a list of fields, each of a name, a type and perhaps a
 * shape. What is a tuple there may have become a list. */
static inline cip_status cip_numpy_add_type(cip_buf *b, const cip_node *n, int depth, cip_err *err)
{
    if (n->type != CIP_NODE_SEQ || depth == CIP_NUMPY_DEPTH)
        return cip_numpy_add_text(b, n, err);
    CIP_TRY(cip_buf_addf(b, err, "["));
    for (uint32_t i = 0; i < n->len; i++) {
        const cip_node *f = n->item[i];
        if (f->type != CIP_NODE_SEQ || f->len < 2 || f->len > 3)
            return cip_numpy_refuse("fields of a name, a type and a shape", err);
        CIP_TRY(cip_buf_addf(b, err, "("));
        CIP_TRY(cip_numpy_add_name(b, f->item[0], err));
        CIP_TRY(cip_buf_addf(b, err, ","));
        CIP_TRY(cip_numpy_add_type(b, f->item[1], depth + 1, err));
        const cip_node *s = f->len == 3 ? f->item[2] : NULL; /* a length, or a list of them */
        const bool list = cip_node_kind(s) == CIP_NODE_SEQ;
        uint64_t len;
        CIP_TRY(cip_buf_addf(b, err, s != NULL ? ",(" : ""));
        for (uint32_t k = 0; s != NULL && k < (list ? s->len : 1); k++) {
            if (!cip_node_as_uint(list ? s->item[k] : s, &len))
                return cip_numpy_refuse("the shape of a field", err);
            CIP_TRY(cip_buf_addf(b, err, "%" PRIu64 ",", len));
        }
        CIP_TRY(cip_buf_addf(b, err, s != NULL ? "))," : "),"));
    }
    return cip_buf_addf(b, err, "]");
}

/* The type that a node (NULL: none) says, in the layout's arena: what cip_dtype_of_text takes, also
 * in quotes, or a descr. UNSUPPORTED for other nodes, and what cip_dtype_of_text fails with. */
static inline cip_status cip_numpy_type(cip_layout *l, const cip_node *n, const cip_dtype **out,
                                        cip_err *err)
{
    cip_buf text = { .mem = &l->env->mem };
    if (n == NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a dtype, found none");
    if (n->type == CIP_NODE_STRING)
        return cip_dtype_of_text(&l->arena, n->text, n->len, false, out, err);
    cip_status st = cip_numpy_add_type(&text, n, 0, err);
    if (st == CIP_OK)
        st = cip_dtype_of_text(&l->arena, (const char *)text.ptr, text.len, false, out, err);
    cip_buf_clear(&text);
    return st;
}

/* A list of at most CIP_MAX_NDIM lengths; UNSUPPORTED for other nodes (NULL: none). */
static inline cip_status cip_numpy_shape(const cip_node *n, int64_t shape[CIP_MAX_NDIM],
                                         cip_err *err)
{
    bool good = n != NULL && n->type == CIP_NODE_SEQ && n->len <= CIP_MAX_NDIM;
    for (uint32_t k = 0; good && k < n->len; k++)
        good = cip_node_as_int(n->item[k], &shape[k]) && shape[k] >= 0;
    if (good)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a shape of at most %d lengths, found another value", CIP_MAX_NDIM);
}

#endif
