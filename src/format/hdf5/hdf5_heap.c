/* SPDX-License-Identifier: BSD-3-Clause
 * Heaps: local ones for the names of a group, collections of the global one for values of variable
 * length, and fractal ones for links and attributes of which there are many. */
#include "format/hdf5/hdf5.h"

cip_status cip_h5_local_heap(cip_h5_work *w, uint64_t at, cip_bytes *out, cip_err *err)
{
    const cip_h5 *f = w->f;
    cip_cursor c;
    CIP_TRY(cip_h5_block(w, at, 8 + 2 * (uint64_t)f->lsize + f->osize, "HEAP", false, &c, err));
    cip_get_bytes(&c, 4);
    const uint64_t n = cip_h5_length(f, &c);
    cip_h5_length(f, &c);
    return cip_h5_get(w, cip_h5_address(f, &c), n, "local heap", out, err);
}

cip_status cip_h5_local_text(cip_bytes heap, uint64_t off, const char **out, cip_err *err)
{
    if (off < heap.len && memchr(heap.ptr + off, 0, heap.len - (size_t)off) != NULL) {
        *out = (const char *)heap.ptr + off;
        return CIP_OK;
    }
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected a name in a local heap of %zu bytes, found it at %" PRIu64, heap.len,
                    off);
}

/* --- the global heap -------------------------------------------------------------------------- */

cip_status cip_h5_global(cip_h5_work *w, uint64_t at, uint32_t index, cip_bytes *out, cip_err *err)
{
    const cip_h5 *f = w->f;
    cip_cursor c;
    if (w->global_at != at) {
        CIP_TRY(cip_h5_block(w, at, 8 + f->lsize, "GCOL", false, &c, err));
        cip_get_bytes(&c, 4);
        const uint64_t n = cip_h5_length(f, &c);
        CIP_TRY(cip_h5_get(w, at, n, "global heap", &w->global, err));
        w->global_at = at;
    }
    c = cip_cursor_le(w->global);
    cip_get_bytes(&c, 8 + f->lsize);
    while (cip_cursor_left(&c) >= 8 + (size_t)f->lsize) {
        const uint16_t own = cip_get_u16(&c);
        cip_get_bytes(&c, 6);
        const uint64_t n = cip_h5_length(f, &c);
        if (own == 0 || n > cip_cursor_left(&c))
            break;
        *out = cip_get_bytes(&c, (size_t)n);
        if (own == index)
            return CIP_OK;
        cip_get_bytes(&c, cip_min_u64((8 - n % 8) % 8, cip_cursor_left(&c)));
    }
    return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                    "expected object %" PRIu32 " in a collection of the global heap, found none",
                    index);
}

/* --- fractal heaps ---------------------------------------------------------------------------- */

cip_status cip_h5_heap_open(cip_h5_work *w, uint64_t at, cip_h5_heap *h, cip_err *err)
{
    const cip_h5 *f = w->f;
    cip_cursor c;
    *h = (cip_h5_heap){ .at = at };
    const uint64_t n = 4 + 1 + 2 + 2 + 1 + 4 + 12 * (uint64_t)f->lsize + 3 * (uint64_t)f->osize +
                       2 + 2 + 2 + 2 + 4;
    cip_bytes in;
    CIP_TRY(cip_h5_get(w, at, n, "fractal heap", &in, err));
    c = cip_cursor_le(in);
    c.pos = 4;
    const uint8_t version = cip_get_u8(&c);
    h->id_len = cip_get_u16(&c);
    const uint16_t filters = cip_get_u16(&c);
    if (memcmp(in.ptr, "FRHP", 4) != 0 || version != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at, "expected a fractal heap of version 0");
    if (filters != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, f->base + at,
                        "links or attributes in a compressed heap are not read");
    CIP_TRY(cip_h5_check(f, at, in, "fractal heap", err));
    h->sums = (cip_get_u8(&c) & 2) != 0;
    const uint32_t max_managed = cip_get_u32(&c);
    cip_h5_length(f, &c);
    h->huge = cip_h5_address(f, &c);
    cip_h5_length(f, &c);
    cip_h5_address(f, &c);
    cip_get_bytes(&c, 8 * (size_t)f->lsize);
    h->width = cip_get_u16(&c);
    h->start = cip_h5_length(f, &c);
    h->max_direct = cip_h5_length(f, &c);
    h->max_bits = cip_get_u16(&c);
    cip_get_u16(&c);
    h->root = cip_h5_address(f, &c);
    h->rows = cip_get_u16(&c);
    if (h->width == 0 || h->start == 0 || h->max_direct < h->start || h->max_bits > 64)
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                        "expected blocks in a fractal heap, found a width of %u", h->width);
    h->off_len = (h->max_bits + 7u) / 8;
    const unsigned direct = (cip_h5_log2(h->max_direct) + 7) / 8;
    h->len_len = direct < cip_h5_width(max_managed) ? direct : cip_h5_width(max_managed);
    return CIP_OK;
}

static uint64_t row_nbytes(const cip_h5_heap *h, unsigned row)
{
    const unsigned up = row < 2 ? 0 : row - 1;
    return up > 62 || h->start > UINT64_MAX >> up ? UINT64_MAX : h->start << up;
}

