/* SPDX-License-Identifier: BSD-3-Clause
 * The fake codecs: each has one awkward property that a real one has too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "support/fake/fake.h"

/* --- delta: blocks need the first one -------------------------------------------------------- */

enum { HEAD = 8 };

static cip_status delta_head(cip_bytes head, uint64_t raw_len, uint32_t *block, cip_err *err)
{
    if (head.len < HEAD)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET, "a header of %zu bytes", head.len);
    *block = cip_load_u32(head.ptr, false);
    if (*block == 0 || cip_load_u32(head.ptr + 4, false) != raw_len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "a header that does not fit");
    return CIP_OK;
}

static cip_status delta_needs(const void *args, const cip_codec_env *env, cip_bytes head,
                              const cip_wants *w, cip_needs *out, cip_err *err)
{
    uint32_t block;
    (void)args;
    (void)env;
    CIP_TRY(delta_head(head, w->raw_len, &block, err));
    out->at[out->n++] = (cip_need){ 0, HEAD + cip_min_u64(block, w->raw_len) };
    for (size_t i = w->n; i-- > 0;) { /* from the last on, so that sorting is not ours */
        if (w->at[i].len == 0)
            continue;
        uint64_t lo = w->at[i].off / block * block;
        uint64_t hi =
            cip_min_u64(cip_div_up(w->at[i].off + w->at[i].len, block) * block, w->raw_len);
        if (out->n == out->max)
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "too many blocks");
        out->at[out->n++] = (cip_need){ HEAD + lo, hi - lo };
    }
    return CIP_OK;
}

/* The stored byte at `off`, if it is among those at hand. */
static bool at_hand(const cip_stored *s, uint64_t off, uint8_t *out)
{
    for (size_t i = 0; i < s->n; i++)
        if (off >= s->at[i].off && off - s->at[i].off < s->at[i].len) {
            *out = s->ptr[i][off - s->at[i].off];
            return true;
        }
    return false;
}

static cip_status delta_byte(const cip_stored *s, uint32_t block, uint64_t pos, uint8_t *out,
                             cip_err *err)
{
    uint8_t own, first = 0;
    if (!at_hand(s, HEAD + pos, &own) || (pos >= block && !at_hand(s, HEAD + pos % block, &first)))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "byte %" PRIu64 " is not at hand",
                        pos);
    *out = own ^ first;
    return CIP_OK;
}

static cip_status delta_decode_spans(const void *args, const cip_codec_env *env,
                                     const cip_stored *src, const cip_wants *w, cip_err *err)
{
    uint8_t head[HEAD];
    uint32_t block;
    (void)args;
    (void)env;
    for (size_t i = 0; i < HEAD; i++)
        if (!at_hand(src, i, &head[i]))
            return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET, "no header");
    CIP_TRY(delta_head((cip_bytes){ head, HEAD }, w->raw_len, &block, err));
    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; k < w->at[i].len; k++)
            CIP_TRY(delta_byte(src, block, w->at[i].off + k, w->at[i].dst + k, err));
    return CIP_OK;
}

static cip_status delta_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t dst_len, cip_err *err)
{
    cip_need all = { 0, src.len };
    cip_stored s = { .total = src.len, .n = 1, .at = &all, .ptr = &src.ptr };
    cip_want want = { .off = 0, .len = dst_len, .dst = dst };
    if (src.len != dst_len + HEAD)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected %zu bytes, found %zu",
                        dst_len + HEAD, src.len);
    return delta_decode_spans(args, env, &s, &(cip_wants){ &want, 1, dst_len }, err);
}

const cip_codec fake_delta = { .name = "fake delta",
                               .decode = delta_decode,
                               .head_len = HEAD,
                               .needs = delta_needs,
                               .decode_spans = delta_decode_spans };

/* --- trickle: nothing but a stream ----------------------------------------------------------- */

enum { STEP = 7, END_MARK = 4 };

typedef struct trickle {
    cip_mem *mem;
    uint8_t held[END_MARK]; /* the last bytes seen: data, unless nothing follows */
    size_t nheld;
} trickle;

