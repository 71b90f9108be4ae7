/* SPDX-License-Identifier: BSD-3-Clause
 * Events to a tree. They are made ahead by no more than a simple key (1024 characters) or a line,
 * so limits that are checked at each event stop them in time. Children of the
 * collections that are open lie on one stack and move to the arena when theirs is closed. */
#include <string.h>

#include "base/strmap.h"
#include "tree/node.h"
#include "tree/scalar.h"
#include "tree/yaml_events.h"
#include "tree/yaml_marks.h"

/* A collection that is not complete. */
typedef struct frame {
    cip_node *node;
    size_t first; /* of its children on the stack */
    bool merges;  /* it has a merge key */
} frame;

enum { NTAG = 8, COMPACT_FROM = 1024 };

typedef struct parser {
    cip_yaml_source src;
    cip_env *env;
    cip_arena *arena;
    const char *default_handle; /* NULL: the text names its own, or there is none */
    bool warned_of_handle;
    cip_marks *marks;   /* NULL: the tree only */
    cip_buf open;       /* of frame */
    cip_buf kids;       /* of const cip_node *; a mapping's are key, value, key, value */
    cip_strmap anchors; /* name -> address of its node */
    uint64_t nodes;     /* aliases counted */
    uint64_t work;      /* sum of depth over events */
    uint64_t merged;    /* pairs copied by merge keys */
    size_t compact_at;  /* so many merged pairs of one mapping are looked through for equal keys */
    struct {
        const char *written, *full;
        bool shorthand; /* its `!` stands for the default handle */
    } tags[NTAG];       /* the last ones used: most trees repeat a few */
} parser;

#define FAIL(p, err, code, at, ...) CIP_YAML_FAIL(&(p)->src, (err), (code), (at), __VA_ARGS__)

static size_t depth(const parser *p)
{
    return p->open.len / sizeof(frame);
}

static frame *top(const parser *p)
{
    return (frame *)(void *)(p->open.ptr + p->open.len) - 1;
}

static size_t kid_count(const parser *p)
{
    return p->kids.len / sizeof(cip_node *);
}

static const cip_node **kid(const parser *p, size_t i)
{
    return (const cip_node **)(void *)p->kids.ptr + i;
}

static cip_status push_kid(parser *p, const cip_node *node, cip_err *err)
{
    cip_buf *kids = &p->kids;
    if (kids->cap - kids->len < sizeof node)
        return cip_buf_add(kids, &node, sizeof node, err);
    memcpy(kids->ptr + kids->len, &node, sizeof node);
    kids->len += sizeof node;
    return CIP_OK;
}

/* Where a node of this text starts, for errors. */
static size_t place_of(const parser *p, const cip_node *node)
{
    return (size_t)(node->offset - p->src.skipped);
}

static cip_status count_node(parser *p, const cip_yaml_event *ev, cip_err *err)
{
    const uint64_t most = p->env->limits.max_nodes;
    if (p->nodes++ < most)
        return CIP_OK;
    return FAIL(p, err, CIP_ERR_LIMIT, ev->start, "expected at most %" PRIu64 " nodes, found more",
                most);
}

