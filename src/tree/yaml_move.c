/* SPDX-License-Identifier: BSD-3-Clause
 * Moving: a node gets another key where it stands, or goes to the end of another collection. Its
 * text goes along as it is written, with comments, anchors, tags and style; in block style its
 * lines are indented anew, as far as the new place is from the old one. All of it is one change of
 * the text, so that the comparison of events covers what left and what came. */
#include <string.h>

#include "tree/yaml_edit_impl.h"

typedef struct moving {
    cip_yaml_edit *e;
    cip_text_change *c;
    cip_place from, to;
    cip_bytes *step; /* of the new path, those from to.depth on: the first is the new key */
    size_t nmade;    /* parents that are made: all of `step` but the last name one */
    cip_buf entry;   /* what is written at the new place */
    bool loose;      /* in another style than it was */
} moving;

/* A key as YAML. */
static cip_status put_key(const moving *m, cip_bytes key, bool flow, cip_buf *out, cip_err *err)
{
    cip_arena a = { .mem = &m->e->env->mem };
    cip_node *name;
    cip_status st = cip_node_new_string(&a, (const char *)key.ptr, key.len, &name, err);
    if (st == CIP_OK)
        st = cip_yaml_emit_line(m->e->env, name, m->e->now.marks.prefix, flow, out, err);
    cip_arena_clear(&a);
    return st;
}

static bool in_map(const moving *m)
{
    return cip_mark_at(&m->e->now, m->to.parent)->node->type == CIP_NODE_MAP;
}

static size_t column_of(const cip_yaml_text *t, size_t at)
{
    return at - cip_span_line(t, at);
}

/* --- another key where it stands -------------------------------------------------------------- */

static cip_status rename_key(moving *m, cip_err *err)
{
    const cip_yaml_text *t = &m->e->now;
    const uint32_t key = m->from.key;
    const size_t start = cip_mark_at(t, key)->start;
    const cip_bytes name = cip_map_new_key(cip_mark_at(t, m->to.parent)->node, m->step[0]);
    CIP_TRY(put_key(m, name, cip_span_is_flow(t, m->to.parent), &m->entry, err));
    CIP_TRY(cip_text_change_expect(m->c, &m->entry, err));
    CIP_TRY(cip_text_change_region(m->c,
                                   (cip_region){ .from = key,
                                                 .to = m->from.child,
                                                 .expected = &m->c->value,
                                                 .e_to = cip_mark_count(&m->c->value) },
                                   err));
    const size_t end = cip_span_end(t, key);
    CIP_TRY(cip_text_change_splice(m->c, start, end > start ? end - start : 0, m->entry.ptr,
                                   m->entry.len, err));
    return cip_text_change_hoist(m->c, key, m->from.child, err);
}

/* --- the node's own text ---------------------------------------------------------------------- */

/* Lines behind the first are moved by `shift` columns: to the left as far as they are blank. */
static cip_status put_shifted(cip_buf *out, const uint8_t *p, size_t n, int64_t shift, cip_err *err)
{
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && p[end] != '\n' && p[end] != '\r')
            end++;
        while (end < n && (p[end] == '\n' || p[end] == '\r'))
            end++; /* blank lines stay as they are */
        CIP_TRY(cip_buf_add(out, p + i, end - i, err));
        i = end;
        if (i < n && shift > 0)
            CIP_TRY(cip_buf_fill(out, ' ', (size_t)shift, err));
        for (int64_t k = shift; i < n && k < 0 && p[i] == ' '; k++)
            i++;
    }
    return CIP_OK;
}

/* Within a flow collection a node is on one line, or as it was in the one that it comes from. */
static cip_status put_in_flow(moving *m, bool was_flow, cip_buf *out, cip_err *err)
{
    const cip_yaml_text *t = &m->e->now;
    const cip_mark *n = cip_mark_at(t, m->from.child);
    const size_t end = cip_span_end(t, m->from.child);
    if (n->start >= end)
        return CIP_OK;
    if (was_flow || n->kind == CIP_MARK_ALIAS ||
        (n->kind == CIP_MARK_OPEN && cip_span_is_flow(t, m->from.child)))
        return cip_buf_add(out, t->text.ptr + n->start, end - n->start, err);
    if (cip_yaml_comments_in(t, n->start, end))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, n->start,
                        "expected a node without comments to move into brackets, found comments "
                        "that would be lost");
    m->loose = true;
    return cip_yaml_emit_line(m->e->env, n->node, t->marks.prefix, true, out, err);
}

