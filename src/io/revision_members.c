/* SPDX-License-Identifier: BSD-3-Clause
 * The members of a revision: what becomes of files beside, or of a folder's. */
#include "io/patch.h"

#include <string.h>

#include "io/io_impl.h"

/* What a name stands for: a member gives it up, so that another may take it; or it is taken; or
 * (from GONE on) its file, that of the member of this number, goes. */
enum { GIVEN_UP = 0, TAKEN = 1, GONE = 2 };

static size_t stands_for(const cip_revision *r, const char *name)
{
    return cip_strmap_get(&r->name, (cip_bytes){ (const uint8_t *)name, strlen(name) });
}

bool cip_revision_has(const cip_revision *r, const char *name)
{
    return stands_for(r, name) != SIZE_MAX;
}

static cip_status check_name(const cip_revision *r, const char *name, bool may_be_given_up,
                             cip_err *err)
{
    if (!cip_member_name_is_plain(name))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "not a plain member name: '%.80s'", name);
    const size_t stands = stands_for(r, name);
    if (stands == SIZE_MAX || (stands == GIVEN_UP && may_be_given_up))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "the member '%.80s' twice", name);
}

static cip_status keep_name(cip_revision *r, const char *name, size_t stands, char **copy,
                            cip_err *err)
{
    r->name.mem = r->patch.arena.mem;
    CIP_TRY(cip_arena_copy(&r->patch.arena, name, strlen(name), copy, err));
    const cip_bytes key = { (const uint8_t *)*copy, strlen(name) };
    return cip_strmap_put(&r->name, key, stands, NULL, err);
}

static cip_status add(cip_revision *r, cip_member_change change, const char *name, cip_io *known,
                      cip_revision_member **out, cip_err *err)
{
    struct stat st;
    char *copy;
    cip_revision_member m = { .change = change };
    CIP_TRY(check_name(r, name, change == CIP_MEMBER_MADE, err));
    CIP_TRY(CIP_ARENA_ROOM(&r->patch.arena, &r->member, r->nmember, &r->member_cap, err));
    const size_t stands = change == CIP_MEMBER_RENAMED ? GIVEN_UP
                          : change == CIP_MEMBER_GONE  ? GONE + r->nmember
                                                       : TAKEN;
    CIP_TRY(keep_name(r, name, stands, &copy, err));
    if (known != NULL && cip_io_stat(known, &st)) {
        m.device = (uint64_t)st.st_dev;
        m.inode = (uint64_t)st.st_ino;
    }
    m.name = copy;
    r->member[r->nmember] = m;
    *out = &r->member[r->nmember++];
    return CIP_OK;
}

/* With a revision of its own. */
static cip_status add_as(cip_revision *r, cip_member_change change, const char *name, cip_io *known,
                         cip_revision **as, cip_err *err)
{
    cip_revision_member *m;
    cip_revision *own;
    char *copy;
    const size_t stands = stands_for(r, name);
    CIP_TRY(CIP_ARENA_NEW(&r->patch.arena, &own, 1, err));
    if (change == CIP_MEMBER_MADE && stands >= GONE && stands != SIZE_MAX) {
        CIP_TRY(keep_name(r, name, TAKEN, &copy, err));
        m = &r->member[stands - GONE];
        m->change = CIP_MEMBER_REPLACED;
    } else {
        CIP_TRY(add(r, change, name, known, &m, err));
    }
    *own = (cip_revision){ .patch = { .arena = { .mem = r->patch.arena.mem } },
                           .anew = change != CIP_MEMBER_PATCHED };
    m->as = *as = own;
    return CIP_OK;
}

cip_status cip_revision_make(cip_revision *r, const char *name, cip_revision **as, cip_err *err)
{
    return add_as(r, CIP_MEMBER_MADE, name, NULL, as, err);
}

cip_status cip_revision_create(cip_revision *r, const char *name, const cip_segment *data,
                               cip_err *err)
{
    cip_revision *as;
    CIP_TRY(cip_revision_make(r, name, &as, err));
    if (data->io != NULL)
        return cip_revision_range(as, data->io, data->off, data->len, err);
    if (data->ptr != NULL)
        return cip_revision_bytes(as, data->ptr, (size_t)data->len, err);
    return cip_revision_fill(as, (uint8_t)data->off, data->len, err);
}

cip_status cip_revision_replace(cip_revision *r, const char *name, cip_io *known, cip_revision **as,
                                cip_err *err)
{
    return add_as(r, CIP_MEMBER_REPLACED, name, known, as, err);
}

cip_status cip_revision_change(cip_revision *r, const char *name, cip_io *known, cip_revision **as,
                               cip_err *err)
{
    return add_as(r, CIP_MEMBER_PATCHED, name, known, as, err);
}

cip_status cip_revision_rename(cip_revision *r, const char *name, const char *to, cip_io *known,
                               cip_err *err)
{
    cip_revision_member *m;
    char *copy;
    if (strcmp(name, to) == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "the member '%.80s' twice", name);
    CIP_TRY(check_name(r, to, true, err));
    CIP_TRY(add(r, CIP_MEMBER_RENAMED, name, known, &m, err));
    CIP_TRY(keep_name(r, to, TAKEN, &copy, err));
    m->to = copy;
    r->nrenamed++;
    return CIP_OK;
}

cip_status cip_revision_unlink(cip_revision *r, const char *name, cip_io *known, cip_err *err)
{
    cip_revision_member *m;
    return add(r, CIP_MEMBER_GONE, name, known, &m, err);
}

cip_status cip_revision_unlink_folder(cip_revision *r, const char *name, cip_err *err)
{
    cip_revision_member *m;
    return add(r, CIP_MEMBER_FOLDER_GONE, name, NULL, &m, err);
}

cip_status cip_revision_switch(cip_revision *r, const char *name, cip_err *err)
{
    for (size_t i = r->nmember; i != 0; i--) { /* mostly one that has just been added */
        const cip_revision_member *m = &r->member[i - 1];
        if (m->change < CIP_MEMBER_GONE && strcmp(m->name, name) == 0) {
            r->last = i;
            return CIP_OK;
        }
    }
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "no member that is the switch: '%.80s'", name);
}

const cip_revision_member *cip_revision_in_order(const cip_revision *r, size_t k)
{
    if (r->last == 0 || k + 1 < r->last)
        return &r->member[k];
    return &r->member[k + 1 < r->nmember ? k + 1 : r->last - 1];
}

bool cip_revision_gives_up(const cip_revision *r, const char *name)
{
    for (size_t i = 0; i < r->nmember && r->nrenamed != 0; i++)
        if (r->member[i].to != NULL && strcmp(r->member[i].name, name) == 0)
            return true;
    return false;
}

bool cip_revision_frees(const cip_revision *r, const cip_revision_member *m)
{
    const cip_bytes key = { (const uint8_t *)m->name, strlen(m->name) };
    return m->to != NULL && cip_strmap_get(&r->name, key) == GIVEN_UP;
}
