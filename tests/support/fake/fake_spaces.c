/* SPDX-License-Identifier: BSD-3-Clause
 * Fake spaces of every kind, one in the other. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "support/fake/fake.h"

static cip_space *in_file(fake *f, const uint8_t *bytes, size_t n)
{
    cip_space *s;
    uint64_t at = fake_append(f, bytes, n);
    FAKE_MUST(cip_space_new_sub(f->layout, f->layout->file, at, n, &s, err));
    return s;
}

static cip_space *in_memory(fake *f, const uint8_t *bytes, size_t n)
{
    cip_space *s;
    uint8_t *own = fake_keep(f, n);
    if (n != 0)
        memcpy(own, bytes, n);
    FAKE_MUST(cip_space_new_mem(f->layout, (cip_bytes){ own, n }, &s, err));
    return s;
}

/* The middle of something larger. */
static cip_space *in_the_middle(fake *f, uint8_t *bytes, size_t n, unsigned depth, bool fixed)
{
    cip_space *outer, *s;
    size_t before = (size_t)fake_pick(f, 0, 20), after = (size_t)fake_pick(f, 0, 20);
    uint8_t *all = fake_random(f, before + n + after);
    (void)fixed;
    if (n != 0)
        memcpy(all + before, bytes, n);
    outer = fake_any_space(f, all, before + n + after, depth, true);
    FAKE_MUST(cip_space_new_sub(f->layout, outer, before, n, &s, err));
    return s;
}

static cip_space *in_sequence(fake *f, const uint8_t *bytes, size_t n, unsigned depth)
{
    cip_space *s;
    cip_step step = { .codec = fake_chance(f, 2) ? &fake_trickle : cip_codec_find("zlib") };
    cip_codec_env env = { .typesize = 1 };
    fake_bytes b = fake_encode(f, step.codec, &env, bytes, n);
    cip_extent at = { .in = fake_any_space(f, b.ptr, b.len, depth, true), .len = b.len };
    FAKE_MUST(cip_space_new_seq(f->layout, &at, n, &step, &s, err));
    s->label = "fake stream";
    return s;
}

static cip_status hand_over(void *self, cip_space **out, cip_err *err)
{
    (void)err;
    *out = self;
    return CIP_OK;
}

static cip_space *not_yet(fake *f, uint8_t *bytes, size_t n, unsigned depth, bool fixed)
{
    cip_space *s, *later = fake_any_space(f, bytes, n, depth, fixed);
    FAKE_MUST(cip_space_new_lazy(f->layout, hand_over, later, &s, err));
    return s;
}

cip_space *fake_space(fake *f, fake_kind kind, uint8_t *bytes, size_t n, unsigned depth, bool fixed)
{
    uint8_t *gone = f->gone;
    cip_space *s;
    unsigned below = depth == 0 ? 0 : depth - 1;
    if (kind != FAKE_CHUNKED && kind != FAKE_UNEQUAL)
        f->gone = NULL;
    switch (kind) {
    case FAKE_FILE:
        s = in_file(f, bytes, n);
        break;
    case FAKE_SUB:
        s = in_the_middle(f, bytes, n, below, fixed);
        break;
    case FAKE_CHUNKED:
    case FAKE_UNEQUAL:
        s = fake_chunked(f, bytes, n, below, fixed, kind == FAKE_CHUNKED);
        break;
    case FAKE_SEQ:
        s = in_sequence(f, bytes, n, below);
        break;
    case FAKE_LAZY:
        s = not_yet(f, bytes, n, below, fixed);
        break;
    case FAKE_IN_ORDER:
        s = fake_in_order(f, bytes, n, below, fixed);
        break;
    default:
        s = in_memory(f, bytes, n);
        break;
    }
    f->gone = gone;
    return s;
}

cip_space *fake_any_space(fake *f, uint8_t *bytes, size_t n, unsigned depth, bool fixed)
{
    fake_kind last = depth == 0 ? FAKE_MEM : FAKE_NKIND - 1;
    return fake_space(f, (fake_kind)fake_pick(f, FAKE_FILE, last), bytes, n, depth, fixed);
}

/* --- grids ----------------------------------------------------------------------------------- */

void fake_plan_grid(fake *f, const int64_t *shape, int32_t ndim, size_t itemsize, fake_geometry *p)
{
    memset(p, 0, sizeof *p);
    p->g = (cip_grid){ .itemsize = itemsize, .ndim = ndim, .shape = p->shape, .chunk = p->chunk };
    p->g.blocked = fake_chance(f, 2);
    bool wider = p->g.blocked || fake_chance(f, 3);
    p->total = 1;
    for (int32_t k = 0; k < ndim; k++) {
        p->shape[k] = shape[k];
        p->chunk[k] = (int64_t)fake_pick(f, 1, (uint64_t)shape[k] + 2);
        if (p->chunk[k] * 6 < shape[k])
            p->chunk[k] = shape[k] / 6 + 1;
        p->stored[k] = p->chunk[k] + (wider ? (int64_t)fake_pick(f, 0, 2) : 0);
        p->block[k] = (int64_t)fake_pick(f, 1, (uint64_t)p->stored[k]);
        if (p->g.blocked)
            p->stored[k] = (p->stored[k] + p->block[k] - 1) / p->block[k] * p->block[k];
        p->nchunk[k] = (shape[k] + p->chunk[k] - 1) / p->chunk[k];
        p->total *= (size_t)p->nchunk[k];
    }
    p->g.stored = wider ? p->stored : NULL;
    p->g.block = p->block;
}

