/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that an update adds. Each is written like one of a new file, by the same writer and store:
 * of a folder into new files in it; else into the temporary file of the update, whose store names
 * in the tree what lies there. */
#include "core/writing/edit_impl.h"

#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "core/writing/writer.h"
#include "io/revision_out.h"

#define NAME "array" /* of an array that has a writer of its own */

/* An array that comes, or all of them. */
struct cip_addition {
    struct cip_addition *next;
    cip_coming coming;
    const char *place; /* of what came, in one spelling */
    cip_writer *writer;
    bool done; /* it is the update's; or that failed */
};

/* --- new files of a folder -------------------------------------------------------------------- */

static cip_status new_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    cip_edit *e = user;
    cip_revision *as;
    cip_revision_out *p;
    CIP_TRY(CIP_ARENA_NEW(&e->arena, &p, 1, err));
    CIP_TRY(cip_revision_make(&e->rev, name, &as, err));
    cip_revision_out_begin(p, e->temporary, as);
    *out = &p->out;
    return CIP_OK;
}

cip_out *cip_edit_out(cip_edit *e)
{
    e->out = (cip_out){ .member = new_member, .member_user = e };
    return (e->ops->caps & CIP_STORE_FOLDER) != 0 ? &e->out : NULL;
}

/* --- beginning -------------------------------------------------------------------------------- */

/* Whether each comes by a state of its own, which knows it by no name; else all by the update's. */
static bool is_alone(const cip_edit *e)
{
    return (e->ops->caps & CIP_STORE_TREE) != 0;
}

static cip_status new_writer(cip_edit *e, struct cip_addition *x, cip_err *err)
{
    const cip_write_options o = { .size = sizeof o,
                                  .format = e->file->format->name,
                                  .codec = e->o.codec,
                                  .checksum = e->o.checksum,
                                  .tree_slack = -1,
                                  .threads = 1,
                                  .limits = &e->file->env.limits,
                                  .allocator = &e->file->env.mem.from,
                                  .accept_loss = e->o.accept_loss,
                                  .on_note = e->o.on_note,
                                  .user = e->o.user,
                                  .format_options = e->o.format_options };
    CIP_TRY(cip_writer_into(&x->coming, &o, &x->writer, err));
    x->writer->env.pool = e->file->env.pool;
    return CIP_OK;
}

static cip_status new_addition(cip_edit *e, const char *path, const cip_array_options *own,
                               struct cip_addition **out, cip_err *err)
{
    struct cip_addition *x;
    char *copy;
    CIP_TRY(CIP_ARENA_NEW(&e->arena, &x, 1, err));
    CIP_TRY(cip_arena_copy(&e->arena, path, strlen(path), &copy, err));
    x->coming = (cip_coming){ .update = e->state, .path = copy, .replace = own->replace != 0 };
    x->coming.inlined = own->storage != NULL && strcmp(own->storage, "inline") == 0;
    x->next = e->added;
    e->added = x;
    *out = x;
    return new_writer(e, x, err);
}

/* *own: the options as they are for the writer. */
static cip_status begin(cip_edit *e, const char *path, const cip_array_options *opts,
                        cip_array_options *own, struct cip_addition **out, cip_err *err)
{
    CIP_TRY(cip_edit_check(e, (e->ops->caps & CIP_STORE_ADDS) != 0, "adding an array", err));
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    CIP_TRY(CIP_SIZED_TAKE(cip_array_options, opts, own, err));
    CIP_TRY(cip_sized_value("cip_array_options.replace", own->replace, 1, err));
    if (own->storage != NULL && strcmp(own->storage, "external") == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "an array that is added cannot lie in another file");
    *out = e->added;
    if (is_alone(e) || e->added == NULL)
        CIP_TRY(new_addition(e, path, own, out, err));
    own->replace = 0;
    return CIP_OK;
}

static cip_status note_it(cip_edit *e, struct cip_addition *x, const char *path, cip_err *err)
{
    CIP_TRY(cip_edit_note(e, path, CIP_EDIT_PUT, err));
    x->place = e->places->path;
    return CIP_OK;
}

/* The array's name in what the writer makes. */
static const char *name_in(const cip_edit *e, const char *path)
{
    return is_alone(e) ? NAME : path;
}

/* What is stored of it becomes the file's. */
static cip_status complete(cip_edit *e, struct cip_addition *x, cip_err *err)
{
    if (!is_alone(e))
        return CIP_OK;
    x->done = true; /* or failed, which is not tried again */
    return cip_writer_settle(x->writer, err);
}

void cip_edit_added_drop(cip_edit *e, struct cip_addition *was)
{
    while (e->added != was && is_alone(e)) {
        cip_writer_abort(e->added->writer);
        e->added = e->added->next;
    }
}

size_t cip_edit_added_count(const cip_edit *e)
{
    return !is_alone(e) && e->added != NULL ? e->added->writer->nentry : 0;
}

/* An array that could not be added leaves nothing of its writer; and nothing among the others,
 * where they share one, unless that is torn. */
