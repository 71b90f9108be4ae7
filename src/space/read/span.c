/* SPDX-License-Identifier: BSD-3-Clause
 * Byte spans of any space: bytes of files and of memory are read here, other kinds hand on to their
 * own readers. Large spans are cut into pieces for the pool, since two threads read faster than
 * one; small ones that lie close together are read in one go. */
#include <string.h>

#include "space/read/far.h"
#include "space/read/reader.h"

enum { BATCH = 64 }; /* ranges given to the io at once */

cip_status cip_rd_deeper(const cip_rd *rd, cip_rd *out, cip_err *err)
{
    *out = *rd;
    if (++out->depth > CIP_SPACE_MAX_DEPTH)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "spaces nested over %d deep",
                        CIP_SPACE_MAX_DEPTH);
    return CIP_OK;
}

/* --- files and memory ------------------------------------------------------------------------ */

/* A list of wants of a FILE or MEM space, shared by jobs. */
typedef struct leaf {
    const cip_rd *rd;
    cip_space *s;
    uint64_t shift;
    const cip_want *want;
    size_t n, per_job;
} leaf;

static cip_far *far_of(const leaf *l)
{
    const cip_layout *layout = l->s->layout;
    return l->s->kind == CIP_SPACE_FILE && l->s->io == layout->io ? layout->far : NULL;
}

static cip_status far_wants(const leaf *l, const cip_want *w, size_t n, cip_err *err)
{
    cip_range range[CIP_FAR_RANGES];
    const uint64_t shift = l->shift + l->s->layout->far_off;
    for (size_t i = 0, m; i < n; i += m) {
        for (m = 0; m < CIP_FAR_RANGES && i + m < n; m++)
            range[m] = (cip_range){ w[i + m].off + shift, w[i + m].len, w[i + m].dst };
        CIP_TRY(cip_far_read(far_of(l), range, m, err));
    }
    return CIP_OK;
}

/* How many wants from the first on lie so close, and are so small, that they are read together. */
static size_t near_ones(const cip_tuning *t, const cip_want *w, size_t n)
{
    size_t i = 1;
    while (i < n && w[i].off - (w[i - 1].off + w[i - 1].len) <= t->near && w[i].len < t->near &&
           w[i].off + w[i].len - w[0].off <= t->together)
        i++;
    return w[0].len < t->near ? i : 1;
}

static cip_status read_together(const leaf *l, const cip_want *w, size_t n, cip_err *err)
{
    cip_pooled room;
    size_t span = (size_t)(w[n - 1].off + w[n - 1].len - w[0].off);
    CIP_TRY(cip_buffer_pool_take(l->rd->buffers, span, &room, err));
    cip_status st = cip_io_read(l->s->io, w[0].off + l->shift, room.ptr, span, err);
    for (size_t i = 0; i < n && st == CIP_OK; i++)
        memcpy(w[i].dst, room.ptr + (w[i].off - w[0].off), w[i].len);
    cip_buffer_pool_give(l->rd->buffers, &room);
    return st;
}

static cip_status file_wants(const leaf *l, const cip_want *w, size_t n, cip_err *err)
{
    cip_range range[BATCH];
    size_t nrange = 0;
    for (size_t i = 0, group; i < n; i += group) {
        group = near_ones(l->rd->tune, w + i, n - i);
        if (group == 1 && w[i].len != 0)
            range[nrange++] = (cip_range){ w[i].off + l->shift, w[i].len, w[i].dst };
        if (group > 1 || nrange == BATCH) {
            CIP_TRY(cip_io_read_ranges(l->s->io, range, nrange, err));
            nrange = 0;
        }
        if (group > 1)
            CIP_TRY(read_together(l, w + i, group, err));
    }
    return cip_io_read_ranges(l->s->io, range, nrange, err);
}

static cip_status leaf_wants(const leaf *l, const cip_want *w, size_t n, cip_err *err)
{
    if (l->s->kind == CIP_SPACE_FILE)
        return (far_of(l) != NULL ? far_wants : file_wants)(l, w, n, err);
    for (size_t i = 0; i < n; i++)
        if (w[i].len != 0)
            memcpy(w[i].dst, l->s->mem.ptr + (w[i].off + l->shift), w[i].len);
    return CIP_OK;
}

