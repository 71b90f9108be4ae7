/* SPDX-License-Identifier: BSD-3-Clause
 * Dtypes from text, by recursive descent: what all forms share, the words ("float32", "<f4") and
 * records in our own notation ("{x: float32, y: int16[3]}"). */
#include "array/elem_parse.h"

#include <stdio.h>
#include <string.h>

#include "array/elem_time.h"
#include "array/quote.h"
#include "base/num.h"

enum { MAX_BRACKETS = 32 };

cip_status(cip_parse_expected)(const cip_dtype_parser *p, const char *what)
{
    char found[16] = "the end";
    if (p->pos < p->len) {
        uint8_t c = (uint8_t)p->text[p->pos];
        snprintf(found, sizeof found, c >= ' ' && c < 0x7f ? "'%c'" : "\\x%02x", c);
    }
    return cip_fail(p->err, CIP_ERR_FORMAT, p->pos, "expected %s in a dtype, found %s", what,
                    found);
}

int cip_parse_peek(cip_dtype_parser *p)
{
    for (; p->pos < p->len; p->pos++) {
        char c = p->text[p->pos];
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
            return (uint8_t)c;
    }
    return -1;
}

bool cip_parse_skip(cip_dtype_parser *p, char c)
{
    if (cip_parse_peek(p) != (uint8_t)c)
        return false;
    p->pos++;
    return true;
}

bool cip_parse_number(cip_dtype_parser *p, uint64_t *out)
{
    uint64_t v = 0;
    size_t i = p->pos;
    for (; i < p->len && p->text[i] >= '0' && p->text[i] <= '9'; i++)
        if (cip_mul_overflow(v, 10u, &v) || cip_add_overflow(v, (uint64_t)(p->text[i] - '0'), &v))
            return false;
    if (i == p->pos)
        return false;
    p->pos = i;
    *out = v;
    return true;
}

cip_status cip_parse_enter(cip_dtype_parser *p)
{
    if (p->depth == MAX_BRACKETS)
        return cip_fail(p->err, CIP_ERR_LIMIT, p->pos, "a dtype nested more than %d levels deep",
                        MAX_BRACKETS);
    p->depth++;
    return CIP_OK;
}

bool cip_parse_at_string(cip_dtype_parser *p)
{
    int c = cip_parse_peek(p);
    if ((c == 'u' || c == 'b') && p->pos + 1 < p->len)
        c = p->text[p->pos + 1];
    return c == '\'' || c == '"';
}

/* Behind the prefix and the opening quote, which is returned; cip_parse_at_string holds. */
static char open_string(cip_dtype_parser *p)
{
    char quote = p->text[p->pos++];
    return quote == 'u' || quote == 'b' ? p->text[p->pos++] : quote;
}

/* \x1b, \u202e, \U0001f600: `digits` of them, behind the letter. */
static cip_status hex_escape(cip_dtype_parser *p, unsigned digits, cip_buf *b)
{
    uint32_t code = 0;
    for (unsigned i = 0; i < digits; i++) {
        static const char hex[] = "0123456789abcdef0123456789ABCDEF";
        const char *at =
            p->pos < p->len && p->text[p->pos] != '\0' ? strchr(hex, p->text[p->pos]) : NULL;
        if (at == NULL)
            return cip_parse_expected(p, "a hexadecimal digit");
        code = code << 4 | ((uint32_t)(at - hex) & 15);
        p->pos++;
    }
    if (code == 0 || code > 0x10ffff)
        return cip_fail(p->err, CIP_ERR_FORMAT, p->pos, "a name with the code point %" PRIx32,
                        code);
    return cip_utf8_add(b, code, p->err);
}

/* What stands for a backslash and the letter behind it, which is skipped. */
static cip_status escape(cip_dtype_parser *p, cip_buf *b)
{
    static const char from[] = "\\'\"nrt", to[] = "\\'\"\n\r\t";
    char c = p->pos < p->len ? p->text[p->pos] : '\0';
    const char *at = c != '\0' ? strchr(from, c) : NULL;
    if (at == NULL && c != 'x' && c != 'u' && c != 'U')
        return cip_parse_expected(p, "a Python escape sequence");
    p->pos++;
    if (at != NULL)
        return cip_buf_add(b, to + (at - from), 1, p->err);
    return hex_escape(p, c == 'x' ? 2 : c == 'u' ? 4 : 8, b);
}

