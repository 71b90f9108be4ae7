/* SPDX-License-Identifier: BSD-3-Clause
 * NDLZ encoded, with the tokens of blosc_ndlz.c: each cell as the shortest that it can be, where
 * whole cells, runs of two rows and of three are looked for among those that lie in the stored
 * bytes as they are. */
#include "codec/blosc/blosc_compressor.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"

enum { SIDE_MAX = 8, ROWS_3 = 3, ROWS_2 = 2, HASH_BITS = 14, HEAD = 9 };

typedef struct press {
    uint32_t *table; /* by the hash of some rows: where they begin, counted from 1; 0: nowhere */
    uint8_t *dst;
    size_t at, cap, side;
    size_t height, width; /* of the cell at hand */
    uint8_t cell[SIDE_MAX * SIDE_MAX];
} press;

/* What a token takes from further back, up to two groups of rows; the others follow as they are. */
typedef struct reuse {
    uint8_t token;
    size_t n;           /* rows of a group */
    uint8_t row[2][3];  /* of the cell */
    uint16_t back[2];   /* how far they lie back from the token */
    unsigned rows_left; /* one bit for each */
} reuse;

static uint32_t hash(const uint8_t *p, size_t n)
{
    uint32_t h = (uint32_t)n;
    for (size_t i = 0; i < n; i += 4) {
        h = (h ^ cip_load_u32(p + i, false)) * 0x9E3779B1u;
        h ^= h >> 15;
    }
    return h >> (32 - HASH_BITS);
}

/* How far the same n bytes lie back; 0: they do not, or further than can be said. */
static uint16_t find(const press *p, const uint8_t *bytes, size_t n)
{
    size_t from = p->table[hash(bytes, n)];
    if (from-- == 0 || p->at - from > UINT16_MAX || n > p->at - from ||
        memcmp(p->dst + from, bytes, n) != 0)
        return 0;
    return (uint16_t)(p->at - from);
}

/* Looks for the first `ngroup` groups of r, their rows one behind the other; those that are there
 * become its `back`. */
static bool reuses(const press *p, reuse *r, int ngroup)
{
    r->rows_left = (1u << p->side) - 1;
    for (int g = 0; g < ngroup; g++) {
        uint8_t rows[ROWS_3 * SIDE_MAX];
        for (size_t k = 0; k < r->n; k++)
            memcpy(rows + k * p->side, p->cell + r->row[g][k] * p->side, p->side);
        r->back[g] = find(p, rows, r->n * p->side);
        if (r->back[g] == 0)
            return false;
        for (size_t k = 0; k < r->n; k++)
            r->rows_left &= ~(1u << r->row[g][k]);
    }
    return true;
}

static bool look_for_4(const press *p, reuse *r)
{
    static const reuse pairs[] = { { 0x28, 2, { { 0, 1 }, { 2, 3 } }, { 0 }, 0 },
                                   { 0x30, 2, { { 0, 2 }, { 1, 3 } }, { 0 }, 0 },
                                   { 0x38, 2, { { 0, 3 }, { 1, 2 } }, { 0 }, 0 } };
    static const reuse rows[] = {
        { 0xE0, 3, { { 1, 2, 3 } }, { 0 }, 0 }, { 0xE8, 3, { { 0, 1, 2 } }, { 0 }, 0 },
        { 0xF0, 3, { { 0, 1, 3 } }, { 0 }, 0 }, { 0xF8, 3, { { 0, 2, 3 } }, { 0 }, 0 },
        { 0x88, 2, { { 0, 1 } }, { 0 }, 0 },    { 0x90, 2, { { 0, 2 } }, { 0 }, 0 },
        { 0x98, 2, { { 0, 3 } }, { 0 }, 0 },    { 0xB0, 2, { { 1, 2 } }, { 0 }, 0 },
        { 0xB8, 2, { { 1, 3 } }, { 0 }, 0 },    { 0x80, 2, { { 2, 3 } }, { 0 }, 0 }
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        *r = pairs[i];
        if (reuses(p, r, 2))
            return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *r = rows[i];
        if (reuses(p, r, 1))
            return true;
    }
    return false;
}

