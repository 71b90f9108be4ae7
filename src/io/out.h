/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes going out one behind the other: what a sink writes to. Where they go is core's business. */
#ifndef CIP_IO_OUT_H
#define CIP_IO_OUT_H

#include "base/err.h"

typedef struct cip_out {
    cip_status (*write)(void *user, const void *p, size_t n, cip_err *err);
    void *user;
    uint64_t n; /* bytes written so far */
} cip_out;

static inline cip_status cip_out_write(cip_out *o, const void *p, size_t n, cip_err *err)
{
    CIP_TRY(o->write(o->user, p, n, err));
    o->n += n;
    return CIP_OK;
}

#endif
