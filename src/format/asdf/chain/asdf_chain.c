/* SPDX-License-Identifier: BSD-3-Clause
 * Encoding chains of ASDF 0.1 taken apart: names and arguments, and whether each step can follow
 * the one before. Arrays go in; `tile` gives an array, `quantize` and codecs give bytes, and from
 * bytes no array comes back. */
#include "format/asdf/chain/asdf_chain.h"

#include <math.h>
#include <string.h>

#include "codec/codec_app.h"
#include "tree/yaml.h"

/* What a chain is taken apart with. */
typedef struct taking {
    cip_env *env;
    cip_arena *arena;
} taking;

/* --- arguments ------------------------------------------------------------------------------ */

static cip_status wrong(const asdf_step *s, const char *what, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected %s in the arguments of '%s'",
                    what, s->name);
}

/* A list of lengths of at least `least`. */
static cip_status take_lengths(const asdf_step *s, const cip_node *n, const char *what,
                               int64_t least, int64_t *out, cip_err *err)
{
    if (n->type != CIP_NODE_SEQ)
        return wrong(s, what, err);
    if (n->len > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d dimensions in '%s', found %" PRIu32, CIP_MAX_NDIM,
                        s->name, n->len);
    for (uint32_t i = 0; i < n->len; i++)
        if (!cip_node_as_int(n->item[i], &out[i]) || out[i] < least)
            return wrong(s, what, err);
    return CIP_OK;
}

static cip_status take_original(asdf_step *s, cip_err *err)
{
    const cip_node *n = cip_map_get(s->args, "original_shape");
    if (n == NULL)
        return CIP_OK;
    CIP_TRY(take_lengths(s, n, "lengths of at least 0 as original_shape", 0, s->original, err));
    s->has_original = true;
    s->original_ndim = (int32_t)n->len;
    return CIP_OK;
}

static cip_status take_tile(asdf_step *s, cip_err *err)
{
    const cip_node *shape = cip_map_get(s->args, "shape");
    const cip_node *size = cip_map_get(s->args, "item_size");
    static const char what[] = "lengths of at least 1 as shape";
    if (shape == NULL)
        return wrong(s, what, err);
    CIP_TRY(take_lengths(s, shape, what, 1, s->shape, err));
    s->ndim = (int32_t)shape->len;
    if (size != NULL && (!cip_node_as_uint(size, &s->item_size) || s->item_size == 0))
        return wrong(s, "an item_size of at least 1", err);
    return take_original(s, err);
}

/* `quality` and `bits` only matter to who writes: here they are what they are, or not there. */
static cip_status take_quantize(asdf_step *s, cip_err *err)
{
    const cip_node *dtype = cip_map_get(s->args, "dtype");
    const cip_node *quality = cip_map_get(s->args, "quality");
    const cip_node *bits = cip_map_get(s->args, "bits");
    int64_t v;
    double q;
    if (dtype != NULL) {
        if (!cip_node_as_int(dtype, &v) || (v != 32 && v != 64))
            return wrong(s, "a dtype of 32 or 64", err);
        s->dtype = (int)v;
    }
    if (bits != NULL && cip_node_as_int(bits, &v) && v >= 1 && v <= 64)
        s->bits = (int)v;
    else if (quality != NULL && cip_node_as_double(quality, &q) && isfinite(q) && q > 0)
        s->quality = q;
    else
        s->quality = ASDF_QUANTIZE_QUALITY;
    return take_original(s, err);
}

/* --- steps --------------------------------------------------------------------------------- */

