/* SPDX-License-Identifier: BSD-3-Clause
 * Attributes and names of axes of a store that is there. The tree changes as a tree of values, by
 * its paths; which group or array a path says something of, and under which name, is found on the
 * way. What the metadata get in the end is what the tree says by then where something was touched
 * (zarr_update_meta.c): all else stays as the files have it. */
#include <string.h>

#include "base/num.h"
#include "format/one_array.h"
#include "format/zarr/zarr_update.h"
#include "tree/node.h"

#define AXES "_ARRAY_DIMENSIONS" /* where version 2 has the names of axes */

/* What a path leads to. */
typedef struct place {
    enum {
        GROUP,
        ARRAY,      /* or within its description */
        BESIDE,     /* all that is said of a group's arrays */
        ATTRIBUTES, /* all of an array */
        ATTRIBUTE,
        NAMES /* of axes */
    } what;
    size_t node;     /* that it is, or is said of */
    const char *key; /* ATTRIBUTE: its name, and the one that the tree shows */
    const char *shown;
    size_t depth; /* steps behind that */
} place;

/* --- groups and arrays ------------------------------------------------------------------------ */

size_t cip_zarr_find_node(const cip_zarr_update *u, const char *path, size_t len)
{
    for (size_t i = u->nnode; i-- > 0;)
        if (!u->node[i].gone && strncmp(u->node[i].n.path, path, len) == 0 &&
            u->node[i].n.path[len] == '\0')
            return i;
    return SIZE_MAX;
}

size_t cip_zarr_find_old(const cip_zarr_update *u, const char *path, size_t len)
{
    for (size_t i = 0; i < u->nnode; i++) {
        const cip_zarr_now *n = &u->node[i];
        const char *old = n->was != NULL ? n->was : n->n.path;
        if (!n->gone && !n->came && strncmp(old, path, len) == 0 && old[len] == '\0')
            return i;
    }
    return SIZE_MAX;
}

cip_status cip_zarr_add_node(cip_zarr_update *u, const cip_zarr_now *n, cip_err *err)
{
    CIP_TRY(CIP_ARENA_ROOM(u->w.arena, &u->node, u->nnode, &u->node_cap, err));
    u->node[u->nnode++] = *n;
    return CIP_OK;
}

static cip_status find_in(const cip_zarr_update *u, size_t group, cip_bytes name, size_t *out,
                          cip_err *err)
{
    const char *in = u->node[group].n.path;
    char *path;
    CIP_TRY(cip_arena_printf(u->w.arena, &path, err, "%s%s%.*s", in, in[0] != '\0' ? "/" : "",
                             (int)cip_min_u64(name.len, INT32_MAX), (const char *)name.ptr));
    *out = cip_zarr_find_node(u, path, strlen(path));
    return CIP_OK;
}

const cip_node *cip_zarr_group_map(const cip_zarr_update *u, const char *path, size_t len)
{
    const cip_node *n = u->tree.root;
    while (n != NULL && len != 0) {
        const char *slash = memchr(path, '/', len);
        const size_t step = slash != NULL ? (size_t)(slash - path) : len;
        const size_t at = n->type == CIP_NODE_MAP
                              ? cip_map_find(n, (cip_bytes){ (const uint8_t *)path, step }, false)
                              : SIZE_MAX;
        n = at != SIZE_MAX ? n->pair[at].value : NULL;
        path += step + (slash != NULL);
        len -= step + (slash != NULL);
    }
    return n;
}

/* The group that an array lies in, of its path; *name: within it. */
static size_t group_len(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash != NULL ? slash + 1 : path;
    return slash != NULL ? (size_t)(slash - path) : 0;
}

/* A member of a mapping in the tree, or NULL. */
static const cip_node *get(const cip_node *map, const char *key)
{
    return cip_node_kind(map) == CIP_NODE_MAP ? cip_map_get(map, key) : NULL;
}

const cip_node *cip_zarr_touched_value(const cip_zarr_update *u, const cip_zarr_touched *t)
{
    const cip_zarr_node *n = &u->node[t->node].n;
    const char *name;
    if (n->group != NULL) /* of its attributes each by itself */
        return get(cip_zarr_group_map(u, n->path, strlen(n->path)), t->shown);
    const cip_node *of = u->tree.root;
    if (n->path[0] == '\0') {
        of = get(of, t->axes ? "dims" : "attributes");
    } else {
        const size_t len = group_len(n->path, &name);
        of = get(get(cip_zarr_group_map(u, n->path, len), t->axes ? "dims" : "attrs"), name);
    }
    return t->axes || t->shown == NULL ? of : get(of, t->shown);
}

