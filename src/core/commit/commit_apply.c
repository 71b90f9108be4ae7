/* SPDX-License-Identifier: BSD-3-Clause
 * The ways of a commit, step by step. What is on disk when each step is cut off is said beside it;
 * the fault test (tests/fault) tries all of them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/stop.h"
#include "core/commit/commit_impl.h"
#include "core/commit/memory_file.h"

/* A piece without its first bytes. */
static cip_status write_piece(int fd, uint64_t to, const cip_segment *s, uint64_t skip,
                              cip_err *err)
{
    const uint64_t n = s->len - skip;
    if (n == 0)
        return CIP_OK;
    if (s->io != NULL)
        return cip_store_copy(fd, to, s->io, s->off + skip, n, err);
    return s->ptr != NULL ? cip_store_write(fd, to, s->ptr + skip, (size_t)n, err)
                          : cip_store_fill(fd, to, (uint8_t)s->off, n, err);
}

static cip_status write_tail(const cip_revision *r, int fd, uint64_t from, cip_err *err)
{
    uint64_t at = r->anew ? 0 : r->tail_off;
    for (size_t i = 0; i < r->nsegment; i++) {
        const cip_segment *s = &r->segment[i];
        const uint64_t skip = at < from ? cip_min_u64(from - at, s->len) : 0;
        if (s->io == NULL && s->ptr == NULL && s->off == 0 && skip != s->len)
            CIP_TRY(cip_store_resize(fd, at + s->len, err)); /* zeros cost nothing */
        else
            CIP_TRY(write_piece(fd, at + skip, s, skip, err));
        at += s->len;
    }
    return CIP_OK;
}

static cip_status write_placed(const cip_revision *r, int fd, cip_err *err)
{
    for (size_t i = 0; i < r->nplaced; i++)
        CIP_TRY(write_piece(fd, r->placed[i].at, &r->placed[i].what, 0, err));
    return CIP_OK;
}

/* What the old file does not name needs no record, and may stay if the rest is not made. It is
 * synced with what is added to the end, or here. */
static cip_status place(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    if (p->r->nplaced == 0)
        return CIP_OK;
    CIP_TRY(write_placed(p->r, c->fd, err));
    return p->after->size > c->io->size ? CIP_OK : cip_commit_sync_file(c, err);
}

/* Without a tail they come from a patch. */
cip_status cip_commit_write_behind(const cip_revision *r, int fd, uint64_t from, cip_io *after,
                                   cip_err *err)
{
    if (r->has_tail)
        return write_tail(r, fd, from, err);
    return cip_store_copy(fd, from, after, from, cip_bytes_left(after->size, from), err);
}

/* Longer, with nothing visible yet: the tmp says where the old end is. On failure all is undone. */
static cip_status add_tail(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    cip_status st = CIP_OK;
    CIP_TRY(cip_commit_write_tmp(c, &p->patch, err));
    if (p->after->size > c->io->size) {
        st = cip_commit_write_behind(p->r, c->fd, c->io->size, p->after, err);
        if (st == CIP_OK)
            st = cip_commit_sync_file(c, err);
    }
    if (st == CIP_OK)
        st = cip_commit_members_extend(c, p, err);
    if (st != CIP_OK)
        cip_commit_cut(c, c->io->size, NULL);
    return st;
}

/* Until the tmp is gone for good the file counts as it was: readers leave out what lies behind the
 * old end, the next writer cuts it. */
static cip_status by_append(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    CIP_TRY(place(c, p, err));
    CIP_TRY(add_tail(c, p, err));
    cip_status st = cip_commit_named(c, err);
    if (st == CIP_OK)
        st = cip_commit_settle(c, c->tmp, err);
    if (st != CIP_OK)
        cip_commit_cut(c, c->io->size, NULL);
    return st;
}

cip_status cip_commit_take_readers(cip_commit *c, cip_err *err)
{
    if (cip_commit_take(c, CIP_LOCK_READERS) != CIP_LOCK_TAKEN)
        return CIP_OK;
    return cip_fail(
        err, CIP_ERR_BUSY, CIP_NO_OFFSET,
        "another program is reading the file, and this update would overwrite bytes in it");
}

void cip_commit_let_readers(cip_commit *c)
{
    cip_store_unlock(c->fd, CIP_LOCK_READERS);
}