/* Keeps a tag once for all the nodes that follow each other with it. */
static cip_status set_tag(parser *p, cip_node *node, const char *tag, cip_err *err)
{
    size_t len = strlen(tag);
    if (len == 1 && *tag == '!')
        return CIP_OK; /* see is_plain */
    const bool local = *tag == '!' && p->default_handle != NULL;
    const size_t from = place_of(p, node);
    const uint8_t *written =
        local ? memchr(p->src.text.ptr + from, '!', p->src.text.len - from) : NULL;
    /* not as !<...>; an anchor in front has no exclamation mark, and more follows, as it was read
     */
    const bool shorthand = local && !(written != NULL && written[1] == '<');
    size_t i = (len + (unsigned char)tag[len - 1]) % NTAG;
    if (p->tags[i].written == NULL || p->tags[i].shorthand != shorthand ||
        strcmp(p->tags[i].written, tag) != 0) {
        char *kept, *full;
        CIP_TRY(cip_arena_copy(p->arena, tag, len, &kept, err));
        full = kept;
        if (shorthand) {
            /* The default handle's meaning in place of the `!` of a tag. */
            size_t at = place_of(p, node);
            if (!p->warned_of_handle && !p->src.quiet)
                cip_warn(p->env, CIP_ERR_CORRUPT, p->src.base + at, p->src.part,
                         "expected %%TAG for the handle !, found none: it is read as %s",
                         p->default_handle);
            p->warned_of_handle = true;
            CIP_TRY(cip_arena_printf(p->arena, &full, err, "%s%s", p->default_handle, tag + 1));
        }
        p->tags[i].shorthand = shorthand;
        p->tags[i].written = kept;
        p->tags[i].full = full;
    }
    node->tag = p->tags[i].full;
    return CIP_OK;
}

static cip_status set_anchor(parser *p, cip_node *node, const char *anchor, cip_err *err)
{
    char *name;
    size_t len = strlen(anchor);
    CIP_TRY(cip_arena_copy(p->arena, anchor, len, &name, err));
    node->anchor = name;
    return cip_strmap_put(&p->anchors, (cip_bytes){ (const uint8_t *)name, len },
                          (size_t)(uintptr_t)node, NULL, err);
}

/* Keeps the event itself; `node` has the place of a scalar or of a collection's begin. */
static cip_status mark(parser *p, int kind, const cip_node *node, const cip_yaml_event *ev,
                       cip_err *err)
{
    if (p->marks == NULL)
        return CIP_OK;
    uint64_t start = node->offset, end = node->end;
    if (kind == CIP_MARK_ALIAS || kind == CIP_MARK_CLOSE) {
        start = p->src.skipped + ev->start;
        end = p->src.skipped + ev->end;
    }
    return cip_marks_add(p->marks, kind, start, end, node, err);
}

/* What a node has besides its content: place, style, tag and anchor. */
static inline cip_status set_props(parser *p, int kind, cip_node *node, const cip_yaml_event *ev,
                                   cip_err *err)
{
    node->style = (uint8_t)ev->style;
    node->offset = p->src.skipped + ev->start;
    node->end = p->src.skipped + ev->end;
    if (ev->tag != NULL)
        CIP_TRY(set_tag(p, node, ev->tag, err));
    if (ev->anchor != NULL)
        CIP_TRY(set_anchor(p, node, ev->anchor, err));
    return mark(p, kind, node, ev, err);
}

/* What the document says of the handle `!`. */
static cip_status take_handle(parser *p, const cip_yaml_event *ev, cip_err *err)
{
    if (p->marks == NULL)
        return CIP_OK;
    p->marks->handle = p->default_handle;
    p->marks->prefix = NULL;
    if (ev->text != NULL) {
        char *copy;
        CIP_TRY(cip_arena_copy(p->arena, ev->text, strlen(ev->text), &copy, err));
        p->marks->prefix = p->marks->handle = copy;
    }
    return CIP_OK;
}

static cip_status take_alias(parser *p, const cip_yaml_event *ev, cip_err *err)
{
    const char *name = ev->anchor;
    CIP_TRY(count_node(p, ev, err));
    size_t found = cip_strmap_get(&p->anchors, (cip_bytes){ (const uint8_t *)name, strlen(name) });
    if (found == SIZE_MAX)
        return FAIL(p, err, CIP_ERR_CORRUPT, ev->start,
                    "expected an alias of an anchor, found *%.60s, which has no anchor", name);
    cip_node *node = (cip_node *)(uintptr_t)found;
    node->alias_used = true;
    CIP_TRY(mark(p, CIP_MARK_ALIAS, node, ev, err));
    return push_kid(p, node, err);
}

