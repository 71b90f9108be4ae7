/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that an update adds. Each is written like one of a new file, by the same writer and store:
 * of a folder into new files in it; else into the temporary file of the update, whose store names
 * in the tree what lies there. */
#include "core/writing/edit_impl.h"

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
static bool has_own_state(const cip_edit *e)
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

/* A call that adds an array, from its beginning to its end. */
typedef struct adding {
    struct cip_addition *was, *x;
    cip_edit_place *before;
    cip_writer *w;
    const char *name;      /* of the array, for the writer */
    cip_array_options own; /* the options, for the writer */
} adding;

static cip_status begin(cip_edit *e, const char *path, const cip_array_options *opts, adding *a,
                        cip_err *err)
{
    *a = (adding){ .was = e->added, .x = e->added, .before = e->places };
    CIP_TRY(cip_edit_check(e, (e->ops->caps & CIP_STORE_ADDS) != 0, "adding an array", err));
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    CIP_TRY(CIP_SIZED_TAKE(cip_array_options, opts, &a->own, err));
    CIP_TRY(cip_sized_value("cip_array_options.replace", a->own.replace, 1, err));
    if (a->own.storage != NULL && strcmp(a->own.storage, "external") == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "an array that is added cannot lie in another file");
    if (has_own_state(e) || e->added == NULL)
        CIP_TRY(new_addition(e, path, &a->own, &a->x, err));
    a->own.replace = 0;
    a->w = a->x->writer;
    a->name = has_own_state(e) ? NAME : path;
    CIP_TRY(cip_edit_note(e, path, CIP_EDIT_PUT, err));
    a->x->place = e->places->path;
    return CIP_OK;
}

/* What is stored of it becomes the file's. */
static cip_status complete(cip_edit *e, struct cip_addition *x, cip_err *err)
{
    if (!has_own_state(e))
        return CIP_OK;
    x->done = true; /* or failed, which is not tried again */
    return cip_writer_settle(x->writer, err);
}

void cip_edit_added_drop(cip_edit *e, struct cip_addition *was)
{
    while (e->added != was && has_own_state(e)) {
        cip_writer_abort(e->added->writer);
        e->added = e->added->next;
    }
}

size_t cip_edit_added_count(const cip_edit *e)
{
    return !has_own_state(e) && e->added != NULL ? e->added->writer->nentry : 0;
}

/* An array that could not be added leaves nothing of its writer; and nothing among the others,
 * where they share one, unless that is torn. */
static cip_status ended(cip_edit *e, const adding *a, cip_status st)
{
    if (st == CIP_OK)
        return CIP_OK;
    cip_edit_added_drop(e, a->was);
    if (!has_own_state(e) && e->added != NULL)
        e->halfway = cip_writer_forget_failure(e->added->writer, NULL) != CIP_OK;
    return cip_edit_did(e, a->before, st);
}

/* In the words of the caller, who knows nothing of that name. */
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
    adding a;
    cip_status st = begin(e, path, opts, &a, err);
    if (st == CIP_OK)
        st = cip_put(a.w, a.name, dtype, ndim, shape, data, &a.own, err);
    if (st == CIP_OK)
        st = complete(e, a.x, err);
    return ended(e, &a, st);
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
    adding a;
    cip_status st = begin(e, path, opts, &a, err);
    if (st == CIP_OK)
        st = cip_put_array(a.w, a.name, from, args, &a.own, err);
    if (st == CIP_OK)
        st = complete(e, a.x, err);
    return ended(e, &a, st);
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
    adding a;
    cip_status st = begin(e, path, opts, &a, err);
    if (st == CIP_OK)
        st = cip_declare(a.w, a.name, dtype, ndim, shape, &a.own, slab, err);
    if (st == CIP_OK) /* it comes at the end, when something else may be there */
        a.x->coming.replace = false;
    return ended(e, &a, st);
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
        if (!has_own_state(e))
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
