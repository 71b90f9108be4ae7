/* SPDX-License-Identifier: BSD-3-Clause
 * Elements as values of the tree: inline data. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "array/half.h"
#include "base/endian.h"
#include "format/asdf/write/asdf_write.h"
#include "tree/scalar.h"
#include "tree/utf8.h"

#define COMPLEX_TAG ASDF_TAGS "core/complex-1.0.0"

static double load_float(cip_kind kind, bool big, const uint8_t *p)
{
    float f;
    double v;
    uint32_t w;
    uint64_t x;
    if (kind == CIP_F16)
        return (double)cip_half_to_float(cip_load_u16(p, big));
    if (kind == CIP_F32) {
        w = cip_load_u32(p, big);
        memcpy(&f, &w, sizeof f);
        return (double)f;
    }
    x = cip_load_u64(p, big);
    memcpy(&v, &x, sizeof v);
    return v;
}

static cip_status integer(cip_arena *a, const cip_dtype *d, const uint8_t *p, cip_node **out,
                          cip_err *err)
{
    uint64_t v;
    switch (d->kind) {
    case CIP_I8:
        return cip_node_new_int(a, (int8_t)p[0], out, err);
    case CIP_I16:
        return cip_node_new_int(a, (int16_t)cip_load_u16(p, d->big), out, err);
    case CIP_I32:
        return cip_node_new_int(a, (int32_t)cip_load_u32(p, d->big), out, err);
    case CIP_I64:
        return cip_node_new_int(a, (int64_t)cip_load_u64(p, d->big), out, err);
    case CIP_U8:
        return cip_node_new_uint(a, p[0], out, err);
    case CIP_U16:
        return cip_node_new_uint(a, cip_load_u16(p, d->big), out, err);
    case CIP_U32:
        return cip_node_new_uint(a, cip_load_u32(p, d->big), out, err);
    default: /* the standard wants integers of a tree to fit in 63 bits */
        v = cip_load_u64(p, d->big);
        return v <= INT64_MAX
                   ? cip_node_new_uint(a, v, out, err)
                   : cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                              "expected integers below 2^63 for inline data, found %" PRIu64, v);
    }
}

/* As Python reads it: no dot before inf and nan. */
static void part_text(double v, char out[CIP_DOUBLE_TEXT])
{
    if (isnan(v))
        snprintf(out, CIP_DOUBLE_TEXT, "nan");
    else if (isinf(v))
        snprintf(out, CIP_DOUBLE_TEXT, "%sinf", v < 0 ? "-" : "");
    else
        cip_double_text(v, out);
}

static cip_status complex_node(cip_arena *a, double re, double im, cip_node **out, cip_err *err)
{
    char x[CIP_DOUBLE_TEXT], y[CIP_DOUBLE_TEXT], text[2 * CIP_DOUBLE_TEXT + 4];
    part_text(re, x);
    part_text(im, y);
    int n = snprintf(text, sizeof text, "%s%s%sj", x, y[0] == '-' ? "" : "+", y);
    CIP_TRY(cip_node_new_string(a, text, (size_t)n, out, err));
    (*out)->tag = COMPLEX_TAG;
    return CIP_OK;
}

static cip_status ascii(cip_arena *a, const cip_dtype *d, const uint8_t *p, cip_node **out,
                        cip_err *err)
{
    size_t n = (size_t)d->itemsize;
    while (n != 0 && p[n - 1] == 0)
        n--;
    for (size_t i = 0; i < n; i++)
        if (p[i] > 0x7f)
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected ASCII text for inline data, found byte 0x%02x", p[i]);
    return cip_node_new_string(a, (const char *)p, n, out, err);
}

