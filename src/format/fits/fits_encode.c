/* SPDX-License-Identifier: BSD-3-Clause
 * Elements back to the bytes that mean them. An item whose bytes mean the value already keeps them:
 * several may mean the same (blanks or NULs behind a text, 0 or F), and only what changes is to
 * change. Else the bytes must mean exactly the value, as reading them shows, or it is refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/fits/fits.h"
#include "tree/scalar.h"

static cip_status same_as(const fits_column *c, const uint8_t *stored, const uint8_t *elem,
                          uint8_t *work, bool *same, cip_err *err)
{
    CIP_TRY(cip_fits_convert(c, stored, 1, work, err));
    *same = memcmp(work, elem, c->to) == 0;
    return CIP_OK;
}

/* --- scaled numbers --------------------------------------------------------------------------- */

static void store_int(const fits_column *c, int64_t v, uint8_t *to)
{
    uint8_t whole[8];
    cip_store_u64(whole, (uint64_t)v, true);
    memcpy(to, whole + 8 - c->width, c->width);
}

/* The k-th guess of what is stored, near the one that exact arithmetic gives; false: none. */
static bool guess(const fits_column *c, double v, int k, uint8_t *to)
{
    const bool real = c->type == 'E' || c->type == 'D';
    const double x = (v - c->zero) / c->scale;
    if (real) {
        const double most = k == 1 ? INFINITY : -INFINITY;
        const double near = k == 0           ? x
                            : c->type == 'E' ? (double)nextafterf((float)x, (float)most)
                                             : nextafter(x, most);
        cip_store_float(to, near, c->width, true);
        return true;
    }
    if (isnan(v) && c->has_null)
        store_int(c, c->null, to);
    if (isnan(v))
        return c->has_null;
    const double low = c->width == 1 ? 0 : -ldexp(1, 8 * (int)c->width - 1);
    const double high = c->width == 1 ? 256 : -low; /* below this one */
    const double near = rint(x) + (k == 0 ? 0 : k == 1 ? 1 : -1);
    if (!(near >= low && near < high))
        return false;
    store_int(c, (int64_t)near, to);
    return true;
}

static bool both_nan(const fits_column *c, const uint8_t *a, const uint8_t *b)
{
    return c->way == FITS_SCALE && isnan(cip_load_float(a, c->to, true)) &&
           isnan(cip_load_float(b, c->to, true));
}

static cip_status scaled_item(const fits_column *c, const uint8_t *elem, uint8_t *to, bool *good,
                              cip_err *err)
{
    uint8_t found[8], work[8];
    const double v = cip_load_float(elem, c->to, true);
    *good = false;
    for (int k = 0; k < 3 && !*good; k++) {
        if (!guess(c, v, k, found))
            continue;
        CIP_TRY(same_as(c, found, elem, work, good, err));
        *good = *good || both_nan(c, work, elem);
    }
    if (*good)
        memcpy(to, found, c->width);
    return CIP_OK;
}

/* --- items ------------------------------------------------------------------------------------ */

static void put_bits(uint64_t n, const uint8_t *elem, uint8_t *to)
{
    for (uint64_t k = 0; k < n; k++) {
        const uint8_t bit = (uint8_t)(0x80 >> k % 8);
        to[k / 8] = (uint8_t)(elem[k] != 0 ? to[k / 8] | bit : to[k / 8] & ~bit);
    }
}

/* A text that a blank ends, or with a NUL in its midst, reads as another one. */
static cip_status refuse(const fits_column *c, uint64_t row, const uint8_t *elem, cip_err *err)
{
    if (c->way == FITS_TEXT)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "column '%.60s', row %" PRIu64 ": '%.*s' would be read as another text: "
                        "FITS leaves out blanks at the end and what follows a NUL",
                        c->name, row, (int)cip_min_u64(c->width, 40), (const char *)elem);
    char text[CIP_DOUBLE_TEXT];
    cip_double_text(cip_load_float(elem, c->to, true), text);
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "'%.60s', element %" PRIu64 ": %s cannot be stored exactly with the scale and "
                    "the zero point that the header has",
                    c->name, row, text);
}

static cip_status put_items(const fits_column *c, const uint8_t *elem, uint64_t row, bool had,
                            uint8_t *work, uint8_t *to, cip_err *err)
{
    bool good;
    for (uint64_t k = 0; k < c->count; k++, elem += c->to, to += c->width) {
        if (had) {
            CIP_TRY(same_as(c, to, elem, work, &good, err));
            if (good)
                continue;
        }
        if (c->way == FITS_LOGICAL) {
            *to = *elem != 0 ? 'T' : 'F';
            continue;
        }
        if (c->way == FITS_TEXT) {
            memcpy(to, elem, c->width);
            CIP_TRY(same_as(c, to, elem, work, &good, err));
        } else {
            CIP_TRY(scaled_item(c, elem, to, &good, err));
        }
        if (!good)
            return refuse(c, row, elem, err);
    }
    return CIP_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

static cip_status put_column(const fits_rows *r, const fits_column *c, const uint8_t *elems,
                             uint64_t row, size_t n, size_t had, uint8_t *work, uint8_t *out,
                             cip_err *err)
{
    const bool straight = c->way == FITS_COPY || c->way == FITS_FLIP; /* one meaning each */
    elems += c->at;
    out += c->from;
    if (straight && c->count * c->width == r->stored && c->count * c->to == r->each)
        return cip_fits_convert(c, elems, n * c->count, out, err);
    for (size_t i = 0; i < n; i++, elems += r->each, out += r->stored) {
        if (straight)
            CIP_TRY(cip_fits_convert(c, elems, c->count, out, err));
        else if (c->way == FITS_BIT)
            put_bits(c->count, elems, out);
        else
            CIP_TRY(put_items(c, elems, row + i, i < had, work, out, err));
    }
    return CIP_OK;
}

cip_status cip_fits_encode(const fits_rows *r, const uint8_t *elems, uint64_t row, size_t n,
                           size_t had, uint8_t *out, cip_err *err)
{
    cip_mem *mem = &r->layout->env->mem;
    uint8_t *work = NULL;
    cip_status st = CIP_OK;
    uint32_t widest = 0;
    for (size_t i = 0; i < r->ncolumn; i++)
        widest = r->column[i].to > widest ? r->column[i].to : widest;
    CIP_TRY(cip_mem_get(mem, widest, (void **)&work, err));
    for (size_t i = 0; i < r->ncolumn && st == CIP_OK; i++)
        st = put_column(r, &r->column[i], elems, row, n, had, work, out, err);
    cip_mem_put(mem, work);
    return st;
}
