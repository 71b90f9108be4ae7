/* SPDX-License-Identifier: BSD-3-Clause
 * The public calls of changes, each for a new file or for one that is there. */
#include "core/writing/edit_impl.h"
#include "core/writing/given.h"
#include "core/writing/writer.h"

static cip_writer *writer_of(cip_change *c)
{
    return (cip_writer *)(void *)c;
}

/* Of a new file: NULL as long as it is written as it comes. */
static cip_edit *edit_of(cip_change *c)
{
    return c->is_new ? writer_of(c)->draft : (cip_edit *)(void *)c;
}

/* As long as a new file is written as it comes; else NULL. */
static cip_writer *new_file(cip_change *c)
{
    return c != NULL && edit_of(c) == NULL ? writer_of(c) : NULL;
}

/* What only a file that is there can be asked for: a new one is from here on what was written. */
static cip_status edit_for(cip_change *c, bool changes, cip_edit **e, cip_err *err)
{
    if (c == NULL)
        return cip_fail_null(err, "a change");
    *e = edit_of(c);
    if (*e == NULL)
        CIP_TRY(cip_writer_draft(writer_of(c), changes, e, err));
    return cip_owned((*e)->owner, err);
}

/* *err becomes what the call fills. */
static cip_status look(cip_change *c, cip_edit **e, cip_err **err)
{
    CIP_TRY(edit_for(c, false, e, *err));
    *err = cip_err_enter(*err);
    return CIP_OK;
}

/* `call` changes the update `e`, with `why` as its error. What NULL was given for, the change or
 * `arg`, passes on what is in err. */
#define CHANGE_BY(c, arg, err, call)                                                               \
    do {                                                                                           \
        cip_err found_ = cip_err_of((arg), (err)), *why = &found_;                                 \
        cip_edit *e;                                                                               \
        CIP_TRY(edit_for((c), true, &e, (err)));                                                   \
        return cip_edit_leave(e, (call), why, (err));                                              \
    } while (0)
#define CHANGE(c, err, call) CHANGE_BY(c, c, err, call)

/* `call` adds to the new file `w`. */
#define WRITE_BY(w, arg, err, call)                                                                \
    do {                                                                                           \
        cip_err found_ = cip_err_of((arg), (err)), *why = &found_;                                 \
        CIP_TRY(cip_writer_enter((w), (err)));                                                     \
        return cip_writer_leave((w), (call), why, (err));                                          \
    } while (0)

/* --- the tree --------------------------------------------------------------------------------- */

static cip_status set(cip_change *c, const char *path, const cip_given *value, cip_err *err)
{
    cip_writer *w = new_file(c);
    if (w != NULL)
        WRITE_BY(w, cip_given_pointer(value), err, cip_writer_set(w, path, value, why));
    CHANGE_BY(c, cip_given_pointer(value), err, cip_edit_set(e, path, value, why));
}

cip_status cip_change_set_string(cip_change *c, const char *path, const char *text, cip_err *err)
{
    return set(c, path, CIP_GIVEN(STRING, .text = text), err);
}

cip_status cip_change_set_int(cip_change *c, const char *path, int64_t value, cip_err *err)
{
    return set(c, path, CIP_GIVEN(INT, .i = value), err);
}

cip_status cip_change_set_uint(cip_change *c, const char *path, uint64_t value, cip_err *err)
{
    return set(c, path, CIP_GIVEN(UINT, .u = value), err);
}

cip_status cip_change_set_double(cip_change *c, const char *path, double value, cip_err *err)
{
    return set(c, path, CIP_GIVEN(DOUBLE, .d = value), err);
}

cip_status cip_change_set_bool(cip_change *c, const char *path, bool value, cip_err *err)
{
    return set(c, path, CIP_GIVEN(BOOL, .truth = value), err);
}

cip_status cip_change_set_null(cip_change *c, const char *path, cip_err *err)
{
    return set(c, path, CIP_GIVEN(NULL, .node = NULL), err);
}

