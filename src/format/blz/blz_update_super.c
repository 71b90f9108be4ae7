/* SPDX-License-Identifier: BSD-3-Clause
 * What becomes of a column's superchunks. A chunk that changes stays where it is as long as it fits
 * there, up to where the next one begins; else its superchunk becomes a new file, laid out as the
 * old one: digests, offsets or none, metadata, and behind each chunk as much space as was there. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_update_super.h"

enum { PER_DEFAULT = 64 /* chunks of a superchunk where nothing says how many */ };

/* --- the superchunks of a column ---------------------------------------------------------------
 */

uint64_t cip_blz_super_nominal(const cip_blz_column *c)
{
    uint64_t n = c->per;
    for (size_t j = 0; c->per == 0 && j < c->known; j++)
        n = cip_max_u64(n, c->super[j].nchunk);
    return n != 0 ? n : PER_DEFAULT;
}

static void measure(cip_super_work *w)
{
    const cip_blz_column *c = w->c;
    w->nominal = cip_blz_super_nominal(c);
    while (c->per == 0 && w->nused < c->known && c->super[w->nused].chunk < w->was)
        w->nused++;
}

/* The k-th superchunk's chunks. */
static cip_super_range range_of(const cip_super_work *w, uint64_t k)
{
    const cip_blz_column *c = w->c;
    cip_super_range r = { .number = k + 1 };
    uint64_t end;
    if (c->per != 0 || w->nused == 0) {
        r.first = k * w->nominal;
        end = r.first + w->nominal;
    } else if (k < w->nused) {
        const cip_blz_super *s = &c->super[k];
        r.first = s->chunk;
        end = s->chunk + (k + 1 == w->nused ? cip_max_u64(w->nominal, s->nchunk) : s->nchunk);
    } else {
        const cip_blz_super *s = &c->super[w->nused - 1];
        r.first = s->chunk + cip_max_u64(w->nominal, s->nchunk) + (k - w->nused) * w->nominal;
        end = r.first + w->nominal;
    }
    r.was = cip_max_u64(r.first, cip_min_u64(end, w->was));
    r.n = cip_max_u64(r.first, cip_min_u64(end, w->n));
    return r;
}

/* Whether the chunk is one that is stored under another number: its file is made anew, as what is
 * written in place might lie over the bytes of another. */
static bool is_moved(const cip_super_work *w, uint64_t i)
{
    cip_chunk_now now;
    cip_chunk_changes_at(w->chunks, i, &now);
    return now.from != UINT64_MAX && now.from != i;
}

static bool is_kept(const cip_super_work *w, uint64_t i, uint64_t end)
{
    cip_chunk_now now;
    for (; i < end; i += now.run) {
        cip_chunk_changes_at(w->chunks, i, &now);
        if (now.from != i)
            return false;
    }
    return true;
}

/* --- in place ----------------------------------------------------------------------------------
 */

/* Whether new bytes fit where chunk k lies; the last one may end anywhere. */
static cip_status fits(const cip_super_old *s, uint64_t k, bool last, uint64_t len, bool *yes,
                       cip_err *err)
{
    uint64_t end;
    CIP_TRY(cip_super_chunk_end(s->f, k, &end, err));
    const uint64_t was = end - s->f->chunks.at[k];
    *yes = last || (s->offsets ? len <= was + cip_super_room_behind(s->f, k, end) : len == was);
    return CIP_OK;
}

/* With as many chunks as before, or, where there are no offsets, more or fewer at the end. */
static cip_status may_patch(const cip_super_work *w, const cip_super_old *s,
                            const cip_super_range *r, bool *may, cip_err *err)
{
    const uint64_t n = r->n - r->first, sum = cip_sum_size(s->f->h.sum);
    const bool table = (s->f->h.options & CIP_BP_OFFSETS) != 0;
    *may = s->stored == r->was - r->first && (table ? s->offsets && n == s->stored : n != 0) &&
           s->stored != 0;
    for (uint64_t k = 0; k < n && *may; k++) {
        cip_super_piece p;
        *may = !is_moved(w, r->first + k);
        if (!*may || is_kept(w, r->first + k, r->first + k + 1) || k >= s->stored)
            continue; /* those behind the stored ones come from the temporary file */
        CIP_TRY(cip_super_piece_of(w, s, r, r->first + k, &p, err));
        CIP_TRY(fits(s, k, k + 1 == cip_min_u64(n, s->stored), p.len + sum, may, err));
    }
    return CIP_OK;
}

