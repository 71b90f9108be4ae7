/* SPDX-License-Identifier: BSD-3-Clause
 * A new file from its creation to its commit: options, the store, the order in which it gets its
 * arrays, and the name that the file takes at the very end. */
#include "base/sized.h"
#include "core/writing/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/handle.h"
#include "core/writing/edit_impl.h"
#include "core/writing/spec_text.h"

/* --- failures --------------------------------------------------------------------------------- */

/* What a box that failed, in any thread, left; it becomes the writer's. */
static void take_slab_failure(cip_writer *w)
{
    for (cip_entry *e = w->nslab != 0 ? w->first : NULL; e != NULL; e = e->next) {
        cip_err why = CIP_ERR_INIT;
        bool torn = false;
        const cip_status st = e->slab != NULL ? cip_slab_failure(e->slab, &torn, &why) : CIP_OK;
        if (st != CIP_OK && (w->st == CIP_OK || (torn && !w->torn))) {
            w->st = st;
            w->why = why;
        }
        w->torn = w->torn || torn;
    }
}

static cip_status none_failed(cip_writer *w, cip_err *err)
{
    take_slab_failure(w);
    if (w->st != CIP_OK)
        cip_err_pass(err, &w->why);
    return w->st;
}

cip_status cip_fail_complete(cip_err *err)
{
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "the file is complete; commit it again, or abort");
}

/* A call that failed must not go unnoticed because the next ones went well: it makes them and the
 * commit fail, so that statuses need to be looked at only there, unless it is forgotten. */
cip_status cip_writer_enter(cip_writer *w, cip_err *err)
{
    if (w == NULL)
        return cip_fail_null(err, "a change");
    err = cip_err_enter(err);
    CIP_TRY(cip_owned(w->owner, err));
    if (w->complete && w->st == CIP_OK)
        w->st = cip_fail_complete(&w->why);
    w->mark = (cip_writer_mark){
        .last = w->last, .nentry = w->nentry, .narray = w->narray, .total = w->engine.total
    };
    return none_failed(w, err);
}

/* Without what the call added. */
static void go_back(cip_writer *w)
{
    const cip_writer_mark *m = &w->mark;
    for (cip_entry *e = *m->last; e != NULL; e = e->next) {
        w->torn = w->torn || e->given;
        w->nslab -= e->slab != NULL;
        cip_writer_drop_entry(e);
    }
    *m->last = NULL;
    w->last = m->last;
    w->nentry = m->nentry;
    w->narray = m->narray;
    w->engine.total = m->total;
    if (m->placed)
        cip_build_undo(&w->tree);
}

cip_status cip_writer_leave(cip_writer *w, cip_status st, const cip_err *found, cip_err *err)
{
    if (st == CIP_OK)
        return CIP_OK;
    go_back(w);
    w->st = st;
    w->why = *found;
    cip_err_pass(cip_err_enter(err), found);
    return st;
}

cip_status cip_writer_forget(cip_writer *w, cip_err *err)
{
    if (w == NULL)
        return cip_fail_null(err, "a change");
    err = cip_err_enter(err);
    CIP_TRY(cip_owned(w->owner, err));
    take_slab_failure(w);
    if (!w->torn) {
        w->st = CIP_OK;
        return CIP_OK;
    }
    return cip_fail_in(err,
                       cip_fail(err, w->st, w->why.offset,
                                "a call failed halfway, so this file can only be abandoned: %s",
                                w->why.text),
                       "%s", w->why.part);
}

typedef struct first_loss {
    size_t n, impossible;
    char text[200];
    cip_report *notes; /* told what nobody has to accept, once all is there; NULL: not yet */
} first_loss;