static cip_status trickle_begin(const void *args, const cip_codec_env *env, void **state,
                                cip_err *err)
{
    trickle *t;
    (void)args;
    *state = NULL;
    CIP_TRY(CIP_NEW(env->mem, &t, 1, err));
    t->mem = env->mem;
    *state = t;
    return CIP_OK;
}

static cip_status trickle_step(void *state, cip_flow *f, cip_err *err)
{
    trickle *t = state;
    size_t took = 0, gave = 0;
    while (took < f->in_len && took < STEP) {
        if (t->nheld == END_MARK) {
            if (gave == f->out_len)
                break;
            f->out[gave++] = t->held[0] ^ 0x5A;
            memmove(t->held, t->held + 1, --t->nheld);
        }
        t->held[t->nheld++] = f->in[took++];
    }
    f->took = took;
    f->gave = gave;
    if (!f->last || took != f->in_len || gave != 0)
        return CIP_OK;
    f->end = t->nheld == END_MARK && memcmp(t->held, "END.", END_MARK) == 0;
    return f->end ? CIP_OK : cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET, "no end mark");
}

static void trickle_finish(void *state)
{
    trickle *t = state;
    if (t != NULL)
        cip_mem_put(t->mem, t);
}

static const cip_stream_codec trickle_stream = { .begin = trickle_begin,
                                                 .step = trickle_step,
                                                 .finish = trickle_finish };

static cip_status trickle_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                                 uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args;
    (void)env;
    if (src.len < END_MARK || memcmp(src.ptr + src.len - END_MARK, "END.", END_MARK) != 0)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET, "no end mark");
    if (src.len != dst_len + END_MARK)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected %zu bytes, found %zu",
                        dst_len, src.len - END_MARK);
    for (size_t i = 0; i < dst_len; i++)
        dst[i] = src.ptr[i] ^ 0x5A;
    return CIP_OK;
}

const cip_codec fake_trickle = { .name = "fake trickle",
                                 .decode = trickle_decode,
                                 .stream = &trickle_stream };

/* --- turned: the last byte first -------------------------------------------------------------- */

static cip_status turned_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                                uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args;
    (void)env;
    if (src.len != dst_len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected %zu bytes, found %zu",
                        dst_len, src.len);
    for (size_t i = 0; i < dst_len; i++)
        dst[i] = src.ptr[dst_len - 1 - i];
    return CIP_OK;
}

const cip_codec fake_turned = { .name = "fake turned", .decode = turned_decode };

/* --- blocks: needs the shapes ---------------------------------------------------------------- */

/* Calls fn for each element: where it lies in C order, and where among the blocks. */
static void walk_blocks(const cip_codec_env *env, void (*fn)(void *, size_t, size_t), void *user)
{
    int64_t at[CIP_MAX_NDIM] = { 0 }, base[CIP_MAX_NDIM] = { 0 };
    size_t n = 0;
    for (;;) { /* base: a block's first element; at: one in the block */
        size_t c = 0;
        for (int32_t k = 0; k < env->ndim; k++)
            c = c * (size_t)env->chunk[k] + (size_t)(base[k] + at[k]);
        fn(user, c, n++);
        int32_t k = env->ndim - 1;
        for (; k >= 0; at[k--] = 0)
            if (++at[k] < env->block[k] && base[k] + at[k] < env->chunk[k])
                break;
        if (k >= 0)
            continue;
        for (k = env->ndim - 1; k >= 0; base[k--] = 0)
            if ((base[k] += env->block[k]) < env->chunk[k])
                break;
        if (k < 0)
            return;
    }
}

typedef struct mover {
    size_t size;
    const uint8_t *src;
    uint8_t *dst;
} mover;

static void to_c_order(void *user, size_t c, size_t blocks)
{
    mover *m = user;
    memcpy(m->dst + c * m->size, m->src + blocks * m->size, m->size);
}

static void from_c_order(void *user, size_t c, size_t blocks)
{
    mover *m = user;
    memcpy(m->dst + blocks * m->size, m->src + c * m->size, m->size);
}

