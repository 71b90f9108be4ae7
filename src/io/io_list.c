/* SPDX-License-Identifier: BSD-3-Clause
 * The names in a folder, sorted: whatever order the system has them in, what is made of them is the
 * same. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "io/io_impl.h"

typedef struct listed {
    cip_io *io;
    cip_buf names; /* each with a mark before it, 'd' or 'f', and a NUL behind */
    uint64_t n;
    cip_status st;
    cip_err *err;
} listed;

static int keep_name(void *user, const char *name, bool is_folder)
{
    listed *l = user;
    if (++l->n > l->io->env->limits.max_blocks)
        l->st = cip_fail(l->err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                         "expected at most %" PRIu64 " names in a folder, found more",
                         l->io->env->limits.max_blocks);
    if (l->st == CIP_OK)
        l->st = cip_buf_add(&l->names, is_folder ? "d" : "f", 1, l->err);
    if (l->st == CIP_OK)
        l->st = cip_buf_add(&l->names, name, strlen(name) + 1, l->err);
    return l->st != CIP_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a + 1, *(const char *const *)b + 1);
}

static cip_status give_sorted(listed *l, cip_io_list_fn *fn, void *user, cip_err *err)
{
    const char **name;
    const char *at = (const char *)l->names.ptr;
    CIP_TRY(CIP_NEW(&l->io->env->mem, &name, l->n, err));
    for (uint64_t i = 0; i < l->n; i++, at += strlen(at) + 1)
        name[i] = at;
    if (l->n > 1)
        qsort(name, l->n, sizeof *name, by_name);
    cip_status st = CIP_OK;
    for (uint64_t i = 0; i < l->n && st == CIP_OK; i++)
        if ((i == 0 || strcmp(name[i] + 1, name[i - 1] + 1) != 0) &&
            fn(user, name[i] + 1, name[i][0] == 'd') != 0)
            st = cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
    cip_mem_put(&l->io->env->mem, name);
    return st;
}

cip_status cip_io_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn, void *user,
                       cip_err *err)
{
    listed l = { .io = io, .names = { .mem = &io->env->mem }, .err = err };
    if (path[0] != '\0')
        CIP_TRY(cip_io_check_beneath(path, err));
    if (io->ops->list == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "'%.120s' is not a folder",
                        io->name);
    cip_status st = io->ops->list(io, path, flags, keep_name, &l, err);
    if (l.st != CIP_OK)
        st = l.st;
    if (st == CIP_OK)
        st = give_sorted(&l, fn, user, err);
    cip_buf_clear(&l.names);
    return st;
}
