/* SPDX-License-Identifier: BSD-3-Clause
 * What of a group's mapping is said of its members: names of axes, attributes, names of values, and
 * links, as reading gives them. */
#include <stdio.h>

#include "format/hdf5/hdf5_put_impl.h"
#include "format/one_array.h"
#include "tree/utf8.h"

bool cip_h5_is_name(cip_bytes s)
{
    return s.len != 0 && s.len <= CIP_H5_MOST_NAME && memchr(s.ptr, '/', s.len) == NULL &&
           memchr(s.ptr, '\0', s.len) == NULL && !(s.len == 1 && s.ptr[0] == '.') &&
           cip_utf8_is(s.ptr, s.len);
}

bool cip_h5_is_word(const cip_node *key, const char *words)
{
    return cip_node_kind(key) == CIP_NODE_STRING && cip_is_word_of(words, key->text, key->len);
}

static const char *text_of(const cip_node *map, const char *key)
{
    const cip_node *v = cip_map_get(map, key);
    return cip_node_kind(v) == CIP_NODE_STRING && v->len != 0 && v->len <= CIP_H5_MOST_NAME &&
                   strlen(v->text) == v->len
               ? v->text
               : NULL;
}

cip_status cip_h5_as_link(cip_h5_builder *b, const cip_node *v, cip_h5_link_to *out, bool *yes,
                          cip_err *err)
{
    *out = (cip_h5_link_to){ .kind = CIP_H5_SOFT };
    *yes = false;
    if (cip_node_kind(v) != CIP_NODE_MAP || v->len == 0 || v->len > 2)
        return CIP_OK;
    if (v->len == 2) {
        *out = (cip_h5_link_to){ CIP_H5_OUTSIDE, text_of(v, "path"), text_of(v, "external"), 0 };
        *yes = out->path != NULL && out->file != NULL;
        return CIP_OK;
    }
    out->path = text_of(v, "soft");
    *yes = out->path != NULL;
    const char *hard = text_of(v, "hard");
    if (*yes || hard == NULL || hard[0] != '/')
        return CIP_OK;
    out->kind = CIP_H5_HARD;
    out->object = b->w->spec->narray; /* the root */
    if (hard[1] != '\0')
        CIP_TRY(cip_groups_member_path(&b->g, hard + 1, &out->object, err));
    *yes = out->object != SIZE_MAX;
    return CIP_OK;
}

bool cip_h5_is_string(const cip_node *n)
{
    return cip_node_kind(n) == CIP_NODE_STRING && strlen(n->text) == n->len &&
           cip_utf8_is((const uint8_t *)n->text, n->len);
}

bool cip_h5_are_axes(const cip_node *v, int32_t ndim)
{
    bool all = cip_names_axes(v, ndim);
    for (uint32_t i = 0; all && i < v->len; i++)
        all = v->item[i]->type != CIP_NODE_STRING || cip_h5_is_string(v->item[i]);
    return all;
}

/* Whether an entry of such a mapping has a place here. */
cip_status cip_h5_said_fits(cip_h5_builder *b, const char *dir, cip_h5_said k,
                            const cip_pair *entry, bool *yes, cip_err *err)
{
    const cip_spec *spec = b->w->spec;
    const cip_node *key = entry->key, *v = entry->value;
    cip_h5_link_to to;
    size_t at;
    CIP_TRY(cip_groups_member_key(&b->g, dir, key, &at, err));
    *yes = key->type == CIP_NODE_STRING;
    if (*yes && k == CIP_H5_LINKS) {
        *yes =
            at == SIZE_MAX && cip_h5_is_name((cip_bytes){ (const uint8_t *)key->text, key->len });
        return *yes ? cip_h5_as_link(b, v, &to, yes, err) : CIP_OK;
    }
    *yes = *yes && at < spec->narray &&
           (k == CIP_H5_DIMS    ? cip_h5_are_axes(v, spec->array[at].ndim)
            : k == CIP_H5_ATTRS ? v->type == CIP_NODE_MAP
                                : cip_h5_names_values(v, spec->array[at].dtype));
    return CIP_OK;
}

static const char *const word[CIP_H5_NSAID] = { "dims", "attrs", "enums", "links" };

/* The mapping in a group, or NULL: one of whose entries any has a place. Its key has a "_" in front
 * where a member of the group has that name, as reading gives it. */
