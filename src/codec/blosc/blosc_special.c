/* SPDX-License-Identifier: BSD-3-Clause
 * Special chunks: zeros, NaNs, a value repeated, or nothing (read as zeros). */
#include "codec/blosc/blosc_decode.h"

#include "base/endian.h"
#include "base/num.h"

/* Bytes `off` on of the pattern repeated for ever. */
static void repeat(cip_bytes pattern, uint64_t off, uint8_t *dst, size_t n)
{
    size_t have = (size_t)cip_min_u64(n, pattern.len);
    for (size_t k = 0; k < have; k++)
        dst[k] = pattern.ptr[(off + k) % pattern.len];
    while (have < n) { /* what is there already, doubled each time */
        size_t more = (size_t)cip_min_u64(have - have % pattern.len, n - have);
        memcpy(dst + have, dst, more);
        have += more;
    }
}

void cip_blosc_special_fill(const cip_blosc_head *h, const uint8_t *chunk, uint64_t off,
                            uint8_t *dst, size_t n)
{
    uint8_t nan[8];
    if (h->special == CIP_BLOSC_VALUE) {
        repeat((cip_bytes){ chunk + h->header, h->cbytes - h->header }, off, dst, n);
    } else if (h->special == CIP_BLOSC_NANS) {
        if (h->typesize == 4)
            cip_store_u32(nan, UINT32_C(0x7FC00000), h->big);
        else
            cip_store_u64(nan, UINT64_C(0x7FF8000000000000), h->big);
        repeat((cip_bytes){ nan, h->typesize }, off, dst, n);
    } else if (n != 0) {
        memset(dst, 0, n);
    }
}