/* Whoever opens the file from now on sees it as it is now. */
bool cip_commit_is_alone(cip_commit *c)
{
    if (cip_commit_has_target(c))
        return cip_memory_is(&c->target);
    if (c->folder || cip_store_lock(c->fd, CIP_LOCK_READERS, false) != CIP_LOCK_HELD)
        return false;
    cip_store_unlock(c->fd, CIP_LOCK_READERS);
    return true;
}

static bool is_of_head(const cip_commit_plan *p)
{
    const cip_patch_op *op = &p->patch.op[0];
    return op->offset + op->after.len <= p->r->head;
}

/* Bytes that are read again and again change only while nobody reads them; a header that was read
 * at open may change under readers. */
static cip_status switch_alone(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    const bool of_head = is_of_head(p);
    if (!of_head)
        CIP_TRY(cip_commit_take_readers(c, err));
    const cip_patch_op *op = &p->patch.op[0];
    cip_status st = cip_commit_named(c, err);
    if (st == CIP_OK) {
        st = cip_store_write(c->fd, op->offset, op->after.ptr, op->after.len, err);
        if (st == CIP_OK)
            st = cip_commit_sync_file(c, err);
        if (st != CIP_OK)
            cip_store_write(c->fd, op->offset, op->before.ptr, op->before.len, NULL);
    }
    if (!of_head)
        cip_commit_let_readers(c);
    return st;
}

/* Old until the one write, new after it. A tmp that is left says which by the bytes it names. */
static cip_status add_and_switch(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    CIP_TRY(place(c, p, err));
    if (p->after->size == c->io->size)
        return switch_alone(c, p, err);
    CIP_TRY(add_tail(c, p, err));
    cip_status st = switch_alone(c, p, err);
    if (st != CIP_OK) {
        cip_commit_cut(c, c->io->size, NULL);
        return st;
    }
    cip_commit_drop_tmp(c, NULL); /* the update is made, with or without it */
    return CIP_OK;
}

/* Old until the rename; from then on the journal makes it new for readers, whatever part of it is
 * in the file. */
static cip_status seal_and_replay(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    cip_status st;
    CIP_GO(cip_commit_take_readers(c, err));
    CIP_GO(cip_commit_named(c, err));
    CIP_GO(cip_store_rename(&c->place, c->tmp, c->journal, false, err));
    c->sealed = true;
    CIP_TRY(cip_commit_sync_names(c, err));
    return cip_commit_replay(c, &p->patch, err);
done:
    cip_commit_cut(c, c->io->size, NULL);
    return st;
}

/* New members wait in a folder of ours, old ones are longer than they were: all of that goes if
 * the seal is not set. */
static cip_status by_journal(cip_commit *c, cip_commit_plan *p, cip_err *err)
{
    CIP_TRY(cip_commit_take_readers(
        c, err)); /* told before the work; readers may come while it is done */
    if (p->after->size > c->io->size || p->nmember != 0)
        cip_store_unlock(c->fd, CIP_LOCK_READERS);
    CIP_TRY(place(c, p, err));
    CIP_TRY(cip_commit_members_make(c, p, err));
    c->made = &p->patch;
    cip_status st = cip_commit_members_check(c, p, false, err);
    if (st == CIP_OK)
        st = add_tail(c, p, err);
    if (st != CIP_OK) {
        cip_commit_unstage(c, NULL); /* where there is no record yet */
    } else {
        st = cip_commit_members_check(c, p, true, err);
        if (st == CIP_OK)
            st = seal_and_replay(c, p, err);
        else
            cip_commit_cut(c, c->io->size, NULL);
    }
    cip_store_unlock(c->fd, CIP_LOCK_READERS);
    return st;
}

static cip_status by_switch(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    if (is_of_head(p)) {
        cip_commit_switches_begin(c, p->r);
    } else {
        CIP_TRY(cip_commit_take_readers(c, err)); /* told before the work; readers may come */
        cip_commit_let_readers(c);
    }
    cip_status st = add_and_switch(c, p, err);
    cip_commit_switches_end(c, st == CIP_OK ? p->after->size : c->io->size);
    return st;
}

static cip_status by_cut(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    CIP_TRY(cip_commit_take_readers(c, err));
    cip_status st = cip_commit_named(c, err);
    if (st == CIP_OK)
        st = cip_store_resize(c->fd, p->after->size, err);
    if (st == CIP_OK)
        st = cip_commit_sync_file(c, err);
    cip_store_unlock(c->fd, CIP_LOCK_READERS);
    return st;
}

