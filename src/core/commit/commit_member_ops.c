/* SPDX-License-Identifier: BSD-3-Clause
 * A record's operations on members: made, as often as they have to be, and undone. Each says by
 * inodes which files it means, so that one that was made already is known, and nothing happens to
 * files that somebody put there since. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "core/commit/commit_impl.h"

static cip_status sync_place(const cip_commit *c, const cip_place *p, cip_err *err)
{
    return c->level == CIP_LEVEL_POWER ? cip_place_sync(p, err) : CIP_OK;
}

static bool is_file(const cip_commit *c, const struct stat *st, uint64_t inode)
{
    return S_ISREG(st->st_mode) && (uint64_t)st->st_ino == inode && cip_commit_is_ours(c, st);
}

static cip_status fail_gone(const char *name, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "'%.100s' is not the file that the update changes", name);
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* The member that is being written. */
typedef struct open_file {
    int fd;
    const char *name;
} open_file;

static cip_status open_file_op(cip_commit *c, const cip_patch_op *op, int *fd, cip_err *err)
{
    uint64_t inode = 0, old_len = 0;
    struct stat st;
    cip_place at = { .dir = -1 };
    bool there = false;
    *fd = -1;
    if (!cip_member_op_was(op, &inode, &old_len))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the journal is about other files too ('%.60s')", op->member);
    CIP_TRY(cip_commit_member_find(c, op->member, &at, &st, &there, err));
    cip_status got =
        !there ? fail_gone(op->member, err) : cip_store_open(&at, at.name, O_RDWR, 0, fd, err);
    cip_place_close(&at);
    CIP_TRY(got);
    if (fstat(*fd, &st) == 0 && is_file(c, &st, inode))
        return CIP_OK;
    close(*fd);
    *fd = -1;
    return fail_gone(op->member, err);
}

static cip_status finish(const cip_commit *c, open_file *f, cip_err *err)
{
    cip_status st =
        f->fd != -1 && c->level == CIP_LEVEL_POWER ? cip_store_sync(f->fd, err) : CIP_OK;
    close(f->fd); /* -1 is fine */
    *f = (open_file){ .fd = -1 };
    return st;
}

/* One length or write, with the bytes before or after it; the length stands before the writes. */
static cip_status write_op(cip_commit *c, const cip_patch_op *op, bool after, open_file *f,
                           cip_err *err)
{
    cip_bytes b = after ? op->after : op->before;
    struct stat st;
    if (op->kind == CIP_PATCH_LENGTH) {
        CIP_TRY(finish(c, f, err));
        CIP_TRY(open_file_op(c, op, &f->fd, err));
        f->name = op->member;
        if (!after)
            return CIP_OK;
        if (fstat(f->fd, &st) != 0)
            return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET,
                            "cannot get the status of a member file");
        return (uint64_t)st.st_size != op->offset ? cip_store_resize(f->fd, op->offset, err)
                                                  : CIP_OK;
    }
    if (f->fd == -1 || strcmp(f->name, op->member) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the journal is about other files too ('%.60s')", op->member);
    return cip_store_write(f->fd, op->offset, b.ptr, b.len, err);
}

static bool is_write(const cip_patch_op *op)
{
    return !cip_patch_op_own(op) && (op->kind == CIP_PATCH_LENGTH || op->kind == CIP_PATCH_WRITE);
}

/* --- names ------------------------------------------------------------------------------------ */

/* A name, and what is there. */
typedef struct named {
    cip_place at; /* dir -1: the folder is not there, nor is it */
    struct stat st;
    bool there;
} named;

static cip_status look_up(cip_commit *c, const char *name, named *out, cip_err *err)
{
    *out = (named){ .at = { .dir = -1 } };
    return cip_commit_member_look(c, name, &out->at, &out->st, &out->there, err);
}

/* The inode of the file that the name is taken from; 0: of none. */
static uint64_t replaces(const cip_patch_op *op)
{
    return op->before.len == 8 ? cip_load_u64(op->before.ptr, false) : 0;
}

static cip_status take_name(cip_commit *c, const cip_patch_op *op, const named *from,
                            const named *to, cip_err *err)
{
    uint64_t old = replaces(op);
    bool has = to->there && is_file(c, &to->st, op->offset);
    bool waits = from->there && is_file(c, &from->st, op->offset);
    if (has) /* both names, if a crash came between them */
        return waits ? cip_store_unlink(&from->at, from->at.name, err) : CIP_OK;
    if (!waits)
        return fail_gone(op->to, err);
    if (to->at.dir == -1)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "the folder of '%.100s' no longer exists", op->to);
    if (to->there && (old == 0 || !is_file(c, &to->st, old)))
        return cip_fail(err, CIP_ERR_EXISTS, CIP_NO_OFFSET, "'%.120s' exists", op->to);
    return cip_store_rename_to(&from->at, from->at.name, &to->at, to->at.name, to->there, err);
}

