/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks as a table. Their places come from the offsets, or, where there are none or one was
 * never written, from a walk: chunks follow each other without gaps, and each says its length.
 * Their decoded sizes come from the header, or, where it does not say them, from the chunks' heads.
 */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/bloscpack/bloscpack.h"

enum {
    PIECE = 8192, /* bytes of offsets read at once */
    SMALL = 512,  /* chunks with their digests that are read whole with the head */
    SPARE_MAX = 1 << 20
};

cip_status cip_bp_sized(const cip_bp_header *h, bool *sized, uint64_t *nbytes, cip_err *err)
{
    int64_t n;
    *nbytes = 0;
    *sized = h->nchunk == 0 || (h->nchunk > 0 && h->chunk_size >= 0 && h->last_chunk >= 0);
    if (!*sized || h->nchunk == 0)
        return CIP_OK;
    if (cip_mul_overflow(h->nchunk - 1, h->chunk_size, &n) ||
        cip_add_overflow(n, h->last_chunk, &n))
        return cip_fail(err, CIP_ERR_CORRUPT, 16,
                        "expected under 2^63 bytes in all, found %" PRId64 " chunks of %" PRId64,
                        h->nchunk, h->chunk_size);
    *nbytes = (uint64_t)n;
    return CIP_OK;
}

/* --- one chunk -------------------------------------------------------------------------------- */

static cip_status check_at(const cip_bp_file *f, uint64_t at, cip_err *err)
{
    const uint64_t size = f->layout->file->len;
    if (at <= size && size - at >= CIP_BLOSC_MIN_HEADER)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_TRUNCATED, size,
                    "expected a chunk at %" PRIu64 ", found the end of the file", at);
}

static cip_status read_head(const cip_bp_file *f, cip_window *w, uint64_t at, cip_blosc_head *head,
                            cip_err *err)
{
    cip_bytes in;
    CIP_TRY(check_at(f, at, err));
    CIP_TRY(cip_window_next(w, at, CIP_BLOSC_HEADER, &in, err));
    return cip_blosc_head_parse(in, head, err);
}

/* Chunks lie behind each other: one that reaches into the next, or does not lie behind the one
 * before (if that lies in the file), is not what the offsets mean. */
static cip_status check_place(const cip_bp_file *f, uint64_t i, const cip_blosc_head *head,
                              cip_err *err)
{
    const cip_bp_chunks *t = &f->chunks;
    uint64_t size = f->layout->file->len, nbytes = head->cbytes + cip_sum_size(f->h.sum);
    uint64_t least = i > 0 && t->at[i - 1] < size ? t->at[i - 1] + 1 : f->chunks_at;
    uint64_t most = i + 1 < t->nfound && t->at[i + 1] <= size ? t->at[i + 1] : size;
    if (t->at[i] < cip_max_u64(least, f->chunks_at))
        return cip_fail(err, CIP_ERR_CORRUPT, t->at[i],
                        "expected a chunk at %" PRIu64 " or later, found it at %" PRIu64,
                        cip_max_u64(least, f->chunks_at), t->at[i]);
    if (t->at[i] <= most && nbytes <= most - t->at[i])
        return CIP_OK;
    return cip_fail(err, most == size ? CIP_ERR_TRUNCATED : CIP_ERR_CORRUPT, most,
                    "expected the chunk of %" PRIu64 " bytes at %" PRIu64 " to end at %" PRIu64
                    " or earlier",
                    nbytes, t->at[i], most);
}

/* As far as the next chunk, with the digest between; the chunk begins within the file. */
static uint64_t slot_len(const cip_bp_file *f, uint64_t i)
{
    const cip_bp_chunks *t = &f->chunks;
    const uint64_t size = f->layout->file->len;
    const bool next = i + 1 < t->nfound && t->at[i + 1] > t->at[i];
    return (next ? cip_min_u64(t->at[i + 1], size) : size) - t->at[i];
}

static cip_status check_chunk(const cip_bp_file *f, uint64_t i, const cip_blosc_head *head,
                              cip_chunk *out, cip_err *err)
{
    const cip_bp_chunks *t = &f->chunks;
    CIP_TRY(check_place(f, i, head, err));
    out->at = (cip_extent){ f->layout->file, t->at[i], head->cbytes };
    cip_bp_raw(f, i, &out->raw_off, &out->raw_len);
    if (out->raw_len == head->nbytes)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, t->at[i],
                    "expected a chunk of %" PRIu64 " decoded bytes, found %" PRIu32, out->raw_len,
                    head->nbytes);
}

