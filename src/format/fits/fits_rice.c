/* SPDX-License-Identifier: BSD-3-Clause
 * Rice codes as FITS has them (standard 4.0, 10.4.1). The first value stands alone. Then each run
 * of values begins with a number of bits, fs + 1: 0 says that nothing changes in the run, the
 * largest one that differences are stored whole. Any other difference is zeros that count its upper
 * bits, a one, and its lower fs bits. Differences of either sign are folded to 0, -1, 1, -2 ...;
 * all is done modulo 2^bits. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/fits/fits.h"

/* The next bits are the highest of `window`: `have` of them, and below these zeros, or bits that
 * the next fill brings again. Behind the end come zeros; `beyond` counts their bytes. */
typedef struct bits {
    const uint8_t *at, *end;
    uint64_t window;
    unsigned have, beyond;
} bits;

/* At least 56 bits. */
static inline void fill_bits(bits *b)
{
    if (b->end - b->at >= 8) {
        b->window |= cip_load_u64(b->at, true) >> b->have;
        b->at += (63 - b->have) >> 3;
        b->have |= 56;
        return;
    }
    for (; b->have <= 56; b->have += 8) {
        if (b->at < b->end)
            b->window |= (uint64_t)*b->at++ << (56 - b->have);
        else
            b->beyond++;
    }
}

/* 1 <= n <= 32 */
static inline uint32_t take(bits *b, unsigned n)
{
    if (b->have < n)
        fill_bits(b);
    const uint32_t v = (uint32_t)(b->window >> (64 - n));
    b->window <<= n;
    b->have -= n;
    return v;
}

/* Whether bits behind the end were taken. */
static inline bool ended(const bits *b)
{
    return 8 * (uint64_t)b->beyond > b->have;
}

/* Zeros before the next one, which is taken too. */
static inline uint64_t take_zeros(bits *b)
{
    uint64_t n = 0;
    for (;;) {
        fill_bits(b);
        const unsigned zeros = b->window != 0 ? (unsigned)__builtin_clzll(b->window) : 64;
        if (zeros < b->have) {
            b->window = b->window << zeros << 1;
            b->have -= zeros + 1;
            return n + zeros;
        }
        n += b->have;
        b->window = 0;
        b->have = 0;
        if (b->beyond != 0)
            return n;
    }
}

/* n values of a run, of `width` bytes, which is a constant of the caller. */
static inline __attribute__((always_inline)) void
take_run(bits *b, unsigned fs, bool whole, uint32_t width, uint64_t n, uint32_t *last, uint8_t *out)
{
    for (uint64_t i = 0; i < n && !ended(b); i++, out += width) {
        uint32_t d = whole ? take(b, 8 * width) : (uint32_t)(take_zeros(b) << fs);
        if (!whole && fs != 0)
            d |= take(b, fs);
        *last += (d >> 1) ^ (0 - (d & 1));
        if (width == 1)
            *out = (uint8_t)*last;
        else if (width == 2)
            cip_store_u16(out, (uint16_t)*last, true);
        else
            cip_store_u32(out, *last, true);
    }
}

cip_status cip_fits_rice(cip_bytes in, uint32_t width, uint64_t block, uint64_t n, uint8_t *out,
                         cip_err *err)
{
    const unsigned head = width == 1 ? 3 : width == 2 ? 4 : 5;
    const unsigned most = width == 1 ? 6 : width == 2 ? 14 : 25;
    bits b = { .at = in.ptr, .end = in.ptr + in.len };
    uint32_t last = take(&b, 8 * width);
    for (uint64_t left = n; left != 0 && !ended(&b);) {
        const unsigned code = take(&b, head), fs = code - 1;
        const uint64_t run = cip_min_u64(left, block);
        if (code > most + 1)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected Rice codes of at most %u bits, found %u", most, fs);
        for (uint64_t i = 0; code == 0 && i < run; i++)
            for (uint32_t k = 0; k < width; k++)
                out[i * width + k] = (uint8_t)(last >> 8 * (width - 1 - k));
        if (code != 0 && width == 1)
            take_run(&b, fs, fs == most, 1, run, &last, out);
        else if (code != 0 && width == 2)
            take_run(&b, fs, fs == most, 2, run, &last, out);
        else if (code != 0)
            take_run(&b, fs, fs == most, 4, run, &last, out);
        out += run * width;
        left -= run;
    }
    if (!ended(&b))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                    "expected more than %zu bytes of Rice codes", in.len);
}
