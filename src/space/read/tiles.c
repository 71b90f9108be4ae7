/* SPDX-License-Identifier: BSD-3-Clause
 * Elements read through byte spans, a tile after the other. A tile is read one of three ways:
 * DIRECT, its runs straight to the destination, where elements only change their byte order on the
 * way; COVER, all bytes from its first to its last in one go, where they lie close together; RUNS,
 * each run of its own, packed, where they do not. */
#include "space/read/reader.h"

enum { DIRECT, COVER, RUNS };

/* A box of fewer runs is not worth a buffer. */
enum { FEW = 8 };

typedef struct tiling {
    cip_gather *g;
    int way;
    uint64_t buffer; /* bytes */
    uint64_t run;    /* source elements that lie one behind the other */
    int32_t
        axis; /* COVER: a tile is `count` steps of this axis and all of those behind it; -1: all */
    uint64_t count;
    uint64_t block, per; /* source elements of one step; steps of `axis` in all */
    uint64_t tile;       /* DIRECT, RUNS: source elements in a tile */
    uint64_t ntile, per_job;
} tiling;

/* --- planning -------------------------------------------------------------------------------- */

/* Steps of an axis that fit into the buffer behind what one of them spans; 0: they lie too far
 * apart to be read in one go. */
static uint64_t steps_that_fit(const tiling *p, const cip_axis *a, uint64_t span)
{
    uint64_t step = (uint64_t)a->from;
    if (step > span && step - span > p->g->rd.tune->gap)
        return 0;
    if (span >= p->buffer)
        return 1;
    return cip_min_u64((p->buffer - span) / step + 1, (uint64_t)a->n);
}

/* The largest box of inner axes whose bytes fit into the buffer. Returns whether only a gap ended
 * it. */
static bool choose_cover(tiling *p)
{
    const cip_walk *w = &p->g->w;
    int32_t k = w->nouter - 1;
    bool gap = false;
    p->axis = -1;
    p->count = p->block = p->per = 1;
    for (; k >= 0; k--) {
        uint64_t fit = steps_that_fit(p, &w->axis[k], cip_walk_span(w, k, 1));
        if (fit < (uint64_t)w->axis[k].n) {
            gap = fit == 0;
            p->axis = k;
            p->count = fit == 0 ? 1 : fit;
            p->per = (uint64_t)w->axis[k].n;
            break;
        }
        p->block *= (uint64_t)w->axis[k].n;
    }
    p->ntile = w->nsource / (p->block * p->per) * cip_div_up(p->per, p->count);
    return gap;
}

/* Whether runs of source bytes are runs at the destination too, but for their byte order. */
static bool can_be_direct(const cip_gather *g, uint64_t run)
{
    const cip_walk *w = &g->w;
    if (!cip_cast_in_place(g->cast) || !w->nested || w->ndim != w->nouter)
        return false;
    return run == 1 || w->axis[w->nouter - 1].to == (int64_t)w->to_size;
}

static void tile_by_count(tiling *p, uint64_t bytes)
{
    const cip_walk *w = &p->g->w;
    uint64_t fit = bytes / cip_max_u64(w->itemsize, 1);
    if (w->nsource > p->run)
        fit = cip_min_u64(fit, p->run * p->g->rd.tune->runs);
    p->tile = cip_max_u64(cip_min_u64(fit, w->nsource), 1);
    p->ntile = cip_div_up(w->nsource, p->tile);
}

static void choose_tiles(tiling *p)
{
    const cip_walk *w = &p->g->w;
    const cip_tuning *t = p->g->rd.tune;
    bool leaf = p->g->s->kind == CIP_SPACE_FILE;
    const cip_axis *last = w->nouter != 0 ? &w->axis[w->nouter - 1] : NULL;
    p->run = last != NULL && last->from == (int64_t)w->itemsize ? (uint64_t)last->n : 1;
    p->buffer = t->buffer * (cip_walk_turns(w) ? 2 : 1); /* fewer half-written cache lines */
    bool gap = choose_cover(p);
    bool sparse = gap && p->block * p->count < FEW * p->run;
    bool direct = p->run * w->itemsize >= t->long_run || sparse;
    if (leaf &&
        !cip_cast_is_copy(p->g->cast)) /* cheaper through a buffer that stays in the cache */
        direct = false;
    if (direct && can_be_direct(p->g, p->run))
        p->way = DIRECT;
    else
        p->way = sparse && w->nested ? RUNS : COVER;
    if (p->way == DIRECT)
        tile_by_count(p, leaf ? t->direct : UINT64_MAX);
    else if (p->way == RUNS)
        tile_by_count(p, p->buffer);
}

