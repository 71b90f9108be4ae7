/* SPDX-License-Identifier: BSD-3-Clause
 * Journals from the writer's side: written under another name, sealed by a rename, applied,
 * undone, cleared away. The table of design section 2 is cip_commit_recover. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "core/commit/commit_impl.h"

cip_status cip_commit_sync_file(cip_commit *c, cip_err *err)
{
    return c->level == CIP_LEVEL_POWER ? cip_store_sync(c->fd, err) : CIP_OK;
}

cip_status cip_commit_sync_names(cip_commit *c, cip_err *err)
{
    return c->level == CIP_LEVEL_POWER ? cip_place_sync(&c->place, err) : CIP_OK;
}

/* The journal may be read by whom the file may, and belongs to its owner where that can be. */
static cip_status fill_tmp(cip_commit *c, int fd, cip_bytes bytes, cip_err *err)
{
    struct stat like = c->st;
    like.st_mode &= 0666;
    CIP_TRY(cip_store_take_after(&c->env->mem, fd, -1, &like, err));
    CIP_TRY(cip_store_write(fd, 0, bytes.ptr, bytes.len, err));
    return c->level == CIP_LEVEL_POWER ? cip_store_sync(fd, err) : CIP_OK;
}

static cip_status store_tmp(cip_commit *c, cip_bytes bytes, cip_err *err)
{
    int fd = -1;
    CIP_TRY(cip_store_open(&c->place, c->tmp, O_WRONLY | O_CREAT | O_EXCL, 0600, &fd, err));
    close(c->own_tmp); /* of a try before; -1 is fine */
    c->own_tmp = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    cip_status st = fill_tmp(c, fd, bytes, err);
    if (close(fd) != 0 && st == CIP_OK)
        st = cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "cannot write the journal");
    if (st == CIP_OK)
        st = cip_commit_sync_names(c, err);
    if (st != CIP_OK)
        cip_store_unlink(&c->place, c->tmp, NULL);
    return st;
}

static cip_status sync_attributes(cip_commit *c, cip_err *err)
{
    return c->level == CIP_LEVEL_POWER ? cip_store_sync_all(c->fd, err) : CIP_OK;
}

/* From before the first byte on the file says, under whatever name it is found, that an update is
 * being made of it; but for file systems that keep no attributes. */
static cip_status point(cip_commit *c, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    if (c->folder) /* its record lies in it, and goes where it goes */
        return CIP_OK;
    cip_status st = cip_record_open(c->fd, c->place.name, &c->record, &own);
    if (st == CIP_ERR_UNSUPPORTED)
        return CIP_OK;
    if (st == CIP_OK)
        st = sync_attributes(c, &own);
    if (st != CIP_OK) {
        cip_commit_forget(c, NULL);
        cip_err_pass(err, &own);
    }
    return st;
}

cip_status cip_commit_forget(cip_commit *c, cip_err *err)
{
    if (c->record.state == CIP_RECORD_NONE)
        return CIP_OK;
    c->record = (cip_record){ .state = CIP_RECORD_NONE };
    return cip_record_clear(c->fd, err);
}

/* First under all names of the file at once; without that, one name would go on showing what the
 * record says while another one shows the file. */
cip_status cip_commit_settle(cip_commit *c, const char *name, cip_err *err)
{
    if (c->record.state == CIP_RECORD_OPEN) {
        CIP_TRY(cip_record_settle(c->fd, &c->record, err));
        CIP_TRY(sync_attributes(c, err));
    }
    if (cip_commit_is_own(c, name, c->own_tmp)) /* and not of who updates another file */
        CIP_TRY(cip_store_unlink(&c->place, name, err));
    CIP_TRY(cip_commit_sync_names(c, err)); /* or it could come back over later updates */
    cip_commit_forget(c, NULL);             /* that it is settled may stay */
    return CIP_OK;
}

