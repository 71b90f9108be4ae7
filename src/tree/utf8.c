/* SPDX-License-Identifier: BSD-3-Clause
 * Code points one by one. The least value of each length refuses overlong forms. */
#include "tree/utf8.h"

unsigned cip_utf8_get(const uint8_t *p, size_t n, uint32_t *cp)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    uint32_t c = p[0];
    unsigned len = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;
    if (len == 0 || len > n)
        return 0;
    if (len > 1)
        c &= 0x7fu >> len;
    for (unsigned i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *cp = c;
    return len;
}

bool cip_utf8_is(const void *p, size_t n)
{
    uint32_t cp;
    for (size_t i = 0, len; i < n; i += len) {
        len = cip_utf8_get((const uint8_t *)p + i, n - i, &cp);
        if (len == 0)
            return false;
    }
    return true;
}

bool cip_utf8_unsafe(uint32_t cp)
{
    if (cp < 0xa0)
        return cp < 0x20 || cp >= 0x7f;
    if (cp < 0x2028)
        return cp == 0x61c || cp == 0x200e || cp == 0x200f;
    if (cp <= 0x2069)
        return cp <= 0x202e || cp >= 0x2066;
    return cp == 0xfeff || cp == 0xfffe || cp == 0xffff;
}
