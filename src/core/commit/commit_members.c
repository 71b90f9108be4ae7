/* SPDX-License-Identifier: BSD-3-Clause
 * Members of a revision, up to the seal. New contents are complete in a folder of ours before the
 * record says which names they take; what is added to members lies behind their ends, and the
 * record says where these were: so until the seal nothing that counts has changed. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/num.h"
#include "core/commit/commit_impl.h"

/* --- as they are ------------------------------------------------------------------------------ */

cip_status cip_commit_member_look(cip_commit *c, const char *name, cip_place *at, struct stat *st,
                                  bool *there, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    *there = false;
    cip_status got = cip_place_beneath(&c->place, name, at, &own);
    if (got == CIP_ERR_NOT_FOUND)
        return CIP_OK;
    if (got != CIP_OK)
        cip_err_pass(err, &own);
    CIP_TRY(got);
    *there = fstatat(at->dir, at->name, st, AT_SYMLINK_NOFOLLOW) == 0;
    return CIP_OK;
}

cip_status cip_commit_member_find(cip_commit *c, const char *name, cip_place *at, struct stat *st,
                                  bool *there, cip_err *err)
{
    CIP_TRY(cip_commit_member_look(c, name, at, st, there, err));
    if (!*there)
        cip_place_close(at);
    return CIP_OK;
}

/* A record may be of the file's owner: then it must not make us change files of our own. */
bool cip_commit_is_ours(const cip_commit *c, const struct stat *st)
{
    bool own = (!c->recovering || c->own_record) && st->st_uid == geteuid();
    return own || st->st_uid == c->st.st_uid;
}

static cip_status must_be_there(cip_commit *c, const cip_revision_member *m, cip_member_plan *mp,
                                const struct stat *st, cip_err *err)
{
    bool folder = m->change == CIP_MEMBER_FOLDER_GONE;
    if (!(folder ? S_ISDIR(st->st_mode) : S_ISREG(st->st_mode)) || !cip_commit_is_ours(c, st))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "'%.120s' is not a regular file, or belongs to another user", m->name);
    uint64_t inode = mp->inode != 0 ? mp->inode : m->inode;
    uint64_t device = mp->inode != 0 ? mp->device : m->device;
    if (inode != 0 && (inode != (uint64_t)st->st_ino || device != (uint64_t)st->st_dev))
        return cip_fail(err, CIP_ERR_STALE, CIP_NO_OFFSET,
                        "'%.120s' was replaced since it was read", m->name);
    mp->inode = (uint64_t)st->st_ino;
    mp->device = (uint64_t)st->st_dev;
    if (m->change == CIP_MEMBER_PATCHED && mp->was != (uint64_t)st->st_size)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "file changed since open: '%.100s' has %ju bytes, not %" PRIu64, m->name,
                        (uintmax_t)st->st_size, mp->was);
    return CIP_OK;
}

static cip_status fail_vanished(const char *name, cip_err *err)
{
    return cip_fail(err, CIP_ERR_STALE, CIP_NO_OFFSET, "'%.120s' no longer exists", name);
}

/* Fills in, or compares, which file it is. */
static cip_status look_at(cip_commit *c, const cip_revision *r, size_t i, cip_member_plan *mp,
                          cip_err *err)
{
    const cip_revision_member *m = &r->member[i];
    const char *fresh = m->change == CIP_MEMBER_MADE ? m->name : m->to;
    struct stat st;
    cip_place at = { .dir = -1 };
    bool there;
    if (fresh != NULL && !cip_revision_gives_up(r, fresh)) {
        CIP_TRY(cip_commit_member_find(c, fresh, &at, &st, &there, err));
        cip_place_close(&at);
        if (there)
            return cip_fail(err, CIP_ERR_EXISTS, CIP_NO_OFFSET, "'%.120s' exists", fresh);
    }
    if (m->change == CIP_MEMBER_MADE)
        return CIP_OK;
    CIP_TRY(cip_commit_member_find(c, m->name, &at, &st, &there, err));
    cip_place_close(&at);
    if (!there)
        return fail_vanished(m->name, err);
    return must_be_there(c, m, mp, &st, err);
}

