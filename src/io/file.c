/* SPDX-License-Identifier: BSD-3-Clause
 * A regular file, read by pread: no position, no lock, and a file cut short by others is an error
 * instead of a signal. A mapping is made only when a view asks for one, or for all reads of a file
 * that was opened so. */
#include "io/io_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/num.h"
#include "io/remote/url.h"
#include "io/store.h"

_Static_assert(sizeof(off_t) >= 8, "file offsets need 64 bits");

typedef struct file_io {
    cip_io io;
    int fd;
    dev_t device;
    ino_t inode;
    struct timespec changed; /* as of open */
    cip_folder *folder;      /* NULL: no members */
    char *path;              /* absolute, of what was opened by a path; else NULL */
    char *inside;            /* the file's own folder relative to it */
    cip_folder *behind;      /* that of the file to which a symbolic link led, or NULL */
    pthread_mutex_t lock;    /* guards map; a leaf */
    void *map;               /* of the whole file, or NULL */
    bool direct;             /* reads are copies from the map; set before anybody reads */
} file_io;

enum { GROUP = 64 }; /* ranges that are read together */

static cip_status read_full(const file_io *f, uint64_t off, void *dst, size_t n, cip_err *err)
{
    size_t got;
    if (cip_fd_read(f->fd, off, dst, n, &got) != 0)
        return cip_fail_named(err, off + got, "read", f->io.name);
    return got == n ? CIP_OK
                    : cip_fail(err, CIP_ERR_BUSY, off + got,
                               "file changed since open: expected %zu more bytes, found its end",
                               n - got);
}

static cip_status file_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    const file_io *file = (const file_io *)io;
    for (; n != 0 && file->direct; r++, n--)
        memcpy(r->dst, (const uint8_t *)file->map + r->offset, r->nbytes);
    while (n != 0) {
        size_t group = 1; /* ranges that lie next to each other in the file */
        while (group < n && group < GROUP &&
               r[group].offset == r[group - 1].offset + r[group - 1].nbytes)
            group++;
        if (group == 1)
            CIP_TRY(read_full(file, r->offset, r->dst, r->nbytes, err));
        else {
            /* One call for neighbours. What it leaves, for whatever reason, is read range by range.
             */
            struct iovec iov[GROUP];
            for (size_t i = 0; i < group; i++)
                iov[i] = (struct iovec){ .iov_base = r[i].dst, .iov_len = r[i].nbytes };
            ssize_t got = preadv(file->fd, iov, (int)group, (off_t)r[0].offset);
            size_t have = got != -1 ? (size_t)got : 0;
            for (size_t i = 0; i < group; i++) {
                size_t skip = (size_t)cip_min_u64(have, r[i].nbytes);
                have -= skip;
                CIP_TRY(read_full(file, r[i].offset + skip, (uint8_t *)r[i].dst + skip,
                                  r[i].nbytes - skip, err));
            }
        }
        r += group;
        n -= group;
    }
    return CIP_OK;
}

static cip_status file_unchanged(cip_io *io, cip_err *err)
{
    const file_io *f = (const file_io *)io;
    struct stat st;
    if (fstat(f->fd, &st) != 0)
        return cip_fail_named(err, CIP_NO_OFFSET, "stat", io->name);
    if ((uint64_t)st.st_size != io->size)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "file changed since open: expected %" PRIu64 " bytes, found %" PRIu64,
                        io->size, (uint64_t)st.st_size);
    if (st.st_mtim.tv_sec != f->changed.tv_sec || st.st_mtim.tv_nsec != f->changed.tv_nsec)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "file changed since open: it was written to");
    return CIP_OK;
}

void cip_io_taken_back(cip_io *io)
{
    struct stat st;
    if (cip_io_stat(io, &st) && (uint64_t)st.st_size == io->size)
        ((file_io *)io)->changed = st.st_mtim;
    else
        cip_folder_io_taken_back(io);
}

/* Under the lock. */
static cip_status map_once(file_io *f, cip_err *err)
{
    size_t n;
    if (f->map != NULL)
        return CIP_OK;
    CIP_TRY(file_unchanged(&f->io, err)); /* a shorter file would fault at its old end */
    if (!cip_to_size(f->io.size, &n))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' is too large for the address space", f->io.name);
    void *map = mmap(NULL, n, PROT_READ, MAP_SHARED, f->fd, 0);
    if (map == MAP_FAILED)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "cannot map '%.120s' (errno %d)",
                        f->io.name, errno);
    f->map = map;
    return CIP_OK;
}

static cip_status file_map(cip_io *io, const uint8_t **ptr, cip_err *err)
{
    file_io *f = (file_io *)io;
    if (io->size == 0) { /* the system maps no empty range */
        *ptr = (const uint8_t *)"";
        return CIP_OK;
    }
    pthread_mutex_lock(&f->lock);
    cip_status st = map_once(f, err);
    if (st == CIP_OK)
        *ptr = f->map;
    pthread_mutex_unlock(&f->lock);
    return st;
}