cip_status cip_change_set_yaml(cip_change *c, const char *path, const char *text, cip_err *err)
{
    return set(c, path, CIP_GIVEN(YAML, .text = text), err);
}

cip_status cip_change_set_typed(cip_change *c, const char *path, const char *text, cip_err *err)
{
    return set(c, path, CIP_GIVEN(TYPED, .text = text), err);
}

cip_status cip_change_set_node(cip_change *c, const char *path, const cip_file *from,
                               const cip_node *node, cip_err *err)
{
    return set(c, path, CIP_GIVEN(NODE, .file = from, .node = node), err);
}

cip_status cip_change_remove(cip_change *c, const char *path, cip_err *err)
{
    CHANGE(c, err, cip_edit_remove(e, path, why));
}

cip_status cip_change_move(cip_change *c, const char *from, const char *to, bool replace,
                           cip_err *err)
{
    CHANGE(c, err, cip_edit_move(e, from, to, replace, why));
}

cip_status cip_change_text(cip_change *c, const char **text, size_t *nbytes, cip_err *err)
{
    cip_edit *e;
    CIP_TRY(look(c, &e, &err));
    return cip_edit_text(e, text, nbytes, err);
}

cip_status cip_change_set_text(cip_change *c, const char *text, size_t nbytes, cip_err *err)
{
    CHANGE(c, err, cip_edit_set_text(e, text, nbytes, why));
}

/* --- arrays that come ------------------------------------------------------------------------- */

static cip_status put(cip_change *c, const cip_new_array *a, cip_err *err)
{
    cip_writer *w = new_file(c);
    if (w != NULL)
        WRITE_BY(w, cip_new_array_given(a), err, cip_writer_put(w, a, why));
    CHANGE_BY(c, cip_new_array_given(a), err, cip_edit_put(e, a, why));
}

cip_status cip_change_put(cip_change *c, const char *path, const cip_dtype *dtype, int ndim,
                          const int64_t *shape, const void *data, const cip_array_options *opts,
                          cip_err *err)
{
    const cip_new_array a = { path, dtype, ndim, shape, opts, CIP_NEW_OF_MEMORY, .data = data };
    return put(c, &a, err);
}

cip_status cip_change_put_filled(cip_change *c, const char *path, const cip_dtype *dtype, int ndim,
                                 const int64_t *shape, const void *value,
                                 const cip_array_options *opts, cip_err *err)
{
    const cip_new_array a = { path, dtype, ndim, shape, opts, CIP_NEW_OF_VALUE, .data = value };
    return put(c, &a, err);
}

cip_status cip_change_put_array(cip_change *c, const char *path, const cip_array *from,
                                const cip_read_args *args, const cip_array_options *opts,
                                cip_err *err)
{
    const cip_new_array a = {
        .path = path, .opts = opts, .from = CIP_NEW_OF_ARRAY, .array = from, .args = args
    };
    return put(c, &a, err);
}

cip_status cip_change_put_view(cip_change *c, const char *path, const char *of,
                               const char *selection, cip_err *err)
{
    cip_writer *w = new_file(c);
    if (w != NULL)
        WRITE_BY(w, w, err, cip_writer_put_view(w, path, of, selection, why));
    CHANGE(c, err,
           cip_fail_in(why,
                       cip_fail(why, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "views of another array can only be added to new files"),
                       "%s", path != NULL ? path : ""));
}

cip_status cip_change_declare(cip_change *c, const char *path, const cip_dtype *dtype, int ndim,
                              const int64_t *shape, const cip_array_options *opts, cip_slab **slab,
                              cip_err *err)
{
    const cip_new_array a = { path, dtype, ndim, shape, opts, CIP_NEW_OF_BOXES, .slab = slab };
    CIP_TRY(cip_arg_given(slab, "a pointer for the slab", cip_err_enter(err)));
    *slab = NULL;
    return put(c, &a, err);
}

