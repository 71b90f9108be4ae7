/* SPDX-License-Identifier: BSD-3-Clause
 * The nodes of arrays, and the text of head and tree with them in it. */
#include <string.h>

#include "format/asdf/asdf_store.h"

static cip_status view_keys(const asdf_target *t, asdf_list *l, cip_err *err)
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

static const asdf_target *mask_of(const asdf_state *w, const asdf_target *t)
{
    bool has = t->s->masked && t->s->mask >= 0 && (size_t)t->s->mask < w->ntarget;
    return has ? w->target[t->s->mask] : NULL;
}

/* Whether what is missing is null among inline data. */
static bool has_nulls(const asdf_state *w, const asdf_target *t)
{
    const asdf_target *m = mask_of(w, t);
    return m != NULL && t->where == CIP_WHERE_INLINE && m->where == CIP_WHERE_INLINE;
}

static cip_status source_key(asdf_state *w, const asdf_target *t, asdf_list *l, cip_err *err)
{
    const asdf_target *m = NULL;
    const cip_node *data;
    cip_node *n;
    if (t->uri != NULL)
        return cip_asdf_list_text(l, "source", t->uri, err);
    if (t->where != CIP_WHERE_INLINE) {
        const bool last = t->where == CIP_WHERE_STREAMED && w->coming == NULL;
        CIP_TRY(cip_node_new_int(l->a, last ? -1 : t->block, &n, err));
        return cip_asdf_list_add(l, "source", n, err);
    }
    if (has_nulls(w, t) && t->s->dtype->kind != CIP_RECORD)
        m = mask_of(w, t);
    const asdf_elements e = { t->stored, t->s->ndim, t->s->shape, t->data.ptr,
                              m != NULL ? m->data.ptr : NULL };
    CIP_TRY(cip_asdf_inline_node(l->a, &e, &data, err));
    return cip_asdf_list_add(l, "data", data, err);
}

cip_status cip_asdf_target_node(asdf_state *w, cip_arena *a, const asdf_target *t,
                                const cip_node **out, cip_err *err)
{
    asdf_list l = { .a = a };
    const cip_node *type, *shape;
    cip_node *map;
    const char *tag;
    CIP_TRY(cip_asdf_type_node(a, t->stored, &type, err));
    CIP_TRY(cip_asdf_shape_node(a, t->s->ndim, t->s->shape, t->where == CIP_WHERE_STREAMED, &shape,
                                err));
    CIP_TRY(cip_asdf_core_tag(w->how.standard, "ndarray", w->how.standard->ndarray, a, &tag, err));
    CIP_TRY(source_key(w, t, &l, err));
    const cip_node *mask = t->s->mask_value;
    const asdf_target *m = mask_of(w, t);
    if (mask == NULL && m != NULL && !has_nulls(w, t))
        CIP_TRY(cip_asdf_target_node(w, a, m, &mask, err));
    if (mask != NULL)
        CIP_TRY(cip_asdf_list_add(&l, "mask", mask, err));
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

/* The codecs beyond the standard, each once: no more than there are arrays. */
static cip_status add_extensions(asdf_state *w, cip_arena *a, asdf_swap *swap, size_t *n,
                                 cip_err *err)
{
    for (const asdf_codec *c = cip_asdf_codecs; c->name != NULL; c++) {
        bool used = false;
        for (size_t i = 0; i < w->ntarget; i++)
            used = used || (w->target[i]->where != CIP_WHERE_INLINE && !w->target[i]->s->is_view &&
                            w->target[i]->how.packing.codec == c);
        asdf_swap x = { .path = "history/extensions/-" };
        if (used)
            CIP_TRY(cip_asdf_codec_extension(a, w->how.standard, w->root, c, &x.to, err));
        if (x.to != NULL)
            swap[(*n)++] = x;
    }
    return CIP_OK;
}

static cip_status all_text(asdf_state *w, cip_buf *text, cip_err *err)
{
    cip_status st;
    cip_arena arena = { .mem = &w->env->mem };
    asdf_swap *swap = NULL;
    size_t n = 0;
    const asdf_header *h = w->spec.from != NULL ? &cip_asdf_of(w->spec.from)->header : NULL;
    CIP_GO(cip_asdf_head_text(w->how.standard, text, err));
    for (size_t i = 0; h != NULL && !w->how.standard->early && i < h->ncomment; i++)
        if (h->comment[i][0] == '#' && strncmp(h->comment[i], "#ASDF", 5) != 0)
            CIP_GO(cip_buf_addf(text, err, "%s\n", h->comment[i]));
    CIP_GO(CIP_ARENA_NEW(&arena, &swap, 2 * w->ntarget, err));
    if (cip_asdf_is_rawarray(&w->spec)) { /* what of its tree is not in the array itself */
        const cip_node *m = cip_map_get(w->root, "metadata");
        asdf_list l = { .a = &arena };
        cip_node *map;
        if (m != NULL && m->type != CIP_NODE_NULL)
            CIP_GO(cip_asdf_list_add(&l, "metadata", m, err));
        CIP_GO(cip_asdf_list_map(&l, NULL, CIP_STYLE_BLOCK, &map, err));
        w->root = map;
    }
    for (size_t i = 0; i < w->ntarget; i++) {
        const asdf_target *t = w->target[i];
        if (t->s->is_mask)
            continue;
        swap[n] = (asdf_swap){ .from = t->s->node, .path = t->s->path };
        if (swap[n].from == NULL && w->root != NULL && t->s->path != NULL && t->s->path[0] != '\0')
            swap[n].from = cip_tree_get(w->root, t->s->path, NULL);
        CIP_GO(cip_asdf_target_node(w, &arena, t, &swap[n++].to, err));
    }
    CIP_GO(add_extensions(w, &arena, swap, &n, err));
    st = cip_asdf_tree_text(w->env, w->how.standard, w->root, (asdf_swaps){ swap, n }, text, err);
done:
    cip_arena_clear(&arena);
    return st;
}

cip_status cip_asdf_write_text(asdf_state *w, cip_err *err)
{
    cip_buf text = { .mem = &w->env->mem };
    cip_status st = all_text(w, &text, err);
    if (st == CIP_OK)
        st = w->tree_last ? cip_asdf_part_late_text(&w->main, &text, err)
                          : cip_asdf_part_text(&w->main, &text, w->nblock != 0, err);
    cip_buf_clear(&text);
    return st;
}
