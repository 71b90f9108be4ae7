/* SPDX-License-Identifier: BSD-3-Clause
 * The loops that convert numbers: one for each pair of types, written by macros. Values lie one
 * behind the other in host order, at any alignment. A loop counts the values that overflow; what
 * "overflow" means for a pair is said once, in the functions i_to_, u_to_ and f_to_ of its target,
 * which take signed, unsigned and floating values in their widest type. */
#include "array/cast_kernels.h"

#include <math.h>
#include <string.h>

/* To integers. BELOW and ABOVE are the doubles next to those that truncate to `low` and `high`. */
#define TO_INTEGER(name, type, low_value, high_value, BELOW, ABOVE)                                \
    static inline bool i_to_##name(int64_t v, type *out, bool wrap)                                \
    {                                                                                              \
        const type low = (low_value), high = (high_value);                                         \
        bool over = (int64_t)(type)v != v || (v < 0 && low == 0);                                  \
        *out = !over || wrap ? (type)v : v < 0 ? low : high;                                       \
        return over;                                                                               \
    }                                                                                              \
    static inline bool u_to_##name(uint64_t v, type *out, bool wrap)                               \
    {                                                                                              \
        const type high = (high_value);                                                            \
        bool over = v > (uint64_t)high;                                                            \
        *out = !over || wrap ? (type)v : high;                                                     \
        return over;                                                                               \
    }                                                                                              \
    static inline bool f_to_##name(double v, type *out, bool wrap)                                 \
    {                                                                                              \
        const type low = (low_value), high = (high_value);                                         \
        (void)wrap;                                                                                \
        if (v > (BELOW) && v < (ABOVE)) {                                                          \
            *out = (type)v;                                                                        \
            return false;                                                                          \
        }                                                                                          \
        *out = v >= (ABOVE) ? high : v <= (BELOW) ? low : 0; /* NaN: 0 */                          \
        return true;                                                                               \
    }

TO_INTEGER(i8, int8_t, INT8_MIN, INT8_MAX, -129.0, 128.0)
TO_INTEGER(i16, int16_t, INT16_MIN, INT16_MAX, -32769.0, 32768.0)
TO_INTEGER(i32, int32_t, INT32_MIN, INT32_MAX, -2147483649.0, 2147483648.0)
TO_INTEGER(i64, int64_t, INT64_MIN, INT64_MAX, -0x1.0000000000001p63, 0x1p63)
TO_INTEGER(u8, uint8_t, 0, UINT8_MAX, -1.0, 256.0)
TO_INTEGER(u16, uint16_t, 0, UINT16_MAX, -1.0, 65536.0)
TO_INTEGER(u32, uint32_t, 0, UINT32_MAX, -1.0, 4294967296.0)
TO_INTEGER(u64, uint64_t, 0, UINT64_MAX, -1.0, 0x1p64)

/* Nothing overflows: any integer is within a float's range, and anything is zero or not. */
#define TO_WIDE(name, type, VALUE)                                                                 \
    static inline bool i_to_##name(int64_t v, type *out, bool wrap)                                \
    {                                                                                              \
        (void)wrap;                                                                                \
        *out = VALUE;                                                                              \
        return false;                                                                              \
    }                                                                                              \
    static inline bool u_to_##name(uint64_t v, type *out, bool wrap)                               \
    {                                                                                              \
        (void)wrap;                                                                                \
        *out = VALUE;                                                                              \
        return false;                                                                              \
    }

#define TO_WIDE_FROM_FLOAT(name, type, VALUE)                                                      \
    TO_WIDE(name, type, VALUE)                                                                     \
    static inline bool f_to_##name(double v, type *out, bool wrap)                                 \
    {                                                                                              \
        (void)wrap;                                                                                \
        *out = VALUE;                                                                              \
        return false;                                                                              \
    }

TO_WIDE_FROM_FLOAT(b8, uint8_t, v != 0)
TO_WIDE_FROM_FLOAT(f64, double, (double)v)
TO_WIDE(f32, float, (float)v)

static inline bool f_to_f32(double v, float *out, bool wrap)
{
    (void)wrap;
    *out = (float)v;
    return isinf(*out) && !isinf(v);
}

#define KERNEL(source, source_type, CLASS, target, target_type)                                    \
    static uint64_t source##_to_##target(size_t n, const uint8_t *restrict src,                    \
                                         uint8_t *restrict dst, bool wrap)                         \
    {                                                                                              \
        uint64_t over = 0;                                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            source_type v;                                                                         \
            target_type w;                                                                         \
            memcpy(&v, src + i * sizeof v, sizeof v);                                              \
            over += CLASS##_to_##target(v, &w, wrap);                                              \
            memcpy(dst + i * sizeof w, &w, sizeof w);                                              \
        }                                                                                          \
        return over;                                                                               \
    }

#define KERNELS_FROM(source, type, CLASS)                                                          \
    KERNEL(source, type, CLASS, b8, uint8_t)                                                       \
    KERNEL(source, type, CLASS, i8, int8_t)                                                        \
    KERNEL(source, type, CLASS, i16, int16_t)                                                      \
    KERNEL(source, type, CLASS, i32, int32_t)                                                      \
    KERNEL(source, type, CLASS, i64, int64_t)                                                      \
    KERNEL(source, type, CLASS, u8, uint8_t)                                                       \
    KERNEL(source, type, CLASS, u16, uint16_t)                                                     \
    KERNEL(source, type, CLASS, u32, uint32_t)                                                     \
    KERNEL(source, type, CLASS, u64, uint64_t)                                                     \
    KERNEL(source, type, CLASS, f32, float)                                                        \
    KERNEL(source, type, CLASS, f64, double)

KERNELS_FROM(i8, int8_t, i)
KERNELS_FROM(i16, int16_t, i)
KERNELS_FROM(i32, int32_t, i)
KERNELS_FROM(i64, int64_t, i)
KERNELS_FROM(u8, uint8_t, u)
KERNELS_FROM(u16, uint16_t, u)
KERNELS_FROM(u32, uint32_t, u)
KERNELS_FROM(u64, uint64_t, u)
KERNELS_FROM(f32, float, f)
KERNELS_FROM(f64, double, f)

#define ROW(source)                                                                                \
    {                                                                                              \
        [CIP_BOOL] = source##_to_b8, [CIP_I8] = source##_to_i8, [CIP_I16] = source##_to_i16,       \
        [CIP_I32] = source##_to_i32, [CIP_I64] = source##_to_i64, [CIP_U8] = source##_to_u8,       \
        [CIP_U16] = source##_to_u16, [CIP_U32] = source##_to_u32, [CIP_U64] = source##_to_u64,     \
        [CIP_F32] = source##_to_f32, [CIP_F64] = source##_to_f64                                   \
    }

cip_num_kernel *cip_num_kernel_of(cip_kind from, cip_kind to)
{
    static cip_num_kernel *const kernels[CIP_F64 + 1][CIP_F64 + 1] = {
        [CIP_I8] = ROW(i8),   [CIP_I16] = ROW(i16), [CIP_I32] = ROW(i32), [CIP_I64] = ROW(i64),
        [CIP_U8] = ROW(u8),   [CIP_U16] = ROW(u16), [CIP_U32] = ROW(u32), [CIP_U64] = ROW(u64),
        [CIP_F32] = ROW(f32), [CIP_F64] = ROW(f64),
    };
    return kernels[from][to];
}
