/* SPDX-License-Identifier: BSD-3-Clause
 * New files that appear together: the members first, the file that names them last; or a folder
 * with all in it. A member never takes the place of one that is there, and nothing that was there
 * beside is removed: whose it is cannot be known. What is replaced is under the writers' lock all
 * the while. */
#include "base/sized.h"
#include "base/stop.h"
#include "core/foreign_lock.h"
#include "core/writing/output.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMBERS_MAX = 4096 };

typedef struct path_output {
    cip_output o;
    cip_env *env;
    cip_output_how how;
    pid_t owner;     /* the process that began it */
    char *path;      /* with no link in its last step */
    cip_place place; /* of it; a file's members lie in the same folder */
    cip_replace *file;
    cip_commit *old;     /* what is replaced, locked; NULL: none, or it cannot be locked */
    cip_members *inside; /* of a new folder, or NULL */
    cip_replace **member;
    size_t n, cap;
} path_output;

static bool is_there(const cip_place *p, const char *name)
{
    struct stat there;
    return fstatat(p->dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool can_have_journal(const cip_place *p)
{
    return strlen(p->name) + sizeof ".cip-journal" <= NAME_MAX;
}

/* A journal whose file is gone would make a new one of that name unreadable; it may be needed where
 * its file is now. */
static cip_status check_journal(const cip_place *p, cip_err *err)
{
    char *name = NULL;
    if (!can_have_journal(p))
        return CIP_OK;
    CIP_TRY(cip_place_beside(p, ".cip-journal", &name, err));
    cip_status st = CIP_OK;
    if (is_there(p, name))
        st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                      "'%.100s' is in the way: it was left by an update of another file of this "
                      "name; remove it, or move it beside its file",
                      name);
    cip_mem_put(p->mem, name);
    return st;
}

/* Whoever updates it finishes first. A file that cannot be written, and so not be updated by us,
 * may be replaced nevertheless. */
static cip_status lock_old(path_output *o, cip_err *err)
{
    const cip_change_options how = { .size = sizeof how, .level = o->how.level };
    const bool folder = o->how.folder;
    cip_err own = CIP_ERR_INIT;
    cip_status st = CIP_ERR_NOT_FOUND;
    if (o->old != NULL)
        return CIP_OK;
    if (o->how.overwrite && (folder || can_have_journal(&o->place)) &&
        is_there(&o->place, o->place.name))
        st = cip_commit_lock(o->env, o->path, &how, &o->old, &own);
    if (st == CIP_ERR_NOT_FOUND || (st == CIP_ERR_READONLY && !folder))
        return folder ? CIP_OK : check_journal(&o->place, err);
    return cip_err_give(err, &own, st);
}

/* --- members ---------------------------------------------------------------------------------- */

static cip_status open_member(path_output *o, const char *name, cip_replace **out, cip_err *err)
{
    cip_place place;
    if (*name == '\0' || strchr(name, '/') != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a plain name, found '%.80s'",
                        name);
    if (is_there(&o->place, name))
        return cip_fail(err, CIP_ERR_EXISTS, CIP_NO_OFFSET, "'%.120s' exists", name);
    CIP_TRY(cip_place_sibling(&o->place, name, &place, err));
    const cip_replace_how how = { .level = o->how.level };
    cip_status st = check_journal(&place, err);
    if (st == CIP_OK)
        return cip_replace_at(&o->env->mem, place, &how, out, err);
    cip_place_close(&place);
    return st;
}

static cip_status new_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    path_output *o = user;
    if (o->n == MEMBERS_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %d files beside the output", MEMBERS_MAX);
    if (o->n == o->cap) {
        size_t cap = o->cap == 0 ? 8 : 2 * o->cap;
        CIP_TRY(
            cip_mem_resize(&o->env->mem, (void **)&o->member, cap * sizeof(cip_replace *), err));
        o->cap = cap;
    }
    cip_status st = open_member(o, name, &o->member[o->n], err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "output");
    *out = cip_replace_out(o->member[o->n]);
    o->n++;
    return CIP_OK;
}

static bool is_taken(void *user, const char *name)
{
    const path_output *o = user;
    return is_there(&o->place, name);
}

/* --- a folder --------------------------------------------------------------------------------- */

/* Whether another program changes what is there just now, so that nobody can say what it is. */
static bool is_changing(const path_output *o)
{
    cip_lock_file lock;
    cip_foreign_lock_open(o->place.dir, o->place.name, true, false, &lock, NULL);
    const bool taken = lock.fd != -1 && cip_lock_file_take(&lock, true) == CIP_LOCK_TAKEN;
    cip_lock_file_close(&lock);
    return taken;
}

static bool is_known(const char *path)
{
    cip_file *f;
    cip_status st = cip_open(path, NULL, &f, NULL);
    cip_file_close(f);
    return st == CIP_OK;
}

/* What is replaced must be a folder that somebody can say is one of ours: all in it goes. */
static cip_status check_folder(const path_output *o, cip_err *err)
{
    struct stat st;
    if (fstatat(o->place.dir, o->place.name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return CIP_OK;
    if (!S_ISDIR(st.st_mode))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "the output exists and is not a folder");
    if ((o->how.known != NULL ? o->how.known : is_known)(o->path))
        return CIP_OK;
    if (is_changing(o))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "another program holds the lock of the output");
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "the output exists and is a folder of no known format; it is not replaced");
}

