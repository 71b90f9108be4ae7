/* SPDX-License-Identifier: BSD-3-Clause
 * The metadata of a store that is there, in the end of an update. Each member that says something
 * else is written anew with all that it had besides; what all metadata together say is changed in
 * the same places, and written last. */
#include <stdlib.h>
#include <string.h>

#include "format/zarr/zarr_update.h"
#include "tree/node.h"
#include "tree/yaml.h"

#define AXES "_ARRAY_DIMENSIONS"

/* What becomes of one group or array. */
typedef struct change {
    cip_zarr_update *u;
    size_t node;
    const int64_t *shape; /* NULL: it stays */
    int32_t ndim;
    bool said; /* something of it was touched */
} change;

/* --- objects ---------------------------------------------------------------------------------- */

static const cip_node *member(const cip_node *map, const char *key)
{
    return cip_node_kind(map) == CIP_NODE_MAP ? cip_map_get(map, key) : NULL;
}

/* The object (NULL: an empty one) with another value for a key, or without it (NULL). */
static cip_status with(cip_arena *a, const cip_node *map, const char *key, const cip_node *value,
                       const cip_node **out, cip_err *err)
{
    const uint32_t n = cip_node_kind(map) == CIP_NODE_MAP ? map->len : 0;
    cip_node *made;
    uint32_t len = 0;
    bool found = false;
    CIP_TRY(cip_node_new_map(a, (size_t)n + 1, &made, err));
    for (uint32_t i = 0; i < n; i++) {
        const bool here = cip_node_is_string(map->pair[i].key, key);
        found = found || here;
        if (!here || value != NULL)
            cip_node_set_pair(made, len++, map->pair[i].key, here ? value : map->pair[i].value);
    }
    if (!found && value != NULL)
        CIP_TRY(cip_node_set_key(a, made, len++, key, value, err));
    made->len = len;
    *out = made;
    return CIP_OK;
}

static cip_status shape_node(cip_arena *a, int32_t ndim, const int64_t *shape, cip_node **out,
                             cip_err *err)
{
    CIP_TRY(cip_node_new_seq(a, (size_t)ndim, out, err));
    for (int32_t k = 0; k < ndim; k++) {
        cip_node *item;
        CIP_TRY(cip_node_new_int(a, shape[k], &item, err));
        cip_node_set_item(*out, (size_t)k, item);
    }
    return CIP_OK;
}

/* --- what changes in them --------------------------------------------------------------------- */

/* Whether the names of axes are an attribute. `own`: the metadata of the array, `attrs` its
 * attributes. */
static bool are_attribute(const change *c, const cip_node *own, const cip_node *attrs)
{
    return c->u->w.two || (member(own, "dimension_names") == NULL && member(attrs, AXES) != NULL);
}

static cip_status attributes_now(const change *c, const cip_node *own, const cip_node *was,
                                 const cip_node **out, cip_err *err)
{
    const cip_zarr_update *u = c->u;
    *out = was;
    for (size_t i = 0; i < u->ntouched; i++) {
        const cip_zarr_touched *t = &u->touched[i];
        const cip_node *value = t->node == c->node ? cip_zarr_touched_value(u, t) : NULL;
        if (t->node != c->node)
            continue;
        if (t->axes && are_attribute(c, own, was)) {
            CIP_TRY(with(u->w.arena, *out, AXES, value, out, err));
        } else if (!t->axes && t->key != NULL) {
            CIP_TRY(with(u->w.arena, *out, t->key, value, out, err));
        } else if (!t->axes) {
            /* All of them, but for the names of axes, which are not shown there. */
            const cip_node *axes = member(*out, AXES);
            const bool stays = axes != NULL && cip_zarr_dims_of(&u->node[c->node].n) != NULL &&
                               are_attribute(c, own, was);
            *out = value;
            if (stays)
                CIP_TRY(with(u->w.arena, *out, AXES, axes, out, err));
        }
    }
    return *out != NULL ? CIP_OK : with(u->w.arena, NULL, "", NULL, out, err);
}

