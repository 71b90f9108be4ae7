/* SPDX-License-Identifier: BSD-3-Clause
 * A call's requests run in the thread that makes it, up to CIP_HTTP_AT_ONCE at a time, by a session
 * (libcurl's multi handle with its open connections) that no other thread uses meanwhile. Sessions
 * are kept for the next call, so that few connections are made; a process that was forked leaves
 * them to its parent, whose connections they are. */
#include "io/remote/http.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/stop.h"
#include "base/trace.h"
#include "io/remote/http_request.h"
#include "io/remote/url.h"

const cip_http_tuning cip_http_tuning_default = {
    .connect_ms = 15000,
    .slow_bytes = 256,
    .slow_seconds = 30,
    .tries = 5,
    .pause_ms = 200,
    .wait_most = 60,
    .piece = 8 << 20,
};

typedef struct session {
    struct session *next;
    CURLM *multi;
    cip_http_transfer slot[CIP_HTTP_AT_ONCE];
} session;

struct cip_http {
    cip_http_setting set;
    cip_aws aws;
    cip_kept_folder kept;
    char *authorities;
    _Atomic unsigned refs;
    pthread_mutex_t lock; /* guards what follows; a leaf */
    session *idle;
    pid_t process; /* whose they are */
};

/* The file of certificates that the user names for programs like this one, or NULL: libcurl's. */
static const char *named_authorities(bool s3)
{
    static const char *const names[] = { "AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE" };
    const char *path = NULL;
    for (size_t i = s3 ? 0 : 1; i < sizeof names / sizeof *names; i++)
        if (path == NULL || path[0] == '\0')
            path = getenv(names[i]);
    return path == NULL || path[0] == '\0' ? NULL : path;
}

cip_status cip_http_new(cip_mem *mem, const cip_http_tuning *tune, const cip_aws *aws,
                        const cip_kept_folder *kept, cip_http **out, cip_err *err)
{
    const cip_curl *curl;
    const char *path = named_authorities(aws != NULL);
    char *authorities = NULL;
    *out = NULL;
    cip_status st = cip_curl_load(&curl, err);
    if (st == CIP_OK && path != NULL)
        st = cip_mem_copy(mem, path, strlen(path), &authorities, err);
    if (st == CIP_OK)
        st = CIP_NEW(mem, out, 1, err);
    if (st != CIP_OK) {
        cip_mem_put(mem, authorities);
        cip_kept_folder_close(&(cip_kept_folder){ .fd = kept->fd });
        return st;
    }
    cip_http *h = *out;
    h->kept = *kept;
    h->authorities = authorities;
    h->set =
        (cip_http_setting){ .curl = curl, .tune = tune, .mem = mem, .authorities = authorities };
    if (aws != NULL) {
        h->aws = *aws;
        h->set.aws = &h->aws;
    }
    atomic_init(&h->refs, 1);
    pthread_mutex_init(&h->lock, NULL);
    h->process = getpid();
    return CIP_OK;
}

cip_mem *cip_http_mem(const cip_http *h)
{
    return h->set.mem;
}

const cip_aws *cip_http_aws(const cip_http *h)
{
    return h->set.aws;
}

bool cip_http_set_region(cip_http *h, const char *region)
{
    if (!cip_aws_is_region(region) || h->aws.endpoint[0] != '\0' ||
        strcmp(h->aws.region, region) == 0)
        return false;
    snprintf(h->aws.region, sizeof h->aws.region, "%s", region);
    return true;
}

const cip_kept_folder *cip_http_kept(const cip_http *h)
{
    return &h->kept;
}

cip_http *cip_http_keep(cip_http *h)
{
    atomic_fetch_add(&h->refs, 1);
    return h;
}

static void session_free(cip_http *h, session *s)
{
    for (size_t i = 0; i < CIP_HTTP_AT_ONCE; i++)
        h->set.curl->easy_cleanup(s->slot[i].easy); /* NULL is fine */
    h->set.curl->multi_cleanup(s->multi);
    cip_mem_put(h->set.mem, s);
}

/* Under the lock, or by the last user. Those of a parent process are let be: to close them would
 * say so to the servers. */
static void drop_idle(cip_http *h)
{
    while (h->idle != NULL) {
        session *s = h->idle;
        h->idle = s->next;
        if (h->process == getpid())
            session_free(h, s);
        else
            cip_mem_put(h->set.mem, s);
    }
    h->process = getpid();
}

