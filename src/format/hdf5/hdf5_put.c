/* SPDX-License-Identifier: BSD-3-Clause
 * Metadata as bytes: object headers, the global heap, chunk indexes, the superblock. */
#include "base/endian.h"
#include "format/hdf5/hdf5_write.h"

enum {
    ADDRESS = 8, /* bytes of addresses and lengths */
    MOST_HEADER = 64 << 20,
    HEADER_SIZE = 4, /* of the length of a header's messages */
    MESSAGE_HEAD = 4,
    COLLECTION = 1 << 16, /* of the global heap: a larger object has one of its own */
    COLLECTION_LEAST = 4096,
    OBJECT_HEAD = 16,
    FANOUT = 64, /* children of a node: what a file without other words has */
    NODE_HEAD = 24
};

cip_status cip_h5_put_uint(cip_buf *b, uint64_t v, size_t n, cip_err *err)
{
    uint8_t bytes[8];
    cip_store_u64(bytes, v, false);
    return cip_buf_add(b, bytes, n, err);
}

/* --- object headers --------------------------------------------------------------------------- */

cip_status cip_h5_put_object(cip_h5_put *p, size_t *from, cip_err *err)
{
    CIP_TRY(cip_buf_fill(&p->out, 0, (8 - p->out.len % 8) % 8, err));
    *from = p->out.len;
    CIP_TRY(cip_buf_add(&p->out, "OHDR\x02\x02", 6, err)); /* the length has 4 bytes */
    return cip_h5_put_uint(&p->out, 0, HEADER_SIZE, err);
}

cip_status cip_h5_put_object_end(cip_h5_put *p, size_t from, cip_err *err)
{
    const size_t head = 6 + HEADER_SIZE, len = p->out.len - from - head;
    if (len > MOST_HEADER)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %d MiB of links and attributes in one place, found %zu",
                        MOST_HEADER >> 20, len >> 20);
    cip_store_u32(p->out.ptr + from + 6, (uint32_t)len, false);
    return cip_h5_put_uint(&p->out, cip_h5_sum(p->out.ptr + from, head + len), 4, err);
}

cip_status cip_h5_put_message(cip_h5_put *p, uint16_t type, uint8_t flags, size_t *from,
                              cip_err *err)
{
    const uint8_t head[MESSAGE_HEAD] = { (uint8_t)type, 0, 0, flags };
    CIP_TRY(cip_buf_add(&p->out, head, sizeof head, err));
    *from = p->out.len;
    return CIP_OK;
}

