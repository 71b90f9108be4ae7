/* SPDX-License-Identifier: BSD-3-Clause
 * Slow and plain on purpose. */
#include "naive.h"

#include <math.h>
#include <string.h>

/* --- selections ------------------------------------------------------------------------------ */

/* Python's slice.indices, by counting. */
static void indices(const cip_slice *s, int64_t len, naive_axis *out)
{
    int64_t step = s->step, lowest = step > 0 ? 0 : -1, highest = step > 0 ? len : len - 1;
    int64_t start = step > 0 ? lowest : highest, stop = step > 0 ? highest : lowest;
    if (s->start != CIP_OPEN) {
        start = s->start < 0 ? s->start + len : s->start;
        start = start < lowest ? lowest : start > highest ? highest : start;
    }
    if (s->stop != CIP_OPEN) {
        stop = s->stop < 0 ? s->stop + len : s->stop;
        stop = stop < lowest ? lowest : stop > highest ? highest : stop;
    }
    out->start = start;
    out->step = step;
    out->n = 0;
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
        out->n++;
        if (step > 0 ? stop - i <= step : i - stop <= -step) /* adding it might not fit */
            break;
    }
}

static void whole(naive_selection *out, int axis, const int64_t *shape)
{
    out->axis[out->ndim++] = (naive_axis){ axis, 0, 1, shape[axis] };
}

bool naive_select(const cip_selection *sel, int ndim, const int64_t *shape, naive_selection *out)
{
    int named = 0, axis = 0;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < sel->n; i++)
        named += sel->item[i].what <= CIP_SLICE_INDEX;
    for (uint32_t i = 0; i < sel->n; i++) {
        const cip_slice *s = &sel->item[i];
        if (s->what == CIP_SLICE_NEWAXIS) {
            out->axis[out->ndim++] = (naive_axis){ -1, 0, 1, 1 };
        } else if (s->what == CIP_SLICE_ELLIPSIS) {
            for (int k = ndim - named; k > 0; k--)
                whole(out, axis++, shape);
        } else if (s->what == CIP_SLICE_INDEX) {
            int64_t at = s->start < 0 ? s->start + shape[axis] : s->start;
            if (at < 0 || at >= shape[axis])
                return false;
            out->fixed[axis++] = at;
        } else if (s->what == CIP_SLICE_ALL) {
            whole(out, axis, shape);
            axis++;
        } else {
            naive_axis *a = &out->axis[out->ndim++];
            a->from = axis;
            indices(s, shape[axis++], a);
        }
    }
    while (axis < ndim)
        whole(out, axis++, shape);
    return true;
}

/* --- casts ----------------------------------------------------------------------------------- */

static bool is_signed(cip_kind k)
{
    return k >= CIP_I8 && k <= CIP_I64;
}

static bool is_float(cip_kind k)
{
    return k == CIP_F32 || k == CIP_F64;
}

/* The bytes as one number, most significant first. */
static uint64_t load(naive_type t, const uint8_t *p)
{
    uint64_t v = 0;
    for (size_t i = 0; i < t.size; i++)
        v = v << 8 | p[t.big ? i : t.size - 1 - i];
    return v;
}

static void store(naive_type t, uint8_t *p, uint64_t v)
{
    for (size_t i = 0; i < t.size; i++, v >>= 8)
        p[t.big ? t.size - 1 - i : i] = (uint8_t)v;
}

static double as_double(naive_type t, uint64_t bits)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    if (t.kind == CIP_F32) {
        memcpy(&f, &low, 4);
        return (double)f;
    }
    memcpy(&d, &bits, 8);
    return d;
}

/* An integer between -2^63 and 2^64 - 1. */
typedef struct whole_number {
    bool negative;
    uint64_t size; /* without its sign */
} whole_number;

