/* SPDX-License-Identifier: BSD-3-Clause
 * The header text: a Python dict literal. Only what numpy writes there is understood: strings,
 * True and False, tuples of integers; a list of fields is cut out and left to the dtype parser. */
#include <string.h>

#include "base/num.h"
#include "format/npy/npy.h"

enum { DEPTH_MAX = 32 };

typedef struct scanner {
    const char *text;
    size_t len, pos;
    uint64_t base;
    cip_err *err;
} scanner;

/* What is at the position, for messages: a byte, or the end. */
static cip_status expected(const scanner *s, const char *what)
{
    uint64_t at = s->base + s->pos;
    if (s->pos >= s->len)
        return cip_fail(s->err, CIP_ERR_CORRUPT, at, "expected %s, found the end of the header",
                        what);
    unsigned char c = (unsigned char)s->text[s->pos];
    if (c < 0x20 || c >= 0x7f)
        return cip_fail(s->err, CIP_ERR_CORRUPT, at, "expected %s, found the byte 0x%02x", what, c);
    return cip_fail(s->err, CIP_ERR_CORRUPT, at, "expected %s, found '%c'", what, c);
}

static int peek(const scanner *s)
{
    return s->pos < s->len ? (unsigned char)s->text[s->pos] : -1;
}

static void skip_blanks(scanner *s)
{
    while (s->pos < s->len && s->text[s->pos] != '\0' &&
           strchr(" \t\n\r\f", s->text[s->pos]) != NULL)
        s->pos++;
}

/* Blanks, then the character if it is there. */
static bool accept(scanner *s, char c)
{
    skip_blanks(s);
    bool here = peek(s) == c;
    s->pos += here;
    return here;
}

static cip_status require(scanner *s, char c, const char *what)
{
    return accept(s, c) ? CIP_OK : expected(s, what);
}

/* A string literal; *out is what is between the quotes, backslashes as written. */
static cip_status scan_string(scanner *s, cip_bytes *out)
{
    skip_blanks(s);
    if (peek(s) == 'u' || peek(s) == 'b') /* as Python 2 wrote them */
        s->pos++;
    int quote = peek(s);
    if (quote != '\'' && quote != '"')
        return expected(s, "a string");
    size_t from = ++s->pos;
    while (s->pos < s->len && s->text[s->pos] != quote)
        s->pos += s->text[s->pos] == '\\' ? 2 : 1;
    if (s->pos >= s->len) {
        s->pos = s->len;
        return expected(s, "the end of a string");
    }
    *out = (cip_bytes){ (const uint8_t *)s->text + from, s->pos - from };
    s->pos++;
    return CIP_OK;
}

/* A list, tuple or dict with all that is in it. */
static cip_status scan_nested(scanner *s, cip_bytes *out)
{
    char open[DEPTH_MAX];
    size_t depth = 0, from = s->pos;
    cip_bytes ignored;
    do {
        int c = peek(s);
        if (c == '\'' || c == '"') {
            CIP_TRY(scan_string(s, &ignored));
            continue;
        }
        if (c == '(' || c == '[' || c == '{') {
            if (depth == DEPTH_MAX)
                return cip_fail(s->err, CIP_ERR_LIMIT, s->base + s->pos,
                                "expected a dtype nested at most %d deep, found more", DEPTH_MAX);
            open[depth++] = (char)(c == '(' ? ')' : c == '[' ? ']' : '}');
        } else if (c == ')' || c == ']' || c == '}') {
            if (open[--depth] != c)
                return expected(s, "the brackets to match");
        } else if (c <= 0) {
            return expected(s, "a closing bracket");
        }
        s->pos++;
    } while (depth != 0);
    *out = (cip_bytes){ (const uint8_t *)s->text + from, s->pos - from };
    return CIP_OK;
}

static cip_status scan_bool(scanner *s, bool *out)
{
    skip_blanks(s);
    const char *word[] = { "False", "True" };
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(word[i]);
        if (s->len - s->pos >= n && memcmp(s->text + s->pos, word[i], n) == 0) {
            s->pos += n;
            *out = i == 1;
            return CIP_OK;
        }
    }
    return expected(s, "True or False");
}

/* A length; Python 2 wrote long ones with an L. */
static cip_status scan_length(scanner *s, int64_t *out)
{
    int64_t v = 0;
    skip_blanks(s);
    size_t from = s->pos;
    for (; peek(s) >= '0' && peek(s) <= '9'; s->pos++) {
        if (s->pos == from + 1 && s->text[from] == '0')
            return expected(s, "the end of a number that starts with 0");
        if (cip_mul_overflow(v, 10, &v) || cip_add_overflow(v, peek(s) - '0', &v))
            return cip_fail(s->err, CIP_ERR_CORRUPT, s->base + from,
                            "expected a length below 2^63, found a larger one");
    }
    if (s->pos == from)
        return expected(s, "a length");
    s->pos += peek(s) == 'L';
    *out = v;
    return CIP_OK;
}

