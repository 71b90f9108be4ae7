/* SPDX-License-Identifier: BSD-3-Clause
 * Changes of gridded arrays. The chunk grid is walked axis by axis from the slowest one on. On each
 * axis chunks are new (behind the last one there was, or in the midst), cut (the array's edge goes
 * through them and moves on), mixed (of elements that lay in several chunks, or elsewhere in one),
 * within the written range, or none of these; as soon as that is the same for all chunks below,
 * they are told as one run. */
#include "space/change/grid_change.h"

#include <string.h>

#include "base/num.h"
#include "space/read/grid_view.h"
#include "space/read/reader.h"

enum { PIECE = 1 << 20 };

typedef struct changing {
    const cip_grid_change *c;
    cip_grid_part_fn *fn;
    void *user;
    const cip_grid *old, *now;  /* old: NULL: none */
    int64_t nold[CIP_MAX_NDIM]; /* chunks along each axis as it was */
    int64_t first[CIP_MAX_NDIM],
        end[CIP_MAX_NDIM]; /* chunks along each axis that may be written to */
    bool writes, reshapes;
    bool same_from[CIP_MAX_NDIM + 1]; /* axes from this one on are as they were */
    cip_grid_view view;
    cip_io *spool; /* the feed's elements, packed in the order of the view; NULL: lent by it */
    cip_space *elems;
    cip_dtype type[2]; /* elements of the grid, and of the view, as bytes */
    cip_cast whole, item;
    cip_nd chunk; /* a chunk in C order */
    uint8_t *buf; /* a chunk */
    size_t nbuf;
    cip_grid_part run; /* not told yet; of no kind: none */
} changing;

/* --- telling ---------------------------------------------------------------------------------- */

static cip_status flush(changing *g, cip_err *err)
{
    cip_grid_part run = g->run;
    g->run.kind = 0;
    return run.kind != 0 ? g->fn(g->user, &run, err) : CIP_OK;
}

static cip_status tell_run(changing *g, cip_grid_part_kind kind, uint64_t i, uint64_t from,
                           uint64_t run, cip_err *err)
{
    cip_grid_part *r = &g->run;
    if (!g->reshapes || run == 0)
        return CIP_OK;
    if (r->kind == kind && r->i + r->run == i &&
        (kind == CIP_GRID_ZEROS || r->from + r->run == from)) {
        r->run += run;
        return CIP_OK;
    }
    CIP_TRY(flush(g, err));
    *r = (cip_grid_part){ .kind = kind, .i = i, .run = run, .from = from };
    return CIP_OK;
}

/* --- a chunk ---------------------------------------------------------------------------------- */

/* How many elements of a chunk along axis k are of an array that is `length` long. */
static int64_t valid_on(const cip_grid *g, int32_t k, int64_t length, int64_t coord)
{
    int64_t left = length - coord * g->chunk[k];
    return left < 0 ? 0 : cip_min_i64(left, g->chunk[k]);
}

/* The view's steps in the chunk; how many elements that are, 0: none. */
static uint64_t steps_in(const changing *g, const int64_t *coord, cip_view_steps *in)
{
    const cip_grid_view *b = &g->view;
    uint64_t n = 1;
    for (int32_t j = 0; j < b->nview; j++) {
        in->lo[j] = 0;
        in->hi[j] = b->view[j].n;
    }
    for (int32_t k = 0; k < g->now->ndim; k++) {
        const cip_grid_axis *a = &b->axis[k];
        if (a->view < 0)
            continue; /* all is in one chunk: within [first, end) */
        const cip_view_axis *v = &b->view[a->view];
        int64_t from = coord[k] * g->now->chunk[k] - a->start, to = from + g->now->chunk[k];
        in->lo[a->view] = from <= 0 ? 0 : (from + v->step - 1) / v->step;
        in->hi[a->view] = to <= 0 ? 0 : cip_min_i64(v->n, (to + v->step - 1) / v->step);
    }
    for (int32_t j = 0; j < b->nview; j++)
        n *= in->hi[j] > in->lo[j] ? (uint64_t)(in->hi[j] - in->lo[j]) : 0;
    return n;
}

/* Elements of the chunk that were there, to where they are; along the axis of a splice those
 * [lo, hi), which were `by` further on. */
