/* SPDX-License-Identifier: BSD-3-Clause
 * Targets, ranges and hosts of requests. */
#include "serve_url.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* In place. A byte that is no visible ASCII must be encoded, as clients do. */
static const char *decode(char *text, bool query)
{
    char *to = text;
    for (const char *p = text; *p != '\0'; p++) {
        int c = (unsigned char)*p;
        if (c <= ' ' || c >= 0x7f)
            return "expected visible ASCII characters in the URL";
        if (c == '%') {
            const int high = hex_digit(p[1]), low = high >= 0 ? hex_digit(p[2]) : -1;
            if (low < 0)
                return "expected two hexadecimal digits after each % in the URL";
            c = high << 4 | low;
            p += 2;
            if (c == 0 || (c == '/' && !query))
                return "the URL has an encoded NUL or slash";
        } else if (c == '+' && query) {
            c = ' ';
        }
        *to++ = (char)c;
    }
    *to = '\0';
    return NULL;
}

/* No step is empty, "." or "..", but for a slash at the end, which is dropped. */
static const char *check_steps(char *path)
{
    const size_t n = strlen(path);
    if (n > 1 && path[n - 1] == '/')
        path[n - 1] = '\0';
    for (const char *p = path; *path != '\0'; p++) {
        const size_t len = strcspn(p, "/");
        if (len == 0 || (p[0] == '.' && (len == 1 || (len == 2 && p[1] == '.'))))
            return "the URL has an empty step, '.' or '..'";
        p += len;
        if (*p == '\0')
            break;
    }
    return NULL;
}

static const char *parse_query(char *text, serve_url *out)
{
    for (char *end; text != NULL; text = end) {
        end = strchr(text, '&');
        if (end != NULL)
            *end++ = '\0';
        if (*text == '\0')
            continue;
        char *value = strchr(text, '=');
        if (value != NULL)
            *value++ = '\0';
        else
            value = text + strlen(text);
        const char *why = decode(text, true);
        if (why == NULL)
            why = decode(value, true);
        if (why != NULL)
            return why;
        if (serve_url_get(out, text) != NULL)
            return "the URL gives a parameter twice";
        if (out->nquery == SERVE_MOST_QUERY)
            return "the URL has too many parameters";
        out->query[out->nquery].key = text;
        out->query[out->nquery++].value = value;
    }
    return NULL;
}

const char *serve_url_parse(char *text, serve_url *out)
{
    memset(out, 0, sizeof *out);
    if (text[0] != '/')
        return "expected a URL that begins with a slash";
    char *query = strchr(text, '?');
    if (query != NULL)
        *query++ = '\0';
    out->path = text + 1;
    const char *why = decode(out->path, false);
    if (why == NULL)
        why = check_steps(out->path);
    return why != NULL ? why : parse_query(query, out);
}

const char *serve_url_get(const serve_url *url, const char *key)
{
    for (size_t i = 0; i < url->nquery; i++)
        if (strcmp(url->query[i].key, key) == 0)
            return url->query[i].value;
    return NULL;
}

const char *serve_url_unknown(const serve_url *url, const char *words)
{
    for (size_t i = 0; i < url->nquery; i++) {
        const char *key = url->query[i].key, *p = words;
        const size_t n = strlen(key);
        while (*p != '\0') {
            const size_t len = strcspn(p, " ");
            if (len == n && memcmp(p, key, n) == 0)
                break;
            p += len;
            p += strspn(p, " ");
        }
        if (*p == '\0')
            return key;
    }
    return NULL;
}

bool serve_number(const char *text, uint64_t *out)
{
    const size_t n = strlen(text);
    if (n == 0 || n > 20 || strspn(text, "0123456789") != n || (n > 1 && text[0] == '0'))
        return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

serve_range serve_range_parse(const char *text, uint64_t size, uint64_t *first, uint64_t *nbytes)
{
    char number[2][24] = { "", "" };
    uint64_t from = 0, to = 0;
    if (text == NULL || strncasecmp(text, "bytes=", 6) != 0)
        return SERVE_WHOLE;
    text += 6;
    for (int i = 0; i < 2; i++) {
        text += strspn(text, " ");
        const size_t n = strspn(text, "0123456789");
        if (n >= sizeof number[0])
            return SERVE_WHOLE;
        memcpy(number[i], text, n);
        text += n;
        text += strspn(text, " ");
        if (*text != (i == 0 ? '-' : '\0'))
            return SERVE_WHOLE;
        text += i == 0;
    }
    const bool has_from = serve_number(number[0], &from), has_to = serve_number(number[1], &to);
    if ((number[0][0] != '\0' && !has_from) || (number[1][0] != '\0' && !has_to) ||
        (!has_from && !has_to) || (has_from && has_to && from > to))
        return SERVE_WHOLE;
    if (!has_from) { /* the last `to` bytes */
        from = to < size ? size - to : 0;
        to = to == 0 ? 0 : UINT64_MAX;
        if (to == 0)
            return SERVE_OUTSIDE;
    } else if (!has_to) {
        to = UINT64_MAX;
    }
    if (from >= size)
        return SERVE_OUTSIDE;
    *first = from;
    *nbytes = to >= size ? size - from : to - from + 1;
    return SERVE_PART;
}

bool serve_host_is_local(const char *host)
{
    static const char *const names[] = { "localhost", "[::1]" };
    size_t n = strcspn(host, ":");
    if (host[0] == '[')
        n = strcspn(host, "]") + (strchr(host, ']') != NULL);
    if (host[n] != '\0' &&
        (host[n] != ':' || strspn(host + n + 1, "0123456789") != strlen(host + n + 1)))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && strncasecmp(host, names[i], n) == 0)
            return true;
    /* An address: a name may begin with "127." too. */
    char text[16];
    struct in_addr address;
    snprintf(text, sizeof text, "%.*s", n < sizeof text ? (int)n : 0, host);
    return inet_pton(AF_INET, text, &address) == 1 && strncmp(text, "127.", 4) == 0;
}

bool serve_origin_fits(const char *origin, const char *host)
{
    return strncmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0;
}

bool serve_etag_listed(const char *list, const char *etag)
{
    const size_t n = strlen(etag);
    for (const char *p = list; *p != '\0';) {
        p += strspn(p, " \t,");
        if (*p == '*')
            return true;
        if (strncmp(p, "W/", 2) == 0)
            p += 2;
        if (strncmp(p, etag, n) == 0 && strchr(" \t,", p[n]) != NULL) /* or the end */
            return true;
        p += strcspn(p, ",");
    }
    return false;
}
