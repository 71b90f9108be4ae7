/* SPDX-License-Identifier: BSD-3-Clause
 * Setting: nodes replaced where they stand, pairs and items added at the end of their collection.
 * What is written takes one line, so that no indentation has to be guessed. */
#include <string.h>

#include "tree/edit.h"
#include "tree/yaml_change.h"

static cip_status insert_at(cip_text_change *c, size_t at, const cip_buf *text, cip_err *err)
{
    return cip_text_change_splice(c, at, 0, text->ptr, text->len, err);
}

static cip_status put_value(cip_text_change *c, const cip_node *value, bool flow, cip_buf *out,
                            cip_err *err)
{
    return cip_yaml_emit_line(c->env, value, c->old->marks.prefix, flow, out, err);
}

static cip_status write_over(cip_text_change *c, const cip_place *p, const cip_buf *value,
                             cip_err *err)
{
    const cip_yaml_text *t = c->old;
    const cip_mark *m = cip_mark_at(t, p->child);
    const bool missing = m->kind == CIP_MARK_SCALAR && m->start == m->end; /* it is not written */
    const bool block = m->kind == CIP_MARK_OPEN && !cip_span_is_flow(t, p->child);
    bool colon = true;
    size_t slot = m->end; /* behind the colon or dash */
    if (p->key != CIP_NO_MARK && (missing || block))
        slot = cip_span_colon(t, p->key, &colon);
    if (missing) {
        const char *lead = colon ? " " : ": ";
        CIP_TRY(cip_text_change_splice(c, slot, 0, lead, strlen(lead), err));
        return insert_at(c, slot, value, err);
    }
    if (block && p->key != CIP_NO_MARK && cip_span_breaks(t, slot, m->start)) {
        /* A block collection that begins on a line of its own: its lines go, so that comments
         * between them and the colon stay. */
        const size_t from = cip_span_line(t, m->start);
        const size_t to = cip_span_next_line(t, cip_span_end(t, p->child));
        CIP_TRY(cip_text_change_splice(c, slot, 0, " ", 1, err));
        CIP_TRY(insert_at(c, slot, value, err));
        return cip_text_change_splice(c, from, to - from, NULL, 0, err);
    }
    return cip_text_change_splice(c, m->start, cip_span_end(t, p->child) - m->start, value->ptr,
                                  value->len, err);
}

cip_status cip_text_change_replace(cip_text_change *c, const cip_place *p, const cip_node *value,
                                   cip_err *err)
{
    cip_status st;
    cip_buf line = { .mem = &c->env->mem };
    const uint32_t next = cip_mark_at(c->old, p->child)->next;
    CIP_GO(put_value(c, value, cip_span_in_flow(c->old, p->child), &line, err));
    CIP_GO(cip_text_change_expect(c, &line, err));
    CIP_GO(cip_text_change_region(c,
                                  (cip_region){ .from = p->child,
                                                .to = next,
                                                .expected = &c->value,
                                                .e_to = cip_mark_count(&c->value) },
                                  err));
    CIP_GO(write_over(c, p, &line, err));
    CIP_GO(cip_text_change_hoist(c, p->child, next, err));
done:
    cip_buf_clear(&line);
    return st;
}

/* "key: value", or without a key "value", as it stands in its collection. */
static cip_status put_entry(cip_text_change *c, bool flow, const cip_bytes *key,
                            const cip_node *value, cip_buf *out, cip_err *err)
{
    cip_arena a = { .mem = &c->env->mem };
    cip_node *name;
    cip_status st = CIP_OK;
    if (key != NULL) {
        CIP_GO(cip_node_new_string(&a, (const char *)key->ptr, key->len, &name, err));
        CIP_GO(put_value(c, name, flow, out, err));
        CIP_GO(cip_buf_puts(out, ": ", err));
    }
    CIP_GO(put_value(c, value, flow, out, err));
done:
    cip_arena_clear(&a);
    return st;
}