static cip_status ucs4(cip_arena *a, const cip_dtype *d, const uint8_t *p, cip_node **out,
                       cip_err *err)
{
    cip_status st = CIP_OK;
    size_t n = (size_t)(d->itemsize / 4);
    cip_buf b = { .mem = a->mem };
    while (n != 0 && cip_load_u32(p + 4 * (n - 1), d->big) == 0)
        n--;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = cip_load_u32(p + 4 * i, d->big);
        uint8_t u[4];
        size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
            CIP_GO(cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected Unicode text for inline data, found U+%04" PRIX32, c));
        for (size_t k = len; k-- > 1; c >>= 6)
            u[k] = (uint8_t)(0x80 | (c & 0x3f));
        u[0] = (uint8_t)(len == 1 ? c : (0xf00u >> len & 0xf0) | c);
        CIP_GO(cip_buf_add(&b, u, len, err));
    }
    st = cip_node_new_string(a, b.ptr != NULL ? (const char *)b.ptr : "", b.len, out, err);
done:
    cip_buf_clear(&b);
    return st;
}

static cip_status record(cip_arena *a, const cip_dtype *d, const uint8_t *p, cip_node **out,
                         cip_err *err)
{
    const cip_node *v;
    CIP_TRY(cip_node_new_seq(a, d->nfield, out, err));
    (*out)->style = CIP_STYLE_FLOW;
    for (size_t i = 0; i < d->nfield; i++) {
        const cip_field *f = &d->field[i];
        CIP_TRY(cip_asdf_inline_node(
            a, &(asdf_elements){ f->dtype, f->ndim, f->shape, p + f->offset, NULL }, &v, err));
        cip_node_set_item(*out, i, v);
    }
    return CIP_OK;
}

cip_status cip_asdf_element_node(cip_arena *a, const cip_dtype *d, const uint8_t *p,
                                 const cip_node **out, cip_err *err)
{
    cip_node *n = NULL;
    cip_status st;
    switch (d->kind) {
    case CIP_BOOL:
        st = cip_node_new_bool(a, p[0] != 0, &n, err);
        break;
    case CIP_F16:
    case CIP_F32:
    case CIP_F64:
        st = cip_node_new_double(a, load_float(d->kind, d->big, p), &n, err);
        break;
    case CIP_C64:
        st = complex_node(a, load_float(CIP_F32, d->big, p), load_float(CIP_F32, d->big, p + 4), &n,
                          err);
        break;
    case CIP_C128:
        st = complex_node(a, load_float(CIP_F64, d->big, p), load_float(CIP_F64, d->big, p + 8), &n,
                          err);
        break;
    case CIP_ASCII:
        st = ascii(a, d, p, &n, err);
        break;
    case CIP_UCS4:
        st = ucs4(a, d, p, &n, err);
        break;
    case CIP_RECORD:
        st = record(a, d, p, &n, err);
        break;
    default:
        st = integer(a, d, p, &n, err);
        break;
    }
    *out = n;
    return st;
}

/* Takes elements off the front of x. Axes nest at most CIP_MAX_NDIM deep. */
static cip_status fill(cip_arena *a, asdf_elements *x, int32_t axis, const cip_node **out,
                       cip_err *err)
{
    cip_node *seq;
    const cip_node *item;
    if (axis == x->ndim) {
        bool missing = x->mask != NULL && *x->mask++ != 0;
        if (missing) {
            CIP_TRY(cip_node_new_null(a, &seq, err));
            *out = seq;
        } else {
            CIP_TRY(cip_asdf_element_node(a, x->dtype, x->data, out, err));
        }
        x->data += x->dtype->itemsize;
        return CIP_OK;
    }
    CIP_TRY(cip_node_new_seq(a, (size_t)x->shape[axis], &seq, err));
    seq->style = CIP_STYLE_FLOW;
    for (int64_t i = 0; i < x->shape[axis]; i++) {
        CIP_TRY(fill(a, x, axis + 1, &item, err));
        cip_node_set_item(seq, (size_t)i, item);
    }
    *out = seq;
    return CIP_OK;
}

cip_status cip_asdf_inline_node(cip_arena *a, const asdf_elements *e, const cip_node **out,
                                cip_err *err)
{
    asdf_elements left = *e;
    return fill(a, &left, 0, out, err);
}