static cip_status read_part(changing *g, const int64_t *coord, int64_t lo, int64_t hi, int64_t by,
                            cip_err *err)
{
    const cip_splice *s = g->c->splice;
    cip_nd from, to = g->chunk;
    if (g->old == NULL || g->c->old->len == 0)
        return CIP_OK;
    CIP_TRY(cip_view_c_order(g->old->ndim, g->old->shape, g->old->itemsize, &from, err));
    for (int32_t k = 0; k < from.ndim; k++) {
        const bool spliced = s != NULL && k == s->axis;
        const int64_t first = coord[k] * g->now->chunk[k], at = spliced ? lo : first;
        int64_t n = spliced ? hi - lo
                            : cip_min_i64(valid_on(g->old, k, g->old->shape[k], coord[k]),
                                          valid_on(g->now, k, g->now->shape[k], coord[k]));
        if (n <= 0)
            return CIP_OK;
        from.shape[k] = to.shape[k] = n;
        from.off += (uint64_t)((at + (spliced ? by : 0)) * from.stride[k]);
        to.off += (uint64_t)((at - first) * to.stride[k]);
    }
    return cip_space_gather(&g->c->how, g->c->old, &(cip_transfer){ &from, &g->whole, &to, g->buf },
                            NULL, err);
}

static cip_status read_old(changing *g, const int64_t *coord, cip_err *err)
{
    const cip_splice *s = g->c->splice;
    if (s == NULL)
        return read_part(g, coord, 0, 0, 0, err);
    const int32_t k = s->axis;
    const int64_t first = coord[k] * g->now->chunk[k], room = s->start + s->added,
                  end = first + valid_on(g->now, k, g->now->shape[k], coord[k]);
    CIP_TRY(read_part(g, coord, first, cip_min_i64(end, s->start), 0, err));
    return read_part(g, coord, first > room ? first : room, end, s->removed - s->added, err);
}

/* The written elements that belong there. */
static cip_status put_new(changing *g, const int64_t *coord, const cip_view_steps *in, cip_err *err)
{
    const cip_grid_view *b = &g->view;
    cip_nd from = { .itemsize = b->itemsize, .ndim = b->nview }, to = from;
    int64_t source = b->to_off, place = (int64_t)b->inside;
    for (int32_t k = 0; k < g->now->ndim; k++)
        place += (b->axis[k].start - coord[k] * g->now->chunk[k]) * g->chunk.stride[k];
    for (int32_t j = 0; j < b->nview; j++) {
        const cip_view_axis *v = &b->view[j];
        from.shape[j] = to.shape[j] = in->hi[j] - in->lo[j];
        from.stride[j] = v->to;
        to.stride[j] = v->along == CIP_AXIS_INSIDE ? v->step : v->step * g->chunk.stride[v->along];
        source += in->lo[j] * v->to;
        place += in->lo[j] * to.stride[j];
    }
    from.off = (uint64_t)source;
    to.off = (uint64_t)place;
    return cip_space_gather(&g->c->how, g->elems, &(cip_transfer){ &from, &g->item, &to, g->buf },
                            NULL, err);
}

/* What chunks that have the same place on the slower axes are. */
typedef struct place {
    int64_t coord[CIP_MAX_NDIM];
    uint64_t i, from; /* numbers of the first, counted in chunks of the axis that comes next */
    bool fresh, mixed, cut, viewed;
} place;

/* The number that all of them had; those that are mixed had several. */
static uint64_t from_of(const place *p)
{
    return p->fresh || p->mixed ? UINT64_MAX : p->from;
}

