/* SPDX-License-Identifier: BSD-3-Clause
 * The kinds of casts and what runs them; only for the files cast*.c and copy_nd.c. */
#ifndef CIP_ARRAY_CAST_KERNELS_H
#define CIP_ARRAY_CAST_KERNELS_H

#include "array/cast.h"

/* cip_cast.how */
enum {
    CIP_CAST_COPY = 1, /* bytes as they are */
    CIP_CAST_SWAP,     /* words of cip_cast.swap bytes turned round */
    CIP_CAST_BOOL,     /* nonzero bytes become 1 */
    CIP_CAST_NUMBER,
    CIP_CAST_TEXT,
    CIP_CAST_RECORD
};

/* n elements to be moved: where from and where to. */
typedef struct cip_run {
    size_t n;
    const uint8_t *src;
    int64_t src_stride;
    uint8_t *dst;
    int64_t dst_stride;
} cip_run;

/* Elements of `size` bytes as they are, or as words of `swap` (2, 4, 8) bytes turned round; swap 0
 * or 1: as they are. src == dst with equal strides is fine. */
void cip_move(const cip_run *r, size_t size, unsigned swap);

/* Nonzero bytes become 1. src == dst with equal strides is fine. */
void cip_cast_bools(cip_run r);

/* Runs a cast made with that `how`. `base` is the index of the first element. */
void cip_cast_numbers(const cip_cast *c, const cip_run *r, uint64_t base, cip_cast_stats *stats);
void cip_cast_texts(const cip_cast *c, const cip_run *r, uint64_t base, cip_cast_stats *stats);
void cip_cast_records(const cip_cast *c, const cip_run *r, uint64_t base, cip_cast_stats *stats);
/* Any. */
void cip_cast_any(const cip_cast *c, const cip_run *r, uint64_t base, cip_cast_stats *stats);

/* How to cast fields of a record, whose types were found to fit when the record's cast was made. */
cip_cast cip_cast_of_field(const cip_dtype *from, const cip_dtype *to, cip_overflow policy);

/* n numbers in host order, one behind the other, from one kind to another; how many overflow, or
 * (`exact`) are not held exactly. */
typedef uint64_t cip_num_kernel(size_t n, const uint8_t *restrict src, uint8_t *restrict dst,
                                bool wrap);
/* From int8 ... uint64, float32, float64 to bool and the same; NULL for others. */
cip_num_kernel *cip_num_kernel_of(cip_kind from, cip_kind to, bool exact);
/* Those of one level of vector instructions (base/cpu.h). */
cip_num_kernel *cip_num_kernel_generic(cip_kind from, cip_kind to, bool exact);
cip_num_kernel *cip_num_kernel_avx2(cip_kind from, cip_kind to, bool exact);
cip_num_kernel *cip_num_kernel_avx512(cip_kind from, cip_kind to, bool exact);

/* Words of `swap` (2, 4, 8) bytes turned round, from the first of n bytes on; returns how many
 * bytes it did: whole vectors. src == dst is fine. */
size_t cip_swap_avx2(unsigned swap, const uint8_t *src, uint8_t *dst, size_t n);

/* How an n-d copy walks: aligned views; the axis that goes through the cast at once; where another
 * axis is the fastest of the target, that one (otherwise -1) and the elements on a side of the
 * tiles in which both are walked. */
typedef struct cip_copy_plan {
    cip_nd a, b;
    int32_t row, column;
    uint64_t side;
} cip_copy_plan;

/* No axis has length 0. */
void cip_copy_plan_make(const cip_cast *c, const cip_nd *src, const cip_nd *dst,
                        cip_copy_plan *out);

/* Counts `n` values at element `index`. */
void cip_cast_count(cip_cast_stats *stats, uint64_t n, uint64_t index);

#endif
