/* SPDX-License-Identifier: BSD-3-Clause
 * Raising errors: set once where the fault is seen, passed on by CIP_TRY and CIP_GO. */
#ifndef CIP_BASE_ERR_H
#define CIP_BASE_ERR_H

#include <inttypes.h>
#include <stdbool.h>

#include "cippus/error.h"

/* What a public function that was given `err` writes into: NULL where that holds an error already,
 * as the first is kept, or is no cip_err (its size). Each begins with it, so that below it an error
 * may be replaced by a better one. */
cip_err *cip_err_enter(cip_err *err);
/* The failure that it holds, or OK. */
cip_status cip_err_held(const cip_err *err);
/* What a public function gives for an argument (`what`: "an array") that is NULL: the failure in
 * err, which is likely that of the call that gave no argument; ARG where there is none. */
cip_status cip_fail_null(cip_err *err, const char *what);

/* ARG where what a call cannot do without (`what`: "a place for the file") is NULL. */
cip_status cip_arg_given(const void *arg, const char *what, cip_err *err);

/* The error that a call begins with in a record of its own: what err holds where `arg` is NULL,
 * which is likely why it is; none otherwise. */
cip_err cip_err_of(const void *arg, const cip_err *err);

/* Replaces what is in *err (may be NULL) by `why`. */
void cip_err_pass(cip_err *err, const cip_err *why);
/* The same for a failure; of a call that succeeded in the end nothing is told. Gives `st`. */
cip_status cip_err_give(cip_err *err, const cip_err *why, cip_status st);

/* Fills *err (may be NULL) and returns `code`. `offset` is a file position or CIP_NO_OFFSET. */
cip_status cip_fail(cip_err *err, cip_status code, uint64_t offset, const char *fmt, ...)
    CIP_PRINTF(4, 5);

/* Names the part of the file that an error is about, unless a deeper layer already did.
 * Returns err->code, or `st` when err is NULL, so that `return cip_fail_in(err, st, ...)` works. */
cip_status cip_fail_in(cip_err *err, cip_status st, const char *fmt, ...) CIP_PRINTF(3, 4);

/* CIP_ERR_IO (or NOT_FOUND for ENOENT and ENOTDIR, EXISTS for EEXIST, READONLY for EROFS) with the
 * text of `errnum`, which err->sys keeps. */
cip_status cip_fail_errno(cip_err *err, int errnum, uint64_t offset, const char *what);

/* Whether a failure is a fault of what was read, not of the system, a limit or the caller. */
static inline bool cip_is_about_content(cip_status st)
{
    return st == CIP_ERR_FORMAT || st == CIP_ERR_UNSUPPORTED || st == CIP_ERR_CORRUPT ||
           st == CIP_ERR_TRUNCATED || st == CIP_ERR_CHECKSUM;
}

/* Whether a failure is of the system, or a stop, and of nothing that was read: it may go well
 * another time. */
static inline bool cip_is_passing(cip_status st)
{
    return st == CIP_ERR_NOMEM || st == CIP_ERR_IO || st == CIP_ERR_CANCELLED || st == CIP_ERR_BUSY;
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
#define cip_fail_null(...) cip_failing(cip_fail_null(__VA_ARGS__))

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
