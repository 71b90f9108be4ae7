/* SPDX-License-Identifier: BSD-3-Clause
 * The tree on its way out: a copy of the collections with other nodes in the place of arrays, the
 * tags of the standard, and software and extensions where nobody has said them. */
#include <string.h>

#include "base/strmap.h"
#include "cippus/version.h"
#include "format/asdf/write/asdf_write.h"
#include "tree/edit.h"
#include "tree/yaml.h"

typedef struct copier {
    cip_env *env;
    const asdf_standard *s;
    cip_arena arena;
    cip_strmap seen; /* a node's address -> that of what takes its place */
} copier;

static cip_status remember(copier *c, const cip_node *from, const cip_node *to, cip_err *err)
{
    return cip_strmap_put_ptr(&c->seen, &c->arena, from, (size_t)(uintptr_t)to, NULL, err);
}

static cip_status copy(copier *c, const cip_node *from, uint32_t depth, const cip_node **out,
                       cip_err *err);

/* Keys that are scalars stay what they are. */
static cip_status copy_key(copier *c, const cip_node *from, uint32_t depth, const cip_node **out,
                           cip_err *err)
{
    *out = from;
    return cip_node_kind(from) < CIP_NODE_SEQ ? CIP_OK : copy(c, from, depth, out, err);
}

static cip_status copy_items(copier *c, const cip_node *from, cip_node *to, uint32_t depth,
                             cip_err *err)
{
    const cip_node *key, *value;
    for (uint32_t i = 0; i < from->len; i++) {
        if (from->type == CIP_NODE_SEQ) {
            CIP_TRY(copy(c, from->item[i], depth + 1, &value, err));
            cip_node_set_item(to, i, value);
            continue;
        }
        CIP_TRY(copy_key(c, from->pair[i].key, depth + 1, &key, err));
        CIP_TRY(copy(c, from->pair[i].value, depth + 1, &value, err));
        cip_node_set_pair(to, i, key, value);
    }
    return CIP_OK;
}

#define CORE_URI "asdf://asdf-format.org/core/extensions/core-"

/* The extension that defines the tags of another version of the standard becomes that of ours. */
static cip_status copy_scalar(copier *c, const cip_node *from, const cip_node **out, cip_err *err)
{
    static const char uri[] = CORE_URI;
    cip_node *to;
    const char *tag;
    char *text;
    *out = from;
    CIP_TRY(cip_asdf_standard_tag(c->s, from->tag, &c->arena, &tag, err));
    if (tag != from->tag) {
        CIP_TRY(CIP_ARENA_NEW(&c->arena, &to, 1, err));
        *to = *from;
        to->tag = tag;
        *out = to;
        return CIP_OK;
    }
    if (cip_node_kind(from) == CIP_NODE_INT || cip_node_kind(from) == CIP_NODE_BIGINT)
        return cip_asdf_integer_node(&c->arena, c->s, from, out, err);
    if (cip_node_kind(from) != CIP_NODE_STRING || strncmp(from->text, uri, sizeof uri - 1) != 0)
        return CIP_OK;
    CIP_TRY(cip_arena_printf(&c->arena, &text, err, CORE_URI "%s", c->s->version));
    CIP_TRY(cip_node_new_string(&c->arena, text, strlen(text), &to, err));
    *out = to;
    return CIP_OK;
}

static cip_status copy(copier *c, const cip_node *from, uint32_t depth, const cip_node **out,
                       cip_err *err)
{
    cip_node *to;
    size_t at = cip_strmap_get_ptr(&c->seen, from);
    if (at != SIZE_MAX) {
        *out = (const cip_node *)(uintptr_t)at;
        return CIP_OK;
    }
    if (cip_node_kind(from) < CIP_NODE_SEQ)
        return copy_scalar(c, from, out, err);
    if (depth >= c->env->limits.max_depth)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu32 " collections inside each other, found more",
                        c->env->limits.max_depth);
    if (from->type == CIP_NODE_SEQ)
        CIP_TRY(cip_node_new_seq(&c->arena, from->len, &to, err));
    else
        CIP_TRY(cip_node_new_map(&c->arena, from->len, &to, err));
    CIP_TRY(cip_asdf_standard_tag(c->s, from->tag, &c->arena, &to->tag, err));
    to->anchor = from->anchor;
    to->style = from->style;
    CIP_TRY(remember(c, from, to, err)); /* before what lies within: there may be cycles */
    *out = to;
    return copy_items(c, from, to, depth, err);
}

/* --- software and extensions ------------------------------------------------------------------ */

