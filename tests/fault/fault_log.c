/* SPDX-License-Identifier: BSD-3-Clause
 * The calls between the library and the system. */
#include "fault/fault_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int __real_openat(int dir, const char *name, int flags, ...);
ssize_t __real_pwrite(int fd, const void *p, size_t n, off_t off);
int __real_ftruncate(int fd, off_t n);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int __real_unlinkat(int dir, const char *name, int flags);
ssize_t __real_copy_file_range(int in, off_t *in_off, int out, off_t *out_off, size_t n,
                               unsigned flags);
int __real_fstat(int fd, struct stat *st);
int __real_fstatat(int dir, const char *name, struct stat *st, int flags);
int __real_statx(int dir, const char *path, int flags, unsigned mask, struct statx *at);
int __real_stat(const char *path, struct stat *st);
int __real_lstat(const char *path, struct stat *st);
ssize_t __real_fgetxattr(int fd, const char *name, void *value, size_t n);
int __real_fsetxattr(int fd, const char *name, const void *value, size_t n, int flags);
int __real_fremovexattr(int fd, const char *name);
int __real_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
int __real_mkdirat(int dir, const char *name, mode_t mode);

int __wrap_openat(int dir, const char *name, int flags, ...);
ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t off);
int __wrap_ftruncate(int fd, off_t n);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int __wrap_unlinkat(int dir, const char *name, int flags);
ssize_t __wrap_copy_file_range(int in, off_t *in_off, int out, off_t *out_off, size_t n,
                               unsigned flags);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstatat(int dir, const char *name, struct stat *st, int flags);
int __wrap_statx(int dir, const char *path, int flags, unsigned mask, struct statx *at);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_lstat(const char *path, struct stat *st);
ssize_t __wrap_fgetxattr(int fd, const char *name, void *value, size_t n);
int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t n, int flags);
int __wrap_fremovexattr(int fd, const char *name);
int __wrap_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
int __wrap_mkdirat(int dir, const char *name, mode_t mode);

enum { SECTOR = 512 /* is written whole or not at all */ };

static struct {
    char dir[512];
    struct stat st;
    ino_t inode[FAULT_FILES];           /* by number */
    char note[FAULT_FILES][FAULT_NOTE]; /* attributes, kept here for file systems without any */
    bool unnamed[FAULT_FILES];          /* made without a name */
    int nfile;
    fault_log *log; /* NULL: nothing is written down */
    size_t count, fail_at;
    int errnum;
    bool full;
} w;

void fault_watch(const char *dir)
{
    char real[PATH_MAX];
    memset(&w, 0, sizeof w);
    if (realpath(dir, real) == NULL || strlen(real) >= sizeof w.dir)
        abort();
    strcpy(w.dir, real);
    if (__real_stat(dir, &w.st) != 0)
        abort();
}

const char *fault_folder(void)
{
    return w.dir;
}

/* The last one that had the inode: the system may give it again. */
static int number_of(const struct stat *st)
{
    if (st->st_dev != w.st.st_dev || (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode)))
        return -1;
    for (int i = w.nfile; i-- > 0;)
        if (w.inode[i] == st->st_ino)
            return i;
    return -1;
}

static int number_of_fd(int fd)
{
    struct stat st;
    int file = __real_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? number_of(&st) : -1;
    return file != -1 && (st.st_nlink != 0 || w.unnamed[file]) ? file : -1;
}

static int new_number(ino_t inode)
{
    if (w.nfile == FAULT_FILES)
        abort();
    w.inode[w.nfile] = inode;
    w.note[w.nfile][0] = '\0';
    w.unnamed[w.nfile] = false;
    return w.nfile++;
}

/* Whether the descriptor is of the folder that is watched or of one below; *number: its own. */
static bool is_folder(int dir, int *number)
{
    struct stat st;
    if (__real_fstat(dir, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_dev != w.st.st_dev)
        return false;
    *number = st.st_ino == w.st.st_ino ? -1 : number_of(&st);
    return st.st_ino == w.st.st_ino || *number != -1;
}

/* A name in such a folder, relative to the one that is watched. */
static void name_in(int dir, const char *name, char out[FAULT_NAME])
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
    ssize_t n = readlink(link, path, sizeof path - 1);
    size_t skip = strlen(w.dir);
    if (n < (ssize_t)skip)
        abort();
    path[n] = '\0';
    if (snprintf(out, FAULT_NAME, "%s%s%s", path[skip] == '/' ? path + skip + 1 : "",
                 path[skip] == '/' ? "/" : "", name) >= FAULT_NAME)
        abort();
}

