/* SPDX-License-Identifier: BSD-3-Clause
 * The sum of what goes out: a second thread of the pool works it out while the caller's writes.
 * Small writes are not worth waking one. */
#include "codec/checksum/checksum.h"
#include "space/make/alongside.h"
#include "space/make/encode.h"

enum { WORTH_A_THREAD = 1 << 17 };

struct cip_summed {
    cip_env *env;
    cip_out *under;
    cip_out out;
    cip_sum *sum;
};

typedef struct portion {
    cip_summed *s;
    const void *p;
    size_t n;
} portion;

static void add_to_sum(void *arg, size_t i)
{
    const portion *w = arg;
    (void)i;
    cip_sum_add(w->s->sum, w->p, w->n);
}

static cip_status write_out(void *arg, cip_err *err)
{
    const portion *w = arg;
    return cip_out_write(w->s->under, w->p, w->n, err);
}

static cip_status summed_write(void *user, const void *p, size_t n, cip_err *err)
{
    portion w = { user, p, n };
    if (n >= WORTH_A_THREAD)
        return cip_run_alongside(w.s->env->pool, 1, add_to_sum, write_out, &w, err);
    add_to_sum(&w, 0);
    return write_out(&w, err);
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
