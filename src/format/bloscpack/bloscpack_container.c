/* SPDX-License-Identifier: BSD-3-Clause
 * How a file is written, whether it is new, changes where it is or is made again: bloscpack's own
 * and the superchunks of BLZ. After header, metadata and offsets come slots, each a chunk, its
 * digest, and in superchunks space for it to grow. A new file gets its chunks one by one. What
 * becomes of an old one is known as a whole: a chunk that fits where the old one was changes there,
 * and from the first that does not the file ends with other slots. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/bloscpack/bloscpack.h"
#include "io/revision_out.h"

/* --- a file that is there --------------------------------------------------------------------- */

cip_status cip_bp_old_open(cip_bp_file *f, cip_bp_old *out, cip_err *err)
{
    cip_layout *l = f->layout;
    cip_space *data;
    *out = (cip_bp_old){ .f = f, .heads = { .layout = l, .in = l->file } };
    CIP_TRY(cip_space_resolve(f->data, &data, err));
    return CIP_NEW(&l->env->mem, &out->end, (size_t)f->chunks.nfound, err);
}

void cip_bp_old_clear(cip_bp_old *o)
{
    if (o->f == NULL)
        return;
    cip_window_clear(&o->heads);
    cip_mem_put(&o->f->layout->env->mem, o->end);
}

cip_status cip_bp_old_end(cip_bp_old *o, uint64_t i, uint64_t *end, cip_err *err)
{
    cip_chunk c = { .run = 0 };
    if (o->end[i] == 0) {
        CIP_TRY(cip_bp_chunk_place(o->f, &o->heads, i, &c, err));
        o->end[i] = c.at.off + c.at.len + cip_sum_size(o->f->h.sum);
    }
    *end = o->end[i];
    return CIP_OK;
}

/* Bytes from the end of chunk i to the next chunk or the end of the file. */
static uint64_t room_after(const cip_bp_file *f, uint64_t i, uint64_t end)
{
    const uint64_t next = i + 1 < f->chunks.nfound ? f->chunks.at[i + 1] : f->layout->io->size;
    return next > end ? next - end : 0;
}

/* Places of all chunks are known from offsets, not from a walk. */
static bool has_offsets(const cip_bp_file *f)
{
    return (f->h.options & CIP_BP_OFFSETS) != 0 && f->chunks.end == 0;
}

/* Chunks that changed where they are have more space after them, or less: so that of the one in
 * the middle, by size, is what each was given. */
cip_status cip_bp_old_spare(cip_bp_old *o, uint64_t *spare, cip_err *err)
{
    cip_mem *mem = &o->f->layout->env->mem;
    const size_t n = (size_t)o->f->chunks.nfound;
    uint64_t *room = NULL, end = 0;
    cip_status st = CIP_OK;
    *spare = 0;
    if (!o->f->spare || !has_offsets(o->f) || n == 0)
        return CIP_OK;
    CIP_TRY(CIP_NEW(mem, &room, n, err));
    for (size_t k = 0; k < n && st == CIP_OK; k++) {
        st = cip_bp_old_end(o, k, &end, err);
        room[k] = room_after(o->f, k, end);
    }
    if (st == CIP_OK) {
        qsort(room, n, sizeof *room, cip_compare_u64);
        *spare = room[n / 2];
    }
    cip_mem_put(mem, room);
    return st;
}

/* Whether `len` bytes, a chunk with its digest, fit where chunk i lies. */
static cip_status fits(cip_bp_old *o, uint64_t i, uint64_t len, bool *yes, cip_err *err)
{
    const cip_bp_file *f = o->f;
    uint64_t end;
    CIP_TRY(cip_bp_old_end(o, i, &end, err));
    const uint64_t was = end - f->chunks.at[i];
    *yes = len == was || (f->spare && has_offsets(f) && len <= was + room_after(f, i, end));
    return CIP_OK;
}

/* --- chunks ----------------------------------------------------------------------------------- */

cip_status cip_bp_piece_in(const cip_chunk_in *c, cip_sum_id sum, uint64_t *left, cip_bp_piece *out,
                           cip_err *err)
{
    if (c->state != CIP_CHUNK_DATA || c->raw_len > *left)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes of data, found %" PRIu64, *left,
                        c->raw_len);
    *left -= c->raw_len;
    *out = (cip_bp_piece){ .bytes = { .ptr = c->bytes.ptr, .len = c->bytes.len },
                           .raw_len = c->raw_len,
                           .sum = sum };
    memcpy(out->own, c->sum, sizeof out->own);
    return CIP_OK;
}

cip_bp_piece cip_bp_piece_made(const cip_chunk *c)
{
    cip_bp_piece p = { .bytes = { .io = c->at.in->io, .off = c->at.off, .len = c->at.len },
                       .raw_len = c->raw_len,
                       .sum = (cip_sum_id)c->sum_id };
    memcpy(p.own, c->sum, sizeof p.own);
    return p;
}

