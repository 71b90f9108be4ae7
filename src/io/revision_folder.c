/* SPDX-License-Identifier: BSD-3-Clause
 * A folder in the folder that is updated, which goes or gets another name with all that lies in it:
 * a change of each member, since a revision knows no others. */
#include <string.h>

#include "base/env.h"
#include "io/patch.h"

enum { MOST_PATH = 1000 }; /* bytes: links that lead back to where they are would have more */

/* Something in the folder, or below. */
typedef struct entry {
    const char *path;
    bool is_folder;
} entry;

typedef struct listing {
    cip_revision *r;
    cip_io *in;
    const char *dir; /* that is listed */
    cip_buf entry;
    cip_status st;
    cip_err *err;
} listing;

static int take_entry(void *user, const char *name, bool is_folder)
{
    listing *k = user;
    char *path = NULL;
    k->st = cip_arena_printf(&k->r->patch.arena, &path, k->err, "%s/%s", k->dir, name);
    const entry e = { path, is_folder };
    if (k->st == CIP_OK)
        k->st = cip_buf_add(&k->entry, &e, sizeof e, k->err);
    return k->st != CIP_OK;
}

static int take_link(void *user, const char *name, bool is_folder)
{
    listing *k = user;
    (void)is_folder;
    k->st = cip_fail(k->err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                     "expected no symbolic links in a folder to remove, found '%.80s/%.80s'",
                     k->dir, name);
    return 1;
}

static cip_status list_one(listing *k, const char *dir, bool links, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_status st = CIP_OK;
    k->dir = dir;
    k->err = err;
    if (!links)
        st = cip_io_list(k->in, dir, CIP_IO_LINKS, take_link, k, &why);
    CIP_TRY(k->st);
    if (st == CIP_OK)
        st = cip_io_list(k->in, dir, 0, take_entry, k, &why);
    CIP_TRY(k->st);
    return st == CIP_OK || st == CIP_ERR_NOT_FOUND ? CIP_OK
                                                   : cip_fail(err, st, why.offset, "%s", why.text);
}

/* All that lies in the folder, folders before what is in them. */
static cip_status list_all(listing *k, const char *dir, bool links, cip_err *err)
{
    CIP_TRY(list_one(k, dir, links, err));
    for (size_t i = 0; i * sizeof(entry) < k->entry.len; i++) {
        const entry e = ((const entry *)(const void *)k->entry.ptr)[i];
        if (!e.is_folder)
            continue;
        if (strlen(e.path) > MOST_PATH || k->entry.len / sizeof e > k->in->env->limits.max_blocks)
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "too many files in '%.80s'", dir);
        CIP_TRY(list_one(k, e.path, links, err));
    }
    return CIP_OK;
}

/* Files first, then folders from the innermost on. */
static cip_status move_all(listing *k, const char *dir, const char *to, cip_err *err)
{
    cip_revision *r = k->r;
    const entry *e = (const entry *)(const void *)k->entry.ptr;
    const size_t n = k->entry.len / sizeof *e;
    for (size_t i = 0; i < n; i++) {
        char *path = NULL;
        if (e[i].is_folder || cip_revision_has(r, e[i].path))
            continue;
        if (to != NULL)
            CIP_TRY(
                cip_arena_printf(&r->patch.arena, &path, err, "%s%s", to, e[i].path + strlen(dir)));
        if (path == NULL || cip_revision_has(r, path)) /* one that changed is there anew */
            CIP_TRY(cip_revision_unlink(r, e[i].path, NULL, err));
        else
            CIP_TRY(cip_revision_rename(r, e[i].path, path, NULL, err));
    }
    for (size_t i = n; i-- > 0;)
        if (e[i].is_folder && !cip_revision_has(r, e[i].path))
            CIP_TRY(cip_revision_unlink_folder(r, e[i].path, err));
    return cip_revision_unlink_folder(r, dir, err);
}

cip_status cip_revision_move_folder(cip_revision *r, cip_io *in, const char *dir, const char *to,
                                    bool links, cip_err *err)
{
    listing k = { .r = r, .in = in, .entry = { .mem = r->patch.arena.mem } };
    cip_status st = list_all(&k, dir, links, err);
    if (st == CIP_OK)
        st = move_all(&k, dir, to, err);
    cip_buf_clear(&k.entry);
    return st;
}