/* A chunk within, and zeros behind it where the old one was longer. */
static cip_status patch_chunk(const cip_super_work *w, const cip_super_old *s, uint64_t k,
                              cip_super_piece *p, cip_revision *as, cip_err *err)
{
    static const uint8_t zeros[512];
    const uint64_t at = s->f->chunks.at[k];
    const size_t sum = cip_sum_size(s->f->h.sum);
    uint64_t end;
    CIP_TRY(cip_super_chunk_end(s->f, k, &end, err));
    CIP_TRY(cip_super_digest(w, s->f->h.sum, p, err));
    CIP_TRY(cip_patch_range(&as->patch, at, p->io, p->off, p->len, err));
    CIP_TRY(cip_patch_bytes(&as->patch, at + p->len, p->digest, sum, err));
    for (uint64_t off = at + p->len + sum; off < end; off += sizeof zeros)
        CIP_TRY(cip_patch_bytes(&as->patch, off, zeros,
                                (size_t)cip_min_u64(sizeof zeros, end - off), err));
    return CIP_OK;
}

/* Chunks from k on, at the end of the file. */
static cip_status end_anew(const cip_super_work *w, const cip_super_old *s,
                           const cip_super_range *r, uint64_t k, cip_revision *as, cip_err *err)
{
    uint64_t at = s->f->chunks_at, spare;
    CIP_TRY(cip_super_spare(w, s, &spare, err));
    if (k < s->stored)
        at = s->f->chunks.at[k];
    else
        CIP_TRY(cip_super_chunk_end(s->f, k - 1, &at, err));
    as->has_tail = true;
    as->tail_off = at;
    for (uint64_t i = r->first + k; i < r->n; i++) {
        cip_super_piece p;
        CIP_TRY(cip_super_piece_of(w, s, r, i, &p, err));
        CIP_TRY(cip_super_add_piece(w, s->f->h.sum, &p, as, err));
        CIP_TRY(cip_revision_fill(as, 0, spare, err));
    }
    return cip_super_check_size(as, err);
}

static cip_status patch_header(const cip_super_work *w, const cip_super_old *s, uint64_t n,
                               uint64_t last, cip_revision *as, cip_err *err)
{
    uint8_t was[CIP_BP_HEADER], now[CIP_BP_HEADER];
    CIP_TRY(cip_io_read(s->f->layout->io, 0, was, sizeof was, err));
    memcpy(now, was, sizeof now);
    cip_super_set_counts(w, now, n, last);
    return memcmp(was, now, sizeof now) == 0
               ? CIP_OK
               : cip_patch_bytes(&as->patch, CIP_SUPER_AT_COUNTS, now + CIP_SUPER_AT_COUNTS,
                                 CIP_SUPER_COUNTS, err);
}

static cip_status change_in_place(const cip_super_work *w, const cip_super_old *s,
                                  const cip_super_range *r, cip_err *err)
{
    const uint64_t n = r->n - r->first, within = cip_min_u64(n, s->stored);
    uint64_t from = within;
    cip_revision *as;
    cip_super_piece p = { .raw_len = 0 };
    CIP_TRY(cip_revision_change(w->r, s->name, NULL, &as, err));
    for (uint64_t k = 0; k < within; k++) {
        bool fit;
        if (is_kept(w, r->first + k, r->first + k + 1))
            continue;
        CIP_TRY(cip_super_piece_of(w, s, r, r->first + k, &p, err));
        CIP_TRY(fits(s, k, false, p.len + cip_sum_size(s->f->h.sum), &fit, err));
        if (fit)
            CIP_TRY(patch_chunk(w, s, k, &p, as, err));
        else /* the last one */
            from = k;
    }
    CIP_TRY(cip_super_piece_of(w, s, r, r->n - 1, &p, err));
    CIP_TRY(patch_header(w, s, n, p.raw_len, as, err));
    return from < within || n != s->stored ? end_anew(w, s, r, from, as, err) : CIP_OK;
}

