/* SPDX-License-Identifier: BSD-3-Clause
 * Shortest decimal texts of floats. Those of usual size are found by exact integers of 128 bits. Of
 * the others the digits come from printf, whose results are correctly rounded in glibc and musl,
 * and are tried with strtod: as whole numbers with an exponent, so that no locale's decimal point
 * is in the way. */
#include "array/number_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/half.h"

/* 0.digits * 10^point. */
typedef struct decimal {
    char digits[24];
    int n, point;
} decimal;

/* What is known of the widths: so many digits survive in any normal number, so many tell all
 * apart, and below `normal` there are fewer. A number has `bits` of mantissa, over 2^lowest. */
static const struct {
    int sure, most;
    double normal;
    int bits, lowest;
} widths[] = {
    [CIP_HALF] = { 3, 5, 0x1p-14, 11, -24 },
    [CIP_FLOAT] = { 6, 9, 0x1p-126, 24, -149 },
    [CIP_DOUBLE] = { 15, 17, 0x1p-1022, 53, -1074 },
};

/* --- by exact integers --------------------------------------------------------------------------
 *
 * v = m 2^e. All that reads back as v lies between the middles to its neighbours: 4m - 2 and 4m + 2
 * in units of 2^(e-2), or 4m - 1 where m is a power of two, as the neighbour below is nearer then;
 * with the middles themselves where m is even. All three are multiplied by 10^k, such that the
 * distance of the middles is between 1 and 10: of the multiples of 10 in between there is at most
 * one, which has the fewest digits if it is there; else it is the whole number next to v
 * (Giulietti, "The Schubfach way to render doubles"). Where 5^k times the mantissa fits into 128
 * bits, all of this is exact without tables: doubles of 1e-15 to 1e16. */

__extension__ typedef unsigned __int128 wide;

/* v in halves and quarters of its last place, times 10^k and over 2^shift. */
typedef struct scaled {
    wide low, at, high;
    unsigned shift;
    bool even; /* low and high read back as v, too */
} scaled;

/* floor(log10(2^e)), or of 3/4 2^e, for |e| < 1650. */
static int log10_of(int e, bool three_quarters)
{
    return (e * 315653 - (three_quarters ? 131237 : 0)) >> 20;
}

/* False where it does not fit. */
static bool scale(double v, cip_float_width width, scaled *s, int *k)
{
    enum { MOST_5 = 31 }; /* 5^31 < 2^72 */
    int e;
    const double f = frexp(v, &e); /* 0.5 to 1 */
    int bits = widths[width].bits;
    e -= bits;
    if (e < widths[width].lowest) { /* subnormal */
        bits -= widths[width].lowest - e;
        e = widths[width].lowest;
    }
    const uint64_t m = (uint64_t)ldexp(f, bits);
    const bool power = (m & (m - 1)) == 0 && bits == widths[width].bits && e > widths[width].lowest;
    *k = -log10_of(e, power);
    const int up = e - 2 + *k;
    if (*k < 0 || *k > MOST_5 || up > 0 || up <= -120)
        return false;
    wide five = 1;
    for (int i = 0; i < *k; i++)
        five *= 5;
    *s = (scaled){ .low = (4 * m - (power ? 1 : 2)) * five,
                   .at = 4 * m * five,
                   .high = (4 * m + 2) * five };
    s->shift = (unsigned)-up;
    s->even = (m & 1) == 0;
    return true;
}

/* Whether the whole number reads back as v. */
static bool is_between(const scaled *s, uint64_t n)
{
    const wide at = (wide)n << s->shift;
    return s->even ? s->low <= at && at <= s->high : s->low < at && at < s->high;
}

static void digits_of(uint64_t n, int k, decimal *out)
{
    char text[24];
    int i = (int)sizeof text, zeros = 0;
    for (; n != 0; n /= 10)
        text[--i] = (char)('0' + n % 10);
    const int len = (int)sizeof text - i;
    while (zeros + 1 < len && text[sizeof text - 1 - (size_t)zeros] == '0')
        zeros++;
    out->n = len - zeros;
    memcpy(out->digits, text + i, (size_t)out->n);
    out->digits[out->n] = '\0';
    out->point = len - k;
}

