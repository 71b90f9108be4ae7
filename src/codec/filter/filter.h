/* SPDX-License-Identifier: BSD-3-Clause
 * The filters of Blosc, each on one block of n bytes that its two buffers hold; they do not
 * overlap. All lengths are possible: what a filter has no use for at the end is copied. */
#ifndef CIP_CODEC_FILTER_FILTER_H
#define CIP_CODEC_FILTER_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "codec/blosc/blosc.h"

/* Bytes of the words that delta works on. */
static inline size_t cip_delta_width(uint32_t typesize)
{
    if (typesize == 1 || typesize == 2 || typesize == 4 || typesize == 8)
        return typesize;
    return typesize % 8 == 0 ? 8 : 1;
}

void cip_unshuffle(size_t width, const uint8_t *src, uint8_t *dst, size_t n);
/* Of what that gives, the `len` bytes from `off` on, to dst. */
void cip_unshuffle_part(size_t width, const uint8_t *src, size_t n, size_t off, uint8_t *dst,
                        size_t len);
/* `whole`: as version 2 of the chunks has it, all elements or none. */
void cip_bitunshuffle(size_t typesize, bool whole, const uint8_t *src, uint8_t *dst, size_t n);
/* first: the decoded block 0; NULL: this is it. */
void cip_undelta(uint32_t typesize, const uint8_t *first, const uint8_t *src, uint8_t *dst,
                 size_t n);
/* `restart`: the sums begin anew in the last len % 16 bytes of a stream (filter 34). */
void cip_unbytedelta(size_t streams, bool restart, const uint8_t *src, uint8_t *dst, size_t n);
/* Cells put back to their places; `side` of a cell is env->meta. `mean`: laid out as ndmean does.
 * CORRUPT when the block has not the shape's size, UNSUPPORTED without a shape. */
cip_status cip_ndcell_undo(const cip_filter_env *env, bool mean, const uint8_t *src, uint8_t *dst,
                           size_t n, cip_err *err);

/* The typesize as the filters that look at the super-chunk's take it. */
static inline uint64_t cip_filter_typesize(const cip_filter_env *env)
{
    return env->super_typesize != 0 ? env->super_typesize : env->typesize;
}

#endif
