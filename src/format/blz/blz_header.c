/* SPDX-License-Identifier: BSD-3-Clause
 * The headers of data files. */
#include <string.h>

#include "format/blz/blz.h"

static const char magic[4] = "blpk";

const uint8_t cip_blz_header_of_one[CIP_BLZ_HEADER_1] = { 'b', 'l', 'p', 'k', 1, 0, 0, 0, 1 };

cip_status cip_blz_header_1(cip_bytes in, cip_err *err)
{
    cip_cursor c = cip_cursor_le(in);
    cip_bytes mark = cip_get_bytes(&c, sizeof magic);
    uint8_t version = cip_get_u8(&c);
    cip_get_bytes(&c, 3);
    int64_t nchunk = (int64_t)cip_get_u64(&c);
    if (c.bad)
        return cip_fail(err, CIP_ERR_TRUNCATED, in.len, "expected a header of %d bytes, found %zu",
                        CIP_BLZ_HEADER_1, in.len);
    if (memcmp(mark.ptr, magic, sizeof magic) != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, 0, "expected the magic 'blpk', found none");
    if (version != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, 4, "expected version 1, found %u", version);
    if (nchunk != 1 && nchunk != -1)
        return cip_fail(err, CIP_ERR_CORRUPT, 8, "expected one chunk, found %" PRId64, nchunk);
    return CIP_OK;
}
