/* SPDX-License-Identifier: BSD-3-Clause
 * Sorting, merging and walking the axes of a pair of views. Offsets are summed modulo 2^64: the
 * views were checked to lie within. */
#include "space/read/nd_walk.h"

#include <string.h>

static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static bool goes_before(const cip_axis *a, const cip_axis *b)
{
    if (a->from != b->from)
        return a->from > b->from;
    return cip_magnitude(a->to) > cip_magnitude(b->to);
}

/* Whether `in` goes on where `out` steps, so that both are one axis. */
static bool follow(const cip_axis *out, const cip_axis *in, bool ordered)
{
    return out->from == cip_stride_times(in->n, in->from) &&
           out->to == cip_stride_times(in->n, in->to) &&
           (!ordered || out->pos == cip_stride_times(in->n, in->pos));
}

static void merge(cip_walk *w, bool ordered)
{
    int32_t kept = 0;
    for (int32_t k = 0; k < w->ndim; k++) {
        cip_axis *last = kept != 0 ? &w->axis[kept - 1] : NULL;
        if (last != NULL && follow(last, &w->axis[k], ordered)) {
            int64_t n = last->n;
            *last = w->axis[k];
            last->n *= n;
        } else {
            w->axis[kept++] = w->axis[k];
        }
    }
    w->ndim = kept;
}

static void measure(cip_walk *w)
{
    w->nelem = w->nsource = 1;
    w->nouter = 0;
    for (int32_t k = 0; k < w->ndim; k++) {
        w->nelem *= (uint64_t)w->axis[k].n;
        if (w->axis[k].from != 0) {
            w->nsource *= (uint64_t)w->axis[k].n;
            w->nouter++;
        }
    }
    uint64_t extent = w->itemsize;
    w->nested = true;
    for (int32_t k = w->nouter - 1; k >= 0; k--) {
        uint64_t step = (uint64_t)w->axis[k].from;
        w->nested = w->nested && step >= extent;
        extent += (uint64_t)(w->axis[k].n - 1) * step;
    }
}

void cip_walk_of_axes(const cip_axis *axis, int32_t ndim, bool ordered, cip_walk *w)
{
    w->ndim = 0;
    for (int32_t k = 0; k < ndim; k++) {
        cip_axis a = axis[k];
        /* Walks the axis from its other end when the source falls along it. */
        if (a.from < 0) {
            w->off += (uint64_t)cip_stride_times(a.n - 1, a.from);
            w->to_off = plus(w->to_off, cip_stride_times(a.n - 1, a.to));
            w->pos0 = plus(w->pos0, cip_stride_times(a.n - 1, a.pos));
            a.from = cip_stride_times(a.from, -1);
            a.to = cip_stride_times(a.to, -1);
            a.pos = cip_stride_times(a.pos, -1);
        }
        if (a.n == 1)
            continue;
        int32_t at = w->ndim++;
        for (; at > 0 && goes_before(&a, &w->axis[at - 1]); at--)
            w->axis[at] = w->axis[at - 1];
        w->axis[at] = a;
    }
    merge(w, ordered);
    measure(w);
}

void cip_walk_make(const cip_nd *from, const cip_nd *to, bool ordered, cip_walk *out)
{
    cip_axis axis[CIP_MAX_NDIM];
    int64_t pos = 1;
    for (int32_t k = from->ndim - 1; k >= 0; k--) {
        axis[k] = (cip_axis){ from->shape[k], from->stride[k], to->stride[k], pos };
        pos *= from->shape[k];
    }
    out->itemsize = from->itemsize;
    out->to_size = to->itemsize;
    out->off = from->off;
    out->to_off = (int64_t)to->off;
    out->pos0 = 0;
    cip_walk_of_axes(axis, from->ndim, ordered, out);
}

