/* SPDX-License-Identifier: BSD-3-Clause
 * Loads and stores of either byte order at any alignment; the host's order is never assumed. */
#ifndef CIP_BASE_ENDIAN_H
#define CIP_BASE_ENDIAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define CIP_HOST_BIG 1
#else
#define CIP_HOST_BIG 0
#endif

static inline uint16_t cip_load_u16(const void *p, bool big)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return big == (CIP_HOST_BIG != 0) ? v : __builtin_bswap16(v);
}

static inline uint32_t cip_load_u32(const void *p, bool big)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return big == (CIP_HOST_BIG != 0) ? v : __builtin_bswap32(v);
}

static inline uint64_t cip_load_u64(const void *p, bool big)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return big == (CIP_HOST_BIG != 0) ? v : __builtin_bswap64(v);
}

static inline void cip_store_u16(void *p, uint16_t v, bool big)
{
    v = big == (CIP_HOST_BIG != 0) ? v : __builtin_bswap16(v);
    memcpy(p, &v, sizeof v);
}

static inline void cip_store_u32(void *p, uint32_t v, bool big)
{
    v = big == (CIP_HOST_BIG != 0) ? v : __builtin_bswap32(v);
    memcpy(p, &v, sizeof v);
}

static inline void cip_store_u64(void *p, uint64_t v, bool big)
{
    v = big == (CIP_HOST_BIG != 0) ? v : __builtin_bswap64(v);
    memcpy(p, &v, sizeof v);
}

/* A float32 or float64 by its size, 4 or 8. */
static inline double cip_load_float(const void *p, size_t size, bool big)
{
    const uint32_t v4 = size == 4 ? cip_load_u32(p, big) : 0;
    const uint64_t v8 = size == 8 ? cip_load_u64(p, big) : 0;
    float f;
    double d;
    memcpy(&f, &v4, sizeof f);
    memcpy(&d, &v8, sizeof d);
    return size == 4 ? (double)f : d;
}

static inline void cip_store_float(void *p, double v, size_t size, bool big)
{
    const float f = size == 4 ? (float)v : 0;
    uint32_t v4;
    uint64_t v8;
    memcpy(&v4, &f, sizeof v4);
    memcpy(&v8, &v, sizeof v8);
    if (size == 4)
        cip_store_u32(p, v4, big);
    else
        cip_store_u64(p, v8, big);
}

#endif
