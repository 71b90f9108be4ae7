/* SPDX-License-Identifier: BSD-3-Clause
 * Encoded blocks of 0.1: the chain's YAML in front of the payload read and taken apart when the
 * file is opened, and what the arrays of the tree say of a block where its chain says too little.
 * What is wrong with one costs that block only. */
#include <string.h>

#include "base/num.h"
#include "codec/codec_app.h"
#include "format/asdf/chain/asdf_chain.h"
#include "tree/yaml.h"

enum { FIRST_READ = 4096, NAME_MAX_SHOWN = 40, TRIES = 16 /* arrays looked at for a block */ };

/* --- the chain's text ----------------------------------------------------------------------- */

/* A little is read first, as most are short. */
cip_status cip_asdf_chain_stored(const asdf_file *f, const asdf_block *b, cip_arena *a,
                                 cip_bytes *out, cip_err *err)
{
    uint8_t *p;
    size_t n = (size_t)cip_min_u64(b->stored, FIRST_READ), len;
    CIP_TRY(cip_arena_get(a, n, (void **)&p, err));
    CIP_TRY(cip_io_read(f->layout->io, b->data_off, p, n, err));
    cip_status st = cip_asdf_chain_len((cip_bytes){ p, n }, &len, err);
    if (st != CIP_OK && b->stored > FIRST_READ) {
        n = (size_t)cip_min_u64(b->stored, ASDF_CHAIN_TEXT_MAX);
        CIP_TRY(cip_arena_get(a, n, (void **)&p, err));
        CIP_TRY(cip_io_read(f->layout->io, b->data_off, p, n, err));
        st = cip_asdf_chain_len((cip_bytes){ p, n }, &len, err);
    }
    CIP_TRY(st);
    *out = (cip_bytes){ p, len };
    return CIP_OK;
}

static cip_status add_name(cip_buf *text, const cip_node *n, cip_err *err)
{
    if (n->type == CIP_NODE_SEQ && n->len != 0)
        n = n->item[0];
    const char *name = n->type == CIP_NODE_STRING ? n->text : "?";
    return cip_buf_addf(text, err, "%s%.*s", text->len != 0 ? "+" : "", NAME_MAX_SHOWN, name);
}

/* "tile+quantize+zlib", whatever the names are. */
static cip_status name_of(cip_layout *l, const cip_node *root, const char **out, cip_err *err)
{
    cip_buf text = { .mem = &l->env->mem };
    cip_status st = CIP_OK;
    bool list = root->type == CIP_NODE_SEQ;
    *out = "none";
    if (list && root->len == 0)
        return CIP_OK;
    if (!list)
        CIP_GO(add_name(&text, root, err));
    for (uint32_t i = 0; list && i < root->len && i < ASDF_CHAIN_STEPS; i++)
        CIP_GO(add_name(&text, root->item[i], err));
    st = cip_arena_copy(&l->arena, text.ptr, text.len, (char **)out, err);
done:
    cip_buf_clear(&text);
    return st;
}

/* --- what arrays say ------------------------------------------------------------------------ */

/* What is known of the blocks of a file from the arrays that use them. */
typedef struct survey {
    asdf_file *f;     /* whose blocks */
    const char *uri;  /* of a file without a tree: what the other file calls it; else NULL */
    asdf_user **user; /* as many as blocks */
} survey;

/* Fills a hint from an ndarray; what cannot be had stays unknown. */
static void take_hint(asdf_file *f, const cip_node *n, asdf_user *u)
{
    const cip_node *type = cip_asdf_datatype_of(f, n), *shape = cip_map_get(n, "shape");
    const cip_node *order = cip_map_get(n, "byteorder");
    const cip_dtype *dtype;
    bool big = false;
    u->hint = (asdf_chain_hint){ .ndim = -1 };
    if (order != NULL && cip_asdf_byteorder(order, &big, NULL) != CIP_OK)
        return;
    u->hint.big = big;
    if (type == NULL || cip_asdf_datatype(f, type, big, &dtype, NULL) != CIP_OK)
        return;
    u->itemsize = dtype->itemsize;
    if (dtype->kind == CIP_F32 || dtype->kind == CIP_F64)
        u->hint.float_size = dtype->itemsize;
    if (cip_node_kind(shape) != CIP_NODE_SEQ || shape->len > CIP_MAX_NDIM)
        return;
    for (uint32_t i = 0; i < shape->len; i++)
        if (!cip_node_as_int(shape->item[i], &u->shape[i]) || u->shape[i] < 0)
            return;
    u->hint.ndim = (int32_t)shape->len;
    u->hint.shape = u->shape;
}

