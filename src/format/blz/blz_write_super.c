/* SPDX-License-Identifier: BSD-3-Clause
 * Superchunks that come. Their header is the same whether an update makes them or a new folder, of
 * which they are written as the chunks come: how many there will be is known from the array's
 * shape; chunks, each with its digest and space to grow in; the offsets, which are -1 before. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/blz/blz_write.h"

enum {
    OFFSETS = 4096, /* of offsets that wait: more go to the file */
    AT_CHUNK_SIZE = 8,
    AT_LAST = 12,
    AT_COUNT = 16 /* in the header */
};

void cip_blz_super_head(const cip_blz_super_how *how, const cip_blosc_spec *blosc, uint64_t nmeta,
                        cip_bp_container *f)
{
    const cip_bp_header h = { .version = 3,
                              .options = (how->offsets ? CIP_BP_OFFSETS : 0) |
                                         (how->metadata ? CIP_BP_METADATA : 0),
                              .sum = how->sum,
                              .typesize = (uint8_t)blosc->typesize,
                              .nspare = nmeta }; /* its place: the length, and 4 zero bytes */
    cip_bp_header_write(&h, f->head);
    f->sum = how->sum;
    f->offsets = how->offsets;
    f->spare = how->spare;
}

void cip_blz_super_counts(cip_bp_container *f, uint64_t each, uint64_t last)
{
    uint8_t *head = f->head;
    if ((int32_t)cip_load_u32(head + AT_CHUNK_SIZE, false) != -1)
        cip_store_u32(head + AT_CHUNK_SIZE, (uint32_t)each, false);
    if ((int32_t)cip_load_u32(head + AT_LAST, false) != -1)
        cip_store_u32(head + AT_LAST, (uint32_t)last, false);
    if ((int64_t)cip_load_u64(head + AT_COUNT, false) != -1)
        cip_store_u64(head + AT_COUNT, f->n, false);
}

/* `more` bytes come. What is longer nobody reads again (cip_io_open_numbered). */
static cip_status check_size(const cip_blz_new *c, uint64_t more, cip_err *err)
{
    uint64_t size;
    if (!cip_add_overflow(c->file.out->n, more, &size) && size >> CIP_IO_NUMBER_SHIFT == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a superchunk below 2^32 bytes, found a longer one; use fewer chunks "
                    "in each (superchunk) or less spare space (spare)");
}

/* Behind the header: what the document's example has. */
static cip_status add_metadata(const cip_blz_new *c, uint64_t rows, cip_buf *meta, cip_err *err)
{
    CIP_TRY(cip_buf_addf(meta, err, "{\"dtype\": "));
    CIP_TRY(cip_blz_dtype_json(meta, c->dtype, err));
    CIP_TRY(cip_buf_addf(meta, err, ", \"shape\": [%" PRIu64, rows));
    for (int32_t k = 1; k < c->ndim; k++)
        CIP_TRY(cip_buf_addf(meta, err, ", %" PRId64, c->shape[k]));
    return cip_buf_addf(meta, err, "], \"others\": []}");
}

/* Header, metadata, offsets of the superchunk that begins with the column's next chunk. Shards take
 * turns. */
static cip_status begin_super(cip_blz_writer *w, cip_blz_new *c, cip_err *err)
{
    const uint64_t i = c->nchunk / w->super.per;
    const char *shard = w->super.nshard != 0 ? w->super.shard[i % w->super.nshard] : "";
    const uint64_t each = (uint64_t)c->chunklen * c->row;
    const uint64_t rest = c->nbytes - c->nchunk * each;
    const uint64_t n = cip_min_u64(w->super.per, cip_div_up(rest, each));
    cip_buf meta = { .mem = &w->env->mem };
    cip_status st = CIP_OK;
    uint64_t least;
    char *name;
    c->file = (cip_bp_container){ .env = w->env, .n = n, .places = c->file.places };
    c->file.places.mem = &w->env->mem;
    CIP_TRY(cip_arena_printf(w->arena, &name, err, "%s%sdata/%s__%" PRIu64 "__.bin", shard,
                             shard[0] != '\0' ? "/" : "", c->dir, i + 1));
    CIP_TRY(cip_blz_new_file(w, name, &c->file.out, err));
    if (cip_mul_overflow(n, w->super.spare + CIP_BLOSC_HEADER, &least))
        least = UINT64_MAX;
    if (w->super.metadata)
        st = add_metadata(c, cip_min_u64(rest, n * each) / c->row, &meta, err);
    if (st == CIP_OK)
        st = check_size(c, least, err);
    cip_blz_super_head(&w->super, &c->blosc, meta.len, &c->file);
    cip_blz_super_counts(&c->file, each, cip_min_u64(each, rest - (n - 1) * each));
    if (st == CIP_OK)
        st = cip_bp_put_front(&c->file, &(cip_segment){ .ptr = meta.ptr, .len = meta.len }, err);
    cip_buf_clear(&meta);
    return st;
}

cip_status cip_blz_store_super(cip_blz_writer *w, cip_blz_new *c, const cip_bp_piece *p,
                               cip_err *err)
{
    cip_bp_container *f = &c->file;
    if (c->nchunk % w->super.per == 0)
        CIP_TRY(begin_super(w, c, err));
    const bool last = c->nchunk++ % w->super.per == f->n - 1;
    CIP_TRY(check_size(c, p->bytes.len + cip_sum_size(f->sum) + f->spare, err));
    CIP_TRY(cip_bp_put_chunk(f, p, err));
    return last || f->places.len >= 8 * OFFSETS ? cip_bp_put_offsets(f, err) : CIP_OK;
}
