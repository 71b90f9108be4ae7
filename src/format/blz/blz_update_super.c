/* SPDX-License-Identifier: BSD-3-Clause
 * What becomes of a column's superchunks. A chunk that changes stays where it is as long as it fits
 * there, up to where the next one begins; else its superchunk becomes a new file, laid out as the
 * old one: digests, offsets or none, metadata, and after each chunk as much space as was there.
 * One that comes is the same out of nothing, its header that of new folders (blz_write_super.c).
 * bloscpack_container.c writes both; here is which chunks lie in which superchunk. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_update.h"

enum { PER_DEFAULT = 64 /* chunks of a superchunk where nothing says how many */ };

/* A superchunk's chunks, those of the array: [first, was) before, [first, n) now. */
typedef struct range {
    uint64_t number, first, was, n;
} range;

typedef struct work {
    cip_blz_state *u;
    cip_blz_column *c;
    const cip_chunk_changes *chunks;
    const cip_bp_how *how; /* of new ones */
    cip_revision *r;
    uint64_t was, n; /* chunks of the column before and now */
    uint64_t rows;   /* now */
    int64_t *delta;  /* of the bytes of all chunks */
    /* Of columns whose superchunks hold any number: */
    size_t nused;     /* superchunks that hold rows of the array */
    uint64_t nominal; /* chunks of those that come */
    bool has_like;
    cip_blz_super_how like; /* of those that come, once it is known */
    range at;               /* of the superchunk at hand */
} work;

/* --- the superchunks of a column -------------------------------------------------------------- */

uint64_t cip_blz_super_nominal(const cip_blz_column *c)
{
    uint64_t n = c->per;
    for (size_t j = 0; c->per == 0 && j < c->known; j++)
        n = cip_max_u64(n, c->super[j].nchunk);
    return n != 0 ? n : PER_DEFAULT;
}

/* The k-th superchunk's chunks. */
static range range_of(const work *w, uint64_t k)
{
    const cip_blz_column *c = w->c;
    range r = { .number = k + 1 };
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

static bool is_kept(const work *w, uint64_t i, uint64_t end)
{
    cip_chunk_now now;
    for (; i < end; i += now.run) {
        cip_chunk_changes_at(w->chunks, i, &now);
        if (now.from != i)
            return false;
    }
    return true;
}

/* --- one superchunk --------------------------------------------------------------------------- */

/* A chunk that had another number, in whichever superchunk that is. */
static cip_status piece_elsewhere(void *self, uint64_t i, uint64_t from, cip_bp_piece *p,
                                  cip_err *err)
{
    const work *w = self;
    const cip_table *t = &w->c->data->table;
    cip_chunk chunk = { .run = 0 };
    if (from == i)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected chunk %" PRIu64 " in superchunk %" PRIu64 ", found none", from,
                        w->at.number);
    CIP_TRY(t->at(t->self, from, 1, &chunk, err));
    if (chunk.state != CIP_CHUNK_DATA)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected chunk %" PRIu64 " of the column, found none", from);
    *p = (cip_bp_piece){
        .bytes = { .io = chunk.at.in->io, .off = chunk.at.off, .len = chunk.at.len },
        .raw_len = chunk.raw_len,
        .stored = true,
        .sum = (cip_sum_id)chunk.sum_id,
    };
    return CIP_OK;
}

/* Bytes of chunks: those that come less those that were. */
static cip_status count(const work *w, const cip_bp_container *f, cip_err *err)
{
    const range *r = &w->at;
    const cip_bp_file *old = f->old != NULL ? f->old->f : NULL;
    for (uint64_t k = 0; k < cip_max_u64(r->was, r->n) - r->first; k++) {
        const uint64_t i = r->first + k;
        cip_bp_piece p;
        uint64_t end;
        if (i < r->n && is_kept(w, i, i + 1))
            continue;
        if (i < r->n) {
            CIP_TRY(cip_bp_piece_at(f, k, &p, err));
            *w->delta += (int64_t)p.bytes.len;
        }
        if (i >= r->was || old == NULL || k >= old->chunks.n)
            continue;
        CIP_TRY(cip_bp_old_end(f->old, k, &end, err));
        *w->delta -= (int64_t)(end - old->chunks.at[k] - cip_sum_size(old->h.sum));
    }
    return CIP_OK;
}

