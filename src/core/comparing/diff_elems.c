/* SPDX-License-Identifier: BSD-3-Clause
 * Elements of two arrays, compared. Bytes that are the same are skipped in batches, as files that
 * are compared are alike for the most part; what is left is compared number by number: integers
 * exactly, also with floats, so that no rounding makes two numbers one. */
#include <math.h>
#include <string.h>

#include "core/comparing/differ.h"

enum { BATCH = 256 };

typedef struct number {
    bool whole, negative; /* whole: size is the value without its sign */
    uint64_t size;
    double re, im; /* of every number, rounded where it is whole */
} number;

static bool is_number(const cip_dtype *d)
{
    return d->kind >= CIP_BOOL && d->kind <= CIP_C128;
}

cip_likeness cip_likeness_of(const cip_dtype *a, const cip_dtype *b)
{
    if (is_number(a) && is_number(b))
        return CIP_LIKE_NUMBERS;
    if (a->kind != b->kind)
        return CIP_UNLIKE;
    if (a->kind == CIP_RECORD)
        return CIP_LIKE_RECORDS;
    if (a->kind == CIP_ASCII || a->kind == CIP_UCS4)
        return CIP_LIKE_TEXTS;
    const bool same =
        cip_kind_is_time(a->kind) ? strcmp(a->unit, b->unit) == 0 : a->itemsize == b->itemsize;
    return same ? CIP_LIKE_BYTES : CIP_UNLIKE;
}

/* The widest type of a number's class. */
static const cip_dtype *widest(const cip_dtype *d)
{
    if (d->kind <= CIP_I64)
        return cip_dtype_of(CIP_I64);
    if (d->kind <= CIP_U64)
        return cip_dtype_of(CIP_U64);
    return cip_dtype_of(d->kind <= CIP_F64 ? CIP_F64 : CIP_C128);
}

cip_status cip_elem_diff_make(const cip_dtype *a, const cip_dtype *b, double rtol, double atol,
                              cip_elem_diff *out, cip_err *err)
{
    const bool truths = a->kind == CIP_BOOL && b->kind == CIP_BOOL;
    *out = (cip_elem_diff){ .how = cip_likeness_of(a, b), .a = a, .b = b };
    out->rtol = truths ? 0 : rtol;
    out->atol = truths ? 0 : atol;
    out->same = out->how == CIP_LIKE_RECORDS ? cip_dtype_equal(a, b)
                                             : a->kind == b->kind && a->itemsize == b->itemsize;
    if (out->how != CIP_LIKE_NUMBERS)
        return CIP_OK;
    CIP_TRY(cip_cast_make(a, widest(a), CIP_OVERFLOW_CLAMP, &out->to_a, err));
    return cip_cast_make(b, widest(b), CIP_OVERFLOW_CLAMP, &out->to_b, err);
}

static number number_at(const cip_dtype *d, const uint8_t *p)
{
    number x = { 0 };
    int64_t i;
    double v[2] = { 0, 0 };
    switch (d->kind) {
    case CIP_I64:
        memcpy(&i, p, sizeof i);
        x = (number){ true, i < 0, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, (double)i, 0 };
        return x;
    case CIP_U64:
        memcpy(&x.size, p, sizeof x.size);
        x.whole = true;
        x.re = (double)x.size;
        return x;
    default:
        memcpy(v, p, d->kind == CIP_C128 ? 16 : 8);
        x.re = v[0];
        x.im = v[1];
        return x;
    }
}

static bool is_nan(const number *x)
{
    return x->re != x->re || x->im != x->im;
}

/* A whole number and one that is not. */
static bool is_this(const number *whole, const number *x)
{
    const double size = fabs(x->re);
    return x->im == 0 && size < 0x1p64 && (double)(uint64_t)size == size &&
           (uint64_t)size == whole->size && (size == 0 || whole->negative == (x->re < 0));
}

static bool is_same(const number *x, const number *y)
{
    if (x->whole && y->whole)
        return x->size == y->size && x->negative == y->negative;
    if (x->whole || y->whole)
        return x->whole ? is_this(x, y) : is_this(y, x);
    return (x->re == y->re && x->im == y->im) || (is_nan(x) && is_nan(y));
}

static double distance(const number *x, const number *y)
{
    if (!x->whole || !y->whole)
        return x->im == 0 && y->im == 0 ? fabs(x->re - y->re) : hypot(x->re - y->re, x->im - y->im);
    if (x->negative != y->negative)
        return (double)x->size + (double)y->size;
    return (double)(x->size > y->size ? x->size - y->size : y->size - x->size);
}

