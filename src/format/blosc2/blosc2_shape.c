/* SPDX-License-Identifier: BSD-3-Clause
 * Shapes of chunks and blocks where none are given. Both are boxes that grow by doubling their
 * shortest side (of equal ones the last) until they have their size. Chunks are about as long along
 * each axis. Of a block the last side, along which elements lie next to each other, becomes
 * longer than the others (64 times with two axes, 8 with three, 4 with four): whole rows are read
 * as often as windows, and each of their blocks is decoded for one run of elements. But not longer
 * than half of the axis, if others can grow, or a column would take all blocks. Then sides are
 * made shorter where as many boxes cover the array as before, which leaves little padding at its
 * edges. Nothing depends on the machine. */
#include <string.h>

#include "base/num.h"
#include "format/blosc2/blosc2_write.h"

enum {
    BLOCK_SIZE = 64 << 10, /* bytes; twice as much with one axis, where no row has many of them */
    CHUNK_SIZE = 4 << 20,  /* a few of them for each thread are little memory */
    LOG2_LONGER = 6        /* of a block's last side against one other */
};

typedef struct box {
    int32_t ndim;
    const int64_t *unit;            /* sides are multiples of it: blocks of a chunk; NULL: 1 */
    int64_t least;                  /* units; a limit is no less */
    int32_t shift;                  /* the last side counts as 2^shift times shorter, up to
                                     * half of its limit */
    int64_t limit[CIP_B2_MAX_NDIM]; /* units */
    int64_t side[CIP_B2_MAX_NDIM];  /* units */
} box;

/* The axis to be doubled, or -1: all are at their limits. */
static int32_t shortest(const box *b)
{
    int32_t found = -1;
    int64_t length = 0;
    for (int32_t k = 0; k < b->ndim; k++) {
        const int64_t len = b->side[k] * (b->unit != NULL ? b->unit[k] : 1);
        const bool longer = k == b->ndim - 1 && b->side[k] <= b->limit[k] / 4;
        const int64_t own = longer ? len >> b->shift : len;
        if (b->side[k] < b->limit[k] && (found < 0 || own <= length)) {
            found = k;
            length = own;
        }
    }
    return found;
}

/* Until the next doubling would make it of more than `most` items. */
static void grow(box *b, uint64_t most)
{
    uint64_t now = 1;
    for (int32_t k = 0; k < b->ndim; k++)
        now *= (uint64_t)b->side[k] * (uint64_t)(b->unit != NULL ? b->unit[k] : 1);
    for (int32_t k; now <= most / 2 && (k = shortest(b)) >= 0; now *= 2)
        b->side[k] *= 2;
    for (int32_t k = 0; k < b->ndim; k++) {
        b->side[k] = b->side[k] < b->limit[k] ? b->side[k] : b->limit[k];
        const uint64_t n = cip_div_up((uint64_t)b->limit[k], (uint64_t)b->side[k]);
        b->side[k] = (int64_t)cip_max_u64((uint64_t)b->least, cip_div_up((uint64_t)b->limit[k], n));
    }
}

/* Chunks of whole blocks; those that reach over the array's end are cut there. */
static void choose_chunks(cip_b2_nd *nd, uint64_t item)
{
    box b = { .ndim = nd->ndim, .unit = nd->block, .least = 1 };
    for (int32_t k = 0; k < nd->ndim; k++) {
        const uint64_t len = nd->shape[k] > 0 ? (uint64_t)nd->shape[k] : INT32_MAX;
        b.limit[k] = (int64_t)cip_div_up(len, (uint64_t)nd->block[k]);
        b.side[k] = 1;
    }
    grow(&b, CHUNK_SIZE / item);
    for (int32_t k = 0; k < nd->ndim; k++) {
        nd->chunk[k] = b.side[k] * nd->block[k];
        if (nd->chunk[k] > nd->shape[k] && nd->shape[k] >= nd->block[k])
            nd->chunk[k] = nd->shape[k];
    }
}

void cip_b2_choose_shapes(cip_b2_nd *nd, uint64_t item, int64_t least)
{
    const bool chunks = nd->ndim != 0 && nd->chunk[0] != 0;
    if (nd->ndim != 0 && nd->block[0] == 0) {
        /* Blocks within chunks, or within the array; along an axis of length 0 it may still grow.
         */
        box b = { .ndim = nd->ndim, .least = chunks ? 1 : least };
        b.shift = LOG2_LONGER / (nd->ndim > 1 ? nd->ndim - 1 : 1);
        for (int32_t k = 0; k < nd->ndim; k++) {
            const int64_t of = chunks ? nd->chunk[k] : nd->shape[k];
            b.limit[k] = of <= 0 ? INT32_MAX : of < b.least ? b.least : of;
            b.side[k] = 1;
        }
        grow(&b, (nd->ndim > 1 ? BLOCK_SIZE : 2 * BLOCK_SIZE) / item);
        memcpy(nd->block, b.side, sizeof b.side);
    }
    if (!chunks)
        choose_chunks(nd, item);
}
