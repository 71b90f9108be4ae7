/* SPDX-License-Identifier: BSD-3-Clause
 * datetime64 and timedelta64 as numpy understands them: counts of a unit since 1970-01-01 in the
 * proleptic Gregorian calendar without leap seconds; INT64_MIN is no time (NaT). */
#include "array/elem_time.h"

#include <string.h>

#include "base/num.h"

static const char *const names[] = { "",  "Y",  "M",  "W",  "D",  "h",  "m",
                                     "s", "ms", "us", "ns", "ps", "fs", "as" };

const char *cip_time_base_name(cip_time_base base)
{
    return names[base];
}

bool cip_time_unit_parse(const char *text, size_t len, cip_time_unit *out)
{
    uint64_t multiple = 0;
    size_t i = 0;
    for (; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
        multiple = multiple * 10 + (uint64_t)(text[i] - '0');
        if (multiple > INT32_MAX)
            return false;
    }
    if (i > 0 && (multiple == 0 || i == len))
        return false;
    for (unsigned base = 0; base < sizeof names / sizeof names[0]; base++) {
        if (strlen(names[base]) == len - i && memcmp(names[base], text + i, len - i) == 0) {
            *out = (cip_time_unit){ (cip_time_base)base, i > 0 ? (uint32_t)multiple : 1 };
            return true;
        }
    }
    return false;
}

/* Rounded down; the remainder is never negative. b > 0. */
static int64_t floor_div(int64_t a, int64_t b, int64_t *rest)
{
    int64_t q = a / b;
    *rest = a % b;
    if (*rest < 0) {
        *rest += b;
        q--;
    }
    return q;
}

/* A point in time: days since 1970-01-01, seconds of the day and what is behind the point. */
typedef struct moment {
    int64_t days, second, fraction;
    int digits; /* of the fraction: 0, 3, 6 ... 18 */
} moment;

/* n bases (W ... as) as a moment; false when the days or seconds overflow. */
static bool split(cip_time_base base, int64_t n, moment *out)
{
    static const int64_t step[] = {
        [CIP_TIME_W] = 7, [CIP_TIME_D] = 1, [CIP_TIME_h] = 3600, [CIP_TIME_m] = 60, [CIP_TIME_s] = 1
    };
    moment m = { 0 };
    int64_t seconds = n;
    if (base > CIP_TIME_s) {
        int64_t each = 1;
        for (int k = CIP_TIME_s; k < (int)base; k++)
            each *= 1000;
        m.digits = 3 * ((int)base - CIP_TIME_s);
        seconds = floor_div(n, each, &m.fraction);
    } else if (cip_mul_overflow(n, step[base], &seconds)) {
        return false;
    }
    m.days = base <= CIP_TIME_D ? seconds : floor_div(seconds, 86400, &m.second);
    *out = m;
    return true;
}

/* Year, month 1 ... 12, day 1 ... 31 of a day. Counted in eras of 400 years = 146097 days that
 * start on a 1 March, so that the leap day is the last of its year; 0000-03-01 is day -719468.
 * False for the last 719468 days of int64. */
static bool civil(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t shifted, of_era;
    if (cip_add_overflow(days, 719468, &shifted))
        return false;
    int64_t era = floor_div(shifted, 146097, &of_era);
    /* Leap days so far: one in 1461 days, not one in 36524, one at the very end. */
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march = (5 * of_year + 2) / 153; /* months since March: 153 days are five of them */
    *day = (int)(of_year - (153 * march + 2) / 5) + 1;
    *month = (int)(march < 10 ? march + 3 : march - 9);
    *year = era * 400 + year_of_era + (*month <= 2);
    return true;
}

static cip_status format_moment(cip_buf *b, cip_time_base base, const moment *m, cip_err *err)
{
    int64_t year;
    int month, day;
    if (!civil(m->days, &year, &month, &day))
        return cip_buf_addf(b, err, "%" PRId64 " D", m->days);
    CIP_TRY(cip_buf_addf(b, err, "%04" PRId64 "-%02d-%02d", year, month, day));
    if (base <= CIP_TIME_D)
        return CIP_OK;
    CIP_TRY(cip_buf_addf(b, err, "T%02d", (int)(m->second / 3600)));
    if (base >= CIP_TIME_m)
        CIP_TRY(cip_buf_addf(b, err, ":%02d", (int)(m->second / 60 % 60)));
    if (base >= CIP_TIME_s)
        CIP_TRY(cip_buf_addf(b, err, ":%02d", (int)(m->second % 60)));
    if (m->digits > 0)
        CIP_TRY(cip_buf_addf(b, err, ".%0*" PRId64, m->digits, m->fraction));
    return CIP_OK;
}

/* "25 s": a count that is no date. */
static cip_status format_count(cip_buf *b, cip_time_unit unit, int64_t value, cip_err *err)
{
    int64_t n;
    if (unit.base == CIP_TIME_GENERIC)
        return cip_buf_addf(b, err, "%" PRId64, value);
    if (cip_mul_overflow(value, (int64_t)unit.multiple, &n))
        return cip_buf_addf(b, err, "%" PRId64 "*%" PRIu32 " %s", value, unit.multiple,
                            names[unit.base]);
    return cip_buf_addf(b, err, "%" PRId64 " %s", n, names[unit.base]);
}

cip_status cip_time_format_delta(cip_buf *b, cip_time_unit unit, int64_t value, cip_err *err)
{
    if (value == INT64_MIN)
        return cip_buf_add(b, "NaT", 3, err);
    return format_count(b, unit, value, err);
}

cip_status cip_time_format_date(cip_buf *b, cip_time_unit unit, int64_t value, cip_err *err)
{
    int64_t n, year, month;
    moment m;
    if (value == INT64_MIN)
        return cip_buf_add(b, "NaT", 3, err);
    if (unit.base == CIP_TIME_GENERIC || cip_mul_overflow(value, (int64_t)unit.multiple, &n))
        return format_count(b, unit, value, err);
    if (unit.base == CIP_TIME_Y) {
        if (cip_add_overflow(n, 1970, &year))
            return format_count(b, unit, value, err);
        return cip_buf_addf(b, err, "%04" PRId64, year);
    }
    if (unit.base == CIP_TIME_M) {
        year = floor_div(n, 12, &month) + 1970;
        return cip_buf_addf(b, err, "%04" PRId64 "-%02d", year, (int)month + 1);
    }
    if (!split(unit.base, n, &m))
        return format_count(b, unit, value, err);
    return format_moment(b, unit.base, &m, err);
}
