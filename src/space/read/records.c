/* SPDX-License-Identifier: BSD-3-Clause
 * Records whose fields lie in columns of their own: a few rows at a time, of each column the same
 * rows are read and put where the records have them. A view of one field alone goes to its column
 * instead, so that the others are not even opened. */
#include <string.h>

#include "space/read/reader.h"

enum { TILE = 4 << 20 }; /* bytes of records put together at once */

typedef struct tile {
    const cip_rd *rd;
    const cip_space *s;
    uint64_t row, n;     /* rows [row, row + n) */
    uint64_t first, end; /* of one row alone: its bytes that are wanted; else all */
    uint8_t *dst;        /* n records */
} tile;

static bool is_wanted(const tile *t, const cip_record_column *c)
{
    for (size_t i = 0; i < c->npart; i++)
        if (c->part[i].off < t->end && c->part[i].off + c->part[i].len > t->first)
            return true;
    return false;
}

/* Bytes that no part covers are padding: zeros. */
static cip_status read_tile(const tile *t, cip_err *err)
{
    memset(t->dst, 0, (size_t)(t->n * t->s->records.itemsize));
    for (size_t i = 0; i < t->s->records.n; i++) {
        const cip_record_column *c = &t->s->records.column[i];
        cip_pooled room;
        uint64_t nbytes = t->n * c->row;
        if (nbytes != 0 && is_wanted(t, c)) {
            CIP_TRY(cip_buffer_pool_take(t->rd->buffers, (size_t)nbytes, &room, err));
            cip_status st = cip_rd_at(t->rd, c->in, t->row * c->row, room.ptr, (size_t)nbytes, err);
            if (st == CIP_OK) {
                uint64_t each = t->s->records.itemsize;
                for (size_t k = 0; k < c->npart; k++) {
                    const cip_record_part *p = &c->part[k];
                    for (uint64_t r = 0; r < t->n; r++)
                        memcpy(t->dst + r * each + p->off, room.ptr + r * c->row + p->from,
                               (size_t)p->len);
                }
            }
            cip_buffer_pool_give(t->rd->buffers, &room);
            CIP_TRY(st);
        }
    }
    return CIP_OK;
}

/* Rows that are wanted only in part go through a buffer. */
static cip_status read_in_part(tile *t, uint64_t pos, uint8_t *dst, uint64_t n, cip_err *err)
{
    uint64_t each = t->s->records.itemsize, skip = pos - t->row * each;
    cip_pooled room;
    CIP_TRY(cip_buffer_pool_take(t->rd->buffers, (size_t)(t->n * each), &room, err));
    t->dst = room.ptr;
    if (t->n == 1) {
        t->first = skip;
        t->end = skip + n;
    }
    cip_status st = read_tile(t, err);
    if (st == CIP_OK)
        memcpy(dst, room.ptr + skip, (size_t)n);
    cip_buffer_pool_give(t->rd->buffers, &room);
    return st;
}

cip_status cip_records_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                             size_t n, cip_err *err)
{
    const uint64_t each = s->records.itemsize;
    for (size_t i = 0; i < n; i++)
        for (uint64_t at = 0, done = 0; at < want[i].len; at += done) {
            const uint64_t pos = want[i].off + shift + at, left = want[i].len - at;
            uint8_t *dst = want[i].dst + at;
            tile t = { .rd = rd, .s = s, .row = pos / each, .n = 1, .end = each, .dst = dst };
            if (pos % each != 0 || left < each) {
                done = cip_min_u64(left, each - pos % each);
                CIP_TRY(read_in_part(&t, pos, dst, done, err));
            } else { /* whole rows as far as they are wanted whole */
                t.n = cip_min_u64(left / each, cip_max_u64(TILE / each, 1));
                done = t.n * each;
                CIP_TRY(read_tile(&t, err));
            }
        }
    return CIP_OK;
}

/* The one part that has bytes [lo, hi) of each record. */
static const cip_record_column *column_of(const cip_space *s, int64_t lo, int64_t hi,
                                          const cip_record_part **part)
{
    for (size_t i = 0; i < s->records.n; i++)
        for (size_t k = 0; k < s->records.column[i].npart; k++) {
            *part = &s->records.column[i].part[k];
            if (lo >= (int64_t)(*part)->off && hi <= (int64_t)((*part)->off + (*part)->len))
                return &s->records.column[i];
        }
    return NULL;
}

size_t cip_records_column(const cip_space *s, const cip_nd *v, cip_nd *out)
{
    int64_t each = (int64_t)s->records.itemsize, at = (int64_t)(v->off % s->records.itemsize);
    int64_t lo = at, hi = at + (int64_t)v->itemsize;
    const cip_record_part *part;
    for (int32_t k = 0; k < v->ndim; k++) {
        int64_t reach = 0;
        if (v->shape[k] < 2 || v->stride[k] % each == 0)
            continue;
        if (cip_mul_overflow(v->stride[k], v->shape[k] - 1, &reach))
            return s->records.n;
        *(reach < 0 ? &lo : &hi) += reach;
        if (lo < 0 || hi > each)
            return s->records.n;
    }
    const cip_record_column *c = column_of(s, lo, hi, &part);
    if (c == NULL)
        return s->records.n;
    *out = *v;
    out->off = v->off / (uint64_t)each * c->row + part->from + ((uint64_t)at - part->off);
    for (int32_t k = 0; k < v->ndim; k++)
        if (v->stride[k] % each == 0)
            out->stride[k] = v->stride[k] / each * (int64_t)c->row;
    return (size_t)(c - s->records.column);
}

bool cip_records_narrow(const cip_space *s, const cip_nd *v, cip_space **in, cip_nd *out)
{
    size_t column = cip_records_column(s, v, out);
    if (column < s->records.n)
        *in = s->records.column[column].in;
    return column < s->records.n;
}
