/* SPDX-License-Identifier: BSD-3-Clause
 * The kernels under shuffle and bitshuffle: elements to planes of bytes, planes to rows of bits,
 * and back. Plain C in planes.c; vector kernels do whole vectors from the start on, and plain C the
 * rest. */
#ifndef CIP_CODEC_FILTER_PLANES_H
#define CIP_CODEC_FILTER_PLANES_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

/* Byte j of element i, of n elements of `width` bytes at src, to dst[j * stride + i]; and back.
 * src and dst do not overlap. */
void cip_to_planes(size_t width, const uint8_t *src, uint8_t *dst, size_t stride, size_t n);
void cip_from_planes(size_t width, const uint8_t *src, uint8_t *dst, size_t stride, size_t n);

/* Of a plane of 8 * n bytes at src: bit b of byte 8 * i + k to bit k of dst[b * stride + i]; and
 * back. */
void cip_to_rows(const uint8_t *src, uint8_t *dst, size_t stride, size_t n);
void cip_from_rows(const uint8_t *src, uint8_t *dst, size_t stride, size_t n);

/* A vector kernel for any of these (`width` is 8 for rows): does the first of the n elements, or
 * groups of eight bytes, and returns how many; none where it does not know the width. */
typedef size_t cip_planes_fn(size_t width, const uint8_t *src, uint8_t *dst, size_t stride,
                             size_t n);

cip_planes_fn cip_to_planes_128, cip_from_planes_128, cip_to_rows_128, cip_from_rows_128;
cip_planes_fn cip_to_planes_avx2, cip_from_planes_avx2, cip_to_rows_avx2, cip_from_rows_avx2;
cip_planes_fn cip_to_planes_avx512, cip_from_planes_avx512, cip_to_rows_avx512,
    cip_from_rows_avx512;

#endif