cip_status cip_asdf_software(cip_arena *a, bool early, cip_style style, cip_node **out,
                             cip_err *err)
{
    asdf_list l = { .a = a };
    CIP_TRY(cip_asdf_list_text(&l, "name", "cippus", err));
    CIP_TRY(cip_asdf_list_text(&l, "version", CIP_VERSION_STRING, err));
    return cip_asdf_list_map(&l, early ? NULL : ASDF_TAGS "core/software-1.0.0", style, out, err);
}

/* Whether there is a list that it can be added to, and it is not in it. */
static bool is_missing(const cip_node *root, const char *uri)
{
    const cip_node *history =
        cip_node_kind(root) == CIP_NODE_MAP ? cip_map_get(root, "history") : NULL;
    if (history == NULL)
        return true;
    const cip_node *list =
        history->type == CIP_NODE_MAP ? cip_map_get(history, "extensions") : NULL;
    if (list == NULL || cip_node_kind(list) != CIP_NODE_SEQ)
        return list == NULL && history->type == CIP_NODE_MAP;
    for (uint32_t i = 0; i < list->len; i++)
        if (cip_node_kind(list->item[i]) == CIP_NODE_MAP &&
            cip_node_is_string(cip_map_get(list->item[i], "extension_uri"), uri))
            return false;
    return true;
}

/* An entry of history/extensions; `codec`: that it adds, or NULL. */
static cip_status extension(cip_arena *a, const char *class, const char *uri, const char *codec,
                            cip_node **out, cip_err *err)
{
    asdf_list l = { .a = a };
    cip_node *software, *seq, *v;
    CIP_TRY(cip_asdf_software(a, false, CIP_STYLE_FLOW, &software, err));
    CIP_TRY(cip_asdf_list_text(&l, "extension_class", class, err));
    CIP_TRY(cip_asdf_list_text(&l, "extension_uri", uri, err));
    CIP_TRY(cip_asdf_list_add(&l, "software", software, err));
    if (codec != NULL) {
        CIP_TRY(cip_node_new_seq(a, 1, &seq, err));
        CIP_TRY(cip_node_new_string(a, codec, strlen(codec), &v, err));
        cip_node_set_item(seq, 0, v);
        CIP_TRY(cip_asdf_list_add(&l, "supported_compression", seq, err));
    }
    return cip_asdf_list_map(&l, ASDF_TAGS "core/extension_metadata-1.0.0", CIP_STYLE_BLOCK, out,
                             err);
}

/* {extensions: [...]}: the one that defines the tags of the standard. */
static cip_status history(copier *c, cip_node **out, cip_err *err)
{
    asdf_list top = { .a = &c->arena };
    cip_node *map, *seq;
    char *uri;
    CIP_TRY(cip_arena_printf(&c->arena, &uri, err, CORE_URI "%s", c->s->version));
    CIP_TRY(
        extension(&c->arena, "asdf.extension._manifest.ManifestExtension", uri, NULL, &map, err));
    CIP_TRY(cip_node_new_seq(&c->arena, 1, &seq, err));
    seq->style = CIP_STYLE_BLOCK;
    cip_node_set_item(seq, 0, map);
    CIP_TRY(cip_asdf_list_add(&top, "extensions", seq, err));
    return cip_asdf_list_map(&top, NULL, CIP_STYLE_BLOCK, out, err);
}

cip_status cip_asdf_codec_extension(cip_arena *a, const asdf_standard *s, const cip_node *root,
                                    const asdf_codec *codec, const cip_node **out, cip_err *err)
{
    cip_node *n = NULL;
    if (s->metadata && codec != NULL && codec->extension_uri != NULL &&
        is_missing(root, codec->extension_uri))
        CIP_TRY(extension(a, codec->extension_class, codec->extension_uri, codec->name, &n, err));
    *out = n;
    return CIP_OK;
}

/* What is put in front of the tree's own pairs. */
static cip_status front(copier *c, const cip_node *root, asdf_list *l, cip_err *err)
{
    cip_node *n;
    bool said = root != NULL && (cip_map_get(root, "asdf_library") != NULL ||
                                 cip_map_get(root, "asdf/library") != NULL);
    if (!said) {
        CIP_TRY(cip_asdf_software(&c->arena, c->s->early, CIP_STYLE_FLOW, &n, err));
        CIP_TRY(cip_asdf_list_add(l, "asdf_library", n, err));
    }
    if (!c->s->metadata || (root != NULL && cip_map_get(root, "history") != NULL))
        return CIP_OK;
    CIP_TRY(history(c, &n, err));
    return cip_asdf_list_add(l, "history", n, err);
}

/* --- the root --------------------------------------------------------------------------------- */

/* The value of a pair of the root. Before 1.2.0 `history` was just its list of entries; NULL where
 * there are none. */
