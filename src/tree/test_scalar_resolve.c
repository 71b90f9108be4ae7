/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tree/scalar.h"
#include "support/tree/tree_testing.h"

static cip_node resolve(const char *text)
{
    cip_node node;
    memset(&node, 0xff, sizeof node);
    size_t n = strlen(text);
    char *copy = malloc(n + 1);
    memcpy(copy, text, n + 1);
    cip_yaml_resolve(&node, copy, n);
    free(copy);
    return node;
}

static void assert_type(const char *text, cip_node_type type)
{
    cip_node node = resolve(text);
    if (node.type != type)
        fail_msg("\"%s\": expected type %d, found %d", text, type, node.type);
}

/* All of these were compared with PyYAML 6.0.3. */
static void integers_have_their_values(void **state)
{
    static const struct {
        const char *text;
        uint64_t v;
    } cases[] = {
        { "0", 0 },
        { "-0", 0 },
        { "+0", 0 },
        { "1", 1 },
        { "9", 9 },
        { "+12", 12 },
        { "1_000", 1000 },
        { "1__0_", 10 },
        { "010", 8 },
        { "0_1", 1 },
        { "0_", 0 },
        { "00", 0 },
        { "07", 7 },
        { "+017", 15 },
        { "0x1F", 31 },
        { "0xaF_", 175 },
        { "0x_9", 9 },
        { "+0xA", 10 },
        { "0b11", 3 },
        { "0b_1_0", 2 },
        { "12:30:45", 45045 },
        { "1:0", 60 },
        { "1:59", 119 },
        { "1:5:9", 3909 },
        { "1_0:00", 600 },
        { "190:20:30", 685230 },
        { "9223372036854775808", UINT64_C(9223372036854775808) },
        { "18446744073709551615", UINT64_MAX },
        { "0xFFFFFFFFFFFFFFFF", UINT64_MAX },
        { "01777777777777777777777", UINT64_MAX },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cip_node node = resolve(cases[i].text);
        assert_int_equal(node.type, CIP_NODE_INT);
        assert_false(node.negative);
        assert_int_equal(node.u, cases[i].v);
    }
}

static void negative_integers_have_their_values(void **state)
{
    static const struct {
        const char *text;
        int64_t v;
    } cases[] = {
        { "-1", -1 },
        { "-010", -8 },
        { "-0x1F", -31 },
        { "-0b11", -3 },
        { "-12:30", -750 },
        { "-9223372036854775807", -INT64_MAX },
        { "-9223372036854775808", INT64_MIN },
        { "-0x8000000000000000", INT64_MIN },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cip_node node = resolve(cases[i].text);
        assert_int_equal(node.type, CIP_NODE_INT);
        assert_true(node.negative);
        assert_int_equal(node.i, cases[i].v);
    }
}

static void integers_beyond_64_bits_are_text(void **state)
{
    static const char *const cases[] = {
        "18446744073709551616",
        "-9223372036854775809",
        "0x10000000000000000",
        "02000000000000000000000",
        "99999999999999999999999999",
        "-0xFFFFFFFFFFFFFFFFF",
        "0b11111111111111111111111111111111111111111111111111111111111111111",
        "59:59:59:59:59:59:59:59:59:59:59:59:59",
        "36893488147419103232", /* a product that wraps to nothing */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cip_node node = resolve(cases[i]);
        assert_int_equal(node.type, CIP_NODE_BIGINT);
        assert_int_equal(node.negative, cases[i][0] == '-');
        assert_int_equal(node.u, 0);
    }
}

