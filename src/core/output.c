/* SPDX-License-Identifier: BSD-3-Clause
 * New files that appear together: the members first, the file that names them last. A member never
 * takes the place of one that is there: until the last step the name shows the old file, which may
 * need it. Those are removed after that step. */
#include "core/output.h"

#include <string.h>
#include <sys/stat.h>

#include "io/store.h"

enum { MEMBERS_MAX = 4096 };

typedef struct member {
    cip_replace *file;
    char *path;
} member;

struct cip_output {
    cip_mem *mem;
    cip_level level;
    bool overwrite;
    char *path;
    cip_replace *file;
    member *at;
    size_t n, cap;
    char *old[MEMBERS_MAX]; /* names that were taken */
    size_t nold;
};

static cip_status check_name(const char *path, bool overwrite, bool beside, cip_err *err)
{
    struct stat there;
    if (overwrite || lstat(path, &there) != 0)
        return CIP_OK;
    if (beside)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "'%.120s' exists", path);
    return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET, "the output exists");
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static cip_status name_member(cip_output *o, const char *name, char **out, cip_err *err)
{
    size_t n = (size_t)(last_part(o->path) - o->path), len = strlen(name);
    if (len == 0 || strchr(name, '/') != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a plain name, found '%.80s'",
                        name);
    CIP_TRY(cip_mem_get(o->mem, n + len + 1, (void **)out, err));
    memcpy(*out, o->path, n);
    memcpy(*out + n, name, len + 1);
    return CIP_OK;
}

static cip_status open_member(cip_output *o, member *m, const char *name, cip_err *err)
{
    CIP_TRY(name_member(o, name, &m->path, err));
    CIP_TRY(check_name(m->path, false, true, err));
    return cip_replace_begin(o->mem, m->path, o->level, &m->file, err);
}

static cip_status new_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    cip_output *o = user;
    if (o->n == MEMBERS_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected at most %d files beside it",
                        MEMBERS_MAX);
    if (o->n == o->cap) {
        size_t cap = o->cap == 0 ? 8 : 2 * o->cap;
        CIP_TRY(cip_mem_resize(o->mem, (void **)&o->at, cap * sizeof *o->at, err));
        o->cap = cap;
    }
    member *m = &o->at[o->n];
    *m = (member){ .path = NULL };
    cip_status st = open_member(o, m, name, err);
    if (st != CIP_OK) {
        cip_mem_put(o->mem, m->path);
        return cip_fail_in(err, st, "output");
    }
    o->n++;
    *out = cip_replace_out(m->file);
    return CIP_OK;
}

static bool is_known(const cip_output *o, const char *path)
{
    for (size_t i = 0; i < o->nold; i++)
        if (strcmp(o->old[i], path) == 0)
            return true;
    return false;
}

/* Asked in the order of the names: what is there is kept in mind, to be removed at the end. */
static bool is_taken(void *user, const char *name)
{
    cip_output *o = user;
    struct stat there;
    char *path = NULL;
    if (o->nold == MEMBERS_MAX || name_member(o, name, &path, NULL) != CIP_OK)
        return false;
    bool found = lstat(path, &there) == 0;
    if (found && !is_known(o, path))
        o->old[o->nold++] = path;
    else
        cip_mem_put(o->mem, path);
    return found;
}

static void remove_file(cip_output *o, const char *path)
{
    cip_place place;
    if (cip_place_open(o->mem, path, &place, NULL) != CIP_OK)
        return;
    cip_store_unlink(&place, place.name, NULL);
    cip_place_close(&place);
}

/* Only litter from here on: a failure is none of the new file. */
static void remove_old(cip_output *o)
{
    for (size_t i = 0; i < o->nold; i++)
        remove_file(o, o->old[i]);
}

cip_status cip_output_begin(cip_mem *mem, const char *path, cip_level level, bool overwrite,
                            cip_output **out, cip_err *err)
{
    cip_output *o = NULL;
    cip_status st;
    *out = NULL;
    CIP_GO(check_name(path, overwrite, false, err));
    CIP_GO(CIP_NEW(mem, &o, 1, err));
    o->mem = mem;
    o->level = level;
    o->overwrite = overwrite;
    CIP_GO(cip_mem_copy(mem, path, strlen(path), &o->path, err));
    CIP_GO(cip_replace_begin(mem, path, level, &o->file, err));
    cip_out *to = cip_replace_out(o->file);
    to->name = last_part(o->path);
    to->member = new_member;
    to->member_user = o;
    to->taken = overwrite ? is_taken : NULL;
    *out = o;
    return CIP_OK;
done:
    cip_output_end(o);
    return cip_fail_in(err, st, "output");
}

cip_out *cip_output_out(cip_output *o)
{
    return cip_replace_out(o->file);
}

static cip_status place_all(cip_output *o, const cip_patch *patch, cip_err *err)
{
    for (size_t i = 0; i < o->n; i++)
        CIP_TRY(cip_replace_commit(o->at[i].file, NULL, false, err));
    return cip_replace_commit(o->file, patch, o->overwrite, err);
}

cip_status cip_output_commit(cip_output *o, const cip_patch *patch, cip_err *err)
{
    cip_status st = place_all(o, patch, err);
    for (size_t i = 0; !cip_replace_placed(o->file) && i < o->n; i++)
        if (cip_replace_placed(o->at[i].file))
            remove_file(o, o->at[i].path);
    if (st == CIP_OK)
        remove_old(o);
    return cip_fail_in(err, st, "output");
}

void cip_output_end(cip_output *o)
{
    if (o == NULL)
        return;
    for (size_t i = 0; i < o->n; i++) {
        cip_replace_end(o->at[i].file);
        cip_mem_put(o->mem, o->at[i].path);
    }
    for (size_t i = 0; i < o->nold; i++)
        cip_mem_put(o->mem, o->old[i]);
    cip_replace_end(o->file);
    cip_mem_put(o->mem, o->at);
    cip_mem_put(o->mem, o->path);
    cip_mem_put(o->mem, o);
}
