/* SPDX-License-Identifier: BSD-3-Clause
 * One card of a header: its keyword, its value as a node, its comment (standard 4.0, 4.1 and 4.2).
 */
#include <string.h>

#include "format/fits/fits.h"
#include "tree/scalar.h"

enum { VALUE = 10 }; /* where the value begins, behind "= " */

static cip_bytes trimmed(const uint8_t *p, size_t n)
{
    while (n > 0 && p[n - 1] == ' ')
        n--;
    return (cip_bytes){ p, n };
}

static cip_bytes both_trimmed(const uint8_t *p, size_t n)
{
    while (n > 0 && *p == ' ') {
        p++;
        n--;
    }
    return trimmed(p, n);
}

/* Text as UTF-8: what is no ASCII is taken for Latin-1, as the standard has neither. */
static cip_status new_text(cip_arena *a, const uint8_t *p, size_t n, cip_node **out, cip_err *err)
{
    char utf8[2 * FITS_CARD];
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] >= 0x80)
            utf8[len++] = (char)(0xc0 | p[i] >> 6);
        utf8[len++] = (char)(p[i] >= 0x80 ? 0x80 | (p[i] & 0x3f) : p[i]);
    }
    return cip_node_new_string(a, utf8, len, out, err);
}

/* A string in quotes at p; *used bytes of it, 0 where it does not end. */
static cip_status string_value(cip_arena *a, const uint8_t *p, size_t n, cip_node **out,
                               size_t *used, cip_err *err)
{
    uint8_t text[FITS_CARD];
    size_t len = 0;
    *used = 0;
    for (size_t i = 1; i < n; i++) {
        if (p[i] == '\'' && i + 1 < n && p[i + 1] == '\'') {
            i++;
        } else if (p[i] == '\'') {
            const cip_bytes t = trimmed(text, len);
            *used = i + 1;
            /* Blanks alone are one blank to the standard; nothing is lost by the empty string. */
            return new_text(a, t.ptr, t.len, out, err);
        }
        text[len++] = p[i];
    }
    return CIP_OK;
}

static size_t digits(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] >= '0' && p[i] <= '9')
        i++;
    return i;
}

/* Whether the text is a number as the standard writes them; *whole: an integer. */
static bool is_number(cip_bytes t, bool *whole)
{
    const uint8_t *p = t.ptr, *end = t.ptr + t.len;
    if (p < end && (*p == '+' || *p == '-'))
        p++;
    size_t any = digits(p, (size_t)(end - p));
    p += any;
    *whole = p == end && any != 0;
    if (p < end && *p == '.') {
        p++;
        const size_t more = digits(p, (size_t)(end - p));
        p += more;
        any += more;
    }
    if (any != 0 && p < end && (*p == 'E' || *p == 'D' || *p == 'e' || *p == 'd')) {
        if (++p < end && (*p == '+' || *p == '-'))
            p++;
        const size_t more = digits(p, (size_t)(end - p));
        p += more;
        any = more;
    }
    return any != 0 && p == end;
}

/* The double of a text that is_number knows. */
static double real_of(cip_bytes t)
{
    char text[FITS_CARD + 1];
    for (size_t i = 0; i < t.len; i++)
        text[i] = t.ptr[i] == 'D' || t.ptr[i] == 'd' ? 'E' : (char)t.ptr[i];
    return cip_decimal_parse(text, t.len);
}

static cip_status number_value(cip_arena *a, cip_bytes t, bool whole, cip_node **out, cip_err *err)
{
    const bool minus = t.ptr[0] == '-';
    uint64_t u = 0;
    if (!whole)
        return cip_node_new_double(a, real_of(t), out, err);
    for (size_t i = t.ptr[0] == '-' || t.ptr[0] == '+'; i < t.len; i++)
        if (cip_mul_overflow(u, 10u, &u) || cip_add_overflow(u, (unsigned)(t.ptr[i] - '0'), &u))
            return new_text(a, t.ptr, t.len, out, err); /* over 64 bits: all of its digits */
    if (!minus)
        return cip_node_new_uint(a, u, out, err);
    if (u > (uint64_t)INT64_MAX + 1)
        return new_text(a, t.ptr, t.len, out, err);
    return cip_node_new_int(a, u > INT64_MAX ? INT64_MIN : -(int64_t)u, out, err);
}

