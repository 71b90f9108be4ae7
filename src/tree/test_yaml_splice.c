/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/tree/tree_testing.h"
#include "tree/yaml_splice.h"

/* `before` with `find` (its first place) made `put`, where the events [from, to) may give way to
 * those of `value` (NULL: none). */
typedef struct splice_case {
    const char *before, *find, *put;
    uint32_t from, to;
    const char *value;
} splice_case;

static cip_status apply(bench *b, const splice_case *s, uint32_t restyled)
{
    const cip_yaml_options opt = { .quiet = true };
    cip_yaml_text old, now;
    cip_text_change c;
    cip_buf value = { .mem = &b->env.mem };
    b->err = (cip_err)CIP_ERR_INIT;
    cip_yaml_text_init(&old, &b->env);
    cip_yaml_text_init(&now, &b->env);
    assert_int_equal(cip_buf_add(&old.text, s->before, strlen(s->before), NULL), CIP_OK);
    assert_int_equal(cip_yaml_text_parse(&old, &b->env, &opt, &b->err), CIP_OK);
    cip_text_change_init(&c, &b->env, &old);
    cip_region r = { .from = s->from, .to = s->to };
    if (s->value != NULL) {
        assert_int_equal(cip_buf_add(&value, s->value, strlen(s->value), NULL), CIP_OK);
        assert_int_equal(cip_text_change_expect(&c, &value, &b->err), CIP_OK);
        r.expected = &c.value;
        r.e_to = cip_mark_count(&c.value);
    }
    c.restyled = restyled;
    assert_int_equal(cip_text_change_region(&c, r, NULL), CIP_OK);
    const char *at = strstr(s->before, s->find);
    assert_non_null(at);
    assert_int_equal(cip_text_change_splice(&c, (size_t)(at - s->before), strlen(s->find), s->put,
                                            strlen(s->put), NULL),
                     CIP_OK);
    cip_status st = cip_text_change_apply(&c, &opt, &now, &b->err);
    cip_buf_clear(&value);
    cip_text_change_clear(&c);
    cip_yaml_text_clear(&old);
    cip_yaml_text_clear(&now);
    return st;
}

/* In "{a: 1, b: 2}" the events are: 0 {, 1 a, 2 1, 3 b, 4 2, 5 }. */
static void an_edit_that_is_what_it_says_is_done(void **state)
{
    static const splice_case cases[] = {
        { "{a: 1, b: 2}", "1", "x", 2, 3, "x" },
        { "{a: 1, b: 2}", "1", "[x]", 2, 3, "[x]" },
        { "{a: 1, b: 2}", "a: 1, ", "", 1, 3, NULL },
        { "{a: 1, b: 2}", ", b: 2", "", 3, 5, NULL },
        { "{a: &x 1, b: *x}", "1", "1", 9, 9, NULL } /* a region that is not there */,
    };
    for (size_t i = 0; i + 1 < sizeof cases / sizeof *cases; i++)
        assert_int_equal(apply(*state, &cases[i], CIP_NO_MARK), CIP_OK);
    assert_int_equal(apply(*state, &cases[4], CIP_NO_MARK), CIP_ERR_UNSUPPORTED);
}

