/* SPDX-License-Identifier: BSD-3-Clause
 * What is made of answers, and of URLs, settings and lists: all without a server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/remote/aws.h"
#include "io/remote/http_judge.h"
#include "io/remote/s3_list.h"
#include "io/remote/url.h"
#include "support/own_env.h"

static cip_http_answer answer_of(const char *lines)
{
    cip_http_answer a = { .status = 0 };
    for (const char *end; *lines != '\0'; lines = end) {
        end = strchr(lines, '\n') + 1;
        char *exact = malloc((size_t)(end - lines)); /* on the heap: an overread is seen */
        memcpy(exact, lines, (size_t)(end - lines));
        assert_true(cip_http_answer_line(&a, exact, (size_t)(end - lines)));
        free(exact);
    }
    return a;
}

static void header_lines_are_understood(void **state)
{
    (void)state;
    cip_http_answer a =
        answer_of("HTTP/1.1 301 Moved\r\nETag: \"old\"\r\nContent-Encoding: gzip\r\n"
                  "HTTP/2 206\r\ncontent-range:  bytes 10-19/200 \r\n"
                  "CONTENT-LENGTH: 10\r\nETag:\"a b\"\r\nContent-Encoding: identity\r\n"
                  "Last-Modified: Thu, 26 Nov 2026 10:00:00 GMT\r\n"
                  "x-amz-bucket-region: eu-west-1\r\nno colon\r\n\r\n");
    assert_int_equal(a.status, 206);
    assert_true(a.ranged && a.has_total && a.has_length && !a.encoded && !a.bad_range);
    assert_true(a.first == 10 && a.last == 19 && a.total == 200 && a.length == 10);
    assert_string_equal(a.tag, "\"a b\"");
    assert_string_equal(a.modified, "Thu, 26 Nov 2026 10:00:00 GMT");
    assert_string_equal(a.region, "eu-west-1");
    a = answer_of("HTTP/1.1 416 x\r\nContent-Range: bytes */7\r\n");
    assert_true(!a.ranged && a.unsatisfied && a.has_total && a.total == 7);
    a = answer_of("HTTP/1.1 206 x\r\nContent-Range: bytes 0-6/*\r\n");
    assert_true(a.ranged && !a.has_total && !a.bad_range);
}

static void statuses_are_understood(void **state)
{
    static const int passing[] = { 408, 429, 500, 502, 503, 504 };
    size_t n = 0;
    (void)state;
    for (int status = 100; status < 600; status++)
        n += cip_http_may_pass(status);
    assert_int_equal(n, sizeof passing / sizeof *passing);
    for (size_t i = 0; i < n; i++)
        assert_true(cip_http_may_pass(passing[i]));
    assert_int_equal(answer_of("HTTP/1.1 999 x\r\n").status, 999);
    assert_int_equal(answer_of("HTTP/1.1 1000 x\r\n").status, 0);
    assert_int_equal(answer_of("HTTP/1.1 200 x\r\nHTTP/2\r\n").status, 0);
    cip_http_version v;
    const cip_http_answer whole = { .status = 200, .total = 7 },
                          part = { .status = 206, .total = 7 };
    cip_http_version_of(&whole, 5, &v);
    assert_int_equal(v.size, 5);
    cip_http_version_of(&part, 5, &v);
    assert_int_equal(v.size, 7);
    assert_true(answer_of("HTTP/2 200\r\n").framed);
    assert_false(answer_of("HTTP/1.1 200 x\r\n").framed);
}

/* A whole file that is known has to be that one. */
static void copies_are_of_the_known_version(void **state)
{
    static const cip_http_version v = { .size = 200, .tag = "\"a\"", .modified = "then" };
    static const struct {
        const char *lines;
        cip_status st;
    } row[] = {
        { "ETag: \"a\"\nLast-Modified: then\nContent-Length: 200\n", CIP_OK },
        { "ETag: \"a\"\nLast-Modified: then\nContent-Length: 199\n", CIP_ERR_STALE },
        { "ETag: \"a\"\nLast-Modified: then\n", CIP_ERR_STALE },
        { "ETag: \"b\"\nLast-Modified: then\nContent-Length: 200\n", CIP_ERR_STALE },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char lines[200];
        uint64_t n;
        snprintf(lines, sizeof lines, "HTTP/1.1 200 x\n%s", row[i].lines);
        const cip_http_answer a = answer_of(lines);
        const cip_http_asked q = { CIP_HTTP_WHOLE, 0, 200, &v };
        assert_int_equal(cip_http_judge(&q, &a, &n, NULL), row[i].st);
    }
}

