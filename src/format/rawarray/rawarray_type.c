/* SPDX-License-Identifier: BSD-3-Clause
 * Element types: an eltype and a width to a dtype and back. */
#include <stdlib.h>
#include <string.h>

#include "format/rawarray/rawarray.h"

static const char *const type_name[] = { "user", "int", "uint", "float", "complex" };

static const struct row {
    uint8_t kind, eltype, elbyte;
} rows[] = {
    { CIP_I8, CIP_RA_INT, 1 },        { CIP_I16, CIP_RA_INT, 2 },   { CIP_I32, CIP_RA_INT, 4 },
    { CIP_I64, CIP_RA_INT, 8 },       { CIP_U8, CIP_RA_UINT, 1 },   { CIP_U16, CIP_RA_UINT, 2 },
    { CIP_U32, CIP_RA_UINT, 4 },      { CIP_U64, CIP_RA_UINT, 8 },  { CIP_F16, CIP_RA_FLOAT, 2 },
    { CIP_F32, CIP_RA_FLOAT, 4 },     { CIP_F64, CIP_RA_FLOAT, 8 }, { CIP_C64, CIP_RA_COMPLEX, 8 },
    { CIP_C128, CIP_RA_COMPLEX, 16 },
};

enum { NROW = sizeof rows / sizeof *rows };

cip_status cip_ra_type_name(const cip_ra_header *h, cip_buf *out, cip_err *err)
{
    CIP_TRY(cip_buf_addf(out, err, "%s", type_name[h->eltype]));
    /* elbyte in bits, in decimal: up to 2^67, which no integer of ours holds. */
    const uint64_t part = 1000000000;
    uint64_t low = h->elbyte % part * 8, high = h->elbyte / part * 8 + low / part;
    if (high == 0)
        return cip_buf_addf(out, err, "%" PRIu64, low);
    return cip_buf_addf(out, err, "%" PRIu64 "%09" PRIu64, high, low % part);
}

/* A width that we have no kind for. */
static cip_status odd_width(cip_arena *a, const cip_ra_header *h, const cip_dtype **out,
                            cip_err *err)
{
    cip_buf b = { .mem = a->mem };
    cip_status st;
    CIP_GO(cip_ra_type_name(h, &b, err));
    CIP_GO(cip_buf_addf(&b, err, "%s", h->data_big ? "be" : ""));
    CIP_GO(cip_buf_nul(&b, err));
    st = cip_dtype_opaque(a, h->elbyte, (const char *)b.ptr, out, err);
done:
    cip_buf_clear(&b);
    return st;
}

cip_status cip_ra_dtype(cip_arena *a, const cip_ra_header *h, const cip_dtype **out, cip_err *err)
{
    if (h->eltype == CIP_RA_USER)
        return cip_dtype_opaque(a, h->elbyte, NULL, out, err);
    for (size_t i = 0; i < NROW; i++)
        if (rows[i].eltype == h->eltype && rows[i].elbyte == h->elbyte) {
            *out = cip_dtype_fixed((cip_kind)rows[i].kind, h->data_big);
            return CIP_OK;
        }
    return odd_width(a, h, out, err);
}

/* "int24", and "int24be" where it is written big-endian: back to the type it came from. */
static uint64_t eltype_of_label(const cip_dtype *d, bool big)
{
    for (uint64_t t = CIP_RA_INT; t <= CIP_RA_COMPLEX; t++) {
        size_t n = strlen(type_name[t]);
        char *end;
        if (strncmp(d->name, type_name[t], n) != 0 || d->name[n] < '1' || d->name[n] > '9')
            continue;
        unsigned long long bits = strtoull(d->name + n, &end, 10);
        if (bits % 8 == 0 && bits / 8 == d->itemsize && strcmp(end, big ? "be" : "") == 0 &&
            !(t == CIP_RA_COMPLEX && d->itemsize % 2 != 0))
            return t;
    }
    return CIP_RA_USER;
}

uint64_t cip_ra_eltype(const cip_dtype *d, bool big, bool *name_lost)
{
    *name_lost = false;
    for (size_t i = 0; i < NROW; i++)
        if (rows[i].kind == d->kind)
            return rows[i].eltype;
    *name_lost = true;
    if (d->kind != CIP_OPAQUE)
        return CIP_RA_USER;
    uint64_t t = eltype_of_label(d, big);
    *name_lost = t == CIP_RA_USER && strncmp(d->name, "bytes", 5) != 0 &&
                 strncmp(d->name, "rawarray", 8) != 0;
    return t;
}
