/* SPDX-License-Identifier: BSD-3-Clause
 * n-d chunks: their geometry, and spans of the array's linear bytes: each falls into runs along the
 * last axis, the runs are sorted by chunk, and each chunk is a job. */
#include "space/read/grid.h"

#include <stdlib.h>

#include "space/read/reader.h"

int64_t cip_grid_nchunk(const cip_grid *g, int32_t k)
{
    return (int64_t)cip_div_up((uint64_t)g->shape[k], (uint64_t)g->chunk[k]);
}

void cip_grid_coord(const cip_grid *g, uint64_t i, int64_t *coord)
{
    for (int32_t k = g->ndim - 1; k >= 0; k--) {
        uint64_t per = (uint64_t)cip_grid_nchunk(g, k);
        coord[k] = (int64_t)(i % per);
        i /= per;
    }
}

void cip_grid_chunk_at(const cip_grid *g, const int64_t *coord, cip_grid_chunk *out)
{
    uint64_t per = 1;
    out->i = 0;
    out->block_len = g->itemsize;
    for (int32_t k = g->ndim - 1; k >= 0; k--) {
        out->i += (uint64_t)coord[k] * per;
        per *= (uint64_t)cip_grid_nchunk(g, k);
        out->first[k] = coord[k] * g->chunk[k];
        out->stride[k] = (int64_t)out->block_len;
        int64_t len = g->stored != NULL ? g->stored[k] : g->chunk[k];
        out->block[k] = g->blocked ? g->block[k] : len;
        out->block_len *= (uint64_t)out->block[k];
    }
    out->raw_len = out->block_len;
    for (int32_t k = g->ndim - 1; g->blocked && k >= 0; k--) {
        out->step[k] = (int64_t)out->raw_len;
        out->raw_len *= (uint64_t)((g->stored != NULL ? g->stored : g->chunk)[k] / g->block[k]);
    }
    for (int32_t k = 0; !g->blocked && k < g->ndim; k++)
        out->step[k] = 0;
}

uint64_t cip_grid_raw_len(const cip_grid *g)
{
    const int64_t first[CIP_MAX_NDIM] = { 0 };
    cip_grid_chunk c;
    cip_grid_chunk_at(g, first, &c);
    return c.raw_len;
}

/* --- spans ----------------------------------------------------------------------------------- */

/* A run of bytes in one chunk. */
typedef struct piece {
    uint64_t chunk, raw_len;
    cip_want want;
} piece;

typedef struct batch {
    const cip_rd *rd;
    cip_space *s;
    piece *piece;
    cip_want *want; /* those of piece[], sorted */
    size_t *first;  /* of each chunk, and the end */
    size_t n, cap;
} batch;

static int by_chunk(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    return x->want.off < y->want.off ? -1 : x->want.off > y->want.off;
}

static cip_status run_job(void *arg, size_t j, cip_err *err)
{
    const batch *b = arg;
    size_t at = b->first[j];
    uint8_t head[CIP_HEAD_ROOM];
    cip_chunk c;
    CIP_TRY(cip_chunk_entry(b->s, b->piece[at].chunk, b->piece[at].raw_len, head, &c, err));
    const cip_chunk_wish w =
        cip_chunk_wish_of(b->piece[at].chunk, c.raw_len, b->want + at, b->first[j + 1] - at);
    return cip_chunk_pieces(b->rd, b->s, &c, &w, err);
}

static cip_status run_batch(batch *b, cip_err *err)
{
    size_t nchunk = 0;
    qsort(b->piece, b->n, sizeof *b->piece, by_chunk);
    for (size_t i = 0; i < b->n; i++) {
        if (i == 0 || b->piece[i].chunk != b->piece[i - 1].chunk)
            b->first[nchunk++] = i;
        b->want[i] = b->piece[i].want;
    }
    b->first[nchunk] = b->n;
    b->n = 0;
    return cip_pool_run(b->rd->pool, nchunk, run_job, b, err);
}

