/* SPDX-License-Identifier: BSD-3-Clause
 * The sticky cursor: one bounds check for all reads. */
#include "base/cursor.h"

#include <string.h>

#include "base/endian.h"

void cip_bytes_repeat(cip_bytes pattern, uint64_t off, uint8_t *dst, size_t n)
{
    size_t have = n < pattern.len ? n : pattern.len;
    if (pattern.len == 1 && n != 0) {
        memset(dst, pattern.ptr[0], n);
        return;
    }
    for (size_t k = 0; k < have; k++)
        dst[k] = pattern.ptr[(off + k) % pattern.len];
    while (have < n) { /* what is there already, doubled each time */
        size_t more = have - have % pattern.len;
        if (more > n - have)
            more = n - have;
        memcpy(dst + have, dst, more);
        have += more;
    }
}

cip_cursor cip_cursor_le(cip_bytes in)
{
    return (cip_cursor){ .in = in };
}

cip_cursor cip_cursor_be(cip_bytes in)
{
    return (cip_cursor){ .in = in, .big = true };
}

cip_bytes cip_get_bytes(cip_cursor *c, size_t n)
{
    if (c->bad || n > cip_cursor_left(c)) {
        c->bad = true;
        return (cip_bytes){ NULL, 0 };
    }
    cip_bytes out = { c->in.ptr + c->pos, n };
    c->pos += n;
    return out;
}

void cip_get_copy(cip_cursor *c, void *dst, size_t n)
{
    cip_bytes b = cip_get_bytes(c, n);
    if (n == 0)
        return;
    if (b.ptr == NULL)
        memset(dst, 0, n);
    else
        memcpy(dst, b.ptr, n);
}

uint8_t cip_get_u8(cip_cursor *c)
{
    cip_bytes b = cip_get_bytes(c, 1);
    return b.ptr == NULL ? 0 : b.ptr[0];
}

uint16_t cip_get_u16(cip_cursor *c)
{
    cip_bytes b = cip_get_bytes(c, 2);
    return b.ptr == NULL ? 0 : cip_load_u16(b.ptr, c->big);
}

uint32_t cip_get_u32(cip_cursor *c)
{
    cip_bytes b = cip_get_bytes(c, 4);
    return b.ptr == NULL ? 0 : cip_load_u32(b.ptr, c->big);
}

uint64_t cip_get_u64(cip_cursor *c)
{
    cip_bytes b = cip_get_bytes(c, 8);
    return b.ptr == NULL ? 0 : cip_load_u64(b.ptr, c->big);
}