/* zlib, or one that the application brings along. */
static cip_status take_codec(const taking *t, asdf_step *s, cip_err *err)
{
    cip_app_codec *app;
    const cip_codec_methods *m = cip_app_codec_named(t->env, s->name);
    s->kind = ASDF_STEP_CODEC;
    if (m == NULL && strcmp(s->name, "zlib") == 0) {
        s->codec = cip_codec_find("zlib");
        return CIP_OK;
    }
    if (m == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a known encoding, found '%.40s'", s->name);
    CIP_TRY(CIP_ARENA_NEW(t->arena, &app, 1, err));
    *app = (cip_app_codec){ m, "" };
    s->codec = &cip_codec_app;
    s->codec_args = app;
    if (s->args == NULL)
        return CIP_OK;
    const cip_yaml_write how = { .line = true, .flow = true };
    cip_buf text = { .mem = &t->env->mem }; /* the arguments, as an application gets them */
    cip_status st = cip_yaml_emit(t->env, s->args, &how, &text, err);
    if (st == CIP_OK)
        st = cip_arena_copy(t->arena, text.ptr, text.len, (char **)&app->args, err);
    cip_buf_clear(&text);
    return st;
}

static cip_status not_a_step(cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected an encoding's name or [name, {arguments}] in the chain");
}

/* name, [name] or [name, {arguments}]. */
static cip_status take_name(const cip_node *n, asdf_step *s, cip_err *err)
{
    if (n->type == CIP_NODE_SEQ) {
        const cip_node *args = n->len == 2 ? n->item[1] : NULL;
        if (n->len < 1 || n->len > 2 ||
            (args != NULL && args->type != CIP_NODE_MAP && args->type != CIP_NODE_NULL))
            return not_a_step(err);
        s->args = args != NULL && args->type == CIP_NODE_MAP ? args : NULL;
        n = n->item[0];
    }
    if (n->type != CIP_NODE_STRING || n->len == 0)
        return not_a_step(err);
    s->name = n->text;
    return CIP_OK;
}

static cip_status take_step(const taking *t, const cip_node *n, asdf_step *s, cip_err *err)
{
    *s = (asdf_step){ .kind = ASDF_STEP_CODEC };
    CIP_TRY(take_name(n, s, err));
    if (strcmp(s->name, "tile") == 0) {
        s->kind = ASDF_STEP_TILE;
        return take_tile(s, err);
    }
    if (strcmp(s->name, "quantize") == 0) {
        s->kind = ASDF_STEP_QUANTIZE;
        return take_quantize(s, err);
    }
    return take_codec(t, s, err);
}

cip_status cip_asdf_chain_parse(cip_env *env, cip_arena *a, const cip_node *root, asdf_chain *out,
                                cip_err *err)
{
    const taking t = { env, a };
    asdf_chain c = { 0 };
    const cip_node *one[] = { root };
    const cip_node **item = one;
    c.n = 1;
    if (root->type == CIP_NODE_SEQ) {
        item = root->item;
        c.n = root->len;
    } else if (root->type != CIP_NODE_STRING) {
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a list of encodings as the chain");
    }
    if (c.n > ASDF_CHAIN_STEPS)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d encodings in a chain, found %zu", ASDF_CHAIN_STEPS,
                        c.n);
    for (size_t i = 0; i < c.n; i++)
        CIP_TRY(take_step(&t, item[i], &c.step[i], err));
    for (size_t i = 1; i < c.n; i++)
        if (c.step[i].kind != ASDF_STEP_CODEC && c.step[i - 1].kind != ASDF_STEP_TILE)
            return cip_fail(
                err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                "expected '%s', which needs an array, before '%.40s', which produces bytes",
                c.step[i].name, c.step[i - 1].name);
    *out = c;
    return CIP_OK;
}

/* --- text ----------------------------------------------------------------------------------- */

/* What is left out when a file is read must not be wrong when one is written. */
static cip_status check_writing(const asdf_chain *c, cip_err *err)
{
    for (size_t i = 0; i < c->n; i++) {
        const asdf_step *s = &c->step[i];
        if (s->kind != ASDF_STEP_QUANTIZE)
            continue;
        const cip_node *quality = cip_map_get(s->args, "quality");
        double q = 0;
        if (cip_map_get(s->args, "bits") != NULL && s->bits == 0)
            return wrong(s, "1 to 64 as bits", err);
        if (quality != NULL && (!cip_node_as_double(quality, &q) || !isfinite(q) || q <= 0))
            return wrong(s, "a quality over 0, such as 4 or 1.0e+3,", err);
    }
    return CIP_OK;
}

cip_status cip_asdf_chain_read(cip_env *env, cip_arena *a, cip_bytes text, asdf_chain *out,
                               cip_err *err)
{
    const cip_yaml_options opt = { .part = "encoding chain", .quiet = true };
    const cip_node *root;
    asdf_chain c;
    CIP_TRY(cip_yaml_parse(env, a, text, &opt, &root, err));
    CIP_TRY(cip_asdf_chain_parse(env, a, root, &c, err));
    CIP_TRY(check_writing(&c, err));
    *out = c;
    return CIP_OK;
}

cip_status cip_asdf_chain_len(cip_bytes payload, size_t *len, cip_err *err)
{
    size_t n = payload.len < ASDF_CHAIN_TEXT_MAX ? payload.len : ASDF_CHAIN_TEXT_MAX;
    const uint8_t *p = payload.ptr, *end = p + n;
    while ((p = memmem(p, (size_t)(end - p), "\n...", 4)) != NULL) {
        p += 4;
        const uint8_t *q = p < end && *p == '\r' ? p + 1 : p;
        if (q < end && *q == '\n') {
            *len = (size_t)(q + 1 - payload.ptr);
            return CIP_OK;
        }
    }
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected the end marker of the encoding chain within %zu bytes", n);
}
