/* SPDX-License-Identifier: BSD-3-Clause
 * A new folder, for formats whose file is one: made under a name of ours beside its place, under a
 * lock that tells whether somebody is still at it, and put there when all in it is complete. One
 * that is replaced changes places with it and goes last. */
#include "core/writing/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/strmap.h"
#include "core/commit/commit_impl.h"
#include "core/commit/file_out.h"

enum { OPEN = 32 /* members that are open at a time */ };

typedef struct folder_output folder_output;

typedef struct member {
    cip_file_out file;
    folder_output *of;
    char *name;
    size_t slot; /* in `open`, while its file is */
    bool synced;
} member;

struct folder_output {
    cip_output o;
    cip_env *env;
    cip_level level;
    cip_out out;
    cip_place place, in;   /* where it will be; itself */
    char name[40];         /* until then */
    pid_t owner;           /* the process that made it: a child of fork() leaves it alone */
    struct stat like;      /* of what is new in it */
    cip_commit *old;       /* the folder that is replaced, locked, or NULL */
    const cip_place *from; /* where it was complete already; NULL: it is written here */
    cip_arena arena;       /* names and members */
    member **member;
    size_t n, cap, next; /* next: of `open`, to be closed */
    member *open[OPEN];
    char **folder; /* below it */
    size_t nfolder, folder_cap;
};

/* --- members ------------------------------------------------------------------------------------
 */

static cip_status sync_member(folder_output *o, member *m, cip_err *err)
{
    if (o->level == CIP_LEVEL_POWER && !m->synced)
        CIP_TRY(cip_store_sync_all(m->file.fd, err));
    m->synced = true;
    return CIP_OK;
}

/* Complete for now; it can be opened again. */
static cip_status close_member(member *m, cip_err *err)
{
    cip_status st = cip_file_out_flush(&m->file, err);
    if (st == CIP_OK && m->file.fd != -1)
        st = sync_member(m->of, m, err);
    if (m->file.fd != -1) {
        close(m->file.fd);
        m->of->open[m->slot] = NULL;
    }
    m->file.fd = -1;
    return st;
}

static cip_status open_file(member *m, int flags, cip_err *err)
{
    folder_output *o = m->of;
    cip_place at = { .dir = -1 };
    size_t slot = o->next++ % OPEN;
    if (o->open[slot] != NULL)
        CIP_TRY(close_member(o->open[slot], err));
    CIP_TRY(cip_place_beneath(&o->in, m->name, &at, err));
    cip_status st = cip_store_open(&at, at.name, O_RDWR | flags, 0600, &m->file.fd, err);
    cip_place_close(&at);
    CIP_TRY(st);
    o->open[slot] = m;
    m->slot = slot;
    m->synced = false;
    return CIP_OK;
}

static cip_status reopen(cip_file_out *f, cip_err *err)
{
    return open_file((member *)f, 0, err);
}

static bool has_folder(const folder_output *o, const char *name, size_t n)
{
    for (size_t i = o->nfolder; i-- > 0;) /* the last ones are the likely ones */
        if (strncmp(o->folder[i], name, n) == 0 && o->folder[i][n] == '\0')
            return true;
    return false;
}

static cip_status make_folder(folder_output *o, const char *name, size_t n, cip_err *err)
{
    cip_place at = { .dir = -1 };
    char *copy;
    if (o->nfolder == o->folder_cap) {
        size_t cap = o->folder_cap != 0 ? 2 * o->folder_cap : 8;
        CIP_TRY(cip_mem_resize(&o->env->mem, (void **)&o->folder, cap * sizeof *o->folder, err));
        o->folder_cap = cap;
    }
    CIP_TRY(cip_arena_copy(&o->arena, name, n, &copy, err));
    CIP_TRY(cip_place_beneath(&o->in, copy, &at, err));
    cip_status st = cip_store_make_folder(&at, at.name, &o->like, err);
    cip_place_close(&at);
    if (st == CIP_OK)
        o->folder[o->nfolder++] = copy;
    return st;
}

static cip_status make_folders(folder_output *o, const char *name, cip_err *err)
{
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/'))
        if (!has_folder(o, name, (size_t)(slash - name)))
            CIP_TRY(make_folder(o, name, (size_t)(slash - name), err));
    return CIP_OK;
}

static cip_status make_member(folder_output *o, const char *name, member **out, cip_err *err)
{
    struct stat like = o->like;
    member *m;
    CIP_TRY(CIP_ARENA_NEW(&o->arena, &m, 1, err));
    CIP_TRY(cip_arena_copy(&o->arena, name, strlen(name), &m->name, err));
    cip_file_out_init(&m->file, &o->env->mem, -1);
    m->file.reopen = reopen;
    m->of = o;
    CIP_TRY(make_folders(o, name, err));
    CIP_TRY(open_file(m, O_CREAT | O_EXCL, err));
    o->member[o->n++] = *out = m;
    like.st_mode &= 0666;
    return cip_store_take_after(&o->env->mem, m->file.fd, -1, &like, err);
}

