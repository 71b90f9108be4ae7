/* SPDX-License-Identifier: BSD-3-Clause
 * The pool: a list of batches, each a counter that callers and workers draw indices from.
 * Indices are drawn in rising order, so when one fails all lower ones have been drawn and will
 * finish: the error of the lowest failing index is the same with any number of threads. Where the
 * caller cancels, the jobs that run hear of it and may end, whatever their index. */
#include "base/pool.h"

#include "base/stop.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct batch {
    struct batch *next;
    cip_job_fn *fn;
    void *arg;
    size_t n;
    bool may_fail;         /* somebody hears of it, so its caller may stop it */
    _Atomic size_t drawn;  /* next index to run */
    _Atomic size_t failed; /* lowest failing index, or n */
    atomic_bool cancelled; /* by the caller: jobs that run may end, too */
    unsigned busy;         /* threads inside; guarded by the pool's lock */
    pthread_mutex_t lock;  /* guards st and err */
    cip_status st;
    cip_err err;
} batch;

struct cip_pool {
    pthread_mutex_t lock; /* guards batches, busy counts and stop */
    pthread_cond_t work;  /* a batch came, or stop */
    pthread_cond_t idle;  /* a batch's busy count fell to 0 */
    batch *batches;
    bool stop;
    pid_t owner; /* a child has the pool's memory, but not its threads, and locks as they were */
    unsigned nworker;
    pthread_t worker[];
};

enum { MAX_WORKERS = 256 };

static _Thread_local bool inside_job; /* nested calls run inline */

static void note_failure(batch *b, size_t i, cip_status st, const cip_err *err)
{
    if (st == CIP_ERR_CANCELLED)
        atomic_store_explicit(&b->cancelled, true, memory_order_relaxed);
    pthread_mutex_lock(&b->lock);
    if (i < atomic_load_explicit(&b->failed, memory_order_relaxed)) {
        atomic_store_explicit(&b->failed, i, memory_order_relaxed);
        b->st = st;
        b->err = *err;
    }
    pthread_mutex_unlock(&b->lock);
}

static void run_batch(batch *b)
{
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&b->drawn, 1, memory_order_relaxed);
        if (i >= b->n || i > atomic_load_explicit(&b->failed, memory_order_relaxed))
            return;
        cip_err err = CIP_ERR_INIT;
        cip_status st = cip_stop_ask(b->may_fail ? &err : NULL);
        if (st == CIP_OK)
            st = b->fn(b->arg, i, &err);
        if (st != CIP_OK)
            note_failure(b, i, st, &err);
    }
}

static int is_cancelled(void *user)
{
    return atomic_load_explicit(&((batch *)user)->cancelled, memory_order_relaxed);
}

static void *worker_main(void *arg)
{
    cip_pool *p = arg;
    inside_job = true;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        batch *b = p->batches; /* one that has work */
        while (b != NULL && atomic_load_explicit(&b->drawn, memory_order_relaxed) >= b->n)
            b = b->next;
        if (b == NULL) {
            pthread_cond_wait(&p->work, &p->lock);
            continue;
        }
        b->busy++;
        pthread_mutex_unlock(&p->lock);
        /* in a thread of the pool, which asks what the caller was told */
        const cip_stop before = cip_stop_set((cip_stop){ is_cancelled, b });
        run_batch(b);
        cip_stop_set(before);
        pthread_mutex_lock(&p->lock);
        if (--b->busy == 0)
            pthread_cond_broadcast(&p->idle);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

cip_status cip_pool_new(unsigned threads, cip_pool **out, cip_err *err)
{
    *out = NULL;
    unsigned want = threads;
    if (threads == 0) {
        const long n = sysconf(_SC_NPROCESSORS_ONLN);
        want = n < 1 ? 1 : n > MAX_WORKERS ? MAX_WORKERS : (unsigned)n;
    }
    if (want > MAX_WORKERS)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected at most %d threads, found %u",
                        MAX_WORKERS, threads);
    cip_pool *p = calloc(1, sizeof *p + want * sizeof(pthread_t));
    if (p == NULL)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for a pool of threads");
    p->owner = getpid();
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->idle, NULL);
    while (p->nworker < want - 1) {
        int e = pthread_create(&p->worker[p->nworker], NULL, worker_main, p);
        if (e != 0) {
            cip_pool_free(p);
            return cip_fail_errno(err, e, CIP_NO_OFFSET, "starting a thread");
        }
        p->nworker++;
    }
    *out = p;
    return CIP_OK;
}

