/* SPDX-License-Identifier: BSD-3-Clause
 * Files in memory from a path, with all that lies beneath a folder or beside a file, and to one: a
 * new file or folder in one step. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/sized.h"
#include "base/stop.h"
#include "core/handle.h"
#include "core/writing/output.h"
#include "io/patch.h"
#include "space/read/read.h"

enum {
    DEEP = 64,  /* folders within each other; links may lead round in circles */
    NAME = 256, /* bytes that a name counts for, so that there is an end of them */
};

typedef struct load {
    cip_io *io; /* the file or folder as it is read */
    uint32_t flags;
    cip_memory *set;
    uint64_t left; /* of max_memory */
} load;

static cip_status count(load *l, uint64_t nbytes, cip_err *err)
{
    const uint64_t most = l->io->env->limits.max_memory;
    if (nbytes > l->left)
        return cip_fail(
            err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
            "expected files of at most %" PRIu64 " bytes together (max_memory), found more", most);
    l->left -= nbytes;
    return CIP_OK;
}

static cip_status take_bytes(load *l, cip_io *from, cip_memory *to, cip_err *err)
{
    CIP_TRY(count(l, from->size, err));
    CIP_TRY(cip_memory_fill(to, from, err));
    return cip_io_unchanged(from, err);
}

static cip_status take_member(load *l, const char *name, cip_io *io, cip_err *err)
{
    cip_memory *member;
    CIP_TRY(cip_memory_create(l->set, name, &member, err));
    return take_bytes(l, io, member, err);
}

/* --- folders ---------------------------------------------------------------------------------- */

typedef struct level {
    load *l;
    const char *path;
    int depth;
    cip_status st;
    cip_err *err;
} level;

static int take_name(void *user, const char *name, bool is_folder);

/* What lies in the folder at `path` beneath the one that is loaded. */
static cip_status take_folder(load *l, const char *path, int depth, cip_err *err)
{
    level v = { l, path, depth, CIP_OK, err };
    cip_err why = CIP_ERR_INIT;
    if (depth == DEEP)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %d nested folders, found more", DEEP);
    cip_status st = cip_io_list(l->io, path, l->flags, take_name, &v, &why);
    if (v.st == CIP_OK && st != CIP_OK)
        return cip_fail(err, st, why.offset, "%s", why.text);
    return v.st;
}

static int take_name(void *user, const char *name, bool is_folder)
{
    level *v = user;
    char path[CIP_IO_NUMBER_NAME];
    cip_io *io;
    const int n =
        snprintf(path, sizeof path, "%s%s%s", v->path, v->path[0] != '\0' ? "/" : "", name);
    if (n < 0 || (size_t)n >= sizeof path)
        v->st = cip_fail(v->err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                         "expected names of less than %d bytes, found '%.120s...'",
                         CIP_IO_NUMBER_NAME, path);
    if (v->st == CIP_OK)
        v->st = count(v->l, NAME, v->err);
    if (v->st == CIP_OK && is_folder) {
        v->st = take_folder(v->l, path, v->depth + 1, v->err);
    } else if (v->st == CIP_OK) {
        v->st = cip_io_open_beneath(v->l->io, path, v->l->flags, &io, v->err);
        if (v->st == CIP_OK) {
            v->st = take_member(v->l, path, io, v->err);
            cip_io_close(io);
        }
    }
    return v->st != CIP_OK;
}

/* --- files beside a file ---------------------------------------------------------------------- */

/* Which they are is known when all arrays have been looked for. */
static cip_status find_all(cip_layout *l, cip_err *err)
{
    for (size_t i = 0; i < l->narray; i++) {
        const cip_array *a = l->array[i];
        cip_space *s;
        if (a->storage.kind != CIP_STORAGE_EXTERNAL)
            continue;
        cip_status st =
            a->st != CIP_OK ? cip_array_check(a, err) : cip_space_resolve(a->space, &s, err);
        if (st != CIP_OK)
            return cip_fail_in(err, st, "%s", a->path);
    }
    return CIP_OK;
}

/* One may be opened twice, for its tree and for its blocks. */
static bool was_taken(const cip_layout *file, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(file->child[k]->io->name, file->child[i]->io->name) == 0)
            return true;
    return false;
}

static cip_status take_beside(load *l, cip_layout *file, cip_err *err)
{
    CIP_TRY(find_all(file, err));
    for (size_t i = 0; i < file->nchild; i++) {
        cip_layout *c = file->child[i];
        CIP_TRY(find_all(c, err));
        if (c->nchild != 0 || !cip_member_name_is_plain(c->io->name))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "'%.120s' %s, which a file in memory cannot have", c->io->name,
                            c->nchild != 0 ? "refers to other files itself"
                                           : "is not in the file's folder");
        if (!was_taken(file, i))
            CIP_TRY(take_member(l, c->io->name, c->io, err));
    }
    return CIP_OK;
}

