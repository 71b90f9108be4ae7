/* SPDX-License-Identifier: BSD-3-Clause
 * Types of plain scalars as PyYAML's SafeLoader resolves them: YAML 1.1 with PyYAML's own regular
 * expressions (its resolver.py), which are quoted at the functions below. `y` and `n` are strings,
 * `010` is 8, a float needs a dot and, before an exponent, a sign. */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "tree/scalar.h"
#include "tree/yaml.h"

/* What is left of a text. A NUL stands at `end`, so that looking at one character needs no check.
 */
typedef struct text {
    const char *p, *end;
} text;

static bool at(const text *t, char c)
{
    return *t->p == c;
}

static bool take_char(text *t, char c)
{
    bool found = at(t, c);
    t->p += found;
    return found;
}

/* As many digits as there are, at most `most`; how many. */
static size_t take_digits(text *t, size_t most)
{
    size_t n = 0;
    while (n < most && cip_is_digit(t->p[n]))
        n++;
    t->p += n;
    return n;
}

/* [0-9_]* */
static void skip_digits(text *t)
{
    while (cip_is_digit(*t->p) || *t->p == '_')
        t->p++;
}

static bool take_sign(text *t)
{
    bool negative = at(t, '-');
    if (negative || at(t, '+'))
        t->p++;
    return negative;
}

/* An integer's magnitude; `big` when it is beyond 64 bits. */
typedef struct magnitude {
    uint64_t v;
    bool big;
} magnitude;

static void scale(magnitude *m, unsigned by, unsigned plus)
{
    m->big |= cip_mul_overflow(m->v, (uint64_t)by, &m->v);
    m->big |= cip_add_overflow(m->v, (uint64_t)plus, &m->v);
}

/* The digits of `base` and underscores, to the end; false when there is another character, or no
 * digit (PyYAML resolves `0x_` to an integer and then fails to read it: here it is a string). */
static bool take_based(text *t, unsigned base, magnitude *m)
{
    bool some = false;
    for (; t->p < t->end; t->p++) {
        char c = *t->p;
        unsigned d = cip_is_digit(c)        ? (unsigned)(c - '0')
                     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                            : 99;
        if (c == '_')
            continue;
        if (d >= base)
            return false;
        some = true;
        scale(m, base, d);
    }
    return some;
}

/* :[0-5]?[0-9] */
static bool take_sixtieth(text *t, unsigned *part)
{
    text was = *t;
    t->p++;
    size_t n = take_digits(t, 2);
    if (n == 0 || (n == 2 && was.p[1] > '5')) {
        *t = was;
        return false;
    }
    *part = (unsigned)(was.p[1] - '0');
    if (n == 2)
        *part = *part * 10 + (unsigned)(was.p[2] - '0');
    return true;
}

static void set_int(cip_node *node, bool negative, magnitude m)
{
    node->type = CIP_NODE_INT;
    node->negative = negative && m.v != 0;
    if (m.big || (node->negative && m.v > (uint64_t)INT64_MAX + 1)) {
        node->type = CIP_NODE_BIGINT;
        node->negative = negative;
        node->u = 0;
    } else if (node->negative) {
        node->i = (int64_t)(0 - m.v);
    } else {
        node->u = m.v;
    }
}

/* [-+]?0b[0-1_]+ | [-+]?0[0-7_]+ | [-+]?(?:0|[1-9][0-9_]*) | [-+]?0x[0-9a-fA-F_]+
 * | [-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+ */
static bool resolve_int(cip_node *node, text t)
{
    magnitude m = { 0 };
    bool negative = take_sign(&t);
    bool zero = take_char(&t, '0');
    if (zero) {
        unsigned base = take_char(&t, 'b') ? 2 : take_char(&t, 'x') ? 16 : 8;
        /* the zero is itself an octal digit */
        if (!take_based(&t, base, &m) && (base != 8 || t.p < t.end))
            return false;
    } else {
        if (!cip_is_digit(*t.p))
            return false;
        for (; cip_is_digit(*t.p) || *t.p == '_'; t.p++)
            if (*t.p != '_')
                scale(&m, 10, (unsigned)(*t.p - '0'));
        unsigned part;
        while (at(&t, ':') && take_sixtieth(&t, &part))
            scale(&m, 60, part);
        if (t.p < t.end)
            return false;
    }
    set_int(node, negative, m);
    return true;
}

