/* SPDX-License-Identifier: BSD-3-Clause
 * Bytedelta undone: in each of the streams that a byte shuffle left, running sums modulo 256; eight
 * bytes at a time. */
#include "codec/filter/filter.h"

#include <string.h>

#include "base/endian.h"

#define EVEN UINT64_C(0x00FF00FF00FF00FF) /* every other byte, with room for a sum */
#define ONES UINT64_C(0x0001000100010001)

/* Eight bytes as four pairs: a product gives the sums of all pairs so far, in which nothing
 * overflows; the first of a pair has its second one too many. */
static void running_sum(const uint8_t *restrict src, uint8_t *restrict dst, size_t n)
{
    uint8_t sum = 0;
    size_t at = 0;
    for (; at + 8 <= n; at += 8) {
        uint64_t x = cip_load_u64(src + at, false), odd = x >> 8 & EVEN;
        uint64_t pairs = ((x & EVEN) + odd) * ONES, all = pairs + sum * ONES;
        cip_store_u64(dst + at, ((all - odd) & EVEN) | (all & EVEN) << 8, false);
        sum = (uint8_t)(sum + (pairs >> 48));
    }
    for (; at < n; at++)
        dst[at] = sum = (uint8_t)(sum + src[at]);
}

void cip_unbytedelta(size_t streams, bool restart, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t len = n / streams, head = restart ? len - len % 16 : len;
    for (size_t j = 0; j < streams && len != 0; j++) {
        running_sum(src + j * len, dst + j * len, head);
        running_sum(src + j * len + head, dst + j * len + head, len - head);
    }
    memcpy(dst + streams * len, src + streams * len, n - streams * len);
}
