/* SPDX-License-Identifier: BSD-3-Clause
 * Copying n-d views: the axes are put in the order of the source and its fastest one runs through
 * the cast. Where another axis is the fastest of the target (a transpose), those two are walked in
 * tiles that are turned in the first cache. */
#include "array/cast_kernels.h"

#include "base/num.h"

/* Elements on a side of a tile, and bytes of the largest one. */
enum { SMALL_SIDE = 64, WIDE_SIDE = 32, TILE_BYTES = SMALL_SIDE * SMALL_SIDE * 4 };
/* Bytes of a line of the cache, and elements below which a call costs more than its work. */
enum { LINE = 64, SHORT_ROW = 16 };

/* A copy at work: views whose offsets move along, and what it met. An offset counts from a base
 * that may lie in the midst of a view (modulo 2^64: before it), so it is added as a signed number.
 */
typedef struct copier {
    const cip_cast *c;
    cip_copy_plan p;
    const uint8_t *src;
    uint8_t *dst;
    cip_cast_stats stats;
} copier;

/* An n x m tile: n rows of m elements along the source's fastest axis, converted into columns of
 * `tile`, whose rows are then written along the target's fastest axis. */
static void copy_tile(copier *w, const uint8_t *src, uint8_t *dst, size_t n, size_t m)
{
    uint8_t tile[TILE_BYTES];
    size_t size = (size_t)w->p.b.itemsize;
    for (size_t i = 0; i < n; i++) {
        cip_run r = { m, src, w->p.a.stride[w->p.row], tile + i * size, (int64_t)(n * size) };
        cip_cast_any(w->c, &r, 0, &w->stats);
        src += w->p.a.stride[w->p.column];
    }
    for (size_t j = 0; j < m; j++) {
        cip_run r = { n, tile + j * n * size, (int64_t)size, dst, w->p.b.stride[w->p.column] };
        cip_move(&r, size, 0);
        dst += w->p.b.stride[w->p.row];
    }
}

/* All elements along the two fastest axes. */
static void copy_plane(copier *w, const uint8_t *src, uint8_t *dst)
{
    const cip_copy_plan *p = &w->p;
    uint64_t rows = (uint64_t)p->a.shape[p->column], columns = (uint64_t)p->a.shape[p->row];
    size_t n, m;
    for (uint64_t i = 0; i < rows; i += n) {
        const uint8_t *s = src + (int64_t)i * p->a.stride[p->column];
        uint8_t *d = dst + (int64_t)i * p->b.stride[p->column];
        n = (size_t)cip_min_u64(rows - i, p->side);
        for (uint64_t j = 0; j < columns; j += m) {
            m = (size_t)cip_min_u64(columns - j, p->side);
            copy_tile(w, s, d, n, m);
            s += (int64_t)m * p->a.stride[p->row];
            d += (int64_t)m * p->b.stride[p->row];
        }
    }
}

/* Whether both views step along the axis within a line of the cache. */
static bool is_dense(const cip_copy_plan *p, int32_t k)
{
    return cip_magnitude(p->a.stride[k]) <= LINE && cip_magnitude(p->b.stride[k]) <= LINE;
}

/* The source's fastest axis, or a longer dense one where that is too short to be worth a call. */
static int32_t find_row(const cip_copy_plan *p)
{
    int32_t best = p->a.ndim - 1;
    if (p->a.shape[best] >= SHORT_ROW)
        return best;
    for (int32_t k = p->a.ndim - 2; k >= 0; k--)
        if (is_dense(p, k) && p->a.shape[k] > p->a.shape[best])
            best = k;
    return best;
}

/* A single element is a row, too. */
static void plan_rows(const cip_nd *src, const cip_nd *dst, cip_copy_plan *p)
{
    *p = (cip_copy_plan){ .a = *src, .b = *dst, .row = src->ndim - 1, .column = -1 };
    if (src->ndim == 0) {
        p->a.ndim = 1;
        p->a.shape[0] = 1;
        p->a.stride[0] = p->b.stride[0] = 0;
        p->row = 0;
    }
}

void cip_copy_plan_make(const cip_cast *c, const cip_nd *src, const cip_nd *dst, cip_copy_plan *out)
{
    cip_nd a = *src, b = *dst;
    cip_view_align(&a, &b);
    plan_rows(&a, &b, out);
    out->row = find_row(out);
    /* Tiles are for small elements far apart, and not for records: what lies between their fields
     * stays as it is. */
    if (b.itemsize <= 16 && c->how != CIP_CAST_RECORD && !is_dense(out, out->row))
        for (int32_t k = 0, best = out->row; k < out->b.ndim; k++)
            if (cip_magnitude(out->b.stride[k]) < cip_magnitude(out->b.stride[best]))
                out->column = best = k; /* faster than the row in the target */
    out->side = b.itemsize <= 4 ? SMALL_SIDE : WIDE_SIDE;
}

/* Moves on to the next element of the axes that are not copied at once; false at the end. */
static bool step(copier *w, int64_t *index)
{
    for (int32_t k = w->p.a.ndim - 1; k >= 0; k--) {
        if (k == w->p.row || k == w->p.column)
            continue;
        w->p.a.off += (uint64_t)w->p.a.stride[k];
        w->p.b.off += (uint64_t)w->p.b.stride[k];
        if (++index[k] < w->p.a.shape[k])
            return true;
        w->p.a.off -= (uint64_t)w->p.a.stride[k] * (uint64_t)index[k];
        w->p.b.off -= (uint64_t)w->p.b.stride[k] * (uint64_t)index[k];
        index[k] = 0;
    }
    return false;
}

/* Row by row, counting elements as they pass; `look`: only as far as the first that overflows. */
static void copy_rows(copier *w, bool look)
{
    int64_t index[CIP_MAX_NDIM] = { 0 };
    uint64_t base = 0;
    do {
        cip_run r = { (size_t)w->p.a.shape[w->p.row], w->src + (int64_t)w->p.a.off,
                      w->p.a.stride[w->p.row], w->dst + (int64_t)w->p.b.off,
                      w->p.b.stride[w->p.row] };
        cip_cast_any(w->c, &r, base, &w->stats);
        base += r.n;
    } while (!(look && w->stats.noverflow > 0) && step(w, index));
}

void cip_copy_nd(const cip_cast *c, const cip_nd *src, const uint8_t *src_base, const cip_nd *dst,
                 uint8_t *dst_base, cip_cast_stats *stats)
{
    copier w = { .c = c, .src = src_base, .dst = dst_base };
    for (int32_t k = 0; k < src->ndim; k++)
        if (src->shape[k] == 0)
            return;
    cip_copy_plan_make(c, src, dst, &w.p);
    if (w.p.column >= 0) {
        int64_t index[CIP_MAX_NDIM] = { 0 };
        do
            copy_plane(&w, w.src + (int64_t)w.p.a.off, w.dst + (int64_t)w.p.b.off);
        while (step(&w, index));
    } else {
        copy_rows(&w, false);
    }
    if (w.stats.noverflow == 0)
        return;
    /* Which is the first, in C order? Once more, in that order, as far as there. */
    copier again = { .c = c, .src = src_base, .dst = dst_base };
    plan_rows(src, dst, &again.p);
    copy_rows(&again, true);
    cip_cast_count(stats, w.stats.noverflow, again.stats.first);
}
