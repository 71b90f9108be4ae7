/* SPDX-License-Identifier: BSD-3-Clause
 * Chunk indexes: every kind gives chunks at coordinates, which become a list by rising number.
 * Read when an array's elements are first asked for. */
#include <stdlib.h>

#include "base/endian.h"
#include "format/hdf5/hdf5.h"

/* Chunks beyond the shape are left over from before the array was made smaller. */
cip_status cip_h5_found_add(cip_h5_found *k, const uint64_t *scaled, uint64_t at, uint64_t nbytes,
                            uint32_t mask, cip_err *err)
{
    const cip_h5_dataset *d = k->d;
    cip_h5_chunk c = { .at = at, .nbytes = nbytes, .mask = mask };
    bool edge = false;
    for (int32_t i = 0; i < d->shape.rank; i++) {
        if (scaled[i] >= k->grid[i])
            return CIP_OK;
        c.i = c.i * k->grid[i] + scaled[i];
        edge = edge || (uint64_t)d->shape.dim[i] - scaled[i] * (uint64_t)d->chunk[i] <
                           (uint64_t)d->chunk[i];
    }
    if (at > d->f->size || nbytes > d->f->size - at)
        return cip_fail(err, CIP_ERR_TRUNCATED, d->f->base + d->f->size,
                        "expected chunk %" PRIu64 " of %" PRIu64 " bytes at %" PRIu64
                        ", found the end of the file",
                        c.i, nbytes, at);
    if (edge && d->bare_edges)
        c.mask = UINT32_MAX;
    return cip_buf_add(&k->list, &c, sizeof c, err);
}

static cip_status see_btree1(void *user, cip_bytes key, uint64_t child, cip_err *err)
{
    cip_h5_found *k = user;
    uint64_t scaled[CIP_H5_MAX_RANK];
    cip_cursor c = cip_cursor_le(key);
    const uint32_t nbytes = cip_get_u32(&c), mask = cip_get_u32(&c);
    for (int32_t i = 0; i < k->d->shape.rank; i++) {
        const uint64_t off = cip_get_u64(&c);
        scaled[i] = off / (uint64_t)k->d->chunk[i];
        if (off % (uint64_t)k->d->chunk[i] != 0)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a chunk at a multiple of %" PRId64 ", found %" PRIu64,
                            k->d->chunk[i], off);
    }
    return cip_h5_found_add(k, scaled, child, nbytes, mask, err);
}

static cip_status see_btree2(void *user, cip_bytes record, cip_err *err)
{
    cip_h5_found *k = user;
    uint64_t scaled[CIP_H5_MAX_RANK], nbytes = k->d->chunk_nbytes;
    cip_cursor c = cip_cursor_le(record);
    const uint64_t at = cip_h5_address(k->d->f, &c);
    const size_t rest = 8 * (size_t)k->d->shape.rank;
    uint32_t mask = 0;
    if (k->d->nfilter != 0) {
        nbytes = cip_h5_uint(&c, cip_min_u64(8, cip_bytes_left(cip_cursor_left(&c), rest + 4)));
        mask = cip_get_u32(&c);
    }
    for (int32_t i = 0; i < k->d->shape.rank; i++)
        scaled[i] = cip_get_u64(&c);
    CIP_TRY(cip_h5_end(&c, "chunk record", CIP_NO_OFFSET, err));
    return cip_h5_found_add(k, scaled, at, nbytes, mask, err);
}

/* One behind the other, all of them. */
static cip_status implicit(cip_h5_found *k, cip_err *err)
{
    const cip_h5_dataset *d = k->d;
    uint64_t scaled[CIP_H5_MAX_RANK] = { 0 };
    for (;;) {
        uint64_t i = 0, off;
        for (int32_t n = 0; n < d->shape.rank; n++)
            i = i * k->last[n] + scaled[n];
        if (cip_mul_overflow(i, d->chunk_nbytes, &off) || cip_add_overflow(off, d->at, &off))
            off = CIP_H5_NONE;
        CIP_TRY(cip_h5_found_add(k, scaled, off, d->chunk_nbytes, 0, err));
        int32_t n = d->shape.rank - 1;
        while (n >= 0 && ++scaled[n] == k->grid[n])
            scaled[n--] = 0;
        if (n < 0)
            return CIP_OK;
    }
}

static cip_status find_chunks(cip_h5_found *k, cip_err *err)
{
    const cip_h5_dataset *d = k->d;
    const uint64_t origin[CIP_H5_MAX_RANK] = { 0 };
    switch (d->index) {
    case CIP_H5_BTREE1:
        return cip_h5_btree1(&k->work, d->at, 1, d->shape.rank, see_btree1, k, err);
    case CIP_H5_SINGLE:
        return cip_h5_found_add(k, origin, d->at, d->nbytes, d->single_mask, err);
    case CIP_H5_IMPLICIT:
        return implicit(k, err);
    case CIP_H5_FIXED_ARRAY:
        return cip_h5_fixed_array(k, err);
    case CIP_H5_EXTENSIBLE:
        return cip_h5_extensible_array(k, err);
    default:
        return cip_h5_btree2(&k->work, d->at, d->nfilter != 0 ? 11 : 10, see_btree2, k, err);
    }
}

/* By rising number; no two of one number. */
static cip_status keep(cip_h5_found *k, const cip_h5_chunk **out, size_t *n, cip_err *err)
{
    cip_layout *l = k->d->f->layout;
    cip_h5_chunk *c = (cip_h5_chunk *)(void *)k->list.ptr;
    char *copy;
    *n = k->list.len / sizeof *c;
    if (*n > 1)
        qsort(c, *n, sizeof *c, cip_compare_u64);
    for (size_t i = 1; i < *n; i++)
        if (c[i].i == c[i - 1].i)
            return cip_fail(err, CIP_ERR_CORRUPT, k->d->f->base + c[i].at,
                            "expected one place for chunk %" PRIu64 ", found two", c[i].i);
    pthread_mutex_lock(&l->lock);
    const cip_status st = cip_arena_copy(&l->arena, c, k->list.len, &copy, err);
    pthread_mutex_unlock(&l->lock);
    *out = st == CIP_OK ? (const cip_h5_chunk *)(const void *)copy : NULL;
    return st;
}

cip_status cip_h5_index_read(const cip_h5_dataset *d, const cip_h5_chunk **out, size_t *n,
                             cip_err *err)
{
    cip_h5_found k = { .d = d, .work = cip_h5_begin(d->f), .unlimited = -1 };
    k.list.mem = &d->f->layout->env->mem;
    for (int32_t i = 0; i < d->shape.rank; i++) {
        k.grid[i] = cip_div_up((uint64_t)d->shape.dim[i], (uint64_t)d->chunk[i]);
        k.last[i] = d->shape.max[i] == CIP_H5_NONE
                        ? CIP_H5_NONE
                        : cip_div_up(d->shape.max[i], (uint64_t)d->chunk[i]);
        if (d->shape.max[i] == CIP_H5_NONE && k.unlimited < 0)
            k.unlimited = i;
    }
    *out = NULL;
    *n = 0;
    cip_status st = d->at == CIP_H5_NONE ? CIP_OK : find_chunks(&k, err);
    if (st == CIP_OK)
        st = keep(&k, out, n, err);
    cip_buf_clear(&k.list);
    cip_arena_clear(&k.work.arena);
    return st;
}
