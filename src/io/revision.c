/* SPDX-License-Identifier: BSD-3-Clause
 * Revisions: changes below a point of a file and pieces that follow from there on; and the file as
 * it will be, as an io. */
#include "io/patch.h"

#include <string.h>

#include "base/num.h"
#include "io/io_impl.h"

/* Whether `s` goes on where `last` ends. */
static bool joins(const cip_segment *last, const cip_segment *s)
{
    if (last->io != s->io || (last->ptr == NULL) != (s->ptr == NULL))
        return false;
    if (s->io != NULL)
        return last->off + last->len == s->off;
    return s->ptr != NULL ? last->ptr + last->len == s->ptr : last->off == s->off;
}

static cip_status push(cip_revision *r, const cip_segment *s, cip_err *err)
{
    uint64_t total;
    if (s->len == 0)
        return CIP_OK;
    if (cip_add_overflow(r->tail_len, s->len, &total) || total > INT64_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a file of over 2^63 bytes");
    cip_segment *last = r->nsegment != 0 ? &r->segment[r->nsegment - 1] : NULL;
    if (last != NULL && joins(last, s)) {
        last->len += s->len;
    } else {
        CIP_TRY(CIP_ARENA_ROOM(&r->patch.arena, &r->segment, r->nsegment, &r->segment_cap, err));
        r->segment[r->nsegment++] = *s;
    }
    r->tail_len = total;
    return CIP_OK;
}

cip_status cip_revision_bytes(cip_revision *r, const void *ptr, size_t n, cip_err *err)
{
    char *copy;
    if (n == 0)
        return CIP_OK;
    CIP_TRY(cip_arena_copy(&r->patch.arena, ptr, n, &copy, err));
    return push(r, &(cip_segment){ .ptr = (const uint8_t *)copy, .len = n }, err);
}

cip_status cip_revision_range(cip_revision *r, cip_io *io, uint64_t off, uint64_t len, cip_err *err)
{
    if (off > io->size || len > io->size - off)
        return cip_fail(err, CIP_ERR_RANGE, off,
                        "expected %" PRIu64 " bytes for a piece, found %" PRIu64, len,
                        cip_bytes_left(io->size, off));
    return push(r, &(cip_segment){ .io = io, .off = off, .len = len }, err);
}

cip_status cip_revision_fill(cip_revision *r, uint8_t fill, uint64_t n, cip_err *err)
{
    return push(r, &(cip_segment){ .off = fill, .len = n }, err);
}

cip_status cip_revision_place(cip_revision *r, uint64_t at, const cip_segment *what, cip_err *err)
{
    const cip_placed *last = r->nplaced != 0 ? &r->placed[r->nplaced - 1] : NULL;
    cip_placed p = { .at = at, .what = *what };
    char *copy;
    if (what->len == 0)
        return CIP_OK;
    if (what->len > INT64_MAX - at || at > INT64_MAX ||
        (last != NULL && at < last->at + last->what.len))
        return cip_fail(err, CIP_ERR_ARG, at, "expected pieces in rising order");
    if (what->io != NULL && (what->off > what->io->size || what->len > what->io->size - what->off))
        return cip_fail(err, CIP_ERR_RANGE, what->off, "a piece beyond the end of its source");
    if (what->io == NULL && what->ptr != NULL) {
        CIP_TRY(cip_arena_copy(&r->patch.arena, (const char *)what->ptr, (size_t)what->len, &copy,
                               err));
        p.what.ptr = (const uint8_t *)copy;
    }
    CIP_TRY(CIP_ARENA_ROOM(&r->patch.arena, &r->placed, r->nplaced, &r->placed_cap, err));
    r->placed[r->nplaced++] = p;
    return CIP_OK;
}

uint64_t cip_revision_placed_len(const cip_revision *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->nplaced; i++)
        n += r->placed[i].what.len;
    return n;
}

uint64_t cip_revision_new_len(const cip_revision *r, uint64_t old_len)
{
    return r->has_tail || r->anew ? r->tail_off + r->tail_len
                                  : cip_patch_size_after(&r->patch, old_len);
}

void cip_revision_clear(cip_revision *r)
{
    cip_patch p = { .arena = r->patch.arena };
    for (size_t i = 0; i < r->nmember; i++)
        if (r->member[i].as != NULL)
            cip_revision_clear(r->member[i].as);
    cip_strmap_clear(&r->name);
    cip_patch_clear(&p);
    *r = (cip_revision){ .patch = p };
}

/* --- the file as it will be ------------------------------------------------------------------ */