/* zarr.json or .zarray with the new shape; of version 3 with what is said, too. */
static cip_status changed(const change *c, const cip_node *was, const cip_node **out, cip_err *err)
{
    cip_arena *a = c->u->w.arena;
    *out = was;
    if (cip_node_kind(was) != CIP_NODE_MAP)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected an object");
    if (c->shape != NULL) {
        cip_node *shape;
        CIP_TRY(shape_node(a, c->ndim, c->shape, &shape, err));
        CIP_TRY(with(a, *out, "shape", shape, out, err));
    }
    if (c->u->w.two || !c->said)
        return CIP_OK;
    const cip_node *attrs = member(was, "attributes"), *now;
    CIP_TRY(attributes_now(c, was, attrs, &now, err));
    if (now != attrs)
        CIP_TRY(with(a, *out, "attributes", now, out, err));
    for (size_t i = 0; i < c->u->ntouched; i++) {
        const cip_zarr_touched *t = &c->u->touched[i];
        if (t->node == c->node && t->axes && !are_attribute(c, was, attrs))
            CIP_TRY(with(a, *out, "dimension_names", cip_zarr_touched_value(c->u, t), out, err));
    }
    return CIP_OK;
}

/* --- members ---------------------------------------------------------------------------------- */

static cip_status put_json(const cip_zarr_update *u, const char *path, const cip_node *n,
                           cip_revision *r, cip_err *err)
{
    const cip_json_write file = { .file = true };
    cip_buf text = { .mem = &u->w.env->mem };
    cip_revision *as = NULL;
    bool there = false;
    cip_status st = cip_json_emit_as(u->w.env, n, &file, &text, err);
    if (st == CIP_OK)
        st = cip_buf_puts(&text, "\n", err);
    if (st == CIP_OK && !cip_revision_has(r, path)) /* else it goes: cip_zarr_remove_node */
        st = cip_zarr_is_there(u, path, &there, err);
    if (st == CIP_OK)
        st = there ? cip_revision_replace(r, path, NULL, &as, err)
                   : cip_revision_make(r, path, &as, err);
    if (st == CIP_OK)
        st = cip_revision_bytes(as, text.ptr, text.len, err);
    cip_buf_clear(&text);
    return st == CIP_OK ? cip_revision_switch(r, path, err) : st;
}

/* All metadata together: the object at the root of them, and the one that has them by keys. */
typedef struct consolidated {
    const cip_node *doc, *map; /* NULL: there are none */
    bool changed, added;
} consolidated;

static cip_status set_in_all(const cip_zarr_update *u, consolidated *all, const char *path,
                             const char *name, const cip_node *value, cip_err *err)
{
    char *key;
    if (all->doc == NULL)
        return CIP_OK;
    all->changed = true;
    CIP_TRY(cip_arena_printf(u->w.arena, &key, err, "%s%s%s", path,
                             path[0] != '\0' && name[0] != '\0' ? "/" : "", name));
    all->added = all->added || member(all->map, key) == NULL;
    return with(u->w.arena, all->map, key, value, &all->map, err);
}

/* What all metadata say of a member, in which the same changes. */
static const cip_node *in_all(const cip_zarr_update *u, const consolidated *all, const char *path,
                              const char *name)
{
    char *key;
    return all->doc != NULL &&
                   cip_arena_printf(u->w.arena, &key, NULL, "%s%s%s", path,
                                    path[0] != '\0' && name[0] != '\0' ? "/" : "", name) == CIP_OK
               ? member(all->map, key)
               : NULL;
}

/* The member as it is in its folder: what it came with, or the file's. */
static cip_status own_of(const change *c, const char *file, const cip_node **out, cip_err *err)
{
    const cip_zarr_now *n = &c->u->node[c->node];
    cip_err why = CIP_ERR_INIT;
    char *old;
    *out = NULL;
    if (n->came) {
        *out = strstr(file, ".zattrs") != NULL ? NULL
               : n->n.array != NULL            ? n->n.array
                                               : n->n.group;
        return CIP_OK;
    }
    if (n->was != NULL) { /* it is still where it was */
        CIP_TRY(
            cip_arena_printf(c->u->w.arena, &old, err, "%s%s", n->was, file + strlen(n->n.path)));
        file = old;
    }
    const cip_status st = cip_zarr_json(c->u->w.old->layout, file, out, &why);
    return st == CIP_ERR_NOT_FOUND && strstr(file, ".zattrs") != NULL ? CIP_OK
                                                                      : cip_err_give(err, &why, st);
}

