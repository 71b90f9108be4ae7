/* SPDX-License-Identifier: BSD-3-Clause
 * Special chunks: zeros, NaNs, a value repeated, or nothing (read as zeros). */
#include "codec/blosc/blosc_decode.h"

#include "base/endian.h"

void cip_blosc_special_fill(const cip_blosc_head *h, const uint8_t *chunk, uint64_t off,
                            uint8_t *dst, size_t n)
{
    uint8_t own[8] = { 0 };
    cip_bytes pattern = { own, 1 };
    if (h->special == CIP_BLOSC_VALUE) {
        pattern = (cip_bytes){ chunk + h->header, h->cbytes - h->header };
    } else if (h->special == CIP_BLOSC_NANS) {
        pattern.len = h->typesize;
        if (h->typesize == 4)
            cip_store_u32(own, UINT32_C(0x7FC00000), h->big);
        else
            cip_store_u64(own, UINT64_C(0x7FF8000000000000), h->big);
    }
    cip_bytes_repeat(pattern, off, dst, n);
}
