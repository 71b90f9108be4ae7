/* SPDX-License-Identifier: BSD-3-Clause
 * The metalayer "b2nd" (in older files "caterva", without the type of the elements): shapes of the
 * array, its chunks and their blocks, as msgpack. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/blosc2/blosc2.h"

enum { DTYPE_NUMPY = 0 };

static cip_status bad(const cip_cursor *c, const char *what, cip_err *err)
{
    if (c->bad)
        return cip_fail(err, CIP_ERR_TRUNCATED, c->pos, "expected %s, found the end", what);
    return cip_fail(err, CIP_ERR_CORRUPT, c->pos, "expected %s, found other bytes", what);
}

/* Any integer of msgpack; a value over INT64_MAX is bad. */
static cip_status get_int(cip_cursor *c, int64_t *out, cip_err *err)
{
    uint8_t mark = cip_get_u8(c);
    uint64_t v;
    switch (mark) {
    case 0xcc:
        v = cip_get_u8(c);
        break;
    case 0xcd:
        v = cip_get_u16(c);
        break;
    case 0xce:
        v = cip_get_u32(c);
        break;
    case 0xcf:
    case 0xd3:
        v = cip_get_u64(c);
        break;
    case 0xd0:
        v = (uint64_t)(int8_t)cip_get_u8(c);
        break;
    case 0xd1:
        v = (uint64_t)(int16_t)cip_get_u16(c);
        break;
    case 0xd2:
        v = (uint64_t)(int32_t)cip_get_u32(c);
        break;
    default:
        if (mark > 0x7f)
            return bad(c, "an integer", err);
        v = mark;
    }
    if (c->bad || (mark == 0xcf && v > INT64_MAX))
        return bad(c, "an integer", err);
    *out = (int64_t)v;
    return CIP_OK;
}

/* A list of ndim lengths. With 16 of them libblosc2 writes 0x90 + 16, which is no array's mark. */
static cip_status get_lengths(cip_cursor *c, int32_t ndim, int64_t *out, cip_err *err)
{
    uint8_t mark = cip_get_u8(c);
    bool listed = mark == 0x90 + ndim || (mark == 0xdc && cip_get_u16(c) == ndim);
    if (c->bad || !listed)
        return bad(c, "as many lengths as there are dimensions", err);
    for (int32_t k = 0; k < ndim; k++)
        CIP_TRY(get_int(c, &out[k], err));
    return CIP_OK;
}

static cip_status get_dtype(cip_cursor *c, cip_b2_nd *nd, cip_err *err)
{
    int64_t format = 0;
    CIP_TRY(get_int(c, &format, err));
    if (cip_get_u8(c) != 0xdb)
        return bad(c, "the text of a dtype", err);
    uint32_t n = cip_get_u32(c);
    nd->dtype = cip_get_bytes(c, n);
    if (c->bad)
        return bad(c, "the text of a dtype", err);
    nd->has_dtype = true;
    nd->dtype_format = (uint8_t)(format < 0 || format > 255 ? 255 : format);
    return CIP_OK;
}

cip_status cip_b2_nd_derive(cip_b2_nd *nd, cip_err *err)
{
    uint64_t n = 1;
    /* Where there are no elements, chunks and blocks of length 0 are written. */
    bool empty = false;
    for (int32_t k = 0; k < nd->ndim; k++)
        empty = empty || nd->shape[k] == 0;
    for (int32_t k = 0; empty && k < nd->ndim; k++) {
        nd->unset = nd->unset || nd->chunk[k] == 0 || nd->block[k] == 0;
        nd->chunk[k] = nd->chunk[k] == 0 ? 1 : nd->chunk[k];
        nd->block[k] = nd->block[k] == 0 ? 1 : nd->block[k];
    }
    for (int32_t k = 0; k < nd->ndim; k++) {
        if (nd->shape[k] < 0 || nd->chunk[k] < 1 || nd->block[k] < 1 || nd->chunk[k] > INT32_MAX ||
            nd->block[k] > INT32_MAX)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected lengths of at least 0 and chunks and blocks of at least 1, "
                            "found %" PRId64 ", %" PRId64 " and %" PRId64 " for axis %d",
                            nd->shape[k], nd->chunk[k], nd->block[k], (int)k);
        uint64_t blocks = cip_div_up((uint64_t)nd->chunk[k], (uint64_t)nd->block[k]);
        nd->stored[k] = (int64_t)blocks * nd->block[k]; /* below 2^32 */
        if (cip_mul_overflow(n, cip_div_up((uint64_t)nd->shape[k], (uint64_t)nd->chunk[k]), &n))
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected less than 2^64 chunks, found more with %" PRId64
                            " for axis %d",
                            nd->shape[k], (int)k);
    }
    nd->nchunk = n;
    return CIP_OK;
}