/* --- a tile ---------------------------------------------------------------------------------- */

static void elements_of(const tiling *p, uint64_t i, uint64_t *e0, uint64_t *e1)
{
    if (p->way != COVER) {
        *e0 = i * p->tile;
        *e1 = cip_min_u64(*e0 + p->tile, p->g->w.nsource);
        return;
    }
    uint64_t across = cip_div_up(p->per, p->count);
    uint64_t step = i % across * p->count;
    uint64_t row = i / across * p->per;
    *e0 = (row + step) * p->block;
    *e1 = (row + cip_min_u64(step + p->count, p->per)) * p->block;
}

/* The runs of a tile: to the destination, or packed into `buffer`. */
static cip_status read_runs(const tiling *p, uint64_t e0, uint64_t e1, uint8_t *buffer,
                            cip_err *err)
{
    cip_gather *g = p->g;
    cip_want want[CIP_TUNE_RUNS_MAX];
    cip_walk_at at;
    cip_walk_seek(&g->w, e0, &at);
    while (at.e < e1) {
        size_t n = 0;
        while (n < g->rd.tune->runs && at.e < e1) {
            uint64_t count = p->run == 1 ? 1 : cip_min_u64(cip_walk_row(&at), e1 - at.e);
            uint8_t *dst =
                buffer != NULL ? buffer + (at.e - e0) * g->w.itemsize : g->dst + at.to_off;
            want[n++] = (cip_want){ at.off, (size_t)(count * g->w.itemsize), dst };
            cip_walk_skip(&at, count);
        }
        CIP_TRY(cip_rd_spans(&g->rd, g->s, 0, want, n, err));
    }
    return CIP_OK;
}

/* A slice of a direct tile that another reader filled. */
typedef struct swap_job {
    const tiling *p;
    uint64_t e0, e1, each;
} swap_job;

static cip_status run_swap(void *arg, size_t i, cip_err *err)
{
    const swap_job *j = arg;
    uint64_t e0 = j->e0 + i * j->each;
    (void)err;
    /* The byte order of elements that lie where they belong. */
    uint64_t e1 = cip_min_u64(e0 + j->each, j->e1);
    cip_gather *g = j->p->g;
    cip_walk_at at;
    cip_cast_stats stats = { 0, 0 };
    const cip_walk *w = &g->w;
    int64_t stride = w->nouter != 0 ? w->axis[w->nouter - 1].to : 0;
    cip_walk_seek(w, e0, &at);
    while (at.e < e1) {
        uint64_t n = cip_min_u64(cip_walk_row(&at), e1 - at.e);
        uint8_t *dst = g->dst + at.to_off;
        cip_cast_run(g->cast, (size_t)n, dst, stride, dst, stride, 0, &stats);
        cip_walk_skip(&at, n);
    }
    return CIP_OK;
}

static cip_status read_direct(const tiling *p, uint64_t e0, uint64_t e1, cip_err *err)
{
    CIP_TRY(read_runs(p, e0, e1, NULL, err));
    if (cip_cast_is_copy(p->g->cast))
        return CIP_OK;
    swap_job j = { p, e0, e1, p->g->rd.tune->job / cip_max_u64(p->g->w.itemsize, 1) + 1 };
    return cip_pool_run(p->g->rd.pool, (size_t)cip_div_up(e1 - e0, j.each), run_swap, &j, err);
}

enum { CAREFUL = 4096 }; /* runs read one by one before giving up */