void cip_bp_raw(const cip_bp_file *f, uint64_t i, uint64_t *off, uint64_t *len)
{
    const cip_bp_chunks *t = &f->chunks;
    const uint64_t each = (uint64_t)f->h.chunk_size;
    *off = t->raw != NULL ? t->raw[i] : i * each;
    *len = (t->raw != NULL ? t->raw[i + 1] : cip_min_u64(*off + each, t->raw_len)) - *off;
}

cip_status cip_bp_chunk_place(const cip_bp_file *f, cip_window *w, uint64_t i, cip_chunk *out,
                              cip_err *err)
{
    cip_blosc_head head;
    CIP_TRY(read_head(f, w, f->chunks.at[i], &head, err));
    return check_chunk(f, i, &head, out, err);
}

cip_status cip_bp_count_bytes(const cip_bp_file *f, uint64_t *nbytes, bool *all, cip_err *err)
{
    cip_window heads = { .layout = f->layout, .in = f->layout->file };
    cip_err why = CIP_ERR_INIT;
    cip_status st = CIP_OK;
    for (uint64_t i = 0; i < f->chunks.nfound; i++) {
        cip_chunk c = { .run = 0 };
        why = (cip_err)CIP_ERR_INIT;
        st = cip_bp_chunk_place(f, &heads, i, &c, &why);
        if (st == CIP_ERR_NOMEM || st == CIP_ERR_IO || st == CIP_ERR_BUSY)
            break;
        *all = *all && st == CIP_OK;
        *nbytes += st == CIP_OK ? c.at.len : 0;
        st = CIP_OK;
    }
    cip_window_clear(&heads);
    return st == CIP_OK ? CIP_OK : cip_fail(err, st, why.offset, "%s", why.text);
}

/* Of a small chunk one read takes the digest with the head. */
cip_status cip_bp_chunk(const cip_bp_file *f, uint64_t i, cip_blosc_head *head, cip_chunk *out,
                        cip_err *err)
{
    const cip_read_how how = { f->layout, NULL };
    const uint64_t at = f->chunks.at[i];
    const size_t nsum = cip_sum_size(f->h.sum);
    uint8_t bytes[SMALL], stored[CIP_SUM_MAX];
    CIP_TRY(check_at(f, at, err));
    const uint64_t slot = slot_len(f, i), left = f->layout->file->len - at;
    const uint64_t n =
        cip_max_u64(cip_min_u64(CIP_BLOSC_HEADER, left), nsum != 0 && slot <= SMALL ? slot : 0);
    CIP_TRY(cip_space_read_at(&how, f->layout->file, at, bytes, (size_t)n, err));
    CIP_TRY(cip_blosc_head_parse((cip_bytes){ bytes, (size_t)n }, head, err));
    CIP_TRY(check_chunk(f, i, head, out, err));
    if (nsum == 0)
        return CIP_OK;
    const bool there = head->cbytes + nsum <= n;
    if (!there)
        CIP_TRY(cip_space_read_at(&how, f->layout->file, at + head->cbytes, stored, nsum, err));
    out->sum_id = (uint8_t)f->h.sum;
    cip_bp_digest(f->h.sum, there ? bytes + head->cbytes : stored, out->sum);
    return CIP_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static cip_status table_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const cip_bp_file *f = self;
    const cip_bp_chunks *t = &f->chunks;
    cip_blosc_head head;
    for (size_t k = 0; k < n; k++, i++) {
        if (i >= t->n)
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected a chunk below %" PRIu64 ", found %" PRIu64, t->n, i);
        if (i < t->nfound) {
            CIP_TRY(cip_bp_chunk(f, i, &head, &out[k], err));
            continue;
        }
        /* Of those that are missing all but the last are of one size: they are one run. */
        out[k].state = CIP_CHUNK_MISSING;
        out[k].why = t->why;
        out[k].lack = t->lack;
        cip_bp_raw(f, i, &out[k].raw_off, &out[k].raw_len);
        out[k].run = cip_max_u64(1, t->n - 1 - i);
    }
    return CIP_OK;
}

/* With chunks of different sizes: the last one that begins at the byte or before it. */
static cip_status table_find(void *self, uint64_t raw_off, uint64_t *i, cip_err *err)
{
    const cip_bp_chunks *t = &((const cip_bp_file *)self)->chunks;
    (void)err;
    *i = cip_last_at_most(t->raw, sizeof *t->raw, t->n, raw_off);
    return CIP_OK;
}

static cip_status table_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const cip_bp_file *)self)->chunks.n;
    return CIP_OK;
}

static void table_place(void *self, uint64_t i, cip_extent *at)
{
    const cip_bp_file *f = self;
    if (i < f->chunks.nfound && f->chunks.at[i] < f->layout->file->len)
        *at = (cip_extent){ f->layout->file, f->chunks.at[i], slot_len(f, i) };
}

