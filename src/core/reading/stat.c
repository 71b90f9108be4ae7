/* SPDX-License-Identifier: BSD-3-Clause
 * Statistics by streaming: blocks of a fixed number of elements, each in two passes while it is in
 * cache, merged in order (Chan, Golub, LeVeque 1979); so the result does not depend on threads. */
#include <math.h>
#include <string.h>

#include "array/sums.h"
#include "base/num.h"
#include "base/sized.h"
#include "cippus/array.h"
#include "core/reading/read_plan.h"

enum { BLOCK = 1 << 14, PART = 1 << 20 }; /* elements */

/* What a block of elements, or all of them, comes to. */
typedef struct tally {
    uint64_t nmasked, nnan, nzero;
    uint64_t ninf, nplus; /* infinite; positive infinity */
    uint64_t n;           /* that count: neither masked nor NaN */
    uint64_t nfinite;     /* of which are low, high, mean and m2 */
    double low, high, mean, m2;
    int64_t low_int, high_int; /* int64, or the bits of uint64 */
} tally;

typedef enum shape_of { SIGNED, UNSIGNED, REAL, COMPLEX } shape_of;

typedef struct summer {
    cip_read_plan plan; /* casts to int64, uint64, float64 or complex128 */
    shape_of what;
    uint8_t *elem; /* of one part */
    uint8_t *mask; /* or NULL */
    size_t n;      /* elements of the part */
    uint64_t done; /* elements of the parts before */
    tally *block;  /* of the part's blocks */
    tally all;
} summer;

static bool less(shape_of what, int64_t a, int64_t b)
{
    return what == UNSIGNED ? (uint64_t)a < (uint64_t)b : a < b;
}

/* Element i of the part as a double; *whole is its value as an integer. */
static double value_at(const summer *m, size_t i, int64_t *whole)
{
    double v[2];
    memcpy(whole, m->elem + i * 8, sizeof *whole);
    switch (m->what) {
    case SIGNED:
        return (double)*whole;
    case UNSIGNED:
        return (double)(uint64_t)*whole;
    case REAL:
        memcpy(v, m->elem + i * 8, 8);
        return v[0];
    case COMPLEX:
        memcpy(v, m->elem + i * 16, 16);
        return hypot(v[0], v[1]);
    }
    return 0;
}

/* Sums up elements [first, end) of the part. `v` keeps those that count, for the second pass. */
static void first_pass(const summer *m, size_t first, size_t end, tally *t, double *v)
{
    for (size_t i = first; i < end; i++) {
        int64_t whole;
        if (m->mask != NULL && m->mask[i] != 0) {
            t->nmasked++;
            continue;
        }
        double x = value_at(m, i, &whole);
        if (x != x) {
            t->nnan++;
            continue;
        }
        t->nzero += x == 0;
        if (t->n == 0 || less(m->what, whole, t->low_int))
            t->low_int = whole;
        if (t->n == 0 || less(m->what, t->high_int, whole))
            t->high_int = whole;
        t->n++;
        t->ninf += isinf(x) != 0;
        t->nplus += isinf(x) && x > 0;
        if (!isinf(x))
            v[t->nfinite++] = x;
    }
}

/* The same where all elements of a block count: v keeps them as doubles, or stays the elements
 * themselves. False where one does not, or is complex. */
static bool first_pass_of_all(const summer *m, size_t first, size_t n, tally *t, const double **v,
                              double *room)
{
    const cip_sums *sums = cip_sums_now();
    const void *elem = m->elem + first * 8;
    cip_float_counts c = { 0 };
    int64_t bounds[2];
    if (m->mask != NULL || m->what == COMPLEX)
        return false;
    if (m->what == REAL) {
        sums->count(elem, n, &c);
        if (c.nnan != 0 || c.ninf != 0)
            return false;
        *v = elem;
        t->nzero = c.nzero;
    } else {
        t->nzero = m->what == SIGNED ? sums->of_signed(elem, n, bounds, room)
                                     : sums->of_unsigned(elem, n, (uint64_t *)bounds, room);
        t->low_int = bounds[0];
        t->high_int = bounds[1];
    }
    t->n = t->nfinite = n;
    return true;
}

static cip_status sum_block(void *arg, size_t b, cip_err *err)
{
    summer *m = arg;
    double *room = NULL, sum, dev;
    size_t first = b * BLOCK, end = first + BLOCK < m->n ? first + BLOCK : m->n;
    CIP_TRY(cip_mem_zeroed(m->plan.arena.mem, BLOCK, sizeof *room, (void **)&room, err));
    const double *v = room;
    m->block[b] = (tally){ 0 };
    tally *t = &m->block[b];
    if (!first_pass_of_all(m, first, end - first, t, &v, room))
        first_pass(m, first, end, t, room);
    if (t->nfinite != 0) {
        size_t n = (size_t)t->nfinite;
        cip_sums_now()->first(v, n, &t->low, &t->high, &sum);
        t->mean = sum / (double)n;
        cip_sums_now()->second(v, n, t->mean, &dev, &t->m2);
        /* what rounding the sum left over */
        t->m2 -= dev * dev / (double)n;
        t->mean += dev / (double)n;
    }
    cip_mem_put(m->plan.arena.mem, room);
    return CIP_OK;
}

