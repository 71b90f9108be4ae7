/* SPDX-License-Identifier: BSD-3-Clause
 * A chain that arrays are to go through: taken from what a caller gives, compared with the array,
 * and put together as the YAML in front of a payload, with all arguments that a reader needs. */
#include <string.h>

#include "codec/codec_app.h"
#include "format/asdf/write/asdf_chain_write.h"
#include "format/asdf/write/asdf_write.h"
#include "tree/edit.h"

/* What nobody takes would be a wrong word that goes unnoticed: {qualty: 100}. */
static cip_status check_arguments(const asdf_step *s, cip_err *err)
{
    static const char *const known[][5] = {
        [ASDF_STEP_TILE] = { "shape", "original_shape", "item_size" },
        [ASDF_STEP_QUANTIZE] = { "quality", "bits", "dtype", "original_shape" },
        [ASDF_STEP_CODEC] = { NULL }
    };
    const size_t n = s->codec != &cip_codec_app ? cip_node_len(s->args) : 0;
    for (size_t i = 0; i < n; i++) {
        const cip_node *key = s->args->pair[i].key;
        const char *const *word = known[s->kind];
        while (*word != NULL && !cip_node_is_string(key, *word))
            word++;
        if (*word == NULL)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "the encoding chain: unknown argument '%.40s' of '%.40s'",
                            key->type == CIP_NODE_STRING ? key->text : "?", s->name);
    }
    if (cip_map_get(s->args, "quality") != NULL && cip_map_get(s->args, "bits") != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "the encoding chain: expected quality or bits, found both");
    return CIP_OK;
}

cip_status cip_asdf_chain_has_no_place(bool inlined, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s data have no encoding chain",
                    inlined ? "inline" : "streamed");
}

cip_status cip_asdf_chain_given(cip_env *env, cip_arena *a, const char *text, asdf_chain *out,
                                cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_bytes in = { (const uint8_t *)text, strlen(text) };
    cip_status st = cip_asdf_chain_read(env, a, in, out, &why);
    for (size_t i = 0; st == CIP_OK && i < out->n; i++)
        CIP_TRY(check_arguments(&out->step[i], err));
    if (st == CIP_OK)
        return CIP_OK;
    return cip_fail(err, st == CIP_ERR_CORRUPT ? CIP_ERR_ARG : st, CIP_NO_OFFSET,
                    "the encoding chain: %.200s", why.text);
}

const asdf_step *cip_asdf_chain_find(const asdf_chain *c, asdf_step_kind kind)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->step[i].kind == kind)
            return &c->step[i];
    return NULL;
}

bool cip_asdf_chain_is_lossy(const asdf_chain *c)
{
    return cip_asdf_chain_find(c, ASDF_STEP_QUANTIZE) != NULL;
}

void cip_asdf_chain_lossless(const asdf_chain *c, asdf_chain *out)
{
    *out = (asdf_chain){ .n = 0 };
    for (size_t i = 0; i < c->n; i++)
        if (c->step[i].kind != ASDF_STEP_QUANTIZE)
            out->step[out->n++] = c->step[i];
}

/* --- what goes through ------------------------------------------------------------------------ */

cip_status cip_asdf_chain_check(const asdf_chain *c, const asdf_encoded *of, cip_err *err)
{
    bool tiled = false;
    for (size_t i = 0; i < c->n; i++) {
        const asdf_step *s = &c->step[i];
        if (s->kind == ASDF_STEP_TILE && tiled)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected at most one tile step, found two");
        if (s->kind == ASDF_STEP_TILE && s->ndim > of->ndim)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected tiles of at most %d axes, as the array has, found %d",
                            of->ndim, s->ndim);
        if (s->kind == ASDF_STEP_QUANTIZE && of->dtype->kind != CIP_F32 &&
            of->dtype->kind != CIP_F64)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected float32 or float64 to quantize, found %.40s",
                            cip_dtype_name(of->dtype));
        if (s->kind == ASDF_STEP_CODEC &&
            !(s->codec == &cip_codec_app
                  ? cip_app_codec_encodes(s->codec_args)
                  : cip_framing_find(s->codec->name) != NULL && cip_codec_available(s->codec)))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the encoding '%.40s' cannot be written", s->name);
        tiled = tiled || s->kind == ASDF_STEP_TILE;
    }
    return CIP_OK;
}

void cip_asdf_full_tile(const asdf_step *s, const asdf_encoded *of, int64_t *tile)
{
    for (int32_t i = 0; i < of->ndim; i++)
        tile[i] = i < s->ndim ? s->shape[i] : of->shape[i] != 0 ? of->shape[i] : 1;
}

