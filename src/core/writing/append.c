/* SPDX-License-Identifier: BSD-3-Clause
 * Rows for an array that grows: where its data end the file they are just written there, elsewhere
 * each call is an update. */
#include "core/writing/edit_impl.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "io/file_io.h"

/* --- at the end of a file --------------------------------------------------------------------- */

/* Rows on their way to the end of the file that an array's stream lies in. */
typedef struct cip_appender {
    cip_commit *commit;
    const cip_array *array;
    struct cip_appender *next;
} cip_appender;

void cip_appenders_end(cip_file *f)
{
    close(f->became); /* -1 is fine */
    f->became = -1;
    while (f->appenders != NULL) {
        cip_appender *p = f->appenders;
        f->appenders = p->next;
        cip_commit_end(p->commit);
        cip_mem_put(&f->env.mem, p);
    }
}

/* Whether the name by which a file beside was opened is that file's still. */
static bool is_named(const cip_file *f, cip_io *in)
{
    cip_io *of = f->layout->io, *now = NULL;
    struct stat a, b;
    cip_status st = CIP_ERR_NOT_FOUND;
    if ((f->layout->flags & CIP_OPEN_EXTERNAL) != 0)
        st = cip_io_open_file(of->env, in->name, &now, NULL);
    else if (of->ops->open_member != NULL)
        st = of->ops->open_member(of, in->name, 0, &now, NULL);
    const bool same = st == CIP_OK && cip_target_stat(in, &a) && cip_target_stat(now, &b) &&
                      cip_is_same_file(&a, &b);
    cip_io_close(now);
    return same;
}

/* The name under which the file can be opened for writing: its own, or that of the very file that
 * is open beside it. */
static cip_status name_of(const cip_file *f, cip_io *in, char name[PATH_MAX], cip_err *err)
{
    char link[64];
    if (in == f->layout->io) {
        snprintf(name, PATH_MAX, "%s", f->io->name);
        return CIP_OK;
    }
    if (!is_named(f, in))
        return cip_fail(err, CIP_ERR_STALE, CIP_NO_OFFSET,
                        "'%.100s' was replaced, moved or removed since it was opened, so nothing "
                        "was written; open the file again",
                        in->name);
    uint64_t off = 0;
    int fd = in->ops->descriptor != NULL ? in->ops->descriptor(in, &off) : -1;
    if (fd < 0 || off != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the data are not stored in a file");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, name, PATH_MAX - 1);
    if (n < 0)
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "finding the file that holds the rows");
    name[n] = '\0';
    return CIP_OK;
}

static cip_status begin_commit(cip_file *f, cip_io *in, cip_commit **out, cip_err *err)
{
    const cip_change_options o = { .size = sizeof o };
    char name[PATH_MAX];
    struct stat was;
    cip_io *io;
    cip_target to;
    void *user;
    if (!cip_target_may_open(in)) {
        CIP_TRY(name_of(f, in, name, err));
        if (!cip_target_stat(in, &was))
            return cip_fail_stale(name, err);
        return cip_commit_begin_of(&f->env, name, &was, &o, out, err);
    }
    const cip_io_methods *read = cip_io_user_methods(in, &user);
    CIP_TRY(cip_io_open_user_again(&f->env, read, user, &io, err));
    cip_status st = cip_target_open(in, &to, err);
    if (st == CIP_OK)
        return cip_commit_begin_io(&f->env, io, &to, &o, out, err);
    cip_io_close(io);
    return st;
}

/* Bytes that a writer left who was cut off in the middle of a row. */
static cip_status cut_torn_row(cip_file *f, cip_appender *p, cip_io *in, uint64_t end, cip_err *err)
{
    cip_revision r = { .patch = { .arena = { .mem = &f->env.mem } } };
    r.has_tail = true;
    r.tail_off = end;
    cip_status st = cip_commit_apply(p->commit, &r, err);
    cip_commit_end(p->commit);
    p->commit = NULL;
    cip_revision_clear(&r);
    return st != CIP_OK ? st : begin_commit(f, in, &p->commit, err);
}

/* The lock of the file `in`, which must still be what was opened, and whole rows at its end. */
static cip_status begin_rows(cip_file *f, cip_appender *p, cip_io *in, uint64_t nbytes,
                             cip_err *err)
{
    uint64_t first, end;
    CIP_TRY(begin_commit(f, in, &p->commit, err));
    if (cip_io_unchanged(in, NULL) != CIP_OK)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "the file changed since it was opened; open it again");
    CIP_TRY(cip_view_bounds(&p->array->view, &first, &end, err));
    if (in == f->layout->io)
        cip_io_unlock(f->io); /* our own reading must not keep our writing waiting */
    end = in->size - (nbytes - cip_max_u64(end, p->array->view.off));
    return end == in->size ? CIP_OK : cut_torn_row(f, p, in, end, err);
}

static cip_status start(cip_file *f, const cip_array *a, cip_io *in, uint64_t nbytes,
                        cip_commit **out, cip_err *err)
{
    cip_appender *p;
    for (p = f->appenders; p != NULL; p = p->next)
        if (p->array == a)
            break;
    if (p == NULL) {
        CIP_TRY(CIP_NEW(&f->env.mem, &p, 1, err));
        p->array = a;
        cip_status st = begin_rows(f, p, in, nbytes, err);
        if (st != CIP_OK) {
            cip_commit_end(p->commit);
            cip_mem_put(&f->env.mem, p);
            return st;
        }
        p->next = f->appenders;
        f->appenders = p;
    }
    *out = p->commit;
    return CIP_OK;
}

