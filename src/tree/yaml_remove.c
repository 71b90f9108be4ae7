/* SPDX-License-Identifier: BSD-3-Clause
 * Removing: entries of a collection with their lines or commas, and what to do with anchors that
 * would go with them. */
#include <string.h>

#include "tree/edit.h"
#include "tree/yaml_change.h"

static cip_status cut(cip_text_change *c, size_t from, size_t to, cip_err *err)
{
    if (to < from)
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, from,
            "expected an entry that can be removed, found one that ends before its start");
    c->cut_from = from;
    c->cut_to = to;
    return cip_text_change_splice(c, from, to - from, NULL, 0, err);
}

static cip_status cut_block(cip_text_change *c, const cip_place *p, size_t from, uint32_t next,
                            cip_err *err)
{
    const cip_yaml_text *t = c->old;
    if (!cip_span_leads(t, from)) { /* it stands behind a dash */
        if (next == CIP_NO_MARK)
            return cut(c, from, 0, err);
        return cut(c, from, cip_span_entry(t, next, p->child), err);
    }
    const uint32_t last = cip_span_last(t, p->child);
    size_t to = cip_span_next_line(t, cip_span_end(t, p->child));
    if (cip_span_keeps_lines(t, last))
        to = cip_mark_at(t, last)->end;
    return cut(c, cip_span_line(t, from), to, err);
}

/* The collection's only entry goes: `{}` or `[]` stays. */
static cip_status empty(cip_text_change *c, uint32_t i, cip_err *err)
{
    const cip_yaml_text *t = c->old;
    const cip_mark *m = cip_mark_at(t, i), *close = cip_mark_at(t, m->next - 1);
    const char *text = m->node->type == CIP_NODE_MAP ? "{}" : "[]";
    uint64_t props;
    const size_t content = cip_span_content(t, i, &props);
    c->restyled = i;
    if (m->parent == CIP_NO_MARK)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the last entry of the tree cannot be removed");
    if (close->start < close->end)
        return cut(c, content + 1, close->start, err);
    const uint32_t key = cip_span_key(t, i);
    bool colon = false;
    size_t slot = props != CIP_NO_OFFSET ? (size_t)props : 0;
    if (slot == 0 && key != CIP_NO_MARK)
        slot = cip_span_colon(t, key, &colon);
    const size_t end = cip_span_end(t, i);
    if (slot == 0 || !cip_span_breaks(t, slot, content))
        return cip_text_change_splice(c, content, end - content, text, 2, err);
    const size_t from = cip_span_line(t, content);
    CIP_TRY(cip_text_change_splice(c, slot, 0, " ", 1, err));
    CIP_TRY(cip_text_change_splice(c, slot, 0, text, 2, err));
    return cut(c, from, cip_span_next_line(t, end), err);
}

cip_status cip_text_change_take(cip_text_change *c, const cip_place *p, cip_err *err)
{
    const cip_yaml_text *t = c->old;
    const uint32_t first = p->key != CIP_NO_MARK ? p->key : p->child;
    const uint32_t end = cip_mark_at(t, p->child)->next;
    const uint32_t next = cip_mark_at(t, end)->kind == CIP_MARK_CLOSE ? CIP_NO_MARK : end;
    CIP_TRY(cip_text_change_region(c, (cip_region){ .from = first, .to = end }, err));
    if (p->before == CIP_NO_MARK && next == CIP_NO_MARK)
        return empty(c, p->parent, err);
    const size_t from = cip_span_entry(t, first, p->before);
    if (!cip_span_is_flow(t, p->parent))
        return cut_block(c, p, from, next, err);
    if (next != CIP_NO_MARK) /* with its comma */
        return cut(c, from, cip_span_entry(t, next, p->child), err);
    return cut(c, cip_span_end(t, p->before), cip_span_end(t, p->child), err);
}

