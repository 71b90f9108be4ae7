/* SPDX-License-Identifier: BSD-3-Clause
 * Which casts there are, and what each amounts to: a copy, a swap, or one of the conversions. */
#include "array/cast_kernels.h"

#include <string.h>

static bool is_number(cip_kind kind)
{
    return kind >= CIP_BOOL && kind <= CIP_C128;
}

static bool is_text(cip_kind kind)
{
    return kind == CIP_ASCII || kind == CIP_UCS4;
}

/* The how of two types that are no records; 0: there is no such cast. */
static uint8_t how_of(const cip_dtype *from, const cip_dtype *to)
{
    bool alike = from->kind == to->kind && from->itemsize == to->itemsize;
    if (cip_kind_is_time(from->kind))
        alike = to->kind == CIP_I64 || (alike && strcmp(from->unit, to->unit) == 0);
    else if (from->kind == CIP_BOOL && to->kind == CIP_BOOL)
        return CIP_CAST_BOOL;
    else if (is_number(from->kind) && is_number(to->kind) && !alike)
        return CIP_CAST_NUMBER;
    else if (is_text(from->kind) && is_text(to->kind) && !alike)
        return CIP_CAST_TEXT;
    if (!alike)
        return 0;
    return from->big == to->big ? CIP_CAST_COPY : CIP_CAST_SWAP;
}

cip_cast cip_cast_of_field(const cip_dtype *from, const cip_dtype *to, cip_overflow policy)
{
    cip_cast c = { .from = from, .to = to, .policy = policy };
    c.how = from->kind == CIP_RECORD ? CIP_CAST_RECORD : how_of(from, to);
    if (c.how == CIP_CAST_SWAP) /* bytes of the words that an order concerns */
        c.swap = from->kind == CIP_UCS4 || from->kind == CIP_C64 ? 4
                 : from->kind == CIP_C128                        ? 8
                                                                 : (uint8_t)from->itemsize;
    return c;
}

/* Whether there is a cast, down to the last field; *plain becomes false where one is no copy. */
static cip_status check(const cip_dtype *from, const cip_dtype *to, bool *plain, cip_err *err)
{
    if (from->kind != CIP_RECORD || to->kind != CIP_RECORD) {
        uint8_t how = from->kind == CIP_RECORD ? 0 : how_of(from, to);
        *plain = *plain && how == CIP_CAST_COPY;
        return how != 0 ? CIP_OK
                        : cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                                   "cannot convert %.90s to %.90s", from->name, to->name);
    }
    if (from->nfield != to->nfield)
        return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                        "expected a record of %zu fields to convert from, found %zu", to->nfield,
                        from->nfield);
    for (size_t i = 0; i < from->nfield; i++) {
        const cip_field *f = &from->field[i], *g = &to->field[i];
        if (!cip_field_same_shape(f, g))
            return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                            "expected field %zu ('%.80s') to have the same shape in both records",
                            i, g->name);
        *plain = *plain && f->offset == g->offset;
        CIP_TRY(check(f->dtype, g->dtype, plain, err));
    }
    *plain = *plain && from->itemsize == to->itemsize;
    return CIP_OK;
}

cip_status cip_cast_make(const cip_dtype *from, const cip_dtype *to, cip_overflow policy,
                         cip_cast *out, cip_err *err)
{
    bool plain = true;
    CIP_TRY(check(from, to, &plain, err));
    *out = cip_cast_of_field(from, to, policy);
    if (plain)
        out->how = CIP_CAST_COPY;
    return CIP_OK;
}

void cip_cast_any(const cip_cast *c, const cip_run *r, uint64_t base, cip_cast_stats *stats)
{
    switch (c->how) {
    case CIP_CAST_RECORD:
        cip_cast_records(c, r, base, stats);
        break;
    case CIP_CAST_TEXT:
        cip_cast_texts(c, r, base, stats);
        break;
    case CIP_CAST_NUMBER:
        cip_cast_numbers(c, r, base, stats);
        break;
    case CIP_CAST_BOOL:
        cip_cast_bools(*r);
        break;
    default:
        cip_move(r, (size_t)c->from->itemsize, c->swap);
        break;
    }
}

void cip_cast_run(const cip_cast *c, size_t n, const uint8_t *src, int64_t src_stride, uint8_t *dst,
                  int64_t dst_stride, uint64_t base, cip_cast_stats *stats)
{
    cip_run r = { n, src, src_stride, dst, dst_stride };
    cip_cast_any(c, &r, base, stats);
}

bool cip_cast_is_copy(const cip_cast *c)
{
    return c->how == CIP_CAST_COPY;
}

bool cip_cast_in_place(const cip_cast *c)
{
    return c->how == CIP_CAST_COPY || c->how == CIP_CAST_SWAP || c->how == CIP_CAST_BOOL;
}

void cip_cast_count(cip_cast_stats *stats, uint64_t n, uint64_t index)
{
    if (n == 0)
        return;
    if (stats->noverflow == 0 || index < stats->first)
        stats->first = index;
    stats->noverflow += n;
}

void cip_cast_merge(cip_cast_stats *into, const cip_cast_stats *from)
{
    cip_cast_count(into, from->noverflow, from->first);
}

cip_status cip_cast_check(const cip_cast *c, const cip_cast_stats *stats, const char *field,
                          cip_err *err)
{
    if (c->policy != CIP_OVERFLOW_ERROR || stats->noverflow == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                    "the value of element %" PRIu64 " does not fit %.80s exactly%s%s", stats->first,
                    c->to->name, field != NULL ? "; accept it with " : "",
                    field != NULL ? field : "");
}
