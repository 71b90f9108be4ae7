/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of records whose fields lie in columns: each column is an array in chunks, which changes
 * as any other does, and the records are seen through the columns as they are by then. */
#include "core/writing/edit_impl.h"

#include <string.h>

#include "base/num.h"
#include "space/read/reader.h"

/* Records as the update has them. */
typedef struct cip_edit_records {
    struct cip_edit_records *next;
    const cip_array *of;
    cip_array seen;
    size_t nchanged; /* columns that had changed when seen.space was made */
} cip_edit_records;

typedef struct writing {
    cip_edit *e;
    const cip_space *s; /* as the file has it */
} writing;

const cip_space *cip_edit_records_space(const cip_array *a)
{
    cip_space *s;
    bool is = a->space != NULL && cip_space_resolve(a->space, &s, NULL) == CIP_OK &&
              s->kind == CIP_SPACE_RECORDS;
    return is ? s : NULL;
}

bool cip_edit_in_columns(const cip_array *a)
{
    return cip_edit_records_space(a) != NULL;
}

/* --- as they are now -------------------------------------------------------------------------- */

static const cip_array *column_now(const cip_edit *e, const cip_array *a)
{
    cip_chunk_changes *c = cip_edit_changes_of(e, a);
    return c != NULL ? cip_chunk_changes_now(c, a) : a;
}

static size_t count_changed(const cip_edit *e, const cip_space *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->records.n; i++) {
        const cip_array *a = s->records.column[i].array;
        n += a != NULL && cip_edit_changes_of(e, a) != NULL;
    }
    return n;
}

static cip_status look(cip_edit *e, cip_edit_records *r, cip_err *err)
{
    const cip_space *s = cip_edit_records_space(r->of);
    const size_t n = count_changed(e, s);
    int64_t shape[CIP_MAX_NDIM];
    cip_record_column *c;
    if (n != r->nchanged) { /* in a space of the columns as they are now */
        CIP_TRY(CIP_ARENA_NEW(&e->arena, &c, s->records.n, err));
        for (size_t i = 0; i < s->records.n; i++) {
            c[i] = s->records.column[i];
            if (c[i].array != NULL && cip_edit_changes_of(e, c[i].array) != NULL)
                c[i].in = column_now(e, c[i].array)->space;
        }
        CIP_TRY(cip_space_new_records(e->file->layout, 0, s->records.itemsize, c, s->records.n,
                                      &r->seen.space, err));
    }
    r->nchanged = n;
    memcpy(shape, r->of->view.shape, sizeof shape);
    shape[0] = INT64_MAX;
    for (size_t i = 0; i < s->records.n; i++) { /* rows that all columns have: some changed */
        const cip_array *own = s->records.column[i].array;
        const int64_t rows = own != NULL ? column_now(e, own)->view.shape[0] : r->of->view.shape[0];
        shape[0] = rows < shape[0] ? rows : shape[0];
    }
    CIP_TRY(cip_view_c_order(r->of->view.ndim, shape, r->of->view.itemsize, &r->seen.view, err));
    r->seen.space->len = (uint64_t)shape[0] * (uint64_t)r->seen.view.stride[0];
    cip_space_renew(r->seen.space);
    return CIP_OK;
}

static cip_status see(cip_edit *e, const cip_array *a, const cip_array **out, cip_err *err)
{
    cip_edit_records *r = e->records;
    while (r != NULL && r->of != a)
        r = r->next;
    if (r == NULL) {
        CIP_TRY(CIP_ARENA_NEW(&e->arena, &r, 1, err));
        *r = (cip_edit_records){ .next = e->records, .of = a, .seen = *a };
        e->records = r;
    }
    *out = &r->seen;
    return look(e, r, err);
}

/* Where there is no memory for it, the update fails as a whole. */
const cip_array *cip_edit_records_now(cip_edit *e, const cip_array *a)
{
    const cip_space *s = cip_edit_records_space(a);
    const cip_array *out = a;
    cip_err why = CIP_ERR_INIT;
    cip_status st = CIP_OK;
    if (s != NULL && count_changed(e, s) != 0)
        st = see(e, a, &out, &why);
    if (st == CIP_OK)
        return out;
    e->halfway = true;
    cip_edit_leave(e, st, &why, NULL);
    return out;
}

const cip_array *cip_edit_records_of(const cip_edit *e, const cip_array *a)
{
    const cip_edit_records *r = e->records;
    while (r != NULL && r->of->path != a->path)
        r = r->next;
    return r != NULL ? r->of : NULL;
}

/* --- changes ---------------------------------------------------------------------------------- */

static cip_status column_of(const cip_edit *e, const cip_space *s, size_t i, const cip_array **out,
                            cip_err *err)
{
    *out = s->records.column[i].array;
    return *out != NULL
               ? cip_edit_no_slab(e, *out, err)
               : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                          "expected records whose fields can be changed, found other records");
}

