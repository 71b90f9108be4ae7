/* SPDX-License-Identifier: BSD-3-Clause
 * Filling the caller's cip_err. No globals, no printing. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *cip_status_name(cip_status status)
{
    static const char *const names[] = {
        "ok",
        "out of memory",
        "input/output error",
        "not found",
        "unknown format",
        "unsupported",
        "corrupt",
        "truncated",
        "checksum error",
        "limit reached",
        "out of range",
        "wrong type",
        "wrong argument",
        "read-only",
        "busy",
        "cancelled",
        "exists",
        "stale",
    };
    size_t i = (size_t)status;
    return i < sizeof names / sizeof names[0] ? names[i] : "unknown status";
}

/* Of version 0.2, the first that had a size; what it had keeps its place. */
enum { FIRST_SIZE = offsetof(cip_err, text) + 256, MOST = 16384 };

void cip_err_clear(cip_err *err)
{
    static const cip_err none = CIP_ERR_INIT;
    if (cip_err_held(err) != CIP_OK)
        cip_err_pass(err, &none);
}

cip_err *cip_err_enter(cip_err *err)
{
    if (err == NULL || err->code != CIP_OK)
        return NULL;
    return err->size == 0 || (err->size >= FIRST_SIZE && err->size <= MOST) ? err : NULL;
}

cip_status cip_err_held(const cip_err *err)
{
    return err != NULL ? (cip_status)err->code : CIP_OK;
}

cip_status(cip_fail_null)(cip_err *err, const char *what)
{
    if (cip_err_held(err) != CIP_OK)
        return cip_err_held(err);
    return cip_fail(cip_err_enter(err), CIP_ERR_ARG, CIP_NO_OFFSET, "expected %s, found NULL",
                    what);
}

cip_status cip_arg_given(const void *arg, const char *what, cip_err *err)
{
    return arg != NULL ? CIP_OK
                       : cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %s, found NULL", what);
}

cip_err cip_err_of(const void *arg, const cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    if (arg == NULL && err != NULL)
        cip_err_pass(&own, err);
    return own;
}

void cip_err_pass(cip_err *err, const cip_err *why)
{
    const size_t at = offsetof(cip_err, code);
    if (err != NULL)
        memmove((char *)err + at, (const char *)why + at, FIRST_SIZE - at);
}

cip_status cip_err_give(cip_err *err, const cip_err *why, cip_status st)
{
    if (st != CIP_OK)
        cip_err_pass(err, why);
    return st;
}

cip_status(cip_fail)(cip_err *err, cip_status code, uint64_t offset, const char *fmt, ...)
{
    if (err == NULL)
        return code;
    err->code = (int32_t)code;
    err->sys = 0;
    err->offset = offset;
    err->part[0] = '\0';
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return code;
}

cip_status cip_fail_in(cip_err *err, cip_status st, const char *fmt, ...)
{
    if (err == NULL || st == CIP_OK || err->part[0] != '\0')
        return st;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->part, sizeof err->part, fmt, ap);
    va_end(ap);
    return st;
}

static cip_status status_of_errno(int errnum)
{
    switch (errnum) {
    case ENOENT:
    case ENOTDIR:
        return CIP_ERR_NOT_FOUND;
    case ENOMEM:
        return CIP_ERR_NOMEM;
    case EEXIST:
        return CIP_ERR_EXISTS;
    case EROFS:
        return CIP_ERR_READONLY;
    default:
        return CIP_ERR_IO;
    }
}

cip_status(cip_fail_errno)(cip_err *err, int errnum, uint64_t offset, const char *what)
{
    char text[128] = "";
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    const char *msg = strerror_r(errnum, text, sizeof text);
#else
    const char *msg = strerror_r(errnum, text, sizeof text) == 0 ? text : "unknown error";
#endif
    const cip_status st = cip_fail(err, status_of_errno(errnum), offset, "%s: %s", what, msg);
    if (err != NULL)
        err->sys = errnum;
    return st;
}