/* --- elements, rows and shapes ---------------------------------------------------------------- */

cip_status cip_change_write(cip_change *c, const char *path, const char *selection,
                            const cip_dtype *dtype, const void *data, size_t nbytes, cip_err *err)
{
    const cip_elements from = { .dtype = dtype, .data = { data, nbytes } };
    CHANGE_BY(c, dtype, err, cip_edit_write(e, path, selection, &from, why));
}

cip_status cip_change_write_array(cip_change *c, const char *path, const char *selection,
                                  const cip_array *from, cip_err *err)
{
    const cip_elements all = { .of_array = true, .array = from };
    CHANGE_BY(c, from, err, cip_edit_write(e, path, selection, &all, why));
}

cip_status cip_change_append(cip_change *c, const char *path, const cip_dtype *dtype,
                             const void *data, size_t nbytes, cip_err *err)
{
    const cip_rows_at behind = { .end = true };
    const cip_elements rows = { .dtype = dtype, .data = { data, nbytes } };
    CHANGE_BY(c, dtype, err, cip_edit_insert(e, path, &behind, &rows, why));
}

cip_status cip_change_append_array(cip_change *c, const char *path, const cip_array *from,
                                   cip_err *err)
{
    const cip_rows_at behind = { .end = true };
    const cip_elements rows = { .of_array = true, .array = from };
    CHANGE_BY(c, from, err, cip_edit_insert(e, path, &behind, &rows, why));
}

cip_status cip_change_delete(cip_change *c, const char *path, int axis, int64_t start,
                             int64_t count, cip_err *err)
{
    const cip_rows_at at = { .axis = axis, .start = start };
    CHANGE(c, err, cip_edit_delete(e, path, &at, count, why));
}

cip_status cip_change_insert(cip_change *c, const char *path, int axis, int64_t start,
                             const cip_dtype *dtype, const void *data, size_t nbytes, cip_err *err)
{
    const cip_rows_at at = { .axis = axis, .start = start };
    const cip_elements rows = { .dtype = dtype, .data = { data, nbytes } };
    CHANGE_BY(c, dtype, err, cip_edit_insert(e, path, &at, &rows, why));
}

cip_status cip_change_insert_array(cip_change *c, const char *path, int axis, int64_t start,
                                   const cip_array *from, cip_err *err)
{
    const cip_rows_at at = { .axis = axis, .start = start };
    const cip_elements rows = { .of_array = true, .array = from };
    CHANGE_BY(c, from, err, cip_edit_insert(e, path, &at, &rows, why));
}

cip_status cip_change_resize(cip_change *c, const char *path, int ndim, const int64_t *shape,
                             cip_err *err)
{
    CHANGE(c, err, cip_edit_resize(e, path, ndim, shape, why));
}

cip_status cip_chunk_write(cip_change *c, const char *path, uint64_t chunk_index, bool stored,
                           const void *bytes, size_t nbytes, cip_err *err)
{
    const cip_bytes b = { bytes, nbytes };
    CHANGE(c, err, cip_edit_put_chunk(e, path, chunk_index, stored, b, why));
}

cip_status cip_change_freeze(cip_change *c, cip_err *err)
{
    CHANGE(c, err, cip_edit_freeze(e, why));
}

cip_status cip_change_defrag(cip_change *c, cip_finding_fn *fn, void *user, cip_err *err)
{
    CHANGE(c, err, cip_edit_defrag(e, fn, user, why));
}

/* --- what it has come to ---------------------------------------------------------------------- */

cip_status cip_change_array(cip_change *c, const char *path, const cip_array **array, cip_err *err)
{
    cip_edit *e;
    CIP_TRY(cip_arg_given(array, "a pointer for the array", cip_err_enter(err)));
    *array = NULL;
    CIP_TRY(look(c, &e, &err));
    return cip_edit_field(e, path, NULL, array, err);
}

