/* SPDX-License-Identifier: BSD-3-Clause
 * The folder that a file's members are opened in, and the rule that a path does not leave it by
 * links either. */
#include "io/io_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/num.h"
#include "io/store.h"

struct cip_folder {
    cip_mem *mem;
    _Atomic unsigned refs;
    pthread_mutex_t lock; /* guards fd; a leaf */
    int fd;               /* -1: not opened yet */
    char *path;           /* absolute where the system told us, with a slash at the end */
};

enum { MEMBER_FLAGS = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY };

cip_status cip_folder_new(cip_mem *mem, const char *path, cip_folder **out, cip_err *err)
{
    cip_status st;
    cip_folder *f = NULL;
    char *text = NULL;
    *out = NULL;
    CIP_GO(cip_path_absolute(mem, path, &text, err));
    strrchr(text, '/')[1] = '\0';
    CIP_GO(CIP_NEW(mem, &f, 1, err));
    f->mem = mem;
    atomic_init(&f->refs, 1);
    pthread_mutex_init(&f->lock, NULL);
    f->fd = -1;
    f->path = text;
    text = NULL;
    *out = f;
done:
    cip_mem_put(mem, text);
    return st;
}

cip_folder *cip_folder_keep(cip_folder *f)
{
    atomic_fetch_add(&f->refs, 1);
    return f;
}

void cip_folder_drop(cip_folder *f)
{
    if (f == NULL || atomic_fetch_sub(&f->refs, 1) != 1)
        return;
    if (f->fd != -1)
        close(f->fd);
    pthread_mutex_destroy(&f->lock);
    cip_mem_put(f->mem, f->path);
    cip_mem_put(f->mem, f);
}

static cip_status fail_open(cip_err *err, int errnum, const char *shown)
{
    char what[160];
    snprintf(what, sizeof what, "cannot open '%.120s'", shown);
    return cip_fail_errno(err, errnum, CIP_NO_OFFSET, what);
}

cip_status cip_folder_hold(cip_folder *f, int fd, cip_err *err)
{
    fd = fd != -1 ? fcntl(fd, F_DUPFD_CLOEXEC, 0)
                  : open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd == -1 && errno == EACCES) /* its members may be opened, but not listed */
        return CIP_OK;
    if (fd == -1)
        return fail_open(err, errno, f->path);
    f->fd = fd;
    return CIP_OK;
}

int cip_folder_descriptor(const cip_folder *f)
{
    return f->fd;
}

const char *cip_folder_path(const cip_folder *f)
{
    return f->path;
}

static cip_status folder_fd(cip_folder *f, int *fd, cip_err *err)
{
    cip_status st = CIP_OK;
    pthread_mutex_lock(&f->lock);
    if (f->fd == -1)
        f->fd = open(f->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (f->fd == -1)
        st = fail_open(err, errno, f->path);
    else
        *fd = f->fd;
    pthread_mutex_unlock(&f->lock);
    return st;
}

static cip_status refuse_link(cip_err *err, const char *shown, const char *how)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "'%.120s' is reached through a link %s (.allow_external opens it)", shown, how);
}

cip_status cip_folder_open_outside(cip_env *env, const cip_folder *f, const char *inside,
                                   const char *name, cip_io **out, cip_err *err)
{
    cip_buf path = { .mem = &env->mem };
    const bool absolute = name[0] == '/';
    cip_status st = cip_buf_addf(&path, err, "%s%s%s", absolute ? "" : cip_folder_path(f),
                                 absolute ? "" : inside, name);
    if (st == CIP_OK)
        st = cip_io_open_file(env, (const char *)path.ptr, out, err);
    cip_buf_clear(&path);
    return st;
}

cip_status cip_folder_walk(int dirfd, const char *path, const char *shown, int *fd, cip_err *err)
{
    char name[NAME_MAX + 2]; /* one byte too many stays too long for the system */
    int at = dirfd;
    for (size_t n; (n = strcspn(path, "/")) != 0;) { /* no segment is empty */
        snprintf(name, sizeof name, "%.*s", (int)cip_min_u64(n, NAME_MAX + 1), path);
        path += path[n] == '/' ? n + 1 : n;
        bool last = path[0] == '\0';
        int flags = last ? MEMBER_FLAGS : O_PATH | O_DIRECTORY | O_CLOEXEC;
        int next = openat(at, name, flags | O_NOFOLLOW);
        int errnum = errno;
        struct stat st;
        bool link =
            next == -1 && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
        if (at != dirfd)
            close(at);
        if (link)
            return refuse_link(err, shown, "that this system cannot restrict to the folder");
        if (next == -1)
            return fail_open(err, errnum, shown);
        at = next;
    }
    *fd = at;
    return CIP_OK;
}

cip_status cip_folder_open_beneath(cip_folder *f, const char *path, const char *shown, int *fd,
                                   cip_err *err)
{
    const struct open_how how = {
        .flags = MEMBER_FLAGS,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    int dirfd = -1;
    CIP_TRY(folder_fd(f, &dirfd, err));
    long got = syscall(SYS_openat2, dirfd, path, &how, sizeof how);
    if (got != -1) {
        *fd = (int)got;
        return CIP_OK;
    }
    switch (errno) {
    case EXDEV:
        return refuse_link(err, shown, "that leaves the file's folder");
    case ELOOP:
        return refuse_link(err, shown, "that is circular or special");
    case ENOSYS: /* before Linux 5.6 */
    case EPERM:  /* filters of containers answer so */
    case EAGAIN: /* something was renamed meanwhile */
        return cip_folder_walk(dirfd, path, shown, fd, err);
    default:
        return fail_open(err, errno, shown);
    }
}
