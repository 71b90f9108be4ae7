/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/remote/aws.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/num.h"
#include "io/remote/url.h"

enum { FILE_MAX = 1 << 20, BUCKET_MAX = 63 };

/* Lines of such a file: n bytes at s, without blanks around. */
typedef struct span {
    const char *s;
    size_t n;
} span;

static span trimmed(const char *s, size_t n)
{
    while (n != 0 && strchr(" \t\r", s[0]) != NULL) {
        s++;
        n--;
    }
    while (n != 0 && strchr(" \t\r", s[n - 1]) != NULL)
        n--;
    return (span){ s, n };
}

static bool is_word(span a, const char *word)
{
    return a.n == strlen(word) && memcmp(a.s, word, a.n) == 0;
}

static void take_text(char *out, size_t cap, span value)
{
    if (out[0] != '\0' || value.n >= cap)
        return;
    for (size_t i = 0; i < value.n; i++)
        if (value.s[i] <= ' ' || value.s[i] >= 0x7f) /* it goes into lines of requests */
            return;
    memcpy(out, value.s, value.n);
    out[value.n] = '\0';
}

bool cip_aws_is_region(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static void take_setting(cip_aws *a, span key, span value, bool *other)
{
    static const char *const others[] = { "role_arn",
                                          "sso_session",
                                          "sso_start_url",
                                          "credential_process",
                                          "web_identity_token_file",
                                          "login_session" };
    if (is_word(key, "aws_access_key_id"))
        take_text(a->key, sizeof a->key, value);
    else if (is_word(key, "aws_secret_access_key"))
        take_text(a->secret, sizeof a->secret, value);
    else if (is_word(key, "aws_session_token"))
        take_text(a->token, sizeof a->token, value);
    else if (is_word(key, "region"))
        take_text(a->region, sizeof a->region, value);
    else if (is_word(key, "endpoint_url"))
        take_text(a->endpoint, sizeof a->endpoint, value);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        *other = *other || is_word(key, others[i]);
}

/* "[name]" or "[profile name]". */
static bool is_section_of(span line, const char *profile)
{
    const span name = trimmed(line.s + 1, line.n - 2);
    if (name.n > 8 && memcmp(name.s, "profile ", 8) == 0)
        return is_word(trimmed(name.s + 8, name.n - 8), profile);
    return is_word(name, profile);
}

bool cip_aws_parse(cip_aws *a, const char *text, size_t n, const char *profile, bool *other)
{
    bool within = false, found = false;
    for (size_t at = 0; at < n;) {
        const char *start = text + at, *end = memchr(start, '\n', n - at);
        const size_t len = end != NULL ? (size_t)(end - start) : n - at;
        const span line = trimmed(start, len);
        at += len + 1;
        if (line.n == 0 || line.s[0] == '#' || line.s[0] == ';')
            continue;
        if (line.s[0] == '[' && line.s[line.n - 1] == ']' && line.n >= 2) {
            within = is_section_of(line, profile);
            found = found || within;
            continue;
        }
        const char *is = memchr(line.s, '=', line.n);
        const bool nested = start[0] == ' ' || start[0] == '\t'; /* of a setting with parts */
        if (within && is != NULL && !nested) {
            const size_t key = (size_t)(is - line.s);
            take_setting(a, trimmed(line.s, key), trimmed(is + 1, line.n - key - 1), other);
        }
    }
    return found;
}

/* The file, or nothing where there is none. */
static cip_status read_file(const char *path, cip_buf *out, cip_err *err)
{
    cip_status st = CIP_OK;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd == -1)
        return CIP_OK;
    for (ssize_t got = 1; st == CIP_OK && got > 0;) {
        uint8_t *at;
        st = cip_buf_reserve(out, 4096, &at, err);
        got = st == CIP_OK ? read(fd, at, 4096) : 0;
        out->len += got > 0 ? (size_t)got : 0;
        if (got == -1 && errno == EINTR)
            got = 1;
        if (out->len > FILE_MAX)
            st = cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                          "expected at most %d bytes of settings in '%.120s'", FILE_MAX, path);
    }
    close(fd);
    return st;
}

