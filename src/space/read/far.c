/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes read ahead: a ring of pieces of the file, looked through from one end to the other, which
 * is nothing against a request. */
#include "space/read/far.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum { PIECES = 256 };

typedef struct piece {
    uint64_t off, len;
    uint8_t *bytes;
} piece;

struct cip_far {
    cip_mem *mem;
    cip_io *io;
    const cip_tuning *tune;
    uint64_t limit;       /* bytes, beside tune->far_kept */
    pthread_mutex_t lock; /* guards what follows */
    piece ring[PIECES];
    size_t next; /* the oldest */
    uint64_t nbytes;
};

cip_status cip_far_new(cip_env *env, cip_io *io, const cip_tuning *tune, cip_far **out,
                       cip_err *err)
{
    CIP_TRY(CIP_NEW(&env->mem, out, 1, err));
    (*out)->mem = &env->mem;
    (*out)->io = io;
    (*out)->tune = tune;
    (*out)->limit = env->limits.max_memory / 16;
    pthread_mutex_init(&(*out)->lock, NULL);
    return CIP_OK;
}

static uint64_t most_kept(const cip_far *a)
{
    return cip_min_u64(a->tune->far_kept, a->limit);
}

static void drop(cip_far *a, size_t i)
{
    a->nbytes -= a->ring[i].len;
    cip_mem_put(a->mem, a->ring[i].bytes);
    a->ring[i] = (piece){ .len = 0 };
}

void cip_far_free(cip_far *a)
{
    if (a == NULL)
        return;
    for (size_t i = 0; i < PIECES; i++)
        drop(a, i);
    pthread_mutex_destroy(&a->lock);
    cip_mem_put(a->mem, a);
}

static void keep(cip_far *a, const piece *p)
{
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < PIECES && (i == 0 || a->nbytes + p->len > most_kept(a)); i++)
        drop(a, (a->next + i) % PIECES);
    a->ring[a->next] = *p;
    a->next = (a->next + 1) % PIECES;
    a->nbytes += p->len;
    pthread_mutex_unlock(&a->lock);
}

/* Whether the bytes are kept; they go to dst, if there is one. */
static bool find_kept(cip_far *a, uint64_t off, uint64_t len, void *dst)
{
    bool found = false;
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < PIECES && !found; i++) {
        const piece *p = &a->ring[i];
        found = p->len >= len && off >= p->off && off - p->off <= p->len - len;
        if (found && dst != NULL && len != 0)
            memcpy(dst, p->bytes + (off - p->off), (size_t)len);
    }
    pthread_mutex_unlock(&a->lock);
    return found;
}

/* How many of the bytes from the first on are kept in one piece; they go to dst. */
static size_t take_front(cip_far *a, uint64_t off, uint64_t len, uint8_t *dst)
{
    uint64_t most = 0;
    const piece *from = NULL;
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < PIECES && most < len; i++) {
        const piece *p = &a->ring[i];
        if (off >= p->off && off - p->off < p->len && p->len - (off - p->off) > most) {
            most = p->len - (off - p->off);
            from = p;
        }
    }
    most = cip_min_u64(most, len);
    if (most != 0)
        memcpy(dst, from->bytes + (off - from->off), (size_t)most);
    pthread_mutex_unlock(&a->lock);
    return (size_t)most;
}

/* How many ranges from the first on are read as one: in order, the gaps between them cheaper to
 * read than to ask for each range by itself. */
static size_t near_ranges(const cip_far *a, const cip_range *r, size_t n)
{
    size_t i = 1;
    uint64_t end = r->offset + r->nbytes;
    for (; i < n && r[i].offset >= end && r[i].offset - end <= a->tune->far_join; i++) {
        end = r[i].offset + r[i].nbytes;
        if (end - r->offset > most_kept(a) / 2)
            break;
    }
    return i;
}

/* Reads ranges in one request: rows of a window lie apart by less than a request costs, so what
 * lies between them comes along. At most most_kept() bytes beside the destination. */