static cip_status rename_op(cip_commit *c, const cip_patch_op *op, cip_err *err)
{
    named from = { .at = { .dir = -1 } }, to = from;
    cip_status st;
    CIP_GO(look_up(c, op->member, &from, err));
    CIP_GO(look_up(c, op->to, &to, err));
    CIP_GO(take_name(c, op, &from, &to, err));
    st = sync_place(c, &to.at, err);
done:
    cip_place_close(&from.at);
    cip_place_close(&to.at);
    return st;
}

/* Back, where it had no other's name: removed, or under the name that it had. */
static cip_status unname_op(cip_commit *c, const cip_patch_op *op, cip_err *err)
{
    named from = { .at = { .dir = -1 } }, to = from;
    cip_status st;
    CIP_GO(look_up(c, op->member, &from, err));
    CIP_GO(look_up(c, op->to, &to, err));
    if (!to.there || !is_file(c, &to.st, op->offset))
        goto done;
    if (from.at.dir != -1 && !from.there)
        CIP_GO(cip_store_rename_to(&to.at, to.at.name, &from.at, from.at.name, false, err));
    else
        CIP_GO(cip_store_unlink(&to.at, to.at.name, err));
    st = sync_place(c, &to.at, err);
    if (st == CIP_OK && from.at.dir != -1)
        st = sync_place(c, &from.at, err);
done:
    cip_place_close(&from.at);
    cip_place_close(&to.at);
    return st;
}

static cip_status make_folder(cip_commit *c, const cip_patch_op *op, cip_err *err)
{
    const struct stat like = cip_commit_folder_like(c);
    named at;
    CIP_TRY(look_up(c, op->member, &at, err));
    cip_status st = CIP_OK;
    if (at.at.dir == -1)
        st = fail_gone(op->member, err);
    else if (!at.there)
        st = cip_store_make_folder(&at.at, at.at.name, &like, err);
    if (st == CIP_OK && !at.there)
        st = sync_place(c, &at.at, err);
    cip_place_close(&at.at);
    return st;
}

/* The folder in which names were removed last: it is synced once, before another one changes. */
static cip_status sync_last(const cip_commit *c, cip_place *last, cip_err *err)
{
    cip_status st = last->dir != -1 ? sync_place(c, last, err) : CIP_OK;
    cip_place_close(last);
    return st;
}

static bool is_same_folder(const cip_place *a, const cip_place *b)
{
    struct stat one, two;
    return a->dir != -1 && b->dir != -1 && fstat(a->dir, &one) == 0 && fstat(b->dir, &two) == 0 &&
           cip_is_same_file(&one, &two);
}

/* Removes the file that is meant, or with inode 0 a folder, if it is empty. */
static cip_status remove_op(cip_commit *c, const cip_patch_op *op, cip_place *last, cip_err *err)
{
    named at;
    cip_err own = CIP_ERR_INIT;
    cip_status st = CIP_OK;
    CIP_TRY(look_up(c, op->member, &at, err));
    bool file = at.there && op->offset != 0 && is_file(c, &at.st, op->offset);
    bool folder =
        at.there && op->offset == 0 && S_ISDIR(at.st.st_mode) && cip_commit_is_ours(c, &at.st);
    if ((file || folder) && !is_same_folder(last, &at.at)) {
        st = sync_last(c, last, err);
        if (st == CIP_OK)
            st = cip_place_sibling(&at.at, at.at.name, last, err);
    }
    if (st == CIP_OK && file)
        st = cip_store_unlink(&at.at, at.at.name, err);
    else if (st == CIP_OK && folder)
        st = cip_store_remove_folder(&at.at, at.at.name, &own);
    if (own.code != CIP_OK) /* one that somebody else has something in stays */
        st = st == CIP_ERR_BUSY ? CIP_OK : cip_err_give(err, &own, st);
    cip_place_close(&at.at);
    return st;
}

/* --- all of a record -------------------------------------------------------------------------- */

cip_status cip_commit_members_apply(cip_commit *c, const cip_patch *p, cip_err *err)
{
    open_file f = { .fd = -1 };
    cip_status st = CIP_OK;
    for (size_t i = 0; st == CIP_OK && i < p->n; i++) {
        const cip_patch_op *op = &p->op[i];
        if (is_write(op))
            st = write_op(c, op, true, &f, err);
        else if (op->kind == CIP_PATCH_RENAME)
            st = rename_op(c, op, err);
        else if (op->kind == CIP_PATCH_CREATE && op->offset == 0)
            st = make_folder(c, op, err);
    }
    cip_status last = finish(c, &f, st == CIP_OK ? err : NULL);
    return st != CIP_OK ? st : last;
}

