/* SPDX-License-Identifier: BSD-3-Clause
 * Cells of csv as values. What a cell is follows from its bytes alone, so that the second walk over
 * a file finds again what the first one found; blanks around numbers do not count. */
#include "csv_cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct span {
    const char *p;
    size_t n;
} span;

static span trim(const char *text, size_t n)
{
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    for (; n > 0 && (*text == ' ' || *text == '\t'); n--)
        text++;
    return (span){ text, n };
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t count_digits(span s)
{
    size_t k = 0;
    while (k < s.n && s.p[k] >= '0' && s.p[k] <= '9')
        k++;
    return k;
}

static span skip(span s, size_t n)
{
    return (span){ s.p + n, s.n - n };
}

static span without_sign(span s)
{
    return s.n > 0 && (*s.p == '-' || *s.p == '+') ? skip(s, 1) : s;
}

static bool is_bool(span s)
{
    static const char *const words[] = { "true", "True", "TRUE", "false", "False", "FALSE" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == s.n && memcmp(words[i], s.p, s.n) == 0)
            return true;
    return false;
}

/* Without its sign: digits with a point or an exponent, nan, inf, infinity. */
static bool is_float(span s)
{
    if ((s.n == 3 && (strncasecmp(s.p, "nan", 3) == 0 || strncasecmp(s.p, "inf", 3) == 0)) ||
        (s.n == 8 && strncasecmp(s.p, "infinity", 8) == 0))
        return true;
    size_t whole = count_digits(s), part = 0;
    s = skip(s, whole);
    if (s.n > 0 && *s.p == '.') {
        s = skip(s, 1);
        part = count_digits(s);
        s = skip(s, part);
    }
    if (whole + part == 0)
        return false;
    if (s.n == 0)
        return true;
    span exponent = *s.p == 'e' || *s.p == 'E' ? without_sign(skip(s, 1)) : s;
    return exponent.n > 0 && count_digits(exponent) == exponent.n;
}

/* Digits without leading zeros; false when uint64 does not hold them. */
static bool parse_digits(span s, uint64_t *v)
{
    size_t i = 0;
    for (*v = 0; i < s.n && i < 18; i++) /* no 18 digits overflow */
        *v = *v * 10 + (uint64_t)(s.p[i] - '0');
    for (; i < s.n; i++)
        if (__builtin_mul_overflow(*v, 10, v) ||
            __builtin_add_overflow(*v, (uint64_t)(s.p[i] - '0'), v))
            return false;
    return true;
}

static span without_zeros(span s)
{
    while (s.n > 1 && *s.p == '0')
        s = skip(s, 1);
    return s;
}

/* Whether float64 holds just this integer. No float64 has more than 309 digits. */
static bool float_holds(span digits)
{
    char again[320];
    if (digits.n <= 15)
        return true;
    int n = digits.n > 309 ? 0 : snprintf(again, sizeof again, "%.0f", strtod(digits.p, NULL));
    return n == (int)digits.n && memcmp(again, digits.p, digits.n) == 0;
}

static unsigned int_kind(span s, bool minus)
{
    uint64_t v;
    span digits = without_zeros(s);
    bool fits = parse_digits(digits, &v);
    unsigned kind = !fits                              ? CELL_HUGE
                    : v <= (uint64_t)INT64_MAX + minus ? CELL_INT
                    : minus                            ? CELL_HUGE
                                                       : CELL_BIG;
    kind |= minus ? CELL_NEGATIVE : 0;
    kind |= digits.n != s.n ? CELL_ZEROS : 0;
    return kind | (float_holds(digits) ? 0 : CELL_ROUNDED);
}

static bool is_int(span number)
{
    return number.n > 0 && count_digits(number) == number.n;
}

/* Splits what may be a complex number, as Python and numpy write them: (1+2j), 1+2j, 2j. The real
 * part is empty where there is none. */
static bool split_complex(span s, span *re, span *im)
{
    if (s.n > 2 && s.p[0] == '(' && s.p[s.n - 1] == ')')
        s = (span){ s.p + 1, s.n - 2 };
    if (s.n < 2 || (s.p[s.n - 1] != 'j' && s.p[s.n - 1] != 'J'))
        return false;
    s.n--;
    size_t at = s.n - 1; /* the sign between the parts, which is none of an exponent */
    while (at > 0 &&
           ((s.p[at] != '+' && s.p[at] != '-') || s.p[at - 1] == 'e' || s.p[at - 1] == 'E'))
        at--;
    *re = (span){ s.p, at };
    *im = skip(s, at);
    return true;
}

/* CELL_COMPLEX, and whether a part would be rounded; 0: it is none. */
static unsigned complex_kind(span s)
{
    span part[2];
    unsigned kind = CELL_COMPLEX;
    if (!split_complex(s, &part[0], &part[1]))
        return 0;
    for (int i = part[0].n == 0; i < 2; i++) {
        const span number = without_sign(part[i]);
        if (is_int(number))
            kind |= float_holds(without_zeros(number)) ? 0 : CELL_ROUNDED;
        else if (!is_float(number))
            return 0;
    }
    return kind;
}

unsigned cell_kind(const char *text, size_t n)
{
    span s = trim(text, n);
    if (s.n == 0)
        return CELL_EMPTY;
    span number = without_sign(s);
    if (is_int(number))
        return int_kind(number, *s.p == '-');
    if (is_float(number))
        return CELL_FLOAT;
    const unsigned kind = complex_kind(s);
    return kind != 0 ? kind : is_bool(s) ? CELL_BOOL : CELL_TEXT;
}

bool column_type_of(unsigned kinds, column_type *type, const char **why)
{
    const bool others = (kinds & ~(unsigned)CELL_BOOL) != 0;
    *why = NULL;
    if ((kinds & CELL_TEXT) != 0 || ((kinds & CELL_BOOL) != 0 && others)) {
        *type = COL_TEXT;
    } else if (!others) {
        *type = COL_BOOL;
    } else if ((kinds & (CELL_COMPLEX | CELL_FLOAT | CELL_EMPTY)) != 0) {
        *type = (kinds & CELL_COMPLEX) != 0 ? COL_COMPLEX : COL_FLOAT;
        if ((kinds & CELL_ROUNDED) != 0)
            *why = *type == COL_COMPLEX
                       ? "expected an integer that float64 holds exactly, as its column has "
                         "complex numbers"
                       : "expected an integer that float64 holds exactly, as its column has floats "
                         "or empty cells";
    } else {
        *type = (kinds & CELL_BIG) != 0 ? COL_UINT : COL_INT;
        if ((kinds & CELL_HUGE) != 0)
            *why = "expected an integer of at most 64 bits";
        else if (*type == COL_UINT && (kinds & CELL_NEGATIVE) != 0)
            *why = "expected an integer that int64 holds, as its column has negative ones";
    }
    return *why == NULL;
}

bool cell_code_point(const char *text, size_t n, size_t *at, uint32_t *point)
{
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    uint8_t b = (uint8_t)text[(*at)++];
    unsigned more = b < 0x80 ? 0 : b < 0xc2 ? 9 : b < 0xe0 ? 1 : b < 0xf0 ? 2 : b < 0xf5 ? 3 : 9;
    if (more > 3 || more > n - *at)
        return false;
    uint32_t v = more == 0 ? b : b & (0x3fu >> more);
    for (unsigned i = 0; i < more; i++) {
        b = (uint8_t)text[(*at)++];
        if ((b & 0xc0) != 0x80)
            return false;
        v = v << 6 | (b & 0x3f);
    }
    *point = v;
    return v >= least[more] && v <= 0x10ffff && (v < 0xd800 || v > 0xdfff);
}

bool cell_unescaped_point(const char *text, size_t n, size_t *at, uint32_t *point)
{
    char digits[9] = { 0 };
    if (text[*at] != '\\')
        return cell_code_point(text, n, at, point);
    const char c = text[*at + 1]; /* the NUL behind the text at its end */
    const size_t ndigit = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    *point = '\\';
    *at += c == '\\' || ndigit != 0 ? 2 : 1;
    if (ndigit == 0)
        return true;
    if (ndigit > n - *at)
        return false;
    memcpy(digits, text + *at, ndigit);
    *point = (uint32_t)strtoul(digits, NULL, 16);
    *at += ndigit;
    return strspn(digits, "0123456789abcdefABCDEF") == ndigit && (c != 'x' || *point < 0x80);
}

/* Neither infinite nor 0 unless that was written: strtod's result for `s`. */
static bool parse_float(span s, double *v)
{
    span number = without_sign(s);
    *v = strtod(s.p, NULL);
    if (isinf(*v))
        return !is_digit(*number.p) && *number.p != '.';
    if (*v != 0)
        return true;
    for (size_t i = 0; i < number.n && (is_digit(number.p[i]) || number.p[i] == '.'); i++)
        if (number.p[i] >= '1' && number.p[i] <= '9')
            return false;
    return true;
}

unsigned column_itemsize(column_type type)
{
    return type == COL_BOOL ? 1 : type == COL_COMPLEX ? 16 : 8;
}

/* What was found to be a complex number, or with `real` another. */
static bool complex_bits(span s, bool real, uint64_t bits[2])
{
    double v[2] = { 0, 0 };
    span part[2] = { s, { s.p, 0 } };
    if (s.n == 0)
        v[0] = (double)NAN;
    else if (!real && !split_complex(s, &part[0], &part[1]))
        return false;
    for (int i = 0; i < 2; i++)
        if (part[i].n != 0 && !parse_float(part[i], &v[i]))
            return false;
    memcpy(bits, v, sizeof v);
    return true;
}

bool cell_bits(const char *text, size_t n, column_type type, uint64_t bits[2])
{
    span s = trim(text, n);
    const unsigned kind = cell_kind(text, n);
    double v = (double)NAN;
    switch (type) {
    case COL_BOOL:
        *bits = s.n > 0 && (*s.p == 't' || *s.p == 'T');
        return kind == CELL_BOOL;
    case COL_INT:
    case COL_UINT:
        if ((kind & (type == COL_INT ? CELL_INT : CELL_INT | CELL_BIG)) == 0)
            return false;
        (void)parse_digits(without_zeros(without_sign(s)), bits);
        *bits = (kind & CELL_NEGATIVE) != 0 ? 0 - *bits : *bits;
        return true;
    case COL_COMPLEX:
        return (kind & (CELL_TEXT | CELL_BOOL | CELL_ROUNDED)) == 0 &&
               complex_bits(s, (kind & CELL_COMPLEX) == 0, bits);
    default:
        if ((kind & (CELL_TEXT | CELL_BOOL | CELL_COMPLEX | CELL_ROUNDED)) != 0 ||
            (kind != CELL_EMPTY && !parse_float(s, &v)))
            return false;
        memcpy(bits, &v, sizeof v);
        return true;
    }
}
