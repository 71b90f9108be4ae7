/* SPDX-License-Identifier: BSD-3-Clause
 * Floats to a chunk of quantized integers (codec/quantize.h). The step between two of them comes
 * from the noise in the values and a quality, or from their range and a number of bits. */
#ifndef CIP_CODEC_QUANTIZE_ENCODE_H
#define CIP_CODEC_QUANTIZE_ENCODE_H

#include "codec/quantize.h"

/* The values of a chunk: elements in C order. Where `valid` is given only those within it are
 * values; the others (a tile's padding) count for nothing and decode to anything. */
typedef struct cip_quantize_values {
    cip_bytes bytes;
    bool wide, big; /* float64, else float32; their byte order */
    int32_t ndim;
    const int64_t *shape; /* their product is the number of elements */
    const int64_t *valid; /* or NULL: all */
} cip_quantize_values;

/* How fine the steps are.
 *
 * bits 0: scale = noise / quality. noise is the standard deviation of white noise that third
 * differences along the last axis tell (Stoehr and others, "DER_SNR", 2008; order 3 in CFITSIO):
 * 0.6052697 times the median of |2 x[i] - x[i-2] - x[i+2]| over all lines of at least 5 values, or
 * over all values as one line where there is none. Where more than half of the differences are 0,
 * 0.5116634 times their mean. Without noise (fewer than 5 values, constant or linear ones) the
 * range is cut into 2^24 steps for float32 and 2^32 for float64. Never more than 2^52 steps. The
 * offset is the middle of the range, and a value takes as few bits as hold all of them.
 *
 * bits 1 to 64: the range is cut into 2^bits - 1 steps (2^53 - 1 at most), with that many bits for
 * each value.
 *
 * A chunk of equal values has 0 bits in either way. */
typedef struct cip_quantize_steps {
    double quality; /* > 0 */
    int bits;
} cip_quantize_steps;

/* The first value that is no finite number: its index in *at; false when there is none. */
bool cip_quantize_find_bad(cip_bytes values, bool wide, bool big, uint64_t *at);

/* Bytes that are enough for a chunk of n values; 0: more than memory has. */
size_t cip_quantize_bound(uint64_t n);
/* Encodes a chunk into dst (cap bytes; bound(n) are enough, else RANGE); *len: its bytes. *worst:
 * the largest |decoded - original|, as a reader gets it (rounded to float32 where that is the
 * type). ARG for steps that are none or bytes that are not as many as the shape says; RANGE for a
 * value that is no finite number, or a range beyond a double's with `bits`. Takes working memory of
 * 16 bytes a value. */
cip_status cip_quantize_encode(cip_mem *mem, const cip_quantize_values *v,
                               const cip_quantize_steps *how, uint8_t *dst, size_t cap, size_t *len,
                               double *worst, cip_err *err);

#endif
