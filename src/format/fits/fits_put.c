/* SPDX-License-Identifier: BSD-3-Clause
 * Values to cards (standard 4.0, 4.1 and 4.2): fixed format, long strings over several cards. What
 * no card can hold is told. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/fits/fits_write.h"
#include "tree/scalar.h"

enum { FIXED = 30, TEXT_MOST = 68 }; /* where numbers end; characters of a string in one card */

static void lost(fits_cards *c, const char *key, const char *what)
{
    if (c->loss != NULL)
        cip_report_add(c->loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, c->part,
                       "the card %.80s is lost: %s", key, what);
}

static void changed(fits_cards *c, const char *key, const char *what)
{
    if (c->loss != NULL)
        cip_report_add(c->loss, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, c->part, "the card %.80s: %s",
                       key, what);
}

/* n bytes (at most 80), filled with blanks. */
static cip_status put_card(fits_cards *c, const char *text, size_t n, cip_err *err)
{
    if (c->out == NULL)
        return CIP_OK;
    CIP_TRY(cip_buf_add(c->out, text, n, err));
    return cip_buf_fill(c->out, ' ', FITS_CARD - n, err);
}

static bool is_plain(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    return true;
}

/* "KEY     = ", or "HIERARCH a longer key = "; 0 where it can be neither. */
static size_t start_of(const char *key, char out[FITS_CARD + 1])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t n = strlen(key);
    if (strcmp(key, "CONTINUE") == 0) /* it goes on with the card before */
        return 0;
    if (n > 0 && n <= FITS_KEYWORD && strspn(key, letters) == n)
        return (size_t)snprintf(out, FITS_CARD + 1, "%-8s= ", key);
    if (n == 0 || n > 40 || !is_plain(key, n) || strchr(key, '=') != NULL || key[0] == ' ' ||
        key[n - 1] == ' ')
        return 0;
    return (size_t)snprintf(out, FITS_CARD + 1, "HIERARCH %s = ", key);
}

static const cip_node *comment_of(const fits_cards *c, const char *key)
{
    const cip_node *map = c->comments;
    return cip_node_kind(map) == CIP_NODE_MAP ? cip_map_get(map, key) : NULL;
}

/* The value as it stands, the comment as far as there is room. */
static cip_status put_value(fits_cards *c, const char *key, const char *value, bool right,
                            cip_err *err)
{
    const cip_node *comment = comment_of(c, key);
    char card[2 * FITS_CARD + 64];
    size_t n = start_of(key, card);
    const size_t len = strlen(value);
    if (n == 0 || n + len > FITS_CARD) {
        lost(c, key, n == 0 ? "a keyword cannot have this name" : "the value is too long");
        return CIP_OK;
    }
    if (right && n == FITS_KEYWORD + 2) /* numbers end at one column */
        while (n + len < FIXED)
            card[n++] = ' ';
    memcpy(card + n, value, len);
    n += len;
    if (cip_node_kind(comment) == CIP_NODE_STRING && comment->len != 0) {
        while (n < FIXED)
            card[n++] = ' ';
        const size_t room = n + 3 < FITS_CARD ? FITS_CARD - n - 3 : 0;
        const size_t k = (size_t)cip_min_u64(comment->len, room);
        const bool plain = is_plain(comment->text, comment->len);
        if (plain && k != 0) {
            memcpy(card + n, " / ", 3);
            memcpy(card + n + 3, comment->text, k);
            n += 3 + k;
        }
        if ((!plain || k < comment->len) && c->loss != NULL)
            cip_report_add(c->loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, c->part,
                           "the comment of %.80s is cut: a card has %d ASCII characters", key,
                           FITS_CARD);
    }
    return put_card(c, card, n, err);
}

/* --- strings ---------------------------------------------------------------------------------- */

/* Quotes are doubled; *took characters of the text fit into `most`. */
static size_t quoted(const char *text, size_t n, size_t most, char *out, size_t *took)
{
    size_t len = 0, i = 0;
    for (; i < n && len + 1 + (text[i] == '\'') <= most; i++) {
        out[len++] = text[i];
        if (text[i] == '\'')
            out[len++] = '\'';
    }
    *took = i;
    return len;
}

