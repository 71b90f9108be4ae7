/* SPDX-License-Identifier: BSD-3-Clause
 * Numbers from text and back. strtod and printf obey the locale only in the decimal point, so no
 * text with a point is given to the one or taken from the other: strtod sees "123e-2", and of
 * printf's output only the digits are used. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "tree/scalar.h"

enum {
    MAX_DIGITS = 780, /* 767 decide any double; one more, not zero, stands for all the others */
    MAX_EXPONENT = 5000,
    EXACT_DIGITS = 19,     /* always fit in 64 bits */
    MAX_CONVERTED = 8192,  /* converting an integer takes the square of its length */
    LIMB = 1000 * 1000000, /* of the long integers below */
};

typedef struct decimal {
    uint64_t m;    /* the first EXACT_DIGITS digits, leading zeros apart */
    int64_t exp10; /* the value is m * 10^exp10 when `more` is false */
    int64_t after; /* the written exponent alone */
    bool negative, more;
} decimal;

static decimal read_decimal(const char *p, const char *end)
{
    decimal d = { 0 };
    bool point = false;
    unsigned n = 0;
    if (*p == '-' || *p == '+')
        d.negative = *p++ == '-';
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (!cip_is_digit(*p)) {
            point |= *p == '.';
        } else if (n < EXACT_DIGITS) {
            d.m = d.m * 10 + (uint64_t)(*p - '0');
            n += d.m != 0;
            d.exp10 -= point;
        } else {
            d.more = true;
        }
    }
    if (p < end) { /* the exponent, kept small enough not to overflow */
        const bool negative = *++p == '-';
        if (negative || *p == '+')
            p++;
        for (; p < end; p++)
            if (d.after < INT64_C(1000000000000))
                d.after = d.after * 10 + (*p - '0');
        d.after = negative ? -d.after : d.after;
    }
    d.exp10 += d.after;
    return d;
}

static int clamp_exponent(int64_t e)
{
    return (int)(e < -MAX_EXPONENT ? -MAX_EXPONENT : e > MAX_EXPONENT ? MAX_EXPONENT : e);
}

/* With more than EXACT_DIGITS digits: all that matter, as text. */
static double parse_long(const char *p, const char *end, const decimal *d)
{
    char text[MAX_DIGITS + 16];
    size_t n = 0;
    int64_t e = d->after;
    bool point = false, sticky = false;
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        point |= *p == '.';
        if (!cip_is_digit(*p) || (n == 0 && *p == '0')) {
            e -= point && cip_is_digit(*p);
        } else if (n < MAX_DIGITS) {
            text[n++] = *p;
            e -= point;
        } else {
            sticky |= *p != '0';
            e += !point;
        }
    }
    if (sticky)
        text[n - 1] = '1'; /* far beyond what decides, but not nothing */
    snprintf(text + n, sizeof text - n, "e%d", clamp_exponent(e));
    return strtod(text, NULL);
}

#ifdef __SIZEOF_INT128__
enum { EXACT_POWER = 27 }; /* 5^27 is the last power of five below 2^64 */

__extension__ typedef unsigned __int128 wide;

static double round_once(uint64_t q, bool more, int exponent)
{
    int extra = 64 - __builtin_clzll(q) - DBL_MANT_DIG;
    uint64_t half = UINT64_C(1) << (extra - 1), low = q & (2 * half - 1);
    q >>= extra;
    if (low > half || (low == half && (more || (q & 1) != 0)))
        q++;
    return ldexp((double)q, exponent + extra);
}

/* m * 10^e for m > 0 and |e| <= EXACT_POWER: the quotient by or the product with a power of five is
 * known to 62 bits or more, and whether anything follows, so that it is rounded once. */
static double scale_exactly(uint64_t m, int e)
{
    uint64_t five = 1;
    for (int i = abs(e); i > 0; i--)
        five *= 5;
    const int up = __builtin_clzll(m), room = __builtin_clzll(five);
    m <<= up;
    if (e < 0) {
        five <<= room;
        wide n = (wide)m << 63;
        uint64_t q = (uint64_t)(n / five);
        return round_once(q, n != (wide)q * five, e + room - up - 63);
    }
    const int down = 64 - room;
    wide n = (wide)m * five;
    uint64_t q = (uint64_t)(n >> down);
    return round_once(q, n != (wide)q << down, e + down - up);
}
#else
enum { EXACT_POWER = -1 };

static double scale_exactly(uint64_t m, int e)
{
    return ldexp((double)m, e); /* never called */
}
#endif

double cip_decimal_parse(const char *s, size_t n)
{
    decimal d = read_decimal(s, s + n);
    double v;
    if (d.more) {
        v = parse_long(s, s + n, &d);
    } else if (d.exp10 >= -EXACT_POWER && d.exp10 <= EXACT_POWER) {
        v = d.m == 0 ? 0 : scale_exactly(d.m, (int)d.exp10);
    } else {
        char text[48];
        snprintf(text, sizeof text, "%" PRIu64 "e%d", d.m, clamp_exponent(d.exp10));
        v = strtod(text, NULL);
    }
    return d.negative ? -v : v;
}

/* The shortest digits that give v (> 0, finite) back, without trailing zeros; their number in *n.
 * v is 0.digits * 10^exponent. 15 digits, zeros dropped, are the shortest for any normal double
 * that 15 digits or fewer give; 16 and 17 are tried after. */
