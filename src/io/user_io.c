/* SPDX-License-Identifier: BSD-3-Clause
 * The caller's own methods. What they hand back is not trusted: a status may be any number, a
 * reason may be missing or unterminated. */
#include "io/io_impl.h"

#include <string.h>

typedef struct user_io {
    cip_io io;
    cip_io_methods methods;
    void *user;
    uint64_t version; /* as of open; 0 where there is none */
} user_io;

cip_status cip_user_status(int status, const char *method, uint64_t offset, cip_err *own,
                           cip_err *err)
{
    if (status == CIP_OK)
        return CIP_OK;
    bool known = (unsigned)status <= CIP_ERR_EXISTS;
    cip_status st = known ? (cip_status)status : CIP_ERR_IO;
    own->text[sizeof own->text - 1] = '\0';
    own->part[sizeof own->part - 1] = '\0';
    if (own->text[0] == '\0')
        return cip_fail(err, st, offset, "the caller's %s failed without a reason", method);
    own->code = (int32_t)st;
    cip_err_pass(err, own);
    return st;
}

static cip_status user_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    const user_io *u = (const user_io *)io;
    cip_err own = CIP_ERR_INIT;
    int st = (int)u->methods.read_ranges(u->user, r, n, &own);
    return cip_user_status(st, "read_ranges", r[0].offset, &own, err);
}

static cip_status open_named(cip_env *env, const cip_io_methods *m, void *user, const char *name,
                             cip_io **out, cip_err *err);

static cip_status user_member(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                              cip_err *err)
{
    const user_io *u = (const user_io *)io;
    cip_io_methods methods = { 0 };
    void *user = NULL;
    cip_err own = CIP_ERR_INIT;
    (void)flags;
    if (name[0] == '/' || strncmp(name, "..", 3) == 0 || strncmp(name, "../", 3) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' lies outside, where the caller's methods do not reach", name);
    if (u->methods.open_member == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' cannot be opened: the caller's methods know no members", name);
    int ust = (int)u->methods.open_member(u->user, name, &methods, &user, &own);
    CIP_TRY(cip_user_status(ust, "open_member", CIP_NO_OFFSET, &own, err));
    cip_status st = open_named(io->env, &methods, user, name, out, err);
    if (st == CIP_OK)
        (*out)->far = io->far;
    return st;
}

static cip_status user_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn,
                            void *user, cip_err *err)
{
    const user_io *u = (const user_io *)io;
    cip_err own = CIP_ERR_INIT;
    if ((flags & CIP_IO_LINKS) != 0)
        return CIP_OK;
    if (u->methods.list == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' cannot be listed: the caller's methods have no list", path);
    int st = (int)u->methods.list(u->user, path, fn, user, &own);
    return cip_user_status(st, "list", CIP_NO_OFFSET, &own, err);
}

static cip_status ask_version(const cip_io_methods *m, void *user, uint64_t *version, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    *version = 0;
    int st = m->version != NULL ? (int)m->version(user, version, &own) : CIP_OK;
    return cip_user_status(st, "version", CIP_NO_OFFSET, &own, err);
}

static cip_status user_unchanged(cip_io *io, cip_err *err)
{
    const user_io *u = (const user_io *)io;
    uint64_t now;
    CIP_TRY(ask_version(&u->methods, u->user, &now, err));
    if (now == u->version)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                    "file changed since open: its version is %" PRIu64 " now, not %" PRIu64, now,
                    u->version);
}

static void user_close(cip_io *io)
{
    user_io *u = (user_io *)io;
    if (u->methods.close != NULL)
        u->methods.close(u->user);
    cip_io_free(io);
}

static const cip_io_ops user_ops = {
    .name = "user",
    .read_ranges = user_read,
    .open_member = user_member,
    .list = user_list,
    .unchanged = user_unchanged,
    .close = user_close,
};

void cip_io_user_give_back(const cip_io_methods *m, void *user)
{
    if (m != NULL && m->struct_size == sizeof *m && m->close != NULL)
        m->close(user);
}

static cip_status open_methods(cip_env *env, const cip_io_methods *m, void *user, const char *name,
                               cip_io **out, cip_err *err)
{
    cip_io *io;
    uint64_t size = 0, version;
    cip_err own = CIP_ERR_INIT;
    *out = NULL;
    if (m->struct_size != sizeof *m) /* the only size there has been */
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected methods of struct_size %zu, found %zu", sizeof *m,
                        m->struct_size);
    if (m->read_ranges == NULL || m->size == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected methods with read_ranges and size, found NULL");
    CIP_TRY(ask_version(m, user, &version, err)); /* before the size, which belongs to it */
    int st = (int)m->size(user, &size, &own);
    CIP_TRY(cip_user_status(st, "size", CIP_NO_OFFSET, &own, err));
    CIP_TRY(cip_io_new(env, &user_ops, sizeof(user_io), name, &io, err));
    io->size = size;
    io->folder = size == 0 && m->open_member != NULL;
    ((user_io *)io)->methods = *m;
    ((user_io *)io)->user = user;
    ((user_io *)io)->version = version;
    *out = io;
    return CIP_OK;
}

/* `user` is taken over, on failure too. */
static cip_status open_named(cip_env *env, const cip_io_methods *m, void *user, const char *name,
                             cip_io **out, cip_err *err)
{
    const cip_status st = open_methods(env, m, user, name, out, err);
    if (st != CIP_OK)
        cip_io_user_give_back(m, user);
    return st;
}

cip_status cip_io_open_user(cip_env *env, const cip_io_methods *m, void *user, cip_io **out,
                            cip_err *err)
{
    return open_named(env, m, user, "(the caller's methods)", out, err);
}

cip_status cip_io_open_user_again(cip_env *env, const cip_io_methods *m, void *user, cip_io **out,
                                  cip_err *err)
{
    CIP_TRY(open_methods(env, m, user, "(the caller's methods)", out, err));
    ((user_io *)*out)->methods.close = NULL;
    return CIP_OK;
}

void cip_io_user_renew(cip_io *io)
{
    user_io *u = (user_io *)io;
    uint64_t now;
    if (io->ops == &user_ops && ask_version(&u->methods, u->user, &now, NULL) == CIP_OK)
        u->version = now;
}

void cip_io_user_pass(cip_io *from, cip_io *to)
{
    cip_io_methods *giver = &((user_io *)from)->methods;
    ((user_io *)to)->methods.close = giver->close;
    giver->close = NULL;
}

const cip_io_methods *cip_io_user_methods(const cip_io *io, void **user)
{
    if (io->ops != &user_ops)
        return NULL;
    *user = ((const user_io *)io)->user;
    return &((const user_io *)io)->methods;
}
