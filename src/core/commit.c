/* SPDX-License-Identifier: BSD-3-Clause
 * A commit of the kind "replace": write beside, fsync, rename, fsync the folder. At every instant
 * the name shows the old file (or none) or the whole new one. */
#include "core/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strmap.h"

struct cip_replace {
    cip_mem *mem;
    cip_out out;
    int dir, fd;
    cip_level level;
    char *name; /* in the folder */
    char temp[64];
    struct stat old; /* of what is replaced */
    bool has_old, made, placed;
};

static cip_status write_all(int fd, const void *p, size_t n, cip_err *err)
{
    const uint8_t *at = p;
    while (n != 0) {
        ssize_t w = write(fd, at, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return cip_fail_errno(err, errno, CIP_NO_OFFSET, "writing the new file");
        at += w;
        n -= (size_t)w;
    }
    return CIP_OK;
}

static cip_status out_write(void *user, const void *p, size_t n, cip_err *err)
{
    cip_replace *r = user;
    return write_all(r->fd, p, n, err);
}

/* Opens the folder that `path` lies in and keeps the name in it. A symbolic link is followed first:
 * the file that it names is replaced, not the link. */
static cip_status open_folder(cip_replace *r, const char *link, cip_err *err)
{
    char real[PATH_MAX];
    const char *path = realpath(link, real) != NULL ? real : link;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char *folder = NULL;
    if (*name == '\0')
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file's name, found '%.100s'",
                        path);
    CIP_TRY(cip_mem_copy(r->mem, name, strlen(name), &r->name, err));
    size_t len = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    CIP_TRY(cip_mem_copy(r->mem, slash == NULL ? "." : path, len, &folder, err));
    r->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int e = errno;
    cip_mem_put(r->mem, folder);
    return r->dir >= 0 ? CIP_OK
                       : cip_fail_errno(err, e, CIP_NO_OFFSET, "opening the output's folder");
}

/* A file that is replaced keeps its mode, and its owner where we may give it away; anything but a
 * regular file of one name is left alone: the other names of a hard-linked file would go on showing
 * the old bytes. */
static cip_status look_at_old(cip_replace *r, mode_t *mode, cip_err *err)
{
    if (fstatat(r->dir, r->name, &r->old, AT_SYMLINK_NOFOLLOW) != 0) {
        *mode = 0666;
        return CIP_OK;
    }
    r->has_old = true;
    *mode = 0600; /* nobody else may open it before it has its mode */
    if (!S_ISREG(r->old.st_mode))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "the output exists and is no regular file");
    if (r->old.st_nlink > 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the output has %ju names (hard links); replacing one would part them",
                        (uintmax_t)r->old.st_nlink);
    return CIP_OK;
}

static cip_status keep_mode(cip_replace *r, cip_err *err)
{
    if (!r->has_old)
        return CIP_OK;
    if (fchown(r->fd, r->old.st_uid, r->old.st_gid) != 0 && errno != EPERM)
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "setting the new file's owner");
    if (fchmod(r->fd, r->old.st_mode & 0777) != 0)
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "setting the new file's mode");
    return CIP_OK;
}

static cip_status make_temp(cip_replace *r, cip_err *err)
{
    uint64_t seed[2];
    mode_t mode;
    CIP_TRY(look_at_old(r, &mode, err));
    cip_hash_seed(seed);
    for (int tries = 0; tries < 100; tries++) {
        uint64_t salt[2] = { (uint64_t)getpid(), (uint64_t)(uintptr_t)r + (uint64_t)tries };
        uint64_t mark = cip_siphash(seed, (cip_bytes){ (const uint8_t *)salt, sizeof salt });
        snprintf(r->temp, sizeof r->temp, ".cip-new-%016" PRIx64, mark);
        r->fd = openat(r->dir, r->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (r->fd >= 0) {
            r->made = true;
            return keep_mode(r, err);
        }
        if (errno != EEXIST)
            break;
    }
    return cip_fail_errno(err, errno, CIP_NO_OFFSET, "making the new file");
}

cip_status cip_replace_begin(cip_mem *mem, const char *path, cip_level level, cip_replace **out,
                             cip_err *err)
{
    cip_replace *r = NULL;
    *out = NULL;
    CIP_TRY(CIP_NEW(mem, &r, 1, err));
    r->mem = mem;
    r->dir = r->fd = -1;
    r->level = level;
    r->out = (cip_out){ .write = out_write, .user = r };
    cip_status st = open_folder(r, path, err);
    if (st == CIP_OK)
        st = make_temp(r, err);
    if (st != CIP_OK)
        cip_replace_end(r);
    else
        *out = r;
    return st;
}

cip_out *cip_replace_out(cip_replace *r)
{
    return &r->out;
}

static cip_status apply(cip_replace *r, const cip_patch *patch, cip_err *err)
{
    for (size_t i = 0; i < patch->n; i++) {
        const cip_patch_op *op = &patch->op[i];
        if (op->kind != CIP_PATCH_WRITE || op->member[0] != '\0')
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected a change within the new file");
        if (lseek(r->fd, (off_t)op->offset, SEEK_SET) < 0)
            return cip_fail_errno(err, errno, op->offset, "writing the new file");
        CIP_TRY(write_all(r->fd, op->after.ptr, op->after.len, err));
    }
    return CIP_OK;
}

static cip_status take_place(cip_replace *r, bool overwrite, cip_err *err)
{
    unsigned flags = overwrite ? 0 : RENAME_NOREPLACE;
    int rc = renameat2(r->dir, r->temp, r->dir, r->name, flags);
    if (rc != 0 && !overwrite && (errno == EINVAL || errno == ENOSYS)) {
        rc = linkat(r->dir, r->temp, r->dir, r->name, 0); /* a file system without the flag */
        if (rc == 0)
            unlinkat(r->dir, r->temp, 0);
    }
    if (rc != 0 && errno == EEXIST)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "the output exists");
    if (rc != 0)
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "renaming the new file");
    r->placed = true;
    return CIP_OK;
}

cip_status cip_replace_commit(cip_replace *r, const cip_patch *patch, bool overwrite, cip_err *err)
{
    if (patch != NULL)
        CIP_TRY(apply(r, patch, err));
    if (r->level == CIP_LEVEL_POWER && fsync(r->fd) != 0)
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "syncing the new file");
    CIP_TRY(take_place(r, overwrite, err));
    if (r->level == CIP_LEVEL_POWER && fsync(r->dir) != 0 && errno != EINVAL)
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "syncing the output's folder");
    return CIP_OK;
}

void cip_replace_end(cip_replace *r)
{
    if (r == NULL)
        return;
    if (r->made && !r->placed)
        unlinkat(r->dir, r->temp, 0);
    if (r->fd >= 0)
        close(r->fd);
    if (r->dir >= 0)
        close(r->dir);
    cip_mem_put(r->mem, r->name);
    cip_mem_put(r->mem, r);
}