cip_status cip_commit_write_tmp(cip_commit *c, const cip_patch *p, cip_err *err)
{
    cip_buf bytes = { .mem = &c->env->mem };
    cip_status st;
    CIP_GO(cip_journal_encode(p, (uint64_t)c->st.st_dev, (uint64_t)c->st.st_ino, &bytes, err));
    CIP_GO(store_tmp(c, (cip_bytes){ bytes.ptr, bytes.len }, err));
    st = point(c, err);
    if (st != CIP_OK)
        cip_store_unlink(&c->place, c->tmp, NULL);
done:
    cip_buf_clear(&bytes);
    return st;
}

static cip_status file_size(const cip_commit *c, uint64_t *size, cip_err *err)
{
    struct stat st;
    if (fstat(c->fd, &st) != 0)
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "cannot get the status of '%.100s'",
                        c->path);
    *size = (uint64_t)st.st_size;
    return CIP_OK;
}

static cip_status resize(cip_commit *c, uint64_t nbytes, cip_err *err)
{
    uint64_t size = 0;
    if (c->folder)
        return CIP_OK;
    CIP_TRY(file_size(c, &size, err));
    return size != nbytes ? cip_store_resize(c->fd, nbytes, err) : CIP_OK;
}

/* All writes, with the bytes before or after them. */
static cip_status write_all(cip_commit *c, const cip_patch *p, bool after, cip_err *err)
{
    for (size_t i = 0; i < p->n; i++) {
        const cip_patch_op *op = &p->op[i];
        cip_bytes b = after ? op->after : op->before;
        if (op->kind == CIP_PATCH_WRITE && cip_patch_op_own(op))
            CIP_TRY(cip_store_write(c->fd, op->offset, b.ptr, b.len, err));
    }
    return CIP_OK;
}

cip_status cip_commit_replay(cip_commit *c, const cip_patch *p, cip_err *err)
{
    CIP_TRY(cip_commit_members_apply(c, p, err));
    CIP_TRY(write_all(c, p, true, err));
    CIP_TRY(resize(c, p->new_len, err));
    CIP_TRY(cip_commit_sync_file(c, err));
    CIP_TRY(cip_commit_members_remove(c, p, err));
    return cip_commit_settle(c, c->journal, err);
}

/* Whatever it is, and whoever's; a link goes, not what it points to. */
static cip_status force_away(cip_commit *c, const char *name, cip_err *err)
{
    if (unlinkat(c->place.dir, name, 0) == 0 || errno == ENOENT)
        return CIP_OK;
    int errnum = errno;
    if (strcmp(name, c->fresh) == 0 && cip_commit_unstage(c, NULL) == CIP_OK)
        return CIP_OK;
    if (unlinkat(c->place.dir, name, AT_REMOVEDIR) == 0)
        return CIP_OK;
    if (errno == ENOTEMPTY || errno == EEXIST)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "'%.120s' is a folder that is not empty",
                        name);
    char what[160];
    snprintf(what, sizeof what, "cannot remove '%.120s'", name);
    return cip_fail_errno(err, errnum, CIP_NO_OFFSET, what);
}

/* With the old bytes back in place the journal says as little as one that was never sealed, and is
 * called so, before what it added is cut off. */
cip_status cip_commit_undo(cip_commit *c, const cip_patch *p, cip_err *err)
{
    uint64_t size = 0;
    CIP_TRY(file_size(c, &size, err));
    if (!c->folder && size < p->old_len)
        return cip_fail(
            err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
            "the update has already truncated the file and can only be completed (cip_recover)");
    CIP_TRY(cip_commit_members_undoable(c, p, err));
    CIP_TRY(write_all(c, p, false, err));
    CIP_TRY(cip_commit_members_undo(c, p, err));
    CIP_TRY(cip_commit_sync_file(c, err));
    c->made = p;
    CIP_TRY(force_away(c, c->tmp, err));
    CIP_TRY(cip_store_rename(&c->place, c->journal, c->tmp, true, err));
    CIP_TRY(cip_commit_sync_names(c, err));
    return cip_commit_cut(c, p->old_len, err);
}

cip_status cip_commit_drop_tmp(cip_commit *c, cip_err *err)
{
    if (cip_commit_settle(c, c->tmp, NULL) == CIP_OK)
        return CIP_OK;
    CIP_TRY(cip_commit_forget(c, err)); /* needs no room */
    CIP_TRY(sync_attributes(c, err));
    return cip_commit_settle(c, c->tmp, err);
}