void cip_io_read_mapped(cip_io *io)
{
    const uint8_t *map;
    if (io->ops->map == file_map)
        ((file_io *)io)->direct = file_map(io, &map, NULL) == CIP_OK;
}

static cip_status open_in(const file_io *f, cip_folder *folder, const char *name, uint32_t flags,
                          cip_io **out, cip_err *err)
{
    cip_env *env = f->io.env;
    cip_buf path = { .mem = &env->mem }, inside = { .mem = &env->mem };
    cip_status st;
    int fd = -1;
    if ((flags & CIP_IO_EXTERNAL) != 0)
        return cip_folder_open_outside(env, folder, f->inside, name, out, err);
    CIP_GO(cip_buf_addf(&path, err, "%s%s", f->inside, name));
    const char *text = (const char *)path.ptr;
    const char *slash = strrchr(text, '/');
    CIP_GO(cip_buf_addf(&inside, err, "%.*s", slash != NULL ? (int)(slash + 1 - text) : 0, text));
    CIP_GO(cip_folder_open_beneath(folder, text, text, &fd, err));
    CIP_GO(cip_file_new(env, fd, text, folder, (const char *)inside.ptr, out, err));
    if (f->direct)
        cip_io_read_mapped(*out);
done:
    cip_buf_clear(&path);
    cip_buf_clear(&inside);
    return st;
}

/* What is not beside a link may be beside the file that it leads to. */
static cip_status file_member(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                              cip_err *err)
{
    const file_io *f = (const file_io *)io;
    cip_err own = CIP_ERR_INIT, why = CIP_ERR_INIT;
    cip_status st = open_in(f, f->folder, name, flags, out, &own);
    cip_status behind = CIP_ERR_NOT_FOUND;
    if (st == CIP_ERR_NOT_FOUND && f->behind != NULL)
        behind = open_in(f, f->behind, name, flags, out, &why);
    if (behind != CIP_ERR_NOT_FOUND) {
        st = behind;
        own = why;
    }
    return cip_err_give(err, &own, st);
}

static int file_descriptor(cip_io *io, uint64_t *off)
{
    (void)off;
    return ((file_io *)io)->fd;
}

static void file_close(cip_io *io)
{
    file_io *f = (file_io *)io;
    if (f->map != NULL)
        munmap(f->map, (size_t)io->size);
    pthread_mutex_destroy(&f->lock);
    close(f->fd);
    cip_folder_drop(f->folder);
    cip_folder_drop(f->behind);
    cip_mem_put(&io->env->mem, f->path);
    cip_mem_put(&io->env->mem, f->inside);
    cip_io_free(io);
}

static const cip_io_ops file_ops = {
    .name = "file",
    .read_ranges = file_read,
    .map = file_map,
    .open_member = file_member,
    .unchanged = file_unchanged,
    .descriptor = file_descriptor,
    .close = file_close,
};
/* Without a folder. */
static const cip_io_ops lone_file_ops = {
    .name = "file",
    .read_ranges = file_read,
    .map = file_map,
    .unchanged = file_unchanged,
    .descriptor = file_descriptor,
    .close = file_close,
};

static bool is_file(const cip_io *io)
{
    return io->ops == &file_ops || io->ops == &lone_file_ops;
}

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a FIFO";
    case S_IFCHR:
        return "a character device";
    case S_IFBLK:
        return "a block device";
    default:
        return "a special file";
    }
}

cip_status cip_file_new(cip_env *env, int fd, const char *name, cip_folder *folder,
                        const char *inside, cip_io **out, cip_err *err)
{
    cip_status st;
    cip_io *io = NULL;
    char *copy = NULL;
    struct stat now;
    *out = NULL;
    if (fstat(fd, &now) != 0)
        CIP_GO(cip_fail_named(err, CIP_NO_OFFSET, "stat", name));
    if (!S_ISREG(now.st_mode))
        CIP_GO(cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "'%.120s' is %s, not a file", name,
                        kind_of(now.st_mode)));
    CIP_GO(cip_mem_copy(&env->mem, inside, strlen(inside), &copy, err));
    CIP_GO(cip_io_new(env, folder != NULL ? &file_ops : &lone_file_ops, sizeof(file_io), name, &io,
                      err));
    file_io *f = (file_io *)io;
    f->fd = fd;
    f->device = now.st_dev;
    f->inode = now.st_ino;
    f->changed = now.st_mtim;
    f->folder = folder != NULL ? cip_folder_keep(folder) : NULL;
    f->inside = copy;
    pthread_mutex_init(&f->lock, NULL);
    io->size = (uint64_t)now.st_size;
    *out = io;
    return CIP_OK;
done:
    close(fd);
    cip_mem_put(&env->mem, copy);
    return st;
}

