/* SPDX-License-Identifier: BSD-3-Clause
 * Limits of a picture, and where values lie between them. */
#include <math.h>
#include <stdlib.h>

#include "picture/picture.h"

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t cip_picture_sort(double *value, size_t n)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(value[i]))
            value[left++] = value[i];
    qsort(value, left, sizeof *value, compare);
    return left;
}

/* Between the two values beside it, as numpy's default does. */
static double percentile(const double *sorted, size_t n, double percent)
{
    const double at = percent / 100 * (double)(n - 1);
    const size_t i = (size_t)at;
    const double part = at - (double)i;
    return i + 1 >= n ? sorted[n - 1] : sorted[i] * (1 - part) + sorted[i + 1] * part;
}

static void limits_of(const cip_picture *p, const double *sorted, size_t n, cip_picture_limits *out)
{
    double low = p->options.low_percentile, high = p->options.high_percentile;
    if (low == 0 && high == 0) {
        low = p->facts.line ? 0 : 0.5;
        high = p->facts.line ? 100 : 99.5;
    }
    out->low = n == 0 ? (double)NAN : percentile(sorted, n, low);
    out->high = n == 0 ? (double)NAN : percentile(sorted, n, high);
    if (n != 0 && !(out->low < out->high)) { /* nearly all are one value: the others are shown */
        out->low = sorted[0];
        out->high = sorted[n - 1];
    }
}

cip_status cip_picture_find_limits(cip_picture *p, cip_err *err)
{
    cip_picture_limits *l = &p->limits;
    double *sorted = NULL;
    size_t n = 0;
    if (p->options.has_limits) {
        l->low = p->options.low - l->base;
        l->high = p->options.high - l->base;
        return CIP_OK;
    }
    const size_t each = (p->nvalue - 1) / CIP_PICTURE_SORTED + 1;
    CIP_TRY(CIP_NEW(&p->mem, &sorted, p->nvalue / each + 1, err));
    for (size_t i = 0; i < p->nvalue; i += each)
        sorted[n++] = p->value[i];
    limits_of(p, sorted, cip_picture_sort(sorted, n), l);
    cip_mem_put(&p->mem, sorted);
    return CIP_OK;
}

double cip_picture_place(const cip_picture_limits *l, double value)
{
    double t;
    if (isnan(value))
        return NAN;
    if (isinf(value))
        return value > 0 ? 1 : 0;
    if (!(l->low < l->high))
        return isnan(l->low) ? (double)NAN : 0.5;
    if (value <= l->low || value >= l->high)
        return value <= l->low ? 0 : 1;
    /* halves: their difference does not overflow */
    t = (value / 2 - l->low / 2) / (l->high / 2 - l->low / 2);
    switch (l->scale) {
    case CIP_PICTURE_LOG:
        t = (log(value + l->base) - log(l->low + l->base)) /
            (log(l->high + l->base) - log(l->low + l->base));
        break;
    case CIP_PICTURE_ASINH:
        t = asinh(10 * t) / asinh(10);
        break;
    case CIP_PICTURE_SQRT:
        t = sqrt(t);
        break;
    case CIP_PICTURE_LINEAR:
        break;
    }
    return fmin(fmax(t, 0), 1);
}
