/* SPDX-License-Identifier: BSD-3-Clause
 * Rice codes as FITS has them (standard 4.0, 10.4.1). The first value stands alone. Then each run
 * of values begins with a number of bits, fs + 1: 0 says that nothing changes in the run, the
 * largest one that differences are stored whole. Any other difference is zeros that count its upper
 * bits, a one, and its lower fs bits. Differences of either sign are folded to 0, -1, 1, -2 ...;
 * all is done modulo 2^bits. */
#include <string.h>

#include "base/endian.h"
#include "format/fits/fits.h"

/* Bits of `in`, the most significant first; reads past the end give zeros and set `over`. */
typedef struct bits {
    cip_bytes in;
    size_t at;
    uint64_t window; /* its lowest `have` bits are the next ones */
    unsigned have;
    bool over;
} bits;

static void fill_bits(bits *b)
{
    while (b->have <= 48) {
        b->over |= b->at >= b->in.len + 8; /* a window may reach beyond the end, a value may not */
        b->window = b->window << 8 | (b->at < b->in.len ? b->in.ptr[b->at] : 0);
        b->at++;
        b->have += 8;
    }
}

/* n <= 32 */
static uint32_t take(bits *b, unsigned n)
{
    fill_bits(b);
    b->have -= n;
    return (uint32_t)(b->window >> b->have & ((UINT64_C(1) << n) - 1));
}

/* Zeros before the next one, which is taken too. */
static uint64_t take_zeros(bits *b)
{
    uint64_t n = 0;
    for (;; b->have = 0) {
        fill_bits(b);
        const uint64_t rest = b->window & ((UINT64_C(1) << b->have) - 1);
        if (rest != 0) {
            const unsigned zeros = (unsigned)__builtin_clzll(rest) - (64 - b->have);
            b->have -= zeros + 1;
            return n + zeros;
        }
        n += b->have;
        if (b->over)
            return n;
    }
}

static bool ended(const bits *b)
{
    return b->over || 8 * (uint64_t)b->at - b->have > 8 * (uint64_t)b->in.len;
}

static void store(uint8_t *out, uint32_t width, uint32_t v)
{
    if (width == 1)
        *out = (uint8_t)v;
    else if (width == 2)
        cip_store_u16(out, (uint16_t)v, true);
    else
        cip_store_u32(out, v, true);
}

static uint32_t take_difference(bits *b, unsigned fs, bool whole, unsigned nbits)
{
    const uint32_t d =
        whole ? take(b, nbits) : (uint32_t)(take_zeros(b) << fs) | (fs != 0 ? take(b, fs) : 0);
    return d & 1 ? ~(d >> 1) : d >> 1;
}

cip_status cip_fits_rice(cip_bytes in, uint32_t width, uint64_t block, uint64_t n, uint8_t *out,
                         cip_err *err)
{
    const unsigned nbits = 8 * width, head = width == 1 ? 3 : width == 2 ? 4 : 5;
    const unsigned most = width == 1 ? 6 : width == 2 ? 14 : 25;
    bits b = { .in = in };
    uint32_t last = take(&b, nbits);
    for (uint64_t i = 0; i < n && !ended(&b);) {
        const unsigned code = take(&b, head), fs = code - 1;
        if (code > most + 1)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected Rice codes of at most %u bits, found %u", most, fs);
        for (uint64_t end = n - i < block ? n : i + block; i < end; i++, out += width) {
            if (code != 0)
                last += take_difference(&b, fs, fs == most, nbits);
            store(out, width, last);
            if (b.over)
                break;
        }
    }
    if (!ended(&b))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                    "expected more than %zu bytes of Rice codes", in.len);
}