cip_status cip_change_field(cip_change *c, const char *path, const cip_array **array,
                            const char **field, cip_err *err)
{
    cip_edit *e;
    CIP_TRY(cip_arg_given(array, "a place for the array", cip_err_enter(err)));
    *array = NULL;
    CIP_TRY(cip_arg_given(field, "a place for the field", cip_err_enter(err)));
    *field = "";
    CIP_TRY(look(c, &e, &err));
    return cip_edit_field(e, path, field, array, err);
}

const cip_file *cip_change_base(cip_change *c)
{
    cip_edit *e = c != NULL ? edit_of(c) : NULL;
    return e != NULL ? e->file : NULL;
}

const cip_file *cip_change_file(cip_change *c, cip_err *err)
{
    const cip_file *file = NULL;
    cip_edit *e;
    return look(c, &e, &err) == CIP_OK && cip_edit_file(e, &file, err) == CIP_OK ? file : NULL;
}

cip_status cip_change_tree(cip_change *c, const cip_node **root, cip_err *err)
{
    cip_edit *e;
    CIP_TRY(look(c, &e, &err));
    return cip_edit_tree(e, root, err);
}

cip_status cip_change_range(cip_change *c, const char *path, const char *selection, int *axis,
                            int64_t *start, int64_t *count, cip_err *err)
{
    cip_edit *e;
    CIP_TRY(look(c, &e, &err));
    return cip_edit_range(e, path, selection, axis, start, count, err);
}

cip_status cip_change_forget_failure(cip_change *c, cip_err *err)
{
    if (c == NULL)
        return cip_fail_null(err, "a change");
    cip_edit *e = edit_of(c);
    if (e == NULL)
        return cip_writer_forget(writer_of(c), err);
    CIP_TRY(cip_owned(e->owner, err));
    return cip_edit_forget(e, cip_err_enter(err));
}

cip_status cip_change_mark(cip_change *c, uint64_t *mark, cip_err *err)
{
    cip_edit *e;
    CIP_TRY(look(c, &e, &err));
    return cip_edit_mark(e, mark, err);
}

cip_status cip_change_undo(cip_change *c, uint64_t mark, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_edit *e;
    CIP_TRY(edit_for(c, false, &e, err));
    return cip_edit_leave(e, cip_edit_undo(e, mark, &why), &why, err);
}

cip_status cip_change_release(cip_change *c, uint64_t mark, cip_err *err)
{
    cip_edit *e;
    CIP_TRY(look(c, &e, &err));
    return cip_edit_release(e, mark, err);
}

/* --- the end ---------------------------------------------------------------------------------- */

cip_status cip_change_plan(cip_change *c, cip_write_fn *fn, void *user, cip_err *err)
{
    if (c == NULL)
        return cip_fail_null(err, "a change");
    if (c->is_new)
        return cip_fail(cip_err_enter(err), CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a change of an existing file, found one of a new file");
    cip_edit *e = edit_of(c);
    CIP_TRY(cip_owned(e->owner, err));
    return cip_edit_plan(e, fn, user, cip_err_enter(err));
}

cip_status cip_change_commit(cip_change **change, cip_err *err)
{
    cip_change *c = change != NULL ? *change : NULL;
    if (c == NULL)
        return cip_fail_null(err, "a change");
    cip_writer *w = c->is_new ? writer_of(c) : NULL;
    cip_edit *e = c->is_new ? NULL : edit_of(c);
    const cip_status st = c->is_new ? cip_writer_commit(&w, err) : cip_edit_commit(&e, err);
    *change = w != NULL || e != NULL ? c : NULL;
    return st;
}

void cip_change_abort(cip_change **change)
{
    cip_change *c = change != NULL ? *change : NULL;
    if (c == NULL)
        return;
    if (c->is_new)
        cip_writer_abort(writer_of(c));
    else
        cip_edit_abort(edit_of(c));
    *change = NULL;
}