static void names_are_encoded(void **state)
{
    cip_buf b = { .mem = &env.mem };
    (void)state;
    static const char name[] = "AZaz09-._~/@[`{+ %\xff";
    assert_int_equal(cip_url_encode(&b, name, strlen(name), NULL), CIP_OK);
    assert_int_equal(cip_buf_nul(&b, NULL), CIP_OK);
    assert_string_equal((const char *)b.ptr, "AZaz09-._~/%40%5B%60%7B%2B%20%25%FF");
    cip_buf_clear(&b);
    assert_int_equal(cip_url_check("http://h/a b", NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_url_check("http://h/a\x7f", NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_url_check("http://h/!~", NULL), CIP_OK);
}

static void trailers_do_not_count(void **state)
{
    (void)state;
    const cip_http_answer a =
        answer_of("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 302 Found\r\nETag: \"x\"\r\n\r\n"
                  "HTTP/1.1 401 Who\r\n\r\nHTTP/1.1 206 x\r\nETag: \"a\"\r\n"
                  "Content-Range: bytes 10-19/200\r\n\r\n"
                  "ETag: \"b\"\r\nContent-Range: bytes 0-1/2\r\n"
                  "HTTP/1.1 416 a: b\r\nContent-Range: bytes */0\r\n\r\n");
    assert_int_equal(a.status, 206);
    assert_string_equal(a.tag, "\"a\"");
    assert_true(a.ranged && !a.bad_range && a.total == 200);
}

static void ranges_that_mean_nothing_are_bad(void **state)
{
    static const char *const bad[] = {
        "bytes",       "bytes 1-2",
        "bytes 2-1/5", "bytes 1-5/5",
        "lines 1-2/5", "bytes 1-2/5x",
        "bytes -2/5",  "bytes 1-/5",
        "bytes */",    "bytes 0-18446744073709551616/18446744073709551617"
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char lines[200];
        snprintf(lines, sizeof lines, "HTTP/1.1 206 x\r\nContent-Range: %s\r\n", bad[i]);
        const cip_http_answer a = answer_of(lines);
        assert_true(a.bad_range && !a.ranged);
    }
    assert_true(answer_of("HTTP/1.1 206 x\nContent-Range: bytes 0-1/9\n"
                          "Content-Range: bytes 0-2/9\n")
                    .bad_range);
    assert_false(answer_of("HTTP/1.1 206 x\nContent-Range: bytes 0-1/9\n"
                           "Content-Range: bytes 0-1/9\n")
                     .bad_range);
}

static void values_that_are_too_long_or_strange_are_not_taken(void **state)
{
    (void)state;
    char lines[600] = "HTTP/1.1 200 x\nETag: \"";
    memset(lines + strlen(lines), 'a', 300);
    strcat(lines, "\"\nLast-Modified: a\x01z\n");
    const cip_http_answer a = answer_of(lines);
    assert_string_equal(a.modified, "");
    lines[100]++; /* of the tag, of which a checksum is left */
    const cip_http_answer b = answer_of(lines);
    assert_true(a.tag[0] == 'W' && b.tag[0] == 'W' && strcmp(a.tag, b.tag) != 0);
    assert_int_not_equal(answer_of("HTTP/1.1 200 x\nETag: \"\xe9\"\n").tag[0], '\0');
}

static void values_fill_their_room(void **state)
{
    (void)state;
    for (int n = CIP_HTTP_TAG - 2; n <= CIP_HTTP_TAG; n++) {
        char lines[600];
        snprintf(lines, sizeof lines, "HTTP/1.1 200 x\nETag: %0*d\n", n, 1);
        const cip_http_answer a = answer_of(lines);
        assert_int_equal(a.tag[0], n < CIP_HTTP_TAG ? '0' : 'W');
        assert_true(strlen(a.tag) == (size_t)n || n == CIP_HTTP_TAG);
    }
    for (int n = 30; n <= 32; n++) {
        cip_aws a = { .region = "" };
        bool other = false;
        char text[100];
        const int len = snprintf(text, sizeof text, "[a]\nregion = %0*d\n", n, 1);
        assert_true(cip_aws_parse(&a, text, (size_t)len, "a", &other));
        assert_int_equal(strlen(a.region), n < 32 ? n : 0);
    }
}

static void strong_tags_are_one_text_in_quotes(void **state)
{
    static const char *const weak[] = { "", "W/\"a\"", "\"", "a\"", "\"a", "\"a\", \"b\"", "*" };
    (void)state;
    assert_true(cip_http_tag_is_strong("\"\"") && cip_http_tag_is_strong("\"a b\""));
    for (size_t i = 0; i < sizeof weak / sizeof *weak; i++)
        assert_false(cip_http_tag_is_strong(weak[i]));
}

static void headers_without_end_are_refused(void **state)
{
    (void)state;
    cip_http_answer a = { .status = 0 };
    char line[1000];
    memset(line, 'a', sizeof line);
    size_t n = 0;
    while (cip_http_answer_line(&a, line, sizeof line))
        n += sizeof line;
    assert_true(n <= CIP_HTTP_HEADERS_MAX && n > CIP_HTTP_HEADERS_MAX - sizeof line);
}

static const cip_http_version known = { .size = 200, .tag = "\"a\"", .modified = "then" };

typedef struct judged {
    const char *lines; /* behind the status line */
    int status;
    cip_http_kind kind;
    uint64_t off, n;
    cip_status st;
    uint64_t nbytes;
    const char *text;
} judged;

#define SAME "ETag: \"a\"\nLast-Modified: then\n"

static const judged cases[] = {
    { "Content-Range: bytes 0-99/200\n", 206, CIP_HTTP_OPEN, 0, 100, CIP_OK, 100, NULL },
    { "Content-Range: bytes 0-49/50\n", 206, CIP_HTTP_OPEN, 0, 100, CIP_OK, 50, NULL },
    { "Content-Range: bytes 0-49/200\n", 206, CIP_HTTP_OPEN, 0, 100, CIP_ERR_IO, 0,
      "the server sent 0 to 49" },
    { "Content-Range: bytes 0-99/200\nContent-Length: 99\n", 206, CIP_HTTP_OPEN, 0, 100, CIP_ERR_IO,
      0, "Content-Length is 99" },
    { "Content-Length: 30\n", 200, CIP_HTTP_OPEN, 0, 100, CIP_OK, 30, NULL },
    { "Transfer-Encoding: gzip, Chunked\n", 200, CIP_HTTP_OPEN, 0, 100, CIP_OK, UINT64_MAX, NULL },
    { "Transfer-Encoding: identity\n", 200, CIP_HTTP_OPEN, 0, 100, CIP_ERR_IO, 0,
      "does not tell the size" },
    { "", 200, CIP_HTTP_OPEN, 0, 100, CIP_ERR_IO, 0, "would look like its end" },
    { "Content-Length: 101\n", 200, CIP_HTTP_OPEN, 0, 100, CIP_ERR_UNSUPPORTED, 0,
      "does not support range requests" },
    { "Content-Range: bytes */0\n", 416, CIP_HTTP_OPEN, 0, 100, CIP_OK, 0, NULL },
    { "Content-Range: bytes */5\n", 416, CIP_HTTP_OPEN, 0, 100, CIP_ERR_IO, 0, "416" },
    { "Content-Encoding: gzip\nContent-Range: bytes 0-99/200\n", 206, CIP_HTTP_OPEN, 0, 100,
      CIP_ERR_UNSUPPORTED, 0, "compressed" },
    { SAME "Content-Range: bytes 10-19/200\n", 206, CIP_HTTP_RANGE, 10, 10, CIP_OK, 10, NULL },
    { SAME "Content-Range: bytes 11-20/200\n", 206, CIP_HTTP_RANGE, 10, 10, CIP_ERR_IO, 0,
      "expected bytes 10 to 19" },
    { SAME "Content-Range: bytes 10-18/200\n", 206, CIP_HTTP_RANGE, 10, 10, CIP_ERR_IO, 0,
      "expected bytes 10 to 19" },
    { SAME "Content-Range: bytes 10-19/201\n", 206, CIP_HTTP_RANGE, 10, 10, CIP_ERR_STALE, 0,
      "expected 200 bytes, found 201" },
    { "ETag: \"b\"\nLast-Modified: then\nContent-Range: bytes 10-19/200\n", 206, CIP_HTTP_RANGE, 10,
      10, CIP_ERR_STALE, 0, "entity tag" },
    { "ETag: \"a\"\nLast-Modified: now\nContent-Range: bytes 10-19/200\n", 206, CIP_HTTP_RANGE, 10,
      10, CIP_ERR_STALE, 0, "time of change" },
    { "ETag: \"a\"\nContent-Range: bytes 10-19/200\n", 206, CIP_HTTP_RANGE, 10, 10, CIP_ERR_STALE,
      0, "time of change" },
    { SAME "Content-Length: 200\n", 200, CIP_HTTP_RANGE, 10, 10, CIP_ERR_UNSUPPORTED, 0, "range" },
    { "", 412, CIP_HTTP_RANGE, 10, 10, CIP_ERR_STALE, 0, "another one" },
    { "", 412, CIP_HTTP_OPEN, 0, 10, CIP_ERR_IO, 0, "412" },
    { "Content-Range: bytes */5\n", 416, CIP_HTTP_RANGE, 10, 10, CIP_ERR_STALE, 0, "found 5" },
    { "", 404, CIP_HTTP_OPEN, 0, 10, CIP_ERR_NOT_FOUND, 0, "404" },
    { "", 410, CIP_HTTP_RANGE, 0, 10, CIP_ERR_NOT_FOUND, 0, "410" },
    { "", 204, CIP_HTTP_OPEN, 0, 10, CIP_ERR_IO, 0, "204" },
    { "Content-Length: 11\n", 200, CIP_HTTP_WHOLE, 0, 10, CIP_ERR_UNSUPPORTED, 0, "range" },
    { "Content-Range: bytes 0-9/10\n", 206, CIP_HTTP_WHOLE, 0, 10, CIP_ERR_IO, 0, "206" },
};

static void an_answer_has_to_fit_what_was_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const judged *c = &cases[i];
        char lines[300];
        snprintf(lines, sizeof lines, "HTTP/1.1 %d x\n%s", c->status, c->lines);
        const cip_http_answer a = answer_of(lines);
        const cip_http_asked q = { c->kind, c->off, c->n,
                                   c->kind == CIP_HTTP_RANGE ? &known : NULL };
        uint64_t nbytes = 0;
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(cip_http_judge(&q, &a, &nbytes, &err), c->st);
        if (c->st == CIP_OK)
            assert_true(nbytes == c->nbytes);
        else
            assert_non_null(strstr(err.text, c->text));
    }
}

