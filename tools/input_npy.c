/* SPDX-License-Identifier: BSD-3-Clause
 * A virtual npy file: a header of ours in front of bytes that lie in a file, which may be a
 * temporary one. What comes through a pipe goes to a temporary file first. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "print.h"

void virtual_free(virtual_npy *v)
{
    if (v == NULL)
        return;
    if (v->fd >= 0)
        close(v->fd);
    free(v->header.ptr);
    free(v);
}

static void npy_close(void *user)
{
    virtual_free(user);
}

static cip_status npy_size(void *user, uint64_t *nbytes, cip_err *err)
{
    const virtual_npy *r = user;
    (void)err;
    *nbytes = r->header.len + r->nbytes;
    return CIP_OK;
}

static cip_status fail(cip_err *err, const char *what)
{
    err->code = CIP_ERR_IO;
    err->offset = CIP_NO_OFFSET;
    snprintf(err->text, sizeof err->text, "%s", what);
    return CIP_ERR_IO;
}

static cip_status read_range(const virtual_npy *r, uint64_t at, uint8_t *dst, size_t n,
                             cip_err *err)
{
    if (at < r->header.len) {
        size_t left = r->header.len - (size_t)at, part = n < left ? n : left;
        memcpy(dst, r->header.ptr + at, part);
        at += part;
        dst += part;
        n -= part;
    }
    while (n > 0) {
        ssize_t got = pread(r->fd, dst, n, (off_t)(at - r->header.len));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(err, got < 0 ? strerror(errno) : "expected more bytes, found the end");
        at += (uint64_t)got;
        dst += got;
        n -= (size_t)got;
    }
    return CIP_OK;
}

static cip_status npy_ranges(void *user, const cip_range *range, size_t nrange, cip_err *err)
{
    cip_status st = CIP_OK;
    for (size_t i = 0; st == CIP_OK && i < nrange; i++)
        st = read_range(user, range[i].offset, range[i].dst, range[i].nbytes, err);
    return st;
}

cip_file *virtual_open(virtual_npy *v, const char *path, const opts *o, int *rc)
{
    static const cip_io_methods methods = { CIP_IO_METHODS_INIT, .read_ranges = npy_ranges,
                                            .size = npy_size, .close = npy_close };
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_err err = CIP_ERR_INIT;
    cip_file *f = NULL;
    open.format = "npy";
    if (cip_open_io(&methods, v, &open, &f, &err) != CIP_OK)
        *rc = complain(path, &err);
    return f;
}

/* --- bytes that can be read at any place ------------------------------------------------------ */

int temporary_file(void)
{
    const char *dir = getenv("TMPDIR");
    if (dir == NULL || dir[0] != '/')
        dir = "/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    FILE *t = tmpfile(); /* where the file system has no files without a name */
    fd = t != NULL ? fcntl(fileno(t), F_DUPFD_CLOEXEC, 0) : -1;
    if (t != NULL)
        fclose(t);
    return fd;
}

bool write_bytes(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n > 0;) {
        ssize_t put = write(fd, at, n);
        if (put < 0 && errno != EINTR)
            return false;
        at += put > 0 ? put : 0;
        n -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* A temporary file that holds what the pipe gave, up to `most` bytes. */
static int spool(int in, uint64_t most)
{
    static char piece[1 << 16];
    int fd = temporary_file();
    for (ssize_t got = 1; fd >= 0 && got != 0 && most != 0; most -= got > 0 ? (uint64_t)got : 0) {
        got = read(in, piece, most < sizeof piece ? (size_t)most : sizeof piece);
        if ((got < 0 && errno != EINTR) || (got > 0 && !write_bytes(fd, piece, (size_t)got))) {
            int saved = errno;
            close(fd);
            errno = saved;
            return -1;
        }
    }
    return fd;
}

int bytes_open(const char *path, uint64_t most, uint64_t *nbytes, bool *is_pipe)
{
    struct stat st;
    bool pipe = false;
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
        pipe = true;
        int file = S_ISDIR(st.st_mode) ? (errno = EISDIR, -1) : spool(fd, most);
        int saved = errno;
        close(fd);
        errno = saved;
        fd = file;
    }
    if (fd >= 0 && fstat(fd, &st) != 0) {
        close(fd);
        fd = -1;
    }
    *nbytes = fd >= 0 ? (uint64_t)st.st_size : 0;
    if (is_pipe != NULL)
        *is_pipe = pipe;
    return fd;
}

/* --- npy headers ------------------------------------------------------------------------------ */

void npy_header(strbuf *out, const char *descr, int ndim, const int64_t *shape)
{
    strbuf dict = { 0 };
    text_add(&dict, "{'descr': ", 10);
    text_add(&dict, descr, strlen(descr));
    text_addf(&dict, ", 'fortran_order': False, 'shape': (");
    for (int i = 0; i < ndim; i++)
        text_addf(&dict, "%" PRId64 ",", shape[i]);
    text_addf(&dict, "), }");
    bool utf8 = false; /* names of fields; the versions before 3 are Latin-1 */
    for (size_t i = 0; i < dict.len; i++)
        utf8 |= (uint8_t)dict.ptr[i] >= 0x80;
    const char version = utf8 ? 3 : dict.len + 80 > 65535 ? 2 : 1;
    const size_t front = version > 1 ? 12 : 10;
    while ((front + dict.len + 1) % 64 != 0)
        text_addf(&dict, " ");
    text_addf(&dict, "\n");
    text_add(out, "\x93NUMPY", 6);
    text_add(out, (const char[]){ version, 0 }, 2);
    for (size_t i = 0; i < front - 8; i++) {
        uint8_t b = (uint8_t)(dict.len >> (8 * i));
        text_add(out, &b, 1);
    }
    if (!dict.failed)
        text_add(out, dict.ptr, dict.len);
    out->failed |= dict.failed;
    free(dict.ptr);
}
