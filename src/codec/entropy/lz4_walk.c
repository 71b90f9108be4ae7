/* SPDX-License-Identifier: BSD-3-Clause
 * The sequences of a raw LZ4 block (lz4_Block_format.md): each a token with two lengths of 4 bits,
 * more of the first, literals, how far back a match lies, more of the second. The last has just
 * literals. */
#include "codec/entropy/lz4_walk.h"

#include "codec/entropy/entropy.h"

enum { MIN_MATCH = 4 };

/* A length whose first four bits are in the token; 15 says that bytes to be added follow, up to
 * and with the first that is not 255. */
static uint64_t sequence_length(cip_cursor *c, unsigned nibble)
{
    uint64_t n = nibble;
    unsigned more = nibble == 15 ? 255 : 0;
    while (more == 255) {
        more = cip_get_u8(c);
        n += more;
    }
    return n;
}

cip_status cip_lz4_walk(cip_bytes src, uint64_t max, uint64_t *len, cip_err *err)
{
    cip_cursor c = cip_cursor_le(src);
    uint64_t got = 0;
    for (;;) {
        unsigned token = cip_get_u8(&c);
        uint64_t literals = sequence_length(&c, token >> 4);
        cip_get_bytes(&c, (size_t)literals);
        got += literals;
        if (c.bad || cip_cursor_left(&c) == 0)
            break;
        unsigned back = cip_get_u16(&c);
        uint64_t match = sequence_length(&c, token & 15) + MIN_MATCH;
        if (!c.bad && (back == 0 || back > got))
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected an LZ4 match within the %" PRIu64
                            " bytes decoded so far, found one %u bytes back",
                            got, back);
        got += match;
    }
    if (c.bad)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected more of an LZ4 block, found its end after %zu bytes", src.len);
    if (got > max)
        return cip_fail_long(err, max);
    *len = got;
    return CIP_OK;
}
