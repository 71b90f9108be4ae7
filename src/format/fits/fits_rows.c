/* SPDX-License-Identifier: BSD-3-Clause
 * Rows of the file to elements of an array, where bytes alone do not do: scaled and unsigned
 * numbers, logical values, bits, strings, numbers in text. A chunk is some rows, and one codec
 * makes them into elements, column by column; an image is a table of one column. */
#include <math.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/fits/fits.h"
#include "tree/scalar.h"

enum { CHUNK = 1 << 16 }; /* bytes of the file, about */

/* n rows of one column: items begin at `from` and `to`, in steps of a row. */
typedef struct run {
    const fits_column *c;
    const uint8_t *from;
    uint8_t *to;
    size_t n;
    uint64_t stored, each;
} run;

/* --- numbers ---------------------------------------------------------------------------------- */

static int64_t load_int(const uint8_t *p, char type)
{
    switch (type) {
    case 'B':
        return *p;
    case 'I':
        return (int16_t)cip_load_u16(p, true);
    case 'J':
        return (int32_t)cip_load_u32(p, true);
    default:
        return (int64_t)cip_load_u64(p, true);
    }
}

/* astropy's arithmetic: the product and the sum are rounded apart, each in the array's type, and
 * neither is made where it would change nothing. `type` and `narrow` are constants of the caller,
 * so that each pair is a loop of its own. */
static inline __attribute__((always_inline)) void
scale_run(const fits_column *c, const uint8_t *p, uint64_t n, uint8_t *to, char type, bool narrow)
{
    const bool times = c->scale != 1, plus = c->zero != 0, null = c->has_null;
    const bool real = type == 'E' || type == 'D';
    const size_t width = type == 'B' ? 1 : type == 'I' ? 2 : type == 'J' || type == 'E' ? 4 : 8;
    const float scale = (float)c->scale, zero = (float)c->zero;
    for (uint64_t i = 0; i < n; i++, p += width, to += narrow ? 4 : 8) {
        double v;
        if (real) {
            v = cip_load_float(p, width, true);
        } else {
            const int64_t k = load_int(p, type);
            v = null && k == c->null ? (double)NAN : (double)k;
        }
        if (narrow) {
            float f = (float)v;
            f = times ? f * scale : f;
            f = plus ? f + zero : f;
            cip_store_float(to, (double)f, 4, true);
        } else {
            v = times ? v * c->scale : v;
            v = plus ? v + c->zero : v;
            cip_store_float(to, v, 8, true);
        }
    }
}

static void scale(const fits_column *c, const uint8_t *p, uint64_t n, uint8_t *to)
{
    switch (c->type) {
    case 'B':
        c->narrow ? scale_run(c, p, n, to, 'B', true) : scale_run(c, p, n, to, 'B', false);
        break;
    case 'I':
        c->narrow ? scale_run(c, p, n, to, 'I', true) : scale_run(c, p, n, to, 'I', false);
        break;
    case 'E':
        c->narrow ? scale_run(c, p, n, to, 'E', true) : scale_run(c, p, n, to, 'E', false);
        break;
    case 'J':
        scale_run(c, p, n, to, 'J', false);
        break;
    case 'K':
        scale_run(c, p, n, to, 'K', false);
        break;
    default:
        scale_run(c, p, n, to, 'D', false);
        break;
    }
}

/* The first bit of each item the other way round: eight bytes at a time, as widths divide 8. */
static void flip(const fits_column *c, const uint8_t *p, uint64_t n, uint8_t *to)
{
    const size_t len = (size_t)(n * c->width);
    uint8_t pattern[8] = { 0 };
    uint64_t mask, word;
    size_t i = 0;
    for (size_t k = 0; k < sizeof pattern; k += c->width)
        pattern[k] = 0x80;
    memcpy(&mask, pattern, sizeof mask);
    for (; i + 8 <= len; i += 8) {
        memcpy(&word, p + i, sizeof word);
        word ^= mask;
        memcpy(to + i, &word, sizeof word);
    }
    for (; i < len; i++)
        to[i] = p[i] ^ pattern[i % 8];
}