typedef struct revision_io {
    cip_io io;
    cip_io *under; /* borrowed, but of a member that changes in place */
    bool owns;
    const cip_revision *r;
    cip_patch patch; /* r's, with the lengths an overlay wants; without an arena of its own */
    cip_io *head;    /* what lies below `split`: an overlay; NULL: nothing does */
    uint64_t split;  /* the pieces start here; the size when there are none */
    uint64_t *start; /* of each piece */
} revision_io;

static cip_status read_segment(const cip_segment *s, uint64_t at, uint8_t *dst, size_t n,
                               cip_err *err)
{
    if (s->io != NULL)
        return cip_io_read(s->io, s->off + at, dst, n, err);
    if (s->ptr != NULL)
        memcpy(dst, s->ptr + at, n);
    else
        memset(dst, (int)s->off, n);
    return CIP_OK;
}

/* The first placed piece that ends behind `off`. */
static size_t find_placed(const cip_revision *r, uint64_t off)
{
    size_t low = 0, high = r->nplaced;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (r->placed[mid].at + r->placed[mid].what.len > off)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static cip_status read_range(const revision_io *v, uint64_t off, uint8_t *dst, size_t n,
                             cip_err *err)
{
    if (off < v->split) {
        size_t now = (size_t)cip_min_u64(n, v->split - off);
        /* Below the tail: the old bytes and the patch's, and over them what is placed. */
        const cip_revision *r = v->r;
        CIP_TRY(cip_io_read(v->head, off, dst, now, err));
        for (size_t i = find_placed(r, off); i < r->nplaced && r->placed[i].at < off + now; i++) {
            const cip_placed *p = &r->placed[i];
            const uint64_t from = cip_max_u64(p->at, off),
                           to = cip_min_u64(p->at + p->what.len, off + now);
            CIP_TRY(
                read_segment(&p->what, from - p->at, dst + (from - off), (size_t)(to - from), err));
        }
        off += now;
        dst += now;
        n -= now;
    }
    for (size_t i = n != 0 ? cip_last_at_most(v->start, sizeof *v->start, v->r->nsegment, off) : 0;
         n != 0; i++) {
        const cip_segment *s = &v->r->segment[i];
        uint64_t at = off - v->start[i];
        size_t now = (size_t)cip_min_u64(n, s->len - at);
        CIP_TRY(read_segment(s, at, dst, now, err));
        off += now;
        dst += now;
        n -= now;
    }
    return CIP_OK;
}

static cip_status revision_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    for (size_t i = 0; i < n; i++)
        CIP_TRY(read_range((const revision_io *)io, r[i].offset, r[i].dst, r[i].nbytes, err));
    return CIP_OK;
}

static cip_status revision_member(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                                  cip_err *err);

static cip_status revision_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn,
                                void *user, cip_err *err);

static cip_status revision_unchanged(cip_io *io, cip_err *err)
{
    return cip_io_unchanged(((revision_io *)io)->under, err);
}

static void revision_close(cip_io *io)
{
    revision_io *v = (revision_io *)io;
    cip_io_close(v->head);
    if (v->owns)
        cip_io_close(v->under);
    cip_mem_put(&io->env->mem, v->start);
    cip_io_free(io);
}

/* Two sets, so that a revision of something without members has none either. */
static const cip_io_ops revision_ops = {
    .name = "revision",
    .through = true,
    .read_ranges = revision_read,
    .unchanged = revision_unchanged,
    .close = revision_close,
};
static const cip_io_ops revision_ops_members = {
    .name = "revision",
    .through = true,
    .read_ranges = revision_read,
    .open_member = revision_member,
    .list = revision_list,
    .unchanged = revision_unchanged,
    .close = revision_close,
};

/* Within the old bytes that stay, and apart from those that the patch changes. */
static cip_status check_placed(const cip_revision *r, uint64_t old_len, uint64_t split,
                               cip_err *err)
{
    const cip_placed *last;
    if (r->nplaced == 0)
        return CIP_OK;
    last = &r->placed[r->nplaced - 1];
    if (r->anew || last->at + last->what.len > cip_min_u64(old_len, split))
        return cip_fail(err, CIP_ERR_ARG, last->at, "a placed piece reaches into the tail");
    for (size_t i = 0; i < r->patch.n; i++) {
        const cip_patch_op *op = &r->patch.op[i];
        const size_t k = find_placed(r, op->offset);
        if (op->kind != CIP_PATCH_WRITE ||
            (k < r->nplaced && r->placed[k].at < op->offset + op->after.len))
            return cip_fail(err, CIP_ERR_ARG, op->offset, "operation %zu meets a placed piece", i);
    }
    return CIP_OK;
}