static cip_status put_3(const change *c, consolidated *all, cip_revision *r, cip_err *err)
{
    cip_zarr_update *u = c->u;
    const cip_zarr_now *n = &u->node[c->node];
    const char *path = n->n.path;
    const cip_node *own, *now;
    char *file;
    CIP_TRY(cip_arena_printf(u->w.arena, &file, err, "%s%szarr.json", path,
                             path[0] != '\0' ? "/" : ""));
    CIP_TRY(own_of(c, file, &own, err));
    CIP_TRY(cip_fail_in(err, changed(c, own, &now, err), "%s", file));
    if (path[0] == '\0' && all->doc != NULL) { /* it holds them all, and comes last */
        all->doc = now;
        all->changed = true;
        return CIP_OK;
    }
    CIP_TRY(put_json(u, file, now, r, err));
    const cip_node *there = n->came ? own : in_all(u, all, path, "");
    if (there == NULL)
        return CIP_OK;
    CIP_TRY(changed(c, there, &now, err));
    return set_in_all(u, all, path, "", now, err);
}

static cip_status put_2(const change *c, consolidated *all, cip_revision *r, cip_err *err)
{
    cip_zarr_update *u = c->u;
    const cip_zarr_now *n = &u->node[c->node];
    const char *path = n->n.path, *slash = path[0] != '\0' ? "/" : "";
    const char *name = n->n.array != NULL ? ".zarray" : ".zgroup";
    const cip_node *own, *now;
    char *file;
    if (c->shape != NULL || n->came) {
        CIP_TRY(cip_arena_printf(u->w.arena, &file, err, "%s%s%s", path, slash, name));
        CIP_TRY(own_of(c, file, &own, err));
        CIP_TRY(cip_fail_in(err, changed(c, own, &now, err), "%s", file));
        CIP_TRY(put_json(u, file, now, r, err));
        const cip_node *there = n->came ? own : in_all(u, all, path, name);
        if (there != NULL) {
            CIP_TRY(changed(c, there, &now, err));
            CIP_TRY(set_in_all(u, all, path, name, now, err));
        }
    }
    if (!c->said && !n->came)
        return CIP_OK;
    CIP_TRY(cip_arena_printf(u->w.arena, &file, err, "%s%s.zattrs", path, slash));
    CIP_TRY(own_of(c, file, &own, err));
    if (own != NULL && own->type != CIP_NODE_MAP)
        return cip_fail_in(err, cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected an object"),
                           "%s", file);
    CIP_TRY(attributes_now(c, NULL, own, &now, err));
    CIP_TRY(put_json(u, file, now, r, err));
    CIP_TRY(attributes_now(c, NULL, in_all(u, all, path, ".zattrs"), &now, err));
    return set_in_all(u, all, path, ".zattrs", now, err);
}

/* --- all of it -------------------------------------------------------------------------------- */

static cip_status read_all(const cip_zarr_update *u, consolidated *all, cip_err *err)
{
    const char *name = u->w.two ? ".zmetadata" : "zarr.json";
    if (!u->w.old->consolidated)
        return CIP_OK;
    CIP_TRY(cip_zarr_json(u->w.old->layout, name, &all->doc, err));
    const cip_node *outer = u->w.two ? all->doc : member(all->doc, "consolidated_metadata");
    all->map = member(outer, "metadata");
    return cip_node_kind(all->map) == CIP_NODE_MAP
               ? CIP_OK
               : cip_fail_in(err,
                             cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                                      "expected the metadata of all groups and arrays"),
                             "%s", name);
}

static int by_key(const void *a, const void *b)
{
    const cip_node *x = ((const cip_pair *)a)->key, *y = ((const cip_pair *)b)->key;
    return strcmp(x->text != NULL ? x->text : "", y->text != NULL ? y->text : "");
}

/* Members of a group one behind the other: zarr-python finds others not. */
static cip_status sort_keys(cip_arena *a, const cip_node **map, cip_err *err)
{
    const uint32_t n = (*map)->len;
    cip_node *sorted;
    cip_pair *pair;
    CIP_TRY(cip_node_new_map(a, n, &sorted, err));
    CIP_TRY(CIP_ARENA_NEW(a, &pair, n, err));
    memcpy(pair, (*map)->pair, n * sizeof *pair);
    qsort(pair, n, sizeof *pair, by_key);
    for (uint32_t i = 0; i < n; i++)
        cip_node_set_pair(sorted, i, pair[i].key, pair[i].value);
    *map = sorted;
    return CIP_OK;
}