static cip_status open_folder(path_output *o, cip_place place, cip_err *err)
{
    CIP_TRY(cip_replace_at(
        &o->env->mem, place,
        &(cip_replace_how){
            .level = o->how.level, .folder = true, .overwrite = o->old != NULL, .of = o->old },
        &o->file, err));
    return cip_members_begin(o->env, o->how.level, cip_replace_descriptor(o->file),
                             cip_replace_out(o->file), &o->inside, err);
}

/* --- the file itself -------------------------------------------------------------------------- */

static cip_status open_file(path_output *o, cip_place place, cip_err *err)
{
    const cip_replace_how how = { .level = o->how.level, .overwrite = o->how.overwrite };
    CIP_TRY(cip_replace_at(&o->env->mem, place, &how, &o->file, err));
    cip_out *to = cip_replace_out(o->file);
    to->member = new_member;
    to->member_user = o;
    to->taken = how.overwrite ? is_taken : NULL;
    return lock_old(o, err);
}

static cip_status place_output(path_output *o, const char *path, cip_err *err)
{
    char plain[PATH_MAX], real[PATH_MAX];
    cip_mem *mem = &o->env->mem;
    size_t n = strlen(path);
    while (o->how.folder && n > 1 && path[n - 1] == '/')
        n--;
    if (snprintf(plain, sizeof plain, "%.*s", (int)n, path) < (int)sizeof plain)
        path = cip_place_follow(plain, real);
    CIP_TRY(cip_path_absolute(mem, path, &o->path, err));
    CIP_TRY(cip_place_open(mem, path, &o->place, err));
    if (!o->how.overwrite && is_there(&o->place, o->place.name))
        return cip_fail(err, CIP_ERR_EXISTS, CIP_NO_OFFSET, "the output exists");
    return CIP_OK;
}

/* What an interrupted update left is completed before a file goes: at every instant the name shows
 * the old file or the new one, and no journal lies beside that. Nobody may be reading a folder that
 * goes: its files are opened as they are needed. */
static cip_status settle_old(path_output *o, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    cip_status st = CIP_OK;
    if (!o->how.folder)
        CIP_TRY(lock_old(o, err)); /* one that came meanwhile */
    if (o->old != NULL)
        st = (o->how.folder ? cip_commit_take_readers : cip_commit_recover)(o->old, &own);
    if (st == CIP_OK && o->old != NULL)
        st = cip_commit_take_foreign(o->old, &own);
    if (st == CIP_ERR_BUSY && o->old != NULL)
        cip_commit_let_readers(o->old); /* they may come until it is tried again */
    return st == CIP_OK ? CIP_OK : cip_fail(err, st, own.offset, "%s", own.text); /* in: output */
}

static cip_status path_commit(cip_output *output, cip_err *err)
{
    path_output *o = (path_output *)output;
    cip_status st;
    CIP_GO(cip_owned(o->owner, err));
    if (o->inside != NULL)
        CIP_GO(cip_members_complete(o->inside, err));
    CIP_GO(settle_old(o, err));
    for (size_t i = 0; i < o->n; i++)
        CIP_GO(cip_replace_commit(o->member[i], err));
    st = cip_replace_commit(o->file, err);
done:
    for (size_t i = 0; !cip_replace_placed(o->file) && i < o->n; i++)
        cip_replace_take_back(o->member[i]);
    return st;
}

static void path_end(cip_output *output)
{
    path_output *o = (path_output *)output;
    cip_mem *mem = &o->env->mem;
    for (size_t i = 0; i < o->n; i++)
        cip_replace_end(o->member[i]);
    cip_members_end(o->inside);
    cip_replace_end(o->file);
    cip_commit_end(o->old); /* and with it the lock */
    cip_place_close(&o->place);
    cip_mem_put(mem, o->member);
    cip_mem_put(mem, o->path);
    cip_mem_put(mem, o);
}