/* Closes it on failure. */
static cip_status look_behind(const char *path, cip_io **io, cip_err *err)
{
    char real[PATH_MAX];
    const char *to = cip_place_follow(path, real);
    if (to == path)
        return CIP_OK;
    cip_status st = cip_folder_new(&(*io)->env->mem, to, &((file_io *)*io)->behind, err);
    if (st != CIP_OK) {
        cip_io_close(*io);
        *io = NULL;
    }
    return st;
}

static cip_status open_path(const char *path, int flags, int *fd, cip_err *err)
{
    do
        *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags);
    while (*fd == -1 && errno == EINTR);
    if (*fd != -1)
        return CIP_OK;
    if (errno == ENXIO) /* what the system says of sockets */
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' is a socket or an absent device, not a file", path);
    if (errno == ENOENT && cip_url_scheme_of(path) == CIP_URL_OTHER)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a path or a URL of file, http, https or s3, found another URL");
    if (errno == ENOENT && cip_url_scheme_of(path) != CIP_URL_NONE)
        return cip_fail_url_written(err); /* who reads comes another way */
    return cip_fail_named(err, CIP_NO_OFFSET, "open", path);
}

/* Of a descriptor that is the io's from then on, closed on failure. */
static cip_status file_of(cip_env *env, int fd, const char *path, cip_io **out, cip_err *err)
{
    cip_folder *folder = NULL;
    char *absolute = NULL;
    cip_status st = cip_path_absolute(&env->mem, path, &absolute, err);
    if (st == CIP_OK)
        st = cip_folder_new(&env->mem, absolute, &folder, err);
    if (st == CIP_OK)
        st = cip_file_new(env, fd, path, folder, "", out, err);
    else
        close(fd);
    cip_folder_drop(folder);
    if (st != CIP_OK) {
        cip_mem_put(&env->mem, absolute);
        return st;
    }
    ((file_io *)*out)->path = absolute;
    return CIP_OK;
}

cip_status cip_io_open_file(cip_env *env, const char *path, cip_io **out, cip_err *err)
{
    int fd;
    *out = NULL;
    CIP_TRY(open_path(path, 0, &fd, err));
    CIP_TRY(file_of(env, fd, path, out, err));
    return look_behind(path, out, err);
}

cip_status cip_io_open_no_link(cip_env *env, const char *path, cip_io **out, cip_err *err)
{
    struct stat st;
    int fd;
    *out = NULL;
    CIP_TRY(open_path(path, O_NOFOLLOW, &fd, err));
    if (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode))
        return file_of(env, fd, path, out, err);
    cip_status opened = cip_io_open_folder_fd(env, fd, path, out, err);
    close(fd);
    return opened;
}

const char *cip_io_followed(const cip_io *io, const char *path, char real[PATH_MAX])
{
    const bool known = io->ops == &file_ops && strcmp(io->name, path) == 0;
    return known && ((const file_io *)io)->behind == NULL ? path : cip_place_follow(path, real);
}

const char *cip_io_path(cip_io *io)
{
    uint64_t off = 0;
    cip_io *whole = cip_io_whole(io, &off);
    const char *path = is_file(whole) ? ((const file_io *)whole)->path : cip_folder_io_path(whole);
    return path != NULL || !is_file(whole) ? path : whole->name;
}

/* What can be locked, or -1. */
static int lockable(const cip_io *io)
{
    return is_file(io) ? ((const file_io *)io)->fd : cip_folder_io_descriptor(io);
}

cip_status cip_io_lock(cip_io *io, cip_err *err)
{
    int fd = lockable(io);
    cip_lock got = fd == -1      ? CIP_LOCK_NONE
                   : is_file(io) ? cip_store_share(fd, CIP_LOCK_READERS)
                                 : cip_store_lock(fd, CIP_LOCK_READERS, true);
    if (got == CIP_LOCK_TAKEN)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "the file is being updated in place");
    return CIP_OK;
}

void cip_io_unlock(cip_io *io)
{
    int fd = lockable(io);
    if (fd != -1)
        cip_store_unlock(fd, CIP_LOCK_READERS);
}

cip_status cip_io_unwritten(cip_io *io, cip_err *err)
{
    int fd = lockable(io);
    if (fd != -1 && cip_store_is_locked(fd, CIP_LOCK_WRITERS))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "the file is being updated");
    return CIP_OK;
}

bool cip_file_opened(const cip_io *io, struct stat *st)
{
    const file_io *f = (const file_io *)io;
    if (!is_file(io))
        return false;
    *st = (struct stat){
        .st_dev = f->device, .st_ino = f->inode, .st_size = (off_t)io->size, .st_mtim = f->changed
    };
    return true;
}

bool cip_io_stat(cip_io *io, struct stat *st)
{
    if (!is_file(io))
        return false;
    return fstat(((file_io *)io)->fd, st) == 0;
}

bool cip_target_stat(cip_io *io, struct stat *st)
{
    int fd = lockable(io);
    return fd != -1 && fstat(fd, st) == 0;
}
