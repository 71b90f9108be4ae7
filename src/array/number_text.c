/* SPDX-License-Identifier: BSD-3-Clause
 * Shortest decimal texts of floats. The digits come from printf, whose results are correctly
 * rounded in glibc and musl, and are tried with strtod: as whole numbers with an exponent, so that
 * no locale's decimal point is in the way. */
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
 * apart, and below `normal` there are fewer. */
static const struct {
    int sure, most;
    double normal;
} widths[] = {
    [CIP_HALF] = { 3, 5, 0x1p-14 },
    [CIP_FLOAT] = { 6, 9, 0x1p-126 },
    [CIP_DOUBLE] = { 15, 17, 0x1p-1022 },
};

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

/* Digits with the point among, before or behind them: 1e-4 ... 1e16. */
static int write_fixed(char *text, const decimal *d, bool bare)
{
    if (d->point <= 0)
        return snprintf(text, CIP_NUMBER_TEXT - 1, "0.%.*s%s", -d->point, "0000", d->digits);
    if (d->point < d->n)
        return snprintf(text, CIP_NUMBER_TEXT - 1, "%.*s.%s", d->point, d->digits,
                        d->digits + d->point);
    return snprintf(text, CIP_NUMBER_TEXT - 1, "%s%.*s%s", d->digits, d->point - d->n,
                    "0000000000000000", bare ? "" : ".0");
}

static int write_exponent(char *text, const decimal *d)
{
    int exponent = d->point - 1;
    return snprintf(text, CIP_NUMBER_TEXT - 1, "%c%s%se%c%02d", d->digits[0], d->n > 1 ? "." : "",
                    d->digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
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
        return sign + (size_t)write_fixed(text + sign, &d, bare);
    return sign + (size_t)write_exponent(text + sign, &d);
}