/* Whether the old file can change: with as many chunks as before, or, where there are no offsets,
 * more or fewer at the end; and none that was stored under another number, as what is written in
 * place might lie over its bytes. *k: the first chunk of its new end. */
static cip_status may_change(const work *w, const cip_bp_container *f, bool *may, uint64_t *k,
                             cip_err *err)
{
    const range *r = &w->at;
    const cip_bp_file *old = f->old->f;
    const uint64_t stored = old->chunks.n;
    *may = stored == r->was - r->first && stored != 0 &&
           (f->offsets ? old->chunks.end == 0 && f->n == stored : f->n != 0);
    for (uint64_t i = r->first; i < r->n && *may; i++) {
        cip_chunk_now now;
        cip_chunk_changes_at(w->chunks, i, &now);
        *may = now.from == UINT64_MAX || now.from == i;
    }
    if (!*may)
        return CIP_OK;
    CIP_TRY(cip_bp_find_tail(f, k, err));
    *may = *k + 1 >= cip_min_u64(f->n, stored); /* the last one may end anywhere */
    return CIP_OK;
}

/* --- what it becomes -------------------------------------------------------------------------- */

/* Where the member lies beneath the folder. UNSUPPORTED for one in a shard outside. */
static cip_status member_name(const work *w, uint64_t member, char name[CIP_IO_NUMBER_NAME],
                              cip_err *err)
{
    const cip_blz_files *f = cip_blz_files_of(w->c->blz, member);
    uint64_t off = member << CIP_IO_NUMBER_SHIFT;
    cip_io_numbered_name(w->c->blz->numbered, &off, name);
    return f->of == NULL ? CIP_OK : cip_blz_lies_outside(name, f->of->name, err);
}

/* Out of the old file or of nothing: f has its header, and how chunks lie in it; `meta` is what
 * stands behind the header where it is made again. */
static cip_status become(const work *w, const char *name, cip_bp_container *f,
                         const cip_segment *meta, cip_err *err)
{
    const cip_bp_file *old = f->old != NULL ? f->old->f : NULL;
    uint64_t k = 0;
    cip_bp_piece last;
    bool may = false;
    CIP_TRY(count(w, f, err));
    if (f->n == 0)
        return cip_revision_unlink(w->r, name, NULL, err);
    if (old == NULL) {
        CIP_TRY(cip_revision_make(w->r, name, &f->r, err));
    } else {
        CIP_TRY(may_change(w, f, &may, &k, err));
        if (!may || k < f->n) /* else no slot is written */
            CIP_TRY(cip_bp_old_spare(f->old, &f->spare, err));
        CIP_TRY((may ? cip_revision_change : cip_revision_replace)(w->r, name, NULL, &f->r, err));
    }
    CIP_TRY(cip_bp_piece_at(f, f->n - 1, &last, err));
    cip_blz_super_counts(f, w->c->each, last.raw_len);
    CIP_TRY(may ? cip_bp_change(f, k, (cip_bytes){ NULL, 0 }, err) : cip_bp_make(f, meta, 0, err));
    const uint64_t size = f->r->tail_off + f->r->tail_len;
    if (size >> CIP_IO_NUMBER_SHIFT == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a superchunk below 2^32 bytes, found %" PRIu64, size);
}

static cip_status change_there(const work *w, size_t j, cip_bp_container *f, cip_err *err)
{
    char name[CIP_IO_NUMBER_NAME];
    cip_bp_file *b;
    cip_bp_old old;
    CIP_TRY(member_name(w, w->c->super[j].member, name, err));
    CIP_TRY(cip_blz_super_open(w->c, j, &b, err));
    cip_status st = cip_bp_old_open(b, &old, err);
    memcpy(f->head, b->head, sizeof f->head);
    f->old = &old;
    f->sum = b->h.sum;
    f->offsets = (b->h.options & CIP_BP_OFFSETS) != 0;
    f->nfree = b->h.nspare;
    const cip_segment meta = { .io = b->layout->io,
                               .off = CIP_BP_HEADER,
                               .len = b->offsets_at - CIP_BP_HEADER };
    if (st == CIP_OK && b->chunks.nfound < b->chunks.n)
        st = cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                      "expected %" PRIu64 " chunks in '%.120s', found %" PRIu64, b->chunks.n, name,
                      b->chunks.nfound);
    if (st == CIP_OK)
        st = become(w, name, f, &meta, err);
    cip_bp_old_clear(&old);
    return st;
}

