/* SPDX-License-Identifier: BSD-3-Clause
 * IEEE 754 binary16 to and from wider floats, bit exact on any machine: subnormals, round to
 * nearest even, infinities; the payload of a NaN is kept as far as it fits, and made quiet. */
#ifndef CIP_ARRAY_HALF_H
#define CIP_ARRAY_HALF_H

#include <stdint.h>
#include <string.h>

/* Without branches, so that loops of it vectorise. */
static inline float cip_half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    uint32_t normal = (exponent + 112) << 23 | fraction << 13; /* biases 15 and 127 */
    uint32_t nan = 0x7f800000 | fraction << 13 | (uint32_t)(fraction != 0) << 22;
    float count = (float)(int32_t)fraction * 0x1p-24f; /* subnormal; exact in a float */
    uint32_t bits, is_count = 0u - (exponent == 0), is_nan = 0u - (exponent == 31);
    memcpy(&bits, &count, sizeof bits);
    bits = sign | (bits & is_count) | (nan & is_nan) | (normal & ~(is_count | is_nan));
    memcpy(&count, &bits, sizeof count);
    return count;
}

static inline uint16_t cip_half_from_double(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    uint64_t fraction = bits & 0xfffffffffffff;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == 1024 && fraction != 0)
        return (uint16_t)(sign | 0x7e00 | fraction >> 42);
    if (exponent > 15)
        return sign | 0x7c00;
    if (exponent < -25) /* below half of the smallest subnormal */
        return sign;
    /* Exponent and fraction as one number, so that a carry from rounding runs into the exponent,
     * and the number of its bits that are rounded off. */
    uint64_t x = fraction | UINT64_C(1) << 52;
    int drop = 28 - exponent; /* subnormal: counts 2^-24 */
    if (exponent >= -14) {
        x = (uint64_t)(exponent + 15) << 52 | fraction;
        drop = 42;
    }
    uint64_t kept = x >> drop, rest = x - (kept << drop), tie = UINT64_C(1) << (drop - 1);
    kept += rest > tie || (rest == tie && (kept & 1) != 0);
    return (uint16_t)(sign | kept);
}

#endif
