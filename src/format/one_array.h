/* SPDX-License-Identifier: BSD-3-Clause
 * What formats without a tree of their own say of the tree that they are given, and which types
 * those of them store that numpy reads. */
#ifndef CIP_FORMAT_ONE_ARRAY_H
#define CIP_FORMAT_ONE_ARRAY_H

#include <math.h>

#include "format/format.h"
#include "tree/json_read.h"

typedef struct cip_tree_rest {
    const cip_spec *spec;
    const char *taken; /* keys of the root that go along, space-separated, or NULL */
    bool lost;         /* anything but what goes along, the arrays and the spec's origin */
    bool origin;       /* what tells how the file came about is there */
} cip_tree_rest;

static inline bool cip_is_array_node(const cip_spec *spec, const cip_node *node)
{
    for (size_t i = 0; node != NULL && i < spec->narray; i++)
        if (spec->array[i].node == node)
            return true;
    return false;
}

static inline int cip_visit_rest(void *user, const cip_visit *v)
{
    cip_tree_rest *r = user;
    size_t n = 0;
    const char *key = v->depth == 1 ? cip_node_text(v->key, &n) : NULL;
    if (v->again || cip_is_array_node(r->spec, v->node))
        return 1;
    if ((key != NULL && cip_is_word_of(r->taken, key, n)) ||
        cip_is_word_of(r->spec->form_keys, v->path, strlen(v->path)))
        return 1;
    if (key != NULL && cip_is_word_of(r->spec->origin_keys, key, n)) {
        r->origin = true;
        return 1;
    }
    if (cip_node_kind(v->node) < CIP_NODE_SEQ || v->node->len == 0)
        r->lost = r->lost || v->depth > 0;
    return r->lost ? 2 : 0;
}

/* The origin of the file is no loss that anybody has to accept. */
static inline void cip_tell_origin(const cip_spec *spec, const cip_tree_rest *r, const char *who,
                                   cip_report *loss)
{
    if (r->origin)
        cip_report_add(loss, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, NULL,
                       "the record of the file's origin (%s) is left out: %s have none",
                       spec->origin_keys, who);
}

/* Names what of the tree is left out. */
static inline cip_status cip_tell_tree(const cip_spec *spec, const char *taken, const char *who,
                                       cip_report *loss, cip_err *err)
{
    cip_tree_rest r = { .spec = spec, .taken = taken };
    if (cip_node_kind(spec->tree) < CIP_NODE_SEQ)
        r.lost = spec->tree != NULL && spec->tree->type != CIP_NODE_NULL && spec->tree->len != 0;
    else
        CIP_TRY(cip_tree_walk_told(spec->tree, spec->env, cip_visit_rest, &r,
                                   &(cip_status){ CIP_OK }, err));
    if (r.lost)
        cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, NULL,
                       "the metadata tree is lost: %s have none", who);
    cip_tell_origin(spec, &r, who, loss);
    return CIP_OK;
}

/* The name of the only array is no loss either. */
static inline void cip_tell_names(const cip_spec *spec, const char *who, cip_report *loss)
{
    for (size_t i = 0; i < spec->narray; i++)
        if (spec->array[i].path != NULL && spec->array[i].path[0] != '\0')
            cip_report_add(loss, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, spec->array[i].path,
                           "the array's name is left out: %s have none", who);
}

/* The tree and the names of arrays. */
static inline cip_status cip_tell_rest(const cip_spec *spec, const char *taken, const char *who,
                                       cip_report *loss, cip_err *err)
{
    CIP_TRY(cip_tell_tree(spec, taken, who, loss, err));
    cip_tell_names(spec, who, loss);
    return CIP_OK;
}

/* --- JSON ------------------------------------------------------------------------------------ */

typedef struct cip_json_fit {
    cip_env *env;
    bool nan, fits;
    size_t around;
} cip_json_fit;

/* Whether it stayed JSON text when it was read, and does again where `deep` (no collection is read
 * there) says. Anybody may give a text this tag. */