/* A merge key has no type until its mapping is closed; it is a string then. */
static bool is_merge_key(const parser *p, const cip_node *node)
{
    bool tagged = node->tag != NULL && strcmp(node->tag, CIP_CORE_TAG "merge") == 0;
    bool written = node->tag == NULL && node->style == CIP_STYLE_PLAIN && node->len == 2 &&
                   memcmp(node->text, "<<", 2) == 0;
    return (tagged || written) && depth(p) != 0 && top(p)->node->type == CIP_NODE_MAP &&
           (kid_count(p) - top(p)->first) % 2 == 0;
}

/* Whether the type is to be found from the text. PyYAML writes `! '2026-06-08 08:00:21'` for values
 * that have to be quoted in flow style and are no strings, and takes `!` for just that. */
static bool is_plain(const cip_node *node, const char *tag)
{
    return tag == NULL ? node->style == CIP_STYLE_PLAIN : strcmp(tag, "!") == 0;
}

static void resolve(parser *p, cip_node *node, bool plain)
{
    const size_t core = strlen(CIP_CORE_TAG);
    if (plain) {
        cip_yaml_resolve(node, node->text, node->len);
        return;
    }
    node->type = CIP_NODE_STRING;
    if (node->tag == NULL || strncmp(node->tag, CIP_CORE_TAG, core) != 0)
        return;
    if (!cip_yaml_resolve_as(node, node->tag + core, node->text, node->len) && !p->src.quiet)
        cip_warn(p->env, CIP_ERR_CORRUPT, p->src.base + place_of(p, node), p->src.part,
                 "expected a value of the type that the tag names, found other text");
}

static cip_status take_scalar(parser *p, const cip_yaml_event *ev, cip_err *err)
{
    cip_node *node;
    CIP_TRY(count_node(p, ev, err));
    CIP_TRY(cip_node_make_scalar(p->arena, ev->text, ev->len, &node, err));
    CIP_TRY(set_props(p, CIP_MARK_SCALAR, node, ev, err));
    if (is_merge_key(p, node))
        top(p)->merges = true;
    else
        resolve(p, node, is_plain(node, ev->tag));
    return push_kid(p, node, err);
}

static cip_status open_collection(parser *p, const cip_yaml_event *ev, cip_err *err)
{
    const uint32_t most = p->env->limits.max_depth;
    cip_node *node;
    CIP_TRY(count_node(p, ev, err));
    if (depth(p) >= most)
        return FAIL(p, err, CIP_ERR_LIMIT, ev->start,
                    "expected at most %" PRIu32 " collections inside each other, found more", most);
    CIP_TRY(cip_node_make_container(
        p->arena, ev->kind == CIP_YAML_SEQ ? CIP_NODE_SEQ : CIP_NODE_MAP, &node, err));
    CIP_TRY(set_props(p, CIP_MARK_OPEN, node, ev, err));
    CIP_TRY(push_kid(p, node, err));
    frame f = { .node = node, .first = kid_count(p) };
    return cip_buf_add(&p->open, &f, sizeof f, err);
}

/* The stack above its n-th child as pairs. */
static cip_pairs pairs_from(const parser *p, size_t n)
{
    return (cip_pairs){ (cip_pair *)(void *)kid(p, n), (kid_count(p) - n) / 2 };
}

static bool is_open(const parser *p, const cip_node *node)
{
    const frame *f = (const frame *)(const void *)p->open.ptr;
    for (size_t i = 0; i < depth(p); i++)
        if (f[i].node == node)
            return true;
    return false;
}

