/* SPDX-License-Identifier: BSD-3-Clause
 * What all ios have in common: every request is checked against the size here, so that the
 * implementations see only ranges that lie within, rise and are not empty. */
#include "io/io.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/trace.h"
#include "io/io_impl.h"
#include "io/lock_file.h"
#include "io/record.h"
#include "io/switches.h"

/* What tells that a watched io is not what was opened, besides itself. */
typedef struct cip_watch {
    cip_lock_file lock; /* of other programs; or none */
    uint64_t opened;    /* the state (io/switches.h), and the series that it ended then, or 0 */
    uint64_t series;
} cip_watch;

cip_status cip_io_new(cip_env *env, const cip_io_ops *ops, size_t struct_size, const char *name,
                      cip_io **out, cip_err *err)
{
    cip_io *io = NULL;
    char *copy = NULL;
    *out = NULL;
    CIP_TRY(cip_mem_copy(&env->mem, name, strlen(name), &copy, err));
    cip_status st = cip_mem_zeroed(&env->mem, 1, struct_size, (void **)&io, err);
    if (st != CIP_OK) {
        cip_mem_put(&env->mem, copy);
        return st;
    }
    io->ops = ops;
    io->env = env;
    io->name = copy;
    *out = io;
    return CIP_OK;
}

void cip_io_free(cip_io *io)
{
    cip_mem *mem = &io->env->mem;
    if (io->watch != NULL)
        cip_lock_file_close(&io->watch->lock);
    cip_mem_put(mem, io->watch);
    cip_mem_put(mem, (char *)io->name);
    cip_mem_put(mem, io);
}

void cip_io_close(cip_io *io)
{
    if (io != NULL)
        io->ops->close(io);
}

/* Whether n bytes at off are there. */
static cip_status check_within(const cip_io *io, uint64_t off, size_t n, cip_err *err)
{
    uint64_t left = cip_bytes_left(io->size, off);
    if (n <= left && off <= io->size)
        return CIP_OK;
    uint64_t at;
    if (cip_add_overflow(io->base, off, &at))
        at = CIP_NO_OFFSET;
    return cip_fail(err, CIP_ERR_TRUNCATED, at, "expected %zu bytes, found %" PRIu64, n, left);
}

static cip_status read_now(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    const uint64_t begun = io->ops->through ? 0 : cip_trace_begin();
    const cip_status st = io->ops->read_ranges(io, r, n, err);
    if (begun == 0)
        return st;
    cip_trace_of t = { begun, io->name, .offset = io->base + r->offset, .ranges = n };
    for (size_t i = 0; i < n; i++)
        t.nbytes += r[i].nbytes;
    cip_trace_bytes(&t, st == CIP_OK);
    return st;
}

cip_status cip_io_read(cip_io *io, uint64_t off, void *dst, size_t n, cip_err *err)
{
    cip_range r = { .offset = off, .nbytes = n, .dst = dst };
    CIP_TRY(check_within(io, off, n, err));
    if (n != 0)
        CIP_TRY(read_now(io, &r, 1, err));
    return io->watched ? cip_io_still(io, err) : CIP_OK;
}

cip_status cip_io_read_some(cip_io *io, uint64_t off, void *dst, size_t n, size_t *got,
                            cip_err *err)
{
    uint64_t left = cip_bytes_left(io->size, off);
    size_t want = (size_t)cip_min_u64(left, n);
    if (want != 0)
        CIP_TRY(cip_io_read(io, off, dst, want, err));
    *got = want;
    return CIP_OK;
}

cip_status cip_io_each(cip_io *io, uint64_t off, uint64_t n, cip_piece_fn *fn, void *user,
                       cip_err *err)
{
    return cip_io_in_pieces(io, off, n, CIP_IO_PIECE, fn, user, err);
}

cip_status cip_io_in_pieces(cip_io *io, uint64_t off, uint64_t n, size_t most, cip_piece_fn *fn,
                            void *user, cip_err *err)
{
    cip_status st = CIP_OK;
    void *piece;
    most = (size_t)cip_min_u64(n, most);
    CIP_TRY(cip_mem_get(&io->env->mem, most, &piece, err));
    for (uint64_t at = 0; at < n && st == CIP_OK; at += most) {
        size_t now = (size_t)cip_min_u64(n - at, most);
        st = cip_io_read(io, off + at, piece, now, err);
        if (st == CIP_OK)
            st = fn(user, piece, now, err);
    }
    cip_mem_put(&io->env->mem, piece);
    return st;
}