/* --- text ------------------------------------------------------------------------------------- */

static void trim_text(const fits_column *c, const uint8_t *p, uint8_t *to)
{
    const uint8_t *nul = memchr(p, '\0', c->width);
    size_t n = nul != NULL ? (size_t)(nul - p) : c->width;
    while (n > 0 && p[n - 1] == ' ')
        n--;
    memcpy(to, p, n);
    memset(to + n, 0, c->width - n);
}

typedef struct parsed {
    bool negative, whole;
    uint64_t u;    /* of whole ones */
    char text[80]; /* "-123.5e4" */
    size_t n;
} parsed;

static cip_status no_number(const fits_column *c, cip_bytes t, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "column '%.60s': expected a number, found '%.*s'", c->name,
                    (int)cip_min_u64(t.len, 40), (const char *)t.ptr);
}

static const uint8_t *skip_digits(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* The exponent of Fortran: E or D and a number, or a sign and a number. */
static const uint8_t *skip_exponent(const uint8_t *p, const uint8_t *end, int *e)
{
    const bool letter = p < end && strchr("EDed", *p) != NULL && *p != '\0';
    const uint8_t *q = p + letter;
    const bool sign = q < end && (*q == '+' || *q == '-');
    const bool minus = sign && *q == '-';
    const uint8_t *first = q + sign, *last = skip_digits(first, end);
    *e = 0;
    if ((!letter && !sign) || last == first)
        return p;
    for (q = first; q < last; q++)
        *e = *e > 99999 ? *e : *e * 10 + (*q - '0');
    *e = minus ? -*e : *e;
    return last;
}

/* A real number in text, without a point with `decimals` of its digits behind one. */
static cip_status parse_real(const fits_column *c, cip_bytes t, double *out, cip_err *err)
{
    const uint8_t *p = t.ptr, *end = p + t.len;
    char text[128];
    int e;
    size_t n = 0;
    if (p < end && (*p == '+' || *p == '-'))
        text[n++] = (char)*p++;
    const uint8_t *whole = p, *point = skip_digits(p, end), *rest = point;
    const bool has = point < end && *point == '.';
    if (has)
        rest = skip_digits(point + 1, end);
    const size_t ndigit = (size_t)(rest - whole) - has;
    const uint8_t *stop = skip_exponent(rest, end, &e);
    if (ndigit == 0 || stop != end || ndigit > 90)
        return no_number(c, t, err);
    memcpy(text + n, whole, (size_t)(rest - whole));
    n += (size_t)(rest - whole);
    if (!has)
        e -= c->decimals;
    text[n++] = 'e';
    text[n++] = e < 0 ? '-' : '+';
    const int up = e < 0 ? -e : e;
    for (int k = 100000; k > 0; k /= 10)
        text[n++] = (char)('0' + up / k % 10);
    *out = cip_decimal_parse(text, n);
    return CIP_OK;
}

static cip_status parse_int(const fits_column *c, cip_bytes t, int64_t *out, cip_err *err)
{
    const bool minus = t.ptr[0] == '-', sign = minus || t.ptr[0] == '+';
    const uint64_t most = (UINT64_C(1) << (8 * c->to - 1)) - !minus;
    uint64_t u = 0;
    if (t.len == sign)
        return no_number(c, t, err);
    for (size_t i = sign; i < t.len; i++) {
        if (t.ptr[i] < '0' || t.ptr[i] > '9')
            return no_number(c, t, err);
        if (cip_mul_overflow(u, 10u, &u) || cip_add_overflow(u, (unsigned)(t.ptr[i] - '0'), &u) ||
            u > most)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "column '%.60s': expected an integer of %u bits, found '%.*s'", c->name,
                            8 * c->to, (int)cip_min_u64(t.len, 40), (const char *)t.ptr);
    }
    *out = minus ? (int64_t)(0 - u) : (int64_t)u;
    return CIP_OK;
}

