/* SPDX-License-Identifier: BSD-3-Clause
 * The folders that superchunks lie in, and the names in them: the array's own folder, those under
 * it or listed in meta/shards, those that the caller names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/blz/blz.h"

/* What is listed by cip_io_list. */
typedef struct listing {
    cip_layout *layout;
    cip_buf *out; /* of cip_blz_entry */
    uint32_t shard;
    cip_status st;
    cip_err *err;
} listing;

/* --- names ------------------------------------------------------------------------------------ */

bool cip_blz_number_of(const char *name, const char *suffix, uint64_t *out)
{
    char back[CIP_IO_NUMBER_NAME];
    if (strncmp(name, "__", 2) != 0 || name[2] < '0' || name[2] > '9')
        return false;
    *out = strtoull(name + 2, NULL, 10);
    snprintf(back, sizeof back, "__%" PRIu64 "%s", *out, suffix);
    return strcmp(back, name) == 0;
}

/* A superchunk's number; 0 for other names. */
static uint64_t number_of(const char *name)
{
    uint64_t n;
    return cip_blz_number_of(name, "__.bin", &n) ? n : 0;
}

static int keep_entry(void *user, const char *name, bool is_folder)
{
    listing *k = user;
    char *copy = NULL;
    k->st = cip_arena_printf(&k->layout->arena, &copy, k->err, "%s", name);
    const cip_blz_entry e = { .name = copy,
                              .number = is_folder ? 0 : number_of(name),
                              .shard = k->shard,
                              .is_folder = is_folder };
    if (k->st == CIP_OK)
        k->st = cip_buf_add(k->out, &e, sizeof e, k->err);
    return k->st != CIP_OK;
}

cip_status cip_blz_list_folder(cip_blz *b, uint32_t shard, const char *dir, cip_buf *out,
                               cip_err *err)
{
    cip_layout *l = b->layout;
    listing k = { .layout = l, .out = out, .shard = shard, .err = err };
    cip_io *io = b->shard[shard].of != NULL ? b->shard[shard].of : l->io;
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_io_list(io, dir, cip_blz_flags(l), keep_entry, &k, &why);
    if (k.st != CIP_OK)
        return k.st;
    if (st == CIP_OK || st == CIP_ERR_NOT_FOUND)
        return CIP_OK;
    return cip_fail_in(err, cip_fail(err, st, why.offset, "%s", why.text), "%s", dir);
}

/* Whose data files a folder holds. */
typedef struct kinds {
    bool document, old;
} kinds;

static int see_kind(void *user, const char *name, bool is_folder)
{
    kinds *k = user;
    size_t n = strlen(name);
    k->document = k->document || is_folder || number_of(name) != 0;
    k->old = k->old || (n > 4 && strcmp(name + n - 4, ".blp") == 0);
    return k->document || k->old;
}

/* An array without any data is the document's unless it has what the old programs always wrote. */
cip_status cip_blz_is_document(cip_io *io, bool *yes, cip_err *err)
{
    static const char *const old[] = { "__attrs__", "data/__0.blp" };
    kinds k = { .document = false };
    cip_err why = CIP_ERR_INIT;
    for (size_t i = 0; i < sizeof old / sizeof old[0] && !k.old; i++)
        CIP_TRY(cip_blz_has(io, old[i], &k.old, err));
    if (!k.old && cip_io_list(io, "data", 0, see_kind, &k, &why) == CIP_ERR_NOMEM)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "%s", why.text);
    *yes = !k.old;
    return CIP_OK;
}

/* --- shards ----------------------------------------------------------------------------------- */

static cip_status add_shard(cip_blz *b, cip_io *of, const char *dir, const char *name, cip_err *err)
{
    if (b->nshard == CIP_BLZ_MAX_SHARDS)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected at most %d shards, found more",
                        CIP_BLZ_MAX_SHARDS);
    CIP_TRY(CIP_ARENA_ROOM(&b->layout->arena, &b->shard, b->nshard, &b->shard_cap, err));
    b->shard[b->nshard++] = (cip_blz_shard){ .of = of, .dir = dir, .name = name };
    return CIP_OK;
}

static cip_status add_beneath(cip_blz *b, const char *name, cip_err *err)
{
    char *dir;
    CIP_TRY(cip_arena_printf(&b->layout->arena, &dir, err, "%s/", name));
    for (size_t i = 0; i < b->nshard; i++)
        if (b->shard[i].of == NULL && strcmp(b->shard[i].dir, dir) == 0)
            return CIP_OK;
    return add_shard(b, NULL, dir, name, err);
}

