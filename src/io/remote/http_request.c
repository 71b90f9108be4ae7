/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/remote/http_request.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/remote/url.h"

/* The headers are judged when the body begins, so that a wrong one is not waited for. */
static void judge(cip_http_transfer *t)
{
    if (t->judged)
        return;
    t->judged = true;
    t->err = (cip_err)CIP_ERR_INIT;
    t->st = cip_http_judge(&t->request->asked, &t->request->answer, &t->nbytes, &t->err);
}

static size_t on_header(char *line, size_t one, size_t n, void *user)
{
    cip_http_transfer *t = user;
    (void)one;
    if (cip_http_answer_line(&t->request->answer, line, n))
        return n;
    t->judged = true;
    t->st = cip_fail(&t->err, CIP_ERR_IO, CIP_NO_OFFSET,
                     "expected at most %d bytes of headers, the server sent more",
                     CIP_HTTP_HEADERS_MAX);
    return 0;
}

/* "<Code>ExpiredToken</Code>": S3's reason, in letters. */
static void take_code(cip_http_transfer *t, const char *bytes, size_t n)
{
    static const char mark[] = "<Code>";
    const char *at = memmem(bytes, n, mark, strlen(mark)), *end = bytes + n;
    size_t k = 0;
    if (at == NULL)
        return;
    for (at += strlen(mark);
         at + k < end && k + 1 < sizeof t->code && isalnum((unsigned char)at[k]); k++)
        t->code[k] = at[k];
    t->code[k] = '\0';
}

/* What does not fit is no answer to what was asked, however long it goes on. */
static size_t on_body(char *bytes, size_t one, size_t n, void *user)
{
    cip_http_transfer *t = user;
    cip_http_request *r = t->request;
    (void)one;
    judge(t);
    if (t->st != CIP_OK && cip_http_aws(r->file->http) != NULL)
        take_code(t, bytes, n);
    if (t->st != CIP_OK || r->answer.status == 416) /* where a page for people follows */
        return 0;
    if (n > r->asked.n - r->got) {
        t->st = r->answer.status == 200
                    ? cip_http_fail_no_ranges(&t->err)
                    : cip_fail(&t->err, CIP_ERR_IO, r->asked.off,
                               "expected %" PRIu64 " bytes, the server sent more", r->asked.n);
        return 0;
    }
    if (r->take != NULL)
        t->st = r->take(r->user, r->got, bytes, n, &t->err);
    else if (n != 0)
        memcpy(r->dst + r->got, bytes, n);
    if (t->st != CIP_OK)
        return 0;
    r->got += n;
    return n;
}

static cip_status add_header(const cip_http_setting *s, cip_http_transfer *t, const char *name,
                             const char *value, cip_err *err)
{
    cip_buf line = { .mem = s->mem };
    cip_status st = cip_buf_addf(&line, err, "%s: %s%c", name, value, 0);
    struct curl_slist *more =
        st == CIP_OK ? s->curl->slist_append(t->headers, (const char *)line.ptr) : NULL;
    if (st == CIP_OK && more == NULL)
        st = cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for a request");
    if (more != NULL)
        t->headers = more;
    cip_buf_clear(&line);
    return st;
}

/* What is signed of a request without a body; not every version of libcurl says it to S3. */
static const char sha256_of_nothing[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/* Another version is refused by the server itself, before it sends any of it. */
static cip_status add_headers(const cip_http_setting *s, cip_http_transfer *t, cip_err *err)
{
    const cip_http_version *v = t->request->asked.known;
    if (v != NULL && cip_http_tag_is_strong(v->tag))
        CIP_TRY(add_header(s, t, "If-Match", v->tag, err));
    else if (v != NULL && v->modified[0] != '\0')
        CIP_TRY(add_header(s, t, "If-Unmodified-Since", v->modified, err));
    if (s->aws != NULL && s->aws->key[0] != '\0')
        CIP_TRY(add_header(s, t, "x-amz-content-sha256", sha256_of_nothing, err));
    if (s->aws != NULL && s->aws->token[0] != '\0')
        CIP_TRY(add_header(s, t, "x-amz-security-token", s->aws->token, err));
    return CIP_OK;
}

#define SET(option, value)                                                                         \
    do {                                                                                           \
        if (s->curl->easy_setopt(t->easy, (option), (value)) != CURLE_OK)                          \
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,                               \
                            "libcurl refuses what a request needs (" #option ")");                 \
    } while (0)

/* A signature is for one host: what S3 redirects is not followed. */
static cip_status sign(const cip_http_setting *s, cip_http_transfer *t, cip_err *err)
{
    char how[64];
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PATH_AS_IS, 1L);
    if (s->aws->key[0] == '\0')
        return CIP_OK;
    snprintf(how, sizeof how, "aws:amz:%s:s3", s->aws->region);
    SET(CURLOPT_AWS_SIGV4, how);
    SET(CURLOPT_USERNAME, s->aws->key);
    SET(CURLOPT_PASSWORD, s->aws->secret);
    return CIP_OK;
}

