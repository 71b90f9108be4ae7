/* SPDX-License-Identifier: BSD-3-Clause
 * Delta undone: XOR with block 0 of the chunk, or in block 0 itself with the word before. The order
 * of bytes does not matter to XOR: words only say how far back the other byte lies. */
#include "codec/filter/filter.h"

#include <string.h>

#include "base/endian.h"

/* Running XOR of words of `width` bytes: within eight bytes by doubling steps, then one step from
 * eight to eight. */
static void running(size_t width, const uint8_t *restrict src, uint8_t *restrict dst, size_t n)
{
    uint64_t before = 0;
    size_t at = 0;
    for (; at + 8 <= n; at += 8) {
        uint64_t x = cip_load_u64(src + at, false);
        for (unsigned shift = 8 * (unsigned)width; shift < 64; shift *= 2)
            x ^= x << shift;
        for (unsigned shift = 64 - 8 * (unsigned)width, k = 0; k < 8 / width; k++)
            x ^= before >> shift << (8 * width * k);
        before = x;
        cip_store_u64(dst + at, x, false);
    }
    for (; at < n; at++)
        dst[at] = at < width ? src[at] : (uint8_t)(src[at] ^ dst[at - width]);
}

void cip_undelta(uint32_t typesize, const uint8_t *first, const uint8_t *src, uint8_t *dst,
                 size_t n)
{
    size_t width = cip_delta_width(typesize), words = n - n % width;
    if (first == NULL)
        running(width, src, dst, words);
    else
        for (size_t i = 0; i < words; i++)
            dst[i] = src[i] ^ first[i];
    memcpy(dst + words, src + words, n - words);
}