/* A blank field and TNULL are missing: NaN, or 0 of integers, as astropy has it. */
static cip_status decimal_item(const fits_column *c, const uint8_t *p, uint8_t *to, cip_err *err)
{
    cip_bytes t = { p, c->width };
    int64_t i = 0;
    double v = (double)NAN;
    while (t.len > 0 && (t.ptr[t.len - 1] == ' ' || t.ptr[t.len - 1] == '\0'))
        t.len--;
    for (; t.len > 0 && *t.ptr == ' '; t.len--)
        t.ptr++;
    const bool missing = t.len == 0 || (c->null_text != NULL && strlen(c->null_text) == t.len &&
                                        memcmp(c->null_text, t.ptr, t.len) == 0);
    if (c->type == 'I') {
        if (!missing)
            CIP_TRY(parse_int(c, t, &i, err));
        if (c->to == 2)
            cip_store_u16(to, (uint16_t)i, true);
        else if (c->to == 4)
            cip_store_u32(to, (uint32_t)i, true);
        else
            cip_store_u64(to, (uint64_t)i, true);
        return CIP_OK;
    }
    if (!missing)
        CIP_TRY(parse_real(c, t, &v, err));
    if (c->scale != 1)
        v *= c->scale;
    if (c->zero != 0)
        v += c->zero;
    cip_store_float(to, v, 8, true);
    return CIP_OK;
}

/* --- columns ---------------------------------------------------------------------------------- */

static cip_status logical_item(const fits_column *c, const uint8_t *p, uint8_t *to, cip_err *err)
{
    if (*p != 'T' && *p != 'F' && *p != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "column '%.60s': expected T, F or 0, found the byte 0x%02x", c->name, *p);
    *to = *p == 'T';
    return CIP_OK;
}

cip_status cip_fits_convert(const fits_column *c, const uint8_t *p, uint64_t n, uint8_t *to,
                            cip_err *err)
{
    switch (c->way) {
    case FITS_COPY:
        memcpy(to, p, (size_t)(n * c->width));
        break;
    case FITS_FLIP:
        flip(c, p, n, to);
        break;
    case FITS_SCALE:
        scale(c, p, n, to);
        break;
    case FITS_TEXT:
        for (uint64_t k = 0; k < n; k++, p += c->width, to += c->to)
            trim_text(c, p, to);
        break;
    case FITS_LOGICAL:
        for (uint64_t k = 0; k < n; k++)
            CIP_TRY(logical_item(c, p + k, to + k, err));
        break;
    default:
        for (uint64_t k = 0; k < n; k++, p += c->width, to += c->to)
            CIP_TRY(decimal_item(c, p, to, err));
        break;
    }
    return CIP_OK;
}

static cip_status convert(const run *r, cip_err *err)
{
    const fits_column *c = r->c;
    const uint8_t *p = r->from;
    uint8_t *to = r->to;
    if (c->way != FITS_BIT && c->count * c->width == r->stored && c->count * c->to == r->each)
        return cip_fits_convert(c, p, r->n * c->count, to, err); /* the only column: an image */
    for (size_t i = 0; i < r->n; i++, p += r->stored, to += r->each) {
        if (c->way == FITS_BIT)
            for (uint64_t k = 0; k < c->count; k++)
                to[k] = p[k / 8] >> (7 - k % 8) & 1;
        else
            CIP_TRY(cip_fits_convert(c, p, c->count, to, err));
    }
    return CIP_OK;
}

static cip_status decode(const void *args, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                         size_t dst_len, cip_err *err)
{
    const fits_rows *r = args;
    const size_t n = (size_t)(src.len / r->stored);
    (void)env;
    if (src.len != n * r->stored || dst_len != n * r->each)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected rows of %" PRIu64 " bytes, found %zu bytes", r->stored, src.len);
    for (size_t i = 0; i < r->ncolumn; i++) {
        const fits_column *c = &r->column[i];
        CIP_TRY(convert(&(run){ c, src.ptr + c->from, dst + c->at, n, r->stored, r->each }, err));
    }
    return CIP_OK;
}

/* --- parts of a chunk ------------------------------------------------------------------------- */

