/* SPDX-License-Identifier: BSD-3-Clause
 * The store: which groups and arrays it has, and the tree that they make. A group is a mapping of
 * its attributes and its members; what was said of its arrays stands beside them, under `attrs` and
 * `dims`, by their names. */
#include "format/zarr/zarr.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "tree/json_read.h"

/* --- members ---------------------------------------------------------------------------------- */

static cip_status read_member(cip_layout *l, const char *path, const cip_node **out, cip_err *err)
{
    char part[200];
    snprintf(part, sizeof part, "%.199s", path);
    const cip_json_source from = { .env = l->env, .arena = &l->arena, .part = part };
    cip_node *node;
    cip_io *io;
    void *text = NULL;
    cip_status st;
    const uint64_t most = cip_min_u64(CIP_ZARR_JSON_MAX, l->env->limits.max_tree_bytes);
    CIP_TRY(cip_io_open_beneath(cip_zarr_root(l), path, cip_zarr_flags(l), &io, err));
    const size_t n = (size_t)cip_min_u64(io->size, most);
    if (io->size > most)
        CIP_GO(cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes of JSON, found %" PRIu64, most,
                        io->size));
    CIP_GO(cip_mem_get(&l->env->mem, n, &text, err));
    CIP_GO(cip_io_read(io, 0, text, n, err));
    CIP_GO(cip_json_read(&from, (cip_bytes){ text, n }, &node, err));
    *out = node;
    l->beside += n;
done:
    cip_mem_put(&l->env->mem, text);
    cip_io_close(io);
    return st;
}

cip_status cip_zarr_json(cip_layout *l, const char *path, const cip_node **out, cip_err *err)
{
    *out = NULL;
    return cip_fail_in(err, read_member(l, path, out, err), "%s", path);
}

/* An object in a member; NULL where there is none. */
static cip_status object(cip_layout *l, const char *dir, const char *name, const cip_node **out,
                         cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    char *path;
    CIP_TRY(cip_arena_printf(&l->arena, &path, err, "%s%s", dir, name));
    const cip_status st = cip_zarr_json(l, path, out, &why);
    if (st == CIP_ERR_NOT_FOUND)
        return CIP_OK;
    if (st == CIP_OK && (*out)->type != CIP_NODE_MAP)
        return cip_fail_in(err,
                           cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a JSON object"),
                           "%s", path);
    return cip_err_give(err, &why, st);
}

/* --- which format it is ----------------------------------------------------------------------- */

/* NOMEM alone is not an answer. */
static cip_status has(cip_io *io, const char *path, bool *yes, cip_err *err)
{
    cip_io *member;
    cip_err why = CIP_ERR_INIT;
    const cip_status st = cip_io_open_beneath(io, path, 0, &member, &why);
    if (st == CIP_ERR_NOMEM)
        return cip_err_give(err, &why, st);
    *yes = st == CIP_OK;
    if (*yes)
        cip_io_close(member);
    return CIP_OK;
}

const char *const cip_zarr_names[] = { "zarr.json", ".zarray", ".zgroup", ".zmetadata", NULL };

static int probe(cip_io *io, cip_bytes head)
{
    bool yes;
    for (const char *const *name = cip_zarr_names; cip_io_is_folder(io) && *name != NULL; name++)
        if (has(io, *name, &yes, NULL) == CIP_OK && yes)
            return 100;
    return cip_zarr_probe_zip(io, head);
}

/* --- groups and arrays ------------------------------------------------------------------------ */

typedef struct store {
    cip_zarr *z;
    cip_zarr_node *at; /* parents before what is in them, and that together */
    size_t n, cap;
    bool told; /* that there are more than are taken */
} store;

static cip_status add_entry(store *s, const cip_zarr_node *e, cip_err *err)
{
    cip_layout *l = s->z->layout;
    if (s->n == CIP_ZARR_MAX_NODES) {
        if (!s->told)
            cip_warn_lack(l->env, CIP_LACKS_BYTES, NULL, CIP_ERR_LIMIT, CIP_NO_OFFSET, e->path,
                          "only the first %d groups and arrays are shown", CIP_ZARR_MAX_NODES);
        s->told = true;
        return CIP_OK;
    }
    CIP_TRY(CIP_ARENA_ROOM(&l->arena, &s->at, s->n, &s->cap, err));
    s->at[s->n++] = *e;
    return CIP_OK;
}

