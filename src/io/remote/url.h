/* SPDX-License-Identifier: BSD-3-Clause
 * URLs of files: which they are, what messages call them, and the URLs of members beside them. */
#ifndef CIP_IO_URL_H
#define CIP_IO_URL_H

#include "base/buffer.h"

typedef enum cip_url_scheme {
    CIP_URL_NONE, /* no "scheme://" in front: a path */
    CIP_URL_FILE,
    CIP_URL_HTTP, /* https too */
    CIP_URL_S3,
    CIP_URL_OTHER
} cip_url_scheme;

cip_url_scheme cip_url_scheme_of(const char *text);
/* Whether it is read over a network. */
static inline bool cip_url_is_remote(const char *text)
{
    const cip_url_scheme s = cip_url_scheme_of(text);
    return s == CIP_URL_HTTP || s == CIP_URL_S3;
}

/* The version of libcurl, which is loaded for that; "" where it cannot be, NULL in a build without.
 */
const char *cip_url_library(void);

/* UNSUPPORTED: for what is about to write there. */
cip_status cip_fail_url_written(cip_err *err);

enum { CIP_URL_MAX = 8192 }; /* bytes of a URL, the NUL apart */

/* CORRUPT for a URL that no request can be made of: longer than CIP_URL_MAX, without a host, or
 * with a byte that is not printable ASCII, as in a line of a request. */
cip_status cip_url_check(const char *url, cip_err *err);
/* Adds the URL as messages and traces show it: without user, password, query and fragment, as
 * these hold credentials. */
cip_status cip_url_show(cip_buf *out, const char *url, cip_err *err);
/* Adds n bytes of a name, of which all but "/" and the unreserved characters of RFC 3986 are
 * percent-encoded: as AWS signs a path. */
cip_status cip_url_encode(cip_buf *out, const char *name, size_t n, cip_err *err);
/* Adds the URL of the member `name` of a folder's URL (that ends with a slash), or beside a
 * file's. A query is kept: some servers take the right to read from there. */
cip_status cip_url_member(cip_buf *out, const char *url, const char *name, cip_err *err);
/* Whether its path ends with a slash. */
bool cip_url_is_folder(const char *url);

#endif
