/* SPDX-License-Identifier: BSD-3-Clause
 * The values of a picture's places: its elements, part by part, and what those of a place come to.
 * Integers beyond 2^53 are taken less the first one, so that small differences of large numbers
 * (times in nanoseconds) are still there in doubles. */
#include <math.h>

#include "base/num.h"
#include "picture/picture.h"

enum { PART = 1 << 20 }; /* elements */

typedef struct sampler {
    cip_picture *p;
    const cip_picture_plan *plan;
    uint8_t *elem;   /* of one part, as plan->read.to */
    uint8_t *mask;   /* or NULL */
    uint64_t *count; /* MEAN: the values of each place */
    double *high;    /* EXTREMES: the largest of each place, of which p->value is the smallest */
    double *first;   /* EXTREMES: the first value in the first row of every each-th place */
    size_t each;
    bool nat;      /* INT64_MIN is no time */
    bool based;    /* the base is known */
    uint64_t base; /* of integers, as their bits */
    uint64_t done;
} sampler;

/* An integer less the base: exact up to 2^53, else rounded. */
static double difference(const sampler *s, uint64_t v, bool is_unsigned)
{
    const bool below = is_unsigned ? v < s->base : (int64_t)v < (int64_t)s->base;
    return below ? -(double)(s->base - v) : (double)(v - s->base);
}

static void set_base(sampler *s, uint64_t v, bool is_unsigned)
{
    const double as_double = is_unsigned ? (double)v : (double)(int64_t)v;
    s->based = true;
    if (fabs(as_double) < 0x1p53)
        return;
    s->base = v;
    s->p->limits.base = as_double;
}

/* Element i of the part, less the base; NaN where it is missing. */
static double value_at(sampler *s, size_t i)
{
    uint64_t v;
    double d[2];
    const cip_kind kind = s->plan->read.to->kind;
    if (s->mask != NULL && s->mask[i] != 0)
        return NAN;
    switch (kind) {
    case CIP_F64:
        memcpy(d, s->elem + i * 8, 8);
        return d[0];
    case CIP_C128:
        memcpy(d, s->elem + i * 16, 16);
        return isnan(d[0]) || isnan(d[1]) ? (double)NAN : hypot(d[0], d[1]);
    default:
        memcpy(&v, s->elem + i * 8, 8);
        if (s->nat && (int64_t)v == INT64_MIN)
            return NAN;
        if (!s->based)
            set_base(s, v, kind == CIP_U64);
        return difference(s, v, kind == CIP_U64);
    }
}

/* The same, counted; values up to 0 have no logarithm. */
static double counted(sampler *s, size_t i)
{
    double v = value_at(s, i);
    if (s->p->limits.scale == CIP_PICTURE_LOG && !(v + s->p->limits.base > 0))
        v = NAN;
    s->p->facts.nmissing += isnan(v);
    s->p->facts.ninf += isinf(v) != 0;
    return v;
}

/* What the elements of one box come to, or those of it that lie in one row. */
typedef struct spread {
    double first, last, low, high, sum; /* of values */
    uint64_t n;
} spread;

static spread spread_of(sampler *s, size_t i, size_t n)
{
    spread x = { .first = NAN, .last = NAN, .low = INFINITY, .high = -INFINITY };
    for (const size_t end = i + n; i < end; i++) {
        const double v = counted(s, i);
        if (isnan(v))
            continue;
        x.first = x.n == 0 ? v : x.first;
        x.last = v;
        x.low = v < x.low ? v : x.low;
        x.high = v > x.high ? v : x.high;
        x.sum += v;
        x.n++;
    }
    return x;
}

