/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that an update adds. Each is written like one of a new file, by a writer and a store of
 * its own, into the temporary file of the update, whose store makes it a part of the file at the
 * end. */
#include "core/writing/edit_impl.h"

#include <string.h>

#include "base/sized.h"
#include "core/writing/writer.h"
#include "io/revision_out.h"
#include "tree/value.h"

#define NAME "array" /* that its writer knows it by */

/* An array that comes. */
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

static cip_status new_writer(cip_edit *e, struct cip_addition *x, cip_err *err)
{
    const cip_change_options o = { .size = sizeof o,
                                   .format = e->file->format->name,
                                   .codec = e->come.codec,
                                   .byteorder = e->come.byteorder,
                                   .checksum = e->o.checksum,
                                   .tree_slack = -1,
                                   .threads = 1,
                                   .limits = &e->file->env.limits,
                                   .allocator = &e->file->env.mem.from,
                                   .accept_loss = e->o.accept_loss,
                                   .on_note = e->o.on_note,
                                   .user = e->o.user,
                                   .format_options = e->come.format_options };
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
    CIP_TRY(new_writer(e, x, err));
    x->next = e->added;
    e->added = *out = x;
    return CIP_OK;
}

/* A call that adds an array, from its beginning to its end. */
typedef struct adding {
    struct cip_addition *was, *x;
    cip_edit_place *before;
    cip_array_options own; /* the options, for the writer */
    cip_new_array as;      /* and the array */
} adding;

/* Until the commit, records show columns that boxes fill behind all others. */
static cip_status expect_no_column(cip_edit *e, const char *path, cip_err *err)
{
    const cip_array *there;
    const char *field;
    if (e->ops->records_now == NULL ||
        cip_edit_field(e, path, &field, &there, NULL) == CIP_ERR_NOT_FOUND)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "an array that is filled by boxes cannot replace a column; remove that first");
}

static cip_status begin(cip_edit *e, const cip_new_array *a, adding *to, cip_err *err)
{
    *to = (adding){ .was = e->added, .x = e->added, .before = e->places, .as = *a };
    CIP_TRY(cip_edit_check(e, (e->ops->caps & CIP_STORE_ADDS) != 0, "adding arrays", err));
    if (a->path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    if (cip_path_is_root(a->path))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path for the array");
    CIP_TRY(cip_edit_no_slab_at(e, a->path, err));
    CIP_TRY(CIP_SIZED_TAKE(cip_array_options, a->opts, &to->own, err));
    CIP_TRY(cip_sized_value("cip_array_options.replace", to->own.replace, 1, err));
    if (to->own.storage != NULL && strcmp(to->own.storage, "external") == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the data of an added array cannot be in another file");
    if (a->from == CIP_NEW_OF_BOXES && to->own.replace != 0)
        CIP_TRY(expect_no_column(e, a->path, err));
    CIP_TRY(new_addition(e, a->path, &to->own, &to->x, err));
    to->own.replace = 0;
    to->as.opts = &to->own;
    to->as.path = NAME;
    CIP_TRY(cip_edit_note(e, a->path, CIP_EDIT_PUT, err));
    to->x->place = e->places->path;
    return CIP_OK;
}

/* What is stored of it becomes the file's. */
static cip_status complete(struct cip_addition *x, cip_err *err)
{
    x->done = true; /* or failed, which is not tried again */
    return cip_writer_settle(x->writer, err);
}

void cip_edit_added_drop(cip_edit *e, struct cip_addition *was)
{
    while (e->added != was) {
        cip_edit_chunks_drop(e, e->added->coming.seen);
        cip_writer_abort(e->added->writer);
        e->added = e->added->next;
    }
}

/* In the words of the caller, who knows nothing of that name. */
static cip_status name_it(cip_status st, const char *path, cip_err *err)
{
    if (err != NULL && strcmp(err->part, NAME) == 0)
        err->part[0] = '\0';
    return cip_fail_in(err, st, "%s", path != NULL ? path : "");
}

cip_status cip_edit_put(cip_edit *e, const cip_new_array *a, cip_err *err)
{
    adding to;
    cip_status st = begin(e, a, &to, err);
    if (st == CIP_OK)
        st = cip_writer_put(to.x->writer, &to.as, err);
    if (st == CIP_OK)
        st = a->from == CIP_NEW_OF_BOXES ? cip_edit_slab_add(e, *a->slab, to.x->place, err)
                                         : complete(to.x, err);
    if (st == CIP_OK)
        return CIP_OK;
    /* Nothing is left of its writer, nor in the tree of a format that has one, unless memory was
     * too little to go back. */
    e->halfway = st == CIP_ERR_NOMEM && (e->ops->caps & CIP_STORE_TREE) != 0;
    cip_edit_added_drop(e, to.was);
    e->places = to.before;
    return name_it(st, a->path, err);
}

cip_status cip_edit_added_forget(cip_edit *e, cip_err *err)
{
    for (struct cip_addition *x = e->added; x != NULL; x = x->next)
        if (!x->done)
            CIP_TRY(cip_writer_forget(x->writer, err));
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
        CIP_TRY(name_it(complete(first, err), first->coming.path, err));
    }
}

const cip_array *cip_edit_added_array(const cip_edit *e, const cip_edit_place *at, bool *within)
{
    const struct cip_addition *x = e->added;
    while (x != NULL && (x->coming.seen == NULL || x->place != at->path))
        x = x->next;
    if (within != NULL)
        *within = x != NULL && x->coming.array == NULL;
    return x != NULL ? x->coming.array : cip_edit_slab_array(e, at->path);
}

const cip_array *cip_edit_added_of(const cip_edit *e, const cip_array *a)
{
    const struct cip_addition *x = e->added;
    while (x != NULL && (x->coming.array == NULL || x->coming.array->path != a->path))
        x = x->next;
    return x != NULL ? x->coming.array : cip_edit_slab_array(e, a->path);
}

void cip_edit_added_end(cip_edit *e)
{
    for (struct cip_addition *x = e->added; x != NULL; x = x->next)
        cip_writer_abort(x->writer);
}
