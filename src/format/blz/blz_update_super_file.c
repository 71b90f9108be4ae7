/* SPDX-License-Identifier: BSD-3-Clause
 * A superchunk that is there, as an update finds it; and one as a new file: header, metadata,
 * offsets, and chunks with digests and space behind them, as the old one has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/blz/blz_update_super.h"

enum { AT_CHUNK_SIZE = 8, AT_LAST = 12, AT_COUNT = 16 /* in the header */ };

static uint64_t raw_len(const cip_super_work *w, uint64_t i)
{
    const uint64_t each = (uint64_t)w->c->meta.chunklen;
    return cip_min_u64(each, w->rows - i * each) * w->c->meta.row;
}

/* --- one that is there -------------------------------------------------------------------------
 */

cip_status cip_super_member_name(const cip_super_work *w, uint64_t member,
                                 char name[CIP_IO_NUMBER_NAME], cip_err *err)
{
    const cip_blz_files *f = cip_blz_files_of(w->c->blz, member);
    snprintf(name, CIP_IO_NUMBER_NAME, "%s__%" PRIu64 "__.bin", f->dir,
             f->number + (member - f->member));
    if (f->of == NULL)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "'%.120s' lies in a shard outside the folder ('%.80s'), and an update changes "
                    "what is in the folder alone",
                    name, f->of->name);
}

cip_status cip_super_chunk_end(const cip_bp_file *f, uint64_t k, uint64_t *end, cip_err *err)
{
    cip_blosc_head head;
    cip_chunk chunk;
    CIP_TRY(cip_bp_chunk(f, k, &head, &chunk, err));
    *end = chunk.at.off + chunk.at.len + cip_sum_size(f->h.sum);
    return CIP_OK;
}

uint64_t cip_super_room_behind(const cip_bp_file *f, uint64_t k, uint64_t end)
{
    const uint64_t next = k + 1 < f->chunks.nfound ? f->chunks.at[k + 1] : f->layout->io->size;
    return next > end ? next - end : 0;
}

/* Chunks that changed where they are have more space behind them, or less: so that of the one in
 * the middle, by size, is what each was given. */
cip_status cip_super_spare(const cip_super_work *w, const cip_super_old *s, uint64_t *spare,
                           cip_err *err)
{
    cip_mem *mem = &w->u->env->mem;
    const size_t n = (size_t)s->f->chunks.nfound;
    uint64_t *room = NULL, end = 0;
    cip_status st = CIP_OK;
    *spare = 0;
    if (!s->offsets || n == 0)
        return CIP_OK;
    CIP_TRY(cip_mem_zeroed(mem, n, sizeof *room, (void **)&room, err));
    for (size_t k = 0; k < n && st == CIP_OK; k++) {
        st = cip_super_chunk_end(s->f, k, &end, err);
        room[k] = cip_super_room_behind(s->f, k, end);
    }
    if (st == CIP_OK) {
        qsort(room, n, sizeof *room, cip_compare_u64);
        *spare = room[n / 2];
    }
    cip_mem_put(mem, room);
    return st;
}

static cip_status open_there(const cip_super_work *w, size_t j, cip_super_old *s, cip_err *err)
{
    cip_space *data;
    CIP_TRY(cip_blz_super_open(w->c, j, &s->f, err));
    CIP_TRY(cip_space_resolve(s->f->data, &data, err));
    s->stored = s->f->chunks.n;
    s->offsets = (s->f->h.options & CIP_BP_OFFSETS) != 0 && s->f->chunks.end == 0;
    return CIP_OK;
}

cip_status cip_super_open_old(const cip_super_work *w, size_t j, cip_super_old *s, cip_err *err)
{
    CIP_TRY(cip_super_member_name(w, w->c->super[j].member, s->name, err));
    CIP_TRY(open_there(w, j, s, err));
    if (s->f->chunks.nfound < s->f->chunks.n)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected %" PRIu64 " chunks in '%.120s', found %" PRIu64, s->f->chunks.n,
                        s->name, s->f->chunks.nfound);
    return CIP_OK;
}

static cip_super_piece piece_at(const cip_chunk *c)
{
    return (cip_super_piece){ .io = c->at.in->io,
                              .off = c->at.off,
                              .len = c->at.len,
                              .raw_len = c->raw_len,
                              .sum = (cip_sum_id)c->sum_id };
}

/* A chunk that had another number, in whichever superchunk that is. */
static cip_status moved_piece(const cip_super_work *w, uint64_t from, cip_super_piece *p,
                              cip_err *err)
{
    const cip_table *t = &w->c->data->table;
    cip_chunk chunk = { .run = 0 };
    CIP_TRY(t->at(t->self, from, 1, &chunk, err));
    if (chunk.state != CIP_CHUNK_DATA)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected chunk %" PRIu64 " of the column, found none", from);
    *p = piece_at(&chunk);
    return CIP_OK;
}