/* --- back to where it was --------------------------------------------------------------------- */

cip_status cip_zarr_keep(cip_zarr_update *u, cip_err *err)
{
    cip_build_mark(&u->tree);
    return cip_undo_keep(u->undo, u, sizeof *u, err);
}

cip_status cip_zarr_update_mark(void *state, void **at, cip_err *err)
{
    (void)at;
    return cip_zarr_keep(state, err);
}

cip_status cip_zarr_update_tree_now(void *state, const cip_node **root, cip_err *err)
{
    const cip_zarr_update *u = state;
    (void)err;
    *root = u->tree.root;
    return CIP_OK;
}

/* --- paths ------------------------------------------------------------------------------------ */

/* The name that a step has in a mapping of the tree, or would get there. */
static cip_bytes name_of(const cip_node *map, cip_bytes step)
{
    static const cip_node none = { .type = CIP_NODE_MAP };
    const cip_node *in = cip_node_kind(map) == CIP_NODE_MAP ? map : &none;
    const size_t at = cip_map_step(in, step);
    const cip_node *key = at != SIZE_MAX ? in->pair[at].key : NULL;
    return key != NULL ? (cip_bytes){ (const uint8_t *)key->text, key->len }
                       : cip_map_new_key(in, step);
}

static const cip_node *child(const cip_node *map, cip_bytes name)
{
    const size_t at =
        cip_node_kind(map) == CIP_NODE_MAP ? cip_map_find(map, name, false) : SIZE_MAX;
    return at != SIZE_MAX ? map->pair[at].value : NULL;
}

static bool is_text(cip_bytes name, const char *text)
{
    return name.len == strlen(text) && memcmp(name.ptr, text, name.len) == 0;
}

static bool has_attribute(const cip_zarr_update *u, size_t node, const char *key)
{
    const cip_node *attrs = u->node[node].n.attrs;
    return attrs != NULL && cip_map_get(attrs, key) != NULL;
}

/* Whether arrays of the group have something that the tree shows beside them, under `key`. */
static bool shows_beside(const cip_zarr_update *u, size_t group, const char *key)
{
    const char *path = u->node[group].n.path, *name;
    for (size_t i = 0; i < u->nnode; i++) {
        const cip_zarr_node *n = &u->node[i].n;
        const size_t len = n->array != NULL ? group_len(n->path, &name) : 0;
        if (n->array == NULL || u->node[i].gone || len != strlen(path) ||
            strncmp(n->path, path, len) != 0)
            continue;
        const cip_node *dims = cip_zarr_dims_of(n), *attrs = n->attrs;
        const bool own = dims != NULL && attrs != NULL && cip_map_get(attrs, AXES) == dims;
        if (strcmp(key, "dims") == 0 ? dims != NULL : attrs != NULL && attrs->len > own)
            return true;
    }
    return false;
}

/* Whether the group has, or got, an attribute of that name, which then is not shown there. */
static bool is_taken(const cip_zarr_update *u, size_t group, const char *key)
{
    bool taken = has_attribute(u, group, key);
    for (size_t i = 0; i < u->ntouched && !taken; i++)
        taken = u->touched[i].node == group && u->touched[i].key != NULL &&
                strcmp(u->touched[i].key, key) == 0;
    return taken && !shows_beside(u, group, key);
}

static cip_status keep_text(const cip_zarr_update *u, cip_bytes name, const char **out,
                            cip_err *err)
{
    char *copy;
    CIP_TRY(cip_arena_copy(u->w.arena, name.ptr, name.len, &copy, err));
    *out = copy;
    return CIP_OK;
}

/* The attribute that the tree shows under a name: with a `_` in front where a member has its own.
 */
