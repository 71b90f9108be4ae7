/* SPDX-License-Identifier: BSD-3-Clause
 * What the codec files share. */
#include "codec/entropy/entropy.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/frames.h"

cip_status cip_fail_short(cip_err *err, uint64_t expected, uint64_t found)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected %" PRIu64 " decoded bytes, found %" PRIu64, expected, found);
}

cip_status cip_fail_long(cip_err *err, uint64_t expected)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected %" PRIu64 " decoded bytes, found more", expected);
}

static cip_status fail_truncated(cip_err *err)
{
    return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                    "expected more compressed data, found the end");
}

cip_status cip_step_end(const cip_flow *f, cip_err *err)
{
    const bool stuck = f->out_len != 0 && f->took == 0 && f->gave == 0;
    return f->last && !f->end && stuck ? fail_truncated(err) : CIP_OK;
}

bool cip_gate_pass(cip_frame_gate *g, uint32_t magic, const uint8_t *in, size_t n, size_t *took)
{
    *took = cip_min_u64(n, sizeof g->head - g->n);
    if (*took != 0)
        memcpy(g->head + g->n, in, *took);
    g->n = (uint8_t)(g->n + *took);
    if (g->n != sizeof g->head)
        return false;
    const uint32_t found = cip_load_u32(g->head, false);
    if (found != magic && (found & ~UINT32_C(15)) != CIP_SKIPPABLE_MAGIC)
        return false;
    g->n = 0;
    return true;
}

bool cip_gate_ends(const cip_frame_gate *g, bool last)
{
    return last || g->n == sizeof g->head;
}

/* Runs the stream to its end. Once dst is full it is given one spare byte, in which more data show
 * and beside which a trailer is still read. */
static cip_status run_whole(const cip_stream_codec *stream, void *state, cip_bytes src,
                            uint8_t *dst, size_t dst_len, cip_err *err)
{
    static const uint8_t none[1];
    cip_flow f = { .in = src.len != 0 ? src.ptr : none, .in_len = src.len, .last = true };
    size_t got = 0;
    while (!f.end) {
        uint8_t spare;
        bool full = got == dst_len;
        f.out = full ? &spare : dst + got;
        f.out_len = full ? 1 : dst_len - got;
        CIP_TRY(stream->step(state, &f, err));
        if (full && f.gave != 0)
            return cip_fail_long(err, dst_len);
        f.in += f.took;
        f.in_len -= f.took;
        got += f.gave;
    }
    if (got == dst_len)
        return CIP_OK;
    return src.len == 0 ? fail_truncated(err) : cip_fail_short(err, dst_len, got);
}

cip_status cip_decode_whole(const cip_stream_codec *stream, const cip_codec_env *env, cip_bytes src,
                            uint8_t *dst, size_t dst_len, cip_err *err)
{
    void *state = NULL;
    CIP_TRY(stream->begin(NULL, env, &state, err));
    cip_status st = run_whole(stream, state, src, dst, dst_len, err);
    stream->finish(state);
    return st;
}

void *cip_lib_get(cip_lib_mem *m, size_t items, size_t each)
{
    void *p = NULL;
    size_t n;
    cip_err why = CIP_ERR_INIT;
    cip_status st =
        cip_mul_overflow(items, each, &n)
            ? cip_fail(&why, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%zu items of %zu bytes", items, each)
            : cip_mem_get(m->mem, n, &p, &why);
    if (st != CIP_OK) { /* of several that a library asks for at once a later one may fit */
        m->why = st;
        m->err = why;
    }
    return p;
}

cip_status cip_lib_fail(const cip_lib_mem *m, cip_err *err)
{
    if (m->why == CIP_OK)
        return cip_fail(err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for a codec");
    cip_err_pass(err, &m->err);
    return m->why;
}

cip_status cip_check_level(int level, int min, int max, cip_err *err)
{
    if (level >= min && level <= max)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a level from %d to %d, found %d",
                    min, max, level);
}

cip_status cip_fail_room(cip_err *err, size_t cap)
{
    return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                    "expected room for the encoded data, found %zu bytes", cap);
}
