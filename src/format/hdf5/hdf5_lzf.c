/* SPDX-License-Identifier: BSD-3-Clause
 * LZF, as h5py writes it: runs of literals (a byte below 32 is their number less one) and copies of
 * what came before (3 bits of length, 13 of distance). */
#include "format/hdf5/hdf5.h"

cip_status cip_h5_lzf(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                      size_t n, cip_err *err)
{
    size_t to = 0;
    cip_cursor c = cip_cursor_le(src);
    (void)f;
    (void)env;
    while (cip_cursor_left(&c) != 0 && !c.bad) {
        const uint8_t head = cip_get_u8(&c);
        size_t len = head >> 5;
        if (len == 0) {
            len = (size_t)head + 1;
            if (len > n - to || len > cip_cursor_left(&c))
                break;
            cip_get_copy(&c, dst + to, len);
            to += len;
            continue;
        }
        if (len == 7)
            len += cip_get_u8(&c);
        len += 2;
        const size_t back = ((size_t)(head & 0x1f) << 8 | cip_get_u8(&c)) + 1;
        if (c.bad || back > to || len > n - to)
            break;
        for (; len != 0; len--, to++)
            dst[to] = dst[to - back];
    }
    if (to == n && !c.bad && cip_cursor_left(&c) == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "lzf: expected %zu bytes, found damage after %zu", n, to);
}
