/* SPDX-License-Identifier: BSD-3-Clause
 * The sum of what goes out: a second thread of the pool works it out while the caller's writes.
 * Small writes are not worth waking one. */
#include <pthread.h>
#include <stdatomic.h>

#include "codec/checksum/checksum.h"
#include "space/encode.h"

enum { WORTH_A_THREAD = 1 << 17 };

struct cip_summed {
    cip_env *env;
    cip_out *under;
    cip_out out;
    cip_sum *sum;
};

typedef struct both {
    cip_summed *s;
    const void *p;
    size_t n;
    pthread_t caller;
    atomic_flag summed;
    bool wrote; /* the caller's alone, as are st and err */
    cip_status st;
    cip_err err;
} both;

static void write_once(both *b)
{
    if (b->wrote)
        return;
    b->wrote = true;
    b->st = cip_out_write(b->s->under, b->p, b->n, &b->err);
}

/* Not told by the index: the output sees no thread but the caller's, which writes first. */
static cip_status job(void *arg, size_t i, cip_err *err)
{
    (void)i, (void)err;
    both *b = arg;
    if (pthread_equal(pthread_self(), b->caller) && !b->wrote)
        write_once(b);
    else if (!atomic_flag_test_and_set(&b->summed))
        cip_sum_add(b->s->sum, b->p, b->n);
    return CIP_OK;
}

static cip_status summed_write(void *user, const void *p, size_t n, cip_err *err)
{
    cip_summed *s = user;
    if (n < WORTH_A_THREAD) {
        cip_sum_add(s->sum, p, n);
        return cip_out_write(s->under, p, n, err);
    }
    both b = { .s = s, .p = p, .n = n, .caller = pthread_self(), .err = CIP_ERR_INIT };
    atomic_flag_clear(&b.summed);
    CIP_TRY(cip_pool_run(s->env->pool, 2, job, &b, err));
    write_once(&b);
    if (b.st != CIP_OK && err != NULL)
        *err = b.err;
    return b.st;
}

cip_status cip_summed_new(cip_env *env, int sum_id, cip_out *under, cip_summed **out, cip_err *err)
{
    *out = NULL;
    cip_summed *s;
    CIP_TRY(CIP_NEW(&env->mem, &s, 1, err));
    *s = (cip_summed){ .env = env, .under = under };
    s->out = (cip_out){ .write = summed_write, .user = s };
    cip_status st = cip_sum_new(&env->mem, (cip_sum_id)sum_id, &s->sum, err);
    if (st != CIP_OK)
        cip_mem_put(&env->mem, s);
    else
        *out = s;
    return st;
}

cip_out *cip_summed_out(cip_summed *s)
{
    return &s->out;
}

cip_status cip_summed_finish(cip_summed *s, uint8_t *sum, cip_err *err)
{
    (void)err;
    cip_sum_take(s->sum, sum);
    return CIP_OK;
}

void cip_summed_free(cip_summed *s)
{
    if (s == NULL)
        return;
    cip_sum_free(s->sum);
    cip_mem_put(&s->env->mem, s);
}
