/* SPDX-License-Identifier: BSD-3-Clause
 * numpy's basic indexing: as text ("[10:20, ::2, -1, ..., None]"), and what it leaves of a view. */
#include "array/view.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"

typedef struct parser {
    const char *text;
    size_t pos;
    cip_err *err;
} parser;

static cip_status expected(const parser *p, const char *what)
{
    char found[16] = "the end";
    uint8_t c = (uint8_t)p->text[p->pos];
    if (c != '\0')
        snprintf(found, sizeof found, c >= ' ' && c < 0x7f ? "'%c'" : "\\x%02x", c);
    return cip_fail(p->err, CIP_ERR_ARG, p->pos, "expected %s in a slice, found %s", what, found);
}

static char peek(parser *p)
{
    while (p->text[p->pos] == ' ' || p->text[p->pos] == '\t' || p->text[p->pos] == '\n')
        p->pos++;
    return p->text[p->pos];
}

static bool skip(parser *p, char c)
{
    if (peek(p) != c)
        return false;
    p->pos++;
    return true;
}

static bool skip_word(parser *p, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(p->text + p->pos, word, n) != 0)
        return false;
    p->pos += n;
    return true;
}

/* A number if there is one. Beyond int64 it is the nearest (but CIP_OPEN, which is none): no axis
 * is that long, so as a bound it is clipped just the same, and as an index it is out of range. */
static cip_status number(parser *p, bool *found, int64_t *out)
{
    char sign = peek(p);
    int64_t v = 0;
    if (sign == '-' || sign == '+') {
        p->pos++;
        peek(p);
    }
    size_t first = p->pos;
    for (; p->text[p->pos] >= '0' && p->text[p->pos] <= '9'; p->pos++) {
        int digit = p->text[p->pos] - '0';
        if (cip_mul_overflow(v, 10, &v) || cip_add_overflow(v, sign == '-' ? -digit : digit, &v))
            v = sign == '-' ? INT64_MIN : INT64_MAX;
    }
    v = v == CIP_OPEN ? v + 1 : v;
    *found = p->pos > first;
    if (!*found && (sign == '-' || sign == '+'))
        return expected(p, "a number");
    *out = v;
    return CIP_OK;
}

/* start:stop:step, or start alone. */
static cip_status range(parser *p, cip_slice *s)
{
    bool start, stop = false, step = false;
    CIP_TRY(number(p, &start, &s->start));
    if (!skip(p, ':')) {
        if (!start)
            return expected(p, "an index or a range");
        s->what = CIP_SLICE_INDEX;
        return CIP_OK;
    }
    CIP_TRY(number(p, &stop, &s->stop));
    if (skip(p, ':')) {
        size_t at = p->pos;
        CIP_TRY(number(p, &step, &s->step));
        if (step && s->step == 0)
            return cip_fail(p->err, CIP_ERR_ARG, at, "expected a step other than 0 in a slice");
    }
    s->what = CIP_SLICE_RANGE;
    s->start = start ? s->start : CIP_OPEN;
    s->stop = stop ? s->stop : CIP_OPEN;
    s->step = step ? s->step : 1;
    return CIP_OK;
}

static cip_status item(parser *p, bool *ellipsis, cip_slice *s)
{
    *s = (cip_slice)CIP_ALL;
    peek(p);
    size_t at = p->pos;
    if (skip_word(p, "...")) {
        if (*ellipsis)
            return cip_fail(p->err, CIP_ERR_ARG, at,
                            "expected at most one '...' in a slice, found two");
        *ellipsis = true;
        *s = (cip_slice)CIP_ELLIPSIS;
        return CIP_OK;
    }
    if (skip_word(p, "None") || skip_word(p, "newaxis")) {
        *s = (cip_slice)CIP_NEWAXIS;
        return CIP_OK;
    }
    return range(p, s);
}

