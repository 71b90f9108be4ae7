/* SPDX-License-Identifier: BSD-3-Clause
 * Updates in a store of the caller's. There are no records there that would outlive us, so a fault
 * of the machine amid an update leaves part of it; a method that fails does not, as long as the old
 * bytes, which are kept, can be written back. Members and the file itself go the same way: one
 * after the other, what names the others last; on a failure back again. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "core/commit/commit_impl.h"
#include "core/take_options.h"
#include "io/temporary.h"

cip_status cip_commit_begin_io(cip_env *env, cip_io *io, const cip_target *target,
                               const cip_edit_options *opts, cip_commit **out, cip_err *err)
{
    cip_edit_options o;
    cip_commit *c = NULL;
    cip_target own = *target;
    *out = NULL;
    cip_status st = CIP_OPTIONS_TAKE(cip_edit_options, opts, &o, err);
    if (st == CIP_OK)
        st = CIP_NEW(&env->mem, &c, 1, err);
    if (st != CIP_OK) {
        cip_io_close(io);
        cip_target_close(&own);
        return st;
    }
    c->env = env;
    c->fd = c->place.dir = -1;
    c->level = o.level;
    c->io = io;
    c->target = own;
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
    const cip_revision *as;
    cip_patch writes; /* in place: what differs below the old end */
    bool whole;       /* or all of it is written: */
    cip_io *new;      /* as `after` may be made of bytes that are written over */
    cip_io *kept;     /* bytes that would be lost: the end that is cut, or all */
    bool borrowed;    /* `was` and `after` are the commit's */
} one_file;

static void end_file(one_file *f)
{
    if (f->name != NULL)
        cip_target_close(&f->opened);
    if (!f->borrowed) {
        cip_io_close(f->after);
        cip_io_close(f->was);
    }
    cip_io_close(f->new);
    cip_io_close(f->kept);
    cip_patch_clear(&f->writes);
}

static cip_status keep(cip_commit *c, cip_io *io, uint64_t from, cip_io **out, cip_err *err)
{
    CIP_TRY(cip_temporary_new(c->env, NULL, out, err));
    return cip_temporary_add(*out, io, from, cip_bytes_left(io->size, from), err);
}

/* What is to be written, and what must be kept for that to be undone: nothing is written yet. */
static cip_status prepare(cip_commit *c, one_file *f, cip_err *err)
{
    cip_runs runs = { .run = NULL };
    uint64_t most = cip_commit_journal_most(c);
    cip_status st = CIP_OK;
    if (f->was == NULL)
        return CIP_OK;
    f->writes.arena.mem = &c->env->mem;
    if (!f->whole)
        CIP_GO(cip_commit_compare(f->was, f->after, f->as, most, &runs, err));
    f->whole = f->whole || cip_runs_bytes(&runs) > most;
    if (f->whole)
        CIP_GO(keep(c, f->after, 0, &f->new, err));
    CIP_GO(keep(c, f->was, f->whole ? 0 : f->after->size, &f->kept, err));
    for (size_t i = 0; !f->whole && i < runs.n; i++)
        CIP_GO(cip_commit_add_write(&f->writes, "", f->was, f->after, runs.run[i], err));
done:
    cip_runs_clear(&c->env->mem, &runs);
    return st;
}

static cip_status write_whole(const cip_target *t, cip_io *from, cip_err *err)
{
    CIP_TRY(cip_target_copy(t, 0, from, 0, from->size, err));
    return cip_target_resize(t, from->size, err);
}

/* What is added first: until then nothing that was there is touched. */
static cip_status write_in_place(const cip_commit *c, const one_file *f, cip_err *err)
{
    uint64_t was = f->was->size, becomes = f->after->size;
    if (becomes > was) {
        CIP_TRY(cip_target_copy(f->t, was, f->after, was, becomes - was, err));
        if (c->level == CIP_LEVEL_POWER)
            CIP_TRY(cip_target_sync(f->t, err));
    }
    for (size_t i = 0; i < f->writes.n; i++) {
        const cip_patch_op *op = &f->writes.op[i];
        CIP_TRY(cip_target_write(f->t, op->offset, op->after.ptr, op->after.len, err));
    }
    return becomes < was ? cip_target_resize(f->t, becomes, err) : CIP_OK;
}

static cip_status open_target(const cip_commit *c, one_file *f, cip_err *err)
{
    if (f->name == NULL)
        f->t = &c->target;
    else if (f->was == NULL)
        CIP_TRY(cip_target_member(&c->target, f->name, &f->opened, err));
    else
        CIP_TRY(cip_target_open_member(&c->target, f->name, &f->opened, err));
    if (f->name != NULL)
        f->t = &f->opened;
    return CIP_OK;
}

static cip_status write_file(const cip_commit *c, one_file *f, cip_err *err)
{
    if (f->was != NULL && f->was->size == f->after->size && f->writes.n == 0 && !f->whole)
        return CIP_OK;
    CIP_TRY(open_target(c, f, err));
    if (f->was == NULL)
        CIP_TRY(cip_target_copy(f->t, 0, f->after, 0, f->after->size, err));
    else if (f->whole)
        CIP_TRY(write_whole(f->t, f->new, err));
    else
        CIP_TRY(write_in_place(c, f, err));
    return cip_target_finish(f->t, c->level == CIP_LEVEL_POWER, err);
}