static int stop_listing(void *user, const char *name, bool is_folder)
{
    (void)user, (void)name, (void)is_folder;
    return 1;
}

/* A folder by its own path; *used (may be NULL): it has a data/, which comes with the first chunk
 * that is dealt to it. */
static cip_status add_root(cip_blz *b, const char *path, bool *used, cip_err *err)
{
    cip_io *io;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_io_open_folder(b->layout->env, path, &io, err));
    cip_status st = cip_io_list(io, "data", cip_blz_flags(b->layout), stop_listing, NULL, &why);
    if (used != NULL)
        *used = st != CIP_ERR_NOT_FOUND;
    if (st == CIP_ERR_CANCELLED || st == CIP_ERR_NOT_FOUND)
        st = CIP_OK;
    if (st != CIP_OK)
        cip_fail_in(err, cip_fail(err, st, why.offset, "%s", why.text), "%s", path);
    if (st == CIP_OK)
        st = add_shard(b, io, "", path, err);
    if (st != CIP_OK)
        cip_io_close(io);
    return st;
}

/* A path that leaves the folder is somebody else's to allow. */
static cip_status add_outside(cip_blz *b, const char *path, cip_err *err)
{
    cip_layout *l = b->layout;
    char *full;
    if ((l->flags & CIP_OPEN_EXTERNAL) == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "the shard '%.120s' lies outside the folder (.allow_external opens it)",
                        path);
    bool absolute = path[0] == '/';
    CIP_TRY(cip_arena_printf(&l->arena, &full, err, "%s%s%s", absolute ? "" : l->io->name,
                             absolute ? "" : "/", path));
    return add_root(b, full, NULL, err);
}

static bool is_beneath(const char *path)
{
    return path[0] != '/' && strcmp(path, "..") != 0 && strncmp(path, "../", 3) != 0 &&
           strstr(path, "/../") == NULL;
}

/* meta/shards: a list of paths. */
static cip_status listed_shards(cip_blz *b, cip_err *err)
{
    const cip_node *list;
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_blz_json(b->layout, "meta/shards", &list, &why);
    if (st == CIP_ERR_NOT_FOUND)
        return CIP_OK;
    if (st == CIP_OK && list->type != CIP_NODE_SEQ)
        st = cip_fail(&why, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a list of paths");
    for (uint32_t i = 0; st == CIP_OK && i < list->len; i++) {
        const cip_node *n = list->item[i];
        if (n->type != CIP_NODE_STRING || n->len == 0 || strlen(n->text) != n->len)
            st = cip_fail(&why, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a list of paths");
        else
            st = (is_beneath(n->text) ? add_beneath : add_outside)(b, n->text, &why);
        if (st == CIP_OK)
            b->shard[b->nshard - 1].listed = true; /* of one that is known already: that stays */
    }
    if (st != CIP_OK)
        return cip_fail_in(err, cip_fail(err, st, why.offset, "%s", why.text), "meta/shards");
    return CIP_OK;
}

cip_status cip_blz_open_shards(cip_blz *b, cip_err *err)
{
    b->layout->uses_roots = true;
    CIP_TRY(add_shard(b, NULL, "", "", err));
    for (size_t i = 0; i < b->layout->nroot; i++) {
        /* One that the caller names. */
        bool used;
        CIP_TRY(add_root(b, b->layout->root[i], &used, err));
        if (!used)
            cip_warn(b->layout->env, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, b->layout->root[i],
                     "the folder has no data/, so no chunk of the array lies in it");
    }
    CIP_TRY(listed_shards(b, err));
    /* Folders directly under the root that hold a data/. */
    cip_layout *l = b->layout;
    cip_buf found = { .mem = &l->env->mem };
    cip_status st = cip_blz_list_folder(b, 0, "", &found, err);
    const cip_blz_entry *e = (const cip_blz_entry *)(const void *)found.ptr;
    for (size_t i = 0; st == CIP_OK && i < found.len / sizeof *e; i++) {
        char path[CIP_IO_NUMBER_NAME];
        snprintf(path, sizeof path, "%.255s/data", e[i].name);
        if (!e[i].is_folder || strcmp(e[i].name, "data") == 0 || strcmp(e[i].name, "meta") == 0)
            continue;
        cip_status is = cip_io_list(l->io, path, cip_blz_flags(l), stop_listing, NULL, NULL);
        if (is == CIP_OK || is == CIP_ERR_CANCELLED)
            st = add_beneath(b, e[i].name, err);
    }
    cip_buf_clear(&found);
    return st;
}
