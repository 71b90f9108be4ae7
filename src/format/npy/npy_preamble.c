/* SPDX-License-Identifier: BSD-3-Clause
 * The first bytes: magic, version, length of the header text. */
#include <string.h>

#include "format/npy/npy.h"

static const char magic[6] = "\x93NUMPY";

enum { AT_VERSION = 6, AT_LENGTH = 8 };

cip_status cip_npy_preamble_read(cip_bytes in, uint64_t total, bool force, cip_npy_preamble *out,
                                 cip_err *err)
{
    if (in.len < sizeof magic || memcmp(in.ptr, magic, sizeof magic) != 0)
        return cip_fail(err, CIP_ERR_FORMAT, 0, "expected the magic '\\x93NUMPY', found none");
    cip_cursor c = cip_cursor_le(in);
    cip_get_bytes(&c, sizeof magic);
    cip_npy_preamble p = { .major = cip_get_u8(&c) };
    p.minor = cip_get_u8(&c);
    bool known = p.major >= 1 && p.major <= 3 && p.minor == 0;
    if (!c.bad && !known && !(force && p.major > 0))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, AT_VERSION,
                        "expected version 1.0, 2.0 or 3.0, found %d.%d", p.major, p.minor);
    p.text_len = p.major == 1 ? cip_get_u16(&c) : cip_get_u32(&c);
    p.text_off = (uint32_t)c.pos;
    if (c.bad)
        return cip_fail(err, CIP_ERR_TRUNCATED, total,
                        "expected magic, version and length of the header, found %zu bytes",
                        in.len);
    if (p.text_len > total - p.text_off)
        return cip_fail(err, CIP_ERR_TRUNCATED, total,
                        "expected a header of %" PRIu32 " bytes, found %" PRIu64, p.text_len,
                        total - p.text_off);
    if (p.text_len > CIP_NPY_HEADER_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, AT_LENGTH,
                        "expected a header of at most %d bytes, found %" PRIu32, CIP_NPY_HEADER_MAX,
                        p.text_len);
    *out = p;
    return CIP_OK;
}