cip_status cip_b2_nd_read(cip_bytes in, cip_b2_nd *out, cip_err *err)
{
    cip_cursor c = cip_cursor_be(in);
    cip_b2_nd nd = { 0 };
    uint8_t mark = cip_get_u8(&c), version = cip_get_u8(&c);
    int64_t ndim = 0;
    if (c.bad || (mark & 0xf0) != 0x90 || (mark & 0x0f) < 5)
        return bad(&c, "a list of at least 5", err);
    if (version != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, 1, "expected shapes of version 0, found %u",
                        version);
    CIP_TRY(get_int(&c, &ndim, err));
    if (ndim < 0 || ndim > CIP_B2_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, 2, "expected 0 to %d dimensions, found %" PRId64,
                        CIP_B2_MAX_NDIM, ndim);
    nd.ndim = (int32_t)ndim;
    CIP_TRY(get_lengths(&c, nd.ndim, nd.shape, err));
    CIP_TRY(get_lengths(&c, nd.ndim, nd.chunk, err));
    CIP_TRY(get_lengths(&c, nd.ndim, nd.block, err));
    if ((mark & 0x0f) >= 7)
        CIP_TRY(get_dtype(&c, &nd, err));
    CIP_TRY(cip_b2_nd_derive(&nd, err));
    *out = nd;
    return CIP_OK;
}

cip_status cip_b2_nd_check(cip_b2_nd *nd, const cip_b2_header *h, uint64_t nchunk, cip_err *err)
{
    uint64_t stored = 1, block = 1;
    if (nd->nchunk != nchunk)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRIu64 " chunks for the shape, found %" PRIu64, nd->nchunk,
                        nchunk);
    for (int32_t k = 0; k < nd->ndim; k++)
        if (cip_mul_overflow(stored, (uint64_t)nd->stored[k], &stored) ||
            cip_mul_overflow(block, (uint64_t)nd->block[k], &block) || stored > INT32_MAX)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected chunks below 2^31 bytes, found more");
    /* Items of over 255 bytes make libblosc2 say a typesize of 1; how long they are shows in the
     * lengths of blocks and chunks. */
    const uint64_t bytes = nchunk != 0 ? h->chunksize : h->blocksize;
    const uint64_t items = nchunk != 0 ? stored : block;
    nd->item = h->typesize;
    if (h->typesize == 1 && bytes % items == 0 && bytes / items > CIP_BLOSC_MAX_TYPESIZE)
        nd->item = bytes / items;
    if (nchunk != 0 && stored * nd->item != h->chunksize) /* both below 2^31 */
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected chunks of %" PRIu64 " bytes for their shape, found %" PRIu64,
                        stored * nd->item, h->chunksize);
    if (nchunk != 0 && h->nbytes % h->chunksize != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected whole chunks of %" PRIu64 " bytes, found %" PRIu64
                        " bytes in all",
                        h->chunksize, h->nbytes);
    return CIP_OK;
}

/* The text's type; FORMAT and the like where it is none. */
static cip_status parse_dtype(cip_arena *a, const cip_b2_nd *nd, const cip_dtype **out,
                              cip_err *err)
{
    if (!nd->has_dtype)
        return cip_fail(err, CIP_ERR_FORMAT, CIP_NO_OFFSET, "the file has no dtype");
    if (nd->dtype_format != DTYPE_NUMPY)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "dtype of the unknown format %u",
                        nd->dtype_format);
    return cip_dtype_of_text(a, (const char *)nd->dtype.ptr, nd->dtype.len, false, out, err);
}

cip_status cip_b2_nd_dtype(cip_arena *a, const cip_b2_nd *nd, const cip_dtype **out,
                           const char **why, cip_err *err)
{
    const cip_dtype *d = NULL;
    cip_err own = CIP_ERR_INIT;
    char *text;
    *why = NULL;
    cip_status st = parse_dtype(a, nd, &d, &own);
    if (st == CIP_OK && d->itemsize == nd->item) {
        *out = d;
        return CIP_OK;
    }
    if (st == CIP_ERR_NOMEM) {
        cip_err_pass(err, &own);
        return st;
    }
    if (nd->has_dtype && st == CIP_OK)
        CIP_TRY(cip_arena_printf(a, &text, err,
                                 "expected a dtype of %" PRIu64 " bytes, found %" PRIu64
                                 " in '%s'; items are shown as bytes",
                                 nd->item, d->itemsize, d->name));
    else
        CIP_TRY(
            cip_arena_printf(a, &text, err, "dtype: %.160s; items are shown as bytes", own.text));
    *why = nd->has_dtype ? text : NULL;
    return cip_dtype_opaque(a, nd->item, NULL, out, err);
}
