/* SPDX-License-Identifier: BSD-3-Clause
 * The values that count are taken out as doubles; noise and range make head and step; then all
 * elements are packed, padding as zeros. */
#include "codec/quantize_encode.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"

enum { FAR = 2, LINE_LEAST = 2 * FAR + 1 };

/* 1.482602 / sqrt(6): sigma from the median of |2 x[i] - x[i-2] - x[i+2]| */
static const double by_median = 0.6052697;
/* sqrt(pi / 2) / sqrt(6): the same from the mean */
static const double by_mean = 0.5116634;

/* --- values ----------------------------------------------------------------------------------- */

static double load(const cip_quantize_values *v, uint64_t i)
{
    const size_t width = v->wide ? 8 : 4;
    return cip_load_float(v->bytes.ptr + width * i, width, v->big);
}

bool cip_quantize_find_bad(cip_bytes values, bool wide, bool big, uint64_t *at)
{
    const cip_quantize_values v = { .bytes = values, .wide = wide, .big = big };
    uint64_t n = values.len / (wide ? 8 : 4);
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(load(&v, i))) {
            *at = i;
            return true;
        }
    return false;
}

/* The lines of a chunk, one after the other. */
typedef struct lines {
    const cip_quantize_values *v;
    uint64_t n, len, valid; /* how many; elements of each, and those of them that may count */
} lines;

static lines lines_of(const cip_quantize_values *v, uint64_t nelem)
{
    const int32_t last = v->ndim - 1;
    lines l = { .v = v, .n = nelem != 0 ? 1 : 0, .len = 1, .valid = 1 };
    if (v->ndim != 0) {
        l.len = (uint64_t)v->shape[last];
        l.n = l.len != 0 ? nelem / l.len : 0;
        l.valid = v->valid != NULL ? cip_min_u64((uint64_t)v->valid[last], l.len) : l.len;
    }
    return l;
}

/* How many of line i's first elements count. */
static uint64_t valid_in(const lines *l, uint64_t i)
{
    const cip_quantize_values *v = l->v;
    for (int32_t axis = v->ndim - 2; v->valid != NULL && axis >= 0; axis--) {
        if (i % (uint64_t)v->shape[axis] >= (uint64_t)v->valid[axis])
            return 0;
        i /= (uint64_t)v->shape[axis];
    }
    return l->valid;
}

/* --- noise ------------------------------------------------------------------------------------ */

/* The k-th smallest (Hoare's quickselect); d is put in another order. Pivots are drawn, so that no
 * order of natural data is a slow one. */
static double select_kth(double *d, size_t n, size_t k)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)n - 1, at = (ptrdiff_t)k;
    uint64_t draw = n;
    while (low < high) {
        draw = draw * UINT64_C(6364136223846793005) + 1;
        double pivot = d[low + (ptrdiff_t)((draw >> 33) % (uint64_t)(high - low + 1))];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (d[i] < pivot)
                i++;
            while (d[j] > pivot)
                j--;
            if (i > j)
                break;
            double t = d[i];
            d[i++] = d[j];
            d[j--] = t;
        }
        if (at <= j)
            high = j;
        else if (at >= i)
            low = i;
        else
            break;
    }
    return d[k];
}

/* Adds a line's differences; halves and quarters, so that none overflows. */
static size_t differences(const double *x, uint64_t n, double *d)
{
    size_t m = 0;
    for (uint64_t i = FAR; i + FAR < n; i++)
        d[m++] = fabs(x[i] / 2 - x[i - FAR] / 4 - x[i + FAR] / 4);
    return m;
}

/* x: the values that count, line after line; d: room for as many. */
static double noise(const lines *l, const double *x, uint64_t n, double *d)
{
    size_t m = 0;
    uint64_t at = 0;
    for (uint64_t i = 0; i < l->n; i++) {
        uint64_t valid = valid_in(l, i);
        m += differences(x + at, valid, d + m);
        at += valid;
    }
    if (l->valid < LINE_LEAST)
        m = differences(x, n, d);
    double mean = 0;
    if (m == 0)
        return 0;
    for (size_t i = 0; i < m; i++)
        mean += d[i] / (double)m;
    double median = select_kth(d, m, m / 2);
    return median > 0 ? 4 * by_median * median : 4 * by_mean * mean;
}