/* A string of over a card: each but the last ends with "&". */
static cip_status put_long(fits_cards *c, const char *key, const char *text, size_t n, cip_err *err)
{
    char card[FITS_CARD + 1], piece[FITS_CARD + 1];
    size_t took, start = start_of(key, card);
    if (start + 16 > FITS_CARD || start == 0) {
        lost(c, key, "the text is too long");
        return CIP_OK;
    }
    for (bool first = true; n != 0; first = false) {
        if (!first)
            start = (size_t)snprintf(card, sizeof card, "CONTINUE  ");
        const size_t len = quoted(text, n, FITS_CARD - start - 3, piece, &took);
        const bool last = took == n;
        const size_t end = start + (size_t)snprintf(card + start, sizeof card - start, "'%.*s%s'",
                                                    (int)len, piece, last ? "" : "&");
        CIP_TRY(put_card(c, card, end, err));
        text += took;
        n -= took;
    }
    if (comment_of(c, key) != NULL && c->loss != NULL)
        cip_report_add(c->loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, c->part,
                       "the comment of %.80s is lost: its text takes several cards", key);
    return CIP_OK;
}

static cip_status put_string(fits_cards *c, const char *key, const char *text, size_t n,
                             cip_err *err)
{
    char value[FITS_CARD + 4], piece[FITS_CARD + 1];
    size_t took, room;
    if (!is_plain(text, n)) {
        lost(c, key, "the text is not ASCII");
        return CIP_OK;
    }
    if (n != 0 && text[n - 1] == ' ')
        changed(c, key, "blanks at the end of a text are not kept");
    room = start_of(key, value);
    room = room + 2 < FITS_CARD ? FITS_CARD - room - 2 : 0;
    const size_t len = quoted(text, n, cip_min_u64(room, TEXT_MOST), piece, &took);
    /* A text that ends with "&" would ask for more. */
    if (took < n || (n != 0 && text[n - 1] == '&'))
        return put_long(c, key, text, n, err);
    snprintf(value, sizeof value, "'%-8.*s'", (int)len, len != 0 ? piece : "");
    return put_value(c, key, value, false, err);
}

/* --- values ----------------------------------------------------------------------------------- */

/* "1.5", "1.0E-30"; false: NaN and infinity have no spelling. */
static bool real_text(double v, char out[CIP_DOUBLE_TEXT])
{
    if (!isfinite(v))
        return false;
    cip_double_text(v, out);
    for (char *p = out; *p != '\0'; p++)
        *p = *p == 'e' ? 'E' : *p;
    return true;
}

static cip_status put_one(fits_cards *c, const char *key, const cip_node *v, cip_err *err)
{
    char text[2 * CIP_DOUBLE_TEXT + 8], second[CIP_DOUBLE_TEXT];
    switch (cip_node_kind(v)) {
    case CIP_NODE_NULL:
        return put_value(c, key, "", false, err);
    case CIP_NODE_BOOL:
        return put_value(c, key, v->b ? "T" : "F", true, err);
    case CIP_NODE_INT:
        if (v->negative)
            snprintf(text, sizeof text, "%" PRId64, v->i);
        else
            snprintf(text, sizeof text, "%" PRIu64, v->u);
        return put_value(c, key, text, true, err);
    case CIP_NODE_FLOAT:
        if (real_text(v->f, text))
            return put_value(c, key, text, true, err);
        lost(c, key, "FITS headers have no NaN and no infinity");
        return CIP_OK;
    case CIP_NODE_STRING:
        return put_string(c, key, v->text, v->len, err);
    case CIP_NODE_SEQ:
        if (v->len == 2 && real_text(v->item[0]->f, text + 1) && real_text(v->item[1]->f, second)) {
            text[0] = '(';
            const size_t n = strlen(text);
            snprintf(text + n, sizeof text - n, ", %s)", second);
            return put_value(c, key, text, false, err);
        }
        break;
    default:
        break;
    }
    lost(c, key, "a card holds one value");
    return CIP_OK;
}

static bool is_commentary(const char *key)
{
    return strcmp(key, "COMMENT") == 0 || strcmp(key, "HISTORY") == 0 || key[0] == '\0';
}

/* A text as it stands, cut into cards where it is longer. */
static cip_status put_commentary(fits_cards *c, const char *key, const cip_node *v, cip_err *err)
{
    enum { ROOM = FITS_CARD - FITS_KEYWORD };
    char card[FITS_CARD + 1];
    if (cip_node_kind(v) != CIP_NODE_STRING || !is_plain(v->text, v->len)) {
        lost(c, key, "expected ASCII text");
        return CIP_OK;
    }
    for (size_t at = 0; at == 0 || at < v->len; at += ROOM) {
        const size_t n = (size_t)cip_min_u64(v->len - at, ROOM);
        const int len = snprintf(card, sizeof card, "%-8s%.*s", key, (int)n, v->text + at);
        CIP_TRY(put_card(c, card, (size_t)len, err));
    }
    return CIP_OK;
}

/* Two floats are one complex number. */
static bool is_complex(const cip_node *v)
{
    return v->len == 2 && cip_node_kind(v->item[0]) == CIP_NODE_FLOAT &&
           cip_node_kind(v->item[1]) == CIP_NODE_FLOAT;
}