static int shortest_digits(double v, char digits[20], size_t *n)
{
    int exponent = 0;
    for (int prec = v < DBL_MIN ? 0 : 14; prec <= 16; prec++) {
        char text[48], *p = text;
        snprintf(text, sizeof text, "%.*e", prec, v);
        for (*n = 0; *p != 'e'; p++)
            if (cip_is_digit(*p))
                digits[(*n)++] = *p;
        exponent = (int)strtol(p + 1, NULL, 10) + 1;
        snprintf(text, sizeof text, "%.*se%d", (int)*n, digits, exponent - (int)*n);
        if (strtod(text, NULL) == v)
            break;
    }
    while (*n > 1 && digits[*n - 1] == '0')
        --*n;
    return exponent;
}

void cip_double_text(double v, char out[CIP_DOUBLE_TEXT])
{
    const char *sign = signbit(v) ? "-" : "";
    char d[20];
    size_t n;
    if (isnan(v) || isinf(v) || v == 0) {
        snprintf(out, CIP_DOUBLE_TEXT, "%s%s", isnan(v) ? "" : sign,
                 isnan(v)   ? ".nan"
                 : isinf(v) ? ".inf"
                            : "0.0");
        return;
    }
    int e = shortest_digits(fabs(v), d, &n);
    int len = (int)n;
    if (e < -3 || e > 16) /* as Python: 1.0e-05, 1.0e+16 */
        snprintf(out, CIP_DOUBLE_TEXT, "%s%c.%.*se%c%02d", sign, d[0], len > 1 ? len - 1 : 1,
                 len > 1 ? d + 1 : "0", e > 0 ? '+' : '-', abs(e - 1));
    else if (e <= 0)
        snprintf(out, CIP_DOUBLE_TEXT, "%s0.%.*s%.*s", sign, -e, "000", len, d);
    else if (len > e)
        snprintf(out, CIP_DOUBLE_TEXT, "%s%.*s.%.*s", sign, e, d, len - e, d + e);
    else
        snprintf(out, CIP_DOUBLE_TEXT, "%s%.*s%.*s.0", sign, len, d, e - len, "0000000000000000");
}

/* Limbs, least first, of a long integer: v = v * by + plus. */
static cip_status scale(cip_buf *v, uint32_t by, uint32_t plus, cip_err *err)
{
    uint64_t carry = plus;
    for (size_t i = 0; i < v->len; i += sizeof(uint32_t)) {
        uint32_t limb;
        memcpy(&limb, v->ptr + i, sizeof limb);
        carry += (uint64_t)limb * by;
        limb = (uint32_t)(carry % LIMB);
        memcpy(v->ptr + i, &limb, sizeof limb);
        carry /= LIMB;
    }
    uint32_t last = (uint32_t)carry; /* below `by` */
    return last == 0 ? CIP_OK : cip_buf_add(v, &last, sizeof last, err);
}

static uint32_t digit_value(char c)
{
    return cip_is_digit(c) ? (uint32_t)(c - '0') : (uint32_t)((c | 0x20) - 'a') + 10;
}

static cip_status convert(const char *p, const char *end, uint32_t base, cip_buf *out, cip_err *err)
{
    cip_status st = CIP_OK;
    cip_buf v = { .mem = out->mem };
    while (p < end) {
        if (*p == ':') { /* the next one or two digits are one of base 60 */
            uint32_t part = digit_value(*++p);
            p++;
            if (p < end && *p != ':')
                part = part * 10 + digit_value(*p++);
            CIP_GO(scale(&v, 60, part, err));
        } else if (*p++ != '_') {
            CIP_GO(scale(&v, base, digit_value(p[-1]), err));
        }
    }
    for (size_t i = v.len; i > 0; i -= sizeof(uint32_t)) {
        uint32_t limb;
        memcpy(&limb, v.ptr + i - sizeof limb, sizeof limb);
        CIP_GO(cip_buf_addf(out, err, i == v.len ? "%" PRIu32 : "%09" PRIu32, limb));
    }
    CIP_GO(v.len == 0 ? cip_buf_add(out, "0", 1, err) : CIP_OK);
done:
    cip_buf_clear(&v);
    return st;
}

cip_status cip_int_decimal(cip_bytes text, cip_buf *out, bool *done, cip_err *err)
{
    const char *p = (const char *)text.ptr, *end = p + text.len;
    bool negative = *p == '-';
    uint32_t base = 10;
    if (negative || *p == '+')
        p++;
    if (end - p > 1 && *p == '0')
        base = p[1] == 'x' ? 16 : p[1] == 'b' ? 2 : 8;
    if (base == 16 || base == 2)
        p += 2;
    bool copied = base == 10 && memchr(p, ':', (size_t)(end - p)) == NULL;
    *done = copied || end - p <= MAX_CONVERTED;
    if (!*done)
        return CIP_OK;
    if (negative)
        CIP_TRY(cip_buf_add(out, "-", 1, err));
    if (!copied)
        return convert(p, end, base, out, err);
    for (; p < end; p++)
        if (*p != '_')
            CIP_TRY(cip_buf_add(out, p, 1, err));
    return CIP_OK;
}
