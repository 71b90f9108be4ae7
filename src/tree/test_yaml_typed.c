/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tree/edit.h"
#include "support/tree/tree_testing.h"

/* What was told, a line for each note. */
typedef struct told {
    char text[1024];
    int stop; /* what the callback answers */
} told;

static int tell(void *user, const cip_finding *f)
{
    told *t = user;
    size_t n = strlen(t->text);
    snprintf(t->text + n, sizeof t->text - n, "%s%s%s%s\n", f->part, f->part[0] != '\0' ? ": " : "",
             f->text, f->code == CIP_ERR_TYPE ? "" : " (as it is)");
    return t->stop;
}

static cip_status typed(bench *b, const char *text, told *t, const cip_node **out)
{
    cip_report notes;
    cip_report_init(&notes, &b->env.mem, false, tell, t);
    b->err = (cip_err)CIP_ERR_INIT;
    cip_status st = cip_yaml_typed(&b->env, &b->arena, text, NULL, &notes, out, &b->err);
    cip_report_clear(&notes);
    return st;
}

typedef struct typed_case {
    const char *text, *written, *note; /* NULL: none */
} typed_case;

static void run(void **state, const typed_case *c, size_t n)
{
    bench *b = *state;
    for (size_t i = 0; i < n; i++) {
        told t = { "", 0 };
        const cip_node *node;
        if (typed(b, c[i].text, &t, &node) != CIP_OK)
            fail_msg("%s: %s", c[i].text, b->err.text);
        b->out.len = 0;
        assert_int_equal(cip_yaml_emit_line(&b->env, node, NULL, false, &b->out, NULL), CIP_OK);
        assert_int_equal(cip_buf_nul(&b->out, NULL), CIP_OK);
        if (strcmp((const char *)b->out.ptr, c[i].written) != 0)
            fail_msg("%s: expected %s, found %s", c[i].text, c[i].written, (char *)b->out.ptr);
        char note[1024] = "";
        if (c[i].note != NULL)
            snprintf(note, sizeof note, "%s\n", c[i].note);
        if (strcmp(t.text, note) != 0)
            fail_msg("%s: expected the note %s, found %s", c[i].text, note, t.text);
        const cip_node *again; /* what is written reads as what was meant */
        assert_int_equal(
            cip_yaml_value(&b->env, &b->arena, (const char *)b->out.ptr, NULL, &again, NULL),
            CIP_OK);
        assert_int_equal(again->type, node->type);
    }
}

#define RUN(cases) run(state, cases, sizeof(cases) / sizeof(cases)[0])

static void numbers_as_people_type_them_are_numbers(void **state)
{
    static const typed_case cases[] = {
        { "1e-3", "1.0e-3", NULL },
        { "1e3", "1.0e+3", NULL },
        { "1E5", "1.0E+5", NULL },
        { "+1e+05", "+1.0e+05", NULL },
        { "1.5e3", "1.5e+3", NULL },
        { "1.e3", "1.0e+3", NULL },
        { ".5e3", "0.5e+3", NULL },
        { "-.5", "-0.5", NULL },
        { "+.5", "+0.5", NULL },
        { "-.5e-3", "-0.5e-3", NULL },
        { "08e1", "08.0e+1", NULL },
        { "nan", ".nan", NULL },
        { "NaN", ".NaN", NULL },
        { "inf", ".inf", NULL },
        { "-Inf", "-.Inf", NULL },
        { "+INF", "+.INF", NULL },
        { "[1e3, {a: nan}]", "[1.0e+3, {a: .nan}]", NULL },
    };
    RUN(cases);
}

static void what_yaml_reads_as_it_looks_stays_as_typed(void **state)
{
    static const typed_case cases[] = {
        { "1", "1", NULL },
        { "-0", "-0", NULL },
        { "0", "0", NULL },
        { "0x1F", "0x1F", NULL },
        { "1.50", "1.50", NULL },
        { ".5", ".5", NULL },
        { "5.", "5.", NULL },
        { "1.5e+3", "1.5e+3", NULL },
        { "true", "true", NULL },
        { "False", "False", NULL },
        { "null", "null", NULL },
        { ".nan", ".nan", NULL },
        { "-.inf", "-.inf", NULL },
        { "m31", "m31", NULL },
        { "1e", "1e", NULL },
        { "e5", "e5", NULL },
        { "1.2.3", "1.2.3", NULL },
        { "-nan", "-nan", NULL },
        { "Nan", "Nan", NULL },
        { "naN", "naN", NULL },
        { "1e5x", "1e5x", NULL },
        { "'1e3'", "'1e3'", NULL },
        { "\"017\"", "\"017\"", NULL },
        { "'nan'", "'nan'", NULL },
        { "!!str 1e3", "!!str 1e3", NULL },
        { "123456789012345678901234567890", "123456789012345678901234567890", NULL },
    };
    RUN(cases);
}

static void what_is_stored_as_something_else_is_told(void **state)
{
    static const typed_case cases[] = {
        { "-12:30:45", "-45045", "-12:30:45 is stored as sexagesimal -45045" },
        { "12:30:45.6", "45045.6", "12:30:45.6 is stored as sexagesimal 45045.6" },
        { "017", "15", "017 is stored as octal 15" },
        { "-010", "-8", "-010 is stored as octal -8" },
        { "1_000", "1000", "1_000 is stored as the integer 1000" },
        { "1_0.5", "10.5", "1_0.5 is stored as the number 10.5" },
        { "yes", "true", "yes is stored as the boolean true" },
        { "Off", "false", "Off is stored as the boolean false" },
        { "~", "~", "~ is stored as null" },
        { "", "null", "an empty value is stored as null" },
        { "2024-01-01", "2024-01-01", "2024-01-01 is stored as a timestamp" },
        { "2024-01-01T01:02:03Z", "2024-01-01T01:02:03Z",
          "2024-01-01T01:02:03Z is stored as a timestamp" },
        { "1e400", "1.0e+400", "1.0e+400 is stored as a number beyond float64, read as .inf" },
        { "0o17", "'0o17'",
          "0o17 is stored as a string; an octal number is written 017 (as it is)" },
        { "08", "'08'", "08 is stored as a string; a number has no leading zero (as it is)" },
        { "{a: [1, 017]}", "{a: [1, 15]}", "a/1: 017 is stored as octal 15" },
        { "{on: 1}", "{on: 1}", "on: on is stored as the boolean true" },
    };
    RUN(cases);
}

static void the_callback_stops_it(void **state)
{
    told t = { "", 1 };
    const cip_node *node;
    assert_int_equal(typed(*state, "017", &t, &node), CIP_ERR_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_as_people_type_them_are_numbers, bench_new,
                                        bench_free),
        cmocka_unit_test_setup_teardown(what_yaml_reads_as_it_looks_stays_as_typed, bench_new,
                                        bench_free),
        cmocka_unit_test_setup_teardown(what_is_stored_as_something_else_is_told, bench_new,
                                        bench_free),
        cmocka_unit_test_setup_teardown(the_callback_stops_it, bench_new, bench_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