/* Takes what zarr.json says; *any: it is a group or an array. */
static cip_status add_3(store *s, const char *path, const cip_node *n, bool *group, cip_err *err)
{
    const cip_node *type = cip_map_get(n, "node_type"), *attrs = cip_map_get(n, "attributes");
    const cip_node *format = cip_map_get(n, "zarr_format");
    uint64_t version;
    cip_zarr_node e = { .path = path,
                        .attrs = cip_node_kind(attrs) == CIP_NODE_MAP ? attrs : NULL };
    if (format == NULL || !cip_node_as_uint(format, &version) || version != 3)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the zarr_format 3, found %.40s", cip_zarr_text(format));
    *group = cip_node_is_string(type, "group");
    if (*group)
        e.group = n;
    else if (cip_node_is_string(type, "array"))
        e.array = n;
    else
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "node_type: expected a group or an array, found %.40s",
                        cip_zarr_text(type));
    return add_entry(s, &e, err);
}

/* A fault of one member leaves out what it is of, unless that is all of the store. */
static cip_status or_left_out(store *s, const char *path, cip_status st, const cip_err *why,
                              cip_err *err)
{
    if (st == CIP_OK || path[0] == '\0' || (!cip_is_about_content(st) && st != CIP_ERR_LIMIT))
        return cip_err_give(err, why, st);
    cip_warn_lack(s->z->layout->env, CIP_LACKS_BYTES, NULL, st, why->offset, path,
                  "%s; it is left out", why->text);
    return CIP_OK;
}

static cip_status look(store *s, const char *path, int depth, cip_err *err);

typedef struct names {
    store *s;
    cip_buf at; /* const char *, in the arena */
    cip_status st;
    cip_err *err;
} names;

static int take_folder(void *user, const char *name, bool is_folder)
{
    names *k = user;
    char *kept;
    if (!is_folder)
        return 0;
    k->st = cip_arena_printf(&k->s->z->layout->arena, &kept, k->err, "%s", name);
    if (k->st == CIP_OK)
        k->st = cip_buf_add(&k->at, &kept, sizeof kept, k->err);
    return k->st != CIP_OK;
}

static cip_status look_in(store *s, const char *path, int depth, cip_err *err)
{
    cip_layout *l = s->z->layout;
    names k = { .s = s, .at = { .mem = &l->env->mem }, .err = err };
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_io_list(cip_zarr_root(l), path, cip_zarr_flags(l), take_folder, &k, &why);
    if (k.st != CIP_OK) {
        st = k.st;
    } else if (st == CIP_ERR_UNSUPPORTED) { /* not every store can list */
        cip_warn_lack(l->env, CIP_LACKS_BYTES, NULL, st, CIP_NO_OFFSET, path,
                      "its members cannot be listed here, and the store has no consolidated "
                      "metadata that name them");
        st = CIP_OK;
    } else if (st != CIP_OK) {
        cip_err_pass(err, &why);
    }
    const char **name = (const char **)(void *)k.at.ptr;
    for (size_t i = 0; st == CIP_OK && i < k.at.len / sizeof *name && !s->told; i++) {
        char *below;
        st = cip_arena_printf(&l->arena, &below, err, "%s%s%s", path, path[0] != '\0' ? "/" : "",
                              name[i]);
        if (st == CIP_OK)
            st = look(s, below, depth + 1, err);
    }
    cip_buf_clear(&k.at);
    return st;
}

/* What the folder is, and what is in it when it is a group; nothing of others. */
static cip_status look_at(store *s, const char *path, bool *group, cip_err *err)
{
    cip_layout *l = s->z->layout;
    cip_zarr_node e = { .path = path };
    char *dir;
    CIP_TRY(cip_arena_printf(&l->arena, &dir, err, "%s%s", path, path[0] != '\0' ? "/" : ""));
    if (s->z->version == 3) {
        const cip_node *n = NULL;
        CIP_TRY(object(l, dir, "zarr.json", &n, err));
        return n == NULL ? CIP_OK : add_3(s, path, n, group, err);
    }
    CIP_TRY(object(l, dir, ".zarray", &e.array, err));
    if (e.array == NULL)
        CIP_TRY(object(l, dir, ".zgroup", &e.group, err));
    *group = e.group != NULL;
    if (e.array == NULL && e.group == NULL)
        return CIP_OK;
    CIP_TRY(object(l, dir, ".zattrs", &e.attrs, err));
    return add_entry(s, &e, err);
}

