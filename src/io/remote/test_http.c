/* SPDX-License-Identifier: BSD-3-Clause
 * Requests to a server in a thread of the test: many at once, from many threads, after a fork, of a
 * file that changes, to one that does not answer, stopped by the caller, without memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "io/remote/http.h"
#include "support/fail_alloc.h"

enum { N = 1 << 20, THREADS = 8 };

static cip_env env;
static uint8_t bytes[N];
static int listening;
static char url[64];
static _Atomic int version, nrequest, nsilent, at_once, most_at_once;

static void send_all(int fd, const void *p, size_t n)
{
    for (const char *at = p; n != 0;) {
        const ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        at += sent;
        n -= (size_t)sent;
    }
}

/* One answer. False: the connection ends. */
static bool answer(int fd, const char *request)
{
    char head[300];
    unsigned long a = 0, b = 0;
    const char *range = strstr(request, "Range: bytes=");
    if (strncmp(request, "GET /silent", 11) == 0) {
        char c;
        nsilent++;
        while (recv(fd, &c, 1, 0) > 0) /* until the client has had enough */
            ;
        return false;
    }
    if (range == NULL || sscanf(range, "Range: bytes=%lu-%lu", &a, &b) != 2 || a >= N)
        return false;
    b = b < N ? b : N - 1;
    const int now = atomic_fetch_add(&at_once, 1) + 1;
    for (int was = most_at_once;
         was < now && !atomic_compare_exchange_weak(&most_at_once, &was, now);)
        ;
    usleep(2000);
    snprintf(head, sizeof head,
             "HTTP/1.1 206 x\r\nContent-Length: %lu\r\nContent-Range: bytes %lu-%lu/%d\r\n"
             "ETag: \"%d\"\r\n\r\n",
             b - a + 1, a, b, N, version);
    send_all(fd, head, strlen(head));
    send_all(fd, bytes + a, b - a + 1);
    atomic_fetch_sub(&at_once, 1);
    return true;
}

static void *serve_one(void *user)
{
    const int fd = (int)(intptr_t)user;
    char request[4096];
    size_t n = 0;
    for (ssize_t got; (got = recv(fd, request + n, sizeof request - 1 - n, 0)) > 0;) {
        n += (size_t)got;
        request[n] = '\0';
        if (strstr(request, "\r\n\r\n") == NULL)
            continue;
        nrequest++;
        n = 0;
        if (!answer(fd, request))
            break;
    }
    close(fd);
    return NULL;
}

static void *serve(void *user)
{
    (void)user;
    for (int fd; (fd = accept(listening, NULL, NULL)) != -1;) {
        pthread_t t;
        pthread_create(&t, NULL, serve_one, (void *)(intptr_t)fd);
        pthread_detach(t);
    }
    return NULL;
}

static int begin(void **state)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    pthread_t t;
    (void)state;
    for (size_t i = 0; i < N; i++)
        bytes[i] = (uint8_t)(i * 13 + i / 256);
    listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listening, (struct sockaddr *)&at, len) != 0 || listen(listening, 128) != 0 ||
        getsockname(listening, (struct sockaddr *)&at, &len) != 0)
        return -1;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/a", ntohs(at.sin_port));
    static const char *const proxies[] = { "http_proxy", "all_proxy", "ALL_PROXY" };
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++)
        unsetenv(proxies[i]);
    return pthread_create(&t, NULL, serve, NULL);
}

static const cip_http_tuning tune = {
    .connect_ms = 2000,
    .slow_bytes = 100,
    .slow_seconds = 1,
    .tries = 3,
    .pause_ms = 1,
    .wait_most = 1,
    .piece = 10000,
};

static cip_status open_at(const char *at, cip_http_file *f, cip_err *err)
{
    const cip_kept_folder none = { .fd = -1 };
    cip_http *h;
    static uint8_t head[1000];
    size_t got = 0;
    bool folder;
    char region[CIP_HTTP_REGION];
    *f = (cip_http_file){ .http = NULL };
    CIP_TRY(cip_http_new(&env.mem, &tune, NULL, &none, &h, err));
    cip_status st = cip_http_file_new(h, at, f, err);
    cip_http_drop(h);
    if (st == CIP_OK)
        st = cip_http_open(f, head, sizeof head, &got, &folder, region, err);
    if (st == CIP_OK && (got != sizeof head || memcmp(head, bytes, got) != 0))
        st = CIP_ERR_CORRUPT;
    if (st != CIP_OK)
        cip_http_file_clear(f);
    return st;
}

/* Whether [off, off + n) is read right. */
static bool reads(cip_http_file *f, uint64_t off, size_t n, cip_status *st, cip_err *err)
{
    uint8_t *dst = malloc(n);
    const cip_range r = { off, n, dst };
    *st = cip_http_read(f, &r, 1, err);
    const bool same = *st == CIP_OK && memcmp(dst, bytes + off, n) == 0;
    free(dst);
    return same;
}

