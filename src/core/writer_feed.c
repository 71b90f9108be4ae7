/* SPDX-License-Identifier: BSD-3-Clause
 * Data on their way to a sink: from memory, a temporary file or an open file; cast, cut, encoded.
 */
#include <string.h>

#include "base/num.h"
#include "core/writer.h"

/* --- walking a source ---------------------------------------------------------------------------
 */

typedef struct walk {
    const cip_source *s;
    cip_cast cast;
    uint64_t most;
    uint8_t *in, *out; /* buffers for `most` elements; NULL where none is needed */
    cip_source_fn *fn;
    void *user;
} walk;

static cip_status walk_linear(walk *w, cip_err *err)
{
    cip_cast_stats stats = { 0, 0 };
    const cip_dtype *from = w->cast.from, *to = w->cast.to;
    for (uint64_t at = 0; at < w->s->nelem; at += w->most) {
        uint64_t n = cip_min_u64(w->most, w->s->nelem - at);
        const uint8_t *p = w->s->mem != NULL ? w->s->mem + at * from->itemsize : w->in;
        if (w->in != NULL)
            CIP_TRY(cip_io_read(w->s->io, at * from->itemsize, w->in, (size_t)(n * from->itemsize),
                                err));
        if (w->out != NULL) {
            cip_cast_run(&w->cast, (size_t)n, p, (int64_t)from->itemsize, w->out,
                         (int64_t)to->itemsize, at, &stats);
            CIP_TRY(cip_cast_check(&w->cast, &stats, err));
            p = w->out;
        }
        CIP_TRY(w->fn(w->user, (cip_bytes){ p, (size_t)(n * to->itemsize) }, err));
    }
    return CIP_OK;
}

static cip_status walk_plan(walk *w, const cip_read_plan *p, cip_err *err)
{
    cip_parts it;
    cip_part part;
    cip_parts_start(&it, p, w->most);
    while (cip_parts_next(&it, &part)) {
        CIP_TRY(cip_read_plan_fetch(p, &part, w->out, err));
        cip_bytes elems = { w->out, (size_t)(part.nelem * p->to->itemsize) };
        CIP_TRY(w->fn(w->user, elems, err));
    }
    return CIP_OK;
}

static cip_status buffer(cip_env *env, uint64_t n, uint64_t each, uint8_t **out, cip_err *err)
{
    size_t nbytes;
    if (cip_mul_overflow(n, each, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of over 2^64 bytes");
    return cip_mem_get(&env->mem, nbytes, (void **)out, err);
}

cip_status cip_source_walk(cip_env *env, const cip_source *s, const cip_dtype *to, uint64_t most,
                           cip_source_fn *fn, void *user, cip_err *err)
{
    cip_status st;
    cip_read_plan p;
    walk w = { .s = s, .fn = fn, .user = user };
    const cip_dtype *from = s->plan != NULL ? s->plan->stored : s->dtype;
    bool mask = s->plan != NULL && s->plan->take_mask;
    w.most = cip_max_u64(1, cip_min_u64(most, s->nelem));
    CIP_TRY(cip_cast_make(mask ? to : from, to, s->policy, &w.cast, err));
    if (s->io != NULL)
        CIP_GO(buffer(env, w.most, from->itemsize, &w.in, err));
    if (s->plan != NULL || !cip_cast_is_copy(&w.cast))
        CIP_GO(buffer(env, w.most, to->itemsize, &w.out, err));
    if (s->plan == NULL) {
        st = walk_linear(&w, err);
        goto done;
    }
    p = *s->plan; /* the same elements as another type */
    p.to = to;
    p.cast = w.cast;
    st = walk_plan(&w, &p, err);
done:
    cip_mem_put(&env->mem, w.in);
    cip_mem_put(&env->mem, w.out);
    return st;
}

/* --- into the sink ------------------------------------------------------------------------------
 */

typedef struct feed {
    cip_writer *w;
    const cip_plan *plan;
    size_t index;
    uint64_t chunk;
} feed;

static cip_status hand_over(void *user, cip_bytes raw, cip_err *err)
{
    feed *f = user;
    const cip_sink *sink = f->w->format->sink;
    const cip_codec *codec = f->plan->codec;
    if (codec == NULL)
        return sink->chunk(f->w->sink, f->index, f->chunk++, raw, raw.len, err);
    cip_status st;
    cip_mem *mem = &f->w->env.mem;
    cip_codec_env env = { .mem = mem, .typesize = f->plan->dtype->itemsize };
    void *dst = NULL;
    size_t cap, n;
    if (codec->encode == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot be written",
                        codec->name);
    cap = codec->bound(raw.len);
    CIP_GO(cip_mem_get(mem, cap, &dst, err));
    CIP_GO(codec->encode(NULL, &env, f->plan->level, raw, dst, cap, &n, err));
    st = sink->chunk(f->w->sink, f->index, f->chunk++, (cip_bytes){ dst, n }, raw.len, err);
done:
    cip_mem_put(mem, dst);
    return st;
}

enum { DIRECT = 64 << 20 }; /* bytes of memory handed on as they are */

static uint64_t chunk_elems(const cip_plan *plan, const cip_source *from)
{
    uint64_t each = plan->dtype->itemsize;
    bool direct = from->mem != NULL && cip_dtype_same_bytes(from->dtype, plan->dtype);
    if (plan->chunk_nbytes == UINT64_MAX)
        return from->nelem;
    if (plan->chunk_nbytes == 0 && direct && each != 0)
        return cip_max_u64(1, DIRECT / each);
    if (plan->chunk_nbytes == 0 || each == 0)
        return cip_piece_elems(each);
    return plan->chunk_nbytes / each;
}

static cip_status run_once(feed *f, const cip_source *from, cip_err *err)
{
    f->chunk = 0;
    if (from->nelem == 0 && f->plan->chunk_nbytes == UINT64_MAX)
        return hand_over(f, (cip_bytes){ (const uint8_t *)"", 0 }, err);
    cip_source s = *from;
    s.policy = f->w->o.accept_loss ? CIP_OVERFLOW_CLAMP : CIP_OVERFLOW_ERROR;
    return cip_source_walk(&f->w->env, &s, f->plan->dtype, chunk_elems(f->plan, from), hand_over, f,
                           err);
}

cip_status cip_source_run(cip_writer *w, size_t index, const cip_plan *plan, const cip_source *from,
                          cip_err *err)
{
    const cip_sink *sink = w->format->sink;
    feed f = { .w = w, .plan = plan, .index = index };
    bool again;
    do {
        again = false;
        if (from != NULL)
            CIP_TRY(run_once(&f, from, err));
        if (sink->end != NULL)
            CIP_TRY(sink->end(w->sink, index, from != NULL ? &again : NULL, err));
    } while (again);
    return CIP_OK;
}
