/* SPDX-License-Identifier: BSD-3-Clause
 * What paths of URLs name: only what lies below the files and folders of the command line. The
 * system itself refuses each way out of a folder: "..", links that lead elsewhere, those of /proc.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../print.h"
#include "serve.h"

bool serve_name_is_shown(const char *name)
{
    static const char *const zarr[] = { ".zarray", ".zattrs", ".zgroup", ".zmetadata" };
    for (size_t i = 0; i < sizeof zarr / sizeof *zarr; i++)
        if (strcmp(name, zarr[i]) == 0)
            return true;
    return name[0] != '.';
}

/* --- the table -------------------------------------------------------------------------------- */

/* Splits the path, which has no links, into r->above and r->last. */
static bool open_above(serve_root *r, char *real)
{
    char *slash = strrchr(real, '/');
    r->last = strdup(slash[1] != '\0' ? slash + 1 : ".");
    r->name = strdup(slash[1] != '\0' ? slash + 1 : "root");
    slash[slash == real] = '\0';
    r->above = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return r->last != NULL && r->name != NULL && r->above >= 0;
}

static int open_root(serve_root *r, const char *path)
{
    struct stat st;
    char *real = realpath(path, NULL);
    const bool above = real != NULL && open_above(r, real);
    const int fd = above ? openat(r->above, r->last, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
    free(real);
    if (fd < 0 || fstat(fd, &st) != 0)
        return serve_complain(path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        r->fd = fd;
    else
        close(fd);
    return S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)
               ? EXIT_FINE
               : serve_complain(path, "expected a file or a folder");
}

int serve_roots_open(serve *s)
{
    s->root = calloc((size_t)s->o->npos, sizeof *s->root);
    for (int i = 0; s->root != NULL && i < s->o->npos; i++) {
        serve_root *r = &s->root[s->nroot++];
        r->fd = r->above = -1;
        const int rc = open_root(r, s->o->pos[i]);
        if (rc != EXIT_FINE)
            return rc;
        for (size_t k = 0; k + 1 < s->nroot; k++)
            if (strcmp(s->root[k].name, r->name) == 0)
                return serve_complain(s->o->pos[i], "another one of this name is served; serve the "
                                                    "folder above them");
    }
    return s->root != NULL ? EXIT_FINE : serve_complain(s->o->pos[0], strerror(ENOMEM));
}

void serve_roots_close(serve *s)
{
    for (size_t i = 0; i < s->nroot; i++) {
        free(s->root[i].name);
        free(s->root[i].last);
        if (s->root[i].fd >= 0)
            close(s->root[i].fd);
        if (s->root[i].above >= 0)
            close(s->root[i].above);
    }
    free(s->root);
}

/* --- finding ---------------------------------------------------------------------------------- */

/* Where the kernel has no openat2: step by step, and no link at all is followed. */
static int open_steps(int folder, const char *path)
{
    char step[256];
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    while (at >= 0 && *path != '\0') {
        const size_t n = strcspn(path, "/");
        if (n >= sizeof step) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(step, path, n);
        step[n] = '\0';
        const int next = openat(at, step, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;
        close(at);
        at = next;
        if (at >= 0 && fstat(at, &st) == 0 && S_ISLNK(st.st_mode)) {
            close(at);
            errno = ELOOP;
            return -1;
        }
        path += n + (path[n] == '/');
    }
    return at;
}

static int open_below(int folder, const char *path)
{
    const struct open_how how = { .flags = O_PATH | O_CLOEXEC,
                                  .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
    if (path[0] == '\0')
        return fcntl(folder, F_DUPFD_CLOEXEC, 0);
    int fd, tries = 0;
    do
        fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    while (fd < 0 && errno == EAGAIN && tries++ < 100); /* something was renamed meanwhile */
    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_steps(folder, path) : fd;
}

/* fd, st and root of *out. */
static bool look(const serve_root *root, const char *path, serve_found *out)
{
    out->root = root;
    out->fd = root->fd >= 0     ? open_below(root->fd, path)
              : path[0] == '\0' ? openat(root->above, root->last, O_PATH | O_NOFOLLOW | O_CLOEXEC)
                                : -1;
    if (out->fd < 0)
        return false;
    if (fstat(out->fd, &out->st) == 0 && (S_ISREG(out->st.st_mode) || S_ISDIR(out->st.st_mode)))
        return true;
    close(out->fd);
    return false;
}

/* The path of a descriptor, without links. */
static bool path_of(int fd, char path[PATH_MAX])
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0 && n < PATH_MAX - 1;
}

int serve_folder_of(const serve_found *at, char name[256])
{
    const serve_root *root = at->root;
    char path[PATH_MAX], top[PATH_MAX];
    struct stat st;
    if (root->fd < 0 ||
        (fstat(root->fd, &st) == 0 && st.st_dev == at->st.st_dev && st.st_ino == at->st.st_ino)) {
        snprintf(name, 256, "%s", root->last);
        return fcntl(root->above, F_DUPFD_CLOEXEC, 0);
    }
    if (!path_of(at->fd, path) || !path_of(root->fd, top))
        return -1;
    const size_t n = strcmp(top, "/") != 0 ? strlen(top) : 0;
    if (strncmp(path, top, n) != 0 || path[n] != '/')
        return -1;
    char *last = strrchr(path, '/');
    *last = '\0';
    snprintf(name, 256, "%s", last + 1);
    return open_below(root->fd, last > path + n ? path + n + 1 : "");
}

static bool is_store(serve *s, const serve_found *at)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f = serve_files_get(s->files, at, &err);
    const bool plain =
        f == NULL && err.code == CIP_ERR_UNSUPPORTED && strstr(err.text, "no known format") != NULL;
    serve_files_put(s->files, f);
    return !plain;
}

static bool find_below(serve *s, const serve_root *root, char *path, serve_found *out, bool stores)
{
    for (char *end = path;; end++) {
        end += strcspn(end, "/");
        const char last = *end;
        *end = '\0';
        const char *slash = strrchr(path, '/');
        const bool shown = serve_name_is_shown(slash != NULL ? slash + 1 : path) || *path == '\0';
        const bool there = shown && look(root, path, out);
        *end = last;
        if (!there)
            return false;
        const size_t below = (size_t)(end - path);
        out->len += below;
        out->rest = last == '/' ? end + 1 : end;
        if (last == '\0' || S_ISREG(out->st.st_mode) || (stores && is_store(s, out)))
            return true;
        out->len -= below;
        close(out->fd);
    }
}

bool serve_find(serve_call *c, const char *path, bool stores, serve_found *out)
{
    const size_t n = strcspn(path, "/");
    for (size_t i = 0; i < c->s->nroot; i++) {
        const serve_root *root = &c->s->root[i];
        if (strlen(root->name) != n || memcmp(root->name, path, n) != 0)
            continue;
        /* The root itself first: it may be a file or a store, and all the rest lie within it. */
        *out = (serve_found){ .fd = -1, .len = n, .rest = path + n + (path[n] == '/') };
        if (!look(root, "", out))
            break;
        if (out->rest[0] == '\0' || root->fd < 0 || (stores && is_store(c->s, out)))
            return true;
        close(out->fd);
        out->len = n + 1;
        char *below = strdup(path + n + 1);
        const bool found = below != NULL && find_below(c->s, root, below, out, stores);
        if (found)
            out->rest = path + out->len + (path[out->len] == '/');
        free(below);
        if (found)
            return true;
        break;
    }
    serve_refuse(c, 404, "not found", "there is no such file or folder here");
    return false;
}