static int on_loss(void *user, const cip_finding *f)
{
    first_loss *l = user;
    l->impossible += f->severity > CIP_WARN;
    if (f->severity != CIP_NOTE && l->n++ == 0)
        snprintf(l->text, sizeof l->text, "%s", f->text);
    if (f->severity == CIP_NOTE && l->notes != NULL)
        cip_report_add(l->notes, CIP_NOTE, f->code, f->offset, f->length, f->part, "%s", f->text);
    return 0;
}

static cip_status check(cip_writer *w, const cip_spec *spec, cip_report *notes, cip_err *err)
{
    first_loss l = { .notes = notes };
    cip_report rep;
    cip_report_init(&rep, &w->env.mem, false, on_loss, &l);
    cip_status st = w->format->store->check(spec, &rep, err);
    if (st == CIP_OK)
        st = cip_report_status(&rep, err);
    cip_report_clear(&rep);
    if (st != CIP_OK || l.n == 0 || (w->o.accept_loss && l.impossible == 0))
        return st;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot hold all of it: %s%s",
                    w->format->title, l.text, l.n > 1 ? " (and more)" : "");
}

cip_status cip_writer_check(cip_writer *w, const cip_spec *spec, cip_err *err)
{
    return check(w, spec, NULL, err);
}

static cip_status check_whole(cip_writer *w, cip_err *err)
{
    CIP_TRY(check(w, &w->spec, &w->notes, err));
    return cip_report_status(&w->notes, err);
}

/* --- options ---------------------------------------------------------------------------------- */

