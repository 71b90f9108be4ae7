/* SPDX-License-Identifier: BSD-3-Clause
 * Kernels under the filters that undo differences: running sums of bytes, running XORs of words. */
#ifndef CIP_CODEC_FILTER_RUNNING_H
#define CIP_CODEC_FILTER_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

/* A kernel in vectors: does the first of n bytes, whole vectors, and returns how many. `width`: of
 * the words, 1, 2, 4 or 8; of sums 1. */
typedef size_t cip_running_fn(size_t width, const uint8_t *src, uint8_t *dst, size_t n);

cip_running_fn cip_running_sum_128, cip_running_xor_128;
cip_running_fn cip_running_sum_avx2, cip_running_xor_avx2;

#endif
