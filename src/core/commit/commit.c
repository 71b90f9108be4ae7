/* SPDX-License-Identifier: BSD-3-Clause
 * Beginning and ending an update: the file under the writers' lock, and rows at its end. */
#include "core/commit/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef STATX_INO
#include <sys/sysmacros.h>
#endif

#include "core/commit/commit_impl.h"
#include "base/sized.h"

enum {
    TRIES = 16,
    PAUSE = 1000000, /* nanoseconds, at first */
    PAUSE_MOST = 32 * PAUSE,
    GRACE = 300 * PAUSE /* of lock files, which readers share for an instant at a time */
};

static cip_status name_one(cip_commit *c, const char *name, const char *suffix, char **out,
                           cip_err *err)
{
    cip_mem_put(&c->env->mem, *out);
    *out = NULL;
    if (c->folder)
        return cip_mem_copy(&c->env->mem, suffix, strlen(suffix), out, err);
    return cip_name_beside(&c->env->mem, name, suffix, out, err);
}

cip_status cip_commit_name(cip_commit *c, const char *name, cip_err *err)
{
    CIP_TRY(name_one(c, name, ".cip-tmp", &c->tmp, err));
    CIP_TRY(name_one(c, name, ".cip-journal", &c->journal, err));
    return name_one(c, name, ".cip-new", &c->fresh, err);
}

/* A folder is its own place: it stays that one as long as this is open. */
static cip_status open_file(cip_commit *c, cip_err *err)
{
    if (!c->folder)
        return cip_store_open(&c->place, c->place.name, O_RDWR, 0, &c->fd, err);
    cip_place_close(&c->place);
    CIP_TRY(cip_place_folder(&c->env->mem, c->path, &c->place, err));
    c->fd = fcntl(c->place.dir, F_DUPFD_CLOEXEC, 0);
    return c->fd != -1 ? CIP_OK
                       : cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot open the folder");
}

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Locks cannot be waited for with an end to it: they are tried again and again. */
static cip_lock wait_for(const cip_commit *c, cip_lock (*try_once)(const cip_commit *, uint64_t),
                         uint64_t what, int64_t grace)
{
    struct timespec pause = { .tv_nsec = PAUSE };
    const int64_t end = nanoseconds() + (int64_t)c->wait * 1000000000 + grace;
    for (;;) {
        cip_lock got = try_once(c, what);
        if (got != CIP_LOCK_TAKEN || nanoseconds() >= end)
            return got;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < PAUSE_MOST)
            pause.tv_nsec *= 2;
    }
}

static cip_lock try_own(const cip_commit *c, uint64_t at)
{
    return cip_store_lock(c->fd, at, false);
}

cip_lock cip_commit_take(const cip_commit *c, uint64_t at)
{
    return wait_for(c, try_own, at, 0);
}

static cip_lock try_foreign(const cip_commit *c, uint64_t shared)
{
    return cip_lock_file_take(&c->foreign, shared != 0);
}

static cip_status have_foreign(cip_commit *c, bool shared, cip_err *err)
{
    if (c->foreign.fd == -1)
        CIP_TRY(
            cip_foreign_lock_open(c->place.dir, c->place.name, c->folder, true, &c->foreign, err));
    if (c->foreign.fd != -1 && wait_for(c, try_foreign, shared, GRACE) == CIP_LOCK_TAKEN)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "another program holds the lock of this file");
    return CIP_OK;
}

cip_status cip_commit_share_foreign(cip_commit *c, cip_err *err)
{
    CIP_TRY(have_foreign(c, true, err));
    cip_lock_file_note(&c->foreign);
    return CIP_OK;
}

/* A shared lock is given up before it becomes one of its own: who waited may come in between. */
cip_status cip_commit_take_foreign(cip_commit *c, cip_err *err)
{
    const bool shared = c->foreign.fd != -1;
    CIP_TRY(have_foreign(c, false, err));
    if (shared && !cip_lock_file_is_same(&c->foreign))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "file changed since open: its lock file records a change");
    CIP_TRY(cip_lock_file_count(&c->foreign, err));
    cip_lock_file_note(&c->foreign);
    return CIP_OK;
}

/* Shared again, where nobody comes between; what it counted stays noted, so that a change of
 * somebody who came is seen. */
void cip_commit_let_foreign(cip_commit *c)
{
    if (c->foreign.fd != -1)
        cip_lock_file_take(&c->foreign, true);
}

