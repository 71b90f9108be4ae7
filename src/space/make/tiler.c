/* SPDX-License-Identifier: BSD-3-Clause
 * A row of tiles along the first axis is a run of the array's bytes. It is collected, then taken
 * apart: a part of it that lies in memory is cut into tiles. Without a temporary file the part is
 * the whole row; otherwise it is cut along as many axes as make it fit, and is as many tiles long
 * along the last of them as fit. A row that the caller has in one piece is cut where it lies, or
 * lent. */
#include "space/make/tiler.h"

#include <string.h>

#include "base/num.h"
#include "cippus/dtype.h"
#include "io/temporary.h"
#include "space/make/box_runs.h"

/* Tiles of a part: one along the axes before `axis`, `span` along it, all along those behind. */
typedef struct cut {
    int32_t axis;
    int64_t span;
} cut;

static const cut row_cut = { 0, 1 };

struct cip_tiler {
    cip_env *env;
    cip_tile_fn *fn;
    cip_tile_lent_fn *lend; /* or NULL */
    void *user;
    int32_t ndim;
    int64_t shape[CIP_MAX_NDIM], tile[CIP_MAX_NDIM], grid[CIP_MAX_NDIM];
    uint64_t itemsize, tile_nbytes;
    uint64_t below[CIP_MAX_NDIM + 1]; /* bytes of the array below one step of an axis */
    cut cut;                          /* row_cut: without a temporary file */
    uint64_t nrow, row;               /* rows of tiles; the one that is collected */
    uint64_t have, want;              /* bytes of it */
    uint8_t *part, *own, *to;         /* to: where the next tile goes; own: where nobody said so */
    cip_io *temporary;                /* or NULL: a row is a part */
    size_t part_len;
    uint64_t index;
};

/* --- sizes ------------------------------------------------------------------------------------ */

cip_status cip_tiling_nbytes(const cip_tiling *t, uint64_t *nbytes, cip_err *err)
{
    uint64_t n = t->itemsize;
    bool over = false, empty = false;
    bool good = t->ndim >= 0 && t->ndim <= CIP_MAX_NDIM && t->itemsize != 0;
    for (int32_t i = 0; good && i < t->ndim; i++)
        good = t->shape[i] >= 0 && t->tile[i] > 0;
    if (!good)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected tiles of at least one element along up to %d axes", CIP_MAX_NDIM);
    for (int32_t i = 0; i < t->ndim; i++)
        empty = empty || t->shape[i] == 0;
    for (int32_t i = 0; i < t->ndim && !empty; i++)
        over = over ||
               cip_mul_overflow(n, cip_div_up((uint64_t)t->shape[i], (uint64_t)t->tile[i]), &n) ||
               cip_mul_overflow(n, t->tile[i], &n);
    if (over || n > INT64_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "tiles of over 2^63 bytes");
    *nbytes = empty ? 0 : n;
    return CIP_OK;
}

static int64_t clipped(const cip_tiler *t, int32_t axis, int64_t at)
{
    int64_t left = t->shape[axis] - at * t->tile[axis];
    return left < t->tile[axis] ? left : t->tile[axis];
}

/* Steps along an axis of the part that begins with tile `at`. */
static int64_t part_steps(const cip_tiler *t, cut c, int32_t axis, int64_t at)
{
    if (axis > c.axis || (axis == c.axis && c.span >= t->grid[axis] - at))
        return t->shape[axis] - (axis == c.axis ? at * t->tile[axis] : 0);
    return axis == c.axis ? c.span * t->tile[axis] : clipped(t, axis, at);
}

/* Bytes of the largest part. */
static uint64_t part_nbytes(const cip_tiler *t)
{
    uint64_t n = t->itemsize;
    for (int32_t i = 0; i < t->ndim; i++)
        n *= (uint64_t)part_steps(t, t->cut, i, 0);
    return n;
}

static void start_row(cip_tiler *t)
{
    t->have = 0;
    t->want = t->ndim == 0 ? t->itemsize : (uint64_t)clipped(t, 0, (int64_t)t->row) * t->below[1];
}

