/* SPDX-License-Identifier: BSD-3-Clause
 * O_TMPFILE and linkat; else a name of ours, which is kept in a table that a signal handler can
 * go through. */
#include "io/fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/strmap.h"
#include "cippus/change.h"

/* --- what a signal handler removes ------------------------------------------------------------ */

enum { SLOTS = 64, FREE = 0, FILLING = 1, ARMED = 2 };

static struct {
    _Atomic int state;
    pid_t owner;
    int dir; /* the place's, which lives as long */
    char name[300];
} slot[SLOTS];

static int take_slot(int dir, const char *name)
{
    for (int i = 0; i < SLOTS; i++) {
        int free = FREE;
        if (!atomic_compare_exchange_strong(&slot[i].state, &free, FILLING))
            continue;
        slot[i].owner = getpid();
        slot[i].dir = dir;
        snprintf(slot[i].name, sizeof slot[i].name, "%s", name);
        atomic_store(&slot[i].state, ARMED);
        return i;
    }
    return -1;
}

static void drop_slot(cip_fresh *f)
{
    if (f->slot != -1)
        atomic_store(&slot[f->slot].state, FREE);
    f->slot = -1;
}

void cip_remove_unfinished(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (atomic_load(&slot[i].state) == ARMED && slot[i].owner == getpid())
            unlinkat(slot[i].dir, slot[i].name, 0);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* A name that nobody has, or the one that is wanted. */
static void choose_name(cip_fresh *f, const char *name)
{
    if (name != NULL)
        snprintf(f->name, sizeof f->name, "%s", name);
    else
        snprintf(f->name, sizeof f->name, CIP_FRESH_PREFIX "%016" PRIx64, cip_unique_number());
}

cip_status cip_fresh_open_named(const cip_place *p, const char *name, mode_t mode, cip_fresh *out,
                                cip_err *err)
{
    cip_status st;
    int tries = name != NULL ? 1 : 100;
    *out = CIP_FRESH_NONE;
    out->owner = getpid();
    do {
        choose_name(out, name);
        st = cip_store_open(p, out->name, O_RDWR | O_CREAT | O_EXCL, mode, &out->fd, err);
    } while (st == CIP_ERR_EXISTS && --tries > 0);
    CIP_TRY(st);
    out->named = true;
    out->slot = take_slot(p->dir, out->name);
    cip_store_lock(out->fd, CIP_LOCK_WRITERS, false); /* where that can be */
    return CIP_OK;
}

cip_status cip_fresh_open_folder(const cip_place *p, const struct stat *like, cip_fresh *out,
                                 cip_err *err)
{
    *out = CIP_FRESH_NONE;
    out->folder = true;
    out->owner = getpid();
    choose_name(out, NULL);
    CIP_TRY(cip_store_make_folder(p, out->name, like, err));
    out->named = true;
    CIP_TRY(cip_store_open(p, out->name, O_RDONLY | O_DIRECTORY, 0, &out->fd, err));
    cip_store_lock(out->fd, CIP_LOCK_WRITERS, false);
    return CIP_OK;
}

/* Whether the file can get a name later: that goes by way of /proc. */
static bool can_be_linked(int fd, char path[40])
{
    snprintf(path, 40, "/proc/self/fd/%d", fd);
    return access(path, F_OK) == 0;
}

cip_status cip_fresh_open(const cip_place *p, const char *name, mode_t mode, cip_fresh *out,
                          cip_err *err)
{
    char path[40];
    *out = CIP_FRESH_NONE;
    int fd = openat(p->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (fd == -1 || !can_be_linked(fd, path)) {
        close(fd); /* -1 is fine */
        return cip_fresh_open_named(p, name, mode, out, err);
    }
    choose_name(out, name);
    out->fd = fd;
    out->owner = getpid();
    return CIP_OK;
}

/* --- taking its place ------------------------------------------------------------------------- */

static cip_status link_as(const cip_place *p, const cip_fresh *f, const char *name, cip_err *err)
{
    char path[40], what[160];
    if (can_be_linked(f->fd, path) && linkat(AT_FDCWD, path, p->dir, name, AT_SYMLINK_FOLLOW) == 0)
        return CIP_OK;
    const int errnum = errno;
    if (errnum == EEXIST)
        return cip_fail(err, CIP_ERR_EXISTS, CIP_NO_OFFSET, "'%.120s' exists", name);
    snprintf(what, sizeof what, "cannot give the new file the name '%.110s'", name);
    return cip_fail_errno(err, errnum, CIP_NO_OFFSET, what);
}

cip_status cip_fresh_place(const cip_place *p, cip_fresh *f, bool replace, cip_err *err)
{
    CIP_TRY(cip_owned(f->owner, err));
    if (!f->named && !replace)
        return link_as(p, f, p->name, err);
    /* Over another file only a rename goes, and that needs a name: for an instant it has one of
     * ours.
     */
    if (!f->named) {
        cip_store_lock(f->fd, CIP_LOCK_WRITERS, false);
        f->slot = take_slot(p->dir, f->name);
        cip_status st = link_as(p, f, f->name, err);
        f->named = st == CIP_OK;
        if (st != CIP_OK)
            drop_slot(f);
        CIP_TRY(st);
    }
    CIP_TRY(f->folder && replace ? cip_store_exchange(p, f->name, p->name, err)
                                 : cip_store_rename(p, f->name, p->name, replace, err));
    f->named = false;
    drop_slot(f);
    if (!f->folder) /* that lies in the way of updates while the old one is removed */
        cip_store_unlock(f->fd, CIP_LOCK_WRITERS);
    return CIP_OK;
}

void cip_fresh_end(const cip_place *p, cip_fresh *f)
{
    if (f->named && f->owner == getpid())
        (f->folder ? cip_store_remove_tree : cip_store_unlink)(p, f->name, NULL);
    drop_slot(f);
    if (f->fd != -1)
        close(f->fd);
    *f = CIP_FRESH_NONE;
}