void cip_http_drop(cip_http *h)
{
    if (h == NULL || atomic_fetch_sub(&h->refs, 1) != 1)
        return;
    drop_idle(h);
    pthread_mutex_destroy(&h->lock);
    cip_kept_folder_close(&h->kept);
    memset(&h->aws, 0, sizeof h->aws);
    cip_mem_put(h->set.mem, h->authorities);
    cip_mem_put(h->set.mem, h);
}

static cip_status session_take(cip_http *h, session **out, cip_err *err)
{
    pthread_mutex_lock(&h->lock);
    if (h->process != getpid())
        drop_idle(h);
    session *s = h->idle;
    if (s != NULL)
        h->idle = s->next;
    pthread_mutex_unlock(&h->lock);
    *out = s;
    if (s != NULL)
        return CIP_OK;
    CIP_TRY(CIP_NEW(h->set.mem, out, 1, err));
    (*out)->multi = h->set.curl->multi_init();
    if ((*out)->multi != NULL)
        return CIP_OK;
    cip_mem_put(h->set.mem, *out);
    return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for a connection");
}

static void session_give(cip_http *h, session *s)
{
    pthread_mutex_lock(&h->lock);
    s->next = h->idle;
    h->idle = s;
    pthread_mutex_unlock(&h->lock);
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- one call's requests */

typedef struct call {
    cip_http *h;
    session *s;
    cip_http_request *request;
    size_t n, next, done;
    bool each; /* one that failed ends no other */
} call;

/* Where redirects led the time before, so that each is followed once for a file. */
static cip_status choose_url(const call *c, cip_http_transfer *t, cip_err *err)
{
    cip_http_file *f = t->request->file;
    pthread_mutex_lock(&f->lock);
    t->by_led = f->led != NULL;
    const char *url = t->by_led ? f->led : f->url;
    const cip_status st = cip_mem_copy(c->h->set.mem, url, strlen(url), &t->url, err);
    pthread_mutex_unlock(&f->lock);
    return st;
}

/* Such a URL may hold for minutes alone. */
static void forget_led(const call *c, const cip_http_transfer *t)
{
    cip_http_file *f = t->request->file;
    pthread_mutex_lock(&f->lock);
    if (f->led != NULL && strcmp(f->led, t->url) == 0) {
        cip_mem_put(c->h->set.mem, f->led);
        f->led = NULL;
    }
    pthread_mutex_unlock(&f->lock);
}

static cip_status start(const call *c, cip_http_transfer *t, cip_err *err)
{
    const cip_curl *curl = c->h->set.curl;
    if (t->easy == NULL)
        t->easy = curl->easy_init();
    if (t->easy == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for a request");
    CIP_TRY(choose_url(c, t, err));
    CIP_TRY(cip_http_transfer_set(&c->h->set, t, err));
    t->due = 0;
    t->tries++;
    t->begun = cip_trace_begin();
    if (curl->multi_add_handle(c->s->multi, t->easy) != CURLM_OK)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for a request");
    return CIP_OK;
}

static cip_status start_due(call *c, uint64_t now, cip_err *err)
{
    for (size_t i = 0; i < CIP_HTTP_AT_ONCE; i++) {
        cip_http_transfer *t = &c->s->slot[i];
        const bool fresh = t->request == NULL && c->next < c->n;
        if (fresh) {
            t->request = &c->request[c->next++];
            t->tries = 0;
        }
        if (fresh || (t->request != NULL && t->due != 0 && t->due <= now))
            CIP_TRY(start(c, t, err));
    }
    return CIP_OK;
}

/* The redirect's URL has had its time: from the first one again, at once. */
static bool led_is_over(const cip_http_transfer *t)
{
    const int status = t->request->answer.status;
    return t->by_led && status >= 400 && status < 500 && status != 412 && status != 416 &&
           status != 429;
}

static cip_status finish(call *c, cip_http_transfer *t, CURLcode code, cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    uint64_t again;
    cip_status st = cip_http_transfer_end(&c->h->set, t, code, &again, &own);
    cip_http_request *r = t->request;
    c->h->set.curl->multi_remove_handle(c->s->multi, t->easy);
    if (t->begun != 0)
        cip_trace_bytes(&(cip_trace_of){ t->begun, r->file->shown, .offset = r->asked.off,
                                         .nbytes = r->got, .tries = t->tries,
                                         .status = r->answer.status },
                        st == CIP_OK);
    if (st != CIP_OK && led_is_over(t)) {
        forget_led(c, t);
        again = 1;
    }
    cip_http_transfer_clear(&c->h->set, t);
    if (again != 0)
        t->due = now_ms() + again;
    else
        t->request = NULL;
    c->done += again == 0;
    r->st = st;
    if (c->each)
        st = CIP_OK;
    return again == 0 ? cip_err_give(err, &own, st) : CIP_OK;
}

/* Milliseconds until a request is to be tried again; a question to stop is asked often enough. */
static int wait_for(const call *c, uint64_t now)
{
    uint64_t least = cip_stop_is_set() ? 100 : 1000;
    for (size_t i = 0; i < CIP_HTTP_AT_ONCE; i++) {
        const cip_http_transfer *t = &c->s->slot[i];
        if (t->request != NULL && t->due != 0)
            least = cip_min_u64(least, t->due > now ? t->due - now : 0);
    }
    return (int)least;
}

static cip_status run(call *c, cip_err *err)
{
    const cip_curl *curl = c->h->set.curl;
    while (c->done < c->n) {
        int running, left;
        CIP_TRY(cip_stop_ask(err));
        CIP_TRY(start_due(c, now_ms(), err));
        if (curl->multi_perform(c->s->multi, &running) != CURLM_OK)
            return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "libcurl failed");
        bool any = false;
        for (const CURLMsg *m; (m = curl->multi_info_read(c->s->multi, &left)) != NULL;) {
            void *t = NULL;
            if (m->msg != CURLMSG_DONE)
                continue;
            const CURLcode code = m->data.result; /* gone with the handle */
            curl->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
            CIP_TRY(finish(c, t, code, err));
            any = true;
        }
        if (!any && c->done < c->n)
            curl->multi_poll(c->s->multi, NULL, 0, wait_for(c, now_ms()), NULL);
    }
    return CIP_OK;
}

static cip_status run_some(cip_http *h, cip_http_request *request, size_t n, bool each,
                           cip_err *err)
{
    call c = { .h = h, .request = request, .n = n, .each = each };
    CIP_TRY(session_take(h, &c.s, err));
    const cip_status st = run(&c, err);
    for (size_t i = 0; i < CIP_HTTP_AT_ONCE; i++) { /* of a call that failed */
        cip_http_transfer *t = &c.s->slot[i];
        if (t->request != NULL && t->easy != NULL)
            h->set.curl->multi_remove_handle(c.s->multi, t->easy);
        cip_http_transfer_clear(&h->set, t);
        t->request = NULL;
        t->due = 0;
    }
    session_give(h, c.s);
    return st;
}

static cip_status run_all(cip_http *h, cip_http_request *request, size_t n, cip_err *err)
{
    return run_some(h, request, n, false, err);
}

/* --- files */

cip_status cip_http_file_new(cip_http *h, const char *url, cip_http_file *out, cip_err *err)
{
    cip_mem *mem = h->set.mem;
    cip_buf shown = { .mem = mem };
    *out = (cip_http_file){ .http = cip_http_keep(h) };
    pthread_mutex_init(&out->lock, NULL);
    cip_status st = cip_url_check(url, err);
    if (st == CIP_OK)
        st = cip_mem_copy(mem, url, strlen(url), &out->url, err);
    if (st == CIP_OK)
        st = cip_url_show(&shown, url, err);
    if (st == CIP_OK)
        st = cip_mem_copy(mem, shown.ptr, shown.len, &out->shown, err);
    cip_buf_clear(&shown);
    if (st != CIP_OK)
        cip_http_file_clear(out);
    return st;
}

void cip_http_file_clear(cip_http_file *f)
{
    if (f->http == NULL)
        return;
    cip_mem *mem = f->http->set.mem;
    cip_mem_put(mem, f->url);
    cip_mem_put(mem, f->shown);
    cip_mem_put(mem, f->led);
    pthread_mutex_destroy(&f->lock);
    cip_http_drop(f->http);
    *f = (cip_http_file){ .http = NULL };
}

/* "http://host/a" led to "http://host/a/": a web server says so of folders. */
static bool is_folder_of(const char *led, const char *url)
{
    const size_t n = strlen(url);
    return led != NULL && strncmp(led, url, n) == 0 && strcmp(led + n, "/") == 0;
}

cip_status cip_http_open(cip_http_file *f, void *dst, size_t n, size_t *got, bool *folder,
                         char region[CIP_HTTP_REGION], cip_err *err)
{
    cip_err own = CIP_ERR_INIT;
    cip_http_request r = { .file = f, .asked = { .kind = CIP_HTTP_OPEN, .n = n }, .dst = dst };
    cip_status st = run_all(f->http, &r, 1, &own);
    *got = 0;
    *folder = is_folder_of(r.led, f->url) && r.answer.status != 404;
    memcpy(region, r.answer.region, sizeof r.answer.region);
    f->whole_only = st == CIP_ERR_UNSUPPORTED && r.answer.status == 200 && !r.answer.encoded &&
                    r.answer.has_length;
    if (f->whole_only)
        cip_http_version_of(&r.answer, r.answer.length, &f->version);
    if (*folder) {
        st = CIP_OK;
    } else if (st == CIP_OK) {
        *got = (size_t)r.got;
        cip_http_version_of(&r.answer, r.got, &f->version);
        f->led = r.led;
        r.led = NULL;
    }
    cip_mem_put(f->http->set.mem, r.led);
    return cip_err_give(err, &own, st);
}

cip_status cip_http_open_all(cip_http *h, cip_http_file *const *f, uint8_t *const *dst, size_t room,
                             size_t n, size_t *got, cip_status *st, cip_err *err)
{
    cip_http_request *r;
    CIP_TRY(CIP_NEW(h->set.mem, &r, n, err));
    for (size_t i = 0; i < n; i++)
        r[i] = (cip_http_request){ .file = f[i],
                                   .asked = { .kind = CIP_HTTP_OPEN, .n = room },
                                   .dst = dst[i] };
    const cip_status all = run_some(h, r, n, true, err);
    for (size_t i = 0; i < n; i++) {
        st[i] = all != CIP_OK ? all : r[i].st;
        got[i] = (size_t)r[i].got;
        if (st[i] == CIP_OK)
            cip_http_version_of(&r[i].answer, r[i].got, &f[i]->version);
        cip_mem_put(h->set.mem, r[i].led);
    }
    cip_mem_put(h->set.mem, r);
    return all;
}

/* How many requests a range is cut into. */
static size_t pieces_of(const cip_http *h, const cip_range *r)
{
    return (size_t)cip_div_up(r->nbytes, h->set.tune->piece);
}

cip_status cip_http_read(cip_http_file *f, const cip_range *r, size_t n, cip_err *err)
{
    cip_http *h = f->http;
    cip_http_request *request;
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += pieces_of(h, &r[i]);
    CIP_TRY(CIP_NEW(h->set.mem, &request, total, err));
    cip_http_request *to = request;
    for (size_t i = 0; i < n; i++)
        for (size_t at = 0; at < r[i].nbytes; to++) {
            /* pieces of one range are equally long, near enough */
            const size_t left = r[i].nbytes - at;
            const size_t now = (size_t)cip_div_up(left, cip_div_up(left, h->set.tune->piece));
            to->file = f;
            to->asked = (cip_http_asked){ CIP_HTTP_RANGE, r[i].offset + at, now, &f->version };
            to->dst = (uint8_t *)r[i].dst + at;
            at += now;
        }
    const cip_status st = run_all(h, request, (size_t)(to - request), err);
    cip_mem_put(h->set.mem, request);
    return st;
}

cip_status cip_http_copy(cip_http_file *f, cip_http_take *take, void *user, cip_err *err)
{
    cip_http_request r = {
        .file = f,
        .asked = { .kind = CIP_HTTP_WHOLE, .n = f->version.size, .known = &f->version },
        .take = take,
        .user = user,
    };
    return run_all(f->http, &r, 1, err);
}

cip_status cip_http_unchanged(cip_http_file *f, cip_err *err)
{
    uint8_t byte;
    const cip_range first = { .offset = 0, .nbytes = 1, .dst = &byte };
    if (f->version.size != 0)
        return cip_http_read(f, &first, 1, err);
    cip_http_request r = { .file = f, .asked = { .kind = CIP_HTTP_OPEN, .n = 1 }, .dst = &byte };
    const cip_status st = run_all(f->http, &r, 1, err);
    cip_mem_put(f->http->set.mem, r.led);
    if (st == CIP_OK && (r.got != 0 || r.answer.total != 0))
        return cip_fail(err, CIP_ERR_STALE, CIP_NO_OFFSET,
                        "file changed since open: it was empty then");
    return st;
}

cip_status cip_http_text(cip_http_file *f, void *dst, size_t n, size_t *got, cip_err *err)
{
    cip_http_request r = { .file = f, .asked = { .kind = CIP_HTTP_WHOLE, .n = n }, .dst = dst };
    cip_err own = CIP_ERR_INIT;
    const cip_status st = run_all(f->http, &r, 1, &own);
    *got = (size_t)r.got;
    if (st == CIP_ERR_UNSUPPORTED) /* what is said of files there does not help here */
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET,
                        "expected an answer of at most %zu bytes that are not compressed", n);
    return cip_err_give(err, &own, st);
}