static void raise_to(double *most, double x)
{
    if (*most != *most || x > *most)
        *most = x;
}

static void count(cip_elem_tally *t, size_t i)
{
    if (t->n++ == 0)
        t->first = i;
}

static void number_pair(const cip_elem_diff *e, const number *x, const number *y, size_t i,
                        cip_elem_tally *t)
{
    if (is_same(x, y))
        return;
    const double by = distance(x, y), of = y->im == 0 ? fabs(y->re) : hypot(y->re, y->im);
    if ((e->rtol != 0 || e->atol != 0) && isfinite(of) && by <= e->atol + e->rtol * of)
        return;
    count(t, i);
    if (by != by)
        return;
    raise_to(&t->max_abs, by);
    if (isfinite(of) && of != 0)
        raise_to(&t->max_rel, by / of);
}

static void numbers(const cip_elem_diff *e, const cip_elem_run *run, size_t first, size_t n,
                    const uint8_t *skip, cip_elem_tally *t)
{
    uint8_t wide_a[BATCH * 16], wide_b[BATCH * 16];
    cip_cast_stats stats = { 0, 0 };
    const size_t each_a = (size_t)e->to_a.to->itemsize, each_b = (size_t)e->to_b.to->itemsize;
    cip_cast_run(&e->to_a, n, run->a + first * e->a->itemsize, (int64_t)e->a->itemsize, wide_a,
                 (int64_t)each_a, 0, &stats);
    cip_cast_run(&e->to_b, n, run->b + first * e->b->itemsize, (int64_t)e->b->itemsize, wide_b,
                 (int64_t)each_b, 0, &stats);
    for (size_t i = 0; i < n; i++) {
        if (skip[i] != 0)
            continue;
        const number x = number_at(e->to_a.to, wide_a + i * each_a);
        const number y = number_at(e->to_b.to, wide_b + i * each_b);
        number_pair(e, &x, &y, first + i, t);
    }
}

/* Both begin with the same bytes, and the longer has NULs behind them. */
static bool same_text(const uint8_t *a, size_t na, const uint8_t *b, size_t nb)
{
    const uint8_t *rest = na < nb ? b : a;
    const size_t both = na < nb ? na : nb, all = na < nb ? nb : na;
    if (both != 0 && memcmp(a, b, both) != 0)
        return false;
    for (size_t i = both; i < all; i++)
        if (rest[i] != 0)
            return false;
    return true;
}

static void others(const cip_elem_diff *e, const cip_elem_run *run, size_t first, size_t n,
                   const uint8_t *skip, cip_elem_tally *t)
{
    const size_t na = (size_t)e->a->itemsize, nb = (size_t)e->b->itemsize;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *a = run->a + (first + i) * na, *b = run->b + (first + i) * nb;
        if (skip[i] == 0 && !same_text(a, na, b, nb))
            count(t, first + i);
    }
}

void cip_elem_diff_run(const cip_elem_diff *e, const cip_elem_run *run, size_t first, size_t end,
                       cip_elem_tally *t)
{
    uint8_t skip[BATCH];
    const size_t each = (size_t)e->a->itemsize;
    for (size_t n; first < end; first += n) {
        n = end - first < BATCH ? end - first : BATCH;
        memset(skip, 0, n);
        cip_elem_tally missing = { 0 }, valued = { 0, 0, (double)NAN, (double)NAN };
        const bool masked = run->mask_a != NULL || run->mask_b != NULL;
        for (size_t i = first; masked && i < first + n; i++) { /* missing ones are compared so */
            const bool a = run->mask_a != NULL && run->mask_a[i] != 0;
            const bool b = run->mask_b != NULL && run->mask_b[i] != 0;
            skip[i - first] = a || b;
            if (a != b)
                count(&missing, i);
        }
        if (!e->same || memcmp(run->a + first * each, run->b + first * each, n * each) != 0)
            (e->how == CIP_LIKE_NUMBERS ? numbers : others)(e, run, first, n, skip, &valued);
        if (missing.n != 0 && (valued.n == 0 || missing.first < valued.first))
            valued.first = missing.first;
        valued.n += missing.n;
        cip_elem_tally_merge(t, &valued, 0);
    }
}

void cip_elem_tally_merge(cip_elem_tally *into, const cip_elem_tally *from, uint64_t base)
{
    if (from->n == 0)
        return;
    if (into->n == 0)
        into->first = base + from->first;
    into->n += from->n;
    if (from->max_abs == from->max_abs)
        raise_to(&into->max_abs, from->max_abs);
    if (from->max_rel == from->max_rel)
        raise_to(&into->max_rel, from->max_rel);
}
