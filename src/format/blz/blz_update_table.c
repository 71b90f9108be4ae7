/* SPDX-License-Identifier: BSD-3-Clause
 * Columns of a table that go, get another name or come: all files of their folders with them, and
 * __rootdirs__ last, as it names the folders. */
#include <string.h>

#include "format/blz/blz_update.h"

/* Something in a column's folder, or below. */
typedef struct entry {
    const char *path;
    bool is_folder;
} entry;

typedef struct listing {
    cip_blz_state *u;
    const char *dir; /* without a slash at the end */
    cip_buf entry;
    cip_status st;
    cip_err *err;
} listing;

static int take_entry(void *user, const char *name, bool is_folder)
{
    listing *k = user;
    char *path = NULL;
    k->st = cip_arena_printf(k->u->arena, &path, k->err, "%s/%s", k->dir, name);
    const entry e = { path, is_folder };
    if (k->st == CIP_OK)
        k->st = cip_buf_add(&k->entry, &e, sizeof e, k->err);
    return k->st != CIP_OK;
}

static cip_status list_one(listing *k, const char *dir, cip_err *err)
{
    cip_layout *l = k->u->b->layout;
    cip_err why = CIP_ERR_INIT;
    k->dir = dir;
    k->err = err;
    cip_status st = cip_io_list(l->io, dir, 0, take_entry, k, &why);
    CIP_TRY(k->st);
    return st == CIP_OK || st == CIP_ERR_NOT_FOUND ? CIP_OK
                                                   : cip_fail(err, st, why.offset, "%s", why.text);
}

/* All that lies in the folder, folders before what is in them. A column has two levels; links that
 * lead back to where they are would have more and more. */
static cip_status list_all(listing *k, const char *dir, cip_err *err)
{
    enum { MOST_PATH = 1000 };
    CIP_TRY(list_one(k, dir, err));
    for (size_t i = 0; i * sizeof(entry) < k->entry.len; i++) {
        const entry e = ((const entry *)(const void *)k->entry.ptr)[i];
        if (!e.is_folder)
            continue;
        if (strlen(e.path) > MOST_PATH || k->entry.len / sizeof e > k->u->env->limits.max_blocks)
            return cip_fail(
                err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                "expected the folder of a column, found too many other files in '%.80s'", dir);
        CIP_TRY(list_one(k, e.path, err));
    }
    return CIP_OK;
}

/* Files first, then folders from the innermost on. */
static cip_status move_all(listing *k, const char *dir, const char *to, cip_revision *r,
                           cip_err *err)
{
    const entry *e = (const entry *)(const void *)k->entry.ptr;
    const size_t n = k->entry.len / sizeof *e;
    char *path;
    for (size_t i = 0; i < n; i++) {
        if (e[i].is_folder)
            continue;
        if (to == NULL) {
            CIP_TRY(cip_revision_unlink(r, e[i].path, NULL, err));
            continue;
        }
        CIP_TRY(cip_arena_printf(k->u->arena, &path, err, "%s%s", to, e[i].path + strlen(dir)));
        CIP_TRY(cip_revision_rename(r, e[i].path, path, NULL, err));
    }
    for (size_t i = n; i-- > 0;)
        if (e[i].is_folder)
            CIP_TRY(cip_revision_unlink_folder(r, e[i].path, err));
    return cip_revision_unlink_folder(r, dir, err);
}

cip_status cip_blz_move_folder(cip_blz_state *u, const char *dir, const char *to, cip_revision *r,
                               cip_err *err)
{
    listing k = { .u = u, .entry = { .mem = &u->env->mem } };
    cip_status st = list_all(&k, dir, err);
    if (st == CIP_OK)
        st = move_all(&k, dir, to, r, err);
    cip_buf_clear(&k.entry);
    return st;
}

/* --- __rootdirs__ ----------------------------------------------------------------------------- */

static cip_status put_names(cip_blz_state *u, const cip_node *root, cip_build *to, cip_err *err)
{
    const cip_node *dirs = cip_map_get(root, "dirs"), *was = cip_map_get(root, "names");
    cip_node *names, *map, *node;
    size_t n = u->ncoming, at = 0;
    for (size_t i = 0; i < u->b->ncolumn; i++)
        n += !u->column[i].gone;
    CIP_TRY(cip_node_new_seq(u->arena, n, &names, err));
    CIP_TRY(cip_node_new_map(u->arena, n, &map, err));
    for (size_t i = 0; i < u->b->ncolumn + u->ncoming; i++) {
        const char *name, *dir;
        /* The i-th of the old columns, then of those that come; name NULL: it is gone. */
        char *copy;
        name = dir = i < u->b->ncolumn ? u->column[i].name : u->coming[i - u->b->ncolumn]->name;
        if (name == NULL && !u->column[i].gone) {
            const char *old = u->b->column[i]->dir;
            CIP_TRY(cip_arena_copy(u->arena, old, strlen(old) - 1, &copy, err));
            name = was->item[i]->text;
            dir = copy;
        }
        if (name == NULL)
            continue;
        CIP_TRY(cip_node_new_string(u->arena, name, strlen(name), &node, err));
        cip_node_set_item(names, at, node);
        CIP_TRY(cip_node_new_string(u->arena, dir, strlen(dir), &node, err));
        CIP_TRY(cip_node_set_key(u->arena, map, at++, name, node, err));
    }
    CIP_TRY(cip_build_set(to, "names", names, err));
    return dirs != NULL ? cip_build_set(to, "dirs", map, err) : CIP_OK;
}

