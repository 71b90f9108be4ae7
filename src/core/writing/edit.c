/* SPDX-License-Identifier: BSD-3-Clause
 * Updates in place: changes are collected by the format and end as one revision, which is
 * committed. */
#include "core/writing/edit_impl.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/commit/memory_file.h"
#include "core/writing/output.h"
#include "core/writing/spec_text.h"
#include "io/file_io.h"
#include "io/temporary.h"
#include "base/sized.h"
#include "tree/edit.h"

/* --- beginning -------------------------------------------------------------------------------- */

static bool is_alone(void *user)
{
    return cip_commit_is_alone(((const cip_edit *)user)->commit);
}

static cip_status start_format(cip_edit *e, cip_err *err)
{
    cip_spec how = { .env = &e->file->env,
                     .big = -1,
                     .checksum = e->o.checksum,
                     .accept_loss = e->o.accept_loss,
                     .notes = &e->notes,
                     .tree_slack = e->o.tree_slack };
    e->ops = e->file->format->store;
    if (e->ops == NULL || (e->ops->caps & CIP_STORE_UPDATES) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot be changed in place",
                        e->file->format->title);
    CIP_TRY(cip_spec_codec(e->o.codec, &e->arena, &how, err));
    CIP_TRY(cip_spec_options(e->file->format, e->o.format_options, &e->arena, &how.option, err));
    CIP_TRY(cip_temporary_new(&e->file->env, cip_io_path(e->file->io), &e->temporary, err));
    const cip_store_begin b = { .env = &e->file->env,
                                .arena = &e->arena,
                                .spec = &how,
                                .old = e->file->layout,
                                .temporary = e->temporary,
                                .out = cip_edit_out(e),
                                .undo = &e->undo,
                                .alone = is_alone,
                                .alone_user = e,
                                .now = cip_edit_changed,
                                .path_now = cip_edit_path_now,
                                .now_user = e };
    return e->ops->begin(&b, &e->state, err);
}

/* What is changed: a file by its path, or by the caller's methods. */
typedef struct edited {
    const char *path;
    const cip_io_methods *read;
    void *user;         /* of read */
    cip_output *draft;  /* or what was written of it; borrowed */
    cip_target *target; /* given to the commit: set to none */
    cip_file *like;     /* the file as it is open, or NULL: read with the same options */
    bool same;          /* it must not have changed since */
} edited;

static cip_status begin_commit(cip_edit *e, const edited *what, cip_err *err)
{
    cip_env *env = &e->file->env;
    const cip_file *like = what->like;
    struct stat was;
    cip_io *io;
    /* The file that is open, or that a cip_append through this handle made of it. */
    if (what->target == NULL && like != NULL &&
        (like->became != -1 ? fstat(like->became, &was) == 0 : cip_target_stat(like->io, &was)))
        return cip_commit_begin_of(env, what->path, &was, &e->o, &e->commit, err);
    if (what->target == NULL)
        return cip_commit_begin(env, what->path, &e->o, &e->commit, err);
    if (what->draft != NULL)
        CIP_TRY(cip_output_reopen(what->draft, env, &io, what->target, err));
    else
        CIP_TRY(cip_io_open_user_again(env, what->read, what->user, &io, err));
    cip_target own = *what->target;
    *what->target = (cip_target){ .user = NULL };
    return cip_commit_begin_io(env, io, &own, &e->o, &e->commit, err);
}

static cip_status start(cip_edit *e, const edited *what, const char *format, cip_err *err)
{
    cip_io *io;
    cip_spec given = { .big = -1 };
    CIP_TRY(cip_spec_byteorder(e->o.byteorder, &given, err));
    e->big = given.big;
    e->o.byteorder = NULL; /* the caller's again */
    CIP_TRY(cip_spec_keep_texts(&e->arena, &e->o, err));
    e->come.codec = e->o.codec;
    e->come.format_options = e->o.format_options;
    CIP_TRY(begin_commit(e, what, err));
    cip_io *under = cip_commit_io(e->commit);
    if (what->same && (what->like->updated || cip_io_unchanged(what->like->io, NULL) != CIP_OK))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "the file changed since it was opened; open it again");
    CIP_TRY(cip_io_open_part(under, 0, under->size, &io, err));
    CIP_TRY(cip_file_open_over(e->file, io, format, err));
    return start_format(e, err);
}