/* The lock is worth nothing if the name has gone to another file meanwhile. */
static cip_status open_locked(cip_commit *c, cip_err *err)
{
    char real[PATH_MAX];
    bool moved = true;
    for (int i = 0; i < TRIES && moved; i++) {
        if (c->fd != -1)
            close(c->fd);
        c->fd = -1;
        struct stat now;
        CIP_TRY(open_file(c, err));
        if (fstat(c->fd, &c->st) != 0)
            return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot get the status of the file");
        if (!c->folder && !S_ISREG(c->st.st_mode))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "'%.120s' is not a regular file", c->path);
        if (cip_commit_take(c, CIP_LOCK_WRITERS) == CIP_LOCK_TAKEN)
            return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                            "another writer is updating the file");
        int rc = c->folder ? stat(c->path, &now)
                           : fstatat(c->place.dir, c->place.name, &now, AT_SYMLINK_NOFOLLOW);
        moved = rc != 0 || !cip_is_same_file(&now, &c->st);
    }
    if (moved)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "the file is being replaced");
    return realpath(c->path, real) == NULL
               ? CIP_OK /* a folder above may not be seen: then its own alone is looked in */
               : cip_mem_copy(&c->env->mem, real, strlen(real), &c->full, err);
}

bool cip_is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

cip_status cip_fail_stale(const char *path, cip_err *err)
{
    struct stat st;
    const char *what =
        stat(path, &st) == 0 ? "another file took its name" : "it was moved or removed";
    return cip_fail(err, CIP_ERR_STALE, CIP_NO_OFFSET,
                    "%s since it was opened, so nothing was written; open it again", what);
}

/* Asked at each row, and without the file's times where that can be: since Linux 6.13 a file whose
 * times were looked at gets finer ones at its next write, which takes a microsecond. */
static bool is_named_by_path(const cip_commit *c)
{
#ifdef STATX_INO
    struct statx at;
    if (statx(AT_FDCWD, c->full, AT_SYMLINK_NOFOLLOW, STATX_INO, &at) == 0 &&
        (at.stx_mask & STATX_INO) != 0)
        return at.stx_ino == c->st.st_ino &&
               makedev(at.stx_dev_major, at.stx_dev_minor) == c->st.st_dev;
#endif
    struct stat now;
    return lstat(c->full, &now) == 0 && cip_is_same_file(&now, &c->st);
}

static bool is_named_in_folder(const cip_commit *c)
{
    struct stat now;
    return fstatat(c->place.dir, c->place.name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           cip_is_same_file(&now, &c->st);
}

/* By the path, as a folder on the way may have been exchanged; and in the folder that is open, as
 * that is where a new file would take the name. */
cip_status cip_commit_named(const cip_commit *c, cip_err *err)
{
    if (cip_commit_has_target(c) ||
        ((c->full == NULL || is_named_by_path(c)) && (c->folder || is_named_in_folder(c))))
        return CIP_OK;
    return cip_fail_stale(c->full != NULL ? c->full : c->path, err);
}

cip_status cip_commit_reopen(cip_commit *c, cip_err *err)
{
    struct stat st;
    cip_io_close(c->io);
    c->io = NULL;
    CIP_TRY(cip_io_open_path(c->env, c->path, &c->io, err));
    if (!cip_target_stat(c->io, &st) || !cip_is_same_file(&st, &c->st))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "the file is being replaced");
    c->end = c->io->size;
    return CIP_OK;
}

cip_status cip_commit_lock(cip_env *env, const char *path, const cip_change_options *opts,
                           cip_commit **out, cip_err *err)
{
    cip_change_options o;
    cip_commit *c = NULL;
    char real[PATH_MAX];
    struct stat now;
    cip_status st;
    *out = NULL;
    CIP_TRY(CIP_SIZED_TAKE(cip_change_options, opts, &o, err));
    CIP_TRY(CIP_NEW(&env->mem, &c, 1, err));
    c->env = env;
    c->fd = c->place.dir = c->foreign.fd = c->own_tmp = c->own_fresh = c->became = -1;
    c->level = o.level;
    c->break_links = o.break_links;
    c->wait = o.wait;
    c->recovering = true;
    c->owner = getpid();
    path = cip_place_follow(path, real);
    CIP_GO(cip_path_absolute(&env->mem, path, &c->path, err));
    c->folder = stat(path, &now) == 0 && S_ISDIR(now.st_mode);
    CIP_GO((c->folder ? cip_place_folder : cip_place_open)(&env->mem, path, &c->place, err));
    CIP_GO(cip_commit_name(c, c->place.name, err));
    CIP_GO(open_locked(c, err));
    if (!c->folder) /* what an update left is called after the name that the file had then */
        CIP_GO(cip_record_get(c->fd, &c->record, err));
    if (!c->folder && c->record.name[0] != '\0')
        CIP_GO(cip_commit_name(c, c->record.name, err));
    CIP_GO(cip_commit_reopen(c, err));
    *out = c;
    return CIP_OK;
done:
    cip_commit_end(c);
    return st;
}