/* Puts the pairs of one mapping on the stack, above those merged since `first`. */
static cip_status merge_one(parser *p, const cip_node *map, size_t first, cip_err *err)
{
    const uint64_t most = p->env->limits.max_expansion;
    if (map->type != CIP_NODE_MAP || is_open(p, map))
        return FAIL(p, err, CIP_ERR_CORRUPT, place_of(p, map),
                    "expected a mapping to merge, found %s",
                    map->type == CIP_NODE_MAP ? "one that holds the merge key" : "something else");
    p->merged += map->len;
    if (p->merged > most)
        return FAIL(p, err, CIP_ERR_LIMIT, place_of(p, map),
                    "expected at most %" PRIu64 " pairs from merge keys, found more", most);
    if (map->len != 0)
        CIP_TRY(cip_buf_add(&p->kids, map->pair, map->len * sizeof(cip_pair), err));
    /* The same mapping again and again must not fill the memory. */
    cip_pairs all = pairs_from(p, first);
    if (all.n < p->compact_at)
        return CIP_OK;
    CIP_TRY(cip_pairs_unique(&p->env->mem, &all, NULL, NULL, err));
    p->compact_at = 2 * all.n > COMPACT_FROM ? 2 * all.n : COMPACT_FROM;
    p->kids.len = (first + 2 * all.n) * sizeof(cip_node *);
    return CIP_OK;
}

static cip_status merge(parser *p, const cip_node *value, size_t first, cip_err *err)
{
    if (value->type != CIP_NODE_SEQ)
        return merge_one(p, value, first, err);
    if (is_open(p, value))
        return FAIL(p, err, CIP_ERR_CORRUPT, place_of(p, value),
                    "expected mappings to merge, found a sequence that holds the merge key");
    for (size_t i = value->len; i > 0; i--) /* earlier ones win */
        CIP_TRY(merge_one(p, value->item[i - 1], first, err));
    return CIP_OK;
}

static void printable(const cip_node *key, char out[41])
{
    size_t n = 0;
    for (; n < 40 && n < key->len; n++)
        out[n] = key->text[n] >= ' ' && key->text[n] <= '~' ? key->text[n] : '?';
    out[n] = '\0';
}

static void warn_of_duplicate(void *user, const cip_pair *earlier, const cip_pair *later)
{
    parser *p = user;
    const uint64_t at = p->src.base + place_of(p, later->key);
    char name[41], first[41];
    if (p->src.quiet)
        return;
    printable(later->key, name);
    printable(earlier->key, first);
    if (strcmp(name, first) != 0)
        cip_warn_lack(
            p->env, CIP_LACKS_NODE, top(p)->node, CIP_ERR_CORRUPT, at, p->src.part,
            "expected each key once, found \"%s\", which is \"%s\" again: its last value counts",
            name, first);
    else
        cip_warn_lack(p->env, CIP_LACKS_NODE, top(p)->node, CIP_ERR_CORRUPT, at, p->src.part,
                      "expected each key once, found \"%s\" again: its last value counts", name);
}

/* Replaces the pairs above `first` by those that their merge keys bring, then their own. */
static cip_status apply_merge_keys(parser *p, size_t first, cip_err *err)
{
    size_t end = kid_count(p);
    p->compact_at = COMPACT_FROM;
    for (size_t i = first; i < end; i += 2)
        if ((*kid(p, i))->type == CIP_NODE_NONE)
            CIP_TRY(merge(p, *kid(p, i + 1), end, err));
    size_t own = kid_count(p);
    for (size_t i = first; i < end; i += 2) {
        cip_node *key = (cip_node *)*kid(p, i);
        cip_pair pair = { key, *kid(p, i + 1) };
        if (key->type == CIP_NODE_NONE)
            key->type = CIP_NODE_STRING;
        else
            CIP_TRY(cip_buf_add(&p->kids, &pair, sizeof pair, err));
    }
    cip_pairs mine = pairs_from(p, own);
    CIP_TRY(cip_pairs_unique(&p->env->mem, &mine, warn_of_duplicate, p, err));
    p->kids.len = (own + 2 * mine.n) * sizeof(cip_node *);
    memmove(kid(p, first), kid(p, end), (kid_count(p) - end) * sizeof(cip_node *));
    p->kids.len -= (end - first) * sizeof(cip_node *);
    return CIP_OK;
}

