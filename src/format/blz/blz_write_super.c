/* SPDX-License-Identifier: BSD-3-Clause
 * New superchunks: header, metadata and offsets of -1, all known from the array's shape; chunks,
 * each with its digest and space to grow in; then the offsets. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_write.h"

enum { OFFSETS = 4096 }; /* of offsets that wait: more go to the file */

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

/* Header, metadata, offsets of the superchunk that begins with the column's next chunk. */
static cip_status put_front(const cip_blz_writer *w, cip_blz_new *c, cip_buf *meta, cip_err *err)
{
    const uint64_t each = (uint64_t)c->chunklen * c->row;
    const uint64_t rest = c->nbytes - c->nchunk * each;
    const uint64_t n = cip_min_u64(w->super.per, cip_div_up(rest, each));
    uint64_t least;
    /* Behind the header: what the document's example has. */
    uint64_t rows = cip_min_u64(rest, n * each) / c->row;
    if (w->super.metadata) {
        CIP_TRY(cip_buf_addf(meta, err, "{\"dtype\": "));
        CIP_TRY(cip_blz_dtype_json(meta, c->dtype, err));
        CIP_TRY(cip_buf_addf(meta, err, ", \"shape\": [%" PRIu64, rows));
        for (int32_t k = 1; k < c->ndim; k++)
            CIP_TRY(cip_buf_addf(meta, err, ", %" PRId64, c->shape[k]));
        CIP_TRY(cip_buf_addf(meta, err, "], \"others\": []}"));
    }
    const cip_bp_header h = { .version = 3,
                              .options = (w->super.offsets ? CIP_BP_OFFSETS : 0) |
                                         (w->super.metadata ? CIP_BP_METADATA : 0),
                              .sum = w->super.sum,
                              .typesize = (uint8_t)c->blosc.typesize,
                              .chunk_size = (int64_t)each,
                              .last_chunk = (int64_t)cip_min_u64(each, rest - (n - 1) * each),
                              .nchunk = (int64_t)n,
                              .nspare = meta->len }; /* its place: the length, and 4 zero bytes */
    if (cip_mul_overflow(n, w->super.spare + CIP_BLOSC_HEADER, &least))
        least = UINT64_MAX;
    CIP_TRY(check_size(c, least, err));
    cip_bp_header_write(&h, c->file.head);
    c->file.n = n;
    return cip_bp_put_front(&c->file, (cip_bytes){ meta->ptr, meta->len }, err);
}

/* Shards take turns. */
static cip_status begin_super(cip_blz_writer *w, cip_blz_new *c, cip_err *err)
{
    const uint64_t i = c->nchunk / w->super.per;
    const char *shard = w->super.nshard != 0 ? w->super.shard[i % w->super.nshard] : "";
    cip_buf meta = { .mem = &w->env->mem };
    char *name;
    c->file = (cip_bp_container){ .env = w->env,
                                  .sum = w->super.sum,
                                  .offsets = w->super.offsets,
                                  .spare = w->super.spare,
                                  .places = c->file.places };
    c->file.places.mem = &w->env->mem;
    CIP_TRY(cip_arena_printf(w->arena, &name, err, "%s%sdata/%s__%" PRIu64 "__.bin", shard,
                             shard[0] != '\0' ? "/" : "", c->dir, i + 1));
    CIP_TRY(cip_blz_new_file(w, name, &c->file.out, err));
    cip_status st = put_front(w, c, &meta, err);
    cip_buf_clear(&meta);
    return st;
}

cip_status cip_blz_store_super(cip_blz_writer *w, cip_blz_new *c, const cip_bp_piece *p,
                               cip_err *err)
{
    cip_buf *places = &c->file.places;
    if (c->nchunk % w->super.per == 0)
        CIP_TRY(begin_super(w, c, err));
    c->nchunk++;
    const bool last = c->nchunk % w->super.per == 0 || c->left == 0;
    CIP_TRY(check_size(c, p->bytes.len + cip_sum_size(w->super.sum) + w->super.spare, err));
    CIP_TRY(cip_bp_put_chunk(&c->file, p, err));
    if (places->len == 0 || (!last && places->len < 8 * OFFSETS))
        return CIP_OK;
    CIP_TRY(cip_out_rewrite(c->file.out, c->file.offsets_at, places->ptr, places->len, err));
    c->file.offsets_at += places->len;
    places->len = 0;
    return CIP_OK;
}