cip_status cip_commit_begin(cip_env *env, const char *path, const cip_change_options *opts,
                            cip_commit **out, cip_err *err)
{
    CIP_TRY(cip_commit_lock(env, path, opts, out, err));
    cip_status st = cip_commit_share_foreign(*out, err);
    if (st == CIP_OK && (*out)->foreign.fd != -1)
        st = cip_commit_reopen(*out, err); /* as it is under both locks */
    if (st == CIP_OK)
        st = cip_commit_recover(*out, err);
    (*out)->recovering = false;
    if (st != CIP_OK) {
        cip_commit_end(*out);
        *out = NULL;
    }
    return st;
}

cip_status cip_commit_begin_of(cip_env *env, const char *path, const struct stat *was,
                               const cip_change_options *opts, cip_commit **out, cip_err *err)
{
    struct stat now;
    *out = NULL;
    if (stat(path, &now) != 0 || !cip_is_same_file(&now, was))
        return cip_fail_stale(path, err);
    CIP_TRY(cip_commit_begin(env, path, opts, out, err));
    if (cip_is_same_file(&(*out)->st, was))
        return CIP_OK;
    cip_commit_end(*out);
    *out = NULL;
    return cip_fail_stale(path, err);
}

bool cip_commit_is_folder(const cip_commit *c)
{
    return c->folder;
}

cip_io *cip_commit_io(cip_commit *c)
{
    return c->io;
}

bool cip_commit_is_own(const cip_commit *c, const char *name, int fd)
{
    struct stat own, now;
    return fd == -1 || fstat(fd, &own) != 0 ||
           fstatat(c->place.dir, name, &now, AT_SYMLINK_NOFOLLOW) != 0 ||
           cip_is_same_file(&own, &now);
}

int cip_commit_became(cip_commit *c)
{
    const int fd = c->became;
    c->became = -1;
    return fd;
}

/* Where nothing is locked others may write between two calls. */
static cip_status append_to_target(cip_commit *c, const void *p, size_t n, cip_err *err)
{
    void *user;
    const cip_io_methods *read = cip_io_user_methods(c->io, &user);
    cip_io *now = NULL;
    CIP_TRY(cip_io_unchanged(c->io, err));
    cip_status st = cip_target_write(&c->target, c->end, p, n, err);
    if (st == CIP_OK)
        st = cip_target_finish(&c->target, false, err);
    if (st == CIP_OK)
        st = cip_io_open_user_again(c->env, read, user, &now, err); /* and its version now */
    if (st != CIP_OK) {
        cip_target_resize(&c->target, c->end, NULL);
        return st;
    }
    cip_io_close(c->io);
    c->io = now;
    return CIP_OK;
}

/* Rows go into the file that is open, which its path still leads to: its name in the folder that is
 * open, a microsecond for each row, matters only where a new file would take it. A row that could
 * not be written whole is taken back. */
cip_status cip_commit_append(cip_commit *c, const void *p, size_t n, cip_err *err)
{
    if (!cip_commit_has_target(c)) {
        CIP_TRY(cip_owned(c->owner, err));
        if (c->full == NULL || !is_named_by_path(c))
            CIP_TRY(cip_commit_named(c, err));
    }
    cip_status st = cip_commit_has_target(c) ? append_to_target(c, p, n, err)
                                             : cip_store_write(c->fd, c->end, p, n, err);
    if (st == CIP_OK)
        c->end += n;
    else if (!cip_commit_has_target(c))
        cip_store_resize(c->fd, c->end, NULL);
    return st;
}

/* What lies in the file is synced in any case: it may be there under another name. */
cip_status cip_commit_sync(cip_commit *c, cip_err *err)
{
    if (cip_commit_has_target(c))
        return cip_target_sync(&c->target, err);
    CIP_TRY(cip_store_sync(c->fd, err));
    return cip_commit_named(c, err);
}

void cip_commit_end(cip_commit *c)
{
    if (c == NULL)
        return;
    cip_mem *mem = &c->env->mem;
    cip_io_close(c->io);
    cip_target_close(&c->target);
    cip_lock_file_close(&c->foreign);
    close(c->own_tmp); /* -1 is fine */
    close(c->own_fresh);
    close(c->became);
    if (c->fd != -1)
        close(c->fd); /* and with it the locks */
    cip_mem_put(mem, c->path);
    cip_mem_put(mem, c->full);
    cip_mem_put(mem, c->tmp);
    cip_mem_put(mem, c->journal);
    cip_mem_put(mem, c->fresh);
    cip_place_close(&c->place);
    cip_mem_put(mem, c);
}