static cip_status scan_shape(scanner *s, cip_npy_header *h)
{
    bool comma = true;
    CIP_TRY(require(s, '(', "a tuple"));
    for (h->ndim = 0; !accept(s, ')'); h->ndim++) {
        int64_t n = 0;
        if (!comma)
            return expected(s, "',' or ')'");
        CIP_TRY(scan_length(s, &n));
        if (h->ndim == CIP_MAX_NDIM)
            return cip_fail(s->err, CIP_ERR_UNSUPPORTED, s->base + s->pos,
                            "expected at most %d dimensions, found more", CIP_MAX_NDIM);
        h->shape[h->ndim] = n;
        comma = accept(s, ',');
    }
    if (h->ndim == 1 && !comma) /* (3) is a number */
        return expected(s, "a tuple with a ',' in it");
    return CIP_OK;
}

/* --- dtype ---------------------------------------------------------------------------------- */

static cip_status make_dtype(cip_arena *a, cip_bytes t, uint64_t base, cip_npy_header *h,
                             cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_dtype_of_text(a, (const char *)t.ptr, t.len, false, &h->dtype, &why);
    if (st == CIP_OK) {
        /* A type that we have only a name for ("float128") has no byte order; the name says it
         * then. */
        char *label;
        if (h->dtype->kind != CIP_OPAQUE || t.ptr[0] != '>' ||
            strncmp(h->dtype->name, "bytes", 5) == 0)
            return CIP_OK;
        CIP_TRY(cip_arena_printf(a, &label, err, "%sbe", h->dtype->name));
        return cip_dtype_opaque(a, h->dtype->itemsize, label, &h->dtype, err);
    }
    uint64_t at = why.offset <= t.len ? base + why.offset : base;
    if (st == CIP_ERR_UNSUPPORTED) {
        cip_fail(&h->why, st, at, "descr: %s", why.text);
        return cip_dtype_opaque(a, 1, h->descr, &h->dtype, err);
    }
    bool ours = st == CIP_ERR_NOMEM || st == CIP_ERR_LIMIT;
    return cip_fail(err, ours ? st : CIP_ERR_CORRUPT, at, "descr: %s", why.text);
}

/* --- the dict ------------------------------------------------------------------------------- */

enum { DESCR = 1, FORTRAN_ORDER = 2, SHAPE = 4, ALL = 7 };

/* The texts that the dict has for descr: what is between the quotes of a string, and all of it. */
typedef struct descr_texts {
    cip_bytes descr, literal;
} descr_texts;

static cip_status scan_pair(scanner *s, cip_npy_header *h, descr_texts *t, unsigned *seen)
{
    static const char *const name[] = { "descr", "fortran_order", "shape" };
    cip_bytes key;
    size_t at = s->pos;
    unsigned k = 0;
    CIP_TRY(scan_string(s, &key));
    for (unsigned i = 0; i < 3; i++)
        if (key.len == strlen(name[i]) && memcmp(key.ptr, name[i], key.len) == 0)
            k = 1u << i;
    if (k == 0 || (*seen & k) != 0) {
        s->pos = at;
        return expected(s, "descr, fortran_order and shape, each once");
    }
    *seen |= k;
    CIP_TRY(require(s, ':', "':'"));
    if (k == DESCR) {
        skip_blanks(s);
        at = s->pos;
        CIP_TRY(peek(s) == '[' || peek(s) == '{' ? scan_nested(s, &t->descr)
                                                 : scan_string(s, &t->descr));
        t->literal = (cip_bytes){ (const uint8_t *)s->text + at, s->pos - at };
        return CIP_OK;
    }
    return k == SHAPE ? scan_shape(s, h) : scan_bool(s, &h->f_order);
}

static cip_status scan_dict(scanner *s, cip_npy_header *h, descr_texts *t)
{
    unsigned seen = 0;
    bool comma = true;
    CIP_TRY(require(s, '{', "'{'"));
    while (!accept(s, '}')) {
        if (!comma)
            return expected(s, "',' or '}'");
        CIP_TRY(scan_pair(s, h, t, &seen));
        comma = accept(s, ',');
    }
    if (seen != ALL)
        return cip_fail(s->err, CIP_ERR_CORRUPT, s->base,
                        "expected descr, fortran_order and shape, found no %s",
                        !(seen & DESCR)           ? "descr"
                        : !(seen & FORTRAN_ORDER) ? "fortran_order"
                                                  : "shape");
    skip_blanks(s);
    return s->pos == s->len ? CIP_OK : expected(s, "nothing after the '}'");
}

cip_status cip_npy_text_read(cip_arena *a, cip_bytes text, uint64_t base, cip_npy_header *out,
                             cip_err *err)
{
    scanner s = { (const char *)text.ptr, text.len, 0, base, err };
    cip_npy_header h = { .why = CIP_ERR_INIT };
    descr_texts t = { .descr = { NULL, 0 } };
    char *literal;
    CIP_TRY(scan_dict(&s, &h, &t));
    CIP_TRY(cip_arena_copy(a, t.descr.ptr, t.descr.len, (char **)&h.descr, err));
    CIP_TRY(cip_arena_copy(a, t.literal.ptr, t.literal.len, &literal, err));
    h.literal = (cip_bytes){ (const uint8_t *)literal, t.literal.len };
    CIP_TRY(make_dtype(a, t.descr, base + (uint64_t)(t.descr.ptr - text.ptr), &h, err));
    *out = h;
    return CIP_OK;
}