cip_status cip_parse_string(cip_dtype_parser *p, char **out)
{
    cip_buf b = { .mem = p->a->mem };
    cip_status st = CIP_OK;
    if (!cip_parse_at_string(p))
        return cip_parse_expected(p, "a string");
    char quote = open_string(p);
    while (p->pos < p->len && p->text[p->pos] != quote) {
        const char *c = &p->text[p->pos];
        if (*c == '\0')
            CIP_GO(cip_parse_expected(p, "a string without NUL"));
        p->pos++;
        if (*c == '\\')
            CIP_GO(escape(p, &b));
        else
            CIP_GO(cip_buf_add(&b, c, 1, p->err));
    }
    if (p->pos == p->len)
        CIP_GO(cip_parse_expected(p, "the end of the string"));
    p->pos++;
    CIP_GO(cip_arena_copy(p->a, b.ptr, b.len, out, p->err));
done:
    cip_buf_clear(&b);
    return st;
}

cip_status cip_parse_shape(cip_dtype_parser *p, char close, cip_field *f)
{
    int64_t shape[CIP_MAX_NDIM] = { 0 };
    char *kept;
    for (int32_t k = 0; k < f->ndim; k++)
        shape[k] = f->shape[k];
    while (!cip_parse_skip(p, close)) {
        uint64_t n;
        if (f->ndim == CIP_MAX_NDIM)
            return cip_fail(p->err, CIP_ERR_UNSUPPORTED, p->pos,
                            "expected a field of at most %d dimensions", CIP_MAX_NDIM);
        if (!cip_parse_number(p, &n) || n > INT64_MAX)
            return cip_parse_expected(p, "a length of at most 2^63 - 1");
        shape[f->ndim++] = (int64_t)n;
        cip_parse_skip(p, 'L'); /* as Python 2 prints a long */
        if (!cip_parse_skip(p, ',') && cip_parse_peek(p) != (uint8_t)close)
            return cip_parse_expected(p, "',' or the end of the shape");
    }
    CIP_TRY(cip_arena_copy(p->a, shape, (size_t)f->ndim * sizeof shape[0], &kept, p->err));
    f->shape = (const int64_t *)(const void *)kept;
    return CIP_OK;
}

/* What the words mean; a number stands behind most of them. */
typedef enum word_kind {
    BITS,    /* int32, and bool8 */
    BYTES,   /* i4 */
    ALONE,   /* h, bool */
    TEXT,    /* S5 */
    WIDE,    /* U5 */
    UCS,     /* ucs4-5 */
    OPAQUE,  /* V12 */
    TIME,    /* datetime64[ns]: the number is 64 */
    TIME_MS, /* M8[ns]: the number is 8 */
    OBJECT
} word_kind;

static const struct word {
    const char *text;
    word_kind what;
    cip_kind alone;   /* BITS, BYTES, ALONE: what it is without a number. TIME: what it is */
    const char *stem; /* BITS, BYTES: of the name */
} words[] = {
    { "int", BITS, CIP_NONE, "int" },
    { "uint", BITS, CIP_NONE, "uint" },
    { "float", BITS, CIP_NONE, "float" },
    { "complex", BITS, CIP_NONE, "complex" },
    { "bool", BITS, CIP_BOOL, "bool" },
    { "i", BYTES, CIP_I32, "int" },
    { "u", BYTES, CIP_NONE, "uint" },
    { "f", BYTES, CIP_F32, "float" },
    { "c", BYTES, CIP_NONE, "complex" },
    { "b", BYTES, CIP_I8, "bool" },
    { "?", ALONE, CIP_BOOL, NULL },
    { "B", ALONE, CIP_U8, NULL },
    { "h", ALONE, CIP_I16, NULL },
    { "H", ALONE, CIP_U16, NULL },
    { "I", ALONE, CIP_U32, NULL },
    { "q", ALONE, CIP_I64, NULL },
    { "Q", ALONE, CIP_U64, NULL },
    { "e", ALONE, CIP_F16, NULL },
    { "d", ALONE, CIP_F64, NULL },
    { "F", ALONE, CIP_C64, NULL },
    { "D", ALONE, CIP_C128, NULL },
    { "ascii", TEXT, CIP_NONE, NULL },
    { "S", TEXT, CIP_NONE, NULL },
    { "ucs", UCS, CIP_NONE, NULL },
    { "U", WIDE, CIP_NONE, NULL },
    { "bytes", OPAQUE, CIP_NONE, NULL },
    { "V", OPAQUE, CIP_NONE, NULL },
    { "datetime", TIME, CIP_DATETIME64, NULL },
    { "timedelta", TIME, CIP_TIMEDELTA64, NULL },
    { "M", TIME_MS, CIP_DATETIME64, NULL },
    { "m", TIME_MS, CIP_TIMEDELTA64, NULL },
    { "object", OBJECT, CIP_NONE, NULL },
    { "O", OBJECT, CIP_NONE, NULL },
};

