/* SPDX-License-Identifier: BSD-3-Clause
 * Values as people type them. YAML 1.1 takes `1e-3` and `nan` for strings, `017` for octal and
 * `12:30` for sexagesimal: the first become the numbers that they look like, and of the others it
 * is told what is stored. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tree/edit.h"
#include "tree/scalar.h"

typedef struct typed {
    cip_arena *arena;
    cip_report *notes;
    cip_status st;
    cip_err *err;
} typed;

static size_t count_digits(const char *p)
{
    return strspn(p, "0123456789");
}

/* The parts of a decimal number with a point or an exponent; false when the text is none. */
typedef struct decimal {
    const char *whole, *part, *exponent; /* digits */
    size_t nwhole, npart, nexponent;
    bool dot;
    char sign, letter, exponent_sign; /* 0: none */
} decimal;

static bool split_decimal(const char *p, decimal *d)
{
    *d = (decimal){ .sign = *p == '-' || *p == '+' ? *p++ : '\0' };
    d->whole = p;
    d->nwhole = count_digits(p);
    p += d->nwhole;
    d->dot = *p == '.';
    p += d->dot;
    d->part = p;
    d->npart = d->dot ? count_digits(p) : 0;
    p += d->npart;
    if (*p == 'e' || *p == 'E') {
        d->letter = *p++;
        d->exponent_sign = *p == '-' || *p == '+' ? *p++ : '+';
        d->exponent = p;
        d->nexponent = count_digits(p);
        p += d->nexponent;
    }
    return *p == '\0' && d->nwhole + d->npart != 0 && (d->letter == 0) == (d->nexponent == 0) &&
           (d->dot || d->letter != 0);
}

/* A number in the spelling of YAML 1.1 with the digits that were typed; *out stays empty when the
 * text is none. */
static cip_status spell(const char *text, cip_buf *out, cip_err *err)
{
    /* without the dot of YAML, in one of the three cases that its words have */
    static const char *const words[] = { "inf", "Inf", "INF", "nan", "NaN", "NAN" };
    decimal d;
    const char *word = text + (*text == '-' || *text == '+');
    for (size_t i = 0; i < (word == text ? 6u : 3u); i++) /* nan has no sign */
        if (strcmp(word, words[i]) == 0)
            return cip_buf_addf(out, err, "%.*s.%s", (int)(word - text), text, word);
    if (!split_decimal(text, &d))
        return CIP_OK;
    if (d.sign != 0)
        CIP_TRY(cip_buf_add(out, &d.sign, 1, err));
    CIP_TRY(cip_buf_add(out, d.nwhole == 0 ? "0" : d.whole, d.nwhole == 0 ? 1 : d.nwhole, err));
    CIP_TRY(cip_buf_add(out, ".", 1, err));
    CIP_TRY(cip_buf_add(out, d.npart == 0 ? "0" : d.part, d.npart == 0 ? 1 : d.npart, err));
    if (d.letter == 0)
        return CIP_OK;
    CIP_TRY(cip_buf_add(out, &d.letter, 1, err));
    CIP_TRY(cip_buf_add(out, &d.exponent_sign, 1, err));
    return cip_buf_add(out, d.exponent, d.nexponent, err);
}

static bool has(const cip_node *node, const char *any)
{
    return node->text[strcspn(node->text, any)] != '\0';
}

static bool is_word(const cip_node *node, const char *word)
{
    return node->len == strlen(word) && strncasecmp(node->text, word, node->len) == 0;
}

/* `0` and a digit behind the sign. */
static bool has_zero(const cip_node *node)
{
    const char *p = node->text + (*node->text == '-' || *node->text == '+');
    return p[0] == '0' && p[1] != '\0' && count_digits(p) == strlen(p);
}

static void tell(const typed *t, const cip_visit *v, const cip_node *node, const char *what)
{
    cip_report_add(t->notes, CIP_NOTE, node->type != CIP_NODE_STRING ? CIP_ERR_TYPE : CIP_OK,
                   CIP_NO_OFFSET, 0, v->path, "%.80s is stored as %s",
                   node->len != 0 ? node->text : "an empty value", what);
}

