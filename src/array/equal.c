/* SPDX-License-Identifier: BSD-3-Clause
 * Which elements are a certain number, as a mask means it. */
#include <string.h>

#include "array/cast.h"

enum { BATCH = 256 }; /* numbers compared at once */

/* Numbers of the type as doubles, one or (real and imaginary part) two each. */
static cip_status as_doubles(const cip_dtype *d, const uint8_t *src, size_t n, double *dst,
                             cip_err *err)
{
    bool pairs = d->kind == CIP_C64 || d->kind == CIP_C128;
    const cip_dtype *to = cip_dtype_of(pairs ? CIP_C128 : CIP_F64);
    cip_cast cast;
    cip_cast_stats stats = { 0, 0 };
    CIP_TRY(cip_cast_make(d, to, CIP_OVERFLOW_CLAMP, &cast, err));
    cip_cast_run(&cast, n, src, (int64_t)d->itemsize, (uint8_t *)dst, (int64_t)to->itemsize, 0,
                 &stats);
    return CIP_OK;
}

static bool has_nan(const double *v, size_t parts)
{
    return v[0] != v[0] || v[parts - 1] != v[parts - 1];
}

cip_status cip_equal_run(const cip_dtype *d, const uint8_t *value, const uint8_t *src, size_t n,
                         uint8_t *dst, cip_err *err)
{
    const size_t parts = d->kind == CIP_C64 || d->kind == CIP_C128 ? 2 : 1;
    if (parts == 1 && d->kind != CIP_F16 && d->kind != CIP_F32 && d->kind != CIP_F64) {
        for (size_t i = 0; i < n; i++)
            dst[i] = memcmp(src + i * d->itemsize, value, d->itemsize) == 0;
        return CIP_OK;
    }
    double want[2], buf[2 * BATCH];
    CIP_TRY(as_doubles(d, value, 1, want, err));
    const bool nan = has_nan(want, parts);
    for (size_t i = 0; i < n; i += BATCH) {
        size_t m = n - i < BATCH ? n - i : BATCH;
        CIP_TRY(as_doubles(d, src + i * d->itemsize, m, buf, err));
        for (size_t k = 0; k < m; k++) {
            const double *v = buf + k * parts;
            dst[i + k] =
                nan ? has_nan(v, parts) : v[0] == want[0] && v[parts - 1] == want[parts - 1];
        }
    }
    return CIP_OK;
}