static cip_status read_joined(cip_far *a, const cip_range *r, size_t n, cip_err *err)
{
    cip_range joined[CIP_FAR_RANGES];
    void *room[CIP_FAR_RANGES]; /* NULL: straight to the destination */
    size_t first[CIP_FAR_RANGES + 1], m = 0;
    uint64_t total = 0;
    cip_status st = CIP_OK;
    for (size_t i = 0; i < n; i = first[m]) {
        const size_t near = near_ranges(a, r + i, n - i);
        const uint64_t len = r[i + near - 1].offset + r[i + near - 1].nbytes - r[i].offset;
        const bool join = near > 1 && total + len <= most_kept(a) &&
                          cip_mem_get(a->mem, (size_t)len, &room[m], NULL) == CIP_OK;
        if (!join)
            room[m] = NULL;
        joined[m] = join ? (cip_range){ r[i].offset, (size_t)len, room[m] } : r[i];
        total += join ? len : 0;
        first[m++] = i;
        first[m] = i + (join ? near : 1);
    }
    st = cip_io_read_ranges(a->io, joined, m, err);
    for (size_t k = 0; k < m; k++) {
        for (size_t i = first[k]; st == CIP_OK && room[k] != NULL && i < first[k + 1]; i++)
            if (r[i].nbytes != 0)
                memcpy(r[i].dst, (uint8_t *)room[k] + (r[i].offset - joined[k].offset),
                       r[i].nbytes);
        cip_mem_put(a->mem, room[k]);
    }
    return st;
}

/* What is read and kept for a range that is no dearer to read than to ask for: what looks through
 * a file is followed by what reads it. All of a small file; at a file's end what lies before, as a
 * trailer says where the index is that it follows. */
static cip_need around(const cip_far *a, const cip_range *r)
{
    const uint64_t size = a->io->size, most = a->tune->far_join;
    if (size <= most)
        return (cip_need){ 0, size };
    const uint64_t len = cip_max_u64(r->nbytes, a->tune->far_least);
    const uint64_t off = cip_min_u64(r->offset, size - cip_min_u64(len, size));
    return (cip_need){ off, cip_min_u64(len, size - off) };
}

cip_status cip_far_read(cip_far *a, const cip_range *r, size_t n, cip_err *err)
{
    cip_range left[CIP_FAR_RANGES];
    size_t nleft = 0;
    if (n == 1 && r->nbytes <= a->tune->far_join && r->offset < a->io->size &&
        !find_kept(a, r->offset, r->nbytes, NULL)) {
        cip_need need = around(a, r);
        cip_far_expect(a, &need, 1);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t k = take_front(a, r[i].offset, r[i].nbytes, r[i].dst);
        if (k < r[i].nbytes)
            left[nleft++] =
                (cip_range){ r[i].offset + k, r[i].nbytes - k, (uint8_t *)r[i].dst + k };
    }
    return nleft == 0 ? CIP_OK : read_joined(a, left, nleft, err);
}

static int by_offset(const void *x, const void *y)
{
    const cip_need *a = x, *b = y;
    return (a->off > b->off) - (a->off < b->off);
}

/* Those that are not kept, near ones joined. Returns how many. */
static size_t join(cip_far *a, cip_need *at, size_t n)
{
    size_t m = 0;
    uint64_t total = 0;
    qsort(at, n, sizeof *at, by_offset);
    for (size_t i = 0; i < n; i++) {
        cip_need *last = m != 0 ? &at[m - 1] : NULL;
        if (at[i].len == 0 || find_kept(a, at[i].off, at[i].len, NULL))
            continue;
        uint64_t end = at[i].off + at[i].len, more = at[i].len;
        bool near = last != NULL && at[i].off <= last->off + last->len + a->tune->far_gap;
        if (near)
            more = cip_max_u64(end, last->off + last->len) - (last->off + last->len);
        if (total + more > most_kept(a) / 2 || (!near && m == CIP_FAR_RANGES))
            break;
        total += more;
        if (near)
            last->len += more;
        else
            at[m++] = at[i];
    }
    return m;
}

void cip_far_expect(cip_far *a, cip_need *at, size_t n)
{
    cip_range range[CIP_FAR_RANGES];
    piece got[CIP_FAR_RANGES];
    size_t m = join(a, at, n), have = 0;
    void *bytes;
    while (have < m && cip_mem_get(a->mem, (size_t)at[have].len, &bytes, NULL) == CIP_OK) {
        const size_t k = take_front(a, at[have].off, at[have].len, bytes);
        got[have] = (piece){ at[have].off, at[have].len, bytes };
        range[have] =
            (cip_range){ at[have].off + k, (size_t)at[have].len - k, got[have].bytes + k };
        have++;
    }
    bool read = have != 0 && cip_io_read_ranges(a->io, range, have, NULL) == CIP_OK;
    for (size_t i = 0; i < have; i++)
        if (read)
            keep(a, &got[i]);
        else
            cip_mem_put(a->mem, got[i].bytes);
}