/* --- all of a column ---------------------------------------------------------------------------
 */

/* Bytes of chunks: those that come less those that were. */
static cip_status count(const cip_super_work *w, const cip_super_old *s, const cip_super_range *r,
                        cip_err *err)
{
    for (uint64_t i = r->first; i < cip_max_u64(r->was, r->n); i++) {
        cip_blosc_head head;
        cip_chunk chunk = { .run = 0 };
        cip_super_piece p;
        if (i < r->n && is_kept(w, i, i + 1))
            continue;
        if (i < r->n) {
            CIP_TRY(cip_super_piece_of(w, s, r, i, &p, err));
            *w->delta += (int64_t)p.len;
        }
        if (i >= r->was || s == NULL || i - r->first >= s->stored)
            continue;
        CIP_TRY(cip_bp_chunk(s->f, i - r->first, &head, &chunk, err));
        *w->delta -= (int64_t)head.cbytes;
    }
    return CIP_OK;
}

static cip_status change(cip_super_work *w, const cip_super_range *r, cip_err *err)
{
    const size_t j = cip_blz_super_find(w->c, r->number);
    cip_super_old s = { .f = NULL };
    bool may;
    if (j == SIZE_MAX) {
        CIP_TRY(count(w, NULL, r, err));
        return r->n == r->first ? CIP_OK : cip_super_make(w, r, err);
    }
    CIP_TRY(cip_super_open_old(w, j, &s, err));
    CIP_TRY(count(w, &s, r, err));
    if (r->n == r->first)
        return cip_revision_unlink(w->r, s.name, NULL, err);
    CIP_TRY(may_patch(w, &s, r, &may, err));
    return (may ? change_in_place : cip_super_replace)(w, &s, r, err);
}

/* The last of the superchunks from the k-th on that stay as they are and hold the usual number of
 * chunks: a shape may claim very many of which there is nothing. The k-th itself where it is none.
 */
static uint64_t pass_kept(const cip_super_work *w, uint64_t k)
{
    const uint64_t first = range_of(w, k).first, both = cip_min_u64(w->n, w->was);
    cip_chunk_now now;
    if (k < w->nused || first >= both)
        return k;
    cip_chunk_changes_at(w->chunks, first, &now);
    const uint64_t whole = cip_min_u64(now.run, both - first) / w->nominal;
    return now.from == first && whole > 1 ? k + whole - 1 : k;
}

/* Superchunks behind the last row go, whoever left them. */
static cip_status remove_behind(const cip_super_work *w, uint64_t number, cip_err *err)
{
    for (size_t j = 0; j < w->c->nsuper; j++) {
        char name[CIP_IO_NUMBER_NAME];
        if (w->c->super[j].number <= number)
            continue;
        CIP_TRY(cip_super_member_name(w, w->c->super[j].member, name, err));
        CIP_TRY(cip_revision_unlink(w->r, name, NULL, err));
    }
    return CIP_OK;
}

cip_status cip_blz_supers_finish(cip_blz_update *u, size_t column, cip_revision *r, int64_t *delta,
                                 cip_err *err)
{
    const cip_blz_changed *x = &u->column[column];
    cip_blz_column *c = u->b->column[column];
    cip_super_work w = { .u = u,
                         .c = c,
                         .chunks = x->chunks,
                         .how = x->in_superchunks,
                         .r = r,
                         .was = c->nchunk,
                         .n = cip_chunk_changes_count(x->chunks),
                         .rows = (uint64_t)cip_chunk_changes_shape(x->chunks)[0],
                         .delta = delta };
    cip_super_range s = { .n = 0 };
    measure(&w);
    for (uint64_t k = 0; s.n < w.n || s.was < w.was; k++) {
        k = pass_kept(&w, k);
        s = range_of(&w, k);
        if (s.was != s.n || !is_kept(&w, s.first, s.n))
            CIP_TRY(change(&w, &s, err));
    }
    return w.rows != (uint64_t)c->meta.shape[0] ? remove_behind(&w, s.number, err) : CIP_OK;
}
