/* SPDX-License-Identifier: BSD-3-Clause
 * Trees to YAML, laid out as Python's asdf does: block style, sequences level with their key, flow
 * style for what holds scalars only. A first pass finds the nodes that are reached more than once,
 * which need anchors; both passes enter each collection once, so cycles end. */
#include <stdio.h>
#include <string.h>

#include "base/strmap.h"
#include "tree/node.h"
#include "tree/scalar_write.h"
#include "tree/yaml.h"

enum { WIDTH = 80, LONGEST_SIMPLE_KEY = 1000 }; /* bytes; readers stop at 1024 characters */

/* A collection, or a scalar with an anchor. */
typedef struct ref {
    const cip_node *node;
    size_t uses;
    const char *name; /* its anchor, or NULL while it has none */
    bool written;
} ref;

/* From AS_KEY on, collections are in flow style. */
typedef enum place { AT_ROOT, AFTER_DASH, AFTER_KEY, AS_KEY, AS_FLOW_KEY, IN_FLOW } place;

/* Where a node goes. */
typedef struct spot {
    place where;
    size_t indent; /* of the collection that it lies in */
    size_t depth;
} spot;

typedef struct emitter {
    cip_env *env;
    const cip_yaml_write *opt;
    cip_buf *out;
    size_t line; /* where in `out` the current line starts */
    bool gap;    /* the next word is set off by a blank */
    cip_arena arena;
    cip_strmap refs;  /* a node's address -> address of its ref */
    cip_strmap names; /* anchors given */
    uint64_t nodes;
    unsigned last_id;
} emitter;

static bool is_container(const cip_node *node)
{
    return cip_node_kind(node) >= CIP_NODE_SEQ;
}

/* The text that stands in place of a node, or NULL. */
static const char *replaced(const emitter *e, const cip_node *node, size_t depth)
{
    const char *text = NULL;
    if (e->opt->special != NULL && e->opt->special(e->opt->user, node, &text))
        return text;
    bool deep = e->opt->max_depth != 0 && depth >= e->opt->max_depth;
    return deep && is_container(node) ? "..." : NULL;
}

static ref *ref_of(const emitter *e, const cip_node *node)
{
    size_t at = cip_strmap_get_ptr(&e->refs, node);
    return at == SIZE_MAX ? NULL : (ref *)(uintptr_t)at;
}

static cip_bytes name_bytes(const char *name)
{
    return (cip_bytes){ (const uint8_t *)name, strlen(name) };
}

/* Its anchor stays, unless another node has the same one. */
static cip_status add_ref(emitter *e, const cip_node *node, cip_err *err)
{
    static const char allowed[] =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-";
    const char *name = node->anchor;
    ref *r;
    CIP_TRY(CIP_ARENA_NEW(&e->arena, &r, 1, err));
    r->node = node;
    r->uses = 1;
    CIP_TRY(cip_strmap_put(&e->refs, (cip_bytes){ (const uint8_t *)&r->node, sizeof r->node },
                           (size_t)(uintptr_t)r, NULL, err));
    if (name == NULL || *name == '\0' || name[strspn(name, allowed)] != '\0' ||
        cip_strmap_get(&e->names, name_bytes(name)) != SIZE_MAX)
        return CIP_OK;
    r->name = name;
    return cip_strmap_put(&e->names, name_bytes(name), 1, NULL, err);
}

static cip_status find_refs(emitter *e, const cip_node *node, size_t depth, cip_err *err)
{
    const cip_limits *most = &e->env->limits;
    if (e->nodes++ >= most->max_expansion)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " nodes to write, found more",
                        most->max_expansion);
    if (node == NULL || (!is_container(node) && node->anchor == NULL) ||
        replaced(e, node, depth) != NULL)
        return CIP_OK;
    ref *r = ref_of(e, node);
    if (r != NULL) {
        r->uses++;
        return CIP_OK;
    }
    CIP_TRY(add_ref(e, node, err));
    if (is_container(node) && depth >= most->max_depth)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu32 " collections inside each other, found more",
                        most->max_depth);
    for (size_t i = 0; i < cip_node_len(node); i++) {
        if (node->type == CIP_NODE_MAP)
            CIP_TRY(find_refs(e, node->pair[i].key, depth + 1, err));
        CIP_TRY(find_refs(e, cip_node_at(node, i), depth + 1, err));
    }
    return CIP_OK;
}

/* The node's anchor: "id001" and so on where it has none of its own. */
static cip_status name_ref(emitter *e, ref *r, cip_err *err)
{
    char name[24];
    if (r->name != NULL)
        return CIP_OK;
    do
        snprintf(name, sizeof name, "id%03u", ++e->last_id);
    while (cip_strmap_get(&e->names, name_bytes(name)) != SIZE_MAX);
    char *copy;
    CIP_TRY(cip_arena_copy(&e->arena, name, strlen(name), &copy, err));
    r->name = copy;
    return CIP_OK;
}