cip_status cip_blz_table_finish(cip_blz_state *u, cip_revision *r, cip_err *err)
{
    const cip_node *root;
    cip_build to = { .arena = u->arena };
    bool any = u->ncoming != 0;
    for (size_t i = 0; i < u->ncoming; i++)
        CIP_TRY(cip_blz_put_columns_meta(&u->coming[i]->w, err));
    for (size_t i = 0; i < u->b->ncolumn; i++) {
        if (!u->column[i].gone && u->column[i].name == NULL)
            continue;
        any = true;
        const cip_blz_column *c = u->b->column[i];
        char *dir;
        CIP_TRY(cip_arena_copy(u->arena, c->dir, strlen(c->dir) - 1, &dir, err));
        CIP_TRY(cip_blz_move_folder(u, dir, u->column[i].name, r, err));
    }
    if (!any)
        return CIP_OK;
    CIP_TRY(cip_blz_json(u->b->layout, "__rootdirs__", &root, err));
    CIP_TRY(cip_build_set(&to, "", root, err));
    CIP_TRY(put_names(u, root, &to, err));
    CIP_TRY(cip_blz_put_json(u, r, "__rootdirs__", to.root, err));
    return cip_revision_switch(r, "__rootdirs__", err);
}

/* --- what is asked for ------------------------------------------------------------------------ */

size_t cip_blz_find_column(const cip_blz_state *u, const char *path)
{
    size_t i = 0;
    while (i < u->b->ncolumn && strcmp(u->b->column[i]->array->path, path) != 0)
        i++;
    return i;
}

static cip_status expect_unchanged(const cip_blz_state *u, size_t i, cip_err *err)
{
    const cip_blz_column *c = u->b->column[i];
    const cip_blz_changed *x = &u->column[i];
    if (c->array->space == c->space && !x->gone && x->name == NULL)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "the column '%.80s' changed in this update; commit it first", c->array->path);
}

cip_status cip_blz_remove_column(cip_blz_state *u, size_t i, cip_err *err)
{
    size_t left = 0;
    CIP_TRY(expect_unchanged(u, i, err));
    for (size_t k = 0; k < u->b->ncolumn; k++)
        left += !u->column[k].gone;
    if (left == 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the last column of the table, '%.80s', cannot be removed",
                        u->b->column[i]->array->path);
    CIP_TRY(cip_blz_keep_column(u, i, err));
    u->column[i].gone = true;
    return CIP_OK;
}

typedef struct taken {
    const char *name;
    bool is;
} taken;

static int is_taken(void *user, const char *name, bool is_folder)
{
    taken *t = user;
    (void)is_folder;
    t->is = t->is || strcmp(t->name, name) == 0;
    return 0;
}

/* There or not: one that is missing must not be another's. */
static bool is_folder_of(const cip_blz_column *c, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(c->dir, name, n) == 0 && strcmp(c->dir + n, "/") == 0;
}

/* Names that go in the same update count still: their files would be in the way. */
cip_status cip_blz_expect_free(const cip_blz_state *u, const char *name, cip_err *err)
{
    taken t = { .name = name };
    /* A column's name is its folder's; those of ours begin with an underscore. */
    const size_t n = strlen(name);
    bool fits = cip_blz_is_utf8(name) && n != 0 && n <= 200 && name[0] != '_' && name[0] != '.' &&
                strchr(name, '/') == NULL && strchr(name, '~') == NULL;
    for (size_t i = 0; i < n; i++)
        fits = fits && (uint8_t)name[i] >= 0x20 && name[i] != 0x7f;
    if (!fits)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a name that a column's folder can have, found '%.80s'", name);
    CIP_TRY(cip_io_list(u->b->layout->io, "", 0, is_taken, &t, err));
    for (size_t k = 0; k < u->b->ncolumn; k++)
        t.is = t.is || strcmp(u->b->column[k]->array->path, name) == 0 ||
               is_folder_of(u->b->column[k], name) ||
               (u->column[k].name != NULL && strcmp(u->column[k].name, name) == 0);
    for (size_t k = 0; k < u->ncoming; k++)
        t.is = t.is || strcmp(u->coming[k]->name, name) == 0;
    if (t.is)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "'%.80s' exists; remove it first, in a separate update", name);
    return CIP_OK;
}

cip_status cip_blz_move_column(cip_blz_state *u, size_t i, const char *to, cip_err *err)
{
    char *name;
    CIP_TRY(expect_unchanged(u, i, err));
    CIP_TRY(cip_blz_expect_free(u, to, err));
    CIP_TRY(cip_arena_printf(u->arena, &name, err, "%s", to));
    CIP_TRY(cip_blz_keep_column(u, i, err));
    u->column[i].name = name;
    return CIP_OK;
}
