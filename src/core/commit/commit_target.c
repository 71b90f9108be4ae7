/* SPDX-License-Identifier: BSD-3-Clause
 * Updates and new files in a store of the caller's. There are no records there that would outlive
 * us, so a fault of the machine amid an update leaves part of it; a method that fails does not, as
 * long as the old bytes, which are kept, can be written back. Members and the file itself go the
 * same way: one after the other, what names the others last; on a failure back again. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "core/commit/commit_impl.h"
#include "base/sized.h"
#include "io/temporary.h"

cip_status cip_commit_begin_io(cip_env *env, cip_io *io, const cip_target *target,
                               const cip_change_options *opts, cip_commit **out, cip_err *err)
{
    cip_change_options o;
    cip_commit *c = NULL;
    cip_target own = *target;
    *out = NULL;
    cip_status st = CIP_SIZED_TAKE(cip_change_options, opts, &o, err);
    if (st == CIP_OK)
        st = CIP_NEW(&env->mem, &c, 1, err);
    if (st != CIP_OK) {
        cip_io_close(io);
        cip_target_close(&own);
        return st;
    }
    c->env = env;
    c->fd = c->place.dir = c->foreign.fd = c->own_tmp = c->own_fresh = c->became = -1;
    c->level = o.level;
    c->io = io;
    c->end = io->size;
    c->target = own;
    c->on_note = o.on_note;
    c->note_user = o.user;
    *out = c;
    return CIP_OK;
}

/* --- one file of the set ---------------------------------------------------------------------- */

typedef struct one_file {
    const char *name;    /* NULL: the file itself */
    cip_target opened;   /* of a member */
    const cip_target *t; /* once it is to be written */
    cip_io *was;         /* NULL: it is new */
    cip_io *after;
    bool borrowed; /* `was` and `after` are the commit's */
    bool whole;    /* all of it is written: */
    uint64_t new;  /* from here on in what waits, as `after` may be made of bytes written over */
    uint64_t kept; /* there too: bytes that would be lost, the end that is cut, or all */
    const cip_patch *writes; /* in place: what differs below the old end */
    cip_patch own;           /* a member's */
} one_file;

/* A commit of several. */
typedef struct set {
    cip_commit *c;
    const cip_commit_plan *p;
    cip_io *waits;  /* temporary */
    one_file *file; /* in the order in which they change */
    size_t n;
} set;

static uint64_t kept_len(const one_file *f)
{
    return f->whole ? f->was->size : cip_bytes_left(f->was->size, f->after->size);
}

static bool is_unchanged(const one_file *f)
{
    return f->was != NULL && !f->whole && f->was->size == f->after->size && f->writes->n == 0;
}

/* Looks at what differs in a member. */
static cip_status compare(const set *s, one_file *f, const cip_revision *as, cip_err *err)
{
    cip_runs runs = { .was = f->was, .after = f->after };
    uint64_t most = cip_commit_journal_most(s->c);
    cip_status st;
    f->own.arena.mem = &s->c->env->mem;
    f->writes = &f->own;
    CIP_GO(cip_commit_compare(&runs, as, most, err));
    f->whole = cip_runs_bytes(&runs) > most;
    if (!f->whole)
        st = cip_commit_add_writes(&f->own, "", &runs, err);
done:
    cip_runs_clear(&runs);
    return st;
}

/* What must wait, and what must be kept for the change to be undone. */
static cip_status prepare(const set *s, one_file *f, cip_err *err)
{
    if (f->was == NULL)
        return CIP_OK;
    f->new = s->waits->size;
    if (f->whole)
        CIP_TRY(cip_temporary_add(s->waits, f->after, 0, f->after->size, err));
    f->kept = s->waits->size;
    return cip_temporary_add(s->waits, f->was, f->was->size - kept_len(f), kept_len(f), err);
}

static cip_status open_target(const set *s, one_file *f, cip_err *err)
{
    const cip_target *all = &s->c->target;
    if (f->t != NULL)
        return CIP_OK;
    if (f->name != NULL && f->was == NULL)
        CIP_TRY(cip_target_member(all, f->name, &f->opened, err));
    else if (f->name != NULL)
        CIP_TRY(cip_target_open_member(all, f->name, &f->opened, err));
    f->t = f->name == NULL ? all : &f->opened;
    return CIP_OK;
}

static cip_status finish(const set *s, const one_file *f, cip_err *err)
{
    return cip_target_finish(f->t, s->c->level == CIP_LEVEL_POWER, err);
}

