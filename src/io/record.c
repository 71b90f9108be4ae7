/* SPDX-License-Identifier: BSD-3-Clause
 * The attribute "user.cippus.update": "cip1 open NONCE NAME", or "cip1 done NONCE NAME". */
#include "io/record.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/strmap.h"
#include "io/store.h"

static const char OURS[] = "user.cippus.", ATTRIBUTE[] = "user.cippus.update";
static const char OPEN[] = "cip1 open ", SETTLED[] = "cip1 done ";
enum { LEAD = sizeof OPEN - 1, NONCE = 16, MOST = LEAD + NONCE + 1 + NAME_MAX };

/* The file system, or who we are, has no such attributes. */
static bool has_none(int errnum)
{
    return errnum == ENOTSUP || errnum == ENOSYS || errnum == EPERM || errnum == EACCES ||
           errnum == E2BIG || errnum == ERANGE;
}

/* An attribute that is not understood is that of an update all the same. */
static void parse(const char *text, size_t n, cip_record *out)
{
    bool open = n >= LEAD && memcmp(text, OPEN, LEAD) == 0;
    bool settled = n >= LEAD && memcmp(text, SETTLED, LEAD) == 0;
    const size_t at = LEAD + NONCE + 1;
    out->state = settled ? CIP_RECORD_SETTLED : CIP_RECORD_OPEN;
    if ((!open && !settled) || n <= at || text[at - 1] != ' ' || n - at > NAME_MAX ||
        memchr(text + at, '/', n - at) != NULL || memchr(text + at, '\0', n - at) != NULL)
        return;
    memcpy(out->nonce, text + LEAD, NONCE);
    memcpy(out->name, text + at, n - at);
}

cip_status cip_record_get(int fd, cip_record *out, cip_err *err)
{
    char text[MOST + 1];
    memset(out, 0, sizeof *out);
    ssize_t n = fgetxattr(fd, ATTRIBUTE, text, sizeof text);
    if (n >= 0)
        parse(text, (size_t)n, out);
    else if (errno == ERANGE)
        out->state = CIP_RECORD_OPEN;
    else if (errno != ENODATA && !has_none(errno))
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot read the file's attributes");
    return CIP_OK;
}

static cip_status put(int fd, const char *lead, const cip_record *r, cip_err *err)
{
    char text[MOST + 1];
    int n = snprintf(text, sizeof text, "%s%s %s", lead, r->nonce, r->name);
    if (fsetxattr(fd, ATTRIBUTE, text, (size_t)n, 0) == 0)
        return CIP_OK;
    if (has_none(errno))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the file system keeps no attributes of files");
    return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot set an attribute of the file");
}

cip_status cip_record_open(int fd, const char *name, cip_record *out, cip_err *err)
{
    memset(out, 0, sizeof *out);
    snprintf(out->nonce, sizeof out->nonce, "%016" PRIx64, cip_unique_number());
    snprintf(out->name, sizeof out->name, "%s", name);
    CIP_TRY(put(fd, OPEN, out, err));
    out->state = CIP_RECORD_OPEN;
    return CIP_OK;
}

cip_status cip_record_settle(int fd, cip_record *r, cip_err *err)
{
    CIP_TRY(put(fd, SETTLED, r, err));
    r->state = CIP_RECORD_SETTLED;
    return CIP_OK;
}

cip_status cip_record_clear(int fd, cip_err *err)
{
    if (fremovexattr(fd, ATTRIBUTE) == 0 || errno == ENODATA || has_none(errno))
        return CIP_OK;
    return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot remove an attribute of the file");
}

bool cip_record_able(int fd)
{
    return fgetxattr(fd, ATTRIBUTE, NULL, 0) >= 0 || errno == ENODATA;
}

bool cip_record_owns(const char *attribute)
{
    return strncmp(attribute, OURS, sizeof OURS - 1) == 0;
}

cip_status cip_record_refuse(int fd, const char *name, cip_err *err)
{
    cip_record r;
    CIP_TRY(cip_record_get(fd, &r, err));
    if (r.state != CIP_RECORD_OPEN)
        return CIP_OK;
    if (cip_store_is_locked(fd, CIP_LOCK_WRITERS))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "'%.120s' is being updated", name);
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "an update of '%.80s' was interrupted; see cip_recover", name);
}
