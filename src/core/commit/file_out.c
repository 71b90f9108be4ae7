/* SPDX-License-Identifier: BSD-3-Clause
 * Writing to a descriptor behind an output. */
#include "core/commit/file_out.h"

#include <string.h>

#include "io/store.h"

enum { WAITING = 64 << 10 };

/* Open, with room for what waits. */
static cip_status make_ready(cip_file_out *f, cip_err *err)
{
    if (f->fd == -1 && f->reopen != NULL)
        CIP_TRY(f->reopen(f, err));
    return f->waiting != NULL ? CIP_OK : cip_mem_get(f->mem, WAITING, (void **)&f->waiting, err);
}

static cip_status write_at(cip_file_out *f, uint64_t off, const void *p, size_t n, cip_err *err)
{
    return cip_fail_in(err, cip_store_write(f->fd, off, p, n, err), "output");
}

static cip_status flush(cip_file_out *f, cip_err *err)
{
    size_t n = f->nwaiting;
    CIP_TRY(make_ready(f, err));
    f->nwaiting = 0;
    return write_at(f, f->at - n, f->waiting, n, err);
}

cip_status cip_file_out_flush(cip_file_out *f, cip_err *err)
{
    cip_status st = f->nwaiting != 0 ? flush(f, err) : CIP_OK;
    cip_mem_put(f->mem, f->waiting);
    f->waiting = NULL;
    return st;
}

void cip_file_out_clear(cip_file_out *f)
{
    cip_mem_put(f->mem, f->waiting);
    f->waiting = NULL;
}

static cip_status out_write(void *user, const void *p, size_t n, cip_err *err)
{
    cip_file_out *f = user;
    CIP_TRY(make_ready(f, err));
    if (n > WAITING - f->nwaiting)
        CIP_TRY(flush(f, err));
    if (n > WAITING) {
        CIP_TRY(write_at(f, f->at, p, n, err));
    } else if (n != 0) {
        memcpy(f->waiting + f->nwaiting, p, n);
        f->nwaiting += n;
    }
    f->at += n;
    return CIP_OK;
}

static cip_status out_rewrite(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    cip_file_out *f = user;
    CIP_TRY(flush(f, err));
    return write_at(f, off, p, n, err);
}

static cip_status out_rewind(void *user, uint64_t off, cip_err *err)
{
    cip_file_out *f = user;
    CIP_TRY(flush(f, err));
    CIP_TRY(cip_store_resize(f->fd, off, err));
    f->at = off;
    return CIP_OK;
}

static cip_status out_move(void *user, uint64_t from, uint64_t n, uint64_t to, cip_err *err)
{
    cip_file_out *f = user;
    const uint64_t end = from + n == f->at ? to + n : f->at;
    CIP_TRY(flush(f, err));
    CIP_TRY(cip_store_move(f->fd, from, from + n, to, err));
    if (end < f->at || n == 0)
        CIP_TRY(cip_store_resize(f->fd, end, err));
    f->at = end;
    return CIP_OK;
}

void cip_file_out_init(cip_file_out *f, cip_mem *mem, int fd)
{
    *f = (cip_file_out){ .mem = mem, .fd = fd };
    f->out = (cip_out){ .write = out_write,
                        .user = f,
                        .rewrite = out_rewrite,
                        .rewind = out_rewind,
                        .move = out_move };
}