static cip_status put(emitter *e, const char *s, cip_err *err)
{
    return cip_buf_puts(e->out, s, err);
}

/* Room for a word: a blank in front of it where one is due, and one due after it. */
static cip_status start_word(emitter *e, cip_err *err)
{
    if (e->gap)
        CIP_TRY(put(e, " ", err));
    e->gap = true;
    return CIP_OK;
}

static cip_status put_word(emitter *e, const char *mark, const char *s, cip_err *err)
{
    CIP_TRY(start_word(e, err));
    CIP_TRY(put(e, mark, err));
    return put(e, s, err);
}

static cip_status put_line(emitter *e, size_t indent, cip_err *err)
{
    uint8_t *at;
    CIP_TRY(cip_buf_reserve(e->out, indent + 1, &at, err));
    at[0] = '\n';
    memset(at + 1, ' ', indent);
    e->line = e->out->len + 1;
    e->out->len += indent + 1;
    e->gap = false;
    return CIP_OK;
}

/* Moves what stands from `at` on by n bytes and fills them with blanks. */
static cip_status insert(emitter *e, size_t at, size_t n, cip_err *err)
{
    CIP_TRY(cip_buf_reserve(e->out, n, NULL, err));
    uint8_t *p = e->out->ptr + at;
    memmove(p + n, p, e->out->len - at);
    memset(p, ' ', n);
    e->out->len += n;
    return CIP_OK;
}

static cip_status put_node(emitter *e, const cip_node *node, spot at, cip_err *err);

/* As it was written; for what was made, flow style when there are scalars only. */
static bool is_flow(const cip_node *node)
{
    bool flow = node->style != CIP_STYLE_BLOCK;
    if (node->len == 0 || node->style == CIP_STYLE_FLOW)
        return true;
    for (size_t i = 0; flow && i < node->len; i++) {
        const cip_node *value = cip_node_at(node, i);
        flow = !is_container(cip_node_key(node, i)) && !is_container(value) &&
               (value == NULL || !cip_yaml_is_literal(value));
    }
    return flow;
}

/* A key up to its colon; *explicit when it needed a `?`, whose colon goes on a line of its own
 * outside flow style. */
static cip_status put_key(emitter *e, const cip_node *key, spot at, bool *explicit, cip_err *err)
{
    CIP_TRY(start_word(e, err));
    e->gap = false;
    const size_t start = e->out->len;
    const bool flow = at.where == IN_FLOW;
    const ref *r = ref_of(e, key);
    /* but for a collection that is no alias, readers take a node that is not long for a key */
    *explicit = is_container(key) && (r == NULL || !r->written);
    if (*explicit)
        CIP_TRY(put_word(e, "?", "", err));
    CIP_TRY(put_node(e, key, (spot){ flow ? AS_FLOW_KEY : AS_KEY, at.indent, at.depth }, err));
    if (!*explicit && e->out->len - start > LONGEST_SIMPLE_KEY) {
        *explicit = true;
        CIP_TRY(insert(e, start, 2, err));
        e->out->ptr[start] = '?';
    }
    if (*explicit && !flow)
        CIP_TRY(put_line(e, at.indent, err));
    else if (*explicit || e->out->ptr[start] == '*')
        CIP_TRY(put(e, " ", err));
    CIP_TRY(put(e, ":", err));
    e->gap = true;
    return CIP_OK;
}

static cip_status put_pair(emitter *e, const cip_pair *pair, spot at, cip_err *err)
{
    bool explicit;
    CIP_TRY(put_key(e, pair->key, at, &explicit, err));
    if (at.where != IN_FLOW)
        at.where = explicit ? AFTER_DASH : AFTER_KEY;
    return put_node(e, pair->value, at, err);
}

static cip_status put_flow(emitter *e, const cip_node *node, size_t indent, size_t depth,
                           cip_err *err)
{
    const bool map = node->type == CIP_NODE_MAP;
    const spot inner = { IN_FLOW, indent, depth + 1 };
    CIP_TRY(put_word(e, map ? "{" : "[", "", err));
    e->gap = false;
    for (size_t i = 0; i < node->len; i++) {
        if (i > 0) {
            CIP_TRY(put(e, ",", err));
            e->gap = true;
        }
        const size_t start = e->out->len, line = e->line;
        if (map)
            CIP_TRY(put_pair(e, &node->pair[i], inner, err));
        else
            CIP_TRY(put_node(e, node->item[i], inner, err));
        if (e->opt->line || i == 0 || e->line != line || e->out->len - line < WIDTH)
            continue;
        CIP_TRY(insert(e, start + 1, indent + 2, err)); /* the blank becomes a new line */
        e->out->ptr[start] = '\n';
        e->line = start + 1;
    }
    return put(e, map ? "}" : "]", err);
}