cip_status cip_commit_members_check(cip_commit *c, const cip_commit_plan *p, bool extended,
                                    cip_err *err)
{
    for (size_t i = 0; p->nmember != 0 && i < p->r->nmember; i++) {
        cip_member_plan mp = p->member[i];
        mp.was = extended && !mp.staged && mp.becomes > mp.was ? mp.becomes : mp.was;
        CIP_TRY(look_at(c, p->r, i, &mp, err));
    }
    return CIP_OK;
}

/* --- what differs in those that change in place ----------------------------------------------- */

/* For writing, and as an io. The caller closes both. */
static cip_status open_member(cip_commit *c, const char *name, int *fd, cip_io **io, cip_err *err)
{
    struct stat st;
    cip_place at = { .dir = -1 };
    bool there;
    *fd = -1;
    *io = NULL;
    CIP_TRY(cip_commit_member_find(c, name, &at, &st, &there, err));
    if (!there)
        return fail_vanished(name, err);
    cip_status got = cip_store_open(&at, at.name, O_RDWR, 0, fd, err);
    cip_place_close(&at);
    CIP_TRY(got);
    int again = fcntl(*fd, F_DUPFD_CLOEXEC, 0);
    if (again == -1)
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "cannot open '%.120s'", name);
    return cip_file_new(c->env, again, name, NULL, "", io, err);
}

/* Bytes in a journal: the form of operations is described in io/README.md. */
static cip_status fill_ops(cip_commit_plan *p, const char *name, cip_member_plan *mp,
                           const cip_runs *runs, cip_err *err)
{
    cip_patch own = { .arena = p->patch.arena };
    cip_patch_op length = { .kind = CIP_PATCH_LENGTH, .member = name, .to = "" };
    uint8_t *before = NULL;
    cip_status st;
    CIP_GO(cip_arena_get(&own.arena, 16, (void **)&before, err));
    cip_store_u64(before, mp->inode, false);
    cip_store_u64(before + 8, mp->was, false);
    length.offset = mp->becomes;
    length.before = (cip_bytes){ before, 16 };
    CIP_GO(cip_patch_push(&own, &length, err));
    CIP_GO(cip_commit_add_writes(&own, name, runs, err));
    mp->op = own.op;
    mp->nop = own.n;
done:
    p->patch.arena = own.arena;
    return st;
}

static cip_status check_links(const cip_commit *c, cip_member_plan *mp, const struct stat *st,
                              const char *name, cip_err *err)
{
    if (st->st_nlink <= 1)
        return CIP_OK;
    mp->staged = true;
    return c->break_links
               ? CIP_OK
               : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                          "'%.80s' has several names (hard links), which would all change; "
                          ".break_links replaces it",
                          name);
}

static cip_status compare(cip_commit *c, cip_commit_plan *p, size_t i, cip_io *was,
                          uint64_t *journal, cip_err *err)
{
    const cip_revision_member *m = &p->r->member[i];
    cip_member_plan *mp = &p->member[i];
    cip_io *after = NULL;
    cip_runs runs = { .was = was };
    uint64_t most = cip_commit_journal_most(c);
    uint64_t left = most > *journal ? most - *journal : 0;
    cip_status st;
    CIP_GO(cip_io_open_revision(was, m->as, &after, err));
    mp->becomes = after->size;
    runs.after = after;
    CIP_GO(cip_commit_compare(&runs, m->as, left, err));
    mp->nothing = runs.n == 0 && mp->was == mp->becomes;
    mp->staged = mp->staged || m->as->anew || cip_runs_bytes(&runs) > left;
    if (mp->nothing || mp->staged)
        goto done;
    *journal += cip_runs_bytes(&runs) + 64 + strlen(m->name);
    st = fill_ops(p, m->name, mp, &runs, err);
done:
    cip_runs_clear(&runs);
    cip_io_close(after);
    return st;
}

