/* SPDX-License-Identifier: BSD-3-Clause
 * Boxes of a slab. They go to their places in a temporary file, whose room was made at once, so
 * that threads write disjoint boxes without waiting for each other. Once there is a mark they wait
 * in another one, each packed as it came: going back forgets those since the mark, which costs
 * nothing and cannot fail, and nothing below is written over. At the end they are copied to their
 * places, in the order in which they came.
 *
 * Which elements were written is kept as a list of boxes. Neighbours that make one box together
 * become one, so that a slab that is filled in any usual order has few. Only reading looks there:
 * it goes over the list for each piece. */
#include "core/writing/slab.h"

#include <string.h>

#include "base/num.h"
#include "space/make/box_runs.h"

enum {
    PIECE = 1 << 20, /* bytes copied or read at once */
    NEIGHBOURS = 8   /* the last boxes, which a new one may join */
};

void cip_slab_init(cip_slab *s, cip_env *env, const cip_spec_array *spec)
{
    s->env = env;
    s->spec = spec;
    s->placed.mem = s->since.mem = &env->mem;
    pthread_mutex_init(&s->lock, NULL);
}

void cip_slab_clear(cip_slab *s)
{
    cip_buf_clear(&s->placed);
    cip_buf_clear(&s->since);
    cip_io_close(s->later);
    pthread_mutex_destroy(&s->lock);
}

void cip_slab_set_data(cip_slab *s, cip_io *data)
{
    pthread_mutex_lock(&s->lock);
    s->data = data;
    pthread_mutex_unlock(&s->lock);
}

cip_status cip_slab_failure(cip_slab *s, bool *torn, cip_err *why)
{
    pthread_mutex_lock(&s->lock);
    const cip_status st = s->st;
    *torn = s->torn;
    if (st != CIP_OK)
        *why = s->why;
    s->st = CIP_OK;
    pthread_mutex_unlock(&s->lock);
    return st;
}

/* --- lists of boxes --------------------------------------------------------------------------- */

/* int64_t in a box of a list: start, stop, and where it is. */
static size_t width(const cip_slab *s)
{
    return 2 * (size_t)s->spec->ndim + 1;
}

static size_t count(const cip_slab *s, const cip_buf *list)
{
    return list->len / (width(s) * sizeof(int64_t));
}

static int64_t *box_at(const cip_slab *s, const cip_buf *list, size_t i)
{
    return (int64_t *)(void *)list->ptr + i * width(s);
}

static cip_status add_box(cip_slab *s, cip_buf *list, const int64_t *x, cip_err *err)
{
    return cip_buf_add(list, x, width(s) * sizeof *x, err);
}

static void take_box(const cip_slab *s, const cip_box *box, uint64_t at, int64_t *x)
{
    const size_t n = (size_t)s->spec->ndim;
    memcpy(x, box->start, n * sizeof *x);
    memcpy(x + n, box->stop, n * sizeof *x);
    x[2 * n] = (int64_t)at;
}

/* Makes *x the box of both, where that is one: they differ along one axis at most, without a gap.
 */
static bool join(const cip_slab *s, int64_t *x, const int64_t *with)
{
    const int32_t n = s->spec->ndim;
    int32_t axis = -1;
    for (int32_t k = 0; k < n; k++) {
        if (x[k] == with[k] && x[n + k] == with[n + k])
            continue;
        if (axis >= 0 || x[k] > with[n + k] || with[k] > x[n + k])
            return false;
        axis = k;
    }
    if (axis >= 0) {
        x[axis] = with[axis] < x[axis] ? with[axis] : x[axis];
        x[n + axis] = with[n + axis] > x[n + axis] ? with[n + axis] : x[n + axis];
    }
    return true;
}

static cip_status add_placed(cip_slab *s, const cip_box *box, cip_err *err)
{
    int64_t x[2 * CIP_MAX_NDIM + 1];
    take_box(s, box, 0, x);
    for (size_t i = 0, n = count(s, &s->placed); i < n && i < NEIGHBOURS;) {
        int64_t *const with = box_at(s, &s->placed, n - 1 - i);
        if (!join(s, x, with)) {
            i++;
            continue;
        }
        memmove(with, box_at(s, &s->placed, n - 1), width(s) * sizeof *x);
        s->placed.len -= width(s) * sizeof *x;
        n--;
        i = 0; /* all of it may join another one */
    }
    return add_box(s, &s->placed, x, err);
}