uint64_t cip_walk_find(const cip_walk *w, uint64_t off)
{
    uint64_t e = 0;
    if (off <= w->off)
        return 0;
    uint64_t rest = off - w->off;
    if (w->nouter == 0)
        return 1;
    for (int32_t k = 0; k < w->nouter; k++) {
        uint64_t step = (uint64_t)w->axis[k].from, n = (uint64_t)w->axis[k].n;
        bool last = k + 1 == w->nouter;
        uint64_t i = rest / step + (last && rest % step != 0);
        if (i > n || (i == n && !last))
            i = n;
        e = e * n + i;
        if (i == n) { /* all of this block lies before */
            for (k++; k < w->nouter; k++)
                e *= (uint64_t)w->axis[k].n;
            break;
        }
        rest -= last ? 0 : i * step;
    }
    return e;
}

uint64_t cip_walk_span(const cip_walk *w, int32_t k, uint64_t count)
{
    uint64_t span = w->itemsize;
    for (int32_t j = w->nouter - 1; j > k; j--)
        span += (uint64_t)(w->axis[j].n - 1) * (uint64_t)w->axis[j].from;
    return k < 0 ? span : span + (count - 1) * (uint64_t)w->axis[k].from;
}

bool cip_walk_turns(const cip_walk *w)
{
    for (int32_t k = 0; k + 1 < w->nouter && w->nouter == w->ndim; k++)
        if (cip_magnitude(w->axis[k].to) < cip_magnitude(w->axis[w->nouter - 1].to))
            return true;
    return false;
}

void cip_walk_seek(const cip_walk *w, uint64_t e, cip_walk_at *at)
{
    at->w = w;
    at->e = e;
    at->off = w->off;
    at->to_off = w->to_off;
    at->pos = w->pos0;
    for (int32_t k = w->nouter - 1; k >= 0; k--) {
        const cip_axis *a = &w->axis[k];
        int64_t i = (int64_t)(k == 0 ? e : e % (uint64_t)a->n);
        e /= (uint64_t)a->n;
        at->idx[k] = i;
        at->off += (uint64_t)cip_stride_times(i, a->from);
        at->to_off = plus(at->to_off, cip_stride_times(i, a->to));
        at->pos = plus(at->pos, cip_stride_times(i, a->pos));
    }
}

uint64_t cip_walk_row(const cip_walk_at *at)
{
    int32_t last = at->w->nouter - 1;
    return last < 0 ? 1 : (uint64_t)(at->w->axis[last].n - at->idx[last]);
}

static void step(cip_walk_at *at, int32_t k, int64_t n)
{
    const cip_axis *a = &at->w->axis[k];
    at->idx[k] += n;
    at->off += (uint64_t)cip_stride_times(n, a->from);
    at->to_off = plus(at->to_off, cip_stride_times(n, a->to));
    at->pos = plus(at->pos, cip_stride_times(n, a->pos));
}

/* n steps of axis k, carrying over to those before it. */
static void advance(cip_walk_at *at, int32_t k, int64_t n)
{
    for (; k >= 0; k--, n = 1) {
        step(at, k, n);
        if (at->idx[k] < at->w->axis[k].n || k == 0)
            return;
        step(at, k, -at->idx[k]);
    }
}

void cip_walk_skip(cip_walk_at *at, uint64_t n)
{
    at->e += n;
    advance(at, at->w->nouter - 1, (int64_t)n);
}

/* --- casting --------------------------------------------------------------------------------- */

/* One call of cip_cast_run: n elements along one axis. */
typedef struct run {
    const uint8_t *src;
    int64_t src_stride;
    cip_axis axis; /* n, to, pos */
    int64_t to_off, pos;
} run;

static void cast_run(const cip_walk_cast_args *a, const run *r, cip_cast_stats *stats)
{
    cip_cast_stats found = { 0, 0 };
    cip_cast_run(a->cast, (size_t)r->axis.n, r->src, r->src_stride, a->dst + r->to_off, r->axis.to,
                 0, &found);
    if (found.noverflow == 0)
        return;
    int64_t i = (int64_t)found.first;
    if (r->axis.pos < 0) { /* backwards: the first in C order is the last one of the run */
        cip_cast_stats one = { 0, 0 };
        for (i = r->axis.n; i > 0 && one.noverflow == 0;) {
            i--;
            cip_cast_run(a->cast, 1, r->src + cip_stride_times(i, r->src_stride), 0,
                         a->dst + plus(r->to_off, cip_stride_times(i, r->axis.to)), 0, 0, &one);
        }
    }
    found.first = (uint64_t)plus(r->pos, cip_stride_times(i, r->axis.pos));
    cip_cast_merge(stats, &found);
}