static cip_status add_piece(batch *b, const cip_grid_chunk *c, cip_want w, cip_err *err)
{
    piece *last = b->n != 0 ? &b->piece[b->n - 1] : NULL;
    if (last != NULL && last->chunk == c->i && last->want.off + last->want.len == w.off &&
        last->want.dst + last->want.len == w.dst) {
        last->want.len += w.len;
        return CIP_OK;
    }
    if (b->n == b->cap)
        CIP_TRY(run_batch(b, err));
    b->piece[b->n++] = (piece){ c->i, c->raw_len, w };
    return CIP_OK;
}

/* How many bytes from array byte `pos` on lie in one piece in a chunk: that chunk, and where in it.
 */
static uint64_t run_at(const cip_grid *g, uint64_t pos, cip_grid_chunk *c, uint64_t *off)
{
    int64_t idx[CIP_MAX_NDIM], coord[CIP_MAX_NDIM];
    uint64_t e = pos / g->itemsize;
    for (int32_t k = g->ndim - 1; k >= 0; k--) {
        idx[k] = (int64_t)(e % (uint64_t)g->shape[k]);
        e /= (uint64_t)g->shape[k];
        coord[k] = idx[k] / g->chunk[k];
    }
    cip_grid_chunk_at(g, coord, c);
    *off = pos % g->itemsize;
    uint64_t left = g->itemsize - *off;
    for (int32_t k = 0; k < g->ndim; k++) {
        int64_t r = idx[k] - c->first[k];
        *off += (uint64_t)(r / c->block[k] * c->step[k] + r % c->block[k] * c->stride[k]);
    }
    int32_t last = g->ndim - 1;
    if (last < 0 || (uint64_t)c->stride[last] != g->itemsize)
        return left;
    int64_t r = idx[last] - c->first[last]; /* elements that follow it in chunk, block and array */
    int64_t n = cip_min_i64(g->chunk[last] - r, c->block[last] - r % c->block[last]);
    n = cip_min_i64(n, g->shape[last] - idx[last]);
    return left + (uint64_t)(n - 1) * g->itemsize;
}

enum { PIECES_MIN = 64 };

/* Room for about as many pieces as the wants will need. */
static size_t guess_pieces(const cip_tuning *t, const cip_grid *g, const cip_want *want, size_t n)
{
    uint64_t run = g->itemsize, nbytes = 0;
    if (g->ndim != 0)
        run *= (uint64_t)cip_min_i64((g->blocked ? g->block : g->chunk)[g->ndim - 1],
                                     g->shape[g->ndim - 1]);
    for (size_t i = 0; i < n; i++)
        nbytes += want[i].len;
    return (size_t)cip_min_u64(PIECES_MIN + 2 * n + 2 * (nbytes / run), t->grid_pieces);
}

cip_status cip_grid_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                          size_t n, cip_err *err)
{
    cip_mem *mem = &rd->env->mem;
    batch b = { .rd = rd, .s = s };
    uint64_t count;
    cip_status st;
    if (s->len == 0) /* and with it all wants; no element has a size then */
        return CIP_OK;
    CIP_TRY(s->table.count(s->table.self, &count, err));
    b.cap = guess_pieces(rd->tune, s->grid, want, n);
    CIP_GO(cip_mem_get(mem, b.cap * sizeof *b.piece, (void **)&b.piece, err));
    CIP_GO(cip_mem_get(mem, b.cap * sizeof *b.want, (void **)&b.want, err));
    CIP_GO(cip_mem_get(mem, (b.cap + 1) * sizeof *b.first, (void **)&b.first, err));
    for (size_t i = 0; i < n; i++)
        for (size_t done = 0, len; done < want[i].len; done += len) {
            cip_grid_chunk c;
            uint64_t off, run = run_at(s->grid, want[i].off + shift + done, &c, &off);
            len = (size_t)cip_min_u64(run, want[i].len - done);
            CIP_GO(add_piece(&b, &c, (cip_want){ off, len, want[i].dst + done }, err));
        }
    st = run_batch(&b, err);
done:
    cip_mem_put(mem, b.piece);
    cip_mem_put(mem, b.want);
    cip_mem_put(mem, b.first);
    return st;
}
