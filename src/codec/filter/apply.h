/* SPDX-License-Identifier: BSD-3-Clause
 * Filters of Blosc, forward: the kernels under cip_filter_apply. They write all n bytes of dst,
 * which does not overlap src; what is no whole element is copied. */
#ifndef CIP_CODEC_FILTER_APPLY_H
#define CIP_CODEC_FILTER_APPLY_H

#include "codec/blosc/blosc.h"

/* Byte j of each element of `width` bytes (1 or more) to plane j. */
void cip_shuffle_apply(size_t width, const uint8_t *src, uint8_t *dst, size_t n);
/* Bit b of byte j of each element to row 8 * j + b. The first multiple of eight elements is
 * transposed; of version 2 and before (`whole`) all elements, or nothing if they are no such
 * multiple. */
void cip_bitshuffle_apply(size_t width, bool whole, const uint8_t *src, uint8_t *dst, size_t n);

/* Mantissas (floats of 4 or 8 bytes) and integers of 1, 2, 4, 8 bytes with their low bits zeroed.
 * meta > 0: bits kept, < 0: bits zeroed. ARG. */
cip_status cip_trunc_prec_apply(const cip_filter_env *env, const uint8_t *src, uint8_t *dst,
                                size_t n, cip_err *err);
cip_status cip_int_trunc_apply(const cip_filter_env *env, const uint8_t *src, uint8_t *dst,
                               size_t n, cip_err *err);

/* The items of a block by cells of `meta` items a side, and the same with each item the mean of its
 * cell. ARG when the block's shape is unknown or no match for n. */
cip_status cip_ndcell_apply(const cip_filter_env *env, const uint8_t *src, uint8_t *dst, size_t n,
                            cip_err *err);
cip_status cip_ndmean_apply(const cip_filter_env *env, const uint8_t *src, uint8_t *dst, size_t n,
                            cip_err *err);

#endif
