/* SPDX-License-Identifier: BSD-3-Clause
 * The file as a tree: a group is a mapping of its links and its own attributes. What HDF5 keeps of
 * its datasets stands in mappings beside them: `attrs`, `dims` (names of axes), `enums`, and in
 * `links` are those that lead elsewhere; a key that a link has gets a "_" in front. Each object is
 * visited once, so circles end. */
#include <stdlib.h>

#include "format/hdf5/hdf5.h"
#include "tree/utf8.h"

enum { NCLASS = 4 };

/* An object that was seen. */
typedef struct seen {
    const char *path; /* from the root, with a "/" in front */
    const cip_node *node;
    cip_array *array;
} seen;

typedef struct builder {
    cip_h5_work *w;
    cip_layout *l;
    cip_strmap at; /* addresses to entries of `object` */
    seen *object;
    size_t n, cap;
    cip_h5_pointers refs;
    cip_buf path; /* of the object that is visited, as arrays have it */
} builder;

/* What becomes of one object: its node, and what its group keeps for it. */
typedef struct made {
    cip_node *node;
    cip_node *attrs, *dims, *enums; /* or NULL */
} made;

static cip_status visit(builder *b, uint64_t at, uint32_t depth, made *out, cip_err *err);

/* A fault of the content is a warning, and the object null; without the root there is nothing. */
static cip_status or_null(builder *b, cip_status st, const cip_err *why, cip_node **out,
                          cip_err *err)
{
    if (cip_is_passing(st) || b->n == 1)
        return cip_err_give(err, why, st);
    CIP_TRY(cip_node_new_null(&b->l->arena, out, err));
    CIP_TRY(cip_buf_nul(&b->path, err));
    cip_err told = CIP_ERR_INIT;
    cip_fail(&told, st, why->offset, "it cannot be read: %.160s", why->text);
    return cip_h5_left_out(b->w->f, *out, &told, (const char *)b->path.ptr, err);
}

static cip_status text_node(cip_arena *a, const char *text, cip_node **out, cip_err *err)
{
    return cip_node_new_string(a, text, strlen(text), out, err);
}

/* --- datasets --------------------------------------------------------------------------------- */

static cip_status describe(cip_arena *a, const cip_array *x, cip_node **out, cip_err *err)
{
    cip_node *v, *n;
    CIP_TRY(cip_node_new_map(a, 2, out, err));
    (*out)->style = CIP_STYLE_FLOW;
    CIP_TRY(text_node(a, x->st == CIP_OK ? cip_dtype_name(x->dtype) : "damaged", &v, err));
    CIP_TRY(cip_node_set_key(a, *out, 0, "datatype", v, err));
    CIP_TRY(cip_node_new_seq(a, (size_t)x->view.ndim, &v, err));
    v->style = CIP_STYLE_FLOW;
    for (int32_t k = 0; k < x->view.ndim; k++) {
        CIP_TRY(cip_node_new_int(a, x->view.shape[k], &n, err));
        cip_node_set_item(v, (size_t)k, n);
    }
    return cip_node_set_key(a, *out, 1, "shape", v, err);
}

static cip_status enum_names(cip_arena *a, const cip_h5_type *t, cip_node **out, cip_err *err)
{
    const cip_dtype *d;
    CIP_TRY(cip_h5_dtype(a, t, &d, err));
    CIP_TRY(cip_node_new_map(a, t->n, out, err));
    for (uint32_t i = 0; i < t->n; i++) {
        cip_node *v;
        uint64_t x = 0;
        for (uint64_t k = 0; k < d->itemsize; k++)
            x = x << 8 | t->member[i].value[d->big ? k : d->itemsize - 1 - k];
        const unsigned up = 64 - 8 * (unsigned)d->itemsize;
        CIP_TRY(d->kind >= CIP_U8 ? cip_node_new_uint(a, x, &v, err)
                                  : cip_node_new_int(a, (int64_t)(x << up) >> up, &v, err));
        CIP_TRY(cip_node_set_key(a, *out, i, t->member[i].name, v, err));
    }
    return CIP_OK;
}

