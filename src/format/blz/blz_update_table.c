/* SPDX-License-Identifier: BSD-3-Clause
 * Columns of a table that go, get another name or come: all files of their folders with them, and
 * __rootdirs__ last, as it names the folders. */
#include <string.h>

#include "format/blz/blz_update.h"
#include "tree/utf8.h"

/* --- __rootdirs__ ----------------------------------------------------------------------------- */

static cip_status put_names(cip_blz_state *u, const cip_node *root, cip_build *to, cip_err *err)
{
    const cip_node *dirs = cip_map_get(root, "dirs"), *was = cip_map_get(root, "names");
    cip_node *names, *map, *node;
    size_t n, *order;
    CIP_TRY(cip_blz_order(u, &order, &n, err));
    CIP_TRY(cip_node_new_seq(u->arena, n, &names, err));
    CIP_TRY(cip_node_new_map(u->arena, n, &map, err));
    for (size_t at = 0; at < n; at++) {
        const size_t i = order[at];
        const char *name = cip_blz_name_now(u, i), *dir = name;
        char *copy;
        if (i < u->b->ncolumn && u->column[i].name == NULL) {
            const char *own = u->b->column[i]->dir;
            CIP_TRY(cip_arena_copy(u->arena, own, strlen(own) - 1, &copy, err));
            name = was->item[i]->text;
            dir = copy;
        }
        CIP_TRY(cip_node_new_string(u->arena, name, strlen(name), &node, err));
        cip_node_set_item(names, at, node);
        CIP_TRY(cip_node_new_string(u->arena, dir, strlen(dir), &node, err));
        CIP_TRY(cip_node_set_key(u->arena, map, at, name, node, err));
    }
    CIP_TRY(cip_build_set(to, "names", names, err));
    return dirs != NULL ? cip_build_set(to, "dirs", map, err) : CIP_OK;
}

/* Folders that go or move come first: what comes may take their files' names. */
cip_status cip_blz_table_finish(cip_blz_state *u, cip_revision *r, cip_err *err)
{
    const cip_node *root;
    cip_build to = { .arena = u->arena };
    int64_t cbytes = 0;
    bool any = u->ncame != 0;
    for (size_t i = 0; i < u->b->ncolumn; i++) {
        if (!u->column[i].gone && u->column[i].name == NULL)
            continue;
        any = true;
        const cip_blz_column *c = u->b->column[i];
        char *dir;
        CIP_TRY(cip_arena_copy(u->arena, c->dir, strlen(c->dir) - 1, &dir, err));
        CIP_TRY(cip_revision_move_folder(r, u->b->layout->io, dir,
                                         u->column[i].gone ? NULL : u->column[i].name, true, err));
    }
    CIP_TRY(cip_blz_put_came(u, &cbytes, err));
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
    const char *name;
    if (!u->b->table)
        return u->b->ncolumn + u->ncame;
    while (i < u->b->ncolumn + u->ncame &&
           ((name = cip_blz_name_now(u, i)) == NULL || strcmp(name, path) != 0))
        i++;
    return i;
}

/* ... and what held nothing else. */
static cip_status drop_attributes(cip_blz_state *u, const char *path, cip_err *err)
{
    const char *key = u->b->key[1];
    if (u->tree.root == NULL || cip_tree_get(u->tree.root, path, NULL) == NULL)
        return CIP_OK;
    const cip_node *all = cip_tree_get(u->tree.root, key, NULL);
    return cip_build_remove(&u->tree, all != NULL && all->len == 1 ? key : path, err);
}

cip_status cip_blz_remove_column(cip_blz_state *u, size_t i, bool replaced, cip_err *err)
{
    const bool came = i >= u->b->ncolumn;
    cip_blz_came *c = came ? &u->came[i - u->b->ncolumn] : NULL;
    const char *attributes = came ? c->attributes : u->column[i].attributes;
    size_t left = 0;
    for (size_t k = 0; k < u->b->ncolumn + u->ncame; k++)
        left += cip_blz_name_now(u, k) != NULL;
    if (left == 1 && !replaced)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the last column of the table, '%.80s', cannot be removed",
                        cip_blz_name_now(u, i));
    CIP_TRY(cip_blz_keep(u, err));
    CIP_TRY(cip_blz_keep_column(u, i, err));
    CIP_TRY(drop_attributes(u, attributes, err));
    *(came ? &c->gone : &u->column[i].gone) = true;
    u->records = NULL;
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

cip_status cip_blz_expect_free(const cip_blz_state *u, const char *name, bool comes, cip_err *err)
{
    taken t = { .name = name };
    bool leaves = false, stays = cip_blz_find_column(u, name) != u->b->ncolumn + u->ncame;
    /* A column's name is its folder's; those of ours begin with an underscore. */
    const size_t n = strlen(name);
    bool fits = cip_utf8_is(name, n) && n != 0 && n <= 200 && name[0] != '_' && name[0] != '.' &&
                strchr(name, '/') == NULL && strchr(name, '~') == NULL;
    for (size_t i = 0; i < n; i++)
        fits = fits && (uint8_t)name[i] >= 0x20 && name[i] != 0x7f;
    if (!fits)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a name that a column's folder can have, found '%.80s'", name);
    CIP_TRY(cip_io_list(u->b->layout->io, "", 0, is_taken, &t, err));
    for (size_t k = 0; k < u->b->ncolumn; k++) {
        /* Its folder, there or not: one that is missing must not be another's. */
        const char *dir = u->b->column[k]->dir;
        const bool its = strncmp(dir, name, n) == 0 && strcmp(dir + n, "/") == 0;
        const bool goes = u->column[k].gone || u->column[k].name != NULL;
        leaves = leaves || (its && goes);
        stays = stays || (its && !goes);
    }
    if (stays || (t.is && !leaves))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.80s' exists; remove it first", name);
    return comes || !leaves ? CIP_OK
                            : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                       "the column '%.80s' was moved or removed in this update; "
                                       "commit it first",
                                       name);
}

cip_status cip_blz_move_column(cip_blz_state *u, size_t i, const char *to, cip_err *err)
{
    const bool came = i >= u->b->ncolumn;
    cip_blz_came *c = came ? &u->came[i - u->b->ncolumn] : NULL;
    const char **attributes = came ? &c->attributes : &u->column[i].attributes, *path;
    const cip_node *node = NULL;
    char *name;
    const bool back =
        !came && u->column[i].name != NULL && strcmp(to, u->b->column[i]->array->path) == 0;
    if (!back || cip_blz_find_column(u, to) != u->b->ncolumn + u->ncame)
        CIP_TRY(cip_blz_expect_free(u, to, came, err));
    CIP_TRY(cip_arena_printf(u->arena, &name, err, "%s", to));
    CIP_TRY(cip_blz_attributes_of(u, to, &path, err));
    CIP_TRY(cip_blz_keep(u, err));
    CIP_TRY(cip_blz_keep_column(u, i, err));
    if (u->tree.root != NULL)
        node = cip_tree_get(u->tree.root, *attributes, NULL);
    CIP_TRY(drop_attributes(u, *attributes, err));
    if (node != NULL)
        CIP_TRY(cip_build_set(&u->tree, path, node, err));
    *attributes = path;
    *(came ? &c->name : &u->column[i].name) = back ? NULL : name;
    u->records = NULL;
    return CIP_OK;
}
