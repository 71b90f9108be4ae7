/* SPDX-License-Identifier: BSD-3-Clause
 * The sink of ASDF. The tree goes first when it can be known before the data: then blocks follow in
 * order. With inline data, or with arrays that come one by one, room is kept for it in front. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/asdf/asdf_write.h"

enum { ALIGN = 64, BEGUN = 1, DONE = 2 };

/* An array on its way out. */
typedef struct target {
    const cip_spec_array *s;
    const cip_dtype *stored;
    cip_where where;
    asdf_packing how;
    uint64_t nbytes, left; /* raw: in all, still to come */
    int64_t block;         /* of internal and streamed ones */
    const char *uri;       /* of external ones */
    size_t member;         /* and their number */
    cip_buf data;          /* of inline ones */
    int state;
} target;

typedef struct writer {
    cip_env *env;
    cip_arena *a;
    cip_spec spec;
    const asdf_standard *standard;
    asdf_sum sum;
    asdf_packing how;
    target **target;
    size_t n, cap;
    int64_t nblock;
    size_t nexternal;
    bool tree_last;
    bool yaml; /* arrays are inline where nothing else is said */
    const cip_node *tree;
    asdf_part main, beside;
    asdf_blockw block;
    size_t open; /* the array that data are taken for; SIZE_MAX: none */
} writer;

/* --- what cannot be held ------------------------------------------------------------------------
 */

static void lost(cip_report *r, cip_severity severity, const char *part, const char *what,
                 const char *why)
{
    cip_report_add(r, severity, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, part, "%s: %.120s", what,
                   why);
}

static bool is_rawarray(const cip_spec *spec)
{
    return spec->source_format != NULL && strcmp(spec->source_format, "rawarray") == 0;
}

static void check_tree(const cip_spec *spec, cip_report *loss)
{
    cip_node_type type = cip_node_kind(spec->tree);
    if (is_rawarray(spec)) {
        const cip_node *m = cip_map_get(spec->tree, "metadata");
        if (m != NULL && m->type == CIP_NODE_NULL)
            lost(loss, CIP_WARN, "metadata", "the trailing metadata are lost",
                 "they are too long to be kept");
    } else if (type != CIP_NODE_MAP && type != CIP_NODE_NULL && type != CIP_NODE_NONE &&
               !(type == CIP_NODE_STRING && spec->tree->len == 0)) {
        lost(loss, CIP_BAD, NULL, "the metadata tree cannot be written",
             "the root of an ASDF tree is a mapping");
    }
}

static void check_array(const asdf_standard *s, const cip_spec *spec, size_t i, cip_report *loss)
{
    const cip_spec_array *a = &spec->array[i];
    const char *fault = cip_asdf_type_fault(s, a->dtype);
    if (fault != NULL)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                       "%.80s cannot be written: %s", cip_dtype_name(a->dtype), fault);
    bool inline_record = a->where == CIP_WHERE_INLINE && a->dtype->kind == CIP_RECORD;
    if (a->masked && a->mask_value == NULL && (a->mask < 0 || inline_record))
        lost(loss, CIP_WARN, a->path, "the mask is lost",
             inline_record ? "inline records have none" : "it cannot be expressed");
}

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    const asdf_standard *s;
    size_t nstreamed = 0;
    CIP_TRY(cip_asdf_standard(spec->version, &s, err));
    check_tree(spec, loss);
    for (size_t i = 0; i < spec->narray; i++) {
        nstreamed += spec->array[i].where == CIP_WHERE_STREAMED;
        check_array(s, spec, i, loss);
    }
    if (nstreamed > 1)
        lost(loss, CIP_BAD, NULL, "more than one streamed array cannot be written",
             "only the last block of a file is streamed");
    return cip_report_status(loss, err);
}

/* --- arrays -------------------------------------------------------------------------------------
 */

static cip_status view_target(writer *w, target *t, cip_err *err)
{
    const target *of = t->s->of >= 0 && (size_t)t->s->of < w->n ? w->target[t->s->of] : NULL;
    if (of == NULL || of->where == CIP_WHERE_INLINE ||
        of->s->dtype->itemsize != of->stored->itemsize)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a view of an array that is stored as it is");
    t->where = of->where;
    t->block = of->block;
    t->uri = of->uri;
    t->nbytes = 0;
    return CIP_OK;
}

