/* SPDX-License-Identifier: BSD-3-Clause
 * Dtypes of one value: the static ones in both byte orders, the makers of those with a length, a
 * label or a unit, and what the public API says about any dtype. */
#include "array/elem.h"

#include <string.h>

#include "array/elem_time.h"
#include "base/endian.h"
#include "base/num.h"

#define FIXED(k, is_big, size, text)                                                               \
    [k] = { .kind = (k), .big = (is_big), .itemsize = (size), .name = (text), .weight = 1 }

/* One row for each byte order; a single byte has none. */
#define FIXED_ROW(is_big)                                                                          \
    {                                                                                              \
        FIXED(CIP_BOOL, false, 1, "bool"), FIXED(CIP_I8, false, 1, "int8"),                        \
            FIXED(CIP_I16, is_big, 2, "int16"), FIXED(CIP_I32, is_big, 4, "int32"),                \
            FIXED(CIP_I64, is_big, 8, "int64"), FIXED(CIP_U8, false, 1, "uint8"),                  \
            FIXED(CIP_U16, is_big, 2, "uint16"), FIXED(CIP_U32, is_big, 4, "uint32"),              \
            FIXED(CIP_U64, is_big, 8, "uint64"), FIXED(CIP_F16, is_big, 2, "float16"),             \
            FIXED(CIP_F32, is_big, 4, "float32"), FIXED(CIP_F64, is_big, 8, "float64"),            \
            FIXED(CIP_C64, is_big, 8, "complex64"), FIXED(CIP_C128, is_big, 16, "complex128")      \
    }

static const cip_dtype fixed[2][CIP_C128 + 1] = { FIXED_ROW(false), FIXED_ROW(true) };

const cip_dtype *cip_dtype_fixed(cip_kind kind, bool big)
{
    return kind >= CIP_BOOL && kind <= CIP_C128 ? &fixed[big][kind] : NULL;
}

const cip_dtype *cip_dtype_of(cip_kind kind)
{
    return cip_dtype_fixed(kind, CIP_HOST_BIG != 0);
}

const cip_dtype *cip_dtype_as_stored(void)
{
    static const cip_dtype as_stored = { .kind = CIP_NONE, .name = "as stored", .weight = 1 };
    return &as_stored;
}

const char *cip_dtype_name(const cip_dtype *dtype)
{
    return dtype != NULL ? dtype->name : "";
}

cip_kind cip_dtype_kind(const cip_dtype *dtype)
{
    return dtype != NULL ? dtype->kind : CIP_NONE;
}

uint64_t cip_dtype_itemsize(const cip_dtype *dtype)
{
    return dtype != NULL ? dtype->itemsize : 0;
}

bool cip_dtype_is_big(const cip_dtype *dtype)
{
    return dtype != NULL && dtype->big;
}

size_t cip_dtype_nfield(const cip_dtype *dtype)
{
    return dtype != NULL ? dtype->nfield : 0;
}

const cip_field *cip_dtype_field(const cip_dtype *dtype, size_t i)
{
    return i < cip_dtype_nfield(dtype) ? &dtype->field[i] : NULL;
}

/* A copy of `proto` in the arena. */
static cip_status keep(cip_arena *a, const cip_dtype *proto, const cip_dtype **out, cip_err *err)
{
    cip_dtype *d;
    *out = NULL;
    CIP_TRY(CIP_ARENA_NEW(a, &d, 1, err));
    *d = *proto;
    d->weight = 1;
    *out = d;
    return CIP_OK;
}

static cip_status too_large(uint64_t n, const char *what, cip_err *err)
{
    return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                    "expected an element of at most 2^63 - 1 bytes, found one of %" PRIu64 " %s", n,
                    what);
}

cip_status cip_dtype_ascii(cip_arena *a, uint64_t n, const cip_dtype **out, cip_err *err)
{
    char *name;
    *out = NULL;
    if (n > INT64_MAX)
        return too_large(n, "bytes", err);
    CIP_TRY(cip_arena_printf(a, &name, err, "ascii%" PRIu64, n));
    return keep(a, &(cip_dtype){ .kind = CIP_ASCII, .itemsize = n, .name = name }, out, err);
}

cip_status cip_dtype_ucs4(cip_arena *a, uint64_t n, bool big, const cip_dtype **out, cip_err *err)
{
    char *name;
    *out = NULL;
    if (n > INT64_MAX / 4)
        return too_large(n, "code points", err);
    CIP_TRY(cip_arena_printf(a, &name, err, "ucs4-%" PRIu64, n));
    cip_dtype proto = { .kind = CIP_UCS4, .big = big, .itemsize = n * 4, .name = name };
    return keep(a, &proto, out, err);
}

cip_status cip_dtype_opaque(cip_arena *a, uint64_t n, const char *label, const cip_dtype **out,
                            cip_err *err)
{
    char *name;
    *out = NULL;
    if (n > INT64_MAX)
        return too_large(n, "bytes", err);
    if (label != NULL)
        CIP_TRY(cip_arena_copy(a, label, strlen(label), &name, err));
    else
        CIP_TRY(cip_arena_printf(a, &name, err, "bytes%" PRIu64, n));
    return keep(a, &(cip_dtype){ .kind = CIP_OPAQUE, .itemsize = n, .name = name }, out, err);
}

cip_status cip_dtype_time(cip_arena *a, cip_kind kind, const char *unit, bool big,
                          const cip_dtype **out, cip_err *err)
{
    const char *stem = kind == CIP_DATETIME64 ? "datetime64" : "timedelta64";
    cip_time_unit u;
    char *text, *name;
    *out = NULL;
    if (unit == NULL)
        unit = "";
    if (!cip_time_unit_parse(unit, strlen(unit), &u))
        return cip_fail(err, CIP_ERR_FORMAT, CIP_NO_OFFSET,
                        "expected a unit of time such as ns or 25s, found '%.20s'", unit);
    if (u.multiple == 1) /* "1ns" is "ns" */
        CIP_TRY(cip_arena_printf(a, &text, err, "%s", cip_time_base_name(u.base)));
    else
        CIP_TRY(cip_arena_printf(a, &text, err, "%" PRIu32 "%s", u.multiple,
                                 cip_time_base_name(u.base)));
    if (u.base == CIP_TIME_GENERIC)
        CIP_TRY(cip_arena_printf(a, &name, err, "%s", stem));
    else
        CIP_TRY(cip_arena_printf(a, &name, err, "%s[%s]", stem, text));
    cip_dtype proto = { .kind = kind, .big = big, .itemsize = 8, .name = name, .unit = text };
    return keep(a, &proto, out, err);
}
