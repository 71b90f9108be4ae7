/* SPDX-License-Identifier: BSD-3-Clause
 * Raising errors: set once where the fault is seen, passed on by CIP_TRY and CIP_GO. */
#ifndef CIP_BASE_ERR_H
#define CIP_BASE_ERR_H

#include <inttypes.h>
#include <stdbool.h>

#include "cippus/error.h"

/* Fills *err (may be NULL) and returns `code`. `offset` is a file position or CIP_NO_OFFSET. */
cip_status cip_fail(cip_err *err, cip_status code, uint64_t offset, const char *fmt, ...)
    CIP_PRINTF(4, 5);

/* Names the part of the file that an error is about, unless a deeper layer already did.
 * Returns err->code, or `st` when err is NULL, so that `return cip_fail_in(err, st, ...)` works. */
cip_status cip_fail_in(cip_err *err, cip_status st, const char *fmt, ...) CIP_PRINTF(3, 4);

/* CIP_ERR_IO (or NOT_FOUND for ENOENT and ENOTDIR, READONLY for EROFS) with the text of `errnum`.
 */
cip_status cip_fail_errno(cip_err *err, int errnum, uint64_t offset, const char *what);

/* Whether a failure is a fault of what was read, not of the system, a limit or the caller. */
static inline bool cip_is_about_content(cip_status st)
{
    return st == CIP_ERR_FORMAT || st == CIP_ERR_UNSUPPORTED || st == CIP_ERR_CORRUPT ||
           st == CIP_ERR_TRUNCATED || st == CIP_ERR_CHECKSUM;
}

/* These never give OK. Said so that the compiler sees no path on which an output is used unset. */
static inline cip_status cip_failing(cip_status st)
{
    if (st == CIP_OK)
        __builtin_unreachable();
    return st;
}
#define cip_fail(...) cip_failing(cip_fail(__VA_ARGS__))
#define cip_fail_errno(...) cip_failing(cip_fail_errno(__VA_ARGS__))

#define CIP_TRY(x)                                                                                 \
    do {                                                                                           \
        cip_status cip_try_st_ = (x);                                                              \
        if (cip_try_st_ != CIP_OK)                                                                 \
            return cip_try_st_;                                                                    \
    } while (0)

#define CIP_GO(x)                                                                                  \
    do {                                                                                           \
        if ((st = (x)) != CIP_OK)                                                                  \
            goto done;                                                                             \
    } while (0)

#endif
