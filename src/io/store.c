/* SPDX-License-Identifier: BSD-3-Clause
 * Named files as they are written. Every call here is one or few system calls with their failures
 * told in words; order and durability are decided above. */
#include "io/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/num.h"
#include "io/io_impl.h"
#include "io/remote/url.h"

enum { LARGEST = 1 << 30 }; /* Linux moves at most 2 GiB less a page at once */

cip_status cip_fail_named(cip_err *err, uint64_t offset, const char *verb, const char *name)
{
    char what[160];
    int errnum = errno;
    snprintf(what, sizeof what, "cannot %s '%.120s'", verb, name);
    return cip_fail_errno(err, errnum, offset, what);
}

static cip_status fail_name(cip_err *err, const char *verb, const char *name)
{
    if (errno == EACCES || errno == EPERM || errno == ETXTBSY)
        return cip_fail(err, CIP_ERR_READONLY, CIP_NO_OFFSET, "cannot %s '%.120s': %s", verb, name,
                        errno == ETXTBSY ? "it is being run" : "no permission");
    return cip_fail_named(err, CIP_NO_OFFSET, verb, name);
}

int cip_fd_read(int fd, uint64_t off, void *dst, size_t n, size_t *got)
{
    for (*got = 0; *got < n;) {
        const ssize_t now = pread(fd, (uint8_t *)dst + *got, (size_t)cip_min_u64(n - *got, LARGEST),
                                  (off_t)(off + *got));
        if (now < 0 && errno != EINTR)
            return errno;
        if (now == 0)
            break;
        *got += now > 0 ? (size_t)now : 0;
    }
    return 0;
}

cip_status cip_owned(pid_t owner, cip_err *err)
{
    if (owner == getpid())
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "expected the process that began the file, found a child process of it");
}

const char *cip_place_follow(const char *path, char real[PATH_MAX])
{
    struct stat st;
    bool link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    return link && realpath(path, real) != NULL ? real : path;
}

cip_status cip_path_absolute(cip_mem *mem, const char *path, char **out, cip_err *err)
{
    cip_buf text = { .mem = mem };
    char cwd[PATH_MAX];
    const char *folder = "";
    if (path[0] != '/')
        folder = getcwd(cwd, sizeof cwd) == NULL ? "." : strcmp(cwd, "/") != 0 ? cwd : "";
    cip_status st = cip_buf_addf(&text, err, "%s%s%s", folder, path[0] != '/' ? "/" : "", path);
    if (st == CIP_OK)
        *out = (char *)text.ptr;
    else
        cip_buf_clear(&text);
    return st;
}

cip_status cip_place_open(cip_mem *mem, const char *path, cip_place *out, cip_err *err)
{
    char real[PATH_MAX];
    cip_place p = { .mem = mem, .dir = -1 };
    char *folder = NULL;
    if (cip_url_is_remote(path))
        return cip_fail_url_written(err);
    path = cip_place_follow(path, real);
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (*name == '\0')
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file's name, found '%.100s'",
                        path);
    size_t len = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    CIP_TRY(cip_mem_copy(mem, slash == NULL ? "." : path, len, &folder, err));
    cip_status st_copy = cip_mem_copy(mem, name, strlen(name), &p.name, err);
    if (st_copy == CIP_OK)
        p.dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (st_copy == CIP_OK && p.dir == -1) {
        char what[160];
        snprintf(what, sizeof what, "cannot open the folder '%.110s'", folder);
        st_copy = cip_fail_errno(err, errno, CIP_NO_OFFSET, what);
        cip_mem_put(mem, p.name);
    }
    cip_mem_put(mem, folder);
    if (st_copy == CIP_OK)
        *out = p;
    return st_copy;
}

cip_status cip_place_folder(cip_mem *mem, const char *path, cip_place *out, cip_err *err)
{
    cip_place p = { .mem = mem, .dir = -1 };
    CIP_TRY(cip_mem_copy(mem, "", 0, &p.name, err));
    p.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p.dir == -1) {
        cip_status st = fail_name(err, "open the folder", path);
        cip_mem_put(mem, p.name);
        return st;
    }
    *out = p;
    return CIP_OK;
}

cip_status cip_place_sibling(const cip_place *p, const char *name, cip_place *out, cip_err *err)
{
    cip_place q = { .mem = p->mem, .dir = -1 };
    CIP_TRY(cip_mem_copy(p->mem, name, strlen(name), &q.name, err));
    q.dir = fcntl(p->dir, F_DUPFD_CLOEXEC, 0);
    if (q.dir == -1) {
        cip_mem_put(p->mem, q.name);
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot open the output's folder");
    }
    *out = q;
    return CIP_OK;
}

cip_status cip_place_beneath(const cip_place *p, const char *name, cip_place *out, cip_err *err)
{
    const char *slash = strrchr(name, '/');
    char *folder = NULL;
    struct stat st;
    int fd = -1;
    if (slash == NULL)
        return cip_place_sibling(p, name, out, err);
    cip_place q = { .mem = p->mem, .dir = -1 };
    CIP_TRY(cip_mem_copy(p->mem, name, (size_t)(slash - name), &folder, err));
    cip_status got = cip_folder_walk(p->dir, folder, name, &fd, err);
    if (got == CIP_OK && (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode)))
        got = cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "'%.120s' is not a folder", folder);
    if (got == CIP_OK)
        got = cip_mem_copy(p->mem, slash + 1, strlen(slash + 1), &q.name, err);
    cip_mem_put(p->mem, folder);
    if (got != CIP_OK) {
        close(fd); /* -1 is fine */
        return got;
    }
    q.dir = fd;
    *out = q;
    return CIP_OK;
}

