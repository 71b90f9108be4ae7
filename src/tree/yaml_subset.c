/* SPDX-License-Identifier: BSD-3-Clause
 * A scanner of the usual part of YAML 1.1. It goes by lines: each line of a block mapping or
 * sequence becomes events once all of it was seen and is sure to be of the subset; flow collections
 * may take many lines. Whatever is not certainly of the subset, wrong texts included, is `false`
 * all the way up: nothing here judges a text, it only declines.
 *
 * Events wait in `row` until nothing that follows can change them. In libyaml a key is known as one
 * when its `:` is seen, on the same line and at most 1024 characters later, and brings forth the
 * begin of a mapping in front of it; a plain scalar goes on in the next line that is indented more.
 * So a block's line is safe at its end, after a look at the next one, and events within a flow
 * collection are where that began on an earlier line or further back than a key may. */
#include "tree/yaml_subset.h"

#include <stddef.h>
#include <string.h>

#include "tree/scalar.h"

enum {
    ROOM = 1024,    /* events that wait at most */
    DEEPEST = 256,  /* collections inside each other */
    LONGEST = 1000, /* bytes of a key: surely less than 1024 characters */
    PAST_KEY = 1100 /* characters after which nothing is a key any more */
};

/* The collections that are open; FLOW_* lie within. */
enum { BLOCK_MAP, BLOCK_SEQ, INDENTLESS_SEQ, FLOW_MAP, FLOW_SEQ };

typedef struct level {
    uint32_t at; /* block: its column; flow: the byte where it begins */
    uint8_t kind;
} level;

/* An event as places in the text. With a tag, start is the tag's and text the content's. */
typedef struct item {
    uint32_t start, text, end;
    uint8_t kind, style;
    bool escaped; /* quoted, and its value is not its text */
} item;

/* What comes next within a flow collection. */
enum { FIRST, ENTRY, VALUE, AFTER };

struct cip_yaml_subset {
    const char *t;
    uint32_t len, past_key;
    uint32_t pos, line;          /* the next byte; where its line begins */
    uint32_t tag, tag_end;       /* the tag of the node that is due */
    uint32_t mark;               /* where that node is if it is empty */
    uint32_t prefix, prefix_end; /* what %TAG says of `!`, if it does */
    bool begun, ended, declined;
    bool pending;        /* a node is due in a later line: after `-`, `:`, `---` and tags */
    bool tagged;         /* a node is due, here or in a later line, and has a tag */
    uint8_t flow, state; /* flow collections open; FIRST ... */
    uint16_t depth;
    uint16_t given, safe, n; /* of row: given out, sure, known */
    uint8_t class_of[256];
    cip_buf tag_text, value;
    level open[DEEPEST]; /* what follows is not initialised */
    item row[ROOM];
};

typedef cip_yaml_subset scanner;

/* --- characters ----------------------------------------------------------------------------- */

/* Classes of bytes, in scanner.class_of. */
enum {
    ENDS = 1,   /* LF, and a tab, which is declined wherever it matters */
    FLOW = 2,   /* ends a plain scalar in a flow collection, or is doubtful there */
    BESIDE = 4, /* `:` and `#`: by what stands beside them */
    LEAD = 8,   /* begins no plain scalar of the subset; `-` does, by what follows */
    TAG = 16    /* of a tag's suffix */
};

static void classify(uint8_t *class_of, const char *chars, uint8_t class)
{
    for (; *chars != '\0'; chars++)
        class_of[(uint8_t)*chars] |= class;
}

/* The end of the text is as good as the end of a line. */
static char at(const scanner *s, uint32_t i)
{
    return i < s->len ? s->t[i] : '\n';
}

static bool is(const scanner *s, uint32_t i, uint8_t classes)
{
    return (s->class_of[(uint8_t)at(s, i)] & classes) != 0;
}

static bool is_gap(const scanner *s, uint32_t i)
{
    return at(s, i) == ' ' || at(s, i) == '\n';
}