static cip_status write_column(void *user, size_t i, const cip_nd *at, const cip_feed *feed,
                               cip_err *err)
{
    const writing *w = user;
    const cip_array *a;
    cip_change_form f;
    cip_chunk_changes *x;
    CIP_TRY(column_of(w->e, w->s, i, &a, err));
    CIP_TRY(cip_edit_form(w->e, a, CIP_CHANGE_ELEMENTS, NULL, &f, &x, err));
    return cip_chunk_changes_write(x, at, feed, err);
}

cip_status cip_edit_records_elements(cip_edit *e, const cip_array *a, const cip_nd *at,
                                     const cip_feed *feed, cip_err *err)
{
    writing w = { e, cip_edit_records_space(a) };
    const cip_records_to to = { write_column, &w };
    const cip_array *column;
    cip_nd one;
    const size_t in = cip_records_column(w.s, at, &one);
    for (size_t i = 0; i < w.s->records.n; i++) /* all are looked at first */
        if (i == in || in == w.s->records.n)
            CIP_TRY(column_of(e, w.s, i, &column, err));
    return cip_records_scatter(&e->file->env, w.s, at, feed, &to, err);
}

/* Another number of rows of all columns. */
typedef struct reshaping {
    cip_change_kind kind;
    int64_t was, rows;
    const cip_splice *splice; /* of CIP_CHANGE_SPLICE */
} reshaping;

/* Rows are those of the records before, or the columns would part. */
static cip_status reshape_column(cip_edit *e, const cip_array *a, const reshaping *r, bool look,
                                 cip_err *err)
{
    int64_t shape[CIP_MAX_NDIM];
    cip_change_form f;
    cip_chunk_changes *x;
    const cip_array *now = column_now(e, a);
    if (now->view.shape[0] != r->was)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected columns of %" PRId64 " rows, found '%.80s' with %" PRId64
                        "; resize that column first",
                        r->was, a->path, now->view.shape[0]);
    memcpy(shape, now->view.shape, sizeof shape);
    shape[0] = r->rows;
    CIP_TRY(cip_edit_form(e, a, r->kind, r->kind == CIP_CHANGE_ROWS ? NULL : shape, &f, &x, err));
    if (look)
        return CIP_OK;
    return r->splice != NULL ? cip_chunk_changes_splice(x, a, r->splice, err)
                             : cip_edit_resize_chunks(x, a, f.fill, shape, err);
}

static cip_status reshape_columns(cip_edit *e, const cip_array *a, const reshaping *r, cip_err *err)
{
    const cip_space *s = cip_edit_records_space(a);
    const cip_array *column;
    for (size_t k = 0; k < 2 * s->records.n; k++) { /* all are looked at first */
        CIP_TRY(column_of(e, s, k % s->records.n, &column, err));
        CIP_TRY(reshape_column(e, column, r, k < s->records.n, err));
    }
    return CIP_OK;
}

cip_status cip_edit_records_rows(cip_edit *e, const cip_array *a, cip_change_kind kind,
                                 const int64_t *shape, cip_err *err)
{
    const cip_space *s = cip_edit_records_space(a);
    const reshaping r = { .kind = kind,
                          .was = cip_edit_records_now(e, a)->view.shape[0],
                          .rows = shape[0] };
    if (s->records.n == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected records of at least one byte, found records of none");
    if (memcmp(shape + 1, a->view.shape + 1, (size_t)(a->view.ndim - 1) * sizeof *shape) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "only the first axis can change length if records are stored in columns");
    return reshape_columns(e, a, &r, err);
}

/* Those that come are zeros in each column, and are written as records then. */
cip_status cip_edit_records_splice(cip_edit *e, const cip_array *a, const cip_splice *s,
                                   cip_err *err)
{
    const cip_array *now = cip_edit_records_now(e, a);
    cip_splice empty = *s;
    reshaping r = { CIP_CHANGE_SPLICE, now->view.shape[0], 0, &empty };
    int64_t shape[CIP_MAX_NDIM];
    cip_nd room;
    if (s->axis != 0 || cip_edit_records_space(a)->records.n == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "only the first axis can change length if records are stored in columns");
    CIP_TRY(cip_splice_shape(s, now->view.ndim, now->view.shape, shape, err));
    CIP_TRY(cip_view_c_order(now->view.ndim, shape, now->view.itemsize, &room, err));
    r.rows = shape[0];
    empty.feed = NULL;
    CIP_TRY(reshape_columns(e, a, &r, err));
    room = cip_splice_room(s, &room);
    return s->added == 0 ? CIP_OK : cip_edit_records_elements(e, a, &room, s->feed, err);
}