/* --- writing ---------------------------------------------------------------------------------- */

static cip_status check_box(const cip_spec_array *a, const cip_box *box, size_t nbytes,
                            cip_err *err)
{
    uint64_t want = a->dtype->itemsize;
    for (int i = 0; i < a->ndim; i++) {
        if (box->start[i] < 0 || box->stop[i] < box->start[i] || box->stop[i] > a->shape[i])
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected a box within %" PRId64 " elements of axis %d, found %" PRId64
                            " to %" PRId64,
                            a->shape[i], i, box->start[i], box->stop[i]);
        want *= (uint64_t)(box->stop[i] - box->start[i]); /* no more than the array has */
    }
    return nbytes == want
               ? CIP_OK
               : cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                          "expected %" PRIu64 " bytes for the box, found %zu", want, nbytes);
}

/* Under the lock: with a mark, all of it, in the other file. *data is the one for its place; NULL:
 * it is done. */
static cip_status write_later(cip_slab *s, const cip_box *box, const void *p, size_t n,
                              cip_io **data, cip_err *err)
{
    int64_t x[2 * CIP_MAX_NDIM + 1];
    *data = s->data;
    if (s->data == NULL || s->over) {
        *data = NULL;
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "the file is complete; commit it again, or abort");
    }
    if (!s->marked && s->since.len == 0) /* what waits comes over all that is in its place */
        return CIP_OK;
    *data = NULL;
    if (s->later == NULL)
        CIP_TRY(cip_temporary_new(s->env, s->beside, &s->later, err));
    take_box(s, box, s->later->size, x);
    CIP_TRY(cip_temporary_write(s->later, s->later->size, p, n, err));
    return add_box(s, &s->since, x, err);
}

static cip_status write_placed(cip_slab *s, cip_io *data, const cip_box *box, const uint8_t *p,
                               cip_err *err)
{
    const uint64_t each = s->spec->dtype->itemsize;
    cip_box_runs r;
    cip_box_runs_begin(&r, s->spec->ndim, s->spec->shape, box->start, box->stop);
    do {
        const size_t n = (size_t)(r.n * each);
        CIP_TRY(cip_temporary_write(data, r.first * each, p, n, err));
        p += n;
    } while (cip_box_runs_next(&r));
    pthread_mutex_lock(&s->lock);
    const cip_status st = add_placed(s, box, err);
    pthread_mutex_unlock(&s->lock);
    return st;
}

