/* SPDX-License-Identifier: BSD-3-Clause
 * Delta undone: XOR with block 0 of the chunk, or in block 0 itself with the word before. The order
 * of bytes does not matter to XOR: words only say how far back the other byte lies. */
#include "codec/filter/filter.h"

#include <string.h>

#include "base/endian.h"

#define LOW(width) (UINT64_MAX >> (64 - 8 * (width))) /* one word */
#define ALL(width) (UINT64_MAX / LOW(width))          /* 1 in each word */

/* Running XOR of words of `width` bytes, eight bytes at a time: within them by doubling steps, then
 * with the last word before, in all places. */
static inline size_t running(size_t width, const uint8_t *restrict src, uint8_t *restrict dst,
                             size_t n)
{
    uint64_t last = 0;
    size_t at = 0;
    for (; at + 8 <= n; at += 8) {
        uint64_t x = cip_load_u64(src + at, false);
        for (size_t shift = 8 * width; shift < 64; shift *= 2)
            x ^= x << shift;
        cip_store_u64(dst + at, x ^ last * ALL(width), false);
        last ^= x >> (64 - 8 * width);
    }
    return at;
}

void cip_undelta(uint32_t typesize, const uint8_t *first, const uint8_t *src, uint8_t *dst,
                 size_t n)
{
    size_t width = cip_delta_width(typesize), words = n - n % width;
    if (first == NULL) {
        size_t at;
        switch (width) {
        case 1:
            at = running(1, src, dst, words);
            break;
        case 2:
            at = running(2, src, dst, words);
            break;
        case 4:
            at = running(4, src, dst, words);
            break;
        default:
            at = running(8, src, dst, words);
        }
        for (; at < words; at++)
            dst[at] = at < width ? src[at] : (uint8_t)(src[at] ^ dst[at - width]);
    } else
        for (size_t i = 0; i < words; i++)
            dst[i] = src[i] ^ first[i];
    memcpy(dst + words, src + words, n - words);
}