static void set_double(cip_node *node, double v)
{
    node->type = CIP_NODE_FLOAT;
    node->f = v;
}

/* \.(?:inf|Inf|INF) or \.(?:nan|NaN|NAN), the sign taken */
static bool is_special(text t, const char *const names[3])
{
    for (int i = 0; i < 3; i++)
        if (t.end - t.p == 4 && memcmp(t.p, names[i], 4) == 0)
            return true;
    return false;
}

/* (?::[0-5]?[0-9])+\.[0-9_]* after the first digits: the parts are added from the last, as PyYAML
 * does. */
static bool resolve_sixtieths(cip_node *node, text whole, text t, bool negative)
{
    unsigned part;
    const char *first = whole.p;
    const char *last = first;
    while (at(&t, ':')) {
        last = t.p + 1;
        if (!take_sixtieth(&t, &part))
            return false;
    }
    if (!take_char(&t, '.'))
        return false;
    skip_digits(&t);
    if (t.p < t.end)
        return false;
    double v = cip_decimal_parse(last, (size_t)(t.end - last)), base = 1;
    while (last > first) {
        const char *end = --last;
        while (last > first && last[-1] != ':')
            last--;
        base *= 60;
        v += cip_decimal_parse(last, (size_t)(end - last)) * base;
    }
    set_double(node, negative ? -v : v);
    return true;
}

/* [-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)? | \.[0-9][0-9_]*(?:[eE][-+][0-9]+)?
 * | [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]* | [-+]?\.(?:inf|Inf|INF) | \.(?:nan|NaN|NAN) */
static bool resolve_float(cip_node *node, text t)
{
    static const char *const inf[] = { ".inf", ".Inf", ".INF" };
    static const char *const nan[] = { ".nan", ".NaN", ".NAN" };
    const text all = t;
    bool negative = take_sign(&t);
    bool signless = t.p == all.p;
    const text unsigned_part = t;
    if (is_special(t, inf)) {
        set_double(node, negative ? -INFINITY : INFINITY);
        return true;
    }
    if (signless && is_special(t, nan)) {
        set_double(node, NAN);
        return true;
    }
    if (at(&t, '.')) {
        t.p++;
        if (!signless || !cip_is_digit(*t.p))
            return false;
    } else {
        if (!cip_is_digit(*t.p))
            return false;
        skip_digits(&t);
        if (at(&t, ':'))
            return resolve_sixtieths(node, unsigned_part, t, negative);
        if (!take_char(&t, '.'))
            return false;
    }
    skip_digits(&t);
    if (take_char(&t, 'e') || take_char(&t, 'E')) {
        if (!at(&t, '-') && !at(&t, '+'))
            return false;
        t.p++;
        if (take_digits(&t, SIZE_MAX) == 0)
            return false;
    }
    if (t.p < t.end)
        return false;
    set_double(node, cip_decimal_parse(all.p, (size_t)(all.end - all.p)));
    return true;
}

static bool take_between(text *t, size_t least, size_t most)
{
    return take_digits(t, most) >= least;
}

/* (?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9][0-9])?))? */
static bool take_zone(text *t)
{
    if (t->p == t->end)
        return true;
    while (at(t, ' ') || at(t, '\t'))
        t->p++;
    if (take_char(t, 'Z'))
        return true;
    if (!take_char(t, '-') && !take_char(t, '+'))
        return false;
    if (!take_between(t, 1, 2))
        return false;
    return !take_char(t, ':') || take_between(t, 2, 2);
}

/* [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]
 * | [0-9][0-9][0-9][0-9]-[0-9][0-9]?-[0-9][0-9]?(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9][0-9]:[0-9][0-9]
 *   (?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9][0-9])?))? */
