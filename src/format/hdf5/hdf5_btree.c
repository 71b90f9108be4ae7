/* SPDX-License-Identifier: BSD-3-Clause
 * B-trees: version 1 of groups and chunks, version 2 of everything since. A child lies one level
 * below its parent, so walks end at the depth that the root names; what they read is bounded by the
 * work. */
#include "format/hdf5/hdf5.h"

enum { DEPTH = 64 };

/* --- version 1 -------------------------------------------------------------------------------- */

typedef struct walk1 {
    cip_h5_work *w;
    uint8_t type;
    size_t key;
    cip_h5_leaf_fn *fn;
    void *user;
} walk1;

enum { CHILDREN = 64, NODE = 4096 }; /* asked for together of a far file, so many bytes of each */

/* `c` is at the first of n entries. */
static void expect_children(const walk1 *k, cip_cursor c, size_t n)
{
    const cip_h5 *f = k->w->f;
    uint64_t at[CHILDREN];
    size_t m = 0;
    for (; m < n && m < CHILDREN; m++) {
        cip_get_bytes(&c, k->key);
        at[m] = f->base + cip_h5_address(f, &c);
    }
    cip_space_expect_at(f->layout->file, at, m, NODE);
}

/* level -1: of the root, which names it. */
static cip_status node1(const walk1 *k, uint64_t at, int level, cip_err *err)
{
    const cip_h5 *f = k->w->f;
    const size_t head = 8 + 2 * (size_t)f->osize;
    cip_cursor c;
    CIP_TRY(cip_h5_block(k->w, at, head, "TREE", false, &c, err));
    const uint8_t type = cip_get_u8(&c), own = cip_get_u8(&c);
    const uint16_t n = cip_get_u16(&c);
    if (type != k->type || own >= DEPTH || (level >= 0 && own != level))
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                        "expected a node of type %u at level %d, found type %u at level %u",
                        k->type, level, type, own);
    const size_t each = k->key + f->osize;
    CIP_TRY(cip_h5_block(k->w, at, head + n * each, "TREE", false, &c, err));
    c.pos = head;
    for (uint16_t i = 0; i < n; i++) {
        if (own != 0 && i % CHILDREN == 0)
            expect_children(k, c, (size_t)(n - i));
        const cip_bytes key = cip_get_bytes(&c, k->key);
        const uint64_t child = cip_h5_address(f, &c);
        CIP_TRY(own != 0 ? node1(k, child, own - 1, err) : k->fn(k->user, key, child, err));
    }
    return CIP_OK;
}

cip_status cip_h5_btree1(cip_h5_work *w, uint64_t at, uint8_t type, int32_t rank,
                         cip_h5_leaf_fn *fn, void *user, cip_err *err)
{
    const walk1 k = { w, type, type == 0 ? w->f->lsize : 8 + 8 * ((size_t)rank + 1), fn, user };
    return node1(&k, at, -1, err);
}

/* --- version 2 -------------------------------------------------------------------------------- */

typedef struct walk2 {
    cip_h5_work *w;
    uint32_t node_size;
    uint16_t record;
    unsigned nrec_len;       /* bytes that hold a node's number of records */
    uint64_t max[DEPTH];     /* records of a node of this level */
    unsigned all_len[DEPTH]; /* bytes that hold the number of all below; 0 at level 0 */
    cip_h5_record_fn *fn;
    void *user;
} walk2;

static cip_status node2(const walk2 *k, uint64_t at, unsigned level, uint64_t n, cip_err *err)
{
    const cip_h5 *f = k->w->f;
    cip_cursor c, child;
    if (n > k->max[level])
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                        "expected a node of at most %" PRIu64 " records, found %" PRIu64,
                        k->max[level], n);
    const size_t pointer =
        level == 0 ? 0 : f->osize + k->nrec_len + (level > 1 ? k->all_len[level - 1] : 0);
    const uint64_t used = 6 + n * k->record + (level != 0 ? (n + 1) * pointer : 0) + 4;
    CIP_TRY(cip_h5_block(k->w, at, used, level != 0 ? "BTIN" : "BTLF", true, &c, err));
    cip_get_u16(&c);
    child = c;
    cip_get_bytes(&child, (size_t)n * k->record);
    for (uint64_t i = 0; i <= n; i++) {
        if (level != 0) {
            const uint64_t to = cip_h5_address(f, &child);
            const uint64_t its = cip_h5_uint(&child, k->nrec_len);
            if (level > 1)
                cip_h5_uint(&child, k->all_len[level - 1]);
            CIP_TRY(cip_h5_end(&child, "B-tree", f->base + at, err));
            CIP_TRY(node2(k, to, level - 1, its, err));
        }
        if (i < n)
            CIP_TRY(k->fn(k->user, cip_get_bytes(&c, k->record), err));
    }
    return CIP_OK;
}

cip_status cip_h5_btree2(cip_h5_work *w, uint64_t at, uint8_t type, cip_h5_record_fn *fn,
                         void *user, cip_err *err)
{
    const cip_h5 *f = w->f;
    walk2 k = { .w = w, .fn = fn, .user = user };
    cip_cursor c;
    CIP_TRY(cip_h5_block(w, at, 22 + (uint64_t)f->osize + f->lsize, "BTHD", true, &c, err));
    const uint8_t version = cip_get_u8(&c), own = cip_get_u8(&c);
    k.node_size = cip_get_u32(&c);
    k.record = cip_get_u16(&c);
    const uint16_t depth = cip_get_u16(&c);
    cip_get_u16(&c);
    const uint64_t root = cip_h5_address(f, &c);
    const uint16_t n = cip_get_u16(&c);
    CIP_TRY(cip_h5_end(&c, "B-tree", f->base + at, err));
    if (version != 0 || own != type || depth >= DEPTH || k.record == 0 || k.node_size < 10)
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                        "expected a B-tree of type %u, found version %u, type %u, depth %u", type,
                        version, own, depth);
    if (root == CIP_H5_NONE)
        return CIP_OK;
    k.max[0] = (k.node_size - 10) / k.record;
    k.nrec_len = cip_h5_width(k.max[0]);
    uint64_t all = k.max[0];
    for (unsigned u = 1; u <= depth; u++) {
        const uint64_t pointer = f->osize + k.nrec_len + (u > 1 ? k.all_len[u - 1] : 0);
        k.max[u] =
            k.node_size < 10 + pointer ? 0 : (k.node_size - (10 + pointer)) / (k.record + pointer);
        if (cip_mul_overflow(all, k.max[u] + 1, &all) || cip_add_overflow(all, k.max[u], &all))
            all = UINT64_MAX;
        k.all_len[u] = cip_h5_width(all);
    }
    return node2(&k, root, depth, n, err);
}