/* A run, and each of its elements again for the repeating axes from k on. The longer one of the run
 * and the last repeating axis is the inner loop. */
static void cast_repeated(const cip_walk *w, const cip_walk_cast_args *a, run r, int32_t k,
                          cip_cast_stats *stats)
{
    if (k == w->ndim) {
        cast_run(a, &r, stats);
        return;
    }
    cip_axis outer = w->axis[k];
    int64_t src_step = 0;
    if (k + 1 == w->ndim && outer.n > r.axis.n) {
        cip_axis swap = r.axis;
        r.axis = outer;
        outer = swap;
        src_step = r.src_stride;
        r.src_stride = 0;
    }
    for (int64_t i = 0; i < outer.n; i++) {
        cast_repeated(w, a, r, k + 1, stats);
        r.src += src_step;
        r.to_off = plus(r.to_off, outer.to);
        r.pos = plus(r.pos, outer.pos);
    }
}

/* Source strides of the outer axis k as the elements lie at `src`. */
static int64_t source_stride(const cip_walk *w, cip_walk_src how, int32_t k)
{
    if (how == CIP_SRC_SAME)
        return 0;
    if (how == CIP_SRC_PLACED)
        return w->axis[k].from;
    int64_t stride = (int64_t)w->itemsize;
    for (int32_t j = k + 1; j < w->nouter; j++)
        stride = cip_stride_times(stride, w->axis[j].n);
    return stride;
}

static const uint8_t *source_at(const cip_walk_cast_args *a, const cip_walk_at *at)
{
    if (a->how == CIP_SRC_SAME)
        return a->src;
    if (a->how == CIP_SRC_PACKED)
        return a->src + (at->e - a->e0) * at->w->itemsize;
    return a->src + (at->off - a->base);
}

enum { SHORT_ROW = 8 };

/* How many whole rows, if from here on it is better to go down their columns; 0 otherwise. */
static uint64_t columns(const cip_walk_at *at, uint64_t left)
{
    const cip_walk *w = at->w;
    int32_t k = w->nouter - 1;
    if (k < 1 || at->idx[k] != 0 || w->axis[k].n >= SHORT_ROW)
        return 0;
    uint64_t rows = left / (uint64_t)w->axis[k].n;
    uint64_t there = (uint64_t)(w->axis[k - 1].n - at->idx[k - 1]);
    rows = rows < there ? rows : there;
    return rows > (uint64_t)w->axis[k].n ? rows : 0;
}

static void cast_columns(cip_walk_at *at, const cip_walk_cast_args *a, uint64_t rows,
                         cip_cast_stats *stats)
{
    const cip_walk *w = at->w;
    int32_t k = w->nouter - 1;
    int64_t across = source_stride(w, a->how, k), down = source_stride(w, a->how, k - 1);
    const uint8_t *src = source_at(a, at);
    for (int64_t j = 0; j < w->axis[k].n; j++) {
        run r = { src + cip_stride_times(j, across), down, w->axis[k - 1],
                  plus(at->to_off, cip_stride_times(j, w->axis[k].to)),
                  plus(at->pos, cip_stride_times(j, w->axis[k].pos)) };
        r.axis.n = (int64_t)rows;
        cast_repeated(w, a, r, w->nouter, stats);
    }
    at->e += rows * (uint64_t)w->axis[k].n;
    advance(at, k - 1, (int64_t)rows);
}

/* Whole rows that are only copied and lie in one piece on both sides, as far as the axis before
 * goes; false: it is none of these. */
