/* SPDX-License-Identifier: BSD-3-Clause
 * Shortest decimal texts of floats by Schubfach (R. Giulietti, "The Schubfach way to render
 * doubles", 2020). */
#include "array/number_text.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0.digits * 10^point. */
typedef struct decimal {
    char digits[24];
    int n, point;
} decimal;

/* A number has `bits` of mantissa, over 2^lowest. */
static const struct {
    int bits, lowest;
} widths[] = {
    [CIP_HALF] = { 11, -24 },
    [CIP_FLOAT] = { 24, -149 },
    [CIP_DOUBLE] = { 53, -1074 },
};

__extension__ typedef unsigned __int128 wide;

/* --- powers of ten ------------------------------------------------------------------------------
 *
 * The first 128 bits of 10^k, rounded up. They are those of 5^k: from 1 times five again and again,
 * and from a power of two divided by five again and again, where the quotient of a quotient,
 * rounded down, is the quotient rounded down. Computed once, in about 0.1 ms; as numbers in the
 * source they would be 10 KiB that nobody can check by reading. */

enum { LEAST_10 = -292, MOST_10 = 324, WORDS = 14 }; /* 14 words: 128 + 292 log2(5) bits */

static wide tens[MOST_10 - LEAST_10 + 1];

/* The first 128 bits of a number of little-endian words, up by one where `more` or any bit behind
 * them is set. */
static wide leading_bits(const uint64_t *words, bool more)
{
    int i = WORDS - 1;
    while (words[i] == 0)
        i--;
    const int zeros = __builtin_clzll(words[i]);
    wide top = (wide)words[i] << 64 | (i > 0 ? words[i - 1] : 0);
    if (zeros > 0) {
        const uint64_t next = i > 1 ? words[i - 2] : 0;
        top = top << zeros | next >> (64 - zeros);
        more = more || next << zeros != 0;
        i--;
    }
    for (i -= 2; i >= 0 && !more; i--)
        more = words[i] != 0;
    return top + more;
}

static void compute_tens(void)
{
    uint64_t words[WORDS] = { 1 };
    for (int k = 0; k <= MOST_10; k++) {
        wide carry = 0;
        tens[k - LEAST_10] = leading_bits(words, false);
        for (int i = 0; i < WORDS; i++, carry >>= 64)
            words[i] = (uint64_t)(carry += (wide)words[i] * 5);
    }
    memset(words, 0, sizeof words);
    words[WORDS - 1] = (uint64_t)1 << 63;
    for (int k = -1; k >= LEAST_10; k--) {
        wide rest = 0;
        for (int i = WORDS - 1; i >= 0; i--) {
            rest = rest << 64 | words[i];
            words[i] = (uint64_t)(rest / 5);
            rest %= 5;
        }
        tens[k - LEAST_10] = leading_bits(words, true);
    }
}

/* --- Schubfach ----------------------------------------------------------------------------------
 *
 * v = m 2^e. All that reads back as v lies between the middles to its neighbours: 4m - 2 and 4m + 2
 * in units of 2^(e-2), or 4m - 1 where m is a power of two, as the neighbour below is nearer then;
 * with the middles themselves where m is even. All three are divided by 10^k, such that the
 * distance of the middles is between 1 and 10: of the multiples of 10 in between there is at most
 * one, which has the fewest digits if it is there; else it is the whole number next to v. The
 * quotients are compared as four times their size, rounded to odd: Giulietti shows that 126 bits of
 * 10^-k tell them apart for all doubles, of which the m, e and k of the narrower floats are some.
 */

/* floor(log10(2^e)), or of 3/4 2^e, for |e| < 1500. */
static int log10_of(int e, bool three_quarters)
{
    return (e * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

/* floor(log2(10^k)), for |k| < 1233. */
static int log2_of(int k)
{
    return (k * 1741647) >> 19;
}

/* n times the power of ten, over 2^128; odd where that is not a whole number. */
static uint64_t times(wide ten, uint64_t n)
{
    const wide sum = (wide)(uint64_t)(ten >> 64) * n + (uint64_t)((wide)(uint64_t)ten * n >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

static void digits_of(uint64_t n, int k, decimal *out)
{
    char text[24];
    int i = (int)sizeof text;
    for (; n != 0; n /= 10)
        text[--i] = (char)('0' + n % 10);
    out->n = (int)sizeof text - i;
    out->point = out->n + k;
    memcpy(out->digits, text + i, (size_t)out->n);
    while (out->n > 1 && out->digits[out->n - 1] == '0')
        out->n--;
    out->digits[out->n] = '\0';
}

/* The shortest decimal of v > 0; of several the nearest. */
static void shortest(double v, cip_float_width width, decimal *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compute_tens);
    uint64_t m;
    memcpy(&m, &v, sizeof m);
    int e = (int)(m >> 52);
    m = (m & (((uint64_t)1 << 52) - 1)) | (uint64_t)(e != 0) << 52;
    e = (e != 0 ? e : 1) - 1075;
    const int bits = widths[width].bits, lowest = widths[width].lowest;
    const int drop =
        e + 53 - bits < lowest ? lowest - e : 53 - bits; /* zeros of a wider mantissa */
    m >>= drop;
    e += drop;
    const bool power = m == (uint64_t)1 << (bits - 1) && e > lowest;
    const int k = log10_of(e, power), up = e + log2_of(-k) + 1;
    const wide ten = tens[-k - LEAST_10];
    const uint64_t odd = m & 1, at = times(ten, 4 * m << up);
    const uint64_t low = times(ten, (4 * m - (power ? 1 : 2)) << up) + odd;
    const uint64_t high = times(ten, (4 * m + 2) << up) - odd;
    const uint64_t n = at / 4, n10 = n / 10;
    const bool below10 = n10 > 0 && low <= 40 * n10, above10 = n >= 10 && 40 * n10 + 40 <= high;
    if (below10 != above10) {
        digits_of(n10 + above10, k + 1, out);
        return;
    }
    const bool below = low <= 4 * n, above = 4 * n + 4 <= high;
    const uint64_t half = 4 * n + 2;
    const bool rounded = at > half || (at == half && (n & 1) != 0);
    digits_of(n + (below != above ? above : rounded), k, out);
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
    const int exponent = d->point - 1, size = abs(exponent);
    char *p = text;
    *p++ = d->digits[0];
    if (d->n > 1)
        *p++ = '.';
    p = put(p, d->digits + 1, (size_t)d->n - 1);
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    if (size >= 100)
        *p++ = (char)('0' + size / 100);
    *p++ = (char)('0' + size / 10 % 10);
    *p++ = (char)('0' + size % 10);
    *p = '\0';
    return (size_t)(p - text);
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
