/* SPDX-License-Identifier: BSD-3-Clause
 * All arrays of a conversion, one after the other, into a store from its begin to its finish. */
#include "core/writing/sink_run.h"

cip_status cip_sink_spec(cip_sink_job *job, cip_arena *a, cip_err *err)
{
    cip_spec_array *s;
    CIP_TRY(CIP_ARENA_NEW(a, &s, job->spec.narray, err));
    for (size_t i = 0; i < job->spec.narray; i++) {
        const cip_read_plan *p = &job->plan[i];
        s[i] = (cip_spec_array){ .path = p->array->path,
                                 .dtype = p->to,
                                 .ndim = p->from.ndim,
                                 .shape = p->from.shape,
                                 .mask = -1,
                                 .masked = cip_plan_is_masked(p) && !p->take_mask };
    }
    job->spec.array = s;
    return CIP_OK;
}

/* What convert and export give the store of an array: the read plan's elements; a view, none. */
static const cip_source *source_of(const cip_sink_job *job, size_t i, cip_source *s)
{
    const cip_read_plan *p = &job->plan[i];
    *s = (cip_source){ .nelem = p->nelem, .plan = p, .policy = p->cast.policy };
    return job->spec.array[i].is_view ? NULL : s;
}

cip_status cip_sink_run(const cip_sink_job *job, cip_out *out, cip_revision *r, cip_err *err)
{
    cip_status st;
    cip_arena arena = { .mem = &job->env->mem };
    cip_array_form *form = NULL;
    cip_source s;
    cip_engine e = {
        .env = job->env, .store = job->format->store, .progress = job->progress, .user = job->user
    };
    for (size_t i = 0; i < job->spec.narray; i++)
        e.total += source_of(job, i, &s) != NULL ? cip_source_nbytes(&s) : 0;
    CIP_GO(CIP_ARENA_NEW(&arena, &form, job->spec.narray, err));
    const cip_store_begin b = {
        .env = job->env, .arena = &arena, .spec = &job->spec, .out = out, .form = form
    };
    CIP_GO(e.store->begin(&b, &e.state, err));
    for (size_t i = 0; i < job->spec.narray; i++)
        CIP_GO(cip_fail_in(err, cip_engine_put(&e, i, &form[i], source_of(job, i, &s), err), "%s",
                           job->plan[i].array->path));
    st = e.store->finish(e.state, r, err);
done:
    if (e.state != NULL && e.store->clear != NULL)
        e.store->clear(e.state);
    cip_arena_clear(&arena);
    return st;
}