static int setup(void **state)
{
    (void)state;
    return (int)cip_env_init(&env, NULL, NULL, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    const size_t left = (size_t)env.mem.used;
    cip_env_clear(&env);
    return left != 0;
}

static void large_ranges_are_asked_for_in_pieces_together(void **state)
{
    (void)state;
    cip_http_file f;
    cip_status st;
    assert_int_equal(open_at(url, &f, NULL), CIP_OK);
    assert_true(f.version.size == N);
    nrequest = most_at_once = 0;
    assert_true(reads(&f, 5, N - 6, &st, NULL));
    assert_int_equal(nrequest, (N - 6 + 9999) / 10000);
    assert_true(most_at_once > 1 && most_at_once <= CIP_HTTP_AT_ONCE);
    cip_http_file_clear(&f);
}

typedef struct reader {
    cip_http_file *f;
    unsigned seed;
    bool failed;
} reader;

static void *read_much(void *user)
{
    reader *r = user;
    for (int i = 0; i < 20; i++) {
        cip_status st;
        const uint64_t off = (uint64_t)rand_r(&r->seed) % (N - 50000);
        r->failed = r->failed || !reads(r->f, off, 1 + (size_t)rand_r(&r->seed) % 50000, &st, NULL);
    }
    return NULL;
}

static void many_threads_and_a_fork_read_the_same_file(void **state)
{
    (void)state;
    cip_http_file f;
    pthread_t t[THREADS];
    reader r[THREADS];
    cip_status st;
    int status;
    assert_int_equal(open_at(url, &f, NULL), CIP_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        r[i] = (reader){ &f, i, false };
        assert_int_equal(pthread_create(&t[i], NULL, read_much, &r[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        assert_false(r[i].failed);
    }
    const pid_t child = fork();
    if (child == 0)
        _exit(reads(&f, 1000, 100000, &st, NULL) ? 0 : 1);
    for (int i = 0; i < 10; i++)
        assert_true(reads(&f, 3000, 100000, &st, NULL));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cip_http_file_clear(&f);
}

static void another_version_is_stale(void **state)
{
    (void)state;
    cip_http_file f;
    cip_status st;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(open_at(url, &f, NULL), CIP_OK);
    assert_int_equal(cip_http_unchanged(&f, NULL), CIP_OK);
    version++;
    assert_false(reads(&f, 5, 100000, &st, &err));
    assert_int_equal(st, CIP_ERR_STALE);
    assert_non_null(strstr(err.text, "file changed since open"));
    assert_int_equal(cip_http_unchanged(&f, NULL), CIP_ERR_STALE);
    cip_http_file_clear(&f);
}

static void a_server_that_does_not_answer_is_given_up(void **state)
{
    (void)state;
    char silent[100];
    cip_http_file f;
    cip_err err = CIP_ERR_INIT;
    snprintf(silent, sizeof silent, "%.*s/silent", (int)(strlen(url) - 2), url);
    nsilent = 0; /* requests of another kind, that were given up, may still arrive */
    assert_int_equal(open_at(silent, &f, &err), CIP_ERR_IO);
    assert_non_null(strstr(err.text, "too slow, or does not answer"));
    assert_int_equal(nsilent, 2);
}

static int stop_soon(void *user)
{
    return --*(int *)user < 0;
}

static void a_request_can_be_stopped(void **state)
{
    (void)state;
    char silent[100];
    cip_http_file f;
    cip_err err = CIP_ERR_INIT;
    int left = 3;
    snprintf(silent, sizeof silent, "%.*s/silent", (int)(strlen(url) - 2), url);
    const cip_stop was = cip_stop_set((cip_stop){ stop_soon, &left });
    assert_int_equal(open_at(silent, &f, &err), CIP_ERR_CANCELLED);
    cip_stop_set(was);
}

static void without_memory_requests_fail(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc fa = { .fail_at = n };
        cip_allocator alloc = { fail_alloc_resize, &fa };
        cip_http_file f;
        cip_status st = CIP_OK;
        cip_env_clear(&env);
        assert_int_equal(cip_env_init(&env, NULL, &alloc, NULL, NULL), CIP_OK);
        cip_status opened = open_at(url, &f, NULL);
        const bool read = opened == CIP_OK && reads(&f, 7, 50000, &st, NULL);
        cip_http_file_clear(&f);
        assert_true(env.mem.used == 0);
        assert_int_equal(fa.held, 0);
        if (fa.requests < n) {
            assert_true(read);
            break;
        }
        if (read) /* it could do without */
            continue;
        assert_int_equal(opened != CIP_OK ? opened : st, CIP_ERR_NOMEM);
        assert_true(n < 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(large_ranges_are_asked_for_in_pieces_together, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(many_threads_and_a_fork_read_the_same_file, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(another_version_is_stale, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_does_not_answer_is_given_up, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_can_be_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_requests_fail, setup, teardown),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
