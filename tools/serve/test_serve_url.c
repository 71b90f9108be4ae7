/* SPDX-License-Identifier: BSD-3-Clause
 * What a client sends, taken apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve_url.h"

/* The text is copied to where ASan sees a read behind its end. */
static const char *parse(const char *text, char **room, serve_url *out)
{
    *room = strdup(text);
    assert_non_null(*room);
    return serve_url_parse(*room, out);
}

static void paths_are_decoded_once(void **state)
{
    static const char *const fine[][2] = {
        { "/", "" },
        { "/a", "a" },
        { "/a/", "a" },
        { "/a/b%20c", "a/b c" },
        { "/%c3%A9", "\xc3\xa9" },
        { "/a%2525", "a%25" },
        { "/.a/b.", ".a/b." },
        { "/.../x", ".../x" },
        { "/a+b", "a+b" },
        { "/a?", "a" },
        { "/a%3Fb", "a?b" },
        { "/%01", "\x01" },
        { "/%6a%6A%6f%6F%60%69", "jjoo`i" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        char *room;
        serve_url url;
        assert_null(parse(fine[i][0], &room, &url));
        assert_string_equal(url.path, fine[i][1]);
        assert_int_equal(url.nquery, 0);
        free(room);
    }
}

static void ways_out_of_a_folder_are_refused(void **state)
{
    static const char *const bad[] = {
        "",       "a",       "http://x/", "*",      "/.",       "/..",     "/a/..", "/../a",
        "/a/./b", "//",      "//a",       "/a//b",  "/a//",     "/%2e%2E", "/%2e",  "/a%2fb",
        "/a%00",  "/a%",     "/a%2",      "/a%2g",  "/%g0",     "/a b",    "/\x7f", "/\xc3\xa9",
        "/a\tb",  "/a?x=%0", "/a?x=%00",  "/a?x= ", "/a?%zz=1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *room;
        serve_url url;
        if (parse(bad[i], &room, &url) == NULL)
            fail_msg("'%s' was taken", bad[i]);
        free(room);
    }
}

static void queries_are_pairs(void **state)
{
    char *room;
    serve_url url;
    (void)state;
    assert_null(parse("/a?x=1&y=a+b%2Bc%2f&&z&w=", &room, &url));
    assert_int_equal(url.nquery, 4);
    assert_string_equal(serve_url_get(&url, "x"), "1");
    assert_string_equal(serve_url_get(&url, "y"), "a b+c/");
    assert_string_equal(serve_url_get(&url, "z"), "");
    assert_string_equal(serve_url_get(&url, "w"), "");
    assert_null(serve_url_get(&url, "v"));
    assert_null(serve_url_unknown(&url, "w x y z"));
    assert_string_equal(serve_url_unknown(&url, "xx w y z"), "x");
    assert_string_equal(serve_url_unknown(&url, "x w y"), "z");
    assert_string_equal(serve_url_unknown(&url, ""), "x");
    free(room);
    assert_non_null(parse("/a?x=1&x=1", &room, &url));
    free(room);
}

static void a_query_has_sixteen_pairs_at_most(void **state)
{
    char text[200] = "/?", *room;
    serve_url url;
    (void)state;
    for (int i = 0; i < SERVE_MOST_QUERY; i++)
        snprintf(text + strlen(text), 16, "k%d&", i);
    assert_null(parse(text, &room, &url));
    assert_int_equal(url.nquery, SERVE_MOST_QUERY);
    free(room);
    strcat(text, "more");
    assert_non_null(parse(text, &room, &url));
    free(room);
}

static void numbers_have_one_form(void **state)
{
    static const char *const bad[] = { "",
                                       "-1",
                                       "+1",
                                       " 1",
                                       "1 ",
                                       "01",
                                       "00",
                                       "0x1",
                                       "1.0",
                                       "1e3",
                                       "18446744073709551616",
                                       "100000000000000000000" };
    uint64_t n = 5;
    (void)state;
    assert_true(serve_number("0", &n) && n == 0);
    assert_true(serve_number("10", &n) && n == 10);
    assert_true(serve_number("18446744073709551615", &n) && n == UINT64_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(serve_number(bad[i], &n));
}

static void ranges_lie_within_the_file(void **state)
{
    static const struct {
        const char *text;
        uint64_t size;
        serve_range what;
        uint64_t first, nbytes;
    } cases[] = {
        { NULL, 10, SERVE_WHOLE, 0, 0 },
        { "bytes=0-0", 10, SERVE_PART, 0, 1 },
        { "bytes=9-9", 10, SERVE_PART, 9, 1 },
        { "bytes=9-10", 10, SERVE_PART, 9, 1 },
        { "BYTES= 2 - 4 ", 10, SERVE_PART, 2, 3 },
        { "bytes=3-", 10, SERVE_PART, 3, 7 },
        { "bytes=-1", 10, SERVE_PART, 9, 1 },
        { "bytes=-10", 10, SERVE_PART, 0, 10 },
        { "bytes=-11", 10, SERVE_PART, 0, 10 },
        { "bytes=0-18446744073709551615", 10, SERVE_PART, 0, 10 },
        { "bytes=10-", 10, SERVE_OUTSIDE, 0, 0 },
        { "bytes=10-11", 10, SERVE_OUTSIDE, 0, 0 },
        { "bytes=-0", 10, SERVE_OUTSIDE, 0, 0 },
        { "bytes=0-", 0, SERVE_OUTSIDE, 0, 0 },
        { "bytes=-5", 0, SERVE_OUTSIDE, 0, 0 },
        { "bytes=4-3", 10, SERVE_WHOLE, 0, 0 },
        { "bytes=-", 10, SERVE_WHOLE, 0, 0 },
        { "bytes=", 10, SERVE_WHOLE, 0, 0 },
        { "bytes=1", 10, SERVE_WHOLE, 0, 0 },
        { "bytes=1-2,4-5", 10, SERVE_WHOLE, 0, 0 },
        { "bytes=1-2x", 10, SERVE_WHOLE, 0, 0 },
        { "bytes=01-2", 10, SERVE_WHOLE, 0, 0 },
        { "bytes=1-18446744073709551616", 10, SERVE_WHOLE, 0, 0 },
        { "bytes=000000000000000000000000000-1", 10, SERVE_WHOLE, 0, 0 },
        { "items=1-2", 10, SERVE_WHOLE, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t first = 0, n = 0;
        const serve_range what = serve_range_parse(cases[i].text, cases[i].size, &first, &n);
        if (what != cases[i].what || first != cases[i].first || n != cases[i].nbytes)
            fail_msg("'%s' of %d: %d, %d from %d", cases[i].text, (int)cases[i].size, (int)what,
                     (int)n, (int)first);
    }
}

static void only_names_of_this_machine_are_local(void **state)
{
    static const char *const fine[] = { "localhost",      "LocalHost:80",    "127.0.0.1",
                                        "127.1.2.3:8080", "127.255.255.255", "[::1]",
                                        "[::1]:80",       "localhost:" };
    static const char *const bad[] = { "",
                                       ":",
                                       "localhos",
                                       "localhostx",
                                       "localhost.evil",
                                       "127.0.0",
                                       "127.0.0.1.evil",
                                       "127.0.0.1.1",
                                       "128.0.0.1",
                                       "127.evil.0.1",
                                       "[::1",
                                       "[::2]",
                                       "::1",
                                       "[::1]x",
                                       "localhost:8x",
                                       "localhost:8@evil",
                                       "127.0000000.00.1",
                                       "[",
                                       "127.0.0.256",
                                       "127...1",
                                       "127.0.0.",
                                       "127.00000000000000000000.0.1" };
    (void)state;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (!serve_host_is_local(fine[i]))
            fail_msg("'%s' was refused", fine[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (serve_host_is_local(bad[i]))
            fail_msg("'%s' was taken", bad[i]);
    assert_true(serve_origin_fits("http://localhost:80", "LOCALHOST:80"));
    assert_false(serve_origin_fits("https://localhost", "localhost"));
    assert_false(serve_origin_fits("http://localhost", "localhost:80"));
    assert_false(serve_origin_fits("null", "null"));
}

static void tags_are_compared_whole(void **state)
{
    (void)state;
    assert_true(serve_etag_listed("\"a\"", "\"a\""));
    assert_true(serve_etag_listed("\"b\", W/\"a\" ,\"c\"", "\"a\""));
    assert_true(serve_etag_listed("\"b\",\"a\",", "\"a\""));
    assert_true(serve_etag_listed(" *", "\"a\""));
    assert_false(serve_etag_listed("", "\"a\""));
    assert_false(serve_etag_listed(", ,", "\"a\""));
    assert_false(serve_etag_listed("\"a\"b", "\"a\""));
    assert_false(serve_etag_listed("\"ab\", \"ba\"", "\"a\""));
    assert_false(serve_etag_listed("a", "\"a\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_decoded_once),
        cmocka_unit_test(ways_out_of_a_folder_are_refused),
        cmocka_unit_test(queries_are_pairs),
        cmocka_unit_test(a_query_has_sixteen_pairs_at_most),
        cmocka_unit_test(numbers_have_one_form),
        cmocka_unit_test(ranges_lie_within_the_file),
        cmocka_unit_test(only_names_of_this_machine_are_local),
        cmocka_unit_test(tags_are_compared_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