static void any_other_change_is_refused(void **state)
{
    static const splice_case cases[] = {
        { "{a: 1, b: 2}", "1", "x", 2, 3, "y" },    /* not what was meant */
        { "{a: 1, b: 2}", "1", "'x'", 2, 3, "x" },  /* nor its style */
        { "{a: 1, b: 2}", "1", "!t x", 2, 3, "x" }, /* nor its tag */
        { "{a: 1, b: 2}", "1, b: 2", "x, b: 3", 2, 3, "x" } /* a value behind it */,
        { "{a: 1, b: 2}", "a: 1", "c: x", 2, 3, "x" }, /* in front of it */
        { "{a: 1, b: 2}", "1, b: 2", "x, b: '2'", 2, 3, "x" },
        { "{a: 1, b: 2}", "1, b: 2", "x, b: !!int 2", 2, 3, "x" },
        { "{a: 1, b: 2}", "1, b: 2", "x, b: &q 2", 2, 3, "x" },
        { "{a: 1, b: 2}", "1, b: 2", "x", 2, 3, "x" },             /* fewer */
        { "{a: 1, b: 2}", "1, b: 2", "x, b: 2, c: 3", 2, 3, "x" }, /* more */
        { "{a: 1, b: 2}", "1, b: 2}", "x, b: 2}\n...", 9, 9, NULL },
        { "{a: 1, b: {c: 2}}", "1, b: {c: 2}}", "x, b: {}}", 2, 3, "x" },
        { "{a: 1, b: {c: 2}}", "1, b: {c: 2}}", "x, b: [c, 2]}", 2, 3, "x" },
        { "a: 1\nb:\n  c: 2", "1\nb:\n  c: 2", "x\nb: {c: 2}", 2, 3, "x" },
        { "{a: 1, b: !t {c: 2}}", "1, b: !t", "x, b:", 2, 3, "x" },
        { "{a: 1, b: &t {c: 2}}", "1, b: &t", "x, b:", 2, 3, "x" },
        /* aliases name what they named: 2 &x, 4 &x, 6 *x */
        { "{a: &x 1, b: &x 2, c: *x}", "&x 2", "3", 4, 5, "3" },
        { "{a: &x 1, b: 2, c: *x}", "2", "&x 1", 4, 5, "&x 1" },
        { "{a: &x 1, b: &y 2, c: *x}", "*x", "*y", 9, 9, NULL },
        { "{a: &x 1, b: &y 2, c: *x}", "1", "1", 2, 3, "1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (apply(*state, &cases[i], CIP_NO_MARK) != CIP_ERR_UNSUPPORTED)
            fail_msg("case %zu was not refused", i);
}

static void a_collection_that_is_emptied_may_change_its_style(void **state)
{
    static const splice_case s = { "a:\n  b: 1\nc: 2", "\n  b: 1", " {}", 3, 5, NULL };
    assert_int_equal(apply(*state, &s, 2), CIP_OK);
    assert_int_equal(apply(*state, &s, 0), CIP_ERR_UNSUPPORTED);
    assert_int_equal(apply(*state, &s, CIP_NO_MARK), CIP_ERR_UNSUPPORTED);
}

static void a_result_that_is_no_yaml_is_refused(void **state)
{
    bench *b = *state;
    static const splice_case s = { "{a: 1, b: 2}", "2}", "", 9, 9, NULL };
    assert_int_equal(apply(b, &s, CIP_NO_MARK), CIP_ERR_UNSUPPORTED);
    b->env.limits.max_nodes = 6;
    static const splice_case more = { "{a: 1, b: 2}", "1", "[1, 2]", 2, 3, "[1, 2]" };
    assert_int_equal(apply(b, &more, CIP_NO_MARK), CIP_ERR_LIMIT);
}

static void splices_that_overlap_are_refused(void **state)
{
    bench *b = *state;
    static const struct {
        size_t at, del, then_at, then_del;
        bool fine;
    } cases[] = {
        { 4, 1, 5, 1, true },  { 4, 2, 5, 1, false },  { 5, 1, 4, 1, true },   { 4, 0, 4, 0, true },
        { 12, 0, 4, 0, true }, { 13, 0, 4, 0, false }, { 12, 1, 4, 0, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cip_yaml_options opt = { .quiet = true };
        cip_yaml_text old, now;
        cip_text_change c;
        cip_yaml_text_init(&old, &b->env);
        cip_yaml_text_init(&now, &b->env);
        assert_int_equal(cip_buf_add(&old.text, "{a: 1, b: 2}", 12, NULL), CIP_OK);
        assert_int_equal(cip_yaml_text_parse(&old, &b->env, &opt, NULL), CIP_OK);
        cip_text_change_init(&c, &b->env, &old);
        assert_int_equal(cip_text_change_splice(&c, cases[i].at, cases[i].del, "", 0, NULL),
                         CIP_OK);
        assert_int_equal(
            cip_text_change_splice(&c, cases[i].then_at, cases[i].then_del, "", 0, NULL), CIP_OK);
        b->err = (cip_err)CIP_ERR_INIT;
        cip_status st = cip_text_change_apply(&c, &opt, &now, &b->err);
        bool overlap = st == CIP_ERR_UNSUPPORTED && strstr(b->err.text, "overlap") != NULL;
        assert_int_equal(overlap, !cases[i].fine);
        cip_text_change_clear(&c);
        cip_yaml_text_clear(&old);
        cip_yaml_text_clear(&now);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)
    const struct CMUnitTest tests[] = {
        TEST(an_edit_that_is_what_it_says_is_done),
        TEST(any_other_change_is_refused),
        TEST(a_collection_that_is_emptied_may_change_its_style),
        TEST(a_result_that_is_no_yaml_is_refused),
        TEST(splices_that_overlap_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