/* Type, shape and place of the elements; what it says otherwise refuses the array. */
static cip_status fill_array(builder *b, const cip_h5_object *o, cip_array *x,
                             const cip_h5_type **type, cip_err *err)
{
    cip_arena *a = &b->l->arena;
    const cip_h5_message *space = cip_h5_find_message(o, CIP_H5_DATASPACE);
    const cip_h5_message *dtype = cip_h5_find_message(o, CIP_H5_DATATYPE);
    cip_h5_dataset *d;
    cip_h5_message m;
    int64_t shape[CIP_MAX_NDIM];
    if (space == NULL || dtype == NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, b->w->f->base + o->at,
                        "expected a dataset with a shape and a type");
    CIP_TRY(CIP_ARENA_NEW(a, &d, 1, err));
    d->path = x->path;
    CIP_TRY(cip_h5_own(b->w, space, &m, err));
    CIP_TRY(cip_h5_shape_read(b->w->f, m.data, m.at, &d->shape, err));
    memcpy(shape, d->shape.dim, sizeof d->shape.dim);
    CIP_TRY(cip_view_c_order(d->shape.rank, shape, 1, &x->view, err));
    CIP_TRY(cip_h5_own(b->w, dtype, &m, err));
    CIP_TRY(cip_h5_type_read(&b->w->arena, m.data, m.at, type, err));
    d->itemsize = (*type)->size;
    CIP_TRY(cip_h5_dataset_read(b->w, o, d, err));
    x->storage.chunk = d->layout == 2 ? d->chunk : NULL;
    x->storage.kind = d->layout == 2 ? CIP_STORAGE_CHUNKED : CIP_STORAGE_CONTIGUOUS;
    x->storage.nbytes = d->compact.len;
    if (d->layout == 0 || d->layout == 3) {
        x->storage.kind = CIP_STORAGE_OWN;
        x->storage.own = d->layout == 0 ? "compact" : "virtual";
    }
    if (d->shape.null)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "it is empty: its dataspace is null");
    const cip_h5_type *item = *type;
    int32_t rank = d->shape.rank;
    if (item->cls == CIP_H5_ARRAY) { /* its axes come behind the dataset's */
        for (uint32_t k = 0; k < item->n; k++)
            shape[rank++] = item->dim[k];
        item = item->base;
    }
    CIP_TRY(cip_h5_dtype(a, item, &x->dtype, err));
    if (x->dtype->itemsize == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, m.at, "expected elements with bytes, found none");
    CIP_TRY(cip_view_c_order(rank, shape, x->dtype->itemsize, &x->view, err));
    if (rank != d->shape.rank && x->storage.chunk != NULL) {
        int64_t *chunk;
        CIP_TRY(CIP_ARENA_NEW(a, &chunk, (size_t)rank, err));
        memcpy(chunk, shape, (size_t)rank * sizeof *chunk);
        memcpy(chunk, d->chunk, (size_t)d->shape.rank * sizeof *chunk);
        x->storage.chunk = chunk;
    }
    CIP_TRY(cip_h5_space(d, &x->space, &x->storage.codec, err));
    if (d->layout == 1 && d->at != CIP_H5_NONE) /* of chunks only their index tells */
        x->storage.nbytes = x->space->len;
    return CIP_OK;
}

static cip_status add_array(builder *b, const char *path, cip_array **out, cip_err *err)
{
    CIP_TRY(cip_layout_add_array(b->l, true, out, err));
    (*out)->layout = b->l;
    (*out)->path = path;
    (*out)->dtype = cip_dtype_fixed(CIP_U8, false);
    (*out)->storage = (cip_storage){ .kind = CIP_STORAGE_CONTIGUOUS, .codec = "none", .block = -1 };
    return CIP_OK;
}

/* --- names of axes ---------------------------------------------------------------------------- */

static bool is_scale(const cip_node *attrs)
{
    const cip_node *cls = attrs != NULL ? cip_map_get(attrs, "CLASS") : NULL;
    return cls != NULL && cip_node_is_string(cls, "DIMENSION_SCALE");
}

/* Axis k: the last name of the first scale in DIMENSION_LIST, its text in DIMENSION_LABELS, or one
 * of its own. References were entered in `refs` from `from` on. */