/* The number type of so many bits; a width that we have no kind for is opaque: "int24". */
static cip_status number_type(cip_dtype_parser *p, const char *stem, uint64_t bits, bool big,
                              const cip_dtype **out)
{
    char label[32];
    bool is_bool = strcmp(stem, "bool") == 0;
    if (bits == 0 || bits % 8 != 0 || (is_bool && bits != 8))
        return cip_parse_expected(p, "a width in whole bytes");
    snprintf(label, sizeof label, "%s%" PRIu64, stem, bits);
    for (int k = CIP_I8; k <= CIP_C128; k++) {
        const cip_dtype *d = cip_dtype_fixed((cip_kind)k, big);
        if (strcmp(label, d->name) == 0) {
            *out = d;
            return CIP_OK;
        }
    }
    if (is_bool) {
        *out = cip_dtype_fixed(CIP_BOOL, big);
        return CIP_OK;
    }
    return cip_dtype_opaque(p->a, bits / 8, label, out, p->err);
}

/* The type of a time; "[ns]" may stand here. Brackets that hold no unit are left: a shape. */
static cip_status time_type(cip_dtype_parser *p, cip_kind kind, bool big, const cip_dtype **out)
{
    char unit[24] = "";
    const char *at = p->text + p->pos;
    const char *close = p->pos < p->len && *at == '[' ? memchr(at, ']', p->len - p->pos) : NULL;
    cip_time_unit u;
    if (close != NULL && (size_t)(close - at) <= sizeof unit &&
        cip_time_unit_parse(at + 1, (size_t)(close - at) - 1, &u)) {
        memcpy(unit, at + 1, (size_t)(close - at) - 1);
        p->pos += (size_t)(close - at) + 1;
    }
    return cip_dtype_time(p->a, kind, unit, big, out, p->err);
}

/* Behind the letters: the number `n` if there was one, and what follows. */
static cip_status finish_word(cip_dtype_parser *p, const struct word *w, const uint64_t *n,
                              bool big, const cip_dtype **out)
{
    uint64_t count = n != NULL ? *n : 0;
    switch (w->what) {
    case BITS:
    case BYTES:
        if (n == NULL)
            break;
        if (w->what == BYTES && cip_mul_overflow(count, 8u, &count))
            return cip_parse_expected(p, "a smaller width");
        return number_type(p, w->stem, count, big, out);
    case TEXT:
        return cip_dtype_ascii(p->a, count, out, p->err);
    case WIDE:
        return cip_dtype_ucs4(p->a, count, big, out, p->err);
    case OPAQUE:
        return cip_dtype_opaque(p->a, count, NULL, out, p->err);
    case UCS:
        if (count != 4 || !cip_parse_skip(p, '-') || !cip_parse_number(p, &count))
            return cip_parse_expected(p, "'ucs4-' and a number of code points");
        return cip_dtype_ucs4(p->a, count, big, out, p->err);
    case TIME:
    case TIME_MS:
        if (count != (w->what == TIME ? 64 : 8))
            return cip_parse_expected(p, "a time of 64 bits");
        return time_type(p, w->alone, big, out);
    case OBJECT:
        return cip_fail(p->err, CIP_ERR_UNSUPPORTED, p->pos, "a dtype of Python objects");
    case ALONE:
        if (n != NULL)
            return cip_parse_expected(p, "a letter without a number");
        break;
    }
    *out = cip_dtype_fixed(w->alone, big);
    return CIP_OK;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '?';
}

/* A word from `first` on that is no type by itself; of a known one (or NULL) the width is missing.
 */
static cip_status unknown(const cip_dtype_parser *p, size_t first, const struct word *w)
{
    size_t end = p->pos;
    while (end < p->len && p->text[end] >= '0' && p->text[end] <= '9')
        end++;
    const int len = (int)(end - first < 80 ? end - first : 80),
              bits = w != NULL && w->stem[0] == 'c' ? 64 : 32;
    if (w == NULL)
        return cip_fail(p->err, CIP_ERR_FORMAT, first, "unknown dtype '%.*s'", len,
                        p->text + first);
    return cip_fail(p->err, CIP_ERR_FORMAT, p->pos, "unknown dtype '%.*s'; try %s%d or %s%d", len,
                    p->text + first, w->stem, bits, w->stem, 2 * bits);
}

