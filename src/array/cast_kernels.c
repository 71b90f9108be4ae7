/* SPDX-License-Identifier: BSD-3-Clause
 * The loops that convert numbers: one for each pair of types, written by macros. Values lie one
 * behind the other in host order, at any alignment. A loop counts the values that overflow; what
 * "overflow" means for a pair is said once, in the functions i_to_, u_to_ and f_to_ of its target,
 * which take signed, unsigned and floating values in their widest type.
 *
 * Where a value may be in range and yet not be held (a fraction by an integer, a large integer by a
 * float, a 2 by a bool), the pair has a second loop that counts each value that is not held
 * exactly, in functions i_exact_, u_exact_ and f_exact_. These decide by comparing what came out
 * with what went in, or by the bits of an integer, without branches of their own. */
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

/* --- exactly ---------------------------------------------------------------------------------- */

/* What is out of range differs from what came out too, but for 2^63 and 2^64, which a double cannot
 * tell from the largest integer. Moving the value into the range without a branch first was slower.
 */
#define EXACT_INTEGER(name, type)                                                                  \
    static inline bool f_exact_##name(double v, type *out, bool wrap)                              \
    {                                                                                              \
        bool over = f_to_##name(v, out, wrap);                                                     \
        return over | ((double)*out != v);                                                         \
    }

EXACT_INTEGER(i8, int8_t)
EXACT_INTEGER(i16, int16_t)
EXACT_INTEGER(i32, int32_t)
EXACT_INTEGER(i64, int64_t)
EXACT_INTEGER(u8, uint8_t)
EXACT_INTEGER(u16, uint16_t)
EXACT_INTEGER(u32, uint32_t)
EXACT_INTEGER(u64, uint64_t)

/* A float of `digits` bits holds an integer when no bit of it is 2^digits or more times its lowest
 * one: m < low * 2^digits. Of 0 the lowest bit is none, and one less of it is the largest number.
 */
static inline bool too_long(uint64_t m, int digits)
{
    return (m >> digits) > (m & (0 - m)) - 1;
}

#define EXACT_FLOAT(name, type, digits)                                                            \
    static inline bool i_exact_##name(int64_t v, type *out, bool wrap)                             \
    {                                                                                              \
        (void)wrap;                                                                                \
        *out = (type)v;                                                                            \
        return too_long(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, digits);                            \
    }                                                                                              \
    static inline bool u_exact_##name(uint64_t v, type *out, bool wrap)                            \
    {                                                                                              \
        (void)wrap;                                                                                \
        *out = (type)v;                                                                            \
        return too_long(v, digits);                                                                \
    }

EXACT_FLOAT(f32, float, 24)
EXACT_FLOAT(f64, double, 53)

#define EXACT_BOOL(CLASS, type)                                                                    \
    static inline bool CLASS##_exact_b8(type v, uint8_t *out, bool wrap)                           \
    {                                                                                              \
        (void)wrap;                                                                                \
        *out = v != 0;                                                                             \
        return (type)*out != v;                                                                    \
    }

EXACT_BOOL(i, int64_t)
EXACT_BOOL(u, uint64_t)
EXACT_BOOL(f, double)

/* --- the loops -------------------------------------------------------------------------------- */

#define LOOP(source, source_type, WAY, target, target_type)                                        \
    static uint64_t source##_##WAY##_##target(size_t n, const uint8_t *restrict src,               \
                                              uint8_t *restrict dst, bool wrap)                    \
    {                                                                                              \
        uint64_t over = 0;                                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            source_type v;                                                                         \
            target_type w;                                                                         \
            memcpy(&v, src + i * sizeof v, sizeof v);                                              \
            over += WAY##_##target(v, &w, wrap);                                                   \
            memcpy(dst + i * sizeof w, &w, sizeof w);                                              \
        }                                                                                          \
        return over;                                                                               \
    }