/* The direct block that holds byte `off` of the heap: from indirect blocks down. Each is smaller
 * than the one that names it. */
static cip_status find_direct(cip_h5_work *w, const cip_h5_heap *h, uint64_t off, uint64_t *at,
                              uint64_t *begins, uint64_t *nbytes, cip_err *err)
{
    const cip_h5 *f = w->f;
    const unsigned max_rows = cip_h5_log2(h->max_direct) - cip_h5_log2(h->start) + 2;
    unsigned rows = h->rows;
    *at = h->root;
    *begins = 0;
    *nbytes = h->start;
    while (rows != 0) {
        uint64_t first = *begins, row_len = 0, each = 0;
        unsigned row = 0;
        for (; row < rows; row++, first += row_len) {
            each = row_nbytes(h, row);
            if (cip_mul_overflow(each, h->width, &row_len) || off - first < row_len)
                break;
        }
        if (row == rows || each == UINT64_MAX)
            return cip_fail(err, CIP_ERR_CORRUPT, f->base + *at,
                            "expected byte %" PRIu64 " in the fractal heap, found its end", off);
        const uint64_t slot = (off - first) / each, number = (uint64_t)row * h->width + slot;
        const uint64_t n =
            5 + (uint64_t)f->osize + h->off_len + (uint64_t)rows * h->width * f->osize + 4;
        cip_cursor c;
        CIP_TRY(cip_h5_block(w, *at, n, "FHIB", true, &c, err));
        cip_get_bytes(&c, 1 + f->osize + h->off_len + (size_t)(number * f->osize));
        *at = cip_h5_address(f, &c);
        *begins = first + slot * each;
        *nbytes = each;
        if (row < max_rows)
            return CIP_OK;
        const unsigned down = cip_h5_log2(each) - cip_h5_log2(h->start * h->width) + 1;
        if (down >= rows)
            return cip_fail(err, CIP_ERR_CORRUPT, f->base + *at,
                            "expected smaller blocks below, found %u rows", down);
        rows = down;
    }
    return CIP_OK;
}

typedef struct huge_find {
    const cip_h5 *f;
    uint64_t id, at, len;
} huge_find;

static cip_status see_huge(void *user, cip_bytes record, cip_err *err)
{
    huge_find *k = user;
    cip_cursor c = cip_cursor_le(record);
    const uint64_t at = cip_h5_address(k->f, &c), len = cip_h5_length(k->f, &c);
    (void)err;
    if (cip_h5_length(k->f, &c) == k->id && !c.bad) {
        k->at = at;
        k->len = len;
    }
    return CIP_OK;
}

cip_status cip_h5_heap_get(cip_h5_work *w, const cip_h5_heap *h, cip_bytes id, cip_bytes *out,
                           cip_err *err)
{
    const cip_h5 *f = w->f;
    cip_cursor c = cip_cursor_le(id);
    const uint8_t head = cip_get_u8(&c);
    switch (head >> 4) {
    case 0: { /* managed */
        const uint64_t off = cip_h5_uint(&c, cip_min_u64(h->off_len, 8));
        const uint64_t n = cip_h5_uint(&c, cip_min_u64(h->len_len, 8));
        uint64_t at, begins, nbytes;
        CIP_TRY(cip_h5_end(&c, "heap ID", CIP_NO_OFFSET, err));
        CIP_TRY(find_direct(w, h, off, &at, &begins, &nbytes, err));
        if (off - begins > nbytes || n > nbytes - (off - begins))
            return cip_fail(err, CIP_ERR_CORRUPT, f->base + h->at,
                            "expected %" PRIu64 " bytes at %" PRIu64 " of the fractal heap", n,
                            off);
        if (cip_add_overflow(at, off - begins, &at))
            at = CIP_H5_NONE;
        return cip_h5_get(w, at, n, "fractal heap", out, err);
    }
    case 1: { /* huge */
        huge_find k = { .f = f, .at = CIP_H5_NONE };
        if (h->id_len > f->osize + f->lsize) {
            k.at = cip_h5_address(f, &c);
            k.len = cip_h5_length(f, &c);
        } else {
            k.id = cip_h5_uint(&c, cip_min_u64(h->id_len - 1u, f->lsize));
            CIP_TRY(cip_h5_btree2(w, h->huge, 1, see_huge, &k, err));
        }
        CIP_TRY(cip_h5_end(&c, "heap ID", CIP_NO_OFFSET, err));
        return cip_h5_get(w, k.at, k.len, "huge object", out, err);
    }
    case 2: { /* tiny: in the ID */
        const bool wide = h->id_len > 17;
        const uint64_t n = (wide ? (uint64_t)(head & 0xf) << 8 | cip_get_u8(&c) : head & 0xf) + 1;
        *out = cip_get_bytes(&c, (size_t)n);
        return cip_h5_end(&c, "heap ID", CIP_NO_OFFSET, err);
    }
    default:
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + h->at,
                        "expected a heap ID of version 0, found 0x%02x", head);
    }
}
