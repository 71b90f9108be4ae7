/* SPDX-License-Identifier: BSD-3-Clause
 * A folder as an io: the formats whose file is a folder find their members through it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "io/io_impl.h"
#include "io/store.h"

/* A member as it was when it was opened, or looked for in vain. */
typedef struct noted {
    char *name;
    bool absent;
    struct stat st;
} noted;

typedef struct folder_io {
    cip_io io;
    cip_folder *folder;
    char *path; /* absolute */
    bool noting;
    noted *note;
    size_t n, cap;
} folder_io;

static cip_status no_bytes(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    (void)n;
    return cip_fail(err, CIP_ERR_TRUNCATED, r->offset, "'%.120s' is a folder", io->name);
}

/* fd: -1 where none was found. A name that leads out of the folder is not found, but there. */
static cip_status note_member(folder_io *f, const char *name, int fd, cip_err *err)
{
    cip_mem *mem = &f->io.env->mem;
    noted now = { .absent = fd == -1 };
    if (!f->noting || (fd == -1 ? fstatat(cip_folder_descriptor(f->folder), name, &now.st, 0) == 0
                                : fstat(fd, &now.st) != 0))
        return CIP_OK;
    CIP_TRY(CIP_ROOM(mem, &f->note, f->n, &f->cap, err));
    CIP_TRY(cip_mem_copy(mem, name, strlen(name), &now.name, err));
    f->note[f->n++] = now;
    return CIP_OK;
}

static bool is_as_noted(int dir, const noted *n)
{
    struct stat now;
    const bool there = fstatat(dir, n->name, &now, 0) == 0;
    if (n->absent || !there)
        return n->absent && !there;
    return now.st_dev == n->st.st_dev && now.st_ino == n->st.st_ino &&
           now.st_size == n->st.st_size && now.st_mtim.tv_sec == n->st.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == n->st.st_mtim.tv_nsec;
}

static cip_status folder_unchanged(cip_io *io, cip_err *err)
{
    const folder_io *f = (const folder_io *)io;
    int dir = cip_folder_descriptor(f->folder);
    for (size_t i = 0; dir != -1 && i < f->n; i++)
        if (!is_as_noted(dir, &f->note[i]))
            return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                            "file changed since open: '%.120s' was written to", f->note[i].name);
    return CIP_OK;
}

static cip_status folder_member(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                                cip_err *err)
{
    folder_io *f = (folder_io *)io;
    const char *slash = strrchr(name, '/');
    cip_status kept;
    char *inside;
    int fd = -1;
    *out = NULL;
    if ((flags & CIP_IO_EXTERNAL) != 0)
        return cip_folder_open_outside(io->env, f->folder, "", name, out, err);
    CIP_TRY(cip_mem_copy(&io->env->mem, name, slash != NULL ? (size_t)(slash + 1 - name) : 0,
                         &inside, err));
    cip_status st = cip_folder_open_beneath(f->folder, name, name, &fd, err);
    if (st == CIP_OK && (st = note_member(f, name, fd, err)) != CIP_OK)
        close(fd);
    if (st == CIP_ERR_NOT_FOUND && (kept = note_member(f, name, -1, err)) != CIP_OK)
        st = kept;
    if (st == CIP_OK)
        st = cip_file_new(io->env, fd, name, f->folder, inside, out, err);
    cip_mem_put(&io->env->mem, inside);
    return st;
}

static cip_status open_listed(const folder_io *f, const char *path, uint32_t flags, DIR **out,
                              cip_err *err)
{
    char what[160];
    int fd = -1;
    if ((flags & CIP_IO_EXTERNAL) == 0) {
        CIP_TRY(cip_folder_open_beneath(f->folder, path[0] != '\0' ? path : ".", path, &fd, err));
    } else {
        cip_buf full = { .mem = &f->io.env->mem };
        cip_status st = cip_buf_addf(&full, err, "%s%s%c", cip_folder_path(f->folder), path, 0);
        if (st == CIP_OK)
            fd = open((const char *)full.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        cip_buf_clear(&full);
        CIP_TRY(st);
    }
    *out = fd != -1 ? fdopendir(fd) : NULL;
    if (*out != NULL)
        return CIP_OK;
    int errnum = errno;
    close(fd); /* -1 is fine */
    snprintf(what, sizeof what, "cannot list '%.120s'", path);
    return cip_fail_errno(err, errnum, CIP_NO_OFFSET, what);
}

static cip_status folder_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn,
                              void *user, cip_err *err)
{
    const struct dirent *e;
    DIR *d;
    CIP_TRY(open_listed((const folder_io *)io, path, flags, &d, err));
    while ((e = readdir(d)) != NULL) {
        bool ours = path[0] == '\0' && strncmp(e->d_name, ".cip-", 5) == 0; /* of an update */
        if (ours || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        struct stat st;
        bool is_link = e->d_type == DT_LNK, folder = e->d_type == DT_DIR;
        if (e->d_type == DT_UNKNOWN && (flags & CIP_IO_LINKS) != 0)
            is_link =
                fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
        if ((flags & CIP_IO_LINKS) != 0 && !is_link)
            continue;
        if (!folder && e->d_type != DT_REG) /* links are followed */
            folder = fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode);
        if (fn(user, e->d_name, folder) != 0)
            break;
    }
    closedir(d);
    return CIP_OK;
}