static void add_to_image(sampler *s, size_t place, const spread *x)
{
    double *at = &s->p->value[place];
    const bool first = isnan(*at);
    if (x->n == 0)
        return;
    switch (s->p->options.reduce) {
    case CIP_PICTURE_MEAN:
        *at = s->count[place] == 0 ? x->sum : *at + x->sum;
        s->count[place] += x->n;
        break;
    case CIP_PICTURE_EXTREMES:
        s->high[place] = first ? x->high : fmax(s->high[place], x->high);
        *at = first ? x->low : fmin(*at, x->low);
        break;
    case CIP_PICTURE_MAX:
        *at = first ? x->high : fmax(*at, x->high);
        break;
    case CIP_PICTURE_MIN:
    case CIP_PICTURE_SAMPLE: /* of one */
        *at = first ? x->low : fmin(*at, x->low);
    }
}

static void add_to_line(sampler *s, size_t place, const spread *x)
{
    double *at = &s->p->value[4 * place]; /* first, last, smallest, largest */
    const bool first = isnan(at[0]);
    if (x->n == 0)
        return;
    at[0] = first ? x->first : at[0];
    at[1] = x->last;
    at[2] = first ? x->low : fmin(at[2], x->low);
    at[3] = first ? x->high : fmax(at[3], x->high);
}

/* The n elements of a part from row r, column c on, box by box. */
static void add_rows(sampler *s, size_t n, int64_t r, int64_t c)
{
    const cip_picture_plan *l = s->plan;
    for (size_t i = 0, run; i < n; i += run) {
        const int64_t down = r / l->box[0], across = c / l->box[1];
        const int64_t end = cip_min_i64(l->row, (across + 1) * l->box[1]);
        const size_t place = (size_t)(down * s->p->facts.across.n + across);
        run = (size_t)cip_min_u64((uint64_t)(end - c), n - i);
        const spread x = spread_of(s, i, run);
        add_to_image(s, place, &x);
        if (s->first != NULL && r % l->box[0] == 0 && place % s->each == 0 &&
            isnan(s->first[place / s->each]))
            s->first[place / s->each] = x.first;
        c += (int64_t)run;
        if (c == l->row) {
            c = 0;
            r++;
        }
    }
}

/* The n elements of a part of a line, of which the first is the first-th. */
static void add_along(sampler *s, size_t n, uint64_t first)
{
    const uint64_t each = (uint64_t)s->plan->each;
    for (size_t i = 0, run; i < n; i += run, first += run) {
        run = (size_t)cip_min_u64(each - first % each, n - i);
        const spread x = spread_of(s, i, run);
        add_to_line(s, (size_t)(first / each), &x);
    }
}

/* Reads a part and adds its elements, of which the first is the first-th. */
static cip_status add_part(sampler *s, const cip_part *part, uint64_t first, cip_err *err)
{
    const cip_picture_plan *l = s->plan;
    CIP_TRY(cip_read_plan_fetch(&l->read, part, s->elem, err));
    if (s->mask != NULL)
        CIP_TRY(cip_read_plan_mask(&l->read, part, s->mask, err));
    s->p->facts.nelem += part->nelem;
    if (s->p->facts.line)
        add_along(s, part->nelem, first);
    else
        add_rows(s, part->nelem, (int64_t)(first / (uint64_t)l->row),
                 (int64_t)(first % (uint64_t)l->row));
    return cip_read_plan_progress(&l->read, &s->done, part->nelem, err);
}

static cip_status add_all(sampler *s, cip_err *err)
{
    cip_parts it;
    cip_part part;
    cip_parts_start(&it, &s->plan->read, PART);
    while (cip_parts_next(&it, &part))
        CIP_TRY(add_part(s, &part, cip_read_plan_first_of(&s->plan->read, &part), err));
    return CIP_OK;
}

/* Of a line: the first ones of each place. */
static cip_status add_runs(sampler *s, cip_err *err)
{
    const cip_nd *all = &s->plan->read.from;
    for (int64_t at = 0, n; at < all->shape[0]; at += n) {
        cip_part part = { .from = *all, .start = { at } };
        n = cip_min_i64(s->plan->each, all->shape[0] - at);
        part.from.shape[0] = cip_min_i64(n, s->plan->run);
        part.from.off += (uint64_t)cip_stride_times(at, all->stride[0]);
        part.nelem = (uint64_t)part.from.shape[0];
        CIP_TRY(add_part(s, &part, (uint64_t)at, err));
    }
    return CIP_OK;
}