static uint32_t line_end(const scanner *s, uint32_t i)
{
    const char *lf = i < s->len ? memchr(s->t + i, '\n', s->len - i) : NULL;
    return lf != NULL ? (uint32_t)(lf - s->t) : s->len;
}

static void skip_spaces(scanner *s)
{
    while (at(s, s->pos) == ' ')
        s->pos++;
}

/* At the end of a line, or at a comment, which stands behind a space or at a line's begin. */
static bool at_line_end(const scanner *s)
{
    const char c = at(s, s->pos);
    return c == '\n' || (c == '#' && (s->pos == s->line || s->t[s->pos - 1] == ' '));
}

/* From a line's end or begin to the next line that has more than blanks and a comment. */
static void skip_lines(scanner *s)
{
    for (skip_spaces(s); s->pos < s->len && at_line_end(s); skip_spaces(s)) {
        s->pos = line_end(s, s->pos);
        if (s->pos < s->len)
            s->line = ++s->pos;
    }
}

/* `---` or `...` at the begin of a line. */
static bool is_marker(const scanner *s, uint32_t i, char c)
{
    return at(s, i) == c && at(s, i + 1) == c && at(s, i + 2) == c &&
           (is_gap(s, i + 3) || at(s, i + 3) == '\t');
}

/* --- events --------------------------------------------------------------------------------- */

static bool add(scanner *s, item i)
{
    if (s->n == ROOM)
        return false;
    s->row[s->n++] = i;
    return true;
}

/* The start of the node at `from`: its tag's, which it takes. */
static uint32_t take_tag(scanner *s, uint32_t from)
{
    const uint32_t start = s->tagged ? s->tag : from;
    s->tagged = s->pending = false;
    return start;
}

static bool add_empty(scanner *s, uint32_t mark)
{
    const uint32_t end = s->tagged ? s->tag_end : mark;
    return add(s, (item){ .kind = CIP_YAML_SCALAR,
                          .style = CIP_STYLE_PLAIN,
                          .start = take_tag(s, mark),
                          .text = end,
                          .end = end });
}

/* Of a block collection `from` and `end` are what libyaml marks: its first item's place. */
static bool open_level(scanner *s, uint8_t kind, uint32_t level_at, uint32_t end)
{
    const bool seq = kind != BLOCK_MAP && kind != FLOW_MAP, flow = kind >= FLOW_MAP;
    const uint32_t from = s->pos;
    if (s->depth == DEEPEST)
        return false;
    s->open[s->depth++] = (level){ level_at, kind };
    return add(s, (item){ .kind = seq ? CIP_YAML_SEQ : CIP_YAML_MAP,
                          .style = flow ? CIP_STYLE_FLOW : CIP_STYLE_BLOCK,
                          .start = take_tag(s, from),
                          .text = from,
                          .end = end });
}

static bool close_level(scanner *s, uint32_t end)
{
    s->depth--;
    return add(s, (item){ .kind = CIP_YAML_CLOSE, .start = s->pos, .text = s->pos, .end = end });
}

static level *top(scanner *s)
{
    return &s->open[s->depth - 1];
}

/* Of the innermost block collection, -1 outside of all. */
static int64_t indent(const scanner *s)
{
    return s->depth != 0 ? (int64_t)s->open[s->depth - 1].at : -1;
}

/* --- tokens --------------------------------------------------------------------------------- */

/* !suffix, !!suffix or !<tag>, with a space or the line's end behind it. */
static bool scan_tag(scanner *s)
{
    const bool verbatim = at(s, s->pos + 1) == '<';
    uint32_t from = s->pos + 1 + (verbatim || at(s, s->pos + 1) == '!'), end = from;
    if (s->tagged)
        return false;
    while (is(s, end, TAG))
        end++;
    if (end == from || (verbatim && at(s, end++) != '>') || !is_gap(s, end))
        return false;
    s->tagged = true;
    s->tag = s->pos;
    s->tag_end = s->pos = end;
    return true;
}