static void folder_close(cip_io *io)
{
    folder_io *f = (folder_io *)io;
    cip_folder_drop(f->folder);
    for (size_t i = 0; i < f->n; i++)
        cip_mem_put(&io->env->mem, f->note[i].name);
    cip_mem_put(&io->env->mem, f->note);
    cip_mem_put(&io->env->mem, f->path);
    cip_io_free(io);
}

static const cip_io_ops folder_ops = {
    .name = "folder",
    .read_ranges = no_bytes,
    .open_member = folder_member,
    .list = folder_list,
    .unchanged = folder_unchanged,
    .close = folder_close,
};

void cip_folder_io_taken_back(cip_io *io)
{
    const int dir = cip_folder_io_descriptor(io);
    const folder_io *f = (const folder_io *)io;
    for (size_t i = 0; dir != -1 && i < f->n; i++) {
        noted *n = &f->note[i];
        struct stat now;
        if (fstatat(dir, n->name, &now, 0) == 0 && now.st_dev == n->st.st_dev &&
            now.st_ino == n->st.st_ino && now.st_size == n->st.st_size)
            n->st = now;
    }
}

void cip_io_note_members(cip_io *io, bool on)
{
    if (io->ops == &folder_ops)
        ((folder_io *)io)->noting = on;
}

bool cip_io_is_folder(const cip_io *io)
{
    return io->folder;
}

int cip_folder_io_descriptor(const cip_io *io)
{
    return io->ops == &folder_ops ? cip_folder_descriptor(((const folder_io *)io)->folder) : -1;
}

const char *cip_folder_io_path(const cip_io *io)
{
    return cip_folder_io_descriptor(io) != -1 ? ((const folder_io *)io)->path : NULL;
}

static bool names_folder(const char *path)
{
    struct stat now;
    return stat(path, &now) == 0 && S_ISDIR(now.st_mode);
}

cip_status cip_io_open_folder_fd(cip_env *env, int fd, const char *path, cip_io **out, cip_err *err)
{
    cip_buf text = { .mem = &env->mem };
    cip_folder *folder = NULL;
    cip_io *io = NULL;
    char *absolute = NULL;
    cip_status st;
    *out = NULL;
    CIP_GO(cip_path_absolute(&env->mem, path, &absolute, err));
    CIP_GO(cip_buf_addf(&text, err, "%s/", absolute));
    CIP_GO(cip_folder_new(&env->mem, (const char *)text.ptr, &folder, err));
    CIP_GO(cip_folder_hold(folder, fd, err));
    CIP_GO(cip_io_new(env, &folder_ops, sizeof(folder_io), path, &io, err));
    ((folder_io *)io)->folder = cip_folder_keep(folder);
    ((folder_io *)io)->path = absolute;
    absolute = NULL;
    io->folder = true;
    *out = io;
done:
    cip_mem_put(&env->mem, absolute);
    cip_folder_drop(folder);
    cip_buf_clear(&text);
    return st;
}

cip_status cip_io_open_folder(cip_env *env, const char *path, cip_io **out, cip_err *err)
{
    *out = NULL;
    if (!names_folder(path))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "'%.120s' is not a folder", path);
    return cip_io_open_folder_fd(env, -1, path, out, err);
}

cip_status cip_io_open_path(cip_env *env, const char *path, cip_io **out, cip_err *err)
{
    return names_folder(path) ? cip_io_open_folder(env, path, out, err)
                              : cip_io_open_file(env, path, out, err);
}