void cip_pool_free(cip_pool *p)
{
    if (p == NULL)
        return;
    if (p->owner != getpid()) {
        free(p);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->nworker; i++)
        pthread_join(p->worker[i], NULL);
    pthread_cond_destroy(&p->idle);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

unsigned cip_pool_threads(const cip_pool *p)
{
    return p == NULL ? 1 : p->nworker + 1;
}

cip_pool *cip_pool_shared(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards pool and owner */
    static cip_pool *pool;
    pthread_mutex_lock(&lock);
    if (pool == NULL || pool->owner != getpid())
        cip_pool_new(0, &pool, NULL);
    cip_pool *p = pool;
    pthread_mutex_unlock(&lock);
    return p;
}

cip_status cip_pool_take(unsigned threads, cip_pool **own, cip_pool **pool, cip_err *err)
{
    *pool = threads == 0 ? cip_pool_shared() : NULL;
    if (threads <= 1)
        return CIP_OK;
    CIP_TRY(cip_pool_new(threads, own, err));
    *pool = *own;
    return CIP_OK;
}

static void enter(cip_pool *p, batch *b)
{
    pthread_mutex_lock(&p->lock);
    b->next = p->batches;
    p->batches = b;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
}

/* The caller waits for the last jobs, and goes on asking whether they should end. */
static void wait_idle(cip_pool *p, batch *b)
{
    enum { EACH = 20000000 }; /* nanoseconds */
    cip_err err = CIP_ERR_INIT;
    struct timespec until;
    if (!b->may_fail || !cip_stop_is_set()) {
        pthread_cond_wait(&p->idle, &p->lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += EACH;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    if (pthread_cond_timedwait(&p->idle, &p->lock, &until) != ETIMEDOUT)
        return;
    pthread_mutex_unlock(&p->lock); /* whoever answers may use the pool */
    if (cip_stop_ask(&err) != CIP_OK)
        note_failure(b, b->n - 1, CIP_ERR_CANCELLED, &err);
    pthread_mutex_lock(&p->lock);
}

static void leave(cip_pool *p, batch *b)
{
    pthread_mutex_lock(&p->lock);
    batch **at = &p->batches;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next; /* no further worker can find it */
    while (b->busy != 0)
        wait_idle(p, b);
    pthread_mutex_unlock(&p->lock);
}

cip_status cip_pool_run(cip_pool *p, size_t n, cip_job_fn *fn, void *arg, cip_err *err)
{
    if (n <= 1 || inside_job || p == NULL || p->nworker == 0 || p->owner != getpid()) {
        for (size_t i = 0; i < n; i++) { /* in a child too, where the parent's threads are not */
            CIP_TRY(cip_stop_ask(err));
            CIP_TRY(fn(arg, i, err));
        }
        return CIP_OK;
    }
    batch b = { .fn = fn, .arg = arg, .n = n, .may_fail = err != NULL, .st = CIP_OK };
    atomic_init(&b.drawn, 0);
    atomic_init(&b.failed, n);
    atomic_init(&b.cancelled, false);
    pthread_mutex_init(&b.lock, NULL);
    enter(p, &b);
    inside_job = true;
    run_batch(&b);
    inside_job = false;
    leave(p, &b);
    pthread_mutex_destroy(&b.lock);
    if (b.st != CIP_OK)
        cip_err_pass(err, &b.err);
    return b.st;
}