static cip_status tell_chunk(changing *g, const place *p, bool written, const cip_view_steps *in,
                             cip_err *err)
{
    int64_t valid[CIP_MAX_NDIM];
    uint64_t nvalid = 1, n = 1, covers = written && g->view.itemsize == g->now->itemsize;
    for (int32_t k = 0; k < g->now->ndim; k++) {
        valid[k] = valid_on(g->now, k, g->now->shape[k], p->coord[k]);
        nvalid *= (uint64_t)valid[k];
    }
    for (int32_t j = 0; covers != 0 && j < g->view.nview; j++)
        n *= (uint64_t)(in->hi[j] - in->lo[j]);
    covers = covers != 0 && n == nvalid; /* no two of them are one element */
    CIP_TRY(flush(g, err));
    if (covers == 0 || nvalid * g->now->itemsize != g->nbuf)
        memset(g->buf, 0, g->nbuf);
    if (covers == 0 && !p->fresh)
        CIP_TRY(read_old(g, p->coord, err));
    if (written)
        CIP_TRY(put_new(g, p->coord, in, err));
    const cip_grid_part part = { .kind = CIP_GRID_ELEMS,
                                 .i = p->i,
                                 .run = 1,
                                 .from = from_of(p),
                                 .elems = { g->buf, g->nbuf },
                                 .coord = p->coord,
                                 .valid = valid };
    return g->fn(g->user, &part, err);
}

/* Whether all that another shape brings into view of a chunk which the array's old edge cuts is
 * zeros: then the chunk stays as it is stored. Its padding may also hold what was cut off before.
 */
static cip_status shows_zeros(changing *g, const place *p, bool *zeros, cip_err *err)
{
    cip_space whole = *g->c->old; /* its chunks as an array without an edge in them */
    cip_grid grid = *g->old;
    int64_t shape[CIP_MAX_NDIM];
    cip_nd all;
    cip_chunk c;
    *zeros = false;
    for (int32_t k = 0; k < grid.ndim; k++)
        if (cip_mul_overflow(g->nold[k], grid.chunk[k], &shape[k]))
            return CIP_OK;
    grid.shape = shape;
    whole.grid = &grid;
    if (cip_view_c_order(grid.ndim, shape, grid.itemsize, &all, NULL) != CIP_OK ||
        !cip_shape_nelem(grid.ndim, shape, &whole.len) ||
        cip_mul_overflow(whole.len, grid.itemsize, &whole.len))
        return CIP_OK;
    CIP_TRY(cip_chunk_entry(&whole, p->from, cip_grid_raw_len(&grid), NULL, &c, err));
    if (c.state != CIP_CHUNK_DATA) /* cheap to make anew */
        return CIP_OK;
    for (int32_t edge = 0; edge < grid.ndim; edge++) { /* beyond it, within those before */
        cip_nd from = all, to;
        uint64_t nbytes = grid.itemsize;
        for (int32_t k = 0; k < grid.ndim; k++) {
            const int64_t was = valid_on(g->old, k, g->old->shape[k], p->coord[k]),
                          is = valid_on(g->now, k, g->now->shape[k], p->coord[k]),
                          lo = k == edge ? was : 0, hi = k < edge ? cip_min_i64(was, is) : is;
            from.shape[k] = hi > lo ? hi - lo : 0;
            from.off += (uint64_t)((p->coord[k] * grid.chunk[k] + lo) * all.stride[k]);
            nbytes *= (uint64_t)from.shape[k];
        }
        if (nbytes == 0)
            continue;
        CIP_TRY(cip_view_c_order(grid.ndim, from.shape, grid.itemsize, &to, err));
        CIP_TRY(cip_space_gather(&g->c->how, &whole,
                                 &(cip_transfer){ &from, &g->whole, &to, g->buf }, NULL, err));
        if (g->buf[0] != 0 || memcmp(g->buf, g->buf + 1, (size_t)nbytes - 1) != 0)
            return CIP_OK;
    }
    *zeros = true;
    return CIP_OK;
}

/* --- all chunks ------------------------------------------------------------------------------- */

/* The number along axis k of the chunk that this one was; -1: it is mixed, or new in the midst. */
static int64_t was_at(const changing *g, int32_t k, int64_t c)
{
    const cip_splice *s = g->c->splice;
    if (s == NULL || k != s->axis)
        return c;
    const int64_t each = g->now->chunk[k], first = c * each, by = s->removed - s->added;
    if (first + valid_on(g->now, k, g->now->shape[k], c) <= s->start)
        return c;
    return first >= s->start + s->added && by % each == 0 ? c + by / each : -1;
}

/* Whether all of a chunk that was nowhere comes. */
static bool comes(const changing *g, int32_t k, int64_t c)
{
    const cip_splice *s = g->c->splice;
    const int64_t first = c * g->now->chunk[k];
    return first >= s->start &&
           first + valid_on(g->now, k, g->now->shape[k], c) <= s->start + s->added;
}