/* New files, and what is added to old ones: nothing that was there is touched. */
static cip_status add(const set *s, one_file *f, cip_err *err)
{
    uint64_t from = f->was != NULL ? f->was->size : 0;
    if (f->whole || is_unchanged(f))
        return CIP_OK;
    /* What takes the place of bytes that nothing names. */
    const cip_revision *r = s->p->r;
    if (f->borrowed && r->nplaced != 0) {
        CIP_TRY(open_target(s, f, err));
        for (size_t i = 0; i < r->nplaced; i++)
            CIP_TRY(cip_target_copy(f->t, r->placed[i].at, f->after, r->placed[i].at,
                                    r->placed[i].what.len, err));
        if (s->c->level == CIP_LEVEL_POWER)
            CIP_TRY(cip_target_sync(f->t, err));
    }
    if (f->was != NULL && f->after->size <= from)
        return CIP_OK;
    CIP_TRY(open_target(s, f, err));
    CIP_TRY(cip_target_copy(f->t, from, f->after, from, f->after->size - from, err));
    if (f->was == NULL) {
        CIP_TRY(cip_target_resize(f->t, f->after->size, err));
        return finish(s, f, err);
    }
    return s->c->level == CIP_LEVEL_POWER ? cip_target_sync(f->t, err) : CIP_OK;
}

static cip_status write_whole(const set *s, const one_file *f, bool after, cip_err *err)
{
    uint64_t size = after ? f->after->size : f->was->size;
    CIP_TRY(cip_target_copy(f->t, 0, s->waits, after ? f->new : f->kept, size, err));
    return cip_target_resize(f->t, size, err);
}

static cip_status write_bytes(const one_file *f, bool after, cip_err *err)
{
    for (size_t i = 0; i < f->writes->n; i++) {
        const cip_patch_op *op = &f->writes->op[i];
        const cip_bytes b = after ? op->after : op->before;
        if (op->kind == CIP_PATCH_WRITE)
            CIP_TRY(cip_target_write(f->t, op->offset, b.ptr, b.len, err));
    }
    return CIP_OK;
}

/* *left: a new member that could not be removed. */
static cip_status put_back(const set *s, one_file *f, const char **left)
{
    if (f->t == NULL)
        return CIP_OK;
    if (f->was == NULL) {
        cip_target_close(&f->opened);
        if (f->name != NULL && /* else it is never complete */
            cip_target_unlink(&s->c->target, f->name, NULL) != CIP_OK)
            *left = f->name;
        return CIP_OK;
    }
    if (f->whole)
        return write_whole(s, f, false, NULL);
    CIP_TRY(write_bytes(f, false, NULL));
    CIP_TRY(
        cip_target_copy(f->t, f->was->size - kept_len(f), s->waits, f->kept, kept_len(f), NULL));
    return cip_target_resize(f->t, f->was->size, NULL);
}

static void not_undone(bool back, const char *left, cip_err *err)
{
    char why[150];
    if (err == NULL || (back && left == NULL))
        return;
    snprintf(why, sizeof why, "%.149s", err->text);
    if (!back)
        snprintf(err->text, sizeof err->text, "%s; the old bytes could not be written back", why);
    else
        snprintf(err->text, sizeof err->text, "%s; the new file '%.60s' could not be removed", why,
                 left);
}

/* --- the set ---------------------------------------------------------------------------------- */

static cip_status open_member(const set *s, const char *name, cip_io **out, cip_err *err)
{
    cip_io *io = s->c->io;
    if (io->ops->open_member == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "the members cannot be read");
    return io->ops->open_member(io, name, 0, out, err);
}

static cip_status look_at(const set *s, const cip_revision_member *m, one_file *f, cip_err *err)
{
    if (m->change == CIP_MEMBER_RENAMED) {
        /* In a store a member takes a name by being written under it. */
        f->name = m->to;
        CIP_TRY(open_member(s, m->name, &f->after, err));
        if (!cip_revision_gives_up(s->p->r, m->to))
            return CIP_OK;
        f->whole = true;
        return open_member(s, m->to, &f->was, err);
    }
    /* What is made under a name that another one gives up is written over that, which is copied
     * before. */
    const bool made = m->change == CIP_MEMBER_MADE;
    f->name = m->name;
    f->whole = made ? cip_revision_gives_up(s->p->r, m->name) : m->change == CIP_MEMBER_REPLACED;
    if (!made || f->whole)
        CIP_TRY(open_member(s, m->name, &f->was, err));
    CIP_TRY(
        cip_io_open_revision(made || f->was == NULL ? s->waits : f->was, m->as, &f->after, err));
    return m->change == CIP_MEMBER_PATCHED ? compare(s, f, m->as, err) : CIP_OK;
}