/* The entry in a collection of its own, to know its events. */
static cip_status expect_entry(cip_text_change *c, bool map, bool flow, const cip_buf *entry,
                               const char *front, cip_err *err)
{
    cip_status st;
    cip_buf all = { .mem = &c->env->mem };
    CIP_GO(cip_buf_puts(&all, front, err));
    CIP_GO(cip_buf_puts(&all, flow ? (map ? "{" : "[") : (map ? "" : "- "), err));
    CIP_GO(cip_buf_add(&all, entry->ptr, entry->len, err));
    CIP_GO(cip_buf_puts(&all, flow ? (map ? "}" : "]") : "", err));
    CIP_GO(cip_text_change_expect(c, &all, err));
done:
    cip_buf_clear(&all);
    return st;
}

/* A line of its own behind the last one of a block collection, or where that one goes at the same
 * time. */
static cip_status add_line(cip_text_change *c, uint32_t collection, const cip_buf *entry,
                           cip_err *err)
{
    const cip_yaml_text *t = c->old;
    const uint32_t last = cip_span_last(t, collection);
    uint64_t props;
    const size_t first = cip_span_content(t, collection, &props);
    const size_t column = first - cip_span_line(t, first);
    size_t at = cip_span_line_end(t, cip_span_end(t, collection));
    /* the blank lines behind a text that keeps them are part of it */
    bool kept = cip_span_keeps_lines(t, last);
    if (kept)
        at = cip_mark_at(t, last)->end;
    c->alone = kept;
    if (at > c->cut_from && at < c->cut_to) {
        at = c->cut_from;
        kept = true;
    }
    cip_status st;
    cip_buf line = { .mem = &c->env->mem };
    if (!kept || cip_span_line(t, at) != at)
        CIP_GO(cip_buf_puts(&line, cip_span_eol(t), err));
    CIP_GO(cip_buf_fill(&line, ' ', column, err));
    CIP_GO(cip_buf_add(&line, entry->ptr, entry->len, err));
    const uint8_t end = entry->len != 0 ? entry->ptr[entry->len - 1] : 0;
    if (kept && end != '\n' && end != '\r')
        CIP_GO(cip_buf_puts(&line, cip_span_eol(t), err));
    CIP_GO(insert_at(c, at, &line, err));
done:
    cip_buf_clear(&line);
    return st;
}

/* In front of the closing bracket, or behind the last entry and the comma that follows it. An entry
 * behind this one only has ", " in front. */
static cip_status add_in_flow(cip_text_change *c, uint32_t collection, const cip_buf *entry,
                              cip_err *err)
{
    const cip_yaml_text *t = c->old;
    const cip_mark *m = cip_mark_at(t, collection);
    size_t at = cip_mark_at(t, m->next - 1)->end - 1;
    c->alone = m->next - 1 == collection + 1;
    if (!c->alone) {
        const size_t end = cip_span_inner(t, collection);
        const size_t comma = cip_span_skip(t, end);
        const bool has = comma < t->text.len && t->text.ptr[comma] == ',';
        at = has ? comma + 1 : end;
        /* `x:,` would be one word */
        const char *lead = has ? " " : t->text.ptr[at - 1] == ':' ? " , " : ", ";
        c->alone = strcmp(lead, ", ") != 0;
        CIP_TRY(cip_text_change_splice(c, at, 0, lead, strlen(lead), err));
    }
    CIP_TRY(insert_at(c, at, entry, err));
    const bool comment = t->text.ptr[at] == '#'; /* it would belong to the word */
    c->alone |= comment;
    return cip_text_change_splice(c, at, 0, " ", comment, err);
}

cip_status cip_text_change_put(cip_text_change *c, uint32_t collection, const cip_buf *entry,
                               cip_err *err)
{
    return cip_span_is_flow(c->old, collection) ? add_in_flow(c, collection, entry, err)
                                                : add_line(c, collection, entry, err);
}

