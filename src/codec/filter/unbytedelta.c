/* SPDX-License-Identifier: BSD-3-Clause
 * Bytedelta undone: in each of the streams that a byte shuffle left, running sums modulo 256; eight
 * bytes at a time. */
#include "codec/filter/filter.h"

#include <string.h>

#include "base/endian.h"

#define LOW_BITS UINT64_C(0x7F7F7F7F7F7F7F7F)

/* Eight sums of bytes, no carry from one to the next. */
static uint64_t add_bytes(uint64_t a, uint64_t b)
{
    return ((a & LOW_BITS) + (b & LOW_BITS)) ^ ((a ^ b) & ~LOW_BITS);
}

static void running_sum(const uint8_t *restrict src, uint8_t *restrict dst, size_t n)
{
    uint64_t sum = 0; /* the last byte, in all eight */
    size_t at = 0;
    for (; at + 8 <= n; at += 8) {
        uint64_t x = cip_load_u64(src + at, false);
        x = add_bytes(x, x << 8);
        x = add_bytes(x, x << 16);
        x = add_bytes(x, x << 32);
        x = add_bytes(x, sum);
        cip_store_u64(dst + at, x, false);
        sum = (x >> 56) * UINT64_C(0x0101010101010101);
    }
    for (uint8_t last = (uint8_t)sum; at < n; at++)
        dst[at] = last = (uint8_t)(last + src[at]);
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