/* "(1.5, 2)" as a list of two numbers. */
static cip_status complex_value(cip_arena *a, cip_bytes t, cip_node **out, cip_err *err)
{
    const uint8_t *comma = memchr(t.ptr, ',', t.len);
    bool whole;
    if (t.len < 2 || t.ptr[t.len - 1] != ')' || comma == NULL)
        return CIP_OK;
    const cip_bytes part[2] = { both_trimmed(t.ptr + 1, (size_t)(comma - t.ptr) - 1),
                                both_trimmed(comma + 1, t.len - 2 - (size_t)(comma - t.ptr)) };
    if (!is_number(part[0], &whole) || !is_number(part[1], &whole))
        return CIP_OK;
    CIP_TRY(cip_node_new_seq(a, 2, out, err));
    (*out)->style = CIP_STYLE_FLOW;
    for (size_t i = 0; i < 2; i++) {
        cip_node *n;
        CIP_TRY(cip_node_new_double(a, real_of(part[i]), &n, err));
        cip_node_set_item(*out, i, n);
    }
    return CIP_OK;
}

/* What stands behind "= ": value, then " / comment". */
static cip_status value_and_comment(cip_arena *a, const uint8_t *p, size_t n, fits_card *out,
                                    cip_err *err)
{
    cip_node *node = NULL;
    size_t used = 0;
    bool whole;
    while (n > 0 && *p == ' ') {
        p++;
        n--;
    }
    if (n > 0 && *p == '\'')
        CIP_TRY(string_value(a, p, n, &node, &used, err));
    if (used == 0) {
        const uint8_t *slash = n == 0 ? NULL : memchr(p, '/', n);
        used = slash != NULL ? (size_t)(slash - p) : n;
        const cip_bytes t = trimmed(p, used);
        if (t.len == 0)
            CIP_TRY(cip_node_new_null(a, &node, err));
        else if (t.len == 1 && (*t.ptr == 'T' || *t.ptr == 'F'))
            CIP_TRY(cip_node_new_bool(a, *t.ptr == 'T', &node, err));
        else if (is_number(t, &whole))
            CIP_TRY(number_value(a, t, whole, &node, err));
        else if (*t.ptr == '(')
            CIP_TRY(complex_value(a, t, &node, err));
        if (node == NULL)
            CIP_TRY(new_text(a, t.ptr, t.len, &node, err));
    } else if (node->len > 0 && node->text[node->len - 1] == '&') {
        out->continued = true;
    }
    out->value = node;
    out->text = both_trimmed(p + used, n - used);
    if (out->text.len > 0 && *out->text.ptr == '/')
        out->text = both_trimmed(out->text.ptr + 1, out->text.len - 1);
    return CIP_OK;
}

cip_status cip_fits_card_read(cip_arena *a, const uint8_t card[FITS_CARD], fits_card *out,
                              cip_err *err)
{
    const uint8_t *is;
    *out = (fits_card){ .key = trimmed(card, FITS_KEYWORD),
                        .text = trimmed(card + FITS_KEYWORD, FITS_CARD - FITS_KEYWORD) };
    out->blank = out->key.len == 0 && out->text.len == 0;
    out->end = out->key.len == 3 && memcmp(card, "END", 3) == 0 && out->text.len == 0;
    if (out->key.len != 0 && memcmp(card + FITS_KEYWORD, "= ", 2) == 0)
        return value_and_comment(a, card + VALUE, FITS_CARD - VALUE, out, err);
    if (memcmp(card, "CONTINUE  ", VALUE) == 0) {
        const cip_bytes t = both_trimmed(card + VALUE, FITS_CARD - VALUE);
        out->continues = t.len != 0 && *t.ptr == '\'';
        return out->continues ? value_and_comment(a, t.ptr, t.len, out, err) : CIP_OK;
    }
    if (memcmp(card, "HIERARCH ", 9) == 0 && (is = memchr(card + 9, '=', FITS_CARD - 9)) != NULL) {
        const cip_bytes key = both_trimmed(card + 9, (size_t)(is - card) - 9);
        if (key.len != 0) {
            out->key = key;
            return value_and_comment(a, is + 1, (size_t)(card + FITS_CARD - is) - 1, out, err);
        }
    }
    return CIP_OK;
}