static cip_status set_all(const cip_http_setting *s, cip_http_transfer *t, cip_err *err)
{
    const cip_http_asked *q = &t->request->asked;
    const bool secure = strncasecmp(t->url, "https:", 6) == 0;
    char range[64];
    SET(CURLOPT_URL, t->url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 1L);
    SET(CURLOPT_MAXREDIRS, 5L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, s->tune->connect_ms);
    SET(CURLOPT_LOW_SPEED_LIMIT, s->tune->slow_bytes);
    SET(CURLOPT_LOW_SPEED_TIME, s->tune->slow_seconds);
    SET(CURLOPT_ACCEPT_ENCODING, "identity");
    SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_BUFFERSIZE, 256L << 10);
    if (s->authorities != NULL)
        SET(CURLOPT_CAINFO, s->authorities);
    SET(CURLOPT_USERAGENT, "cippus/" CIP_VERSION_STRING);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, (void *)t);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, (void *)t);
    SET(CURLOPT_ERRORBUFFER, t->why);
    SET(CURLOPT_PRIVATE, (void *)t);
    SET(CURLOPT_HTTPHEADER, t->headers);
    if (q->kind != CIP_HTTP_WHOLE) {
        snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, q->off, q->off + q->n - 1);
        SET(CURLOPT_RANGE, range);
    }
    return s->aws != NULL ? sign(s, t, err) : CIP_OK;
}

cip_status cip_http_transfer_set(const cip_http_setting *s, cip_http_transfer *t, cip_err *err)
{
    cip_http_request *r = t->request;
    r->got = 0;
    r->answer = (cip_http_answer){ .status = 0 };
    t->judged = false;
    t->st = CIP_OK;
    t->err = (cip_err)CIP_ERR_INIT;
    t->why[0] = t->code[0] = '\0';
    s->curl->easy_reset(t->easy);
    CIP_TRY(add_headers(s, t, err));
    return set_all(s, t, err);
}

void cip_http_transfer_clear(const cip_http_setting *s, cip_http_transfer *t)
{
    s->curl->slist_free_all(t->headers);
    t->headers = NULL;
    cip_mem_put(s->mem, t->url);
    t->url = NULL;
}

/* What libcurl says, in words of who asked. `again`: it may go well the next time. */
static cip_status fail_code(const cip_http_setting *s, const cip_http_transfer *t, CURLcode code,
                            bool *again, cip_err *err)
{
    static const struct {
        CURLcode code;
        bool again;
        const char *text; /* NULL: libcurl's own */
    } known[] = {
        { CURLE_COULDNT_RESOLVE_HOST, false, "there is no such host, or no network" },
        { CURLE_COULDNT_CONNECT, false, "no server answers there" },
        { CURLE_OPERATION_TIMEDOUT, true, "the server is too slow, or does not answer" },
        { CURLE_TOO_MANY_REDIRECTS, false, "the server redirects more than 5 times" },
        { CURLE_PEER_FAILED_VERIFICATION, false, NULL },
        { CURLE_PARTIAL_FILE, true, "the server closed the connection before the end" },
        { CURLE_GOT_NOTHING, true, "the server closed the connection without an answer" },
        { CURLE_OUT_OF_MEMORY, false,
          "libcurl has no memory for the answer, or a line of its headers is too long" },
        { CURLE_RECV_ERROR, true, NULL },
        { CURLE_SEND_ERROR, true, NULL },
        { CURLE_HTTP2, true, NULL },
        { CURLE_HTTP2_STREAM, true, NULL },
    };
    const char *text = t->why[0] != '\0' ? t->why : s->curl->easy_strerror(code);
    *again = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code) {
            *again = known[i].again;
            text = known[i].text != NULL ? known[i].text : text;
        }
    long redirects = 0;
    s->curl->easy_getinfo(t->easy, CURLINFO_REDIRECT_COUNT, &redirects);
    if (code == CURLE_UNSUPPORTED_PROTOCOL && redirects != 0)
        text = "the server redirects to a URL that is not followed: another than of http and "
               "https, or from https to http";
    return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "%.180s", text);
}