static cip_status axis_name(builder *b, const cip_node *attrs, int32_t k, const char *own,
                            size_t from, bool *known, cip_node **out, cip_err *err)
{
    cip_arena *a = &b->l->arena;
    const cip_node *list = cip_map_get(attrs, "DIMENSION_LIST");
    const cip_node *labels = cip_map_get(attrs, "DIMENSION_LABELS");
    const cip_node *of = NULL;
    if (list != NULL && list->type == CIP_NODE_SEQ && (uint32_t)k < list->len)
        of = list->item[k];
    if (of != NULL && of->type == CIP_NODE_SEQ && of->len != 0)
        for (size_t i = from; i < b->refs.n; i++)
            if (b->refs.at[i].node == of->item[0]) {
                const uint64_t at = b->refs.at[i].at;
                CIP_TRY(cip_node_new_string(a, "", 0, out, err));
                CIP_TRY(CIP_ARENA_ROOM(&b->w->arena, &b->refs.at, b->refs.n, &b->refs.cap, err));
                b->refs.at[b->refs.n++] = (cip_h5_pointer){ *out, at, true };
                *known = true;
                return CIP_OK;
            }
    if (labels != NULL && labels->type == CIP_NODE_SEQ && (uint32_t)k < labels->len &&
        labels->item[k]->type == CIP_NODE_STRING && labels->item[k]->len != 0) {
        *known = true;
        return text_node(a, labels->item[k]->text, out, err);
    }
    char *text;
    CIP_TRY(cip_arena_printf(a, &text, err, "%s_dim_%d", own, k));
    return text_node(a, text, out, err);
}

static cip_status axis_names(builder *b, const cip_array *x, const cip_node *attrs, size_t from,
                             cip_node **out, cip_err *err)
{
    const char *own = strrchr(x->path, '/');
    bool known = false;
    cip_node *item;
    *out = NULL;
    own = own != NULL ? own + 1 : x->path;
    if (attrs == NULL || x->view.ndim == 0)
        return CIP_OK;
    CIP_TRY(cip_node_new_seq(&b->l->arena, (size_t)x->view.ndim, out, err));
    (*out)->style = CIP_STYLE_FLOW;
    for (int32_t k = 0; k < x->view.ndim; k++) {
        if (x->view.ndim == 1 && is_scale(attrs)) {
            known = true;
            CIP_TRY(text_node(&b->l->arena, own, &item, err));
        } else
            CIP_TRY(axis_name(b, attrs, k, own, from, &known, &item, err));
        cip_node_set_item(*out, (size_t)k, item);
    }
    if (!known)
        *out = NULL;
    return CIP_OK;
}

/* Whether labels of axes say nothing but their names. */
static bool are_names(const cip_node *labels, const cip_node *dims)
{
    bool same = labels->type == CIP_NODE_SEQ && labels->len == dims->len;
    for (uint32_t k = 0; same && k < dims->len; k++) {
        const cip_node *x = labels->item[k];
        same = x->type == CIP_NODE_STRING &&
               (x->len == 0 || cip_node_is_string(dims->item[k], x->text));
    }
    return same;
}

/* The attributes without those that say nothing but what `dims` does. */
static cip_status without_scales(cip_arena *a, const cip_node *dims, cip_node **attrs, cip_err *err)
{
    cip_node *out;
    size_t n = 0;
    if (*attrs == NULL)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(a, (*attrs)->len, &out, err));
    for (uint32_t i = 0; i < (*attrs)->len; i++) {
        const cip_pair *p = &(*attrs)->pair[i];
        if (!cip_node_is_string(p->key, "DIMENSION_LIST") &&
            !cip_node_is_string(p->key, "REFERENCE_LIST") &&
            !(cip_node_is_string(p->key, "DIMENSION_LABELS") && are_names(p->value, dims)))
            cip_node_set_pair(out, n++, p->key, p->value);
    }
    out->len = (uint32_t)n;
    *attrs = n != 0 ? out : NULL;
    return CIP_OK;
}

