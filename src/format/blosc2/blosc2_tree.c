/* SPDX-License-Identifier: BSD-3-Clause
 * A frame's metadata: the metalayers and vlmetalayers as a tree, the rest as facts. */
#include <stdio.h>

#include "base/num.h"
#include "format/blosc2/blosc2.h"
#include "tree/base64.h"
#include "tree/msgpack.h"
#include "tree/utf8.h"

enum {
    ALL_MAX = 64 << 20 /* bytes that all of them may take: many names may stand for one value */
};

/* --- nodes ------------------------------------------------------------------------------------ */

/* Values are msgpack, as python-blosc2 writes them, or whatever an application stored. */
static cip_status value_node(cip_layout *l, cip_bytes in, cip_node **out, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_msgpack_read(&l->arena, in, out, &why);
    if (st == CIP_ERR_NOMEM) {
        cip_err_pass(err, &why);
        return st;
    }
    return st == CIP_OK ? CIP_OK : cip_node_new_binary(&l->arena, in, out, err);
}

static cip_status text_node(cip_arena *a, cip_bytes in, cip_node **out, cip_err *err)
{
    return cip_utf8_is(in.ptr, in.len)
               ? cip_node_new_string(a, (const char *)in.ptr, in.len, out, err)
               : cip_node_new_binary(a, in, out, err);
}

static cip_status nd_node(cip_layout *l, const cip_b2_nd *nd, cip_node **out, cip_err *err)
{
    const struct {
        const char *key;
        const int64_t *len;
    } list[] = { { "shape", nd->shape }, { "chunkshape", nd->chunk }, { "blockshape", nd->block } };
    const size_t n = sizeof list / sizeof list[0];
    cip_arena *a = &l->arena;
    cip_node *v;
    CIP_TRY(cip_node_new_map(a, n + (nd->has_dtype ? 1 : 0), out, err));
    for (size_t i = 0; i < n; i++) {
        CIP_TRY(cip_node_new_seq(a, (size_t)nd->ndim, &v, err));
        v->style = CIP_STYLE_FLOW;
        for (int32_t k = 0; k < nd->ndim; k++) {
            cip_node *item;
            CIP_TRY(cip_node_new_int(a, list[i].len[k], &item, err));
            cip_node_set_item(v, (size_t)k, item);
        }
        CIP_TRY(cip_node_set_key(a, *out, i, list[i].key, v, err));
    }
    if (!nd->has_dtype)
        return CIP_OK;
    CIP_TRY(text_node(a, nd->dtype, &v, err));
    return cip_node_set_key(a, *out, n, "dtype", v, err);
}

static void spend(uint64_t *left, uint64_t n)
{
    *left -= cip_min_u64(*left, n);
}

/* What came of a value, as far as it is the value's fault: null, and a warning. */
static cip_status or_null(cip_layout *l, const cip_b2_meta *m, uint64_t at, cip_status st,
                          const cip_err *why, cip_node **out, cip_err *err)
{
    if (st == CIP_OK)
        return CIP_OK;
    if (st == CIP_ERR_NOMEM)
        return cip_fail(err, st, why->offset, "%s", why->text);
    CIP_TRY(cip_node_new_null(&l->arena, out, err));
    cip_warn_lack(l->env, CIP_LACKS_NODE, *out, st, at + m->at, "metalayers",
                  "the value of '%.*s' is left out: %.160s", (int)m->name.len,
                  (const char *)m->name.ptr, why->text);
    return CIP_OK;
}

static cip_status meta_node(cip_layout *l, const cip_b2_frame *f, const cip_b2_meta *m,
                            uint64_t *left, cip_node **out, cip_err *err)
{
    uint64_t before = l->env->mem.used;
    cip_err why = CIP_ERR_INIT;
    cip_status st = CIP_OK;
    if (m == f->nd_meta)
        return nd_node(l, &f->nd, out, err);
    if (m->value.len > *left)
        st = cip_fail(&why, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                      "expected a value of at most %" PRIu64 " bytes, found %zu", *left,
                      m->value.len);
    else
        st = value_node(l, m->value, out, &why);
    spend(left, l->env->mem.used - before);
    return or_null(l, m, f->base, st, &why, out, err);
}