static cip_status group_attribute(const cip_zarr_update *u, place *p, cip_bytes name, cip_err *err)
{
    size_t member = SIZE_MAX;
    CIP_TRY(keep_text(u, name, &p->shown, err));
    p->what = ATTRIBUTE;
    p->key = p->shown;
    if (p->shown[0] != '_' || !has_attribute(u, p->node, p->shown + 1))
        return CIP_OK;
    const char *real = p->shown + 1;
    CIP_TRY(find_in(u, p->node, (cip_bytes){ (const uint8_t *)real, strlen(real) }, &member, err));
    const bool hidden =
        member != SIZE_MAX || ((strcmp(real, "dims") == 0 || strcmp(real, "attrs") == 0) &&
                               shows_beside(u, p->node, real));
    if (hidden && has_attribute(u, p->node, p->shown))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the attributes '%.80s' and '%.80s' cannot be told apart here: a group or "
                        "array has the name of one of them",
                        real, p->shown);
    p->key = hidden ? real : p->shown;
    return CIP_OK;
}

/* steps[0] is `attrs` or `dims`, of an array in the group: *is false where it is another's. */
static cip_status beside(const cip_zarr_update *u, place *p, const cip_node *map,
                         const cip_bytes *step, size_t n, bool *is, cip_err *err)
{
    const cip_bytes name = name_of(map, step[0]);
    const bool dims = is_text(name, "dims");
    const char *key = dims ? "dims" : "attrs";
    const cip_node *all = child(map, name);
    size_t array = SIZE_MAX;
    *is = dims || is_text(name, "attrs");
    if (!*is)
        return CIP_OK;
    if (n > 1)
        CIP_TRY(find_in(u, p->node, name_of(all, step[1]), &array, err));
    *is = shows_beside(u, p->node, key) || (!is_taken(u, p->node, key) && array != SIZE_MAX);
    if (!*is)
        return CIP_OK;
    p->what = BESIDE;
    if (n == 1)
        return CIP_OK;
    if (array == SIZE_MAX || u->node[array].n.array == NULL)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected an array in the group for %s/NAME, found none of that name", key);
    p->node = array;
    p->what = dims ? NAMES : n == 2 ? ATTRIBUTES : ATTRIBUTE;
    p->depth = n - 2;
    if (p->what != ATTRIBUTE)
        return CIP_OK;
    p->depth--;
    CIP_TRY(keep_text(u, name_of(child(all, name_of(all, step[1])), step[2]), &p->shown, err));
    p->key = p->shown;
    return CIP_OK;
}

/* In a store that is one array. */
static cip_status find_single(const cip_zarr_update *u, place *p, const cip_bytes *step, size_t n,
                              const char *path, cip_err *err)
{
    const cip_node *root = u->tree.root;
    const cip_bytes name = n != 0 ? name_of(root, step[0]) : (cip_bytes){ NULL, 0 };
    if (n == 0 || (!is_text(name, "attributes") && !is_text(name, "dims")))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected attributes/NAME or dims of the array, found '%.120s'", path);
    p->what = is_text(name, "dims") ? NAMES : n == 1 ? ATTRIBUTES : ATTRIBUTE;
    p->depth = n - 1;
    if (p->what != ATTRIBUTE)
        return CIP_OK;
    p->depth--;
    CIP_TRY(keep_text(u, name_of(child(root, name), step[1]), &p->shown, err));
    p->key = p->shown;
    return CIP_OK;
}

static cip_status find(const cip_zarr_update *u, const char *path, place *p, cip_err *err)
{
    const cip_node *map = u->tree.root;
    cip_bytes *step;
    size_t n, i = 0, next;
    bool is;
    *p = (place){ .what = GROUP };
    CIP_TRY(cip_path_split(u->w.arena, path, &step, &n, err));
    if (u->node[0].n.array != NULL)
        return find_single(u, p, step, n, path, err);
    for (; i < n; i++) {
        const cip_bytes name = name_of(map, step[i]);
        CIP_TRY(find_in(u, p->node, name, &next, err));
        if (next == SIZE_MAX)
            break;
        p->node = next;
        if (u->node[next].n.array != NULL) {
            p->what = ARRAY;
            p->depth = n - i - 1;
            return CIP_OK;
        }
        map = child(map, name);
    }
    if (i == n)
        return CIP_OK;
    CIP_TRY(beside(u, p, map, step + i, n - i, &is, err));
    if (is)
        return CIP_OK;
    p->depth = n - i - 1;
    return group_attribute(u, p, name_of(map, step[i]), err);
}

/* --- what is set ------------------------------------------------------------------------------ */

