/* SPDX-License-Identifier: BSD-3-Clause
 * Folders as they are made and removed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/store.h"

static cip_status fail_folder(cip_err *err, int errnum, const char *verb, const char *name)
{
    char what[160];
    if (errnum == EEXIST)
        return cip_fail(err, CIP_ERR_EXISTS, CIP_NO_OFFSET, "'%.120s' exists", name);
    if (errnum == ENOTEMPTY)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "'%.120s' is a folder that is not empty",
                        name);
    snprintf(what, sizeof what, "cannot %s the folder '%.110s'", verb, name);
    if (errnum == EACCES || errnum == EPERM)
        return cip_fail(err, CIP_ERR_READONLY, CIP_NO_OFFSET, "%s: no permission", what);
    return cip_fail_errno(err, errnum, CIP_NO_OFFSET, what);
}

cip_status cip_store_make_folder(const cip_place *p, const char *name, const struct stat *like,
                                 cip_err *err)
{
    if (mkdirat(p->dir, name, like != NULL ? 0700 : 0777) != 0)
        return fail_folder(err, errno, "make", name);
    if (like == NULL)
        return CIP_OK;
    int fd = openat(p->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    cip_status st = fd == -1 ? fail_folder(err, errno, "open", name)
                             : cip_store_take_after(p->mem, fd, -1, like, err);
    close(fd); /* -1 is fine */
    if (st != CIP_OK)
        unlinkat(p->dir, name, AT_REMOVEDIR);
    return st;
}

cip_status cip_store_remove_folder(const cip_place *p, const char *name, cip_err *err)
{
    if (unlinkat(p->dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return CIP_OK;
    return fail_folder(err, errno == EEXIST ? ENOTEMPTY : errno, "remove", name);
}

/* Takes the descriptor over. */
static cip_status remove_files(int fd, const struct stat *like, cip_err *err)
{
    DIR *dir = fdopendir(fd);
    struct stat st;
    const struct dirent *e;
    cip_status got = CIP_OK;
    if (dir == NULL) {
        close(fd);
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot read a folder");
    }
    while (got == CIP_OK && (e = readdir(dir)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (!S_ISREG(st.st_mode) || (st.st_uid != like->st_uid && st.st_uid != geteuid()))
            got = cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                           "'%.100s' is in the way: it is not a file, or belongs to another user",
                           e->d_name);
        else if (unlinkat(fd, e->d_name, 0) != 0 && errno != ENOENT)
            got = fail_folder(err, errno, "empty", e->d_name);
    }
    closedir(dir);
    return got;
}

cip_status cip_store_clear_folder(const cip_place *p, const char *name, const struct stat *like,
                                  cip_err *err)
{
    int fd = openat(p->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd == -1 && errno == ENOENT)
        return CIP_OK;
    if (fd == -1)
        return fail_folder(err, errno, "open", name);
    CIP_TRY(remove_files(fd, like, err));
    return cip_store_remove_folder(p, name, err);
}

cip_status cip_store_exchange(const cip_place *p, const char *a, const char *b, cip_err *err)
{
    if (renameat2(p->dir, a, p->dir, b, RENAME_EXCHANGE) == 0)
        return CIP_OK;
    if (errno == EINVAL || errno == ENOSYS || errno == EXDEV)
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "this file system cannot replace a folder in one step: remove '%.80s' first", b);
    return fail_folder(err, errno, "replace", b);
}

/* --- whole trees ------------------------------------------------------------------------------ */

enum { DEEPEST = 64 };

static cip_status remove_in(int dir, const char *name, int depth, cip_err *err);

/* All in an open folder; the descriptor is taken over. */
static cip_status remove_all(int fd, const char *name, int depth, cip_err *err)
{
    const struct dirent *e;
    cip_status st = CIP_OK;
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return fail_folder(err, errno, "read", name);
    }
    while (st == CIP_OK && (e = readdir(dir)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            st = remove_in(fd, e->d_name, depth + 1, err);
    closedir(dir);
    return st;
}

static cip_status remove_in(int dir, const char *name, int depth, cip_err *err)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return CIP_OK;
    if (errno != EISDIR && errno != EPERM)
        return fail_folder(err, errno, "empty", name);
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd == -1 || depth == DEEPEST) {
        int errnum = fd == -1 ? errno : ENAMETOOLONG;
        close(fd);
        return fail_folder(err, errnum, "empty", name);
    }
    CIP_TRY(remove_all(fd, name, depth, err));
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return CIP_OK;
    return fail_folder(err, errno == EEXIST ? ENOTEMPTY : errno, "remove", name);
}

cip_status cip_store_remove_tree(const cip_place *p, const char *name, cip_err *err)
{
    return remove_in(p->dir, name, 0, err);
}
