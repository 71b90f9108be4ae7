/* SPDX-License-Identifier: BSD-3-Clause
 * The header: seven or more u64. Which byte order it is in is not stored anywhere; it is the one
 * in which the fields make sense. */
#include "base/endian.h"
#include "base/num.h"
#include "format/rawarray/rawarray.h"

static const char magic_little[8] = "rawarray";
static const char magic_big[8] = "yarrawar"; /* the same number as a big-endian machine writes it */

enum { AT_FLAGS = 8, AT_ELTYPE = 16, AT_ELBYTE = 24, AT_SIZE = 32, AT_NDIM = 40, AT_DIMS = 48 };

bool cip_ra_magic(cip_bytes in)
{
    return in.len >= 8 &&
           (memcmp(in.ptr, magic_little, 8) == 0 || memcmp(in.ptr, magic_big, 8) == 0);
}

/* Of a nonzero elbyte below 2^32 the swapped reading is 2^32 or more, so that at most one byte
 * order is plausible. */
static bool plausible(const uint8_t *p, bool big)
{
    return cip_load_u64(p + AT_ELTYPE, big) <= CIP_RA_COMPLEX &&
           cip_load_u64(p + AT_ELBYTE, big) - 1 < UINT32_MAX &&
           cip_load_u64(p + AT_NDIM, big) <= UINT16_MAX;
}

static cip_status check_type(const cip_ra_header *h, bool force, cip_err *err)
{
    if ((h->flags & ~(uint64_t)CIP_RA_FLAGS_KNOWN) != 0 && !force)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, AT_FLAGS,
                        "expected only the flag bits 0 and 1, found 0x%" PRIx64, h->flags);
    if (h->eltype > CIP_RA_COMPLEX)
        return cip_fail(err, CIP_ERR_CORRUPT, AT_ELTYPE,
                        "expected an element type of 0 to 4, found %" PRIu64, h->eltype);
    if (h->elbyte == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, AT_ELBYTE,
                        "expected elements of at least 1 byte, found 0");
    if (h->eltype == CIP_RA_COMPLEX && h->elbyte % 2 != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, AT_ELBYTE,
                        "expected complex elements of two halves, found %" PRIu64 " bytes",
                        h->elbyte);
    return CIP_OK;
}

/* raw_len of the dims. An axis of length 0 does not excuse the others, so that strides always fit.
 */
static cip_status check_dims(cip_ra_header *h, cip_err *err)
{
    bool none = false;
    int64_t all = (int64_t)h->elbyte;
    if (h->elbyte > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, AT_ELBYTE,
                        "expected elements of less than 2^63 bytes, found %" PRIu64, h->elbyte);
    for (int32_t i = 0; i < h->ndim; i++) {
        none |= h->dims[i] == 0;
        if (h->dims[i] != 0 && cip_mul_overflow(all, h->dims[i], &all))
            return cip_fail(err, CIP_ERR_CORRUPT, AT_DIMS + 8 * (uint64_t)i,
                            "expected dims that need less than 2^63 bytes, found more with %" PRIu64
                            " for dimension %" PRId32,
                            h->dims[i], i);
    }
    h->raw_len = none ? 0 : (uint64_t)all;
    return CIP_OK;
}

static cip_status check_size(const cip_ra_header *h, uint64_t total, cip_err *err)
{
    bool lz4 = (h->flags & CIP_RA_FLAG_LZ4) != 0;
    if (!lz4 && h->size != h->raw_len)
        return cip_fail(err, CIP_ERR_CORRUPT, AT_SIZE,
                        "expected %" PRIu64 " bytes of data for the dims, found a size of %" PRIu64,
                        h->raw_len, h->size);
    if (lz4 && h->raw_len / 255 > h->size) /* a byte of LZ4 makes at most 255 */
        return cip_fail(err, CIP_ERR_CORRUPT, AT_SIZE,
                        "expected %" PRIu64 " bytes of data from LZ4, found only %" PRIu64
                        " bytes to decode",
                        h->raw_len, h->size);
    if (lz4 && h->raw_len == 0 && h->size > 1) /* an LZ4 block of nothing is one byte */
        return cip_fail(
            err, CIP_ERR_CORRUPT, AT_SIZE,
            "expected at most 1 byte of LZ4 data for dims without elements, found %" PRIu64,
            h->size);
    if (lz4 && h->raw_len > CIP_RA_LZ4_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, AT_DIMS,
                        "expected at most %d bytes in one LZ4 block, found dims that need %" PRIu64,
                        CIP_RA_LZ4_MAX, h->raw_len);
    if (h->size > total - h->data_off)
        return cip_fail(err, CIP_ERR_TRUNCATED, total,
                        "expected %" PRIu64 " bytes of data at %" PRIu64 ", found %" PRIu64,
                        h->size, h->data_off, total - h->data_off);
    return CIP_OK;
}

cip_status cip_ra_header_read(cip_bytes in, uint64_t total, bool force, cip_ra_header *out,
                              cip_err *err)
{
    cip_ra_header h = { 0 };
    if (!cip_ra_magic(in))
        return cip_fail(err, CIP_ERR_FORMAT, 0, "expected the magic 'rawarray', found none");
    if (in.len < CIP_RA_HEADER_MIN)
        return cip_fail(err, CIP_ERR_TRUNCATED, total,
                        "expected a header of at least %d bytes, found %zu", CIP_RA_HEADER_MIN,
                        in.len);
    h.header_big =
        memcmp(in.ptr, magic_big, 8) == 0 || (!plausible(in.ptr, false) && plausible(in.ptr, true));
    cip_cursor c = h.header_big ? cip_cursor_be(in) : cip_cursor_le(in);
    cip_get_u64(&c);
    h.flags = cip_get_u64(&c);
    h.eltype = cip_get_u64(&c);
    h.elbyte = cip_get_u64(&c);
    h.size = cip_get_u64(&c);
    uint64_t ndim = cip_get_u64(&c);
    h.data_big = h.header_big || (h.flags & CIP_RA_FLAG_BIG) != 0;
    CIP_TRY(check_type(&h, force, err));
    if (ndim > (total - CIP_RA_HEADER_MIN) / 8)
        return cip_fail(err, CIP_ERR_TRUNCATED, total,
                        "expected %" PRIu64 " dims, found %" PRIu64 " bytes after the header", ndim,
                        total - CIP_RA_HEADER_MIN);
    if (ndim > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, AT_NDIM,
                        "expected at most %d dimensions, found %" PRIu64, CIP_MAX_NDIM, ndim);
    h.ndim = (int32_t)ndim;
    h.data_off = AT_DIMS + 8 * ndim;
    for (int32_t i = 0; i < h.ndim; i++)
        h.dims[i] = cip_get_u64(&c);
    CIP_TRY(check_dims(&h, err));
    CIP_TRY(check_size(&h, total, err));
    *out = h;
    return CIP_OK;
}

size_t cip_ra_header_write(const cip_ra_header *h, uint8_t *out)
{
    const uint64_t field[] = { h->flags, h->eltype, h->elbyte, h->size, (uint64_t)h->ndim };
    memcpy(out, magic_little, 8);
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        cip_store_u64(out + AT_FLAGS + 8 * i, field[i], false);
    for (int32_t i = 0; i < h->ndim; i++)
        cip_store_u64(out + AT_DIMS + 8 * i, h->dims[i], false);
    return AT_DIMS + 8 * (size_t)h->ndim;
}

void cip_ra_shape(const cip_ra_header *h, int64_t *shape)
{
    for (int32_t i = 0; i < h->ndim; i++)
        shape[i] = (int64_t)h->dims[h->ndim - 1 - i];
}
