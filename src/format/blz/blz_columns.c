/* SPDX-License-Identifier: BSD-3-Clause
 * Columns of records: the folders that fields lie in, and which bytes of a record are a column's.
 */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz.h"
#include "tree/utf8.h"

/* --- names ------------------------------------------------------------------------------------ */

/* The next byte of the field that a folder's name stands for. */
static int next_byte(const char **name)
{
    const char *p = *name;
    const bool encoded = p[0] == '%' && cip_hex_digit(p[1]) >= 0 && cip_hex_digit(p[2]) >= 0;
    *name += encoded ? 3 : 1;
    return encoded ? cip_hex_digit(p[1]) * 16 + cip_hex_digit(p[2]) : (unsigned char)*p;
}

bool cip_blz_stands_for(const char *name, const char *field)
{
    while (*name != '\0' && *field != '\0')
        if (next_byte(&name) != (unsigned char)*field++)
            return false;
    return *name == *field;
}

cip_status cip_blz_field_of(cip_arena *a, const char *name, cip_bytes *out, cip_err *err)
{
    char *copy;
    *out = (cip_bytes){ (const uint8_t *)name, strlen(name) };
    if (strchr(name, '%') == NULL)
        return CIP_OK;
    CIP_TRY(cip_arena_copy(a, name, out->len, &copy, err));
    *out = (cip_bytes){ (const uint8_t *)copy, 0 };
    while (*name != '\0')
        copy[out->len++] = (char)next_byte(&name);
    return CIP_OK;
}

/* Whether the byte cannot stand in a plain file's name, or makes it another file's. */
static bool is_escaped(const char *field, size_t i)
{
    const unsigned char c = (unsigned char)field[i];
    uint64_t number;
    if (c < 0x20 || c == 0x7f || c == '/' || c == '%')
        return true;
    if (c == '.')
        return i == 0 || strcmp(field, "..") == 0;
    return i == 0 && c == '_' && cip_blz_number_of(field, "__.bin", &number);
}

cip_status cip_blz_folder_name(const char *field, cip_buf *b, cip_err *err)
{
    enum { MOST = 200 };
    const size_t before = b->len;
    if (!cip_utf8_is(field, strlen(field)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a column's name in UTF-8, found '%.60s'", field);
    for (size_t i = 0; field[i] != '\0'; i++)
        if (is_escaped(field, i))
            CIP_TRY(cip_buf_addf(b, err, "%%%02X", (unsigned char)field[i]));
        else
            CIP_TRY(cip_buf_add(b, field + i, 1, err));
    if (b->len == before || b->len - before > MOST)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a column's name of 1 to %d bytes, found '%.60s'", MOST, field);
    return CIP_OK;
}

/* --- bytes ------------------------------------------------------------------------------------ */

size_t cip_blz_count_columns(const cip_dtype *d)
{
    size_t n = d->kind != CIP_RECORD;
    for (size_t i = 0; i < d->nfield; i++) /* records nest at most 32 deep */
        n += cip_blz_count_columns(d->field[i].dtype);
    return n;
}

cip_status cip_blz_enter_field(const cip_field *f, cip_blz_piece *p, cip_err *err)
{
    uint64_t step = f->dtype->itemsize;
    p->off += f->offset;
    p->len = cip_field_nbytes(f);
    if (f->dtype->kind != CIP_RECORD)
        return CIP_OK;
    if (p->ndim + f->ndim > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "expected at most %d axes",
                        CIP_MAX_NDIM);
    for (int32_t k = f->ndim; k-- > 0; step *= (uint64_t)f->shape[k]) { /* fits: a field's bytes */
        p->step[p->ndim + k] = step;
        p->count[p->ndim + k] = f->shape[k];
    }
    p->ndim += f->ndim;
    return CIP_OK;
}

cip_status cip_blz_make_parts(cip_arena *a, const cip_blz_piece *p, uint64_t *nparts,
                              cip_record_column *out, cip_err *err)
{
    uint64_t n = 1, at[CIP_MAX_NDIM] = { 0 };
    cip_record_part *part;
    for (int32_t k = 0; k < p->ndim; k++)
        if (cip_mul_overflow(n, (uint64_t)p->count[k], &n) || n > CIP_BLZ_MAX_PARTS)
            break;
    *nparts += n;
    if (n > CIP_BLZ_MAX_PARTS || *nparts > CIP_BLZ_MAX_PARTS)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "records with more than %d parts",
                        CIP_BLZ_MAX_PARTS);
    CIP_TRY(CIP_ARENA_NEW(a, &part, (size_t)n, err));
    for (uint64_t i = 0; i < n; i++) {
        part[i] = (cip_record_part){ p->off, i * p->len, p->len };
        for (int32_t k = 0; k < p->ndim; k++)
            part[i].off += at[k] * p->step[k];
        for (int32_t k = p->ndim; k-- > 0 && ++at[k] == (uint64_t)p->count[k];)
            at[k] = 0;
    }
    out->part = part;
    out->npart = (size_t)n;
    out->row = n * p->len;
    return CIP_OK;
}
