/* SPDX-License-Identifier: BSD-3-Clause
 * Records that change, as changes of the columns that their fields lie in. What lies in one column
 * goes there as it comes; other records are held a few at a time, and each column gets its part of
 * them. */
#include <string.h>

#include "base/num.h"
#include "space/read/reader.h"
#include "space/change/scatter.h"

enum { TILE = 4 << 20 }; /* bytes of records held at once */

/* Elements in memory where a view has them, in C order. */
typedef struct viewed {
    const uint8_t *base;
    cip_nd v;
    int64_t at[CIP_MAX_NDIM];
} viewed;

typedef struct scattering {
    const cip_space *s;
    const cip_records_to *to;
    uint8_t *buf;
} scattering;

static cip_status next_viewed(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    viewed *h = self;
    const cip_nd *v = &h->v;
    (void)err;
    for (; nelem != 0; nelem--, dst += v->itemsize) {
        int64_t off = (int64_t)v->off;
        for (int32_t k = 0; k < v->ndim; k++)
            off += h->at[k] * v->stride[k];
        memcpy(dst, h->base + off, (size_t)v->itemsize);
        for (int32_t k = v->ndim; k-- > 0 && ++h->at[k] == v->shape[k];)
            h->at[k] = 0;
    }
    return CIP_OK;
}

/* Each part of each column that the elements have something of. */
static cip_status put_parts(const scattering *s, const cip_nd *at, const cip_nd *from, cip_err *err)
{
    const uint64_t lo = at->off % s->s->records.itemsize, hi = lo + at->itemsize;
    for (size_t i = 0; i < s->s->records.n; i++)
        for (size_t k = 0; k < s->s->records.column[i].npart; k++) {
            const cip_record_part *p = &s->s->records.column[i].part[k];
            uint64_t first = cip_max_u64(lo, p->off), end = cip_min_u64(hi, p->off + p->len);
            cip_nd a = *at, b = *from;
            if (first >= end)
                continue;
            a.off += first - lo;
            b.off += first - lo;
            a.itemsize = b.itemsize = end - first;
            /* Elements at `at`, each within one part of a record, which are at `from` in the
             * buffer. */
            viewed h = { .base = s->buf, .v = b };
            const cip_feed feed = { .next = next_viewed, .self = &h };
            cip_nd in;
            size_t column = cip_records_column(s->s, &a, &in);
            if (column == s->s->records.n)
                return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                                "expected a part of a record inside one column");
            CIP_TRY(s->to->write(s->to->user, column, &in, &feed, err));
        }
    return CIP_OK;
}

static void drop_axis(cip_nd *v, int32_t k)
{
    v->ndim--;
    memmove(v->shape + k, v->shape + k + 1, (size_t)(v->ndim - k) * sizeof *v->shape);
    memmove(v->stride + k, v->stride + k + 1, (size_t)(v->ndim - k) * sizeof *v->stride);
}

/* Axes within a record one index after the other, so that each element is at one place of it. */
static cip_status put_box(const scattering *s, const cip_nd *at, const cip_nd *from, cip_err *err)
{
    const int64_t each = (int64_t)s->s->records.itemsize;
    int32_t k = 0;
    while (k < at->ndim && (at->shape[k] == 1 || at->stride[k] % each == 0))
        k++;
    if (k == at->ndim)
        return put_parts(s, at, from, err);
    for (int64_t i = 0; i < at->shape[k]; i++) {
        cip_nd a = *at, b = *from;
        a.off += (uint64_t)(i * at->stride[k]);
        b.off += (uint64_t)(i * from->stride[k]);
        drop_axis(&a, k);
        drop_axis(&b, k);
        CIP_TRY(put_box(s, &a, &b, err)); /* at most CIP_MAX_NDIM deep */
    }
    return CIP_OK;
}

/* The slowest axis is halved until the elements can be held: so they come in the feed's order. */
static cip_status put_halves(scattering *s, const cip_nd *at, const cip_feed *feed, cip_err *err)
{
    uint64_t nelem;
    cip_nd from, half = *at;
    int32_t k = 0;
    cip_shape_nelem(at->ndim, at->shape, &nelem); /* they lie in a space */
    if (nelem * at->itemsize <= TILE || nelem == 1) {
        CIP_TRY(feed->next(feed->self, nelem, s->buf, err));
        CIP_TRY(cip_view_c_order(at->ndim, at->shape, at->itemsize, &from, err));
        return put_box(s, at, &from, err);
    }
    while (at->shape[k] == 1)
        k++;
    half.shape[k] = at->shape[k] / 2;
    CIP_TRY(put_halves(s, &half, feed, err)); /* halving: at most 63 deep for each axis */
    half.off += (uint64_t)(half.shape[k] * at->stride[k]);
    half.shape[k] = at->shape[k] - half.shape[k];
    return put_halves(s, &half, feed, err);
}

cip_status cip_records_scatter(cip_env *env, const cip_space *s, const cip_nd *at,
                               const cip_feed *feed, const cip_records_to *to, cip_err *err)
{
    scattering w = { .s = s, .to = to };
    uint64_t nelem, nbytes;
    size_t n;
    cip_nd in;
    if (!cip_shape_nelem(at->ndim, at->shape, &nelem) ||
        cip_mul_overflow(nelem, at->itemsize, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "over 2^64 bytes");
    if (nbytes == 0)
        return CIP_OK;
    size_t column = cip_records_column(s, at, &in);
    if (column < s->records.n)
        return to->write(to->user, column, &in, feed, err);
    if (!cip_to_size(cip_min_u64(nbytes, cip_max_u64(TILE, at->itemsize)), &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "records of %" PRIu64 " bytes",
                        at->itemsize);
    CIP_TRY(cip_mem_get(&env->mem, n, (void **)&w.buf, err));
    cip_status st = put_halves(&w, at, feed, err);
    cip_mem_put(&env->mem, w.buf);
    return st;
}
