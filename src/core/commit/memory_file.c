/* SPDX-License-Identifier: BSD-3-Clause
 * A file in memory: one run of bytes, which nobody sees before it is complete. */
#include "core/commit/memory_file.h"

#include <string.h>

#include "base/buffer.h"
#include "base/num.h"

struct cip_memory {
    cip_mem mem;
    cip_buf bytes;
    bool complete;
};

cip_status cip_memory_make(const cip_allocator *from, cip_memory **out, cip_err *err)
{
    cip_memory *m;
    *out = NULL;
    CIP_TRY(cip_mem_handle(from, sizeof *m, (void **)&m, err));
    cip_mem_init(&m->mem, from, 0);
    m->bytes.mem = &m->mem;
    *out = m;
    return CIP_OK;
}

cip_status cip_memory_new(const void *bytes, size_t nbytes, cip_memory **out, cip_err *err)
{
    if (bytes == NULL && nbytes != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected bytes, found NULL");
    CIP_TRY(cip_memory_make(NULL, out, err));
    cip_status st = cip_buf_add(&(*out)->bytes, bytes, nbytes, err);
    (*out)->complete = true;
    if (st != CIP_OK) {
        cip_memory_free(*out);
        *out = NULL;
    }
    return st;
}

const void *cip_memory_bytes(const cip_memory *m, size_t *nbytes)
{
    bool shown = m != NULL && m->complete;
    if (nbytes != NULL)
        *nbytes = shown ? m->bytes.len : 0;
    return shown ? m->bytes.ptr : NULL;
}

void cip_memory_free(cip_memory *m)
{
    if (m == NULL)
        return;
    cip_buf_clear(&m->bytes);
    cip_mem_handle_free(&m->mem.from, m);
}

void cip_memory_complete(cip_memory *m)
{
    m->complete = true;
}

static cip_status resize(void *user, uint64_t nbytes, cip_err *err)
{
    cip_memory *m = user;
    size_t n, was = m->bytes.len;
    uint8_t *at;
    if (!cip_to_size(nbytes, &n))
        return cip_fail(err, CIP_ERR_LIMIT, nbytes, "more than memory can hold");
    if (n > was) {
        CIP_TRY(cip_buf_reserve(&m->bytes, n - was, &at, err));
        memset(at, 0, n - was);
    }
    m->bytes.len = n;
    return CIP_OK;
}

static cip_status rewrite(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    cip_memory *m = user;
    uint64_t end;
    if (cip_add_overflow(off, n, &end))
        return cip_fail(err, CIP_ERR_LIMIT, off, "more than memory can hold");
    if (end > m->bytes.len)
        CIP_TRY(resize(m, end, err));
    if (n != 0)
        memcpy(m->bytes.ptr + off, p, n);
    return CIP_OK;
}

static cip_status append(void *user, const void *p, size_t n, cip_err *err)
{
    return cip_buf_add(&((cip_memory *)user)->bytes, p, n, err);
}

static cip_status move(void *user, uint64_t from, uint64_t to, cip_err *err)
{
    cip_memory *m = user;
    uint64_t end = m->bytes.len, after = end - from + to;
    if (after > end)
        CIP_TRY(resize(m, after, err));
    if (end != from)
        memmove(m->bytes.ptr + to, m->bytes.ptr + from, (size_t)(end - from));
    return resize(m, after, err);
}

cip_out cip_memory_out(cip_memory *m)
{
    return (cip_out){
        .write = append,
        .user = m,
        .rewrite = rewrite,
        .rewind = resize,
        .move = move,
    };
}

/* --- as a file of a store -------------------------------------------------------------------- */

static cip_status read_ranges(void *user, const cip_range *r, size_t n, cip_err *err)
{
    const cip_memory *m = user;
    (void)err;
    for (size_t i = 0; i < n; i++)
        memcpy(r[i].dst, m->bytes.ptr + r[i].offset, r[i].nbytes);
    return CIP_OK;
}

static cip_status size(void *user, uint64_t *nbytes, cip_err *err)
{
    (void)err;
    *nbytes = ((const cip_memory *)user)->bytes.len;
    return CIP_OK;
}

const cip_io_methods cip_memory_reads = { CIP_IO_METHODS_INIT, .read_ranges = read_ranges,
                                          .size = size };

cip_target cip_memory_target(cip_memory *m)
{
    return (cip_target){
        .user = m, .methods = { CIP_IO_WRITE_METHODS_INIT, .write_at = rewrite, .resize = resize }
    };
}
