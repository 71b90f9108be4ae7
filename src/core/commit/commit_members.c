/* SPDX-License-Identifier: BSD-3-Clause
 * Files beside that come and go with a revision. A new one is complete before it has a name, and
 * the record of the update names it, with its inode, before that: so whoever clears up after a
 * crash removes what the update made and nothing of others. An old one goes when the switch is
 * made. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/commit/commit_impl.h"

static cip_status add_op(cip_commit_plan *p, cip_patch_kind kind, const char *name, ino_t inode,
                         cip_err *err)
{
    const cip_patch_op op = { .kind = kind, .member = name, .to = "", .offset = (uint64_t)inode };
    return cip_patch_push(&p->patch, &op, err); /* the name lives in the revision */
}

static cip_status fill(cip_commit *c, int fd, const cip_segment *s, cip_err *err)
{
    if (s->io != NULL)
        CIP_TRY(cip_store_copy(fd, 0, s->io, s->off, s->len, err));
    else if (s->ptr != NULL)
        CIP_TRY(cip_store_write(fd, 0, s->ptr, (size_t)s->len, err));
    else
        CIP_TRY(cip_store_fill(fd, 0, (uint8_t)s->off, s->len, err));
    CIP_TRY(cip_store_take_after(&c->env->mem, fd, -1, &c->st, err)); /* who reads one reads all */
    return c->level == CIP_LEVEL_POWER ? cip_store_sync_all(fd, err) : CIP_OK;
}

static cip_status make(cip_commit *c, cip_commit_plan *p, const cip_revision_member *m,
                       cip_err *err)
{
    struct stat st;
    cip_commit_member *at = &c->member[c->nmember];
    CIP_TRY(cip_place_beneath(&c->place, m->name, &at->place, err));
    at->fresh = CIP_FRESH_NONE;
    at->below = strchr(m->name, '/') != NULL;
    c->nmember++;
    if (fstatat(at->place.dir, at->place.name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "'%.120s' exists", m->name);
    CIP_TRY(cip_fresh_open(&at->place, NULL, 0600, &at->fresh, err));
    CIP_TRY(fill(c, at->fresh.fd, &m->data, err));
    if (fstat(at->fresh.fd, &st) != 0)
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "cannot stat '%.120s'", m->name);
    return add_op(p, CIP_PATCH_CREATE, m->name, st.st_ino, err);
}

/* A record may be of the file's owner: then it must not make us remove files of our own. */
static bool is_ours(const cip_commit *c, const struct stat *st)
{
    bool own = !c->recovering && st->st_uid == geteuid();
    return S_ISREG(st->st_mode) && (own || st->st_uid == c->st.st_uid);
}

static cip_status look_at_old(cip_commit *c, cip_commit_plan *p, const cip_revision_member *m,
                              cip_err *err)
{
    struct stat st;
    cip_place at = { .dir = -1 };
    CIP_TRY(cip_place_beneath(&c->place, m->name, &at, err));
    bool there = fstatat(at.dir, at.name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    cip_place_close(&at);
    if (!there)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "'%.120s' is not there any more",
                        m->name);
    if (!is_ours(c, &st))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "'%.120s' is no regular file, or belongs to someone else", m->name);
    if (m->inode != 0 && (m->inode != (uint64_t)st.st_ino || m->device != (uint64_t)st.st_dev))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "'%.120s' was replaced since it was read",
                        m->name);
    return add_op(p, CIP_PATCH_UNLINK, m->name, st.st_ino, err);
}

cip_status cip_commit_members_make(cip_commit *c, cip_commit_plan *p, cip_err *err)
{
    const cip_revision *r = p->r;
    if (r->nmember == 0)
        return CIP_OK;
    CIP_TRY(CIP_NEW(&c->env->mem, &c->member, r->nmember, err));
    for (size_t i = 0; i < r->nmember; i++)
        CIP_TRY((r->member[i].gone ? look_at_old : make)(c, p, &r->member[i], err));
    return CIP_OK;
}

static cip_status sync_place(const cip_commit *c, const cip_place *p, cip_err *err)
{
    return c->level == CIP_LEVEL_POWER ? cip_place_sync(p, err) : CIP_OK;
}

cip_status cip_commit_members_place(cip_commit *c, cip_err *err)
{
    for (size_t i = 0; i < c->nmember; i++) {
        cip_commit_member *m = &c->member[i];
        CIP_TRY(cip_fresh_place(&m->place, &m->fresh, false, err));
        if (m->below)
            CIP_TRY(sync_place(c, &m->place, err));
    }
    return c->nmember != 0 ? cip_commit_sync_names(c, err) : CIP_OK;
}

void cip_commit_members_end(cip_commit *c)
{
    for (size_t i = 0; i < c->nmember; i++) {
        cip_fresh_end(&c->member[i].place, &c->member[i].fresh);
        cip_place_close(&c->member[i].place);
    }
    cip_mem_put(&c->env->mem, c->member);
    c->member = NULL;
    c->nmember = 0;
}

/* Whether the member is there and is the one that the operation means; *at is open then. */
static cip_status find(cip_commit *c, const cip_patch_op *op, cip_place *at, bool *found,
                       cip_err *err)
{
    struct stat st;
    cip_err own = CIP_ERR_INIT;
    *found = false;
    cip_status got = cip_place_beneath(&c->place, op->member, at, &own);
    if (got == CIP_ERR_NOT_FOUND)
        return CIP_OK;
    if (got != CIP_OK && err != NULL)
        *err = own;
    CIP_TRY(got);
    *found = fstatat(at->dir, at->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_ours(c, &st) &&
             (uint64_t)st.st_ino == op->offset;
    if (!*found)
        cip_place_close(at);
    return CIP_OK;
}

cip_status cip_commit_members_drop(cip_commit *c, const cip_patch *p, cip_patch_kind kind,
                                   cip_err *err)
{
    bool any = false;
    for (size_t i = 0; p != NULL && i < p->n; i++) {
        cip_place at = { .dir = -1 };
        bool found;
        if (p->op[i].kind != kind)
            continue;
        CIP_TRY(find(c, &p->op[i], &at, &found, err));
        cip_status st = found ? cip_store_unlink(&at, at.name, err) : CIP_OK;
        if (found && st == CIP_OK && strchr(p->op[i].member, '/') != NULL)
            st = sync_place(c, &at, err);
        cip_place_close(&at);
        CIP_TRY(st);
        any = true;
    }
    return any ? cip_commit_sync_names(c, err) : CIP_OK; /* before the record goes */
}

cip_status cip_commit_members_there(cip_commit *c, const cip_patch *p, cip_err *err)
{
    for (size_t i = 0; i < p->n; i++) {
        cip_place at = { .dir = -1 };
        bool found;
        if (p->op[i].kind != CIP_PATCH_UNLINK)
            continue;
        CIP_TRY(find(c, &p->op[i], &at, &found, err));
        cip_place_close(&at);
        if (!found)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "the update has removed '%.60s' already and can only be completed "
                            "('cippus recover --apply')",
                            p->op[i].member);
    }
    return CIP_OK;
}
