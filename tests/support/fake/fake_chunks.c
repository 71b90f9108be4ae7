/* SPDX-License-Identifier: BSD-3-Clause
 * Fake chunks: coded in any way or special, found by any kind of table. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "support/fake/fake.h"

fake_pipe fake_pick_pipe(fake *f, bool blocks)
{
    const cip_codec *zlib = cip_codec_find("zlib");
    fake_pipe p = { .n = 1 };
    switch (fake_pick(f, blocks ? 5 : 0, blocks ? 6 : 4)) {
    case 0:
        p.step[0].codec = zlib;
        break;
    case 1:
        p.step[0].codec = &fake_delta;
        break;
    case 2:
        p.step[0].codec = &fake_trickle;
        break;
    case 3: /* no stage at all */
        p.n = 0;
        break;
    case 4:
        p = (fake_pipe){ { { zlib, NULL }, { &fake_turned, NULL }, { &fake_turned, NULL } }, 3 };
        break;
    case 5:
        p = (fake_pipe){ { { zlib, NULL }, { &fake_blocks, NULL } }, 2 };
        break;
    default:
        p.step[0].codec = &fake_blocks;
        break;
    }
    return p;
}

fake_bytes fake_run_pipe(fake *f, const fake_pipe *p, const cip_codec_env *env, const uint8_t *raw,
                         size_t n)
{
    fake_bytes b = { fake_keep(f, n), n };
    if (n != 0)
        memcpy(b.ptr, raw, n);
    for (size_t k = p->n; k-- > 0;)
        b = fake_encode(f, p->step[k].codec, env, b.ptr, b.len);
    return b;
}

static void repeat(uint8_t *raw, size_t n, const uint8_t *value, size_t len)
{
    for (size_t i = 0; i < n; i++)
        raw[i] = value[i % len];
}

static void make_nan(const cip_codec_env *env, bool big, uint8_t *raw, size_t n)
{
    uint8_t nan[8];
    if (env->typesize == 4)
        cip_store_u32(nan, UINT32_C(0x7FC00000), big);
    else
        cip_store_u64(nan, UINT64_C(0x7FF8000000000000), big);
    repeat(raw, n, nan, (size_t)env->typesize);
}

static void make_special(fake *f, cip_chunk *c, const cip_codec_env *env, bool big, uint8_t *raw,
                         size_t n)
{
    bool floats = env->typesize == 4 || env->typesize == 8;
    c->state = (uint8_t)fake_pick(f, CIP_CHUNK_ZERO, CIP_CHUNK_VALUE);
    if (c->state == CIP_CHUNK_NAN && !floats)
        c->state = CIP_CHUNK_UNINIT;
    if (c->state == CIP_CHUNK_VALUE) {
        c->value_len = (uint32_t)(fake_chance(f, 3) || env->typesize == 0 ? fake_pick(f, 1, 9)
                                                                          : env->typesize);
        uint8_t *value = fake_random(f, c->value_len);
        c->value = value;
        repeat(raw, n, value, c->value_len);
    } else if (c->state == CIP_CHUNK_NAN) {
        make_nan(env, big, raw, n);
    } else {
        memset(raw, 0, n);
    }
}

void fake_make_chunk(fake *f, cip_chunk *c, const fake_pipe *p, const cip_codec_env *env,
                     uint8_t *raw, size_t n, bool fixed, fake_bytes *stored)
{
    *stored = (fake_bytes){ NULL, 0 };
    if (!fixed && fake_chance(f, 3)) {
        make_special(f, c, env, false, raw, n);
        return;
    }
    c->state = CIP_CHUNK_DATA;
    if (fake_chance(f, 4)) { /* not worth coding, or coded in another way than the rest */
        fake_pipe own = { { { .codec = fake_chance(f, 2) ? &fake_delta : &cip_codec_stored } }, 1 };
        c->codec = own.step[0].codec;
        own.n = c->codec == &cip_codec_stored ? 0 : 1;
        *stored = fake_run_pipe(f, &own, env, raw, n);
        return;
    }
    *stored = fake_run_pipe(f, p, env, raw, n);
}

void fake_place_chunks(fake *f, cip_chunk *c, const fake_bytes *stored, size_t n, unsigned depth)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += stored[i].len + 2;
    uint8_t *all = fake_random(f, total);
    size_t at = total;
    for (size_t i = 0; i < n; i++) { /* the last one first, with something between */
        at -= stored[i].len + 2;
        if (stored[i].len != 0)
            memcpy(all + at, stored[i].ptr, stored[i].len);
        c[i].at.off = at;
        c[i].at.len = stored[i].len;
    }
    uint8_t *gone = f->gone;
    f->gone = NULL; /* what is missing is told of the outermost space alone */
    cip_space *in = fake_any_space(f, all, total, depth == 0 ? 0 : depth - 1, true);
    f->gone = gone;
    for (size_t i = 0; i < n; i++)
        if (c[i].state == CIP_CHUNK_DATA)
            c[i].at.in = in;
}

/* --- a table that is a function -------------------------------------------------------------- */

typedef struct walk_table {
    const cip_chunk *chunk;
    size_t n;
} walk_table;