/* `begun`: the first item may stand on the line where the collection begins. */
static cip_status put_block(emitter *e, const cip_node *node, bool begun, size_t column,
                            size_t depth, cip_err *err)
{
    for (size_t i = 0; i < node->len; i++) {
        if (i > 0 || !begun)
            CIP_TRY(put_line(e, column, err));
        if (node->type == CIP_NODE_MAP) {
            CIP_TRY(put_pair(e, &node->pair[i], (spot){ AFTER_KEY, column, depth + 1 }, err));
        } else {
            CIP_TRY(put_word(e, "-", "", err));
            CIP_TRY(put_node(e, node->item[i], (spot){ AFTER_DASH, column, depth + 1 }, err));
        }
    }
    return CIP_OK;
}

/* Anchor and tag in front of a node; *marked when there is one. */
static cip_status put_marks(emitter *e, const cip_node *node, ref *r, bool *marked, cip_err *err)
{
    const char *tag = node->tag;
    if (tag == NULL && node->type == CIP_NODE_BINARY)
        tag = "tag:yaml.org,2002:binary";
    bool anchored = r != NULL && (r->uses > 1 || r->name != NULL);
    *marked = anchored || tag != NULL;
    if (anchored) {
        CIP_TRY(name_ref(e, r, err));
        CIP_TRY(put_word(e, "&", r->name, err));
    }
    if (tag == NULL)
        return CIP_OK;
    CIP_TRY(start_word(e, err));
    return cip_yaml_put_tag(e->out, tag, e->opt->handle_prefix, err);
}

static cip_status put_node(emitter *e, const cip_node *node, spot at, cip_err *err)
{
    const char *text = node == NULL ? "null" : replaced(e, node, at.depth);
    const place where = at.where;
    bool marked;
    if (text != NULL)
        return put_word(e, "", text, err);
    ref *r = ref_of(e, node);
    if (r != NULL && r->written)
        return put_word(e, "*", r->name, err);
    CIP_TRY(put_marks(e, node, r, &marked, err));
    if (r != NULL)
        r->written = true;
    if (is_container(node) && (where >= AS_KEY || e->opt->line || is_flow(node)))
        return put_flow(e, node, at.indent, at.depth, err);
    if (is_container(node)) {
        bool deeper = where == AFTER_DASH || (where == AFTER_KEY && node->type == CIP_NODE_MAP);
        bool begun = !marked && (where == AFTER_DASH || (where == AT_ROOT && !e->gap));
        return put_block(e, node, begun, at.indent + (deeper ? 2 : 0), at.depth, err);
    }
    CIP_TRY(start_word(e, err));
    cip_scalar_place scalar = { .flow = where >= AS_FLOW_KEY,
                                .key = where == AS_KEY || where == AS_FLOW_KEY,
                                .literal = where < AS_KEY && !e->opt->line,
                                .indent = at.indent + 2 };
    return cip_yaml_put_scalar(e->out, node, scalar, err);
}

static cip_status put_document(emitter *e, const cip_node *root, cip_err *err)
{
    const cip_yaml_write *opt = e->opt;
    if (opt->document) {
        CIP_TRY(put(e, "%YAML 1.1\n", err));
        if (opt->handle_prefix != NULL) {
            CIP_TRY(put(e, "%TAG ! ", err));
            CIP_TRY(cip_yaml_put_prefix(e->out, opt->handle_prefix, err));
            CIP_TRY(put(e, "\n", err));
        }
        e->line = e->out->len;
        CIP_TRY(put_word(e, "---", "", err));
    }
    CIP_TRY(put_node(e, root, (spot){ .where = opt->flow ? IN_FLOW : AT_ROOT }, err));
    if (!opt->line)
        CIP_TRY(put(e, "\n", err));
    return opt->document ? put(e, "...\n", err) : CIP_OK;
}

cip_status cip_yaml_emit(cip_env *env, const cip_node *root, const cip_yaml_write *opt,
                         cip_buf *out, cip_err *err)
{
    static const cip_yaml_write defaults = { 0 };
    const size_t start = out->len;
    emitter e = { .env = env,
                  .opt = opt != NULL ? opt : &defaults,
                  .out = out,
                  .line = start,
                  .arena = { .mem = &env->mem },
                  .refs = { .mem = &env->mem },
                  .names = { .mem = &env->mem } };
    cip_status st = find_refs(&e, root, 0, err);
    if (st == CIP_OK)
        st = put_document(&e, root, err);
    if (st != CIP_OK)
        out->len = start;
    cip_strmap_clear(&e.refs);
    cip_strmap_clear(&e.names);
    cip_arena_clear(&e.arena);
    return st;
}