static const char *shown(const char *url)
{
    static char text[300];
    cip_buf b = { .mem = &env.mem };
    assert_int_equal(cip_url_show(&b, url, NULL), CIP_OK);
    snprintf(text, sizeof text, "%.*s", (int)b.len, (const char *)b.ptr);
    cip_buf_clear(&b);
    return text;
}

static const char *member(const char *url, const char *name)
{
    static char text[300];
    cip_buf b = { .mem = &env.mem };
    assert_int_equal(cip_url_member(&b, url, name, NULL), CIP_OK);
    snprintf(text, sizeof text, "%.*s", (int)b.len, (const char *)b.ptr);
    cip_buf_clear(&b);
    return text;
}

static void urls_are_taken_apart(void **state)
{
    (void)state;
    assert_int_equal(cip_url_scheme_of("HTTPS://a/b"), CIP_URL_HTTP);
    assert_int_equal(cip_url_scheme_of("s3://a/b"), CIP_URL_S3);
    assert_int_equal(cip_url_scheme_of("file:///a"), CIP_URL_FILE);
    assert_int_equal(cip_url_scheme_of("gs://a/b"), CIP_URL_OTHER);
    assert_int_equal(cip_url_scheme_of("a/http://b"), CIP_URL_NONE);
    assert_int_equal(cip_url_scheme_of("://b"), CIP_URL_NONE);
    assert_string_equal(shown("http://u:p@h:80/a@b/c?x=1#f"), "http://h:80/a@b/c?...");
    assert_string_equal(shown("http://u:p@w@h"), "http://h");
    assert_string_equal(shown("http://h?u@x"), "http://h?...");
    assert_string_equal(member("http://h/a/b.asdf", "x y/%.bin"), "http://h/a/x%20y/%25.bin");
    assert_string_equal(member("http://h/a/?sig=1#f", "x"), "http://h/a/x?sig=1");
    assert_string_equal(member("http://h", "x"), "http://h/x");
    assert_true(cip_url_is_folder("http://h/a/?x") && !cip_url_is_folder("http://h/a?x/"));
    assert_int_equal(cip_url_check("http://h/\n", NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_url_check("http:///a", NULL), CIP_ERR_CORRUPT);
}

static void settings_of_aws_are_read(void **state)
{
    (void)state;
    static const char text[] = "region=none\n[default]\naws_access_key_id=d\n"
                               "[ profile a ]\r\n region = nested\nregion = eu-west-1 \r\n"
                               "; x = y\naws_access_key_id = K\naws_secret_access_key=S=/+\n"
                               "endpoint_url = http://h\n[b]\nrole_arn = r\n[profile c]\n"
                               "aws_access_key_id = a b\n[";
    cip_aws a = { .region = "" }, b = { .region = "" }, c = { .region = "" };
    bool other = false;
    assert_true(cip_aws_parse(&a, text, strlen(text), "a", &other));
    assert_string_equal(a.region, "eu-west-1");
    assert_string_equal(a.key, "K");
    assert_string_equal(a.secret, "S=/+");
    assert_string_equal(a.endpoint, "http://h");
    assert_false(other);
    assert_true(cip_aws_parse(&b, text, strlen(text), "b", &other) && other);
    assert_true(cip_aws_parse(&c, text, strlen(text), "c", &other));
    assert_string_equal(c.key, ""); /* a blank cannot be in a line of a request */
    assert_false(cip_aws_parse(&c, text, strlen(text), "d", &other));
}

static const char *s3_url(const cip_aws *a, const char *url)
{
    static char text[300];
    cip_buf b = { .mem = &env.mem };
    assert_int_equal(cip_aws_url(a, url, &b, NULL), CIP_OK);
    snprintf(text, sizeof text, "%s", (const char *)b.ptr);
    cip_buf_clear(&b);
    return text;
}

static void urls_of_s3_are_made(void **state)
{
    (void)state;
    const cip_aws amazon = { .region = "eu-west-1" };
    const cip_aws own = { .region = "x", .endpoint = "http://h:9000/s3/" };
    cip_buf b = { .mem = &env.mem };
    assert_string_equal(s3_url(&amazon, "s3://buck/a b/c+.x"),
                        "https://buck.s3.eu-west-1.amazonaws.com/a%20b/c%2B.x");
    assert_string_equal(s3_url(&amazon, "s3://b.uck/a"),
                        "https://s3.eu-west-1.amazonaws.com/b.uck/a");
    assert_string_equal(s3_url(&own, "s3://buck/a"), "http://h:9000/s3/buck/a");
    assert_int_equal(cip_aws_url(&amazon, "s3:///a", &b, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_aws_url(&own, "s3://buck/a/b?c?versionId=d/e+", &b, NULL), CIP_OK);
    assert_string_equal((const char *)b.ptr, "http://h:9000/s3/buck/a/b%3Fc?versionId=d%2Fe%2B");
    cip_buf_clear(&b);
    assert_int_equal(cip_aws_key_end("s3://b/k?versionId=x"), 8);
    assert_int_equal(cip_aws_key_end("s3://b/k?x"), 10);
    assert_int_equal(cip_aws_url(&amazon, "s3://a@evil/a", &b, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_aws_list_url(&own, "s3://buck/a/b/", "t/=", &b, NULL), CIP_OK);
    assert_string_equal((const char *)b.ptr,
                        "http://h:9000/s3/buck/?continuation-token=t%2F%3D&delimiter=%2F&"
                        "encoding-type=url&list-type=2&prefix=a%2Fb%2F");
    cip_buf_clear(&b);
    assert_true(cip_aws_is_region("us-east-1"));
    assert_false(cip_aws_is_region("evil.com/") || cip_aws_is_region(""));
}

static int add_name(void *user, const char *name, bool is_folder)
{
    strcat(user, name);
    strcat(user, is_folder ? "/ " : " ");
    return strstr(user, "stop") != NULL;
}

static void pages_of_names_are_read(void **state)
{
    (void)state;
#define KEY(k) "<Contents><Key>" k "</Key><Owner><ID>no</ID></Owner></Contents>"
#define PLAIN(x, t)                                                                                \
    "<ListBucketResult xmlns='x'><IsTruncated>" t "</IsTruncated>" x "</ListBucketResult>"
#define IN(x, t) PLAIN(x "<EncodingType>url</EncodingType>", t)
    static const struct {
        const char *xml, *names, *next;
        cip_status st;
    } page[] = {
        { IN(KEY("p/a") KEY("p/b%20c%2B+") KEY("p/") KEY("q/x") KEY("p/..") KEY("p/%00")
                 KEY("p/d/e"),
             "false"),
          "a b c+  ", "", CIP_OK },
        { PLAIN(KEY("p/a+%41") KEY("p/b%"), "false"), "a+%41 b% ", "", CIP_OK },
        { IN("<CommonPrefixes><Prefix>p/f/</Prefix></CommonPrefixes>"
             "<NextContinuationToken>t&amp;1</NextContinuationToken>",
             "true"),
          "f/ ", "t&1", CIP_OK },
        { IN(KEY("p/stop") KEY("p/b"), "false"), "stop ", "", CIP_OK },
        { IN(KEY("p/a"), "true"), "", "", CIP_ERR_CORRUPT },
        { "<Error><Code>x</Code></Error>", "", "", CIP_ERR_CORRUPT },
        { "<ListBucketResult>", "", "", CIP_ERR_CORRUPT },
        { "", "", "", CIP_ERR_CORRUPT },
        { "<!DOCTYPE x [<!ENTITY a 'b'>]>" IN(KEY("p/&a;"), "false"), "", "", CIP_ERR_CORRUPT },
    };
    for (size_t i = 0; i < sizeof page / sizeof *page; i++) {
        char names[200] = "";
        bool stopped = false;
        cip_buf next = { .mem = &env.mem };
        assert_int_equal(cip_s3_list_parse(&env.mem, page[i].xml, strlen(page[i].xml), "p/",
                                           add_name, names, &next, &stopped, NULL),
                         page[i].st);
        assert_string_equal(names, page[i].names);
        if (page[i].st == CIP_OK) {
            assert_int_equal(next.len, strlen(page[i].next));
            assert_int_equal(cip_buf_nul(&next, NULL), CIP_OK);
            assert_string_equal((const char *)next.ptr, page[i].next);
        }
        cip_buf_clear(&next);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_lines_are_understood),
        cmocka_unit_test(statuses_are_understood),
        cmocka_unit_test(copies_are_of_the_known_version),
        cmocka_unit_test(names_are_encoded),
        cmocka_unit_test(trailers_do_not_count),
        cmocka_unit_test(ranges_that_mean_nothing_are_bad),
        cmocka_unit_test(values_that_are_too_long_or_strange_are_not_taken),
        cmocka_unit_test(values_fill_their_room),
        cmocka_unit_test(strong_tags_are_one_text_in_quotes),
        cmocka_unit_test(headers_without_end_are_refused),
        cmocka_unit_test(an_answer_has_to_fit_what_was_asked),
        cmocka_unit_test(urls_are_taken_apart),
        cmocka_unit_test(settings_of_aws_are_read),
        cmocka_unit_test(urls_of_s3_are_made),
        cmocka_unit_test(pages_of_names_are_read),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