/* --- steps ------------------------------------------------------------------------------------ */

typedef struct range {
    double min, max;
} range;

/* Where the integer for a value is round((v - from) / scale) + add. */
typedef struct coding {
    cip_quantize_head head;
    double from;
    double least, most; /* integers */
    double add;
} coding;

static void steps_by_noise(coding *p, const range *r, double sigma, double quality, bool wide)
{
    /* half the range and not all of it: that may be more than a double holds */
    const double half = r->max / 2 - r->min / 2;
    double scale = sigma / quality;
    if (!(scale > 0))
        scale = half / (wide ? 0x1p31 : 0x1p23);
    scale = fmax(scale, half / 0x1p51);
    if (!isfinite(scale))
        scale = DBL_MAX;
    p->head.scale = scale > 0 ? scale : DBL_TRUE_MIN;
    p->head.offset = p->from = r->min / 2 + r->max / 2;
    p->most = 0x1p52;
    p->least = -p->most;
}

static cip_status steps_by_bits(coding *p, const range *r, int bits, cip_err *err)
{
    const int fine = bits < DBL_MANT_DIG ? bits : DBL_MANT_DIG;
    const double top = ldexp(1, fine - 1);
    const double scale = (r->max - r->min) / (2 * top - 1);
    if (!isfinite(scale))
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a range of values below 2^1024 when the number of bits is given");
    p->head.bits = (uint8_t)bits;
    p->head.scale = scale > 0 ? scale : DBL_TRUE_MIN;
    p->from = r->min;
    p->add = -top;
    p->head.offset = r->min + top * p->head.scale;
    p->least = -top;
    p->most = top - 1;
    return CIP_OK;
}

static double decoded(const coding *p, double q, bool wide)
{
    double v = q * p->head.scale + p->head.offset;
    return wide ? v : (double)(float)v;
}

/* The integer for a value; one step nearer to the middle where a reader would get no number. */
static double quantized(const coding *p, double v, bool wide)
{
    double q = rint((v - p->from) / p->head.scale) + p->add;
    q = fmin(fmax(q, p->least), p->most);
    if (!isfinite(decoded(p, q, wide)))
        q += decoded(p, q, wide) > 0 ? -1 : 1;
    return q;
}

/* Integers, in place of the doubles; the head is complete then. */
static void quantize(coding *p, double *x, uint64_t n, bool wide, double *worst)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint64_t i = 0; i < n; i++) {
        double q = quantized(p, x[i], wide);
        int64_t whole = (int64_t)q;
        *worst = fmax(*worst, fabs(decoded(p, q, wide) - x[i]));
        least = whole < least ? whole : least;
        most = whole > most ? whole : most;
        memcpy(&x[i], &whole, sizeof whole);
    }
    if (p->head.bits != 0)
        return;
    uint8_t bits = 1; /* the fewest that hold every integer */
    while (bits < CIP_QUANTIZE_BITS_MAX &&
           (least < -(INT64_C(1) << (bits - 1)) || most > (INT64_C(1) << (bits - 1)) - 1))
        bits++;
    p->head.bits = bits;
}

/* --- packing ---------------------------------------------------------------------------------- */

typedef struct packer {
    uint8_t *at;
    unsigned free; /* bits of *at that are not used yet, 1 to 8 */
} packer;

static void pack(packer *p, uint64_t v, unsigned bits)
{
    while (bits != 0) {
        unsigned n = bits < p->free ? bits : p->free;
        unsigned part = (unsigned)(v >> (bits - n)) & ((1u << n) - 1);
        if (p->free == 8)
            *p->at = 0;
        *p->at = (uint8_t)(*p->at | part << (p->free - n));
        p->free -= n;
        bits -= n;
        if (p->free == 0) {
            p->at++;
            p->free = 8;
        }
    }
}