cip_status cip_selection_parse(const char *text, cip_selection *out, cip_err *err)
{
    err = cip_err_enter(err);
    CIP_TRY(cip_arg_given(out, "a pointer for the selection", err));
    parser p = { .text = text != NULL ? text : "", .err = err };
    cip_selection sel = { 0 };
    bool ellipsis = false;
    char close = skip(&p, '[') ? ']' : '\0';
    while (peek(&p) != close) {
        if (sel.n == sizeof sel.item / sizeof sel.item[0])
            return cip_fail(err, CIP_ERR_ARG, p.pos, "expected at most %d items in a slice",
                            2 * CIP_MAX_NDIM);
        CIP_TRY(item(&p, &ellipsis, &sel.item[sel.n]));
        sel.n++;
        if (!skip(&p, ',') && peek(&p) != close)
            return expected(&p, close == ']' ? "',' or ']'" : "',' or the end");
    }
    if (close == ']' && (p.pos++, peek(&p) != '\0'))
        return expected(&p, "the end");
    *out = sel;
    return CIP_OK;
}

/* Whether a caller may have made it: what its kind does not have is 0. */
static bool is_slice(const cip_slice *s)
{
    if (s->what > CIP_SLICE_NEWAXIS || s->reserved != 0)
        return false;
    if (s->what == CIP_SLICE_RANGE)
        return s->step != 0;
    return s->stop == 0 && s->step == 0 && (s->start == 0 || s->what == CIP_SLICE_INDEX);
}

typedef struct printer {
    char *text;
    size_t cap, n; /* n: of the whole text */
} printer;

static void add(printer *p, const char *piece)
{
    for (; *piece != '\0'; piece++)
        if (p->n++ + 1 < p->cap)
            p->text[p->n - 1] = *piece;
}

static void add_number(printer *p, int64_t v)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, v);
    add(p, number);
}

static void add_item(printer *p, const cip_slice *s)
{
    static const char *const words[] = { ":", "", "", "...", "None" };
    if (!is_slice(s)) {
        add(p, "?");
        return;
    }
    if (s->what != CIP_SLICE_RANGE) {
        if (s->what == CIP_SLICE_INDEX)
            add_number(p, s->start);
        else
            add(p, words[s->what]);
        return;
    }
    if (s->start != CIP_OPEN)
        add_number(p, s->start);
    add(p, ":");
    if (s->stop != CIP_OPEN)
        add_number(p, s->stop);
    if (s->step != 1) {
        add(p, ":");
        add_number(p, s->step);
    }
}

size_t cip_selection_text(const cip_selection *selection, char *text, size_t cap)
{
    printer p = { text, text != NULL ? cap : 0, 0 };
    const uint32_t n = selection != NULL ? selection->n : 0;
    const bool fits = n <= sizeof selection->item / sizeof selection->item[0];
    add(&p, "[");
    for (uint32_t i = 0; fits && i < n; i++) {
        add(&p, i != 0 ? ", " : "");
        add_item(&p, &selection->item[i]);
    }
    add(&p, fits ? "]" : "?]");
    if (p.cap != 0)
        text[p.n < p.cap ? p.n : p.cap - 1] = '\0';
    return p.n;
}

/* How many axes the items name; ARG for a selection that nobody should have made. */
static cip_status count_axes(const cip_nd *in, const cip_selection *sel, int32_t *named,
                             cip_err *err)
{
    const uint32_t most = sizeof sel->item / sizeof sel->item[0];
    uint32_t ellipses = 0;
    if (sel->n > most)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected at most %" PRIu32 " items in a slice, found %" PRIu32, most,
                        sel->n);
    *named = 0;
    for (uint32_t i = 0; i < sel->n; i++) {
        const cip_slice *s = &sel->item[i];
        if (!is_slice(s))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "item %" PRIu32 " is not a slice", i);
        ellipses += s->what == CIP_SLICE_ELLIPSIS;
        *named += s->what <= CIP_SLICE_INDEX;
    }
    if (ellipses > 1)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected one '...' in a slice, found %" PRIu32, ellipses);
    if (*named > in->ndim)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a slice of at most %" PRId32 " dimensions, found %" PRId32,
                        in->ndim, *named);
    return CIP_OK;
}

/* A bound as numpy clips it: from the end when negative, then into [low, high]. */
static int64_t clip(int64_t bound, int64_t len, int64_t low, int64_t high)
{
    if (bound < 0)
        bound += len;
    return bound < low ? low : bound > high ? high : bound;
}

