/* SPDX-License-Identifier: BSD-3-Clause
 * Which bytes of two ranges of one length differ. */
#ifndef CIP_BASE_DIFFERENCE_H
#define CIP_BASE_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first run of bytes that differ at or behind *from: [*from, *to) begins and ends with such
 * bytes, and has no more than `near` - 1 equal ones in a row (near: at
 * least 1). False where none differ. */
bool cip_next_difference(const uint8_t *a, const uint8_t *b, size_t n, size_t near, size_t *from,
                         size_t *to);

#endif