/* The first array that has all of the block's bytes counts, or else the first. */
static int visit(void *user, const cip_visit *v)
{
    survey *s = user;
    const cip_node *source = v->again ? NULL : cip_asdf_source_of(v->node);
    uint64_t i = UINT64_MAX, n;
    if (source != NULL && s->uri == NULL)
        i = cip_asdf_block_of(source, s->f->blocks.n);
    else if (cip_node_kind(source) == CIP_NODE_STRING) {
        const size_t len = strlen(s->uri);
        if (strcspn(source->text, "#") == len && memcmp(source->text, s->uri, len) == 0)
            i = 0;
    }
    if (i >= s->f->blocks.n || !cip_asdf_is_encoded(&s->f->blocks.at[i]))
        return v->again;
    asdf_user *u = s->user[i], now = { .tries = u->tries + 1 };
    if (u->covers || u->tries == TRIES)
        return 0;
    take_hint(s->f, v->node, &now);
    now.covers = now.hint.ndim >= 0 && cip_shape_nelem(now.hint.ndim, now.shape, &n) &&
                 !cip_mul_overflow(n, now.itemsize, &n) && n == s->f->blocks.at[i].data_size;
    if (now.covers || u->tries == 0)
        *u = now;
    u->hint.shape = u->shape;
    u->tries = now.tries;
    return 0;
}

/* One walk for all blocks, when the first needs it; a tree too large to walk says nothing. */
static cip_status find_users(asdf_file *f, cip_err *err)
{
    const cip_layout *l = f->layout;
    survey s = { .f = f };
    const cip_node *tree = l->tree;
    CIP_TRY(CIP_ARENA_NEW(&f->layout->arena, &s.user, f->blocks.n, err));
    for (size_t i = 0; i < f->blocks.n; i++) {
        if (!cip_asdf_is_encoded(&f->blocks.at[i]))
            continue;
        CIP_TRY(CIP_ARENA_NEW(&f->layout->arena, &s.user[i], 1, err));
        s.user[i]->hint.ndim = -1;
    }
    f->user = s.user;
    if (tree == NULL && l->parent != NULL) { /* opened for its block alone */
        s.uri = l->uri;
        tree = l->parent->tree;
    }
    if (tree == NULL)
        return CIP_OK;
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_tree_walk(tree, f->env, visit, &s, &why);
    return st == CIP_ERR_NOMEM ? cip_err_give(err, &why, st) : CIP_OK;
}

/* --- blocks --------------------------------------------------------------------------------- */

static cip_status decoded(asdf_file *f, size_t i, const cip_node *root, size_t text_len,
                          cip_block *cb, cip_err *err)
{
    cip_layout *l = f->layout;
    asdf_chain chain;
    cip_space *payload;
    CIP_TRY(cip_asdf_chain_parse(l->env, &l->arena, root, &chain, err));
    if (f->user == NULL)
        CIP_TRY(find_users(f, err));
    CIP_TRY(cip_space_new_sub(l, cb->stored, text_len, cb->stored->len - text_len, &payload, err));
    payload->label = cb->stored->label;
    return cip_asdf_chain_space(&chain, payload, f->blocks.at[i].data_size, &f->user[i]->hint,
                                &cb->data, err);
}

cip_status cip_asdf_make_encoded(asdf_file *f, size_t i, cip_block *cb, cip_err *err)
{
    cip_layout *l = f->layout;
    const asdf_block *b = &f->blocks.at[i];
    const cip_yaml_options opt = { .base = b->data_off, .part = cb->stored->label };
    const cip_node *root;
    cip_bytes text;
    cb->info.codec = "encoded";
    if (cip_asdf_is_streamed(b))
        return cip_fail(err, CIP_ERR_CORRUPT, b->offset + b->form->flags,
                        "expected a block that is either streamed or encoded, found both");
    CIP_TRY(cip_asdf_chain_stored(f, b, &l->arena, &text, err));
    CIP_TRY(cip_yaml_parse(f->env, &l->arena, text, &opt, &root, err));
    CIP_TRY(name_of(l, root, &cb->info.codec, err));
    return decoded(f, i, root, text.len, cb, err);
}

cip_status cip_asdf_make_coded(asdf_file *f, size_t i, const cip_codec_methods *m, cip_block *cb,
                               cip_err *err)
{
    cip_layout *l = f->layout;
    const asdf_block *b = &f->blocks.at[i];
    asdf_chain chain = { .n = 1 };
    cip_app_codec *app;
    cb->info.codec = m->name;
    if (cip_asdf_is_streamed(b))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, b->offset + b->form->code,
                        "expected a block of known length for the encoding '%.40s'", m->name);
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &app, 1, err));
    *app = (cip_app_codec){ m, "" };
    chain.step[0] = (asdf_step){
        .kind = ASDF_STEP_CODEC, .name = m->name, .codec = &cip_codec_app, .codec_args = app
    };
    return cip_asdf_chain_space(&chain, cb->stored, b->data_size, NULL, &cb->data, err);
}