static bool scan_quoted(scanner *s, item *i)
{
    const char quote = at(s, s->pos);
    uint32_t p = s->pos + 1;
    for (;; p++) {
        const char c = at(s, p);
        if (c == '\n')
            return false;
        if (c == '\\' && quote == '"') {
            if (memchr("\"\\/nt", at(s, ++p), 5) == NULL)
                return false;
            i->escaped = true;
        } else if (c == quote) {
            if (quote == '"' || at(s, p + 1) != quote)
                break;
            p++;
            i->escaped = true;
        }
    }
    i->style = quote == '"' ? CIP_STYLE_DOUBLE : CIP_STYLE_SINGLE;
    s->pos = i->end = p + 1;
    return true;
}

static bool scan_plain(scanner *s, item *i)
{
    const uint8_t stops = ENDS | BESIDE | (s->flow != 0 ? FLOW : 0);
    uint32_t p = s->pos;
    if (is(s, p, LEAD) &&
        (at(s, p) != '-' || is_gap(s, p + 1) || is(s, p + 1, ENDS | BESIDE | FLOW)))
        return false;
    for (;; p++) {
        while (!is(s, p, stops))
            p++;
        const char c = at(s, p);
        if (c == ':' && !is_gap(s, p + 1)) {
            if (s->flow != 0 && is(s, p + 1, FLOW))
                return false; /* libyaml refuses it */
            continue;
        }
        if (c == '#' && s->t[p - 1] != ' ')
            continue;
        if (c == '\t' || (c == '?' && s->flow != 0))
            return false;
        break;
    }
    s->pos = p;
    while (s->t[p - 1] == ' ')
        p--;
    i->style = CIP_STYLE_PLAIN;
    i->end = p;
    return true;
}

/* A scalar, and whether it is a key: in front of a `:`, which is passed then. */
static bool scan_scalar(scanner *s, item *i, bool *key)
{
    const bool quoted = at(s, s->pos) == '"' || at(s, s->pos) == '\'';
    *i = (item){ .kind = CIP_YAML_SCALAR, .start = s->pos, .text = s->pos };
    if (!(quoted ? scan_quoted(s, i) : scan_plain(s, i)))
        return false;
    skip_spaces(s);
    *key = at(s, s->pos) == ':';
    if (!*key)
        return true;
    if (!is_gap(s, s->pos + 1) && !(quoted && s->flow != 0))
        return false;
    s->pos++;
    return s->pos - i->start <= LONGEST;
}

/* Whether the plain scalar before a line's end goes on behind it, or may. */
static bool goes_on(const scanner *s)
{
    uint32_t line = s->pos, p = s->pos;
    while (p < s->len && (at(s, p) == '\n' || at(s, p) == ' ')) {
        if (at(s, p++) == '\n')
            line = p;
    }
    if (p == s->len || at(s, p) == '#' ||
        (p == line && (is_marker(s, p, '-') || is_marker(s, p, '.'))))
        return false;
    return at(s, p) == '\t' || (int64_t)(p - line) > indent(s);
}

/* --- block collections ---------------------------------------------------------------------- */

static bool scan_rest(scanner *s, bool may_nest);

static bool open_flow(scanner *s)
{
    s->state = FIRST;
    s->flow++;
    bool fine = s->flow != UINT8_MAX &&
                open_level(s, at(s, s->pos) == '[' ? FLOW_SEQ : FLOW_MAP, s->pos, s->pos + 1);
    s->pos++;
    return fine;
}

/* Behind `-` or the `:` of a key. */
static bool scan_value(scanner *s, bool may_nest)
{
    s->mark = s->pos;
    return scan_rest(s, may_nest);
}

static bool scan_entry(scanner *s)
{
    s->pos++;
    return scan_value(s, true);
}

/* The content of a node, of which at least one character stands in this line. */
static bool scan_node(scanner *s, bool may_nest)
{
    const uint32_t column = s->pos - s->line;
    const char c = at(s, s->pos);
    item i;
    bool key;
    if (c == '-' && is_gap(s, s->pos + 1))
        return may_nest && open_level(s, BLOCK_SEQ, column, s->pos) && scan_entry(s);
    if (c == '[' || c == '{')
        return open_flow(s);
    const uint32_t from = s->pos;
    if (!scan_scalar(s, &i, &key))
        return false;
    if (key) {
        const uint32_t behind = s->pos;
        s->pos = from;
        if (!may_nest || !open_level(s, BLOCK_MAP, column, from) || !add(s, i))
            return false;
        s->pos = behind;
        return scan_value(s, false);
    }
    i.start = take_tag(s, from);
    return at_line_end(s) && !(i.style == CIP_STYLE_PLAIN && goes_on(s)) && add(s, i);
}