cip_status cip_super_piece_of(const cip_super_work *w, const cip_super_old *s,
                              const cip_super_range *r, uint64_t i, cip_super_piece *p,
                              cip_err *err)
{
    cip_chunk_now now;
    cip_blosc_head head;
    cip_chunk chunk = { .run = 0 };
    cip_chunk_changes_at(w->chunks, i, &now);
    if (now.from == UINT64_MAX) {
        *p = piece_at(&now.chunk);
        p->is_new = true;
        p->raw_len = raw_len(w, i);
        return CIP_OK;
    }
    if (now.from != i)
        return moved_piece(w, now.from, p, err);
    if (s == NULL || i - r->first >= s->stored)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected chunk %" PRIu64 " in superchunk %" PRIu64 ", found none", i,
                        r->number);
    CIP_TRY(cip_bp_chunk(s->f, i - r->first, &head, &chunk, err));
    *p = piece_at(&chunk);
    return CIP_OK;
}

/* One that is to get a digest of another kind must not get it for other bytes than the old one was
 * of. */
static cip_status check_digest(const cip_super_work *w, const cip_super_piece *p, cip_err *err)
{
    cip_mem *mem = &w->u->env->mem;
    const size_t len = (size_t)p->len, ndigest = cip_sum_size(p->sum);
    uint8_t sum[CIP_SUM_MAX], digest[CIP_SUM_MAX];
    uint8_t *bytes = NULL;
    if (p->sum == CIP_SUM_NONE)
        return CIP_OK;
    CIP_TRY(cip_mem_get(mem, len + ndigest, (void **)&bytes, err));
    cip_status st = cip_io_read(p->io, p->off, bytes, len + ndigest, err);
    if (st == CIP_OK)
        st = cip_sum_of(mem, p->sum, (cip_bytes){ bytes, len }, sum, err);
    if (st == CIP_OK) {
        cip_bp_digest(p->sum, sum, digest);
        if (memcmp(digest, bytes + len, ndigest) != 0)
            st = cip_fail(err, CIP_ERR_CHECKSUM, p->off,
                          "expected the %s of the chunk, found another", cip_sum_name(p->sum));
    }
    cip_mem_put(mem, bytes);
    return st;
}

cip_status cip_super_digest(const cip_super_work *w, cip_sum_id sum, cip_super_piece *p,
                            cip_err *err)
{
    cip_mem *mem = &w->u->env->mem;
    uint8_t taken[CIP_SUM_MAX];
    void *bytes;
    if (sum == CIP_SUM_NONE)
        return CIP_OK;
    CIP_TRY(cip_mem_get(mem, (size_t)p->len, &bytes, err));
    cip_status st = cip_io_read(p->io, p->off, bytes, (size_t)p->len, err);
    if (st == CIP_OK)
        st = cip_sum_of(mem, sum, (cip_bytes){ bytes, (size_t)p->len }, taken, err);
    if (st == CIP_OK)
        cip_bp_digest(sum, taken, p->digest);
    cip_mem_put(mem, bytes);
    return st;
}

/* --- as a new file -----------------------------------------------------------------------------
 */

void cip_super_set_counts(const cip_super_work *w, uint8_t *head, uint64_t n, uint64_t last)
{
    if ((int32_t)cip_load_u32(head + AT_CHUNK_SIZE, false) != -1)
        cip_store_u32(head + AT_CHUNK_SIZE, (uint32_t)w->c->each, false);
    if ((int32_t)cip_load_u32(head + AT_LAST, false) != -1)
        cip_store_u32(head + AT_LAST, (uint32_t)last, false);
    if ((int64_t)cip_load_u64(head + AT_COUNT, false) != -1)
        cip_store_u64(head + AT_COUNT, n, false);
}

/* All that a superchunk has but its chunks, as those that are there have it. */
typedef struct front {
    uint8_t head[CIP_BP_HEADER];
    cip_io *io; /* of the metadata */
    uint64_t meta_at, nmeta;
    bool offsets;
    uint64_t nfree; /* offsets for chunks to come, of the final version 3 */
    uint64_t spare;
    cip_sum_id sum;
} front;

static cip_status front_like(const cip_super_work *w, const cip_super_old *s, front *f,
                             cip_err *err)
{
    const cip_bp_file *b = s->f;
    CIP_TRY(cip_io_read(b->layout->io, 0, f->head, sizeof f->head, err));
    f->io = b->layout->io;
    f->meta_at = CIP_BP_HEADER;
    f->nmeta = b->offsets_at - CIP_BP_HEADER;
    f->offsets = (b->h.options & CIP_BP_OFFSETS) != 0;
    f->nfree = b->h.nspare;
    f->sum = b->h.sum;
    return cip_super_spare(w, s, &f->spare, err);
}