static inline bool cip_json_stays(cip_env *env, const cip_node *n, bool deep)
{
    cip_arena arena = { .mem = &env->mem };
    const cip_json_source from = { .env = env, .arena = &arena };
    const cip_bytes text = { (const uint8_t *)n->text, n->len };
    cip_node *again;
    bool stays = cip_node_kind(n) == CIP_NODE_STRING && n->tag != NULL &&
                 strcmp(n->tag, CIP_JSON_RAW) == 0 && n->len != 0 &&
                 strchr("\"[{", n->text[0]) != NULL &&
                 strchr("\"]}", n->text[n->len - 1]) != NULL &&
                 cip_json_read(&from, text, &again, NULL) == CIP_OK;
    stays = stays && (again->type >= CIP_NODE_SEQ ? deep : again->tag != NULL);
    cip_arena_clear(&arena);
    return stays;
}

static inline int cip_visit_json(void *user, const cip_visit *v)
{
    cip_json_fit *f = user;
    double x = 0;
    cip_node_type type = cip_node_kind(v->node);
    bool number =
        type != CIP_NODE_FLOAT || f->nan || (cip_node_as_double(v->node, &x) && isfinite(x));
    bool named = v->key == NULL || (cip_node_kind(v->key) == CIP_NODE_STRING &&
                                    (v->key->tag == NULL || cip_json_stays(f->env, v->key, false)));
    bool below = f->nan && v->depth + f->around + 1 > CIP_JSON_DEPTH;
    bool plain = v->node->tag == NULL || cip_json_stays(f->env, v->node, below);
    bool other = type == CIP_NODE_NONE || type == CIP_NODE_TIMESTAMP || type == CIP_NODE_BINARY;
    bool deep = v->depth + f->around + (type >= CIP_NODE_SEQ) > CIP_JSON_DEPTH;
    bool big = false;
    if (type == CIP_NODE_BIGINT) {
        /* Python's json reads integers of so many digits. Other spellings than decimal are
         * converted: log 10 / log 16. */
        const char sign = v->node->text[0];
        const bool decimal = v->node->text[sign == '-' || sign == '+'] != '0';
        big = v->node->len > (decimal ? CIP_JSON_DIGITS : CIP_JSON_DIGITS * 4 / 5);
    }
    f->fits = f->fits && !v->again && !other && number && named && !deep && !big && plain;
    return f->fits ? 0 : 2;
}

/* Whether JSON gives the node back as it is. `nan`: JSON of Python, with NaN and infinities.
 * `around`: collections that it comes to lie in. */
static inline bool cip_json_holds(cip_env *env, const cip_node *node, bool nan, size_t around)
{
    cip_json_fit f = { env, nan, true, around };
    cip_status st = cip_tree_walk(node, env, cip_visit_json, &f, NULL);
    return st == CIP_OK && f.fits;
}

/* --- types as numpy's users store them -------------------------------------------------------- */

/* Whether it or a field of it is opaque with a name of its own, which numpy does not keep. */
static inline bool cip_numpy_loses_name(const cip_dtype *d)
{
    if (d->kind == CIP_OPAQUE)
        return strncmp(d->name, "bytes", 5) != 0;
    for (size_t i = 0; i < d->nfield; i++) /* records nest at most 32 deep */
        if (cip_numpy_loses_name(d->field[i].dtype))
            return true;
    return false;
}

/* Without a wish numbers keep the byte order that they have, as numpy does; records become packed
 * and little-endian. */
static inline cip_status cip_numpy_stored(cip_arena *a, const cip_spec *spec, const cip_dtype *d,
                                          const cip_dtype **out, cip_err *err)
{
    *out = d;
    if (spec->big < 0 && d->kind != CIP_RECORD)
        return CIP_OK;
    CIP_TRY(cip_dtype_packed_le(a, d, out, err));
    return spec->big == 1 ? cip_dtype_with_order(a, *out, true, out, err) : CIP_OK;
}

#endif
