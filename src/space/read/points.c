/* SPDX-License-Identifier: BSD-3-Clause
 * Scattered elements: sorted by where they lie, read a batch at a time, each put where its place in
 * the caller's list says. */
#include <stdlib.h>

#include "base/stop.h"
#include "space/read/reader.h"

typedef struct point {
    uint64_t off;
    size_t i; /* in the caller's list */
} point;

static int by_offset(const void *a, const void *b)
{
    const point *x = a, *y = b;
    if (x->off != y->off)
        return x->off < y->off ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* One pass of a radix sort: by the byte of the offsets at `shift`, equal ones in their order. */
static void sort_byte(const point *from, point *to, size_t n, int shift)
{
    size_t at[256] = { 0 }, start = 0;
    for (size_t k = 0; k < n; k++)
        at[from[k].off >> shift & 0xff]++;
    for (int b = 0; b < 256; b++) {
        const size_t count = at[b];
        at[b] = start;
        start += count;
    }
    for (size_t k = 0; k < n; k++)
        to[at[from[k].off >> shift & 0xff]++] = from[k];
}

/* By offset, then by place in the list, in which they are. Very many are sorted in passes, between
 * which the caller may stop; `highest` is the highest offset. */
static cip_status sort_points(cip_mem *mem, point **points, size_t n, uint64_t highest,
                              cip_err *err)
{
    enum { FEW = 1 << 12 };
    point *p = *points, *other = NULL;
    cip_status st = CIP_OK;
    if (n <= FEW || CIP_NEW(mem, &other, n, NULL) != CIP_OK) {
        qsort(p, n, sizeof *p, by_offset);
        return CIP_OK;
    }
    for (int shift = 0; st == CIP_OK && shift < 64 && highest >> shift != 0; shift += 8) {
        sort_byte(p, other, n, shift);
        point *sorted = other;
        other = p;
        p = sorted;
        st = cip_stop_ask(err);
    }
    *points = p;
    cip_mem_put(mem, other);
    return st;
}

typedef struct scatter {
    cip_rd rd;
    cip_space *s;
    const cip_cast *cast;
    uint8_t *dst;
    cip_want *want;
    uint8_t *buffer;
    cip_cast_stats stats;
} scatter;

/* Wants for points [0, n): those that share bytes share a want. Returns how many. */
static size_t list_wants(const scatter *c, const point *p, size_t n)
{
    size_t size = (size_t)c->cast->from->itemsize, nwant = 0;
    uint8_t *at = c->buffer;
    for (size_t k = 0; k < n; k++) {
        cip_want *last = nwant != 0 ? &c->want[nwant - 1] : NULL;
        if (last == NULL || p[k].off >= last->off + last->len) {
            c->want[nwant++] = (cip_want){ p[k].off, size, at };
            at += size;
        } else {
            size_t more = (size_t)(p[k].off + size - (last->off + last->len));
            last->len += more;
            at += more;
        }
    }
    return nwant;
}

static cip_status read_batch(scatter *c, const point *p, size_t n, cip_err *err)
{
    size_t to_size = (size_t)c->cast->to->itemsize, w = 0;
    CIP_TRY(cip_rd_spans(&c->rd, c->s, 0, c->want, list_wants(c, p, n), err));
    for (size_t k = 0; k < n; k++) {
        while (p[k].off >= c->want[w].off + c->want[w].len && p[k].off != c->want[w].off)
            w++;
        cip_cast_stats one = { 0, 0 };
        cip_cast_run(c->cast, 1, c->want[w].dst + (p[k].off - c->want[w].off), 0,
                     c->dst + p[k].i * to_size, 0, p[k].i, &one);
        if (one.noverflow != 0)
            cip_cast_merge(&c->stats, &one);
    }
    return CIP_OK;
}

static cip_status read_sorted(scatter *c, const point *p, size_t n, cip_err *err)
{
    uint64_t size = cip_max_u64(c->cast->from->itemsize, 1);
    size_t most =
        (size_t)cip_min_u64(cip_max_u64(c->rd.tune->buffer / size, 1), c->rd.tune->points);
    cip_mem *mem = &c->rd.env->mem;
    cip_status st;
    size_t bytes;
    if (most > n)
        most = n;
    if (cip_mul_overflow(most, size, &bytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "elements of %" PRIu64 " bytes", size);
    CIP_GO(cip_mem_get(mem, most * sizeof *c->want, (void **)&c->want, err));
    CIP_GO(cip_mem_get(mem, bytes, (void **)&c->buffer, err));
    for (size_t k = 0; k < n; k += most) {
        CIP_GO(cip_stop_ask(err));
        CIP_GO(read_batch(c, p + k, n - k < most ? n - k : most, err));
    }
    st = CIP_OK;
done:
    cip_mem_put(mem, c->want);
    cip_mem_put(mem, c->buffer);
    return st;
}

cip_status cip_space_gather_points(const cip_read_how *how, cip_space *s, const cip_points *at,
                                   const cip_cast *cast, cip_cast_stats *stats, cip_err *err)
{
    scatter c = { .rd = cip_rd_make(how), .s = s, .cast = cast, .dst = at->dst };
    const uint64_t *off = at->off;
    const size_t n = at->n;
    cip_mem *mem = &c.rd.env->mem;
    point *p = NULL;
    uint64_t highest = 0;
    cip_status st;
    if (n == 0)
        return CIP_OK;
    CIP_TRY(cip_space_resolve(s, &c.s, err));
    CIP_TRY(CIP_NEW(mem, &p, n, err));
    for (size_t k = 0; k < n; k++) {
        p[k] = (point){ off[k], k };
        highest = cip_max_u64(highest, off[k]);
        uint64_t end;
        if (cip_add_overflow(off[k], cast->from->itemsize, &end) || end > c.s->len)
            CIP_GO(cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected point %zu within %" PRIu64 " bytes, found it at %" PRIu64, k,
                            c.s->len, off[k]));
    }
    CIP_GO(sort_points(mem, &p, n, highest, err));
    CIP_GO(read_sorted(&c, p, n, err));
    if (stats != NULL)
        cip_cast_merge(stats, &c.stats);
done:
    cip_mem_put(mem, p);
    return s->label != NULL ? cip_fail_in(err, st, "%s", s->label) : st;
}
