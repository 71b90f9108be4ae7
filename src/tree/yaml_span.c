/* SPDX-License-Identifier: BSD-3-Clause
 * Places in YAML text. The text was parsed, so what is looked for is there; whatever is misjudged
 * in odd text is found when the spliced text is compared. */
#include <string.h>

#include "tree/yaml_span.h"

static uint8_t byte(const cip_yaml_text *t, size_t at)
{
    return at < t->text.len ? t->text.ptr[at] : 0;
}

static bool is_break(uint8_t c)
{
    return c == '\n' || c == '\r';
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static bool is_space(uint8_t c)
{
    return is_blank(c) || is_break(c);
}

size_t cip_span_skip(const cip_yaml_text *t, size_t at)
{
    while (at < t->text.len) {
        if (t->text.ptr[at] == '#')
            at = cip_span_line_end(t, at);
        else if (is_space(t->text.ptr[at]))
            at++;
        else
            break;
    }
    return at;
}

size_t cip_span_line(const cip_yaml_text *t, size_t at)
{
    static const uint8_t bom[3] = { 0xef, 0xbb, 0xbf };
    while (at > 0 && !is_break(t->text.ptr[at - 1]))
        at--;
    if (at == 0 && t->text.len >= sizeof bom && memcmp(t->text.ptr, bom, sizeof bom) == 0)
        at = sizeof bom;
    return at;
}

size_t cip_span_line_end(const cip_yaml_text *t, size_t at)
{
    while (at < t->text.len && !is_break(t->text.ptr[at]))
        at++;
    return at;
}

size_t cip_span_next_line(const cip_yaml_text *t, size_t at)
{
    at = cip_span_line_end(t, at);
    if (byte(t, at) == '\r' && byte(t, at + 1) == '\n')
        at++;
    return at < t->text.len ? at + 1 : at;
}

bool cip_span_leads(const cip_yaml_text *t, size_t at)
{
    size_t p = cip_span_line(t, at);
    while (p < at && is_blank(t->text.ptr[p]))
        p++;
    return p == at;
}

bool cip_span_breaks(const cip_yaml_text *t, size_t from, size_t to)
{
    while (from < to && !is_break(t->text.ptr[from]))
        from++;
    return from < to;
}

const char *cip_span_eol(const cip_yaml_text *t)
{
    size_t at = cip_span_line_end(t, 0);
    if (byte(t, at) == '\r')
        return byte(t, at + 1) == '\n' ? "\r\n" : "\r";
    return "\n";
}

bool cip_span_is_flow(const cip_yaml_text *t, uint32_t collection)
{
    return cip_mark_at(t, collection)->node->style == CIP_STYLE_FLOW;
}

bool cip_span_in_flow(const cip_yaml_text *t, uint32_t i)
{
    const uint32_t parent = cip_mark_at(t, i)->parent;
    return parent != CIP_NO_MARK && cip_span_is_flow(t, parent);
}

bool cip_span_is_empty(const cip_yaml_text *t, uint32_t i)
{
    const cip_mark *m = cip_mark_at(t, i);
    return m->kind == CIP_MARK_SCALAR && m->node->style == CIP_STYLE_PLAIN && m->node->len == 0;
}

bool cip_span_keeps_lines(const cip_yaml_text *t, uint32_t i)
{
    const cip_mark *m = cip_mark_at(t, i);
    const cip_node *n = m->node;
    if (m->kind != CIP_MARK_SCALAR ||
        (n->style != CIP_STYLE_LITERAL && n->style != CIP_STYLE_FOLDED))
        return false;
    return n->len != 0 && n->text[n->len - 1] == '\n' &&
           (n->len == 1 || n->text[n->len - 2] == '\n');
}

uint32_t cip_span_key(const cip_yaml_text *t, uint32_t i)
{
    const uint32_t parent = cip_mark_at(t, i)->parent;
    if (parent == CIP_NO_MARK || cip_mark_at(t, parent)->node->type != CIP_NODE_MAP)
        return CIP_NO_MARK;
    uint32_t key = parent + 1;
    for (;;) {
        uint32_t value = cip_mark_at(t, key)->next;
        if (value >= i || key >= i)
            return value == i ? key : CIP_NO_MARK;
        key = cip_mark_at(t, value)->next;
    }
}

/* Back over the ends of collections without brackets. */
static uint32_t last_from(const cip_yaml_text *t, uint32_t i)
{
    while (cip_mark_at(t, i)->kind == CIP_MARK_CLOSE &&
           cip_mark_at(t, i)->start == cip_mark_at(t, i)->end)
        i--;
    return i;
}

uint32_t cip_span_last(const cip_yaml_text *t, uint32_t i)
{
    return last_from(t, cip_mark_at(t, i)->next - 1);
}

static size_t end_of(const cip_yaml_text *t, uint32_t last)
{
    const cip_mark *m = cip_mark_at(t, last);
    if (m->kind != CIP_MARK_SCALAR)
        return m->end;
    if (m->start == m->end) {
        /* An empty value lies behind its colon, or, without one, behind its key. */
        bool colon;
        const uint32_t key = cip_span_key(t, last);
        if (key == CIP_NO_MARK)
            return cip_mark_at(t, last)->end;
        return cip_span_colon(t, key, &colon);
    }
    size_t end = m->end;
    if (m->node->style == CIP_STYLE_LITERAL || m->node->style == CIP_STYLE_FOLDED)
        while (end > m->start + 1 && is_space(t->text.ptr[end - 1])) /* blank lines */
            end--;
    return end;
}

size_t cip_span_end(const cip_yaml_text *t, uint32_t i)
{
    return end_of(t, cip_span_last(t, i));
}

size_t cip_span_inner(const cip_yaml_text *t, uint32_t collection)
{
    return end_of(t, last_from(t, cip_mark_at(t, collection)->next - 2));
}

size_t cip_span_content(const cip_yaml_text *t, uint32_t collection, uint64_t *props)
{
    const cip_mark *first = cip_mark_at(t, collection + 1);
    const size_t stop = first->kind == CIP_MARK_CLOSE ? first->end : first->start;
    size_t at = cip_mark_at(t, collection)->start;
    *props = CIP_NO_OFFSET;
    while (at < stop && (byte(t, at) == '&' || byte(t, at) == '!')) {
        while (at < stop && !is_space(byte(t, at)))
            at++;
        *props = at;
        at = cip_span_skip(t, at);
    }
    return at;
}

size_t cip_span_colon(const cip_yaml_text *t, uint32_t key, bool *colon)
{
    const size_t end = cip_span_end(t, key);
    const size_t at = cip_span_skip(t, end);
    *colon = byte(t, at) == ':';
    return *colon ? at + 1 : end;
}

size_t cip_span_entry(const cip_yaml_text *t, uint32_t i, uint32_t before)
{
    const uint32_t parent = cip_mark_at(t, i)->parent;
    uint64_t props;
    if (before != CIP_NO_MARK) {
        size_t at = cip_span_skip(t, cip_span_end(t, before));
        return byte(t, at) == ',' ? cip_span_skip(t, at + 1) : at;
    }
    size_t at = cip_span_content(t, parent, &props);
    return cip_span_is_flow(t, parent) ? cip_span_skip(t, at + 1) : at;
}