/* What a line has behind an indicator: nothing, a tag, a node. may_nest: a block collection may
 * begin in it. A key that has a tag itself is declined. */
static bool scan_rest(scanner *s, bool may_nest)
{
    skip_spaces(s);
    if (at(s, s->pos) == '!') {
        if (!scan_tag(s))
            return false;
        may_nest = false;
        skip_spaces(s);
    }
    s->pending = at_line_end(s);
    return s->pending || scan_node(s, may_nest);
}

static bool finish(scanner *s)
{
    const uint32_t end = s->pos < s->len ? s->pos + 3 : s->pos;
    if (s->pending && ((s->depth == 0 && !s->tagged) || !add_empty(s, s->mark)))
        return false;
    while (s->depth != 0)
        if (!close_level(s, s->pos))
            return false;
    s->ended = true;
    return add(s, (item){ .kind = CIP_YAML_END, .start = s->pos, .text = s->pos, .end = end });
}

/* A line outside of flow collections. */
static bool scan_line(scanner *s)
{
    const int64_t column = s->pos - s->line;
    const bool dash = at(s, s->pos) == '-' && is_gap(s, s->pos + 1);
    if (s->pending) {
        if (column > indent(s))
            return scan_rest(s, true);
        if (dash && column == indent(s) && top(s)->kind == BLOCK_MAP)
            return open_level(s, INDENTLESS_SEQ, (uint32_t)column, s->pos + 1) && scan_entry(s);
        if (!add_empty(s, s->mark))
            return false;
    }
    while (s->depth != 0 &&
           (indent(s) > column || (indent(s) == column && !dash && top(s)->kind == INDENTLESS_SEQ)))
        if (!close_level(s, s->pos))
            return false;
    if (indent(s) != column || dash != (top(s)->kind != BLOCK_MAP))
        return false;
    if (dash)
        return scan_entry(s);
    item i;
    bool key;
    return scan_scalar(s, &i, &key) && key && add(s, i) && scan_value(s, false);
}

/* --- flow collections ----------------------------------------------------------------------- */

static bool close_flow(scanner *s, bool seq)
{
    if ((top(s)->kind == FLOW_SEQ) != seq || !close_level(s, s->pos + 1))
        return false;
    s->pos++;
    s->state = AFTER;
    if (--s->flow != 0)
        return true;
    skip_spaces(s);
    return at_line_end(s);
}

static bool scan_flow_node(scanner *s)
{
    const uint32_t from = s->pos;
    const bool of_key = top(s)->kind == FLOW_MAP && s->state != VALUE;
    item i;
    bool key;
    if (at(s, from) == '!')
        return !of_key && scan_tag(s);
    if (at(s, from) == '[' || at(s, from) == '{')
        return !of_key && open_flow(s);
    if (!scan_scalar(s, &i, &key) || key != of_key)
        return false;
    s->state = of_key ? VALUE : AFTER;
    i.start = take_tag(s, from);
    return add(s, i);
}

/* One token within a flow collection. */
static bool scan_flow(scanner *s)
{
    /* no comments, tabs or markers within */
    for (skip_spaces(s); s->pos < s->len && at(s, s->pos) == '\n'; skip_spaces(s))
        s->line = ++s->pos;
    if (s->pos >= s->len ||
        (s->pos == s->line && (is_marker(s, s->pos, '-') || is_marker(s, s->pos, '.'))))
        return false;
    const char c = at(s, s->pos);
    if (c != ',' && c != ']' && c != '}')
        return s->state != AFTER && scan_flow_node(s);
    if (s->tagged)
        return false;
    if (s->state == VALUE) {
        s->state = AFTER;
        return add_empty(s, s->pos);
    }
    if (c != ',')
        return close_flow(s, c == ']');
    if (s->state != AFTER)
        return false;
    const uint32_t from = top(s)->at;
    if (s->line > from || s->pos - from > s->past_key)
        s->safe = s->n;
    s->state = ENTRY;
    s->pos++;
    return true;
}