#define KERNEL(source, type, CLASS, target, target_type)                                           \
    LOOP(source, type, CLASS##_to, target, target_type)
#define EXACT(source, type, CLASS, target, target_type)                                            \
    LOOP(source, type, CLASS##_exact, target, target_type)

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
    KERNEL(source, type, CLASS, f64, double)                                                       \
    EXACT(source, type, CLASS, b8, uint8_t)

#define EXACT_FROM_FLOAT(source, type)                                                             \
    EXACT(source, type, f, i8, int8_t)                                                             \
    EXACT(source, type, f, i16, int16_t)                                                           \
    EXACT(source, type, f, i32, int32_t)                                                           \
    EXACT(source, type, f, i64, int64_t)                                                           \
    EXACT(source, type, f, u8, uint8_t)                                                            \
    EXACT(source, type, f, u16, uint16_t)                                                          \
    EXACT(source, type, f, u32, uint32_t)                                                          \
    EXACT(source, type, f, u64, uint64_t)

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
EXACT_FROM_FLOAT(f32, float)
EXACT_FROM_FLOAT(f64, double)
EXACT(i32, int32_t, i, f32, float)
EXACT(u32, uint32_t, u, f32, float)
EXACT(i64, int64_t, i, f32, float)
EXACT(u64, uint64_t, u, f32, float)
EXACT(i64, int64_t, i, f64, double)
EXACT(u64, uint64_t, u, f64, double)

#define ROW(source, CLASS)                                                                         \
    {                                                                                              \
        [CIP_BOOL] = source##_##CLASS##_to_b8, [CIP_I8] = source##_##CLASS##_to_i8,                \
        [CIP_I16] = source##_##CLASS##_to_i16, [CIP_I32] = source##_##CLASS##_to_i32,              \
        [CIP_I64] = source##_##CLASS##_to_i64, [CIP_U8] = source##_##CLASS##_to_u8,                \
        [CIP_U16] = source##_##CLASS##_to_u16, [CIP_U32] = source##_##CLASS##_to_u32,              \
        [CIP_U64] = source##_##CLASS##_to_u64, [CIP_F32] = source##_##CLASS##_to_f32,              \
        [CIP_F64] = source##_##CLASS##_to_f64                                                      \
    }

#define EXACT_ROW_FROM_FLOAT(source)                                                               \
    {                                                                                              \
        [CIP_BOOL] = source##_f_exact_b8, [CIP_I8] = source##_f_exact_i8,                          \
        [CIP_I16] = source##_f_exact_i16, [CIP_I32] = source##_f_exact_i32,                        \
        [CIP_I64] = source##_f_exact_i64, [CIP_U8] = source##_f_exact_u8,                          \
        [CIP_U16] = source##_f_exact_u16, [CIP_U32] = source##_f_exact_u32,                        \
        [CIP_U64] = source##_f_exact_u64                                                           \
    }

cip_num_kernel *cip_num_kernel_of(cip_kind from, cip_kind to, bool exact)
{
    static cip_num_kernel *const kernels[CIP_F64 + 1][CIP_F64 + 1] = {
        [CIP_I8] = ROW(i8, i),   [CIP_I16] = ROW(i16, i), [CIP_I32] = ROW(i32, i),
        [CIP_I64] = ROW(i64, i), [CIP_U8] = ROW(u8, u),   [CIP_U16] = ROW(u16, u),
        [CIP_U32] = ROW(u32, u), [CIP_U64] = ROW(u64, u), [CIP_F32] = ROW(f32, f),
        [CIP_F64] = ROW(f64, f),
    };
    static cip_num_kernel *const exactly[CIP_F64 + 1][CIP_F64 + 1] = {
        [CIP_I8] = { [CIP_BOOL] = i8_i_exact_b8 },
        [CIP_I16] = { [CIP_BOOL] = i16_i_exact_b8 },
        [CIP_I32] = { [CIP_BOOL] = i32_i_exact_b8, [CIP_F32] = i32_i_exact_f32 },
        [CIP_I64] = { [CIP_BOOL] = i64_i_exact_b8,
                      [CIP_F32] = i64_i_exact_f32,
                      [CIP_F64] = i64_i_exact_f64 },
        [CIP_U8] = { [CIP_BOOL] = u8_u_exact_b8 },
        [CIP_U16] = { [CIP_BOOL] = u16_u_exact_b8 },
        [CIP_U32] = { [CIP_BOOL] = u32_u_exact_b8, [CIP_F32] = u32_u_exact_f32 },
        [CIP_U64] = { [CIP_BOOL] = u64_u_exact_b8,
                      [CIP_F32] = u64_u_exact_f32,
                      [CIP_F64] = u64_u_exact_f64 },
        [CIP_F32] = EXACT_ROW_FROM_FLOAT(f32),
        [CIP_F64] = EXACT_ROW_FROM_FLOAT(f64),
    };
    return exact && exactly[from][to] != NULL ? exactly[from][to] : kernels[from][to];
}