static cip_status close_collection(parser *p, const cip_yaml_event *ev, cip_err *err)
{
    const frame f = *top(p);
    const size_t n = kid_count(p) - f.first;
    f.node->end = p->src.skipped + ev->end;
    CIP_TRY(mark(p, CIP_MARK_CLOSE, f.node, ev, err));
    if (f.node->type == CIP_NODE_SEQ) {
        void *items = NULL;
        if (n != 0) {
            CIP_TRY(cip_arena_get(p->arena, n * sizeof(cip_node *), &items, err));
            memcpy(items, kid(p, f.first), n * sizeof(cip_node *));
        }
        f.node->item = items;
        f.node->len = (uint32_t)n;
    } else {
        if (f.merges) /* own keys win over merged ones */
            CIP_TRY(apply_merge_keys(p, f.first, err));
        CIP_TRY(cip_map_fill(p->arena, f.node, pairs_from(p, f.first),
                             f.merges ? NULL : warn_of_duplicate, p, err));
    }
    p->kids.len = f.first * sizeof(cip_node *);
    p->open.len -= sizeof f;
    return CIP_OK;
}

static cip_status take_event(parser *p, const cip_yaml_event *ev, cip_err *err)
{
    const uint64_t most = p->env->limits.max_work;
    p->work += depth(p);
    if (p->work > most)
        CIP_TRY(FAIL(p, err, CIP_ERR_LIMIT, ev->start,
                     "expected at most %" PRIu64
                     " as the sum of the depth of all events, found more",
                     most));
    switch (ev->kind) {
    case CIP_YAML_DOCUMENT:
        return take_handle(p, ev, err);
    case CIP_YAML_ALIAS:
        return take_alias(p, ev, err);
    case CIP_YAML_SCALAR:
        return take_scalar(p, ev, err);
    case CIP_YAML_SEQ:
    case CIP_YAML_MAP:
        return open_collection(p, ev, err);
    case CIP_YAML_CLOSE:
        return close_collection(p, ev, err);
    default:
        /* libyaml does not see what follows: it could be a hundred thousand directives */
        return cip_yaml_check_tail(&p->src, ev->end, err);
    }
}

cip_status cip_yaml_parse(cip_env *env, cip_arena *a, cip_bytes text, const cip_yaml_options *opt,
                          const cip_node **out, cip_err *err)
{
    return cip_yaml_parse_marks(env, a, text, opt, NULL, out, err);
}

cip_status cip_yaml_parse_marks(cip_env *env, cip_arena *a, cip_bytes text,
                                const cip_yaml_options *opt, cip_marks *marks, const cip_node **out,
                                cip_err *err)
{
    static const cip_yaml_options defaults = { 0 };
    cip_status st;
    const cip_node *root = NULL;
    cip_node *null = NULL;
    cip_yaml_events *events = NULL;
    cip_yaml_event ev;
    if (opt == NULL)
        opt = &defaults;
    parser p = { .env = env,
                 .arena = a,
                 .default_handle = opt->default_handle,
                 .marks = marks,
                 .open = { .mem = &env->mem },
                 .kids = { .mem = &env->mem },
                 .anchors = { .mem = &env->mem } };
    *out = NULL;
    CIP_GO(cip_yaml_source_init(&p.src, env, text, opt, err));
    CIP_GO(cip_yaml_check_chars(&p.src, err));
    CIP_GO(cip_yaml_read_directives(&p.src, err));
    if (p.src.names_primary)
        p.default_handle = NULL;
    CIP_GO(cip_yaml_events_new(&p.src, &events, err));
    do {
        CIP_GO(cip_yaml_events_next(events, &ev, err));
        st = take_event(&p, &ev, err);
        if (st != CIP_OK)
            CIP_GO(cip_fail_in(err, st, "%s", p.src.part));
    } while (ev.kind != CIP_YAML_END);
    if (kid_count(&p) != 0)
        root = *kid(&p, 0);
    else
        CIP_GO(cip_node_new_null(a, &null, err));
    *out = root != NULL ? root : null;
done:
    cip_yaml_events_free(events);
    cip_yaml_source_clear(&p.src);
    cip_buf_clear(&p.open);
    cip_buf_clear(&p.kids);
    cip_strmap_clear(&p.anchors);
    return st;
}