/* --- the text --------------------------------------------------------------------------------- */

static cip_status add_lengths(asdf_list *x, const char *key, int32_t n, const int64_t *v,
                              cip_err *err)
{
    const cip_node *seq;
    CIP_TRY(cip_asdf_shape_node(x->a, n, v, false, &seq, err));
    return cip_asdf_list_add(x, key, seq, err);
}

static cip_status add_number(asdf_list *x, const char *key, uint64_t v, cip_err *err)
{
    cip_node *n;
    CIP_TRY(cip_node_new_uint(x->a, v, &n, err));
    return cip_asdf_list_add(x, key, n, err);
}

static cip_status needed(const asdf_step *s, const asdf_encoded *of, asdf_list *x, cip_err *err)
{
    int64_t tile[CIP_MAX_NDIM];
    if (s->kind == ASDF_STEP_CODEC)
        return CIP_OK;
    if (s->kind == ASDF_STEP_TILE) {
        cip_asdf_full_tile(s, of, tile);
        CIP_TRY(add_lengths(x, "shape", of->ndim, tile, err));
        CIP_TRY(add_number(x, "item_size", of->dtype->itemsize, err));
    } else {
        CIP_TRY(add_number(x, "dtype", of->dtype->kind == CIP_F64 ? 64 : 32, err));
        if (cip_map_get(s->args, "quality") == NULL && cip_map_get(s->args, "bits") == NULL)
            CIP_TRY(s->bits != 0 ? add_number(x, "bits", (uint64_t)s->bits, err)
                                 : add_number(x, "quality", ASDF_QUANTIZE_QUALITY, err));
    }
    return add_lengths(x, "original_shape", of->ndim, of->shape, err);
}

/* The given arguments in their order, those that are needed in their place or behind. */
static cip_status merge(const asdf_step *s, const asdf_list *x, cip_node **out, cip_err *err)
{
    const size_t given = cip_node_kind(s->args) == CIP_NODE_MAP ? cip_node_len(s->args) : 0;
    size_t at[sizeof x->key / sizeof x->key[0]], n = given;
    for (size_t k = 0; k < x->n; k++) {
        at[k] = 0;
        while (at[k] < given && !cip_node_is_string(s->args->pair[at[k]].key, x->key[k]->text))
            at[k]++;
        at[k] = at[k] < given ? at[k] : n++;
    }
    CIP_TRY(cip_node_new_map(x->a, n, out, err));
    (*out)->style = CIP_STYLE_FLOW;
    for (size_t i = 0; i < given; i++)
        cip_node_set_pair(*out, i, s->args->pair[i].key, s->args->pair[i].value);
    for (size_t k = 0; k < x->n; k++)
        cip_node_set_pair(*out, at[k], at[k] < given ? s->args->pair[at[k]].key : x->key[k],
                          x->value[k]);
    return CIP_OK;
}

static cip_status step_node(cip_arena *a, const asdf_step *s, const asdf_encoded *of,
                            const cip_node **out, cip_err *err)
{
    asdf_list x = { .a = a };
    cip_node *name, *map, *pair;
    CIP_TRY(cip_node_new_string(a, s->name, strlen(s->name), &name, err));
    *out = name;
    CIP_TRY(needed(s, of, &x, err));
    CIP_TRY(merge(s, &x, &map, err));
    if (cip_node_len(map) == 0)
        return CIP_OK;
    CIP_TRY(cip_node_new_seq(a, 2, &pair, err));
    pair->style = CIP_STYLE_FLOW;
    cip_node_set_item(pair, 0, name);
    cip_node_set_item(pair, 1, map);
    *out = pair;
    return CIP_OK;
}

cip_status cip_asdf_chain_text(cip_env *env, const asdf_chain *c, const asdf_encoded *of,
                               cip_buf *out, cip_err *err)
{
    cip_status st;
    cip_arena a = { .mem = &env->mem };
    cip_node *list;
    const cip_node *step;
    CIP_GO(cip_node_new_seq(&a, c->n, &list, err));
    list->style = CIP_STYLE_FLOW;
    for (size_t i = 0; i < c->n; i++) {
        CIP_GO(step_node(&a, &c->step[i], of, &step, err));
        cip_node_set_item(list, i, step);
    }
    CIP_GO(cip_buf_addf(out, err, "--- "));
    CIP_GO(cip_yaml_emit_line(env, list, NULL, false, out, err));
    st = cip_buf_addf(out, err, "\n...\n");
done:
    cip_arena_clear(&a);
    return st;
}