/* Where a range starts and how many elements it takes of an axis of `len`. */
static void resolve(const cip_slice *s, int64_t len, int64_t *start, int64_t *n)
{
    bool down = s->step < 0;
    int64_t low = down ? -1 : 0, high = down ? len - 1 : len;
    int64_t from = s->start != CIP_OPEN ? clip(s->start, len, low, high) : down ? high : low;
    int64_t to = s->stop != CIP_OPEN ? clip(s->stop, len, low, high) : down ? low : high;
    uint64_t span = down ? (uint64_t)(from - to) : (uint64_t)(to - from);
    uint64_t step = down ? 0 - (uint64_t)s->step : (uint64_t)s->step;
    bool any = down ? from > to : from < to;
    *start = from;
    *n = any ? (int64_t)cip_div_up(span, step) : 0;
}

/* A selection at work: which axes of `in` are used up, what came out. */
typedef struct taker {
    const cip_nd *in;
    int32_t next;
    cip_nd out;
    int8_t axis[CIP_MAX_NDIM];
    cip_err *err;
} taker;

static cip_status add_axis(taker *t, int64_t shape, int64_t stride, int axis)
{
    if (t->out.ndim == CIP_MAX_NDIM)
        return cip_fail(t->err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a slice that leaves at most %d dimensions", CIP_MAX_NDIM);
    t->out.shape[t->out.ndim] = shape;
    t->out.stride[t->out.ndim] = stride;
    t->axis[t->out.ndim] = (int8_t)axis;
    t->out.ndim++;
    return CIP_OK;
}

static cip_status take_range(taker *t, const cip_slice *s)
{
    int32_t k = t->next++;
    int64_t start, n;
    resolve(s, t->in->shape[k], &start, &n);
    if (n > 0)
        t->out.off += (uint64_t)cip_stride_times(start, t->in->stride[k]);
    return add_axis(t, n, cip_stride_times(t->in->stride[k], s->step), k);
}

static cip_status take_index(taker *t, const cip_slice *s)
{
    int32_t k = t->next++;
    int64_t len = t->in->shape[k];
    int64_t i = s->start < 0 ? s->start + len : s->start;
    if (i < 0 || i >= len)
        return cip_fail(t->err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected an index within the length %" PRId64 " of axis %" PRId32
                        ", found %" PRId64,
                        len, k, s->start);
    t->out.off += (uint64_t)cip_stride_times(i, t->in->stride[k]);
    return CIP_OK;
}

/* The next n axes of the view as they are. */
static cip_status take_whole(taker *t, int32_t n)
{
    static const cip_slice all = CIP_RANGE(CIP_OPEN, CIP_OPEN);
    for (int32_t i = 0; i < n; i++)
        CIP_TRY(take_range(t, &all));
    return CIP_OK;
}

static cip_status take_slice(taker *t, const cip_slice *s, int32_t missing)
{
    switch (s->what) {
    case CIP_SLICE_ALL:
        return take_whole(t, 1);
    case CIP_SLICE_RANGE:
        return take_range(t, s);
    case CIP_SLICE_INDEX:
        return take_index(t, s);
    case CIP_SLICE_ELLIPSIS:
        return take_whole(t, missing);
    default:
        return add_axis(t, 1, 0, -1);
    }
}

cip_status cip_view_select(const cip_nd *in, const cip_selection *sel, cip_nd *out, int8_t *axis,
                           cip_err *err)
{
    taker t = { .in = in, .err = err };
    int32_t named;
    CIP_TRY(count_axes(in, sel, &named, err));
    t.out = (cip_nd){ .off = in->off, .itemsize = in->itemsize };
    for (uint32_t i = 0; i < sel->n; i++)
        CIP_TRY(take_slice(&t, &sel->item[i], in->ndim - named));
    CIP_TRY(take_whole(&t, in->ndim - t.next)); /* what nobody named */
    *out = t.out;
    if (axis != NULL)
        memcpy(axis, t.axis, sizeof t.axis);
    return CIP_OK;
}