static cip_status piece_job(void *arg, size_t i, cip_err *err)
{
    const leaf *l = arg;
    size_t piece = l->rd->tune->piece, at = i * piece;
    size_t left = l->want->len - at;
    cip_want w = { l->want->off + at, left < piece ? left : piece, l->want->dst + at };
    return leaf_wants(l, &w, 1, err);
}

static cip_status list_job(void *arg, size_t i, cip_err *err)
{
    const leaf *l = arg;
    size_t at = i * l->per_job;
    return leaf_wants(l, l->want + at, l->n - at < l->per_job ? l->n - at : l->per_job, err);
}

static cip_status leaf_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                             size_t n, cip_err *err)
{
    leaf l = { .rd = rd, .s = s, .shift = shift };
    const cip_tuning *t = rd->tune;
    bool far = far_of(&l) != NULL;
    if (n == 1 && want->len != 0 && s == s->layout->file &&
        want->off + shift + want->len <= s->layout->head.len) {
        memcpy(want->dst, s->layout->head.ptr + want->off + shift, want->len);
        return CIP_OK;
    }
    if (n == 1 && s->kind == CIP_SPACE_FILE && !far && (want->len < t->large || rd->pool == NULL))
        return cip_io_read(s->io, want->off + shift, want->dst, want->len, err);
    if (rd->pool == NULL || far)
        return leaf_wants(&l, want, n, err);
    for (size_t i = 0; i < n; i += l.n) {
        uint64_t nbytes = 0;
        l.want = want + i;
        for (l.n = 0; i + l.n < n && l.want[l.n].len < t->large; l.n++)
            nbytes += l.want[l.n].len;
        if (l.n == 0) {
            l.n = 1;
            CIP_TRY(cip_pool_run(rd->pool, cip_div_up(l.want->len, t->piece), piece_job, &l, err));
        } else if (l.n < 2 * t->job_wants && nbytes < t->large) {
            CIP_TRY(leaf_wants(&l, l.want, l.n, err));
        } else {
            const size_t share = l.n / (4 * cip_pool_threads(rd->pool)) + 1;
            l.per_job = share < t->job_wants ? share : t->job_wants;
            CIP_TRY(cip_pool_run(rd->pool, cip_div_up(l.n, l.per_job), list_job, &l, err));
        }
    }
    return CIP_OK;
}

/* --- all ------------------------------------------------------------------------------------- */

cip_status cip_rd_descend(cip_rd *rd, cip_space **s, uint64_t *shift, uint64_t off, uint64_t len,
                          cip_err *err)
{
    for (;;) {
        if (!rd->made_only)
            CIP_TRY(cip_space_resolve(*s, s, err));
        else if (*s != NULL && (*s)->kind == CIP_SPACE_LAZY)
            *s = atomic_load_explicit(&(*s)->lazy.made, memory_order_acquire);
        const cip_space *at = *s;
        if (at == NULL) /* not made yet, or nowhere */
            return CIP_ERR_NOT_FOUND;
        uint64_t pos = off + *shift;
        if (at->label != NULL)
            rd->label = at->label;
        if (pos > at->len || len > at->len - pos)
            return cip_fail(err, rd->depth == 0 ? CIP_ERR_RANGE : CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                            "expected %" PRIu64 " bytes at %" PRIu64 ", found the end at %" PRIu64,
                            len, pos, at->len);
        if (at->kind != CIP_SPACE_SUB)
            return CIP_OK;
        CIP_TRY(cip_rd_deeper(rd, rd, err));
        if (!rd->made_only)
            CIP_TRY(cip_extent_check(&at->sub, "a part", err));
        *shift += at->sub.off;
        *s = at->sub.in;
    }
}

cip_status cip_rd_fail(const cip_rd *rd, cip_status st, cip_err *err)
{
    return rd->label != NULL ? cip_fail_in(err, st, "%s", rd->label) : st;
}

/* Through the table; where a chunk does not fit it, in order, and if that goes well, for good. */
static cip_status chunked_spans(const cip_rd *rd, cip_space *s, uint64_t shift,
                                const cip_want *want, size_t n, cip_err *err)
{
    cip_err found = CIP_ERR_INIT, other = CIP_ERR_INIT;
    if (atomic_load_explicit(&s->use_in_order, memory_order_relaxed))
        return cip_rd_spans(rd, s->in_order, shift, want, n, err);
    cip_status st = cip_chunked_spans(rd, s, shift, want, n, &found);
    if (st != CIP_ERR_CORRUPT || s->in_order == NULL)
        return cip_err_give(err, &found, st);
    cip_status again = cip_rd_spans(rd, s->in_order, shift, want, n, &other);
    if (cip_is_damage(again)) /* the chunk's error names the place */
        return cip_err_give(err, &found, st);
    if (again == CIP_OK)
        atomic_store_explicit(&s->use_in_order, true, memory_order_relaxed);
    return cip_err_give(err, &other, again);
}

