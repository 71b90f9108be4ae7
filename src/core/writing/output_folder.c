/* SPDX-License-Identifier: BSD-3-Clause
 * What lies in a new folder, for formats whose file is one. It is written where it stays, as the
 * folder has a name of ours until all in it is complete. */
#include "core/writing/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/strmap.h"
#include "core/commit/file_out.h"
#include "io/patch.h"

enum { OPEN = 32 /* members that are open at a time */ };

typedef struct member {
    cip_file_out file;
    cip_members *of;
    char *name;
    size_t slot; /* in `open`, while its file is */
    bool synced;
} member;

/* What was made, in order. */
typedef struct entry {
    const char *name; /* NULL: it was removed before the commit */
    member *file;     /* or NULL: a folder */
} entry;

struct cip_members {
    cip_env *env;
    cip_level level;
    cip_place in;     /* borrowed */
    struct stat like; /* of what is new in it */
    cip_arena arena;  /* names, members, entries */
    entry *made;
    size_t nmade, made_cap;
    cip_strmap by_name; /* numbers of those that are there */
    member *open[OPEN];
    size_t next; /* of `open`, to be closed */
};

/* Complete for now; it can be opened again. */
static cip_status close_member(member *m, cip_err *err)
{
    cip_status st = cip_file_out_flush(&m->file, err);
    if (m->file.fd == -1)
        return st;
    if (st == CIP_OK && m->of->level == CIP_LEVEL_POWER && !m->synced)
        st = cip_store_sync_all(m->file.fd, err);
    m->synced = st == CIP_OK;
    close(m->file.fd);
    m->of->open[m->slot] = NULL;
    m->file.fd = -1;
    return st;
}

static cip_status open_file(member *m, int flags, cip_err *err)
{
    cip_members *o = m->of;
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

static entry *find(const cip_members *o, const char *name, size_t n)
{
    const size_t i = cip_strmap_get(&o->by_name, (cip_bytes){ (const uint8_t *)name, n });
    return i != SIZE_MAX && o->made[i].name != NULL ? &o->made[i] : NULL;
}

static cip_status add(cip_members *o, const char *name, member *file, cip_err *err)
{
    const cip_bytes key = { (const uint8_t *)name, strlen(name) };
    CIP_TRY(CIP_ARENA_ROOM(&o->arena, &o->made, o->nmade, &o->made_cap, err));
    CIP_TRY(cip_strmap_put(&o->by_name, key, o->nmade, NULL, err));
    o->made[o->nmade++] = (entry){ name, file };
    return CIP_OK;
}

static cip_status make_folder(cip_members *o, const char *name, size_t n, cip_err *err)
{
    cip_place at = { .dir = -1 };
    char *copy;
    CIP_TRY(cip_arena_copy(&o->arena, name, n, &copy, err));
    CIP_TRY(cip_place_beneath(&o->in, copy, &at, err));
    cip_status st = cip_store_make_folder(&at, at.name, &o->like, err);
    cip_place_close(&at);
    return st == CIP_OK ? add(o, copy, NULL, err) : st;
}

static cip_status make_folders(cip_members *o, const char *name, cip_err *err)
{
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        const entry *e = find(o, name, (size_t)(slash - name));
        if (e == NULL || e->file != NULL)
            CIP_TRY(make_folder(o, name, (size_t)(slash - name), err));
    }
    return CIP_OK;
}

static cip_status make_member(cip_members *o, const char *name, member **out, cip_err *err)
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
    const cip_status st = add(o, m->name, m, err);
    if (st != CIP_OK) {
        close(m->file.fd);
        o->open[m->slot] = NULL;
        return st;
    }
    *out = m;
    like.st_mode &= 0666;
    return cip_store_take_after(&o->env->mem, m->file.fd, -1, &like, err);
}

static cip_status new_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    cip_members *o = user;
    member *m;
    if (!cip_member_name_is_plain(name) || strncmp(name, ".cip-", 5) == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "not a plain member name: '%.80s'", name);
    cip_status st = make_member(o, name, &m, err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "output");
    *out = &m->file.out;
    return CIP_OK;
}

static cip_status new_folder(void *user, const char *name, cip_err *err)
{
    cip_members *o = user;
    char *inside;
    if (!cip_member_name_is_plain(name))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "not a plain folder name: '%.80s'", name);
    CIP_TRY(cip_arena_printf(&o->arena, &inside, err, "%s/", name));
    return cip_fail_in(err, make_folders(o, inside, err), "output");
}

static cip_status no_bytes(void *user, const void *p, size_t n, cip_err *err)
{
    (void)user;
    (void)p;
    (void)n;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "a folder has no bytes of its own");
}

/* --- all of them ------------------------------------------------------------------------------ */