static cip_status add_offsets(const cip_super_work *w, const cip_super_old *s,
                              const cip_super_range *r, const front *f, cip_revision *as,
                              cip_err *err)
{
    uint64_t at = CIP_BP_HEADER + f->nmeta + 8 * (r->n - r->first + f->nfree);
    if (!f->offsets)
        return CIP_OK;
    for (uint64_t i = r->first; i < r->n; i++) {
        uint8_t bytes[8];
        cip_super_piece p;
        CIP_TRY(cip_super_piece_of(w, s, r, i, &p, err));
        cip_store_u64(bytes, at, false);
        CIP_TRY(cip_revision_bytes(as, bytes, sizeof bytes, err));
        at += p.len + cip_sum_size(f->sum) + f->spare;
    }
    return cip_revision_fill(as, 0xff, 8 * f->nfree, err);
}

cip_status cip_super_add_piece(const cip_super_work *w, cip_sum_id sum, cip_super_piece *p,
                               cip_revision *as, cip_err *err)
{
    if (!p->is_new && p->sum == sum)
        return cip_revision_range(as, p->io, p->off, p->len + cip_sum_size(sum), err);
    if (!p->is_new)
        CIP_TRY(check_digest(w, p, err));
    CIP_TRY(cip_super_digest(w, sum, p, err));
    CIP_TRY(cip_revision_range(as, p->io, p->off, p->len, err));
    return cip_revision_bytes(as, p->digest, cip_sum_size(sum), err);
}

cip_status cip_super_check_size(const cip_revision *as, cip_err *err)
{
    const uint64_t size = as->tail_off + as->tail_len;
    if (size >> CIP_IO_NUMBER_SHIFT == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a superchunk below 2^32 bytes, found %" PRIu64, size);
}

static cip_status add_file(const cip_super_work *w, const cip_super_old *s,
                           const cip_super_range *r, front *f, cip_revision *as, cip_err *err)
{
    cip_super_piece p = { .raw_len = 0 };
    CIP_TRY(cip_super_piece_of(w, s, r, r->n - 1, &p, err));
    cip_super_set_counts(w, f->head, r->n - r->first, p.raw_len);
    CIP_TRY(cip_revision_bytes(as, f->head, sizeof f->head, err));
    if (f->nmeta != 0)
        CIP_TRY(cip_revision_range(as, f->io, f->meta_at, f->nmeta, err));
    CIP_TRY(add_offsets(w, s, r, f, as, err));
    for (uint64_t i = r->first; i < r->n; i++) {
        CIP_TRY(cip_super_piece_of(w, s, r, i, &p, err));
        CIP_TRY(cip_super_add_piece(w, f->sum, &p, as, err));
        CIP_TRY(cip_revision_fill(as, 0, f->spare, err));
    }
    return cip_super_check_size(as, err);
}

cip_status cip_super_replace(const cip_super_work *w, const cip_super_old *s,
                             const cip_super_range *r, cip_err *err)
{
    cip_revision *as;
    front f = { .nmeta = 0 };
    CIP_TRY(front_like(w, s, &f, err));
    CIP_TRY(cip_revision_replace(w->r, s->name, NULL, &as, err));
    return add_file(w, s, r, &f, as, err);
}

/* --- one that comes ----------------------------------------------------------------------------
 */

cip_status cip_blz_super_like(cip_blz_update *u, cip_blz_column *c, cip_blz_super_how *out,
                              cip_err *err)
{
    const cip_super_work w = { .u = u, .c = c };
    cip_super_old s = { .f = NULL };
    out->offsets = true;
    if (c->nsuper == 0)
        return CIP_OK;
    CIP_TRY(open_there(&w, c->nsuper - 1, &s, err));
    out->sum = s.f->h.sum;
    out->offsets = (s.f->h.options & CIP_BP_OFFSETS) != 0;
    return cip_super_spare(&w, &s, &out->spare, err);
}

static cip_status front_of_new(cip_super_work *w, front *f, cip_err *err)
{
    if (!w->has_like) {
        w->like.sum = w->how->sum;
        CIP_TRY(cip_blz_super_like(w->u, w->c, &w->like, err));
        w->has_like = true;
    }
    const cip_bp_header h = { .version = 3,
                              .options = w->like.offsets ? CIP_BP_OFFSETS : 0,
                              .sum = w->like.sum,
                              .typesize = (uint8_t)w->how->blosc.typesize };
    f->offsets = w->like.offsets;
    f->sum = w->like.sum;
    f->spare = w->like.spare;
    cip_bp_header_write(&h, f->head);
    return CIP_OK;
}

cip_status cip_super_make(cip_super_work *w, const cip_super_range *r, cip_err *err)
{
    cip_revision *as;
    char *name;
    front f = { .nmeta = 0 };
    CIP_TRY(front_of_new(w, &f, err));
    CIP_TRY(cip_blz_super_name(w->c, r->number, w->u->arena, &name, err));
    CIP_TRY(cip_revision_make(w->r, name, &as, err));
    return add_file(w, NULL, r, &f, as, err);
}