void cip_place_close(cip_place *p)
{
    if (p->dir == -1)
        return;
    close(p->dir);
    cip_mem_put(p->mem, p->name);
    p->dir = -1;
    p->name = NULL;
}

cip_status cip_place_beside(const cip_place *p, const char *suffix, char **name, cip_err *err)
{
    return cip_name_beside(p->mem, p->name, suffix, name, err);
}

cip_status cip_name_beside(cip_mem *mem, const char *name, const char *suffix, char **out,
                           cip_err *err)
{
    char text[NAME_MAX + 1];
    int n = snprintf(text, sizeof text, ".%s%s", name, suffix);
    if (n < 0 || (size_t)n >= sizeof text)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "the name '%.60s...' is too long for a temporary file beside it", name);
    return cip_mem_copy(mem, text, (size_t)n, out, err);
}

cip_status cip_store_open(const cip_place *p, const char *name, int flags, mode_t mode, int *fd,
                          cip_err *err)
{
    int got;
    do
        got = openat(p->dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
    while (got == -1 && errno == EINTR);
    if (got == -1 && errno == EEXIST)
        return cip_fail(err, CIP_ERR_EXISTS, CIP_NO_OFFSET, "'%.120s' exists", name);
    if (got == -1)
        return fail_name(err, (flags & O_CREAT) != 0 ? "make" : "open", name);
    *fd = got;
    return CIP_OK;
}

/* In `dir`; -1 and errno. */
static int temporary_in(const char *dir)
{
    char path[PATH_MAX];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (fd != -1)
        return fd;
    int n = snprintf(path, sizeof path, "%s/.cippus-XXXXXX", dir);
    if ((size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC); /* file systems without O_TMPFILE */
    if (fd != -1)
        unlink(path);
    return fd;
}

cip_status cip_store_temporary(const char *beside, int *fd, cip_err *err)
{
    char folder[PATH_MAX];
    const char *dir = secure_getenv("TMPDIR");
    const char *slash = beside != NULL ? strrchr(beside, '/') : NULL;
    int got = -1;
    if (beside != NULL) {
        int len = slash == NULL ? 0 : (int)(slash - beside) + 1;
        if (snprintf(folder, sizeof folder, "%.*s.", len, beside) < (int)sizeof folder)
            got = temporary_in(folder);
    }
    if (dir == NULL || dir[0] != '/')
        dir = "/tmp";
    if (got == -1)
        got = temporary_in(dir);
    if (got == -1 && errno == ENAMETOOLONG)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "TMPDIR is over %d bytes long", PATH_MAX);
    if (got == -1)
        return fail_name(err, "make a temporary file in", dir);
    *fd = got;
    return CIP_OK;
}

cip_status cip_store_write(int fd, uint64_t off, const void *p, size_t n, cip_err *err)
{
    const uint8_t *at = p;
    while (n != 0) {
        ssize_t now = pwrite(fd, at, (size_t)cip_min_u64(n, LARGEST), (off_t)off);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return cip_fail_errno(err, errno, off, "cannot write");
        at += now;
        off += (uint64_t)now;
        n -= (size_t)now;
    }
    return CIP_OK;
}

cip_status cip_store_resize(int fd, uint64_t nbytes, cip_err *err)
{
    int rc;
    do
        rc = ftruncate(fd, (off_t)nbytes);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? CIP_OK : cip_fail_errno(err, errno, nbytes, "cannot change the file's length");
}

cip_status cip_store_fill(int fd, uint64_t off, uint8_t fill, uint64_t n, cip_err *err)
{
    uint8_t piece[4096];
    memset(piece, fill, sizeof piece);
    while (n != 0) {
        size_t now = (size_t)cip_min_u64(n, sizeof piece);
        CIP_TRY(cip_store_write(fd, off, piece, now, err));
        off += now;
        n -= now;
    }
    return CIP_OK;
}

cip_status cip_store_sync(int fd, cip_err *err)
{
    int rc;
    do
        rc = fdatasync(fd); /* with the length, which is needed to find the data */
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? CIP_OK : cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot sync the file");
}

cip_status cip_store_sync_all(int fd, cip_err *err)
{
    int rc;
    do
        rc = fsync(fd);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? CIP_OK : cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot sync the file");
}

cip_status cip_place_sync(const cip_place *p, cip_err *err)
{
    if (fsync(p->dir) == 0 || errno == EINVAL) /* some file systems cannot and need not */
        return CIP_OK;
    return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot sync the file's folder");
}

cip_status cip_store_rename_to(const cip_place *p, const char *from, const cip_place *q,
                               const char *to, bool replace, cip_err *err)
{
    int rc = renameat2(p->dir, from, q->dir, to, replace ? 0 : RENAME_NOREPLACE);
    if (rc != 0 && replace && (errno == EINVAL || errno == ENOSYS))
        rc = renameat(p->dir, from, q->dir, to);
    if (rc != 0 && !replace && (errno == EINVAL || errno == ENOSYS)) {
        rc = linkat(p->dir, from, q->dir, to, 0); /* a file system without the flag */
        if (rc == 0)
            unlinkat(p->dir, from, 0);
    }
    if (rc != 0 && errno == EEXIST)
        return cip_fail(err, CIP_ERR_EXISTS, CIP_NO_OFFSET, "'%.120s' exists", to);
    return rc == 0 ? CIP_OK : fail_name(err, "give the new file the name", to);
}

cip_status cip_store_rename(const cip_place *p, const char *from, const char *to, bool replace,
                            cip_err *err)
{
    return cip_store_rename_to(p, from, p, to, replace, err);
}

cip_status cip_store_unlink(const cip_place *p, const char *name, cip_err *err)
{
    if (unlinkat(p->dir, name, 0) == 0 || errno == ENOENT)
        return CIP_OK;
    return fail_name(err, "remove", name);
}
