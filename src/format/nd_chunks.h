/* SPDX-License-Identifier: BSD-3-Clause
 * Shapes of chunks, for formats that leave them to who writes. */
#ifndef CIP_FORMAT_ND_CHUNKS_H
#define CIP_FORMAT_ND_CHUNKS_H

#include <stdlib.h>

#include "format/format.h"

/* "64,64": a length of 1 to 2^31 - 1 for each axis; false: it is something else. */
static inline bool cip_lengths_parse(const char *text, int32_t ndim, int64_t *out)
{
    char *end = (char *)(uintptr_t)text;
    for (int32_t k = 0; k < ndim; k++) {
        const long long v = *end >= '0' && *end <= '9' ? strtoll(end, &end, 10) : 0;
        if (v < 1 || v > INT32_MAX || *end != (k == ndim - 1 ? '\0' : ','))
            return false;
        out[k] = v;
        end += *end == ',';
    }
    return true;
}

/* UINT64_MAX: of more than that. */
static inline uint64_t cip_box_bytes(int32_t ndim, const int64_t *side, uint64_t itemsize)
{
    uint64_t bytes = itemsize;
    for (int32_t k = 0; k < ndim; k++)
        if (cip_mul_overflow(bytes, (uint64_t)side[k], &bytes))
            return UINT64_MAX;
    return bytes;
}

/* Chunks of at most `most` bytes (or of one element): the box whose longest side is halved until it
 * is small enough. `even`: the box stays so many whole chunks. */
static inline void cip_usual_chunks(int32_t ndim, const int64_t *box, uint64_t itemsize,
                                    uint64_t most, bool even, int64_t *out)
{
    for (int32_t k = 0; k < ndim; k++)
        out[k] = box[k] > 1 ? box[k] : 1;
    while (cip_box_bytes(ndim, out, itemsize) > most) {
        int32_t longest = -1;
        for (int32_t k = 0; k < ndim; k++)
            if (out[k] > 1 && (!even || out[k] % 2 == 0) && (longest < 0 || out[k] > out[longest]))
                longest = k;
        if (longest < 0)
            break;
        out[longest] = out[longest] / 2 + out[longest] % 2;
    }
}

#endif
