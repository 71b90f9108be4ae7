/* SPDX-License-Identifier: BSD-3-Clause
 * Trees to JSON (RFC 8259). Aliases are written out; a collection inside itself becomes a reference
 * to the outer one by its JSON pointer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tree/json_read.h"
#include "tree/node.h"
#include "tree/scalar.h"
#include "tree/scalar_write.h"
#include "tree/utf8.h"
#include "tree/yaml.h"

typedef struct level {
    const cip_node *node;
    size_t path_len; /* of its own pointer */
} level;

typedef struct writer {
    cip_env *env;
    const cip_json_write *opt;
    cip_buf *out;
    cip_buf levels; /* of level: the collections around */
    cip_buf path;   /* a JSON pointer */
    uint64_t nodes;
} writer;

cip_status cip_json_string(cip_buf *out, const char *text, size_t len, cip_err *err)
{
    return cip_quote(out, text, len, false, err);
}

static size_t skip_digits(const char *s, size_t at)
{
    while (s[at] >= '0' && s[at] <= '9')
        at++;
    return at;
}

/* -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)? */
static bool is_json_number(const cip_node *node)
{
    const char *s = node->text;
    size_t from = s[0] == '-', at = skip_digits(s, from);
    if (at == from || (s[from] == '0' && at > from + 1))
        return false;
    if (s[at] == '.') {
        from = at + 1;
        at = skip_digits(s, from);
        if (at == from)
            return false;
    }
    if (s[at] == 'e' || s[at] == 'E') {
        from = at + 1 + (s[at + 1] == '-' || s[at + 1] == '+');
        at = skip_digits(s, from);
        if (at == from)
            return false;
    }
    return at == node->len;
}

static cip_status put_double(const writer *w, const cip_node *node, cip_err *err)
{
    char number[CIP_DOUBLE_TEXT];
    cip_buf *out = w->out;
    if (!isfinite(node->f)) {
        const char *text = isnan(node->f) ? "NaN" : node->f < 0 ? "-Infinity" : "Infinity";
        return w->opt->file ? cip_buf_puts(out, text, err)
                            : cip_json_string(out, text, strlen(text), err);
    }
    if (is_json_number(node))
        return cip_buf_add(out, node->text, node->len, err);
    cip_double_text(node->f, number);
    return cip_buf_puts(out, number, err);
}

/* JSON text that was read as it is, and no string. */
static bool is_raw(const writer *w, const cip_node *node)
{
    return w->opt->file && cip_node_kind(node) == CIP_NODE_STRING && node->tag != NULL &&
           strcmp(node->tag, CIP_JSON_RAW) == 0;
}

static cip_status put_scalar(const writer *w, const cip_node *node, cip_err *err)
{
    cip_buf *out = w->out;
    bool done;
    if (is_raw(w, node))
        return cip_buf_add(out, node->text, node->len, err);
    switch (cip_node_kind(node)) {
    case CIP_NODE_NONE:
    case CIP_NODE_NULL:
        return cip_buf_puts(out, "null", err);
    case CIP_NODE_BOOL:
        return cip_buf_puts(out, node->b ? "true" : "false", err);
    case CIP_NODE_INT:
        if (node->negative)
            return cip_buf_addf(out, err, "%" PRId64, node->i);
        return cip_buf_addf(out, err, "%" PRIu64, node->u);
    case CIP_NODE_BIGINT:
        CIP_TRY(cip_int_decimal((cip_bytes){ (const uint8_t *)node->text, node->len }, out, &done,
                                err));
        return done ? CIP_OK : cip_json_string(out, node->text, node->len, err);
    case CIP_NODE_FLOAT:
        return put_double(w, node, err);
    default:
        return cip_json_string(out, node->text, node->len, err);
    }
}

static cip_status put_node(writer *w, const cip_node *node, cip_err *err);

/* A key is its text, in quotes as in a path where another key has the same text; one that is a
 * collection, its JSON as text. */
static cip_status put_key(writer *w, const cip_node *key, bool quoted, cip_err *err)
{
    size_t len = 0;
    const char *text = cip_node_text(key, &len);
    if (is_raw(w, key))
        return put_scalar(w, key, err);
    if (key == NULL || (text != NULL && !quoted))
        return cip_json_string(w->out, text, len, err);
    cip_buf inner = { .mem = &w->env->mem }, *outer = w->out;
    w->out = &inner;
    cip_status st;
    if (!quoted) {
        st = put_node(w, key, err);
    } else {
        CIP_GO(cip_buf_puts(&inner, "\"", err));
        CIP_GO(cip_buf_add(&inner, key->text, key->len, err));
        st = cip_buf_puts(&inner, "\"", err);
    }
done:
    w->out = outer;
    if (st == CIP_OK)
        st = cip_json_string(outer, (const char *)inner.ptr, inner.len, err);
    cip_buf_clear(&inner);
    return st;
}