static cip_status look(store *s, const char *path, int depth, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    bool group = false;
    if (depth > CIP_ZARR_MAX_DEPTH) {
        cip_warn_lack(s->z->layout->env, CIP_LACKS_BYTES, NULL, CIP_ERR_LIMIT, CIP_NO_OFFSET, path,
                      "expected groups at most %d deep within each other; it is left out",
                      CIP_ZARR_MAX_DEPTH);
        return CIP_OK;
    }
    cip_status st = look_at(s, path, &group, &why);
    if (st == CIP_OK && group)
        st = look_in(s, path, depth, &why);
    return or_left_out(s, path, st, &why, err);
}

/* --- consolidated metadata -------------------------------------------------------------------- */

/* By steps: what is in a group comes right behind it. */
static int by_path(const void *a, const void *b)
{
    const char *x = ((const cip_zarr_node *)a)->path, *y = ((const cip_zarr_node *)b)->path;
    while (*x != '\0' && *x == *y)
        x++, y++;
    const int p = *x == '/' ? 1 : *x == '\0' ? 0 : (uint8_t)*x + 2;
    const int q = *y == '/' ? 1 : *y == '\0' ? 0 : (uint8_t)*y + 2;
    return p - q;
}

static bool is_path(const char *p, size_t len)
{
    if (strlen(p) != len || len >= CIP_IO_NUMBER_NAME / 2)
        return false;
    while (*p != '\0') {
        const size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.') ||
            (p[n] == '/' && p[n + 1] == '\0'))
            return false;
        p += n + (p[n] == '/');
    }
    return true;
}

static cip_status consolidated_3(store *s, const cip_node *map, cip_err *err)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const cip_node *key = map->pair[i].key, *v = map->pair[i].value;
        cip_err why = CIP_ERR_INIT;
        cip_status st;
        bool group;
        if (key->text == NULL || !is_path(key->text, key->len) || key->len == 0 ||
            v->type != CIP_NODE_MAP)
            st = cip_fail(&why, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                          "expected the path and metadata of a group or array");
        else
            st = add_3(s, key->text, v, &group, &why);
        CIP_TRY(
            or_left_out(s, key->len != 0 && key->text != NULL ? key->text : "?", st, &why, err));
    }
    return CIP_OK;
}

/* Keys are those of members: "a/.zarray", of one path in any order. */
static cip_status consolidated_2(store *s, const cip_node *map, cip_err *err)
{
    cip_layout *l = s->z->layout;
    cip_strmap by = { .mem = &l->env->mem };
    cip_status st = CIP_OK;
    for (uint32_t i = 0; st == CIP_OK && i < map->len; i++) {
        const cip_node *key = map->pair[i].key, *v = map->pair[i].value;
        const char *slash = key->text != NULL ? strrchr(key->text, '/') : NULL;
        const char *name = slash != NULL ? slash + 1 : key->text;
        const size_t len = slash != NULL ? (size_t)(slash - key->text) : 0;
        char *path;
        if (name == NULL || v->type != CIP_NODE_MAP)
            continue;
        st = cip_arena_copy(&l->arena, key->text, len, &path, err);
        if (st != CIP_OK || !is_path(path, len))
            continue;
        size_t at = cip_strmap_get(&by, (cip_bytes){ (const uint8_t *)path, len });
        if (at == SIZE_MAX) {
            const cip_zarr_node e = { .path = path };
            at = s->n;
            st = add_entry(s, &e, err);
            if (st == CIP_OK && at < s->n)
                st = cip_strmap_put(&by, (cip_bytes){ (const uint8_t *)path, len }, at, NULL, err);
        }
        if (st != CIP_OK || at >= s->n)
            continue;
        if (strcmp(name, ".zarray") == 0)
            s->at[at].array = v;
        else if (strcmp(name, ".zgroup") == 0)
            s->at[at].group = v;
        else if (strcmp(name, ".zattrs") == 0)
            s->at[at].attrs = v;
    }
    cip_strmap_clear(&by);
    return st;
}

