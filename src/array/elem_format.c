/* SPDX-License-Identifier: BSD-3-Clause
 * One element as text for people: what Python shows for the same value. */
#include "array/cast.h"

#include <math.h>

#include "array/elem_time.h"
#include "array/half.h"
#include "array/number_text.h"
#include "array/quote.h"
#include "base/endian.h"

static int64_t load_signed(const cip_dtype *d, const uint8_t *p)
{
    switch (d->itemsize) {
    case 1:
        return (int8_t)*p;
    case 2:
        return (int16_t)cip_load_u16(p, d->big);
    case 4:
        return (int32_t)cip_load_u32(p, d->big);
    default:
        return (int64_t)cip_load_u64(p, d->big);
    }
}

/* A float of 2, 4 or 8 bytes. */
static double load_float(size_t size, const uint8_t *p, bool big)
{
    uint32_t u32;
    uint64_t u64;
    float f;
    double v;
    if (size == 2)
        return (double)cip_half_to_float(cip_load_u16(p, big));
    if (size == 4) {
        u32 = cip_load_u32(p, big);
        memcpy(&f, &u32, sizeof f);
        return (double)f;
    }
    u64 = cip_load_u64(p, big);
    memcpy(&v, &u64, sizeof v);
    return v;
}

static cip_status add_float(cip_buf *b, double v, size_t size, bool bare, cip_err *err)
{
    char text[CIP_NUMBER_TEXT];
    cip_float_width width = size == 2 ? CIP_HALF : size == 4 ? CIP_FLOAT : CIP_DOUBLE;
    return cip_buf_add(b, text, cip_float_text(text, v, width, bare), err);
}

/* "2j" where the real part is a plain 0, otherwise "(1+2j)". */
static cip_status add_complex(cip_buf *b, const cip_dtype *d, const uint8_t *p, cip_err *err)
{
    size_t size = (size_t)d->itemsize / 2;
    double real = load_float(size, p, d->big), imag = load_float(size, p + size, d->big);
    bool pure = real == 0 && !signbit(real);
    if (!pure) {
        CIP_TRY(cip_buf_add(b, "(", 1, err));
        CIP_TRY(add_float(b, real, size, true, err));
        if (isnan(imag) || !signbit(imag))
            CIP_TRY(cip_buf_add(b, "+", 1, err));
    }
    CIP_TRY(add_float(b, imag, size, true, err));
    return cip_buf_add(b, pure ? "j" : "j)", pure ? 1 : 2, err);
}

/* Quoted, up to the NULs at the end. */
static cip_status add_text(cip_buf *b, const cip_dtype *d, const uint8_t *p, cip_err *err)
{
    bool wide = d->kind == CIP_UCS4;
    uint64_t n = d->itemsize / (wide ? 4 : 1);
    while (n > 0 && (wide ? cip_load_u32(p + 4 * (n - 1), d->big) : p[n - 1]) == 0)
        n--;
    CIP_TRY(cip_buf_add(b, "'", 1, err));
    for (uint64_t i = 0; i < n; i++)
        CIP_TRY(cip_quote_code(b, wide ? cip_load_u32(p + 4 * i, d->big) : p[i], !wide, err));
    return cip_buf_add(b, "'", 1, err);
}

static cip_status add_time(cip_buf *b, const cip_dtype *d, const uint8_t *p, cip_err *err)
{
    cip_time_unit unit = { CIP_TIME_GENERIC, 1 };
    int64_t value = load_signed(d, p);
    cip_time_unit_parse(d->unit, strlen(d->unit), &unit);
    if (d->kind == CIP_DATETIME64)
        return cip_time_format_date(b, unit, value, err);
    return cip_time_format_delta(b, unit, value, err);
}

/* The elements of axis k and the faster ones: "[[1, 2], [3, 4]]"; *p moves behind them. */
static cip_status add_axis(cip_buf *b, const cip_field *f, int32_t k, const uint8_t **p,
                           cip_err *err)
{
    if (k == f->ndim) {
        CIP_TRY(cip_elem_format(f->dtype, *p, b, err));
        *p += f->dtype->itemsize;
        return CIP_OK;
    }
    CIP_TRY(cip_buf_add(b, "[", 1, err));
    for (int64_t i = 0; i < f->shape[k]; i++) {
        if (i > 0)
            CIP_TRY(cip_buf_add(b, ", ", 2, err));
        CIP_TRY(add_axis(b, f, k + 1, p, err));
    }
    return cip_buf_add(b, "]", 1, err);
}

/* "(1, 2.5)", "(1,)" */
static cip_status add_record(cip_buf *b, const cip_dtype *d, const uint8_t *p, cip_err *err)
{
    CIP_TRY(cip_buf_add(b, "(", 1, err));
    for (size_t i = 0; i < d->nfield; i++) {
        const uint8_t *at = p + d->field[i].offset;
        if (i > 0)
            CIP_TRY(cip_buf_add(b, ", ", 2, err));
        CIP_TRY(add_axis(b, &d->field[i], 0, &at, err));
    }
    return d->nfield == 1 ? cip_buf_add(b, ",)", 2, err) : cip_buf_add(b, ")", 1, err);
}

cip_status cip_elem_format(const cip_dtype *d, const uint8_t *p, cip_buf *b, cip_err *err)
{
    size_t size = (size_t)d->itemsize;
    switch (d->kind) {
    case CIP_BOOL:
        return *p != 0 ? cip_buf_add(b, "True", 4, err) : cip_buf_add(b, "False", 5, err);
    case CIP_I8:
    case CIP_I16:
    case CIP_I32:
    case CIP_I64:
        return cip_buf_addf(b, err, "%" PRId64, load_signed(d, p));
    case CIP_U8:
    case CIP_U16:
    case CIP_U32:
    case CIP_U64:
        return cip_buf_addf(b, err, "%" PRIu64,
                            (uint64_t)load_signed(d, p) & UINT64_MAX >> (64 - 8 * size));
    case CIP_F16:
    case CIP_F32:
    case CIP_F64:
        return add_float(b, load_float(size, p, d->big), size, false, err);
    case CIP_C64:
    case CIP_C128:
        return add_complex(b, d, p, err);
    case CIP_ASCII:
    case CIP_UCS4:
        return add_text(b, d, p, err);
    case CIP_DATETIME64:
    case CIP_TIMEDELTA64:
        return add_time(b, d, p, err);
    case CIP_RECORD:
        return add_record(b, d, p, err);
    default:
        break;
    }
    CIP_TRY(cip_buf_add(b, "'", 1, err));
    for (size_t i = 0; i < size; i++)
        CIP_TRY(cip_buf_addf(b, err, "\\x%02x", p[i]));
    return cip_buf_add(b, "'", 1, err);
}
