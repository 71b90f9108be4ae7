/* SPDX-License-Identifier: BSD-3-Clause
 * Which columns a new folder has. Of the document's: an array, or each field that is no record, at
 * any depth; several arrays are fields of records. Of the old programs': each array, or on demand
 * each field of the only one. Records come whole: the form says which of their bytes a column has.
 */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_write.h"
#include "format/one_array.h"
#include "space/make/chunk_move.h"
#include "tree/utf8.h"

/* --- names ------------------------------------------------------------------------------------ */

enum { MOST_NAME = 200 /* bytes */ };

static cip_status bad_name(const char *path, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "'%.80s' cannot be the name of a column", path);
}

static cip_status bad_field(const char *name, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "the field '%.80s' cannot be a column; table=no writes one array of records, "
                    "which bcolz does not open",
                    name);
}

/* What the old programs read as a folder beneath the table, and do not take for their own. */
static bool is_plain(const char *name)
{
    return name[0] != '\0' && name[0] != '_' && name[0] != '.' && strchr(name, '/') == NULL &&
           cip_utf8_is(name, strlen(name));
}

/* As a path has it, ~1 is "/" and ~0 is "~". */
cip_status cip_blz_column_name(cip_arena *a, const char *path, cip_blz_kind kind, char **out,
                               cip_err *err)
{
    char *to;
    if (path[0] == '\0' || strchr(path, '/') != NULL)
        return bad_name(path, err);
    CIP_TRY(cip_arena_copy(a, path, strlen(path), out, err));
    to = *out;
    for (const char *p = path; *p != '\0'; p++) {
        bool escape = p[0] == '~' && (p[1] == '0' || p[1] == '1');
        *to++ = (char)(!escape ? p[0] : p[1] == '0' ? '~' : '/');
        p += escape;
    }
    *to = '\0';
    if (kind != CIP_BLZ_DOCUMENT && (!is_plain(*out) || strlen(*out) > MOST_NAME))
        return bad_name(path, err);
    return CIP_OK;
}

/* --- columns ---------------------------------------------------------------------------------- */

typedef struct making {
    cip_blz_writer *w;
    const cip_spec_array *array;
    uint64_t nparts;
} making;

static cip_blz_new *new_column(making *m, const char *dir, const cip_dtype *d, uint64_t each)
{
    cip_blz_new *c = &m->w->column[m->w->ncolumn++];
    *c = (cip_blz_new){ .dir = dir,
                        .array = m->array,
                        .dtype = d,
                        .ndim = m->array->ndim,
                        .shape = m->array->shape,
                        .row = each };
    for (int32_t k = 1; k < c->ndim; k++)
        c->row *= (uint64_t)c->shape[k]; /* fits: the array does */
    c->nbytes = c->left = c->row * (uint64_t)m->array->shape[0];
    return c;
}

/* A column of the bytes that the piece has of each record; none where it has none. */
static cip_status new_part(making *m, const char *dir, const cip_dtype *d, const cip_blz_piece *p,
                           cip_blz_new **out, cip_err *err)
{
    cip_record_column *from;
    *out = NULL;
    CIP_TRY(CIP_ARENA_NEW(m->w->arena, &from, 1, err));
    CIP_TRY(cip_blz_make_parts(m->w->arena, p, &m->nparts, from, err));
    if (from->row == 0)
        return CIP_OK;
    *out = new_column(m, dir, d, from->row);
    (*out)->from = from;
    return CIP_OK;
}

static cip_status folder_of(making *m, const char *dir, const char *name, char **out, cip_err *err)
{
    cip_buf text = { .mem = &m->w->env->mem };
    cip_status st = cip_buf_addf(&text, err, "%s", dir);
    if (st == CIP_OK)
        st = cip_blz_folder_name(name, &text, err);
    if (st == CIP_OK)
        st = cip_buf_addf(&text, err, "/");
    if (st == CIP_OK)
        st = cip_arena_copy(m->w->arena, text.ptr, text.len, out, err);
    cip_buf_clear(&text);
    return st;
}

/* The document's, of a record's fields. */
static cip_status add_fields(making *m, const char *dir, const cip_dtype *d, const cip_blz_piece *p,
                             cip_err *err)
{
    for (size_t i = 0; i < d->nfield; i++) { /* records nest at most 32 deep */
        const cip_field *f = &d->field[i];
        cip_blz_piece inner = *p;
        cip_blz_new *c;
        char *own;
        CIP_TRY(folder_of(m, dir, f->name, &own, err));
        CIP_TRY(cip_blz_enter_field(f, &inner, err));
        CIP_TRY(f->dtype->kind == CIP_RECORD ? add_fields(m, own, f->dtype, &inner, err)
                                             : new_part(m, own, f->dtype, &inner, &c, err));
    }
    return CIP_OK;
}

