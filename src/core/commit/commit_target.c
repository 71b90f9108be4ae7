/* SPDX-License-Identifier: BSD-3-Clause
 * Updates in a store of the caller's. There are no records there that would outlive us, so a fault
 * of the machine amid an update leaves part of it; a method that fails does not, as long as the old
 * bytes, which are kept, can be written back. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "core/commit/commit_impl.h"
#include "core/take_options.h"
#include "io/temporary.h"

static cip_status begin(cip_commit *c, const cip_io_methods *read, const cip_edit_options *opts,
                        cip_err *err)
{
    cip_edit_options o;
    cip_io_methods m;
    CIP_TRY(CIP_OPTIONS_TAKE(cip_edit_options, opts, &o, err));
    if (read->struct_size != sizeof m)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected methods of struct_size %zu, found %zu", sizeof m,
                        read->struct_size);
    m = *read;
    m.close = NULL; /* the target's gives the user pointer back */
    c->level = o.level;
    return cip_io_open_user(c->env, &m, c->target.user, &c->io, err);
}

cip_status cip_commit_begin_io(cip_env *env, const cip_io_methods *read, const cip_target *target,
                               const cip_edit_options *opts, cip_commit **out, cip_err *err)
{
    cip_commit *c;
    cip_target own = *target;
    *out = NULL;
    cip_status st = CIP_NEW(&env->mem, &c, 1, err);
    if (st != CIP_OK) {
        cip_target_close(&own);
        return st;
    }
    c->env = env;
    c->fd = c->place.dir = -1;
    c->target = own;
    st = begin(c, read, opts, err);
    if (st != CIP_OK)
        cip_commit_end(c);
    else
        *out = c;
    return st;
}

static cip_status finish(const cip_commit *c, const cip_target *t, cip_err *err)
{
    return cip_target_finish(t, c->level == CIP_LEVEL_POWER, err);
}

/* --- members: files beside that come and go ----------------------------------------------------
 */

static cip_status fill_member(const cip_commit *c, const cip_target *t, const cip_revision *as,
                              cip_err *err)
{
    uint64_t at = 0;
    for (size_t i = 0; i < as->nsegment; i++) {
        const cip_segment *s = &as->segment[i];
        if (s->io != NULL)
            CIP_TRY(cip_target_copy(t, at, s->io, s->off, s->len, err));
        else if (s->ptr != NULL)
            CIP_TRY(cip_target_write(t, at, s->ptr, (size_t)s->len, err));
        else
            CIP_TRY(cip_target_fill(t, at, (uint8_t)s->off, s->len, err));
        at += s->len;
    }
    return finish(c, t, err);
}

static cip_status make_member(const cip_commit *c, const cip_revision_member *m, bool *made,
                              cip_err *err)
{
    cip_target t;
    CIP_TRY(cip_target_member(&c->target, m->name, &t, err));
    *made = true;
    cip_status st = fill_member(c, &t, m->as, err);
    cip_target_close(&t);
    return st;
}

/* The first n of the list, those that are made or those that go. */
static void unlink_members(const cip_commit *c, const cip_revision *r, size_t n,
                           cip_member_change change)
{
    for (size_t i = 0; i < n; i++)
        if (r->member[i].change == change)
            cip_target_unlink(&c->target, r->member[i].name);
}

/* All or none. */
static cip_status make_members(const cip_commit *c, const cip_revision *r, cip_err *err)
{
    cip_status st = CIP_OK;
    for (size_t i = 0; i < r->nmember && st == CIP_OK; i++) {
        bool made = false;
        if (r->member[i].change == CIP_MEMBER_MADE)
            st = make_member(c, &r->member[i], &made, err);
        if (st != CIP_OK)
            unlink_members(c, r, i + made, CIP_MEMBER_MADE);
    }
    return st;
}

/* --- the file itself ----------------------------------------------------------------------------
 */

