/* SPDX-License-Identifier: BSD-3-Clause
 * ndcell and ndmean undone: a block that was stored cell by cell, in C order of the cells and
 * within each, back to C order of its elements. */
#include "codec/filter/filter.h"

#include <string.h>

#include "base/num.h"

enum { DIMS = 8 };

/* The cells of a block. */
typedef struct cells {
    int32_t ndim;
    size_t item;        /* bytes of an element */
    size_t shape[DIMS]; /* of the block */
    size_t side[DIMS];  /* of a cell */
    size_t step[DIMS];  /* from a cell's corner to the next one's, as the writer counted */
    size_t at[DIMS];    /* the cell that is next */
} cells;

/* One cell: rows along the last dimension, which lie together in src. Returns what is behind it. */
static const uint8_t *put_cell(const cells *c, const uint8_t *src, uint8_t *dst)
{
    size_t row[DIMS] = { 0 }, len[DIMS], nrow = 1;
    int last = c->ndim - 1;
    for (int k = 0; k <= last; k++) {
        size_t left = c->shape[k] - c->at[k] * c->side[k];
        len[k] = left < c->side[k] ? left : c->side[k];
        nrow *= k < last ? len[k] : 1;
    }
    for (size_t r = 0; r < nrow; r++) {
        size_t to = 0;
        for (int k = 0; k <= last; k++)
            to = to * c->shape[k] + c->at[k] * c->step[k] + row[k];
        memcpy(dst + to * c->item, src, len[last] * c->item);
        src += len[last] * c->item;
        for (int k = last - 1; k >= 0 && ++row[k] == len[k]; k--)
            row[k] = 0;
    }
    return src;
}

cip_status cip_ndcell_undo(const cip_filter_env *env, bool mean, const uint8_t *src, uint8_t *dst,
                           size_t n, cip_err *err)
{
    cells c = { .ndim = env->ndim, .item = (size_t)cip_filter_typesize(env) };
    uint64_t total = cip_filter_typesize(env);
    bool far = false;
    if (env->ndim < 1 || env->ndim > DIMS || env->shape == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a block's shape of 1 to 8 dimensions for its cells, found %d",
                        (int)env->ndim);
    for (int k = 0; k < env->ndim; k++)
        far = far || env->shape[k] <= 0 || cip_mul_overflow(total, env->shape[k], &total);
    if (far || total != n)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a block whose size matches its shape, found %zu bytes", n);
    if (env->meta == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected cells of side 1 or more, found 0");
    for (int k = 0; k < c.ndim; k++) {
        c.shape[k] = (size_t)env->shape[k];
        c.side[k] = mean && c.shape[k] < env->meta ? c.shape[k] : env->meta;
        /* ndmean takes the first dimension's side for all corners; where that is less than their
         * own, cells lie one upon the other and the rest of the block is never set */
        c.step[k] = mean ? c.side[0] : c.side[k];
        c.step[k] = c.step[k] < c.side[k] ? c.step[k] : c.side[k];
    }
    if (mean)
        memset(dst, 0, n);
    for (bool more = true; more;) {
        src = put_cell(&c, src, dst);
        more = false; /* the next cell, if there is one */
        for (int k = c.ndim - 1; k >= 0 && !more; k--) {
            more = ++c.at[k] * c.side[k] < c.shape[k];
            if (!more)
                c.at[k] = 0;
        }
    }
    return CIP_OK;
}