cip_status cip_members_begin(cip_env *env, cip_level level, int dir, cip_out *to, cip_members **out,
                             cip_err *err)
{
    cip_members *o;
    CIP_TRY(CIP_NEW(&env->mem, &o, 1, err));
    *out = o;
    o->env = env;
    o->level = level;
    o->in = (cip_place){ .mem = &env->mem, .dir = dir };
    o->arena.mem = o->by_name.mem = &env->mem;
    *to = (cip_out){
        .write = no_bytes, .member = new_member, .folder = new_folder, .member_user = o
    };
    return fstat(dir, &o->like) == 0 ? CIP_OK
                                     : cip_fail_errno(err, errno, CIP_NO_OFFSET,
                                                      "cannot get the status of the new folder");
}

/* Every member, every folder but the first one. */
cip_status cip_members_complete(cip_members *o, cip_err *err)
{
    for (size_t i = 0; i < o->nmade; i++) {
        member *m = o->made[i].file;
        if (o->made[i].name != NULL && m != NULL &&
            (m->file.fd != -1 || m->file.nwaiting != 0 || !m->synced))
            CIP_TRY(close_member(m, err));
    }
    for (size_t i = o->nmade; o->level == CIP_LEVEL_POWER && i-- != 0;) {
        cip_place at = { .dir = -1 };
        char *inside;
        if (o->made[i].name == NULL || o->made[i].file != NULL)
            continue;
        CIP_TRY(cip_arena_printf(&o->arena, &inside, err, "%s/.", o->made[i].name));
        CIP_TRY(cip_place_beneath(&o->in, inside, &at, err));
        cip_status st = cip_place_sync(&at, err);
        cip_place_close(&at);
        CIP_TRY(st);
    }
    return CIP_OK;
}

/* --- changed before the commit ---------------------------------------------------------------- */

static cip_status write_at(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    cip_out *out = &((member *)user)->file.out;
    const size_t within = (size_t)cip_min_u64(n, out->n - cip_min_u64(off, out->n));
    CIP_TRY(cip_out_rewrite(out, off, p, within, err));
    return cip_out_write(out, (const uint8_t *)p + within, n - within, err);
}

static cip_status resize(void *user, uint64_t nbytes, cip_err *err)
{
    cip_out *out = &((member *)user)->file.out;
    return nbytes <= out->n ? cip_out_rewind(out, nbytes, err)
                            : cip_out_fill(out, 0, nbytes - out->n, err);
}

static const cip_io_write_methods member_methods = { CIP_IO_WRITE_METHODS_INIT,
                                                     .write_at = write_at, .resize = resize };

static cip_status create_member(void *user, const char *name, cip_io_write_methods *methods,
                                void **made, cip_err *err)
{
    member *m;
    CIP_TRY(make_member(user, name, &m, err));
    *methods = member_methods;
    *made = m;
    return CIP_OK;
}

static cip_status open_member(void *user, const char *name, cip_io_write_methods *methods,
                              void **found, cip_err *err)
{
    const cip_members *o = user;
    const entry *e = find(o, name, strlen(name));
    *methods = member_methods;
    *found = e != NULL ? e->file : NULL;
    return *found != NULL ? CIP_OK
                          : cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                                     "'%.120s' does not exist in the new folder", name);
}

/* A member, or a folder in which none is left. */
static cip_status unlink_member(void *user, const char *name, cip_err *err)
{
    cip_members *o = user;
    entry *e = find(o, name, strlen(name));
    member *m = e != NULL ? e->file : NULL;
    cip_place at = { .dir = -1 };
    if (m != NULL)
        CIP_TRY(close_member(m, err));
    CIP_TRY(cip_place_beneath(&o->in, name, &at, err));
    const cip_status st = m != NULL ? cip_store_unlink(&at, at.name, err)
                                    : cip_store_remove_folder(&at, at.name, err);
    cip_place_close(&at);
    CIP_TRY(st);
    if (e != NULL)
        e->name = NULL;
    return CIP_OK;
}

cip_target cip_members_target(cip_members *o)
{
    return (cip_target){ .methods = { CIP_IO_WRITE_METHODS_INIT, .name = "",
                                      .create_member = create_member, .open_member = open_member,
                                      .unlink_member = unlink_member },
                         .user = o,
                         .folders = true };
}

void cip_members_end(cip_members *o)
{
    if (o == NULL)
        return;
    cip_mem *mem = &o->env->mem;
    for (size_t i = 0; i < o->nmade; i++) {
        member *m = o->made[i].file;
        if (m == NULL)
            continue;
        cip_file_out_clear(&m->file);
        close(m->file.fd); /* -1 is fine */
    }
    cip_strmap_clear(&o->by_name);
    cip_arena_clear(&o->arena);
    cip_mem_put(mem, o);
}
