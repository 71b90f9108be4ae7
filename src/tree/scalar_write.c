/* SPDX-License-Identifier: BSD-3-Clause
 * Spelling scalars. A string stays plain only where no reader can take it for anything else;
 * single quotes hold all that is printable, double quotes the rest. */
#include <string.h>

#include "base/num.h"
#include "tree/scalar.h"
#include "tree/scalar_write.h"
#include "tree/utf8.h"
#include "tree/yaml.h"

/* A NUL follows, so that looking at one character needs no check. */
typedef struct text {
    const char *p;
    size_t len;
} text;

static text text_of(const cip_node *node)
{
    return (text){ node->text, node->len };
}

/* How many of the text's bytes from `at` on are digits. */
static size_t digits_at(text t, size_t at)
{
    size_t n = 0;
    while (cip_is_digit(t.p[at + n]))
        n++;
    return n;
}

static bool has(text t, size_t at, const char *any)
{
    return t.p[at] != '\0' && strchr(any, t.p[at]) != NULL;
}

/* YAML 1.2: [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? which includes decimal integers. */
static bool is_decimal_12(text t)
{
    size_t at = has(t, 0, "-+");
    size_t whole = digits_at(t, at);
    at += whole;
    if (has(t, at, ".")) {
        size_t part = digits_at(t, ++at);
        if (whole + part == 0)
            return false;
        at += part;
    } else if (whole == 0) {
        return false;
    }
    if (has(t, at, "eE")) {
        at++;
        at += has(t, at, "-+");
        size_t exponent = digits_at(t, at);
        if (exponent == 0)
            return false;
        at += exponent;
    }
    return at == t.len;
}

/* YAML 1.2: 0x[0-9a-fA-F]+, which 1.1 reads alike. */
static bool is_hex_12(text t)
{
    return t.len > 2 && memcmp(t.p, "0x", 2) == 0 &&
           2 + strspn(t.p + 2, "0123456789abcdefABCDEF") == t.len;
}

static bool is_octal_12(text t)
{
    return t.len > 2 && memcmp(t.p, "0o", 2) == 0 && digits_at(t, 2) == t.len - 2;
}

/* [-+]?0[bx]: PyYAML takes `0x_` for an integer too, and fails. */
static bool is_based(text t)
{
    size_t at = has(t, 0, "-+");
    return has(t, at, "0") && has(t, at + 1, "bx");
}

static bool is_one_of(text t, const char *const *words)
{
    for (; *words != NULL; words++)
        if (t.len == strlen(*words) && memcmp(t.p, *words, t.len) == 0)
            return true;
    return false;
}

/* Whether YAML 1.1, 1.2 and the readers between them all see a string. */
static bool is_string_to_all(text t)
{
    static const char *const special[] = { "y", "Y", "n", "N", "=", "<<", NULL };
    cip_node node;
    cip_yaml_resolve(&node, t.p, t.len);
    return node.type == CIP_NODE_STRING && !is_decimal_12(t) && !is_octal_12(t) && !is_based(t) &&
           !is_one_of(t, special);
}

/* Whether the text alone gives the node's type under 1.1; a tag may have given it. */
static bool is_own_type(const cip_node *node)
{
    cip_node plain;
    cip_yaml_resolve(&plain, node->text, node->len);
    return node->tag != NULL || plain.type == node->type;
}

/* Whether a value that is no string reads alike under 1.1 and 1.2 as it was written. */
static bool is_alike(const cip_node *node)
{
    static const char *const nulls[] = { "null", "Null", "NULL", "~", NULL };
    static const char *const bools[] = { "true", "True", "TRUE", "false", "False", "FALSE", NULL };
    static const char *const floats[] = { ".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
                                          "+.INF", "-.inf", "-.Inf", "-.INF", ".nan",
                                          ".NaN",  ".NAN",  NULL };
    const text t = text_of(node);
    size_t sign = has(t, 0, "-+");
    switch (node->type) {
    case CIP_NODE_NULL:
        return is_one_of(t, nulls);
    case CIP_NODE_BOOL:
        return is_one_of(t, bools);
    case CIP_NODE_INT:
    case CIP_NODE_BIGINT: /* a zero in front: octal in 1.1, decimal in 1.2 */
        return is_hex_12(t) ||
               (digits_at(t, sign) == t.len - sign && (t.p[sign] != '0' || t.len == sign + 1));
    case CIP_NODE_FLOAT:
        return is_own_type(node) && (is_decimal_12(t) || is_one_of(t, floats));
    default: /* a timestamp: 1.2 has none */
        return true;
    }
}

