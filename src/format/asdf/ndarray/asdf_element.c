/* SPDX-License-Identifier: BSD-3-Clause
 * One inline value as an element: what a YAML scalar (or a list, for a record) becomes in a given
 * type. A value that the type cannot hold is refused, as the standard wants it. */
#include "format/asdf/asdf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "array/cast.h"
#include "array/number_text.h"
#include "base/endian.h"
#include "tree/utf8.h"

static cip_status no_value(const cip_dtype *d, const cip_node *n, cip_err *err)
{
    return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                    "expected a value of type %s, found %s%.60s%s", cip_dtype_name(d),
                    n->text != NULL ? "'" : "a list or mapping", n->text != NULL ? n->text : "",
                    n->text != NULL ? "'" : "");
}

static cip_status out_of_range(const cip_dtype *d, const cip_node *n, cip_err *err)
{
    return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                    "expected a value that %s holds exactly, found '%.60s'", cip_dtype_name(d),
                    n->text);
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* One number of type `from` (in the machine's order) as an element of d. Any number is true or
 * false, as the reference reader has it; an integer that a float does not hold is refused. */
static cip_status cast_number(const cip_dtype *d, const cip_node *n, cip_kind from, const void *v,
                              uint8_t *dst, cip_err *err)
{
    cip_cast cast;
    cip_cast_stats stats = { 0 };
    cip_overflow policy = d->kind == CIP_BOOL ? CIP_OVERFLOW_CLAMP : CIP_OVERFLOW_ERROR;
    CIP_TRY(cip_cast_make(cip_dtype_of(from), d, policy, &cast, err));
    cip_cast_run(&cast, 1, v, 0, dst, 0, 0, &stats);
    return stats.noverflow == 0 ? CIP_OK : out_of_range(d, n, err);
}

static cip_status real(const cip_dtype *d, const cip_node *n, double v, uint8_t *dst, cip_err *err)
{
    return cast_number(d, n, CIP_F64, &v, dst, err);
}

/* Text that is a number all the same: a core/complex, or a float as YAML 1.2 spells it. */
static cip_status number_in_text(const cip_dtype *d, const cip_node *n, uint8_t *dst, cip_err *err)
{
    double v[2];
    bool plain = n->style == CIP_STYLE_PLAIN || cip_asdf_is_core(n->tag, "complex");
    if (!plain || !cip_asdf_complex_parse(n->text, n->len, &v[0], &v[1]))
        return no_value(d, n, err);
    if (d->kind == CIP_C64 || d->kind == CIP_C128)
        return cast_number(d, n, CIP_C128, v, dst, err);
    return v[1] == 0 ? real(d, n, v[0], dst, err) : out_of_range(d, n, err);
}

static cip_status number(const cip_dtype *d, const cip_node *n, uint8_t *dst, cip_err *err)
{
    double v;
    int64_t i = n->type == CIP_NODE_BOOL ? n->b : 0;
    switch (n->type) {
    case CIP_NODE_BOOL:
        return cast_number(d, n, CIP_I64, &i, dst, err);
    case CIP_NODE_INT:
        return cast_number(d, n, n->negative ? CIP_I64 : CIP_U64, &n->u, dst, err);
    case CIP_NODE_FLOAT:
        /* The reference reader's .nan has its sign bit set, and its bytes are what others compare.
         */
        return real(d, n, isnan(n->f) ? copysign(n->f, -1.0) : n->f, dst, err);
    case CIP_NODE_BIGINT:
        if ((d->kind >= CIP_I8 && d->kind <= CIP_U64) ||
            !cip_asdf_complex_parse(n->text, n->len, &v, &(double){ 0 }))
            return out_of_range(d, n, err);
        return real(d, n, v, dst, err);
    case CIP_NODE_STRING:
        return number_in_text(d, n, dst, err);
    default:
        return no_value(d, n, err);
    }
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Room for the text of any number but those over 64 bits, which is their own. */
typedef char number_room[3 * CIP_NUMBER_TEXT];

static cip_bytes complex_text(double re, double im, number_room room)
{
    char a[CIP_NUMBER_TEXT] = "", b[CIP_NUMBER_TEXT];
    const bool alone = re == 0 && !signbit(re);
    if (!alone)
        cip_float_text(a, re, CIP_DOUBLE, true);
    cip_float_text(b, im, CIP_DOUBLE, true);
    const int n =
        alone ? snprintf(room, sizeof(number_room), "%sj", b)
              : snprintf(room, sizeof(number_room), "(%s%s%sj)", a, b[0] != '-' ? "+" : "", b);
    return (cip_bytes){ (const uint8_t *)room, (size_t)n };
}

/* A scalar among texts as Python has it: numpy makes texts of the values, whatever their spelling
 * (0x10 is '16'). A number over 64 bits is a text here only as its digits. */
static cip_bytes text_of(const cip_node *n, number_room room)
{
    double re, im;
    size_t len;
    switch (n->type) {
    case CIP_NODE_BOOL:
        return n->b ? (cip_bytes){ (const uint8_t *)"True", 4 }
                    : (cip_bytes){ (const uint8_t *)"False", 5 };
    case CIP_NODE_INT:
        len = (size_t)(n->negative ? snprintf(room, sizeof(number_room), "%" PRId64, (int64_t)n->u)
                                   : snprintf(room, sizeof(number_room), "%" PRIu64, n->u));
        return (cip_bytes){ (const uint8_t *)room, len };
    case CIP_NODE_FLOAT:
        len = cip_float_text(room, n->f, CIP_DOUBLE, false);
        return (cip_bytes){ (const uint8_t *)room, len };
    default:
        if (cip_asdf_is_core(n->tag, "complex") &&
            cip_asdf_complex_parse(n->text, n->len, &re, &im))
            return complex_text(re, im, room);
        return (cip_bytes){ (const uint8_t *)n->text, n->len };
    }
}

uint64_t cip_asdf_text_chars(const cip_node *n)
{
    uint64_t chars = 0;
    uint32_t cp;
    if (n->type == CIP_NODE_SEQ || n->type == CIP_NODE_MAP || n->type == CIP_NODE_NULL)
        return 0;
    number_room room;
    cip_bytes t = text_of(n, room);
    for (size_t i = 0; i < t.len; chars++) {
        unsigned k = cip_utf8_get(t.ptr + i, t.len - i, &cp);
        i += k != 0 ? k : 1;
    }
    return chars;
}

static cip_status text(const cip_dtype *d, const cip_node *n, uint8_t *dst, cip_err *err)
{
    const bool ascii = d->kind == CIP_ASCII;
    const bool digits =
        n->type != CIP_NODE_BIGINT || n->text[strspn(n->text, "0123456789-")] == '\0';
    if (n->type == CIP_NODE_SEQ || n->type == CIP_NODE_MAP || !digits)
        return no_value(d, n, err);
    number_room room;
    const cip_bytes t = text_of(n, room);
    uint32_t cp = 0;
    uint64_t k = 0;
    for (size_t i = 0; i < t.len; k += ascii ? 1 : 4) {
        unsigned len = cip_utf8_get(t.ptr + i, t.len - i, &cp);
        if (len == 0 || k == d->itemsize || (ascii && cp > 0x7f))
            return out_of_range(d, n, err);
        if (ascii)
            dst[k] = (uint8_t)cp;
        else
            cip_store_u32(dst + k, cp, d->big);
        i += len;
    }
    return CIP_OK;
}

/* --- records ---------------------------------------------------------------------------------- */

static cip_status field(const cip_field *x, const cip_node *n, int32_t axis, uint8_t **dst,
                        cip_err *err)
{
    if (axis == x->ndim) {
        if (n->type == CIP_NODE_NULL && cip_asdf_has_nan(x->dtype))
            CIP_TRY(real(x->dtype, n, copysign((double)NAN, -1.0), *dst, err));
        else
            CIP_TRY(cip_asdf_element(x->dtype, n, *dst, err));
        *dst += x->dtype->itemsize;
        return CIP_OK;
    }
    if (n->type != CIP_NODE_SEQ || (int64_t)n->len != x->shape[axis])
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a list of %" PRId64 " items in field '%.40s'", x->shape[axis],
                        x->name);
    for (uint32_t i = 0; i < n->len; i++)
        CIP_TRY(field(x, n->item[i], axis + 1, dst, err));
    return CIP_OK;
}

static cip_status record(const cip_dtype *d, const cip_node *n, uint8_t *dst, cip_err *err)
{
    if (n->type != CIP_NODE_SEQ || n->len != d->nfield)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a list of %zu fields",
                        d->nfield);
    for (size_t i = 0; i < d->nfield; i++) {
        uint8_t *at = dst + d->field[i].offset;
        CIP_TRY(field(&d->field[i], n->item[i], 0, &at, err));
    }
    return CIP_OK;
}