static cip_status plan_change(cip_commit *c, cip_commit_plan *p, size_t i, uint64_t *journal,
                              cip_err *err)
{
    const cip_revision_member *m = &p->r->member[i];
    cip_member_plan *mp = &p->member[i];
    struct stat st;
    cip_io *was = NULL;
    int fd;
    cip_status got = open_member(c, m->name, &fd, &was, err);
    if (got == CIP_OK && cip_io_stat(was, &st)) {
        mp->was = was->size;
        got = must_be_there(c, m, mp, &st, err);
        if (got == CIP_OK)
            got = check_links(c, mp, &st, m->name, err);
        if (got == CIP_OK)
            got = compare(c, p, i, was, journal, err);
    }
    cip_io_close(was);
    close(fd); /* -1 is fine */
    return got;
}

cip_status cip_commit_members_plan(cip_commit *c, cip_commit_plan *p, uint64_t journal,
                                   cip_err *err)
{
    const cip_revision *r = p->r;
    p->nmember = r->nmember;
    if (r->nmember == 0 || cip_commit_has_target(c))
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(&p->patch.arena, &p->member, r->nmember, err));
    for (size_t i = 0; i < r->nmember; i++) {
        p->member[i].staged =
            r->member[i].change == CIP_MEMBER_MADE || r->member[i].change == CIP_MEMBER_REPLACED;
        if (r->member[i].change == CIP_MEMBER_PATCHED)
            CIP_TRY(plan_change(c, p, i, &journal, err));
        p->nmember -= p->member[i].nothing;
    }
    return CIP_OK;
}

/* --- new contents, in a folder of ours -------------------------------------------------------- */

struct stat cip_commit_folder_like(const cip_commit *c)
{
    struct stat like = c->st;
    if (!c->folder)
        like.st_mode = (like.st_mode & 0666) | (like.st_mode & 0444) >> 2 | 0300;
    return like;
}

static cip_status fill(cip_commit *c, const cip_revision_member *m, cip_member_plan *mp, int fd,
                       cip_err *err)
{
    cip_io *was = NULL;
    int old = -1;
    struct stat now;
    cip_status st = CIP_OK;
    if (m->change != CIP_MEMBER_MADE)
        CIP_GO(open_member(c, m->name, &old, &was, err));
    CIP_GO(cip_commit_write_new(m->as, was, m->as->anew ? m->as->tail_len : mp->becomes, fd, err));
    /* One that changes keeps what the old one has; a new one is as the file, or the folder, itself.
     */
    struct stat like = c->st;
    like.st_mode = c->folder ? c->st.st_mode & 0666 : c->st.st_mode;
    if (old != -1 && fstat(old, &like) != 0)
        CIP_GO(cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "cannot get the status of a member file"));
    CIP_GO(cip_store_take_after(&c->env->mem, fd, old, &like, err)); /* who reads one reads all */
    if (c->level == CIP_LEVEL_POWER)
        CIP_GO(cip_store_sync_all(fd, err));
    if (fstat(fd, &now) != 0)
        CIP_GO(
            cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "cannot get the status of '%.120s'", m->name));
    mp->new_inode = (uint64_t)now.st_ino;
done:
    cip_io_close(was);
    close(old); /* -1 is fine */
    return st;
}

static cip_status make_all_contents(cip_commit *c, cip_commit_plan *p, cip_err *err)
{
    const struct stat like = cip_commit_folder_like(c);
    size_t n = 0;
    for (size_t i = 0; i < p->r->nmember; i++)
        n += p->member[i].staged && !p->member[i].nothing;
    if (n == 0)
        return CIP_OK;
    CIP_TRY(cip_store_make_folder(&c->place, c->fresh, &like, err));
    close(c->own_fresh); /* of a try before; -1 is fine */
    c->own_fresh = -1;
    CIP_TRY(cip_store_open(&c->place, c->fresh, O_RDONLY | O_DIRECTORY, 0, &c->own_fresh, err));
    const cip_place at = { .mem = &c->env->mem, .dir = c->own_fresh };
    for (size_t i = 0; i < p->r->nmember; i++) {
        char name[24];
        int fd;
        if (!p->member[i].staged || p->member[i].nothing)
            continue;
        snprintf(name, sizeof name, "%zu", i);
        CIP_TRY(cip_store_open(&at, name, O_RDWR | O_CREAT | O_EXCL, 0600, &fd, err));
        cip_status st = fill(c, &p->r->member[i], &p->member[i], fd, err);
        close(fd);
        CIP_TRY(st);
    }
    return c->level == CIP_LEVEL_POWER ? cip_place_sync(&at, err) : CIP_OK;
}

