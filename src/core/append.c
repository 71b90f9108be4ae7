/* SPDX-License-Identifier: BSD-3-Clause
 * Rows for an array that grows: where its data end the file they are just written there, elsewhere
 * each call is an update. */
#include "core/edit_impl.h"

#include <string.h>

#include "base/num.h"

/* --- at the end of the file
 * ----------------------------------------------------------------------- */

/* Bytes that a writer left who was cut off in the middle of a row. */
static cip_status cut_torn_row(cip_file *f, uint64_t end, cip_err *err)
{
    const cip_edit_options o = { .size = sizeof o };
    cip_revision r = { .patch = { .arena = { .mem = &f->env.mem } } };
    r.has_tail = true;
    r.tail_off = end;
    cip_status st = cip_commit_apply(f->appender, &r, err);
    cip_commit_end(f->appender);
    f->appender = NULL;
    cip_revision_clear(&r);
    return st != CIP_OK ? st : cip_commit_begin(&f->env, f->io->name, &o, &f->appender, err);
}

/* Whole rows end the file, and it is still the one that was opened. */
static cip_status look(cip_file *f, const cip_array *a, cip_err *err)
{
    uint64_t first, end;
    if (!cip_commit_same(f->appender, f->io))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "the file changed since it was opened; open it again");
    CIP_TRY(cip_view_bounds(&a->view, &first, &end, err));
    end = f->io->size - (a->space->len - cip_max_u64(end, a->view.off));
    return end == f->io->size ? CIP_OK : cut_torn_row(f, end, err);
}

static cip_status start(cip_file *f, const cip_array *a, cip_err *err)
{
    const cip_edit_options o = { .size = sizeof o };
    if (f->appender != NULL && f->appended == a)
        return CIP_OK;
    if (f->appender != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "rows are being added to '%.80s', which ends the file", f->appended->path);
    cip_io_unlock(f->io);
    CIP_TRY(cip_commit_begin(&f->env, f->io->name, &o, &f->appender, err));
    cip_status st = look(f, a, err);
    f->appended = a;
    if (st != CIP_OK) {
        cip_commit_end(f->appender);
        f->appender = NULL;
    }
    return st;
}

static cip_status write_rows(cip_file *f, const cip_cast *cast, const uint8_t *rows, uint64_t nelem,
                             cip_err *err)
{
    cip_cast_stats stats = { 0, 0 };
    uint64_t size = cast->to->itemsize, from = cast->from->itemsize;
    if (cip_cast_is_copy(cast))
        return cip_commit_append(f->appender, rows, (size_t)(nelem * size), err);
    void *buf;
    CIP_TRY(cip_mem_zeroed(&f->env.mem, (size_t)nelem, (size_t)size, &buf, err));
    cip_cast_run(cast, (size_t)nelem, rows, (int64_t)from, buf, (int64_t)size, 0, &stats);
    cip_status st = cip_cast_check(cast, &stats, err); /* before the first byte is written */
    if (st == CIP_OK)
        st = cip_commit_append(f->appender, buf, (size_t)(nelem * size), err);
    cip_mem_put(&f->env.mem, buf);
    return st;
}

/* --- anywhere else
 * ---------------------------------------------------------------------------------- */

static cip_status by_update(cip_file *f, const cip_array *a, const void *rows, size_t nbytes,
                            cip_err *err)
{
    cip_edit *e;
    if (f->updated)
        CIP_TRY(cip_edit_open(f->io->name, NULL, &e, err));
    else
        CIP_TRY(cip_edit_begin(f, &e, err));
    cip_status st = cip_edit_append(e, a->path, rows, nbytes, err);
    if (st != CIP_OK) {
        cip_edit_abort(e);
        return st;
    }
    f->updated = true;
    return cip_edit_commit(e, err);
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
    cip_status st = cip_cast_check(cast, &stats, err);
    if (st == CIP_OK)
        st = by_update(f, a, buf, (size_t)nelem * size, err);
    cip_mem_put(&f->env.mem, buf);
    return st;
}

static cip_status append(cip_file *f, const cip_array *a, const cip_dtype *dtype, const void *rows,
                         size_t nbytes, cip_err *err)
{
    const cip_updater *u = f->format->update;
    const cip_dtype *native = cip_array_native_dtype(a, err);
    uint64_t nrow;
    cip_cast cast;
    if (native == NULL)
        return err != NULL ? (cip_status)err->code : CIP_ERR_TYPE;
    if (dtype == NULL)
        dtype = native;
    if (u == NULL || u->append == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot grow in place",
                        f->format->title);
    CIP_TRY(cip_rows_count(a, dtype->itemsize, nbytes, &nrow, err));
    uint64_t nelem = dtype->itemsize != 0 ? nbytes / dtype->itemsize : 0;
    if (nelem == 0)
        return CIP_OK;
    if (u->grows == NULL || !u->grows(f->layout, a)) {
        CIP_TRY(cip_cast_make(dtype, native, CIP_OVERFLOW_ERROR, &cast, err));
        return cast_and_update(f, a, &cast, rows, nelem, err);
    }
    CIP_TRY(cip_cast_make(dtype, a->dtype, CIP_OVERFLOW_ERROR, &cast, err));
    CIP_TRY(start(f, a, err));
    return write_rows(f, &cast, rows, nelem, err);
}

cip_status cip_append(cip_file *file, const char *path, const cip_dtype *dtype, const void *rows,
                      size_t nbytes, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    if (file == NULL || (rows == NULL && nbytes != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file and rows, found NULL");
    const cip_array *a = cip_find(file, path, &why);
    cip_status st = a != NULL ? cip_array_state(a, &why) : (cip_status)why.code;
    if (st == CIP_OK)
        st = append(file, a, dtype, rows, nbytes, &why);
    if (st != CIP_OK && a != NULL)
        cip_fail_in(&why, st, "%s", a->path);
    if (st != CIP_OK && err != NULL)
        *err = why;
    return st;
}

cip_status cip_sync(cip_file *file, cip_err *err)
{
    if (file == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file, found NULL");
    return file->appender == NULL ? CIP_OK : cip_commit_sync(file->appender, err);
}
