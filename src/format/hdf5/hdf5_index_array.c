/* SPDX-License-Identifier: BSD-3-Clause
 * Fixed and extensible arrays: chunk indexes whose entry i is the chunk of number i, counted by the
 * largest shape, in an extensible array along its unlimited axis first. */
#include "format/hdf5/hdf5.h"

/* What entries look like, and where the next one belongs. */
typedef struct entries {
    cip_h5_found *k;
    bool filtered;
    size_t each;
} entries;

/* Entry i as coordinates: by division from the axis that varies fastest. */
static cip_status take(const entries *e, uint64_t i, cip_cursor *c, cip_err *err)
{
    cip_h5_found *k = e->k;
    const cip_h5 *f = k->d->f;
    uint64_t scaled[CIP_H5_MAX_RANK], nbytes = k->d->chunk_nbytes;
    uint32_t mask = 0;
    const uint64_t at = cip_h5_address(f, c);
    if (e->filtered) {
        nbytes = cip_h5_uint(c, e->each - f->osize - 4);
        mask = cip_get_u32(c);
    }
    if (at == CIP_H5_NONE || c->bad)
        return cip_h5_end(c, "chunk index", CIP_NO_OFFSET, err);
    for (int32_t n = k->d->shape.rank - 1; n >= 0; n--) {
        if (n == k->unlimited)
            continue;
        scaled[n] = k->last[n] == 0 ? 0 : i % k->last[n];
        i = k->last[n] == 0 ? 0 : i / k->last[n];
    }
    if (k->unlimited >= 0)
        scaled[k->unlimited] = i;
    return cip_h5_found_add(k, scaled, at, nbytes, mask, err);
}

static cip_status entries_of(cip_h5_found *k, uint8_t client, uint8_t each, uint64_t at,
                             entries *out, cip_err *err)
{
    const cip_h5 *f = k->d->f;
    *out = (entries){ k, client == 1, each };
    if (client > 1 || (client == 0 && each != f->osize) ||
        (client == 1 && (each < f->osize + 5u || each > f->osize + 12u)) ||
        (client == 1) != (k->d->nfilter != 0))
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                        "expected chunk index entries with %s, found kind %u of %u bytes",
                        k->d->nfilter != 0 ? "sizes" : "addresses alone", client, each);
    return CIP_OK;
}

/* n entries from number i on, and their checksum. */
static cip_status take_page(const entries *e, uint64_t at, uint64_t i, uint64_t n, cip_err *err)
{
    cip_bytes in;
    CIP_TRY(cip_h5_get(&e->k->work, at, n * e->each + 4, "chunk index", &in, err));
    CIP_TRY(cip_h5_check(e->k->d->f, at, in, "chunk index", err));
    cip_cursor c = cip_cursor_le(in);
    for (uint64_t m = 0; m < n; m++)
        CIP_TRY(take(e, i + m, &c, err));
    return CIP_OK;
}

/* The pages of n entries that were ever written: `bits`, the first in the highest bit. */
static cip_status take_pages(const entries *e, cip_bytes bits, uint64_t at, uint64_t i, uint64_t n,
                             uint64_t page, cip_err *err)
{
    for (uint64_t p = 0; p * page < n; p++) {
        const uint64_t here = cip_min_u64(page, n - p * page);
        if ((bits.ptr[p / 8] >> (7 - p % 8) & 1) != 0)
            CIP_TRY(take_page(e, at + p * (page * e->each + 4), i + p * page, here, err));
    }
    return CIP_OK;
}

