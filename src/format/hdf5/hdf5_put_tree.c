/* SPDX-License-Identifier: BSD-3-Clause
 * All metadata: groups with their links and attributes, datasets with theirs. A mapping of the tree
 * that holds no array is a group, too, as reading gives it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "format/hdf5/hdf5_put_impl.h"
#include "format/one_array.h"
#include "tree/utf8.h"

enum { GROUPS_DEEP = 100, GROUP_INFO = 0x0a };
/* --- names ------------------------------------------------------------------------------------ */

/* An array without a name is "data". Deeper groups would not be read. */
static cip_status folder(cip_arena *a, const char *path, char **out, cip_err *err)
{
    cip_bytes *step;
    size_t n;
    CIP_TRY(cip_path_split(a, path[0] != '\0' ? path : "data", &step, &n, err));
    if (n == 0 || n > GROUPS_DEEP)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.80s' cannot be the path of an HDF5 dataset", path);
    CIP_TRY(cip_arena_printf(a, out, err, "%s", ""));
    for (size_t i = 0; i < n; i++) {
        if (!cip_h5_is_name(step[i]))
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

static const char *dir_of(const cip_h5_builder *b, size_t object)
{
    const size_t narray = b->w->spec->narray;
    return object < narray ? b->g.array[object] : b->g.group[object - narray];
}

/* The group and the name of each array. */
static cip_status split_names(cip_h5_builder *b, cip_err *err)
{
    const size_t n = b->w->spec->narray;
    char *text;
    CIP_TRY(CIP_ARENA_NEW(b->w->arena, &b->parent, n, err));
    CIP_TRY(CIP_ARENA_NEW(b->w->arena, &b->name, n, err));
    for (size_t i = 0; i < n; i++) {
        const cip_bytes last = last_name(b->g.array[i]);
        const size_t in = (size_t)((const char *)last.ptr - b->g.array[i]);
        CIP_TRY(cip_arena_copy(b->w->arena, b->g.array[i], in, &text, err));
        b->parent[i] = text;
        CIP_TRY(cip_arena_copy(b->w->arena, last.ptr, last.len, &text, err));
        b->name[i] = text;
    }
    return CIP_OK;
}

/* --- groups that hold no array ---------------------------------------------------------------- */

/* Mappings become groups, from the root on; one with two names only where it is met first. */
static cip_status add_groups(cip_h5_builder *b, cip_err *err)
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
                !cip_h5_is_name((cip_bytes){ (const uint8_t *)p->key->text, p->key->len }) ||
                cip_h5_is_attribute(p->key, p->value) || /* a complex number */
                cip_strmap_get_ptr(&seen, p->value) != SIZE_MAX)
                continue;
            CIP_GO(cip_groups_member_key(&b->g, b->g.group[i], p->key, &member, err));
            if (member != SIZE_MAX)
                continue;
            CIP_GO(cip_h5_is_other(b, b->g.group[i], p, &other, err));
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

/* --- attributes ------------------------------------------------------------------------------- */

/* `d`: of the dataset's elements, or NULL. Some attributes have their type, so that what the CF
 * conventions and netCDF compare with them is of one. */
static cip_status put_pair(cip_h5_builder *b, const char *dir, const cip_pair *p,
                           const cip_dtype *d, cip_err *err)
{
    const cip_dtype *as = NULL;
    if (cip_h5_is_word(p->key, "_Netcdf4Dimid _Netcdf4Coordinates _nc3_strict"))
        as = cip_dtype_fixed(CIP_I32, false);
    else if (cip_h5_is_word(p->key, "_FillValue missing_value valid_min valid_max valid_range "
                                    "actual_range flag_values flag_masks"))
        as = d;
    if (cip_h5_is_attribute(p->key, p->value))
        return b->loss != NULL ? CIP_OK : cip_h5_put_attribute(&b->put, p->key, p->value, as, err);
    cip_groups_tell(b->loss, dir, p->key->text,
                    "this of the metadata is lost: an HDF5 attribute cannot hold it as it is");
    return CIP_OK;
}

/* Those of a dataset, but for what `cip_h5_put_axes` says. */
static cip_status put_attributes(cip_h5_builder *b, size_t array, cip_err *err)
{
    const cip_spec_array *a = &b->w->spec->array[array];
    const bool number = a->dtype->kind >= CIP_I8 && a->dtype->kind <= CIP_F64;
    const cip_node *attrs;
    CIP_TRY(cip_h5_attributes_of(b, array, &attrs, err));
    for (uint32_t i = 0; attrs != NULL && i < attrs->len; i++) {
        const cip_pair *p = &attrs->pair[i];
        bool lost;
        if (!cip_h5_is_of_axes(&b->axis[array], a->ndim, p, &lost))
            CIP_TRY(put_pair(b, b->g.array[array], p, number ? a->dtype : NULL, err));
        else if (lost)
            cip_groups_tell(
                b->loss, b->g.array[array], p->key->text,
                "this attribute is lost: it says something else of the axes than `dims` does");
    }
    return CIP_OK;
}

static cip_status put_group_attributes(cip_h5_builder *b, const char *dir, cip_err *err)
{
    const cip_node *node = cip_groups_node(&b->g, dir);
    size_t member;
    for (uint32_t i = 0; cip_node_kind(node) == CIP_NODE_MAP && i < node->len; i++) {
        const cip_pair *p = &node->pair[i];
        bool other = false;
        CIP_TRY(cip_groups_member_key(&b->g, dir, p->key, &member, err));
        if (member == SIZE_MAX)
            CIP_TRY(cip_h5_is_other(b, dir, p, &other, err));
        if (member == SIZE_MAX && !other)
            CIP_TRY(put_pair(b, dir, p, NULL, err));
    }
    return CIP_OK;
}

/* What of a group has no place, besides attributes. */
static cip_status tell_group(cip_h5_builder *b, size_t group, cip_err *err)
{
    const char *dir = b->g.group[group];
    CIP_TRY(cip_groups_tell_lost(&b->g, dir, "HDF5 files", b->loss, err));
    for (int k = 0; k < CIP_H5_NSAID; k++) {
        const cip_node *map = b->said[group].map[k];
        for (uint32_t i = 0; map != NULL && i < map->len; i++) {
            bool yes;
            CIP_TRY(cip_h5_said_fits(b, dir, (cip_h5_said)k, &map->pair[i], &yes, err));
            if (!yes)
                cip_groups_tell(b->loss, dir, map->pair[i].key->text,
                                "what is said of it is lost: no dataset or link here can have it");
        }
    }
    return CIP_OK;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* The begin of a link message (IV.A.2.g) and its name. `order`: of creation. */
static cip_status put_link(cip_h5_builder *b, uint8_t kind, uint64_t order, cip_bytes name,
                           size_t *from, cip_err *err)
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

static cip_status put_other_links(cip_h5_builder *b, const char *dir, const cip_node *links,
                                  uint64_t *order, cip_err *err)
{
    cip_buf *out = &b->put.out;
    for (uint32_t i = 0; i < links->len; i++) {
        const cip_node *key = links->pair[i].key;
        cip_h5_link_to to;
        size_t from;
        bool yes;
        CIP_TRY(cip_h5_said_fits(b, dir, CIP_H5_LINKS, &links->pair[i], &yes, err));
        if (!yes)
            continue;
        CIP_TRY(cip_h5_as_link(b, links->pair[i].value, &to, &yes, err));
        CIP_TRY(put_link(b, to.kind, (*order)++,
                         (cip_bytes){ (const uint8_t *)key->text, key->len }, &from, err));
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
static cip_status find_children(cip_h5_builder *b, child **out, size_t *n, cip_err *err)
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

/* How many attributes there are is counted in it: none lie elsewhere. */
static cip_status put_attribute_info(cip_h5_put *p, cip_err *err)
{
    size_t from;
    CIP_TRY(cip_h5_put_message(p, CIP_H5_ATTRIBUTE_INFO, 4, &from, err));
    CIP_TRY(cip_buf_add(&p->out, "\0\0", 2, err));
    CIP_TRY(cip_h5_put_uint(&p->out, CIP_H5_NONE, 8, err));
    CIP_TRY(cip_h5_put_uint(&p->out, CIP_H5_NONE, 8, err));
    return cip_h5_put_message_end(p, from, err);
}

static cip_status put_group(cip_h5_builder *b, size_t group, const child *c, size_t n, cip_err *err)
{
    const char *dir = b->g.group[group];
    cip_buf *out = &b->put.out;
    uint64_t order = n;
    const cip_node *links = b->said[group].map[CIP_H5_LINKS];
    size_t from, head, info;
    CIP_TRY(cip_h5_put_object(&b->put, &head, err));
    /* links lie in the header, and the order of their creation is kept */
    CIP_TRY(cip_h5_put_message(&b->put, CIP_H5_LINK_INFO, 0, &info, err));
    CIP_TRY(cip_buf_add(out, "\0\3", 2, err));
    CIP_TRY(cip_h5_put_uint(out, 0, 8, err));
    for (int i = 0; i < 3; i++)
        CIP_TRY(cip_h5_put_uint(out, CIP_H5_NONE, 8, err));
    CIP_TRY(cip_h5_put_message_end(&b->put, info, err));
    CIP_TRY(cip_h5_put_message(&b->put, GROUP_INFO, 1, &from, err));
    CIP_TRY(cip_buf_add(out, "\0\0", 2, err));
    CIP_TRY(cip_h5_put_message_end(&b->put, from, err));
    CIP_TRY(put_attribute_info(&b->put, err));
    for (size_t i = 0; i < n; i++) {
        CIP_TRY(put_link(b, CIP_H5_HARD, i, last_name(dir_of(b, c[i].object)), &from, err));
        CIP_TRY(cip_h5_put_uint(out, b->at[c[i].object], 8, err));
        CIP_TRY(cip_h5_put_message_end(&b->put, from, err));
    }
    if (links != NULL)
        CIP_TRY(put_other_links(b, dir, links, &order, err));
    cip_store_u64(out->ptr + info + 2, order, false);
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

static cip_status put_dataset(cip_h5_builder *b, size_t array, cip_err *err)
{
    const cip_h5_new *d = b->w->dataset[array];
    cip_h5_put *p = &b->put;
    const cip_node *names;
    size_t from, head;
    uint64_t index = CIP_H5_NONE;
    CIP_TRY(cip_h5_said_of(b, array, CIP_H5_ENUMS, &names, err));
    if (d->chunked)
        CIP_TRY(cip_h5_put_btree(p, d, &index, err));
    CIP_TRY(cip_h5_put_object(p, &head, err));
    b->at[array] = p->base + head;
    CIP_TRY(cip_h5_put_message(p, CIP_H5_DATASPACE, 0, &from, err));
    CIP_TRY(cip_h5_put_shape(&p->out, d->array->ndim, d->array->shape, err));
    CIP_TRY(cip_h5_put_message_end(p, from, err));
    CIP_TRY(cip_h5_put_message(p, CIP_H5_DATATYPE, 1, &from, err));
    CIP_TRY(cip_h5_put_type(&p->out, d->dtype, names, err));
    CIP_TRY(cip_h5_put_message_end(p, from, err));
    /* zeros where no chunk is; room for chunks is made as they come, for other data late */
    CIP_TRY(cip_h5_put_message(p, CIP_H5_FILL, 1, &from, err));
    CIP_TRY(cip_buf_add(&p->out, d->chunked ? "\3\x0b" : "\3\x0a", 2, err));
    CIP_TRY(cip_h5_put_message_end(p, from, err));
    if (d->pipe.n != 0)
        CIP_TRY(put_filters(p, d, err));
    CIP_TRY(put_layout(p, d, index, err));
    CIP_TRY(put_attribute_info(p, err));
    CIP_TRY(cip_h5_put_axes(b, array, err));
    CIP_TRY(put_attributes(b, array, err));
    return cip_h5_put_object_end(p, head, err);
}

/* --- all of it -------------------------------------------------------------------------------- */

static cip_status put_all(cip_h5_builder *b, const child *c, size_t n, cip_err *err)
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

static cip_status write_all(cip_h5_builder *b, const child *c, size_t n, cip_revision *r,
                            cip_err *err)
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
static cip_status tell_all(cip_h5_builder *b, cip_err *err)
{
    const cip_spec *spec = b->w->spec;
    const cip_tree_rest rest = { .origin = spec->tree != NULL && spec->origin_keys != NULL };
    for (size_t i = 0; i < b->g.n; i++) {
        CIP_TRY(put_group_attributes(b, b->g.group[i], err));
        CIP_TRY(tell_group(b, i, err));
    }
    for (size_t i = 0; i < spec->narray; i++)
        CIP_TRY(put_attributes(b, i, err));
    if (cip_node_kind(spec->tree) > CIP_NODE_NULL && spec->tree->type < CIP_NODE_SEQ &&
        !cip_is_array_node(spec, spec->tree))
        cip_groups_tell(b->loss, "", "", "the metadata tree is lost: it is no mapping");
    cip_tell_origin(spec, &rest, "HDF5 files", b->loss);
    return CIP_OK;
}

cip_status cip_h5_put_tree(cip_h5_writer *w, cip_revision *r, cip_report *loss, cip_err *err)
{
    cip_mem *mem = &w->env->mem;
    cip_h5_builder b = { .w = w,
                         .g = { .spec = w->spec, .arena = w->arena, .dir = folder },
                         .put = { .out = { .mem = mem }, .heap = { .mem = mem } },
                         .loss = loss };
    child *c = NULL;
    size_t n = 0;
    cip_status st;
    CIP_GO(cip_groups_find(&b.g, err));
    CIP_GO(split_names(&b, err));
    CIP_GO(add_groups(&b, err));
    CIP_GO(cip_h5_find_said(&b, err));
    CIP_GO(cip_h5_find_axes(&b, err));
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