/* What stays, the changes in it, the tail. */
cip_status cip_commit_write_new(const cip_revision *r, cip_io *was, uint64_t size, int fd,
                                cip_err *err)
{
    uint64_t below = r->anew ? 0 : r->has_tail ? r->tail_off : size;
    if (below != 0)
        CIP_TRY(cip_store_copy(fd, 0, was, 0, cip_min_u64(below, was->size), err));
    for (size_t i = 0; i < r->patch.n; i++) {
        const cip_patch_op *op = &r->patch.op[i];
        if (op->kind == CIP_PATCH_WRITE)
            CIP_TRY(write_piece(fd, op->offset,
                                &(cip_segment){ op->after.ptr, op->io, op->io_off, op->after.len },
                                0, err));
        else
            CIP_TRY(cip_store_resize(fd, op->offset, err));
    }
    CIP_TRY(write_placed(r, fd, err));
    CIP_TRY(write_tail(r, fd, 0, err));
    return cip_store_resize(fd, size, err);
}

static cip_status by_replacing(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    cip_place place = { .dir = -1 };
    cip_replace *r = NULL;
    cip_status st;
    CIP_TRY(cip_place_sibling(&c->place, c->place.name, &place, err));
    const cip_replace_how how = { .level = c->level,
                                  .overwrite = true,
                                  .break_links = c->break_links,
                                  .temp = c->fresh,
                                  .of = c };
    CIP_TRY(cip_replace_at(&c->env->mem, place, &how, &r, err));
    CIP_GO(cip_commit_write_new(p->r, c->io, p->after->size, cip_replace_descriptor(r), err));
    st = cip_replace_commit(r, err);
done:
    cip_replace_end(r);
    return st;
}

/* Somebody is in the way: whether he is so for a while, and nothing of the update is left in the
 * file. Until it is tried again other programs may read. `checked`: the file was seen unchanged. */
static bool may_try_again(cip_commit *c, bool checked)
{
    if (c->sealed || cip_commit_has_target(c) || !(checked || cip_lock_file_is_same(&c->foreign)))
        return false;
    if (checked)
        cip_io_taken_back(c->io);
    cip_commit_let_foreign(c);
    return true;
}

bool cip_commit_is_ready(const cip_commit *c)
{
    return c->ready;
}

static cip_status apply(cip_commit *c, const cip_revision *r, cip_err *err)
{
    cip_commit_plan p;
    cip_status st;
    bool checked = false, asked = false;
    if (!cip_commit_has_target(c))
        CIP_TRY(cip_owned(c->owner, err));
    CIP_GO(cip_commit_plan_make(c, r, &p, err));
    CIP_GO(cip_commit_named(c, err)); /* before the work; once more when it is done */
    if (p.way != CIP_WAY_NOTHING && !cip_commit_has_target(c))
        CIP_GO(cip_commit_take_foreign(c, err));
    asked = true;
    CIP_GO(cip_io_unchanged(c->io, err)); /* by one who knows no locks */
    checked = true;
    if (cip_commit_has_target(c)) {
        st = cip_commit_to_target(c, &p, err);
        goto done;
    }
    switch (p.way) {
    case CIP_WAY_NOTHING:
        break;
    case CIP_WAY_CUT:
        CIP_GO(by_cut(c, &p, err));
        break;
    case CIP_WAY_APPEND:
        CIP_GO(by_append(c, &p, err));
        break;
    case CIP_WAY_SWITCH:
        CIP_GO(by_switch(c, &p, err));
        break;
    case CIP_WAY_JOURNAL:
        CIP_GO(by_journal(c, &p, err));
        break;
    case CIP_WAY_REPLACE:
        CIP_GO(by_replacing(c, &p, err));
        break;
    }
done:
    c->made = NULL;
    cip_commit_plan_clear(&p);
    if (st != CIP_OK) {
        /* From the seal on the update is made, whatever fails then. */
        char why[160];
        if (c->sealed && err != NULL) {
            snprintf(why, sizeof why, "%.159s", err->text);
            snprintf(err->text, sizeof err->text,
                     "%s; the change is valid nevertheless: the next program that writes to the "
                     "file completes it",
                     why);
        }
    }
    c->ready = st == CIP_ERR_BUSY && (checked || !asked) && may_try_again(c, checked);
    return st;
}

cip_status cip_commit_apply(cip_commit *c, const cip_revision *r, cip_err *err)
{
    const cip_stop stop = cip_stop_pause(); /* from here on it is all or nothing by the plan */
    cip_status st = apply(c, r, err);
    cip_stop_set(stop);
    return st;
}