static cip_status write_rows(cip_file *f, cip_commit *to, const cip_cast *cast, const uint8_t *rows,
                             uint64_t nelem, cip_err *err)
{
    cip_cast_stats stats = { 0, 0 };
    uint64_t size = cast->to->itemsize, from = cast->from->itemsize;
    if (cip_cast_is_copy(cast))
        return cip_commit_append(to, rows, (size_t)(nelem * size), err);
    void *buf;
    CIP_TRY(cip_mem_zeroed(&f->env.mem, (size_t)nelem, (size_t)size, &buf, err));
    cip_cast_run(cast, (size_t)nelem, rows, (int64_t)from, buf, (int64_t)size, 0, &stats);
    cip_status st = cip_cast_check(cast, &stats, NULL, err); /* before the first byte is written */
    if (st == CIP_OK)
        st = cip_commit_append(to, buf, (size_t)(nelem * size), err);
    cip_mem_put(&f->env.mem, buf);
    return st;
}

/* --- anywhere else ---------------------------------------------------------------------------- */

static cip_status by_update(cip_file *f, const cip_array *a, const void *rows, size_t nbytes,
                            cip_err *err)
{
    cip_edit *e;
    CIP_TRY(cip_edit_of(f, !f->updated, &e, err));
    const cip_rows_at behind = { .end = true };
    const cip_elements elements = { .dtype = cip_dtype_as_stored(), .data = { rows, nbytes } };
    cip_status st = cip_edit_insert(e, a->path, &behind, &elements, err);
    if (st != CIP_OK) {
        cip_edit_abort(e);
        return st;
    }
    const bool was = f->updated;
    int became = -1;
    e->became = &became;
    f->updated = true;
    st = cip_edit_commit(&e, err);
    if (became != -1) {
        close(f->became); /* -1 is fine */
        f->became = became;
    }
    if (st == CIP_ERR_BUSY) {
        cip_edit_abort(e);
        f->updated = was;
    }
    return st;
}

/* Rows in the array's own type, for an update. */
static cip_status cast_and_update(cip_file *f, const cip_array *a, const cip_cast *cast,
                                  const uint8_t *rows, uint64_t nelem, cip_err *err)
{
    cip_cast_stats stats = { 0, 0 };
    void *buf;
    size_t size = (size_t)cast->to->itemsize;
    CIP_TRY(cip_mem_zeroed(&f->env.mem, (size_t)nelem, size, &buf, err));
    cip_cast_run(cast, (size_t)nelem, rows, (int64_t)cast->from->itemsize, buf, (int64_t)size, 0,
                 &stats);
    cip_status st = cip_cast_check(cast, &stats, NULL, err);
    if (st == CIP_OK)
        st = by_update(f, a, buf, (size_t)nelem * size, err);
    cip_mem_put(&f->env.mem, buf);
    return st;
}

/* `names`: for the types of records whose fields stand in another order. */
static cip_status append_as(cip_file *f, const cip_array *a, const cip_dtype *dtype,
                            const void *rows, size_t nbytes, cip_arena *names, cip_err *err)
{
    const cip_array_store *u = f->format->store;
    const cip_dtype *native = cip_array_native_dtype(a, err);
    uint64_t nrow, there;
    cip_cast cast;
    cip_io *in;
    cip_commit *to;
    if (native == NULL)
        return (cip_status)err->code;
    if (dtype == cip_dtype_as_stored())
        dtype = native;
    if (u == NULL || u->form == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot grow in place",
                        f->format->title);
    CIP_TRY(cip_edit_may_begin(f, err));
    CIP_TRY(cip_rows_count(&a->view, 0, dtype->itemsize, nbytes, &nrow, err));
    uint64_t nelem = dtype->itemsize != 0 ? nbytes / dtype->itemsize : 0;
    if (nelem == 0)
        return CIP_OK;
    const bool grows = u->grows != NULL && u->grows(f->layout, a, &in, &there) &&
                       (cip_io_path(f->io) != NULL || cip_target_may_open(in));
    const cip_dtype *target = grows ? a->dtype : native;
    CIP_TRY(cip_dtype_in_order_of(names, dtype, target, "", &target, err));
    CIP_TRY(cip_times_stay(dtype, target, err));
    CIP_TRY(cip_cast_make(dtype, target, CIP_OVERFLOW_ERROR, &cast, err));
    if (!grows)
        return cast_and_update(f, a, &cast, rows, nelem, err);
    CIP_TRY(start(f, a, in, there, &to, err));
    CIP_TRY(write_rows(f, to, &cast, rows, nelem, err));
    cip_io_user_renew(in); /* what is open shows what it did */
    cip_io_user_renew(f->io);
    return CIP_OK;
}

cip_status cip_append(cip_file *file, const char *path, const cip_dtype *dtype, const void *rows,
                      size_t nbytes, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_dtype_there(dtype, err));
    err = cip_err_enter(err);
    if (file == NULL || (rows == NULL && nbytes != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file and rows, found NULL");
    cip_arena names = { .mem = &file->env.mem };
    const cip_array *a = cip_find(file, path, &why);
    cip_status st = a != NULL ? cip_array_state(a, &why) : (cip_status)why.code;
    if (st == CIP_OK)
        st = append_as(file, a, dtype, rows, nbytes, &names, &why);
    cip_arena_clear(&names);
    if (st != CIP_OK && a != NULL)
        cip_fail_in(&why, st, "%s", a->path);
    return cip_err_give(err, &why, st);
}

cip_status cip_sync(cip_file *file, cip_err *err)
{
    err = cip_err_enter(err);
    if (file == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file, found NULL");
    for (cip_appender *p = file->appenders; p != NULL; p = p->next)
        CIP_TRY(cip_commit_sync(p->commit, err));
    return CIP_OK;
}