/* *found: the store has them. */
static cip_status consolidated(store *s, bool *found, cip_err *err)
{
    cip_layout *l = s->z->layout;
    const cip_node *n = NULL, *kind, *map;
    *found = false;
    if (s->z->version == 3) {
        const cip_node *own = s->at[0].group;
        n = own != NULL ? cip_map_get(own, "consolidated_metadata") : NULL;
        kind = cip_node_kind(n) == CIP_NODE_MAP ? cip_map_get(n, "kind") : NULL;
        if (!cip_node_is_string(kind, "inline"))
            return CIP_OK;
    } else {
        CIP_TRY(object(l, "", ".zmetadata", &n, err));
    }
    map = n != NULL ? cip_map_get(n, "metadata") : NULL;
    if (cip_node_kind(map) != CIP_NODE_MAP)
        return CIP_OK;
    *found = true;
    if (s->z->version == 2)
        s->n = 0;
    CIP_TRY((s->z->version == 3 ? consolidated_3 : consolidated_2)(s, map, err));
    if (s->n > 1)
        qsort(s->at, s->n, sizeof *s->at, by_path);
    return CIP_OK;
}

/* --- arrays ----------------------------------------------------------------------------------- */

static cip_status describe(cip_zarr_array *a, cip_err *err)
{
    cip_layout *l = a->zarr->layout;
    cip_array *x = a->array;
    int64_t *chunk;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &chunk, (size_t)a->ndim + 1, err));
    for (int32_t k = 0; k < a->ndim; k++)
        chunk[k] = a->level[a->nlevel - 1].chunk[a->level[0].axis[k]];
    x->dtype = a->dtype;
    x->storage = (cip_storage){ .kind = CIP_STORAGE_OWN,
                                .own = a->nlevel > 1 ? "shards" : "chunk files",
                                .codec = a->codec,
                                .chunk = chunk,
                                .block = -1 };
    return CIP_OK;
}

/* Shown as far as it is known: a type of its own for what has none. */
static cip_status refuse_array(cip_zarr_array *a, cip_status st, const cip_err *why, cip_err *err)
{
    if (a->array->dtype == NULL)
        CIP_TRY(cip_dtype_opaque(&a->zarr->layout->arena, 1, "unknown", &a->array->dtype, err));
    if (a->array->view.ndim == 0 && a->ndim != 0) {
        a->array->view = (cip_nd){ .itemsize = a->array->dtype->itemsize, .ndim = a->ndim };
        memcpy(a->array->view.shape, a->shape, sizeof a->shape);
    }
    a->array->space = NULL;
    cip_array_refuse(a->array, st, why);
    return CIP_OK;
}

static cip_status add_array(cip_zarr *z, const cip_zarr_node *e, cip_err *err)
{
    cip_layout *l = z->layout;
    cip_zarr_array *a;
    cip_err why = CIP_ERR_INIT;
    char *dir;
    cip_buf path = { .mem = &l->env->mem };
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &a, 1, err));
    CIP_TRY(cip_arena_printf(&l->arena, &dir, err, "%s%s", e->path, e->path[0] != '\0' ? "/" : ""));
    cip_status st = CIP_OK;
    for (const char *p = e->path; st == CIP_OK && *p != '\0';) {
        const size_t n = strcspn(p, "/");
        st = cip_path_add(&path, (cip_bytes){ (const uint8_t *)p, n }, err);
        p += n + (p[n] == '/');
    }
    if (st == CIP_OK)
        st = cip_layout_add_array(l, true, &a->array, err);
    char *text = NULL;
    if (st == CIP_OK)
        st = cip_arena_copy(&l->arena, path.ptr != NULL ? (const char *)path.ptr : "", path.len,
                            &text, err);
    cip_buf_clear(&path);
    CIP_TRY(st);
    CIP_TRY(CIP_ARENA_ROOM(&l->arena, &z->array, z->narray, &z->array_cap, err));
    a->zarr = z;
    a->member = z->nmember;
    a->dir = dir;
    a->meta = e->array;
    a->array->layout = l;
    a->array->path = text;
    a->array->attributes = e->attrs;
    a->array->node = e->path[0] != '\0' ? e->array : NULL;
    pthread_mutex_init(&a->lock, NULL);
    z->array[z->narray++] = a;
    st = cip_zarr_meta_read(l, a, z->version, &why);
    if (st == CIP_OK)
        st = describe(a, &why);
    if (st == CIP_OK)
        st = cip_zarr_array_open(a, &why);
    if (st == CIP_OK)
        return CIP_OK;
    if (cip_is_passing(st))
        return cip_err_give(err, &why, st);
    return refuse_array(a, st, &why, err);
}