static cip_status new_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    folder_output *o = user;
    member *m;
    if (!cip_member_name_is_plain(name) || strncmp(name, ".cip-", 5) == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "no plain member name: '%.80s'", name);
    if (o->n == o->cap) {
        size_t cap = o->cap != 0 ? 2 * o->cap : 16;
        CIP_TRY(cip_mem_resize(&o->env->mem, (void **)&o->member, cap * sizeof *o->member, err));
        o->cap = cap;
    }
    cip_status st = make_member(o, name, &m, err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "output");
    *out = &m->file.out;
    return CIP_OK;
}

static cip_status new_folder(void *user, const char *name, cip_err *err)
{
    folder_output *o = user;
    char *inside;
    if (!cip_member_name_is_plain(name))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "no plain folder name: '%.80s'", name);
    CIP_TRY(cip_arena_printf(&o->arena, &inside, err, "%s/", name));
    return cip_fail_in(err, make_folders(o, inside, err), "output");
}

/* --- the end ------------------------------------------------------------------------------------
 */

/* Every member, every folder. */
static cip_status complete(folder_output *o, cip_err *err)
{
    for (size_t i = 0; i < o->n; i++) {
        member *m = o->member[i];
        if (m->file.fd != -1 || m->file.nwaiting != 0 || !m->synced)
            CIP_TRY(close_member(m, err));
    }
    if (o->level != CIP_LEVEL_POWER)
        return CIP_OK;
    for (size_t i = 0; i < o->nfolder; i++) {
        cip_place at = { .dir = -1 };
        char *inside;
        CIP_TRY(cip_arena_printf(&o->arena, &inside, err, "%s/.", o->folder[i]));
        CIP_TRY(cip_place_beneath(&o->in, inside, &at, err));
        cip_status st = cip_place_sync(&at, err);
        cip_place_close(&at);
        CIP_TRY(st);
    }
    return cip_place_sync(&o->in, err);
}

static cip_status sync_names(const folder_output *o, cip_err *err)
{
    return o->level == CIP_LEVEL_POWER ? cip_place_sync(&o->place, err) : CIP_OK;
}

/* Nobody may be reading what goes: its files are opened as they are needed. */
static cip_status place_over(folder_output *o, cip_err *err)
{
    CIP_TRY(cip_commit_take_readers(o->old, err));
    CIP_TRY(cip_commit_take_foreign(o->old, err));
    CIP_TRY(cip_store_exchange(&o->place, o->name, o->place.name, err));
    cip_foreign_lock_move(&o->old->place, &o->in);
    cip_status st = sync_names(o, err);
    cip_place was = { .mem = &o->env->mem, .dir = o->place.dir };
    if (st == CIP_OK)
        cip_store_remove_tree(&was, o->name, NULL); /* else `recover` finds it */
    o->name[0] = '\0';
    return st;
}

static cip_status folder_commit(cip_output *output, cip_err *err)
{
    folder_output *o = (folder_output *)output;
    CIP_TRY(cip_owned(o->owner, err));
    CIP_TRY(complete(o, err));
    if (o->old != NULL)
        return place_over(o, err);
    cip_status st = cip_store_rename(&o->place, o->name, o->place.name, false, err);
    if (st == CIP_ERR_EXISTS)
        st = cip_fail(err, st, CIP_NO_OFFSET, "the output exists");
    if (st == CIP_OK) {
        o->name[0] = '\0';
        st = sync_names(o, err);
    }
    return st;
}

static void folder_end(cip_output *output)
{
    folder_output *o = (folder_output *)output;
    cip_mem *mem = &o->env->mem;
    for (size_t i = 0; i < o->n; i++) {
        cip_file_out_clear(&o->member[i]->file);
        close(o->member[i]->file.fd); /* -1 is fine */
    }
    if (o->from != NULL && o->name[0] != '\0' &&
        cip_store_rename_to(&o->place, o->name, o->from, o->from->name, false, NULL) == CIP_OK)
        o->name[0] = '\0';
    if (o->name[0] != '\0' && o->owner == getpid())
        cip_store_remove_tree(&o->place, o->name, NULL);
    cip_place_close(&o->in); /* and with it the lock */
    cip_place_close(&o->place);
    cip_commit_end(o->old);
    cip_mem_put(mem, o->member);
    cip_mem_put(mem, o->folder);
    cip_arena_clear(&o->arena);
    cip_mem_put(mem, o);
}

/* --- the beginning ------------------------------------------------------------------------------
 */

static cip_status no_bytes(void *user, const void *p, size_t n, cip_err *err)
{
    (void)user;
    (void)p;
    (void)n;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "a folder has no bytes of its own");
}

static cip_out *folder_out(cip_output *o)
{
    return &((folder_output *)o)->out;
}

