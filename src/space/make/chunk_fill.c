/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks of one element as runs: what they cost does not depend on how long they are. */
#include "space/make/chunk_fill.h"

#include "base/num.h"
#include "space/make/chunk_make.h"
#include "space/read/grid.h"

static cip_status fill_grid(const cip_grid *g, cip_chunk_in *c, cip_store_fn *store, void *user,
                            cip_err *err)
{
    c->raw_len = cip_grid_raw_len(g);
    c->run = 1;
    for (int32_t k = 0; k < g->ndim; k++)
        if (cip_mul_overflow(c->run, (uint64_t)cip_grid_nchunk(g, k), &c->run))
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "over 2^64 chunks");
    return store(user, 0, 1, c, err);
}

/* All but the last are of one length. */
static cip_status fill_linear(uint64_t nbytes, uint64_t each, cip_chunk_in *c, cip_store_fn *store,
                              void *user, cip_err *err)
{
    c->raw_len = cip_min_u64(each, nbytes);
    c->run = nbytes / c->raw_len;
    const uint64_t n = c->run, rest = nbytes % c->raw_len;
    CIP_TRY(store(user, 0, 1, c, err));
    if (rest == 0)
        return CIP_OK;
    c->raw_len = rest;
    c->run = 1;
    return store(user, n, 1, c, err);
}

cip_status cip_chunks_fill(const cip_array_form *f, const cip_fill *fill, cip_store_fn *store,
                           void *user, bool *done, cip_err *err)
{
    const uint32_t unset = fill->unset ? CIP_FORM_SPECIAL(CIP_CHUNK_UNINIT) : 0;
    const uint64_t each = f->dtype->itemsize;
    uint64_t nbytes;
    cip_chunk_in c = { .state = CIP_CHUNK_UNINIT };
    *done = false;
    if (f->ncolumn != 0 || fill->nelem == 0 || each == 0 ||
        (f->grid == NULL && cip_form_chunk_nbytes(f) == 0))
        return CIP_OK;
    if ((f->specials & unset) == 0)
        c.state = (uint8_t)cip_chunk_state_of(f, fill->elem);
    if (c.state == CIP_CHUNK_DATA)
        return CIP_OK;
    if (cip_mul_overflow(fill->nelem, each, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an array of over 2^64 bytes");
    c.value = c.state == CIP_CHUNK_VALUE ? fill->elem : NULL;
    *done = true;
    return f->grid != NULL ? fill_grid(f->grid, &c, store, user, err)
                           : fill_linear(nbytes, cip_form_chunk_nbytes(f), &c, store, user, err);
}