static cip_out *path_out(cip_output *o)
{
    return cip_replace_out(((path_output *)o)->file);
}

/* --- before the commit ------------------------------------------------------------------------ */

static cip_status write_at(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    return cip_store_write(cip_replace_descriptor(user), off, p, n, err);
}

static cip_status resize(void *user, uint64_t nbytes, cip_err *err)
{
    return cip_store_resize(cip_replace_descriptor(user), nbytes, err);
}

/* A file of the output that is read before it has its name. */
typedef struct written {
    cip_io *io;
    const path_output *of; /* of the main file: what lies beside it; else NULL */
} written;

static cip_status read_written(void *user, const cip_range *r, size_t n, cip_err *err)
{
    return cip_io_read_ranges(((written *)user)->io, r, n, err);
}

static cip_status size_of_written(void *user, uint64_t *nbytes, cip_err *err)
{
    (void)err;
    *nbytes = ((written *)user)->io->size;
    return CIP_OK;
}

static void close_written(void *user)
{
    written *w = user;
    cip_mem *mem = &w->io->env->mem;
    cip_io_close(w->io);
    cip_mem_put(mem, w);
}

/* `of` as the file has it. */
static cip_status open_written(const path_output *o, cip_replace *r, const path_output *of,
                               written **out, cip_err *err)
{
    cip_out *to = cip_replace_out(r);
    cip_io *io;
    CIP_TRY(cip_out_rewrite(to, 0, "", 0, err)); /* nothing waits from here on */
    CIP_TRY(cip_io_open_fd(o->env, cip_replace_descriptor(r), cip_replace_name(r), &io, err));
    const cip_status st = CIP_NEW(&o->env->mem, out, 1, err);
    if (st != CIP_OK)
        cip_io_close(io);
    else
        **out = (written){ io, of };
    return st;
}

static const cip_io_methods written_methods;

static cip_status open_beside(void *user, const char *name, cip_io_methods *methods, void **beside,
                              cip_err *err)
{
    const path_output *o = ((written *)user)->of;
    written *w;
    for (size_t i = 0; o != NULL && i < o->n; i++) {
        if (strcmp(cip_replace_name(o->member[i]), name) != 0)
            continue;
        CIP_TRY(open_written(o, o->member[i], NULL, &w, err));
        *methods = written_methods;
        *beside = w;
        return CIP_OK;
    }
    return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                    "'%.120s' was not written with this file; commit it first", name);
}

static const cip_io_methods written_methods = { CIP_IO_METHODS_INIT, .read_ranges = read_written,
                                                .size = size_of_written, .open_member = open_beside,
                                                .close = close_written };