static cip_status place_target(writer *w, target *t, cip_err *err)
{
    char *uri;
    if (t->s->is_view)
        return view_target(w, t, err);
    switch (t->where) {
    case CIP_WHERE_INLINE:
        return CIP_OK;
    case CIP_WHERE_EXTERNAL:
        t->member = w->nexternal++;
        CIP_TRY(cip_asdf_member_name(w->a, w->main.out, t->member, true, &uri, err));
        t->uri = uri;
        return CIP_OK;
    default:
        t->block = w->nblock++;
        return CIP_OK;
    }
}

static cip_status count_bytes(target *t, cip_err *err)
{
    uint64_t n;
    if (!cip_shape_nelem(t->s->ndim, t->s->shape, &n) ||
        cip_mul_overflow(n, t->stored->itemsize, &n) || n > INT64_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an array of less than 2^63 bytes");
    t->nbytes = t->left = n;
    return CIP_OK;
}

/* A mask is stored the way its array is. */
static cip_where where_of(const writer *w, const cip_spec_array *s, const cip_spec_array *all,
                          size_t n)
{
    if (s->where != CIP_WHERE_DEFAULT)
        return s->where;
    if (w->yaml)
        return CIP_WHERE_INLINE;
    for (size_t i = 0; i < n; i++)
        if (s->is_mask && all[i].mask >= 0 && &all[all[i].mask] == s &&
            all[i].where == CIP_WHERE_INLINE)
            return CIP_WHERE_INLINE;
    return CIP_WHERE_INTERNAL;
}

static cip_status new_target(writer *w, const cip_spec_array *s, cip_where where, cip_plan *plan,
                             cip_err *err)
{
    target *t;
    CIP_TRY(CIP_ARENA_NEW(w->a, &t, 1, err));
    *t = (target){ .s = s, .where = where, .block = -1, .data = { .mem = &w->env->mem } };
    CIP_TRY(cip_asdf_stored_type(w->a, s->dtype, w->spec.big, &t->stored, err));
    const char *fault = cip_asdf_type_fault(w->standard, s->dtype);
    if (fault != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%.80s cannot be written: %s",
                        cip_dtype_name(s->dtype), fault);
    t->how = w->how;
    if (s->codec != NULL)
        CIP_TRY(cip_asdf_packing(s->codec, s->level, &t->how, err));
    CIP_TRY(count_bytes(t, err));
    if (t->nbytes == 0)
        CIP_TRY(cip_asdf_packing(NULL, 0, &t->how, err));
    CIP_TRY(place_target(w, t, err));
    if (w->n == w->cap) {
        size_t cap = w->cap == 0 ? 16 : 2 * w->cap;
        CIP_TRY(cip_mem_resize(&w->env->mem, (void **)&w->target, cap * sizeof(target *), err));
        w->cap = cap;
    }
    w->target[w->n++] = t;
    *plan = (cip_plan){ .dtype = t->stored };
    return CIP_OK;
}

/* --- the tree -----------------------------------------------------------------------------------
 */

static cip_status view_keys(const target *t, asdf_list *l, cip_err *err)
{
    const cip_nd *v = &t->s->view;
    const cip_node *strides;
    cip_node *n;
    if (!t->s->is_view)
        return CIP_OK;
    if (v->off != 0) {
        CIP_TRY(cip_node_new_uint(l->a, v->off, &n, err));
        CIP_TRY(cip_asdf_list_add(l, "offset", n, err));
    }
    if (cip_view_is_contiguous(v))
        return CIP_OK;
    CIP_TRY(cip_asdf_shape_node(l->a, v->ndim, v->stride, false, &strides, err));
    return cip_asdf_list_add(l, "strides", strides, err);
}

static cip_status ndarray_node(writer *w, cip_arena *a, const target *t, const cip_node **out,
                               cip_err *err);

static const target *mask_of(const writer *w, const target *t)
{
    bool has = t->s->masked && t->s->mask >= 0 && (size_t)t->s->mask < w->n;
    return has ? w->target[t->s->mask] : NULL;
}

/* Whether what is missing is null among inline data. */
static bool has_nulls(const writer *w, const target *t)
{
    const target *m = mask_of(w, t);
    return m != NULL && t->where == CIP_WHERE_INLINE && m->where == CIP_WHERE_INLINE;
}

static cip_status mask_key(writer *w, const target *t, asdf_list *l, cip_err *err)
{
    const cip_node *n = t->s->mask_value;
    const target *m = mask_of(w, t);
    if (n == NULL && m != NULL && !has_nulls(w, t))
        CIP_TRY(ndarray_node(w, l->a, m, &n, err));
    return n != NULL ? cip_asdf_list_add(l, "mask", n, err) : CIP_OK;
}

static cip_status source_key(writer *w, const target *t, asdf_list *l, cip_err *err)
{
    const target *m = NULL;
    const cip_node *data;
    cip_node *n;
    if (t->uri != NULL)
        return cip_asdf_list_text(l, "source", t->uri, err);
    if (t->where != CIP_WHERE_INLINE) {
        CIP_TRY(cip_node_new_int(l->a, t->where == CIP_WHERE_STREAMED ? -1 : t->block, &n, err));
        return cip_asdf_list_add(l, "source", n, err);
    }
    if (has_nulls(w, t) && t->s->dtype->kind != CIP_RECORD)
        m = mask_of(w, t);
    CIP_TRY(cip_asdf_inline_node(l->a, t->stored, t->s->ndim, t->s->shape, t->data.ptr,
                                 m != NULL ? m->data.ptr : NULL, &data, err));
    return cip_asdf_list_add(l, "data", data, err);
}

static cip_status ndarray_node(writer *w, cip_arena *a, const target *t, const cip_node **out,
                               cip_err *err)
{
    asdf_list l = { .a = a };
    const cip_node *type, *shape;
    cip_node *map;
    char *tag;
    CIP_TRY(cip_asdf_type_node(a, t->stored, &type, err));
    CIP_TRY(cip_asdf_shape_node(a, t->s->ndim, t->s->shape, t->where == CIP_WHERE_STREAMED, &shape,
                                err));
    CIP_TRY(cip_arena_printf(a, &tag, err, ASDF_TAGS "core/ndarray-%s", w->standard->ndarray));
    CIP_TRY(source_key(w, t, &l, err));
    CIP_TRY(mask_key(w, t, &l, err));
    CIP_TRY(cip_asdf_list_add(&l, "datatype", type, err));
    CIP_TRY(cip_asdf_list_text(&l, "byteorder", t->stored->big ? "big" : "little", err));
    CIP_TRY(cip_asdf_list_add(&l, "shape", shape, err));
    CIP_TRY(view_keys(t, &l, err));
    CIP_TRY(cip_asdf_list_map(&l, tag, CIP_STYLE_FLOW, &map, err));
    if (t->s->node != NULL)
        map->anchor = t->s->node->anchor;
    *out = map;
    return CIP_OK;
}

/* The node that an array takes the place of, or NULL where a new one is to be made. */
static const cip_node *node_of(const writer *w, const cip_spec_array *s)
{
    if (s->node != NULL)
        return s->node;
    if (w->tree == NULL || s->path == NULL || s->path[0] == '\0')
        return NULL;
    return cip_tree_get(w->tree, s->path, NULL);
}

/* What of a RawArray's tree is not in the array itself. */
static cip_status raw_tree(writer *w, cip_arena *a, const cip_node **out, cip_err *err)
{
    const cip_node *m = cip_map_get(w->tree, "metadata");
    asdf_list l = { .a = a };
    cip_node *map;
    if (m != NULL && m->type != CIP_NODE_NULL)
        CIP_TRY(cip_asdf_list_add(&l, "metadata", m, err));
    CIP_TRY(cip_asdf_list_map(&l, NULL, CIP_STYLE_BLOCK, &map, err));
    *out = map;
    return CIP_OK;
}

static cip_status all_text(writer *w, cip_buf *text, cip_err *err)
{
    cip_status st;
    cip_arena arena = { .mem = &w->env->mem };
    asdf_swap *swap = NULL;
    size_t n = 0;
    CIP_GO(cip_asdf_head_text(w->standard, text, err));
    CIP_GO(CIP_ARENA_NEW(&arena, &swap, w->n, err));
    if (is_rawarray(&w->spec))
        CIP_GO(raw_tree(w, &arena, &w->tree, err));
    for (size_t i = 0; i < w->n; i++) {
        const target *t = w->target[i];
        if (t->s->is_mask)
            continue;
        swap[n] = (asdf_swap){ .from = node_of(w, t->s), .path = t->s->path };
        CIP_GO(ndarray_node(w, &arena, t, &swap[n++].to, err));
    }
    st = cip_asdf_tree_text(w->env, w->standard, w->tree, swap, n, text, err);
done:
    cip_arena_clear(&arena);
    return st;
}

static cip_status write_text(writer *w, cip_err *err)
{
    cip_buf text = { .mem = &w->env->mem };
    cip_status st = all_text(w, &text, err);
    if (st == CIP_OK)
        st = w->tree_last ? cip_asdf_part_late_text(&w->main, &text, err)
                          : cip_asdf_part_text(&w->main, &text, w->nblock != 0, err);
    cip_buf_clear(&text);
    return st;
}

/* --- data ---------------------------------------------------------------------------------------
 */

static cip_status begin_beside(writer *w, const target *t, cip_err *err)
{
    char *name;
    cip_buf text = { .mem = &w->env->mem };
    CIP_TRY(cip_asdf_member_name(w->a, w->main.out, t->member, false, &name, err));
    cip_out *main = w->main.out;
    w->beside = (asdf_part){ .env = w->env, .align = w->main.align, .slack = w->main.slack };
    CIP_TRY(main->member(main->member_user, name, &w->beside.out, err));
    cip_status st = cip_asdf_head_text(w->standard, &text, err);
    if (st == CIP_OK)
        st = cip_asdf_tree_text(w->env, w->standard, NULL, NULL, 0, &text, err);
    if (st == CIP_OK)
        st = cip_asdf_part_text(&w->beside, &text, true, err);
    cip_buf_clear(&text);
    return st;
}

static asdf_part *part_of(writer *w, const target *t)
{
    return t->where == CIP_WHERE_EXTERNAL ? &w->beside : &w->main;
}

static cip_status begin_block(writer *w, const target *t, cip_err *err)
{
    asdf_part *p = part_of(w, t);
    w->block = (asdf_blockw){
        .env = w->env, .out = p->out, .align = w->main.align, .how = t->how, .sum = w->sum
    };
    return cip_asdf_blockw_begin(&w->block, t->where == CIP_WHERE_STREAMED ? ASDF_STREAMED : 0,
                                 err);
}

static cip_status begin_data(writer *w, size_t i, cip_err *err)
{
    target *t = w->target[i];
    w->open = i;
    t->state = BEGUN;
    if (t->where == CIP_WHERE_INLINE || t->s->is_view)
        return CIP_OK;
    if (t->where == CIP_WHERE_EXTERNAL)
        CIP_TRY(begin_beside(w, t, err));
    asdf_part *p = part_of(w, t);
    CIP_TRY(cip_asdf_part_block(p, err));
    CIP_TRY(begin_block(w, t, err));
    p->streamed = t->where == CIP_WHERE_STREAMED;
    p->at[p->n - 1] = w->block.at;
    return CIP_OK;
}

/* `again`: what did not become smaller may be asked for once more, to be stored as it is. */
static cip_status end_data(writer *w, bool *again, cip_err *err)
{
    target *t = w->target[w->open];
    bool larger = false;
    if (t->left != 0 && !t->s->is_view)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes more of '%.60s', found the end", t->left,
                        t->s->path != NULL ? t->s->path : "");
    if (t->where != CIP_WHERE_INLINE && !t->s->is_view) {
        asdf_part *p = part_of(w, t);
        CIP_TRY(cip_asdf_blockw_end(&w->block, &larger, err));
        if (larger && again != NULL) {
            *again = true;
            t->left = t->nbytes;
            CIP_TRY(cip_asdf_packing(NULL, 0, &t->how, err));
            CIP_TRY(cip_asdf_blockw_undo(&w->block, err));
            return begin_block(w, t, err);
        }
        if (t->where == CIP_WHERE_EXTERNAL)
            CIP_TRY(cip_asdf_part_end(p, err));
    }
    cip_asdf_part_clear(&w->beside);
    t->state = DONE;
    w->open = SIZE_MAX;
    return CIP_OK;
}