/* --- the tree --------------------------------------------------------------------------------- */

static bool is_within(const char *path, const char *group)
{
    const size_t n = strlen(group);
    return n == 0 ? path[0] != '\0' : strncmp(path, group, n) == 0 && path[n] == '/';
}

/* The name of what lies right in the group, or NULL. */
static const char *name_in(const cip_zarr_node *e, const cip_zarr_node *group)
{
    const size_t n = strlen(group->path);
    const char *name = e->path + n + (n != 0);
    return is_within(e->path, group->path) && strchr(name, '/') == NULL ? name : NULL;
}

const cip_node *cip_zarr_dims_of(const cip_zarr_node *e)
{
    const cip_node *n = cip_map_get(e->array, "dimension_names");
    const cip_node *shape = cip_map_get(e->array, "shape");
    if (cip_node_kind(n) != CIP_NODE_SEQ)
        n = e->attrs != NULL ? cip_map_get(e->attrs, "_ARRAY_DIMENSIONS") : NULL;
    if (cip_node_kind(n) != CIP_NODE_SEQ || cip_node_kind(shape) != CIP_NODE_SEQ ||
        n->len != shape->len)
        return NULL;
    for (uint32_t i = 0; i < n->len; i++)
        if (n->item[i]->type != CIP_NODE_STRING && n->item[i]->type != CIP_NODE_NULL)
            return NULL;
    return n;
}

/* Attributes but for the names of axes that `dims` holds; NULL: none are left. */
static cip_status attrs_of(cip_arena *a, const cip_zarr_node *e, const cip_node **out, cip_err *err)
{
    cip_node *map;
    size_t n = 0;
    const cip_node *all = e->attrs,
                   *dims = all != NULL ? cip_map_get(all, "_ARRAY_DIMENSIONS") : NULL;
    *out = all != NULL && all->len != 0 ? all : NULL;
    if (dims == NULL || cip_zarr_dims_of(e) != dims)
        return CIP_OK;
    *out = NULL;
    if (all->len == 1)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(a, all->len - 1, &map, err));
    for (uint32_t i = 0; i < all->len; i++)
        if (all->pair[i].value != dims)
            cip_node_set_pair(map, n++, all->pair[i].key, all->pair[i].value);
    *out = map;
    return CIP_OK;
}

/* What is said of arrays right in a group, [at, end) being all in it: a map by their names. */
static cip_status beside(cip_arena *a, const cip_zarr_node *group, const cip_zarr_node *at,
                         const cip_zarr_node *end, bool dims, cip_node **out, cip_err *err)
{
    size_t n = 0;
    const cip_node *v;
    *out = NULL;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && n == 0)
            return CIP_OK;
        if (pass == 1)
            CIP_TRY(cip_node_new_map(a, n, out, err));
        n = 0;
        for (const cip_zarr_node *e = at; e < end; e++) {
            const char *name = e->array != NULL ? name_in(e, group) : NULL;
            if (name == NULL)
                continue;
            v = dims ? cip_zarr_dims_of(e) : NULL;
            if (!dims)
                CIP_TRY(attrs_of(a, e, &v, err));
            if (v != NULL && pass == 1)
                CIP_TRY(cip_node_set_key(a, *out, n, name, v, err));
            n += v != NULL;
        }
    }
    return CIP_OK;
}