/* What is added first: until then nothing that was there is touched. */
static cip_status write_changes(const cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    uint64_t was = c->io->size, becomes = p->after->size;
    if (becomes > was) {
        CIP_TRY(cip_target_copy(&c->target, was, p->after, was, becomes - was, err));
        if (c->level == CIP_LEVEL_POWER)
            CIP_TRY(cip_target_sync(&c->target, err));
    }
    for (size_t i = 0; i < p->nrun; i++) {
        const cip_patch_op *op = &p->patch.op[i];
        CIP_TRY(cip_target_write(&c->target, op->offset, op->after.ptr, op->after.len, err));
    }
    if (becomes < was)
        CIP_TRY(cip_target_resize(&c->target, becomes, err));
    return finish(c, &c->target, err);
}

/* `cut`: the bytes behind the new end. */
static cip_status undo_changes(const cip_commit *c, const cip_commit_plan *p, cip_io *cut)
{
    for (size_t i = 0; i < p->nrun; i++) {
        const cip_patch_op *op = &p->patch.op[i];
        CIP_TRY(cip_target_write(&c->target, op->offset, op->before.ptr, op->before.len, NULL));
    }
    CIP_TRY(cip_target_copy(&c->target, c->io->size - cut->size, cut, 0, cut->size, NULL));
    return cip_target_resize(&c->target, c->io->size, NULL);
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

static cip_status in_place(const cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    uint64_t was = c->io->size, becomes = p->after->size;
    cip_io *cut = NULL;
    cip_status st;
    CIP_GO(cip_temporary_new(c->env, NULL, &cut, err));
    if (becomes < was)
        CIP_GO(cip_temporary_add(cut, c->io, becomes, was - becomes, err));
    st = write_changes(c, p, err);
    if (st != CIP_OK && undo_changes(c, p, cut) != CIP_OK)
        not_put_back(st, err);
done:
    cip_io_close(cut);
    return st;
}

/* A file laid out anew, or more changes than are kept in memory: both files are kept meanwhile. */
static cip_status write_whole(const cip_commit *c, cip_io *from, cip_err *err)
{
    CIP_TRY(cip_target_copy(&c->target, 0, from, 0, from->size, err));
    return cip_target_resize(&c->target, from->size, err);
}

static cip_status by_rewriting(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    cip_io *new = NULL, *old = NULL;
    cip_status st;
    CIP_GO(cip_temporary_new(c->env, NULL, &new, err));
    CIP_GO(cip_temporary_new(c->env, NULL, &old, err));
    CIP_GO(cip_temporary_add(new, p->after, 0, p->after->size, err));
    CIP_GO(cip_temporary_add(old, c->io, 0, c->io->size, err));
    st = write_whole(c, new, err);
    if (st == CIP_OK)
        st = finish(c, &c->target, err);
    if (st != CIP_OK && write_whole(c, old, NULL) != CIP_OK)
        not_put_back(st, err);
done:
    cip_io_close(new);
    cip_io_close(old);
    return st;
}

static cip_status check_members(const cip_revision *r, cip_err *err)
{
    for (size_t i = 0; i < r->nmember; i++)
        if (r->member[i].change != CIP_MEMBER_MADE && r->member[i].change != CIP_MEMBER_GONE)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "'%.100s' changes: the caller's methods make and remove members only",
                            r->member[i].name);
    return CIP_OK;
}

cip_status cip_commit_to_target(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    if (p->way == CIP_WAY_NOTHING)
        return CIP_OK;
    CIP_TRY(check_members(p->r, err));
    CIP_TRY(make_members(c, p->r, err));
    cip_status st = p->way == CIP_WAY_REPLACE ? by_rewriting(c, p, err) : in_place(c, p, err);
    unlink_members(c, p->r, p->r->nmember, /* what nothing names */
                   st == CIP_OK ? CIP_MEMBER_GONE : CIP_MEMBER_MADE);
    return st;
}