/* Sizes; the products are of what cip_tiling_nbytes found to be fine. */
static void measure(cip_tiler *t, const cip_tiling *how, uint64_t memory)
{
    t->ndim = how->ndim;
    t->itemsize = t->tile_nbytes = how->itemsize;
    t->nrow = 1;
    for (int32_t i = 0; i < t->ndim; i++) {
        t->shape[i] = how->shape[i];
        t->tile[i] = how->tile[i];
        t->grid[i] = (int64_t)cip_div_up((uint64_t)t->shape[i], (uint64_t)t->tile[i]);
        t->tile_nbytes *= (uint64_t)t->tile[i];
    }
    t->below[t->ndim] = t->itemsize;
    for (int32_t i = t->ndim; i > 0; i--)
        t->below[i - 1] = t->below[i] * (uint64_t)t->shape[i - 1];
    if (t->ndim != 0)
        t->nrow = (uint64_t)t->grid[0];
    for (t->cut = row_cut; t->cut.axis + 1 < t->ndim && part_nbytes(t) > memory;)
        t->cut.axis++;
    if (t->cut.axis > 0)
        t->cut.span = (int64_t)cip_max_u64(memory / part_nbytes(t), 1);
}

cip_status cip_tiler_new(cip_env *env, const cip_tiling *how, uint64_t memory, cip_tile_fn *fn,
                         void *user, cip_tiler **out, cip_err *err)
{
    cip_status st;
    uint64_t all;
    size_t tile;
    cip_tiler *t = NULL;
    *out = NULL;
    CIP_TRY(cip_tiling_nbytes(how, &all, err));
    CIP_TRY(CIP_NEW(&env->mem, &t, 1, err));
    t->env = env;
    t->fn = fn;
    t->user = user;
    if (all == 0) {
        *out = t;
        return CIP_OK;
    }
    measure(t, how, memory != 0 ? memory : CIP_TILER_MEMORY);
    if (!cip_to_size(part_nbytes(t), &t->part_len) || !cip_to_size(t->tile_nbytes, &tile))
        CIP_GO(cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "tiles of %" PRIu64 " bytes",
                        t->tile_nbytes));
    start_row(t);
    *out = t;
    t = NULL;
    st = CIP_OK;
done:
    cip_tiler_free(t);
    return st;
}

/* --- a part ----------------------------------------------------------------------------------- */

typedef struct part {
    const uint8_t *at;
    cut cut;
    int64_t first;                /* tile along the axis of the cut */
    int64_t stride[CIP_MAX_NDIM]; /* bytes */
    bool lent;
} part;

void cip_tiler_to(cip_tiler *t, uint8_t *to)
{
    t->to = to;
}

void cip_tiler_lend(cip_tiler *t, cip_tile_lent_fn *fn)
{
    t->lend = fn;
}

/* Where the tile at `at` begins in the part. */
static const uint8_t *tile_in(const cip_tiler *t, const part *p, const int64_t *at)
{
    int64_t from = 0;
    for (int32_t i = p->cut.axis; i < t->ndim; i++)
        from += (at[i] - (i == p->cut.axis ? p->first : 0)) * t->tile[i] * p->stride[i];
    return p->at + from;
}

/* Cuts the tile at `at` out of the part. */
static cip_status cut_tile(cip_tiler *t, const part *p, const int64_t *at, cip_err *err)
{
    int64_t valid[CIP_MAX_NDIM], in[CIP_MAX_NDIM] = { 0 };
    const int32_t last = t->ndim - 1;
    bool whole = true;
    for (int32_t i = 0; i < t->ndim; i++) {
        valid[i] = clipped(t, i, at[i]);
        whole = whole && valid[i] == t->tile[i];
    }
    const uint8_t *from = tile_in(t, p, at);
    if (p->lent)
        return t->lend(t->user, t->index++, from, p->stride, valid, err);
    if (t->to == NULL && t->own == NULL)
        CIP_TRY(cip_mem_get(&t->env->mem, (size_t)t->tile_nbytes, (void **)&t->own, err));
    uint8_t *out = t->to != NULL ? t->to : t->own;
    if (!whole)
        memset(out, 0, (size_t)t->tile_nbytes);
    size_t run = (size_t)(t->itemsize * (uint64_t)(t->ndim != 0 ? valid[last] : 1));
    do {
        int64_t off = 0;
        uint64_t to = 0;
        for (int32_t i = 0; i < t->ndim; i++) {
            off += in[i] * p->stride[i];
            to = to * (uint64_t)t->tile[i] + (uint64_t)in[i];
        }
        memcpy(out + to * t->itemsize, from + off, run);
    } while (cip_box_next(last, NULL, valid, in));
    return t->fn(t->user, t->index++, (cip_bytes){ out, (size_t)t->tile_nbytes }, valid, err);
}

