/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include "array/elem_time.h"

static void units_are_those_of_numpy(void **state)
{
    static const char *const names[] = { "",  "Y",  "M",  "W",  "D",  "h",  "m",
                                         "s", "ms", "us", "ns", "ps", "fs", "as" };
    cip_time_unit u;
    (void)state;
    for (int i = 0; i <= CIP_TIME_as; i++) {
        assert_true(cip_time_unit_parse(names[i], strlen(names[i]), &u));
        assert_int_equal(u.base, i);
        assert_int_equal(u.multiple, 1);
        assert_string_equal(cip_time_base_name(u.base), names[i]);
    }
    assert_true(cip_time_unit_parse("25s", 3, &u));
    assert_int_equal(u.base, CIP_TIME_s);
    assert_int_equal(u.multiple, 25);
    assert_true(cip_time_unit_parse("2147483647as", 12, &u));
    assert_int_equal(u.multiple, INT32_MAX);
    assert_true(cip_time_unit_parse("90ms and more", 4, &u)); /* as long as it says */
    assert_int_equal(u.base, CIP_TIME_ms);
    assert_int_equal(u.multiple, 90);
}

static void other_units_are_refused(void **state)
{
    static const char *const bad[] = { "25",  "0s", "2147483648s", "99999999999999999999s",
                                       "S",   "d",  "xs",          "s ",
                                       "-1s", "/s", ":s" };
    cip_time_unit u = { CIP_TIME_W, 9 };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(cip_time_unit_parse(bad[i], strlen(bad[i]), &u));
    assert_int_equal(u.base, CIP_TIME_W);
    assert_int_equal(u.multiple, 9);
}

typedef cip_status format_fn(cip_buf *b, cip_time_unit unit, int64_t value, cip_err *err);

static void shown(rig *r, format_fn *format, const char *unit, int64_t value, const char *want)
{
    cip_buf b = { .mem = &r->mem };
    cip_time_unit u;
    assert_true(cip_time_unit_parse(unit, strlen(unit), &u));
    assert_int_equal(format(&b, u, value, &r->err), CIP_OK);
    assert_text(&b, want);
    cip_buf_clear(&b);
}

static void date(rig *r, const char *unit, int64_t value, const char *want)
{
    shown(r, cip_time_format_date, unit, value, want);
}

/* The expected texts here are numpy's. */
static void dates_are_shown_in_the_precision_of_their_unit(void **state)
{
    rig *r = *state;
    date(r, "Y", 51, "2021");
    date(r, "Y", -1970, "0000");
    date(r, "Y", -1971, "-001");
    date(r, "25Y", 2, "2020");
    date(r, "M", 0, "1970-01");
    date(r, "M", -1, "1969-12");
    date(r, "M", 11, "1970-12");
    date(r, "M", 12, "1971-01");
    date(r, "W", 1, "1970-01-08");
    date(r, "D", 0, "1970-01-01");
    date(r, "D", -1, "1969-12-31");
    date(r, "h", -1, "1969-12-31T23");
    date(r, "h", 36, "1970-01-02T12");
    date(r, "m", 61, "1970-01-01T01:01");
    date(r, "s", 86399, "1970-01-01T23:59:59");
    date(r, "s", 86400, "1970-01-02T00:00:00");
    date(r, "s", 1000000000, "2001-09-09T01:46:40");
    date(r, "ms", -1, "1969-12-31T23:59:59.999");
    date(r, "us", 1, "1970-01-01T00:00:00.000001");
    date(r, "ns", INT64_C(1609459200123456789), "2021-01-01T00:00:00.123456789");
    date(r, "ps", -1, "1969-12-31T23:59:59.999999999999");
    date(r, "fs", 1, "1970-01-01T00:00:00.000000000000001");
    date(r, "as", INT64_MAX, "1970-01-01T00:00:09.223372036854775807");
    date(r, "as", -INT64_MAX, "1969-12-31T23:59:50.776627963145224193");
    date(r, "90m", 2, "1970-01-01T03:00");
}

static void days_follow_the_calendar(void **state)
{
    rig *r = *state;
    date(r, "D", 10956, "1999-12-31");
    date(r, "D", 10957, "2000-01-01");
    date(r, "D", 11015, "2000-02-28");
    date(r, "D", 11016, "2000-02-29");
    date(r, "D", 11017, "2000-03-01");
    date(r, "D", 11322, "2000-12-31");
    date(r, "D", 11382, "2001-03-01");
    date(r, "D", -25509, "1900-02-28");
    date(r, "D", -25508, "1900-03-01");
    date(r, "D", -719469, "0000-02-29");
    date(r, "D", -719468, "0000-03-01");
    date(r, "D", -719529, "-001-12-31");
    date(r, "D", 2932896, "9999-12-31");
    date(r, "D", 2932897, "10000-01-01");
    date(r, "D", 1461, "1974-01-01");
    date(r, "D", 19782, "2024-02-29");
}

static void every_day_of_eight_centuries_follows_the_one_before(void **state)
{
    rig *r = *state;
    cip_buf b = { .mem = &r->mem };
    int year = 1599, month = 12, day = 31;
    for (int64_t n = -135140; n < 157110; n++) {
        static const int length[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        if (++day > length[month - 1] + (month == 2 && leap)) {
            day = 1;
            if (++month > 12) {
                month = 1;
                year++;
            }
        }
        char want[40];
        snprintf(want, sizeof want, "%04d-%02d-%02d", year, month, day);
        cip_time_format_date(&b, (cip_time_unit){ CIP_TIME_D, 1 }, n, NULL);
        assert_text(&b, want);
    }
    assert_int_equal(year, 2400);
    cip_buf_clear(&b);
}

static void dates_beyond_reach_are_counts(void **state)
{
    rig *r = *state;
    date(r, "s", INT64_MIN, "NaT");
    date(r, "", 5, "5");
    date(r, "Y", INT64_MAX, "9223372036854775807 Y");
    date(r, "Y", INT64_MAX - 1970, "9223372036854775807");
    date(r, "W", INT64_MAX, "9223372036854775807 W");
    date(r, "h", INT64_MAX, "9223372036854775807 h");
    date(r, "D", INT64_MAX, "9223372036854775807 D");
    date(r, "D", INT64_MAX - 719467, "9223372036854056340 D");
    date(r, "D", INT64_MAX - 719468, "25252734927766554-09-25");
    date(r, "2s", INT64_MAX, "9223372036854775807*2 s");
}

static void delta(rig *r, const char *unit, int64_t value, const char *want)
{
    shown(r, cip_time_format_delta, unit, value, want);
}

static void deltas_are_counts(void **state)
{
    rig *r = *state;
    delta(r, "ns", 25, "25 ns");
    delta(r, "25s", 3, "75 s");
    delta(r, "D", -1, "-1 D");
    delta(r, "", 7, "7");
    delta(r, "ns", INT64_MIN, "NaT");
    delta(r, "ns", INT64_MIN + 1, "-9223372036854775807 ns");
    delta(r, "3W", INT64_MAX, "9223372036854775807*3 W");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(units_are_those_of_numpy),
        RIG_TEST(other_units_are_refused),
        RIG_TEST(dates_are_shown_in_the_precision_of_their_unit),
        RIG_TEST(days_follow_the_calendar),
        RIG_TEST(every_day_of_eight_centuries_follows_the_one_before),
        RIG_TEST(dates_beyond_reach_are_counts),
        RIG_TEST(deltas_are_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