cip_status cip_text_change_insert(cip_text_change *c, uint32_t collection, cip_bytes key,
                                  const cip_node *value, cip_err *err)
{
    const bool map = cip_mark_at(c->old, collection)->node->type == CIP_NODE_MAP;
    const bool flow = cip_span_is_flow(c->old, collection);
    const uint32_t close = cip_mark_at(c->old, collection)->next - 1;
    cip_status st;
    cip_buf entry = { .mem = &c->env->mem }, line = { .mem = &c->env->mem };
    CIP_GO(put_entry(c, flow, map ? &key : NULL, value, &entry, err));
    CIP_GO(expect_entry(c, map, flow, &entry, "", err));
    CIP_GO(cip_text_change_region(c,
                                  (cip_region){ .from = close,
                                                .to = close,
                                                .expected = &c->value,
                                                .e_from = 1,
                                                .e_to = cip_mark_count(&c->value) - 1 },
                                  err));
    if (!map && !flow)
        CIP_GO(cip_buf_puts(&line, "- ", err));
    CIP_GO(cip_buf_add(&line, entry.ptr, entry.len, err));
    CIP_GO(cip_text_change_put(c, collection, &line, err));
done:
    cip_buf_clear(&entry);
    cip_buf_clear(&line);
    return st;
}

bool cip_text_change_rootless(const cip_yaml_text *t)
{
    return cip_mark_count(t) == 0 || cip_span_is_empty(t, 0);
}

/* Where the first line of a text without a root goes; *fresh: it starts there, and ends itself. */
static size_t first_place(const cip_yaml_text *t, bool *fresh)
{
    *fresh = false;
    if (cip_mark_count(t) != 0 && cip_mark_at(t, 0)->end != cip_mark_at(t, 0)->start)
        return cip_span_line_end(t, cip_mark_at(t, 0)->end);
    for (size_t at = cip_span_line(t, 0); at < t->text.len; at = cip_span_next_line(t, at))
        if (t->text.len - at >= 3 && memcmp(t->text.ptr + at, "---", 3) == 0)
            return cip_span_line_end(t, at);
    *fresh = true;
    return t->text.len;
}

cip_status cip_text_change_begin(cip_text_change *c, cip_bytes key, const cip_node *value,
                                 cip_err *err)
{
    const cip_yaml_text *t = c->old;
    const bool root = cip_mark_count(t) != 0;
    bool fresh;
    const size_t at = first_place(t, &fresh);
    cip_status st;
    cip_buf entry = { .mem = &c->env->mem }, front = { .mem = &c->env->mem };
    CIP_GO(put_entry(c, false, &key, value, &entry, err));
    /* the root's anchor and tag stay */
    if (root && cip_mark_at(t, 0)->end != cip_mark_at(t, 0)->start) {
        const cip_mark *m = cip_mark_at(t, 0);
        CIP_GO(cip_buf_puts(&front, "--- ", err));
        CIP_GO(cip_buf_add(&front, t->text.ptr + m->start, m->end - m->start, err));
        CIP_GO(cip_buf_puts(&front, "\n", err));
    }
    CIP_GO(cip_buf_nul(&front, err));
    CIP_GO(expect_entry(c, true, false, &entry, (const char *)front.ptr, err));
    CIP_GO(cip_text_change_region(
        c,
        (cip_region){
            .from = 0, .to = root, .expected = &c->value, .e_to = cip_mark_count(&c->value) },
        err));
    if (!fresh || cip_span_line(t, at) != at)
        CIP_GO(cip_text_change_splice(c, at, 0, cip_span_eol(t), strlen(cip_span_eol(t)), err));
    CIP_GO(insert_at(c, at, &entry, err));
    if (fresh)
        CIP_GO(cip_text_change_splice(c, at, 0, cip_span_eol(t), strlen(cip_span_eol(t)), err));
done:
    cip_buf_clear(&entry);
    cip_buf_clear(&front);
    return st;
}