/* A table of the only array's fields. */
static cip_status add_table(making *m, const cip_dtype *d, cip_err *err)
{
    for (size_t i = 0; i < d->nfield; i++) {
        const cip_field *f = &d->field[i];
        const int32_t ndim = m->array->ndim + f->ndim;
        const cip_blz_piece p = { .off = f->offset, .len = cip_field_nbytes(f) };
        cip_blz_new *c;
        int64_t *shape;
        char *dir;
        if (!is_plain(f->name) || strlen(f->name) > MOST_NAME || ndim > CIP_MAX_NDIM)
            return bad_field(f->name, err);
        CIP_TRY(cip_arena_printf(m->w->arena, &dir, err, "%s/", f->name));
        CIP_TRY(new_part(m, dir, f->dtype, &p, &c, err));
        if (c == NULL)
            return bad_field(f->name, err);
        CIP_TRY(CIP_ARENA_NEW(m->w->arena, &shape, (size_t)ndim, err));
        memcpy(shape, m->array->shape, (size_t)m->array->ndim * sizeof *shape);
        for (int32_t k = 0; k < f->ndim; k++)
            shape[m->array->ndim + k] = f->shape[k];
        c->ndim = ndim;
        c->shape = shape;
        c->name = f->name;
    }
    return CIP_OK;
}

static cip_status add_array(making *m, const cip_dtype *d, cip_err *err)
{
    cip_blz_writer *w = m->w;
    const cip_blz_piece all = { .len = d->itemsize };
    char *name = NULL, *dir = NULL;
    if (w->named)
        CIP_TRY(cip_blz_column_name(w->arena, m->array->path, w->kind, &name, err));
    if (w->named && w->kind == CIP_BLZ_DOCUMENT)
        CIP_TRY(folder_of(m, "", name, &dir, err));
    else if (w->named)
        CIP_TRY(cip_arena_printf(w->arena, &dir, err, "%s/", name));
    const char *at = w->named ? dir : "";
    if (d->kind == CIP_RECORD && w->kind == CIP_BLZ_DOCUMENT)
        return add_fields(m, at, d, &all, err);
    if (d->kind == CIP_RECORD && w->table && !w->named)
        return add_table(m, d, err);
    new_column(m, at, d, d->itemsize)->name = name;
    return CIP_OK;
}

/* --- rows of a chunk -------------------------------------------------------------------------- */

/* Of the source's chunks, if they can be taken as they are; or 0. */
static int64_t rows_taken(const cip_blz_new *c)
{
    const cip_form_step step = { .codec = &cip_codec_blosc, .args = &c->blosc };
    const cip_array *source = c->takes ? c->array->source : NULL;
    const uint64_t n = source != NULL ? cip_chunk_nbytes_taken(source, &step) : 0;
    return c->row != 0 && n % c->row == 0 ? (int64_t)(n / c->row) : 0;
}

/* The old programs have a length for each column, the document one for all. */
static cip_status choose_chunks(cip_blz_writer *w, cip_err *err)
{
    uint64_t row = 0, widest = 0;
    const bool all = w->kind == CIP_BLZ_DOCUMENT;
    for (size_t i = 0; i < w->ncolumn; i++) {
        row += w->column[i].row; /* fits: all arrays do */
        widest = cip_max_u64(widest, w->column[i].row);
    }
    for (size_t i = 0; i < w->ncolumn; i++) {
        cip_blz_new *c = &w->column[i];
        const int64_t rows = c->array->shape[0];
        if (w->like != NULL)
            c->blosc = w->like->blosc;
        else
            cip_blz_usual_blosc(w->kind, &c->blosc);
        CIP_TRY(
            cip_blz_choose_blosc(w->spec, c->array, w->kind, c->dtype, &c->blosc, &c->takes, err));
        c->takes = c->takes && c->from == NULL;
        if (w->like != NULL)
            c->chunklen = w->like->chunklen;
        else
            c->chunklen = !all || w->ncolumn == 1 ? rows_taken(c) : 0;
        CIP_TRY(cip_blz_choose_chunklen(w->spec, all ? NULL : c->array, rows, all ? row : c->row,
                                        &c->chunklen, err));
    }
    const uint64_t rows = w->ncolumn != 0 ? (uint64_t)w->column[0].array->shape[0] : 0;
    const uint64_t len = w->ncolumn != 0 ? (uint64_t)w->column[0].chunklen : 1;
    if (w->like != NULL) {
        w->super = w->like->super;
        return CIP_OK;
    }
    return cip_blz_choose_super(w->spec, w->arena, w->kind, cip_div_up(rows, len), len * widest,
                                &w->super, err);
}

/* --- forms ------------------------------------------------------------------------------------ */

static void form_of(const cip_blz_writer *w, const cip_blz_new *c, const cip_dtype *d,
                    cip_array_form *form)
{
    *form = (cip_array_form){ .dtype = d,
                              .chunk_nbytes = (uint64_t)c->chunklen * cip_max_u64(1, c->row),
                              .step[0] = { .codec = &cip_codec_blosc, .args = &c->blosc },
                              .nstep = 1,
                              .codec_env = { .typesize = c->blosc.typesize },
                              .sum_id = (uint8_t)w->super.sum,
                              .caps = c->takes ? CIP_FORM_TAKES : 0 };
}