cip_status cip_memory_load(const char *path, const cip_open_options *opts, cip_memory **out,
                           cip_err *err)
{
    err = cip_err_enter(err);
    cip_file *f;
    CIP_TRY(cip_arg_given(out, "a pointer for the memory", err));
    *out = NULL;
    CIP_TRY(cip_open(path, opts, &f, err));
    load l = { .io = f->layout->io,
               .flags = (f->flags & CIP_OPEN_EXTERNAL) != 0 ? CIP_IO_EXTERNAL : 0,
               .left = f->env.limits.max_memory };
    const char *slash = strrchr(path, '/');
    cip_status st = cip_memory_make(&f->env.mem.from, &l.set, err);
    if (st == CIP_OK && !cip_io_is_folder(l.io))
        st = cip_memory_set_name(l.set, slash != NULL ? slash + 1 : path, err);
    if (st == CIP_OK && f->nroot != 0)
        st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                      "expected no folder (roots) other than the loaded one");
    if (st == CIP_OK && cip_io_is_folder(l.io)) {
        st = take_folder(&l, "", 0, err);
    } else if (st == CIP_OK) {
        st = take_bytes(&l, l.io, l.set, err);
        if (st == CIP_OK)
            st = take_beside(&l, f->layout, err);
        if (st == CIP_OK)
            st = cip_io_unchanged(l.io, err);
    }
    if (st == CIP_OK) {
        cip_memory_complete(l.set);
        *out = l.set;
    } else {
        cip_memory_free(l.set);
    }
    cip_file_close(f);
    return st;
}

/* In pieces, so that a caller can stop it. */
static cip_status put(cip_out *out, const uint8_t *bytes, size_t n, cip_err *err)
{
    enum { PIECE = 16 << 20 };
    for (size_t at = 0; at < n; at += PIECE) {
        CIP_TRY(cip_stop_ask(err));
        CIP_TRY(cip_out_write(out, bytes + at, (size_t)cip_min_u64(PIECE, n - at), err));
    }
    return CIP_OK;
}

static cip_status put_all(const cip_memory *m, cip_out *out, cip_err *err)
{
    const void *bytes;
    size_t n;
    const char *name;
    for (size_t i = 0; (name = cip_memory_member(m, i, &bytes, &n)) != NULL; i++) {
        cip_out *member;
        CIP_TRY(out->member(out->member_user, name, &member, err));
        CIP_TRY(put(member, bytes, n, err));
    }
    bytes = cip_memory_bytes(m, &n);
    return put(out, bytes, n, err);
}

cip_status cip_memory_save(const cip_memory *m, const char *path, const cip_change_options *opts,
                           cip_err *err)
{
    err = cip_err_enter(err);
    cip_change_options o;
    cip_env env;
    cip_output *out = NULL;
    size_t n;
    if (cip_memory_bytes(m, &n) == NULL || (n == 0 && cip_memory_member(m, 0, NULL, NULL) == NULL))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a file that is complete, or members, found none");
    if (path == NULL || strcmp(path, "-") == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file's name as the output");
    CIP_TRY(CIP_SIZED_TAKE(cip_change_options, opts, &o, err));
    CIP_TRY(cip_env_init(&env, o.limits, o.allocator, NULL, err));
    const cip_output_how how = { .level = o.level, .overwrite = o.overwrite, .folder = n == 0 };
    cip_status st = cip_output_begin(&env, path, &how, &out, err);
    if (st == CIP_OK)
        st = put_all(m, cip_output_out(out), err);
    if (st == CIP_OK)
        st = cip_output_commit(out, NULL, err);
    cip_output_end(out);
    cip_env_clear(&env);
    return st;
}

cip_status cip_publish(const char *from, const char *path, const cip_change_options *opts,
                       cip_err *err)
{
    err = cip_err_enter(err);
    cip_change_options o;
    cip_env env;
    CIP_TRY(cip_arg_given(from, "a file", err));
    CIP_TRY(cip_arg_given(path, "a name for the file", err));
    CIP_TRY(CIP_SIZED_TAKE(cip_change_options, opts, &o, err));
    CIP_TRY(cip_env_init(&env, o.limits, o.allocator, NULL, err));
    const cip_output_how how = { .level = o.level, .overwrite = o.overwrite };
    cip_status st = cip_output_publish(&env, from, path, &how, err);
    cip_env_clear(&env);
    return st;
}