static cip_status walk_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const walk_table *t = self;
    if (i > t->n || n > t->n - i)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "chunk %" PRIu64 " of %zu", i, t->n);
    for (size_t k = 0; k < n; k++)
        out[k] = t->chunk[i + k];
    return CIP_OK;
}

static cip_status walk_find(void *self, uint64_t raw_off, uint64_t *i, cip_err *err)
{
    const walk_table *t = self;
    for (*i = 0; *i < t->n; ++*i)
        if (raw_off < t->chunk[*i].raw_off + t->chunk[*i].raw_len)
            return CIP_OK;
    return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "byte %" PRIu64, raw_off);
}

static cip_status walk_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const walk_table *)self)->n;
    return CIP_OK;
}

/* Equal special chunks in a row as one entry: only what cip_table_from_array takes. */
static size_t join_runs(const cip_chunk *c, size_t n, cip_chunk *out)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        cip_chunk *last = m != 0 ? &out[m - 1] : NULL;
        bool same = last != NULL && c[i].state == last->state && c[i].raw_len == last->raw_len &&
                    (c[i].state == CIP_CHUNK_ZERO || c[i].state == CIP_CHUNK_UNINIT ||
                     c[i].state == CIP_CHUNK_NAN);
        if (same)
            last->run++;
        else
            out[m++] = c[i];
        if (!same)
            out[m - 1].run = 1;
    }
    return m;
}

cip_table fake_table(fake *f, const cip_chunk *c, size_t n)
{
    cip_table t;
    cip_chunk *own = fake_keep(f, (n + 1) * sizeof *own);
    if (fake_chance(f, 2)) {
        walk_table *w = fake_keep(f, sizeof *w);
        if (n != 0)
            memcpy(own, c, n * sizeof *own);
        *w = (walk_table){ own, n };
        return (cip_table){ .at = walk_at, .find = walk_find, .count = walk_count, .self = w };
    }
    n = join_runs(c, n, own);
    FAKE_MUST(cip_table_from_array(f->layout, own, n, &t, err));
    return t;
}

/* --- linear chunks --------------------------------------------------------------------------- */

/* Cuts [0, n) and makes a chunk of each part. Returns how many. */
static size_t cut(fake *f, uint8_t *bytes, size_t n, bool equal, bool fixed, const fake_pipe *p,
                  const cip_codec_env *env, cip_chunk *c, fake_bytes *stored)
{
    size_t m = 0, each = (size_t)fake_pick(f, 1, n / 2 + 1);
    if (each * 200 < n)
        each = n / 200 + 1;
    for (size_t at = 0; at < n; m++) {
        size_t len = equal ? each : (size_t)fake_pick(f, 1, 2 * each);
        len = len < n - at ? len : n - at;
        c[m] = (cip_chunk){ .raw_off = at, .raw_len = len };
        if (f->gone != NULL && fake_chance(f, 12)) {
            c[m].state = CIP_CHUNK_MISSING;
            c[m].why = CIP_ERR_NOT_FOUND;
            memset(f->gone + at, 1, len);
        } else {
            fake_make_chunk(f, &c[m], p, env, bytes + at, len, fixed, &stored[m]);
        }
        at += len;
    }
    return m;
}

cip_space *fake_chunked(fake *f, uint8_t *bytes, size_t n, unsigned depth, bool fixed, bool equal)
{
    cip_space *s;
    static const uint64_t sizes[] = { 0, 1, 2, 4, 8, 8 };
    cip_chunk *c = fake_keep(f, (n + 1) * sizeof *c);
    fake_bytes *stored = fake_keep(f, (n + 1) * sizeof *stored);
    fake_pipe p = fake_pick_pipe(f, false);
    cip_codec_env env = { .typesize = sizes[fake_pick(f, 0, 5)] };
    size_t m = cut(f, bytes, n, equal, fixed, &p, &env, c, stored);
    fake_place_chunks(f, c, stored, m, depth);
    cip_table t = fake_table(f, c, m);
    if (equal && t.find != NULL && m != 0 && fake_chance(f, 2)) {
        t.find = NULL;
        t.raw_each = c[0].raw_len;
    }
    FAKE_MUST(cip_space_new_chunked(f->layout, &t, n, p.step, p.n, &s, err));
    s->codec_env.typesize = env.typesize;
    s->label = "fake chunks";
    return s;
}

cip_space *fake_in_order(fake *f, uint8_t *bytes, size_t n, unsigned depth, bool fixed)
{
    cip_space *s, *seq = fake_space(f, FAKE_SEQ, bytes, n, depth, true);
    cip_chunk c[2] = { { .raw_len = n / 2 }, { .raw_off = n / 2, .raw_len = n - n / 2 } };
    cip_step step = seq->step[0];
    cip_table t;
    (void)fixed;
    if (n < 2)
        return seq;
    for (size_t i = 0; i < 2; i++) {
        c[i].at = seq->sub;
        c[i].codec = &fake_never;
    }
    FAKE_MUST(cip_table_from_array(f->layout, c, 2, &t, err));
    FAKE_MUST(cip_space_new_chunked(f->layout, &t, n, &step, 1, &s, err));
    s->in_order = seq;
    return s;
}