cip_status cip_bp_piece_at(const cip_bp_container *c, uint64_t i, cip_bp_piece *p, cip_err *err)
{
    cip_chunk_now now;
    if (c->only != NULL) {
        *p = *c->only;
        return CIP_OK;
    }
    cip_chunk_changes_at(c->changes, c->first + i, &now);
    const uint64_t from = now.from - c->first;
    if (now.from != UINT64_MAX && c->other != NULL &&
        (from != i || c->old == NULL || from >= c->old->f->chunks.n))
        return c->other(c->self, c->first + i, now.from, p, err);
    if (now.from != UINT64_MAX) {
        const uint64_t at = c->old->f->chunks.at[from];
        uint64_t end, raw_off;
        CIP_TRY(cip_bp_old_end(c->old, from, &end, err));
        *p = (cip_bp_piece){ .bytes = { .io = c->old->f->layout->io, .off = at },
                             .stored = true,
                             .sum = c->old->f->h.sum };
        p->bytes.len = end - at - cip_sum_size(p->sum);
        cip_bp_raw(c->old->f, from, &raw_off, &p->raw_len);
        return CIP_OK;
    }
    *p = cip_bp_piece_made(&now.chunk);
    return CIP_OK;
}

/* As it is stored. Of a chunk that has one of another kind, or none, its bytes are read; and those
 * of one that is stored are compared with its own, as they must not get one for other bytes. */
static cip_status digest_of(const cip_bp_container *c, const cip_bp_piece *p, uint8_t *out,
                            cip_err *err)
{
    cip_mem *mem = &c->env->mem;
    const size_t len = (size_t)p->bytes.len, nown = p->stored ? cip_sum_size(p->sum) : 0;
    uint8_t *bytes = NULL, sum[CIP_SUM_MAX], own[CIP_SUM_MAX];
    if (!p->stored && p->sum == c->sum) {
        cip_bp_digest(c->sum, p->own, out);
        return CIP_OK;
    }
    if (c->sum == CIP_SUM_NONE && nown == 0)
        return CIP_OK;
    CIP_TRY(cip_mem_get(mem, len + nown, (void **)&bytes, err));
    cip_status st = cip_io_read(p->bytes.io, p->bytes.off, bytes, len + nown, err);
    if (st == CIP_OK && nown != 0)
        st = cip_sum_of(mem, p->sum, (cip_bytes){ bytes, len }, sum, err);
    if (st == CIP_OK && nown != 0) {
        cip_bp_digest(p->sum, sum, own);
        if (memcmp(own, bytes + len, nown) != 0)
            st = cip_fail(err, CIP_ERR_CHECKSUM, p->bytes.off,
                          "%s mismatch: the chunk does not match its checksum",
                          cip_sum_name(p->sum));
    }
    if (st == CIP_OK && c->sum != CIP_SUM_NONE)
        st = cip_sum_of(mem, c->sum, (cip_bytes){ bytes, len }, sum, err);
    if (st == CIP_OK)
        cip_bp_digest(c->sum, sum, out);
    cip_mem_put(mem, bytes);
    return st;
}

/* --- a file from its front on ----------------------------------------------------------------- */

/* A fill takes no room in a revision; of what waits in a temporary file it would part the bytes. */
static cip_status fill(const cip_bp_container *c, uint8_t value, uint64_t n, cip_err *err)
{
    const cip_segment s = { .off = value, .len = n };
    return c->r != NULL ? cip_out_segment(c->out, &s, err) : cip_out_fill(c->out, value, n, err);
}

cip_status cip_bp_put_front(cip_bp_container *c, const cip_segment *meta, cip_err *err)
{
    CIP_TRY(cip_out_write(c->out, c->head, sizeof c->head, err));
    CIP_TRY(cip_out_segment(c->out, meta, err));
    c->offsets_at = c->out->n;
    if (!c->offsets)
        return CIP_OK;
    CIP_TRY(cip_out_fill(c->out, 0xff, 8 * c->n, err));
    return fill(c, 0xff, 8 * c->nfree, err);
}

static cip_status put_slot(const cip_bp_container *c, const cip_bp_piece *p, cip_err *err)
{
    const bool same = p->stored && p->sum == c->sum;
    const size_t nsum = cip_sum_size(c->sum);
    uint8_t digest[CIP_SUM_MAX];
    cip_segment s = p->bytes;
    if (same)
        s.len += nsum;
    else
        CIP_TRY(digest_of(c, p, digest, err));
    CIP_TRY(cip_out_segment(c->out, &s, err));
    if (!same)
        CIP_TRY(cip_out_write(c->out, digest, nsum, err));
    return fill(c, 0, c->spare, err);
}

cip_status cip_bp_put_chunk(cip_bp_container *c, const cip_bp_piece *p, cip_err *err)
{
    uint8_t at[8];
    cip_store_u64(at, c->out->n, false);
    if (c->offsets)
        CIP_TRY(cip_buf_add(&c->places, at, sizeof at, err));
    return put_slot(c, p, err);
}

cip_status cip_bp_put_offsets(cip_bp_container *c, cip_err *err)
{
    if (c->places.len == 0)
        return CIP_OK;
    CIP_TRY(cip_out_rewrite(c->out, c->offsets_at, c->places.ptr, c->places.len, err));
    c->offsets_at += c->places.len;
    c->places.len = 0;
    return CIP_OK;
}

