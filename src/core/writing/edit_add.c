/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that an update adds. Each is written like one of a new file, by the same writer and store:
 * of a folder into new files in it; else into a temporary file of the same format, whose store
 * takes over what is stored there as it is and names it in the tree. */
#include "core/writing/edit_impl.h"

#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "core/writing/writer.h"
#include "io/revision_out.h"

#define NAME "array" /* of the array in its temporary file */

/* An array that comes; or, with CIP_STORE_ADDS, all of them. */
struct cip_addition {
    struct cip_addition *next;
    char *path;
    const char *place;  /* of what came, in one spelling */
    bool replace;       /* what is there goes */
    cip_io *data;       /* the temporary file; NULL: all goes to the update's own store */
    cip_writer *writer; /* NULL: it is complete */
    cip_file *file;     /* it, open for the format, which reads it until the commit */
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

static bool adds(const cip_edit *e)
{
    return (e->ops->caps & CIP_STORE_ADDS) != 0;
}

static cip_status new_writer(cip_edit *e, struct cip_addition *x, const char *version, cip_err *err)
{
    const cip_write_options o = { .size = sizeof o,
                                  .format = e->file->format->name,
                                  .version = version,
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
    CIP_TRY(x->data != NULL ? cip_writer_over(x->data, &o, &x->writer, err)
                            : cip_writer_into(e->state, &o, &x->writer, err));
    x->writer->env.pool = e->file->env.pool;
    return CIP_OK;
}

static cip_status new_addition(cip_edit *e, const char *path, const char *version,
                               struct cip_addition **out, cip_err *err)
{
    struct cip_addition *x;
    CIP_TRY(CIP_ARENA_NEW(&e->arena, &x, 1, err));
    CIP_TRY(cip_arena_copy(&e->arena, path, strlen(path), &x->path, err));
    if (!adds(e))
        CIP_TRY(cip_temporary_new(&e->file->env, cip_io_path(e->file->io), &x->data, err));
    x->next = e->added;
    e->added = x;
    *out = x;
    return new_writer(e, x, version, err);
}

/* *own: the options as they are for what the addition writes. */
static cip_status begin(cip_edit *e, const char *path, const cip_array_options *opts,
                        cip_array_options *own, struct cip_addition **out, cip_err *err)
{
    const char *version = NULL;
    CIP_TRY(cip_edit_check(e, adds(e) || e->ops->take != NULL, "adding an array", err));
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    CIP_TRY(CIP_SIZED_TAKE(cip_array_options, opts, own, err));
    CIP_TRY(cip_sized_value("cip_array_options.replace", own->replace, 1, err));
    const bool replace = own->replace != 0;
    own->replace = 0;
    if (own->storage != NULL && strcmp(own->storage, "external") == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "an array that is added cannot lie in another file");
    const bool inlined = own->storage != NULL && strcmp(own->storage, "inline") == 0;
    if (!adds(e))
        CIP_TRY(e->ops->may_take(e->state, path, replace, inlined, &version, err));
    *out = e->added;
    if (adds(e) && e->added != NULL)
        return CIP_OK;
    CIP_TRY(new_addition(e, path, version, out, err));
    (*out)->replace = replace;
    return CIP_OK;
}

static cip_status note_it(cip_edit *e, struct cip_addition *x, const char *path, cip_err *err)
{
    CIP_TRY(cip_edit_note(e, path, CIP_EDIT_PUT, err));
    x->place = e->places->path;
    return CIP_OK;
}

/* The array's name in what the addition writes. */
static const char *name_in(const struct cip_addition *x, const char *path)
{
    return x->data != NULL ? NAME : path;
}

/* What is stored of it becomes the file's. */
static cip_status complete(cip_edit *e, struct cip_addition *x, cip_err *err)
{
    cip_io *io;
    if (x->data == NULL)
        return CIP_OK;
    cip_status st = cip_writer_commit(x->writer, err);
    x->writer = NULL;
    CIP_TRY(st);
    CIP_TRY(cip_file_prepare_like(e->file, &x->file, err));
    CIP_TRY(cip_io_open_part(x->data, 0, x->data->size, &io, err));
    CIP_TRY(cip_file_open_over(x->file, io, e->file->format->name, err));
    return e->ops->take(e->state, x->path, x->replace, x->file->layout, NAME, err);
}

static void end(struct cip_addition *x)
{
    cip_writer_abort(x->writer);
    cip_file_close(x->file);
    cip_io_close(x->data);
}

void cip_edit_added_drop(cip_edit *e, struct cip_addition *was)
{
    while (e->added != was && !adds(e)) {
        struct cip_addition *x = e->added;
        e->added = x->next;
        end(x);
    }
}

size_t cip_edit_added_count(const cip_edit *e)
{
    return adds(e) && e->added != NULL ? e->added->writer->nentry : 0;
}

/* An array that could not be added leaves nothing in the file that was to bring it; and nothing
 * among the others, where they share a writer, unless that is torn. */
static void drop(cip_edit *e, struct cip_addition *was)
{
    cip_edit_added_drop(e, was);
    if (adds(e) && e->added != NULL)
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
    CIP_GO(cip_put(x->writer, name_in(x, path), dtype, ndim, shape, data, &own, err));
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
    CIP_GO(cip_put_array(x->writer, name_in(x, path), from, args, &own, err));
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
    x->replace = false; /* it comes at the end, when something else may be there */
    CIP_GO(note_it(e, x, path, err));
    CIP_GO(cip_declare(x->writer, name_in(x, path), dtype, ndim, shape, &own, slab, err));
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
        if (x->writer != NULL)
            CIP_TRY(cip_writer_forget_failure(x->writer, err));
    return CIP_OK;
}

/* Slabs are full now; the first declared comes first. */
cip_status cip_edit_complete_slabs(cip_edit *e, cip_err *err)
{
    for (;;) {
        struct cip_addition *first = NULL;
        if (adds(e))
            return e->added != NULL ? cip_writer_settle(e->added->writer, err) : CIP_OK;
        for (struct cip_addition *x = e->added; x != NULL; x = x->next)
            first = x->writer != NULL ? x : first;
        if (first == NULL)
            return CIP_OK;
        CIP_TRY(name_it(complete(e, first, err), first->path, err));
    }
}

cip_file *cip_edit_added_file(const cip_edit *e, const cip_edit_place *at, const char **name)
{
    const struct cip_addition *x = e->added;
    while (x != NULL && (x->file == NULL || x->place != at->path))
        x = x->next;
    *name = NAME;
    return x != NULL ? x->file : NULL;
}

void cip_edit_added_end(cip_edit *e)
{
    for (struct cip_addition *x = e->added; x != NULL; x = x->next)
        end(x);
}