static cip_status put_all(const cip_zarr_update *u, consolidated *all, cip_revision *r,
                          cip_err *err)
{
    cip_arena *a = u->w.arena;
    const cip_node *outer = u->w.two ? all->doc : member(all->doc, "consolidated_metadata");
    if (!all->changed)
        return CIP_OK;
    if (all->added)
        CIP_TRY(sort_keys(a, &all->map, err));
    CIP_TRY(with(a, outer, "metadata", all->map, &outer, err));
    if (!u->w.two)
        CIP_TRY(with(a, all->doc, "consolidated_metadata", outer, &outer, err));
    return put_json(u, u->w.two ? ".zmetadata" : "zarr.json", outer, r, err);
}

/* What is said of nodes that moved, by the keys that they have now. */
static cip_status move_keys(const cip_zarr_update *u, consolidated *all, cip_err *err)
{
    static const char *const two[] = { ".zarray", ".zgroup", ".zattrs", NULL };
    static const char *const three[] = { "", NULL };
    for (size_t i = 0; i < u->nnode && all->doc != NULL; i++) {
        const cip_zarr_now *n = &u->node[i];
        for (const char *const *name = u->w.two ? two : three; *name != NULL; name++) {
            const cip_node *value =
                n->was != NULL && !n->gone ? in_all(u, all, n->was, *name) : NULL;
            if (value != NULL)
                CIP_TRY(set_in_all(u, all, n->n.path, *name, value, err));
        }
    }
    return CIP_OK;
}

/* Keys of what is gone; what came in its place is set later. */
static cip_status drop_gone(const cip_zarr_update *u, consolidated *all, cip_err *err)
{
    const char **gone;
    size_t ngone = 0;
    cip_node *left;
    uint32_t n = 0;
    if (all->doc == NULL)
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(u->w.arena, &gone, u->nnode, err));
    for (size_t k = 0; k < u->nnode; k++) /* of what is in a group that goes, the group is enough */
        if (u->node[k].gone && !u->node[k].came &&
            (ngone == 0 || !cip_path_within(u->node[k].n.path, gone[ngone - 1])))
            gone[ngone++] = u->node[k].n.path;
    if (ngone == 0)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(u->w.arena, all->map->len, &left, err));
    for (uint32_t i = 0; i < all->map->len; i++) {
        const cip_pair *p = &all->map->pair[i];
        bool goes = false;
        for (size_t k = 0; k < ngone && !goes && p->key->text != NULL; k++)
            goes = cip_path_within(p->key->text, gone[k]);
        if (!goes)
            cip_node_set_pair(left, n++, p->key, p->value);
    }
    left->len = n;
    all->map = left;
    all->changed = true;
    return CIP_OK;
}

cip_status cip_zarr_put_changes(cip_zarr_update *u, cip_revision *r, cip_err *err)
{
    const cip_zarr *z = u->w.old;
    consolidated all = { .doc = NULL };
    change *c;
    CIP_TRY(CIP_ARENA_NEW(u->w.arena, &c, u->nnode, err));
    CIP_TRY(read_all(u, &all, err));
    CIP_TRY(move_keys(u, &all, err));
    CIP_TRY(drop_gone(u, &all, err));
    for (size_t i = 0; i < u->nnode; i++) {
        const cip_zarr_coming *x = u->node[i].x;
        c[i] = (change){ .u = u, .node = i };
        if (x != NULL && x->changes != NULL) {
            c[i].shape = cip_chunk_changes_shape(x->changes);
            c[i].ndim = x->array.ndim;
        }
    }
    for (size_t i = 0; i < z->narray; i++) {
        const cip_zarr_array *a = z->array[i];
        const size_t len = strlen(a->dir);
        const size_t node =
            u->changed[i].shape != NULL ? cip_zarr_find_old(u, a->dir, len - (len != 0)) : SIZE_MAX;
        if (node == SIZE_MAX)
            continue;
        c[node].shape = u->changed[i].shape;
        c[node].ndim = a->ndim;
    }
    for (size_t i = 0; i < u->ntouched; i++)
        c[u->touched[i].node].said = true;
    for (size_t i = 0; i < u->nnode; i++)
        if (!u->node[i].gone && (u->node[i].came || c[i].said || c[i].shape != NULL))
            CIP_TRY((u->w.two ? put_2 : put_3)(&c[i], &all, r, err));
    return put_all(u, &all, r, err);
}
