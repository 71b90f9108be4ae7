/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "support/own_env.h"
#include "support/tree/yaml_events_testing.h"

static const struct {
    const char *text;
    unsigned events; /* document, nodes, ends; 0: the scanner declines */
} cases[] = {
    /* scalars */
    { "a:b", 3 },
    { "-1", 3 },
    { "--- 'a' # c", 3 },
    { "a: 'it''s'\n", 6 },
    { "a: ''''\n", 6 },
    { "a: ''\nb: \"\"\n", 8 },
    { "a: \"\\n\\t\\\"\\\\\\/'\"\n", 6 },
    { "a: \"\\x41\"\n", 0 },
    { "a: \"b\n  c\"\n", 0 },
    { "a: 'b\n  c'\n", 0 },
    { "a: 'b'c\n", 0 },
    { "a: 'b'#c\n", 0 },
    { "a: b#c\n", 6 },
    { "a: b #c\n", 6 },
    { "a: #c\nb: d\n", 8 },
    { "a: b: c\n", 0 },
    { "a: http://x:80/#y\n", 6 },
    { "a  :  b   \n \n   # x\n", 6 },
    { "a: b\n  c\n", 0 },
    { "a: b\n\n\n# c\n  c: d\n", 0 },
    { "a: b\n \n c\n", 0 },
    { "a: b\n\n\nc: d", 8 },
    { "a:\tb\n", 0 },
    { "a: b\tc\n", 0 },
    { "a: '\t'\n", 6 },
    { "a: b\r\nc: d\r\n", 0 },
    { "a: \xc3\xa9\n\xe4\xb8\xad: 'd'\n", 8 },
    { "a: b\xc2\x85 c: d\n", 0 },
    { "# \xe2\x80\xa8 a: b\n", 0 },
    { "a: \xef\xbb\xbf\n", 0 },
    { "a: @b\n", 0 },
    { "a: %b\n", 0 },
    { "a: |\n b\n", 0 },
    { "a: >\n b\n", 0 },
    { "&a b: *a\n", 0 },
    { "? a\n: b\n", 0 },
    { "a: ?b\n", 0 },
    { "b\nc\n", 0 },
    /* block collections */
    { "a:\n", 6 },
    { "a:\nb:\n  \nc: d\n", 10 },
    { "a:\n- b\n- c: d\n  e: f\nd: 1\n", 16 },
    { "a:\n  - b\n  - c\n", 9 },
    { "a:\n- b\n - c\n", 0 },
    { "a:\n    b: 1\n  c: 2\n", 0 },
    { "- - a\n  - b\n- c\n", 9 },
    { "-\n- a\n-\n  - b\n", 9 },
    { "- a: b\n  c: d\n", 10 },
    { "- a\nb\n", 0 },
    { "a: - b\n", 0 },
    { "a: b\n- c\n", 0 },
    { " a: b\n c: d\n", 8 },
    { "a: b\n c: d\n", 0 },
    { "a:\n  'b'\nc: d\n", 8 },
    { "'a': b\n\"c\": d\n", 8 },
    { "'a':b\n", 0 },
    { "a:\n\tb: c\n", 0 },
    /* flow collections */
    { "[]", 4 },
    { "a: {}\nb: []\n", 10 },
    { "[a,b , 'c',\"d\"]", 8 },
    { "[a, b: c]", 0 },
    { "{a: , b: c}", 8 },
    { "{a: , b}", 0 },
    { "{a: b, c: d,}", 8 },
    { "{a:b}", 0 },
    { "{'a':1, \"b\":[2]}", 10 },
    { "[a:, b]", 0 },
    { "[a, , b]", 0 },
    { "[a, b}", 0 },
    { "[a]]", 0 },
    { "[a\nb]", 0 },
    { "a: [b\n  , c\n ]\n", 9 },
    { "a: [b,\n...\n", 0 },
    { "[a, # b\n c]", 0 },
    { "[-a, -1, -]", 0 },
    { "[a?]", 0 },
    { "[[1, 2], [3, [4]], {a: [5]}]", 20 },
    { "- [a, b]: c\n", 0 },
    { "- [[a], b]: c\n", 0 },
    { "{a: b}: c\n", 0 },
    { "[[a]: b]", 0 },
    { "a: [b] c\n", 0 },
    { "a: [b] # c\n", 8 },
    /* tags */
    { "--- !t\na: !t\n- !u\n- !!str x\n- !<tag:a/b> {a: [1], b: []}\n...\n", 18 },
    { "--- !core/asdf-1.1.0 {a: b}\n", 6 },
    { "a: !t b\nc: !core/x-1.0\n  d: e\nf: !t\n", 13 },
    { "- !t\n  a: b\n- !t\n  - c\n- !t\n- d\n", 13 },
    { "- !t a: b\n", 0 },
    { "!t a: b\n", 0 },
    { "a:\n  !t\n  b: c\n", 9 },
    { "a: !t\n  !u b\n", 0 },
    { "[!t a, !t {b: !t c}, !t [d]]", 12 },
    { "[!t , a]", 0 },
    { "a: ! b\n", 0 },
    { "a: !x!y b\n", 0 },
    { "a: !t%41 b\n", 0 },
    { "a: !t, b\n", 0 },
    /* documents */
    { "", 0 },
    { "# a\n", 0 },
    { "---\n", 0 },
    { "---\n...\n", 0 },
    { "...\n", 0 },
    { "--- !t\n...\n", 3 },
    { "---\na: b\n...\nc", 6 },
    { "---\na: b\n... \t\n", 6 },
    { "---a: b\n", 6 },
    { "--- a: b\n", 0 },
    { "--- - a\n", 0 },
    { "---\na: b\n---\n", 0 },
    { "a: b\n%c: d\n", 0 },
    { "%YAML 1.1\n---\na: b\n", 6 },
    { "# c\n%YAML 1.1\n#c\n%TAG ! tag:x/\n--- !t\na: !u b\n", 6 },
    { "%YAML 1.2\n---\na\n", 0 },
    { "%YAML 1.1 # c\n---\na\n", 0 },
    { "%TAG !x! tag:x/\n---\na\n", 0 },
    { "%TAG ! tag:x/\n%TAG ! tag:y/\n---\na\n", 0 },
};