/* --- what the record says --------------------------------------------------------------------- */

/* Folders on the way to a new name, those that are not there; each is looked for once. */
static cip_status add_folders(cip_commit *c, cip_patch *out, cip_strmap *seen, const char *name,
                              cip_err *err)
{
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        cip_patch_op op = { .kind = CIP_PATCH_CREATE, .to = "" };
        cip_place at = { .dir = -1 };
        struct stat st;
        char *folder;
        bool there;
        cip_bytes key = { (const uint8_t *)name, (size_t)(slash - name) };
        if (cip_strmap_get(seen, key) != SIZE_MAX)
            continue;
        CIP_TRY(cip_arena_copy(&out->arena, name, key.len, &folder, err));
        key.ptr = (const uint8_t *)folder;
        CIP_TRY(cip_strmap_put(seen, key, 0, NULL, err));
        CIP_TRY(cip_commit_member_find(c, folder, &at, &st, &there, err));
        cip_place_close(&at);
        if (there && !S_ISDIR(st.st_mode))
            return S_ISLNK(st.st_mode)
                       ? cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "'%.120s' is a link", folder)
                       : cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "'%.120s' is not a folder",
                                  folder);
        op.member = folder;
        if (!there)
            CIP_TRY(cip_patch_push(out, &op, err));
    }
    return CIP_OK;
}

static cip_status add_staged(const cip_commit *c, const cip_commit_plan *p, cip_patch *out,
                             size_t i, cip_err *err)
{
    const cip_member_plan *mp = &p->member[i];
    cip_patch_op op = { .kind = CIP_PATCH_RENAME, .to = p->r->member[i].name };
    char *from;
    uint8_t *old;
    CIP_TRY(cip_arena_printf(&out->arena, &from, err, "%s/%zu", c->fresh, i));
    CIP_TRY(cip_arena_get(&out->arena, 8, (void **)&old, err));
    op.member = from;
    op.offset = mp->new_inode;
    if (mp->inode != 0) {
        cip_store_u64(old, mp->inode, false);
        op.before = (cip_bytes){ old, 8 };
    }
    return cip_patch_push(out, &op, err);
}

static cip_status add_one(const cip_commit *c, const cip_commit_plan *p, cip_patch *out, size_t i,
                          cip_err *err)
{
    const cip_revision_member *m = &p->r->member[i];
    const cip_member_plan *mp = &p->member[i];
    const cip_patch_op named = {
        .kind = CIP_PATCH_RENAME, .member = m->name, .to = m->to, .offset = mp->inode
    };
    if (mp->nothing || m->change >= CIP_MEMBER_GONE)
        return CIP_OK;
    if (mp->staged)
        return add_staged(c, p, out, i, err);
    if (m->change == CIP_MEMBER_RENAMED)
        return cip_patch_push(out, &named, err);
    for (size_t k = 0; k < mp->nop; k++)
        CIP_TRY(cip_patch_push(out, &mp->op[k], err));
    return CIP_OK;
}

static cip_status add_gone(const cip_commit_plan *p, cip_patch *out, cip_member_change change,
                           cip_err *err)
{
    for (size_t i = 0; i < p->r->nmember; i++) {
        const cip_revision_member *m = &p->r->member[i];
        const cip_patch_op op = { .kind = CIP_PATCH_UNLINK,
                                  .member = m->name,
                                  .to = "",
                                  .offset = change == CIP_MEMBER_GONE ? p->member[i].inode : 0 };
        if (m->change == change)
            CIP_TRY(cip_patch_push(out, &op, err));
    }
    return CIP_OK;
}