/* --- where they are --------------------------------------------------------------------------- */

typedef struct search {
    cip_bp_file *f;
    cip_window heads;
    cip_buf list, raw; /* uint64_t: where chunks lie, and where they begin decoded */
} search;

static cip_status keep(cip_bp_file *f, const cip_buf *list, const uint64_t **out, cip_err *err)
{
    cip_layout *l = f->layout;
    char *copy;
    pthread_mutex_lock(&l->lock);
    cip_status st = cip_arena_copy(&l->arena, list->ptr, list->len, &copy, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    *out = (const uint64_t *)(const void *)copy;
    return CIP_OK;
}

/* The offsets, which the file has room for. *all false: one of them was never written. */
static cip_status read_offsets(search *s, bool *all, cip_err *err)
{
    const cip_bp_file *f = s->f;
    const cip_read_how how = { f->layout, NULL };
    uint8_t bytes[PIECE];
    uint64_t n = (uint64_t)f->h.nchunk, each = PIECE / 8;
    *all = true;
    for (uint64_t i = 0; i < n && *all; i += each) {
        size_t m = (size_t)cip_min_u64(each, n - i);
        CIP_TRY(cip_space_read_at(&how, f->layout->file, f->offsets_at + 8 * i, bytes, 8 * m, err));
        for (size_t k = 0; k < m; k++) {
            uint64_t at = cip_load_u64(bytes + 8 * k, false);
            *all = *all && at != UINT64_MAX;
            CIP_TRY(cip_buf_add(&s->list, &at, sizeof at, err));
        }
    }
    return CIP_OK;
}

/* Past the zeros that may be left behind a chunk, at most SPARE_MAX of them: no head begins with
 * one. */
static cip_status skip_spare(search *s, uint64_t *at, cip_err *err)
{
    const cip_bp_file *f = s->f;
    uint64_t end = cip_min_u64(f->layout->file->len, *at + SPARE_MAX);
    while (f->spare && *at < end) {
        cip_bytes in;
        size_t k = 0;
        CIP_TRY(cip_window_next(&s->heads, *at, (size_t)cip_min_u64(PIECE, end - *at), &in, err));
        while (k < in.len && in.ptr[k] == 0)
            k++;
        *at += k;
        if (k < in.len)
            break;
    }
    return CIP_OK;
}

/* From head to head, until the chunks, the file or its sense end: *why then says why. */
static cip_status walk(search *s, cip_err *why, cip_err *err)
{
    cip_bp_file *f = s->f;
    uint64_t at = f->chunks_at, size = f->layout->file->len, n = (uint64_t)f->h.nchunk;
    for (uint64_t i = 0; i < n && (f->h.nchunk >= 0 || at < size); i++) {
        cip_blosc_head head;
        cip_status st = read_head(f, &s->heads, at, &head, why);
        if (st == CIP_ERR_NOMEM || st == CIP_ERR_IO || st == CIP_ERR_BUSY)
            return cip_fail(err, st, why->offset, "%s", why->text);
        if (st != CIP_OK)
            break;
        if (head.cbytes > size - at)
            cip_fail(why, CIP_ERR_TRUNCATED, size,
                     "expected %" PRIu32 " bytes of chunk %" PRIu64 ", found the end of the file",
                     head.cbytes, i);
        if (why->code != CIP_OK && f->h.nchunk < 0)
            break;
        CIP_TRY(cip_buf_add(&s->list, &at, sizeof at, err));
        if (why->code != CIP_OK)
            break;
        at += head.cbytes + cip_sum_size(f->h.sum);
        if (i + 1 < n)
            CIP_TRY(skip_spare(s, &at, err));
    }
    f->chunks.end = at;
    return CIP_OK;
}

/* The chunks' decoded sizes as their heads say them; chunks of nothing are passed over, and what
 * the array has beyond them is one chunk that is missing. */
static cip_status measure(search *s, cip_err *err)
{
    cip_bp_file *f = s->f;
    cip_buf *list = &s->list, *raw = &s->raw;
    uint64_t *at = (uint64_t *)(void *)list->ptr, end = 0;
    size_t n = list->len / sizeof *at, kept = 0;
    for (size_t i = 0; i < n; i++) {
        cip_blosc_head head;
        CIP_TRY(read_head(f, &s->heads, at[i], &head, err));
        if (head.nbytes == 0)
            continue;
        CIP_TRY(cip_buf_add(raw, &end, sizeof end, err));
        end += head.nbytes; /* at most 2^31 for each 16 bytes of the file */
        at[kept++] = at[i];
    }
    list->len = kept * sizeof *at;
    CIP_TRY(cip_buf_add(raw, &end, sizeof end, err));
    f->chunks.n = kept;
    if (end < f->wanted) {
        CIP_TRY(cip_buf_add(raw, &f->wanted, sizeof end, err));
        end = f->wanted;
        f->chunks.n++;
    }
    f->chunks.raw_len = end;
    return CIP_OK;
}

/* What came to light on the way to the chunks. */
static void tell_lack(cip_bp_file *f, const cip_err *why)
{
    cip_bp_chunks *t = &f->chunks;
    bool cut = why->code == CIP_OK || why->code == CIP_ERR_TRUNCATED;
    t->why = cut ? CIP_ERR_TRUNCATED : CIP_ERR_CORRUPT;
    t->lack =
        cut ? "the file ends before it" : "a chunk before it is damaged, so its place is not known";
    if (why->code != CIP_OK)
        cip_warn(f->layout->env, t->why, why->offset, "chunks", "%.160s", why->text);
    else if (t->nfound < t->n)
        cip_warn(f->layout->env, t->why, CIP_NO_OFFSET, "chunks",
                 "expected %" PRIu64 " bytes, as in the metadata, found fewer", t->raw_len);
}

static cip_status find_chunks(search *s, bool sized, uint64_t nbytes, cip_err *err)
{
    cip_bp_file *f = s->f;
    cip_bp_chunks *t = &f->chunks;
    cip_err why = CIP_ERR_INIT;
    bool all = false;
    if ((f->h.options & CIP_BP_OFFSETS) != 0)
        CIP_TRY(read_offsets(s, &all, err));
    if (!all) {
        s->list.len = 0;
        CIP_TRY(walk(s, &why, err));
    }
    t->raw_len = nbytes;
    t->n = nbytes == 0 ? 0 : cip_div_up(nbytes, (uint64_t)f->h.chunk_size);
    if (!sized) {
        /* Of how many bytes the chunks are that were not found, nobody says. Only where their
         * number is not said either does the file end where it ends. */
        uint64_t found = s->list.len / sizeof(uint64_t);
        bool force = (f->layout->flags & CIP_OPEN_FORCE) != 0;
        bool ends = f->h.nchunk < 0 && why.code == CIP_ERR_TRUNCATED;
        if (!ends && !force && why.code != CIP_OK) {
            if (f->h.nchunk < 0)
                return cip_fail(err, CIP_ERR_CORRUPT, f->chunks.end,
                                "expected chunks up to the end, found other bytes after %" PRIu64
                                " (%.120s); the chunks before them are read (forced)",
                                found, why.text);
            return cip_fail(err, (cip_status)why.code, why.offset,
                            "expected %" PRId64 " chunks, found %" PRIu64
                            " (%.120s); these are read (forced)",
                            f->h.nchunk, found, why.text);
        }
        CIP_TRY(measure(s, err));
        CIP_TRY(keep(f, &s->raw, &t->raw, err));
    }
    t->nfound = s->list.len / sizeof(uint64_t);
    CIP_TRY(keep(f, &s->list, &t->at, err));
    tell_lack(f, &why);
    return CIP_OK;
}

static cip_status make_data(void *self, cip_space **out, cip_err *err)
{
    cip_bp_file *f = self;
    cip_layout *l = f->layout;
    const cip_step step = { .codec = &cip_codec_blosc };
    search s = { .f = f,
                 .heads = { .layout = l, .in = l->file },
                 .list = { .mem = &l->env->mem },
                 .raw = { .mem = &l->env->mem } };
    bool sized;
    uint64_t nbytes;
    CIP_TRY(cip_bp_sized(&f->h, &sized, &nbytes, err));
    cip_status st = find_chunks(&s, sized, nbytes, err);
    cip_window_clear(&s.heads);
    cip_buf_clear(&s.list);
    cip_buf_clear(&s.raw);
    CIP_TRY(cip_fail_in(err, st, "chunks"));
    const cip_table table = { .at = table_at,
                              .find = sized ? NULL : table_find,
                              .count = table_count,
                              .place = table_place,
                              .raw_each = sized ? (uint64_t)f->h.chunk_size : 0,
                              .self = f };
    CIP_TRY(cip_space_new_chunked(l, &table, f->chunks.raw_len, &step, 1, out, err));
    (*out)->codec_env.typesize = f->h.typesize;
    (*out)->label = f->part != NULL ? f->part : "data";
    return CIP_OK;
}

/* A walk that nothing needs yet is put off to the first read. */
cip_status cip_bp_data(cip_bp_file *f, cip_space **out, cip_err *err)
{
    bool sized;
    uint64_t nbytes;
    CIP_TRY(cip_bp_sized(&f->h, &sized, &nbytes, err));
    if (sized)
        return cip_space_new_lazy(f->layout, make_data, f, out, err);
    return make_data(f, out, err);
}