/* One chunk, by its place in the chunk grid. */
typedef struct grid_at {
    const fake_geometry *p;
    int64_t coord[CIP_MAX_NDIM], len[CIP_MAX_NDIM]; /* len: as stored */
    size_t n;                                       /* elements stored */
} grid_at;

static grid_at locate(const fake_geometry *p, size_t i)
{
    grid_at a = { .p = p, .n = 1 };
    int32_t ndim = p->g.ndim;
    for (int32_t k = ndim - 1; k >= 0; k--) {
        a.coord[k] = (int64_t)(i % (size_t)p->nchunk[k]);
        i /= (size_t)p->nchunk[k];
        a.len[k] = p->g.stored != NULL ? p->stored[k] : p->chunk[k];
        a.n *= (size_t)a.len[k];
    }
    return a;
}

/* Where element j of the stored chunk is in it. */
static void place_of(const grid_at *a, size_t j, int64_t *idx)
{
    const fake_geometry *p = a->p;
    for (int32_t k = p->g.ndim - 1; k >= 0; k--) {
        size_t len = (size_t)(p->g.blocked ? p->block[k] : a->len[k]);
        idx[k] = (int64_t)(j % len);
        j /= len;
    }
    for (int32_t k = p->g.ndim - 1; p->g.blocked && k >= 0; k--) {
        size_t nblock = (size_t)(a->len[k] / p->block[k]);
        idx[k] += (int64_t)(j % nblock) * p->block[k];
        j /= nblock;
    }
}

/* Element j of the stored chunk in the array's C order; SIZE_MAX for padding. */
static size_t element_of(const grid_at *a, size_t j)
{
    int64_t idx[CIP_MAX_NDIM];
    const fake_geometry *p = a->p;
    bool padding = false;
    size_t c = 0;
    place_of(a, j, idx);
    for (int32_t k = 0; k < p->g.ndim; k++) {
        padding = padding || idx[k] >= p->chunk[k];
        idx[k] += a->coord[k] * p->chunk[k];
        padding = padding || idx[k] >= p->shape[k];
    }
    for (int32_t k = 0; k < p->g.ndim; k++)
        c = c * (size_t)p->shape[k] + (size_t)idx[k];
    return padding ? SIZE_MAX : c;
}

size_t fake_chunk_elems(const fake_geometry *p, size_t chunk)
{
    return locate(p, chunk).n;
}

size_t fake_element_of(const fake_geometry *p, size_t chunk, size_t j)
{
    grid_at a = locate(p, chunk);
    return element_of(&a, j);
}

/* Between the array and a stored chunk. */
static void move_chunk(const grid_at *a, uint8_t *array, uint8_t *chunk, bool to_chunk)
{
    size_t size = (size_t)a->p->g.itemsize;
    for (size_t j = 0; j < a->n; j++) {
        size_t c = element_of(a, j);
        if (c == SIZE_MAX)
            continue;
        if (to_chunk)
            memcpy(chunk + j * size, array + c * size, size);
        else
            memcpy(array + c * size, chunk + j * size, size);
    }
}

static void lose_chunk(fake *f, const grid_at *a, cip_chunk *c)
{
    size_t size = (size_t)a->p->g.itemsize;
    c->state = CIP_CHUNK_MISSING;
    c->why = CIP_ERR_NOT_FOUND;
    for (size_t j = 0; j < a->n; j++) {
        size_t e = element_of(a, j);
        if (e != SIZE_MAX)
            memset(f->gone + e * size, 1, size);
    }
}

cip_space *fake_grid(fake *f, const int64_t *shape, int32_t ndim, size_t itemsize, uint8_t *bytes,
                     unsigned depth)
{
    fake_geometry p;
    cip_space *s;
    fake_plan_grid(f, shape, ndim, itemsize, &p);
    cip_chunk *c = fake_keep(f, (p.total + 1) * sizeof *c);
    fake_bytes *stored = fake_keep(f, (p.total + 1) * sizeof *stored);
    fake_pipe pipe = fake_pick_pipe(f, fake_chance(f, 3)); /* perhaps one that minds the shapes */
    cip_codec_env env = { .typesize = itemsize,
                          .ndim = ndim,
                          .chunk = p.g.stored != NULL ? p.stored : p.chunk,
                          .block = p.block };
    for (size_t i = 0; i < p.total; i++) {
        grid_at a = locate(&p, i);
        uint8_t *raw = fake_random(f, a.n * itemsize);
        c[i] = (cip_chunk){ .raw_len = fake_chance(f, 2) ? a.n * itemsize : 0 };
        move_chunk(&a, bytes, raw, true);
        if (f->gone != NULL && fake_chance(f, 12))
            lose_chunk(f, &a, &c[i]);
        else
            fake_make_chunk(f, &c[i], &pipe, &env, raw, a.n * itemsize, false, &stored[i]);
        move_chunk(&a, bytes, raw, false);
    }
    fake_place_chunks(f, c, stored, p.total, depth);
    cip_table t;
    FAKE_MUST(cip_table_from_array(f->layout, c, p.total, &t, err));
    FAKE_MUST(cip_space_new_grid(f->layout, &p.g, &t, pipe.step, pipe.n, &s, err));
    s->label = "fake grid";
    return s;
}
