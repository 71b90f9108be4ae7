/* SPDX-License-Identifier: BSD-3-Clause
 * Writing through the caller's methods. */
#include "io/io_target.h"

#include <string.h>

#include "base/num.h"
#include "io/io_impl.h"

static cip_status check_methods(const cip_io_write_methods *m, cip_err *err)
{
    if (m == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected methods, found NULL");
    if (m->struct_size != sizeof *m) /* the only size there has been */
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected methods of struct_size %zu, found %zu", sizeof *m,
                        m->struct_size);
    if (m->write_at == NULL || m->resize == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected methods with write_at and resize, found NULL");
    if (m->name != NULL && (m->name[0] == '\0' || strchr(m->name, '/') != NULL))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the name of a file, without a folder, found '%.80s'", m->name);
    return CIP_OK;
}

cip_status cip_target_take(cip_target *t, const cip_io_write_methods *m, void *user, cip_err *err)
{
    const cip_status st = check_methods(m, err);
    *t = (cip_target){ .user = NULL };
    if (m == NULL || m->struct_size != sizeof *m)
        return st; /* where `close` would be, nobody knows */
    *t = (cip_target){ .methods = *m, .user = user };
    if (st != CIP_OK)
        cip_target_close(t);
    return st;
}

cip_status cip_target_write(const cip_target *t, uint64_t off, const void *p, size_t n,
                            cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    int st = n != 0 ? (int)t->methods.write_at(t->user, off, p, n, &own) : CIP_OK;
    return cip_user_status(st, "write_at", off, &own, err);
}

typedef struct target_at {
    const cip_target *t;
    uint64_t at;
} target_at;

static cip_status put_piece(void *user, const void *p, size_t n, cip_err *err)
{
    target_at *to = user;
    CIP_TRY(cip_target_write(to->t, to->at, p, n, err));
    to->at += n;
    return CIP_OK;
}

cip_status cip_target_copy(const cip_target *t, uint64_t at, cip_io *io, uint64_t off, uint64_t n,
                           cip_err *err)
{
    target_at to = { t, at };
    return cip_io_each(io, off, n, put_piece, &to, err);
}

cip_status cip_target_resize(const cip_target *t, uint64_t nbytes, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    int st = (int)t->methods.resize(t->user, nbytes, &own);
    return cip_user_status(st, "resize", nbytes, &own, err);
}

cip_status cip_target_sync(const cip_target *t, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    int st = t->methods.sync != NULL ? (int)t->methods.sync(t->user, &own) : CIP_OK;
    return cip_user_status(st, "sync", CIP_NO_OFFSET, &own, err);
}

cip_status cip_target_finish(const cip_target *t, bool durable, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    if (durable)
        CIP_TRY(cip_target_sync(t, err));
    int st = t->methods.complete != NULL ? (int)t->methods.complete(t->user, &own) : CIP_OK;
    return cip_user_status(st, "complete", CIP_NO_OFFSET, &own, err);
}

cip_status cip_target_has_members(const cip_target *t, const char *name, cip_err *err)
{
    if (t->methods.create_member != NULL)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "'%.120s' cannot be made: the caller's methods know no members", name);
}

/* What a method of the caller's opened, or the status it failed with. */
static cip_status take_opened(int status, const char *which, const cip_target *got, cip_target *out,
                              cip_err *own, cip_err *err)
{
    const cip_io_write_methods *m = &got->methods;
    CIP_TRY(cip_user_status(status, which, CIP_NO_OFFSET, own, err));
    return cip_target_take(out, m, got->user, err);
}

bool cip_target_may_open(const cip_io *io)
{
    void *user;
    const cip_io_methods *m = cip_io_user_methods(io, &user);
    return m != NULL && m->open_write != NULL && m->version != NULL;
}

cip_status cip_target_open(const cip_io *io, cip_target *out, cip_err *err)
{
    cip_target got = { .user = NULL };
    cip_err own = CIP_ERR_INIT;
    void *user;
    *out = got;
    const cip_io_methods *m = cip_io_user_methods(io, &user);
    int st = (int)m->open_write(user, &got.methods, &got.user, &own);
    return take_opened(st, "open_write", &got, out, &own, err);
}

typedef cip_status member_method(void *user, const char *name, struct cip_io_write_methods *methods,
                                 void **member_user, cip_err *err);

static cip_status get_member(const cip_target *t, const char *name, member_method *method,
                             const char *which, cip_target *out, cip_err *err)
{
    cip_target got = { .user = NULL };
    cip_err own = CIP_ERR_INIT;
    *out = got;
    int st = (int)method(t->user, name, &got.methods, &got.user, &own);
    return take_opened(st, which, &got, out, &own, err);
}

cip_status cip_target_member(const cip_target *t, const char *name, cip_target *out, cip_err *err)
{
    CIP_TRY(cip_target_has_members(t, name, err));
    return get_member(t, name, t->methods.create_member, "create_member", out, err);
}

cip_status cip_target_open_member(const cip_target *t, const char *name, cip_target *out,
                                  cip_err *err)
{
    if (t->methods.open_member == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.120s' cannot be written: the caller's methods have no open_member",
                        name);
    return get_member(t, name, t->methods.open_member, "open_member", out, err);
}

cip_status cip_target_unlink(const cip_target *t, const char *name, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    const int st =
        t->methods.unlink_member != NULL ? (int)t->methods.unlink_member(t->user, name, &own) : 0;
    return st == CIP_ERR_NOT_FOUND ? CIP_OK
                                   : cip_user_status(st, "unlink_member", CIP_NO_OFFSET, &own, err);
}

void cip_target_close(cip_target *t)
{
    if (t->methods.close != NULL)
        t->methods.close(t->user);
    *t = (cip_target){ .user = NULL };
}