/* As `shortest` below; false where it takes more than 128 bits. */
static bool shortest_exact(double v, cip_float_width width, decimal *out)
{
    scaled s;
    int k;
    if (!scale(v, width, &s, &k))
        return false;
    const uint64_t n = (uint64_t)(s.at >> s.shift), ten = n / 10 * 10;
    uint64_t best;
    if (is_between(&s, ten) || is_between(&s, ten + 10)) {
        best = is_between(&s, ten) ? ten : ten + 10;
    } else {
        const wide rest = s.at - ((wide)n << s.shift), half = (wide)1 << s.shift >> 1;
        const bool up = rest > half || (rest == half && (n & 1) != 0);
        best = n + (is_between(&s, n) && is_between(&s, n + 1) ? up : !is_between(&s, n));
    }
    digits_of(best, k, out);
    return true;
}

/* --- by trying ----------------------------------------------------------------------------------
 */

/* v > 0 rounded to n digits. */
static void round_to(double v, int n, decimal *out)
{
    char text[40]; /* d.ddde+xxx, where the point may be several bytes */
    snprintf(text, sizeof text, "%.*e", n - 1, v);
    const char *p = text;
    out->n = 0;
    for (; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            out->digits[out->n++] = *p;
    out->digits[out->n] = '\0';
    out->point = atoi(p + 1) + 1;
}

/* The next decimal with as many digits. */
static void next_up(decimal *d)
{
    int i = d->n - 1;
    while (i >= 0 && d->digits[i] == '9')
        d->digits[i--] = '0';
    if (i >= 0) {
        d->digits[i]++;
    } else {
        d->digits[0] = '1';
        d->point++;
    }
}

static bool reads_back(const decimal *d, double v, cip_float_width width)
{
    char text[40];
    snprintf(text, sizeof text, "%se%d", d->digits, d->point - d->n);
    if (width == CIP_FLOAT)
        return (double)strtof(text, NULL) == v;
    double got = strtod(text, NULL);
    if (width == CIP_HALF)
        got = (double)cip_half_to_float(cip_half_from_double(got));
    return got == v;
}

/* The shortest decimal of v > 0; of several the nearest. */
static void shortest(double v, cip_float_width width, decimal *out)
{
    if (shortest_exact(v, width, out))
        return;
    int n = v < widths[width].normal ? 1 : widths[width].sure;
    for (; n < widths[width].most; n++) {
        round_to(v, n, out);
        if (reads_back(out, v, width))
            break;
        /* The gap below a power of two is half of that above: the nearest decimal may be too far
         * below where the one above is near enough. */
        next_up(out);
        if (reads_back(out, v, width))
            break;
        round_to(v, n + 1, out);
    }
    while (out->n > 1 && out->digits[out->n - 1] == '0')
        out->n--;
    out->digits[out->n] = '\0';
}

static char *put(char *to, const char *text, size_t n)
{
    memcpy(to, text, n);
    return to + n;
}

/* Digits with the point among, before or behind them: 1e-4 ... 1e16. */
static size_t write_fixed(char *text, const decimal *d, bool bare)
{
    const size_t n = (size_t)d->n;
    char *p = text;
    if (d->point <= 0) {
        p = put(p, "0.0000", 2 + (size_t)-d->point);
        p = put(p, d->digits, n);
    } else if (d->point < d->n) {
        p = put(p, d->digits, (size_t)d->point);
        *p++ = '.';
        p = put(p, d->digits + d->point, n - (size_t)d->point);
    } else {
        p = put(p, d->digits, n);
        p = put(p, "0000000000000000", (size_t)d->point - n);
        p = put(p, ".0", bare ? 0 : 2);
    }
    *p = '\0';
    return (size_t)(p - text);
}

static size_t write_exponent(char *text, const decimal *d)
{
    int exponent = d->point - 1;
    return (size_t)snprintf(text, CIP_NUMBER_TEXT - 1, "%c%s%se%c%02d", d->digits[0],
                            d->n > 1 ? "." : "", d->digits + 1, exponent < 0 ? '-' : '+',
                            abs(exponent));
}

size_t cip_float_text(char text[CIP_NUMBER_TEXT], double v, cip_float_width width, bool bare)
{
    decimal d = { .digits = "0", .n = 1, .point = 1 };
    size_t sign = signbit(v) && !isnan(v);
    double positive = fabs(v);
    if (sign)
        text[0] = '-';
    if (isnan(v) || isinf(v))
        return sign + (size_t)snprintf(text + sign, CIP_NUMBER_TEXT - 1, isnan(v) ? "nan" : "inf");
    if (positive > 0)
        shortest(positive, width, &d);
    if (d.point > -4 && d.point <= 16)
        return sign + write_fixed(text + sign, &d, bare);
    return sign + write_exponent(text + sign, &d);
}