static cip_status touch(cip_zarr_update *u, const place *p, cip_err *err)
{
    const cip_zarr_touched t = { p->node, p->key, p->shown, p->what == NAMES };
    for (size_t i = 0; i < u->ntouched; i++) {
        const cip_zarr_touched *x = &u->touched[i];
        if (x->node == t.node && x->axes == t.axes && (x->key == NULL) == (t.key == NULL) &&
            (t.key == NULL || strcmp(x->key, t.key) == 0))
            return CIP_OK;
    }
    CIP_TRY(CIP_ARENA_ROOM(u->w.arena, &u->touched, u->ntouched, &u->touched_cap, err));
    u->touched[u->ntouched++] = t;
    return CIP_OK;
}

static cip_status not_said(const cip_zarr_update *u, const place *p, const char *path, cip_err *err)
{
    const char *what = p->what == BESIDE                                ? "all of it"
                       : p->what == ARRAY && p->depth != 0              ? "an array's description"
                       : p->what == ARRAY || u->node[0].n.array != NULL ? "an array"
                                                                        : "a group";
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected an attribute of a group, or of an array as attrs/ARRAY/NAME, found "
                    "%s at '%.120s'",
                    what, path);
}

static int32_t ndim_of(const cip_zarr_node *n)
{
    const cip_node *shape = cip_map_get(n->array, "shape");
    return cip_node_kind(shape) == CIP_NODE_SEQ ? (int32_t)shape->len : -1;
}

/* Whether the place may get the value (NULL: goes, or a part of it does). */
static cip_status may_be(const cip_zarr_update *u, const place *p, const cip_node *value,
                         const char *path, cip_err *err)
{
    const cip_zarr_node *n = &u->node[p->node].n;
    if (p->what < ATTRIBUTES)
        return not_said(u, p, path, err);
    if (p->what == ATTRIBUTE && n->array != NULL && strcmp(p->key, AXES) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the names of axes are set at dims/ARRAY, not as the attribute " AXES);
    if (p->what == NAMES) {
        const int32_t ndim = ndim_of(n);
        bool good = p->depth == 0;
        if (value != NULL)
            good = good && value->type == CIP_NODE_SEQ && value->len == (uint32_t)ndim;
        for (uint32_t i = 0; value != NULL && good && i < value->len; i++)
            good = value->item[i]->type == CIP_NODE_STRING || value->item[i]->type == CIP_NODE_NULL;
        if (!good)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected all names of axes together, as a list of %d texts or null, "
                            "at '%.120s'",
                            (int)ndim, path);
    }
    if (value != NULL && p->what == ATTRIBUTES && value->type != CIP_NODE_MAP)
        return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                        "expected a mapping as the attributes, found another value");
    if (value == NULL || cip_json_holds(u->w.env, value, true, p->depth + 4))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a value that JSON can hold, found a tag, a time, bytes, keys that "
                    "are not text, an integer of over %d digits, or collections nested more than "
                    "%d levels deep",
                    CIP_JSON_DIGITS, CIP_JSON_DEPTH);
}

cip_status cip_zarr_update_set(void *state, const char *path, const cip_node *value, cip_err *err)
{
    cip_zarr_update *u = state;
    place p;
    CIP_TRY(find(u, path, &p, err));
    CIP_TRY(may_be(u, &p, value, path, err));
    CIP_TRY(cip_zarr_keep(u, err));
    CIP_TRY(cip_build_set(&u->tree, path, value, err));
    return touch(u, &p, err);
}

/* --- what goes -------------------------------------------------------------------------------- */

static cip_status add_group(cip_buf *path, const char *group, cip_err *err)
{
    while (*group != '\0') {
        const size_t len = strcspn(group, "/");
        CIP_TRY(cip_path_add(path, (cip_bytes){ (const uint8_t *)group, len }, err));
        group += len + (group[len] == '/');
    }
    return CIP_OK;
}

cip_status cip_zarr_show_node(cip_zarr_update *u, const char *path, const cip_node *value,
                              cip_err *err)
{
    cip_buf text = { .mem = &u->w.env->mem };
    cip_status st = add_group(&text, path, err);
    if (st == CIP_OK)
        st = cip_buf_add(&text, "", 1, err);
    if (st == CIP_OK)
        st = cip_build_set(&u->tree, (const char *)text.ptr, value, err);
    cip_buf_clear(&text);
    return st;
}

/* What stands at keys of a mapping, one in the other, goes from the tree, and mappings that held
 * nothing else, if that is asked for. */
