/* SPDX-License-Identifier: BSD-3-Clause
 * What to do is drawn by whoever comes, not told by the pool's index, which comes to any thread. */
#include "space/make/alongside.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct both {
    void (*job)(void *arg, size_t i);
    cip_status (*own)(void *arg, cip_err *err);
    void *arg;
    size_t n;
    _Atomic size_t drawn;
    pthread_t caller;
    bool ran; /* own; the caller's alone, as are st and err */
    cip_status st;
    cip_err err;
} both;

static void run_own(both *b)
{
    if (!b->ran)
        b->st = b->own(b->arg, &b->err);
    b->ran = true;
}

static cip_status draw(void *arg, size_t index, cip_err *err)
{
    both *b = arg;
    (void)index, (void)err;
    if (pthread_equal(pthread_self(), b->caller) && !b->ran) {
        run_own(b);
        return CIP_OK;
    }
    size_t i = atomic_fetch_add_explicit(&b->drawn, 1, memory_order_relaxed);
    if (i < b->n)
        b->job(b->arg, i);
    return CIP_OK;
}

cip_status cip_run_alongside(cip_pool *pool, size_t n, void (*job)(void *arg, size_t i),
                             cip_status (*own)(void *arg, cip_err *err), void *arg, cip_err *err)
{
    both b = { .job = job, .own = own, .arg = arg, .n = n, .caller = pthread_self() };
    b.err = (cip_err)CIP_ERR_INIT;
    atomic_init(&b.drawn, 0);
    CIP_TRY(cip_pool_run(pool, n + 1, draw, &b, err));
    run_own(&b);
    if (b.st != CIP_OK)
        cip_err_pass(err, &b.err);
    return b.st;
}