static bool look_for_8(const press *p, reuse *r)
{
    static const uint8_t tokens[] = { [ROWS_2] = 17 << 3, [ROWS_3] = 21 << 3 };
    for (uint8_t n = ROWS_3; n >= ROWS_2; n--)
        for (uint8_t from = 0; from + n <= SIDE_MAX; from++) {
            *r = (reuse){ .token = (uint8_t)(tokens[n] | from), .n = n };
            for (uint8_t k = 0; k < n; k++)
                r->row[0][k] = from + k;
            if (reuses(p, r, 1))
                return true;
        }
    return false;
}

static void put_back(press *p, uint16_t back)
{
    cip_store_u16(p->dst + p->at, back, false);
    p->at += sizeof back;
}

static void put_reuse(press *p, const reuse *r)
{
    p->dst[p->at++] = r->token;
    for (int g = 0; g < 2 && r->back[g] != 0; g++)
        put_back(p, r->back[g]);
    size_t from = p->at;
    for (size_t k = 0; k < p->side; k++)
        if (r->rows_left >> k & 1) {
            memcpy(p->dst + p->at, p->cell + k * p->side, p->side);
            p->at += p->side;
        }
    /* These rows, which are stored as they are, can be found from now on. */
    const size_t counts[] = { ROWS_2, ROWS_3, p->side };
    for (size_t i = 0; i < 3; i++)
        for (size_t k = from, n = counts[i] * p->side; k + n <= p->at; k += p->side)
            p->table[hash(p->dst + k, n)] = (uint32_t)k + 1;
}

/* false: there is no room. Smaller cells at the far edges are stored as they are. */
static bool put_cell(press *p)
{
    size_t n = p->height * p->width;
    if (p->cap - p->at < n + 1)
        return false;
    if (memcmp(p->cell, p->cell + 1, n - 1) == 0) {
        p->dst[p->at++] = 0x40;
        p->dst[p->at++] = p->cell[0];
    } else if (n == p->side * p->side) {
        reuse r;
        uint16_t back = find(p, p->cell, n);
        if (back != 0) {
            p->dst[p->at++] = 0xC0;
            put_back(p, back);
        } else if (p->side == SIDE_MAX ? look_for_8(p, &r) : look_for_4(p, &r)) {
            put_reuse(p, &r);
        } else {
            put_reuse(p, &(reuse){ .rows_left = (1u << p->side) - 1 });
        }
    } else {
        p->dst[p->at++] = 0;
        memcpy(p->dst + p->at, p->cell, n);
        p->at += n;
    }
    return true;
}

void cip_ndlz_encode(const cip_ndlz_plane *plane, uint32_t *table, uint8_t *dst, size_t cap,
                     size_t *n)
{
    press p = { .table = table, .dst = dst, .at = HEAD, .cap = cap, .side = plane->side };
    *n = 0;
    if (cap < HEAD)
        return;
    memset(table, 0, sizeof *table << HASH_BITS);
    dst[0] = 2; /* dimensions */
    cip_store_u32(dst + 1, plane->nrow, false);
    cip_store_u32(dst + 5, plane->ncol, false);
    for (size_t y = 0; y < plane->nrow; y += p.side) {
        p.height = (size_t)cip_min_u64(p.side, plane->nrow - y);
        for (size_t x = 0; x < plane->ncol; x += p.side) {
            p.width = (size_t)cip_min_u64(p.side, plane->ncol - x);
            for (size_t k = 0; k < p.height; k++)
                memcpy(p.cell + k * p.width, plane->src + (y + k) * plane->ncol + x, p.width);
            if (!put_cell(&p))
                return;
        }
    }
    *n = p.at;
}
