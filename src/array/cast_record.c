/* SPDX-License-Identifier: BSD-3-Clause
 * Records to records, field by field in order; what lies between the fields of the target is left
 * as it is. Records are taken in blocks that stay in the first cache while their fields pass. */
#include "array/cast_kernels.h"

#include "array/view.h"
#include "base/num.h"

enum { BLOCK_BYTES = 16384 };

/* One field of r->n records: its elements k along the records, or those of one record after the
 * other, whichever is longer. */
static void cast_field(const cip_cast *c, size_t i, const cip_run *r, uint64_t base,
                       cip_cast_stats *stats)
{
    const cip_field *f = &c->from->field[i], *g = &c->to->field[i];
    cip_cast one = cip_cast_of_field(f->dtype, g->dtype, c->policy);
    int64_t from = (int64_t)f->dtype->itemsize, to = (int64_t)g->dtype->itemsize;
    uint64_t nelem = 0;
    cip_shape_nelem(f->ndim, f->shape, &nelem);
    if (from == 0 && to == 0)
        return; /* there may be more of nothing than one can count */
    cip_run at = *r;
    at.src += f->offset;
    at.dst += g->offset;
    if (nelem <= r->n) {
        for (uint64_t k = 0; k < nelem; k++) {
            cip_cast_any(&one, &at, base, stats);
            at.src += from;
            at.dst += to;
        }
        return;
    }
    for (size_t k = 0; k < r->n; k++) {
        cip_cast_stats met = { 0 };
        cip_run inner = { (size_t)nelem, at.src, from, at.dst, to };
        cip_cast_any(&one, &inner, 0, &met);
        cip_cast_count(stats, met.noverflow, base + k);
        at.src += r->src_stride;
        at.dst += r->dst_stride;
    }
}

void cip_cast_records(const cip_cast *c, const cip_run *r, uint64_t base, cip_cast_stats *stats)
{
    uint64_t nbytes = cip_max_u64(cip_max_u64(c->from->itemsize, c->to->itemsize), 1);
    uint64_t most = cip_max_u64(BLOCK_BYTES / nbytes, 1);
    cip_run block = *r;
    for (size_t done = 0; done < r->n; done += block.n) {
        block.n = (size_t)cip_min_u64(r->n - done, most);
        for (size_t i = 0; i < c->from->nfield; i++)
            cast_field(c, i, &block, base + done, stats);
        block.src += (int64_t)block.n * r->src_stride;
        block.dst += (int64_t)block.n * r->dst_stride;
    }
}