cip_status cip_h5_fixed_array(cip_h5_found *k, cip_err *err)
{
    const cip_h5 *f = k->d->f;
    const uint64_t at = k->d->at;
    cip_cursor c;
    entries e;
    CIP_TRY(cip_h5_block(&k->work, at, 12 + (uint64_t)f->lsize + f->osize, "FAHD", true, &c, err));
    cip_get_u8(&c);
    const uint8_t client = cip_get_u8(&c), each = cip_get_u8(&c), bits = cip_get_u8(&c);
    const uint64_t n = cip_h5_length(f, &c), block = cip_h5_address(f, &c);
    CIP_TRY(entries_of(k, client, each, at, &e, err));
    k->unlimited = -1;
    if (block == CIP_H5_NONE)
        return CIP_OK;
    if (bits >= 32 || n > f->size)
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                        "expected a chunk index within the file, found %" PRIu64 " entries", n);
    const uint64_t head = 6 + (uint64_t)f->osize, page = UINT64_C(1) << bits;
    if (n <= page) {
        CIP_TRY(cip_h5_block(&k->work, block, head + n * each + 4, "FADB", true, &c, err));
        cip_get_bytes(&c, (size_t)head - 4);
        for (uint64_t i = 0; i < n; i++)
            CIP_TRY(take(&e, i, &c, err));
        return CIP_OK;
    }
    const uint64_t nbits = cip_div_up(cip_div_up(n, page), 8);
    CIP_TRY(cip_h5_block(&k->work, block, head + nbits + 4, "FADB", true, &c, err));
    cip_get_bytes(&c, (size_t)head - 4);
    const cip_bytes map = cip_get_bytes(&c, (size_t)nbits);
    return take_pages(&e, map, block + head + nbits + 4, 0, n, page, err);
}

/* --- extensible arrays ------------------------------------------------------------------------ */

typedef struct extensible {
    entries e;
    uint64_t n; /* entries that were ever set */
    uint8_t max_bits, in_index, min_entries, min_pointers, page_bits;
    size_t off_len;
} extensible;

/* Block of a number: how many data blocks it has, and of how many entries each. */
static uint64_t blocks_in(unsigned u)
{
    return UINT64_C(1) << u / 2;
}

static uint64_t entries_in(const extensible *x, unsigned u)
{
    return (UINT64_C(1) << (u + 1) / 2) * x->min_entries;
}

/* A data block of n entries from number i on; `map`: which of its pages were written, none where it
 * has no pages. */
static cip_status data_block(const extensible *x, uint64_t at, uint64_t i, uint64_t n,
                             cip_bytes map, cip_err *err)
{
    cip_h5_found *k = x->e.k;
    const cip_h5 *f = k->d->f;
    const uint64_t head = 6 + (uint64_t)f->osize + x->off_len, page = UINT64_C(1) << x->page_bits;
    cip_cursor c;
    if (at == CIP_H5_NONE || i >= x->n)
        return CIP_OK;
    if (n > page) {
        CIP_TRY(cip_h5_block(&k->work, at, head + 4, "EADB", true, &c, err));
        if (map.len < cip_div_up(n / page, 8))
            return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                            "expected a chunk index without pages here");
        return take_pages(&x->e, map, at + head + 4, i, n, page, err);
    }
    CIP_TRY(cip_h5_block(&k->work, at, head + n * x->e.each + 4, "EADB", true, &c, err));
    cip_get_bytes(&c, (size_t)head - 4);
    for (uint64_t m = 0; m < n; m++)
        CIP_TRY(take(&x->e, i + m, &c, err));
    return CIP_OK;
}