/* Fields of options that only a new file has, and, where the file is open already, those that say
 * how it is read. */
static cip_status take_options(const cip_change_options *opts, bool is_open, cip_change_options *o,
                               cip_err *err)
{
    CIP_TRY(CIP_SIZED_TAKE(cip_change_options, opts, o, err));
    CIP_TRY(cip_sized_value("cip_change_options.level", o->level, CIP_LEVEL_PROCESS, err));
    const char *field = o->version != NULL  ? "version"
                        : o->align != 0     ? "align"
                        : o->overwrite      ? "overwrite"
                        : o->at_end != NULL ? "at_end"
                                            : NULL;
    if (field != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "cip_change_options.%s applies to a new file, found it for an existing one",
                        field);
    if (is_open && (o->format != NULL || o->open != NULL || o->threads != 0 || o->limits != NULL ||
                    o->allocator != NULL || o->codecs != NULL || o->ncodec != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected no reading options for a file that is already open, found some");
    return CIP_OK;
}

/* How the file is read: `format`, threads and such of the change come before those of `open`. */
static cip_status reading(const cip_change_options *o, cip_open_options *in, cip_err *err)
{
    CIP_TRY(CIP_SIZED_TAKE(cip_open_options, o->open, in, err));
    in->size = sizeof *in;
    in->format = o->format != NULL ? o->format : in->format;
    in->threads = o->threads != 0 ? o->threads : in->threads;
    in->limits = o->limits != NULL ? o->limits : in->limits;
    in->allocator = o->allocator != NULL ? o->allocator : in->allocator;
    if (o->codecs != NULL || o->ncodec != 0) {
        in->codecs = o->codecs;
        in->ncodec = o->ncodec;
    }
    return CIP_OK;
}

static cip_status open_edit(const edited *what, const cip_change_options *opts, cip_change **out,
                            cip_err *err)
{
    cip_file *const like = what->like;
    cip_change_options o;
    cip_open_options in;
    cip_file *f;
    cip_edit *e;
    if (out != NULL)
        *out = NULL;
    if (out == NULL || (what->path == NULL && what->target == NULL))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a path and a pointer for the change, found NULL");
    CIP_TRY(take_options(opts, like != NULL, &o, err));
    CIP_TRY(reading(&o, &in, err));
    CIP_TRY(like != NULL ? cip_file_prepare_like(like, &f, err) : cip_file_prepare(&in, &f, err));
    const char *format = like != NULL ? like->format->name : in.format;
    o.open = NULL; /* the caller's again, as all that says how it is read */
    o.format = NULL;
    o.limits = NULL;
    o.allocator = NULL;
    o.codecs = NULL;
    cip_status st = CIP_NEW(&f->env.mem, &e, 1, err);
    if (st != CIP_OK) {
        cip_file_close(f);
        return st;
    }
    e->file = f;
    e->owner = getpid();
    e->o = o;
    e->big = -1;
    cip_report_init(&e->notes, &f->env.mem, false, o.on_note, o.user);
    e->arena.mem = e->rev.patch.arena.mem = e->placed_at.mem = &f->env.mem;
    e->undo = (cip_undo){ .mem = &f->env.mem, .call = 1 };
    st = start(e, what, format, err);
    if (st != CIP_OK)
        cip_edit_abort(e);
    else
        *out = &e->change;
    return st;
}

cip_status cip_change_open(const char *path, const cip_change_options *opts, cip_change **change,
                           cip_err *err)
{
    err = cip_err_enter(err);
    return open_edit(&(edited){ .path = path }, opts, change, err);
}

/* The target is the edit's, on failure too. */
static cip_status open_target(edited what, cip_target target, const cip_change_options *opts,
                              cip_change **change, cip_err *err)
{
    what.target = &target;
    cip_status st = open_edit(&what, opts, change, err);
    cip_target_close(&target); /* if the commit did not come to have it */
    return st;
}

cip_status cip_change_open_io(const cip_io_methods *read, const cip_io_write_methods *write,
                              void *user, const cip_change_options *opts, cip_change **change,
                              cip_err *err)
{
    err = cip_err_enter(err);
    cip_target target;
    if (change != NULL)
        *change = NULL;
    CIP_TRY(cip_target_take(&target, write, user, err));
    if (read == NULL) {
        cip_target_close(&target);
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected methods, found NULL");
    }
    return open_target((edited){ .read = read, .user = user }, target, opts, change, err);
}

cip_status cip_change_open_memory(cip_memory *memory, const cip_change_options *opts,
                                  cip_change **change, cip_err *err)
{
    err = cip_err_enter(err);
    if (change != NULL)
        *change = NULL;
    if (cip_memory_bytes(memory, NULL) == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file that is complete");
    const cip_io_methods reads = cip_memory_reads(memory);
    return open_target((edited){ .read = &reads, .user = memory }, cip_memory_target(memory), opts,
                       change, err);
}

cip_status cip_edit_may_begin(const cip_file *file, cip_err *err)
{
    void *user;
    if (file->part != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a file embedded in another file cannot be changed");
    const char *path = cip_io_path(file->io);
    if ((path != NULL && strcmp(path, "-") != 0) || cip_target_may_open(file->io))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a file opened by its name, of a cip_memory, or by methods with "
                    "open_write and version, found %s",
                    cip_io_user_methods(file->io, &user) != NULL ? "methods without" : "none");
}

/* `same`: it must not have changed since it was opened (BUSY). */
static cip_status begin_of(cip_file *file, bool same, const cip_change_options *opts,
                           cip_change **change, cip_err *err)
{
    edited what = { .path = cip_io_path(file->io), .like = file, .same = same };
    cip_target target;
    CIP_TRY(cip_edit_may_begin(file, err));
    if (what.path != NULL) {
        CIP_TRY(open_edit(&what, opts, change, err));
    } else {
        what.read = cip_io_user_methods(file->io, &what.user);
        CIP_TRY(cip_target_open(file->io, &target, err));
        CIP_TRY(open_target(what, target, opts, change, err));
    }
    file->layout->may_change = file->edited = true;
    cip_io_unlock(file->io); /* our own reading must not keep our commit waiting */
    return CIP_OK;
}

cip_status cip_edit_draft(cip_output *output, const cip_change_options *o, cip_edit **edit,
                          cip_err *err)
{
    cip_change *c = NULL;
    cip_change_options as = *o;
    as.codec = as.byteorder = as.version = NULL; /* what is stored anew is so as it was */
    as.format_options = NULL;
    as.align = 0;
    as.overwrite = false;
    as.at_end = NULL;
    as.level = CIP_LEVEL_PROCESS; /* it is made durable when it gets its name */
    CIP_TRY(open_target((edited){ .draft = output }, (cip_target){ .user = NULL }, &as, &c, err));
    *edit = (cip_edit *)(void *)c;
    (*edit)->come.codec = o->codec;
    (*edit)->come.byteorder = o->byteorder;
    (*edit)->come.format_options = o->format_options;
    return CIP_OK;
}

cip_status cip_edit_of(cip_file *file, bool same, cip_edit **edit, cip_err *err)
{
    cip_change *c;
    CIP_TRY(begin_of(file, same, NULL, &c, err));
    *edit = (cip_edit *)(void *)c;
    return CIP_OK;
}

cip_status cip_change_begin(cip_file *file, const cip_change_options *opts, cip_change **change,
                            cip_err *err)
{
    err = cip_err_enter(err);
    if (change != NULL)
        *change = NULL;
    if (file == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file, found NULL");
    return begin_of(file, true, opts, change, err);
}

void cip_edit_abort(cip_edit *e)
{
    if (e == NULL)
        return;
    cip_file *f = e->file;
    cip_edit_marks_end(e);
    if (e->state != NULL && e->ops->clear != NULL)
        e->ops->clear(e->state);
    cip_file_close(e->seen.file);
    cip_edit_chunks_end(e, NULL);
    cip_edit_slabs_drop(e, NULL);
    cip_edit_added_end(e);
    cip_revision_clear(&e->rev);
    cip_commit_end(e->commit);
    cip_io_close(e->temporary);
    cip_report_clear(&e->notes);
    cip_strmap_clear(&e->placed_at);
    cip_arena_clear(&e->arena);
    cip_mem_put(&f->env.mem, e);
    cip_file_close(f);
}

/* A change that failed must not go unnoticed because the next ones went well: half an update would
 * be written. What was torn is what it fails with, whatever failed before. */
cip_status cip_edit_leave(cip_edit *e, cip_status st, const cip_err *found, cip_err *err)
{
    const bool whole = st == CIP_OK || (!e->halfway && cip_undo_call(&e->undo));
    const bool tears = !whole && !e->torn;
    e->halfway = false;
    e->ncall++;
    cip_undo_next(&e->undo);
    if (st == CIP_OK)
        return CIP_OK;
    if (e->st == CIP_OK || tears) {
        e->st = st;
        e->why = *found;
    }
    e->torn = e->torn || tears;
    cip_err_pass(cip_err_enter(err), found);
    return st;
}

static cip_status expect_whole(const cip_edit *e, cip_err *err)
{
    if (!e->torn)
        return CIP_OK;
    return cip_fail_in(err,
                       cip_fail(err, e->st, e->why.offset,
                                "a change failed halfway, so this update can only be abandoned: %s",
                                e->why.text),
                       "%s", e->why.part);
}

cip_status cip_edit_forget(cip_edit *e, cip_err *err)
{
    const cip_node *root;
    cip_edit_slabs_failure(e, NULL);
    CIP_TRY(expect_whole(e, err));
    if (e->ops->tree_now != NULL) /* without memory for the values that wait it is no success */
        CIP_TRY(e->ops->tree_now(e->state, &root, err));
    CIP_TRY(cip_edit_added_forget(e, err));
    e->st = CIP_OK;
    return CIP_OK;
}

static cip_status none_failed(const cip_edit *e, cip_err *err)
{
    if (e->st != CIP_OK)
        cip_err_pass(err, &e->why);
    return e->st;
}

cip_status cip_edit_check(const cip_edit *e, bool able, const char *what, cip_err *err)
{
    CIP_TRY(expect_whole(e, err));
    if (e->finished)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "the update is already planned");
    if (e->packed)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "removing unused data must be the last change of an update");
    if (!able)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s files do not support %s",
                        e->file->format->title, what);
    return CIP_OK;
}

/* --- the whole file --------------------------------------------------------------------------- */

cip_status cip_edit_freeze(cip_edit *e, cip_err *err)
{
    CIP_TRY(cip_edit_check(e, e->ops->freeze != NULL, "finishing a stream", err));
    cip_status st = e->ops->freeze(e->state, err);
    e->halfway = st == CIP_ERR_NOMEM; /* a refusal leaves no trace */
    return st;
}

cip_status cip_edit_defrag(cip_edit *e, cip_finding_fn *fn, void *user, cip_err *err)
{
    cip_report report;
    CIP_TRY(cip_edit_check(e, e->ops->defrag != NULL, "removing unused data", err));
    e->halfway = true;
    cip_edit_marks_end(e);
    cip_report_init(&report, &e->file->env.mem, false, fn, user);
    cip_status st = e->ops->defrag(e->state, &report, err);
    e->packed = true;
    if (st == CIP_OK)
        st = cip_report_status(&report, err);
    cip_report_clear(&report);
    return st;
}

/* --- the end ---------------------------------------------------------------------------------- */

static cip_status finish(cip_edit *e, cip_err *err)
{
    if (e->finished)
        return CIP_OK;
    e->halfway = true; /* half of it is not to be committed */
    cip_edit_marks_end(e);
    CIP_TRY(cip_edit_slabs_fill(e, err));
    CIP_TRY(cip_edit_complete_slabs(e, err));
    if (e->o.history != NULL) {
        e->packed = false;
        CIP_TRY(cip_edit_check(e, e->ops->history != NULL, "history entries", err));
        CIP_TRY(e->ops->history(e->state, e->o.history, err));
    }
    CIP_TRY(cip_edit_settle(e, err));
    CIP_TRY(e->ops->finish(e->state, &e->rev, err));
    e->rev.watched = e->file->format->lock_file != NULL;
    e->finished = true;
    e->halfway = false;
    return CIP_OK;
}

static cip_status say(cip_write_fn *fn, void *user, const char *line, cip_err *err)
{
    return fn(user, line, strlen(line)) == 0
               ? CIP_OK
               : cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
}

static cip_status say_operations(const cip_edit *e, cip_write_fn *fn, void *user, cip_err *err)
{
    char line[160];
    const cip_revision *r = &e->rev;
    for (size_t i = 0; i < r->patch.n; i++) {
        const cip_patch_op *op = &r->patch.op[i];
        snprintf(line, sizeof line, "write %zu bytes at %" PRIu64 "\n", op->after.len, op->offset);
        CIP_TRY(say(fn, user, line, err));
    }
    for (size_t i = 0; i < r->nplaced; i++) {
        snprintf(line, sizeof line, "fill %" PRIu64 " bytes at %" PRIu64 "\n",
                 r->placed[i].what.len, r->placed[i].at);
        CIP_TRY(say(fn, user, line, err));
    }
    if (!r->has_tail || r->anew)
        return CIP_OK;
    snprintf(line, sizeof line, "write a new end of %" PRIu64 " bytes at %" PRIu64 "\n",
             r->tail_len, r->tail_off);
    return say(fn, user, line, err);
}

cip_status cip_edit_plan(cip_edit *e, cip_write_fn *fn, void *user, cip_err *err)
{
    char kind[320] = "";
    cip_err why = CIP_ERR_INIT;
    if (fn == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a function, found NULL");
    CIP_TRY(none_failed(e, err));
    CIP_TRY(cip_edit_leave(e, finish(e, &why), &why, err));
    CIP_TRY(cip_commit_kind(e->commit, &e->rev, kind, sizeof kind, err));
    CIP_TRY(say(fn, user, kind, err));
    CIP_TRY(say(fn, user, "\n", err));
    return say_operations(e, fn, user, err);
}

cip_status cip_edit_commit(cip_edit **edit, cip_err *err)
{
    cip_edit *e = *edit;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_owned(e->owner, err));
    err = cip_err_enter(err);
    cip_status st = none_failed(e, err);
    if (st == CIP_OK)
        st = cip_edit_leave(e, finish(e, &why), &why, err);
    if (st == CIP_OK) {
        st = cip_commit_apply(e->commit, &e->rev, &why);
        if (e->became != NULL)
            *e->became = cip_commit_became(e->commit);
        if (cip_commit_is_ready(e->commit))
            return cip_err_give(err, &why, st);
        e->halfway = true;
        cip_edit_leave(e, st, &why, err);
    }
    if (st != CIP_ERR_BUSY) {
        cip_edit_abort(e);
        *edit = NULL;
    }
    return st;
}
