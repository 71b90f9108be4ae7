/* SPDX-License-Identifier: BSD-3-Clause
 * Filling the caller's cip_err. No globals, no errno kept, no printing. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *cip_status_name(cip_status status)
{
    static const char *const names[] = {
        "ok",           "out of memory", "input/output error", "not found",      "unknown format",
        "unsupported",  "corrupt",       "truncated",          "checksum error", "limit reached",
        "out of range", "wrong type",    "wrong argument",     "read-only",      "busy",
        "cancelled",
    };
    size_t i = (size_t)status;
    return i < sizeof names / sizeof names[0] ? names[i] : "unknown status";
}

cip_status(cip_fail)(cip_err *err, cip_status code, uint64_t offset, const char *fmt, ...)
{
    if (err == NULL)
        return code;
    err->code = (int32_t)code;
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
    return cip_fail(err, status_of_errno(errnum), offset, "%s: %s", what, msg);
}
