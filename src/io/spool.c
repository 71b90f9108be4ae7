/* SPDX-License-Identifier: BSD-3-Clause
 * A descriptor of any kind. What cannot be read at a position is read to its end first: a little of
 * it into memory, more into a temporary file that has no name. */
#include "io/io_impl.h"
#include "io/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/num.h"
#include "io/store.h"

enum { IN_MEMORY = 16 << 20, PIECE = 256 << 10 };

/* Up to n bytes; 0 at the end only. */
static cip_status read_next(int fd, const char *name, void *dst, size_t n, size_t *got,
                            cip_err *err)
{
    for (;;) {
        ssize_t now = read(fd, dst, n);
        if (now >= 0) {
            *got = (size_t)now;
            return CIP_OK;
        }
        if (errno == EAGAIN) { /* a pipe that others set not to block */
            struct pollfd p = { .fd = fd, .events = POLLIN };
            poll(&p, 1, -1);
        } else if (errno != EINTR) {
            return cip_fail_named(err, CIP_NO_OFFSET, "read", name);
        }
    }
}

static cip_status write_all(int fd, const uint8_t *src, size_t n, cip_err *err)
{
    while (n != 0) {
        ssize_t now = write(fd, src, n);
        if (now == -1 && errno == EINTR)
            continue;
        if (now == -1)
            return cip_fail_named(err, CIP_NO_OFFSET, "write", "a temporary file");
        src += now;
        n -= (size_t)now;
    }
    return CIP_OK;
}

/* Fills `b` until it has `most` bytes or the end is reached. */
static cip_status fill(int fd, const char *name, cip_buf *b, size_t most, bool *end, cip_err *err)
{
    *end = false;
    while (b->len < most) {
        size_t want = (size_t)cip_min_u64(most - b->len, PIECE);
        size_t got = 0;
        uint8_t *at;
        CIP_TRY(cip_buf_reserve(b, want, &at, err));
        CIP_TRY(read_next(fd, name, at, want, &got, err));
        b->len += got;
        if (got == 0) {
            *end = true;
            break;
        }
    }
    return CIP_OK;
}

/* Moves what `b` holds and all that follows to a temporary file. It has held as much before. */
static cip_status spill(cip_env *env, int fd, const char *name, cip_buf *b, cip_io **out,
                        cip_err *err)
{
    const size_t piece = (size_t)cip_min_u64(b->len, PIECE);
    cip_status st;
    int file = -1;
    bool end = false;
    CIP_GO(cip_store_temporary(NULL, &file, err));
    while (!end) {
        CIP_GO(write_all(file, b->ptr, b->len, err));
        b->len = 0;
        CIP_GO(fill(fd, name, b, piece, &end, err));
    }
    CIP_GO(write_all(file, b->ptr, b->len, err));
    return cip_file_new(env, file, name, NULL, "", out, err);
done:
    close(file); /* -1 is fine */
    return st;
}

static cip_status spool(cip_env *env, int fd, const char *name, cip_io **out, cip_err *err)
{
    cip_status st;
    cip_buf b = { .mem = &env->mem };
    bool end;
    size_t most = (size_t)cip_min_u64(IN_MEMORY, env->limits.max_memory / 8 + 1);
    CIP_GO(fill(fd, name, &b, most, &end, err));
    if (!end) {
        CIP_GO(spill(env, fd, name, &b, out, err));
    } else {
        void *ptr = b.ptr;
        size_t n = b.len;
        CIP_GO(cip_mem_resize(&env->mem, &ptr, n, err)); /* gives back what doubling took */
        b.ptr = NULL;
        CIP_GO(cip_memory_own(env, ptr, n, name, out, err));
    }
done:
    cip_buf_clear(&b);
    return st;
}

cip_status cip_io_open_fd(cip_env *env, int fd, const char *name, cip_io **out, cip_err *err)
{
    struct stat st;
    *out = NULL;
    if (fstat(fd, &st) != 0)
        return cip_fail_named(err, CIP_NO_OFFSET, "stat", name);
    if (S_ISDIR(st.st_mode))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' is a directory, not a file", name);
    if (!S_ISREG(st.st_mode))
        return spool(env, fd, name, out, err);
    CIP_TRY(cip_record_refuse(fd, name, err));
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own == -1)
        return cip_fail_named(err, CIP_NO_OFFSET, "duplicate the descriptor of", name);
    return cip_file_new(env, own, name, NULL, "", out, err);
}