static void note(fault_op op, const void *bytes)
{
    fault_log *l = w.log;
    if (l == NULL)
        return;
    if (l->n == l->cap) {
        l->cap = l->cap * 2 + 16;
        l->op = realloc(l->op, l->cap * sizeof *l->op);
        if (l->op == NULL)
            abort();
    }
    if (op.n != 0) {
        op.ptr = malloc(op.n);
        memcpy(op.ptr, bytes, op.n);
    }
    l->op[l->n++] = op;
}

/* Whether this operation is to fail; `room`: it needs some. */
static bool fails(bool room)
{
    w.count++;
    if (w.fail_at == 0 || w.count < w.fail_at || (w.count > w.fail_at && !(w.full && room)) ||
        (w.full && !room))
        return false;
    errno = w.errnum;
    return true;
}

void fault_fail(size_t n, int errnum, bool full)
{
    w.count = 0;
    w.fail_at = n;
    w.errnum = errnum;
    w.full = full;
}

size_t fault_count(void)
{
    return w.count;
}

/* --- calls ----------------------------------------------------------------------------------- */

/* A name that came to be. */
static void note_created(int dir, int folder, const char *name, int file, bool is_dir)
{
    fault_op op = { .kind = FAULT_CREATE, .file = file, .folder = folder, .off = is_dir };
    name_in(dir, name, op.name);
    note(op, NULL);
}

int __wrap_openat(int dir, const char *name, int flags, ...)
{
    va_list ap;
    int folder = -1;
    va_start(ap, flags);
    bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    mode_t mode = (flags & O_CREAT) != 0 || unnamed ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    bool here = ((flags & O_CREAT) != 0 || unnamed) && is_folder(dir, &folder);
    bool creates = (flags & O_CREAT) != 0 && here;
    struct stat st;
    if (here && fails(true))
        return -1;
    bool was = creates && __real_fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    int fd = __real_openat(dir, name, flags, mode);
    if (fd != -1 && creates && !was && __real_fstat(fd, &st) == 0)
        note_created(dir, folder, name, new_number(st.st_ino), false);
    if (fd != -1 && unnamed && here && __real_fstat(fd, &st) == 0)
        w.unnamed[new_number(st.st_ino)] = true;
    return fd;
}

/* A file without a name gets one: with what was written to it before. */
int __wrap_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    int folder = -1;
    bool here = is_folder(to_dir, &folder);
    struct stat st;
    if (here && fails(true))
        return -1;
    int rc = __real_linkat(from_dir, from, to_dir, to, flags);
    if (rc == 0 && here && __real_fstatat(to_dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
        note_created(to_dir, folder, to, number_of(&st), false);
    return rc;
}

int __wrap_mkdirat(int dir, const char *name, mode_t mode)
{
    int folder = -1;
    bool here = is_folder(dir, &folder);
    struct stat st;
    if (here && fails(true))
        return -1;
    int rc = __real_mkdirat(dir, name, mode);
    if (rc == 0 && here && __real_fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        note_created(dir, folder, name, new_number(st.st_ino), true);
    return rc;
}

ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t off)
{
    int file = number_of_fd(fd);
    bool first = w.count + 1 == w.fail_at;
    if (file != -1 && fails(true)) {
        if (!w.full || !first || (size_t)off / SECTOR == ((size_t)off + n - 1) / SECTOR)
            return -1;
        n /= 2;
    }
    ssize_t done = __real_pwrite(fd, p, n, off);
    if (file != -1 && done > 0)
        note(
            (fault_op){
                .kind = FAULT_WRITE, .file = file, .off = (uint64_t)off, .n = (size_t)done },
            p);
    return done;
}

ssize_t __wrap_copy_file_range(int in, off_t *in_off, int out, off_t *out_off, size_t n,
                               unsigned flags)
{
    int file = number_of_fd(out);
    off_t at = out_off != NULL ? *out_off : 0;
    if (file != -1 && fails(true))
        return -1;
    ssize_t done = __real_copy_file_range(in, in_off, out, out_off, n, flags);
    if (file != -1 && done > 0) {
        void *back = malloc((size_t)done);
        if (pread(out, back, (size_t)done, at) != done)
            abort();
        note(
            (fault_op){ .kind = FAULT_WRITE, .file = file, .off = (uint64_t)at, .n = (size_t)done },
            back);
        free(back);
    }
    return done;
}

int __wrap_ftruncate(int fd, off_t n)
{
    struct stat st;
    int file = number_of_fd(fd);
    bool grows = __real_fstat(fd, &st) == 0 && n > st.st_size;
    if (file != -1 && fails(grows))
        return -1;
    int rc = __real_ftruncate(fd, n);
    if (file != -1 && rc == 0)
        note((fault_op){ .kind = FAULT_RESIZE, .file = file, .off = (uint64_t)n }, NULL);
    return rc;
}

static int sync_by(int fd, int (*real)(int), bool all)
{
    int file = number_of_fd(fd);
    int number = -1;
    bool folder = file == -1 && is_folder(fd, &number);
    if ((file != -1 || folder) && fails(false))
        return -1;
    int rc = real(fd);
    if (file != -1)
        note((fault_op){ .kind = FAULT_SYNC, .file = file, .off = all }, NULL);
    if (folder)
        note((fault_op){ .kind = FAULT_SYNC_NAMES, .file = -1, .folder = number }, NULL);
    return rc;
}

int __wrap_fsync(int fd)
{
    return sync_by(fd, __real_fsync, true);
}

int __wrap_fdatasync(int fd)
{
    return sync_by(fd, __real_fdatasync, false);
}

int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    int from_folder = -1, to_folder = -1;
    bool here = is_folder(from_dir, &from_folder) && is_folder(to_dir, &to_folder);
    if (here && fails(false))
        return -1;
    int rc = __real_renameat2(from_dir, from, to_dir, to, flags);
    if (rc == 0 && here) {
        fault_op op = { .kind = FAULT_RENAME,
                        .file = -1,
                        .folder = to_folder,
                        .off = (flags & RENAME_EXCHANGE) != 0 };
        name_in(from_dir, from, op.name);
        name_in(to_dir, to, op.to);
        note(op, NULL);
    }
    return rc;
}