static cip_status put_back(const cip_commit *c, one_file *f)
{
    if (f->t == NULL)
        return CIP_OK;
    if (f->was == NULL) {
        cip_target_close(&f->opened);
        cip_target_unlink(&c->target, f->name);
        return CIP_OK;
    }
    if (f->whole)
        return write_whole(f->t, f->kept, NULL);
    for (size_t i = 0; i < f->writes.n; i++) {
        const cip_patch_op *op = &f->writes.op[i];
        CIP_TRY(cip_target_write(f->t, op->offset, op->before.ptr, op->before.len, NULL));
    }
    CIP_TRY(cip_target_copy(f->t, f->was->size - f->kept->size, f->kept, 0, f->kept->size, NULL));
    return cip_target_resize(f->t, f->was->size, NULL);
}

static cip_status not_put_back(cip_status st, cip_err *err)
{
    char why[150];
    if (err == NULL)
        return st;
    snprintf(why, sizeof why, "%.149s", err->text);
    snprintf(err->text, sizeof err->text, "%s; the old bytes could not be written back", why);
    return st;
}

/* --- the set ----------------------------------------------------------------------------------
 */

static cip_status open_member(cip_commit *c, const char *name, cip_io **out, cip_err *err)
{
    if (c->io->ops->open_member == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "no members can be read");
    return c->io->ops->open_member(c->io, name, 0, out, err);
}

/* Whether a member before this one gives the name up, so that there is a file to be written over.
 */
static bool is_given_up(const cip_revision *r, const char *name)
{
    for (size_t i = 0; i < r->nmember; i++)
        if (r->member[i].to != NULL && strcmp(r->member[i].name, name) == 0)
            return true;
    return false;
}

/* In a store a member takes a name by being written under it. */
static cip_status start_renamed(cip_commit *c, const cip_revision *r, const cip_revision_member *m,
                                one_file *f, cip_err *err)
{
    f->name = m->to;
    f->whole = true;
    CIP_TRY(open_member(c, m->name, &f->after, err));
    return is_given_up(r, m->to) ? open_member(c, m->to, &f->was, err) : CIP_OK;
}

static cip_status start_member(cip_commit *c, const cip_revision *r, const cip_revision_member *m,
                               one_file *f, cip_err *err)
{
    f->name = m->name;
    f->as = m->as;
    if (m->change == CIP_MEMBER_RENAMED)
        return start_renamed(c, r, m, f, err);
    if (m->change != CIP_MEMBER_MADE)
        CIP_TRY(open_member(c, m->name, &f->was, err));
    f->whole = m->as->anew;
    return cip_io_open_revision(f->was != NULL ? f->was : c->io, m->as, &f->after, err);
}

static cip_status run_member(cip_commit *c, const cip_revision *r, size_t i, one_file *f,
                             cip_err *err)
{
    if (r->member[i].change >= CIP_MEMBER_GONE)
        return CIP_OK;
    CIP_TRY(start_member(c, r, &r->member[i], f, err));
    CIP_TRY(prepare(c, f, err));
    return write_file(c, f, err);
}

static cip_status run_own(cip_commit *c, const cip_commit_plan *p, one_file *f, cip_err *err)
{
    f->borrowed = true;
    f->was = c->io;
    f->after = p->after;
    f->as = p->r;
    f->whole = p->way == CIP_WAY_REPLACE;
    CIP_TRY(prepare(c, f, err));
    return write_file(c, f, err);
}

/* Members but for the switch, that, the file itself; `f` has room for one more than members. */
static cip_status run_all(cip_commit *c, const cip_commit_plan *p, one_file *f, size_t *n,
                          cip_err *err)
{
    const cip_revision *r = p->r;
    size_t last = r->nmember;
    *n = 0;
    for (size_t i = 0; i < r->nmember; i++) {
        if (r->last != NULL && strcmp(r->last, r->member[i].name) == 0)
            last = i;
        else
            CIP_TRY(run_member(c, r, i, &f[(*n)++], err));
    }
    if (last < r->nmember)
        CIP_TRY(run_member(c, r, last, &f[(*n)++], err));
    return run_own(c, p, &f[(*n)++], err);
}

/* What nothing names. */
static void unlink_gone(const cip_commit *c, const cip_revision *r)
{
    for (size_t i = 0; i < r->nmember; i++) {
        const cip_revision_member *m = &r->member[i];
        bool taken = false;
        for (size_t k = 0; m->to != NULL && k < r->nmember; k++)
            taken = taken || (r->member[k].to != NULL && strcmp(r->member[k].to, m->name) == 0);
        if (m->change == CIP_MEMBER_GONE || (m->to != NULL && !taken))
            cip_target_unlink(&c->target, m->name);
    }
}

cip_status cip_commit_to_target(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    one_file *f = NULL;
    size_t n = 0;
    bool back = true;
    if (p->way == CIP_WAY_NOTHING)
        return CIP_OK;
    CIP_TRY(CIP_NEW(&c->env->mem, &f, p->r->nmember + 1, err));
    cip_status st = run_all(c, p, f, &n, err);
    for (size_t i = n; st != CIP_OK && i-- > 0;)
        back = put_back(c, &f[i]) == CIP_OK && back;
    for (size_t i = 0; i < n; i++)
        end_file(&f[i]);
    cip_mem_put(&c->env->mem, f);
    if (st == CIP_OK)
        unlink_gone(c, p->r);
    return back ? st : not_put_back(st, err);
}
