/* SPDX-License-Identifier: BSD-3-Clause
 * Marks on the axes of a picture: at multiples of 1, 2 or 5 times a power of ten. */
#include <math.h>
#include <stdio.h>

#include "picture/picture.h"

typedef struct tick_list {
    cip_picture_tick *tick;
    size_t n, cap;
} tick_list;

static cip_picture_tick *next(tick_list *l)
{
    return l->n < l->cap ? &l->tick[l->n++] : NULL;
}

/* The first of 1, 2, 5, 10, ... that is not less. */
static uint64_t round_up(uint64_t least)
{
    for (uint64_t ten = 1;; ten *= 10)
        for (uint64_t k = 1; k <= 5; k += k == 1 ? 1 : 3)
            if (k * ten >= least || ten > UINT64_MAX / 100)
                return k * ten;
}

/* At indices: place i of `zoom` pixels begins at index start + i * step; a single element is marked
 * in its middle. */
static void indices(const cip_picture_axis *a, uint32_t apart, tick_list *out)
{
    const uint64_t by = cip_magnitude(a->step);
    const uint64_t places = apart / a->zoom + (apart % a->zoom != 0);
    uint64_t least;
    if (cip_mul_overflow(by, places, &least))
        least = UINT64_MAX;
    const uint64_t each = round_up(least);
    const uint64_t reach = by * (uint64_t)(a->n - 1), first = (uint64_t)a->start;
    const uint64_t low = a->step < 0 ? first - reach : first, high = low + reach;
    for (uint64_t i = low + (each - low % each) % each; i >= low && i <= high;) {
        const uint64_t from = a->step < 0 ? first - i : i - first;
        cip_picture_tick *t = next(out);
        if (t == NULL)
            return;
        t->at = (uint32_t)((double)from / (double)by * a->zoom) + (by == 1 ? a->zoom / 2 : 0);
        snprintf(t->text, sizeof t->text, "%" PRIu64, i);
        if (cip_add_overflow(i, each, &i))
            return;
    }
}

static void value_tick(const cip_picture *p, double v, tick_list *out)
{
    const double t = cip_picture_place(&p->limits, v - p->limits.base);
    cip_picture_tick *tick = next(out);
    if (tick == NULL)
        return;
    tick->at = p->facts.height - 1 - (uint32_t)(t * (p->facts.height - 1) + 0.5);
    snprintf(tick->text, sizeof tick->text, "%.10g", v == 0 ? 0 : v);
}

/* Heights of a line: round values of a linear scale, of others the limits. */
static void values(const cip_picture *p, uint32_t apart, tick_list *out)
{
    const double low = p->facts.low, high = p->facts.high;
    const double span = high - low, most = p->facts.height / fmax(apart, 1);
    if (isnan(low))
        return;
    if (p->facts.scale == CIP_PICTURE_LINEAR && span > 0 && isfinite(span) && most >= 1) {
        const double ten = pow(10, floor(log10(span / most))), part = span / most / ten;
        const double each = ten * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
        const double first = ceil(low / each);
        if (fabs(first) < 1e9) { /* else they are no different in ten digits */
            for (double k = first; k * each <= high; k++)
                value_tick(p, k * each, out);
            return;
        }
    }
    value_tick(p, low, out);
    if (low < high)
        value_tick(p, high, out);
}

size_t cip_picture_ticks(const cip_picture *p, bool down, uint32_t apart, cip_picture_tick *ticks,
                         size_t cap)
{
    tick_list l = { ticks, 0, ticks != NULL ? cap : 0 };
    if (p == NULL)
        return 0;
    if (down && p->facts.line)
        values(p, apart, &l);
    else
        indices(down ? &p->facts.down : &p->facts.across, apart != 0 ? apart : 1, &l);
    return l.n;
}