/* `at_home`: beneath the home folder, unless the variable names the file. */
static cip_status parse_file(cip_mem *mem, cip_aws *a, const char *variable, const char *at_home,
                             const char *profile, bool *found, bool *other, cip_err *err)
{
    cip_buf path = { .mem = mem }, text = { .mem = mem };
    const char *named = getenv(variable), *home = getenv("HOME");
    cip_status st = CIP_OK;
    if (named == NULL && home == NULL)
        return CIP_OK;
    if (named != NULL)
        CIP_GO(cip_buf_addf(&path, err, "%s%c", named, 0));
    else
        CIP_GO(cip_buf_addf(&path, err, "%s/%s%c", home, at_home, 0));
    CIP_GO(read_file((const char *)path.ptr, &text, err));
    if (text.len != 0 && cip_aws_parse(a, (const char *)text.ptr, text.len, profile, other))
        *found = true;
done:
    if (text.ptr != NULL)
        memset(text.ptr, 0, text.len);
    cip_buf_clear(&text);
    cip_buf_clear(&path);
    return st;
}

static void take_variable(char *out, size_t cap, const char *name)
{
    const char *value = getenv(name);
    if (value != NULL)
        take_text(out, cap, trimmed(value, strlen(value)));
}

static cip_status check_found(cip_aws *a, const char *wanted, const char *profile, bool found,
                              bool other, cip_err *err)
{
    if (wanted != NULL && !found)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "AWS_PROFILE: there is no profile '%.60s' in the files of AWS", profile);
    if (found && other && a->key[0] == '\0')
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the AWS profile '%.40s' gets its keys by a role, single sign-on or a "
                        "program, which is not asked here: set the variables that "
                        "'aws configure export-credentials' prints",
                        profile);
    if ((a->key[0] == '\0') != (a->secret[0] == '\0'))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected an access key of AWS and its secret, found one of them alone");
    return CIP_OK;
}

/* Which variable leads to keys that are not looked up, by a request to another server. */
static void find_elsewhere(cip_aws *a)
{
    static const char *const names[] = { "AWS_WEB_IDENTITY_TOKEN_FILE",
                                         "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                         "AWS_CONTAINER_CREDENTIALS_FULL_URI" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            take_text(a->elsewhere, sizeof a->elsewhere, (span){ names[i], strlen(names[i]) });
}

cip_status cip_aws_find(cip_mem *mem, cip_aws *out, cip_err *err)
{
    const char *wanted = getenv("AWS_PROFILE"), *unsigned_too = getenv("AWS_NO_SIGN_REQUEST");
    wanted = wanted != NULL && wanted[0] != '\0' ? wanted : NULL;
    const char *profile = wanted != NULL ? wanted : "default";
    cip_aws a = { .region = "" }, of_files = { .region = "" };
    bool found = false, other = false;
    take_variable(a.key, sizeof a.key, "AWS_ACCESS_KEY_ID");
    take_variable(a.secret, sizeof a.secret, "AWS_SECRET_ACCESS_KEY");
    take_variable(a.token, sizeof a.token, "AWS_SESSION_TOKEN");
    take_variable(a.region, sizeof a.region, "AWS_REGION");
    take_variable(a.region, sizeof a.region, "AWS_DEFAULT_REGION");
    take_variable(a.endpoint, sizeof a.endpoint, "AWS_ENDPOINT_URL_S3");
    take_variable(a.endpoint, sizeof a.endpoint, "AWS_ENDPOINT_URL");
    find_elsewhere(&a);
    cip_status st = parse_file(mem, &of_files, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials",
                               profile, &found, &other, err);
    if (st == CIP_OK)
        st = parse_file(mem, &of_files, "AWS_CONFIG_FILE", ".aws/config", profile, &found, &other,
                        err);
    if (st == CIP_OK && a.key[0] == '\0' && a.secret[0] == '\0') { /* a pair comes from one place */
        memcpy(a.key, of_files.key, sizeof a.key);
        memcpy(a.secret, of_files.secret, sizeof a.secret);
        memcpy(a.token, of_files.token, sizeof a.token);
        st = check_found(&a, wanted, profile, found, other, err);
    } else if (st == CIP_OK) {
        st = check_found(&a, NULL, profile, false, false, err);
    }
    take_text(a.region, sizeof a.region, (span){ of_files.region, strlen(of_files.region) });
    take_text(a.endpoint, sizeof a.endpoint,
              (span){ of_files.endpoint, strlen(of_files.endpoint) });
    if (!cip_aws_is_region(a.region))
        snprintf(a.region, sizeof a.region, "us-east-1");
    if (unsigned_too != NULL &&
        (strcasecmp(unsigned_too, "yes") == 0 || strcmp(unsigned_too, "1") == 0 ||
         strcasecmp(unsigned_too, "true") == 0))
        a.key[0] = a.secret[0] = a.token[0] = '\0';
    if (st == CIP_OK)
        *out = a;
    memset(&a, 0, sizeof a);
    memset(&of_files, 0, sizeof of_files);
    return st;
}

size_t cip_aws_key_end(const char *url)
{
    const char *version = strstr(url, "?versionId=");
    return version != NULL ? (size_t)(version - url) : strlen(url);
}

/* The bucket's name, and the key behind it. */
static cip_status split(const char *url, span *bucket, const char **key, cip_err *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const char *s = url + strlen("s3://");
    *bucket = (span){ s, strcspn(s, "/") };
    *key = s[bucket->n] == '/' ? s + bucket->n + 1 : s + bucket->n;
    if (bucket->n == 0 || bucket->n > 4 * BUCKET_MAX || strspn(s, letters) != bucket->n ||
        s[0] == '.')
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected s3://BUCKET/KEY, found no name of a bucket");
    return CIP_OK;
}

/* Up to the key: as part of the host's name, or of the path where that cannot be, as behind other
 * endpoints, and of names with a dot, for which no certificate holds. */
static cip_status add_place(const cip_aws *a, span bucket, cip_buf *out, cip_err *err)
{
    const bool dotted = memchr(bucket.s, '.', bucket.n) != NULL || bucket.n > BUCKET_MAX;
    size_t n = strlen(a->endpoint);
    while (n != 0 && a->endpoint[n - 1] == '/')
        n--;
    if (n != 0 && cip_url_scheme_of(a->endpoint) != CIP_URL_HTTP)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "AWS_ENDPOINT_URL: expected a URL of http or https");
    if (n != 0)
        return cip_buf_addf(out, err, "%.*s/%.*s/", (int)n, a->endpoint, (int)bucket.n, bucket.s);
    if (dotted)
        return cip_buf_addf(out, err, "https://s3.%s.amazonaws.com/%.*s/", a->region, (int)bucket.n,
                            bucket.s);
    return cip_buf_addf(out, err, "https://%.*s.s3.%s.amazonaws.com/", (int)bucket.n, bucket.s,
                        a->region);
}

