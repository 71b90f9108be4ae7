/* SPDX-License-Identifier: BSD-3-Clause
 * ndcell and ndmean, forward: the items of a block of an n-d array taken cell by cell, so that
 * neighbours in all dimensions lie together. Cells at the far sides are smaller. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/filter/apply.h"
#include "codec/filter/filter.h"

enum { MAX_DIM = 8 };

typedef struct cells {
    size_t itemsize;
    bool big;
    int ndim;
    int64_t shape[MAX_DIM], side[MAX_DIM], stride[MAX_DIM]; /* of a block; of a cell; in items */
} cells;

static cip_status fail_shape(const char *name, size_t n, cip_err *err)
{
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "expected a block of 1 to %d dimensions and its shape for %s, found a "
                    "different shape for %zu bytes",
                    MAX_DIM, name, n);
}

static cip_status set_up(cells *c, const char *name, const cip_filter_env *env, size_t n,
                         cip_err *err)
{
    size_t len = (size_t)cip_filter_typesize(env);
    *c = (cells){ .itemsize = len, .big = env->big, .ndim = env->ndim };
    if (env->ndim < 1 || env->ndim > MAX_DIM || env->shape == NULL)
        return fail_shape(name, n, err);
    if (env->meta == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a cell's side for %s, found 0",
                        name);
    int64_t items = 1;
    for (int d = env->ndim; d-- > 0;) {
        c->shape[d] = env->shape[d];
        c->side[d] = env->shape[d] < env->meta ? env->shape[d] : env->meta;
        c->stride[d] = items;
        if (env->shape[d] < 1 || cip_mul_overflow(items, env->shape[d], &items) ||
            cip_mul_overflow(len, (uint64_t)env->shape[d], &len))
            return fail_shape(name, n, err);
    }
    return len == n ? CIP_OK : fail_shape(name, n, err);
}

/* The next place of a grid of so many, the last dimension fastest; false after the last. */
static bool step(int ndim, int64_t *at, const int64_t *count)
{
    for (int d = ndim; d-- > 0;) {
        if (++at[d] < count[d])
            return true;
        at[d] = 0;
    }
    return false;
}

/* Copies the cell that begins at `origin`, row by row; returns where it ends in dst. */
static uint8_t *take_cell(const cells *c, const int64_t *origin, const uint8_t *src, uint8_t *dst)
{
    int64_t at[MAX_DIM] = { 0 }, count[MAX_DIM];
    int last = c->ndim - 1;
    for (int d = 0; d < c->ndim; d++)
        count[d] = c->shape[d] - origin[d] < c->side[d] ? c->shape[d] - origin[d] : c->side[d];
    size_t row = (size_t)count[last] * c->itemsize;
    do {
        int64_t item = origin[last];
        for (int d = 0; d < last; d++)
            item += (origin[d] + at[d]) * c->stride[d];
        memcpy(dst, src + (size_t)item * c->itemsize, row);
        dst += row;
    } while (step(last, at, count));
    return dst;
}

typedef void cell_fn(uint8_t *cell, size_t n, size_t itemsize, bool big);

/* All cells in order, each handed to `then` (NULL: none). */
static void take_cells(const cells *c, const uint8_t *src, uint8_t *dst, cell_fn *then)
{
    int64_t at[MAX_DIM] = { 0 }, count[MAX_DIM], origin[MAX_DIM];
    for (int d = 0; d < c->ndim; d++)
        count[d] = (int64_t)cip_div_up((uint64_t)c->shape[d], (uint64_t)c->side[d]);
    do {
        for (int d = 0; d < c->ndim; d++)
            origin[d] = at[d] * c->side[d];
        uint8_t *end = take_cell(c, origin, src, dst);
        if (then != NULL)
            then(dst, (size_t)(end - dst), c->itemsize, c->big);
        dst = end;
    } while (step(c->ndim, at, count));
}

cip_status cip_ndcell_apply(const cip_filter_env *env, const uint8_t *src, uint8_t *dst, size_t n,
                            cip_err *err)
{
    cells c;
    CIP_TRY(set_up(&c, "ndcell", env, n, err));
    /* libblosc2 decodes no block of fewer bytes than a whole cell, though it can have cells cut
     * off. */
    uint64_t cell = c.itemsize;
    bool fits = true;
    for (int d = 0; d < env->ndim && fits; d++)
        fits = !cip_mul_overflow(cell, (uint64_t)env->meta, &cell) && cell <= n;
    if (!fits)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a block of at least a cell for ndcell, found %zu bytes and a "
                        "cell with a side of %d",
                        n, env->meta);
    take_cells(&c, src, dst, NULL);
    return CIP_OK;
}

static void mean(uint8_t *cell, size_t n, size_t size, bool big)
{
    double sum = 0;
    for (size_t i = 0; i < n; i += size)
        sum += cip_load_float(cell + i, size, big);
    for (size_t i = 0; i < n; i += size)
        cip_store_float(cell + i, sum / (double)(n / size), size, big);
}

/* libblosc2 places cells by the first dimension's side, which is only right if all are the same. */
cip_status cip_ndmean_apply(const cip_filter_env *env, const uint8_t *src, uint8_t *dst, size_t n,
                            cip_err *err)
{
    cells c;
    CIP_TRY(set_up(&c, "ndmean", env, n, err));
    if (c.itemsize != sizeof(float) && c.itemsize != sizeof(double))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a typesize of 4 or 8 for ndmean, found %zu", c.itemsize);
    for (int d = 1; d < c.ndim; d++)
        if (c.side[d] != c.side[0])
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected cells that fit into the block in all dimensions for ndmean");
    take_cells(&c, src, dst, mean);
    return CIP_OK;
}