static void floats_have_their_values(void **state)
{
    static const struct {
        const char *text;
        double v;
    } cases[] = {
        { "1.0", 1.0 },
        { "1.", 1.0 },
        { ".5", .5 },
        { ".5_", .5 },
        { "+1.5", 1.5 },
        { "-1.5", -1.5 },
        { "-0.0", -0.0 },
        { "09.5", 9.5 },
        { "1_0._5_", 10.5 },
        { "1.0e+5", 1e5 },
        { "1.5E-3", 1.5e-3 },
        { ".5e+1", 5.0 },
        { "1.e+10", 1e10 },
        { ".inf", INFINITY },
        { ".Inf", INFINITY },
        { ".INF", INFINITY },
        { "+.inf", INFINITY },
        { "-.inf", -INFINITY },
        { "-.INF", -INFINITY },
        { "1:30.5", 90.5 },
        { "0:30.", 30.0 },
        { "-1:02:03._2_5", -3723.25 },
        { "1_0:5.", 605.0 },
        { "190:20:30.15", 685230.15 },
        { "1.0e+400", INFINITY },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cip_node node = resolve(cases[i].text);
        assert_int_equal(node.type, CIP_NODE_FLOAT);
        if (memcmp(&node.f, &cases[i].v, sizeof node.f) != 0)
            fail_msg("%s: expected %a, found %a", cases[i].text, cases[i].v, node.f);
    }
    static const char *const nans[] = { ".nan", ".NaN", ".NAN" };
    for (size_t i = 0; i < 3; i++) {
        cip_node node = resolve(nans[i]);
        assert_int_equal(node.type, CIP_NODE_FLOAT);
        assert_true(isnan(node.f));
    }
}

static void bools_and_nulls_have_three_spellings(void **state)
{
    static const char *const yes[] = {
        "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"
    };
    static const char *const no[] = { "no",    "No",  "NO",  "false", "False",
                                      "FALSE", "off", "Off", "OFF" };
    static const char *const null[] = { "", "~", "null", "Null", "NULL" };
    (void)state;
    for (size_t i = 0; i < 9; i++) {
        cip_node t = resolve(yes[i]), f = resolve(no[i]);
        assert_int_equal(t.type, CIP_NODE_BOOL);
        assert_true(t.b);
        assert_int_equal(f.type, CIP_NODE_BOOL);
        assert_false(f.b);
    }
    for (size_t i = 0; i < 5; i++)
        assert_type(null[i], CIP_NODE_NULL);
}