/* A tile whose bytes cannot all be read, run by run: what is wrong may lie between them. */
static cip_status read_carefully(const tiling *p, cip_walk_cast_args a, uint8_t *buffer,
                                 cip_err *err)
{
    cip_gather *g = p->g;
    cip_walk_at at;
    uint64_t end = a.e1;
    a.how = CIP_SRC_PACKED;
    for (cip_walk_seek(&g->w, a.e0, &at); at.e < end;) {
        a.e0 = at.e;
        a.e1 = at.e + (p->run == 1 ? 1 : cip_min_u64(cip_walk_row(&at), end - at.e));
        size_t n = (size_t)((a.e1 - a.e0) * g->w.itemsize);
        CIP_TRY(cip_rd_at(&g->rd, g->s, at.off, buffer, n, err));
        cip_gather_cast(g, &g->w, a);
        cip_walk_skip(&at, a.e1 - a.e0);
    }
    return CIP_OK;
}

static cip_status read_staged(const tiling *p, uint64_t e0, uint64_t e1, uint8_t *buffer,
                              cip_err *err)
{
    cip_gather *g = p->g;
    cip_walk_at at;
    cip_walk_cast_args a = { .e0 = e0, .e1 = e1, .src = buffer };
    if (p->way == COVER) {
        cip_walk_seek(&g->w, e0, &at);
        a.how = CIP_SRC_PLACED;
        a.base = at.off;
        uint64_t span = cip_walk_span(&g->w, p->axis, (e1 - e0) / p->block);
        cip_err found = CIP_ERR_INIT;
        cip_status st = cip_rd_at(&g->rd, g->s, at.off, buffer, (size_t)span, &found);
        if (st != CIP_OK && (e1 - e0) / p->run > CAREFUL)
            return cip_err_give(err, &found, st);
        if (st != CIP_OK)
            return read_carefully(p, a, buffer, err);
    } else {
        a.how = CIP_SRC_PACKED;
        CIP_TRY(read_runs(p, e0, e1, buffer, err));
    }
    cip_gather_cast(g, &g->w, a);
    return CIP_OK;
}

static cip_status run_job(void *arg, size_t j, cip_err *err)
{
    const tiling *p = arg;
    cip_pooled room = { NULL, 0 };
    cip_status st = CIP_OK;
    if (p->way != DIRECT) {
        const cip_walk *w = &p->g->w;
        uint64_t n = p->way == COVER ? cip_walk_span(w, p->axis, p->count) : p->tile * w->itemsize;
        size_t size;
        if (!cip_to_size(n, &size))
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "elements of %" PRIu64 " bytes", n);
        CIP_TRY(cip_buffer_pool_take(p->g->rd.buffers, size, &room, err));
    }
    uint64_t end = cip_min_u64((j + 1) * p->per_job, p->ntile);
    for (uint64_t i = j * p->per_job; i < end && st == CIP_OK; i++) {
        uint64_t e0, e1;
        elements_of(p, i, &e0, &e1);
        st = p->way == DIRECT ? read_direct(p, e0, e1, err) : read_staged(p, e0, e1, room.ptr, err);
    }
    cip_buffer_pool_give(p->g->rd.buffers, &room);
    return st;
}

/* Files are read by jobs of tiles. Other spaces share out the work of each span among themselves,
 * and some must be gone through in order: their tiles come one after the other. */
cip_status cip_gather_tiles(cip_gather *g, cip_err *err)
{
    tiling p = { .g = g };
    choose_tiles(&p);
    const uint64_t n = p.way == COVER ? p.block * p.count : p.tile;
    const uint64_t cost = n * g->w.itemsize /* of a tile, in bytes moved */ +
                          g->rd.tune->call * (p.way == COVER ? 1 : n / p.run + 1);
    p.per_job = cip_max_u64(g->rd.tune->job / cost, 1);
    size_t njob = (size_t)cip_div_up(p.ntile, p.per_job);
    if (g->s->kind == CIP_SPACE_FILE)
        return cip_pool_run(g->rd.pool, njob, run_job, &p, err);
    cip_status st = CIP_OK;
    for (size_t j = 0; j < njob && st == CIP_OK; j++)
        st = run_job(&p, j, err);
    return st;
}