cip_status cip_commit_cut(cip_commit *c, uint64_t nbytes, cip_err *err)
{
    CIP_TRY(resize(c, nbytes, err));
    CIP_TRY(cip_commit_sync_file(c, err));
    CIP_TRY(cip_commit_members_drop(c, c->made, err));
    return cip_commit_drop_tmp(c, err); /* until it is gone it says that nothing was made */
}

/* Removes what is left under one of our names; refuses to touch what somebody else put there. */
static cip_status clear_name(cip_commit *c, const char *name, bool *any, cip_err *err)
{
    struct stat st;
    if (fstatat(c->place.dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return CIP_OK;
    bool own = st.st_uid == c->st.st_uid || st.st_uid == geteuid();
    *any = true;
    if (own && S_ISDIR(st.st_mode) && strcmp(name, c->fresh) == 0)
        return cip_commit_unstage(c, err);
    if (!S_ISREG(st.st_mode) || !own)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "'%.100s' is in the way: it is a link, not a file, or belongs to another "
                        "user; see cip_recover",
                        name);
    return cip_store_unlink(&c->place, name, err);
}

cip_status cip_commit_throw_away(cip_commit *c, bool journal, cip_err *err)
{
    CIP_TRY(force_away(c, c->tmp, err));
    CIP_TRY(force_away(c, c->fresh, err));
    if (journal)
        CIP_TRY(force_away(c, c->journal, err));
    return cip_commit_sync_names(c, err);
}

static cip_status clear_left(cip_commit *c, cip_journal_state state, const cip_patch *p,
                             cip_err *err)
{
    if (state == CIP_JOURNAL_APPLIES)
        return cip_commit_replay(c, p, err);
    c->made = p;
    if (state == CIP_JOURNAL_UNSEALED)
        return cip_commit_cut(c, p->new_len, err);
    if (state == CIP_JOURNAL_SETTLED)
        CIP_TRY(cip_store_unlink(&c->place, c->journal, err));
    if (state == CIP_JOURNAL_SETTLED || c->record.state == CIP_RECORD_OPEN)
        return cip_commit_settle(c, c->tmp, err);
    return cip_commit_forget(c, err);
}

/* Whether the record that is beside is ours. */
static bool is_own_record(const cip_commit *c)
{
    struct stat st;
    return (fstatat(c->place.dir, c->journal, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
            fstatat(c->place.dir, c->tmp, &st, AT_SYMLINK_NOFOLLOW) == 0) &&
           st.st_uid == geteuid();
}

/* Always at the level `power`: that may be what the interrupted update was promised. */
cip_status cip_commit_recover(cip_commit *c, cip_err *err)
{
    cip_journal_state state;
    const cip_level level = c->level;
    cip_patch p = { .arena = { .mem = &c->env->mem } };
    char why[256] = "";
    cip_status st;
    c->level = CIP_LEVEL_POWER;
    c->own_record = is_own_record(c);
    CIP_GO(cip_journal_find(c->env, c->path, c->io, &state, &p, why, err));
    if (state == CIP_JOURNAL_ALIEN || state == CIP_JOURNAL_IGNORED || state == CIP_JOURNAL_LOST) {
        cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "%.140s; see cip_recover", why);
        CIP_GO(cip_fail_in(err, CIP_ERR_CORRUPT, "journal"));
    }
    if (state != CIP_JOURNAL_NONE)
        CIP_GO(cip_commit_take_foreign(c, err));
    CIP_GO(clear_left(c, state, &p, err));
    CIP_GO(cip_commit_name(c, c->place.name, err));
    bool any = false;
    CIP_GO(clear_name(c, c->tmp, &any, err));
    CIP_GO(clear_name(c, c->fresh, &any, err));
    if (any)
        CIP_GO(cip_commit_sync_names(c, err));
    if (state != CIP_JOURNAL_NONE)
        st = cip_commit_reopen(c, err);
done:
    c->level = level;
    c->made = NULL;
    cip_patch_clear(&p);
    return st;
}