static cip_status drop(cip_zarr_update *u, const char *group, const char *const *key, size_t n,
                       cip_err *err)
{
    cip_buf path = { .mem = &u->w.env->mem };
    const cip_node *at = cip_zarr_group_map(u, group, strlen(group));
    cip_status st = add_group(&path, group, err);
    bool alone = false; /* what `path` names would be left empty */
    for (size_t i = 0; st == CIP_OK && i < n && !alone; i++) {
        const cip_node *next = get(at, key[i]);
        if (next == NULL)
            goto done;
        st = cip_path_add(&path, (cip_bytes){ (const uint8_t *)key[i], strlen(key[i]) }, err);
        at = next;
        alone = i + 1 < n && at->type == CIP_NODE_MAP && at->len == 1;
    }
    if (st == CIP_OK)
        st = cip_buf_add(&path, "", 1, err);
    if (st == CIP_OK)
        st = cip_build_remove(&u->tree, (const char *)path.ptr, err);
done:
    cip_buf_clear(&path);
    return st;
}

cip_status cip_zarr_remove_node(cip_zarr_update *u, size_t i, cip_err *err)
{
    static const char *const beside[] = { "dims", "attrs" };
    const char *path = u->node[i].n.path, *name;
    char *group;
    bool shown[2];
    CIP_TRY(cip_arena_copy(u->w.arena, path, group_len(path, &name), &group, err));
    const size_t in = cip_zarr_find_node(u, group, strlen(group));
    for (int k = 0; k < 2; k++)
        shown[k] = u->node[i].n.array != NULL && in != SIZE_MAX && !is_taken(u, in, beside[k]);
    for (size_t k = 0; k < u->nnode; k++)
        if (!u->node[k].gone && cip_path_within(u->node[k].n.path, path)) {
            CIP_TRY(cip_undo_keep(u->undo, &u->node[k], sizeof u->node[k], err));
            u->node[k].gone = true;
        }
    CIP_TRY(drop(u, group, &name, 1, err));
    for (int k = 0; k < 2; k++)
        if (shown[k])
            CIP_TRY(drop(u, group, (const char *const[]){ beside[k], name }, 2, err));
    return CIP_OK;
}

cip_status cip_zarr_update_remove(void *state, const char *path, cip_err *err)
{
    cip_zarr_update *u = state;
    place p;
    CIP_TRY(find(u, path, &p, err));
    const bool member = (p.what == GROUP && p.node != 0) || (p.what == ARRAY && p.depth == 0);
    if (!member)
        CIP_TRY(may_be(u, &p, NULL, path, err));
    CIP_TRY(cip_zarr_keep(u, err));
    if (member)
        return cip_zarr_remove_node(u, p.node, err);
    CIP_TRY(cip_build_remove(&u->tree, path, err));
    return touch(u, &p, err);
}

/* --- what moves ------------------------------------------------------------------------------- */

/* All that is said of the node beside it, before it goes from there; NULL: nothing. */
static void said_beside(const cip_zarr_update *u, size_t i, const cip_node *said[2])
{
    const char *path = u->node[i].n.path, *name;
    const size_t len = group_len(path, &name);
    const cip_node *map = cip_zarr_group_map(u, path, len);
    const size_t group = cip_zarr_find_node(u, path, len);
    for (int k = 0; k < 2; k++) {
        const char *key = k == 0 ? "dims" : "attrs";
        const bool own =
            u->node[i].n.array != NULL && group != SIZE_MAX && !is_taken(u, group, key);
        said[k] = own ? get(get(map, key), name) : NULL;
    }
}

/* It is shown beside the node at its new path, which must have a group. */
static cip_status say_beside(cip_zarr_update *u, const char *path, const cip_node *const said[2],
                             cip_err *err)
{
    const char *name;
    const size_t len = group_len(path, &name), group = cip_zarr_find_node(u, path, len);
    for (int k = 0; k < 2; k++) {
        const char *key = k == 0 ? "dims" : "attrs";
        const cip_bytes word = { (const uint8_t *)key, strlen(key) };
        size_t member;
        char *at;
        if (said[k] == NULL)
            continue;
        CIP_TRY(find_in(u, group, word, &member, err));
        if (is_taken(u, group, key) || member != SIZE_MAX)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the group has something called '%s', where its arrays' %s would be "
                            "shown",
                            key, k == 0 ? "axes" : "attributes");
        CIP_TRY(cip_arena_printf(u->w.arena, &at, err, "%.*s%s%s/%s", (int)len, path,
                                 len != 0 ? "/" : "", key, name));
        CIP_TRY(cip_zarr_show_node(u, at, said[k], err));
    }
    return CIP_OK;
}