typedef struct keys {
    cip_arena *a;
    cip_node *map;
    size_t n;
    cip_strmap used;
} keys;

static cip_status set_key(keys *k, const char *name, const cip_node *v, cip_err *err)
{
    const cip_bytes text = { (const uint8_t *)name, strlen(name) };
    CIP_TRY(cip_strmap_put(&k->used, text, 1, NULL, err));
    return cip_node_set_key(k->a, k->map, k->n++, name, v, err);
}

/* The group's attributes, under other names where members have theirs. */
static cip_status set_attributes(keys *k, const cip_node *attrs, cip_err *err)
{
    for (uint32_t i = 0; attrs != NULL && i < attrs->len; i++) {
        const cip_node *key = attrs->pair[i].key;
        const char *name = key->text != NULL ? key->text : "";
        while (cip_strmap_get(&k->used, (cip_bytes){ (const uint8_t *)name, strlen(name) }) !=
               SIZE_MAX) {
            char *other;
            CIP_TRY(cip_arena_printf(k->a, &other, err, "_%s", name));
            name = other;
        }
        CIP_TRY(set_key(k, name, attrs->pair[i].value, err));
    }
    return CIP_OK;
}

static cip_status group_node(cip_zarr *z, cip_zarr_node *group, cip_zarr_node *end, cip_node **out,
                             cip_err *err);

static cip_status fill_group(cip_zarr *z, keys *k, cip_zarr_node *group, cip_zarr_node *end,
                             cip_err *err)
{
    cip_node *dims, *attrs, *below;
    CIP_TRY(beside(k->a, group, group + 1, end, true, &dims, err));
    CIP_TRY(beside(k->a, group, group + 1, end, false, &attrs, err));
    for (cip_zarr_node *e = group + 1, *next; e < end; e = next) {
        next = e + 1;
        const char *name = name_in(e, group);
        if (name == NULL || (e->array == NULL && e->group == NULL)) {
            cip_warn_lack(z->layout->env, CIP_LACKS_BYTES, NULL, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                          e->path, "it lies in no group; it is left out");
            continue;
        }
        if (e->array != NULL) {
            CIP_TRY(set_key(k, name, e->array, err));
            CIP_TRY(add_array(z, e, err));
            continue;
        }
        while (next < end && is_within(next->path, e->path))
            next++;
        CIP_TRY(group_node(z, e, next, &below, err));
        CIP_TRY(set_key(k, name, below, err));
    }
    if (dims != NULL &&
        cip_strmap_get(&k->used, (cip_bytes){ (const uint8_t *)"dims", 4 }) == SIZE_MAX)
        CIP_TRY(set_key(k, "dims", dims, err));
    if (attrs != NULL &&
        cip_strmap_get(&k->used, (cip_bytes){ (const uint8_t *)"attrs", 5 }) == SIZE_MAX)
        CIP_TRY(set_key(k, "attrs", attrs, err));
    return set_attributes(k, group->attrs, err);
}

/* A group with all in it, which follows it up to `end`. Groups nest at most as deep as they were
 * listed, or as paths of consolidated metadata are long. */
static cip_status group_node(cip_zarr *z, cip_zarr_node *group, cip_zarr_node *end, cip_node **out,
                             cip_err *err)
{
    cip_arena *a = &z->layout->arena;
    keys k = { .a = a, .used = { .mem = &z->layout->env->mem } };
    size_t room = 2 + (group->attrs != NULL ? group->attrs->len : 0);
    for (const cip_zarr_node *e = group + 1; e < end; e++)
        room += name_in(e, group) != NULL;
    CIP_TRY(cip_node_new_map(a, room, &k.map, err));
    const cip_status st = fill_group(z, &k, group, end, err);
    k.map->len = (uint32_t)k.n;
    cip_strmap_clear(&k.used);
    *out = k.map;
    return st;
}