/* An integer that its text does not show: `what` says how it was read. */
static void tell_int(const typed *t, const cip_visit *v, const cip_node *node, const char *what)
{
    char text[80];
    if (node->type == CIP_NODE_BIGINT)
        snprintf(text, sizeof text, "%s", what);
    else
        snprintf(text, sizeof text, node->negative ? "%s %" PRId64 : "%s %" PRIu64, what, node->u);
    tell(t, v, node, text);
}

static void tell_double(const typed *t, const cip_visit *v, const cip_node *node, const char *what)
{
    char number[CIP_DOUBLE_TEXT], text[80];
    cip_double_text(node->f, number);
    snprintf(text, sizeof text, "%s %s", what, number);
    tell(t, v, node, text);
}

/* Tells of a plain scalar whose type or value is another than its text shows. */
static void check(const typed *t, const cip_visit *v, const cip_node *node)
{
    switch (node->type) {
    case CIP_NODE_NULL:
        if (!is_word(node, "null"))
            tell(t, v, node, "null");
        break;
    case CIP_NODE_BOOL:
        if (!is_word(node, "true") && !is_word(node, "false"))
            tell(t, v, node, node->b ? "the boolean true" : "the boolean false");
        break;
    case CIP_NODE_INT:
    case CIP_NODE_BIGINT:
        if (has(node, ":"))
            tell_int(t, v, node, "sexagesimal");
        else if (has(node, "_"))
            tell_int(t, v, node, "the integer");
        else if (has_zero(node))
            tell_int(t, v, node, "octal");
        break;
    case CIP_NODE_FLOAT:
        if (has(node, ":"))
            tell_double(t, v, node, "sexagesimal");
        else if (has(node, "_"))
            tell_double(t, v, node, "the number");
        else if (isinf(node->f) && !has(node, "iI"))
            tell_double(t, v, node, "a number beyond float64, read as");
        break;
    case CIP_NODE_TIMESTAMP:
        tell(t, v, node, "a timestamp");
        break;
    default:
        if (strncmp(node->text, "0o", 2) == 0)
            tell(t, v, node, "a string; an octal number is written 017");
        else if (has_zero(node))
            tell(t, v, node, "a string; a number has no leading zero");
    }
}

static bool is_typed(const cip_node *node)
{
    return node != NULL && node->type < CIP_NODE_SEQ && node->style == CIP_STYLE_PLAIN &&
           node->tag == NULL;
}

/* A tree_walk callback. Keys are told of, and stay strings. */
static int take_node(void *user, const cip_visit *v)
{
    typed *t = user;
    if (v->again)
        return 1;
    if (is_typed(v->key))
        check(t, v, v->key);
    if (is_typed(v->node)) {
        if (v->node->type == CIP_NODE_STRING) {
            /* A string that looks like a number becomes one; the nodes were just made, for us
             * alone. */
            cip_node *node = (cip_node *)(uintptr_t)v->node;
            char *text;
            cip_buf spelled = { .mem = t->arena->mem };
            cip_status st = spell(node->text, &spelled, t->err);
            if (st == CIP_OK && spelled.len != 0) {
                st = cip_arena_copy(t->arena, spelled.ptr, spelled.len, &text, t->err);
                if (st == CIP_OK) {
                    node->text = text;
                    node->len = (uint32_t)spelled.len;
                    cip_yaml_resolve(node, text, spelled.len);
                }
            }
            cip_buf_clear(&spelled);
            t->st = st;
        }
        check(t, v, v->node);
    }
    return t->st == CIP_OK ? 0 : 2;
}

cip_status cip_yaml_typed(cip_env *env, cip_arena *a, const char *text, const char *prefix,
                          cip_report *notes, const cip_node **out, cip_err *err)
{
    typed t = { .arena = a, .notes = notes, .err = err };
    CIP_TRY(cip_yaml_value(env, a, text, prefix, out, err));
    if (text[strspn(text, " \t\r\n")] == '\0')
        cip_report_add(notes, CIP_NOTE, CIP_ERR_TYPE, CIP_NO_OFFSET, 0, NULL,
                       "an empty value is stored as null");
    CIP_TRY(cip_tree_walk_told(*out, env, take_node, &t, &t.st, err));
    return cip_report_status(notes, err);
}
