/* SPDX-License-Identifier: BSD-3-Clause
 * A table in front of a table: chunks that were found lost are a repeated value, all others are
 * the inner table's. It takes the inner one's place in the space, so that every array, view and
 * record that lies there sees the same. */
#include "space/read/filled.h"

#include <string.h>

#include "base/num.h"
#include "space/read/grid.h"

typedef struct filled {
    cip_space *s;
    cip_table inner;
    const cip_lost_chunks *lost;
    size_t n;
    cip_bytes value;
} filled;

/* Of equal linear chunks, and of n-d ones, which are all as long. */
static bool regular_chunk(const cip_space *s, const cip_table *t, uint64_t i, cip_chunk *out)
{
    uint64_t off;
    *out = (cip_chunk){ .run = 1 };
    if (s->kind == CIP_SPACE_GRID)
        return true; /* its length is filled in for the table */
    if (s->kind != CIP_SPACE_CHUNKED || t->raw_each == 0 ||
        cip_mul_overflow(i, t->raw_each, &off) || off >= s->len)
        return false;
    out->raw_off = off;
    out->raw_len = cip_min_u64(t->raw_each, s->len - off);
    return true;
}

bool cip_chunk_list_regular(const cip_chunk_list *l, uint64_t i, cip_chunk *out)
{
    return regular_chunk(l->s, &l->s->table, i, out);
}

static bool place_of(const filled *f, uint64_t i, cip_chunk *out, cip_err *err)
{
    *out = (cip_chunk){ .run = 1 };
    return regular_chunk(f->s, &f->inner, i, out) ||
           f->inner.at(f->inner.self, i, 1, out, err) == CIP_OK;
}

/* The range that chunk i lies in, or the next one behind it; NULL: there is none. */
static const cip_lost_chunks *range_from(const filled *f, uint64_t i)
{
    size_t lo = 0, hi = f->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (f->lost[mid].first + f->lost[mid].n <= i)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < f->n ? &f->lost[lo] : NULL;
}

static cip_status lost_chunk(const filled *f, const cip_lost_chunks *r, uint64_t i, cip_chunk *out,
                             cip_err *err)
{
    cip_chunk c;
    if (!place_of(f, i, &c, err))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a chunk that exists");
    out->at = (cip_extent){ .len = 0 };
    out->raw_off = c.raw_off;
    out->raw_len = c.raw_len;
    /* Chunks of a range are told of as one run, but for a last one that may be shorter. */
    const cip_space *s = f->s;
    uint64_t end = r->first + r->n;
    if (s->kind == CIP_SPACE_CHUNKED)
        end = f->inner.raw_each == 0 ? i + 1 : cip_min_u64(end, s->len / f->inner.raw_each);
    out->run = end > i ? end - i : 1;
    out->state = CIP_CHUNK_VALUE;
    out->value = f->value.ptr;
    out->value_len = (uint32_t)f->value.len;
    return CIP_OK;
}

static cip_status filled_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const filled *f = self;
    for (size_t k = 0; k < n; k++) {
        const cip_lost_chunks *r = range_from(f, i + k);
        if (r != NULL && r->first <= i + k) {
            CIP_TRY(lost_chunk(f, r, i + k, &out[k], err));
            continue;
        }
        CIP_TRY(f->inner.at(f->inner.self, i + k, 1, &out[k], err));
        if (r != NULL) /* a run of equal ones ends where something is lost */
            out[k].run = cip_min_u64(out[k].run, r->first - (i + k));
    }
    return CIP_OK;
}

static cip_status filled_find(void *self, uint64_t raw_off, uint64_t *i, cip_err *err)
{
    const filled *f = self;
    return f->inner.find(f->inner.self, raw_off, i, err);
}

static cip_status filled_count(void *self, uint64_t *n, cip_err *err)
{
    const filled *f = self;
    return f->inner.count(f->inner.self, n, err);
}

static void filled_place(void *self, uint64_t i, cip_extent *at)
{
    const filled *f = self;
    const cip_lost_chunks *r = range_from(f, i);
    if (r == NULL || r->first > i)
        f->inner.place(f->inner.self, i, at);
}

static cip_status check_begin(const filled *f, uint64_t i, cip_err *err)
{
    cip_chunk c;
    if (!place_of(f, i, &c, NULL))
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "expected chunks of equal length: the elements of chunk %" PRIu64 " are unknown", i);
    if (c.raw_off % f->value.len == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected chunks of whole elements of %zu bytes, found one at %" PRIu64,
                    f->value.len, c.raw_off);
}

static cip_status make(cip_space *s, const cip_lost_chunks *lost, size_t n, cip_bytes value,
                       filled **out, cip_err *err)
{
    cip_arena *a = &s->layout->arena;
    cip_lost_chunks *ranges;
    uint8_t *bytes;
    CIP_TRY(CIP_ARENA_NEW(a, out, 1, err));
    CIP_TRY(CIP_ARENA_NEW(a, &ranges, n, err));
    CIP_TRY(cip_arena_get(a, value.len, (void **)&bytes, err));
    memcpy(ranges, lost, n * sizeof *lost);
    memcpy(bytes, value.ptr, value.len);
    **out = (filled){ s, s->table, ranges, n, { bytes, value.len } };
    return CIP_OK;
}

cip_status cip_space_fill(cip_space *s, const cip_lost_chunks *lost, size_t n, cip_bytes value,
                          cip_err *err)
{
    filled *f;
    if ((s->kind != CIP_SPACE_CHUNKED && s->kind != CIP_SPACE_GRID) || s->in_order != NULL ||
        value.len == 0 || value.len > UINT32_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an array in chunks, to fill its lost elements");
    if (n == 0)
        return CIP_OK;
    pthread_mutex_lock(&s->layout->lock);
    cip_status st = make(s, lost, n, value, &f, err);
    pthread_mutex_unlock(&s->layout->lock);
    CIP_TRY(st);
    /* of chunks that are all as long, two in a row tell of the ones after them */
    const bool equal = f->s->kind == CIP_SPACE_GRID || f->inner.raw_each != 0;
    for (size_t k = 0; k < f->n; k++)
        for (uint64_t i = 0; i < (equal ? cip_min_u64(f->lost[k].n, 2) : f->lost[k].n); i++)
            CIP_TRY(check_begin(f, f->lost[k].first + i, err));
    s->table = (cip_table){ .at = filled_at,
                            .find = f->inner.find != NULL ? filled_find : NULL,
                            .count = f->inner.count != NULL ? filled_count : NULL,
                            .place = f->inner.place != NULL ? filled_place : NULL,
                            .raw_each = f->inner.raw_each,
                            .self = f };
    cip_space_renew(s);
    return CIP_OK;
}
