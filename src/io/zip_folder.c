/* SPDX-License-Identifier: BSD-3-Clause
 * A zip archive as a folder: formats whose files are folders read it as one. A stored member is a
 * part of the file; a deflated one is decoded whole when it is opened, by whoever has the codec. */
#include <string.h>

#include "io/io_impl.h"
#include "io/zip.h"

typedef struct zip_io {
    cip_io io;
    cip_io *of; /* borrowed */
    cip_zip_decode *decode;
    cip_arena arena;
    cip_zip zip;
} zip_io;

/* The first member by name that is not before it. */
static size_t lower_bound(const cip_zip *z, const char *name)
{
    size_t lo = 0, hi = z->n;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (strcmp(z->by_name[mid]->name, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Of a member that is decoded: its stored bytes, and room for the others, are in memory. */
static cip_status open_decoded(const zip_io *z, const cip_zip_member *m, uint64_t off, cip_io **out,
                               cip_err *err)
{
    cip_env *env = z->io.env;
    uint8_t *stored = NULL, *data = NULL;
    cip_status st;
    CIP_GO(cip_mem_get(&env->mem, (size_t)m->stored, (void **)&stored, err));
    CIP_GO(cip_mem_get(&env->mem, (size_t)m->size, (void **)&data, err));
    CIP_GO(cip_io_read(z->of, off, stored, (size_t)m->stored, err));
    CIP_GO(z->decode(&env->mem, m, stored, data, err));
    st = cip_memory_own(env, data, m->size, m->name, out, err);
    data = NULL;
done:
    cip_mem_put(&env->mem, stored);
    cip_mem_put(&env->mem, data);
    return st == CIP_OK ? st : cip_fail_in(err, st, "%.200s", m->name);
}

static cip_status zip_member(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                             cip_err *err)
{
    const zip_io *z = (const zip_io *)io;
    const cip_zip_member *m = cip_zip_find(&z->zip, name);
    uint64_t off;
    (void)flags;
    if (m == NULL)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "no member '%.120s' in '%.120s'",
                        name, io->name);
    CIP_TRY(cip_zip_data(z->of, m, &off, err));
    if (m->method == CIP_ZIP_STORED)
        return cip_io_open_part(z->of, off, m->size, out, err);
    if (m->method == CIP_ZIP_DEFLATED)
        return open_decoded(z, m, off, out, err);
    return cip_fail(err, CIP_ERR_UNSUPPORTED, m->entry,
                    "member '%.120s': expected one that is stored or deflated, found method %d",
                    name, m->method);
}

/* Names that begin with the path are neighbours; those deeper below are a folder's. */
static cip_status zip_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn,
                           void *user, cip_err *err)
{
    const zip_io *z = (const zip_io *)io;
    cip_buf prefix = { .mem = &io->env->mem }, name = { .mem = &io->env->mem };
    cip_status st;
    size_t found = 0;
    if ((flags & CIP_IO_LINKS) != 0)
        return CIP_OK;
    CIP_GO(cip_buf_addf(&prefix, err, "%s%s%c", path, path[0] != '\0' ? "/" : "", 0));
    const char *start = (const char *)prefix.ptr;
    const size_t n = prefix.len - 1;
    for (size_t i = lower_bound(&z->zip, start); i < z->zip.n; i++, found++) {
        const char *rest = z->zip.by_name[i]->name + n;
        if (strncmp(z->zip.by_name[i]->name, start, n) != 0)
            break;
        const size_t len = strcspn(rest, "/");
        if (len == 0 || (rest[len] == '/' && name.len == len + 1 &&
                         memcmp(name.ptr, rest, len) == 0)) /* itself; one of the same folder */
            continue;
        name.len = 0;
        CIP_GO(cip_buf_add(&name, rest, len, err));
        CIP_GO(cip_buf_add(&name, "", 1, err));
        if (fn(user, (const char *)name.ptr, rest[len] == '/') != 0)
            break;
        name.len = rest[len] == '/' ? name.len : 0;
    }
    if (found == 0 && n != 0)
        CIP_GO(cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "no folder '%.120s' in '%.120s'",
                        path, io->name));
done:
    cip_buf_clear(&prefix);
    cip_buf_clear(&name);
    return st;
}

static cip_status zip_unchanged(cip_io *io, cip_err *err)
{
    return cip_io_unchanged(((zip_io *)io)->of, err);
}

static int zip_descriptor(cip_io *io, uint64_t *off)
{
    return cip_io_descriptor(((zip_io *)io)->of, off);
}

static void zip_close(cip_io *io)
{
    cip_arena_clear(&((zip_io *)io)->arena);
    cip_io_free(io);
}

static const cip_io_ops zip_ops = {
    .name = "zip",
    .open_member = zip_member,
    .list = zip_list,
    .unchanged = zip_unchanged,
    .descriptor = zip_descriptor,
    .close = zip_close,
};

cip_status cip_io_open_zip(cip_io *of, cip_zip_decode *decode, cip_io **out, cip_err *err)
{
    cip_io *io;
    *out = NULL;
    CIP_TRY(cip_io_new(of->env, &zip_ops, sizeof(zip_io), of->name, &io, err));
    zip_io *z = (zip_io *)io;
    z->of = of;
    z->decode = decode;
    z->arena.mem = &of->env->mem;
    io->folder = true;
    io->far = of->far;
    const cip_status st = cip_zip_read(of, &z->arena, &z->zip, err);
    if (st != CIP_OK)
        cip_io_close(io);
    else
        *out = io;
    return st;
}

const cip_zip *cip_io_zip(const cip_io *io)
{
    return &((const zip_io *)io)->zip;
}