/* *tears: if it fails, a part of it may be in its place. */
static cip_status write_box(cip_slab *s, const cip_box *box, const void *p, size_t n, bool *tears,
                            cip_err *err)
{
    cip_io *data;
    if (box == NULL || (p == NULL && n != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a box and data, found NULL");
    CIP_TRY(check_box(s->spec, box, n, err));
    if (n == 0)
        return CIP_OK;
    pthread_mutex_lock(&s->lock);
    const cip_status st = write_later(s, box, p, n, &data, err);
    pthread_mutex_unlock(&s->lock);
    if (data == NULL)
        return st;
    *tears = true;
    return s->boxes != NULL ? cip_boxes_write(s->boxes, box->start, box->stop, p, err)
                            : write_placed(s, data, box, p, err);
}

cip_status cip_slab_write(cip_slab *slab, const cip_box *box, const void *data, size_t nbytes,
                          cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    bool tears = false;
    if (slab == NULL)
        return cip_fail_null(err, "a slab");
    const cip_status st = write_box(slab, box, data, nbytes, &tears, &why);
    if (st == CIP_OK)
        return CIP_OK;
    pthread_mutex_lock(&slab->lock);
    if (slab->st == CIP_OK || (tears && !slab->torn)) { /* what the commit fails with */
        slab->st = st;
        slab->why = why;
    }
    slab->torn = slab->torn || tears;
    pthread_mutex_unlock(&slab->lock);
    return cip_err_give(cip_err_enter(err), &why, st);
}

/* --- marks ------------------------------------------------------------------------------------ */

typedef struct kept {
    size_t since;
    cip_status st;
    cip_err why;
} kept;

/* A box that failed halfway in its place was begun before there was a mark: that stays. */
static void go_back(void *self, const void *from, size_t n)
{
    cip_slab *s = self;
    kept was;
    memcpy(&was, from, n);
    pthread_mutex_lock(&s->lock);
    s->since.len = was.since;
    if (!s->torn) {
        s->st = was.st;
        s->why = was.why;
    }
    pthread_mutex_unlock(&s->lock);
}

cip_status cip_slab_mark(cip_slab *s, cip_undo *undo, cip_err *err)
{
    pthread_mutex_lock(&s->lock);
    s->marked = true;
    const kept is = { s->since.len, s->st, s->why };
    pthread_mutex_unlock(&s->lock);
    return cip_undo_add(undo, go_back, s, (cip_bytes){ (const uint8_t *)&is, sizeof is },
                        (cip_bytes){ NULL, 0 }, err);
}

void cip_slab_unmark(cip_slab *s)
{
    pthread_mutex_lock(&s->lock);
    s->marked = false;
    pthread_mutex_unlock(&s->lock);
}

/* --- the end ---------------------------------------------------------------------------------- */

static cip_status copy_box(cip_slab *s, cip_io *data, const int64_t *x, uint8_t *buf, cip_err *err)
{
    const uint64_t each = s->spec->dtype->itemsize;
    const int32_t ndim = s->spec->ndim;
    uint64_t left = each, from = (uint64_t)x[2 * ndim], had = 0, used = 0;
    cip_box_runs r;
    for (int32_t k = 0; k < ndim; k++)
        left *= (uint64_t)(x[ndim + k] - x[k]);
    cip_box_runs_begin(&r, ndim, s->spec->shape, x, x + ndim);
    do {
        for (uint64_t at = 0, n; at < r.n * each; at += n, used += n) {
            if (used == had) {
                had = cip_min_u64(PIECE, left);
                CIP_TRY(cip_io_read(s->later, from, buf, (size_t)had, err));
                from += had;
                left -= had;
                used = 0;
            }
            n = cip_min_u64(had - used, r.n * each - at);
            CIP_TRY(cip_temporary_write(data, r.first * each + at, buf + used, (size_t)n, err));
        }
    } while (cip_box_runs_next(&r));
    return CIP_OK;
}

cip_status cip_slab_settle(cip_slab *s, cip_err *err)
{
    cip_io *const data = s->data;
    cip_status st = CIP_OK;
    uint8_t *buf;
    cip_slab_set_data(s, NULL);
    if (s->since.len == 0 || data == NULL)
        return CIP_OK;
    CIP_TRY(cip_mem_get(&s->env->mem, PIECE, (void **)&buf, err));
    for (size_t i = 0; i < count(s, &s->since) && st == CIP_OK; i++)
        st = copy_box(s, data, box_at(s, &s->since, i), buf, err);
    cip_mem_put(&s->env->mem, buf);
    return st;
}

void cip_slab_end(cip_slab *s)
{
    pthread_mutex_lock(&s->lock);
    s->over = true;
    pthread_mutex_unlock(&s->lock);
}

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct slab_io {
    cip_io io;
    cip_slab *slab;
} slab_io;

/* A piece of its bytes that is read. */
typedef struct piece {
    cip_slab *s;
    uint64_t off, end;
    uint8_t *dst;
    uint64_t first; /* the element that byte `off` is of */
    bool *there;    /* of each from that one on */
} piece;

/* The part of the box that may have elements from `first` to `last`; false: none has. */
static bool clip(const cip_slab *s, const int64_t *x, const int64_t *first, const int64_t *last,
                 cip_box *out)
{
    const int32_t n = s->spec->ndim;
    bool same = true; /* up to here the two have the same place */
    for (int32_t k = 0; k < n; k++) {
        out->start[k] = same && first[k] > x[k] ? first[k] : x[k];
        out->stop[k] = same && last[k] + 1 < x[n + k] ? last[k] + 1 : x[n + k];
        if (out->start[k] >= out->stop[k])
            return false;
        same = same && first[k] == last[k];
    }
    return true;
}

/* Elements of a run of the box `x`: they are there, and where the box waits in the other file its
 * bytes are the piece's. */
static cip_status take_run(const piece *p, const int64_t *x, const cip_box_runs *r, bool later,
                           cip_err *err)
{
    const uint64_t each = p->s->spec->dtype->itemsize, begin = r->first * each;
    const uint64_t from = cip_max_u64(p->off, begin);
    const uint64_t to = cip_min_u64(p->end, begin + r->n * each);
    const int32_t n = p->s->spec->ndim;
    uint64_t packed = 0; /* the number of the run's first element in the box */
    if (from >= to)
        return CIP_OK;
    for (uint64_t i = from / each; i * each < to; i++)
        p->there[i - p->first] = true;
    if (!later)
        return CIP_OK;
    for (int32_t k = 0; k < n; k++)
        packed = packed * (uint64_t)(x[n + k] - x[k]) + (uint64_t)(r->at[k] - x[k]);
    return cip_io_read(p->s->later, (uint64_t)x[2 * n] + packed * each + (from - begin),
                       p->dst + (from - p->off), (size_t)(to - from), err);
}

static cip_status take_boxes(const piece *p, const cip_buf *list, bool later, cip_err *err)
{
    const cip_slab *s = p->s;
    int64_t first[CIP_MAX_NDIM], last[CIP_MAX_NDIM];
    cip_shape_place(s->spec->ndim, s->spec->shape, p->first, first);
    cip_shape_place(s->spec->ndim, s->spec->shape, (p->end - 1) / s->spec->dtype->itemsize, last);
    for (size_t i = 0; i < count(s, list); i++) {
        const int64_t *x = box_at(s, list, i);
        cip_box part;
        cip_box_runs r;
        if (!clip(s, x, first, last, &part))
            continue;
        cip_box_runs_begin(&r, s->spec->ndim, s->spec->shape, part.start, part.stop);
        do {
            CIP_TRY(take_run(p, x, &r, later, err));
        } while (cip_box_runs_next(&r));
    }
    return CIP_OK;
}

/* Under the lock. */
static cip_status read_piece(const piece *p, cip_err *err)
{
    cip_slab *s = p->s;
    const uint64_t each = s->spec->dtype->itemsize;
    int64_t at[CIP_MAX_NDIM];
    char text[CIP_MAX_NDIM * 22 + 2];
    if (s->data == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the array can be read again after the commit");
    CIP_TRY(cip_io_read(s->data, p->off, p->dst, (size_t)(p->end - p->off), err));
    CIP_TRY(take_boxes(p, &s->placed, false, err));
    CIP_TRY(take_boxes(p, &s->since, true, err));
    uint64_t i = p->first;
    while (!s->over && i * each < p->end && p->there[i - p->first])
        i++;
    if (s->over || i * each >= p->end)
        return CIP_OK;
    cip_shape_place(s->spec->ndim, s->spec->shape, i, at);
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "element %s has not been written yet: the array is being filled",
                    cip_shape_text(s->spec->ndim, at, text, sizeof text));
}

static cip_status slab_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    cip_slab *s = ((slab_io *)io)->slab;
    const uint64_t each = s->spec->dtype->itemsize;
    cip_status st = CIP_OK;
    bool *there;
    CIP_TRY(cip_mem_get(&io->env->mem, PIECE / (size_t)cip_min_u64(each, PIECE) + 2,
                        (void **)&there, err));
    for (size_t i = 0; i < n; i++)
        for (size_t at = 0, now; at < r[i].nbytes && st == CIP_OK; at += now) {
            now = (size_t)cip_min_u64(PIECE, r[i].nbytes - at);
            piece p = { s,
                        r[i].offset + at,
                        r[i].offset + at + now,
                        (uint8_t *)r[i].dst + at,
                        (r[i].offset + at) / each,
                        there };
            memset(there, 0, (size_t)((p.end - 1) / each - p.first) + 1);
            pthread_mutex_lock(&s->lock);
            st = read_piece(&p, err);
            pthread_mutex_unlock(&s->lock);
        }
    cip_mem_put(&io->env->mem, there);
    return st;
}

static const cip_io_ops slab_ops = {
    .name = "slab",
    .read_ranges = slab_read,
    .close = cip_io_free,
};

cip_status cip_slab_open(cip_slab *s, cip_env *env, cip_io **out, cip_err *err)
{
    uint64_t n;
    CIP_TRY(cip_io_new(env, &slab_ops, sizeof(slab_io), "slab", out, err));
    cip_shape_nelem(s->spec->ndim, s->spec->shape, &n);
    (*out)->size = n * s->spec->dtype->itemsize;
    ((slab_io *)*out)->slab = s;
    return CIP_OK;
}