/* The rest of a block entry's lines behind its colon or dash, comments included, whose old column
 * is `old` and the new one `now`. */
static cip_status put_block(const moving *m, size_t old, size_t now, bool dash, cip_buf *out,
                            cip_err *err)
{
    const cip_yaml_text *t = &m->e->now;
    const uint32_t child = m->from.child, last = cip_span_last(t, child);
    const cip_mark *n = cip_mark_at(t, child);
    const bool block = n->kind == CIP_MARK_OPEN && !cip_span_is_flow(t, child);
    size_t from = cip_span_entry(t, child, m->from.before) + 1, to;
    int64_t shift = (int64_t)now - (int64_t)old;
    bool colon;
    if (m->from.key != CIP_NO_MARK)
        from = cip_span_colon(t, m->from.key, &colon);
    to = cip_span_keeps_lines(t, last) ? cip_mark_at(t, last)->end
                                       : cip_span_line_end(t, cip_span_end(t, child));
    if (block) {
        uint64_t props;
        const size_t content = cip_span_content(t, child, &props);
        const size_t column = column_of(t, content);
        if (!cip_span_breaks(t, from, content) && !dash) { /* `- a: 1` */
            CIP_TRY(cip_buf_puts(out, cip_span_eol(t), err));
            CIP_TRY(cip_buf_fill(out, ' ', column + now - old, err));
            from = content;
        } else if (dash && column == old) { /* items as far left as the key of their list */
            shift += 2;
        }
    }
    return to > from ? put_shifted(out, t->text.ptr + from, to - from, shift, err) : CIP_OK;
}

/* What comes behind the new key or dash, which stands in column `now`. */
static cip_status put_node(moving *m, bool flow, size_t now, bool dash, cip_err *err)
{
    const cip_yaml_text *t = &m->e->now;
    const bool was_flow = cip_span_is_flow(t, m->from.parent);
    const uint32_t first = m->from.key != CIP_NO_MARK ? m->from.key : m->from.child;
    if (!flow && !was_flow)
        return put_block(m, column_of(t, cip_span_entry(t, first, m->from.before)), now, dash,
                         &m->entry, err);
    CIP_TRY(cip_buf_puts(&m->entry, " ", err));
    return put_in_flow(m, was_flow, &m->entry, err);
}

/* --- the entry at the new place --------------------------------------------------------------- */

/* The keys of the made parents and of the node, up to where its text starts. *column: of the last
 * one. */
static cip_status put_keys(const moving *m, bool flow, size_t *column, cip_buf *out, cip_err *err)
{
    const cip_yaml_text *t = &m->e->now;
    bool map = in_map(m);
    for (size_t i = 0;; i++) {
        cip_bytes key = m->step[i];
        if (i == 0 && map)
            key = cip_map_new_key(cip_mark_at(t, m->to.parent)->node, key);
        if (map)
            CIP_TRY(put_key(m, key, flow, out, err));
        CIP_TRY(cip_buf_puts(out, map ? ":" : flow ? "" : "-", err));
        if (i == m->nmade)
            return CIP_OK;
        map = !cip_step_is_dash(m->step[i + 1]);
        *column += 2;
        if (!flow) {
            CIP_TRY(cip_buf_puts(out, cip_span_eol(t), err));
            CIP_TRY(cip_buf_fill(out, ' ', *column, err));
        } else {
            CIP_TRY(cip_buf_puts(out, map ? " {" : " [", err));
        }
    }
}

static cip_status put_closers(const moving *m, cip_buf *out, cip_err *err)
{
    for (size_t i = m->nmade; i > 0; i--)
        CIP_TRY(cip_buf_puts(out, cip_step_is_dash(m->step[i]) ? "]" : "}", err));
    return CIP_OK;
}