/* --- what becomes of a file ------------------------------------------------------------------- */

cip_status cip_bp_make(cip_bp_container *c, const cip_segment *meta, uint64_t k, cip_err *err)
{
    cip_out out = cip_revision_tail(c->r);
    c->out = &out;
    cip_status st = meta != NULL ? cip_bp_put_front(c, meta, err) : CIP_OK;
    for (; k < c->n && st == CIP_OK; k++) {
        cip_bp_piece p;
        st = cip_bp_piece_at(c, k, &p, err);
        if (st == CIP_OK)
            st = cip_bp_put_chunk(c, &p, err);
    }
    if (meta != NULL && st == CIP_OK)
        st = cip_bp_put_offsets(c, err);
    c->out = NULL;
    return st;
}

/* The number of chunks from i on that stay where they are; 0: chunk i changes. */
static uint64_t kept_from(const cip_bp_container *c, uint64_t i, cip_chunk_now *now)
{
    cip_chunk_changes_at(c->changes, c->first + i, now);
    return now->from == c->first + i ? now->run : 0;
}

cip_status cip_bp_find_tail(const cip_bp_container *c, uint64_t *k, cip_err *err)
{
    const uint64_t n = c->only != NULL ? 0 : cip_min_u64(c->n, c->old->f->chunks.n);
    const size_t nsum = cip_sum_size(c->sum);
    cip_chunk_now now;
    uint64_t i = 0;
    for (bool fit = true; i < n && fit;) {
        const uint64_t kept = kept_from(c, i, &now);
        if (kept == 0 && now.from != UINT64_MAX)
            break;
        if (kept == 0)
            CIP_TRY(fits(c->old, i, now.chunk.at.len + nsum, &fit, err));
        i += kept != 0 ? kept : fit;
    }
    *k = cip_min_u64(i, n);
    return CIP_OK;
}

/* A bloscpack file has a slot for an array of nothing, too. */
static uint64_t count_slots(const cip_bp_file *f)
{
    return f->spare ? f->chunks.n : (uint64_t)f->h.nchunk;
}

/* Slots from k on are others; offsets of those that go are free again. */
static cip_status put_end(cip_bp_container *c, uint64_t k, cip_err *err)
{
    const cip_bp_file *f = c->old->f;
    const uint64_t unset = UINT64_MAX;
    /* Where slot k begins, after those before it that stay. */
    const bool there = f->spare && k < f->chunks.n;
    c->r->tail_off = there ? f->chunks.at[k] : f->chunks_at;
    if (!there && k != 0)
        CIP_TRY(cip_bp_old_end(c->old, k - 1, &c->r->tail_off, err));
    c->r->has_tail = true;
    CIP_TRY(cip_bp_make(c, NULL, k, err));
    for (uint64_t i = c->n; i < count_slots(f) && c->offsets; i++)
        CIP_TRY(cip_buf_add(&c->places, &unset, sizeof unset, err));
    return cip_patch_bytes(&c->r->patch, f->offsets_at + 8 * k, c->places.ptr, c->places.len, err);
}

cip_status cip_bp_change(cip_bp_container *c, uint64_t k, cip_bytes meta, cip_err *err)
{
    const cip_bp_file *f = c->old->f;
    cip_chunk_now now;
    if (memcmp(c->head, f->head, sizeof c->head) != 0)
        CIP_TRY(cip_patch_bytes(&c->r->patch, 0, c->head, sizeof c->head, err));
    CIP_TRY(cip_patch_bytes(&c->r->patch, f->meta_at, meta.ptr, meta.len, err));
    for (uint64_t i = 0, kept; i < k; i += cip_max_u64(kept, 1)) {
        kept = kept_from(c, i, &now);
        if (kept == 0) {
            /* A chunk within, and zeros after it where the old one was longer. */
            static const uint8_t zeros[512];
            const uint64_t at = c->old->f->chunks.at[i];
            const size_t nsum = cip_sum_size(c->sum);
            uint8_t digest[CIP_SUM_MAX];
            cip_bp_piece p;
            uint64_t end;
            CIP_TRY(cip_bp_old_end(c->old, i, &end, err));
            CIP_TRY(cip_bp_piece_at(c, i, &p, err));
            CIP_TRY(digest_of(c, &p, digest, err));
            CIP_TRY(cip_patch_range(&c->r->patch, at, p.bytes.io, p.bytes.off, p.bytes.len, err));
            CIP_TRY(cip_patch_bytes(&c->r->patch, at + p.bytes.len, digest, nsum, err));
            for (uint64_t off = at + p.bytes.len + nsum; off < end; off += sizeof zeros)
                CIP_TRY(cip_patch_bytes(&c->r->patch, off, zeros,
                                        (size_t)cip_min_u64(sizeof zeros, end - off), err));
        }
    }
    return k < c->n || c->n != count_slots(f) ? put_end(c, k, err) : CIP_OK;
}