/* A value of the query, where a slash is encoded, too: as it is signed. */
static cip_status add_value(cip_buf *out, const char *text, cip_err *err)
{
    for (; *text != '\0'; text++)
        CIP_TRY(*text == '/' ? cip_buf_puts(out, "%2F", err) : cip_url_encode(out, text, 1, err));
    return CIP_OK;
}

cip_status cip_aws_url(const cip_aws *a, const char *url, cip_buf *out, cip_err *err)
{
    span bucket;
    const char *key, *end = url + cip_aws_key_end(url);
    CIP_TRY(split(url, &bucket, &key, err));
    CIP_TRY(add_place(a, bucket, out, err));
    CIP_TRY(cip_url_encode(out, key, end > key ? (size_t)(end - key) : 0, err));
    if (end > key && *end != '\0') {
        CIP_TRY(cip_buf_puts(out, "?versionId=", err));
        CIP_TRY(add_value(out, end + strlen("?versionId="), err));
    }
    return cip_buf_nul(out, err);
}

/* The parameters in the order in which they are signed. */
cip_status cip_aws_list_url(const cip_aws *a, const char *url, const char *after, cip_buf *out,
                            cip_err *err)
{
    span bucket;
    const char *key;
    CIP_TRY(split(url, &bucket, &key, err));
    CIP_TRY(add_place(a, bucket, out, err));
    CIP_TRY(cip_buf_puts(out, "?", err));
    if (after[0] != '\0') {
        CIP_TRY(cip_buf_puts(out, "continuation-token=", err));
        CIP_TRY(add_value(out, after, err));
        CIP_TRY(cip_buf_puts(out, "&", err));
    }
    CIP_TRY(cip_buf_puts(out, "delimiter=%2F&encoding-type=url&list-type=2&prefix=", err));
    CIP_TRY(add_value(out, key, err));
    return cip_buf_nul(out, err);
}