/* An array alone: its attributes and the names of its axes. */
static cip_status single_tree(cip_zarr *z, const cip_zarr_node *e, cip_err *err)
{
    cip_arena *a = &z->layout->arena;
    const cip_node *dims = cip_zarr_dims_of(e), *attrs;
    cip_node *root;
    size_t n = 0;
    CIP_TRY(attrs_of(a, e, &attrs, err));
    if (attrs == NULL && dims == NULL)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(a, (attrs != NULL) + (dims != NULL), &root, err));
    if (attrs != NULL)
        CIP_TRY(cip_node_set_key(a, root, n++, "attributes", attrs, err));
    if (dims != NULL)
        CIP_TRY(cip_node_set_key(a, root, n, "dims", dims, err));
    z->layout->tree = root;
    return CIP_OK;
}

/* --- opening ---------------------------------------------------------------------------------- */

static void clear(cip_layout *l)
{
    cip_zarr *z = l->own;
    if (z == NULL)
        return;
    for (size_t i = 0; i < z->narray; i++) {
        cip_zarr_array *a = z->array[i];
        for (int32_t k = 0; a->listing != NULL && k <= a->ndim; k++) {
            cip_mem_put(&l->env->mem, a->listing[k].dir);
            cip_buf_clear(&a->listing[k].numbers);
        }
        pthread_mutex_destroy(&a->lock);
    }
    cip_io_close(z->numbered);
    cip_io_close(z->zip);
}

/* Of the array that member i belongs to: arrays have their members one behind the other. */
static void place(void *user, uint64_t i, cip_io **of, char name[CIP_IO_NUMBER_NAME])
{
    const cip_zarr *z = user;
    size_t lo = 0, hi = z->narray;
    (void)of;
    while (hi - lo > 1) {
        const size_t mid = lo + (hi - lo) / 2;
        if (z->array[mid]->member <= i)
            lo = mid;
        else
            hi = mid;
    }
    const cip_zarr_array *a = z->array[lo];
    const size_t n = (size_t)snprintf(name, CIP_IO_NUMBER_NAME, "%s", a->dir);
    if (n < CIP_IO_NUMBER_NAME)
        cip_zarr_key(a, i - a->member, name + n, CIP_IO_NUMBER_NAME - n);
}

static cip_status open_tree(cip_zarr *z, cip_err *err)
{
    cip_layout *l = z->layout;
    store s = { .z = z };
    cip_node *root;
    bool group = false;
    CIP_TRY(look_at(&s, "", &group, err));
    CIP_TRY(consolidated(&s, &z->consolidated, err));
    if (!z->consolidated && group)
        CIP_TRY(look_in(&s, "", 0, err));
    if (s.n == 0 || s.at[0].path[0] != '\0' || (s.at[0].group == NULL && s.at[0].array == NULL))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected the metadata of a group or array, found none");
    if (s.at[0].array != NULL) {
        CIP_TRY(add_array(z, &s.at[0], err));
        CIP_TRY(single_tree(z, &s.at[0], err));
    } else {
        CIP_TRY(group_node(z, s.at, s.at + s.n, &root, err));
        l->tree = root;
    }
    z->node = s.at;
    z->nnode = s.n;
    CIP_TRY(cip_layout_add_fact(l, "metadata", err, "%s",
                                z->consolidated ? "consolidated" : "of each member"));
    return CIP_OK;
}

static cip_status open_store(cip_layout *l, cip_err *err)
{
    cip_zarr *z;
    bool three;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &z, 1, err));
    z->layout = l;
    z->root = l->io;
    l->own = z;
    l->clear = clear;
    if (!cip_io_is_folder(l->io))
        CIP_TRY(cip_zarr_open_zip(z, err));
    CIP_TRY(has(z->root, "zarr.json", &three, err));
    z->version = three ? 3 : 2;
    l->version = z->version == 3 ? "3" : "2";
    CIP_TRY(cip_io_open_numbered(z->root, cip_zarr_flags(l), place, z, &z->numbered, err));
    CIP_TRY(cip_space_new_file(l, z->numbered, &z->files, err));
    return open_tree(z, err);
}

const cip_format cip_format_zarr = {
    .name = "zarr",
    .title = "Zarr",
    .extensions = "zarr zarr.zip",
    .folder_extensions = "zarr",
    .probe = probe,
    .open = open_store,
    .verify = cip_zarr_verify,
    .store = &cip_zarr_store,
    .options = cip_zarr_options,
    .kinds = cip_zarr_kinds,
};