cip_status cip_commit_members_remove(cip_commit *c, const cip_patch *p, cip_err *err)
{
    cip_place last = { .dir = -1 };
    cip_status st = CIP_OK;
    for (size_t i = 0; st == CIP_OK && i < p->n; i++)
        if (p->op[i].kind == CIP_PATCH_UNLINK)
            st = remove_op(c, &p->op[i], &last, err);
    if (st == CIP_OK)
        st = sync_last(c, &last, err);
    cip_place_close(&last);
    return st == CIP_OK ? cip_commit_unstage(c, err) : st;
}

static cip_status fail_done(const char *what, const char *name, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "the update has %s '%.60s' already and can only be completed "
                    "(cip_recover)",
                    what, name);
}

cip_status cip_commit_members_undoable(cip_commit *c, const cip_patch *p, cip_err *err)
{
    for (size_t i = 0; i < p->n; i++) {
        /* The old file of a name is still there, or there was none. */
        const cip_patch_op *op = &p->op[i];
        named at;
        uint64_t inode, old_len;
        bool gone = op->kind == CIP_PATCH_UNLINK && op->offset != 0;
        bool taken = op->kind == CIP_PATCH_RENAME && replaces(op) != 0;
        bool cut = cip_member_op_was(op, &inode, &old_len);
        if (gone || taken || cut) {
            CIP_TRY(look_up(c, taken ? op->to : op->member, &at, err));
            cip_place_close(&at.at);
            uint64_t must = gone ? op->offset : taken ? replaces(op) : inode;
            if (!at.there || !is_file(c, &at.st, must))
                return fail_done(gone ? "removed" : "replaced", taken ? op->to : op->member, err);
            if (cut && (uint64_t)at.st.st_size < old_len)
                return fail_done("cut", op->member, err);
        }
    }
    return CIP_OK;
}

cip_status cip_commit_members_undo(cip_commit *c, const cip_patch *p, cip_err *err)
{
    open_file f = { .fd = -1 };
    cip_status st = CIP_OK;
    for (size_t i = 0; st == CIP_OK && i < p->n; i++)
        if (is_write(&p->op[i]))
            st = write_op(c, &p->op[i], false, &f, err);
    cip_status last = finish(c, &f, st == CIP_OK ? err : NULL);
    for (size_t i = p->n; st == CIP_OK && i-- > 0;)
        if (p->op[i].kind == CIP_PATCH_RENAME)
            st = unname_op(c, &p->op[i], err);
    return st != CIP_OK ? st : last;
}

/* Cuts a member's end off, unless it is another file by now. */
static cip_status cut_member(cip_commit *c, const cip_patch_op *op, cip_err *err)
{
    uint64_t inode, old_len;
    struct stat st;
    int fd;
    cip_err own = CIP_ERR_INIT;
    if (!cip_member_op_was(op, &inode, &old_len))
        return CIP_OK;
    cip_status got = open_file_op(c, op, &fd, &own);
    if (got == CIP_ERR_CORRUPT)
        return CIP_OK;
    if (got != CIP_OK)
        cip_err_pass(err, &own);
    CIP_TRY(got);
    bool longer = fstat(fd, &st) == 0 && (uint64_t)st.st_size > old_len;
    if (longer)
        got = cip_store_resize(fd, old_len, err);
    if (longer && got == CIP_OK && c->level == CIP_LEVEL_POWER)
        got = cip_store_sync(fd, err);
    close(fd);
    return got;
}

cip_status cip_commit_members_drop(cip_commit *c, const cip_patch *p, cip_err *err)
{
    cip_place last = { .dir = -1 };
    cip_status st = CIP_OK;
    for (size_t i = p != NULL ? p->n : 0; st == CIP_OK && i-- > 0;) {
        if (p->op[i].kind == CIP_PATCH_CREATE)
            st = remove_op(c, &p->op[i], &last, err);
        if (p->op[i].kind == CIP_PATCH_LENGTH)
            st = cut_member(c, &p->op[i], err);
    }
    if (st == CIP_OK)
        st = sync_last(c, &last, err);
    cip_place_close(&last);
    return st == CIP_OK ? cip_commit_unstage(c, err) : st;
}

cip_status cip_commit_unstage(cip_commit *c, cip_err *err)
{
    struct stat st;
    if (fstatat(c->place.dir, c->fresh, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode))
        return CIP_OK;
    if (!cip_commit_is_own(c, c->fresh, c->own_fresh))
        return CIP_OK; /* of who updates the file that has the name by now */
    return cip_store_clear_folder(&c->place, c->fresh, &c->st, err);
}
