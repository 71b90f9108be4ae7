/* SPDX-License-Identifier: BSD-3-Clause
 * A commit of the kind "replace", of new files and of what takes another's place: write a file
 * without a name or a folder under one of ours, fsync, link it, rename it into its place or, a
 * folder, exchange it with the old one, fsync the folder that it is in. At every instant the name
 * shows the old one (or none) or the whole new one. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/commit/commit_impl.h"
#include "core/commit/file_out.h"
#include "io/fresh.h"

struct cip_replace {
    cip_mem *mem;
    cip_place place;
    cip_replace_how how;
    cip_fresh fresh;
    cip_file_out file;
    const cip_place *from; /* where it was complete already; NULL: it is written here */
    struct stat old;       /* of what is replaced */
    bool has_old, placed;
};

/* What is replaced keeps its mode, and its owner where we may give it away; anything but a
 * regular file of one name is left alone: the other names of a hard-linked file would go on showing
 * the old bytes. Which folders may go is the caller's business. */
static cip_status look_at_old(cip_replace *r, cip_err *err)
{
    if (fstatat(r->place.dir, r->place.name, &r->old, AT_SYMLINK_NOFOLLOW) != 0)
        return CIP_OK;
    r->has_old = true;
    if (r->how.folder)
        return CIP_OK;
    if (!S_ISREG(r->old.st_mode))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "the output exists and is not a regular file");
    if (r->old.st_nlink > 1 && !r->how.break_links)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the output has %ju names (hard links); replacing one would separate them",
                        (uintmax_t)r->old.st_nlink);
    return CIP_OK;
}

static cip_status take_after_old(cip_replace *r, cip_err *err)
{
    int old = -1;
    if (!r->has_old)
        return CIP_OK;
    if (r->how.folder ||
        cip_store_open(&r->place, r->place.name, O_RDONLY, 0, &old, NULL) != CIP_OK)
        old = -1; /* it may be replaced, but not read: its attributes are not ours to copy */
    cip_status st = cip_store_take_after(r->mem, r->fresh.fd, old, &r->old, err);
    if (old != -1)
        close(old);
    return st;
}

cip_status cip_replace_at(cip_mem *mem, cip_place place, const cip_replace_how *how,
                          cip_replace **out, cip_err *err)
{
    cip_replace *r = NULL;
    *out = NULL;
    cip_status st = CIP_NEW(mem, &r, 1, err);
    if (st != CIP_OK) {
        cip_place_close(&place);
        return st;
    }
    *r = (cip_replace){ .mem = mem, .place = place, .how = *how, .fresh = CIP_FRESH_NONE };
    cip_file_out_init(&r->file, mem, -1);
    CIP_GO(look_at_old(r, err));
    if (r->how.folder) {
        CIP_GO(cip_fresh_open_folder(&r->place, r->has_old ? &r->old : NULL, &r->fresh, err));
    } else { /* nobody else may open it before it has its mode */
        const mode_t mode = r->has_old ? 0600 : 0666;
        CIP_GO(cip_fresh_open(&r->place, r->how.temp, mode, &r->fresh, err));
        r->file.fd = r->fresh.fd;
        CIP_GO(take_after_old(r, err));
    }
    *out = r;
    return CIP_OK;
done:
    cip_replace_end(r);
    return st;
}

cip_out *cip_replace_out(cip_replace *r)
{
    return &r->file.out;
}

int cip_replace_descriptor(const cip_replace *r)
{
    return r->fresh.fd;
}

const char *cip_replace_name(const cip_replace *r)
{
    return r->place.name;
}

cip_status cip_replace_take(cip_replace *r, const cip_place *from, cip_err *err)
{
    cip_fresh made = r->fresh; /* its temporary name */
    made.named = false;
    made.slot = -1;
    CIP_TRY(cip_store_open(from, from->name, made.folder ? O_RDONLY | O_DIRECTORY : O_RDWR, 0,
                           &made.fd, err));
    cip_fresh_end(&r->place, &r->fresh);
    r->fresh = made;
    r->file.fd = made.fd;
    CIP_TRY(take_after_old(r, err));
    cip_store_lock(made.fd, CIP_LOCK_WRITERS, false); /* so that `recover` leaves it alone */
    CIP_TRY(cip_store_rename_to(from, from->name, &r->place, made.name, false, err));
    r->fresh.named = true;
    r->from = from;
    return CIP_OK;
}

bool cip_replace_placed(const cip_replace *r)
{
    return r->placed;
}

void cip_replace_take_back(cip_replace *r)
{
    if (r->placed)
        cip_store_unlink(&r->place, r->place.name, NULL);
}

cip_status cip_replace_commit(cip_replace *r, cip_err *err)
{
    const cip_replace_how *how = &r->how;
    const bool durable = how->level == CIP_LEVEL_POWER;
    const cip_place inside = { .mem = r->mem, .dir = r->fresh.fd };
    CIP_TRY(cip_file_out_flush(&r->file, err));
    if (durable)
        CIP_TRY(how->folder ? cip_place_sync(&inside, err) : cip_store_sync_all(r->fresh.fd, err));
    if (how->of != NULL)
        CIP_TRY(cip_commit_named(how->of, err));
    cip_status st = cip_fresh_place(&r->place, &r->fresh, how->overwrite, err);
    if (st == CIP_ERR_EXISTS)
        return cip_fail(err, st, CIP_NO_OFFSET, "the output exists");
    CIP_TRY(st);
    r->placed = true;
    if (how->of != NULL)
        how->of->became = fcntl(r->fresh.fd, F_DUPFD_CLOEXEC, 0);
    if (how->of != NULL && how->folder) /* others who wait for a lock have it before all else */
        cip_foreign_lock_move(&how->of->place, &inside);
    if (durable)
        CIP_TRY(cip_place_sync(&r->place, err));
    if (how->folder && how->overwrite)
        cip_store_remove_tree(&r->place, r->fresh.name, NULL); /* else `recover` finds it */
    return CIP_OK;
}

void cip_replace_end(cip_replace *r)
{
    if (r == NULL)
        return;
    if (r->from != NULL && r->fresh.named &&
        cip_store_rename_to(&r->place, r->fresh.name, r->from, r->from->name, false, NULL) ==
            CIP_OK)
        r->fresh.named = false;
    cip_fresh_end(&r->place, &r->fresh);
    cip_place_close(&r->place);
    cip_file_out_clear(&r->file);
    cip_mem_put(r->mem, r);
}