cip_status cip_rd_spans(const cip_rd *rd, cip_space *s, uint64_t shift, const cip_want *want,
                        size_t n, cip_err *err)
{
    cip_rd in = *rd;
    cip_status st;
    if (n == 0)
        return CIP_OK;
    in.label = NULL;
    CIP_GO(cip_rd_descend(&in, &s, &shift, want[n - 1].off, want[n - 1].len, err));
    CIP_GO(cip_rd_deeper(&in, &in, err));
    switch (s->kind) {
    case CIP_SPACE_FILE:
    case CIP_SPACE_MEM:
        st = leaf_spans(&in, s, shift, want, n, err);
        break;
    case CIP_SPACE_CHUNKED:
        st = chunked_spans(&in, s, shift, want, n, err);
        break;
    case CIP_SPACE_GRID:
        st = cip_grid_spans(&in, s, shift, want, n, err);
        break;
    case CIP_SPACE_SEQ:
        st = cip_seq_spans(&in, s, shift, want, n, err);
        break;
    case CIP_SPACE_RECORDS:
        st = cip_records_spans(&in, s, shift, want, n, err);
        break;
    default: /* descended before */
        st = cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "a space of kind %d", (int)s->kind);
    }
done:
    return cip_rd_fail(&in, st, err);
}

cip_status cip_rd_at(const cip_rd *rd, cip_space *s, uint64_t off, void *dst, size_t n,
                     cip_err *err)
{
    cip_want w = { .off = off, .len = n, .dst = dst };
    return cip_rd_spans(rd, s, 0, &w, 1, err);
}

cip_status cip_extent_check(const cip_extent *at, const char *what, cip_err *err)
{
    cip_space *in;
    if (at->in == NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "%s is not stored anywhere", what);
    CIP_TRY(cip_space_resolve(at->in, &in, err));
    if (at->off > in->len || at->len > in->len - at->off)
        return cip_fail(err, CIP_ERR_TRUNCATED, cip_space_file_offset(in, at->off),
                        "expected %" PRIu64 " bytes of %s, found %" PRIu64, at->len, what,
                        at->off < in->len ? in->len - at->off : 0);
    return CIP_OK;
}

bool cip_space_follow(cip_space **s, uint64_t *off, uint64_t len, bool make)
{
    cip_rd rd = { .made_only = !make };
    uint64_t shift = 0;
    cip_status st = cip_rd_descend(&rd, s, &shift, *off, len, NULL);
    *off += shift;
    return st == CIP_OK && ((*s)->kind == CIP_SPACE_FILE || (*s)->kind == CIP_SPACE_MEM);
}

const uint8_t *cip_space_borrow(cip_space *s, uint64_t off, uint64_t len)
{
    if (!cip_space_follow(&s, &off, len, true))
        return NULL;
    const uint8_t *base = s->kind == CIP_SPACE_MEM ? s->mem.ptr : s->io->bytes;
    return base != NULL ? base + off : NULL;
}

uint64_t cip_space_file_offset(cip_space *s, uint64_t off)
{
    uint64_t at;
    if (!cip_space_follow(&s, &off, 0, false) || s->kind != CIP_SPACE_FILE ||
        s != s->layout->file || cip_add_overflow(s->io->base, off, &at))
        return CIP_NO_OFFSET;
    return at;
}

cip_status cip_space_map(cip_space *s, uint64_t off, uint64_t len, const uint8_t **out,
                         cip_err *err)
{
    const uint8_t *base;
    CIP_TRY(cip_space_resolve(s, &s, err));
    if (off > s->len || len > s->len - off)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes at %" PRIu64 ", found the end at %" PRIu64, len,
                        off, s->len);
    if (!cip_space_follow(&s, &off, len, true))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "the bytes are not contiguous");
    if (s->kind == CIP_SPACE_MEM)
        base = s->mem.ptr;
    else
        CIP_TRY(cip_io_map(s->io, &base, err));
    *out = base + off;
    return CIP_OK;
}