static cip_status visit_dataset(builder *b, const cip_h5_object *o, size_t number, size_t from,
                                made *out, cip_err *err)
{
    cip_arena *a = &b->l->arena;
    const cip_h5_type *type = NULL;
    const int64_t none[1] = { 0 };
    cip_err why = CIP_ERR_INIT;
    cip_array *x;
    char *path;
    CIP_TRY(cip_arena_copy(a, b->path.ptr, b->path.len, &path, err));
    CIP_TRY(add_array(b, path, &x, err));
    CIP_TRY(cip_view_c_order(1, none, 1, &x->view, err));
    b->object[number].array = x;
    const cip_status st = fill_array(b, o, x, &type, &why);
    if (cip_is_passing(st))
        return cip_err_give(err, &why, st);
    if (st != CIP_OK) {
        x->dtype = cip_dtype_fixed(CIP_U8, false);
        cip_array_refuse(x, st, &why);
    }
    /* One that is not read is no node of the tree, so that a copy can do without it. */
    if (st != CIP_ERR_UNSUPPORTED)
        CIP_TRY(describe(a, x, &out->node, err));
    x->node = out->node;
    if (type != NULL && type->cls == CIP_H5_ENUM && !cip_h5_is_bool(type) && st == CIP_OK)
        CIP_TRY(enum_names(a, type, &out->enums, err));
    CIP_TRY(axis_names(b, x, out->attrs, from, &out->dims, err));
    if (out->dims != NULL)
        CIP_TRY(without_scales(a, out->dims, &out->attrs, err));
    x->attributes = out->attrs;
    return CIP_OK;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Pairs of a mapping that is made later. */
typedef struct pairs {
    cip_pair *at;
    size_t n, cap;
} pairs;

static cip_status add_pair(builder *b, pairs *p, const cip_node *key, const cip_node *value,
                           cip_err *err)
{
    CIP_TRY(CIP_ARENA_ROOM(&b->w->arena, &p->at, p->n, &p->cap, err));
    p->at[p->n++] = (cip_pair){ key, value };
    return CIP_OK;
}

static cip_status add_named(builder *b, pairs *p, const char *key, const cip_node *value,
                            cip_err *err)
{
    cip_node *k;
    if (value == NULL)
        return CIP_OK;
    CIP_TRY(text_node(&b->l->arena, key, &k, err));
    return add_pair(b, p, k, value, err);
}

static cip_status make_map(builder *b, const pairs *p, cip_node **out, cip_err *err)
{
    CIP_TRY(cip_node_new_map(&b->l->arena, p->n, out, err));
    for (size_t i = 0; i < p->n; i++)
        cip_node_set_pair(*out, i, p->at[i].key, p->at[i].value);
    return CIP_OK;
}

/* {kind: text} or {external: file, path: path}. */
static cip_status link_node(builder *b, const char *kind, const char *text, const char *path,
                            cip_node **out, cip_err *err)
{
    cip_arena *a = &b->l->arena;
    cip_node *v;
    CIP_TRY(cip_node_new_map(a, path != NULL ? 2 : 1, out, err));
    (*out)->style = CIP_STYLE_FLOW;
    CIP_TRY(text_node(a, text, &v, err));
    CIP_TRY(cip_node_set_key(a, *out, 0, kind, v, err));
    if (path == NULL)
        return CIP_OK;
    CIP_TRY(text_node(a, path, &v, err));
    return cip_node_set_key(a, *out, 1, "path", v, err);
}

typedef struct lists {
    pairs children, attrs, dims, enums, links;
} lists;

/* Another name of an object that was seen. A dataset is listed under it, too. */
static cip_status second_name(builder *b, const seen *s, const cip_h5_link *link, lists *k,
                              cip_err *err)
{
    const cip_array *first = s->array;
    const size_t len = b->path.len;
    const cip_bytes step = { (const uint8_t *)link->name, strlen(link->name) };
    cip_node *node;
    cip_array *x;
    char *path;
    if (first == NULL) {
        CIP_TRY(link_node(b, "hard", s->path, NULL, &node, err));
        return add_named(b, &k->links, link->name, node, err);
    }
    CIP_TRY(cip_path_add(&b->path, step, err));
    CIP_TRY(cip_arena_copy(&b->l->arena, b->path.ptr, b->path.len, &path, err));
    b->path.len = len;
    CIP_TRY(add_array(b, path, &x, err));
    *x = *first;
    x->path = path;
    x->same = first;
    return add_named(b, &k->children, link->name, first->node, err);
}

static cip_status visit_link(builder *b, const cip_h5_link *link, uint32_t depth, lists *k,
                             cip_err *err)
{
    uint8_t key[8];
    cip_node *node;
    made m = { .node = NULL };
    if (!cip_utf8_is((const uint8_t *)link->name, strlen(link->name))) {
        cip_warn_lack(b->l->env, CIP_LACKS_BYTES, NULL, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                      "groups", "a link is left out, since its name is no UTF-8");
        return CIP_OK;
    }
    if (link->kind != CIP_H5_HARD) {
        const bool soft = link->kind == CIP_H5_SOFT, outside = link->kind == CIP_H5_OUTSIDE;
        CIP_TRY(link_node(b,
                          soft      ? "soft"
                          : outside ? "external"
                                    : "unknown",
                          soft || link->file == NULL ? link->path : link->file,
                          outside ? link->path : NULL, &node, err));
        return add_named(b, &k->links, link->name, node, err);
    }
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(link->at >> 8 * i);
    const size_t was = cip_strmap_get(&b->at, (cip_bytes){ key, sizeof key });
    if (was != SIZE_MAX)
        return second_name(b, &b->object[was], link, k, err);
    const size_t len = b->path.len;
    const cip_bytes step = { (const uint8_t *)link->name, strlen(link->name) };
    CIP_TRY(cip_path_add(&b->path, step, err));
    cip_status st = visit(b, link->at, depth + 1, &m, err);
    b->path.len = len;
    CIP_TRY(st);
    CIP_TRY(add_named(b, &k->attrs, link->name, m.attrs, err));
    CIP_TRY(add_named(b, &k->dims, link->name, m.dims, err));
    CIP_TRY(add_named(b, &k->enums, link->name, m.enums, err));
    return add_named(b, &k->children, link->name, m.node, err);
}

/* A key that none of the pairs has: with a "_" in front where they have it. */
static cip_status add_free(builder *b, cip_strmap *taken, pairs *p, const cip_node *key,
                           const cip_node *value, cip_err *err)
{
    cip_node *k;
    char *text;
    size_t was;
    CIP_TRY(cip_arena_copy(&b->w->arena, key->text, key->len, &text, err));
    for (;;) {
        CIP_TRY(cip_strmap_put(taken, (cip_bytes){ (const uint8_t *)text, strlen(text) }, 1, &was,
                               err));
        if (was == SIZE_MAX)
            break;
        CIP_TRY(cip_arena_printf(&b->w->arena, &text, err, "_%s", text));
    }
    CIP_TRY(text_node(&b->l->arena, text, &k, err));
    return add_pair(b, p, k, value, err);
}

/* What stands beside the links, and the group's own attributes. */
static cip_status add_beside(builder *b, lists *k, const cip_node *own, cip_err *err)
{
    const struct {
        const char *key;
        const pairs *list;
    } beside[NCLASS] = {
        { "dims", &k->dims }, { "attrs", &k->attrs }, { "enums", &k->enums }, { "links", &k->links }
    };
    cip_strmap taken = { .mem = &b->l->env->mem };
    cip_node *key, *map;
    cip_status st = CIP_OK;
    for (size_t i = 0; i < k->children.n; i++) {
        const cip_node *name = k->children.at[i].key;
        CIP_GO(cip_strmap_put(&taken, (cip_bytes){ (const uint8_t *)name->text, name->len }, 1,
                              NULL, err));
    }
    for (size_t i = 0; i < NCLASS; i++) {
        if (beside[i].list->n == 0)
            continue;
        CIP_GO(make_map(b, beside[i].list, &map, err));
        CIP_GO(text_node(&b->l->arena, beside[i].key, &key, err));
        CIP_GO(add_free(b, &taken, &k->children, key, map, err));
    }
    for (uint32_t i = 0; own != NULL && i < own->len; i++)
        CIP_GO(add_free(b, &taken, &k->children, own->pair[i].key, own->pair[i].value, err));
done:
    cip_strmap_clear(&taken);
    return st;
}

static cip_status visit_group(builder *b, const cip_h5_object *o, uint32_t depth, made *out,
                              cip_err *err)
{
    const uint32_t most = b->l->env->limits.max_depth / 2;
    cip_h5_links links;
    cip_err why = CIP_ERR_INIT;
    lists k = { .children = { .n = 0 } };
    cip_status st = cip_h5_links_read(b->w, o, &links, &why);
    if (st == CIP_OK && depth >= most && links.n != 0)
        st = cip_fail(&why, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                      "expected groups at most %" PRIu32 " deep", most);
    if (st != CIP_OK)
        return or_null(b, st, &why, &out->node, err);
    for (size_t i = 0; i < links.n; i++)
        CIP_TRY(visit_link(b, &links.at[i], depth, &k, err));
    CIP_TRY(add_beside(b, &k, out->attrs, err));
    out->attrs = NULL;
    return make_map(b, &k.children, &out->node, err);
}

/* A datatype with a name of its own. */
static cip_status visit_type(builder *b, const cip_h5_object *o, made *out, cip_err *err)
{
    const cip_h5_message *m = cip_h5_find_message(o, CIP_H5_DATATYPE);
    const cip_h5_type *t;
    const cip_dtype *d = NULL;
    cip_err why = CIP_ERR_INIT;
    cip_node *v;
    cip_status st = m == NULL ? cip_fail(&why, CIP_ERR_UNSUPPORTED, b->w->f->base + o->at,
                                         "expected a group, a dataset or a datatype")
                              : cip_h5_type_read(&b->w->arena, m->data, m->at, &t, &why);
    if (st != CIP_OK)
        return or_null(b, st, &why, &out->node, err);
    st = cip_h5_dtype(&b->l->arena, t, &d, &why);
    CIP_TRY(text_node(&b->l->arena, st == CIP_OK ? cip_dtype_name(d) : why.text, &v, err));
    CIP_TRY(cip_node_new_map(&b->l->arena, 1, &out->node, err));
    return cip_node_set_key(&b->l->arena, out->node, 0, "datatype", v, err);
}

static cip_status visit(builder *b, uint64_t at, uint32_t depth, made *out, cip_err *err)
{
    cip_h5_object o;
    cip_err why = CIP_ERR_INIT;
    char *path, *key;
    uint8_t bytes[8];
    const size_t number = b->n, from = b->refs.n;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(at >> 8 * i);
    CIP_TRY(cip_arena_copy(&b->w->arena, bytes, sizeof bytes, &key, err));
    CIP_TRY(cip_strmap_put(&b->at, (cip_bytes){ (const uint8_t *)key, sizeof bytes }, number, NULL,
                           err));
    CIP_TRY(CIP_ARENA_ROOM(&b->w->arena, &b->object, b->n, &b->cap, err));
    CIP_TRY(cip_arena_printf(&b->l->arena, &path, err, "/%.*s", (int)b->path.len,
                             b->path.len != 0 ? (const char *)b->path.ptr : ""));
    b->object[b->n++] = (seen){ .path = path };
    cip_status st = cip_h5_object_read(b->w, at, &o, &why);
    if (st == CIP_OK)
        st = cip_h5_attributes(b->w, &o, path, &b->refs, &out->attrs, &why);
    if (st != CIP_OK)
        return or_null(b, st, &why, &out->node, err);
    if (cip_h5_find_message(&o, CIP_H5_LAYOUT) != NULL)
        return visit_dataset(b, &o, number, from, out, err);
    if (cip_h5_is_group(&o))
        return visit_group(b, &o, depth, out, err);
    return visit_type(b, &o, out, err);
}

/* The texts of references, now that all objects have their paths. */
static cip_status name_references(builder *b, cip_err *err)
{
    for (size_t i = 0; i < b->refs.n; i++) {
        const cip_h5_pointer *r = &b->refs.at[i];
        uint8_t key[8];
        char *copy;
        for (size_t k = 0; k < sizeof key; k++)
            key[k] = (uint8_t)(r->at >> 8 * k);
        const size_t found = cip_strmap_get(&b->at, (cip_bytes){ key, sizeof key });
        const char *text = found != SIZE_MAX ? b->object[found].path : "";
        if (r->last && strrchr(text, '/') != NULL)
            text = strrchr(text, '/') + 1;
        CIP_TRY(cip_arena_copy(&b->l->arena, text, strlen(text), &copy, err));
        r->node->text = copy;
        r->node->len = (uint32_t)strlen(text);
    }
    return CIP_OK;
}

cip_status cip_h5_left_out(const cip_h5 *f, const cip_node *node, const cip_err *why,
                           const char *part, cip_err *err)
{
    cip_h5 *own = f->layout->own;
    const cip_status st = (cip_status)why->code;
    if (node != NULL)
        cip_warn_lack(f->layout->env, CIP_LACKS_NODE, node, st, why->offset, part, "%s", why->text);
    else
        cip_warn(f->layout->env, st, why->offset, part, "%s", why->text);
    if (!cip_is_about_content(st) || st == CIP_ERR_UNSUPPORTED)
        return CIP_OK;
    CIP_TRY(CIP_ARENA_ROOM(&f->layout->arena, &own->damage, own->ndamage, &own->damage_cap, err));
    cip_err *kept = &own->damage[own->ndamage++];
    *kept = (cip_err)CIP_ERR_INIT;
    cip_fail(kept, st, why->offset, "%s", why->text);
    cip_fail_in(kept, st, "%s", part);
    return CIP_OK;
}

cip_status cip_h5_tree(cip_h5 *f, cip_err *err)
{
    cip_h5_work w = cip_h5_begin(f);
    builder b = { .w = &w,
                  .l = f->layout,
                  .at = { .mem = &f->layout->env->mem },
                  .path = { .mem = &f->layout->env->mem } };
    made root = { .node = NULL };
    cip_status st = visit(&b, f->root, 0, &root, err);
    if (st == CIP_OK)
        st = name_references(&b, err);
    if (st == CIP_OK)
        f->layout->tree = root.node;
    cip_strmap_clear(&b.at);
    cip_buf_clear(&b.path);
    cip_arena_clear(&w.arena);
    return st;
}