static cip_status put_items(writer *w, const cip_node *node, cip_err *err)
{
    const bool map = node->type == CIP_NODE_MAP;
    const bool plain = map && cip_map_is_plain(node);
    const size_t path_len = w->path.len;
    CIP_TRY(cip_buf_puts(w->out, map ? "{" : "[", err));
    for (size_t i = 0; i < node->len; i++) {
        if (i > 0)
            CIP_TRY(cip_buf_puts(w->out, ", ", err));
        CIP_TRY(cip_buf_puts(&w->path, "/", err));
        if (map) {
            const bool quoted = !w->opt->file && cip_pair_is_quoted(node, i, plain);
            CIP_TRY(put_key(w, node->pair[i].key, quoted, err));
            CIP_TRY(cip_buf_puts(w->out, ": ", err));
            CIP_TRY(cip_pair_escape(&w->path, node, i, plain, err));
        } else {
            CIP_TRY(cip_buf_addf(&w->path, err, "%zu", i));
        }
        CIP_TRY(put_node(w, cip_node_at(node, i), err));
        w->path.len = path_len;
    }
    return cip_buf_puts(w->out, map ? "}" : "]", err);
}

/* {"$ref": "#/pointer"} when the node is one of those around; *done then. */
static cip_status put_cycle(writer *w, const cip_node *node, bool *done, cip_err *err)
{
    const level *l = (const level *)(const void *)w->levels.ptr;
    cip_buf ref = { .mem = &w->env->mem };
    cip_status st = CIP_OK;
    *done = false;
    for (size_t i = 0; i < w->levels.len / sizeof *l; i++) {
        if (l[i].node != node)
            continue;
        *done = true;
        CIP_GO(cip_buf_puts(&ref, "#", err));
        CIP_GO(cip_buf_add(&ref, w->path.ptr, l[i].path_len, err));
        CIP_GO(cip_buf_puts(w->out, "{\"$ref\": ", err));
        CIP_GO(cip_json_string(w->out, (const char *)ref.ptr, ref.len, err));
        CIP_GO(cip_buf_puts(w->out, "}", err));
        break;
    }
done:
    cip_buf_clear(&ref);
    return st;
}

static cip_status put_collection(writer *w, const cip_node *node, cip_err *err)
{
    const uint32_t most = w->opt->file ? CIP_JSON_DEPTH : w->env->limits.max_depth;
    const size_t depth = w->levels.len / sizeof(level);
    bool done;
    CIP_TRY(put_cycle(w, node, &done, err));
    if (done)
        return CIP_OK;
    if (w->opt->max_depth != 0 && depth >= w->opt->max_depth)
        return cip_buf_puts(w->out, "\"...\"", err);
    if (depth >= most)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu32 " collections inside each other, found more",
                        most);
    level l = { node, w->path.len };
    CIP_TRY(cip_buf_add(&w->levels, &l, sizeof l, err));
    CIP_TRY(put_items(w, node, err));
    w->levels.len -= sizeof l;
    return CIP_OK;
}

static cip_status put_value(writer *w, const cip_node *node, cip_err *err)
{
    return cip_node_kind(node) >= CIP_NODE_SEQ ? put_collection(w, node, err)
                                               : put_scalar(w, node, err);
}

static cip_status put_node(writer *w, const cip_node *node, cip_err *err)
{
    const char *text = NULL;
    if (w->nodes++ >= w->env->limits.max_expansion)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " nodes to write, aliases counted, found more",
                        w->env->limits.max_expansion);
    if (node != NULL && w->opt->special != NULL && w->opt->special(w->opt->user, node, &text))
        return cip_json_string(w->out, text, strlen(text), err);
    if (!w->opt->tags || cip_node_tag(node) == NULL)
        return put_value(w, node, err);
    CIP_TRY(cip_buf_puts(w->out, "{\"$tag\": ", err));
    CIP_TRY(cip_json_string(w->out, node->tag, strlen(node->tag), err));
    CIP_TRY(cip_buf_puts(w->out, ", \"$value\": ", err));
    CIP_TRY(put_value(w, node, err));
    return cip_buf_puts(w->out, "}", err);
}

cip_status cip_json_emit_as(cip_env *env, const cip_node *root, const cip_json_write *opt,
                            cip_buf *out, cip_err *err)
{
    static const cip_json_write defaults = { 0 };
    const size_t start = out->len;
    writer w = { .env = env,
                 .opt = opt != NULL ? opt : &defaults,
                 .out = out,
                 .levels = { .mem = &env->mem },
                 .path = { .mem = &env->mem } };
    cip_status st = put_node(&w, root, err);
    if (st != CIP_OK)
        out->len = start;
    cip_buf_clear(&w.levels);
    cip_buf_clear(&w.path);
    return st;
}

cip_status cip_json_emit(cip_env *env, const cip_node *root, bool tags, cip_buf *out, cip_err *err)
{
    const cip_json_write opt = { .tags = tags };
    return cip_json_emit_as(env, root, &opt, out, err);
}