static cip_status path_reopen(cip_output *output, cip_env *env, cip_io **io, cip_target *target,
                              cip_err *err)
{
    path_output *o = (path_output *)output;
    written *w;
    if (io == NULL)
        return CIP_OK;
    if (o->inside != NULL) {
        *target = cip_members_target(o->inside);
        CIP_TRY(cip_members_complete(o->inside, err));
        return cip_io_open_folder_fd(env, cip_replace_descriptor(o->file), o->path, io, err);
    }
    *target = (cip_target){ .methods = { CIP_IO_WRITE_METHODS_INIT, .write_at = write_at,
                                         .resize = resize },
                            .user = o->file };
    if (o->n == 0)
        return cip_io_open_fd(env, cip_replace_descriptor(o->file), o->place.name, io, err);
    CIP_TRY(open_written(o, o->file, o, &w, err)); /* with those that come with it */
    return cip_io_open_user(env, &written_methods, w, io, err);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static cip_status begin(cip_env *env, const char *path, const cip_output_how *how,
                        path_output **out, cip_err *err)
{
    static const cip_output_ops ops = {
        .out = path_out, .reopen = path_reopen, .commit = path_commit, .end = path_end
    };
    path_output *o = NULL;
    cip_place place;
    cip_status st;
    *out = NULL;
    CIP_TRY(cip_sized_value("the durability of the output", how->level, CIP_LEVEL_PROCESS, err));
    CIP_TRY(CIP_NEW(&env->mem, &o, 1, err));
    o->o.ops = &ops;
    o->env = env;
    o->how = *how;
    o->owner = getpid();
    o->place.dir = -1;
    CIP_GO(place_output(o, path, err));
    if (o->how.folder) {
        CIP_GO(check_folder(o, err));
        CIP_GO(lock_old(o, err));
    }
    CIP_GO(cip_place_sibling(&o->place, o->place.name, &place, err));
    CIP_GO((o->how.folder ? open_folder : open_file)(o, place, err));
    cip_replace_out(o->file)->name = o->place.name;
    *out = o;
    return CIP_OK;
done:
    path_end(&o->o);
    return st;
}

cip_status cip_output_begin(cip_env *env, const char *path, const cip_output_how *how,
                            cip_output **out, cip_err *err)
{
    path_output *o;
    *out = NULL;
    if (path == NULL || how->at_end != NULL)
        return cip_output_begin_waiting(env, path, how, out, err);
    cip_status st = begin(env, path, how, &o, err);
    if (st == CIP_OK)
        *out = &o->o;
    return cip_fail_in(err, st, "output");
}

cip_status cip_output_patch(cip_out *out, const cip_patch *patch, cip_err *err)
{
    for (size_t i = 0; patch != NULL && i < patch->n; i++) {
        const cip_patch_op *op = &patch->op[i];
        if (op->kind != CIP_PATCH_WRITE || !cip_patch_op_own(op))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected changes of the output itself");
        CIP_TRY(cip_out_rewrite(out, op->offset, op->after.ptr, op->after.len, err));
    }
    return CIP_OK;
}

cip_status cip_output_settle(cip_output *o, const cip_patch *patch, cip_err *err)
{
    cip_status st = cip_output_patch(o->ops->out(o), patch, err);
    if (st == CIP_OK && o->ops->out(o)->rewrite != NULL)
        st = cip_out_rewrite(o->ops->out(o), 0, "", 0, err); /* nothing waits from here on */
    return cip_fail_in(err, st, "output");
}

cip_status cip_output_reopen(cip_output *o, cip_env *env, cip_io **io, cip_target *target,
                             cip_err *err)
{
    return cip_fail_in(err, o->ops->reopen(o, env, io, target, err), "output");
}

cip_status cip_output_commit(cip_output *o, const cip_patch *patch, cip_err *err)
{
    const cip_stop stop = cip_stop_pause(); /* all is made: it takes its name */
    cip_status st = cip_output_patch(o->ops->out(o), patch, err);
    if (st == CIP_OK)
        st = o->ops->commit(o, err);
    cip_stop_set(stop);
    return cip_fail_in(err, st, "output");
}

/* Nobody updates what is published, and no journal of its own stays behind. */
static cip_status settle_new(cip_env *env, const char *from, cip_output_how *how, cip_err *err)
{
    const cip_change_options as = { .size = sizeof as, .level = how->level };
    cip_commit *c;
    CIP_TRY(cip_commit_begin(env, from, &as, &c, err));
    how->folder = cip_commit_is_folder(c);
    cip_commit_end(c);
    return CIP_OK;
}

cip_status cip_output_publish(cip_env *env, const char *from, const char *path,
                              const cip_output_how *how, cip_err *err)
{
    cip_output_how as = *how;
    cip_place at = { .dir = -1 };
    path_output *o = NULL;
    cip_status st;
    CIP_TRY(cip_sized_value("the durability of the output", how->level, CIP_LEVEL_PROCESS, err));
    CIP_TRY(settle_new(env, from, &as, err));
    CIP_TRY(cip_place_open(&env->mem, from, &at, err));
    CIP_GO(begin(env, path, &as, &o, err));
    CIP_GO(cip_replace_take(o->file, &at, err));
    st = cip_output_commit(&o->o, NULL, err);
done:
    cip_output_end(o != NULL ? &o->o : NULL);
    cip_place_close(&at);
    return cip_fail_in(err, st, "output");
}

/* The folder of a file, or of what a link leads to; `there`: the file exists. */
static bool folder_of(const char *path, bool there, struct stat *out)
{
    char *real = realpath(path, NULL);
    char *folder = real != NULL || there ? real : strdup(path);
    char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    bool found = folder != NULL && stat(slash != NULL ? folder : ".", out) == 0;
    free(folder);
    return found;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

void cip_output_place(const char *in, const char *out, cip_spec *spec)
{
    struct stat x, y;
    bool unknown = in == NULL || strcmp(in, "-") == 0 || strcmp(out, "-") == 0;
    spec->renamed = unknown || strcmp(last_name(in), last_name(out)) != 0;
    spec->elsewhere = unknown || !folder_of(in, true, &x) || !folder_of(out, false, &y) ||
                      x.st_dev != y.st_dev || x.st_ino != y.st_ino;
}