static cip_status take_means(sampler *s)
{
    for (size_t i = 0; i < s->p->nvalue; i++)
        if (s->count[i] != 0)
            s->p->value[i] /= (double)s->count[i];
    return CIP_OK;
}

/* Of each place its smallest or its largest, whichever is farther from the median. */
static cip_status take_extremes(sampler *s)
{
    const size_t n = cip_picture_sort(s->first, (s->p->nvalue - 1) / s->each + 1);
    const double middle = n != 0 ? s->first[(n - 1) / 2] : (double)NAN;
    for (size_t i = 0; i < s->p->nvalue; i++)
        if (!(middle - s->p->value[i] > s->high[i] - middle) && !isnan(s->p->value[i]))
            s->p->value[i] = s->high[i];
    return CIP_OK;
}

/* What is kept of each place beside its value. */
static cip_status make_room(sampler *s, cip_err *err)
{
    const size_t n = s->p->nvalue;
    if (s->p->facts.line)
        return CIP_OK;
    if (s->p->options.reduce == CIP_PICTURE_MEAN)
        return CIP_NEW(&s->p->mem, &s->count, n, err);
    if (s->p->options.reduce != CIP_PICTURE_EXTREMES)
        return CIP_OK;
    CIP_TRY(CIP_NEW(&s->p->mem, &s->high, n, err));
    s->each = (n - 1) / CIP_PICTURE_SORTED + 1;
    CIP_TRY(CIP_NEW(&s->p->mem, &s->first, n / s->each + 1, err));
    for (size_t i = 0; i <= n / s->each; i++)
        s->first[i] = NAN;
    return CIP_OK;
}

cip_status cip_picture_sample(cip_picture *p, const cip_picture_plan *plan, cip_err *err)
{
    cip_status st;
    sampler s = { .p = p, .plan = plan };
    const cip_read_plan *r = &plan->read;
    const bool runs = plan->run < plan->each; /* of a line */
    const size_t most = (size_t)(runs ? (uint64_t)plan->run : cip_min_u64(PART, r->nelem));
    s.nat = r->stored->kind == CIP_DATETIME64 || r->stored->kind == CIP_TIMEDELTA64;
    if (r->stored->kind == CIP_BOOL && !p->options.has_limits &&
        p->limits.scale != CIP_PICTURE_LOG) { /* false and true have always the same colours */
        p->options.has_limits = true;
        p->options.high = 1;
    }
    p->nvalue = (size_t)(p->facts.across.n * (p->facts.line ? 4 : p->facts.down.n));
    CIP_GO(cip_mem_zeroed(&p->mem, p->nvalue, sizeof *p->value, (void **)&p->value, err));
    for (size_t i = 0; i < p->nvalue; i++)
        p->value[i] = NAN;
    CIP_GO(cip_mem_zeroed(&p->mem, most, (size_t)r->to->itemsize, (void **)&s.elem, err));
    if (cip_plan_is_masked(r))
        CIP_GO(cip_mem_zeroed(&p->mem, most, 1, (void **)&s.mask, err));
    CIP_GO(make_room(&s, err));
    CIP_GO(runs ? add_runs(&s, err) : add_all(&s, err));
    st = s.count != NULL ? take_means(&s) : s.high != NULL ? take_extremes(&s) : CIP_OK;
done:
    cip_mem_put(&p->mem, s.first);
    cip_mem_put(&p->mem, s.high);
    cip_mem_put(&p->mem, s.count);
    cip_mem_put(&p->mem, s.mask);
    cip_mem_put(&p->mem, s.elem);
    return st;
}