static compared compare(const char *text, size_t n)
{
    char *exact = malloc(n + (n == 0));
    memcpy(exact, text, n);
    compared c = compare_events(&env, exact, n);
    free(exact);
    return c;
}

static void what_the_scanner_gives_is_what_libyaml_gives(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const compared c = compare(cases[i].text, strlen(cases[i].text));
        if (!c.differs && (c.whole ? c.events : 0) == cases[i].events)
            continue;
        wrong++;
        printf("%s\n-> %s, %s after %zu events, expected %u\n", cases[i].text,
               c.differs ? "differs" : "the same", c.whole ? "read" : "declined", c.events,
               cases[i].events);
    }
    assert_int_equal(wrong, 0);
}

/* A difference in any field is one. */
static void events_that_differ_are_told_apart(void **state)
{
    (void)state;
    const cip_yaml_event a = { .kind = CIP_YAML_SCALAR,
                               .style = CIP_STYLE_PLAIN,
                               .start = 1,
                               .end = 2,
                               .text = "a",
                               .len = 1 };
    cip_yaml_event b[8];
    for (int i = 0; i < 8; i++)
        b[i] = a;
    b[0].kind = CIP_YAML_SEQ;
    b[1].style = CIP_STYLE_DOUBLE;
    b[2].start = 0;
    b[3].end = 3;
    b[4].text = "b";
    b[5].len = 0;
    b[6].tag = "!t";
    b[7].anchor = "x";
    assert_true(same_event(&a, &a));
    for (int i = 0; i < 8; i++)
        assert_false(same_event(&a, &b[i]));
}

/* `head`, then `piece` n times, then `tail`. */
static compared compare_long(const char *head, const char *piece, int n, const char *tail)
{
    cip_buf b = { .mem = &env.mem };
    cip_buf_puts(&b, head, NULL);
    for (int i = 0; i < n; i++)
        cip_buf_puts(&b, piece, NULL);
    cip_buf_puts(&b, tail, NULL);
    compared c = compare((const char *)b.ptr, b.len);
    cip_buf_clear(&b);
    return c;
}

static void long_lines_are_read_and_long_keys_are_not(void **state)
{
    (void)state;
    compared c = compare_long("- [", "1, ", 5000, "1]\n");
    assert_true(c.whole && !c.differs && c.events == 5007);
    c = compare_long("- [[", "1, ", 5000, "1], 2]\n");
    assert_true(c.whole && !c.differs);
    c = compare_long("- [", "\xc3\xa9, ", 400, "1]: a\n"); /* 1200 characters */
    assert_true(!c.whole && !c.differs);
    for (int n = 300; n < 420; n++) {
        c = compare_long("- [", "1, ", n, "1]: a\n");
        assert_true(!c.whole && !c.differs);
        c = compare_long("- [[x, {y: [", "\xc3\xa9, ", n, "1]}]]: a\n");
        assert_true(!c.whole && !c.differs);
    }
    c = compare_long("", "k", 990, ": v\n");
    assert_true(c.whole && !c.differs);
    for (int n = 1000; n < 1030; n++) {
        c = compare_long("", "k", n, ": v\n");
        assert_true(!c.whole && !c.differs);
        c = compare_long("- '", "k", n, "'\n");
        assert_true(c.whole && !c.differs);
    }
}

static void deep_collections_are_read_to_a_bound(void **state)
{
    (void)state;
    compared c = compare_long("", "[", 200, "") /* not closed */;
    assert_true(!c.whole && !c.differs);
    c = compare_long("", "- ", 200, "a\n");
    assert_true(c.whole && !c.differs && c.events == 403);
    c = compare_long("", "- ", 300, "a\n");
    assert_true(!c.whole && !c.differs && c.events == 1);
    c = compare_long("a: ", "[", 300, "");
    assert_true(!c.whole && !c.differs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_scanner_gives_is_what_libyaml_gives),
        cmocka_unit_test(events_that_differ_are_told_apart),
        cmocka_unit_test(long_lines_are_read_and_long_keys_are_not),
        cmocka_unit_test(deep_collections_are_read_to_a_bound),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