cip_status cip_h5_put_message_end(cip_h5_put *p, size_t from, cip_err *err)
{
    const size_t len = p->out.len - from;
    if (len > UINT16_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected less than 64 KiB of metadata in one piece, found %zu bytes", len);
    cip_store_u16(p->out.ptr + from - 3, (uint16_t)len, false);
    return CIP_OK;
}

/* --- the global heap -------------------------------------------------------------------------- */

/* The last collection gets its length; what is left of it is an object without a number. */
cip_status cip_h5_put_heap_end(cip_h5_put *p, cip_err *err)
{
    if (p->nobject == 0)
        return CIP_OK;
    size_t len = p->heap.len - p->collection;
    const size_t all = len + OBJECT_HEAD < COLLECTION_LEAST ? COLLECTION_LEAST : len + OBJECT_HEAD;
    const size_t rest = all - len;
    CIP_TRY(cip_buf_fill(&p->heap, 0, rest, err));
    cip_store_u64(p->heap.ptr + p->heap.len - rest + 8, rest, false);
    cip_store_u64(p->heap.ptr + p->collection + 8, all, false);
    p->collection = p->heap.len;
    p->nobject = 0;
    return CIP_OK;
}

cip_status cip_h5_put_heap(cip_h5_put *p, cip_bytes data, cip_buf *name, cip_err *err)
{
    if (p->nobject == UINT16_MAX ||
        (p->nobject != 0 && p->heap.len - p->collection + data.len > COLLECTION))
        CIP_TRY(cip_h5_put_heap_end(p, err));
    if (p->nobject == 0) {
        CIP_TRY(cip_buf_add(&p->heap, "GCOL\x01\0\0\0", 8, err));
        CIP_TRY(cip_h5_put_uint(&p->heap, 0, 8, err));
    }
    p->nobject++;
    CIP_TRY(cip_h5_put_uint(&p->heap, p->nobject | UINT64_C(1) << 16, 8, err)); /* used once */
    CIP_TRY(cip_h5_put_uint(&p->heap, data.len, 8, err));
    CIP_TRY(cip_buf_add(&p->heap, data.ptr, data.len, err));
    CIP_TRY(cip_buf_fill(&p->heap, 0, (8 - data.len % 8) % 8, err));
    CIP_TRY(cip_h5_put_uint(name, p->heap_at + p->collection, ADDRESS, err));
    return cip_h5_put_uint(name, p->nobject, 4, err);
}

/* --- chunk indexes ---------------------------------------------------------------------------- */

/* The key of a chunk; behind the last one (`end`) a key that is larger in every axis. */
static cip_status put_key(cip_buf *b, const cip_h5_new *d, const cip_h5_chunk *c, bool end,
                          cip_err *err)
{
    uint64_t at[CIP_H5_MAX_RANK];
    uint64_t i = c->i;
    for (int32_t k = d->grid.ndim - 1; k >= 0; k--) {
        const uint64_t n = cip_div_up((uint64_t)d->grid.shape[k], (uint64_t)d->chunk[k]);
        at[k] = (i % n + end) * (uint64_t)d->chunk[k];
        i /= n;
    }
    CIP_TRY(cip_h5_put_uint(b, end ? 0 : c->nbytes, 4, err));
    CIP_TRY(cip_h5_put_uint(b, end ? 0 : c->mask, 4, err));
    for (int32_t k = 0; k < d->grid.ndim; k++)
        CIP_TRY(cip_h5_put_uint(b, at[k], 8, err));
    return cip_h5_put_uint(b, end ? d->grid.itemsize : 0, 8, err); /* bytes of an element */
}

/* The nodes of a level: each has FANOUT children of the level below, of which child c begins with
 * chunk c * each and lies at first + c * size (level 0: where the chunk is). */
static cip_status put_level(cip_h5_put *p, const cip_h5_new *d, uint8_t level, uint64_t each,
                            uint64_t first, uint64_t size, uint64_t *nnode, cip_err *err)
{
    const cip_h5_chunk *chunk = (const cip_h5_chunk *)(const void *)d->list.ptr;
    const uint64_t nchunk = d->list.len / sizeof *chunk, n = cip_div_up(nchunk, each);
    const uint64_t own = cip_h5_put_at(p);
    *nnode = cip_div_up(n, FANOUT);
    for (uint64_t i = 0; i < *nnode; i++) {
        const size_t from = p->out.len;
        const uint64_t begin = i * FANOUT, end = cip_min_u64(begin + FANOUT, n);
        CIP_TRY(cip_buf_add(&p->out, "TREE\x01", 5, err));
        CIP_TRY(cip_h5_put_uint(&p->out, level, 1, err));
        CIP_TRY(cip_h5_put_uint(&p->out, end - begin, 2, err));
        CIP_TRY(cip_h5_put_uint(&p->out, i == 0 ? CIP_H5_NONE : own + (i - 1) * size, 8, err));
        CIP_TRY(
            cip_h5_put_uint(&p->out, i + 1 == *nnode ? CIP_H5_NONE : own + (i + 1) * size, 8, err));
        for (uint64_t c = begin; c < end; c++) {
            CIP_TRY(put_key(&p->out, d, &chunk[c * each], false, err));
            CIP_TRY(cip_h5_put_uint(&p->out, level == 0 ? chunk[c].at : first + c * size, 8, err));
        }
        CIP_TRY(end < n ? put_key(&p->out, d, &chunk[end * each], false, err)
                        : put_key(&p->out, d, &chunk[nchunk - 1], true, err));
        CIP_TRY(cip_buf_fill(&p->out, 0, (size_t)size - (p->out.len - from), err));
    }
    return CIP_OK;
}

cip_status cip_h5_put_btree(cip_h5_put *p, const cip_h5_new *d, uint64_t *at, cip_err *err)
{
    const uint64_t key = 8 + 8 * ((uint64_t)d->grid.ndim + 1);
    const uint64_t size = NODE_HEAD + FANOUT * (key + ADDRESS) + key;
    uint64_t each = 1, first = 0, nnode = 0;
    *at = CIP_H5_NONE;
    if (d->list.len == 0)
        return CIP_OK;
    CIP_TRY(cip_buf_fill(&p->out, 0, (8 - p->out.len % 8) % 8, err));
    for (uint8_t level = 0; nnode != 1; level++, each *= FANOUT) {
        *at = cip_h5_put_at(p);
        CIP_TRY(put_level(p, d, level, each, first, size, &nnode, err));
        first = *at;
    }
    return CIP_OK;
}

/* --- the superblock --------------------------------------------------------------------------- */

void cip_h5_put_superblock(uint64_t root, uint64_t end, uint8_t out[CIP_H5_SUPERBLOCK])
{
    static const uint8_t magic[] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 2, 8, 8, 0 };
    memcpy(out, magic, sizeof magic);
    cip_store_u64(out + 12, 0, false);           /* address 0 is at the file's begin */
    cip_store_u64(out + 20, CIP_H5_NONE, false); /* no extension */
    cip_store_u64(out + 28, end, false);
    cip_store_u64(out + 36, root, false);
    cip_store_u32(out + 44, cip_h5_sum(out, 44), false);
}