static cip_status metas_node(cip_layout *l, const cip_b2_frame *f, uint64_t *left, cip_node **out,
                             cip_err *err)
{
    CIP_TRY(cip_node_new_map(&l->arena, f->meta.n, out, err));
    for (size_t i = 0; i < f->meta.n; i++) {
        const cip_b2_meta *m = &f->meta.at[i];
        cip_node *key, *v;
        CIP_TRY(text_node(&l->arena, m->name, &key, err));
        CIP_TRY(meta_node(l, f, m, left, &v, err));
        cip_node_set_pair(*out, i, key, v);
    }
    return CIP_OK;
}

/* --- vlmetalayers: each value is a chunk ------------------------------------------------------ */

/* Damaged ones are paid for as well. */
cip_status cip_b2_value_decode(cip_mem *mem, cip_bytes in, uint64_t *left, uint8_t **raw, size_t *n,
                               cip_err *err)
{
    const cip_codec_env env = { .mem = mem };
    cip_blosc_head h;
    *raw = NULL;
    CIP_TRY(cip_blosc_head_parse(in, &h, err));
    if (h.cbytes > in.len)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected a chunk of %" PRIu32 " bytes, found %zu", h.cbytes, in.len);
    uint64_t cost = (uint64_t)h.nbytes + h.cbytes;
    if (h.nbytes > CIP_B2_VALUE_MAX || cost > *left)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected values of at most %d bytes and %" PRIu64
                        " more in all, found %" PRIu32,
                        CIP_B2_VALUE_MAX, *left, h.nbytes);
    spend(left, cost);
    CIP_TRY(cip_mem_get(mem, h.nbytes, (void **)raw, err));
    *n = h.nbytes;
    cip_status st =
        cip_codec_blosc.decode(NULL, &env, (cip_bytes){ in.ptr, h.cbytes }, *raw, h.nbytes, err);
    if (st != CIP_OK) {
        cip_mem_put(mem, *raw);
        *raw = NULL;
    }
    return st;
}

static cip_status vlmetas_node(cip_layout *l, const cip_b2_frame *f, uint64_t *left, cip_node **out,
                               cip_err *err)
{
    CIP_TRY(cip_node_new_map(&l->arena, f->vlmeta.n, out, err));
    for (size_t i = 0; i < f->vlmeta.n; i++) {
        cip_node *key, *v;
        CIP_TRY(text_node(&l->arena, f->vlmeta.at[i].name, &key, err));
        uint8_t *raw = NULL;
        size_t n = 0;
        cip_err why = CIP_ERR_INIT;
        uint64_t before = l->env->mem.used;
        cip_status st =
            cip_b2_value_decode(&l->env->mem, f->vlmeta.at[i].value, left, &raw, &n, &why);
        if (st == CIP_OK)
            st = value_node(l, (cip_bytes){ raw, n }, &v, &why);
        cip_mem_put(&l->env->mem, raw);
        spend(left, l->env->mem.used - before);
        CIP_TRY(or_null(l, &f->vlmeta.at[i], f->base + f->h.frame_len - f->trailer.len, st, &why,
                        &v, err));
        cip_node_set_pair(*out, i, key, v);
    }
    return CIP_OK;
}

cip_status cip_b2_tree(cip_layout *l, const cip_b2_frame *f, const cip_node **out, cip_err *err)
{
    cip_node *map, *meta, *vlmeta;
    size_t n = (f->meta.n != 0 ? 1 : 0) + (f->vlmeta.n != 0 ? 1 : 0), i = 0;
    uint64_t left = cip_min_u64(ALL_MAX, l->env->limits.max_tree_bytes);
    CIP_TRY(cip_node_new_map(&l->arena, n, &map, err));
    if (f->meta.n != 0) {
        CIP_TRY(metas_node(l, f, &left, &meta, err));
        CIP_TRY(cip_node_set_key(&l->arena, map, i++, "meta", meta, err));
    }
    if (f->vlmeta.n != 0) {
        CIP_TRY(vlmetas_node(l, f, &left, &vlmeta, err));
        CIP_TRY(cip_node_set_key(&l->arena, map, i++, "vlmeta", vlmeta, err));
    }
    *out = map;
    return CIP_OK;
}

