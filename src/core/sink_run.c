/* SPDX-License-Identifier: BSD-3-Clause
 * Streams planned reads into a sink: cast to the sink's type, cut in its chunks, encoded. */
#include "core/sink_run.h"

#include <string.h>

#include "base/num.h"

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

typedef struct run {
    const cip_sink_job *job;
    const cip_sink *sink;
    void *w;
    uint64_t done, total; /* bytes as they are in the source */
} run;

static cip_status tell(run *r, uint64_t more, cip_err *err)
{
    r->done += more;
    if (r->job->progress != NULL && r->job->progress(r->job->user, r->done, r->total) != 0)
        return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
    return CIP_OK;
}

/* Encodes a chunk where the sink asked for it, and hands it over. */
static cip_status hand_over(run *r, const cip_plan *plan, size_t array, uint64_t i, cip_bytes raw,
                            cip_err *err)
{
    if (plan->codec == NULL)
        return r->sink->chunk(r->w, array, i, raw, raw.len, err);
    cip_status st;
    cip_mem *mem = &r->job->env->mem;
    cip_codec_env env = { .mem = mem, .typesize = plan->dtype->itemsize };
    void *dst = NULL;
    size_t cap, n;
    if (plan->codec->encode == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot be written",
                        plan->codec->name);
    cap = plan->codec->bound(raw.len);
    CIP_GO(cip_mem_get(mem, cap, &dst, err));
    CIP_GO(plan->codec->encode(NULL, &env, plan->level, raw, dst, cap, &n, err));
    st = r->sink->chunk(r->w, array, i, (cip_bytes){ dst, n }, raw.len, err);
done:
    cip_mem_put(mem, dst);
    return st;
}

static uint64_t chunk_elems(const cip_plan *plan, const cip_read_plan *p)
{
    uint64_t each = plan->dtype->itemsize;
    if (plan->chunk_nbytes == UINT64_MAX)
        return cip_max_u64(1, p->nelem);
    if (plan->chunk_nbytes == 0 || each == 0)
        return cip_piece_elems(each);
    return cip_max_u64(1, plan->chunk_nbytes / each);
}

static cip_status write_parts(run *r, const cip_plan *plan, size_t array, cip_read_plan *p,
                              cip_err *err)
{
    cip_status st = CIP_OK;
    cip_parts it;
    cip_part part;
    void *buf = NULL;
    size_t nbytes;
    uint64_t each = plan->dtype->itemsize, most = cip_min_u64(chunk_elems(plan, p), p->nelem);
    if (cip_mul_overflow(most, each, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of over 2^64 bytes");
    CIP_TRY(cip_mem_get(&r->job->env->mem, nbytes, &buf, err));
    cip_parts_start(&it, p, chunk_elems(plan, p));
    for (uint64_t i = 0; cip_parts_next(&it, &part); i++) {
        cip_bytes raw = { buf, (size_t)(part.nelem * each) };
        CIP_GO(cip_read_plan_fetch(p, &part, buf, err));
        CIP_GO(hand_over(r, plan, array, i, raw, err));
        CIP_GO(tell(r, part.nelem * p->stored->itemsize, err));
    }
done:
    cip_mem_put(&r->job->env->mem, buf);
    return st;
}

static cip_status write_once(run *r, const cip_plan *plan, size_t array, cip_err *err)
{
    cip_read_plan p = r->job->plan[array]; /* the same elements, as the sink stores them */
    p.to = plan->dtype;
    CIP_TRY(cip_cast_make(p.take_mask ? p.to : p.stored, p.to, p.cast.policy, &p.cast, err));
    if (p.nelem == 0 && plan->chunk_nbytes == UINT64_MAX)
        return hand_over(r, plan, array, 0, (cip_bytes){ (const uint8_t *)"", 0 }, err);
    cip_status st = write_parts(r, plan, array, &p, err);
    return cip_fail_in(err, st, "%s", p.array->path);
}

/* A sink may want the data once more: those that do not become smaller are stored as they are. */
static cip_status write_array(run *r, const cip_plan *plan, size_t array, cip_err *err)
{
    bool again = false;
    uint64_t before = r->done;
    if (r->job->spec.array[array].is_view)
        return CIP_OK;
    CIP_TRY(write_once(r, plan, array, err));
    if (r->sink->end == NULL)
        return CIP_OK;
    CIP_TRY(r->sink->end(r->w, array, &again, err));
    if (!again)
        return CIP_OK;
    r->total += r->done - before; /* they are read twice */
    CIP_TRY(write_once(r, plan, array, err));
    return r->sink->end(r->w, array, NULL, err);
}

cip_status cip_sink_run(const cip_sink_job *job, cip_out *out, cip_patch *patch, cip_err *err)
{
    cip_status st;
    cip_arena arena = { .mem = &job->env->mem };
    cip_plan *plan = NULL;
    run r = { .job = job, .sink = job->format->sink };
    for (size_t i = 0; i < job->spec.narray; i++)
        if (!job->spec.array[i].is_view)
            r.total += job->plan[i].nelem * job->plan[i].stored->itemsize;
    CIP_GO(CIP_ARENA_NEW(&arena, &plan, job->spec.narray, err));
    CIP_GO(r.sink->begin(job->env, &arena, &job->spec, out, plan, &r.w, err));
    for (size_t i = 0; i < job->spec.narray; i++)
        CIP_GO(write_array(&r, &plan[i], i, err));
    st = r.sink->finish(r.w, patch, err);
done:
    if (r.w != NULL && r.sink->clear != NULL)
        r.sink->clear(r.w);
    cip_arena_clear(&arena);
    return st;
}
