/* SPDX-License-Identifier: BSD-3-Clause
 * Moving elements between types, byte orders and strides. */
#ifndef CIP_ARRAY_CAST_H
#define CIP_ARRAY_CAST_H

#include <stdbool.h>

#include "array/elem.h"
#include "array/view.h"
#include "cippus/array.h"

/* How to turn elements of `from` into elements of `to`: made once, used from many threads. */
typedef struct cip_cast {
    const cip_dtype *from, *to;
    uint8_t how;  /* private: copy, byte swap, convert, record, text, ... */
    uint8_t swap; /* private: width to swap */
    cip_overflow policy;
} cip_cast;

/* What a cast met. Zero-initialise; add up with cip_cast_merge. */
typedef struct cip_cast_stats {
    uint64_t noverflow; /* values that the policy counts; a record may have several */
    uint64_t first;     /* index of the first element that has one; only where noverflow > 0 */
} cip_cast_stats;

/* Which casts exist: any number to any number (bool, ints, floats, complex; complex to real only
 * where the imaginary part is 0, otherwise counted as overflow), equal-kind texts of any length
 * (longer ones are cut: overflow), ascii <-> ucs4 (what is not ASCII becomes U+FFFD or '?':
 * overflow), times of one kind and unit to the same or to int64, opaque to the same width, records
 * field by field in order with equal counts and shapes. TYPE otherwise. */
cip_status cip_cast_make(const cip_dtype *from, const cip_dtype *to, cip_overflow policy,
                         cip_cast *out, cip_err *err);

/* n elements from src (stride bytes apart) to dst. Any alignment. src and dst may be the same
 * memory only when cip_cast_in_place says so. `base` is added to indices in `stats`. */
void cip_cast_run(const cip_cast *c, size_t n, const uint8_t *src, int64_t src_stride, uint8_t *dst,
                  int64_t dst_stride, uint64_t base, cip_cast_stats *stats);
/* Whether it is a plain copy of bytes. */
bool cip_cast_is_copy(const cip_cast *c);
/* Whether src == dst with equal strides works (copy or byte swap of equal widths). */
bool cip_cast_in_place(const cip_cast *c);
void cip_cast_merge(cip_cast_stats *into, const cip_cast_stats *from);
/* RANGE naming the first value's index when policy is CIP_OVERFLOW_ERROR and there were any; and
 * `field`, by which the caller's options accept it (NULL: nothing does). */
cip_status cip_cast_check(const cip_cast *c, const cip_cast_stats *stats, const char *field,
                          cip_err *err);

/* n-d: every element of src (at src_base + src->off ...) into dst with the same shape; they do not
 * overlap. Indices in `stats` count elements in C order of that shape. */
void cip_copy_nd(const cip_cast *c, const cip_nd *src, const uint8_t *src_base, const cip_nd *dst,
                 uint8_t *dst_base, cip_cast_stats *stats);

/* One element as text for people ("1.5", "(1+2j)", "True", "'abc'", "(1, 2.5)"); numpy's
 * repr-shortest numbers that read back equal. Appends to b. */
struct cip_buf;
cip_status cip_elem_format(const cip_dtype *d, const uint8_t *p, struct cip_buf *b, cip_err *err);

/* dst[i] = whether element i of n, packed, is the number *value of the same type: any NaN is any
 * other (a complex with one in either part), -0.0 is 0.0. What is no float byte by byte. */
cip_status cip_equal_run(const cip_dtype *d, const uint8_t *value, const uint8_t *src, size_t n,
                         uint8_t *dst, cip_err *err);

#endif