/* --- the whole ------------------------------------------------------------------------------ */

/* %YAML 1.1, or %TAG ! prefix. */
static bool scan_directive(scanner *s)
{
    const uint32_t end = line_end(s, s->pos), n = end - s->pos;
    uint32_t p = s->pos + 7;
    if (n == 9 && memcmp(s->t + s->pos, "%YAML 1.1", 9) == 0) {
        s->pos = end;
        return true;
    }
    if (n <= 7 || memcmp(s->t + s->pos, "%TAG ! ", 7) != 0 || s->prefix_end != 0)
        return false;
    for (s->prefix = p; p < end; p++)
        if (!is(s, p, TAG))
            return false;
    s->pos = s->prefix_end = end;
    return true;
}

static bool scan_begin(scanner *s)
{
    uint32_t start = 0;
    bool directives = false;
    for (skip_lines(s); s->pos == s->line && at(s, s->pos) == '%'; skip_lines(s)) {
        start = directives ? start : s->pos;
        directives = true;
        if (!scan_directive(s))
            return false;
    }
    if (s->pos == s->len)
        return false;
    start = directives ? start : s->pos;
    s->begun = s->pending = true;
    item i = { .kind = CIP_YAML_DOCUMENT, .start = start, .text = start, .end = s->pos };
    if (s->pos != s->line || !is_marker(s, s->pos, '-'))
        return !directives && !is_marker(s, s->pos, '.') && add(s, i);
    i.end = s->pos += 3;
    return add(s, i) && scan_rest(s, false);
}

/* Goes on until something is sure. */
static bool scan_more(scanner *s)
{
    while (!s->ended && (s->safe == 0 || s->n < ROOM / 2)) {
        if (s->flow != 0) {
            if (!scan_flow(s))
                return false;
        } else if (!s->begun) {
            if (!scan_begin(s))
                return false;
        } else {
            skip_lines(s);
            const bool first = s->pos == s->line;
            if (s->pos == s->len || (first && is_marker(s, s->pos, '.'))) {
                if (!finish(s))
                    return false;
            } else if ((first && (at(s, s->pos) == '%' || is_marker(s, s->pos, '-'))) ||
                       !scan_line(s)) {
                return false;
            }
        }
        if (s->flow == 0)
            s->safe = s->n;
    }
    return true;
}

/* --- out ------------------------------------------------------------------------------------ */

static cip_status give_tag(scanner *s, const item *i, cip_yaml_event *ev, cip_err *err)
{
    cip_buf *to = &s->tag_text;
    const char *tag = s->t + i->start;
    uint32_t n = 0;
    while (!is_gap(s, i->start + n))
        n++;
    to->len = 0;
    if (tag[1] == '<') {
        CIP_TRY(cip_buf_add(to, tag + 2, n - 3, err));
    } else if (tag[1] == '!') {
        CIP_TRY(cip_buf_puts(to, CIP_CORE_TAG, err));
        CIP_TRY(cip_buf_add(to, tag + 2, n - 2, err));
    } else {
        if (s->prefix_end != 0)
            CIP_TRY(cip_buf_add(to, s->t + s->prefix, s->prefix_end - s->prefix, err));
        else
            CIP_TRY(cip_buf_puts(to, "!", err));
        CIP_TRY(cip_buf_add(to, tag + 1, n - 1, err));
    }
    CIP_TRY(cip_buf_nul(to, err));
    ev->tag = (const char *)to->ptr;
    return CIP_OK;
}