static cip_status blocks_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                                uint8_t *dst, size_t dst_len, cip_err *err)
{
    mover m = { (size_t)env->typesize, src.ptr, dst };
    uint64_t n = env->typesize;
    (void)args;
    for (int32_t k = 0; k < env->ndim; k++)
        n *= (uint64_t)env->chunk[k];
    if (n != dst_len || src.len != dst_len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a chunk of %zu bytes, found %" PRIu64 " and %zu", dst_len, n,
                        src.len);
    walk_blocks(env, to_c_order, &m);
    return CIP_OK;
}

const cip_codec fake_blocks = { .name = "fake blocks", .decode = blocks_decode };

/* --- key: its arguments matter ---------------------------------------------------------------- */

_Atomic size_t fake_key_used;

static cip_status key_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                             uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)env;
    if (src.len != dst_len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected %zu bytes, found %zu",
                        dst_len, src.len);
    fake_key_used++;
    for (size_t i = 0; i < dst_len; i++)
        dst[i] = src.ptr[i] ^ *(const uint8_t *)args;
    return CIP_OK;
}

static size_t key_bound(size_t n)
{
    return n;
}

static cip_status key_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                             cip_dst *out, cip_err *err)
{
    (void)level;
    out->len = src.len;
    return key_decode(args, env, src, out->ptr, out->cap < src.len ? out->cap : src.len, err);
}

const cip_codec fake_key = {
    .name = "fake key", .decode = key_decode, .bound = key_bound, .encode = key_encode
};

static cip_status never_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t dst_len, cip_err *err)
{
    (void)args, (void)env, (void)src, (void)dst, (void)dst_len;
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "it never decodes");
}

const cip_codec fake_never = { .name = "fake never", .decode = never_decode };

/* --- the other way --------------------------------------------------------------------------- */

static fake_bytes encode_delta(fake *f, const uint8_t *raw, size_t n)
{
    fake_bytes out = { fake_keep(f, n + HEAD), n + HEAD };
    size_t block = (size_t)fake_pick(f, 1, n / 3 + 1);
    cip_store_u32(out.ptr, (uint32_t)block, false);
    cip_store_u32(out.ptr + 4, (uint32_t)n, false);
    for (size_t i = 0; i < n; i++)
        out.ptr[HEAD + i] = raw[i] ^ (i < block ? 0 : raw[i % block]);
    return out;
}

static fake_bytes encode_trickle(fake *f, const uint8_t *raw, size_t n)
{
    fake_bytes out = { fake_keep(f, n + END_MARK), n + END_MARK };
    for (size_t i = 0; i < n; i++)
        out.ptr[i] = raw[i] ^ 0x5A;
    memcpy(out.ptr + n, "END.", END_MARK);
    return out;
}

static fake_bytes encode_real(fake *f, const cip_codec *c, const cip_codec_env *env,
                              const uint8_t *raw, size_t n)
{
    cip_dst out = { fake_keep(f, c->bound(n)), c->bound(n), 0 };
    cip_codec_env own = *env;
    own.mem = &f->env.mem;
    FAKE_MUST(c->encode(NULL, &own, 1, (cip_bytes){ raw, n }, &out, err));
    return (fake_bytes){ out.ptr, out.len };
}

fake_bytes fake_encode(fake *f, const cip_codec *c, const cip_codec_env *env, const uint8_t *raw,
                       size_t n)
{
    if (c == &fake_delta)
        return encode_delta(f, raw, n);
    if (c == &fake_trickle)
        return encode_trickle(f, raw, n);
    if (c->encode != NULL)
        return encode_real(f, c, env, raw, n);
    fake_bytes out = { fake_keep(f, n), n };
    if (c == &fake_blocks) {
        mover m = { (size_t)env->typesize, raw, out.ptr };
        walk_blocks(env, from_c_order, &m);
        return out;
    }
    for (size_t i = 0; i < n; i++)
        out.ptr[i] = raw[n - 1 - i];
    return out;
}
