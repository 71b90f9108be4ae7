/* SPDX-License-Identifier: BSD-3-Clause
 * A table that is an array of chunks, runs of equal special ones as one entry. */
#include <string.h>

#include "base/num.h"
#include "space/layout/layout.h"

typedef struct array_table {
    const cip_chunk *chunk;
    const uint64_t *first; /* number of entry i's first chunk; NULL: entries are chunks */
    size_t n;
    uint64_t count;
} array_table;

static uint64_t run_of(const cip_chunk *c)
{
    return c->run == 0 ? 1 : c->run;
}

static cip_status table_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const array_table *t = self;
    if (i > t->count || n > t->count - i)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a chunk below %" PRIu64 ", found %" PRIu64, t->count, i + n - 1);
    size_t e = n == 0             ? 0
               : t->first == NULL ? (size_t)i
                                  : cip_last_at_most(t->first, sizeof *t->first, t->n, i);
    uint64_t k = n == 0 || t->first == NULL ? 0 : i - t->first[e];
    for (size_t j = 0; j < n; j++) {
        /* Chunk i, `k` into entry e's run. */
        out[j] = t->chunk[e];
        out[j].run = run_of(&t->chunk[e]) - k;
        out[j].raw_off += k * t->chunk[e].raw_len; /* checked when the table was made */
        if (++k == run_of(&t->chunk[e])) {
            e++;
            k = 0;
        }
    }
    return CIP_OK;
}

static cip_status table_find(void *self, uint64_t raw_off, uint64_t *i, cip_err *err)
{
    const array_table *t = self;
    if (t->n == 0 || raw_off < t->chunk[0].raw_off)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "no chunk holds byte %" PRIu64,
                        raw_off);
    const size_t lo = cip_last_at_most(&t->chunk->raw_off, sizeof *t->chunk, t->n, raw_off);
    const cip_chunk *c = &t->chunk[lo];
    uint64_t k = c->raw_len == 0 ? 0 : (raw_off - c->raw_off) / c->raw_len;
    *i = (t->first != NULL ? t->first[lo] : lo) + cip_min_u64(k, run_of(c) - 1);
    return CIP_OK;
}

static cip_status table_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const array_table *)self)->count;
    return CIP_OK;
}

/* What holds for all entries. */
typedef struct survey {
    uint64_t count;
    bool runs, equal;
} survey;

static cip_status look_at(const cip_chunk *chunk, size_t n, survey *out, cip_err *err)
{
    *out = (survey){ .equal = n != 0 && chunk[0].raw_len != 0 };
    uint64_t end = 0;
    for (size_t i = 0; i < n; i++) {
        const cip_chunk *c = &chunk[i];
        uint64_t bytes, at = out->count, regular;
        if (cip_mul_overflow(c->raw_len, run_of(c), &bytes) ||
            cip_add_overflow(c->raw_off, bytes, &end) ||
            cip_add_overflow(out->count, run_of(c), &out->count))
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "chunk %zu ends beyond 2^64", i);
        if (i != 0 && c->raw_off < chunk[i - 1].raw_off)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected rising chunks, found chunk %zu at %" PRIu64 " after %" PRIu64,
                            i, c->raw_off, chunk[i - 1].raw_off);
        out->runs = out->runs || run_of(c) != 1;
        bool last = i + 1 == n && run_of(c) == 1;
        out->equal = out->equal && !cip_mul_overflow(at, chunk[0].raw_len, &regular) &&
                     c->raw_off == regular &&
                     (c->raw_len == chunk[0].raw_len || (last && c->raw_len < chunk[0].raw_len));
    }
    return CIP_OK;
}

/* Under the layout's lock. */
static cip_status copy_entries(cip_arena *a, const cip_chunk *chunk, size_t n, const survey *s,
                               array_table **out, cip_err *err)
{
    cip_chunk *copy = NULL;
    uint64_t *first = NULL;
    CIP_TRY(CIP_ARENA_NEW(a, out, 1, err));
    CIP_TRY(CIP_ARENA_NEW(a, &copy, n, err));
    if (s->runs)
        CIP_TRY(CIP_ARENA_NEW(a, &first, n, err));
    if (n != 0)
        memcpy(copy, chunk, n * sizeof *chunk);
    for (size_t i = 0; i + 1 < n && first != NULL; i++)
        first[i + 1] = first[i] + run_of(&chunk[i]);
    **out = (array_table){ copy, first, n, s->count };
    return CIP_OK;
}

cip_status cip_table_from_array(cip_layout *l, const cip_chunk *chunk, size_t n, cip_table *out,
                                cip_err *err)
{
    survey s;
    array_table *t = NULL;
    CIP_TRY(look_at(chunk, n, &s, err));
    pthread_mutex_lock(&l->lock);
    cip_status st = copy_entries(&l->arena, chunk, n, &s, &t, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    *out = (cip_table){ .at = table_at,
                        .find = s.equal ? NULL : table_find,
                        .count = table_count,
                        .raw_each = s.equal ? chunk[0].raw_len : 0,
                        .self = t };
    return CIP_OK;
}