static cip_status give_unescaped(scanner *s, cip_yaml_event *ev, cip_err *err)
{
    uint8_t *to;
    size_t n = 0;
    CIP_TRY(cip_buf_reserve(&s->value, ev->len, &to, err));
    for (size_t i = 0; i < ev->len; i++) {
        char c = ev->text[i];
        if (ev->style == CIP_STYLE_SINGLE) {
            i += c == '\'';
        } else if (c == '\\') {
            c = ev->text[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        }
        to[n++] = (uint8_t)c;
    }
    ev->text = (const char *)to;
    ev->len = n;
    return CIP_OK;
}

static cip_status give(scanner *s, const item *i, cip_yaml_event *ev, cip_err *err)
{
    *ev = (cip_yaml_event){ .kind = i->kind, .style = i->style, .start = i->start, .end = i->end };
    if (i->kind == CIP_YAML_DOCUMENT && s->prefix_end != 0) {
        CIP_TRY(cip_buf_add(&s->value, s->t + s->prefix, s->prefix_end - s->prefix, err));
        CIP_TRY(cip_buf_nul(&s->value, err));
        s->value.len = 0;
        ev->text = (const char *)s->value.ptr;
    } else if (i->kind == CIP_YAML_SCALAR) {
        const bool quoted = i->style != CIP_STYLE_PLAIN;
        ev->text = s->t + i->text + quoted;
        ev->len = i->end - i->text - 2 * (size_t)quoted;
        if (i->escaped)
            CIP_TRY(give_unescaped(s, ev, err));
    }
    if (i->text != i->start)
        return give_tag(s, i, ev, err);
    return CIP_OK;
}

cip_status cip_yaml_subset_next(cip_yaml_subset *s, cip_yaml_event *ev, bool *given, cip_err *err)
{
    if (s->given == s->safe) {
        memmove(s->row, s->row + s->given, (s->n - s->given) * sizeof *s->row);
        s->n = (uint16_t)(s->n - s->given);
        s->given = s->safe = 0;
        if (!s->declined)
            s->declined = !scan_more(s);
    }
    *given = s->given < s->safe;
    return *given ? give(s, &s->row[s->given++], ev, err) : CIP_OK;
}

/* Line breaks other than LF, and byte order marks. */
static bool is_odd(cip_bytes t, bool ascii)
{
    if (memchr(t.ptr, '\r', t.len) != NULL)
        return true;
    for (size_t i = 0; !ascii && i < t.len; i++) {
        const size_t left = t.len - i;
        const uint8_t *p = t.ptr + i;
        if ((*p == 0xc2 && left > 1 && p[1] == 0x85) ||
            (*p == 0xe2 && left > 2 && p[1] == 0x80 && (p[2] & 0xfe) == 0xa8) ||
            (*p == 0xef && left > 2 && p[1] == 0xbb && p[2] == 0xbf))
            return true;
    }
    return false;
}

cip_status cip_yaml_subset_new(cip_mem *mem, cip_bytes text, bool ascii, cip_yaml_subset **out,
                               cip_err *err)
{
    void *room;
    *out = NULL;
    if (text.len == 0 || text.len > UINT32_MAX / 2 || is_odd(text, ascii))
        return CIP_OK;
    CIP_TRY(cip_mem_get(mem, sizeof(scanner), &room, err));
    scanner *s = *out = room;
    memset(s, 0, offsetof(scanner, open));
    s->t = (const char *)text.ptr;
    s->len = (uint32_t)text.len;
    s->past_key = ascii ? PAST_KEY : 4 * PAST_KEY;
    s->tag_text.mem = s->value.mem = mem;
    classify(s->class_of, "\n\t", ENDS);
    classify(s->class_of, ",?[]{}", FLOW);
    classify(s->class_of, ":#", BESIDE);
    classify(s->class_of, " \n\t-?:,[]{}#&*!|>'\"%@`", LEAD);
    classify(s->class_of, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/.:+=~",
             TAG);
    return CIP_OK;
}

void cip_yaml_subset_free(cip_mem *mem, cip_yaml_subset *s)
{
    if (s == NULL)
        return;
    cip_buf_clear(&s->tag_text);
    cip_buf_clear(&s->value);
    cip_mem_put(mem, s);
}