/* Behind the chunks from `c` on that are alike as far as axis k tells. */
static int64_t end_of_alike(const changing *g, int32_t k, int64_t c)
{
    const cip_splice *s = g->c->splice;
    const int64_t each = g->now->chunk[k];
    int64_t end = cip_grid_nchunk(g->now, k);
    int64_t at[] = { g->nold[k] - 1, g->nold[k], end - 1, g->first[k], g->end[k], 0, 0, 0, 0 };
    if (s != NULL && k == s->axis) {
        at[5] = s->start / each;
        at[6] = at[5] + 1;
        at[7] = (s->start + s->added) / each;
        at[8] = at[7] + 1;
    }
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        if (at[i] > c && at[i] < end)
            end = at[i];
    return end;
}

/* What the chunk is as far as axis k tells. */
static place on_axis(const changing *g, const place *above, int32_t k, int64_t c)
{
    const int64_t was = was_at(g, k, c);
    place p = *above;
    p.fresh = p.fresh || was >= g->nold[k] || (was < 0 && comes(g, k, c));
    p.mixed = p.mixed || was < 0;
    if (g->old != NULL && was >= 0 && was < g->nold[k]) /* of others, other than by being cut off */
        p.cut = p.cut || valid_on(g->now, k, g->now->shape[k], c) >
                             valid_on(g->old, k, g->old->shape[k], was);
    p.viewed = p.viewed && c >= g->first[k] && c < g->end[k];
    p.i = above->i * (uint64_t)cip_grid_nchunk(g->now, k) + (uint64_t)c;
    p.from = above->from * (uint64_t)g->nold[k] + (uint64_t)was;
    return p;
}

static cip_status walk(changing *g, int32_t k, const place *above, cip_err *err)
{
    if (k == g->now->ndim) {
        cip_view_steps in;
        const bool written = above->viewed && steps_in(g, above->coord, &in) != 0;
        bool cut = above->cut, zeros = false;
        if (!written && cut && !above->mixed && !above->fresh && g->c->splice == NULL)
            CIP_TRY(shows_zeros(g, above, &zeros, err));
        cut = cut && !zeros;
        if (written || ((cut || above->mixed) && !above->fresh))
            return tell_chunk(g, above, written, &in, err);
        return tell_run(g, above->fresh ? CIP_GRID_ZEROS : CIP_GRID_KEPT, above->i, from_of(above),
                        1, err);
    }
    const uint64_t n = (uint64_t)cip_grid_nchunk(g->now, k);
    uint64_t below = 1;
    for (int32_t d = k + 1; d < g->now->ndim; d++)
        below *= (uint64_t)cip_grid_nchunk(g->now, d);
    for (int64_t c = 0, end; c < (int64_t)n; c = end) {
        place p = on_axis(g, above, k, c);
        end = end_of_alike(g, k, c);
        if (!p.viewed && (p.fresh || (!p.cut && !p.mixed && g->same_from[k + 1]))) {
            CIP_TRY(tell_run(g, p.fresh ? CIP_GRID_ZEROS : CIP_GRID_KEPT, p.i * below,
                             p.fresh ? UINT64_MAX : p.from * below, (uint64_t)(end - c) * below,
                             err));
            continue;
        }
        for (; c < end; c++, p.i++, p.from++) {
            p.coord[k] = c;
            CIP_TRY(walk(g, k + 1, &p, err));
        }
    }
    return CIP_OK;
}

/* --- beginning -------------------------------------------------------------------------------- */

static cip_status spool_feed(changing *g, const cip_nd *packed, uint64_t nelem, cip_err *err)
{
    cip_env *env = g->c->how.layout->env;
    const cip_feed *feed = g->c->feed;
    cip_status st = CIP_OK;
    void *buf;
    const uint8_t *lent = feed->lend != NULL ? feed->lend(feed->self, nelem) : NULL;
    uint64_t size = packed->itemsize, most = cip_min_u64(nelem, cip_max_u64(1, PIECE / size));
    if (lent != NULL)
        return cip_space_new_mem(g->c->how.layout, (cip_bytes){ lent, nelem * size }, &g->elems,
                                 err);
    CIP_TRY(cip_temporary_new(env, cip_io_path(g->c->how.layout->io), &g->spool, err));
    CIP_TRY(cip_mem_zeroed(&env->mem, (size_t)most, (size_t)size, &buf, err));
    for (uint64_t left = nelem, n; left != 0; left -= n) {
        n = cip_min_u64(most, left);
        CIP_GO(feed->next(feed->self, n, buf, err));
        CIP_GO(cip_temporary_write(g->spool, g->spool->size, buf, (size_t)(n * size), err));
    }
    st = cip_space_new_file(g->c->how.layout, g->spool, &g->elems, err);
done:
    cip_mem_put(&env->mem, buf);
    return st;
}