cip_status cip_io_read_ranges(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    for (size_t i = 0; i < n; i++)
        CIP_TRY(check_within(io, r[i].offset, r[i].nbytes, err));
    for (size_t run; n != 0; r += run, n -= run) {
        uint64_t end = 0;
        /* together what rises without overlapping and is not empty */
        for (run = 0; run < n && r[run].nbytes != 0 && r[run].offset >= end; run++)
            end = r[run].offset + r[run].nbytes; /* within the size: no overflow */
        if (run != 0)
            CIP_TRY(read_now(io, r, run, err));
        else
            run = 1; /* an empty range */
    }
    return io->watched ? cip_io_still(io, err) : CIP_OK;
}

cip_status cip_io_map(cip_io *io, const uint8_t **ptr, cip_err *err)
{
    if (io->ops->map == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' does not lie in memory in one piece", io->name);
    return io->ops->map(io, ptr, err);
}

cip_status cip_io_unchanged(cip_io *io, cip_err *err)
{
    if (io->watch != NULL && !cip_lock_file_is_same(&io->watch->lock))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "file changed since open: its lock file records a change");
    return io->ops->unchanged == NULL ? CIP_OK : io->ops->unchanged(io, err);
}

cip_status cip_io_still(cip_io *io, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    uint64_t off = 0;
    const cip_watch *w = io->watch;
    cip_status st = cip_io_unchanged(io, &own);
    const int fd = st != CIP_OK && w != NULL ? cip_io_descriptor(io, &off) : -1;
    if (fd != -1 && cip_switches_cover(fd, w->opened, w->series, &w->lock))
        return CIP_OK;
    return cip_err_give(err, &own, st);
}

cip_status cip_io_watch(cip_io *io, const cip_lock_file *lock_file, cip_err *err)
{
    cip_lock_file own = *lock_file;
    uint64_t off = 0;
    struct stat opened;
    cip_status st = CIP_NEW(&io->env->mem, &io->watch, 1, err);
    if (st != CIP_OK) {
        cip_lock_file_close(&own);
        return st;
    }
    io->watch->lock = own;
    io->watched = true;
    if (cip_file_opened(io, &opened)) {
        io->watch->opened = cip_switches_state(&opened, &own);
        io->watch->series = cip_switches_series(cip_io_descriptor(io, &off), io->watch->opened);
    }
    return CIP_OK;
}

void cip_io_watch_let(cip_io *io)
{
    if (io->watch != NULL)
        cip_lock_file_let(&io->watch->lock);
}

/* A member by its path, decoded. */
static cip_status open_path(cip_io *io, const char *path, const char *shown, uint32_t flags,
                            cip_io **out, cip_err *err)
{
    if (io->ops->open_member == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' cannot be opened: '%.80s' has no folder of its own", shown,
                        io->name);
    CIP_TRY(io->ops->open_member(io, path, flags, out, err));
    uint64_t off = 0;
    const int fd = cip_io_descriptor(*out, &off);
    /* A member that an update was made of, which was cut off, may be a mixture. Of an archive, in
     * which the members lie, that was looked into when it was opened. */
    cip_status st =
        fd != -1 && fd != cip_io_descriptor(io, &off) ? cip_record_refuse(fd, shown, err) : CIP_OK;
    if (st == CIP_OK) {
        (*out)->watched = io->watched;
    } else {
        cip_io_close(*out);
        *out = NULL;
    }
    return st;
}

cip_status cip_io_open_member(cip_io *io, const char *reference, uint32_t flags, cip_io **out,
                              cip_err *err)
{
    char *path = NULL;
    *out = NULL;
    CIP_TRY(cip_reference_path(&io->env->mem, reference, flags, &path, err));
    cip_status st = open_path(io, path, reference, flags, out, err);
    cip_mem_put(&io->env->mem, path);
    return st;
}

cip_status cip_io_check_beneath(const char *path, cip_err *err)
{
    if (cip_member_name_is_plain(path))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected a name beneath the folder, found '%.120s'", path);
}

cip_status cip_io_open_beneath(cip_io *io, const char *path, uint32_t flags, cip_io **out,
                               cip_err *err)
{
    *out = NULL;
    CIP_TRY(cip_io_check_beneath(path, err));
    return open_path(io, path, path, flags, out, err);
}

int cip_io_descriptor(cip_io *io, uint64_t *off)
{
    return io->ops->descriptor == NULL ? -1 : io->ops->descriptor(io, off);
}

uint64_t cip_io_next_data(cip_io *io, uint64_t off)
{
    uint64_t in_file = off;
    int fd = cip_io_descriptor(io, &in_file);
    if (fd == -1 || off >= io->size)
        return off;
    off_t data = lseek(fd, (off_t)in_file, SEEK_DATA); /* reads are by position: it moves nothing */
    if (data < 0)
        return errno == ENXIO ? io->size : off;
    return cip_min_u64(off + ((uint64_t)data - in_file), io->size);
}
