/* SPDX-License-Identifier: BSD-3-Clause
 * Lock files of other programs: opened with suspicion, as anybody may have put one there. */
#include "io/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { COUNT_AT = 8, LARGEST = 4096 };

static const char *fault_of(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return "not a regular file";
    if (st.st_nlink > 1)
        return "a file with several names";
    return st.st_size > LARGEST ? "too large" : NULL;
}

static cip_status refuse(const char *name, const char *fault, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a lock file in '%.100s', found %s", name, fault);
}

cip_status cip_lock_file_open(int dir, const char *name, bool change, cip_lock_file *out,
                              cip_err *err)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    *out = CIP_LOCK_FILE_NONE;
    int fd;
    do
        fd = openat(dir, name, flags | (change ? O_RDWR : O_RDONLY));
    while (fd == -1 && errno == EINTR);
    if (fd == -1 && (errno == ENOENT || errno == ENAMETOOLONG || errno == ENOTDIR))
        return CIP_OK;
    if (fd == -1 && (errno == ELOOP || errno == EISDIR || errno == ENXIO))
        return refuse(name, errno == ELOOP ? "a link" : "not a regular file", err);
    if (fd == -1 && (errno == EACCES || errno == EPERM || errno == EROFS))
        return cip_fail(err, CIP_ERR_READONLY, CIP_NO_OFFSET,
                        "cannot open the lock file '%.100s': no permission", name);
    if (fd == -1)
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot open the lock file");
    const char *fault = fault_of(fd);
    if (fault != NULL) {
        close(fd);
        return refuse(name, fault, err);
    }
    out->fd = fd;
    return CIP_OK;
}

cip_lock cip_lock_file_take(const cip_lock_file *f, bool shared)
{
    if (flock(f->fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0)
        return CIP_LOCK_HELD;
    return errno == EWOULDBLOCK || errno == EINTR ? CIP_LOCK_TAKEN : CIP_LOCK_NONE;
}

void cip_lock_file_let(const cip_lock_file *f)
{
    if (f != NULL && f->fd != -1)
        flock(f->fd, LOCK_UN);
}

/* 0 as long as nobody has counted. */
static uint64_t count_of(const cip_lock_file *f)
{
    uint64_t n;
    return pread(f->fd, &n, sizeof n, COUNT_AT) == (ssize_t)sizeof n ? n : 0;
}

void cip_lock_file_note(cip_lock_file *f)
{
    if (f->fd != -1)
        f->count = count_of(f);
}

bool cip_lock_file_is_same(const cip_lock_file *f)
{
    return f->fd == -1 || count_of(f) == f->count;
}

cip_status cip_lock_file_count(const cip_lock_file *f, cip_err *err)
{
    if (f->fd == -1)
        return CIP_OK;
    uint64_t n = count_of(f) + 1;
    return cip_store_write(f->fd, COUNT_AT, &n, sizeof n, err);
}

void cip_lock_file_close(cip_lock_file *f)
{
    if (f->fd != -1)
        close(f->fd); /* and with it the lock */
    f->fd = -1;
}
