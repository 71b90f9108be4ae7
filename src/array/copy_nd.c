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

/* A copy at work: aligned views, whose offsets move along, and what it met. */
typedef struct copier {
    const cip_cast *c;
    cip_nd a, b;
    const uint8_t *src;
    uint8_t *dst;
    int32_t row, column; /* the fastest axis of the source; of the target, where it is another */
    cip_cast_stats stats;
} copier;

static uint64_t magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* An n x m tile: n rows of m elements along the source's fastest axis, converted into columns of
 * `tile`, whose rows are then written along the target's fastest axis. */
static void copy_tile(copier *w, const uint8_t *src, uint8_t *dst, size_t n, size_t m)
{
    uint8_t tile[TILE_BYTES];
    size_t size = (size_t)w->b.itemsize;
    for (size_t i = 0; i < n; i++) {
        cip_run r = { m, src, w->a.stride[w->row], tile + i * size, (int64_t)(n * size) };
        cip_cast_any(w->c, &r, 0, &w->stats);
        src += w->a.stride[w->column];
    }
    for (size_t j = 0; j < m; j++) {
        cip_run r = { n, tile + j * n * size, (int64_t)size, dst, w->b.stride[w->column] };
        cip_move(&r, size, 0);
        dst += w->b.stride[w->row];
    }
}

/* All elements along the two fastest axes. */
static void copy_plane(copier *w, const uint8_t *src, uint8_t *dst)
{
    const int64_t side = w->b.itemsize <= 4 ? SMALL_SIDE : WIDE_SIDE;
    const int64_t *as = w->a.stride, *bs = w->b.stride;
    int64_t rows = w->a.shape[w->column], columns = w->a.shape[w->row];
    for (int64_t i = 0; i < rows; i += side) {
        for (int64_t j = 0; j < columns; j += side) {
            size_t n = (size_t)(rows - i < side ? rows - i : side);
            size_t m = (size_t)(columns - j < side ? columns - j : side);
            copy_tile(w, src + i * as[w->column] + j * as[w->row],
                      dst + i * bs[w->column] + j * bs[w->row], n, m);
        }
    }
}

/* Whether both views step along the axis within a line of the cache. */
static bool is_dense(const copier *w, int32_t k)
{
    return magnitude(w->a.stride[k]) <= LINE && magnitude(w->b.stride[k]) <= LINE;
}

/* Which axis goes through the cast at once: the source's fastest, or a longer dense one where that
 * is too short to be worth a call. */
static int32_t find_row(const copier *w)
{
    int32_t best = w->a.ndim - 1;
    if (w->a.shape[best] >= SHORT_ROW)
        return best;
    for (int32_t k = w->a.ndim - 2; k >= 0; k--)
        if (is_dense(w, k) && w->a.shape[k] > w->a.shape[best])
            best = k;
    return best;
}

/* The axis that is faster than the row in the target, or -1. Tiles are for small elements, and not
 * for records: what lies between their fields stays as it is. */
static int32_t find_column(const copier *w)
{
    int32_t best = w->row;
    if (w->b.itemsize > 16 || w->c->how == CIP_CAST_RECORD || is_dense(w, w->row))
        return -1;
    for (int32_t k = 0; k < w->a.ndim; k++)
        if (magnitude(w->b.stride[k]) < magnitude(w->b.stride[best]))
            best = k;
    return best == w->row ? -1 : best;
}

/* Moves on to the next element of the axes that are not copied at once; false at the end. */
static bool step(copier *w, int64_t *index)
{
    for (int32_t k = w->a.ndim - 1; k >= 0; k--) {
        if (k == w->row || k == w->column)
            continue;
        w->a.off += (uint64_t)w->a.stride[k];
        w->b.off += (uint64_t)w->b.stride[k];
        if (++index[k] < w->a.shape[k])
            return true;
        w->a.off -= (uint64_t)w->a.stride[k] * (uint64_t)index[k];
        w->b.off -= (uint64_t)w->b.stride[k] * (uint64_t)index[k];
        index[k] = 0;
    }
    return false;
}

static void copy_planes(copier *w)
{
    int64_t index[CIP_MAX_NDIM] = { 0 };
    do
        copy_plane(w, w->src + w->a.off, w->dst + w->b.off);
    while (step(w, index));
}

/* Row by row, counting elements as they pass; `look`: only as far as the first that overflows. */
static void copy_rows(copier *w, bool look)
{
    int64_t index[CIP_MAX_NDIM] = { 0 };
    uint64_t base = 0;
    do {
        cip_run r = { (size_t)w->a.shape[w->row], w->src + w->a.off, w->a.stride[w->row],
                      w->dst + w->b.off, w->b.stride[w->row] };
        cip_cast_any(w->c, &r, base, &w->stats);
        base += r.n;
    } while (!(look && w->stats.noverflow > 0) && step(w, index));
}

/* A single element is a row, too. */
static void set_row(copier *w)
{
    if (w->a.ndim == 0) {
        w->a.ndim = 1;
        w->a.shape[0] = 1;
        w->a.stride[0] = w->b.stride[0] = 0;
    }
    w->row = w->a.ndim - 1;
    w->column = -1;
}

void cip_copy_nd(const cip_cast *c, const cip_nd *src, const uint8_t *src_base, const cip_nd *dst,
                 uint8_t *dst_base, cip_cast_stats *stats)
{
    copier w = { .c = c, .a = *src, .b = *dst, .src = src_base, .dst = dst_base };
    for (int32_t k = 0; k < src->ndim; k++)
        if (src->shape[k] == 0)
            return;
    cip_view_align(&w.a, &w.b);
    set_row(&w);
    w.row = find_row(&w);
    w.column = find_column(&w);
    if (w.column >= 0)
        copy_planes(&w);
    else
        copy_rows(&w, false);
    if (w.stats.noverflow == 0)
        return;
    /* Which is the first, in C order? Once more, in that order, as far as there. */
    copier again = { .c = c, .a = *src, .b = *dst, .src = src_base, .dst = dst_base };
    set_row(&again);
    copy_rows(&again, true);
    cip_cast_count(stats, w.stats.noverflow, again.stats.first);
}
