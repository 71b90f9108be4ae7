/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/remote/http_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <xxhash.h>

#include "base/num.h"

/* A decimal number at *at, which moves behind it. */
static bool take_number(const char **at, const char *end, uint64_t *out)
{
    const char *s = *at;
    *out = 0;
    for (; s < end && cip_is_digit(*s); s++)
        if (cip_mul_overflow(*out, 10, out) || cip_add_overflow(*out, (uint64_t)(*s - '0'), out))
            return false;
    const bool any = s != *at;
    *at = s;
    return any;
}

static bool take_char(const char **at, const char *end, char c)
{
    const bool there = *at < end && **at == c;
    *at += there;
    return there;
}

/* "bytes 0-99/1000", "bytes 0-99/" and "*", "bytes " and "*" and "/1000". */
static bool parse_range(cip_http_answer *a, const char *s, const char *end)
{
    cip_http_answer now = { .status = 0 };
    if (end - s < 6 || strncasecmp(s, "bytes ", 6) != 0)
        return false;
    s += 6;
    now.unsatisfied = take_char(&s, end, '*');
    if (!now.unsatisfied && (!take_number(&s, end, &now.first) || !take_char(&s, end, '-') ||
                             !take_number(&s, end, &now.last) || now.last < now.first))
        return false;
    if (!take_char(&s, end, '/'))
        return false;
    now.has_total = !take_char(&s, end, '*');
    if (now.has_total &&
        (!take_number(&s, end, &now.total) || (!now.unsatisfied && now.last >= now.total)))
        return false;
    const bool again = a->ranged || a->unsatisfied;
    if (s != end || (again && (now.first != a->first || now.last != a->last ||
                               now.total != a->total || now.has_total != a->has_total)))
        return false;
    a->ranged = !now.unsatisfied;
    a->unsatisfied = now.unsatisfied;
    a->has_total = now.has_total;
    a->first = now.first;
    a->last = now.last;
    a->total = now.total;
    return true;
}

/* Into room for `cap` bytes; what does not fit, or holds a control character, is left out. */
static void copy_value(char *out, size_t cap, const char *s, const char *end)
{
    const size_t n = (size_t)(end - s);
    out[0] = '\0';
    if (n >= cap)
        return;
    for (size_t i = 0; i < n; i++)
        if (s[i] < ' ' || s[i] >= 0x7f)
            return;
    memcpy(out, s, n);
    out[n] = '\0';
}

/* A tag that there is no room for, or that no request can hold, by its checksum: another one is
 * told from it, and the server is not asked by it. */
static void copy_tag(char out[CIP_HTTP_TAG], const char *s, const char *end)
{
    copy_value(out, CIP_HTTP_TAG, s, end);
    if (out[0] != '\0' || s == end)
        return;
    const XXH128_hash_t h = XXH3_128bits(s, (size_t)(end - s));
    snprintf(out, CIP_HTTP_TAG, "W/%016" PRIx64 "%016" PRIx64, (uint64_t)h.high64,
             (uint64_t)h.low64);
}

static bool is_header(const char *line, size_t n, const char *name)
{
    return strlen(name) == n && strncasecmp(line, name, n) == 0;
}

/* Whether the headers are complete and no further answer follows them, as after an interim answer,
 * a redirect or a question for a password. What comes then are trailers, behind a chunked body. */
static bool is_last(const cip_http_answer *a)
{
    return a->ended && a->status >= 200 && a->status / 100 != 3 && a->status != 401;
}

bool cip_http_answer_line(cip_http_answer *a, const char *line, size_t n)
{
    const char *end = line + n;
    if (n > CIP_HTTP_HEADERS_MAX - a->nbytes)
        return false;
    a->nbytes += n;
    while (end > line && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (!is_last(a) && end - line >= 6 && memcmp(line, "HTTP/", 5) == 0) {
        uint64_t status = 0;
        const char *s = memchr(line, ' ', (size_t)(end - line));
        *a = (cip_http_answer){ .nbytes = a->nbytes, .framed = line[5] >= '2' };
        if (s != NULL && take_char(&s, end, ' ') && take_number(&s, end, &status) && status < 1000)
            a->status = (int)status;
        return true;
    }
    const char *colon = memchr(line, ':', (size_t)(end - line));
    a->ended = a->ended || line == end;
    if (colon == NULL || a->ended)
        return true;
    const char *s = colon + 1;
    const size_t name = (size_t)(colon - line);
    while (s < end && (*s == ' ' || *s == '\t'))
        s++;
    if (is_header(line, name, "content-range"))
        a->bad_range = !parse_range(a, s, end) || a->bad_range;
    else if (is_header(line, name, "content-length"))
        a->has_length = take_number(&s, end, &a->length) && s == end;
    else if (is_header(line, name, "transfer-encoding"))
        a->framed = a->framed || (end - s >= 7 && strncasecmp(end - 7, "chunked", 7) == 0);
    else if (is_header(line, name, "content-encoding"))
        a->encoded = a->encoded || (s != end && !is_header(s, (size_t)(end - s), "identity"));
    else if (is_header(line, name, "etag"))
        copy_tag(a->tag, s, end);
    else if (is_header(line, name, "last-modified"))
        copy_value(a->modified, sizeof a->modified, s, end);
    else if (is_header(line, name, "x-amz-bucket-region"))
        copy_value(a->region, sizeof a->region, s, end);
    return true;
}

bool cip_http_tag_is_strong(const char *tag)
{
    const size_t n = strlen(tag);
    return n >= 2 && tag[0] == '"' && strchr(tag + 1, '"') == tag + n - 1;
}