/* `path`: the file's name, or NULL. */
static cip_status choose_format(cip_writer *w, const char *path, cip_err *err)
{
    const char *name = w->o.format;
    if (name == NULL && path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a format, or a name that tells the format");
    w->format = cip_format_to_write(name, path, &w->spec.kind);
    if (w->format == NULL)
        CIP_TRY(cip_format_check_name(name, path, err));
    if (w->format == NULL && name != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "no format is named '%.60s'", name);
    if (w->format == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.100s' does not tell the format", path);
    if (w->format->store == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot be written",
                        w->format->title);
    return CIP_OK;
}

static cip_status copy_text(cip_writer *w, const char *text, const char **out, cip_err *err)
{
    char *copy;
    if (text == NULL)
        return CIP_OK;
    CIP_TRY(cip_arena_copy(&w->arena, text, strlen(text), &copy, err));
    *out = copy;
    return CIP_OK;
}

static cip_status fill_spec(cip_writer *w, cip_err *err)
{
    cip_spec *s = &w->spec;
    const cip_change_options *o = &w->o;
    CIP_TRY(cip_spec_byteorder(o->byteorder, s, err));
    s->tree_slack = o->tree_slack;
    s->align = o->align;
    s->late = (w->format->store->caps & CIP_STORE_LATE) != 0;
    CIP_TRY(cip_spec_codec(o->codec, &w->arena, s, err));
    CIP_TRY(cip_spec_options(w->format, o->format_options, &w->arena, &s->option, err));
    s->accept_loss = o->accept_loss;
    s->env = &w->env;
    s->notes = &w->notes;
    CIP_TRY(cip_spec_keep_texts(&w->arena, &w->o, err));
    s->checksum = o->checksum;
    CIP_TRY(copy_text(w, o->version, &s->version, err));
    return cip_spec_may(w->format, s, err);
}

/* --- creation --------------------------------------------------------------------------------- */

/* Fields of options that only a file that is there has. */
static cip_status take_options(const cip_change_options *opts, cip_change_options *o, cip_err *err)
{
    CIP_TRY(CIP_SIZED_TAKE(cip_change_options, opts, o, err));
    const char *field = o->open != NULL      ? "open"
                        : o->history != NULL ? "history"
                        : o->break_links     ? "break_links"
                        : o->by_position     ? "by_position"
                        : o->wait != 0       ? "wait"
                                             : NULL;
    if (field == NULL)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "cip_change_options.%s applies to an existing file, found it for a new one",
                    field);
}

static cip_status writer_new(const cip_change_options *o, cip_writer **out, cip_err *err)
{
    cip_writer *w;
    CIP_TRY(cip_sized_value("cip_change_options.level", o->level, CIP_LEVEL_PROCESS, err));
    CIP_TRY(cip_mem_handle(o->allocator, sizeof *w, (void **)&w, err));
    w->change.is_new = true;
    w->o = *o;
    w->owner = getpid();
    cip_status st = cip_env_init(&w->env, o->limits, o->allocator, NULL, err);
    if (st != CIP_OK) {
        cip_mem_handle_free(o->allocator, w);
        return st;
    }
    pthread_mutex_init(&w->store_lock, NULL);
    w->arena.mem = w->rev.patch.arena.mem = &w->env.mem;
    cip_report_init(&w->notes, &w->env.mem, false, o->on_note, o->user);
    w->tree.arena = &w->arena;
    w->last = &w->first;
    *out = w;
    return CIP_OK;
}

cip_status cip_writer_begin(cip_writer *w, cip_array_form *form, cip_err *err)
{
    const cip_store_begin b = { .env = &w->env,
                                .arena = &w->arena,
                                .spec = &w->spec,
                                .out = w->file != NULL ? cip_output_out(w->file) : NULL,
                                .coming = w->coming,
                                .form = form };
    CIP_TRY(w->format->store->begin(&b, &w->engine.state, err));
    w->begun = true;
    if (w->coming != NULL)
        w->spec.version = w->coming->version;
    return CIP_OK;
}

/* Where a new file goes. */
typedef struct destination {
    const char *path;
    const cip_target *target;
    const char *name; /* of what is in memory, or NULL */
    cip_memory *memory;
    cip_coming *coming; /* of what comes by an update, or NULL */
} destination;

static cip_status begin_output(cip_writer *w, const destination *to, cip_err *err)
{
    const uint32_t caps = cip_store_caps(w->format->store, &w->spec);
    bool folder = (caps & CIP_STORE_FOLDER) != 0;
    bool changes = folder || (caps & (CIP_STORE_PATCHES | CIP_STORE_COMPLETES)) != 0;
    w->early = (caps & CIP_STORE_ONE_ARRAY) != 0 && (to->target == NULL || changes);
    if (to->path != NULL)
        CIP_TRY(cip_mem_copy(&w->env.mem, to->path, strlen(to->path), &w->path, err));
    const cip_output_how how = { .level = w->o.level,
                                 .overwrite = w->o.overwrite,
                                 .at_end = w->o.at_end,
                                 .folder = folder,
                                 .target = to->target != NULL ? &w->target : NULL,
                                 .changes = changes,
                                 .memory = to->memory };
    return cip_output_begin(&w->env, to->path, &how, &w->file, err);
}

static cip_status start(cip_writer *w, const destination *to, cip_err *err)
{
    const char **name = &w->target.methods.name;
    CIP_TRY(cip_pool_take(w->o.threads, &w->own_pool, &w->env.pool, err));
    CIP_TRY(cip_app_codecs_take(&w->env, w->o.codecs, w->o.ncodec, &w->codec, err));
    CIP_TRY(copy_text(w, *name, name, err));
    const char *tells = to->path != NULL ? to->path : to->name != NULL ? to->name : *name;
    CIP_TRY(choose_format(w, tells, err));
    w->engine = (cip_engine){ .env = &w->env,
                              .store = w->format->store,
                              .progress = w->o.progress,
                              .user = w->o.user,
                              .lock = &w->store_lock };
    CIP_TRY(fill_spec(w, err));
    w->coming = to->coming;
    w->early = to->coming != NULL;
    const cip_status st = to->coming == NULL ? begin_output(w, to, err) : CIP_OK;
    if (st != CIP_OK)
        return cip_fail_in(err, st, "output");
    return w->spec.late ? cip_writer_begin(w, NULL, err) : CIP_OK;
}

/* The target is the writer's, on failure too. */
static cip_status create(const destination *to, const cip_change_options *o, cip_change **change,
                         cip_err *err)
{
    cip_writer *w;
    cip_target target = { .user = NULL };
    if (to->target != NULL)
        target = *to->target;
    cip_status st = writer_new(o, &w, err);
    if (st != CIP_OK) {
        cip_target_close(&target);
        return st;
    }
    w->target = target;
    st = start(w, to, err);
    if (st != CIP_OK)
        cip_writer_abort(w);
    else
        *change = &w->change;
    return st;
}

cip_status cip_create(const char *path, const cip_change_options *opts, cip_change **change,
                      cip_err *err)
{
    err = cip_err_enter(err);
    cip_change_options o;
    CIP_TRY(cip_arg_given(change, "a pointer for the change", err));
    *change = NULL;
    if (path == NULL || strcmp(path, "-") == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected the path of a file");
    CIP_TRY(take_options(opts, &o, err));
    return create(&(destination){ .path = path }, &o, change, err);
}

cip_status cip_writer_into(cip_coming *coming, const cip_change_options *o, cip_writer **writer,
                           cip_err *err)
{
    cip_change *c = NULL;
    *writer = NULL;
    CIP_TRY(create(&(destination){ .coming = coming }, o, &c, err));
    *writer = (cip_writer *)(void *)c;
    return CIP_OK;
}

cip_status cip_create_io(const cip_io_write_methods *methods, void *user,
                         const cip_change_options *opts, cip_change **change, cip_err *err)
{
    err = cip_err_enter(err);
    cip_change_options o;
    cip_target target;
    if (change != NULL)
        *change = NULL;
    CIP_TRY(cip_target_take(&target, methods, user, err));
    cip_status st = cip_arg_given(change, "a pointer for the change", err);
    if (st == CIP_OK)
        st = take_options(opts, &o, err);
    if (st == CIP_OK)
        return create(&(destination){ .target = &target }, &o, change, err);
    cip_target_close(&target);
    return st;
}

cip_status cip_create_memory(const char *format, const cip_change_options *opts, cip_memory **out,
                             cip_change **change, cip_err *err)
{
    err = cip_err_enter(err);
    cip_change_options o;
    cip_memory *memory;
    if (out != NULL)
        *out = NULL;
    CIP_TRY(cip_arg_given(change, "a pointer for the change", err));
    *change = NULL;
    CIP_TRY(cip_arg_given(out, "a pointer for the memory", err));
    CIP_TRY(take_options(opts, &o, err));
    const char *name = format != NULL && strchr(format, '.') != NULL ? format : NULL;
    if (name != NULL && strchr(name, '/') != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the name of a file, without a folder, found '%.80s'", name);
    if (name == NULL && format != NULL)
        o.format = format;
    CIP_TRY(cip_memory_make(o.allocator, &memory, err));
    cip_status st = name != NULL ? cip_memory_set_name(memory, name, err) : CIP_OK;
    if (st == CIP_OK)
        st = create(&(destination){ .name = name, .memory = memory }, &o, change, err);
    if (st != CIP_OK)
        cip_memory_free(memory);
    else
        *out = memory;
    return st;
}

/* --- the end ---------------------------------------------------------------------------------- */

cip_source cip_writer_waited(const cip_entry *e)
{
    cip_source from = {
        .dtype = e->spec.dtype, .io = e->temporary, .value = e->value, .unset = e->unset
    };
    if (e->value != NULL)
        from.io = NULL; /* of a slab, which goes on */
    cip_shape_nelem(e->spec.ndim, e->spec.shape, &from.nelem);
    return from;
}

static cip_status give_waiting(cip_writer *w, bool streamed, cip_err *err)
{
    for (cip_entry *e = w->first; e != NULL; e = e->next) {
        if (!streamed)
            CIP_TRY(cip_writer_end_slab(w, e, err));
        if (e->given || (e->spec.where == CIP_WHERE_STREAMED) != streamed)
            continue;
        const cip_source from = cip_writer_waited(e);
        CIP_TRY(cip_writer_give(w, e, e->spec.is_view ? NULL : &from, err));
    }
    return CIP_OK;
}

/* All that the file is to hold, arrays in the order in which the store has them, and a last look at
 * what is lost of it. */
static cip_status whole_spec(cip_writer *w, cip_err *err)
{
    cip_spec_array *array;
    CIP_TRY(CIP_ARENA_NEW(&w->arena, &array, w->nentry, err));
    for (const cip_entry *e = w->first; e != NULL; e = e->next)
        array[e->index] = e->spec;
    w->spec.array = array;
    w->spec.narray = w->nentry;
    w->spec.tree = w->tree.root;
    return check_whole(w, err);
}

/* All arrays at once, for a store that wants to know them before the first byte. */
static cip_status all_at_once(cip_writer *w, cip_err *err)
{
    cip_array_form *form;
    size_t i = 0;
    CIP_TRY(CIP_ARENA_NEW(&w->arena, &form, w->nentry, err));
    for (cip_entry *e = w->first; e != NULL; e = e->next) {
        CIP_TRY(cip_writer_end_slab(w, e, err));
        e->index = i++;
    }
    CIP_TRY(whole_spec(w, err));
    CIP_TRY(cip_writer_begin(w, form, err));
    for (cip_entry *e = w->first; e != NULL; e = e->next) {
        const cip_source from = cip_writer_waited(e);
        CIP_TRY(cip_writer_run(w, e->index, &form[e->index], &from, err));
    }
    return CIP_OK;
}

static cip_status complete(cip_writer *w, cip_revision *r, cip_err *err)
{
    const bool tree_last = w->begun;
    if (w->spec.late) {
        CIP_TRY(give_waiting(w, false, err));
        CIP_TRY(give_waiting(w, true, err));
        if (!(w->format->store->caps & CIP_STORE_TREE))
            CIP_TRY(whole_spec(w, err));
    } else if (w->begun) {
        w->spec.tree = w->tree.root;
        CIP_TRY(check_whole(w, err));
    } else {
        CIP_TRY(all_at_once(w, err));
    }
    if (tree_last && w->format->store->tree != NULL)
        CIP_TRY(w->format->store->tree(w->engine.state, w->tree.root, err));
    return w->format->store->finish(w->engine.state, r, err);
}

/* --- looked at before the commit -------------------------------------------------------------- */

/* Whether nothing more has to be known. */
static cip_status may_draft(const cip_writer *w, cip_err *err)
{
    if ((w->format->store->caps & CIP_STORE_UPDATES) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot be changed in place",
                        w->format->title);
    CIP_TRY(cip_output_reopen(w->file, NULL, NULL, NULL, err));
    for (const cip_entry *e = w->nslab != 0 ? w->first : NULL; e != NULL; e = e->next)
        CIP_TRY(cip_writer_may_move(e, err));
    return (w->format->store->caps & CIP_STORE_TREE) != 0 || w->narray != 0 /* else it is no file */
               ? CIP_OK
               : cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "no array has been added yet");
}

static cip_status open_draft(cip_writer *w, const cip_patch *patch, cip_err *err)
{
    const cip_codec_methods **codecs;
    cip_change_options o = w->o;
    CIP_TRY(CIP_ARENA_NEW(&w->arena, &codecs, w->o.ncodec + 1, err));
    for (size_t i = 0; i < w->o.ncodec; i++)
        codecs[i] = &w->codec[i];
    CIP_TRY(cip_output_settle(w->file, patch, err));
    o.format = w->format->name;
    o.limits = &w->env.limits;
    o.allocator = &w->env.mem.from;
    o.codecs = codecs;
    CIP_TRY(cip_edit_draft(w->file, &o, &w->draft, err));
    return cip_writer_move_on(w, err);
}

static cip_status make_draft(cip_writer *w, cip_err *err)
{
    cip_revision r = { .patch = { .arena = { .mem = &w->env.mem } } };
    cip_status st = cip_writer_leave_out(w, err);
    if (st == CIP_OK)
        st = complete(w, &r, err);
    if (st == CIP_OK)
        st = open_draft(w, &r.patch, err);
    cip_revision_clear(&r);
    w->torn = st != CIP_OK;
    if (st != CIP_OK) {
        cip_edit_abort(w->draft);
        w->draft = NULL;
    }
    return st;
}

cip_status cip_writer_draft(cip_writer *w, bool changes, cip_edit **draft, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    if (w->draft == NULL) {
        if (w->complete && !changes)
            return cip_fail_complete(cip_err_enter(err));
        CIP_TRY(cip_writer_enter(w, err));
        cip_status st = may_draft(w, &why);
        if (st != CIP_OK && !changes)
            return cip_err_give(cip_err_enter(err), &why, st);
        st = st == CIP_OK ? make_draft(w, &why) : st;
        CIP_TRY(cip_writer_leave(w, st, &why, err));
    }
    *draft = w->draft;
    return CIP_OK;
}

/* --- the commit ------------------------------------------------------------------------------- */

cip_status cip_writer_settle(cip_writer *w, cip_err *err)
{
    CIP_TRY(cip_writer_enter(w, err));
    CIP_TRY(give_waiting(w, false, err));
    CIP_TRY(give_waiting(w, true, err));
    w->complete = true;
    return w->begun ? w->format->store->finish(w->engine.state, NULL, err) : CIP_OK;
}

/* What was written becomes whole, once: a commit that somebody was in the way of goes on behind. */
static cip_status make_whole(cip_writer *w, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    if (w->complete) {
        CIP_TRY(cip_owned(w->owner, err));
        return none_failed(w, err);
    }
    if (w->draft != NULL) {
        CIP_TRY(cip_edit_commit(&w->draft, err));
    } else {
        CIP_TRY(cip_writer_enter(w, err));
        const cip_status st = complete(w, &w->rev, &why);
        w->torn = st != CIP_OK;
        CIP_TRY(cip_writer_leave(w, st, &why, err));
    }
    w->complete = true;
    return CIP_OK;
}

cip_status cip_writer_commit(cip_writer **writer, cip_err *err)
{
    cip_writer *w = *writer;
    cip_status st = make_whole(w, err);
    if (st == CIP_OK)
        st = cip_output_commit(w->file, &w->rev.patch, cip_err_enter(err));
    const bool has_store = w->target.methods.write_at != NULL; /* which said so itself */
    if (st != CIP_ERR_BUSY || has_store) {
        cip_writer_abort(w);
        *writer = NULL;
    }
    return st;
}

void cip_writer_abort(cip_writer *w)
{
    if (w == NULL)
        return;
    cip_edit_abort(w->draft);
    if (w->begun && w->format->store->clear != NULL)
        w->format->store->clear(w->engine.state);
    for (cip_entry *e = w->first; e != NULL; e = e->next)
        cip_writer_drop_entry(e);
    for (cip_entry *e = w->moved; e != NULL; e = e->next)
        cip_writer_drop_entry(e);
    for (cip_slab *s = w->slabs; s != NULL; s = s->next)
        cip_slab_clear(s);
    cip_revision_clear(&w->rev);
    cip_output_end(w->file);
    cip_target_close(&w->target);
    cip_mem_put(&w->env.mem, w->path);
    cip_report_clear(&w->notes);
    cip_app_codecs_drop(&w->env, &w->codec);
    cip_arena_clear(&w->arena);
    cip_env_clear(&w->env);
    cip_pool_free(w->own_pool);
    pthread_mutex_destroy(&w->store_lock);
    cip_mem_handle_free(&w->env.mem.from, w);
}
