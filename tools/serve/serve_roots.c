/* SPDX-License-Identifier: BSD-3-Clause
 * What paths of URLs name: only what lies below the files and folders of the command line. The
 * system itself refuses each way out of a folder: "..", links that lead elsewhere, those of /proc.
 */
#include <errno.h>
#include <fcntl.h>
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

static int complain_of(const char *path, const char *why)
{
    fputs("cippus: ", stderr);
    print_escaped(stderr, path);
    fprintf(stderr, ": %s\n", why);
    return EXIT_FAILED;
}

int serve_roots_open(serve *s)
{
    s->root = calloc((size_t)s->o->npos, sizeof *s->root);
    for (int i = 0; s->root != NULL && i < s->o->npos; i++) {
        serve_root *r = &s->root[s->nroot++];
        struct stat st;
        r->fd = -1;
        r->real = realpath(s->o->pos[i], NULL);
        if (r->real == NULL || stat(r->real, &st) != 0)
            return complain_of(s->o->pos[i], strerror(errno));
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
            return complain_of(s->o->pos[i], "expected a file or a folder");
        const char *slash = strrchr(r->real, '/');
        r->name = strdup(slash[1] != '\0' ? slash + 1 : "root");
        if (S_ISDIR(st.st_mode))
            r->fd = open(r->real, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (r->name == NULL || (S_ISDIR(st.st_mode) && r->fd < 0))
            return complain_of(s->o->pos[i], strerror(errno));
        for (size_t k = 0; k + 1 < s->nroot; k++)
            if (strcmp(s->root[k].name, r->name) == 0)
                return complain_of(s->o->pos[i], "another one of this name is served; serve the "
                                                 "folder above them");
    }
    return s->root != NULL ? EXIT_FINE : complain_of(s->o->pos[0], strerror(ENOMEM));
}

void serve_roots_close(serve *s)
{
    for (size_t i = 0; i < s->nroot; i++) {
        free(s->root[i].name);
        free(s->root[i].real);
        if (s->root[i].fd >= 0)
            close(s->root[i].fd);
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
    const int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_steps(folder, path) : fd;
}

/* fd, st and real of *out. */
static bool look(const serve_root *root, const char *path, serve_found *out)
{
    char link[32];
    out->fd = root->fd < 0 && path[0] == '\0' ? open(root->real, O_PATH | O_NOFOLLOW | O_CLOEXEC)
              : root->fd < 0                  ? -1
                                              : open_below(root->fd, path);
    if (out->fd < 0)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", out->fd);
    const ssize_t n = readlink(link, out->real, sizeof out->real - 1);
    if (n > 0 && (size_t)n < sizeof out->real - 1 && fstat(out->fd, &out->st) == 0 &&
        (S_ISREG(out->st.st_mode) || S_ISDIR(out->st.st_mode))) {
        out->real[n] = '\0';
        return true;
    }
    close(out->fd);
    return false;
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