/* Whether another program changes what is there just now, so that nobody can say what it is. */
static bool is_changing(const folder_output *o)
{
    cip_lock_file lock;
    cip_foreign_lock_open(o->place.dir, o->place.name, true, false, &lock, NULL);
    const bool taken = lock.fd != -1 && cip_lock_file_take(&lock, true) == CIP_LOCK_TAKEN;
    cip_lock_file_close(&lock);
    return taken;
}

/* What is replaced must be a folder that somebody can say is one of ours: all in it goes. */
static cip_status look_at_old(folder_output *o, const char *path, bool overwrite,
                              cip_output_known *known, cip_err *err)
{
    const cip_edit_options how = { .size = sizeof how, .level = o->level };
    struct stat st;
    if (fstatat(o->place.dir, o->place.name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return CIP_OK;
    if (!overwrite)
        return cip_fail(err, CIP_ERR_EXISTS, CIP_NO_OFFSET, "the output exists");
    if (!S_ISDIR(st.st_mode))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "the output exists and is no folder");
    const bool is_known = known != NULL && known(path);
    if (!is_known && is_changing(o))
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "another program holds the output's lock file");
    if (!is_known)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "the output exists and is a folder of no known format: it is not removed");
    o->like = st;
    return cip_commit_lock(o->env, path, &how, &o->old, err);
}

/* Locked from the start, so that `recover` leaves it alone. */
static cip_status open_new(folder_output *o, cip_err *err)
{
    char inside[48];
    snprintf(inside, sizeof inside, "%s/.", o->name);
    CIP_TRY(cip_place_beneath(&o->place, inside, &o->in, err));
    if (fstat(o->in.dir, &o->like) != 0)
        return cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot stat the new folder");
    cip_store_lock(o->in.dir, CIP_LOCK_WRITERS, false);
    return CIP_OK;
}

static cip_status make(folder_output *o, cip_err *err)
{
    snprintf(o->name, sizeof o->name, CIP_FRESH_PREFIX "%016" PRIx64, cip_unique_number());
    o->owner = getpid();
    cip_status st =
        cip_store_make_folder(&o->place, o->name, o->old != NULL ? &o->like : NULL, err);
    if (st != CIP_OK) {
        o->name[0] = '\0';
        return st;
    }
    return open_new(o, err);
}

static cip_status begin(folder_output *o, const char *path, bool overwrite, cip_output_known *known,
                        cip_err *err)
{
    char real[PATH_MAX], *plain;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    CIP_TRY(cip_arena_copy(&o->arena, path, n, &plain, err));
    path = cip_place_follow(plain, real);
    CIP_TRY(cip_place_open(&o->env->mem, path, &o->place, err));
    CIP_TRY(look_at_old(o, path, overwrite, known, err));
    CIP_TRY(make(o, err));
    o->out = (cip_out){ .write = no_bytes,
                        .name = o->place.name,
                        .member = new_member,
                        .folder = new_folder,
                        .member_user = o };
    return CIP_OK;
}

bool cip_output_is_known(const char *path)
{
    cip_file *f;
    cip_status st = cip_open(path, NULL, &f, NULL);
    cip_file_close(f);
    return st == CIP_OK;
}

cip_status cip_output_begin_folder(cip_env *env, const char *path, cip_level level, bool overwrite,
                                   cip_output_known *known, cip_output **out, cip_err *err)
{
    static const cip_output_ops ops = { .out = folder_out,
                                        .commit = folder_commit,
                                        .end = folder_end };
    folder_output *o;
    *out = NULL;
    CIP_TRY(CIP_NEW(&env->mem, &o, 1, err));
    o->o.ops = &ops;
    o->env = env;
    o->level = level;
    o->arena.mem = &env->mem;
    o->place.dir = o->in.dir = -1;
    cip_status st = begin(o, path, overwrite, known, err);
    if (st == CIP_OK)
        *out = &o->o;
    else
        folder_end(&o->o);
    return cip_fail_in(err, st, "output");
}

/* It takes the place of the new folder, which has the attributes that it is to have. */
static cip_status take(folder_output *o, const cip_place *from, cip_err *err)
{
    const struct stat like = o->like;
    cip_place_close(&o->in);
    CIP_TRY(cip_store_remove_folder(&o->place, o->name, err));
    CIP_TRY(cip_store_rename_to(from, from->name, &o->place, o->name, false, err));
    o->from = from;
    CIP_TRY(open_new(o, err));
    return o->old != NULL ? cip_store_take_after(&o->env->mem, o->in.dir, -1, &like, err) : CIP_OK;
}

cip_status cip_output_publish_folder(cip_env *env, const cip_place *at, const char *path,
                                     const cip_output_how *how, cip_err *err)
{
    cip_output *o;
    CIP_TRY(cip_output_begin_folder(env, path, how->level, how->overwrite, cip_output_is_known, &o,
                                    err));
    cip_status st = cip_fail_in(err, take((folder_output *)o, at, err), "output");
    if (st == CIP_OK)
        st = cip_output_commit(o, NULL, err);
    cip_output_end(o);
    return st;
}