cip_status cip_fits_put_node(fits_cards *c, const cip_node *key, const cip_node *value,
                             cip_err *err)
{
    if (cip_node_kind(key) != CIP_NODE_STRING || strlen(key->text) != key->len) {
        lost(c, "?", "its key is no text");
        return CIP_OK;
    }
    const bool list = cip_node_kind(value) == CIP_NODE_SEQ && !is_complex(value);
    if (list && value->len == 0)
        lost(c, key->text, "a list without values has no card");
    if (list && value->len == 1 && !is_commentary(key->text))
        changed(c, key->text, "a list of one value becomes that value");
    for (uint32_t i = 0; i < (list ? value->len : 1); i++) {
        const cip_node *v = list ? value->item[i] : value;
        if (cip_node_kind(v) == CIP_NODE_SEQ && !is_complex(v)) {
            lost(c, key->text, "a card holds one value");
            continue;
        }
        CIP_TRY(is_commentary(key->text) ? put_commentary(c, key->text, v, err)
                                         : put_one(c, key->text, v, err));
    }
    return CIP_OK;
}

/* --- cards of the structure ------------------------------------------------------------------- */

cip_status cip_fits_put_int(fits_cards *c, const char *key, int64_t v, cip_err *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, v);
    return put_value(c, key, text, true, err);
}

cip_status cip_fits_put_text(fits_cards *c, const char *key, const char *text, cip_err *err)
{
    return put_string(c, key, text, strlen(text), err);
}

cip_status cip_fits_put_yes(fits_cards *c, const char *key, bool v, cip_err *err)
{
    return put_value(c, key, v ? "T" : "F", true, err);
}

/* Zeros until the sums are known. */
static cip_status put_sums(fits_cards *c, cip_err *err)
{
    static const char *const card[] = {
        "CHECKSUM= '0000000000000000'   / HDU checksum",
        "DATASUM = '0       '           / data unit checksum",
    };
    for (size_t i = 0; i < 2; i++)
        CIP_TRY(put_card(c, card[i], strlen(card[i]), err));
    return CIP_OK;
}

cip_status cip_fits_put_end(fits_cards *c, cip_err *err)
{
    if (c->sums)
        CIP_TRY(put_sums(c, err));
    CIP_TRY(put_card(c, "END", 3, err));
    const size_t over = c->out != NULL ? c->out->len % FITS_BLOCK : 0;
    return over == 0 ? CIP_OK : cip_buf_fill(c->out, ' ', FITS_BLOCK - over, err);
}

/* --- cards that are there --------------------------------------------------------------------- */

uint8_t *cip_fits_find_card(uint8_t *head, size_t n, const char *key)
{
    char start[FITS_CARD + 1], end[FITS_CARD + 1];
    snprintf(start, sizeof start, "%-8.8s= ", key);
    snprintf(end, sizeof end, "%-80s", "END"); /* the only card that ends a header */
    for (size_t at = 0; at + FITS_CARD <= n; at += FITS_CARD) {
        if (memcmp(head + at, start, FITS_KEYWORD + 2) == 0)
            return head + at;
        if (memcmp(head + at, end, FITS_CARD) == 0)
            break;
    }
    return NULL;
}

/* Where the comment of a card begins, with its slash; FITS_CARD: it has none. */
static size_t comment_at(const uint8_t card[FITS_CARD])
{
    size_t i = FITS_KEYWORD + 2;
    while (i < FITS_CARD && card[i] == ' ')
        i++;
    if (i < FITS_CARD && card[i] == '\'')
        for (i++; i < FITS_CARD && (card[i] != '\'' || (i + 1 < FITS_CARD && card[i + 1] == '\''));)
            i += card[i] == '\'' ? 2 : 1;
    while (i < FITS_CARD && card[i] != '/')
        i++;
    return i < FITS_CARD ? i : FITS_CARD;
}

cip_status cip_fits_set_card(uint8_t card[FITS_CARD], const char *value, bool right, cip_err *err)
{
    enum { FROM = FITS_KEYWORD + 2 };
    const size_t slash = comment_at(card), end = slash < FITS_CARD ? slash - 1 : FITS_CARD;
    const size_t n = strlen(value);
    size_t at = FROM;
    if (slash <= FROM || n > end - FROM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "%.8s: expected a card with room for the value %s", (const char *)card,
                        value);
    memset(card + FROM, ' ', slash - FROM);
    if (right && FROM + n <= FIXED)
        at = (end < FIXED ? end : FIXED) - n;
    memcpy(card + at, value, n);
    return CIP_OK;
}