/* Records whose n columns begin with number `first`. */
static cip_status form_of_columns(cip_blz_writer *w, size_t first, size_t n, cip_array_form *form,
                                  cip_err *err)
{
    cip_form_column *column;
    CIP_TRY(CIP_ARENA_NEW(w->arena, &column, n, err));
    for (size_t i = 0; i < n; i++) {
        cip_blz_new *c = &w->column[first + i];
        const cip_dtype *rows;
        CIP_TRY(cip_dtype_opaque(w->arena, c->from->row, NULL, &rows, err));
        form_of(w, c, rows, &c->form);
        column[i] = (cip_form_column){ CIP_BLZ_MAX_COLUMNS + first + i, &c->form, c->from->part,
                                       c->from->npart };
    }
    form->column = column;
    form->ncolumn = n;
    return CIP_OK;
}

/* --- all -------------------------------------------------------------------------------------- */

/* What the fields of the document's records are, of several arrays. */
static cip_status whole_type(cip_blz_writer *w, const cip_dtype *const *stored, cip_err *err)
{
    const size_t n = w->spec->narray;
    cip_field *f;
    w->dtype = stored[0];
    w->ndim = w->spec->array[0].ndim;
    if (n == 1 || w->kind != CIP_BLZ_DOCUMENT)
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(w->arena, &f, n, err));
    for (size_t i = 0; i < n; i++) {
        const cip_spec_array *a = &w->spec->array[i];
        char *name;
        CIP_TRY(cip_blz_column_name(w->arena, a->path, w->kind, &name, err));
        f[i] = (cip_field){
            .name = name, .dtype = stored[i], .ndim = a->ndim - 1, .shape = a->shape + 1
        };
    }
    w->ndim = 1;
    return cip_dtype_record(w->arena, n, f, true, 0, &w->dtype, err);
}

/* As many as add_array makes at most; at least one. */
static size_t columns_of(const cip_blz_writer *w, const cip_dtype *d)
{
    if (d->kind != CIP_RECORD)
        return 1;
    if (w->kind == CIP_BLZ_DOCUMENT)
        return (size_t)cip_max_u64(1, cip_blz_count_columns(d));
    return w->table && !w->named ? (size_t)cip_max_u64(1, d->nfield) : 1;
}

static cip_status stored_types(cip_blz_writer *w, const cip_dtype **stored, size_t *most,
                               cip_err *err)
{
    *most = 0;
    for (size_t i = 0; i < w->spec->narray; i++) {
        const cip_spec_array *a = &w->spec->array[i];
        uint64_t nbytes;
        CIP_TRY(cip_numpy_stored(w->arena, w->spec, a->dtype, &stored[i], err));
        CIP_TRY(cip_spec_array_nbytes(a, stored[i], &nbytes, err));
        nbytes = stored[i]->itemsize;
        for (int32_t k = 1; k < a->ndim; k++) /* of an array of no rows it may be anything */
            if (cip_mul_overflow(nbytes, (uint64_t)a->shape[k], &nbytes) || nbytes > INT64_MAX)
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "rows of over 2^63 bytes");
        if (stored[i]->itemsize == 0 || a->ndim == 0)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected an array with axes, of elements of at least one byte");
        *most += columns_of(w, stored[i]);
    }
    if (*most > CIP_BLZ_MAX_COLUMNS)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected at most %d columns, found %zu",
                        CIP_BLZ_MAX_COLUMNS, *most);
    return CIP_OK;
}

cip_status cip_blz_make_columns(cip_blz_writer *w, cip_array_form *form, cip_err *err)
{
    const size_t n = w->spec->narray;
    const cip_dtype **stored;
    size_t most;
    char *text;
    CIP_TRY(CIP_ARENA_NEW(w->arena, &stored, n, err));
    CIP_TRY(stored_types(w, stored, &most, err));
    CIP_TRY(CIP_ARENA_NEW(w->arena, &w->column, most, err));
    CIP_TRY(CIP_ARENA_NEW(w->arena, &w->first, n + 1, err));
    for (size_t i = 0; i < n; i++) {
        making m = { .w = w, .array = &w->spec->array[i] };
        w->first[i] = w->ncolumn;
        CIP_TRY(add_array(&m, stored[i], err));
    }
    w->first[n] = w->ncolumn;
    CIP_TRY(whole_type(w, stored, err));
    /* Records that could not be read again are refused before anything is written. */
    if (w->kind == CIP_BLZ_DOCUMENT && w->dtype->kind == CIP_RECORD)
        CIP_TRY(cip_dtype_numpy(w->arena, w->dtype, &text, err));
    CIP_TRY(choose_chunks(w, err));
    for (size_t i = 0; i < n; i++) {
        const size_t first = w->first[i];
        form[i].dtype = stored[i];
        if (w->column[first].from == NULL) {
            form_of(w, &w->column[first], stored[i], &form[i]);
            w->column[first].form = form[i];
        } else {
            CIP_TRY(form_of_columns(w, first, w->first[i + 1] - first, &form[i], err));
        }
    }
    return CIP_OK;
}