static bool copy_rows(cip_walk_at *at, const cip_walk_cast_args *a)
{
    const cip_walk *w = at->w;
    int32_t k = w->nouter - 1;
    int64_t size = (int64_t)w->itemsize;
    if (k < 1 || w->ndim != w->nouter || at->idx[k] != 0 || !cip_cast_is_copy(a->cast) ||
        w->axis[k].to != size || source_stride(w, a->how, k) != size)
        return false;
    uint64_t n = (uint64_t)w->axis[k].n, rows = (a->e1 - at->e) / n;
    uint64_t there = (uint64_t)(w->axis[k - 1].n - at->idx[k - 1]);
    rows = rows < there ? rows : there;
    const uint8_t *src = source_at(a, at);
    uint8_t *dst = a->dst + at->to_off;
    int64_t down = source_stride(w, a->how, k - 1);
    for (uint64_t i = 0; i < rows; i++, src += down, dst += w->axis[k - 1].to)
        memcpy(dst, src, n * w->itemsize);
    at->e += rows * n;
    if (rows != 0)
        advance(at, k - 1, (int64_t)rows);
    return rows != 0;
}

static void cast_row(cip_walk_at *at, const cip_walk_cast_args *a, uint64_t n,
                     cip_cast_stats *stats)
{
    const cip_walk *w = at->w;
    run r = { .src = source_at(a, at), .axis = { .n = 1 }, .to_off = at->to_off, .pos = at->pos };
    if (w->nouter != 0) {
        r.src_stride = source_stride(w, a->how, w->nouter - 1);
        r.axis = w->axis[w->nouter - 1];
        r.axis.n = (int64_t)n;
    }
    cast_repeated(w, a, r, w->nouter, stats);
    cip_walk_skip(at, n);
}

/* The axis of which the elements are `*count` steps, with all that lies behind it; -2: they are no
 * box, -1: they are all. */
static int32_t box_axis(const cip_walk *w, uint64_t e0, uint64_t e1, uint64_t *count)
{
    uint64_t block = 1, n = e1 - e0;
    int32_t k = w->nouter - 1;
    while (k >= 0 && n / (uint64_t)w->axis[k].n >= block)
        block *= (uint64_t)w->axis[k--].n;
    *count = n / block;
    if (n % block != 0 || e0 % block != 0)
        return -2;
    return k < 0 || e0 / block % (uint64_t)w->axis[k].n + *count <= (uint64_t)w->axis[k].n ? k : -2;
}

/* A transpose has a way of its own; false (and nothing that counts done) where it is none, and
 * where values overflow, since their places are not told there. */
static bool cast_turned(const cip_walk *w, const cip_walk_cast_args *a)
{
    cip_nd from = { .itemsize = w->itemsize }, to = { .itemsize = w->to_size };
    cip_cast_stats found = { 0, 0 };
    cip_walk_at at;
    uint64_t count;
    if (a->how != CIP_SRC_PLACED || !cip_walk_turns(w))
        return false;
    int32_t first = box_axis(w, a->e0, a->e1, &count);
    if (first < -1)
        return false;
    for (int32_t k = first < 0 ? 0 : first; k < w->nouter; k++, from.ndim = ++to.ndim) {
        from.shape[to.ndim] = k == first ? (int64_t)count : w->axis[k].n;
        to.shape[to.ndim] = from.shape[to.ndim];
        from.stride[to.ndim] = w->axis[k].from;
        to.stride[to.ndim] = w->axis[k].to;
    }
    cip_walk_seek(w, a->e0, &at);
    cip_copy_nd(a->cast, &from, source_at(a, &at), &to, a->dst + at.to_off, &found);
    return found.noverflow == 0;
}

void cip_walk_cast(const cip_walk *w, const cip_walk_cast_args *a, cip_cast_stats *stats)
{
    cip_walk_at at;
    if (cast_turned(w, a))
        return;
    cip_walk_seek(w, a->e0, &at);
    while (at.e < a->e1) {
        uint64_t left = a->e1 - at.e;
        uint64_t rows = columns(&at, left);
        if (rows == 0 && copy_rows(&at, a))
            continue;
        if (rows != 0)
            cast_columns(&at, a, rows, stats);
        else
            cast_row(&at, a, left < cip_walk_row(&at) ? left : cip_walk_row(&at), stats);
    }
}