/* Nodes at and below `from` are at `to`, and what was touched of them is touched there. */
static cip_status move_nodes(cip_zarr_update *u, const char *from, const char *to, size_t n,
                             cip_err *err)
{
    for (size_t i = 0; i < n; i++) {
        cip_zarr_now now = u->node[i];
        char *path;
        if (now.gone || !cip_path_within(now.n.path, from))
            continue;
        CIP_TRY(cip_arena_printf(u->w.arena, &path, err, "%s%s", to, now.n.path + strlen(from)));
        now.was = now.was != NULL ? now.was : now.n.path;
        now.n.path = path;
        CIP_TRY(cip_undo_keep(u->undo, &u->node[i], sizeof u->node[i], err));
        u->node[i].moved = true;
        for (size_t k = 0; k < u->ntouched; k++) {
            if (u->touched[k].node != i)
                continue;
            CIP_TRY(cip_undo_keep(u->undo, &u->touched[k], sizeof u->touched[k], err));
            u->touched[k].node = u->nnode;
        }
        CIP_TRY(cip_zarr_add_node(u, &now, err));
    }
    return CIP_OK;
}

static cip_status move_member(cip_zarr_update *u, size_t i, const char *to, cip_err *err)
{
    const char *from = u->node[i].n.path;
    const size_t n = u->nnode;
    const cip_node *value = cip_zarr_group_map(u, from, strlen(from)), *said[2];
    size_t there;
    char *dir, *path;
    CIP_TRY(cip_zarr_dir(u->w.arena, to, &dir, err));
    for (size_t k = 0; k < n; k++) {
        const cip_zarr_now *x = &u->node[k];
        const bool was_moved = x->moved || (!x->gone && x->was != NULL);
        if (cip_path_within(x->n.path, from) && (was_moved || (!x->gone && x->came)))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "'%.120s' was %s in this update; commit it first", x->n.path,
                            was_moved ? "moved" : "added");
    }
    CIP_TRY(cip_arena_copy(u->w.arena, dir, strlen(dir) - (dir[0] != '\0'), &path, err));
    if (cip_path_within(path, from))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.120s' is inside the moved node", to);
    CIP_TRY(cip_zarr_make_way(u, dir, false, false, &there, err));
    CIP_TRY(cip_zarr_keep(u, err));
    CIP_TRY(cip_zarr_make_way(u, dir, false, true, &there, err));
    said_beside(u, i, said);
    CIP_TRY(move_nodes(u, from, path, n, err));
    CIP_TRY(cip_zarr_remove_node(u, i, err));
    CIP_TRY(cip_zarr_show_node(u, path, value, err));
    return say_beside(u, path, said, err);
}

cip_status cip_zarr_update_move(void *state, const char *from, const char *to, bool replace,
                                cip_err *err)
{
    cip_zarr_update *u = state;
    place a, b;
    char *one, *other;
    CIP_TRY(find(u, from, &a, err));
    if ((a.what == ARRAY && a.depth == 0 && a.node != 0) || (a.what == GROUP && a.node != 0))
        return move_member(u, a.node, to, err);
    CIP_TRY(may_be(u, &a, NULL, from, err));
    const cip_node *node = cip_tree_get(u->tree.root, from, err);
    if (node == NULL)
        return CIP_ERR_NOT_FOUND;
    CIP_TRY(find(u, to, &b, err));
    CIP_TRY(may_be(u, &b, node, to, err));
    CIP_TRY(cip_path_plain(u->w.env, u->w.arena, from, &one, err));
    CIP_TRY(cip_path_plain(u->w.env, u->w.arena, to, &other, err));
    if (cip_path_within(other, one))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.120s' is inside the moved node", to);
    if (!replace && cip_tree_get(u->tree.root, to, NULL) != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.120s' exists", to);
    CIP_TRY(cip_zarr_keep(u, err));
    CIP_TRY(cip_build_remove(&u->tree, from, err));
    CIP_TRY(cip_build_set(&u->tree, to, node, err));
    CIP_TRY(touch(u, &a, err));
    return touch(u, &b, err);
}