static cip_status put_escape(cip_buf *out, uint32_t c, bool yaml, cip_err *err)
{
    const char *hex = !yaml ? "\\u%04" PRIx32 : c < 0x100 ? "\\x%02" PRIX32 : "\\u%04" PRIX32;
    switch (c) {
    case '\t':
        return cip_buf_puts(out, "\\t", err);
    case '\n':
        return cip_buf_puts(out, "\\n", err);
    case '\r':
        return cip_buf_puts(out, "\\r", err);
    case '"':
        return cip_buf_puts(out, "\\\"", err);
    case '\\':
        return cip_buf_puts(out, "\\\\", err);
    default:
        return yaml && c == 0 ? cip_buf_puts(out, "\\0", err) : cip_buf_addf(out, err, hex, c);
    }
}

cip_status cip_quote(cip_buf *out, const char *s, size_t len, bool yaml, cip_err *err)
{
    const uint8_t *p = (const uint8_t *)s;
    CIP_TRY(cip_buf_puts(out, "\"", err));
    for (size_t i = 0; i < len;) {
        uint32_t c = 0;
        unsigned n = cip_utf8_get(p + i, len - i, &c);
        if (n == 0) /* a text made by hand: neither can hold it */
            CIP_TRY(cip_buf_puts(out, "\xef\xbf\xbd", err));
        else if (c == '"' || c == '\\' || cip_utf8_unsafe(c))
            CIP_TRY(put_escape(out, c, yaml, err));
        else
            CIP_TRY(cip_buf_add(out, p + i, n, err));
        i += n == 0 ? 1 : n;
    }
    return cip_buf_puts(out, "\"", err);
}

/* Only what can be shown as it is, and line feeds where `lines`. */
static bool is_printable(text t, bool lines)
{
    const uint8_t *p = (const uint8_t *)t.p;
    for (size_t i = 0; i < t.len;) {
        uint32_t c = 0;
        unsigned n = cip_utf8_get(p + i, t.len - i, &c);
        if (n == 0 || (cip_utf8_unsafe(c) && !(lines && c == '\n')))
            return false;
        i += n;
    }
    return true;
}

/* Whether a printable text can stand without quotes. */
static bool is_plain(text t, bool flow)
{
    if (t.len == 0 || t.p[0] == ' ' || t.p[t.len - 1] == ' ' ||
        strchr("?:,[]{}#&*!|>'\"%@`", t.p[0]) != NULL)
        return false;
    if (t.p[0] == '-' && (t.len == 1 || t.p[1] == ' '))
        return false;
    if (t.len >= 3 && (memcmp(t.p, "---", 3) == 0 || memcmp(t.p, "...", 3) == 0))
        return false;
    for (size_t i = 0; i < t.len; i++) {
        char c = t.p[i];
        if (flow && strchr(",?[]{}:", c) != NULL)
            return false;
        if (c == ':' && (i + 1 == t.len || t.p[i + 1] == ' '))
            return false;
        if (c == '#' && t.p[i - 1] == ' ')
            return false;
    }
    return true;
}

/* Without blanks in front, where they would need an indentation indicator, or at a line's end. */
bool cip_yaml_is_literal(const cip_node *node)
{
    const text t = text_of(node);
    if (node->style != CIP_STYLE_LITERAL && node->style != CIP_STYLE_FOLDED)
        return false;
    if (t.len == 0 || t.p[0] == ' ' || t.p[0] == '\n' || !is_printable(t, true))
        return false;
    for (size_t i = 0; i < t.len; i++)
        if (t.p[i] == ' ' && (i + 1 == t.len || t.p[i + 1] == '\n'))
            return false;
    return true;
}

static cip_status put_literal(cip_buf *out, text t, size_t indent, cip_err *err)
{
    bool ends = t.p[t.len - 1] == '\n';
    bool more = ends && t.len > 1 && t.p[t.len - 2] == '\n';
    CIP_TRY(cip_buf_puts(out, more ? "|+" : ends ? "|" : "|-", err));
    size_t end = t.len - ends;
    for (size_t i = 0; i <= end;) {
        const char *stop = memchr(t.p + i, '\n', end - i);
        size_t n = stop != NULL ? (size_t)(stop - t.p) - i : end - i;
        CIP_TRY(cip_buf_puts(out, "\n", err));
        if (n != 0)
            CIP_TRY(cip_buf_fill(out, ' ', indent, err));
        CIP_TRY(cip_buf_add(out, t.p + i, n, err));
        i += n + 1;
    }
    return CIP_OK;
}