/* Members but for the switch, that, the file itself: nothing is written yet. */
static cip_status look_at_all(set *s, cip_err *err)
{
    const cip_revision *r = s->p->r;
    for (size_t k = 0; k < r->nmember; k++) {
        const cip_revision_member *m = cip_revision_in_order(r, k);
        if (m->change >= CIP_MEMBER_GONE)
            continue;
        CIP_TRY(look_at(s, m, &s->file[s->n++], err));
        CIP_TRY(prepare(s, &s->file[s->n - 1], err));
    }
    one_file *own = &s->file[s->n++];
    own->borrowed = true;
    own->was = s->c->io;
    own->after = s->p->after;
    own->whole = s->p->way == CIP_WAY_REPLACE && own->was != NULL;
    own->writes = &s->p->patch;
    return prepare(s, own, err);
}

/* All that is new comes before anything that is written over, which it may be a copy of. */
static cip_status write_all(const set *s, cip_err *err)
{
    for (size_t i = 0; i < s->n; i++)
        CIP_TRY(add(s, &s->file[i], err));
    for (size_t i = 0; i < s->n; i++) {
        one_file *f = &s->file[i];
        if (f->was != NULL && !is_unchanged(f)) {
            CIP_TRY(open_target(s, f, err));
            if (f->whole)
                CIP_TRY(write_whole(s, f, true, err));
            else
                CIP_TRY(write_bytes(f, true, err));
            if (!f->whole && f->after->size < f->was->size)
                CIP_TRY(cip_target_resize(f->t, f->after->size, err));
            CIP_TRY(finish(s, f, err));
        }
    }
    return CIP_OK;
}

/* The update is made, whether or not this goes well. */
static void remove_one(const cip_commit *c, const char *name)
{
    cip_err why = CIP_ERR_INIT;
    const cip_status st = cip_target_unlink(&c->target, name, &why);
    char text[256];
    if (st == CIP_OK || c->on_note == NULL)
        return;
    snprintf(text, sizeof text, "'%.60s' is not used any more, but could not be removed: %.120s",
             name, why.text);
    c->on_note(c->note_user, &(cip_finding){ .severity = CIP_NOTE,
                                             .code = st,
                                             .offset = CIP_NO_OFFSET,
                                             .part = name,
                                             .text = text });
}

cip_status cip_commit_to_target(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    set s = { .c = c, .p = p };
    const char *left = NULL;
    bool back = true;
    cip_status st;
    if (p->way == CIP_WAY_NOTHING)
        return CIP_OK;
    CIP_GO(cip_temporary_new(c->env, NULL, &s.waits, err));
    CIP_GO(CIP_NEW(&c->env->mem, &s.file, p->r->nmember + 1, err));
    st = look_at_all(&s, err);
    if (st == CIP_OK)
        st = write_all(&s, err);
    for (size_t i = s.n; st != CIP_OK && i-- > 0;)
        back = put_back(&s, &s.file[i], &left) == CIP_OK && back;
    not_undone(back, left, err);
    for (size_t i = 0; i < s.n; i++) {
        one_file *f = &s.file[i];
        if (f->name != NULL)
            cip_target_close(&f->opened);
        if (!f->borrowed) {
            cip_io_close(f->after);
            cip_io_close(f->was);
        }
        cip_patch_clear(&f->own);
    }
    if (st == CIP_OK)
        for (size_t i = 0; i < p->r->nmember; i++) /* what nothing names */
            if (p->r->member[i].change == CIP_MEMBER_GONE ||
                cip_revision_frees(p->r, &p->r->member[i]))
                remove_one(c, p->r->member[i].name);
    if (st == CIP_OK && c->target.folders)
        for (size_t i = 0; i < p->r->nmember; i++)
            if (p->r->member[i].change == CIP_MEMBER_FOLDER_GONE)
                remove_one(c, p->r->member[i].name);
done:
    cip_mem_put(&c->env->mem, s.file);
    cip_io_close(s.waits);
    return st;
}

cip_status cip_commit_new_to_target(cip_env *env, const cip_target *target, cip_level level,
                                    const cip_revision *r, cip_err *err)
{
    cip_commit c = { .env = env, .level = level, .target = *target };
    cip_commit_plan p = { .way = CIP_WAY_REPLACE, .r = r };
    cip_io *nothing;
    cip_status st;
    CIP_TRY(cip_io_open_memory(env, "", 0, "nothing", &nothing, err));
    st = cip_io_open_revision(nothing, r, &p.after, err);
    if (st == CIP_OK)
        st = cip_commit_to_target(&c, &p, err);
    cip_io_close(p.after);
    cip_io_close(nothing);
    return st;
}