int __wrap_unlinkat(int dir, const char *name, int flags)
{
    int folder = -1;
    bool here = is_folder(dir, &folder);
    if (here && fails(false))
        return -1;
    int rc = __real_unlinkat(dir, name, flags);
    if (rc == 0 && here) {
        fault_op op = { .kind = FAULT_UNLINK, .file = -1, .folder = folder };
        name_in(dir, name, op.name);
        note(op, NULL);
    }
    return rc;
}

/* What readers are told of an update (io/switches.h): no crash leaves a reader. */
static bool is_told_readers(const char *name)
{
    return strcmp(name, "user.cippus.switches") == 0;
}

/* One attribute for each file. */
ssize_t __wrap_fgetxattr(int fd, const char *name, void *value, size_t n)
{
    int file = number_of_fd(fd);
    if (file == -1 || is_told_readers(name))
        return __real_fgetxattr(fd, name, value, n);
    size_t len = strlen(w.note[file]);
    if (len == 0 || (n != 0 && n < len)) {
        errno = len == 0 ? ENODATA : ERANGE;
        return -1;
    }
    if (n != 0)
        memcpy(value, w.note[file], len);
    return (ssize_t)len;
}

static int set_note(int file, const void *value, size_t n)
{
    if (n >= FAULT_NOTE)
        abort();
    memset(w.note[file], 0, FAULT_NOTE);
    if (n != 0)
        memcpy(w.note[file], value, n);
    note((fault_op){ .kind = FAULT_NOTED, .file = file, .n = n }, value);
    return 0;
}

int __wrap_fsetxattr(int fd, const char *name, const void *value, size_t n, int flags)
{
    int file = number_of_fd(fd);
    if (file == -1 || is_told_readers(name))
        return __real_fsetxattr(fd, name, value, n, flags);
    return fails(true) ? -1 : set_note(file, value, n);
}

int __wrap_fremovexattr(int fd, const char *name)
{
    int file = number_of_fd(fd);
    if (file == -1 || is_told_readers(name))
        return __real_fremovexattr(fd, name);
    if (fails(false))
        return -1;
    if (w.note[file][0] != '\0')
        return set_note(file, NULL, 0);
    errno = ENODATA;
    return -1;
}

/* --- inodes are the files' numbers ------------------------------------------------------------ */

static int shown(int rc, struct stat *st)
{
    int file = rc == 0 ? number_of(st) : -1;
    if (file != -1)
        st->st_ino = 1000 + (ino_t)file;
    return rc;
}

int __wrap_fstat(int fd, struct stat *st)
{
    return shown(__real_fstat(fd, st), st);
}

int __wrap_fstatat(int dir, const char *name, struct stat *st, int flags)
{
    return shown(__real_fstatat(dir, name, st, flags), st);
}

int __wrap_stat(const char *path, struct stat *st)
{
    return shown(__real_stat(path, st), st);
}

