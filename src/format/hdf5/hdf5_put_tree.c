/* SPDX-License-Identifier: BSD-3-Clause
 * All metadata: groups with their links and attributes, datasets with theirs. A mapping of the tree
 * that holds no array is a group, too, as reading gives it. */
#include <stdio.h>
#include <stdlib.h>

#include "format/hdf5/hdf5_write.h"
#include "format/one_array.h"
#include "tree/utf8.h"

enum { GROUPS_DEEP = 100, MOST_NAME = 4000, GROUP_INFO = 0x0a };

/* What becomes of the axes of a dataset. */
typedef struct axes {
    const cip_node *names; /* or NULL */
    size_t *scale;         /* the array that is an axis's dimension scale, or SIZE_MAX */
    bool any;              /* any has one */
    bool is_scale;         /* of an axis of its own, or of others */
} axes;

typedef struct builder {
    cip_h5_writer *w;
    cip_groups g;
    cip_h5_put put;
    axes *axis;       /* of each array */
    uint64_t *at;     /* of each object: arrays, then groups; known the second time */
    cip_report *loss; /* NULL: nothing is told */
} builder;

/* --- names ------------------------------------------------------------------------------------ */

static bool is_name(cip_bytes s)
{
    return s.len != 0 && s.len <= MOST_NAME && memchr(s.ptr, '/', s.len) == NULL &&
           memchr(s.ptr, '\0', s.len) == NULL && !(s.len == 1 && s.ptr[0] == '.') &&
           cip_utf8_is(s.ptr, s.len);
}

/* An array without a name is "data". */
static cip_status folder(cip_arena *a, const char *path, char **out, cip_err *err)
{
    cip_bytes *step;
    size_t n;
    CIP_TRY(cip_path_split(a, path[0] != '\0' ? path : "data", &step, &n, err));
    CIP_TRY(cip_arena_printf(a, out, err, "%s", ""));
    for (size_t i = 0; i < n; i++) {
        if (!is_name(step[i]))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "'%.80s' cannot be the path of an HDF5 dataset", path);
        CIP_TRY(cip_arena_printf(a, out, err, "%s%.*s/", *out, (int)step[i].len,
                                 (const char *)step[i].ptr));
    }
    return CIP_OK;
}

/* The last step of a folder. */
static cip_bytes last_name(const char *dir)
{
    size_t n = strlen(dir), from = n != 0 ? --n : 0;
    while (from != 0 && dir[from - 1] != '/')
        from--;
    return (cip_bytes){ (const uint8_t *)dir + from, n - from };
}

static const char *dir_of(const builder *b, size_t object)
{
    const size_t narray = b->w->spec->narray;
    return object < narray ? b->g.array[object] : b->g.group[object - narray];
}

static bool any_attributes(const cip_groups *g, const cip_node *attrs)
{
    (void)g;
    (void)attrs;
    return true; /* those that cannot be stored are told one by one */
}

static void tell(const builder *b, const char *dir, const char *name, const char *what)
{
    char part[CIP_IO_NUMBER_NAME];
    snprintf(part, sizeof part, "%s%s", dir, name != NULL ? name : "?");
    if (b->loss != NULL)
        cip_report_add(b->loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, part, "%s", what);
}

/* --- what of a mapping is what ---------------------------------------------------------------- */

/* A link as reading has it: `{soft: path}`, `{external: file, path: path}`, or `{hard: path}` of an
 * object that has another name, too. */
typedef struct link_to {
    uint8_t kind; /* cip_h5_link_kind */
    const char *path, *file;
    size_t object; /* HARD */
} link_to;

static const char *text_of(const cip_node *map, const char *key)
{
    const cip_node *v = cip_map_get(map, key);
    return cip_node_kind(v) == CIP_NODE_STRING && v->len != 0 && v->len <= MOST_NAME &&
                   strlen(v->text) == v->len
               ? v->text
               : NULL;
}