static void dates_and_times_are_timestamps(void **state)
{
    static const char *const cases[] = {
        "2001-01-01",
        "2001-12-14T21:59:43.10-05:00",
        "2001-12-14t21:59:43.10-05:00",
        "2001-12-14 21:59:43.10 -5",
        "2001-12-15 2:59:43.10",
        "2001-12-14T21:59:43Z",
        "2001-1-1T1:02:03",
        "2001-1-1 \t 01:02:03 \tZ",
        "2001-12-14 21:59:43.",
        "2001-12-14 21:59:43+1",
        "2001-12-14 21:59:43+11",
        "2001-99-99",
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_type(cases[i], CIP_NODE_TIMESTAMP);
}

static void everything_else_is_a_string(void **state)
{
    static const char *const cases[] = {
        /* numbers of YAML 1.2 and of others */
        "1e5",
        "1.0e5",
        "1.e5",
        "0o7",
        "-.5",
        "+.5",
        "1e+5",
        "1,5",
        "0X1F",
        "0B1",
        "Infinity",
        /* not quite numbers */
        "-",
        "+",
        ".",
        "..",
        "-.",
        "+.",
        "--1",
        "1-",
        "_1",
        "+_1",
        "08",
        "09",
        "0_8",
        "0b",
        "0b2",
        "0b12",
        "0b_",
        "0x",
        "0xg",
        "0x_",
        "-0x",
        "1.5.5",
        "1.0e+",
        "1.0e-",
        "1.0e+_5",
        "1.0e+5_",
        ".e+5",
        "._5",
        ".5e5",
        "1.5x",
        "1.0e+5x",
        "1 ",
        "12a",
        "1_a",
        "0a",
        "1.0f",
        /* not quite base 60 */
        "0:30",
        "1:60",
        "1:",
        "1:5:",
        "1::5",
        ":30",
        "1:123",
        "1:6a",
        "1:60.5",
        "1:5x.5",
        "1:2.5x",
        "1:2.5:3",
        "1:2.5e+3",
        "01:30",
        "1:75",
        /* not quite special */
        ".Nan",
        ".nAN",
        "-.nan",
        "+.nan",
        ".infinity",
        ".iNF",
        ".in",
        "inf",
        "nan",
        ".inff",
        "-.inff",
        ".xyz",
        ".INf",
        /* not quite words */
        "y",
        "n",
        "Y",
        "N",
        "yEs",
        "YeS",
        "YEs",
        "tRUE",
        "TRUe",
        "trues",
        "tru",
        "oN",
        "oFF",
        "OFf",
        "nULL",
        "NUll",
        "nulll",
        "nul",
        "nO",
        "~~",
        "~x",
        "t",
        "f",
        "o",
        "noo",
        "=",
        "<<",
        "word",
        /* not quite times */
        "2001-1-1",
        "2001-01-1",
        "2001-1-01",
        "200-01-01",
        "20011-01-01",
        "2001-01-01T",
        "2001-01-01 ",
        "2001-01-01 1:2:3",
        "2001-01-01 01:02",
        "2001-01-01 01:02:3",
        "2001-01-01 001:02:03",
        "2001-01-01x01:02:03",
        "2001-01-0101:02:03",
        "2001-001-01",
        "2001-01-001",
        "2001-01-01 01:02:03x",
        "2001-01-01 01:02:03 ",
        "2001-01-01 01:02:03ZZ",
        "2001-01-01 01:02:03+",
        "2001-01-01 01:02:03+001",
        "2001-01-01 01:02:03+1:2",
        "2001-01-01 01:02:03+01:002",
        "2001-01-01 01:02:03 z",
        "2001-01-01 01-02:03",
        "2001-01-01 01:02-03",
        "2001/01/01",
        "2001-01/01",
        "2001-01-01 1:02:3",
        "2001-01",
        "2001-01-",
        "2001-",
        "2001-01-01T01:02:03+01:",
        "-2001-01-01",
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_type(cases[i], CIP_NODE_STRING);
    cip_node node;
    cip_yaml_resolve(&node, "\0null", 5); /* a NUL in front is not the end */
    assert_int_equal(node.type, CIP_NODE_STRING);
}

static cip_node as(const char *name, const char *text, bool ok)
{
    cip_node node;
    memset(&node, 0xff, sizeof node);
    bool found = cip_yaml_resolve_as(&node, name, text, strlen(text));
    if (found != ok)
        fail_msg("!!%s \"%s\"", name, text);
    if (!ok)
        assert_int_equal(node.type, CIP_NODE_STRING);
    return node;
}

static void explicit_tags_decide(void **state)
{
    (void)state;
    assert_int_equal(as("str", "12", true).type, CIP_NODE_STRING);
    assert_int_equal(as("null", "whatever", true).type, CIP_NODE_NULL);
    assert_int_equal(as("binary", "AAAA", true).type, CIP_NODE_BINARY);
    assert_int_equal(as("python/name:x", "1", true).type, CIP_NODE_STRING);
    assert_int_equal(as("timestamp", "2001-01-01", true).type, CIP_NODE_TIMESTAMP);
    as("timestamp", "yesterday", false);
    cip_node b = as("bool", "yes", true);
    assert_int_equal(b.type, CIP_NODE_BOOL);
    assert_true(b.b);
    as("bool", "y", false);
    cip_node i = as("int", "-0x10", true);
    assert_int_equal(i.type, CIP_NODE_INT);
    assert_true(i.negative);
    assert_int_equal(i.i, -16);
    as("int", "1.5", false);
    as("int", "", false);
    as("int", "x", false);
}

static void floats_by_tag_need_no_dot(void **state)
{
    static const struct {
        const char *text;
        double v;
    } cases[] = {
        { "1", 1.0 },         { "-1", -1.0 },     { "1e5", 1e5 },  { "1.0e5", 1e5 },
        { "-.5", -.5 },       { "010", 10.0 },    { "1_0", 10.0 }, { "1E-2", 0.01 },
        { "1.5", 1.5 },       { "1:30.5", 90.5 }, { "5.", 5.0 },   { "1e+2", 100 },
        { ".inf", INFINITY },
    };
    static const char *const bad[] = { "",   "-",   ".",    "x",     "1x", "e5",
                                       "1e", "1e+", "0x10", "1.5.5", "._", "1e5x" };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cip_node node = as("float", cases[i].text, true);
        assert_int_equal(node.type, CIP_NODE_FLOAT);
        assert_true(node.f == cases[i].v);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        as("float", bad[i], false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_have_their_values),
        cmocka_unit_test(negative_integers_have_their_values),
        cmocka_unit_test(integers_beyond_64_bits_are_text),
        cmocka_unit_test(floats_have_their_values),
        cmocka_unit_test(bools_and_nulls_have_three_spellings),
        cmocka_unit_test(dates_and_times_are_timestamps),
        cmocka_unit_test(everything_else_is_a_string),
        cmocka_unit_test(explicit_tags_decide),
        cmocka_unit_test(floats_by_tag_need_no_dot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
