/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes that already lie in memory: borrowed, or owned when they come from a short pipe. */
#include "io/io_impl.h"

#include <string.h>

#include "base/num.h"

typedef struct memory_io {
    cip_io io;
    void *owned; /* freed at close; NULL when borrowed */
} memory_io;

static cip_status memory_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++)
        memcpy(r[i].dst, io->bytes + r[i].offset, r[i].nbytes);
    return CIP_OK;
}

static cip_status memory_map(cip_io *io, const uint8_t **ptr, cip_err *err)
{
    (void)err;
    *ptr = io->bytes;
    return CIP_OK;
}

static void memory_close(cip_io *io)
{
    cip_mem_put(&io->env->mem, ((memory_io *)io)->owned);
    cip_io_free(io);
}

static const cip_io_ops memory_ops = {
    .name = "memory",
    .read_ranges = memory_read,
    .map = memory_map,
    .close = memory_close,
};

cip_status cip_io_open_memory(cip_env *env, const void *ptr, uint64_t n, const char *name,
                              cip_io **out, cip_err *err)
{
    cip_io *io;
    size_t nbytes;
    *out = NULL;
    if (!cip_to_size(n, &nbytes) || (ptr == NULL && n != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "%" PRIu64 " bytes at %p", n, ptr);
    CIP_TRY(cip_io_new(env, &memory_ops, sizeof(memory_io), name, &io, err));
    io->size = n;
    io->bytes = ptr != NULL ? ptr : (const uint8_t *)"";
    *out = io;
    return CIP_OK;
}

cip_status cip_memory_own(cip_env *env, void *ptr, uint64_t n, const char *name, cip_io **out,
                          cip_err *err)
{
    cip_status st = cip_io_open_memory(env, ptr, n, name, out, err);
    if (st == CIP_OK)
        ((memory_io *)*out)->owned = ptr;
    else
        cip_mem_put(&env->mem, ptr);
    return st;
}