static cip_status as_link(builder *b, const cip_node *v, link_to *out, bool *yes, cip_err *err)
{
    *out = (link_to){ .kind = CIP_H5_SOFT };
    *yes = false;
    if (cip_node_kind(v) != CIP_NODE_MAP || v->len == 0 || v->len > 2)
        return CIP_OK;
    if (v->len == 2) {
        *out = (link_to){ CIP_H5_OUTSIDE, text_of(v, "path"), text_of(v, "external"), 0 };
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

/* Whether a pair of a group's mapping is `links`, all of which can be made. */
static cip_status is_links(builder *b, const char *dir, const cip_pair *p, bool *yes, cip_err *err)
{
    const cip_node *map = p->value;
    link_to to;
    *yes = cip_node_is_string(p->key, "links") && map->type == CIP_NODE_MAP && map->len != 0;
    for (uint32_t i = 0; *yes && i < map->len; i++) {
        const cip_node *key = map->pair[i].key;
        size_t taken;
        CIP_TRY(cip_groups_member_key(&b->g, dir, key, &taken, err));
        *yes = key->type == CIP_NODE_STRING && taken == SIZE_MAX &&
               is_name((cip_bytes){ (const uint8_t *)key->text, key->len });
        if (*yes)
            CIP_TRY(as_link(b, map->pair[i].value, &to, yes, err));
    }
    return CIP_OK;
}

/* Whether it is `enums`: names of the values of arrays in the group. */
static cip_status is_enums(builder *b, const char *dir, const cip_pair *p, bool *yes, cip_err *err)
{
    const cip_node *map = p->value;
    *yes = cip_node_is_string(p->key, "enums") && map->type == CIP_NODE_MAP && map->len != 0;
    for (uint32_t i = 0; *yes && i < map->len; i++) {
        size_t at;
        CIP_TRY(cip_groups_member_key(&b->g, dir, map->pair[i].key, &at, err));
        *yes = at < b->w->spec->narray &&
               cip_h5_names_values(map->pair[i].value, b->w->spec->array[at].dtype);
    }
    return CIP_OK;
}

/* Whether a pair is no attribute, but something else that is stored, or is no part of the tree. */
static cip_status is_other(builder *b, const char *dir, const cip_pair *p, bool *yes, cip_err *err)
{
    const cip_spec *spec = b->w->spec;
    const bool alone = dir[0] == '\0' && cip_is_alone(spec);
    *yes = cip_is_array_node(spec, p->value) || (dir[0] == '\0' && cip_groups_apart(&b->g, p)) ||
           (alone && cip_node_is_string(p->key, "dims") &&
            cip_names_axes(p->value, spec->array[0].ndim)) ||
           (alone && cip_node_is_string(p->key, "attributes") && p->value->type == CIP_NODE_MAP);
    if (!*yes)
        CIP_TRY(cip_groups_beside(&b->g, dir, p, yes, err));
    if (!*yes)
        CIP_TRY(is_links(b, dir, p, yes, err));
    return *yes ? CIP_OK : is_enums(b, dir, p, yes, err);
}

/* --- groups that hold no array ---------------------------------------------------------------- */

/* Mappings become groups, from the root on; one with two names only where it is met first. */
static cip_status add_groups(builder *b, cip_err *err)
{
    cip_strmap seen = { .mem = &b->w->env->mem };
    cip_buf dir = { .mem = &b->w->env->mem };
    cip_status st = CIP_OK;
    for (size_t i = 0; i < b->g.n; i++) {
        const cip_node *node = cip_groups_node(&b->g, b->g.group[i]);
        size_t deep = 0, was;
        for (const char *p = b->g.group[i]; *p != '\0'; p++)
            deep += *p == '/';
        if (cip_node_kind(node) != CIP_NODE_MAP || deep > GROUPS_DEEP)
            continue;
        CIP_GO(cip_strmap_put_ptr(&seen, b->w->arena, node, 1, &was, err));
        for (uint32_t k = 0; k < node->len; k++) {
            const cip_pair *p = &node->pair[k];
            bool other, added;
            size_t member;
            if (p->value->type != CIP_NODE_MAP || p->value->tag != NULL ||
                p->key->type != CIP_NODE_STRING || p->key->tag != NULL ||
                !is_name((cip_bytes){ (const uint8_t *)p->key->text, p->key->len }) ||
                cip_strmap_get_ptr(&seen, p->value) != SIZE_MAX)
                continue;
            CIP_GO(cip_groups_member_key(&b->g, b->g.group[i], p->key, &member, err));
            if (member != SIZE_MAX)
                continue;
            CIP_GO(is_other(b, b->g.group[i], p, &other, err));
            if (other)
                continue;
            dir.len = 0;
            CIP_GO(cip_buf_addf(&dir, err, "%s%s/", b->g.group[i], p->key->text));
            CIP_GO(cip_groups_add(&b->g, (const char *)dir.ptr, dir.len, &added, err));
            if (added)
                CIP_GO(cip_strmap_put_ptr(&seen, b->w->arena, p->value, 1, &was, err));
        }
    }
done:
    cip_strmap_clear(&seen);
    cip_buf_clear(&dir);
    return st;
}

/* --- dimension scales ------------------------------------------------------------------------- */

/* The array beside this one that has the name of an axis and its length, and no other axis. */
static cip_status scale_of(builder *b, size_t array, int32_t k, size_t *out, cip_err *err)
{
    const cip_spec *spec = b->w->spec;
    const cip_node *name = b->axis[array].names->item[k];
    const char *dir = b->g.array[array];
    char *group;
    size_t at;
    *out = SIZE_MAX;
    if (name->type != CIP_NODE_STRING || cip_is_alone(spec))
        return CIP_OK;
    CIP_TRY(cip_arena_copy(b->w->arena, dir, (size_t)((const char *)last_name(dir).ptr - dir),
                           &group, err));
    CIP_TRY(cip_groups_member_key(&b->g, group, name, &at, err));
    if (at >= spec->narray || spec->array[at].ndim != 1 ||
        spec->array[at].shape[0] != spec->array[array].shape[k])
        return CIP_OK;
    const cip_node *own = cip_groups_dims(&b->g, b->g.array[at], &spec->array[at]);
    const cip_bytes last = last_name(b->g.array[at]);
    if (own == NULL || (own->item[0]->type == CIP_NODE_STRING && own->item[0]->len == last.len &&
                        memcmp(own->item[0]->text, last.ptr, last.len) == 0))
        *out = at;
    return CIP_OK;
}

static cip_status find_axes(builder *b, cip_err *err)
{
    const cip_spec *spec = b->w->spec;
    CIP_TRY(CIP_ARENA_NEW(b->w->arena, &b->axis, spec->narray, err));
    for (size_t i = 0; i < spec->narray; i++) {
        axes *x = &b->axis[i];
        const int32_t ndim = spec->array[i].ndim;
        x->names = ndim == 0 ? NULL : cip_groups_dims(&b->g, b->g.array[i], &spec->array[i]);
        CIP_TRY(CIP_ARENA_NEW(b->w->arena, &x->scale, (size_t)ndim, err));
        for (int32_t k = 0; k < ndim; k++) {
            x->scale[k] = SIZE_MAX;
            if (x->names == NULL)
                continue;
            CIP_TRY(scale_of(b, i, k, &x->scale[k], err));
            if (x->scale[k] == SIZE_MAX)
                continue;
            x->any = true;
            b->axis[x->scale[k]].is_scale = true;
        }
    }
    return CIP_OK;
}

/* The attributes that say which axes a dataset has and whose axis it is. */
static cip_status put_axes(builder *b, size_t array, cip_err *err)
{
    const cip_spec *spec = b->w->spec;
    const axes *x = &b->axis[array];
    const int32_t ndim = spec->array[array].ndim;
    if (x->is_scale) {
        const cip_bytes name = last_name(b->g.array[array]);
        char *text;
        cip_h5_use *use = NULL;
        size_t n = 0, cap = 0;
        CIP_TRY(cip_arena_copy(b->w->arena, name.ptr, name.len, &text, err));
        CIP_TRY(cip_h5_put_text(&b->put, "CLASS", "DIMENSION_SCALE", err));
        CIP_TRY(cip_h5_put_text(&b->put, "NAME", text, err));
        for (size_t i = 0; i < spec->narray; i++)
            for (int32_t k = 0; i != array && k < spec->array[i].ndim; k++)
                if (b->axis[i].scale[k] == array && !b->axis[i].is_scale) {
                    CIP_TRY(CIP_ARENA_ROOM(b->w->arena, &use, n, &cap, err));
                    use[n++] = (cip_h5_use){ b->at[i], k };
                }
        return cip_h5_put_uses(&b->put, n, use, err);
    }
    if (x->any) {
        uint64_t at[CIP_MAX_NDIM];
        for (int32_t k = 0; k < ndim; k++)
            at[k] = x->scale[k] != SIZE_MAX ? b->at[x->scale[k]] : CIP_H5_NONE;
        CIP_TRY(cip_h5_put_scales(&b->put, ndim, at, err));
    }
    bool all = true;
    for (int32_t k = 0; k < ndim; k++)
        all = all && x->scale[k] != SIZE_MAX;
    if (x->names == NULL || all)
        return CIP_OK;
    cip_node *labels, *text;
    cip_node key = { .type = CIP_NODE_STRING, .text = "DIMENSION_LABELS", .len = 16 };
    CIP_TRY(cip_node_new_seq(b->w->arena, (size_t)ndim, &labels, err));
    for (int32_t k = 0; k < ndim; k++) {
        const cip_node *name = x->names->item[k];
        const bool has = name->type == CIP_NODE_STRING && x->scale[k] == SIZE_MAX;
        CIP_TRY(cip_node_new_string(b->w->arena, has ? name->text : "", has ? name->len : 0, &text,
                                    err));
        cip_node_set_item(labels, (size_t)k, text);
    }
    return cip_h5_put_attribute(&b->put, &key, labels, err);
}

/* --- attributes ------------------------------------------------------------------------------- */

static cip_status put_pair(builder *b, const char *dir, const cip_pair *p, cip_err *err)
{
    if (cip_h5_is_attribute(p->key, p->value))
        return b->loss != NULL ? CIP_OK : cip_h5_put_attribute(&b->put, p->key, p->value, err);
    tell(b, dir, p->key->text,
         "this of the metadata is lost: an HDF5 attribute cannot hold it as it is");
    return CIP_OK;
}

/* Those of a dataset, but for what `put_axes` says. */
static cip_status put_attributes(builder *b, size_t array, cip_err *err)
{
    const bool alone = cip_is_alone(b->w->spec);
    const cip_node *root = b->w->spec->tree;
    const cip_node *attrs =
        alone ? cip_node_kind(root) == CIP_NODE_MAP ? cip_map_get(root, "attributes") : NULL
              : cip_groups_said(&b->g, b->g.array[array], "attrs");
    for (uint32_t i = 0; cip_node_kind(attrs) == CIP_NODE_MAP && i < attrs->len; i++) {
        const cip_pair *p = &attrs->pair[i];
        if (b->axis[array].is_scale &&
            (cip_node_is_string(p->key, "CLASS") || cip_node_is_string(p->key, "NAME")))
            continue;
        CIP_TRY(put_pair(b, b->g.array[array], p, err));
    }
    return CIP_OK;
}

static cip_status put_group_attributes(builder *b, const char *dir, cip_err *err)
{
    const cip_node *node = cip_groups_node(&b->g, dir);
    size_t member;
    for (uint32_t i = 0; cip_node_kind(node) == CIP_NODE_SEQ && i < node->len; i++) {
        char number[24];
        const size_t n = (size_t)snprintf(number, sizeof number, "%" PRIu32, i);
        CIP_TRY(cip_groups_member(&b->g, dir, (cip_bytes){ (uint8_t *)number, n }, &member, err));
        if (member == SIZE_MAX)
            tell(b, dir, number, "this item is lost: its list becomes a group of datasets");
    }
    for (uint32_t i = 0; cip_node_kind(node) == CIP_NODE_MAP && i < node->len; i++) {
        const cip_pair *p = &node->pair[i];
        bool other = false;
        CIP_TRY(cip_groups_member_key(&b->g, dir, p->key, &member, err));
        if (member == SIZE_MAX)
            CIP_TRY(is_other(b, dir, p, &other, err));
        if (member == SIZE_MAX && !other)
            CIP_TRY(put_pair(b, dir, p, err));
    }
    return CIP_OK;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* The begin of a link message (IV.A.2.g) and its name. `order`: of creation. */
static cip_status put_link(builder *b, uint8_t kind, uint64_t order, cip_bytes name, size_t *from,
                           cip_err *err)
{
    cip_buf *out = &b->put.out;
    /* the name's length has 2 bytes; then order, kind and character set are there */
    CIP_TRY(cip_h5_put_message(&b->put, CIP_H5_LINK, 0, from, err));
    CIP_TRY(cip_buf_add(out, "\1\x1d", 2, err));
    CIP_TRY(cip_h5_put_uint(out, kind, 1, err));
    CIP_TRY(cip_h5_put_uint(out, order, 8, err));
    CIP_TRY(cip_h5_put_uint(out, 1, 1, err));
    CIP_TRY(cip_h5_put_uint(out, name.len, 2, err));
    return cip_buf_add(out, name.ptr, name.len, err);
}

static cip_status put_other_links(builder *b, const cip_node *links, uint64_t order, cip_err *err)
{
    cip_buf *out = &b->put.out;
    for (uint32_t i = 0; i < links->len; i++) {
        const cip_node *key = links->pair[i].key;
        link_to to;
        size_t from;
        bool yes;
        CIP_TRY(as_link(b, links->pair[i].value, &to, &yes, err));
        CIP_TRY(put_link(b, to.kind, order + i, (cip_bytes){ (const uint8_t *)key->text, key->len },
                         &from, err));
        if (to.kind == CIP_H5_HARD) {
            CIP_TRY(cip_h5_put_uint(out, b->at[to.object], 8, err));
            CIP_TRY(cip_h5_put_message_end(&b->put, from, err));
            continue;
        }
        const size_t n = strlen(to.path), own = to.file != NULL ? strlen(to.file) + 1 : 0;
        CIP_TRY(cip_h5_put_uint(out, to.file != NULL ? 1 + own + n + 1 : n, 2, err));
        if (to.file != NULL) {
            CIP_TRY(cip_h5_put_uint(out, 0, 1, err));
            CIP_TRY(cip_buf_add(out, to.file, own, err));
        }
        CIP_TRY(cip_buf_add(out, to.path, n + (to.file != NULL), err));
        CIP_TRY(cip_h5_put_message_end(&b->put, from, err));
    }
    return CIP_OK;
}

/* A member of a group: its place in the mapping, behind all where it has none there. */
typedef struct child {
    size_t parent, place, object;
} child;

static int by_place(const void *a, const void *b)
{
    const child *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

/* All members, those of each group in the order of the tree. */
static cip_status find_children(builder *b, child **out, size_t *n, cip_err *err)
{
    const size_t narray = b->w->spec->narray;
    child *c;
    *n = narray + b->g.n - 1;
    CIP_TRY(CIP_ARENA_NEW(b->w->arena, &c, *n, err));
    cip_strmap place = { .mem = &b->w->env->mem }; /* of what the trees of groups have */
    cip_status st = CIP_OK;
    for (size_t i = 0; i < b->g.n; i++) {
        const cip_node *node = cip_groups_node(&b->g, b->g.group[i]);
        for (uint32_t k = 0; cip_node_kind(node) == CIP_NODE_MAP && k < node->len; k++) {
            size_t at;
            CIP_GO(cip_groups_member_key(&b->g, b->g.group[i], node->pair[k].key, &at, err));
            if (at == SIZE_MAX)
                continue;
            const char *dir = dir_of(b, at);
            CIP_GO(cip_strmap_put(&place, (cip_bytes){ (const uint8_t *)dir, strlen(dir) }, k, NULL,
                                  err));
        }
    }
    for (size_t i = 0; i < *n; i++) {
        const size_t object = i < narray ? i : i + 1; /* the root lies nowhere */
        const char *dir = dir_of(b, object);
        const size_t in = (size_t)((const char *)last_name(dir).ptr - dir);
        c[i] = (child){ cip_strmap_get(&b->g.known, (cip_bytes){ (const uint8_t *)dir, in }),
                        cip_strmap_get(&place, (cip_bytes){ (const uint8_t *)dir, strlen(dir) }),
                        object };
        if (in == 0)
            c[i].parent = narray; /* the root */
    }
    qsort(c, *n, sizeof *c, by_place);
    *out = c;
done:
    cip_strmap_clear(&place);
    return st;
}

static cip_status put_group(builder *b, size_t group, const child *c, size_t n, cip_err *err)
{
    const char *dir = b->g.group[group];
    const cip_node *node = cip_groups_node(&b->g, dir);
    cip_buf *out = &b->put.out;
    uint64_t order = n;
    const cip_node *links = NULL;
    size_t from, head;
    for (uint32_t i = 0; cip_node_kind(node) == CIP_NODE_MAP && i < node->len; i++) {
        bool yes;
        CIP_TRY(is_links(b, dir, &node->pair[i], &yes, err));
        links = yes ? node->pair[i].value : links;
    }
    order += links != NULL ? links->len : 0;
    CIP_TRY(cip_h5_put_object(&b->put, &head, err));
    /* links lie in the header, and the order of their creation is kept */
    CIP_TRY(cip_h5_put_message(&b->put, CIP_H5_LINK_INFO, 0, &from, err));
    CIP_TRY(cip_buf_add(out, "\0\3", 2, err));
    CIP_TRY(cip_h5_put_uint(out, order, 8, err));
    for (int i = 0; i < 3; i++)
        CIP_TRY(cip_h5_put_uint(out, CIP_H5_NONE, 8, err));
    CIP_TRY(cip_h5_put_message_end(&b->put, from, err));
    CIP_TRY(cip_h5_put_message(&b->put, GROUP_INFO, 1, &from, err));
    CIP_TRY(cip_buf_add(out, "\0\0", 2, err));
    CIP_TRY(cip_h5_put_message_end(&b->put, from, err));
    for (size_t i = 0; i < n; i++) {
        CIP_TRY(put_link(b, CIP_H5_HARD, i, last_name(dir_of(b, c[i].object)), &from, err));
        CIP_TRY(cip_h5_put_uint(out, b->at[c[i].object], 8, err));
        CIP_TRY(cip_h5_put_message_end(&b->put, from, err));
    }
    if (links != NULL)
        CIP_TRY(put_other_links(b, links, n, err));
    CIP_TRY(put_group_attributes(b, dir, err));
    return cip_h5_put_object_end(&b->put, head, err);
}

/* --- datasets --------------------------------------------------------------------------------- */

static cip_status put_filters(cip_h5_put *p, const cip_h5_new *d, cip_err *err)
{
    size_t from;
    CIP_TRY(cip_h5_put_message(p, CIP_H5_FILTERS, 1, &from, err));
    CIP_TRY(cip_h5_put_uint(&p->out, 2, 1, err));
    CIP_TRY(cip_h5_put_uint(&p->out, d->pipe.n, 1, err));
    for (uint32_t i = 0; i < d->pipe.n; i++) {
        const cip_h5_filter *f = d->pipe.filter[i];
        const size_t n = f->id >= 256 ? strlen(f->name) + 1 : 0;
        CIP_TRY(cip_h5_put_uint(&p->out, f->id, 2, err));
        if (f->id >= 256)
            CIP_TRY(cip_h5_put_uint(&p->out, n, 2, err));
        CIP_TRY(cip_h5_put_uint(&p->out, f->id != CIP_H5_FLETCHER32, 2, err)); /* optional */
        CIP_TRY(cip_h5_put_uint(&p->out, f->n, 2, err));
        CIP_TRY(cip_buf_add(&p->out, f->name, n, err));
        for (uint32_t k = 0; k < f->n; k++)
            CIP_TRY(cip_h5_put_uint(&p->out, f->value[k], 4, err));
    }
    return cip_h5_put_message_end(p, from, err);
}

static cip_status put_layout(cip_h5_put *p, const cip_h5_new *d, uint64_t index, cip_err *err)
{
    size_t from;
    uint64_t n = d->dtype->itemsize;
    CIP_TRY(cip_h5_put_message(p, CIP_H5_LAYOUT, 0, &from, err));
    CIP_TRY(cip_buf_add(&p->out, d->chunked ? "\3\2" : "\3\1", 2, err));
    if (!d->chunked) {
        for (int32_t k = 0; k < d->array->ndim; k++)
            n *= (uint64_t)d->array->shape[k]; /* checked when it began */
        CIP_TRY(cip_h5_put_uint(&p->out, n != 0 ? d->at : CIP_H5_NONE, 8, err));
        CIP_TRY(cip_h5_put_uint(&p->out, n, 8, err));
        return cip_h5_put_message_end(p, from, err);
    }
    CIP_TRY(cip_h5_put_uint(&p->out, (uint64_t)d->array->ndim + 1, 1, err));
    CIP_TRY(cip_h5_put_uint(&p->out, index, 8, err));
    for (int32_t k = 0; k < d->array->ndim; k++)
        CIP_TRY(cip_h5_put_uint(&p->out, (uint64_t)d->chunk[k], 4, err));
    CIP_TRY(cip_h5_put_uint(&p->out, n, 4, err));
    return cip_h5_put_message_end(p, from, err);
}

/* The names of an enumeration's values, or NULL. */
static const cip_node *enum_names(const builder *b, size_t array)
{
    const cip_node *names = cip_groups_said(&b->g, b->g.array[array], "enums");
    return cip_h5_names_values(names, b->w->dataset[array].dtype) ? names : NULL;
}

static cip_status put_dataset(builder *b, size_t array, cip_err *err)
{
    const cip_h5_new *d = &b->w->dataset[array];
    cip_h5_put *p = &b->put;
    size_t from, head;
    uint64_t index = CIP_H5_NONE;
    if (d->chunked)
        CIP_TRY(cip_h5_put_btree(p, d, &index, err));
    CIP_TRY(cip_h5_put_object(p, &head, err));
    b->at[array] = p->base + head;
    CIP_TRY(cip_h5_put_message(p, CIP_H5_DATASPACE, 0, &from, err));
    CIP_TRY(cip_h5_put_shape(&p->out, d->array->ndim, d->array->shape, err));
    CIP_TRY(cip_h5_put_message_end(p, from, err));
    CIP_TRY(cip_h5_put_message(p, CIP_H5_DATATYPE, 1, &from, err));
    CIP_TRY(cip_h5_put_type(&p->out, d->dtype, enum_names(b, array), err));
    CIP_TRY(cip_h5_put_message_end(p, from, err));
    /* zeros where no chunk is; room for chunks is made as they come, for other data late */
    CIP_TRY(cip_h5_put_message(p, CIP_H5_FILL, 1, &from, err));
    CIP_TRY(cip_buf_add(&p->out, d->chunked ? "\3\x0b" : "\3\x0a", 2, err));
    CIP_TRY(cip_h5_put_message_end(p, from, err));
    if (d->pipe.n != 0)
        CIP_TRY(put_filters(p, d, err));
    CIP_TRY(put_layout(p, d, index, err));
    CIP_TRY(put_axes(b, array, err));
    CIP_TRY(put_attributes(b, array, err));
    return cip_h5_put_object_end(p, head, err);
}

/* --- all of it -------------------------------------------------------------------------------- */

static cip_status put_all(builder *b, const child *c, size_t n, cip_err *err)
{
    const size_t narray = b->w->spec->narray;
    size_t k = 0;
    b->put.out.len = b->put.heap.len = b->put.collection = 0;
    for (size_t i = 0; i < b->g.n; i++) {
        const size_t from = k;
        while (k < n && c[k].parent == narray + i)
            k++;
        const uint64_t at = (cip_h5_put_at(&b->put) + 7) / 8 * 8;
        b->at[narray + i] = at;
        CIP_TRY(cip_fail_in(err, put_group(b, i, c + from, k - from, err), "%s", b->g.group[i]));
    }
    for (size_t i = 0; i < narray; i++)
        CIP_TRY(cip_fail_in(err, put_dataset(b, i, err), "%s", b->g.array[i]));
    CIP_TRY(cip_buf_fill(&b->put.out, 0, (8 - b->put.out.len % 8) % 8, err));
    CIP_TRY(cip_h5_put_heap_end(&b->put, err));
    b->put.heap_at = cip_h5_put_at(&b->put);
    return CIP_OK;
}

static cip_status write_all(builder *b, const child *c, size_t n, cip_revision *r, cip_err *err)
{
    cip_out *out = b->w->out;
    CIP_TRY(cip_out_fill(out, 0, (8 - out->n % 8) % 8, err));
    b->put.base = out->n;
    CIP_TRY(put_all(b, c, n, err)); /* the addresses */
    CIP_TRY(put_all(b, c, n, err));
    CIP_TRY(cip_out_write(out, b->put.out.ptr, b->put.out.len, err));
    CIP_TRY(cip_out_write(out, b->put.heap.ptr, b->put.heap.len, err));
    cip_h5_put_superblock(b->at[b->w->spec->narray], out->n, b->w->superblock);
    return cip_patch_bytes(&r->patch, 0, b->w->superblock, CIP_H5_SUPERBLOCK, err);
}

/* What of the tree has no place. */
static cip_status tell_all(builder *b, cip_err *err)
{
    const cip_spec *spec = b->w->spec;
    const cip_tree_rest rest = { .origin = spec->tree != NULL && spec->origin_keys != NULL };
    for (size_t i = 0; i < b->g.n; i++)
        CIP_TRY(put_group_attributes(b, b->g.group[i], err));
    for (size_t i = 0; i < spec->narray; i++)
        CIP_TRY(put_attributes(b, i, err));
    if (cip_node_kind(spec->tree) > CIP_NODE_NULL && spec->tree->type < CIP_NODE_SEQ &&
        !cip_is_array_node(spec, spec->tree))
        tell(b, "", "", "the metadata tree is lost: it is no mapping");
    cip_tell_origin(spec, &rest, "HDF5 files", b->loss);
    return CIP_OK;
}

cip_status cip_h5_put_tree(cip_h5_writer *w, cip_revision *r, cip_report *loss, cip_err *err)
{
    cip_mem *mem = &w->env->mem;
    builder b = {
        .w = w,
        .g = { .spec = w->spec, .arena = w->arena, .dir = folder, .holds = any_attributes },
        .put = { .out = { .mem = mem }, .heap = { .mem = mem } },
        .loss = loss
    };
    child *c = NULL;
    size_t n = 0;
    cip_status st;
    CIP_GO(cip_groups_find(&b.g, err));
    CIP_GO(add_groups(&b, err));
    CIP_GO(find_axes(&b, err));
    CIP_GO(CIP_ARENA_NEW(w->arena, &b.at, w->spec->narray + b.g.n, err));
    if (loss != NULL) {
        CIP_GO(tell_all(&b, err));
    } else {
        CIP_GO(find_children(&b, &c, &n, err));
        CIP_GO(write_all(&b, c, n, r, err));
    }
done:
    cip_groups_clear(&b.g);
    cip_buf_clear(&b.put.out);
    cip_buf_clear(&b.put.heap);
    return st;
}