cip_status cip_blz_super_like(cip_blz_column *c, cip_blz_super_how *out, cip_err *err)
{
    cip_bp_file *f;
    cip_bp_old old;
    out->offsets = true;
    if (c->nsuper == 0)
        return CIP_OK;
    CIP_TRY(cip_blz_super_open(c, c->nsuper - 1, &f, err));
    cip_status st = cip_bp_old_open(f, &old, err);
    out->sum = f->h.sum;
    out->offsets = (f->h.options & CIP_BP_OFFSETS) != 0;
    if (st == CIP_OK)
        st = cip_bp_old_spare(&old, &out->spare, err);
    cip_bp_old_clear(&old);
    return st;
}

static cip_status make_new(work *w, cip_bp_container *f, cip_err *err)
{
    const cip_segment none = { .len = 0 };
    char *name;
    if (f->n == 0)
        return CIP_OK;
    if (!w->has_like) {
        w->like.sum = w->how->sum;
        CIP_TRY(cip_blz_super_like(w->c, &w->like, err));
        w->has_like = true;
    }
    cip_blz_super_head(&w->like, &w->how->blosc, 0, f);
    CIP_TRY(cip_blz_super_name(w->c, w->at.number, w->u->arena, &name, err));
    return become(w, name, f, &none, err);
}

/* --- all of a column -------------------------------------------------------------------------- */

static cip_status change(work *w, const range *r, cip_err *err)
{
    const size_t j = cip_blz_super_find(w->c, r->number);
    cip_bp_container f = { .env = w->u->env,
                           .n = r->n - r->first,
                           .places = { .mem = &w->u->env->mem },
                           .changes = w->chunks,
                           .first = r->first,
                           .other = piece_elsewhere,
                           .self = w };
    w->at = *r;
    cip_status st = j == SIZE_MAX ? make_new(w, &f, err) : change_there(w, j, &f, err);
    cip_buf_clear(&f.places);
    return st;
}

/* The last of the superchunks from the k-th on that stay as they are and hold the usual number of
 * chunks: a shape may claim very many of which there is nothing. The k-th itself where it is none.
 */
static uint64_t pass_kept(const work *w, uint64_t k)
{
    const uint64_t first = range_of(w, k).first, both = cip_min_u64(w->n, w->was);
    cip_chunk_now now;
    if (k < w->nused || first >= both)
        return k;
    cip_chunk_changes_at(w->chunks, first, &now);
    const uint64_t whole = cip_min_u64(now.run, both - first) / w->nominal;
    return now.from == first && whole > 1 ? k + whole - 1 : k;
}

cip_status cip_blz_supers_finish(cip_blz_state *u, size_t column, cip_revision *r, int64_t *delta,
                                 cip_err *err)
{
    const cip_blz_changed *x = &u->column[column];
    cip_blz_column *c = u->b->column[column];
    work w = { .u = u,
               .c = c,
               .chunks = x->chunks,
               .how = x->in_superchunks,
               .r = r,
               .was = c->nchunk,
               .n = cip_chunk_changes_count(x->chunks),
               .rows = (uint64_t)cip_chunk_changes_shape(x->chunks)[0],
               .delta = delta,
               .nominal = cip_blz_super_nominal(c) };
    range s = { .n = 0 };
    while (c->per == 0 && w.nused < c->known && c->super[w.nused].chunk < w.was)
        w.nused++;
    for (uint64_t k = 0; s.n < w.n || s.was < w.was; k++) {
        k = pass_kept(&w, k);
        s = range_of(&w, k);
        if (s.was != s.n || !is_kept(&w, s.first, s.n))
            CIP_TRY(change(&w, &s, err));
    }
    /* Superchunks after the last row go, whoever left them. */
    for (size_t j = 0; j < c->nsuper && w.rows != (uint64_t)c->meta.shape[0]; j++) {
        char name[CIP_IO_NUMBER_NAME];
        if (c->super[j].number <= s.number)
            continue;
        CIP_TRY(member_name(&w, c->super[j].member, name, err));
        CIP_TRY(cip_revision_unlink(r, name, NULL, err));
    }
    return CIP_OK;
}
