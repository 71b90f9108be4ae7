/* SPDX-License-Identifier: BSD-3-Clause
 * An io over memory that counts its reads and lets one of them fail, for the tests of all modules:
 *
 *     fault_io f;
 *     cip_io *io = fault_io_init(&f, &env, bytes, n);
 *     f.fail_at = 3;                    the third read from now on ends with CIP_ERR_IO
 *     f.status = CIP_ERR_TRUNCATED;     or with this,
 *     f.filled = 5;                     after that many bytes of it arrived
 *
 * A read is one range. It may be read from many threads; closing it is not needed. */
#ifndef CIP_TESTS_FAULT_IO_H
#define CIP_TESTS_FAULT_IO_H

#include <stdatomic.h>
#include <string.h>

#include "io/io.h"

typedef struct fault_io {
    cip_io io;
    const uint8_t *bytes;
    size_t fail_at;           /* counted from 1; 0: never */
    cip_status status;        /* what it fails with */
    size_t filled;            /* bytes that arrive all the same */
    _Atomic size_t reads;     /* so far, failed ones too */
    _Atomic uint64_t nbytes;  /* read so far */
    _Atomic uint64_t highest; /* end of the highest byte asked for */
} fault_io;

static inline cip_status fault_io_read_one(fault_io *f, const cip_range *r, cip_err *err)
{
    uint64_t high = atomic_load(&f->highest), end = r->offset + r->nbytes;
    size_t now = atomic_fetch_add(&f->reads, 1) + 1;
    while (end > high && !atomic_compare_exchange_weak(&f->highest, &high, end))
        ;
    if (now == f->fail_at) {
        memcpy(r->dst, f->bytes + r->offset, f->filled < r->nbytes ? f->filled : r->nbytes);
        return cip_fail(err, f->status, r->offset, "read %zu was made to fail", now);
    }
    memcpy(r->dst, f->bytes + r->offset, r->nbytes);
    atomic_fetch_add(&f->nbytes, r->nbytes);
    return CIP_OK;
}

static inline cip_status fault_io_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    for (size_t i = 0; i < n; i++)
        CIP_TRY(fault_io_read_one((fault_io *)io, &r[i], err));
    return CIP_OK;
}

static inline void fault_io_close(cip_io *io)
{
    (void)io;
}

/* `bytes` are borrowed. */
static inline cip_io *fault_io_init(fault_io *f, cip_env *env, const void *bytes, size_t n)
{
    static const cip_io_ops ops = {
        .name = "fault",
        .read_ranges = fault_io_read,
        .close = fault_io_close,
    };
    *f = (fault_io){
        .io = { .ops = &ops, .env = env, .size = n, .name = "(fault)" },
        .bytes = (const uint8_t *)bytes,
        .status = CIP_ERR_IO,
    };
    return &f->io;
}

#endif
