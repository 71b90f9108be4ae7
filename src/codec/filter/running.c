/* SPDX-License-Identifier: BSD-3-Clause
 * Delta and bytedelta undone. Delta: XOR with block 0 of the chunk, or in block 0 itself with the
 * word before. Bytedelta: in each of the streams that a byte shuffle left, running sums modulo 256.
 * What vector kernels leave is done eight bytes at a time. The order of bytes does not matter to
 * XOR: words only say how far back the other byte lies. */
#include "codec/filter/running.h"

#include <string.h>

#include "base/endian.h"
#include "codec/filter/filter.h"

static cip_running_fn *const running_xor[CIP_CPU_LEVELS] = CIP_CPU_ROWS(cip_running_xor);
static cip_running_fn *const running_sum[CIP_CPU_LEVELS] = CIP_CPU_ROWS(cip_running_sum);

static size_t run(cip_running_fn *const *rows, size_t width, const uint8_t *src, uint8_t *dst,
                  size_t n)
{
    cip_running_fn *fn;
    CIP_CPU_PICK(rows, fn);
    return fn != NULL ? fn(width, src, dst, n) : 0;
}

/* --- delta ----------------------------------------------------------------------------------- */

#define LOW(width) (UINT64_MAX >> (64 - 8 * (width))) /* one word */
#define ALL(width) (UINT64_MAX / LOW(width))          /* 1 in each word */

/* Words of `width` bytes, within eight bytes by doubling steps, then with the last word before, in
 * all places. Returns how many bytes it did. */
static inline size_t xor_words(size_t width, const uint8_t *restrict src, uint8_t *restrict dst,
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

static size_t xor_any(size_t width, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t done = run(running_xor, width, src, dst, n);
    if (done != 0)
        return done;
    switch (width) {
    case 1:
        return xor_words(1, src, dst, n);
    case 2:
        return xor_words(2, src, dst, n);
    case 4:
        return xor_words(4, src, dst, n);
    default:
        return xor_words(8, src, dst, n);
    }
}

void cip_undelta(uint32_t typesize, const uint8_t *first, const uint8_t *src, uint8_t *dst,
                 size_t n)
{
    size_t width = cip_delta_width(typesize), words = n - n % width;
    if (first == NULL)
        for (size_t at = xor_any(width, src, dst, words); at < words; at++)
            dst[at] = at < width ? src[at] : (uint8_t)(src[at] ^ dst[at - width]);
    else
        for (size_t i = 0; i < words; i++)
            dst[i] = src[i] ^ first[i];
    memcpy(dst + words, src + words, n - words);
}

/* --- bytedelta ------------------------------------------------------------------------------- */

#define EVEN UINT64_C(0x00FF00FF00FF00FF) /* every other byte, with room for a sum */
#define ONES UINT64_C(0x0001000100010001)

/* Eight bytes as four pairs: a product gives the sums of all pairs so far, in which nothing
 * overflows; the first of a pair has its second one too many. */
static void sum_bytes(const uint8_t *restrict src, uint8_t *restrict dst, size_t n)
{
    size_t at = run(running_sum, 1, src, dst, n);
    uint8_t sum = at != 0 ? dst[at - 1] : 0;
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
        sum_bytes(src + j * len, dst + j * len, head);
        sum_bytes(src + j * len + head, dst + j * len + head, len - head);
    }
    memcpy(dst + streams * len, src + streams * len, n - streams * len);
}