cip_status cip_text_change_remove(cip_text_change *c, const cip_place *p, cip_err *err)
{
    const uint32_t first = p->key != CIP_NO_MARK ? p->key : p->child;
    CIP_TRY(cip_text_change_take(c, p, err));
    return cip_text_change_hoist(c, first, cip_mark_at(c->old, p->child)->next, err);
}

/* Anchored nodes that are moved: their old marks, and those of the aliases they replace. */
typedef struct hoist {
    uint32_t node, alias;
} hoist;

/* Whether one of two nodes lies in the other, or is it. */
static bool is_within(const cip_yaml_text *t, uint32_t outer, uint32_t node)
{
    return node >= outer && node < cip_mark_at(t, outer)->next;
}

static cip_status add_hoist(const cip_yaml_text *t, const hoist *add, cip_buf *hoists, cip_err *err)
{
    const hoist *h = (const hoist *)(const void *)hoists->ptr;
    for (size_t i = 0; i < hoists->len / sizeof *h; i++) {
        if (is_within(t, h[i].node, add->node))
            return CIP_OK; /* moves with it */
        if (is_within(t, add->node, h[i].node))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected anchors that can move to their aliases, found &%.40s inside "
                            "&%.40s, which is used later",
                            cip_mark_at(t, h[i].node)->node->anchor,
                            cip_mark_at(t, add->node)->node->anchor);
    }
    return cip_buf_add(hoists, add, sizeof *add, err);
}

/* A text that means the same wherever a value may stand. */
static bool can_move(const cip_yaml_text *t, const hoist *h)
{
    const cip_mark *m = cip_mark_at(t, h->node);
    const bool block = m->kind == CIP_MARK_OPEN && !cip_span_is_flow(t, h->node);
    return !block && m->node->style != CIP_STYLE_LITERAL && m->node->style != CIP_STYLE_FOLDED &&
           !cip_span_breaks(t, m->start, cip_span_end(t, h->node)) &&
           (m->node->style != CIP_STYLE_PLAIN || !cip_span_in_flow(t, h->alias));
}

static cip_status hoist_one(cip_text_change *c, const hoist *h, cip_err *err)
{
    const cip_yaml_text *t = c->old;
    const cip_mark *m = cip_mark_at(t, h->node), *alias = cip_mark_at(t, h->alias);
    const size_t del = alias->end - alias->start;
    const bool moves = can_move(t, h);
    CIP_TRY(cip_text_change_region(c,
                                   (cip_region){ .from = h->alias,
                                                 .to = h->alias + 1,
                                                 .expected = t,
                                                 .e_from = h->node,
                                                 .e_to = m->next,
                                                 .loose = !moves },
                                   err));
    if (moves)
        return cip_text_change_splice(c, alias->start, del, t->text.ptr + m->start,
                                      cip_span_end(t, h->node) - m->start, err);
    cip_buf line = { .mem = &c->env->mem };
    cip_status st = cip_yaml_emit_line(c->env, m->node, t->marks.prefix,
                                       cip_span_in_flow(t, h->alias), &line, err);
    if (st == CIP_OK)
        st = cip_text_change_splice(c, alias->start, del, line.ptr, line.len, err);
    cip_buf_clear(&line);
    return st;
}

cip_status cip_text_change_hoist(cip_text_change *c, uint32_t from, uint32_t to, cip_err *err)
{
    cip_status st = CIP_OK;
    cip_buf hoists = { .mem = &c->env->mem };
    if (c->old->marks.anchors.len == 0)
        return CIP_OK;
    const uint32_t n = cip_mark_count(c->old);
    for (uint32_t i = to; i < n; i++) {
        const cip_mark *m = cip_mark_at(c->old, i);
        const hoist h = { m->target, i };
        if (m->kind == CIP_MARK_ALIAS && m->target >= from && m->target < to)
            CIP_GO(add_hoist(c->old, &h, &hoists, err));
    }
    for (size_t i = 0; i < hoists.len / sizeof(hoist); i++)
        CIP_GO(hoist_one(c, (const hoist *)(const void *)hoists.ptr + i, err));
done:
    cip_buf_clear(&hoists);
    return st;
}