static bool resolve_timestamp(text t)
{
    const char *start = t.p;
    if (!take_between(&t, 4, 4) || !take_char(&t, '-') || !take_between(&t, 1, 2) ||
        !take_char(&t, '-') || !take_between(&t, 1, 2))
        return false;
    if (t.p == t.end)
        return t.p - start == 10;
    if (!take_char(&t, 'T') && !take_char(&t, 't')) {
        const char *blank = t.p;
        while (at(&t, ' ') || at(&t, '\t'))
            t.p++;
        if (t.p == blank)
            return false;
    }
    if (!take_between(&t, 1, 2) || !take_char(&t, ':') || !take_between(&t, 2, 2) ||
        !take_char(&t, ':') || !take_between(&t, 2, 2))
        return false;
    if (take_char(&t, '.'))
        take_digits(&t, SIZE_MAX);
    return take_zone(&t) && t.p == t.end;
}

/* `word` in lower case, with the first letter or all of them in upper case; of two
 * letters or more. */
static bool is_word(text t, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(t.end - t.p) != n)
        return false;
    bool upper_rest = t.p[1] >= 'A' && t.p[1] <= 'Z';
    for (size_t i = 0; i < n; i++) {
        char lower = word[i], upper = (char)(word[i] - 'a' + 'A');
        bool ok = i == 0 ? t.p[i] == upper || (t.p[i] == lower && !upper_rest)
                         : t.p[i] == (upper_rest ? upper : lower);
        if (!ok)
            return false;
    }
    return true;
}

static bool set_bool(cip_node *node, bool v)
{
    node->type = CIP_NODE_BOOL;
    node->b = v;
    return true;
}

static bool resolve_bool(cip_node *node, text t)
{
    if (is_word(t, "true") || is_word(t, "yes") || is_word(t, "on"))
        return set_bool(node, true);
    if (is_word(t, "false") || is_word(t, "no") || is_word(t, "off"))
        return set_bool(node, false);
    return false;
}

void cip_yaml_resolve(cip_node *node, const char *s, size_t len)
{
    text t = { s, s + len };
    node->negative = false;
    node->type = CIP_NODE_STRING;
    switch (s[0]) {
    case '-':
    case '+':
    case '.':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        if (resolve_int(node, t) || resolve_float(node, t))
            break;
        node->type =
            cip_is_digit(*s) && resolve_timestamp(t) ? CIP_NODE_TIMESTAMP : CIP_NODE_STRING;
        break;
    case '\0': /* nothing, or a string with a NUL in front */
    case '~':
    case 'n':
    case 'N':
        if (len == 0 || (len == 1 && *s == '~') || is_word(t, "null")) {
            node->type = CIP_NODE_NULL;
            break;
        }
        resolve_bool(node, t);
        break;
    case 'y':
    case 'Y':
    case 't':
    case 'T':
    case 'f':
    case 'F':
    case 'o':
    case 'O':
        resolve_bool(node, t);
        break;
    default:
        break;
    }
}

/* As Python's float(): what !!float takes beyond the floats of plain scalars. */
static bool resolve_loose_float(cip_node *node, text t)
{
    const text all = t;
    take_sign(&t);
    const char *start = t.p;
    skip_digits(&t);
    take_char(&t, '.');
    skip_digits(&t);
    bool digit = false;
    for (const char *p = start; p < t.p; p++)
        digit |= cip_is_digit(*p);
    if (digit && (take_char(&t, 'e') || take_char(&t, 'E'))) {
        take_sign(&t);
        if (take_digits(&t, SIZE_MAX) == 0)
            return false;
    }
    if (!digit || t.p < t.end)
        return false;
    set_double(node, cip_decimal_parse(all.p, (size_t)(all.end - all.p)));
    return true;
}

bool cip_yaml_resolve_as(cip_node *node, const char *name, const char *s, size_t len)
{
    text t = { s, s + len };
    bool ok = true;
    node->negative = false;
    node->type = CIP_NODE_STRING;
    if (strcmp(name, "int") == 0)
        ok = resolve_int(node, t);
    else if (strcmp(name, "float") == 0)
        ok = resolve_float(node, t) || resolve_loose_float(node, t);
    else if (strcmp(name, "bool") == 0)
        ok = resolve_bool(node, t);
    else if (strcmp(name, "null") == 0)
        node->type = CIP_NODE_NULL;
    else if (strcmp(name, "binary") == 0)
        node->type = CIP_NODE_BINARY;
    else if (strcmp(name, "timestamp") == 0 && (ok = resolve_timestamp(t)))
        node->type = CIP_NODE_TIMESTAMP;
    if (!ok)
        node->type = CIP_NODE_STRING;
    return ok;
}
