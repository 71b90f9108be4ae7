/* SPDX-License-Identifier: BSD-3-Clause
 * Locks of files and folders. A folder cannot be locked for writing byte by byte, only for reading:
 * so one byte says "I am reading", another "nobody may read now"; each side sets its own and then
 * looks at the other's, so that of two who come at the same time one at least sees the other. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "io/store.h"

enum { NOBODY = 1 /* the byte behind the readers': of who keeps them out of a folder */ };

static struct flock byte_at(uint64_t at, short type)
{
    return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1 };
}

static cip_lock set_byte(int fd, uint64_t at, short type)
{
    struct flock l = byte_at(at, type);
    if (fcntl(fd, F_OFD_SETLK, &l) == 0)
        return CIP_LOCK_HELD;
    return errno == EAGAIN || errno == EACCES ? CIP_LOCK_TAKEN : CIP_LOCK_NONE;
}

/* Whether somebody else has a lock there that keeps out one of this type. */
static bool is_held(int fd, uint64_t at, short type)
{
    struct flock l = byte_at(at, type);
    return fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

static bool is_folder(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* One byte for oneself, if nobody has the other. */
static cip_lock set_against(int fd, uint64_t at, uint64_t other)
{
    cip_lock got = set_byte(fd, at, F_RDLCK);
    if (got != CIP_LOCK_HELD || !is_held(fd, other, F_WRLCK))
        return got;
    set_byte(fd, at, F_UNLCK);
    return CIP_LOCK_TAKEN;
}

static cip_lock lock_folder(int fd, uint64_t at, bool shared)
{
    if (at == CIP_LOCK_READERS)
        return shared ? set_against(fd, at, at + NOBODY) : set_against(fd, at + NOBODY, at);
    if (flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? CIP_LOCK_TAKEN : CIP_LOCK_NONE;
    set_byte(fd, at, F_RDLCK); /* to be seen by cip_store_is_locked */
    return CIP_LOCK_HELD;
}

cip_lock cip_store_share(int fd, uint64_t at)
{
    return set_byte(fd, at, F_RDLCK);
}

cip_lock cip_store_lock(int fd, uint64_t at, bool shared)
{
    if (shared && is_folder(fd))
        return lock_folder(fd, at, true);
    cip_lock got = set_byte(fd, at, shared ? F_RDLCK : F_WRLCK);
    return got == CIP_LOCK_NONE && !shared && is_folder(fd) ? lock_folder(fd, at, false) : got;
}

/* Whichever is ours; of a file that is the byte. */
void cip_store_unlock(int fd, uint64_t at)
{
    set_byte(fd, at, F_UNLCK);
    if (at == CIP_LOCK_READERS)
        set_byte(fd, at + NOBODY, F_UNLCK);
    if (at == CIP_LOCK_WRITERS)
        flock(fd, LOCK_UN);
}

bool cip_store_is_locked(int fd, uint64_t at)
{
    return is_held(fd, at, is_folder(fd) ? F_WRLCK : F_RDLCK);
}