/* The same entry around a placeholder, to know the events of keys and made parents. */
static cip_status expect(moving *m, bool flow, size_t column, cip_err *err)
{
    cip_status st;
    cip_buf all = { .mem = &m->e->env->mem };
    const bool map = in_map(m);
    if (flow)
        CIP_GO(cip_buf_puts(&all, map ? "{" : "[", err));
    else
        CIP_GO(cip_buf_fill(&all, ' ', column, err));
    CIP_GO(put_keys(m, flow, &column, &all, err));
    CIP_GO(cip_buf_puts(&all, " ~", err));
    if (flow) {
        CIP_GO(put_closers(m, &all, err));
        CIP_GO(cip_buf_puts(&all, map ? "}" : "]", err));
    }
    CIP_GO(cip_text_change_expect(m->c, &all, err));
done:
    cip_buf_clear(&all);
    return st;
}

/* The keys and what opens, the node's own events, and what closes. */
static cip_status add_regions(const moving *m, cip_err *err)
{
    const cip_yaml_text *t = &m->e->now;
    const uint32_t close = cip_mark_at(t, m->to.parent)->next - 1;
    const uint32_t end = cip_mark_count(&m->c->value) - 1;
    const uint32_t hole = end - 1 - (uint32_t)m->nmade;
    cip_region r = { .from = close, .to = close, .expected = &m->c->value };
    r.e_from = 1;
    r.e_to = hole;
    CIP_TRY(cip_text_change_region(m->c, r, err));
    CIP_TRY(cip_text_change_region(m->c,
                                   (cip_region){ .from = close,
                                                 .to = close,
                                                 .expected = t,
                                                 .e_from = m->from.child,
                                                 .e_to = cip_mark_at(t, m->from.child)->next,
                                                 .loose = m->loose },
                                   err));
    r.e_from = hole + 1;
    r.e_to = end;
    return cip_text_change_region(m->c, r, err);
}

static cip_status move_entry(moving *m, cip_err *err)
{
    const cip_yaml_text *t = &m->e->now;
    const uint32_t parent = m->to.parent;
    const bool flow = cip_span_is_flow(t, parent);
    uint64_t props;
    const size_t first = flow ? 0 : column_of(t, cip_span_content(t, parent, &props));
    size_t column = first;
    CIP_TRY(expect(m, flow, first, err));
    CIP_TRY(put_keys(m, flow, &column, &m->entry, err));
    const bool dash = m->nmade == 0 ? !in_map(m) : cip_step_is_dash(m->step[m->nmade]);
    CIP_TRY(put_node(m, flow, column, dash, err));
    if (flow)
        CIP_TRY(put_closers(m, &m->entry, err));
    CIP_TRY(cip_text_change_take(m->c, &m->from, err));
    CIP_TRY(add_regions(m, err));
    CIP_TRY(cip_text_change_put(m->c, parent, &m->entry, err));
    return m->from.key == CIP_NO_MARK
               ? CIP_OK
               : cip_text_change_hoist(m->c, m->from.key, m->from.child, err);
}

/* --- paths ------------------------------------------------------------------------------------ */

/* What stands at the new path must be nothing, and not within what moves. */
/* Whether a node is met below another: by an alias, too. */
typedef struct meeting {
    const cip_node *node;
    bool met;
} meeting;

static int meet(void *user, const cip_visit *v)
{
    meeting *x = user;
    x->met = x->met || v->node == x->node;
    return x->met ? 2 : v->again ? 1 : 0;
}

/* What moves would hold itself if an alias in it named what it goes into. */
static cip_status check_cycle(const moving *m, const char *from, cip_err *err)
{
    meeting x = { .node = cip_mark_at(&m->e->now, m->to.parent)->node };
    const cip_node *node = cip_yaml_edit_get(m->e, from, err);
    cip_err why = CIP_ERR_INIT;
    if (node == NULL)
        return CIP_ERR_NOT_FOUND;
    cip_status st = cip_tree_walk(node, m->e->env, meet, &x, &why);
    if (x.met)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a new place outside the moved node, found one that an alias "
                        "inside it refers to");
    if (st == CIP_ERR_LIMIT)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "too many aliases to follow them all: %s", why.text);
    return st == CIP_OK ? CIP_OK : cip_fail(err, st, CIP_NO_OFFSET, "%s", why.text);
}