static void pack_all(const lines *l, const double *x, const cip_quantize_head *head, uint8_t *dst)
{
    packer p = { dst, 8 };
    uint64_t at = 0;
    for (uint64_t i = 0; i < l->n && head->bits != 0; i++) {
        uint64_t valid = valid_in(l, i), q;
        for (uint64_t k = 0; k < l->len; k++) {
            q = 0;
            if (k < valid)
                memcpy(&q, &x[at++], sizeof q);
            pack(&p, q, head->bits);
        }
    }
}

/* --- a chunk ---------------------------------------------------------------------------------- */

size_t cip_quantize_bound(uint64_t n)
{
    uint64_t len;
    size_t size;
    if (cip_mul_overflow(n, 8, &len) || cip_add_overflow(len, CIP_QUANTIZE_HEAD, &len) ||
        !cip_to_size(len, &size))
        return 0;
    return size;
}

static cip_status check(const cip_quantize_values *v, const cip_quantize_steps *how, uint64_t *n,
                        cip_err *err)
{
    uint64_t nelem = 1;
    if (v->ndim < 0 || how->bits < 0 || how->bits > CIP_QUANTIZE_BITS_MAX ||
        (how->bits == 0 && !(how->quality > 0 && isfinite(how->quality))))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a quality above 0, or 1 to %d bits", CIP_QUANTIZE_BITS_MAX);
    for (int32_t i = 0; i < v->ndim; i++)
        if (v->shape[i] < 0 || cip_mul_overflow(nelem, v->shape[i], &nelem))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected the shape of a chunk");
    if (nelem != v->bytes.len / (v->wide ? 8 : 4) || v->bytes.len % (v->wide ? 8 : 4) != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " floats, found %zu bytes", nelem, v->bytes.len);
    *n = nelem;
    return CIP_OK;
}

/* The values that count, and between what they lie. */
static cip_status gather_finite(const lines *l, double *x, uint64_t *n, range *r, cip_err *err)
{
    *n = 0;
    *r = (range){ DBL_MAX, -DBL_MAX };
    for (uint64_t i = 0; i < l->n; i++) {
        uint64_t valid = valid_in(l, i);
        for (uint64_t k = 0; k < valid; k++) {
            double v = load(l->v, i * l->len + k);
            if (!isfinite(v))
                return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                                "expected finite numbers to quantize, found %g as value %" PRIu64,
                                v, i * l->len + k);
            x[(*n)++] = v;
            r->min = fmin(r->min, v);
            r->max = fmax(r->max, v);
        }
    }
    return CIP_OK;
}

cip_status cip_quantize_encode(cip_mem *mem, const cip_quantize_values *v,
                               const cip_quantize_steps *how, uint8_t *dst, size_t cap, size_t *len,
                               double *worst, cip_err *err)
{
    cip_status st;
    uint64_t nelem, n;
    range r;
    double *x = NULL, far = 0;
    CIP_TRY(check(v, how, &nelem, err));
    const lines l = lines_of(v, nelem);
    coding p = { .head = { .n = nelem } };
    CIP_GO(CIP_NEW(mem, &x, 2 * (size_t)nelem, err));
    CIP_GO(gather_finite(&l, x, &n, &r, err));
    if (n != 0 && r.min < r.max) {
        if (how->bits != 0)
            CIP_GO(steps_by_bits(&p, &r, how->bits, err));
        else
            steps_by_noise(&p, &r, noise(&l, x, n, x + nelem), how->quality, v->wide);
        quantize(&p, x, n, v->wide, &far);
    } else if (n != 0) {
        p.head.offset = x[0];
    }
    uint64_t payload = cip_quantize_payload(&p.head);
    if (cap < CIP_QUANTIZE_HEAD || payload > cap - CIP_QUANTIZE_HEAD)
        CIP_GO(cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected room for %" PRIu64 " bytes of a chunk, found %zu",
                        payload + CIP_QUANTIZE_HEAD, cap));
    cip_quantize_head_bytes(&p.head, dst);
    pack_all(&l, x, &p.head, dst + CIP_QUANTIZE_HEAD);
    *len = (size_t)payload + CIP_QUANTIZE_HEAD;
    *worst = far;
done:
    cip_mem_put(mem, x);
    return st;
}