static const cip_node *root_value(const copier *c, const cip_pair *p)
{
    bool old = !c->s->metadata && cip_node_is_string(p->key, "history");
    if (!old || cip_node_kind(p->value) != CIP_NODE_MAP)
        return p->value;
    const cip_node *entries = cip_map_get(p->value, "entries");
    return cip_node_kind(entries) == CIP_NODE_SEQ ? entries : NULL;
}

static cip_status copy_pairs(copier *c, const cip_node *root, asdf_list *l, cip_node *to,
                             cip_err *err)
{
    const cip_node *key, *value;
    size_t n = l->n;
    for (size_t i = 0; i < l->n; i++)
        cip_node_set_pair(to, i, l->key[i], l->value[i]);
    for (size_t i = 0; i < cip_node_len(root); i++) {
        const cip_node *from = root_value(c, &root->pair[i]);
        if (from == NULL)
            continue;
        CIP_TRY(copy_key(c, root->pair[i].key, 1, &key, err));
        CIP_TRY(copy(c, from, 1, &value, err));
        cip_node_set_pair(to, n++, key, value);
    }
    return CIP_OK;
}

static cip_status make_root(copier *c, const cip_node *from, cip_node **out, cip_err *err)
{
    asdf_list l = { .a = &c->arena };
    const cip_node *root = cip_node_kind(from) == CIP_NODE_MAP ? from : NULL;
    CIP_TRY(front(c, root, &l, err));
    size_t n = l.n;
    for (size_t i = 0; i < cip_node_len(root); i++)
        n += root_value(c, &root->pair[i]) != NULL;
    CIP_TRY(cip_node_new_map(&c->arena, n, out, err));
    (*out)->style = CIP_STYLE_BLOCK;
    CIP_TRY(cip_asdf_core_tag(c->s, "asdf", c->s->asdf, &c->arena, &(*out)->tag, err));
    if (root != NULL) {
        (*out)->anchor = root->anchor;
        if (root->tag != NULL)
            CIP_TRY(cip_asdf_standard_tag(c->s, root->tag, &c->arena, &(*out)->tag, err));
        CIP_TRY(remember(c, root, *out, err));
    }
    return copy_pairs(c, root, &l, *out, err);
}

/* What takes a node's place, with the tags of 0.1.0 where that is written. */
static cip_status swapped(copier *c, const asdf_swap *swap, const cip_node **to, cip_err *err)
{
    *to = swap->to;
    return c->s->early ? copy(c, swap->to, 0, to, err) : CIP_OK;
}

/* New nodes by their paths; the whole of a file without a tree is called `data`. */
static cip_status add_new(copier *c, cip_node **root, asdf_swaps swaps, cip_err *err)
{
    cip_build b = { .arena = &c->arena, .root = *root };
    const cip_node *to;
    for (size_t i = 0; i < swaps.n; i++) {
        const asdf_swap *swap = &swaps.at[i];
        if (swap->from != NULL || swap->path == NULL)
            continue;
        const char *path = swap->path[0] != '\0' ? swap->path : "data";
        CIP_TRY(swapped(c, swap, &to, err));
        CIP_TRY(cip_build_set(&b, path, to, err));
    }
    *root = b.root;
    return CIP_OK;
}

cip_status cip_asdf_tree_text(cip_env *env, const asdf_standard *s, const cip_node *root,
                              asdf_swaps swaps, cip_buf *out, cip_err *err)
{
    const cip_yaml_write how = { .handle_prefix = cip_asdf_tag_prefix(s), .document = true };
    copier c = { .env = env, .s = s, .arena = { .mem = &env->mem }, .seen = { .mem = &env->mem } };
    cip_node *made;
    cip_status st = CIP_OK;
    for (size_t i = 0; i < swaps.n; i++) {
        const cip_node *to;
        if (swaps.at[i].from == NULL)
            continue;
        CIP_GO(swapped(&c, &swaps.at[i], &to, err));
        CIP_GO(remember(&c, swaps.at[i].from, to, err));
    }
    CIP_GO(make_root(&c, root, &made, err));
    CIP_GO(add_new(&c, &made, swaps, err));
    st = cip_yaml_emit(env, made, &how, out, err);
done:
    cip_strmap_clear(&c.seen);
    cip_arena_clear(&c.arena);
    return st;
}

cip_status cip_asdf_head_text(const asdf_standard *s, cip_buf *out, cip_err *err)
{
    if (s->early)
        return cip_buf_addf(out, err, "#ASDF %s\n", s->version);
    return cip_buf_addf(out, err, "#ASDF 1.0.0\n#ASDF_STANDARD %s\n", s->version);
}
