/* SPDX-License-Identifier: BSD-3-Clause
 * How reading is meant to come out, worked out one element at a time without the library's help. */
#ifndef CIP_TESTS_NAIVE_H
#define CIP_TESTS_NAIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cippus/array.h"
#include "cippus/slice.h"

/* One axis of a result: steps over an axis of the view (-1: a new one). */
typedef struct naive_axis {
    int from;
    int64_t start, step, n;
} naive_axis;

typedef struct naive_selection {
    int ndim; /* of the result */
    naive_axis axis[2 * CIP_MAX_NDIM];
    int64_t fixed[CIP_MAX_NDIM]; /* of the view's axes: the index, where one was given */
} naive_selection;

/* numpy's basic slicing. false: an index out of range. */
bool naive_select(const cip_selection *sel, int ndim, const int64_t *shape, naive_selection *out);

/* A number as it is stored. */
typedef struct naive_type {
    cip_kind kind; /* bool, integers, float32, float64; CIP_OPAQUE: bytes that are copied */
    bool big;
    size_t size;
} naive_type;

/* Converts one element; whether the policy counts it. */
bool naive_cast(naive_type from, const uint8_t *src, naive_type to, uint8_t *dst,
                cip_overflow policy);

#endif