/* Makes array i the one that data are taken for; those before it are done, even without data. */
static cip_status advance(writer *w, size_t i, cip_err *err)
{
    size_t from = 0;
    if (w->open == i)
        return CIP_OK;
    if (w->open != SIZE_MAX) {
        from = w->open;
        CIP_TRY(end_data(w, NULL, err));
    }
    for (size_t k = from; k < i && k < w->n; k++) {
        if (w->target[k]->state == DONE)
            continue;
        CIP_TRY(begin_data(w, k, err));
        CIP_TRY(end_data(w, NULL, err));
    }
    return i < w->n ? begin_data(w, i, err) : CIP_OK;
}

/* --- the sink -----------------------------------------------------------------------------------
 */

/* A file that is called YAML is to be just that. */
static bool is_yaml(const cip_out *out)
{
    const char *dot = out->name != NULL ? strrchr(out->name, '.') : NULL;
    return dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static cip_status start(writer *w, cip_plan *plan, cip_err *err)
{
    const cip_spec *s = &w->spec;
    for (size_t i = 0; i < s->narray && !s->late; i++)
        w->tree_last = w->tree_last || s->array[i].where == CIP_WHERE_INLINE || w->yaml;
    for (size_t i = 0; i < s->narray && !s->late; i++)
        CIP_TRY(new_target(w, &s->array[i], where_of(w, &s->array[i], s->array, s->narray),
                           &plan[i], err));
    return w->tree_last ? CIP_OK : write_text(w, err);
}

static void clear(void *state)
{
    writer *w = state;
    cip_asdf_blockw_clear(&w->block);
    cip_asdf_part_clear(&w->main);
    cip_asdf_part_clear(&w->beside);
    for (size_t i = 0; i < w->n; i++)
        cip_buf_clear(&w->target[i]->data);
    cip_mem_put(&w->env->mem, w->target);
    w->target = NULL;
    w->n = 0;
}

static cip_status begin(cip_env *env, cip_arena *a, const cip_spec *spec, cip_out *out,
                        cip_plan *plan, void **state, cip_err *err)
{
    writer *w;
    CIP_TRY(CIP_ARENA_NEW(a, &w, 1, err));
    w->env = env;
    w->a = a;
    w->spec = *spec;
    w->tree = spec->tree;
    w->tree_last = spec->late;
    w->yaml = is_yaml(out);
    w->open = SIZE_MAX;
    w->main = (asdf_part){ .env = env,
                           .out = out,
                           .slack = spec->tree_slack,
                           .align = spec->align != 0 ? spec->align : ALIGN };
    if (out->rewrite == NULL || out->rewind == NULL || out->move == NULL || out->n != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected an empty output that can be changed");
    CIP_TRY(cip_asdf_align_check(spec->align, err));
    CIP_TRY(cip_asdf_standard(spec->version, &w->standard, err));
    CIP_TRY(cip_asdf_sum(spec->checksum, &w->sum, err));
    CIP_TRY(cip_asdf_packing(spec->codec, spec->level, &w->how, err));
    cip_status st = start(w, plan, err);
    if (st != CIP_OK)
        clear(w);
    else
        *state = w;
    return st;
}

static cip_status chunk(void *state, size_t array, uint64_t i, cip_bytes encoded,
                        uint64_t raw_nbytes, cip_err *err)
{
    writer *w = state;
    (void)i;
    if (array >= w->n || encoded.len != raw_nbytes || w->target[array]->state == DONE)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected arrays in order, unencoded");
    CIP_TRY(advance(w, array, err));
    target *t = w->target[array];
    if (raw_nbytes > t->left || t->s->is_view)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes of data, found %zu", t->left,
                        encoded.len);
    t->left -= raw_nbytes;
    if (t->where == CIP_WHERE_INLINE)
        return cip_buf_add(&t->data, encoded.ptr, encoded.len, err);
    return cip_asdf_blockw_write(&w->block, encoded.ptr, encoded.len, err);
}

static cip_status end(void *state, size_t array, bool *again, cip_err *err)
{
    writer *w = state;
    if (again != NULL)
        *again = false;
    if (array >= w->n || w->target[array]->state == DONE)
        return CIP_OK;
    CIP_TRY(advance(w, array, err));
    return end_data(w, again, err);
}

static cip_status add(void *state, const cip_spec_array *array, cip_plan *plan, cip_err *err)
{
    writer *w = state;
    CIP_TRY(advance(w, w->n, err));
    return new_target(w, array, where_of(w, array, NULL, 0), plan, err);
}

static cip_status tree(void *state, const cip_node *root, cip_err *err)
{
    writer *w = state;
    (void)err;
    w->tree = root;
    return CIP_OK;
}

static cip_status finish(void *state, cip_patch *patch, cip_err *err)
{
    writer *w = state;
    (void)patch;
    CIP_TRY(advance(w, w->n, err));
    if (w->tree_last)
        CIP_TRY(write_text(w, err));
    return cip_asdf_part_end(&w->main, err);
}

const cip_sink cip_asdf_sink = {
    .caps = CIP_SINK_PATCHES | CIP_SINK_LATE | CIP_SINK_TREE,
    .check = check,
    .begin = begin,
    .chunk = chunk,
    .end = end,
    .add = add,
    .tree = tree,
    .finish = finish,
    .clear = clear,
};
