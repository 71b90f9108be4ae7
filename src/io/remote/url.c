/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/remote/url.h"

#include <string.h>
#include <strings.h>

#include "base/num.h"

static bool is_scheme_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || cip_is_digit(c) || c == '+' ||
           c == '-' || c == '.';
}

cip_url_scheme cip_url_scheme_of(const char *text)
{
    static const struct {
        const char *name;
        cip_url_scheme scheme;
    } known[] = {
        { "file", CIP_URL_FILE },
        { "http", CIP_URL_HTTP },
        { "https", CIP_URL_HTTP },
        { "s3", CIP_URL_S3 },
    };
    size_t n = 0;
    while (is_scheme_char(text[n]))
        n++;
    if (n == 0 || strncmp(text + n, "://", 3) != 0)
        return CIP_URL_NONE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == n && strncasecmp(text, known[i].name, n) == 0)
            return known[i].scheme;
    return CIP_URL_OTHER;
}

cip_status cip_fail_url_written(cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "a URL can be read, but not written to");
}

/* Where the host begins; the URL has a scheme. */
static const char *authority_of(const char *url)
{
    return strstr(url, "://") + 3;
}

/* How long the URL is without query and fragment. */
static size_t path_end(const char *url)
{
    return strcspn(url, "?#");
}

cip_status cip_url_check(const char *url, cip_err *err)
{
    const size_t n = strnlen(url, CIP_URL_MAX + 1);
    if (n > CIP_URL_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a URL of at most %d bytes, found a longer one", CIP_URL_MAX);
    for (size_t i = 0; i < n; i++)
        if (url[i] <= ' ' || url[i] >= 0x7f)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a URL of printable ASCII, found byte 0x%02x at %zu; "
                            "percent-encode it",
                            (unsigned char)url[i], i);
    const char *host = authority_of(url);
    if (strcspn(host, "/?#") == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a URL with a host");
    return CIP_OK;
}

cip_status cip_url_show(cip_buf *out, const char *url, cip_err *err)
{
    const char *host = authority_of(url), *user = NULL;
    const size_t n = path_end(url), nhost = strcspn(host, "/?#");
    for (size_t i = 0; i < nhost; i++)
        if (host[i] == '@')
            user = host + i + 1;
    CIP_TRY(cip_buf_add(out, url, (size_t)(host - url), err));
    host = user != NULL ? user : host;
    CIP_TRY(cip_buf_add(out, host, (size_t)(url + n - host), err));
    return url[n] == '?' ? cip_buf_puts(out, "?...", err) : CIP_OK;
}

cip_status cip_url_encode(cip_buf *out, const char *name, size_t n, cip_err *err)
{
    for (size_t i = 0; i < n; i++) {
        const char c = name[i];
        const bool plain = (is_scheme_char(c) && c != '+') || c == '_' || c == '~' || c == '/';
        CIP_TRY(plain ? cip_buf_add(out, &c, 1, err)
                      : cip_buf_addf(out, err, "%%%02X", (unsigned char)c));
    }
    return CIP_OK;
}

cip_status cip_url_member(cip_buf *out, const char *url, const char *name, cip_err *err)
{
    size_t n = path_end(url);
    const size_t query = url[n] == '?' ? strcspn(url + n, "#") : 0;
    const char *host = authority_of(url);
    const char *end = url + n;
    while (end > host && end[-1] != '/')
        end--;
    const bool no_path = end == host; /* "http://host" */
    CIP_TRY(cip_buf_add(out, url, no_path ? n : (size_t)(end - url), err));
    if (no_path)
        CIP_TRY(cip_buf_puts(out, "/", err));
    CIP_TRY(cip_url_encode(out, name, strlen(name), err));
    return cip_buf_add(out, url + n, query, err);
}

bool cip_url_is_folder(const char *url)
{
    const size_t n = path_end(url);
    return url[n - 1] == '/';
}
