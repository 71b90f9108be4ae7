/* SPDX-License-Identifier: BSD-3-Clause
 * What a client sends, taken apart: the target of a request, a range, a host. Bytes of anybody. */
#ifndef CIPPUS_TOOLS_SERVE_URL_H
#define CIPPUS_TOOLS_SERVE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERVE_MOST_URL = 8192, SERVE_MOST_QUERY = 16 };

typedef struct serve_url {
    char *path; /* decoded, without the slash at its beginning; "" is the root */
    size_t nquery;
    struct {
        const char *key, *value;
    } query[SERVE_MOST_QUERY];
} serve_url;

/* Takes the target of a request ("/files/a%20b?x=1") apart, in place: *out points into `text`.
 * NULL, or why it is refused (RFC 3986): an escape that is none, a NUL, an encoded slash, a step
 * that is empty, "." or "..", a key twice. In the query `+` is a blank. */
const char *serve_url_parse(char *text, serve_url *out);
/* The value of a key, or NULL. */
const char *serve_url_get(const serve_url *url, const char *key);
/* The first key that is none of the space-separated words, or NULL. */
const char *serve_url_unknown(const serve_url *url, const char *words);

/* A decimal number without sign, blanks or more digits than needed. */
bool serve_number(const char *text, uint64_t *out);

typedef enum serve_range { SERVE_WHOLE, SERVE_PART, SERVE_OUTSIDE } serve_range;
/* A Range header (RFC 9110, 14.2) for `size` bytes. Several ranges, other units and what is no
 * range are ignored: SERVE_WHOLE. */
serve_range serve_range_parse(const char *text, uint64_t size, uint64_t *first, uint64_t *nbytes);

/* Whether "HOST[:PORT]" names this machine as its own users do: localhost, 127.x.x.x, [::1]. A page
 * of elsewhere whose name was made to lead here (DNS rebinding) sends its own name. */
bool serve_host_is_local(const char *host);
/* Whether `origin` is "http://HOST" of the very host. */
bool serve_origin_fits(const char *origin, const char *host);
/* Whether one of the tags of If-None-Match is `etag` (weak ones compare as strong ones do). */
bool serve_etag_listed(const char *list, const char *etag);

#endif