/* --- facts ------------------------------------------------------------------------------------ */

cip_status cip_b2_filter_fact(cip_layout *l, const uint8_t *filter, const uint8_t *meta,
                              cip_err *err)
{
    char text[CIP_BLOSC_FILTERS_TEXT];
    cip_blosc_filters_print(filter, meta, text);
    return cip_layout_add_fact(l, "filters", err, "%s", text);
}

static cip_status chunk_facts(cip_layout *l, const cip_b2_frame *f, cip_err *err)
{
    const char *sizes = f->h.chunksize == 0 ? "of different sizes" : NULL;
    if (sizes != NULL)
        CIP_TRY(cip_layout_add_fact(l, "chunks", err, "%" PRIu64 " %s", f->index.n, sizes));
    else
        CIP_TRY(cip_layout_add_fact(l, "chunks", err, "%" PRIu64 " of %" PRIu64 " bytes",
                                    f->index.n, f->h.chunksize));
    if (f->h.blocksize != 0)
        CIP_TRY(cip_layout_add_fact(l, "blocks", err, "%" PRIu64 " bytes", f->h.blocksize));
    if (f->h.vl)
        CIP_TRY(cip_layout_add_fact(l, "variable blocks", err, "yes"));
    return CIP_OK;
}

cip_status cip_b2_facts(cip_layout *l, const cip_b2_frame *f, cip_err *err)
{
    static const char *const split[] = { "always", "never", "auto", "forward-compat" };
    const cip_b2_partial *partial = &f->index.partial;
    CIP_TRY(cip_layout_add_fact(l, "kind", err, "%s%s", f->h.sparse ? "sparse" : "contiguous",
                                f->nd_meta != NULL ? " frame, n-d array" : " frame"));
    if (partial->kind != NULL)
        CIP_TRY(cip_layout_add_fact(l, "holds", err, "%s (%s): %s", partial->what, partial->kind,
                                    partial->none ? "no data" : "the chunks that were fetched"));
    if (cip_b2_store_kind_of(f) != NULL)
        CIP_TRY(cip_layout_add_fact(l, "holds", err, "%s", cip_b2_store_kind_of(f)->what));
    CIP_TRY(cip_layout_add_fact(l, "typesize", err, "%" PRIu64, f->h.typesize));
    CIP_TRY(chunk_facts(l, f, err));
    CIP_TRY(cip_layout_add_fact(l, "codec", err, "%s, level %u%s", cip_b2_codec_name(&f->h),
                                f->h.level, f->h.dict ? ", with dictionaries" : ""));
    CIP_TRY(cip_b2_filter_fact(l, f->h.filter, f->h.filter_meta, err));
    CIP_TRY(cip_layout_add_fact(l, "split", err, "%s", split[f->h.split]));
    const cip_b2_trailer *t = &f->trailer;
    static const size_t nbytes[] = { 0, 4, 8, 16 };
    char text[2 * 16 + 1] = "";
    if (t->fingerprint_type != 0) {
        size_t n = t->fingerprint_type < 4 ? nbytes[t->fingerprint_type] : 16;
        for (size_t i = 0; i < n; i++) /* right-aligned */
            snprintf(text + 2 * i, sizeof text - 2 * i, "%02x", t->fingerprint[16 - n + i]);
        CIP_TRY(
            cip_layout_add_fact(l, "fingerprint", err, "type %u: %s", t->fingerprint_type, text));
    }
    if (f->trailer.wrapped || f->index.document)
        CIP_TRY(cip_layout_add_fact(l, "layout", err, "document"));
    return CIP_OK;
}