/* How long to wait before another try; 0: none. Who is too slow was waited for long enough. */
static uint64_t pause_before(const cip_http_setting *s, const cip_http_transfer *t, CURLcode code)
{
    curl_off_t asked = 0;
    if (t->tries >= (code == CURLE_OPERATION_TIMEDOUT ? 2 : s->tune->tries))
        return 0;
    s->curl->easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &asked);
    if (asked > (curl_off_t)s->tune->wait_most)
        return 0;
    const unsigned doubled = t->tries < 8 ? t->tries : 8;
    const uint64_t own = (uint64_t)s->tune->pause_ms << (doubled - 1);
    return asked > 0 ? (uint64_t)asked * 1000 : own;
}

/* Where redirects led, if they did. */
static cip_status note_led(const cip_http_setting *s, cip_http_transfer *t, cip_err *err)
{
    char *now = NULL;
    long times = 0;
    s->curl->easy_getinfo(t->easy, CURLINFO_REDIRECT_COUNT, &times);
    s->curl->easy_getinfo(t->easy, CURLINFO_EFFECTIVE_URL, &now);
    cip_mem_put(s->mem, t->request->led); /* of an earlier try */
    t->request->led = NULL;
    if (times == 0 || now == NULL || strlen(now) > CIP_URL_MAX ||
        t->request->asked.kind != CIP_HTTP_OPEN)
        return CIP_OK;
    return cip_mem_copy(s->mem, now, strlen(now), &t->request->led, err);
}

/* Behind what is said of the status: S3's reason, and that nobody asked. */
static void explain_refusal(const cip_http_setting *s, cip_http_transfer *t)
{
    const int status = t->request->answer.status;
    const cip_aws *a = s->aws;
    size_t n = strlen(t->err.text);
    if (t->code[0] != '\0')
        snprintf(t->err.text + n, sizeof t->err.text - n, " (%s)", t->code);
    n = strlen(t->err.text);
    if (a == NULL || a->key[0] != '\0' || (status != 401 && status != 403))
        return;
    if (a->elsewhere[0] != '\0')
        snprintf(t->err.text + n, sizeof t->err.text - n,
                 "; keys that %s leads to are not looked up: set the variables that "
                 "'aws configure export-credentials' prints",
                 a->elsewhere);
    else
        snprintf(t->err.text + n, sizeof t->err.text - n,
                 "; the request was anonymous: no keys were found, or AWS_NO_SIGN_REQUEST is set");
}

cip_status cip_http_transfer_end(const cip_http_setting *s, cip_http_transfer *t, CURLcode code,
                                 uint64_t *again, cip_err *err)
{
    const cip_http_request *r = t->request;
    bool passing = false;
    *again = 0;
    CIP_TRY(note_led(s, t, err));
    if (code == CURLE_OK)
        judge(t);                                                /* there may have been no body */
    if (t->judged && t->st == CIP_OK && r->answer.status == 416) /* an empty file */
        return CIP_OK;
    if (t->judged && t->st != CIP_OK) {
        passing = cip_http_may_pass(r->answer.status);
        explain_refusal(s, t);
        cip_err_pass(err, &t->err);
    } else if (code != CURLE_OK) {
        t->st = fail_code(s, t, code, &passing, err);
    } else if (t->nbytes != UINT64_MAX && r->got != t->nbytes) {
        t->st = cip_fail(err, CIP_ERR_IO, r->asked.off,
                         "expected %" PRIu64 " bytes, the server sent %" PRIu64, t->nbytes, r->got);
    }
    if (passing)
        *again = pause_before(s, t, code);
    return t->st;
}