static cip_status put_string(cip_buf *out, const cip_node *node, cip_scalar_place place,
                             cip_err *err)
{
    const text t = text_of(node);
    if (place.literal && cip_yaml_is_literal(node))
        return put_literal(out, t, place.indent, err);
    if (node->style == CIP_STYLE_DOUBLE || !is_printable(t, false))
        return cip_quote(out, t.p, t.len, true, err);
    if (node->style == CIP_STYLE_SINGLE || !is_plain(t, place.flow) ||
        (node->tag == NULL && !is_string_to_all(t))) {
        CIP_TRY(cip_buf_puts(out, "'", err));
        for (size_t i = 0; i < t.len; i++) {
            if (t.p[i] == '\'')
                CIP_TRY(cip_buf_puts(out, "'", err));
            CIP_TRY(cip_buf_add(out, t.p + i, 1, err));
        }
        return cip_buf_puts(out, "'", err);
    }
    return cip_buf_add(out, t.p, t.len, err);
}

cip_status cip_yaml_put_scalar(cip_buf *out, const cip_node *node, cip_scalar_place place,
                               cip_err *err)
{
    if (node->type == CIP_NODE_STRING || node->type == CIP_NODE_BINARY)
        return put_string(out, node, place, err);
    /* of nulls any text can be tagged so */
    bool kept = place.key && node->type != CIP_NODE_NULL && is_own_type(node);
    if (kept || is_alike(node))
        return cip_buf_add(out, node->text, node->len, err);
    char number[CIP_DOUBLE_TEXT];
    bool done = false;
    switch (node->type) {
    case CIP_NODE_NULL:
        return cip_buf_puts(out, "null", err);
    case CIP_NODE_BOOL:
        return cip_buf_puts(out, node->b ? "true" : "false", err);
    case CIP_NODE_INT:
        if (node->negative)
            return cip_buf_addf(out, err, "%" PRId64, node->i);
        return cip_buf_addf(out, err, "%" PRIu64, node->u);
    case CIP_NODE_FLOAT:
        cip_double_text(node->f, number);
        return cip_buf_puts(out, number, err);
    default: /* BIGINT */
        CIP_TRY(cip_int_decimal((cip_bytes){ (const uint8_t *)node->text, node->len }, out, &done,
                                err));
        return done ? CIP_OK : cip_buf_add(out, node->text, node->len, err);
    }
}

/* What a tag may hold unescaped; a shorthand's end must not be taken for a flow mark or a handle.
 */
static bool is_uri(char c, bool shorthand)
{
    if (cip_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return true;
    return c != '\0' &&
           (strchr("-_;/?:@&=+$.~*'()", c) != NULL || (!shorthand && strchr("!,[]", c) != NULL));
}

static bool is_shorthand(const char *suffix)
{
    const char *p = suffix;
    while (is_uri(*p, true))
        p++;
    return *p == '\0' && p != suffix;
}

cip_status cip_yaml_put_prefix(cip_buf *out, const char *prefix, cip_err *err)
{
    for (const char *p = prefix; *p != '\0'; p++) {
        if (is_uri(*p, false))
            CIP_TRY(cip_buf_add(out, p, 1, err));
        else
            CIP_TRY(cip_buf_addf(out, err, "%%%02X", (unsigned)(unsigned char)*p));
    }
    return CIP_OK;
}

cip_status cip_yaml_put_tag(cip_buf *out, const char *tag, const char *prefix, cip_err *err)
{
    const size_t core = strlen(CIP_CORE_TAG);
    const size_t n = prefix != NULL ? strlen(prefix) : 0;
    if (n != 0 && strncmp(tag, prefix, n) == 0 && is_shorthand(tag + n))
        return cip_buf_addf(out, err, "!%s", tag + n);
    if (strncmp(tag, CIP_CORE_TAG, core) == 0 && is_shorthand(tag + core))
        return cip_buf_addf(out, err, "!!%s", tag + core);
    CIP_TRY(cip_buf_puts(out, "!<", err));
    CIP_TRY(cip_yaml_put_prefix(out, tag, err));
    return cip_buf_puts(out, ">", err);
}
