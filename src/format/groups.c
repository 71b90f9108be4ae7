/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/groups.h"

#include <stdio.h>

#include "format/one_array.h"

/* --- folders ---------------------------------------------------------------------------------- */

static cip_bytes text_bytes(const char *text, size_t n)
{
    return (cip_bytes){ (const uint8_t *)text, n };
}

cip_status cip_groups_add(cip_groups *g, const char *dir, size_t n, bool *added, cip_err *err)
{
    char *own;
    *added = false;
    if (cip_strmap_get(&g->known, text_bytes(dir, n)) != SIZE_MAX)
        return CIP_OK;
    CIP_TRY(cip_arena_copy(g->arena, dir, n, &own, err));
    CIP_TRY(CIP_ARENA_ROOM(g->arena, &g->group, g->n, &g->cap, err));
    CIP_TRY(cip_strmap_put(&g->known, text_bytes(own, n), g->spec->narray + g->n, NULL, err));
    g->group[g->n++] = own;
    *added = true;
    return CIP_OK;
}

cip_status cip_groups_find(cip_groups *g, cip_err *err)
{
    const cip_spec *spec = g->spec;
    size_t was;
    bool added;
    char *dir;
    g->known.mem = g->path.mem = g->arena->mem;
    CIP_TRY(CIP_ARENA_NEW(g->arena, &g->array, spec->narray, err));
    for (size_t i = 0; i < spec->narray; i++) {
        const char *path = spec->array[i].path;
        if (spec->narray > 1 && path[0] == '\0')
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "one of several arrays has no name");
        CIP_TRY(g->dir(g->arena, path != NULL ? path : "", &dir, err));
        CIP_TRY(cip_strmap_put(&g->known, text_bytes(dir, strlen(dir)), i, &was, err));
        if (was != SIZE_MAX)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "two arrays would be in the folder '%.100s'", dir);
        g->array[i] = dir;
    }
    CIP_TRY(CIP_ARENA_ROOM(g->arena, &g->group, g->n, &g->cap, err));
    g->group[g->n++] = "";
    for (size_t i = 0; i < spec->narray; i++) {
        const char *own = g->array[i];
        for (size_t n = 1; own[0] != '\0' && own[n] != '\0'; n++) {
            if (own[n - 1] != '/')
                continue;
            was = cip_strmap_get(&g->known, text_bytes(own, n));
            if (was < spec->narray)
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "'%.100s' would lie in the folder of another array", own);
            CIP_TRY(cip_groups_add(g, own, n, &added, err));
        }
    }
    return CIP_OK;
}

void cip_groups_clear(cip_groups *g)
{
    cip_strmap_clear(&g->known);
    cip_buf_clear(&g->path);
}

cip_status cip_groups_member(cip_groups *g, const char *dir, cip_bytes name, size_t *out,
                             cip_err *err)
{
    g->path.len = 0;
    CIP_TRY(cip_buf_puts(&g->path, dir, err));
    CIP_TRY(cip_buf_add(&g->path, name.ptr, name.len, err));
    CIP_TRY(cip_buf_puts(&g->path, "/", err));
    *out = memchr(name.ptr, '/', name.len) != NULL
               ? SIZE_MAX
               : cip_strmap_get(&g->known, (cip_bytes){ g->path.ptr, g->path.len });
    return CIP_OK;
}

cip_status cip_groups_member_pair(cip_groups *g, const char *dir, const cip_pair *p, size_t *out,
                                  bool *hidden, cip_err *err)
{
    CIP_TRY(cip_groups_member_key(g, dir, p->key, out, err));
    const cip_node *there = *out == SIZE_MAX ? NULL
                            : *out < g->spec->narray
                                ? g->spec->array[*out].node
                                : cip_groups_node(g, g->group[*out - g->spec->narray]);
    *hidden = there != NULL && there != p->value;
    return CIP_OK;
}

cip_status cip_groups_member_path(cip_groups *g, const char *path, size_t *out, cip_err *err)
{
    char *dir;
    cip_err why = CIP_ERR_INIT;
    const cip_status st = g->dir(g->arena, path, &dir, &why);
    *out = SIZE_MAX;
    if (st == CIP_ERR_UNSUPPORTED) /* no name that the format has */
        return CIP_OK;
    CIP_TRY(cip_err_give(err, &why, st));
    *out = cip_strmap_get(&g->known, text_bytes(dir, strlen(dir)));
    return CIP_OK;
}

/* --- what is said of arrays ------------------------------------------------------------------- */

bool cip_names_axes(const cip_node *n, int32_t ndim)
{
    if (n->type != CIP_NODE_SEQ || n->len != (uint32_t)ndim)
        return false;
    for (uint32_t i = 0; i < n->len; i++)
        if (n->item[i]->type != CIP_NODE_STRING && n->item[i]->type != CIP_NODE_NULL)
            return false;
    return true;
}

cip_status cip_groups_beside(cip_groups *g, const char *dir, const cip_pair *p, bool *yes,
                             cip_err *err)
{
    const bool dims = cip_node_is_string(p->key, "dims");
    const cip_node *map = p->value;
    *yes =
        (dims || cip_node_is_string(p->key, "attrs")) && map->type == CIP_NODE_MAP && map->len != 0;
    for (uint32_t i = 0; *yes && i < map->len; i++) {
        const cip_node *v = map->pair[i].value;
        size_t at = SIZE_MAX;
        if (map->pair[i].key->type == CIP_NODE_STRING)
            CIP_TRY(cip_groups_member_key(g, dir, map->pair[i].key, &at, err));
        *yes = at < g->spec->narray && (dims ? cip_names_axes(v, g->spec->array[at].ndim)
                                             : v->type == CIP_NODE_MAP && g->holds(g, v));
    }
    return CIP_OK;
}