int __wrap_lstat(const char *path, struct stat *st)
{
    return shown(__real_lstat(path, st), st);
}

int __wrap_statx(int dir, const char *path, int flags, unsigned mask, struct statx *at)
{
    struct stat st;
    int rc = __real_statx(dir, path, flags, mask, at);
    if (rc == 0 && shown(__real_fstatat(dir, path, &st, flags), &st) == 0)
        at->stx_ino = st.st_ino;
    return rc;
}

/* --- folders ---------------------------------------------------------------------------------- */

static fault_disk *loaded; /* nftw has no user pointer */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    if (at->level != 0 && remove(path) != 0)
        abort();
    return 0;
}

void fault_empty(void)
{
    if (nftw(w.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        abort();
    w.nfile = 0;
}

static void load_bytes(const char *path, int file, const struct stat *st)
{
    fault_disk *d = loaded;
    FILE *f = fopen(path, "rb");
    fault_disk_resize(d, file, (uint64_t)st->st_size);
    if (f == NULL || fread(d->file[file].ptr, 1, d->file[file].n, f) != d->file[file].n)
        abort();
    memcpy(d->file[file].note, w.note[file], FAULT_NOTE);
    fclose(f);
}

static int load_one(const char *path, const struct stat *shown, int kind, struct FTW *at)
{
    struct stat st;
    (void)shown;
    (void)kind;
    if (at->level == 0)
        return 0;
    if (__real_lstat(path, &st) != 0)
        abort();
    int file = number_of(&st);
    if (file == -1)
        file = new_number(st.st_ino);
    fault_op create = { .kind = FAULT_CREATE, .file = file, .off = S_ISDIR(st.st_mode) };
    snprintf(create.name, sizeof create.name, "%s", path + strlen(w.dir) + 1);
    fault_disk_apply(loaded, &create);
    if (!S_ISDIR(st.st_mode))
        load_bytes(path, file, &st);
    return 0;
}

void fault_disk_get(fault_disk *d)
{
    memset(d, 0, sizeof *d);
    loaded = d;
    if (nftw(w.dir, load_one, 16, FTW_PHYS) != 0)
        abort();
}

/* Another name of a file that was put there already. */
static bool put_link(const fault_disk *d, size_t i, const char *path)
{
    char first[1024];
    size_t k = 0;
    while (d->name[k].file != d->name[i].file)
        k++;
    snprintf(first, sizeof first, "%s/%s", w.dir, d->name[k].name);
    if (k < i && link(first, path) != 0)
        abort();
    return k < i;
}

/* Those above first: their names are shorter. */
static void put_folders(const fault_disk *d)
{
    for (size_t len = 1; len < FAULT_NAME; len++)
        for (size_t i = 0; i < d->nname; i++) {
            char path[1024];
            struct stat st;
            int file = d->name[i].file;
            if (!d->file[file].folder || strlen(d->name[i].name) != len)
                continue;
            snprintf(path, sizeof path, "%s/%s", w.dir, d->name[i].name);
            if (mkdir(path, 0755) == 0 && __real_stat(path, &st) == 0)
                w.inode[file] = st.st_ino;
        }
}

void fault_disk_put(const fault_disk *d)
{
    fault_empty();
    memset(w.inode, 0, sizeof w.inode);
    w.nfile = (int)d->nfile;
    for (size_t i = 0; i < d->nfile; i++)
        memcpy(w.note[i], d->file[i].note, FAULT_NOTE);
    put_folders(d);
    for (size_t i = 0; i < d->nname; i++) {
        char path[1024];
        struct stat st;
        int file = d->name[i].file;
        snprintf(path, sizeof path, "%s/%s", w.dir, d->name[i].name);
        if (d->file[file].folder || put_link(d, i, path))
            continue;
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd == -1 && errno == ENOENT)
            continue; /* the folder did not arrive */
        if (fd == -1 || write(fd, d->file[file].ptr, d->file[file].n) != (ssize_t)d->file[file].n ||
            __real_fstat(fd, &st) != 0)
            abort();
        close(fd);
        w.inode[file] = st.st_ino;
    }
}

void fault_start(fault_log *log)
{
    memset(log, 0, sizeof *log);
    fault_disk_get(&log->before);
    w.log = log;
}

void fault_stop(void)
{
    w.log = NULL;
}

void fault_log_clear(fault_log *log)
{
    for (size_t i = 0; i < log->n; i++)
        free(log->op[i].ptr);
    free(log->op);
    fault_disk_clear(&log->before);
    memset(log, 0, sizeof *log);
}