static void drop(cip_edit *e, struct cip_addition *was)
{
    cip_edit_added_drop(e, was);
    if (!is_alone(e) && e->added != NULL)
        e->halfway = cip_writer_forget_failure(e->added->writer, NULL) != CIP_OK;
}

/* In the words of the caller, who knows nothing of temporary files. */
static cip_status name_it(cip_status st, const char *path, cip_err *err)
{
    if (err != NULL && strcmp(err->part, NAME) == 0)
        err->part[0] = '\0';
    return cip_fail_in(err, st, "%s", path != NULL ? path : "");
}

static cip_status put(cip_edit *e, const char *path, const cip_dtype *dtype, int ndim,
                      const int64_t *shape, const void *data, const cip_array_options *opts,
                      cip_err *err)
{
    struct cip_addition *x;
    cip_array_options own;
    struct cip_addition *const was = e->added;
    cip_edit_place *const before = e->places;
    cip_status st;
    CIP_GO(begin(e, path, opts, &own, &x, err));
    CIP_GO(note_it(e, x, path, err));
    CIP_GO(cip_put(x->writer, name_in(e, path), dtype, ndim, shape, data, &own, err));
    CIP_GO(complete(e, x, err));
    return CIP_OK;
done:
    drop(e, was);
    return cip_edit_did(e, before, st);
}

cip_status cip_edit_put(cip_edit *e, const char *path, const cip_dtype *dtype, int ndim,
                        const int64_t *shape, const void *data, const cip_array_options *opts,
                        cip_err *err)
{
    CIP_EDIT_CHANGE_BY(e, dtype, err,
                       name_it(put(e, path, dtype, ndim, shape, data, opts, why), path, why));
}

static cip_status put_array(cip_edit *e, const char *path, const cip_array *from,
                            const cip_read_args *args, const cip_array_options *opts, cip_err *err)
{
    struct cip_addition *x;
    cip_array_options own;
    struct cip_addition *const was = e->added;
    cip_edit_place *const before = e->places;
    cip_status st;
    CIP_GO(begin(e, path, opts, &own, &x, err));
    CIP_GO(note_it(e, x, path, err));
    CIP_GO(cip_put_array(x->writer, name_in(e, path), from, args, &own, err));
    CIP_GO(complete(e, x, err));
    return CIP_OK;
done:
    drop(e, was);
    return cip_edit_did(e, before, st);
}

cip_status cip_edit_put_array(cip_edit *e, const char *path, const cip_array *from,
                              const cip_read_args *args, const cip_array_options *opts,
                              cip_err *err)
{
    CIP_EDIT_CHANGE_BY(e, from, err, name_it(put_array(e, path, from, args, opts, why), path, why));
}

static cip_status declare(cip_edit *e, const char *path, const cip_dtype *dtype, int ndim,
                          const int64_t *shape, const cip_array_options *opts, cip_slab **slab,
                          cip_err *err)
{
    struct cip_addition *x;
    cip_array_options own;
    struct cip_addition *const was = e->added;
    cip_edit_place *const before = e->places;
    cip_status st;
    CIP_GO(begin(e, path, opts, &own, &x, err));
    x->coming.replace = false; /* it comes at the end, when something else may be there */
    CIP_GO(note_it(e, x, path, err));
    CIP_GO(cip_declare(x->writer, name_in(e, path), dtype, ndim, shape, &own, slab, err));
    return CIP_OK;
done:
    drop(e, was);
    return cip_edit_did(e, before, st);
}

cip_status cip_edit_declare(cip_edit *e, const char *path, const cip_dtype *dtype, int ndim,
                            const int64_t *shape, const cip_array_options *opts, cip_slab **slab,
                            cip_err *err)
{
    CIP_TRY(cip_arg_given(slab, "a place for the slab", cip_err_enter(err)));
    *slab = NULL;
    CIP_EDIT_CHANGE_BY(e, dtype, err,
                       name_it(declare(e, path, dtype, ndim, shape, opts, slab, why), path, why));
}

cip_status cip_edit_added_forget(cip_edit *e, cip_err *err)
{
    for (struct cip_addition *x = e->added; x != NULL; x = x->next)
        if (!x->done)
            CIP_TRY(cip_writer_forget_failure(x->writer, err));
    return CIP_OK;
}

/* Slabs are full now; the first declared comes first. */
cip_status cip_edit_complete_slabs(cip_edit *e, cip_err *err)
{
    for (;;) {
        struct cip_addition *first = NULL;
        for (struct cip_addition *x = e->added; x != NULL; x = x->next)
            first = !x->done ? x : first;
        if (first == NULL)
            return CIP_OK;
        if (!is_alone(e))
            return cip_writer_settle(first->writer, err);
        CIP_TRY(name_it(complete(e, first, err), first->coming.path, err));
    }
}

const cip_array *cip_edit_added_array(const cip_edit *e, const cip_edit_place *at)
{
    const struct cip_addition *x = e->added;
    while (x != NULL && (x->coming.array == NULL || x->place != at->path))
        x = x->next;
    return x != NULL ? x->coming.array : NULL;
}

void cip_edit_added_end(cip_edit *e)
{
    for (struct cip_addition *x = e->added; x != NULL; x = x->next)
        cip_writer_abort(x->writer);
}