static cip_status as_bytes(uint64_t itemsize, cip_dtype *type, cip_cast *out, cip_err *err)
{
    *type = (cip_dtype){ .kind = CIP_OPAQUE, .itemsize = itemsize, .name = "bytes" };
    return cip_cast_make(type, type, CIP_OVERFLOW_ERROR, out, err);
}

static cip_status take_elements(changing *g, cip_err *err)
{
    const cip_nd *at = g->c->at;
    cip_nd packed;
    uint64_t nelem;
    if (at == NULL || !cip_shape_nelem(at->ndim, at->shape, &nelem) || nelem == 0 ||
        at->itemsize == 0 || g->now->itemsize == 0)
        return CIP_OK;
    CIP_TRY(cip_view_c_order(at->ndim, at->shape, at->itemsize, &packed, err));
    if (!cip_grid_view_make(g->now, at, &packed, &g->view))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected elements along the array's axes");
    for (int32_t j = 0; j < g->view.nview; j++)
        if (g->view.view[j].along == CIP_AXIS_NOWHERE)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "elements that share bytes cannot be written one by one");
    for (int32_t k = 0; k < g->now->ndim; k++) {
        const cip_grid_axis *a = &g->view.axis[k];
        const cip_view_axis *v = a->view < 0 ? NULL : &g->view.view[a->view];
        int64_t last = a->start + (v != NULL ? (v->n - 1) * v->step : 0);
        g->first[k] = a->start / g->now->chunk[k];
        g->end[k] = last / g->now->chunk[k] + 1;
    }
    g->writes = true;
    CIP_TRY(spool_feed(g, &packed, nelem, err));
    return as_bytes(at->itemsize, &g->type[1], &g->item, err);
}

static cip_status run(changing *g, cip_err *err)
{
    const cip_grid *now = g->now;
    uint64_t nbytes;
    CIP_TRY(as_bytes(now->itemsize, &g->type[0], &g->whole, err));
    CIP_TRY(take_elements(g, err));
    CIP_TRY(cip_view_c_order(now->ndim, now->chunk, now->itemsize, &g->chunk, err));
    if (!cip_shape_nelem(now->ndim, now->chunk, &nbytes) ||
        cip_mul_overflow(nbytes, now->itemsize, &g->nbuf))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "chunks of over 2^64 bytes");
    CIP_TRY(cip_mem_get(&g->c->how.layout->env->mem, g->nbuf, (void **)&g->buf, err));
    const place all = { .viewed = g->writes, .fresh = g->old == NULL };
    CIP_TRY(walk(g, 0, &all, err));
    return flush(g, err);
}

cip_status cip_grid_change_run(const cip_grid_change *c, cip_grid_part_fn *fn, void *user,
                               cip_err *err)
{
    changing g = { .c = c, .fn = fn, .user = user, .now = c->grid };
    g.old = c->old != NULL ? c->old->grid : NULL;
    g.reshapes = g.old == NULL;
    g.same_from[g.now->ndim] = true;
    for (int32_t k = g.now->ndim - 1; k >= 0; k--) {
        bool same = g.old != NULL && g.old->shape[k] == g.now->shape[k] &&
                    (g.c->splice == NULL || k != g.c->splice->axis);
        g.nold[k] = g.old != NULL ? cip_grid_nchunk(g.old, k) : 0;
        g.same_from[k] = g.same_from[k + 1] && same;
        g.reshapes = g.reshapes || !same;
    }
    cip_status st = run(&g, err);
    cip_mem_put(&c->how.layout->env->mem, g.buf);
    cip_io_close(g.spool);
    return st;
}
