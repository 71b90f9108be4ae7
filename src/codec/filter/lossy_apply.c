/* SPDX-License-Identifier: BSD-3-Clause
 * The filters that lose bits: trunc_prec for floats, int_trunc for integers. What they give is read
 * as it is, so nothing undoes them. */
#include <string.h>

#include "codec/filter/apply.h"

enum { MANTISSA_4 = 23, MANTISSA_8 = 52 };

/* Each element of `width` bytes, its lowest `zero` bits cleared. */
static void clear_low(size_t width, bool big, int zero, const uint8_t *src, uint8_t *dst, size_t n)
{
    size_t done = n - n % width;
    uint8_t keep[8];
    for (size_t j = 0; j < width; j++) { /* the lowest byte first */
        int bits = zero - 8 * (int)j;
        keep[big ? width - 1 - j : j] = (uint8_t)(bits <= 0 ? 0xff : bits >= 8 ? 0 : 0xff << bits);
    }
    for (size_t i = 0; i < done; i += width)
        for (size_t j = 0; j < width; j++)
            dst[i + j] = src[i + j] & keep[j];
    memcpy(dst + done, src + done, n - done);
}

/* How many bits of `bits` meta says to clear; all of them would leave nothing. */
static cip_status cleared(const char *name, uint8_t meta, int bits, int *zero, cip_err *err)
{
    int m = (int8_t)meta, z = m >= 0 ? bits - m : -m;
    if (z < 0 || z >= bits)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected from 1 to %d bits for %s to keep, or -1 to %d to zero, found %d",
                        bits, name, 1 - bits, m);
    *zero = z;
    return CIP_OK;
}

cip_status cip_trunc_prec_apply(const cip_filter_env *env, const uint8_t *src, uint8_t *dst,
                                size_t n, cip_err *err)
{
    int zero;
    if (env->typesize != 4 && env->typesize != 8)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a typesize of 4 or 8 for trunc_prec, found %" PRIu32,
                        env->typesize);
    CIP_TRY(
        cleared("trunc_prec", env->meta, env->typesize == 4 ? MANTISSA_4 : MANTISSA_8, &zero, err));
    clear_low(env->typesize, env->big, zero, src, dst, n);
    return CIP_OK;
}

cip_status cip_int_trunc_apply(const cip_filter_env *env, const uint8_t *src, uint8_t *dst,
                               size_t n, cip_err *err)
{
    int zero;
    uint32_t w = env->typesize;
    if (w != 1 && w != 2 && w != 4 && w != 8)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a typesize of 1, 2, 4 or 8 for int_trunc, found %" PRIu32, w);
    CIP_TRY(cleared("int_trunc", env->meta, 8 * (int)w, &zero, err));
    clear_low(w, env->big, zero, src, dst, n);
    return CIP_OK;
}
