/* SPDX-License-Identifier: BSD-3-Clause
 * A handle that shows its file as it is now. What it showed before stays as it was, with its
 * descriptors and locks, as arrays and nodes of it may be in use. */
#include <string.h>

#include "core/checkpoints_file.h"
#include "core/handle.h"
#include "io/file_io.h"

void cip_file_drop_old(cip_file *f)
{
    if (f == NULL)
        return;
    const cip_snapshot now = f->now;
    for (cip_snapshot *s = now.older, *older; s != NULL; s = older) {
        older = s->older;
        f->now = *s;
        cip_file_shut(f);
        cip_mem_put(&f->env.mem, s);
    }
    f->now = now;
    f->older = NULL;
}

/* A file that took the name of the one that is open is a change, too. */
static bool is_current(const cip_file *f)
{
    struct stat was, now;
    const char *path = cip_io_path(f->io);
    if (f->appenders != NULL || f->updated || f->edited || cip_io_unchanged(f->io, NULL) != CIP_OK)
        return false;
    return path == NULL || strcmp(path, "-") == 0 || !cip_target_stat(f->io, &was) ||
           (stat(path, &now) == 0 && now.st_dev == was.st_dev && now.st_ino == was.st_ino);
}

static cip_status open_now(cip_file *f, const cip_snapshot *was, cip_err *err)
{
    const char *path = cip_io_path(was->io);
    const char *format = was->forced ? was->format->name : NULL;
    if (path == NULL)
        path = cip_io_url(was->io);
    if (path != NULL) {
        CIP_TRY(cip_file_open_path(f, path, format, err));
    } else { /* through the methods of the io that is open */
        void *user;
        const cip_io_methods *methods = cip_io_user_methods(was->io, &user);
        cip_io *io;
        CIP_TRY(cip_io_open_user_again(&f->env, methods, user, &io, err));
        io->far = was->io->far;
        CIP_TRY(cip_file_open_over(f, io, format, err));
        f->layout->may_change = was->layout->may_change;
        cip_io_user_pass(was->io, io); /* what is closed first leaves them open */
    }
    f->layout->generation = was->layout->generation + 1;
    return CIP_OK;
}

static cip_status refresh(cip_file *f, cip_err *err)
{
    cip_snapshot *old;
    CIP_TRY(CIP_NEW(&f->env.mem, &old, 1, err));
    *old = f->now;
    f->now = (cip_snapshot){ .by_path = { .mem = &f->env.mem } };
    cip_status st = open_now(f, old, err);
    if (st != CIP_OK) {
        cip_file_shut(f);
        f->now = *old;
        cip_mem_put(&f->env.mem, old);
        return st;
    }
    f->older = old;
    cip_appenders_end(f);
    f->updated = f->edited = false;
    cip_checkpoints_file_renew(f);
    return CIP_OK;
}

cip_status cip_file_refresh(cip_file *file, bool *changed, cip_err *err)
{
    err = cip_err_enter(err);
    if (file == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file, found NULL");
    const bool current = is_current(file);
    if (!current)
        CIP_TRY(refresh(file, err));
    if (changed != NULL)
        *changed = !current;
    return CIP_OK;
}
