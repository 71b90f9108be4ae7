/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes that wait: in memory while they are few, then in a file without a name. */
#include "io/temporary.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/num.h"
#include "io/io_impl.h"
#include "io/store.h"

enum { IN_MEMORY = 4 << 20 };

typedef struct temporary_io {
    cip_io io;
    char *beside; /* or NULL */
    cip_buf buf;  /* of io.size bytes as long as there is no file */
    int fd;       /* -1: in memory */
} temporary_io;

static cip_status scratch_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    const temporary_io *s = (const temporary_io *)io;
    for (size_t i = 0, got; i < n; i++) {
        if (s->fd == -1) {
            memcpy(r[i].dst, s->buf.ptr + r[i].offset, r[i].nbytes);
            continue;
        }
        if (cip_fd_read(s->fd, r[i].offset, r[i].dst, r[i].nbytes, &got) != 0)
            return cip_fail_errno(err, errno, r[i].offset, "cannot read a temporary file");
        if (got != r[i].nbytes)
            return cip_fail(err, CIP_ERR_IO, r[i].offset, "a temporary file became shorter");
    }
    return CIP_OK;
}

static int scratch_descriptor(cip_io *io, uint64_t *off)
{
    (void)off;
    return ((temporary_io *)io)->fd;
}

static void scratch_close(cip_io *io)
{
    temporary_io *s = (temporary_io *)io;
    cip_buf_clear(&s->buf);
    cip_mem_put(&io->env->mem, s->beside);
    if (s->fd != -1)
        close(s->fd);
    cip_io_free(io);
}

static const cip_io_ops temporary_ops = {
    .name = "temporary",
    .read_ranges = scratch_read,
    .descriptor = scratch_descriptor,
    .close = scratch_close,
};

cip_status cip_temporary_new(cip_env *env, const char *beside, cip_io **out, cip_err *err)
{
    cip_io *io;
    char *copy = NULL;
    *out = NULL;
    if (beside != NULL)
        CIP_TRY(cip_mem_copy(&env->mem, beside, strlen(beside), &copy, err));
    cip_status st = cip_io_new(env, &temporary_ops, sizeof(temporary_io), "temporary", &io, err);
    if (st != CIP_OK) {
        cip_mem_put(&env->mem, copy);
        return st;
    }
    temporary_io *s = (temporary_io *)io;
    s->beside = copy;
    s->buf.mem = &env->mem;
    s->fd = -1;
    *out = io;
    return CIP_OK;
}

/* From memory to a file. */
static cip_status spill(temporary_io *s, cip_err *err)
{
    int fd = -1;
    CIP_TRY(cip_store_temporary(s->beside, &fd, err));
    cip_status st = cip_store_write(fd, 0, s->buf.ptr, s->buf.len, err);
    if (st != CIP_OK) {
        close(fd);
        return st;
    }
    cip_buf_clear(&s->buf);
    s->fd = fd;
    return CIP_OK;
}

/* Of n bytes from now on; those that come in memory are the caller's to fill. */
static cip_status set_size(temporary_io *s, uint64_t n, cip_err *err)
{
    if (s->fd == -1 && n > cip_min_u64(IN_MEMORY, s->io.env->limits.max_memory / 16 + 1))
        CIP_TRY(spill(s, err));
    if (s->fd != -1) {
        CIP_TRY(cip_store_resize(s->fd, n, err));
    } else {
        if (n > s->buf.len)
            CIP_TRY(cip_buf_reserve(&s->buf, (size_t)n - s->buf.len, NULL, err));
        s->buf.len = (size_t)n;
    }
    s->io.size = n;
    return CIP_OK;
}

cip_status cip_temporary_resize(cip_io *temporary, uint64_t n, cip_err *err)
{
    temporary_io *s = (temporary_io *)temporary;
    const uint64_t old = temporary->size;
    CIP_TRY(set_size(s, n, err));
    if (s->fd == -1 && n > old)
        memset(s->buf.ptr + old, 0, (size_t)(n - old));
    return CIP_OK;
}

cip_status cip_temporary_write(cip_io *temporary, uint64_t off, const void *p, size_t n,
                               cip_err *err)
{
    temporary_io *s = (temporary_io *)temporary;
    uint64_t end;
    if (n == 0)
        return CIP_OK;
    if (cip_add_overflow(off, n, &end) || end > INT64_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, off, "a temporary file of over 2^63 bytes");
    if (s->fd != -1 && end > temporary->size) {
        const cip_status st = cip_store_write(s->fd, off, p, n, err);
        if (st != CIP_OK) /* a part that came before the error goes */
            (void)cip_store_resize(s->fd, temporary->size, NULL);
        else
            temporary->size = end;
        return st;
    }
    if (off > temporary->size)
        CIP_TRY(cip_temporary_resize(temporary, off, err));
    if (end > temporary->size)
        CIP_TRY(set_size(s, end, err));
    if (s->fd != -1)
        return cip_store_write(s->fd, off, p, n, err);
    memcpy(s->buf.ptr + off, p, n);
    return CIP_OK;
}

static cip_status out_write(void *user, const void *p, size_t n, cip_err *err)
{
    cip_io *io = user;
    return cip_temporary_write(io, io->size, p, n, err);
}

static cip_status out_rewrite(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    return cip_temporary_write(user, off, p, n, err);
}

static cip_status out_rewind(void *user, uint64_t off, cip_err *err)
{
    return cip_temporary_resize(user, off, err);
}

static cip_status out_move(void *user, uint64_t from, uint64_t n, uint64_t to, cip_err *err)
{
    cip_io *io = user;
    temporary_io *s = user;
    const uint64_t after = from + n == io->size ? to + n : io->size;
    if (after > io->size)
        CIP_TRY(cip_temporary_resize(io, after, err));
    if (s->fd != -1)
        CIP_TRY(cip_store_move(s->fd, from, from + n, to, err));
    else if (n != 0)
        memmove(s->buf.ptr + to, s->buf.ptr + from, (size_t)n);
    return after < io->size ? cip_temporary_resize(io, after, err) : CIP_OK;
}

cip_out cip_temporary_out(cip_io *temporary)
{
    return (cip_out){
        .write = out_write,
        .user = temporary,
        .n = temporary->size,
        .rewrite = out_rewrite,
        .rewind = out_rewind,
        .move = out_move,
    };
}

cip_status cip_temporary_add(cip_io *temporary, cip_io *from, uint64_t off, uint64_t n,
                             cip_err *err)
{
    return cip_io_in_pieces(from, off, n, 1 << 20, out_write, temporary, err);
}