/* Super block u, whose entries begin with number i. */
static cip_status super_block(const extensible *x, uint64_t at, unsigned u, uint64_t i,
                              cip_err *err)
{
    cip_h5_found *k = x->e.k;
    const cip_h5 *f = k->d->f;
    const uint64_t nblock = blocks_in(u), each = entries_in(x, u);
    const uint64_t page = UINT64_C(1) << x->page_bits;
    const uint64_t map_len = each > page ? cip_div_up(each / page, 8) : 0;
    cip_cursor c;
    if (at == CIP_H5_NONE || i >= x->n)
        return CIP_OK;
    if (nblock > f->size)
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                        "expected a chunk index within the file, found %" PRIu64 " blocks", nblock);
    const uint64_t head = 6 + (uint64_t)f->osize + x->off_len;
    CIP_TRY(cip_h5_block(&k->work, at, head + nblock * (map_len + f->osize) + 4, "EASB", true, &c,
                         err));
    cip_get_bytes(&c, (size_t)head - 4);
    const cip_bytes maps = cip_get_bytes(&c, (size_t)(nblock * map_len));
    for (uint64_t b = 0; b < nblock; b++) {
        const cip_bytes map = { maps.ptr + b * map_len, (size_t)map_len };
        CIP_TRY(data_block(x, cip_h5_address(f, &c), i + b * each, each, map, err));
    }
    return CIP_OK;
}

static cip_status index_block(const extensible *x, uint64_t at, cip_err *err)
{
    cip_h5_found *k = x->e.k;
    const cip_h5 *f = k->d->f;
    const unsigned first =
        2 * cip_h5_log2(x->min_pointers); /* super block with a block of its own */
    const unsigned nsuper = 1 + x->max_bits - cip_h5_log2(x->min_entries);
    const uint64_t direct = 2 * (uint64_t)(x->min_pointers - 1);
    const uint64_t n = 6 + f->osize + x->in_index * (uint64_t)x->e.each +
                       (direct + (nsuper > first ? nsuper - first : 0)) * f->osize + 4;
    uint64_t i = 0;
    cip_cursor c;
    CIP_TRY(cip_h5_block(&k->work, at, n, "EAIB", true, &c, err));
    cip_get_bytes(&c, 2 + f->osize);
    for (; i < x->in_index; i++)
        CIP_TRY(take(&x->e, i, &c, err));
    for (unsigned u = 0; u < nsuper && i < x->n; u++) {
        const uint64_t nblock = blocks_in(u), each = entries_in(x, u);
        if (u >= first) {
            CIP_TRY(super_block(x, cip_h5_address(f, &c), u, i, err));
        } else {
            for (uint64_t b = 0; b < nblock; b++)
                CIP_TRY(data_block(x, cip_h5_address(f, &c), i + b * each, each,
                                   (cip_bytes){ NULL, 0 }, err));
        }
        i += nblock * each;
    }
    return CIP_OK;
}

cip_status cip_h5_extensible_array(cip_h5_found *k, cip_err *err)
{
    const cip_h5 *f = k->d->f;
    const uint64_t at = k->d->at;
    extensible x = { .n = 0 };
    cip_cursor c;
    CIP_TRY(
        cip_h5_block(&k->work, at, 16 + 6 * (uint64_t)f->lsize + f->osize, "EAHD", true, &c, err));
    cip_get_u8(&c);
    const uint8_t client = cip_get_u8(&c), each = cip_get_u8(&c);
    x.max_bits = cip_get_u8(&c);
    x.in_index = cip_get_u8(&c);
    x.min_entries = cip_get_u8(&c);
    x.min_pointers = cip_get_u8(&c);
    x.page_bits = cip_get_u8(&c);
    cip_get_bytes(&c, 4 * (size_t)f->lsize);
    x.n = cip_h5_length(f, &c);
    cip_h5_length(f, &c);
    const uint64_t block = cip_h5_address(f, &c);
    CIP_TRY(entries_of(k, client, each, at, &x.e, err));
    const bool two =
        (x.min_entries & (x.min_entries - 1)) == 0 && (x.min_pointers & (x.min_pointers - 1)) == 0;
    if (x.min_entries == 0 || x.min_pointers == 0 || !two || x.max_bits > 32 + 16 ||
        x.max_bits < cip_h5_log2(x.min_entries) || x.page_bits >= 32 || k->unlimited < 0)
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                        "expected a chunk index that grows by powers of two");
    x.off_len = (x.max_bits + 7u) / 8;
    return block == CIP_H5_NONE ? CIP_OK : index_block(&x, block, err);
}