static void nulls_in_field(const cip_field *x, const cip_node *n, int32_t axis, uint8_t **dst)
{
    if (axis < x->ndim) {
        bool fits = n->type == CIP_NODE_SEQ && (int64_t)n->len == x->shape[axis];
        for (uint32_t i = 0; fits && i < n->len; i++)
            nulls_in_field(x, n->item[i], axis + 1, dst);
        return;
    }
    if (x->dtype->kind == CIP_RECORD)
        cip_asdf_nulls_in_fields(x->dtype, n, *dst);
    else if (n->type == CIP_NODE_NULL)
        **dst = 1;
    *dst += x->dtype->itemsize;
}

void cip_asdf_nulls_in_fields(const cip_dtype *d, const cip_node *list, uint8_t *dst)
{
    for (uint32_t i = 0; list->type == CIP_NODE_SEQ && i < list->len && i < d->nfield; i++) {
        uint8_t *at = dst + d->field[i].offset;
        nulls_in_field(&d->field[i], list->item[i], 0, &at);
    }
}

cip_status cip_asdf_element(const cip_dtype *d, const cip_node *value, uint8_t *dst, cip_err *err)
{
    memset(dst, 0, (size_t)d->itemsize);
    if (value->type == CIP_NODE_NULL)
        return CIP_OK;
    switch (d->kind) {
    case CIP_RECORD:
        return record(d, value, dst, err);
    case CIP_ASCII:
    case CIP_UCS4:
        return text(d, value, dst, err);
    case CIP_OPAQUE:
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "inline data of type %s",
                        cip_dtype_name(d));
    default:
        return number(d, value, dst, err);
    }
}