static whole_number as_whole(naive_type t, uint64_t bits)
{
    unsigned unused = (unsigned)(64 - 8 * t.size);
    if (t.kind == CIP_BOOL)
        return (whole_number){ false, bits != 0 };
    if (!is_signed(t.kind))
        return (whole_number){ false, bits };
    int64_t v = (int64_t)(bits << unused) >> unused;
    return (whole_number){ v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v };
}

/* Whether the type holds it; *nearest: what it holds instead. */
static bool holds(naive_type t, whole_number v, uint64_t *nearest)
{
    unsigned bits = (unsigned)(8 * t.size);
    uint64_t most = is_signed(t.kind) ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    uint64_t least = is_signed(t.kind) ? UINT64_C(1) << (bits - 1) : 0; /* below zero */
    *nearest = v.negative ? 0 - (v.size < least ? v.size : least) : v.size < most ? v.size : most;
    return v.negative ? v.size <= least : v.size <= most;
}

/* Whether a float of so many digits has to round it. */
static bool is_rounded(whole_number v, unsigned digits, cip_overflow policy)
{
    uint64_t m = v.size;
    while (m != 0 && m % 2 == 0)
        m /= 2;
    return policy == CIP_OVERFLOW_ERROR && m >> digits != 0;
}

static bool whole_to(whole_number v, naive_type to, uint8_t *dst, cip_overflow policy)
{
    uint64_t nearest, bits = v.negative ? 0 - v.size : v.size;
    if (to.kind == CIP_F32) {
        float f = v.negative ? (float)(int64_t)bits : (float)bits;
        uint32_t b;
        memcpy(&b, &f, 4);
        store(to, dst, b);
        return is_rounded(v, 24, policy);
    }
    if (to.kind == CIP_F64) {
        double d = v.negative ? (double)(int64_t)bits : (double)bits;
        memcpy(&bits, &d, 8);
        store(to, dst, bits);
        return is_rounded(v, 53, policy);
    }
    if (to.kind == CIP_BOOL) {
        *dst = v.size != 0;
        return policy == CIP_OVERFLOW_ERROR && (v.negative || v.size > 1);
    }
    bool fits = holds(to, v, &nearest);
    store(to, dst, policy == CIP_OVERFLOW_WRAP ? bits : nearest);
    return !fits;
}

static bool float_to(double d, naive_type to, uint8_t *dst, cip_overflow policy)
{
    uint64_t bits;
    if (to.kind == CIP_F64) {
        memcpy(&bits, &d, 8);
        store(to, dst, bits);
        return false;
    }
    if (to.kind == CIP_F32) {
        float f = (float)d;
        uint32_t b;
        memcpy(&b, &f, 4);
        store(to, dst, b);
        return isfinite(d) && !isfinite(f);
    }
    if (to.kind == CIP_BOOL) {
        *dst = d != 0;
        return policy == CIP_OVERFLOW_ERROR && d != 0 && d != 1;
    }
    if (isnan(d)) {
        store(to, dst, 0);
        return true;
    }
    double t = trunc(d);
    whole_number v = { t < 0, 0 };
    bool huge = fabs(t) >= 18446744073709551616.0;
    bool cut = policy == CIP_OVERFLOW_ERROR && t != d;
    v.size = huge ? UINT64_MAX : (uint64_t)fabs(t);
    if (policy == CIP_OVERFLOW_WRAP)
        policy = CIP_OVERFLOW_CLAMP;
    return whole_to(v, to, dst, policy) || huge || cut;
}

bool naive_cast(naive_type from, const uint8_t *src, naive_type to, uint8_t *dst,
                cip_overflow policy)
{
    if (from.kind == CIP_OPAQUE) {
        memcpy(dst, src, from.size);
        return false;
    }
    uint64_t bits = load(from, src);
    if (from.kind == to.kind && from.kind != CIP_BOOL) {
        store(to, dst, bits);
        return false;
    }
    if (is_float(from.kind))
        return float_to(as_double(from, bits), to, dst, policy);
    return whole_to(as_whole(from, bits), to, dst, policy);
}