/* "float32", "<f4", "datetime64[ns]": an order mark, letters, a number. */
static cip_status parse_word(cip_dtype_parser *p, const cip_dtype **out)
{
    bool big = p->big;
    char mark = p->pos < p->len ? p->text[p->pos] : '\0';
    if (mark == '<' || mark == '>' || mark == '=' || mark == '|') {
        p->pos++;
        big = mark == '<' ? false : mark == '>' ? true : big;
    }
    size_t first = p->pos, end = first;
    while (end < p->len && is_letter(p->text[end]))
        end++;
    const struct word *w = NULL;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && w == NULL; i++)
        if (strlen(words[i].text) == end - first &&
            memcmp(words[i].text, p->text + first, end - first) == 0)
            w = &words[i];
    uint64_t n;
    if (end == first)
        return cip_parse_expected(p, "the name of a type");
    p->pos = end;
    if (w == NULL)
        return unknown(p, first, NULL);
    bool numbered = cip_parse_number(p, &n);
    if (!numbered && (w->what == BITS || w->what == BYTES) && w->alone == CIP_NONE)
        return unknown(p, first, w);
    return finish_word(p, w, numbered ? &n : NULL, big, out);
}

/* A name of a field: letters, digits and _, or a string. */
static cip_status parse_name(cip_dtype_parser *p, char **out)
{
    if (cip_parse_at_string(p))
        return cip_parse_string(p, out);
    size_t first = p->pos;
    while (p->pos < p->len && (is_letter(p->text[p->pos]) || p->text[p->pos] == '_' ||
                               (p->text[p->pos] >= '0' && p->text[p->pos] <= '9')))
        p->pos++;
    if (p->pos == first)
        return cip_parse_expected(p, "the name of a field");
    return cip_arena_copy(p->a, p->text + first, p->pos - first, out, p->err);
}

/* {x: float32, y: int16[3]}, behind the opening brace. */
static cip_status parse_record(cip_dtype_parser *p, const cip_dtype **out)
{
    cip_buf fields = { .mem = p->a->mem };
    cip_status st = CIP_OK;
    while (!cip_parse_skip(p, '}')) {
        cip_field f = { 0 };
        char *name;
        CIP_GO(parse_name(p, &name));
        f.name = name;
        if (!cip_parse_skip(p, ':'))
            CIP_GO(cip_parse_expected(p, "':'"));
        CIP_GO(cip_parse_type(p, &f.dtype));
        if (cip_parse_skip(p, '['))
            CIP_GO(cip_parse_shape(p, ']', &f));
        CIP_GO(cip_buf_add(&fields, &f, sizeof f, p->err));
        if (!cip_parse_skip(p, ',') && cip_parse_peek(p) != '}')
            CIP_GO(cip_parse_expected(p, "',' or '}'"));
    }
    CIP_GO(cip_dtype_record(p->a, fields.len / sizeof(cip_field),
                            (const cip_field *)(const void *)fields.ptr, true, 0, out, p->err));
done:
    cip_buf_clear(&fields);
    return st;
}

/* Whether the first key of a brace is one of numpy's: ours are only quoted where they have to be.
 */
static bool at_numpy_key(const cip_dtype_parser *p)
{
    static const char *const keys[] = { "names",  "formats",  "offsets",
                                        "titles", "itemsize", "aligned" };
    cip_dtype_parser ahead = *p;
    if (!cip_parse_at_string(&ahead))
        return false;
    open_string(&ahead);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t n = strlen(keys[i]);
        if (ahead.len - ahead.pos > n && memcmp(ahead.text + ahead.pos, keys[i], n) == 0 &&
            (ahead.text[ahead.pos + n] == '\'' || ahead.text[ahead.pos + n] == '"'))
            return true;
    }
    return false;
}

cip_status cip_parse_type(cip_dtype_parser *p, const cip_dtype **out)
{
    int c = cip_parse_peek(p);
    if (cip_parse_at_string(p)) {
        char quote = open_string(p);
        CIP_TRY(parse_word(p, out));
        if (p->pos == p->len || p->text[p->pos] != quote)
            return cip_parse_expected(p, "the end of the string");
        p->pos++;
        return CIP_OK;
    }
    if (c != '{' && c != '[')
        return parse_word(p, out);
    CIP_TRY(cip_parse_enter(p));
    p->pos++;
    if (c == '[')
        CIP_TRY(cip_parse_list(p, out));
    else if (at_numpy_key(p))
        CIP_TRY(cip_parse_dict(p, out));
    else
        CIP_TRY(parse_record(p, out));
    p->depth--;
    return CIP_OK;
}

cip_status cip_dtype_of_text(cip_arena *a, const char *text, size_t len, bool big,
                             const cip_dtype **out, cip_err *err)
{
    cip_dtype_parser p = { .a = a, .text = text, .len = len, .big = big, .err = err };
    const cip_dtype *d;
    *out = NULL;
    if (len > CIP_DTYPE_TEXT_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected a dtype of at most %d characters, found %zu", CIP_DTYPE_TEXT_MAX,
                        len);
    CIP_TRY(cip_parse_type(&p, &d));
    if (cip_parse_peek(&p) != -1)
        return cip_parse_expected(&p, "the end");
    *out = d;
    return CIP_OK;
}