static cip_status move_at(moving *m, cip_arena *a, const char *from, const char *to, cip_err *err)
{
    const cip_yaml_text *t = &m->e->now;
    size_t n;
    CIP_TRY(cip_yaml_find(m->e, a, from, &m->from, err));
    CIP_TRY(cip_path_split(a, to, &m->step, &n, err));
    if (n == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a path within the tree, found the whole tree");
    CIP_TRY(cip_yaml_follow(m->e, m->step, n, &m->to, err));
    m->step += m->to.depth;
    m->nmade = n - 1 - m->to.depth;
    if (m->to.parent >= m->from.child && m->to.parent < cip_mark_at(t, m->from.child)->next)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a new place outside the moved node, found \"%.80s\" inside it",
                        to);
    if (m->to.child != CIP_NO_MARK || (m->nmade == 0 && m->to.merged != NULL))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a path that does not exist yet, found a node at \"%.80s\"", to);
    CIP_TRY(cip_steps_new(m->step, m->nmade + 1, err));
    if (m->to.parent != m->from.parent)
        CIP_TRY(check_cycle(m, from, err));
    const size_t twins = cip_yaml_twins(t, &m->from);
    if (twins > 1)
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "expected a key that its mapping has once, found it %zu times; remove the others",
            twins);
    if (m->to.parent != m->from.parent || m->nmade != 0)
        return move_entry(m, err);
    if (m->from.key == CIP_NO_MARK)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "items cannot change their order within a list");
    return rename_key(m, err);
}

static cip_status move_once(cip_yaml_edit *e, const char *from, const char *to, cip_err *err)
{
    cip_text_change c;
    cip_arena a = { .mem = &e->env->mem };
    moving m = { .e = e, .c = &c, .entry = { .mem = &e->env->mem } };
    cip_text_change_init(&c, e->env, &e->now);
    cip_status st = move_at(&m, &a, from, to, err);
    if (st == CIP_OK)
        st = cip_yaml_apply(e, &c, err);
    cip_text_change_clear(&c);
    cip_buf_clear(&m.entry);
    cip_arena_clear(&a);
    return st;
}

/* A node in the way of the other goes first, but not one that holds it. */
static cip_status clear_place(cip_yaml_edit *e, const char *from, const char *to, cip_err *err)
{
    cip_arena a = { .mem = &e->env->mem };
    cip_place x, y;
    cip_status st = cip_yaml_find(e, &a, from, &x, err);
    bool there = st == CIP_OK && cip_yaml_find(e, &a, to, &y, NULL) == CIP_OK;
    cip_arena_clear(&a);
    if (!there)
        return st;
    if (x.child >= y.child && x.child < cip_mark_at(&e->now, y.child)->next)
        return cip_fail(
            err, CIP_ERR_ARG, CIP_NO_OFFSET,
            "expected a new place beside the moved node, found \"%.80s\", which contains it", to);
    if (y.key == CIP_NO_MARK)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "an item of a list cannot be replaced by the moved node");
    return cip_yaml_edit_remove(e, to, err);
}

cip_status cip_yaml_edit_move(cip_yaml_edit *e, const char *from, const char *to, bool replace,
                              cip_err *err)
{
    CIP_TRY(cip_yaml_check_path(to, err));
    CIP_TRY(cip_yaml_edit_flush(e, err));
    if (!replace)
        return move_once(e, from, to, err);
    cip_yaml_edit *some; /* both changes or none */
    CIP_TRY(cip_yaml_edit_new(e->env, cip_yaml_edit_text(e), &e->opt, &some, err));
    cip_status st = clear_place(some, from, to, err);
    if (st == CIP_OK)
        st = move_once(some, from, to, err);
    if (st == CIP_OK)
        cip_yaml_swap(e, some);
    cip_yaml_edit_free(some);
    return st;
}