/* All tiles of the part that begins at `at`, which is the last of them along its cut then. */
static cip_status cut_part(cip_tiler *t, part *p, int64_t *at, cip_err *err)
{
    const cut c = p->cut;
    int64_t *i = &at[c.axis], n = (int64_t)t->itemsize;
    const int32_t behind = c.axis + 1;
    p->first = *i;
    for (int32_t k = t->ndim - 1; k >= 0; k--) {
        p->stride[k] = n;
        n *= part_steps(t, c, k, at[k]);
    }
    for (;; ++*i) {
        do {
            CIP_TRY(cut_tile(t, p, at, err));
        } while (cip_box_next(t->ndim - behind, NULL, t->grid + behind, at + behind));
        if (*i + 1 >= t->grid[c.axis] || *i + 1 - p->first >= c.span)
            return CIP_OK;
    }
}

/* `row`: all of it in memory, the caller's or not; NULL: in the temporary file. */
static cip_status cut_row(cip_tiler *t, const uint8_t *row, bool callers, cip_err *err)
{
    int64_t at[CIP_MAX_NDIM] = { 0 };
    part p = { .at = row, .cut = row_cut, .lent = callers && t->lend != NULL };
    at[0] = (int64_t)t->row;
    if (row != NULL)
        return cut_part(t, &p, at, err);
    p.cut = t->cut;
    do {
        /* The part at `at` from the temporary file, which holds the row. */
        int64_t valid[CIP_MAX_NDIM], in[CIP_MAX_NDIM] = { 0 };
        uint8_t *to = t->part;
        const int32_t last = t->cut.axis;
        for (int32_t i = 0; i <= last; i++)
            valid[i] = part_steps(t, t->cut, i, at[i]);
        size_t run = (size_t)((uint64_t)valid[last] * t->below[last + 1]);
        do {
            uint64_t from = 0;
            for (int32_t i = 0; i <= last; i++) {
                int64_t start = i == 0 ? 0 : at[i] * t->tile[i];
                from += (uint64_t)(start + in[i]) * t->below[i + 1];
            }
            CIP_TRY(cip_io_read(t->temporary, from, to, run, err));
            to += run;
        } while (cip_box_next(last, NULL, valid, in));
        p.at = t->part;
        CIP_TRY(cut_part(t, &p, at, err));
    } while (cip_box_next(t->cut.axis, NULL, t->grid + 1, at + 1));
    return CIP_OK;
}

/* --- bytes ------------------------------------------------------------------------------------ */

cip_status cip_tiler_write(cip_tiler *t, const void *p, size_t n, cip_err *err)
{
    const uint8_t *from = p;
    while (n != 0) {
        if (t->row == t->nrow)
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected the end of the array, found %zu more bytes", n);
        size_t k = (size_t)cip_min_u64(n, t->want - t->have);
        bool whole = k == t->want;
        if (!whole) {
            /* Where a row is collected that does not come in one piece. */
            if (t->cut.axis > 0 && t->temporary == NULL)
                CIP_TRY(cip_temporary_new(t->env, NULL, &t->temporary, err));
            if (t->part == NULL)
                CIP_TRY(cip_mem_get(&t->env->mem, t->part_len, (void **)&t->part, err));
            if (t->temporary != NULL)
                CIP_TRY(cip_temporary_write(t->temporary, t->have, from, k, err));
            else
                memcpy(t->part + t->have, from, k);
            t->have += k;
        }
        if (whole || t->have == t->want)
            CIP_TRY(cut_row(t, whole ? from : t->temporary == NULL ? t->part : NULL, whole, err));
        from += k;
        n -= k;
        if (!whole && t->have < t->want)
            return CIP_OK;
        if (++t->row < t->nrow)
            start_row(t);
    }
    return CIP_OK;
}

cip_status cip_tiler_finish(cip_tiler *t, cip_err *err)
{
    if (t->row == t->nrow)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "expected %" PRIu64 " more bytes of a row of tiles, found the end",
                    t->want - t->have);
}

void cip_tiler_free(cip_tiler *t)
{
    if (t == NULL)
        return;
    cip_io_close(t->temporary);
    cip_mem_put(&t->env->mem, t->part);
    cip_mem_put(&t->env->mem, t->own);
    cip_mem_put(&t->env->mem, t);
}
