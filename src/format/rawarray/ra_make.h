/* SPDX-License-Identifier: BSD-3-Clause
 * RawArray files put together for tests, field by field, also wrong ones. */
#ifndef CIP_RAWARRAY_RA_MAKE_H
#define CIP_RAWARRAY_RA_MAKE_H

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"

typedef struct ra_make {
    uint64_t flags, eltype, elbyte, size, ndim;
    const uint64_t *dims;
    size_t ndims_written; /* 0: ndim of them */
    const void *data;
    size_t data_len;
    bool big;          /* header fields big-endian */
    const char *magic; /* NULL: "rawarray" */
} ra_make;

typedef struct ra_bytes {
    uint8_t *ptr; /* free() it */
    size_t len;
} ra_bytes;

static inline ra_bytes ra_build(const ra_make *m)
{
    const uint64_t field[] = { m->flags, m->eltype, m->elbyte, m->size, m->ndim };
    size_t n = m->ndims_written != 0 ? m->ndims_written : (size_t)m->ndim;
    ra_bytes b = { NULL, 48 + 8 * n + m->data_len };
    b.ptr = (uint8_t *)malloc(b.len);
    if (b.ptr == NULL)
        abort();
    memcpy(b.ptr, m->magic != NULL ? m->magic : "rawarray", 8);
    for (size_t i = 0; i < 5; i++)
        cip_store_u64(b.ptr + 8 + 8 * i, field[i], m->big);
    for (size_t i = 0; i < n; i++)
        cip_store_u64(b.ptr + 48 + 8 * i, m->dims[i], m->big);
    if (m->data_len != 0)
        memcpy(b.ptr + 48 + 8 * n, m->data, m->data_len);
    return b;
}

#endif