bool cip_groups_apart(const cip_groups *g, const cip_pair *p)
{
    const cip_spec *spec = g->spec;
    if (p->key->type != CIP_NODE_STRING)
        return false;
    if (cip_is_word_of(spec->origin_keys, p->key->text, p->key->len) ||
        cip_is_word_of(spec->form_keys, p->key->text, p->key->len))
        return true;
    bool all = p->value->type == CIP_NODE_MAP && p->value->len != 0;
    for (uint32_t i = 0; all && i < p->value->len; i++) {
        char path[100];
        const char *name = p->value->pair[i].key->text;
        const int n = snprintf(path, sizeof path, "%s/%s", p->key->text, name != NULL ? name : "");
        all = n < (int)sizeof path && cip_is_word_of(spec->form_keys, path, (size_t)n);
    }
    return all;
}

static const cip_node *node_at(const cip_groups *g, cip_bytes dir)
{
    const cip_node *n = g->spec->tree;
    for (size_t at = 0, end; n != NULL && at < dir.len; at = end + 1) {
        for (end = at; end < dir.len && dir.ptr[end] != '/'; end++)
            ;
        n = cip_node_step(n, (cip_bytes){ dir.ptr + at, end - at });
    }
    return n;
}

const cip_node *cip_groups_node(const cip_groups *g, const char *dir)
{
    return node_at(g, text_bytes(dir, strlen(dir)));
}

const cip_node *cip_groups_said(const cip_groups *g, const char *dir, const char *key)
{
    const size_t n = strlen(dir);
    size_t name = n != 0 ? n - 1 : 0; /* where it begins */
    while (name != 0 && dir[name - 1] != '/')
        name--;
    if (n == 0)
        return NULL;
    const cip_node *in = node_at(g, text_bytes(dir, name));
    const cip_node *map = cip_node_kind(in) == CIP_NODE_MAP ? cip_map_get(in, key) : NULL;
    return cip_node_kind(map) == CIP_NODE_MAP
               ? cip_node_step(map, text_bytes(dir + name, n - 1 - name))
               : NULL;
}

const cip_node *cip_groups_dims(const cip_groups *g, const char *dir, const cip_spec_array *a)
{
    const cip_node *root = g->spec->tree, *dims = NULL;
    if (!cip_is_alone(g->spec))
        dims = cip_groups_said(g, dir, "dims");
    else if (cip_node_kind(root) == CIP_NODE_MAP)
        dims = cip_map_get(root, "dims");
    return dims != NULL && cip_names_axes(dims, a->ndim) ? dims : NULL;
}

const cip_node *cip_groups_own_attributes(const cip_spec *spec)
{
    const cip_node *root = spec->tree;
    if (spec->narray != 1 || cip_node_kind(root) != CIP_NODE_MAP || root->len == 0)
        return NULL;
    const cip_node *key = root->pair[0].key;
    const bool picked = root->len == 1 && (cip_node_is_string(key, "attributes") ||
                                           cip_node_is_string(key, "_attributes"));
    const cip_node *v = picked               ? root->pair[0].value
                        : cip_is_alone(spec) ? cip_map_get(root, "attributes")
                                             : NULL;
    return cip_node_kind(v) == CIP_NODE_MAP && !cip_is_array_node(spec, v) ? v : NULL;
}

/* --- what is lost ----------------------------------------------------------------------------- */

void cip_groups_tell(cip_report *loss, const char *dir, const char *name, const char *what)
{
    char part[CIP_IO_NUMBER_NAME];
    snprintf(part, sizeof part, "%s%s", dir, name != NULL ? name : "?");
    if (loss != NULL)
        cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, part, "%s", what);
}

cip_status cip_groups_tell_lost(cip_groups *g, const char *dir, const char *files, cip_report *loss,
                                cip_err *err)
{
    const cip_node *node = cip_groups_node(g, dir);
    char text[80];
    size_t member;
    bool hidden;
    snprintf(text, sizeof text, "its tag is lost: groups of %s have none", files);
    if (dir[0] != '\0' && node != NULL && node->tag != NULL)
        cip_groups_tell(loss, dir, "", text);
    for (uint32_t i = 0; cip_node_kind(node) == CIP_NODE_SEQ && i < node->len; i++) {
        snprintf(text, sizeof text, "%" PRIu32, i);
        CIP_TRY(cip_groups_member(g, dir, text_bytes(text, strlen(text)), &member, err));
        if (member == SIZE_MAX)
            cip_groups_tell(loss, dir, text,
                            "this item is lost: its list becomes a group of arrays");
    }
    for (uint32_t i = 0; cip_node_kind(node) == CIP_NODE_MAP && i < node->len; i++) {
        CIP_TRY(cip_groups_member_pair(g, dir, &node->pair[i], &member, &hidden, err));
        if (hidden)
            cip_groups_tell(loss, dir, node->pair[i].key->text,
                            "this of the metadata is lost: an array or a group has its name");
    }
    return CIP_OK;
}