cip_status cip_h5_said_in(cip_h5_builder *b, const char *dir, cip_h5_said k, const cip_node **out,
                          cip_err *err)
{
    const cip_node *node = cip_groups_node(&b->g, dir), *map = NULL;
    char key[32];
    size_t n = (size_t)snprintf(key, sizeof key, "%s", word[k]), at = 0;
    bool any = false;
    *out = NULL;
    if (cip_node_kind(node) != CIP_NODE_MAP || (dir[0] == '\0' && cip_is_alone(b->w->spec)))
        return CIP_OK;
    for (;;) {
        CIP_TRY(cip_groups_member(&b->g, dir, (cip_bytes){ (uint8_t *)key, n }, &at, err));
        if (at == SIZE_MAX || n + 1 == sizeof key)
            break;
        memmove(key + 1, key, ++n);
        key[0] = '_';
        key[n] = '\0';
    }
    map = cip_map_get(node, key);
    for (uint32_t i = 0; !any && cip_node_kind(map) == CIP_NODE_MAP && i < map->len; i++)
        CIP_TRY(cip_h5_said_fits(b, dir, k, &map->pair[i], &any, err));
    *out = any ? map : NULL;
    return CIP_OK;
}

cip_status cip_h5_find_said(cip_h5_builder *b, cip_err *err)
{
    const size_t narray = b->w->spec->narray;
    CIP_TRY(CIP_ARENA_NEW(b->w->arena, &b->group_of, narray, err));
    for (size_t i = 0; i < narray; i++) {
        const cip_bytes dir = { (const uint8_t *)b->parent[i], strlen(b->parent[i]) };
        b->group_of[i] = dir.len != 0 ? cip_strmap_get(&b->g.known, dir) - narray : 0;
    }
    CIP_TRY(CIP_ARENA_NEW(b->w->arena, &b->said, b->g.n, err));
    for (size_t i = 0; i < b->g.n; i++)
        for (int k = 0; k < CIP_H5_NSAID; k++)
            CIP_TRY(cip_h5_said_in(b, b->g.group[i], (cip_h5_said)k, &b->said[i].map[k], err));
    return CIP_OK;
}

/* What is said of an array, or NULL. */
cip_status cip_h5_said_of(cip_h5_builder *b, size_t array, cip_h5_said k, const cip_node **out,
                          cip_err *err)
{
    const cip_node *map = b->said[b->group_of[array]].map[k];
    bool yes = false;
    *out = NULL;
    const cip_node *v = map != NULL ? cip_map_get(map, b->name[array]) : NULL;
    if (v == NULL)
        return CIP_OK;
    const cip_node key = { .type = CIP_NODE_STRING,
                           .text = b->name[array],
                           .len = (uint32_t)strlen(b->name[array]) };
    CIP_TRY(cip_h5_said_fits(b, b->parent[array], k, &(cip_pair){ &key, v }, &yes, err));
    *out = yes ? v : NULL;
    return CIP_OK;
}

/* The attributes of an array, or NULL. */
cip_status cip_h5_attributes_of(cip_h5_builder *b, size_t array, const cip_node **out, cip_err *err)
{
    *out = cip_groups_own_attributes(b->w->spec);
    return *out != NULL || cip_is_alone(b->w->spec)
               ? CIP_OK
               : cip_h5_said_of(b, array, CIP_H5_ATTRS, out, err);
}

/* Whether a pair is no attribute, but something else that is stored, or is no part of the tree. */
cip_status cip_h5_is_other(cip_h5_builder *b, const char *dir, const cip_pair *p, bool *yes,
                           cip_err *err)
{
    const cip_spec *spec = b->w->spec;
    const bool alone = dir[0] == '\0' && cip_is_alone(spec);
    *yes = cip_is_array_node(spec, p->value) || (dir[0] == '\0' && cip_groups_apart(&b->g, p)) ||
           (alone && cip_node_is_string(p->key, "dims") &&
            cip_h5_are_axes(p->value, spec->array[0].ndim)) ||
           (dir[0] == '\0' && p->value == cip_groups_own_attributes(spec));
    const char *key = p->key->text != NULL ? p->key->text : "";
    key += strspn(key, "_");
    for (int k = 0; !*yes && k < CIP_H5_NSAID; k++) {
        const cip_node *map;
        if (strcmp(key, word[k]) != 0)
            continue;
        CIP_TRY(cip_h5_said_in(b, dir, (cip_h5_said)k, &map, err));
        *yes = map == p->value;
    }
    return CIP_OK;
}
