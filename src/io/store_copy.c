/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes and attributes from one file to another: by reference where the system can, else through a
 * small buffer. */
#include "io/record.h"
#include "io/store.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/num.h"
#include "io/io_impl.h"

/* Less than SMALL is read and written sooner than the system sets up a copy. */
enum { PIECE = 1 << 20, STEP = 1 << 30, SMALL = 16 << 10 };

/* As much as the system copies by itself; *done bytes. It may give up anywhere. */
static void copy_by_system(int fd, uint64_t at, int from, uint64_t off, uint64_t n, uint64_t *done)
{
    *done = 0;
    while (*done < n) {
        off_t in = (off_t)(off + *done), out = (off_t)(at + *done);
        ssize_t now = copy_file_range(from, &in, fd, &out, (size_t)cip_min_u64(n - *done, STEP), 0);
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return;
        *done += (uint64_t)now;
    }
}

typedef struct file_at {
    int fd;
    uint64_t at;
} file_at;

static cip_status put_piece(void *user, const void *p, size_t n, cip_err *err)
{
    file_at *to = user;
    CIP_TRY(cip_store_write(to->fd, to->at, p, n, err));
    to->at += n;
    return CIP_OK;
}

cip_status cip_store_copy(int fd, uint64_t at, cip_io *io, uint64_t off, uint64_t n, cip_err *err)
{
    uint64_t from_off = off, done = 0;
    if (off > io->size || n > io->size - off)
        return cip_fail(err, CIP_ERR_RANGE, off,
                        "expected %" PRIu64 " bytes to copy, found %" PRIu64, n,
                        cip_bytes_left(io->size, off));
    int from = n < SMALL ? -1 : cip_io_descriptor(io, &from_off);
    if (from != -1)
        copy_by_system(fd, at, from, from_off, n, &done);
    file_at to = { fd, at + done };
    if (done < n)
        CIP_TRY(cip_io_in_pieces(io, off + done, n - done, PIECE, put_piece, &to, err));
    cip_io *whole = cip_io_whole(io, &from_off); /* whose reads look what is still there */
    return whole->watched ? cip_io_still(whole, err) : CIP_OK;
}

cip_status cip_store_move(int fd, uint64_t from, uint64_t end, uint64_t to, cip_err *err)
{
    uint8_t piece[1 << 15];
    uint64_t n = end - from, done = 0;
    while (done < n && from != to) {
        size_t now = (size_t)cip_min_u64(n - done, sizeof piece);
        uint64_t at = to < from ? done : n - done - now; /* later: from the end on */
        size_t got;
        if (cip_fd_read(fd, from + at, piece, now, &got) != 0)
            return cip_fail_errno(err, errno, from + at + got, "cannot read back what was written");
        memset(piece + got, 0, now - got); /* what is not there is zeros */
        CIP_TRY(cip_store_write(fd, to + at, piece, now, err));
        done += now;
    }
    return CIP_OK;
}

/* Attributes that cannot be read or set (others' name spaces) are left out, and ours, which is
 * about the old file alone. */
static cip_status copy_xattrs(cip_mem *mem, int fd, int like, cip_err *err)
{
    enum { VALUE = 64 << 10 };
    char *names = NULL;
    void *value = NULL;
    cip_status st = CIP_OK;
    ssize_t n = flistxattr(like, NULL, 0);
    if (n <= 0)
        return CIP_OK;
    CIP_GO(cip_mem_get(mem, (size_t)n, (void **)&names, err));
    CIP_GO(cip_mem_get(mem, VALUE, &value, err));
    n = flistxattr(like, names, (size_t)n);
    for (ssize_t i = 0; i < n; i += (ssize_t)strlen(names + i) + 1) {
        ssize_t len = fgetxattr(like, names + i, value, VALUE);
        if (len >= 0 && !cip_record_owns(names + i))
            fsetxattr(fd, names + i, value, (size_t)len, 0);
    }
done:
    cip_mem_put(mem, names);
    cip_mem_put(mem, value);
    return st;
}

cip_status cip_store_take_after(cip_mem *mem, int fd, int like, const struct stat *st, cip_err *err)
{
    mode_t mode;
    /* The owner as far as we may give the file away. In another group the old group's rights must
     * not go to that one; its people count among the others now, and get no more than they had. */
    mode = st->st_mode & 0777;
    int rc = fchown(fd, st->st_uid, st->st_gid);
    if (rc != 0 && errno == EPERM)
        rc = fchown(fd, (uid_t)-1, st->st_gid);
    if (rc != 0) {
        if (errno != EPERM)
            return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot set the new file's owner");
        mode &= (mode_t)(0700 | (mode >> 3 & 07));
    }
    if (like != -1)
        CIP_TRY(copy_xattrs(mem, fd, like, err));
    if (fchmod(fd, mode) != 0)
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot set the new file's mode");
    return CIP_OK;
}