static void merge(shape_of what, tally *a, const tally *b)
{
    a->nmasked += b->nmasked;
    a->nnan += b->nnan;
    a->nzero += b->nzero;
    a->ninf += b->ninf;
    a->nplus += b->nplus;
    if (b->n == 0)
        return;
    if (a->n == 0 || less(what, b->low_int, a->low_int))
        a->low_int = b->low_int;
    if (a->n == 0 || less(what, a->high_int, b->high_int))
        a->high_int = b->high_int;
    a->n += b->n;
    if (b->nfinite == 0)
        return;
    if (a->nfinite == 0 || b->low < a->low)
        a->low = b->low;
    if (a->nfinite == 0 || b->high > a->high)
        a->high = b->high;
    double na = (double)a->nfinite, nb = (double)b->nfinite, delta = b->mean - a->mean;
    a->mean = a->nfinite == 0 ? b->mean : a->mean + delta * (nb / (na + nb));
    a->m2 += b->m2 + delta * delta * (na * nb / (na + nb));
    a->nfinite += b->nfinite;
}

static cip_status sum_all(summer *m, cip_err *err)
{
    cip_status st = CIP_OK;
    cip_parts it;
    cip_part part;
    cip_mem *mem = m->plan.arena.mem;
    size_t most = (size_t)cip_min_u64(PART, m->plan.nelem);
    CIP_GO(cip_mem_zeroed(mem, most, m->what == COMPLEX ? 16 : 8, (void **)&m->elem, err));
    CIP_GO(CIP_NEW(mem, &m->block, PART / BLOCK, err));
    if (cip_plan_is_masked(&m->plan))
        CIP_GO(cip_mem_zeroed(mem, most, 1, (void **)&m->mask, err));
    cip_parts_start(&it, &m->plan, PART);
    while (cip_parts_next(&it, &part)) {
        m->n = (size_t)part.nelem;
        size_t nblock = (size_t)cip_div_up(m->n, BLOCK);
        CIP_GO(cip_read_plan_fetch(&m->plan, &part, m->elem, err));
        if (m->mask != NULL)
            CIP_GO(cip_read_plan_mask(&m->plan, &part, m->mask, err));
        CIP_GO(cip_pool_run(m->plan.how.pool, nblock, sum_block, m, err));
        for (size_t b = 0; b < nblock; b++)
            merge(m->what, &m->all, &m->block[b]);
        CIP_GO(cip_read_plan_progress(&m->plan, &m->done, part.nelem, err));
    }
done:
    cip_mem_put(mem, m->mask);
    cip_mem_put(mem, m->block);
    cip_mem_put(mem, m->elem);
    return st;
}

static void report(const summer *m, cip_stats *out)
{
    const tally *t = &m->all;
    bool any = t->nfinite != 0, exact = m->what == SIGNED || m->what == UNSIGNED;
    *out = (cip_stats){ .nelem = m->plan.nelem,
                        .nmasked = t->nmasked,
                        .nnan = t->nnan,
                        .nzero = t->nzero,
                        .ninf = t->ninf,
                        .min = any ? t->low : NAN,
                        .max = any ? t->high : NAN,
                        .mean = any ? t->mean : NAN,
                        .finite_mean = any ? t->mean : NAN,
                        .std = any ? sqrt(fmax(t->m2, 0) / (double)t->nfinite) : NAN,
                        .exact = any && exact,
                        .min_int = any && exact ? t->low_int : 0,
                        .max_int = any && exact ? t->high_int : 0,
                        .is_unsigned = m->what == UNSIGNED };
    if (any && t->m2 != t->m2)
        out->std = NAN; /* a sum that left the range of doubles */
    if (t->ninf != 0) {
        /* minimum, maximum and mean as numpy has them: the sum of both infinities is NaN */
        bool plus = t->nplus != 0, minus = t->ninf > t->nplus;
        out->min = minus ? -(double)INFINITY : t->nfinite != 0 ? t->low : (double)INFINITY;
        out->max = plus ? (double)INFINITY : t->nfinite != 0 ? t->high : -(double)INFINITY;
        out->mean = plus && minus ? (double)NAN : plus ? (double)INFINITY : -(double)INFINITY;
        out->std = NAN;
    }
}

static cip_status plan_as_number(summer *m, cip_err *err)
{
    cip_kind to;
    if (m->plan.take_mask)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "take_mask is for cip_export");
    /* What elements of the kind are summed up as. */
    static const cip_kind as[] = { CIP_I64, CIP_U64, CIP_F64, CIP_C128 };
    if (m->plan.stored->kind >= CIP_BOOL && m->plan.stored->kind <= CIP_I64)
        m->what = SIGNED;
    else if (m->plan.stored->kind >= CIP_U8 && m->plan.stored->kind <= CIP_U64)
        m->what = UNSIGNED;
    else if (m->plan.stored->kind >= CIP_F16 && m->plan.stored->kind <= CIP_F64)
        m->what = REAL;
    else if (m->plan.stored->kind == CIP_C64 || m->plan.stored->kind == CIP_C128)
        m->what = COMPLEX;
    else
        return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET, "expected numbers, found %.100s",
                        cip_dtype_name(m->plan.stored));
    to = as[m->what];
    CIP_TRY(cip_read_plan_check_amount(&m->plan, err));
    m->plan.to = cip_dtype_of(to);
    return cip_cast_make(m->plan.stored, m->plan.to, CIP_OVERFLOW_CLAMP, &m->plan.cast, err);
}

cip_status cip_stat(const cip_array *a, const cip_read_args *args, cip_stats *out, cip_err *err)
{
    summer m = { 0 };
    cip_stats found;
    CIP_TRY(cip_array_state(a, err));
    err = cip_err_enter(err);
    CIP_TRY(cip_sized_room("cip_stats", out, err));
    CIP_TRY(cip_read_plan_make(a, args, CIP_AS_STORED, &m.plan, err));
    cip_status st = plan_as_number(&m, err);
    if (st == CIP_OK)
        st = sum_all(&m, err);
    if (st == CIP_OK)
        report(&m, &found);
    if (st == CIP_OK)
        cip_sized_give(out, &found, sizeof found);
    cip_read_plan_clear(&m.plan);
    return cip_fail_in(err, st, "%s", a->path);
}