/* The rows that a wanted piece touches: what it needs is theirs alone. */
static cip_need rows_of(const fits_rows *r, const cip_want *w)
{
    const uint64_t first = w->off / r->each, end = cip_div_up(w->off + w->len, r->each);
    return (cip_need){ first * r->stored, (end - first) * r->stored };
}

static cip_status needs(const void *args, const cip_codec_env *env, cip_bytes head,
                        const cip_wants *w, cip_needs *out, cip_err *err)
{
    (void)env;
    (void)head;
    CIP_TRY(cip_wants_check(w, err));
    if (w->n > out->max - out->n)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%zu pieces of a chunk", w->n);
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i].len != 0)
            out->at[out->n++] = rows_of(args, &w->at[i]);
    return CIP_OK;
}

static cip_status decode_span(const fits_rows *r, const cip_codec_env *env, const uint8_t *stored,
                              const cip_want *w, cip_err *err)
{
    const cip_need need = rows_of(r, w);
    const size_t len = (size_t)(need.len / r->stored * r->each);
    const size_t skip = (size_t)(w->off % r->each);
    uint8_t *rows;
    if (len == w->len)
        return decode(r, env, (cip_bytes){ stored, (size_t)need.len }, w->dst, len, err);
    CIP_TRY(cip_mem_get(env->mem, len, (void **)&rows, err));
    const cip_status st = decode(r, env, (cip_bytes){ stored, (size_t)need.len }, rows, len, err);
    if (st == CIP_OK)
        memcpy(w->dst, rows + skip, w->len);
    cip_mem_put(env->mem, rows);
    return st;
}

static cip_status decode_spans(const void *args, const cip_codec_env *env, const cip_stored *src,
                               const cip_wants *w, cip_err *err)
{
    const uint8_t *stored;
    CIP_TRY(cip_wants_check(w, err));
    for (size_t i = 0; i < w->n; i++) {
        if (w->at[i].len == 0)
            continue;
        if (!cip_stored_find(src, rows_of(args, &w->at[i]), &stored))
            return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET, "expected more bytes of rows");
        CIP_TRY(decode_span(args, env, stored, &w->at[i], err));
    }
    return CIP_OK;
}

static const cip_codec rows_codec = {
    .name = "none", .decode = decode, .needs = needs, .decode_spans = decode_spans
};

/* --- the space -------------------------------------------------------------------------------- */

static cip_status table_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const fits_rows *r = self;
    const uint64_t all = cip_div_up(r->n, r->per);
    if (i > all || n > all - i)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a chunk below %" PRIu64 ", found %" PRIu64, all, i + n - 1);
    for (size_t k = 0; k < n; k++) {
        const uint64_t row = (i + k) * r->per, rows = cip_min_u64(r->per, r->n - row);
        out[k].at = (cip_extent){ r->layout->file, r->data + row * r->stored, rows * r->stored };
        out[k].raw_off = row * r->each;
        out[k].raw_len = rows * r->each;
    }
    return CIP_OK;
}

static cip_status table_count(void *self, uint64_t *n, cip_err *err)
{
    const fits_rows *r = self;
    (void)err;
    *n = cip_div_up(r->n, r->per);
    return CIP_OK;
}

cip_status cip_fits_rows_space(fits_rows *r, cip_space **out, cip_err *err)
{
    const cip_step step = { &rows_codec, r };
    uint64_t len;
    if (r->n == 0 || r->each == 0 || r->stored == 0)
        return cip_space_new_mem(r->layout, (cip_bytes){ 0 }, out, err);
    r->per = cip_max_u64(CHUNK / r->stored, 1);
    if (cip_mul_overflow(r->n, r->each, &len) || len > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, r->data,
                        "expected an array of less than 2^63 bytes, found more");
    const cip_table table = {
        .at = table_at, .count = table_count, .raw_each = r->per * r->each, .self = r
    };
    CIP_TRY(cip_space_new_chunked(r->layout, &table, len, &step, 1, out, err));
    (*out)->label = "data";
    return CIP_OK;
}