cip_status cip_revision_check(const cip_revision *r, uint64_t old_len, cip_err *err)
{
    uint64_t split = r->anew ? 0 : r->has_tail ? r->tail_off : UINT64_MAX;
    if (r->has_tail && r->tail_off > old_len)
        return cip_fail(err, CIP_ERR_ARG, r->tail_off, "a tail after the file's end");
    if (r->anew && (r->patch.n != 0 || r->tail_off != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "changes of a file that is rewritten");
    for (size_t i = 0; i < r->patch.n; i++) {
        const cip_patch_op *op = &r->patch.op[i];
        if (!cip_patch_op_own(op) || (op->kind != CIP_PATCH_WRITE && r->has_tail))
            return cip_fail(err, CIP_ERR_ARG, op->offset, "operation %zu is none on bytes", i);
        if (op->kind == CIP_PATCH_WRITE &&
            (op->offset > split || op->after.len > split - op->offset))
            return cip_fail(err, CIP_ERR_ARG, op->offset, "operation %zu reaches into the tail", i);
    }
    return check_placed(r, old_len, split, err);
}

static cip_status build(revision_io *v, cip_err *err)
{
    const cip_revision *r = v->r;
    uint64_t at = v->split;
    if (v->split != 0) {
        v->patch = (cip_patch){ .op = r->patch.op, .n = r->patch.n };
        v->patch.old_len = v->under->size;
        v->patch.new_len = cip_patch_size_after(&v->patch, v->under->size);
        CIP_TRY(cip_io_open_overlay(v->under, &v->patch, &v->head, err));
    }
    CIP_TRY(CIP_NEW(&v->io.env->mem, &v->start, r->nsegment, err));
    for (size_t i = 0; i < r->nsegment; i++) {
        v->start[i] = at;
        at += r->segment[i].len;
    }
    return CIP_OK;
}

cip_status cip_io_open_revision(cip_io *under, const cip_revision *r, cip_io **out, cip_err *err)
{
    cip_io *io;
    *out = NULL;
    CIP_TRY(cip_revision_check(r, under->size, err));
    CIP_TRY(cip_io_new(under->env,
                       under->ops->open_member != NULL ? &revision_ops_members : &revision_ops,
                       sizeof(revision_io), under->name, &io, err));
    revision_io *v = (revision_io *)io;
    v->under = under;
    v->r = r;
    io->size = cip_revision_new_len(r, under->size);
    io->base = under->base;
    io->folder = under->folder && !r->anew;
    v->split = r->anew ? 0 : r->has_tail ? r->tail_off : io->size;
    cip_status st = build(v, err);
    if (st != CIP_OK) {
        revision_close(io);
        return st;
    }
    *out = io;
    return CIP_OK;
}

/* --- its members ------------------------------------------------------------------------------ */

static cip_status revision_member(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                                  cip_err *err)
{
    const revision_io *v = (const revision_io *)io;
    const cip_revision_member *m = NULL, *gives_up = NULL;
    *out = NULL;
    for (size_t i = 0; m == NULL && i < v->r->nmember; i++) {
        const cip_revision_member *at = &v->r->member[i];
        if (strcmp(at->to != NULL ? at->to : at->name, name) == 0)
            m = at;
        else if (at->to != NULL && strcmp(at->name, name) == 0)
            gives_up = at;
    }
    if ((m == NULL && gives_up != NULL) || (m != NULL && m->change >= CIP_MEMBER_GONE))
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "'%.120s' no longer exists", name);
    if (m == NULL || m->as == NULL)
        return v->under->ops->open_member(v->under, m != NULL ? m->name : name, flags, out, err);
    if (m->as->anew)
        return cip_io_open_revision(v->under, m->as, out, err);
    cip_io *old;
    CIP_TRY(v->under->ops->open_member(v->under, m->name, flags, &old, err));
    cip_status st = cip_io_open_revision(old, m->as, out, err);
    if (st != CIP_OK)
        cip_io_close(old);
    else
        ((revision_io *)*out)->owns = true;
    return st;
}

static cip_status revision_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn,
                                void *user, cip_err *err)
{
    const revision_io *v = (const revision_io *)io;
    cip_changed_names c = { .view = io, .under = v->under };
    CIP_TRY(CIP_NEW(&io->env->mem, &c.name, 2 * v->r->nmember, err));
    for (size_t i = 0; i < v->r->nmember; i++) {
        c.name[c.n++] = v->r->member[i].name;
        if (v->r->member[i].to != NULL)
            c.name[c.n++] = v->r->member[i].to;
    }
    cip_status st = cip_io_list_changed(&c, path, flags, fn, user, err);
    cip_mem_put(&io->env->mem, c.name);
    return st;
}