/* In the order in which it is to be made: folders, members, of these the switch last, the file
 * itself, removals. */
static cip_status compose(cip_commit *c, const cip_commit_plan *p, cip_patch *out, cip_err *err)
{
    const cip_revision *r = p->r;
    cip_strmap seen = { .mem = &c->env->mem };
    cip_status st = CIP_OK;
    for (size_t i = 0; i < r->nmember && st == CIP_OK; i++) {
        const cip_revision_member *m = &r->member[i];
        if (m->change == CIP_MEMBER_MADE || m->to != NULL)
            st = add_folders(c, out, &seen, m->to != NULL ? m->to : m->name, err);
    }
    cip_strmap_clear(&seen);
    CIP_TRY(st);
    for (size_t k = 0; k < r->nmember; k++)
        CIP_TRY(add_one(c, p, out, (size_t)(cip_revision_in_order(r, k) - r->member), err));
    for (size_t i = 0; i < p->patch.n; i++)
        CIP_TRY(cip_patch_push(out, &p->patch.op[i], err));
    CIP_TRY(add_gone(p, out, CIP_MEMBER_GONE, err));
    return add_gone(p, out, CIP_MEMBER_FOLDER_GONE, err);
}

cip_status cip_commit_members_make(cip_commit *c, cip_commit_plan *p, cip_err *err)
{
    cip_patch all = { .old_len = p->patch.old_len, .new_len = p->patch.new_len };
    cip_status st;
    if (p->nmember == 0)
        return CIP_OK;
    for (size_t i = 0; i < p->r->nmember; i++)
        CIP_TRY(look_at(c, p->r, i, &p->member[i], err));
    CIP_GO(make_all_contents(c, p, err));
    all.arena = p->patch.arena; /* which is of one patch at a time */
    st = compose(c, p, &all, err);
    if (st == CIP_OK)
        p->patch = all;
    p->patch.arena = all.arena;
    if (st == CIP_OK)
        return CIP_OK;
done:
    cip_commit_unstage(c, NULL);
    return st;
}

/* --- their ends ------------------------------------------------------------------------------- */

static cip_status extend(cip_commit *c, const cip_revision_member *m, const cip_member_plan *mp,
                         cip_err *err)
{
    int fd;
    cip_io *was = NULL, *after = NULL;
    struct stat now;
    cip_status st;
    CIP_GO(open_member(c, m->name, &fd, &was, err));
    CIP_GO(cip_io_open_revision(was, m->as, &after, err));
    if (!cip_io_stat(was, &now) || (uint64_t)now.st_ino != mp->inode || was->size != mp->was)
        CIP_GO(cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "file changed since open: '%.120s'",
                        m->name));
    CIP_GO(cip_commit_write_behind(m->as, fd, mp->was, after, err));
    if (c->level == CIP_LEVEL_POWER)
        st = cip_store_sync(fd, err);
done:
    cip_io_close(after);
    cip_io_close(was);
    close(fd); /* -1 is fine */
    return st;
}

static bool grows(const cip_member_plan *mp)
{
    return mp->nop != 0 && mp->becomes > mp->was;
}

/* Readers open members when they want them: one that came before the record would take what is
 * added for the member's own. So from here on there are none. */
cip_status cip_commit_members_extend(cip_commit *c, const cip_commit_plan *p, cip_err *err)
{
    size_t n = p->nmember != 0 ? p->r->nmember : 0;
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any = any || grows(&p->member[i]);
    if (any)
        CIP_TRY(cip_commit_take_readers(c, err));
    for (size_t i = 0; i < n; i++)
        if (grows(&p->member[i]))
            CIP_TRY(extend(c, &p->r->member[i], &p->member[i], err));
    return CIP_OK;
}
